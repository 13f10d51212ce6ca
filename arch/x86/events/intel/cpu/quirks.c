// SPDX-License-Identifier: GPL-2.0
/*
 * Errata: what has to be looked for at boot, and the workaround for Nehalem's counters.
 *
 * The quirks of a model run in boot order after its description was applied, that of the
 * architected events for all models last.  Microcode can be updated later: x86_pmu.check_microcode
 * is called then, under the lock of the microcode loader.
 */
#include <linux/cpu.h>

#include <asm/cpu_device_id.h>
#include <asm/intel-family.h>

#include "cpu.h"
#include "pebs/pebs.h"

/*
 * AJ67, AJ68, AJ69, AJ106: PEBS of the first Core 2 loses the privilege level, is one event late,
 * does not say that its buffer is full, and disturbs branch records.
 */
void __init intel_pe_quirk_clovertown(void)
{
	pr_warn("PEBS disabled due to CPU errata\n");
	x86_pmu.pebs = 0;
	x86_pmu.pebs_constraints = NULL;
}

/* Stepping of a model and the microcode that mends it. */
struct fixed_by {
	u32	vfm, stepping, microcode;
};

/* Is the microcode as new as it must be?  Steppings that are not listed are not mended. */
static bool is_mended(const struct fixed_by *row, int n)
{
	for (; n--; row++) {
		if (row->vfm == boot_cpu_data.x86_vfm &&
		    row->stepping == boot_cpu_data.x86_stepping)
			return boot_cpu_data.microcode >= row->microcode;
	}
	return false;
}

/* From when on PEBS stops at the border of a guest. */
static const struct fixed_by isolation[] = {
	{ INTEL_HASWELL,	3,  0x1f },
	{ INTEL_HASWELL_L,	1,  0x1e },
	{ INTEL_HASWELL_G,	1,  0x15 },
	{ INTEL_HASWELL_X,	2,  0x37 },
	{ INTEL_HASWELL_X,	4,  0x0a },
	{ INTEL_BROADWELL,	4,  0x23 },
	{ INTEL_BROADWELL_G,	1,  0x14 },
	{ INTEL_BROADWELL_D,	2,  0x10 },
	{ INTEL_BROADWELL_D,	3,  0x7000009 },
	{ INTEL_BROADWELL_D,	4,  0xf000009 },
	{ INTEL_BROADWELL_D,	5,  0xe000002 },
	{ INTEL_BROADWELL_X,	1,  0xb000014 },
	{ INTEL_SKYLAKE_X,	3,  0x21 },
	{ INTEL_SKYLAKE_X,	4,  0 },
	{ INTEL_SKYLAKE_X,	5,  0 },
	{ INTEL_SKYLAKE_X,	6,  0 },
	{ INTEL_SKYLAKE_X,	7,  0 },
	{ INTEL_SKYLAKE_X,	11, 0 },
	{ INTEL_SKYLAKE_L,	3,  0x7c },
	{ INTEL_SKYLAKE,	3,  0x7c },
	{ INTEL_KABYLAKE,	9,  0x4e },
	{ INTEL_KABYLAKE,	10, 0x4e },
	{ INTEL_KABYLAKE,	11, 0x4e },
	{ INTEL_KABYLAKE,	12, 0x4e },
	{ INTEL_KABYLAKE,	13, 0x4e },
	{ INTEL_KABYLAKE_L,	9,  0x4e },
	{ INTEL_KABYLAKE_L,	10, 0x4e },
	{ INTEL_KABYLAKE_L,	11, 0x4e },
	{ INTEL_KABYLAKE_L,	12, 0x4e },
};

static void intel_pe_check_isolation(void)
{
	x86_pmu.pebs_no_isolation = !is_mended(isolation, ARRAY_SIZE(isolation));
}

void __init intel_pe_quirk_pebs_isolation(void)
{
	x86_pmu.check_microcode = intel_pe_check_isolation;
	intel_pe_check_isolation();
}

static const struct fixed_by snb_pebs[] = {
	{ INTEL_SANDYBRIDGE,	7, 0x28 },
	{ INTEL_SANDYBRIDGE_X,	6, 0x618 },
	{ INTEL_SANDYBRIDGE_X,	7, 0x70c },
};

static void intel_pe_check_snb_pebs(void)
{
	bool broken = !is_mended(snb_pebs, ARRAY_SIZE(snb_pebs));

	if (x86_pmu.pebs_broken == broken)
		return;
	x86_pmu.pebs_broken = broken;
	if (broken)
		pr_info("PEBS disabled due to CPU errata, please upgrade microcode\n");
	else
		pr_info("PEBS enabled due to microcode update\n");
}

void __init intel_pe_quirk_snb_pebs(void)
{
	x86_pmu.check_microcode = intel_pe_check_snb_pebs;
	guard(cpus_read_lock)();
	intel_pe_check_snb_pebs();
}

