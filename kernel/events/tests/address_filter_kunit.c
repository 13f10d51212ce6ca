// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the text of address filters, and which part of a file's range a mapping shows.
 */
#include <kunit/test.h>
#include "../sources/sources.h"

/* The first definition of a text, which pe_filter_parse() may write to. */
static int first(struct kunit *test, const char *text, struct pe_filter_def *def)
{
	char *copy = kunit_kstrdup(test, text, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	return pe_filter_parse(&copy, def);
}

static void good_text(struct kunit *test)
{
	static const struct {
		const char *text;
		struct pe_filter_def def;
	} cases[] = {
		{ "filter 0x10/0x20", { PERF_ADDR_FILTER_ACTION_FILTER, 0x10, 0x20, NULL } },
		{ " ,\nstart\n010 ", { PERF_ADDR_FILTER_ACTION_START, 8, 0, NULL } },
		{ "stop,5/6", { PERF_ADDR_FILTER_ACTION_STOP, 5, 6, NULL } },
		{ "stop 1@/a@b/c", { PERF_ADDR_FILTER_ACTION_STOP, 1, 0, "/a@b/c" } },
		{ "filter 0/1@x", { PERF_ADDR_FILTER_ACTION_FILTER, 0, 1, "x" } },
		{ "start 0/0", { PERF_ADDR_FILTER_ACTION_START, 0, 0, NULL } },
	};
	struct pe_filter_def def;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, first(test, cases[i].text, &def), 1, "%s", cases[i].text);
		KUNIT_EXPECT_EQ(test, (int)def.action, (int)cases[i].def.action);
		KUNIT_EXPECT_EQ(test, def.offset, cases[i].def.offset);
		KUNIT_EXPECT_EQ(test, def.size, cases[i].def.size);
		if (cases[i].def.file)
			KUNIT_EXPECT_STREQ(test, def.file, cases[i].def.file);
		else
			KUNIT_EXPECT_NULL(test, def.file);
	}
}

static void bad_text(struct kunit *test)
{
	static const struct {
		const char *text;
		int result;
	} cases[] = {
		{ "", 0 }, { " ,\n", 0 }, { "x", -EINVAL }, { "filter", -EINVAL },
		{ "filter ,", -EINVAL }, { "1/1", -EINVAL }, { "filter 1", -EINVAL },
		{ "filter 1/0", -EINVAL }, { "filter 1/", -EINVAL }, { "filter /1", -EINVAL },
		{ "filter 1/1@", -EINVAL }, { "filter 1/1/", -EINVAL }, { "filter 1/@f", -EINVAL },
		{ "filter +1/1", -EINVAL }, { "filter -1/1", -EINVAL }, { "filter 0x/1", -EINVAL },
		{ "filter 09/1", -EINVAL }, { "filter 1/1z", -EINVAL },
		{ "start 0x1ffffffffffffffff", -ERANGE },
		{ "start 1/0x1ffffffffffffffff@f", -ERANGE },
		{ "start 0x1ffffffffffffffff/z", -EINVAL },
	};
	struct pe_filter_def def;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, first(test, cases[i].text, &def), cases[i].result, "%s",
				    cases[i].text);
}

static void several(struct kunit *test)
{
	char text[] = "filter 1/2@f start 3,stop 4";
	char *at = text;
	struct pe_filter_def def;

	KUNIT_EXPECT_EQ(test, pe_filter_parse(&at, &def), 1);
	KUNIT_EXPECT_STREQ(test, def.file, "f");
	KUNIT_EXPECT_EQ(test, pe_filter_parse(&at, &def), 1);
	KUNIT_EXPECT_EQ(test, def.offset, 3UL);
	KUNIT_EXPECT_NULL(test, def.file);
	KUNIT_EXPECT_EQ(test, pe_filter_parse(&at, &def), 1);
	KUNIT_EXPECT_EQ(test, (int)def.action, (int)PERF_ADDR_FILTER_ACTION_STOP);
	KUNIT_EXPECT_EQ(test, pe_filter_parse(&at, &def), 0);
}

static void mapped_range(struct kunit *test)
{
	/* 0x400 bytes from 0x1000 of the file are at 0x70000 */
	static const struct pe_filter_map map = { 0x70000, 0x400, 0x1000 };
	static const struct {
		unsigned long offset, size;
		bool shown;
		struct perf_addr_filter_range range;
	} cases[] = {
		{ 0x1000, 0x400, true, { 0x70000, 0x400 } },
		{ 0x1100, 0x100, true, { 0x70100, 0x100 } },
		{ 0x1100, 0x1000, true, { 0x70100, 0x300 } },
		{ 0x800, 0x900, true, { 0x70000, 0x100 } },
		{ 0x800, 0x9000, true, { 0x70000, 0x400 } },
		{ 0x1200, 0, true, { 0x70200, 0 } },
		{ 0x800, 0x700, false, {} },
		/* The ends touch it. */
		{ 0x1400, 0x10, true, { 0x70400, 0 } },
		{ 0x800, 0x800, true, { 0x70000, 0 } },
		{ 0x1401, 0x10, false, {} },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct perf_addr_filter f = { .offset = cases[i].offset, .size = cases[i].size };
		struct perf_addr_filter_range range = {};

		KUNIT_EXPECT_EQ(test, pe_filter_range(&f, &map, &range), cases[i].shown);
		KUNIT_EXPECT_EQ(test, range.start, cases[i].range.start);
		KUNIT_EXPECT_EQ(test, range.size, cases[i].range.size);
	}
}

static struct kunit_case filter_cases[] = {
	KUNIT_CASE(good_text),
	KUNIT_CASE(bad_text),
	KUNIT_CASE(several),
	KUNIT_CASE(mapped_range),
	{}
};

static struct kunit_suite filter_suite = {
	.name = "perf_address_filter",
	.test_cases = filter_cases,
};

kunit_test_suite(filter_suite);
MODULE_DESCRIPTION("KUnit tests of address filters");
MODULE_LICENSE("GPL");
