// SPDX-License-Identifier: GPL-2.0
/*
 * What the scheduler calls when a CPU goes from one task to the next: SWITCH records, drivers that
 * save something per task, the tasks' contexts and cgroups.
 *
 * Both with irqs off and the run queue locked.  The contexts of two tasks with equal events are
 * exchanged (sched/exchange.c); then nothing goes out and nothing comes in.
 */

#include "sources.h"
#include "../cost.h"

static inline void tell_pmus(struct task_struct *task, enum pe_switch which,
			     const struct pe_ctx *told)
{
	if (unlikely(!list_empty(this_cpu_ptr(&pe_cpu.sched_cb))))
		pe_tell_pmus_of_switch(task, which, told);
}

static __always_inline void switch_out(struct task_struct *prev, struct task_struct *next)
{
	struct pe_ctx *ctx = pe_task_ctx(prev);

	if (atomic_read(&pe_sideband_users[PE_SB_SWITCH]))
		pe_sideband_switch_out(prev, next);
	tell_pmus(prev, PE_GOES_OUT, NULL);
	if (ctx && ctx->oncpu >= 0) {
		/* Then it stays in, and the CPU in its cgroup. */
		if (READ_ONCE(ctx->equiv_id) && pe_ctx_exchange(ctx, prev, next))
			return;
		pe_ctx_leave_current(ctx);
	}
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

static __always_inline void switch_in(struct task_struct *prev, struct task_struct *task)
{
	struct pe_ctx *ctx = pe_task_ctx(task), *told = NULL;

	/* One that was exchanged is in.  Adding to one that has just gone out tells this CPU. */
	if (ctx && READ_ONCE(ctx->oncpu) < 0) {
		pe_ctx_enter_current(ctx, task);
		told = ctx;
	}
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
