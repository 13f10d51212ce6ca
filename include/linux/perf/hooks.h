/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Performance events: where the rest of the kernel calls in.
 *
 * For the scheduler, fork, exec, exit and prctl; mm and whatever loads code; tracing, breakpoints
 * and the sources of software events; boot, CPU hotplug and power management; and the header of
 * an architecture, <asm/perf_event.h>, which may put its own in place of some.  A hook whose
 * events are not counted costs a patched-out branch.
 */
#ifndef _LINUX_PERF_HOOKS_H
#define _LINUX_PERF_HOOKS_H

#include <linux/cgroup.h>
#include <linux/ftrace.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/perf/event.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <asm/ptrace.h>
#ifdef CONFIG_PERF_EVENTS
/*
 * Behind the others: that of some architectures includes <linux/perf_event.h>.  Before
 * <linux/perf_regs.h>, which has a constant in place of what powerpc's declares.  And nowhere else:
 * powerpc's does not bear to be included twice.
 */
#include <asm/perf_event.h>
#endif

struct vm_area_struct;

/* ----------------------------------------------------------------- cgroups */

#ifdef CONFIG_CGROUP_PERF
struct perf_cgroup_info;	/* a cgroup's events on one CPU: private */

/**
 * struct perf_cgroup - a cgroup of the perf_event controller
 * @css: the cgroup
 * @info: its events, %NULL as long as there were none
 */
struct perf_cgroup {
	struct cgroup_subsys_state	css;
	struct perf_cgroup_info		__percpu *info;
};

/*
 * The cgroup of a task.  The caller keeps it from going away: RCU, a reference, or the lock of a
 * context with cgroup events.  The scheduler's callers hold the rq lock, hence no check.
 */
static inline struct perf_cgroup *perf_cgroup_from_task(struct task_struct *task)
{
	return container_of(task_css_check(task, perf_event_cgrp_id, true),
			    struct perf_cgroup, css);
}
#endif

#ifdef CONFIG_PERF_EVENTS

/* ---------------------------------------------- hooks of the rest of the kernel */

void perf_event_init(void);			/* boot, before other CPUs and before SMP PMUs */
void perf_event_task_tick(void);		/* each tick, interrupts off */

/* Life of a task.  Fork: init, then fork when it cannot fail any more, else free. */
int perf_event_init_task(struct task_struct *child, u64 clone_flags);
void perf_event_fork(struct task_struct *tsk);
void perf_event_free_task(struct task_struct *task);
/* Exit: exit while it still is current, delayed_put when the last reference goes. */
void perf_event_exit_task(struct task_struct *child);
void perf_event_delayed_put(struct task_struct *task);
void perf_event_exec(void);
void perf_event_comm(struct task_struct *tsk, bool exec);
void perf_event_namespaces(struct task_struct *tsk);
/* prctl() on all events the current task has opened.  Return: 0. */
int perf_event_task_enable(void);
int perf_event_task_disable(void);

/* Changes of address spaces.  perf_event_mmap(): mmap lock held for writing. */
void perf_event_mmap(struct vm_area_struct *vma);
void perf_event_ksymbol(u16 ksym_type, u64 addr, u32 len, bool unregister, const char *sym);
void perf_event_bpf_event(struct bpf_prog *prog, enum perf_bpf_event_type type, u16 flags);
void perf_event_text_poke(const void *addr, const void *old_bytes, size_t old_len,
			  const void *new_bytes, size_t new_len);

/* Sources.  A recursion context keeps one source from nesting in itself; preemption off. */
int perf_swevent_get_recursion_context(void);
void perf_swevent_put_recursion_context(int rctx);
/* Begin the next period.  Return: periods that have passed. */
u64 perf_swevent_set_period(struct perf_event *event);
/* A breakpoint hit; @data are the registers. */
void perf_bp_event(struct perf_event *event, void *data);
/* A tracepoint hit: events on @head (or of @task) whose filter lets @record pass. */
void perf_tp_event(u16 event_type, u64 count, void *record, int entry_size, struct pt_regs *regs,
		   struct hlist_head *head, int rctx, struct task_struct *task);

/* -------------------------------------------------------- software event hits */

