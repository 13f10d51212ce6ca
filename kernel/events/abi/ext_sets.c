// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_EXT_IOC_SET_*: groups that take turns.  See sched/sets.c and sources/trigger.c.
 *
 * Task context, may sleep.
 */
#include <linux/file.h>
#include <linux/perf_event_ext.h>

#include "abi.h"
#include "ext_call.h"
#include "../ext.h"

#define LEAST_STRIDE	sizeof(struct perf_ext_set_info)

static_assert(sizeof(struct perf_ext_set) == 16);
static_assert(sizeof(struct perf_ext_trigger) == 8);
static_assert(sizeof(struct perf_ext_set_select) == 8);
static_assert(sizeof(struct perf_ext_set_info) == 56);
static_assert(sizeof(struct perf_ext_sets) == 16);

/* Can a PMU's events stop and go on at any moment, with those of other sets in their place? */
static bool can_take_turns(const struct pmu *pmu)
{
	return pmu->task_ctx_nr >= 0 && pmu->scope == PERF_PMU_SCOPE_NONE &&
	       !(pmu->capabilities & (PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE));
}

static bool can_be_in_set(struct pe_event *e)
{
	return can_take_turns(e->pmu) && !has_aux_action(&e->pub);
}

/**
 * pe_ext_refuse_member() - an event is about to become a sibling
 * @e: the event
 * @leader: the leader of its group; ctx->mutex is held
 *
 * Return: 0; -EOPNOTSUPP if the group is a set, and the event cannot be in one.
 */
int pe_ext_refuse_member(struct pe_event *e, struct pe_event *leader)
{
	if (likely(!pe_in_ring(leader)) || can_be_in_set(e))
		return 0;
	return pe_err(-EOPNOTSUPP, "group_fd: a set, and the PMU is not for sets");
}

/**
 * pe_ext_refuse_sets() - can the group of an event be a set?
 * @e: the event; ctx->mutex is held
 * @why: what to tell the user
 *
 * Return: 0, or an error whose reason is in @why.
 */
