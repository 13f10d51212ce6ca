// SPDX-License-Identifier: GPL-2.0
/*
 * Core (Yonah) and Core 2 (Merom, Penryn, Dunnington).
 *
 * Floating point, multiplication and division are on one of the two counters each.
 */
#include "../model.h"

static const struct intel_pe_rule core1_rules[] __initconst = {
	EVENTS(0x1, 0x14, 0xc1), EVENTS(0x2, 0x11, 0x12, 0x13, 0x19), {}
};

static const struct intel_pe_rule core2_rules[] __initconst = {
	ARCH_FIXED,
	EVENTS(0x1, 0x10, 0x14, 0x18, 0xa1, 0xc9, 0xcb), EVENTS(0x2, 0x11, 0x12, 0x13, 0x19), {}
};

static const struct intel_pe_cache core2_cache[] __initconst = {
	CACHE(L1D, READ, 0x0f40, 0x0140), CACHE(L1D, WRITE, 0x0f41, 0x0141),
	CACHE(L1D, PREFETCH, 0x104e, 0), CACHE(L1I, READ, 0x80, 0x81),
	CACHE(LL, READ, 0x4f29, 0x4129), CACHE(LL, WRITE, 0x4f2a, 0x412a),
	CACHE(DTLB, READ, 0x0f40, 0x0208), CACHE(DTLB, WRITE, 0x0f41, 0x0808),
	CACHE(ITLB, READ, 0xc0, 0x1282), CACHE(BPU, READ, 0xc4, 0xc5),
	{}
};

static const struct intel_pe_core core1 __initconst = { .rules = core1_rules };

static const struct intel_pe_core core2 __initconst = {
	.rules	= core2_rules,
	.cache	= { core2_cache },
	.pebs	= intel_core2_pebs_event_constraints,
};

const struct intel_pe_model intel_pe_core1 __initconst = {
	.name	= "core",
	.title	= "Core events",
	.core	= &core1,
};

#define CORE2					\
	.name		= "core2",		\
	.title		= "Core2 events",	\
	.core		= &core2,		\
	.lbr_init	= intel_pmu_lbr_init_core, \
	.alias		= intel_pe_alias_core2

const struct intel_pe_model intel_pe_core2 __initconst = { CORE2 };

const struct intel_pe_model intel_pe_merom __initconst = {
	CORE2, .quirks = { intel_pe_quirk_clovertown },
};
