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
static struct pt_record rec;

struct told {
	unsigned int throttles, releases, samples;
};

static struct told what_is_told(void)
{
	struct told t = {};

	while (pt_next(&ring, &rec)) {
		t.throttles += rec.h.type == PERF_RECORD_THROTTLE;
		t.releases += rec.h.type == PERF_RECORD_UNTHROTTLE;
		t.samples += rec.h.type == PERF_RECORD_SAMPLE;
	}
	pt_consume(&ring);
	return t;
}

/* The hit that releases an event is a sample, too. Was there one among some hits of a page each? */
static bool is_released(u8 *p)
{
	bool released = false;
	unsigned int page;
	struct told t;

	for (page = 0; page < PAGES; page++) {
		pt_touch(p + page * pt_page_size(), 1);
		if (released)
			continue;
		t = what_is_told();
		released = t.releases;
		pt_check(!released || t.samples, "released by a hit that is no sample");
	}
	return released;
}

static void the_count_goes_on(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	unsigned int i, throttled = 0, released = 0;
	u64 freq = 100, before;
	struct told t;
	int fd;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	/* More than one sample for a tick is too much. */
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	attr.freq = 1;
	attr.sample_freq = freq;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 1;
	for (i = 0; i < TURNS; i++) {
		u8 *p = pt_fresh_pages(1 + PAGES);

		pt_pin(0);
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_map(&ring, fd, 64);
		pt_enable(fd);
		/* Begins with a period of 1: the next fault is two samples. */
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&freq), 0);
		pt_touch(p, 1);
		pt_pin(1);
		t = what_is_told();
		throttled += t.throttles;
		pt_burn(30000000);
		before = pt_count(fd);
		/* Linux 6.12 releases it when it is scheduled. */
		if (t.throttles > t.releases && !pt_is_stock())
			released += is_released(p + pt_page_size());
		else
			pt_touch(p + pt_page_size(), PAGES);
		pt_eq(pt_count(fd) - before, PAGES);
		pt_unmap(&ring);
		close(fd);
	}
	pt_check(throttled > 0, "never throttled");
	pt_check(released > 0 || pt_is_stock(), "never released by a hit");
}

static const struct pt_case cases[] = {
	{ "the_count_goes_on", the_count_goes_on },
};

PT_MAIN(cases)
