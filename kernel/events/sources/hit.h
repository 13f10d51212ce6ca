/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layer 4: the samples of a hit that software counted, inlined into the code that delivers hits.
 *
 * In software.c, tracepoint.c: see the top of software.c.
 */
#ifndef _KERNEL_EVENTS_HIT_H
#define _KERNEL_EVENTS_HIT_H

#include "sources.h"

/*
 * How many samples does this hit make?  Also sets the period that they show: with
 * PERF_SAMPLE_PERIOD each hit is a sample of its own that carries its weight.
 */
static __always_inline u64 pe_samples_due(struct pe_event *e, u64 nr, struct perf_sample_data *data)
{
	struct hw_perf_event *hw = &e->hw;

	if (!e->attr.freq) {
		if (e->attr.sample_type & PERF_SAMPLE_PERIOD) {
			data->period = nr;
			return 1;
		}
		if (nr == 1 && hw->sample_period == 1) {
			data->period = 1;
			return 1;
		}
	}
	if (local64_add_negative(nr, &hw->period_left))
		return 0;
	/* If an NMI has ended the period first, this is the next one's; then none is due here. */
	data->period = hw->last_period;
	return perf_swevent_set_period(&e->pub);
}

static __always_inline void pe_sample(struct pe_event *e, u64 nr, struct perf_sample_data *data,
				      struct pt_regs *regs)
{
	u64 due, length, i;

	due = pe_samples_due(e, nr, data);
	if (!due)
		return;
	if (unlikely(e->hw.interrupts == PE_THROTTLED) && pe_still_throttled(e))
		return;
	length = e->hw.last_period;
	if (e->attr.freq)
		pe_measure_rate(e, data->period + (due - 1) * length, due > 1);
	/* One sample for one hit is never too much; more may be. */
	if (pe_overflow_once(e, data, regs))
		return;
	for (i = 1; unlikely(i < due); i++) {
		if (!pe_periods(e))
			data->period = length;
		if (pe_overflow(e, PE_MAY_THROTTLE, data, regs))
			break;
	}
}

static __always_inline void pe_sample_here(struct pe_event *e, u64 nr,
					   struct perf_sample_data *data, struct pt_regs *regs)
{
	guard(irqsave)();
	/* The event may have been disabled before interrupts were. */
	if (READ_ONCE(e->state) == PERF_EVENT_STATE_ACTIVE)
		pe_sample(e, nr, data, regs);
}

#endif /* _KERNEL_EVENTS_HIT_H */
