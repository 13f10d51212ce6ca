// SPDX-License-Identifier: GPL-2.0
/* KUnit: while nobody has a software event its hooks are off (software.c). */
#include <kunit/test.h>
#include <linux/jump_label.h>
#include <linux/perf_event.h>

#define ID	PERF_COUNT_SW_EMULATION_FAULTS		/* which nobody has at boot */

static bool is_on(void)
{
	return static_key_enabled(&perf_swevent_enabled[ID]);
}

static void last_one_turns_it_off(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type	= PERF_TYPE_SOFTWARE,
		.config	= ID,
		.size	= sizeof(attr),
	};
	struct perf_event *event[2];
	int turn, i;

	for (turn = 0; turn < 2; turn++) {
		KUNIT_EXPECT_FALSE(test, is_on());
		for (i = 0; i < 2; i++) {
			event[i] = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
			KUNIT_ASSERT_FALSE(test, IS_ERR(event[i]));
			KUNIT_EXPECT_TRUE(test, is_on());
		}
		perf_event_release_kernel(event[0]);
		KUNIT_EXPECT_TRUE(test, is_on());
		perf_event_release_kernel(event[1]);
	}
	KUNIT_EXPECT_FALSE(test, is_on());
}

static struct kunit_case cases[] = {
	KUNIT_CASE(last_one_turns_it_off),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_events_software",
	.test_cases = cases,
};

kunit_test_suite(suite);
MODULE_DESCRIPTION("KUnit tests of the static keys of software events");
MODULE_LICENSE("GPL");
