// SPDX-License-Identifier: GPL-2.0
/*
 * What all models have in common: the two struct x86_pmu that a model's description is applied to,
 * and the codes of generic events.
 *
 * Perfmon v1 has no global registers: counters are enabled one by one and the PMI looks at each.
 * From v2 on there are fixed counters, one register that lets all counters go, and one that says
 * which have overflowed.  The templates are copied at boot (init.c) and then discarded.
 */
#include <linux/nmi.h>

#include "cpu.h"

/*
 * The architectural events of the SDM, vol. 3B.  Models and quirks change some; then read only.
 * 0: there is none.
 */
u64 intel_pe_event_codes[PERF_COUNT_HW_MAX] __read_mostly = {
	[PERF_COUNT_HW_INSTRUCTIONS]		= 0xc0,		/* Instruction Retired */
	[PERF_COUNT_HW_CPU_CYCLES]		= 0x3c,		/* UnHalted Core Cycles */
	[PERF_COUNT_HW_REF_CPU_CYCLES]		= 0x300,	/* stands for a fixed counter */
	[PERF_COUNT_HW_BUS_CYCLES]		= 0x13c,	/* UnHalted Reference Cycles */
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS]	= 0xc4,		/* Branch Instruction Retired */
	[PERF_COUNT_HW_BRANCH_MISSES]		= 0xc5,		/* Branch Misses Retired */
	[PERF_COUNT_HW_CACHE_REFERENCES]	= 0x4f2e,	/* LLC Reference */
	[PERF_COUNT_HW_CACHE_MISSES]		= 0x412e,	/* LLC Misses */
};

static u64 intel_pe_event_code(int id)
{
	return intel_pe_event_codes[id];
}

ssize_t intel_event_sysfs_show(char *page, u64 config)
{
	return x86_event_sysfs_show(page, config, config & ARCH_PERFMON_EVENTSEL_EVENT);
}

static void intel_pe_sched_task(struct perf_event_pmu_context *pmu_ctx, struct task_struct *task,
				bool sched_in)
{
	intel_pmu_pebs_sched_task(pmu_ctx, sched_in);
	intel_pmu_lbr_sched_task(pmu_ctx, task, sched_in);
}

static void intel_pe_reserve_buffers(void)
{
	reserve_ds_buffers();
	reserve_lbr_buffers();
}

static void intel_pe_release_buffers(void)
{
	release_ds_buffers();
	release_lbr_buffers();
}

/*
 * Counters are loaded with 32 bits that are extended by their sign, unless the model has other
 * registers for them: hence the greatest period.
 */
#define COMMON								\
	.apic			= 1,					\
	.max_period		= BIT_ULL(31) - 1,			\
	.max_events		= PERF_COUNT_HW_MAX,			\
	.event_map		= intel_pe_event_code,			\
	.events_sysfs_show	= intel_event_sysfs_show,		\
	.perfctr		= MSR_ARCH_PERFMON_PERFCTR0,		\
	.eventsel		= MSR_ARCH_PERFMON_EVENTSEL0,		\
	.fixedctr		= MSR_ARCH_PERFMON_FIXED_CTR0,		\
	.schedule_events	= x86_schedule_events,			\
	.get_event_constraints	= intel_pe_get_constraint,		\
	.put_event_constraints	= intel_pe_put_constraint,		\
	.check_period		= intel_pe_check_period,		\
	.large_pebs_flags	= LARGE_PEBS_FLAGS,			\
	.lbr_read		= intel_pmu_lbr_read_64,		\
	.lbr_reset		= intel_pmu_lbr_reset_64,		\
	.lbr_restore		= intel_pmu_lbr_restore,		\
	.lbr_save		= intel_pmu_lbr_save,			\
	.cpu_prepare		= intel_pe_cpu_prepare,			\
	.cpu_starting		= intel_pe_cpu_starting,		\
	.cpu_dying		= intel_pe_cpu_dying,			\
	.cpu_dead		= intel_pe_cpu_dead,			\
	.cpuc_prepare		= intel_cpuc_prepare,			\
	.cpuc_finish		= intel_cpuc_finish,			\
	.reserve_buffers	= intel_pe_reserve_buffers,		\
	.release_buffers	= intel_pe_release_buffers

/* Hypervisors combine v1 with models that are newer, so it has shared registers and the rest. */
const struct x86_pmu intel_pe_v1_pmu __initconst = {
	COMMON,
	.name			= "core",
	.hw_config		= intel_pe_v1_config,
	.handle_irq		= x86_pmu_handle_irq,
	.enable_all		= intel_pe_v1_enable_all,
	.disable_all		= x86_pmu_disable_all,
	.enable			= intel_pe_v1_enable,
	.disable		= x86_pmu_disable_event,
	.guest_get_msrs		= intel_pe_v1_guest_msrs,
};

const struct x86_pmu intel_pe_v2_pmu __initconst = {
	COMMON,
	.name			= "Intel",
	.hw_config		= intel_pe_config,
	.handle_irq		= intel_pe_handle_irq,
	.enable_all		= intel_pe_enable_all,
	.disable_all		= intel_pe_disable_all,
	.enable			= intel_pe_enable,
	.disable		= intel_pe_disable,
	.add			= intel_pe_add,
	.del			= intel_pe_del,
	.read			= intel_pe_read,
	.update			= intel_pe_update,
	.set_period		= intel_pe_set_period,
	.guest_get_msrs		= intel_pe_guest_msrs,
	.sched_task		= intel_pe_sched_task,
	.aux_output_match	= intel_pe_aux_output_match,
	/*
	 * SMM runs at all privilege levels, and the filters of a counter know nothing of it: code
	 * of the firmware would be counted for users.
	 */
	.attr_freeze_on_smi	= 1,
};
