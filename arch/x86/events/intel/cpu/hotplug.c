// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU comes and goes: its memory, what it shares with its siblings, and registers that are set
 * once.
 *
 * cpu_prepare and cpu_dead run in task context elsewhere, cpu_starting and cpu_dying on the CPU
 * with interrupts off.  Each CPU is prepared with shared state of its own; when it starts and finds
 * a sibling that has some, it joins that and leaves its own to be freed when it is online.  CPUs
 * start and die one at a time, so the pointers and reference counts need no lock.
 */
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include <asm/debugreg.h>

#include "cpu.h"
#include "pebs/pebs.h"

static struct intel_shared_regs *alloc_shared(int node)
{
	struct intel_shared_regs *regs = kzalloc_node(sizeof(*regs), GFP_KERNEL, node);
	int i;

	if (!regs)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(regs->regs); i++)
		raw_spin_lock_init(&regs->regs[i].lock);
	regs->core_id = -1;
	return regs;
}

static struct intel_excl_cntrs *alloc_exclusive(int node)
{
	struct intel_excl_cntrs *core = kzalloc_node(sizeof(*core), GFP_KERNEL, node);

	if (!core)
		return NULL;
	raw_spin_lock_init(&core->lock);
	core->core_id = -1;
	return core;
}

static bool alloc_all(struct cpu_hw_events *cpuc, int node)
{
	const unsigned int copies = PMU_FL_EXCL_CNTRS | PMU_FL_TFA | PMU_FL_BR_CNTR;

	if (is_hybrid() || x86_pmu.extra_regs || x86_pmu.lbr_sel_map) {
		cpuc->shared_regs = alloc_shared(node);
		if (!cpuc->shared_regs)
			return false;
	}
	/* version 6: counters may be reloaded by others, whatever kind of CPU this one will be */
	if (x86_pmu.flags & copies || x86_pmu.version >= 6) {
		cpuc->constraint_list = kcalloc_node(X86_PMC_IDX_MAX,
						     sizeof(*cpuc->constraint_list), GFP_KERNEL,
						     node);
		if (!cpuc->constraint_list)
			return false;
	}
	if (x86_pmu.flags & PMU_FL_EXCL_CNTRS) {
		cpuc->excl_cntrs = alloc_exclusive(node);
		if (!cpuc->excl_cntrs)
			return false;
	}
	return true;
}

/**
 * intel_cpuc_prepare - memory for a CPU, or for a made-up state
 * @cpuc: the state
 * @cpu: memory near this one
 */
int intel_cpuc_prepare(struct cpu_hw_events *cpuc, int cpu)
{
	cpuc->excl_thread_id = 0;
	/*
	 * A CPU that was down gets its configuration of records back, see
	 * init_debug_store_on_cpu().
	 */
	cpuc->pebs_record_size = cpuc->active_pebs_data_cfg ?
				 intel_pe_record_size(cpuc->active_pebs_data_cfg) :
				 x86_pmu.pebs_record_size;
	if (alloc_all(cpuc, cpu_to_node(cpu)))
		return 0;
	intel_cpuc_finish(cpuc);
	return -ENOMEM;
}

/**
 * intel_cpuc_finish - undo intel_cpuc_prepare()
 * @cpuc: the state
 */
void intel_cpuc_finish(struct cpu_hw_events *cpuc)
{
	struct intel_shared_regs *regs = cpuc->shared_regs;

	if (regs && (regs->core_id == -1 || !--regs->refcnt))
		kfree(regs);
	cpuc->shared_regs = NULL;
	cpuc->lbr_sel = NULL;
	intel_pe_free_excl_cntrs(cpuc);
}

int intel_pe_cpu_prepare(int cpu)
{
	struct cpu_hw_events *cpuc = &per_cpu(cpu_hw_events, cpu);
	int ret = intel_cpuc_prepare(cpuc, cpu);

	if (ret)
		return ret;
	ret = intel_pe_arch_prepare(cpu);
	if (ret)
		intel_cpuc_finish(cpuc);
	return ret;
}

void intel_pe_cpu_dead(int cpu)
{
	struct cpu_hw_events *cpuc = &per_cpu(cpu_hw_events, cpu);

	intel_cpuc_finish(cpuc);
	intel_pe_arch_dead(cpu);
	intel_pe_hybrid_cpu_dead(cpu);
}

void intel_pe_cpu_dying(int cpu)
{
	fini_debug_store_on_cpu(cpu);
	intel_pe_arch_dying(this_cpu_ptr(&cpu_hw_events));
}

