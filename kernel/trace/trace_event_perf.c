// SPDX-License-Identifier: GPL-2.0
/*
 * Trace events for perf: the half of it that belongs to tracing.
 *
 * kernel/events/tracepoint.c has the PMUs and delivers hits.  This file finds the trace event that
 * an attr names, or makes a probe of its own for it; decides who may have it; turns it on and off;
 * keeps, for each trace event, a list on each CPU of the events that count there; and lends the
 * memory in which the code of the trace event builds its record.
 *
 *   event_mutex	trace events, their perf_refcount and perf_events, records[]
 *   perf_events	lists by CPU, RCU; written by their CPU with irqs off, in add and del.  The
 *			code of the trace event looks at them with preemption off.
 *   records[]		by context level, per CPU: owned by the hit with the level's recursion mark
 *
 * What the code of a trace event looks at is freed after tracepoint_synchronize_unregister(), which
 * waits for all of it; so are the code's module and the probe itself let go after that.
 *
 * The trace event ftrace:function is different: each perf event of it has an ftrace_ops, because
 * each can have its own filter of functions.  The ops is called on all CPUs; its private word says
 * on which one the event counts.
 */
#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/security.h>

#include "trace.h"
#include "trace_probe.h"

/* Words, because records begin with one. */
struct record_room {
	unsigned long	words[PERF_MAX_TRACE_SIZE / sizeof(unsigned long)];
};

static struct record_room __percpu *records[PERF_NR_CONTEXTS];
static unsigned int records_users;		/* trace events that are on */

/* ------------------------------------------------------------------ permission */

/*
 * Every function of the kernel, those that run while user memory cannot be touched among them: a
 * sample must not try.
 */
static int may_follow_functions(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	int err = perf_allow_tracepoint();

	if (err || !is_sampling_event(event))
		return err;
	if (attr->sample_type & PERF_SAMPLE_STACK_USER || !attr->exclude_callchain_user)
		return -EINVAL;
	return 0;
}

/* Counts give nothing away, records do, unless they are about the user's own system calls. */
static int may_see_records(const struct trace_event_call *call, const struct perf_event *event)
{
	bool own_task = event->attach_state & PERF_ATTACH_TASK;

	if (!(event->attr.sample_type & PERF_SAMPLE_RAW))
		return 0;
	if (own_task && call->flags & TRACE_EVENT_FL_CAP_ANY)
		return 0;
	return perf_allow_tracepoint();
}

static int check_permission(struct trace_event_call *call, struct perf_event *event)
{
	int err = call->perf_perm ? call->perf_perm(call, event) : 0;

	if (err)
		return err;
	/* An opener that was allowed the first one may have its copies. */
	if (event->parent)
		return 0;
	if (ftrace_event_is_function(call))
		return may_follow_functions(event);
	return may_see_records(call, event);
}

/* --------------------------------------------------------------- on and off */

static void put_records(void)
{
	int level;

	if (--records_users)
		return;
	for (level = 0; level < PERF_NR_CONTEXTS; level++) {
		free_percpu(records[level]);
		records[level] = NULL;
	}
}

static int get_records(void)
{
	int level;

	if (records_users++)
		return 0;
	for (level = 0; level < PERF_NR_CONTEXTS; level++) {
		records[level] = alloc_percpu(struct record_room);
		if (!records[level]) {
			put_records();
			return -ENOMEM;
		}
	}
	return 0;
}

/* What the code of the trace event needs, and nothing of it runs any more or yet. */
static void unequip(struct trace_event_call *call)
{
	free_percpu(call->perf_events);
	call->perf_events = NULL;
	put_records();
}

static int equip(struct trace_event_call *call)
{
	int cpu, err = get_records();

	if (err)
		return err;
	call->perf_events = alloc_percpu(struct hlist_head);
	if (!call->perf_events) {
		put_records();
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu)
		INIT_HLIST_HEAD(per_cpu_ptr(call->perf_events, cpu));
	return 0;
}

static int turn_on(struct trace_event_call *call)
{
	int err;

	if (call->perf_refcount) {
		call->perf_refcount++;
		return 0;
	}
	err = equip(call);
	if (err)
		return err;
	/* Its class may look whether perf uses it. */
	call->perf_refcount = 1;
	err = call->class->reg(call, TRACE_REG_PERF_REGISTER, NULL);
	if (err) {
		call->perf_refcount = 0;
		unequip(call);
	}
	return err;
}

