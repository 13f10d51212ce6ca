// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of PMUs: who is there, and which one an event belongs to.
 *
 * Drivers call perf_pmu_register() and perf_pmu_unregister() in task context; event.c calls
 * pe_pmu_bind_event() when it makes an event, and pe_pmu_unbind_event() when it frees one.  The
 * scheduling layer and drivers call perf_pmu_disable() and perf_pmu_enable() with irqs off.
 *
 * A PMU is found by its type through an IDR, or by asking all of them.  The number is reserved
 * (with a NULL pointer) before the PMU is set up, and the pointer stored when everything else is
 * done, so a reader sees a finished PMU or none.  Both the IDR and the list are changed under
 * pe_pmus_lock.  Readers are in an SRCU section, because event_init() sleeps in the middle of a
 * walk; unregistering waits for SRCU, hence for every event_init() that could have found the PMU,
 * and for RCU on behalf of the IDR.  Afterwards nobody can use the PMU but its events, and those
 * hold its module.
 *
 * Which PMU gets an event
 *
 *   attr.type is a registered number: that PMU, with nobody else asked, except for
 *   PERF_TYPE_HARDWARE and PERF_TYPE_HW_CACHE.  Those name no PMU but a way to write events.  The
 *   upper half of attr.config may say which PMU is meant; without it the PMU of PERF_TYPE_RAW is
 *   asked first, and if it does not know the event, all PMUs.
 *   attr.type is not registered: all PMUs are asked, the latest registered first; the first answer
 *   other than -ENOENT decides.
 *   An inherited event: the PMU of its parent.
 *
 * Locks: pe_pmus_lock is taken in task context and is outermost but for CPU hotplug.  While
 * event_init() validates a new sibling, the ctx->mutex of the leader keeps the group stable;
 * pe_pmu_bind_event() takes it for opened events and inherit.c for its copies.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/perf_regs.h>
#include <linux/srcu.h>
#include <linux/topology.h>
#include "parts.h"

/* Milliseconds between two rotations of a PMU whose driver has no opinion: a tick. */
#define DEFAULT_MUX_MS	max(1, 1000 / HZ)

DEFINE_MUTEX(pe_pmus_lock);		/* who is registered */
LIST_HEAD(pe_pmus);

DEFINE_STATIC_SRCU(readers);
static DEFINE_IDR(by_type);			/* pe_pmus_lock; readers: RCU */

/**
 * pe_pmus_read_lock() - keep all PMUs of pe_pmus registered
 *
 * Task context; the section may sleep.  Return: what pe_pmus_read_unlock() wants.
 */
int pe_pmus_read_lock(void)
	__acquires(&readers)
{
	return srcu_read_lock(&readers);
}

void pe_pmus_read_unlock(int idx)
	__releases(&readers)
{
	srcu_read_unlock(&readers, idx);
}

/* ------------------------------------------------------------ on the event's CPU */

void perf_pmu_disable(struct pmu *pmu)
{
	if (this_cpu_inc_return(*pmu->pmu_disable_count) == 1)
		pmu->pmu_disable(pmu);
}

void perf_pmu_enable(struct pmu *pmu)
{
	if (this_cpu_dec_return(*pmu->pmu_disable_count) == 0)
		pmu->pmu_enable(pmu);
}

/*
 * Operations that a driver left out.
 *
 * A driver that can switch its PMU off but has no transactions gets some that switch it off for
 * the whole group, so that its registers are written once.  It matters for adding only.  Neither
 * commit nor cancel are told what they end, hence the per-CPU note; transactions do not nest.
 */
static DEFINE_PER_CPU(unsigned int, txn_open);

static void batch_start(struct pmu *pmu, unsigned int what)
{
	__this_cpu_write(txn_open, what);
	if (what == PERF_PMU_TXN_ADD)
		perf_pmu_disable(pmu);
}

static void batch_cancel(struct pmu *pmu)
{
	unsigned int what = __this_cpu_xchg(txn_open, 0);

	if (what == PERF_PMU_TXN_ADD)
		perf_pmu_enable(pmu);
}

static int batch_commit(struct pmu *pmu)
{
	batch_cancel(pmu);
	return 0;
}

