// SPDX-License-Identifier: GPL-2.0
/*
 * Kin: tasks with equal inherited events have them in common.
 *
 * What user space sees of an inherited event is the sum over its family.  So it does not matter
 * which copy counts for which task, and there need not be more copies than tasks that run at the
 * same time.  Tasks that could not be told apart by their events are *members* of a kin: they have
 * no context of their own, and the kin has as many contexts as members, or one for each CPU.  When
 * a member comes in, one of these contexts does (sched/kin_switch.c).  Fork and exit of a member
 * take and drop a reference, however many events there are; a switch between two does nothing.
 *
 * A task whose own context has only events of that sort starts a kin when it forks, and becomes a
 * member with its child.  Its own context stays as it is and is never in meanwhile: it has the
 * events that were opened, the contexts of the kin have copies.  They are in the families as all
 * copies are, so ioctl() and read() reach them as they would reach those of single tasks, and what
 * is closed goes out of all of them.
 *
 *	own -> member	the task itself, in fork.  Not if something has come, gone or changed in its
 *			context since the copies were made: ctx->changes.
 *	member -> own	an event is opened on the task, or its own one shall differ from its copies:
 *			then the one that has started the kin has its context again; others get a
 *			new one with copies, as fork would have made it.  Or it exits.
 *	closed		an event was changed in a way that only who is forked later gets to see
 *			(PERF_EVENT_IOC_PERIOD, a program): members stay, their children get copies.
 *	dissolved	each task is to have its own copies: all members leave.
 *
 * When the last reference goes, the copies leave as those of a task that exits.  When all events
 * have been closed, members stay members of a kin without events, but what they fork has none.
 *
 * task->perf_event_ctxp says what a task is.  It changes under task->perf_event_mutex, and so do
 * kin->origin and kin->origin_task, if it is that task's.  A reference on kin->refs belongs to each
 * member; it is dropped when no CPU has a context in for it any more.
 *
 * Lock order: kin->mutex, the SRCU section of the PMUs, ctx->mutex of a new context, family locks.
 * It is not taken with task->perf_event_mutex.
 *
 * Task context.
 */

#include <linux/sched/signal.h>

#include "life.h"
#include "../ext.h"

static void kin_free(struct pe_kin *kin, void (*ctx_end)(struct pe_ctx *ctx))
{
	struct pe_ctx *ctx, *next;

	list_for_each_entry_safe(ctx, next, &kin->ctxs, kin_entry)
		ctx_end(ctx);
	kfree_rcu(kin, rcu);
}

/**
 * pe_kin_put() - drop a reference
 * @kin: the kin
 *
 * Without ctx->mutex, for what freeing an event may need.
 */
void pe_kin_put(struct pe_kin *kin)
{
	if (refcount_dec_and_test(&kin->refs))
		kin_free(kin, pe_ctx_end);
}

/* The same with locks held that freeing an event must not be inside of: mmap_lock, for one. */
static void put_outside(struct pe_kin *kin)
{
	if (refcount_dec_and_test(&kin->refs))
		kin_free(kin, pe_ctx_end_outside);
}

/* The kin that a task is a member of, with a reference, or NULL. */
static struct pe_kin *kin_of(const struct task_struct *task)
{
	struct pe_kin *kin;

	guard(rcu)();
	/* The pointer changes before its reference is dropped, so a failure means: look again. */
	while ((kin = pe_task_kin(task)) && !refcount_inc_not_zero(&kin->refs))
		cpu_relax();
	return kin;
}

/* ------------------------------------------------------------------------------- fork */

static struct perf_event_context *as_member(struct pe_kin *kin)
{
	return (struct perf_event_context *)((unsigned long)kin | PE_IS_KIN);
}

/*
 * Current becomes a member, unless something has happened to its context since @changes.  Who holds
 * the mutex of the context has found it as current's, and may be about to add to it.
 */
