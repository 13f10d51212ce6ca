// SPDX-License-Identifier: GPL-2.0
/* KUnit: memory for call chains is asked for while there is none, and then while there is. */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>

/* Who gets nothing leaves no mark; who has the chain of a level keeps others off. */
static void asked_for_too_early(struct kunit *test)
{
	struct perf_callchain_entry *early = NULL, *chain = NULL, *second = NULL;
	int level, again, err;

	guard(migrate)();	/* each CPU has marks of its own */
	scoped_guard(preempt) {
		early = get_callchain_entry(&level);
		if (early)
			put_callchain_entry(level);
	}
	KUNIT_EXPECT_NULL(test, early);
	err = get_callchain_buffers(8);
	KUNIT_EXPECT_EQ(test, err, 0);
	if (err)
		return;
	scoped_guard(preempt) {
		chain = get_callchain_entry(&level);
		second = get_callchain_entry(&again);
		if (chain)
			put_callchain_entry(level);
	}
	KUNIT_EXPECT_NOT_NULL(test, chain);
	KUNIT_EXPECT_NULL(test, second);
	put_callchain_buffers();
}

static struct kunit_case cases[] = {
	KUNIT_CASE(asked_for_too_early),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_events_callchain",
	.test_cases = cases,
};

kunit_test_suite(suite);
MODULE_DESCRIPTION("KUnit tests of the memory for call chains");
MODULE_LICENSE("GPL");
