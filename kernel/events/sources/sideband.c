// SPDX-License-Identifier: GPL-2.0
/*
 * Routing of sideband records: what happens to tasks, mappings and code, told to the events that
 * asked.
 *
 * An event asks by bits of its attr, compiled to plan.sideband.  It hears of what happens
 *
 *   on its CPU, if it is an event of a CPU context, and while the CPU is in its cgroup, if any;
 *   in its task, if it is an event of a task context, and while the task is on the CPU the event
 *   is bound to, if any.  A context that has just got its first event hears nothing until it is in,
 *   which it is before that open returns: others may write to its buffers till then (tracepoint.c).
 *
 * Contexts keep the events that ask for anything on a list of their own (pe_ctx.sideband), so an
 * event that does not ask costs nothing here.  Before that stands one counter for each kind of
 * record; with no event that asks in the whole system a hook is one load and one branch.
 *
 * Callers: the hooks in sideband_task.c, _mmap.c, _code.c and _chain.c.  Contexts differ:
 * SWITCH comes from the scheduler with irqs off and the run queue locked, others from tasks that
 * may sleep; nothing here sleeps or takes a lock.  Lists are read under RCU with preemption off:
 * the CPU has to stay the same from the choice of the list to the last record.
 *
 * A record that takes effort to make is formatted between pe_sideband_wanted() and
 * pe_sideband_each().  The task may move to another CPU in between.  Then events of the new CPU
 * get the record if an event of the old one wanted it; each answer is one that would have been
 * given had the whole hook run there, because the move and the hook are not ordered.
 */
#include "sources.h"

atomic_t pe_sideband_users[PE_NR_SIDEBAND];

/* RCU and preemption off; @cpu is this one. */
static bool listens(const struct pe_event *e, u32 wanted, int cpu)
{
	if (!(e->plan.sideband & wanted))
		return false;
	if (e->cpu != -1 && e->cpu != cpu)
		return false;
	if (e->cgrp && !pe_slot_is_in(e->slot))
		return false;
	return READ_ONCE(e->state) >= PERF_EVENT_STATE_INACTIVE;
}

static __always_inline void tell(struct pe_ctx *ctx, u32 wanted, pe_sideband_fn fn, void *arg)
{
	struct pe_event *e;

	list_for_each_entry_rcu(e, &ctx->sideband, sideband_entry) {
		if (listens(e, wanted, smp_processor_id()))
			fn(e, arg);
	}
}

static __always_inline bool anybody(struct pe_ctx *ctx, u32 wanted)
{
	struct pe_event *e;

	list_for_each_entry_rcu(e, &ctx->sideband, sideband_entry) {
		if (listens(e, wanted, smp_processor_id()))
			return true;
	}
	return false;
}

/**
 * pe_sideband_each() - call a function for every event that is to get a record
 * @wanted: BIT(enum pe_sideband) the record is about; one of them is enough
 * @task_ctx: context of the task the record is about, NULL for that of current
 * @fn: writes the record for one event; runs with preemption off
 * @arg: for @fn
 *
 * Any context but NMI.  Whether the leader of an event is disabled makes no difference.
 */
void pe_sideband_each(u32 wanted, struct pe_ctx *task_ctx, pe_sideband_fn fn, void *arg)
{
	struct pe_ctx *ctx;

	guard(rcu)();
	guard(preempt)();
	ctx = task_ctx ?: pe_current_ctx();
	tell(this_cpu_ptr(&pe_cpu.ctx), wanted, fn, arg);
	if (ctx)
		tell(ctx, wanted, fn, arg);
}

/**
 * pe_sideband_wanted() - would pe_sideband_each() find an event here and now?
 * @wanted: as there
 * @task_ctx: as there
 *
 * Any context but NMI.
 */
bool pe_sideband_wanted(u32 wanted, struct pe_ctx *task_ctx)
{
	struct pe_ctx *ctx;

	guard(rcu)();
	guard(preempt)();
	ctx = task_ctx ?: pe_current_ctx();
	return anybody(this_cpu_ptr(&pe_cpu.ctx), wanted) || (ctx && anybody(ctx, wanted));
}

/**
 * pe_sideband_pad() - end a name so that a record stays aligned to eight bytes
 * @name: a string in a buffer whose size is a multiple of eight, or with seven bytes to spare
 *
 * Return: bytes of the string with its end and the zeroes appended to it.
 */
unsigned int pe_sideband_pad(char *name)
{
	unsigned int len = strlen(name) + 1;
	unsigned int padded = ALIGN(len, sizeof(u64));

	memset(name + len, 0, padded - len);
	return padded;
}
