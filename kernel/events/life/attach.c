// SPDX-License-Identifier: GPL-2.0
/*
 * Finding a context, and the way of an event into it and out of it.
 *
 * A task context is made with the task's first event and stays until the task exits.  It is
 * published in task->perf_event_ctxp under task->perf_event_mutex, and from then on every switch
 * of the task looks at it, unless the task is a member of a kin, which it ceases to be when its
 * context is to be found.  A task that was running already has to be told: when its context gets
 * its first event, when it leaves a kin.  That is pe_settle_task().
 *
 * The pointer is stored before the scheduler is asked where the task runs.  task_call_func()
 * answers under the lock that every switch to the task takes, or that every wake-up takes before
 * one: a CPU that brings the task later than the answer sees the pointer and takes ctx->lock
 * itself, and one that did it before is told by an interrupt.  See lockless.rst.  That the switch
 * code is reached at all is ensured before, by pe_account(), which waits until all CPUs see the
 * static key.
 *
 * Called from task context, without raw locks.
 */

#include <linux/sched/signal.h>
#include <linux/wait.h>
#include "life.h"
#include "../ext.h"

/**
 * pe_lock_ctx() - take the mutex of the context that an event is in
 * @e: an event that was attached once
 *
 * While it is held the event stays in this context, or in none.  Return: the context.
 */
struct pe_ctx *pe_lock_ctx(struct pe_event *e)
{
	for (;;) {
		struct pe_ctx *ctx = pe_ctx(e);

		mutex_lock(&ctx->mutex);
		if (likely(pe_ctx(e) == ctx))
			return ctx;
		mutex_unlock(&ctx->mutex);
	}
}

static struct pe_ctx *get_live_ctx(struct task_struct *task)
{
	struct pe_ctx *ctx;

	guard(rcu)();
	/* A pointer changes before its reference is dropped, so a failure means: look again. */
	while ((ctx = pe_task_ctx(task)) && !refcount_inc_not_zero(&ctx->refs))
		cpu_relax();
	return ctx;
}

/* Publish @fresh unless another opener was faster. Return: the task's context or an error. */
static struct pe_ctx *publish_ctx(struct task_struct *task, struct pe_ctx *fresh)
{
	guard(mutex)(&task->perf_event_mutex);
	/* It may even have become a member of a kin: the caller looks again. */
	if (READ_ONCE(task->perf_event_ctxp))
		return get_live_ctx(task);
	/* Checked under the mutex that perf_event_exit_task() takes after PF_EXITING is set. */
	if (data_race(task->flags) & PF_EXITING)
		return ERR_PTR(-ESRCH);
	pe_ctx_get(fresh);
	/* A switch that sees the pointer sees an initialised context. */
	smp_store_release(&task->perf_event_ctxp, &fresh->pub);
	return fresh;
}

static void discard_ctx(struct pe_ctx *ctx)
{
	put_task_struct(ctx->task);
	pe_ctx_put(ctx);
}

static struct pe_ctx *get_cpu_ctx(int cpu)
{
	int err = perf_allow_cpu();

	if (err)
		return ERR_PTR(err);
	pe_ctx_get(&per_cpu(pe_cpu, cpu).ctx);
	return &per_cpu(pe_cpu, cpu).ctx;
}

/* A member of a kin gets a context of its own, and keeps it if the open fails after that. */
static struct pe_ctx *get_task_ctx(struct task_struct *task)
{
	struct pe_ctx *ctx, *fresh;
	int err = pe_kin_leave(task);

	if (err)
		return ERR_PTR(err);
	ctx = get_live_ctx(task);
	if (ctx)
		return ctx;
	fresh = pe_ctx_new(task);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	ctx = publish_ctx(task, fresh);
	if (ctx != fresh)
		discard_ctx(fresh);
	return ctx;
}

/*
 * Is it still the context of @task, or dead?  If so, it stays that while its mutex is held: a task
 * becomes a member of a kin under that mutex.
 */
static bool stays_with(struct pe_ctx *ctx, const struct task_struct *task)
{
	lockdep_assert_held(&ctx->mutex);
	return ctx->dead || pe_task_ctx(task) == ctx;
}

/**
 * pe_find_ctx() - the context for events of a task or a CPU
 * @task: the task, or NULL
 * @cpu: without a task: the CPU, which may be offline
 *
 * Sleeps.  Return: the context with a reference and its mutex held, perhaps dead; -EACCES if events
 * of a CPU are not for the caller; -ESRCH if the task exits; -ENOMEM.
 */
struct pe_ctx *pe_find_ctx(struct task_struct *task, int cpu)
{
	for (;;) {
		struct pe_ctx *ctx = task ? get_task_ctx(task) : get_cpu_ctx(cpu);

		if (IS_ERR(ctx))
			return ctx;
		if (!ctx)
			continue;
		mutex_lock(&ctx->mutex);
		if (!task || stays_with(ctx, task))
			return ctx;
		mutex_unlock(&ctx->mutex);
		pe_ctx_put(ctx);
	}
}

