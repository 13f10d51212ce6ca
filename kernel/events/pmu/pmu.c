// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of PMUs: which there are, and which one an event belongs to.
 *
 * Drivers call perf_pmu_register() in task context; event.c calls
 * pe_pmu_bind_event() when it makes an event, and pe_pmu_unbind_event() when it frees one.  The
 * scheduling layer and drivers call perf_pmu_disable() and perf_pmu_enable() with irqs off.
 *
 * A PMU is found by its type through an IDR, or by asking all of them.  The number is reserved
 * (with a NULL pointer) before the PMU is set up, and the pointer stored when everything else is
 * done, so a reader sees a finished PMU or none.  Both the IDR and the list are changed under
 * pe_pmus_lock.  Readers are in an SRCU section, because event_init() sleeps in the middle of a
 * walk.  The maker of an event stays in the section until the event is in its context, so when
 * unregistering has waited for SRCU there are no half-made events of the PMU.  What the PMU has to
 * be rid of is on its rosters: its events, and its PMU contexts of tasks.  See pmu_leave.c.
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
#include <linux/srcu.h>
#include <linux/wait_bit.h>
#include "pmu.h"

DEFINE_MUTEX(pe_pmus_lock);		/* the list of those registered */
LIST_HEAD(pe_pmus);

DEFINE_STATIC_SRCU(readers);
static DEFINE_IDR(by_type);			/* pe_pmus_lock; readers: RCU */
static unsigned long last_serial;		/* pe_pmus_lock */

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

/* ---------------------------------------------------------------------- registry */

/**
 * pe_pmu_reserve() - a number for a new PMU, which nobody finds yet
 * @pmu: it; gets its type
 * @type: the number that it wants, or -1
 *
 * Task context, under pe_pmus_lock.  Return: 0, -EEXIST if another PMU has that number, -ENOMEM.
 */
int pe_pmu_reserve(struct pmu *pmu, int type)
{
	int id;

	lockdep_assert_held(&pe_pmus_lock);
	if (type < 0) {
		id = idr_alloc(&by_type, NULL, PERF_TYPE_MAX, 0, GFP_KERNEL);
	} else {
		id = idr_alloc(&by_type, NULL, type, type + 1, GFP_KERNEL);
		if (id == -ENOSPC)
			id = -EEXIST;
	}
	pmu->type = id;
	if (id < 0)
		return id;
	pmu->serial = ++last_serial;
	return 0;
}

/* Undo pe_pmu_reserve(). */
void pe_pmu_unreserve(struct pmu *pmu)
{
	idr_remove(&by_type, pmu->type);
}

/**
 * pe_pmu_enlist() - a PMU is complete: from now on events find it
 * @pmu: it, after pe_pmu_reserve()
 *
 * Task context, under pe_pmus_lock.
 */
void pe_pmu_enlist(struct pmu *pmu)
{
	idr_replace(&by_type, pmu, pmu->type);
	list_add_rcu(&pmu->entry, &pe_pmus);
}

/**
 * pe_pmu_delist() - a PMU leaves the registry
 * @pmu: it
 *
 * Task context.  Afterwards every event of the PMU is on its rosters with its context known, or is
 * being freed, and no further one will be made.  Its state stays: see pe_pmu_free().
 */
void pe_pmu_delist(struct pmu *pmu)
{
	scoped_guard(mutex, &pe_pmus_lock) {
		list_del_rcu(&pmu->entry);
		idr_remove(&by_type, pmu->type);
		WRITE_ONCE(pmu->gone, true);
	}
	pe_pmus_sync();
}

/**
 * pe_pmus_sync() - wait for all that are between pe_pmus_read_lock() and pe_pmus_read_unlock()
 *
 * Task context.
 */
void pe_pmus_sync(void)
{
	synchronize_srcu(&readers);
}

/* ----------------------------------------------------------------------- rosters */

/**
 * pe_roster_join() - enter what has to end when a PMU leaves
 * @pmu: it
 * @entry: link of an event or a PMU context
 * @what: which of the two
 *
 * The caller is in a pe_pmus_read_lock() section, so the PMU does not leave meanwhile.
 * Return: what pe_roster_leave() wants; NULL for a PMU that lasts.
 */
struct pe_roster *pe_roster_join(struct pmu *pmu, struct list_head *entry,
				 enum pe_roster_list what)
{
	struct pe_roster *roster;

