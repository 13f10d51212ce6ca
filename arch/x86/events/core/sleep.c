// SPDX-License-Identifier: GPL-2.0
/*
 * The CPU that sleeps without going down, in suspend to RAM or disk: its registers are lost.
 *
 * Its events are still on their counters: not those of tasks, which are frozen, but the watchdog's
 * and others of the CPU.  They are stopped before, so that their counts are safe, and started again
 * afterwards.  An event that stands still already, as a throttled one does, is left alone.  The PMU
 * is off in between.
 *
 * Both on that CPU, interrupts off; nothing else runs.
 */
#include <linux/syscore_ops.h>

#include "core.h"

static u64 parked;		/* of event_list */

/* NULL on a CPU of a hybrid machine whose kind is not known. */
static struct pmu *pmu_here(struct cpu_hw_events *cpuc)
{
	return is_hybrid() ? cpuc->pmu : &x86_pe_pmu;
}

static int x86_pe_suspend(void *unused)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct pmu *pmu = pmu_here(cpuc);
	int i;

	if (!pmu)
		return 0;
	perf_pmu_disable(pmu);
	parked = 0;
	for (i = 0; i < cpuc->n_events; i++) {
		struct perf_event *event = cpuc->event_list[i];

		if (event->hw.state & PERF_HES_STOPPED)
			continue;
		x86_pmu_stop(event, PERF_EF_UPDATE);
		parked |= BIT_ULL(i);
	}
	return 0;
}

/* Registers are as after a reset: on Intel's CPUs all counters are on, with nothing to count. */
static void x86_pe_resume(void *unused)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct pmu *pmu = pmu_here(cpuc);
	int i;

	if (!pmu)
		return;
	static_call(x86_pmu_disable_all)();
	cpuc->active_fixed_ctrl_val = 0;
	x86_pe_forget_lvtpc();
	for (i = 0; i < cpuc->n_events; i++) {
		if (parked & BIT_ULL(i))
			x86_pe_start(cpuc->event_list[i], PERF_EF_RELOAD);
	}
	perf_pmu_enable(pmu);
}

static const struct syscore_ops sleep_ops = {
	.suspend	= x86_pe_suspend,
	.resume		= x86_pe_resume,
};

static struct syscore sleeper = { .ops = &sleep_ops };

/* At boot, when the PMU is registered. */
void __init x86_pe_sleep_init(void)
{
	register_syscore(&sleeper);
}
