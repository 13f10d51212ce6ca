// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: events of one file descriptor that count on many tasks, CPUs, or cgroups on CPUs.
 *
 * A session is a family without a father.  Its members are opened events, in one group, in a
 * context of their own that is in on no CPU for ever; so they count nothing themselves.  A target
 * gets copies of them, as a new task gets copies of its parent's events, and detaching it is as if
 * it exited.  So reading, enabling, samples, closing, exit, exec and PMUs that leave find what they
 * know of inherited events.  What is different:
 *
 *   - a copy is a whole group, or none: one that a fork has found half made joins no family
 *     (is_whole() in inherit.c), siblings leave before their leader (exit.c), and the families of
 *     all members are locked where the group is read: no event is missed or counted twice.
 *   - contexts with copies are not exchanged, as their values are told by target.
 *   - copies may be of CPUs and cgroups; they leave when their CPU goes offline.
 *
 * A target comes in three steps.  The first ones can fail and are undone; the last one cannot:
 *
 *	pe_session_copy()	copies are made
 *	pe_session_place()	and attached, OFF: ctx->mutex
 *	pe_session_start()	they join their families and count: families locked, one remote call
 *
 * Task context.  Locks: s->mutex, which the caller holds, is outside of all others here.
 */
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "life.h"
#include "session.h"
#include "../ext.h"

DEFINE_SPINLOCK(pe_sessions_lock);
LIST_HEAD(pe_sessions);

/**
 * struct pe_resume - what was left of a member's period when the last target was detached
 * @valid: the rest says so
 * @left: hw.period_left
 * @period: hw.sample_period
 * @last: hw.last_period: with a counter or a clock, how long the period is that was cut off
 * @periods: those that follow a rule
 */
struct pe_resume {
	bool			valid;
	s64			left;
	u64			period;
	u64			last;
	struct pe_periods	periods;
};

/* ------------------------------------------------------------------------- members */

static void drop_ctx(struct pe_ctx *ctx)
{
	put_task_struct(ctx->task);
	pe_ctx_put(ctx);
}

/**
 * pe_session_new() - a session without members
 * @most: so many it may get
 * @of_cpus: its targets are CPUs
 *
 * Return: the session, for pe_session_end(), or NULL.
 */
struct pe_session *pe_session_new(unsigned int most, bool of_cpus)
{
	struct pe_session *s = kzalloc(struct_size(s, member, most), GFP_KERNEL);

	if (!s)
		return NULL;
	s->resume = kcalloc(most, sizeof(*s->resume), GFP_KERNEL);
	s->ctx = pe_ctx_new(&init_task);
	if (!s->resume || !s->ctx) {
		if (s->ctx)
			drop_ctx(s->ctx);
		kfree(s->resume);
		kfree(s);
		return NULL;
	}
	mutex_init(&s->mutex);
	s->of_cpus = of_cpus;
	s->uid = current_uid();
	INIT_LIST_HEAD(&s->return_to);
	pe_session_cpu_init(s);
	guard(spinlock)(&pe_sessions_lock);
	list_add_tail(&s->entry, &pe_sessions);
	return s;
}

/* Events that act on one task or one CPU, or whose buffer is for one writer. */
static int refuse_attr(const struct perf_event_attr *attr)
{
	if (attr->inherit || attr->inherit_stat || attr->inherit_thread)
		return pe_err(-EINVAL, "attr.inherit: in sessions ATTACH says so");
	if (attr->type == PERF_TYPE_BREAKPOINT || attr->type == PERF_TYPE_TRACEPOINT)
		return pe_err(-EOPNOTSUPP, "attr.type: no tracepoints or breakpoints in sessions");
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT)
		return pe_err(-EOPNOTSUPP, "attr.config: no output of programs in sessions");
	if (attr->sigtrap || attr->remove_on_exec)
		return pe_err(-EOPNOTSUPP, "attr.sigtrap, remove_on_exec: not in sessions");
	return 0;
}

