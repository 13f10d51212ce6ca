// SPDX-License-Identifier: GPL-2.0
/*
 * Which events can be sampled by PEBS, on which counters, and what their records say about memory:
 * a table for each generation, and the search in it.
 *
 * A row is EVENT(code, counters) for an event with any umask, UMASK(umask and code, counters), or
 * ANYTHING(counters).  Rows match with none of the flags (edge, inv, cmask ...) that they do not
 * have themselves: 0x108000c0 is instructions with inv and a cmask of 16, that is cycles.  The
 * first row that matches counts.  The suffix says what the record has:
 *
 *   _LAT, _SLAT	a load's or a store's latency and data source
 *   _LD, _ST		an address, and that it was a load or a store
 *   _X			and HT siblings must not both count it (erratum); EVENT_X: with any flags
 *   _E			like EVENT, with any flags
 *
 * Where PMU_FL_PEBS_ALL is set, an event without a row is looked up among the ordinary
 * constraints.
 */
#include <linux/perf_event.h>

#include "pebs.h"

#define MATCH_EVENT	(ARCH_PERFMON_EVENTSEL_EVENT | X86_ALL_EVENT_FLAGS)
#define MATCH_UMASK	(INTEL_ARCH_EVENT_MASK | X86_ALL_EVENT_FLAGS)

#define ROW(from, to, match, counters, what) \
	__EVENT_CONSTRAINT_RANGE(from, to, counters, match, HWEIGHT(counters), 0, what)

#define LOADS		PERF_X86_EVENT_PEBS_LD_HSW
#define STORES		PERF_X86_EVENT_PEBS_ST_HSW
#define ALONE		PERF_X86_EVENT_EXCL
#define HYBRID		PERF_X86_EVENT_PEBS_LAT_HYBRID

#define ANYTHING(n)	ROW(0, 0, X86_ALL_EVENT_FLAGS, n, 0)
#define END		EVENT_CONSTRAINT_END

#define EVENT(c, n)	ROW(c, c, MATCH_EVENT, n, 0)
#define EVENT_E(c, n)	ROW(c, c, ARCH_PERFMON_EVENTSEL_EVENT, n, 0)
#define EVENT_X(c, n)	ROW(c, c, ARCH_PERFMON_EVENTSEL_EVENT, n, ALONE)
#define EVENT_LD(c, n)	ROW(c, c, MATCH_EVENT, n, LOADS)
#define EVENT_LD_X(c, n)	ROW(c, c, MATCH_EVENT, n, LOADS | ALONE)
#define EVENTS_LD(a, b, n)	ROW(a, b, MATCH_EVENT, n, LOADS)

#define UMASK(c, n)	ROW(c, c, MATCH_UMASK, n, 0)
#define UMASK_NA(c, n)	ROW(c, c, MATCH_UMASK, n, PERF_X86_EVENT_PEBS_NA_HSW)
#define UMASK_LAT(c, n)	ROW(c, c, MATCH_UMASK, n, PERF_X86_EVENT_PEBS_LDLAT)
#define UMASK_SLAT(c, n)	ROW(c, c, MATCH_UMASK, n, PERF_X86_EVENT_PEBS_STLAT)
#define UMASK_PST(c, n)	ROW(c, c, MATCH_UMASK, n, PERF_X86_EVENT_PEBS_ST)
#define UMASK_LD(c, n)	ROW(c, c, MATCH_UMASK, n, LOADS)
#define UMASK_ST(c, n)	ROW(c, c, MATCH_UMASK, n, STORES)
#define UMASK_LD_X(c, n)	ROW(c, c, MATCH_UMASK, n, LOADS | ALONE)
#define UMASK_ST_X(c, n)	ROW(c, c, MATCH_UMASK, n, STORES | ALONE)
#define HYBRID_LAT(c, n)	ROW(c, c, MATCH_UMASK, n, HYBRID | LOADS)
#define HYBRID_SLAT(c, n)	ROW(c, c, MATCH_UMASK, n, HYBRID | STORES)

/* Instructions, inv, cmask 16: what cycles:p means on most CPUs; and its uops and precdist kin. */
#define CYCLES		0x108000c0
#define CYCLES_UOPS	0x108001c2
#define CYCLES_DIST	0x108001c0

