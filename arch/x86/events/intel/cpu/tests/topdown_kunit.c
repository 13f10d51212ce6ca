// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: with what a group of slots and metrics starts after a context switch.
 */
#include <kunit/test.h>

#include "../cpu.h"

#define LONGEST		0x7fffffffffffULL
#define SHARES		0x20407080ULL

static struct hw_perf_event fresh(void)
{
	struct hw_perf_event hw = { .sample_period = LONGEST, .last_period = LONGEST };

	local64_set(&hw.period_left, LONGEST);
	return hw;
}

static struct hw_perf_event stopped(u64 slots, u64 metrics)
{
	struct hw_perf_event hw = fresh();

	hw.saved_slots = slots;
	hw.saved_metric = metrics;
	return hw;
}

static void values_of_a_stop(struct kunit *test)
{
	struct hw_perf_event hw = fresh();

	KUNIT_EXPECT_FALSE(test, intel_pe_topdown_has_stopped(&hw));
	hw = stopped(0, 0);
	KUNIT_EXPECT_TRUE(test, intel_pe_topdown_has_stopped(&hw));
	hw = stopped(1000, SHARES);
	KUNIT_EXPECT_TRUE(test, intel_pe_topdown_has_stopped(&hw));
	/* The share that a counter which is nearly full shows, and no metric. */
	hw = stopped(LONGEST, SHARES);
	KUNIT_EXPECT_TRUE(test, intel_pe_topdown_has_stopped(&hw));
	/* Slots that ran on their own: these are parts of a period. */
	local64_set(&hw.prev_count, -LONGEST);
	KUNIT_EXPECT_FALSE(test, intel_pe_topdown_has_stopped(&hw));
}

static void metric_goes_on(struct kunit *test)
{
	struct hw_perf_event slots = stopped(1000, SHARES), metric = slots;

	KUNIT_EXPECT_TRUE(test, intel_pe_topdown_goes_on(&metric, &slots, 1000));
	/* The counter has gone on without the metric, or from 0. */
	KUNIT_EXPECT_FALSE(test, intel_pe_topdown_goes_on(&metric, &slots, 1001));
	KUNIT_EXPECT_FALSE(test, intel_pe_topdown_goes_on(&metric, &slots, 0));
	/* It was stopped at another time. */
	metric = stopped(900, SHARES);
	KUNIT_EXPECT_FALSE(test, intel_pe_topdown_goes_on(&metric, &slots, 1000));
	metric = stopped(1000, SHARES + 1);
	KUNIT_EXPECT_FALSE(test, intel_pe_topdown_goes_on(&metric, &slots, 1000));
	/* It is new. */
	metric = fresh();
	KUNIT_EXPECT_FALSE(test, intel_pe_topdown_goes_on(&metric, &slots, 1000));
}

static u64 gain_at_stop(struct hw_perf_event *hw, u64 slots, u64 share)
{
	u64 gain = intel_pe_topdown_gain(hw, slots, share);

	hw->saved_slots = slots;
	hw->saved_metric = share;
	return gain;
}

/* In all, an event has what its registers are worth, or were worth before the last fall. */
static void shares_that_fall_and_rise(struct kunit *test)
{
	struct hw_perf_event hw = stopped(0, 0);

	hw.idx = INTEL_PMC_IDX_METRIC_BASE;
	KUNIT_EXPECT_EQ(test, gain_at_stop(&hw, 1000000, 50), 196078);
	KUNIT_EXPECT_EQ(test, gain_at_stop(&hw, 1001000, 49), 0);
	KUNIT_EXPECT_EQ(test, gain_at_stop(&hw, 1002000, 50), 196470 - 196078);
	KUNIT_EXPECT_EQ(test, gain_at_stop(&hw, 1003000, 49), 0);
	/* A read clears the registers: what the event is ahead, it is still. */
	hw.saved_slots = 0;
	hw.saved_metric = 0;
	KUNIT_EXPECT_EQ(test, gain_at_stop(&hw, 51000, 255), 51000 - (196470 - 192733));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(values_of_a_stop),
	KUNIT_CASE(metric_goes_on),
	KUNIT_CASE(shares_that_fall_and_rise),
	{ }
};

static struct kunit_suite suite = { .name = "perf_x86_topdown", .test_cases = cases };
kunit_test_suite(suite);
