// SPDX-License-Identifier: GPL-2.0
/*
 * Registers that have other values while a guest runs.
 *
 * KVM asks right before it enters a guest, interrupts off, on the CPU, and switches what is listed
 * in the same step with the guest.  These are values of the real registers; what the guest sees of
 * its own PMU is KVM's business.  The list is in cpuc, so it is good until the next question.
 */
#include <linux/kvm_host.h>

#include "cpu.h"

struct list {
	struct perf_guest_switch_msr	*msr;
	int				n;
};

static void append(struct list *list, u32 msr, u64 host, u64 guest)
{
	list->msr[list->n++] = (struct perf_guest_switch_msr) {
		.msr = msr, .host = host, .guest = guest,
	};
}

/*
 * Counters whose PEBS records may go to the guest's buffer.  They must be ours to give, wanted by
 * the guest, and on for the guest only.  A counter that has another number in the guest would put
 * a status into the records that the guest does not understand.  And as long as the host samples
 * with PEBS itself, there is nothing for guests.
 */
static u64 guest_pebs(struct cpu_hw_events *cpuc, const struct kvm_pmu *guest, u64 pebs)
{
	u64 only_guest = cpuc->intel_ctrl_guest_mask & ~cpuc->intel_ctrl_host_mask;

	if (pebs & ~cpuc->intel_ctrl_guest_mask)
		return 0;
	return pebs & only_guest & hybrid(cpuc->pmu, intel_ctrl) & guest->pebs_enable &
	       ~guest->host_cross_mapped_mask;
}

/**
 * intel_pe_guest_list - what to switch, from perfmon v2 on
 * @cpuc: the CPU's
 * @guest: what the guest has written to its PMU
 * @nr: out: length of the list
 *
 * Pure, but for the list.  Return: it, in @cpuc.
 */
struct perf_guest_switch_msr *
intel_pe_guest_list(struct cpu_hw_events *cpuc, const struct kvm_pmu *guest, int *nr)
{
	struct list list = { .msr = cpuc->guest_switch_msrs };
	u64 ctrl = hybrid(cpuc->pmu, intel_ctrl);
	u64 pebs = cpuc->pebs_enabled & x86_pmu.pebs_capable;
	/*
	 * Without events the PMU is off, and must be found so after the guest.  A guest that counts
	 * has events here, so there is nothing to switch, either.
	 */
	u64 on = cpuc->enabled ? ctrl : 0;
	u64 ds = (unsigned long)cpuc->ds, theirs;

	/* With a debug store, records go to virtual addresses: not the host's in a guest. */
	append(&list, MSR_CORE_PERF_GLOBAL_CTRL, on & ~cpuc->intel_ctrl_guest_mask,
	       on & ~cpuc->intel_ctrl_host_mask & ~pebs);
	if (!x86_pmu.pebs)
		goto out;

	/* On CPUs without isolation a record may be written late, when the guest runs already. */
	if (x86_pmu.pebs_no_isolation) {
		append(&list, MSR_IA32_PEBS_ENABLE, cpuc->pebs_enabled, 0);
		goto out;
	}
	if (!x86_pmu.pebs_ept)
		goto out;

	/*
	 * PEBS_ENABLE stays as it is: which counters count is enough, and a value that is out of
	 * date after the guest would be worse.
	 */
	theirs = guest_pebs(cpuc, guest, pebs);
	list.msr[0].guest |= theirs;
	append(&list, MSR_IA32_DS_AREA, ds, theirs ? guest->ds_area : ds);
	if (x86_pmu.intel_cap.pebs_baseline)
		append(&list, MSR_PEBS_DATA_CFG, cpuc->active_pebs_data_cfg,
		       theirs ? guest->pebs_data_cfg : cpuc->active_pebs_data_cfg);
out:
	*nr = list.n;
	return list.msr;
}

/* x86_pmu.guest_get_msrs from perfmon v2 on */
struct perf_guest_switch_msr *intel_pe_guest_msrs(int *nr, void *data)
{
	/* It may record branches, also when it has lost the event that it needs for that. */
	__this_cpu_write(cpu_hw_events.last_task_ctx, NULL);
	return intel_pe_guest_list(this_cpu_ptr(&cpu_hw_events), data, nr);
}

static u64 select_if(bool on, struct perf_event *event)
{
	return event->hw.config | (on ? ARCH_PERFMON_EVENTSEL_ENABLE : 0);
}

/* x86_pmu.guest_get_msrs of v1: without a global register, each counter is switched. */
struct perf_guest_switch_msr *intel_pe_v1_guest_msrs(int *nr, void *data)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct list list = { .msr = cpuc->guest_switch_msrs };
	int i;

	for_each_set_bit(i, x86_pmu.cntr_mask, X86_PMC_IDX_MAX) {
		struct perf_event *event = cpuc->events[i];
		bool in_host, in_guest;

		if (!test_bit(i, cpuc->active_mask)) {
			append(&list, x86_pmu_config_addr(i), 0, 0);
			continue;
		}
		in_host = !event->attr.exclude_host;
		in_guest = !in_host || !event->attr.exclude_guest;
		append(&list, x86_pmu_config_addr(i), select_if(in_host, event),
		       select_if(in_guest, event));
	}
	*nr = list.n;
	return list.msr;
}
