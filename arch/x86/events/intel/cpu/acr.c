// SPDX-License-Identifier: GPL-2.0
/*
 * Auto counter reload (SDM, vol. 3B, "Auto Counter Reload"): counters that begin their period anew
 * when another one of their group overflows.
 *
 * So a group samples where one event is frequent in relation to another: of mispredicted branches,
 * reloaded by branches, a period ends only where so many are among so many.  attr.config2 is a mask
 * of members of the group, the leader is bit 0: these reload the event.  One that has itself in the
 * mask overflows silently, without a status bit: it only sets a measure for others.
 *
 * Each counter has a register with the counters that reload it (CFG_B) and one with the value it is
 * reloaded with (CFG_C, see pebs/arch.c).  They follow from where the whole group is, so they are
 * written when the PMU goes on, if they have changed, and cleared when there are no events any more
 * or the CPU goes to sleep; cpu_hw_events knows what is in them.  On the event's CPU, interrupts
 * off, the PMU off.
 *
 * What a counter saw before somebody reloaded it is lost, if nobody looked in between: a count is
 * that of the stretches that were seen, and never too high.
 */
#include "cpu.h"
#include "pebs/pebs.h"

DEFINE_STATIC_KEY_FALSE(intel_pe_may_reload);

/* ------------------------------------------------------------ the group */

/*
 * Bit of @event in the masks of its group.  It keeps its number when others leave, while it may be
 * running; without its leader it is number 0 of its own group.
 */
static unsigned int number_of(struct perf_event *event)
{
	return event == event->group_leader ? 0 : event->hw.member;
}

/* A new member comes after those that there are; one that is inherited is who its parent was. */
static unsigned int next_number(struct perf_event *event)
{
	struct perf_event *sibling;
	unsigned int last = 0;

	if (event->parent)
		return event->parent->hw.member;
	for_each_sibling_event(sibling, event->group_leader) {
		if (is_x86_event(sibling))
			last = max(last, number_of(sibling));
	}
	return last + 1;
}

/* Members that reload others, or themselves. */
static u64 causes_in(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	u64 causes = leader->attr.config2 | event->attr.config2;
	struct perf_event *sibling;

	for_each_sibling_event(sibling, leader) {
		if (is_x86_event(sibling))
			causes |= sibling->attr.config2;
	}
	return causes;
}

static bool has_bit(u64 mask, unsigned int bit)
{
	return bit < 64 && mask & BIT_ULL(bit);
}

/** intel_pe_acr_is_silent - does the event, of such a group, reload itself? */
bool intel_pe_acr_is_silent(struct perf_event *event)
{
	return intel_pe_has_acr_group(event) && event->attr.config2 &&
	       has_bit(event->attr.config2, number_of(event));
}

/*
 * Of a made-up state: what is tried is one group and an event that is not among its siblings yet,
 * but may be reloaded by them.
 */
static u64 causes_on_trial(struct cpu_hw_events *cpuc)
{
	u64 causes = 0;
	int i;

	for (i = 0; i < X86_PMC_IDX_MAX && cpuc->event_list[i]; i++)
		causes |= cpuc->event_list[i]->attr.config2;
	return causes;
}

/**
 * intel_pe_acr_counters - which counters can do what the event has to do in its group?
 * @cpuc: state of a CPU, real or made up
 * @event: of a group in which counters are reloaded
 */
u64 intel_pe_acr_counters(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	u64 causes = causes_in(event), counters = ~0ULL;

	if (cpuc->is_fake)
		causes |= causes_on_trial(cpuc);
	if (event->attr.config2)
		counters &= hybrid(event->pmu, acr_cntr_mask64);
	if (has_bit(causes, number_of(event)))
		counters &= hybrid(event->pmu, acr_cause_mask64);
	return counters;
}

/* ------------------------------------------------------------ at open */

