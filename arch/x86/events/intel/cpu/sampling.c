// SPDX-License-Identifier: GPL-2.0
/*
 * Events that sample.  Precise ones: can their records wait in the buffer, and what stands for
 * cycles.  Periods: the shortest that a model bears, and the first one of a frequency.
 *
 * Task context at open, before anyone else sees the event; limit functions also whenever a period
 * is loaded, which may be in the PMI.
 */
#include <linux/math64.h>

#include "cpu.h"
#include "pebs/pebs.h"

/* ------------------------------------------------------------ precise events */

/*
 * Cycles are not an event that can be precise.  But "at most 15 of something retired in this cycle"
 * is true in each, as no CPU retires so much: the event of that something with a threshold of 16,
 * inverted.
 */
static void count_cycles_by(struct perf_event *event, u64 code)
{
	u64 *config = &event->hw.config;

	if ((*config & X86_RAW_EVENT_MASK) != 0x3c)
		return;
	*config &= ~X86_RAW_EVENT_MASK;
	*config |= code | ARCH_PERFMON_EVENTSEL_INV | 16ULL << 24;
}

/* instructions */
void intel_pe_alias_core2(struct perf_event *event)
{
	count_cycles_by(event, 0x00c0);
}

/* micro-operations */
void intel_pe_alias_snb(struct perf_event *event)
{
	count_cycles_by(event, 0x01c2);
}

/*
 * Instructions that the hardware samples without a bias towards those after slow ones, but on one
 * counter only: if the user asks for the most precise.
 */
static bool distribute(struct perf_event *event)
{
	if (event->attr.precise_ip < 3)
		return false;
	count_cycles_by(event, 0x01c0);
	return true;
}

void intel_pe_alias_ivb(struct perf_event *event)
{
	if (!distribute(event))
		intel_pe_alias_snb(event);
}

void intel_pe_alias_skl(struct perf_event *event)
{
	if (!distribute(event))
		intel_pe_alias_core2(event);
}

/*
 * What a sample may contain so that it can be made from a record later, without a PMI of its own.
 */
static u64 recorded_fields(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	u64 fields = x86_pmu_pebs_fields(event->pmu);

	/* counts are those in the record, or else those of a PMI */
	if (fields & PERF_SAMPLE_READ && !intel_pe_takes_snapshots(event))
		fields &= ~PERF_SAMPLE_READ;
	/* time stamps are those of the CPU */
	if (attr->use_clockid)
		fields &= ~PERF_SAMPLE_TIME;
	/* registers are those at the event, which must have been in user space for sure */
	if (!attr->exclude_kernel || (attr->sample_regs_user & ~PEBS_GP_REGS))
		fields &= ~PERF_SAMPLE_REGS_USER;
	if (attr->sample_regs_intr & ~PEBS_GP_REGS)
		fields &= ~PERF_SAMPLE_REGS_INTR;
	return fields;
}

/*
 * A fixed period is reloaded by hardware, unless every so many samples somebody has to be woken.
 * Not if others reload the counter, too: then its value and the number of records say nothing.
 */
static bool can_reload_itself(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->config2 && hybrid(event->pmu, acr_cause_mask64))
		return false;
	if (intel_pe_arch_pebs() && attr->sample_period > INTEL_PE_ACR_LONGEST)
		return false;
	return !attr->freq && (!attr->wakeup_events || attr->watermark);
}

/*
 * What an overflow does to a trace, or takes from it, belongs to the moment of the overflow.  With
 * aux_output records wait nowhere: they are in the trace itself, and need no PMI either.
 */
static bool can_wait(struct perf_event *event)
{
	return !(event->attr.sample_type & ~recorded_fields(event)) && !has_aux_action(event);
}

/*
 * Samples with counts, of a CPU whose records have them: all of the group are in the records.  Not
 * those of slots and metrics.
 */
static void snapshot_config(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;

	if (!(x86_pmu_pebs_fields(event->pmu) & event->attr.sample_type & PERF_SAMPLE_READ) ||
	    !is_sampling_event(event) || !is_x86_event(leader) || is_topdown_event(leader) ||
	    event->attr.aux_output)
		return;
	leader->hw.flags |= PERF_X86_EVENT_PEBS_CNTR;
	/* Without its leader the event is one by itself. */
	event->hw.flags |= PERF_X86_EVENT_PEBS_CNTR;
}

/**
 * intel_pe_precise_config - check and prepare an event with attr.precise_ip
 * @event: new event
 */
int intel_pe_precise_config(struct perf_event *event)
{
	if (intel_pe_code(event->attr.config) == INTEL_FIXED_VLBR_EVENT)
		return -EINVAL;

	snapshot_config(event);
	if (can_reload_itself(event)) {
		event->hw.flags |= PERF_X86_EVENT_AUTO_RELOAD;
		if (can_wait(event)) {
			event->hw.flags |= PERF_X86_EVENT_LARGE_PEBS;
			event->attach_state |= PERF_ATTACH_SCHED_CB;
		}
	}
	if (x86_pmu.pebs_aliases)
		x86_pmu.pebs_aliases(event);
	return 0;
}

/* ------------------------------------------------------------ periods */

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

/* PDist (precise distribution) needs time to get ready. */
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