static int refuse_event(struct pe_event *e, struct pe_event *leader)
{
	if (pe_trace_call(e) || has_aux(&e->pub) || pe_needs_tracer(e) || e->addr_filter_ranges ||
	    is_exclusive_pmu(e->pmu))
		return pe_err(-EOPNOTSUPP, "attr: no tracers or probes in sessions");
	/* What moves from CPU to CPU misses commands on its way, see perf_pmu_migrate_context(). */
	if (e->pmu->task_ctx_nr == perf_invalid_context || e->pmu->scope != PERF_PMU_SCOPE_NONE)
		return pe_err(-EOPNOTSUPP, "attr.type: no PMUs of packages in sessions");
	if (!leader)
		return 0;
	if (e->attr.exclusive || e->attr.pinned)
		return pe_err(-EINVAL, "attr.exclusive, pinned: for the leader of a group only");
	if (e->clock != leader->clock || e->attr.write_backward != leader->attr.write_backward)
		return pe_err(-EINVAL, "attr.clockid, write_backward: not as in the leader");
	if (!is_software_event(&e->pub) && pe_pmu_ctx(leader)->pmu != e->pmu &&
	    pe_pmu_ctx(leader)->pmu->task_ctx_nr != perf_sw_context)
		return pe_err(-EINVAL, "attr.type: a group of several PMUs");
	return 0;
}

/* A PMU may be there on some CPUs only. */
static struct pe_event *make_on_some_cpu(struct pe_origin_args *args)
{
	struct pe_event *e, *first = NULL;
	int cpu;

	for_each_online_cpu(cpu) {
		args->cpu = cpu;
		e = pe_alloc(args);
		if (!IS_ERR(e)) {
			e->cpu = -1;
			return e;
		}
		first = first ?: e;
	}
	return first;
}

/**
 * pe_session_make() - make a member
 * @s: a session that nobody else knows
 * @attr: its attr, permitted; changed
 * @own_tasks: see struct pe_event
 *
 * In a pe_pmus_read_lock() section, which the caller leaves after pe_session_add().
 * Return: the event, for pe_session_add() or pe_put(); or an error.
 */
struct pe_event *pe_session_make(struct pe_session *s, struct perf_event_attr *attr, bool own_tasks)
{
	struct pe_origin_args args = {
		.attr		= attr,
		.task		= s->of_cpus ? NULL : &init_task,
		.cpu		= -1,
		.leader		= s->nr ? s->member[0] : NULL,
		.own_tasks	= own_tasks,
	};
	int err = refuse_attr(attr);

	if (err)
		return ERR_PTR(err);
	attr->inherit = 1;	/* it may have copies */
	return s->of_cpus ? make_on_some_cpu(&args) : pe_alloc(&args);
}

/**
 * pe_session_add() - a new event becomes a member
 * @s: the session, with room
 * @e: from pe_session_make(); its reference is consumed if all is well
 *
 * Return: 0 or an error.
 */
int pe_session_add(struct pe_session *s, struct pe_event *e)
{
	struct pe_ctx *ctx = s->ctx;
	int err;

	guard(mutex)(&ctx->mutex);
	err = refuse_event(e, s->nr ? s->member[0] : NULL) ?: pe_prepare_ctx(e, ctx);
	if (err)
		return err;
	e->of_session = true;
	e->session = s;
	pe_ctx_get(ctx);
	/* What pe_attach() does; there is no task to be told. */
	e->slot = pe_ctx_slot(ctx, e);
	smp_store_release(&e->ctx, &ctx->pub);	/* as there */
	scoped_guard(raw_spinlock_irq, &ctx->lock)
		pe_install(e, pe_now());
	s->nr++;
	s->member[s->nr - 1] = e;
	return 0;
}

/**
 * pe_session_end() - the last user has closed it, or it was not made
 * @s: the session
 */
void pe_session_end(struct pe_session *s)
{
	scoped_guard(spinlock, &pe_sessions_lock)
		list_del(&s->entry);
	pe_session_cpu_fini(s);
	/* Copies of siblings go before those of their leaders. */
	while (s->nr) {
		struct pe_event *e = s->member[s->nr - 1];

		s->nr--;
		pe_release(e);
	}
	/* The counters of copies that went with their CPUs are free, too, when close() returns. */
	if (s->of_cpus)
		pe_put_settle();
	drop_ctx(s->ctx);
	kfree(s->resume);
	kfree(s);
}

/**
 * pe_session_lock_families() - nobody joins or leaves
 * @leader: the leader of a session; its ctx->mutex is held
 */
void pe_session_lock_families(struct pe_event *leader)
{
	struct pe_event *m;

	/* Nobody else takes more than one of them. */
	pe_for_each_member(m, leader)
		mutex_lock_nest_lock(&m->family_lock, &pe_ctx(leader)->mutex);
}

/**
 * pe_session_unlock_families() - the counterpart
 * @leader: the leader of a session
 */
