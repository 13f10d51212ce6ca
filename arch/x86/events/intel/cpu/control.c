// SPDX-License-Identifier: GPL-2.0
/*
 * Counters on and off: all of them, and one by one.
 *
 * On the CPU in question, interrupts off, or in its PMI.  There are three kinds of counters:
 * general ones have a select register each, which is written at once; fixed ones share a control
 * register, which is prepared in cpuc->fixed_ctrl_val and written when the PMU goes on, if it has
 * changed; BTS, branch records of guests and top-down metrics are counters by name only.  PEBS and
 * branch records have their own files and are switched on before and off after what uses them.
 *
 * Against the PMI: it may stop a counter at any time.  What both change, they change in one
 * instruction; on 32-bit kernels in more of them, as on Linux 6.12.
 */
#include <linux/irqflags.h>

#include <asm/debugreg.h>

#include "cpu.h"
#include "lbr/lbr.h"
#include "pebs/pebs.h"

static void bts_all(struct cpu_hw_events *cpuc)
{
	struct perf_event *event = READ_ONCE(cpuc->events[INTEL_PMC_IDX_FIXED_BTS]);

	if (event)
		intel_pmu_enable_bts(event->hw.config);
}

/*
 * Whatever this writes, a PMI before it may have stopped a counter, and written less: until what
 * was written here is what is wanted, it is written again.
 */
static void write_fixed_control(struct cpu_hw_events *cpuc)
{
	u64 want, written = READ_ONCE(cpuc->active_fixed_ctrl_val);

	while ((want = READ_ONCE(cpuc->fixed_ctrl_val)) != written) {
		wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, want);
		WRITE_ONCE(cpuc->active_fixed_ctrl_val, want);
		written = want;
	}
}

/* All but PEBS and branch records. */
static void let_counters_go(void)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	u64 ctrl = hybrid(cpuc->pmu, intel_ctrl);

	if (static_branch_unlikely(&intel_pe_may_reload) && (cpuc->acr.users || cpuc->acr.set))
		intel_pe_acr_program(cpuc);
	write_fixed_control(cpuc);
	wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, ctrl & ~cpuc->intel_ctrl_guest_mask);

	if (unlikely(test_bit(INTEL_PMC_IDX_FIXED_BTS, cpuc->active_mask)))
		bts_all(cpuc);
}

/* x86_pmu.enable_all */
void intel_pe_enable_all(int added)
{
	intel_pmu_pebs_enable_all();
	intel_pmu_lbr_enable_all(false);
	let_counters_go();
}

/*
 * At the end of a PMI, if the PMU was on.  PEBS was not switched off: without counters it does
 * nothing.
 */
void intel_pe_resume_after_pmi(void)
{
	intel_pmu_lbr_enable_all(true);
	let_counters_go();
}

/* All counters and BTS, but neither PEBS nor branch records.  May be called while they are off. */
void intel_pe_stop_all(void)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, 0);
	if (unlikely(test_bit(INTEL_PMC_IDX_FIXED_BTS, cpuc->active_mask)))
		intel_pmu_disable_bts();
}

/* x86_pmu.disable_all */
void intel_pe_disable_all(void)
{
	intel_pe_stop_all();
	intel_pmu_pebs_disable_all();
	intel_pmu_lbr_disable_all();
}

/**
 * __intel_pmu_quiesce - stop the PMU for a moment, if it is on
 *
 * Return: what __intel_pmu_resume() has to be told.
 */
int __intel_pmu_quiesce(void)
{
	int was_on = __this_cpu_read(cpu_hw_events.enabled);

	__this_cpu_write(cpu_hw_events.enabled, 0);
	if (was_on)
		intel_pe_disable_all();
	return was_on;
}

/**
 * __intel_pmu_resume - let the PMU go on
 * @pmu_enabled: what __intel_pmu_quiesce() returned
 */
void __intel_pmu_resume(int pmu_enabled)
{
	__this_cpu_write(cpu_hw_events.enabled, pmu_enabled);
	if (pmu_enabled)
		intel_pe_enable_all(0);
}

/*
 * Taken with branch recording stopped; what the caller did until then is among the records.  If the
 * PMU was off it stays off; branch recording is as before then: in a PMI it is on.
 */
static noinline unsigned int copy_branches(struct perf_branch_entry *entries, unsigned int nr)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	intel_pmu_lbr_read();
	nr = intel_pe_copy_branches(cpuc, entries, nr);
	if (cpuc->enabled)
		intel_pe_enable_all(0);
	return nr;
}

/*
 * perf_snapshot_branch_stack(), with interrupts on or off.  Every branch taken before recording
 * stops displaces one that the caller wants to see; so nothing is called or tested until then.
 */
