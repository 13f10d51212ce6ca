// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs come online, go offline, and sleep so deep that their PMU loses its registers.
 *
 *	up		CPU hotplug, and each online CPU when a PMU registers: on that CPU, irqs off
 *	down		CPU hotplug, and each online CPU when registering fails: likewise
 *	asleep, awake	cpuidle and suspend, through the notifier: on that CPU, irqs off
 *
 * A CPU that goes offline has no events any more: hotplug of kernel/events ended them.  One that
 * sleeps has its events still in their counters.  They are stopped ("parked") so that their counts
 * are safe, and started again; events that stood still already, as throttled ones do, are left
 * alone.  Nothing else runs on the CPU in between.
 *
 * What the registers hold after power was off is unknown, so the driver's reset comes first each
 * time.
 */
#define pr_fmt(fmt) "hw perfevents: " fmt

#include <linux/cpu_pm.h>
#include <linux/cpuhotplug.h>
#include <linux/init.h>

#include "armpmu.h"

static void reset(struct arm_pmu *armpmu)
{
	if (armpmu->reset)
		armpmu->reset(armpmu);
}

/* ------------------------------------------------------------------ hotplug */

static int arm_pe_cpu_starting(unsigned int cpu, struct hlist_node *node)
{
	struct arm_pmu *armpmu = hlist_entry(node, struct arm_pmu, node);

	if (armpmu_serves(armpmu, cpu)) {
		reset(armpmu);
		armpmu_line_up(armpmu);
	}
	return 0;
}

static int arm_pe_cpu_dying(unsigned int cpu, struct hlist_node *node)
{
	struct arm_pmu *armpmu = hlist_entry(node, struct arm_pmu, node);

	if (armpmu_serves(armpmu, cpu))
		armpmu_line_down(armpmu);
	return 0;
}

static int __init arm_pe_have_hotplug(void)
{
	int err = cpuhp_setup_state_multi(CPUHP_AP_PERF_ARM_STARTING, "perf/arm/pmu:starting",
					  arm_pe_cpu_starting, arm_pe_cpu_dying);

	if (err)
		pr_err("CPU hotplug notifier for ARM PMU could not be registered: %d\n", err);
	return err;
}
subsys_initcall(arm_pe_have_hotplug);

/* ------------------------------------------------------------------ sleep */

static void arm_pe_park(struct arm_pmu *armpmu, struct perf_event *event)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	armpmu->pmu.stop(event, PERF_EF_UPDATE);
	event->hw.state |= ARMPMU_HES_PARKED;
}

static void arm_pe_unpark(struct arm_pmu *armpmu, struct perf_event *event)
{
	if (event->hw.state & ARMPMU_HES_PARKED)
		armpmu->pmu.start(event, PERF_EF_RELOAD);
}

static void each_event(struct arm_pmu *armpmu, struct pmu_hw_events *counters,
		       void (*act)(struct arm_pmu *armpmu, struct perf_event *event))
{
	unsigned int idx;

	for_each_set_bit(idx, armpmu->cntr_mask, ARMPMU_MAX_HWEVENTS)
		if (counters->events[idx])
			act(armpmu, counters->events[idx]);
}

static void asleep(struct arm_pmu *armpmu, struct pmu_hw_events *counters)
{
	armpmu->stop(armpmu);
	each_event(armpmu, counters, arm_pe_park);
}

static void awake(struct arm_pmu *armpmu, struct pmu_hw_events *counters)
{
	each_event(armpmu, counters, arm_pe_unpark);
	armpmu->start(armpmu);
}

/* CPU_PM_ENTER_FAILED: registers have kept what they held, but the events are parked. */
static int arm_pe_power_notice(struct notifier_block *nb, unsigned long what, void *unused)
{
	struct arm_pmu *armpmu = container_of(nb, struct arm_pmu, cpu_pm_nb);
	struct pmu_hw_events *counters = this_cpu_ptr(armpmu->hw_events);

	if (!armpmu_serves(armpmu, smp_processor_id()))
		return NOTIFY_DONE;
	if (what == CPU_PM_EXIT)
		reset(armpmu);
	if (bitmap_empty(counters->used_mask, ARMPMU_MAX_HWEVENTS))
		return NOTIFY_OK;
	if (what == CPU_PM_ENTER)
		asleep(armpmu, counters);
	else if (what == CPU_PM_EXIT || what == CPU_PM_ENTER_FAILED)
		awake(armpmu, counters);
	else
		return NOTIFY_DONE;
	return NOTIFY_OK;
}

/* ------------------------------------------------------------------ registration */

/**
 * armpmu_power_join() - follow the CPUs of a PMU
 * @armpmu: about to be registered
 *
 * Task context.  The CPUs that are online are ready on return.
 *
 * Return: 0 or errno
 */
int armpmu_power_join(struct arm_pmu *armpmu)
{
	int err = cpuhp_state_add_instance(CPUHP_AP_PERF_ARM_STARTING, &armpmu->node);

	if (err)
		return err;
	armpmu->cpu_pm_nb.notifier_call = arm_pe_power_notice;
	err = cpu_pm_register_notifier(&armpmu->cpu_pm_nb);
	if (err)
		cpuhp_state_remove_instance(CPUHP_AP_PERF_ARM_STARTING, &armpmu->node);
	return err;
}

/**
 * armpmu_power_leave() - undo armpmu_power_join()
 * @armpmu: could not be registered
 *
 * Task context.  Interrupt lines are off on return.
 */
void armpmu_power_leave(struct arm_pmu *armpmu)
{
	cpu_pm_unregister_notifier(&armpmu->cpu_pm_nb);
	cpuhp_state_remove_instance(CPUHP_AP_PERF_ARM_STARTING, &armpmu->node);
}
