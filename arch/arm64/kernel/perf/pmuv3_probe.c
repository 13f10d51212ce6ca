// SPDX-License-Identifier: GPL-2.0
/*
 * Probing of PMUv3s: what the CPUs have, the operations of the PMU.
 *
 * At boot, in task context; the CPUs are asked on one of them, from an interrupt.
 */
#include <linux/bitfield.h>
#include <linux/bitmap.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include "pmuv3.h"
#include "pmuv3_brbe.h"

static void ask_counters(struct arm_pmu *pmu)
{
	bitmap_set(pmu->cntr_mask, 0, FIELD_GET(ARMV8_PMU_PMCR_N, read_pmcr()));
	__set_bit(ARMV8_PMU_CYCLE_IDX, pmu->cntr_mask);
	if (pmuv3_has_icntr())
		__set_bit(ARMV8_PMU_INSTR_IDX, pmu->cntr_mask);
}

/* The lower words announce the common events, the upper ones the extended. */
static void ask_events(struct arm_pmu *pmu)
{
	u64 id0 = read_pmceid0(), id1 = read_pmceid1();

	bitmap_from_u64(pmu->pmceid_bitmap, lower_32_bits(id0) | id1 << 32);
	bitmap_from_u64(pmu->pmceid_ext_bitmap, upper_32_bits(id0) | (id1 & GENMASK_ULL(63, 32)));
}

/* On one of the CPUs, from an interrupt.  pmuver stays 0, "not implemented", without a PMUv3. */
static void pmuv3_ask(void *info)
{
	struct arm_pmu *pmu = info;
	u32 version = read_pmuver();

	if (!pmuv3_implemented(version))
		return;
	pmu->pmuver = version;
	ask_counters(pmu);
	ask_events(pmu);
	if (is_pmuv3p4(version))
		pmu->reg_pmmir = read_pmmir();
	pmu->reg_brbidr = brbe_identify();
}

static void pmuv3_stop(struct arm_pmu *pmu)
{
	if (pmuv3_freeze() && pmu->reg_brbidr)
		pmuv3_brbe_stop();
}

static void pmuv3_reset_cpu(void *pmu)
{
	pmuv3_reset(pmu);
	if (((struct arm_pmu *)pmu)->reg_brbidr)
		pmuv3_brbe_reset();
}

static void set_operations(struct arm_pmu *pmu)
{
	pmu->reset		= pmuv3_reset_cpu;
	pmu->set_event_filter	= pmuv3_set_event_filter;
	pmu->get_event_idx	= pmuv3_get_event_idx;
	pmu->clear_event_idx	= pmuv3_clear_event_idx;
	pmu->start		= pmuv3_start;
	pmu->stop		= pmuv3_stop;
	pmu->enable		= pmuv3_enable;
	pmu->disable		= pmuv3_disable;
	pmu->read_counter	= pmuv3_read_counter;
	pmu->write_counter	= pmuv3_write_counter;
	pmu->handle_irq		= pmuv3_handle_irq;
	pmu->pmu.event_idx	= pmuv3_event_idx;
}

/**
 * pmuv3_init() - set up the PMU of some CPUs of one kind
 * @pmu: the PMU, with the CPUs that have it
 * @name: what the CPUs are called
 * @map_event: pmuv3_map_event() with the events of these CPUs
 *
 * Return: 0, -ENODEV if the CPUs have no PMUv3, -ENXIO if none of them is online, -ENOMEM.
 */
int pmuv3_init(struct arm_pmu *pmu, char *name, int (*map_event)(struct perf_event *event))
{
	int err = smp_call_function_any(&pmu->supported_cpus, pmuv3_ask, pmu, 1);

	if (err)
		return err;
	if (!pmu->pmuver)
		return -ENODEV;
	err = pmuv3_brbe_init(pmu);
	if (err)
		return err;

	set_operations(pmu);
	pmu->pmu.sched_task = pmuv3_sched_task;
	pmu->name = name;
	pmu->map_event = map_event;
	pmu->attr_groups[ARMPMU_ATTR_GROUP_EVENTS] = &pmuv3_events_group;
	pmu->attr_groups[ARMPMU_ATTR_GROUP_FORMATS] = &pmuv3_format_group;
	pmu->attr_groups[ARMPMU_ATTR_GROUP_CAPS] = &pmuv3_caps_group;
	pmuv3_register_sysctl();
	return 0;
}