static void turn_off(struct trace_event_call *call)
{
	if (--call->perf_refcount)
		return;
	call->class->reg(call, TRACE_REG_PERF_UNREGISTER, NULL);
	tracepoint_synchronize_unregister();
	unequip(call);
}

/* Let @event count hits of @call once it is scheduled.  event_mutex held. */
static int connect(struct trace_event_call *call, struct perf_event *event)
{
	int err;

	lockdep_assert_held(&event_mutex);
	err = check_permission(call, event);
	if (err)
		return err;
	err = turn_on(call);
	if (err)
		return err;
	event->tp_event = call;
	err = call->class->reg(call, TRACE_REG_PERF_OPEN, event);
	if (err)
		turn_off(call);
	return err;
}

static void disconnect(struct perf_event *event)
{
	struct trace_event_call *call = event->tp_event;

	lockdep_assert_held(&event_mutex);
	call->class->reg(call, TRACE_REG_PERF_CLOSE, event);
	turn_off(call);
}

/* -------------------------------------------------- trace events that exist */

static struct trace_event_call *find_and_get(u64 id)
{
	struct trace_event_call *call;

	list_for_each_entry(call, &ftrace_events, list) {
		if (call->event.type == id && call->class && call->class->reg &&
		    trace_event_try_get_ref(call))
			return call;
	}
	return NULL;
}

/**
 * perf_trace_init() - connect a new event to the trace event that its attr.config names
 * @event: the event
 *
 * Contract; task context.  Return: 0; -EINVAL without such a trace event; -EPERM or what the
 * security module says; -ENOMEM.
 */
int perf_trace_init(struct perf_event *event)
{
	struct trace_event_call *call;
	int err;

	guard(mutex)(&event_mutex);
	call = find_and_get(event->attr.config);
	if (!call)
		return -EINVAL;
	err = connect(call, event);
	if (err)
		trace_event_put_ref(call);
	return err;
}

/**
 * perf_trace_destroy() - undo perf_trace_init()
 * @event: the event, which nobody schedules any more
 *
 * Contract; task context.
 */
void perf_trace_destroy(struct perf_event *event)
{
	guard(mutex)(&event_mutex);
	disconnect(event);
	trace_event_put_ref(event->tp_event);
}

/* ----------------------------------------------------- probes of one event */

#if defined(CONFIG_KPROBE_EVENTS) || defined(CONFIG_UPROBE_EVENTS)
/* A name in an attr.  Return: NULL without one or an empty one; ERR_PTR(-E2BIG) if it is longer. */
static char *copy_name(u64 user_name, long size)
{
	char *name;

	if (!user_name)
		return NULL;
	name = strndup_user(u64_to_user_ptr(user_name), size);
	if (name == ERR_PTR(-EINVAL))
		return ERR_PTR(-E2BIG);
	if (!IS_ERR(name) && !*name) {
		kfree(name);
		return NULL;
	}
	return name;
}

/* The probe is the event's own: it is destroyed where connecting fails, or after the opposite. */
static int connect_probe(struct trace_event_call *call, struct perf_event *event,
			 void (*destroy)(struct trace_event_call *call))
{
	int err;

	if (IS_ERR(call))
		return PTR_ERR(call);
	mutex_lock(&event_mutex);
	err = connect(call, event);
	mutex_unlock(&event_mutex);
	if (err)
		destroy(call);
	return err;
}

static void disconnect_probe(struct perf_event *event,
			     void (*destroy)(struct trace_event_call *call))
{
	mutex_lock(&event_mutex);
	disconnect(event);
	mutex_unlock(&event_mutex);
	destroy(event->tp_event);
}
#endif

#ifdef CONFIG_KPROBE_EVENTS
/**
 * perf_kprobe_init() - make a kprobe for a new event
 * @event: the event; its attr has the function's name or the address
 * @is_retprobe: where the function returns, rather than where it begins
 *
 * Contract; task context.  Return: 0; -EFAULT, -E2BIG by the name; errno of kprobes.
 */
