// SPDX-License-Identifier: GPL-2.0
/*
 * Haswell and Broadwell.
 *
 * Offcore responses (see sandybridge.c): local memory is bit 22, on Broadwell 26; remote memory
 * 27-29.
 */
#include "../model.h"

static const struct intel_pe_rule hsw_rules[] __initconst = {
	ARCH_FIXED,
	CODES(0x4, 0x0148, 0x08a3, 0x0ca3), CODES(0x2, 0x01c0), CODES(0xf, 0x04a3),
	EVENTS(0x8, 0xcd), EXCL(0xf, 0xd0, 0xd1, 0xd2, 0xd3),
	{}
};

static const struct intel_pe_rule bdw_rules[] __initconst = {
	ARCH_FIXED,
	CODES(0x4, 0x0148), UMASK_BIT(0x4, 0x08a3), EVENTS(0xf, 0xcd, 0xd0, 0xd1, 0xd2),
	{}
};

const struct intel_pe_cache intel_pe_cache_hsw[] __initconst = {
	CACHE(L1D, READ, 0x81d0, 0x0151), CACHE(L1D, WRITE, 0x82d0, 0),
	CACHE(L1I, READ, 0, 0x0280),
	CACHE(LL, READ, 0x01b7, 0x01b7), CACHE(LL, WRITE, 0x01b7, 0x01b7),
	CACHE(DTLB, READ, 0x81d0, 0x0108), CACHE(DTLB, WRITE, 0x82d0, 0x0149),
	CACHE(ITLB, READ, 0x6085, 0x0185), CACHE(BPU, READ, 0xc4, 0xc5),
	CACHE(NODE, READ, 0x01b7, 0x01b7), CACHE(NODE, WRITE, 0x01b7, 0x01b7),
	{}
};

static const struct intel_pe_cache hsw_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001, 0x3fb8400001), CACHE(LL, WRITE, 0x10002, 0x3fb8400002),
	CACHE(NODE, READ, 0x1f80400001, 0x1fb8000001),
	CACHE(NODE, WRITE, 0x1f80400002, 0x1fb8000002),
	{}
};

static const struct intel_pe_cache bdw_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001, 0x1fbc000001), CACHE(LL, WRITE, 0x10002, 0x1fbc000002),
	CACHE(NODE, READ, 0x1f84000001, 0x1fb8000001),
	CACHE(NODE, WRITE, 0x1f84000002, 0x1fb8000002),
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
