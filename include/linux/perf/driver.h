/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Performance events: the PMU and what its driver may call.
 *
 * For drivers of PMUs.  It holds struct pmu, by which the core calls a driver, with the contract of
 * each operation; the calls of the other direction; and the attributes a PMU shows in sysfs.  What
 * a driver keeps in an event is in <linux/perf/event.h>, how it fills in a sample in
 * <linux/perf/sample.h>.
 */
#ifndef _LINUX_PERF_DRIVER_H
#define _LINUX_PERF_DRIVER_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/perf/event.h>
#include <linux/sched.h>
#include <linux/sysfs.h>
#include <linux/types.h>
#include <asm/page.h>

struct kmem_cache;
struct mm_struct;
struct perf_cpu_pmu_context;	/* one PMU on one CPU: private to the scheduling layer */
struct perf_output_handle;

/* --------------------------------------------------------------------- PMUs */

/* pmu.capabilities */
#define PERF_PMU_CAP_NO_INTERRUPT	0x0001	/* cannot sample */
#define PERF_PMU_CAP_NO_NMI		0x0002	/* counts and samples outside of NMI only */
#define PERF_PMU_CAP_AUX_NO_SG		0x0004	/* AUX buffer must be one physical range */
#define PERF_PMU_CAP_EXTENDED_REGS	0x0008	/* can sample registers beyond the basic set */
#define PERF_PMU_CAP_EXCLUSIVE		0x0010	/* one event a context; CPU or task events */
#define PERF_PMU_CAP_ITRACE		0x0020	/* traces instructions: PERF_RECORD_ITRACE_START */
#define PERF_PMU_CAP_NO_EXCLUDE		0x0040	/* refuse all attr.exclude_* */
#define PERF_PMU_CAP_AUX_OUTPUT		0x0080	/* its events can write to a tracer's AUX area */
#define PERF_PMU_CAP_EXTENDED_HW_TYPE	0x0100	/* PMU type in the upper half of attr.config */
#define PERF_PMU_CAP_AUX_PAUSE		0x0200	/* understands PERF_EF_PAUSE and _RESUME */
#define PERF_PMU_CAP_AUX_PREFER_LARGE	0x0400	/* use high-order AUX pages when there are any */

/* Flags of start() and stop(), add() and del() */
#define PERF_EF_START		0x01	/* add: start counting too */
#define PERF_EF_RELOAD		0x02	/* start: program hw.period_left anew */
#define PERF_EF_UPDATE		0x04	/* stop: bring event->count up to date */
#define PERF_EF_PAUSE		0x08	/* stop: AUX tracing only, as little work as possible */
#define PERF_EF_RESUME		0x10	/* start: the opposite */

/* Flags of start_txn() */
#define PERF_PMU_TXN_ADD	0x1	/* add() of the members of a group follows */
#define PERF_PMU_TXN_READ	0x2	/* read() of the members of a group follows */

/**
 * enum perf_pmu_scope - which CPUs share one instance of the PMU
 * @PERF_PMU_SCOPE_NONE: every CPU has its own, or the driver takes care itself
 * @PERF_PMU_SCOPE_CORE: hardware threads of a core
 * @PERF_PMU_SCOPE_DIE: a die
 * @PERF_PMU_SCOPE_CLUSTER: a cluster
 * @PERF_PMU_SCOPE_PKG: a package
 * @PERF_PMU_SCOPE_SYS_WIDE: all CPUs
 * @PERF_PMU_MAX_SCOPE: number of scopes
 *
 * With a scope the core chooses one CPU of each instance, shows them in the cpumask attribute,
 * opens every event of the instance there and moves them when that CPU goes offline.
 */
enum perf_pmu_scope {
	PERF_PMU_SCOPE_NONE,
	PERF_PMU_SCOPE_CORE,
	PERF_PMU_SCOPE_DIE,
	PERF_PMU_SCOPE_CLUSTER,
	PERF_PMU_SCOPE_PKG,
	PERF_PMU_SCOPE_SYS_WIDE,
	PERF_PMU_MAX_SCOPE
};

