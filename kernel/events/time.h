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

/**
 * pe_clock_read() - what a clock shows
 * @clock: the clock
 * @now: pe_now()
 *
 * Under ctx->lock, or on the CPU that runs the clock in any context: see struct pe_clock.
 */
static inline u64 pe_clock_read(const struct pe_clock *clock, u64 now)
{
	/* Pairs with the stores of pe_clock_start() and pe_clock_stop(). */
	return smp_load_acquire(&clock->running) ? now + READ_ONCE(clock->offset) :
						   READ_ONCE(clock->time);
}

static inline void pe_clock_start(struct pe_clock *clock, u64 now)
{
	WRITE_ONCE(clock->offset, clock->time - now);
	/* Who sees it running must see its offset. */
	smp_store_release(&clock->running, true);
}

static inline void pe_clock_stop(struct pe_clock *clock, u64 now)
{
	WRITE_ONCE(clock->time, now + clock->offset);
	/* Who sees it stopped must see its time. */
	smp_store_release(&clock->running, false);
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

struct pe_times pe_times_now(const struct pevent *e, u64 now);
void pe_times_sync(struct pevent *e, u64 now);
void pe_times_freeze(struct pevent *e, u64 now);
void pe_set_state(struct pevent *e, enum perf_event_state state, u64 now);
u64 pe_count_now(struct pevent *e, u64 now);

/*
 * The two steps of pe_set_state() that a group takes when it goes on the PMU and off again, under
 * the same conditions.  Its leader is enabled, or was when it went on; so nothing but the running
 * clock of the event changes, and that only if the leader has not stopped it already.
 */
static inline void pe_set_active(struct pevent *e, u64 now)
{
	WRITE_ONCE(e->state, PERF_EVENT_STATE_ACTIVE);
	pe_clock_start(&e->running, pe_clock_read(&e->slot->clock, now));
}

static inline void pe_set_inactive(struct pevent *e, u64 now)
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
	WRITE_ONCE(clock->time, value);
	smp_store_release(&clock->running, false);	/* as pe_clock_stop() */
	e->total_time_running = value;
}

#endif /* _KERNEL_EVENTS_TIME_H */
