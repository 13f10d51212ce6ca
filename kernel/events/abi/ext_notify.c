// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_EXT_IOC_NOTIFY and PERF_EXT_IOC_RESTART: see sources/notify.c.
 *
 * Task context, may sleep.
 */
#include <linux/perf_event_ext.h>
#include <linux/ptrace.h>

#include "abi.h"
#include "ext_call.h"
#include "../ext.h"

#define NOTIFY_FLAGS	(PERF_EXT_NOTIFY_STOP | PERF_EXT_NOTIFY_BLOCK)

static_assert(sizeof(struct perf_ext_notify) == 16);
static_assert(sizeof(struct perf_ext_restart) == 8);

/* Can overflows of an event be told of one by one?  Return: 0, or an error, its reason in @why. */
int pe_ext_refuse_notify(struct pe_event *e, const char **why)
{
	u64 (*least_period)(struct perf_event *event) = e->pmu->least_period;

	if (!is_sampling_event(&e->pub)) {
		*why = "NOTIFY: the event does not sample";
		return -EINVAL;
	}
	/*
	 * What loads periods by itself may take many samples at once, or not stop; tracers, which
	 * are software events to the core, do not overflow.
	 */
	if (!least_period ||
	    (least_period != pe_software_least_period && !least_period(&e->pub))) {
		*why = "NOTIFY: the PMU does not stop at each overflow of this event";
		return -EOPNOTSUPP;
	}
	return 0;
}

/*
 * Can the thread of an event be held?  ctx->mutex is held: a task that gains rights by exec takes
 * its events away under it, after its credentials have changed.
 */
int pe_ext_refuse_block(struct pe_event *e, unsigned int mode, const char **why)
{
	struct task_struct *task = e->hw.target;
	int err = pe_ext_refuse_notify(e, why);

	if (err)
		return err;
	if (!(e->attach_state & PERF_ATTACH_TASK) || e->attr.inherit || e->attr.sigtrap) {
		*why = "NOTIFY: BLOCK is for events of one task, without inherit and sigtrap";
		return -EINVAL;
	}
	if (pe_ctx(e)->dead || READ_ONCE(e->state) <= PERF_EVENT_STATE_EXIT) {
		*why = "NOTIFY: the task has exited";
		return -ESRCH;
	}
	/* Those of users, for io_uring and vhost, run works with locks that others wait for. */
	if (task->flags & (PF_KTHREAD | PF_USER_WORKER)) {
		*why = "NOTIFY: kernel threads are not held";
		return -EOPNOTSUPP;
	}
	if (same_thread_group(task, current)) {
		*why = "NOTIFY: who is held could not say RESTART";
		return -EDEADLK;
	}
	if (!ptrace_may_access(task, PTRACE_MODE_ATTACH_REALCREDS | mode)) {
		*why = "NOTIFY: BLOCK needs the right to trace the task";
		return -EACCES;
	}
	return 0;
}

struct notify_args {
	struct pe_event		*e;
	const struct pe_notify	*notify;	/* NULL: none */
	int			err;
};

static void pe_ext_notify_prepare(struct pe_event *e, void *arg)
{
	struct notify_args *args = arg;

	args->err = args->err ?: pe_ext_need(e);
}

static void pe_ext_notify_set(struct pe_ctx *ctx, void *arg)
{
	struct notify_args *args = arg;

	/*
	 * A thread that the old one holds has nothing to wait for any more; one that the new one
	 * holds, in an NMI right after this, has.
	 */
	pe_notify_set(args->e, NULL);
	pe_hold_release(args->e);
	pe_notify_set(args->e, args->notify);
}

/* The copies do as their origin, which is first. */
static void pe_ext_notify_apply(struct pe_event *e, void *arg)
{
	if (e->parent) {
		pe_call(pe_ctx(e), pe_ext_set_notify, e);
		return;
	}
	e->ext->gen++;
	pe_call(pe_ctx(e), pe_ext_notify_set, arg);
}

static int refuse(struct pe_event *e, const struct pe_notify *notify)
{
	const char *why;
	int err;

	lockdep_assert_held(&pe_ctx(e)->mutex);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "NOTIFY: the PMU has gone");
	err = notify->hold ? pe_ext_refuse_block(e, 0, &why) : pe_ext_refuse_notify(e, &why);
	return err ? pe_err(err, why) : 0;
}

/**
 * pe_ext_change_notify() - PERF_EXT_IOC_NOTIFY
 * @e: the event
 * @asked: what user space says
 *
 * Return: 0 or an error; then nothing has changed.
 */
