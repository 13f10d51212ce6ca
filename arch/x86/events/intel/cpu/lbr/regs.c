// SPDX-License-Identifier: GPL-2.0
/*
 * Last branch records: the registers themselves, and what is in them.  Empty them, and save and
 * restore a call stack that belongs to a task.
 *
 * Before architectural ones they are a ring, and TOS says which slot is the newest.  Architectural
 * ones move: the newest is always the first; and they may be an XSAVE component.
 *
 * Called with interrupts off on the CPU whose records they are, the PMU being off or the records
 * frozen.
 */
#include <linux/perf_event.h>

#include <asm/fpu/xstate.h>
#include <asm/msr.h>

#include "lbr.h"

/* What a record tells, INTEL_PE_BR_*: models.c finds out. */
unsigned int intel_pe_branch_has __ro_after_init;

/* What MSR_LBR_SELECT keeps out, but for the last, and what MSR_ARCH_LBR_CTL lets in. */
const struct intel_pe_select intel_pe_select_msr = {
	.kernel = BIT(0), .user = BIT(1), .jcc = BIT(2), .rel_call = BIT(3), .ind_call = BIT(4),
	.ret = BIT(5), .ind_jmp = BIT(6), .rel_jmp = BIT(7), .far = BIT(8), .call_stack = BIT(9),
};

const struct intel_pe_select intel_pe_select_ctl = {
	.kernel = BIT(1), .user = BIT(2), .call_stack = BIT(3), .jcc = BIT(16), .rel_jmp = BIT(17),
	.ind_jmp = BIT(18), .rel_call = BIT(19), .ind_call = BIT(20), .ret = BIT(21),
	.far = BIT(22),
};

/* Flags in the from address, in some formats. */
#define FROM_TSX	(BIT_ULL(62) | BIT_ULL(61))
#define FROM_SIGN	(BIT_ULL(60) | BIT_ULL(59))

/**
 * lbr_from_signext_quirk_wr - the value of a from register, as it must be written
 * @val: as it was read
 *
 * Haswell without TSX takes the two flags of transactions for address bits when they are written,
 * and leaves them 0 when it records a branch.  The bits below are copies of the sign for sure.
 * Return: the value.
 */
u64 lbr_from_signext_quirk_wr(u64 val)
{
	if (intel_pe_branch_has & INTEL_PE_BR_QUIRK)
		val |= (val & FROM_SIGN) << 2;
	return val;
}

/**
 * intel_pe_branch_from - one from register
 * @slot: which
 *
 * Return: its value, with no flags of transactions where there are none.
 */
u64 intel_pe_branch_from(unsigned int slot)
{
	u64 val;

	rdmsrl(x86_pmu.lbr_from + slot, val);
	if (intel_pe_branch_has & INTEL_PE_BR_QUIRK)
		val &= ~FROM_TSX;
	return val;
}

/**
 * intel_pe_tos - which slot has the newest branch?
 *
 * Return: its number.
 */
u64 intel_pe_tos(void)
{
	u64 tos;

	rdmsrl(x86_pmu.lbr_tos, tos);
	return tos;
}

static void write_slot(unsigned int slot, const struct lbr_entry *e)
{
	wrmsrl(x86_pmu.lbr_from + slot, lbr_from_signext_quirk_wr(e->from));
	wrmsrl(x86_pmu.lbr_to + slot, e->to);
	if (intel_pe_branch_has & INTEL_PE_BR_INFO)
		wrmsrl(x86_pmu.lbr_info + slot, e->info);
}

/* Is there a branch? */
static bool read_slot(unsigned int slot, struct lbr_entry *e)
{
	u64 from = intel_pe_branch_from(slot);

	if (!from)
		return false;
	e->from = from;
	rdmsrl(x86_pmu.lbr_to + slot, e->to);
	if (intel_pe_branch_has & INTEL_PE_BR_INFO)
		rdmsrl(x86_pmu.lbr_info + slot, e->info);
	return true;
}

/* ------------------------------------------------------------ rings */

/**
 * intel_pmu_lbr_reset_32 - empty them, from and to being halves of one register
 */
