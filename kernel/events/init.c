// SPDX-License-Identifier: GPL-2.0
/*
 * Boot: the order in which the parts of the subsystem come up.
 *
 * perf_event_init() runs once, on the boot CPU, after the slab and RCU are there and before any
 * other CPU is.  The PMUs of the architecture register in their own initcalls later.
 */

#include <linux/hw_breakpoint.h>
#include "surface.h"

/* Contract, from start_kernel(). */
void __init perf_event_init(void)
{
	int err;

	pe_event_caches_init();
	pe_hotplug_init();
	pe_limits_init();
	pe_software_init();
	pe_clock_pmus_init();
	pe_tracepoint_init();
	err = init_hw_breakpoint();
	WARN(err, "hw_breakpoint initialization failed with: %d", err);
}
