// SPDX-License-Identifier: GPL-2.0
/*
 * A context comes in on a CPU and goes out: that of a task with the task, that of a CPU with it.
 *
 * At a switch irqs are off and the run queue is locked, so no wake-up may happen here; a task that
 * must be told is told from an irq_work.  The scheduler's two calls arrive in
 * sources/task_switch.c.
 *
 * A context with passive events only has clocks to start and stop and nothing else: its CPU's
 * context is not locked and no PMU is touched.  Whether a context has groups to schedule is read
 * before its lock is taken, because the CPU context's lock comes first.  Going out, the number is
 * stable: a context that is in here gets groups only on this CPU.  Coming in it is looked at again
 * under the lock, and if another CPU has just added the first group, the locks are taken anew.
 */

#include "sched.h"

static void start_clocks(struct pe_ctx *ctx, u64 now)
{
	pe_clock_start(&ctx->clock, now);
	pe_clock_start(&ctx->any.clock, now);
	if (ctx->here)
		pe_clock_start(&ctx->here->clock, now);
}

static void stop_clocks(struct pe_ctx *ctx, u64 now)
{
	pe_clock_stop(&ctx->clock, now);
	pe_clock_stop(&ctx->any.clock, now);
	if (ctx->here)
		pe_clock_stop(&ctx->here->clock, now);
}

static bool has_pinned(struct pe_pmu_ctx *pmu_ctx)
{
	struct pe_lane *lane;

	if (!list_empty(&pmu_ctx->any.queue[PE_PINNED].head))
		return true;
	if (likely(!pmu_ctx->ctx->here))
		return false;
	lane = pe_pmu_ctx_lane(pmu_ctx, pmu_ctx->ctx->here);
	return lane && !group_queue_empty(&lane->queue[PE_PINNED]);
}

static void pmu_ctx_enter(struct pe_pmu_ctx *pmu_ctx, struct task_struct *comes, u64 now)
{
	struct perf_cpu_pmu_context *cpc = pe_cpc(pmu_ctx->pmu);
	struct pe_pmu_ctx *cpu_pmu_ctx = &cpc->cpu_pmu_ctx;

	perf_pmu_disable(pmu_ctx->pmu);
	if (pmu_ctx != cpu_pmu_ctx)	/* it is when a CPU comes back online with events */
		cpc->task_pmu_ctx = pmu_ctx;
	if (has_pinned(pmu_ctx)) {
		if (!list_empty(&cpu_pmu_ctx->running[PE_FLEXIBLE]))
			pe_pmu_ctx_out(cpu_pmu_ctx, PE_CLASS_FLEXIBLE, now);
		pe_pmu_ctx_in(pmu_ctx, PE_PINNED, now);
		pe_pmu_ctx_in(cpu_pmu_ctx, PE_FLEXIBLE, now);
	} else if (cpu_pmu_ctx->starved) {
		pe_pmu_ctx_in(cpu_pmu_ctx, PE_FLEXIBLE, now);
	}
	pe_pmu_ctx_in(pmu_ctx, PE_FLEXIBLE, now);
	/* Before anything counts: a sample must not show the branches of the task before. */
	if (unlikely(cpc->sched_cb_usage) && comes)
		pe_tell_pmu_of_switch(pmu_ctx, comes, PE_COMES_IN);
	perf_pmu_enable(pmu_ctx->pmu);
}

/*
 * User space computes the times of a running event from the machine's clock and the control page,
 * so the page has to know that the task was away.  Drivers do this for scheduled events.  Sets that
 * wait for their turn are not scheduled.
 */
void pe_slot_refresh_pages(struct pe_slot *slot)
{
	struct pe_event *e;

	list_for_each_entry(e, &slot->mapped, mapped_entry)
		if (pe_is_passive(e) || pe_leader(e)->parked)
			perf_event_update_userpage(&e->pub);
}

/* pe_ctx_in() */
static __always_inline void come_in(struct pe_ctx *ctx, struct task_struct *comes, u64 now)
{
	int cpu = smp_processor_id();
	struct pe_pmu_ctx *pmu_ctx;

	lockdep_assert_held(&ctx->lock);
	WRITE_ONCE(ctx->here, ctx->by_cpu ? ctx->by_cpu[cpu] : NULL);
	start_clocks(ctx, now);
	WRITE_ONCE(ctx->oncpu, cpu);
	pe_slot_refresh_pages(&ctx->any);
	if (ctx->here)
		pe_slot_refresh_pages(ctx->here);
	if (!ctx->nr_groups)
		return;
	list_for_each_entry(pmu_ctx, &ctx->pmu_ctxs, ctx_entry)
		if (pmu_ctx->nr_groups)
			pmu_ctx_enter(pmu_ctx, comes, now);
}

/**
 * pe_ctx_in() - a context comes in on this CPU
 * @ctx: the context, locked; with groups to schedule, this CPU's context is locked too
 * @comes: its task, if a switch brings it; else NULL
 * @now: pe_now()
 */
void pe_ctx_in(struct pe_ctx *ctx, struct task_struct *comes, u64 now)
{
	come_in(ctx, comes, now);
}

