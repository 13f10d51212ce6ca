// SPDX-License-Identifier: GPL-2.0
/*
 * Stopping counters that have no global switch, K7 to Zen 3, and NMIs that come late.
 *
 * Starting is the core's x86_pmu_enable_all() and x86_pmu_enable_event().  Stopping has to wait:
 * the NMI of an overflow may be on its way still, for a microsecond or so.  If the counter was
 * given away before it came, nobody would know whose NMI it is.  So a CPU that stops one waits
 * until it no longer looks overflowed, that is until the NMI has come and loaded the next period.
 *
 * On the event's CPU, interrupts off, or in the NMI itself, where the other NMI cannot come yet.
 *
 * NMIs that come too late find nothing: the handler of one NMI also handles counters that overflow
 * while it runs, or while the CPU handles an NMI of another source.  Their own NMI is sent all the
 * same, and if it reaches the local APIC late the NMI layer does not see it as back to back.  Then
 * it would be reported as unknown.  So for a tenth of a second after an overflow was handled on a
 * CPU, NMIs that find nothing are claimed.
 *
 * Owns claim_until, of each CPU, which only its NMIs use once the CPU has started.
 */
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>

#include <asm/nmi.h>

#include "cpu.h"

/* ------------------------------------------------------------ stopping */

/* The NMI should have come long before; do not wait forever. */
#define SETTLE_US	50

/* Counters count from minus the period: with the top bit clear, one is past zero. */
static bool is_past_zero(int idx)
{
	u64 now;

	rdpmcl(idx, now);
	return !(now & BIT_ULL(x86_pmu.cntval_bits - 1));
}

static void settle(int idx)
{
	int us;

	for (us = 0; us < SETTLE_US && is_past_zero(idx); us++)
		udelay(1);
}

/* x86_pmu.disable_all */
void amd_pe_stop_all(void)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int idx;

	x86_pmu_disable_all();
	if (in_nmi())
		return;
	for_each_set_bit(idx, cpuc->active_mask, INTEL_PMC_IDX_FIXED)
		settle(idx);
}

/* x86_pmu.disable.  If the PMU is off, amd_pe_stop_all() has waited. */
void amd_pe_stop(struct perf_event *event)
{
	x86_pmu_disable_event(event);
	if (__this_cpu_read(cpu_hw_events.enabled) && !in_nmi())
		settle(event->hw.idx);
}

/* ------------------------------------------------------------ late NMIs */

static DEFINE_PER_CPU(unsigned long, claim_until);
static unsigned long claim_span __ro_after_init;

/* What the NMI layer shall hear when @handled overflows were found. */
int amd_pe_claim(int handled)
{
	if (likely(handled)) {
		__this_cpu_write(claim_until, jiffies + claim_span);
		return handled;
	}
	return time_after(jiffies, __this_cpu_read(claim_until)) ? NMI_DONE : NMI_HANDLED;
}

/* x86_pmu.handle_irq of CPUs without an overflow status. */
int amd_pe_nmi(struct pt_regs *regs)
{
	return amd_pe_claim(x86_pmu_handle_irq(regs));
}

/* A CPU starts: nothing has overflowed yet.  Jiffies begin below zero, on 32 bits. */
void amd_pe_claim_cpu_init(void)
{
	__this_cpu_write(claim_until, jiffies - 1);
}

void __init amd_pe_claim_init(void)
{
	claim_span = msecs_to_jiffies(100);
}
