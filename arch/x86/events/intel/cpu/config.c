// SPDX-License-Identifier: GPL-2.0
/*
 * hw_config: is this attr something that the CPU can do, and what has to be set up for it?
 *
 * Task context, at open; nobody else sees the event yet, but its group leader may be running.
 * x86_pmu_hw_config() does what all vendors have in common, first.  What is checked here in which
 * order decides which error a user gets for an attr that has several.
 */
#include <linux/perf_event.h>

#include <asm/intel_pt.h>

#include "cpu.h"

/* Branch records are taken: nobody may use BTS or PT instead. */
static int own_branch_records(struct perf_event *event)
{
	if (x86_add_exclusive(x86_lbr_exclusive_lbr))
		return -EBUSY;
	event->destroy = hw_perf_lbr_event_destroy;
	return 0;
}

/* Every branch of user space: a trace of branches, not a counter. */
static int bts_config(struct perf_event *event)
{
	if (likely(!intel_pmu_has_bts(event)))
		return 0;
	if (!x86_pmu.bts_active || !event->attr.exclude_kernel || event->attr.precise_ip)
		return -EOPNOTSUPP;
	return own_branch_records(event);
}

int intel_pe_v1_config(struct perf_event *event)
{
	return x86_pmu_hw_config(event) ?: bts_config(event);
}

static void frequency_config(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;

	if (!event->attr.freq || !event->attr.sample_freq)
		return;
	hw->sample_period = intel_pe_first_period(event);
	hw->last_period = hw->sample_period;
	local64_set(&hw->period_left, hw->sample_period);
}

/* Records that are logged with counts cannot be a call stack, which is not reset in between. */
static int count_logging(struct perf_event *event, int *n)
{
	if (branch_sample_call_stack(event))
		return -EINVAL;
	*n += !!branch_sample_counters(event);
	return 0;
}

/*
 * Branch records with the counts of events in between: @event and its group.  The leader's records
 * are those that are reset, so it must take some.
 */
static int branch_counters_config(struct perf_event *event)
{
	const u64 harmless = PERF_SAMPLE_BRANCH_PLM_ALL | PERF_SAMPLE_BRANCH_COUNTERS;
	struct perf_event *leader = event->group_leader;
	struct perf_event *sibling;
	int n = 0, ret;

	if (!(x86_pmu.flags & PMU_FL_BR_CNTR) || (event->attr.config & ~INTEL_ARCH_EVENT_MASK) ||
	    !is_x86_event(leader))
		return -EINVAL;

	ret = count_logging(leader, &n);
	if (ret)
		return ret;
	for_each_sibling_event(sibling, leader) {
		ret = count_logging(sibling, &n);
		if (ret)
			return ret;
	}
	/* not among the siblings yet */
	if (event != leader)
		ret = count_logging(event, &n);
	if (ret || n > fls(x86_pmu.lbr_counters))
		return -EINVAL;

	/* The event is counted in the records of others and needs none. */
	if (!(event->attr.branch_sample_type & ~harmless))
		event->hw.flags &= ~PERF_X86_EVENT_NEEDS_BRANCH_STACK;
	if (!intel_pe_wants_branches(leader))
		return -EINVAL;
	leader->hw.flags |= PERF_X86_EVENT_BRANCH_COUNTERS;
	return 0;
}

static int branch_config(struct perf_event *event)
{
	int ret;

	/* A count in somebody else's sample has no sample to put branches into. */
	if (needs_branch_stack(event) &&
	    (is_sampling_event(event) || !(event->attr.sample_type & PERF_SAMPLE_READ)))
		event->hw.flags |= PERF_X86_EVENT_NEEDS_BRANCH_STACK;

	if (branch_sample_counters(event)) {
		ret = branch_counters_config(event);
		if (ret)
			return ret;
	}
	if (!intel_pe_wants_branches(event))
		return 0;
	ret = intel_pmu_setup_lbr_filter(event);
	if (ret)
		return ret;
	event->attach_state |= PERF_ATTACH_SCHED_CB;
	/* BTS owns them already */
	return intel_pmu_has_bts(event) ? 0 : own_branch_records(event);
}

static bool loads_need_help(struct perf_event *event)
{
	if (!(x86_pmu.flags & PMU_FL_MEM_LOADS_AUX))
		return false;
	return !is_hybrid() || intel_pe_is_big(event);
}