static bool become_member(struct pe_kin *kin, struct pe_ctx *from, unsigned int changes)
{
	bool alike;

	guard(mutex)(&current->perf_event_mutex);
	guard(mutex)(&from->mutex);
	scoped_guard(raw_spinlock_irq, &from->lock)
		alike = from->changes == changes && from->nr_events;
	/* Of a task that has copies only, these do not change: see lockless.rst. */
	if (!alike || !pe_ctx_can_be_common(from) || READ_ONCE(kin->closed))
		return false;
	kin->origin = from;
	kin->origin_task = current;
	local_irq_disable();
	if (from->oncpu >= 0)
		pe_ctx_leave_current(from);
	/* Others that see the kin see what it has. */
	smp_store_release(&current->perf_event_ctxp, as_member(kin));
	pe_kin_settle_here();
	local_irq_enable();
	return true;
}

/**
 * pe_kin_start() - current forks: it and the new task become members of a kin, if they can
 * @from: current's context, its own
 * @child: the new task
 *
 * Return: 1: they are; 0: the events are not of that sort; -ENOMEM, or an error of a PMU.
 */
int pe_kin_start(struct pe_ctx *from, struct task_struct *child)
{
	/* before all that is looked at and copied */
	unsigned int changes = smp_load_acquire(&from->changes);
	struct pe_kin *kin;
	int err;

	if (!pe_ctx_can_be_common(from))
		return 0;
	kin = pe_kin_new(2);
	if (!kin)
		return -ENOMEM;
	err = pe_kin_add_ctxs(kin, from);
	if (err || !become_member(kin, from, changes)) {
		/* Who changes an event may have found it. */
		if (refcount_sub_and_test(2, &kin->refs))
			kin_free(kin, pe_ctx_end);
		return err == -EAGAIN ? 0 : err;
	}
	child->perf_event_ctxp = as_member(kin);
	smp_mb();	/* as in pe_kin_forked(), which looks after the child */
	if (unlikely(READ_ONCE(kin->dissolved)))
		pe_kin_go_back(get_task_struct(current));
	return 1;
}

/* The child of a member that is not to be one. */
static int give_copies(struct pe_kin *kin, struct task_struct *child)
{
	struct pe_ctx *ctx = pe_kin_copy(kin, child);

	pe_kin_put(kin);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	child->perf_event_ctxp = &ctx->pub;
	return 0;
}

/**
 * pe_kin_fork() - a member forks
 * @child: the new task
 *
 * Return: 1: it is a member, too, or has copies, or nothing; 0: current is no member; or an error.
 */
int pe_kin_fork(struct task_struct *child)
{
	struct pe_kin *kin = kin_of(current);
	int err = 0;

	if (!kin)
		return 0;
	if (unlikely(pe_kin_is_empty(kin))) {
		pe_kin_go_back(get_task_struct(current));
		pe_kin_put(kin);
		return 1;
	}
	if (unlikely(pe_kin_is_short(kin)) && !READ_ONCE(kin->closed))
		err = pe_kin_add_ctxs(kin, NULL);
	if (unlikely(READ_ONCE(kin->closed)))
		return give_copies(kin, child) ?: 1;
	if (err) {
		pe_kin_put(kin);
		return err;
	}
	child->perf_event_ctxp = as_member(kin);
	return 1;
}

/* ---------------------------------------------------------------------- leaving */

static struct pe_kin *leave_locked(struct task_struct *task, struct pe_kin *of,
				   struct pe_ctx **fresh)
{
	struct pe_kin *kin = pe_task_kin(task);
	struct pe_ctx *own;

	if (!kin)
		return NULL;
	if (READ_ONCE(kin->origin_task) == task) {
		own = kin->origin;
		kin->origin = NULL;
		WRITE_ONCE(kin->origin_task, NULL);
	} else if (kin == of) {
		own = *fresh;
		*fresh = NULL;
	} else {
		return NULL;
	}
	/* A switch that sees the pointer sees an initialised context. */
	smp_store_release(&task->perf_event_ctxp, &own->pub);
	pe_settle_task(task);
	return kin;
}

/*
 * A task has a context of its own from now on: the one that it has started its kin with; or
 * *@fresh, which is taken then, if it is a member of @of.
 *
 * Return: the kin that it has left, with the reference of the member; or NULL: nothing was done.
 */
