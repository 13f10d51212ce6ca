// SPDX-License-Identifier: GPL-2.0
/*
 * The performance monitoring interrupt of CPUs with a global overflow status.
 *
 * NMI, called by the vendor-neutral core.  All counters are off from the first to the last, except
 * for what overflowed before: the status register is read, acknowledged and served until it reads
 * 0. The PMU then goes on if it was on (cpuc->enabled), which it may not have been: a PMI can come
 * between any two instructions.  BTS and PT raise the same interrupt.
 *
 * When the entry of the local APIC is unmasked depends on the model.  Early: whatever overflows
 * from then on latches another NMI.  On big cores since Haswell that gave spurious ones, so they do
 * it last; small cores since Gracemont need it right before the counters go on.
 */
#include <linux/hardirq.h>
#include <linux/kvm_host.h>

#include <asm/apic.h>
#include <asm/debugreg.h>

#include "cpu.h"
#include "pebs/pebs.h"

/* PEBS has written records, to the debug store or to the architectural buffer. */
#define RECORDS		(GLOBAL_STATUS_BUFFER_OVF | BIT_ULL(INTEL_PE_STATUS_ARCH_BIT))

/* These say how things are, not that something overflowed. */
#define STATES		(GLOBAL_STATUS_COND_CHG | GLOBAL_STATUS_ASIF | GLOBAL_STATUS_LBRS_FROZEN)

/* So many rounds without the status becoming 0 mean that it never will. */
#define MOST_ROUNDS	100

static u64 read_status(void)
{
	u64 status;

	rdmsrl(MSR_CORE_PERF_GLOBAL_STATUS, status);
	return status;
}

static void acknowledge(u64 status)
{
	wrmsrl(MSR_CORE_PERF_GLOBAL_OVF_CTRL, status);
}

/* Nothing helps: clear every register. */
static void reset_pmu(struct cpu_hw_events *cpuc)
{
	unsigned long *general = hybrid(cpuc->pmu, cntr_mask);
	unsigned long *fixed = hybrid(cpuc->pmu, fixed_cntr_mask);
	unsigned long flags;
	int i;

	if (bitmap_empty(general, X86_PMC_IDX_MAX))
		return;

	local_irq_save(flags);
	pr_info("clearing PMU state on CPU#%d\n", smp_processor_id());

	for_each_set_bit(i, general, INTEL_PMC_MAX_GENERIC) {
		wrmsrl_safe(x86_pmu_config_addr(i), 0);
		wrmsrl_safe(x86_pmu_event_addr(i), 0);
	}
	for_each_set_bit(i, fixed, INTEL_PMC_MAX_FIXED) {
		if (!fixed_counter_disabled(i, cpuc->pmu))
			wrmsrl_safe(x86_pmu_fixed_ctr_addr(i), 0);
	}
	if (cpuc->ds)
		cpuc->ds->bts_index = cpuc->ds->bts_buffer_base;
	if (x86_pmu.version >= 2) {
		acknowledge(read_status());
		wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, 0);
	}
	if (x86_pmu.lbr_nr)
		update_debugctlmsr(get_debugctlmsr() &
				   ~(DEBUGCTLMSR_LBR | DEBUGCTLMSR_FREEZE_LBRS_ON_PMI));
	local_irq_restore(flags);
}

static void give_up(struct cpu_hw_events *cpuc)
{
	static bool warned;

	if (!warned) {
		warned = true;
		WARN(1, "perfevents: irq loop stuck!\n");
		perf_event_print_debug();
	}
	reset_pmu(cpuc);
}

/* A sample, and maybe the last one. */
static void sample(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	if (perf_event_overflow(event, data, regs))
		x86_pmu_stop(event, 0);
}

/*
 * PEBS records of guests are written to the guest's buffer.  KVM runs a counter for each of theirs;
 * an overflow of any of them makes it look, so one is enough.
 */