extern struct static_key perf_swevent_enabled[PERF_COUNT_SW_MAX];
extern struct static_key_false perf_sched_events;	/* some event needs the switch hooks */

/* Scratch registers of this CPU, one set for each recursion context. */
DECLARE_PER_CPU(struct pt_regs, __perf_regs[4]);

void __perf_event_task_sched_in(struct task_struct *prev, struct task_struct *task);
void __perf_event_task_sched_out(struct task_struct *prev, struct task_struct *next);
void __perf_event_task_stays_in(struct task_struct *prev, struct task_struct *task);
void __perf_event_task_stays_out(struct task_struct *prev, struct task_struct *next);
/* With and without taking a recursion context. */
void __perf_sw_event(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr);
void ___perf_sw_event(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr);

#ifndef perf_arch_fetch_caller_regs
static inline void perf_arch_fetch_caller_regs(struct pt_regs *regs, unsigned long ip)
{
}
#endif

/**
 * perf_fetch_caller_regs - registers good enough for a sample of the caller
 * @regs: zeroed before; gets at least ip, sp, and what user_mode() and the unwinder look at
 *
 * Must be inlined: ip becomes the address to which the function around it returns.
 */
static inline void perf_fetch_caller_regs(struct pt_regs *regs)
{
	perf_arch_fetch_caller_regs(regs, CALLER_ADDR0);
}

static __always_inline bool __perf_sw_enabled(int swevt)
{
	return static_key_false(&perf_swevent_enabled[swevt]);
}

/**
 * perf_sw_event - a software event has happened
 * @event_id: PERF_COUNT_SW_*, a constant
 * @nr: how many times
 * @regs: where
 * @addr: for PERF_SAMPLE_ADDR
 *
 * Any context.  A patched-out branch while @event_id is not counted.
 */
static __always_inline void perf_sw_event(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr)
{
	if (__perf_sw_enabled(event_id))
		__perf_sw_event(event_id, nr, regs, addr);
}

/*
 * For the scheduler: rq lock held, interrupts off.  Needs no recursion context, as no task is
 * switched out in the middle of a software event.
 */
static __always_inline void __perf_sw_event_sched(u32 event_id, u64 nr, u64 addr)
{
	struct pt_regs *caller = this_cpu_ptr(__perf_regs);

	perf_fetch_caller_regs(caller);
	___perf_sw_event(event_id, nr, caller, addr);
}

/* @task is being moved to another CPU; counted when it runs there. */
static inline void perf_event_task_migrate(struct task_struct *task)
{
	if (!__perf_sw_enabled(PERF_COUNT_SW_CPU_MIGRATIONS))
		return;
	task->sched_migrated = 1;
}

/* Each context is one task's: they are two members of a kin, or neither has a context. */
static __always_inline bool perf_have_the_same_events(const struct task_struct *a,
						      const struct task_struct *b)
{
	return READ_ONCE(a->perf_event_ctxp) == READ_ONCE(b->perf_event_ctxp);
}

/* @task is current again, after @prev. */
static inline void perf_event_task_sched_in(struct task_struct *prev, struct task_struct *task)
{
	if (static_branch_unlikely(&perf_sched_events)) {
		if (perf_have_the_same_events(prev, task))
			__perf_event_task_stays_in(prev, task);
		else
			__perf_event_task_sched_in(prev, task);
	}

	if (!__perf_sw_enabled(PERF_COUNT_SW_CPU_MIGRATIONS) || !task->sched_migrated)
		return;
	__perf_sw_event_sched(PERF_COUNT_SW_CPU_MIGRATIONS, 1, 0);
	task->sched_migrated = 0;
}

static __always_inline bool perf_cgroups_differ(struct task_struct *a, struct task_struct *b)
{
#ifdef CONFIG_CGROUP_PERF
	return perf_cgroup_from_task(a) != perf_cgroup_from_task(b);
#else
	return false;
#endif
}