int pe_ext_refuse_sets(struct pe_event *e, const char **why)
{
	struct pe_event *m;

	if (!pe_is_leader(e)) {
		*why = "SET_JOIN: the event does not lead its group";
		return -EINVAL;
	}
	if (e->attr.pinned || (e->attr.inherit && !pe_is_session(e)) || e->cgrp) {
		*why = "SET_JOIN: not for events that are pinned, inherited or of a cgroup";
		return -EINVAL;
	}
	pe_for_each_member(m, e) {
		if (!can_be_in_set(m)) {
			*why = "SET_JOIN: the PMU of a member is not for sets";
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

struct join_args {
	struct pe_set	*set;
	struct pe_set	*ring;		/* NULL: a new one */
	u16		number;
	int		err;
};

static void pe_ext_sets_join(struct pe_ctx *ctx, void *arg)
{
	struct join_args *args = arg;
	struct pe_event *leader = args->set->leader;

	/* The task may have exited, the PMU may have left. */
	if (!(leader->attach_state & PERF_ATTACH_CONTEXT) ||
	    (args->ring && !args->ring->joined)) {
		args->err = -ESRCH;
		return;
	}
	args->set->number = args->number;
	args->err = pe_set_join(args->set, args->ring, pe_now());
}

/* ctx->mutex held.  @r: of the ring, or NULL */
static int join(struct pe_event *e, struct pe_event *r, u16 number)
{
	struct join_args args = { .number = number };
	const char *why;
	int err;

	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "SET: the PMU has gone");
	if (pe_is_session(e))
		return pe_err(-EINVAL, "SET_JOIN: sessions get their sets by CREATE with ADD");
	err = pe_ext_refuse_sets(e, &why);
	if (err)
		return pe_err(err, why);
	if (pe_in_ring(e))
		return pe_err(-EBUSY, "SET_JOIN: it is a set already");
	if (r && !pe_in_ring(r))
		return pe_err(-EINVAL, "SET_JOIN: ring is not a set");
	if (r && (r->ctx != e->ctx || r->slot != e->slot))
		return pe_err(-EINVAL, "SET_JOIN: ring is of another task or CPU");
	err = pe_ext_need(e);
	if (err)
		return err;
	args.set = &pe_ext(e)->set;
	args.ring = r ? &pe_ext(r)->set : NULL;
	pe_call(pe_ctx(e), pe_ext_sets_join, &args);
	switch (args.err) {
	case -EBUSY:
		return pe_err(-EBUSY, "SET_JOIN: another set of the ring has this number");
	case -ENOSPC:
		return pe_err(-ENOSPC, "SET_JOIN: the ring has as many sets as it can have");
	case -ESRCH:
		return pe_err(-ESRCH, "SET_JOIN: the task has exited, or the CPU is offline");
	}
	return args.err;
}

/**
 * pe_ext_join_ring() - PERF_EXT_IOC_SET_JOIN
 * @e: the event
 * @asked: what user space says
 *
 * Return: 0 or an error; then nothing has changed.
 */
long pe_ext_join_ring(struct pe_event *e, struct pe_ext_ask *asked)
{
	const struct perf_ext_set *ask = &asked->u.set;
	struct pe_event *r = NULL;

	if (ask->flags || memchr_inv(ask->pad, 0, sizeof(ask->pad)))
		return pe_err(-EINVAL, "SET_JOIN: flags, pad: not 0");
	CLASS(fd, f)(ask->ring);
	if (ask->ring != -1) {
		if (!fd_file(f))
			return pe_err(-EBADF, "SET_JOIN: ring: not open");
		r = pe_of_file(fd_file(f));
		if (!r)
			return pe_err(-EINVAL, "SET_JOIN: ring is not an event");
	}
	guard(pe_event_ctx)(e);
	return join(e, r, ask->number);
}

static void pe_ext_sets_leave(struct pe_ctx *ctx, void *arg)
{
	if (pe_in_ring(arg))
		pe_set_leave(arg, pe_now());
}

/* What the calls that follow ask of an event. */
static int check_set(struct pe_event *e)
{
	lockdep_assert_held(&pe_ctx(e)->mutex);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "SET: the PMU has gone");
	return pe_in_ring(pe_leader(e)) ? 0 : pe_err(-EINVAL, "SET: the event is in no set");
}

/**
 * pe_ext_leave_ring() - PERF_EXT_IOC_SET_LEAVE
 * @e: the event
 * @ask: nothing
 *
 * Return: 0 or an error.
 */
long pe_ext_leave_ring(struct pe_event *e, struct pe_ext_ask *ask)
{
	int err;

	guard(pe_event_ctx)(e);
	err = check_set(e);
	if (err)
		return err;
	pe_call(pe_ctx(e), pe_ext_sets_leave, pe_leader(e));
	return 0;
}

struct trigger_args {
	struct pe_event	*e;
	u32		threshold;
	int		err;
};

static void pe_ext_sets_prepare(struct pe_event *e, void *arg)
{
	struct trigger_args *args = arg;

	args->err = args->err ?: pe_ext_need(e);
}

static void pe_ext_sets_trigger(struct pe_ctx *ctx, void *arg)
{
	struct trigger_args *args = arg;

	pe_trigger_set(args->e, args->threshold);
}

/* The copies for targets do as the member, which is first. */
static void pe_ext_sets_apply(struct pe_event *e, void *arg)
{
	if (e->parent) {
		pe_call(pe_ctx(e), pe_ext_copy_trigger, e);
		return;
	}
	e->ext->gen++;
	pe_call(pe_ctx(e), pe_ext_sets_trigger, arg);
}

/**
 * pe_ext_set_trigger() - PERF_EXT_IOC_SET_TRIGGER
 * @e: the event
 * @asked: what user space says
 *
 * Return: 0 or an error; then nothing has changed.
 */
long pe_ext_set_trigger(struct pe_event *e, struct pe_ext_ask *asked)
{
	const struct perf_ext_trigger *ask = &asked->u.trigger;
	struct trigger_args args = { .threshold = ask->threshold };
	const char *why;

	e = pe_ext_named(e, ask->set, ask->member);
	if (IS_ERR(e))
		return PTR_ERR(e);
	args.e = e;
	guard(pe_event_ctx)(e);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "SET: the PMU has gone");
	/* As there, each overflow must be one that the PMU stops at. */
	if (pe_ext_refuse_notify(e, &why))
		return pe_err(-EINVAL, "SET_TRIGGER: the event does not sample, or not one by one");
	if (e->attr.inherit && !pe_is_session(e))
		return pe_err(-EINVAL, "SET_TRIGGER: inherited events are in no set");
	pe_family_each(e, pe_ext_sets_prepare, &args);
	if (args.err)
		return args.err;
	pe_take_slow_overflow(e);
	pe_family_each(e, pe_ext_sets_apply, &args);
	return 0;
}

