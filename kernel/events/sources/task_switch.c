// SPDX-License-Identifier: GPL-2.0
/*
 * What the scheduler calls when a CPU goes from one task to the next: SWITCH records, drivers that
 * save something per task, the tasks' contexts and cgroups.
 *
 * All with irqs off and the run queue locked.  Between two members of a kin, in one cgroup, nothing
 * goes out and nothing comes in: sched/kin_switch.c.
 */

#include "sources.h"
#include "../cost.h"

/* Somebody wants to know of the switch itself. */
static __always_inline bool is_asked_for(void)
{
	return pe_cost_wanted() || !list_empty(this_cpu_ptr(&pe_cpu.sched_cb)) ||
	       atomic_read(&pe_sideband_users[PE_SB_SWITCH]);
}

static inline void tell_pmus(struct task_struct *task, enum pe_switch which,
			     const struct pe_ctx *told)
{
	if (unlikely(!list_empty(this_cpu_ptr(&pe_cpu.sched_cb))))
		pe_tell_pmus_of_switch(task, which, told);
}

/* Return: false if what is in stays in, and the CPU in its cgroup. */
static __always_inline bool take_out(struct task_struct *prev, struct task_struct *next)
{
	struct pe_ctx *ctx = pe_task_ctx(prev), *shared;

	if (likely(ctx && READ_ONCE(ctx->oncpu) >= 0)) {
		pe_ctx_leave_current(ctx);
		return true;
	}
	shared = __this_cpu_read(pe_cpu.shared);
	if (!shared)
		return true;
	if (pe_task_kin(next) == shared->kin && !pe_cgroup_moves(next))
		return false;
	pe_kin_go_out(shared);
	return true;
}

/* A task without either has nothing in: who exits has taken it out, with irqs off. */
static __always_inline void switch_out(struct task_struct *prev, struct task_struct *next)
{
	if (atomic_read(&pe_sideband_users[PE_SB_SWITCH]))
		pe_sideband_switch_out(prev, next);
	tell_pmus(prev, PE_GOES_OUT, NULL);
	if (!READ_ONCE(prev->perf_event_ctxp) || take_out(prev, next))
		pe_cgroup_switch(next);
}

static noinline void count_switch_out(struct task_struct *prev, struct task_struct *next)
{
	u64 begin = pe_now();

	switch_out(prev, next);
	pe_cost_add(PE_COST_SWITCH, 0, pe_now() - begin);
}

/* Contract: @prev is about to leave this CPU for @next; irqs off, run queue locked. */
void __perf_event_task_sched_out(struct task_struct *prev, struct task_struct *next)
{
	if (pe_cost_wanted())
		count_switch_out(prev, next);
	else
		switch_out(prev, next);
}

/*
 * The same for two members of a kin, for whom what is in stays in, or two tasks without events, for
 * whom nothing is: see perf_event_task_sched_out().
 */
void __perf_event_task_stays_out(struct task_struct *prev, struct task_struct *next)
{
	if (is_asked_for() || pe_cgroup_moves(next))
		__perf_event_task_sched_out(prev, next);
}

/* Return: the context that came in, or NULL. */
static __always_inline struct pe_ctx *bring_in(struct task_struct *task)
{
	struct pe_ctx *shared = __this_cpu_read(pe_cpu.shared), *ctx = pe_task_ctx(task);

	if (unlikely(shared)) {
		if (likely(pe_task_kin(task) == shared->kin))
			return NULL;
		/* The task has just been made to leave. */
		pe_kin_go_out(shared);
	}
	if (unlikely(!ctx)) {
		struct pe_kin *kin = pe_task_kin(task);

		return kin ? pe_kin_come_in(kin, task) : NULL;
	}
	/* Adding to one that has just gone out tells this CPU. */
	if (READ_ONCE(ctx->oncpu) >= 0)
		return NULL;
	pe_ctx_enter_current(ctx, task, -1);
	return ctx;
}

static __always_inline void switch_in(struct task_struct *prev, struct task_struct *task)
{
	struct pe_ctx *told = READ_ONCE(task->perf_event_ctxp) ? bring_in(task) : NULL;

	tell_pmus(task, PE_COMES_IN, told);
	if (atomic_read(&pe_sideband_users[PE_SB_SWITCH]))
		pe_sideband_switch_in(prev);
}

static noinline void count_switch_in(struct task_struct *prev, struct task_struct *task)
{
	u64 begin = pe_now();

	switch_in(prev, task);
	pe_cost_add(PE_COST_SWITCH, 1, pe_now() - begin);
}

/* Contract: @task has come in after @prev; irqs off, run queue locked. */
void __perf_event_task_sched_in(struct task_struct *prev, struct task_struct *task)
{
	if (pe_cost_wanted())
		count_switch_in(prev, task);
	else
		switch_in(prev, task);
}

/*
 * The same for two that have the same now.  No task becomes a member but by itself: so they had it
 * when @prev went out, and what was in has stayed in, unless the CPU went to another cgroup.
 */
void __perf_event_task_stays_in(struct task_struct *prev, struct task_struct *task)
{
	if (is_asked_for() ||
	    (READ_ONCE(task->perf_event_ctxp) && !__this_cpu_read(pe_cpu.shared)))
		__perf_event_task_sched_in(prev, task);
}
