// SPDX-License-Identifier: GPL-2.0
/*
 * User call chains that are walked later (attr.defer_callchain): a sample gets a cookie in place of
 * its user part.  When the task returns to user space its stack is walked once, pages that are not
 * there are faulted in, and events with attr.defer_output get the chain with that cookie: see
 * sources/sideband_chain.c.  Samples until then that are not walked at once have the same cookie.
 *
 * task->perf_deferred is written by the task alone, by what interrupts it included:
 *
 *	a cookie	even: the task work is queued
 *	NOT_NOW		the work is queued or runs; samples are walked at once: after exec and in
 *			exit, as the stack that was asked for has gone, and while the work walks,
 *			whose own hits would want the next walk
 *	DONE		and in the upper bits from where the kernel was entered: the work has run.
 *			What is sampled on the rest of the way back is walked at once: it would
 *			queue the work again, and where each way has a sample, for ever.
 *	0		there was no work yet, or the task has exited and gets none
 *
 *	pe_deferred_request()	0 or an older DONE to a cookie, by cmpxchg; who wins queues the
 *				work, and stores 0 if the task takes none any more
 *	pe_deferred_forget()	exec: a cookie to NOT_NOW
 *	pe_deferred_begin()	the work, and exit before its address space goes: to NOT_NOW
 *	pe_deferred_end()	the end of the work: to DONE
 *
 * An NMI between the cmpxchg and the queueing takes a cookie whose work is queued soon after.  One
 * between the load and the store of forget finds the cookie that was there, or stores one, and then
 * forget stores nothing: what that NMI asks for is the new program's stack.
 */
#include <linux/hash.h>
#include <linux/task_work.h>
#include <linux/uprobes.h>
#include "output.h"

#define NOT_NOW		1UL
#define DONE		3UL
#define HALF		(BITS_PER_LONG / 2)

static DEFINE_PER_CPU(unsigned long, nr_cookies);

/*
 * In the whole system there is no other like it, until the counter of a CPU wraps: after 2^31
 * cookies, or 2^15 where words have 32 bits.
 */
static unsigned long new_cookie(void)
{
	unsigned long count = this_cpu_inc_return(nr_cookies);

	return (smp_processor_id() + 1UL) << HALF | (count << 1 & GENMASK(HALF - 1, 0));
}

static bool is_cookie(unsigned long word)
{
	return word && !(word & NOT_NOW);
}

/*
 * The word that says: the work has run since @task entered the kernel with these registers, which
 * stay what they are on the way back.  Where the next entry has all of them alike, its samples are
 * walked at once, too.
 */
static unsigned long done_word(struct task_struct *task)
{
	const unsigned long *reg = (unsigned long *)task_pt_regs(task);
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < sizeof(struct pt_regs) / sizeof(*reg); i++)
		sum = (sum + reg[i]) * GOLDEN_RATIO_PRIME;
	return sum | DONE;
}

/* Is the stack another one by the time the work runs, or a guest's? */
static bool must_walk_now(struct task_struct *task)
{
#ifdef CONFIG_UPROBES
	/* The probed instruction is executed or emulated before the work runs. */
	if (task->utask && task->utask->auprobe)
		return true;
#endif
	return perf_guest_state();
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
	unsigned long word, cookie;

	if (must_walk_now(task))
		return 0;
	word = READ_ONCE(task->perf_deferred);
	if (is_cookie(word))
		return word;
	if (word == NOT_NOW || (in_nmi() && !IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG)))
		return 0;
	/* The first program has not been in user space yet. */
	if (data_race(task->flags) & PF_EXITING || !user_mode(task_pt_regs(task)) ||
	    word == done_word(task))
		return 0;
	cookie = new_cookie();
	if (!try_cmpxchg(&task->perf_deferred, &word, cookie))
		return is_cookie(word) ? word : 0;
	/* The sample may hold any lock. */
	if (!task_work_add(task, &task->perf_deferred_work,
			   in_nmi() ? TWA_NMI_CURRENT : TWA_RESUME | TWAF_NO_ALLOC))
		return cookie;
	/* Only in a task that has exited. */
	WRITE_ONCE(task->perf_deferred, 0);
	return 0;
}

/**
 * pe_deferred_forget() - current has a new address space
 */
void pe_deferred_forget(void)
{
	if (is_cookie(READ_ONCE(current->perf_deferred)))
		WRITE_ONCE(current->perf_deferred, NOT_NOW);
}

/**
 * pe_deferred_begin() - the stack is walked now, if anybody has asked
 *
 * Return: the cookie that samples have; 0: nobody has, or it cannot be had any more.  Samples are
 * walked at once until the task work has run.
 */
u64 pe_deferred_begin(void)
{
	unsigned long word = READ_ONCE(current->perf_deferred);

	if (!is_cookie(word))
		return 0;
	/* An NMI changes nothing any more. */
	WRITE_ONCE(current->perf_deferred, NOT_NOW);
	return word;
}

/**
 * pe_deferred_end() - the task work is done: the next entry's samples queue it again
 */
void pe_deferred_end(void)
{
	WRITE_ONCE(current->perf_deferred, done_word(current));
}
