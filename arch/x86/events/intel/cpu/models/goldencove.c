// SPDX-License-Identifier: GPL-2.0
/*
 * Golden Cove, Redwood Cove and Lion Cove: servers from Sapphire Rapids on; the big cores of
 * hybrid.c.
 *
 * Four more metrics; offcore responses have events of their own, 0x2a and 0x2b. What is a miss of
 * the last level is different on servers, on the big cores of hybrid machines, and on Lion Cove.
 */
#include "../model.h"

/* Events below 0x90 are on the first four counters, the others on all, with exceptions. */
static const struct intel_pe_rule glc_rules[] __initconst = {
	INTEL_PE_BIG_FIXED,
	EVENTS(0xff, 0x2e, 0x3c), SPAN(0xf, 0x01, 0x8f),
	CODES(0xf, 0x01a3, 0x02a3, 0x05a3, 0x06a3, 0x08a3, 0x0ca3), CODES(0xfe, 0x01cd),
	CODES(0x1, 0x04a4, 0x08a4, 0x02cd), EVENTS(0x1, 0xce),
	SPAN(0xf, 0xd0, 0xdf), SPAN(0xff, 0x90, 0xfe),
	{}
};

static const struct intel_pe_rule lnc_rules[] __initconst = {
	INTEL_PE_BIG_FIXED,
	EVENTS(0xf, 0x20), EVENTS(0x3ff, 0x2e, 0x3c),
	CODES(0x4, 0x0148, 0x0175, 0x08a3, 0x0ca3), CODES(0x1, 0x04a4, 0x08a4),
	CODES(0x8, 0x10a4, 0x01b1), CODES(0x3fc, 0x01cd), CODES(0x3, 0x02cd), CODES(0x3ff, 0x87d0),
	SPAN(0xf, 0xd0, 0xdf),
	{}
};

const struct intel_pe_cache intel_pe_cache_glc[] __initconst = {
	CACHE(L1D, READ, 0x81d0, 0xe124), CACHE(L1D, WRITE, 0x82d0, 0),
	CACHE(L1I, READ, 0, 0xe424),
	CACHE(LL, READ, 0x012a, 0x012a), CACHE(LL, WRITE, 0x012a, 0x012a),
	CACHE(DTLB, READ, 0x81d0, 0x0e12), CACHE(DTLB, WRITE, 0x82d0, 0x0e13),
	CACHE(ITLB, READ, NONSENSE, 0x0e11), CACHE(BPU, READ, 0x04c4, 0x04c5),
	{}
};

/* Servers have other nodes. */
static const struct intel_pe_cache node_cache[] __initconst = {
	CACHE(NODE, READ, 0x012a, 0x012a), {}
};

static const struct intel_pe_cache server_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001, 0x3fbfc00001), CACHE(LL, WRITE, 0x3f3ffc0002, 0x3f3fc00002),
	CACHE(NODE, READ, 0x104000001, 0x730000001),	/* local and remote memory */
	{}
};

static const struct intel_pe_cache adl_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001, 0x3fbfc00001), CACHE(LL, WRITE, 0x10002, 0x3fbfc00002), {}
};

static const struct intel_pe_cache lnl_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001, 0x9e7fa000001), CACHE(LL, WRITE, 0x10002, 0x9e7fa000002), {}
};

static const struct intel_pe_cache arl_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001, 0xfe7f8000001), CACHE(LL, WRITE, 0x10002, 0xfe7f8000002), {}
};

#define RESPONSES(bits)	EXTRA(0x012a, RSP_0, bits), EXTRA(0x012b, RSP_1, bits)

static const struct intel_pe_extra glc_extra[] __initconst = {
	RESPONSES(0x3fffffffff), LOAD_LATENCY(0x01cd),
	EXTRA(0x01c6, FE, 0x7fff1f), EXTRA(0x40ad, FE, 0x7), EXTRA(0x04c2, FE, 0x8), {}
};

static const struct intel_pe_extra rwc_extra[] __initconst = {
	RESPONSES(0x3fffffffff), LOAD_LATENCY(0x01cd), EXTRA(0x02c6, FE, 0x9),
	EXTRA(0x03c6, FE, 0x7fff1f), EXTRA(0x40ad, FE, 0x7), EXTRA(0x04c2, FE, 0x8), {}
};

static const struct intel_pe_extra lnc_extra[] __initconst = {
	RESPONSES(0xfffffffffff), LOAD_LATENCY(0x01cd), EXTRA(0x02c6, FE, 0x9),
	EXTRA(0x03c6, FE, 0x7fff1f), EXTRA(0x40ad, FE, 0xf), EXTRA(0x04c2, FE, 0x8), {}
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

#define MEM	{ "mem-loads", "event=0xcd,umask=0x1,ldlat=3" },	\
		{ "mem-stores", "event=0xcd,umask=0x2" }

static const struct intel_pe_label mem[] __initconst = { MEM, {} };
static const struct intel_pe_label mem_aux[] __initconst = {
	MEM, { "mem-loads-aux", "event=0x03,umask=0x82" }, {}
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
	.rtm_abort	= 0x04c9,					\
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
