// SPDX-License-Identifier: GPL-2.0
/*
 * Who may see what: perf_event_paranoid and the security modules.
 *
 *   perf_event_paranoid: what users without CAP_PERFMON may do
 *     -1 everything, 0 no raw tracepoint data, 1 no events of whole CPUs, 2 nothing about the
 *     kernel, 3 nothing at all (but what abi/own_tasks.c lets through)
 *
 * /proc/sys/kernel writes it at any time, and it is read without a lock: a call that runs at the
 * same time may see either value.
 */
#include <linux/capability.h>
#include <linux/security.h>

#include "types.h"

#define PARANOID_DEFAULT	(IS_ENABLED(CONFIG_SECURITY_PERF_EVENTS_RESTRICT) ? 3 : 2)

int sysctl_perf_event_paranoid __read_mostly = PARANOID_DEFAULT;

/**
 * perf_allow_kernel() - may current observe the kernel?
 *
 * Task context.  Return: 0, -EACCES, or what the security module says.
 */
int perf_allow_kernel(void)
{
	bool open_to_all = sysctl_perf_event_paranoid <= 1;

	if (!open_to_all && !perfmon_capable())
		return -EACCES;
	return security_perf_event_open(PERF_SECURITY_KERNEL);
}
EXPORT_SYMBOL_GPL(perf_allow_kernel);
