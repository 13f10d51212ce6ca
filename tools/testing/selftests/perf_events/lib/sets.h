/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sets.h - event sets, for sets.c and the programs about the counters of CPUs.
 */
#ifndef PTEST_SETS_H
#define PTEST_SETS_H

#include "ext.h"

#define SETS_MOST	64

/* 0 or -errno; ring: -1: a new one */
static inline long set_join(int fd, int ring, u16 number)
{
	struct perf_ext_set s = { .ring = ring, .number = number };

	return pt_ioctl(fd, PERF_EXT_IOC_SET_JOIN, pt_addr(&s));
}

static inline long set_trigger(int fd, u32 threshold)
{
	struct perf_ext_trigger t = { .threshold = threshold };

	return pt_ioctl(fd, PERF_EXT_IOC_SET_TRIGGER, pt_addr(&t));
}

static inline long set_select(int fd, u16 number)
{
	struct perf_ext_set_select s = { .number = number };

	return pt_ioctl(fd, PERF_EXT_IOC_SET_SELECT, pt_addr(&s));
}

/* All sets of the ring; their number. */
static inline unsigned int set_infos(int fd, struct perf_ext_set_info *infos)
{
	struct perf_ext_sets s = {
		.infos = pt_addr(infos), .nr = SETS_MOST, .stride = sizeof(*infos),
	};

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_SET_INFO, pt_addr(&s)), 0);
	return s.nr;
}

/* What happened to a set so far. */
static inline void set_was(const struct perf_ext_set_info *info, u64 activations, u64 by_overflow,
			   u64 by_timeout)
{
	pt_eq(info->activations, activations);
	pt_eq(info->by_overflow, by_overflow);
	pt_eq(info->by_timeout, by_timeout);
}

/*
 * Three sets of one event each, whose turns are 3 periods of 10,007, 2 of 5,003 and one of 1,009:
 * @spin, which enables the first event, counts @total of @attr and disables it, ends in a turn of
 * the first set, the 25th.
 */
static inline void sets_of_hardware(struct perf_event_attr attr,
				    void (*spin)(int fd, u64 turns), u64 total)
{
	static const u64 period[] = { 10007, 5003, 1009 };
	static const u32 threshold[] = { 3, 2, 1 };
	const u64 round = 3 * 10007 + 2 * 5003 + 1009;
	struct perf_ext_set_info info[SETS_MOST];
	int fd[3], i;

	for (i = 0; i < 3; i++) {
		attr.sample_period = period[i];
		attr.disabled = 1;
		fd[i] = pt_open_hw(&attr, -1);
		pt_eq(set_trigger(fd[i], threshold[i]), 0);
		pt_eq(set_join(fd[i], i ? fd[0] : -1, (u16)i), 0);
	}
	pt_enable(fd[1]);
	pt_enable(fd[2]);
	spin(fd[0], 500000);
	pt_eq(pt_count(fd[0]), total - total / round * (round - 3 * 10007));
	pt_eq(pt_count(fd[1]), 24 * 2 * 5003);
	pt_eq(pt_count(fd[2]), 24 * 1009);
	pt_eq(set_infos(fd[1], info), 3);
	for (i = 0; i < 3; i++)
		set_was(&info[i], i ? 24 : 25, 24, 0);
}

#endif /* PTEST_SETS_H */
