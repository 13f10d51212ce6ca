// SPDX-License-Identifier: GPL-2.0
/*
 * Nehalem and Westmere.
 *
 * Offcore responses: who asked is in bits 0-7 (data read 0, RFO 1, write back 3, prefetched data 4,
 * prefetched RFO 5), who answered in bits 8-15 (the L3 8-10, another socket's cache 12, remote
 * memory 13, local memory 14, no memory 15).
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring", Nehalem and Westmere; event lists
 * (perfmon) - nhm: nehalemep v4, nehalemex v4; wsm: westmereep-sp v4, westmereep-dp v5,
 * westmereex v4.
 */
#include "../model.h"

static const struct intel_pe_rule nhm_rules[] __initconst = {
	ARCH_FIXED,
	EVENTS(0x3, 0x40,			/* L1D_CACHE_LD.* */
	       0x41,				/* L1D_CACHE_ST.* */
	       0x42,				/* L1D_CACHE_LOCK.* */
	       0x43,				/* L1D_ALL_REF.* */
	       0x48,				/* undocumented for counters 0 and 1 */
	       0x4e,				/* L1D_PREFETCH.* */
	       0x51,				/* L1D.* */
	       0x63),				/* CACHE_LOCK_CYCLES.* */
	{}
};

static const struct intel_pe_rule wsm_rules[] __initconst = {
	ARCH_FIXED,
	EVENTS(0x3, 0x51, 0x63),		/* L1D.*, CACHE_LOCK_CYCLES.* */
	EVENTS(0x1, 0x60, 0xb3), /* OFFCORE_REQUESTS_OUTSTANDING.*, SNOOPQ_REQUESTS_OUTSTANDING.* */
	{}
};

