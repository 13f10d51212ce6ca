/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Performance events: who may see what.
 *
 * For drivers and tracing, which ask for the right to see more than the task itself; security
 * modules, which are told what is asked for; and kernel/sysctl.c, which shows the limits.
 */
#ifndef _LINUX_PERF_PERMISSION_H
#define _LINUX_PERF_PERMISSION_H

#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/security.h>
#include <linux/types.h>

struct ctl_table;

#ifdef CONFIG_PERF_EVENTS

/* For security_perf_event_open(): what the caller wants to see. */
#define PERF_SECURITY_OPEN		0	/* anything at all */
#define PERF_SECURITY_CPU		1	/* what other tasks do */
#define PERF_SECURITY_KERNEL		2	/* what the kernel does */
#define PERF_SECURITY_TRACEPOINT	3	/* raw data of tracepoints */

extern int sysctl_perf_event_paranoid;
extern int sysctl_perf_event_mlock;		/* KiB per user, above RLIMIT_MEMLOCK */
extern int sysctl_perf_event_sample_rate;	/* Hz */
extern int sysctl_perf_cpu_time_max_percent;

#define PERF_SYSCTL_HANDLER(name)						\
	int name(const struct ctl_table *table, int write, void *buffer,	\
		 size_t *lenp, loff_t *ppos)
PERF_SYSCTL_HANDLER(perf_event_max_sample_rate_handler);
PERF_SYSCTL_HANDLER(perf_cpu_time_max_percent_handler);
PERF_SYSCTL_HANDLER(perf_event_max_stack_handler);
#undef PERF_SYSCTL_HANDLER

static inline int perf_is_paranoid(void)
{
	return sysctl_perf_event_paranoid >= 0;
}

static inline bool perf_paranoid_any(void)
{
	return sysctl_perf_event_paranoid >= 3;
}

/* Each: 0, or -EACCES (tracepoints: -EPERM), or what the security module says. */
int perf_allow_kernel(void);

static inline int perf_allow_cpu(void)
{
	if (perfmon_capable() || sysctl_perf_event_paranoid <= 0)
		return security_perf_event_open(PERF_SECURITY_CPU);
	return -EACCES;
}

static inline int perf_allow_tracepoint(void)
{
	if (perfmon_capable() || !perf_is_paranoid())
		return security_perf_event_open(PERF_SECURITY_TRACEPOINT);
	return -EPERM;
}

#endif /* CONFIG_PERF_EVENTS */

#endif /* _LINUX_PERF_PERMISSION_H */
