// SPDX-License-Identifier: GPL-2.0
/*
 * What performance events cost, as events: the PMU "perf_cost".
 *
 * An event is a sum (virtual.c) of one of the numbers of its CPU, see ../cost.h: of a CPU it counts
 * what the CPU does, of a task what its CPU does while the task is in.  So a task sees all of its
 * coming in but the beginning, and nothing of its going out, unless it stays in for another member
 * of a kin; that is why a switch is counted when a task has come in.
 *
 * The key is on while there is an event.  Opening and freeing turn it, in task context, where that
 * may sleep; counts are read as those of virtual.c are, irqs off, NMI included.  No locks.
 */
#include <linux/sysfs.h>

#include "sources.h"
#include "../cost.h"

/* attr.config: twice an enum pe_cost, one more for its time */
#define CODE(what, time)	((what) * 2 + (time))

static u64 pe_cost_read(const struct perf_event *event)
{
	enum pe_cost what = event->attr.config / 2;

	return event->attr.config % 2 ? pe_cost_time(what) : pe_cost_number(what);
}

static const struct perf_virtual reader = {
	.name	= "perf_cost",
	.sum	= true,
	.read	= pe_cost_read,
};

/* All events have it, and it stays. */
static struct pe_resource costs = {
	.v	= RCU_INITIALIZER(&reader),
	.sum	= true,
};

static void pe_cost_destroy(struct perf_event *event)
{
	static_branch_dec(&pe_cost_key);
}

static int check(struct pe_event *e)
{
	if (e->attr.config >= CODE(PE_NR_COSTS, 0))
		return pe_refuse(e, -ENOENT, "attr.config: no such cost");
	if (event_has_any_exclude_flag(&e->pub))
		return pe_refuse(e, -EINVAL, "attr.exclude_*: the kernel bears all of the cost");
	return pe_resource_check_attr(e);
}

static int pe_cost_init(struct perf_event *event)
{
	int err;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	event->pmu_private = &costs;
	/* Copies live no longer than their parent, whose key suffices. */
	if (event->parent)
		return 0;
	err = check(pe(event));
	if (err)
		return err;
	static_branch_inc(&pe_cost_key);
	event->destroy = pe_cost_destroy;
	return 0;
}

static ssize_t pe_cost_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const struct perf_pmu_events_attr *event =
		container_of(attr, struct perf_pmu_events_attr, attr);

	if (event->event_str)
		return sysfs_emit(page, "%s\n", event->event_str);
	return sysfs_emit(page, "event=%#llx\n", event->id);
}

#define ATTR(_name, ...)								\
	(&((struct perf_pmu_events_attr[]) {						\
		{ .attr = __ATTR(_name, 0444, pe_cost_show, NULL), __VA_ARGS__ },	\
	})[0].attr.attr)

#define NUMBER(_name, _what)	ATTR(_name, .id = CODE(_what, 0))
#define TIME(_name, _what)	ATTR(_name, .id = CODE(_what, 1))
#define UNIT(_name)		ATTR(_name.unit, .event_str = "ns")

static struct attribute *events_attrs[] = {
	NUMBER(pmis, PE_COST_PMI), TIME(pmi_time, PE_COST_PMI), UNIT(pmi_time),
	NUMBER(switches, PE_COST_SWITCH), TIME(switch_time, PE_COST_SWITCH), UNIT(switch_time),
	NUMBER(ticks, PE_COST_TICK), TIME(tick_time, PE_COST_TICK), UNIT(tick_time),
	NUMBER(rotations, PE_COST_ROTATION), TIME(rotate_time, PE_COST_ROTATION), UNIT(rotate_time),
	NUMBER(calls, PE_COST_CALL), TIME(call_time, PE_COST_CALL), UNIT(call_time),
	NUMBER(wakeups, PE_COST_WAKEUP), TIME(wakeup_time, PE_COST_WAKEUP), UNIT(wakeup_time),
	NULL
};

static const struct attribute_group events_group = {
	.name	= "events",
	.attrs	= events_attrs,
};

PMU_FORMAT_ATTR(event, "config:0-31");

static struct attribute *format_attrs[] = {
	&format_attr_event.attr,
	NULL
};

static const struct attribute_group format_group = {
	.name	= "format",
	.attrs	= format_attrs,
};

static const struct attribute_group *cost_groups[] = {
	&events_group,
	&format_group,
	NULL
};

struct pmu pe_cost_pmu = {
	.lasting	= true,
	.task_ctx_nr	= perf_sw_context,
	.capabilities	= PERF_PMU_CAP_NO_INTERRUPT,
	.attr_groups	= cost_groups,
	.event_init	= pe_cost_init,
	.add		= pe_resource_add,
	.del		= pe_resource_del,
	.start		= pe_resource_start,
	.stop		= pe_resource_stop,
	.read		= pe_resource_read,
};
