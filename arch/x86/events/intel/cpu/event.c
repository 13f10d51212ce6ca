// SPDX-License-Identifier: GPL-2.0
/*
 * One event on its CPU: its count and period, and what comes with adding and deleting it.
 *
 * Interrupts off, or in the PMI.  Top-down events have no counter of their own, topdown.c does the
 * sums; precise events that reload themselves have their counts in the PEBS buffer.
 */
#include "cpu.h"
#include "pebs/pebs.h"

void intel_pe_add(struct perf_event *event)
{
	if (event->attr.precise_ip)
		intel_pmu_pebs_add(event);
	if (intel_pe_wants_branches(event))
		intel_pmu_lbr_add(event);
	if (unlikely(event->hw.flags & PERF_X86_EVENT_ACR))
		this_cpu_inc(cpu_hw_events.acr.users);
}

void intel_pe_del(struct perf_event *event)
{
	if (unlikely(event->hw.flags & PERF_X86_EVENT_ACR))
		this_cpu_dec(cpu_hw_events.acr.users);
	if (intel_pe_wants_branches(event))
		intel_pmu_lbr_del(event);
	if (event->attr.precise_ip)
		intel_pmu_pebs_del(event);
}

u64 intel_pe_update(struct perf_event *event)
{
	if (intel_pe_topdown_counts(event))
		return intel_pe_topdown_update(event);
	if (unlikely(event->hw.flags & PERF_X86_EVENT_ACR))
		return intel_pe_acr_update(event);
	return x86_perf_event_update(event);
}

/**
 * intel_pe_drain_before - the records that wait say what the event's counter was: now or never
 * @event: whose counter is about to be stopped or loaded
 */
void intel_pe_drain_before(struct perf_event *event)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int was_on;

	if (!intel_pe_records_wait(cpuc))
		return;
	was_on = __intel_pmu_quiesce();
	intel_pmu_drain_pebs_buffer();
	__intel_pmu_resume(was_on);
}

int intel_pe_set_period(struct perf_event *event)
{
	if (unlikely(intel_pe_takes_snapshots(event)) && event->hw.state & PERF_HES_STOPPED)
		intel_pe_drain_before(event);
	if (likely(!is_topdown_count(event)))
		return x86_perf_event_set_period(event);
	intel_pe_topdown_start(event);
	return 0;
}

/* A record of it, or with its count, may be written until it is read. */
static bool is_in_records(struct perf_event *event)
{
	return event->hw.flags & PERF_X86_EVENT_ACR &&
	       (event->attr.precise_ip || intel_pe_takes_snapshots(event));
}

static void read_with_the_pmu_off(struct perf_event *event)
{
	int was_on = __intel_pmu_quiesce();

	if (!(event->hw.flags & PERF_X86_EVENT_TOPDOWN))
		intel_pmu_drain_pebs_buffer();
	if (event->hw.flags & PERF_X86_EVENT_TOPDOWN)
		intel_pe_update(event);
	else if (event->hw.flags & PERF_X86_EVENT_ACR && !intel_pe_is_draining(event))
		intel_pe_update(event);
	__intel_pmu_resume(was_on);
}

/*
 * What cannot be read while it moves is read with the PMU off; so is what others reload, if there
 * may be records, which are to be counted first.  While these are read, who reads in another NMI
 * finds the counts of before.  Reading a group begins with the slots, which brings all its metrics
 * up to date.
 */
static noinline void read_special(struct perf_event *event)
{
	const u32 moves = PERF_X86_EVENT_AUTO_RELOAD | PERF_X86_EVENT_TOPDOWN;
	bool snapshots = intel_pe_takes_snapshots(event);

	if (event->hw.flags & moves || is_in_records(event)) {
		if (!is_metric_event(event) ||
		    !(__this_cpu_read(cpu_hw_events.txn_flags) & PERF_PMU_TXN_READ))
			read_with_the_pmu_off(event);
		return;
	}
	if (snapshots)
		intel_pe_drain_before(event);
	if (!(snapshots || event->attr.precise_ip) || !intel_pe_is_draining(event))
		intel_pe_update(event);
}

/* x86_pmu.read */
void intel_pe_read(struct perf_event *event)
{
	const u32 special = PERF_X86_EVENT_AUTO_RELOAD | PERF_X86_EVENT_TOPDOWN |
			    PERF_X86_EVENT_ACR;

	if (unlikely(event->hw.flags & special || event->attr.precise_ip) ||
	    static_branch_unlikely(&intel_pe_records_count))
		read_special(event);
	else
		intel_pe_update(event);
}

/* x86_pmu.assign: a reader of the stream of PT must know whose records have this counter. */
void intel_pe_report_output_id(struct perf_event *event, int idx)
{
	if (is_pebs_pt(event))
		perf_report_aux_output_id(event, idx);
}