static struct pe_kin *leave(struct task_struct *task, struct pe_kin *of, struct pe_ctx **fresh)
{
	struct pe_kin *kin;

	/* Nested: see pe_leave_owner(). */
	mutex_lock_nested(&task->perf_event_mutex, SINGLE_DEPTH_NESTING);
	kin = leave_locked(task, of, fresh);
	mutex_unlock(&task->perf_event_mutex);
	return kin;
}

/**
 * pe_kin_go_back() - a task has its own context again, if it has one
 * @task: the task, whose reference is consumed; or NULL
 *
 * Without ctx->mutex; mmap_lock may be held.
 */
void pe_kin_go_back(struct task_struct *task)
{
	struct pe_kin *kin;

	if (!task)
		return;
	kin = leave(task, NULL, NULL);
	if (kin)
		put_outside(kin);
	put_task_struct(task);
}

/* A member that has not started the kin, as far as is known. */
static int leave_with_copies(struct task_struct *task, struct pe_kin *kin)
{
	struct pe_ctx *fresh = pe_kin_copy(kin, task);
	struct pe_kin *left;

	if (IS_ERR(fresh))
		return PTR_ERR(fresh);
	pe_join_families(fresh);
	left = leave(task, kin, &fresh);
	if (left)
		put_outside(left);
	if (fresh)	/* it has left meanwhile, and may even have started another one */
		pe_ctx_end(fresh);
	return 0;
}

/**
 * pe_kin_leave() - a task is to have a context of its own
 * @task: the task, with a reference; if it is a member, it ceases to be one
 *
 * Return: 0, -ENOMEM, or an error of a PMU.
 */
int pe_kin_leave(struct task_struct *task)
{
	struct pe_kin *kin;
	int err;

	if (likely(!pe_task_kin(task)))
		return 0;
	kin = leave(task, NULL, NULL);
	if (kin) {
		put_outside(kin);
		return 0;
	}
	kin = kin_of(task);
	if (!kin)
		return 0;
	err = leave_with_copies(task, kin);
	put_outside(kin);
	return err;
}

/**
 * pe_kin_exit() - current exits and is a member
 *
 * Return: the kin, whose reference is the caller's now, out on this CPU; or NULL: current has a
 * context of its own, or none.
 */
struct pe_kin *pe_kin_exit(void)
{
	struct pe_kin *left, *kin;

	if (!pe_task_kin(current))
		return NULL;
	mutex_lock(&current->perf_event_mutex);
	left = leave_locked(current, NULL, NULL);
	kin = pe_task_kin(current);
	if (kin) {
		guard(irq)();
		WRITE_ONCE(current->perf_event_ctxp, NULL);
		pe_kin_settle_here();
	}
	mutex_unlock(&current->perf_event_mutex);
	if (left)
		pe_kin_put(left);
	return kin;
}

/* ------------------------------------------------------------ events that become different */

/**
 * pe_kin_emptied() - an event that was opened has left its context: was it the last?
 * @ctx: the context, its mutex held
 *
 * A task whose own context is empty has nothing in common with others.
 *
 * Return: NULL, or the task, with a reference, for pe_kin_go_back().
 */
struct task_struct *pe_kin_emptied(struct pe_ctx *ctx)
{
	lockdep_assert_held(&ctx->mutex);
	if (!ctx->task || ctx->dead || ctx->nr_events || !pe_task_kin(ctx->task))
		return NULL;
	return get_task_struct(ctx->task);
}

/**
 * pe_kin_stay_out() - an event's task has its own context again, and keeps it
 * @e: an event that was opened; without ctx->mutex, mmap_lock may be held
 *
 * It is about to differ from all of its copies.
 */
void pe_kin_stay_out(struct pe_event *e)
{
	struct task_struct *task = NULL;

	if (!e->attr.inherit || pe_is_session(e))
		return;
	scoped_guard(pe_event_ctx, e) {
		struct pe_ctx *ctx = pe_ctx(e);

		WRITE_ONCE(e->stays_out, true);
		guard(raw_spinlock_irq)(&ctx->lock);
		pe_ctx_changed(ctx);
		if (ctx->task && !ctx->dead)
			task = get_task_struct(ctx->task);
	}
	pe_kin_go_back(task);
}

