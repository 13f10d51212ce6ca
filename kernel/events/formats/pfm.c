// SPDX-License-Identifier: GPL-2.0
/*
 * Format "pfm": samples of a fixed layout one after the other, until the half is full, as the
 * default format of perfmon2 had them.
 *
 * A sample begins with a header that is the same for all events, and ends with what the group has
 * counted, if the event has PERF_SAMPLE_READ: of the members that its masks name, if it has masks.
 * Either the group stops with the sample behind which there is no room for another one, until the
 * reader has flipped the area and says RESTART; or it goes on, and what finds no room is lost.
 *
 * Samples are taken one at a time.  A reader may look at the half that is filled: what is below
 * @used is there.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/perf_event_ext.h>
#include <linux/perf_format.h>
#include <linux/sizes.h>

#define MOST_BYTES	SZ_1G

static_assert(sizeof(struct perf_ext_pfm_arg) == 16);
static_assert(sizeof(struct perf_ext_pfm) == 16);
static_assert(sizeof(struct perf_ext_pfm_sample) == 48);

/* All that there is to remember of an area. */
static bool stops(const struct perf_format_area *area)
{
	return area->private;
}

static int pfm_init(struct perf_format_area *area, const void *arg, size_t size)
{
	const struct perf_ext_pfm_arg *asked = arg;
	const size_t least = sizeof(struct perf_ext_pfm) + sizeof(struct perf_ext_pfm_sample);

	if (size != sizeof(*asked) || asked->flags & ~PERF_EXT_PFM_STOP || asked->pad ||
	    asked->bytes < least || asked->bytes > MOST_BYTES || asked->bytes % sizeof(u64))
		return -EINVAL;
	area->bytes = asked->bytes;
	area->private = asked->flags & PERF_EXT_PFM_STOP ? area : NULL;
	return 0;
}

/* What the event does not ask for is 0: it has not been looked up, or may not be shown. */
static void fill_in(struct perf_ext_pfm_sample *s, u64 type, const struct perf_sample_data *data)
{
	if (type & PERF_SAMPLE_CPU)
		s->cpu = data->cpu_entry.cpu;
	if (type & PERF_SAMPLE_TID) {
		s->pid = data->tid_entry.pid;
		s->tid = data->tid_entry.tid;
	}
	if (type & PERF_SAMPLE_IP)
		s->ip = data->ip;
	if (type & PERF_SAMPLE_TIME)
		s->time = data->time;
	if (type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		s->id = data->id;
	s->period = data->period;
}

static unsigned int pfm_sample(struct perf_format_area *area, struct perf_event *event,
			       struct perf_sample_data *data)
{
	const unsigned int full = PERF_VERDICT_NOTIFY | (stops(area) ? PERF_VERDICT_STOP : 0);
	struct perf_ext_pfm *half = perf_format_half(area);
	u32 read = perf_format_read_size(event);
	struct perf_ext_pfm_sample *s;
	u32 size = sizeof(*s) + read;
	u64 room;

	room = area->bytes - sizeof(*half) - half->used;
	if (size > room) {
		half->lost++;
		return stops(area) ? PERF_VERDICT_LOST | full : PERF_VERDICT_LOST;
	}
	s = (void *)(half + 1) + half->used;
	s->size = size;
	fill_in(s, event->attr.sample_type, data);
	if (read)
		perf_format_read(event, data, s->read, read);
	/* Release: a reader that sees the end sees the sample. */
	smp_store_release(&half->used, half->used + size);
	return size > room - size ? full : 0;
}

static struct perf_format pfm = {
	.name	= "pfm",
	.uuid	= { .b = PERF_EXT_FORMAT_PFM },
	.owner	= THIS_MODULE,
	.init	= pfm_init,
	.sample	= pfm_sample,
};

static int __init pfm_load(void)
{
	return perf_format_register(&pfm);
}

static void __exit pfm_unload(void)
{
	perf_format_unregister(&pfm);
}

module_init(pfm_load);
module_exit(pfm_unload);

MODULE_DESCRIPTION("Samples of performance events in a fixed layout");
MODULE_LICENSE("GPL");
