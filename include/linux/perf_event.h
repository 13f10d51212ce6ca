/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Performance events: what the rest of the kernel may rely on.
 *
 * Three kinds of code include this header: PMU drivers, which fill in a struct pmu; users
 * of in-kernel counters; and the hooks of the scheduler, mm, exec, BPF and tracing.
 *
 * The structs of the core (event, context) are split.  What stands here is the public part;
 * kernel/events embeds each one in a private struct and is the only place that allocates them,
 * events without their last member where nobody needs it.  Never create, copy or take the
 * sizeof() of one outside kernel/events.
 *
 * Words used below.  "Event's CPU": the CPU on which the event is scheduled in (event->oncpu).
 * "NMI-safe": may be called from any context on that CPU, including NMI.  Times are in
 * nanoseconds of the event's clock unless said otherwise.
 */
#ifndef _LINUX_PERF_EVENT_H
#define _LINUX_PERF_EVENT_H

#include <uapi/linux/perf_event.h>
#include <uapi/linux/bpf_perf_event.h>

#ifdef CONFIG_PERF_EVENTS
#include <asm/perf_event.h>
#include <asm/local64.h>
#endif
#ifdef CONFIG_HAVE_HW_BREAKPOINT
#include <linux/rhashtable-types.h>
#include <asm/hw_breakpoint.h>
#endif

/* Some of these are here only because includers of this header came to depend on them. */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/hrtimer.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/workqueue.h>
#include <linux/ftrace.h>
#include <linux/cpu.h>
#include <linux/irq_work.h>
#include <linux/static_key.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/atomic.h>
#include <linux/sysfs.h>
#include <linux/perf_regs.h>
#include <linux/cgroup.h>
#include <linux/refcount.h>
#include <linux/security.h>
#include <linux/static_call.h>
#include <linux/lockdep.h>
#include <asm/local.h>

struct bpf_prog;
struct file;
struct perf_buffer;		/* data and AUX pages: kernel/events/ring/ring.h */
struct perf_cgroup;
struct perf_cpu_pmu_context;	/* one PMU on one CPU: private to the scheduling layer */
struct perf_event;
struct perf_event_pmu_context;
struct perf_output_handle;
struct perf_sample_data;
struct pmu;
struct task_struct;

/* ---------------------------------------------------------------- samples */

/**
 * typedef perf_copy_f - copy one fragment of raw data into the ring buffer
 * @dst: buffer memory
 * @src: the fragment's data pointer, with a meaning known to the copier only
 * @off: first byte of the fragment to copy
 * @len: number of bytes
 *
 * Return: number of bytes that could not be copied, zero on success.
 */
typedef unsigned long (*perf_copy_f)(void *dst, const void *src, unsigned long off,
				     unsigned long len);

/**
 * struct perf_raw_frag - a piece of PERF_SAMPLE_RAW data
 * @size: bytes in this piece
 * @copy: how to copy it; %NULL for plain memory
 * @data: where it is
 * @next: the following piece
 * @pad: last piece only: zero bytes to append so that the record stays aligned to 8.  A value
 *	below 8 cannot be a pointer, which is how the end of the list is told.
 */
struct perf_raw_frag {
	union {
		unsigned long		pad;
		struct perf_raw_frag	*next;
	};
	perf_copy_f	copy;
	void		*data;
	u32		size;
} __packed;

/**
 * struct perf_raw_record - PERF_SAMPLE_RAW data of one sample
 * @frag: first piece, embedded
 * @size: bytes of all pieces and of the padding, as written in front of the data
 */
struct perf_raw_record {
	struct perf_raw_frag	frag;
	u32			size;
};

/**
 * struct perf_callchain_entry - addresses of one call chain, innermost first
 * @nr: entries used, context markers (PERF_CONTEXT_*) included
 * @ip: at most sysctl perf_event_max_stack addresses and perf_event_max_contexts_per_stack
 *	markers
 */
struct perf_callchain_entry {
	__u64	nr;
	__u64	ip[];
};

/**
 * struct perf_callchain_entry_ctx - a call chain while an unwinder fills it
 * @entry: the result
 * @max_stack: most addresses to store
 * @nr: addresses stored; unlike @entry->nr without the markers
 * @contexts: markers stored
 * @contexts_maxed: a marker found no room; nothing more may be stored
 */
