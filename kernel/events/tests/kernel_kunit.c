// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: events of the kernel's own, as KVM has them: paused, read, refused, with another
 * frequency; and what they have the scheduler do.
 *
 * An event of this CPU; whoever runs this stays there.
 */
#include <kunit/test.h>
#include <linux/delay.h>

#include "../sched/sched.h"

#define ID	PERF_COUNT_SW_EMULATION_FAULTS		/* which nobody has at boot */

static struct perf_event *make_event(u32 type, u64 config)
{
	struct perf_event_attr attr = { .type = type, .config = config, .size = sizeof(attr) };

	return perf_event_create_kernel_counter(&attr, smp_processor_id(), NULL, NULL, NULL);
}

static void hit(u64 nr)
{
	struct pt_regs regs = {};

	perf_sw_event(ID, nr, &regs, 0);
}

/* What it has counted is told, and set to 0 if that is asked for; then nothing counts. */
static void paused(struct kunit *test)
{
	struct perf_event *event;
	u64 told[4] = {};

	migrate_disable();
	event = make_event(PERF_TYPE_SOFTWARE, ID);
	if (!IS_ERR(event)) {
		hit(3);
		told[0] = perf_event_pause(event, false);
		hit(5);
		told[1] = perf_event_pause(event, true);
		told[2] = perf_event_pause(event, false);
		perf_event_enable(event);
		hit(7);
		told[3] = perf_event_pause(event, true);
		perf_event_release_kernel(event);
	}
	migrate_enable();
	KUNIT_EXPECT_FALSE(test, IS_ERR(event));
	KUNIT_EXPECT_EQ(test, told[0], 3ULL);
	KUNIT_EXPECT_EQ(test, told[1], 3ULL);
	KUNIT_EXPECT_EQ(test, told[2], 0ULL);
	KUNIT_EXPECT_EQ(test, told[3], 7ULL);
}

/* Who reads it goes on with interrupts as they were. */
static void read_here(struct kunit *test)
{
	u64 value[2] = {};
	bool on = false, off = false;
	int err[2] = { -1, -1 };
	struct perf_event *event;

	migrate_disable();
	event = make_event(PERF_TYPE_SOFTWARE, ID);
	if (!IS_ERR(event)) {
		hit(3);
		err[0] = perf_event_read_local(event, &value[0], NULL, NULL);
		on = !irqs_disabled();
		if (!on)
			local_irq_enable();
		local_irq_disable();
		err[1] = perf_event_read_local(event, &value[1], NULL, NULL);
		off = irqs_disabled();
		if (off)
			local_irq_enable();
		perf_event_release_kernel(event);
	}
	migrate_enable();
	KUNIT_EXPECT_FALSE(test, IS_ERR(event));
	KUNIT_EXPECT_EQ(test, err[0], 0);
	KUNIT_EXPECT_EQ(test, err[1], 0);
	KUNIT_EXPECT_EQ(test, value[0], 3ULL);
	KUNIT_EXPECT_EQ(test, value[1], 3ULL);
	KUNIT_EXPECT_TRUE(test, on);
	KUNIT_EXPECT_TRUE(test, off);
}

/* An event of a CPU that has gone, and needed no switches, does not count among those that do. */
static void followed(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = ID, .size = sizeof(attr),
	};
	struct perf_event *of_cpu, *of_task;
	bool follows = false;

	migrate_disable();
	of_cpu = make_event(PERF_TYPE_SOFTWARE, ID);
	migrate_enable();
	if (!IS_ERR(of_cpu))
		perf_event_release_kernel(of_cpu);
	of_task = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (!IS_ERR(of_task)) {
		follows = static_key_enabled(&perf_sched_events);
		perf_event_release_kernel(of_task);
	}
	KUNIT_EXPECT_FALSE(test, IS_ERR(of_cpu));
	KUNIT_EXPECT_FALSE(test, IS_ERR(of_task));
	KUNIT_EXPECT_TRUE(test, follows);
}

/* One of two that need switches goes: they are followed for the other one, for good. */
static void followed_for_the_other(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = ID, .size = sizeof(attr),
	};
	struct perf_event *stays, *goes;
	bool follows = false;

	stays = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(stays));
	goes = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (!IS_ERR(goes)) {
		perf_event_release_kernel(goes);
		/* Nothing is waited for, as in followed_for_a_driver(). */
		msleep(3000);
		follows = static_key_enabled(&perf_sched_events);
	}
	perf_event_release_kernel(stays);
	KUNIT_EXPECT_FALSE(test, IS_ERR(goes));
	KUNIT_EXPECT_TRUE(test, follows);
}

