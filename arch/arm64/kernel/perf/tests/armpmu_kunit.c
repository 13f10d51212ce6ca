// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the PMU framework, with a PMU that is only memory.
 *
 * Its counters are an array, its driver gives them out from the lowest on.  "wide" events take two
 * neighbours of which the lower is even, as chained counters do.  What the driver is asked to do is
 * counted.  The PMU is not registered; the tests call its operations as the core would, pinned to a
 * CPU.
 */
#include <kunit/test.h>
#include <linux/cpu_pm.h>
#include <linux/percpu.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include "../armpmu.h"

#define COUNTERS	4
#define WIDE		1	/* attr.config */

static struct {
	struct arm_pmu *armpmu;
	u64 counter[COUNTERS];
	struct perf_event *asked[32];	/* for a counter, in this order */
	unsigned int nr_asked;
	u64 steals;			/* an interrupt takes the count meanwhile, so many times */
	bool counts[COUNTERS];
	unsigned int starts, stops, resets;
	int filter_says;
} fake;

static int place_narrow(unsigned long *used)
{
	int idx = find_first_zero_bit(used, COUNTERS);

	if (idx >= COUNTERS)
		return -EAGAIN;
	set_bit(idx, used);
	return idx;
}

static int place_wide(unsigned long *used)
{
	int idx;

	for (idx = 0; idx + 1 < COUNTERS; idx += 2) {
		if (test_bit(idx, used) || test_bit(idx + 1, used))
			continue;
		bitmap_set(used, idx, 2);
		return idx;
	}
	return -EAGAIN;
}

static int fake_get_event_idx(struct pmu_hw_events *counters, struct perf_event *event)
{
	if (fake.nr_asked < ARRAY_SIZE(fake.asked))
		fake.asked[fake.nr_asked] = event;
	fake.nr_asked++;
	return event->attr.config == WIDE ? place_wide(counters->used_mask) :
					    place_narrow(counters->used_mask);
}

/* The thief looks at the counter before the value that is returned was read. */
static u64 fake_read_counter(struct perf_event *event)
{
	u64 value = fake.counter[event->hw.idx];

	if (fake.steals) {
		fake.steals--;
		fake.counter[event->hw.idx] += 5;
		armpmu_event_update(event);
	}
	return value;
}

static void fake_write_counter(struct perf_event *event, u64 value)
{
	fake.counter[event->hw.idx] = value;
}

static void fake_enable(struct perf_event *event)
{
	fake.counts[event->hw.idx] = true;
}

static void fake_disable(struct perf_event *event)
{
	fake.counts[event->hw.idx] = false;
}

static void fake_clear_event_idx(struct pmu_hw_events *counters, struct perf_event *event)
{
	bitmap_clear(counters->used_mask, event->hw.idx, event->attr.config == WIDE ? 2 : 1);
}

static void fake_start(struct arm_pmu *armpmu)
{
	fake.starts++;
}

static void fake_stop(struct arm_pmu *armpmu)
{
	fake.stops++;
}

static void fake_reset(void *info)
{
	fake.resets++;
	memset(fake.counter, 0, sizeof(fake.counter));
}

static int fake_map_event(struct perf_event *event)
{
	return event->attr.config > WIDE ? -ENOENT : event->attr.config;
}

static int fake_set_event_filter(struct hw_perf_event *hw, struct perf_event_attr *attr)
{
	hw->config_base = 0x100;
	return fake.filter_says;
}

