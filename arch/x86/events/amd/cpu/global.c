// SPDX-License-Identifier: GPL-2.0
/*
 * PerfMonV2: one register lets all counters count, one tells which overflowed.  Zen 4 and later.
 *
 * With the PMU off an event's select register is written enabled already; nothing counts until the
 * global register is written.  The NMI stops all counters, so nothing overflows while it works;
 * what it read from the status register is what it acknowledges.
 *
 * On the event's CPU, interrupts off, or in the NMI.  Stopping waits for an NMI that is on its
 * way, see counter.c; here a bit in the status register tells, one read for all counters.
 */
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/printk.h>
#include <asm/apic.h>

#include "cpu.h"

#define SETTLE_US	50

static u64 read_status(void)
{
	u64 status;

	rdmsrl(MSR_AMD64_PERF_CNTR_GLOBAL_STATUS, status);
	return status;
}

/* Wait until the overflows of @counters were acknowledged by the NMI. */
static void settle(u64 counters)
{
	int us;

	for (us = 0; us < SETTLE_US && (read_status() & counters); us++)
		udelay(1);
}

/* x86_pmu.enable_all.  Branch records first: they shall have what leads to the first overflow. */
void amd_pe_global_start_all(int added)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	if (cpuc->lbr_users)
		amd_pe_lbr_on(cpuc);
	wrmsrl(MSR_AMD64_PERF_CNTR_GLOBAL_CTL, x86_pmu.cntr_mask64);
}

/* x86_pmu.disable_all */
void amd_pe_global_stop_all(void)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	wrmsrl(MSR_AMD64_PERF_CNTR_GLOBAL_CTL, 0);
	if (cpuc->lbr_users)
		amd_pe_lbr_off();
	if (*cpuc->active_mask && !in_nmi())
		settle(*cpuc->active_mask);
}

/* x86_pmu.enable.  The PMU is off, or this is the NMI: it counts from the next start_all on. */
void amd_pe_global_start(struct perf_event *event)
{
	__x86_pmu_enable_event(&event->hw, ARCH_PERFMON_EVENTSEL_ENABLE);
}

/* x86_pmu.disable.  If the PMU is off, amd_pe_global_stop_all() has waited. */
void amd_pe_global_stop(struct perf_event *event)
{
	x86_pmu_disable_event(event);
	if (__this_cpu_read(cpu_hw_events.enabled) && !in_nmi())
		settle(BIT_ULL(event->hw.idx));
}

static void take_sample(struct cpu_hw_events *cpuc, struct perf_event *event, struct pt_regs *regs)
{
	struct perf_sample_data data;

	x86_perf_event_update(event);
	perf_sample_data_init(&data, 0, event->hw.last_period);
	if (!x86_perf_event_set_period(event))
		return;		/* the period is longer than the counter */
	if (has_branch_stack(event)) {
		amd_pe_lbr_pick(cpuc, event->hw.branch_reg.reg);
		perf_sample_save_brstack(&data, event, &cpuc->lbr_stack, NULL);
	}
	if (perf_event_overflow(event, &data, regs))
		x86_pmu_stop(event, 0);
}

/*
 * The overflows in @status.  A counter whose event has gone meanwhile, because its NMI came later
 * than settle() waits or because the event before stopped it, is handled by being acknowledged.
 */
static int handle(struct cpu_hw_events *cpuc, u64 status, struct pt_regs *regs)
{
	unsigned long due = status & x86_pmu.cntr_mask64;
	u64 unknown = status & ~(x86_pmu.cntr_mask64 | GLOBAL_STATUS_LBRS_FROZEN);
	struct perf_event *event;
	int idx;

	if (unlikely(unknown))
		pr_warn_once("PerfCntrGlobalStatus has reserved bits set: %#llx; old microcode?\n",
			     unknown);
	if (cpuc->lbr_users)
		amd_pe_lbr_read();

	for_each_set_bit(idx, &due, INTEL_PMC_IDX_FIXED) {
		event = cpuc->events[idx];
		if (event && test_bit(idx, cpuc->active_mask))
			take_sample(cpuc, event, regs);
	}
	return hweight_long(due);
}

/* x86_pmu.handle_irq: return the number of overflows, or 1 for an NMI that is claimed as late. */
int amd_pe_global_nmi(struct pt_regs *regs)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int handled = 0, was_on = cpuc->enabled;
	u64 status;

	if (x86_pmu_pmi_waits(cpuc))
		return amd_pe_claim(!!(read_status() & ~GLOBAL_STATUS_LBRS_FROZEN));

	/* Silicon leaves the entry as it is. Hypervisors that mask it as Intel's does are about. */
	if (cpu_feature_enabled(X86_FEATURE_HYPERVISOR))
		apic_write(APIC_LVTPC, APIC_DM_NMI);

	/* Events that are stopped and started again in here count when all others do. */
	cpuc->enabled = 0;
	wrmsrl(MSR_AMD64_PERF_CNTR_GLOBAL_CTL, 0);

	status = read_status();
	if (status) {
		handled = handle(cpuc, status, regs);
		/* Records that were frozen after the read go on, too. */
		wrmsrl(MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_CLR, status | GLOBAL_STATUS_LBRS_FROZEN);
		inc_irq_stat(apic_perf_irqs);
	}

	/* The PMU stays off if the NMI came while it was, or was about to be. */
	cpuc->enabled = was_on;
	if (was_on)
		wrmsrl(MSR_AMD64_PERF_CNTR_GLOBAL_CTL, x86_pmu.cntr_mask64);
	return amd_pe_claim(handled);
}

/* On a CPU that starts: whatever firmware or a kernel before did, nothing counts. */
void amd_pe_global_cpu_init(void)
{
	wrmsrl(MSR_AMD64_PERF_CNTR_GLOBAL_CTL, 0);
	wrmsrl(MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_CLR,
	       x86_pmu.cntr_mask64 | GLOBAL_STATUS_LBRS_FROZEN);
}