struct perf_callchain_entry_ctx {
	struct perf_callchain_entry	*entry;
	u32				max_stack, nr;
	short				contexts;
	bool				contexts_maxed;
};

/**
 * struct perf_branch_stack - taken branches before a sample, newest first
 * @nr: branches in @entries, may differ from sample to sample
 * @hw_idx: index of the newest branch in the hardware's own buffer, -1 when unknown, 0 when the
 *	hardware keeps its records in age order; below the depth shown in caps/branches of the PMU
 * @entries: the branches
 */
struct perf_branch_stack {
	__u64				nr;
	__u64				hw_idx;
	struct perf_branch_entry	entries[];
};

/**
 * struct perf_sample_data - the values of one sample on their way to the ring buffer
 *
 * Lives on the stack of the interrupt handler or in a per-CPU variable of the driver.  It is
 * deliberately not zeroed: perf_sample_data_init() sets the first three members, and every other
 * one is valid only when its PERF_SAMPLE_* bit is set in @sample_flags.  A driver that knows a
 * value stores it and sets the bit; perf_prepare_sample() provides what is missing and asked for.
 */
struct perf_sample_data {
	/** @sample_flags: PERF_SAMPLE_* bits of the members that have been filled in */
	u64	sample_flags;
	/** @dyn_size: bytes this sample needs beyond the fixed-size fields of its event */
	u64	dyn_size;
	/** @period: events since the previous sample */
	u64	period;
	/** @type: the sample_type this data was prepared for */
	u64	type;
	/** @ip: instruction pointer, in the guest when that was running */
	u64	ip;
	/** @tid_entry: ids of the current task in the pid namespace of the event */
	struct { u32 pid, tid; } tid_entry;
	/** @time: time stamp on the clock of the event */
	u64	time;
	/** @addr: address the event is about */
	u64	addr;
	/** @id: id of the parent event */
	u64	id;
	/** @stream_id: id of the event itself, distinct in each inherited child */
	u64	stream_id;
	/** @cpu_entry: the CPU; its reserved half is written as zero */
	struct { u32 cpu, reserved; } cpu_entry;

	/** @callchain: valid until interrupts are enabled again */
	struct perf_callchain_entry	*callchain;
	/** @callchain_nr: its entries when room was made for them; it may be filled anew since */
	u64	callchain_nr;
	/** @raw: opaque data of the source */
	struct perf_raw_record		*raw;
	/** @br_stack: branch records */
	struct perf_branch_stack	*br_stack;
	/** @br_stack_nr: how many of them the sample shows; there may be others since */
	u64				br_stack_nr;
	/** @br_stack_cntr: one word of event counters for each branch, or %NULL */
	u64				*br_stack_cntr;

	/** @weight: cost of the access, in units that depend on the hardware */
	union perf_sample_weight	weight;
	/** @data_src: where the data came from */
	union perf_mem_data_src		data_src;
	/** @txn: PERF_TXN_* of an aborted hardware transaction */
	u64	txn;
	/** @phys_addr: physical address for @addr, 0 when there is none */
	u64	phys_addr;
	/** @data_page_size: bytes of the page that maps @addr, 0 when unmapped */
	u64	data_page_size;
	/** @code_page_size: bytes of the page that maps @ip, 0 when unmapped */
	u64	code_page_size;
	/** @cgroup: id of the current task's perf_event cgroup */
	u64	cgroup;

	/** @regs_intr: registers when the event hit */
	struct perf_regs		regs_intr;
	/** @regs_user: registers at the last entry to the kernel */
	struct perf_regs		regs_user;
	/** @stack_user_size: bytes of user stack that will be tried to be copied */
	u64	stack_user_size;
	/** @aux_size: bytes of AUX data in the sample */
	u64	aux_size;
} ____cacheline_aligned;

/**
 * struct perf_output_handle - one reservation in the ring buffer
 *
 * Made by perf_output_begin() or perf_aux_output_begin(), given up by the matching _end().  In
 * between, preemption (data) or the event's PMU (AUX) is held; the handle must not outlive that.
 */
