/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The vendor-neutral core of the x86 CPU PMU driver: what its files and ../start/ share.
 *
 * The contract with the vendor files (struct x86_pmu, struct cpu_hw_events, the x86_pmu_* and
 * x86_perf_* functions) is ../perf_event.h.  Names that only these two use start with x86_pe_.
 * Documentation/perf_events/x86.rst describes the files, contexts and locks.
 */
#ifndef _ARCH_X86_EVENTS_CORE_H
#define _ARCH_X86_EVENTS_CORE_H

#include <linux/static_call.h>

#include "../perf_event.h"

#define X86_PE_CALL(op)	DECLARE_STATIC_CALL(x86_pmu_##op, *x86_pmu.op)
#include "calls.h"
DECLARE_STATIC_CALL(x86_pmu_guest_get_msrs, *x86_pmu.guest_get_msrs);

/* x86_pmu.c: the PMU, and what hybrid PMUs are copies of */
extern struct pmu x86_pe_pmu;
void __init x86_pe_set_calls(void);

/* pmu.c */
void x86_pe_leave_off(struct cpu_hw_events *cpuc);
void __init x86_pe_pmu_init(void);

/* event.c */
int x86_pe_event_init(struct perf_event *event);
int x86_pe_check_period(struct perf_event *event, u64 value);
u64 x86_pe_least_period(struct perf_event *event);
int x86_pe_aux_output_match(struct perf_event *event);

/* config.c, pure */
int x86_pe_known_code(u64 code);
int x86_pe_cache_slot(u64 config, unsigned int slot[3]);

/* group.c */
int x86_pe_validate_single(struct perf_event *event);
int x86_pe_validate_group(struct perf_event *event);

/* schedule.c */
int x86_pe_collect(struct cpu_hw_events *cpuc, struct perf_event *event, int n);
int x86_pe_collect_group(struct cpu_hw_events *cpuc, struct perf_event *leader, int n);
int x86_pe_rejoin(struct cpu_hw_events *cpuc, u64 used);

/* resource.c */
extern atomic_t x86_pe_active_events;

/* counter.c */
void x86_pe_start(struct perf_event *event, int flags);
void x86_pe_read(struct perf_event *event);
void x86_pe_place(struct perf_event *event, int idx);

/* pmi.c */
int x86_pe_nmi(unsigned int cmd, struct pt_regs *regs);
bool x86_pe_throttle(struct perf_event *event);
void x86_pe_arm_lvtpc(void);
void x86_pe_forget_lvtpc(void);

/* user.c */
extern struct device_attribute x86_pe_rdpmc_attr;
void x86_pe_event_mapped(struct perf_event *event, struct mm_struct *mm);
void x86_pe_event_unmapped(struct perf_event *event, struct mm_struct *mm);
int x86_pe_event_idx(struct perf_event *event);

/* sysfs.c */
extern const struct attribute_group *x86_pe_attr_groups[];
void __init x86_pe_sysfs_init(void);

/* sleep.c */
extern bool x86_pe_over;
void __init x86_pe_sleep_init(void);

/* regs.c */
unsigned long x86_pe_segment_base(unsigned int selector);

static inline bool x86_pe_in_add_txn(struct cpu_hw_events *cpuc)
{
	return cpuc->txn_flags & PERF_PMU_TXN_ADD;
}

/* Counters @hw takes when it is put on @idx: a large-increment event needs the next one too. */
static inline u64 x86_pe_footprint(struct hw_perf_event *hw, int idx)
{
	return is_counter_pair(hw) ? 3ULL << idx : BIT_ULL(idx);
}

/* A counter's value as set_period() stores it: it counts from a negative number towards 0. */
static inline s64 x86_pe_signed(u64 counter)
{
	return sign_extend64(counter, x86_pmu.cntval_bits - 1);
}

/* The event leaves its counter: what that has counted is nobody's who reads it next. */
static inline void x86_pe_mark_dirty(struct cpu_hw_events *cpuc, struct hw_perf_event *hw)
{
	if (hw->idx < 0)
		return;
	__set_bit(hw->idx, cpuc->dirty);
	if (is_counter_pair(hw))
		__set_bit(hw->idx + 1, cpuc->dirty);
}

/* Most events are not mapped. */
static inline void x86_pe_refresh_page(struct perf_event *event)
{
	if (rcu_access_pointer(event->rb))
		perf_event_update_userpage(event);
}

#endif
