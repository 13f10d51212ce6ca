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
 *
 * Names and their lists are those of models/; nehalem: nehalemep v4, nehalemex v4;
 * westmere: westmereep-sp v4, westmereep-dp v5, westmereex v4.
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

/*
 * INST_RETIRED.ANY_P with inv and a cmask of 16: what cycles:p means on most CPUs; and the same of
 * UOPS_RETIRED.ALL and of INST_RETIRED.PREC_DIST.
 */
#define CYCLES		0x108000c0
#define CYCLES_UOPS	0x108001c2
#define CYCLES_DIST	0x108001c0

#define FIXED(i)	BIT_ULL(INTEL_PMC_IDX_FIXED + (i))

struct event_constraint intel_core2_pebs_event_constraints[] = {
	UMASK(0x00c0, 1),			/* INST_RETIRED.ANY_P */
	UMASK(0xfec1, 1),			/* X87_OPS_RETIRED.ANY */
	UMASK(0x00c5, 1),			/* BR_INST_RETIRED.MISPRED */
	UMASK(0x1fc7, 1),			/* SIMD_INST_RETIRED.ANY */
	EVENT(0xcb, 1),				/* MEM_LOAD_RETIRED.* */
	UMASK(CYCLES, 1),
	END
};

struct event_constraint intel_atom_pebs_event_constraints[] = {
	UMASK(0x00c0, 1),			/* INST_RETIRED.ANY_P */
	UMASK(0x00c5, 1),			/* BR_INST_RETIRED.MISPRED */
	EVENT(0xcb, 1),				/* MEM_LOAD_RETIRED.* */
	UMASK(CYCLES, 1),
	ANYTHING(1),
	END
};

struct event_constraint intel_slm_pebs_event_constraints[] = { UMASK(CYCLES, 1), ANYTHING(1), END };

struct event_constraint intel_glm_pebs_event_constraints[] = { ANYTHING(1), END };

struct event_constraint intel_grt_pebs_event_constraints[] = {
	HYBRID_LAT(0x5d0, 0x3),			/* MEM_UOPS_RETIRED.LOAD_LATENCY_GT_* */
	HYBRID_SLAT(0x6d0, 0x3f),		/* MEM_UOPS_RETIRED.STORE_LATENCY */
	END
};

/* Stores on any counter, as in Linux 7.2; in Linux 6.12 as on Gracemont. */
struct event_constraint intel_cmt_pebs_event_constraints[] = {
	HYBRID_LAT(0x5d0, 0x3),			/* MEM_UOPS_RETIRED.LOAD_LATENCY_GT_* */
	HYBRID_SLAT(0x6d0, 0xff),		/* MEM_UOPS_RETIRED.STORE_LATENCY */
	END
};

struct event_constraint intel_dkt_pebs_event_constraints[] = {
	HYBRID_LAT(0x5d0, 0xff),		/* MEM_UOPS_RETIRED.LOAD_LATENCY_GT_* */
	HYBRID_SLAT(0x6d0, 0xff),		/* MEM_UOPS_RETIRED.STORE_LATENCY */
	END
};

#define NHM_ROWS(mispredicted)							\
	UMASK_LAT(0x100b, 0xf),			/* MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_* */ \
	EVENT(0x0f, 0xf),			/* MEM_UNCORE_RETIRED.* */			\
	UMASK(0x010c, 0xf),			/* MEM_STORE_RETIRED.DTLB_MISS */		\
	EVENT(0xc0, 0xf),			/* INST_RETIRED.* */				\
	EVENT_E(0xc2, 0xf),			/* UOPS_RETIRED.* */				\
	EVENT(0xc4, 0xf),			/* BR_INST_RETIRED.* */				\
	mispredicted,								\
	EVENT(0xc7, 0xf),			/* SSEX_UOPS_RETIRED.* */			\
	UMASK(0x20c8, 0xf),			/* ITLB_MISS_RETIRED */				\
	EVENT(0xcb, 0xf),			/* MEM_LOAD_RETIRED.* */			\
	EVENT(0xf7, 0xf),			/* FP_ASSIST.* */				\
	UMASK(CYCLES, 0xf), END

struct event_constraint intel_nehalem_pebs_event_constraints[] = {
	NHM_ROWS(UMASK(0x02c5, 0xf))		/* BR_MISP_RETIRED.NEAR_CALL */
};

struct event_constraint intel_westmere_pebs_event_constraints[] = {
	NHM_ROWS(EVENT(0xc5, 0xf))		/* BR_MISP_RETIRED.* */
};