struct perf_output_handle {
	/** @event: on whose behalf; for AUX, the event that owns the mapping */
	struct perf_event	*event;
	/** @rb: the buffer; what keeps it is the RCU section (data) or being its writer (AUX) */
	struct perf_buffer	*rb;
	/** @wakeup: data: value of the wake-up mark; AUX: head at which user space wants notice */
	unsigned long		wakeup;
	/** @size: data: bytes left in this page; AUX: bytes of free space, then of data produced */
	unsigned long		size;
	union {
		/** @addr: data: where the next byte goes */
		void			*addr;
		/** @head: AUX: write position, counted in bytes since the mapping began */
		unsigned long		head;
	};
	union {
		/** @flags: data: bits of this record */
		u64	flags;
		/** @aux_flags: AUX: PERF_AUX_FLAG_* of the record that will announce the data */
		u64	aux_flags;
		struct {
			/** @skip_read: siblings of the group must not be read for this record */
			u64	skip_read : 1;
			/** @has_turn: the buffer is this CPU's until the record is complete */
			u64	has_turn : 1;
		};
	};
	/** @page: data: index of the page @addr points into */
	int			page;
};

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

/**
 * struct bpf_perf_event_data_kern - context of a BPF_PROG_TYPE_PERF_EVENT program
 * @regs: registers as the program's type expects them
 * @data: the sample
 * @event: the event
 */
struct bpf_perf_event_data_kern {
	bpf_user_pt_regs_t	*regs;
	struct perf_sample_data	*data;
	struct perf_event	*event;
};

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
#define PERF_EVENT_FLAG_ARCH		0x000fffff
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
			/** @period_left: events until the next sample, <= 0 when due */
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
	/** @overflow_handler_context: C: argument of whoever created the counter */
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
 *	PERF_ATTACH_TASK_DATA is there, else %NULL; the driver owns its contents
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
	/** @task_ctx_cache: where perf_event_pmu_context.task_ctx_data comes from */
	struct kmem_cache		*task_ctx_cache;
	/**
	 * @swap_task_ctx: Two tasks with equal events swap contexts instead of rescheduling; what
	 * is in task_ctx_data belongs to the task and must be swapped back.  Context as for
	 * sched_task().
	 */
	void (*swap_task_ctx)(struct perf_event_pmu_context *prev_epc,
			      struct perf_event_pmu_context *next_epc);

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
	/** @free_aux: Free that.  Task context; nobody writes the area any more. */
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

/* ------------------------------------------------- guests, cgroups, userpage */

#define PERF_GUEST_USER		0x02	/* with ACTIVE: in guest user mode */
#define PERF_GUEST_ACTIVE	0x01	/* a guest runs on this CPU */

/**
 * struct perf_guest_info_callbacks - what a hypervisor tells about the guest on this CPU
 * @get_ip: its instruction pointer, only asked while active
 * @state: PERF_GUEST_* bits
 * @handle_intel_pt_intr: deliver a PT interrupt; nonzero when done; may be %NULL
 *
 * All are called in NMI.
 */
struct perf_guest_info_callbacks {
	unsigned long	(*get_ip)(void);
	unsigned int	(*state)(void);
	unsigned int	(*handle_intel_pt_intr)(void);
};

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
 * @pmu: it; no event of it may be left (they hold pmu.module)
 *
 * Task context; waits until no event_init() runs.
 */
void perf_pmu_unregister(struct pmu *pmu);
/**
 * perf_pmu_migrate_context - move all CPU events of an uncore PMU
 * @pmu: it
 * @src_cpu: from here, perhaps just going offline
 * @dst_cpu: to here, online
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

/* ------------------------------------------------------------ writing records */

/**
 * perf_prepare_sample - complete a sample and learn its size
 * @data: what the driver knows
 * @event: for which event
 * @regs: where it happened
 *
 * For drivers that write many samples at once; everybody else uses perf_event_output().
 * Interrupts off.  Then: perf_prepare_header(), perf_output_begin(), perf_output_sample(),
 * perf_output_end().
 */
void perf_prepare_sample(struct perf_sample_data *data, struct perf_event *event,
			 struct pt_regs *regs);
/* Fill in the header of a prepared sample. */
void perf_prepare_header(struct perf_event_header *header, struct perf_sample_data *data,
			 struct perf_event *event, struct pt_regs *regs);
