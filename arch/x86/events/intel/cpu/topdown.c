// SPDX-License-Identifier: GPL-2.0
/*
 * Top-down metrics: how the slots of the pipeline were used.
 *
 * Fixed counter 3 counts slots (TOPDOWN.SLOTS); the register of metrics (PERF_METRICS) says, in
 * 255ths of them, how many were spent on each of 4 or 8 things.  Both start from 0 together, and
 * the finer the shares are wanted, the sooner they have to be cleared.  So the counter that all
 * events of such a group have is the registers' pair, and their events are metrics of it: none has
 * a period, and hw.saved_slots and hw.saved_metric are the values of the registers that the event
 * has accounted already.
 *
 * The group's leader is the slots event.  An event that is stopped notes the values, as that is
 * what happens at a context switch.  When the leader starts again it puts them back if it is
 * mapped: a program that reads the registers by itself sees them go on from where they were.  For
 * others they start from 0, as the shares are the coarser the more slots there have been.  Every
 * read clears them.  Two reads are not one: the PMU must be off, or this is the PMI.
 */
#include <linux/math64.h>

#include "cpu.h"

struct pair {
	u64	slots, metrics;
};

static u64 worth(int idx, const struct pair *at)
{
	u8 share;

	if (!is_metric_idx(idx))
		return at->slots;
	share = at->metrics >> (8 * (idx - INTEL_PMC_IDX_METRIC_BASE));
	return mul_u64_u32_div(at->slots, share, 255);
}

/*
 * Does the event count this way now?  Slots that ran on their own when the first metric was opened
 * do so when they start next; until then they have a period in the counter, and prev_count.
 */
static bool counts_from_zero(struct perf_event *event)
{
	return is_topdown_count(event) && !local64_read(&event->hw.prev_count);
}

/**
 * intel_pe_topdown_gain - what an event has gained since its registers were looked at last
 * @hw: the event's, on its counter
 * @slots: what they show now
 * @metrics: likewise
 *
 * A share that was rounded up last time may have become less.  That is not taken back, as the event
 * has accounted it, but it is not accounted again when the share grows: freq_count_stamp, of no use
 * to an event without frequency, says how much the event is ahead.
 * Pure.  Return: slots to add to the event's count.
 */
u64 intel_pe_topdown_gain(struct hw_perf_event *hw, u64 slots, u64 metrics)
{
	struct pair now = { slots, metrics }, then = { hw->saved_slots, hw->saved_metric };
	s64 gain = worth(hw->idx, &now) - worth(hw->idx, &then) - hw->freq_count_stamp;

	hw->freq_count_stamp = gain < 0 && is_metric_idx(hw->idx) ? -gain : 0;
	return gain < 0 ? 0 : gain;
}

static void account(struct perf_event *event, const struct pair *now, const struct pair *kept)
{
	struct hw_perf_event *hw = &event->hw;

	local64_add(intel_pe_topdown_gain(hw, now->slots, now->metrics), &event->count);
	hw->saved_slots = kept->slots;
	hw->saved_metric = kept->metrics;
}

static u64 active_topdown(struct cpu_hw_events *cpuc)
{
	return *(u64 *)cpuc->active_mask & INTEL_PMC_MSK_TOPDOWN;
}

/* The counter of slots must be written before the metrics. */
static void write_registers(u64 slots, u64 metrics)
{
	wrmsrl(MSR_CORE_PERF_FIXED_CTR3, slots);
	wrmsrl(MSR_PERF_METRICS, metrics);
}

static void clear_registers(void)
{
	write_registers(0, 0);
}

/**
 * intel_pe_topdown_update - account what there is for all running events of the group
 * @event: the event this is about; NULL in a PMI
 *
 * PMU off, or PMI.  An event that is no longer active is being stopped.  The metrics overflow on
 * their own, too, while nothing but slots runs: those have a period in the counter, which stays.
 * Return: the slots.
 */
u64 intel_pe_topdown_update(struct perf_event *event)
{
	static const struct pair zero;
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	u64 active = active_topdown(cpuc);
	bool stopping = event && !(active & BIT_ULL(event->hw.idx));
	bool counting = false;
	const struct pair *kept;
	struct pair now;
	int i;

	x86_pmu_block_pmi();
	rdpmcl(INTEL_PMC_FIXED_RDPMC_BASE | 3, now.slots);
	if (!now.slots)
		goto out;
	rdpmcl(INTEL_PMC_FIXED_RDPMC_METRICS, now.metrics);

	kept = stopping ? &now : &zero;
	for_each_set_bit(i, (unsigned long *)&active, X86_PMC_IDX_MAX) {
		if (!counts_from_zero(cpuc->events[i]))
			continue;
		account(cpuc->events[i], &now, kept);
		counting = true;
	}
	if (stopping)
		account(event, &now, kept);
	else if (counting)
		clear_registers();
out:
	x86_pmu_unblock_pmi();
	return now.slots;
}

