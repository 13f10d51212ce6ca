/* SPDX-License-Identifier: GPL-2.0 */
/* Layer 1: which PMUs there are, and which one an event belongs to. */
#ifndef _KERNEL_EVENTS_PMU_H
#define _KERNEL_EVENTS_PMU_H

#include "../types.h"
#include "../time.h"

/* pmu.c */
int pe_pmu_bind_event(struct pe_event *e);	/* attr.type -> pmu, runs event_init */
void pe_pmu_unbind_event(struct pe_event *e);	/* runs destroy, drops the module */
void pe_pmu_leave(struct pe_event *e);
int pe_pmu_reserve(struct pmu *pmu, int type);
void pe_pmu_unreserve(struct pmu *pmu);
void pe_pmu_enlist(struct pmu *pmu);
void pe_pmu_delist(struct pmu *pmu);
struct pe_roster *pe_roster_join(struct pmu *pmu, struct list_head *entry,
				 enum pe_roster_list what);
void pe_roster_leave(struct pe_roster *roster, struct list_head *entry, struct pmu *pmu);
extern struct mutex pe_pmus_lock;
extern struct list_head pe_pmus;		/* struct pmu.entry; pe_pmus_lock or its SRCU */
int pe_pmus_read_lock(void);
void pe_pmus_read_unlock(int idx);
void pe_pmus_sync(void);
bool pe_pmu_claim_exclusive(struct pe_event *e);	/* false: -EBUSY */

static inline struct perf_cpu_pmu_context *pe_cpc(struct pmu *pmu)
{
	return this_cpu_ptr(pmu->cpu_pmu_context);
}

/**
 * pe_refuse() - pmu->event_init() refuses an event, and says why
 * @e: the event
 * @err: negative errno
 * @text: as for pe_err()
 *
 * For PMUs of the core: for one that refuses without a word, the core says that it was the PMU.
 * Return: @err
 */
static inline int pe_refuse(struct pe_event *e, int err, const char *text)
{
	e->told_why = true;
	return pe_err(err, text);
}

#define PE_NO_DEVICE	((struct device *)-1L)	/* pmu->dev of a PMU that is not shown in sysfs */

/* pmu_scope.c */
const struct cpumask *pe_scope_cpus(unsigned int scope, int cpu);
const struct cpumask *pe_scope_elected(unsigned int scope);
void pe_scope_cpu_up(int cpu);
unsigned int pe_scope_cpu_down(int cpu, unsigned int scope);

#endif /* _KERNEL_EVENTS_PMU_H */
