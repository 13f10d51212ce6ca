// SPDX-License-Identifier: GPL-2.0
/*
 * Gracemont, Crestmont, Skymont and Darkmont: CPUs of their own, and the small cores of hybrid.c.
 * Arctic Wolf has off-module responses (OMR) instead of offcore ones.
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring", hybrid machines; event lists
 * (perfmon) - grt: alderlaken v1.27, alderlake v1.27 cpu_atom; cmt: sierraforest v1.04,
 * grandridge v1.03, meteorlake v1.10 cpu_atom; and of Linux 7.2 - skt: lunarlake v1.22 cpu_atom;
 * dkt: clearwaterforest v1.02, pantherlake v1.05 cpu_atom; arw: none, named as before where the
 * code is the same.
 */
#include "../model.h"
#include "../pebs/pebs.h"

/*
 * Codes of event 0 stand for fixed counters, others for events that general counters count, too.
 * Linux 6.12 lets a general counter have 0x0100 and 0x0200, and Skymont's, which counts nothing;
 * the rows are of Linux 7.2.
 */
#define SMALL_FIXED							\
	FIXED(0, 0xc0, 0x0100),			/* INST_RETIRED.ANY_P, INST_RETIRED.ANY */	\
	FIXED(1, 0x3c, 0x0200),		/* CPU_CLK_UNHALTED.CORE_P, CPU_CLK_UNHALTED.CORE */	\
	FIXED(2, 0x300, 0x013c)		/* CPU_CLK_UNHALTED.REF_TSC, CPU_CLK_UNHALTED.REF_TSC_P */

static const struct intel_pe_rule grt_rules[] __initconst = { SMALL_FIXED, {} };

/* Skymont counts top-down events on fixed counters, not slots. */
#define SKT_FIXED							\
	SMALL_FIXED,							\
	FIXED(4, 0x0073, 0x0500), /* TOPDOWN_BAD_SPECULATION.ALL_P, TOPDOWN_BAD_SPECULATION.ALL */ \
	FIXED(5, 0x019c, 0x0600),		/* TOPDOWN_FE_BOUND.ALL_P, TOPDOWN_FE_BOUND.ALL */ \
	FIXED(6, 0x02c2, 0x0700)		/* TOPDOWN_RETIRING.ALL_P, TOPDOWN_RETIRING.ALL */

static const struct intel_pe_rule skt_rules[] __initconst = { SKT_FIXED, {} };

/* A register of off-module responses goes with a counter. */
static const struct intel_pe_rule arw_rules[] __initconst = {
	SKT_FIXED,
	CODES(0x1, 0x01b7),			/* OMR.* by register 0 */
	CODES(0x2, 0x02b7),			/* OMR.* by register 1 */
	CODES(0x4, 0x04b7),			/* OMR.* by register 2 */
	CODES(0x8, 0x08b7),			/* OMR.* by register 3 */
	CODES(0x1, 0x0175),			/* SERIALIZATION.IQ_JEU_SCB */
	CODES(0x2, 0x0275),			/* SERIALIZATION.NON_C01_MS_SCB */
	CODES(0x1, 0x21d3,			/* undocumented umask of 0xd3 */
	      0x22d3),				/* undocumented umask of 0xd3 */
	{}
};

static const struct intel_pe_cache no_itlb[] __initconst = {
	CACHE(ITLB, READ, NONSENSE, 0x0481),	/* ITLB.FILLS of Tremont */
	{}
};

/*
 * What misses the last level goes to other units on each of them.  Linux 6.12 asks for Tremont's
 * responses; these are of Linux 7.2 and the lists.
 */
static const struct intel_pe_cache grt_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OCR.DEMAND_DATA_RD.ANY_RESPONSE */
	      0x3f84400001),			/* OCR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, 0x10002,		/* OCR.DEMAND_RFO.ANY_RESPONSE */
	      0x3f84400002),			/* OCR.DEMAND_RFO.L3_MISS */
	{}
};

static const struct intel_pe_cache cmt_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OCR.DEMAND_DATA_RD.ANY_RESPONSE */
	      0x3fbfc00001),			/* OCR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, 0x10002,		/* OCR.DEMAND_RFO.ANY_RESPONSE */
	      0x3fbfc00002),			/* OCR.DEMAND_RFO.L3_MISS */
	{}
};

