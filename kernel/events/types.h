/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layer 0: the private objects of the performance-events core.
 *
 * The glossary in short; glossary.rst has the rest, and the verbs of an event's life:
 *
 *   event    what is counted or recorded, for a task, a CPU or a cgroup; with its plan, which says
 *            what its samples contain, and its sink, the event whose buffer takes them
 *   group    a leader and its siblings, on the hardware together; all of them are its members
 *   passive  needs neither hardware nor a timer, so it is never scheduled; other events are active
 *   context  the events of a task or of a CPU; in on a CPU, or nowhere
 *   slot     what is eligible at the same time in a context: any CPU, one CPU, one cgroup
 *   PMU ctx  one PMU's share of a context; it has a lane, two queues of groups, in each slot
 *   family   the event that was opened and its children, the copies that fork made
 *   hit      one occurrence that software sees; overflow: a period is over
 *   roster   what has to end when a PMU leaves
 *
 * struct perf_event in <linux/perf_event.h> is the public part that drivers see; struct pe_event
 * is the whole object, and so it is with contexts and their share of each PMU.  The part is in it
 * without a name (-fms-extensions), as e->state, and as pub, for functions of the contract.
 *
 * Letters tell who may touch a field:
 *
 *   I  set before the object is published, constant afterwards
 *   L  written under ctx->lock (raw, irqs off); read under it
 *   l  as L for writing; hits, samples and NMIs read it locklessly on the CPU the event counts on
 *   M  written under ctx->mutex and ctx->lock; read under either
 *   F  the parent's family lock
 *   B  event->mmap_mutex
 *   C  only the CPU it belongs to, irqs off
 *   c  as C, and NMIs of that CPU read it
 *   R  RCU: written under the lock named next to it, read under rcu_read_lock()
 *   A  atomic
 *   O  task->perf_event_mutex of the owner
 *
 * Lock order, outermost first: cpu_hotplug, pmus_lock; exec_update_lock, task->perf_event_mutex,
 * ctx->mutex, family lock; mmap_lock, ctx->mutex, event->mmap_mutex, buffer AUX mutex; then, with
 * irqs off: the CPU context's lock, the task context's lock, leaves.  No mmap_lock is taken, and
 * no user memory copied, with one of ctx->mutex, family lock, event->mmap_mutex held.
 */
#ifndef _KERNEL_EVENTS_TYPES_H
#define _KERNEL_EVENTS_TYPES_H

#include <linux/perf_event.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct pe_ctx;
struct pe_pmu_ctx;
struct pe_session;
struct pe_slot;

/**
 * struct pe_clock - a clock that stands still while its owner is not running
 * @time: what it showed when it stopped, ns
 * @offset: what to add to the driving clock while it runs
 * @running: it runs
 * @turns: where a CPU cannot load 64 bits at once: one more before it is started or stopped, and
 *	one more after
 *
 * The clocks of contexts and slots are driven by pe_now(), those of events by these.
 * Written under ctx->lock.  The order of stores in pe_clock_start() and pe_clock_stop() lets those
 * read it at any time on whose CPU the event counts: an NMI there, or a hit of a passive event that
 * another CPU disables at this moment.  All others read it under ctx->lock.
 */
struct pe_clock {
	u64	time;
	u64	offset;
	bool	running;
#ifndef CONFIG_64BIT
	unsigned int turns;
#endif
};

/**
 * struct group_queue - groups in the order in which they are tried
 * @head: group leaders, linked by &struct queue_node.link, ascending sequence number
 * @next: of a walk: the node to come, or NULL
 * @other: of a walk: another queue that takes part in it
 *
 * Sequence numbers come from the context, so that queues of one context can be merged.
 */
struct group_queue {
	struct list_head	head;
	struct queue_node	*next;
	struct group_queue	*other;
};

struct queue_node {
	struct list_head	link;
	u64			seq;
};

/* Which of the two queues of a lane, and of the two running lists of a PMU context. */
enum pe_class {
	PE_PINNED,
	PE_FLEXIBLE,
	PE_NR_CLASSES,
};

