// SPDX-License-Identifier: GPL-2.0
/*
 * Inheritance: a new task gets a copy of each event of its parent that says so.
 *
 * The copies of an event form its family, whichever task forked which: e->parent is always the
 * event that a user opened.  Its family lock guards the list of copies and the moment at which a
 * copy's counts move into the sums of those that are gone.
 *
 *	perf_event_init_task()	makes the copies in a context that nobody can see yet; they are on
 *				ctx->unjoined.  Fork may still fail: perf_event_free_task().
 *	perf_event_fork()	fork cannot fail any more: the copies join their families.  One
 *				whose parent was closed meanwhile is dropped, one whose family
 *				was enabled, disabled or moved meanwhile (family_gen) follows.
 *	pe_child_leave()	the task exits: counts go to the sums, the copy is unlinked.
 *
 * Tasks whose events could not be told apart have them in common instead of copies: see kin.c.
 *
 * The parent task's context is walked through a snapshot, since copying sleeps.  Events may be
 * closed meanwhile, which makes a group smaller: nothing depends on a group being complete, and
 * reading such a group says -ECHILD (read.c).
 *
 * Called by fork and exit in task context.
 */

#include <linux/hw_breakpoint.h>
#include <linux/task_work.h>
#include <linux/wait_bit.h>
#include "life.h"
#include "../ext.h"

static bool inherits(const struct pe_event *e, u64 clone_flags)
{
	/* Siblings go with their leader. */
	return e->attr.inherit &&
	       (!e->attr.inherit_thread || clone_flags & CLONE_THREAD) &&
	       /* Without its handlers the new task would die of the first signal. */
	       (!e->attr.sigtrap || !(clone_flags & CLONE_CLEAR_SIGHAND));
}

static void copy_period(struct pe_event *copy, const struct pe_event *from)
{
	if (!from->attr.freq)
		return;
	copy->hw.sample_period = from->hw.sample_period;
	copy->hw.last_period = from->hw.sample_period;
	local64_set(&copy->hw.period_left, from->hw.sample_period);
}

/* Return: the copy, attached; NULL if its PMU is going. */
static struct pe_event *make_copy(struct pe_event *from, struct pe_event *leader,
				  enum perf_event_state state, struct pe_ctx *ctx)
{
	struct pe_event *origin = pe_origin(from);
	struct pe_origin_args args = {
		.attr	= &origin->attr,
		.cpu	= origin->cpu,
		.task	= ctx->task,
		.leader	= leader,
		.parent	= origin,
		.own_tasks = from->own_tasks,
	};
	struct perf_event_attr whole;
	struct pe_event *e;
	int err;

	/* PERF_EVENT_IOC_MODIFY_ATTRIBUTES may be half done; join_family() sees if it was. */
	if (origin->attr.type == PERF_TYPE_BREAKPOINT) {
		mutex_lock(&origin->family_lock);
		whole = origin->attr;
		mutex_unlock(&origin->family_lock);
		args.attr = &whole;
	}
	e = pe_alloc(&args);
	if (IS_ERR(e))
		return READ_ONCE(origin->pmu->gone) ? NULL : e;

	e->state = state >= PERF_EVENT_STATE_INACTIVE ? PERF_EVENT_STATE_INACTIVE :
							PERF_EVENT_STATE_OFF;
	e->attr.enable_on_exec = from->attr.enable_on_exec;
	copy_period(e, from);

	err = pe_ext_inherit(e) ?: pe_prepare_ctx(e, ctx);
	if (err) {
		pe_put(e);
		return ERR_PTR(err);
	}
	pe_ctx_get(ctx);
	pe_attach(ctx, e);
	return e;
}

/* The work that stops it may be on its way. */
static void note_state(struct pe_event *e)
{
	e->clone_state = READ_ONCE(e->pending_disable) ? PERF_EVENT_STATE_OFF : e->state;
}

/*
 * A group is copied in the state that all of it has at one moment.  @from: a leader, or what leads
 * itself as soon as its own leader has left.
 */
static void note_states(struct pe_event *from)
{
	struct pe_event *m;

	guard(raw_spinlock_irq)(&pe_ctx(from)->lock);
	if (pe_is_leader(from))
		pe_for_each_sibling(m, from)
			note_state(m);
	/* Last: an overflow of a sibling, in an NMI, stops its leader as well. */
	note_state(from);
}

