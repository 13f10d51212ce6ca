/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of format "hist": where the bucket of a key is.  See hist.c; pure, but for the table.
 */
#ifndef _KERNEL_EVENTS_HIST_TABLE_H
#define _KERNEL_EVENTS_HIST_TABLE_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/minmax.h>
#include <linux/perf_event_ext.h>

#define HIST_FILLING		1
#define HIST_FULL		2	/* a bit of each tag that says that there is a key */
#define HIST_MOST_PROBES	32U	/* enough for a table that is half full */

/* Does the bucket belong to the key, perhaps from now on? */
static inline bool hist_is_of(struct perf_ext_hist_bucket *b, u64 tag, const u64 *key)
{
	if (!READ_ONCE(b->tag) && !cmpxchg(&b->tag, 0, HIST_FILLING)) {
		b->key[0] = key[0];
		b->key[1] = key[1];
		smp_store_release(&b->tag, tag);	/* the key is there */
		return true;
	}
	/* Acquire: the key, if the tag says so. */
	return smp_load_acquire(&b->tag) == tag && b->key[0] == key[0] && b->key[1] == key[1];
}

/* hash_64() would be 32 bits of it.  The product's highest bits are the best. */
static inline u64 hist_hash(const u64 *key)
{
	return (key[0] ^ key[1] * GOLDEN_RATIO_64) * GOLDEN_RATIO_64;
}

/**
 * hist_bucket() - the bucket of a key
 * @table: a half
 * @bits: it has so many buckets, as a power of two
 * @key: two words
 *
 * Any context, on any number of CPUs.  Return: a bucket that has the key, perhaps from now on, or
 * NULL if there is none where it could be.
 */
static inline struct perf_ext_hist_bucket *hist_bucket(struct perf_ext_hist *table,
						       unsigned int bits, const u64 *key)
{
	unsigned int i, probes = min(HIST_MOST_PROBES, 1U << bits);
	u64 hash = hist_hash(key), first = hash >> (64 - bits);

	for (i = 0; i < probes; i++) {
		struct perf_ext_hist_bucket *b = &table->bucket[(first + i) & (BIT(bits) - 1)];

		if (hist_is_of(b, hash | HIST_FULL, key))
			return b;
	}
	return NULL;
}

#endif /* _KERNEL_EVENTS_HIST_TABLE_H */
