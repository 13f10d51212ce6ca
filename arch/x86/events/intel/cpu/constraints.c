// SPDX-License-Identifier: GPL-2.0
/*
 * Which counters may an event have?
 *
 * get_event_constraints of the models.  Called while events are scheduled: on their CPU with
 * interrupts off, or with a made-up state (cpuc->is_fake) in task context when a group is
 * validated. The answer is a row of the model's table, or one of those here, or a copy of one of
 * them in cpuc->constraint_list that was cut down (PERF_X86_EVENT_DYNAMIC); a copy is asked for
 * again each time.  put_event_constraints gives back what get took: shared registers, exclusive
 * counters.
 */
#include "cpu.h"
#include "pebs/pebs.h"

#define ANY_CODE(counters) \
	__EVENT_CONSTRAINT(0, counters, X86_ALL_EVENT_FLAGS, HWEIGHT(counters), 0, 0)
#define FIXED0		BIT_ULL(INTEL_PMC_IDX_FIXED)

/* Constraints are not written to, but the type of the interface is not const. */
static struct event_constraint only_0 = ANY_CODE(0x1ULL);
static struct event_constraint only_1 = ANY_CODE(0x2ULL);
static struct event_constraint only_2 = ANY_CODE(0x4ULL);
static struct event_constraint only_0_1 = ANY_CODE(0x3ULL);
static struct event_constraint only_1_to_7 = ANY_CODE(0xfeULL);
static struct event_constraint only_fixed_0 = ANY_CODE(FIXED0);
static struct event_constraint only_0_or_fixed_0 = ANY_CODE(FIXED0 | 0x1ULL);
static struct event_constraint only_0_1_or_fixed_0 = ANY_CODE(FIXED0 | 0x3ULL);

/**
 * x86_get_event_constraints - look the event up in the table of its PMU
 * @cpuc: state of a CPU
 * @idx: unused, number of the event in the list
 * @event: event
 */
struct event_constraint *
x86_get_event_constraints(struct cpu_hw_events *cpuc, int idx, struct perf_event *event)
{
	struct event_constraint *c, *table = hybrid(cpuc->pmu, event_constraints);

	for (c = table; c && c->weight != -1; c++) {
		if (constraint_match(c, event->hw.config)) {
			intel_pe_add_flags(event, c->flags);
			return c;
		}
	}
	return &hybrid_var(cpuc->pmu, unconstrained);
}

/* Branch records of guests and BTS are on counters that do not exist. */
static struct event_constraint *special(struct perf_event *event)
{
	if (unlikely(constraint_match(&vlbr_constraint, event->hw.config))) {
		intel_pe_add_flags(event, vlbr_constraint.flags);
		return &vlbr_constraint;
	}
	return unlikely(intel_pmu_has_bts(event)) ? &bts_constraint : NULL;
}

static struct event_constraint *
look_up(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	struct event_constraint *c = special(event);

	if (c)
		return c;
	if (!intel_pe_get_extra_regs(cpuc, event))
		return &emptyconstraint;
	return intel_pebs_constraints(event) ?: x86_get_event_constraints(cpuc, i, event);
}

/* The copy an event has begins with what it is a copy of, again. */
static struct event_constraint *
refresh(struct event_constraint *copy, struct event_constraint *c)
{
	if (!copy)
		return c;
	WARN_ON_ONCE(!(copy->flags & PERF_X86_EVENT_DYNAMIC));
	copy->idxmsk64 = c->idxmsk64;
	copy->weight = c->weight;
	return copy;
}

/*
 * What the CPU leaves of it, or a group whose counters are reloaded; also of what a model says
 * instead of its tables.  CPUs that do either have room for copies.
 */
static struct event_constraint *cut_down(struct cpu_hw_events *cpuc, struct perf_event *event,
					 struct event_constraint *c)
{
	if (intel_pe_arch_pebs() && event->attr.precise_ip &&
	    c->idxmsk64 & ~intel_pe_arch_counters(event))
		c = intel_pe_leave_only(cpuc, c, intel_pe_arch_counters(event));
	if (unlikely(intel_pe_has_acr_group(event)))
		c = intel_pe_leave_only(cpuc, c, intel_pe_acr_counters(cpuc, event));
	return c;
}

