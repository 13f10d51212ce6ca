// SPDX-License-Identifier: GPL-2.0
/*
 * Making and freeing events.
 *
 * pe_alloc() returns an event with one reference, bound to its PMU, in no context.  References:
 *
 *	the file descriptor or kernel user	dropped by pe_release()
 *	its family				an inherited event: dropped when it is unlinked
 *	each inherited event			on its parent, dropped when that is freed
 *	pins					snapshots and lookups, dropped by their taker
 *
 * The last pe_put() tears down what can sleep at once: accounting, buffer, PMU (which frees
 * hardware reservations, so a counter is free when close() returns, but for an inherited event
 * whose task is forking just then, or whose last copies were left to a worker), limits.  What a hit
 * on another CPU may still look at -- the event itself, its filter, context, namespace -- goes
 * after a grace period, and after an irq_work that such a hit queued has run.  Nobody waits for
 * that.  The irq_work of an inherited event looks at the parent, so a child counts in its parent's
 * mem_refs until then.
 *
 * Called from task context.
 */

#include <linux/llist.h>
#include <linux/pid_namespace.h>
#include <linux/task_work.h>
#include <linux/trace_events.h>
#include <linux/wait_bit.h>
#include "life.h"

struct kmem_cache *pe_event_cache;
static struct kmem_cache *whole_cache;
static atomic64_t last_id;

void __init pe_event_caches_init(void)
{
	whole_cache = KMEM_CACHE(pe_event, SLAB_PANIC);
	pe_event_cache = kmem_cache_create("pe_event_short", PE_EVENT_SIZE, 0, SLAB_PANIC, NULL);
}

/* ftrace:function, which needs all of struct perf_event, is of this type; copies are as well. */
static struct kmem_cache *cache_for(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_TRACEPOINT ? whole_cache : pe_event_cache;
}

/* Unique, never 0. */
static u64 new_id(void)
{
	return atomic64_inc_return(&last_id);
}

void pe_get(struct pe_event *e)
{
	refcount_inc(&e->refs);
}

bool pe_tryget(struct pe_event *e)
{
	return refcount_inc_not_zero(&e->refs);
}

/*
 * One less that looks at the memory of an event: its inherited events do until RCU is done with
 * them.  Any context but NMI.
 */
static void put_memory(struct pe_event *e)
{
	if (!refcount_dec_and_test(&e->mem_refs))
		return;
	if (e->ctx)
		pe_ctx_put(pe_ctx(e));
	if (e->cgrp)
		pe_cgroup_put(e->cgrp);
	put_pid_ns(e->ns);
	kmem_cache_free(cache_for(&e->attr), e);
}

static void pe_event_free_rcu(struct rcu_head *rcu)
{
	struct pe_event *e = container_of(rcu, struct pe_event, rcu);
	struct pe_event *parent = pe_parent(e);

	/* No hit can queue them any more; one that did may be waiting for its interrupt. */
	if (!pe_pending_idle(e)) {
		call_rcu(&e->rcu, pe_event_free_rcu);
		return;
	}
#ifdef CONFIG_EVENT_TRACING
	/* Hits of @e and its children looked at it until now. */
	ftrace_profile_free_filter(&e->pub);
#endif
	pe_addr_filters_fini(e);
	pe_throttle_unlist(e);
	pe_ext_free(e);
	put_memory(e);
	if (parent)
		put_memory(parent);
}

static void unbind_buffer(struct pe_event *e)
{
	mutex_lock(&e->mmap_mutex);
	pe_bind_buffer(e, NULL);
	mutex_unlock(&e->mmap_mutex);
}

