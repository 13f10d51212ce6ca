// SPDX-License-Identifier: GPL-2.0
/*
 * From an attr to what an AMD CPU needs: x86_pmu.hw_config.
 *
 * Called at open in task context, also for events that are only asked about (groups).
 */
#include "cpu.h"

static int no_branches(struct perf_event *event)
{
	return -EOPNOTSUPP;
}

/* Branch records of this CPU: is the attr fine, and what do they need of the event? */
amd_pe_branch_config amd_pe_branch_hw_config __ro_after_init = no_branches;

/*
 * What AMD adds to the event-select that the core made.  Of the bits HostOnly and GuestOnly both
 * together mean the same as none, to count everywhere; so an event that is to count nowhere has
 * none, and no ring to count in.
 */
u64 amd_pe_select(const struct perf_event_attr *attr, u64 select)
{
	if (attr->type == PERF_TYPE_RAW)
		select |= attr->config & AMD64_RAW_EVENT_MASK;
	if (attr->exclude_host && attr->exclude_guest)
		return select & ~(ARCH_PERFMON_EVENTSEL_USR | ARCH_PERFMON_EVENTSEL_OS);
	return select | (attr->exclude_host ? AMD64_EVENTSEL_GUESTONLY : 0) |
	       (attr->exclude_guest ? AMD64_EVENTSEL_HOSTONLY : 0);
}

/* x86_pmu.hw_config */
int amd_pe_hw_config(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	int ret;

	/* The core PMU has skid; IBS has not, and knows how to count some of these events. */
	if (event->attr.precise_ip && get_ibs_caps())
		return forward_event_to_ibs(event);
	if (!x86_pmu.lbr_nr && has_branch_stack(event))
		return -EOPNOTSUPP;

	ret = x86_pmu_hw_config(event);
	if (ret)
		return ret;
	hw->config = amd_pe_select(&event->attr, hw->config);
	if (amd_pe_is_pair(hw->config))
		hw->flags |= PERF_X86_EVENT_PAIR;
	return has_branch_stack(event) ? amd_pe_branch_hw_config(event) : 0;
}
