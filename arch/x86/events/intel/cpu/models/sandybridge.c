// SPDX-License-Identifier: GPL-2.0
/*
 * Sandy Bridge and Ivy Bridge, clients and servers.
 *
 * Without hyper-threading there are eight counters, of which some events can use the first four;
 * with it, memory events need theirs alone in the core (excl_cntrs.c).
 *
 * Offcore responses from here on: who asked is in bits 0-15 (data read 0, RFO 1, prefetched data 4,
 * prefetched RFO 5, prefetched to the L3 7 and 8), any response is bit 16, who answered is in bits
 * 17-30 (local memory 22, remote 23-30), what the snoop found in 31-37 (37: no memory).
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring", Sandy Bridge and Ivy Bridge; event
 * lists (perfmon) - snb: sandybridge v19, jaketown v24; ivb: ivybridge v24, ivytown v24.
 */
#include "../model.h"

static const struct intel_pe_rule snb_rules[] __initconst = {
	ARCH_FIXED,
	CODES(0xf, 0x04a3,			/* CYCLE_ACTIVITY.CYCLES_NO_DISPATCH */
	      0x05a3),				/* CYCLE_ACTIVITY.STALLS_L2_PENDING */
	CODES(0x4, 0x02a3,			/* CYCLE_ACTIVITY.CYCLES_L1D_PENDING */
	      0x06a3),				/* CYCLE_ACTIVITY.STALLS_L1D_PENDING */
	EVENTS(0x4, 0x48),			/* L1D_PEND_MISS.* */
	CODES(0x2, 0x01c0),			/* INST_RETIRED.PREC_DIST */
	EVENTS(0x8, 0xcd),			/* MEM_TRANS_RETIRED.* */
	EXCL(0xf, 0xd0,				/* MEM_UOPS_RETIRED.* */
	     0xd1,				/* MEM_LOAD_UOPS_RETIRED.* */
	     0xd2,				/* MEM_LOAD_UOPS_LLC_HIT_RETIRED.* */
	     0xd3),				/* MEM_LOAD_UOPS_LLC_MISS_RETIRED.* */
	{}
};

static const struct intel_pe_rule ivb_rules[] __initconst = {
	ARCH_FIXED,
	CODES(0x4, 0x0148,			/* L1D_PEND_MISS.PENDING */
	      0x08a3,				/* CYCLE_ACTIVITY.CYCLES_L1D_MISS */
	      0x0ca3),				/* CYCLE_ACTIVITY.STALLS_L1D_MISS */
	CODES(0xf, 0x0279,			/* IDQ.EMPTY */
	      0x019c,				/* IDQ_UOPS_NOT_DELIVERED.CORE */
	      0x02a3,				/* CYCLE_ACTIVITY.CYCLES_MEM_ANY */
	      0x04a3,				/* CYCLE_ACTIVITY.STALLS_TOTAL */
	      0x05a3,				/* CYCLE_ACTIVITY.STALLS_L2_MISS */
	      0x06a3),				/* CYCLE_ACTIVITY.STALLS_MEM_ANY */
	CODES(0x2, 0x01c0),			/* INST_RETIRED.PREC_DIST */
	EXCL(0xf, 0xd0,				/* MEM_UOPS_RETIRED.* */
	     0xd1,				/* MEM_LOAD_UOPS_RETIRED.* */
	     0xd2,				/* MEM_LOAD_UOPS_LLC_HIT_RETIRED.* */
	     0xd3),				/* MEM_LOAD_UOPS_LLC_MISS_RETIRED.* */
	{}
};