/**
 * struct pmu - a performance monitoring unit, filled in by its driver
 *
 * The driver provides the operations, the descriptive members and keeps the struct until
 * perf_pmu_unregister() has returned.  Unused operations stay %NULL: the core then does nothing,
 * or what is said at the operation.  Required are event_init, add, del, start, stop and read.
 *
 * "PMU off" below means: between pmu_disable() and pmu_enable() on this CPU, interrupts disabled.
 */
struct pmu {
	/**
	 * @event_init: Is this event for this PMU, and can it be had?
	 *
	 * Task context, may sleep.  attr, cpu, hw.target, parent and group_leader are set; the
	 * event is in no context yet, though that of its group is pinned.  Sets hw, and perhaps
	 * destroy, event_caps and attach_state.
	 *
	 * Return: 0 when the event is valid; -ENOENT when it belongs to another PMU (the search
	 * goes on); any other error ends the search and reaches the user: -ENODEV not present,
	 * -EBUSY not available now, -EINVAL malformed, -EOPNOTSUPP this PMU cannot do it, -EACCES
	 * not permitted.
	 */
	int (*event_init)(struct perf_event *event);

	/**
	 * @add: Take a counter for @event and, with %PERF_EF_START, start it.
	 *
	 * Event's CPU, PMU off, context locked.  Without the flag the event is left as after a
	 * stop().  Within a transaction the check that the group fits may be left to commit_txn().
	 *
	 * Return: 0, or any error when there is no room; then nothing may remain taken.
	 */
	int (*add)(struct perf_event *event, int flags);
	/**
	 * @del: Give the counter back, after stopping it as with %PERF_EF_UPDATE if it is not yet.
	 *
	 * Context as for add().
	 */
	void (*del)(struct perf_event *event, int flags);
	/**
	 * @start: Let an added event count; %PERF_EF_RELOAD asks to program hw.period_left first
	 * and follows a stop() with %PERF_EF_UPDATE.
	 *
	 * Event's CPU, interrupts off, PMU off unless called from the PMU's own interrupt.  With
	 * %PERF_EF_RESUME: from any context, at any moment relative to a plain start() or stop(),
	 * though never nested in another pause or resume of the event; must not start an event that
	 * is stopped for another reason.
	 */
	void (*start)(struct perf_event *event, int flags);
	/**
	 * @stop: Halt an added event; it keeps its counter.  %PERF_EF_UPDATE asks for what read()
	 * does.
	 *
	 * Context as for start(), with %PERF_EF_PAUSE in the role of %PERF_EF_RESUME.  Drivers
	 * call their own when perf_event_overflow() says so, without flags.
	 */
	void (*stop)(struct perf_event *event, int flags);
	/**
	 * @read: Add what the counter saw since the last time to event->count and, when sampling,
	 * subtract it from hw.period_left.
	 *
	 * Event's CPU (or any in its scope, see PERF_EV_CAP_READ_*), interrupts off, perhaps in NMI
	 * and nested in another read() of the same event.
	 */
	void (*read)(struct perf_event *event);

	/** @pmu_enable: End of "PMU off": write out what was changed.  Interrupts off. */
	void (*pmu_enable)(struct pmu *pmu);
	/** @pmu_disable: Stop all counters of this CPU and hold the interrupt.  Never nested. */
	void (*pmu_disable)(struct pmu *pmu);

	/**
	 * @start_txn: A group comes: add() may skip its check (%PERF_PMU_TXN_ADD), or read() may
	 * be collected and done in one access (%PERF_PMU_TXN_READ).  All three calls: this CPU,
	 * interrupts off; for TXN_ADD the PMU is off from here to the end.
	 */
	void (*start_txn)(struct pmu *pmu, unsigned int txn_flags);
	/**
	 * @commit_txn: Does the group fit? / Do the collected reads.
	 *
	 * Return: 0 and the transaction is over; an error and it stays open until cancel_txn().
	 */
	int (*commit_txn)(struct pmu *pmu);
	/** @cancel_txn: Forget the transaction; each successful add() in it gets its del() */
	void (*cancel_txn)(struct pmu *pmu);

