// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts: the containers of the events of one task or one CPU.
 *
 * Owns struct pe_ctx with its slots, PMU contexts and lanes:
 *
 *	context --- slot "any CPU" ------- sw[0..11]: software events by number
 *	   |   \--- slot CPU n (tasks) --- sw[], lanes
 *	   |
 *	   \------- PMU context (one per PMU) --- lane in slot "any": pinned and flexible queue
 *	                                      \-- lane in slot CPU n
 *
 * A CPU context has no slots of CPUs but some of cgroups, which belong to the cgroups: cgroup.c.
 * An event is in exactly one slot.  A group that has to be scheduled is in the queue of one lane;
 * a passive group is in none.  Its software events count from slot->sw[].nr, or are found through
 * the lists beside it if they sample.
 *
 * Slots, PMU contexts and lanes are made by openers and by fork, in task context under ctx->mutex,
 * and published under ctx->lock; they live until the context is freed or the PMU leaves
 * (pmu_leave.c), so nobody counts references to them.  Events come and go under ctx->lock alone,
 * from any CPU.  The hit path and the sideband walk ctx->any, ctx->here, ctx->entered and
 * ctx->sideband under RCU with preemption off.
 */

#include "sched.h"

DEFINE_PER_CPU(struct pe_cpu, pe_cpu);

static struct lock_class_key cpu_lock_key, cpu_mutex_key;

/**
 * pe_slot_init() - initialise a zeroed slot
 * @slot: it
 */
void pe_slot_init(struct pe_slot *slot)
{
	int i;

	for (i = 0; i < PERF_COUNT_SW_MAX; i++)
		INIT_HLIST_HEAD(&slot->sw[i].list);
	INIT_HLIST_NODE(&slot->entered);
	INIT_LIST_HEAD(&slot->mapped);
	INIT_LIST_HEAD(&slot->freq);
	INIT_LIST_HEAD(&slot->lanes);
}

static void init_lane(struct pe_lane *lane, struct pe_pmu_ctx *pmu_ctx)
{
	lane->pmu_ctx = pmu_ctx;
	INIT_LIST_HEAD(&lane->entry);
	INIT_LIST_HEAD(&lane->pmu_ctx_entry);
	group_queue_init(&lane->queue[PE_PINNED]);
	group_queue_init(&lane->queue[PE_FLEXIBLE]);
}

/**
 * pe_ctx_init() - initialise a zeroed context
 * @ctx: the context; the caller owns its first reference
 * @task: the task, on which the context takes a reference; NULL for a CPU context
 * @cpu: the CPU of a CPU context, else -1
 */
void pe_ctx_init(struct pe_ctx *ctx, struct task_struct *task, int cpu)
{
	raw_spin_lock_init(&ctx->lock);
	mutex_init(&ctx->mutex);
	if (!task) {
		lockdep_set_class(&ctx->lock, &cpu_lock_key);
		lockdep_set_class(&ctx->mutex, &cpu_mutex_key);
	}
	refcount_set(&ctx->refs, 1);
	ctx->task = task ? get_task_struct(task) : NULL;
	ctx->cpu = cpu;
	ctx->oncpu = -1;
	ctx->home = -1;
	INIT_LIST_HEAD(&ctx->events);
	INIT_LIST_HEAD(&ctx->sideband);
	INIT_LIST_HEAD(&ctx->pmu_ctxs);
	INIT_LIST_HEAD(&ctx->unjoined);
	pe_slot_init(&ctx->any);
}

/**
 * pe_ctx_new() - allocate a task context
 * @task: the task
 *
 * May sleep.  Return: the context with one reference, or NULL.
 */
struct pe_ctx *pe_ctx_new(struct task_struct *task)
{
	struct pe_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);

	if (ctx)
		pe_ctx_init(ctx, task, -1);
	return ctx;
}

void pe_ctx_get(struct pe_ctx *ctx)
{
	refcount_inc(&ctx->refs);
}

