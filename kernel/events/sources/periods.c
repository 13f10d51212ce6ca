// SPDX-License-Identifier: GPL-2.0
/*
 * Periods that follow a rule: random ones, long and short ones (PERF_EXT_IOC_PERIODS).
 *
 * There are two kinds of sources, and the n-th period has the same length for both.
 *
 * A driver that loads a counter or a timer takes hw.sample_period when a period ends, before the
 * overflow is handled: period n + 1 has begun already when the sample of period n is taken.  So
 * hw.sample_period is always the period after the one under way, and an overflow draws the one
 * after that.  An overflow that the driver swallows, because the counter has wrapped just when the
 * task was switched out, draws nothing: the length in hw.sample_period is then loaded twice.
 *
 * Where software counts hits, hw.period_left runs up to 0, and one hit may end several periods.
 * pe_periods_divide() draws each of them when the one before is over.  A hit may count for many,
 * as those of the scheduler's tracepoints count nanoseconds: it ends DRAWS_MOST periods at most,
 * and what it has beyond them is forgotten.
 *
 * All is written on the event's CPU, by overflows and hits, and under ctx->lock with the event
 * stopped.  Overflows of one event do not nest; hits do, see pe_periods_divide().
 */
#include "hit.h"
#include "../ext.h"

#define DRAWS_MOST	1000

/**
 * pe_software_least_period() - pmu->least_period() of events that software counts
 * @event: a sampling event
 *
 * A period of 1 is none: each hit is a sample then, and so it is with PERF_SAMPLE_PERIOD.
 */
u64 pe_software_least_period(struct perf_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_PERIOD ? 0 : 2;
}

/**
 * pe_periods_next() - a period of a driver's event is over
 * @e: the event
 *
 * At its overflow.
 */
void pe_periods_next(struct pe_event *e)
{
	struct pe_periods *p = pe_periods(e);

	if (likely(!p) || p->by_hits)
		return;
	p->ended++;
	e->hw.sample_period = pe_period_draw(p);
}

/**
 * pe_periods_divide() - divide the hits of an event into periods
 * @e: an event that software counts
 * @p: its periods
 *
 * On the event's CPU, any context.  A hit that interrupts this leaves what it has added to the one
 * that is at work: either the loop finds it, or the look at period_left after @p->dividing is off.
 *
 * Return: the number of periods that are over.  A sample's data has the length of the one that was
 * under way before, for all of them.
 */
u64 pe_periods_divide(struct pe_event *e, struct pe_periods *p)
{
	struct hw_perf_event *hw = &e->hw;
	u64 over = 0;

	while (local64_read(&hw->period_left) >= 0) {
		if (p->dividing)
			break;
		WRITE_ONCE(p->dividing, true);
		barrier();	/* an interrupt from here on leaves it to us */
		while (local64_read(&hw->period_left) >= 0) {
			hw->sample_period = pe_period_draw(p);
			p->ended++;
			if (++over < DRAWS_MOST)
				local64_sub(hw->sample_period, &hw->period_left);
			else
				local64_set(&hw->period_left, -hw->sample_period);
		}
		hw->last_period = hw->sample_period;
		barrier();	/* all is divided before the mark is off */
		WRITE_ONCE(p->dividing, false);
	}
	return over;
}

/* pe_change_period(): @e does not count. */
void pe_periods_set(struct pe_event *e, void *rule)
{
	struct pe_periods *p = &pe_ext(e)->periods;
	struct hw_perf_event *hw = &e->hw;

	p->by_hits = e->pmu->least_period == pe_software_least_period;
	if (!rule) {
		WRITE_ONCE(p->on, false);
		hw->sample_period = e->attr.sample_period;
		hw->last_period = hw->sample_period;
		local64_set(&hw->period_left, p->by_hits ? -hw->sample_period : 0);
		return;
	}
	p->rule = *(struct pe_period_rule *)rule;
	if (pe_ext(e)->number)
		p->rule.seed = pe_period_seed_of_copy(p->rule.seed, pe_ext(e)->number);
	pe_period_begin(p);

	hw->last_period = pe_period_draw(p);
	hw->sample_period = p->by_hits ? hw->last_period : pe_period_draw(p);
	local64_set(&hw->period_left, p->by_hits ? -hw->last_period : hw->last_period);
	WRITE_ONCE(p->on, true);
}
