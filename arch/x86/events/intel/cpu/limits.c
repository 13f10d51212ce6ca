// SPDX-License-Identifier: GPL-2.0
/*
 * Periods: the shortest that a model bears, and the first one of a frequency.
 *
 * limit functions are called at open and whenever a period is loaded, which may be in the PMI.
 */
#include <linux/math64.h>

#include "cpu.h"

static void at_least(s64 *left, s64 least)
{
	*left = max(*left, least);
}

/* Retired instructions, counted in a way that has errata. */
static bool counts_all_instructions(struct perf_event *event)
{
	return intel_pe_code(event->hw.config) == 0x01c0;
}

/* With less, overflows of several counters keep each other in the PMI. */
void intel_pe_limit_nhm(struct perf_event *event, s64 *left)
{
	at_least(left, 32);
}

/* HSW11: not less than 100 instructions. */
void intel_pe_limit_hsw(struct perf_event *event, s64 *left)
{
	at_least(left, counts_all_instructions(event) ? 128 : 32);
}

/*
 * BDM11, BDM55: not less than 100, and multiples of 64.  What is cut off here remains in
 * hw.period_left and makes a later period longer, so the mean is what was asked for.
 */
void intel_pe_limit_bdw(struct perf_event *event, s64 *left)
{
	if (!counts_all_instructions(event))
		return;
	at_least(left, 128);
	*left = round_down(*left, 64);
}

/* Precise distribution needs time to get ready. */
void intel_pe_limit_glc(struct perf_event *event, s64 *left)
{
	if (event->attr.precise_ip == 3)
		at_least(left, 128);
}

/* How often it may happen in half a second of a CPU at 1 GHz; others: 64 in 1/4000 s. */
static u64 expected_rate(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_HW_CACHE)
		return 25 * 1000 * 1000;
	if (attr->type != PERF_TYPE_HARDWARE)
		return 64 * 4000;

	switch (attr->config & PERF_HW_EVENT_MASK) {
	case PERF_COUNT_HW_BRANCH_INSTRUCTIONS:
	case PERF_COUNT_HW_BRANCH_MISSES:
		return 125 * 1000 * 1000;
	case PERF_COUNT_HW_CACHE_REFERENCES:
	case PERF_COUNT_HW_CACHE_MISSES:
		return 25 * 1000 * 1000;
	case PERF_COUNT_HW_CPU_CYCLES ... PERF_COUNT_HW_INSTRUCTIONS:
	case PERF_COUNT_HW_BUS_CYCLES ... PERF_COUNT_HW_REF_CPU_CYCLES:
		return 500 * 1000 * 1000;
	}
	return 64 * 4000;
}

/**
 * intel_pe_first_period - where to begin with an event that has a frequency
 * @event: new event
 *
 * Starting from 1 costs a burst of PMIs until the period is adjusted.  One less than a round number
 * is less likely to beat with a loop.
 */
u64 intel_pe_first_period(struct perf_event *event)
{
	u64 freq = event->attr.sample_freq;
	s64 period = DIV_ROUND_UP_ULL(expected_rate(&event->attr), freq) - 1;

	period = clamp_t(s64, period, 1, x86_pmu.max_period);
	if (x86_pmu.limit_period)
		x86_pmu.limit_period(event, &period);
	return period;
}
