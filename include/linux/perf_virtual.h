/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resources of the kernel as performance events: the PMU "virtual".
 *
 * For code that has a number that is worth being seen beside cycles.  Once registered it is in
 * /sys/bus/event_source/devices/virtual/events, and perf stat -e virtual/NAME/ counts it.  See
 * Documentation/perf_events/extensions.rst.
 */
#ifndef _LINUX_PERF_VIRTUAL_H
#define _LINUX_PERF_VIRTUAL_H

#include <linux/errno.h>
#include <linux/types.h>

struct module;
struct perf_event;
struct pe_resource;

/**
 * struct perf_virtual - a number that events can show
 */
struct perf_virtual {
	/** @name: in sysfs, up to 31 characters; must stay valid, as all of this */
	const char		*name;
	/** @unit: what perf prints behind the number, up to 31 characters; may be %NULL */
	const char		*unit;
	/** @scale: what perf multiplies the number with, likewise */
	const char		*scale;
	/** @sum: it only grows, and events show by how much; else it is a level */
	bool			sum;
	/** @local: each CPU has its own, so that perf adds them up; else perf counts one */
	bool			local;
	/** @public: for all users who may open events; else for those that may count on CPUs */
	bool			public;
	/**
	 * @read: What is it now?
	 *
	 * On the CPU on which @event counts, interrupts off, NMI included: no locks, no sleep.
	 * current is the task that @event counts for, be it a task's.
	 */
	u64			(*read)(const struct perf_event *event);
	/** @owner: module, which opened events hold */
	struct module		*owner;

	/** @resource: core */
	struct pe_resource	*resource;
};

#ifdef CONFIG_PERF_EVENTS_EXT
/**
 * perf_virtual_register - let events show a resource
 * @v: filled in; kept until perf_virtual_unregister()
 *
 * Task context.  Return: 0; -EINVAL without a proper name or @v->read; -EEXIST if the name is
 * taken; -ENOMEM, or an error of sysfs.
 */
int perf_virtual_register(struct perf_virtual *v);
/**
 * perf_virtual_unregister - withdraw a resource
 * @v: the resource
 *
 * Task context, sleeps.  No CPU is in @v->read any more when this returns.  Events that are left
 * stay at what they read last.
 */
void perf_virtual_unregister(struct perf_virtual *v);
#else
static inline int perf_virtual_register(struct perf_virtual *v)
{
	return -EOPNOTSUPP;
}

static inline void perf_virtual_unregister(struct perf_virtual *v) { }
#endif

#endif /* _LINUX_PERF_VIRTUAL_H */
