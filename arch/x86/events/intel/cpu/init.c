// SPDX-License-Identifier: GPL-2.0
/*
 * Boot: what follows for x86_pmu from CPUID and from the model?
 *
 * CPUID's leaf 10 says how many counters of what kind there are, and which version the rest is; a
 * model of CPU adds what the architecture does not say (model.h).  Called once from
 * models/models.c, before anything counts; registration comes later (../../start/).
 */
#include "model.h"
#include "pebs/pebs.h"

#define MOST_QUIRKS	3

/* Leaf 10 */
static struct perfmon_leaf {
	union cpuid10_eax	eax;
	union cpuid10_ebx	ebx;
	u32			fixed;
	union cpuid10_edx	edx;
} leaf __initdata;

static u64 __init first(unsigned int n)
{
	return n ? GENMASK_ULL(min(n, 64U) - 1, 0) : 0;
}

/* CPUs before v5 say how many fixed counters there are, and some wrongly none: there are three. */
static u64 __init fixed_counters(void)
{
	unsigned int n = leaf.edx.split.num_counters_fixed;

	if (leaf.eax.split.version_id >= 5)
		return leaf.fixed;
	if (leaf.eax.split.version_id < 2)
		return 0;
	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR))
		n = max(n, 3U);
	return first(n);
}

static void __init take_leaf(void)
{
	int bits = leaf.eax.split.bit_width;

	x86_pmu = leaf.eax.split.version_id < 2 ? intel_pe_v1_pmu : intel_pe_v2_pmu;
	x86_pmu.version = leaf.eax.split.version_id;
	x86_pmu.cntval_bits = bits;
	x86_pmu.cntval_mask = BIT_ULL(bits) - 1;
	x86_pmu.cntr_mask64 = first(leaf.eax.split.num_counters);
	x86_pmu.fixed_cntr_mask64 = fixed_counters();
	/* Of hybrid machines this would be the kind of the CPU that boots. */
	if (!boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		intel_pe_enumerate_counters(&x86_pmu.cntr_mask64, &x86_pmu.fixed_cntr_mask64);
	x86_pmu.events_maskl = leaf.ebx.full;
	x86_pmu.events_mask_len = leaf.eax.split.mask_length;
	x86_pmu.config_mask = intel_pe_config_bits();
	x86_pmu.pebs_events_mask = intel_pmu_pebs_mask(x86_pmu.cntr_mask64);
	x86_pmu.pebs_capable = PEBS_COUNTER_MASK;
	if (boot_cpu_has(X86_FEATURE_PDCM))
		rdmsrl(MSR_IA32_PERF_CAPABILITIES, x86_pmu.intel_cap.capabilities);
}

static void __init init_records(void)
{
	if (x86_pmu.intel_cap.lbr_format == LBR_FORMAT_32) {
		x86_pmu.lbr_read = intel_pmu_lbr_read_32;
		x86_pmu.lbr_reset = intel_pmu_lbr_reset_32;
	}
	if (boot_cpu_has(X86_FEATURE_ARCH_LBR))
		intel_pmu_arch_lbr_init();
	intel_ds_init();
}

/* The quirks run in this order, later; that of the architected events must be the last. */
static void __init queue_quirks(const struct intel_pe_model *model)
{
	static struct x86_pmu_quirk entry[MOST_QUIRKS] __initdata;
	int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(model->quirks) && model->quirks[i]; i++)
		entry[n++].func = model->quirks[i];
	entry[n++].func = intel_pe_quirk_arch_events;
	for (i = 1; i < n; i++)
		entry[i - 1].next = &entry[i];
	x86_pmu.quirks = entry;
}

static void __init take_bits(const struct intel_pe_model *model)
{
	x86_pmu.flags |= model->flags;
	x86_pmu.late_ack = model->late_ack;
	x86_pmu.mid_ack = model->mid_ack;
	x86_pmu.pebs_prec_dist = model->prec_dist;
	x86_pmu.pebs_block = model->block;
	x86_pmu.pebs_no_tlb = model->no_tlb;
	x86_pmu.pebs_ept |= model->guest_pebs;
	x86_pmu.lbr_pt_coexist = model->pt_coexists;
	x86_pmu.lbr_double_abort = model->double_abort;
	x86_pmu.rtm_abort_event = model->rtm_abort;
	x86_pmu.num_topdown_events = model->metrics;
	if (model->pebs_any)
		x86_pmu.pebs_capable = ~0ULL;
}

