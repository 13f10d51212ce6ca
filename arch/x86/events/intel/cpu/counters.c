// SPDX-License-Identifier: GPL-2.0
/*
 * Cutting down to what there is: counters to those the driver has room for, constraints to the
 * counters, further registers to those that work.
 *
 * At boot; for hybrid PMUs when their first CPU comes up.  Nothing counts yet.
 */
#include <linux/bits.h>

#include "cpu.h"

static u64 clip(u64 mask, int most, const char *what)
{
	if (!WARN(fls64(mask) > most, "hw perf events %s%d > max(%d), clipping!", what,
		  fls64(mask), most))
		return mask;
	return mask & GENMASK_ULL(most - 1, 0);
}

/**
 * intel_pe_clip_counters - no more counters than the driver has room for
 * @general: mask
 * @fixed: mask
 * @ctrl: what global control has to be to let them all go
 */
void intel_pe_clip_counters(u64 *general, u64 *fixed, u64 *ctrl)
{
	*general = clip(*general, INTEL_PMC_MAX_GENERIC, "");
	*fixed = clip(*fixed, INTEL_PMC_MAX_FIXED, "fixed ");
	*ctrl = *general | *fixed << INTEL_PMC_IDX_FIXED;
}

/*
 * A fixed counter counts what general ones count, too, if its code is a real one.  Slots and
 * metrics are there together or not at all.
 */
static u64 counters_of(struct event_constraint *c, u64 general, u64 fixed, u64 ctrl)
{
	u64 mask = c->idxmsk64;

	if (mask & INTEL_PMC_MSK_TOPDOWN)
		return ctrl & INTEL_PMC_MSK_FIXED_SLOTS ? mask : 0;
	if (c->cmask == FIXED_EVENT_FLAGS) {
		mask &= ctrl;
		if (!use_fixed_pseudo_encoding(c->code))
			mask |= general;
	}
	return mask & (general | fixed << INTEL_PMC_IDX_FIXED);
}

/**
 * intel_pe_clip_constraints - only counters that exist
 * @c: table of constraints, or NULL
 * @general: mask of counters
 * @fixed: mask
 * @ctrl: mask of both
 */
void intel_pe_clip_constraints(struct event_constraint *c, u64 general, u64 fixed, u64 ctrl)
{
	for (; c && c->weight != -1; c++) {
		c->idxmsk64 = counters_of(c, general, fixed, ctrl);
		c->weight = hweight64(c->idxmsk64);
	}
}

static bool is_branch_source(u32 msr)
{
	return msr - x86_pmu.lbr_from < x86_pmu.lbr_nr;
}

/* What has to be written so that @value is read back: branch addresses may need another sign. */
static u64 as_written(u32 msr, u64 value)
{
	return is_branch_source(msr) ? lbr_from_signext_quirk_wr(value) : value;
}

/**
 * intel_pe_msr_works - does the register keep what is written to it?
 * @msr: register
 * @mask: bits that can be written
 *
 * Some hypervisors fault, some swallow it.  Real hardware is not asked, it may be in use.
 */
bool intel_pe_msr_works(u32 msr, u64 mask)
{
	u64 before, flipped, after;

	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR))
		return true;
	if (rdmsrl_safe(msr, &before))
		return false;
	flipped = as_written(msr, before ^ mask);
	if (wrmsrl_safe(msr, flipped) || rdmsrl_safe(msr, &after) || after != flipped)
		return false;
	wrmsrl(msr, as_written(msr, before));
	return true;
}

/**
 * intel_pe_probe_extra_regs - find out which of these can be used
 * @er: table of registers, or NULL
 */
void intel_pe_probe_extra_regs(struct extra_reg *er)
{
	for (; er && er->msr; er++) {
		er->extra_msr_access = intel_pe_msr_works(er->msr, 0x11);
		if (er->idx == EXTRA_REG_LBR && !er->extra_msr_access)
			x86_pmu.lbr_sel_map = NULL;
	}
}