static void no_start_txn(struct pmu *pmu, unsigned int what) { }
static int no_commit_txn(struct pmu *pmu) { return 0; }
static void no_pmu_op(struct pmu *pmu) { }
static int any_period(struct perf_event *event, u64 value) { return 0; }
static int no_index(struct perf_event *event) { return 0; }

static void fill_in_operations(struct pmu *pmu)
{
	if (!pmu->start_txn) {
		bool batch = pmu->pmu_enable;

		pmu->start_txn = batch ? batch_start : no_start_txn;
		pmu->commit_txn = batch ? batch_commit : no_commit_txn;
		pmu->cancel_txn = batch ? batch_cancel : no_pmu_op;
	}
	if (!pmu->pmu_enable) {
		pmu->pmu_enable = no_pmu_op;
		pmu->pmu_disable = no_pmu_op;
	}
	pmu->check_period = pmu->check_period ?: any_period;
	pmu->event_idx = pmu->event_idx ?: no_index;
}

/* ------------------------------------------------------------------ registration */

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
		pe_part_init(&cpc->cpu_part, &per_cpu(pe_cpu, cpu).ctx, pmu);
		pe_mux_init(cpc, cpu);
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
		struct pctx *ctx = cpc->cpu_part.ctx;

		hrtimer_cancel(&cpc->mux);
		guard(mutex)(&ctx->mutex);
		pe_part_fini(&cpc->cpu_part);
	}
}

/* Frees what registration made, however far it came; the PMU is on no list. */
static void free_state(struct pmu *pmu)
{
	pe_pmu_dev_free(pmu);
	free_percpu(pmu->cpu_pmu_context);
	free_percpu(pmu->pmu_disable_count);
	pmu->cpu_pmu_context = NULL;
	pmu->pmu_disable_count = NULL;
}

static int reserve_type(int type)
{
	int id;

	if (type < 0)
		return idr_alloc(&by_type, NULL, PERF_TYPE_MAX, 0, GFP_KERNEL);
	id = idr_alloc(&by_type, NULL, type, type + 1, GFP_KERNEL);
	return id == -ENOSPC ? -EEXIST : id;
}

int perf_pmu_register(struct pmu *pmu, const char *name, int type)
{
	int ret;

	if (WARN_ONCE(!name, "perf: a PMU needs a name\n") ||
	    WARN_ONCE(pmu->scope >= PERF_PMU_MAX_SCOPE, "perf: PMU %s has no valid scope\n", name))
		return -EINVAL;

	guard(mutex)(&pe_pmus_lock);
	pmu->name = name;
	pmu->type = reserve_type(type);
	if (pmu->type < 0)
		return pmu->type;

	atomic_set(&pmu->exclusive_cnt, 0);
	fill_in_operations(pmu);
	ret = alloc_percpu_state(pmu);
	if (!ret)
		ret = pe_pmu_dev_alloc(pmu);
	if (ret) {
		idr_remove(&by_type, pmu->type);
		free_state(pmu);
		return ret;
	}

	idr_replace(&by_type, pmu, pmu->type);
	list_add_rcu(&pmu->entry, &pe_pmus);
	return 0;
}
EXPORT_SYMBOL_GPL(perf_pmu_register);

void perf_pmu_unregister(struct pmu *pmu)
{
	scoped_guard(mutex, &pe_pmus_lock) {
		list_del_rcu(&pmu->entry);
		idr_remove(&by_type, pmu->type);
	}
	synchronize_srcu(&readers);
	synchronize_rcu();

	leave_cpu_contexts(pmu);
	free_state(pmu);
}
EXPORT_SYMBOL_GPL(perf_pmu_unregister);

/**
 * pe_pmu_init() - make the registry usable
 *
 * At boot, before the first PMU.  Return: 0.
 */
int __init pe_pmu_init(void)
{
	return 0;	/* everything here is initialised at build time */
}

/* ------------------------------------------------------------------- PMU scopes */

/**
 * pe_scope_cpus() - the CPUs that share an instance of a PMU with @cpu
 * @scope: enum perf_pmu_scope
 * @cpu: any possible CPU
 *
 * Return: the mask, or NULL for PERF_PMU_SCOPE_NONE.  It may name offline CPUs.
 */
