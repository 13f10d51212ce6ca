// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that a driver has for each task: objects of pmu->task_ctx_cache, while an event wants them
 * (PERF_ATTACH_TASK_DATA).  Call stacks of branch records are kept in them.
 *
 * An event of a task has one in the task's PMU context. While an event of a CPU wants them, all
 * tasks have one, in a table by the address of the task; the driver finds it in the PMU context
 * that it is told of a switch with, for the time of that call.  If a task has both, the one in its
 * PMU context is used.
 *
 * In the table a task's object
 *
 *	gets there	by the walk of the first event that wants them, or with the task:
 *			pe_task_data_fork();
 *	is used		by the CPU that the task comes to or goes from, irqs off;
 *	leaves		when the task exits, pe_task_data_exit(), or with the last event that
 *			wants them, and is freed a grace period of RCU later.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "sched.h"

/**
 * struct kept - what the table has for a task
 * @node: in the table								kept_lock
 * @entry: on all_kept								kept_lock
 * @task: the key; an address, no reference
 * @cache: where @data is from
 * @data: it, zeroed for a new task
 * @stale: the task has run with its PMU context's since; by the task's CPU, irqs off
 * @rcu: frees it
 */
struct kept {
	struct rhash_head		node;
	struct list_head		entry;
	const struct task_struct	*task;
	struct kmem_cache		*cache;
	void				*data;
	bool				stale;
	struct rcu_head			rcu;
};

static const struct rhashtable_params by_task = {
	.head_offset		= offsetof(struct kept, node),
	.key_offset		= offsetof(struct kept, task),
	.key_len		= sizeof_field(struct kept, task),
	.automatic_shrinking	= true,
};

static struct rhashtable kept_table;
static DEFINE_SPINLOCK(kept_lock);	/* leaf, task context: who is in the table */
static LIST_HEAD(all_kept);
static struct kmem_cache *kept_cache;	/* kept_lock: what is taken; NULL without users */

static DEFINE_MUTEX(users_mutex);	/* below ctx->mutex */
static unsigned int users;		/* users_mutex; read anywhere */

void __init pe_task_data_init(void)
{
	WARN_ON(rhashtable_init(&kept_table, &by_task));
}

static void free_kept(struct kept *k)
{
	if (k)
		kmem_cache_free(k->cache, k->data);
	kfree(k);
}

static void free_kept_rcu(struct rcu_head *rcu)
{
	free_kept(container_of(rcu, struct kept, rcu));
}

static struct kept *alloc_kept(struct kmem_cache *cache)
{
	struct kept *k = kzalloc(sizeof(*k), GFP_KERNEL);

	if (!k)
		return NULL;
	k->cache = cache;
	k->data = kmem_cache_zalloc(cache, GFP_KERNEL);
	if (k->data)
		return k;
	kfree(k);
	return NULL;
}

/* Call stacks are those of user space. */
static bool runs_user_code(const struct task_struct *task)
{
	return !(task->flags & (PF_KTHREAD | PF_EXITING));
}

/*
 * Return: 0; -EEXIST if the task has some; -ESRCH if it is on its way out, or nobody wants this any
 * more; or what the table says.
 */
static int keep(struct kept *k, const struct task_struct *task)
{
	int err;

	guard(spinlock)(&kept_lock);
	/* Set before pe_task_data_exit() asks for users, or takes the lock. */
	if (!runs_user_code(task) || k->cache != kept_cache)
		return -ESRCH;
	k->task = task;
	err = rhashtable_lookup_insert_fast(&kept_table, &k->node, by_task);
	if (!err)
		list_add(&k->entry, &all_kept);
	return err;
}

/* Take it out.  kept_lock is held. */
static void drop(struct kept *k)
{
	list_del(&k->entry);
	rhashtable_remove_fast(&kept_table, &k->node, by_task);
	call_rcu(&k->rcu, free_kept_rcu);
}

/* In a section of RCU.  The key of the table is the pointer, not what it points to. */
static struct kept *kept_of(const struct task_struct *task)
{
	return rhashtable_lookup(&kept_table, &task, by_task);
}

