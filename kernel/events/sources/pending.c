// SPDX-License-Identifier: GPL-2.0
/*
 * What an overflow cannot do itself, because it may be in an NMI or in the middle of the scheduler:
 * waking readers, sending SIGIO, disabling the event.  Here it is done, by the two irq_works of an
 * event.
 *
 * Any context may queue: see ring/wakeup.c.  The handlers run with interrupts off soon after.  On
 * PREEMPT_RT, where waking and signalling take sleeping locks, the wakeup's handler runs in a
 * thread of the same CPU, ahead of ordinary tasks.
 *
 * Disabling.  The work runs on the CPU where the limit was reached, but by then the context may be
 * in on another CPU, and only there an event in hardware can be stopped: it then follows.
 *
 * End of life.  A task that detaches an event and waits for a running work (pe_pending_sync()) may
 * still be followed by the last hit of a passive event, which is in an RCU section on another CPU
 * and queues again.  So the freeing of the memory, an RCU grace period later, asks
 * pe_pending_idle().  A work that does not run in an interrupt of its own is looked at once more
 * after it was marked idle, in the same RCU section: then idle is not enough, it must have been so
 * for a grace period.
 */
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/poll.h>

#include "sources.h"
#include "../cost.h"

/*
 * Waking and signalling run code that software events watch.  Their hits must not queue this work
 * again, and again; if the level is taken already, they cannot.
 */
static void deliver_wakeup(struct pe_event *e)
{
	int level = perf_swevent_get_recursion_context();

	if (xchg(&e->pending_wakeup, 0)) {
		atomic_inc(&e->sink->nr_wakeups);
		pe_wake(e);
	}
	if (level >= 0)
		perf_swevent_put_recursion_context(level);
}

static void pe_pending_run_wakeup(struct irq_work *work)
{
	struct pe_event *e = container_of(work, struct pe_event, pending_irq);
	u64 begin;

	if (likely(!pe_cost_wanted())) {
		deliver_wakeup(e);
		return;
	}
	begin = pe_now();
	deliver_wakeup(e);
	pe_cost_add(PE_COST_WAKEUP, 1, pe_now() - begin);
}

static bool works_idle(struct pe_event *e)
{
	return !irq_work_is_busy(&e->pending_irq) && !irq_work_is_busy(&e->pending_disable_irq);
}

static void pe_pending_disable(struct pe_ctx *ctx, void *arg)
{
	struct pe_event *e = arg;

	/* The event moves to another CPU, and was disabled when it was taken out here. */
	if (pe_ctx(e) != ctx)
		return;
	WRITE_ONCE(e->pending_disable, PE_DISABLE_NOT);
	if (e->state >= PERF_EVENT_STATE_INACTIVE)
		pe_disable_locked(e, pe_now());
}

/**
 * pe_pending_disable_due() - do what an overflow wants: the turn of its set ends, it is disabled
 * @ctx: its context, or the one that it has left
 * @arg: the event
 *
 * For pe_call() and pe_call_locked_local().
 */
void pe_pending_disable_due(struct pe_ctx *ctx, void *arg)
{
	struct pe_event *e = arg;
	bool on, due;

	if (pe_ctx(e) != ctx)
		return;
	pe_trigger_end_turn(e);
	if (!READ_ONCE(e->pending_disable))
		return;
	on = e->state >= PERF_EVENT_STATE_INACTIVE;
	due = pe_disable_due(e);
	if (!on)
		return;
	pe_disable_locked(e, pe_now());
	/*
	 * More samples were asked for, but counters and timers have stopped with the last one.
	 * Unless an NMI has made them all since that look: enabled, the event would have no limit.
	 */
	if (!due && atomic_read(&e->event_limit))
		pe_enable_locked(e, pe_now());
}

/* Disable @e here, or send the work to where its context is. */
static void disable_or_follow(struct pe_event *e)
{
	struct pe_ctx *ctx = pe_ctx(e);
	int cpu;

	while (!pe_call_locked_local(ctx, pe_pending_disable_due, e)) {
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

static void pe_pending_run_disable(struct irq_work *work)
{
	struct pe_event *e = container_of(work, struct pe_event, pending_disable_irq);
	int level = perf_swevent_get_recursion_context();

	/* The code that took the event out of the PMU meanwhile may have disabled it already. */
	if (READ_ONCE(e->pending_disable) || pe_trigger_is_due(e))
		disable_or_follow(e);
	if (level >= 0)
		perf_swevent_put_recursion_context(level);
}

/**
 * perf_event_disable_local() - disable an event that counts on this CPU, now
 * @event: the event
 *
 * On the event's CPU, not in NMI, no context locked.
 */
void perf_event_disable_local(struct perf_event *event)
{
	struct pe_event *e = pe(event);

	WARN_ON_ONCE(!pe_call_locked_local(pe_ctx(e), pe_pending_disable, e));
}

/**
 * pe_pending_init() - a new event
 * @e: the event
 */
void pe_pending_init(struct pe_event *e)
{
	init_irq_work(&e->pending_irq, pe_pending_run_wakeup);
	/* This work takes raw locks and must not be late, on PREEMPT_RT too. */
	e->pending_disable_irq = IRQ_WORK_INIT_HARD(pe_pending_run_disable);
}

/**
 * pe_pending_sync() - wait for works of an event
 * @e: an event that is in no context any more
 *
 * Task context, interrupts on.  The disabling work may have gone to another CPU while this waited
 * for it here; with the event detached it does so once at most.
 */
void pe_pending_sync(struct pe_event *e)
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
bool pe_pending_idle(struct pe_event *e)
{
	bool idle = works_idle(e), was_idle = e->was_idle;

	if (!IS_ENABLED(CONFIG_PREEMPT_RT) && arch_irq_work_has_interrupt())
		return idle;
	e->was_idle = idle;
	return idle && was_idle;
}