/* pe_ctx_out() */
static __always_inline void go_out(struct pe_ctx *ctx, u64 now)
{
	struct pe_pmu_ctx *pmu_ctx;

	lockdep_assert_held(&ctx->lock);
	if (ctx->nr_groups) {
		list_for_each_entry(pmu_ctx, &ctx->pmu_ctxs, ctx_entry) {
			if (!pmu_ctx->nr_groups)
				continue;
			/* Held until oncpu is gone: pmu_enable() asks perf_cpu_task_ctx(). */
			perf_pmu_disable(pmu_ctx->pmu);
			pe_pmu_ctx_out(pmu_ctx, PE_CLASS_ALL, now);
			if (ctx->task)
				pe_cpc(pmu_ctx->pmu)->task_pmu_ctx = NULL;
		}
	}
	stop_clocks(ctx, now);
	WRITE_ONCE(ctx->here, NULL);
	WRITE_ONCE(ctx->oncpu, -1);
	if (ctx->nr_groups) {
		list_for_each_entry(pmu_ctx, &ctx->pmu_ctxs, ctx_entry)
			if (pmu_ctx->nr_groups)
				perf_pmu_enable(pmu_ctx->pmu);
	}
}

/**
 * pe_ctx_out() - a context leaves this CPU
 * @ctx: as for pe_ctx_in()
 * @now: pe_now()
 */
void pe_ctx_out(struct pe_ctx *ctx, u64 now)
{
	go_out(ctx, now);
}

/* Locks @ctx, and this CPU's context before it if there are groups. Return: both are locked. */
static bool lock_for_switch(struct pe_ctx *ctx)
	__acquires(&ctx->lock)
{
	for (;;) {
		if (READ_ONCE(ctx->nr_groups)) {
			pe_lock_here(ctx);
			return true;
		}
		raw_spin_lock(&ctx->lock);
		if (likely(!ctx->nr_groups))
			return false;
		raw_spin_unlock(&ctx->lock);
	}
}

static void unlock_after_switch(struct pe_ctx *ctx, bool both)
	__releases(&ctx->lock)
{
	if (both)
		pe_unlock_here(ctx);
	else
		raw_spin_unlock(&ctx->lock);
}

/**
 * pe_ctx_enter_current() - let the context in that counts for current, if it has events and is out
 * @ctx: its context, or one of its kin
 * @comes: as for pe_ctx_in()
 * @home: this CPU for a context of a kin, else -1
 *
 * Irqs off.  Return: false if the context has moved to another CPU.
 */
bool pe_ctx_enter_current(struct pe_ctx *ctx, struct task_struct *comes, int home)
{
	bool both = lock_for_switch(ctx), here = ctx->home == home;

	if (likely(here) && ctx->nr_events && ctx->oncpu < 0 && !ctx->dead)
		come_in(ctx, comes, pe_now());
	unlock_after_switch(ctx, both);
	return here;
}

/**
 * pe_tell_pmus_of_switch() - tell the PMUs of this CPU that save something per task
 * @task: it goes out or comes in
 * @which: which of the two
 * @told: but for those of this context, which know already; or NULL
 *
 * Irqs off.
 */
void pe_tell_pmus_of_switch(struct task_struct *task, enum pe_switch which,
			    const struct pe_ctx *told)
{
	struct pe_cpu *pcpu = this_cpu_ptr(&pe_cpu);
	struct pe_ctx *ctx = pe_current_ctx();
	struct perf_cpu_pmu_context *cpc, *next;

	pe_lock_here(ctx);
	/* A PMU may have enough of it. */
	list_for_each_entry_safe(cpc, next, &pcpu->sched_cb, sched_cb_entry) {
		struct pe_pmu_ctx *pmu_ctx = cpc->task_pmu_ctx ?: &cpc->cpu_pmu_ctx;
		struct pmu *pmu = cpc->cpu_pmu_ctx.pmu;

		if (WARN_ON_ONCE(!pmu->sched_task) || (told && pmu_ctx->ctx == told))
			continue;
		perf_pmu_disable(pmu);
		pe_tell_pmu_of_switch(pmu_ctx, task, which);
		perf_pmu_enable(pmu);
	}
	pe_unlock_here(ctx);
}

/**
 * pe_ctx_leave_current() - the current task's context goes out with the task
 * @ctx: its context, or one of its kin
 *
 * Irqs off.
 */
void pe_ctx_leave_current(struct pe_ctx *ctx)
{
	bool both = lock_for_switch(ctx);

	if (likely(ctx->oncpu == smp_processor_id()))
		go_out(ctx, pe_now());
	unlock_after_switch(ctx, both);
}

/* Contract: one more event of @pmu on this CPU wants pmu->sched_task; from pmu->add, irqs off. */
void perf_sched_cb_inc(struct pmu *pmu)
{
	struct perf_cpu_pmu_context *cpc = pe_cpc(pmu);

	lockdep_assert_irqs_disabled();
	if (!cpc->sched_cb_usage++)
		list_add(&cpc->sched_cb_entry, this_cpu_ptr(&pe_cpu.sched_cb));
}

void perf_sched_cb_dec(struct pmu *pmu)
{
	struct perf_cpu_pmu_context *cpc = pe_cpc(pmu);

	lockdep_assert_irqs_disabled();
	if (!--cpc->sched_cb_usage)
		list_del(&cpc->sched_cb_entry);
}
