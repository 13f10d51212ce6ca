// SPDX-License-Identifier: GPL-2.0
/*
 * From a list of events to an assignment of counters.
 *
 * Collects the events that shall be on the PMU together, gets each its constraint from the vendor,
 * tries the counters they had, and else asks the solver (assign.c).  Works on the state of this
 * CPU, called by pmu.c with interrupts off and the PMU off; or on the made-up state of a group that
 * is being validated, called by group.c in task context.  Vendor hooks between start_scheduling and
 * stop_scheduling hold the vendor's locks (hyper-threads that share counters).
 *
 * Events [0, first new) of cpuc->event_list have a cached constraint and an assigned counter; those
 * after it have neither.
 */
#include "core.h"

static int count_metrics(struct cpu_hw_events *cpuc, int n)
{
	int i, metrics = 0;

	for (i = 0; i < n; i++)
		metrics += is_metric_event(cpuc->event_list[i]);
	return metrics;
}

/* Metrics share one counter; what else there is must not outnumber the counters. */
static bool has_room(struct cpu_hw_events *cpuc, struct perf_event *event, int n)
{
	union perf_capabilities cap = hybrid(cpuc->pmu, intel_cap);
	int limit = x86_pmu_num_counters(cpuc->pmu) + x86_pmu_num_counters_fixed(cpuc->pmu);

	if (cap.perf_metrics) {
		int metrics = count_metrics(cpuc, n) + is_metric_event(event);

		if (metrics > INTEL_TD_METRIC_NUM)
			return false;
		limit += metrics;
	}
	return n < limit;
}

/*
 * PEBS writes either to memory or to the stream of Intel PT, one for all events of a CPU.  An event
 * for PT whose PT event has gone cannot be scheduled any more.
 */
static bool same_pebs_output(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	int output = is_pebs_pt(event) + 1;

	if (is_pebs_pt(event) && !event->aux_event)
		return false;
	if (cpuc->pebs_output && cpuc->pebs_output != output)
		return false;
	cpuc->pebs_output = output;
	return true;
}

/**
 * x86_pe_collect - append an event to the list
 * @cpuc: state of a CPU, real or made up
 * @event: event, ignored if it is not of this driver
 * @n: number of events listed
 *
 * cpuc->n_events stays as it is.
 * Return: the new number of events, or -EINVAL.
 */
int x86_pe_collect(struct cpu_hw_events *cpuc, struct perf_event *event, int n)
{
	if (!cpuc->n_pebs)
		cpuc->pebs_output = 0;
	if (event->attr.precise_ip && !cpuc->is_fake && !same_pebs_output(cpuc, event))
		return -EINVAL;
	if (!is_x86_event(event))
		return n;
	if (!has_room(cpuc, event, n))
		return -EINVAL;
	cpuc->event_list[n] = event;
	return n + 1;
}

/* As x86_pe_collect(), for a leader and those of its siblings that are not off. */
int x86_pe_collect_group(struct cpu_hw_events *cpuc, struct perf_event *leader, int n)
{
	struct perf_event *sibling;

	n = x86_pe_collect(cpuc, leader, n);
	for_each_sibling_event(sibling, leader) {
		if (n < 0)
			break;
		if (sibling->state > PERF_EVENT_STATE_OFF)
			n = x86_pe_collect(cpuc, sibling, n);
	}
	return n;
}

/* Of some constraints; @any: counters that are good for one of the events at least. */
struct weights {
	int	least, most;
	u64	any;
};

/* New events have no constraint yet; a dynamic one may have changed since. */
static struct weights fetch_constraints(struct cpu_hw_events *cpuc, int n, int first_new)
{
	struct weights w = { .least = X86_PMC_IDX_MAX };
	int i;

	for (i = 0; i < n; i++) {
		struct event_constraint **c = &cpuc->event_constraint[i];

		WARN_ON_ONCE(!*c != (i >= first_new));
		if (!*c || ((*c)->flags & PERF_X86_EVENT_DYNAMIC))
			*c = static_call(x86_pmu_get_event_constraints)(cpuc, i,
									cpuc->event_list[i]);
		w.least = min(w.least, (*c)->weight);
		w.most = max(w.most, (*c)->weight);
		w.any |= (*c)->idxmsk64;
	}
	return w;
}

/*
 * Can every event have the counter it has, or, if it is new, had?  This is the common case: a task
 * comes back, or an event joins others that need not move.
 */