static int fake_init(struct kunit *test)
{
	int cpu = raw_smp_processor_id();
	struct arm_pmu *armpmu;

	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)), 0);
	armpmu = armpmu_alloc();
	KUNIT_ASSERT_NOT_NULL(test, armpmu);
	memset(&fake, 0, sizeof(fake));
	fake.armpmu = armpmu;
	/* What registration would have done. */
	armpmu->pmu.pmu_disable_count = alloc_percpu(int);
	KUNIT_ASSERT_NOT_NULL(test, armpmu->pmu.pmu_disable_count);
	armpmu->get_event_idx = fake_get_event_idx;
	armpmu->clear_event_idx = fake_clear_event_idx;
	armpmu->read_counter = fake_read_counter;
	armpmu->write_counter = fake_write_counter;
	armpmu->enable = fake_enable;
	armpmu->disable = fake_disable;
	armpmu->start = fake_start;
	armpmu->stop = fake_stop;
	armpmu->reset = fake_reset;
	armpmu->map_event = fake_map_event;
	armpmu->set_event_filter = fake_set_event_filter;
	armpmu->pmu.type = 99;
	bitmap_set(armpmu->cntr_mask, 0, COUNTERS);
	cpumask_set_cpu(smp_processor_id(), &armpmu->supported_cpus);
	return 0;
}

static void fake_exit(struct kunit *test)
{
	if (fake.armpmu) {
		free_percpu(fake.armpmu->pmu.pmu_disable_count);
		armpmu_free(fake.armpmu);
	}
	fake.armpmu = NULL;
}

static struct perf_event *new_event(struct kunit *test, struct perf_event *leader, u64 config)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->pmu = &fake.armpmu->pmu;
	event->cpu = -1;
	event->group_leader = leader ?: event;
	event->state = PERF_EVENT_STATE_INACTIVE;
	event->attr.config = config;
	INIT_LIST_HEAD(&event->sibling_list);
	return event;
}

static struct perf_event *new_sibling(struct kunit *test, struct perf_event *leader, u64 config)
{
	struct perf_event *event = new_event(test, leader, config);

	list_add_tail(&event->sibling_list, &leader->sibling_list);
	return event;
}

/* ------------------------------------------------------------------ groups */

static void group_fills_pmu(struct kunit *test)
{
	struct perf_event *leader = new_event(test, NULL, 0);
	int i;

	KUNIT_EXPECT_TRUE(test, armpmu_group_fits(leader));
	for (i = 1; i < COUNTERS; i++) {
		KUNIT_EXPECT_TRUE(test, armpmu_group_fits(new_event(test, leader, 0)));
		new_sibling(test, leader, 0);
	}
	KUNIT_EXPECT_FALSE(test, armpmu_group_fits(new_event(test, leader, 0)));
}

/* Each member is asked for once, the new one last. */
static void group_order(struct kunit *test)
{
	struct perf_event *leader = new_event(test, NULL, 0), *second, *event;

	KUNIT_EXPECT_TRUE(test, armpmu_group_fits(leader));
	KUNIT_EXPECT_EQ(test, fake.nr_asked, 1);
	second = new_sibling(test, leader, 0);
	event = new_event(test, leader, 0);
	fake.nr_asked = 0;
	KUNIT_EXPECT_TRUE(test, armpmu_group_fits(event));
	KUNIT_EXPECT_EQ(test, fake.nr_asked, 3);
	KUNIT_EXPECT_PTR_EQ(test, fake.asked[0], leader);
	KUNIT_EXPECT_PTR_EQ(test, fake.asked[1], second);
	KUNIT_EXPECT_PTR_EQ(test, fake.asked[2], event);
}

/* Four free counters hold two wide events, but not one between two narrow ones and another. */
static void group_wide(struct kunit *test)
{
	struct perf_event *leader = new_event(test, NULL, WIDE);

	KUNIT_EXPECT_TRUE(test, armpmu_group_fits(new_event(test, leader, WIDE)));
	new_sibling(test, leader, 0);
	KUNIT_EXPECT_TRUE(test, armpmu_group_fits(new_event(test, leader, 0)));
	KUNIT_EXPECT_FALSE(test, armpmu_group_fits(new_event(test, leader, WIDE)));
}

