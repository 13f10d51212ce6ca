// SPDX-License-Identifier: GPL-2.0
/*
 * The PMUv3 registers of this CPU, and what they are known to hold.
 *
 * The only file that touches them.  On real hardware each access takes some dozen cycles, each ISB
 * more, and in a guest most of them trap to the hypervisor; so writes wait until they are needed
 * and are left out when they change nothing.  Who else writes: KVM, see set_odd_types() and
 * pmuv3_set_userenr(); a power-down, after which the PM and hotplug notifiers call pmuv3_reset().
 *
 * The bank is running (PMCR.E set) or frozen.  Frozen, nothing counts and no interrupt is raised,
 * whatever the other registers say.  Counters are therefore armed and disarmed in two words of
 * memory, without a barrier, and pmuv3_thaw() brings the enable registers up to date once, with one
 * ISB before PMCR.E for everything written since the freeze.  Freezing ends with an ISB: what is
 * read after it is final.  The bank stays frozen while no event is on it, with the counters of the
 * last ones still enabled.
 *
 * Context: interrupts off on the CPU; only pmuv3_read_counter() also takes a running bank.  The
 * overflow interrupt may be an NMI.  It changes the bank only if it finds it running: then nobody
 * else is at work here, since everybody freezes first.  The order of the writes to ->running makes
 * that true; four places where the NMI can hit:
 *
 *  - freeze, before ->running = false: the handler freezes and thaws by itself; we go on with what
 *    it left, a running bank.
 *  - freeze, between ->running = false and PMCR, or anywhere while it is frozen: possible if the
 *    interrupt was on its way before.  The handler only calls pmuv3_hush().
 *  - thaw, before ->running = true: the same.  The overflow flags stay set, so PMCR.E raises the
 *    interrupt again; lift_hush() sees to it that it can.
 *  - thaw, after ->running = true: the bank is complete, the handler freezes and thaws.  We then
 *    set PMCR.E a second time, which is what the handler left.
 */
#include <asm/barrier.h>
#include <linux/bitops.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "pmuv3.h"
#include "pmuv3_regs.h"

/*
 * struct bank - the registers of one CPU
 * @running: PMCR.E is set; false from before it is cleared until after all else is in place
 * @hushed: pmuv3_hush() cleared PMINTEN behind the back of @inten
 * @userenr: PMUSERENR, or UNKNOWN
 * @uacr: PMUACR, or UNKNOWN
 * @counters: those that there are
 * @pmcr: PMCR while frozen
 * @cnten: PMCNTEN
 * @inten: PMINTEN
 * @counting: what PMCNTEN shall be when the bank runs
 * @interrupting: what PMINTEN shall be
 * @stale: overflow flags that mean nothing any more, cleared before the bank runs
 * @dirty: counters that may hold something else than 0
 * @type: PMEVTYPER<n>, PMCCFILTR and PMICFILTR, or UNKNOWN
 */
struct bank {
	bool	running;
	bool	hushed;
	u64	userenr, uacr;
	u64	counters;
	u64	pmcr;
	u64	cnten, inten;
	u64	counting, interrupting;
	u64	stale;
	u64	dirty;
	u64	type[ARMPMU_MAX_HWEVENTS];
};

#define UNKNOWN	U64_MAX		/* no register of these can hold it */

/* One PMU has the CPU, so one bank does, too. */
static DEFINE_PER_CPU(struct bank, bank);

/**
 * pmuv3_reset() - bring the registers of this CPU into a known state, frozen
 * @pmu: the struct arm_pmu that the CPU belongs to
 *
 * When the CPU comes up or wakes from a state that may have lost them.
 */
void pmuv3_reset(void *pmu)
{
	struct bank *b = this_cpu_ptr(&bank);
	u64 counters = pmuv3_counters(pmu);

	*b = (struct bank) {
		.pmcr		= ARMV8_PMU_PMCR_LC | (pmuv3_all_long(pmu) ? ARMV8_PMU_PMCR_LP : 0),
		.userenr	= UNKNOWN,
		.uacr		= UNKNOWN,
		.counters	= counters,
		.dirty		= counters,
	};
	memset64(b->type, UNKNOWN, ARRAY_SIZE(b->type));

	kvm_clr_pmu_events(counters);
	write_pmcr(b->pmcr | ARMV8_PMU_PMCR_P | ARMV8_PMU_PMCR_C);
	write_pmcntenclr(counters);
	write_pmintenclr(counters);
	isb();		/* no counter sets its flag after this */
	write_pmovsclr(counters);
	isb();
}

static inline bool freeze(struct bank *b)
{
	if (!b->running)
		return false;
	WRITE_ONCE(b->running, false);
	barrier();	/* (a) before PMCR and whatever the caller changes */
	write_pmcr(b->pmcr);
	isb();
	return true;
}

/**
 * pmuv3_freeze() - stop all counters
 *
 * Return: true if they were running, hence the caller shall thaw them.
 */
bool pmuv3_freeze(void)
{
	return freeze(this_cpu_ptr(&bank));
}

