// SPDX-License-Identifier: GPL-2.0
/*
 * Bonnell and Saltwell: the first Atoms.
 *
 * Facts: Intel SDM vol. 3B, chapters "Performance Monitoring" and its events for Atom processors;
 * event lists (perfmon) - atom: bonnell v5.
 */
#include "../model.h"

static const struct intel_pe_cache cache[] __initconst = {
	CACHE(L1D, READ, 0x2140, 0),		/* L1D_CACHE.LD of the SDM */
	CACHE(L1D, WRITE, 0x2240, 0),		/* L1D_CACHE.ST of the SDM */
	CACHE(L1I, READ, 0x0380, 0x0280),	/* ICACHE.ACCESSES, ICACHE.MISSES */
	CACHE(LL, READ, 0x4f29, 0x4129), /* L2_LD.SELF.DEMAND.MESI, L2_LD.SELF.DEMAND.I_STATE */
	CACHE(LL, WRITE, 0x4f2a, 0x412a),	/* L2_ST.SELF.MESI, L2_ST.SELF.I_STATE */
	CACHE(DTLB, READ, 0x2140,		/* L1D_CACHE.LD of the SDM */
	      0x0508),				/* DATA_TLB_MISSES.DTLB_MISS_LD */
	CACHE(DTLB, WRITE, 0x2240,		/* L1D_CACHE.ST of the SDM */
	      0x0608),				/* DATA_TLB_MISSES.DTLB_MISS_ST */
	CACHE(ITLB, READ, 0xc0, 0x0282),	/* INST_RETIRED.ANY_P, ITLB.MISSES */
	CACHE(BPU, READ, 0xc4, 0xc5),		/* BR_INST_RETIRED.ANY, BR_INST_RETIRED.MISPRED */
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
