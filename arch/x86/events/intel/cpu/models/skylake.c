// SPDX-License-Identifier: GPL-2.0
/*
 * Skylake, Kaby Lake, Comet Lake, and Skylake servers, which may have persistent memory.
 *
 * Offcore responses (see sandybridge.c): local memory is bit 26, remote 27-29, split hits 30.
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring", Skylake and its servers; event lists
 * (perfmon) - skl: skylake v59, skylakex v1.35, cascadelakex v1.22.
 */
#include "../model.h"

static const struct intel_pe_rule rules[] __initconst = {
	ARCH_FIXED,
	CODES(0x2, 0x01c0),			/* INST_RETIRED.PREC_DIST */
	EVENTS(0xf, 0xc6,			/* FRONTEND_RETIRED.* */
	       0xcd,				/* MEM_TRANS_RETIRED.* */
	       0xd0,				/* MEM_INST_RETIRED.* */
	       0xd1,				/* MEM_LOAD_RETIRED.* */
	       0xd2),				/* MEM_LOAD_L3_HIT_RETIRED.* */
	{}
};

const struct intel_pe_cache intel_pe_cache_skl[] __initconst = {
	CACHE(L1D, READ, 0x81d0, 0x0151),	/* MEM_INST_RETIRED.ALL_LOADS, L1D.REPLACEMENT */
	CACHE(L1D, WRITE, 0x82d0, 0),		/* MEM_INST_RETIRED.ALL_STORES */
	CACHE(L1I, READ, 0, 0x0283),		/* ICACHE_64B.IFTAG_MISS */
	CACHE(LL, READ, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	CACHE(LL, WRITE, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	CACHE(DTLB, READ, 0x81d0,		/* MEM_INST_RETIRED.ALL_LOADS */
	      0x0e08),				/* DTLB_LOAD_MISSES.WALK_COMPLETED */
	CACHE(DTLB, WRITE, 0x82d0,		/* MEM_INST_RETIRED.ALL_STORES */
	      0x0e49),				/* DTLB_STORE_MISSES.WALK_COMPLETED */
	CACHE(ITLB, READ, 0x2085, 0x0e85), /* ITLB_MISSES.STLB_HIT, ITLB_MISSES.WALK_COMPLETED */
	CACHE(BPU, READ, 0xc4,			/* BR_INST_RETIRED.ALL_BRANCHES */
	      0xc5),				/* BR_MISP_RETIRED.ALL_BRANCHES */
	CACHE(NODE, READ, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	CACHE(NODE, WRITE, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	{}
};

const struct intel_pe_cache intel_pe_offcore_skl[] __initconst = {
	CACHE(LL, READ, 0x3fc0010001,		/* DEMAND_DATA_RD: ANY_RESPONSE and any snoop */
	      0x3ffc020001),			/* DEMAND_DATA_RD: L3_MISS */
	CACHE(LL, WRITE, 0x3fc0010002,		/* DEMAND_RFO: ANY_RESPONSE and any snoop */
	      0x3ffc020002),			/* DEMAND_RFO: L3_MISS */
	CACHE(NODE, READ, 0x1fc4000001,		/* DEMAND_DATA_RD: L3_MISS_LOCAL_DRAM */
	      0x1ff8000001),			/* DEMAND_DATA_RD: L3_MISS_REMOTE_HOP*_DRAM */
	CACHE(NODE, WRITE, 0x1fc4000002,	/* DEMAND_RFO: L3_MISS_LOCAL_DRAM */
	      0x1ff8000002),			/* DEMAND_RFO: L3_MISS_REMOTE_HOP*_DRAM */
	{}
};

/* The frontend register faults for some of the bits in between. */
static const struct intel_pe_extra extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0x3fffff8fff),	/* OFFCORE_RESPONSE */
	EXTRA(0x01bb, RSP_1, 0x3fffff8fff),	/* OFFCORE_RESPONSE */
	LOAD_LATENCY(0x01cd),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	EXTRA(0x01c6, FE, 0x7fff17),		/* FRONTEND_RETIRED.* */
	{}
};

static const struct intel_pe_core skl __initconst = {
	.rules		= rules,
	.extra		= extra,
	.cache		= { intel_pe_cache_skl },
	.offcore	= { intel_pe_offcore_skl },
	.pebs		= intel_skl_pebs_event_constraints,
};

static void __init intel_pe_skl_volatile_memory(void)
{
	intel_pmu_pebs_data_source_skl(false);
}

static void __init intel_pe_skl_persistent_memory(void)
{
	intel_pmu_pebs_data_source_skl(true);
}

#define SKL								\
	.name		= "skylake",					\
	.title		= "Skylake events",				\
	.core		= &skl,						\
	.flags		= PMU_FL_HAS_RSP_1 | PMU_FL_NO_HT_SHARING,	\
	.late_ack	= 1,						\
	.prec_dist	= 1,						\
	.setup		= intel_pe_tfa_setup,				\
	.quirks		= { intel_pe_quirk_pebs_isolation },		\
	.lbr_init	= intel_pmu_lbr_init_skl,			\
	.alias		= intel_pe_alias_skl,				\
	.config		= intel_pe_tsx_config,				\
	.get		= intel_pe_get_hsw,				\
	.topdown	= intel_pe_td_skl,				\
	.mem		= intel_pe_mem_hsw,				\
	.tsx		= intel_pe_tsx_hsw,				\
	.format		= { intel_pe_fmt_offcore, intel_pe_fmt_ldlat, intel_pe_fmt_tsx, \
			    intel_pe_fmt_frontend }

const struct intel_pe_model intel_pe_skylake __initconst = {
	SKL, .data_source = intel_pe_skl_volatile_memory,
};

const struct intel_pe_model intel_pe_skylake_x __initconst = {
	SKL, .data_source = intel_pe_skl_persistent_memory,
};
