// SPDX-License-Identifier: GPL-2.0
/*
 * Events join and leave groups and contexts, are enabled and disabled.
 *
 * All functions here run under ctx->lock with irqs off.  For passive groups that is all, on any
 * CPU.  A group with an active member has to be scheduled; for it they run on the CPU where the
 * context is in (with that CPU's context locked), or anywhere while it is in nowhere.
 *
 * Whether a group is passive is derived: leader->nr_to_schedule counts those that must be
 * scheduled.  It changes when a member joins or leaves:
 *
 *	passive -> scheduled	the first active member joins: members stop, the leader is queued
 *	scheduled -> passive	the last active member leaves: the leader is unqueued, members
 *				count again if they are enabled
 *
 * Of a group that is shown in samples (leader->samples_group) passive members, too, join and leave
 * on the CPU where the context is in, or while it is in nowhere: see pe_samples_group().
 *
 * When a leader leaves, each sibling becomes a group of its own; those that cannot lead
 * (PERF_EV_CAP_SIBLING) end in ERROR.
 *
 * A member that acts on the AUX area of its leader (e->aux_event) loses it when either of the two
 * leaves the group, and if it was the leader, ends in ERROR as well; enabling it makes it a plain
 * event.  The leader is withdrawn before it is freed, so the pointer needs no reference.  It
 * changes while the group is off the PMU, under ctx->lock on its CPU, where NMIs read it.
 *
 * A group with hardware members is scheduled by their PMU, other groups by the leader's: e->pmu_ctx
 * of all members is that of the PMU.  It changes when the first hardware member joins or the
 * last one leaves.  A passive group, and an event that leaves, has those of its own PMUs, so
 * nobody depends on a PMU without an event of it in the group.
 */

#include "sched.h"
#include "../ext.h"

/* Is the group's slot in on this CPU, so that the group can be scheduled now? */
static bool eligible_here(const struct pe_event *leader)
{
	return pe_slot_is_in(leader->slot);
}

static void enqueue(struct pe_event *leader)
{
	struct pe_ctx *ctx = pe_ctx(leader);
	struct pe_pmu_ctx *pmu_ctx = pe_pmu_ctx(leader);
	struct pe_lane *lane = pe_pmu_ctx_lane(pmu_ctx, leader->slot);
	bool first = !pmu_ctx->nr_groups;

	if (unlikely(leader->parked))
		return;
	pe_assert_schedulable(ctx);
	group_queue_append(&lane->queue[pe_class_of(leader)], &leader->queue, ctx->next_seq++);
	leader->queued = true;
	pmu_ctx->nr_groups++;
	WRITE_ONCE(ctx->nr_groups, ctx->nr_groups + 1);	/* pe_ctx_enter_current() peeks */
	/* The switch that brought the context in passed over a PMU context without groups. */
	if (first && ctx->task && ctx->oncpu >= 0)
		pe_cpc(pmu_ctx->pmu)->task_pmu_ctx = pmu_ctx;
}

static void dequeue(struct pe_event *leader)
{
	struct pe_ctx *ctx = pe_ctx(leader);
	struct pe_pmu_ctx *pmu_ctx = pe_pmu_ctx(leader);

	if (!leader->queued)
		return;
	pe_assert_schedulable(ctx);
	group_queue_remove(&leader->queue);
	leader->queued = false;
	WRITE_ONCE(ctx->nr_groups, ctx->nr_groups - 1);
	if (!--pmu_ctx->nr_groups) {
		pmu_ctx->starved = false;
		if (ctx->task && ctx->oncpu >= 0)
			pe_cpc(pmu_ctx->pmu)->task_pmu_ctx = NULL;
	}
}

/* Reserved before the event was attached, like its group's. */
static struct perf_event_pmu_context *own_pmu_ctx(struct pe_event *e)
{
	return &pe_find_pmu_ctx(pe_ctx(e), e->pmu)->pub;
}

static void break_up(struct pe_event *leader)
{
	struct pe_event *m;

	pe_for_each_member(m, leader)
		m->pmu_ctx = own_pmu_ctx(m);
}

/* Which PMU context schedules a group that is not passive? */
static struct perf_event_pmu_context *host_pmu_ctx(struct pe_event *leader)
{
	struct pe_event *m;

