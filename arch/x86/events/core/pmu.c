// SPDX-License-Identifier: GPL-2.0
/*
 * The struct pmu of x86 CPUs: adding and deleting events, transactions, PMU on and off.
 *
 * Owns the generic part of cpu_hw_events: event_list, event_constraint, assign, tags, n_*,
 * txn_flags, enabled, dirty.  The events core calls these operations on the CPU in question,
 * interrupts off, its context locked; between pmu_disable and pmu_enable everything is prepared in
 * memory, pmu_enable writes it out.  No locks of its own.
 *
 * Against the PMI, which may come at any time:
 *
 * - cpuc->enabled is 0 before the counters are stopped, and 1 before they are let go.  A PMI that
 *   finds 0 leaves the PMU off when it ends.  So one before, between or after the two steps of
 *   turning off ends with the PMU off.
 * - A PMI may stop events but adds, deletes and moves none.
 *
 * Without events there is nothing to turn on.  The PMU then stays off, with enabled 0: global
 * control is not written when the last event goes, nor before the first is programmed.
 */
#include <linux/perf_event.h>

#include "core.h"

/* Some running event has got another counter since the assignment was applied last. */
static DEFINE_PER_CPU(bool, must_move);

/*
 * What is known of the listed events, beside their counters: so that another one can join them
 * without a look at each.
 * @used: counters that they have
 * @may_change: the constraint of some of them may be another one the next time; or of one that has
 *	left since they were all looked at
 */
struct listed {
	u64	used;
	bool	may_change;
};

static DEFINE_PER_CPU(struct listed, listed);

static void note_listed(struct listed *l, struct cpu_hw_events *cpuc, int i)
{
	/* The driver of the Pentium 4 chooses counters itself and leaves this NULL. */
	const struct event_constraint *c = cpuc->event_constraint[i];

	l->used |= x86_pe_footprint(&cpuc->event_list[i]->hw, cpuc->assign[i]);
	l->may_change |= c && c->flags & PERF_X86_EVENT_DYNAMIC;
}

/* Take over an assignment; pmu_enable applies it. */
static void adopt(struct cpu_hw_events *cpuc, const int *assign, int n)
{
	struct listed *l = this_cpu_ptr(&listed);
	int i, running = cpuc->n_events - cpuc->n_added;

	*l = (struct listed) { };
	for (i = 0; i < n; i++) {
		if (i < running && cpuc->assign[i] != assign[i])
			__this_cpu_write(must_move, true);
		cpuc->assign[i] = assign[i];
		note_listed(l, cpuc, i);
	}
}

/* Find a counter for the event after those listed, perhaps by moving them. Return: 0 or errno. */
static int find_counter(struct cpu_hw_events *cpuc)
{
	struct listed *l = this_cpu_ptr(&listed);
	int assign[X86_PMC_IDX_MAX];
	int n = cpuc->n_events, idx, ret;

	idx = likely(!l->may_change) ? x86_pe_rejoin(cpuc, l->used) : -1;
	if (likely(idx >= 0)) {
		cpuc->assign[n] = idx;
		note_listed(l, cpuc, n);
		return 0;
	}
	ret = static_call(x86_pmu_schedule_events)(cpuc, n + 1, assign);
	if (!ret)
		adopt(cpuc, assign, n + 1);
	return ret;
}

static int x86_pe_add(struct perf_event *event, int flags)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int n, more, ret;

	n = x86_pe_collect(cpuc, event, cpuc->n_events);
	if (n < 0)
		return n;

	event->hw.state = PERF_HES_UPTODATE | PERF_HES_STOPPED;
	if (!(flags & PERF_EF_START))
		event->hw.state |= PERF_HES_ARCH;

	/* A transaction asks for all its events together, when it commits. */
	more = n - cpuc->n_events;
	if (more && !x86_pe_in_add_txn(cpuc)) {
		ret = find_counter(cpuc);
		if (ret)
			return ret;
	}
	cpuc->n_events = n;
	cpuc->n_added += more;
	cpuc->n_txn += more;

	/* Before the event is started, as it may need what is prepared here (branch records). */
	static_call_cond(x86_pmu_add)(event);
	return 0;
}