static void __init take_codes(const struct intel_pe_model *model)
{
	u64 *code = intel_pe_event_codes;

	code[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = model->stalls_front;
	code[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = model->stalls_back;
	/*
	 * with a code of their own reference cycles can be on any counter; bit 2 set: no such event
	 */
	if (model->ref_cycles && !(x86_pmu.events_maskl & BIT(2)))
		code[PERF_COUNT_HW_REF_CPU_CYCLES] = 0x13c;
}

static void __init take_hooks(const struct intel_pe_model *model)
{
	x86_pmu.pebs_aliases = model->alias;
	x86_pmu.limit_period = model->limit;
	x86_pmu.pebs_latency_data = model->latency;
	if (model->config)
		x86_pmu.hw_config = model->config;
	if (model->get)
		x86_pmu.get_event_constraints = model->get;
	if (model->enable_all)
		x86_pmu.enable_all = model->enable_all;
	if (model->lbr_init)
		model->lbr_init();
	if (model->data_source)
		model->data_source();
	if (model->setup)
		model->setup();
}

static int __init take_model(const struct intel_pe_model *model)
{
	int ret;

	ret = model->small ? intel_pe_hybrid_init(model) : intel_pe_load_core(model->core, NULL);
	if (ret)
		return ret;
	take_bits(model);
	take_codes(model);
	take_hooks(model);
	queue_quirks(model);
	pr_cont("%s, ", model->title);
	return 0;
}

static bool __init branches_work(void)
{
	int i;

	if (x86_pmu.lbr_tos && !intel_pe_msr_works(x86_pmu.lbr_tos, 0x3))
		return false;
	for (i = 0; i < x86_pmu.lbr_nr; i++) {
		if (!intel_pe_msr_works(x86_pmu.lbr_from + i, 0xffff) ||
		    !intel_pe_msr_works(x86_pmu.lbr_to + i, 0xffff))
			return false;
	}
	return true;
}

/* Snapshots stop the PMU by its global control, which v1 has not. */
static void __init init_branches(void)
{
	if (x86_pmu.lbr_nr && !branches_work())
		x86_pmu.lbr_nr = 0;
	if (!x86_pmu.lbr_nr)
		return;
	intel_pmu_lbr_init();
	pr_cont("%d-deep LBR, ", x86_pmu.lbr_nr);
	if (x86_pmu.disable_all != intel_pe_disable_all)
		return;
	if (boot_cpu_has(X86_FEATURE_ARCH_LBR))
		static_call_update(perf_snapshot_branch_stack, intel_pe_arch_branch_snapshot);
	else
		static_call_update(perf_snapshot_branch_stack, intel_pe_branch_snapshot);
}

static int intel_pe_v6_offset(int index, bool eventsel)
{
	return MSR_IA32_PMC_V6_STEP * index;
}

/* Where the counters are, if not at the oldest place. */
static void __init place_counters(void)
{
	if (x86_pmu.intel_cap.full_width_write) {
		x86_pmu.max_period = x86_pmu.cntval_mask >> 1;
		x86_pmu.perfctr = MSR_IA32_PMC0;
		pr_cont("full-width counters, ");
	}
	if (x86_pmu.version >= 6) {
		x86_pmu.addr_offset = intel_pe_v6_offset;
		x86_pmu.eventsel = MSR_IA32_PMC_V6_GP0_CFG_A;
		x86_pmu.perfctr = MSR_IA32_PMC_V6_GP0_CTR;
		x86_pmu.fixedctr = MSR_IA32_PMC_V6_FX0_CTR;
	}
}

static void __init init_capabilities(void)
{
	union perf_capabilities cap = x86_pmu.intel_cap;

	if (cap.perf_metrics && !is_hybrid())
		x86_pmu.intel_ctrl |= BIT_ULL(GLOBAL_CTRL_EN_PERF_METRICS);
	if (cap.pebs_timing_info)
		x86_pmu.flags |= PMU_FL_RETIRE_LATENCY;
	if (cap.pebs_output_pt_available)
		x86_pmu.assign = intel_pe_report_output_id;
}

/**
 * intel_pe_init_arch - fill in of x86_pmu what the architecture says
 *
 * Return: 0, or why there is no PMU.
 */
int __init intel_pe_init_arch(void)
{
	cpuid(10, &leaf.eax.full, &leaf.ebx.full, &leaf.fixed, &leaf.edx.full);
	if (leaf.eax.split.mask_length < ARCH_PERFMON_EVENTS_COUNT)
		return -ENODEV;
	take_leaf();
	init_records();
	return 0;
}

/**
 * intel_pe_init - fill in the rest
 * @model: what the CPU is
 *
 * Return: 0, or why there is no PMU.
 */
int __init intel_pe_init(const struct intel_pe_model *model)
{
	int ret = take_model(model);

	if (ret)
		return ret;
	intel_pe_clip_counters(&x86_pmu.cntr_mask64, &x86_pmu.fixed_cntr_mask64,
			       &x86_pmu.intel_ctrl);
	if (!is_hybrid())
		intel_pe_enumerate_acr(&x86_pmu.acr_cntr_mask64, &x86_pmu.acr_cause_mask64,
				       x86_pmu.intel_ctrl);
	if (x86_pmu.version >= 6) {
		x86_pmu.leave = intel_pe_acr_leave;
		static_branch_enable(&intel_pe_may_reload);
	}
	if (!is_hybrid())
		intel_pe_arch_enumerate(NULL);
	intel_pe_has_any_thread = x86_pmu.version >= 2;
	if (x86_pmu.version >= 5 && leaf.edx.split.anythread_deprecated) {
		intel_pe_has_any_thread = false;
		pr_cont("AnyThread deprecated, ");
	}
	ret = intel_pe_sysfs_init(model);
	if (ret)
		return ret;
	intel_pe_clip_constraints(x86_pmu.event_constraints, x86_pmu.cntr_mask64,
				  x86_pmu.fixed_cntr_mask64, x86_pmu.intel_ctrl);
	init_branches();
	intel_pe_probe_extra_regs(x86_pmu.extra_regs);
	place_counters();
	init_capabilities();
	return 0;
}
