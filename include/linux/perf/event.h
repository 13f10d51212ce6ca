/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Performance events: the event and the context it is in.
 *
 * For every reader of <linux/perf_event.h>; the other headers of this folder stand on this one.
 * It holds the public part of the objects, what of an event belongs to its PMU's driver, and the
 * questions that the attributes of an event answer.
 */
#ifndef _LINUX_PERF_EVENT_OBJECT_H
#define _LINUX_PERF_EVENT_OBJECT_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/path.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <uapi/linux/perf_event.h>
#ifdef CONFIG_PERF_EVENTS
#include <asm/local64.h>
#endif
#ifdef CONFIG_HAVE_HW_BREAKPOINT
#include <asm/hw_breakpoint.h>
#endif

struct bpf_prog;
struct event_filter;
struct pe_bp_tally;		/* what a breakpoint's slot is booked on: kernel/events/sources */
struct perf_buffer;		/* data and AUX pages: kernel/events/ring/ring.h */
struct perf_event;
struct perf_sample_data;
struct pid_namespace;
struct pmu;
struct pt_regs;
struct task_struct;
struct trace_event_call;

/**
 * typedef perf_overflow_handler_t - what to do with a sample
 * @event: the event that overflowed
 * @data: sample with at least the period set
 * @regs: registers at the overflow
 *
 * Runs on the event's CPU in whatever context the overflow was noticed, often NMI.
 */
typedef void (*perf_overflow_handler_t)(struct perf_event *event, struct perf_sample_data *data,
					struct pt_regs *regs);

/* -------------------------------------------------------- address filters */

enum perf_addr_filter_action_t {
	PERF_ADDR_FILTER_ACTION_STOP	= 0,	/* stop tracing when this address is reached */
	PERF_ADDR_FILTER_ACTION_START	= 1,	/* start there */
	PERF_ADDR_FILTER_ACTION_FILTER	= 2,	/* trace inside the range only */
};

/**
 * struct perf_addr_filter - one filter as the user wrote it
 * @action: what it does
 * @offset: first byte, an offset into @path or a kernel address
 * @size: bytes; 0 means the single address
 * @path: the object file; path.dentry is %NULL for kernel addresses
 * @entry: in perf_addr_filters_head.list
 */
struct perf_addr_filter {
	enum perf_addr_filter_action_t	action;
	unsigned long			offset, size;
	struct path			path;
	struct list_head		entry;
};

/**
 * struct perf_addr_filter_range - where a filter is mapped now
 * @start: first virtual address; 0 while the file is not mapped
 * @size: bytes
 */
struct perf_addr_filter_range {
	unsigned long	start, size;
};

/**
 * struct perf_addr_filters_head - all filters of an event and of its inherited children
 * @lock: protects @list and, in the event and its children, the ranges and their generation
 * @nr_file_filters: how many name a file, hence need mmap tracking
 * @list: struct perf_addr_filter
 */
struct perf_addr_filters_head {
	raw_spinlock_t		lock;
	unsigned int		nr_file_filters;
	struct list_head	list;
};

/* ----------------------------------------------- the driver's part of an event */

/**
 * struct hw_perf_event_extra - a register that an event needs besides its counter
 * @config: value to load
 * @reg: MSR or index
 * @alloc: the register is already taken for this event
 * @idx: which of the shared registers
 */
struct hw_perf_event_extra {
	u64		config;
	unsigned int	reg;
	int		alloc;
	int		idx;
};

/* hw_perf_event.flags: the low bits are the architecture's, the rest is common. */
#define PERF_EVENT_FLAG_USER_READ_CNT	0x80000000	/* user space reads the counter directly */
#define PERF_EVENT_FLAG_ARCH		0x003fffff
static_assert(!(PERF_EVENT_FLAG_ARCH & PERF_EVENT_FLAG_USER_READ_CNT));

/* hw_perf_event.state: what PERF_EF_* calls left behind; owned by the driver. */
#define PERF_HES_STOPPED	0x01	/* not counting */
#define PERF_HES_UPTODATE	0x02	/* event->count holds everything the counter saw */
#define PERF_HES_ARCH		0x04	/* free for the architecture */

