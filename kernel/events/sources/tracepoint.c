// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints, kprobes and uprobes as events.
 *
 * kernel/trace/trace_event_perf.c is the other half: it finds or creates the trace event, enables
 * it, keeps its list of events on each CPU (event->hlist_entry while scheduled in), and lends the
 * memory for the record.  This file owns the three PMUs and delivers hits.
 *
 * Context of a hit: preemption off, any level, the recursion mark of current taken by
 * perf_trace_buf_alloc() and given back here.  RCU or the tracepoint's own protection keeps the
 * events on the list.
 *
 * Some scheduler tracepoints name the task that they are about.  An event that follows that task
 * counts and samples the hit too, though the task is not running: see hit_target().  It takes the
 * lock of that task's context, which a hit under a context lock could not; no code under such a
 * lock wakes a task.
 */
#include <linux/capability.h>
#include <linux/trace_events.h>

#include "hit.h"

#ifdef CONFIG_EVENT_TRACING

static void pe_tracepoint_destroy(struct perf_event *event)
{
	perf_trace_destroy(event);
}

static int pe_tracepoint_init(struct perf_event *event)
{
	int err;

	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return -ENOENT;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;

	err = perf_trace_init(event);
	if (!err)
		event->destroy = pe_tracepoint_destroy;
	return err;
}

#define TRACE_PMU(init, groups)					\
	{							\
		.task_ctx_nr	= perf_sw_context,		\
		.lasting	= true,				\
		.attr_groups	= groups,			\
		.event_init	= init,				\
		.add		= perf_trace_add,		\
		.del		= perf_trace_del,		\
		.start		= pe_software_start,		\
		.stop		= pe_software_stop,		\
		.read		= pe_software_read,		\
		.least_period	= pe_software_least_period,	\
	}

struct pmu pe_tracepoint_pmu = TRACE_PMU(pe_tracepoint_init, NULL);

/* ------------------------------------------------------------------- probes */

#if defined(CONFIG_KPROBE_EVENTS) || defined(CONFIG_UPROBE_EVENTS)
/*
 * attr.config of a probe: bit 0, at the return of the function; upper half, uprobes only, the
 * offset in the file of a counter that is above zero while a probe is attached.
 */
#define PROBE_AT_RETURN		BIT_ULL(0)
#define PROBE_COUNTER_SHIFT	32

PMU_FORMAT_ATTR(retprobe, "config:0");

/* Is it for the PMU that is asked?  The numbers of these PMUs are given at boot. */
static bool is_addressed(const struct perf_event *event)
{
	return event->attr.type == event->pmu->type;
}
#endif

#ifdef CONFIG_KPROBE_EVENTS
static struct attribute *kprobe_formats[] = {
	&format_attr_retprobe.attr,
	NULL,
};

static const struct attribute_group kprobe_format = {
	.name	= "format",
	.attrs	= kprobe_formats,
};

static const struct attribute_group *kprobe_groups[] = {
	&kprobe_format,
	NULL,
};

static int pe_kprobe_init(struct perf_event *event)
{
	int err;

	if (!is_addressed(event))
		return -ENOENT;
	if (!perfmon_capable())
		return -EACCES;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;

	err = perf_kprobe_init(event, event->attr.config & PROBE_AT_RETURN);
	if (!err)
		event->destroy = perf_kprobe_destroy;
	return err;
}

struct pmu pe_kprobe_pmu = TRACE_PMU(pe_kprobe_init, kprobe_groups);
#endif

#ifdef CONFIG_UPROBE_EVENTS
PMU_FORMAT_ATTR(ref_ctr_offset, "config:32-63");

static struct attribute *uprobe_formats[] = {
	&format_attr_retprobe.attr,
	&format_attr_ref_ctr_offset.attr,
	NULL,
};

static const struct attribute_group uprobe_format = {
	.name	= "format",
	.attrs	= uprobe_formats,
};

static const struct attribute_group *uprobe_groups[] = {
	&uprobe_format,
	NULL,
};