static const struct intel_pe_cache wsm_cache[] __initconst = {
	CACHE(L1D, READ, 0x010b, 0x0151),	/* MEM_INST_RETIRED.LOADS, L1D.REPL */
	CACHE(L1D, WRITE, 0x020b, 0x0251),	/* MEM_INST_RETIRED.STORES, L1D.M_REPL */
	CACHE(L1D, PREFETCH, 0x014e, 0x024e),	/* L1D_PREFETCH.REQUESTS, L1D_PREFETCH.MISS */
	CACHE(L1I, READ, 0x0380, 0x0280),	/* L1I.READS, L1I.MISSES */
	CACHE(LL, READ, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	CACHE(LL, WRITE, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	CACHE(LL, PREFETCH, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	CACHE(DTLB, READ, 0x010b, 0x0108),	/* MEM_INST_RETIRED.LOADS, DTLB_LOAD_MISSES.ANY */
	CACHE(DTLB, WRITE, 0x020b,		/* MEM_INST_RETIRED.STORES */
	      0x010c),				/* MEM_STORE_RETIRED.DTLB_MISS */
	CACHE(ITLB, READ, 0x01c0, 0x0185),	/* INST_RETIRED.ANY_P, ITLB_MISSES.ANY */
	CACHE(BPU, READ, 0xc4,			/* BR_INST_RETIRED of any kind */
	      0x03e8),				/* BPU_CLEARS.EARLY | BPU_CLEARS.LATE */
	CACHE(NODE, READ, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	CACHE(NODE, WRITE, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	CACHE(NODE, PREFETCH, 0x01b7, 0x01b7),	/* OFFCORE_RESPONSE.* */
	{}
};

/* On Nehalem L1D accesses stand for those of the DTLB, and misses of the ITLB are those retired. */
static const struct intel_pe_cache nhm_cache[] __initconst = {
	CACHE(DTLB, READ, 0x0f40, 0x0108),	/* L1D_CACHE_LD.MESI, DTLB_LOAD_MISSES.ANY */
	CACHE(DTLB, WRITE, 0x0f41,		/* L1D_CACHE_ST of any state */
	      0x010c),				/* MEM_STORE_RETIRED.DTLB_MISS */
	CACHE(ITLB, READ, 0x01c0, 0x20c8),	/* INST_RETIRED.ANY_P, ITLB_MISS_RETIRED */
	{}
};

static const struct intel_pe_cache offcore[] __initconst = {
	CACHE(LL, READ, 0xf701,			/* DMND_DATA_RD: any response */
	      0xf001),				/* DMND_DATA_RD: beyond this L3 */
	CACHE(LL, WRITE, 0xf70a,		/* DMND_RFO | WB: any response */
	      0xf00a),				/* DMND_RFO | WB: beyond this L3 */
	CACHE(LL, PREFETCH, 0xf730,		/* PF_DATA_RD | PF_RFO: any response */
	      0xf030),				/* PF_DATA_RD | PF_RFO: beyond this L3 */
	CACHE(NODE, READ, 0x7001,		/* DMND_DATA_RD: any DRAM or remote cache */
	      0x2001),				/* OFFCORE_RESPONSE.DEMAND_DATA_RD.REMOTE_DRAM */
	CACHE(NODE, WRITE, 0x700a,		/* DMND_RFO | WB: any DRAM or remote cache */
	      0x200a),				/* DMND_RFO | WB: remote DRAM */
	CACHE(NODE, PREFETCH, 0x7030,		/* PF_DATA_RD | PF_RFO: any DRAM or remote cache */
	      0x2030),				/* OFFCORE_RESPONSE.PF_DATA.REMOTE_DRAM */
	{}
};

static const struct intel_pe_extra nhm_extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0xffff),		/* OFFCORE_RESPONSE.* */
	LOAD_LATENCY(0x100b),			/* MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_* */
	{}
};

static const struct intel_pe_extra wsm_extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0xffff),		/* OFFCORE_RESPONSE.* */
	EXTRA(0x01bb, RSP_1, 0xffff),		/* OFFCORE_RESPONSE.* */
	LOAD_LATENCY(0x100b),			/* MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_* */
	{}
};

static const struct intel_pe_label mem[] __initconst = {
	{ "mem-loads", "event=0x0b,umask=0x10,ldlat=3" },	/* MEM_INST_RETIRED.LATENCY_* */
	{}
};

static const struct intel_pe_core nhm __initconst = {
	.rules		= nhm_rules,
	.extra		= nhm_extra,
	.cache		= { wsm_cache, nhm_cache },
	.offcore	= { offcore },
	.pebs		= intel_nehalem_pebs_event_constraints,
};

static const struct intel_pe_core wsm __initconst = {
	.rules		= wsm_rules,
	.extra		= wsm_extra,
	.cache		= { wsm_cache },
	.offcore	= { offcore },
	.pebs		= intel_westmere_pebs_event_constraints,
};

/* Stalls: cycles without a micro-operation that is issued, or executed. */
#define COMMON							\
	.stalls_front	= STALLED(0x010e),	/* UOPS_ISSUED.STALL_CYCLES */			\
	.stalls_back	= STALLED(0x3fb1),	/* UOPS_EXECUTED.CORE_STALL_CYCLES */		\
	.lbr_init	= intel_pmu_lbr_init_nhm,		\
	.data_source	= intel_pmu_pebs_data_source_nhm,	\
	.enable_all	= intel_pe_nhm_enable_all,		\
	.alias		= intel_pe_alias_core2,			\
	.mem		= mem,					\
	.format		= { intel_pe_fmt_offcore, intel_pe_fmt_ldlat }

const struct intel_pe_model intel_pe_nehalem __initconst = {
	COMMON,
	.name	= "nehalem",
	.title	= "Nehalem events",
	.core	= &nhm,
	.limit	= intel_pe_limit_nhm,
	.no_tlb	= 1,
	.quirks	= { intel_pe_quirk_nehalem },
};

const struct intel_pe_model intel_pe_westmere __initconst = {
	COMMON,
	.name	= "westmere",
	.title	= "Westmere events",
	.core	= &wsm,
	.flags	= PMU_FL_HAS_RSP_1,
};
