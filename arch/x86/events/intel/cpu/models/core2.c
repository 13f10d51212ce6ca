// SPDX-License-Identifier: GPL-2.0
/*
 * Core (Yonah) and Core 2 (Merom, Penryn, Dunnington).
 *
 * Floating point, multiplication and division are on one of the two counters each.
 *
 * Facts: Intel SDM vol. 3B, chapter "Performance Monitoring" and its events for Core Solo, Core Duo
 * and the Core microarchitecture.  Perfmon has no lists (core1: none; core2: none).
 */
#include "../model.h"

static const struct intel_pe_rule core1_rules[] __initconst = {
	EVENTS(0x1, 0x14, 0xc1),		/* CYCLES_DIV_BUSY, FP_COMP_INSTR_RET */
	EVENTS(0x2, 0x11, 0x12, 0x13, 0x19),	/* FP_ASSIST, MUL, DIV, DELAYED_BYPASS.* */
	{}
};

static const struct intel_pe_rule core2_rules[] __initconst = {
	ARCH_FIXED,
	EVENTS(0x1, 0x10,			/* FP_COMP_OPS_EXE */
	       0x14,				/* CYCLES_DIV_BUSY */
	       0x18,				/* IDLE_DURING_DIV */
	       0xa1,				/* RS_UOPS_DISPATCHED.PORT* */
	       0xc9,				/* ITLB_MISS_RETIRED */
	       0xcb),				/* MEM_LOAD_RETIRED.* */
	EVENTS(0x2, 0x11, 0x12, 0x13, 0x19),	/* FP_ASSIST, MUL, DIV, DELAYED_BYPASS.* */
	{}
};

static const struct intel_pe_cache core2_cache[] __initconst = {
	CACHE(L1D, READ, 0x0f40, 0x0140),	/* L1D_CACHE_LD.MESI, L1D_CACHE_LD.I_STATE */
	CACHE(L1D, WRITE, 0x0f41, 0x0141),	/* L1D_CACHE_ST.MESI, L1D_CACHE_ST.I_STATE */
	CACHE(L1D, PREFETCH, 0x104e, 0),	/* L1D_PREFETCH.REQUESTS */
	CACHE(L1I, READ, 0x80, 0x81),		/* L1I_READS, L1I_MISSES */
	CACHE(LL, READ, 0x4f29, 0x4129), /* L2_LD.SELF.DEMAND.MESI, L2_LD.SELF.DEMAND.I_STATE */
	CACHE(LL, WRITE, 0x4f2a, 0x412a),	/* L2_ST.SELF.MESI, L2_ST.SELF.I_STATE */
	CACHE(DTLB, READ, 0x0f40, 0x0208),	/* L1D_CACHE_LD.MESI, DTLB_MISSES.MISS_LD */
	CACHE(DTLB, WRITE, 0x0f41, 0x0808),	/* L1D_CACHE_ST.MESI, DTLB_MISSES.MISS_ST */
	CACHE(ITLB, READ, 0xc0, 0x1282),	/* INST_RETIRED.ANY_P, ITLB.MISSES */
	CACHE(BPU, READ, 0xc4, 0xc5),		/* BR_INST_RETIRED.ANY, BR_INST_RETIRED.MISPRED */
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
