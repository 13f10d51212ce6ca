/* SPDX-License-Identifier: GPL-2.0 */
/* Layer 4: everything that makes a count or a record. */
#ifndef _KERNEL_EVENTS_SOURCES_H
#define _KERNEL_EVENTS_SOURCES_H

#include <linux/irq_work.h>
#include <linux/perf_format.h>
#include <linux/perf_virtual.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../sched/sched.h"

struct bpf_prog;
struct perf_ext_area;
struct trace_event_call;

/* overflow.c */
enum pe_throttling {
	PE_NEVER_THROTTLE,
	PE_MAY_THROTTLE,
};

int pe_overflow(struct pe_event *e, enum pe_throttling throttling, struct perf_sample_data *data,
		struct pt_regs *regs);
void pe_measure_rate(struct pe_event *e, u64 period, bool several);
void pe_limits_init(void);
int pe_limits_set_rate(int rate);		/* sysctls: after the value was checked */
int pe_limits_set_percent(int percent);
void pe_limits_set_cpu(unsigned int per_tick);

/* cpu_limit.c: samples of all events of a CPU in one tick */
#ifdef CONFIG_PERF_EVENTS_EXT
unsigned int pe_cpu_limit(void);		/* 0: none */
void pe_cpu_limit_set(unsigned int per_tick);
bool pe_cpu_limit_count(void);
#else
static inline unsigned int pe_cpu_limit(void)
{
	return 0;
}

static inline bool pe_cpu_limit_count(void)
{
	return false;
}
#endif

/* Count a sample.  Return: so many it made in this tick. */
static __always_inline u64 pe_count_sample(struct pe_event *e)
{
	struct hw_perf_event *hw = &e->hw;
	u64 seq = __this_cpu_read(pe_cpu.throttle_seq);

	if (hw->interrupts_seq != seq) {
		hw->interrupts_seq = seq;
		hw->interrupts = 0;
	}
	return ++hw->interrupts;
}

/*
 * pe_overflow() of a sampling event that is not to be throttled, inlined as far as most of them
 * go.
 */
static __always_inline int pe_overflow_once(struct pe_event *e, struct perf_sample_data *data,
					    struct pt_regs *regs)
{
	perf_overflow_handler_t handler = READ_ONCE(e->overflow_handler);

	if (unlikely(READ_ONCE(e->sink->other_overflow)) || e->attr.freq)
		return pe_overflow(e, PE_NEVER_THROTTLE, data, regs);
	pe_count_sample(e);
	handler(&e->pub, data, regs);
	return 0;
}

/* bpf.c */
#if defined(CONFIG_BPF_SYSCALL) && defined(CONFIG_EVENT_TRACING)
bool pe_bpf_passes(struct pe_event *e, struct perf_sample_data *data, struct pt_regs *regs);
int pe_bpf_attach(struct pe_event *e, struct bpf_prog *prog, u64 cookie);	/* ctx->mutex */
void pe_bpf_inherit(struct pe_event *e);
void pe_bpf_release(struct pe_event *e);
#else
static inline bool pe_bpf_passes(struct pe_event *e, struct perf_sample_data *data,
				 struct pt_regs *regs)
{
	return true;
}

static inline int pe_bpf_attach(struct pe_event *e, struct bpf_prog *prog, u64 cookie)
{
	return -ENOENT;
}

static inline void pe_bpf_inherit(struct pe_event *e)
{
}

static inline void pe_bpf_release(struct pe_event *e)
{
}
#endif

/* sigtrap.c */
void pe_sigtrap_send(struct pe_event *e);	/* from the task work of event.c */
void pe_sigtrap(struct pe_event *e, struct perf_sample_data *data, struct pt_regs *regs);

/* pending.c */
void pe_pending_init(struct pe_event *e);
void pe_pending_sync(struct pe_event *e);		/* no irq_work of e runs any more */
bool pe_pending_idle(struct pe_event *e);	/* e's memory may go, see pending.c */
void pe_pending_disable_due(struct pe_ctx *ctx, void *arg);	/* for pe_call() */

/* software.c, clock.c, tracepoint.c */
bool pe_software_passive(const struct pe_event *e);	/* can this event be hit unscheduled? */
bool pe_excludes(const struct pe_event *e, struct pt_regs *regs);
void pe_software_hit_away(struct pe_event *e, u64 nr, struct perf_sample_data *data,
			  struct pt_regs *regs);
bool pe_still_throttled(struct pe_event *e);
void pe_software_start(struct perf_event *event, int flags);	/* pmu operations that */
void pe_software_stop(struct perf_event *event, int flags);	/*   other PMUs share */
void pe_software_read(struct perf_event *event);
extern struct pmu pe_swevent_pmu, pe_cpu_clock_pmu, pe_task_clock_pmu;
extern struct pmu pe_tracepoint_pmu, pe_kprobe_pmu, pe_uprobe_pmu, pe_breakpoint_pmu;

