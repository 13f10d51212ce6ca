// SPDX-License-Identifier: GPL-2.0
/*
 * From an attr to what an AMD CPU needs: x86_pmu.hw_config.  And what becomes of HostOnly when KVM
 * turns SVM on and off.
 *
 * hw_config is called at open in task context, also for events that are only asked about (groups).
 *
 * The bits HostOnly and GuestOnly of an event-select have a meaning while EFER.SVME is set.
 * Without it HostOnly stops the counter, so it is masked out of every select register then.
 * GuestOnly stays: there is no guest, the event counts nothing.  KVM calls on the CPU in question;
 * the mask is that CPU's.
 */
#include <linux/export.h>
#include <linux/irqflags.h>

#include <asm/perf_event.h>

#include "cpu.h"

static int amd_pe_no_branches(struct perf_event *event)
{
	return -EOPNOTSUPP;
}

/* Branch records of this CPU: is the attr fine, and what do they need of the event? */
amd_pe_branch_config amd_pe_branch_hw_config __ro_after_init = amd_pe_no_branches;

/*
 * What AMD adds to the event-select that the core made.  Of the bits HostOnly and GuestOnly both
 * together mean the same as none, to count everywhere; so an event that is to count nowhere has
 * none, and no ring to count in.
 */
u64 amd_pe_select(const struct perf_event_attr *attr, u64 select)
{
	if (attr->type == PERF_TYPE_RAW)
		select |= attr->config & AMD64_RAW_EVENT_MASK;
	if (attr->exclude_host && attr->exclude_guest)
		return select & ~(ARCH_PERFMON_EVENTSEL_USR | ARCH_PERFMON_EVENTSEL_OS);
	return select | (attr->exclude_host ? AMD64_EVENTSEL_GUESTONLY : 0) |
	       (attr->exclude_guest ? AMD64_EVENTSEL_HOSTONLY : 0);
}

/* x86_pmu.hw_config */
int amd_pe_hw_config(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	int ret;

	/* The core PMU has skid; IBS has not, and knows how to count some of these events. */
	if (event->attr.precise_ip && get_ibs_caps())
		return forward_event_to_ibs(event);
	if (!x86_pmu.lbr_nr && has_branch_stack(event))
		return -EOPNOTSUPP;

	ret = x86_pmu_hw_config(event);
	if (ret)
		return ret;
	hw->config = amd_pe_select(&event->attr, hw->config);
	if (amd_pe_is_pair(hw->config))
		hw->flags |= PERF_X86_EVENT_PAIR;
	return has_branch_stack(event) ? amd_pe_branch_hw_config(event) : 0;
}

/* ------------------------------------------------------------ SVM on and off */

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
