// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: what AMD adds to an event-select, and how sysfs prints it.
 */
#include <kunit/test.h>

#include "../cpu.h"

#define RINGS	(ARCH_PERFMON_EVENTSEL_USR | ARCH_PERFMON_EVENTSEL_OS)

static void host_and_guest(struct kunit *test)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE };

	KUNIT_EXPECT_EQ(test, amd_pe_select(&attr, RINGS | 0x76), RINGS | 0x76);
	attr.exclude_guest = 1;
	KUNIT_EXPECT_EQ(test, amd_pe_select(&attr, RINGS | 0x76), BIT_ULL(41) | RINGS | 0x76);
	attr.exclude_host = 1;
	KUNIT_EXPECT_EQ(test, amd_pe_select(&attr, RINGS | 0x76), 0x76);
	attr.exclude_guest = 0;
	KUNIT_EXPECT_EQ(test, amd_pe_select(&attr, RINGS | 0x76), BIT_ULL(40) | RINGS | 0x76);
}

/* Raw events: twelve bits of code, unit mask, edge, inversion and mask of counts; nothing else. */
static void raw_bits(struct kunit *test)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .config = ~0ULL };
	u64 taken = amd_pe_select(&attr, 0);

	KUNIT_EXPECT_EQ(test, taken, 0xfff84ffffULL);
	attr.config = 0x4f000000c4ULL;
	KUNIT_EXPECT_EQ(test, amd_pe_select(&attr, 0), 0xf000000c4ULL);
	KUNIT_EXPECT_EQ(test, amd_pe_code(0xf000000c4ULL), 0xfc4);
	attr.type = PERF_TYPE_HW_CACHE;
	KUNIT_EXPECT_EQ(test, amd_pe_select(&attr, 0), 0);
}

static void words(struct kunit *test)
{
	char *page = (char *)__get_free_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	amd_pe_show_event(page, 0x100000120ULL);
	KUNIT_EXPECT_STREQ(test, page, "event=0x120,umask=0x01\n");
	amd_pe_show_event(page, 0x0964);
	KUNIT_EXPECT_STREQ(test, page, "event=0x64,umask=0x09\n");
	free_page((unsigned long)page);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(host_and_guest),
	KUNIT_CASE(raw_bits),
	KUNIT_CASE(words),
	{ }
};

static struct kunit_suite suite = { .name = "x86_amd_config", .test_cases = cases };
kunit_test_suite(suite);
