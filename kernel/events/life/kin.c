// SPDX-License-Identifier: GPL-2.0
/*
 * Kin: tasks whose inherited events are counted in common.
 *
 * What user space sees of an inherited event is the sum over its family.  For an event that counts
 * in software and does nothing else, that sum is at hand without a copy for each task: the hits of
 * a task are counted in the slot of its context anyway, for however many events (time.h).  So fork
 * makes no copies of such events.  The new task's context becomes a *member* of a kin, which knows
 * of which events, its *parts*, the members would have copies:
 *
 *	what a part has counted   =   hits of the members that are gone   +   slots of the others
 *	for how long              =   likewise, by the clocks of their contexts
 *
 * Fork and exit of a member cost the same for one part as for a thousand, and a switch is that of a
 * context with events (exchange.c), which is why ctx->nr_events counts the parts as well.
 *
 * A kin is made when a task forks that has such events which are not in the kin it has: the next
 * forks of the task, and all of the members', join it.  A member that has got events of its own has
 * a new kin for those that it forks, of these events and of what it has in common with others.
 *
 * A part ends when something is to be done to the event that would treat copies one by one: it is
 * enabled or disabled, reset, gets a sibling, a buffer or something of the extensions.  Then it is *split*:
 * each member gets the copy that fork would have made, with all that it has counted, and the event
 * is one that has copies (inherit.c).  A part ends as well when its event is closed.  The other
 * parts go on.
 *
 * Parts only end, kin->left says how many have.  A task that is being forked becomes a member in
 * two steps, as fork may fail: pe_kin_begin() notes kin->left, pe_kin_join() makes up for what was
 * split in between.
 *
 * Locks: kin->mutex inside of ctx->mutex and of the family locks of the parts, ctx->lock inside.
 * A reader holds the family lock of its event, so it sees a part or the copies that it was split
 * into; and a member, or what it has left behind.  Letters:
 *
 *	K	kin->mutex
 *	F	the family lock of the part's origin
 *
 * Task context.
 */
#include <linux/bsearch.h>
#include <linux/pid_namespace.h>
#include <linux/sort.h>

#include "life.h"
#include "../ext.h"

/**
 * struct pe_kin_part - an event whose copies are counted in common
 * @kin: where							I
 * @key: what @origin was first					I
 * @origin: the event, with a reference; NULL once it is closed	F and K
 * @entry: on origin->parts, as long as that has not been closed	F
 * @left_at: 0, or: it was the how-manieth part to end		F and K
 * @split: its members have copies				F and K
 * @family_gen: of the origin when it was split			F and K
 */
struct pe_kin_part {
	struct pe_kin		*kin;
	const struct pe_event	*key;
	struct pe_event		*origin;
	struct list_head	entry;
	unsigned int		left_at;
	bool			split;
	unsigned int		family_gen;
};

/**
 * struct pe_kin - tasks that have their inherited events in common
 * @mutex: see above
 * @refs: two of each member, also of one that is being forked; one of who uses it for its forks
 * @linked: parts on the lists of their origins, and one for all of @refs: the memory
 * @members: contexts, by pe_ctx.kin_entry				K
 * @gone: hits of members that are gone				K
 * @gone_time: how long these have run, ns				K
 * @left: parts that have ended					K
 * @nr: length of @part						I
 * @part: the parts, by the addresses of their origins
 */
struct pe_kin {
	struct mutex		mutex;		/* see above */
	refcount_t		refs;
	refcount_t		linked;
	struct list_head	members;
	u64			gone[PERF_COUNT_SW_MAX][PE_NR_MODES];
	u64			gone_time;
	unsigned int		left;
	unsigned int		nr;
	struct pe_kin_part	part[];
};

/* ---------------------------------------------------------------- what can be a part */

static bool is_alone_and_on(const struct pe_event *e)
{
	return READ_ONCE(e->state) == PERF_EVENT_STATE_ACTIVE && pe_is_leader(e) &&
	       !e->nr_siblings && !e->attr.enable_on_exec;
}