/* Undo pe_alloc(), as far as it got: each step knows whether its counterpart was done. */
static void destroy(struct pe_event *e)
{
	struct pe_event *parent = pe_parent(e);

	pe_pending_sync(e);
	if (rcu_access_pointer(e->rb))
		unbind_buffer(e);
	pe_format_closed(e);
	if (e->attach_state & PERF_ATTACH_CALLCHAIN)
		put_callchain_buffers();
	pe_addr_filters_drop(e);
	pe_task_data_put(e);
	pe_bpf_release(e);
	pe_pmu_unbind_event(e);
	if (e->hw.target)
		put_task_struct(e->hw.target);
	call_rcu(&e->rcu, pe_event_free_rcu);
	if (parent)
		pe_put(parent);
}

/* There is no reference, and pe_tryget() refuses new ones. */
static void free_event(struct pe_event *e)
{
	WARN_ON_ONCE(e->attach_state & PERF_ATTACH_CONTEXT);
	pe_unaccount(e);
	security_perf_event_free(&e->pub);
	destroy(e);
}

/**
 * pe_put() - drop a reference; the last one frees the event
 * @e: an event that has left its context, unless other references remain
 *
 * Task context, may sleep.
 */
void pe_put(struct pe_event *e)
{
	if (refcount_dec_and_test(&e->refs))
		free_event(e);
}

/**
 * pe_put_last() - wait until a reference is the last one, and drop it
 * @e: an event that has left its context; who has another reference wakes &e->refs
 *
 * Whoever looks for events that are there from then on, as a PMU that leaves does, does not find
 * it: that it is the last one is seen and made true in one step.
 * Task context, sleeps.
 */
void pe_put_last(struct pe_event *e)
{
	wait_var_event(&e->refs, refcount_dec_if_one(&e->refs));
	smp_acquire__after_ctrl_dep();	/* what others did with it is over */
	free_event(e);
}

/* References that are dropped by a worker. */
static LLIST_HEAD(unwanted);

static void pe_event_put_unwanted(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&unwanted);
	struct pe_event *e, *next;

	llist_for_each_entry_safe(e, next, list, put_later)
		pe_put(e);
}

static DECLARE_WORK(unwanted_work, pe_event_put_unwanted);

/**
 * pe_put_outside() - as pe_put(), where freeing an event would take locks in the wrong order
 * @e: the event
 *
 * Those of CPU hotplug and tracing, under mmap_lock or while a CPU goes offline: the last reference
 * is left to a worker.
 */
void pe_put_outside(struct pe_event *e)
{
	if (refcount_dec_not_one(&e->refs))
		return;
	/* Nobody else has a reference, so it can be on the list only once. */
	llist_add(&e->put_later, &unwanted);
	schedule_work(&unwanted_work);
}

/**
 * pe_put_settle() - wait until those are freed
 *
 * Task context, without any lock that freeing an event takes.
 */
void pe_put_settle(void)
{
	flush_work(&unwanted_work);
}

/**
 * pe_snapshot_put() - drop what pe_ctx_snapshot() took
 * @events: the array, or NULL
 * @nr: its length, 0 without
 *
 * Task context, may sleep.
 */
void pe_snapshot_put(struct pe_event **events, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		pe_put(events[i]);
	kvfree(events);
}

static void init_lists(struct pe_event *e)
{
	INIT_LIST_HEAD(&e->sibling_list);
	INIT_LIST_HEAD(&e->active_entry);
	INIT_HLIST_NODE(&e->hlist_entry);
	INIT_LIST_HEAD(&e->addr_filters.list);
	raw_spin_lock_init(&e->addr_filters.lock);

	INIT_HLIST_NODE(&e->sw_node);
	INIT_LIST_HEAD(&e->ctx_entry);
	INIT_LIST_HEAD(&e->sideband_entry);
	INIT_LIST_HEAD(&e->freq_entry);
	INIT_LIST_HEAD(&e->mapped_entry);
	INIT_LIST_HEAD(&e->queue.link);
	INIT_LIST_HEAD(&e->running_entry);
	INIT_LIST_HEAD(&e->children);
	INIT_LIST_HEAD(&e->child_entry);
	INIT_LIST_HEAD(&e->pmu_entry);
	INIT_LIST_HEAD(&e->rb_entry);
	mutex_init(&e->family_lock);
	mutex_init(&e->mmap_mutex);
	init_waitqueue_head(&e->waitq);
	refcount_set(&e->refs, 1);
	refcount_set(&e->mem_refs, 1);
}

