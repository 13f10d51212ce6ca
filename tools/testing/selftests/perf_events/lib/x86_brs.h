/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86_brs.h - code for x86_brs.c, whose taken branches are known one by one.
 */
#ifndef X86_BRS_H
#define X86_BRS_H

__asm__(".pushsection .text.x86_brs, \"ax\", @progbits\n"
	".balign 64\n"
	".globl brs_loop, brs_call, brs_jmp, brs_lea, brs_ind, brs_dec, brs_jnz, brs_f\n"
	".globl brs_calls, brs_s_turn, brs_s_next, brs_s_third, brs_s_call, brs_s_jnz\n"
	"brs_loop:\n"
	"	mov %rdi, %r8\n"
	"	mov %rsi, %r9\n"
	"	mov $16, %eax\n"
	"	mov $0x2400, %esi\n"
	"	xor %edx, %edx\n"
	"	syscall\n"
	"brs_call: call brs_f\n"
	"brs_jmp: jmp brs_lea\n"
	"	nop\n"
	"brs_lea: lea brs_dec(%rip), %rax\n"
	"brs_ind: jmp *%rax\n"
	"	nop\n"
	"brs_dec: dec %r9\n"
	"brs_jnz: jnz brs_call\n"
	"	mov $16, %eax\n"
	"	mov %r8, %rdi\n"
	"	mov $0x2401, %esi\n"
	"	syscall\n"
	"	ret\n"
	"brs_f:	ret\n"

	"brs_calls:\n"
	"	mov %rdi, %r8\n"
	"	mov %rsi, %r9\n"
	"	mov %rdx, %r10\n"
	"	mov $16, %eax\n"
	"	mov $0x2400, %esi\n"
	"	xor %edx, %edx\n"
	"	syscall\n"
	"brs_s_turn: jmp brs_s_next\n"
	"	nop\n"
	"brs_s_next: jmp brs_s_third\n"
	"	nop\n"
	"brs_s_third:\n"
	"	mov %r10, %rax\n"
	"	xor %edi, %edi\n"
	"	xor %esi, %esi\n"
	"brs_s_call: syscall\n"
	"	dec %r9\n"
	"brs_s_jnz: jnz brs_s_turn\n"
	"	mov $16, %eax\n"
	"	mov %r8, %rdi\n"
	"	mov $0x2401, %esi\n"
	"	syscall\n"
	"	ret\n"
	".popsection\n");

/*
 * ENABLE of @fd, a loop, DISABLE. A turn takes five branches, but the last one's jump back is the
 * system call that disables, so that there are five for each turn in all.
 */
void brs_loop(int fd, u64 turns);
extern const char brs_call[], brs_jmp[], brs_lea[], brs_ind[], brs_dec[], brs_jnz[], brs_f[];

/* The same with turns of two jumps, a system call of that number, and a jump back. */
void brs_calls(int fd, u64 turns, long number);
extern const char brs_s_turn[], brs_s_next[], brs_s_third[], brs_s_call[], brs_s_jnz[];

#endif
