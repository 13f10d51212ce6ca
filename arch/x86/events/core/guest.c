// SPDX-License-Identifier: GPL-2.0
/*
 * What KVM, the resctrl test code and the microcode loader ask the driver.
 *
 * All of it may be called when there is no PMU: x86_pmu is empty then.  Task context, but where
 * it is said.  No locks.
 */
#include <linux/export.h>
#include <linux/lockdep.h>
#include <linux/nospec.h>
#include <linux/perf_event.h>

#include "core.h"

/**
 * perf_guest_get_msrs - registers to switch on entry to and exit from a guest
 * @nr: out: how many
 * @data: the vCPU's PMU
 *
 * This CPU, interrupts off.  Return: array of them, or NULL.
 */
struct perf_guest_switch_msr *perf_guest_get_msrs(int *nr, void *data)
{
	return static_call(x86_pmu_guest_get_msrs)(nr, data);
}
EXPORT_SYMBOL_GPL(perf_guest_get_msrs);

/**
 * perf_get_x86_pmu_capability - describe the PMU to a hypervisor
 * @cap: out: all zero when there is none, or it differs between CPUs
 *
 * A hybrid CPU counts as that even if the firmware has disabled all small cores.
 */
void perf_get_x86_pmu_capability(struct x86_pmu_capability *cap)
{
	int width = x86_pmu.cntval_bits;

	*cap = (struct x86_pmu_capability){ };
	if (WARN_ON_ONCE(cpu_feature_enabled(X86_FEATURE_HYBRID_CPU)) || !x86_pmu.handle_irq)
		return;
	cap->version = x86_pmu.version;
	cap->num_counters_gp = x86_pmu_num_counters(NULL);
	cap->bit_width_gp = cap->num_counters_gp ? width : 0;
	cap->num_counters_fixed = x86_pmu_num_counters_fixed(NULL);
	cap->bit_width_fixed = cap->num_counters_fixed ? width : 0;
	cap->events_mask_len = x86_pmu.events_mask_len;
	cap->events_mask = (unsigned int)x86_pmu.events_maskl;
	cap->pebs_ept = x86_pmu.pebs_ept;
}
EXPORT_SYMBOL_GPL(perf_get_x86_pmu_capability);

/**
 * perf_get_hw_event_config - event-select value of a generic event
 * @hw_event: PERF_COUNT_HW_*
 *
 * Return: the value, 0 when there is none.
 */
u64 perf_get_hw_event_config(int hw_event)
{
	if (hw_event >= x86_pmu.max_events)
		return 0;
	return x86_pmu.event_map(array_index_nospec(hw_event, x86_pmu.max_events));
}
EXPORT_SYMBOL_GPL(perf_get_hw_event_config);

/**
 * x86_perf_rdpmc_index - what RDPMC takes to read the event's counter
 * @event: event that counts on this CPU, which perf_event_read_local() has confirmed
 *
 * Good until interrupts are on again.
 */
int x86_perf_rdpmc_index(struct perf_event *event)
{
	lockdep_assert_irqs_disabled();
	return event->hw.event_base_rdpmc;
}

/** perf_check_microcode - new microcode was loaded: does it lift a restriction? */
void perf_check_microcode(void)
{
	if (x86_pmu.check_microcode)
		x86_pmu.check_microcode();
}
