// SPDX-License-Identifier: GPL-2.0
/*
 * Silvermont and Airmont; Knights Landing and Mill, whose cores are descended from them.
 *
 * Offcore responses (see sandybridge.c).  On Knights a miss is what another tile's L2 (bits 19, 20)
 * or some memory (21-24) answered.
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring", Silvermont and Knights Landing; event
 * lists (perfmon) - slm: silvermont v15; knl: knightslanding v16.
 */
#include "../model.h"

const struct intel_pe_cache intel_pe_cache_slm[] __initconst = {
	CACHE(L1D, READ, 0, 0x0104),		/* MEM_UOPS_RETIRED.L1_MISS_LOADS */
	CACHE(L1I, READ, 0x0380, 0x0280),	/* ICACHE.ACCESSES, ICACHE.MISSES */
	CACHE(LL, READ, 0x01b7, 0),		/* OFFCORE_RESPONSE */
	CACHE(LL, WRITE, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	CACHE(LL, PREFETCH, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	CACHE(DTLB, READ, 0, 0x0804),		/* MEM_UOPS_RETIRED.DTLB_MISS_LOADS */
	CACHE(ITLB, READ, 0xc0, 0x40205),	/* INST_RETIRED.ANY_P, PAGE_WALKS.I_SIDE_WALKS */
	CACHE(BPU, READ, 0xc4,			/* BR_INST_RETIRED.ALL_BRANCHES */
	      0xc5),				/* BR_MISP_RETIRED.ALL_BRANCHES */
	{}
};

static const struct intel_pe_cache slm_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001, 0),		/* OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE */
	CACHE(LL, WRITE, 0x10002, 0x3680000002), /* DEMAND_RFO: ANY_RESPONSE, DEMAND_RFO: L2_MISS */
	CACHE(LL, PREFETCH, 0x10030,		/* PF_L2_DATA_RD | PF_L2_RFO: ANY_RESPONSE */
	      0x3680000030),			/* PF_L2_DATA_RD | PF_L2_RFO: L2_MISS */
	{}
};

static const struct intel_pe_cache knl_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001, 0),		/* OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE */
	CACHE(LL, WRITE, 0x10002,		/* OFFCORE_RESPONSE.DEMAND_RFO.ANY_RESPONSE */
	      0x3f81f80002),			/* DEMAND_RFO: L2_MISS of the tile */
	CACHE(LL, PREFETCH, 0x10030,		/* PF_L2_DATA_RD | PF_L2_RFO: ANY_RESPONSE */
	      0x3f81f80030),			/* PF_L2_DATA_RD | PF_L2_RFO: L2_MISS of the tile */
	{}
};

static const struct intel_pe_extra slm_extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0x768005ffff),	/* OFFCORE_RESPONSE */
	EXTRA(0x02b7, RSP_1, 0x368005ffff),	/* OFFCORE_RESPONSE_1 of the SDM */
	{}
};

static const struct intel_pe_extra knl_extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0x799ffbb6e7),	/* OFFCORE_RESPONSE */
	EXTRA(0x02b7, RSP_1, 0x399ffbffe7),	/* OFFCORE_RESPONSE_1 of the SDM */
	{}
};

/* Two slots in each cycle. */
static const struct intel_pe_label topdown[] __initconst = {
	{ "topdown-total-slots", "event=0x3c" },	/* CPU_CLK_UNHALTED.CORE_P */
	{ "topdown-total-slots.scale", "2" },
	{ "topdown-fetch-bubbles", "event=0xca,umask=0x50" },	/* NO_ALLOC_CYCLES.NOT_DELIVERED */
	{ "topdown-fetch-bubbles.scale", "2" },
	{ "topdown-slots-issued", "event=0xc2,umask=0x10" },	/* UOPS_RETIRED.ALL */
	{ "topdown-slots-retired", "event=0xc2,umask=0x10" },	/* UOPS_RETIRED.ALL */
	{}
};

static const struct intel_pe_core slm __initconst = {
	.rules		= intel_pe_arch_rules,
	.extra		= slm_extra,
	.cache		= { intel_pe_cache_slm },
	.offcore	= { slm_offcore },
	.pebs		= intel_slm_pebs_event_constraints,
};

static const struct intel_pe_core knl __initconst = {
	.rules		= intel_pe_arch_rules,
	.extra		= knl_extra,
	.cache		= { intel_pe_cache_slm },
	.offcore	= { knl_offcore },
	.pebs		= intel_slm_pebs_event_constraints,
};

const struct intel_pe_model intel_pe_silvermont __initconst = {
	.name		= "silvermont",
	.title		= "Silvermont events",
	.core		= &slm,
	.flags		= PMU_FL_HAS_RSP_1,
	.lbr_init	= intel_pmu_lbr_init_slm,
	.alias		= intel_pe_alias_core2,
	.topdown	= topdown,
	.format		= { intel_pe_fmt_offcore },
};

const struct intel_pe_model intel_pe_knights __initconst = {
	.name		= "knights-landing",
	.title		= "Knights Landing/Mill events",
	.core		= &knl,
	.flags		= PMU_FL_HAS_RSP_1 | PMU_FL_NO_HT_SHARING,
	.lbr_init	= intel_pmu_lbr_init_knl,
	.alias		= intel_pe_alias_core2,
	.format		= { intel_pe_fmt_offcore },
};