int perf_kprobe_init(struct perf_event *event, bool is_retprobe)
{
	const struct perf_event_attr *attr = &event->attr;
	char *func = copy_name(attr->kprobe_func, KSYM_NAME_LEN);
	struct trace_event_call *call;

	if (IS_ERR(func))
		return PTR_ERR(func);
	call = create_local_trace_kprobe(func, (void *)(uintptr_t)attr->kprobe_addr,
					 attr->probe_offset, is_retprobe);
	kfree(func);
	return connect_probe(call, event, destroy_local_trace_kprobe);
}

/**
 * perf_kprobe_destroy() - undo perf_kprobe_init()
 * @event: the event, which nobody schedules any more
 *
 * Contract; task context.
 */
void perf_kprobe_destroy(struct perf_event *event)
{
	disconnect_probe(event, destroy_local_trace_kprobe);
}
#endif

#ifdef CONFIG_UPROBE_EVENTS
/**
 * perf_uprobe_init() - make a uprobe for a new event
 * @event: the event; its attr has the file's name and the offset in it
 * @ref_ctr_offset: where the file has a counter of attached probes, or 0
 * @is_retprobe: where the function returns, rather than where it begins
 *
 * Contract; task context.  Return: 0; -EINVAL without a name; -EFAULT, -E2BIG by the name; errno
 * of the file and of uprobes.
 */
int perf_uprobe_init(struct perf_event *event, unsigned long ref_ctr_offset, bool is_retprobe)
{
	char *path = copy_name(event->attr.uprobe_path, PATH_MAX);
	struct trace_event_call *call;

	if (IS_ERR_OR_NULL(path))
		return path ? PTR_ERR(path) : -EINVAL;
	call = create_local_trace_uprobe(path, event->attr.probe_offset, ref_ctr_offset,
					 is_retprobe);
	kfree(path);
	return connect_probe(call, event, destroy_local_trace_uprobe);
}

/**
 * perf_uprobe_destroy() - undo perf_uprobe_init()
 * @event: the event, which nobody schedules any more
 *
 * Contract; task context.
 */
void perf_uprobe_destroy(struct perf_event *event)
{
	disconnect_probe(event, destroy_local_trace_uprobe);
}
#endif

/* --------------------------------------------------------------- scheduling */

/* Does the class of the trace event keep its events itself? */
static bool handled_by_class(struct perf_event *event, enum trace_reg what)
{
	struct trace_event_call *call = event->tp_event;

	return call->class->reg(call, what, event);
}

/**
 * perf_trace_add() - the event counts on this CPU from now on
 * @event: the event
 * @flags: PERF_EF_START, or it begins stopped
 *
 * Contract, pmu->add(): on the CPU, irqs off.  Return: 0.
 */
int perf_trace_add(struct perf_event *event, int flags)
{
	struct hw_perf_event *hw = &event->hw;

	if (!(flags & PERF_EF_START))
		hw->state = PERF_HES_STOPPED;
	if (is_sampling_event(event))
		perf_swevent_set_period(event);
	if (!handled_by_class(event, TRACE_REG_PERF_ADD))
		hlist_add_head_rcu(&event->hlist_entry, this_cpu_ptr(event->tp_event->perf_events));
	return 0;
}

/**
 * perf_trace_del() - the event does not count any more
 * @event: the event
 * @flags: without meaning here
 *
 * Contract, pmu->del(): on the CPU, irqs off.
 */
void perf_trace_del(struct perf_event *event, int flags)
{
	if (!handled_by_class(event, TRACE_REG_PERF_DEL))
		hlist_del_rcu(&event->hlist_entry);
}

/* ------------------------------------------------------------------ records */

/**
 * perf_trace_buf_alloc() - memory for a record
 * @size: its size, such that with the u32 in front of it in a sample it is a multiple of 8
 * @regs: gets a place for registers that belongs to the caller as long as the record; or NULL
 * @rctxp: gets the recursion mark, which perf_tp_event() gives back
 *
 * Contract; preemption off, any context.  Return: the memory, not initialised; NULL inside of
 * another record's making at this context level.
 */
void *perf_trace_buf_alloc(int size, struct pt_regs **regs, int *rctxp)
{
	struct record_room *room;
	int level;

	if (WARN_ONCE(size > PERF_MAX_TRACE_SIZE, "a trace record of %d bytes, at most %d fit",
		      size, PERF_MAX_TRACE_SIZE))
		return NULL;
	level = perf_swevent_get_recursion_context();
	*rctxp = level;
	if (level < 0)
		return NULL;
	if (regs)
		*regs = this_cpu_ptr(&__perf_regs[level]);

	room = this_cpu_ptr(records[level]);
	/* The last bytes are padding that nobody writes: not what the record before left there. */
	memset((char *)room->words + size - sizeof(u64), 0, sizeof(u64));
	return room->words;
}
EXPORT_SYMBOL_GPL(perf_trace_buf_alloc);
NOKPROBE_SYMBOL(perf_trace_buf_alloc);

