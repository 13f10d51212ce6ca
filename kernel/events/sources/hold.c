// SPDX-License-Identifier: GPL-2.0
/*
 * Holding a thread at an overflow until user space says RESTART (PERF_EXT_NOTIFY_BLOCK).
 *
 * The overflow may be in an NMI; the thread waits in a task work of its own, before it returns to
 * user space.  The work belongs to the event, so one is under way at most, and it holds a
 * reference from the moment it is queued until it has run, like that of sigtrap.c.  Work and
 * reference are those of life/ext.c.  Works run in the order in which they were queued last, so it
 * queues itself once more: what the thread has closed before is let go before it waits.
 *
 * RESTART may come before the work runs.  So it is the overflow that notes how often the thread has
 * been let go, and the work waits for that number to be another one.  The next overflow comes when
 * the thread has gone on; or, of an event that counts the kernel, on the way there, between RESTART
 * and the end of the wait: that one stops the event and holds nobody.
 *
 * RESTART may also come when nobody is held, and an overflow right behind it.  So the number
 * changes where the event is, in the step that enables it: whoever is held goes on with an event
 * that is on, and whom it holds from then on waits.
 *
 *	pe_hold()		overflow: event's CPU, irqs off or NMI
 *	pe_hold_wait()		task work: current, irqs on
 *	pe_hold_release()	as for pe_call(), or the event has left its context
 *	pe_hold_wake()		task context, no raw lock held
 */
#include <linux/cgroup.h>
#include <linux/freezer.h>
#include <linux/sched/signal.h>
#include <linux/task_work.h>

#include "sources.h"
#include "../ext.h"

/* pe_hold.queued */
enum {
	HOLD_IDLE,
	HOLD_QUEUED,
	HOLD_LAST,		/* again, behind the works of the task that were there */
};

/**
 * pe_hold() - current is to wait before it goes on in user space
 * @e: an event that stops; hits of other tasks than its own hold nobody
 */
void pe_hold(struct pe_event *e)
{
	struct pe_hold *hold = &pe_ext(e)->hold;
	int released = atomic_read(&hold->released);

	/* Other flags of a task may change now. */
	if (e->hw.target != current || data_race(current->flags) & PF_EXITING)
		return;
	/* The work is under way; or this NMI interrupts an overflow, or one was before this. */
	if (xchg(&hold->queued, HOLD_QUEUED) != HOLD_IDLE)
		return;
	/* Attached and ACTIVE: there is a reference, whatever becomes of the event next. */
	if (!refcount_inc_not_zero(&e->refs))
		goto idle;
	WRITE_ONCE(hold->from, released);
	if (!task_work_add(current, &hold->work,
			   in_nmi() ? TWA_NMI_CURRENT : TWA_RESUME | TWAF_NO_ALLOC))
		return;
	/* Only exit makes it fail.  This is not the last reference: e is attached. */
	refcount_dec(&e->refs);
idle:
	WRITE_ONCE(hold->queued, HOLD_IDLE);
}

/* A process that dies is not held: nobody could kill it any more. */
static bool is_dying(const struct task_struct *task)
{
	return task->flags & PF_EXITING || READ_ONCE(task->signal->flags) & SIGNAL_GROUP_EXIT;
}

/**
 * pe_hold_wait() - wait until the thread is let go
 * @e: an event of current
 *
 * SIGKILL ends it, and what becomes one; other signals are seen afterwards.  For the freezer of
 * cgroups the thread is frozen as it waits, and it is caught when it goes on.
 *
 * Return: false if the work is queued again, behind the others of the task.
 */
bool pe_hold_wait(struct pe_event *e)
{
	struct pe_hold *hold = &pe_ext(e)->hold;
	int from = hold->from;

	if (hold->queued == HOLD_QUEUED) {
		WRITE_ONCE(hold->queued, HOLD_LAST);
		if (!task_work_add(current, &hold->work, TWA_RESUME))
			return false;
	}
	/* An event that has ended, by exec perhaps, lets nobody go any more. */
	if (!is_dying(current)) {
		cgroup_enter_frozen();
		wait_event_state(hold->wq,
				 atomic_read(&hold->released) != from ||
				 READ_ONCE(e->state) <= PERF_EVENT_STATE_EXIT,
				 (TASK_KILLABLE | TASK_FREEZABLE));
		cgroup_leave_frozen(false);
	}
	/* From here on the next overflow may queue the work again. */
	smp_store_release(&hold->queued, HOLD_IDLE);
	return true;
}

/**
 * pe_hold_release() - the thread of an event goes on, if it waits or is about to
 * @e: an event with a struct pe_ext
 *
 * For pe_call(), so that no overflow comes between this and what the caller does besides; or the
 * event has left its context, and has none any more.  pe_hold_wake() follows.
 */
void pe_hold_release(struct pe_event *e)
{
	atomic_inc(&pe_ext(e)->hold.released);
}

/**
 * pe_hold_wake() - see to it that the thread looks
 * @e: an event with a struct pe_ext
 */
void pe_hold_wake(struct pe_event *e)
{
	wake_up(&pe_ext(e)->hold.wq);
}
