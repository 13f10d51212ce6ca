// SPDX-License-Identifier: GPL-2.0
/*
 * The one remote call: run a function on a context, where the context is.
 *
 * ctx->oncpu, written under ctx->lock by the switch code, tells the CPU whose hardware holds the
 * context's events, or -1.  While it is -1 nothing of the context is in hardware, and the code that
 * holds ctx->lock may change everything.  While it is a CPU number, only that CPU with irqs off
 * may touch scheduled groups; it holds its own context's lock and then ctx->lock.
 *
 * So the caller looks, and sends the function to that CPU, which locks and looks again: the task
 * may have left meanwhile, and then the caller starts over.  While oncpu is -1, or this CPU, the
 * caller locks, looks again, and runs it right there.  No retry is lost work, because the function
 * has not run; the loop ends unless the task moves between two CPUs faster than an interrupt is
 * delivered, for ever.
 *
 * Passive groups have nothing in hardware: pe_event_call() never interrupts a CPU for them.  Only
 * a member that leaves such a group does, if samples show all of it, and the last event of a
 * context of a kin: pe_member_call(); and what writes a count that hits of another CPU add to:
 * pe_count_call().
 */

#include "sched.h"
#include "../cost.h"
#include "../ext.h"

/* What is done to an event, as far as it matters for a passive one. */
enum call_kind {
	CALL_ANY,
	CALL_LEAVES,	/* it leaves its group */
	CALL_COUNTS,	/* its count is written, or that of members of its group */
	CALL_ONCPU,	/* where the context is in, if anywhere, passive or not */
};

struct remote_call {
	struct pe_ctx	*ctx;
	struct pe_event	*e;	/* NULL, or the event that must still be in @ctx */
	pe_call_fn	fn;
	void		*arg;
	enum call_kind	kind;
	bool		missed;	/* it has not run: the context or the event has moved */
};

static bool still_there(const struct remote_call *call)
{
	return !call->e || pe_ctx(call->e) == call->ctx;
}

/* Has no count of its own that hits add to; if it leads, nor has a member. */
static bool only_counts(struct pe_event *e)
{
	struct pe_event *m;

	if (!pe_is_leader(e))
		return e->counts_hits || e->counts_time;
	pe_for_each_member(m, e)
		if (!m->counts_hits && !m->counts_time)
			return false;
	return true;
}

/*
 * May another CPU be in the middle of adding to the count?  A hit of this one is over: it keeps
 * preemption off, and interrupts cannot tear what it adds.  Under ctx->lock, or the context is in
 * here.
 */
static bool is_hit_elsewhere(const struct remote_call *call)
{
	int cpu = READ_ONCE(call->ctx->oncpu);

	return cpu >= 0 && cpu != smp_processor_id() && !only_counts(call->e);
}

static bool is_passive(const struct remote_call *call)
{
	if (!call->e || !pe_is_passive(call->e))
		return false;
	if (call->kind == CALL_ONCPU)
		return false;
	if (call->kind == CALL_ANY)
		return true;
	if (call->kind == CALL_COUNTS)
		return !is_hit_elsewhere(call);
	/* Without events a context is in nowhere: pe_cpu.shared is to be cleared. */
	if (call->ctx->kin && call->ctx->nr_events == 1)
		return false;
	/* What samples show changes where they are made; a set may leave its turn to another. */
	return !pe_leader(call->e)->samples_group && !pe_in_ring(pe_leader(call->e));
}

static void pe_call_oncpu(void *info)
{
	struct remote_call *call = info;
	struct pe_ctx *ctx = call->ctx;
	/* What is done to the CPU's groups may take those of the task off. */
	struct pe_ctx *task_ctx = ctx->task ? ctx : pe_current_ctx();

	pe_lock_here(task_ctx);
	/* Who has sent it keeps the line of @call, unless something is written there. */
	if (ctx->oncpu == smp_processor_id() && still_there(call))
		call->fn(ctx, call->arg);
	else
		call->missed = true;
	pe_unlock_here(task_ctx);
}

/* Sent by another CPU. */
static void pe_call_arrives(void *info)
{
	u64 begin;

	if (likely(!pe_cost_wanted())) {
		pe_call_oncpu(info);
		return;
	}
	begin = pe_now();
	pe_call_oncpu(info);
	pe_cost_add(PE_COST_CALL, 1, pe_now() - begin);
}

/* Does it run on ctx->oncpu, whatever its group is like?  Without a lock, irqs off. */
static bool is_for_oncpu(const struct remote_call *call)
{
	lockdep_assert_irqs_disabled();
	if (!call->e || call->kind == CALL_ONCPU)
		return true;
	/*
	 * A group that has become passive makes no difference there, and a leader that the event
	 * has left goes by RCU.  What seems to be passive is left to is_passive(), under the lock:
	 * that walks members, which may leave.
	 */
	return !data_race(pe_is_passive(call->e));
}

/*
 * Irqs off.  Return: the CPU to send the function to; -1 if there is none, because it has run or
 * the context or the event has just moved.
 */
