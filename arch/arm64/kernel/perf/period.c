// SPDX-License-Identifier: GPL-2.0
/*
 * Counters count up and interrupt when they wrap.  Here is what they start from, and what is taken
 * from them.
 *
 * Start and stop call it with irqs off on the event's CPU; drivers call it from their interrupt
 * handler, which may be a pseudo-NMI that came in the middle of the former.  No locks:
 *
 *	prev_count	what the counter showed when its value was last taken; set_period() stores
 *			it before it writes the counter, while the event's counter is stopped or
 *			the whole PMU is
 *	period_left	what is left of the period; only the event's CPU
 *
 * Two updates of one event at the same time are a read() and one in the middle of it, in an NMI of
 * something else.  The one that exchanges prev_count first takes what came before its look; the
 * other one reads the counter again, which then shows at least as much.  The PMU's own interrupt
 * comes into no read(): it would compare a period_left from which nothing is taken yet.
 *
 * A counter never starts further than half its width from the wrap.  What it counts on after
 * the wrap, until the interrupt is served, is then told from what it counted before.
 */
#include "armpmu.h"

static const struct {
	int flag;
	u64 mask;
} widths[] = {
	{ ARMPMU_EVT_64BIT, GENMASK_ULL(63, 0) },
	{ ARMPMU_EVT_63BIT, GENMASK_ULL(62, 0) },
	{ ARMPMU_EVT_47BIT, GENMASK_ULL(46, 0) },
};

/**
 * armpmu_counter_mask() - the bits that an event's counter has
 * @hw: event, as map_event has flagged it
 *
 * Return: the mask, 32 bits if nothing else is said
 */
u64 armpmu_counter_mask(const struct hw_perf_event *hw)
{
	int i;

	if (likely(!(hw->flags & (ARMPMU_EVT_64BIT | ARMPMU_EVT_63BIT | ARMPMU_EVT_47BIT))))
		return GENMASK_ULL(31, 0);
	for (i = 0; i < ARRAY_SIZE(widths); i++)
		if (hw->flags & widths[i].flag)
			return widths[i].mask;
	return GENMASK_ULL(31, 0);
}

/**
 * armpmu_period_next() - begin a new period if the old one is over
 * @hw: event, whose period_left is up to date
 * @start: set to what the counter has to start from
 *
 * A period that ended more than a whole period ago is forgotten rather than made up for.
 *
 * Return: has a period ended?
 */
bool armpmu_period_next(struct hw_perf_event *hw, u64 *start)
{
	s64 left = local64_read(&hw->period_left), period = hw->sample_period;
	bool over = left <= 0;

	if (over) {
		left = left > -period ? left + period : period;
		local64_set(&hw->period_left, left);
		hw->last_period = period;
	}
	*start = -min_t(u64, left, armpmu_counter_mask(hw) >> 1);
	return over;
}

/**
 * armpmu_event_set_period() - write the counter of an event
 * @event: on this CPU, does not count at the moment, updated
 *
 * Return: 1 if a period has ended, which wants a sample; else 0
 */
int armpmu_event_set_period(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	bool over;
	u64 start;

	over = armpmu_period_next(hw, &start);
	local64_set(&hw->prev_count, start);
	to_arm_pmu(event->pmu)->write_counter(event, start & armpmu_counter_mask(hw));
	armpmu_refresh_page(event);
	return over;
}

/**
 * armpmu_event_update() - take what the counter of an event has counted
 * @event: on this CPU
 *
 * Return: the counter
 */
u64 armpmu_event_update(struct perf_event *event)
{
	struct arm_pmu *armpmu = to_arm_pmu(event->pmu);
	struct hw_perf_event *hw = &event->hw;
	const int top = fls64(armpmu_counter_mask(hw)) - 1;
	s64 before = local64_read(&hw->prev_count), counter;
	u64 counted;

	/* The reader of the user page takes the counter as a signed number. */
	do {
		counter = armpmu->read_counter(event);
	} while (!local64_try_cmpxchg(&hw->prev_count, &before, sign_extend64(counter, top)));

	counted = (counter - before) & armpmu_counter_mask(hw);
	local64_add(counted, &event->count);
	local64_sub(counted, &hw->period_left);
	return counter;
}