/**
 * pe_slot_free() - free a slot with its lanes
 * @slot: not the one of "any CPU"; without events, and nobody walks its lanes
 *
 * Of a CPU context: under its ctx->mutex.  Of a task's: nobody has the context any more.
 */
void pe_slot_free(struct pe_slot *slot)
{
	struct pe_lane *lane, *next;

	list_for_each_entry_safe(lane, next, &slot->lanes, entry) {
		list_del(&lane->pmu_ctx_entry);
		kfree(lane);
	}
	kfree(slot);
}

/**
 * pe_pmu_ctx_fini() - the PMU of a PMU context goes away
 * @pmu_ctx: it, without groups; ctx->mutex is held
 *
 * No event's pmu_ctx leads here any more; a reader that may have followed one before without a
 * lock of the context was in a pe_pmus_read_lock() section, and the caller has waited for those.
 */
void pe_pmu_ctx_fini(struct pe_pmu_ctx *pmu_ctx)
{
	struct pe_lane *lane, *next;

	lockdep_assert_held(&pmu_ctx->ctx->mutex);
	WARN_ON_ONCE(pmu_ctx->nr_groups);
	raw_spin_lock_irq(&pmu_ctx->ctx->lock);
	list_for_each_entry(lane, &pmu_ctx->lanes, pmu_ctx_entry)
		list_del(&lane->entry);
	list_del_init(&pmu_ctx->ctx_entry);
	raw_spin_unlock_irq(&pmu_ctx->ctx->lock);

	list_for_each_entry_safe(lane, next, &pmu_ctx->lanes, pmu_ctx_entry)
		kfree(lane);
}

/**
 * pe_pmu_ctx_free() - free a PMU context of a task
 * @pmu_ctx: it; no lane of it is on any list
 *
 * Any context but NMI.
 */
void pe_pmu_ctx_free(struct pe_pmu_ctx *pmu_ctx)
{
	pe_roster_leave(pmu_ctx->roster, &pmu_ctx->pmu_entry, pmu_ctx->pmu);
	kfree(pmu_ctx);
}

static void pe_ctx_free_rcu(struct rcu_head *rcu)
{
	struct pe_ctx *ctx = container_of(rcu, struct pe_ctx, rcu);
	struct pe_pmu_ctx *pmu_ctx, *next;
	int cpu;

	for (cpu = 0; ctx->by_cpu && cpu < nr_cpu_ids; cpu++)
		if (ctx->by_cpu[cpu])
			pe_slot_free(ctx->by_cpu[cpu]);
	kfree(ctx->by_cpu);
	list_for_each_entry_safe(pmu_ctx, next, &ctx->pmu_ctxs, ctx_entry)
		pe_pmu_ctx_free(pmu_ctx);
	kfree(ctx);
}

/**
 * pe_ctx_put() - drop a reference
 * @ctx: the context; a CPU context is never freed
 *
 * Any context but NMI.
 */
void pe_ctx_put(struct pe_ctx *ctx)
{
	if (refcount_dec_and_test(&ctx->refs))
		call_rcu(&ctx->rcu, pe_ctx_free_rcu);
}

/**
 * pe_ctx_slot() - the slot of an event
 * @ctx: the context it is in, or shall be in
 * @e: the event, of which the CPU value and the cgroup matter
 *
 * Return: the slot, or NULL if pe_ctx_reserve() has not made it.
 */
struct pe_slot *pe_ctx_slot(struct pe_ctx *ctx, const struct pe_event *e)
{
	if (e->cgrp)
		return pe_cgroup_slot(e->cgrp, e->cpu);
	/* A context that stays on its CPU has but one slot. */
	if (e->cpu < 0 || !ctx->task || (ctx->kin && ctx->kin->per_cpu))
		return &ctx->any;
	return ctx->by_cpu ? ctx->by_cpu[e->cpu] : NULL;
}

/* The PMU context of @pmu in @ctx, or NULL; under ctx->mutex or ctx->lock. */
struct pe_pmu_ctx *pe_find_pmu_ctx(struct pe_ctx *ctx, struct pmu *pmu)
{
	struct pe_pmu_ctx *pmu_ctx;

