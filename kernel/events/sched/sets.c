// SPDX-License-Identifier: GPL-2.0
/*
 * Event sets: groups that take turns (PERF_EXT_IOC_SET_JOIN).
 *
 * The sets of a ring are ordinary groups of one slot.  One of them has its turn: it is scheduled,
 * or counts, as any other group.  The others are parked: enabled perhaps, but in no queue, so that
 * nothing that schedules, switches or rotates groups sees them.  A parked group has
 *
 *	leader->parked		no queue takes it, and no passive member starts
 *	states OFF, INACTIVE	its enabled time goes on, its running time stands
 *
 * and ENABLE, DISABLE, new members and members that leave do to it what they do to a group whose
 * task is away.  A ring is a circle of its sets, and nothing else: it has no object of its own, and
 * ends when the last set leaves.  At every moment exactly one of them is not parked.
 *
 * A turn ends by a trigger (sources/trigger.c), by SET_SELECT, or because the set leaves: closed,
 * its PMU goes.  A trigger gives it to the next set that is enabled.  A set that is disabled in its
 * turn keeps it, as one that is stopped by a notification does.  When the task exits, or a target
 * of a session is detached, all sets leave, and no other one has a turn any more.
 *
 * All here runs under ctx->lock on ctx->oncpu, or while that is -1, as for active groups: a passive
 * group may be followed by one that is not.  The overflow that pulls a trigger only notes it, on
 * the event's CPU; whatever ends or begins the turn in between makes the note void, under the same
 * lock.  Interrupts are off, hence the limit for the sets of a ring.
 */

#include "sched.h"
#include "../ext.h"

static u64 enabled_time(const struct pe_set *set, u64 now)
{
	return pe_times_now(set->leader, now).enabled;
}

/**
 * pe_set_active_time() - how long the leader of a set was enabled during its turns
 * @set: of a ring
 * @now: pe_now()
 *
 * Under ctx->lock.  Return: ns.
 */
u64 pe_set_active_time(const struct pe_set *set, u64 now)
{
	return set->time + (set->leader->parked ? 0 : enabled_time(set, now) - set->began);
}

/**
 * pe_set_ring() - all sets of a ring
 * @set: one of them
 * @sets: they, in ascending order; room for PE_MOST_SETS
 *
 * Under ctx->lock.  Return: how many.
 */
unsigned int pe_set_ring(struct pe_set *set, struct pe_set **sets)
{
	struct pe_set *first = set, *s;
	unsigned int nr = 0;

	list_for_each_entry(s, &set->ring, ring)
		if (s->number < first->number)
			first = s;
	sets[nr++] = first;
	list_for_each_entry(s, &first->ring, ring)
		sets[nr++] = s;
	return nr;
}

/* Triggers count from the beginning of the turn. */
static void arm_triggers(struct pe_event *leader)
{
	struct pe_trigger *trigger;
	struct pe_event *m;

	pe_for_each_member(m, leader) {
		trigger = pe_trigger(m);
		if (!trigger)
			continue;
		WRITE_ONCE(trigger->due, false);
		barrier();	/* see lockless.rst for an NMI between the two */
		WRITE_ONCE(trigger->left, trigger->threshold);
	}
}

/*
 * And so do their periods: no rest of one of an earlier turn makes this one shorter.  Where none is
 * left, add() begins a new one.
 */
static void begin_period(struct pe_event *e, const struct pe_trigger *trigger)
{
	s64 period = e->hw.last_period;

	if (!local64_read(&e->hw.period_left))
		return;
	/* Turns are not shorter than any timer may be. */
	if (trigger->timeout)
		period = max_t(u64, period, e->pmu->least_period(&e->pub));
	local64_set(&e->hw.period_left, trigger->by_hits ? -period : period);
}

static void begin_periods(struct pe_event *leader)
{
	struct pe_trigger *trigger;
	struct pe_event *m;

	pe_for_each_member(m, leader) {
		trigger = pe_trigger(m);
		if (trigger)
			begin_period(m, trigger);
	}
}

static void begin_turn(struct pe_set *set, u64 now)
{
	set->activations++;
	set->began = enabled_time(set, now);
	arm_triggers(set->leader);
}

static void hand_over(struct pe_set *from, struct pe_set *to, u64 now)
{
	from->time = pe_set_active_time(from, now);
	begin_periods(to->leader);
	begin_turn(to, now);
	pe_group_give_place(from->leader, to->leader, now);
}

/* The next set after this one whose leader is enabled, or NULL. */
static struct pe_set *next_enabled(struct pe_set *set)
{
	struct pe_set *s;

	list_for_each_entry(s, &set->ring, ring)
		if (s->leader->state >= PERF_EVENT_STATE_INACTIVE)
			return s;
	return NULL;
}

static struct pe_set *active_of(struct pe_set *set)
{
	struct pe_set *s;

	list_for_each_entry(s, &set->ring, ring)
		if (!s->leader->parked)
			return s;
	return set;
}

/**
 * pe_set_join() - a group becomes a set
 * @set: of its leader, in no ring; its number is set
 * @ring: a set of the ring; NULL: a new one, and this has the first turn
 * @now: pe_now()
 *
 * Return: 0; -EBUSY if the number is taken; -ENOSPC.
 */
