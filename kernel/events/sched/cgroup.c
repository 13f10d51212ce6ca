// SPDX-License-Identifier: GPL-2.0
/*
 * Events of cgroups: they count on one CPU while it runs a task of the cgroup or of one below it.
 *
 * Such an event is in the CPU's context, in the slot of its cgroup there.  The slot is *entered*
 * while current is in the cgroup or below it and the slot has events: its clock runs, it is on
 * ctx->entered, and its groups are scheduled with those of the CPU.  The entered slots of a CPU are
 * on one path of the tree of cgroups; pe_cpu.cgrp is the end of that path, the cgroup of current,
 * and NULL as long as no cgroup event is here, which is all that a switch looks at.
 *
 * When current's cgroup becomes another one, the slots up to the common ancestor are left, and
 * those from there down to the new cgroup are entered.  Passive events need nothing else: hits look
 * for them in the entered slots.  Groups that must be scheduled go off with the slots that are left
 * and on with the others; the other groups of a PMU are disturbed only if a group does not fit.
 *
 * pe_cpu.cgrp follows current at three points, on the CPU, irqs off, under its context's lock:
 *
 *   the switch to a task of another cgroup	__perf_event_task_sched_out(), still as the old task
 *   current is moved to another cgroup		attach(), by an interrupt
 *   the first cgroup event of the CPU comes	pe_cgroup_event_added(), likewise
 *
 * and when the CPU goes or comes.  The end of a path can be looked at under that lock: the switch
 * away from the last task of a cgroup is over before the task, which holds the cgroup, is put; and
 * attach() is called before a moved task's old cgroup is let go.  Entered slots have events, which
 * hold their cgroups until RCU is done with them.
 *
 * attach() against a switch to the task on another CPU: the new cgroup is stored before attach()
 * reads task_cpu().  Either it reads the CPU that the task runs on or is about to, and the
 * interrupt comes before the switch or after it; or the task was placed there later, and the full
 * barrier of __schedule() lets the switch see the new cgroup.  attach() against the first event:
 * one stores the cgroup and then looks for users, the other counts itself as a user (account.c)
 * and then looks at the cgroup of current, with full barriers in between; so one sees the other.
 *
 * A hit may be under way on the list of entered slots while an interrupt or another CPU changes
 * it.  The list is sorted by depth, deepest first, so a walk that goes on from a slot that has
 * left, and perhaps come back, meets no slot twice.
 *
 * A cgroup's slots are made by openers under ctx->mutex and freed with the cgroup.
 */
#include <linux/cgroup.h>

#include "sched.h"

struct perf_cgroup_info {
	struct pe_slot	*slot;		/* made under ctx->mutex and ctx->lock of the CPU */
};

atomic_t pe_cgroup_users;
static DEFINE_MUTEX(info_mutex);	/* the making of perf_cgroup.info; inside of ctx->mutex */

static struct perf_cgroup *cgroup_of(struct cgroup_subsys_state *css)
{
	return container_of(css, struct perf_cgroup, css);
}

/* ---------------------------------------------------------------- slots */

/**
 * pe_cgroup_slot() - the slot of a cgroup in the context of a CPU
 * @cgrp: the cgroup
 * @cpu: the CPU
 *
 * Under ctx->mutex or ctx->lock.  Return: the slot or NULL.
 */
struct pe_slot *pe_cgroup_slot(struct perf_cgroup *cgrp, int cpu)
{
	/* Pairs with get_info(). */
	struct perf_cgroup_info __percpu *info = smp_load_acquire(&cgrp->info);

	return info ? per_cpu_ptr(info, cpu)->slot : NULL;
}

static struct perf_cgroup_info __percpu *get_info(struct perf_cgroup *cgrp)
{
	struct perf_cgroup_info __percpu *info;

	guard(mutex)(&info_mutex);
	info = cgrp->info;
	if (info)
		return info;
	info = alloc_percpu(struct perf_cgroup_info);
	/* A switch that sees it sees empty pointers. */
	smp_store_release(&cgrp->info, info);
	return info;
}

