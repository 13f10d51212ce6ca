// SPDX-License-Identifier: GPL-2.0
/*
 * kernel.perf_ext_own_tasks: users may profile their own tasks in user mode, whatever
 * perf_event_paranoid says.
 *
 * Up to 2 that sysctl lets them do so anyway.  Above, it leaves nothing to users without
 * CAP_SYS_ADMIN, because drivers have had holes, and because events show what the kernel and other
 * users do.  With 1 here, what is left is what a tracer of the task could see as well, and how long
 * it took:
 *
 *   of a task, not of a CPU or a cgroup: pe_open_permit() in open.c
 *   that current may trace: its own threads, or what ptrace_may_access() grants, which asks the
 *     security modules; CAP_PERFMON does not replace it, as it would up to 2: pe_may_observe()
 *   in user mode: no kernel, no hypervisor, nothing that CAP_PERFMON is for, though current may
 *     have it: pe_attr_is_harmless()
 *   by the CPU's counters or by software: no tracepoints or probes, whose data are the kernel's, no
 *     breakpoints, no tracers, no numbers of the kernel; their drivers are not even asked:
 *     is_open_to() in pmu.c
 *   by read(2) and samples: RDPMC reads any counter, ask_pmu() there
 *
 * The rest is as at level 2: samples that come too late tell nothing of the kernel, and
 * security_perf_event_open() is asked.  An event ends when its task executes something that its
 * tracers may not look into, like a set-user-ID program: perf_event_exit_task().  It asks whether
 * the program can be dumped, so with fs.suid_dumpable 1, or where only a security module keeps
 * tracers away, it stays.  Opening for another task waits for such an exec by exec_update_lock,
 * then asks; current is not in one.
 *
 * The sysctl belongs to the host's root: in a user namespace nobody can write it.  It is read once
 * for an open; events that are open stay.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sysctl.h>

#include "abi.h"

static int own_tasks __read_mostly;	/* 0 or 1 */

/**
 * pe_own_tasks_allow() - is this an event that current may have only as one of an own task?
 * @attr: a checked request for an event of a task; what it may not have, and tools ask for by
 *	themselves, is taken out if so
 *
 * Task context, perf_event_paranoid above 2.  Nobody is told that a capability is missing which is
 * not needed.
 *
 * Return: yes, as far as the attr goes.
 */
bool pe_own_tasks_allow(struct perf_event_attr *attr)
{
	if (!READ_ONCE(own_tasks) || ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN) ||
	    !attr->exclude_hv || !pe_attr_is_harmless(attr))
		return false;
	/* Code of the kernel, whose program it may be: the task may be interrupted to free it. */
	attr->ksymbol = 0;
	attr->bpf_event = 0;
	return true;
}

static struct ctl_table sysctls[] = {
	{
		.procname	= "perf_ext_own_tasks",
		.data		= &own_tasks,
		.maxlen		= sizeof(own_tasks),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

static int __init pe_own_tasks_init(void)
{
	register_sysctl_init("kernel", sysctls);
	return 0;
}
fs_initcall(pe_own_tasks_init);
