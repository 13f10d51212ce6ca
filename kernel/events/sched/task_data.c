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
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>

#include "sched.h"

/**
 * struct kept - what the table has for a task
 * @node: in the table								kept_lock
 * @task: the key; an address, no reference
 * @cache: where @data is from
 * @data: it, zeroed for a new task
 * @rcu: frees it
 */
struct kept {
	struct hlist_node		node;
	const struct task_struct	*task;
	struct kmem_cache		*cache;
	void				*data;
	struct rcu_head			rcu;
};

/**
 * struct kept_table - the table
 * @cache: what all that is in it has @data from
 * @bits: of its size
 * @bucket: 1 << @bits of them; readers are in a section of RCU
 */
struct kept_table {
	struct kmem_cache	*cache;
	unsigned int		bits;
	struct hlist_head	bucket[];
};

static DEFINE_MUTEX(users_mutex);	/* below ctx->mutex */
static unsigned int users;		/* users_mutex */
static DEFINE_SPINLOCK(kept_lock);	/* leaf, task context: who is in the table */
static struct kept_table __rcu *kept_table;	/* kept_lock and users_mutex; NULL without users */

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
	return !(READ_ONCE(task->flags) & (PF_KTHREAD | PF_EXITING));
}

static struct hlist_head *bucket_of(struct kept_table *table, const struct task_struct *task)
{
	return &table->bucket[hash_ptr(task, table->bits)];
}

/* In a section of RCU. */
static struct kept *kept_of(const struct task_struct *task)
{
	struct kept_table *table = rcu_dereference(kept_table);
	struct kept *k;

	if (!table)
		return NULL;
	hlist_for_each_entry_rcu(k, bucket_of(table, task), node)
		if (k->task == task)
			return k;
	return NULL;
}

/*
 * Return: false if the task has some, is on its way out, or nobody wants this any more; then @k is
 * left to the caller.
 */
static bool keep(struct kept *k, const struct task_struct *task)
{
	struct kept_table *table;

	guard(spinlock)(&kept_lock);
	guard(rcu)();
	table = rcu_dereference(kept_table);
	/* Set before pe_task_data_exit() asks for the table, or takes the lock. */
	if (!table || k->cache != table->cache || !runs_user_code(task) || kept_of(task))
		return false;
	k->task = task;
	hlist_add_head_rcu(&k->node, bucket_of(table, task));
	return true;
}

/* One for each task that has none.  Return: how many there were too few of. */
static unsigned int spend(struct hlist_head *spare)
{
	struct task_struct *p, *task;
	unsigned int missing = 0;
	struct kept *k;

	guard(rcu)();
	for_each_process_thread(p, task) {
		if (!runs_user_code(task) || kept_of(task))
			continue;
		if (hlist_empty(spare)) {
			missing++;
			continue;
		}
		k = hlist_entry(spare->first, struct kept, node);
		hlist_del_init(&k->node);
		if (!keep(k, task))
			hlist_add_head(&k->node, spare);
	}
	return missing;
}

/* New tasks see to themselves: the passes end. */
static int keep_for_all(struct kmem_cache *cache)
{
	struct hlist_node *next;
	unsigned int missing;
	HLIST_HEAD(spare);
	struct kept *k;
	int err = 0;

	while (!err && (missing = spend(&spare))) {
		while (!err && missing--) {
			k = alloc_kept(cache);
			if (k)
				hlist_add_head(&k->node, &spare);
			else
				err = -ENOMEM;
		}
	}
	hlist_for_each_entry_safe(k, next, &spare, node)
		free_kept(k);
	return err;
}

/* With no table to be found nobody comes to it, or goes, any more. */
static void keep_for_none(void)
{
	struct kept_table *table;
	struct hlist_node *next;
	struct kept *k;

	lockdep_assert_held(&users_mutex);
	scoped_guard(spinlock, &kept_lock)
		table = rcu_replace_pointer(kept_table, NULL, lockdep_is_held(&kept_lock));
	synchronize_rcu();
	for (unsigned int i = 0; i < 1U << table->bits; i++)
		hlist_for_each_entry_safe(k, next, &table->bucket[i], node)
			free_kept(k);
	kvfree(table);
}