/**
 * pe_cgroup_make_slot() - make what pe_cgroup_slot() did not find
 * @cgrp: the cgroup
 * @cpu: the CPU, the mutex of its context held
 *
 * Sleeps.  Return: the slot, or NULL when out of memory.
 */
struct pe_slot *pe_cgroup_make_slot(struct perf_cgroup *cgrp, int cpu)
{
	struct perf_cgroup_info __percpu *info = get_info(cgrp);
	struct pe_ctx *ctx = &per_cpu(pe_cpu, cpu).ctx;
	struct pe_slot *slot;

	lockdep_assert_held(&ctx->mutex);
	if (!info)
		return NULL;
	slot = kzalloc_node(sizeof(*slot), GFP_KERNEL, cpu_to_node(cpu));
	if (!slot)
		return NULL;
	pe_slot_init(slot);
	slot->cgrp = cgrp;
	raw_spin_lock_irq(&ctx->lock);
	per_cpu_ptr(info, cpu)->slot = slot;
	raw_spin_unlock_irq(&ctx->lock);
	return slot;
}

/* --------------------------------------------------------------- the path */

static int depth(const struct pe_slot *slot)
{
	return slot->cgrp->css.cgroup->level;
}

/* The last of the entered slots that are deeper than @slot, or NULL. */
static struct pe_slot *entered_below(struct pe_ctx *ctx, const struct pe_slot *slot)
{
	struct pe_slot *pos, *last = NULL;

	hlist_for_each_entry(pos, &ctx->entered, entered) {
		if (depth(pos) < depth(slot))
			break;
		last = pos;
	}
	return last;
}

/* @below: as entered_below() would say */
static void enter_slot(struct pe_ctx *ctx, struct pe_slot *slot, struct pe_slot *below, u64 now)
{
	pe_clock_start(&slot->clock, now);
	if (below)
		hlist_add_behind_rcu(&slot->entered, &below->entered);
	else
		hlist_add_head_rcu(&slot->entered, &ctx->entered);
	pe_slot_refresh_pages(slot);
}

static void leave_slot(struct pe_slot *slot, u64 now)
{
	hlist_del_init_rcu(&slot->entered);
	pe_clock_stop(&slot->clock, now);
	/* Anybody may have the page mapped, not only tasks of the cgroup. */
	pe_slot_refresh_pages(slot);
}

/* Where the paths from two cgroups to the root meet. */
static struct cgroup_subsys_state *meet(struct cgroup_subsys_state *a,
					struct cgroup_subsys_state *b)
{
	while (a != b) {
		if (a->cgroup->level >= b->cgroup->level)
			a = a->parent;
		else
			b = b->parent;
	}
	return a;
}

static bool is_on_path(struct perf_cgroup *end, struct perf_cgroup *cgrp)
{
	struct cgroup_subsys_state *css;

	for (css = end ? &end->css : NULL; css; css = css->parent)
		if (css == &cgrp->css)
			return true;
	return false;
}

/*
 * struct passage - from one cgroup to another on this CPU
 *
 * Of the functions below each does one step for all slots between a cgroup and @top.  PMUs with
 * groups there stay disabled from the first step to the last.
 */
struct passage {
	struct pe_ctx			*ctx;
	struct cgroup_subsys_state	*top;
	u64				now;
	bool				groups;	/* there are some to be scheduled */
	bool				stale;	/* there are PMU contexts with pe_pmu_ctx.stale */
};

/* The next slot with events from @css upwards, or NULL; @css becomes its parent. */
static struct pe_slot *next_slot(struct passage *p, struct cgroup_subsys_state **css)
{
	while (*css != p->top) {
		struct pe_slot *slot = pe_cgroup_slot(cgroup_of(*css), p->ctx->cpu);

		*css = (*css)->parent;
		if (slot && slot->nr_events)
			return slot;
	}
	return NULL;
}

