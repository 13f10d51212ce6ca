/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sets.h - the calls about event sets.
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
	pt_eq(info->active_time > 0, activations > 0);
}

#endif /* PTEST_SETS_H */