static int pe_uprobe_init(struct perf_event *event)
{
	u64 config = event->attr.config;
	int err;

	if (!is_addressed(event))
		return -ENOENT;
	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;

	err = perf_uprobe_init(event, config >> PROBE_COUNTER_SHIFT, config & PROBE_AT_RETURN);
	if (!err)
		event->destroy = perf_uprobe_destroy;
	return err;
}

struct pmu pe_uprobe_pmu = TRACE_PMU(pe_uprobe_init, uprobe_groups);
#endif

/* --------------------------------------------------------------------- hits */

/*
 * Read once for a hit: it may be set meanwhile.  Not event->filter, which tracing stores without
 * order to what it points to.
 */
static struct event_filter *filter_of(const struct perf_event *event)
{
	const struct perf_event *origin = event->parent ?: event;

	return READ_ONCE(pe(origin)->hit_filter);
}

static __always_inline bool wants(const struct perf_event *event, struct event_filter *filter,
				  void *record, struct pt_regs *regs)
{
	if (READ_ONCE(event->hw.state) & PERF_HES_STOPPED)
		return false;
	/* What is left are uprobes. */
	if (event->attr.exclude_kernel && !user_mode(regs))
		return false;
	return likely(!filter) || filter_match_preds(filter, record);
}

/**
 * struct trace_hit - a hit on behalf of a task
 * @count: how many times
 * @raw: the record
 * @regs: registers at the hit
 */
struct trace_hit {
	u64				count;
	struct perf_raw_record		*raw;
	struct pt_regs			*regs;
};

/*
 * The buffer of a task's events belongs to the CPU where the context is in.  While that is nowhere,
 * it is that of the holder of the context's lock: to come in, on whatever CPU, the context needs
 * the lock as well, and before it is in nothing of the task is hit or written, though it may run.
 * Where the task is, and what the scheduler has stored of that, does not matter; this may be inside
 * of its locks.
 */
static bool is_away(const struct pe_ctx *ctx)
{
	return ctx->oncpu < 0 && !ctx->dead;
}

/* And not of a set that waits for its turn. */
static bool is_enabled(const struct pe_event *e)
{
	return e->state >= PERF_EVENT_STATE_INACTIVE &&
	       e->group_leader->state >= PERF_EVENT_STATE_INACTIVE && !pe_leader(e)->parked;
}

static void hit_target_event(struct pe_event *e, const struct trace_hit *hit, bool away)
{
	struct perf_sample_data data __uninitialized;

	/* The buffer of an event with a CPU belongs to that CPU, which is this one. */
	if (e->state == PERF_EVENT_STATE_INACTIVE && (away || e->cpu >= 0)) {
		perf_sample_data_init(&data, 0, 0);
		perf_sample_save_raw_data(&data, &e->pub, hit->raw);
		pe_software_hit_away(e, hit->count, &data, hit->regs);
		return;
	}
	/* The CPU on which it counts adds to e->count without us. */
	if (e->state == PERF_EVENT_STATE_ACTIVE)
		atomic64_add(hit->count, &pe_origin(e)->gone_count);
	else
		local64_add(hit->count, &e->count);
}

/*
 * Events of a task other than current.  They are not on the list of this CPU.  While the task is
 * away its events are INACTIVE, and what happens to a waiting task must be counted nevertheless;
 * only disabled events are not.  If it is not away, but runs on another CPU, no sample is written.
 * The caller is inside of a wake-up, with locks of the scheduler: events of other kinds, however
 * many, are not looked at.
 */
static void hit_target(struct task_struct *task, const struct trace_hit *hit)
{
	const struct trace_entry *record = hit->raw->frag.data;
	int cpu = smp_processor_id();
	struct pe_ctx *ctx;
	struct pe_event *e;
	bool away;

	guard(rcu)();
	ctx = pe_task_ctx(task);
	if (!ctx || hlist_empty(&ctx->traced))
		return;

	guard(raw_spinlock_irqsave)(&ctx->lock);
	away = is_away(ctx);
	hlist_for_each_entry(e, &ctx->traced, sw_node) {
		if (e->attr.config != record->type)
			continue;
		/* A signal is for the task that causes the hit. */
		if (e->attr.sigtrap)
			continue;
		if (!is_enabled(e) || (e->cpu >= 0 && e->cpu != cpu))
			continue;
		if (wants(&e->pub, filter_of(&e->pub), hit->raw->frag.data, hit->regs))
			hit_target_event(e, hit, away);
	}
}

