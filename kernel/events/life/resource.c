// SPDX-License-Identifier: GPL-2.0
/*
 * Resources come and go: their numbers, and what sysfs says of them.
 *
 * Each is an event of the PMU "virtual" (sources/virtual.c), with up to four files in its folder
 * events/, as perf knows them:
 *
 *	NAME			attr.config
 *	NAME.unit, NAME.scale	what perf prints, and multiplies the count with
 *	NAME.snapshot		a level: perf stat -I shows it as it is, not what it changed by
 *	NAME.per-pkg		there is one for all CPUs: perf counts one
 *
 * A number is not used again as long as there are others, so a tool that has read one from sysfs
 * gets that resource or none.
 *
 * Task context, under pe_resources_lock, which is outside of pe_pmus_lock and of the locks of
 * sysfs.  A reader of a file here takes none of these.
 */
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/idr.h>
#include <linux/init.h>
#include <linux/platform_device.h>
#include <linux/sysfs.h>

#include "life.h"

#define MOST_CHARS	31
#define LONGEST_SUFFIX	9		/* of ".snapshot" */

enum kind {
	NUMBER,
	UNIT,
	SCALE,
	SNAPSHOT,
	PER_PACKAGE,
	NR_KINDS,
};

static const char * const suffixes[NR_KINDS] = { "", ".unit", ".scale", ".snapshot", ".per-pkg" };

/**
 * struct note - a file about a resource
 * @attr: it; without text there is none
 * @name: its name
 * @text: what it says
 */
struct note {
	struct perf_pmu_events_attr	attr;
	char				name[MOST_CHARS + LONGEST_SUFFIX + 1];
	char				text[MOST_CHARS + 1];
};

/**
 * struct shown - a resource that is registered
 * @r: what events know of it; first, as it is freed by that
 * @notes: what sysfs says of it
 *
 * It stays as long as an event does.
 */
struct shown {
	struct pe_resource	r;
	struct note		notes[NR_KINDS];
};

static_assert(offsetof(struct shown, r) == 0);

static struct attribute *no_attrs[] = { NULL };		/* they come and go */

static const struct attribute_group events_group = {
	.name	= "events",
	.attrs	= no_attrs,
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

static const struct attribute_group *virtual_groups[] = {
	&events_group,
	&format_group,
	NULL
};

static void note(struct shown *s, const char *name, enum kind kind, const char *text)
{
	struct note *n = &s->notes[kind];

	if (!text)
		return;
	snprintf(n->name, sizeof(n->name), "%s%s", name, suffixes[kind]);
	strscpy(n->text, text);
	sysfs_attr_init(&n->attr.attr.attr);
	n->attr.attr.attr.name = n->name;
	n->attr.attr.attr.mode = 0444;
	n->attr.attr.show = perf_event_sysfs_show;
	n->attr.event_str = n->text;
}

static void note_all(struct shown *s, const struct perf_virtual *v)
{
	char number[MOST_CHARS];

	snprintf(number, sizeof(number), "event=%#x", s->r.id);
	note(s, v->name, NUMBER, number);
	note(s, v->name, UNIT, v->unit);
	note(s, v->name, SCALE, v->scale);
	note(s, v->name, SNAPSHOT, v->sum ? NULL : "1");
	note(s, v->name, PER_PACKAGE, v->local ? NULL : "1");
}

static void hide(struct shown *s)
{
	struct kobject *kobj = &pe_virtual_pmu.dev->kobj;
	enum kind kind;

	for (kind = NUMBER; kind < NR_KINDS; kind++)
		if (s->notes[kind].attr.event_str)
			sysfs_remove_file_from_group(kobj, &s->notes[kind].attr.attr.attr,
						     events_group.name);
}

static int show(struct shown *s)
{
	struct kobject *kobj = &pe_virtual_pmu.dev->kobj;
	enum kind kind;
	int err;

	for (kind = NUMBER; kind < NR_KINDS; kind++) {
		if (!s->notes[kind].attr.event_str)
			continue;
		err = sysfs_add_file_to_group(kobj, &s->notes[kind].attr.attr.attr,
					      events_group.name);
		if (!err)
			continue;
		while (kind--)
			if (s->notes[kind].attr.event_str)
				sysfs_remove_file_from_group(kobj, &s->notes[kind].attr.attr.attr,
							     events_group.name);
		return err;
	}
	return 0;
}

static bool proper_text(const char *text)
{
	return !text || strnlen(text, MOST_CHARS + 1) <= MOST_CHARS;
}

/* A word, as perf reads the names of events. */
static bool proper_name(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!isalnum(*c) && *c != '_')
			return false;
	return c > name && proper_text(name);
}

