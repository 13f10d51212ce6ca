// SPDX-License-Identifier: GPL-2.0
/*
 * What AMD adds to the PMU's folder in sysfs: format/, caps/branches, events/branch-brs.
 *
 * Read in task context; nothing here changes after boot.
 */
#include <linux/device.h>
#include <linux/stringify.h>
#include <linux/sysfs.h>

#include <asm/cpufeature.h>

#include "cpu.h"

#define FIELD_OF_CONFIG(name, bits)	PMU_FORMAT_ATTR(name, "config:" bits)

FIELD_OF_CONFIG(event, "0-7,32-35");
FIELD_OF_CONFIG(umask, "8-15");
FIELD_OF_CONFIG(edge, "18");
FIELD_OF_CONFIG(inv, "23");
FIELD_OF_CONFIG(cmask, "24-31");

struct attribute *amd_pe_format_attrs[] = {
	&format_attr_event.attr, &format_attr_umask.attr, &format_attr_edge.attr,
	&format_attr_inv.attr, &format_attr_cmask.attr, NULL,
};

/* x86_pmu.events_sysfs_show */
ssize_t amd_pe_show_event(char *page, u64 select)
{
	return x86_event_sysfs_show(page, select, amd_pe_code(select));
}

static ssize_t branches_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", x86_pmu.lbr_nr);
}

static DEVICE_ATTR_RO(branches);

static umode_t amd_pe_if_branches(struct kobject *kobj, struct attribute *attr, int i)
{
	return x86_pmu.lbr_nr ? attr->mode : 0;
}

static struct attribute *caps[] = { &dev_attr_branches.attr, NULL };
static const struct attribute_group caps_group = {
	.name = "caps", .attrs = caps, .is_visible = amd_pe_if_branches,
};

#ifdef CONFIG_PERF_EVENTS_AMD_BRS
/* The only event that can sample branches; tools find it by this name. */
static struct perf_pmu_events_attr brs = {
	.attr = {
		.attr = { .name = "branch-brs", .mode = 0444 },
		.show = events_sysfs_show,
	},
	.event_str = "event=" __stringify(AMD_FAM19H_BRS_EVENT) "\n",
};

static umode_t amd_pe_if_brs(struct kobject *kobj, struct attribute *attr, int i)
{
	return boot_cpu_has(X86_FEATURE_BRS) ? amd_pe_if_branches(kobj, attr, i) : 0;
}

static struct attribute *brs_events[] = { &brs.attr.attr, NULL };
static const struct attribute_group brs_events_group = {
	.name = "events", .attrs = brs_events, .is_visible = amd_pe_if_brs,
};
#endif

const struct attribute_group *amd_pe_attr_update[] = {
	&caps_group,
#ifdef CONFIG_PERF_EVENTS_AMD_BRS
	&brs_events_group,
#endif
	NULL,
};