/* Members that came in while they were off, and are on now: too many already without another. */
static void group_too_large(struct kunit *test)
{
	struct perf_event *leader = new_event(test, NULL, 0);
	int i;

	for (i = 0; i < COUNTERS; i++)
		new_sibling(test, leader, 0);
	KUNIT_EXPECT_FALSE(test, armpmu_group_fits(new_event(test, leader, 0)));
	KUNIT_EXPECT_EQ(test, fake.nr_asked, 1 + COUNTERS);
}

/* Who is switched off takes no counter, unless exec is going to switch it on. */
static void group_off(struct kunit *test)
{
	struct perf_event *leader = new_event(test, NULL, 0);
	int i;

	leader->state = PERF_EVENT_STATE_OFF;
	for (i = 0; i < COUNTERS - 1; i++)
		new_sibling(test, leader, 0);
	KUNIT_EXPECT_TRUE(test, armpmu_group_fits(new_event(test, leader, 0)));
	leader->attr.enable_on_exec = 1;
	KUNIT_EXPECT_FALSE(test, armpmu_group_fits(new_event(test, leader, 0)));
	leader->state = PERF_EVENT_STATE_ERROR;
	KUNIT_EXPECT_TRUE(test, armpmu_group_fits(new_event(test, leader, 0)));
}

static void group_strangers(struct kunit *test)
{
	struct perf_event *leader = new_event(test, NULL, 0);
	struct pmu other = { };

	/* software events take nothing, whatever their PMU */
	leader->pmu = &other;
	leader->event_caps = PERF_EV_CAP_SOFTWARE;
	KUNIT_EXPECT_TRUE(test, armpmu_group_fits(new_event(test, leader, 0)));
	KUNIT_EXPECT_EQ(test, fake.nr_asked, 1);

	/* and a PMU is not asked for events that are not its own, not even if they are off */
	leader->event_caps = 0;
	leader->state = PERF_EVENT_STATE_OFF;
	KUNIT_EXPECT_FALSE(test, armpmu_group_fits(new_event(test, leader, 0)));
	KUNIT_EXPECT_EQ(test, fake.nr_asked, 1);
}

/* ------------------------------------------------------------------ periods */

static void width_of_counters(struct kunit *test)
{
	struct hw_perf_event hw = { };

	KUNIT_EXPECT_EQ(test, armpmu_counter_mask(&hw), 0xffffffffULL);
	hw.flags = ARMPMU_EVT_47BIT;
	KUNIT_EXPECT_EQ(test, armpmu_counter_mask(&hw), 0x7fffffffffffULL);
	hw.flags = ARMPMU_EVT_63BIT;
	KUNIT_EXPECT_EQ(test, armpmu_counter_mask(&hw), 0x7fffffffffffffffULL);
	hw.flags = ARMPMU_EVT_64BIT;
	KUNIT_EXPECT_EQ(test, armpmu_counter_mask(&hw), U64_MAX);
}

static void period_cases(struct kunit *test)
{
	static const struct {
		s64 left, period;
		bool over;
		s64 left_then, start;
	} cases[] = {
		{ 100, 100, false, 100, -100 },
		{ 1, 100, false, 1, -1 },
		{ 0, 100, true, 100, -100 },
		{ -1, 100, true, 99, -99 },
		{ -99, 100, true, 1, -1 },
		/* more than a period too late: forgotten */
		{ -100, 100, true, 100, -100 },
		{ -1000, 100, true, 100, -100 },
		/* half the counter at most, the rest remains */
		{ 0x7fffffff, S64_MAX, false, 0x7fffffff, -0x7fffffffLL },
		{ 0x80000000, S64_MAX, false, 0x80000000, -0x7fffffffLL },
		{ S64_MAX, S64_MAX, false, S64_MAX, -0x7fffffffLL },
		{ 0, S64_MAX, true, S64_MAX, -0x7fffffffLL },
	};
	u64 start;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct hw_perf_event hw = { .sample_period = cases[i].period, .last_period = 7 };

		local64_set(&hw.period_left, cases[i].left);
		KUNIT_EXPECT_EQ_MSG(test, armpmu_period_next(&hw, &start), cases[i].over, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, (s64)start, cases[i].start, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, (s64)local64_read(&hw.period_left), cases[i].left_then,
				    "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, hw.last_period != 7, cases[i].over, "%d", i);
	}
}

