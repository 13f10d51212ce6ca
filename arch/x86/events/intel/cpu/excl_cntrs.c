// SPDX-License-Identifier: GPL-2.0
/*
 * An erratum of Sandy Bridge to Haswell (BJ122, BV98, HSD29): with hyper-threading, some memory
 * events on counter n of one thread corrupt counter n of the other.
 *
 * Such an event needs its counter for itself in the core.  Each thread publishes what it uses its
 * counters for, and asks for constraints without those that the other's use forbids.  That happens
 * between start_scheduling and stop_scheduling, under the lock of the core, so the threads take
 * turns; the PMU of the one that schedules is off.  Each thread writes only its own states.
 *
 * excl_cntrs belongs to the core and is shared by its threads (hotplug.c); excl_thread_id says
 * which of the two this CPU is.  If the machine turns out to have no hyper-threading, all this is
 * switched off (at the end of this file), and cpuc->excl_cntrs is NULL.
 *
 * Constraints that were cut down for an event are in cpuc->constraint_list, which is of this file,
 * too; other files cut down with intel_pe_leave_only().
 */
#include <linux/cpu.h>
#include <linux/nmi.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "cpu.h"

/* ------------------------------------------------------------ copies of constraints */

/*
 * Is @copy the constraint of any listed event?  Events are taken out of the middle of the list, so
 * its place there says nothing.
 */
static bool is_in_use(struct cpu_hw_events *cpuc, struct event_constraint *copy)
{
	int i;

	for (i = 0; i < X86_PMC_IDX_MAX; i++) {
		if (cpuc->event_constraint[i] == copy)
			return true;
	}
	return false;
}

/*
 * A constraint that may be changed: @c if it is a copy.  There are more copies than events that can
 * be listed, so one is free, also for an event that has one, which it gives up.
 */
static struct event_constraint *own_copy(struct cpu_hw_events *cpuc, struct event_constraint *c)
{
	struct event_constraint *copy = cpuc->constraint_list;

	if (c->flags & PERF_X86_EVENT_DYNAMIC)
		return c;
	if (WARN_ON_ONCE(!copy))
		return &emptyconstraint;
	while (is_in_use(cpuc, copy))
		copy++;
	*copy = *c;
	copy->flags |= PERF_X86_EVENT_DYNAMIC;
	return copy;
}

/**
 * intel_pe_leave_only - take counters out of a constraint
 * @cpuc: state of a CPU
 * @c: a constraint
 * @counters: those that may stay
 *
 * Return: a copy, or @c if it is one.
 */
struct event_constraint *intel_pe_leave_only(struct cpu_hw_events *cpuc,
					     struct event_constraint *c, u64 counters)
{
	c = own_copy(cpuc, c);
	c->idxmsk64 &= counters;
	c->weight = hweight64(c->idxmsk64);
	return c;
}

/* ------------------------------------------------------------ the erratum */

static bool is_off(struct cpu_hw_events *cpuc)
{
	return cpuc->is_fake || !is_ht_workaround_enabled() || WARN_ON_ONCE(!cpuc->excl_cntrs);
}

static struct intel_excl_states *mine(struct cpu_hw_events *cpuc)
{
	return &cpuc->excl_cntrs->states[cpuc->excl_thread_id];
}

static struct intel_excl_states *others(struct cpu_hw_events *cpuc)
{
	return &cpuc->excl_cntrs->states[!cpuc->excl_thread_id];
}

void intel_pe_start_scheduling(struct cpu_hw_events *cpuc)
{
	if (is_off(cpuc))
		return;
	raw_spin_lock(&cpuc->excl_cntrs->lock);
	mine(cpuc)->sched_started = true;
}

void intel_pe_stop_scheduling(struct cpu_hw_events *cpuc)
{
	if (is_off(cpuc))
		return;
	mine(cpuc)->sched_started = false;
	raw_spin_unlock(&cpuc->excl_cntrs->lock);
}

/*
 * Event @i of the list is going to be on @counter.  All events are committed, first to last: the
 * first makes a clean slate, so counters that were left for others are free again.
 */
void intel_pe_commit_scheduling(struct cpu_hw_events *cpuc, int i, int counter)
{
	struct event_constraint *c = cpuc->event_constraint[i];
	struct intel_excl_states *own;

	if (is_off(cpuc))
		return;
	lockdep_assert_held(&cpuc->excl_cntrs->lock);
	own = mine(cpuc);
	if (!i)
		memset(own->state, 0, sizeof(own->state));
	if (c->flags & PERF_X86_EVENT_DYNAMIC)
		own->state[counter] = c->flags & PERF_X86_EVENT_EXCL ? INTEL_EXCL_EXCLUSIVE :
								      INTEL_EXCL_SHARED;
}

