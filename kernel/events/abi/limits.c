// SPDX-License-Identifier: GPL-2.0
/*
 * What the machine's root may limit beyond Linux 6.12, in /proc/sys/kernel. All of it is off by
 * default.
 *
 *   perf_ext_buffer_kb         KiB of all buffers of the machine together, whoever has them
 *   perf_ext_memcg             their pages are also memory of the cgroup of the task that maps them
 *   perf_ext_task_gid          group of users that may open events of tasks
 *   perf_ext_cpu_gid           group of users that may open events of CPUs, and so of cgroups
 *   perf_ext_samples_per_tick  of one CPU, all its events together, see sources/cpu_limit.c
 *
 * The variables are written at any time and read without a lock: a call that runs at the same time
 * may see either value. What is open or mapped stays when a limit is lowered.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/mutex.h>
#include <linux/sysctl.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "abi.h"

/* ------------------------------------------------------------------ buffers */

/*
 * perf_event_mlock_kb and RLIMIT_MEMLOCK are limits for a user and for a process: many of them, or
 * one with CAP_IPC_LOCK, may still take all memory.  Counted is what those are charged, from the
 * first mapping to the last unmapping: control page, data, AUX area.  It is counted without a
 * limit, too, so one that is set later knows what is in use.
 *
 * Task context.  Nothing is locked: the count is a bound at every moment, as a mapping adds its
 * pages only when it finds room for all of them.
 */
static unsigned int buffer_kb __read_mostly;	/* 0: no limit */
static atomic_long_t pages_in_use;

static bool is_room(unsigned long in_use, unsigned long pages)
{
	unsigned int kb = READ_ONCE(buffer_kb);

	return !kb || in_use + pages <= kb >> (PAGE_SHIFT - 10);
}

/**
 * pe_buffers_take() - a mapping wants pages for a buffer
 * @pages: so many, which a mapping can have
 *
 * Return: 0, or -EPERM if that would be more than the machine may have.
 */
int pe_buffers_take(unsigned long pages)
{
	long in_use = atomic_long_read(&pages_in_use);

	do {
		if (!is_room(in_use, pages))
			return pe_err(-EPERM, "mmap: above perf_ext_buffer_kb");
	} while (!atomic_long_try_cmpxchg(&pages_in_use, &in_use, in_use + pages));
	return 0;
}

/**
 * pe_buffers_give() - pages are given back
 * @pages: so many
 */
void pe_buffers_give(unsigned long pages)
{
	atomic_long_sub(pages, &pages_in_use);
}

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

static int set_samples_per_tick(const struct ctl_table *table, int write, void *buffer,
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
		.data		= &buffer_kb,
		.maxlen		= sizeof(buffer_kb),
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
		.proc_handler	= set_samples_per_tick,
	},
};

static int __init pe_more_limits_init(void)
{
	register_sysctl_init("kernel", sysctls);
	return 0;
}
fs_initcall(pe_more_limits_init);
