// SPDX-License-Identifier: GPL-2.0
/*
 * Last branch records: who uses them, switching them on and off, and what happens to them when
 * tasks come and go.
 *
 * There is one set of records for each CPU, and the extra-register constraint sees to it that all
 * events on it want the same.  Records do not say which address space they belong to: with a
 * task's coming they are emptied, or filled with the call stack that the task had.  That is saved
 * in what the task has of task_ctx_data.
 *
 * While nobody uses them nothing is recorded, and nobody hears of tasks that come and go: when the
 * PMU has gone on like this, the records are of some time ago, perhaps another task's.  Before it
 * goes on with a user again they are emptied, unless the task that comes brings its own; also if
 * they were selected in another way than is wanted now, or by a guest.  cpuc->lbr_made says which
 * it was, 0 is none.  An event that goes and comes while the PMU is off leaves them what they are.
 *
 * Everything runs on the CPU it is about with interrupts off, but for the buffers at the end.
 */
#include <linux/perf_event.h>
#include <linux/slab.h>

#include <asm/msr.h>

#include "lbr.h"

#define NOT_SAVED	0
#define SAVED_BY(cpu)	(1 + (cpu))

/* KVM's guests have the records, and program them themselves. */
struct event_constraint vlbr_constraint =
	__EVENT_CONSTRAINT(INTEL_FIXED_VLBR_EVENT, BIT_ULL(INTEL_PMC_IDX_FIXED_VLBR),
			   FIXED_EVENT_FLAGS, 1, 0, PERF_X86_EVENT_LBR_SELECT);

static bool lent_to_guest(struct cpu_hw_events *cpuc)
{
	return cpuc->intel_ctrl_guest_mask & BIT_ULL(INTEL_PMC_IDX_FIXED_VLBR);
}

static bool ours(struct cpu_hw_events *cpuc)
{
	return cpuc->lbr_users && !lent_to_guest(cpuc);
}

#define MADE		BIT_ULL(63)
#define MADE_BY_GUEST	(~0ULL)

/* What cpuc->lbr_made is for the events that are on the CPU. */
static u64 selection(struct cpu_hw_events *cpuc)
{
	if (unlikely(cpuc->lbr_select))
		return MADE_BY_GUEST;
	return MADE | (cpuc->lbr_sel ? cpuc->lbr_sel->config & x86_pmu.lbr_sel_mask : 0);
}

/* ------------------------------------------------------------ on and off */

/**
 * intel_pmu_lbr_enable_all - record branches
 * @pmi: at the end of a PMI; what they select has not changed then
 *
 * From version 4 on, acknowledging the PMI thaws the records.  The PMI freezes them, unless they
 * are a call stack: a PMI next to a call or return leaves that one off, and the stack is wrong.
 *
 * A PMI at any point of this finds records made for others, or none: it shows nothing of them.
 */
void intel_pmu_lbr_enable_all(bool pmi)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	u64 was, debugctl, config = 0;
	bool select = !pmi;

	if (!cpuc->lbr_users) {
		cpuc->lbr_made = 0;
		return;
	}
	/* A guest must not see the host's, either. */
	if (unlikely(cpuc->lbr_made != selection(cpuc))) {
		intel_pmu_lbr_reset();
		select = true;
	}
	if (lent_to_guest(cpuc) || (pmi && x86_pmu.version >= 4))
		return;

	if (cpuc->lbr_sel)
		config = cpuc->lbr_sel->config & x86_pmu.lbr_sel_mask;
	if (!intel_pe_arch_lbr() && cpuc->lbr_sel && select)
		wrmsrl(MSR_LBR_SELECT, config);

	rdmsrl(MSR_IA32_DEBUGCTLMSR, was);
	debugctl = was & ~DEBUGCTLMSR_FREEZE_LBRS_ON_PMI;
	if (!intel_pe_keeps_stack(config))
		debugctl |= DEBUGCTLMSR_FREEZE_LBRS_ON_PMI;
	if (!intel_pe_arch_lbr())
		debugctl |= DEBUGCTLMSR_LBR;
	if (debugctl != was)
		wrmsrl(MSR_IA32_DEBUGCTLMSR, debugctl);

	if (intel_pe_arch_lbr())
		wrmsrl(MSR_ARCH_LBR_CTL, config | ARCH_LBR_CTL_LBREN);
}

/**
 * intel_pmu_lbr_disable_all - do not
 */
void intel_pmu_lbr_disable_all(void)
{
	if (!ours(this_cpu_ptr(&cpu_hw_events)))
		return;
	if (intel_pe_arch_lbr())
		__intel_pmu_arch_lbr_disable();
	else
		__intel_pmu_lbr_disable();
}