int pe_set_join(struct pe_set *set, struct pe_set *ring, u64 now)
{
	struct pe_set *sets[PE_MOST_SETS], *before;
	unsigned int i, nr;

	pe_assert_schedulable(pe_ctx(set->leader));
	if (ring) {
		nr = pe_set_ring(ring, sets);
		before = sets[nr - 1];
		for (i = 0; i < nr; i++) {
			if (sets[i]->number == set->number)
				return -EBUSY;
			if (sets[i]->number < set->number)
				before = sets[i];
		}
		if (nr == PE_MOST_SETS)
			return -ENOSPC;
		list_add(&set->ring, &before->ring);
	}
	set->activations = 0;
	set->time = 0;
	set->by_timeout = 0;
	set->by_overflow = 0;
	WRITE_ONCE(set->joined, true);
	if (ring)
		pe_group_park(set->leader, now);
	else
		begin_turn(set, now);
	return 0;
}

/* Its account is closed.  The group stays parked, if it is now. */
static void take_off(struct pe_set *set, u64 now)
{
	set->time = pe_set_active_time(set, now);
	set->began = enabled_time(set, now);
	list_del_init(&set->ring);
	WRITE_ONCE(set->joined, false);
}

static void leave(struct pe_set *set, u64 now)
{
	struct pe_set *next = next_enabled(set);

	if (!next && !list_empty(&set->ring))
		next = list_next_entry(set, ring);
	/* In a context that is dead all are about to leave. */
	if (next && !set->leader->parked && !pe_ctx(set->leader)->dead)
		hand_over(set, next, now);
	take_off(set, now);
}

/**
 * pe_set_leave() - a set is a group like others again
 * @leader: its leader
 * @now: pe_now()
 */
void pe_set_leave(struct pe_event *leader, u64 now)
{
	pe_assert_schedulable(pe_ctx(leader));
	leave(&pe_ext(leader)->set, now);
	if (leader->parked)
		pe_group_unpark(leader, now);
}

/**
 * pe_set_end_ring() - all sets of a ring are about to leave their context
 * @set: one of them
 * @now: pe_now()
 *
 * Whoever waits does so until then, and nobody has another turn.
 */
void pe_set_end_ring(struct pe_set *set, u64 now)
{
	struct pe_set *sets[PE_MOST_SETS];
	unsigned int nr = pe_set_ring(set, sets);

	pe_assert_schedulable(pe_ctx(set->leader));
	while (nr--)
		take_off(sets[nr], now);
}

/**
 * pe_set_fold() - what happened to a set that has left is added to that of others
 * @from: it has left
 * @to: of the event that it is a copy of, whose family lock is held
 */
void pe_set_fold(const struct pe_set *from, struct pe_set *to)
{
	to->activations += from->activations;
	to->time += from->time;
	to->by_timeout += from->by_timeout;
	to->by_overflow += from->by_overflow;
}

/**
 * pe_set_withdraw() - an event is about to leave its context
 * @e: the event
 * @now: pe_now()
 *
 * If it leads a set, that leaves its ring.
 */
void pe_set_withdraw(struct pe_event *e, u64 now)
{
	if (likely(!pe_in_ring(e)))
		return;
	pe_assert_schedulable(pe_ctx(e));
	leave(&pe_ext(e)->set, now);
	e->parked = false;
}

/**
 * pe_set_select() - give the turn to a set, now
 * @ring: a set of the ring
 * @number: which one's turn it is to be; if it has it, its triggers count anew
 * @now: pe_now()
 *
 * Return: 0, or -EINVAL if there is none with this number.
 */
int pe_set_select(struct pe_set *ring, u16 number, u64 now)
{
	struct pe_set *sets[PE_MOST_SETS], *active = active_of(ring);
	unsigned int i, nr = pe_set_ring(ring, sets);

	pe_assert_schedulable(pe_ctx(ring->leader));
	for (i = 0; i < nr; i++) {
		if (sets[i]->number != number)
			continue;
		if (sets[i] == active)
			arm_triggers(active->leader);
		else
			hand_over(active, sets[i], now);
		return 0;
	}
	return -EINVAL;
}

/**
 * pe_turn_end_due() - an event has ended the turn of its set, if that has not ended meanwhile
 * @e: an event with a trigger
 * @now: pe_now()
 *
 * The set goes on where no other one is enabled.
 */
void pe_turn_end_due(struct pe_event *e, u64 now)
{
	struct pe_event *leader = pe_leader(e);
	struct pe_trigger *trigger = &pe_ext(e)->trigger;
	struct pe_set *set, *next;

	lockdep_assert_held(&pe_ctx(e)->lock);
	if (!READ_ONCE(trigger->due))
		return;
	/* No NMI sets it meanwhile: nothing is left to count down. */
	WRITE_ONCE(trigger->due, false);
	if (!pe_in_ring(leader) || leader->parked || pe_ctx(e)->dead)
		return;
	set = &pe_ext(leader)->set;
	next = next_enabled(set);
	if (!next) {
		arm_triggers(leader);
		return;
	}
	if (trigger->timeout)
		set->by_timeout++;
	else
		set->by_overflow++;
	hand_over(set, next, now);
}
