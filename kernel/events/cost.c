// SPDX-License-Identifier: GPL-2.0
/*
 * What all this costs: the numbers of each CPU, which only grow.
 *
 * They are added to while the key is on, by their own CPU, in any context, NMI included.  A piece
 * of work during which the key is turned is counted as a whole or not at all.  Pieces nest: the
 * time of a switch has in it that of an NMI which came meanwhile.
 */
#include <asm/local64.h>

#include "cost.h"

struct numbers {
	local64_t	nr;
	local64_t	ns;
};

DEFINE_STATIC_KEY_FALSE(pe_cost_key);
static DEFINE_PER_CPU(struct numbers [PE_NR_COSTS], numbers);

/**
 * pe_cost_add() - work was done on this CPU
 * @what: which
 * @nr: how often
 * @ns: how long it took
 *
 * Any context that stays on its CPU.
 */
void pe_cost_add(enum pe_cost what, unsigned int nr, u64 ns)
{
	struct numbers *n = this_cpu_ptr(&numbers[what]);

	local64_add(nr, &n->nr);
	local64_add(ns, &n->ns);
}

/* How often this CPU has done it.  Likewise. */
u64 pe_cost_number(enum pe_cost what)
{
	return local64_read(&this_cpu_ptr(&numbers[what])->nr);
}

/* How long it took this CPU, ns.  Likewise. */
u64 pe_cost_time(enum pe_cost what)
{
	return local64_read(&this_cpu_ptr(&numbers[what])->ns);
}