	/**
	 * @check_period: Would @value do as period (attr.freq: as frequency)?
	 *
	 * Task context.  Return: 0, or any error to have the user get -EINVAL.
	 */
	int (*check_period)(struct perf_event *event, u64 value);
	/**
	 * @least_period: What is the shortest period of @event, if each may be another one?
	 *
	 * A driver that has this stores hw.sample_period in hw.last_period and loads it when a
	 * period ends, before it calls perf_event_overflow(), which may store another one there.
	 * NULL: the periods of none of its events can vary.
	 *
	 * Task context, a sampling event without attr.freq.
	 * Return: the least value of hw.sample_period; 0: the periods of this event cannot vary.
	 */
	u64 (*least_period)(struct perf_event *event);
	/**
	 * @throttle: Stop @event because another one of its group is throttled.
	 *
	 * From perf_event_overflow() of that one, before its record is written.  @event then has
	 * PERF_HES_STOPPED and PERF_HES_UPTODATE, and a later @start has PERF_EF_RELOAD.  If it has
	 * overflowed itself and the driver is about to say so, it may count on until then:
	 * perf_event_overflow() will have it stopped.
	 * NULL: the others of a group go on, as in Linux 6.12.
	 *
	 * Return: false if it goes on: the driver may just be starting or stopping it.
	 */
	bool (*throttle)(struct perf_event *event);
	/**
	 * @filter: Leave this PMU alone on @cpu, as it is not the kind of CPU it drives.
	 *
	 * Interrupts off, context locked, @cpu is this one.  Return: true to skip.
	 */
	bool (*filter)(struct pmu *pmu, int cpu);

	/**
	 * @sched_task: A task comes or goes while some event has asked by perf_sched_cb_inc().
	 *
	 * @pmu_ctx is this PMU's part of the task's context, or of the CPU's if the task has none;
	 * @task the task that comes (@sched_in) or goes.  This CPU, PMU off, rq lock held.
	 */
	void (*sched_task)(struct perf_event_pmu_context *pmu_ctx, struct task_struct *task,
			   bool sched_in);
	/**
	 * @task_ctx_cache: where perf_event_pmu_context.task_ctx_data comes from; may be destroyed
	 * when all PMUs that have it are unregistered, and after rcu_barrier()
	 */
	struct kmem_cache		*task_ctx_cache;

	/** @event_mapped: @event was mapped into @mm.  Task context, mmap lock held for writing. */
	void (*event_mapped)(struct perf_event *event, struct mm_struct *mm);
	/**
	 * @event_unmapped: The opposite.  @mm need not be that of the current task.
	 *
	 * Not called any more once perf_pmu_unregister() has begun, though mappings are left then:
	 * what the driver keeps for an event, it gives back in event->destroy().
	 */
	void (*event_unmapped)(struct perf_event *event, struct mm_struct *mm);
	/**
	 * @event_idx: Value for perf_event_mmap_page.index: number of the counter for a direct read
	 * by user space plus one, 0 (as without this operation) when impossible.  Any CPU, any
	 * context, preemption off.
	 */
	int (*event_idx)(struct perf_event *event);

	/**
	 * @setup_aux: Make the driver's description of an AUX area of @nr_pages pages.
	 *
	 * @pages are their kernel addresses; with @overwrite the area is a snapshot that is written
	 * round and round.  Task context, may sleep; once per area.  Return: the description, which
	 * perf_aux_output_begin() hands out, or %NULL to refuse the mapping.
	 */
	void *(*setup_aux)(struct perf_event *event, void **pages, int nr_pages, bool overwrite);
	/** @free_aux: Free that.  Task context; no event writes the area any more. */
	void (*free_aux)(void *aux);
	/**
	 * @snapshot_aux: Copy the last @size bytes of AUX data to @handle by perf_output_copy_aux()
	 * without disturbing the state of @event.
	 *
	 * Event's CPU, from the interrupt of any PMU, perhaps within a start() or stop() of this
	 * one.
	 * Return: bytes copied, or an error.
	 */
	long (*snapshot_aux)(struct perf_event *event, struct perf_output_handle *handle,
			     unsigned long size);
	/**
	 * @aux_output_match: May @event of another PMU write to the AUX area of this one?
	 *
	 * Task context, at open.  Return: nonzero for yes.
	 */
	int (*aux_output_match)(struct perf_event *event);

