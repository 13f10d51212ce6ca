/* SPDX-License-Identifier: GPL-2.0 */
/*
 * aux.h - an event of the tracer in pmu/test_aux.c, with its buffer and its
 * AUX area, for the programs about AUX areas.
 */
#ifndef PTEST_AUX_H
#define PTEST_AUX_H

#include "ptest.h"

#define AUX_PATTERN	251	/* byte at pos: pos % 251 */
#define AUX_DATA_PAGES	4
#define RW		(PROT_READ | PROT_WRITE)

struct aux {
	int fd;
	struct pt_ring ring;
	u8 *area;		/* NULL: not mapped */
	u64 size;
	u64 offset;		/* of the mapping */
};

/* Load the module; the case has CPU 0 for itself from then on. */
void aux_load(const char *params);
/* Write a parameter of the module, which may be a command. */
void aux_set(const char *param, long long value);
/* A tracer of the calling task, off. */
struct perf_event_attr aux_attr(void);
/* Open it, map its buffer and an area of so many pages. */
void aux_open(struct aux *x, int pages, int prot);
void aux_open_attr(struct aux *x, const struct perf_event_attr *attr, int pages, int prot);
/* A sibling of x that writes to its area */
int aux_open_source(struct aux *x);
/* Say where the area is to be, as tools do. */
void aux_place(struct pt_ring *r, u64 offset, u64 size);
/* 0 or -errno */
int aux_try_map(struct aux *x, int fd, int prot);
void aux_map(struct aux *x, int pages, int prot);
void aux_unmap(struct aux *x);
u64 aux_head(const struct aux *x);
void aux_consume(struct aux *x, u64 tail);
/* Are there the bytes that the tracer writes from pos on? */
void aux_check_bytes(const struct aux *x, u64 pos, u64 len);
/* What the driver has counted */
long long aux_counter(const char *name);
/* Nothing is left over, in the kernel and in the driver. */
void aux_check_all_freed(void);

static inline u64 aux_page(void)
{
	return (u64)pt_page_size();
}

#endif /* PTEST_AUX_H */
