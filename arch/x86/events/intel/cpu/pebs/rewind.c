// SPDX-License-Identifier: GPL-2.0
/*
 * PEBS formats 0 and 1 have the address after the instruction that a sample is about, and
 * instructions can only be decoded forwards.  The newest branch record tells where the basic block
 * began; decoding from there finds the instruction that ends at the address.
 *
 * In the PMI's NMI.  The code is copied to a page of this CPU first: what an address in a record
 * points to may be anything.
 */
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <asm/insn.h>

#include "pebs.h"

/* A longer basic block than this is no basic block. */
#define BLOCK_MAX	PAGE_SIZE

static DEFINE_PER_CPU(u8 *, block_copy);

/**
 * intel_pe_alloc_rewind - the page, if this CPU's records need rewinding
 * @cpu: for which
 *
 * Return: 0 or -ENOMEM.
 */
int intel_pe_alloc_rewind(int cpu)
{
	u8 *page;

	if (x86_pmu.intel_cap.pebs_format >= 2)
		return 0;
	page = kzalloc_node(BLOCK_MAX, GFP_KERNEL, cpu_to_node(cpu));
	per_cpu(block_copy, cpu) = page;
	return page ? 0 : -ENOMEM;
}

/**
 * intel_pe_free_rewind - and away
 * @cpu: for which
 */
void intel_pe_free_rewind(int cpu)
{
	kfree(per_cpu(block_copy, cpu));
	per_cpu(block_copy, cpu) = NULL;
}

/**
 * intel_pe_last_insn - find the last of a row of instructions
 * @code: where they begin
 * @size: bytes that they take together
 * @is_64bit: how to decode them
 *
 * Return: the offset of the last one; -1 if no instruction ends where it should.
 */
int intel_pe_last_insn(const u8 *code, int size, bool is_64bit)
{
	struct insn insn;
	int at = 0;

	while (at < size) {
		insn_init(&insn, code + at, size - at, is_64bit);
		if (insn_get_length(&insn) || !insn.length)
			return -1;
		if (at + insn.length == size)
			return at;
		at += insn.length;
	}
	return -1;
}

/**
 * intel_pe_rewind - from the next instruction to the one that was sampled
 * @regs: ip is the record's; corrected if that is possible
 *
 * Return: is it the instruction's now?
 */
bool intel_pe_rewind(struct pt_regs *regs)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	unsigned long start = cpuc->lbr_entries[0].to;
	unsigned long ip = regs->ip;
	u8 *code = this_cpu_read(block_copy);
	bool is_64bit = false;
	size_t size;
	int last;

	/* These CPUs sample like a fault: before the instruction. */
	if (!x86_pmu.intel_cap.pebs_trap)
		return true;
	if (!cpuc->lbr_stack.nr || !cpuc->lbr_entries[0].from || !start)
		return false;
	if (kernel_ip(ip) != kernel_ip(start) || ip - start > BLOCK_MAX)
		return false;
	if (ip == start) {
		if (kernel_ip(ip) != kernel_ip(cpuc->lbr_entries[0].from))
			return false;
		set_linear_ip(regs, cpuc->lbr_entries[0].from);
		return true;
	}

	size = ip - start;
	if (kernel_ip(ip) ? copy_from_kernel_nofault(code, (void *)start, size)
			  : copy_from_user_nmi(code, (void __user *)start, size))
		return false;
#ifdef CONFIG_X86_64
	is_64bit = kernel_ip(ip) || any_64bit_mode(regs);
#endif
	last = intel_pe_last_insn(code, size, is_64bit);
	if (last < 0)
		return false;
	set_linear_ip(regs, start + last);
	return true;
}
