// SPDX-License-Identifier: GPL-2.0
/*
 * Validation at open: could this event, and the group it joins, ever be on the PMU?
 *
 * The answer comes from the code that schedules for real, run on the state of a made-up CPU that
 * has no other event.  Vendors keep registers that events share in that state, so the made-up CPU
 * has its own of those as well.  Task context, may sleep; the group is pinned by the caller.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "core.h"

static void free_cpu(struct cpu_hw_events *cpuc)
{
	if (IS_ERR_OR_NULL(cpuc))
		return;
	if (x86_pmu.cpuc_finish)
		x86_pmu.cpuc_finish(cpuc);
	kfree(cpuc);
}

DEFINE_FREE(made_up_cpu, struct cpu_hw_events *, free_cpu(_T))

/* Any CPU of the PMU serves as model.  A hybrid PMU may have none yet. */
static int model_cpu(struct pmu *pmu)
{
	if (!is_hybrid())
		return raw_smp_processor_id();
	return cpumask_first(&hybrid_pmu(pmu)->supported_cpus);
}

static struct cpu_hw_events *make_up_cpu(struct pmu *pmu)
{
	struct cpu_hw_events *cpuc;
	int cpu = model_cpu(pmu);

	cpuc = kzalloc(sizeof(*cpuc), GFP_KERNEL);
	if (!cpuc)
		return ERR_PTR(-ENOMEM);
	cpuc->is_fake = 1;
	cpuc->pmu = pmu;
	if (cpu >= nr_cpu_ids || (x86_pmu.cpuc_prepare && x86_pmu.cpuc_prepare(cpuc, cpu))) {
		free_cpu(cpuc);
		return ERR_PTR(-ENOMEM);
	}
	return cpuc;
}

/* Is there a counter for @event? */
int x86_pe_validate_single(struct perf_event *event)
{
	struct cpu_hw_events *cpuc __free(made_up_cpu) = make_up_cpu(event->pmu);
	struct event_constraint *c;

	if (IS_ERR(cpuc))
		return PTR_ERR(cpuc);
	c = static_call(x86_pmu_get_event_constraints)(cpuc, 0, event);
	static_call_cond(x86_pmu_put_event_constraints)(cpuc, event);
	return c && c->weight ? 0 : -EINVAL;
}

/* The hybrid PMUs are for different CPUs: no group can have events of two. */
static bool spans_pmus(struct perf_event *leader)
{
	struct pmu *pmu = is_x86_event(leader) ? leader->pmu : NULL;
	struct perf_event *sibling;

	for_each_sibling_event(sibling, leader) {
		if (!is_x86_event(sibling))
			continue;
		if (pmu && sibling->pmu != pmu)
			return true;
		pmu = sibling->pmu;
	}
	return false;
}

/* Do the group and @event, which is not one of its siblings yet, fit on the PMU together? */
int x86_pe_validate_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	struct cpu_hw_events *cpuc __free(made_up_cpu) = NULL;
	int n;

	if (is_hybrid() && spans_pmus(leader))
		return -EINVAL;
	cpuc = make_up_cpu(event->pmu);
	if (IS_ERR(cpuc))
		return PTR_ERR(cpuc);

	n = x86_pe_collect_group(cpuc, leader, 0);
	if (n >= 0)
		n = x86_pe_collect(cpuc, event, n);
	if (n < 0)
		return n;
	return static_call(x86_pmu_schedule_events)(cpuc, n, NULL);
}
