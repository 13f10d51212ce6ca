// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs come and go.
 *
 * A CPU context exists from boot for every possible CPU.  It is in while its CPU is online.
 *
 *	up, prepare	the CPU does not run: timers that it left behind are stopped
 *	up, online	its context comes in, events can be opened, PMU scopes without a CPU get it
 *	down, online	for PMUs with a scope another CPU takes over, with the events; all other
 *			events of the CPU leave for good: they are OFF, alone, and can be read;
 *			those of sessions leave their families
 *	down, prepare	nothing is left
 *
 * Drivers with CPU masks of their own move their events before, in their own callbacks.  Events
 * that left do not come back with the CPU, as always; new ones are refused while it is away
 * (-ENODEV).  Events of a task that name the CPU just wait for it.
 *
 * Called by the hotplug core, at boot and before a reboot, in task context.
 */

#include <linux/reboot.h>
#include "life.h"

static void pe_cpu_enter(void *info)
{
	struct pe_ctx *ctx = this_cpu_ptr(&pe_cpu.ctx);

	pe_lock_here(NULL);
	if (ctx->oncpu < 0)
		pe_ctx_in(ctx, NULL, pe_now());
	pe_unlock_here(NULL);
	pe_cgroup_follow(current);
}

/* Out first: no group is scheduled in place of those that leave. */
static void pe_cpu_leave(void *info)
{
	struct pe_ctx *ctx = this_cpu_ptr(&pe_cpu.ctx);
	struct pe_event *e, *next;
	u64 now = pe_now();

	pe_cgroup_leave_all();
	pe_lock_here(NULL);
	if (ctx->oncpu >= 0)
		pe_ctx_out(ctx, now);
	list_for_each_entry_safe(e, next, &ctx->events, ctx_entry)
		pe_withdraw(e, PE_LEAVE_GROUP, now);
	pe_unlock_here(NULL);
}

/* For each PMU, which stays registered meanwhile. */
static void each_pmu(void (*fn)(struct pmu *pmu, int cpu, const unsigned int *heir), int cpu,
		     const unsigned int *heir)
{
	int idx = pe_pmus_read_lock();
	struct pmu *pmu;

	list_for_each_entry_rcu(pmu, &pe_pmus, entry, true)
		fn(pmu, cpu, heir);
	pe_pmus_read_unlock(idx);
}

static void pe_cpu_forget_timer(struct pmu *pmu, int cpu, const unsigned int *heir)
{
	pe_mux_forget(per_cpu_ptr(pmu->cpu_pmu_context, cpu));
}

/*
 * @heir: for each scope, the CPU that stands for the instance from now on, if it was @cpu before.
 */
static void pe_cpu_hand_over(struct pmu *pmu, int cpu, const unsigned int *heir)
{
	if (heir[pmu->scope] < nr_cpu_ids)
		perf_pmu_migrate_context(pmu, cpu, heir[pmu->scope]);
}

static void leave_scopes(int cpu)
{
	unsigned int heir[PERF_PMU_MAX_SCOPE];
	unsigned int scope;

	heir[PERF_PMU_SCOPE_NONE] = nr_cpu_ids;
	for (scope = PERF_PMU_SCOPE_NONE + 1; scope < PERF_PMU_MAX_SCOPE; scope++)
		heir[scope] = pe_scope_cpu_down(cpu, scope);
	each_pmu(pe_cpu_hand_over, cpu, heir);
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

	if (!cpu_online(cpu)) {
		each_pmu(pe_cpu_forget_timer, cpu, NULL);
		return 0;
	}
	pe_scope_cpu_up(cpu);
	mutex_lock(&pcpu->ctx.mutex);
	smp_call_function_single(cpu, pe_cpu_enter, NULL, 1);
	pcpu->online = true;
	mutex_unlock(&pcpu->ctx.mutex);
	pe_session_cpu_comes(cpu);
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

	if (!cpu_online(cpu))
		return 0;
	leave_scopes(cpu);
	mutex_lock(&pcpu->ctx.mutex);
	pcpu->online = false;
	pe_session_cpu_goes(&pcpu->ctx);
	smp_call_function_single(cpu, pe_cpu_leave, NULL, 1);
	mutex_unlock(&pcpu->ctx.mutex);
	return 0;
}

/* No counter interrupts while the machine goes down.  After all others have been told. */
static int pe_cpu_stop_all(struct notifier_block *self, unsigned long action, void *data)
{
	int cpu;

	for_each_online_cpu(cpu)
		perf_event_exit_cpu(cpu);
	return NOTIFY_OK;
}

static struct notifier_block at_reboot = {
	.notifier_call	= pe_cpu_stop_all,
	.priority	= INT_MIN,
};

/* At boot, on the boot CPU. */
void __init pe_hotplug_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct pe_cpu *pcpu = &per_cpu(pe_cpu, cpu);

		INIT_LIST_HEAD(&pcpu->sched_cb);
		pcpu->throttle_seq = ((u64)cpu << 48) + 1;
		pe_ctx_init(&pcpu->ctx, NULL, cpu);
	}
	/* Too early for a cross call. */
	scoped_guard(irqsave)
		pe_cpu_enter(NULL);
	this_cpu_ptr(&pe_cpu)->online = true;
	pe_scope_cpu_up(smp_processor_id());
	register_reboot_notifier(&at_reboot);
}
