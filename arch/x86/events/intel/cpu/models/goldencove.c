// SPDX-License-Identifier: GPL-2.0
/*
 * Golden Cove, Redwood Cove and Lion Cove: servers from Sapphire Rapids on; the big cores of
 * hybrid.c.
 *
 * Four more metrics; offcore responses have events of their own, 0x2a and 0x2b. What is a miss of
 * the last level is different on servers, on the big cores of hybrid machines, and on Lion Cove.
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring", hybrid machines and Sapphire Rapids;
 * event lists (perfmon) - glc: sapphirerapids v1.23, emeraldrapids v1.09, alderlake v1.27 cpu_core;
 * rwc: graniterapids v1.02, meteorlake v1.10 cpu_core; and of Linux 7.2 - lnc: lunarlake v1.22
 * cpu_core; lnl: lunarlake v1.22 cpu_core; arl: arrowlake v1.17 cpu_core.
 */
#include "../model.h"

/*
 * Events below 0x90 are on the first four counters, the others on all, with exceptions.  In Linux
 * 6.12 0x05a3, 0x06a3, 0x0ca3 and 0x01cd are none; the rows are those of Linux 7.2.
 */
static const struct intel_pe_rule glc_rules[] __initconst = {
	INTEL_PE_BIG_FIXED,
	EVENTS(0xff, 0x2e, 0x3c),		/* LONGEST_LAT_CACHE.*, CPU_CLK_UNHALTED.* */
	SPAN(0xf, 0x01, 0x8f),
	CODES(0xf, 0x01a3,			/* CYCLE_ACTIVITY.CYCLES_L2_MISS */
	      0x02a3,			/* CYCLE_ACTIVITY.CYCLES_L3_MISS of Granite Rapids */
	      0x05a3,				/* CYCLE_ACTIVITY.STALLS_L2_MISS */
	      0x06a3,				/* CYCLE_ACTIVITY.STALLS_L3_MISS */
	      0x08a3,				/* CYCLE_ACTIVITY.CYCLES_L1D_MISS */
	      0x0ca3),				/* CYCLE_ACTIVITY.STALLS_L1D_MISS */
	CODES(0xfe, 0x01cd),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	CODES(0x1, 0x04a4,			/* TOPDOWN.BAD_SPEC_SLOTS */
	      0x08a4,				/* TOPDOWN.BR_MISPREDICT_SLOTS */
	      0x02cd),				/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	EVENTS(0x1, 0xce),			/* AMX_OPS_RETIRED.* of the SDM */
	SPAN(0xf, 0xd0, 0xdf), SPAN(0xff, 0x90, 0xfe),
	{}
};

/*
 * 0x012a and 0x012b (OCR.*), and 0x00e0, are on all counters; Linux 6.12 has rows that say four,
 * Linux 7.2 has none.
 */
static const struct intel_pe_rule lnc_rules[] __initconst = {
	INTEL_PE_BIG_FIXED,
	EVENTS(0xf, 0x20),			/* OFFCORE_REQUESTS_OUTSTANDING.* */
	EVENTS(0x3ff, 0x2e, 0x3c),		/* LONGEST_LAT_CACHE.*, CPU_CLK_UNHALTED.* */
	CODES(0x4, 0x0148,			/* L1D_PENDING.LOAD */
	      0x0175,				/* INST_DECODED.DECODERS */
	      0x08a3,				/* undocumented of CYCLE_ACTIVITY */
	      0x0ca3),				/* undocumented of CYCLE_ACTIVITY */
	CODES(0x1, 0x04a4, 0x08a4),	/* TOPDOWN.BAD_SPEC_SLOTS, TOPDOWN.BR_MISPREDICT_SLOTS */
	CODES(0x8, 0x10a4, 0x01b1),	/* TOPDOWN.MEMORY_BOUND_SLOTS, UOPS_EXECUTED.THREAD */
	CODES(0x3fc, 0x01cd),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	CODES(0x3, 0x02cd),			/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	CODES(0x3ff, 0x87d0),			/* MEM_INST_RETIRED.ANY */
	SPAN(0xf, 0xd0, 0xdf),
	{}
};