static int run_or_find(struct remote_call *call)
{
	struct pe_ctx *ctx = call->ctx;
	int cpu = READ_ONCE(ctx->oncpu);

	/* With irqs off a context that is in here stays; most callers ask for current's. */
	if (cpu == smp_processor_id() && !is_passive(call)) {
		pe_call_oncpu(call);
		return -1;
	}
	/* One that is in elsewhere may leave, but the other CPU looks again. */
	if (cpu >= 0 && cpu != smp_processor_id() && is_for_oncpu(call))
		return cpu;
	guard(raw_spinlock)(&ctx->lock);
	cpu = ctx->oncpu;
	if (!still_there(call)) {
		call->missed = true;
		return -1;
	}
	if (cpu >= 0 && !is_passive(call))
		return cpu;
	call->fn(ctx, call->arg);
	return -1;
}

/* Return: it has run. */
static noinline bool run_on(int cpu, const struct remote_call *call)
{
	/* A line of its own: the stack around is written while the other CPU has it. */
	struct remote_call sent ____cacheline_aligned_in_smp = *call;

	/* Fails if the CPU has gone offline. */
	return !smp_call_function_single(cpu, pe_call_arrives, &sent, 1) && !sent.missed;
}

/* Return: it has run; otherwise the context or the event has just moved. */
static bool attempt(struct remote_call *call)
{
	int cpu;

	call->missed = false;
	local_irq_disable();
	cpu = run_or_find(call);
	local_irq_enable();
	return cpu >= 0 ? run_on(cpu, call) : !call->missed;
}

/**
 * pe_call() - run a function on a context
 * @ctx: the context, referenced
 * @fn: runs with irqs off and @ctx locked; on ctx->oncpu with that CPU's context locked too, or
 *	anywhere while ctx->oncpu is -1
 * @arg: its argument
 *
 * Task context, irqs on.  Returns when @fn has run, once.
 */
void pe_call(struct pe_ctx *ctx, pe_call_fn fn, void *arg)
{
	struct remote_call call = { .ctx = ctx, .fn = fn, .arg = arg };

	while (!attempt(&call))
		cond_resched();
}

static void call_and_follow(struct remote_call *call)
{
	for (call->ctx = pe_ctx(call->e); !attempt(call); call->ctx = pe_ctx(call->e))
		cond_resched();
}

/**
 * pe_event_call() - run a function for one event
 * @e: an attached event
 * @fn: as for pe_call(); for a passive event it runs right here, and must not schedule
 * @arg: its argument
 *
 * Task context, irqs on.  Without ctx->mutex the event may move to another CPU meanwhile, and is
 * followed there.
 */
void pe_event_call(struct pe_event *e, pe_call_fn fn, void *arg)
{
	struct remote_call call = { .e = e, .fn = fn, .arg = arg };

	call_and_follow(&call);
}

/**
 * pe_member_call() - as pe_event_call(), for what makes the event leave its group
 * @e: an attached event
 * @fn: likewise; if samples show the group it runs where they are made: see pe_samples_group()
 * @arg: its argument
 */
void pe_member_call(struct pe_event *e, pe_call_fn fn, void *arg)
{
	struct remote_call call = { .e = e, .fn = fn, .arg = arg, .kind = CALL_LEAVES };

	call_and_follow(&call);
}

/**
 * pe_count_call() - as pe_event_call(), for what writes the count of the event or of its group
 * @e: an attached event; a leader if it is for the group
 * @fn: likewise; it runs where no hit is in the middle of adding to the count
 * @arg: its argument
 */
void pe_count_call(struct pe_event *e, pe_call_fn fn, void *arg)
{
	struct remote_call call = { .e = e, .fn = fn, .arg = arg, .kind = CALL_COUNTS };

	call_and_follow(&call);
}

/**
 * pe_oncpu_call() - as pe_call() for the context of an event, which may move to another one
 * @e: an attached event
 * @fn: likewise
 * @arg: its argument
 */
void pe_oncpu_call(struct pe_event *e, pe_call_fn fn, void *arg)
{
	struct remote_call call = { .e = e, .fn = fn, .arg = arg, .kind = CALL_ONCPU };

	call_and_follow(&call);
}

/**
 * pe_call_locked_local() - as pe_call(), for interrupts, which cannot wait for another CPU
 * @ctx: the context
 * @fn: the function
 * @arg: its argument
 *
 * Return: true if @fn has run, false if the context is in on another CPU.
 */
bool pe_call_locked_local(struct pe_ctx *ctx, pe_call_fn fn, void *arg)
{
	struct pe_ctx *task_ctx = ctx;
	unsigned long flags;
	bool here;

	local_irq_save(flags);
	if (!ctx->task) {
		/* Two CPU contexts are never locked together. */
		if (ctx->cpu != smp_processor_id()) {
			local_irq_restore(flags);
			return false;
		}
		task_ctx = pe_current_ctx();	/* as in pe_call_oncpu() */
	}
	pe_lock_here(task_ctx);
	here = ctx->oncpu < 0 || ctx->oncpu == smp_processor_id();
	if (here)
		fn(ctx, arg);
	pe_unlock_here(task_ctx);
	local_irq_restore(flags);
	return here;
}
