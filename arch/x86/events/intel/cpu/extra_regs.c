// SPDX-License-Identifier: GPL-2.0
/*
 * Registers that events need besides a counter: offcore response, latency threshold, branch select.
 *
 * Events that want the same value share a register; with other values they cannot be on at the same
 * time.  Two registers for offcore responses are equal but for the event's code: who finds one
 * taken tries the other.  Some models have one set of them for both threads of a core: there cpuc
 * points to the same intel_shared_regs for both (hotplug.c).
 *
 * Taken and given back while events are scheduled, interrupts off, under the register's lock; it is
 * the innermost.  A made-up state (cpuc->is_fake) has registers of its own, in task context.
 */
#include "cpu.h"

/* The same responses through the other register, if it has the bits of this value. */
static int other_response(struct cpu_hw_events *cpuc, int idx, u64 value)
{
	struct extra_reg *er = hybrid(cpuc->pmu, extra_regs);
	int other;

	if (!(x86_pmu.flags & PMU_FL_HAS_RSP_1))
		return idx;
	if (idx != EXTRA_REG_RSP_0 && idx != EXTRA_REG_RSP_1)
		return idx;
	other = idx ^ EXTRA_REG_RSP_0 ^ EXTRA_REG_RSP_1;
	for (; er && er->msr; er++) {
		if (er->idx == other)
			return value & ~er->valid_mask ? idx : other;
	}
	return idx;
}

/* Have the event's code and register be those of @idx. */
static void switch_over(struct perf_event *event, int idx)
{
	struct extra_reg *er = hybrid(event->pmu, extra_regs);

	while (er->idx != idx)
		er++;
	event->hw.config &= ~INTEL_ARCH_EVENT_MASK;
	event->hw.config |= er->event;
	event->hw.extra_reg.idx = idx;
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
	int idx = reg->idx;

	if (idx == EXTRA_REG_NONE || (reg->alloc && !cpuc->is_fake))
		return true;
	if (!take(cpuc, idx, reg->config)) {
		idx = other_response(cpuc, idx, reg->config);
		if (idx == reg->idx || !take(cpuc, idx, reg->config))
			return false;
	}
	if (cpuc->is_fake)
		return true;
	if (idx != reg->idx)
		switch_over(event, idx);
	cpuc->shared_regs->regs[idx].reg = reg->reg;
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
