// SPDX-License-Identifier: GPL-2.0
/*
 * throttle_move.c - a software event that follows a frequency is throttled, and its task moves to
 * another CPU before the tick: the tick there lets it be, and the next hit releases it.
 *
 * needs: smp
 */
#include "lib/ptest.h"

#define TURNS	20
#define PAGES	10

static struct pt_ring ring;

static void the_count_goes_on(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	unsigned int i, throttled = 0;
	u64 freq = 100, before;
	int fd;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	/* More than one sample for a tick is too much. */
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	attr.freq = 1;
	attr.sample_freq = freq;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	for (i = 0; i < TURNS; i++) {
		u8 *p = pt_fresh_pages(1 + PAGES);

		pt_pin(0);
		/* Begins with a period of 1: the next fault is two samples. */
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&freq), 0);
		pt_touch(p, 1);
		pt_pin(1);
		throttled += pt_count_records(&ring, PERF_RECORD_THROTTLE);
		pt_burn(30000000);
		before = pt_count(fd);
		pt_touch(p + pt_page_size(), PAGES);
		pt_eq(pt_count(fd) - before, PAGES);
	}
	pt_check(throttled > 0, "never throttled");
	pt_unmap(&ring);
	close(fd);
}

static const struct pt_case cases[] = {
	{ "the_count_goes_on", the_count_goes_on },
};

PT_MAIN(cases)
