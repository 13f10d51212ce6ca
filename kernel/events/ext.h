/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ground: what an event has beyond the stock ABI, see <uapi/linux/perf_event_ext.h>.
 *
 * Letters as in types.h, and  o: like l, and by overflows on the event's CPU.  One of an NMI may
 * come in the middle of another: periods are not divided there, and notify.c counts by cmpxchg.
 */
#ifndef _KERNEL_EVENTS_EXT_H
#define _KERNEL_EVENTS_EXT_H

#include "types.h"

/* Random numbers of periods are 1 ... PE_PERIOD_SEEDS - 1, the field of the generator less 0. */
#define PE_PERIOD_SEEDS		((u32)S32_MAX)

/**
 * struct pe_period_rule - how long the periods are; see struct perf_ext_periods
 * @shorter: base of most periods
 * @longer: base of every @long_every-th
 * @initial: base of the first one
 * @long_every: 0: never
 * @mask: of the random number that is added
 * @seed: the first random number
 *
 * None of the three bases is 0.
 */
struct pe_period_rule {
	u64	shorter;
	u64	longer;
	u64	initial;
	u32	long_every;
	u32	mask;
	u32	seed;
};

/**
 * struct pe_periods - the periods of an event that follow a rule; see sources/periods.c
 * @rule: the rule								l
 * @on: it is in force								l
 * @by_hits: software counts the hits, and divides them into periods		l
 * @dividing: a hit is being divided on this CPU				c
 * @random: the next random number						o
 * @to_long: periods to draw until a long one					o
 * @drawn: periods drawn							o
 * @ended: periods that are over						o
 */
struct pe_periods {
	struct pe_period_rule	rule;
	bool			on;
	bool			by_hits;
	bool			dividing;
	u32			random;
	u32			to_long;
	u64			drawn;
	u64			ended;
};

/**
 * struct pe_masks - members of a group, by their pe_ext.bit
 * @record: those that samples show
 * @reset: those whose count samples begin anew
 */
struct pe_masks {
	u64	record;
	u64	reset;
};

/**
 * struct pe_notify - the reader is told of every n-th overflow
 * @every: n; 0: off								l
 * @stop: and the group stops							l
 * @hold: and the thread waits							l
 * @until: overflows until the next time						o
 */
struct pe_notify {
	u32	every;
	bool	stop;
	bool	hold;
	u32	until;
};

/**
 * struct pe_hold - the thread of an event waits; see sources/hold.c
 * @e: the event								I
 * @work: its task work, which the thread waits in
 * @queued: HOLD_*: that is under way, from the overflow to the end of the wait	c
 * @from: @released at the overflow						c
 * @released: so many times it has been let go
 * @wq: where it waits
 */
struct pe_hold {
	struct pe_event		*e;
	struct callback_head	work;
	unsigned int		queued;
	int			from;
	atomic_t		released;
	wait_queue_head_t	wq;
};

/**
 * struct pe_trigger - overflows of an event end the turn of its set
 * @threshold: so many of them; 0: none						l
 * @left: until then; 0: it is to end							o
 * @due: the turn is to end, and pe_event.pending_disable_irq will do so		o
 * @timeout: the event is a clock							l
 * @by_hits: as in struct pe_periods							l
 */
struct pe_trigger {
	u32	threshold;
	u32	left;
	bool	due;
	bool	timeout;
	bool	by_hits;
};

/**
 * struct pe_set - a group as a set of a ring; see sched/sets.c
 * @ring: the other sets of its ring, a circle						L
 * @leader: of the group								I
 * @joined: it is in a ring								M
 * @number: the sets of the circle ascend, but for where it closes			L
 * @activations: how often its turn has come						L
 * @time: how long the leader was enabled in turns that have ended, ns			L
 * @began: for how long it had been enabled when this turn began			L
 * @by_timeout: turns that a clock has ended						L
 * @by_overflow: turns that overflows have ended					L
 */
struct pe_set {
	struct list_head	ring;
	struct pe_event		*leader;
	bool			joined;
	u16			number;
	u64			activations;
	u64			time;
	u64			began;
	u64			by_timeout;
	u64			by_overflow;
};

