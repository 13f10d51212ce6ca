// SPDX-License-Identifier: GPL-2.0
/*
 * PMUs leave: a driver unregisters one, or moves its events to another CPU.
 *
 * Unregistering.  A module that registered its PMU cannot be unloaded while there are events; but
 * devices can be removed at any time, and drivers make mistakes.  So events that are left end:
 * they leave their contexts, the driver's destroy() is called, and what user space still holds is
 * REVOKED: the final count can be read, poll() says EPOLLERR, ioctl() and mmap() -ENODEV, mappings
 * stay.  Other members of their groups go on.  The steps, and what is excluded by each:
 *
 *	leave the registry, wait for SRCU	openers, which stay in the section until their event
 *						is in its context; a fork that begins later sees
 *						pmu->gone
 *	detach all events on the rosters	ctx->mutex against close, exit, exec, fork
 *	and call destroy()			mmap_mutex against mmap()
 *	wait for those that are being freed	they leave the roster when destroy() has returned
 *	wait for SRCU and RCU			reads of e->pmu or a PMU context without ctx->mutex
 *	drop the PMU contexts of tasks		ctx->lock against switches
 *	free the PMU's own state
 *
 * Migrating.  For PMUs whose one CPU serves others: when that goes offline, or the driver likes
 * another one better.  Events move with their groups, whatever their state.
 *
 *	both ctx->mutex, in the order of addresses
 *	on the old CPU: take the groups out, clocks stand still
 *	wait for RCU: walks of the old context's lists have left the events
 *	under the old ctx->lock: the events belong to the new context
 *	on the new CPU: bring the groups in
 *
 * In between an event is in no list.  Code that has only seen it without ctx->mutex (mmap, the
 * irq_work that disables) locks the context that e->ctx says and looks again: pe_event_call().
 *
 * Called by drivers and hotplug.c, in task context.
 */
#include <linux/llist.h>
#include <linux/wait_bit.h>
#include "life.h"

/* ------------------------------------------------------------------ unregistering */

/*
 * An event that nobody is freeing yet, with a reference.  One without a context was refused by
 * open() after an unmap() had met it: its holder just drops it.  Those that are passed over
 * never become anything else, so they go to the end: the next search does not meet them again.
 */
static struct pe_event *next_event(struct pe_roster *roster)
{
	struct pe_event *e, *next, *found = NULL;
	LIST_HEAD(passed);

	guard(spinlock_irq)(&roster->lock);
	list_for_each_entry_safe(e, next, &roster->lists[PE_ROSTER_EVENTS], pmu_entry) {
		if (READ_ONCE(e->ctx) && pe_tryget(e)) {
			found = e;
			break;
		}
		list_move_tail(&e->pmu_entry, &passed);
	}
	list_splice_tail(&passed, &roster->lists[PE_ROSTER_EVENTS]);
	return found;
}

static struct pe_event *last_sibling(struct pe_event *leader)
{
	struct pe_event *m;

	guard(raw_spinlock_irq)(&pe_ctx(leader)->lock);
	if (!leader->nr_siblings)
		return NULL;
	m = pe(list_last_entry(&leader->sibling_list, struct perf_event, sibling_list));
	pe_get(m);	/* attached events have a reference */
	return m;
}

/*
 * The copies that a target has of one group of a session go together: siblings that are left alone
 * would count always, and take no turns.  ctx->mutex is held.  @gone: what is to be put without
 */
static void siblings_leave(struct pe_event *leader, struct llist_head *gone)
{
	struct pe_event *m;

	while ((m = last_sibling(leader))) {
		pe_child_leave(m, PERF_EVENT_STATE_EXIT);
		__llist_add(&m->put_later, gone);
	}
}

/* A fork that fails may be waiting for it: perf_event_free_task().  @e is but an address then. */
static void unpin(struct pe_event *e)
{
	void *key = &e->refs;

	pe_put(e);
	smp_mb__after_atomic();		/* the count, then the look for a waiter */
	wake_up_var(key);
}

static void unpin_gone(struct llist_head *gone)
{
	struct pe_event *e, *next;

	llist_for_each_entry_safe(e, next, gone->first, put_later)
		unpin(e);
}

/*
 * The driver's destroy() takes locks that ctx->mutex and mmap_lock are inside of, so it is called
 * with none.  Nothing else can be in the driver for @e, or get there: a holder of ctx->mutex sees
 * that it is REVOKED, switches and hits do not find it, mmap() and unmapping see pmu->gone, and the
 * last reference is held here.
 */