/* x86_pmu.get_event_constraints of models without further rules, and what the others begin with */
struct event_constraint *
intel_pe_get_constraint(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	struct event_constraint *c;

	c = refresh(cpuc->event_constraint[i], look_up(cpuc, i, event));
	if (cpuc->excl_cntrs)
		return intel_pe_get_excl_cntrs(cpuc, event, c);
	if (branch_sample_counters(event))
		c = intel_pe_leave_only(cpuc, c, x86_pmu.lbr_counters);
	return cut_down(cpuc, event, c);
}

/* x86_pmu.put_event_constraints */
void intel_pe_put_constraint(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	intel_pe_put_extra_regs(cpuc, event);
	if (cpuc->excl_cntrs)
		intel_pe_put_excl_cntrs(cpuc, event);
}

/* One of a few constraints, by which of counters 0 and 1 the event could have. */
static struct event_constraint *either(struct event_constraint *c, u64 counters)
{
	switch (c->idxmsk64 & counters) {
	case 0x1:
		return &only_0;
	case 0x2:
		return &only_1;
	case 0x3:
		return &only_0_1;
	}
	return &emptyconstraint;
}

static bool most_precise(struct perf_event *event)
{
	return event->attr.precise_ip == 3;
}

static bool is_instructions(struct perf_event *event)
{
	return (event->hw.config & FIXED_EVENT_FLAGS) == 0xc0;
}

/* Only counter 2 is rolled back with a transaction. */
struct event_constraint *
intel_pe_get_hsw(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	struct event_constraint *c = intel_pe_get_constraint(cpuc, i, event);

	if (likely(!intel_pe_is_checkpointed(event)))
		return c;
	return test_bit(2, c->idxmsk) ? &only_2 : &emptyconstraint;
}

/* PDist of instructions (INST_RETIRED.PREC_DIST) is on their fixed counter. */
struct event_constraint *
intel_pe_get_icl(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	if (most_precise(event) && is_instructions(event))
		return cut_down(cpuc, event, &only_fixed_0);
	return intel_pe_get_hsw(cpuc, i, event);
}

/* PDist of other events is on counter 0. */
struct event_constraint *
intel_pe_get_glc(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	struct event_constraint *c = intel_pe_get_icl(cpuc, i, event);

	return most_precise(event) && !is_instructions(event) ? either(c, 0x1) : c;
}

/* The fixed counter of instructions does not know how long they took to retire. */
static struct event_constraint *
get_rwc(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	struct event_constraint *c = intel_pe_get_glc(cpuc, i, event);

	if (!event->attr.precise_ip || !is_instructions(event) ||
	    !(event->attr.sample_type & PERF_SAMPLE_WEIGHT_TYPE))
		return c;
	if (most_precise(event))
		return &emptyconstraint;
	c = cut_down(cpuc, event, &only_1_to_7);
	return branch_sample_counters(event) ?
		intel_pe_leave_only(cpuc, c, x86_pmu.lbr_counters) : c;
}

/* Less skid on counter 0. */
struct event_constraint *
intel_pe_get_glp(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	return most_precise(event) ? &only_0 : intel_pe_get_constraint(cpuc, i, event);
}

/* The same, and on the fixed counter of instructions. */
struct event_constraint *
intel_pe_get_tnt(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	struct event_constraint *c = intel_pe_get_constraint(cpuc, i, event);

	if (likely(!most_precise(event)))
		return c;
	return cut_down(cpuc, event, is_instructions(event) ? &only_0_or_fixed_0 : &only_0);
}

/* Two counters and the fixed one, which cannot log counts with branches. */
struct event_constraint *
intel_pe_get_cmt(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	struct event_constraint *c = intel_pe_get_constraint(cpuc, i, event);

	if (likely(!most_precise(event)))
		return c;
	if (!is_instructions(event))
		return either(c, 0x3);
	return cut_down(cpuc, event,
			branch_sample_counters(event) ? &only_0_1 : &only_0_1_or_fixed_0);
}

struct event_constraint *
intel_pe_get_adl(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	return intel_pe_is_big(event) ? intel_pe_get_glc(cpuc, i, event) :
					intel_pe_get_tnt(cpuc, i, event);
}

struct event_constraint *
intel_pe_get_mtl(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	return intel_pe_is_big(event) ? get_rwc(cpuc, i, event) :
					intel_pe_get_cmt(cpuc, i, event);
}