void pe_session_unlock_families(struct pe_event *leader)
{
	struct pe_event *m;

	pe_for_each_member(m, leader)
		mutex_unlock(&m->family_lock);
}

/**
 * pe_session_share_buffer() - all members write to one buffer
 * @s: the session
 * @target: whose buffer; NULL: they write nowhere
 *
 * Without any mmap_mutex.  The clocks of all members, and the direction of their records, are the
 * same, so what the leader can do the others can; but where the buffer is being unmapped.
 *
 * Return: 0, or -EINVAL as pe_set_output().
 */
int pe_session_share_buffer(struct pe_session *s, struct pe_event *target)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < s->nr; i++) {
		struct pe_event *m = s->member[i];

		/* Another mapping of the same buffer. */
		if (m == target || (target && rcu_access_pointer(m->rb) &&
				    rcu_access_pointer(m->rb) == rcu_access_pointer(target->rb)))
			continue;
		err = pe_set_output(m, target);
		if (err)
			break;		/* the leader, which is the first, cannot if it is mapped */
	}
	return err;
}

/* ------------------------------------------------------------------------- targets */

/* Is @leader the copy for a target of which @t speaks? */
static bool is_meant(const struct pe_event *leader, const struct pe_target *t)
{
	if (t->task)
		return leader->hw.target == t->task;
	if (t->cgroup_id)
		return leader->cgrp && pe_cgroup_id(leader->cgrp) == t->cgroup_id;
	if (t->cgrp || t->cpu >= 0)
		return leader->cgrp == t->cgrp && (t->cpu < 0 || leader->cpu == t->cpu);
	return true;
}

/**
 * pe_session_has() - is a target there?
 * @s: the session
 * @t: task, CPU, or cgroup; @t->cpu -1: on whichever CPU
 */
bool pe_session_has(struct pe_session *s, const struct pe_target *t)
{
	struct pe_event *leader = s->member[0], *child;

	guard(mutex)(&leader->family_lock);
	list_for_each_entry(child, &leader->children, child_entry)
		if (is_meant(child, t))
			return true;
	return false;
}

static bool same_rule(const struct pe_period_rule *a, const struct pe_period_rule *b)
{
	return a->shorter == b->shorter && a->longer == b->longer && a->initial == b->initial &&
	       a->long_every == b->long_every && a->mask == b->mask;
}

static void resume(struct pe_event *e, const struct pe_resume *r)
{
	struct pe_periods *p = pe_periods(e);

	if (!r->valid || !is_sampling_event(&e->pub))
		return;
	if (p && !(r->periods.on && same_rule(&p->rule, &r->periods.rule)))
		return;
	if (!p && (r->periods.on || (!e->attr.freq && r->period != e->attr.sample_period)))
		return;
	e->hw.sample_period = r->period;
	e->hw.last_period = r->last;
	local64_set(&e->hw.period_left, r->left);
	if (p)
		*p = r->periods;
}

struct keep_args {
	struct pe_event		*e;
	struct pe_resume	*r;
};

static void pe_session_keep(struct pe_ctx *ctx, void *arg)
{
	struct keep_args *args = arg;
	struct pe_event *e = args->e;
	struct pe_resume *r = args->r;
	struct pe_periods *p = pe_periods(e);

	r->periods = p ? *p : (struct pe_periods){ };
	r->period = e->hw.sample_period;
	r->last = e->hw.last_period;
	r->left = local64_read(&e->hw.period_left);
	r->valid = true;
}

/*
 * Of a copy that has been disabled, its ctx->mutex held.  On its CPU, where no hit is in the middle
 * of a period: a passive event was disabled from here.
 */
static void keep_for_resume(struct pe_event *e, struct pe_resume *r)
{
	struct keep_args args = { e, r };

	pe_call(pe_ctx(e), pe_session_keep, &args);
}

static struct pe_event *make_copy(struct pe_session *s, unsigned int i, const struct pe_target *t,
				  struct pe_event *leader)
{
	struct pe_event *origin = s->member[i];
	struct pe_origin_args args = {
		.attr		= &origin->attr,
		.cpu		= t->cpu,
		.task		= t->task,
		.cgrp		= t->cgrp,
		.own_tasks	= t->own_tasks,
		.leader		= leader,
		.parent		= origin,
	};
	struct pe_event *e = pe_alloc(&args);
	int err;

