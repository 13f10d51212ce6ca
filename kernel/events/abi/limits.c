// SPDX-License-Identifier: GPL-2.0
/*
 * What the machine's root may limit beyond Linux 6.12, in /proc/sys/kernel. All of it is off by
 * default.
 *
 *   perf_ext_buffer_kb         KiB of all buffers of the machine together, see ring/charge.c
 *   perf_ext_memcg             their pages are also memory of the cgroup of the task that maps them
 *   perf_ext_task_gid          group of users that may open events of tasks
 *   perf_ext_cpu_gid           group of users that may open events of CPUs, and so of cgroups
 *   perf_ext_samples_per_tick  of one CPU, all its events together, see sources/cpu_limit.c
 *
 * The variables are written at any time and read without a lock: a call that runs at the same time
 * may see either value. What is open or mapped stays when a limit is lowered.
 */
#include <linux/cred.h>
#include <linux/mutex.h>
#include <linux/sysctl.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "abi.h"

/* ------------------------------------------------------------------ groups of users */

int pe_task_gid __read_mostly = -1, pe_cpu_gid __read_mostly = -1;

/**
 * pe_gid_allows() - may current open events that are for a group of users?
 * @gid: the group, in the initial user namespace
 *
 * Task context.  Return: a member by the effective or a supplementary group ID, or CAP_PERFMON.
 */
bool pe_gid_allows(int gid)
{
	return in_egroup_p(make_kgid(&init_user_ns, gid)) || perfmon_capable();
}

/* ------------------------------------------------------------------ samples */

static unsigned int samples_per_tick;

static int pe_limits_set_samples(const struct ctl_table *table, int write, void *buffer,
				 size_t *lenp, loff_t *ppos)
{
	int err;

	guard(mutex)(&pe_limits_mutex);
	err = proc_douintvec(table, write, buffer, lenp, ppos);
	if (!err && write)
		pe_limits_set_cpu(samples_per_tick);
	return err;
}

static struct ctl_table sysctls[] = {
	{
		.procname	= "perf_ext_buffer_kb",
		.data		= &pe_buffer_kb,
		.maxlen		= sizeof(pe_buffer_kb),
		.mode		= 0644,
		.proc_handler	= proc_douintvec,
	},
	{
		.procname	= "perf_ext_memcg",
		.data		= &pe_pages_accounted,
		.maxlen		= sizeof(pe_pages_accounted),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
	{
		.procname	= "perf_ext_task_gid",
		.data		= &pe_task_gid,
		.maxlen		= sizeof(pe_task_gid),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_NEG_ONE,
	},
	{
		.procname	= "perf_ext_cpu_gid",
		.data		= &pe_cpu_gid,
		.maxlen		= sizeof(pe_cpu_gid),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_NEG_ONE,
	},
	{
		.procname	= "perf_ext_samples_per_tick",
		.data		= &samples_per_tick,
		.maxlen		= sizeof(samples_per_tick),
		.mode		= 0644,
		.proc_handler	= pe_limits_set_samples,
	},
};

static int __init pe_more_limits_init(void)
{
	register_sysctl_init("kernel", sysctls);
	return 0;
}
fs_initcall(pe_more_limits_init);