/* Write a prepared sample; @header.size bytes must have been reserved. */
void perf_output_sample(struct perf_output_handle *handle, struct perf_event_header *header,
			struct perf_sample_data *data, struct perf_event *event);
/**
 * perf_output_begin - reserve room for a record
 * @handle: filled in
 * @data: storage for the ids of a LOST record that may have to go first
 * @event: its buffer is used, or that of its parent
 * @size: bytes, header included
 *
 * NMI-safe; writers nest.  On success preemption stays off until perf_output_end().
 *
 * Return: 0; -ENOENT when nobody listens; -ENOSPC when there is no room, which is accounted.
 */
int perf_output_begin(struct perf_output_handle *handle, struct perf_sample_data *data,
		      struct perf_event *event, unsigned int size);
/* The same when the direction of the buffer (attr.write_backward) is known beforehand. */
int perf_output_begin_forward(struct perf_output_handle *handle, struct perf_sample_data *data,
			      struct perf_event *event, unsigned int size);
int perf_output_begin_backward(struct perf_output_handle *handle, struct perf_sample_data *data,
			       struct perf_event *event, unsigned int size);
/* Append to the reservation, or leave bytes as they are.  Return: bytes that did not fit. */
unsigned int perf_output_copy(struct perf_output_handle *handle, const void *buf, unsigned int len);
unsigned int perf_output_skip(struct perf_output_handle *handle, unsigned int len);
/* The record is complete: publish it and wake readers if it is time to. */
void perf_output_end(struct perf_output_handle *handle);
/* Start a record that is not a sample: header, and ids in @data for the sample_id trailer. */
void perf_event_header__init(struct perf_event_header *header, struct perf_sample_data *data,
			     u32 type, u16 misc, u16 size, struct perf_event *event);
void perf_event__output_id_sample(struct perf_event *event, struct perf_output_handle *handle,
				  struct perf_sample_data *sample);
/* Overflow handlers that write a sample.  The last one tells: 0 or as perf_output_begin(). */
void perf_event_output_forward(struct perf_event *event, struct perf_sample_data *data,
			       struct pt_regs *regs);
void perf_event_output_backward(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs);
int perf_event_output(struct perf_event *event, struct perf_sample_data *data,
		      struct pt_regs *regs);

/* ------------------------------------------------------- counters of the kernel */

/**
 * perf_event_create_kernel_counter - open an event from inside the kernel
 * @attr: copied; aux_output and aux_action must be zero
 * @cpu: CPU, or -1 with a @task
 * @task: task, or %NULL with a @cpu
 * @callback: overflow handler, %NULL for the one that writes samples
 * @context: for perf_event.overflow_handler_context
 *
 * Task context.  The event counts at once unless attr.disabled.  No permission is checked.
 *
 * Return: the event, or an ERR_PTR() as perf_event_open() would give.
 */
struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
						    struct task_struct *task,
						    perf_overflow_handler_t callback,
						    void *context);
/* Close it.  Task context.  Return: 0. */
int perf_event_release_kernel(struct perf_event *event);
/* Switch an event and its children.  Task context, may wait for the event's CPU. */
void perf_event_enable(struct perf_event *event);
void perf_event_disable(struct perf_event *event);
/* Event's CPU, interrupts off, context not locked. */
void perf_event_disable_local(struct perf_event *event);
/* Event's CPU, NMI-safe: takes effect as soon as interrupts are on. */
void perf_event_disable_inatomic(struct perf_event *event);
/* Allow @refresh more samples and enable.  Return: 0, or -EINVAL if inherited or not sampling. */
int perf_event_refresh(struct perf_event *event, int refresh);
/* Change the period (attr.freq: frequency).  Return: 0 or -EINVAL. */
int perf_event_period(struct perf_event *event, u64 value);
/* Disable, and set the count to zero if @reset.  Return: the count before. */
u64 perf_event_pause(struct perf_event *event, bool reset);
/* Count and times, those of the children added.  Task context, mutexes. */
u64 perf_event_read_value(struct perf_event *event, u64 *enabled, u64 *running);
/**
 * perf_event_read_local - read a counter from where it counts
 * @event: an event of the current task or of this CPU
 * @value: count without children
 * @enabled: time enabled, or %NULL
 * @running: time counting, or %NULL
 *
 * NMI-safe.
 *
 * Return: 0; -EOPNOTSUPP for an inherited event; -EINVAL for one of another task or CPU; -EBUSY
 * for a pinned event that has no counter.
 */