static void init_handler(struct pe_event *e, const struct pe_origin_args *args)
{
	if (args->handler) {
		e->overflow_handler = args->handler;
		e->overflow_handler_context = args->handler_context;
	} else if (!args->parent) {	/* a child's is its parent's: pe_become_child() */
		e->overflow_handler = e->attr.write_backward ? perf_event_output_backward :
							       perf_event_output_forward;
	}
}

/* What is known from the start, see pe_take_slow_overflow(). */
static void init_overflows(struct pe_event *e, const struct pe_origin_args *args)
{
	init_handler(e, args);
	if (e->sink == e && (e->attr.sigtrap || pe_needs_tracer(e)))
		pe_take_slow_overflow(e);
}

static void init_period(struct pe_event *e)
{
	struct hw_perf_event *hw = &e->hw;

	hw->sample_period = e->attr.sample_period;
	if (e->attr.freq && e->attr.sample_freq)
		hw->sample_period = 1;
	hw->last_period = hw->sample_period;
	local64_set(&hw->period_left, hw->sample_period);
}

static void pe_event_run_sigtrap(struct callback_head *work)
{
	struct pe_event *e = container_of(work, struct pe_event, sigtrap_work);

	pe_sigtrap_send(e);
	pe_put(e);
}

static struct pe_event *make(const struct pe_origin_args *args)
{
	int node = args->cpu >= 0 ? cpu_to_node(args->cpu) : NUMA_NO_NODE;
	struct pe_event *e = kmem_cache_alloc_node(cache_for(args->attr), GFP_KERNEL | __GFP_ZERO,
						   node);
	struct pe_event *parent = args->parent;

	if (!e)
		return NULL;
	init_lists(e);
	pe_pending_init(e);
	init_task_work(&e->sigtrap_work, pe_event_run_sigtrap);
	e->attr = *args->attr;
	e->cpu = args->cpu;
	e->own_tasks = args->own_tasks;
	e->oncpu = -1;
	e->group_leader = args->leader ? &args->leader->pub : &e->pub;
	e->ns = get_pid_ns(task_active_pid_ns(current));
	e->id = new_id();
	e->clock = local_clock;
	e->sink = e;
	if (args->task) {
		e->attach_state = PERF_ATTACH_TASK;
		e->hw.target = get_task_struct(args->task);
	}
	if (parent)
		pe_become_child(e, parent);
	init_overflows(e, args);
	e->state = e->attr.disabled ? PERF_EVENT_STATE_OFF : PERF_EVENT_STATE_INACTIVE;
	init_period(e);
	return e;
}

/* Which parts of AUX tracing are of no use with this PMU? */
static int check_tracing(struct pe_event *e)
{
	const struct perf_event_attr *attr = &e->attr;
	int caps = e->pmu->capabilities;

	if (attr->aux_output && (!(caps & PERF_PMU_CAP_AUX_OUTPUT) || attr->aux_pause ||
				 attr->aux_resume))
		return -EOPNOTSUPP;
	if (attr->aux_pause && attr->aux_resume)
		return -EINVAL;
	if (!attr->aux_start_paused)
		return 0;
	if (!(caps & PERF_PMU_CAP_AUX_PAUSE))
		return -EOPNOTSUPP;
	/* In a union: other PMUs have something else there, which event_init() has set up. */
	e->hw.aux_paused = 1;
	return 0;
}

static int connect_cgroup(struct pe_event *e, const struct pe_origin_args *args)
{
	struct perf_cgroup *cgrp;

	cgrp = args->cgroup_fd ? pe_cgroup_find(*args->cgroup_fd) : pe_cgroup_get(args->cgrp);
	return IS_ERR(cgrp) ? PTR_ERR(cgrp) : pe_cgroup_connect(e, cgrp);
}