static void revoke(struct pe_event *e)
{
	LLIST_HEAD(gone);

	scoped_guard(pe_event_ctx, e) {
		if (e->parent) {
			if (pe_of_target(e) && pe_is_leader(e))
				siblings_leave(e, &gone);
			pe_child_leave(e, PERF_EVENT_STATE_REVOKED);
		} else {
			guard(mutex)(&e->family_lock);
			pe_detach(e, PERF_EVENT_STATE_REVOKED);
		}
	}
	unpin_gone(&gone);
	/* An mmap() that came before may still be in setup_aux(). */
	mutex_lock(&e->mmap_mutex);
	mutex_unlock(&e->mmap_mutex);
	pe_pmu_leave(e);
	scoped_guard(pe_event_ctx, e)
		pe_pmu_revoke(e);
	pe_wake(e);
	/* Who waits without a buffer, as an edge-triggered epoll does, is no listener. */
	wake_up_all(&e->waitq);
}

/* A PMU context whose context is not being freed yet; its context gets a reference.  Likewise. */
static struct pe_pmu_ctx *next_pmu_ctx(struct pe_roster *roster)
{
	struct pe_pmu_ctx *pmu_ctx, *next, *found = NULL;
	LIST_HEAD(passed);

	guard(spinlock_irq)(&roster->lock);
	list_for_each_entry_safe(pmu_ctx, next, &roster->lists[PE_ROSTER_PMU_CTXS], pmu_entry) {
		if (refcount_inc_not_zero(&pmu_ctx->ctx->refs)) {
			found = pmu_ctx;
			break;
		}
		list_move_tail(&pmu_ctx->pmu_entry, &passed);
	}
	list_splice_tail(&passed, &roster->lists[PE_ROSTER_PMU_CTXS]);
	return found;
}

static void drop_pmu_ctx(struct pe_pmu_ctx *pmu_ctx)
{
	struct pe_ctx *ctx = pmu_ctx->ctx;

	scoped_guard(mutex, &ctx->mutex)
		pe_pmu_ctx_fini(pmu_ctx);
	pe_pmu_ctx_free(pmu_ctx);
	pe_ctx_put(ctx);
}

static bool rosters_empty(struct pmu *pmu, enum pe_roster_list what)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct pe_roster *roster = &per_cpu_ptr(pmu->cpu_pmu_context, cpu)->roster;

		guard(spinlock_irq)(&roster->lock);
		if (!list_empty(&roster->lists[what]))
			return false;
	}
	return true;
}

/**
 * perf_pmu_unregister() - a PMU goes, with what is left of its events
 * @pmu: a registered PMU; the driver may free it afterwards
 *
 * Contract.  Task context; no lock may be held inside which an event is opened, nor one that the
 * destroy() of its events takes: those that others are freeing are waited for.
 */
void perf_pmu_unregister(struct pmu *pmu)
{
	struct pe_roster *roster;
	struct pe_pmu_ctx *pmu_ctx;
	struct pe_event *e;
	int cpu;

	pe_pmu_delist(pmu);

	for_each_possible_cpu(cpu) {
		roster = &per_cpu_ptr(pmu->cpu_pmu_context, cpu)->roster;
		while ((e = next_event(roster))) {
			revoke(e);
			unpin(e);
		}
	}
	wait_var_event(pmu, rosters_empty(pmu, PE_ROSTER_EVENTS));

	/*
	 * Closers that give memory for tasks back are over after the first one; the second one
	 * waits for forks that have seen the table of it until then.
	 */
	pe_pmus_sync();
	pe_pmus_sync();
	synchronize_rcu();

	for_each_possible_cpu(cpu) {
		roster = &per_cpu_ptr(pmu->cpu_pmu_context, cpu)->roster;
		while ((pmu_ctx = next_pmu_ctx(roster)))
			drop_pmu_ctx(pmu_ctx);
	}
	wait_var_event(pmu, rosters_empty(pmu, PE_ROSTER_PMU_CTXS));
	pe_pmu_free(pmu);
}
EXPORT_SYMBOL_GPL(perf_pmu_unregister);

/* ---------------------------------------------------------------------- migrating */

/**
 * struct move - groups on their way
 * @pmu: whose groups
 * @leaders: of these, by pe_event.queue
 */
struct move {
	struct pmu		*pmu;
	struct list_head	leaders;
};

/*
 * All groups that the PMU schedules are in its queues, enabled or not; a set that waits comes in
 * when the one before it is taken.  (A ring of several PMUs would hide some; PMUs for sets count
 * for tasks, and those never move their events.)  Events of cgroups stay: PMUs that speak for other
 * CPUs have none, as their cgroup is not what the others run.
 */
