/* SPDX-License-Identifier: GPL-2.0 */
/*
 * counter.h - for programs that assert the same numbers on the exact PMU of arm64 and on the
 * emulated ones of x86: a counter that overflows, and work whose instructions are known.
 *
 * A cycle is an instruction on both.
 */
#ifndef PTEST_COUNTER_H
#define PTEST_COUNTER_H

#include "ptest.h"

/* The case is skipped without such a machine; nothing is throttled from here on. */
void counter_need(void);

/*
 * Events of the calling task, user space only, disabled, each of which counts as many instructions
 * as another one and samples exactly; the first one is the most ordinary.
 */
unsigned int counter_kinds(void);
struct perf_event_attr counter_kind(unsigned int kind);
/* The first of these with a period, or with 0 one that does not overflow; it is what is needed. */
struct perf_event_attr counter_event(u64 period);
/* One that counts instructions, and what it need not do is overflow. */
struct perf_event_attr counter_instructions(void);
/* One that only general counters can count, and how many of these there are. */
struct perf_event_attr counter_general(void);
int counter_generals(void);
/* Is user space allowed to read the counter of this event?  It asks for that. */
bool counter_for_user_space(struct perf_event_attr *attr);

/* ENABLE, turns of a loop, DISABLE of fd, and its instructions of user space in between. */
void counter_spin(int fd, u64 turns);
u64 counter_spin_cost(u64 turns);
/* Where the instruction is that follows the first n of them. */
u64 counter_spin_ip(u64 turns, u64 n);

/* The same, with all events that the caller has opened enabled and disabled by prctl(). */
void counter_spin_all(u64 turns);
#define COUNTER_SPIN_ALL_COST(turns)	(2 * (turns) + 3)

#endif /* PTEST_COUNTER_H */
