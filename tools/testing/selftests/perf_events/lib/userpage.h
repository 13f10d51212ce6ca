/* SPDX-License-Identifier: GPL-2.0 */
/* userpage.h - the first page of a mapping, read the way its description says. */
#ifndef PTEST_USERPAGE_H
#define PTEST_USERPAGE_H

#include "ptest.h"

static struct perf_event_mmap_page snapshot;
static u64 snapshot_cycles;

static inline u64 clock_counter(void)
{
	u64 v;

#if defined(__x86_64__)
	u32 lo, hi;

	__asm__ volatile("lfence; rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	v = (u64)hi << 32 | lo;
#else
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(v) : : "memory");
#endif
	return v;
}

/* Read the page the way its description says. */
static inline void take(const struct pt_ring *r)
{
	u32 seq;
	int tries = 0;

	do {
		pt_need(tries++ < 1000, "the sequence count never rests");
		seq = __atomic_load_n(&r->page->lock, __ATOMIC_ACQUIRE);
		memcpy(&snapshot, r->page, offsetof(struct perf_event_mmap_page, __reserved));
		snapshot_cycles = clock_counter();
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq & 1 || __atomic_load_n(&r->page->lock, __ATOMIC_RELAXED) != seq);
}

static inline u64 scale(u64 cyc)
{
	u64 quot = cyc >> snapshot.time_shift;
	u64 rem = cyc & ((1ull << snapshot.time_shift) - 1);

	return quot * snapshot.time_mult + ((rem * snapshot.time_mult) >> snapshot.time_shift);
}

/* When the snapshot was taken */
static inline u64 counter_then(void)
{
	u64 cyc = snapshot_cycles;

	if (snapshot.cap_user_time_short)
		cyc = snapshot.time_cycles + ((cyc - snapshot.time_cycles) & snapshot.time_mask);
	return cyc;
}

static inline int open_and_map(struct perf_event_attr *attr, struct pt_ring *r)
{
	int fd = pt_open(attr, 0, -1, -1, 0);

	pt_map(r, fd, 0);
	return fd;
}

#endif /* PTEST_USERPAGE_H */