/**
 * struct hw_perf_event - what the PMU driver keeps in an event
 *
 * When pmu->event_init() is called, @target and the sampling period are set and the rest is zero.
 * While the event is scheduled in, only its CPU writes here, with interrupts off or from the PMU's
 * interrupt.  The arms of the union are for one kind of PMU each:
 *
 * @config: counter: event selection
 * @last_tag: counter: use of the counter at which it was last programmed
 * @config_base: counter: address of the control register
 * @event_base: counter: address of the count register
 * @event_base_rdpmc: counter: number for direct reads
 * @idx: counter: index, -1 for none
 * @last_cpu: counter: where it was last
 * @flags: counter: PERF_EVENT_FLAG_* and the architecture's
 * @extra_reg: counter: additional register
 * @branch_reg: counter: the same for branch records
 * @aux_config: AUX tracer: its control register
 * @aux_paused: AUX tracer: paused.  May change at any moment, hence not in @state.
 * @hrtimer: cpu-clock, task-clock: timer for sampling
 * @tp_list: tracepoint, probe: in the list of the trace call
 * @info: breakpoint: the architecture's description
 * @bp_tally: breakpoint of a task: what its slot is booked on
 * @pwr_acc: AMD power: accumulated power
 * @ptsc: AMD power: time stamp
 * @iommu_bank: AMD IOMMU: counter bank
 * @iommu_cntr: AMD IOMMU: counter
 * @padding: AMD IOMMU: none
 * @conf: AMD IOMMU: what to count
 * @conf1: AMD IOMMU: what to match
 * @saved_metric: counting top-down group: metrics kept over a context switch
 * @saved_slots: counting top-down group: slots kept over a context switch
 */
struct hw_perf_event {
#ifdef CONFIG_PERF_EVENTS
	/** @sample_period: events per sample to program next; 0 for a counting event */
	u64			sample_period;
	union {
		struct {
			/** @last_period: the period that the counter is in */
			u64		last_period;
			/**
			 * @period_left: events until the next sample, <= 0 when due; where software
			 * counts, it counts this up to 0
			 */
			local64_t	period_left;
		};
		struct {
			u64		saved_metric;
			u64		saved_slots;
		};
	};
	/** @prev_count: last raw value read, moved by cmpxchg so that read() may nest */
	local64_t		prev_count;
	/** @state: PERF_HES_* */
	int			state;
	/** @member: x86: number in the masks of its group, where counters reload one another */
	unsigned int		member;

	union {
		struct {
			u64				config, last_tag;
			unsigned long			config_base, event_base;
			int				event_base_rdpmc, idx;
			int				last_cpu, flags;
			struct hw_perf_event_extra	extra_reg, branch_reg;
		};
		struct {
			u64			aux_config;
			unsigned int		aux_paused;
		};
		struct {
			struct hrtimer		hrtimer;
		};
		struct {
			struct list_head	tp_list;
		};
#ifdef CONFIG_HAVE_HW_BREAKPOINT
		struct {
			struct arch_hw_breakpoint	info;
			struct pe_bp_tally		*bp_tally;
		};
#endif
		struct {
			u64			pwr_acc, ptsc;
		};
		struct {
			u8			iommu_bank, iommu_cntr;
			u16			padding;
			u64			conf, conf1;
		};
	};

	/** @interrupts: samples since the last tick, or a mark that the event is throttled */
	u64			interrupts;
	/** @interrupts_seq: tick in which @interrupts was last reset */
	u64			interrupts_seq;
	/** @freq_time_stamp: when the sampling period was last adapted */
	u64			freq_time_stamp;
	/** @freq_count_stamp: the count at that time */
	u64			freq_count_stamp;

	/** @target: task the event follows, %NULL for a CPU event; set before event_init() */
	struct task_struct	*target;
	/** @addr_filters: filters in the form the hardware wants, allocated by the driver */
	void			*addr_filters;
	/** @addr_filters_gen: generation of the filters that the hardware has */
	unsigned long		addr_filters_gen;
#endif
};

/* ------------------------------------------------------------------- events */

