// SPDX-License-Identifier: GPL-2.0
/*
 * Inherited events made in bulk: those that count in software and do nothing else.
 *
 * A tool that counts the page faults of a program with all its children has such copies made and
 * dropped at each fork and exit, by the hundred.  All that could be asked about one was answered
 * when its original was opened: the PMU is one that lasts and keeps nothing for an event, there is
 * no sample, no record, no program, hence no buffer, no irq_work and no signal, and no group.  So a
 * copy is filled in from the original instead of being made from its attr, and put in a context
 * that nobody can see yet without locking that.
 *
 * Its end is short as well when it exits with its task.  Hits find the events of a task by current
 * only, with preemption off, so when the task itself has taken its context out for good, no hit on
 * any CPU can still look at one of them: it is freed at once, and the next fork finds its memory in
 * the cache.  Another task may have had the context before (exchange.c): it has switched since.
 * If its original is closed first, or it is pinned, it is an event as any other: all that
 * may come upon a copy treats these alike, but for what needs a work to queue.
 *
 * What this has in common with other events is in life.h.  Attaching and detaching a copy is done
 * here once more because pe_install() and pe_withdraw() take 574 instructions more for each (arm64;
 * x86_64: 518): a lock and two reads of the clock, and a look at all that a copy cannot be.
 *
 * A copy stays what it is.  Its original may get a program or siblings later; what is copied then
 * is not made in bulk, and a copy that has got siblings leaves the long way.
 *
 * Called by inherit.c and exit.c, in task context, with the mutex of the new or dead context.
 */
#include "life.h"
#include "../ext.h"

/**
 * pe_bulk_can() - may the copy of an event be made in bulk?
 * @from: an event, pinned
 *
 * It may change its mind a moment later: see above.
 */
bool pe_bulk_can(struct pe_event *from)
{
	struct pe_event *origin = pe_origin(from);

	return origin->passive && !origin->counts_time && !is_sampling_event(&origin->pub) &&
	       !origin->attr.freq && !origin->plan.sideband && !origin->attr.inherit_stat &&
	       !READ_ONCE(origin->prog) &&
	       pe_is_leader(from) && !from->nr_siblings;
}

static struct pe_event *take(struct pe_bulk_stock *stock)
{
	if (!stock->nr) {
		unsigned int nr = clamp_t(unsigned int, stock->wanted, 1,
					  ARRAY_SIZE(stock->event));

		stock->nr = kmem_cache_alloc_bulk(pe_event_cache, GFP_KERNEL, nr,
						  (void **)stock->event);
		if (!stock->nr)
			return NULL;
	}
	if (stock->wanted)
		stock->wanted--;
	return stock->event[--stock->nr];
}

/**
 * pe_bulk_restore() - free what was not needed
 * @stock: memory for copies
 */
void pe_bulk_restore(struct pe_bulk_stock *stock)
{
	if (stock->nr)
		kmem_cache_free_bulk(pe_event_cache, stock->nr, (void **)stock->event);
	stock->nr = 0;
}

/* The links that are looked at though the event may be on no such list. */
static void init_links(struct pe_event *e)
{
	INIT_LIST_HEAD(&e->sibling_list);
	INIT_LIST_HEAD(&e->active_entry);
	INIT_LIST_HEAD(&e->addr_filters.list);
	INIT_LIST_HEAD(&e->mapped_entry);
	INIT_LIST_HEAD(&e->running_entry);
	INIT_LIST_HEAD(&e->children);
}

static void fill_in(struct pe_event *e, struct pe_event *origin, struct pe_ctx *ctx)
{
	memset(e, 0, PE_EVENT_SIZE);
	init_links(e);
	refcount_set(&e->refs, 1);
	refcount_set(&e->mem_refs, 1);
	e->attr = origin->attr;
	e->plan = origin->plan;
	e->orig_type = origin->orig_type;
	e->pmu = origin->pmu;
	e->cpu = origin->cpu;
	e->oncpu = -1;
	e->group_leader = &e->pub;
	e->passive = true;
	e->counts_hits = origin->counts_hits;
	e->bulk = true;
	e->ns = &init_pid_ns;	/* no reference: records ask the original, their sink */
	e->attach_state = PERF_ATTACH_TASK;
	e->hw.target = get_task_struct(ctx->task);
	pe_become_child(e, origin);
}

/*
 * What pe_attach() does, in a context that is nowhere and that nobody else has seen.  Its clocks
 * have not started, so those of the event, which follow them, are at zero.
 */
static void attach(struct pe_event *e, struct pe_ctx *ctx, enum perf_event_state state)
{
	bool on = state >= PERF_EVENT_STATE_INACTIVE;

	refcount_inc(&ctx->refs);
	e->slot = pe_ctx_slot(ctx, e);
	e->ctx = &ctx->pub;
	e->state = on ? PERF_EVENT_STATE_ACTIVE : PERF_EVENT_STATE_OFF;
	e->enabled.running = on;
	e->running.running = on;
	list_add_tail_rcu(&e->ctx_entry, &ctx->events);
	if (e->counts_hits) {	/* and none has been there yet */
		pe_hits_bind(e);
		e->hw.state = on ? 0 : PERF_HES_STOPPED;
	} else {
		hlist_add_head_rcu(&e->sw_node, &e->slot->sw[e->attr.config].list);
	}
	ctx->nr_inherit++;
	ctx->nr_events++;
	e->attach_state |= PERF_ATTACH_CONTEXT | PERF_ATTACH_GROUP;
}

