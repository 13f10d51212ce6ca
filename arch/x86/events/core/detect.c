// SPDX-License-Identifier: GPL-2.0
/*
 * Are the counters that CPUID promises really there?
 *
 * Hypervisors that have no PMU may not fault but swallow writes and return zeroes; firmware may
 * have counters running for itself.  Called while the driver starts, for hybrid PMUs when their
 * first CPU comes up; nothing counts yet.
 */
#include <linux/bits.h>
#include <linux/printk.h>

#include "core.h"

/* What was found, and for a failure where. */
struct findings {
	u64	reg, value;
	u64	busy_reg, busy_value;	/* a counter that the firmware runs */
	int	free;			/* a general counter that nobody runs, or -1 */
};

static bool readable(struct findings *f, u64 reg)
{
	f->reg = reg;
	return !rdmsrl_safe(reg, &f->value);
}

static void note_busy(struct findings *f)
{
	f->busy_reg = f->reg;
	f->busy_value = f->value;
}

static bool look_at_general(struct findings *f, unsigned long *mask)
{
	int i;

	for_each_set_bit(i, mask, X86_PMC_IDX_MAX) {
		if (!readable(f, x86_pmu_config_addr(i)))
			return false;
		if (f->value & ARCH_PERFMON_EVENTSEL_ENABLE)
			note_busy(f);
		else
			f->free = i;
	}
	return true;
}

static bool look_at_fixed(struct findings *f, struct pmu *pmu, unsigned long *mask)
{
	int i;

	if (bitmap_empty(mask, X86_PMC_IDX_MAX))
		return true;
	if (!readable(f, MSR_ARCH_PERFMON_FIXED_CTR_CTRL))
		return false;
	for_each_set_bit(i, mask, X86_PMC_IDX_MAX) {
		if (!fixed_counter_disabled(i, pmu) && (f->value & (3ULL << (4 * i))))
			note_busy(f);
	}
	return true;
}

/* A counter must give back what was written to it. */
static bool can_count(struct findings *f)
{
	u64 written;

	if (f->free < 0) {
		f->reg = -1;
		return false;
	}
	if (!readable(f, x86_pmu_event_addr(f->free)))
		return false;
	written = f->value ^ 0xffff;
	return !wrmsrl_safe(f->reg, written) && readable(f, f->reg) && f->value == written;
}

/**
 * check_hw_exists - try the counters of this CPU, and say what is wrong with them
 * @pmu: one of hybrid PMUs, or the PMU
 * @cntr_mask: general counters
 * @fixed_cntr_mask: fixed counters
 *
 * Counters that the firmware runs are reported and used nevertheless, unless there is no other.
 */
bool check_hw_exists(struct pmu *pmu, unsigned long *cntr_mask, unsigned long *fixed_cntr_mask)
{
	struct findings f = { .free = -1 };

	if (look_at_general(&f, cntr_mask) && look_at_fixed(&f, pmu, fixed_cntr_mask) &&
	    can_count(&f)) {
		if (f.busy_reg) {
			pr_cont("Broken BIOS detected, complain to your hardware vendor.\n");
			pr_err(FW_BUG "the BIOS has corrupted hw-PMU resources (MSR %llx is %llx)\n",
			       f.busy_reg, f.busy_value);
		}
		return true;
	}

	if (boot_cpu_has(X86_FEATURE_HYPERVISOR)) {
		pr_cont("PMU not available due to virtualization, using software events only.\n");
	} else {
		pr_cont("Broken PMU hardware detected, using software events only.\n");
		pr_err("Failed to access perfctr msr (MSR %x is %llx)\n", (u32)f.reg, f.value);
	}
	return false;
}