/* periods.c */
struct pe_periods;
#ifdef CONFIG_PERF_EVENTS_EXT
u64 pe_software_least_period(struct perf_event *event);
void pe_periods_next(struct pe_event *e);
u64 pe_periods_divide(struct pe_event *e, struct pe_periods *p);
void pe_periods_set(struct pe_event *e, void *rule);	/* struct pe_period_rule, or NULL: off */
#else
#define pe_software_least_period	NULL
static inline void pe_periods_next(struct pe_event *e) { }

static inline u64 pe_periods_divide(struct pe_event *e, struct pe_periods *p)
{
	return 0;
}
#endif

/* notify.c: who is told of an overflow that makes a sample */
enum pe_tell {
	PE_TELL_AS_EVER,	/* the owner of the file, as Linux 6.12 does; and as records say */
	PE_TELL_NOBODY,		/* as records say */
	PE_TELL_ALL,
};

struct pe_notify;
enum pe_tell pe_notify_count(struct pe_notify *notify);
bool pe_notify_now(struct pe_event *e, struct pe_notify *notify);
void pe_notify_set(struct pe_event *e, const struct pe_notify *notify);
void pe_notify_stop(struct pe_event *e);
void pe_notify_restart(struct pe_ctx *ctx, void *arg);
void pe_notify_restart_group(struct pe_ctx *ctx, struct pe_event *leader);

/* format.c: samples that do not become records */
/**
 * struct pe_instance - an area and who has to do with it
 * @area: what the format sees
 * @format: it								I
 * @shown: the first page of the memory, for user space			I
 * @nr_pages: of all the memory						I
 * @charge: who pays for it							I
 * @refs: its file, each event that writes
 * @nr_events: that write and are not closed					A
 * @poll: EPOLL bits for the next poll()					A
 * @busy: a sample is being given, of a format that does not nest		A
 * @flip_lock: keeps those apart who flip it
 * @waitq: of poll()
 * @wakeup: wakes them
 * @free_work: ends it
 * @rcu: frees it
 */
struct pe_instance {
	struct perf_format_area	area;
	struct perf_format	*format;
	struct perf_ext_area	*shown;
	unsigned long		nr_pages;
	struct pe_charge	charge;
	refcount_t		refs;
	atomic_t		nr_events;
	atomic_t		poll;
	atomic_t		busy;
	struct mutex		flip_lock;	/* see above */
	wait_queue_head_t	waitq;
	struct irq_work		wakeup;
	struct work_struct	free_work;
	struct rcu_head		rcu;
};

struct pe_instance *pe_instance_make(const uuid_t *uuid, const void *arg, size_t size);
void pe_instance_put(struct pe_instance *inst);
void pe_instance_join(struct pe_instance *inst, struct pe_event *e);
struct pe_instance *pe_instance_part(struct pe_event *e);
unsigned int pe_instance_flip(struct pe_instance *inst);

enum pe_format_done {
	PE_FORMAT_NONE,
	PE_FORMAT_TAKEN,
	PE_FORMAT_STOPS,	/* and the event has to be stopped */
};

enum pe_format_done pe_format_take(struct pe_event *e, struct perf_sample_data *data,
				   struct pt_regs *regs);
#ifdef CONFIG_PERF_EVENTS_EXT
void pe_format_tell(struct pe_event *e);
void pe_format_closed(struct pe_event *e);
void pe_format_forget(struct pe_event *e);
ssize_t pe_formats_show(char *buf);
#else
static inline void pe_format_closed(struct pe_event *e) { }
#endif

/* trigger.c */
#ifdef CONFIG_PERF_EVENTS_EXT
void pe_trigger_count(struct pe_event *e);
bool pe_trigger_is_due(const struct pe_event *e);
void pe_trigger_end_turn(struct pe_event *e);
void pe_trigger_set(struct pe_event *e, u32 threshold);
#else
static inline void pe_trigger_count(struct pe_event *e) { }
static inline bool pe_trigger_is_due(const struct pe_event *e)
{
	return false;
}

static inline void pe_trigger_end_turn(struct pe_event *e) { }
#endif

/* hold.c */
void pe_hold(struct pe_event *e);
bool pe_hold_wait(struct pe_event *e);		/* from the task work of life/ext.c */
void pe_hold_release(struct pe_event *e);
void pe_hold_wake(struct pe_event *e);

/* virtual.c */
/**
 * struct pe_resource - what an event of such a PMU shows
 * @v: how it is read; NULL when it has been withdrawn			R, pe_resources_lock
 * @sum: @v->sum							I
 * @public: @v->public							I
 * @owner: @v->owner							I
 * @id: attr.config							I
 * @refs: its registration and the opened events
 *
 * event->pmu_private of an event and of its copies.
 */