static bool lane_used(const struct pe_lane *lane)
{
	return !group_queue_empty(&lane->queue[PE_PINNED]) ||
	       !group_queue_empty(&lane->queue[PE_FLEXIBLE]);
}

static void mark_stale(struct passage *p, struct pe_pmu_ctx *pmu_ctx)
{
	pmu_ctx->stale = true;
	p->stale = true;
}

static void leave_path(struct passage *p, struct cgroup_subsys_state *css)
{
	struct pe_slot *slot;
	struct pe_lane *lane;

	while ((slot = next_slot(p, &css))) {
		list_for_each_entry(lane, &slot->lanes, entry) {
			if (!lane_used(lane))
				continue;
			p->groups = true;
			perf_pmu_disable(lane->pmu_ctx->pmu);
			pe_lane_out(lane, p->now);
			if (lane->pmu_ctx->starved)
				mark_stale(p, lane->pmu_ctx);
		}
		leave_slot(slot, p->now);
	}
}

/* From the bottom up; what is entered already is above. */
static void enter_path(struct passage *p, struct cgroup_subsys_state *css)
{
	struct pe_slot *slot, *below = NULL;
	struct pe_lane *lane;

	while ((slot = next_slot(p, &css))) {
		enter_slot(p->ctx, slot, below, p->now);
		below = slot;
		list_for_each_entry(lane, &slot->lanes, entry) {
			if (!lane_used(lane))
				continue;
			p->groups = true;
			perf_pmu_disable(lane->pmu_ctx->pmu);
		}
	}
}

/* While everything fits no group has to make room: the newcomers are just added. */
static bool joins(struct pe_lane *lane, u64 now)
{
	struct pe_pmu_ctx *pmu_ctx = lane->pmu_ctx;

	if (pmu_ctx->stale || pmu_ctx->starved || pe_cpc(pmu_ctx->pmu)->task_pmu_ctx)
		return false;
	return pe_lane_in(lane, PE_PINNED, now) && pe_lane_in(lane, PE_FLEXIBLE, now);
}

static void admit_path(struct passage *p, struct cgroup_subsys_state *css)
{
	struct pe_slot *slot;
	struct pe_lane *lane;

	while ((slot = next_slot(p, &css))) {
		list_for_each_entry(lane, &slot->lanes, entry)
			if (lane_used(lane) && !joins(lane, p->now))
				mark_stale(p, lane->pmu_ctx);
	}
}

static void resched_stale(struct passage *p)
{
	struct pe_pmu_ctx *pmu_ctx;

	list_for_each_entry(pmu_ctx, &p->ctx->pmu_ctxs, ctx_entry) {
		if (!pmu_ctx->stale)
			continue;
		pmu_ctx->stale = false;
		pe_pmu_resched_oncpu(pmu_ctx->pmu, PE_CLASS_FLEXIBLE, PE_CLASS_ALL, p->now);
	}
}

static void enable_path(struct passage *p, struct cgroup_subsys_state *css)
{
	struct pe_slot *slot;
	struct pe_lane *lane;

	while ((slot = next_slot(p, &css))) {
		list_for_each_entry(lane, &slot->lanes, entry)
			if (lane_used(lane))
				perf_pmu_enable(lane->pmu_ctx->pmu);
	}
}

/* @next: NULL when the CPU goes.  On the CPU, contexts locked. */
static void move_to(struct pe_cpu *pcpu, struct perf_cgroup *next)
{
	struct cgroup_subsys_state *from = pcpu->cgrp ? &pcpu->cgrp->css : NULL;
	struct cgroup_subsys_state *to = next ? &next->css : NULL;
	struct passage p = { .ctx = &pcpu->ctx };

	pe_assert_oncpu(&pcpu->ctx);
	if (from == to)
		return;
	p.now = pe_now();
	p.top = from && to ? meet(from, to) : NULL;
	leave_path(&p, from);
	WRITE_ONCE(pcpu->cgrp, next);
	enter_path(&p, to);
	if (!p.groups)
		return;
	admit_path(&p, to);
	if (p.stale)
		resched_stale(&p);
	enable_path(&p, from);
	enable_path(&p, to);
}