/* One whose state is EXIT is about to leave, and that is one step under the lock. */
static bool leaves_session(struct pe_event *from)
{
	guard(raw_spinlock_irq)(&pe_ctx(from)->lock);
	return !from->in_family || from->state <= PERF_EVENT_STATE_EXIT;
}

/* Return: the copy with one reference, for the family; NULL if @from or its PMU is going. */
static struct pe_event *copy_event(struct pe_event *from, struct pe_event *leader,
				   struct pe_ctx *ctx)
{
	struct pe_event *origin = pe_origin(from), *e;
	unsigned int session_gen = 0;
	bool left = false;

	if (!leader)
		note_states(from);
	if (pe_is_session(origin)) {
		guard(mutex)(&origin->family_lock);
		session_gen = origin->session_gen;
		left = leaves_session(from);
	}
	if (left || READ_ONCE(origin->state) <= PERF_EVENT_STATE_REVOKED)
		return NULL;
	e = make_copy(from, leader, from->clone_state, ctx);
	if (IS_ERR_OR_NULL(e))
		return e;
	e->family_gen = from->clone_gen;
	e->session_gen = session_gen;
	list_add_tail(&e->child_entry, &ctx->unjoined);
	return e;
}

/*
 * The leader of a new task's copy of @e; or @e if that leads itself, as it is about to do in the
 * parent when its own leader is on its way out; or NULL if @e is not to be copied.
 */
static struct pe_event *copied_leader(struct pe_event *e, u64 clone_flags)
{
	struct pe_event *leader = pe_leader(e);

	if (leader != e && leader->clone)
		return leader->clone;
	if (!inherits(leader, clone_flags))
		return NULL;
	if (leader != e && (pe_needs_tracer(e) || e->event_caps & PERF_EV_CAP_SIBLING))
		return NULL;
	return e;
}

/*
 * A change of the family from here on is seen when the copy joins.  Siblings come before leaders:
 * what changes both families at once, and is seen by the copy of a leader, is so by its siblings',
 * which join later.
 */
static void note_gen(struct pe_event *from)
{
	struct pe_event *origin = pe_origin(from);

	guard(mutex)(&origin->family_lock);
	from->clone = NULL;
	from->clone_gen = origin->family_gen;
}

/**
 * pe_copy_events() - copy events into another context
 * @ctx: the context, which nobody else can see; its mutex held, class PE_FRESH_CTX
 * @from: events of one context, pinned, leaders before their siblings; nobody else copies them now
 * @nr: length of @from
 * @clone_flags: CLONE_* of the fork
 *
 * In a section of pe_pmus_read_lock().  Return: 0 or an error; the copies are on ctx->unjoined.
 */
int pe_copy_events(struct pe_ctx *ctx, struct pe_event **from, unsigned int nr, u64 clone_flags)
{
	unsigned int i;

	for (i = nr; i--;)
		note_gen(from[i]);
	for (i = 0; i < nr; i++) {
		struct pe_event *leader = copied_leader(from[i], clone_flags);
		struct pe_event *copy;

		if (!leader)
			continue;
		copy = copy_event(from[i], leader == from[i] ? NULL : leader, ctx);
		if (IS_ERR(copy))
			return PTR_ERR(copy);
		from[i]->clone = copy;
	}
	return 0;
}

/* @from: current's own context.  The copy is the child's when it is complete. */
static int inherit_ctx(struct task_struct *child, struct pe_ctx *from, u64 clone_flags)
{
	struct pe_ctx *ctx = pe_ctx_new(child);
	struct pe_event **events;
	unsigned int nr;
	int err, idx;

	if (!ctx)
		return -ENOMEM;
	/* PMUs of events that are not REVOKED stay meanwhile. */
	idx = pe_pmus_read_lock();
	events = pe_ctx_snapshot(from, &nr);
	err = events ? 0 : -ENOMEM;
	if (!err) {
		/* What opens trace events takes locks that ctx->mutex is inside of otherwise. */
		mutex_lock_nested(&ctx->mutex, PE_FRESH_CTX);
		err = pe_copy_events(ctx, events, nr, clone_flags);
		mutex_unlock(&ctx->mutex);
		pe_snapshot_put(events, nr);
	}
	pe_pmus_read_unlock(idx);
	if (err)
		pe_ctx_end(ctx);
	else
		child->perf_event_ctxp = &ctx->pub;
	return err;
}