	/**
	 * @addr_filters_validate: Can the hardware do this list of struct perf_addr_filter?
	 *
	 * Task context, serialised with nothing.  Return: 0 or an error for the user.
	 */
	int (*addr_filters_validate)(struct list_head *filters);
	/**
	 * @addr_filters_sync: Translate addr_filter_ranges to hw.addr_filters.
	 *
	 * From perf_event_addr_filters_sync() in the driver's own start(), filter lock held.
	 */
	void (*addr_filters_sync)(struct perf_event *event);

	/** @name: as in sysfs; set by perf_pmu_register() */
	const char			*name;
	/** @type: attr.type of its events; set by perf_pmu_register() */
	int				type;
	/** @capabilities: PERF_PMU_CAP_* */
	int				capabilities;
	/** @task_ctx_nr: perf_hw_context, perf_sw_context, perf_invalid_context (no task events) */
	int				task_ctx_nr;
	/** @scope: enum perf_pmu_scope */
	unsigned int			scope;
	/** @nr_addr_filters: most filters an event can have; 0: none */
	unsigned int			nr_addr_filters;
	/** @module: held by each event */
	struct module			*module;
	/** @parent: of the device in sysfs, may be %NULL */
	struct device			*parent;
	/** @attr_groups: of the device, made with it */
	const struct attribute_group	**attr_groups;
	/** @attr_update: of the device, may hide or replace attributes of the former */
	const struct attribute_group	**attr_update;

	/** @dev: core: the device in sysfs */
	struct device			*dev;
	/** @entry: core: list of all PMUs */
	struct list_head		entry;
	/** @pmu_disable_count: core: depth of perf_pmu_disable() on each CPU */
	int __percpu			*pmu_disable_count;
	/** @cpu_pmu_context: core: its state on each CPU */
	struct perf_cpu_pmu_context	__percpu *cpu_pmu_context;
	/** @exclusive_cnt: core: task events if positive, minus the CPU events if negative */
	atomic_t			exclusive_cnt;
	/** @hrtimer_interval_ms: core: time between two rotations */
	int				hrtimer_interval_ms;
	/** @lasting: core: one of the core's own PMUs, which never leave */
	bool				lasting;
	/** @gone: core: it has left the registry */
	bool				gone;
	/** @serial: core: number of its registration, which no other one ever has */
	unsigned long			serial;
};

static inline int is_exclusive_pmu(struct pmu *pmu)
{
	return pmu->capabilities & PERF_PMU_CAP_EXCLUSIVE;
}

/**
 * arch_perf_update_userpage - architecture's part of the mmap()ed page
 * @event: the event
 * @userpg: the page, inside its seqcount write section
 * @now: perf clock
 */
void arch_perf_update_userpage(struct perf_event *event, struct perf_event_mmap_page *userpg,
			       u64 now);

#ifdef CONFIG_PERF_EVENTS

/* ------------------------------------------------------------ for PMU drivers */

/**
 * perf_pmu_register - make a PMU available
 * @pmu: filled in, see struct pmu; kept until perf_pmu_unregister()
 * @name: in sysfs; must stay valid
 * @type: a PERF_TYPE_* number, or -1 to be given a free one
 *
 * Task context.  Events may be opened before this returns.
 *
 * Return: 0; -EINVAL without a name or with a bad scope; -ENOMEM; -ENOSPC when the number is
 * taken; or an error of sysfs.
 */