/*
 * Everything that makes copies differ from each other, or do more than count, is missing.  What may
 * come later splits the part: a change of state, what the extensions add, a sibling, a buffer, whose
 * readers are told when the last copy has gone.
 */
static bool can_be_part(struct pe_event *e)
{
	const struct perf_event_attr *attr = &e->attr;

	return e->counts_hits && attr->inherit && !e->of_session && !e->copied && e->cpu < 0 &&
	       is_alone_and_on(e) && !rcu_access_pointer(e->rb) && !e->plan.sideband &&
	       !pe_ext(e) && !attr->inherit_thread && !attr->inherit_stat && !attr->remove_on_exec &&
	       attr->config != PERF_COUNT_SW_BPF_OUTPUT;
}

/* Its origin, with a reference, or NULL. */
static struct pe_event *get_origin(struct pe_kin *kin, struct pe_kin_part *part)
{
	guard(mutex)(&kin->mutex);
	if (part->origin)
		pe_get(part->origin);
	return part->origin;
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
		/* Behind those of older kins: see split_part(). */
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
		c[n].origin = get_origin(other, &other->part[i]);
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

/* ---------------------------------------------------------------------- the end of a part */

static u64 hits_of(const struct pe_event *origin, const u64 *nr)
{
	u64 hits = 0;
	int mode;

	for (mode = 0; mode < PE_NR_MODES; mode++)
		if (!(origin->plan.excludes & BIT(mode)))
			hits += nr[mode];
	return hits;
}

/* The part ends.  What members that are gone have counted is in the sums of the family's. */
static void end_part(struct pe_kin *kin, struct pe_kin_part *part)
{
	struct pe_event *origin = part->origin;

	lockdep_assert_held(&origin->family_lock);
	lockdep_assert_held(&kin->mutex);
	WRITE_ONCE(part->left_at, ++kin->left);
	atomic64_add(hits_of(origin, kin->gone[origin->attr.config]), &origin->gone_count);
	atomic64_add(kin->gone_time, &origin->gone_enabled);
	atomic64_add(kin->gone_time, &origin->gone_running);
}

/* The links and locks that are looked at though the event may be on no such list. */
static void init_links(struct pe_event *e)
{
	INIT_LIST_HEAD(&e->sibling_list);
	INIT_LIST_HEAD(&e->active_entry);
	INIT_LIST_HEAD(&e->addr_filters.list);
	INIT_LIST_HEAD(&e->mapped_entry);
	INIT_LIST_HEAD(&e->running_entry);
	INIT_LIST_HEAD(&e->children);
	mutex_init(&e->family_lock);
	mutex_init(&e->mmap_mutex);
}

/*
 * A copy, not attached.  All that could be asked about it was answered when the original was
 * opened, and the security module is asked about that one.  It must not fail: fork is over, and what
 * asks for a split may be a prctl() or a change of the state, which cannot.
 */
static struct pe_event *make_copy(struct pe_event *origin)
{
	struct pe_event *e = kmem_cache_zalloc(pe_event_cache, GFP_KERNEL | __GFP_NOFAIL);

