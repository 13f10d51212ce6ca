/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the PMU framework know of each other.  What drivers of PMUs and everybody else
 * see of it is <linux/perf/arm_pmu.h>.
 *
 *	========== ======= =======================================================================
 *	contract   ^       platform.c and acpi.c find PMUs; acpi_trace.c finds SPE and TRBE
 *	           |       pmu.c: struct pmu, its operations and registration
 *	           |       power.c: CPUs come, go, and sleep
 *	           |       irq.c: interrupt lines of CPUs
 *	           v       group.c, period.c, map.c: calculations
 *	========== ======= =======================================================================
 *
 * A file calls those below it.
 */
#ifndef ARM64_PERF_ARMPMU_H
#define ARM64_PERF_ARMPMU_H

#include <linux/perf/arm_pmu.h>

/* hw.state: stopped because the CPU sleeps, and to be started when it wakes */
#define ARMPMU_HES_PARKED	PERF_HES_ARCH

/* map.c, period.c, group.c */
u64 armpmu_counter_mask(const struct hw_perf_event *hw);
bool armpmu_period_next(struct hw_perf_event *hw, u64 *start);
bool armpmu_group_fits(struct perf_event *event);

/* irq.c */
void armpmu_line_up(struct arm_pmu *armpmu);
void armpmu_line_down(struct arm_pmu *armpmu);

/* power.c */
int armpmu_power_join(struct arm_pmu *armpmu);
void armpmu_power_leave(struct arm_pmu *armpmu);

/* Most events are not mapped. */
static inline void armpmu_refresh_page(struct perf_event *event)
{
	if (rcu_access_pointer(event->rb))
		perf_event_update_userpage(event);
}

/**
 * armpmu_serves() - does a PMU belong to a CPU?
 * @armpmu: it
 * @cpu: possible CPU
 */
static inline bool armpmu_serves(const struct arm_pmu *armpmu, int cpu)
{
	return cpumask_test_cpu(cpu, &armpmu->supported_cpus);
}

#endif