static void pe_migrate_take(struct pe_ctx *ctx, void *arg)
{
	struct move *move = arg;
	struct pe_pmu_ctx *pmu_ctx = pe_find_pmu_ctx(ctx, move->pmu);
	struct queue_node *node;
	enum pe_class class;
	u64 now = pe_now();

	for (class = PE_PINNED; pmu_ctx && class < PE_NR_CLASSES; class++) {
		while ((node = group_queue_first(&pmu_ctx->any.queue[class]))) {
			pe_group_take(container_of(node, struct pe_event, queue), now);
			list_add_tail(&node->link, &move->leaders);
		}
	}
}

static void pe_migrate_bring(struct pe_ctx *ctx, void *arg)
{
	struct move *move = arg;
	struct pe_event *leader, *next;
	u64 now = pe_now();

	list_for_each_entry_safe(leader, next, &move->leaders, queue.link) {
		list_del_init(&leader->queue.link);
		pe_group_bring(leader, now);
	}
}

/* Nothing has to be allocated in the context of a CPU. */
static void reserve_all(struct move *move, struct pe_ctx *to)
{
	struct pe_event *leader, *m;

	list_for_each_entry(leader, &move->leaders, queue.link)
		pe_for_each_member(m, leader)
			WARN_ON_ONCE(pe_ctx_reserve(to, m->pmu, m));
}

/* Nothing counts, so nothing is throttled until it is brought in, which ends it. */
static void leave_throttled(struct move *move)
{
	struct pe_event *leader, *m;

	list_for_each_entry(leader, &move->leaders, queue.link)
		pe_for_each_member(m, leader)
			pe_throttle_unlist(m);
}

/*
 * An event that shares a buffer with one that moves may stay, so from now on they take turns.  A
 * redirection either is seen here, or sees another CPU: both under mmap_mutex.
 */
static void change_cpus(struct move *move, struct pe_ctx *to)
{
	struct pe_event *leader, *m;
	struct perf_buffer *rb;

	list_for_each_entry(leader, &move->leaders, queue.link) {
		pe_for_each_member(m, leader) {
			guard(mutex)(&m->mmap_mutex);
			rb = pe_bound_buffer(m);
			if (rb)
				pe_buffer_crowd(rb);
			WRITE_ONCE(m->cpu, to->cpu);
		}
	}
}

static void change_ctx(struct move *move, struct pe_ctx *from, struct pe_ctx *to)
{
	struct pe_pmu_ctx *pmu_ctx = pe_find_pmu_ctx(to, move->pmu);
	struct pe_event *leader, *m;

	guard(raw_spinlock_irq)(&from->lock);
	list_for_each_entry(leader, &move->leaders, queue.link) {
		pe_for_each_member(m, leader) {
			pe_ctx_get(to);
			m->slot = &to->any;
			m->pmu_ctx = &pmu_ctx->pub;
			/* Pairs with those that take the lock of the context they find here. */
			smp_store_release(&m->ctx, &to->pub);
			pe_ctx_put(from);
		}
	}
}

static void lock_both(struct pe_ctx *a, struct pe_ctx *b)
{
	if (a > b)
		swap(a, b);
	mutex_lock(&a->mutex);
	mutex_lock_nested(&b->mutex, SINGLE_DEPTH_NESTING);
}

/**
 * perf_pmu_migrate_context() - move the events of a PMU from one CPU to another
 * @pmu: the PMU
 * @src_cpu: from here
 * @dst_cpu: to there
 *
 * Contract; task context, usually in a hotplug callback.  Groups move as a whole, with members of
 * other PMUs, and keep their states and counts.
 */
void perf_pmu_migrate_context(struct pmu *pmu, int src_cpu, int dst_cpu)
{
	struct pe_ctx *from = &per_cpu(pe_cpu, src_cpu).ctx;
	struct pe_ctx *to = &per_cpu(pe_cpu, dst_cpu).ctx;
	struct move move = { .pmu = pmu, .leaders = LIST_HEAD_INIT(move.leaders) };

	if (from == to)
		return;
	lock_both(from, to);
	pe_call(from, pe_migrate_take, &move);
	if (!list_empty(&move.leaders)) {
		reserve_all(&move, to);
		change_cpus(&move, to);
		synchronize_rcu();
		leave_throttled(&move);
		change_ctx(&move, from, to);
		pe_call(to, pe_migrate_bring, &move);
	}
	mutex_unlock(&from->mutex);
	mutex_unlock(&to->mutex);
}
EXPORT_SYMBOL_GPL(perf_pmu_migrate_context);