/**
 * intel_pmu_lbr_reset - forget all branches, and whose they were
 */
void intel_pmu_lbr_reset(void)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	if (!x86_pmu.lbr_nr)
		return;
	cpuc->lbr_made = 0;		/* for a PMI until they are empty */
	x86_pmu.lbr_reset();
	cpuc->last_task_ctx = NULL;
	cpuc->lbr_made = selection(cpuc);
	if (!intel_pe_arch_lbr() && cpuc->lbr_select)
		wrmsrl(MSR_LBR_SELECT, 0);
}

/**
 * intel_pmu_lbr_read - the branches so far as this CPU's branch stack
 *
 * Not if every user has them in its PEBS records.  Then, and without a user, it is empty: what was
 * read for the PMI before is nobody's business.
 */
void intel_pmu_lbr_read(void)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	if (!ours(cpuc) || cpuc->lbr_users == cpuc->lbr_pebs_users ||
	    unlikely(cpuc->lbr_made != selection(cpuc) || cpuc->lbr_made == MADE_BY_GUEST))
		cpuc->lbr_stack.nr = 0;
	else
		x86_pmu.lbr_read(cpuc);
}

/* ------------------------------------------------------------ events */

/* Events of this CPU that keep the call stacks of all tasks. */
static DEFINE_PER_CPU(int, stacks_of_all);

static bool of_task(const struct perf_event *event)
{
	return event->attach_state & PERF_ATTACH_TASK;
}

/*
 * The count of events that keep call stacks of the same tasks as @event, by the task or the CPU;
 * NULL if @event keeps none.
 */
static int *stack_users(struct perf_event *event)
{
	const u32 stack = X86_BR_USER | X86_BR_CALL_STACK;
	void *ctx = event->pmu_ctx->task_ctx_data;

	if ((event->hw.branch_reg.reg & stack) != stack)
		return NULL;
	if (!of_task(event))
		return this_cpu_ptr(&stacks_of_all);
	return ctx ? &task_context_opt(ctx)->lbr_callstack_users : NULL;
}

static bool keeps_stack_of(void *ctx)
{
	return task_context_opt(ctx)->lbr_callstack_users || __this_cpu_read(stacks_of_all);
}

static bool is_guests(struct perf_event *event)
{
	return event->hw.flags & PERF_X86_EVENT_LBR_SELECT && event->attr.exclude_host;
}

static bool in_pebs_records(struct perf_event *event)
{
	return event->attr.precise_ip &&
	       x86_pmu_pebs_fields(event->pmu) & PERF_SAMPLE_BRANCH_STACK;
}

/**
 * intel_pmu_lbr_add - one more event uses branch records
 * @event: it; the PMU is off
 */
void intel_pmu_lbr_add(struct perf_event *event)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int *stacks;

	if (!x86_pmu.lbr_nr)
		return;

	if (unlikely(is_guests(event)))
		cpuc->lbr_select++;
	stacks = stack_users(event);
	if (stacks)
		++*stacks;
	if (in_pebs_records(event))
		cpuc->lbr_pebs_users++;
	perf_sched_cb_inc(event->pmu);
	cpuc->lbr_users++;
}

/**
 * intel_pmu_lbr_del - one less
 * @event: it; the PMU is off
 *
 * Counts that a group had logged with the branches would be taken for another group's: they go
 * when the group goes, once, with its leader.
 */
void intel_pmu_lbr_del(struct perf_event *event)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int *stacks;

	if (!x86_pmu.lbr_nr)
		return;

	stacks = stack_users(event);
	if (stacks)
		--*stacks;
	if (unlikely(is_guests(event)))
		cpuc->lbr_select--;
	if (in_pebs_records(event))
		cpuc->lbr_pebs_users--;
	cpuc->lbr_users--;
	WARN_ON_ONCE(cpuc->lbr_users < 0 || cpuc->lbr_pebs_users < 0);
	perf_sched_cb_dec(event->pmu);

	if (is_branch_counters_group(event) && event == event->group_leader)
		intel_pmu_lbr_reset();
}

/* ------------------------------------------------------------ tasks */

/* Has a deep idle state wiped what was there? */
static bool wiped(void *ctx)
{
	if (!intel_pe_arch_lbr())
		return !intel_pe_branch_from(((struct x86_perf_task_context *)ctx)->tos);
	return x86_pmu.lbr_deep_c_reset && !intel_pe_branch_from(0);
}