#define PE_CLASS_PINNED		BIT(PE_PINNED)
#define PE_CLASS_FLEXIBLE	BIT(PE_FLEXIBLE)
#define PE_CLASS_ALL		(PE_CLASS_PINNED | PE_CLASS_FLEXIBLE)

/**
 * struct pe_lane - the groups of one PMU in one slot
 * @entry: on slot->lanes								M
 * @pmu_ctx_entry: on pmu_ctx->lanes, but for pmu_ctx->any		ctx->mutex
 * @pmu_ctx: the PMU's share of the context							I
 * @queue: pinned and flexible groups							L
 */
struct pe_lane {
	struct list_head	entry;
	struct list_head	pmu_ctx_entry;
	struct pe_pmu_ctx	*pmu_ctx;
	struct group_queue	queue[PE_NR_CLASSES];
};

/* Where a hit happens: attr.exclude_user and attr.exclude_kernel, as BIT() of pe_plan.excludes. */
enum pe_mode {
	PE_USER,
	PE_KERNEL,
	PE_NR_MODES,
};

#define PE_EXCLUDES_USER	BIT(PE_USER)
#define PE_EXCLUDES_KERNEL	BIT(PE_KERNEL)

/**
 * struct pe_hits - the hits of one software event in a slot
 * @nr: what an event would have counted here, by mode; written by the CPU that the slot is in on,
 *	preemption off
 * @list: the events that look at each hit, for the hit path				R, L
 *
 * A power of two in size, so that one is found by a shift.
 */
struct pe_hits {
	local64_t		nr[PE_NR_MODES];
	struct hlist_head	list;
} __aligned(32);

/**
 * struct pe_slot - what is eligible on one CPU value of a context, or in one cgroup on a CPU
 * @cgrp: the cgroup, or NULL								I
 * @nr_events: events here, counted for cgroups only					L
 * @entered: on pe_ctx.entered while the CPU runs a task of the cgroup, and it has events	R, L
 * @clock: time during which the slot's events could count; it runs while the slot is in	L
 * @sw: the hits of software events, by number
 * @mapped: events with a control page of their own, by pe_event.mapped_entry		L
 * @freq: those in frequency mode that are ACTIVE, by pe_event.freq_entry			L
 * @lanes: one for each PMU with groups here						M
 *
 * Lives as long as its context, that of a cgroup as long as the cgroup.
 */
struct pe_slot {
	struct perf_cgroup	*cgrp;
	unsigned int		nr_events;
	struct hlist_node	entered;
	struct pe_clock		clock;
	struct pe_hits		sw[PERF_COUNT_SW_MAX];
	struct list_head	mapped;
	struct list_head	freq;
	struct list_head	lanes;
};

/* Can what is in the slot count now?  Under ctx->lock, or on the CPU of the context. */
static inline bool pe_slot_is_in(const struct pe_slot *slot)
{
	return READ_ONCE(slot->clock.running);
}

/**
 * struct pe_ctx - the events of one task or of one CPU
 * @lock: see the letters above; irqs off
 * @mutex: keeps openers apart, and group membership stable for sleepers
 * @refs: the task's pointer, each event, lookups
 * @task: the task, or NULL for a CPU context; not to be followed once @dead.  With @kin
 *	the task that has started it, which may have exited, for any of the members	I
 * @cpu: the CPU of a CPU context, or -1						I
 * @oncpu: the CPU on which the context is in, or -1					L
 * @dead: the task has left; nothing can be added any more				M
 * @tells_reads: there has been an event with attr.inherit_stat				L
 * @events: all events, by pe_event.ctx_entry						R, L
 * @sideband: those that asked for records, by pe_event.sideband_entry			R, L
 * @throttled: those throttled since the tick looked; emptied under @lock, see frequency.c
 * @traced: those of tracepoints, by pe_event.sw_node; others look only whether there are any	L
 * @nr_events: length of @events								L
 * @nr_groups: groups in lanes, which must be scheduled					L
 * @nr_inherit: those with attr.inherit							L
 * @nr_freq: those in frequency mode; the tick peeks					L
 * @pmu_ctxs: the PMUs with lanes here, by pe_pmu_ctx.ctx_entry				M
 * @next_seq: next sequence number for a queue						L
 * @clock: time during which the task ran (CPU contexts: always)			L
 * @any: the slot of events without CPU filter (CPU contexts: without cgroup)
 * @by_cpu: slots of a task context's events with a CPU filter, or NULL			R, M
 * @here: the slot in @by_cpu of @oncpu, or NULL					R, L
 * @entered: CPU contexts: slots of the cgroups that the CPU is in, deepest first		R, L
 * @changes: one more when an event comes, goes or becomes different from its copies	L
 * @unjoined: copies that are not in their family yet; only who makes them
 * @kin: whose members it counts for, see life/kin.c; or NULL				I
 * @kin_entry: on kin->ctxs							kin->lock
 * @home: the CPU that has it, or -1: I if @kin is per_cpu, else	kin->lock and L
 */