static struct pe_pmu_ctx *find_pmu_ctx(struct pe_bulk_stock *stock, struct pe_event *e,
				       struct pe_ctx *ctx)
{
	if (stock->pmu_ctx && e->cpu < 0)
		return stock->pmu_ctx;
	if (pe_ctx_reserve(ctx, e->pmu, e))
		return NULL;
	stock->pmu_ctx = pe_find_pmu_ctx(ctx, e->pmu);
	return stock->pmu_ctx;
}

/**
 * pe_bulk_copy() - make a copy for a new task
 * @from: an event for which pe_bulk_can() said yes, pinned; its original is not being closed
 * @state: that of @from
 * @ctx: the context of the new task, mutex held
 * @stock: memory for copies
 *
 * Return: the copy, attached, with one reference, for the family; or an error.
 */
struct pe_event *pe_bulk_copy(struct pe_event *from, enum perf_event_state state,
			      struct pe_ctx *ctx, struct pe_bulk_stock *stock)
{
	struct pe_event *e = take(stock);
	struct pe_pmu_ctx *pmu_ctx;
	int err;

	if (!e)
		return ERR_PTR(-ENOMEM);
	fill_in(e, pe_origin(from), ctx);
	err = security_perf_event_alloc(&e->pub);
	if (err)
		goto fail;
	pmu_ctx = find_pmu_ctx(stock, e, ctx);
	err = -ENOMEM;
	if (!pmu_ctx)
		goto fail;
	e->pmu_ctx = &pmu_ctx->pub;
	e->id = pe_new_id();
	e->attr.enable_on_exec = from->attr.enable_on_exec;
	attach(e, ctx, state);
	return e;
fail:
	pe_put(e);
	return ERR_PTR(err);
}

/* @driver stands still already; two CPUs may not have agreed on its time, see time.c. */
static void stop_clock(struct pe_clock *clock, const struct pe_clock *driver)
{
	u64 time = driver->time + clock->offset;

	if (clock->running && (s64)(time - clock->time) > 0)
		clock->time = time;
	clock->running = false;
}

/* Out of the dead context.  The closing of the original may have done it already. */
static void withdraw(struct pe_event *e, struct pe_ctx *ctx)
{
	guard(raw_spinlock_irq)(&ctx->lock);
	if (e->attach_state & PERF_ATTACH_CONTEXT) {
		list_del_rcu(&e->ctx_entry);
		if (!e->counts_hits)
			hlist_del_init_rcu(&e->sw_node);
		ctx->nr_inherit--;
		ctx->nr_events--;
		e->attach_state &= ~(PERF_ATTACH_CONTEXT | PERF_ATTACH_GROUP);
	}
	if (e->state > PERF_EVENT_STATE_EXIT) {
		if (e->counts_hits)
			pe_hits_end(e);
		WRITE_ONCE(e->state, PERF_EVENT_STATE_EXIT);
		stop_clock(&e->enabled, &ctx->clock);
		stop_clock(&e->running, &e->slot->clock);
	}
}

/**
 * pe_bulk_leave() - as pe_child_leave(), for one made in bulk whose task exits
 * @e: the copy, pinned
 * @ctx: its context, dead and nowhere, mutex held
 *
 * Return: false when it has got siblings, or what the extensions need, and must leave the long way.
 */
bool pe_bulk_leave(struct pe_event *e, struct pe_ctx *ctx)
{
	struct pe_event *parent = pe_parent(e);
	bool ours;

	if (!pe_is_leader(e) || e->nr_siblings || unlikely(pe_ext(e)))
		return false;
	mutex_lock(&parent->family_lock);
	withdraw(e, ctx);
	ours = pe_leave_family(e, parent);
	mutex_unlock(&parent->family_lock);
	if (ours) {
		/* A copy tells nothing, so there is a reader only if the original was mapped. */
		if (rcu_access_pointer(parent->rb))
			pe_wake(parent);
		refcount_dec(&e->refs);		/* the family's; it is pinned */
	}
	return true;
}

/**
 * pe_bulk_put() - as pe_put(), after pe_bulk_leave()
 * @e: the copy
 * @stock: collects the memory, for pe_bulk_restore()
 *
 * Called by the task that counted, without the mutex of the context.
 */
void pe_bulk_put(struct pe_event *e, struct pe_bulk_stock *stock)
{
	struct pe_event *parent = pe_parent(e);

	if (!refcount_dec_and_test(&e->refs))
		return;
	security_perf_event_free(&e->pub);
	put_task_struct(e->hw.target);
	pe_ctx_put(pe_ctx(e));
	if (stock->nr == ARRAY_SIZE(stock->event))
		pe_bulk_restore(stock);
	stock->event[stock->nr++] = e;
	pe_put_memory(parent);
	pe_put(parent);
}
