// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions of CPUs: all of them, cgroups on all of them, and CPUs that go and come.
 *
 * A CPU that goes offline leaves, with what it has counted for cgroups as well.  With
 * PERF_EXT_TARGET_RETURN it is attached again when it comes.  Copies cannot be made where CPUs come
 * and go, because drivers take the lock of hotplug for that; so a worker does it, and the calls on
 * a session wait for the worker first: pe_session_settle().
 *
 * A CPU that comes while ATTACH looks at all CPUs is found by one of the two, or by both, in the
 * order of s->mutex:
 *
 *	pe_session_attach_cpus(), s->mutex	a CPU comes online
 *	(A) s->returns = true			(C) pe_cpu.online = true
 *	(B) is the CPU online? attach it	(D) s->returns? note the CPU, queue the work
 *						work, s->mutex: attached?  If not, attach it
 *
 * If B does not see C, D comes after A, as both are under pe_sessions_lock.
 */
#include <linux/cpu.h>

#include "life.h"
#include "session.h"

/**
 * struct pe_return - CPUs that come are attached
 * @entry: on s->return_to
 * @cgrp: to a cgroup there, referenced; or NULL
 */
struct pe_return {
	struct list_head	entry;
	struct perf_cgroup	*cgrp;
};

static struct pe_return *find_return(struct pe_session *s, const struct perf_cgroup *cgrp)
{
	struct pe_return *ret;

	list_for_each_entry(ret, &s->return_to, entry)
		if (ret->cgrp == cgrp)
			return ret;
	return NULL;
}

static void note_returns(struct pe_session *s)
{
	guard(spinlock)(&pe_sessions_lock);
	s->returns = !list_empty(&s->return_to);
}

static void drop_return(struct pe_return *ret)
{
	list_del(&ret->entry);
	if (ret->cgrp)
		pe_cgroup_put(ret->cgrp);
	kfree(ret);
}

static int add_return(struct pe_session *s, struct perf_cgroup *cgrp)
{
	struct pe_return *ret = kzalloc(sizeof(*ret), GFP_KERNEL);

	if (!ret)
		return -ENOMEM;
	ret->cgrp = cgrp ? pe_cgroup_get(cgrp) : NULL;
	list_add_tail(&ret->entry, &s->return_to);
	note_returns(s);
	return 0;
}

/**
 * pe_session_forget() - CPUs that come are not attached any more
 * @s: the session, mutex held
 * @t: the cgroup, or NULL there: to nothing of all
 *
 * Return: they were to be.
 */
bool pe_session_forget(struct pe_session *s, const struct pe_target *t)
{
	struct pe_return *ret, *next;
	bool any = false;

	lockdep_assert_held(&s->mutex);
	list_for_each_entry_safe(ret, next, &s->return_to, entry) {
		if (t->cgrp && ret->cgrp != t->cgrp)
			continue;
		if (t->cgroup_id && !(ret->cgrp && pe_cgroup_id(ret->cgrp) == t->cgroup_id))
			continue;
		drop_return(ret);
		any = true;
	}
	note_returns(s);
	return any;
}

/* Nothing to attach there, which is no failure for those that mean all CPUs. */
static bool is_elsewhere(int err)
{
	/* Offline; its PMU counts on another one for it; this one has no such PMU. */
	return err == -ENODEV || err == -EXDEV || err == -ENOENT;
}

/* Return: 0, with the copies in place, or an error, and none is. */
static int place_on(struct pe_session *s, const struct pe_target *t, struct pe_event **copies)
{
	int err = pe_session_copy(s, t, copies);

	if (err)
		return err;
	err = pe_session_place(s, t, copies);
	if (err)
		pe_session_drop(copies, s->nr);
	return err;
}

static int place_on_all(struct pe_session *s, struct pe_target *t, struct pe_event **copies,
			unsigned int *nr)
{
	int cpu, err, last = -ENODEV;

	*nr = 0;
	for_each_online_cpu(cpu) {
		if (*nr == nr_cpu_ids * s->nr)
			break;
		t->cpu = cpu;
		if (!t->cgrp && pe_session_has(s, t))
			return pe_err(-EEXIST, "ATTACH: one of the CPUs is a target");
		err = place_on(s, t, copies + *nr);
		if (err && !is_elsewhere(err))
			return err;
		if (err)
			last = err;
		else
			*nr += s->nr;
	}
	return *nr ? 0 : last;
}

/**
 * pe_session_attach_cpus() - attach all CPUs, or a cgroup on all of them
 * @s: the session, mutex held
 * @t: the cgroup, if any, and own_tasks; changed
 * @returns: CPUs that come later, too
 *
 * In a pe_pmus_read_lock() section.  Return: 0, or an error, and nothing is attached.
 */