static void start_from_zero(struct perf_event *event)
{
	event->hw.saved_slots = 0;
	event->hw.saved_metric = 0;
	local64_set(&event->hw.prev_count, 0);
}

/**
 * intel_pe_topdown_has_stopped - are there values from when an event of the group was stopped?
 * @hw: the event's
 *
 * Pure.  In an event that has not run yet, both words are the longest period, as events that do not
 * sample have it; and so they are when slots have run on their own, with a period in prev_count.
 */
bool intel_pe_topdown_has_stopped(const struct hw_perf_event *hw)
{
	return !local64_read(&hw->prev_count) &&
	       (hw->saved_slots != hw->sample_period || hw->saved_metric != hw->sample_period);
}

/**
 * intel_pe_topdown_goes_on - can a metric go on from where it was stopped?
 * @metric: its event's
 * @slots: that of the slots, which have started already
 * @counter: what the counter of slots shows
 *
 * Pure.  Both were stopped together, and the registers stand where the slots have put them.
 */
bool intel_pe_topdown_goes_on(const struct hw_perf_event *metric,
			      const struct hw_perf_event *slots, u64 counter)
{
	return intel_pe_topdown_has_stopped(metric) && metric->saved_slots == slots->saved_slots &&
	       metric->saved_metric == slots->saved_metric && counter == slots->saved_slots;
}

/* Does a program read the registers by itself?  Not beyond where the counter might wrap. */
static bool goes_on_for_user(struct perf_event *slots)
{
	return rcu_access_pointer(slots->rb) && slots->hw.saved_slots < BIT_ULL(47);
}

static void start_slots(struct perf_event *slots)
{
	struct hw_perf_event *hw = &slots->hw;

	if (!intel_pe_topdown_has_stopped(hw) || !goes_on_for_user(slots))
		start_from_zero(slots);
	write_registers(hw->saved_slots, hw->saved_metric);
}

/* A metric must not account what was before it: the others take that, and all start from 0. */
static void start_metric(struct perf_event *metric, struct perf_event *slots)
{
	u64 counter;

	if (!counts_from_zero(slots)) {
		x86_perf_event_update(slots);
		start_from_zero(slots);
		clear_registers();
	} else {
		rdpmcl(INTEL_PMC_FIXED_RDPMC_BASE | 3, counter);
		if (intel_pe_topdown_goes_on(&metric->hw, &slots->hw, counter))
			return;
		intel_pe_topdown_update(NULL);
	}
	start_from_zero(metric);
}

/**
 * intel_pe_topdown_start - an event of the group starts
 * @event: event of the group
 *
 * PMU off.  The leader, which counts the slots, is first.  If it stands still, so does the metric,
 * which is only loaded then, and has nothing to load.
 */
void intel_pe_topdown_start(struct perf_event *event)
{
	struct perf_event *slots = this_cpu_ptr(&cpu_hw_events)->events[INTEL_PMC_IDX_FIXED_SLOTS];

	if (event->hw.idx == INTEL_PMC_IDX_FIXED_SLOTS)
		start_slots(event);
	else if (slots)
		start_metric(event, slots);
	perf_event_update_userpage(event);
}

/**
 * intel_pe_topdown_counts - is @event accounted by intel_pe_topdown_update()?
 * @event: event that is on a counter
 */
bool intel_pe_topdown_counts(struct perf_event *event)
{
	return unlikely(is_topdown_count(event)) && counts_from_zero(event);
}

static bool is_known_metric(struct perf_event *event)
{
	return is_metric_event(event) &&
	       event->attr.config < INTEL_TD_METRIC_RETIRING + (x86_pmu.num_topdown_events << 8);
}

/**
 * intel_pe_topdown_config - check a raw event that may be of the group
 * @event: new event
 *
 * Slots alone are an event of a fixed counter like others and can be sampled.  Metrics need a
 * leader that counts slots from 0, so neither it nor they can be sampled.
 */
int intel_pe_topdown_config(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	union perf_capabilities cap = hybrid(event->pmu, intel_cap);

	if (!cap.perf_metrics || !is_topdown_event(event))
		return 0;
	if (event->attr.config1 || event->attr.config2 ||
	    (event->attr.config & X86_ALL_EVENT_FLAGS))
		return -EINVAL;
	if (!is_known_metric(event))
		return 0;
	if (is_sampling_event(event) || is_sampling_event(leader) || !is_x86_event(leader) ||
	    !is_slots_event(leader))
		return -EINVAL;

	event->event_caps |= PERF_EV_CAP_SIBLING;
	event->hw.flags |= PERF_X86_EVENT_TOPDOWN;
	leader->hw.flags |= PERF_X86_EVENT_TOPDOWN;
	return 0;
}
