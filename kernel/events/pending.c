// SPDX-License-Identifier: GPL-2.0
/*
 * What an overflow cannot do itself, because it may be in an NMI or in the middle of the scheduler:
 * waking readers, sending SIGIO, disabling the event.
 *
 * Owns the two irq_works of an event and pevent.pending_wakeup, pending_disable and pending_kill.
 * Any context may queue; the handlers run with interrupts off soon after.  On PREEMPT_RT, where
 * waking and signalling take sleeping locks, the wakeup's handler runs in a thread of the same CPU,
 * ahead of ordinary tasks.
 *
 * Waking.  Most buffers have nobody asleep on them: readers look at data_head when it suits them.
 * So no work is queued when no listener's wait queue has a waiter.  A signal owner, though, gets
 * one signal for each wakeup, always.  Barriers:
 *
 *   A  pe_queue_wakeup(): rb->poll was stored; is somebody on a wait queue?
 *   B  poll() in file.c: adds itself to the wait queue; atomic_xchg() of rb->poll
 *
 * B's xchg is a full barrier and A has smp_mb(): either A sees the waiter or B sees the bits.
 *
 * Disabling.  The work runs on the CPU where the limit was reached, but by then the context may be
 * in on another CPU, and only there an event in hardware can be stopped: it then follows.
 *
 * End of life.  Who detaches an event and waits for a running work (pe_pending_sync()) may still be
 * followed by the last hit of a passive event, which is in an RCU section on another CPU and
 * queues again.  So whoever frees the memory, an RCU grace period later, asks pe_pending_idle().  A
 * work that does not run in an interrupt of its own is looked at once more after it was marked
 * idle, in the same RCU section: then idle is not enough, it must have been so for a grace period.
 */
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/poll.h>

#include "sources.h"

/* With as many listeners nobody looks for a waiter: that costs more than the work. */
#define MOST_LISTENERS	8