static noinline void hit_task(struct task_struct *task, u64 count, void *record, int size,
			      struct pt_regs *regs)
{
	struct perf_raw_record raw = { .frag = { .data = record, .size = size } };

	hit_target(task, &(struct trace_hit) { count, &raw, regs });
}

/* Does an event look at the record?  What all records begin with is filled in for those only. */
static bool reads_record(struct perf_event *event, struct event_filter *filter)
{
	return is_sampling_event(event) || filter;
}

static __always_inline void sample_hit(struct pe_event *e, u64 count, void *record, int size,
				       struct pt_regs *regs)
{
	struct perf_raw_record raw;
	struct perf_sample_data data __uninitialized;

	raw.frag = (struct perf_raw_frag) { .data = record, .size = size };
	perf_sample_data_init(&data, 0, 0);
	perf_sample_save_raw_data(&data, &e->pub, &raw);
	local64_add(count, &e->count);
	pe_sample_here(e, count, &data, regs);
}

/**
 * perf_tp_event() - a trace event was hit
 * @event_type: number of the trace event
 * @count: how many times
 * @record: what it says, in memory of perf_trace_buf_alloc(), with a struct trace_entry in front
 * @entry_size: its size
 * @regs: registers at the hit
 * @head: the events of this CPU that want it
 * @rctx: recursion mark, given back
 * @task: the task it is about, or NULL
 */
void perf_tp_event(u16 event_type, u64 count, void *record, int entry_size, struct pt_regs *regs,
		   struct hlist_head *head, int rctx, struct task_struct *task)
{
	struct event_filter *filter;
	struct perf_event *event;
	bool headed = false;

	lockdep_assert_preemption_disabled();
	hlist_for_each_entry_rcu(event, head, hlist_entry) {
		if (READ_ONCE(event->state) != PERF_EVENT_STATE_ACTIVE)
			continue;
		filter = filter_of(event);
		if (!headed && reads_record(event, filter)) {
			perf_trace_buf_update(record, event_type);
			headed = true;
		}
		if (!wants(event, filter, record, regs))
			continue;
		if (is_sampling_event(event))
			sample_hit(pe(event), count, record, entry_size, regs);
		else
			local64_add(count, &event->count);
	}
	if (task && task != current) {
		if (!headed)
			perf_trace_buf_update(record, event_type);
		hit_task(task, count, record, entry_size, regs);
	}

	pe_recursion_leave(current->perf_recursion, rctx);
}
EXPORT_SYMBOL_GPL(perf_tp_event);

/**
 * perf_trace_run_bpf_submit() - a trace event was hit to which BPF programs may be attached
 * @raw_data: the record
 * @size: its size
 * @rctx: recursion mark, given back
 * @call: the trace event
 * @count: how many times
 * @regs: registers at the hit
 * @head: the events of this CPU that want it
 * @task: the task it is about, or NULL
 *
 * The programs decide whether events see the hit.  They find @regs in the first word of the
 * record, which perf_tp_event() fills in afterwards.
 */
void perf_trace_run_bpf_submit(void *raw_data, int size, int rctx, struct trace_event_call *call,
			       u64 count, struct pt_regs *regs, struct hlist_head *head,
			       struct task_struct *task)
{
	bool pass = true;

	if (bpf_prog_array_valid(call)) {
		*(struct pt_regs **)raw_data = regs;
		pass = trace_call_bpf(call, raw_data) && !hlist_empty(head);
	}
	if (pass)
		perf_tp_event(call->event.type, count, raw_data, size, regs, head, rctx, task);
	else
		perf_swevent_put_recursion_context(rctx);
}
EXPORT_SYMBOL_GPL(perf_trace_run_bpf_submit);

#endif /* CONFIG_EVENT_TRACING */
