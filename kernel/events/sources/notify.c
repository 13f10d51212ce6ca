// SPDX-License-Identifier: GPL-2.0
/*
 * Notification: the reader is told of every n-th overflow of an event, and the event's group may
 * stop then until user space says RESTART (PERF_EXT_IOC_NOTIFY).
 *
 * An overflow stops the event itself at once, as the driver is told to, and disables it and its
 * leader by their irq_works, before the next instruction of user space: see pending.c.  The reader
 * may be on another CPU, and ask for RESTART before that has happened.  So RESTART does first what
 * is pending, where the event is; the works find nothing left to do.
 */
#include "sources.h"
#include "../ext.h"

/**
 * pe_notify_count() - one more overflow that makes a sample
 * @notify: of the event
 *
 * At the overflow; one of the same event may come in between, in an NMI.  Return: what is to be
 * told.
 */
enum pe_tell pe_notify_count(struct pe_notify *notify)
{
	u32 until = READ_ONCE(notify->until), next;

	do {
		next = until > 1 ? until - 1 : READ_ONCE(notify->every);
	} while (!try_cmpxchg(&notify->until, &until, next));
	return until > 1 ? PE_TELL_NOBODY : PE_TELL_ALL;
}

/**
 * pe_notify_stop() - an event and its group are off from now on, until RESTART
 * @e: the event
 *
 * At the overflow.  The caller has the event stopped at once.
 */
void pe_notify_stop(struct pe_event *e)
{
	perf_event_disable_inatomic(&e->pub);
	if (!pe_is_leader(e))
		perf_event_disable_inatomic(e->group_leader);
}

/**
 * pe_notify_now() - tell the reader, after the sample
 * @e: the event
 * @notify: its notification
 *
 * At the overflow.  The caller sends the signal.  Return: the event has to be stopped.
 */
bool pe_notify_now(struct pe_event *e, struct pe_notify *notify)
{
	struct perf_buffer *rb;

	/* The reader that is told may name the thread at once. */
	if (READ_ONCE(notify->hold))
		pe_hold(e);
	scoped_guard(rcu) {
		rb = rcu_dereference(e->sink->rb);
		if (rb)
			pe_tell_reader(e->sink, rb);
	}
	pe_format_tell(e);
	if (!READ_ONCE(notify->stop))
		return false;
	pe_notify_stop(e);
	return true;
}

/**
 * pe_notify_set() - the notification of an event
 * @e: the event; its context is locked where it is in, as for pe_call(), or nobody has seen it
 * @notify: NULL: none
 *
 * Overflows are counted from now on.
 */
void pe_notify_set(struct pe_event *e, const struct pe_notify *notify)
{
	struct pe_notify *own = &pe_ext(e)->notify;

	WRITE_ONCE(own->every, 0);
	barrier();	/* an NMI from here on finds none */
	if (!notify)
		return;
	own->stop = notify->stop;
	own->hold = notify->hold;
	own->until = notify->every;
	barrier();	/* all is there before it is in force */
	WRITE_ONCE(own->every, notify->every);
}

/* A stopped event has its period before it, whole: what the source counted since is forgotten. */
static void begin_period(struct pe_event *e)
{
	struct hw_perf_event *hw = &e->hw;
	bool by_hits = e->pmu->least_period == pe_software_least_period;

	/* 0: IOC_PERIOD has given it another one, which add() begins. */
	if (local64_read(&hw->period_left))
		local64_set(&hw->period_left, by_hits ? -hw->last_period : hw->last_period);
}

/**
 * pe_notify_restart() - an event goes on, with its leader, and so does its thread
 * @ctx: its context
 * @arg: the event
 *
 * For pe_call(), as an event that counts does so on ctx->oncpu only.  All in one step: an overflow
 * that comes next stops all of them again.  One in an NMI that finds the event on has come after
 * this, so whom it holds is not let go: only who was held before.  pe_hold_wake() follows.
 */
void pe_notify_restart(struct pe_ctx *ctx, void *arg)
{
	struct pe_event *e = arg, *leader = pe_leader(e);
	bool held = pe_holds(e);
	u64 now = pe_now();

	pe_pending_disable_due(ctx, e);
	if (leader != e)
		pe_pending_disable_due(ctx, leader);
	if (held || (pe_ext(e) && e->state < PERF_EVENT_STATE_INACTIVE))
		pe_hold_release(e);
	if (e->state == PERF_EVENT_STATE_OFF)
		begin_period(e);
	pe_enable_locked(e, now);
	if (leader != e)
		pe_enable_locked(leader, now);
}

/**
 * pe_notify_restart_group() - a group of a session goes on as a whole
 * @ctx: its context, as for pe_call()
 * @leader: its leader
 *
 * No member holds a thread.  An NMI may stop the group meanwhile: either that is done with here, or
 * none has been found off, and all of them stop after this.
 */
void pe_notify_restart_group(struct pe_ctx *ctx, struct pe_event *leader)
{
	u64 now = pe_now();
	bool off = false;
	struct pe_event *m;

	pe_for_each_member(m, leader) {
		pe_pending_disable_due(ctx, m);
		off |= m->state < PERF_EVENT_STATE_INACTIVE;
	}
	/* One on its way to another CPU is in no context. */
	if (!off || !(leader->attach_state & PERF_ATTACH_CONTEXT))
		return;
	/*
	 * The leader first.  What a sibling that overflows late then wants of it is done when this
	 * is over: all of them stop once more.
	 */
	pe_disable_locked(leader, now);
	pe_for_each_member(m, leader)
		if (m->state == PERF_EVENT_STATE_OFF && (pe_notify(m) || pe_has_format(m)))
			begin_period(m);
	pe_enable_group_locked(leader, now);
}
