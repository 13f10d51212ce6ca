// SPDX-License-Identifier: GPL-2.0
/*
 * x86_code.c - the code of x86_code.h, in assembly so that no compiler option changes it.
 */
#include "x86_code.h"

#ifdef __x86_64__
__asm__(".pushsection .text.pt_x86, \"ax\", @progbits\n"
	".balign 64\n"
	".globl lbr_run, lbr_turn, lbr_f_back, lbr_jnz, lbr_f, lbr_g_back, lbr_j, lbr_ijmp\n"
	".globl lbr_k, lbr_icall, lbr_h_back, lbr_g, lbr_g_ret, lbr_h, lbr_h_ret, lbr_ret\n"
	".globl lbr_end, lbr_measured, lbr_measured_call, lbr_measured_back\n"
	".type lbr_run, @function\n"
	"lbr_run:\n"
	"lbr_turn:	call lbr_f\n"
	"lbr_f_back:	dec %rdi\n"
	"lbr_jnz:	jnz lbr_turn\n"
	"lbr_ret:	ret\n"
	"lbr_f:		call lbr_g\n"
	"lbr_g_back:	jmp lbr_j\n"
	"		nop\n"
	"lbr_j:		lea lbr_k(%rip), %rax\n"
	"lbr_ijmp:	jmp *%rax\n"
	"		nop\n"
	"lbr_k:		lea lbr_h(%rip), %rax\n"
	"lbr_icall:	call *%rax\n"
	"lbr_h_back:	ret\n"
	"lbr_g:		nop\n"
	"lbr_g_ret:	ret\n"
	"lbr_h:		nop\n"
	"lbr_h_ret:	ret\n"
	"lbr_end:\n"
	".type lbr_measured, @function\n"
	"lbr_measured:	mov %rdi, %r8\n"
	"		mov %rsi, %r9\n"
	"		mov $16, %eax\n"
	"		mov $0x2400, %esi\n"
	"		xor %edx, %edx\n"
	"		syscall\n"
	"		mov %r9, %rdi\n"
	"lbr_measured_call: call lbr_run\n"
	"lbr_measured_back: mov $16, %eax\n"
	"		mov %r8, %rdi\n"
	"		mov $0x2401, %esi\n"
	"		xor %edx, %edx\n"
	"		syscall\n"
	"		ret\n"
	".globl lbr_outer, lbr_call_inner, lbr_call_deep\n"
	".type lbr_outer, @function\n"
	"lbr_outer:	sub $8, %rsp\n"
	"lbr_call_inner:	call lbr_inner\n"
	"		add $8, %rsp\n"
	"		ret\n"
	"lbr_inner:	sub $16, %rsp\n"
	"lbr_call_deep:	call *%rdi\n"
	"		add $16, %rsp\n"
	"		ret\n"
	".globl pebs_memory, pebs_load, pebs_store\n"
	".type pebs_memory, @function\n"
	"pebs_memory:\n"
	"1:		nop\n"
	"pebs_load:	mov (%rsi), %rax\n"
	"		nop\n"
	"pebs_store:	mov %rax, 8(%rsi)\n"
	"		dec %rdi\n"
	"		jnz 1b\n"
	"		ret\n"
	".globl pebs_xmm\n"
	".type pebs_xmm, @function\n"
	"pebs_xmm:	movq %rsi, %xmm7\n"
	"		jmp pt_spin\n"
	".popsection\n");
#else
const char lbr_turn[1], lbr_f_back[1], lbr_jnz[1], lbr_f[1], lbr_g_back[1], lbr_j[1], lbr_ijmp[1];
const char lbr_k[1], lbr_icall[1], lbr_h_back[1], lbr_g[1], lbr_g_ret[1], lbr_h[1], lbr_h_ret[1];
const char lbr_ret[1], lbr_end[1], lbr_measured_call[1], lbr_measured_back[1];
const char lbr_call_inner[1], lbr_call_deep[1];
const char pebs_load[1], pebs_store[1];

void lbr_run(u64 turns)
{
	(void)turns;
}

void lbr_measured(int fd, u64 turns)
{
	(void)fd;
	(void)turns;
}

void lbr_outer(void (*deep)(void))
{
	(void)deep;
}

void pebs_memory(u64 turns, u64 *at)
{
	(void)turns;
	(void)at;
}

void pebs_xmm(u64 turns, u64 value)
{
	(void)turns;
	(void)value;
}
#endif
