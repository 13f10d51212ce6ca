// SPDX-License-Identifier: GPL-2.0
/*
 * Frequency mode: attr.sample_freq asks for samples per second, so the period has to follow the
 * rate at which events happen.
 *
 * The tick looks at no event that does not count: one that does is on slot->freq, and one that is
 * throttled on ctx->throttled.  overflow.c says when, lockless.rst how an NMI can put it there.
 *
 * Owns hw.freq_count_stamp and, for events with attr.freq, hw.sample_period; where it gives up a
 * period it writes hw.last_period and hw.period_left, too.  The arithmetic at the top is pure
 * (tests/frequency_kunit.c); what follows applies it to events.
 *
 * The rate is measured at two places.  At an overflow, overflow.c knows how long the last period
 * took, which is exact but says nothing when a much too long period never ends; so the tick looks
 * at the counts as well.  Each measurement moves the period by an eighth of what it is off.
 *
 * Callers and context:
 *   pe_adjust_period()  overflow.c, where the event is hit, interrupts off, perhaps in NMI
 *   pe_tick_freq()      perf_event_task_tick(), interrupts off; takes ctx->lock
 *
 * An NMI may adjust the period of an event while the tick does.  Both write whole words and each
 * result is a sensible period, so it does not matter which is last; and the PMU is off while the
 * tick works on its events.
 */
#include <linux/math64.h>

#include "sched.h"

/* a * b without its lowest *dropped bits, which are as few as make it fit in 64 bits. */
static u64 product(u64 a, u64 b, int *dropped)
{
	*dropped = max(0, fls64(a) + fls64(b) - 64);
	return mul_u64_u64_shr(a, b, *dropped);
}

/**
 * pe_period_for() - period that would have given the wanted number of samples
 * @freq: samples per second wanted
 * @nsec: length of the measurement
 * @count: events in that time
 *
 * Return: count * 10^9 / (nsec * freq) rounded down, to 30 bits of precision when the products do
 * not fit in 64 bits; U64_MAX if the result does not fit.  A @freq or @nsec of 0 counts as 1.
 */
u64 pe_period_for(u64 freq, u64 nsec, u64 count)
{
	int above, below, scale, spare;
	u64 num, den, period;

	num = product(count, NSEC_PER_SEC, &above);
	den = product(nsec ?: 1, freq ?: 1, &below);
	scale = above - below;
	if (scale <= 0)
		return scale <= -64 ? 0 : div64_u64(num >> -scale, den);

	/* The quotient is to be doubled scale times: halve the divisor while it stays precise. */
	spare = clamp(fls64(den) - 32, 0, scale);
	period = div64_u64(num, den >> spare);
	scale -= spare;
	if (fls64(period) + scale > 64)
		return U64_MAX;
	return period << scale;
}

/**
 * pe_period_step() - the next period on the way to a better one
 * @period: period in force
 * @wanted: what the last measurement suggests
 *
 * Return: @period moved by an eighth of the distance, but by 1 at least; never 0, and never more
 * than what fits in the signed arithmetic of hw.period_left.
 */
u64 pe_period_step(u64 period, u64 wanted)
{
	period = min_t(u64, period, S64_MAX);
	wanted = min_t(u64, wanted, S64_MAX);
	if (wanted >= period)
		period += DIV_ROUND_UP_ULL(wanted - period, 8);
	else
		period -= DIV_ROUND_UP_ULL(period - wanted, 8);
	return period ?: 1;
}

/*
 * The next period of an event, from a measurement: @count events in @nsec.  Return: the one that
 * has begun turned out far too long, and what is left of it is not to be waited for.
 */
static __always_inline bool step_period(struct pe_event *e, u64 nsec, u64 count)
{
	struct hw_perf_event *hw = &e->hw;
	s64 left = local64_read(&hw->period_left);
	u64 period;

	period = pe_period_step(hw->sample_period,
				pe_period_for(e->attr.sample_freq, nsec, count));
	hw->sample_period = period;
	return (pe_counts_up(e) ? -left : left) > (s64)min_t(u64, period, S64_MAX / 8) * 8;
}

/*
 * Begin the next period, if nothing has to be loaded for that.  For the tick, which has stopped the
 * event: a hit that measures has just begun a period, which is never too long.
 */
static bool begin_counting_up(struct pe_event *e)
{
	struct hw_perf_event *hw = &e->hw;

	if (!pe_counts_up(e))
		return false;
	hw->last_period = hw->sample_period;
	local64_set(&hw->period_left, -hw->sample_period);
	return true;
}

/**
 * pe_adjust_period() - let the period of an event that counts follow a measurement
 * @e: event in frequency mode
 * @nsec: length of the measurement
 * @count: events in that time
 *
 * Where the event is hit, mostly its CPU, interrupts off, NMI included.
 */
