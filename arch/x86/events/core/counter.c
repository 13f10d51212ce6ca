// SPDX-License-Identifier: GPL-2.0
/*
 * One counter: read it, load the next period, let it run, halt it; and all of them together on
 * CPUs without a global enable register.
 *
 * The functions run on the event's CPU with interrupts off, or in the PMI's NMI there.  No locks:
 * a context is alone on its CPU but for NMIs.  One may nest anywhere in the code below; if it is a
 * PMI, anywhere but where that is blocked (pmi.c).  What that means is said where it matters.  Two
 * rules cover the rest:
 *
 * - hw.prev_count and the hardware counter agree about the past.  A reader of the counter moves
 *   prev_count forward in one atomic step and owns the difference.
 * - cpuc->events[i] is set before the counter can count and cleared after it was stopped.  An
 *   NMI may stop a counter (throttling) but never starts one that was stopped.
 */
#include <linux/perf_event.h>

#include "core.h"

DEFINE_PER_CPU(u64 [X86_PMC_IDX_MAX], pmc_prev_left);

/**
 * x86_perf_event_update - account what the counter saw since the last time
 * @event: event that is on a counter of this CPU
 *
 * Adds it to the count and takes it off hw.period_left.
 * Return: the raw value of the counter.
 */
u64 x86_perf_event_update(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	u64 then, now, passed;

	if (unlikely(!hw->event_base))
		return 0;

	x86_pmu_block_pmi();
	/*
	 * Another NMI may read the event, which accounts that part: the exchange fails and the
	 * counter is read anew.  User space takes it as a signed number: the page's offset is the
	 * count less prev_count.
	 */
	then = local64_read(&hw->prev_count);
	do
		rdpmcl(hw->event_base_rdpmc, now);
	while (!local64_try_cmpxchg(&hw->prev_count, &then, x86_pe_signed(now)));

	/* The bits above the counter's width are anybody's guess on some CPUs. */
	passed = (now - then) & x86_pmu.cntval_mask;
	local64_add(passed, &event->count);
	local64_sub(passed, &hw->period_left);
	x86_pmu_unblock_pmi();
	return now;
}

/* A period has passed: how far is the next overflow?  More than a period late starts afresh. */
static s64 renew_period(struct hw_perf_event *hw, s64 left)
{
	s64 period = hw->sample_period;

	left = left > -period ? left + period : period;
	local64_set(&hw->period_left, left);
	hw->last_period = period;
	return left;
}

/**
 * x86_perf_event_set_period - load the counter so that it overflows when the period ends
 * @event: event whose counter is halted, or overflowed just now
 *
 * Return: 1 if a period has ended, so a sample is due; 0 if not.
 */
int x86_perf_event_set_period(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	s64 left = local64_read(&hw->period_left);
	bool due = left <= 0;

	if (unlikely(!hw->event_base))
		return 0;

	if (due)
		left = renew_period(hw, left);
	/* Some CPUs miss an overflow that is only one event away. */
	left = clamp_t(s64, left, 2, x86_pmu.max_period);
	static_call_cond(x86_pmu_limit_period)(event, &left);
	this_cpu_write(pmc_prev_left[hw->idx], left);

	local64_set(&hw->prev_count, (u64)-left);
	wrmsrl(hw->event_base, (u64)-left & x86_pmu.cntval_mask);
	/* The merge counter has 64 bits where the event is declared to have 48: extend the sign. */
	if (is_counter_pair(hw))
		wrmsrl(x86_pmu_event_addr(hw->idx + 1), 0xffff);

	/* x86_pe_start() is about to publish more than the offset */
	if (!(hw->state & PERF_HES_STOPPED))
		x86_pe_refresh_page(event);
	return due;
}

/**
 * x86_pmu_enable_event - let one counter count, unless the PMU is off
 * @event: event that is on it
 *
 * With the PMU off it is left to x86_pmu_enable_all().
 */
void x86_pmu_enable_event(struct perf_event *event)
{
	if (__this_cpu_read(cpu_hw_events.enabled))
		__x86_pmu_enable_event(&event->hw, ARCH_PERFMON_EVENTSEL_ENABLE);
}

/**
 * x86_pmu_disable_all - stop every counter, where it takes one write for each
 *
 * What is in the select register of an active counter is known, it need not be read back.  A
 * counter that a PMI stops here is stopped twice, with the same value.
 */
void x86_pmu_disable_all(void)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct perf_event *event;
	int idx;

	for_each_set_bit(idx, cpuc->active_mask, INTEL_PMC_IDX_FIXED) {
		event = READ_ONCE(cpuc->events[idx]);
		if (event)
			x86_pmu_disable_event(event);
	}
}

/**
 * x86_pmu_enable_all - let every active counter count
 * @added: unused, number of events that are new
 *
 * The counters that run already may overflow and their PMI may throttle any event.  If it stops
 * one after it was looked up here, the write below would revive a counter that nobody owns: hence
 * the second look.
 */
