// SPDX-License-Identifier: GPL-2.0
/*
 * Machines with several kinds of cores: one PMU for each, "cpu_core", "cpu_atom" and, if there are
 * two kinds of small cores, "cpu_lowpower".
 *
 * Both are made at boot from the boot CPU's CPUID and the tables of the model; which CPUs are
 * whose, and what they really have, is found out when the first CPU of a kind comes up (on it,
 * interrupts off).  x86_pmu.hybrid_pmu has the small cores first, those of low power last.
 */
#include <linux/cpumask.h>
#include <linux/slab.h>

#include <asm/cpu_device_id.h>
#include <asm/intel-family.h>

#include "model.h"
#include "pebs/pebs.h"

/* What CPUID leaf 0x1a calls Crestmont. */
#define NATIVE_CRESTMONT	2

static void set_unconstrained(struct x86_hybrid_pmu *h)
{
	h->unconstrained = (struct event_constraint)
		__EVENT_CONSTRAINT(0, h->cntr_mask64, 0, hweight64(h->cntr_mask64), 0, 0);
}

static void __init set_up(struct x86_hybrid_pmu *h, enum hybrid_pmu_type type, const char *name)
{
	h->pmu_type = type;
	h->name = name;
	h->cntr_mask64 = x86_pmu.cntr_mask64;
	h->fixed_cntr_mask64 = x86_pmu.fixed_cntr_mask64;
	h->pebs_events_mask = intel_pmu_pebs_mask(h->cntr_mask64);
	h->config_mask = X86_RAW_EVENT_MASK;
	set_unconstrained(h);

	h->intel_cap = x86_pmu.intel_cap;
	h->intel_cap.perf_metrics = type == hybrid_big;
	h->late_ack = type == hybrid_big;
	h->mid_ack = type != hybrid_big;
}

/* x86_pmu.filter */
static void intel_pe_hybrid_filter(struct pmu *pmu, int cpu, bool *skip)
{
	*skip = !cpumask_test_cpu(cpu, &hybrid_pmu(pmu)->supported_cpus);
}

/**
 * intel_pe_hybrid_init - make the PMUs
 * @model: model with two or three kinds of cores
 */
int __init intel_pe_hybrid_init(const struct intel_pe_model *model)
{
	const int n = X86_HYBRID_NUM_PMUS + !!model->tiny;
	struct x86_hybrid_pmu *h = kcalloc(n, sizeof(*h), GFP_KERNEL);
	int ret;

	if (!h)
		return -ENOMEM;
	x86_pmu.hybrid_pmu = h;
	x86_pmu.num_hybrid_pmus = n;
	x86_pmu.filter = intel_pe_hybrid_filter;
	static_branch_enable(&perf_is_hybrid);

	set_up(&h[X86_HYBRID_PMU_ATOM_IDX], hybrid_small, "cpu_atom");
	set_up(&h[X86_HYBRID_PMU_CORE_IDX], hybrid_big, "cpu_core");
	ret = intel_pe_load_core(model->small, &h[X86_HYBRID_PMU_ATOM_IDX].pmu) ?:
	      intel_pe_load_core(model->core, &h[X86_HYBRID_PMU_CORE_IDX].pmu);
	if (ret || !model->tiny)
		return ret;
	set_up(&h[X86_HYBRID_PMU_TINY_IDX], hybrid_tiny, "cpu_lowpower");
	return intel_pe_load_core(model->tiny, &h[X86_HYBRID_PMU_TINY_IDX].pmu);
}

/*
 * Alder Lake's CPUID says what both kinds have.  The big cores have two general counters and one
 * fixed counter more.  But if the firmware has switched the small cores off, CPUID says all.
 */
void __init intel_pe_adl_counters(void)
{
	struct x86_hybrid_pmu *h = &x86_pmu.hybrid_pmu[X86_HYBRID_PMU_CORE_IDX];
	u64 general = x86_pmu.cntr_mask64 << 2 | 0x3;
	u64 fixed = x86_pmu.fixed_cntr_mask64 << 1 | 0x1;

	if (!cpu_feature_enabled(X86_FEATURE_HYBRID_CPU) ||
	    hweight64(general) > 8 || hweight64(fixed) > 4)
		return;
	h->cntr_mask64 = general;
	h->fixed_cntr_mask64 = fixed;
	h->pebs_events_mask = intel_pmu_pebs_mask(general);
	set_unconstrained(h);
}

/* x86_pmu.get_hybrid_cpu_type, for CPUs that do not say: only big cores do not. */
enum hybrid_cpu_type intel_pe_adl_cpu_type(void)
{
	return HYBRID_INTEL_CORE;
}

