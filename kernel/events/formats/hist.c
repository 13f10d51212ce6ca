// SPDX-License-Identifier: GPL-2.0
/*
 * Format "hist": a table of how many samples, and events, have which key.
 *
 * The table is hashed; a key is in one of HIST_MOST_PROBES buckets from where its hash points.
 * Samples of all CPUs, and NMIs in the midst of one, fill it in without a lock (hist_table.h):
 *
 *	a free bucket is claimed by a cmpxchg of its tag from 0 to HIST_FILLING, gets its key, and
 *	then the tag that says so (release);
 *	who finds that tag (acquire) sees the key; who finds HIST_FILLING goes on to the next
 *	bucket, for nobody can wait there.  If it was being filled with the same key, the key has
 *	two;
 *	counts are added to atomically.
 *
 * A bucket never changes its key, until the half is cleared, when nobody writes there.
 */
#include <linux/atomic.h>
#include <linux/init.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/perf_event_ext.h>
#include <linux/perf_format.h>
#include <linux/slab.h>

#include "hist_table.h"

/**
 * struct table - an area
 * @key: enum perf_ext_hist_key of each
 * @shift: bits of each that do not matter
 * @bits: there are so many buckets, as a power of two
 */
struct table {
	u8		key[2];
	u8		shift[2];
	unsigned int	bits;
};

#define LEAST_BUCKETS	8
#define MOST_BUCKETS	BIT(24)

static_assert(sizeof(struct perf_ext_hist_arg) == 8);
static_assert(sizeof(struct perf_ext_hist_bucket) == 40);
static_assert(sizeof(struct perf_ext_hist) == 16);

/* One of these bits must be in attr.sample_type; 0: the sample always has it. */
static const u64 needs[] = {
	[PERF_EXT_KEY_NONE]		= 0,
	[PERF_EXT_KEY_IP]		= PERF_SAMPLE_IP,
	[PERF_EXT_KEY_ADDR]		= PERF_SAMPLE_ADDR,
	[PERF_EXT_KEY_PID]		= PERF_SAMPLE_TID,
	[PERF_EXT_KEY_TID]		= PERF_SAMPLE_TID,
	[PERF_EXT_KEY_CPU]		= PERF_SAMPLE_CPU,
	[PERF_EXT_KEY_EVENT]		= PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER,
	[PERF_EXT_KEY_CGROUP]		= PERF_SAMPLE_CGROUP,
	[PERF_EXT_KEY_DATA_SRC]		= PERF_SAMPLE_DATA_SRC,
	[PERF_EXT_KEY_PERIOD_LOG2]	= 0,
};

static u64 key_of(const struct perf_sample_data *data, enum perf_ext_hist_key key)
{
	switch (key) {
	case PERF_EXT_KEY_IP:
		return data->ip;
	case PERF_EXT_KEY_ADDR:
		return data->addr;
	case PERF_EXT_KEY_PID:
		return data->tid_entry.pid;
	case PERF_EXT_KEY_TID:
		return data->tid_entry.tid;
	case PERF_EXT_KEY_CPU:
		return data->cpu_entry.cpu;
	case PERF_EXT_KEY_EVENT:
		return data->id;
	case PERF_EXT_KEY_CGROUP:
		return data->cgroup;
	case PERF_EXT_KEY_DATA_SRC:
		return data->data_src.val;
	case PERF_EXT_KEY_PERIOD_LOG2:
		return data->period ? ilog2(data->period) : 0;
	default:
		return 0;
	}
}

static bool makes_sense(const struct perf_ext_hist_arg *arg)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(arg->key); i++)
		if (arg->key[i] >= ARRAY_SIZE(needs) || arg->shift[i] >= BITS_PER_TYPE(u64))
			return false;
	return arg->key[0] != PERF_EXT_KEY_NONE && is_power_of_2(arg->buckets) &&
	       arg->buckets >= LEAST_BUCKETS && arg->buckets <= MOST_BUCKETS;
}

static int hist_init(struct perf_format_area *area, const void *arg, size_t size)
{
	const struct perf_ext_hist_arg *asked = arg;
	struct table *t;

	if (size != sizeof(*asked) || !makes_sense(asked))
		return -EINVAL;
	t = kmalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	memcpy(t->key, asked->key, sizeof(t->key));
	memcpy(t->shift, asked->shift, sizeof(t->shift));
	t->bits = ilog2(asked->buckets);
	area->private = t;
	area->bytes = struct_size_t(struct perf_ext_hist, bucket, asked->buckets);
	return 0;
}

static void hist_exit(struct perf_format_area *area)
{
	kfree(area->private);
}

static int hist_accept(struct perf_format_area *area, const struct perf_event *event)
{
	const struct table *t = area->private;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t->key); i++) {
		u64 need = needs[t->key[i]];

		if (need && !(event->attr.sample_type & need))
			return -EINVAL;
	}
	return 0;
}

static void add(u64 *to, u64 nr)
{
	atomic64_add(nr, (atomic64_t *)to);
}

static unsigned int hist_sample(struct perf_format_area *area, struct perf_event *event,
				struct perf_sample_data *data)
{
	struct perf_ext_hist *table = perf_format_half(area);
	const struct table *t = area->private;
	struct perf_ext_hist_bucket *b;
	unsigned int i;
	u64 key[2];

	for (i = 0; i < ARRAY_SIZE(key); i++)
		key[i] = key_of(data, t->key[i]) >> t->shift[i] << t->shift[i];
	b = hist_bucket(table, t->bits, key);
	if (b) {
		add(&b->samples, 1);
		add(&b->events, data->period);
		return 0;
	}
	add(&table->lost_samples, 1);
	add(&table->lost_events, data->period);
	return PERF_VERDICT_LOST;
}

static struct perf_format hist = {
	.name	= "hist",
	.uuid	= { .b = PERF_EXT_FORMAT_HIST },
	.nests	= true,
	.owner	= THIS_MODULE,
	.init	= hist_init,
	.accept	= hist_accept,
	.exit	= hist_exit,
	.sample	= hist_sample,
};

static int __init hist_load(void)
{
	return perf_format_register(&hist);
}

static void __exit hist_unload(void)
{
	perf_format_unregister(&hist);
}

module_init(hist_load);
module_exit(hist_unload);

MODULE_DESCRIPTION("Samples of performance events as histograms");
MODULE_LICENSE("GPL");