/**
 * enum perf_event_state - where an event is in its life
 * @PERF_EVENT_STATE_DEAD: removed, waits for its last reference
 * @PERF_EVENT_STATE_REVOKED: its PMU has left; the count can still be read
 * @PERF_EVENT_STATE_EXIT: its task or its CPU is gone; it can still be read
 * @PERF_EVENT_STATE_ERROR: a pinned event that did not fit, or a sibling that lost its leader
 * @PERF_EVENT_STATE_OFF: disabled
 * @PERF_EVENT_STATE_INACTIVE: enabled, not counting now
 * @PERF_EVENT_STATE_ACTIVE: counting
 *
 * The order counts: negative is "not enabled".
 */
enum perf_event_state {
	PERF_EVENT_STATE_ACTIVE		= 1,
	PERF_EVENT_STATE_INACTIVE	= 0,
	PERF_EVENT_STATE_OFF		= -1,
	PERF_EVENT_STATE_ERROR		= -2,
	PERF_EVENT_STATE_EXIT		= -3,
	PERF_EVENT_STATE_REVOKED	= -4,
	PERF_EVENT_STATE_DEAD		= -5,
};

/* Tells drivers that perf_pmu_unregister() ends the events that are left. */
#define PERF_EVENT_STATE_REVOKED	PERF_EVENT_STATE_REVOKED

/* perf_event.attach_state: what must be undone at the end. */
#define PERF_ATTACH_CONTEXT	0x0001	/* is in its context */
#define PERF_ATTACH_GROUP	0x0002	/* is in its group */
#define PERF_ATTACH_TASK	0x0004	/* follows a task; set before event_init() */
#define PERF_ATTACH_TASK_DATA	0x0008	/* needs pmu->task_ctx_cache memory; set by the driver */
#define PERF_ATTACH_ITRACE	0x0010	/* the start of the trace has been recorded */
#define PERF_ATTACH_SCHED_CB	0x0020	/* large PEBS: needs pmu->sched_task(); set by the driver */
#define PERF_ATTACH_EXCLUSIVE	0x0080	/* counted in pmu->exclusive_cnt */
#define PERF_ATTACH_CALLCHAIN	0x0100	/* holds the call chain buffers */

/* perf_event.event_caps: set by event_init(), constant afterwards. */
#define PERF_EV_CAP_SOFTWARE		BIT(0)	/* counted by software, always fits */
#define PERF_EV_CAP_READ_ACTIVE_PKG	BIT(1)	/* readable anywhere in its package */
#define PERF_EV_CAP_SIBLING		BIT(2)	/* never a leader; alone: ERROR */
#define PERF_EV_CAP_READ_SCOPE		BIT(3)	/* readable on any CPU of pmu->scope */

/**
 * struct perf_event - one counter, public part
 *
 * Locking, by letter: C constant once the event is installed; X written under the lock of the
 * context on the event's CPU; A atomic; D owned by the driver; T owned by tracing, BPF or LSM.
 * Everything may be read by the driver inside its pmu operations.
 */
struct perf_event {
#ifdef CONFIG_PERF_EVENTS
	/** @hlist_entry: X: in the list its source looks at for every hit */
	struct hlist_node		hlist_entry;
	/** @state: X: never assigned outside kernel/events */
	enum perf_event_state		state;
	/** @oncpu: X: CPU that counts it now, -1 when none */
	int				oncpu;
	/** @count: A: events counted by this event alone, children not included */
	local64_t			count;
	/**
	 * @pmu: C: the PMU that counts it; unlike pmu_ctx->pmu never that of its group. One that
	 * does nothing takes its place when it leaves.
	 */
	struct pmu			*pmu;
	/** @overflow_handler: C: called for each sample */
	perf_overflow_handler_t		overflow_handler;
	/** @overflow_handler_context: C: argument of the counter's creator */
	void				*overflow_handler_context;
	/** @hw: D: state of the counter */
	struct hw_perf_event		hw;