/*
 * There is one table, for the objects of one cache: kinds of cores of a machine share it.
 *
 * A task and the first user cannot miss one another, as each has a full barrier between what it
 * writes and what it reads: either pe_task_data_fork() sees the table, or the walk sees the task;
 * either pe_task_data_exit() sees the table, or keep() sees PF_EXITING.
 */
static int add_user(struct kmem_cache *cache)
{
	unsigned int bits = clamp(ilog2(nr_threads) + 1, 8, 20);
	struct kept_table *table;
	int err;

	guard(mutex)(&users_mutex);
	table = rcu_dereference_protected(kept_table, lockdep_is_held(&users_mutex));
	if (users) {
		if (WARN_ON_ONCE(cache != table->cache))
			return -EBUSY;
		users++;
		return 0;
	}
	table = kvzalloc(struct_size(table, bucket, 1UL << bits), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	table->cache = cache;
	table->bits = bits;
	scoped_guard(spinlock, &kept_lock)
		rcu_assign_pointer(kept_table, table);
	smp_mb();		/* see above; pairs with those of fork and exit */
	err = keep_for_all(cache);
	if (err)
		keep_for_none();
	else
		users = 1;
	return err;
}

static void remove_user(void)
{
	guard(mutex)(&users_mutex);
	if (!--users)
		keep_for_none();
}

/**
 * pe_task_data_fork() - a new task
 * @task: it is on the list of tasks, and has not run yet
 *
 * Task context; sleeps.  Without memory it has no call stacks of branches beyond a switch.
 */
void pe_task_data_fork(struct task_struct *task)
{
	struct kmem_cache *cache = NULL;
	struct kept_table *table;
	struct kept *k;
	int idx;

	smp_mb();		/* add_user() */
	if (likely(!rcu_access_pointer(kept_table)))
		return;
	idx = pe_pmus_read_lock();	/* the driver may end the cache when its PMU has left */
	scoped_guard(rcu) {
		table = rcu_dereference(kept_table);
		cache = table ? table->cache : NULL;
	}
	k = cache && runs_user_code(task) ? alloc_kept(cache) : NULL;
	if (k && !keep(k, task))
		free_kept(k);
	pe_pmus_read_unlock(idx);
}

/**
 * pe_task_data_exit() - a task exits
 * @task: current, PF_EXITING is set
 */
void pe_task_data_exit(struct task_struct *task)
{
	struct kept *k;

	smp_mb();		/* add_user() */
	if (likely(!rcu_access_pointer(kept_table)))
		return;
	guard(spinlock)(&kept_lock);
	guard(rcu)();
	k = kept_of(task);
	if (!k)
		return;
	hlist_del_rcu(&k->node);
	call_rcu(&k->rcu, free_kept_rcu);
}

/*
 * What the driver is to find for the task in a PMU context that has nothing of its own.  It stays
 * while irqs are off, which a grace period of RCU waits for; nobody else uses what belongs to a
 * task that comes or goes here.
 */
static void *kept_data(struct pe_pmu_ctx *pmu_ctx, const struct task_struct *task)
{
	struct kept *k;

	scoped_guard(rcu)
		k = kept_of(task);
	return k && k->cache == pmu_ctx->pmu->task_ctx_cache ? k->data : NULL;
}

/**
 * pe_tell_pmu_of_switch() - call pmu->sched_task()
 * @pmu_ctx: a PMU context that is on this CPU; the PMU is off, and the context locked, but for that
 *	of a kin, whose events have no memory for each task
 * @task: the task
 * @which: it goes out or comes in
 */
void pe_tell_pmu_of_switch(struct pe_pmu_ctx *pmu_ctx, struct task_struct *task,
			   enum pe_switch which)
{
	void *lent = NULL;

	lockdep_assert_irqs_disabled();
	lockdep_assert(pmu_ctx->ctx->home >= 0 || lockdep_is_held(&pmu_ctx->ctx->lock));
	if (unlikely(rcu_access_pointer(kept_table)) && !pmu_ctx->task_ctx_data)
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
		WRITE_ONCE(e->data_pmu_ctx, pe_pmu_ctx(e));
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
