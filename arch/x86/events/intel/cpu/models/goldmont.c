// SPDX-License-Identifier: GPL-2.0
/*
 * Goldmont, Goldmont Plus and Tremont.
 *
 * From here on PEBS takes cycles as they are: no alias.
 * Offcore responses (see sandybridge.c); memory of Tremont is bit 26.
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring", Goldmont, Goldmont Plus and Tremont;
 * event lists (perfmon) - glm: goldmont v13; glp: goldmontplus v1.01, goldmont v13;
 * tnt: elkhartlake v1.05, snowridgex v1.23.
 */
#include "../model.h"

const struct intel_pe_cache intel_pe_cache_glp[] __initconst = {
	CACHE(L1D, READ, 0x81d0, 0),		/* MEM_UOPS_RETIRED.ALL_LOADS */
	CACHE(L1D, WRITE, 0x82d0, 0),		/* MEM_UOPS_RETIRED.ALL_STORES */
	CACHE(L1I, READ, 0x0380, 0x0280),	/* ICACHE.ACCESSES, ICACHE.MISSES */
	CACHE(LL, READ, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	CACHE(LL, WRITE, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	CACHE(DTLB, READ, 0x81d0,		/* MEM_UOPS_RETIRED.ALL_LOADS */
	      0x0e08),				/* DTLB_LOAD_MISSES.WALK_COMPLETED_* together */
	CACHE(DTLB, WRITE, 0x82d0,		/* MEM_UOPS_RETIRED.ALL_STORES */
	      0x0e49),				/* DTLB_STORE_MISSES.WALK_COMPLETED_* together */
	CACHE(ITLB, READ, 0xc0, 0x0481),	/* INST_RETIRED.ANY_P, ITLB.MISS */
	CACHE(BPU, READ, 0xc4,			/* BR_INST_RETIRED.ALL_BRANCHES */
	      0xc5),				/* BR_MISP_RETIRED.ALL_BRANCHES */
	{}
};

/* Goldmont sees prefetches, but no misses of the DTLB. */
static const struct intel_pe_cache glm_cache[] __initconst = {
	CACHE(LL, PREFETCH, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE */
	CACHE(DTLB, READ, 0x81d0, 0),		/* MEM_UOPS_RETIRED.ALL_LOADS */
	CACHE(DTLB, WRITE, 0x82d0, 0),		/* MEM_UOPS_RETIRED.ALL_STORES */
	{}
};

static const struct intel_pe_cache tnt_cache[] __initconst = {
	CACHE(ITLB, READ, NONSENSE, 0x0481),	/* ITLB.FILLS */
	{}
};

static const struct intel_pe_cache glp_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE */
	      0x3600000001),			/* OFFCORE_RESPONSE.DEMAND_DATA_RD.L2_MISS.ANY */
	CACHE(LL, WRITE, 0x10002,		/* OFFCORE_RESPONSE.DEMAND_RFO.ANY_RESPONSE */
	      0x3600000002),			/* OFFCORE_RESPONSE.DEMAND_RFO.L2_MISS.ANY */
	{}
};

static const struct intel_pe_cache glm_offcore[] __initconst = {
	CACHE(LL, PREFETCH, 0x10030,		/* PF_L2_DATA_RD | PF_L2_RFO: ANY_RESPONSE */
	      0x3600000030),			/* PF_L2_DATA_RD | PF_L2_RFO: L2_MISS */
	{}
};

static const struct intel_pe_cache tnt_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OCR.DEMAND_DATA_RD.ANY_RESPONSE */
	      0x3f04000001),			/* DEMAND_DATA_RD: L3_MISS */
	CACHE(LL, WRITE, 0x10002,		/* OCR.DEMAND_RFO.ANY_RESPONSE */
	      0x3f04000002),			/* DEMAND_RFO: L3_MISS */
	{}
};

static const struct intel_pe_extra glm_extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0x760005ffbf),	/* OFFCORE_RESPONSE */
	EXTRA(0x02b7, RSP_1, 0x360005ffbf),	/* OFFCORE_RESPONSE_1 of the SDM */
	{}
};

