// SPDX-License-Identifier: GPL-2.0
/*
 * Multiplexing: when the eligible flexible groups of a PMU do not all fit, take turns.
 *
 * Each PMU has a timer per CPU.  It is armed when a group is turned away and runs, with the PMU's
 * interval (perf_event_mux_interval_ms in sysfs), until a turn ends with no group starved.  A turn
 * takes flexible groups off, moves the first group that was running to the end of its queue, and
 * puts on what fits.  The CPU's groups go on before the task's, so when the CPU's have to move,
 * the task's go off first.
 *
 * The timer interrupt is a hard irq on its own CPU; it takes the CPU context's lock and the
 * current task's.
 */

#include "sched.h"
#include "../cost.h"

/*
 * The first group that runs in a class is the oldest in its queue; the queue goes on from there.
 * If none runs, the first of the queue does not fit beside what has priority: now others may try.
 */
static void move_first_to_end(struct pe_pmu_ctx *pmu_ctx)
{
	struct pe_event *leader = list_first_entry_or_null(&pmu_ctx->running[PE_FLEXIBLE],
							   struct pe_event, running_entry);
	struct pe_lane *lane;

	if (!leader)
		leader = pe_pmu_ctx_first_waiting(pmu_ctx);
	if (!leader)
		return;
	lane = pe_pmu_ctx_lane(pmu_ctx, leader->slot);
	group_queue_remove(&leader->queue);
	group_queue_append(&lane->queue[PE_FLEXIBLE], &leader->queue, pmu_ctx->ctx->next_seq++);
}

/* Return: a group was starved, so the timer goes on. */
static bool take_turn(struct perf_cpu_pmu_context *cpc)
{
	struct pe_pmu_ctx *cpu_pmu_ctx = &cpc->cpu_pmu_ctx;
	struct pe_pmu_ctx *task_pmu_ctx = cpc->task_pmu_ctx;
	bool cpu_starved = cpu_pmu_ctx->starved;
	bool task_starved = task_pmu_ctx && task_pmu_ctx->starved;
	u64 now = pe_now();

	if (!cpu_starved && !task_starved)
		return false;

	perf_pmu_disable(cpu_pmu_ctx->pmu);
	if (task_pmu_ctx) {
		if (task_starved)
			move_first_to_end(task_pmu_ctx);
		pe_pmu_ctx_out(task_pmu_ctx, PE_CLASS_FLEXIBLE, now);
	}
	if (cpu_starved) {
		move_first_to_end(cpu_pmu_ctx);
		pe_pmu_ctx_out(cpu_pmu_ctx, PE_CLASS_FLEXIBLE, now);
		pe_pmu_ctx_in(cpu_pmu_ctx, PE_FLEXIBLE, now);
	}
	if (task_pmu_ctx)
		pe_pmu_ctx_in(task_pmu_ctx, PE_FLEXIBLE, now);
	perf_pmu_enable(cpu_pmu_ctx->pmu);
	return true;
}

static enum hrtimer_restart fire(struct hrtimer *timer)
{
	struct perf_cpu_pmu_context *cpc = container_of(timer, struct perf_cpu_pmu_context, mux);
	struct pe_ctx *task_ctx = pe_current_ctx();
	bool again;

	lockdep_assert_irqs_disabled();
	pe_lock_here(task_ctx);
	/* The timers of a CPU that goes offline move to another one. */
	again = cpc == pe_cpc(cpc->cpu_pmu_ctx.pmu) && take_turn(cpc);
	raw_spin_lock(&cpc->mux_lock);
	if (again)
		hrtimer_forward_now(timer, cpc->mux_interval);
	else
		cpc->mux_armed = false;
	raw_spin_unlock(&cpc->mux_lock);
	pe_unlock_here(task_ctx);
	return again ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static enum hrtimer_restart pe_mux_fires(struct hrtimer *timer)
{
	enum hrtimer_restart ret;
	u64 begin;

	if (likely(!pe_cost_wanted()))
		return fire(timer);
	begin = pe_now();
	ret = fire(timer);
	pe_cost_add(PE_COST_ROTATION, 1, pe_now() - begin);
	return ret;
}

/**
 * pe_mux_arm() - start the rotation timer of a PMU on this CPU, if it does not run
 * @cpc: the PMU on this CPU; irqs off
 */
void pe_mux_arm(struct perf_cpu_pmu_context *cpc)
{
	lockdep_assert_irqs_disabled();
	raw_spin_lock(&cpc->mux_lock);
	if (!cpc->mux_armed) {
		cpc->mux_armed = true;
		hrtimer_forward_now(&cpc->mux, cpc->mux_interval);
		hrtimer_start_expires(&cpc->mux, HRTIMER_MODE_ABS_PINNED_HARD);
	}
	raw_spin_unlock(&cpc->mux_lock);
}

/**
 * pe_mux_forget() - the CPU of a timer is offline
 * @cpc: the PMU on that CPU
 *
 * Task context.  The timer may have gone to another CPU; it starts afresh when its own comes back,
 * even if the turn that it was to end would not be over yet.
 */
void pe_mux_forget(struct perf_cpu_pmu_context *cpc)
{
	hrtimer_cancel(&cpc->mux);
	hrtimer_set_expires(&cpc->mux, 0);
	cpc->mux_armed = false;
}

/**
 * pe_mux_init() - prepare the rotation timer of a PMU on one CPU
 * @cpc: the PMU on a CPU, cpu_pmu_ctx initialised
 */
void pe_mux_init(struct perf_cpu_pmu_context *cpc)
{
	raw_spin_lock_init(&cpc->mux_lock);
	cpc->mux_interval = ms_to_ktime(cpc->cpu_pmu_ctx.pmu->hrtimer_interval_ms);
	hrtimer_init(&cpc->mux, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	cpc->mux.function = pe_mux_fires;
}

/**
 * pe_mux_set_interval() - change the rotation interval of a PMU on all CPUs
 * @pmu: the PMU
 * @ms: milliseconds, at least 1
 *
 * The caller holds cpus_read_lock().  A timer that runs takes it up at its next turn.
 */
void pe_mux_set_interval(struct pmu *pmu, int ms)
{
	int cpu;

	pmu->hrtimer_interval_ms = ms;
	for_each_possible_cpu(cpu) {
		struct perf_cpu_pmu_context *cpc = per_cpu_ptr(pmu->cpu_pmu_context, cpu);

		raw_spin_lock_irq(&cpc->mux_lock);
		cpc->mux_interval = ms_to_ktime(ms);
		raw_spin_unlock_irq(&cpc->mux_lock);
	}
}
