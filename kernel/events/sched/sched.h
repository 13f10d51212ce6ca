/* SPDX-License-Identifier: GPL-2.0 */
/* Layer 3: contexts, the remote call, group scheduling, switches, rotation, period control. */
#ifndef _KERNEL_EVENTS_SCHED_H
#define _KERNEL_EVENTS_SCHED_H

#include "../output/output.h"

/*
 * Lockdep's subclass of the mutex of a context that nobody else can know: fork takes locks under it
 * that ctx->mutex is inside of otherwise.  The second of two CPU contexts has SINGLE_DEPTH_NESTING.
 */
#define PE_FRESH_CTX	(SINGLE_DEPTH_NESTING + 1)

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
void group_queue_replace(struct queue_node *old, struct queue_node *node);
bool group_queue_empty(const struct group_queue *queue);
struct queue_node *group_queue_first(const struct group_queue *queue);
void queue_cursor_init(struct queue_cursor *cur);
void queue_cursor_add(struct queue_cursor *cur, struct group_queue *queue);
struct queue_node *queue_cursor_next(struct queue_cursor *cur);

/* context.c */
void pe_pmu_ctx_init(struct pe_pmu_ctx *pmu_ctx, struct pe_ctx *ctx, struct pmu *pmu);
void pe_pmu_ctx_fini(struct pe_pmu_ctx *pmu_ctx);
void pe_pmu_ctx_free(struct pe_pmu_ctx *pmu_ctx);
void pe_ctx_init(struct pe_ctx *ctx, struct task_struct *task, int cpu);
struct pe_ctx *pe_ctx_new(struct task_struct *task);
void pe_ctx_get(struct pe_ctx *ctx);
void pe_ctx_put(struct pe_ctx *ctx);
int pe_ctx_reserve(struct pe_ctx *ctx, struct pmu *pmu, const struct pe_event *e);
struct pe_slot *pe_ctx_slot(struct pe_ctx *ctx, const struct pe_event *e);
void pe_slot_init(struct pe_slot *slot);
void pe_slot_free(struct pe_slot *slot);
struct pe_pmu_ctx *pe_find_pmu_ctx(struct pe_ctx *ctx, struct pmu *pmu);
struct pe_lane *pe_pmu_ctx_lane(struct pe_pmu_ctx *pmu_ctx, struct pe_slot *slot);
void pe_ctx_add(struct pe_ctx *ctx, struct pe_event *e);
void pe_ctx_remove(struct pe_ctx *ctx, struct pe_event *e, u64 now);
struct pe_event **pe_ctx_snapshot(struct pe_ctx *ctx, unsigned int *nr);

/* Who makes copies of the events of a context sees that they may not be equal. */
static inline void pe_ctx_changed(struct pe_ctx *ctx)
{
	lockdep_assert_held(&ctx->lock);
	WRITE_ONCE(ctx->changes, ctx->changes + 1);
}

/*
 * task->perf_event_ctxp leads to the task's own context, or, with this bit, to the kin that it is
 * a member of.  It changes under task->perf_event_mutex: from NULL to a context by an opener, from
 * a context to a kin, and from either to NULL, by the task, from a kin to a context by anybody.
 */
#define PE_IS_KIN	1UL

static inline struct pe_kin *pe_task_kin(const struct task_struct *task)
{
	unsigned long p = (unsigned long)READ_ONCE(task->perf_event_ctxp);

	return p & PE_IS_KIN ? (struct pe_kin *)(p - PE_IS_KIN) : NULL;
}

/* Its own context, or NULL. */
static inline struct pe_ctx *pe_task_ctx(const struct task_struct *task)
{
	struct perf_event_context *ctx = READ_ONCE(task->perf_event_ctxp);

	if (!ctx || (unsigned long)ctx & PE_IS_KIN)
		return NULL;
	return container_of(ctx, struct pe_ctx, pub);
}

/*
 * The context that counts for the current task, if it is in on this CPU.  Preemption off at least;
 * with irqs on the answer may be stale, which is good enough for code that only reads lists under
 * RCU.
 */
static inline struct pe_ctx *pe_current_ctx(void)
{
	struct pe_ctx *ctx = raw_cpu_read(pe_cpu.shared) ?: pe_task_ctx(current);

	return ctx && READ_ONCE(ctx->oncpu) == smp_processor_id() ? ctx : NULL;
}