struct select_args {
	struct pe_event	*leader;
	u16		number;
	int		err;
};

static void pe_ext_sets_select(struct pe_ctx *ctx, void *arg)
{
	struct select_args *args = arg;

	if (!ctx->dead && pe_in_ring(args->leader))
		args->err = pe_set_select(&pe_ext(args->leader)->set, args->number, pe_now());
}

/* Return: NULL, and all is well for a session of several sets, or why not. */
static const char *refuse_session(struct pe_event *e, u16 number)
{
	const struct pe_session *s = e->session;
	unsigned int i;

	lockdep_assert_held(&pe_ctx(e)->mutex);
	if (s->nr_sets == 1)
		return "SET: the session has one set";
	for (i = 0; i < s->nr_sets; i++)
		if (s->set[i].number == number)
			return NULL;
	return "SET_SELECT: no set of the session has this number";
}

/* On all targets. */
static int select_in_session(struct pe_event *e, u16 number)
{
	struct select_args args = { .number = number };
	const char *why = refuse_session(e, number);

	if (why)
		return pe_err(-EINVAL, why);
	pe_session_lock_families(e);
	list_for_each_entry(args.leader, &e->children, child_entry)
		pe_call(pe_ctx(args.leader), pe_ext_sets_select, &args);
	pe_session_unlock_families(e);
	return 0;
}

/**
 * pe_ext_select_set() - PERF_EXT_IOC_SET_SELECT
 * @e: an event of any set of the ring, or a session
 * @asked: what user space says
 *
 * Return: 0 or an error.
 */
long pe_ext_select_set(struct pe_event *e, struct pe_ext_ask *asked)
{
	const struct perf_ext_set_select *ask = &asked->u.select;
	struct select_args args = { .number = ask->number, .err = -EINVAL };
	int err;

	if (memchr_inv(ask->pad, 0, sizeof(ask->pad)))
		return pe_err(-EINVAL, "SET_SELECT: pad: not 0");
	guard(pe_event_ctx)(e);
	if (pe_is_session(e))
		return select_in_session(e, ask->number);
	err = check_set(e);
	if (err)
		return err;
	args.leader = pe_leader(e);
	pe_call(pe_ctx(e), pe_ext_sets_select, &args);
	return args.err ? pe_err(args.err, "SET_SELECT: no set of the ring has this number") : 0;
}

static void describe(struct perf_ext_set_info *info, const struct pe_set *set, u64 now)
{
	struct pe_event *leader = set->leader;

	*info = (struct perf_ext_set_info){
		.number		= set->number,
		.members	= leader->nr_siblings + 1,
		.flags		= leader->parked ? 0 : PERF_EXT_SET_ACTIVE,
		.id		= leader->id,
		.activations	= set->activations,
		.active_time	= pe_set_active_time(set, now),
		.by_timeout	= set->by_timeout,
		.by_overflow	= set->by_overflow,
	};
}

/* Return: the number of sets in the ring of @e; 0 if it is in none. */
static unsigned int look_at_sets(struct pe_event *e, struct perf_ext_set_info *infos)
{
	struct pe_event *leader = pe_leader(e);
	struct pe_set *sets[PE_MOST_SETS];
	struct pe_ctx *ctx = pe_ctx(e);
	unsigned int i, nr;
	u64 now;

	guard(raw_spinlock_irq)(&ctx->lock);
	if (!pe_in_ring(leader))
		return 0;
	now = pe_now();
	nr = pe_set_ring(&pe_ext(leader)->set, sets);
	for (i = 0; i < nr; i++)
		describe(&infos[i], sets[i], now);
	return nr;
}

