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
 * enabled or disabled, reset, gets a sibling, a buffer or something of the extensions.  Then it is
 * *split*: each member gets the copy that fork would have made, with all that it has counted, and
 * the event is one that has copies (inherit.c).  A part ends as well when its event is closed.  The
 * other parts go on.
 *
 * Parts only end, kin->left says how many have.  A task that is being forked becomes a member in
 * two steps, as fork may fail: pe_kin_begin() notes kin->left, pe_kin_join() makes up for what was
 * split in between.  All of that is in kin_fork.c.
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
#include <linux/pid_namespace.h>

#include "kin.h"

/* ---------------------------------------------------------------------- the end of a part */

/**
 * pe_kin_get_origin() - the event of a part
 * @kin: the kin
 * @part: the part
 *
 * Return: it, with a reference, or NULL if it has been closed.
 */
struct pe_event *pe_kin_get_origin(struct pe_kin *kin, struct pe_kin_part *part)
{
	guard(mutex)(&kin->mutex);
	if (part->origin)
		pe_get(part->origin);
	return part->origin;
}

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
	INIT_LIST_HEAD(&e->parts);
	mutex_init(&e->family_lock);
	mutex_init(&e->mmap_mutex);
}

/*
 * A copy, not attached.  All that could be asked about it was answered when the original was
 * opened, and the security module is asked about that one.  It must not fail: fork is over, and
 * what asks for a split may be a prctl() or a change of the state, which cannot.
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

/**
 * pe_kin_give_copy() - a member gets the copy that it has had no need of
 * @origin: the event
 * @ctx: the context of the member; it goes on to count the event
 * @family_gen: of the family at that time
 *
 * Return: the copy with one reference, for the family, which it is not in yet.
 */
struct pe_event *pe_kin_give_copy(struct pe_event *origin, struct pe_ctx *ctx,
				  unsigned int family_gen)
{
	struct pe_event *copy = make_copy(origin);

	copy->family_gen = family_gen;
	attach(copy, ctx);
	return copy;
}

/* Those of older kins first: see divide() in kin_fork.c. */
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
		copy = pe_kin_give_copy(origin, ctx, origin->family_gen);
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
 * ones forget it: so a context never counts fewer events than its kin has parts, see divide() in
 * kin_fork.c.
 */
void pe_kin_close(struct pe_event *e)
{
	struct pe_kin_part *part, *next;

	lockdep_assert_held(&e->family_lock);
	list_for_each_entry_safe_reverse(part, next, &e->parts, entry) {
		struct pe_kin *kin = part->kin;

		unlink_part(part);
		put_memory(kin);
		refcount_dec(&e->refs);
	}
}

static void forget_part(struct pe_kin *kin, struct pe_kin_part *part)
{
	struct pe_event *origin = pe_kin_get_origin(kin, part);

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

/**
 * pe_kin_put() - drop a reference
 * @kin: the kin, or NULL
 *
 * Without ctx->mutex, for what freeing an event may need.  The last one: nobody can become a member
 * any more, and what was counted goes to the sums of each family.
 */
void pe_kin_put(struct pe_kin *kin)
{
	unsigned int i;

	if (!kin || !refcount_dec_and_test(&kin->refs))
		return;
	WARN_ON_ONCE(!list_empty(&kin->members));
	for (i = 0; i < kin->nr; i++)
		forget_part(kin, &kin->part[i]);
	put_memory(kin);
}

/* ------------------------------------------------------------------------- the end of a member */

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

	lockdep_assert_held(&ctx->mutex);
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

	raw_spin_lock_irq(&ctx->lock);
	for (mode = 0; mode < PE_NR_MODES; mode++)
		nr[mode] = local64_read(&hits->nr[mode]);
	sum->time += pe_clock_read(&ctx->clock, pe_now());
	raw_spin_unlock_irq(&ctx->lock);
	sum->count += hits_of(e, nr);
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

	lockdep_assert_held(&e->family_lock);
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
