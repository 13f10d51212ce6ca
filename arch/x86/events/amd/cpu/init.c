// SPDX-License-Identifier: GPL-2.0
/*
 * Which AMD CPU is this?  Fills in struct x86_pmu, and follows CPUs that come and go.
 *
 * What there is: K7's four counters; with core performance counters (family 15h on) six, at other
 * addresses; with PerfMonV2 (Zen 4 on) as many as CPUID says and global registers.  Branch records
 * are LbrExtV2 with PerfMonV2, BRS on Zen 3.  Hygon's CPUs are Zen's.
 *
 * amd_pmu_init() runs once at boot.  The functions for CPUs are called before one starts (task
 * context), on it as it starts (interrupts off), and after it has gone.
 */
#include <linux/init.h>
#include <linux/printk.h>

#include <asm/cpufeature.h>

#include "cpu.h"

static int amd_pe_cpu_prepare(int cpu)
{
	return x86_pmu.amd_nb_constraints ? amd_pe_nb_prepare(cpu) : 0;
}

/* KVM is what turns SVM on. */
static void amd_pe_cpu_starting(int cpu)
{
	__this_cpu_write(cpu_hw_events.perf_ctr_virt_mask, AMD64_EVENTSEL_HOSTONLY);
	amd_pe_claim_cpu_init();
	if (x86_pmu.version >= 2)
		amd_pe_global_cpu_init();
	if (x86_pmu.lbr_nr && x86_pmu.version >= 2)
		amd_pe_lbr_cpu_init();
	else if (x86_pmu.lbr_nr)
		amd_pe_brs_cpu_init();
	if (x86_pmu.amd_nb_constraints)
		amd_pe_nb_join(cpu);
}

static void amd_pe_cpu_dead(int cpu)
{
	if (x86_pmu.amd_nb_constraints)
		amd_pe_nb_leave(cpu);
}

static const struct x86_pmu basic __initconst = {
	.name			= "AMD",
	.eventsel		= MSR_K7_EVNTSEL0,
	.perfctr		= MSR_K7_PERFCTR0,
	.cntr_mask64		= GENMASK_ULL(AMD64_NUM_COUNTERS - 1, 0),
	.cntval_bits		= 48,
	.cntval_mask		= GENMASK_ULL(47, 0),
	.max_period		= GENMASK_ULL(46, 0),	/* the top bit tells an overflow */
	.apic			= 1,
	.amd_nb_constraints	= 1,

	.hw_config		= amd_pe_hw_config,
	.schedule_events	= x86_schedule_events,
	.get_event_constraints	= amd_pe_nb_constraint,
	.put_event_constraints	= amd_pe_nb_release,

	.enable_all		= x86_pmu_enable_all,
	.disable_all		= amd_pe_stop_all,
	.enable			= x86_pmu_enable_event,
	.disable		= amd_pe_stop,
	.handle_irq		= amd_pe_nmi,

	.cpu_prepare		= amd_pe_cpu_prepare,
	.cpu_starting		= amd_pe_cpu_starting,
	.cpu_dead		= amd_pe_cpu_dead,

	.format_attrs		= amd_pe_format_attrs,
	.events_sysfs_show	= amd_pe_show_event,
};

/* Core performance counters: select and count of one are neighbours. */
static int amd_pe_every_second(int index, bool eventsel)
{
	return 2 * index;
}

static void __init use_core_counters(void)
{
	x86_pmu.eventsel = MSR_F15H_PERF_CTL;
	x86_pmu.perfctr = MSR_F15H_PERF_CTR;
	x86_pmu.addr_offset = amd_pe_every_second;
	x86_pmu.cntr_mask64 = GENMASK_ULL(AMD64_NUM_COUNTERS_CORE - 1, 0);
	/* The northbridge has its own counters: amd/uncore.c. */
	x86_pmu.amd_nb_constraints = 0;
	x86_pmu.put_event_constraints = NULL;
}

static void __init use_global_registers(void)
{
	union cpuid_0x80000022_ebx ebx = { .full = cpuid_ebx(EXT_PERFMON_DEBUG_FEATURES) };

	x86_pmu.version = 2;
	x86_pmu.cntr_mask64 = GENMASK_ULL(ebx.split.num_core_pmc - 1, 0);
	x86_pmu.enable_all = amd_pe_global_start_all;
	x86_pmu.disable_all = amd_pe_global_stop_all;
	x86_pmu.enable = amd_pe_global_start;
	x86_pmu.disable = amd_pe_global_stop;
	x86_pmu.handle_irq = amd_pe_global_nmi;
}

static void __init use_pairs(void)
{
	/* Merge, event 0xfff, on the odd counter: it takes what the even one cannot hold. */
	x86_pmu.perf_ctr_pair_en = 0xfULL << 32 | 0xff | ARCH_PERFMON_EVENTSEL_ENABLE;
	x86_pmu.flags |= PMU_FL_PAIR;
	x86_pmu.get_event_constraints = amd_pe_zen_constraint;
	amd_pe_constraint_init();
}

static void __init use_branches(void)
{
	x86_pmu.lbr_nr = amd_pe_lbr_init();
	if (x86_pmu.lbr_nr) {
		pr_cont("%d-deep LBR, ", x86_pmu.lbr_nr);
		return;
	}
	x86_pmu.lbr_nr = amd_pe_brs_init();
	if (x86_pmu.lbr_nr)
		pr_cont("%d-deep BRS, ", x86_pmu.lbr_nr);
}

/**
 * amd_pmu_init - the core PMU of this AMD or Hygon CPU
 *
 * Return: 0, and x86_pmu is filled in; -ENODEV if there is none.
 */
int __init amd_pmu_init(void)
{
	if (boot_cpu_data.x86 < 6)
		return -ENODEV;

	x86_pmu = basic;
	amd_pe_claim_init();
	amd_pe_events_init();

	if (boot_cpu_has(X86_FEATURE_PERFCTR_CORE)) {
		use_core_counters();
		if (boot_cpu_has(X86_FEATURE_PERFMON_V2))
			use_global_registers();
		if (boot_cpu_data.x86 == 0x15) {
			pr_cont("Fam15h ");
			x86_pmu.get_event_constraints = amd_pe_f15h_constraint;
		}
		if (boot_cpu_data.x86 >= 0x17) {
			pr_cont("Fam17h+ ");
			use_pairs();
		}
		use_branches();
		x86_pmu.attr_update = amd_pe_attr_update;
		pr_cont("core perfctr, ");
	}
	/* With a single CPU there is nobody to share with. */
	if (num_possible_cpus() == 1)
		x86_pmu.amd_nb_constraints = 0;
	return 0;
}
