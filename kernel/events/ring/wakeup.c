// SPDX-License-Identifier: GPL-2.0
/*
 * "There is something to read": a writer to a buffer has its reader woken, and the owner of the
 * event's file signalled.  Also "no more samples": the event is disabled soon.
 *
 * Owns pe_event.pending_wakeup and pending_kill, and sets pending_disable.  Any context may ask,
 * NMI included; an irq_work of the event does it soon after (sources/pending.c).
 *
 * rb->poll, what the next poll() will return, is set by every wakeup that is due.
 *
 * Most buffers have nobody asleep on them: readers look at data_head when it suits them.  So no
 * work is queued when no listener's wait queue has a waiter.  A signal owner, though, gets one
 * signal for each wakeup, always.  Barriers:
 *
 *   A  pe_queue_wakeup(): rb->poll was stored; is a task on a wait queue?
 *   B  poll() in abi/file.c: adds itself to the wait queue; atomic_xchg() of rb->poll
 *
 * B's xchg is a full barrier and A has smp_mb(): either A sees the waiter or B sees the bits.
 */
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/poll.h>

#include "ring.h"

/* With as many listeners nobody looks for a waiter: that costs more than the work. */
#define MOST_LISTENERS	8

static bool somebody_waits(struct pe_event *sink)
{
	struct perf_buffer *rb;
	struct pe_event *listener;
	int budget = MOST_LISTENERS;

	guard(rcu)();
	rb = rcu_dereference(sink->rb);
	if (!rb)
		return false;
	list_for_each_entry_rcu(listener, &rb->listeners, rb_entry) {
		/* A in the table above */
		if (waitqueue_active(&listener->waitq) || !--budget)
			return true;
	}
	return false;
}

static void queue_wakeup_work(struct pe_event *e)
{
	WRITE_ONCE(e->pending_wakeup, 1);
	irq_work_queue(&e->pending_irq);
}

/**
 * pe_queue_wakeup() - the reader of an event's buffer is due to be woken
 * @e: the event that wrote
 *
 * Any context, preemption off, rb->poll set.
 */
void pe_queue_wakeup(struct pe_event *e)
{
	struct pe_event *sink = e->sink;

	if (READ_ONCE(sink->fasync)) {
		/* An NMI may have made the last sample: its POLL_HUP stays. */
		cmpxchg(&e->pending_kill, 0, POLL_IN);
		queue_wakeup_work(e);
		return;
	}
	smp_mb();	/* A */
	if (somebody_waits(sink))
		queue_wakeup_work(e);
}

/**
 * pe_tell_reader() - there is something to read
 * @e: the event that wrote, or lost something
 * @rb: the buffer
 *
 * Any context, preemption off.
 */
void pe_tell_reader(struct pe_event *e, struct perf_buffer *rb)
{
	atomic_set(&rb->poll, (__force int)(EPOLLIN | EPOLLRDNORM));
	pe_queue_wakeup(e);
}

/**
 * pe_queue_signal() - the owner of an event's file wants a signal
 * @e: the event; pending_kill says which
 *
 * Any context, preemption off.
 */
void pe_queue_signal(struct pe_event *e)
{
	queue_wakeup_work(e);
}

/**
 * pe_wake() - wake the tasks that wait for an event's buffer, and send the signal that is due
 * @e: the event
 *
 * Interrupt or task context, not NMI.
 */
void pe_wake(struct pe_event *e)
{
	struct pe_event *sink = e->sink, *listener;
	struct perf_buffer *rb;
	unsigned int kill;

	scoped_guard(rcu) {
		rb = rcu_dereference(sink->rb);
		if (rb) {
			list_for_each_entry_rcu(listener, &rb->listeners, rb_entry)
				wake_up_all(&listener->waitq);
		}
	}

	/* An NMI right here may ask for the next one: read and clear in one go. */
	kill = xchg(&e->pending_kill, 0);
	if (kill)
		kill_fasync(&sink->fasync, SIGIO, kill);
}

static void disable_soon(struct pe_event *e, enum pe_disable why)
{
	pe_take_slow_overflow(e);
	WRITE_ONCE(e->pending_disable, why);
	irq_work_queue(&e->pending_disable_irq);
}

/**
 * pe_disable_at_limit() - the last sample that PERF_EVENT_IOC_REFRESH asked for is being made
 * @e: the event; event_limit is 0
 *
 * On the event's CPU, any context.  No more samples until it is disabled, or more are asked for.
 */
void pe_disable_at_limit(struct pe_event *e)
{
	disable_soon(e, PE_DISABLE_AT_LIMIT);
}

/**
 * perf_event_disable_inatomic() - disable an event soon
 * @event: the event
 *
 * On the event's CPU, any context.  It makes no more samples from now on.
 */
void perf_event_disable_inatomic(struct perf_event *event)
{
	disable_soon(pe(event), PE_DISABLE_ALWAYS);
}
