// SPDX-License-Identifier: GPL-2.0
/*
 * Would a group ever fit?
 *
 * Asked when an event is opened, in task context, with the context's mutex held if there is a group
 * already: so members neither come nor go.  The driver's own allocation of counters answers, for a
 * CPU that has all its counters free; it is asked in the order in which the group was put together.
 *
 * Members that are switched off take no counter, except those that the next exec switches on.  So a
 * group may be refused later, by add(), when all its members are on.
 */
#include "armpmu.h"

static bool wants_counter(const struct perf_event *member)
{
	return member->state > PERF_EVENT_STATE_OFF ||
	       (member->state == PERF_EVENT_STATE_OFF && member->attr.enable_on_exec);
}

/* The core looks only later whether the members are of one PMU; hw is the driver's before that. */
static bool place(struct pmu *pmu, struct pmu_hw_events *counters, struct perf_event *member)
{
	if (is_software_event(member))
		return true;
	if (member->pmu != pmu)
		return false;
	return !wants_counter(member) ||
	       to_arm_pmu(pmu)->get_event_idx(counters, member) >= 0;
}

/**
 * armpmu_group_fits() - has a PMU enough counters for a group?
 * @event: being opened, not yet on its leader's list
 *
 * Return: yes, the group and @event can count together
 */
bool armpmu_group_fits(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	struct pmu_hw_events counters = { };

	if (!place(event->pmu, &counters, leader))
		return false;
	if (event == leader)
		return true;
	for_each_sibling_event(sibling, leader)
		if (!place(event->pmu, &counters, sibling))
			return false;
	return place(event->pmu, &counters, event);
}
