// SPDX-License-Identifier: GPL-2.0
/*
 * User call chains that are walked later (attr.defer_callchain): a sample gets a cookie in place of
 * its user part.  When the task returns to user space its stack is walked once, pages that are not
 * there are faulted in, and events with attr.defer_output get the chain with that cookie: see
 * sources/sideband_chain.c.  All samples until then have the same cookie, as the user stack stays
 * what it is.
 *
 * task->perf_deferred is written by the task alone, by what interrupts it included:
 *
 *	0		nobody has asked
 *	a cookie	the task work is queued
 *	NOT_NOW		the work is queued or runs; samples are walked at once: after exec, as the
 *			stack that was asked for has gone, and while the work walks, whose own hits
 *			would want the next walk, for ever
 *
 *	pe_deferred_request()	0 to a cookie, by cmpxchg; who wins queues the work
 *	pe_deferred_forget()	exec: a cookie to NOT_NOW
 *	pe_deferred_begin()	the work: whatever it is to NOT_NOW
 *	pe_deferred_end()	the end of the work: 0
 *
 * An NMI between the cmpxchg and the queueing takes a cookie whose work is not queued yet.
 * Queueing fails in a task only that exits, and then nobody walks: that sample has no user part.
 * Neither has one that was taken in exit() or exec() before the address space went.
 *
 * An NMI between the load and the store of forget finds a cookie that was there, and leaves it; or
 * there was none, and then nothing is stored: what the NMI asks for is the new program's stack.
 */
#include <linux/task_work.h>
#include "output.h"

#define NOT_NOW		1UL
#define HALF		(BITS_PER_LONG / 2)

static DEFINE_PER_CPU(unsigned long, nr_cookies);

/* In the whole system there is no other like it, for as long as the counter does not wrap. */
static unsigned long new_cookie(void)
{
	unsigned long count = this_cpu_inc_return(nr_cookies);

	return (smp_processor_id() + 1UL) << HALF | (count & GENMASK(HALF - 1, 0));
}

/**
 * pe_deferred_request() - have the user stack of current walked on its way back to user space
 *
 * Any context with preemption off, NMI included; current has a user space.
 *
 * Return: the cookie by which the chain is told; 0: walk it now.
 */
u64 pe_deferred_request(void)
{
	struct task_struct *task = current;
	unsigned long cookie = READ_ONCE(task->perf_deferred), old = 0;

	if (cookie)
		return cookie == NOT_NOW ? 0 : cookie;
	if (in_nmi() && !IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG))
		return 0;
	/* Of a guest there is no chain, and the first program has not been there yet. */
	if (data_race(task->flags) & PF_EXITING || perf_guest_state() ||
	    !user_mode(task_pt_regs(task)))
		return 0;
	cookie = new_cookie();
	if (!try_cmpxchg(&task->perf_deferred, &old, cookie))
		return old == NOT_NOW ? 0 : old;
	/* The sample may hold any lock. */
	if (!task_work_add(task, &task->perf_deferred_work,
			   in_nmi() ? TWA_NMI_CURRENT : TWA_RESUME | TWAF_NO_ALLOC))
		return cookie;
	WRITE_ONCE(task->perf_deferred, 0);
	return 0;
}

/**
 * pe_deferred_forget() - current has a new address space
 */
void pe_deferred_forget(void)
{
	if (READ_ONCE(current->perf_deferred))
		WRITE_ONCE(current->perf_deferred, NOT_NOW);
}

/**
 * pe_deferred_begin() - the task work runs
 *
 * Return: the cookie that samples have, or 0 if what they asked for cannot be had any more.
 */
u64 pe_deferred_begin(void)
{
	unsigned long cookie = xchg(&current->perf_deferred, NOT_NOW);

	return cookie == NOT_NOW ? 0 : cookie;
}

/**
 * pe_deferred_end() - the task work is done: the next sample queues it again
 */
void pe_deferred_end(void)
{
	WRITE_ONCE(current->perf_deferred, 0);
}