int perf_pmu_register(struct pmu *pmu, const char *name, int type);
/**
 * perf_pmu_unregister - withdraw a PMU
 * @pmu: the PMU; no event of it may be left (they hold pmu.module)
 *
 * Task context; waits until no event_init() runs.
 */
void perf_pmu_unregister(struct pmu *pmu);
/**
 * perf_pmu_migrate_context - move all CPU events of an uncore PMU
 * @pmu: the PMU
 * @src_cpu: the CPU they leave, perhaps just going offline
 * @dst_cpu: the CPU they go to, online
 *
 * Task context, from a CPU hotplug callback.
 */
void perf_pmu_migrate_context(struct pmu *pmu, int src_cpu, int dst_cpu);
/*
 * Calls of pmu_disable() and pmu_enable() that nest; interrupts off, this CPU.  The operations run
 * for the outermost pair only.
 */
void perf_pmu_disable(struct pmu *pmu);
void perf_pmu_enable(struct pmu *pmu);
/* Reschedule the PMU on this CPU, as what it can count has changed.  Interrupts off. */
void perf_pmu_resched(struct pmu *pmu);
/* Count the users of sched_task() on this CPU; from add() and del(). */
void perf_sched_cb_inc(struct pmu *pmu);
void perf_sched_cb_dec(struct pmu *pmu);
/**
 * perf_event_overflow - a sampling event has run through its period
 * @event: the event, active on this CPU
 * @data: after perf_sample_data_init(), plus whatever the driver knows
 * @regs: where it happened
 *
 * NMI-safe.  The driver has updated the count and set the next period already.
 *
 * Return: nonzero when the driver must stop the event now, without %PERF_EF_UPDATE: it is
 * throttled or has reached its limit.
 */
int perf_event_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs);
/* The throttling part of that alone, for an interrupt without a sample.  Same return value. */
int perf_event_account_interrupt(struct perf_event *event);
/* The same after the driver has set hw.last_period anew: @period is the one that ended. */
int perf_event_account_period(struct perf_event *event, u64 period);
/* Tell how long one interrupt took: too long in the average lowers the maximum sample rate. */
void perf_sample_event_took(u64 sample_len_ns);
/* Record @lost samples the hardware dropped.  From the PMU's interrupt. */
void perf_log_lost_samples(struct perf_event *event, u64 lost);
/* Rewrite the mmap()ed page after a change of counter, count or times.  NMI-safe, event's CPU. */
void perf_event_update_userpage(struct perf_event *event);
/* Dump the state of this CPU's counters to the log; does nothing unless the driver defines it. */
void perf_event_print_debug(void);

/* AUX area.  All from the driver of @event, on its CPU, in start(), stop() or its interrupt. */

/**
 * perf_aux_output_begin - get hold of the AUX area
 * @handle: filled in: head where to write, size of the free space
 * @event: the tracer
 *
 * Return: what setup_aux() returned, or %NULL when there is no area, no room, or no use in
 * tracing now; in the second case the event is disabled as well.
 */
void *perf_aux_output_begin(struct perf_output_handle *handle, struct perf_event *event);
/* Publish @size new bytes (overwrite mode: the new position) and let go. */
void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size);
/* Pass over @size bytes to align the next write.  Return: 0, or -ENOSPC beyond the free space. */
int perf_aux_output_skip(struct perf_output_handle *handle, unsigned long size);
/* Add PERF_AUX_FLAG_* to the record that perf_aux_output_end() will write. */
void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags);
/* The driver's description of the area a handle is on, %NULL when it is on none. */
void *perf_get_aux(struct perf_output_handle *handle);
/* Copy bytes @from..@to of an AUX area, which may wrap, into a data record.  Return: bytes. */
long perf_output_copy_aux(struct perf_output_handle *aux_handle, struct perf_output_handle *handle,
			  unsigned long from, unsigned long to);