/* @prev, still current, makes room for @next. */
static inline void perf_event_task_sched_out(struct task_struct *prev, struct task_struct *next)
{
	if (__perf_sw_enabled(PERF_COUNT_SW_CONTEXT_SWITCHES))
		__perf_sw_event_sched(PERF_COUNT_SW_CONTEXT_SWITCHES, 1, 0);
	if (__perf_sw_enabled(PERF_COUNT_SW_CGROUP_SWITCHES) && perf_cgroups_differ(prev, next))
		__perf_sw_event_sched(PERF_COUNT_SW_CGROUP_SWITCHES, 1, 0);
	if (static_branch_unlikely(&perf_sched_events)) {
		if (perf_have_the_same_events(prev, next))
			__perf_event_task_stays_out(prev, next);
		else
			__perf_event_task_sched_out(prev, next);
	}
}

/* Privilege and address of a sample; an architecture that knows better defines its own. */
#ifndef perf_misc_flags
#define perf_instruction_pointer(regs)	instruction_pointer(regs)
#define perf_misc_flags(regs) \
	(user_mode(regs) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL)
#endif
#ifndef perf_arch_bpf_user_pt_regs
#define perf_arch_bpf_user_pt_regs(regs) regs
#endif

#else /* !CONFIG_PERF_EVENTS */

PERF_OFF(perf_event_init, void)
PERF_OFF(perf_event_task_tick, void)
PERF_OFF(perf_event_exec, void)
PERF_OFF(perf_event_comm, struct task_struct *tsk, bool exec)
PERF_OFF(perf_event_fork, struct task_struct *tsk)
PERF_OFF(perf_event_namespaces, struct task_struct *tsk)
PERF_OFF(perf_event_exit_task, struct task_struct *child)
PERF_OFF(perf_event_free_task, struct task_struct *task)
PERF_OFF(perf_event_delayed_put, struct task_struct *task)
PERF_OFF(perf_event_task_migrate, struct task_struct *task)
PERF_OFF(perf_event_task_sched_in, struct task_struct *prev, struct task_struct *task)
PERF_OFF(perf_event_task_sched_out, struct task_struct *prev, struct task_struct *next)
PERF_OFF(perf_event_mmap, struct vm_area_struct *vma)
PERF_OFF(perf_event_ksymbol, u16 ksym_type, u64 addr, u32 len, bool unregister, const char *sym)
PERF_OFF(perf_event_bpf_event, struct bpf_prog *prog, enum perf_bpf_event_type type, u16 flags)
PERF_OFF(perf_event_text_poke, const void *addr, const void *old_bytes, size_t old_len,
	 const void *new_bytes, size_t new_len)
PERF_OFF(perf_sw_event, u32 event_id, u64 nr, struct pt_regs *regs, u64 addr)
PERF_OFF(perf_bp_event, struct perf_event *event, void *data)
PERF_OFF(perf_swevent_put_recursion_context, int rctx)
PERF_OFF_RET(int, 0, perf_event_init_task, struct task_struct *child, u64 clone_flags)
PERF_OFF_RET(u64, 0, perf_swevent_set_period, struct perf_event *event)
PERF_OFF_RET(int, -1, perf_swevent_get_recursion_context, void)
PERF_OFF_RET(int, -EINVAL, perf_event_task_enable, void)
PERF_OFF_RET(int, -EINVAL, perf_event_task_disable, void)

#endif /* CONFIG_PERF_EVENTS */

/* ------------------------------------------------ CPU hotplug and power states */

/* Steps of CPU hotplug, up and down, at both CPUHP_PERF_PREPARE and CPUHP_AP_PERF_ONLINE. */
#ifdef CONFIG_PERF_EVENTS
int perf_event_init_cpu(unsigned int cpu);
int perf_event_exit_cpu(unsigned int cpu);
#else
#define perf_event_exit_cpu	NULL
#define perf_event_init_cpu	NULL
#endif

/* Intel: load the debug store of this CPU anew after resume. */
#if defined(CONFIG_CPU_SUP_INTEL) && defined(CONFIG_PERF_EVENTS)
void perf_restore_debug_store(void);
#else
static inline void perf_restore_debug_store(void)
{
}
#endif

/* Told before and after a low-power state (@mode: true before); interrupts off. */
#ifndef PERF_NEEDS_LOPWR_CB
static inline void perf_lopwr_cb(bool mode)
{
}
#endif

#endif /* _LINUX_PERF_HOOKS_H */
