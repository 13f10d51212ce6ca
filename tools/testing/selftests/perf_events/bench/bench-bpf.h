/* SPDX-License-Identifier: GPL-2.0 */
/* BPF without a library: programs are arrays of instructions. */
#ifndef BENCH_BPF_H
#define BENCH_BPF_H

#include <linux/bpf.h>

#define INSN(c, d, s, o, i) ((struct bpf_insn) { .code = c, .dst_reg = d, .src_reg = s, \
						 .off = o, .imm = i })

/* Of struct bpf_perf_event_data. */
#if defined(__x86_64__)
#define IP_AT		128
#define PERIOD_AT	168
#else
#define IP_AT		256
#define PERIOD_AT	272
#endif

#define CALL(helper)	INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define COPY(to, from)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define SET(to, value)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value)
#define ADD(to, value)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, value)
#define LOAD(to, from, at)	INSN(BPF_LDX | BPF_MEM | BPF_DW, to, from, at, 0)
#define STORE(to, at, from)	INSN(BPF_STX | BPF_MEM | BPF_DW, to, from, at, 0)
#define MAP(to, map)	INSN(BPF_LD | BPF_DW | BPF_IMM, to, BPF_PSEUDO_MAP_FD, 0, map), \
			INSN(0, 0, 0, 0, 0)

int bpf(int cmd, union bpf_attr *attr);
int bpf_load(const struct bpf_insn *insns, unsigned int n);

#endif