/**
 * struct pe_ext - what few events have: made when it is first asked for, freed with the event
 * @number: of a copy, among those of its parent that have one of these		I
 * @copies: of an opened event: so many copies have one				F
 * @gen: of an opened event: changes so far; of a copy: those that it was made with	F
 * @periods: see there
 * @bit: of an opened event: what it is called in the masks of its group; 0: nothing	M
 * @shown: its count when a sample has reset it last				any context
 * @masks: those in force, one of @masks_pair, or NULL				l
 * @masks_pair: see there
 * @notify: see there
 * @hold: see there
 * @trigger: see there
 * @set: of a leader: see there
 * @instance: of an opened event: what gets its samples in place of the buffer, or NULL
 *										R, ctx->mutex
 */
struct pe_ext {
	u32			number;
	u32			copies;
	unsigned int		gen;
	struct pe_periods	periods;
	u64			bit;
	atomic64_t		shown;
	struct pe_masks		*masks;
	struct pe_masks		masks_pair[2];
	struct pe_notify	notify;
	struct pe_hold		hold;
	struct pe_trigger	trigger;
	struct pe_set		set;
	struct pe_instance __rcu *instance;
};

#ifdef CONFIG_PERF_EVENTS_EXT
/* Any context: an event keeps it. */
static inline struct pe_ext *pe_ext(const struct pe_event *e)
{
	return READ_ONCE(e->ext);
}
#else
static inline struct pe_ext *pe_ext(const struct pe_event *e)
{
	return NULL;
}
#endif

/* The periods of an event, if they follow a rule, else NULL.  Any context. */
static inline struct pe_periods *pe_periods(const struct pe_event *e)
{
	struct pe_ext *ext = pe_ext(e);

	return unlikely(ext) && READ_ONCE(ext->periods.on) ? &ext->periods : NULL;
}

/* The event, which does not count, goes on with fixed periods. */
static inline void pe_periods_end(struct pe_event *e)
{
	struct pe_periods *p = pe_periods(e);

	if (p)
		WRITE_ONCE(p->on, false);
}

/* The masks of an event, or NULL.  Any context. */
static inline const struct pe_masks *pe_masks(const struct pe_event *e)
{
	struct pe_ext *ext = pe_ext(e);

	/* Acquire: what pe_masks_set() has filled in. */
	return unlikely(ext) ? smp_load_acquire(&ext->masks) : NULL;
}

/* The notification of an event, or NULL.  Any context. */
static inline struct pe_notify *pe_notify(const struct pe_event *e)
{
	struct pe_ext *ext = pe_ext(e);

	return unlikely(ext) && READ_ONCE(ext->notify.every) ? &ext->notify : NULL;
}

/* The trigger of an event, or NULL.  Any context. */
static inline struct pe_trigger *pe_trigger(const struct pe_event *e)
{
	struct pe_ext *ext = pe_ext(e);

	return unlikely(ext) && READ_ONCE(ext->trigger.threshold) ? &ext->trigger : NULL;
}

/* Do the samples of an event go to a format?  Any context. */
static inline bool pe_has_format(const struct pe_event *e)
{
	struct pe_ext *ext = pe_ext(e->sink);

	return unlikely(ext) && rcu_access_pointer(ext->instance);
}

/* Is the group a set of a ring? */
static inline bool pe_in_ring(const struct pe_event *leader)
{
	struct pe_ext *ext = pe_ext(leader);

	return unlikely(ext) && READ_ONCE(ext->set.joined);
}

/* Is the thread of an event held?  From the overflow on, until it is let go. */
static inline bool pe_holds(const struct pe_event *e)
{
	struct pe_hold *hold = pe_ext(e) ? &pe_ext(e)->hold : NULL;

	return hold && READ_ONCE(hold->queued) &&
	       atomic_read(&hold->released) == READ_ONCE(hold->from);
}

/* period_rule.c: pure */
u32 pe_period_random(u32 random);
u32 pe_period_seed_of_copy(u32 seed, u32 number);
void pe_period_begin(struct pe_periods *p);
u64 pe_period_draw(struct pe_periods *p);
bool pe_period_jitter(struct pe_period_rule *rule, u64 period, unsigned int percent);

#endif /* _KERNEL_EVENTS_EXT_H */
