// SPDX-License-Identifier: GPL-2.0
/*
 * Haswell and Broadwell.
 *
 * Offcore responses (see sandybridge.c): local memory is bit 22, on Broadwell 26; remote memory
 * 27-29.
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring", Haswell and Broadwell; event lists
 * (perfmon) - hsw: haswell v35, haswellx v28; bdw: broadwell v29, broadwellde v11,
 * broadwellx v22.
 */
#include "../model.h"

static const struct intel_pe_rule hsw_rules[] __initconst = {
	ARCH_FIXED,
	CODES(0x4, 0x0148,			/* L1D_PEND_MISS.PENDING */
	      0x08a3,				/* CYCLE_ACTIVITY.CYCLES_L1D_PENDING */
	      0x0ca3),				/* CYCLE_ACTIVITY.STALLS_L1D_PENDING */
	CODES(0x2, 0x01c0),			/* INST_RETIRED.PREC_DIST */
	CODES(0xf, 0x04a3),			/* CYCLE_ACTIVITY.CYCLES_NO_EXECUTE */
	EVENTS(0x8, 0xcd),			/* MEM_TRANS_RETIRED.* */
	EXCL(0xf, 0xd0,				/* MEM_UOPS_RETIRED.* */
	     0xd1,				/* MEM_LOAD_UOPS_RETIRED.* */
	     0xd2,				/* MEM_LOAD_UOPS_L3_HIT_RETIRED.* */
	     0xd3),				/* MEM_LOAD_UOPS_L3_MISS_RETIRED.* */
	{}
};

static const struct intel_pe_rule bdw_rules[] __initconst = {
	ARCH_FIXED,
	CODES(0x4, 0x0148),			/* L1D_PEND_MISS.PENDING */
	UMASK_BIT(0x4, 0x08a3),			/* CYCLE_ACTIVITY.* */
	EVENTS(0xf, 0xcd,			/* MEM_TRANS_RETIRED.* */
	       0xd0,				/* MEM_UOPS_RETIRED.* */
	       0xd1,				/* MEM_LOAD_UOPS_RETIRED.* */
	       0xd2),				/* MEM_LOAD_UOPS_L3_HIT_RETIRED.* */
	{}
};

const struct intel_pe_cache intel_pe_cache_hsw[] __initconst = {
	CACHE(L1D, READ, 0x81d0, 0x0151),	/* MEM_UOPS_RETIRED.ALL_LOADS, L1D.REPLACEMENT */
	CACHE(L1D, WRITE, 0x82d0, 0),		/* MEM_UOPS_RETIRED.ALL_STORES */
	CACHE(L1I, READ, 0, 0x0280),		/* ICACHE.MISSES */
	CACHE(LL, READ, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	CACHE(LL, WRITE, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	CACHE(DTLB, READ, 0x81d0,		/* MEM_UOPS_RETIRED.ALL_LOADS */
	      0x0108),				/* DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK */
	CACHE(DTLB, WRITE, 0x82d0,		/* MEM_UOPS_RETIRED.ALL_STORES */
	      0x0149),				/* DTLB_STORE_MISSES.MISS_CAUSES_A_WALK */
	CACHE(ITLB, READ, 0x6085,		/* ITLB_MISSES.STLB_HIT */
	      0x0185),				/* ITLB_MISSES.MISS_CAUSES_A_WALK */
	CACHE(BPU, READ, 0xc4,			/* BR_INST_RETIRED.ALL_BRANCHES */
	      0xc5),				/* BR_MISP_RETIRED.ALL_BRANCHES */
	CACHE(NODE, READ, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	CACHE(NODE, WRITE, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	{}
};

static const struct intel_pe_cache hsw_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* DEMAND_DATA_RD: ANY_RESPONSE */
	      0x3fb8400001),			/* DEMAND_DATA_RD: L3_MISS */
	CACHE(LL, WRITE, 0x10002, 0x3fb8400002), /* DEMAND_RFO: ANY_RESPONSE, DEMAND_RFO: L3_MISS */
	CACHE(NODE, READ, 0x1f80400001,		/* DEMAND_DATA_RD: L3_MISS_LOCAL_DRAM */
	      0x1fb8000001),			/* DEMAND_DATA_RD: L3_MISS_REMOTE_HOP*_DRAM */
	CACHE(NODE, WRITE, 0x1f80400002,	/* DEMAND_RFO: L3_MISS_LOCAL_DRAM */
	      0x1fb8000002),			/* DEMAND_RFO: L3_MISS_REMOTE_HOP*_DRAM */
	{}
};

static const struct intel_pe_cache bdw_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE */
	      0x1fbc000001),			/* DEMAND_DATA_RD: L3_MISS */
	CACHE(LL, WRITE, 0x10002,		/* OFFCORE_RESPONSE.DEMAND_RFO.ANY_RESPONSE */
	      0x1fbc000002),			/* DEMAND_RFO: L3_MISS */
	CACHE(NODE, READ, 0x1f84000001,		/* DEMAND_DATA_RD: L3_MISS_LOCAL_DRAM */
	      0x1fb8000001),			/* DEMAND_DATA_RD: L3_MISS_REMOTE_HOP*_DRAM */
	CACHE(NODE, WRITE, 0x1f84000002,	/* DEMAND_RFO: L3_MISS_LOCAL_DRAM */
	      0x1fb8000002),			/* DEMAND_RFO: L3_MISS_REMOTE_HOP*_DRAM */
	{}
};

static const struct intel_pe_core hsw __initconst = {
	.rules		= hsw_rules,
	.extra		= intel_pe_extra_snbep,
	.cache		= { intel_pe_cache_hsw },
	.offcore	= { hsw_offcore },
	.pebs		= intel_hsw_pebs_event_constraints,
};

static const struct intel_pe_core bdw __initconst = {
	.rules		= bdw_rules,
	.extra		= intel_pe_extra_snbep,
	.cache		= { intel_pe_cache_hsw },
	.offcore	= { bdw_offcore },
	.pebs		= intel_bdw_pebs_event_constraints,
};

#define COMMON								\
	.flags		= PMU_FL_HAS_RSP_1 | PMU_FL_NO_HT_SHARING,	\
	.late_ack	= 1,						\
	.prec_dist	= 1,						\
	.lbr_init	= intel_pmu_lbr_init_hsw,			\
	.alias		= intel_pe_alias_ivb,				\
	.config		= intel_pe_tsx_config,				\
	.get		= intel_pe_get_hsw,				\
	.topdown	= intel_pe_td_snb,				\
	.mem		= intel_pe_mem_hsw,				\
	.tsx		= intel_pe_tsx_hsw,				\
	.format		= { intel_pe_fmt_offcore, intel_pe_fmt_ldlat, intel_pe_fmt_tsx }

const struct intel_pe_model intel_pe_haswell __initconst = {
	COMMON,
	.name		= "haswell",
	.title		= "Haswell events",
	.core		= &hsw,
	.double_abort	= 1,
	.limit		= intel_pe_limit_hsw,
	.quirks		= { intel_pe_quirk_pebs_isolation, intel_pe_quirk_ht },
};

const struct intel_pe_model intel_pe_broadwell __initconst = {
	COMMON,
	.name		= "broadwell",
	.title		= "Broadwell events",
	.core		= &bdw,
	.limit		= intel_pe_limit_bdw,
	.quirks		= { intel_pe_quirk_pebs_isolation },
};
