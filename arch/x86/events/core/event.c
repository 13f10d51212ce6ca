// SPDX-License-Identifier: GPL-2.0
/*
 * An event comes and goes: event_init, destroy, and what is asked about an event in between.
 *
 * Task context, may sleep.  While there is an event the counters are reserved (resource.c).
 */
#include "core.h"

static void x86_pe_destroy(struct perf_event *event)
{
	x86_release_hardware();
	atomic_dec(&x86_pe_active_events);
}

/**
 * hw_perf_lbr_event_destroy - x86_pe_destroy() of an event that uses branch records
 * @event: event for which x86_add_exclusive(x86_lbr_exclusive_lbr) succeeded
 */
void hw_perf_lbr_event_destroy(struct perf_event *event)
{
	x86_pe_destroy(event);
	x86_del_exclusive(x86_lbr_exclusive_lbr);
}

static bool is_for_us(struct perf_event *event)
{
	u32 type = event->attr.type;

	if (type != event->pmu->type && type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE)
		return false;
	return !is_hybrid() || event->cpu == -1 ||
	       cpumask_test_cpu(event->cpu, &hybrid_pmu(event->pmu)->supported_cpus);
}

/* Make hw of the attr, then see whether that can be had. */
static int set_up(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	int ret;

	hw->idx = -1;
	hw->last_cpu = -1;
	hw->last_tag = ~0ULL;
	hw->extra_reg.idx = EXTRA_REG_NONE;
	hw->branch_reg.idx = EXTRA_REG_NONE;

	ret = x86_pmu.hw_config(event);
	/* A copy of an event that was found good is not better or worse, nor is that of a group. */
	if (ret || event->parent)
		return ret;
	if (event->group_leader == event)
		return x86_pe_validate_single(event);
	return x86_pe_validate_group(event);
}

/* See struct pmu's event_init. */
int x86_pe_event_init(struct perf_event *event)
{
	int ret;

	if (!is_for_us(event))
		return -ENOENT;
	ret = x86_reserve_hardware();
	if (ret)
		return ret;
	atomic_inc(&x86_pe_active_events);
	event->destroy = x86_pe_destroy;

	ret = set_up(event);
	if (ret) {
		/* the vendor may have put its own in place */
		event->destroy(event);
		event->destroy = NULL;
		return ret;
	}

	/*
	 * The counter of a large PEBS event is not the count: records wait in the buffer.  One that
	 * others reload jumps back.
	 */
	if (READ_ONCE(x86_pmu.attr_rdpmc) &&
	    !(event->hw.flags & (PERF_X86_EVENT_LARGE_PEBS | PERF_X86_EVENT_ACR)))
		event->hw.flags |= PERF_EVENT_FLAG_USER_READ_CNT;
	return 0;
}

/* See struct pmu's check_period: refuse what the hardware would silently make longer. */
int x86_pe_check_period(struct perf_event *event, u64 value)
{
	s64 least = value;

	if (x86_pmu.check_period && x86_pmu.check_period(event, value))
		return -EINVAL;
	if (!value || !x86_pmu.limit_period)
		return 0;
	x86_pmu.limit_period(event, &least);
	return least > value ? -EINVAL : 0;
}

/*
 * See struct pmu's least_period.  A counter that reloads itself has its period in a register; BRS
 * has the CPU take branches when it is over; what check_period() does not take is BTS, or has to be
 * long; and Knights Corner's driver makes its sample when the next period has begun.
 */
u64 x86_pe_least_period(struct perf_event *event)
{
	s64 least = 2;	/* see x86_perf_event_set_period() */

	if (boot_cpu_data.x86 == 0x0b ||
	    event->hw.flags & (PERF_X86_EVENT_AUTO_RELOAD | PERF_X86_EVENT_AMD_BRS) ||
	    x86_pe_check_period(event, event->attr.sample_period))
		return 0;
	if (x86_pmu.limit_period)
		x86_pmu.limit_period(event, &least);
	return least;
}

int x86_pe_aux_output_match(struct perf_event *event)
{
	if (!(x86_pe_pmu.capabilities & PERF_PMU_CAP_AUX_OUTPUT) || !x86_pmu.aux_output_match)
		return 0;
	return x86_pmu.aux_output_match(event);
}
