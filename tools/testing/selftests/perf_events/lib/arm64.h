/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arm64.h - for the programs about arm64's PMU: finding it, work whose instructions are known to
 * the last one, stretches without an interrupt.
 */
#ifndef PTEST_ARM64_H
#define PTEST_ARM64_H

#include "ptest.h"

#define A64_DEVICES	"/sys/bus/event_source/devices/"

/* attr.config of RAW events, from the architecture */
#define A64_SW_INCR	0x00
#define A64_INSTRUCTIONS 0x08
#define A64_CYCLES	0x11
#define A64_CHAIN	0x1e

/* attr.config1 */
#define A64_LONG	1ull
#define A64_USER_READ	2ull

/* The name of the first PMU of CPUs in sysfs. */
const char *a64_pmu(void);
/* The case is skipped on another machine, and where the PMU is not the emulator's exact one. */
void a64_need_pmu(void);
void a64_need_exact(void);
/* The latter, and nothing is throttled for a sample's cost being high in an emulator. */
void a64_no_limits(void);
/*
 * How many nanoseconds, which are instructions, come between an overflow and its interrupt, and
 * which one of so many interrupts never comes. scripts/run-guest tells the guest. The case is
 * skipped where none is late, or lost; the last two also where cycles are not exact, and with them
 * nothing is throttled.
 */
u64 a64_late(void);
u64 a64_need_late(void);
u64 a64_need_lossy(void);
/* Does the counter behind a LONG event have 64 bits by itself (PMUv3 for v8.5)? */
bool a64_wide_counters(void);
/* Event counters without the cycle counter; uses the module test_arm64. */
int a64_counters(void);

/* A RAW event of the calling task, user space only, disabled. */
struct perf_event_attr a64_raw(u64 config);
struct perf_event_attr a64_cycles(u64 period);

/*
 * A counter that user space may read, by its index in the mapped page: 1 to 3 are event counters.
 * And the count of an event with such a counter, from its page.
 */
#define A64_CYCLE_INDEX	32
u64 a64_mrs(u32 index);
u64 a64_user_count(struct perf_event_mmap_page *p);

/* All interrupts taken since boot. */
u64 a64_interrupts(void);
/* Those of CPU 0's PMU */
u64 a64_pmu_interrupts(void);
/* Return right after a tick: the next two milliseconds have none. */
void a64_after_tick(void);

/*
 * ENABLE, work, DISABLE of fd, in assembly. The instructions at EL0 in between, the system call
 * that disables included, are A64_SPIN_COST(turns) and A64_CALLS_COST(nr).
 */
void a64_measured_spin(int fd, u64 turns);
void a64_measured_calls(int fd, u64 nr);
#define A64_SPIN_COST(turns)	(2 * (turns) + 3)
#define A64_CALLS_COST(nr)	(4 * (nr) + 4)
extern const char a64_loop_start[], a64_loop_end[];

#endif /* PTEST_ARM64_H */