/* One for each task that has none; their number is what was missing in the pass before. */
static int spend(struct list_head *spare, unsigned int *missing)
{
	struct task_struct *p, *task;
	struct kept *k;
	int err;

	guard(rcu)();
	for_each_process_thread(p, task) {
		if (!runs_user_code(task) || kept_of(task))
			continue;
		k = list_first_entry_or_null(spare, struct kept, entry);
		if (!k) {
			++*missing;
			continue;
		}
		list_del(&k->entry);
		err = keep(k, task);
		if (!err)
			continue;
		list_add(&k->entry, spare);
		if (err != -EEXIST && err != -ESRCH)
			return err;
	}
	return 0;
}

/* New tasks see to themselves: the passes end. */
static int keep_for_all(struct kmem_cache *cache)
{
	unsigned int missing;
	struct kept *k, *next;
	LIST_HEAD(spare);
	int err;

	do {
		missing = 0;
		err = spend(&spare, &missing);
		for (unsigned int i = 0; !err && i < missing; i++) {
			k = alloc_kept(cache);
			if (k)
				list_add(&k->entry, &spare);
			else
				err = -ENOMEM;
		}
	} while (!err && missing);
	list_for_each_entry_safe(k, next, &spare, entry)
		free_kept(k);
	return err;
}

static void keep_for_none(void)
{
	struct kept *k, *next;

	WRITE_ONCE(users, 0);
	guard(spinlock)(&kept_lock);
	kept_cache = NULL;
	list_for_each_entry_safe(k, next, &all_kept, entry)
		drop(k);
}

/*
 * There is one table, for the objects of one cache: no machine has two kinds of PMU that want it.
 *
 * A task and the first user cannot miss one another, as each has a full barrier between what it
 * writes and what it reads: either pe_task_data_fork() sees the user, or the walk sees the task;
 * either pe_task_data_exit() sees the user, or keep() sees PF_EXITING.
 */
static int add_user(struct kmem_cache *cache)
{
	int err = 0;

	guard(mutex)(&users_mutex);
	if (users) {
		if (WARN_ON_ONCE(cache != kept_cache))
			return -EBUSY;
		WRITE_ONCE(users, users + 1);
		return 0;
	}
	scoped_guard(spinlock, &kept_lock)
		kept_cache = cache;
	WRITE_ONCE(users, 1);
	smp_mb();		/* see above; pairs with those of fork and exit */
	err = keep_for_all(cache);
	if (err)
		keep_for_none();
	return err;
}

static void remove_user(void)
{
	guard(mutex)(&users_mutex);
	if (users == 1)
		keep_for_none();
	else
		WRITE_ONCE(users, users - 1);
}

/**
 * pe_task_data_fork() - a new task
 * @task: it is on the list of tasks, and has not run yet
 *
 * Task context; sleeps.  Without memory it has no call stacks of branches beyond a switch.
 */
void pe_task_data_fork(struct task_struct *task)
{
	struct kmem_cache *cache;
	struct kept *k;

	smp_mb();		/* add_user() */
	if (likely(!READ_ONCE(users)))
		return;
	scoped_guard(spinlock, &kept_lock)
		cache = kept_cache;
	k = cache && runs_user_code(task) ? alloc_kept(cache) : NULL;
	if (k && keep(k, task))
		free_kept(k);
}

/**
 * pe_task_data_exit() - a task exits
 * @task: current, PF_EXITING is set
 */
void pe_task_data_exit(struct task_struct *task)
{
	struct kept *k;

	smp_mb();		/* add_user() */
	if (likely(!READ_ONCE(users)))
		return;
	guard(spinlock)(&kept_lock);
	guard(rcu)();
	k = kept_of(task);
	if (k)
		drop(k);
}

/*
 * What the driver is to find for the task in a PMU context that has nothing of its own.  It stays
 * while irqs are off, which a grace period of RCU waits for; nobody else uses what belongs to a
 * task that comes or goes here.
 */
static void *kept_data(struct pe_pmu_ctx *pmu_ctx, const struct task_struct *task)
{
	struct kept *k;

	lockdep_assert_irqs_disabled();
	scoped_guard(rcu)
		k = kept_of(task);
	if (!k || k->cache != pmu_ctx->pmu->task_ctx_cache)
		return NULL;
	if (pmu_ctx->task_ctx_data) {
		k->stale = true;
		return NULL;
	}
	if (k->stale)
		memset(k->data, 0, kmem_cache_size(k->cache));
	k->stale = false;
	return k->data;
}

