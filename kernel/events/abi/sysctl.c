// SPDX-License-Identifier: GPL-2.0
/*
 * Tunables in /proc/sys/kernel.
 *
 *   perf_event_paranoid          see permission.c
 *   perf_event_mlock_kb          KiB of buffers a user may map beyond RLIMIT_MEMLOCK, see charge.c
 *   perf_event_max_sample_rate   samples per second and CPU, see overflow.c
 *   perf_cpu_time_max_percent    share of a CPU that samples may take, see overflow.c
 *
 * The variables are written by /proc at any time and read without a lock: a call that runs at the
 * same time may see either value.  kernel/sysctl.c owns the table and calls the handlers here, in
 * task context; pe_limits_mutex keeps the last two, from which more is derived, in step.
 */
#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/sysctl.h>

#include "abi.h"

DEFINE_MUTEX(pe_limits_mutex);	/* see above */

/* With 0 or 100 percent nothing is limited. */
static bool rate_is_limited(void)
{
	int percent = READ_ONCE(sysctl_perf_cpu_time_max_percent);

	return percent > 0 && percent < 100;
}

/**
 * perf_event_max_sample_rate_handler() - /proc/sys/kernel/perf_event_max_sample_rate
 * @table: entry
 * @write: write or read
 * @buffer: text
 * @lenp: its length, in and out
 * @ppos: position in the file
 *
 * Return: 0, -EINVAL for a rate below 1 and for any while sampling is not limited.
 */
int perf_event_max_sample_rate_handler(const struct ctl_table *table, int write, void *buffer,
				       size_t *lenp, loff_t *ppos)
{
	int err;

	guard(mutex)(&pe_limits_mutex);
	if (write && !rate_is_limited())
		return -EINVAL;

	err = proc_dointvec_minmax(table, write, buffer, lenp, ppos);
	if (!err && write)
		err = pe_limits_set_rate(sysctl_perf_event_sample_rate);
	return err;
}

/**
 * perf_cpu_time_max_percent_handler() - /proc/sys/kernel/perf_cpu_time_max_percent
 * @table: entry
 * @write: write or read
 * @buffer: text
 * @lenp: its length, in and out
 * @ppos: position in the file
 *
 * Return: 0, -EINVAL for what is no percentage.
 */
int perf_cpu_time_max_percent_handler(const struct ctl_table *table, int write, void *buffer,
				      size_t *lenp, loff_t *ppos)
{
	int err;

	guard(mutex)(&pe_limits_mutex);
	err = proc_dointvec_minmax(table, write, buffer, lenp, ppos);
	if (!err && write)
		err = pe_limits_set_percent(sysctl_perf_cpu_time_max_percent);
	return err;
}