/**
 * pe_kin_differ() - an event is about to differ from its copies; those made later are like it
 * @e: an event that was opened; without ctx->mutex
 */
void pe_kin_differ(struct pe_event *e)
{
	struct pe_event *child;
	struct pe_kin *kin;

	pe_kin_stay_out(e);
	if (!READ_ONCE(e->stays_out))
		return;
	/* A copy that has not left its family keeps the memory of its kin. */
	guard(mutex)(&e->family_lock);
	list_for_each_entry(child, &e->children, child_entry) {
		kin = READ_ONCE(pe_ctx(child)->kin);
		if (kin)
			WRITE_ONCE(kin->closed, true);
	}
}

/* Some members, with a reference each.  Return: how many. */
static unsigned int find_members(struct pe_kin *kin, struct task_struct **tasks, unsigned int room)
{
	struct task_struct *process, *task;
	unsigned int n = 0;

	guard(rcu)();
	for_each_process_thread(process, task) {
		if (pe_task_kin(task) != kin)
			continue;
		tasks[n++] = get_task_struct(task);
		if (n == room)
			return n;
	}
	return n;
}

static int dissolve(struct pe_kin *kin)
{
	struct task_struct *tasks[32];
	unsigned int nr, i;
	int err = 0;

	WRITE_ONCE(kin->closed, true);
	WRITE_ONCE(kin->dissolved, true);
	smp_mb();	/* pairs with pe_kin_start(), pe_kin_forked(): seen there, or here */
	do {
		nr = find_members(kin, tasks, ARRAY_SIZE(tasks));
		for (i = 0; i < nr; i++) {
			/* Copies for many tasks may be what it is to be killed for. */
			if (!err && fatal_signal_pending(current))
				err = -EINTR;
			err = err ?: pe_kin_leave(tasks[i]);
			put_task_struct(tasks[i]);
		}
	} while (nr && !err);
	if (err)	/* whoever asks again is to go on */
		WRITE_ONCE(kin->dissolved, false);
	return err;
}

/* To those who hold it, kin->dissolved says that it has been done. */
static DEFINE_MUTEX(dissolve_mutex);

/* The kin of a copy, which is not dissolved, with a reference; or NULL. */
static struct pe_kin *next_kin(struct pe_event *e)
{
	struct pe_event *child;
	struct pe_kin *kin;

	guard(mutex)(&e->family_lock);
	list_for_each_entry(child, &e->children, child_entry) {
		kin = READ_ONCE(pe_ctx(child)->kin);
		if (kin && !READ_ONCE(kin->dissolved) && refcount_inc_not_zero(&kin->refs))
			return kin;
	}
	return NULL;
}

/**
 * pe_kin_dissolve() - each task is to have its own copy of an event
 * @e: an event that was opened; without ctx->mutex
 *
 * Return: 0; -EINTR, or an error of pe_kin_leave(): then some have.
 */
int pe_kin_dissolve(struct pe_event *e)
{
	struct pe_kin *kin;
	int err;

	pe_kin_stay_out(e);
	if (!READ_ONCE(e->stays_out))
		return 0;
	err = mutex_lock_killable(&dissolve_mutex);
	if (err)
		return err;
	while (!err && (kin = next_kin(e))) {
		err = dissolve(kin);
		pe_kin_put(kin);
	}
	mutex_unlock(&dissolve_mutex);
	return err;
}

/**
 * pe_kin_forked() - fork has succeeded, and others can find the new task
 * @task: the new task, a member or without events; it has not run
 *
 * Without memory it stays a member of a kin that is dissolved.
 */
void pe_kin_forked(struct task_struct *task)
{
	bool dissolved = false;
	struct pe_kin *kin;

	if (!pe_task_kin(task))
		return;
	/* Others can find it, and make it leave. */
	scoped_guard(rcu) {
		kin = pe_task_kin(task);
		smp_mb();	/* see dissolve() */
		if (kin)
			dissolved = READ_ONCE(kin->dissolved);
	}
	if (unlikely(dissolved))
		pe_kin_leave(task);
}