static bool is_taken(const char *name)
{
	struct pe_resource *r;
	int id;

	idr_for_each_entry(&pe_resources, r, id)
		if (!strcmp(container_of(r, struct shown, r)->notes[NUMBER].name, name))
			return true;
	return false;
}

static struct shown *make(const struct perf_virtual *v)
{
	struct shown *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	RCU_INIT_POINTER(s->r.v, v);
	s->r.sum = v->sum;
	s->r.public = v->public;
	s->r.owner = v->owner;
	refcount_set(&s->r.refs, 1);
	return s;
}

int perf_virtual_register(struct perf_virtual *v)
{
	struct shown *s;
	int err;

	if (!v->name || !v->read || !proper_name(v->name) || !proper_text(v->unit) ||
	    !proper_text(v->scale))
		return -EINVAL;

	guard(mutex)(&pe_resources_lock);
	if (is_taken(v->name))
		return -EEXIST;
	s = make(v);
	if (!s)
		return -ENOMEM;
	err = idr_alloc_cyclic(&pe_resources, &s->r, 1, 0, GFP_KERNEL);
	if (err < 0)
		goto free;
	s->r.id = err;
	note_all(s, v);
	/* What registers earlier than the PMU is shown with it. */
	err = pe_virtual_pmu.dev ? show(s) : 0;
	if (err)
		goto forget;
	v->resource = &s->r;
	return 0;
forget:
	idr_remove(&pe_resources, s->r.id);
free:
	kfree(s);
	return err;
}
EXPORT_SYMBOL_GPL(perf_virtual_register);

void perf_virtual_unregister(struct perf_virtual *v)
{
	struct pe_resource *r = v->resource;

	scoped_guard(mutex, &pe_resources_lock) {
		if (pe_virtual_pmu.dev)
			hide(container_of(r, struct shown, r));
		idr_remove(&pe_resources, r->id);
		RCU_INIT_POINTER(r->v, NULL);
	}
	synchronize_rcu();	/* NMIs that read it are over, too */
	pe_resource_put(r);
	v->resource = NULL;
}
EXPORT_SYMBOL_GPL(perf_virtual_unregister);

/*
 * attr.type of the two PMUs, where it is free: above the numbers that others are given in turn,
 * which are what they are without these, and in the first node of the tree that an open looks a
 * number up in.  Programs find it in sysfs.
 */
enum {
	TYPE_VIRTUAL	= 62,
	TYPE_COST,
};

static int __init register_pmu(struct pmu *pmu, const char *name, int type)
{
	int err = perf_pmu_register(pmu, name, type);

	if (err == -EEXIST)
		err = perf_pmu_register(pmu, name, -1);
	WARN(err, "perf: no PMU %s: %d\n", name, err);
	return err;
}

static int __init pe_resource_pmus_init(void)
{
	struct pe_resource *r;
	unsigned int i;
	int id, err;

	register_pmu(&pe_cost_pmu, "perf_cost", TYPE_COST);
	for (i = 0; i < pe_nr_kernel_resources; i++)
		WARN_ON(perf_virtual_register(&pe_kernel_resources[i]));

	guard(mutex)(&pe_resources_lock);
	pe_virtual_pmu.attr_groups = virtual_groups;
	pe_virtual_pmu.parent = &platform_bus;	/* the driver core has /sys/devices/virtual */
	err = register_pmu(&pe_virtual_pmu, "virtual", TYPE_VIRTUAL);
	if (err)
		return err;
	idr_for_each_entry(&pe_resources, r, id)
		WARN_ON(show(container_of(r, struct shown, r)));
	return 0;
}
device_initcall(pe_resource_pmus_init);