	if (IS_ERR(e))
		return READ_ONCE(origin->pmu->gone) ? ERR_PTR(-ENODEV) : e;
	e->state = PERF_EVENT_STATE_OFF;
	e->attr.inherit = 0;
	err = pe_ext_inherit(e);
	if (err) {
		pe_put(e);
		return ERR_PTR(err);
	}
	if (t->resume)
		resume(e, &s->resume[i]);
	return e;
}

/**
 * pe_session_copy() - make what a target is to get
 * @s: the session, mutex held
 * @t: the target
 * @copies: set, one for each member, all of them or none
 *
 * In a pe_pmus_read_lock() section, which the caller leaves after pe_session_start().
 * Return: 0, or an error; -EXDEV if a PMU has the event on another CPU.
 */
int pe_session_copy(struct pe_session *s, const struct pe_target *t, struct pe_event **copies)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < s->nr; i++) {
		struct pe_event *e = make_copy(s, i, t, i ? copies[0] : NULL);

		if (IS_ERR(e)) {
			err = PTR_ERR(e);
			break;
		}
		copies[i] = e;
		if (e->cpu != t->cpu)
			err = -EXDEV;
	}
	if (!err)
		return 0;
	while (i--) {
		pe_put(copies[i]);
		copies[i] = NULL;
	}
	return err;
}

static void detach_all(struct pe_event **copies, unsigned int nr)
{
	while (nr--)
		pe_detach(copies[nr], PERF_EVENT_STATE_DEAD);
}

/*
 * Has the context copies already?  Those of a task that has just been forked are not in the
 * families yet.  ctx->mutex is held, so none is attached meanwhile.
 */
static bool is_placed(const struct pe_session *s, const struct pe_target *t, struct pe_ctx *ctx)
{
	const struct pe_event *e;

	guard(rcu)();
	list_for_each_entry_rcu(e, &ctx->events, ctx_entry)
		if (e->parent == &s->member[0]->pub && e->cgrp == t->cgrp)
			return true;
	return false;
}

/**
 * pe_session_place() - attach the copies for a target, OFF
 * @s: the session, mutex held
 * @t: the target, which the caller may observe
 * @copies: from pe_session_copy()
 *
 * Return: 0, or an error: they are attached, or none of them.
 */
int pe_session_place(struct pe_session *s, const struct pe_target *t, struct pe_event **copies)
{
	struct pe_ctx *ctx = pe_find_ctx(t->task, t->cpu);
	unsigned int i;
	int err = 0;

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	if (is_placed(s, t, ctx))
		err = pe_err(-EEXIST, "ATTACH: it is a target");
	for (i = 0; i < s->nr && !err; i++) {
		err = pe_prepare_ctx(copies[i], ctx);
		if (err)
			break;
		pe_ctx_get(ctx);
		pe_attach(ctx, copies[i]);
	}
	if (err)
		detach_all(copies, i);
	mutex_unlock(&ctx->mutex);
	pe_ctx_put(ctx);
	return err;
}

/**
 * pe_session_drop() - give up copies that are in no family
 * @copies: attached or not; NULL: none
 * @nr: so many
 */
void pe_session_drop(struct pe_event **copies, unsigned int nr)
{
	while (nr--) {
		if (!copies[nr])
			continue;
		if (copies[nr]->ctx)
			pe_detach(copies[nr], PERF_EVENT_STATE_DEAD);
		pe_put(copies[nr]);
		copies[nr] = NULL;
	}
}

struct start {
	struct pe_event	*leader;
	bool		inherit;
};

static bool is_on(const struct pe_event *copy)
{
	return READ_ONCE(pe_parent(copy)->state) >= PERF_EVENT_STATE_INACTIVE;
}

/* The group counts, and is inherited, from one moment on. */
static void pe_session_go(struct pe_ctx *ctx, void *arg)
{
	struct start *start = arg;
	struct pe_event *leader = start->leader, *m;
	u64 now = pe_now();

	if (!(leader->attach_state & PERF_ATTACH_CONTEXT))
		return;
	if (start->inherit) {
		leader->attr.inherit = 1;
		WRITE_ONCE(ctx->nr_inherit, ctx->nr_inherit + 1);
	}
	pe_for_each_sibling(m, leader)
		if (is_on(m))
			pe_enable_locked(m, now);
	if (is_on(leader))
		pe_enable_locked(leader, now);
}