static void expect_update(struct kunit *test, struct perf_event *event, u64 before, u64 counter,
			  u64 counted)
{
	local64_set(&event->count, 1000);
	local64_set(&event->hw.prev_count, before);
	local64_set(&event->hw.period_left, 50);
	fake.counter[0] = counter;
	KUNIT_EXPECT_EQ(test, armpmu_event_update(event), counter);
	KUNIT_EXPECT_EQ(test, (u64)local64_read(&event->count), 1000 + counted);
	KUNIT_EXPECT_EQ(test, (u64)local64_read(&event->hw.period_left), 50 - counted);
	KUNIT_EXPECT_EQ(test, (s64)local64_read(&event->hw.prev_count),
			event->hw.flags & ARMPMU_EVT_64BIT ? (s64)counter : (s32)counter);
}

static void update_counts(struct kunit *test)
{
	struct perf_event *event = new_event(test, NULL, 0);

	expect_update(test, event, 10, 17, 7);
	expect_update(test, event, 17, 17, 0);
	/* 32 bits: across the wrap, from a start that is negative in 64 bits, and nearly around */
	expect_update(test, event, 0xfffffff0, 0x10, 0x20);
	expect_update(test, event, -100LL, 0xffffffff, 99);
	expect_update(test, event, -100LL, 5, 105);
	expect_update(test, event, 1, 0, 0xffffffff);
	event->hw.flags = ARMPMU_EVT_64BIT;
	expect_update(test, event, U64_MAX - 1, 3, 5);
	expect_update(test, event, 0xfffffff0, 0x100000010ULL, 0x20);
}

/* What an interrupt in the middle has taken is not counted again. */
static void update_interrupted(struct kunit *test)
{
	struct perf_event *event = new_event(test, NULL, 0);
	u64 steals;

	for (steals = 1; steals < 4; steals++) {
		local64_set(&event->count, 0);
		local64_set(&event->hw.prev_count, 10);
		fake.counter[0] = 30;
		fake.steals = steals;
		armpmu_event_update(event);
		KUNIT_EXPECT_EQ(test, (u64)local64_read(&event->count), 20 + 5 * steals);
		KUNIT_EXPECT_EQ(test, (u64)local64_read(&event->hw.prev_count), 30 + 5 * steals);
	}
}

/* ------------------------------------------------------------------ operations */

static int add(struct perf_event *event, int flags)
{
	guard(irqsave)();
	return event->pmu->add(event, flags);
}

static void del(struct perf_event *event)
{
	guard(irqsave)();
	event->pmu->del(event, 0);
}

static s64 count_of(struct perf_event *event)
{
	guard(irqsave)();
	event->pmu->read(event);
	return local64_read(&event->count);
}

/* An opened event that counts. */
static struct perf_event *counting(struct kunit *test, u64 config)
{
	struct perf_event *event = new_event(test, NULL, config);

	KUNIT_ASSERT_EQ(test, event->pmu->event_init(event), 0);
	KUNIT_ASSERT_EQ(test, add(event, PERF_EF_START), 0);
	return event;
}

