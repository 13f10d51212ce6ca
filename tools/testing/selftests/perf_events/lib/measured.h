/* SPDX-License-Identifier: GPL-2.0 */
/*
 * measured.h - a counter of the CPU and a loop that is counted to the last instruction, on either
 * architecture: see arm64.h and x86.h.
 */
#ifndef PTEST_MEASURED_H
#define PTEST_MEASURED_H

#include "arm64.h"
#include "x86.h"

#if defined(__aarch64__)
#define MEASURED_COST(turns)	A64_SPIN_COST(turns)
#else
#define MEASURED_COST(turns)	X86_SPIN_COST(turns)
#endif

/* ENABLE, turns of a loop, DISABLE; the user space in between is MEASURED_COST(turns). */
static inline void measured_spin(int fd, u64 turns)
{
#if defined(__aarch64__)
	a64_measured_spin(fd, turns);
#else
	x86_measured_spin(fd, turns);
#endif
}

/* Where the instruction is that follows the first n of them. */
static inline u64 measured_ip(u64 turns, u64 n)
{
#if defined(__aarch64__)
	return pt_addr(a64_loop_start) + 4 * (n < 2 * turns ? n % 2 : n - 2 * turns + 2);
#else
	return x86_spin_ip(turns, n);
#endif
}

/*
 * What counts them, disabled: cycles of arm64, instructions of x86. The case is skipped where
 * nothing is exact, and nothing is throttled from here on.
 */
static inline struct perf_event_attr measured_event(u64 period)
{
	struct perf_event_attr attr;

#if defined(__aarch64__)
	static bool limits_off;

	a64_need_exact();
	/* The rate cannot be set any more while the other is 0. */
	if (!limits_off) {
		pt_sysctl_set("perf_event_max_sample_rate", 10000000);
		pt_sysctl_set("perf_cpu_time_max_percent", 0);
		limits_off = true;
	}
	attr = a64_cycles(0);
#else
	x86_need_exact();
	attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
#endif
	attr.sample_period = period;
	return attr;
}

#endif /* PTEST_MEASURED_H */
