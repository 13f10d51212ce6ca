// SPDX-License-Identifier: GPL-2.0
/*
 * Ice Lake, Tiger Lake, Rocket Lake, and Ice Lake servers.
 *
 * A fourth fixed counter with top-down metrics, eight general counters; offcore responses as on
 * Skylake, but on servers as on those that follow.
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring", Ice Lake and its servers; event lists
 * (perfmon) - icl: icelake v1.22, tigerlake v1.16, rocketlake v1.03, icelakex v1.26.
 */
#include "../model.h"

/* 0x0200 is of Linux 7.2; Linux 6.12 lets a general counter have it, which counts nothing. */
static const struct intel_pe_rule rules[] __initconst = {
	FIXED(0, 0xc0,				/* INST_RETIRED.ANY_P */
	      0x01c0,				/* INST_RETIRED.PREC_DIST as on Skylake */
	      0x0100),				/* INST_RETIRED.ANY */
	FIXED(1, 0x3c, 0x0200),		/* CPU_CLK_UNHALTED.THREAD_P, CPU_CLK_UNHALTED.THREAD */
	FIXED(2, 0x300),			/* CPU_CLK_UNHALTED.REF_TSC */
	FIXED(3, 0x400),			/* TOPDOWN.SLOTS */
	METRICS(4),
	CODES(0xff, 0x04a3,			/* CYCLE_ACTIVITY.STALLS_TOTAL */
	      0x10a3,				/* CYCLE_ACTIVITY.CYCLES_MEM_ANY */
	      0x14a3),				/* CYCLE_ACTIVITY.STALLS_MEM_ANY */
	EVENTS(0xf, 0x32,			/* SW_PREFETCH_ACCESS.* */
	       0xa3,				/* CYCLE_ACTIVITY.* */
	       0xef),				/* CORE_SNOOP_RESPONSE.* */
	SPAN(0xf, 0x03, 0x0a), SPAN(0xf, 0x1f, 0x28), SPAN(0xf, 0x48, 0x56), SPAN(0xf, 0x60, 0x8b),
	SPAN(0xf, 0xa8, 0xb0), SPAN(0xf, 0xb7, 0xbd), SPAN(0xf, 0xd0, 0xe6), SPAN(0xf, 0xf0, 0xf4),
	{}
};

/* There is no event for translations of code that were found. */
const struct intel_pe_cache intel_pe_cache_no_itlb[] __initconst = {
	CACHE(ITLB, READ, NONSENSE, 0x0e85),	/* ITLB_MISSES.WALK_COMPLETED */
	{}
};

static const struct intel_pe_extra extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0x3fffffbfff),	/* OCR.* */
	EXTRA(0x01bb, RSP_1, 0x3fffffbfff),	/* OCR.* */
	LOAD_LATENCY(0x01cd),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	EXTRA(0x01c6, FE, 0x7fff17),		/* FRONTEND_RETIRED.* */
	{}
};

/* Linux 6.12 asks for Skylake's responses; these are of Linux 7.2 and the list. */
static const struct intel_pe_cache server_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OCR.DEMAND_DATA_RD.ANY_RESPONSE */
	      0x3fbfc00001),			/* OCR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, 0x3f3ffc0002,		/* OCR.DEMAND_RFO.ANY_RESPONSE */
	      0x3f3fc00002),			/* OCR.DEMAND_RFO.L3_MISS */
	CACHE(NODE, READ, 0x104000001,		/* OCR.DEMAND_DATA_RD.LOCAL_DRAM */
	      0x730000001),			/* OCR.DEMAND_DATA_RD.REMOTE_DRAM */
	CACHE(NODE, WRITE, 0x104000002,		/* OCR.DEMAND_RFO.LOCAL_DRAM */
	      0x730000002),			/* DEMAND_RFO: remote DRAM */
	{}
};

#define CORE								\
	.rules		= rules,					\
	.extra		= extra,					\
	.cache		= { intel_pe_cache_skl, intel_pe_cache_no_itlb }, \
	.pebs		= intel_icl_pebs_event_constraints

static const struct intel_pe_core icl __initconst = { CORE, .offcore = { intel_pe_offcore_skl } };
static const struct intel_pe_core icx __initconst = { CORE, .offcore = { server_offcore } };

static void __init intel_pe_icl_volatile_memory(void)
{
	intel_pmu_pebs_data_source_skl(false);
}

static void __init intel_pe_icl_persistent_memory(void)
{
	intel_pmu_pebs_data_source_skl(true);
}

#define ICL								\
	.name		= "icelake",					\
	.title		= "Icelake events",				\
	.flags		= PMU_FL_HAS_RSP_1 | PMU_FL_NO_HT_SHARING,	\
	.late_ack	= 1,						\
	.prec_dist	= 1,						\
	.pt_coexists	= 1,						\
	.metrics	= 4,						\
	.rtm_abort	= 0x04c9,	/* RTM_RETIRED.ABORTED */		\
	.lbr_init	= intel_pmu_lbr_init_skl,			\
	.config		= intel_pe_tsx_config,				\
	.get		= intel_pe_get_icl,				\
	.topdown	= intel_pe_td_metrics,				\
	.mem		= intel_pe_mem_hsw,				\
	.tsx		= intel_pe_tsx_icl,				\
	.format		= { intel_pe_fmt_offcore, intel_pe_fmt_ldlat, intel_pe_fmt_tsx, \
			    intel_pe_fmt_frontend }

const struct intel_pe_model intel_pe_icelake __initconst = {
	ICL, .core = &icl, .data_source = intel_pe_icl_volatile_memory,
};

const struct intel_pe_model intel_pe_icelake_x __initconst = {
	ICL, .core = &icx, .data_source = intel_pe_icl_persistent_memory, .guest_pebs = 1,
};