/**
 * perf_event_init_task() - set up a new task
 * @child: the task, a copy of current, not visible yet
 * @clone_flags: CLONE_* of the fork
 *
 * Contract, from copy_process().  Return: 0 or an error that makes fork fail.
 */
int perf_event_init_task(struct task_struct *child, u64 clone_flags)
{
	struct pe_ctx *from;
	int err;

	memset(child->perf_recursion, 0, sizeof(child->perf_recursion));
	child->perf_event_ctxp = NULL;
	child->perf_last_error = NULL;
	child->perf_deferred = 0;
	init_task_work(&child->perf_deferred_work, pe_sideband_chain);
	mutex_init(&child->perf_event_mutex);
	INIT_LIST_HEAD(&child->perf_event_list);

	err = pe_kin_fork(child);
	if (err)
		return min(err, 0);
	from = pe_task_ctx(current);
	if (!from || !READ_ONCE(from->nr_inherit))
		return 0;
	err = pe_kin_start(from, child);
	if (!err)
		err = inherit_ctx(child, from, clone_flags);
	return min(err, 0);
}

/**
 * perf_event_free_task() - fork failed after perf_event_init_task()
 * @task: the task that will not be
 */
void perf_event_free_task(struct task_struct *task)
{
	struct pe_kin *kin = pe_task_kin(task);
	struct pe_ctx *ctx = pe_task_ctx(task);

	task->perf_event_ctxp = NULL;
	if (kin)
		pe_kin_put(kin);
	if (ctx)
		pe_ctx_end(ctx);
}

static void pe_inherit_follow(struct pe_ctx *ctx, void *arg)
{
	struct pe_event *e = arg;

	if (pe_parent(e)->family_on)
		pe_enable_locked(e, pe_now());
	else
		pe_disable_locked(e, pe_now());
}

#ifdef CONFIG_HAVE_HW_BREAKPOINT
static void pe_inherit_stop(struct pe_ctx *ctx, void *arg)
{
	pe_disable_locked(arg, pe_now());
}

/* Return: false if @e cannot watch what its family watches now. */
static bool follow_breakpoint(struct pe_event *e)
{
	struct perf_event_attr *attr = &pe_parent(e)->attr;

	if (attr->type != PERF_TYPE_BREAKPOINT)
		return true;
	pe_event_call(e, pe_inherit_stop, e);
	if (modify_user_hw_breakpoint_check(&e->pub, attr, false))
		return false;
	e->attr.sig_data = attr->sig_data;
	return true;
}
#else
static bool follow_breakpoint(struct pe_event *e)
{
	return true;
}
#endif

/* The family may have been enabled, disabled or moved since.  Return: @e is as the others. */
static bool follow(struct pe_event *e)
{
	pe_ext_follow(e);
	if (e->family_gen == pe_parent(e)->family_gen)
		return true;
	if (!follow_breakpoint(e))
		return false;
	pe_event_call(e, pe_inherit_follow, e);
	return true;
}

/*
 * The ranges of a new member are its own task's.  A change of the list that began before may have
 * found the copy or missed it; it is over when the mutex is taken.
 */
static void follow_filters(struct pe_event *e)
{
	guard(mutex)(pe_addr_filters_mutex(e));
	if (!list_empty(&pe_parent(e)->addr_filters.list))
		pe_addr_filters_apply(e);
}

/*
 * A new task is a target of a session with all members, or not at all: its parent may just have
 * become one, or be leaving, when it was forked.
 */
static bool is_whole(const struct pe_event *e, const struct pe_event *parent)
{
	/* Not by what leads now: if the first member's PMU has gone, the others lead themselves. */
	if (parent != parent->session->member[0])
		return !pe_is_leader(e);
	return pe_is_leader(e) && e->nr_siblings == parent->nr_siblings &&
	       e->session_gen == parent->session_gen && !parent->session->leaving;
}

/* A parent that is alive has its session: closing takes the lock before that goes. */
static bool may_join(struct pe_event *e, struct pe_event *parent)
{
	lockdep_assert_held(&parent->family_lock);
	return READ_ONCE(parent->state) > PERF_EVENT_STATE_REVOKED &&
	       READ_ONCE(e->state) > PERF_EVENT_STATE_EXIT &&
	       (!pe_is_session(parent) || is_whole(e, parent)) && follow(e);
}