/*
 * Does an overflow want @e, which has just been taken out, disabled?  Answers yes once.  Both
 * contexts of the event's CPU locked, or that of a passive event.  PERF_EVENT_IOC_REFRESH adds to
 * the limit before it takes the lock: the first one here sees the new samples and does not disable,
 * or the ioctl enables again.
 */
static inline bool pe_disable_due(struct pe_event *e)
{
	unsigned int why = xchg(&e->pending_disable, PE_DISABLE_NOT);

	return why == PE_DISABLE_ALWAYS ||
	       (why == PE_DISABLE_AT_LIMIT && !atomic_read(&e->event_limit));
}

/* cross_call.c */
typedef void (*pe_call_fn)(struct pe_ctx *ctx, void *arg);
void pe_call(struct pe_ctx *ctx, pe_call_fn fn, void *arg);
void pe_event_call(struct pe_event *e, pe_call_fn fn, void *arg);
void pe_member_call(struct pe_event *e, pe_call_fn fn, void *arg);
void pe_oncpu_call(struct pe_event *e, pe_call_fn fn, void *arg);
void pe_count_call(struct pe_event *e, pe_call_fn fn, void *arg);
bool pe_call_locked_local(struct pe_ctx *ctx, pe_call_fn fn, void *arg);

/**
 * pe_lock_here() - take this CPU's context lock, then @ctx's
 * @ctx: a task context, this CPU's context, or NULL; irqs are off
 */
static inline void pe_lock_here(struct pe_ctx *ctx)
	__acquires(&ctx->lock)
{
	struct pe_ctx *cpu_ctx = this_cpu_ptr(&pe_cpu.ctx);

	lockdep_assert_irqs_disabled();
	raw_spin_lock(&cpu_ctx->lock);
	if (ctx && ctx != cpu_ctx) {
		raw_spin_lock(&ctx->lock);
		__release(&ctx->lock);	/* sparse: one lock or two, it counts one */
	}
}

static inline void pe_unlock_here(struct pe_ctx *ctx)
	__releases(&ctx->lock)
{
	struct pe_ctx *cpu_ctx = this_cpu_ptr(&pe_cpu.ctx);

	if (ctx && ctx != cpu_ctx) {
		__acquire(&ctx->lock);
		raw_spin_unlock(&ctx->lock);
	}
	raw_spin_unlock(&cpu_ctx->lock);
}

/*
 * What locking.rst says under "ctx->oncpu", for lockdep.
 *
 * pe_assert_oncpu(): the context is in on this CPU, and both are locked.
 * pe_assert_schedulable(): as above, or the context is locked and in nowhere.
 */
static inline void pe_assert_oncpu(const struct pe_ctx *ctx)
{
	lockdep_assert_irqs_disabled();
	lockdep_assert_held(&ctx->lock);
	lockdep_assert_held(this_cpu_ptr(&pe_cpu.ctx.lock));
	lockdep_assert(ctx->oncpu == smp_processor_id());
}

static inline void pe_assert_schedulable(const struct pe_ctx *ctx)
{
	lockdep_assert_held(&ctx->lock);
	if (IS_ENABLED(CONFIG_LOCKDEP) && ctx->oncpu >= 0)
		pe_assert_oncpu(ctx);
}

static inline enum pe_class pe_class_of(const struct pe_event *leader)
{
	return leader->attr.pinned ? PE_PINNED : PE_FLEXIBLE;
}

/* sched.c: CPU context and, if given, task context locked, irqs off, on the CPU */
void pe_group_out(struct pe_event *leader, u64 now);
void pe_group_admit(struct pe_event *leader, u64 now);
void pe_group_readmit(struct pe_event *leader, u64 now);
void pe_member_out(struct pe_event *e, u64 now);
void pe_pmu_ctx_out(struct pe_pmu_ctx *pmu_ctx, unsigned int classes, u64 now);
void pe_pmu_ctx_in(struct pe_pmu_ctx *pmu_ctx, enum pe_class class, u64 now);
struct pe_event *pe_pmu_ctx_first_waiting(struct pe_pmu_ctx *pmu_ctx);
void pe_lane_out(struct pe_lane *lane, u64 now);
bool pe_lane_in(struct pe_lane *lane, enum pe_class class, u64 now);
void pe_pmu_resched_oncpu(struct pmu *pmu, unsigned int cpu_classes, unsigned int task_classes,
			  u64 now);