static void update_counting(struct bank *b)
{
	u64 off = b->cnten & ~b->counting, on = b->counting & ~b->cnten;

	if (off)
		write_pmcntenclr(off);
	if (on)
		write_pmcntenset(on);
	b->cnten = b->counting;
}

static void update_interrupting(struct bank *b)
{
	u64 off = b->inten & ~b->interrupting, on = b->interrupting & ~b->inten;

	if (off)
		write_pmintenclr(off);
	if (on)
		write_pmintenset(on);
	b->inten = b->interrupting;
}

/**
 * pmuv3_clear_stale() - clear overflow flags that mean nothing any more; the bank is frozen
 *
 * pmuv3_thaw() does so.  Who records branches needs it before: a flag may pause recording.
 */
void pmuv3_clear_stale(void)
{
	struct bank *b = this_cpu_ptr(&bank);

	if (!b->stale)
		return;
	write_pmovsclr(b->stale);
	b->stale = 0;
}

/* With the bank marked running: an interrupt can hush it no more. */
static void lift_hush(struct bank *b)
{
	b->hushed = false;
	write_pmintenset(b->inten);
}

/**
 * pmuv3_thaw() - let the armed counters run
 */
void pmuv3_thaw(void)
{
	struct bank *b = this_cpu_ptr(&bank);

	if (b->cnten != b->counting)
		update_counting(b);
	if (b->inten != b->interrupting)
		update_interrupting(b);
	pmuv3_clear_stale();

	barrier();	/* (a) all of the above is complete */
	WRITE_ONCE(b->running, true);
	if (unlikely(READ_ONCE(b->hushed)))
		lift_hush(b);
	isb();
	write_pmcr(b->pmcr | ARMV8_PMU_PMCR_E);
	kvm_vcpu_pmu_resync_el0();
}

/**
 * pmuv3_hush() - silence an interrupt that found the bank frozen
 *
 * The architecture raises none then, but one may be on its way, and an emulated PMU may look at
 * PMCR.E only when something else changes.  The flags stay for the interrupt after the thaw.
 */
void pmuv3_hush(void)
{
	struct bank *b = this_cpu_ptr(&bank);

	WRITE_ONCE(b->hushed, true);
	write_pmintenclr(b->counters);
	isb();
}

/**
 * pmuv3_take_overflows() - which counters overflowed since they were asked last
 *
 * The bank is frozen: no flag is set between reading and clearing, or later.
 */
u64 pmuv3_take_overflows(void)
{
	u64 flags = read_pmovsclr() & ARMV8_PMU_OVERFLOWED_MASK;

	if (flags)
		write_pmovsclr(flags);
	return flags;
}

/* @type: event number and filters; of the fixed counters only the filters matter. */
static noinline void write_type(struct bank *b, int idx, u64 type)
{
	b->type[idx] = type;
	if (idx == ARMV8_PMU_CYCLE_IDX)
		write_pmccfiltr(type & ~ARMV8_PMU_EVTYPE_EVENT);
	else if (idx == ARMV8_PMU_INSTR_IDX)
		write_pmicfiltr(type & ~ARMV8_PMU_EVTYPE_EVENT);
	else
		write_pmevtypern(idx, type);
}

static inline void set_type(struct bank *b, int idx, u64 type)
{
	if (unlikely(b->type[idx] != type))
		write_type(b, idx, type);
}

static u64 read_one(int idx)
{
	if (idx == ARMV8_PMU_CYCLE_IDX)
		return read_pmccntr();
	if (idx == ARMV8_PMU_INSTR_IDX)
		return read_pmicntr();
	return read_pmevcntrn(idx);
}

static void write_one(struct bank *b, int idx, u64 value)
{
	b->dirty |= BIT_ULL(idx);
	if (idx == ARMV8_PMU_CYCLE_IDX)
		write_pmccntr(value);
	else if (idx == ARMV8_PMU_INSTR_IDX)
		write_pmicntr(value);
	else
		write_pmevcntrn(idx, value);
}

/**
 * pmuv3_wipe() - remove what unused counters still show
 * @used: the counters that have an event
 *
 * The bank is frozen, and the others are disarmed: they keep the 0 until they are written.
 */
void pmuv3_wipe(u64 used)
{
	struct bank *b = this_cpu_ptr(&bank);
	unsigned long left = b->dirty & ~used;
	int idx;

	for_each_set_bit(idx, &left, ARMPMU_MAX_HWEVENTS)
		write_one(b, idx, 0);
	b->dirty &= used;
}

/**
 * pmuv3_set_userenr() - what EL0 may access
 * @value: ARMV8_PMU_USERENR_*
 *
 * While the register holds a guest's value KVM keeps ours and puts it back.
 */
void pmuv3_set_userenr(u32 value)
{
	struct bank *b = this_cpu_ptr(&bank);

	if (b->userenr == value)
		return;
	b->userenr = value;
	if (!kvm_set_pmuserenr(value))
		write_pmuserenr(value);
}

/**
 * pmuv3_set_uacr() - which counters EL0 sees while PMUSERENR.UEN is set
 * @counters: those; the PMU has FEAT_PMUv3p9
 *
 * A guest never has UEN.  Like PMUSERENR it takes effect when the kernel returns to EL0.
 */