struct pe_ctx {
	union {
		struct perf_event_context;
		struct perf_event_context	pub;
	};
	raw_spinlock_t		lock;
	struct mutex		mutex;		/* see above */
	refcount_t		refs;
	int			cpu;
	int			oncpu;
	bool			dead;
	bool			tells_reads;
	struct list_head	events;
	struct list_head	sideband;
	struct hlist_head	traced;
	struct llist_head	throttled;
	unsigned int		nr_events;
	unsigned int		nr_groups;
	unsigned int		nr_inherit;
	unsigned int		nr_freq;
	struct list_head	pmu_ctxs;
	u64			next_seq;
	struct pe_clock		clock;
	struct pe_slot		any;
	struct pe_slot		**by_cpu;
	struct pe_slot		*here;
	struct hlist_head	entered;
	unsigned int		changes;
	struct list_head	unjoined;
	struct pe_kin		*kin;
	struct list_head	kin_entry;
	int			home;
	struct rcu_head		rcu;
};

/**
 * struct pe_kin - tasks that have equal inherited events, and the contexts that count for them
 * @refs: members, which are tasks, and who looks at it						A
 * @lock: raw, irqs off, outside of ctx->lock
 * @mutex: contexts are made for it, or copied from it
 * @per_cpu: a CPU has its own, or none: there are events for single CPUs			I
 * @closed: who is forked by a member does not become one
 * @dissolved: nor does a member stay one
 * @origin: the context that the first ones were copied from, while its task is a member
 * @origin_task: that task, or NULL; both change under its perf_event_mutex
 * @nr_ctxs: length of @ctxs								lock
 * @ctxs: by pe_ctx.kin_entry; the first stays the first				lock
 * @home: by CPU: the context that comes in there, or NULL				lock, R
 */
struct pe_kin {
	refcount_t		refs;
	raw_spinlock_t		lock;		/* see above */
	struct mutex		mutex;		/* see above */
	bool			per_cpu;
	bool			closed;
	bool			dissolved;
	struct pe_ctx		*origin;
	struct task_struct	*origin_task;
	unsigned int		nr_ctxs;
	struct list_head	ctxs;
	struct rcu_head		rcu;
	struct pe_ctx		*home[];
};

/**
 * struct pe_pmu_ctx - one PMU's share of a context
 * @ctx: the context									I
 * @ctx_entry: on ctx->pmu_ctxs								M
 * @any: the lane of ctx->any
 * @lanes: the others, by pe_lane.pmu_ctx_entry				ctx->mutex
 * @running: leaders of the groups on the PMU now, by pe_event.running_entry		L
 * @nr_groups: groups in all lanes							L
 * @nr_data: events that hold task_ctx_data						L
 * @starved: some eligible group did not fit; rotation has work to do			L
 * @stale: to be scheduled anew at the end of a cgroup switch				L
 * @roster: the list that tells the PMU of this, or NULL				I
 * @pmu_entry: there
 */
struct pe_pmu_ctx {
	union {
		struct perf_event_pmu_context;
		struct perf_event_pmu_context	pub;
	};
	struct pe_ctx		*ctx;
	struct list_head	ctx_entry;
	struct pe_lane		any;
	struct list_head	lanes;
	struct list_head	running[PE_NR_CLASSES];
	unsigned int		nr_groups;
	unsigned int		nr_data;
	bool			starved;
	bool			stale;
	struct pe_roster	*roster;
	struct list_head	pmu_entry;
};

