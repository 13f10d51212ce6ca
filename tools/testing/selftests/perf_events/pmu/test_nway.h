/* SPDX-License-Identifier: GPL-2.0 */
/* Format "nway": what its module and its users have in common; see test_nway.c. */
#ifndef TEST_NWAY_H
#define TEST_NWAY_H

#include <linux/types.h>

#define NWAY_UUID \
	{ 0x3e, 0x5a, 0xeb, 0x81, 0x54, 0xae, 0x4f, 0x6d, \
	  0x91, 0x35, 0x95, 0xf7, 0x3f, 0x94, 0x5d, 0x62 }

/* @parts of @samples each: at least 2, at least 1, and at most 2^20 samples together */
struct nway_arg {
	__u32 parts;
	__u32 samples;
};

struct nway_sample {
	__u64 addr;
	__u64 period;
	__u32 pid;
	__u32 tid;
};

/* @number: it is the so-and-so-manyth that became full, from 1 on; 0: it is being filled */
struct nway_part {
	__u64 number;
	struct nway_sample sample[];
};

/* @full: so many parts became full; @next: sample of the one that is being filled */
struct nway_half {
	__u64 full;
	__u64 next;
	/* struct nway_part, each with its samples */
};

#endif /* TEST_NWAY_H */