	list_for_each_entry(pmu_ctx, &ctx->pmu_ctxs, ctx_entry)
		if (pmu_ctx->pmu == pmu)
			return pmu_ctx;
	return NULL;
}

/* The lane of @pmu_ctx in @slot, or NULL. */
struct pe_lane *pe_pmu_ctx_lane(struct pe_pmu_ctx *pmu_ctx, struct pe_slot *slot)
{
	struct pe_lane *lane;

	if (!slot || slot == &pmu_ctx->ctx->any)
		return slot ? &pmu_ctx->any : NULL;
	list_for_each_entry(lane, &slot->lanes, entry)
		if (lane->pmu_ctx == pmu_ctx)
			return lane;
	return NULL;
}

/**
 * pe_pmu_ctx_init() - initialise a zeroed PMU context
 * @pmu_ctx: it, not yet on ctx->pmu_ctxs
 * @ctx: its context
 * @pmu: its PMU
 */
void pe_pmu_ctx_init(struct pe_pmu_ctx *pmu_ctx, struct pe_ctx *ctx, struct pmu *pmu)
{
	pmu_ctx->pmu = pmu;
	pmu_ctx->ctx = ctx;
	INIT_LIST_HEAD(&pmu_ctx->ctx_entry);
	INIT_LIST_HEAD(&pmu_ctx->lanes);
	INIT_LIST_HEAD(&pmu_ctx->pmu_entry);
	init_lane(&pmu_ctx->any, pmu_ctx);
	INIT_LIST_HEAD(&pmu_ctx->running[PE_PINNED]);
	INIT_LIST_HEAD(&pmu_ctx->running[PE_FLEXIBLE]);
}

static struct pe_slot *make_slot(struct pe_ctx *ctx, int cpu)
{
	struct pe_slot *slot;

	if (!ctx->by_cpu) {
		struct pe_slot **by_cpu = kcalloc(nr_cpu_ids, sizeof(*by_cpu), GFP_KERNEL);

		if (!by_cpu)
			return NULL;
		/* A switch on another CPU reads by_cpu under ctx->lock. */
		raw_spin_lock_irq(&ctx->lock);
		ctx->by_cpu = by_cpu;
		raw_spin_unlock_irq(&ctx->lock);
	}

	slot = kzalloc_node(sizeof(*slot), GFP_KERNEL, cpu_to_node(cpu));
	if (!slot)
		return NULL;
	pe_slot_init(slot);

	raw_spin_lock_irq(&ctx->lock);
	ctx->by_cpu[cpu] = slot;
	if (ctx->oncpu == cpu) {
		pe_clock_start(&slot->clock, pe_now());
		/* Pairs with the address dependency of the hit path's READ_ONCE(here). */
		smp_store_release(&ctx->here, slot);
	}
	raw_spin_unlock_irq(&ctx->lock);
	return slot;
}

static struct pe_pmu_ctx *make_pmu_ctx(struct pe_ctx *ctx, struct pmu *pmu)
{
	struct pe_pmu_ctx *pmu_ctx;

	if (!ctx->task) {
		pmu_ctx = &per_cpu_ptr(pmu->cpu_pmu_context, ctx->cpu)->cpu_pmu_ctx;
	} else {
		pmu_ctx = kzalloc(sizeof(*pmu_ctx), GFP_KERNEL);
		if (!pmu_ctx)
			return NULL;
		pe_pmu_ctx_init(pmu_ctx, ctx, pmu);
		pmu_ctx->roster = pe_roster_join(pmu, &pmu_ctx->pmu_entry,
						 PE_ROSTER_PMU_CTXS);
	}

	raw_spin_lock_irq(&ctx->lock);
	list_add_tail(&pmu_ctx->ctx_entry, &ctx->pmu_ctxs);
	raw_spin_unlock_irq(&ctx->lock);
	return pmu_ctx;
}