/* Assume the worst until it is known whether there is hyper-threading; see excl_cntrs.c. */
void __init intel_pe_quirk_ht(void)
{
	x86_pmu.flags |= PMU_FL_EXCL_CNTRS | PMU_FL_EXCL_ENABLED;
	x86_pmu.start_scheduling = intel_pe_start_scheduling;
	x86_pmu.commit_scheduling = intel_pe_commit_scheduling;
	x86_pmu.stop_scheduling = intel_pe_stop_scheduling;
}

/* The architected events, by their bit in CPUID, which is set if one is not there. */
struct arch_event {
	int		id;
	const char	*name;
};

static const struct arch_event arch_event[] __initconst = {
	{ PERF_COUNT_HW_CPU_CYCLES,		"cpu cycles" },
	{ PERF_COUNT_HW_INSTRUCTIONS,		"instructions" },
	{ PERF_COUNT_HW_BUS_CYCLES,		"bus cycles" },
	{ PERF_COUNT_HW_CACHE_REFERENCES,	"cache references" },
	{ PERF_COUNT_HW_CACHE_MISSES,		"cache misses" },
	{ PERF_COUNT_HW_BRANCH_INSTRUCTIONS,	"branch instructions" },
	{ PERF_COUNT_HW_BRANCH_MISSES,		"branch misses" },
};

void __init intel_pe_quirk_arch_events(void)
{
	int bit;

	for_each_set_bit(bit, x86_pmu.events_mask, ARRAY_SIZE(arch_event)) {
		intel_pe_event_codes[arch_event[bit].id] = 0;
		pr_warn("CPUID marked event: '%s' unavailable\n", arch_event[bit].name);
	}
}

/*
 * AAJ80: mispredicted branches that retire are counted wrongly, and CPUID says that the event is
 * not there.  Those that were executed are somewhat more, but a good guess.
 */
void __init intel_pe_quirk_nehalem(void)
{
	if (!(x86_pmu.events_maskl & BIT(ARCH_PERFMON_BRANCH_MISSES_RETIRED)))
		return;
	x86_pmu.events_maskl &= ~BIT(ARCH_PERFMON_BRANCH_MISSES_RETIRED);
	intel_pe_event_codes[PERF_COUNT_HW_BRANCH_MISSES] = 0x7f89;
	pr_info("CPU erratum AAJ80 worked around\n");
}

#define NHM_COUNTERS	4

static void make_ready(void)
{
	static const u16 code[NHM_COUNTERS] = { 0xb5, 0xd2, 0xb1, 0xb1 };
	const u64 on = ARCH_PERFMON_EVENTSEL_ENABLE | ARCH_PERFMON_EVENTSEL_OS |
		       ARCH_PERFMON_EVENTSEL_USR;
	int i;

	for (i = 0; i < NHM_COUNTERS; i++) {
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + i, on | code[i]);
		wrmsrl(MSR_ARCH_PERFMON_PERFCTR0 + i, 0);
	}
	wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, GENMASK_ULL(NHM_COUNTERS - 1, 0));
	wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, 0);
}

/*
 * x86_pmu.enable_all of Nehalem and Westmere.  AAK100, AAP53, BD53: after an event was added the
 * counters may not count until each has been programmed with a certain event, which counts nothing
 * or little.  PEBS and the global control are off already, unless a PMI was late.  What the
 * counters have counted is accounted before, and loaded again after, those of throttled events too.
 * Records are taken first: their counters have been loaded since they were looked at.
 */
void intel_pe_nhm_enable_all(int added)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct perf_event *event;
	int i;

	if (added && cpuc->n_pebs && intel_pe_records_wait(cpuc)) {
		/* A drain is for a PMU that is off, and that a PMI leaves off. */
		cpuc->enabled = 0;
		barrier();
		intel_pe_stop_all();
		intel_pmu_drain_pebs_buffer();
		cpuc->enabled = 1;
	}
	for (i = 0; added && i < cpuc->n_events; i++) {
		if (cpuc->assign[i] < NHM_COUNTERS)
			static_call(x86_pmu_update)(cpuc->event_list[i]);
	}
	if (added)
		make_ready();
	for (i = 0; added && i < cpuc->n_events; i++) {
		if (cpuc->assign[i] < NHM_COUNTERS)
			static_call(x86_pmu_set_period)(cpuc->event_list[i]);
	}
	for (i = 0; added && i < NHM_COUNTERS; i++) {
		event = READ_ONCE(cpuc->events[i]);
		if (event)
			__x86_pmu_enable_event(&event->hw, ARCH_PERFMON_EVENTSEL_ENABLE);
		/* None, or a PMI that was late has just stopped it. */
		if (!event || unlikely(READ_ONCE(cpuc->events[i]) != event))
			wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + i, 0);
	}
	intel_pe_enable_all(added);
}
