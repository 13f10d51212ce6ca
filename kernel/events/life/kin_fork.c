// SPDX-License-Identifier: GPL-2.0
/*
 * Kin: fork.
 *
 * A new task becomes a member of what its parent has for its forks, and gets copies of the rest;
 * see kin.c.  Whether the parent's events are all parts is seen by two numbers, so that such a fork
 * looks at none of them.
 *
 * Called by fork in task context.
 */
#include <linux/bsearch.h>
#include <linux/sort.h>

#include "kin.h"
#include "../ext.h"

/* ---------------------------------------------------------------- what can be a part */

static bool is_alone_and_on(const struct pe_event *e)
{
	return READ_ONCE(e->state) == PERF_EVENT_STATE_ACTIVE && pe_is_leader(e) &&
	       !e->nr_siblings && !e->attr.enable_on_exec;
}

/*
 * Everything that makes copies differ from each other, or do more than count, is missing.  What may
 * come later splits the part: a change of state, what the extensions add, a sibling; and a buffer,
 * whose readers are told when the last copy has gone.
 */
static bool can_be_part(struct pe_event *e)
{
	const struct perf_event_attr *attr = &e->attr;

	return e->counts_hits && attr->inherit && !e->of_session && !e->copied && e->cpu < 0 &&
	       is_alone_and_on(e) && !rcu_access_pointer(e->rb) && !e->plan.sideband &&
	       !pe_ext(e) && !attr->inherit_thread && !attr->inherit_stat &&
	       !attr->remove_on_exec && attr->config != PERF_COUNT_SW_BPF_OUTPUT;
}

static int compare_parts(const void *key, const void *part)
{
	const struct pe_event *a = key, *b = ((const struct pe_kin_part *)part)->key;

	return a < b ? -1 : a > b;
}

/* Is a part what @e is, or is a copy of?  kin->mutex is held. */
static bool is_part(const struct pe_kin *kin, const struct pe_event *e)
{
	struct pe_kin_part *part = bsearch(pe_origin((struct pe_event *)e), kin->part, kin->nr,
					   sizeof(*part), compare_parts);

	lockdep_assert_held(&kin->mutex);
	/* If that has ended, the key may be the address of another event by now. */
	return part && !part->left_at;
}

/**
 * struct candidate - what may become a part
 * @origin: the event, with a reference
 * @e: of the context that the kin is made for, pinned; or NULL
 * @common: what that context has as a member of another kin, or NULL
 */
struct candidate {
	struct pe_event			*origin;
	const struct pe_event		*e;
	const struct pe_kin_part	*common;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *one = a, *other = b;

	return one->origin < other->origin ? -1 : one->origin > other->origin;
}

/* Consumes the reference of @c. */
static void add_part(struct pe_kin *kin, const struct candidate *c)
{
	struct pe_kin_part *part = &kin->part[kin->nr];
	struct pe_event *origin = c->origin;
	bool done;

	mutex_lock(&origin->family_lock);
	/* What splits it, or keeps it from becoming a part, comes before this lock or after it. */
	done = c->common ? !c->common->left_at : can_be_part(origin) && is_alone_and_on(c->e);
	if (done) {
		part->kin = kin;
		part->key = origin;
		part->origin = origin;
		/* Behind those of older kins: see split_part() in kin.c. */
		list_add_tail(&part->entry, &origin->parts);
		refcount_inc(&kin->linked);
		kin->nr++;
	}
	mutex_unlock(&origin->family_lock);
	if (!done)
		pe_put(origin);
}

static struct pe_kin *alloc_kin(unsigned int parts)
{
	struct pe_kin *kin = kvzalloc(struct_size(kin, part, parts), GFP_KERNEL);

	if (!kin)
		return NULL;
	mutex_init(&kin->mutex);
	refcount_set(&kin->refs, 1);
	refcount_set(&kin->linked, 1);
	INIT_LIST_HEAD(&kin->members);
	return kin;
}

/* Return: how many there are. */
static unsigned int find_candidates(struct candidate *c, struct pe_kin *other,
				    struct pe_event **events, unsigned int nr)
{
	unsigned int i, n = 0;

	for (i = 0; other && i < other->nr; i++) {
		c[n].origin = pe_kin_get_origin(other, &other->part[i]);
		c[n].common = &other->part[i];
		n += !!c[n].origin;
	}
	for (i = 0; i < nr; i++, n++) {
		c[n].origin = pe_origin(events[i]);
		c[n].e = events[i];
		c[n].common = NULL;
		pe_get(c[n].origin);
	}
	return n;
}

/*
 * Return: a kin of all that can be in common with @from, with one reference, or NULL.
 * @events: of @from, pinned
 */
static struct pe_kin *make_kin(const struct pe_ctx *from, struct pe_event **events,
			       unsigned int nr)
{
	struct pe_kin *other = from->member_of, *kin;
	unsigned int most = nr + (other ? other->nr : 0), i, n;
	struct candidate *c = kvcalloc(most, sizeof(*c), GFP_KERNEL);

	kin = c ? alloc_kin(most) : NULL;
	if (kin) {
		n = find_candidates(c, other, events, nr);
		sort(c, n, sizeof(*c), compare_candidates, NULL);
		for (i = 0; i < n; i++)
			add_part(kin, &c[i]);
	}
	kvfree(c);
	return kin;
}

/* ------------------------------------------------------------------------------- members */

static unsigned int nr_live(const struct pe_kin *kin)
{
	return kin->nr - kin->left;
}