static bool somebody_waits(struct pevent *sink)
{
	struct perf_buffer *rb;
	struct pevent *listener;
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

static void queue_wakeup_work(struct pevent *e)
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
void pe_queue_wakeup(struct pevent *e)
{
	struct pevent *sink = e->sink;

	if (READ_ONCE(sink->fasync)) {
		if (!e->pending_kill)
			e->pending_kill = POLL_IN;
		queue_wakeup_work(e);
		return;
	}
	smp_mb();	/* A */
	if (somebody_waits(sink))
		queue_wakeup_work(e);
}

/**
 * pe_queue_signal() - the owner of an event's file wants a signal
 * @e: the event; pending_kill says which
 *
 * Any context, preemption off.
 */
void pe_queue_signal(struct pevent *e)
{
	queue_wakeup_work(e);
}

/**
 * pe_wake() - wake those who wait for an event's buffer, and send the signal that is due
 * @e: the event
 *
 * Interrupt or task context, not NMI.
 */
void pe_wake(struct pevent *e)
{
	struct pevent *sink = e->sink, *listener;
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

/*
 * Waking and signalling run code that software events watch.  Their hits must not queue this work
 * again, and again; if the level is taken already, they cannot.
 */
static void deliver_wakeup(struct pevent *e)
{
	int level = perf_swevent_get_recursion_context();

	if (xchg(&e->pending_wakeup, 0)) {
		atomic_inc(&e->sink->nr_wakeups);
		pe_wake(e);
	}
	if (level >= 0)
		perf_swevent_put_recursion_context(level);
}

static void run_wakeup(struct irq_work *work)
{
	deliver_wakeup(container_of(work, struct pevent, pending_irq));
}

static bool works_idle(struct pevent *e)
{
	return !irq_work_is_busy(&e->pending_irq) && !irq_work_is_busy(&e->pending_disable_irq);
}

static void disable_locked(struct pctx *ctx, void *arg)
{
	struct pevent *e = arg;

	/* It moves to another CPU, and was disabled when it was taken out here. */
	if (pe_ctx(e) != ctx)
		return;
	WRITE_ONCE(e->pending_disable, PE_DISABLE_NOT);
	if (e->state >= PERF_EVENT_STATE_INACTIVE)
		pe_disable_locked(e, pe_now());
}

static void disable_if_due(struct pctx *ctx, void *arg)
{
	struct pevent *e = arg;
	unsigned int why;
	bool on;

	if (pe_ctx(e) != ctx)
		return;
	on = e->state >= PERF_EVENT_STATE_INACTIVE;
	why = xchg(&e->pending_disable, PE_DISABLE_NOT);
	if (why == PE_DISABLE_NOT)
		return;
	disable_locked(ctx, e);
	/* More samples were asked for, but counters and timers have stopped with the last one. */
	if (on && why == PE_DISABLE_AT_LIMIT && atomic_read(&e->event_limit))
		pe_enable_locked(e, pe_now());
}

/* Disable @e here, or send the work to where its context is. */
static void disable_or_follow(struct pevent *e)
{
	struct pctx *ctx = pe_ctx(e);
	int cpu;

	while (!pe_call_locked_local(ctx, disable_if_due, e)) {
		cpu = READ_ONCE(ctx->oncpu);
		if (cpu >= 0 && cpu != smp_processor_id()) {
			irq_work_queue_on(&e->pending_disable_irq, cpu);
			return;
		}
		/* The task left that CPU just now; a CPU context that is nowhere is offline. */
		if (!ctx->task)
			return;
	}
}

static void run_disable(struct irq_work *work)
{
	struct pevent *e = container_of(work, struct pevent, pending_disable_irq);
	int level = perf_swevent_get_recursion_context();

	/* Whoever took the event out of the PMU meanwhile may have disabled it already. */
	if (READ_ONCE(e->pending_disable))
		disable_or_follow(e);
	if (level >= 0)
		perf_swevent_put_recursion_context(level);
}

static void disable_soon(struct pevent *e, enum pe_disable why)
{
	pe_elaborate(e);
	WRITE_ONCE(e->pending_disable, why);
	irq_work_queue(&e->pending_disable_irq);
}

/**
 * pe_disable_at_limit() - the last sample that PERF_EVENT_IOC_REFRESH asked for is being made
 * @e: the event; event_limit is 0
 *
 * On the event's CPU, any context.  No more samples until it is disabled, or more are asked for.
 */
void pe_disable_at_limit(struct pevent *e)
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

/**
 * perf_event_disable_local() - disable an event that counts on this CPU, now
 * @event: the event
 *
 * On the event's CPU, not in NMI, no context locked.
 */
void perf_event_disable_local(struct perf_event *event)
{
	struct pevent *e = pe(event);

	WARN_ON_ONCE(!pe_call_locked_local(pe_ctx(e), disable_locked, e));
}

/**
 * pe_pending_init() - a new event
 * @e: the event
 */
void pe_pending_init(struct pevent *e)
{
	init_irq_work(&e->pending_irq, run_wakeup);
	/* It takes raw locks and must not be late, on PREEMPT_RT too. */
	e->pending_disable_irq = IRQ_WORK_INIT_HARD(run_disable);
}

/**
 * pe_pending_sync() - wait for works of an event
 * @e: an event that is in no context any more
 *
 * Task context, interrupts on.  The disabling work may have gone to another CPU while this waited
 * for it here; with the event detached it does so once at most.
 */
void pe_pending_sync(struct pevent *e)
{
	while (!works_idle(e)) {
		irq_work_sync(&e->pending_irq);
		irq_work_sync(&e->pending_disable_irq);
	}
}

/**
 * pe_pending_idle() - no work of an event is queued or runs
 * @e: an event that nothing can hit any more, or not for long
 *
 * Any context.  What frees an event calls this after the grace period, and waits for another one
 * when the answer is no.
 */
bool pe_pending_idle(struct pevent *e)
{
	bool idle = works_idle(e), was_idle = e->was_idle;

	if (!IS_ENABLED(CONFIG_PREEMPT_RT) && arch_irq_work_has_interrupt())
		return idle;
	e->was_idle = idle;
	return idle && was_idle;
}
