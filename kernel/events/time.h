/* SPDX-License-Identifier: GPL-2.0 */
/* Layer 0: clocks of contexts and slots, and the times of events. */
#ifndef _KERNEL_EVENTS_TIME_H
#define _KERNEL_EVENTS_TIME_H

#include "types.h"

/**
 * pe_now() - the clock of all times in this subsystem
 *
 * Any context, NMI included.  Return: nanoseconds since an arbitrary start.
 */
static inline u64 pe_now(void)
{
	return local_clock();
}

/*
 * Where a CPU loads 64 bits in two steps, another CPU that stops a clock and starts it again could
 * change the word that is being read.  A reader looks whether the clock was turned meanwhile.  It
 * never waits: a writer that is at work is changing the word that pe_clock_peek() does not read.
 */
#ifdef CONFIG_64BIT
static inline unsigned int pe_clock_turns(const struct pe_clock *clock)
{
	return 0;
}

static inline bool pe_clock_was_turned(const struct pe_clock *clock, unsigned int turns)
{
	return false;
}

static inline void pe_clock_turn(struct pe_clock *clock) { }
static inline void pe_clock_turned(struct pe_clock *clock) { }
#else
static inline unsigned int pe_clock_turns(const struct pe_clock *clock)
{
	/* Before the clock. */
	return smp_load_acquire(&clock->turns);
}

static inline bool pe_clock_was_turned(const struct pe_clock *clock, unsigned int turns)
{
	smp_rmb();	/* after the clock; pairs with pe_clock_turn() */
	return unlikely(READ_ONCE(clock->turns) != turns);
}

static inline void pe_clock_turn(struct pe_clock *clock)
{
	WRITE_ONCE(clock->turns, clock->turns + 1);
	smp_wmb();	/* before the word that nobody reads now: pe_clock_was_turned() */
}

static inline void pe_clock_turned(struct pe_clock *clock)
{
	/* After the word, and which of the two counts. */
	smp_store_release(&clock->turns, clock->turns + 1);
}
#endif

/* For pe_clock_read(): what is read may be torn if the clock was turned meanwhile. */
static inline u64 pe_clock_peek(const struct pe_clock *clock, u64 now)
{
	/* Pairs with the stores of pe_clock_start() and pe_clock_stop(). */
	return smp_load_acquire(&clock->running) ? now + READ_ONCE(clock->offset) :
						   READ_ONCE(clock->time);
}

/**
 * pe_clock_read() - what a clock shows
 * @clock: the clock
 * @now: pe_now()
 *
 * Under ctx->lock, or on the CPU that runs the clock in any context: see struct pe_clock.
 */
static inline u64 pe_clock_read(const struct pe_clock *clock, u64 now)
{
	unsigned int turns;
	u64 time;

	do {
		turns = pe_clock_turns(clock);
		time = pe_clock_peek(clock, now);
	} while (pe_clock_was_turned(clock, turns));
	return time;
}

static inline void pe_clock_start(struct pe_clock *clock, u64 now)
{
	pe_clock_turn(clock);
	WRITE_ONCE(clock->offset, clock->time - now);
	/* A reader that sees it running must see its offset. */
	smp_store_release(&clock->running, true);
	pe_clock_turned(clock);
}

/* As pe_clock_stop(), where what it shall show is known. */
static inline void pe_clock_stop_at(struct pe_clock *clock, u64 time)
{
	pe_clock_turn(clock);
	WRITE_ONCE(clock->time, time);
	/* A reader that sees it stopped must see its time. */
	smp_store_release(&clock->running, false);
	pe_clock_turned(clock);
}

static inline void pe_clock_stop(struct pe_clock *clock, u64 now)
{
	pe_clock_stop_at(clock, now + clock->offset);
}

/* What drives e->enabled: a cgroup's event is enabled while the cgroup is in. */
static inline const struct pe_clock *pe_enabled_driver(const struct pe_event *e)
{
	return e->cgrp ? &e->slot->clock : &pe_ctx(e)->clock;
}

/**
 * struct pe_times - times of an event at one moment
 * @enabled: ns during which it was enabled (and its task ran)
 * @running: ns during which it counted
 */
struct pe_times {
	u64	enabled;
	u64	running;
};

struct pe_times pe_times_now(const struct pe_event *e, u64 now);
void pe_times_sync(struct pe_event *e, u64 now);
void pe_times_freeze(struct pe_event *e, u64 now);
void pe_set_state(struct pe_event *e, enum perf_event_state state, u64 now);
u64 pe_count_now(struct pe_event *e, u64 now);

