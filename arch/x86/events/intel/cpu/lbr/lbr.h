/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Last branch records of Intel CPUs: what the files of this folder share.
 *
 * What the rest of the driver calls is declared in ../../../perf_event.h.
 */
#ifndef _ARCH_X86_EVENTS_INTEL_LBR_H
#define _ARCH_X86_EVENTS_INTEL_LBR_H

#include "../../../perf_event.h"

/* What a branch record tells besides from and to, and where. */
#define INTEL_PE_BR_INFO	BIT(0)	/* it has an info word */
#define INTEL_PE_BR_MISPRED	BIT(1)	/* mispredicted: in info, or else in from */
#define INTEL_PE_BR_TSX		BIT(2)	/* transactions: likewise */
#define INTEL_PE_BR_CYCLES	BIT(3)	/* cycles: in info, or else in to */
#define INTEL_PE_BR_VALID	BIT(4)	/* info says whether the cycles mean anything */
#define INTEL_PE_BR_TYPE	BIT(5)	/* the kind of branch, in info */
#define INTEL_PE_BR_QUIRK	BIT(6)	/* transactions' flags are none, but extend the sign */

/* The lowest bit of LBR_SELECT and of ARCH_LBR_CTL that mean the same. */
struct intel_pe_select {
	u32	kernel, user;
	u32	jcc, rel_call, ind_call, ret, ind_jmp, rel_jmp, far;
	u32	call_stack;
};

/* The driver's own bit of reg->config, not for the register: the info words are not wanted. */
#define INTEL_PE_NO_INFO	BIT_ULL(63)

static inline bool intel_pe_arch_lbr(void)
{
	return static_cpu_has(X86_FEATURE_ARCH_LBR);
}

/* Does this configuration keep a call stack? */
static inline bool intel_pe_keeps_stack(u64 config)
{
	return config & (intel_pe_arch_lbr() ? ARCH_LBR_CTL_STACK : BIT_ULL(9));
}

/* The slot of the @n-th newest branch. */
static inline unsigned int intel_pe_slot(u64 tos, unsigned int n)
{
	return (tos - n) & (x86_pmu.lbr_nr - 1);
}

/* regs.c */
extern unsigned int intel_pe_branch_has;
extern const struct intel_pe_select intel_pe_select_msr, intel_pe_select_ctl;

u64 intel_pe_tos(void);
u64 intel_pe_branch_from(unsigned int slot);
void intel_pe_arch_reset(void);
void intel_pe_arch_save(void *ctx);
void intel_pe_arch_restore(void *ctx);
void intel_pe_arch_xsave(void *ctx);
void intel_pe_arch_xrestore(void *ctx);

/* read.c */
bool intel_pe_decode_branch(struct perf_branch_entry *e, struct lbr_entry raw, unsigned int has);
u64 intel_pe_order_counters(u64 raw, const u8 *order, int n);
void intel_pe_arch_read(struct cpu_hw_events *cpuc);
void intel_pe_arch_read_xsave(struct cpu_hw_events *cpuc);

/* filter.c */

/**
 * struct intel_pe_branches - branches for a sample
 * @stack: they, the newest first
 * @counters: what was counted since the branch before, two bits for each counter
 */
struct intel_pe_branches {
	struct perf_branch_stack	*stack;
	const u64			*counters;
};

u32 intel_pe_branch_kinds(u64 branch_sample_type);
struct intel_pe_branches intel_pe_pick_branches(struct cpu_hw_events *cpuc, u32 sel);
unsigned int intel_pe_copy_branches(struct cpu_hw_events *cpuc, struct perf_branch_entry *to,
				    unsigned int room);

/* models.c */
enum intel_pe_map { INTEL_PE_MAP_NHM, INTEL_PE_MAP_SNB, INTEL_PE_MAP_HSW, INTEL_PE_MAP_ARCH };
void intel_pe_fill_map(int *map, enum intel_pe_map which);

#endif