	pe_for_each_member(m, leader)
		if (!is_software_event(&m->pub))
			return own_pmu_ctx(m);
	return own_pmu_ctx(leader);
}

static void go_to_pmu_ctx(struct pe_event *leader, struct perf_event_pmu_context *pmu_ctx)
{
	struct pe_event *m;

	pe_assert_schedulable(pe_ctx(leader));
	pe_for_each_member(m, leader)
		m->pmu_ctx = pmu_ctx;
}

static void admit_if_possible(struct pe_event *leader, u64 now)
{
	if (leader->state == PERF_EVENT_STATE_INACTIVE && !leader->parked && eligible_here(leader))
		pe_group_admit(leader, now);
}

static void passive_start(struct pe_event *e, u64 now)
{
	lockdep_assert_held(&pe_ctx(e)->lock);
	/* Turns of sets would end it at each hit: it ends with the tick. */
	if (e->hw.interrupts == PE_THROTTLED && !pe_in_ring(pe_leader(e)))
		pe_throttle_expires(e);
	/* BPF output asks for it.  Events of tasks and cgroups that get some are not passive. */
	WRITE_ONCE(e->oncpu, pe_ctx(e)->task ? -1 : e->cpu);
	/* Hits on another CPU pass over the event until its period is set. */
	e->pmu->add(&e->pub, PERF_EF_START);
	pe_set_state(e, PERF_EVENT_STATE_ACTIVE, now);
	pe_freq_begin(e);
	perf_event_update_userpage(&e->pub);
}

/* @next: OFF, or INACTIVE for a member that goes on when its leader does. */
static void passive_stop(struct pe_event *e, enum perf_event_state next, u64 now)
{
	lockdep_assert_held(&pe_ctx(e)->lock);
	/* As for scheduled events: the irq_work of the last overflow may come too late. */
	if (unlikely(READ_ONCE(e->pending_disable)) && pe_disable_due(e))
		next = PERF_EVENT_STATE_OFF;
	e->pmu->del(&e->pub, 0);
	WRITE_ONCE(e->oncpu, -1);
	pe_freq_end(e);
	pe_set_state(e, next, now);
}

/* Members of a passive group count while they and their leader are enabled. */
static void passive_group_settle(struct pe_event *leader, u64 now)
{
	bool on = leader->state >= PERF_EVENT_STATE_INACTIVE && !leader->parked;
	struct pe_event *m;

	pe_for_each_member(m, leader) {
		if (m->state == PERF_EVENT_STATE_ACTIVE && !on)
			passive_stop(m, PERF_EVENT_STATE_INACTIVE, now);
		else if (m->state == PERF_EVENT_STATE_INACTIVE && on)
			passive_start(m, now);
	}
}

static void passive_group_stop(struct pe_event *leader, u64 now)
{
	struct pe_event *m;

	pe_for_each_member(m, leader)
		if (m->state == PERF_EVENT_STATE_ACTIVE)
			passive_stop(m, PERF_EVENT_STATE_INACTIVE, now);
}

static void join(struct pe_event *leader, struct pe_event *e, u64 now)
{
	bool was_passive = pe_group_passive(leader);
	bool passive = pe_passive_in_group(e, leader);

	if (!was_passive || !passive)
		pe_assert_schedulable(pe_ctx(leader));

	if (was_passive && !passive) {
		passive_group_stop(leader, now);
		go_to_pmu_ctx(leader, e->pmu_ctx);
	} else if (!was_passive && !e->passive && pe_pmu_ctx(e) != pe_pmu_ctx(leader)) {
		/* A group of software PMUs, parked or not, moves to the newcomer's hardware. */
		pe_group_out(leader, now);
		dequeue(leader);
		go_to_pmu_ctx(leader, e->pmu_ctx);
	} else if (!was_passive) {
		pe_group_out(leader, now);
	}

	if (pe_needs_tracer(e))
		e->aux_event = &leader->pub;
	list_add_tail(&e->sibling_list, &leader->sibling_list);
	leader->nr_siblings++;
	leader->nr_to_schedule += !passive;
	leader->samples_group |= pe_samples_group(e);
	pe_times_sync(e, now);

	if (pe_group_passive(leader)) {
		passive_group_settle(leader, now);
		return;
	}
	if (!leader->queued)
		enqueue(leader);
	admit_if_possible(leader, now);
}