/* Events, by pe_event.pmu_entry; PMU contexts of tasks, by pe_pmu_ctx.pmu_entry. */
enum pe_roster_list { PE_ROSTER_EVENTS, PE_ROSTER_PMU_CTXS, PE_NR_ROSTER_LISTS };

/**
 * struct pe_roster - what has to end when a PMU leaves; one for each CPU, against contention
 * @lock: leaf, irqs off
 * @lists: what was made on this CPU
 */
struct pe_roster {
	spinlock_t		lock;		/* see above */
	struct list_head	lists[PE_NR_ROSTER_LISTS];
};

/**
 * struct perf_cpu_pmu_context - a PMU on one CPU
 * @cpu_pmu_ctx: its share of the CPU context
 * @task_pmu_ctx: its share of the running task's context while that is in, or NULL	c
 * @nr_active: hardware events on the PMU						C
 * @exclusive: an exclusive group is on the PMU						C
 * @sched_cb_usage: users of pmu->sched_task						C
 * @sched_cb_entry: on pe_cpu.sched_cb while there are any				C
 * @mux: rotation timer, armed while groups are starved
 * @mux_lock: for @mux_armed and starting @mux
 * @mux_interval: its period
 * @mux_armed: it is started
 * @roster: see there
 */
struct perf_cpu_pmu_context {
	struct pe_pmu_ctx	cpu_pmu_ctx;
	struct pe_pmu_ctx	*task_pmu_ctx;
	int			nr_active;
	int			exclusive;
	int			sched_cb_usage;
	struct list_head	sched_cb_entry;
	struct hrtimer		mux;
	raw_spinlock_t		mux_lock;
	ktime_t			mux_interval;
	bool			mux_armed;
	struct pe_roster	roster;
};

/**
 * struct pe_cpu - per-CPU roots
 * @ctx: the CPU context; allocated once, lives for ever
 * @online: events may be opened on this CPU						ctx.mutex
 * @cgrp: the cgroup of current, or NULL when no cgroup event is here			ctx.lock
 * @nr_cgroup_events: events of cgroups in @ctx						ctx.lock
 * @sched_cb: PMUs that want pmu->sched_task						C
 * @throttled: something was throttled here since the last tick				c
 * @throttle_seq: number of the current tick, no two CPUs have the same; see overflow.c	c
 * @full_seq: that of the last tick that had all the samples it may have; see cpu_limit.c	c
 * @shared: the context of a kin that is in, for current or the task that comes; or NULL	c
 */
struct pe_cpu {
	struct pe_ctx		ctx;
	bool			online;
	struct perf_cgroup	*cgrp;
	unsigned int		nr_cgroup_events;
	struct list_head	sched_cb;
	unsigned int		throttled;
	u64			throttle_seq;
	u64			full_seq;
	struct pe_ctx		*shared;
};

DECLARE_PER_CPU(struct pe_cpu, pe_cpu);

/* What a sideband record is about; a bit of pe_event.plan.sideband each. */
enum pe_sideband {
	PE_SB_MMAP,		/* executable mappings */
	PE_SB_MMAP_DATA,	/* other mappings */
	PE_SB_COMM,
	PE_SB_TASK,		/* fork and exit; also wanted with mmap or comm, as the ABI says */
	PE_SB_SWITCH,
	PE_SB_NAMESPACES,
	PE_SB_KSYMBOL,
	PE_SB_BPF,
	PE_SB_TEXT_POKE,
	PE_SB_CGROUP,
	PE_SB_CHAIN,		/* user call chains, walked later */
};

/**
 * struct pe_plan - what samples and records of an event contain, compiled from its attr at open
 * @sample_type: attr.sample_type as far as it is implemented
 * @collect: PERF_SAMPLE bits whose values the core has to fetch for each sample
 * @sideband: BIT(enum pe_sideband) the event asked for
 * @header_size: bytes of the fixed-size sample fields (without struct perf_event_header)
 * @id_size: bytes of the sample_id_all trailer of other records, 0 without sample_id_all
 * @excludes: PE_EXCLUDES_* bits: where hits do not count
 * @direct: what a source may provide of a sample that nothing is collected for; 0: none
 * @wakeup_every: records per wakeup, 0: by watermark
 * @read_size: bytes that read() of this event returns now
 */