long pe_ext_change_notify(struct pe_event *e, struct pe_ext_ask *asked)
{
	const struct perf_ext_notify *ask = &asked->u.notify;
	struct pe_notify notify = {
		.every	= ask->every,
		.stop	= ask->flags & PERF_EXT_NOTIFY_STOP,
		.hold	= ask->flags & PERF_EXT_NOTIFY_BLOCK,
	};
	struct notify_args args = { .notify = ask->every ? &notify : NULL };
	int err;

	if (ask->flags & ~NOTIFY_FLAGS || ask->pad)
		return pe_err(-EINVAL, "NOTIFY: unknown flags, or pad not 0");
	if (notify.hold && !notify.stop)
		return pe_err(-EINVAL, "NOTIFY: BLOCK without STOP");
	e = pe_ext_named(e, ask->set, ask->member);
	if (IS_ERR(e))
		return PTR_ERR(e);
	args.e = e;
	scoped_guard(pe_event_ctx, e)
		err = refuse(e, &notify);
	/* It may stop single copies. */
	if (!err && args.notify)
		err = pe_kin_dissolve(e);
	if (err)
		return err;
	guard(pe_event_ctx)(e);
	err = refuse(e, &notify);
	if (err)
		return err;
	pe_family_each(e, pe_ext_notify_prepare, &args);
	if (args.err)
		return args.err;
	pe_take_slow_overflow(e);
	pe_family_each(e, pe_ext_notify_apply, &args);
	pe_hold_wake(e);
	return 0;
}

/* Copies that fork is making now have the state of before. */
static void tell_newcomers(struct pe_event *e)
{
	if (e->parent)
		return;
	e->family_gen++;
	e->family_on = true;
}

static void pe_ext_restart_one(struct pe_event *e, void *arg)
{
	tell_newcomers(e);
	pe_call(pe_ctx(e), pe_notify_restart, e);
}

/* The copy of a leader, and what has gone on. */
struct restart_leader {
	struct pe_event	*leader;
	struct pe_event	*opened;
};

static void pe_ext_restart_enable(struct pe_ctx *ctx, void *arg)
{
	const struct restart_leader *args = arg;
	struct pe_event *m;

	/* Both have gone on in one step, and may have stopped again. */
	pe_for_each_sibling(m, args->leader)
		if (pe_parent(m) == args->opened && m->in_family)
			return;
	pe_enable_locked(args->leader, pe_now());
}

/*
 * Copies of leaders go on alone if the group has lost the event, or never had it, or fork has
 * brought only the leader into its family yet, and the event follows.
 */
static void restart_leader(struct pe_event *leader, struct pe_event *opened)
{
	struct restart_leader args = { leader, opened };

	pe_event_call(leader, pe_ext_restart_enable, &args);
}

/*
 * An inherited event that does not lead, and its leader.  Both families are locked, so that no
 * newcomer hears of the one and not of the other.  ctx->mutex held.
 */
static void restart_families(struct pe_event *e, struct pe_event *leader)
{
	struct pe_event *child;

	mutex_lock_nest_lock(&leader->family_lock, &pe_ctx(e)->mutex);
	mutex_lock_nest_lock(&e->family_lock, &pe_ctx(e)->mutex);
	tell_newcomers(leader);
	pe_ext_restart_one(e, NULL);
	list_for_each_entry(child, &e->children, child_entry)
		pe_ext_restart_one(child, NULL);
	list_for_each_entry(child, &leader->children, child_entry)
		restart_leader(child, e);
	mutex_unlock(&e->family_lock);
	mutex_unlock(&leader->family_lock);
}

/* ---------------------------------------------------------------------------- of sessions */

/* By a notification, or by a format. */
static bool may_stop(const struct pe_event *m)
{
	return READ_ONCE(m->state) > PERF_EVENT_STATE_REVOKED &&
	       (pe_notify(m) || pe_has_format(m));
}

static bool set_may_stop(const struct pe_session *s, const struct pe_session_set *set)
{
	unsigned int i;

	for (i = set->first; i < set->first + set->nr; i++)
		if (may_stop(s->member[i]))
			return true;
	return false;
}

enum restarted {
	RESTART_STOPPED,	/* sets in which something may have stopped */
	RESTART_ALL,
};

/**
 * struct restart - which sets go on
 * @s: the session
 * @sets: those
 * @leader: of the first set that a target has; any of its sets
 */
struct restart {
	struct pe_session	*s;
	enum restarted		sets;
	struct pe_event		*leader;
};

static bool goes_on(const struct restart *r, const struct pe_session_set *set)
{
	return r->sets == RESTART_ALL || set_may_stop(r->s, set);
}