int intel_pe_branch_snapshot(struct perf_branch_entry *entries, unsigned int nr)
{
	unsigned long flags;
	u64 was, now;

	local_irq_save(flags);
	rdmsrl(MSR_IA32_DEBUGCTLMSR, was);
	wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, 0);
	__intel_pmu_lbr_disable();
	nr = copy_branches(entries, nr);
	was &= DEBUGCTLMSR_LBR | DEBUGCTLMSR_FREEZE_LBRS_ON_PMI;
	if (!__this_cpu_read(cpu_hw_events.enabled) && was) {
		/* A PMI may have ended a trace meanwhile, whose bits are there, too. */
		rdmsrl(MSR_IA32_DEBUGCTLMSR, now);
		wrmsrl(MSR_IA32_DEBUGCTLMSR, now | was);
	}
	local_irq_restore(flags);
	return nr;
}

int intel_pe_arch_branch_snapshot(struct perf_branch_entry *entries, unsigned int nr)
{
	unsigned long flags;
	u64 was;

	local_irq_save(flags);
	rdmsrl(MSR_ARCH_LBR_CTL, was);
	wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, 0);
	__intel_pmu_arch_lbr_disable();
	nr = copy_branches(entries, nr);
	if (!__this_cpu_read(cpu_hw_events.enabled))
		wrmsrl(MSR_ARCH_LBR_CTL, was);
	local_irq_restore(flags);
	return nr;
}

/* Counters that are off while a guest runs, or while it does not; those that roll back. */
static void note_modes(struct perf_event *event, int idx)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	if (event->attr.exclude_host)
		__set_bit(idx, (unsigned long *)&cpuc->intel_ctrl_guest_mask);
	if (event->attr.exclude_guest)
		__set_bit(idx, (unsigned long *)&cpuc->intel_ctrl_host_mask);
	if (intel_pe_is_checkpointed(event))
		__set_bit(idx, (unsigned long *)&cpuc->intel_cp_status);
}

static void forget_modes(int idx)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	__clear_bit(idx, (unsigned long *)&cpuc->intel_ctrl_guest_mask);
	__clear_bit(idx, (unsigned long *)&cpuc->intel_ctrl_host_mask);
	__clear_bit(idx, (unsigned long *)&cpuc->intel_cp_status);
}

/* Slots and metrics have one counter: the first of them switches it on, the last one off. */
static bool others_use_slots(int idx)
{
	u64 active = *(u64 *)this_cpu_ptr(&cpu_hw_events)->active_mask;

	return is_topdown_idx(idx) && (active & INTEL_PMC_OTHER_TOPDOWN_BITS(idx));
}

static int fixed_number(int idx)
{
	return (is_metric_idx(idx) ? INTEL_PMC_IDX_FIXED_SLOTS : idx) - INTEL_PMC_IDX_FIXED;
}

static u64 fixed_control(struct perf_event *event)
{
	const u64 config = event->hw.config;
	u64 bits = 0;

	if (config & ARCH_PERFMON_EVENTSEL_OS)
		bits |= INTEL_FIXED_0_KERNEL;
	if (config & ARCH_PERFMON_EVENTSEL_USR)
		bits |= INTEL_FIXED_0_USER;
	if ((config & ARCH_PERFMON_EVENTSEL_ANY) && x86_pmu.version >= 3)
		bits |= INTEL_FIXED_0_ANYTHREAD;
	if (!event->attr.precise_ip)	/* PEBS has its own */
		bits |= intel_pe_acr_is_silent(event) ? 0 : INTEL_FIXED_0_ENABLE_PMI;
	else if (x86_pmu.intel_cap.pebs_baseline)
		bits |= ICL_FIXED_0_ADAPTIVE;
	return bits;
}

/*
 * Field by field: a PMI between the two steps finds the counter off, and what it clears of another
 * one is not brought back.
 */
static void set_fixed(int n, u64 bits)
{
	this_cpu_and(cpu_hw_events.fixed_ctrl_val,
		     ~intel_fixed_bits_by_idx(n, INTEL_FIXED_BITS_MASK));
	if (bits)
		this_cpu_or(cpu_hw_events.fixed_ctrl_val, intel_fixed_bits_by_idx(n, bits));
}

static void enable_fixed(struct perf_event *event, int idx)
{
	int n = fixed_number(idx);

	if (others_use_slots(idx))
		return;
	note_modes(event, n + INTEL_PMC_IDX_FIXED);
	set_fixed(n, fixed_control(event));
}

static void disable_fixed(int idx)
{
	int n = fixed_number(idx);

	if (others_use_slots(idx))
		return;
	forget_modes(n + INTEL_PMC_IDX_FIXED);
	set_fixed(n, 0);
}