struct pe_resource {
	const struct perf_virtual __rcu	*v;
	bool				sum;
	bool				public;
	struct module			*owner;
	int				id;
	refcount_t			refs;
};

extern struct mutex pe_resources_lock;
struct idr;
extern struct idr pe_resources;			/* by id; pe_resources_lock */
extern struct pmu pe_virtual_pmu;

static inline bool pe_is_virtual(const struct pe_event *e)
{
	return IS_ENABLED(CONFIG_PERF_EVENTS_EXT) && e->pmu == &pe_virtual_pmu;
}

int pe_virtual_permit(const struct pe_event *e);
void pe_resource_put(struct pe_resource *r);
int pe_resource_check_attr(struct pe_event *e);
int pe_resource_add(struct perf_event *event, int flags);	/* pmu operations that other */
void pe_resource_del(struct perf_event *event, int flags);	/*   PMUs share */
void pe_resource_start(struct perf_event *event, int flags);
void pe_resource_stop(struct perf_event *event, int flags);
void pe_resource_read(struct perf_event *event);

/* cost_pmu.c */
extern struct pmu pe_cost_pmu;

/* resources.c: what the kernel itself has to show */
extern struct perf_virtual pe_kernel_resources[];
extern const unsigned int pe_nr_kernel_resources;

/* breakpoint_slots.c */
int pe_bp_slots_init(void);
unsigned int pe_bp_slots(u64 bp_type);
int pe_bp_slot_retype(struct perf_event *bp, u64 bp_type);

/* sideband.c: routing */
typedef void (*pe_sideband_fn)(struct pe_event *e, void *arg);
void pe_sideband_each(u32 wanted, struct pe_ctx *task_ctx, pe_sideband_fn fn, void *arg);
bool pe_sideband_wanted(u32 wanted, struct pe_ctx *task_ctx);
unsigned int pe_sideband_pad(char *name);
#define PE_NR_SIDEBAND	(PE_SB_CHAIN + 1)
extern atomic_t pe_sideband_users[];		/* indexed by enum pe_sideband */
extern atomic_t pe_build_id_users;		/* sideband_mmap.c */

/* Does an event in the whole system ask for this kind of record? */
static inline bool pe_sideband_used(enum pe_sideband kind)
{
	return atomic_read(&pe_sideband_users[kind]);
}

/* sideband_chain.c */
void pe_sideband_chain(struct callback_head *work);
void pe_sideband_chain_now(void);

/* sideband_task.c */
void pe_sideband_exit(struct task_struct *task, struct pe_ctx *ctx);
void pe_sideband_fork(struct task_struct *task);
void pe_sideband_switch_out(struct task_struct *prev, struct task_struct *next);
void pe_sideband_switch_in(struct task_struct *prev);
void pe_sideband_cgroup(struct cgroup *cgrp);

/* address_filter.c */
extern atomic_t pe_file_filter_users;	/* events with a filter of a file */

/**
 * struct pe_filter_def - an address filter as it is written
 * @action: what it does
 * @offset: an address of the kernel, or in the file
 * @size: bytes, or 0
 * @file: its name, or NULL
 */
struct pe_filter_def {
	enum perf_addr_filter_action_t	action;
	unsigned long			offset;
	unsigned long			size;
	const char			*file;
};

/* A mapping of @size bytes from @offset of a file, at @start. */
struct pe_filter_map {
	unsigned long	start;
	unsigned long	size;
	unsigned long	offset;
};

/* A list of struct perf_addr_filter that owns them. */
struct pe_filter_draft {
	struct list_head	list;
	unsigned int		nr;
	unsigned int		nr_files;
};

int pe_filter_parse(char **text, struct pe_filter_def *def);
bool pe_filter_range(const struct perf_addr_filter *filter, const struct pe_filter_map *map,
		     struct perf_addr_filter_range *range);
int pe_addr_filters_make(struct pe_filter_draft *draft, struct pe_event *e, char *text);
void pe_addr_filters_free(struct pe_filter_draft *draft);
struct mutex *pe_addr_filters_mutex(struct pe_event *e);
int pe_addr_filters_check(struct pe_event *e, struct pe_filter_draft *draft);
void pe_addr_filters_exchange(struct pe_event *e, struct pe_filter_draft *draft);
void pe_addr_filters_apply(struct pe_event *e);
int pe_addr_filters_init(struct pe_event *e);
void pe_addr_filters_drop(struct pe_event *e);
void pe_addr_filters_fini(struct pe_event *e);
void pe_addr_filters_mmap(const struct vm_area_struct *vma);
void pe_addr_filters_exec(void);

static inline bool pe_addr_filters_used(void)
{
	return atomic_read(&pe_file_filter_users);
}

#endif /* _KERNEL_EVENTS_SOURCES_H */
