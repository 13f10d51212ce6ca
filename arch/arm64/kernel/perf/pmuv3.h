/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the PMUv3 driver share.
 *
 *	pmuv3_bank.c	the registers of this CPU and what they are known to hold; programs, reads
 *			and writes the counters of an event
 *	pmuv3_branch.c, _brbe_regs.c, _brbe.c	branch records, see pmuv3_brbe.h
 *	pmuv3_event.c	pure: what an attr asks for
 *	pmuv3_counter.c	which counter an event gets
 *	pmuv3_irq.c	the overflow interrupt
 *	pmuv3_user.c	counters that user space reads, the user page, the sysctl
 *	pmuv3_sysfs.c	format, events and caps
 *	pmuv3_probe.c	what the CPU has; the operations of the PMU
 *	pmuv3_models.c	names, compatibles and cache events of the CPUs
 *	pmuv3_driver.c	the driver, at boot
 *
 * A file calls those above it (pmuv3_irq.c and pmuv3_sysfs.c are called by pmuv3_probe.c only).
 */
#ifndef _ARM64_PERF_PMUV3_H
#define _ARM64_PERF_PMUV3_H

#include <linux/bits.h>
#include <linux/perf/arm_pmu.h>
#include <linux/perf/arm_pmuv3.h>

/* Sets of counters are a u64, the bits numbered as in PMCNTENSET_EL0. */
static_assert(ARMPMU_MAX_HWEVENTS <= BITS_PER_LONG);

#define PMUV3_GENERAL_COUNTERS	GENMASK_ULL(ARMV8_PMU_MAX_GENERAL_COUNTERS - 1, 0)
#define PMUV3_CYCLE_COUNTER	BIT_ULL(ARMV8_PMU_CYCLE_IDX)
#define PMUV3_INSTR_COUNTER	BIT_ULL(ARMV8_PMU_INSTR_IDX)

#define PMUV3_VERSION_P9	9	/* ID_AA64DFR0_EL1.PMUVer of FEAT_PMUv3p9 */

/* attr.config1 */
#define PMUV3_CONFIG1_LONG		BIT_ULL(0)
#define PMUV3_CONFIG1_RDPMC		BIT_ULL(1)
#define PMUV3_CONFIG1_TH_CONTROL	GENMASK_ULL(4, 2)	/* compare, count: the field TC */
#define PMUV3_CONFIG1_THRESHOLD		GENMASK_ULL(16, 5)

/* hw.flags, beside the framework's ARMPMU_EVT_* */
#define PMUV3_EVT_CYCLES	0x00100	/* the cycle counter can count it */
#define PMUV3_EVT_ONLY_CYCLES	0x00200	/* no other counter can */
#define PMUV3_EVT_INSTR		0x00400	/* the instruction counter can count it */
#define PMUV3_EVT_PAIR		0x00800	/* two general counters or a fixed one */
#define PMUV3_EVT_SWITCHED	0x01000	/* KVM edits its filter when it enters a guest */
#define PMUV3_EVT_MASK		0x01f00
static_assert((PERF_EVENT_FLAG_ARCH & PMUV3_EVT_MASK) == PMUV3_EVT_MASK);

/* The counters of @pmu. */
static inline u64 pmuv3_counters(const struct arm_pmu *pmu)
{
	return pmu->cntr_mask[0];
}

/* Do all counters have 64 bits (FEAT_PMUv3p5; reset sets PMCR.LP)? */
static inline bool pmuv3_all_long(const struct arm_pmu *pmu)
{
	return is_pmuv3p5(pmu->pmuver);
}

/* Can EL0 be given single counters (FEAT_PMUv3p9)? */
static inline bool pmuv3_has_uacr(const struct arm_pmu *pmu)
{
	return pmu->pmuver >= PMUV3_VERSION_P9;
}

/* Does the event have two counters?  Then hw.idx is the odd one. */
static inline bool pmuv3_is_pair(const struct hw_perf_event *hw)
{
	return hw->flags & PMUV3_EVT_PAIR && hw->idx < ARMV8_PMU_MAX_GENERAL_COUNTERS;
}