static void pe_settle_ipi(void *unused)
{
	pe_kin_settle_here();
}

static int pe_install_cpu_of(struct task_struct *task, void *unused)
{
	return task_curr(task) ? task_cpu(task) : -1;
}

/**
 * pe_settle_task() - what is to count for a task has changed: its CPU, if it runs, is told
 * @task: the task
 *
 * Where it comes in later, this is seen.  No lock of a context is held, as those of the scheduler
 * are outside of them.
 */
void pe_settle_task(struct task_struct *task)
{
	int cpu;

	if (task == current) {
		guard(irq)();
		pe_kin_settle_here();
		return;
	}
	cpu = task_call_func(task, pe_install_cpu_of, NULL);
	if (cpu >= 0)
		smp_call_function_single(cpu, pe_settle_ipi, NULL, 1);
}

/*
 * Let a context in whose task runs already.
 * @ctx: a published task context that has got its first event; its mutex held, so it is alive
 */
static void activate_ctx(struct pe_ctx *ctx)
{
	lockdep_assert_held(&ctx->mutex);
	/* If not, it has come in since it was empty. */
	if (READ_ONCE(ctx->oncpu) < 0)
		pe_settle_task(ctx->task);
}

/* Events of a PMU that can do one thing at a time: does @e get in the way of @other? */
static bool rivals(const struct pe_event *e, const struct pe_event *other)
{
	return e->pmu == other->pmu &&
	       (e->cpu == other->cpu || e->cpu == -1 || other->cpu == -1);
}

/**
 * pe_has_rival() - is the event's PMU taken?
 * @e: the event
 * @ctx: the context it is to be attached to, its mutex held
 *
 * Return: whether the PMU can do one thing at a time, and another event there is in the way.
 */
bool pe_has_rival(struct pe_event *e, struct pe_ctx *ctx)
{
	struct pe_event *other;

	if (!is_exclusive_pmu(e->pmu))
		return false;
	guard(rcu)();
	list_for_each_entry_rcu(other, &ctx->events, ctx_entry)
		if (rivals(e, other))
			return true;
	return false;
}

/**
 * pe_prepare_ctx() - everything between finding a context and attaching an event to it
 * @e: the event; its group leader may be another one, checked by the caller
 * @ctx: the context, its mutex held
 *
 * Sets e->pmu_ctx: software events go where the rest of their group is.  For a copy that is where
 * the copies are, not the originals: the hardware there may be leaving, and be left out.
 * Return: 0; -ESRCH if the task exits; -ENODEV if the CPU is offline; -ENOMEM.
 */
int pe_prepare_ctx(struct pe_event *e, struct pe_ctx *ctx)
{
	struct pe_event *leader = pe_leader(e);
	struct pmu *pmu = e->pmu;
	int err;

	if (ctx->dead)
		return -ESRCH;
	if (!ctx->task && !per_cpu(pe_cpu, ctx->cpu).online)
		return -ENODEV;

	if (leader != e && is_software_event(&e->pub))
		pmu = pe_pmu_ctx(leader)->pmu;
	err = pe_ctx_reserve(ctx, pmu, e);
	/* Where it goes when the others leave. */
	if (!err && pmu != e->pmu)
		err = pe_ctx_reserve(ctx, e->pmu, e);
	/* A leader in a cgroup's slot is queued there, by the PMU that the newcomer brings. */
	if (!err && leader->cgrp != e->cgrp)
		err = pe_ctx_reserve(ctx, pmu, leader);
	if (err)
		return err;
	e->pmu_ctx = &pe_find_pmu_ctx(ctx, pmu)->pub;
	return pe_task_data_get(e, ctx);
}

struct install_args {
	struct pe_event	*e;
	bool		first;		/* of the context, which is to be let in yet */
};

static void pe_install_locked(struct pe_ctx *ctx, void *arg)
{
	struct install_args *args = arg;
	u64 now = pe_now();

	/* One that is being filled by pe_copy_events() is no task's until it is full. */
	args->first = ctx->task && !ctx->nr_events && pe_task_ctx(ctx->task) == ctx;
	pe_install(args->e, now);
	/*
	 * Nobody has to be told, and without groups no other lock is needed.  A context of a kin
	 * that current has just left may be in yet.
	 */
	if (args->first && ctx->task == current && ctx->oncpu < 0 && !ctx->nr_groups &&
	    !__this_cpu_read(pe_cpu.shared)) {
		pe_ctx_in(ctx, NULL, now);
		args->first = false;
	}
}

/* Nothing of the group is in hardware, with the newcomer neither; and nobody looks at it. */
static bool joins_passively(const struct pe_event *e)
{
	const struct pe_event *leader = pe_leader(e);

	if (!pe_passive_in_group(e, leader) || pe_cgroup_is_first(e))
		return false;
	return leader == e || (pe_group_passive(leader) && !leader->samples_group &&
			       !pe_samples_group(e));
}

