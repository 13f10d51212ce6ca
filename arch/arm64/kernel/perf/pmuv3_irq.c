// SPDX-License-Identifier: GPL-2.0
/*
 * The overflow interrupt of a PMUv3.
 *
 * One interrupt per CPU for all counters, a normal one or a pseudo-NMI; the framework requests it
 * and calls pmuv3_handle_irq().  The bank is frozen before the flags are read: the counters of a
 * group stop together and as early as possible, and an overflow either is among the flags, or
 * happens after the thaw and raises the interrupt again.
 */
#include <linux/bitops.h>
#include <linux/perf_event.h>

#include <asm/irq_regs.h>

#include "pmuv3.h"

static void overflow(struct perf_event *event, struct pt_regs *regs)
{
	struct perf_sample_data data __uninitialized;

	armpmu_event_update(event);
	perf_sample_data_init(&data, 0, event->hw.last_period);
	/* Only the first part of a period that is longer than the counter? */
	if (!armpmu_event_set_period(event))
		return;
	if (has_branch_stack(event))
		pmuv3_brbe_sample(event, &data);
	if (!perf_event_overflow(event, &data, regs))
		return;
	/* Until somebody starts it: a CPU that wakes up does not. */
	pmuv3_disable(event);
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

/**
 * pmuv3_handle_irq() - a counter of this CPU may have overflowed
 * @pmu: the PMU of the CPU
 */
irqreturn_t pmuv3_handle_irq(struct arm_pmu *pmu)
{
	struct pmu_hw_events *events = this_cpu_ptr(pmu->hw_events);
	struct pt_regs *regs = get_irq_regs();
	unsigned long flags;
	int idx;

	if (!pmuv3_freeze()) {
		pmuv3_hush();
		return IRQ_HANDLED;
	}
	if (pmu->reg_brbidr)
		pmuv3_brbe_stop();
	flags = pmuv3_take_overflows();
	for_each_set_bit(idx, &flags, ARMPMU_MAX_HWEVENTS) {
		/* Else it is the lower half of a pair, or the event has left. */
		if (events->events[idx])
			overflow(events->events[idx], regs);
	}
	if (pmu->reg_brbidr)
		pmuv3_brbe_start(pmu);
	pmuv3_thaw();
	return IRQ_RETVAL(flags);
}