/* group.c: state of whole events, passive or scheduled; ctx->lock held, on the CPU if ctx is in */
enum pe_withdrawal {
	PE_LEAVE_GROUP,
	PE_KEEP_GROUP,		/* its task exits; the group is read on, and goes when closed */
};

void pe_install(struct pe_event *e, u64 now);
void pe_withdraw(struct pe_event *e, enum pe_withdrawal how, u64 now);
void pe_group_take(struct pe_event *leader, u64 now);
void pe_group_bring(struct pe_event *leader, u64 now);
void pe_enable_locked(struct pe_event *e, u64 now);
void pe_enable_group_locked(struct pe_event *leader, u64 now);
void pe_disable_locked(struct pe_event *e, u64 now);
void pe_group_park(struct pe_event *leader, u64 now);
void pe_group_give_place(struct pe_event *from, struct pe_event *to, u64 now);
void pe_group_unpark(struct pe_event *leader, u64 now);

/* sets.c: as group.c */
#define PE_MOST_SETS	64U		/* in a ring */

#ifdef CONFIG_PERF_EVENTS_EXT
struct pe_set;
int pe_set_join(struct pe_set *set, struct pe_set *ring, u64 now);
void pe_set_leave(struct pe_event *leader, u64 now);
void pe_set_end_ring(struct pe_set *set, u64 now);
void pe_set_fold(const struct pe_set *from, struct pe_set *to);
void pe_set_withdraw(struct pe_event *leader, u64 now);
int pe_set_select(struct pe_set *ring, u16 number, u64 now);
void pe_turn_end_due(struct pe_event *e, u64 now);
unsigned int pe_set_ring(struct pe_set *set, struct pe_set **sets);
u64 pe_set_active_time(const struct pe_set *set, u64 now);
#else
struct pe_set;
static inline void pe_set_fold(const struct pe_set *from, struct pe_set *to) { }
static inline void pe_set_withdraw(struct pe_event *leader, u64 now) { }
#endif

/* switch.c */
void pe_ctx_in(struct pe_ctx *ctx, struct task_struct *comes, u64 now);
void pe_ctx_out(struct pe_ctx *ctx, u64 now);
bool pe_ctx_enter_current(struct pe_ctx *ctx, struct task_struct *comes, int home);
void pe_ctx_leave_current(struct pe_ctx *ctx);
/* A task comes in or goes out; so that pmu->sched_task() can be told which. */
enum pe_switch { PE_GOES_OUT, PE_COMES_IN };

void pe_tell_pmus_of_switch(struct task_struct *task, enum pe_switch which,
			    const struct pe_ctx *told);
void pe_slot_refresh_pages(struct pe_slot *slot);

/* task_data.c */
int pe_task_data_get(struct pe_event *e, struct pe_ctx *ctx);
void pe_task_data_put(struct pe_event *e);
void pe_task_data_fork(struct task_struct *task);
void pe_task_data_exit(struct task_struct *task);
void pe_tell_pmu_of_switch(struct pe_pmu_ctx *pmu_ctx, struct task_struct *task,
			   enum pe_switch which);

/* cgroup.c */
#ifdef CONFIG_CGROUP_PERF
extern atomic_t pe_cgroup_users;		/* events of cgroups; counted by life/ */
void pe_cgroup_free(struct perf_cgroup *cgrp);
struct pe_slot *pe_cgroup_slot(struct perf_cgroup *cgrp, int cpu);
struct pe_slot *pe_cgroup_make_slot(struct perf_cgroup *cgrp, int cpu);
void pe_cgroup_event_added(struct pe_event *e);
void pe_cgroup_event_removed(struct pe_event *e);
bool pe_cgroup_is_first(const struct pe_event *e);
void pe_cgroup_follow(struct task_struct *task);
void pe_cgroup_leave_all(void);

/* Does the CPU enter another cgroup with @next?  Irqs off. */
static inline bool pe_cgroup_moves(struct task_struct *next)
{
	struct perf_cgroup *now_in = this_cpu_read(pe_cpu.cgrp);

	return unlikely(now_in) && now_in != perf_cgroup_from_task(next);
}