static bool keep_counters(struct cpu_hw_events *cpuc, int n, int first_new, int *assign)
{
	u64 used = 0, mask;
	int i, idx;

	for (i = 0; i < n; i++) {
		struct hw_perf_event *hw = &cpuc->event_list[i]->hw;

		idx = i < first_new ? cpuc->assign[i] : hw->idx;
		if (idx < 0 || !test_bit(idx, cpuc->event_constraint[i]->idxmsk))
			return false;
		mask = x86_pe_footprint(hw, idx);
		if (used & mask)
			return false;
		used |= mask;
		if (assign)
			assign[i] = idx;
	}
	return true;
}

/* How many general counters may be in use? */
static int general_limit(struct cpu_hw_events *cpuc, int n)
{
	int i, limit = x86_pmu_max_num_counters(cpuc->pmu);

	/*
	 * While the other hyper-thread runs an event that needs its counter alone in the core, half
	 * of the counters must remain that cannot be taken so.
	 */
	if (is_ht_workaround_enabled() && !cpuc->is_fake &&
	    READ_ONCE(cpuc->excl_cntrs->exclusive_present))
		limit /= 2;

	/* the other counter of large-increment events */
	for (i = 0; (x86_pmu.flags & PMU_FL_PAIR) && i < n; i++)
		limit -= is_counter_pair(&cpuc->event_list[i]->hw);
	return limit;
}

/* The new events have to go, or, when it was only a question, are put back too. */
static void put_new(struct cpu_hw_events *cpuc, int n, int first_new)
{
	int i;

	for (i = first_new; i < n; i++) {
		static_call_cond(x86_pmu_put_event_constraints)(cpuc, cpuc->event_list[i]);
		cpuc->event_constraint[i] = NULL;
	}
}

/**
 * x86_schedule_events - can these events be on the PMU at once?
 * @cpuc: state of a CPU, with the events in event_list
 * @n: number of events
 * @assign: where their counters go; NULL: no more than an answer is wanted
 *
 * Of cpuc->n_events those of a running transaction are new, as are those from cpuc->n_events on.
 * Return: 0, and the vendor has committed the assignment; or -EINVAL.
 */
int x86_schedule_events(struct cpu_hw_events *cpuc, int n, int *assign)
{
	int first_new = cpuc->n_events - (x86_pe_in_add_txn(cpuc) ? cpuc->n_txn : 0);
	struct weights w;
	bool fits;
	int i;

	static_call_cond(x86_pmu_start_scheduling)(cpuc);

	w = fetch_constraints(cpuc, n, first_new);
	fits = keep_counters(cpuc, n, first_new, assign) ||
	       (hweight64(w.any) >= n &&
		!perf_assign_events(cpuc->event_constraint, n, w.least, w.most,
				    general_limit(cpuc, n), assign));
	if (fits && assign) {
		for (i = 0; i < n; i++)
			static_call_cond(x86_pmu_commit_scheduling)(cpuc, i, assign[i]);
	} else {
		put_new(cpuc, n, first_new);
	}

	static_call_cond(x86_pmu_stop_scheduling)(cpuc);
	return fits ? 0 : -EINVAL;
}

/**
 * x86_pe_rejoin - can one more event have the counter it had, while the others stay?
 * @cpuc: state of this CPU; the event is the first one after those listed
 * @used: counters of those listed
 *
 * For vendors whose hooks concern a single event only, and if the constraints of the others cannot
 * have changed: then this is what x86_schedule_events() would find, without a look at the others.
 * Return: the counter, as committed by the vendor; or -1, with everything as before.
 */
int x86_pe_rejoin(struct cpu_hw_events *cpuc, u64 used)
{
	int i = cpuc->n_events;
	struct perf_event *event = cpuc->event_list[i];
	int idx = event->hw.idx;
	struct event_constraint *c;

	if (idx < 0 || (used & x86_pe_footprint(&event->hw, idx)) ||
	    x86_pmu.start_scheduling || x86_pmu.schedule_events != x86_schedule_events)
		return -1;

	c = static_call(x86_pmu_get_event_constraints)(cpuc, i, event);
	if (!test_bit(idx, c->idxmsk)) {
		static_call_cond(x86_pmu_put_event_constraints)(cpuc, event);
		return -1;
	}
	cpuc->event_constraint[i] = c;
	static_call_cond(x86_pmu_commit_scheduling)(cpuc, i, idx);
	return idx;
}
