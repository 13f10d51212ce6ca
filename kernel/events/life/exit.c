// SPDX-License-Identifier: GPL-2.0
/*
 * A task execs or exits.
 *
 * Exit takes the context out for good: under both locks it goes off its CPU and is marked dead,
 * and the task forgets it.  Nothing can be added afterwards, and since nothing is in hardware any
 * more, its events are withdrawn one by one without disturbing any CPU.  The EXIT record is
 * written between the two, so no sample of the task comes after it.  What a user opened stays
 * readable in state EXIT; what was inherited adds its counts to its parent and goes.
 *
 * Closing an event takes the same steps from the other side; see pe_child_leave() for which wins.
 *
 * Called by the task itself, without raw locks.
 */

#include <linux/llist.h>
#include "life.h"

/* Events that the task opened stay with their file descriptors; they lose their owner. */
static void disown_all(struct task_struct *task)
{
	struct pe_event *e, *next;

	mutex_lock(&task->perf_event_mutex);
	list_for_each_entry_safe(e, next, &task->perf_event_list, owner_entry) {
		list_del_init(&e->owner_entry);
		/*
		 * Pairs with pe_leave_owner(): a closer that sees NULL does not look at the list.
		 */
		smp_store_release(&e->owner, NULL);
	}
	mutex_unlock(&task->perf_event_mutex);
}

/*
 * Take the task's context away from it and mark it dead, in one step for the scheduler: a switch
 * either takes the context out, or finds none.  Return: the context with its mutex held, or NULL.
 */
static struct pe_ctx *take_out_for_good(struct task_struct *task)
{
	struct pe_ctx *ctx;

	/*
	 * disown_all() has just had the mutex: an opener that published a context before is seen,
	 * and nobody gives one to a task that exits.  A task that goes on may get its first a
	 * moment later.
	 */
	if (!pe_task_ctx(task))
		return NULL;
	guard(mutex)(&task->perf_event_mutex);
	ctx = pe_task_ctx(task);
	if (!ctx)
		return NULL;
	mutex_lock(&ctx->mutex);
	local_irq_disable();
	pe_lock_here(ctx);
	if (ctx->oncpu >= 0)
		pe_ctx_out(ctx, pe_now());
	ctx->dead = true;
	WRITE_ONCE(task->perf_event_ctxp, NULL);
	pe_unlock_here(ctx);
	local_irq_enable();
	return ctx;
}

/*
 * All events of a dead context, pinned, in the order in which they leave.  What leaves meanwhile
 * does so by itself; one that cannot be pinned has left.  A session goes with the leader of its
 * first set here, by which others find the target: so copies of sessions go backwards, after the
 * rest.
 */
static struct llist_node *pin_leaving(struct pe_ctx *ctx)
{
	struct llist_node *node, *next;
	LLIST_HEAD(leaving);
	LLIST_HEAD(others);
	struct pe_event *e;

	lockdep_assert_held(&ctx->mutex);
	scoped_guard(rcu)
		list_for_each_entry_rcu(e, &ctx->events, ctx_entry)
			if (pe_tryget(e))
				__llist_add(&e->put_later, pe_of_target(e) ? &leaving : &others);
	llist_for_each_safe(node, next, others.first)
		__llist_add(node, &leaving);
	return leaving.first;
}

/*
 * The last reference of an inherited event is dropped when ctx->mutex is not held any more, for the
 * locks that its driver takes.  Nobody else puts an event on such a list while it has references.
 */
static void put_all(struct llist_node *gone)
{
	struct pe_event *e, *next;

	llist_for_each_entry_safe(e, next, gone, put_later)
		pe_put(e);
}

static void leave(struct pe_event *e)
{
	if (e->parent) {
		pe_child_leave(e, PERF_EVENT_STATE_EXIT);
	} else {
		pe_retire(e);
		pe_wake(e);	/* Nothing will come any more: poll() says HUP. */
	}
}

/*
 * Copies whose values are told, pinned, in the order of their opening: pe_record_reads() sleeps,
 * and the closing of a parent takes its copies without ctx->mutex.
 */
static struct llist_node *pin_told(struct pe_ctx *ctx)
{
	LLIST_HEAD(told);
	struct pe_event *e;

	guard(rcu)();
	list_for_each_entry_rcu(e, &ctx->events, ctx_entry)
		if (pe_tells_read(e) && pe_tryget(e))
			__llist_add(&e->put_later, &told);
	return llist_reverse_order(told.first);
}

/* READ records.  Without ctx->mutex, as these may be the last references; nothing is added. */
static void tell_reads(struct pe_ctx *ctx, struct task_struct *task)
{
	struct llist_node *told = pin_told(ctx);

	pe_record_reads(told, task);
	put_all(told);
}

/* With ctx->mutex.  Return: what is to be put without. */
static struct llist_node *leave_all(struct pe_ctx *ctx)
{
	struct llist_node *leaving = pin_leaving(ctx);
	struct pe_event *e;

	llist_for_each_entry(e, leaving, put_later)
		leave(e);
	return leaving;
}

/* Its events leave; some were dropped before they joined.  Return: what is to be put. */
static struct llist_node *empty(struct pe_ctx *ctx)
{
	struct pe_event *e, *next;

