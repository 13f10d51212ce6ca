/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ground: what all this costs, for the PMU perf_cost.
 *
 * A place that is counted asks pe_cost_wanted(), which is one nop as long as no such event is open,
 * and does its work in a function of its own then, between two looks at the clock.
 */
#ifndef _KERNEL_EVENTS_COST_H
#define _KERNEL_EVENTS_COST_H

#include <linux/jump_label.h>

#include "types.h"

/* Kinds of work.  Each has two numbers on each CPU: how often, and how long, ns. */
enum pe_cost {
	PE_COST_PMI,		/* interrupts of PMUs */
	PE_COST_SWITCH,		/* between tasks */
	PE_COST_TICK,
	PE_COST_ROTATION,	/* the timers of multiplexing */
	PE_COST_CALL,		/* functions that other CPUs had this one run */
	PE_COST_WAKEUP,		/* of readers */
	PE_NR_COSTS,
};

#ifdef CONFIG_PERF_EVENTS_EXT
DECLARE_STATIC_KEY_FALSE(pe_cost_key);

/* Does an event ask?  Any context. */
static __always_inline bool pe_cost_wanted(void)
{
	return static_branch_unlikely(&pe_cost_key);
}

void pe_cost_add(enum pe_cost what, unsigned int nr, u64 ns);
u64 pe_cost_number(enum pe_cost what);
u64 pe_cost_time(enum pe_cost what);
#else
static __always_inline bool pe_cost_wanted(void)
{
	return false;
}

static inline void pe_cost_add(enum pe_cost what, unsigned int nr, u64 ns) { }
#endif

#endif /* _KERNEL_EVENTS_COST_H */