static const struct intel_pe_cache skt_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OCR.DEMAND_DATA_RD.ANY_RESPONSE */
	      0x13fbfc00001),			/* OCR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, 0x10002,		/* OCR.DEMAND_RFO.ANY_RESPONSE */
	      0x13fbfc00002),			/* OCR.DEMAND_RFO.L3_MISS */
	{}
};

/* OCR.DEMAND_DATA_RD.L3_MISS and OCR.DEMAND_RFO.L3_MISS of Clearwater Forest. */
static const struct intel_pe_cache dkt_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OCR.DEMAND_DATA_RD.ANY_RESPONSE */
	      0x33fbfc00001),			/* OCR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, 0x10002,		/* OCR.DEMAND_RFO.ANY_RESPONSE */
	      0x33fbfc00002),			/* OCR.DEMAND_RFO.L3_MISS */
	{}
};

/* OMR.DEMAND_DATA_RD and OMR.DEMAND_RFO: ANY_RESPONSE and L3_MISS */
static const struct intel_pe_cache arw_responses[] __initconst = {
	CACHE(LL, READ, 0x4000000000000009,	/* OMR.DEMAND_DATA_RD.ANY_RESPONSE */
	      0xff03f000000009),		/* OMR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, 0x400000000000000a,	/* OMR.DEMAND_RFO.ANY_RESPONSE */
	      0xff03f00000000a),		/* OMR.DEMAND_RFO.L3_MISS */
	{}
};

/* Linux 6.12 lets Gracemont have bits 0-37 alone; these are of Linux 7.2. */
static const struct intel_pe_extra grt_extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0x8003f03fffffffff), /* OCR.* */
	EXTRA(0x02b7, RSP_1, 0x3f03fffffffff),	/* OCR.* by MSR_OFFCORE_RSP_1 */
	LOAD_LATENCY(0x05d0),			/* MEM_UOPS_RETIRED.LOAD_LATENCY_GT_* */
	{}
};

static const struct intel_pe_extra cmt_extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0x800ff3ffffffffff), /* OCR.* */
	EXTRA(0x02b7, RSP_1, 0xff3ffffffffff),	/* OCR.* by MSR_OFFCORE_RSP_1 */
	LOAD_LATENCY(0x05d0),			/* MEM_UOPS_RETIRED.LOAD_LATENCY_GT_* */
	EXTRA(0x0127, SNOOP_0, ~0ULL),		/* off-module snoops with SNOOP_RSP_0 */
	EXTRA(0x0227, SNOOP_1, ~0ULL),		/* off-module snoops with SNOOP_RSP_1 */
	{}
};

static const struct intel_pe_extra arw_extra[] __initconst = {
	OFF_MODULE(0xb7, 0xc0ffffffffffffff),	/* OMR.* */
	LOAD_LATENCY(0x05d0),			/* MEM_UOPS_RETIRED.LOAD_LATENCY_GT_* */
	EXTRA(0x0127, SNOOP_0, ~0ULL),		/* off-module snoops with SNOOP_RSP_0 */
	EXTRA(0x0227, SNOOP_1, ~0ULL),		/* off-module snoops with SNOOP_RSP_1 */
	{}
};

static const struct intel_pe_label grt_topdown[] __initconst = {
	{ "topdown-fe-bound", "event=0x71,umask=0x0" },	/* TOPDOWN_FE_BOUND.ALL */
	{ "topdown-retiring", "event=0xc2,umask=0x0" },	/* UOPS_RETIRED.ALL */
	/* as on Tremont, and in Linux 6.12; the list has it with umask 0 */
	{ "topdown-bad-spec", "event=0x73,umask=0x6" },
	{ "topdown-be-bound", "event=0x74,umask=0x0" },	/* TOPDOWN_BE_BOUND.ALL */
	{}
};

static const struct intel_pe_label cmt_topdown[] __initconst = {
	{ "topdown-fe-bound", "event=0x71,umask=0x0" },	/* TOPDOWN_FE_BOUND.ALL */
	{ "topdown-retiring", "event=0x72,umask=0x0" },	/* TOPDOWN_RETIRING.ALL */
	{ "topdown-bad-spec", "event=0x73,umask=0x0" },	/* TOPDOWN_BAD_SPECULATION.ALL */
	{ "topdown-be-bound", "event=0x74,umask=0x0" },	/* TOPDOWN_BE_BOUND.ALL */
	{}
};