static void wake_guest(struct cpu_hw_events *cpuc, struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	u64 theirs = cpuc->pebs_enabled & ~cpuc->intel_ctrl_host_mask;
	int i;

	if (!x86_pmu.pebs_ept || !x86_pmu.pebs_active || !theirs || likely(!perf_guest_state()))
		return;

	for_each_set_bit(i, (unsigned long *)&theirs, X86_PMC_IDX_MAX) {
		struct perf_event *event = cpuc->events[i];

		if (!event || !event->attr.precise_ip)
			continue;
		perf_sample_data_init(data, 0, event->hw.last_period);
		sample(event, data, regs);
		return;
	}
}

static void serve_counter(struct cpu_hw_events *cpuc, int i, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	struct perf_event *event = cpuc->events[i];

	/* What records say of its counter was before this. */
	if (unlikely(event && intel_pe_takes_snapshots(event)))
		static_call(x86_pmu_drain_pebs)(regs, data);
	/* stopped, maybe by one that was served before it */
	if (!test_bit(i, cpuc->active_mask))
		return;
	/* The sample's period is the one that ended, not the one that begins. */
	perf_sample_data_init(data, 0, event->hw.last_period);
	if (!intel_pmu_save_and_restart(event))
		return;
	if (has_branch_stack(event))
		intel_pmu_lbr_save_brstack(data, cpuc, event);
	sample(event, data, regs);
}

static void serve_processor_trace(void)
{
	if (!perf_guest_handle_intel_pt_intr())
		intel_pt_interrupt();
}

static bool take_bit(u64 *status, int bit)
{
	return __test_and_clear_bit(bit, (unsigned long *)status);
}

/* One round.  @precise: counters of PEBS when it began.  Returns how many sources it found. */
static int serve(struct cpu_hw_events *cpuc, struct pt_regs *regs, u64 status, u64 precise)
{
	struct perf_sample_data data __uninitialized;
	int i, found = 0;

	inc_irq_stat(apic_perf_irqs);

	status &= ~STATES;
	if (!status)
		return 0;

	/*
	 * Counters of precise events are served from their records, also when their own bit is set,
	 * which happens while other counters overflow.  A sample made here would not be precise.
	 */
	status &= ~precise;

	if (status & RECORDS) {
		found++;
		wake_guest(cpuc, &data, regs);
		static_call(x86_pmu_drain_pebs)(regs, &data);
		status &= hybrid(cpuc->pmu, intel_ctrl) | GLOBAL_STATUS_TRACE_TOPAPMI;
	}
	if (take_bit(&status, GLOBAL_STATUS_TRACE_TOPAPMI_BIT)) {
		found++;
		serve_processor_trace();
	}
	if (take_bit(&status, GLOBAL_STATUS_PERF_METRICS_OVF_BIT)) {
		found++;
		intel_pe_topdown_update(NULL);
	}

	/* A transaction that the PMI aborted takes its counters' overflow back.  Look at them. */
	status |= cpuc->intel_cp_status;

	for_each_set_bit(i, (unsigned long *)&status, X86_PMC_IDX_MAX) {
		found++;
		if (static_branch_unlikely(&intel_pe_may_reload))
			cpuc->acr.due = status & (~0ULL << i);
		serve_counter(cpuc, i, &data, regs);
	}
	if (static_branch_unlikely(&intel_pe_may_reload))
		cpuc->acr.due = 0;
	return found;
}

/*
 * One whose counts are logged with the branches of others is no user of them, but its records have
 * some.
 */
static bool records_have_branches(const struct cpu_hw_events *cpuc)
{
	struct perf_event *event;
	int i;

	if (cpuc->lbr_pebs_users)
		return true;
	if (!(x86_pmu.flags & PMU_FL_BR_CNTR))
		return false;
	/* Not the list of events, which may be on the move. */
	for_each_set_bit(i, cpuc->active_mask, X86_PMC_IDX_MAX) {
		event = READ_ONCE(cpuc->events[i]);
		if (event && event->attr.precise_ip && has_branch_stack(event))
			return true;
	}
	return false;
}