/* A PMU that can do one thing at a time. */
static struct pmu single;

static int single_init(struct perf_event *event)
{
	return event->attr.type == single.type ? 0 : -ENOENT;
}

static unsigned int nr_single_adds;

static int single_add(struct perf_event *event, int flags)
{
	nr_single_adds++;
	return 0;
}

static void single_does(struct perf_event *event, int flags)
{
}

static unsigned int nr_single_reads;

static void single_read(struct perf_event *event)
{
	nr_single_reads++;
}

static struct pmu single = {
	.capabilities	= PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_NO_INTERRUPT,
	.task_ctx_nr	= perf_invalid_context,
	.event_init	= single_init,
	.add		= single_add,
	.del		= single_does,
	.start		= single_does,
	.stop		= single_does,
	.read		= single_read,
};

/* The second event gets no place in the context, and keeps nothing of it. */
static void refused(struct kunit *test)
{
	struct perf_event *first, *second = NULL;
	unsigned int before = 0, after = 0;

	KUNIT_ASSERT_EQ(test, perf_pmu_register(&single, "kunit_single", -1), 0);
	migrate_disable();
	first = make_event(single.type, 0);
	if (!IS_ERR(first)) {
		before = refcount_read(&pe_ctx(pe(first))->refs);
		second = make_event(single.type, 0);
		after = refcount_read(&pe_ctx(pe(first))->refs);
		if (!IS_ERR(second))
			perf_event_release_kernel(second);
		perf_event_release_kernel(first);
	}
	migrate_enable();
	perf_pmu_unregister(&single);
	KUNIT_EXPECT_FALSE(test, IS_ERR(first));
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(second), -EBUSY);
	KUNIT_EXPECT_EQ(test, after, before);
}

/* A driver is asked for the count of an event that counts, not for that of one which is off. */
static void read_of_hardware(struct kunit *test)
{
	unsigned int reads[2] = {};
	int err[2] = { -1, -1 };
	struct perf_event *event;
	u64 value;

	KUNIT_ASSERT_EQ(test, perf_pmu_register(&single, "kunit_single", -1), 0);
	migrate_disable();
	event = make_event(single.type, 0);
	if (!IS_ERR(event)) {
		nr_single_reads = 0;
		err[0] = perf_event_read_local(event, &value, NULL, NULL);
		reads[0] = nr_single_reads;
		perf_event_disable(event);
		nr_single_reads = 0;
		err[1] = perf_event_read_local(event, &value, NULL, NULL);
		reads[1] = nr_single_reads;
		perf_event_release_kernel(event);
	}
	migrate_enable();
	perf_pmu_unregister(&single);
	KUNIT_EXPECT_FALSE(test, IS_ERR(event));
	KUNIT_EXPECT_EQ(test, err[0], 0);
	KUNIT_EXPECT_EQ(test, err[1], 0);
	KUNIT_EXPECT_EQ(test, reads[0], 1U);
	KUNIT_EXPECT_EQ(test, reads[1], 0U);
}

/* For a driver: what is on its PMU here is put on anew, once, and nothing stays locked. */
static void scheduled_anew(struct kunit *test)
{
	unsigned int adds = 0, inactive = 0;
	struct perf_event *event;
	bool locked = false;

	KUNIT_ASSERT_EQ(test, perf_pmu_register(&single, "kunit_single", -1), 0);
	migrate_disable();
	event = make_event(single.type, 0);
	if (!IS_ERR(event)) {
		scoped_guard(irqsave) {
			nr_single_adds = 0;
			perf_pmu_resched(&single);
			adds = nr_single_adds;
			inactive = event->state != PERF_EVENT_STATE_ACTIVE;
			locked = raw_spin_is_locked(&pe_ctx(pe(event))->lock);
			if (locked) {
				__acquire(&pe_ctx(pe(event))->lock);
				pe_unlock_here(pe_current_ctx());
			}
		}
		perf_event_release_kernel(event);
	}
	migrate_enable();
	perf_pmu_unregister(&single);
	KUNIT_EXPECT_FALSE(test, IS_ERR(event));
	KUNIT_EXPECT_EQ(test, adds, 1U);
	KUNIT_EXPECT_EQ(test, inactive, 0U);
	KUNIT_EXPECT_FALSE(test, locked);
}