/* Is any member reloaded, or @event?  The leader's flag may be left from one that is gone. */
static bool any_reloaded(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	struct perf_event *sibling;

	if (event->attr.config2 ||
	    (is_x86_event(leader) && leader->hw.flags & PERF_X86_EVENT_ACR))
		return true;
	for_each_sibling_event(sibling, leader) {
		if (is_x86_event(sibling) && sibling->hw.flags & PERF_X86_EVENT_ACR)
			return true;
	}
	return false;
}

/*
 * How many are reloaded.  They must come before what is not of this PMU: a limit of Linux, not of
 * the hardware, for groups to mean the same here and there.
 */
static int count_reloaded(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	struct perf_event *sibling;
	bool others = false;
	int n = !!leader->attr.config2;

	for_each_sibling_event(sibling, leader) {
		if (!is_x86_event(sibling)) {
			others = true;
			continue;
		}
		if (sibling->attr.config2 && others)
			return -EINVAL;
		n += !!sibling->attr.config2;
	}
	if (event == leader || !event->attr.config2)
		return n;
	return others ? -EINVAL : n + 1;
}

/* One that only counts must not be loaded with less than it is reloaded with. */
static void reloaded_config(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;

	hw->flags |= PERF_X86_EVENT_ACR;
	if (is_sampling_event(event))
		return;
	hw->sample_period = INTEL_PE_ACR_LONGEST;
	hw->last_period = hw->sample_period;
	local64_set(&hw->period_left, hw->sample_period);
}

/**
 * intel_pe_acr_config - check an event in a group with reloaded counters
 * @event: new event
 *
 * Without such counters attr.config2 has no meaning, as before.
 */
int intel_pe_acr_config(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	const struct perf_event_attr *attr = &event->attr;
	int n;

	if (!hybrid(event->pmu, acr_cause_mask64))
		return 0;
	event->hw.member = next_number(event);
	if (!any_reloaded(event))
		return 0;
	/* Its leader has gone, and it counts like others now. */
	if (event != leader && is_x86_event(leader) && leader->hw.flags & PERF_X86_EVENT_ACR &&
	    !(leader->hw.flags & PERF_X86_EVENT_ACR_GROUP))
		return -EINVAL;
	if (event->hw.member >= 64)
		return -EINVAL;
	if (is_metric_event(event) || attr->freq || (attr->config2 && attr->precise_ip > 2) ||
	    attr->sample_period > INTEL_PE_ACR_LONGEST || !is_x86_event(leader))
		return -EINVAL;

	n = count_reloaded(event);
	if (n < 0 || n > hweight64(hybrid(event->pmu, acr_cntr_mask64)) ||
	    hweight64(causes_in(event)) > hweight64(hybrid(event->pmu, acr_cause_mask64)))
		return -EINVAL;

	if (attr->config2)
		reloaded_config(event);
	leader->hw.flags |= PERF_X86_EVENT_ACR_GROUP;
	return 0;
}

/**
 * intel_pe_reload_fits - for PERF_EVENT_IOC_PERIOD
 * @event: it
 * @period: its new one
 *
 * Architectural PEBS has the same register for the value with which a counter reloads itself.
 */
bool intel_pe_reload_fits(struct perf_event *event, u64 period)
{
	const unsigned int own = intel_pe_arch_pebs() ? PERF_X86_EVENT_AUTO_RELOAD : 0;

	return !(event->hw.flags & (PERF_X86_EVENT_ACR | own)) || period <= INTEL_PE_ACR_LONGEST;
}

/* ------------------------------------------------------------ counts */

/**
 * intel_pe_acr_update - x86_pmu.update of an event that others reload
 * @event: event on a counter of this CPU
 *
 * hw.period_left goes with the counter, forwards and backwards.
 */
u64 intel_pe_acr_update(struct perf_event *event)
{
	const int top = x86_pmu.cntval_bits - 1;
	struct hw_perf_event *hw = &event->hw;
	u64 then, now;
	s64 moved;

	x86_pmu_block_pmi();
	then = local64_read(&hw->prev_count);
	do
		rdpmcl(hw->event_base_rdpmc, now);
	while (!local64_try_cmpxchg(&hw->prev_count, &then, sign_extend64(now, top)));

	moved = sign_extend64(now - then, top);
	local64_add(intel_pe_acr_passed(moved, sign_extend64(now, top), intel_pe_reload(hw->idx)),
		    &event->count);
	local64_sub(moved, &hw->period_left);
	x86_pmu_unblock_pmi();
	return now;
}

