// SPDX-License-Identifier: GPL-2.0
/*
 * The CPUs whose PMUv3 a device tree may name: the PMU's name in sysfs, which tools and their event
 * files depend on, and the cache events that have no number in the architecture.
 *
 * CPUs that ACPI describes, and those of a tree that only says "PMUv3", are generic.  Everything
 * but the tables is called when a PMU is probed or an event opened, in task context.
 *
 * Facts: the Arm ARM (DDI 0487), recommended IMPLEMENTATION DEFINED events; TRMs of Cortex-A53 (DDI
 * 0500), A57 (DDI 0488), A72 (100095) and A73 (100048); Linux 6.12 for ThunderX (thunder:
 * none).  Event lists - a53: arm/cortex-a53 v1; a57: arm/cortex-a57-a72 v1; a73: arm/cortex-a73 v1;
 * vulcan: cavium/thunderx2 v1.
 */
#include <linux/mod_devicetable.h>
#include <linux/perf_event.h>

#include "pmuv3.h"

#define EVENT(cache, op, result, number) {						\
	PERF_COUNT_HW_CACHE_##cache, PERF_COUNT_HW_CACHE_OP_##op,			\
	PERF_COUNT_HW_CACHE_RESULT_##result, number,					\
}

/* Numbers that Arm recommends to those who implement such an event. */
#define IMPDEF(cache, op, result, name) {						\
	PERF_COUNT_HW_CACHE_##cache, PERF_COUNT_HW_CACHE_OP_##op,			\
	PERF_COUNT_HW_CACHE_RESULT_##result, ARMV8_IMPDEF_PERFCTR_##name,		\
}

static const struct pmuv3_cache_event a53_events[] = {
	EVENT(L1D, PREFETCH, MISS, 0xc2),	/* PREFETCH_LINEFILL */
	IMPDEF(NODE, READ, ACCESS, BUS_ACCESS_RD),
	IMPDEF(NODE, WRITE, ACCESS, BUS_ACCESS_WR),
	{}
};

static const struct pmuv3_cache_event a57_events[] = {
	IMPDEF(L1D, READ, ACCESS, L1D_CACHE_RD),
	IMPDEF(L1D, READ, MISS, L1D_CACHE_REFILL_RD),
	IMPDEF(L1D, WRITE, ACCESS, L1D_CACHE_WR),
	IMPDEF(L1D, WRITE, MISS, L1D_CACHE_REFILL_WR),
	IMPDEF(DTLB, READ, MISS, L1D_TLB_REFILL_RD),
	IMPDEF(DTLB, WRITE, MISS, L1D_TLB_REFILL_WR),
	IMPDEF(NODE, READ, ACCESS, BUS_ACCESS_RD),
	IMPDEF(NODE, WRITE, ACCESS, BUS_ACCESS_WR),
	{}
};

static const struct pmuv3_cache_event a73_events[] = {
	IMPDEF(L1D, READ, ACCESS, L1D_CACHE_RD),
	IMPDEF(L1D, WRITE, ACCESS, L1D_CACHE_WR),
	{}
};

static const struct pmuv3_cache_event thunder_events[] = {
	IMPDEF(L1D, READ, ACCESS, L1D_CACHE_RD),
	IMPDEF(L1D, READ, MISS, L1D_CACHE_REFILL_RD),
	IMPDEF(L1D, WRITE, ACCESS, L1D_CACHE_WR),
	EVENT(L1D, WRITE, MISS, 0xe9),	/* L1D_CACHE_MISS_ST */
	EVENT(L1D, PREFETCH, ACCESS, 0xea),	/* L1D_CACHE_PREF_ACCESS */
	EVENT(L1D, PREFETCH, MISS, 0xeb),	/* L1D_CACHE_PREF_MISS */
	EVENT(L1I, PREFETCH, ACCESS, 0xec),	/* L1I_CACHE_PREF_ACCESS */
	EVENT(L1I, PREFETCH, MISS, 0xed),	/* L1I_CACHE_PREF_MISS */
	IMPDEF(DTLB, READ, ACCESS, L1D_TLB_RD),
	IMPDEF(DTLB, READ, MISS, L1D_TLB_REFILL_RD),
	IMPDEF(DTLB, WRITE, ACCESS, L1D_TLB_WR),
	IMPDEF(DTLB, WRITE, MISS, L1D_TLB_REFILL_WR),
	{}
};

static const struct pmuv3_cache_event vulcan_events[] = {
	IMPDEF(L1D, READ, ACCESS, L1D_CACHE_RD),
	IMPDEF(L1D, READ, MISS, L1D_CACHE_REFILL_RD),
	IMPDEF(L1D, WRITE, ACCESS, L1D_CACHE_WR),
	IMPDEF(L1D, WRITE, MISS, L1D_CACHE_REFILL_WR),
	IMPDEF(DTLB, READ, ACCESS, L1D_TLB_RD),
	IMPDEF(DTLB, WRITE, ACCESS, L1D_TLB_WR),
	IMPDEF(DTLB, READ, MISS, L1D_TLB_REFILL_RD),
	IMPDEF(DTLB, WRITE, MISS, L1D_TLB_REFILL_WR),
	IMPDEF(NODE, READ, ACCESS, BUS_ACCESS_RD),
	IMPDEF(NODE, WRITE, ACCESS, BUS_ACCESS_WR),
	{}
};

static int map_generic(struct perf_event *event)
{
	return pmuv3_map_event(event, NULL);
}

