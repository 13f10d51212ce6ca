// SPDX-License-Identifier: GPL-2.0
/*
 * A PMU comes: its share of each CPU's context, the operations that its driver left out, its
 * device.  And what takes its place in events that outlive it.
 *
 * Drivers call perf_pmu_register() in task context; how a PMU leaves is in pmu_leave.c.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>

#include "life.h"

/* Milliseconds between two rotations of a PMU whose driver has no opinion: a tick. */
#define DEFAULT_MUX_MS	max(1, 1000 / HZ)

/*
 * Operations that a driver left out.  A group goes on while the core has its PMU off, so without
 * transactions of the driver's own the registers are written once all the same.
 */
static void pe_pmu_no_start_txn(struct pmu *pmu, unsigned int what) { }
static int pe_pmu_no_commit_txn(struct pmu *pmu) { return 0; }
static void pe_pmu_no_op(struct pmu *pmu) { }
static int pe_pmu_any_period(struct perf_event *event, u64 value) { return 0; }
static int pe_pmu_no_index(struct perf_event *event) { return 0; }

static void fill_in_operations(struct pmu *pmu)
{
	if (!pmu->start_txn) {
		pmu->start_txn = pe_pmu_no_start_txn;
		pmu->commit_txn = pe_pmu_no_commit_txn;
		pmu->cancel_txn = pe_pmu_no_op;
	}
	if (!pmu->pmu_enable) {
		pmu->pmu_enable = pe_pmu_no_op;
		pmu->pmu_disable = pe_pmu_no_op;
	}
	pmu->check_period = pmu->check_period ?: pe_pmu_any_period;
	pmu->event_idx = pmu->event_idx ?: pe_pmu_no_index;
}

static int alloc_percpu_state(struct pmu *pmu)
{
	int cpu;

	pmu->pmu_disable_count = alloc_percpu(int);
	pmu->cpu_pmu_context = alloc_percpu(struct perf_cpu_pmu_context);
	if (!pmu->pmu_disable_count || !pmu->cpu_pmu_context)
		return -ENOMEM;

	if (pmu->hrtimer_interval_ms < 1)
		pmu->hrtimer_interval_ms = DEFAULT_MUX_MS;
	for_each_possible_cpu(cpu) {
		struct perf_cpu_pmu_context *cpc = per_cpu_ptr(pmu->cpu_pmu_context, cpu);

		INIT_LIST_HEAD(&cpc->sched_cb_entry);
		spin_lock_init(&cpc->roster.lock);
		INIT_LIST_HEAD(&cpc->roster.lists[PE_ROSTER_EVENTS]);
		INIT_LIST_HEAD(&cpc->roster.lists[PE_ROSTER_PMU_CTXS]);
		pe_pmu_ctx_init(&cpc->cpu_pmu_ctx, &per_cpu(pe_cpu, cpu).ctx, pmu);
		pe_mux_init(cpc);
	}
	return 0;
}

/*
 * The CPU contexts go on without this PMU.  No event of it is left, so its lanes are empty.
 */
static void leave_cpu_contexts(struct pmu *pmu)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct perf_cpu_pmu_context *cpc = per_cpu_ptr(pmu->cpu_pmu_context, cpu);
		struct pe_ctx *ctx = cpc->cpu_pmu_ctx.ctx;

		hrtimer_cancel(&cpc->mux);
		guard(mutex)(&ctx->mutex);
		pe_pmu_ctx_fini(&cpc->cpu_pmu_ctx);
	}
}

/* Frees what registration made, however far it came; the PMU is on no list. */
static void free_state(struct pmu *pmu)
{
	pe_pmu_dev_free(pmu);
	free_percpu(pmu->cpu_pmu_context);
	free_percpu(pmu->pmu_disable_count);
}

int perf_pmu_register(struct pmu *pmu, const char *name, int type)
{
	int ret;

	if (WARN_ONCE(!name, "perf: a PMU needs a name\n") ||
	    WARN_ONCE(pmu->scope >= PERF_PMU_MAX_SCOPE, "perf: PMU %s has no valid scope\n", name))
		return -EINVAL;

	guard(mutex)(&pe_pmus_lock);
	pmu->name = name;
	ret = pe_pmu_reserve(pmu, type);
	if (ret)
		return ret;

	pmu->gone = false;
	atomic_set(&pmu->exclusive_cnt, 0);
	fill_in_operations(pmu);
	ret = alloc_percpu_state(pmu);
	if (!ret)
		ret = pe_pmu_dev_alloc(pmu);
	if (ret) {
		pe_pmu_unreserve(pmu);
		free_state(pmu);
		return ret;
	}

	pe_pmu_enlist(pmu);
	return 0;
}
EXPORT_SYMBOL_GPL(perf_pmu_register);

/**
 * pe_pmu_free() - free what registration made
 * @pmu: a PMU that has left the registry, without events and PMU contexts of tasks
 *
 * Task context.
 */
void pe_pmu_free(struct pmu *pmu)
{
	leave_cpu_contexts(pmu);
	free_state(pmu);
}

static int pe_pmu_gone_init(struct perf_event *event)
{
	return -ENODEV;
}

static int pe_pmu_gone_add(struct perf_event *event, int flags)
{
	return -ENODEV;
}

static void pe_pmu_gone_op(struct perf_event *event, int flags) { }
static void pe_pmu_gone_read(struct perf_event *event) { }

static struct pmu gone_pmu = {
	.name		= "gone",
	.task_ctx_nr	= perf_invalid_context,
	.capabilities	= PERF_PMU_CAP_NO_INTERRUPT,
	.module		= NULL,
	.event_init	= pe_pmu_gone_init,
	.add		= pe_pmu_gone_add,
	.del		= pe_pmu_gone_op,
	.start		= pe_pmu_gone_op,
	.stop		= pe_pmu_gone_op,
	.read		= pe_pmu_gone_read,
	.start_txn	= pe_pmu_no_start_txn,
	.commit_txn	= pe_pmu_no_commit_txn,
	.cancel_txn	= pe_pmu_no_op,
	.check_period	= pe_pmu_any_period,
	.event_idx	= pe_pmu_no_index,
	.lasting	= true,
	.gone		= true,
};

/**
 * pe_pmu_revoke() - the PMU of an event leaves before the event does, and has forgotten it
 * @e: an event after pe_pmu_leave(); ctx->mutex held
 *
 * Its driver is rid of it afterwards, but for its module: code of the driver may have to free the
 * event's AUX area.  Readers of e->pmu without ctx->mutex or e->mmap_mutex do it in a
 * pe_pmus_read_lock() section or with irqs off.
 */
void pe_pmu_revoke(struct pe_event *e)
{
	guard(mutex)(&e->mmap_mutex);
	WRITE_ONCE(e->pmu, &gone_pmu);
}
