// SPDX-License-Identifier: GPL-2.0
/*
 * PMUs leave: a driver unregisters one, or moves its events to another CPU.
 *
 * Unregistering.  A module that registered its PMU cannot be unloaded while there are events; but
 * devices can be removed at any time, and drivers make mistakes.  So events that are left end:
 * they leave their contexts, the driver's destroy() is called, and what user space still holds is
 * REVOKED: the final count can be read, poll() says EPOLLERR, ioctl() and mmap() -ENODEV, mappings
 * stay.  Other members of their groups go on.  The steps, and who is excluded by each:
 *
 *	leave the registry, wait for SRCU	openers, who stay in the section until their event
 *						is in its context; a fork that begins later sees
 *						pmu->gone
 *	detach all events on the rosters	ctx->mutex against close, exit, exec, fork
 *	and call destroy()			mmap_mutex against mmap()
 *	wait for those that are being freed	they leave the roster when destroy() has returned
 *	wait for SRCU and RCU			who reads e->pmu or a part without ctx->mutex
 *	drop the parts of task contexts		ctx->lock against switches
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
 * In between an event is in no list.  Who has only seen it without ctx->mutex (mmap, the irq_work
 * that disables) locks the context that e->ctx says and looks again: pe_event_call().
 *
 * Called by drivers and hotplug.c, in task context.
 */
#include <linux/wait_bit.h>
#include "life.h"

/* ------------------------------------------------------------------ unregistering */

/*
 * An event that nobody is freeing yet, with a reference.  One without a context was refused by
 * open() after an unmap() had met it: whoever has it just drops it.  Those that are passed over
 * never become anything else, so they go to the end: the next search does not meet them again.
 */
static struct pevent *next_event(struct pe_roster *roster)
{
	struct pevent *e, *next, *found = NULL;
	LIST_HEAD(passed);

	guard(spinlock_irq)(&roster->lock);
	list_for_each_entry_safe(e, next, &roster->events, pmu_entry) {
		if (READ_ONCE(e->ctx) && pe_tryget(e)) {
			found = e;
			break;
		}
		list_move_tail(&e->pmu_entry, &passed);
	}
	list_splice_tail(&passed, &roster->events);
	return found;
}

/*
 * The driver's destroy() takes locks that ctx->mutex and mmap_lock are inside of, so it is called
 * with none.  Nobody else can be in the driver for @e, or get there: who has ctx->mutex sees that
 * it is REVOKED, switches and hits do not find it, mmap() and unmapping see pmu->gone, and the last
 * reference is held here.
 */
static void revoke(struct pevent *e)
{
	scoped_guard(pe_event_ctx, e) {
		if (e->parent) {
			pe_child_leave(e, PERF_EVENT_STATE_REVOKED);
		} else {
			guard(mutex)(&e->family_lock);
			pe_detach(e, PERF_EVENT_STATE_REVOKED);
		}
	}
	/* An mmap() that came before may still be in setup_aux(). */
	mutex_lock(&e->mmap_mutex);
	mutex_unlock(&e->mmap_mutex);
	pe_pmu_leave(e);
	scoped_guard(pe_event_ctx, e)
		pe_pmu_revoke(e);
	pe_wake(e);
	/* Those who sleep in poll() without a buffer are no listeners. */
	wake_up_all(&e->waitq);
}

/* A fork that fails may be waiting for it: perf_event_free_task().  @e is but an address then. */
static void unpin(struct pevent *e)
{
	void *key = &e->refs;

	pe_put(e);
	smp_mb__after_atomic();		/* the count, then the look for who waits */
	wake_up_var(key);
}

/* A part whose context nobody is freeing yet; its context gets a reference.  Likewise. */
static struct pe_part *next_part(struct pe_roster *roster)
{
	struct pe_part *part, *next, *found = NULL;
	LIST_HEAD(passed);

	guard(spinlock_irq)(&roster->lock);
	list_for_each_entry_safe(part, next, &roster->parts, pmu_entry) {
		if (refcount_inc_not_zero(&part->ctx->refs)) {
			found = part;
			break;
		}
		list_move_tail(&part->pmu_entry, &passed);
	}
	list_splice_tail(&passed, &roster->parts);
	return found;
}

static void drop_part(struct pe_part *part)
{
	struct pctx *ctx = part->ctx;

	scoped_guard(mutex, &ctx->mutex)
		pe_part_fini(part);
	pe_part_free(part);
	pe_ctx_put(ctx);
}