void intel_pmu_lbr_reset_32(void)
{
	unsigned int slot;

	for (slot = 0; slot < x86_pmu.lbr_nr; slot++)
		wrmsrl(x86_pmu.lbr_from + slot, 0);
}

/**
 * intel_pmu_lbr_reset_64 - empty them
 */
void intel_pmu_lbr_reset_64(void)
{
	static const struct lbr_entry none;
	unsigned int slot;

	for (slot = 0; slot < x86_pmu.lbr_nr; slot++)
		write_slot(slot, &none);
}

/**
 * intel_pmu_lbr_save - keep the call stack of a task that goes
 * @ctx: struct x86_perf_task_context, its own
 */
void intel_pmu_lbr_save(void *ctx)
{
	struct x86_perf_task_context *t = ctx;
	u64 tos = intel_pe_tos();
	int n = 0;

	while (n < x86_pmu.lbr_nr && read_slot(intel_pe_slot(tos, n), &t->lbr[n]))
		n++;
	t->valid_lbrs = n;
	t->tos = tos;
	if (__this_cpu_read(cpu_hw_events.lbr_select))
		rdmsrl(MSR_LBR_SELECT, t->lbr_sel);
}

/**
 * intel_pmu_lbr_restore - the task comes again
 * @ctx: as it was saved
 */
void intel_pmu_lbr_restore(void *ctx)
{
	static const struct lbr_entry none;
	struct x86_perf_task_context *t = ctx;
	int n;

	for (n = 0; n < x86_pmu.lbr_nr; n++)
		write_slot(intel_pe_slot(t->tos, n), n < t->valid_lbrs ? &t->lbr[n] : &none);
	wrmsrl(x86_pmu.lbr_tos, t->tos);
	if (__this_cpu_read(cpu_hw_events.lbr_select))
		wrmsrl(MSR_LBR_SELECT, t->lbr_sel);
}

/* ------------------------------------------------------------ architectural ones */

/**
 * intel_pe_arch_reset - empty them; setting the depth does
 */
void intel_pe_arch_reset(void)
{
	wrmsrl(MSR_ARCH_LBR_DEPTH, x86_pmu.lbr_nr);
}

/**
 * intel_pe_arch_save - keep the call stack of a task that goes
 * @ctx: struct x86_perf_task_context_arch_lbr, its own
 *
 * The last entry tells whether all were full.
 */
void intel_pe_arch_save(void *ctx)
{
	struct x86_perf_task_context_arch_lbr *t = ctx;
	unsigned int n = 0;

	while (n < x86_pmu.lbr_nr && read_slot(n, &t->entries[n]))
		n++;
	if (n < x86_pmu.lbr_nr) {
		t->entries[n].from = 0;
		t->entries[x86_pmu.lbr_nr - 1].from = 0;
	}
}

/**
 * intel_pe_arch_restore - the task comes again
 * @ctx: as it was saved
 */
void intel_pe_arch_restore(void *ctx)
{
	struct x86_perf_task_context_arch_lbr *t = ctx;
	unsigned int n;

	if (!t->entries[x86_pmu.lbr_nr - 1].from)
		intel_pe_arch_reset();
	for (n = 0; n < x86_pmu.lbr_nr && t->entries[n].from; n++)
		write_slot(n, &t->entries[n]);
}

/**
 * intel_pe_arch_xsave - intel_pe_arch_save() in one instruction
 * @ctx: struct x86_perf_task_context_arch_lbr_xsave
 */
void intel_pe_arch_xsave(void *ctx)
{
	struct x86_perf_task_context_arch_lbr_xsave *t = ctx;

	xsaves(&t->xsave, XFEATURE_MASK_LBR);
}

/**
 * intel_pe_arch_xrestore - intel_pe_arch_restore() in one instruction
 * @ctx: as it was saved
 */
void intel_pe_arch_xrestore(void *ctx)
{
	struct x86_perf_task_context_arch_lbr_xsave *t = ctx;

	xrstors(&t->xsave, XFEATURE_MASK_LBR);
}