#define SNB_ROWS								\
	EVENT_X(0xd0, 0xf),			/* MEM_UOPS_RETIRED.* */			\
	EVENT_X(0xd1, 0xf),			/* MEM_LOAD_UOPS_RETIRED.* */			\
	EVENT_X(0xd2, 0xf),			/* MEM_LOAD_UOPS_LLC_HIT_RETIRED.* */		\
	EVENT_X(0xd3, 0xf),			/* MEM_LOAD_UOPS_LLC_MISS_RETIRED.* */		\
	ANYTHING(0xf), END

struct event_constraint intel_snb_pebs_event_constraints[] = {
	UMASK(0x01c0, 0x2),			/* INST_RETIRED.PREC_DIST */
	UMASK_LAT(0x01cd, 0x8),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	UMASK_PST(0x02cd, 0x8),			/* MEM_TRANS_RETIRED.PRECISE_STORE */
	UMASK(CYCLES_UOPS, 0xf), SNB_ROWS
};

struct event_constraint intel_ivb_pebs_event_constraints[] = {
	UMASK(0x01c0, 0x2),			/* INST_RETIRED.PREC_DIST */
	UMASK_LAT(0x01cd, 0x8),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	UMASK_PST(0x02cd, 0x8),			/* MEM_TRANS_RETIRED.PRECISE_STORE */
	UMASK(CYCLES_UOPS, 0xf), UMASK(CYCLES_DIST, 0x2), SNB_ROWS
};

#define HSW_ROWS(x)								\
	UMASK(0x01c0, 0x2),			/* INST_RETIRED.PREC_DIST */			\
	UMASK_LAT(0x01cd, 0xf),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */	\
	UMASK(CYCLES_UOPS, 0xf),								\
	UMASK(CYCLES_DIST, 0x2),								\
	UMASK_NA(0x01c2, 0xf),			/* UOPS_RETIRED.ALL */				\
	UMASK_LD##x(0x11d0, 0xf),		/* MEM_UOPS_RETIRED.STLB_MISS_LOADS */		\
	UMASK_LD##x(0x21d0, 0xf),		/* MEM_UOPS_RETIRED.LOCK_LOADS */		\
	UMASK_LD##x(0x41d0, 0xf),		/* MEM_UOPS_RETIRED.SPLIT_LOADS */		\
	UMASK_LD##x(0x81d0, 0xf),		/* MEM_UOPS_RETIRED.ALL_LOADS */		\
	UMASK_ST##x(0x12d0, 0xf),		/* MEM_UOPS_RETIRED.STLB_MISS_STORES */		\
	UMASK_ST##x(0x42d0, 0xf),		/* MEM_UOPS_RETIRED.SPLIT_STORES */		\
	UMASK_ST##x(0x82d0, 0xf),		/* MEM_UOPS_RETIRED.ALL_STORES */		\
	EVENT_LD##x(0xd1, 0xf),			/* MEM_LOAD_UOPS_RETIRED.* */			\
	EVENT_LD##x(0xd2, 0xf),			/* MEM_LOAD_UOPS_L3_HIT_RETIRED.* */		\
	EVENT_LD##x(0xd3, 0xf),			/* MEM_LOAD_UOPS_L3_MISS_RETIRED.* */		\
	ANYTHING(0xf), END

struct event_constraint intel_hsw_pebs_event_constraints[] = { HSW_ROWS(_X) };

struct event_constraint intel_bdw_pebs_event_constraints[] = { HSW_ROWS() };

struct event_constraint intel_skl_pebs_event_constraints[] = {
	UMASK(0x01c0, 0x2),			/* INST_RETIRED.PREC_DIST */
	UMASK(CYCLES_DIST, 0x2),
	UMASK(CYCLES, 0xf),
	UMASK_LAT(0x01cd, 0xf),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	UMASK_LD(0x11d0, 0xf),			/* MEM_INST_RETIRED.STLB_MISS_LOADS */
	UMASK_ST(0x12d0, 0xf),			/* MEM_INST_RETIRED.STLB_MISS_STORES */
	UMASK_LD(0x21d0, 0xf),			/* MEM_INST_RETIRED.LOCK_LOADS */
	UMASK_ST(0x22d0, 0xf),			/* undocumented MEM_INST_RETIRED.LOCK_STORES */
	UMASK_LD(0x41d0, 0xf),			/* MEM_INST_RETIRED.SPLIT_LOADS */
	UMASK_ST(0x42d0, 0xf),			/* MEM_INST_RETIRED.SPLIT_STORES */
	UMASK_LD(0x81d0, 0xf),			/* MEM_INST_RETIRED.ALL_LOADS */
	UMASK_ST(0x82d0, 0xf),			/* MEM_INST_RETIRED.ALL_STORES */
	EVENT_LD(0xd1, 0xf),			/* MEM_LOAD_RETIRED.* */
	EVENT_LD(0xd2, 0xf),			/* MEM_LOAD_L3_HIT_RETIRED.* */
	EVENT_LD(0xd3, 0xf),			/* MEM_LOAD_L3_MISS_RETIRED.* */
	ANYTHING(0xf),
	END
};

