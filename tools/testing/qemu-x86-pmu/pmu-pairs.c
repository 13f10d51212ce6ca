/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulated x86 PMU: pairs of AMD's counters, for events of large increments.
 *
 * An even counter, with the next one on and counting Merge, has 64 bits: the next
 * one holds the upper 16.  Such an event adds 16 for an instruction then, and
 * without the other counter 15, the most that a counter adds in a cycle.  That it
 * is 16 is made up.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "tcg/sysemu/pmu-private.h"

#define UPPER_MASK      0xffffull
#define MOST_ALONE      15

/* Of the counters that are @on, by their number, those that are the first of a pair. */
void x86_pairs_update(X86PMU *p, uint32_t on)
{
    int i;

    p->merged = 0;
    for (i = 0; i + 1 < p->nr_gp; i += 2) {
        if (on >> (i + 1) & 1 && x86_pmu_is_merge(p, p->c[i + 1].ctl)) {
            p->merged |= 1u << i;
        }
    }
    for (i = 0; i < p->nr_gp; i++) {
        if (p->c[i].large) {
            p->c[i].num = p->merged >> i & 1 ? MOST_ALONE + 1 : MOST_ALONE;
        }
    }
}

/* The 48 bits of a counter ran past their end: is that the end of its pair, if it has one? */
bool x86_pairs_carry(X86PMU *p, int i)
{
    uint64_t *upper;

    if (!(p->merged >> i & 1)) {
        return true;
    }
    upper = &p->c[i + 1].val;
    *upper = (*upper + 1) & UPPER_MASK;
    return !*upper;
}

/* Is the end of the pair further away than that of the counter? */
bool x86_pairs_far(X86PMU *p, int i)
{
    return p->merged >> i & 1 && (p->c[i + 1].val & UPPER_MASK) != UPPER_MASK;
}