static void init_errors(struct kunit *test)
{
	struct perf_event *event = new_event(test, NULL, 0);
	struct pmu *pmu = event->pmu;

	event->cpu = smp_processor_id();
	KUNIT_EXPECT_EQ(test, pmu->event_init(event), 0);
	KUNIT_EXPECT_EQ(test, event->hw.idx, -1);
	KUNIT_EXPECT_EQ(test, event->hw.config_base, 0x100UL);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 0x7fffffffULL);
	/* without a filter it is the number alone, whatever was there */
	fake.armpmu->set_event_filter = NULL;
	event->attr.config = WIDE;
	KUNIT_EXPECT_EQ(test, pmu->event_init(event), 0);
	KUNIT_EXPECT_EQ(test, event->hw.config_base, (unsigned long)WIDE);
	fake.armpmu->set_event_filter = fake_set_event_filter;
	event->attr.config = 0;

	/* what comes first decides: the group, filter, number, branches, CPU */
	event->group_leader = new_event(test, NULL, 0);
	event->group_leader->pmu = NULL;
	KUNIT_EXPECT_EQ(test, pmu->event_init(event), -EINVAL);
	fake.filter_says = -EPERM;
	KUNIT_EXPECT_EQ(test, pmu->event_init(event), -EPERM);
	event->attr.config = WIDE + 1;
	KUNIT_EXPECT_EQ(test, pmu->event_init(event), -ENOENT);
	event->attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	event->attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	KUNIT_EXPECT_EQ(test, pmu->event_init(event), -EOPNOTSUPP);
	cpumask_clear(&fake.armpmu->supported_cpus);
	KUNIT_EXPECT_EQ(test, pmu->event_init(event), -ENOENT);
}

static void add_until_full(struct kunit *test)
{
	struct perf_event *events[COUNTERS], *more = new_event(test, NULL, 0);
	int i;

	for (i = 0; i < COUNTERS; i++) {
		events[i] = counting(test, 0);
		KUNIT_EXPECT_EQ(test, events[i]->hw.idx, i);
		KUNIT_EXPECT_TRUE(test, fake.counts[i]);
	}
	KUNIT_EXPECT_EQ(test, add(more, PERF_EF_START), -EAGAIN);
	del(events[2]);
	KUNIT_EXPECT_EQ(test, events[2]->hw.idx, -1);
	KUNIT_EXPECT_FALSE(test, fake.counts[2]);
	KUNIT_EXPECT_EQ(test, add(more, 0), 0);
	KUNIT_EXPECT_EQ(test, more->hw.idx, 2);
	KUNIT_EXPECT_FALSE(test, fake.counts[2]);
	del(more);
	del(events[0]);
	del(events[1]);
	del(events[3]);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(this_cpu_ptr(fake.armpmu->hw_events)->used_mask,
					     ARMPMU_MAX_HWEVENTS));
}

/* A PMU is started for events only, and left alone on other PMUs' CPUs. */
static void other_cpus(struct kunit *test)
{
	struct pmu *pmu = &fake.armpmu->pmu;
	struct perf_event *event;

	pmu->pmu_enable(pmu);
	KUNIT_EXPECT_EQ(test, fake.starts, 0);
	event = counting(test, 0);
	pmu->pmu_disable(pmu);
	pmu->pmu_enable(pmu);
	KUNIT_EXPECT_EQ(test, fake.stops, 1);
	KUNIT_EXPECT_EQ(test, fake.starts, 1);

	cpumask_clear(&fake.armpmu->supported_cpus);
	KUNIT_EXPECT_TRUE(test, pmu->filter(pmu, smp_processor_id()));
	KUNIT_EXPECT_EQ(test, add(new_event(test, NULL, 0), PERF_EF_START), -ENOENT);
	pmu->pmu_disable(pmu);
	pmu->pmu_enable(pmu);
	KUNIT_EXPECT_EQ(test, fake.stops, 1);
	KUNIT_EXPECT_EQ(test, fake.starts, 1);

	cpumask_set_cpu(smp_processor_id(), &fake.armpmu->supported_cpus);
	KUNIT_EXPECT_FALSE(test, pmu->filter(pmu, smp_processor_id()));
	del(event);
}

static int tell(unsigned long what)
{
	struct notifier_block *nb = &fake.armpmu->cpu_pm_nb;

	guard(irqsave)();
	return nb->notifier_call(nb, what, NULL);
}