const struct intel_pe_cache intel_pe_cache_glc[] __initconst = {
	CACHE(L1D, READ, 0x81d0,		/* MEM_INST_RETIRED.ALL_LOADS */
	      0xe124),				/* L2_RQSTS.ALL_DEMAND_DATA_RD */
	CACHE(L1D, WRITE, 0x82d0, 0),		/* MEM_INST_RETIRED.ALL_STORES */
	CACHE(L1I, READ, 0, 0xe424),		/* L2_RQSTS.ALL_CODE_RD */
	CACHE(LL, READ, 0x012a, 0x012a),	/* OCR.* */
	CACHE(LL, WRITE, 0x012a, 0x012a),	/* OCR.* */
	CACHE(DTLB, READ, 0x81d0,		/* MEM_INST_RETIRED.ALL_LOADS */
	      0x0e12),				/* DTLB_LOAD_MISSES.WALK_COMPLETED */
	CACHE(DTLB, WRITE, 0x82d0,		/* MEM_INST_RETIRED.ALL_STORES */
	      0x0e13),				/* DTLB_STORE_MISSES.WALK_COMPLETED */
	CACHE(ITLB, READ, NONSENSE, 0x0e11),	/* ITLB_MISSES.WALK_COMPLETED */
	CACHE(BPU, READ, 0x04c4,		/* BR_INST_RETIRED with an undocumented umask */
	      0x04c5),				/* BR_MISP_RETIRED with an undocumented umask */
	{}
};

/* Servers have other nodes. */
static const struct intel_pe_cache node_cache[] __initconst = {
	CACHE(NODE, READ, 0x012a, 0x012a),	/* OCR.* */
	{}
};

/* NODE is of Linux 7.2 and the lists; Linux 6.12 has other bits for local and remote memory. */
static const struct intel_pe_cache server_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OCR.DEMAND_DATA_RD.ANY_RESPONSE */
	      0x3fbfc00001),			/* OCR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, 0x3f3ffc0002,		/* OCR.DEMAND_RFO.ANY_RESPONSE */
	      0x3f3fc00002),			/* OCR.DEMAND_RFO.L3_MISS */
	CACHE(NODE, READ, 0x104000001,		/* OCR.DEMAND_DATA_RD.LOCAL_DRAM */
	      0x730000001),			/* OCR.DEMAND_DATA_RD.REMOTE_DRAM */
	{}
};

/* Linux 6.12 asks the big cores of hybrid machines for the servers' responses; these are of 7.2. */
static const struct intel_pe_cache adl_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OCR.DEMAND_DATA_RD.ANY_RESPONSE */
	      0x3fbfc00001),			/* OCR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, 0x10002,		/* OCR.DEMAND_RFO.ANY_RESPONSE */
	      0x3fbfc00002),			/* OCR.DEMAND_RFO.L3_MISS */
	{}
};

static const struct intel_pe_cache lnl_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OCR.DEMAND_DATA_RD.ANY_RESPONSE */
	      0x9e7fa000001),			/* OCR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, 0x10002,		/* OCR.DEMAND_RFO.ANY_RESPONSE */
	      0x9e7fa000002),			/* OCR.DEMAND_RFO.L3_MISS */
	{}
};

static const struct intel_pe_cache arl_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001,		/* OCR.DEMAND_DATA_RD.ANY_RESPONSE */
	      0xfe7f8000001),			/* OCR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, 0x10002,		/* OCR.DEMAND_RFO.ANY_RESPONSE */
	      0xfe7f8000002),			/* OCR.DEMAND_RFO.L3_MISS */
	{}
};

#define RESPONSES(bits)							\
	EXTRA(0x012a, RSP_0, bits),		/* OCR.* */					\
	EXTRA(0x012b, RSP_1, bits)		/* OCR.* */

static const struct intel_pe_extra glc_extra[] __initconst = {
	RESPONSES(0x3fffffffff),
	LOAD_LATENCY(0x01cd),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	EXTRA(0x01c6, FE, 0x7fff1f),		/* FRONTEND_RETIRED.* */
	EXTRA(0x40ad, FE, 0x7),			/* INT_MISC.UNKNOWN_BRANCH_CYCLES */
	EXTRA(0x04c2, FE, 0x8),			/* UOPS_RETIRED.MS */
	{}
};

static const struct intel_pe_extra rwc_extra[] __initconst = {
	RESPONSES(0x3fffffffff),
	LOAD_LATENCY(0x01cd),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	EXTRA(0x02c6, FE, 0x9),			/* FRONTEND_RETIRED.MISP_ANT */
	EXTRA(0x03c6, FE, 0x7fff1f),		/* FRONTEND_RETIRED.* */
	EXTRA(0x40ad, FE, 0x7),			/* INT_MISC.UNKNOWN_BRANCH_CYCLES */
	EXTRA(0x04c2, FE, 0x8),			/* UOPS_RETIRED.MS */
	{}
};

