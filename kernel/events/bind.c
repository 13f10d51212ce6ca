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
 * Writers read e->rb under RCU.  Whoever wakes readers walks rb->listeners under RCU, in any
 * context.  Such a walk may stand on an event that is being unlinked, and must find its way to the
 * end of the list it started on.  So an entry that was unlinked is not linked again before a grace
 * period is over.  The cookie taken at that moment makes this wait rare: only an event that had a
 * buffer and gets another one soon after waits at all, never one that was just opened.
 *
 * Locks: the mmap_mutexes of two events are taken in the order of their addresses, as in
 * pe_set_output(); rb->listeners_lock, irqs off, is a leaf.
 */
#include <linux/cleanup.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include "lifetime.h"

static void unlink_listener(struct pevent *e, struct perf_buffer *rb)
{
	scoped_guard(spinlock_irqsave, &rb->listeners_lock)
		list_del_rcu(&e->rb_entry);
	e->rb_unlinked = get_state_synchronize_rcu();
	e->rb_was_linked = true;
}

static void link_listener(struct pevent *e, struct perf_buffer *rb)
{
	if (e->rb_was_linked)
		cond_synchronize_rcu(e->rb_unlinked);
	e->rb_was_linked = false;
	scoped_guard(spinlock_irqsave, &rb->listeners_lock)
		list_add_rcu(&e->rb_entry, &rb->listeners);
}

/**
 * struct aux_stop - stop the writer of an AUX area
 * @rb: the buffer of the area
 * @sink: only if it writes for this event or an inherited one; NULL: whoever it is
 * @stuck: its driver did not let go
 */
struct aux_stop {
	struct perf_buffer	*rb;
	const struct pevent	*sink;
	bool			stuck;
};

/* Irqs off, or RCU: the event that is found does not go meanwhile. */
static struct pevent *wanted_writer(const struct aux_stop *s)
{
	struct pevent *writer = READ_ONCE(s->rb->aux.writer);

	return writer && (!s->sink || writer->sink == s->sink) ? writer : NULL;
}

static void stop_writer(struct pctx *ctx, void *arg)
{
	struct aux_stop *s = arg;
	struct pevent *writer = wanted_writer(s);

	if (!writer || pe_ctx(writer) != ctx)
		return;		/* it has let go; the next one may be elsewhere */
	/* Nothing of a context that is nowhere is writing, and nothing could be stopped here. */
	if (ctx->oncpu >= 0)
		writer->pmu->stop(&writer->pub, PERF_EF_UPDATE);
	s->stuck = wanted_writer(s) == writer;
}

static struct pctx *get_writer_ctx(const struct aux_stop *s)
{
	struct pevent *writer;
	struct pctx *ctx;

	guard(rcu)();
	writer = wanted_writer(s);
	if (!writer)
		return NULL;
	/* Freed no sooner than the event, so there is still a reference. */
	ctx = pe_ctx(writer);
	pe_ctx_get(ctx);
	return ctx;
}

/**
 * pe_aux_stop() - stop whoever writes to an AUX area
 * @rb: the buffer of the area
 * @sink: stop only this event and those inherited from it; NULL: any
 *
 * What makes further attempts to write fail (see aux.c) was stored before.  Attempts that are on
 * their way take back their claim; they are on a CPU with irqs off, so pe_call() waits for them.
 * A stopped event stays ACTIVE, and tries again the next time it goes on its PMU.
 *
 * Task context, irqs on.  Return: nobody writes any more; false if a driver does not obey.
 */
bool pe_aux_stop(struct perf_buffer *rb, const struct pevent *sink)
{
	struct aux_stop s = { .rb = rb, .sink = sink };
	struct pctx *ctx;

	smp_mb();	/* B in aux.c */
	while (!s.stuck && (ctx = get_writer_ctx(&s))) {
		pe_call(ctx, stop_writer, &s);
		pe_ctx_put(ctx);
	}
	return !WARN_ON_ONCE(s.stuck);
}

/**
 * pe_bind_buffer() - let an event write to another buffer, or to none
 * @e: the event, opened by user space; e->mmap_mutex held
 * @rb: the buffer, with a reference that passes to @e; or NULL
 *
 * Task context, may sleep.
 */
void pe_bind_buffer(struct pevent *e, struct perf_buffer *rb)
{
	struct perf_buffer *old = pe_bound_buffer(e);

	lockdep_assert_held(&e->mmap_mutex);
	WARN_ON_ONCE(e->parent);

	if (old)
		unlink_listener(e, old);
	if (rb)
		link_listener(e, rb);
	rcu_assign_pointer(e->rb, rb);
	/* A writer relies on the reference that goes now.  One that cannot be stopped keeps it. */
	if (old && pe_aux_stop(old, e))
		pe_buffer_put(old);
	/* Writers used @old a while longer than e was on its list: nobody woke e then. */
	wake_up_all(&e->waitq);
}

/* Would the records of both make sense in one buffer? */
static bool compatible(const struct pevent *e, const struct pevent *target)
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
static bool compatible_aux(const struct pevent *e, const struct pevent *target)
{
	return e->pmu == target->pmu || !e->pmu->setup_aux || !target->pmu->setup_aux;
}

static void lock_two(struct pevent *a, struct pevent *b)
{
	if (a > b)
		swap(a, b);
	mutex_lock(&a->mmap_mutex);
	mutex_lock_nested(&b->mmap_mutex, SINGLE_DEPTH_NESTING);
}

/* The buffer of @target if somebody has it mapped; with a reference.  target->mmap_mutex held. */
static struct perf_buffer *mapped_buffer(struct pevent *target)
{
	struct perf_buffer *rb = pe_buffer_get(target);

	if (rb && !atomic_read(&rb->mmap_count)) {
		/* Its last mapping is going; mmap.c detaches the listeners one by one. */
		pe_buffer_put(rb);
		rb = NULL;
	}
	return rb;
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
int pe_set_output(struct pevent *e, struct pevent *target)
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
	if (e == target || !compatible(e, target))
		return pe_err(-EINVAL, "output: of another CPU, task, clock or direction");

	lock_two(e, target);
	if (!atomic_read(&e->mmap_count) && compatible_aux(e, target))
		rb = mapped_buffer(target);
	if (rb) {
		/* Its children run when and where they like. */
		if (e->attr.inherit && e->cpu == -1)
			pe_buffer_crowd(rb);
		pe_bind_buffer(e, rb);
		ret = 0;
	}
	mutex_unlock(&target->mmap_mutex);
	mutex_unlock(&e->mmap_mutex);
	return ret ? pe_err(ret, "output: no buffer, another AUX format, or the event mapped") : 0;
}
