// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that cannot be swapped out, and how much of it each may have.
 *
 * A user may have perf_event_mlock_kb for each online CPU; what exceeds that counts against
 * RLIMIT_MEMLOCK of the mm that asks.  Who has the memory remembers both shares, the user and the
 * mm: another process may be the one that gives it back.
 *
 * Many users, or one with CAP_IPC_LOCK, may still take all memory.  So what is charged is also
 * counted for the machine as a whole, and that count may have a limit (perf_ext_buffer_kb).  It is
 * counted without a limit, too, so one that is set later knows what is in use.
 *
 * Task context.  Nothing is locked.  What a user and the machine have is a bound at every moment,
 * as pages are added only where there is room for all of them; to an mm they are added before they
 * are looked at, so of two that ask at once both may be refused, but what both get is within the
 * limit.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/resource.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/sizes.h>

#include "ring.h"

#define MLOCK_KB_DEFAULT	(512 + PAGE_SIZE / SZ_1K)	/* half a MiB and the user page */

int sysctl_perf_event_mlock __read_mostly = MLOCK_KB_DEFAULT;	/* see abi/sysctl.c */

unsigned int pe_buffer_kb __read_mostly;
static atomic_long_t pages_in_use;

static bool is_room(unsigned long in_use, unsigned long pages)
{
	unsigned int kb = READ_ONCE(pe_buffer_kb);

	return !kb || in_use + pages <= kb >> (PAGE_SHIFT - 10);
}

static int take_from_machine(unsigned long pages)
{
	long in_use = atomic_long_read(&pages_in_use);

	do {
		if (!is_room(in_use, pages))
			return pe_err(-EPERM, "mmap: above perf_ext_buffer_kb");
	} while (!atomic_long_try_cmpxchg(&pages_in_use, &in_use, in_use + pages));
	return 0;
}

/* Takes as many of @pages as the user's allowance has left. */
static unsigned long take_from_user(struct user_struct *user, unsigned long pages)
{
	unsigned long limit = ((unsigned long)sysctl_perf_event_mlock >> (PAGE_SHIFT - 10)) *
			      num_online_cpus();
	long have = atomic_long_read(&user->perf_mlock);
	unsigned long taken;

	do {
		/* The allowance may have been lowered below what is in use. */
		taken = have < limit ? min(pages, limit - have) : 0;
	} while (!atomic_long_try_cmpxchg(&user->perf_mlock, &have, have + taken));
	return taken;
}

static void forgive(const struct pe_charge *c)
{
	atomic_long_sub(c->user_pages, &c->user->perf_mlock);
	atomic64_sub(c->mm_pages, &c->mm->pinned_vm);
}

/**
 * pe_charge_take() - current wants memory
 * @c: what it is charged to; nobody is referenced yet, see pe_charge_keep()
 * @mm: of current
 * @pages: so many
 *
 * Return: 0, or -EPERM if that is more than it may have.
 */
int pe_charge_take(struct pe_charge *c, struct mm_struct *mm, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	int ret;

	c->user = current_user();
	c->mm = mm;
	c->user_pages = take_from_user(c->user, pages);
	c->mm_pages = pages - c->user_pages;
	if (atomic64_add_return(c->mm_pages, &mm->pinned_vm) > limit && perf_is_paranoid() &&
	    !capable(CAP_IPC_LOCK)) {
		forgive(c);
		return pe_err(-EPERM, "mmap: above perf_event_mlock_kb and RLIMIT_MEMLOCK");
	}
	/* At the end: what is refused to one takes no room from others, not even for a moment. */
	ret = take_from_machine(pages);
	if (ret)
		forgive(c);
	return ret;
}

/**
 * pe_charge_cancel() - the memory could not be had
 * @c: what pe_charge_take() has filled in
 */
void pe_charge_cancel(const struct pe_charge *c)
{
	forgive(c);
	atomic_long_sub(c->user_pages + c->mm_pages, &pages_in_use);
}

/**
 * pe_charge_keep() - the memory is there: remember who pays
 * @to: for pe_charge_settle()
 * @c: what pe_charge_take() has filled in
 */
void pe_charge_keep(struct pe_charge *to, const struct pe_charge *c)
{
	*to = *c;
	get_uid(c->user);
	mmgrab(c->mm);
}

/**
 * pe_charge_settle() - the memory is given back
 * @c: what pe_charge_keep() has filled in
 */
void pe_charge_settle(const struct pe_charge *c)
{
	pe_charge_cancel(c);
	free_uid(c->user);
	mmdrop(c->mm);
}
