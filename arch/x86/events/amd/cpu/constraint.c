// SPDX-License-Identifier: GPL-2.0
/*
 * Which counters an event may have, where it depends on the event alone.
 *
 * Family 15h has a map from event to counters.  From family 17h on every counter counts
 * everything, but large increment events take an even counter and the next one, which counts Merge,
 * and events that sample branches on family 19h are only let on counter 0, so that there is one at
 * a time.  Events of shared counters are in nb.c.
 *
 * Facts: AMD's BKDG of family 15h, 42301, chapter "Core Performance Counter Events".
 *
 * Called when events are scheduled, interrupts off, and at open for made-up states; nothing is
 * kept per event, so there is nothing to put back.
 */
#include <linux/bitops.h>
#include <linux/init.h>

#include "cpu.h"

/*
 * Family 15h: counters by the unit that an event is of, which is the upper half of the low byte of
 * the code.  Of those that say 0 there are none; 0xe0 and 0xf0 are the northbridge's, which has
 * counters of its own.
 */
static const u8 f15h_unit[16] = {
	[0x0] = 0x38, [0x1] = 0x38,	/* floating point */
	[0x2] = 0x3f, [0x3] = 0x3f,	/* load, store */
	[0x4] = 0x3f, [0x5] = 0x3f,	/* data cache */
	[0x6] = 0x07, [0x7] = 0x07,	/* second-level cache and its interface */
	[0x8] = 0x07, [0x9] = 0x07,	/* instruction cache, decoder */
	[0xc] = 0x3f,			/* execution */
	[0xd] = 0x07,			/* decoder */
};

/* What one event of them has instead; @when: only if the unit mask is such, otherwise @rest. */
enum umask_rule { ALWAYS, BOTH_NIBBLES, SEVERAL_BITS };

static const struct odd_event {
	u16	code;
	u8	counters;
	u8	when, rest;
} f15h_odd[] = {
	{ 0x000, 0x08, BOTH_NIBBLES, 0x38 },	/* FPU Pipe Assignment */
	{ 0x003, 0x08 },			/* Retired SSE/AVX Operations */
	{ 0x004, 0x08, SEVERAL_BITS, 0x38 },	/* Move Elimination and Scalar Op Optimization */
	{ 0x00b, 0x08 },			/* undocumented */
	{ 0x00d, 0x08 },			/* undocumented */
	{ 0x023, 0x07 },			/* Load Queue/Store Queue Full */
	{ 0x02d, 0x08 },			/* undocumented */
	{ 0x02e, 0x09 },			/* undocumented */
	{ 0x031, 0, SEVERAL_BITS, 0x07 },	/* undocumented */
	{ 0x043, 0x07 },			/* Data Cache Refills from System */
	{ 0x045, 0x07 },			/* Unified TLB Hit */
	{ 0x046, 0x07 },			/* Unified TLB Miss */
	{ 0x054, 0x07 },			/* undocumented */
	{ 0x055, 0x07 },			/* undocumented */
	{ 0x08f, 0x01 },			/* undocumented */
	{ 0x0db, 0x3f },			/* FP Exceptions */
	{ 0x0dc, 0x3f },			/* DR0 Breakpoint Matches */
	{ 0x0dd, 0x3f },			/* DR1 Breakpoint Matches */
	{ 0x0de, 0x3f },			/* DR2 Breakpoint Matches */
	{ 0x0df, 0x3f },			/* DR3 Breakpoint Matches */
	{ 0x187, 0x01 },			/* undocumented */
	{ 0x188, 0x01 },			/* undocumented */
	{ 0x1c0, 0x38 },			/* undocumented */
	{ 0x1d6, 0x3f },			/* undocumented */
	{ 0x1d8, 0x3f },			/* Dispatch Stall for STQ Full */
};

static bool applies(const struct odd_event *odd, u64 select)
{
	unsigned int umask = select >> 8 & 0xff;

	switch (odd->when) {
	case BOTH_NIBBLES:
		return (umask & 0x0f) && (umask & 0xf0);
	case SEVERAL_BITS:
		return hweight8(umask) > 1;
	}
	return true;
}

/* The counters of family 15h that can count what @select says, as a mask. */
u64 amd_pe_f15h_counters(u64 select)
{
	unsigned int code = amd_pe_code(select);
	int i;

	for (i = 0; i < ARRAY_SIZE(f15h_odd); i++) {
		if (f15h_odd[i].code == code)
			return applies(&f15h_odd[i], select) ? f15h_odd[i].counters :
			       f15h_odd[i].rest;
	}
	return f15h_unit[code >> 4 & 0xf];
}

/* x86_pmu.get_event_constraints of family 15h. */
struct event_constraint *amd_pe_f15h_constraint(struct cpu_hw_events *cpuc, int idx,
						struct perf_event *event)
{
	static struct event_constraint set[] = {
		EVENT_CONSTRAINT(0, 0x01, 0), EVENT_CONSTRAINT(0, 0x07, 0),
		EVENT_CONSTRAINT(0, 0x08, 0), EVENT_CONSTRAINT_OVERLAP(0, 0x09, 0),
		EVENT_CONSTRAINT(0, 0x38, 0), EVENT_CONSTRAINT(0, 0x3f, 0),
	};
	u64 counters = amd_pe_f15h_counters(event->hw.config);
	int i;

	for (i = 0; i < ARRAY_SIZE(set); i++) {
		if (set[i].idxmsk64 == counters)
			return &set[i];
	}
	return &emptyconstraint;
}

/* Even counters that have a next one. */
static struct event_constraint any_pair __ro_after_init;

/* x86_pmu.get_event_constraints of family 17h and later. */
struct event_constraint *amd_pe_zen_constraint(struct cpu_hw_events *cpuc, int idx,
					       struct perf_event *event)
{
	return amd_pe_is_pair(event->hw.config) ? &any_pair : &unconstrained;
}

/* x86_pmu.get_event_constraints where branches are sampled. */
struct event_constraint *amd_pe_brs_constraint(struct cpu_hw_events *cpuc, int idx,
					       struct perf_event *event)
{
	static struct event_constraint single =
		__EVENT_CONSTRAINT(0, 1, AMD64_RAW_EVENT_MASK, 1, 0, 0);
	static struct event_constraint pair =
		__EVENT_CONSTRAINT(0, 1, AMD64_RAW_EVENT_MASK, 1, 0, PERF_X86_EVENT_PAIR);

	if (!has_amd_brs(&event->hw))
		return amd_pe_zen_constraint(cpuc, idx, event);
	return amd_pe_is_pair(event->hw.config) ? &pair : &single;
}

/* The number of counters is known. */
void __init amd_pe_constraint_init(void)
{
	u64 even = x86_pmu.cntr_mask64 & (x86_pmu.cntr_mask64 >> 1) & 0x5555555555555555ULL;

	any_pair = (struct event_constraint)
		__EVENT_CONSTRAINT(0, even, 0, hweight64(even), 0, PERF_X86_EVENT_PAIR);
}
