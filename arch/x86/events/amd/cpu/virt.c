// SPDX-License-Identifier: GPL-2.0
/*
 * KVM turns SVM on and off: what that means for events that count the host only.
 *
 * The bits HostOnly and GuestOnly of an event-select have a meaning while EFER.SVME is set.
 * Without it HostOnly stops the counter, so it is masked out of every select register then.
 * GuestOnly stays: there is no guest, the event counts nothing.
 *
 * Called by KVM on the CPU in question; the mask is that CPU's.
 */
#include <linux/export.h>
#include <linux/irqflags.h>

#include <asm/perf_event.h>

#include "cpu.h"

/*
 * Write the select registers anew.  The PMU is turned off and on as the core does it, against the
 * NMI and with interrupts off against everything else.  A PMU that is off has no events.
 */
static void remask(u64 bits)
{
	struct cpu_hw_events *cpuc;
	unsigned long flags;

	local_irq_save(flags);
	cpuc = this_cpu_ptr(&cpu_hw_events);
	cpuc->perf_ctr_virt_mask = bits;
	if (cpuc->enabled && x86_pmu.disable_all) {
		cpuc->enabled = 0;
		barrier();
		x86_pmu.disable_all();
		if (x86_pmu.version >= 2)
			x86_pmu_enable_all(0);
		cpuc->enabled = 1;
		barrier();
		x86_pmu.enable_all(0);
	}
	local_irq_restore(flags);
}

/**
 * amd_pmu_enable_virt - SVM is on, on this CPU
 */
void amd_pmu_enable_virt(void)
{
	remask(0);
}
EXPORT_SYMBOL_GPL(amd_pmu_enable_virt);

/**
 * amd_pmu_disable_virt - SVM is about to be turned off, on this CPU
 */
void amd_pmu_disable_virt(void)
{
	remask(AMD64_EVENTSEL_HOSTONLY);
}
EXPORT_SYMBOL_GPL(amd_pmu_disable_virt);