void x86_pmu_enable_all(int added)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct perf_event *event;
	int idx;

	for_each_set_bit(idx, cpuc->active_mask, INTEL_PMC_IDX_FIXED) {
		event = READ_ONCE(cpuc->events[idx]);
		if (!event)
			continue;
		__x86_pmu_enable_event(&event->hw, ARCH_PERFMON_EVENTSEL_ENABLE);
		if (unlikely(READ_ONCE(cpuc->events[idx]) != event))
			x86_pmu_disable_event(event);
	}
}

/* Where counter @idx has its registers.  Metrics are computed from the slots counter. */
void x86_pe_place(struct perf_event *event, int idx)
{
	struct hw_perf_event *hw = &event->hw;
	int fixed;

	hw->idx = idx;
	static_call_cond(x86_pmu_assign)(event, idx);

	if (idx < INTEL_PMC_IDX_FIXED) {
		hw->config_base = x86_pmu_config_addr(idx);
		hw->event_base = x86_pmu_event_addr(idx);
		hw->event_base_rdpmc = x86_pmu_rdpmc_index(idx);
		return;
	}
	if (idx == INTEL_PMC_IDX_FIXED_BTS || idx == INTEL_PMC_IDX_FIXED_VLBR) {
		/* there is no counter */
		hw->config_base = 0;
		hw->event_base = 0;
		return;
	}
	fixed = (is_metric_idx(idx) ? INTEL_PMC_IDX_FIXED_SLOTS : idx) - INTEL_PMC_IDX_FIXED;
	hw->config_base = MSR_ARCH_PERFMON_FIXED_CTR_CTRL;
	hw->event_base = x86_pmu_fixed_ctr_addr(fixed);
	hw->event_base_rdpmc = fixed | INTEL_PMC_FIXED_RDPMC_BASE;
}

/* Let @event count; see struct pmu's start. */
void x86_pe_start(struct perf_event *event, int flags)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct hw_perf_event *hw = &event->hw;

	/* What came after the end has no counter. */
	if (unlikely(x86_pe_over))
		return;
	if (WARN_ON_ONCE(!(hw->state & PERF_HES_STOPPED) || hw->idx < 0))
		return;

	if (flags & PERF_EF_RELOAD) {
		WARN_ON_ONCE(!(hw->state & PERF_HES_UPTODATE));
		static_call(x86_pmu_set_period)(event);
	}
	hw->state = 0;
	cpuc->events[hw->idx] = event;
	__set_bit(hw->idx, cpuc->active_mask);
	static_call(x86_pmu_enable)(event);
	x86_pe_refresh_page(event);
}

/**
 * x86_pmu_stop - halt an event
 * @event: event of this CPU
 * @flags: PERF_EF_UPDATE to account what the counter saw
 *
 * Also from the PMI.  An event that was added but has not been put on its counter yet may have
 * hw.idx from an earlier run, where another event counts by now: only the owner stops a counter.
 */
void x86_pmu_stop(struct perf_event *event, int flags)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct hw_perf_event *hw = &event->hw;

	if (hw->idx >= 0 && cpuc->events[hw->idx] == event) {
		static_call(x86_pmu_disable)(event);
		__clear_bit(hw->idx, cpuc->active_mask);
		cpuc->events[hw->idx] = NULL;
		WARN_ON_ONCE(hw->state & PERF_HES_STOPPED);
		hw->state |= PERF_HES_STOPPED;
	}
	if ((flags & PERF_EF_UPDATE) && !(hw->state & PERF_HES_UPTODATE)) {
		static_call(x86_pmu_update)(event);
		hw->state |= PERF_HES_UPTODATE;
	}
}

/* x86_pmu.read of a vendor that has none. */
void x86_pe_read(struct perf_event *event)
{
	static_call(x86_pmu_update)(event);
}

#ifdef CONFIG_CPU_SUP_INTEL

/**
 * intel_pmu_save_and_restart - a counter has overflowed: account it and load the next period
 * @event: its event
 *
 * PMI.  For the drivers of Intel's CPUs, Knights Corner's too.
 * Return: is a sample due?
 */
int intel_pmu_save_and_restart(struct perf_event *event)
{
	static_call(x86_pmu_update)(event);
	/*
	 * A counter that is rolled back with its transaction would return to just before the
	 * overflow, and abort the next transaction, and so on.  It restarts from 0; it cannot
	 * overflow again before it is read, as the PMU is off.
	 */
	if (unlikely(event->hw.config & HSW_IN_TX_CHECKPOINTED)) {
		wrmsrl(event->hw.event_base, 0);
		local64_set(&event->hw.prev_count, 0);
	}
	/* It has overflowed, though others may have reloaded it since. */
	if (unlikely(event->hw.flags & PERF_X86_EVENT_ACR) &&
	    local64_read(&event->hw.period_left) > 0)
		local64_set(&event->hw.period_left, 0);
	return static_call(x86_pmu_set_period)(event);
}

#endif
