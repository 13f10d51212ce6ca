// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of a PMUv3: who gets which, and how it is programmed, written and read.
 *
 * The framework calls with interrupts off on the event's CPU, mostly while the PMU is off, that is
 * with the bank frozen; reading also happens while it runs.  The overflow interrupt, possibly an
 * NMI, calls for its events after it froze the bank.
 *
 * A counter is known by its index: 0 to 30 are general, 31 counts cycles, 32 instructions.  Without
 * FEAT_PMUv3p5 general counters have 32 bits; then a long event takes two, an even one and the odd
 * one above it, which counts the overflows of the first.  The odd one is the event's.  The fixed
 * counters and those of FEAT_PMUv3p5 have 64 bits, but an event that is not long must overflow as
 * if there were 32 (its period assumes that): the upper half is written as all ones.
 */
#include <linux/perf_event.h>

#include "pmuv3.h"

/* The even ones of general counters that are in @free with their partner. */
static u64 pairs(u64 free)
{
	return free & (free >> 1) & 0x5555555555555555ULL;
}

/*
 * General counters for one event.  A single one is taken where it breaks no pair, if possible: so
 * what fits does so in any order, as long as none are given back.
 */
static u64 general(u64 free, bool pair)
{
	u64 even = pairs(free);
	u64 lonely = free & ~(even | even << 1);

	if (pair)
		return even ? 3ULL << __ffs64(even) : 0;
	free = lonely ?: free;
	return free ? BIT_ULL(__ffs64(free)) : 0;
}

/**
 * pmuv3_choose() - find counters for an event
 * @counters: those that there are
 * @used: those that are taken; the new ones are added
 * @flags: PMUV3_EVT_*
 *
 * Return: the index of the event's counter, -EAGAIN if there is none.
 */
int pmuv3_choose(u64 counters, u64 *used, int flags)
{
	u64 free = counters & ~*used, take;

	if (flags & PMUV3_EVT_CYCLES && free & PMUV3_CYCLE_COUNTER)
		take = PMUV3_CYCLE_COUNTER;
	else if (flags & PMUV3_EVT_INSTR && free & PMUV3_INSTR_COUNTER)
		take = PMUV3_INSTR_COUNTER;
	else if (flags & PMUV3_EVT_ONLY_CYCLES)
		take = 0;
	else
		take = general(free & PMUV3_GENERAL_COUNTERS, flags & PMUV3_EVT_PAIR);
	*used |= take;
	return take ? __fls(take) : -EAGAIN;
}

static bool is_pair(const struct hw_perf_event *hw)
{
	return hw->flags & PMUV3_EVT_PAIR && hw->idx < ARMV8_PMU_MAX_GENERAL_COUNTERS;
}

static u64 counters_of(const struct hw_perf_event *hw)
{
	return is_pair(hw) ? 3ULL << (hw->idx - 1) : BIT_ULL(hw->idx);
}

/**
 * pmuv3_get_event_idx() - find counters for an event
 * @events: of this CPU, or of a trial with the same used_mask
 * @event: the event
 */
int pmuv3_get_event_idx(struct pmu_hw_events *events, struct perf_event *event)
{
	u64 used = events->used_mask[0];
	int idx = pmuv3_choose(pmuv3_counters(to_arm_pmu(event->pmu)), &used, event->hw.flags);

	events->used_mask[0] = used;
	return idx;
}

/**
 * pmuv3_clear_event_idx() - give the counters of an event back
 * @events: of this CPU
 * @event: the event, disabled
 *
 * After the last one the framework does not start the PMU again, so that pmuv3_start() cannot
 * decide what the next task may read: nothing.
 */
void pmuv3_clear_event_idx(struct pmu_hw_events *events, struct perf_event *event)
{
	events->used_mask[0] &= ~counters_of(&event->hw);
	if (!events->used_mask[0])
		pmuv3_set_userenr(0);
}

/*
 * The lower half may wrap between the two reads.  A lower half of 2^31 or more did not just wrap,
 * so the upper half read before belongs to it; and a smaller one will not wrap soon, so the upper
 * half read after belongs to it.
 */
static u64 read_pair(int idx)
{
	u64 before = pmuv3_read_one(idx);
	u64 low = pmuv3_read_one(idx - 1);
	u64 high = low & BIT(31) ? before : pmuv3_read_one(idx);

	return high << 32 | low;
}

/**
 * pmuv3_read_counter() - what the counter of an event shows
 * @event: an event that has one
 */
u64 pmuv3_read_counter(struct perf_event *event)
{
	const struct hw_perf_event *hw = &event->hw;
	u64 value = is_pair(hw) ? read_pair(hw->idx) : pmuv3_read_one(hw->idx);

	return hw->flags & ARMPMU_EVT_64BIT ? value : lower_32_bits(value);
}

static bool has_64_bits(const struct perf_event *event)
{
	return event->hw.idx >= ARMV8_PMU_MAX_GENERAL_COUNTERS ||
	       pmuv3_all_long(to_arm_pmu(event->pmu));
}

/**
 * pmuv3_write_counter() - set the counter of an event
 * @event: an event that has one
 * @value: of 32 bits, if the event is not long
 */
void pmuv3_write_counter(struct perf_event *event, u64 value)
{
	const struct hw_perf_event *hw = &event->hw;

	if (is_pair(hw)) {
		pmuv3_write_one(hw->idx, upper_32_bits(value));
		pmuv3_write_one(hw->idx - 1, lower_32_bits(value));
		return;
	}
	if (!(hw->flags & ARMPMU_EVT_64BIT) && has_64_bits(event))
		value |= GENMASK_ULL(63, 32);
	pmuv3_write_one(hw->idx, value);
}

/* The upper half counts overflows wherever the lower one counts events. */
static void set_types(const struct hw_perf_event *hw)
{
	int idx = hw->idx;

	if (is_pair(hw)) {
		pmuv3_set_type(idx, ARMV8_PMUV3_PERFCTR_CHAIN | ARMV8_PMU_INCLUDE_EL2);
		idx--;
	}
	pmuv3_set_type(idx, hw->config_base);
	if (hw->flags & PMUV3_EVT_SWITCHED) {
		pmuv3_forget_type(hw->idx);
		pmuv3_forget_type(idx);
	}
}

/**
 * pmuv3_enable() - count an event
 * @event: an event that has a counter, disabled
 *
 * Of an event that counts guests only KVM enables the counters, when it enters one at EL1.
 */
void pmuv3_enable(struct perf_event *event)
{
	const struct hw_perf_event *hw = &event->hw;
	u64 counters = counters_of(hw);
	bool running = pmuv3_freeze();

	set_types(hw);
	kvm_set_pmu_events(counters, &event->attr);
	pmuv3_arm(kvm_pmu_counter_deferred(&event->attr) ? 0 : counters, BIT_ULL(hw->idx));
	if (running)
		pmuv3_thaw();
}

/**
 * pmuv3_disable() - count an event no more
 * @event: an event that has a counter
 *
 * With the PMU off the counter already stands still, final for the framework, which reads it next.
 * Else it does when this returns.
 */
void pmuv3_disable(struct perf_event *event)
{
	u64 counters = counters_of(&event->hw);
	bool running = pmuv3_freeze();

	kvm_clr_pmu_events(counters);
	pmuv3_disarm(counters);
	if (running)
		pmuv3_thaw();
}
