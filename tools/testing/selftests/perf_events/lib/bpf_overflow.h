/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bpf_overflow.h - BPF programs that run at each overflow of an event, for bpf.c and bpf_attach.c:
 * a program notes in words what it has seen, its event is of page faults.
 */
#ifndef PTEST_BPF_OVERFLOW_H
#define PTEST_BPF_OVERFLOW_H

#include "bpf.h"

enum {
	RUNS,			/* word[]: how often a program ran */
	SEEN,			/* something it saw, */
	SEEN2,			/* and more */
	SEEN3,
	STACK,			/* first of many */
};

#define PE	BPF_PROG_TYPE_PERF_EVENT

static struct pt_words w;
static struct pt_code code;
static struct pt_ring ring;

static inline void start(void)
{
	pt_words_make(&w);
	pt_pin(0);
	pt_settle();
}

static inline struct perf_event_attr faults(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.disabled = 1;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	return attr;
}

/* An event of the caller, where the case starts; with a buffer */
static inline int start_open(struct perf_event_attr *attr)
{
	start();
	return pt_open(attr, 0, -1, -1, 0);
}

static inline int start_mapped(struct perf_event_attr *attr)
{
	int fd = start_open(attr);

	pt_map(&ring, fd, 8);
	return fd;
}

/* Counts its runs and returns a constant. */
static inline int answers(int32_t verdict)
{
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_return(&code, verdict);
	return pt_load(PE, &code);
}

static inline long set_bpf(int event, int prog)
{
	return pt_ioctl(event, PERF_EVENT_IOC_SET_BPF, (unsigned long)prog);
}

static inline void hit(int fd, unsigned int n)
{
	pt_enable(fd);
	pt_fault(n);
	pt_disable(fd);
}

#endif /* PTEST_BPF_OVERFLOW_H */
