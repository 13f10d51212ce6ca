// SPDX-License-Identifier: GPL-2.0
/*
 * Stopping counters that have no global switch: K7 to Zen 3.
 *
 * Starting is the core's x86_pmu_enable_all() and x86_pmu_enable_event().  Stopping has to wait:
 * the NMI of an overflow may be on its way still, for a microsecond or so.  If the counter was
 * given away before it came, nobody would know whose NMI it is.  So whoever stops a counter waits
 * until it no longer looks overflowed, that is until the NMI has come and loaded the next period.
 *
 * On the event's CPU, interrupts off, or in the NMI itself.  There the other NMI cannot come, and
 * what comes late is claimed by late_nmi.c.
 */
#include <linux/delay.h>
#include <linux/hardirq.h>

#include "cpu.h"

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
