// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the pure parts of masks, of sets, of hits that are divided into periods, and of formats;
 * what is no resource.
 *
 * Events here are never opened: they are memory with what the functions look at.
 */
#include <kunit/test.h>
#include <linux/perf_event_ext.h>
#include <linux/perf_virtual.h>

#include "../ext.h"
#include "../formats/hist_table.h"
#include "../output/output.h"
#include "../sched/sched.h"
#include "../sources/sources.h"

struct fake {
	struct pe_event	e;
	struct pe_ext	ext;
};

/* So many events of one group. */
static struct fake **group(struct kunit *test, int nr)
{
	struct fake **f = kunit_kzalloc(test, nr * sizeof(*f), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	for (i = 0; i < nr; i++) {
		f[i] = kunit_kzalloc(test, sizeof(**f), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, f[i]);
		f[i]->e.ext = &f[i]->ext;
		f[i]->e.group_leader = &f[0]->e.pub;
		INIT_LIST_HEAD(&f[i]->e.sibling_list);
		if (i)
			list_add_tail(&f[i]->e.sibling_list, &f[0]->e.sibling_list);
	}
	return f;
}

/* ---- hits ---- */

/*
 * A hit that counts 100, where 11 were missing: it ends periods of 11 17 11 11 12 12 10 10, and is
 * the sixth event of one of 16.
 */
static void weight(struct kunit *test)
{
	struct fake *f = group(test, 1)[0];
	struct pe_periods *p = &f->ext.periods;
	struct hw_perf_event *hw = &f->e.hw;

	p->rule = (struct pe_period_rule){
		.shorter = 10, .longer = 10, .initial = 10, .mask = 7, .seed = 1,
	};
	pe_period_begin(p);
	hw->last_period = pe_period_draw(p);
	hw->sample_period = hw->last_period;
	KUNIT_EXPECT_EQ(test, hw->last_period, 11);
	local64_set(&hw->period_left, 100 - hw->last_period);
	KUNIT_EXPECT_EQ(test, pe_periods_divide(&f->e, p), 8);
	KUNIT_EXPECT_EQ(test, p->ended, 8);
	KUNIT_EXPECT_EQ(test, hw->last_period, 16);
	KUNIT_EXPECT_EQ(test, local64_read(&hw->period_left), 6 - 16);
	KUNIT_EXPECT_FALSE(test, p->dividing);
}

/* A hit within the period under way ends none; the event that completes it ends one. */
static void last_event_of_a_period(struct kunit *test)
{
	struct fake *f = group(test, 1)[0];
	struct pe_periods *p = &f->ext.periods;

	p->rule = (struct pe_period_rule){ .shorter = 10, .longer = 10, .initial = 10, .seed = 1 };
	pe_period_begin(p);
	pe_period_draw(p);
	local64_set(&f->e.hw.period_left, -1);
	KUNIT_EXPECT_EQ(test, pe_periods_divide(&f->e, p), 0);
	local64_set(&f->e.hw.period_left, 0);
	KUNIT_EXPECT_EQ(test, pe_periods_divide(&f->e, p), 1);
	KUNIT_EXPECT_EQ(test, local64_read(&f->e.hw.period_left), -10);
	/* Whoever is being divided already has it done by who does that. */
	local64_set(&f->e.hw.period_left, 50);
	p->dividing = true;
	KUNIT_EXPECT_EQ(test, pe_periods_divide(&f->e, p), 0);
	KUNIT_EXPECT_EQ(test, local64_read(&f->e.hw.period_left), 50);
	/* And one hit ends no more than so many, however much it counts. */
	p->dividing = false;
	local64_set(&f->e.hw.period_left, 1000000);
	KUNIT_EXPECT_EQ(test, pe_periods_divide(&f->e, p), 1000);
	KUNIT_EXPECT_EQ(test, local64_read(&f->e.hw.period_left), -10);
}

/* ---- masks ---- */

/* Members are those that have the bits, wherever they are; who has none is in no sample. */
static void masked_size(struct kunit *test)
{
	struct fake **f = group(test, 4);
	const struct pe_masks first = { .record = BIT_ULL(0) };
	const struct pe_masks last = { .record = BIT_ULL(63) };
	const struct pe_masks two = { .record = BIT_ULL(0) | BIT_ULL(63), .reset = BIT_ULL(5) };
	const struct pe_masks gone = { .record = BIT_ULL(7) };
	const struct pe_masks all = { .record = U64_MAX };
	struct pe_event *e = &f[2]->e;

	e->attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	f[0]->ext.bit = BIT_ULL(5);
	f[1]->ext.bit = BIT_ULL(63);
	f[3]->ext.bit = BIT_ULL(0);
	KUNIT_EXPECT_EQ(test, pe_masks_size(e, &first), 8 + 16);
	KUNIT_EXPECT_EQ(test, pe_masks_size(e, &last), 8 + 16);
	KUNIT_EXPECT_EQ(test, pe_masks_size(e, &two), 8 + 32);
	KUNIT_EXPECT_EQ(test, pe_masks_size(e, &gone), 8);
	KUNIT_EXPECT_EQ(test, pe_masks_size(e, &all), 8 + 48);
	e->attr.read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST;
	KUNIT_EXPECT_EQ(test, pe_masks_size(e, &all), 16 + 72);
	/* A member that goes by what a copy's origin is called. */
	f[1]->e.ext = NULL;
	KUNIT_EXPECT_EQ(test, pe_masks_size(e, &last), 16);
}

/* The room is for one of two members, as if the masks had changed: the other one is left out. */
static void room_for_fewer(struct kunit *test)
{
	struct pe_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	const struct pe_masks both = { .record = 3 };
	u64 got[4] = { 0, 0, 0x5a, 0x5a }, *end = NULL;
	struct fake **f = group(test, 2);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	for (i = 0; i < 2; i++) {
		f[i]->ext.bit = BIT_ULL(i);
		f[i]->e.ctx = &ctx->pub;
		f[i]->e.slot = &ctx->any;
		f[i]->e.passive = true;
		f[i]->e.attr.read_format = PERF_FORMAT_GROUP;
		local64_set(&f[i]->e.count, 0xc0 + i);
	}
	scoped_guard(preempt)
		end = pe_put_masked(got, &f[0]->e, both, 2 * sizeof(u64), false);
	KUNIT_EXPECT_PTR_EQ(test, end, &got[2]);
	KUNIT_EXPECT_EQ(test, got[0], 1ULL);
	KUNIT_EXPECT_EQ(test, got[1], 0xc0ULL);
	KUNIT_EXPECT_EQ(test, got[2], 0x5aULL);
}

/* A sample that has found the masks finds them whole: the next ones are elsewhere. */
static void masks_change(struct kunit *test)
{
	const struct pe_masks one = { .record = 1, .reset = 2 }, two = { .record = 3, .reset = 4 };
	struct fake *f = group(test, 1)[0];
	const struct pe_masks *found;

	KUNIT_EXPECT_PTR_EQ(test, pe_masks(&f->e), NULL);
	pe_masks_set(&f->e, &one);
	found = pe_masks(&f->e);
	KUNIT_ASSERT_NOT_NULL(test, found);
	pe_masks_set(&f->e, &two);
	KUNIT_EXPECT_EQ(test, found->record, 1);
	KUNIT_EXPECT_EQ(test, found->reset, 2);
	KUNIT_EXPECT_EQ(test, pe_masks(&f->e)->record, 3);
	KUNIT_EXPECT_EQ(test, pe_masks(&f->e)->reset, 4);
	pe_masks_set(&f->e, NULL);
	KUNIT_EXPECT_PTR_EQ(test, pe_masks(&f->e), NULL);
}

/* ---- sets ---- */

/* A circle is told in ascending order, whichever of its sets is asked. */
static void order_of_sets(struct kunit *test)
{
	static const u16 numbers[] = { 7, 900, 65535, 0, 2 };
	struct pe_set set[ARRAY_SIZE(numbers)], **sets;
	unsigned int i, k;

	sets = kunit_kzalloc(test, PE_MOST_SETS * sizeof(*sets), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sets);
	for (i = 0; i < ARRAY_SIZE(set); i++) {
		set[i] = (struct pe_set){ .number = numbers[i] };
		INIT_LIST_HEAD(&set[i].ring);
		if (i)
			list_add_tail(&set[i].ring, &set[0].ring);
	}
	for (i = 0; i < ARRAY_SIZE(set); i++) {
		KUNIT_ASSERT_EQ(test, pe_set_ring(&set[i], sets), ARRAY_SIZE(set));
		for (k = 0; k < ARRAY_SIZE(set); k++)
			KUNIT_EXPECT_PTR_EQ(test, sets[k], &set[(k + 3) % ARRAY_SIZE(set)]);
	}
	INIT_LIST_HEAD(&set[0].ring);
	KUNIT_EXPECT_EQ(test, pe_set_ring(&set[0], sets), 1);
	KUNIT_EXPECT_PTR_EQ(test, sets[0], &set[0]);
}

/* ---- formats ---- */

#ifdef CONFIG_64BIT	/* as the format, which changes words of 64 bits at once */
#define BITS	3

static struct perf_ext_hist *table(struct kunit *test)
{
	struct perf_ext_hist *t;

