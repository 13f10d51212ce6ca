// SPDX-License-Identifier: GPL-2.0
/*
 * Which buffer an event writes to.
 *
 * An event without mapping has no buffer.  It gets one by its first mmap() (mmap.c), or by
 * PERF_EVENT_IOC_SET_OUTPUT or PERF_FLAG_FD_OUTPUT from another event; it loses it when it is
 * redirected, when its own last mapping goes, when the last mapping of the buffer goes, or when it
 * is freed.  All of these come here, in task context, with e->mmap_mutex held: that lock protects
 * e->rb, e->mmap_count leaving zero, and the place of e->rb_entry.
 *
 * Only events that user space opened have buffers; those inherited from them write to e->sink's.
 *
 * Writers read e->rb under RCU.  A waker of readers walks rb->listeners under RCU, in any
 * context.  Such a walk may stand on an event that is being unlinked, and must find its way to the
 * end of the list it started on.  So an entry that was unlinked is not linked again before a grace
 * period is over.  The cookie taken at that moment makes this wait rare: only an event that had a
 * buffer and gets another one soon after waits at all, never one that was just opened.
 *
 * Locks: the mmap_mutexes of two events are taken in the order of their addresses, as in
 * pe_set_output(); inside, rb->aux.mutex, which keeps those apart that take away an AUX area and a
 * tracer's buffer; rb->listeners_lock, irqs off, is a leaf.
 */
#include <linux/cleanup.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include "life.h"

static void unlink_listener(struct pe_event *e, struct perf_buffer *rb)
{
	scoped_guard(spinlock_irqsave, &rb->listeners_lock)
		list_del_rcu(&e->rb_entry);
	e->rb_unlinked = get_state_synchronize_rcu();
	e->rb_was_linked = true;
}

static void link_listener(struct pe_event *e, struct perf_buffer *rb)
{
	if (e->rb_was_linked)
		cond_synchronize_rcu(e->rb_unlinked);
	e->rb_was_linked = false;
	scoped_guard(spinlock_irqsave, &rb->listeners_lock)
		list_add_rcu(&e->rb_entry, &rb->listeners);
}

/**
 * struct aux_stop - stop the tracers into an AUX area
 * @rb: the buffer of the area
 * @sink: only those that write for this event, itself or inherited; NULL: all
 * @stuck: a driver did not let go
 */
struct aux_stop {
	struct perf_buffer	*rb;
	const struct pe_event	*sink;
	bool			stuck;
};

static bool traces(struct pe_event *e, const struct aux_stop *s)
{
	if (e->state != PERF_EVENT_STATE_ACTIVE || !has_aux(&e->pub))
		return false;
	return s->sink ? e->sink == s->sink : rcu_access_pointer(e->sink->rb) == s->rb;
}

static void stop_group(struct pe_event *leader, struct aux_stop *s)
{
	struct pe_event *m;

	pe_for_each_member(m, leader) {
		if (!traces(m, s))
			continue;
		m->pmu->stop(&m->pub, PERF_EF_UPDATE);
		if (READ_ONCE(s->rb->aux.writer) == m)
			WRITE_ONCE(s->stuck, true);
	}
}

static void stop_ctx(struct pe_ctx *ctx, struct aux_stop *s)
{
	struct pe_event *leader;
	struct pe_pmu_ctx *pmu_ctx;
	int class;

	list_for_each_entry(pmu_ctx, &ctx->pmu_ctxs, ctx_entry)
		for (class = 0; class < PE_NR_CLASSES; class++)
			list_for_each_entry(leader, &pmu_ctx->running[class], running_entry)
				stop_group(leader, s);
}

static void pe_aux_stop_here(void *info)
{
	struct pe_ctx *ctx = pe_current_ctx();

	pe_lock_here(ctx);
	stop_ctx(this_cpu_ptr(&pe_cpu.ctx), info);
	if (ctx)
		stop_ctx(ctx, info);
	pe_unlock_here(ctx);
}

/**
 * pe_aux_stop() - stop the tracers into an AUX area
 * @rb: the buffer of the area
 * @sink: stop only this event and those inherited from it; NULL: all
 *
 * With rb->aux.mutex.  What makes further attempts to write fail was stored before: see
 * sources/aux_output.c.
 * Attempts that are on their way take back their claim.  Every event that may trace is stopped, not
 * only the one that has a handle just now: a driver may keep what setup_aux() made until it is
 * stopped, though its interrupt has closed the handle and got no other one.  A stopped event stays
 * ACTIVE, and tries again the next time it goes on its PMU.
 *
 * Task context, irqs on.  Return: nobody writes any more; false if a driver does not obey.
 */
bool pe_aux_stop(struct perf_buffer *rb, const struct pe_event *sink)
{
	struct aux_stop s = { .rb = rb, .sink = sink };
	unsigned int turns = 0;
	struct cpumask *cpus;

	lockdep_assert_held(&rb->aux.mutex);
	smp_mb();	/* B in sources/aux_output.c */
	cpus = READ_ONCE(rb->aux.cpus);
	if (!cpus)
		return true;
	do {
		on_each_cpu_mask(cpus, pe_aux_stop_here, &s, true);
		/* Only a claim in vain on a CPU noted since may be left: one for each CPU. */
		if (!sink)
			s.stuck = READ_ONCE(rb->aux.writer);
	} while (!sink && s.stuck && turns++ < nr_cpu_ids);
	return !WARN_ON_ONCE(s.stuck);
}