/**
 * pe_attach() - put a new event into its context, and start it if it is enabled
 * @ctx: the context, its mutex held, alive; what the event needs is reserved
 * @e: the event: pmu_ctx and group_leader are set
 *
 * The caller's reference on the context goes to the event.
 */
void pe_attach(struct pe_ctx *ctx, struct pe_event *e)
{
	struct install_args args = { .e = e };

	lockdep_assert_held(&ctx->mutex);
	e->slot = pe_ctx_slot(ctx, e);
	/* Pairs with lock_group(), which looks without a lock. */
	smp_store_release(&e->ctx, &ctx->pub);

	raw_spin_lock_irq(&ctx->lock);
	if (ctx->oncpu < 0 || joins_passively(e)) {
		pe_install_locked(ctx, &args);
		raw_spin_unlock_irq(&ctx->lock);
	} else {
		raw_spin_unlock_irq(&ctx->lock);
		pe_call(ctx, pe_install_locked, &args);
	}
	if (args.first)
		activate_ctx(ctx);
}

struct detach_args {
	struct pe_event		*e;
	enum perf_event_state	final;
	enum pe_withdrawal	how;
};

static void pe_detach_locked(struct pe_ctx *ctx, void *arg)
{
	struct detach_args *args = arg;
	struct pe_event *e = args->e;
	u64 now = pe_now();

	pe_withdraw(e, args->how, now);
	if (e->state > args->final)
		pe_set_state(e, args->final, now);
}

/**
 * pe_detach() - take an event out of its context, from wherever
 * @e: an event with a context; it may have left already
 * @final: PERF_EVENT_STATE_EXIT, _REVOKED, _DEAD, or _OFF
 *
 * For events that a user opened, ctx->mutex is held: siblings are walked under it.
 */
void pe_detach(struct pe_event *e, enum perf_event_state final)
{
	struct detach_args args = { .e = e, .final = final };

	pe_member_call(e, pe_detach_locked, &args);
	if (unlikely(pe_ext(e))) {
		pe_hold_release(e);
		pe_hold_wake(e);
	}
	pe_task_data_put(e);
}

/**
 * pe_retire() - an event's task exits
 * @e: an event of the task's context, which is dead; ctx->mutex is held
 *
 * Members of a group that a user opened exit together, and can be read as a group until closed.
 */
void pe_retire(struct pe_event *e)
{
	struct detach_args args = {
		.e		= e,
		.final		= PERF_EVENT_STATE_EXIT,
		.how		= e->parent ? PE_LEAVE_GROUP : PE_KEEP_GROUP,
	};

	pe_event_call(e, pe_detach_locked, &args);
	pe_task_data_put(e);
}

/**
 * pe_leave_owner() - the opener of an event does not enable it by prctl() any more
 * @e: an event that was opened, not inherited
 *
 * Task context, without ctx->mutex.
 */
void pe_leave_owner(struct pe_event *e)
{
	struct task_struct *owner;

	/*
	 * The owner's exit clears the pointer under its mutex before the task can go; the task that
	 * still sees it may pin the task for as long as RCU keeps it.
	 */
	rcu_read_lock();
	owner = READ_ONCE(e->owner);
	if (owner)
		get_task_struct(owner);
	rcu_read_unlock();
	if (!owner)
		return;

	/* Closing may happen inside the owner's exit, or in an LSM hook under its own mutex. */
	mutex_lock_nested(&owner->perf_event_mutex, SINGLE_DEPTH_NESTING);
	if (e->owner) {
		list_del_init(&e->owner_entry);
		e->owner = NULL;
	}
	mutex_unlock(&owner->perf_event_mutex);
	put_task_struct(owner);
}

/* @e is DEAD.  Who joined before the family lock is taken is on the list, nobody joins after. */
static void release_children(struct pe_event *e)
{
	struct pe_event *child;

	mutex_lock(&e->family_lock);
	while ((child = list_first_entry_or_null(&e->children, struct pe_event, child_entry))) {
		list_del_init(&child->child_entry);
		child->in_family = false;
		mutex_unlock(&e->family_lock);
		pe_detach(child, PERF_EVENT_STATE_DEAD);
		pe_put(child);
		mutex_lock(&e->family_lock);
	}
	mutex_unlock(&e->family_lock);
}

/**
 * pe_release() - the last user of an event has closed it
 * @e: an event that was opened, not inherited; its user's reference is consumed
 *
 * A child that fork has not brought into the family yet sees DEAD when it wants to join.
 */
void pe_release(struct pe_event *e)
{
	struct task_struct *task;

	pe_leave_owner(e);
	scoped_guard(pe_event_ctx, e) {
		pe_detach(e, PERF_EVENT_STATE_DEAD);
		task = pe_kin_emptied(pe_ctx(e));
	}
	release_children(e);
	pe_kin_go_back(task);
	pe_put(e);
}