/* Joined for no CPU, so that no real one is disturbed. */
static void follow_sleep(struct kunit *test)
{
	cpumask_clear(&fake.armpmu->supported_cpus);
	KUNIT_ASSERT_EQ(test, armpmu_power_join(fake.armpmu), 0);
	KUNIT_EXPECT_EQ(test, tell(CPU_PM_ENTER), NOTIFY_DONE);
	KUNIT_EXPECT_EQ(test, tell(CPU_PM_EXIT), NOTIFY_DONE);
	KUNIT_EXPECT_EQ(test, fake.resets, 0);
	cpumask_set_cpu(smp_processor_id(), &fake.armpmu->supported_cpus);
}

static void no_more_sleep(void)
{
	cpumask_clear(&fake.armpmu->supported_cpus);
	armpmu_power_leave(fake.armpmu);
}

static void sleep_without_events(struct kunit *test)
{
	follow_sleep(test);
	KUNIT_EXPECT_EQ(test, tell(CPU_PM_ENTER), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, tell(CPU_PM_ENTER_FAILED), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, fake.resets, 0);
	KUNIT_EXPECT_EQ(test, tell(CPU_PM_EXIT), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, fake.resets, 1);
	KUNIT_EXPECT_EQ(test, fake.stops + fake.starts, 0);
	no_more_sleep();
}

static void sleep_with_events(struct kunit *test)
{
	struct perf_event *runs = counting(test, 0), *stands = counting(test, 0);

	follow_sleep(test);
	fake.counter[1] += 70;
	stands->pmu->stop(stands, 0);
	KUNIT_EXPECT_EQ(test, count_of(stands), 70);

	fake.counter[0] += 100;
	KUNIT_EXPECT_EQ(test, tell(CPU_PM_ENTER), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, fake.stops, 1);
	KUNIT_EXPECT_FALSE(test, fake.counts[0]);
	KUNIT_EXPECT_EQ(test, tell(CPU_CLUSTER_PM_ENTER), NOTIFY_DONE);
	KUNIT_EXPECT_EQ(test, tell(CPU_CLUSTER_PM_EXIT), NOTIFY_DONE);
	KUNIT_EXPECT_EQ(test, tell(CPU_PM_EXIT), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, fake.resets, 1);
	KUNIT_EXPECT_EQ(test, fake.starts, 1);

	/* The registers are lost, the counts are not; who stood still stands. */
	KUNIT_EXPECT_TRUE(test, fake.counts[0]);
	KUNIT_EXPECT_FALSE(test, fake.counts[1]);
	fake.counter[0] += 11;
	KUNIT_EXPECT_EQ(test, count_of(runs), 111);
	KUNIT_EXPECT_EQ(test, count_of(stands), 70);

	KUNIT_EXPECT_EQ(test, tell(CPU_PM_ENTER), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, tell(CPU_PM_ENTER_FAILED), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, fake.resets, 1);
	KUNIT_EXPECT_TRUE(test, fake.counts[0]);
	KUNIT_EXPECT_FALSE(test, fake.counts[1]);
	stands->pmu->start(stands, PERF_EF_RELOAD);
	fake.counter[1] += 5;
	KUNIT_EXPECT_EQ(test, count_of(stands), 75);
	no_more_sleep();
	del(runs);
	del(stands);
}

static unsigned int overflows;

static void count_overflow(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	WRITE_ONCE(overflows, overflows + 1);
}

/* Who leaves takes nothing from the PMU that serves the CPU: its interrupts come as before. */
static void interrupts_of_others(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.sample_period = 100000,
	};
	struct perf_event *event;
	ktime_t until;

	follow_sleep(test);
	no_more_sleep();
	overflows = 0;
	event = perf_event_create_kernel_counter(&attr, smp_processor_id(), NULL, count_overflow,
						 NULL);
	if (IS_ERR(event))
		kunit_skip(test, "there is no PMU that interrupts");
	until = ktime_add_ms(ktime_get(), 100);
	while (!READ_ONCE(overflows) && ktime_before(ktime_get(), until))
		cpu_relax();
	perf_event_release_kernel(event);
	KUNIT_EXPECT_GT(test, READ_ONCE(overflows), 0U);
}

