// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: events of one file descriptor that count on many tasks, CPUs, or cgroups on CPUs.
 *
 * A session is a family without a father.  Its members are opened events, in one group or more, in
 * a context of their own that is in on no CPU for ever; so they count nothing themselves.  A target
 * gets copies of them, as a new task gets copies of its parent's events, and detaching it is as if
 * it exited.  So reading, enabling, samples, closing, exit, exec and PMUs that leave find what they
 * know of inherited events.  What is different:
 *
 *   - a copy is a whole group, or none: one that a fork has found half made joins no family
 *     (is_whole() in inherit.c), siblings leave before their leader (exit.c, pmu_leave.c), and the
 *     families of all members are locked where a group is read: no event is missed or counted
 *     twice.
 *   - tasks with copies are not members of a kin, as their values are told by target.
 *   - copies may be of CPUs and cgroups; they leave when their CPU goes offline.
 *
 * A target comes in three steps.  The first ones can fail and are undone; the last one cannot:
 *
 *	pe_session_copy()	copies are made
 *	pe_session_place()	and attached, OFF: ctx->mutex
 *	pe_session_start()	they join their families and count: families locked, one remote call
 *
 * Several groups are *sets*.  In that same call the copies of their leaders become a ring of
 * sched/sets.c, in which that of set 0 has the first turn.  What such a copy goes through:
 *
 *	placed		OFF, a group like others		s->mutex
 *	its turn	in the ring, not parked			ctx->lock, as all that follows
 *	it waits	in the ring, parked
 *	stopped		in no ring, EXIT; if it has waited it is parked until it leaves
 *	left		in no context; what happened to the set is in the sums of the member's
 *			pe_ext.set, which is in no ring itself: the family lock of the member
 *
 * Turns are given on the target's CPU, with ctx->lock, by whoever may do so for other rings.  All
 * sets stop in one call when the target is detached or its CPU goes; a task that exits stops by
 * leaving its CPU, and in a dead context no set hands its turn on.  So turns end by what was asked
 * for, and by nothing that takes the ring apart.  When the PMU of a set leaves, its copies leave
 * with their siblings, and the next one has the turn.
 *
 * Members and sets themselves: session_members.c; CPUs: session_cpu.c.
 *
 * Task context.  Locks: s->mutex, which the caller holds, is outside of all others here.
 */
#include "life.h"
#include "session.h"
#include "../ext.h"

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

