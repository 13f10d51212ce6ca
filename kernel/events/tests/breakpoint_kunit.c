// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the slots of breakpoints as a kernel debugger takes them (breakpoint_slots.c), and what
 * only architectures that step by breakpoints do.
 */
#include <kunit/test.h>
#include <linux/hw_breakpoint.h>

static struct perf_event *watchpoint(struct kunit *test)
{
	struct perf_event *bp = kunit_kzalloc(test, sizeof(*bp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bp);
	if (hw_breakpoint_is_used())
		kunit_skip(test, "there are breakpoints");
	bp->attr.bp_type = HW_BREAKPOINT_W;
	return bp;
}

/* All of a CPU, none too many, and all of them again. */
static void debugger_takes_all(struct kunit *test)
{
	struct perf_event *bp = watchpoint(test);
	int turn, i, slots = hw_breakpoint_slots(TYPE_DATA);

	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < slots; i++)
			KUNIT_EXPECT_EQ(test, dbg_reserve_bp_slot(bp), 0);
		KUNIT_EXPECT_LT(test, dbg_reserve_bp_slot(bp), 0);
		KUNIT_EXPECT_TRUE(test, hw_breakpoint_is_used());
		for (i = 0; i < slots; i++)
			KUNIT_EXPECT_EQ(test, dbg_release_bp_slot(bp), 0);
		KUNIT_EXPECT_FALSE(test, hw_breakpoint_is_used());
	}
}

static void debugger_is_refused(struct kunit *test)
{
	struct perf_event *bp = watchpoint(test);

	bp->hw.target = current;
	KUNIT_EXPECT_LT(test, dbg_reserve_bp_slot(bp), 0);
	KUNIT_EXPECT_LT(test, dbg_release_bp_slot(bp), 0);
	bp->hw.target = NULL;
	bp->attr.bp_type = HW_BREAKPOINT_EMPTY;
	KUNIT_EXPECT_LT(test, dbg_reserve_bp_slot(bp), 0);
	KUNIT_EXPECT_FALSE(test, hw_breakpoint_is_used());
}

/* With irqs off a breakpoint of current is changed as well; irqs are still off afterwards. */
static void changed_with_irqs_off(struct kunit *test)
{
	struct perf_event_attr attr;
	struct perf_event *bp;
	int err, before, after;
	bool still_off;

	if (!hw_breakpoint_slots(TYPE_DATA))
		kunit_skip(test, "there are no watchpoints");
	hw_breakpoint_init(&attr);
	attr.bp_addr = 0x10000;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.bp_type = HW_BREAKPOINT_W;
	bp = register_user_hw_breakpoint(&attr, NULL, NULL, current);
	KUNIT_ASSERT_FALSE(test, IS_ERR(bp));
	before = bp->state;
	attr.disabled = 1;
	local_irq_disable();
	err = modify_user_hw_breakpoint(bp, &attr);
	after = bp->state;
	still_off = irqs_disabled();
	local_irq_enable();
	unregister_hw_breakpoint(bp);
	KUNIT_EXPECT_EQ(test, before, (int)PERF_EVENT_STATE_ACTIVE);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, after, (int)PERF_EVENT_STATE_OFF);
	KUNIT_EXPECT_TRUE(test, still_off);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(debugger_takes_all),
	KUNIT_CASE(debugger_is_refused),
	KUNIT_CASE(changed_with_irqs_off),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_events_breakpoints",
	.test_cases = cases,
};

kunit_test_suite(suite);