/* @leader: of a copied set */
static void restart_copy(const struct restart *r, struct pe_ctx *ctx, struct pe_event *leader)
{
	const struct pe_session_set *set = r->s->set;

	while (r->s->member[set->first] != pe_parent(leader))
		set++;
	if (goes_on(r, set))
		pe_notify_restart_group(ctx, leader);
}

/* All sets of a target.  Those that are about to leave are in no ring any more. */
static void pe_ext_restart_target(struct pe_ctx *ctx, void *arg)
{
	const struct restart *r = arg;
	struct pe_set *sets[PE_MOST_SETS];
	unsigned int nr;

	if (!pe_in_ring(r->leader)) {
		if (r->s->nr_sets == 1)
			restart_copy(r, ctx, r->leader);
		return;
	}
	nr = pe_set_ring(&pe_ext(r->leader)->set, sets);
	while (nr--)
		restart_copy(r, ctx, sets[nr]->leader);
}

static void pe_ext_restart_member(struct pe_ctx *ctx, void *arg)
{
	pe_enable_locked(arg, pe_now());
}

static void restart_members(const struct restart *r, const struct pe_session_set *set)
{
	unsigned int i;

	for (i = set->first; i < set->first + set->nr; i++) {
		struct pe_event *m = r->s->member[i];

		if (READ_ONCE(m->state) <= PERF_EVENT_STATE_REVOKED)
			continue;
		tell_newcomers(m);
		pe_event_call(m, pe_ext_restart_member, m);
	}
}

/*
 * All members of a set that is stopped go on: DISABLE of a session is for all of them, which have
 * no descriptors to be enabled by.  Of a target in one step: an overflow that comes next stops all
 * of them again.
 *
 * Return: there is such a set.
 */
static bool restart_session(struct pe_event *leader, enum restarted sets)
{
	struct restart r = { .s = leader->session, .sets = sets };
	bool any = false;
	unsigned int i;

	lockdep_assert_held(&pe_ctx(leader)->mutex);
	for (i = 0; i < r.s->nr_sets; i++)
		any |= goes_on(&r, &r.s->set[i]);
	if (!any)
		return false;
	pe_session_lock_families(leader);
	for (i = 0; i < r.s->nr_sets; i++)
		if (goes_on(&r, &r.s->set[i]))
			restart_members(&r, &r.s->set[i]);
	list_for_each_entry(r.leader, &leader->children, child_entry)
		pe_oncpu_call(r.leader, pe_ext_restart_target, &r);
	pe_session_unlock_families(leader);
	return true;
}

/**
 * pe_ext_restart() - PERF_EXT_IOC_RESTART
 * @e: the event
 * @asked: what user space says
 *
 * Its leader goes on with the event.  Copies of the leader without one of the event follow.
 * Of a session all sets go on in which something may have stopped.
 *
 * Return: 0 or an error.
 */
long pe_ext_restart(struct pe_event *e, struct pe_ext_ask *asked)
{
	const struct perf_ext_restart *ask = &asked->u.restart;
	const char *why;
	int err;

	if (ask->flags)
		return pe_err(-EINVAL, "RESTART: flags: not 0");
	guard(pe_event_ctx)(e);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "RESTART: the PMU has gone");
	if (pe_is_session(e) && !ask->tid && restart_session(e, RESTART_STOPPED))
		return 0;
	err = pe_ext_refuse_notify(e, &why);
	if (err)
		return pe_err(err, why);
	if (ask->tid && (!pe_holds(e) || task_pid_vnr(e->hw.target) != ask->tid))
		return pe_err(-ESRCH, "RESTART: no such thread waits");
	if (pe_is_session(e)) {
		restart_session(e, RESTART_ALL);
		return 0;
	}
	if (!pe_is_leader(e) && e->attr.inherit)
		restart_families(e, pe_leader(e));
	else
		pe_family_each(e, pe_ext_restart_one, NULL);
	if (pe_ext(e))
		pe_hold_wake(e);
	return 0;
}

/**
 * pe_ext_show_notify() - the line of fdinfo
 * @m: where to
 * @e: the event
 */
void pe_ext_show_notify(struct seq_file *m, struct pe_event *e)
{
	struct pe_notify *notify = pe_notify(e);

	if (notify)
		seq_printf(m, "notify:\t%u%s%s\n", READ_ONCE(notify->every),
			   READ_ONCE(notify->stop) ? " stop" : "",
			   READ_ONCE(notify->hold) ? " block" : "");
	if (pe_holds(e))
		seq_puts(m, "waiting:\t1\n");
}