	WARN_ON_ONCE(READ_ONCE(ctx->oncpu) >= 0);
	list_for_each_entry_safe_reverse(e, next, &ctx->unjoined, child_entry) {
		list_del_init(&e->child_entry);
		pe_detach(e, PERF_EVENT_STATE_DEAD);
		/* The task goes then, whatever has a reference.  See perf_pmu_unregister(). */
		pe_put_last(e);
	}
	guard(mutex)(&ctx->mutex);
	scoped_guard(raw_spinlock_irq, &ctx->lock)
		ctx->dead = true;
	return leave_all(ctx);
}

/**
 * pe_ctx_end() - a context is of no use any more
 * @ctx: it, with its first reference; not in anywhere, and no task's
 *
 * Without ctx->mutex.
 */
void pe_ctx_end(struct pe_ctx *ctx)
{
	put_all(empty(ctx));
	put_task_struct(ctx->task);
	pe_ctx_put(ctx);
}

/**
 * pe_ctx_end_outside() - the same with locks held that freeing an event must not be inside of
 * @ctx: it, of a kin: all of its events have joined their families, which they leave at once
 */
void pe_ctx_end_outside(struct pe_ctx *ctx)
{
	struct pe_event *e, *next;

	WARN_ON_ONCE(!list_empty(&ctx->unjoined));
	llist_for_each_entry_safe(e, next, empty(ctx), put_later)
		pe_put_outside(e);
	put_task_struct(ctx->task);
	pe_ctx_put(ctx);
}

/**
 * perf_event_exit_task() - a task exits, or execs something its tracers may not look into
 * @task: current
 *
 * Contract.  The task may get a new context if it goes on.
 */
void perf_event_exit_task(struct task_struct *task)
{
	struct llist_node *gone;
	struct pe_kin *kin;
	struct pe_ctx *ctx;

	if (task->flags & PF_EXITING) {
		pe_task_data_exit(task);
		pe_sideband_chain_now();
	}
	disown_all(task);

	kin = pe_kin_exit();
	ctx = kin ? NULL : take_out_for_good(task);
	scoped_guard(preempt)
		pe_sideband_exit(task, kin ? pe_kin_ctx(kin) : ctx);
	if (kin)
		pe_kin_put(kin);
	if (!ctx)
		return;
	if (ctx->tells_reads) {
		mutex_unlock(&ctx->mutex);
		tell_reads(ctx, task);
		mutex_lock(&ctx->mutex);
	}
	gone = leave_all(ctx);
	mutex_unlock(&ctx->mutex);
	put_all(gone);
	put_task_struct(ctx->task);
	pe_ctx_put(ctx);
}

/*
 * Enable what waits for exec.  The context is out meanwhile, for each sibling would have its group
 * taken out and tried again.  Return: there are events that end with exec.
 */
static bool enable_on_exec(struct pe_ctx *ctx)
{
	bool some_end = false, in = ctx->oncpu >= 0, out = false;
	u64 now = pe_now();
	struct pe_event *e;

	list_for_each_entry(e, &ctx->events, ctx_entry) {
		some_end |= e->attr.remove_on_exec;
		if (!e->attr.enable_on_exec)
			continue;
		if (in && !out)
			pe_ctx_out(ctx, now);
		out = in;
		e->attr.enable_on_exec = 0;
		pe_enable_locked(e, now);
	}
	if (out)
		pe_ctx_in(ctx, NULL, now);
	return some_end;
}

/*
 * Those that end with exec, pinned, in the order of their opening.  With ctx->mutex nothing is
 * added meanwhile; one that cannot be pinned, or that the walk misses, is leaving by itself.  The
 * list may change under the walk, but nobody frees an event of current's context without waiting
 * for RCU: only current does, when it exits.
 */
static struct llist_node *pin_ending(struct pe_ctx *ctx)
{
	LLIST_HEAD(ending);
	struct pe_event *e;

	guard(rcu)();
	list_for_each_entry_rcu(e, &ctx->events, ctx_entry)
		if (e->attr.remove_on_exec && pe_tryget(e))
			__llist_add(&e->put_later, &ending);
	return llist_reverse_order(ending.first);
}

/* The old program's events go; the rest of their groups goes on without them. */
static void remove_on_exec(struct pe_ctx *ctx)
{
	struct llist_node *ending;
	struct pe_event *e;

	mutex_lock(&ctx->mutex);
	ending = pin_ending(ctx);
	llist_for_each_entry(e, ending, put_later) {
		if (e->parent) {
			pe_child_leave(e, PERF_EVENT_STATE_EXIT);
		} else {
			pe_detach(e, PERF_EVENT_STATE_EXIT);
			pe_wake(e);
		}
	}
	mutex_unlock(&ctx->mutex);
	llist_for_each_entry(e, ending, put_later)
		if (!e->parent)
			pe_leave_owner(e);
	put_all(ending);
}

/**
 * perf_event_exec() - current has a new program
 *
 * Contract, from begin_new_exec().
 */
void perf_event_exec(void)
{
	struct pe_ctx *ctx = pe_task_ctx(current);
	bool some_end;

	pe_deferred_forget();
	if (!ctx)
		return;
	local_irq_disable();
	pe_lock_here(ctx);
	some_end = enable_on_exec(ctx);
	pe_unlock_here(ctx);
	local_irq_enable();
	if (some_end)
		remove_on_exec(ctx);
	pe_addr_filters_exec();
}
