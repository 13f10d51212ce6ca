/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kmem.h - a piece of memory that the kernel takes: the tracepoints of kmem tell whether it is
 * freed.
 */
#ifndef PTEST_KMEM_H
#define PTEST_KMEM_H

#include "ptest.h"

struct kmem_watch {
	struct pt_ring ring;
	struct perf_event_attr attr;
	int frees;
};

static inline struct perf_event_attr kmem_attr(const char *name)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("kmem", name));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_RAW;
	return attr;
}

/* What this task takes, if the filter of kmalloc's tracepoint lets it through, and all it frees. */
static inline void kmem_watch(struct kmem_watch *w, const char *filter)
{
	struct perf_event_attr gone = kmem_attr("kfree");

	w->attr = kmem_attr("kmalloc");
	pt_map(&w->ring, pt_open(&w->attr, 0, -1, -1, 0), 64);
	pt_eq(pt_ioctl(w->ring.fd, PERF_EVENT_IOC_SET_FILTER, pt_addr(filter)), 0);
	w->frees = pt_open(&gone, 0, -1, -1, 0);
	pt_eq(pt_ioctl(w->frees, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)w->ring.fd), 0);
	pt_drain(&w->ring);
}

/* Until now it was one piece, and it is free again. */
static inline void kmem_is_freed(struct kmem_watch *w)
{
	int at[2] = { pt_field_offset("kmem", "kmalloc", "ptr"),
		      pt_field_offset("kmem", "kfree", "ptr") };
	u64 ptr, piece = 0, allocs = pt_id(w->ring.fd);
	struct pt_record rec;
	struct pt_sample s;
	unsigned int pieces = 0;

	pt_disable(w->frees);
	pt_disable(w->ring.fd);
	while (pt_next_of(&w->ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&w->attr, &rec, &s);
		memcpy(&ptr, s.raw + at[s.id != allocs], sizeof(ptr));
		if (s.id == allocs) {
			piece = ptr;
			pieces++;
		} else if (ptr == piece) {
			piece = 0;
		}
	}
	pt_eq(pieces, 1);
	pt_check(!piece, "it stays");
}

#endif /* PTEST_KMEM_H */
