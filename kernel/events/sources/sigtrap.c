// SPDX-License-Identifier: GPL-2.0
/*
 * attr.sigtrap: an overflow becomes a synchronous SIGTRAP of the task that caused it.
 *
 * The overflow may be in an NMI; the signal is sent by a task_work of current before it returns to
 * user space.  The work belongs to the event, so at most one is under way, and it holds a reference
 * from the moment it is queued until it has run: closing the event, exec and exit need not wait for
 * it.  A task that exits runs its task works and sends nothing; nor does one that has become
 * another program since: the event ends there, as sigtrap needs remove_on_exec.  The work itself is
 * in event.c, which knows what to do when that reference is the last.
 *
 *	pe_sigtrap()		overflow: event's CPU, its task is current, irqs off or NMI
 *	pe_sigtrap_send()	task work: current, irqs on
 *
 * e->pending_sigtrap is written by these two only.  An overflow in between the clearing and the end
 * of the work finds the work free to be queued again: task_work_run() has unlinked it, and each
 * queueing takes its own reference.
 */

#include <linux/sched/signal.h>
#include <linux/task_work.h>
#include "sources.h"

/**
 * pe_sigtrap_send() - send the signal that pe_sigtrap() wanted
 * @e: an event of current
 *
 * From its task work.
 */
void pe_sigtrap_send(struct pe_event *e)
{
	unsigned long addr = e->sigtrap_addr;
	int level;

	/* From here on the next overflow may queue the work again. */
	smp_store_release(&e->pending_sigtrap, 0);
	/* If exec() took the event out, the overflow was in the old program, this is the new. */
	if (current->flags & PF_EXITING || READ_ONCE(e->state) <= PERF_EVENT_STATE_EXIT)
		return;
	/* Sending is full of hits, which would want the next signal, for ever. */
	level = perf_swevent_get_recursion_context();
	send_sig_perf((void __user *)addr, e->orig_type, e->attr.sig_data);
	if (level >= 0)
		perf_swevent_put_recursion_context(level);
}

/**
 * pe_sigtrap() - an event with attr.sigtrap overflowed
 * @e: an event of current
 * @data: the sample; its address goes to siginfo
 * @regs: registers at the overflow, or NULL
 *
 * On the event's CPU, irqs off, NMI included.  Overflows before the signal is sent add nothing.
 */
void pe_sigtrap(struct pe_event *e, struct perf_sample_data *data, struct pt_regs *regs)
{
	bool allowed = !regs || !pe_hides_kernel(e, regs);

	/* A task that exits runs no more works, sooner or later.  Other flags may change now. */
	if (data_race(current->flags) & PF_EXITING)
		return;
	if (WARN_ON_ONCE(e->hw.target != current))
		return;
	/* The work is under way; or this NMI interrupts an overflow, or one was before this. */
	if (xchg(&e->pending_sigtrap, 1))
		return;
	/* Attached and ACTIVE: there is a reference, whatever becomes of the event next. */
	if (!refcount_inc_not_zero(&e->refs))
		goto idle;
	e->sigtrap_addr = allowed && data->sample_flags & PERF_SAMPLE_ADDR ? data->addr : 0;
	if (!task_work_add(current, &e->sigtrap_work,
			   in_nmi() ? TWA_NMI_CURRENT : TWA_RESUME | TWAF_NO_ALLOC))
		return;
	/* Only exit makes it fail.  This is not the last reference: e is attached. */
	refcount_dec(&e->refs);
idle:
	WRITE_ONCE(e->pending_sigtrap, 0);
}