#define FIXED(i)	BIT_ULL(INTEL_PMC_IDX_FIXED + (i))

/* Retired: instructions c0, x87 c1, mispredicted branches c5, SIMD c7, loads cb */
struct event_constraint intel_core2_pebs_event_constraints[] = {
	UMASK(0x00c0, 1), UMASK(0xfec1, 1), UMASK(0x00c5, 1), UMASK(0x1fc7, 1), EVENT(0xcb, 1),
	UMASK(CYCLES, 1),
	END
};

struct event_constraint intel_atom_pebs_event_constraints[] = {
	UMASK(0x00c0, 1), UMASK(0x00c5, 1), EVENT(0xcb, 1), UMASK(CYCLES, 1),
	ANYTHING(1),
	END
};

struct event_constraint intel_slm_pebs_event_constraints[] = { UMASK(CYCLES, 1), ANYTHING(1), END };

struct event_constraint intel_glm_pebs_event_constraints[] = { ANYTHING(1), END };

struct event_constraint intel_grt_pebs_event_constraints[] = {
	HYBRID_LAT(0x5d0, 0x3), HYBRID_SLAT(0x6d0, 0x3f), END
};

struct event_constraint intel_cmt_pebs_event_constraints[] = {
	HYBRID_LAT(0x5d0, 0x3), HYBRID_SLAT(0x6d0, 0xff), END
};

struct event_constraint intel_dkt_pebs_event_constraints[] = {
	HYBRID_LAT(0x5d0, 0xff), HYBRID_SLAT(0x6d0, 0xff), END
};

/*
 * Load latency 100b, uncore loads 0f, store DTLB misses 10c; retired: instructions c0, uops c2,
 * branches c4, mispredicted c5, SSE c7, ITLB misses c8, loads cb, FP assists f7
 */
#define NHM_ROWS(mispredicted)							\
	UMASK_LAT(0x100b, 0xf), EVENT(0x0f, 0xf), UMASK(0x010c, 0xf),		\
	EVENT(0xc0, 0xf), EVENT_E(0xc2, 0xf), EVENT(0xc4, 0xf), mispredicted,	\
	EVENT(0xc7, 0xf), UMASK(0x20c8, 0xf), EVENT(0xcb, 0xf), EVENT(0xf7, 0xf), \
	UMASK(CYCLES, 0xf), END

struct event_constraint intel_nehalem_pebs_event_constraints[] = { NHM_ROWS(UMASK(0x02c5, 0xf)) };

struct event_constraint intel_westmere_pebs_event_constraints[] = { NHM_ROWS(EVENT(0xc5, 0xf)) };

/* Precise distribution 1c0, load latency 1cd, precise stores 2cd, memory uops and loads d0 to d3 */
#define SNB_ROWS								\
	EVENT_X(0xd0, 0xf), EVENT_X(0xd1, 0xf), EVENT_X(0xd2, 0xf), EVENT_X(0xd3, 0xf), \
	ANYTHING(0xf), END

struct event_constraint intel_snb_pebs_event_constraints[] = {
	UMASK(0x01c0, 0x2), UMASK_LAT(0x01cd, 0x8), UMASK_PST(0x02cd, 0x8),
	UMASK(CYCLES_UOPS, 0xf), SNB_ROWS
};

struct event_constraint intel_ivb_pebs_event_constraints[] = {
	UMASK(0x01c0, 0x2), UMASK_LAT(0x01cd, 0x8), UMASK_PST(0x02cd, 0x8),
	UMASK(CYCLES_UOPS, 0xf), UMASK(CYCLES_DIST, 0x2), SNB_ROWS
};

/* In d0: 1x second-level TLB misses, 2x locked, 4x split, 8x all; x1 loads, x2 stores */
#define HSW_ROWS(x)								\
	UMASK(0x01c0, 0x2), UMASK_LAT(0x01cd, 0xf),				\
	UMASK(CYCLES_UOPS, 0xf), UMASK(CYCLES_DIST, 0x2), UMASK_NA(0x01c2, 0xf), \
	UMASK_LD##x(0x11d0, 0xf), UMASK_LD##x(0x21d0, 0xf),			\
	UMASK_LD##x(0x41d0, 0xf), UMASK_LD##x(0x81d0, 0xf),			\
	UMASK_ST##x(0x12d0, 0xf), UMASK_ST##x(0x42d0, 0xf), UMASK_ST##x(0x82d0, 0xf), \
	EVENT_LD##x(0xd1, 0xf), EVENT_LD##x(0xd2, 0xf), EVENT_LD##x(0xd3, 0xf),	\
	ANYTHING(0xf), END