/**
 * intel_pe_hybrid_kind - which of the PMUs is a CPU's?
 * @leaf: eax of its CPUID leaf 0x1a: the type of core in bits 31-24, which one of it in the others
 * @pmus: how many PMUs there are
 *
 * Return: index in x86_pmu.hybrid_pmu; -1: unknown.
 */
int intel_pe_hybrid_kind(u32 leaf, int pmus)
{
	switch (leaf >> 24) {
	case HYBRID_INTEL_ATOM:
		/* Arrow Lake H: Skymont, and Crestmont where little power is used. */
		if (pmus > X86_HYBRID_PMU_TINY_IDX && (leaf & 0xffffff) == NATIVE_CRESTMONT)
			return X86_HYBRID_PMU_TINY_IDX;
		return X86_HYBRID_PMU_ATOM_IDX;
	case HYBRID_INTEL_CORE:
		return X86_HYBRID_PMU_CORE_IDX;
	}
	return -1;
}

static struct x86_hybrid_pmu *pmu_of_this_cpu(void)
{
	u32 leaf = get_this_hybrid_cpu_type() ? cpuid_eax(0x1a) : 0;
	int i;

	if (!leaf && x86_pmu.get_hybrid_cpu_type)
		leaf = x86_pmu.get_hybrid_cpu_type() << 24;
	i = intel_pe_hybrid_kind(leaf, x86_pmu.num_hybrid_pmus);
	return i < 0 ? NULL : &x86_pmu.hybrid_pmu[i];
}

/* Meteor Lake clears the bit for metrics, though it has them. */
static bool capabilities_are_wrong(void)
{
	return boot_cpu_data.x86_vfm == INTEL_METEORLAKE ||
	       boot_cpu_data.x86_vfm == INTEL_METEORLAKE_L;
}

/* What this kind of core says of itself. */
static void enumerate(struct x86_hybrid_pmu *h)
{
	h->config_mask = intel_pe_config_bits();
	intel_pe_enumerate_counters(&h->cntr_mask64, &h->fixed_cntr_mask64);
	if (!capabilities_are_wrong())
		rdmsrl(MSR_IA32_PERF_CAPABILITIES, h->intel_cap.capabilities);
}

static void cut_down(struct x86_hybrid_pmu *h)
{
	intel_pe_clip_counters(&h->cntr_mask64, &h->fixed_cntr_mask64, &h->intel_ctrl);
	intel_pe_enumerate_acr(&h->acr_cntr_mask64, &h->acr_cause_mask64, h->intel_ctrl);
	intel_pe_arch_enumerate(&h->pmu);
	h->pebs_events_mask = intel_pmu_pebs_mask(h->cntr_mask64);
	set_unconstrained(h);
	if (h->intel_cap.perf_metrics)
		h->intel_ctrl |= BIT_ULL(GLOBAL_CTRL_EN_PERF_METRICS);
	intel_pe_clip_constraints(h->event_constraints, h->cntr_mask64, h->fixed_cntr_mask64,
				  h->intel_ctrl);
	intel_pe_probe_extra_regs(h->extra_regs);
}

/**
 * intel_pe_hybrid_cpu_dead - this CPU has no PMU any more
 * @cpu: a CPU that is down; it may have died before it started, and then never had one
 */
void intel_pe_hybrid_cpu_dead(int cpu)
{
	int i;

	for (i = 0; i < x86_pmu.num_hybrid_pmus; i++)
		cpumask_clear_cpu(cpu, &x86_pmu.hybrid_pmu[i].supported_cpus);
}

/**
 * intel_pe_hybrid_cpu_starting - find this CPU's PMU
 * @cpu: this CPU
 *
 * Return: false, and it has none, if its kind is unknown or the counters are not there.
 */
bool intel_pe_hybrid_cpu_starting(int cpu)
{
	struct cpu_hw_events *cpuc = &per_cpu(cpu_hw_events, cpu);
	struct x86_hybrid_pmu *h = pmu_of_this_cpu();

	if (WARN_ON_ONCE(!h || h->pmu.type == -1)) {
		cpuc->pmu = NULL;
		return false;
	}
	if (cpumask_empty(&h->supported_cpus)) {
		if (this_cpu_has(X86_FEATURE_ARCH_PERFMON_EXT))
			enumerate(h);
		cut_down(h);
		if (!check_hw_exists(&h->pmu, h->cntr_mask, h->fixed_cntr_mask)) {
			cpuc->pmu = NULL;
			return false;
		}
		pr_info("%s PMU driver:\n", h->name);
		x86_pmu_show_pmu_cap(&h->pmu);
	}
	cpumask_set_cpu(cpu, &h->supported_cpus);
	cpuc->pmu = &h->pmu;
	return true;
}
