// SPDX-License-Identifier: GPL-2.0
/*
 * Where was the CPU, and on whose behalf: instruction pointer and misc flags of a sample.
 *
 * Any context, preemption off.  For a guest KVM answers.
 */
#include <linux/cleanup.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>

#include <asm/desc.h>
#include <asm/mmu_context.h>
#include <asm/ptrace.h>
#include <asm/tlbflush.h>

#include "core.h"

#ifdef CONFIG_X86_32
#define FLAT_USER_CS	__USER_CS
#else
#define FLAT_USER_CS	__USER32_CS
#endif

static unsigned long ldt_base(unsigned int entry)
{
#ifdef CONFIG_MODIFY_LDT_SYSCALL
	struct ldt_struct *ldt;

	/*
	 * It is freed after an IPI to the CPUs where its mm is loaded.  That waits for us, as
	 * interrupts are off from here on (page faults of user space have them on), unless another
	 * mm is loaded already, or still: in a switch or exec.
	 */
	guard(irqsave)();
	if (!nmi_uaccess_okay())
		return 0;
	/* pairs with the release in install_ldt() */
	ldt = READ_ONCE(current->mm->context.ldt);
	if (ldt && entry < ldt->nr_entries)
		return get_desc_base(&ldt->entries[entry]);
#endif
	return 0;
}

/* Linear address of the start of a segment. */
unsigned long x86_pe_segment_base(unsigned int selector)
{
	unsigned int entry = selector >> 3;

	if ((selector & SEGMENT_TI_MASK) == SEGMENT_LDT)
		return ldt_base(entry);
	if (entry >= GDT_ENTRIES)
		return 0;
	return get_desc_base(raw_cpu_ptr(gdt_page.gdt) + entry);
}

/*
 * The code segment starts at 0 in the kernel and in 64-bit code, also that of x32.  In VM86 mode
 * the selector is the address in paragraphs.  The common 32-bit selector is not worth a look.
 */
static unsigned long code_base(struct pt_regs *regs)
{
	if (IS_ENABLED(CONFIG_X86_32) && (regs->flags & X86_VM_MASK))
		return regs->cs << 4;
	if (!user_mode(regs) || any_64bit_mode(regs))
		return 0;
	if (regs->cs == FLAT_USER_CS)
		return 0;
	return x86_pe_segment_base(regs->cs);
}

/** perf_instruction_pointer - linear address for the sample's IP */
unsigned long perf_instruction_pointer(struct pt_regs *regs)
{
	return perf_guest_state() ? perf_guest_get_ip() : regs->ip + code_base(regs);
}

/** perf_misc_flags - PERF_RECORD_MISC_* for a sample taken at @regs */
unsigned long perf_misc_flags(struct pt_regs *regs)
{
	unsigned long exact = regs->flags & PERF_EFLAGS_EXACT ? PERF_RECORD_MISC_EXACT_IP : 0;
	unsigned int guest = perf_guest_state();

	if (guest & PERF_GUEST_USER)
		return exact | PERF_RECORD_MISC_GUEST_USER;
	if (guest)
		return exact | PERF_RECORD_MISC_GUEST_KERNEL;
	return exact | (user_mode(regs) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL);
}