/* The CPU goes on with @next.  Irqs off. */
static inline void pe_cgroup_switch(struct task_struct *next)
{
	if (pe_cgroup_moves(next))
		pe_cgroup_follow(next);
}
#else
static inline struct pe_slot *pe_cgroup_slot(struct perf_cgroup *cgrp, int cpu)
{
	return NULL;
}

static inline struct pe_slot *pe_cgroup_make_slot(struct perf_cgroup *cgrp, int cpu)
{
	return NULL;
}

static inline void pe_cgroup_event_added(struct pe_event *e) { }
static inline void pe_cgroup_event_removed(struct pe_event *e) { }
static inline bool pe_cgroup_is_first(const struct pe_event *e)
{
	return false;
}

static inline void pe_cgroup_leave_all(void) { }
static inline void pe_cgroup_follow(struct task_struct *task) { }
static inline bool pe_cgroup_moves(struct task_struct *next)
{
	return false;
}

static inline void pe_cgroup_switch(struct task_struct *next) { }
#endif

/* kin.c */
struct pe_ctx *pe_kin_come_in(struct pe_kin *kin, struct task_struct *comes);
void pe_kin_go_out(struct pe_ctx *ctx);
void pe_kin_settle_here(void);

/* rotate.c */
void pe_mux_init(struct perf_cpu_pmu_context *cpc);
void pe_mux_arm(struct perf_cpu_pmu_context *cpc);
void pe_mux_set_interval(struct pmu *pmu, int ms);	/* cpus_read_lock held */
void pe_mux_forget(struct perf_cpu_pmu_context *cpc);	/* its CPU is offline */

/* frequency.c (pure arithmetic first) */
/* hw.interrupts of an event that is throttled: for its own overflows, or along with its group's */
#define PE_THROTTLED		U64_MAX
#define PE_THROTTLED_ALONG	(U64_MAX - 1)

/*
 * Software counts a period up to 0, a driver counts it down.  Others of the core's PMUs have no
 * frequency; clocks set hw.last_period when they start.
 */
static inline bool pe_counts_up(const struct pe_event *e)
{
	return e->pmu->task_ctx_nr == perf_sw_context && e->pmu->lasting;
}

static __always_inline bool pe_is_throttled(const struct pe_event *e)
{
	return e->hw.interrupts >= PE_THROTTLED_ALONG;
}

/*
 * Does what a PMU counts of this group stop and go on together?  A walk of more members, most of
 * which no PMU has counters for, would keep an NMI and the tick busy for too long.
 */
static inline bool pe_throttles_together(const struct pe_event *leader)
{
	return READ_ONCE(leader->nr_siblings) < 256;
}

u64 pe_period_for(u64 freq, u64 nsec, u64 count);
u64 pe_period_step(u64 period, u64 wanted);
void pe_adjust_period(struct pe_event *e, u64 nsec, u64 count);
void pe_tick_freq(struct pe_ctx *ctx, bool release);
void pe_throttle_list(struct pe_event *e);
void pe_throttle_unlist(struct pe_event *e);
bool pe_unthrottle(struct pe_event *e);
void pe_change_period(struct pe_event *e, void (*set)(struct pe_event *e, void *arg), void *arg);

/*
 * An event becomes ACTIVE, or is so no more: the tick looks at it only in between.  ctx->lock held;
 * see lockless.rst.
 */
static __always_inline void pe_freq_begin(struct pe_event *e)
{
	lockdep_assert_held(&pe_ctx(e)->lock);
	if (e->attr.freq)
		list_add_tail(&e->freq_entry, &e->slot->freq);
}

static __always_inline void pe_freq_end(struct pe_event *e)
{
	lockdep_assert_held(&pe_ctx(e)->lock);
	if (e->attr.freq)
		list_del_init(&e->freq_entry);
}

/*
 * The tick in which a passive event was throttled, if it was, is over.  This may not be the CPU
 * whose events write to its buffer: its next hit comes there, and ends the throttling.
 */
static inline void pe_throttle_expires(struct pe_event *e)
{
	e->hw.interrupts_seq = U64_MAX;
}

#endif /* _KERNEL_EVENTS_SCHED_H */