/* Take entry @at out of the list. */
static void unlist(struct cpu_hw_events *cpuc, int at)
{
	int after = cpuc->n_events - at - 1;
	struct listed *l = this_cpu_ptr(&listed);

	l->used &= ~x86_pe_footprint(&cpuc->event_list[at]->hw, cpuc->assign[at]);
	if (at >= cpuc->n_events - cpuc->n_added)
		cpuc->n_added--;
	if (after) {
		memmove(&cpuc->event_list[at], &cpuc->event_list[at + 1],
			after * sizeof(cpuc->event_list[0]));
		memmove(&cpuc->event_constraint[at], &cpuc->event_constraint[at + 1],
			after * sizeof(cpuc->event_constraint[0]));
		memmove(&cpuc->assign[at], &cpuc->assign[at + 1],
			after * sizeof(cpuc->assign[0]));
	}
	cpuc->event_constraint[--cpuc->n_events] = NULL;
	if (!cpuc->n_events)
		*l = (struct listed) { };
}

static void x86_pe_del(struct perf_event *event, int flags)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int at;

	/* An event of an open transaction was never scheduled; cancelling cuts the list. */
	if (x86_pe_in_add_txn(cpuc))
		goto vendor;

	x86_pe_mark_dirty(cpuc, &event->hw);
	x86_pmu_stop(event, PERF_EF_UPDATE);

	/* The core takes those off first that came last. */
	for (at = cpuc->n_events - 1; at >= 0; at--) {
		if (cpuc->event_list[at] == event)
			break;
	}
	if (WARN_ON_ONCE(at < 0))
		return;

	static_call_cond(x86_pmu_put_event_constraints)(cpuc, event);
	unlist(cpuc, at);
	x86_pe_refresh_page(event);
vendor:
	/* After the event was stopped: until then it may need what x86_pe_add() prepared. */
	static_call_cond(x86_pmu_del)(event);
}

static void x86_pe_turn_off(struct pmu *pmu)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	if (!cpuc->enabled)
		return;
	cpuc->enabled = 0;
	barrier();
	static_call(x86_pmu_disable_all)();
}

/*
 * Are the registers of the counter as the event left them, or better: has nobody else had the
 * counter since?  Tags count the owners of each counter of this CPU.
 */
static bool is_placed(struct cpu_hw_events *cpuc, int i)
{
	struct hw_perf_event *hw = &cpuc->event_list[i]->hw;
	int idx = cpuc->assign[i];

	return hw->idx == idx && hw->last_tag == cpuc->tags[idx] &&
	       hw->last_cpu == smp_processor_id();
}

static void place(struct cpu_hw_events *cpuc, int i)
{
	struct perf_event *event = cpuc->event_list[i];
	int idx = cpuc->assign[i];

	event->hw.last_cpu = smp_processor_id();
	event->hw.last_tag = ++cpuc->tags[idx];
	x86_pe_place(event, idx);
}

/* Stop the running events that move, before any takes the counter of another. */
static void vacate(struct cpu_hw_events *cpuc, int running)
{
	int i;

	for (i = 0; i < running; i++) {
		struct perf_event *event = cpuc->event_list[i];

		if (is_placed(cpuc, i))
			continue;
		/* One that was stopped already must not be started because it moved. */
		if (event->hw.state & PERF_HES_STOPPED)
			event->hw.state |= PERF_HES_ARCH;
		x86_pe_mark_dirty(cpuc, &event->hw);
		x86_pmu_stop(event, PERF_EF_UPDATE);
	}
}

/* Apply the assignment: events that move and events that are new get their counter and start. */
static void apply(struct cpu_hw_events *cpuc)
{
	int i, running = cpuc->n_events - cpuc->n_added;

	if (unlikely(__this_cpu_read(must_move))) {
		__this_cpu_write(must_move, false);
		vacate(cpuc, running);
		i = 0;
	} else {
		i = running;
	}
	for (; i < cpuc->n_events; i++) {
		struct perf_event *event = cpuc->event_list[i];

		if (!is_placed(cpuc, i))
			place(cpuc, i);
		else if (i < running)
			continue;
		/* The PMU is off: this writes to the counter and at most prepares the rest. */
		if (event->hw.state & PERF_HES_ARCH) {
			static_call(x86_pmu_set_period)(event);	/* for who reads or starts it */
			x86_pe_refresh_page(event);		/* it named the old counter */
		} else {
			x86_pe_start(event, PERF_EF_RELOAD);
		}
	}
	cpuc->n_added = 0;
}

/* With TSX_FORCE_ABORT the vendor has something to switch off with the last event. */
static bool is_idle(struct cpu_hw_events *cpuc)
{
	return !cpuc->n_events && !cpuc->tfa_shadow;
}

/*
 * Intel's fixed counters are switched in one register, which the vendor writes when the PMU goes
 * on. The next owner of the CPU must find them off: a kernel that is booted from this one, or this
 * one after a sleep that cleared the register, while it is remembered. So with what else the vendor
 * writes then.
 */