	/** @attr: C: checked copy of what was asked for; event_init() may normalise it */
	struct perf_event_attr		attr;
	/** @parent: C: the event this one was inherited from, %NULL for an event with a handle */
	struct perf_event		*parent;
	/** @rb: its ring buffer; NMI-safe to read under RCU */
	struct perf_buffer __rcu	*rb;
	/** @clock: C: time stamps of its records come from here */
	u64				(*clock)(void);
	/** @id: C: unique, never 0 */
	u64				id;
	/** @header_size: C: bytes of fixed-size sample fields, for drivers that write */
	u16				header_size;
	/** @orig_type: C: attr.type before a driver redirected the event */
	__u32				orig_type;
	/** @pending_kill: POLL_* that SIGIO will carry */
	unsigned int			pending_kill;
	/** @event_limit: A: samples until the event disables itself (PERF_EVENT_IOC_REFRESH) */
	atomic_t			event_limit;
	/** @ns: C: pid namespace of the opener, in which ids are reported */
	struct pid_namespace		*ns;
	/** @lost_samples: A: samples that found no room */
	atomic64_t			lost_samples;

	/** @ctx: C: context of the task or of the CPU, %NULL in event_init() */
	struct perf_event_context	*ctx;
	/** @pmu_ctx: X: the PMU's part of @ctx; that of the leader for a member of a group */
	struct perf_event_pmu_context	*pmu_ctx;
	/** @group_leader: X: the event itself when it leads or is alone */
	struct perf_event		*group_leader;
	/** @sibling_list: X: leader: see for_each_sibling_event(); sibling: the link there */
	struct list_head		sibling_list;
	/** @nr_siblings: X: events in the group besides the leader */
	int				nr_siblings;
	/** @cpu: C: CPU asked for, -1 for any; moved by perf_pmu_migrate_context() */
	int				cpu;
	/** @event_caps: C: PERF_EV_CAP_* */
	int				event_caps;
	/** @attach_state: PERF_ATTACH_* */
	unsigned int			attach_state;
	/** @total_time_running: X: time spent counting up to the last change of state */
	u64				total_time_running;

	/** @active_entry: D: a list of the driver's choice */
	struct list_head		active_entry;
	/** @pmu_private: D: a pointer of the driver's choice */
	void				*pmu_private;
	/** @destroy: C: set by event_init(), called once in task context at the very end */
	void				(*destroy)(struct perf_event *event);
	/** @owner: task that opened it; %TASK_TOMBSTONE for a counter of the kernel */
	struct task_struct		*owner;
	/** @aux_event: X: the tracer whose AUX area takes the output of this event */
	struct perf_event		*aux_event;

	/** @addr_filters: of the parent: use perf_event_addr_filters() */
	struct perf_addr_filters_head	addr_filters;
	/** @addr_filter_ranges: current place of each filter, under addr_filters.lock */
	struct perf_addr_filter_range	*addr_filter_ranges;
	/** @addr_filters_gen: moves when the ranges do */
	unsigned long			addr_filters_gen;

	/** @prog: T: BPF program run before the overflow handler */
	struct bpf_prog			*prog;
	/** @bpf_cookie: T: value the program can ask for */
	u64				bpf_cookie;
#ifdef CONFIG_EVENT_TRACING
	/** @tp_event: T: trace event that feeds it */
	struct trace_event_call		*tp_event;
	/** @filter: T: compiled filter expression */
	struct event_filter		*filter;
#endif /* CONFIG_EVENT_TRACING */
#ifdef CONFIG_SECURITY
	/** @security: T: blob of the security module */
	void				*security;
#endif
#if defined(CONFIG_EVENT_TRACING) && defined(CONFIG_FUNCTION_TRACER)
	/** @ftrace_ops: T: of a ftrace:function event; only trace events have memory for it */
	struct ftrace_ops		ftrace_ops;
#endif
#endif /* CONFIG_PERF_EVENTS */
};

/**
 * struct perf_event_context - container of the events of one task or one CPU, public part
 * @task: the task, %NULL for a CPU
 * @nr_user: events that user space may read directly (PERF_EVENT_FLAG_USER_READ_CNT)
 *
 * Stable while the caller, with interrupts off, runs on the CPU or as the task it belongs to.
 */
struct perf_event_context {
	struct task_struct	*task;
	int			nr_user;
};

/**
 * struct perf_event_pmu_context - one PMU's events in one context, public part
 * @pmu: the PMU
 * @task_ctx_data: zeroed object of pmu->task_ctx_cache while an event with
 *	PERF_ATTACH_TASK_DATA is there, else %NULL; the driver owns its contents.
 *	While an event of a CPU has that flag, pmu->sched_task() finds what the
 *	task has here in any PMU context.
 */
