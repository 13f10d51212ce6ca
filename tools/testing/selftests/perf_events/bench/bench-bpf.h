/* SPDX-License-Identifier: GPL-2.0 */
/* BPF without a library: programs are arrays of instructions. */
#ifndef BENCH_BPF_H
#define BENCH_BPF_H

#include <linux/bpf.h>

#define INSN(c, d, s, o, i) ((struct bpf_insn) { .code = c, .dst_reg = d, .src_reg = s, \
						 .off = o, .imm = i })

int bpf(int cmd, union bpf_attr *attr);
int bpf_load(const struct bpf_insn *insns, unsigned int n);

#endif
