// SPDX-License-Identifier: GPL-2.0
/*
 * What is needed: switches and counters that keep hooks free of cost while no event needs them.
 *
 * pe_account() is called once for each event that was opened (not for inherited ones: their parent
 * outlives them), and for each that a session has on a cgroup, before the event is put in a
 * context; pe_unaccount() when it is freed.  Both in task context; pe_account() may sleep,
 * pe_unaccount() may not.
 *
 * What an event may need:
 *
 *   - the scheduler's hooks (perf_sched_events): events of tasks and cgroups, SWITCH records,
 *     drivers that follow context switches, branch stacks (one task's are not for the next);
 *   - the tick on CPUs that would do without it (CONFIG_NO_HZ_FULL): events in frequency mode;
 *   - hooks that tell of what happens: pe_sideband_users[], one counter for each kind of record,
 *     and pe_build_id_users.
 *
 * The static key.  Users are counted in sched_users; the key that is turned counts as one of them.
 * Only the first one turns it, and it must not go on before every CPU has seen it turned: a context
 * switch half way through that has not called "out" for its old task must not call "in" for its new
 * one.  sched_users leaves zero under sched_mutex only, after that wait, so a fast path that finds
 * it above zero needs no wait.  The last user does not turn the key back but leaves it to a work
 * item that looks once a second, and wants to see a second without users; this spares a program
 * that opens and closes events in a row the patching of code each time.
 *
 *	put_switches()				pe_switches_idle()
 *	sched_users becomes 1			the work is not pending any more
 *	(A) full barrier			(B) full barrier, of the workqueue
 *	the work is pending: leave it		sched_users is not 1: do not come again
 *
 * Either the work comes again because A's user sees that it is not pending, or B sees the 1.
 */
#include <linux/tick.h>

#include "life.h"

DEFINE_STATIC_KEY_FALSE(perf_sched_events);

static atomic_t sched_users;		/* leaves 0, and comes back to it, under sched_mutex */
static DEFINE_MUTEX(sched_mutex);
static unsigned long sched_idle_since;	/* jiffies */

#ifdef CONFIG_CGROUP_PERF
static void add_cgroup_user(const struct pe_event *e, int change)
{
	/* Ordered before the install, which looks at current's cgroup: see cgroup.c. */
	if (e->cgrp)
		atomic_add_return(change, &pe_cgroup_users);
}
#else
static void add_cgroup_user(const struct pe_event *e, int change) { }
#endif

static bool needs_switches(const struct pe_event *e)
{
	return e->attach_state & (PERF_ATTACH_TASK | PERF_ATTACH_SCHED_CB) ||
	       e->attr.context_switch || e->cgrp ||
	       has_branch_stack((struct perf_event *)&e->pub);
}

static void get_switches(void)
{
	if (atomic_inc_not_zero(&sched_users))
		return;

	guard(mutex)(&sched_mutex);
	if (!atomic_read(&sched_users)) {
		static_branch_enable(&perf_sched_events);
		synchronize_rcu();	/* switches under way are over */
		atomic_inc(&sched_users);	/* the key */
	}
	atomic_inc(&sched_users);
}

/*
 * Has a driver still to be told of the next switch of some CPU?  That ends the task's right to
 * read counters.  Without events of tasks, as here, these only become fewer.
 */
static bool somebody_follows(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (!list_empty(&per_cpu(pe_cpu, cpu).sched_cb))
			return true;
	}
	return false;
}

/* An event that comes meanwhile keeps the key, or waits for the mutex and turns it again. */
static void pe_switches_idle(struct work_struct *work)
{
	guard(mutex)(&sched_mutex);
	if (atomic_read(&sched_users) != 1)
		return;		/* the last user lets it come again */
	if (time_is_after_jiffies(READ_ONCE(sched_idle_since) + HZ) || somebody_follows())
		schedule_delayed_work(to_delayed_work(work), HZ);
	else if (atomic_cmpxchg(&sched_users, 1, 0) == 1)
		static_branch_disable(&perf_sched_events);
}

static DECLARE_DELAYED_WORK(switches_idle_work, pe_switches_idle);

static void put_switches(void)
{
	if (atomic_dec_return(&sched_users) > 1)	/* A */
		return;
	WRITE_ONCE(sched_idle_since, jiffies);
	schedule_delayed_work(&switches_idle_work, HZ);
}

/* Frequency mode works in the tick. */
#ifdef CONFIG_NO_HZ_FULL
static DEFINE_SPINLOCK(freq_lock);
static unsigned int freq_users;		/* freq_lock */

static void add_freq_user(int change)
{
	if (!tick_nohz_full_enabled())
		return;

	/* The dependency has to change in the order in which the count does. */
	spin_lock(&freq_lock);
	freq_users += change;
	if (freq_users == 1 && change > 0)
		tick_nohz_dep_set(TICK_DEP_BIT_PERF_EVENTS);
	else if (!freq_users)
		tick_nohz_dep_clear(TICK_DEP_BIT_PERF_EVENTS);
	spin_unlock(&freq_lock);
}
#else
static void add_freq_user(int change) { }
#endif

/*
 * Kinds of records that hooks have to be looked at for.  attr.mmap2 alone is not a request: it
 * tells which form of record attr.mmap and attr.mmap_data get.  It does qualify for records which
 * others have made happen, by asking for mappings of either kind.
 */
static u32 sideband_requests(const struct pe_event *e)
{
	const struct perf_event_attr *attr = &e->attr;
	u32 kinds = e->plan.sideband;

	if (!attr->mmap)
		kinds &= ~BIT(PE_SB_MMAP);
	if (attr->mmap_data)
		kinds |= BIT(PE_SB_MMAP);
	if (!attr->mmap && !attr->mmap_data && !attr->comm && !attr->task)
		kinds &= ~BIT(PE_SB_TASK);
	return kinds;
}

static void add_sideband_user(const struct pe_event *e, int change)
{
	unsigned long kinds;
	unsigned int kind;

	if (!e->plan.sideband && !e->attr.build_id)
		return;
	kinds = sideband_requests(e);
	for_each_set_bit(kind, &kinds, PE_NR_SIDEBAND)
		atomic_add(change, &pe_sideband_users[kind]);
	if (e->attr.build_id)
		atomic_add(change, &pe_build_id_users);
}

/* What a child needs, its parent does; but that of a session is of no cgroup itself. */
static bool needs_nothing(const struct pe_event *e)
{
	return e->parent && !e->cgrp;
}

/**
 * pe_account() - note what a new event needs
 * @e: the event, complete but in no context
 *
 * Task context, may sleep: the first event that needs context switches waits for a grace period.
 */
void pe_account(struct pe_event *e)
{
	if (needs_nothing(e))
		return;
	if (needs_switches(e))
		get_switches();
	if (e->attr.freq)
		add_freq_user(1);
	add_cgroup_user(e, 1);
	add_sideband_user(e, 1);
}

/**
 * pe_unaccount() - the event is no more
 * @e: an event that pe_account() was called for
 *
 * Task context.
 */
void pe_unaccount(struct pe_event *e)
{
	if (needs_nothing(e))
		return;
	add_sideband_user(e, -1);
	add_cgroup_user(e, -1);
	if (e->attr.freq)
		add_freq_user(-1);
	if (needs_switches(e))
		put_switches();
}