/* Once per event: trace data begins to arrive. */
void perf_event_itrace_started(struct perf_event *event);
/* Record the number under which the events of this group appear in the AUX data. */
void perf_report_aux_output_id(struct perf_event *event, u64 hw_id);
/* In start(): call addr_filters_sync() if the ranges have changed since. */
void perf_event_addr_filters_sync(struct perf_event *event);

/* The context of the current task on this CPU, %NULL when none; interrupts off. */
struct perf_event_context *perf_cpu_task_ctx(void);

/* ------------------------------------------------------- asking about PMUs */

/* Is it scheduled among the software events?  Not so in a group with hardware events. */
static inline int in_software_context(struct perf_event *event)
{
	return event->pmu_ctx->pmu->task_ctx_nr == perf_sw_context;
}

/* Can it fill an AUX area? */
static inline bool has_aux(struct perf_event *event)
{
	return event->pmu->setup_aux;
}

static inline bool has_addr_filter(struct perf_event *event)
{
	return event->pmu->nr_addr_filters;
}

#else /* !CONFIG_PERF_EVENTS */

PERF_OFF(perf_event_print_debug, void)
PERF_OFF(perf_aux_output_end, struct perf_output_handle *handle, unsigned long size)
PERF_OFF_RET(int, -EINVAL, perf_aux_output_skip, struct perf_output_handle *handle,
	     unsigned long size)
PERF_OFF_RET(void *, NULL, perf_aux_output_begin, struct perf_output_handle *handle,
	     struct perf_event *event)
PERF_OFF_RET(void *, NULL, perf_get_aux, struct perf_output_handle *handle)

#endif /* CONFIG_PERF_EVENTS */

/* -------------------------------------------------------- attributes in sysfs */

/**
 * struct perf_pmu_events_attr - a named event in the events directory of a PMU
 * @attr: the attribute
 * @id: number for @attr.show
 * @event_str: text that perf_event_sysfs_show() prints, else it prints @id as event=0x..
 */
struct perf_pmu_events_attr {
	struct device_attribute	attr;
	u64			id;
	const char		*event_str;
};

/* The same with one text for CPUs with hyperthreading and one for those without. */
struct perf_pmu_events_ht_attr {
	struct device_attribute	attr;
	u64			id;
	const char		*event_str_ht, *event_str_noht;
};

/* The same for the core types in the set @pmu_type. */
struct perf_pmu_events_hybrid_attr {
	struct device_attribute	attr;
	u64			id;
	const char		*event_str;
	u64			pmu_type;
};

/* A field of attr.config* for the core types in the set @pmu_type. */
struct perf_pmu_format_hybrid_attr {
	struct device_attribute	attr;
	u64			pmu_type;
};

ssize_t perf_event_sysfs_show(struct device *dev, struct device_attribute *attr, char *page);

/* A struct perf_pmu_events_attr: with a number; with a text; as an anonymous array element. */
#define PMU_EVENT_ATTR(_name, _var, _id, _show)						\
static struct perf_pmu_events_attr _var = { .id = _id, .attr = __ATTR(_name, 0444, _show, NULL), };

#define PMU_EVENT_ATTR_STRING(_name, _var, _str)					\
static struct perf_pmu_events_attr _var = {						\
	.event_str = _str, .attr = __ATTR(_name, 0444, perf_event_sysfs_show, NULL),	\
};

#define PMU_EVENT_ATTR_ID(_name, _show, _id)						\
	(&((struct perf_pmu_events_attr[]) {						\
		{ .id = _id, .attr = __ATTR(_name, 0444, _show, NULL), },		\
	})[0].attr.attr)

/* The attribute format_attr_<name>: a field of attr.config* in the format directory of a PMU. */
#define PMU_FORMAT_ATTR(_name, _format)							\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attr, char *page) \
{											\
	BUILD_BUG_ON(sizeof(_format) >= PAGE_SIZE);					\
	return sprintf(page, _format "\n");						\
}											\
static struct device_attribute format_attr_##_name = __ATTR_RO(_name)

#endif /* _LINUX_PERF_DRIVER_H */