	t = kunit_kzalloc(test, struct_size(t, bucket, 1 << BITS), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t);
	return t;
}

/* A key finds its bucket again; when all are taken there is none for another key. */
static void buckets(struct kunit *test)
{
	struct perf_ext_hist *t = table(test);
	struct perf_ext_hist_bucket *b[1 << BITS];
	u64 key[2] = {};
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(b); i++) {
		key[0] = i / 2;
		key[1] = i % 2;
		b[i] = hist_bucket(t, BITS, key);
		KUNIT_ASSERT_NOT_NULL(test, b[i]);
		KUNIT_EXPECT_GE(test, b[i]->tag, HIST_FULL);
		KUNIT_EXPECT_EQ(test, b[i]->key[0], key[0]);
		KUNIT_EXPECT_EQ(test, b[i]->key[1], key[1]);
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_PTR_NE(test, b[i], b[k]);
	}
	for (i = 0; i < ARRAY_SIZE(b); i++) {
		key[0] = i / 2;
		key[1] = i % 2;
		KUNIT_EXPECT_PTR_EQ(test, hist_bucket(t, BITS, key), b[i]);
	}
	key[0] = 4;
	key[1] = 0;
	KUNIT_EXPECT_PTR_EQ(test, hist_bucket(t, BITS, key), NULL);
}