static const struct intel_pe_label skt_topdown[] __initconst = {
	{ "topdown-fe-bound", "event=0x9c,umask=0x01" },	/* TOPDOWN_FE_BOUND.ALL_P */
	{ "topdown-retiring", "event=0xc2,umask=0x02" },	/* TOPDOWN_RETIRING.ALL_P */
	{ "topdown-bad-spec", "event=0x73,umask=0x0" },	/* TOPDOWN_BAD_SPECULATION.ALL_P */
	{ "topdown-be-bound", "event=0xa4,umask=0x02" },	/* TOPDOWN_BE_BOUND.ALL */
	{}
};

static const struct intel_pe_label mem[] __initconst = {
	{ "mem-loads", "event=0xd0,umask=0x5,ldlat=3" }, /* MEM_UOPS_RETIRED.LOAD_LATENCY_GT_* */
	{ "mem-stores", "event=0xd0,umask=0x6" },	/* MEM_UOPS_RETIRED.STORE_LATENCY */
	{}
};

#define CORE(which_pebs)					\
	.cache		= { intel_pe_cache_glp, no_itlb },	\
	.pebs		= intel_##which_pebs##_pebs_event_constraints

const struct intel_pe_core intel_pe_core_grt __initconst = {
	CORE(grt), .rules = grt_rules, .extra = grt_extra, .offcore = { grt_offcore },
};

const struct intel_pe_core intel_pe_core_cmt __initconst = {
	CORE(cmt), .rules = grt_rules, .extra = cmt_extra, .offcore = { cmt_offcore },
};

const struct intel_pe_core intel_pe_core_skt __initconst = {
	CORE(cmt), .rules = skt_rules, .extra = cmt_extra, .offcore = { skt_offcore },
};

/* Darkmont is Skymont with latencies of loads on any counter; servers have another last level. */
const struct intel_pe_core intel_pe_core_dkt __initconst = {
	CORE(dkt), .rules = skt_rules, .extra = cmt_extra, .offcore = { skt_offcore },
};

const struct intel_pe_core intel_pe_core_arw __initconst = {
	CORE(dkt), .rules = arw_rules, .extra = arw_extra, .offcore = { arw_responses },
};

static const struct intel_pe_core dkt_x __initconst = {
	CORE(dkt), .rules = skt_rules, .extra = cmt_extra, .offcore = { dkt_offcore },
};

#define COMMON							\
	.flags		= PMU_FL_HAS_RSP_1 | PMU_FL_INSTR_LATENCY, \
	.mid_ack	= 1,					\
	.prec_dist	= 1,					\
	.block		= 1,					\
	.pt_coexists	= 1,					\
	.ref_cycles	= 1,					\
	.limit		= intel_pe_limit_glc,			\
	.mem		= mem

const struct intel_pe_model intel_pe_gracemont __initconst = {
	COMMON,
	.name		= "gracemont",
	.title		= "Gracemont events",
	.core		= &intel_pe_core_grt,
	.data_source	= intel_pmu_pebs_data_source_grt,
	.latency	= grt_latency_data,
	.get		= intel_pe_get_tnt,
	.topdown	= grt_topdown,
	.format		= { intel_pe_fmt_offcore, intel_pe_fmt_ldlat },
};

const struct intel_pe_model intel_pe_crestmont __initconst = {
	COMMON,
	.name		= "crestmont",
	.title		= "Crestmont events",
	.core		= &intel_pe_core_cmt,
	.data_source	= intel_pmu_pebs_data_source_cmt,
	.latency	= cmt_latency_data,
	.get		= intel_pe_get_cmt,
	.topdown	= cmt_topdown,
	.format		= { intel_pe_fmt_offcore, intel_pe_fmt_ldlat, intel_pe_fmt_snoop },
};

const struct intel_pe_model intel_pe_darkmont __initconst = {
	COMMON,
	.name		= "darkmont",
	.title		= "Darkmont events",
	.core		= &dkt_x,
	.data_source	= intel_pmu_pebs_data_source_cmt,
	.latency	= cmt_latency_data,
	.get		= intel_pe_get_cmt,
	.topdown	= skt_topdown,
	.format		= { intel_pe_fmt_offcore, intel_pe_fmt_ldlat, intel_pe_fmt_snoop },
};