	if (pmu->lasting)
		return NULL;
	roster = &raw_cpu_ptr(pmu->cpu_pmu_context)->roster;
	guard(spinlock_irqsave)(&roster->lock);
	list_add_tail(entry, &roster->lists[what]);
	return roster;
}

/**
 * pe_roster_leave() - the opposite
 * @roster: what pe_roster_join() returned
 * @entry: as there
 * @pmu: as there; it may be freed as soon as this returns
 *
 * Any context but NMI.
 */
void pe_roster_leave(struct pe_roster *roster, struct list_head *entry, struct pmu *pmu)
{
	bool gone;

	if (!roster)
		return;
	scoped_guard(spinlock_irqsave, &roster->lock) {
		list_del_init(entry);
		gone = pmu->gone;
	}
	/* The address is but a key here. */
	if (gone)
		wake_up_var(pmu);
}

/* ------------------------------------------------------------- an event's PMU */

/* What the core knows better than the driver.  After event_init() said yes. */
static int check_capabilities(struct pmu *pmu, struct pe_event *e)
{
	u64 regs = e->attr.sample_regs_user | e->attr.sample_regs_intr;

	if ((regs & PERF_REG_EXTENDED_MASK) && !(pmu->capabilities & PERF_PMU_CAP_EXTENDED_REGS))
		return -EOPNOTSUPP;
	if ((pmu->capabilities & PERF_PMU_CAP_NO_EXCLUDE) && event_has_any_exclude_flag(&e->pub))
		return -EINVAL;
	if (pmu->scope != PERF_PMU_SCOPE_NONE && e->cpu >= 0) {
		if (!cpumask_intersects(pe_scope_cpus(pmu->scope, e->cpu),
					pe_scope_elected(pmu->scope)))
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
static struct pe_ctx *lock_group(const struct pe_event *e)
{
	const struct perf_event *leader = e->group_leader;

	for (;;) {
		struct perf_event_context *seen = READ_ONCE(leader->ctx);
		struct pe_ctx *ctx = container_of(seen, struct pe_ctx, pub);

		if (!seen)
			return NULL;	/* the kernel made it, and has not installed it yet */
		mutex_lock(&ctx->mutex);
		if (likely(READ_ONCE(leader->ctx) == seen))
			return ctx;
		mutex_unlock(&ctx->mutex);
	}
}

/*
 * With perf_ext_own_tasks, events of PMUs that count what a task executes in user mode, and those
 * that PERF_TYPE_SOFTWARE names.  The driver of another one is not asked.
 */
static bool is_open_to(const struct pmu *pmu, const struct pe_event *e)
{
	if (likely(!e->own_tasks) || e->orig_type == PERF_TYPE_SOFTWARE)
		return true;
	return pmu->task_ctx_nr == perf_hw_context &&
	       !(pmu->capabilities & PERF_PMU_CAP_NO_EXCLUDE);
}

/*
 * Asks one PMU.  Software events fit in any group and do not look at it, so opening one as a
 * sibling does not wait for the context.
 */
static int ask_pmu(struct pmu *pmu, struct pe_event *e)
{
	struct pe_ctx *group = NULL;
	int ret;

	if (!is_open_to(pmu, e))
		return pe_refuse(e, -EACCES, "attr.type: perf_ext_own_tasks: not this PMU");
	if (!try_module_get(pmu->module))
		return -ENODEV;

	e->pmu = pmu;
	e->module = pmu->module;
	if (!e->parent && !pe_is_leader(e) && pmu->task_ctx_nr != perf_sw_context)
		group = lock_group(e);
	ret = pmu->event_init(&e->pub);
	if (group)
		mutex_unlock(&group->mutex);

	if (!ret) {
		/* By a counter that user space may read it could read those of others. */
		if (unlikely(e->own_tasks))
			e->hw.flags &= ~PERF_EVENT_FLAG_USER_READ_CNT;
		e->roster = pe_roster_join(pmu, &e->pmu_entry, PE_ROSTER_EVENTS);
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

enum asked {
	EVERY_PMU,
	OF_HARDWARE,	/* those that count what a task executes */
	OTHERS,
};

static bool is_asked(const struct pmu *pmu, enum asked asked)
{
	if (asked == EVERY_PMU)
		return true;
	return (pmu->task_ctx_nr == perf_hw_context) == (asked == OF_HARDWARE);
}

static int ask_all(struct pe_event *e, enum asked asked)
{
	struct pmu *pmu;
	int ret;

	list_for_each_entry_srcu(pmu, &pe_pmus, entry, srcu_read_lock_held(&readers)) {
		if (!is_asked(pmu, asked) || !is_open_to(pmu, e))
			continue;
		ret = ask_pmu(pmu, e);
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

/* PERF_TYPE_HARDWARE and PERF_TYPE_HW_CACHE: most PMUs know none of these. */
static int ask_generic(struct pe_event *e)
{
	int ret = ask_all(e, OF_HARDWARE);

	return ret == -ENOENT ? ask_all(e, OTHERS) : ret;
}

static int bind_generic(struct pe_event *e)
{
	u32 chosen = e->attr.config >> PERF_PMU_TYPE_SHIFT;
	struct pmu *pmu;
	int ret;

	if (chosen) {
		e->attr.config &= PERF_HW_EVENT_MASK;
		pmu = find_type(chosen);
		if (!pmu)
			return ask_generic(e);
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
	return pmu ? ask_pmu(pmu, e) : ask_generic(e);
}

static int bind_opened(struct pe_event *e)
{
	struct pmu *pmu;
	u32 type;
	int ret;

	if (e->attr.type == PERF_TYPE_HARDWARE || e->attr.type == PERF_TYPE_HW_CACHE)
		return bind_generic(e);
	do {
		type = e->attr.type;
		pmu = find_type(type);
		ret = pmu ? ask_pmu(pmu, e) : ask_all(e, EVERY_PMU);
	} while (ret == -ENOENT && e->attr.type != type);	/* passed on to another PMU */
	return ret;
}

/**
 * pe_pmu_bind_event() - find the PMU of a new event and initialise the event for it
 * @e: with attr, cpu, parent, group_leader, hw.target and attach_state set, in no context yet
 *
 * Task context, may sleep.  The caller is in a pe_pmus_read_lock() section, which it leaves when
 * the event is in its context or has been freed.  For an opened sibling this takes the ctx->mutex
 * of the leader; for an inherited one the caller holds it.  On success e->pmu is set and its module
 * held.
 *
 * Return: 0, or what the PMU said; -ENOENT when none knows the event; -ENODEV when an inherited
 * event's PMU is leaving.
 */
int pe_pmu_bind_event(struct pe_event *e)
{
	/* Drivers may rewrite attr.type to pass the event on to another PMU; copies are of that. */
	e->orig_type = e->parent ? e->parent->orig_type : e->attr.type;

	if (!e->parent)
		return bind_opened(e);
	if (READ_ONCE(e->parent->pmu->gone))
		return -ENODEV;
	return ask_pmu(e->parent->pmu, e);
}

/* Undo pe_pmu_claim_exclusive(); harmless without a claim. */
static void release_exclusive(struct pe_event *e)
{
	if (!(e->attach_state & PERF_ATTACH_EXCLUSIVE))
		return;
	e->attach_state &= ~PERF_ATTACH_EXCLUSIVE;
	atomic_add(e->attach_state & PERF_ATTACH_TASK ? -1 : 1, &e->pmu->exclusive_cnt);
}

/**
 * pe_pmu_leave() - the PMU forgets an event
 * @e: a bound event that is in no context (any more)
 *
 * Task context, may sleep.  e->pmu stays: the last hit of a passive event may be under way on
 * another CPU, and only PMUs that last have passive events.
 */
void pe_pmu_leave(struct pe_event *e)
{
	release_exclusive(e);
	if (e->destroy) {
		e->destroy(&e->pub);
		e->destroy = NULL;
	}
	pe_roster_leave(e->roster, &e->pmu_entry, e->pmu);
	e->roster = NULL;
}

/**
 * pe_pmu_unbind_event() - undo pe_pmu_bind_event()
 * @e: an event that is in no context (any more); one without PMU is left alone
 *
 * Task context, may sleep.
 */
void pe_pmu_unbind_event(struct pe_event *e)
{
	if (!e->pmu)
		return;
	pe_pmu_leave(e);
	module_put(e->module);
}

/**
 * pe_pmu_claim_exclusive() - count an event of a PMU that serves either tasks or CPUs
 * @e: a bound event, PERF_ATTACH_TASK decided
 *
 * An exclusive PMU is a single resource: while it follows tasks it cannot follow CPUs.
 *
 * Return: false when it is used the other way (the caller's errno is -EBUSY).
 */
bool pe_pmu_claim_exclusive(struct pe_event *e)
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
