// SPDX-License-Identifier: GPL-2.0
/*
 * Call chains of the kernel, by its unwinder, and of user space, along frame pointers.
 *
 * NMI or any other context, preemption off.  User memory is read without faulting a page in: what
 * is not there ends the chain.  perf_callchain_user_faultable() is for a task that may sleep.  Of
 * a guest nothing is known.
 */
#include <linux/compat.h>
#include <linux/perf_event.h>
#include <linux/pgtable.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include <asm/ibt.h>
#include <asm/stacktrace.h>
#include <asm/tlbflush.h>
#include <asm/unwind.h>
#include <asm/uprobes.h>

#include "core.h"

/* Registers of an interrupt or trap have this bit; perf_arch_fetch_caller_regs() leaves it out. */
static bool complete_regs(struct pt_regs *regs)
{
	return regs->flags & X86_EFLAGS_FIXED;
}

/**
 * perf_callchain_kernel - append the kernel's return addresses
 * @entry: the chain
 * @regs: where to start; of perf_arch_fetch_caller_regs() only the stack pointer is good
 */
void perf_callchain_kernel(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs)
{
	struct unwind_state state;
	unsigned long addr;

	if (perf_guest_state())
		return;
	if (!complete_regs(regs)) {
		unwind_start(&state, current, NULL, (void *)regs->sp);
	} else {
		if (perf_callchain_store(entry, regs->ip))
			return;
		unwind_start(&state, current, regs, NULL);
	}
	while (!unwind_done(&state)) {
		addr = unwind_get_return_address(&state);
		if (!addr || perf_callchain_store(entry, addr))
			return;
		unwind_next_frame(&state);
	}
}

/*
 * A user stack: frames are two words, the caller's frame pointer and the return address.  The
 * segments of 32-bit code under a 64-bit kernel may start anywhere.
 */
struct user_stack {
	unsigned int	word;
	unsigned long	code, data;
};

static void describe_stack(struct user_stack *s, struct pt_regs *regs)
{
	*s = (struct user_stack){ .word = sizeof(long) };
#ifdef CONFIG_IA32_EMULATION
	if (!user_64bit_mode(regs)) {
		s->word = sizeof(u32);
		s->code = x86_pe_segment_base(regs->cs);
		s->data = x86_pe_segment_base(regs->ss);
	}
#endif
}

/* Linear address of @addr in the stack; 32-bit addresses wrap. */
static unsigned long in_stack(struct user_stack *s, unsigned long addr)
{
	return s->word < sizeof(long) ? (u32)(s->data + addr) : addr;
}

/* Read @n words at linear address @addr. */
static bool fetch(struct user_stack *s, unsigned long addr, unsigned long *word, int n)
{
	int i;

	if (!__access_ok((void __user *)addr, n * s->word))
		return false;
	for (i = 0; i < n; i++, addr += s->word) {
		u32 half;

		if (s->word == sizeof(long)) {
			if (__get_user(word[i], (unsigned long __user *)addr))
				return false;
		} else {
			if (__get_user(half, (u32 __user *)addr))
				return false;
			word[i] = half;
		}
	}
	return true;
}

/*
 * A uprobe at the very start of a function comes before the function has made its frame: the
 * caller's return address is on top of the stack and in no frame.  The start is known by what the
 * probe replaced, push of the frame pointer or endbr64.  A wrong guess costs one wrong entry.
 */
static bool at_function_entry(struct pt_regs *regs)
{
#ifdef CONFIG_UPROBES
	struct arch_uprobe *probe = current->utask ? current->utask->auprobe : NULL;

	if (!probe)
		return false;
	return probe->insn[0] == 0x55 ||
	       (user_64bit_mode(regs) && is_endbr(*(u32 *)probe->insn));
#else
	return false;
#endif
}

