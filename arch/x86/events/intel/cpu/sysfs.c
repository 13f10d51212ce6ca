// SPDX-License-Identifier: GPL-2.0
/*
 * Files of the PMU in sysfs that only Intel has: more of events/, format/ and caps/, and settings.
 *
 * The attributes are made at boot of the labels in the model's description and stay for good.
 * Which of them can be seen is decided by the sysfs core's calls of is_visible: by capabilities of
 * the CPU, and on hybrid machines by the PMU that the folder belongs to.
 */
#include <linux/device.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "model.h"
#include "pebs/pebs.h"

struct named_file {
	union {
		struct device_attribute			dev;
		struct perf_pmu_events_attr		plain;
		struct perf_pmu_events_ht_attr		ht;
		struct perf_pmu_events_hybrid_attr	hybrid;
	};
};

typedef ssize_t show_fn(struct device *dev, struct device_attribute *attr, char *page);

static void __init make_file(struct named_file *file, const struct intel_pe_label *label,
			     show_fn *show)
{
	sysfs_attr_init(&file->dev.attr);
	if (label->ht) {
		file->ht.event_str_ht = label->ht;
		file->ht.event_str_noht = label->text;
		show = events_ht_sysfs_show;
	} else {
		file->hybrid.event_str = label->text;
		file->hybrid.pmu_type = label->pmus;
	}
	file->dev.attr.name = label->name;
	file->dev.attr.mode = 0444;
	file->dev.show = show;
}

/* Append the files of a list of labels. */
static int __init add_files(struct attribute ***to, const struct intel_pe_label *label,
			    show_fn *show)
{
	struct attribute **attrs;
	struct named_file *file;
	int have = 0, more = 0, i;

	while (*to && (*to)[have])
		have++;
	while (label && label[more].name)
		more++;

	attrs = krealloc_array(*to, have + more + 1, sizeof(*attrs), GFP_KERNEL);
	if (!attrs)
		return -ENOMEM;
	*to = attrs;
	attrs[have] = NULL;
	file = kcalloc(more, sizeof(*file), GFP_KERNEL);
	if (more && !file)
		return -ENOMEM;

	for (i = 0; i < more; i++) {
		make_file(&file[i], &label[i], show);
		attrs[have + i] = &file[i].dev.attr;
	}
	attrs[have + more] = NULL;
	return 0;
}

static struct x86_hybrid_pmu *pmu_of(struct kobject *kobj)
{
	return hybrid_pmu(dev_get_drvdata(kobj_to_dev(kobj)));
}

/*
 * The CPU's, or one of the PMU's that the file is for; -1: it is not for this PMU, or has no CPU.
 */
static int cpu_of(struct kobject *kobj, struct attribute *attr)
{
	struct named_file *file = container_of(attr, struct named_file, dev.attr);
	int cpu;

	if (!is_hybrid())
		return 0;
	if (!(pmu_of(kobj)->pmu_type & file->hybrid.pmu_type))
		return -1;
	cpu = cpumask_first(&pmu_of(kobj)->supported_cpus);
	return cpu < nr_cpu_ids ? cpu : -1;
}

static bool is_for_pmu(struct kobject *kobj, struct attribute *attr)
{
	struct named_file *file = container_of(attr, struct named_file, dev.attr);

	return !is_hybrid() || (pmu_of(kobj)->pmu_type & file->hybrid.pmu_type);
}

/* Some models have top-down events for general counters, others metrics. */
static umode_t intel_pe_topdown_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	struct pmu *pmu = is_hybrid() ? &pmu_of(kobj)->pmu : NULL;
	bool needs_metrics = x86_pmu.num_topdown_events;

	if (!is_for_pmu(kobj, attr))
		return 0;
	if (pmu && pmu_of(kobj)->pmu_type != hybrid_big)
		needs_metrics = false;
	return !needs_metrics || hybrid(pmu, intel_cap).perf_metrics ? attr->mode : 0;
}

/* The helper of load latencies is not precise itself. */
static umode_t intel_pe_mem_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	if (is_hybrid())
		return is_for_pmu(kobj, attr) ? attr->mode : 0;
	if (!x86_pmu.pebs && !intel_pe_arch_pebs() && strcmp(attr->name, "mem-loads-aux"))
		return 0;
	return attr->mode;
}

static umode_t intel_pe_tsx_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	int cpu = cpu_of(kobj, attr);
	bool has = is_hybrid() ? cpu >= 0 && cpu_has(&cpu_data(cpu), X86_FEATURE_RTM) :
				 boot_cpu_has(X86_FEATURE_RTM);

	return has ? attr->mode : 0;
}

static umode_t intel_pe_format_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	bool has = is_hybrid() ? cpu_of(kobj, attr) >= 0 : x86_pmu.version >= 2;

	if (!strncmp(attr->name, "in_tx", 5) && !boot_cpu_has(X86_FEATURE_RTM))
		return 0;
	return has ? attr->mode : 0;
}

static struct attribute_group topdown_group = {
	.name = "events", .is_visible = intel_pe_topdown_visible,
};

static struct attribute_group mem_group = {
	.name = "events", .is_visible = intel_pe_mem_visible,
};

static struct attribute_group tsx_group = {
	.name = "events", .is_visible = intel_pe_tsx_visible,
};

static struct attribute_group format_group = {
	.name = "format", .is_visible = intel_pe_format_visible,
};

/* Version 6 has a wider umask, under the old name, and one more filter. */
static u64 config_mask_of(struct device *dev)
{
	return hybrid(dev_get_drvdata(dev), config_mask);
}

