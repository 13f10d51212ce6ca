// SPDX-License-Identifier: GPL-2.0
/*
 * Nehalem and Westmere.
 *
 * Offcore responses: who asked is in bits 0-7 (data read 0, RFO 1, write back 3, prefetched data 4,
 * prefetched RFO 5), who answered in bits 8-15 (the L3 8-10, another socket's cache 12, remote
 * memory 13, local memory 14, no memory 15).
 */
#include "../model.h"

static const struct intel_pe_rule nhm_rules[] __initconst = {
	ARCH_FIXED, EVENTS(0x3, 0x40, 0x41, 0x42, 0x43, 0x48, 0x4e, 0x51, 0x63), {}
};

static const struct intel_pe_rule wsm_rules[] __initconst = {
	ARCH_FIXED, EVENTS(0x3, 0x51, 0x63), EVENTS(0x1, 0x60, 0xb3), {}
};

static const struct intel_pe_cache wsm_cache[] __initconst = {
	CACHE(L1D, READ, 0x010b, 0x0151), CACHE(L1D, WRITE, 0x020b, 0x0251),
	CACHE(L1D, PREFETCH, 0x014e, 0x024e), CACHE(L1I, READ, 0x0380, 0x0280),
	CACHE(LL, READ, 0x01b7, 0x01b7), CACHE(LL, WRITE, 0x01b7, 0x01b7),
	CACHE(LL, PREFETCH, 0x01b7, 0x01b7),
	CACHE(DTLB, READ, 0x010b, 0x0108), CACHE(DTLB, WRITE, 0x020b, 0x010c),
	CACHE(ITLB, READ, 0x01c0, 0x0185), CACHE(BPU, READ, 0xc4, 0x03e8),
	CACHE(NODE, READ, 0x01b7, 0x01b7), CACHE(NODE, WRITE, 0x01b7, 0x01b7),
	CACHE(NODE, PREFETCH, 0x01b7, 0x01b7),
	{}
};

/* On Nehalem L1D accesses stand for those of the DTLB, and misses of the ITLB are those retired. */
static const struct intel_pe_cache nhm_cache[] __initconst = {
	CACHE(DTLB, READ, 0x0f40, 0x0108), CACHE(DTLB, WRITE, 0x0f41, 0x010c),
	CACHE(ITLB, READ, 0x01c0, 0x20c8), {}
};

static const struct intel_pe_cache offcore[] __initconst = {
	CACHE(LL, READ, 0xf701, 0xf001), CACHE(LL, WRITE, 0xf70a, 0xf00a),
	CACHE(LL, PREFETCH, 0xf730, 0xf030),
	CACHE(NODE, READ, 0x7001, 0x2001), CACHE(NODE, WRITE, 0x700a, 0x200a),
	CACHE(NODE, PREFETCH, 0x7030, 0x2030),
	{}
};

static const struct intel_pe_extra nhm_extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0xffff), LOAD_LATENCY(0x100b), {}
};

static const struct intel_pe_extra wsm_extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0xffff), EXTRA(0x01bb, RSP_1, 0xffff), LOAD_LATENCY(0x100b), {}
};

static const struct intel_pe_label mem[] __initconst = {
	{ "mem-loads", "event=0x0b,umask=0x10,ldlat=3" }, {}
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
	.stalls_front	= STALLED(0x010e), \
	.stalls_back	= STALLED(0x3fb1), \
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