/* The leader of the member's set, by number. */
static unsigned int leader_of(const struct pe_session *s, unsigned int i)
{
	const struct pe_session_set *set = s->set;

	while (i < set->first || i >= set->first + set->nr)
		set++;
	return set->first;
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
	unsigned int i, first;
	int err = 0;

	lockdep_assert_held(&s->mutex);
	for (i = 0; i < s->nr; i++) {
		struct pe_event *e;

		first = leader_of(s, i);
		e = make_copy(s, i, t, i == first ? NULL : copies[first]);
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

	lockdep_assert_held(&s->mutex);
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

/**
 * struct start - a target begins
 * @s: the session
 * @copies: those that have joined their families, others are NULL
 * @inherit: what the target forks is one, too
 */
struct start {
	struct pe_session	*s;
	struct pe_event		*copies[PE_MOST_MEMBERS];
	bool			inherit;
};

static bool is_on(const struct pe_event *copy)
{
	return READ_ONCE(pe_parent(copy)->state) >= PERF_EVENT_STATE_INACTIVE;
}

/* The leader of a set, or NULL if it has left by now. */
static struct pe_event *leader_there(const struct start *start, unsigned int set)
{
	struct pe_event *leader = start->copies[start->s->set[set].first];

	return leader && leader->attach_state & PERF_ATTACH_CONTEXT &&
	       leader->state > PERF_EVENT_STATE_EXIT ? leader : NULL;
}

/* The set that has the first turn: one that is disabled would keep it.  Set 0, if all are. */
static unsigned int first_on(const struct start *start)
{
	unsigned int i;

	for (i = 0; i < start->s->nr_sets; i++) {
		struct pe_event *leader = leader_there(start, i);

		if (leader && is_on(leader))
			return i;
	}
	return 0;
}

static void join_ring(const struct start *start, u64 now)
{
	struct pe_session *s = start->s;
	unsigned int first = first_on(start), i;
	struct pe_set *ring = NULL;

	for (i = 0; i < s->nr_sets; i++) {
		unsigned int nr = (first + i) % s->nr_sets;
		struct pe_event *leader = leader_there(start, nr);
		struct pe_set *set;

		if (!leader)
			continue;
		set = &pe_ext(leader)->set;
		set->number = s->set[nr].number;
		WARN_ON_ONCE(pe_set_join(set, ring, now));
		ring = set;
	}
}

static void enable_group(struct pe_event *leader, u64 now)
{
	struct pe_event *m;

	pe_for_each_sibling(m, leader)
		if (is_on(m))
			pe_enable_locked(m, now);
	if (is_on(leader))
		pe_enable_locked(leader, now);
}

/* All sets count or wait, and the one group is inherited, from one moment on. */
static void pe_session_go(struct pe_ctx *ctx, void *arg)
{
	struct start *start = arg;
	unsigned int i = start->s->nr_sets;
	u64 now = pe_now();

	if (ctx->dead || !leader_there(start, 0))
		return;
	if (start->inherit) {
		start->copies[0]->attr.inherit = 1;
		WRITE_ONCE(ctx->nr_inherit, ctx->nr_inherit + 1);
	}
	if (i > 1)
		join_ring(start, now);
	/* The first one last: whom it gives its turn to is there by then. */
	while (i--)
		if (leader_there(start, i))
			enable_group(leader_there(start, i), now);
}

/* Families locked.  Return: it has joined; otherwise its target has left already, or the PMU. */
static bool join(struct pe_event *copy, struct pe_event *member)
{
	if (READ_ONCE(member->state) <= PERF_EVENT_STATE_REVOKED ||
	    READ_ONCE(copy->state) <= PERF_EVENT_STATE_EXIT)
		return false;
	pe_ext_follow(copy);
	list_add_tail(&copy->child_entry, &member->children);
	copy->in_family = true;
	return true;
}

static void start_target(struct pe_session *s, struct pe_event **copies, bool inherit)
{
	struct start start = { .s = s, .inherit = inherit };
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		if (!join(copies[i], s->member[i]))
			continue;
		start.copies[i] = copies[i];
		copies[i] = NULL;
	}
	if (!start.copies[0])
		return;
	if (s->nr_sets > 1)
		pe_call(pe_ctx(start.copies[0]), pe_session_go, &start);
	else
		pe_event_call(start.copies[0], pe_session_go, &start);
}

/**
 * pe_session_start() - copies join their families and count, if the session is enabled
 * @s: the session, mutex held
 * @copies: of groups that are placed; all are consumed
 * @nr: so many, a multiple of @s->nr
 * @t: what it is attached to, or with @nr above @s->nr the like of it on several CPUs
 */
void pe_session_start(struct pe_session *s, struct pe_event **copies, unsigned int nr,
		      const struct pe_target *t)
{
	struct pe_event *leader = s->member[0];
	unsigned int i;

	lockdep_assert_held(&s->mutex);
	scoped_guard(pe_event_ctx, leader) {
		pe_session_lock_families(leader);
		for (i = 0; i < nr; i += s->nr)
			start_target(s, copies + i, t->inherit);
		pe_session_unlock_families(leader);
	}
	pe_session_drop(copies, nr);
}

/**
 * pe_session_pin_target() - all copies that a target has of a session
 * @ctx: the context of the target, mutex held: nothing is added, see lockless.rst
 * @s: the session, which may be about to end
 * @cgrp: the cgroup that is the target, or NULL
 * @found: they, pinned, a leader before its siblings; room for PE_MOST_MEMBERS
 *
 * Return: how many.
 */
unsigned int pe_session_pin_target(struct pe_ctx *ctx, const struct pe_session *s,
				   const struct perf_cgroup *cgrp, struct pe_event **found)
{
	struct pe_event *e;
	unsigned int nr = 0;

	lockdep_assert_held(&ctx->mutex);
	guard(rcu)();
	list_for_each_entry_rcu(e, &ctx->events, ctx_entry) {
		if (!pe_of_target(e) || pe_parent(e)->session != s || e->cgrp != cgrp)
			continue;
		if (WARN_ON_ONCE(nr == PE_MOST_MEMBERS))
			break;
		if (pe_tryget(e))
			found[nr++] = e;
	}
	return nr;
}

struct stop {
	struct pe_event	**copies;
	unsigned int	nr;
};

static void pe_session_stop(struct pe_ctx *ctx, void *arg)
{
	const struct stop *stop = arg;
	u64 now = pe_now();
	unsigned int i;

	for (i = 0; i < stop->nr; i++)
		if (pe_is_leader(stop->copies[i]))
			pe_disable_locked(stop->copies[i], now);
	for (i = 0; i < stop->nr; i++)
		if (pe_in_ring(stop->copies[i]))
			pe_set_end_ring(&pe_ext(stop->copies[i])->set, now);
	for (i = 0; i < stop->nr; i++)
		/* close() may have taken one away, and then it leads itself. */
		if (pe_is_leader(stop->copies[i]) &&
		    stop->copies[i]->state > PERF_EVENT_STATE_EXIT)
			pe_set_state(stop->copies[i], PERF_EVENT_STATE_EXIT, now);
}

/**
 * pe_session_stop_target() - a target stops counting at once, before its copies leave
 * @copies: all that it has of the session, pinned; ctx->mutex of the target held
 * @nr: so many, not 0
 *
 * Nobody enables it any more, by ENABLE, RESTART or exec: members leave one after the other, and
 * those that are left would count on.  Nor is it copied.
 */
void pe_session_stop_target(struct pe_event **copies, unsigned int nr)
{
	struct stop stop = { .copies = copies, .nr = nr };
	unsigned int leaders = 0, i;

	for (i = 0; i < nr; i++)
		leaders += pe_is_leader(copies[i]);
	/* One passive group needs no CPU; but one set may be what is left of a ring. */
	if (leaders > 1 || pe_in_ring(copies[0]))
		pe_call(pe_ctx(copies[0]), pe_session_stop, &stop);
	else
		pe_event_call(copies[0], pe_session_stop, &stop);
}

static unsigned int number_of(const struct pe_session *s, const struct pe_event *copy)
{
	unsigned int i;

	for (i = 0; i < s->nr && s->member[i] != pe_parent(copy); i++)
		;
	return i;
}

/* @leader: the copy of the first member, pinned */
static void detach_target(struct pe_session *s, struct pe_event *leader)
{
	struct pe_event *gone[PE_MOST_MEMBERS];
	unsigned int nr, i;

	scoped_guard(pe_event_ctx, leader) {
		nr = pe_session_pin_target(pe_ctx(leader), s, leader->cgrp, gone);
		if (nr)
			pe_session_stop_target(gone, nr);
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
static void begin_to_leave(struct pe_event *leader)
{
	guard(mutex)(&leader->family_lock);
	leader->session->leaving = true;
	leader->session_gen++;
}

static void all_have_left(struct pe_event *leader)
{
	guard(mutex)(&leader->family_lock);
	leader->session->leaving = false;
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

	lockdep_assert_held(&s->mutex);
	if (means_all(t))
		begin_to_leave(s->member[0]);
	while ((nr = pin_some(s, t, found))) {
		any = true;
		while (nr--) {
			detach_target(s, found[nr]);
			pe_put(found[nr]);
		}
	}
	if (means_all(t))
		all_have_left(s->member[0]);
	return any;
}