	init_links(e);
	pe_pending_init(e);
	refcount_set(&e->refs, 1);
	refcount_set(&e->mem_refs, 1);
	e->attr = origin->attr;
	e->plan = origin->plan;
	e->header_size = origin->header_size;
	e->orig_type = origin->orig_type;
	e->pmu = origin->pmu;
	e->cpu = -1;
	e->oncpu = -1;
	e->group_leader = &e->pub;
	e->passive = true;
	e->counts_hits = true;
	e->ns = &init_pid_ns;	/* no reference: records ask the original, their sink */
	e->id = pe_new_id();
	e->attach_state = PERF_ATTACH_TASK;
	pe_become_child(e, origin);
	return e;
}

/*
 * Puts a copy in the place of its part.  The slot's hits and the context's clock began at 0 when
 * the copy would have, so it shows what it would have counted.
 */
static void attach(struct pe_event *e, struct pe_ctx *ctx)
{
	guard(raw_spinlock_irq)(&ctx->lock);
	refcount_inc(&ctx->refs);
	e->hw.target = get_task_struct(ctx->task);
	e->slot = &ctx->any;
	e->pmu_ctx = &pe_find_pmu_ctx(ctx, e->pmu)->pub;
	e->ctx = &ctx->pub;
	e->state = PERF_EVENT_STATE_ACTIVE;
	e->enabled.running = true;
	e->running.running = true;
	pe_hits_bind(e);
	list_add_tail_rcu(&e->ctx_entry, &ctx->events);
	pe_ctx_end_equiv(ctx);
	e->attach_state |= PERF_ATTACH_CONTEXT | PERF_ATTACH_GROUP;
}

/* Those of older kins first: see divide(). */
static void split_part(struct pe_kin_part *part)
{
	struct pe_event *origin = part->origin, *copy;
	struct pe_kin *kin = part->kin;
	struct pe_ctx *ctx;

	guard(mutex)(&kin->mutex);
	end_part(kin, part);
	part->split = true;
	part->family_gen = origin->family_gen;
	list_for_each_entry(ctx, &kin->members, kin_entry) {
		copy = make_copy(origin);
		copy->family_gen = origin->family_gen;
		attach(copy, ctx);
		list_add_tail(&copy->child_entry, &origin->children);
		copy->in_family = true;
	}
}

/**
 * pe_kin_split() - something is to be done to the copies of an event one by one
 * @e: an event that was opened; its family lock is held
 *
 * What is done to it then, with the family lock still held, keeps it from becoming a part again, or
 * does not have to.
 */
void pe_kin_split(struct pe_event *e)
{
	struct pe_kin_part *part;

	lockdep_assert_held(&e->family_lock);
	list_for_each_entry(part, &e->parts, entry)
		if (!part->left_at)
			split_part(part);
}

/**
 * pe_kin_never() - from now on an event has copies
 * @e: an event that was opened; it is about to get a sibling, or a buffer
 */
void pe_kin_never(struct pe_event *e)
{
	guard(mutex)(&e->family_lock);
	e->copied = true;
	pe_kin_split(e);
}

/*
 * Who unlinks a part may find others freeing the kin: the memory stays until the mutex is unlocked.
 */
static void put_memory(struct pe_kin *kin)
{
	if (refcount_dec_and_test(&kin->linked))
		kvfree(kin);
}

/* The event does not need @part any more.  Its reference is the caller's, and put_memory(). */
static void unlink_part(struct pe_kin_part *part)
{
	struct pe_event *origin = part->origin;
	struct pe_kin *kin = part->kin;
	struct pe_ctx *ctx;

	lockdep_assert_held(&origin->family_lock);
	guard(mutex)(&kin->mutex);
	if (!part->left_at) {
		end_part(kin, part);
		list_for_each_entry(ctx, &kin->members, kin_entry)
			pe_ctx_uncount(ctx, 1);
	}
	list_del(&part->entry);
	part->origin = NULL;
}

/**
 * pe_kin_close() - an event is being closed
 * @e: the event, with a reference of the caller's; its family lock is held until it is DEAD
 *
 * Its parts end before it leaves its context, those of younger kins before the members of older
 * ones forget it: so a context never counts fewer events than its kin has parts, see divide().
 */
void pe_kin_close(struct pe_event *e)
{
	struct pe_kin_part *part, *next;

	list_for_each_entry_safe_reverse(part, next, &e->parts, entry) {
		struct pe_kin *kin = part->kin;

		unlink_part(part);
		put_memory(kin);
		refcount_dec(&e->refs);
	}
}

static void forget_part(struct pe_kin *kin, struct pe_kin_part *part)
{
	struct pe_event *origin = get_origin(kin, part);

	if (!origin)
		return;
	mutex_lock(&origin->family_lock);
	if (part->origin) {
		unlink_part(part);
		put_memory(kin);
		refcount_dec(&origin->refs);	/* not the last, which is dropped below */
	}
	mutex_unlock(&origin->family_lock);
	pe_put(origin);
}

/*
 * Drops a reference, if there is a kin.  Without ctx->mutex, for what freeing an event may need.
 * The last one: nobody can become a member any more, and what was counted goes to the sums of each
 * family.
 */
static void pe_kin_put(struct pe_kin *kin)
{
	unsigned int i;

	if (!kin || !refcount_dec_and_test(&kin->refs))
		return;
	WARN_ON_ONCE(!list_empty(&kin->members));
	for (i = 0; i < kin->nr; i++)
		forget_part(kin, &kin->part[i]);
	put_memory(kin);
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
 * of another kin, a split may have come half way: older kins come first, so what it has got is a copy
 * of a part of this one, which is left out.
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

/* A new kin for the forks of @from, unless there is no memory.  What is pinned is needed no more. */
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
	struct pe_event *origin = part->split ? get_origin(kin, part) : NULL, *copy;

	if (!origin) {
		pe_ctx_uncount(ctx, 1);
		return;
	}
	copy = make_copy(origin);
	copy->family_gen = part->family_gen;
	attach(copy, ctx);
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

/**
 * pe_kin_leave() - a task exits
 * @ctx: its context, dead and out for good, mutex held
 *
 * Before its copies leave: some may be those of parts that are being split.
 */
void pe_kin_leave(struct pe_ctx *ctx)
{
	struct pe_kin *kin = ctx->member_of;
	int id, mode;

	if (!kin)
		return;
	guard(mutex)(&kin->mutex);
	list_del(&ctx->kin_entry);
	for (id = 0; id < PERF_COUNT_SW_MAX; id++)
		for (mode = 0; mode < PE_NR_MODES; mode++)
			kin->gone[id][mode] += local64_read(&ctx->any.sw[id].nr[mode]);
	kin->gone_time += ctx->clock.time;
}

/**
 * pe_kin_drop() - a context has no task any more
 * @ctx: the context; it has left, or fork has failed
 *
 * Without ctx->mutex.
 */
void pe_kin_drop(struct pe_ctx *ctx)
{
	pe_kin_put(ctx->member_of);
	pe_kin_put(ctx->kin);
}

/* ------------------------------------------------------------------------------- readers */

static void add_member(struct pe_event *e, struct pe_ctx *ctx, struct pe_kin_sum *sum)
{
	const struct pe_hits *hits = &ctx->any.sw[e->attr.config];
	u64 nr[PE_NR_MODES];
	int mode;

	guard(raw_spinlock_irq)(&ctx->lock);
	for (mode = 0; mode < PE_NR_MODES; mode++)
		nr[mode] = local64_read(&hits->nr[mode]);
	sum->count += hits_of(e, nr);
	sum->time += pe_clock_read(&ctx->clock, pe_now());
	sum->members++;
}

static void add_part_to(struct pe_kin_sum *sum, struct pe_kin_part *part)
{
	struct pe_event *e = part->origin;
	struct pe_kin *kin = part->kin;
	struct pe_ctx *ctx;

	guard(mutex)(&kin->mutex);
	sum->count += hits_of(e, kin->gone[e->attr.config]);
	sum->time += kin->gone_time;
	list_for_each_entry(ctx, &kin->members, kin_entry)
		add_member(e, ctx, sum);
}

/**
 * pe_kin_has_members() - are there tasks that count for an event without a copy of it?
 * @e: an event that was opened; its family lock is held
 */
bool pe_kin_has_members(struct pe_event *e)
{
	struct pe_kin_part *part;

	list_for_each_entry(part, &e->parts, entry)
		if (!part->left_at && !list_empty(&part->kin->members))
			return true;
	return false;
}

/**
 * pe_kin_sum() - what others have counted for an event without a copy of it
 * @e: an event that was opened; its family lock is held
 * @sum: set
 *
 * Disturbs no CPU.
 */
void pe_kin_sum(struct pe_event *e, struct pe_kin_sum *sum)
{
	struct pe_kin_part *part;

	lockdep_assert_held(&e->family_lock);
	*sum = (struct pe_kin_sum) { };
	list_for_each_entry(part, &e->parts, entry)
		if (!part->left_at)
			add_part_to(sum, part);
}
