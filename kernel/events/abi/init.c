// SPDX-License-Identifier: GPL-2.0
/*
 * Boot: the order in which the parts of the subsystem come up.
 *
 * perf_event_init() runs once, on the boot CPU, after the slab and RCU are there and before any
 * other CPU is.  The PMUs of the architecture register in their own initcalls later.
 */

#include <linux/hw_breakpoint.h>
#include "abi.h"

/* The core's own PMUs. */
static void __init register_pmus(void)
{
	int err;

	perf_pmu_register(&pe_swevent_pmu, "software", PERF_TYPE_SOFTWARE);
	perf_pmu_register(&pe_cpu_clock_pmu, "cpu_clock", -1);
	perf_pmu_register(&pe_task_clock_pmu, "task_clock", -1);
#ifdef CONFIG_EVENT_TRACING
	perf_pmu_register(&pe_tracepoint_pmu, "tracepoint", PERF_TYPE_TRACEPOINT);
#endif
#ifdef CONFIG_KPROBE_EVENTS
	perf_pmu_register(&pe_kprobe_pmu, "kprobe", -1);
#endif
#ifdef CONFIG_UPROBE_EVENTS
	perf_pmu_register(&pe_uprobe_pmu, "uprobe", -1);
#endif
	err = init_hw_breakpoint();
	WARN(err, "hw_breakpoint initialization failed with: %d", err);
}

/* Contract, from start_kernel(). */
void __init perf_event_init(void)
{
	pe_event_caches_init();
	pe_hotplug_init();
	pe_limits_init();
	register_pmus();
}
