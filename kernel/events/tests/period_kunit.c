// SPDX-License-Identifier: GPL-2.0
/* KUnit: the arithmetic of periods that follow a rule (period_rule.c). */
#include <kunit/test.h>

#include "../ext.h"

/* From 1 on, computed apart. */
static void known_sequence(struct kunit *test)
{
	static const u32 numbers[] = {
		16807, 282475249, 1622650073, 984943658, 1144108930, 470211272, 101027544,
		1457850878, 1458777923, 2007237709,
	};
	u32 random = 1;
	int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		random = pe_period_random(random);
		KUNIT_EXPECT_EQ(test, random, numbers[i]);
	}
}

/*
 * 65,536 draws of eight bits: each of the 256 values 217 to 300 times.  The sum of the squares of
 * what these are off 256 is 226.64 * 256: of 255 degrees of freedom, as much as there should be.
 */
static void distribution(struct kunit *test)
{
	static unsigned int times[256];
	unsigned int least = UINT_MAX, most = 0;
	u64 squares = 0;
	u32 random = 1;
	int i;

	memset(times, 0, sizeof(times));
	for (i = 0; i < 65536; i++) {
		times[random & 0xff]++;
		random = pe_period_random(random);
	}
	for (i = 0; i < 256; i++) {
		least = min(least, times[i]);
		most = max(most, times[i]);
		squares += (times[i] - 256) * (times[i] - 256);
	}
	KUNIT_EXPECT_EQ(test, least, 217);
	KUNIT_EXPECT_EQ(test, most, 300);
	KUNIT_EXPECT_EQ(test, squares, 58020);
}

/* Park and Miller: from 1, the 10,000th number after it is this one. */
static void known_value(struct kunit *test)
{
	u32 random = 1;
	int i;

	for (i = 0; i < 10000; i++)
		random = pe_period_random(random);
	KUNIT_EXPECT_EQ(test, random, 1043618065);
}

static void ends_of_the_field(struct kunit *test)
{
	u32 last = PE_PERIOD_SEEDS - 1;

	KUNIT_EXPECT_EQ(test, pe_period_random(1), 16807);
	/* -1 * 16807 in the field */
	KUNIT_EXPECT_EQ(test, pe_period_random(last), PE_PERIOD_SEEDS - 16807);
	/* 16807 * 1407677000 = 11016891 * (2^31 - 1) + 1: computed apart */
	KUNIT_EXPECT_EQ(test, pe_period_random(1407677000), 1);
}

static void seeds_of_copies(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pe_period_seed_of_copy(1, 1), 506952117);
	KUNIT_EXPECT_EQ(test, pe_period_seed_of_copy(1, 2), 1013904232);
	KUNIT_EXPECT_EQ(test, pe_period_seed_of_copy(1, 3), 1520856347);
	KUNIT_EXPECT_EQ(test, pe_period_seed_of_copy(PE_PERIOD_SEEDS - 1, 0), 1);
}

static void random_periods(struct kunit *test)
{
	struct pe_periods p = {
		.rule = { .shorter = 10000, .longer = 10000, .initial = 10000, .mask = 0x3ff,
			  .seed = 1 },
	};

	pe_period_begin(&p);
	KUNIT_EXPECT_EQ(test, pe_period_draw(&p), 10000 + 1);
	KUNIT_EXPECT_EQ(test, pe_period_draw(&p), 10000 + (16807 & 0x3ff));
	KUNIT_EXPECT_EQ(test, pe_period_draw(&p), 10000 + (282475249 & 0x3ff));
	KUNIT_EXPECT_EQ(test, pe_period_draw(&p), 10000 + (1622650073 & 0x3ff));
	KUNIT_EXPECT_EQ(test, p.drawn, 4);
}

/* The first one is initial; long ones are those after every third. */
static void bases(struct kunit *test)
{
	static const u64 lengths[] = { 7, 10, 10, 500, 10, 10, 500, 10 };
	struct pe_periods p = {
		.rule = { .shorter = 10, .longer = 500, .initial = 7, .long_every = 3, .seed = 1 },
	};
	int i, again;

	for (again = 0; again < 2; again++) {
		pe_period_begin(&p);
		for (i = 0; i < ARRAY_SIZE(lengths); i++)
			KUNIT_EXPECT_EQ(test, pe_period_draw(&p), lengths[i]);
	}
	p.rule.long_every = 1;
	pe_period_begin(&p);
	KUNIT_EXPECT_EQ(test, pe_period_draw(&p), 7);
	KUNIT_EXPECT_EQ(test, pe_period_draw(&p), 500);
	KUNIT_EXPECT_EQ(test, pe_period_draw(&p), 500);
}

static void jitter(struct kunit *test)
{
	struct pe_period_rule rule;

	KUNIT_ASSERT_TRUE(test, pe_period_jitter(&rule, 10000, 10));
	KUNIT_EXPECT_EQ(test, rule.mask, 511);	/* of 1000, the power of two below */
	KUNIT_EXPECT_EQ(test, rule.shorter, 10000 - 255);
	KUNIT_EXPECT_EQ(test, rule.longer, rule.shorter);
	KUNIT_EXPECT_EQ(test, rule.initial, rule.shorter);
	KUNIT_EXPECT_EQ(test, rule.long_every, 0);
	KUNIT_EXPECT_FALSE(test, pe_period_jitter(&rule, 19, 10));
	KUNIT_EXPECT_TRUE(test, pe_period_jitter(&rule, 20, 10));
	KUNIT_EXPECT_EQ(test, rule.mask, 1);
	KUNIT_ASSERT_TRUE(test, pe_period_jitter(&rule, S64_MAX, 50));
	KUNIT_EXPECT_EQ(test, rule.mask, S32_MAX);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(known_value),
	KUNIT_CASE(known_sequence),
	KUNIT_CASE(distribution),
	KUNIT_CASE(ends_of_the_field),
	KUNIT_CASE(seeds_of_copies),
	KUNIT_CASE(random_periods),
	KUNIT_CASE(bases),
	KUNIT_CASE(jitter),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_events_periods",
	.test_cases = cases,
};

kunit_test_suite(suite);