static void add_info(struct perf_ext_set_info *info, const struct pe_set *set, u64 time)
{
	info->activations += set->activations;
	info->active_time += time;
	info->by_timeout += set->by_timeout;
	info->by_overflow += set->by_overflow;
}

/* What has left, and what is there; families locked. */
static void sum_up(struct perf_ext_set_info *info, struct pe_event *leader)
{
	struct pe_set *set = &pe_ext(leader)->set;
	struct pe_event *copy;

	add_info(info, set, set->time);
	list_for_each_entry(copy, &leader->children, child_entry) {
		guard(raw_spinlock_irq)(&pe_ctx(copy)->lock);
		set = &pe_ext(copy)->set;
		add_info(info, set, pe_set_active_time(set, pe_now()));
	}
}

/* Return: the number of sets; 0 if there is one only. */
static unsigned int look_at_session(struct pe_event *e, struct perf_ext_set_info *infos)
{
	const struct pe_session *s = e->session;
	unsigned int i;

	lockdep_assert_held(&pe_ctx(e)->mutex);
	if (s->nr_sets == 1)
		return 0;
	pe_session_lock_families(e);
	for (i = 0; i < s->nr_sets; i++) {
		struct pe_event *leader = s->member[s->set[i].first];

		infos[i].number = s->set[i].number;
		infos[i].members = s->set[i].nr;
		infos[i].id = leader->id;
		sum_up(&infos[i], leader);
	}
	pe_session_unlock_families(e);
	return s->nr_sets;
}

/* As many as there is room for. */
static int write_infos(const struct perf_ext_sets *ask, const struct perf_ext_set_info *infos,
		       unsigned int nr)
{
	void __user *at = u64_to_user_ptr(ask->infos);
	unsigned int i;

	for (i = 0; i < min(nr, ask->nr); i++)
		if (copy_to_user(at + (size_t)i * ask->stride, &infos[i], sizeof(infos[i])))
			return -EFAULT;
	return 0;
}

/**
 * pe_ext_sets_info() - PERF_EXT_IOC_SET_INFO
 * @e: an event of any set of the ring; of a session: what its sets did on all targets
 * @asked: where to; answers how many sets there are
 *
 * Return: 0 or an error.
 */
long pe_ext_sets_info(struct pe_event *e, struct pe_ext_ask *asked)
{
	struct perf_ext_set_info *infos __free(kfree) = NULL;
	struct perf_ext_sets *ask = &asked->u.sets;
	unsigned int nr;
	int err;

	if (ask->nr && (ask->stride < LEAST_STRIDE || ask->stride > PAGE_SIZE))
		return pe_err(-EINVAL, "SET_INFO: stride is not the size of a struct");
	infos = kcalloc(PE_MOST_SETS, sizeof(*infos), GFP_KERNEL);
	if (!infos)
		return -ENOMEM;
	scoped_guard(pe_event_ctx, e) {
		err = pe_is_session(e) ? 0 : check_set(e);
		if (err)
			return err;
		nr = pe_is_session(e) ? look_at_session(e, infos) : look_at_sets(e, infos);
	}
	/* The task may have exited in between. */
	if (!nr)
		return pe_err(-EINVAL, "SET: the event is in no set");
	err = write_infos(ask, infos, nr);
	ask->nr = nr;
	return err;
}

/**
 * pe_ext_show_sets() - the lines of fdinfo
 * @m: where to
 * @e: the event
 *
 * Takes neither ctx->mutex nor another CPU.
 */
void pe_ext_show_sets(struct seq_file *m, struct pe_event *e)
{
	struct pe_trigger *trigger = pe_trigger(e);
	struct pe_event *leader;
	bool joined, parked;
	u16 number = 0;

	/* The leader may be closed, and freed, as soon as the lock is dropped. */
	scoped_guard(raw_spinlock_irq, &pe_ctx(e)->lock) {
		leader = pe_leader(e);
		joined = pe_in_ring(leader);
		parked = leader->parked;
		if (joined)
			number = pe_ext(leader)->set.number;
	}
	if (joined)
		seq_printf(m, "set:\t%u %s\n", number, parked ? "parked" : "active");
	if (trigger)
		seq_printf(m, "trigger:\t%u\n", READ_ONCE(trigger->threshold));
}
