// SPDX-License-Identifier: GPL-2.0
/*
 * Branch records (FEAT_BRBE) in the samples of PMUv3 events.
 *
 * They are recorded while events that want them are on the CPU and the PMU is on.  An overflow of
 * a general counter pauses recording at once (BRBCR.FZP); the fixed counters do not, so these
 * events get none.  The interrupt handler pauses in any case, reads the records for the first
 * event that shows them, and filters them for each event.
 *
 * Each time the PMU goes on, the old records are dropped: there is a gap behind them.  That makes
 * it also impossible to see branches of the task before: while there are users the core turns the
 * PMU off and on at each switch, for the sake of pmuv3_sched_task(), which need not do anything.
 *
 * All of this is this CPU's, with irqs off and the bank frozen, as pmuv3_bank.c has it: recording
 * goes on before the bank runs and is paused after it is frozen.  So an interrupt that finds the
 * bank running finds recording on, or paused by an overflow; one that finds it frozen leaves us
 * alone.  It may be an NMI.  An overflow that pmuv3_disable() forgets on a running bank may leave
 * recording paused until the PMU goes on again.
 *
 * Nothing is recorded in guests, and while one runs at EL1 or EL0 KVM keeps the registers out of
 * its reach, and under nVHE turns recording off.
 */
#include <linux/percpu.h>

#include <asm/virt.h>

#include "pmuv3.h"
#include "pmuv3_brbe.h"

/*
 * struct brbe - the branch records of a CPU
 * @users: events on it that want them
 * @drained: @record has what this interrupt found, @valid of them
 * @stack, @entry: what the sample of an event shows; used until perf_event_overflow() is over
 */
struct brbe {
	unsigned int			users;
	bool				drained;
	unsigned int			valid;
	struct brbe_record		record[BRBE_MAX_RECORDS];
	struct perf_branch_stack	stack;
	struct perf_branch_entry	entry[BRBE_MAX_RECORDS];
};

static_assert(offsetof(struct brbe, entry) == offsetof(struct brbe, stack.entries));

/* Of all CPUs; allocated if a PMU has records, for good. */
static struct brbe __percpu *brbe;

/* What add() and del() of the framework are. */
static int (*framework_add)(struct perf_event *event, int flags);
static void (*framework_del)(struct perf_event *event, int flags);

/**
 * pmuv3_brbe_event() - make an event ready to show branches
 * @event: an event with PERF_SAMPLE_BRANCH_STACK, being opened
 *
 * Return: 0 or -EOPNOTSUPP
 */
int pmuv3_brbe_event(struct perf_event *event)
{
	struct brbe_filter filter;
	int err;

	if (!to_arm_pmu(event->pmu)->reg_brbidr)
		return -EOPNOTSUPP;
	err = brbe_filter(&event->attr, is_kernel_in_hyp_mode(), &filter);
	if (err)
		return err;
	event->hw.branch_reg.config = filter.fcr;
	event->hw.extra_reg.config = filter.cr;
	event->attach_state |= PERF_ATTACH_SCHED_CB;
	return 0;
}

/**
 * pmuv3_brbe_start() - record what the events of this CPU want
 * @pmu: its PMU, which has records; about to go on
 *
 * The ISB before PMCR.E is ours, too.
 */
void pmuv3_brbe_start(const struct arm_pmu *pmu)
{
	const struct pmu_hw_events *events = this_cpu_ptr(pmu->hw_events);
	struct brbe_filter all = { };
	int idx;

	if (!this_cpu_ptr(brbe)->users)
		return;
	for_each_set_bit(idx, events->used_mask, ARMPMU_MAX_HWEVENTS) {
		struct perf_event *event = events->events[idx];

		if (event && has_branch_stack(event)) {
			all.fcr |= event->hw.branch_reg.config;
			all.cr |= event->hw.extra_reg.config;
		}
	}
	brbe_invalidate();
	brbe_record(&all, is_kernel_in_hyp_mode());
}

/**
 * pmuv3_brbe_stop() - record no more
 *
 * The bank was frozen just now.
 */
void pmuv3_brbe_stop(void)
{
	struct brbe *b = this_cpu_ptr(brbe);

	if (!b->users)
		return;
	brbe_pause();
	b->drained = false;
}

static void drain(struct brbe *b, const struct arm_pmu *pmu)
{
	b->valid = brbe_read(b->record, brbe_usable_records(pmu->reg_brbidr));
	b->drained = true;
}

/**
 * pmuv3_brbe_sample() - add branches to a sample
 * @event: an event that wants them, whose counter overflowed
 * @data: its sample
 *
 * In the interrupt handler, with recording paused.
 */
void pmuv3_brbe_sample(struct perf_event *event, struct perf_sample_data *data)
{
	struct brbe *b = this_cpu_ptr(brbe);
	bool hyp = is_kernel_in_hyp_mode();
	unsigned int i, shown = 0;

	if (!b->drained)
		drain(b, to_arm_pmu(event->pmu));
	for (i = 0; i < b->valid; i++)
		shown += brbe_show(&b->record[i], event->attr.branch_sample_type, hyp,
				   &b->entry[shown]);
	b->stack.nr = shown;
	perf_sample_save_brstack(data, event, &b->stack, NULL);
}

/**
 * pmuv3_brbe_reset() - bring the registers of this CPU into a known state, paused and empty
 *
 * When the CPU comes up or wakes from a state that may have lost them; it has records.
 */
void pmuv3_brbe_reset(void)
{
	brbe_pause();
	brbe_invalidate();
}

/* ------------------------------------------------------------------ users */

static int add(struct perf_event *event, int flags)
{
	int err = framework_add(event, flags);

	if (!err && has_branch_stack(event)) {
		this_cpu_ptr(brbe)->users++;
		perf_sched_cb_inc(event->pmu);
	}
	return err;
}

/* Recording was paused when the PMU went off, and a last user leaves it so. */
static void del(struct perf_event *event, int flags)
{
	if (has_branch_stack(event)) {
		perf_sched_cb_dec(event->pmu);
		this_cpu_ptr(brbe)->users--;
	}
	framework_del(event, flags);
}

/**
 * pmuv3_brbe_init() - let events of a PMU show branches, if it has records
 * @pmu: the PMU, its reg_brbidr is known
 *
 * Task context, at boot.  Return: 0 or -ENOMEM.
 */
int pmuv3_brbe_init(struct arm_pmu *pmu)
{
	if (!pmu->reg_brbidr)
		return 0;
	if (!brbe)
		brbe = alloc_percpu(struct brbe);
	if (!brbe)
		return -ENOMEM;
	framework_add = pmu->pmu.add;
	framework_del = pmu->pmu.del;
	pmu->pmu.add = add;
	pmu->pmu.del = del;
	return 0;
}
