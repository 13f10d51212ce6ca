/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Performance events: what the rest of the kernel may rely on.
 *
 * Each kind of code that includes this header finds what is meant for it in one of those below:
 *
 * <linux/perf/driver.h>	drivers of PMUs, which fill in a struct pmu
 * <linux/perf/hooks.h>		the scheduler, fork, exec, mm, tracing, CPU hotplug: their calls
 * <linux/perf/kernel_api.h>	counters of the kernel, BPF programs, hypervisors
 *
 * What they share is in <linux/perf/event.h> (the objects), <linux/perf/sample.h> (what is written
 * to a ring buffer) and <linux/perf/permission.h> (who may see what).
 *
 * The structs of the core (event, context) are split.  What stands there is the public part;
 * kernel/events embeds each one in a private struct and is the only place that allocates them,
 * events without their last member where nobody needs it.  Never create, copy or take the
 * sizeof() of one outside kernel/events.
 *
 * Words used there.  "Event's CPU": the CPU on which the event is scheduled in (event->oncpu).
 * "NMI-safe": may be called from any context on that CPU, including NMI.  Times are in
 * nanoseconds of the event's clock unless said otherwise.
 */
#ifndef _LINUX_PERF_EVENT_H
#define _LINUX_PERF_EVENT_H

#include <uapi/linux/perf_event.h>
#include <uapi/linux/bpf_perf_event.h>

#ifdef CONFIG_PERF_EVENTS
#include <asm/local64.h>
#endif
#ifdef CONFIG_HAVE_HW_BREAKPOINT
#include <linux/rhashtable-types.h>
#include <asm/hw_breakpoint.h>
#endif

/* Some of these are here only because includers of this header came to depend on them. */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/hrtimer.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/workqueue.h>
#include <linux/ftrace.h>
#include <linux/cpu.h>
#include <linux/irq_work.h>
#include <linux/static_key.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/atomic.h>
#include <linux/sysfs.h>
#include <linux/perf/hooks.h>	/* before perf_regs.h */
#include <linux/perf_regs.h>
#include <linux/cgroup.h>
#include <linux/refcount.h>
#include <linux/security.h>
#include <linux/static_call.h>
#include <linux/lockdep.h>
#include <asm/local.h>

#include <linux/perf/driver.h>
#include <linux/perf/event.h>
#include <linux/perf/kernel_api.h>
#include <linux/perf/permission.h>
#include <linux/perf/sample.h>

#endif /* _LINUX_PERF_EVENT_H */
