// SPDX-License-Identifier: GPL-2.0
/*
 * Precise events at open: can their records wait in the buffer, and what stands for cycles.
 *
 * Task context, before anyone else sees the event.
 */
#include "cpu.h"

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
	u64 fields = x86_pmu.large_pebs_flags;

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

/* A fixed period is reloaded by hardware, unless every so many samples somebody has to be woken. */
static bool can_reload_itself(const struct perf_event_attr *attr)
{
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

/**
 * intel_pe_precise_config - check and prepare an event with attr.precise_ip
 * @event: new event
 */
int intel_pe_precise_config(struct perf_event *event)
{
	if (intel_pe_code(event->attr.config) == INTEL_FIXED_VLBR_EVENT)
		return -EINVAL;

	if (can_reload_itself(&event->attr)) {
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