/* While a thread has such events the other must not fill all its counters; schedule.c looks. */
static void announce(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	if (event->hw.flags & PERF_X86_EVENT_EXCL_ACCT)
		return;
	event->hw.flags |= PERF_X86_EVENT_EXCL_ACCT;
	if (!cpuc->n_excl++)
		WRITE_ONCE(cpuc->excl_cntrs->has_exclusive[cpuc->excl_thread_id], 1);
}

/**
 * intel_pe_get_excl_cntrs - take out of a constraint what the other thread forbids
 * @cpuc: state of a CPU
 * @event: event
 * @c: its constraint
 */
struct event_constraint *intel_pe_get_excl_cntrs(struct cpu_hw_events *cpuc,
						 struct perf_event *event,
						 struct event_constraint *c)
{
	struct intel_excl_states *other;
	bool alone;
	int i;

	if (is_off(cpuc))
		return c;
	c = own_copy(cpuc, c);
	other = others(cpuc);
	alone = c->flags & PERF_X86_EVENT_EXCL;
	if (alone)
		announce(cpuc, event);

	for_each_set_bit(i, c->idxmsk, X86_PMC_IDX_MAX) {
		if (other->state[i] == INTEL_EXCL_EXCLUSIVE ||
		    (alone && other->state[i] == INTEL_EXCL_SHARED))
			__clear_bit(i, c->idxmsk);
	}
	c->weight = hweight64(c->idxmsk64);
	return c;
}

/* The counter that is @event's by the last assignment, which may not have been applied yet. */
static int assigned(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	int i;

	for (i = 0; i < cpuc->n_events; i++) {
		if (cpuc->event_list[i] == event)
			return cpuc->assign[i];
	}
	return -1;
}

/**
 * intel_pe_put_excl_cntrs - an event is deleted, or could not be scheduled
 * @cpuc: state of a CPU
 * @event: event
 *
 * In the second case, when the lock is held, it was not committed.
 */
void intel_pe_put_excl_cntrs(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	struct intel_excl_cntrs *core = cpuc->excl_cntrs;
	int counter;

	if (cpuc->is_fake)
		return;
	if (event->hw.flags & PERF_X86_EVENT_EXCL_ACCT) {
		event->hw.flags &= ~PERF_X86_EVENT_EXCL_ACCT;
		if (!--cpuc->n_excl)
			WRITE_ONCE(core->has_exclusive[cpuc->excl_thread_id], 0);
	}
	if (mine(cpuc)->sched_started)
		return;
	counter = assigned(cpuc, event);
	if (counter < 0)
		return;
	guard(raw_spinlock)(&core->lock);
	mine(cpuc)->state[counter] = INTEL_EXCL_UNUSED;
}

void intel_pe_free_excl_cntrs(struct cpu_hw_events *cpuc)
{
	struct intel_excl_cntrs *core = cpuc->excl_cntrs;

	/* core_id -1: no CPU has come up with it */
	if (core && (core->core_id == -1 || !--core->refcnt))
		kfree(core);
	cpuc->excl_cntrs = NULL;

	kfree(cpuc->constraint_list);
	cpuc->constraint_list = NULL;
}

/*
 * The model has the erratum, and all CPUs are up: is there hyper-threading?  Nobody but the
 * watchdog has an event yet; it is off while the constraints are taken away.
 */
static int __init intel_pe_check_ht(void)
{
	int cpu;

	if (!is_ht_workaround_enabled())
		return 0;
	if (topology_max_smt_threads() > 1) {
		pr_info("PMU erratum BJ122, BV98, HSD29 worked around, HT is on\n");
		return 0;
	}

	cpus_read_lock();
	hardlockup_detector_perf_stop();
	x86_pmu.flags &= ~(PMU_FL_EXCL_CNTRS | PMU_FL_EXCL_ENABLED);
	x86_pmu.start_scheduling = NULL;
	x86_pmu.commit_scheduling = NULL;
	x86_pmu.stop_scheduling = NULL;
	hardlockup_detector_perf_restart();
	for_each_online_cpu(cpu)
		intel_pe_free_excl_cntrs(&per_cpu(cpu_hw_events, cpu));
	cpus_read_unlock();
	pr_info("PMU erratum BJ122, BV98, HSD29 workaround disabled, HT off\n");
	return 0;
}
subsys_initcall(intel_pe_check_ht);