static ssize_t umask_show(struct device *dev, struct device_attribute *attr, char *page)
{
	u64 more = config_mask_of(dev) & ARCH_PERFMON_EVENTSEL_UMASK2;

	return sysfs_emit(page, "config:8-15%s\n",
			  more == ARCH_PERFMON_EVENTSEL_UMASK2 ? ",40-47" : "");
}

static ssize_t eq_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "config:36\n");
}

static ssize_t acr_mask_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "config2:0-63\n");
}

static DEVICE_ATTR_RO(umask);
static DEVICE_ATTR_RO(eq);
static DEVICE_ATTR_RO(acr_mask);

static umode_t intel_pe_v6_format_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	struct pmu *pmu = dev_get_drvdata(kobj_to_dev(kobj));

	if (attr == &dev_attr_umask.attr)
		return attr->mode;
	if (attr == &dev_attr_acr_mask.attr)
		return hybrid(pmu, acr_cause_mask64) ? attr->mode : 0;
	return config_mask_of(kobj_to_dev(kobj)) & ARCH_PERFMON_EVENTSEL_EQ ? attr->mode : 0;
}

static struct attribute *v6_format_attrs[] = {
	&dev_attr_umask.attr, &dev_attr_eq.attr, &dev_attr_acr_mask.attr, NULL
};

static const struct attribute_group v6_format_group = {
	.name = "format", .attrs = v6_format_attrs, .is_visible = intel_pe_v6_format_visible,
};

static const char *pmu_name;

static ssize_t pmu_name_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", pmu_name);
}

static ssize_t branches_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%d\n", x86_pmu.lbr_nr);
}

static ssize_t branch_counter_nr_show(struct device *dev, struct device_attribute *attr,
				      char *page)
{
	return sysfs_emit(page, "%d\n", fls(x86_pmu.lbr_counters));
}

static ssize_t branch_counter_width_show(struct device *dev, struct device_attribute *attr,
					 char *page)
{
	return sysfs_emit(page, "%d\n", LBR_INFO_BR_CNTR_BITS);
}

static DEVICE_ATTR_RO(pmu_name);
static DEVICE_ATTR_RO(branches);
static DEVICE_ATTR_RO(branch_counter_nr);
static DEVICE_ATTR_RO(branch_counter_width);

static struct attribute *caps_attrs[] = {
	&dev_attr_pmu_name.attr,
	&dev_attr_branches.attr,
	&dev_attr_branch_counter_nr.attr,
	&dev_attr_branch_counter_width.attr,
	NULL,
};

static umode_t intel_pe_caps_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	bool has = true;

	if (attr == &dev_attr_branches.attr)
		has = x86_pmu.lbr_nr;
	else if (attr != &dev_attr_pmu_name.attr)
		has = x86_pmu.flags & PMU_FL_BR_CNTR;
	return has ? attr->mode : 0;
}

static const struct attribute_group caps_group = {
	.name = "caps", .attrs = caps_attrs, .is_visible = intel_pe_caps_visible,
};

static struct attribute *setting_attrs[] = {
	&intel_pe_freeze_attr.attr, &intel_pe_tfa_attr.attr, NULL,
};

static umode_t intel_pe_setting_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	if (attr == &intel_pe_tfa_attr.attr && !(x86_pmu.flags & PMU_FL_TFA))
		return 0;
	return attr->mode;
}

static const struct attribute_group setting_group = {
	.attrs = setting_attrs, .is_visible = intel_pe_setting_visible,
};

static ssize_t cpus_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct x86_hybrid_pmu *h = hybrid_pmu(dev_get_drvdata(dev));

	return cpumap_print_to_pagebuf(true, page, &h->supported_cpus);
}

static DEVICE_ATTR_RO(cpus);
static struct attribute *hybrid_attrs[] = { &dev_attr_cpus.attr, NULL };
static const struct attribute_group hybrid_group = { .attrs = hybrid_attrs };

/* The last is for hybrid PMUs only. */
static const struct attribute_group *update_groups[] = {
	&topdown_group, &mem_group, &tsx_group, &caps_group, &format_group, &v6_format_group,
	&setting_group, &hybrid_group, NULL,
};

static const struct intel_pe_label base_format[] __initconst = {
	{ "event", "config:0-7" }, { "umask", "config:8-15" }, { "edge", "config:18" },
	{ "pc", "config:19" }, { "inv", "config:23" }, { "cmask", "config:24-31" }, {}
};

static const struct intel_pe_label any_format[] __initconst = { { "any", "config:21" }, {} };

/**
 * intel_pe_sysfs_init - make the files
 * @model: what the model has
 */
int __init intel_pe_sysfs_init(const struct intel_pe_model *model)
{
	show_fn *show_event = is_hybrid() ? events_hybrid_sysfs_show : events_sysfs_show;
	const struct intel_pe_label *any = intel_pe_has_any_thread ? any_format : NULL;
	int i, ret;

	pmu_name = model->name;
	ret = add_files(&x86_pmu.format_attrs, base_format, events_sysfs_show) ?:
	      add_files(&x86_pmu.format_attrs, any, events_sysfs_show) ?:
	      add_files(&topdown_group.attrs, model->topdown, show_event) ?:
	      add_files(&mem_group.attrs, model->mem, show_event) ?:
	      add_files(&tsx_group.attrs, model->tsx, show_event) ?:
	      add_files(&format_group.attrs, NULL, events_sysfs_show);
	for (i = 0; i < ARRAY_SIZE(model->format); i++)
		ret = ret ?: add_files(&format_group.attrs, model->format[i], events_sysfs_show);
	if (ret)
		return ret;

	if (!is_hybrid())
		update_groups[ARRAY_SIZE(update_groups) - 2] = NULL;
	x86_pmu.attr_update = update_groups;
	return 0;
}
