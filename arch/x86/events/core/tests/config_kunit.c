// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: from attr to event-select, the parts that need no event, and how sysfs prints a value.
 */
#include <kunit/test.h>

#include "../core.h"

static void codes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, x86_pe_known_code(0), -ENOENT);
	KUNIT_EXPECT_EQ(test, x86_pe_known_code(-1ULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, x86_pe_known_code(0x3c), 0);
	KUNIT_EXPECT_EQ(test, x86_pe_known_code(0xffffffff), 0);
}

/* Every first byte with those of the others that are near a limit, and garbage above the third. */
static void cache_slots(struct kunit *test)
{
	static const unsigned int near[] = { 0, 1, 2, 3, 0x7f, 0x80, 0xff };
	unsigned int at[3], a, b, c, i;

	for (i = 0; i < 256 * ARRAY_SIZE(near) * ARRAY_SIZE(near); i++) {
		u64 config = 0xa5ULL << 56 | 0xffULL << 24;
		bool valid;

		a = i % 256;
		b = near[i / 256 % ARRAY_SIZE(near)];
		c = near[i / 256 / ARRAY_SIZE(near)];
		valid = a < PERF_COUNT_HW_CACHE_MAX && b < PERF_COUNT_HW_CACHE_OP_MAX &&
			c < PERF_COUNT_HW_CACHE_RESULT_MAX;
		config |= a | b << 8 | c << 16;
		if (x86_pe_cache_slot(config, at) != (valid ? 0 : -EINVAL))
			KUNIT_FAIL(test, "config %llx", config);
		if (valid && (at[0] != a || at[1] != b || at[2] != c))
			KUNIT_FAIL(test, "slot of config %llx", config);
	}
}

/* What the loaded driver knows of generic events: an index beyond the map is nothing. */
static void generic_map(struct kunit *test)
{
	int id;

	KUNIT_EXPECT_EQ(test, perf_get_hw_event_config(x86_pmu.max_events), 0);
	KUNIT_EXPECT_EQ(test, perf_get_hw_event_config(INT_MAX), 0);
	for (id = 0; id < x86_pmu.max_events; id++)
		KUNIT_EXPECT_EQ(test, perf_get_hw_event_config(id), x86_pmu.event_map(id));
}

/* No cache event of the loaded driver may have bits that raw events may not have. */
static void cache_table(struct kunit *test)
{
	const u64 *code = &hw_cache_event_ids[0][0][0];
	int i, known = 0;

	if (!x86_pmu.handle_irq || is_hybrid())
		kunit_skip(test, "no PMU, or more than one");
	for (i = 0; i < sizeof(hw_cache_event_ids) / sizeof(*code); i++) {
		if (x86_pe_known_code(code[i]))
			continue;
		known++;
		KUNIT_EXPECT_EQ(test, code[i] & ~x86_pmu.config_mask, 0);
	}
	KUNIT_EXPECT_GT(test, known, 0);
}

static void words_of_sysfs(struct kunit *test)
{
	static const struct { u64 config; const char *words; } line[] = {
		{ 0x3c, "event=0x3c\n" },
		{ 0x4f2e, "event=0x2e,umask=0x4f\n" },
		{ 0x17ff00a6, "event=0xa6,edge,pc,any,inv,cmask=0x17\n" },
		{ 0x018301c2, "event=0xc2,umask=0x01,inv,cmask=0x01\n" },
	};
	char *page = (char *)__get_free_page(GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	for (i = 0; i < ARRAY_SIZE(line); i++) {
		x86_event_sysfs_show(page, line[i].config, line[i].config & 0xff);
		KUNIT_EXPECT_STREQ(test, page, line[i].words);
	}
	free_page((unsigned long)page);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(codes),
	KUNIT_CASE(cache_slots),
	KUNIT_CASE(generic_map),
	KUNIT_CASE(cache_table),
	KUNIT_CASE(words_of_sysfs),
	{ }
};

static struct kunit_suite suite = { .name = "x86_pmu_config", .test_cases = cases };
kunit_test_suite(suite);
