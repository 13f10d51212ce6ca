// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs come and go.
 *
 * A CPU context exists from boot for every possible CPU.  It is in while its CPU is online: the
 * online callback, on that CPU or before it runs, lets it in; the offline callback takes it out.
 * While it is out its events are kept, but count nothing, and new ones are refused (-ENODEV).
 *
 * Called by the hotplug core and at boot, in task context.
 */

#include "lifetime.h"

DEFINE_PER_CPU(struct pe_cpu, pe_cpu);

static void enter_oncpu(void *info)
{
	struct pctx *ctx = this_cpu_ptr(&pe_cpu.ctx);

	pe_lock_here(NULL);
	if (ctx->oncpu < 0)
		pe_ctx_in(ctx, pe_now());
	pe_unlock_here(NULL);
	pe_cgroup_follow(current);
}

static void leave_oncpu(void *info)
{
	struct pctx *ctx = this_cpu_ptr(&pe_cpu.ctx);

	pe_cgroup_leave_all();
	pe_lock_here(NULL);
	if (ctx->oncpu >= 0)
		pe_ctx_out(ctx, pe_now());
	pe_unlock_here(NULL);
}

/**
 * perf_event_init_cpu() - a CPU is about to come up, or has come up
 * @cpu: the CPU
 *
 * Contract; called in the prepare stage (the CPU does not run yet) and in the online stage.
 * Return: 0.
 */
int perf_event_init_cpu(unsigned int cpu)
{
	struct pe_cpu *pcpu = &per_cpu(pe_cpu, cpu);

	if (!cpu_online(cpu))
		return 0;
	mutex_lock(&pcpu->ctx.mutex);
	smp_call_function_single(cpu, enter_oncpu, NULL, 1);
	pcpu->online = true;
	mutex_unlock(&pcpu->ctx.mutex);
	return 0;
}

/**
 * perf_event_exit_cpu() - a CPU is about to go down, or has gone
 * @cpu: the CPU
 *
 * Contract; called in the online stage (on its way down, the CPU runs) and in the prepare stage.
 * Return: 0.
 */
int perf_event_exit_cpu(unsigned int cpu)
{
	struct pe_cpu *pcpu = &per_cpu(pe_cpu, cpu);

	mutex_lock(&pcpu->ctx.mutex);
	pcpu->online = false;
	if (cpu_online(cpu))
		smp_call_function_single(cpu, leave_oncpu, NULL, 1);
	mutex_unlock(&pcpu->ctx.mutex);
	return 0;
}

/* At boot, on the boot CPU. */
void __init pe_hotplug_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct pe_cpu *pcpu = &per_cpu(pe_cpu, cpu);

		INIT_LIST_HEAD(&pcpu->sched_cb);
		pe_ctx_init(&pcpu->ctx, NULL, cpu);
	}
	/* Too early for a cross call. */
	scoped_guard(irqsave)
		enter_oncpu(NULL);
	this_cpu_ptr(&pe_cpu)->online = true;
}