/**
 * pe_tell_pmu_of_switch() - call pmu->sched_task()
 * @pmu_ctx: a PMU context of the task or of this CPU; its context is locked, and the PMU is off
 * @task: the task
 * @which: it goes out or comes in
 */
void pe_tell_pmu_of_switch(struct pe_pmu_ctx *pmu_ctx, struct task_struct *task,
			   enum pe_switch which)
{
	void *lent = NULL;

	if (unlikely(READ_ONCE(users)))
		lent = kept_data(pmu_ctx, task);
	if (lent)
		pmu_ctx->task_ctx_data = lent;
	pmu_ctx->pmu->sched_task(&pmu_ctx->pub, task, which == PE_COMES_IN);
	if (lent)
		pmu_ctx->task_ctx_data = NULL;
}

/* For an event of a task: in the PMU context, which stays as long as the event. */
static int add_to_pmu_ctx(struct pe_event *e, struct kmem_cache *cache)
{
	struct pe_pmu_ctx *pmu_ctx = pe_pmu_ctx(e);
	struct pe_ctx *ctx = pmu_ctx->ctx;
	void *data = kmem_cache_zalloc(cache, GFP_KERNEL);

	if (!data)
		return -ENOMEM;
	pe_ctx_get(ctx);
	scoped_guard(raw_spinlock_irq, &ctx->lock) {
		if (!pmu_ctx->nr_data++)
			swap(pmu_ctx->task_ctx_data, data);
	}
	if (data)
		kmem_cache_free(cache, data);
	return 0;
}

static void remove_from_pmu_ctx(struct pe_pmu_ctx *pmu_ctx)
{
	struct pe_ctx *ctx = pmu_ctx->ctx;
	void *data = NULL;

	scoped_guard(raw_spinlock_irq, &ctx->lock) {
		if (!--pmu_ctx->nr_data)
			swap(pmu_ctx->task_ctx_data, data);
	}
	if (data)
		kmem_cache_free(pmu_ctx->pmu->task_ctx_cache, data);
	pe_ctx_put(ctx);
}

/**
 * pe_task_data_get() - memory that the driver has for each task, while events need it
 * @e: an event whose pmu_ctx is set, not attached yet
 * @ctx: its context, mutex held
 *
 * The event holds it until it is detached, or freed if that never was.  The context of an event of
 * a task stays as long, because what is never attached has no other reference on it.
 *
 * Sleeps.  Return: 0 or -ENOMEM.
 */
int pe_task_data_get(struct pe_event *e, struct pe_ctx *ctx)
{
	struct kmem_cache *cache = e->pmu->task_ctx_cache;
	bool of_task = e->attach_state & PERF_ATTACH_TASK;
	int err;

	lockdep_assert_held(&ctx->mutex);
	if (!(e->attach_state & PERF_ATTACH_TASK_DATA) || !cache || (of_task && !ctx->task))
		return 0;
	err = of_task ? add_to_pmu_ctx(e, cache) : add_user(cache);
	if (!err)
		e->data_pmu_ctx = pe_pmu_ctx(e);
	return err;
}

/**
 * pe_task_data_put() - the counterpart, once or more
 * @e: an event that is not attached any more
 *
 * Close and revoke may both come here with an inherited event.  The loser of the exchange may go on
 * to let the PMU forget the event; the PMU context and the PMU stay for the winner, which is in a
 * section that perf_pmu_unregister() waits for before it drops PMU contexts.
 *
 * Task context.
 */
void pe_task_data_put(struct pe_event *e)
{
	struct pe_pmu_ctx *pmu_ctx;
	int idx;

	if (likely(!READ_ONCE(e->data_pmu_ctx)))
		return;
	idx = pe_pmus_read_lock();
	pmu_ctx = xchg(&e->data_pmu_ctx, NULL);
	if (pmu_ctx && e->attach_state & PERF_ATTACH_TASK)
		remove_from_pmu_ctx(pmu_ctx);
	else if (pmu_ctx)
		remove_user();
	pe_pmus_read_unlock(idx);
}