static bool rosters_empty(struct pmu *pmu, bool events)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct pe_roster *roster = &per_cpu_ptr(pmu->cpu_pmu_context, cpu)->roster;

		guard(spinlock_irq)(&roster->lock);
		if (!list_empty(events ? &roster->events : &roster->parts))
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
	struct pe_part *part;
	struct pevent *e;
	int cpu;

	pe_pmu_delist(pmu);

	for_each_possible_cpu(cpu) {
		roster = &per_cpu_ptr(pmu->cpu_pmu_context, cpu)->roster;
		while ((e = next_event(roster))) {
			revoke(e);
			unpin(e);
		}
	}
	wait_var_event(pmu, rosters_empty(pmu, true));

	pe_pmus_sync();
	synchronize_rcu();

	for_each_possible_cpu(cpu) {
		roster = &per_cpu_ptr(pmu->cpu_pmu_context, cpu)->roster;
		while ((part = next_part(roster)))
			drop_part(part);
	}
	wait_var_event(pmu, rosters_empty(pmu, false));
	pe_pmu_free(pmu);
}
EXPORT_SYMBOL_GPL(perf_pmu_unregister);

/* ---------------------------------------------------------------------- migrating */

/**
 * struct move - groups on their way
 * @pmu: whose groups
 * @leaders: of these, by pevent.queue
 */
struct move {
	struct pmu		*pmu;
	struct list_head	leaders;
};

/*
 * All groups that the PMU schedules are in its queues, enabled or not.  Events of cgroups stay:
 * PMUs that speak for other CPUs have none, as their cgroup is not what the others run.
 */
static void take_groups(struct pctx *ctx, void *arg)
{
	struct move *move = arg;
	struct pe_part *part = pe_ctx_part(ctx, move->pmu);
	struct queue_node *node;
	enum pe_class class;
	u64 now = pe_now();

	for (class = PE_PINNED; part && class < PE_NR_CLASSES; class++) {
		while ((node = group_queue_first(&part->any.queue[class]))) {
			pe_group_take(container_of(node, struct pevent, queue), now);
			list_add_tail(&node->link, &move->leaders);
		}
	}
}

static void bring_groups(struct pctx *ctx, void *arg)
{
	struct move *move = arg;
	struct pevent *leader, *next;
	u64 now = pe_now();

	list_for_each_entry_safe(leader, next, &move->leaders, queue.link) {
		list_del_init(&leader->queue.link);
		pe_group_bring(leader, now);
	}
}

/* Nothing has to be allocated in the context of a CPU. */
static void reserve_all(struct move *move, struct pctx *to)
{
	struct pevent *leader, *m;

	list_for_each_entry(leader, &move->leaders, queue.link)
		pe_for_each_member(m, leader)
			WARN_ON_ONCE(pe_ctx_reserve(to, m->pmu, m));
}

/* Nothing counts, so nothing is throttled until it is brought in, which ends it. */
static void leave_throttled(struct move *move)
{
	struct pevent *leader, *m;

	list_for_each_entry(leader, &move->leaders, queue.link)
		pe_for_each_member(m, leader)
			pe_throttle_unlist(m);
}

/*
 * Who shares a buffer with an event that moves may stay, so from now on they take turns.  A
 * redirection either is seen here, or sees another CPU: both under mmap_mutex.
 */
static void change_cpus(struct move *move, struct pctx *to)
{
	struct pevent *leader, *m;
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

static void change_ctx(struct move *move, struct pctx *from, struct pctx *to)
{
	struct pe_part *part = pe_ctx_part(to, move->pmu);
	struct pevent *leader, *m;

	guard(raw_spinlock_irq)(&from->lock);
	list_for_each_entry(leader, &move->leaders, queue.link) {
		pe_for_each_member(m, leader) {
			pe_ctx_get(to);
			m->slot = &to->any;
			m->pmu_ctx = &part->pub;
			/* Pairs with those who take the lock of the context they find here. */
			smp_store_release(&m->ctx, &to->pub);
			pe_ctx_put(from);
		}
	}
}

static void lock_both(struct pctx *a, struct pctx *b)
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
	struct pctx *from = &per_cpu(pe_cpu, src_cpu).ctx;
	struct pctx *to = &per_cpu(pe_cpu, dst_cpu).ctx;
	struct move move = { .pmu = pmu, .leaders = LIST_HEAD_INIT(move.leaders) };

	if (from == to)
		return;
	lock_both(from, to);
	pe_call(from, take_groups, &move);
	if (!list_empty(&move.leaders)) {
		reserve_all(&move, to);
		change_cpus(&move, to);
		synchronize_rcu();
		leave_throttled(&move);
		change_ctx(&move, from, to);
		pe_call(to, bring_groups, &move);
	}
	mutex_unlock(&from->mutex);
	mutex_unlock(&to->mutex);
}
EXPORT_SYMBOL_GPL(perf_pmu_migrate_context);