static void join_family(struct pe_event *e)
{
	struct pe_event *parent = pe_parent(e);
	bool filtered = e->addr_filter_ranges;

	if (filtered)
		pe_get(e);	/* the closing of the family drops it */
	mutex_lock(&parent->family_lock);
	list_del_init(&e->child_entry);
	if (may_join(e, parent)) {
		list_add_tail(&e->child_entry, &parent->children);
		e->in_family = true;
		mutex_unlock(&parent->family_lock);
		if (filtered)
			follow_filters(e);
	} else {
		mutex_unlock(&parent->family_lock);
		pe_detach(e, PERF_EVENT_STATE_DEAD);
		pe_put(e);
	}
	if (filtered)
		pe_put(e);
}

/**
 * pe_join_families() - copies are members of their families from now on
 * @ctx: their context; its task has not run with it
 */
void pe_join_families(struct pe_ctx *ctx)
{
	struct pe_event *e, *next;

	list_for_each_entry_safe(e, next, &ctx->unjoined, child_entry)
		join_family(e);
}

/**
 * perf_event_fork() - a fork has succeeded; the new task has not run yet
 * @task: the new task
 *
 * Contract, from copy_process().
 */
void perf_event_fork(struct task_struct *task)
{
	struct pe_ctx *ctx = pe_task_ctx(task);

	if (ctx)
		pe_join_families(ctx);
	else
		pe_kin_forked(task);
	pe_task_data_fork(task);
	pe_sideband_fork(task);
	perf_event_namespaces(task);
}

/* Contract, from the release of a task_struct, after an RCU grace period. */
void perf_event_delayed_put(struct task_struct *task)
{
	WARN_ON_ONCE(task->perf_event_ctxp);
}

/**
 * pe_child_leave() - an inherited event's task exits, or its PMU goes
 * @child: the event, still in its group; ctx->mutex is held
 * @final: PERF_EVENT_STATE_EXIT or _REVOKED
 *
 * It leaves its context and its family in one step for the holders of the family lock: a read sees
 * the copy, or the sums.  Members of a group go one after the other, though, as on Linux 6.12: a
 * read of the group in between has this task's counts of some members only.
 * If the parent is being closed at the same time, the side that unlinks the child drops it.  One
 * that fork has not brought into the family yet has counted nothing, and is dropped when it wants
 * to join.
 */
void pe_child_leave(struct pe_event *child, enum perf_event_state final)
{
	struct pe_event *parent = pe_parent(child);
	bool ours;

	mutex_lock(&parent->family_lock);
	pe_detach(child, final);
	ours = pe_leave_family(child, parent);
	if (ours && pe_of_target(child) && pe_ext(child) && pe_ext(parent))
		pe_set_fold(&pe_ext(child)->set, &pe_ext(parent)->set);
	mutex_unlock(&parent->family_lock);
	if (!ours)
		return;
	/* The child may have been the last one: poll() on the parent says HUP then. */
	pe_wake(parent);
	pe_put(child);
}

/**
 * pe_family_each() - for an event and its children
 * @e: an event that a user opened; its ctx->mutex is held
 * @fn: may sleep
 * @arg: its argument
 *
 * With the family lock held: nobody joins or leaves meanwhile.
 */
void pe_family_each(struct pe_event *e, void (*fn)(struct pe_event *e, void *arg), void *arg)
{
	struct pe_event *child;

	lockdep_assert_held(&pe_ctx(e)->mutex);
	/* Never has children; what else @fn wants to be alone with, ctx->mutex keeps. */
	if (!e->attr.inherit) {
		fn(e, arg);
		return;
	}
	mutex_lock(&e->family_lock);
	fn(e, arg);
	list_for_each_entry(child, &e->children, child_entry)
		fn(child, arg);
	mutex_unlock(&e->family_lock);
}

/**
 * pe_family_snapshot() - an event and its children, as they are now
 * @e: an event that a user opened; family lock held
 * @nr: set to how many there are
 *
 * Return: an array for pe_snapshot_put(), or NULL without memory.
 */
struct pe_event **pe_family_snapshot(struct pe_event *e, unsigned int *nr)
{
	size_t room = 1 + list_count_nodes(&e->children);
	struct pe_event **family, *child;

	lockdep_assert_held(&e->family_lock);
	family = kvmalloc_array(room, sizeof(*family), GFP_KERNEL);
	if (!family)
		return NULL;
	*nr = 0;
	pe_get(e);
	family[(*nr)++] = e;
	list_for_each_entry(child, &e->children, child_entry) {
		pe_get(child);		/* the family has a reference */
		family[(*nr)++] = child;
	}
	return family;
}