/* INST_RETIRED.PREC_DIST and TOPDOWN.SLOTS have fixed counters. */
#define ICL_D0_UMASKS								\
	UMASK_LD(0x11d0, 0xf),			/* MEM_INST_RETIRED.STLB_MISS_LOADS */		\
	UMASK_ST(0x12d0, 0xf),			/* MEM_INST_RETIRED.STLB_MISS_STORES */		\
	UMASK_LD(0x21d0, 0xf),			/* MEM_INST_RETIRED.LOCK_LOADS */		\
	UMASK_LD(0x41d0, 0xf),			/* MEM_INST_RETIRED.SPLIT_LOADS */		\
	UMASK_ST(0x42d0, 0xf),			/* MEM_INST_RETIRED.SPLIT_STORES */		\
	UMASK_LD(0x81d0, 0xf),			/* MEM_INST_RETIRED.ALL_LOADS */		\
	UMASK_ST(0x82d0, 0xf)			/* MEM_INST_RETIRED.ALL_STORES */
#define ICL_D0_EVENTS								\
	EVENTS_LD(0xd1, 0xd4, 0xf),		/* MEM_LOAD_RETIRED.*, MEM_LOAD_MISC_RETIRED.UC */ \
	EVENT(0xd0, 0xf),			/* MEM_INST_RETIRED.* */			\
	END
#define ICL_D0_ROWS	ICL_D0_UMASKS, ICL_D0_EVENTS

struct event_constraint intel_icl_pebs_event_constraints[] = {
	UMASK(0x01c0, FIXED(0)),		/* INST_RETIRED.PREC_DIST as on Skylake */
	UMASK(0x0100, FIXED(0)),		/* INST_RETIRED.PREC_DIST */
	UMASK(0x0400, FIXED(3)),		/* TOPDOWN.SLOTS */
	UMASK_LAT(0x01cd, 0xff),		/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	ICL_D0_ROWS
};

struct event_constraint intel_glc_pebs_event_constraints[] = {
	UMASK(0x0100, FIXED(0)),		/* INST_RETIRED.PREC_DIST */
	UMASK(0x0400, FIXED(3)),		/* TOPDOWN.SLOTS */
	EVENT(0xc0, 0xfe),			/* INST_RETIRED.* */
	UMASK_LAT(0x01cd, 0xfe),		/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	UMASK_SLAT(0x02cd, 0x1),		/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	ICL_D0_ROWS
};

/* The rows of d0 to d4 say where data was, as in Linux 7.2; Linux 6.12 has none. */
struct event_constraint intel_lnc_pebs_event_constraints[] = {
	UMASK(0x0100, FIXED(0)),		/* INST_RETIRED.PREC_DIST */
	UMASK(0x0400, FIXED(3)),		/* TOPDOWN.SLOTS */
	UMASK(0x012a, 1),			/* OCR.* */
	UMASK(0x012b, 1),			/* OCR.* */
	HYBRID_LAT(0x01cd, 0x3fc),		/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	HYBRID_SLAT(0x02cd, 0x3),		/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	ICL_D0_UMASKS,
	UMASK(0x87d0, 0x3ff),			/* MEM_INST_RETIRED.ANY */
	ICL_D0_EVENTS
};

struct event_constraint intel_pnc_pebs_event_constraints[] = {
	UMASK(0x0100, FIXED(0)),		/* INST_RETIRED.PREC_DIST */
	UMASK(0x0400, FIXED(3)),		/* TOPDOWN.SLOTS */
	HYBRID_LAT(0x01cd, 0xfc),		/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	HYBRID_SLAT(0x02cd, 0x3),		/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	EVENT(0xd6, 0xf),			/* undocumented; so in Linux 7.2 */
	ICL_D0_ROWS
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
			intel_pe_add_flags(event, row->flags);
			return row;
		}
	}
	return x86_pmu.flags & PMU_FL_PEBS_ALL ? NULL : &emptyconstraint;
}
