// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of a PMUv3: who gets which.
 *
 * The framework calls with interrupts off on the event's CPU, while the PMU is off, that is with
 * the bank frozen; or for a trial.
 *
 * A counter is known by its index: 0 to 30 are general, 31 counts cycles, 32 instructions.  Without
 * FEAT_PMUv3p5 general counters have 32 bits; then a long event takes two, an even one and the odd
 * one above it, which counts the overflows of the first.  The odd one is the event's.
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
 */
void pmuv3_clear_event_idx(struct pmu_hw_events *events, struct perf_event *event)
{
	events->used_mask[0] &= ~pmuv3_counters_of(&event->hw);
}