/* A context that nobody can see yet is going to be a member's. */
static void adopt(struct pe_kin *kin, struct pe_ctx *ctx)
{
	lockdep_assert_held(&kin->mutex);
	if (!nr_live(kin))
		return;
	refcount_add(2, &kin->refs);
	ctx->kin = kin;
	ctx->member_of = kin;
	ctx->kin_left = kin->left;
	ctx->nr_events += nr_live(kin);
	ctx->nr_inherit += nr_live(kin);
}

/* What is no part comes first, in the same order.  Return: so many. */
static unsigned int sort_out(const struct pe_kin *kin, struct pe_event **events, unsigned int nr)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++) {
		if (is_part(kin, events[i]))
			continue;
		swap(events[n], events[i]);
		n++;
	}
	return n;
}

static bool wants_kin(const struct pe_fork *fork)
{
	unsigned int i;

	for (i = 0; i < fork->nr_to_copy; i++)
		if (can_be_part(pe_origin(fork->events[i])) && is_alone_and_on(fork->events[i]))
			return true;
	return false;
}

static int take_stock(struct pe_ctx *from, struct pe_fork *fork)
{
	fork->events = pe_ctx_snapshot(from, &fork->nr);
	fork->nr_to_copy = fork->nr;
	return fork->events ? 0 : -ENOMEM;
}

/*
 * What @from has, and which of it is a part of its kin, is looked at in one step, and so is
 * kin->left: what a member gets by a split is seen here, or by pe_kin_join().  If @from is a member
 * of another kin, a split may have come half way: older kins come first, so what it has got is a
 * copy of a part of this one, which is left out.
 *
 * Return: 0, an error, or 1: @from could have another kin, and nothing is done if @may_renew.
 */
static int divide(struct pe_ctx *from, struct pe_ctx *ctx, struct pe_fork *fork, bool may_renew)
{
	struct pe_kin *kin = from->kin;
	int err;

	if (!kin) {
		err = take_stock(from, fork);
		return err ?: wants_kin(fork);
	}
	guard(mutex)(&kin->mutex);
	/* It counts all of its parts, so if it counts as many, these are all of its events. */
	if (nr_live(kin) && nr_live(kin) == READ_ONCE(from->nr_events)) {
		adopt(kin, ctx);
		return 0;
	}
	err = take_stock(from, fork);
	if (err)
		return err;
	fork->nr_to_copy = sort_out(kin, fork->events, fork->nr);
	if (may_renew && wants_kin(fork))
		return 1;
	adopt(kin, ctx);
	return 0;
}

/* A new kin for the forks of @from, unless there is no memory.  What was pinned is set aside. */
static void renew(struct pe_ctx *from, struct pe_fork *fork)
{
	struct pe_kin *kin = make_kin(from, fork->events, fork->nr);

	if (kin) {
		fork->old = from->kin;
		from->kin = kin;
	}
	fork->earlier = fork->events;
	fork->nr_earlier = fork->nr;
	fork->events = NULL;
	fork->nr = 0;
	fork->nr_to_copy = 0;
}

/**
 * pe_kin_begin() - fork: the new task becomes a member, as far as the kin has its events
 * @from: current's context, held
 * @ctx: that of the new task, its mutex held, which nobody can see yet
 * @fork: zeroed; set to what is to be copied; to be given to pe_kin_begun(), also after an error
 *
 * Return: 0 or -ENOMEM.
 */
int pe_kin_begin(struct pe_ctx *from, struct pe_ctx *ctx, struct pe_fork *fork)
{
	int ret = pe_ctx_reserve_pmu(ctx, &pe_swevent_pmu);

	if (ret)
		return ret;
	ret = divide(from, ctx, fork, true);
	if (ret <= 0)
		return ret;
	renew(from, fork);
	return min(divide(from, ctx, fork, false), 0);
}

/**
 * pe_kin_begun() - drop what pe_kin_begin() has pinned
 * @fork: see there
 *
 * Without ctx->mutex.
 */
void pe_kin_begun(struct pe_fork *fork)
{
	pe_snapshot_put(fork->events, fork->nr);
	pe_snapshot_put(fork->earlier, fork->nr_earlier);
	pe_kin_put(fork->old);
}

/* A part has ended since the fork began.  If it was split: the copy that fork would have made. */
static void catch_up(struct pe_kin *kin, struct pe_kin_part *part, struct pe_ctx *ctx)
{
	struct pe_event *origin = part->split ? pe_kin_get_origin(kin, part) : NULL, *copy;

	if (!origin) {
		pe_ctx_uncount(ctx, 1);
		return;
	}
	copy = pe_kin_give_copy(origin, ctx, part->family_gen);
	list_add_tail(&copy->child_entry, &ctx->unjoined);
	pe_put(origin);
}

/**
 * pe_kin_join() - fork cannot fail any more: the new task is a member
 * @ctx: its context; the task has not run
 *
 * Copies of what was split meanwhile are left on ctx->unjoined.
 */
void pe_kin_join(struct pe_ctx *ctx)
{
	struct pe_kin *kin = ctx->member_of;
	unsigned int i, left, at;

	if (!kin)
		return;
	scoped_guard(mutex, &kin->mutex) {
		list_add_tail(&ctx->kin_entry, &kin->members);
		left = kin->left;
	}
	for (i = 0; unlikely(left != ctx->kin_left) && i < kin->nr; i++) {
		/* Others may be ending now: that is known here as it is to all members. */
		at = READ_ONCE(kin->part[i].left_at);
		if (at > ctx->kin_left && at <= left)
			catch_up(kin, &kin->part[i], ctx);
	}
}