struct pe_plan {
	u64	sample_type;
	u64	collect;
	u32	sideband;
	u16	header_size;
	u16	id_size;
	u16	read_size;
	u8	excludes;
	u32	wakeup_every;
	u64	direct;
};

/* pe_event.pending_disable: why an overflow wants the event disabled */
enum pe_disable {
	PE_DISABLE_NOT,
	PE_DISABLE_AT_LIMIT,	/* the last sample of event_limit; not if there are new ones */
	PE_DISABLE_ALWAYS,
};

/**
 * struct pe_event - an event
 *
 * States (e->state, enum perf_event_state, changed only by pe_set_state()):
 *
 *   OFF        disabled
 *   INACTIVE   enabled, not counting (its leader is off, it did not fit, or its task is away)
 *   ACTIVE     counting; a passive event stays ACTIVE while its task is away, because nothing
 *              can hit it then
 *   ERROR      a pinned group that could not be scheduled
 *   EXIT       the task is gone; the final count can be read
 *   REVOKED    the PMU is gone; likewise
 *   DEAD       the last user closed it
 *
 * A *passive* event needs no hardware and no timer (software counters, dummy, bpf-output, and the
 * clocks when they only count).  A group of passive events is never scheduled; see context.c.
 */
struct pe_event {
	/* hit and sample path */
	struct pe_slot		*slot;			/* L: where it is eligible */
	struct perf_cgroup	*cgrp;			/* I: whose tasks it counts, or NULL */
	union {
		struct hlist_node sw_node;		/* R, L: pe_hits.list or ctx->traced */
		const local64_t	*hits[PE_NR_MODES];	/* L: counts_hits: pe_hits_bind() */
	};
	struct pe_event		*sink;			/* I: buffer and waiters of the output */
	struct pe_plan		plan;			/* I, read_size M */
	bool			passive;		/* I: hit without being scheduled */
	bool			counts_time;		/* I: passive clock, see pe_count_now() */
	bool			counts_hits;		/* I: follows slot->sw[].nr, see time.h */
	bool			other_overflow;		/* sinks: see pe_take_slow_overflow() */
	bool			slow_overflow;		/* sinks: likewise */
	bool			queued;			/* L: leader: in a lane (active groups) */
	bool			family_on;		/* F: what the last of family_gen was */
	bool			in_family;		/* F: child: on parent->children */
	bool			rb_was_linked;		/* B: rb_unlinked is valid */
	bool			was_idle;		/* for its freeing: see pe_pending_idle() */
	bool			told_why;		/* its maker's: see pe_refuse() */
	bool			own_tasks;		/* I: allowed by abi/own_tasks.c */
	bool			parked;			/* L: leader: another set has its turn */
	bool			of_session;		/* I: a member of a session, no copy */
	bool			stays_out;		/* opened: so does its task, see kin.c */

	/* times, see time.c */
	struct pe_clock		enabled;		/* l: driven by the context's clock, or */
							/*   that of the cgroup's slot */
	struct pe_clock		running;		/* l: driven by the slot's clock */

	/* pub.filter, published to hits by store-release: ioctl.c */
	struct event_filter	*hit_filter;

	/* membership */
	struct list_head	ctx_entry;		/* R, L */
	struct list_head	sideband_entry;		/* R, L */
	struct list_head	freq_entry;		/* L: on slot->freq while ACTIVE */
	struct list_head	mapped_entry;		/* L: since its first mmap() */
	unsigned int		nr_to_schedule;		/* M: leader: members to be scheduled */
	bool			samples_group;		/* M: leader: see pe_samples_group() */
	unsigned int		family_gen;		/* F: on and off; child: as of fork */
	unsigned int		session_gen;		/* F: session: DETACHs of ALL */
	struct queue_node	queue;			/* L: leader: in a lane */
	struct list_head	running_entry;		/* L: leader: on pmu_ctx->running[] */