/* A sample in the midst of another one of the same key does not wait: the key has two buckets. */
static void bucket_being_filled(struct kunit *test)
{
	struct perf_ext_hist *t = table(test);
	struct perf_ext_hist_bucket *b, *other;
	const u64 key[2] = { 0x1234, 5 };
	u64 tag;

	b = hist_bucket(t, BITS, key);
	KUNIT_ASSERT_NOT_NULL(test, b);
	tag = b->tag;
	b->tag = HIST_FILLING;
	other = hist_bucket(t, BITS, key);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_PTR_NE(test, other, b);
	KUNIT_EXPECT_EQ(test, other->tag, tag);
	b->tag = tag;
	KUNIT_EXPECT_PTR_EQ(test, hist_bucket(t, BITS, key), b);
}
#endif

/* What programs were compiled with. */
static void layout(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_pfm, used), 0);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_pfm, lost), 8);
	KUNIT_EXPECT_EQ(test, sizeof(struct perf_ext_pfm), 16);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_pfm_sample, size), 0);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_pfm_sample, cpu), 4);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_pfm_sample, pid), 8);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_pfm_sample, tid), 12);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_pfm_sample, ip), 16);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_pfm_sample, time), 24);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_pfm_sample, period), 32);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_pfm_sample, id), 40);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_pfm_sample, read), 48);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_hist, bucket), 16);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_hist_bucket, key), 8);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_hist_bucket, samples), 24);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_hist_bucket, events), 32);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_area, samples), 8);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_area, bytes), 32);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_ext_area, half), 40);
	KUNIT_EXPECT_EQ(test, sizeof(struct perf_ext_area), 56);
}

/* ---- resources ---- */

static u64 read_nothing(const struct perf_event *event)
{
	return 0;
}

static struct perf_virtual unreadable = { .name = "kunit_unreadable" };
static struct perf_virtual nameless = { .read = read_nothing };

/* What nobody can read is no resource, nor is what has no name. */
static void no_resource(struct kunit *test)
{
	int err = perf_virtual_register(&unreadable);

	if (!err)
		perf_virtual_unregister(&unreadable);
	KUNIT_EXPECT_EQ(test, err, -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_virtual_register(&nameless), -EINVAL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(weight),
	KUNIT_CASE(last_event_of_a_period),
	KUNIT_CASE(masked_size),
	KUNIT_CASE(room_for_fewer),
	KUNIT_CASE(masks_change),
	KUNIT_CASE(order_of_sets),
#ifdef CONFIG_64BIT
	KUNIT_CASE(buckets),
	KUNIT_CASE(bucket_being_filled),
#endif
	KUNIT_CASE(layout),
	KUNIT_CASE(no_resource),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_events_extensions",
	.test_cases = cases,
};

kunit_test_suite(suite);
