// SPDX-License-Identifier: GPL-2.0
/*
 * What this CPU can write to a debug store.
 *
 * intel_ds_init() runs once, when the driver starts, before the model is looked at: models may
 * correct it.
 */
#include <linux/init.h>
#include <linux/perf_event.h>

#include <asm/cpufeature.h>

#include "pebs.h"

/* The format of CPUs that have no debug store for PEBS. */
#define ARCHITECTURAL	0xf

DEFINE_STATIC_KEY_FALSE(intel_pe_records_count);

/* Words of a record of formats 0 to 3. */
static const u8 words[] __initconst = {
	INTEL_PE_STATUS, INTEL_PE_EVENTING_IP, INTEL_PE_TSC, INTEL_PE_WORDS
};

/* Samples that records of the basic group alone cannot make on their own. */
#define NEED_GROUPS	(PERF_SAMPLE_ADDR | PERF_SAMPLE_TIME | PERF_SAMPLE_DATA_SRC | \
			 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR)

static void __init init_words(int format)
{
	x86_pmu.intel_cap.pebs_baseline = 0;
	x86_pmu.pebs_record_size = words[format] * sizeof(u64);
	/* Core 2 hangs when it enables counters with a bigger one. */
	if (format == 0)
		x86_pmu.pebs_buffer_size = PAGE_SIZE;
	if (format == 3)
		x86_pmu.large_pebs_flags |= PERF_SAMPLE_TIME;
}

static void __init init_groups(int format)
{
	struct pmu *pmu = x86_get_pmu(smp_processor_id());

	x86_pmu.pebs_record_size = sizeof(struct pebs_basic);
	if (format > 4)
		x86_pmu.pebs_ept = 1;
	if (x86_pmu.intel_cap.pebs_baseline) {
		x86_pmu.large_pebs_flags |= PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_TIME;
		if (format > 5) {
			x86_pmu.large_pebs_flags |= PERF_SAMPLE_READ;
			static_branch_enable(&intel_pe_records_count);
		}
		x86_pmu.flags |= PMU_FL_PEBS_ALL;
		x86_pmu.pebs_capable = ~0ULL;
		pmu->capabilities |= PERF_PMU_CAP_EXTENDED_REGS;
	} else {
		x86_pmu.large_pebs_flags &= ~NEED_GROUPS;
	}
	/* Of a hybrid machine intel_cap has what all its CPUs have, so never this. */
	if (x86_pmu.intel_cap.pebs_output_pt_available) {
		pmu->capabilities |= PERF_PMU_CAP_AUX_OUTPUT;
		pr_cont("PEBS-via-PT, ");
	}
}

/**
 * intel_ds_init - detect PEBS and branch traces
 *
 * Only those with fields of 64 bits are used.
 */
void __init intel_ds_init(void)
{
	const int format = x86_pmu.intel_cap.pebs_format;
	const char kind = x86_pmu.intel_cap.pebs_trap ? '+' : '-';

	if (format == ARCHITECTURAL)
		intel_pe_arch_init();
	if (!boot_cpu_has(X86_FEATURE_DTES64))
		return;

	x86_pmu.bts = boot_cpu_has(X86_FEATURE_BTS);
	x86_pmu.pebs_no_isolation |= x86_pmu.version <= 4;
	x86_pmu.pebs_buffer_size = PEBS_BUFFER_SIZE;
	x86_pmu.pebs = boot_cpu_has(X86_FEATURE_PEBS) && format != ARCHITECTURAL;
	if (!x86_pmu.pebs)
		return;

	if (format > 6) {
		pr_cont("no PEBS fmt%d%c, ", format, kind);
		x86_pmu.pebs = 0;
		return;
	}
	x86_pmu.drain_pebs = intel_pe_drain_pebs;
	if (format < 4)
		init_words(format);
	else
		init_groups(format);
	pr_cont("PEBS fmt%d%c%s, ", format, kind,
		x86_pmu.intel_cap.pebs_baseline ? "-baseline" : "");
}