/*
 * Is there certainly no page at a user address?  Programs without frame pointers have anything in
 * that register, and a look at the page tables is much cheaper than the fault.  Interrupts are off,
 * so that nobody frees the tables; what is more difficult than an empty entry, the fault tells.
 */
static bool nothing_at(unsigned long addr)
{
#ifdef CONFIG_X86_64
	pgd_t *pgdp = pgd_offset(current->mm, addr), pgd = READ_ONCE(*pgdp);
	p4d_t *p4dp, p4d;
	pud_t *pudp, pud;
	pmd_t *pmdp, pmd;

	if (pgd_none(pgd))
		return true;
	p4dp = p4d_offset_lockless(pgdp, pgd, addr);
	p4d = READ_ONCE(*p4dp);
	if (p4d_none(p4d) || p4d_leaf(p4d))
		return p4d_none(p4d);
	pudp = pud_offset_lockless(p4dp, p4d, addr);
	pud = READ_ONCE(*pudp);
	if (!pud_present(pud) || pud_leaf(pud))
		return !pud_present(pud);
	pmdp = pmd_offset_lockless(pudp, pud, addr);
	pmd = READ_ONCE(*pmdp);
	if (!pmd_present(pmd) || pmd_leaf(pmd))
		return !pmd_present(pmd);
	return !pte_present(READ_ONCE(*pte_offset_kernel(&pmd, addr)));
#else
	return false;
#endif
}

/* Frames are close to each other: one look for each page. */
static bool may_be_there(unsigned long addr, unsigned long *page)
{
	if (addr < PAGE_SIZE || addr >= TASK_SIZE_MAX || !current->mm)
		return false;
	if (addr >> PAGE_SHIFT == *page)
		return true;
	*page = addr >> PAGE_SHIFT;
	guard(irqsave)();
	return !nothing_at(addr);
}

/*
 * The frame pointer of the outermost frame is 0.  No page is faulted in for what cannot be a frame:
 * those of callers are above.
 */
static void follow_frames(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs,
			  struct user_stack *s)
{
	unsigned long word[2], addr, page = 0, above = in_stack(s, regs->sp);

	if (at_function_entry(regs) && fetch(s, regs->sp, word, 1))
		perf_callchain_store(entry, word[0]);

	for (word[0] = regs->bp; entry->nr < entry->max_stack; ) {
		addr = in_stack(s, word[0]);
		if (pagefault_disabled() ? !may_be_there(addr, &page) :
		    addr < above || !IS_ALIGNED(addr, s->word))
			break;
		if (!fetch(s, addr, word, 2))
			break;
		above = addr + 1;
		perf_callchain_store(entry, s->code + word[1]);
	}
}

/**
 * perf_callchain_user - append the instruction pointer and the return addresses of user space
 * @entry: the chain
 * @regs: user registers of the current task
 *
 * VM86 stacks are beyond us.  In an NMI, a temporary address space may be loaded: then only the
 * instruction pointer is had.
 */
void perf_callchain_user(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs)
{
	struct user_stack s;

	if (perf_guest_state() || (regs->flags & (X86_VM_MASK | PERF_EFLAGS_VM)))
		return;
	perf_callchain_store(entry, regs->ip);
	if (!nmi_uaccess_okay())
		return;
	describe_stack(&s, regs);
	pagefault_disable();
	follow_frames(entry, regs, &s);
	pagefault_enable();
}

/**
 * perf_callchain_user_faultable - the same, with pages of the stack faulted in
 * @entry: the chain
 * @regs: user registers of the current task
 *
 * Task context, may sleep.
 */
void perf_callchain_user_faultable(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs)
{
	struct user_stack s;

	if (regs->flags & (X86_VM_MASK | PERF_EFLAGS_VM))
		return;
	perf_callchain_store(entry, regs->ip);
	/* Segments are those of this CPU and this address space. */
	scoped_guard(irq)
		describe_stack(&s, regs);
	follow_frames(entry, regs, &s);
}
