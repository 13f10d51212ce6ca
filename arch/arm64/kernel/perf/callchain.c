// SPDX-License-Identifier: GPL-2.0
/*
 * Where a sample was taken: its address, its processor mode, and the return addresses on the stack.
 *
 * The core of perf_events calls all of this with the registers of an interruption, or with those of
 * a system call's entry for the user part of a kernel sample.  Any context, pseudo-NMI included;
 * nothing sleeps, faults or takes a lock, but for perf_callchain_user_faultable().  The other walks
 * are the architecture's (stacktrace.c): frame records of AArch64 and, in 32-bit tasks, of AArch32;
 * return addresses come with their authentication codes stripped.
 *
 * When the interruption came from a KVM guest, the registers say only that the host's KVM code was
 * running.  The hypervisor tells address and mode instead, and there is no chain: the guest's stack
 * is in another address space.
 */
#include <linux/perf_event.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#include <asm/pointer_auth.h>

/* A full chain, which the store refuses, ends the walk. */
static bool arm_pe_store_address(void *chain, unsigned long address)
{
	return !perf_callchain_store(chain, address);
}

/**
 * perf_callchain_kernel() - the kernel part of a chain, innermost address first
 * @entry: the chain to fill
 * @regs: where the kernel was interrupted
 */
void perf_callchain_kernel(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs)
{
	if (!perf_guest_state())
		arch_stack_walk(arm_pe_store_address, entry, current, regs);
}

/**
 * perf_callchain_user() - the user part of a chain, innermost address first
 * @entry: the chain to fill
 * @regs: user registers of current
 */
void perf_callchain_user(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs)
{
	if (!perf_guest_state())
		arch_stack_walk_user(arm_pe_store_address, entry, regs);
}

/**
 * perf_callchain_user_faultable() - the same, with pages of the stack faulted in
 * @entry: the chain to fill
 * @regs: user registers of current
 *
 * Task context, may sleep.  Frame records of AArch64: two words, the caller's record and the return
 * address (AAPCS64, "The Frame Pointer").  In 32-bit tasks what is not there ends the chain.
 */
void perf_callchain_user_faultable(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs)
{
	struct {
		u64	caller;
		u64	lr;
	} record;
	u64 at, above = regs->sp;

	if (compat_user_mode(regs)) {
		perf_callchain_user(entry, regs);
		return;
	}
	perf_callchain_store(entry, regs->pc);
	/* No page is faulted in for what cannot be a record: those of callers are above. */
	for (at = regs->regs[29]; at >= above && IS_ALIGNED(at, 8); at = record.caller) {
		if (copy_from_user(&record, (void __user *)at, sizeof(record)) ||
		    perf_callchain_store(entry, ptrauth_strip_user_insn_pac(record.lr)))
			break;
		above = at + 1;
	}
}

/**
 * perf_instruction_pointer() - the address of a sample
 * @regs: where the CPU was interrupted
 *
 * Return: PERF_SAMPLE_IP, of the guest when one was interrupted
 */
unsigned long perf_instruction_pointer(struct pt_regs *regs)
{
	return perf_guest_state() ? perf_guest_get_ip() : instruction_pointer(regs);
}

/**
 * perf_misc_flags() - the processor mode of a sample
 * @regs: where the CPU was interrupted
 *
 * Each sample calls it, also those of function tracing.
 *
 * Return: PERF_RECORD_MISC_{USER,KERNEL,GUEST_USER,GUEST_KERNEL}
 */
unsigned long notrace perf_misc_flags(struct pt_regs *regs)
{
	unsigned int guest = perf_guest_state();

	if (guest & PERF_GUEST_USER)
		return PERF_RECORD_MISC_GUEST_USER;
	if (guest)
		return PERF_RECORD_MISC_GUEST_KERNEL;
	return user_mode(regs) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
}