/* Copies of an event whose PMU leaves may leave it later. */
static bool may_trace(struct pe_event *e)
{
	return has_aux(&e->pub) || e->pmu->gone;
}

/*
 * Return: it traces no more into @old.  An unmapping of the area of @old meanwhile either finds
 * this tracer by e->rb, or waits until it is stopped.
 */
static bool move_tracer(struct pe_event *e, struct perf_buffer *old, struct perf_buffer *rb)
{
	guard(mutex)(&old->aux.mutex);
	rcu_assign_pointer(e->rb, rb);
	return pe_aux_stop(old, e);
}

/**
 * pe_bind_buffer() - let an event write to another buffer, or to none
 * @e: the event, opened by user space; e->mmap_mutex held
 * @rb: the buffer, with a reference that passes to @e; or NULL
 *
 * Task context, may sleep.
 */
void pe_bind_buffer(struct pe_event *e, struct perf_buffer *rb)
{
	struct perf_buffer *old = pe_bound_buffer(e);
	bool stopped = true;

	lockdep_assert_held(&e->mmap_mutex);	/* e->pmu stays, too */
	WARN_ON_ONCE(e->parent);

	if (old)
		unlink_listener(e, old);
	if (rb)
		link_listener(e, rb);
	if (old && may_trace(e))
		stopped = move_tracer(e, old, rb);
	else
		rcu_assign_pointer(e->rb, rb);
	if (!old)
		return;		/* nobody sleeps in poll() without a buffer */
	/* A tracer relies on the reference that goes now.  One that cannot be stopped keeps it. */
	if (stopped)
		pe_buffer_put(old);
	/*
	 * Writers used @old a while longer than e was on its list: nobody woke e then.  Who polls
	 * is on the queue before it takes the mmap_mutex to look at the buffer.
	 */
	if (waitqueue_active(&e->waitq))
		wake_up_all(&e->waitq);
}

/* Would the records of both make sense in one buffer? */
static bool compatible(const struct pe_event *e, const struct pe_event *target)
{
	/* One writer at a time: the same CPU, or the same task on whichever it is. */
	if (e->cpu != target->cpu)
		return false;
	if (e->cpu == -1 && e->hw.target != target->hw.target)
		return false;
	/* The reader sorts by time, and reads in one direction. */
	return e->clock == target->clock && e->attr.write_backward == target->attr.write_backward;
}

/* There is one AUX area, in the format of one PMU.  Both mmap_mutexes held: no PMU leaves. */
static bool compatible_aux(const struct pe_event *e, const struct pe_event *target)
{
	return e->pmu == target->pmu || !e->pmu->setup_aux || !target->pmu->setup_aux;
}

static void lock_two(struct pe_event *a, struct pe_event *b)
{
	if (a > b)
		swap(a, b);
	mutex_lock(&a->mmap_mutex);
	mutex_lock_nested(&b->mmap_mutex, SINGLE_DEPTH_NESTING);
}

/* The buffer of @target if it is mapped; with a reference.  target->mmap_mutex held. */
static struct perf_buffer *mapped_buffer(struct pe_event *target)
{
	struct perf_buffer *rb = pe_buffer_get(target);

	if (rb && !atomic_read(&rb->mmap_count)) {
		/* The last mapping of @rb is going; mmap.c detaches the listeners one by one. */
		pe_buffer_put(rb);
		rb = NULL;
	}
	return rb;
}

/* For a task that has opened @e and not attached it yet, or another one later. */
static bool is_attached(const struct pe_event *e)
{
	/* An event that leaves just now writes no more: either answer is right. */
	return data_race(e->attach_state) & PERF_ATTACH_CONTEXT;
}

/**
 * pe_set_output() - write to the buffer of another event
 * @e: whose output it is
 * @target: whose buffer, or NULL for none
 *
 * Task context, may sleep; no mmap_mutex held.  Unmapping of the target's buffer either sees the
 * new listener, or is seen here by the count of mappings being 0: both happen under
 * target->mmap_mutex.
 *
 * Return: 0, or -EINVAL when @e is mapped itself, @target has no buffer, or the two do not match.
 */
int pe_set_output(struct pe_event *e, struct pe_event *target)
{
	struct perf_buffer *rb = NULL;
	int ret = -EINVAL;

	if (!target) {
		guard(mutex)(&e->mmap_mutex);
		if (atomic_read(&e->mmap_count))
			return -EINVAL;
		pe_bind_buffer(e, NULL);
		return 0;
	}
	if (e == target)
		return pe_err(-EINVAL, "output: to itself");

	lock_two(e, target);
	/* Under the locks: perf_pmu_migrate_context() changes the CPU of one after the other. */
	if (!compatible(e, target)) {
		mutex_unlock(&target->mmap_mutex);
		mutex_unlock(&e->mmap_mutex);
		return pe_err(-EINVAL, "output: of another CPU, task, clock or direction");
	}
	if (!atomic_read(&e->mmap_count) && compatible_aux(e, target))
		rb = mapped_buffer(target);
	if (rb) {
		/*
		 * The children of an event run when and where they like.  And an event that is in
		 * no context yet may become the first of its context: when the last one before was
		 * closed, a record of that one may have been under way on another CPU.
		 */
		if (e->cpu == -1 && (e->attr.inherit || !is_attached(e)))
			pe_buffer_crowd(rb);
		pe_bind_buffer(e, rb);
		ret = 0;
	}
	mutex_unlock(&target->mmap_mutex);
	mutex_unlock(&e->mmap_mutex);
	return ret ? pe_err(ret, "output: no buffer, another AUX format, or the event mapped") : 0;
}