int perf_event_read_local(struct perf_event *event, u64 *value, u64 *enabled, u64 *running);
/* From file descriptor to file (referenced) to event, or ERR_PTR(); and its attributes. */
struct file *perf_event_get(unsigned int fd);
const struct perf_event *perf_get_event(struct file *file);
const struct perf_event_attr *perf_event_attrs(struct perf_event *event);

/* --------------------------------------------------------------- call chains */

/**
 * get_perf_callchain - walk the stack
 * @regs: where to start
 * @kernel: store kernel addresses
 * @user: store user addresses
 * @max_stack: most addresses
 * @crosstask: @regs are of another task: no user addresses
 * @add_mark: store a PERF_CONTEXT_* marker before each part
 *
 * NMI-safe; get_callchain_buffers() must have been called at some time before.
 *
 * Return: a per-CPU buffer, valid until the next chain in this context; %NULL when none is free.
 */
struct perf_callchain_entry *get_perf_callchain(struct pt_regs *regs, bool kernel, bool user,
						u32 max_stack, bool crosstask, bool add_mark);
/* The chain @event wants; never %NULL, perhaps empty. */
struct perf_callchain_entry *perf_callchain(struct perf_event *event, struct pt_regs *regs);
/* Unwinders of the architecture; they store what they find by the functions below. */
void perf_callchain_kernel(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs);
void perf_callchain_user(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs);
/* Hold the buffers.  Task context.  Return: 0, -ENOMEM, or -EOVERFLOW beyond the sysctl. */
int get_callchain_buffers(int max_stack);
void put_callchain_buffers(void);
/* One buffer of this CPU by recursion context; preemption off. */
struct perf_callchain_entry *get_callchain_entry(int *rctx);
void put_callchain_entry(int rctx);

extern int sysctl_perf_event_max_stack;
extern int sysctl_perf_event_max_contexts_per_stack;

static __always_inline int perf_callchain_append(struct perf_callchain_entry *chain, u64 word)
{
	chain->ip[chain->nr] = word;
	chain->nr++;
	return 0;
}

/* Store the address @ip.  Return: 0, or -1 when the chain is full: stop walking. */
static inline int perf_callchain_store(struct perf_callchain_entry_ctx *ctx, u64 ip)
{
	if (ctx->contexts_maxed || ctx->nr >= ctx->max_stack)
		return -1;
	ctx->nr++;
	return perf_callchain_append(ctx->entry, ip);
}

/* Store the marker @ip.  Return: 0, or -1 when there are too many: stop walking. */
static inline int perf_callchain_store_context(struct perf_callchain_entry_ctx *ctx, u64 ip)
{
	if (ctx->contexts >= sysctl_perf_event_max_contexts_per_stack) {
		ctx->contexts_maxed = true;
		return -1;
	}
	ctx->contexts++;
	return perf_callchain_append(ctx->entry, ip);
}

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
/* The context of the current task on this CPU, %NULL when none; interrupts off. */
struct perf_event_context *perf_cpu_task_ctx(void);

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

/* Guests. */
#ifdef CONFIG_GUEST_PERF_EVENTS
extern struct perf_guest_info_callbacks __rcu *perf_guest_cbs;
DECLARE_STATIC_CALL(__perf_guest_state, *perf_guest_cbs->state);
DECLARE_STATIC_CALL(__perf_guest_get_ip, *perf_guest_cbs->get_ip);
DECLARE_STATIC_CALL(__perf_guest_handle_intel_pt_intr, *perf_guest_cbs->handle_intel_pt_intr);
#define perf_guest_call(what)	static_call(__perf_guest_##what)()

/* One hypervisor at a time; unregistering waits for readers in NMI. */
void perf_register_guest_info_callbacks(struct perf_guest_info_callbacks *cbs);
void perf_unregister_guest_info_callbacks(struct perf_guest_info_callbacks *cbs);
#else
#define perf_guest_call(what)	0
#endif

static inline unsigned int perf_guest_state(void)
{
	return perf_guest_call(state);
}

