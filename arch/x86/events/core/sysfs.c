// SPDX-License-Identifier: GPL-2.0
/*
 * The PMU's folder in sysfs: events/, format/, caps/ and rdpmc (that one is in user.c).
 *
 * The show functions read tables that do not change after boot.  Vendors add or hide groups by
 * x86_pmu.attr_update, and print codes by x86_pmu.events_sysfs_show, for which
 * x86_event_sysfs_show() does the common part.
 */
#include <linux/device.h>
#include <linux/export.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/topology.h>

#include "core.h"

/* Generic events by the name that tools know; shown if the model maps them to something. */
static const char * const generic_name[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES]		= "cpu-cycles",
	[PERF_COUNT_HW_INSTRUCTIONS]		= "instructions",
	[PERF_COUNT_HW_CACHE_REFERENCES]	= "cache-references",
	[PERF_COUNT_HW_CACHE_MISSES]		= "cache-misses",
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS]	= "branch-instructions",
	[PERF_COUNT_HW_BRANCH_MISSES]		= "branch-misses",
	[PERF_COUNT_HW_BUS_CYCLES]		= "bus-cycles",
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND]	= "stalled-cycles-frontend",
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND]	= "stalled-cycles-backend",
	[PERF_COUNT_HW_REF_CPU_CYCLES]		= "ref-cycles",
};

static struct perf_pmu_events_attr generic_event[PERF_COUNT_HW_MAX];
static struct attribute *generic_attrs[PERF_COUNT_HW_MAX + 1];

/**
 * events_sysfs_show - what to write for the event of this name
 * @dev: the PMU
 * @attr: in a struct perf_pmu_events_attr; its string goes before its number
 * @page: where
 */
ssize_t events_sysfs_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct perf_pmu_events_attr *event = container_of(attr, struct perf_pmu_events_attr, attr);

	if (event->event_str)
		return sysfs_emit(page, "%s\n", event->event_str);
	return x86_pmu.events_sysfs_show(page, perf_get_hw_event_config(event->id));
}
EXPORT_SYMBOL_GPL(events_sysfs_show);

/**
 * events_ht_sysfs_show - the same for an event whose code depends on hyper-threading
 * @dev: the PMU
 * @attr: in a struct perf_pmu_events_ht_attr
 * @page: where
 *
 * It is on if any core has two threads online now; a tool reads again when that changes.  A guest
 * cannot know about threads that other guests have.
 */
ssize_t events_ht_sysfs_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct perf_pmu_events_ht_attr *event =
		container_of(attr, struct perf_pmu_events_ht_attr, attr);
	bool ht = topology_max_smt_threads() > 1;

	return sysfs_emit(page, "%s", ht ? event->event_str_ht : event->event_str_noht);
}

/**
 * events_hybrid_sysfs_show - the same for an event of hybrid PMUs
 * @dev: one of the PMUs
 * @attr: in a struct perf_pmu_events_hybrid_attr
 * @page: where
 *
 * The string has one code for all, or codes apart by ';' for each of the PMUs that the attribute is
 * for, in the order of x86_pmu.hybrid_pmu.
 */
ssize_t events_hybrid_sysfs_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct perf_pmu_events_hybrid_attr *event =
		container_of(attr, struct perf_pmu_events_hybrid_attr, attr);
	struct x86_hybrid_pmu *mine = hybrid_pmu(dev_get_drvdata(dev));
	const char *code = event->event_str;
	int i;

	if (hweight64(event->pmu_type) == 1)
		return sysfs_emit(page, "%s", code);

	for (i = 0; i < x86_pmu.num_hybrid_pmus && code; i++) {
		enum hybrid_pmu_type type = x86_pmu.hybrid_pmu[i].pmu_type;

		if (type & event->pmu_type & mine->pmu_type)
			return sysfs_emit(page, "%.*s", (int)strcspn(code, ";"), code);
		if (type & event->pmu_type) {
			code = strchr(code, ';');
			code = code ? code + 1 : NULL;
		}
	}
	return 0;
}
EXPORT_SYMBOL_GPL(events_hybrid_sysfs_show);

/**
 * x86_event_sysfs_show - write an event-select value in the words of format/
 * @page: where
 * @config: the value
 * @event: its event number, which is not in the same bits everywhere
 */
ssize_t x86_event_sysfs_show(char *page, u64 config, u64 event)
{
	static const struct { u64 bit; const char *word; } flag[] = {
		{ ARCH_PERFMON_EVENTSEL_EDGE,		",edge" },
		{ ARCH_PERFMON_EVENTSEL_PIN_CONTROL,	",pc" },
		{ ARCH_PERFMON_EVENTSEL_ANY,		",any" },
		{ ARCH_PERFMON_EVENTSEL_INV,		",inv" },
	};
	u64 umask = (config & ARCH_PERFMON_EVENTSEL_UMASK) >> 8;
	u64 cmask = (config & ARCH_PERFMON_EVENTSEL_CMASK) >> 24;
	int i, at;

	at = sysfs_emit(page, "event=0x%02llx", event);
	if (umask)
		at += sysfs_emit_at(page, at, ",umask=0x%02llx", umask);
	for (i = 0; i < ARRAY_SIZE(flag); i++) {
		if (config & flag[i].bit)
			at += sysfs_emit_at(page, at, "%s", flag[i].word);
	}
	if (cmask)
		at += sysfs_emit_at(page, at, ",cmask=0x%02llx", cmask);
	return at + sysfs_emit_at(page, at, "\n");
}

static umode_t x86_pe_generic_visible(struct kobject *kobj, struct attribute *attr, int id)
{
	return perf_get_hw_event_config(id) ? attr->mode : 0;
}

static ssize_t max_precise_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%d\n", x86_pmu_max_precise());
}

static DEVICE_ATTR_RO(max_precise);

static struct attribute *caps_attrs[] = { &dev_attr_max_precise.attr, NULL };
static struct attribute *setting_attrs[] = { &x86_pe_rdpmc_attr.attr, NULL };
static struct attribute *no_attrs[] = { NULL };

static struct attribute_group events_group __ro_after_init = {
	.name		= "events",
	.attrs		= no_attrs,
	.is_visible	= x86_pe_generic_visible,
};

static struct attribute_group format_group __ro_after_init = { .name = "format" };
static const struct attribute_group caps_group = { .name = "caps", .attrs = caps_attrs };
static const struct attribute_group setting_group = { .attrs = setting_attrs };

const struct attribute_group *x86_pe_attr_groups[] = {
	&setting_group, &format_group, &events_group, &caps_group, NULL,
};

/* The vendor is known: fill in the groups. */
void __init x86_pe_sysfs_init(void)
{
	int id;

	format_group.attrs = x86_pmu.format_attrs;
	if (!x86_pmu.events_sysfs_show)
		return;

	for (id = 0; id < PERF_COUNT_HW_MAX; id++) {
		struct device_attribute *attr = &generic_event[id].attr;

		generic_event[id].id = id;
		sysfs_attr_init(&attr->attr);
		attr->attr.name = generic_name[id];
		attr->attr.mode = 0444;
		attr->show = events_sysfs_show;
		generic_attrs[id] = &attr->attr;
	}
	events_group.attrs = generic_attrs;
}
