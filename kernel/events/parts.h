/* SPDX-License-Identifier: GPL-2.0 */
/* Layer 1: group queues, the PMU registry, buffers, call chains, recursion guards. */
#ifndef _KERNEL_EVENTS_PARTS_H
#define _KERNEL_EVENTS_PARTS_H

#include <linux/hardirq.h>
#include <linux/preempt.h>

#include "types.h"
#include "time.h"
#include "ring_buffer.h"

/* interrupt_context_level(), where one test tells most often that it is the lowest. */
static __always_inline unsigned char pe_context_level(void)
{
	if (likely(!(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))))
		return 0;
	return interrupt_context_level();
}

/**
 * pe_recursion_enter() - enter a section that must not nest in its own context level
 * @busy: a byte per level (task, softirq, hardirq, NMI), of this CPU or of current
 *
 * Any context, preemption off.  Return: the level to give back, or -1 when it is taken.
 */
static __always_inline int pe_recursion_enter(u8 *busy)
{
	int level = pe_context_level();

	if (busy[level])
		return -1;
	busy[level] = 1;
	barrier();	/* an interrupt of the same level sees the mark */
	return level;
}

static inline void pe_recursion_leave(u8 *busy, unsigned char level)
{
	barrier();	/* the section is over before its mark */
	busy[level] = 0;
}

static inline bool pe_current_is_user(void)
{
	/* An interrupt may find other flags of current on their way; this one stays. */
	return data_race(is_user_task(current));
}

#ifdef CONFIG_HAVE_PERF_USER_STACK_DUMP
#define pe_have_user_stack_dump()	true
#define pe_user_stack_pointer(regs)	user_stack_pointer(regs)
#else
#define pe_have_user_stack_dump()	false
#define pe_user_stack_pointer(regs)	0UL
#endif

/* group_queue.c: pure, no locks of its own */

/**
 * struct queue_cursor - walks queues of one context as if they were one
 * @first: one of the queues, linked by &struct group_queue.other
 * @last: the end of that chain
 */
struct queue_cursor {
	struct group_queue	*first;
	struct group_queue	**last;
};

void group_queue_init(struct group_queue *queue);
void group_queue_append(struct group_queue *queue, struct queue_node *node, u64 seq);
void group_queue_remove(struct queue_node *node);
bool group_queue_empty(const struct group_queue *queue);
struct queue_node *group_queue_first(const struct group_queue *queue);
void queue_cursor_init(struct queue_cursor *cur);
void queue_cursor_add(struct queue_cursor *cur, struct group_queue *queue);
struct queue_node *queue_cursor_next(struct queue_cursor *cur);

/* pmu.c */
int pe_pmu_bind_event(struct pevent *e);	/* attr.type -> pmu, runs event_init */
void pe_pmu_unbind_event(struct pevent *e);	/* runs destroy, drops the module */
void pe_pmu_revoke(struct pevent *e);
void pe_pmu_leave(struct pevent *e);
void pe_pmu_delist(struct pmu *pmu);
void pe_pmu_free(struct pmu *pmu);
struct pe_roster *pe_roster_join(struct pmu *pmu, struct list_head *entry, bool events);
void pe_roster_leave(struct pe_roster *roster, struct list_head *entry, struct pmu *pmu);
extern struct mutex pe_pmus_lock;
extern struct list_head pe_pmus;		/* struct pmu.entry; pe_pmus_lock or its SRCU */
int pe_pmus_read_lock(void);
void pe_pmus_read_unlock(int idx);
void pe_pmus_sync(void);
bool pe_pmu_claim_exclusive(struct pevent *e);	/* PERF_PMU_CAP_EXCLUSIVE: -EBUSY if false */

static inline struct perf_cpu_pmu_context *pe_cpc(struct pmu *pmu)
{
	return this_cpu_ptr(pmu->cpu_pmu_context);
}

/* pmu_scope.c */
const struct cpumask *pe_scope_cpus(unsigned int scope, int cpu);
const struct cpumask *pe_scope_elected(unsigned int scope);
void pe_scope_cpu_up(int cpu);
unsigned int pe_scope_cpu_down(int cpu, unsigned int scope);

/* pmu_sysfs.c */
#define PE_NO_DEVICE	((struct device *)-1L)	/* pmu->dev of a PMU that is not shown in sysfs */
int pe_pmu_dev_alloc(struct pmu *pmu);
void pe_pmu_dev_free(struct pmu *pmu);

/* rotate.c lends its timer to pmu.c (per-CPU state is made there) */
void pe_mux_init(struct perf_cpu_pmu_context *cpc, int cpu);
void pe_mux_set_interval(struct pmu *pmu, int ms);	/* cpus_read_lock held */
void pe_mux_forget(struct perf_cpu_pmu_context *cpc);	/* its CPU is offline */

/* context.c lends part initialisation to pmu.c */
void pe_part_init(struct pe_part *part, struct pctx *ctx, struct pmu *pmu);
void pe_part_fini(struct pe_part *part);
void pe_part_free(struct pe_part *part);

#endif /* _KERNEL_EVENTS_PARTS_H */
