// SPDX-License-Identifier: GPL-2.0
/*
 * Last branch records: how many a generation has, in which registers, and what it can select.
 *
 * The intel_pmu_lbr_init_*() and intel_pmu_arch_lbr_init() run once, when the driver starts and
 * knows the model; intel_pmu_lbr_init() after that, when the registers have been found to be
 * there.
 */
#include <linux/init.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include <asm/cpu_device_id.h>
#include <asm/fpu/xstate.h>
#include <asm/msr.h>

#include "lbr.h"

#define AT(type)	PERF_SAMPLE_BRANCH_##type##_SHIFT
#define UNSUPPORTED	(-1)

#define SELECT_MASK	GENMASK(9, 0)
#define CTL_MASK	(GENMASK(22, 16) | GENMASK(3, 1))

/* By bit of branch_sample_type: register bits.  0: the second filter has to do. */
static int select_map[PERF_SAMPLE_BRANCH_MAX_SHIFT] __ro_after_init;

/**
 * intel_pe_fill_map - from branch_sample_type to register bits
 * @map: filled in
 * @which: of which generation
 *
 * System calls and returns from them are far branches; those that are none the second filter
 * drops.  Nehalem (erratum) has no calls and returns without jumps, and neither it nor Sandy
 * Bridge a call stack.
 */
void intel_pe_fill_map(int *map, enum intel_pe_map which)
{
	const bool nhm = which == INTEL_PE_MAP_NHM;
	const struct intel_pe_select *b;
	u32 calls, jumps;

	b = which == INTEL_PE_MAP_ARCH ? &intel_pe_select_ctl : &intel_pe_select_msr;
	calls = b->rel_call | b->ind_call;
	jumps = b->rel_jmp | b->ind_jmp;

	memset(map, 0, PERF_SAMPLE_BRANCH_MAX_SHIFT * sizeof(*map));
	map[AT(USER)] = b->user;
	map[AT(KERNEL)] = b->kernel;
	map[AT(ANY)] = b->jcc | calls | jumps | b->ret | b->far;
	map[AT(ANY_CALL)] = calls | b->far | (nhm ? jumps : 0);
	map[AT(ANY_RETURN)] = b->ret | b->far | (nhm ? jumps : 0);
	map[AT(IND_CALL)] = b->ind_call | (nhm ? b->ind_jmp : 0);
	map[AT(COND)] = b->jcc;
	map[AT(IND_JUMP)] = b->ind_jmp;
	map[AT(CALL)] = nhm ? 0 : b->rel_call;
	if (which >= INTEL_PE_MAP_HSW)
		map[AT(CALL_STACK)] = calls | b->ret | b->call_stack;
}

static void __init have_ring(int nr, unsigned int from, unsigned int to)
{
	x86_pmu.lbr_nr = nr;
	x86_pmu.lbr_tos = MSR_LBR_TOS;
	x86_pmu.lbr_from = from;
	x86_pmu.lbr_to = to;
}

static void __init have_select(enum intel_pe_map which)
{
	intel_pe_fill_map(select_map, which);
	x86_pmu.lbr_sel_map = select_map;
	x86_pmu.lbr_sel_mask = SELECT_MASK;
}

/* Call stacks are kept with their tasks. */
static struct kmem_cache __init *task_cache(size_t size, size_t align)
{
	return kmem_cache_create("x86_lbr", size, align, 0, NULL);
}

static void __init have_stack(void)
{
	have_select(INTEL_PE_MAP_HSW);
	x86_get_pmu(smp_processor_id())->task_ctx_cache =
		task_cache(sizeof(struct x86_perf_task_context), 0);
}

void __init intel_pmu_lbr_init_core(void)
{
	have_ring(4, MSR_LBR_CORE_FROM, MSR_LBR_CORE_TO);
}

/* Before stepping 10 they do not freeze. */
void __init intel_pmu_lbr_init_atom(void)
{
	if (boot_cpu_data.x86_vfm == INTEL_ATOM_BONNELL && boot_cpu_data.x86_stepping < 10)
		pr_cont("LBR disabled due to erratum");
	else
		have_ring(8, MSR_LBR_CORE_FROM, MSR_LBR_CORE_TO);
}

void __init intel_pmu_lbr_init_slm(void)
{
	have_ring(8, MSR_LBR_CORE_FROM, MSR_LBR_CORE_TO);
	have_select(INTEL_PE_MAP_NHM);
}

