// SPDX-License-Identifier: GPL-2.0
/*
 * Exchange of contexts: a switch between two tasks that inherited the same events.
 *
 * What user space sees of inherited events is the sum over the family.  So when one task hands the
 * CPU to another one with copies of the same events, it does not matter which copy counts which of
 * them: the two tasks swap their contexts.  That of the first stays in, for the second one; no
 * hardware is touched, no clock is stopped.
 *
 * Such contexts are equivalent: they have the same number in ctx->equiv_id, which is not 0.  The
 * invariant:
 *
 *	All equivalent contexts hold the same events, each the original or a copy of it, in groups
 *	of the same form, and none that a program could tell from its copies: see unlike().
 *
 *	0 -> new	current forks; taken back at once if an event is not of that sort.
 *			ctx->mutex, ctx->lock
 *	(copy) -> same	the child got a copy of each event, and the parent's still has this number
 *	any -> 0	an event comes or goes, or becomes different.  ctx->lock
 *
 * An opener ends the equivalence when it finds the context (stays_with()), before it knows that
 * the event can be added.  An open that is refused then, as by the rules of groups, costs what one
 * costs that is closed at once, and asks for the same rights; the next fork gives a new number.
 *
 * A number is never given again.  So an opener that keeps a context at 0 under ctx->mutex keeps it
 * with its task.
 *
 * Contexts without groups to schedule are exchanged as well, though only clocks would be stopped
 * and started.  Then a pair of switches costs 290 instructions more than without events, and not
 * 553 (arm64; x86_64: 270 and 531).  What user space can see of that, Linux 6.12 shows for them,
 * too.
 *
 * The swap writes task->perf_event_ctxp and ctx->task of both, under both ctx->locks, in a switch
 * between the two: irqs off, on the CPU of the first, and the second runs nowhere.  Therefore
 *
 *	with preemption off	current's context stays current's;
 *	under ctx->lock		ctx->task stays, and if it is a task that one has a reference on,
 *				the context stays that task's;
 *	while it is held	current's context stays current's: fork, exec and exit sleep
 *				between two looks.
 *
 * All others must expect the context of a task to be another one in the next moment.
 * See "Exchange of contexts" in Documentation/perf_events/locking.rst.
 */

#include "sched.h"
#include "../ext.h"

static atomic64_t last_equiv_id;

/*
 * Could it matter to a program which task has the original?  See pe_ctx_make_equiv().
 *
 * Signals, records and values of single events tell; so does whatever acts on one task: exec,
 * tracing, breakpoints and probes, memory of the driver for each task, BPF output, which looks for
 * the CPU of the original.  A program may read the counter of an event that it has mapped, unless
 * that was for its samples, as those of all tasks go there.  Notification stops single copies, and
 * a session tells what each of its targets has counted.
 */
static bool unlike(struct pe_event *e)
{
	const struct perf_event_attr *attr = &e->attr;

	return !attr->inherit || attr->inherit_stat || attr->sigtrap ||
	       attr->enable_on_exec || attr->remove_on_exec ||
	       attr->sample_type & (PERF_SAMPLE_READ | PERF_SAMPLE_STREAM_ID) ||
	       attr->type == PERF_TYPE_BREAKPOINT || pe_trace_call(e) ||
	       has_aux(&e->pub) || has_aux_action(&e->pub) || attr->aux_output ||
	       has_addr_filter(&e->pub) || READ_ONCE(e->attach_state) & PERF_ATTACH_TASK_DATA ||
	       (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT) ||
	       (!list_empty(&e->mapped_entry) && !is_sampling_event(&e->pub)) ||
	       pe_notify(e) || pe_of_target(e) ||
	       READ_ONCE(e->state) == PERF_EVENT_STATE_ERROR;
}

/* Of current, with ctx->mutex: nobody frees an event of its context without waiting for RCU. */
static bool all_alike(struct pe_ctx *ctx)
{
	struct pe_event *e;

	guard(rcu)();
	list_for_each_entry_rcu(e, &ctx->events, ctx_entry)
		if (unlike(e))
			return false;
	return true;
}

/**
 * pe_hold_current_ctx() - keep current's context with current until pe_let_go_ctx()
 *
 * Not nested.  Return: the context, or NULL if there is none; it may get one meanwhile.
 */
struct pe_ctx *pe_hold_current_ctx(void)
{
	struct pe_ctx *ctx;