/**
 * pe_cgroup_follow() - this CPU enters the cgroup of a task
 * @task: current, or the one that is about to be current
 *
 * Irqs off.  Nothing happens without cgroup events on this CPU.
 */
void pe_cgroup_follow(struct task_struct *task)
{
	struct pe_cpu *pcpu = this_cpu_ptr(&pe_cpu);
	struct pe_ctx *ctx = pe_current_ctx();

	pe_lock_here(ctx);
	/* The last one may have gone since the caller looked; the CPU may be on its way down. */
	if (pcpu->nr_cgroup_events && pcpu->ctx.oncpu >= 0)
		move_to(pcpu, perf_cgroup_from_task(task));
	pe_unlock_here(ctx);
}

/**
 * pe_cgroup_leave_all() - this CPU goes away
 *
 * Irqs off.  A CPU goes twice if the machine goes down first: its context is out by then.
 */
void pe_cgroup_leave_all(void)
{
	struct pe_cpu *pcpu = this_cpu_ptr(&pe_cpu);
	struct pe_ctx *ctx = pe_current_ctx();

	pe_lock_here(ctx);
	if (pcpu->ctx.oncpu >= 0)
		move_to(pcpu, NULL);
	pe_unlock_here(ctx);
}

/* ----------------------------------------------------------------- events */

/**
 * pe_cgroup_is_first() - is an event the first of a cgroup on its CPU?
 * @e: the event
 *
 * Under ctx->lock.  If so it is to be attached on that CPU, where the cgroup of current is known.
 */
bool pe_cgroup_is_first(const struct pe_event *e)
{
	return e->cgrp && !per_cpu(pe_cpu, e->cpu).nr_cgroup_events;
}

/**
 * pe_cgroup_event_added() - a cgroup's event was put in its context
 * @e: the event; e->slot is set
 *
 * Under ctx->lock; the first one on its CPU, if that is online.
 */
void pe_cgroup_event_added(struct pe_event *e)
{
	struct pe_cpu *pcpu = &per_cpu(pe_cpu, e->cpu);

	lockdep_assert_held(&pcpu->ctx.lock);
	if (!pcpu->nr_cgroup_events++ && pcpu->ctx.oncpu >= 0) {
		WARN_ON_ONCE(pcpu != this_cpu_ptr(&pe_cpu));
		WRITE_ONCE(pcpu->cgrp, perf_cgroup_from_task(current));
	}
	if (!e->slot->nr_events++ && is_on_path(pcpu->cgrp, e->cgrp))
		enter_slot(&pcpu->ctx, e->slot, entered_below(&pcpu->ctx, e->slot), pe_now());
}

/**
 * pe_cgroup_event_removed() - a cgroup's event leaves its context
 * @e: the event, in no queue any more
 *
 * Under ctx->lock.
 */
void pe_cgroup_event_removed(struct pe_event *e)
{
	struct pe_cpu *pcpu = &per_cpu(pe_cpu, e->cpu);

	lockdep_assert_held(&pcpu->ctx.lock);
	if (!--e->slot->nr_events && pe_slot_is_in(e->slot))
		leave_slot(e->slot, pe_now());
	if (!--pcpu->nr_cgroup_events)
		WRITE_ONCE(pcpu->cgrp, NULL);
}

/**
 * pe_cgroup_free() - a cgroup is no more
 * @cgrp: it; no event is left, so no slot is entered
 *
 * Task context.
 */
void pe_cgroup_free(struct perf_cgroup *cgrp)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct pe_slot *slot = pe_cgroup_slot(cgrp, cpu);

		if (!slot)
			continue;
		guard(mutex)(&per_cpu(pe_cpu, cpu).ctx.mutex);
		WARN_ON_ONCE(slot->nr_events);
		pe_slot_free(slot);
	}
	free_percpu(cgrp->info);
	kfree(cgrp);
}
