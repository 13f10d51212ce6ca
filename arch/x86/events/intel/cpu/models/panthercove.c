// SPDX-License-Identifier: GPL-2.0
/*
 * Panther Cove and Coyote Cove: Diamond Rapids; the big cores of Nova Lake, in hybrid.c.
 *
 * Eight general counters; off-module responses (OMR) with four registers where earlier cores have
 * two for offcore responses.
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring"; perfmon has no lists (pnc: none;
 * cyc: none), names are those of Lion Cove's events where the code is the same.
 */
#include "../model.h"
#include "../pebs/pebs.h"

static const struct intel_pe_rule rules[] __initconst = {
	INTEL_PE_BIG_FIXED,
	EVENTS(0xf, 0x20),			/* OFFCORE_REQUESTS_OUTSTANDING.* */
	EVENTS(0xf, 0x79),			/* IDQ.* */
	CODES(0xf, 0x0275, 0x0176),		/* INST_DECODED.*, UOPS_DECODED.* */
	CODES(0x1, 0x04a4),			/* TOPDOWN.BAD_SPEC_SLOTS */
	CODES(0x1, 0x08a4),			/* TOPDOWN.BR_MISPREDICT_SLOTS */
	CODES(0xfc, 0x01cd),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	CODES(0x3, 0x02cd),			/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	EVENTS(0xf, 0xd0,			/* MEM_INST_RETIRED.* */
	       0xd1,				/* MEM_LOAD_RETIRED.* */
	       0xd4,				/* MEM_LOAD_MISC_RETIRED.* */
	       0xd6,				/* undocumented; so in Linux 7.2 */
	       0xdf),				/* undocumented; so in Linux 7.2 */
	EVENTS(0x1, 0xce),			/* AMX_OPS_RETIRED.* */
	CODES(0x8, 0x01b1),			/* UOPS_EXECUTED.* */
	CODES(0xf, 0x0847,			/* undocumented; so in Linux 7.2 */
	      0x0446,				/* MEMORY_STALLS.L3 */
	      0x0846),				/* MEMORY_STALLS.MEM */
	CODES(0xf, 0x0148),			/* L1D_PENDING.* */
	{}
};

static const struct intel_pe_extra extra[] __initconst = {
	OFF_MODULE(0x2a, 0x40ffffff0000ffff),	/* OMR.* */
	LOAD_LATENCY(0x01cd),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	EXTRA(0x02c6, FE, 0x9),			/* FRONTEND_RETIRED.MISP_ANT */
	EXTRA(0x03c6, FE, 0x7fff1f),		/* FRONTEND_RETIRED.* */
	EXTRA(0x40ad, FE, 0xf),			/* INT_MISC.UNKNOWN_BRANCH_CYCLES */
	EXTRA(0x04c2, FE, 0x8),			/* UOPS_RETIRED.MS */
	{}
};

/* OMR.DEMAND_DATA_RD and OMR.DEMAND_RFO: ANY_RESPONSE and L3_MISS */
#define ANY_RESPONSE	0x4000000000000000

static const struct intel_pe_cache pnc_responses[] __initconst = {
	CACHE(LL, READ, ANY_RESPONSE | 1, 0xfffff000000001), /* OMR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, ANY_RESPONSE | 2, 0xfffff000000002), /* OMR.DEMAND_RFO.L3_MISS */
	{}
};

static const struct intel_pe_cache cyc_responses[] __initconst = {
	CACHE(LL, READ, ANY_RESPONSE | 1, 0xff03f000000001), /* OMR.DEMAND_DATA_RD.L3_MISS */
	CACHE(LL, WRITE, ANY_RESPONSE | 2, 0xff03f000000002), /* OMR.DEMAND_RFO.L3_MISS */
	{}
};

#define CORE								\
	.rules		= rules,					\
	.extra		= extra,					\
	.cache		= { intel_pe_cache_glc },			\
	.pebs		= intel_pnc_pebs_event_constraints

static const struct intel_pe_core pnc __initconst = { CORE, .offcore = { pnc_responses } };
const struct intel_pe_core intel_pe_core_cyc __initconst = { CORE, .offcore = { cyc_responses } };

static const struct intel_pe_label mem[] __initconst = {
	{ "mem-loads", "event=0xcd,umask=0x1,ldlat=3" }, /* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	{ "mem-stores", "event=0xcd,umask=0x2" },	/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	{}
};

const struct intel_pe_model intel_pe_panthercove __initconst = {
	.name		= "panthercove",
	.title		= "Panthercove events",
	.core		= &pnc,
	.flags		= PMU_FL_NO_HT_SHARING | PMU_FL_INSTR_LATENCY,
	.late_ack	= 1,
	.prec_dist	= 1,
	.block		= 1,
	.pt_coexists	= 1,
	.guest_pebs	= 1,
	.ref_cycles	= 1,
	.metrics	= 8,
	.rtm_abort	= 0x04c9,	/* RTM_RETIRED.ABORTED */
	.data_source	= intel_pe_pnc_data_source,
	.latency	= intel_pe_omr_latency,
	.limit		= intel_pe_limit_glc,
	.config		= intel_pe_tsx_config,
	.get		= intel_pe_get_glc,
	.topdown	= intel_pe_td_metrics2,
	.mem		= mem,
	.tsx		= intel_pe_tsx_glc,
	.format		= { intel_pe_fmt_offmodule, intel_pe_fmt_ldlat, intel_pe_fmt_tsx,
			    intel_pe_fmt_frontend },
};
