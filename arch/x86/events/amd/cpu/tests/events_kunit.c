// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the tables of generic and cache events, of every generation.
 */
#include <kunit/test.h>

#include "../cpu.h"

/* Every code is one that an event-select can hold, and no two generic events have the same. */
static void generic_codes(struct kunit *test)
{
	int g, id, other;

	for (g = 0; g < AMD_PE_GENERATIONS; g++) {
		for (id = 0; id < PERF_COUNT_HW_MAX; id++) {
			u64 code = amd_pe_generic_event(g, id);

			KUNIT_EXPECT_EQ_MSG(test, code & ~AMD64_RAW_EVENT_MASK, 0, "%d/%d", g, id);
			for (other = 0; code && other < id; other++)
				KUNIT_EXPECT_NE(test, code, amd_pe_generic_event(g, other));
		}
		/* what every tool expects of every CPU */
		KUNIT_EXPECT_EQ(test, amd_pe_generic_event(g, PERF_COUNT_HW_CPU_CYCLES), 0x76);
		KUNIT_EXPECT_EQ(test, amd_pe_generic_event(g, PERF_COUNT_HW_INSTRUCTIONS), 0xc0);
		KUNIT_EXPECT_EQ(test, amd_pe_generic_event(g, PERF_COUNT_HW_BUS_CYCLES), 0);
	}
}

/* Only the last generation has reference cycles; bit 32 must not get lost. */
static void reference_cycles(struct kunit *test)
{
	int g;

	for (g = 0; g < AMD_PE_GENERATIONS; g++)
		KUNIT_EXPECT_EQ(test, amd_pe_generic_event(g, PERF_COUNT_HW_REF_CPU_CYCLES),
				g == AMD_PE_ZEN4 ? 0x100000120ULL : 0);
}

struct tally {
	int	known, senseless, unknown;
};

#define SLOTS	(sizeof(hw_cache_event_ids) / sizeof(u64))

static struct tally count(struct kunit *test, const u64 *code)
{
	struct tally t = { };
	int i;

	for (i = 0; i < SLOTS; i++, code++) {
		if (*code == -1ULL) {
			t.senseless++;
			continue;
		}
		if (*code)
			t.known++;
		else
			t.unknown++;
		KUNIT_EXPECT_EQ(test, *code & ~AMD64_RAW_EVENT_MASK, 0);
	}
	return t;
}

/* As many slots are filled as there are rows: no row is there twice, or lies on a senseless one. */
static void cache_codes(struct kunit *test)
{
	u64 *ids = kunit_kcalloc(test, SLOTS, sizeof(*ids), GFP_KERNEL);
	struct tally t;

	KUNIT_ASSERT_NOT_NULL(test, ids);

	amd_pe_fill_cache_ids(ids, 0x16);
	t = count(test, ids);
	KUNIT_EXPECT_EQ(test, t.known, 18);
	KUNIT_EXPECT_EQ(test, t.senseless, 14);
	KUNIT_EXPECT_EQ(test, t.unknown, 10);
	KUNIT_EXPECT_EQ(test, ids[(C(NODE) * C(OP_MAX) + C(OP_READ)) * 2 + C(RESULT_MISS)], 0x98e9);

	memset(ids, 0, SLOTS * sizeof(*ids));
	amd_pe_fill_cache_ids(ids, 0x17);
	t = count(test, ids);
	KUNIT_EXPECT_EQ(test, t.known, 11);
	KUNIT_EXPECT_EQ(test, t.senseless, 14);
	KUNIT_EXPECT_EQ(test, t.unknown, 17);
	KUNIT_EXPECT_EQ(test, ids[(C(DTLB) * C(OP_MAX) + C(OP_READ)) * 2 + C(RESULT_MISS)], 0xf045);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(generic_codes),
	KUNIT_CASE(reference_cycles),
	KUNIT_CASE(cache_codes),
	{ }
};

static struct kunit_suite suite = { .name = "x86_amd_events", .test_cases = cases };
kunit_test_suite(suite);