/* A driver registers the same struct once more: it is as if it had never left. */
static void registered_again(struct kunit *test)
{
	int i;

	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, perf_pmu_register(&single, "kunit_single", -1), 0);
		KUNIT_EXPECT_FALSE(test, single.gone);
		perf_pmu_unregister(&single);
		KUNIT_EXPECT_TRUE(test, single.gone);
	}
}

/* They have no group, and so no tracer that they could act on or write to. */
static void without_tracer(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = ID, .size = sizeof(attr), .aux_output = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(event), -EINVAL);
	attr.aux_output = 0;
	attr.aux_pause = 1;
	event = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(event), -EINVAL);
}

/* Another frequency: what was hit last is the beginning of no measurement any more. */
static void new_frequency(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = ID, .size = sizeof(attr), .freq = 1,
		.sample_freq = 100,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(event));
	event->hw.freq_time_stamp = 1;
	KUNIT_EXPECT_EQ(test, perf_event_period(event, 50), 0);
	KUNIT_EXPECT_EQ(test, event->attr.sample_freq, 50ULL);
	KUNIT_EXPECT_EQ(test, event->hw.freq_time_stamp, 0ULL);
	perf_event_release_kernel(event);
}

/* A PMU whose driver wants to know when tasks come and go, though it has no event. */
static int no_event(struct perf_event *event)
{
	return -ENOENT;
}

static void tell(struct perf_event_pmu_context *part, struct task_struct *of, bool in)
{
}

static struct pmu curious = {
	.capabilities	= PERF_PMU_CAP_NO_INTERRUPT,
	.task_ctx_nr	= perf_invalid_context,
	.event_init	= no_event,
	.add		= single_add,
	.del		= single_does,
	.start		= single_does,
	.stop		= single_does,
	.read		= single_read,
	.sched_task	= tell,
};

/* Switches are followed for it, though no event needs that, and not any more when it is done. */
static void followed_for_a_driver(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = ID, .size = sizeof(attr),
	};
	bool follows = false, follows_on;
	struct perf_event *event;

	KUNIT_ASSERT_EQ(test, perf_pmu_register(&curious, "kunit_curious", -1), 0);
	migrate_disable();
	scoped_guard(irqsave)
		perf_sched_cb_inc(&curious);
	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (!IS_ERR(event)) {
		perf_event_release_kernel(event);
		/* Nothing is waited for: what nobody needs is off after two seconds at most. */
		msleep(3000);
		follows = static_key_enabled(&perf_sched_events);
	}
	scoped_guard(irqsave)
		perf_sched_cb_dec(&curious);
	msleep(3000);
	follows_on = static_key_enabled(&perf_sched_events);
	migrate_enable();
	perf_pmu_unregister(&curious);
	KUNIT_EXPECT_FALSE(test, IS_ERR(event));
	KUNIT_EXPECT_TRUE(test, follows);
	KUNIT_EXPECT_FALSE(test, follows_on);
}

/* A PMU has the number that it asks for, be it 0, unless another one has that. */
static void number_asked_for(struct kunit *test)
{
	int second;
	u32 type;

	KUNIT_ASSERT_EQ(test, perf_pmu_register(&single, "kunit_single", PERF_TYPE_HARDWARE), 0);
	type = single.type;
	second = perf_pmu_register(&curious, "kunit_curious", PERF_TYPE_HARDWARE);
	if (!second)
		perf_pmu_unregister(&curious);
	perf_pmu_unregister(&single);
	KUNIT_EXPECT_EQ(test, type, (u32)PERF_TYPE_HARDWARE);
	KUNIT_EXPECT_EQ(test, second, -EEXIST);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(paused),
	KUNIT_CASE(read_here),
	KUNIT_CASE(followed),
	KUNIT_CASE(followed_for_the_other),
	KUNIT_CASE(followed_for_a_driver),
	KUNIT_CASE(refused),
	KUNIT_CASE(read_of_hardware),
	KUNIT_CASE(scheduled_anew),
	KUNIT_CASE(registered_again),
	KUNIT_CASE(without_tracer),
	KUNIT_CASE(new_frequency),
	KUNIT_CASE(number_asked_for),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_events_kernel",
	.test_cases = cases,
};

kunit_test_suite(suite);
MODULE_DESCRIPTION("KUnit tests of events of the kernel's own");
MODULE_LICENSE("GPL");