const struct cpumask *pe_scope_cpus(unsigned int scope, int cpu)
{
	switch (scope) {
	case PERF_PMU_SCOPE_CORE:
		return topology_sibling_cpumask(cpu);
	case PERF_PMU_SCOPE_DIE:
		return topology_die_cpumask(cpu);
	case PERF_PMU_SCOPE_CLUSTER:
		return topology_cluster_cpumask(cpu);
	case PERF_PMU_SCOPE_PKG:
		return topology_core_cpumask(cpu);
	case PERF_PMU_SCOPE_SYS_WIDE:
		return cpu_online_mask;
	default:
		return NULL;
	}
}

/* ------------------------------------------------------------- an event's PMU */

/* What the core knows better than the driver.  After event_init() said yes. */
static int check_capabilities(struct pmu *pmu, struct pevent *e)
{
	u64 regs = e->attr.sample_regs_user | e->attr.sample_regs_intr;

	if ((regs & PERF_REG_EXTENDED_MASK) && !(pmu->capabilities & PERF_PMU_CAP_EXTENDED_REGS))
		return -EOPNOTSUPP;
	if ((pmu->capabilities & PERF_PMU_CAP_NO_EXCLUDE) && event_has_any_exclude_flag(&e->pub))
		return -EINVAL;
	if (pmu->scope != PERF_PMU_SCOPE_NONE && e->cpu >= 0) {
		if (!cpumask_intersects(pe_scope_cpus(pmu->scope, e->cpu), cpu_online_mask))
			return -ENODEV;
		e->event_caps |= PERF_EV_CAP_READ_SCOPE;
	}
	return 0;
}

/*
 * Keeps the group that @e is about to join as it is: event_init() may walk it.  Of an inherited
 * group the context is still the forking task's own, which holds its mutex.
 *
 * Only perf_pmu_migrate_context() changes the context of a leader, always between CPU contexts,
 * which are never freed; then look again.
 */
static struct mutex *lock_group(const struct pevent *e)
{
	const struct perf_event *leader = e->group_leader;
	struct perf_event_context *seen;
	struct mutex *mutex;	/* of that context */

	while ((seen = READ_ONCE(leader->ctx))) {
		mutex = &container_of(seen, struct pctx, pub)->mutex;
		mutex_lock(mutex);
		if (READ_ONCE(leader->ctx) == seen)
			return mutex;
		mutex_unlock(mutex);
	}
	return NULL;	/* made by the kernel, not installed: nobody else knows the group */
}

/*
 * Asks one PMU.  Software events fit in any group and do not look at it, so opening one as a
 * sibling does not wait for the context.
 */
static int ask_pmu(struct pmu *pmu, struct pevent *e)
{
	struct mutex *group = NULL;
	int ret;

	if (!try_module_get(pmu->module))
		return -ENODEV;

	e->pmu = pmu;
	if (!e->parent && !pe_is_leader(e) && pmu->task_ctx_nr != perf_sw_context)
		group = lock_group(e);
	ret = pmu->event_init(&e->pub);
	if (group)
		mutex_unlock(group);

	if (!ret) {
		ret = check_capabilities(pmu, e);
		if (!ret)
			return 0;
		pe_pmu_unbind_event(e);
		e->pmu = NULL;
		return ret;
	}
	e->pmu = NULL;
	module_put(pmu->module);
	return ret;
}

static int ask_all(struct pevent *e)
{
	struct pmu *pmu;

	list_for_each_entry_srcu(pmu, &pe_pmus, entry, srcu_read_lock_held(&readers)) {
		int ret = ask_pmu(pmu, e);

		if (ret != -ENOENT)
			return ret;
	}
	return -ENOENT;
}

static struct pmu *find_type(u32 type)
{
	guard(rcu)();
	return idr_find(&by_type, type);
}