/* ------------------------------------------------------------------ events by number */

static const unsigned int generic_events[PERF_COUNT_HW_MAX] = {
	PERF_MAP_ALL_UNSUPPORTED,
	[PERF_COUNT_HW_CPU_CYCLES] = 0x11,
	[PERF_COUNT_HW_INSTRUCTIONS] = 0,
};

static const unsigned int cache_events[PERF_COUNT_HW_CACHE_MAX][PERF_COUNT_HW_CACHE_OP_MAX]
				      [PERF_COUNT_HW_CACHE_RESULT_MAX] = {
	PERF_CACHE_MAP_ALL_UNSUPPORTED,
	[C(L1I)][C(OP_READ)][C(RESULT_MISS)] = 0x14,
	[C(NODE)][C(OP_PREFETCH)][C(RESULT_MISS)] = 0x15,
};

static void map_event(struct kunit *test)
{
	static const struct {
		u32 type;
		u64 config;
		int number, without_tables;
	} cases[] = {
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0x11, -ENOENT },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, -ENOENT },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, -ENOENT, -ENOENT },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX, -EINVAL, -EINVAL },
		{ PERF_TYPE_HARDWARE, 1ULL << 32, -EINVAL, -EINVAL },
		{ PERF_TYPE_HW_CACHE, 0x010001, 0x14, -ENOENT },
		{ PERF_TYPE_HW_CACHE, 0x000001, -ENOENT, -ENOENT },
		{ PERF_TYPE_HW_CACHE, 0x010206, 0x15, -ENOENT },
		{ PERF_TYPE_HW_CACHE, 0x010207, -EINVAL, -EINVAL },
		{ PERF_TYPE_HW_CACHE, 0x010306, -EINVAL, -EINVAL },
		{ PERF_TYPE_HW_CACHE, 0x020206, -EINVAL, -EINVAL },
		{ PERF_TYPE_HW_CACHE, 0xff00000000010001ULL, 0x14, -ENOENT },
		{ PERF_TYPE_RAW, 0x12345, 0x345, 0x345 },
		{ 99, 0xffff, 0xfff, 0xfff },
		{ PERF_TYPE_SOFTWARE, 0, -ENOENT, -ENOENT },
		{ 100, 0, -ENOENT, -ENOENT },
	};
	struct perf_event *event = new_event(test, NULL, 0);
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		event->attr.type = cases[i].type;
		event->attr.config = cases[i].config;
		KUNIT_EXPECT_EQ_MSG(test, armpmu_map_event(event, &generic_events, &cache_events,
							   0xfff), cases[i].number, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, armpmu_map_event(event, NULL, NULL, 0xfff),
				    cases[i].without_tables, "%d", i);
	}
}

static struct kunit_case armpmu_cases[] = {
	KUNIT_CASE(group_fills_pmu),
	KUNIT_CASE(group_order),
	KUNIT_CASE(group_wide),
	KUNIT_CASE(group_too_large),
	KUNIT_CASE(group_off),
	KUNIT_CASE(group_strangers),
	KUNIT_CASE(width_of_counters),
	KUNIT_CASE(period_cases),
	KUNIT_CASE(update_counts),
	KUNIT_CASE(update_interrupted),
	KUNIT_CASE(init_errors),
	KUNIT_CASE(add_until_full),
	KUNIT_CASE(other_cpus),
	KUNIT_CASE(sleep_without_events),
	KUNIT_CASE(sleep_with_events),
	KUNIT_CASE(interrupts_of_others),
	KUNIT_CASE(map_event),
	{}
};

static struct kunit_suite armpmu_suite = {
	.name = "perf_armpmu",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = armpmu_cases,
};

kunit_test_suite(armpmu_suite);
MODULE_DESCRIPTION("KUnit tests of the PMU framework");
MODULE_LICENSE("GPL");