static inline u64 pmuv3_counters_of(const struct hw_perf_event *hw)
{
	return pmuv3_is_pair(hw) ? 3ULL << (hw->idx - 1) : BIT_ULL(hw->idx);
}

/* pmuv3_bank.c */
void pmuv3_reset(void *pmu);
bool pmuv3_freeze(void);
void pmuv3_clear_stale(void);
void pmuv3_thaw(void);
void pmuv3_hush(void);
u64 pmuv3_take_overflows(void);
void pmuv3_wipe(u64 used);
void pmuv3_set_userenr(u32 value);
void pmuv3_set_uacr(u64 counters);
u64 pmuv3_read_counter(struct perf_event *event);
void pmuv3_write_counter(struct perf_event *event, u64 value);
void pmuv3_enable(struct perf_event *event);
void pmuv3_disable(struct perf_event *event);

/* pmuv3_brbe.c; only the first and the last also for a @pmu without reg_brbidr */
int pmuv3_brbe_event(struct perf_event *event);
void pmuv3_brbe_start(const struct arm_pmu *pmu);
void pmuv3_brbe_stop(void);
void pmuv3_brbe_sample(struct perf_event *event, struct perf_sample_data *data);
void pmuv3_brbe_reset(void);
int pmuv3_brbe_init(struct arm_pmu *pmu);

/* pmuv3_event.c */

/*
 * struct pmuv3_cache_event - a PERF_TYPE_HW_CACHE event and its number
 *
 * Lists of them end with an entry whose number is 0: that event, SW_INCR, is no cache event.
 */
struct pmuv3_cache_event {
	u8	cache, op, result;
	u16	number;
};

int pmuv3_number(const struct arm_pmu *pmu, const struct perf_event_attr *attr,
		 const struct pmuv3_cache_event *model);
int pmuv3_flags(const struct arm_pmu *pmu, const struct perf_event_attr *attr, int number);
u64 pmuv3_hyp_filter(const struct perf_event_attr *attr);
u64 pmuv3_el1_filter(const struct perf_event_attr *attr);
u32 pmuv3_threshold_max(const struct arm_pmu *pmu);
int pmuv3_threshold(const struct arm_pmu *pmu, const struct perf_event_attr *attr, u64 *type);
int pmuv3_map_event(struct perf_event *event, const struct pmuv3_cache_event *model);
int pmuv3_set_event_filter(struct hw_perf_event *hw, struct perf_event_attr *attr);

/* pmuv3_counter.c */
int pmuv3_choose(u64 counters, u64 *used, int flags);
int pmuv3_get_event_idx(struct pmu_hw_events *events, struct perf_event *event);
void pmuv3_clear_event_idx(struct pmu_hw_events *events, struct perf_event *event);

/* pmuv3_irq.c */
irqreturn_t pmuv3_handle_irq(struct arm_pmu *pmu);

/* pmuv3_user.c */
u64 pmuv3_user_counters(const struct pmu_hw_events *events);
void pmuv3_start(struct arm_pmu *pmu);
void pmuv3_sched_task(struct perf_event_pmu_context *pmu_ctx, struct task_struct *task,
		      bool sched_in);
int pmuv3_event_idx(struct perf_event *event);
void pmuv3_register_sysctl(void);

/* pmuv3_sysfs.c */
extern const struct attribute_group pmuv3_events_group;
extern const struct attribute_group pmuv3_format_group;
extern const struct attribute_group pmuv3_caps_group;

/* pmuv3_probe.c */
int pmuv3_init(struct arm_pmu *pmu, char *name, int (*map_event)(struct perf_event *event));

/* pmuv3_models.c */
extern const struct of_device_id pmuv3_of_match[];
int pmuv3_generic_init(struct arm_pmu *pmu);

#endif /* _ARM64_PERF_PMUV3_H */
