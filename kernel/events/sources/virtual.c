// SPDX-License-Identifier: GPL-2.0
/*
 * Resources of the kernel as events: the PMU "virtual".
 *
 * A resource is a number that can be read anywhere at any moment: free pages, a load, something of
 * a module.  life/resource.c registers and shows them, resources.c has those of the kernel itself.
 * An event is a level, and shows what its resource was when it was read last; or a sum, and shows
 * by how much its resource has grown while the event counted.
 *
 * These are active events of a software PMU: each switch reads them, and they go with any group,
 * whose samples and reads then show cycles and resources of one moment.  They have no interrupts.
 *
 * The operations run with interrupts off on the event's CPU; pe_resource_read() may be in an NMI
 * there that interrupted any of them.  Two reads that nest leave a sum right: each adds what the
 * resource has grown since the value that it took out of hw.prev_count.  Of a level they leave one
 * or the other.
 */
#include <linux/idr.h>
#include <linux/module.h>

#include "sources.h"

DEFINE_MUTEX(pe_resources_lock);		/* pe_resources */
DEFINE_IDR(pe_resources);

/**
 * pe_resource_put() - drop a reference
 * @r: the resource
 *
 * Task context.  An event has been withdrawn from its PMU when its own is dropped, so nobody reads.
 */
void pe_resource_put(struct pe_resource *r)
{
	if (refcount_dec_and_test(&r->refs))
		kfree(r);
}

/* How a resource is read, or NULL if it has been withdrawn.  RCU. */
static const struct perf_virtual *reader_of(const struct perf_event *event)
{
	const struct pe_resource *r = event->pmu_private;

	return rcu_dereference(r->v);
}

/**
 * pe_resource_read() - pmu->read(): bring the count up to date
 * @event: the event
 *
 * On the event's CPU, interrupts off, NMI included.
 */
void pe_resource_read(struct perf_event *event)
{
	const struct perf_virtual *v;
	u64 value;

	if (READ_ONCE(event->hw.state) & PERF_HES_STOPPED)
		return;
	guard(rcu)();
	v = reader_of(event);
	if (unlikely(!v))
		return;
	value = v->read(event);
	if (v->sum)
		local64_add(value - local64_xchg(&event->hw.prev_count, value), &event->count);
	else
		local64_set(&event->count, value);
}

/**
 * pe_resource_start() - pmu->start(): count from now on
 * @event: the event, stopped
 * @flags: without meaning here
 */
void pe_resource_start(struct perf_event *event, int flags)
{
	const struct perf_virtual *v;

	guard(rcu)();
	v = reader_of(event);
	if (v && v->sum)
		local64_set(&event->hw.prev_count, v->read(event));
	barrier();	/* an NMI that reads from here on must know from where */
	WRITE_ONCE(event->hw.state, 0);
}

/**
 * pe_resource_stop() - pmu->stop(): bring the count up to date and leave it there
 * @event: the event
 * @flags: without meaning here
 */
void pe_resource_stop(struct perf_event *event, int flags)
{
	pe_resource_read(event);
	WRITE_ONCE(event->hw.state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
}

/**
 * pe_resource_add() - pmu->add(): there is room for all
 * @event: the event
 * @flags: PERF_EF_START: start it too
 *
 * Return: 0.
 */
int pe_resource_add(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_START)
		pe_resource_start(event, flags);
	perf_event_update_userpage(event);
	return 0;
}

/**
 * pe_resource_del() - pmu->del()
 * @event: the event
 * @flags: without meaning here
 */
void pe_resource_del(struct perf_event *event, int flags)
{
	pe_resource_stop(event, flags);
}

/* ------------------------------------------------------------------ the PMU */

/* With a reference and its module held, or NULL. */
static struct pe_resource *get_resource(u64 id)
{
	struct pe_resource *r;

	guard(mutex)(&pe_resources_lock);
	r = id <= INT_MAX ? idr_find(&pe_resources, id) : NULL;
	if (!r || !try_module_get(r->owner))
		return NULL;
	refcount_inc(&r->refs);
	return r;
}

static void give_back(struct pe_resource *r)
{
	module_put(r->owner);
	pe_resource_put(r);
}

static void pe_virtual_destroy(struct perf_event *event)
{
	give_back(event->pmu_private);
}

/**
 * pe_resource_check_attr() - is there anything in an attr that such a PMU cannot do?
 * @e: an event that is being made; attr.config is the PMU's own matter
 *
 * For event_init().  Return: 0 or the errno for the user.
 */
int pe_resource_check_attr(struct pe_event *e)
{
	if (e->attr.config1 || e->attr.config2 || e->attr.config3)
		return pe_refuse(e, -EINVAL, "attr.config1, 2, 3: of no use with this PMU");
	if (has_branch_stack(&e->pub))
		return pe_refuse(e, -EOPNOTSUPP, "attr.sample_type: no branches here");
	return 0;
}

/**
 * pe_virtual_permit() - may the caller see the resource of an event?
 * @e: an event that was opened, of any PMU
 *
 * Copies are not asked for it, as they are made by whoever forks; those of a session's target are.
 * Return: 0 or -EACCES.
 */
int pe_virtual_permit(const struct pe_event *e)
{
	const struct pe_resource *r = e->pmu_private;

	if (e->pmu != &pe_virtual_pmu || r->public || !perf_allow_cpu())
		return 0;
	return pe_err(-EACCES, "attr.config: for those who may count on CPUs");
}

static int check(struct pe_event *e, const struct pe_resource *r)
{
	if (!r->public && perf_allow_cpu())
		return pe_refuse(e, -EACCES, "attr.config: for those who may count on CPUs");
	if (!r->sum && e->attr.inherit && e->attach_state & PERF_ATTACH_TASK)
		return pe_refuse(e, -EINVAL, "attr.inherit: levels of several tasks have no sum");
	return 0;
}

static int pe_virtual_init(struct perf_event *event)
{
	struct pe_event *e = pe(event);
	struct pe_resource *r;
	int err;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	/* Copies live no longer than their parent, which holds it. */
	if (event->parent) {
		event->pmu_private = event->parent->pmu_private;
		return 0;
	}
	err = pe_resource_check_attr(e);
	if (err)
		return err;

	r = get_resource(event->attr.config);
	if (!r)
		return pe_refuse(e, -ENOENT, "attr.config: no such resource");
	err = check(e, r);
	if (err) {
		give_back(r);
		return err;
	}
	event->pmu_private = r;
	event->destroy = pe_virtual_destroy;
	return 0;
}

/*
 * A number that is not of any mode is none that attr.exclude_* could leave out: they are ignored,
 * as by the clocks, and have to be set by users that may not count in the kernel.
 */
struct pmu pe_virtual_pmu = {
	.lasting	= true,
	.task_ctx_nr	= perf_sw_context,
	.capabilities	= PERF_PMU_CAP_NO_INTERRUPT,
	.event_init	= pe_virtual_init,
	.add		= pe_resource_add,
	.del		= pe_resource_del,
	.start		= pe_resource_start,
	.stop		= pe_resource_stop,
	.read		= pe_resource_read,
};