/*
 * PEBS records are decoded to where the branches of all other samples are read to.  With both kinds
 * the records go first; later they are drained again, but nothing is left: no counter runs.
 */
static void drain_branches(struct cpu_hw_events *cpuc, struct pt_regs *regs)
{
	struct perf_sample_data data __uninitialized;

	if (unlikely(cpuc->n_pebs && cpuc->lbr_users != cpuc->lbr_pebs_users) &&
	    records_have_branches(cpuc))
		static_call(x86_pmu_drain_pebs)(regs, &data);
}

/*
 * Any overflow may stop events, by throttling its own and the others of the group; then PEBS must
 * be told, because it is not switched off in a PMI.  If the PMU was off, PEBS is to be, too, also
 * when the one who is switching it off has not come to that yet.
 */
static int serve_all(struct cpu_hw_events *cpuc, struct pt_regs *regs, bool was_on)
{
	u64 pebs = cpuc->pebs_enabled;
	int round, found = 0;
	u64 status, precise;

	for (round = 0; (status = read_status()); round++) {
		if (round == MOST_ROUNDS) {
			give_up(cpuc);
			break;
		}
		/* Draining may throttle some: they are precise all the same. */
		precise = cpuc->pebs_enabled & x86_pmu.pebs_capable;
		if (static_branch_unlikely(&intel_pe_may_reload))
			cpuc->acr.due = status & ~precise;
		/* With the PMU off only what serve() would drain. */
		if (was_on || status & RECORDS)
			drain_branches(cpuc, regs);
		/* Acknowledging lets branch recording go on: read first. */
		intel_pmu_lbr_read();
		acknowledge(status);
		found += serve(cpuc, regs, status, precise);
	}
	if (cpuc->pebs_enabled != pebs && !intel_pe_arch_pebs())
		wrmsrl(MSR_IA32_PEBS_ENABLE, was_on ? cpuc->pebs_enabled : 0);
	return found;
}

/*
 * What cannot wait: a trace stops when its buffer is full, and reading many records takes longer.
 * It has no counts; branch traces that become samples do wait.  Returns how many sources there are,
 * those that wait included.
 */
static int serve_traces(void)
{
	u64 status = read_status() & ~STATES;
	int found = !!status;

	if (status & GLOBAL_STATUS_TRACE_TOPAPMI) {
		acknowledge(GLOBAL_STATUS_TRACE_TOPAPMI);
		serve_processor_trace();
	}
	intel_bts_disable_local();
	found += intel_bts_interrupt();
	intel_bts_enable_local();
	/* With an overflow in the status it stays masked, and the next trace waits, too. */
	if (!(status & ~GLOBAL_STATUS_TRACE_TOPAPMI))
		apic_write(APIC_LVTPC, APIC_DM_NMI);
	return found;
}

/* x86_pmu.handle_irq */
int intel_pe_handle_irq(struct pt_regs *regs)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	bool late = hybrid_bit(cpuc->pmu, late_ack);
	bool middle = hybrid_bit(cpuc->pmu, mid_ack);
	int found, was_on = cpuc->enabled;

	if (x86_pmu_pmi_waits(cpuc))
		return serve_traces();
	if (!late && !middle)
		apic_write(APIC_LVTPC, APIC_DM_NMI);
	intel_bts_disable_local();
	cpuc->enabled = 0;
	intel_pe_stop_all();

	found = intel_pmu_drain_bts_buffer();
	found += intel_bts_interrupt();
	found += serve_all(cpuc, regs, was_on);

	if (middle)
		apic_write(APIC_LVTPC, APIC_DM_NMI);
	cpuc->enabled = was_on;
	if (was_on)
		intel_pe_resume_after_pmi();
	intel_bts_enable_local();
	if (late)
		apic_write(APIC_LVTPC, APIC_DM_NMI);
	return found;
}