/* Does it count for its group only? */
static bool cannot_lead(struct pe_event *e)
{
	return pe_needs_tracer(e) || e->event_caps & PERF_EV_CAP_SIBLING;
}

/**
 * pe_install() - add an event to its context and group, and start it if it is enabled
 * @e: a new event: ctx, pmu_ctx and group_leader are set, what it needs is reserved
 * @now: pe_now()
 *
 * The leader of a sibling is still there: the opener has looked, or fork has just attached it, and
 * a detaching task takes the ctx->mutex that they hold.
 */
void pe_install(struct pe_event *e, u64 now)
{
	struct pe_event *leader = pe_leader(e);

	pe_ctx_add(pe_ctx(e), e);
	e->attach_state |= PERF_ATTACH_GROUP;
	if (leader != e) {
		join(leader, e, now);
		return;
	}

	e->nr_to_schedule = !e->passive;
	e->samples_group = pe_samples_group(e);
	if (e->passive && e->state == PERF_EVENT_STATE_INACTIVE) {
		passive_start(e, now);
		return;
	}
	pe_times_sync(e, now);
	if (e->passive)
		return;
	enqueue(e);
	admit_if_possible(e, now);
}

/* Stop counting: only @e if it is a sibling, its whole group if it leads. @e is about to be OFF. */
static void stop(struct pe_event *e, u64 now)
{
	if (pe_is_passive(e)) {
		if (e->state == PERF_EVENT_STATE_ACTIVE)
			passive_stop(e, PERF_EVENT_STATE_OFF, now);
		if (pe_is_leader(e) && e->nr_siblings)
			passive_group_stop(e, now);
	} else if (pe_is_leader(e)) {
		pe_group_out(e, now);
	} else if (e->state == PERF_EVENT_STATE_ACTIVE) {
		pe_member_out(e, now);
	}
}

static void promote(struct pe_event *e, u64 now)
{
	e->aux_event = NULL;
	list_del_init(&e->sibling_list);
	e->group_leader = &e->pub;
	e->nr_to_schedule = !e->passive;
	e->samples_group = pe_samples_group(e);
	pe_times_sync(e, now);

	if (!(e->attach_state & PERF_ATTACH_CONTEXT))
		return;		/* its task is gone */
	e->pmu_ctx = own_pmu_ctx(e);
	if (cannot_lead(e) && e->state > PERF_EVENT_STATE_ERROR)
		pe_set_state(e, PERF_EVENT_STATE_ERROR, now);
	if (e->passive) {
		passive_group_settle(e, now);
	} else {
		enqueue(e);
		admit_if_possible(e, now);
	}
}

static void leave_as_leader(struct pe_event *leader, u64 now)
{
	struct pe_event *s;

	dequeue(leader);
	while (!list_empty(&leader->sibling_list)) {
		s = pe(list_first_entry(&leader->sibling_list, struct perf_event, sibling_list));
		leader->nr_siblings--;
		promote(s, now);
	}
	leader->nr_to_schedule = 0;
}

static void leave_as_sibling(struct pe_event *e, u64 now)
{
	struct pe_event *leader = pe_leader(e);
	bool passive = pe_passive_in_group(e, leader);
	/* A sample that shows the group must not see it half changed, in an NMI of a member. */
	bool shown = leader->samples_group && leader->queued;
	bool was_on = leader->state == PERF_EVENT_STATE_ACTIVE;

	if (shown)
		pe_group_out(leader, now);
	e->aux_event = NULL;
	list_del_init(&e->sibling_list);
	leader->nr_siblings--;
	leader->nr_to_schedule -= !passive;
	e->group_leader = &e->pub;
	pe_times_sync(e, now);
	if (!(leader->attach_state & PERF_ATTACH_CONTEXT))
		return;
	if (!passive && pe_group_passive(leader)) {
		/* What remains needs no scheduling. */
		pe_group_out(leader, now);
		dequeue(leader);
		break_up(leader);
		passive_group_settle(leader, now);
	} else if (!passive && leader->pmu_ctx != host_pmu_ctx(leader)) {
		/* The last one of the hardware left; clocks that sample remain. */
		pe_group_out(leader, now);
		dequeue(leader);
		go_to_pmu_ctx(leader, host_pmu_ctx(leader));
		enqueue(leader);
		admit_if_possible(leader, now);
	} else if (shown && was_on && leader->state == PERF_EVENT_STATE_INACTIVE) {
		pe_group_readmit(leader, now);
	}
}

