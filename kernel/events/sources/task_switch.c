// SPDX-License-Identifier: GPL-2.0
/*
 * What the scheduler calls when a CPU goes from one task to the next: SWITCH records, drivers that
 * save something per task, the tasks' contexts and cgroups.
 *
 * Both with irqs off and the run queue locked.  Between two members of a kin nothing goes out and
 * nothing comes in: sched/kin_switch.c.
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
	struct pe_ctx *shared = __this_cpu_read(pe_cpu.shared), *ctx;

	if (atomic_read(&pe_sideband_users[PE_SB_SWITCH]))
		pe_sideband_switch_out(prev, next);
	tell_pmus(prev, PE_GOES_OUT, NULL);
	if (shared) {
		/* Then it stays in, and the CPU in its cgroup. */
		if (pe_task_kin(next) == shared->kin && !pe_cgroup_moves(next))
			return;
		pe_kin_go_out(shared);
	} else {
		ctx = pe_task_ctx(prev);
		if (ctx && ctx->oncpu >= 0)
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

/* Return: the context that came in, or NULL. */
static __always_inline struct pe_ctx *bring_in(struct task_struct *task)
{
	struct pe_ctx *shared = __this_cpu_read(pe_cpu.shared), *ctx = pe_task_ctx(task);
	struct pe_kin *kin = pe_task_kin(task);

	if (shared) {
		if (likely(kin == shared->kin))
			return NULL;
		/* The task has just been made to leave. */
		pe_kin_go_out(shared);
	}
	if (kin)
		return pe_kin_come_in(kin, task);
	/* Adding to one that has just gone out tells this CPU. */
	if (!ctx || READ_ONCE(ctx->oncpu) >= 0)
		return NULL;
	pe_ctx_enter_current(ctx, task, -1);
	return ctx;
}

static __always_inline void switch_in(struct task_struct *prev, struct task_struct *task)
{
	struct pe_ctx *told = bring_in(task);

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
