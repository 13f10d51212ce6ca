// SPDX-License-Identifier: GPL-2.0
/*
 * test_nway: format "nway", the example of Documentation/perf_events/formats.rst. A half of an area
 * has several parts. Samples fill one after the other, whose reader is told of each that is full;
 * then the first one is used again. Sampling never stops, and the reader has the time that the
 * other parts take.
 *
 * On a kernel that has no formats the module does nothing.
 */
#include <linux/module.h>

#ifdef CONFIG_PERF_EVENTS_EXT
#include <linux/perf_event.h>
#include <linux/perf_format.h>
#include <linux/slab.h>

#include "test_nway.h"

#define NEEDS	(PERF_SAMPLE_ADDR | PERF_SAMPLE_TID)
#define MOST	(1U << 20)

static size_t bytes_of(const struct nway_arg *arg)
{
	size_t part = struct_size_t(struct nway_part, sample, arg->samples);

	return sizeof(struct nway_half) + arg->parts * part;
}

static struct nway_part *part_of(struct nway_half *half, const struct nway_arg *arg, u64 nr)
{
	size_t part = struct_size_t(struct nway_part, sample, arg->samples);

	return (void *)(half + 1) + nr % arg->parts * part;
}

static int nway_init(struct perf_format_area *area, const void *arg, size_t size)
{
	const struct nway_arg *asked = arg;

	if (size != sizeof(*asked) || asked->parts < 2 || asked->parts > MOST ||
	    !asked->samples || asked->samples > MOST / asked->parts)
		return -EINVAL;
	area->bytes = bytes_of(asked);
	area->private = kmemdup(asked, sizeof(*asked), GFP_KERNEL);
	return area->private ? 0 : -ENOMEM;
}

static void nway_exit(struct perf_format_area *area)
{
	kfree(area->private);
}

static int nway_accept(struct perf_format_area *area, const struct perf_event *event)
{
	return (event->attr.sample_type & NEEDS) == NEEDS ? 0 : -EINVAL;
}

static unsigned int nway_sample(struct perf_format_area *area, struct perf_event *event,
				struct perf_sample_data *data)
{
	struct nway_half *half = perf_format_half(area);
	const struct nway_arg *arg = area->private;
	struct nway_part *part = part_of(half, arg, half->full);

	if (!half->next) {
		WRITE_ONCE(part->number, 0);
		smp_wmb();	/* who reads what was there sees it go, before it goes */
	}
	part->sample[half->next++] = (struct nway_sample) {
		.addr	= data->addr,
		.period	= data->period,
		.pid	= data->tid_entry.pid,
		.tid	= data->tid_entry.tid,
	};
	if (half->next < arg->samples)
		return 0;
	half->next = 0;
	smp_store_release(&part->number, half->full + 1);	/* the samples are there */
	smp_store_release(&half->full, half->full + 1);		/* and so is the part */
	return PERF_VERDICT_NOTIFY;
}

static struct perf_format nway = {
	.name	= "nway",
	.uuid	= { .b = NWAY_UUID },
	.owner	= THIS_MODULE,
	.init	= nway_init,
	.accept	= nway_accept,
	.exit	= nway_exit,
	.sample	= nway_sample,
};

static int __init nway_load(void)
{
	return perf_format_register(&nway);
}

static void __exit nway_unload(void)
{
	perf_format_unregister(&nway);
}

module_init(nway_load);
module_exit(nway_unload);
#endif

MODULE_DESCRIPTION("Samples of performance events in parts that take turns");
MODULE_LICENSE("GPL");