static void leave_group(struct pe_event *e, u64 now)
{
	if (!(e->attach_state & PERF_ATTACH_GROUP))
		return;
	if (pe_is_leader(e))
		leave_as_leader(e, now);
	else
		leave_as_sibling(e, now);
	e->attach_state &= ~PERF_ATTACH_GROUP;
}

/**
 * pe_withdraw() - the one way out of a context: close, exit, exec, error unwinding
 * @e: an event that was attached
 * @how: what becomes of its place in the group
 * @now: pe_now()
 *
 * May be called again, to leave the group or for nothing.
 * Leaves @e OFF or in an error state, not counting, in no list of its context.
 */
void pe_withdraw(struct pe_event *e, enum pe_withdrawal how, u64 now)
{
	bool attached = e->attach_state & PERF_ATTACH_CONTEXT;

	lockdep_assert_held(&pe_ctx(e)->lock);
	if (attached) {
		pe_set_withdraw(e, now);
		stop(e, now);
	}
	if (how == PE_LEAVE_GROUP)
		leave_group(e, now);
	if (!attached)
		return;
	dequeue(e);
	if (e->state >= PERF_EVENT_STATE_INACTIVE)
		pe_set_state(e, PERF_EVENT_STATE_OFF, now);
	pe_ctx_remove(pe_ctx(e), e, now);
	e->pmu_ctx = own_pmu_ctx(e);
}

/* A group stops counting, and stays enabled and in its queue. */
static void group_stop(struct pe_event *leader, u64 now)
{
	struct pe_event *m;

	pe_assert_schedulable(pe_ctx(leader));
	if (pe_group_passive(leader))
		passive_group_stop(leader, now);
	else
		pe_group_out(leader, now);
	pe_for_each_member(m, leader)
		perf_event_update_userpage(&m->pub);
}

/**
 * pe_group_park() - a group stops, and waits in no queue until it is unparked
 * @leader: its leader
 * @now: pe_now()
 */
void pe_group_park(struct pe_event *leader, u64 now)
{
	pe_assert_schedulable(pe_ctx(leader));
	group_stop(leader, now);
	leader->parked = true;
	dequeue(leader);
}

/**
 * pe_group_give_place() - a group stops and waits in no queue, another one that did so goes on
 * @from: leader of the one
 * @to: leader of the other one, parked; in the same slot, flexible like the first
 * @now: pe_now()
 *
 * Where one PMU schedules both, the one takes the place of the other in the queue, and on the PMU:
 * groups that relieve each other have their share of it together, however often they do.
 */
void pe_group_give_place(struct pe_event *from, struct pe_event *to, u64 now)
{
	bool was_on = !list_empty(&from->running_entry);

	pe_assert_schedulable(pe_ctx(from));
	group_stop(from, now);
	from->parked = true;
	to->parked = false;
	if (from->queued && !pe_group_passive(to) && pe_pmu_ctx(from) == pe_pmu_ctx(to)) {
		group_queue_replace(&from->queue, &to->queue);
		from->queued = false;
		to->queued = true;
		if (was_on && to->state == PERF_EVENT_STATE_INACTIVE)
			pe_group_readmit(to, now);
		else
			admit_if_possible(to, now);
		return;
	}
	dequeue(from);
	pe_group_unpark(to, now);
}

/**
 * pe_group_unpark() - a group that waited in no queue is one like others
 * @leader: its leader, parked
 * @now: pe_now()
 */
void pe_group_unpark(struct pe_event *leader, u64 now)
{
	pe_assert_schedulable(pe_ctx(leader));
	leader->parked = false;
	if (pe_group_passive(leader)) {
		passive_group_settle(leader, now);
		return;
	}
	enqueue(leader);
	admit_if_possible(leader, now);
}

/**
 * pe_group_take() - take a group out of the context of a CPU, to bring it to another one
 * @leader: its leader, not passive
 * @now: pe_now()
 *
 * Members keep their states, their clocks stand still.  A set leaves its ring, which is of one
 * context; the set that gets its turn may be taken next.
 */