void x86_pe_leave_off(struct cpu_hw_events *cpuc)
{
	static_call_cond(x86_pmu_leave)(cpuc);
	if (cpuc->active_fixed_ctrl_val == cpuc->fixed_ctrl_val)
		return;
	cpuc->active_fixed_ctrl_val = cpuc->fixed_ctrl_val;
	wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, cpuc->fixed_ctrl_val);
}

static void x86_pe_turn_on(struct pmu *pmu)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int added = cpuc->n_added;

	/* At the end of the kernel the other PMU of a hybrid machine comes here, too. */
	if (cpuc->enabled || (is_hybrid() && x86_pe_over))
		return;
	/* What made the others move may be deleted again: then nothing was added. */
	if (added || unlikely(__this_cpu_read(must_move)))
		apply(cpuc);
	if (is_idle(cpuc)) {
		x86_pe_leave_off(cpuc);
		cpuc->lbr_made = 0;
		return;
	}
	x86_pe_arm_lvtpc();
	cpuc->enabled = 1;
	barrier();
	static_call(x86_pmu_enable_all)(added);
}

static void x86_pe_start_txn(struct pmu *pmu, unsigned int flags)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	WARN_ON_ONCE(cpuc->txn_flags);
	cpuc->txn_flags = flags;
	/* For adding, the PMU is off. There is nothing to gain for the others. */
	if (!(flags & ~PERF_PMU_TXN_ADD))
		cpuc->n_txn = 0;
}

static void x86_pe_cancel_txn(struct pmu *pmu)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	unsigned int flags = cpuc->txn_flags;

	WARN_ON_ONCE(!flags);
	cpuc->txn_flags = 0;
	if (flags & ~PERF_PMU_TXN_ADD)
		return;
	cpuc->n_added -= cpuc->n_txn;
	cpuc->n_events -= cpuc->n_txn;
}

static int x86_pe_commit_txn(struct pmu *pmu)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int assign[X86_PMC_IDX_MAX];
	int ret;

	WARN_ON_ONCE(!cpuc->txn_flags);
	if (!x86_pe_in_add_txn(cpuc)) {
		cpuc->txn_flags = 0;
		return 0;
	}
	ret = static_call(x86_pmu_schedule_events)(cpuc, cpuc->n_events, assign);
	if (ret)
		return ret;
	adopt(cpuc, assign, cpuc->n_events);
	cpuc->txn_flags = 0;
	return 0;
}

/* What stands still may have lost its counter since it was updated, when the CPU slept. */
static void x86_pe_pmu_read(struct perf_event *event)
{
	if (likely(!(event->hw.state & PERF_HES_UPTODATE)))
		static_call(x86_pmu_read)(event);
}

static void x86_pe_sched_task(struct perf_event_pmu_context *pmu_ctx, struct task_struct *task,
			      bool sched_in)
{
	static_call_cond(x86_pmu_sched_task)(pmu_ctx, task, sched_in);
}

/* Is this CPU none of the hybrid PMU? */
static bool x86_pe_filter(struct pmu *pmu, int cpu)
{
	bool skip = false;

	static_call_cond(x86_pmu_filter)(pmu, cpu, &skip);
	return skip;
}

static const struct pmu operations __initconst = {
	.attr_groups		= x86_pe_attr_groups,
	.event_init		= x86_pe_event_init,
	.check_period		= x86_pe_check_period,
	.least_period		= x86_pe_least_period,
	.aux_output_match	= x86_pe_aux_output_match,

	.pmu_enable		= x86_pe_turn_on,
	.pmu_disable		= x86_pe_turn_off,
	.filter			= x86_pe_filter,

	.start_txn		= x86_pe_start_txn,
	.commit_txn		= x86_pe_commit_txn,
	.cancel_txn		= x86_pe_cancel_txn,

	.add			= x86_pe_add,
	.del			= x86_pe_del,
	.start			= x86_pe_start,
	.stop			= x86_pmu_stop,
	.throttle		= x86_pe_throttle,
	.read			= x86_pe_pmu_read,

	.sched_task		= x86_pe_sched_task,

	.event_mapped		= x86_pe_event_mapped,
	.event_unmapped		= x86_pe_event_unmapped,
	.event_idx		= x86_pe_event_idx,
};

/* Before the vendor adds what its PMU is capable of. */
void __init x86_pe_pmu_init(void)
{
	x86_pe_pmu = operations;
}
