// SPDX-License-Identifier: GPL-2.0
/*
 * Ice Lake, Tiger Lake, Rocket Lake, and Ice Lake servers.
 *
 * A fourth fixed counter with top-down metrics, eight general counters; offcore responses as on
 * Skylake, but on servers as on those that follow.
 */
#include "../model.h"

static const struct intel_pe_rule rules[] __initconst = {
	FIXED(0, 0xc0, 0x01c0, 0x0100), FIXED(1, 0x3c, 0x0200), FIXED(2, 0x300), FIXED(3, 0x400),
	METRICS(4),
	CODES(0xff, 0x04a3, 0x10a3, 0x14a3), EVENTS(0xf, 0x32, 0xa3, 0xef),
	SPAN(0xf, 0x03, 0x0a), SPAN(0xf, 0x1f, 0x28), SPAN(0xf, 0x48, 0x56), SPAN(0xf, 0x60, 0x8b),
	SPAN(0xf, 0xa8, 0xb0), SPAN(0xf, 0xb7, 0xbd), SPAN(0xf, 0xd0, 0xe6), SPAN(0xf, 0xf0, 0xf4),
	{}
};

/* There is no event for translations of code that were found. */
const struct intel_pe_cache intel_pe_cache_no_itlb[] __initconst = {
	CACHE(ITLB, READ, NONSENSE, 0x0e85), {}
};

static const struct intel_pe_extra extra[] __initconst = {
	EXTRA(0x01b7, RSP_0, 0x3fffffbfff), EXTRA(0x01bb, RSP_1, 0x3fffffbfff),
	LOAD_LATENCY(0x01cd), EXTRA(0x01c6, FE, 0x7fff17), {}
};

static const struct intel_pe_cache server_offcore[] __initconst = {
	CACHE(LL, READ, 0x10001, 0x3fbfc00001), CACHE(LL, WRITE, 0x3f3ffc0002, 0x3f3fc00002),
	CACHE(NODE, READ, 0x104000001, 0x730000001), CACHE(NODE, WRITE, 0x104000002, 0x730000002),
	{}
};

#define CORE								\
	.rules		= rules,					\
	.extra		= extra,					\
	.cache		= { intel_pe_cache_skl, intel_pe_cache_no_itlb }, \
	.pebs		= intel_icl_pebs_event_constraints

static const struct intel_pe_core icl __initconst = { CORE, .offcore = { intel_pe_offcore_skl } };
static const struct intel_pe_core icx __initconst = { CORE, .offcore = { server_offcore } };

static void __init intel_pe_icl_volatile_memory(void)
{
	intel_pmu_pebs_data_source_skl(false);
}

static void __init intel_pe_icl_persistent_memory(void)
{
	intel_pmu_pebs_data_source_skl(true);
}

#define ICL								\
	.name		= "icelake",					\
	.title		= "Icelake events",				\
	.flags		= PMU_FL_HAS_RSP_1 | PMU_FL_NO_HT_SHARING,	\
	.late_ack	= 1,						\
	.prec_dist	= 1,						\
	.pt_coexists	= 1,						\
	.metrics	= 4,						\
	.rtm_abort	= 0x04c9,					\
	.lbr_init	= intel_pmu_lbr_init_skl,			\
	.config		= intel_pe_tsx_config,				\
	.get		= intel_pe_get_icl,				\
	.topdown	= intel_pe_td_metrics,				\
	.mem		= intel_pe_mem_hsw,				\
	.tsx		= intel_pe_tsx_icl,				\
	.format		= { intel_pe_fmt_offcore, intel_pe_fmt_ldlat, intel_pe_fmt_tsx, \
			    intel_pe_fmt_frontend }

const struct intel_pe_model intel_pe_icelake __initconst = {
	ICL, .core = &icl, .data_source = intel_pe_icl_volatile_memory,
};

const struct intel_pe_model intel_pe_icelake_x __initconst = {
	ICL, .core = &icx, .data_source = intel_pe_icl_persistent_memory, .guest_pebs = 1,
};
