/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bpf.h - BPF programs and maps without a compiler and without a library.
 *
 * A program is written down instruction by instruction: pt_b_*() append to a
 * struct pt_code, pt_load() gives it to the kernel. The context stays in r6
 * from pt_b_begin() on; the pieces use r0 to r5 and r7.
 *
 * Programs report through a page of words that the case sees too: slot i is
 * m->word[i], for the program and for the case.
 */
#ifndef PT_BPF_H
#define PT_BPF_H

#include "ptest.h"
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#define PT_CODE_MAX	512

struct pt_code {
	struct bpf_insn insn[PT_CODE_MAX];
	unsigned int nr;
};

/* A page of words shared with programs. */
struct pt_words {
	int fd;
	volatile u64 *word;
};

/* bpf(2): the result or -errno */
long pt_bpf(int cmd, union bpf_attr *attr);
/* A map; the case fails unless it worked. */
int pt_bpf_map(u32 type, u32 key_size, u32 value_size, u32 entries, u32 flags);
/* Element of a map with keys of four bytes: 0 or -errno */
long pt_bpf_put(int map, u32 key, const void *value);
long pt_bpf_get(int map, u32 key, void *value);
long pt_bpf_del(int map, u32 key);
/* Ends the case as skipped when the kernel has no BPF. */
void pt_words_make(struct pt_words *w);

/* A file descriptor or -errno; the second one ends the case when it fails. */
int pt_try_load(u32 type, const struct pt_code *c, u32 flags);
int pt_load(u32 type, const struct pt_code *c);
u32 pt_prog_id(int prog);
/* BPF_LINK_CREATE on an event: a file descriptor or -errno */
int pt_link(int prog, int event, u64 cookie);
/* Run a raw tracepoint program here, once. */
void pt_run_prog(int prog);

/*
 * A child that works when it is told to. It has an event of its own by then,
 * so that it has nothing in common with its parent; nor are the events of the
 * two exchanged at a switch, as Linux 6.12 does.
 */
struct pt_heir {
	pid_t pid;
	int go[2];
};

void pt_heir_start(struct pt_heir *h, void (*work)(unsigned int n), unsigned int n);
/* Let it work and end. */
void pt_heir_end(struct pt_heir *h);

void pt_b(struct pt_code *c, u8 code, u8 dst, u8 src, int16_t off, int32_t imm);
/* Two instructions: a map, or the address of words of a pt_words */
void pt_b_map(struct pt_code *c, u8 reg, int map);
void pt_b_word(struct pt_code *c, u8 reg, const struct pt_words *w, unsigned int slot);

#define pt_b_mov(c, dst, src)	pt_b((c), BPF_ALU64 | BPF_MOV | BPF_X, (dst), (src), 0, 0)
#define pt_b_set(c, dst, imm)	pt_b((c), BPF_ALU64 | BPF_MOV | BPF_K, (dst), 0, 0, (imm))
/* 32 bits, no sign: flags such as BPF_F_CURRENT_CPU */
#define pt_b_set32(c, dst, imm)	pt_b((c), BPF_ALU | BPF_MOV | BPF_K, (dst), 0, 0, (int32_t)(imm))
#define pt_b_add(c, dst, imm)	pt_b((c), BPF_ALU64 | BPF_ADD | BPF_K, (dst), 0, 0, (imm))
#define pt_b_load(c, dst, src, off) \
	pt_b((c), BPF_LDX | BPF_MEM | BPF_DW, (dst), (src), (off), 0)
#define pt_b_store(c, dst, off, src) \
	pt_b((c), BPF_STX | BPF_MEM | BPF_DW, (dst), (src), (off), 0)
#define pt_b_call(c, func)	pt_b((c), BPF_JMP | BPF_CALL, 0, 0, 0, (func))
#define pt_b_exit(c)		pt_b((c), BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* r6 = context */
void pt_b_begin(struct pt_code *c);
/* word[slot] += 1, atomically; r7 = its value after that */
void pt_b_count(struct pt_code *c, const struct pt_words *w, unsigned int slot);
/* word[slot] = reg, which is not r1 */
void pt_b_put(struct pt_code *c, const struct pt_words *w, unsigned int slot, u8 reg);
/* r0 = what bpf_perf_event_output() says of the word at fp - 8, for the event of this CPU in map */
void pt_b_output(struct pt_code *c, int map);
/* return imm */
void pt_b_return(struct pt_code *c, int32_t imm);
/* return r7 % n == 0 */
void pt_b_return_nth(struct pt_code *c, int32_t n);

#endif /* PT_BPF_H */