/*
 * A software event that only counts (e->counts_hits) is not told of any hit: while it counts, it
 * shows by how much slot->sw[].nr has advanced.  hw.prev_count is what that was when the event
 * would have shown 0, hw.state tells whether it counts, as for any event of software.  Hits of both
 * modes are two numbers; neither goes back, so nor does their sum, at whatever moments another CPU
 * reads the two.
 *
 * pe_hits_begin() and pe_hits_end() run under ctx->lock, on any CPU for a passive event.  So do
 * those that read for user space.  Samples and programs read without it where the hits are added,
 * with irqs off: slot->sw[].nr stands still then, and a reader that sees the event counting sees
 * from where, one that sees it stopped sees its count.  But another CPU that is ending it may have
 * looked at slot->sw[].nr before the last hit: that one is in what is read here, and not in what is
 * counted in the end.
 */
extern local64_t pe_no_hits;	/* 0; not const: x86's 32-bit CPUs read it by cmpxchg8b */

/* @e has a slot, and is in no list of it.  What it excludes is nothing that ever changes. */
static inline void pe_hits_bind(struct pe_event *e)
{
	const local64_t *nr = e->slot->sw[e->attr.config].nr;

	e->hits[PE_USER] = e->plan.excludes & PE_EXCLUDES_USER ? &pe_no_hits : &nr[PE_USER];
	e->hits[PE_KERNEL] = e->plan.excludes & PE_EXCLUDES_KERNEL ? &pe_no_hits : &nr[PE_KERNEL];
}

static inline u64 pe_hits_of_slot(const struct pe_event *e)
{
	return local64_read(e->hits[PE_USER]) + local64_read(e->hits[PE_KERNEL]);
}

static inline void pe_hits_begin(struct pe_event *e)
{
	local64_set(&e->hw.prev_count, pe_hits_of_slot(e) - local64_read(&e->count));
	/* Pairs with pe_hits_count(). */
	smp_store_release(&e->hw.state, 0);
}

static inline void pe_hits_end(struct pe_event *e)
{
	if (e->hw.state & PERF_HES_STOPPED)
		return;
	local64_set(&e->count, pe_hits_of_slot(e) - local64_read(&e->hw.prev_count));
	/* Pairs with pe_hits_count(). */
	smp_store_release(&e->hw.state, PERF_HES_STOPPED);
}

/* Under ctx->lock, so that neither the state changes nor what it decides. */
static inline u64 pe_hits_count_locked(const struct pe_event *e)
{
	return e->hw.state & PERF_HES_STOPPED ?
	       local64_read(&e->count) : pe_hits_of_slot(e) - local64_read(&e->hw.prev_count);
}

static inline u64 pe_hits_count(const struct pe_event *e)
{
	/* Pairs with both of the above. */
	if (smp_load_acquire(&e->hw.state) & PERF_HES_STOPPED)
		return local64_read(&e->count);
	return pe_hits_of_slot(e) - local64_read(&e->hw.prev_count);
}

/*
 * A clock that only counts (e->counts_time) is the same with the slot's clock for the slot's hits:
 * hw.prev_count is what that showed when the event would have shown 0.  The readers are the same;
 * clock.c starts and stops.
 */
static inline u64 pe_clock_count(const struct pe_event *e, u64 now)
{
	/* Pairs with begin_counting() and stop(). */
	bool stopped = smp_load_acquire(&e->hw.state) & PERF_HES_STOPPED;
	u64 count, value;

	if (stopped)
		return local64_read(&e->count);
	value = pe_clock_read(&e->slot->clock, now) - local64_read(&e->hw.prev_count);
	/* A reader that sees the start after a stop sees the count of that. */
	smp_rmb();
	count = local64_read(&e->count);
	/* Started after @now, or by a CPU that is ahead. */
	return (s64)(value - count) > 0 ? value : count;
}

/*
 * The two steps of pe_set_state() that a group takes when it goes on the PMU and off again, under
 * the same conditions.  Its leader is enabled, or was when it went on; so nothing but the running
 * clock of the event changes, and that only if the leader has not stopped it already.
 */
static inline void pe_set_active(struct pe_event *e, u64 now)
{
	WRITE_ONCE(e->state, PERF_EVENT_STATE_ACTIVE);
	pe_clock_start(&e->running, pe_clock_read(&e->slot->clock, now));
}

static inline void pe_set_inactive(struct pe_event *e, u64 now)
{
	struct pe_clock *clock = &e->running;
	u64 value;

	WRITE_ONCE(e->state, PERF_EVENT_STATE_INACTIVE);
	if (!clock->running)
		return;
	value = pe_clock_read(&e->slot->clock, now) + clock->offset;
	/* Not before it was started, when clocks of CPUs disagree. */
	if ((s64)(value - clock->time) < 0)
		value = clock->time;
	pe_clock_stop_at(clock, value);
	e->total_time_running = value;
}

#endif /* _KERNEL_EVENTS_TIME_H */
