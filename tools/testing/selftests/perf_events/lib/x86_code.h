/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86_code.h - work for the programs about branch records and precise samples: code whose
 * instructions are known one by one. On another machine the functions do nothing; nobody gets
 * there.
 */
#ifndef PTEST_X86_CODE_H
#define PTEST_X86_CODE_H

#include "ptest.h"

/*
 * A loop of nine branches in fourteen instructions per turn: lbr_turn calls f, which calls g, and
 * jumps, jumps indirectly, calls h indirectly and returns. *_back is where a call returns to.
 */
void lbr_run(u64 turns);
/* ENABLE of fd, lbr_run() called by lbr_measured_call, DISABLE; LBR_COST instructions between. */
void lbr_measured(int fd, u64 turns);
#define LBR_COST(turns)	(14 * (turns) + 8)
/* Calls its argument from lbr_call_deep, and that function was called from lbr_call_inner. */
void lbr_outer(void (*deep)(void));
extern const char lbr_turn[], lbr_f_back[], lbr_jnz[], lbr_f[], lbr_g_back[], lbr_j[], lbr_ijmp[];
extern const char lbr_k[], lbr_icall[], lbr_h_back[], lbr_g[], lbr_g_ret[], lbr_h[], lbr_h_ret[];
extern const char lbr_ret[], lbr_end[], lbr_measured_call[], lbr_measured_back[];
extern const char lbr_call_inner[], lbr_call_deep[];

/* Each turn loads at[0] by the instruction pebs_load and stores to at[1] by pebs_store. */
void pebs_memory(u64 turns, u64 *at);
extern const char pebs_load[], pebs_store[];
/* pt_spin() with a value in XMM7 */
void pebs_xmm(u64 turns, u64 value);

#endif /* PTEST_X86_CODE_H */