/* PERF_TYPE_HARDWARE and PERF_TYPE_HW_CACHE. */
static int bind_generic(struct pevent *e)
{
	u32 chosen = e->attr.config >> PERF_PMU_TYPE_SHIFT;
	struct pmu *pmu;
	int ret;

	if (chosen) {
		e->attr.config &= PERF_HW_EVENT_MASK;
		pmu = find_type(chosen);
		if (!pmu)
			return ask_all(e);
		if (chosen != PERF_TYPE_RAW && chosen != e->attr.type &&
		    !(pmu->capabilities & PERF_PMU_CAP_EXTENDED_HW_TYPE))
			return -ENOENT;
		return ask_pmu(pmu, e);
	}

	pmu = find_type(PERF_TYPE_RAW);
	ret = pmu ? ask_pmu(pmu, e) : -ENOENT;
	if (ret != -ENOENT)
		return ret;
	pmu = pmu ? find_type(e->attr.type) : NULL;
	return pmu ? ask_pmu(pmu, e) : ask_all(e);
}

static int bind_opened(struct pevent *e)
{
	struct pmu *pmu;
	u32 type;
	int ret;

	if (e->attr.type == PERF_TYPE_HARDWARE || e->attr.type == PERF_TYPE_HW_CACHE)
		return bind_generic(e);
	do {
		type = e->attr.type;
		pmu = find_type(type);
		ret = pmu ? ask_pmu(pmu, e) : ask_all(e);
	} while (ret == -ENOENT && e->attr.type != type);	/* passed on to another PMU */
	return ret;
}

/**
 * pe_pmu_bind_event() - find the PMU of a new event and initialise the event for it
 * @e: with attr, cpu, parent, group_leader, hw.target and attach_state set, in no context yet
 *
 * Task context, may sleep.  For an opened sibling it takes the ctx->mutex of the leader; for an
 * inherited one the caller holds it.  On success e->pmu is set and its module held.
 *
 * Return: 0, or what the PMU said; -ENOENT when none knows the event.
 */
int pe_pmu_bind_event(struct pevent *e)
{
	int idx, ret;

	/* Drivers may rewrite attr.type to pass the event on to another PMU. */
	e->orig_type = e->attr.type;

	/* The parent holds the module, so its PMU cannot go away. */
	if (e->parent)
		return ask_pmu(e->parent->pmu, e);

	idx = pe_pmus_read_lock();
	ret = bind_opened(e);
	pe_pmus_read_unlock(idx);
	return ret;
}

/**
 * pe_pmu_unbind_event() - undo pe_pmu_bind_event()
 * @e: an event that is in no context (any more); one without PMU is left alone
 *
 * Task context, may sleep.
 */
void pe_pmu_unbind_event(struct pevent *e)
{
	struct pmu *pmu = e->pmu;

	if (!pmu)
		return;
	if (e->destroy) {
		e->destroy(&e->pub);
		e->destroy = NULL;
	}
	/* e->pmu stays: the last hit of a passive event may be under way on another CPU. */
	module_put(pmu->module);
}

/**
 * pe_pmu_claim_exclusive() - count an event of a PMU that serves either tasks or CPUs
 * @e: a bound event, PERF_ATTACH_TASK decided
 *
 * An exclusive PMU is a single resource: while it follows tasks it cannot follow CPUs.
 *
 * Return: false when it is used the other way (the caller's errno is -EBUSY).
 */
bool pe_pmu_claim_exclusive(struct pevent *e)
{
	atomic_t *users = &e->pmu->exclusive_cnt;

	if (!is_exclusive_pmu(e->pmu))
		return true;
	if (e->attach_state & PERF_ATTACH_TASK ? !atomic_inc_unless_negative(users) :
						  !atomic_dec_unless_positive(users))
		return false;
	e->attach_state |= PERF_ATTACH_EXCLUSIVE;
	return true;
}

/**
 * pe_pmu_release_exclusive() - undo pe_pmu_claim_exclusive(); harmless without a claim
 * @e: the event, still bound
 */
void pe_pmu_release_exclusive(struct pevent *e)
{
	if (!(e->attach_state & PERF_ATTACH_EXCLUSIVE))
		return;
	e->attach_state &= ~PERF_ATTACH_EXCLUSIVE;
	atomic_add(e->attach_state & PERF_ATTACH_TASK ? -1 : 1, &e->pmu->exclusive_cnt);
}
