// SPDX-License-Identifier: GPL-2.0
/*
 * Print the PMU: its abilities at boot, its registers on SysRq-p and when the PMI is stuck.
 *
 * perf_event_print_debug() may run in NMI, on any CPU, at any moment; it only reads.
 */
#include <linux/irqflags.h>
#include <linux/printk.h>

#include "core.h"

/**
 * x86_pmu_show_pmu_cap - say at boot what was found
 * @pmu: one of hybrid PMUs, or NULL
 */
void x86_pmu_show_pmu_cap(struct pmu *pmu)
{
	const struct { const char *what; u64 value; } hex[] = {
		{ "value mask:     ", x86_pmu.cntval_mask },
		{ "max period:     ", x86_pmu.max_period },
	};
	int i;

	pr_info("... version:                %d\n", x86_pmu.version);
	pr_info("... bit width:              %d\n", x86_pmu.cntval_bits);
	pr_info("... generic registers:      %d\n", x86_pmu_num_counters(pmu));
	for (i = 0; i < ARRAY_SIZE(hex); i++)
		pr_info("... %s        %016llx\n", hex[i].what, hex[i].value);
	pr_info("... fixed-purpose events:   %d\n", x86_pmu_num_counters_fixed(pmu));
	pr_info("... event mask:             %016llx\n", hybrid(pmu, intel_ctrl));
}

static void print(int cpu, const char *what, u64 value)
{
	pr_info("CPU#%d: %-12s%016llx\n", cpu, what, value);
}

static void print_register(int cpu, const char *what, u32 msr)
{
	u64 value;

	rdmsrl(msr, value);
	print(cpu, what, value);
}

static bool is_amd(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_AMD ||
	       boot_cpu_data.x86_vendor == X86_VENDOR_HYGON;
}

static void print_amd_global(int cpu)
{
	print_register(cpu, "ctrl:", MSR_AMD64_PERF_CNTR_GLOBAL_CTL);
	print_register(cpu, "status:", MSR_AMD64_PERF_CNTR_GLOBAL_STATUS);
}

static void print_intel_global(int cpu, struct pmu *pmu)
{
	print_register(cpu, "ctrl:", MSR_CORE_PERF_GLOBAL_CTRL);
	print_register(cpu, "status:", MSR_CORE_PERF_GLOBAL_STATUS);
	print_register(cpu, "overflow:", MSR_CORE_PERF_GLOBAL_OVF_CTRL);
	print_register(cpu, "fixed:", MSR_ARCH_PERFMON_FIXED_CTR_CTRL);
	if (x86_pmu.pebs && hybrid(pmu, pebs_constraints))
		print_register(cpu, "pebs:", MSR_IA32_PEBS_ENABLE);
}

static void print_global(int cpu, struct pmu *pmu)
{
	if (x86_pmu.version < 2)
		return;
	pr_info("\n");
	if (is_amd())
		print_amd_global(cpu);
	else
		print_intel_global(cpu, pmu);
	if (x86_pmu.lbr_nr)
		print_register(cpu, "debugctl:", MSR_IA32_DEBUGCTLMSR);
}

static void print_counters(int cpu, struct pmu *pmu)
{
	u64 select, count;
	int i;

	for_each_set_bit(i, hybrid(pmu, cntr_mask), X86_PMC_IDX_MAX) {
		rdmsrl(x86_pmu_config_addr(i), select);
		rdmsrl(x86_pmu_event_addr(i), count);
		pr_info("CPU#%d:   gen-PMC%d ctrl:  %016llx\n", cpu, i, select);
		pr_info("CPU#%d:   gen-PMC%d count: %016llx\n", cpu, i, count);
		pr_info("CPU#%d:   gen-PMC%d left:  %016llx\n", cpu, i,
			per_cpu(pmc_prev_left[i], cpu));
	}
	for_each_set_bit(i, hybrid(pmu, fixed_cntr_mask), X86_PMC_IDX_MAX) {
		if (fixed_counter_disabled(i, pmu))
			continue;
		rdmsrl(x86_pmu_fixed_ctr_addr(i), count);
		pr_info("CPU#%d: fixed-PMC%d count: %016llx\n", cpu, i, count);
	}
}

/** perf_event_print_debug - print the registers of this CPU */
void perf_event_print_debug(void)
{
	struct cpu_hw_events *cpuc;
	int cpu;

	guard(irqsave)();
	cpu = smp_processor_id();
	cpuc = this_cpu_ptr(&cpu_hw_events);
	if (!hybrid(cpuc->pmu, cntr_mask64))
		return;
	print_global(cpu, cpuc->pmu);
	print(cpu, "active:", *(u64 *)cpuc->active_mask);
	print_counters(cpu, cpuc->pmu);
}