void __init intel_pmu_lbr_init_nhm(void)
{
	have_ring(16, MSR_LBR_NHM_FROM, MSR_LBR_NHM_TO);
	have_select(INTEL_PE_MAP_NHM);
}

void __init intel_pmu_lbr_init_snb(void)
{
	have_ring(16, MSR_LBR_NHM_FROM, MSR_LBR_NHM_TO);
	have_select(INTEL_PE_MAP_SNB);
}

void __init intel_pmu_lbr_init_hsw(void)
{
	have_ring(16, MSR_LBR_NHM_FROM, MSR_LBR_NHM_TO);
	have_stack();
}

void __init intel_pmu_lbr_init_skl(void)
{
	have_ring(32, MSR_LBR_NHM_FROM, MSR_LBR_NHM_TO);
	x86_pmu.lbr_info = MSR_LBR_INFO_0;
	have_stack();
}

/* Knights Landing says LIP, and has the flag of mispredictions all the same. */
void __init intel_pmu_lbr_init_knl(void)
{
	have_ring(8, MSR_LBR_NHM_FROM, MSR_LBR_NHM_TO);
	have_select(INTEL_PE_MAP_SNB);
	if (x86_pmu.intel_cap.lbr_format == LBR_FORMAT_LIP)
		x86_pmu.intel_cap.lbr_format = LBR_FORMAT_EIP_FLAGS;
}

/**
 * intel_pmu_lbr_init - what else a record tells
 *
 * Of architectural records, which are not one of the formats, intel_pmu_arch_lbr_init() knows
 * that.
 */
void __init intel_pmu_lbr_init(void)
{
	unsigned int has = 0;

	switch (x86_pmu.intel_cap.lbr_format) {
	case LBR_FORMAT_EIP_FLAGS:
		has = INTEL_PE_BR_MISPRED;
		break;
	case LBR_FORMAT_EIP_FLAGS2:
		has = INTEL_PE_BR_MISPRED | INTEL_PE_BR_TSX;
		if (!boot_cpu_has(X86_FEATURE_HLE) && !boot_cpu_has(X86_FEATURE_RTM))
			has |= INTEL_PE_BR_QUIRK;
		break;
	case LBR_FORMAT_TIME:
		has = INTEL_PE_BR_MISPRED | INTEL_PE_BR_CYCLES;
		break;
	case LBR_FORMAT_INFO:
		has = INTEL_PE_BR_INFO | INTEL_PE_BR_MISPRED | INTEL_PE_BR_CYCLES | INTEL_PE_BR_TSX;
		break;
	case LBR_FORMAT_INFO2:
		has = INTEL_PE_BR_INFO | INTEL_PE_BR_MISPRED | INTEL_PE_BR_CYCLES;
		break;
	}
	intel_pe_branch_has |= has;

	x86_pmu.lbr_has_info = !!(has & INTEL_PE_BR_INFO);
	x86_pmu.lbr_has_tsx = !!(has & INTEL_PE_BR_TSX);
	x86_pmu.lbr_from_flags = has & INTEL_PE_BR_MISPRED && !x86_pmu.lbr_has_info;
	x86_pmu.lbr_to_cycles = has & INTEL_PE_BR_CYCLES && !x86_pmu.lbr_has_info;
}

/* ------------------------------------------------------------ architectural ones */

/* What CPUID leaf 28 says. */
static bool __init arch_capabilities(void)
{
	union cpuid28_eax eax;
	union cpuid28_ebx ebx;
	union cpuid28_ecx ecx;
	unsigned int edx;
	u64 depth;

	cpuid(28, &eax.full, &ebx.full, &ecx.full, &edx);
	depth = fls(eax.split.lbr_depth_mask) * 8;
	if (!depth || wrmsrl_safe(MSR_ARCH_LBR_DEPTH, depth))
		return false;

	x86_pmu.lbr_nr = depth;
	x86_pmu.lbr_depth_mask = eax.split.lbr_depth_mask;
	x86_pmu.lbr_deep_c_reset = eax.split.lbr_deep_c_reset;
	x86_pmu.lbr_lip = eax.split.lbr_lip;
	x86_pmu.lbr_cpl = ebx.split.lbr_cpl;
	x86_pmu.lbr_filter = ebx.split.lbr_filter;
	x86_pmu.lbr_call_stack = ebx.split.lbr_call_stack;
	x86_pmu.lbr_mispred = ecx.split.lbr_mispred;
	x86_pmu.lbr_timed_lbr = ecx.split.lbr_timed_lbr;
	x86_pmu.lbr_br_type = ecx.split.lbr_br_type;
	x86_pmu.lbr_counters = ecx.split.lbr_counters;
	return true;
}

