/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Guards against recursion: one byte per context level (task, softirq, hardirq, NMI).
 * callchain.c includes this file under this name.
 */
#ifndef _KERNEL_EVENTS_INTERNAL_H
#define _KERNEL_EVENTS_INTERNAL_H

#include <linux/hardirq.h>
#include <linux/preempt.h>
#include <linux/uaccess.h>

/**
 * get_recursion_context() - enter a section that must not nest in its own context level
 * @busy: PERF_NR_CONTEXTS bytes, of this CPU or of current
 *
 * Any context, preemption off.  Return: the level to give back, or -1 when it is taken.
 */
static inline int get_recursion_context(u8 *busy)
{
	int level = interrupt_context_level();

	if (busy[level])
		return -1;
	busy[level] = 1;
	barrier();	/* an interrupt of the same level sees the mark */
	return level;
}

static inline void put_recursion_context(u8 *busy, unsigned char level)
{
	barrier();	/* the section is over before its mark */
	busy[level] = 0;
}

#ifdef CONFIG_HAVE_PERF_USER_STACK_DUMP
#define pe_have_user_stack_dump()	true
#define pe_user_stack_pointer(regs)	user_stack_pointer(regs)
#else
#define pe_have_user_stack_dump()	false
#define pe_user_stack_pointer(regs)	0UL
#endif

#endif /* _KERNEL_EVENTS_INTERNAL_H */
