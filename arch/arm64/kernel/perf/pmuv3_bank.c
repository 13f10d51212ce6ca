// SPDX-License-Identifier: GPL-2.0
/*
 * The PMUv3 registers of this CPU, and what they are known to hold.
 *
 * The only file that touches them.  On real hardware each access takes some dozen cycles, each ISB
 * more, and in a guest most of them trap to the hypervisor; so writes wait until they are needed
 * and are left out when they change nothing.  Who else writes: KVM, see pmuv3_forget_type() and
 * pmuv3_set_userenr(); a power-down, after which the PM and hotplug notifiers call pmuv3_reset().
 *
 * The bank is running (PMCR.E set) or frozen.  Frozen, nothing counts and no interrupt is raised,
 * whatever the other registers say.  Counters are therefore armed and disarmed in two words of
 * memory, without a barrier, and pmuv3_thaw() brings the enable registers up to date once, with one
 * ISB before PMCR.E for everything written since the freeze.  Freezing ends with an ISB: what is
 * read after it is final.  The bank stays frozen while no event is on it, with the counters of the
 * last ones still enabled.
 *
 * Context: interrupts off on the CPU; only pmuv3_read_one() also takes a running bank.  The
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

/*
 * struct bank - the registers of one CPU
 * @running: PMCR.E is set; false from before it is cleared until after all else is in place
 * @hushed: pmuv3_hush() cleared PMINTEN behind the back of @inten
 * @userenr: PMUSERENR, or UNKNOWN
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
	u64	userenr;
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

/**
 * pmuv3_freeze() - stop all counters
 *
 * Return: true if they were running, hence the caller shall thaw them.
 */
bool pmuv3_freeze(void)
{
	struct bank *b = this_cpu_ptr(&bank);

	if (!b->running)
		return false;
	WRITE_ONCE(b->running, false);
	barrier();	/* (a) before PMCR and whatever the caller changes */
	write_pmcr(b->pmcr);
	isb();
	return true;
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

static void clear_stale(struct bank *b)
{
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
	if (b->stale)
		clear_stale(b);

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

/**
 * pmuv3_arm() - have counters count from the next thaw on
 * @counting: the counters
 * @interrupting: those whose overflow interrupts
 */
void pmuv3_arm(u64 counting, u64 interrupting)
{
	struct bank *b = this_cpu_ptr(&bank);

	b->counting |= counting;
	b->interrupting |= interrupting;
}

/**
 * pmuv3_disarm() - have counters count no more
 * @counters: the counters; an overflow that was not handled yet is forgotten
 */
void pmuv3_disarm(u64 counters)
{
	struct bank *b = this_cpu_ptr(&bank);

	b->counting &= ~counters;
	b->interrupting &= ~counters;
	b->stale |= counters;
}

/**
 * pmuv3_set_type() - what a counter shall count
 * @idx: the counter
 * @type: event number and filters; of the fixed counters only the filters matter
 */
void pmuv3_set_type(int idx, u64 type)
{
	struct bank *b = this_cpu_ptr(&bank);

	if (b->type[idx] == type)
		return;
	b->type[idx] = type;
	if (idx == ARMV8_PMU_CYCLE_IDX)
		write_pmccfiltr(type & ~ARMV8_PMU_EVTYPE_EVENT);
	else if (idx == ARMV8_PMU_INSTR_IDX)
		write_pmicfiltr(type & ~ARMV8_PMU_EVTYPE_EVENT);
	else
		write_pmevtypern(idx, type);
}

/**
 * pmuv3_forget_type() - KVM may change the type of this counter until it is disabled
 * @idx: the counter
 */
void pmuv3_forget_type(int idx)
{
	this_cpu_ptr(&bank)->type[idx] = UNKNOWN;
}

/**
 * pmuv3_read_one() - read a counter
 * @idx: the counter
 */
u64 pmuv3_read_one(int idx)
{
	if (idx == ARMV8_PMU_CYCLE_IDX)
		return read_pmccntr();
	if (idx == ARMV8_PMU_INSTR_IDX)
		return read_pmicntr();
	return read_pmevcntrn(idx);
}

/**
 * pmuv3_write_one() - write a counter
 * @idx: the counter
 * @value: the value
 */
void pmuv3_write_one(int idx, u64 value)
{
	this_cpu_ptr(&bank)->dirty |= BIT_ULL(idx);
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
		pmuv3_write_one(idx, 0);
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