/**
 * pe_ctx_reserve() - make what an event needs before it can be attached
 * @ctx: the context, its mutex held
 * @pmu: the PMU that schedules the event's group
 * @e: the event
 *
 * A passive event needs its lane, too: if it leads, and the hardware members leave before clocks
 * that sample, its group is queued there.
 *
 * Sleeps.  Return: 0 or -ENOMEM; what was made stays with the context.
 */
int pe_ctx_reserve(struct pe_ctx *ctx, struct pmu *pmu, const struct pe_event *e)
{
	struct pe_slot *slot = pe_ctx_slot(ctx, e);
	struct pe_pmu_ctx *pmu_ctx = pe_find_pmu_ctx(ctx, pmu);
	struct pe_lane *lane;

	lockdep_assert_held(&ctx->mutex);
	if (!slot)
		slot = e->cgrp ? pe_cgroup_make_slot(e->cgrp, e->cpu) : make_slot(ctx, e->cpu);
	if (!pmu_ctx)
		pmu_ctx = make_pmu_ctx(ctx, pmu);
	if (!slot || !pmu_ctx)
		return -ENOMEM;
	if (pe_pmu_ctx_lane(pmu_ctx, slot))
		return 0;

	lane = kzalloc(sizeof(*lane), GFP_KERNEL);
	if (!lane)
		return -ENOMEM;
	init_lane(lane, pmu_ctx);
	raw_spin_lock_irq(&ctx->lock);
	list_add_tail(&lane->entry, &slot->lanes);
	list_add_tail(&lane->pmu_ctx_entry, &pmu_ctx->lanes);
	raw_spin_unlock_irq(&ctx->lock);
	return 0;
}

static bool user_readable(const struct pe_event *e)
{
	return !is_software_event((struct perf_event *)&e->pub) &&
	       e->hw.flags & PERF_EVENT_FLAG_USER_READ_CNT;
}

/**
 * pe_ctx_add() - put an event on the lists of its context
 * @ctx: the context, locked; the event's slot and PMU context exist
 * @e: the event, disabled or INACTIVE, not in a queue
 */
void pe_ctx_add(struct pe_ctx *ctx, struct pe_event *e)
{
	lockdep_assert_held(&ctx->lock);

	e->slot = pe_ctx_slot(ctx, e);
	list_add_tail_rcu(&e->ctx_entry, &ctx->events);
	if (e->plan.sideband)
		list_add_tail_rcu(&e->sideband_entry, &ctx->sideband);
	if (e->attr.freq)
		WRITE_ONCE(ctx->nr_freq, ctx->nr_freq + 1);
	if (e->counts_hits)
		pe_hits_bind(e);
	else if (e->passive && !e->counts_time)
		hlist_add_head_rcu(&e->sw_node, &e->slot->sw[e->attr.config].list);
	if (e->attr.type == PERF_TYPE_TRACEPOINT)
		hlist_add_head_rcu(&e->sw_node, &ctx->traced);
	if (atomic_read(&e->mmap_count))	/* a move; mmap.c adds it after the first mapping */
		list_add_tail(&e->mapped_entry, &e->slot->mapped);
	if (user_readable(e))
		ctx->nr_user++;
	ctx->nr_inherit += e->attr.inherit;
	ctx->tells_reads |= e->attr.inherit_stat;
	ctx->nr_events++;
	pe_ctx_changed(ctx);
	if (e->cgrp)
		pe_cgroup_event_added(e);
	e->attach_state |= PERF_ATTACH_CONTEXT;
}

/*
 * The last event left: a task's context goes out without its CPU, which has nothing to do; that of
 * a kin on its CPU, see pe_member_call().
 */
static void retire_clocks(struct pe_ctx *ctx, u64 now)
{
	if (!ctx->task || ctx->oncpu < 0)
		return;
	WARN_ON_ONCE(ctx->nr_groups);
	if (ctx->kin && !WARN_ON_ONCE(__this_cpu_read(pe_cpu.shared) != ctx))
		__this_cpu_write(pe_cpu.shared, NULL);
	pe_clock_stop(&ctx->clock, now);
	pe_clock_stop(&ctx->any.clock, now);
	if (ctx->here)
		pe_clock_stop(&ctx->here->clock, now);
	WRITE_ONCE(ctx->here, NULL);
	WRITE_ONCE(ctx->oncpu, -1);
}