static const struct intel_pe_extra lnc_extra[] __initconst = {
	RESPONSES(0xfffffffffff),
	LOAD_LATENCY(0x01cd),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	EXTRA(0x02c6, FE, 0x9),			/* FRONTEND_RETIRED.MISP_ANT */
	EXTRA(0x03c6, FE, 0x7fff1f),		/* FRONTEND_RETIRED.* */
	EXTRA(0x40ad, FE, 0xf),			/* INT_MISC.UNKNOWN_BRANCH_CYCLES */
	EXTRA(0x04c2, FE, 0x8),			/* UOPS_RETIRED.MS */
	{}
};

#define GLC(which_extra)				\
	.rules		= glc_rules,			\
	.extra		= which_extra,			\
	.pebs		= intel_glc_pebs_event_constraints

#define LNC						\
	.rules		= lnc_rules,			\
	.extra		= lnc_extra,			\
	.cache		= { intel_pe_cache_glc },			\
	.pebs		= intel_lnc_pebs_event_constraints

static const struct intel_pe_core spr __initconst = {
	GLC(glc_extra), .cache = { intel_pe_cache_glc, node_cache }, .offcore = { server_offcore },
};

static const struct intel_pe_core gnr __initconst = {
	GLC(rwc_extra), .cache = { intel_pe_cache_glc, node_cache }, .offcore = { server_offcore },
};

const struct intel_pe_core intel_pe_core_glc __initconst = {
	GLC(glc_extra), .cache = { intel_pe_cache_glc }, .offcore = { adl_offcore },
};

const struct intel_pe_core intel_pe_core_rwc __initconst = {
	GLC(rwc_extra), .cache = { intel_pe_cache_glc }, .offcore = { adl_offcore },
};

const struct intel_pe_core intel_pe_core_lnc __initconst = { LNC, .offcore = { lnl_offcore } };
const struct intel_pe_core intel_pe_core_lnc_arl __initconst = { LNC, .offcore = { arl_offcore } };

static void __init intel_pe_glc_data_source(void)
{
	intel_pmu_pebs_data_source_skl(true);
}

#define MEM								\
	{ "mem-loads", "event=0xcd,umask=0x1,ldlat=3" }, /* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */ \
	{ "mem-stores", "event=0xcd,umask=0x2" }	/* MEM_TRANS_RETIRED.STORE_SAMPLE */

static const struct intel_pe_label mem[] __initconst = { MEM, {} };
static const struct intel_pe_label mem_aux[] __initconst = {
	MEM,
	{ "mem-loads-aux", "event=0x03,umask=0x82" },	/* LD_BLOCKS.STORE_FORWARD */
	{}
};

#define FLAGS	(PMU_FL_HAS_RSP_1 | PMU_FL_NO_HT_SHARING | PMU_FL_INSTR_LATENCY)

#define SERVER								\
	.late_ack	= 1,						\
	.prec_dist	= 1,						\
	.block		= 1,						\
	.pt_coexists	= 1,						\
	.guest_pebs	= 1,						\
	.ref_cycles	= 1,						\
	.metrics	= 8,						\
	.rtm_abort	= 0x04c9,	/* RTM_RETIRED.ABORTED */		\
	.data_source	= intel_pe_glc_data_source,			\
	.limit		= intel_pe_limit_glc,				\
	.config		= intel_pe_tsx_config,				\
	.get		= intel_pe_get_glc,				\
	.topdown	= intel_pe_td_metrics2,				\
	.tsx		= intel_pe_tsx_glc,				\
	.format		= { intel_pe_fmt_offcore, intel_pe_fmt_ldlat, intel_pe_fmt_tsx, \
			    intel_pe_fmt_frontend }

const struct intel_pe_model intel_pe_sapphire_rapids __initconst = {
	SERVER,
	.name	= "sapphire_rapids",
	.title	= "Sapphire Rapids events",
	.core	= &spr,
	.flags	= FLAGS | PMU_FL_MEM_LOADS_AUX,
	.mem	= mem_aux,
};

const struct intel_pe_model intel_pe_granite_rapids __initconst = {
	SERVER,
	.name	= "granite_rapids",
	.title	= "Granite Rapids events",
	.core	= &gnr,
	.flags	= FLAGS,
	.mem	= mem,
};
