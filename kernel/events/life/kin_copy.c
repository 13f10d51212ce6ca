// SPDX-License-Identifier: GPL-2.0
/*
 * Kin: which events tasks can have in common, and the contexts with their copies.
 *
 * A kin has as many contexts as members, or one for each CPU, and each has a copy of every event:
 * any of them may come in anywhere.  If the events are for single CPUs, as those of a profiler are
 * that has a buffer for each, one copy of each is enough, for all members ever: then each CPU has a
 * context of its own from the start, which stays there, with those that can count on it.
 *
 * Task context.
 */

#include "life.h"
#include "../ext.h"

/*
 * Could a program tell which task has which copy?
 *
 * Signals, records and values of single events tell; so does whatever acts on one task: exec,
 * tracing, breakpoints and probes, memory of the driver for each task, BPF output, which looks for
 * the CPU of the original, and who is not inherited by all.  A program may read the counter of an
 * event that it has mapped, unless that was for its samples, as those of all tasks go there.  A
 * pinned group says by the event that was opened if it did not fit.  A rule gives each copy periods
 * of its own.  Notification and formats stop single copies, and a session tells what each of its
 * targets has counted.  A resource may be one of current: between two tasks its value jumps.
 *
 * An origin that has got another period or program than its copies stays out.
 */
static bool cannot_share(struct pe_event *e)
{
	const struct perf_event_attr *attr = &e->attr;

	return !attr->inherit || attr->inherit_stat || attr->inherit_thread || attr->sigtrap ||
	       attr->enable_on_exec || attr->remove_on_exec || attr->pinned ||
	       attr->sample_type & (PERF_SAMPLE_READ | PERF_SAMPLE_STREAM_ID) ||
	       attr->type == PERF_TYPE_BREAKPOINT || pe_trace_call(e) ||
	       has_aux(&e->pub) || has_aux_action(&e->pub) || attr->aux_output ||
	       has_addr_filter(&e->pub) || READ_ONCE(e->attach_state) & PERF_ATTACH_TASK_DATA ||
	       (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT) ||
	       READ_ONCE(pe_origin(e)->stays_out) || pe_periods(e) || pe_notify(e) ||
	       pe_has_format(e) || pe_of_target(e) || pe_is_virtual(e) ||
	       READ_ONCE(e->state) <= PERF_EVENT_STATE_ERROR;
}

/**
 * pe_ctx_can_be_common() - could no program tell which task has which copy of the events?
 * @ctx: current's own context
 */
bool pe_ctx_can_be_common(struct pe_ctx *ctx)
{
	struct pe_event *e;

	/* Nobody frees an event of it without waiting for RCU. */
	guard(rcu)();
	list_for_each_entry_rcu(e, &ctx->events, ctx_entry)
		if (cannot_share(e))
			return false;
	return true;
}

/**
 * pe_kin_new() - a kin without contexts
 * @members: tasks that will be members; each has a reference
 *
 * Return: the kin, or NULL without memory.
 */
struct pe_kin *pe_kin_new(unsigned int members)
{
	struct pe_kin *kin = kzalloc(struct_size(kin, home, nr_cpu_ids), GFP_KERNEL);

	if (!kin)
		return NULL;
	refcount_set(&kin->refs, members);
	raw_spin_lock_init(&kin->lock);
	mutex_init(&kin->mutex);
	INIT_LIST_HEAD(&kin->ctxs);
	return kin;
}

/*
 * The copies are in no family yet: who has them join may not free the task that they are for, as a
 * fork that fails does.
 * @ctx: nobody else has it
 * @events: of current's own context, or of one of a kin whose mutex is held: each has but one
 *	e->clone
 */
static int copy_into(struct pe_ctx *ctx, struct pe_event **events, unsigned int nr)
{
	int err;

	mutex_lock_nested(&ctx->mutex, PE_FRESH_CTX);
	err = pe_copy_events(ctx, events, nr, 0);
	mutex_unlock(&ctx->mutex);
	return err;
}

/* The first one stays as long as the kin. */
static struct pe_ctx *first_ctx(struct pe_kin *kin)
{
	return list_first_entry(&kin->ctxs, struct pe_ctx, kin_entry);
}

/*
 * One more context, with copies of @events.
 * @home: the CPU that it is for, or -1
 *
 * Return: 0, an error, or -EAGAIN: the kin is closed, and the copies may have the period or program
 * that it is closed for.
 */
static int add_ctx(struct pe_kin *kin, struct task_struct *task, int home,
		   struct pe_event **events, unsigned int nr)
{
	struct pe_ctx *ctx = pe_ctx_new(task);
	int err;

	if (!ctx)
		return -ENOMEM;
	ctx->kin = kin;		/* before others find it by its events: next_kin() */
	ctx->home = home;
	err = copy_into(ctx, events, nr);
	if (!err) {
		pe_join_families(ctx);
		/* Closed is stored, and a mutex unlocked, before there is something new. */
		smp_rmb();
		err = READ_ONCE(kin->closed) ? -EAGAIN : 0;
	}
	if (err) {
		pe_ctx_end(ctx);
		return err;
	}
	guard(raw_spinlock_irq)(&kin->lock);
	list_add_tail(&ctx->kin_entry, &kin->ctxs);
	WRITE_ONCE(kin->nr_ctxs, kin->nr_ctxs + 1);
	if (home >= 0)
		kin->home[home] = ctx;
	return 0;
}

