// SPDX-License-Identifier: GPL-2.0
/*
 * Times, states and counts of events.
 *
 * Clocks drive clocks: the context's runs while the task runs, the slot's while the task runs on
 * a CPU where the event is eligible.  An event's enabled clock follows the first as long as the
 * event is enabled, its running clock follows the second as long as the event is ACTIVE.  They
 * are started and stopped when the state changes and never touched in between.  That is why a
 * context switch starts and stops two or three clocks, whatever the number of passive events.
 *
 * pe_set_state() is the only writer of event->state once the event is attached.  It runs under
 * ctx->lock, and on the context's CPU if the event is scheduled there.  The readers pe_times_now()
 * and pe_count_now() may be in an NMI on that CPU: see struct pe_clock for the order of stores.
 */

#include "time.h"

local64_t pe_no_hits = LOCAL64_INIT(0);

/* A member of a group whose leader is disabled is as good as disabled. */
static enum perf_event_state effective_state(const struct pe_event *e)
{
	const struct pe_event *leader = pe_leader(e);

	return leader->state <= PERF_EVENT_STATE_OFF ? leader->state : e->state;
}

/* Clocks of different CPUs may disagree by a little; time never runs backwards for a reader. */
static u64 follow(const struct pe_clock *clock, u64 driver)
{
	unsigned int turns;
	u64 value, stood;

	do {
		turns = pe_clock_turns(clock);
		value = pe_clock_peek(clock, driver);
		stood = READ_ONCE(clock->time);
	} while (pe_clock_was_turned(clock, turns));
	/* Odd: the clock is being turned, and half of @stood may be new. */
	if (turns & 1)
		return value;
	return (s64)(value - stood) < 0 ? stood : value;
}

static __always_inline void steer(struct pe_clock *clock, bool run, const struct pe_clock *driver,
				  u64 now)
{
	u64 time;

	if (clock->running == run)
		return;
	time = pe_clock_read(driver, now);
	if (run)
		pe_clock_start(clock, time);
	else	/* when a reader would see it, not before it was started: see follow() */
		pe_clock_stop(clock, follow(clock, time) - clock->offset);
}

/**
 * pe_times_now() - enabled and running time of an event
 * @e: an attached event, or one that has left its context
 * @now: pe_now()
 *
 * Under ctx->lock, or on the CPU where @e counts in any context.
 */
struct pe_times pe_times_now(const struct pe_event *e, u64 now)
{
	return (struct pe_times) {
		.enabled = follow(&e->enabled, pe_clock_read(pe_enabled_driver(e), now)),
		.running = follow(&e->running, pe_clock_read(&e->slot->clock, now)),
	};
}

static __always_inline void follow_state(struct pe_event *e, u64 now)
{
	enum perf_event_state state = effective_state(e);

	steer(&e->enabled, state >= PERF_EVENT_STATE_INACTIVE, pe_enabled_driver(e), now);
	steer(&e->running, state >= PERF_EVENT_STATE_ACTIVE, &e->slot->clock, now);
	e->total_time_running = e->running.time;
}

/**
 * pe_times_sync() - let an event's clocks run as its state says
 * @e: an event with context and slot
 * @now: pe_now()
 *
 * Under ctx->lock.
 */
void pe_times_sync(struct pe_event *e, u64 now)
{
	follow_state(e, now);
}

/**
 * pe_times_freeze() - stop an event's clocks, whatever its state
 * @e: an event that leaves its context for another one; pe_times_sync() there lets them go on
 * @now: pe_now()
 *
 * Under ctx->lock.
 */
void pe_times_freeze(struct pe_event *e, u64 now)
{
	steer(&e->enabled, false, &pe_ctx(e)->clock, now);
	steer(&e->running, false, &e->slot->clock, now);
}

/* Which states may follow a state: bit AT(state). */
#define AT(state)	((state) - PERF_EVENT_STATE_DEAD)
#define ST(state)	BIT(AT(PERF_EVENT_STATE_##state))
static const u8 legal_next[] = {
	[AT(PERF_EVENT_STATE_DEAD)]	= 0,
	[AT(PERF_EVENT_STATE_REVOKED)]	= ST(DEAD),
	[AT(PERF_EVENT_STATE_EXIT)]	= ST(DEAD) | ST(REVOKED),
	[AT(PERF_EVENT_STATE_ERROR)]	= ST(DEAD) | ST(REVOKED) | ST(EXIT) | ST(OFF) |
					  ST(INACTIVE) | ST(ACTIVE),
	[AT(PERF_EVENT_STATE_OFF)]	= ST(DEAD) | ST(REVOKED) | ST(EXIT) | ST(ERROR) |
					  ST(INACTIVE) | ST(ACTIVE),
	[AT(PERF_EVENT_STATE_INACTIVE)]	= ST(DEAD) | ST(REVOKED) | ST(EXIT) | ST(ERROR) |
					  ST(OFF) | ST(ACTIVE),
	[AT(PERF_EVENT_STATE_ACTIVE)]	= ST(OFF) | ST(INACTIVE) | ST(ERROR),
};

/**
 * pe_set_state() - the one place where an attached event changes state
 * @e: the event
 * @state: its new state
 * @now: pe_now()
 *
 * Under ctx->lock; on the context's CPU when @e is in a scheduled group.
 */
void pe_set_state(struct pe_event *e, enum perf_event_state state, u64 now)
{
	bool crosses = (e->state < 0) != (state < 0);
	bool stands = e->state < 0 && state < 0;
	struct pe_event *m;

	lockdep_assert_held(&pe_ctx(e)->lock);
	if (e->state == state)
		return;
	WARN_ON_ONCE(!(legal_next[AT(e->state)] & BIT(AT(state))));

	WRITE_ONCE(e->state, state);
	if (stands)
		return;		/* and so do its clocks */
	follow_state(e, now);
	/* Siblings' times depend on whether the leader is enabled. */
	if (crosses && pe_is_leader(e) && e->nr_siblings)
		pe_for_each_member(m, e)
			pe_times_sync(m, now);
}

/**
 * pe_count_now() - the count of one event, children not included
 * @e: the event
 * @now: pe_now()
 *
 * A clock that only counts never runs code for that: its count is what the slot's clock advanced.
 * Nor do events that count all hits of their slot: see time.h.
 * Under ctx->lock, or on the CPU where @e counts in any context.
 */
u64 pe_count_now(struct pe_event *e, u64 now)
{
	if (e->counts_hits)
		return pe_hits_count(e);
	if (e->counts_time)
		return pe_clock_count(e, now);
	return local64_read(&e->count);
}