/* Families locked.  Return: it has joined; otherwise its target has left already, or the PMU. */
static bool join(struct pe_event *copy, struct pe_event *member)
{
	if (READ_ONCE(member->state) <= PERF_EVENT_STATE_REVOKED ||
	    READ_ONCE(copy->state) <= PERF_EVENT_STATE_EXIT)
		return false;
	pe_ext_follow(copy);
	copy->session_gen = member->session_gen;
	list_add_tail(&copy->child_entry, &member->children);
	copy->in_family = true;
	return true;
}

static void start_group(struct pe_session *s, struct pe_event **copies, bool inherit)
{
	struct start start = { .leader = copies[0], .inherit = inherit };
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		if (join(copies[i], s->member[i]))
			copies[i] = NULL;
	if (!copies[0])
		pe_event_call(start.leader, pe_session_go, &start);
}

/**
 * pe_session_start() - copies join their families and count, if the session is enabled
 * @s: the session, mutex held
 * @copies: of groups that are placed; all are consumed
 * @nr: so many, a multiple of @s->nr
 * @inherit: what the targets fork are targets, too
 */
void pe_session_start(struct pe_session *s, struct pe_event **copies, unsigned int nr,
		      bool inherit)
{
	struct pe_event *leader = s->member[0];
	unsigned int i;

	scoped_guard(pe_event_ctx, leader) {
		pe_session_lock_families(leader);
		for (i = 0; i < nr; i += s->nr)
			start_group(s, copies + i, inherit);
		pe_session_unlock_families(leader);
	}
	pe_session_drop(copies, nr);
}

static void pe_session_stop(struct pe_ctx *ctx, void *arg)
{
	pe_disable_locked(arg, pe_now());
}

static unsigned int number_of(const struct pe_session *s, const struct pe_event *copy)
{
	unsigned int i;

	for (i = 0; i < s->nr && s->member[i] != pe_parent(copy); i++)
		;
	return i;
}

/* @leader: of a copied group, pinned */
static void detach_group(struct pe_session *s, struct pe_event *leader)
{
	struct pe_event *gone[PE_MOST_MEMBERS], *m;
	unsigned int nr = 0, i;

	scoped_guard(pe_event_ctx, leader) {
		pe_event_call(leader, pe_session_stop, leader);
		pe_for_each_member(m, leader) {
			pe_get(m);
			gone[nr++] = m;
		}
		for (i = nr; i--; ) {
			unsigned int number = number_of(s, gone[i]);

			if (is_sampling_event(&gone[i]->pub) && number < s->nr)
				keep_for_resume(gone[i], &s->resume[number]);
			pe_child_leave(gone[i], PERF_EVENT_STATE_EXIT);
		}
	}
	while (nr--)
		pe_put(gone[nr]);
}

#define DETACH_AT_ONCE	32

static bool means_all(const struct pe_target *t)
{
	return !t->task && !t->cgrp && !t->cgroup_id && t->cpu < 0;
}

/*
 * While all targets leave, what they fork becomes none (is_whole() in inherit.c), so that they come
 * to an end; nor does what was forked meanwhile, and is let into the family later.
 */
static void leave_all(struct pe_event *leader, bool leaving)
{
	guard(mutex)(&leader->family_lock);
	leader->session->leaving = leaving;
	leader->session_gen++;
}

/* Some of those that @t speaks of, pinned. */
static unsigned int pin_some(struct pe_session *s, const struct pe_target *t,
			     struct pe_event **found)
{
	struct pe_event *leader = s->member[0], *child;
	unsigned int nr = 0;

	guard(mutex)(&leader->family_lock);
	list_for_each_entry(child, &leader->children, child_entry) {
		if (!is_meant(child, t))
			continue;
		pe_get(child);		/* the family has a reference */
		found[nr++] = child;
		if (nr == DETACH_AT_ONCE)
			break;
	}
	return nr;
}

/**
 * pe_session_detach() - a target leaves
 * @s: the session, mutex held
 * @t: the target; @t->cpu -1: on whichever CPU; and no cgroup: all targets
 *
 * Return: there was one.
 */
bool pe_session_detach(struct pe_session *s, const struct pe_target *t)
{
	struct pe_event *found[DETACH_AT_ONCE];
	bool any = false;
	unsigned int nr;

	if (means_all(t))
		leave_all(s->member[0], true);
	while ((nr = pin_some(s, t, found))) {
		any = true;
		while (nr--) {
			detach_group(s, found[nr]);
			pe_put(found[nr]);
		}
	}
	if (means_all(t))
		leave_all(s->member[0], false);
	return any;
}