static void join_shared(struct cpu_hw_events *cpuc, int cpu)
{
	int i, core = topology_core_id(cpu);

	if (x86_pmu.flags & PMU_FL_NO_HT_SHARING)
		return;
	for_each_cpu(i, topology_sibling_cpumask(cpu)) {
		struct intel_shared_regs *theirs = per_cpu(cpu_hw_events, i).shared_regs;

		if (theirs && theirs->core_id == core) {
			cpuc->kfree_on_online[X86_PERF_KFREE_SHARED] = cpuc->shared_regs;
			cpuc->shared_regs = theirs;
			break;
		}
	}
	cpuc->shared_regs->core_id = core;
	cpuc->shared_regs->refcnt++;
}

/* The first thread is number 0, and one that joins takes the number that is free. */
static void join_exclusive(struct cpu_hw_events *cpuc, int cpu)
{
	int i, core = topology_core_id(cpu);

	if (!(x86_pmu.flags & PMU_FL_EXCL_CNTRS))
		return;
	for_each_cpu(i, topology_sibling_cpumask(cpu)) {
		struct cpu_hw_events *sibling = &per_cpu(cpu_hw_events, i);

		if (sibling->excl_cntrs && sibling->excl_cntrs->core_id == core) {
			cpuc->kfree_on_online[X86_PERF_KFREE_EXCL] = cpuc->excl_cntrs;
			cpuc->excl_cntrs = sibling->excl_cntrs;
			cpuc->excl_thread_id = !sibling->excl_thread_id;
			break;
		}
	}
	cpuc->excl_cntrs->core_id = core;
	cpuc->excl_cntrs->refcnt++;
}

/* Metrics are for all CPUs or for none, except on hybrid machines, where each PMU knows. */
static void check_metrics(void)
{
	union perf_capabilities cap;

	if (is_hybrid() || !x86_pmu.intel_cap.perf_metrics)
		return;
	rdmsrl(MSR_IA32_PERF_CAPABILITIES, cap.capabilities);
	if (cap.perf_metrics)
		return;
	x86_pmu.intel_cap.perf_metrics = 0;
	x86_pmu.intel_ctrl &= ~BIT_ULL(GLOBAL_CTRL_EN_PERF_METRICS);
}

void intel_pe_cpu_starting(int cpu)
{
	struct cpu_hw_events *cpuc = &per_cpu(cpu_hw_events, cpu);

	if (is_hybrid() && !intel_pe_hybrid_cpu_starting(cpu))
		return;

	init_debug_store_on_cpu(cpu);
	/* Nor is it known what a kernel before this one left on. */
	if (x86_pmu.version > 1 && hybrid(cpuc->pmu, fixed_cntr_mask64)) {
		wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, 0);
		cpuc->active_fixed_ctrl_val = 0;
	}
	intel_pe_acr_cpu_starting(cpuc);
	intel_pe_arch_starting(cpuc);
	/* The firmware may have left branch recording on. */
	if (x86_pmu.lbr_nr && !boot_cpu_has(X86_FEATURE_ARCH_LBR))
		msr_clear_bit(MSR_IA32_DEBUGCTLMSR, DEBUGCTLMSR_LBR_BIT);
	cpuc->lbr_sel = NULL;
	intel_pmu_lbr_reset();

	if (x86_pmu.flags & PMU_FL_TFA) {
		/* unknown what is in the register: write it */
		WARN_ON_ONCE(cpuc->tfa_shadow);
		cpuc->tfa_shadow = ~0ULL;
		intel_pe_tfa_allow(cpuc);
	}
	if (x86_pmu.version > 1)
		intel_pe_freeze_in_smm(NULL);
	check_metrics();

	if (!cpuc->shared_regs)
		return;
	join_shared(cpuc, cpu);
	if (x86_pmu.lbr_sel_map)
		cpuc->lbr_sel = &cpuc->shared_regs->regs[EXTRA_REG_LBR];
	join_exclusive(cpuc, cpu);
}

static ssize_t freeze_on_smi_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%lu\n", x86_pmu.attr_freeze_on_smi);
}

static ssize_t freeze_on_smi_store(struct device *dev, struct device_attribute *attr,
				   const char *page, size_t len)
{
	static DEFINE_MUTEX(one_writer);
	unsigned long value;
	int ret = kstrtoul(page, 0, &value);

	if (ret)
		return ret;
	if (value > 1)
		return -EINVAL;

	guard(mutex)(&one_writer);
	if (x86_pmu.attr_freeze_on_smi == value)
		return len;
	/* a CPU that comes up does it by itself */
	cpus_read_lock();
	x86_pmu.attr_freeze_on_smi = value;
	on_each_cpu(intel_pe_freeze_in_smm, NULL, 1);
	cpus_read_unlock();
	return len;
}

struct device_attribute intel_pe_freeze_attr = __ATTR_RW(freeze_on_smi);
