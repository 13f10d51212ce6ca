/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fault_sample.h - samples of page faults, for the programs about the fields of samples.
 */
#ifndef PTEST_FAULT_SAMPLE_H
#define PTEST_FAULT_SAMPLE_H

#include "ptest.h"

#if defined(__x86_64__)
#define REG_SP		7
#define REG_PC		8
#define REG_ARG0	5
#define REG_FP		6
#else
#define REG_SP		31
#define REG_PC		32
#define REG_ARG0	0
#define REG_FP		29
#endif

static inline struct perf_event_attr faults(u64 sample_type)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = sample_type;
	attr.disabled = 1;
	return attr;
}

/* Open, map, and have nr pages touched under it. */
static inline int record_faults(struct perf_event_attr *attr, struct pt_ring *r, u8 *p,
				unsigned int nr)
{
	int fd = pt_open(attr, 0, -1, -1, 0);

	pt_map(r, fd, 64);
	pt_enable(fd);
	pt_touch(p, nr);
	pt_disable(fd);
	return fd;
}

static inline void next_sample(struct pt_ring *r, const struct perf_event_attr *attr,
			       struct pt_sample *s, struct pt_record *rec)
{
	pt_need(pt_next(r, rec), "no record");
	pt_parse_sample(attr, rec, s);
}

static struct pt_record rec;
static struct pt_sample s;

#endif /* PTEST_FAULT_SAMPLE_H */