int pe_session_attach_cpus(struct pe_session *s, struct pe_target *t, bool returns)
{
	struct pe_event **copies;
	unsigned int nr;
	int err;

	lockdep_assert_held(&s->mutex);
	if (find_return(s, t->cgrp))
		return pe_err(-EEXIST, "ATTACH: it is a target");
	copies = kvcalloc(nr_cpu_ids, s->nr * sizeof(*copies), GFP_KERNEL);
	if (!copies)
		return -ENOMEM;
	err = returns ? add_return(s, t->cgrp) : 0;
	if (!err) {
		err = place_on_all(s, t, copies, &nr);
		if (!err)
			pe_session_start(s, copies, nr, t);
		else
			pe_session_drop(copies, nr);
		if (err && returns) {
			drop_return(find_return(s, t->cgrp));
			note_returns(s);
		}
	}
	kvfree(copies);
	return err;
}

/* ------------------------------------------------------------------ CPUs come and go */

static void attach_again(struct pe_session *s, int cpu, struct perf_cgroup *cgrp)
{
	struct pe_event *copies[PE_MOST_MEMBERS] = { };
	struct pe_target t = {
		.cpu		= cpu,
		.cgrp		= cgrp,
		.own_tasks	= s->member[0]->own_tasks,
	};

	/* There is nobody to be told of a failure; nor is anybody in a cgroup that was removed. */
	if (cgrp && !pe_cgroup_is_online(cgrp))
		return;
	if (!pe_session_has(s, &t) && !place_on(s, &t, copies))
		pe_session_start(s, copies, s->nr, &t);
}

/* A CPU that has come, or -1. */
static int next_came(struct pe_session *s)
{
	unsigned int cpu;

	guard(spinlock)(&pe_sessions_lock);
	cpu = cpumask_first(&s->came);
	if (cpu >= nr_cpu_ids)
		return -1;
	cpumask_clear_cpu(cpu, &s->came);
	return cpu;
}

static void pe_session_cpu_came(struct work_struct *work)
{
	struct pe_session *s = container_of(work, struct pe_session, work);
	struct pe_return *ret;
	int cpu, idx;

	/* Until it has come altogether: drivers prepare their part of it later. */
	cpus_read_lock();
	cpus_read_unlock();
	guard(mutex)(&s->mutex);
	while ((cpu = next_came(s)) >= 0) {
		idx = pe_pmus_read_lock();
		list_for_each_entry(ret, &s->return_to, entry)
			attach_again(s, cpu, ret->cgrp);
		pe_pmus_read_unlock(idx);
	}
}

/**
 * pe_session_settle() - wait until CPUs that have come are attached
 * @s: the session, mutex not held
 */
void pe_session_settle(struct pe_session *s)
{
	flush_work(&s->work);
}

/**
 * pe_session_cpu_comes() - a CPU is online
 * @cpu: the CPU
 *
 * With the lock of hotplug.
 */
void pe_session_cpu_comes(unsigned int cpu)
{
	struct pe_session *s;

	guard(spinlock)(&pe_sessions_lock);
	list_for_each_entry(s, &pe_sessions, entry) {
		if (!s->returns)
			continue;
		cpumask_set_cpu(cpu, &s->came);
		queue_work(system_unbound_wq, &s->work);
	}
}

/* Copies of all sessions, pinned, in the order in which they came. */
static struct llist_node *pin_copies(struct pe_ctx *ctx)
{
	LLIST_HEAD(copies);
	struct pe_event *e;

	guard(rcu)();
	list_for_each_entry_rcu(e, &ctx->events, ctx_entry)
		if (pe_of_target(e) && pe_tryget(e))
			__llist_add(&e->put_later, &copies);
	return llist_reverse_order(copies.first);
}

/* The session that @e is of is there as long as @e, or closing it has taken @e away meanwhile. */
static void target_goes(struct pe_ctx *ctx, const struct pe_event *e)
{
	struct pe_event *gone[PE_MOST_MEMBERS];
	unsigned int nr;

	nr = pe_session_pin_target(ctx, pe_parent(e)->session, e->cgrp, gone);
	if (nr)
		pe_session_stop_target(gone, nr);
	while (nr--) {
		pe_child_leave(gone[nr], PERF_EVENT_STATE_EXIT);
		pe_put_outside(gone[nr]);
	}
}

/**
 * pe_session_cpu_goes() - a CPU goes offline
 * @ctx: its context, mutex held
 *
 * With the lock of hotplug, which what frees an event may take.  Each target stops as a whole.
 */
void pe_session_cpu_goes(struct pe_ctx *ctx)
{
	struct llist_node *copies = pin_copies(ctx);
	struct pe_event *e, *next;

	/* Most go with the first one of their target. */
	llist_for_each_entry_safe(e, next, copies, put_later) {
		if (READ_ONCE(e->attach_state) & PERF_ATTACH_CONTEXT)
			target_goes(ctx, e);
		pe_put_outside(e);
	}
}

/**
 * pe_session_cpu_init() - a new session
 * @s: the session, which nobody knows
 */
void pe_session_cpu_init(struct pe_session *s)
{
	INIT_WORK(&s->work, pe_session_cpu_came);
}

/**
 * pe_session_cpu_fini() - a session ends
 * @s: the session, not on pe_sessions any more
 */
void pe_session_cpu_fini(struct pe_session *s)
{
	struct pe_return *ret, *next;

	cancel_work_sync(&s->work);
	list_for_each_entry_safe(ret, next, &s->return_to, entry)
		drop_return(ret);
}
