// SPDX-License-Identifier: GPL-2.0
/*
 * The CPU that sleeps without going down, in suspend to RAM or disk: its registers are lost.
 *
 * Its events are still on their counters: not those of tasks, which are frozen, but the watchdog's
 * and others of the CPU.  They are stopped before, so that their counts are safe, and started again
 * afterwards.  An event that stands still already, as a throttled one does, stays so; its counter
 * is loaded again if it will be started without that.  The PMU is off in between.
 *
 * Both on that CPU, interrupts off; nothing else runs.  At the end of the kernel other CPUs may,
 * and interrupts are on again before the next kernel starts.
 */
#include <linux/syscore_ops.h>

#include "core.h"

/* The kernel ends: no event starts any more. */
bool x86_pe_over __read_mostly;

/* Of event_list: events that were stopped, and those that stood still with a loaded counter. */
static u64 parked, loaded;

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

	lockdep_assert_irqs_disabled();
	if (!pmu)
		return 0;
	perf_pmu_disable(pmu);
	parked = 0;
	loaded = 0;
	for (i = 0; i < cpuc->n_events; i++) {
		struct perf_event *event = cpuc->event_list[i];

		if (!(event->hw.state & PERF_HES_STOPPED))
			parked |= BIT_ULL(i);
		else if (!(event->hw.state & PERF_HES_UPTODATE))
			loaded |= BIT_ULL(i);
		else
			continue;
		x86_pmu_stop(event, PERF_EF_UPDATE);
	}
	/* What is known of registers is true also if the sleep is called off. */
	x86_pe_leave_off(cpuc);
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
	cpuc->lbr_made = 0;
	cpuc->last_task_ctx = NULL;
	x86_pe_forget_lvtpc();
	for (i = 0; i < cpuc->n_events; i++) {
		struct perf_event *event = cpuc->event_list[i];

		if (parked & BIT_ULL(i)) {
			x86_pe_start(event, PERF_EF_RELOAD);
		} else if (loaded & BIT_ULL(i)) {
			static_call(x86_pmu_set_period)(event);
			event->hw.state &= ~PERF_HES_UPTODATE;
		}
	}
	perf_pmu_enable(pmu);
}

/*
 * The kernel ends, and another one may be next on this CPU, by kexec: it is to find no counter on.
 * Events of CPUs have left before, but the task that does this may have some.  The PMU stays off,
 * so nothing starts in a switch; x86_pe_start(), which starts single events by the tick or with a
 * new period, does nothing any more.
 */
static void x86_pe_shutdown(void *unused)
{
	guard(irqsave)();
	x86_pe_over = true;
	x86_pe_suspend(unused);
}

static const struct syscore_ops sleep_ops = {
	.suspend	= x86_pe_suspend,
	.resume		= x86_pe_resume,
	.shutdown	= x86_pe_shutdown,
};

static struct syscore sleeper = { .ops = &sleep_ops };

static bool wanted __initdata;

/* At boot, when the PMU is registered. */
void __init x86_pe_sleep_init(void)
{
	wanted = true;
}

/*
 * After the local APIC, which is a core_initcall: the last to register sleeps first and wakes up
 * last, and the counters need the APIC for their interrupts.
 */
static int __init register_sleeper(void)
{
	if (wanted)
		register_syscore(&sleeper);
	return 0;
}
postcore_initcall(register_sleeper);