static bool is_load_helper(struct perf_event *event)
{
	return intel_pe_code(event->attr.config) == 0x8203;
}

/*
 * On some models the latency of loads is only right while another event counts, which must be there
 * before: in the group, as all of a group are on or none.
 */
static int load_latency_config(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	struct perf_event *sibling;

	if (!loads_need_help(event) || !(event->attr.sample_type & PERF_SAMPLE_DATA_SRC) ||
	    intel_pe_code(event->attr.config) != 0x01cd)
		return 0;
	if (leader == event)
		return -ENODATA;
	if (is_load_helper(leader))
		return 0;
	for_each_sibling_event(sibling, leader) {
		if (is_load_helper(sibling))
			return 0;
	}
	return -ENODATA;
}

/* Can counters count for all threads of a core? */
bool intel_pe_has_any_thread __ro_after_init;

/*
 * Counting for all threads of the core shows what others do.  CPUs that cannot any more may fault
 * on the bit; there it has no effect.
 */
static int any_thread_config(struct perf_event *event)
{
	int ret;

	if (!(event->attr.config & ARCH_PERFMON_EVENTSEL_ANY))
		return 0;
	if (x86_pmu.version < 3)
		return -EINVAL;
	ret = perf_allow_cpu();
	if (!ret && intel_pe_has_any_thread)
		event->hw.config |= ARCH_PERFMON_EVENTSEL_ANY;
	return ret;
}

/* Only codes that the user wrote can be any of these. */
static int raw_config(struct perf_event *event)
{
	u32 type = event->attr.type;

	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE)
		return 0;
	return intel_pe_topdown_config(event) ?: load_latency_config(event) ?:
	       any_thread_config(event);
}

int intel_pe_config(struct perf_event *event)
{
	int ret;

	ret = x86_pmu_hw_config(event) ?: bts_config(event);
	if (ret)
		return ret;
	frequency_config(event);
	if (event->attr.precise_ip) {
		ret = intel_pe_precise_config(event);
		if (ret)
			return ret;
	}
	ret = branch_config(event);
	if (ret)
		return ret;
	if (event->attr.aux_output) {
		if (!event->attr.precise_ip)
			return -EINVAL;
		event->hw.flags |= PERF_X86_EVENT_PEBS_VIA_PT;
	}
	return intel_pe_acr_config(event) ?: raw_config(event);
}

/*
 * Models with transactions.  Their filters make no sense with PEBS, nor for all threads.  A counter
 * that rolls back with its transaction would abort it at every overflow, forever: no sampling; but
 * KVM opens counters of guests with a period that is very long.
 */
int intel_pe_tsx_config(struct perf_event *event)
{
	struct perf_event_attr *attr = &event->attr;
	int ret = intel_pe_config(event);

	if (ret || (!boot_cpu_has(X86_FEATURE_RTM) && !boot_cpu_has(X86_FEATURE_HLE)))
		return ret;

	event->hw.config |= attr->config & INTEL_PE_IN_TX;
	if (!(event->hw.config & INTEL_PE_IN_TX))
		return 0;
	if (attr->precise_ip || (event->hw.config & ARCH_PERFMON_EVENTSEL_ANY))
		return -EOPNOTSUPP;
	if (intel_pe_is_checkpointed(event) && attr->sample_period &&
	    attr->sample_period < S32_MAX)
		return -EOPNOTSUPP;
	return 0;
}

int intel_pe_hybrid_config(struct perf_event *event)
{
	return intel_pe_is_big(event) ? intel_pe_tsx_config(event) : intel_pe_config(event);
}

/*
 * x86_pmu.check_period: a period of 1 for branches would have made it BTS at open, and a short one
 * is refused there to an event that is taken back with its transaction.
 */
int intel_pe_check_period(struct perf_event *event, u64 period)
{
	if (intel_pe_is_checkpointed(event) && period && period < S32_MAX)
		return -EINVAL;
	if (!intel_pe_reload_fits(event, period))
		return -EINVAL;
	return intel_pmu_has_bts_period(event, period) ? -EINVAL : 0;
}

int intel_pe_aux_output_match(struct perf_event *event)
{
	return x86_pmu.intel_cap.pebs_output_pt_available && is_intel_pt_event(event);
}