void pe_group_take(struct pe_event *leader, u64 now)
{
	struct pe_event *m;

	WARN_ON_ONCE(pe_group_passive(leader));
	pe_assert_schedulable(pe_ctx(leader));
	pe_set_withdraw(leader, now);
	pe_group_out(leader, now);
	dequeue(leader);
	pe_for_each_member(m, leader) {
		pe_times_freeze(m, now);
		pe_ctx_remove(pe_ctx(m), m, now);
	}
}

/**
 * pe_group_bring() - the opposite
 * @leader: its leader; ctx, cpu and pmu_ctx of all members are those of the new place, and a grace
 *	period has passed since they were taken
 * @now: pe_now()
 */
void pe_group_bring(struct pe_event *leader, u64 now)
{
	struct pe_event *m;

	pe_for_each_member(m, leader)
		pe_ctx_add(pe_ctx(m), m);
	pe_for_each_member(m, leader)
		pe_times_sync(m, now);
	enqueue(leader);
	admit_if_possible(leader, now);
}

/**
 * pe_enable_locked() - enable an event
 * @e: an attached event
 * @now: pe_now()
 */
void pe_enable_locked(struct pe_event *e, u64 now)
{
	struct pe_event *leader = pe_leader(e);

	lockdep_assert_held(&pe_ctx(e)->lock);
	if (!(e->attach_state & PERF_ATTACH_CONTEXT) ||
	    e->state >= PERF_EVENT_STATE_INACTIVE || e->state < PERF_EVENT_STATE_ERROR)
		return;
	if (e->state == PERF_EVENT_STATE_ERROR && leader == e &&
	    e->event_caps & PERF_EV_CAP_SIBLING)
		return;		/* cannot lead, see promote() */

	/* Nobody else starts with it, and it can. */
	if (pe_group_passive(leader) && !leader->parked &&
	    (leader == e ? !e->nr_siblings : leader->state >= PERF_EVENT_STATE_INACTIVE)) {
		passive_start(e, now);
		return;
	}
	pe_set_state(e, PERF_EVENT_STATE_INACTIVE, now);
	if (pe_group_passive(leader)) {
		passive_group_settle(leader, now);
		return;
	}
	if (leader != e) {
		if (leader->state != PERF_EVENT_STATE_ACTIVE)
			return;
		pe_group_out(leader, now);
	}
	admit_if_possible(leader, now);
}

/**
 * pe_enable_group_locked() - enable a leader and its siblings
 * @leader: an attached event that leads
 * @now: pe_now()
 *
 * The group comes off for the first sibling that is to join it and is tried again once, with all:
 * irqs are off, and a group has as many members as its owner has descriptors.
 */
void pe_enable_group_locked(struct pe_event *leader, u64 now)
{
	bool was_on = !list_empty(&leader->running_entry);
	struct pe_event *m;

	if (pe_group_passive(leader)) {
		pe_for_each_member(m, leader)
			pe_enable_locked(m, now);
		return;
	}
	pe_for_each_sibling(m, leader) {
		if (m->state < PERF_EVENT_STATE_INACTIVE)
			pe_group_out(leader, now);
		pe_enable_locked(m, now);
	}
	if (leader->state < PERF_EVENT_STATE_INACTIVE)
		pe_enable_locked(leader, now);
	else if (was_on && list_empty(&leader->running_entry))
		admit_if_possible(leader, now);
}

/**
 * pe_disable_locked() - disable an event; a leader takes its siblings along
 * @e: an attached event
 * @now: pe_now()
 */
void pe_disable_locked(struct pe_event *e, u64 now)
{
	struct pe_event *m;

	lockdep_assert_held(&pe_ctx(e)->lock);
	if (e->state < PERF_EVENT_STATE_INACTIVE)
		return;
	stop(e, now);
	/* A pending disable may have turned it OFF already. */
	if (e->state >= PERF_EVENT_STATE_INACTIVE)
		pe_set_state(e, PERF_EVENT_STATE_OFF, now);

	/* For scheduled events their drivers do this. */
	if (!pe_is_passive(e))
		return;
	if (!pe_is_leader(e))
		perf_event_update_userpage(&e->pub);
	else
		pe_for_each_member(m, e)
			perf_event_update_userpage(&m->pub);
}
