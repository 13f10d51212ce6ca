// SPDX-License-Identifier: GPL-2.0
/*
 * Models that nobody has described: what the architecture says of each version.
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring", architectural performance monitoring
 * versions 1, 2 and 5; names of the cores that have such counters.
 */
#include "../model.h"

const struct intel_pe_rule intel_pe_arch_rules[] __initconst = { ARCH_FIXED, {} };

static const struct intel_pe_rule no_rules[] __initconst = { {} };
static const struct intel_pe_core v1 __initconst = { .rules = no_rules };
static const struct intel_pe_core v2 __initconst = { .rules = intel_pe_arch_rules };

/* Up to 16 fixed counters; those after the third by the codes that stand for them. */
static const struct intel_pe_rule v5_rules[] __initconst = {
	ARCH_FIXED,
	FIXED(3, 0x400),			/* TOPDOWN.SLOTS */
	FIXED(4, 0x500),			/* TOPDOWN_BAD_SPECULATION.ALL on Skymont */
	FIXED(5, 0x600),			/* TOPDOWN_FE_BOUND.ALL on Skymont */
	FIXED(6, 0x700),			/* TOPDOWN_RETIRING.ALL on Skymont */
	FIXED(7, 0x800),			/* no event yet */
	FIXED(8, 0x900),			/* no event yet */
	FIXED(9, 0xa00),			/* no event yet */
	FIXED(10, 0xb00),			/* no event yet */
	FIXED(11, 0xc00),			/* no event yet */
	FIXED(12, 0xd00),			/* no event yet */
	FIXED(13, 0xe00),			/* no event yet */
	FIXED(14, 0xf00),			/* no event yet */
	FIXED(15, 0x1000),			/* no event yet */
	{}
};

static const struct intel_pe_core v5 __initconst = { .rules = v5_rules };

/* A code that stands for a counter after the last one is an event like others. */
static void __init intel_pe_cut_rules(void)
{
	int n = min(fls64(x86_pmu.fixed_cntr_mask64), INTEL_PMC_MAX_FIXED);

	x86_pmu.event_constraints[n].weight = -1;
}

const struct intel_pe_model intel_pe_arch1 __initconst = {
	.name	= "generic_arch_v1",
	.title	= "generic architected perfmon v1",
	.core	= &v1,
};

const struct intel_pe_model intel_pe_arch2 __initconst = {
	.name	= "generic_arch_v2+",
	.title	= "generic architected perfmon",
	.core	= &v2,
	.alias	= intel_pe_alias_core2,
};

const struct intel_pe_model intel_pe_arch5 __initconst = {
	.name	= "generic_arch_v5+",
	.title	= "generic architected perfmon",
	.core	= &v5,
	.alias	= intel_pe_alias_core2,
	.setup	= intel_pe_cut_rules,
};