/**
 * perf_trace_buf_update() - fill in what all records begin with
 * @record: the record
 * @type: number of the trace event
 *
 * Contract; in the context of the hit.
 */
void perf_trace_buf_update(void *record, u16 type)
{
	tracing_generic_entry_update(record, type, tracing_gen_ctx());
}

NOKPROBE_SYMBOL(perf_trace_buf_update);

/* ---------------------------------------------------------- ftrace:function */

#ifdef CONFIG_FUNCTION_TRACER

/* With the u32 of a sample in front, a multiple of 8. */
#define FUNCTION_RECORD_SIZE \
	(ALIGN(sizeof(struct ftrace_entry) + sizeof(u32), sizeof(u64)) - sizeof(u32))

/* ops->private: the CPU on which the event counts, or nr_cpu_ids for none. */
static void count_on(struct perf_event *event, unsigned long cpu)
{
	event->ftrace_ops.private = (void *)cpu;
}

/* Inlined, so that a sample's registers are those of the caller of perf_function_called(). */
static __always_inline void record_call(struct perf_event *event, unsigned long ip,
					unsigned long parent_ip)
{
	/* The event is on no other list, so its node ends this one. */
	struct hlist_head only = { .first = &event->hlist_entry };
	struct ftrace_entry *entry;
	struct pt_regs regs = { };
	int level;

	static_assert(FUNCTION_RECORD_SIZE <= PERF_MAX_TRACE_SIZE);
	perf_fetch_caller_regs(&regs);
	entry = perf_trace_buf_alloc(FUNCTION_RECORD_SIZE, NULL, &level);
	if (!entry)
		return;
	entry->parent_ip = parent_ip;
	entry->ip = ip;
	perf_trace_buf_submit(entry, FUNCTION_RECORD_SIZE, level, TRACE_FN, 1, &regs, &only, NULL);
}

/* Some function is called, on any CPU, in any context, preemption off. */
static void perf_function_called(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	int mark;

	if (!rcu_is_watching())
		return;
	mark = ftrace_test_recursion_trylock(ip, parent_ip);
	if (mark < 0)
		return;
	if ((unsigned long)ops->private == smp_processor_id())
		record_call(container_of(ops, struct perf_event, ftrace_ops), ip, parent_ip);
	ftrace_test_recursion_unlock(mark);
}

static int follow_functions(struct perf_event *event)
{
	event->ftrace_ops.func = perf_function_called;
	count_on(event, nr_cpu_ids);
	return register_ftrace_function(&event->ftrace_ops);
}

/* Setting a filter may have failed and left the ops unregistered, which must not be done twice. */
static int leave_functions(struct perf_event *event)
{
	struct ftrace_ops *ops = &event->ftrace_ops;
	int err = 0;

	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		err = unregister_ftrace_function(ops);
	ftrace_free_filter(ops);
	return err;
}

/**
 * perf_ftrace_event_register() - class->reg() of ftrace:function
 * @call: the trace event
 * @type: what to do
 * @data: the perf event, for what is about one
 *
 * Contract.  Return: 0, a negative errno; 1 for ADD and DEL: the event goes on no list.
 */
int perf_ftrace_event_register(struct trace_event_call *call, enum trace_reg type, void *data)
{
	switch (type) {
	case TRACE_REG_PERF_REGISTER:
	case TRACE_REG_PERF_UNREGISTER:
		return 0;
	case TRACE_REG_PERF_OPEN:
		return follow_functions(data);
	case TRACE_REG_PERF_CLOSE:
		return leave_functions(data);
	case TRACE_REG_PERF_ADD:
		count_on(data, smp_processor_id());
		return 1;
	case TRACE_REG_PERF_DEL:
		count_on(data, nr_cpu_ids);
		return 1;
	default:
		return -EINVAL;		/* tracing itself has no use for it */
	}
}
#endif /* CONFIG_FUNCTION_TRACER */