static inline unsigned long perf_guest_get_ip(void)
{
	return perf_guest_call(get_ip);
}

static inline unsigned int perf_guest_handle_intel_pt_intr(void)
{
	return perf_guest_call(handle_intel_pt_intr);
}

#undef perf_guest_call

/* -------------------------------------------------------- software event hits */

extern struct static_key perf_swevent_enabled[PERF_COUNT_SW_MAX];
extern struct static_key_false perf_sched_events;	/* some event needs the switch hooks */

/* Scratch registers of this CPU, one set for each recursion context. */
DECLARE_PER_CPU(struct pt_regs, __perf_regs[4]);

void __perf_event_task_sched_in(struct task_struct *prev, struct task_struct *task);
void __perf_event_task_sched_out(struct task_struct *prev, struct task_struct *next);
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
 * Any context.  A patched-out branch while nobody counts @event_id.
 */
static __always_inline void perf_sw_event(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr)
{
	if (__perf_sw_enabled(event_id))
		__perf_sw_event(event_id, nr, regs, addr);
}

/*
 * For the scheduler: rq lock held, interrupts off.  Needs no recursion context, as nobody is
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

/* @task is current again, after @prev. */
static inline void perf_event_task_sched_in(struct task_struct *prev, struct task_struct *task)
{
	if (static_branch_unlikely(&perf_sched_events))
		__perf_event_task_sched_in(prev, task);

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
	if (static_branch_unlikely(&perf_sched_events))
		__perf_event_task_sched_out(prev, next);
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

/* ------------------------------------------------------------------ permission */

/* For security_perf_event_open(): what the caller wants to see. */
#define PERF_SECURITY_OPEN		0	/* anything at all */
#define PERF_SECURITY_CPU		1	/* what other tasks do */
#define PERF_SECURITY_KERNEL		2	/* what the kernel does */
#define PERF_SECURITY_TRACEPOINT	3	/* raw data of tracepoints */

extern int sysctl_perf_event_paranoid;
extern int sysctl_perf_event_mlock;		/* KiB per user, above RLIMIT_MEMLOCK */
extern int sysctl_perf_event_sample_rate;	/* Hz */
extern int sysctl_perf_cpu_time_max_percent;

#define PERF_SYSCTL_HANDLER(name)						\
	int name(const struct ctl_table *table, int write, void *buffer,	\
		 size_t *lenp, loff_t *ppos)
PERF_SYSCTL_HANDLER(perf_event_max_sample_rate_handler);
PERF_SYSCTL_HANDLER(perf_cpu_time_max_percent_handler);
PERF_SYSCTL_HANDLER(perf_event_max_stack_handler);
#undef PERF_SYSCTL_HANDLER

static inline int perf_is_paranoid(void)
{
	return sysctl_perf_event_paranoid >= 0;
}

static inline bool perf_paranoid_any(void)
{
	return sysctl_perf_event_paranoid >= 3;
}

/* Each: 0, or -EACCES (tracepoints: -EPERM), or what the security module says. */
int perf_allow_kernel(void);

static inline int perf_allow_cpu(void)
{
	if (perfmon_capable() || sysctl_perf_event_paranoid <= 0)
		return security_perf_event_open(PERF_SECURITY_CPU);
	return -EACCES;
}

static inline int perf_allow_tracepoint(void)
{
	if (perfmon_capable() || !perf_is_paranoid())
		return security_perf_event_open(PERF_SECURITY_TRACEPOINT);
	return -EPERM;
}

/* ---------------------------------------------------------- asking about events */

static inline bool is_sampling_event(struct perf_event *event)
{
	return event->attr.sample_period;
}

static inline int is_software_event(struct perf_event *event)
{
	return event->event_caps & PERF_EV_CAP_SOFTWARE;
}

/* Is it scheduled among the software events?  Not so in a group with hardware events. */
static inline int in_software_context(struct perf_event *event)
{
	return event->pmu_ctx->pmu->task_ctx_nr == perf_sw_context;
}

static inline bool event_has_any_exclude_flag(struct perf_event *event)
{
	const struct perf_event_attr *a = &event->attr;

	return a->exclude_user || a->exclude_kernel || a->exclude_hv || a->exclude_idle ||
	       a->exclude_host || a->exclude_guest;
}

/* Does the event write ordinary samples, so that a driver may write them on its own? */
static inline bool is_default_overflow_handler(struct perf_event *event)
{
	return likely(event->overflow_handler == perf_event_output_forward) ||
	       event->overflow_handler == perf_event_output_backward;
}

/* Which end of its buffer is filled first? */
static inline bool is_write_backward(struct perf_event *event)
{
	return event->attr.write_backward;
}

/* Can it fill an AUX area?  Does it act on that of its group? */
static inline bool has_aux(struct perf_event *event)
{
	return event->pmu->setup_aux;
}

static inline bool has_aux_action(struct perf_event *event)
{
	return event->attr.aux_sample_size || event->attr.aux_pause || event->attr.aux_resume;
}

static inline bool has_addr_filter(struct perf_event *event)
{
	return event->pmu->nr_addr_filters;
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

/* -------------------------------------------------- filling a perf_sample_data */

/* data_src of an access about which nothing is known */
#define PERF_MEM_NA (PERF_MEM_S(LVLNUM, NA) | PERF_MEM_S(TLB, NA) | PERF_MEM_S(LOCK, NA) | \
		     PERF_MEM_S(SNOOP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(OP, NA))

/**
 * perf_sample_data_init - begin a sample
 * @data: not initialised
 * @addr: address for PERF_SAMPLE_ADDR, 0 for none
 * @period: events since the previous sample
 */
static inline void perf_sample_data_init(struct perf_sample_data *data, u64 addr, u64 period)
{
	data->period = period;
	data->sample_flags = PERF_SAMPLE_PERIOD;
	data->dyn_size = 0;
	if (!addr)
		return;
	data->sample_flags |= PERF_SAMPLE_ADDR;
	data->addr = addr;
}

/* Is this part wanted by @event?  Providing it twice is a bug. */
static __always_inline bool perf_sample_wants(struct perf_sample_data *data,
					      struct perf_event *event, u64 bit)
{
	return (event->attr.sample_type & bit) && !WARN_ON_ONCE(data->sample_flags & bit);
}

/* A variable-sized part of @size bytes is there. */
static __always_inline void perf_sample_added(struct perf_sample_data *data, u64 bit, u64 size)
{
	data->sample_flags |= bit;
	data->dyn_size += size;
}

/* Walk the stack now, while @regs are good. */
static inline void perf_sample_save_callchain(struct perf_sample_data *data,
					      struct perf_event *event, struct pt_regs *regs)
{
	if (perf_sample_wants(data, event, PERF_SAMPLE_CALLCHAIN)) {
		data->callchain = perf_callchain(event, regs);
		data->callchain_nr = data->callchain->nr;
		perf_sample_added(data, PERF_SAMPLE_CALLCHAIN,
				  (1 + data->callchain_nr) * sizeof(u64));
	}
}

static __always_inline bool perf_raw_frag_last(const struct perf_raw_frag *frag)
{
	return frag->pad < sizeof(u64);
}

/* Attach raw data; it is not copied and must stay until the sample is written. */
static inline void perf_sample_save_raw_data(struct perf_sample_data *data,
					     struct perf_event *event,
					     struct perf_raw_record *raw)
{
	struct perf_raw_frag *last = &raw->frag;
	u32 bytes = last->size, padded;

	if (!perf_sample_wants(data, event, PERF_SAMPLE_RAW))
		return;
	while (!perf_raw_frag_last(last)) {
		last = last->next;
		bytes += last->size;
	}
	/* The length word and the data together fill whole u64s. */
	padded = round_up(bytes + sizeof(u32), sizeof(u64)) - sizeof(u32);
	last->pad = padded - bytes;
	raw->size = padded;
	data->raw = raw;
	perf_sample_added(data, PERF_SAMPLE_RAW, padded + sizeof(u32));
}

/*
 * Attach branch records and, behind them, a word of counters for each if @brs_cntr is given.  A
 * sample has no more of them than attr.sample_max_stack.
 */
static inline void perf_sample_save_brstack(struct perf_sample_data *data,
					    struct perf_event *event,
					    struct perf_branch_stack *brs, u64 *brs_cntr)
{
	u64 each = sizeof(struct perf_branch_entry) + (brs_cntr ? sizeof(*brs_cntr) : 0);
	u64 fixed = branch_sample_hw_index(event) ? 2 * sizeof(u64) : sizeof(u64);

	data->br_stack = brs;
	data->br_stack_nr = min_t(u64, brs->nr, event->attr.sample_max_stack);
	data->br_stack_cntr = brs_cntr;
	perf_sample_added(data, PERF_SAMPLE_BRANCH_STACK, fixed + each * data->br_stack_nr);
}

/* Zero the description of a branch; the addresses, new_type and priv are left to the caller. */
static inline void perf_clear_branch_entry_bitfields(struct perf_branch_entry *br)
{
	br->type = PERF_BR_UNKNOWN;
	br->spec = PERF_BR_SPEC_NA;
	br->cycles = 0;
	br->predicted = 0;
	br->mispred = 0;
	br->abort = 0;
	br->in_tx = 0;
	br->reserved = 0;
}

#else /* !CONFIG_PERF_EVENTS */

/* Nothing is ever counted: hooks vanish, requests fail. */
#define PERF_OFF(name, ...)		static inline void name(__VA_ARGS__) { }
#define PERF_OFF_RET(type, ret, name, ...) \
	static inline type name(__VA_ARGS__) { return ret; }

PERF_OFF(perf_event_init, void)
PERF_OFF(perf_event_task_tick, void)
PERF_OFF(perf_event_print_debug, void)
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
PERF_OFF(perf_event_enable, struct perf_event *event)
PERF_OFF(perf_event_disable, struct perf_event *event)
PERF_OFF(perf_aux_output_end, struct perf_output_handle *handle, unsigned long size)

PERF_OFF_RET(int, 0, perf_event_init_task, struct task_struct *child, u64 clone_flags)
PERF_OFF_RET(int, 0, perf_event_release_kernel, struct perf_event *event)
PERF_OFF_RET(u64, 0, perf_event_pause, struct perf_event *event, bool reset)
PERF_OFF_RET(u64, 0, perf_swevent_set_period, struct perf_event *event)
PERF_OFF_RET(int, -1, perf_swevent_get_recursion_context, void)
PERF_OFF_RET(int, -EINVAL, perf_event_task_enable, void)
PERF_OFF_RET(int, -EINVAL, perf_event_task_disable, void)
PERF_OFF_RET(int, -EINVAL, perf_event_refresh, struct perf_event *event, int refresh)
PERF_OFF_RET(int, -EINVAL, perf_event_period, struct perf_event *event, u64 value)
PERF_OFF_RET(int, -EINVAL, perf_event_read_local, struct perf_event *event, u64 *value,
	     u64 *enabled, u64 *running)
PERF_OFF_RET(int, -EINVAL, perf_aux_output_skip, struct perf_output_handle *handle,
	     unsigned long size)
PERF_OFF_RET(void *, NULL, perf_aux_output_begin, struct perf_output_handle *handle,
	     struct perf_event *event)
PERF_OFF_RET(void *, NULL, perf_get_aux, struct perf_output_handle *handle)
PERF_OFF_RET(struct file *, ERR_PTR(-EINVAL), perf_event_get, unsigned int fd)
PERF_OFF_RET(const struct perf_event *, ERR_PTR(-EINVAL), perf_get_event, struct file *file)
PERF_OFF_RET(const struct perf_event_attr *, ERR_PTR(-EINVAL), perf_event_attrs,
	     struct perf_event *event)
#undef PERF_OFF
#undef PERF_OFF_RET

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

/**
 * typedef perf_snapshot_branch_stack_t - read the branch records of the hardware, now
 * @entries: where to
 * @cnt: how many fit
 *
 * A static call, because every branch taken on the way there pushes out one that is of interest.
 *
 * Return: entries stored.
 */
typedef int (perf_snapshot_branch_stack_t)(struct perf_branch_entry *entries, unsigned int cnt);
DECLARE_STATIC_CALL(perf_snapshot_branch_stack, perf_snapshot_branch_stack_t);

/* Append the object @x itself to a record. */
#define perf_output_put(handle, x) perf_output_copy(handle, &(x), sizeof(x))

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

#endif /* _LINUX_PERF_EVENT_H */