struct event_constraint intel_hsw_pebs_event_constraints[] = { HSW_ROWS(_X) };

struct event_constraint intel_bdw_pebs_event_constraints[] = { HSW_ROWS() };

struct event_constraint intel_skl_pebs_event_constraints[] = {
	UMASK(0x01c0, 0x2), UMASK(CYCLES_DIST, 0x2), UMASK(CYCLES, 0xf), UMASK_LAT(0x01cd, 0xf),
	UMASK_LD(0x11d0, 0xf), UMASK_ST(0x12d0, 0xf), UMASK_LD(0x21d0, 0xf), UMASK_ST(0x22d0, 0xf),
	UMASK_LD(0x41d0, 0xf), UMASK_ST(0x42d0, 0xf), UMASK_LD(0x81d0, 0xf), UMASK_ST(0x82d0, 0xf),
	EVENT_LD(0xd1, 0xf), EVENT_LD(0xd2, 0xf), EVENT_LD(0xd3, 0xf),
	ANYTHING(0xf),
	END
};

/* Precise distribution and slots have fixed counters. */
#define ICL_D0_UMASKS								\
	UMASK_LD(0x11d0, 0xf), UMASK_ST(0x12d0, 0xf), UMASK_LD(0x21d0, 0xf),	\
	UMASK_LD(0x41d0, 0xf), UMASK_ST(0x42d0, 0xf),				\
	UMASK_LD(0x81d0, 0xf), UMASK_ST(0x82d0, 0xf)
#define ICL_D0_EVENTS	EVENTS_LD(0xd1, 0xd4, 0xf), EVENT(0xd0, 0xf), END
#define ICL_D0_ROWS	ICL_D0_UMASKS, ICL_D0_EVENTS

struct event_constraint intel_icl_pebs_event_constraints[] = {
	UMASK(0x01c0, FIXED(0)), UMASK(0x0100, FIXED(0)), UMASK(0x0400, FIXED(3)),
	UMASK_LAT(0x01cd, 0xff), ICL_D0_ROWS
};

struct event_constraint intel_glc_pebs_event_constraints[] = {
	UMASK(0x0100, FIXED(0)), UMASK(0x0400, FIXED(3)), EVENT(0xc0, 0xfe),
	UMASK_LAT(0x01cd, 0xfe), UMASK_SLAT(0x02cd, 0x1), ICL_D0_ROWS
};

/* 2a and 2b: offcore responses */
struct event_constraint intel_lnc_pebs_event_constraints[] = {
	UMASK(0x0100, FIXED(0)), UMASK(0x0400, FIXED(3)), UMASK(0x012a, 1), UMASK(0x012b, 1),
	HYBRID_LAT(0x01cd, 0x3fc), HYBRID_SLAT(0x02cd, 0x3),
	ICL_D0_UMASKS, UMASK(0x87d0, 0x3ff), ICL_D0_EVENTS
};

struct event_constraint intel_pnc_pebs_event_constraints[] = {
	UMASK(0x0100, FIXED(0)), UMASK(0x0400, FIXED(3)),
	HYBRID_LAT(0x01cd, 0xfc), HYBRID_SLAT(0x02cd, 0x3), EVENT(0xd6, 0xf), ICL_D0_ROWS
};

/**
 * intel_pebs_constraints - where an event that asks for precision may go
 * @event: its hw.flags get what the record will say about memory
 *
 * Return: the counters; none (an empty constraint) if it cannot be precise; NULL if the ordinary
 * constraints tell.
 */
struct event_constraint *intel_pebs_constraints(struct perf_event *event)
{
	struct event_constraint *row;

	if (!event->attr.precise_ip)
		return NULL;

	row = hybrid(event->pmu, pebs_constraints);
	for (; row && row->weight != -1; row++) {
		if (constraint_match(row, event->hw.config)) {
			event->hw.flags |= row->flags;
			return row;
		}
	}
	return x86_pmu.flags & PMU_FL_PEBS_ALL ? NULL : &emptyconstraint;
}