void pmuv3_set_uacr(u64 counters)
{
	struct bank *b = this_cpu_ptr(&bank);

	if (b->uacr == counters)
		return;
	b->uacr = counters;
	write_sysreg_s(counters, SYS_PMUACR_EL1);
}

/* ------------------------------------------------------------ the counters of an event */

/*
 * The lower half may wrap between the two reads.  A lower half of 2^31 or more did not just wrap,
 * so the upper half read before belongs to it; and a smaller one will not wrap soon, so the upper
 * half read after belongs to it.
 */
static u64 read_pair(int idx)
{
	u64 before = read_one(idx);
	u64 low = read_one(idx - 1);
	u64 high = low & BIT(31) ? before : read_one(idx);

	return high << 32 | low;
}

/**
 * pmuv3_read_counter() - what the counter of an event shows
 * @event: an event that has one
 */
u64 pmuv3_read_counter(struct perf_event *event)
{
	const struct hw_perf_event *hw = &event->hw;
	u64 value = unlikely(pmuv3_is_pair(hw)) ? read_pair(hw->idx) : read_one(hw->idx);

	return hw->flags & ARMPMU_EVT_64BIT ? value : lower_32_bits(value);
}

/*
 * The fixed counters and those of FEAT_PMUv3p5 have 64 bits, but an event that is not long must
 * overflow as if there were 32 (its period assumes that): the upper half is written as all ones.
 */
static bool has_64_bits(const struct perf_event *event)
{
	return event->hw.idx >= ARMV8_PMU_MAX_GENERAL_COUNTERS ||
	       pmuv3_all_long(to_arm_pmu(event->pmu));
}

static noinline void write_pair(struct bank *b, int idx, u64 value)
{
	write_one(b, idx, upper_32_bits(value));
	write_one(b, idx - 1, lower_32_bits(value));
}

/**
 * pmuv3_write_counter() - set the counter of an event
 * @event: an event that has one
 * @value: of 32 bits, if the event is not long
 */
void pmuv3_write_counter(struct perf_event *event, u64 value)
{
	struct bank *b = this_cpu_ptr(&bank);
	const struct hw_perf_event *hw = &event->hw;

	if (unlikely(pmuv3_is_pair(hw))) {
		write_pair(b, hw->idx, value);
		return;
	}
	if (!(hw->flags & ARMPMU_EVT_64BIT) && has_64_bits(event))
		value |= GENMASK_ULL(63, 32);
	write_one(b, hw->idx, value);
}

/*
 * The upper half counts overflows wherever the lower one counts events.  Of a switched event KVM
 * changes the types until it is disabled.
 */
static noinline void set_odd_types(struct bank *b, const struct hw_perf_event *hw)
{
	int idx = hw->idx;

	if (pmuv3_is_pair(hw)) {
		set_type(b, idx, ARMV8_PMUV3_PERFCTR_CHAIN | ARMV8_PMU_INCLUDE_EL2);
		idx--;
	}
	set_type(b, idx, hw->config_base);
	if (hw->flags & PMUV3_EVT_SWITCHED) {
		b->type[hw->idx] = UNKNOWN;
		b->type[idx] = UNKNOWN;
	}
}

static inline void set_types(struct bank *b, const struct hw_perf_event *hw)
{
	if (unlikely(hw->flags & (PMUV3_EVT_PAIR | PMUV3_EVT_SWITCHED)))
		set_odd_types(b, hw);
	else
		set_type(b, hw->idx, hw->config_base);
}

static void enable_frozen(struct bank *b, struct perf_event *event)
{
	const struct hw_perf_event *hw = &event->hw;
	u64 counters = pmuv3_counters_of(hw);

	set_types(b, hw);
	kvm_set_pmu_events(counters, &event->attr);
	if (!kvm_pmu_counter_deferred(&event->attr))
		b->counting |= counters;
	b->interrupting |= BIT_ULL(hw->idx);
}

/**
 * pmuv3_enable() - count an event from the next thaw on
 * @event: an event that has a counter, disabled
 *
 * Of an event that counts guests only KVM enables the counters, when it enters one at EL1.
 */
void pmuv3_enable(struct perf_event *event)
{
	struct bank *b = this_cpu_ptr(&bank);
	bool running = freeze(b);

	enable_frozen(b, event);
	if (unlikely(running))
		pmuv3_thaw();
}

/**
 * pmuv3_disable() - count an event no more
 * @event: an event that has a counter; an overflow that was not handled yet is forgotten
 *
 * With the PMU off the counter already stands still, final for the framework, which reads it next.
 * Else it does when this returns.
 */
void pmuv3_disable(struct perf_event *event)
{
	struct bank *b = this_cpu_ptr(&bank);
	u64 counters = pmuv3_counters_of(&event->hw);
	bool running = freeze(b);

	kvm_clr_pmu_events(counters);
	b->counting &= ~counters;
	b->interrupting &= ~counters;
	b->stale |= counters;
	if (unlikely(running))
		pmuv3_thaw();
}