	/* lifetime */
	struct pe_pmu_ctx	*data_pmu_ctx;		/* A: whose task_ctx_data it holds */
	refcount_t		refs;			/* A: fd or kernel user, children, pins */
	refcount_t		mem_refs;		/* A: itself, children: until RCU is done */
	struct mutex		family_lock;
	struct list_head	children;		/* F */
	union {
		/* child: F of the parent; ctx->unjoined before */
		struct list_head	child_entry;
		struct list_head	owner_entry;	/* O: opened */
		struct pe_session	*session;	/* I: of_session */
	};
	/* Only of who copies: a fork, kin->mutex. */
	struct pe_event		*clone;
	unsigned int		clone_gen;		/* family_gen, before clone_state */
	enum perf_event_state	clone_state;
	/* Sums of children that exited: written under F, read anywhere.  Any CPU adds hits. */
	atomic64_t		gone_count;
	atomic64_t		gone_enabled;
	atomic64_t		gone_running;
	struct module		*module;		/* I: of the PMU, held until the end */
	struct pe_roster	*roster;		/* I: the PMU's, or NULL */
	struct list_head	pmu_entry;		/* roster->lock */
	union {
		struct rcu_head		rcu;		/* when the last reference is gone */
		struct llist_node	put_later;	/* it is to be dropped; see lockless.rst */
	};

	/* buffer and its waiters; in use on sinks only */
	struct mutex		mmap_mutex;
	atomic_t		mmap_count;
	unsigned int		pending_sigtrap;	/* c: the work is queued, see sigtrap.c */
	struct list_head	rb_entry;		/* R, rb->listeners_lock */
	unsigned long		rb_unlinked;		/* B: RCU cookie, see bind.c */
	wait_queue_head_t	waitq;
	struct fasync_struct	*fasync;

	/* from NMI to irq */
	unsigned int		pending_wakeup;		/* c */
	unsigned int		pending_disable;	/* c: enum pe_disable */
	unsigned int		throttle_listed;	/* A: throttle_entry is in use */
	struct llist_node	throttle_entry;		/* on ctx->throttled */
	struct irq_work		pending_irq;
	struct irq_work		pending_disable_irq;

	/* attr.sigtrap, see sigtrap.c */
	unsigned long		sigtrap_addr;		/* c: for siginfo */
	struct callback_head	sigtrap_work;

#ifdef CONFIG_PERF_EVENTS_EXT
	struct pe_ext		*ext;			/* M: set once; NULL before */
#endif

	/* figures for fdinfo */
	atomic_t		nr_throttled;
	atomic_t		nr_wakeups;		/* of the opened event's readers */

	/* The last, for few events have memory for pub.ftrace_ops: see PE_EVENT_SIZE. */
	union {
		struct perf_event;
		struct perf_event	pub;
	};
};

/* What events have that are not trace events: all but the large last member. */
#if defined(CONFIG_EVENT_TRACING) && defined(CONFIG_FUNCTION_TRACER)
#define PE_EVENT_SIZE	offsetof(struct pe_event, ftrace_ops)
#else
#define PE_EVENT_SIZE	sizeof(struct pe_event)
#endif

/* error.c, for all layers: notes why something is refused, returns @err */
int pe_err(int err, const char *text);
ssize_t pe_show_error(char *buf);

/**
 * pe() - the whole event behind a contract pointer
 * @event: not NULL
 */
static inline struct pe_event *pe(const struct perf_event *event)
{
	return container_of((struct perf_event *)event, struct pe_event, pub);
}

static inline struct pe_event *pe_or_null(const struct perf_event *event)
{
	return event ? pe(event) : NULL;
}

/*
 * The context of an event.  It changes only from one CPU context to another, which live for ever,
 * by perf_pmu_migrate_context(): both ctx->mutex held, ctx->lock of the old one held.
 */
static inline struct pe_ctx *pe_ctx(const struct pe_event *e)
{
	return container_of(READ_ONCE(e->ctx), struct pe_ctx, pub);
}