static void __init arch_select(void)
{
	static const u8 by_kind[] __initconst = {
		AT(ANY), AT(ANY_CALL), AT(ANY_RETURN), AT(IND_CALL), AT(COND), AT(IND_JUMP),
		AT(CALL)
	};
	int i;

	if (!x86_pmu.lbr_cpl && !x86_pmu.lbr_filter)
		return;
	intel_pe_fill_map(select_map, INTEL_PE_MAP_ARCH);
	if (!x86_pmu.lbr_cpl || !x86_pmu.lbr_filter || !x86_pmu.lbr_call_stack)
		select_map[AT(CALL_STACK)] = UNSUPPORTED;
	if (!x86_pmu.lbr_cpl) {
		select_map[AT(USER)] = UNSUPPORTED;
		select_map[AT(KERNEL)] = UNSUPPORTED;
	}
	for (i = 0; i < ARRAY_SIZE(by_kind) && !x86_pmu.lbr_filter; i++)
		select_map[by_kind[i]] = UNSUPPORTED;
	x86_pmu.lbr_ctl_map = select_map;
}

/* Is the XSAVE component what we think it is? */
static bool __init arch_xsave(size_t state)
{
	if (!boot_cpu_has(X86_FEATURE_XSAVES) || !xfeature_size(XFEATURE_LBR))
		return false;
	return !WARN_ON(xfeature_size(XFEATURE_LBR) != state);
}

/* Memory for a task's call stack, and how it gets there. */
static void __init arch_tasks(struct pmu *pmu)
{
	const size_t entries = x86_pmu.lbr_nr * sizeof(struct lbr_entry);
	const size_t state = sizeof(struct arch_lbr_state) + entries;

	if (arch_xsave(state)) {
		pmu->task_ctx_cache =
			task_cache(sizeof(struct x86_perf_task_context_arch_lbr_xsave) + state,
				   XSAVE_ALIGNMENT);
	}
	if (pmu->task_ctx_cache) {
		x86_pmu.lbr_save = intel_pe_arch_xsave;
		x86_pmu.lbr_restore = intel_pe_arch_xrestore;
		x86_pmu.lbr_read = intel_pe_arch_read_xsave;
		pr_cont("XSAVE ");
		return;
	}
	pmu->task_ctx_cache =
		task_cache(sizeof(struct x86_perf_task_context_arch_lbr) + entries, 0);
	x86_pmu.lbr_save = intel_pe_arch_save;
	x86_pmu.lbr_restore = intel_pe_arch_restore;
	x86_pmu.lbr_read = intel_pe_arch_read;
}

/**
 * intel_pmu_arch_lbr_init - use architectural branch records, as many as there are
 */
void __init intel_pmu_arch_lbr_init(void)
{
	if (!arch_capabilities()) {
		setup_clear_cpu_cap(X86_FEATURE_ARCH_LBR);
		return;
	}

	intel_pe_branch_has = INTEL_PE_BR_INFO | INTEL_PE_BR_TSX | INTEL_PE_BR_VALID;
	if (x86_pmu.lbr_mispred)
		intel_pe_branch_has |= INTEL_PE_BR_MISPRED;
	if (x86_pmu.lbr_timed_lbr)
		intel_pe_branch_has |= INTEL_PE_BR_CYCLES;
	if (x86_pmu.lbr_br_type)
		intel_pe_branch_has |= INTEL_PE_BR_TYPE;
	if (x86_pmu.lbr_counters)
		x86_pmu.flags |= PMU_FL_BR_CNTR;

	x86_pmu.lbr_from = MSR_ARCH_LBR_FROM_0;
	x86_pmu.lbr_to = MSR_ARCH_LBR_TO_0;
	x86_pmu.lbr_info = MSR_ARCH_LBR_INFO_0;
	x86_pmu.lbr_ctl_mask = CTL_MASK;
	arch_select();

	x86_pmu.lbr_reset = intel_pe_arch_reset;
	arch_tasks(x86_get_pmu(smp_processor_id()));
	pr_cont("Architectural LBR, ");
}