void pe_adjust_period(struct pe_event *e, u64 nsec, u64 count)
{
	lockdep_assert_irqs_disabled();
	if (!step_period(e, nsec, count) || begin_counting_up(e))
		return;
	/* A counter that counts cannot be reloaded. */
	e->pmu->stop(&e->pub, PERF_EF_UPDATE);
	local64_set(&e->hw.period_left, 0);
	e->pmu->start(&e->pub, PERF_EF_RELOAD);
}

static bool in_freq_mode(const struct pe_event *e)
{
	return e->attr.freq && e->attr.sample_freq;
}

/*
 * While the tick walks events one PMU is off, *paused, or none.  Neighbours on the lists mostly
 * belong to the same one, which is then switched off only once.
 */
static void pause_pmu(struct pmu **paused, struct pmu *pmu)
{
	if (*paused == pmu)
		return;
	if (*paused)
		perf_pmu_enable(*paused);
	*paused = pmu;
	if (pmu)
		perf_pmu_disable(pmu);
}

/*
 * Does e count on this CPU now?  A passive event keeps the state ACTIVE while its slot is away, and
 * the slots of other CPUs are away.
 */
static bool counts_here(const struct pe_event *e)
{
	return e->state == PERF_EVENT_STATE_ACTIVE && pe_slot_is_in(e->slot);
}

/**
 * pe_unthrottle() - the one way in which a throttling ends
 * @e: an event, or one that was throttled
 *
 * Where its buffer is written, irqs off; it is not counting, or the caller holds up what follows.
 *
 * Return: it was throttled; the caller starts it if its PMU has stopped it.
 */
bool pe_unthrottle(struct pe_event *e)
{
	u64 was = e->hw.interrupts;

	lockdep_assert_irqs_disabled();
	if (!pe_is_throttled(e))
		return false;
	/* From now on an interrupt throttles it anew; release() looks at what one before did. */
	WRITE_ONCE(e->hw.interrupts, 0);
	if (was == PE_THROTTLED)
		pe_record_unthrottle(e);
	return true;
}

/* Back to counting: where its driver stopped it, or, if it was stopped along, with its counter. */
static void start_again(struct pe_event *e)
{
	e->pmu->start(&e->pub, e->hw.state & PERF_HES_UPTODATE ? PERF_EF_RELOAD : 0);
}

static void release(struct pe_event *e)
{
	bool along = e->hw.interrupts == PE_THROTTLED_ALONG;

	if (!counts_here(e) || !pe_unthrottle(e))
		return;
	/* The overflow that was to stop it may have been lost. */
	if (along && !(READ_ONCE(e->hw.state) & PERF_HES_STOPPED))
		return;
	/* If it was not, one that comes now may throttle it anew: that is for the next tick. */
	if (!pe_is_throttled(e))
		start_again(e);
}

/* @e and what its PMU counts of its group; the PMU is off.  Drivers may want the leader first. */
static void release_group(struct pe_event *e)
{
	struct pe_event *m, *leader = pe_leader(e);

	lockdep_assert_held(&pe_ctx(e)->lock);
	if (!pe_throttles_together(leader)) {
		release(e);
		return;
	}
	pe_for_each_member(m, leader)
		if (m->pmu == e->pmu)
			release(m);
}

/* Let @e, which is ACTIVE, count its new period.  If it is nowhere, it does when it comes in. */
static void begin_period(struct pe_event *e)
{
	if (pe_is_passive(e) && !pe_slot_is_in(e->slot))
		e->pmu->add(&e->pub, PERF_EF_START);
	else
		e->pmu->start(&e->pub, PERF_EF_RELOAD);
}

/**
 * pe_change_period() - give an event another period, which begins now
 * @e: a sampling event
 * @set: sets hw.sample_period, and hw.period_left: 0, or what is to pass before the first overflow
 * @arg: for @set
 *
 * ctx->lock held, on the event's CPU if its context is in.  The event does not count while @set
 * runs.  What was left of the old period is forgotten.  A throttling ends, for its group, too; but
 * an event that is throttled along with another of its group waits for that one.
 */
void pe_change_period(struct pe_event *e, void (*set)(struct pe_event *e, void *arg), void *arg)
{
	bool active = e->state == PERF_EVENT_STATE_ACTIVE;
	bool throttled = false, waits = false;

	lockdep_assert_held(&pe_ctx(e)->lock);
	if (active) {
		perf_pmu_disable(e->pmu);
		/* First: until it is stopped, an interrupt may throttle it even now. */
		e->pmu->stop(&e->pub, PERF_EF_UPDATE);
		waits = e->hw.interrupts == PE_THROTTLED_ALONG;
		if (pe_is_passive(e))
			pe_throttle_expires(e);
		else if (!waits)
			throttled = pe_unthrottle(e);
	}
	set(e, arg);
	if (active) {
		if (!waits)
			begin_period(e);
		if (throttled)
			release_group(e);
		perf_pmu_enable(e->pmu);
	}
}

