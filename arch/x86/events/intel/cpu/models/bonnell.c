// SPDX-License-Identifier: GPL-2.0
/*
 * Bonnell and Saltwell: the first Atoms.
 */
#include "../model.h"

static const struct intel_pe_cache cache[] __initconst = {
	CACHE(L1D, READ, 0x2140, 0), CACHE(L1D, WRITE, 0x2240, 0), CACHE(L1I, READ, 0x0380, 0x0280),
	CACHE(LL, READ, 0x4f29, 0x4129), CACHE(LL, WRITE, 0x4f2a, 0x412a),
	CACHE(DTLB, READ, 0x2140, 0x0508), CACHE(DTLB, WRITE, 0x2240, 0x0608),
	CACHE(ITLB, READ, 0xc0, 0x0282), CACHE(BPU, READ, 0xc4, 0xc5),
	{}
};

static const struct intel_pe_core core __initconst = {
	.rules	= intel_pe_arch_rules,
	.cache	= { cache },
	.pebs	= intel_atom_pebs_event_constraints,
};

const struct intel_pe_model intel_pe_bonnell __initconst = {
	.name		= "bonnell",
	.title		= "Atom events",
	.core		= &core,
	.lbr_init	= intel_pmu_lbr_init_atom,
	.alias		= intel_pe_alias_core2,
};