/* What only some events need. */
static int equip(struct pe_event *e, const struct pe_origin_args *args)
{
	bool of_cgroup = args->cgroup_fd || args->cgrp;
	struct pmu *pmu = e->pmu;
	int err;

	/* nothing per task on such a PMU */
	if (pmu->task_ctx_nr == perf_invalid_context &&
	    (e->attach_state & PERF_ATTACH_TASK || of_cgroup))
		return pe_err(-EINVAL, "pid: the PMU counts for CPUs only");
	if (pmu->task_ctx_nr == perf_sw_context)
		e->event_caps |= PERF_EV_CAP_SOFTWARE;

	err = check_tracing(e);
	if (err)
		return err;
	if (e->parent)
		pe_bpf_inherit(e);
	if (of_cgroup) {
		err = connect_cgroup(e, args);
		if (err)
			return err;
	}
	if (!pe_pmu_claim_exclusive(e))
		return pe_err(-EBUSY, "the PMU counts for tasks or for CPUs, not for both");
	if (pmu->nr_addr_filters) {
		err = pe_addr_filters_init(e);
		if (err)
			return err;
	}
	if (!e->parent && e->attr.sample_type & PERF_SAMPLE_CALLCHAIN) {
		err = get_callchain_buffers(e->attr.sample_max_stack);
		if (err)
			return err;
		e->attach_state |= PERF_ATTACH_CALLCHAIN;
	}

	pe_plan_compile(&e->plan, &e->attr);
	e->header_size = e->plan.header_size;
	e->passive = pe_software_passive(e);
	e->counts_time = e->passive && e->pmu != &pe_swevent_pmu;
	e->counts_hits = e->passive && e->pmu == &pe_swevent_pmu && !is_sampling_event(&e->pub) &&
			 !e->attr.freq;
	return security_perf_event_alloc(&e->pub);
}

/* There are no per-CPU roots of a number that no CPU can ever have. */
static bool may_exist(int cpu)
{
	return (unsigned int)cpu < nr_cpu_ids && cpu_possible(cpu);
}

static void note_refusal(const struct pe_event *e, int err)
{
	if (e->told_why)
		return;
	pe_err(err, err == -ENOENT ? "attr.type, config: no PMU has such an event" :
				     "attr: refused by the PMU");
}

/**
 * pe_alloc() - make an event
 * @args: what it is to be; @args->cpu is a CPU number, or -1 with a task
 *
 * Task context, in a pe_pmus_read_lock() section: see pe_pmu_bind_event().
 * Return: the event, or ERR_PTR with the errno of the ABI.
 */
struct pe_event *pe_alloc(const struct pe_origin_args *args)
{
	struct pe_event *e;
	int err;

	if (!may_exist(args->cpu) && (!args->task || args->cpu != -1))
		return ERR_PTR(pe_err(-EINVAL, "cpu: no such CPU, or neither pid nor cpu"));
	/* The task on the CPU asked for no signal. */
	if (args->attr->sigtrap && !args->task)
		return ERR_PTR(pe_err(-EINVAL, "attr.sigtrap: only for a task"));

	e = make(args);
	if (!e)
		return ERR_PTR(-ENOMEM);

	/* Samples of inherited events say whose values they carry. */
	if (e->attr.inherit && e->attr.sample_type & PERF_SAMPLE_READ &&
	    !(e->attr.sample_type & PERF_SAMPLE_TID)) {
		err = pe_err(-EINVAL, "attr.sample_type: READ with inherit needs TID");
		goto fail;
	}
	if (!(e->attr.sample_type & PERF_SAMPLE_BRANCH_STACK))
		e->attr.branch_sample_type = 0;

	err = pe_pmu_bind_event(e);
	if (err)
		note_refusal(e, err);
	else
		err = equip(e, args);
	if (err)
		goto fail;
	pe_account(e);
	return e;
fail:
	destroy(e);
	return ERR_PTR(err);
}
