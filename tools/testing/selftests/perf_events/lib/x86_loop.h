/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86_loop.h - a loop that takes five branches in a turn, one of each near kind.
 */
#ifndef X86_LOOP_H
#define X86_LOOP_H

#ifdef __x86_64__

/* Two copies: two tasks can tell their branches apart. */
#define X86_LOOP(n)								\
	".globl loop" n ", loop" n "_end\n"				\
	"loop" n ":	mov %edi, %ecx\n"				\
	"loop" n "_call: call loop" n "_ret\n"				\
	"loop" n "_jmp:	jmp loop" n "_lea\n"				\
	"	nop\n"							\
	"loop" n "_lea:	lea loop" n "_dec(%rip), %rax\n"		\
	"loop" n "_ind:	jmp *%rax\n"					\
	"	nop\n"							\
	"loop" n "_dec:	dec %ecx\n"					\
	"loop" n "_jnz:	jnz loop" n "_call\n"				\
	"	ret\n"							\
	"loop" n "_ret:	ret\n"						\
	"loop" n "_end:\n"

asm(".pushsection .text\n" X86_LOOP("a") X86_LOOP("b") ".popsection\n");

void loopa(unsigned int turns);
void loopb(unsigned int turns);
extern const char loopa_call[], loopa_jmp[], loopa_lea[], loopa_ind[], loopa_dec[], loopa_jnz[],
	loopa_ret[], loopa_end[], loopb_end[];

#else

/* For programs that are skipped. */
static inline void loopa(unsigned int turns)
{
	(void)turns;
}

static const char loopa_call[1], loopa_jmp[1], loopa_lea[1], loopa_ind[1], loopa_dec[1],
	loopa_jnz[1], loopa_ret[1], loopa_end[1];

#endif /* __x86_64__ */

#endif /* X86_LOOP_H */