/* An overflow that leaves no bit in the status must not interrupt. */
static void set_interrupt(struct hw_perf_event *hw, bool on)
{
	hw->config &= ~ARCH_PERFMON_EVENTSEL_INT;
	hw->config |= on ? ARCH_PERFMON_EVENTSEL_INT : 0;
}

static void enable_general(struct perf_event *event, int idx)
{
	u64 more = branch_sample_counters(event) ? ARCH_PERFMON_EVENTSEL_BR_CNTR : 0;

	note_modes(event, idx);
	if (unlikely(event->hw.flags & PERF_X86_EVENT_ACR) && !event->attr.precise_ip)
		set_interrupt(&event->hw, !intel_pe_acr_is_silent(event));
	__x86_pmu_enable_event(&event->hw, ARCH_PERFMON_EVENTSEL_ENABLE | more);
}

static bool is_fixed(int idx)
{
	return (idx >= INTEL_PMC_IDX_FIXED && idx < INTEL_PMC_IDX_FIXED_BTS) || is_metric_idx(idx);
}

/* A member of a group that is sampled by others: records have its counter, too. */
static void add_to_records(struct cpu_hw_events *cpuc)
{
	if (cpuc->n_pebs && !cpuc->enabled)
		intel_pe_pebs_reconfigure(cpuc);
}

/*
 * x86_pmu.enable.  PEBS first: a counter must not overflow without the bit that makes it precise.
 */
void intel_pe_enable(struct perf_event *event)
{
	int idx = event->hw.idx;

	if (intel_pe_arch_pebs())
		intel_pe_arch_enable(event);
	else if (unlikely(event->attr.precise_ip))
		intel_pmu_pebs_enable(event);
	else if (unlikely(intel_pe_takes_snapshots(event)))
		add_to_records(this_cpu_ptr(&cpu_hw_events));
	/* For snapshots.  A group that has found no room was added, but does not get here. */
	if (unlikely(intel_pe_wants_branches(event)) && idx != INTEL_PMC_IDX_FIXED_VLBR)
		__this_cpu_write(cpu_hw_events.br_sel, event->hw.branch_reg.reg);

	if (idx < INTEL_PMC_IDX_FIXED)
		enable_general(event, idx);
	else if (is_fixed(idx))
		enable_fixed(event, idx);
	else if (idx == INTEL_PMC_IDX_FIXED_VLBR)
		note_modes(event, idx);
	else if (idx != INTEL_PMC_IDX_FIXED_BTS)
		pr_warn("Failed to enable the event with invalid index %d\n", idx);
	else if (__this_cpu_read(cpu_hw_events.enabled))
		intel_pmu_enable_bts(event->hw.config);
}

/* Records that wait in the buffer become samples: afterwards nobody knows whose they were. */
static void disable_pebs(struct perf_event *event)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	if (intel_pe_piles_up(cpuc) || intel_pe_records_wait(cpuc)) {
		int was_on = __intel_pmu_quiesce();

		intel_pmu_drain_pebs_buffer();
		__intel_pmu_resume(was_on);
	}
	intel_pmu_pebs_disable(event);
}

/* x86_pmu.disable */
void intel_pe_disable(struct perf_event *event)
{
	int idx = event->hw.idx;

	if (idx == INTEL_PMC_IDX_FIXED_BTS) {
		intel_pmu_disable_bts();
		intel_pmu_drain_bts_buffer();
		return;
	}
	if (unlikely(intel_pe_takes_snapshots(event)))
		intel_pe_drain_before(event);
	if (is_fixed(idx)) {
		disable_fixed(idx);
	} else {
		forget_modes(idx);
		if (idx < INTEL_PMC_IDX_FIXED)
			x86_pmu_disable_event(event);
		else if (idx != INTEL_PMC_IDX_FIXED_VLBR)
			pr_warn("Failed to disable the event with invalid index %d\n", idx);
	}
	if (unlikely(event->attr.precise_ip))
		disable_pebs(event);
}

/* Without a global register, events that are for guests only are left off; see guest.c. */
void intel_pe_v1_enable(struct perf_event *event)
{
	if (!event->attr.exclude_host)
		x86_pmu_enable_event(event);
}

/* As x86_pmu_enable_all(), with the same second look. */
void intel_pe_v1_enable_all(int added)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int idx;

	for_each_set_bit(idx, cpuc->active_mask, INTEL_PMC_IDX_FIXED) {
		struct perf_event *event = READ_ONCE(cpuc->events[idx]);

		if (!event || event->attr.exclude_host)
			continue;
		__x86_pmu_enable_event(&event->hw, ARCH_PERFMON_EVENTSEL_ENABLE);
		if (READ_ONCE(cpuc->events[idx]) != event)
			x86_pmu_disable_event(event);
	}
}
