/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86_acr.h - for x86_acr*.c: events that reload one another, the registers that say so, and work
 * in which branches are frequent and rare by turns.
 */
#ifndef PTEST_X86_ACR_H
#define PTEST_X86_ACR_H

#include "x86.h"

/* Which counters reload one: eight general ones, then the fixed ones, STEP apart. */
#define CFG_B_GENERAL	0x1902
#define CFG_B_FIXED	0x1982
#define STEP		4
#define SILENT		1000000000ull
#define REGISTERS	8

static inline void need_acr(void)
{
	char text[64] = "";

	x86_need_exact();
	if (!pt_slurp(X86_PMU "format/acr_mask", text, sizeof(text)))
		pt_skip("counters do not reload one another");
	pt_need(!strcmp(text, "config2:0-63"), "acr_mask is %s", text);
	pt_first_on_cpu(0);
}

/* An event of a group; @mask: members that reload it, the leader is bit 0 */
static inline struct perf_event_attr member(struct perf_event_attr attr, u64 period, u64 mask)
{
	attr.sample_period = period;
	attr.config2 = mask;
	attr.sample_type = PERF_SAMPLE_IP;
	return attr;
}

static inline struct perf_event_attr instructions(u64 period, u64 mask)
{
	return member(x86_hw(PERF_COUNT_HW_INSTRUCTIONS), period, mask);
}

static inline struct perf_event_attr branches(u64 period, u64 mask)
{
	struct perf_event_attr attr = member(x86_conditional_branches(), period, mask);

	attr.disabled = 0;
	return attr;
}

/* What counter @n is reloaded by and with; fixed ones after the general ones. */
static inline u64 causes_of(int n)
{
	return x86_rdmsr(n < REGISTERS ? CFG_B_GENERAL + STEP * (u32)n :
			 CFG_B_FIXED + STEP * (u32)(n - REGISTERS));
}

/* ---- work ---- */

#define DENSE		100	/* turns of two instructions, one of them a branch */
#define SPARSE		300	/* instructions without branches */
#define TURN		(2 * DENSE + 1 + SPARSE + 2)

extern const char acr_dense[], acr_sparse[], acr_end[];
/* ENABLE of fd, the turns, DISABLE */
void acr_work(int fd, u64 turns);

#ifdef __x86_64__
asm(".pushsection .text\n"
	".balign 64\n"
	".globl acr_work, acr_dense, acr_sparse, acr_end\n"
	".type acr_work, @function\n"
	"acr_work:\n"
	"	mov %rdi, %r8\n"
	"	mov %rsi, %r9\n"
	"	mov $100, %r10\n"
	"	mov $16, %eax\n"
	"	mov $0x2400, %esi\n"
	"	xor %edx, %edx\n"
	"	syscall\n"
	"acr_dense:\n"
	"	dec %r10\n"
	"	jnz acr_dense\n"
	"	mov $100, %r10\n"
	"acr_sparse:\n"
	"	.rept 300\n"
	"	nop\n"
	"	.endr\n"
	"	dec %r9\n"
	"	jnz acr_dense\n"
	"acr_end:\n"
	"	mov $16, %eax\n"
	"	mov %r8, %rdi\n"
	"	mov $0x2401, %esi\n"
	"	syscall\n"
	"	ret\n"
	".size acr_work, . - acr_work\n"
	".popsection\n");
#else
const char acr_dense[1], acr_sparse[1], acr_end[1];

void acr_work(int fd, u64 turns)
{
	x86_measured_spin(fd, turns);
}
#endif

#endif /* PTEST_X86_ACR_H */