static const struct intel_pe_extra tnt_extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0x800ff0ffffff9fff), /* OCR.* */
	EXTRA(0x02b7, RSP_1, 0xff0ffffff9fff),	/* OCR.* by MSR_OFFCORE_RSP_1 */
	{}
};

/* Three slots in each cycle, four on Goldmont Plus. */
#define TOPDOWN(slots)							\
	{ "topdown-total-slots", "event=0x3c" },	/* CPU_CLK_UNHALTED.CORE_P */		\
	{ "topdown-total-slots.scale", slots },				\
	{ "topdown-fetch-bubbles", "event=0x9c" },	/* UOPS_NOT_DELIVERED.ANY */		\
	{ "topdown-recovery-bubbles", "event=0xca,umask=0x02" }, /* ISSUE_SLOTS_*.RECOVERY */	\
	{ "topdown-slots-retired", "event=0xc2" },	/* UOPS_RETIRED.ANY */			\
	{ "topdown-slots-issued", "event=0x0e" },	/* UOPS_ISSUED.ANY */			\
	{}

static const struct intel_pe_label glm_topdown[] __initconst = { TOPDOWN("3") };
static const struct intel_pe_label glp_topdown[] __initconst = { TOPDOWN("4") };

static const struct intel_pe_label tnt_topdown[] __initconst = {
	{ "topdown-fe-bound", "event=0x71,umask=0x0" },	/* TOPDOWN_FE_BOUND.ALL */
	{ "topdown-retiring", "event=0xc2,umask=0x0" },	/* UOPS_RETIRED.ALL */
	{ "topdown-bad-spec", "event=0x73,umask=0x6" },	/* TOPDOWN_BAD_SPECULATION.ALL */
	{ "topdown-be-bound", "event=0x74,umask=0x0" },	/* TOPDOWN_BE_BOUND.ALL */
	{}
};

static const struct intel_pe_core glm __initconst = {
	.rules		= intel_pe_arch_rules,
	.extra		= glm_extra,
	.cache		= { intel_pe_cache_glp, glm_cache },
	.offcore	= { glp_offcore, glm_offcore },
	.pebs		= intel_glm_pebs_event_constraints,
};

/* All events of these two can be precise: no list. */
static const struct intel_pe_core glp __initconst = {
	.rules		= intel_pe_arch_rules,
	.extra		= glm_extra,
	.cache		= { intel_pe_cache_glp },
	.offcore	= { glp_offcore },
};

static const struct intel_pe_core tnt __initconst = {
	.rules		= intel_pe_arch_rules,
	.extra		= tnt_extra,
	.cache		= { intel_pe_cache_glp, tnt_cache },
	.offcore	= { tnt_offcore },
};

#define COMMON						\
	.prec_dist	= 1,				\
	.pt_coexists	= 1,				\
	.lbr_init	= intel_pmu_lbr_init_skl,	\
	.format		= { intel_pe_fmt_offcore }

const struct intel_pe_model intel_pe_goldmont __initconst = {
	COMMON,
	.name		= "goldmont",
	.title		= "Goldmont events",
	.core		= &glm,
	.flags		= PMU_FL_HAS_RSP_1,
	.topdown	= glm_topdown,
};

const struct intel_pe_model intel_pe_goldmont_plus __initconst = {
	COMMON,
	.name		= "goldmont_plus",
	.title		= "Goldmont plus events",
	.core		= &glp,
	.flags		= PMU_FL_HAS_RSP_1 | PMU_FL_PEBS_ALL,
	.pebs_any	= 1,
	.get		= intel_pe_get_glp,
	.topdown	= glp_topdown,
};

const struct intel_pe_model intel_pe_tremont __initconst = {
	COMMON,
	.name		= "Tremont",
	.title		= "Tremont events",
	.core		= &tnt,
	.flags		= PMU_FL_HAS_RSP_1,
	.late_ack	= 1,
	.get		= intel_pe_get_tnt,
	.topdown	= tnt_topdown,
};