const struct intel_pe_cache intel_pe_cache_snb[] __initconst = {
	CACHE(L1D, READ, 0xf1d0, 0x0151), /* MEM_UOPS_RETIRED loads of any kind, L1D.REPLACEMENT */
	CACHE(L1D, WRITE, 0xf2d0,		/* MEM_UOPS_RETIRED stores of any kind */
	      0x0851),				/* L1D.ALL_M_REPLACEMENT */
	CACHE(L1D, PREFETCH, 0, 0x024e),	/* HW_PRE_REQ.DL1_MISS */
	CACHE(L1I, READ, 0, 0x0280),		/* ICACHE.MISSES */
	CACHE(LL, READ, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	CACHE(LL, WRITE, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	CACHE(LL, PREFETCH, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	CACHE(DTLB, READ, 0x81d0,		/* MEM_UOPS_RETIRED.ALL_LOADS */
	      0x0108),				/* DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK */
	CACHE(DTLB, WRITE, 0x82d0,		/* MEM_UOPS_RETIRED.ALL_STORES */
	      0x0149),				/* DTLB_STORE_MISSES.MISS_CAUSES_A_WALK */
	CACHE(ITLB, READ, 0x1085,		/* ITLB_MISSES.STLB_HIT */
	      0x0185),				/* ITLB_MISSES.MISS_CAUSES_A_WALK */
	CACHE(BPU, READ, 0xc4,			/* BR_INST_RETIRED.ALL_BRANCHES */
	      0xc5),				/* BR_MISP_RETIRED.ALL_BRANCHES */
	CACHE(NODE, READ, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	CACHE(NODE, WRITE, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	CACHE(NODE, PREFETCH, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	{}
};

static const struct intel_pe_cache ivb_cache[] __initconst = {
	CACHE(DTLB, READ, 0x81d0,		/* MEM_UOPS_RETIRED.ALL_LOADS */
	      0x8108),				/* DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK */
	{}
};

const struct intel_pe_cache intel_pe_offcore_snb[] __initconst = {
	CACHE(LL, READ, 0x10081,		/* DMND_DATA_RD | PF_LLC_DATA_RD: ANY_RESPONSE */
	      0x3fffc00081),			/* DMND_DATA_RD | PF_LLC_DATA_RD: LLC_MISS */
	CACHE(LL, WRITE, 0x10102,		/* DMND_RFO | PF_LLC_RFO: ANY_RESPONSE */
	      0x3fffc00102),			/* DMND_RFO | PF_LLC_RFO: LLC_MISS */
	CACHE(LL, PREFETCH, 0x10030,		/* PF_DATA_RD | PF_RFO: ANY_RESPONSE */
	      0x3fffc00030),			/* PF_DATA_RD | PF_RFO: LLC_MISS */
	CACHE(NODE, READ, 0x1fffc00081,		/* DMND_DATA_RD | PF_LLC_DATA_RD: any DRAM */
	      0x1fff800081),			/* DMND_DATA_RD | PF_LLC_DATA_RD: remote DRAM */
	CACHE(NODE, WRITE, 0x1fffc00102,	/* DMND_RFO | PF_LLC_RFO: any DRAM */
	      0x1fff800102),			/* DMND_RFO | PF_LLC_RFO: remote DRAM */
	CACHE(NODE, PREFETCH, 0x1fffc00030,	/* PF_DATA_RD | PF_RFO: any DRAM */
	      0x1fff800030),			/* PF_DATA_RD | PF_RFO: remote DRAM */
	{}
};

#define RESPONSES(bits)	\
	EXTRA(0x01b7, RSP_0, bits),		/* OFFCORE_RESPONSE.* */			\
	EXTRA(0x01bb, RSP_1, bits),		/* OFFCORE_RESPONSE.* */			\
	LOAD_LATENCY(0x01cd),			/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */	\
	{}

static const struct intel_pe_extra client_extra[] __initconst = { RESPONSES(0x3f807f8fff) };
const struct intel_pe_extra intel_pe_extra_snbep[] __initconst = { RESPONSES(0x3fffff8fff) };

static const struct intel_pe_label mem[] __initconst = {
	{ "mem-loads", "event=0xcd,umask=0x1,ldlat=3" }, /* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	{ "mem-stores", "event=0xcd,umask=0x2" },	/* MEM_TRANS_RETIRED.PRECISE_STORE */
	{}
};

#define SNB_CORE				\
	.rules		= snb_rules,		\
	.cache		= { intel_pe_cache_snb }, \
	.offcore	= { intel_pe_offcore_snb }, \
	.pebs		= intel_snb_pebs_event_constraints

#define IVB_CORE				\
	.rules		= ivb_rules,		\
	.cache		= { intel_pe_cache_snb, ivb_cache }, \
	.offcore	= { intel_pe_offcore_snb }, \
	.pebs		= intel_ivb_pebs_event_constraints

static const struct intel_pe_core snb __initconst = { SNB_CORE, .extra = client_extra };
static const struct intel_pe_core snb_x __initconst = { SNB_CORE, .extra = intel_pe_extra_snbep };
static const struct intel_pe_core ivb __initconst = { IVB_CORE, .extra = client_extra };
static const struct intel_pe_core ivb_x __initconst = { IVB_CORE, .extra = intel_pe_extra_snbep };

/* Stalls: cycles without a micro-operation that is issued; on Sandy Bridge dispatched, too. */
#define COMMON								\
	.flags		= PMU_FL_HAS_RSP_1 | PMU_FL_NO_HT_SHARING,	\
	.stalls_front	= STALLED(0x010e),	/* UOPS_ISSUED.STALL_CYCLES */			\
	.lbr_init	= intel_pmu_lbr_init_snb,			\
	.topdown	= intel_pe_td_snb,				\
	.mem		= mem,						\
	.format		= { intel_pe_fmt_offcore, intel_pe_fmt_ldlat }

#define SNB								\
	COMMON,								\
	.name		= "sandybridge",				\
	.title		= "SandyBridge events",				\
	.stalls_back	= STALLED(0x01b1),	/* UOPS_DISPATCHED.THREAD */			\
	.alias		= intel_pe_alias_snb,				\
	.quirks		= { intel_pe_quirk_ht, intel_pe_quirk_snb_pebs }

#define IVB								\
	COMMON,								\
	.name		= "ivybridge",					\
	.title		= "IvyBridge events",				\
	.alias		= intel_pe_alias_ivb,				\
	.prec_dist	= 1,						\
	.quirks		= { intel_pe_quirk_ht }

const struct intel_pe_model intel_pe_sandybridge __initconst = { SNB, .core = &snb };
const struct intel_pe_model intel_pe_sandybridge_x __initconst = { SNB, .core = &snb_x };
const struct intel_pe_model intel_pe_ivybridge __initconst = { IVB, .core = &ivb };
const struct intel_pe_model intel_pe_ivybridge_x __initconst = { IVB, .core = &ivb_x };
