/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86_acr.h - for x86_acr.c: work in which branches are frequent and rare by turns.
 */
#ifndef PTEST_X86_ACR_H
#define PTEST_X86_ACR_H

#include "x86.h"

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
