// SPDX-License-Identifier: GPL-2.0
/*
 * Registers that events need besides a counter: offcore response, latency threshold, branch select.
 *
 * Events that want the same value share a register; with other values they cannot be on at the same
 * time.  Two registers for offcore responses, and four for off-module responses, are equal but for
 * the event's code: an event that finds one taken tries the others.  Some models have one set of
 * them for both threads of a core: there cpuc points to the same intel_shared_regs for both
 * (hotplug.c).
 *
 * Taken and given back while events are scheduled, interrupts off, under the register's lock; it is
 * the innermost.  A made-up state (cpuc->is_fake) has registers of its own, in task context.
 */
#include "cpu.h"

/* Do both registers answer the same question? */
static bool are_alike(int a, int b)
{
	if (a <= EXTRA_REG_RSP_1)
		return b <= EXTRA_REG_RSP_1;
	return a >= EXTRA_REG_OMR_0 && b >= EXTRA_REG_OMR_0;
}

/* Have the event's code and register be those of @er. */
static void switch_over(struct perf_event *event, const struct extra_reg *er)
{
	event->hw.config &= ~INTEL_ARCH_EVENT_MASK;
	event->hw.config |= er->event;
	event->hw.extra_reg.idx = er->idx;
	event->hw.extra_reg.reg = er->msr;
}

static bool take(struct cpu_hw_events *cpuc, int idx, u64 value)
{
	struct er_account *era = &cpuc->shared_regs->regs[idx];

	guard(raw_spinlock_irqsave)(&era->lock);
	if (atomic_read(&era->ref) && era->config != value)
		return false;
	era->config = value;
	atomic_inc(&era->ref);
	return true;
}

/* Take one of the other registers like this one that has the bits of its value; NULL: none. */
static const struct extra_reg *
take_other(struct cpu_hw_events *cpuc, const struct hw_perf_event_extra *reg)
{
	const struct extra_reg *er = hybrid(cpuc->pmu, extra_regs);

	for (; er && er->msr; er++) {
		if (er->idx != reg->idx && are_alike(er->idx, reg->idx) && er->extra_msr_access &&
		    !(reg->config & ~er->valid_mask) && take(cpuc, er->idx, reg->config))
			return er;
	}
	return NULL;
}

static void give(struct cpu_hw_events *cpuc, struct hw_perf_event_extra *reg)
{
	if (reg->idx == EXTRA_REG_NONE || !reg->alloc || cpuc->is_fake)
		return;
	reg->alloc = 0;
	atomic_dec(&cpuc->shared_regs->regs[reg->idx].ref);
}

/*
 * An event is asked for its constraint each time others come and go, and takes its register once:
 * alloc says that it has.  A made-up state asks once, and must not touch the event.
 */
static bool take_one(struct cpu_hw_events *cpuc, struct perf_event *event,
		     struct hw_perf_event_extra *reg)
{
	const struct extra_reg *other = NULL;

	if (reg->idx == EXTRA_REG_NONE || (reg->alloc && !cpuc->is_fake))
		return true;
	if (!take(cpuc, reg->idx, reg->config)) {
		other = take_other(cpuc, reg);
		if (!other)
			return false;
	}
	if (cpuc->is_fake)
		return true;
	if (other)
		switch_over(event, other);
	cpuc->shared_regs->regs[reg->idx].reg = reg->reg;
	reg->alloc = 1;
	return true;
}

/**
 * intel_pe_get_extra_regs - take the shared registers of an event
 * @cpuc: state of a CPU
 * @event: event
 *
 * Return: false, with none taken, if there is one that has another value.
 */
bool intel_pe_get_extra_regs(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	if (!take_one(cpuc, event, &event->hw.extra_reg))
		return false;
	if (take_one(cpuc, event, &event->hw.branch_reg))
		return true;
	give(cpuc, &event->hw.extra_reg);
	return false;
}

/** intel_pe_put_extra_regs - undo intel_pe_get_extra_regs() */
void intel_pe_put_extra_regs(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	give(cpuc, &event->hw.extra_reg);
	give(cpuc, &event->hw.branch_reg);
}
