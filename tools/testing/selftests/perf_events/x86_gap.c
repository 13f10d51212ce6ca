// SPDX-License-Identifier: GPL-2.0
/*
 * x86_gap.c - a CPU of one kind that says by leaf 23H which counters it has: eight in leaf 10, of
 * which counter 4 is not there. Its registers fault, and the kernel would say so.
 *
 * needs: gap
 */
#include "lib/x86.h"

#define GENERAL	8
#define ABSENT	4
#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* Counters that can be read; the case is skipped where it is not all but one. */
static void need_gap(void)
{
	u64 value;
	int fd;

	x86_need_exact();
	if (!x86_is_intel() || x86_general() != GENERAL)
		pt_skip("another PMU");
	fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	pt_need(fd >= 0, "/dev/cpu/0/msr: %s", strerror(errno));
	if (pread(fd, &value, sizeof(value), X86_PMC0 + ABSENT) == sizeof(value))
		pt_skip("all counters are there");
	pt_eq(pread(fd, &value, sizeof(value), X86_PMC0 + GENERAL - 1), sizeof(value));
	close(fd);
}

static void open_group(int *fds, unsigned int nr)
{
	struct perf_event_attr attr = x86_general_cycles();
	unsigned int i;

	for (i = 0; i < nr; i++) {
		attr.disabled = !i;
		fds[i] = pt_open(&attr, 0, -1, i ? fds[0] : -1, 0);
	}
}

static void seven_fit(void)
{
	struct perf_event_attr attr = x86_general_cycles();
	int fds[GENERAL - 1];
	unsigned int i;

	need_gap();
	open_group(fds, GENERAL - 1);
	attr.disabled = 0;
	pt_eq(pt_try_open(&attr, 0, -1, fds[0], 0), -EINVAL);
	x86_measured_spin(fds[0], 1000);
	for (i = 0; i < GENERAL - 1; i++)
		pt_eq(pt_count(fds[i]), X86_SPIN_COST(1000));
}

static void eight_take_turns(void)
{
	struct perf_event_attr attr = x86_general_cycles();
	int fds[GENERAL], waited = 0, i;
	struct pt_read r;

	need_gap();
	attr.disabled = 0;
	attr.read_format = TIMES;
	for (i = 0; i < GENERAL; i++)
		fds[i] = pt_open_hw(&attr, -1);
	pt_spin(40000000);
	for (i = 0; i < GENERAL; i++) {
		pt_read(fds[i], TIMES, 1, &r);
		pt_check(r.running > 0, "event %d never ran", i);
		waited += r.running < r.enabled;
	}
	pt_check(waited > 1, "%d of them waited", waited);
}

static void samples(void)
{
	struct perf_event_attr attr = x86_general_cycles();
	const u64 period = 10007, turns = 100000;
	struct pt_ring ring;
	int fds[GENERAL - 1];
	unsigned int i;

	need_gap();
	open_group(fds, GENERAL - 2);
	attr.disabled = 0;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	fds[i = GENERAL - 2] = pt_open(&attr, 0, -1, fds[0], 0);
	pt_map(&ring, fds[i], 16);
	x86_measured_spin(fds[0], turns);
	pt_eq(pt_count(fds[i]), X86_SPIN_COST(turns));
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), X86_SPIN_COST(turns) / period);
}

static const struct pt_case cases[] = {
	{ "seven_fit", seven_fit },
	{ "eight_take_turns", eight_take_turns },
	{ "samples", samples },
};

PT_MAIN(cases)
