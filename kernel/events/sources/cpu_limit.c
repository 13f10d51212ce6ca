// SPDX-License-Identifier: GPL-2.0
/*
 * kernel.perf_ext_samples_per_tick: how many samples all events of a CPU may take in one tick.
 *
 * perf_event_max_sample_rate is a limit for each event: with many of them a CPU may do nothing but
 * sample.  When the samples of a tick reach this one, the event that overflowed is throttled, and
 * so is each other at its next overflow, until the next tick: at most the limit and as many samples
 * as there are further events in hardware.  A switch does not release them (sched.c).
 *
 * The numbers of a CPU are that CPU's, at its overflows, NMI included; the limit is one word, which
 * abi/limits.c stores in task context.  No locks.
 */
#include <linux/percpu.h>

#include "sources.h"

static unsigned int limit __read_mostly;	/* 0: none */

/**
 * struct cpu_samples - samples of a CPU
 * @taken: ever
 * @before: of them before the tick
 * @seq: the tick, by pe_cpu.throttle_seq
 */
struct cpu_samples {
	unsigned int	taken;
	unsigned int	before;
	u64		seq;
};

static DEFINE_PER_CPU(struct cpu_samples, cpu_samples);

/**
 * pe_cpu_limit() - what the limit is
 *
 * Any context.  Return: samples of a CPU in one tick; 0: there is no limit.
 */
unsigned int pe_cpu_limit(void)
{
	return READ_ONCE(limit);
}

/**
 * pe_cpu_limit_set() - there is another limit
 * @per_tick: samples of a CPU in one tick; 0: none
 */
void pe_cpu_limit_set(unsigned int per_tick)
{
	WRITE_ONCE(limit, per_tick);
}

/**
 * pe_cpu_limit_count() - one more sample on this CPU
 *
 * At an overflow.  An NMI may count in between: if both are the first of a tick, one of them may
 * count for the tick before.
 *
 * Return: the limit is reached.
 */
bool pe_cpu_limit_count(void)
{
	unsigned int taken = this_cpu_inc_return(cpu_samples.taken);
	unsigned int most = READ_ONCE(limit);
	u64 seq = __this_cpu_read(pe_cpu.throttle_seq);

	if (__this_cpu_read(cpu_samples.seq) != seq) {
		__this_cpu_write(cpu_samples.before, taken - 1);
		barrier();	/* an NMI that sees the tick sees what was before it */
		__this_cpu_write(cpu_samples.seq, seq);
	}
	if (likely(!most) || taken - __this_cpu_read(cpu_samples.before) < most)
		return false;
	__this_cpu_write(pe_cpu.full_seq, seq);
	return true;
}