static inline struct pe_pmu_ctx *pe_pmu_ctx(const struct pe_event *e)
{
	return container_of(e->pmu_ctx, struct pe_pmu_ctx, pub);
}

static inline struct pe_event *pe_leader(const struct pe_event *e)
{
	return pe(e->group_leader);
}

static inline bool pe_is_leader(const struct pe_event *e)
{
	return e->group_leader == &e->pub;
}

static inline struct pe_event *pe_parent(const struct pe_event *e)
{
	return pe_or_null(e->parent);
}

/* The event that the user opened: itself, or the parent of an inherited one. */
static inline struct pe_event *pe_origin(struct pe_event *e)
{
	return e->parent ? pe(e->parent) : e;
}

/* Is it a member of a session?  See life/session.c. */
static inline bool pe_is_session(const struct pe_event *e)
{
	return IS_ENABLED(CONFIG_PERF_EVENTS_EXT) && unlikely(e->of_session);
}

/* Is it the copy of such a member, for a target? */
static inline bool pe_of_target(const struct pe_event *e)
{
	return IS_ENABLED(CONFIG_PERF_EVENTS_EXT) && e->parent && pe_is_session(pe(e->parent));
}

/* The trace event behind an event of tracepoint.c, or NULL. */
static inline struct trace_event_call *pe_trace_call(const struct pe_event *e)
{
#ifdef CONFIG_EVENT_TRACING
	return e->tp_event;
#else
	return NULL;
#endif
}

/*
 * In the group of @leader, @e can be left to itself.  Not if it sits in another slot: an event of
 * the CPU may join the group of a cgroup's, and then counts only while that is in.
 */
static inline bool pe_passive_in_group(const struct pe_event *e, const struct pe_event *leader)
{
	return e->passive && e->slot == leader->slot;
}

/*
 * Most overflows do nothing but write a sample.  From now on those of @e, and of the events that
 * were inherited from it, are looked at more closely: a limit, a program, a signal, a tracer.  It
 * is said before there is any of these and never taken back, so there is nothing to order: an
 * overflow that does not see it yet might as well have come before.  Any context.
 */
static inline void pe_take_slow_overflow(struct pe_event *e)
{
	WRITE_ONCE(e->sink->slow_overflow, true);
	WRITE_ONCE(e->sink->other_overflow, true);
}

/* The same where overflows do nothing but write a sample and draw the next period. */
static inline void pe_take_drawing_overflow(struct pe_event *e)
{
	WRITE_ONCE(e->sink->other_overflow, true);
}

/* Members of a group that nobody has to schedule. */
static inline bool pe_group_passive(const struct pe_event *leader)
{
	return !leader->nr_to_schedule;
}

static inline bool pe_is_passive(const struct pe_event *e)
{
	return pe_group_passive(pe_leader(e));
}

/*
 * Do the samples of @e show its whole group?  The maker of one walks the members without a lock,
 * and has made room for all of them.  So where there is such a member, even a passive group gets
 * and loses members only where nobody can be in the middle of that: on ctx->oncpu, or while that is
 * -1.
 */
static inline bool pe_samples_group(const struct pe_event *e)
{
	return e->plan.sample_type & PERF_SAMPLE_READ && e->attr.read_format & PERF_FORMAT_GROUP;
}

/* All siblings of @leader; the caller holds ctx->mutex or ctx->lock, or has irqs off on its CPU. */
#define pe_for_each_sibling(s, leader)							\
	for ((s) = pe(list_first_entry(&(leader)->sibling_list, struct perf_event, sibling_list)); \
	     &(s)->sibling_list != &(leader)->sibling_list;				\
	     (s) = pe(list_next_entry(&(s)->pub, sibling_list)))

/* The leader, then its siblings. */
#define pe_for_each_member(m, leader)							\
	for ((m) = (leader); (m);							\
	     (m) = pe_next_member((m), (leader)))

static inline struct pe_event *pe_next_member(struct pe_event *m, struct pe_event *leader)
{
	struct list_head *next = m->sibling_list.next;

	return next == &leader->sibling_list ? NULL :
		pe(list_entry(next, struct perf_event, sibling_list));
}

#endif /* _KERNEL_EVENTS_TYPES_H */