static int map_a53(struct perf_event *event)
{
	return pmuv3_map_event(event, a53_events);
}

static int map_a57(struct perf_event *event)
{
	return pmuv3_map_event(event, a57_events);
}

static int map_a73(struct perf_event *event)
{
	return pmuv3_map_event(event, a73_events);
}

static int map_thunder(struct perf_event *event)
{
	return pmuv3_map_event(event, thunder_events);
}

static int map_vulcan(struct perf_event *event)
{
	return pmuv3_map_event(event, vulcan_events);
}

/* compatible, name, cache events */
#define MODELS(MODEL)								\
	MODEL("arm,armv8-pmuv3", armv8_pmuv3, generic)				\
	MODEL("arm,c1-nano-pmu", armv8_c1_nano, generic)			\
	MODEL("arm,c1-premium-pmu", armv8_c1_premium, generic)			\
	MODEL("arm,c1-pro-pmu", armv8_c1_pro, generic)				\
	MODEL("arm,c1-ultra-pmu", armv8_c1_ultra, generic)			\
	MODEL("arm,cortex-a34-pmu", armv8_cortex_a34, generic)			\
	MODEL("arm,cortex-a35-pmu", armv8_cortex_a35, a53)			\
	MODEL("arm,cortex-a53-pmu", armv8_cortex_a53, a53)			\
	MODEL("arm,cortex-a55-pmu", armv8_cortex_a55, generic)			\
	MODEL("arm,cortex-a57-pmu", armv8_cortex_a57, a57)			\
	MODEL("arm,cortex-a65-pmu", armv8_cortex_a65, generic)			\
	MODEL("arm,cortex-a72-pmu", armv8_cortex_a72, a57)			\
	MODEL("arm,cortex-a73-pmu", armv8_cortex_a73, a73)			\
	MODEL("arm,cortex-a75-pmu", armv8_cortex_a75, generic)			\
	MODEL("arm,cortex-a76-pmu", armv8_cortex_a76, generic)			\
	MODEL("arm,cortex-a77-pmu", armv8_cortex_a77, generic)			\
	MODEL("arm,cortex-a78-pmu", armv8_cortex_a78, generic)			\
	MODEL("arm,cortex-a320-pmu", armv9_cortex_a320, generic)		\
	MODEL("arm,cortex-a510-pmu", armv9_cortex_a510, generic)		\
	MODEL("arm,cortex-a520-pmu", armv9_cortex_a520, generic)		\
	MODEL("arm,cortex-a520ae-pmu", armv9_cortex_a520ae, generic)		\
	MODEL("arm,cortex-a710-pmu", armv9_cortex_a710, generic)		\
	MODEL("arm,cortex-a715-pmu", armv9_cortex_a715, generic)		\
	MODEL("arm,cortex-a720-pmu", armv9_cortex_a720, generic)		\
	MODEL("arm,cortex-a720ae-pmu", armv9_cortex_a720ae, generic)		\
	MODEL("arm,cortex-a725-pmu", armv9_cortex_a725, generic)		\
	MODEL("arm,cortex-x1-pmu", armv8_cortex_x1, generic)			\
	MODEL("arm,cortex-x2-pmu", armv9_cortex_x2, generic)			\
	MODEL("arm,cortex-x3-pmu", armv9_cortex_x3, generic)			\
	MODEL("arm,cortex-x4-pmu", armv9_cortex_x4, generic)			\
	MODEL("arm,cortex-x925-pmu", armv9_cortex_x925, generic)		\
	MODEL("arm,neoverse-e1-pmu", armv8_neoverse_e1, generic)		\
	MODEL("arm,neoverse-n1-pmu", armv8_neoverse_n1, generic)		\
	MODEL("arm,neoverse-n2-pmu", armv9_neoverse_n2, generic)		\
	MODEL("arm,neoverse-n3-pmu", armv9_neoverse_n3, generic)		\
	MODEL("arm,neoverse-v1-pmu", armv8_neoverse_v1, generic)		\
	MODEL("arm,neoverse-v2-pmu", armv8_neoverse_v2, generic)		\
	MODEL("arm,neoverse-v3-pmu", armv8_neoverse_v3, generic)		\
	MODEL("arm,neoverse-v3ae-pmu", armv8_neoverse_v3ae, generic)		\
	MODEL("arm,rainier-pmu", armv8_rainier, generic)			\
	MODEL("cavium,thunder-pmu", armv8_cavium_thunder, thunder)		\
	MODEL("brcm,vulcan-pmu", armv8_brcm_vulcan, vulcan)			\
	MODEL("nvidia,carmel-pmu", armv8_nvidia_carmel, generic)		\
	MODEL("nvidia,denver-pmu", armv8_nvidia_denver, generic)		\
	MODEL("samsung,mongoose-pmu", armv8_samsung_mongoose, generic)

#define INIT(compat, model, events)					\
static int model##_init(struct arm_pmu *pmu)				\
{									\
	return pmuv3_init(pmu, #model, map_##events);			\
}

MODELS(INIT)

#define MATCH(compat, model, events) { .compatible = compat, .data = model##_init },

const struct of_device_id pmuv3_of_match[] = {
	MODELS(MATCH)
	{}
};

/**
 * pmuv3_generic_init() - set up the PMU of CPUs that nothing more is known about
 * @pmu: the PMU, with the CPUs that have it
 */
int pmuv3_generic_init(struct arm_pmu *pmu)
{
	return armv8_pmuv3_init(pmu);
}