/* ------------------------------------------------------------ registers */

static void write_causes(int idx, u64 counters)
{
	u32 msr = INTEL_PE_MSR_GP0_CFG_B + idx * MSR_IA32_PMC_V6_STEP;

	if (idx >= INTEL_PMC_IDX_FIXED)
		msr = INTEL_PE_MSR_FX0_CFG_B + (idx - INTEL_PMC_IDX_FIXED) * MSR_IA32_PMC_V6_STEP;
	wrmsrl(msr, counters);
}

/* The counters of those members that are on the PMU and reload @event. */
static u64 causes_of(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	u64 counters = 0;
	int i;

	for (i = 0; i < cpuc->n_events; i++) {
		struct perf_event *other = cpuc->event_list[i];

		if (other->group_leader == event->group_leader &&
		    has_bit(event->attr.config2, number_of(other)))
			counters |= BIT_ULL(cpuc->assign[i]);
	}
	return counters & hybrid(cpuc->pmu, acr_cause_mask64);
}

static void program(struct cpu_hw_events *cpuc, int idx, u64 causes, u32 value)
{
	struct intel_acr *acr = &cpuc->acr;
	bool known = acr->set & BIT_ULL(idx);

	intel_pe_set_reload(cpuc, idx, value);
	if (!known || acr->causes[idx] != causes)
		write_causes(idx, causes);
	acr->set |= BIT_ULL(idx);
	acr->causes[idx] = causes;
}

/**
 * intel_pe_acr_program - have the registers follow the events, which may have moved or gone
 * @cpuc: state of this CPU; its PMU is about to go on
 */
void intel_pe_acr_program(struct cpu_hw_events *cpuc)
{
	u64 able = hybrid(cpuc->pmu, acr_cntr_mask64), gone = cpuc->acr.set, causes;
	int i;

	for (i = 0; cpuc->acr.users && i < cpuc->n_events; i++) {
		struct perf_event *event = cpuc->event_list[i];
		int idx = cpuc->assign[i];

		if (!(event->hw.flags & PERF_X86_EVENT_ACR) || !intel_pe_has_acr_group(event) ||
		    !(able & BIT_ULL(idx)))
			continue;
		causes = causes_of(cpuc, event);
		if (!causes)
			continue;
		/*
		 * With the period that the counter was loaded with, not with the next one, which a
		 * rule or IOC_PERIOD may have set: one that was reloaded is further back then.
		 */
		program(cpuc, idx, causes, -intel_pe_acr_reload(event->hw.last_period));
		gone &= ~BIT_ULL(idx);
	}
	for_each_set_bit(i, (unsigned long *)&gone, X86_PMC_IDX_MAX)
		write_causes(i, 0);
	cpuc->acr.set &= ~gone;
}

/**
 * intel_pe_acr_leave - x86_pmu.leave: nobody reloads anything
 * @cpuc: state of this CPU; its PMU is off
 */
void intel_pe_acr_leave(struct cpu_hw_events *cpuc)
{
	int i;

	for_each_set_bit(i, (unsigned long *)&cpuc->acr.set, X86_PMC_IDX_MAX)
		write_causes(i, 0);
	cpuc->acr.set = 0;
}

/**
 * intel_pe_acr_cpu_starting - nobody knows what is in the registers
 * @cpuc: state of this CPU
 */
void intel_pe_acr_cpu_starting(struct cpu_hw_events *cpuc)
{
	u64 able = hybrid(cpuc->pmu, acr_cntr_mask64);
	int i;

	for_each_set_bit(i, (unsigned long *)&able, X86_PMC_IDX_MAX)
		write_causes(i, 0);
	cpuc->acr.set = 0;
}
