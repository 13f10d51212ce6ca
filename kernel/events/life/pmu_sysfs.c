// SPDX-License-Identifier: GPL-2.0
/*
 * PMUs in sysfs: /sys/bus/event_source/devices/<name>.
 *
 * Each registered PMU is a device without driver on the bus event_source.  Its attributes are
 *
 *   type				value for perf_event_attr.type
 *   perf_event_mux_interval_ms	time between two rotations, can be written
 *   nr_addr_filters		only for PMUs that filter by address
 *   cpumask			only for PMUs that several CPUs share: one CPU of each instance
 *
 * and those of the driver (pmu->attr_groups, pmu->attr_update).
 *
 * PMUs register from early boot on, when there is no driver core yet; their devices are made when
 * the bus comes up.  That is before the initcalls of drivers, so that a driver whose name is taken
 * hears of it.  A PMU that must not be seen sets pmu->dev to PE_NO_DEVICE before it registers.  A
 * device is made and removed under pe_pmus_lock or after its PMU has left the registry; its
 * attributes are used in task context, and device_del() waits for those in use, so they never see a
 * PMU that is gone.
 */
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/init.h>
#include <linux/sysfs.h>
#include "life.h"

static struct pmu *shown_pmu(struct device *dev)
{
	return dev_get_drvdata(dev);
}

static ssize_t type_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", shown_pmu(dev)->type);
}
static DEVICE_ATTR_RO(type);

static ssize_t perf_event_mux_interval_ms_show(struct device *dev, struct device_attribute *attr,
					       char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(shown_pmu(dev)->hrtimer_interval_ms));
}

static ssize_t perf_event_mux_interval_ms_store(struct device *dev, struct device_attribute *attr,
						const char *buf, size_t count)
{
	static DEFINE_MUTEX(one_writer);	/* the CPUs must agree in the end */
	struct pmu *pmu = shown_pmu(dev);
	int ms, ret;

	ret = kstrtoint(buf, 0, &ms);
	if (ret)
		return ret;
	if (ms < 1)
		return -EINVAL;

	guard(mutex)(&one_writer);
	if (ms != pmu->hrtimer_interval_ms) {
		guard(cpus_read_lock)();
		pe_mux_set_interval(pmu, ms);
	}
	return count;
}
static DEVICE_ATTR_RW(perf_event_mux_interval_ms);

static ssize_t nr_addr_filters_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", shown_pmu(dev)->nr_addr_filters);
}
static DEVICE_ATTR_RO(nr_addr_filters);

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return cpumap_print_to_pagebuf(true, buf, pe_scope_elected(shown_pmu(dev)->scope));
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *common_attrs[] = {
	&dev_attr_type.attr,
	&dev_attr_perf_event_mux_interval_ms.attr,
	&dev_attr_nr_addr_filters.attr,
	&dev_attr_cpumask.attr,
	NULL
};

static umode_t pe_sysfs_attr_mode(struct kobject *kobj, struct attribute *attr, int index)
{
	const struct pmu *pmu = shown_pmu(kobj_to_dev(kobj));

	if (attr == &dev_attr_nr_addr_filters.attr && !pmu->nr_addr_filters)
		return 0;
	if (attr == &dev_attr_cpumask.attr && pmu->scope == PERF_PMU_SCOPE_NONE)
		return 0;
	return attr->mode;
}

static const struct attribute_group common_group = {
	.attrs = common_attrs,
	.is_visible = pe_sysfs_attr_mode,
};
__ATTRIBUTE_GROUPS(common);

static ssize_t last_error_show(const struct bus_type *bus, char *buf)
{
	return pe_show_error(buf);
}
static BUS_ATTR_RO(last_error);

#ifdef CONFIG_PERF_EVENTS_EXT
/* What <uapi/linux/perf_event_ext.h> offers, by the names of the feature bits. */
static ssize_t extensions_show(const struct bus_type *bus, char *buf)
{
	return sysfs_emit(buf, "periods masks notify block sets formats sessions read\n");
}
static BUS_ATTR_RO(extensions);

/* What samples can become in place of records: UUID, name, number of areas. */
static ssize_t formats_show(const struct bus_type *bus, char *buf)
{
	return pe_formats_show(buf);
}
static BUS_ATTR_RO(formats);
#endif

static struct attribute *event_source_attrs[] = {
	&bus_attr_last_error.attr,
#ifdef CONFIG_PERF_EVENTS_EXT
	&bus_attr_extensions.attr,
	&bus_attr_formats.attr,
#endif
	NULL
};
ATTRIBUTE_GROUPS(event_source);

static const struct bus_type event_source = {
	.name = "event_source",
	.bus_groups = event_source_groups,
	.dev_groups = common_groups,
};

static bool bus_up;			/* pe_pmus_lock */

static void pe_sysfs_release(struct device *dev)
{
	kfree(dev);
}

static int add_device(struct device *dev, struct pmu *pmu)
{
	int ret = dev_set_name(dev, "%s", pmu->name);

	if (ret)
		return ret;
	ret = device_add(dev);
	if (ret || !pmu->attr_update)
		return ret;
	ret = sysfs_update_groups(&dev->kobj, pmu->attr_update);
	if (ret)
		device_del(dev);
	return ret;
}

/**
 * pe_pmu_dev_alloc() - show a PMU in sysfs, as soon as there is one
 * @pmu: it, with name and type; pe_pmus_lock held
 *
 * Return: 0 (also when the bus is not up, or the PMU is not to be seen) or an error; -EEXIST when
 * the name is taken.
 */
int pe_pmu_dev_alloc(struct pmu *pmu)
{
	struct device *dev;
	int ret;

	lockdep_assert_held(&pe_pmus_lock);
	if (!bus_up || pmu->dev)
		return 0;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	device_initialize(dev);
	dev->release = pe_sysfs_release;
	dev->bus = &event_source;
	dev->parent = pmu->parent;
	dev->groups = pmu->attr_groups;
	dev_set_drvdata(dev, pmu);

	/* Before the attributes appear: the driver's may look at it. */
	pmu->dev = dev;
	ret = add_device(dev, pmu);
	if (ret) {
		pmu->dev = NULL;
		put_device(dev);
	}
	return ret;
}

/**
 * pe_pmu_dev_free() - remove a PMU from sysfs; harmless when it is not there
 * @pmu: it
 *
 * Task context; waits for users of its attributes.
 */
void pe_pmu_dev_free(struct pmu *pmu)
{
	struct device *dev = pmu->dev;

	if (!dev || dev == PE_NO_DEVICE)
		return;
	device_unregister(dev);
	pmu->dev = NULL;
}

/* The driver core is there: bring the bus up, with the PMUs that are registered. */
static int __init pe_sysfs_init(void)
{
	struct pmu *pmu;
	int ret;

	guard(mutex)(&pe_pmus_lock);
	ret = bus_register(&event_source);
	if (WARN(ret, "perf: no bus event_source: %d\n", ret))
		return ret;
	bus_up = true;
	list_for_each_entry(pmu, &pe_pmus, entry) {
		ret = pe_pmu_dev_alloc(pmu);
		WARN(ret, "perf: PMU %s is not in sysfs: %d\n", pmu->name, ret);
	}
	return 0;
}
subsys_initcall(pe_sysfs_init);

/* Attribute of a named event: the terms that select it. */
ssize_t perf_event_sysfs_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const struct perf_pmu_events_attr *event =
		container_of(attr, struct perf_pmu_events_attr, attr);

	return event->event_str ? sysfs_emit(page, "%s\n", event->event_str) : 0;
}
EXPORT_SYMBOL_GPL(perf_event_sysfs_show);