/**
 * pe_kin_is_short() - could more members be in at once than there are contexts?
 * @kin: the kin; who is about to become a member is counted already
 */
bool pe_kin_is_short(struct pe_kin *kin)
{
	return !kin->per_cpu &&
	       READ_ONCE(kin->nr_ctxs) < min(refcount_read(&kin->refs), num_possible_cpus());
}

/*
 * An event for one CPU needs one copy, in a context that stays there.  But on other CPUs, where it
 * never counts, it is enabled all the same, and who reads its times sees that.  And events for any
 * CPU need a copy for each then, however few members there are.
 */
static bool are_for_single_cpus(struct pe_event **events, unsigned int nr)
{
	unsigned int i, bound = 0;

	for (i = 0; i < nr; i++) {
		if (events[i]->cpu < 0)
			continue;
		if (events[i]->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			return false;
		bound++;
	}
	return bound && (u64)(nr - bound) * num_possible_cpus() <= bound;
}

static int add_ctx_of_cpu(struct pe_kin *kin, struct task_struct *task, int cpu,
			  struct pe_event **events, unsigned int nr, struct pe_event **mine)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++)
		if (events[i]->cpu < 0 || events[i]->cpu == cpu)
			mine[n++] = events[i];
	return n ? add_ctx(kin, task, cpu, mine, n) : 0;
}

static int add_one_per_cpu(struct pe_kin *kin, struct task_struct *task, struct pe_event **events,
			   unsigned int nr)
{
	struct pe_event **mine = kvmalloc_array(nr, sizeof(*mine), GFP_KERNEL);
	int cpu, err = mine ? 0 : -ENOMEM;

	kin->per_cpu = true;
	for_each_possible_cpu(cpu) {
		err = err ?: add_ctx_of_cpu(kin, task, cpu, events, nr, mine);
		cond_resched();
	}
	kvfree(mine);
	return err;
}

static int add_copies_of(struct pe_kin *kin, struct pe_ctx *from)
{
	struct pe_event **events;
	unsigned int nr;
	int err = 0, idx;

	/* PMUs of events that are not REVOKED stay meanwhile. */
	idx = pe_pmus_read_lock();
	events = pe_ctx_snapshot(from, &nr);
	if (!events)
		err = -ENOMEM;
	else if (!kin->nr_ctxs && are_for_single_cpus(events, nr))
		err = add_one_per_cpu(kin, from->task, events, nr);
	while (!err && pe_kin_is_short(kin))
		err = add_ctx(kin, from->task, -1, events, nr);
	if (events)
		pe_snapshot_put(events, nr);
	pe_pmus_read_unlock(idx);
	return err;
}

/**
 * pe_kin_add_ctxs() - make as many contexts as members need
 * @kin: the kin
 * @from: if it has none yet, current's own context; else NULL
 *
 * Return: 0; -EAGAIN, the kin is closed; -ENOMEM, or an error of a PMU.
 */
int pe_kin_add_ctxs(struct pe_kin *kin, struct pe_ctx *from)
{
	guard(mutex)(&kin->mutex);
	return pe_kin_is_short(kin) ? add_copies_of(kin, from ?: first_ctx(kin)) : 0;
}

/* All that it has, for a task that is no member, or is to be none.  kin->mutex held. */
static int copy_all(struct pe_ctx *ctx, struct pe_kin *kin)
{
	struct pe_event **events;
	struct pe_ctx *from;
	unsigned int nr, i, n;
	int err = 0;

	list_for_each_entry(from, &kin->ctxs, kin_entry) {
		events = pe_ctx_snapshot(from, &nr);
		if (!events)
			return -ENOMEM;
		/* But for the first one, those for any CPU are there; the order of others stays. */
		for (i = n = 0; i < nr; i++) {
			if (from != first_ctx(kin) && events[i]->cpu < 0)
				continue;
			swap(events[n], events[i]);
			n++;
		}
		err = copy_into(ctx, events, n);
		pe_snapshot_put(events, nr);
		if (err || !kin->per_cpu)
			break;
	}
	return err;
}

/**
 * pe_kin_copy() - a context with copies of all events of a kin, in no family yet
 * @kin: the kin
 * @task: whose it is to be
 *
 * Return: the context, or -ENOMEM or an error of a PMU as a pointer.
 */
struct pe_ctx *pe_kin_copy(struct pe_kin *kin, struct task_struct *task)
{
	struct pe_ctx *ctx = pe_ctx_new(task);
	int err, idx;

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	guard(mutex)(&kin->mutex);
	idx = pe_pmus_read_lock();
	err = copy_all(ctx, kin);
	pe_pmus_read_unlock(idx);
	if (!err)
		return ctx;
	pe_ctx_end(ctx);
	return ERR_PTR(err);
}

/**
 * pe_kin_is_empty() - have all events been closed?
 * @kin: the kin
 */
bool pe_kin_is_empty(struct pe_kin *kin)
{
	struct pe_ctx *ctx;

	/* All have the same; or none is added any more. */
	list_for_each_entry(ctx, &kin->ctxs, kin_entry) {
		if (READ_ONCE(ctx->nr_events))
			return false;
		if (!kin->per_cpu)
			break;
	}
	return true;
}

/**
 * pe_kin_ctx() - a context that has the events that count for members here
 * @kin: the kin
 *
 * Preemption off.
 */
struct pe_ctx *pe_kin_ctx(struct pe_kin *kin)
{
	return READ_ONCE(kin->home[smp_processor_id()]) ?: first_ctx(kin);
}
