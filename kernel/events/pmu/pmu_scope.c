// SPDX-License-Identifier: GPL-2.0
/*
 * PMUs that several CPUs share: pmu->scope.
 *
 * One CPU stands for each core, die, cluster, package, or for the system; sysfs shows these as the
 * PMU's cpumask, and tools open events there.  The first CPU of a domain to come online is elected
 * and stays so until it goes offline, when another online one takes over.
 *
 * hotplug.c calls the two that elect, in the order in which CPUs come and go; everybody may read.
 */
#include <linux/cpumask.h>
#include <linux/topology.h>
#include "pmu.h"

static struct cpumask elected[PERF_PMU_MAX_SCOPE];	/* by hotplug alone */

/**
 * pe_scope_cpus() - the CPUs that share an instance of a PMU with @cpu
 * @scope: enum perf_pmu_scope
 * @cpu: any possible CPU
 *
 * Return: the mask, or NULL for PERF_PMU_SCOPE_NONE.  It may name offline CPUs.
 */
const struct cpumask *pe_scope_cpus(unsigned int scope, int cpu)
{
	const struct cpumask *sharing[] = {
		[PERF_PMU_SCOPE_CORE]		= topology_sibling_cpumask(cpu),
		[PERF_PMU_SCOPE_CLUSTER]	= topology_cluster_cpumask(cpu),
		[PERF_PMU_SCOPE_DIE]		= topology_die_cpumask(cpu),
		[PERF_PMU_SCOPE_PKG]		= topology_core_cpumask(cpu),
		[PERF_PMU_SCOPE_SYS_WIDE]	= cpu_online_mask,
	};

	return scope < ARRAY_SIZE(sharing) ? sharing[scope] : NULL;
}

/**
 * pe_scope_elected() - the CPUs that stand for the instances of PMUs of a scope
 * @scope: enum perf_pmu_scope
 *
 * Any context; the answer may be old.
 */
const struct cpumask *pe_scope_elected(unsigned int scope)
{
	return &elected[scope];
}

/**
 * pe_scope_cpu_up() - a CPU is online
 * @cpu: the CPU
 */
void pe_scope_cpu_up(int cpu)
{
	unsigned int scope;

	for (scope = PERF_PMU_SCOPE_NONE + 1; scope < PERF_PMU_MAX_SCOPE; scope++) {
		/* The boot CPU comes before its topology is known. */
		if (cpumask_empty(&elected[scope]) ||
		    !cpumask_intersects(&elected[scope], pe_scope_cpus(scope, cpu)))
			cpumask_set_cpu(cpu, &elected[scope]);
	}
}

/**
 * pe_scope_cpu_down() - a CPU goes offline
 * @cpu: the CPU, still online
 * @scope: enum perf_pmu_scope
 *
 * Return: the CPU that stands for its instance from now on; a number that is no CPU's when @cpu did
 * not, or when it was the last one.
 */
unsigned int pe_scope_cpu_down(int cpu, unsigned int scope)
{
	unsigned int other;

	if (!cpumask_test_and_clear_cpu(cpu, &elected[scope]))
		return nr_cpu_ids;
	for_each_cpu_and(other, pe_scope_cpus(scope, cpu), cpu_online_mask) {
		if (other != cpu) {
			cpumask_set_cpu(other, &elected[scope]);
			return other;
		}
	}
	return nr_cpu_ids;
}