static unsigned int switches_of(struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

/*
 * A stack that was saved is the task's if it has not run since, unseen by an event, and what is
 * wanted now if it was selected in the same way.  What was saved last on this CPU is still in the
 * registers; last_task_ctx alone would not tell, as memory is used again for other tasks.
 */
static void task_comes(struct cpu_hw_events *cpuc, struct task_struct *task, void *ctx)
{
	struct x86_perf_task_context_opt *opt = task_context_opt(ctx);

	if (!keeps_stack_of(ctx) || opt->lbr_stack_state == NOT_SAVED ||
	    opt->switches != switches_of(task) || opt->made != selection(cpuc)) {
		opt->lbr_stack_state = NOT_SAVED;
		intel_pmu_lbr_reset();
		return;
	}
	if (cpuc->last_task_ctx != ctx || opt->lbr_stack_state != SAVED_BY(smp_processor_id()) ||
	    wiped(ctx)) {
		cpuc->lbr_made = 0;
		x86_pmu.lbr_restore(ctx);
	}
	opt->lbr_stack_state = NOT_SAVED;
	/* The task may go without being saved: if it exits, or its last user has gone before. */
	cpuc->last_task_ctx = NULL;
	cpuc->lbr_made = selection(cpuc);
}

static void task_goes(struct cpu_hw_events *cpuc, struct task_struct *task, void *ctx)
{
	struct x86_perf_task_context_opt *opt = task_context_opt(ctx);

	if (!keeps_stack_of(ctx)) {
		opt->lbr_stack_state = NOT_SAVED;
		return;
	}
	x86_pmu.lbr_save(ctx);
	opt->lbr_stack_state = SAVED_BY(smp_processor_id());
	opt->switches = switches_of(task);
	opt->made = cpuc->lbr_made;
	cpuc->last_task_ctx = ctx;
}

/**
 * intel_pmu_lbr_sched_task - a task comes or goes
 * @pmu_ctx: this PMU's part of the task's context, NULL if it has none
 * @task: the task
 * @sched_in: it comes
 */
void intel_pmu_lbr_sched_task(struct perf_event_pmu_context *pmu_ctx, struct task_struct *task,
			      bool sched_in)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	void *ctx = pmu_ctx ? pmu_ctx->task_ctx_data : NULL;

	if (!cpuc->lbr_users)
		return;
	if (ctx && !sched_in)
		task_goes(cpuc, task, ctx);
	else if (ctx)
		task_comes(cpuc, task, ctx);
	else if (sched_in)
		intel_pmu_lbr_reset();
}

/* ------------------------------------------------------------ buffers; KVM */

/**
 * reserve_lbr_buffers - memory to read architectural records with XSAVES
 *
 * Task context, under the mutex of x86_reserve_hardware().  Without it they are read one by one.
 */
void reserve_lbr_buffers(void)
{
	struct cpu_hw_events *cpuc;
	struct kmem_cache *cache;
	int cpu;

	if (x86_pmu.lbr_read != intel_pe_arch_read_xsave)
		return;
	for_each_possible_cpu(cpu) {
		cpuc = &per_cpu(cpu_hw_events, cpu);
		cache = x86_get_pmu(cpu)->task_ctx_cache;
		if (cache && !cpuc->lbr_xsave)
			cpuc->lbr_xsave = kmem_cache_alloc_node(cache, GFP_KERNEL | __GFP_ZERO,
								cpu_to_node(cpu));
	}
}

/**
 * release_lbr_buffers - give it back
 */
void release_lbr_buffers(void)
{
	struct cpu_hw_events *cpuc;
	int cpu;

	if (x86_pmu.lbr_read != intel_pe_arch_read_xsave)
		return;
	for_each_possible_cpu(cpu) {
		cpuc = &per_cpu(cpu_hw_events, cpu);
		if (cpuc->lbr_xsave)
			kmem_cache_free(x86_get_pmu(cpu)->task_ctx_cache, cpuc->lbr_xsave);
		cpuc->lbr_xsave = NULL;
	}
}

/**
 * x86_perf_get_lbr - what branch records has this CPU?
 * @lbr: filled in
 */
void x86_perf_get_lbr(struct x86_pmu_lbr *lbr)
{
	*lbr = (struct x86_pmu_lbr){
		.nr		= x86_pmu.lbr_nr,
		.from		= x86_pmu.lbr_from,
		.to		= x86_pmu.lbr_to,
		.info		= x86_pmu.lbr_info,
		.has_callstack	= x86_pmu_has_lbr_callstack(),
	};
}
EXPORT_SYMBOL_GPL(x86_perf_get_lbr);