	guard(preempt)();
	ctx = pe_task_ctx(current);
	if (ctx)
		ctx->held = true;
	return ctx;
}

/**
 * pe_ctx_make_equiv() - current forks: let its context have equivalents, if it can
 * @ctx: current's context, held
 *
 * Task context.  An opener that is at work keeps it from that; so does the next event.
 *
 * The number is given first and taken back if an event is unlike the others, so that the look at
 * them needs no lock: what was changed before, it sees, and a later change of one ends the
 * equivalence.  Nobody else has this number yet, and the context is held.
 */
void pe_ctx_make_equiv(struct pe_ctx *ctx)
{
	if (READ_ONCE(ctx->equiv_id) || !mutex_trylock(&ctx->mutex))
		return;
	scoped_guard(raw_spinlock_irq, &ctx->lock)
		WRITE_ONCE(ctx->equiv_id, ctx->nr_events ? atomic64_inc_return(&last_equiv_id) : 0);
	if (READ_ONCE(ctx->equiv_id) && !all_alike(ctx)) {
		guard(raw_spinlock_irq)(&ctx->lock);
		pe_ctx_end_equiv(ctx);
	}
	mutex_unlock(&ctx->mutex);
}

/**
 * pe_ctx_copy_equiv() - a child's context is like its parent's
 * @child: the context, which nobody can see yet
 * @from: current's, held since pe_ctx_make_equiv()
 *
 * Any event that came or left between the two has ended the equivalence of @from, and so has a copy
 * that is not like the one in @from.
 */
void pe_ctx_copy_equiv(struct pe_ctx *child, struct pe_ctx *from)
{
	guard(raw_spinlock_irq)(&from->lock);
	if (child->nr_events == from->nr_events)
		WRITE_ONCE(child->equiv_id, from->equiv_id);
}

static bool swappable(const struct pe_ctx *ctx, const struct pe_ctx *other)
{
	return ctx->equiv_id && ctx->equiv_id == other->equiv_id &&
	       ctx->oncpu == smp_processor_id() && other->oncpu < 0;
}

static void swap_tasks(struct pe_ctx *ctx, struct task_struct *prev,
		       struct pe_ctx *other, struct task_struct *next)
{
	lockdep_assert_held(&ctx->lock);
	lockdep_assert_held(&other->lock);
	/* Each of the two has a reference on its task. */
	WRITE_ONCE(ctx->task, next);
	WRITE_ONCE(other->task, prev);
	/*
	 * A reader that follows one on another CPU sees an initialised context, as when it was
	 * published.
	 */
	smp_store_release(&next->perf_event_ctxp, &ctx->pub);
	/* likewise */
	smp_store_release(&prev->perf_event_ctxp, &other->pub);
}

/**
 * pe_ctx_exchange() - at a switch: swap the contexts of two tasks, if they are equivalent
 * @ctx: that of @prev
 * @prev: current
 * @next: the task that comes
 *
 * Irqs off, run queue locked, no context locked.  @next has run to its end elsewhere and is in the
 * hands of this CPU alone, so its context changes here only, or an opener gives it its first.
 *
 * Return: @ctx, which is in, is @next's now.
 */
bool pe_ctx_exchange(struct pe_ctx *ctx, struct task_struct *prev, struct task_struct *next)
{
	struct pe_ctx *other = pe_task_ctx(next);
	bool done;

	lockdep_assert_irqs_disabled();
	if (!other || READ_ONCE(other->equiv_id) != ctx->equiv_id || ctx->held || other->held ||
	    pe_cgroup_moves(next))
		return false;
	/*
	 * Until current is @next, the context is no task's: an NMI whose driver asks for it, as to
	 * what user space may read, would take the counters away.
	 */
	if (IS_ENABLED(CONFIG_ARM64_PSEUDO_NMI) && ctx->pub.nr_user)
		return false;

	raw_spin_lock(&ctx->lock);
	/* Locks of two tasks have no order.  Another CPU has this one: take the usual way. */
	if (!raw_spin_trylock(&other->lock)) {
		raw_spin_unlock(&ctx->lock);
		return false;
	}
	done = swappable(ctx, other);
	if (done)
		swap_tasks(ctx, prev, other, next);
	raw_spin_unlock(&other->lock);
	raw_spin_unlock(&ctx->lock);
	return done;
}