/**
 * pe_ctx_remove() - take an event off the lists of its context
 * @ctx: the context, locked
 * @e: the event, not in a queue and not counting
 * @now: pe_now()
 *
 * Readers under RCU may still see the event.
 */
void pe_ctx_remove(struct pe_ctx *ctx, struct pe_event *e, u64 now)
{
	lockdep_assert_held(&ctx->lock);

	list_del_rcu(&e->ctx_entry);
	if (e->plan.sideband)
		list_del_rcu(&e->sideband_entry);
	if (e->attr.freq)
		WRITE_ONCE(ctx->nr_freq, ctx->nr_freq - 1);
	list_del_init(&e->mapped_entry);
	if (!e->counts_hits)
		hlist_del_init_rcu(&e->sw_node);
	if (user_readable(e))
		ctx->nr_user--;
	ctx->nr_inherit -= e->attr.inherit;
	e->attach_state &= ~PERF_ATTACH_CONTEXT;
	pe_ctx_changed(ctx);
	if (e->cgrp)
		pe_cgroup_event_removed(e);
	if (!--ctx->nr_events)
		retire_clocks(ctx, now);
}

/* Pin what is to be copied, as far as there is room.  Return: the number of events. */
static unsigned int pin_inherited(struct pe_ctx *ctx, struct pe_event **events, unsigned int room)
{
	unsigned int n = 0;
	struct pe_event *e;

	guard(rcu)();
	list_for_each_entry_rcu(e, &ctx->events, ctx_entry) {
		if (n == room)
			break;
		if (READ_ONCE(e->group_leader)->attr.inherit && refcount_inc_not_zero(&e->refs))
			events[n++] = e;
	}
	return n;
}

/**
 * pe_ctx_snapshot() - what a fork may copy of a context, each with a reference
 * @ctx: current's own context, or one of a kin with its mutex held
 * @nr: number of events returned
 *
 * Leaders come before their siblings.  Events that are not inherited are left out: closing one is
 * to free its counter or breakpoint at once, even while its task forks.  Others may come and go
 * meanwhile: each that was there all the time is returned, and a sibling only with its leader,
 * unless it leads itself now.  Interrupts are on during the walk; see lockless.rst.
 *
 * Return: an array for pe_snapshot_put(), or NULL when out of memory.
 */
struct pe_event **pe_ctx_snapshot(struct pe_ctx *ctx, unsigned int *nr)
{
	struct pe_event **events;
	unsigned int room;

	/* The list is in the order in which events came: what has no room came after this. */
	scoped_guard(raw_spinlock_irq, &ctx->lock)
		room = max(ctx->nr_events, 1U);
	events = kvmalloc_array(room, sizeof(*events), GFP_KERNEL);
	if (!events)
		return NULL;
	*nr = pin_inherited(ctx, events, room);
	/* A step that the walk has seen a part of is finished now. */
	raw_spin_lock_irq(&ctx->lock);
	raw_spin_unlock_irq(&ctx->lock);
	return events;
}

#ifdef CONFIG_PROVE_LOCKING
/* Contract: what for_each_sibling_event() may rely on. */
void perf_assert_sibling_lock(struct perf_event *event)
{
	struct pe_ctx *ctx = pe(event)->ctx ? pe_ctx(pe(event)) : NULL;

	WARN_ON_ONCE(ctx && debug_locks && !irqs_disabled() && !lockdep_is_held(&ctx->mutex));
}
EXPORT_SYMBOL_GPL(perf_assert_sibling_lock);
#endif

/* Drivers ask whose events they are scheduling (irqs off). Return: NULL for none. */
struct perf_event_context *perf_cpu_task_ctx(void)
{
	struct pe_ctx *ctx = pe_current_ctx();

	lockdep_assert_irqs_disabled();
	return ctx ? &ctx->pub : NULL;
}