/**
 * pe_throttle_list() - let the tick find an event that has been throttled
 * @e: the event
 *
 * Any context: from its overflow, where it may run against the tick that empties the list.
 */
void pe_throttle_list(struct pe_event *e)
{
	if (!xchg(&e->throttle_listed, 1))
		llist_add(&e->throttle_entry, &pe_ctx(e)->throttled);
}

/*
 * Off the list, then the look at the event: an NMI that throttles it in between lists it again.
 * Return: it is still in the context.  If not, it may have been freed by now.
 */
static bool take_off(struct pe_event *e)
{
	bool attached = e->attach_state & PERF_ATTACH_CONTEXT;

	smp_store_release(&e->throttle_listed, 0);	/* pe_throttle_unlist() */
	barrier();					/* see above */
	return attached;
}

/**
 * pe_throttle_unlist() - an event is about to change its context, or to be freed
 * @e: an event that has left its context, and that no overflow can list any more
 *
 * Others that have left go as well, so that a list of them is walked once.  Any context but NMI;
 * without ctx->lock.
 */
void pe_throttle_unlist(struct pe_event *e)
{
	struct pe_event *listed, *next;
	struct llist_node *node;
	struct pe_ctx *ctx;

	/* Pairs with take_off(): a CPU that has cleared it does not look at the event any more. */
	if (likely(!smp_load_acquire(&e->throttle_listed)))
		return;
	ctx = pe_ctx(e);
	guard(raw_spinlock_irqsave)(&ctx->lock);
	node = llist_del_all(&ctx->throttled);
	llist_for_each_entry_safe(listed, next, node, throttle_entry)
		if (take_off(listed))
			pe_throttle_list(listed);
}

/*
 * A group goes on together, also where some of it are not on this list: their entries may be from
 * an earlier throttling, or new.  What ends the throttling of those that do not count here looks at
 * no list: for a passive event the next hit, for another one that it comes in, which lists it again
 * if it has to wait.
 */
static void release_throttled(struct pe_ctx *ctx, struct pmu **paused)
{
	struct llist_node *node = llist_reverse_order(llist_del_all(&ctx->throttled));
	struct pe_event *e, *next;

	llist_for_each_entry_safe(e, next, node, throttle_entry) {
		if (!take_off(e) || READ_ONCE(e->hw.interrupts) < PE_THROTTLED_ALONG ||
		    !counts_here(e))
			continue;
		pause_pmu(paused, e->pmu);
		release_group(e);
	}
}

/* @e counts here. */
static void follow_rate(struct pe_event *e, struct pmu **paused)
{
	u64 count;
	s64 delta;

	if (!in_freq_mode(e))
		return;
	if (e->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT)
		return;
	/* The next hit of a passive one, which releases it, is to find it running. */
	if (pe_is_throttled(e))
		return;
	pause_pmu(paused, e->pmu);
	e->pmu->stop(&e->pub, PERF_EF_UPDATE);
	/* An NMI since the tick began has throttled it, and listed it for the next one. */
	if (pe_is_throttled(e))
		return;
	count = local64_read(&e->count);
	delta = count - e->hw.freq_count_stamp;
	e->hw.freq_count_stamp = count;
	if (delta > 0 && step_period(e, TICK_NSEC, delta) && !begin_counting_up(e))
		local64_set(&e->hw.period_left, 0);
	e->pmu->start(&e->pub, delta > 0 ? PERF_EF_RELOAD : 0);
}

static void follow_rates(struct pe_slot *slot, struct pmu **paused)
{
	struct pe_event *e;

	list_for_each_entry(e, &slot->freq, freq_entry)
		follow_rate(e, paused);
}

static void serve_tick(struct pe_ctx *ctx, bool release)
{
	struct pmu *paused = NULL;
	struct pe_slot *slot;

	if (release)
		release_throttled(ctx, &paused);
	follow_rates(&ctx->any, &paused);
	if (ctx->here)
		follow_rates(ctx->here, &paused);
	hlist_for_each_entry(slot, &ctx->entered, entered)
		follow_rates(slot, &paused);
	pause_pmu(&paused, NULL);
}

/**
 * pe_tick_freq() - the tick's work on one context
 * @ctx: CPU context of this CPU, or context of the current task
 * @release: something was throttled on this CPU since the last tick
 *
 * Interrupts off.  Costs one look at a number when there is nothing to do.
 */
void pe_tick_freq(struct pe_ctx *ctx, bool release)
{
	lockdep_assert_irqs_disabled();
	/* An event that comes at this moment is served by the next tick. */
	if (!release && !READ_ONCE(ctx->nr_freq))
		return;

	raw_spin_lock(&ctx->lock);
	if (ctx->oncpu == smp_processor_id())
		serve_tick(ctx, release);
	raw_spin_unlock(&ctx->lock);
}