struct perf_event_pmu_context {
	struct pmu	*pmu;
	void		*task_ctx_data;
};

/*
 * A group changes only with the mutex and the lock of its context held, and in a cross-call to the
 * CPU where the context is active.  So holding either, or having interrupts off there, will do to
 * walk it.
 */
#ifdef CONFIG_PROVE_LOCKING
void perf_assert_sibling_lock(struct perf_event *event);
#else
static inline void perf_assert_sibling_lock(struct perf_event *event) { }
#endif

/**
 * for_each_sibling_event - visit the group of a leader, without the leader
 * @sibling: cursor
 * @event: the leader; nothing is visited for any other event
 *
 * Drivers test with list_entry_is_head() whether the walk came to its end.
 */
#define for_each_sibling_event(sibling, event)						\
	for (perf_assert_sibling_lock(event),						\
	     sibling = list_first_entry(&(event)->sibling_list, typeof(*(sibling)), sibling_list); \
	     (event)->group_leader == (event) &&					\
	     !list_entry_is_head(sibling, &(event)->sibling_list, sibling_list);	\
	     sibling = list_next_entry(sibling, sibling_list))

#ifdef CONFIG_PERF_EVENTS

/* ----------------------------------------------------- asking about events */

static inline bool is_sampling_event(struct perf_event *event)
{
	return event->attr.sample_period;
}

static inline int is_software_event(struct perf_event *event)
{
	return event->event_caps & PERF_EV_CAP_SOFTWARE;
}

static inline bool event_has_any_exclude_flag(struct perf_event *event)
{
	const struct perf_event_attr *a = &event->attr;

	return a->exclude_user || a->exclude_kernel || a->exclude_hv || a->exclude_idle ||
	       a->exclude_host || a->exclude_guest;
}

/* Which end of its buffer is filled first? */
static inline bool is_write_backward(struct perf_event *event)
{
	return event->attr.write_backward;
}

/* Does it act on the AUX area of its group? */
static inline bool has_aux_action(struct perf_event *event)
{
	return event->attr.aux_sample_size || event->attr.aux_pause || event->attr.aux_resume;
}

/* The filters in force: children have those of their parent. */
static inline struct perf_addr_filters_head *perf_event_addr_filters(struct perf_event *event)
{
	return event->parent ? &event->parent->addr_filters : &event->addr_filters;
}

/* Branch records in the sample; branch records at all, if only for the call stack. */
static inline bool has_branch_stack(struct perf_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK;
}

static inline bool needs_branch_stack(struct perf_event *event)
{
	return event->attr.branch_sample_type;
}

/* branch_sample_<what>(event): is PERF_SAMPLE_BRANCH_<bit> asked for? */
#define PERF_BRANCH_SAMPLE_QUERY(what, bit)						\
static inline bool branch_sample_##what(const struct perf_event *event)		\
{											\
	return event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_##bit;		\
}

PERF_BRANCH_SAMPLE_QUERY(call_stack, CALL_STACK)
PERF_BRANCH_SAMPLE_QUERY(counters, COUNTERS)
PERF_BRANCH_SAMPLE_QUERY(hw_index, HW_INDEX)
PERF_BRANCH_SAMPLE_QUERY(no_cycles, NO_CYCLES)
PERF_BRANCH_SAMPLE_QUERY(no_flags, NO_FLAGS)
PERF_BRANCH_SAMPLE_QUERY(priv, PRIV_SAVE)
PERF_BRANCH_SAMPLE_QUERY(type, TYPE_SAVE)
#undef PERF_BRANCH_SAMPLE_QUERY

#else /* !CONFIG_PERF_EVENTS */

/* Nothing is ever counted: in the headers of this folder, hooks vanish and requests fail. */
#define PERF_OFF(name, ...)		static inline void name(__VA_ARGS__) { }
#define PERF_OFF_RET(type, ret, name, ...) \
	static inline type name(__VA_ARGS__) { return ret; }

#endif /* CONFIG_PERF_EVENTS */

#endif /* _LINUX_PERF_EVENT_OBJECT_H */
