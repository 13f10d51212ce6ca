// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the period arithmetic in frequency.c and of perf_swevent_set_period().
 *
 * The expected values were computed with unbounded integers, so that each truncation of the
 * 64-bit arithmetic shows.  The events are never opened: what is tested touches event->hw only,
 * and the PMU.  The length of interrupts (overflow.c) is told without any.
 */
#include <kunit/test.h>

#include "../sources/hit.h"

static void period_exact(struct kunit *test)
{
	/* 10^9 events in a second, 1000 samples wanted. */
	KUNIT_EXPECT_EQ(test, pe_period_for(1000, NSEC_PER_SEC, 1000000000ULL), 1000000ULL);
	/* 3 * 10^9 * 10^9 / (10^6 * 4000) = 750 * 10^6, all within 64 bits */
	KUNIT_EXPECT_EQ(test, pe_period_for(4000, 1000000, 3000000000ULL), 750000000ULL);
	/* rounded down: 7 * 10^9 / (4 * 10^6 * 999) = 1.75... */
	KUNIT_EXPECT_EQ(test, pe_period_for(999, 4000000, 7), 1ULL);
	/* below one */
	KUNIT_EXPECT_EQ(test, pe_period_for(1000, 1000000, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, pe_period_for(100000, 10000000, 999), 0ULL);
	KUNIT_EXPECT_EQ(test, pe_period_for(100000, 10000000, 1000), 1ULL);
}

/* Neither product fits in 64 bits in most of these. */
static void period_wide(struct kunit *test)
{
	static const struct {
		u64 freq, nsec, count, want;
	} cases[] = {
		/* only count * 10^9 is wide */
		{ 1, 1, 1ULL << 34, 17179869184000000000ULL },
		{ 1000, 1000000, 1ULL << 40, 1099511627776ULL },
		{ 1, 1ULL << 63, 1ULL << 40, 119ULL },
		{ 100000, 1ULL << 40, U64_MAX, 167772159999ULL },
		/* only nsec * freq is wide */
		{ 1ULL << 32, 1ULL << 40, 1ULL << 30, 0 },
		{ 1ULL << 20, 1ULL << 50, 1ULL << 33, 0 },
		/* both are: 2^63 * 10^9 / (2^45 * 2^20) */
		{ 1ULL << 20, 1ULL << 45, 1ULL << 63, 250000000ULL },
		{ 1ULL << 32, 1ULL << 32, U64_MAX, 999999999ULL },
		{ U64_MAX, U64_MAX, U64_MAX, 0 },
	};
	u64 got, slack;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		got = pe_period_for(cases[i].freq, cases[i].nsec, cases[i].count);
		/* 30 bits of precision are promised, and exactness where the result is small. */
		slack = cases[i].want >> 30;
		KUNIT_EXPECT_LE_MSG(test, got, cases[i].want + slack + 1, "case %d", i);
		KUNIT_EXPECT_GE_MSG(test, got + slack + 1, cases[i].want, "case %d", i);
	}
}

static void period_limits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pe_period_for(1, 1, U64_MAX), U64_MAX);
	KUNIT_EXPECT_EQ(test, pe_period_for(0, 0, 1), 1000000000ULL);
	KUNIT_EXPECT_EQ(test, pe_period_for(0, NSEC_PER_SEC, 5), 5ULL);
	KUNIT_EXPECT_EQ(test, pe_period_for(U64_MAX, U64_MAX, 0), 0ULL);
	/* the last result that fits, and the first that does not */
	KUNIT_EXPECT_EQ(test, pe_period_for(1, 1, 18446744073ULL), 18446744073000000000ULL);
	KUNIT_EXPECT_EQ(test, pe_period_for(1, 1, 1ULL << 36), U64_MAX);
}

/* More events mean a longer period, whatever branch the arithmetic takes. */
static void period_monotonic(struct kunit *test)
{
	u64 last = 0, got;
	int bit;

	for (bit = 0; bit < 64; bit++) {
		got = pe_period_for(997, 4000000, 1ULL << bit);
		KUNIT_EXPECT_GE_MSG(test, got, last, "bit %d", bit);
		/* Doubling the count doubles the period, but for the rounding. */
		if (last > 1000 && got != U64_MAX) {
			KUNIT_EXPECT_GE_MSG(test, got, 2 * last - (last >> 29), "bit %d", bit);
			KUNIT_EXPECT_LE_MSG(test, got, 2 * last + 1 + (last >> 29), "bit %d", bit);
		}
		last = got;
	}
}

static void step_filters(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pe_period_step(1000, 1000), 1000ULL);
	KUNIT_EXPECT_EQ(test, pe_period_step(1000, 1800), 1100ULL);
	KUNIT_EXPECT_EQ(test, pe_period_step(1000, 200), 900ULL);
	/* by one at least */
	KUNIT_EXPECT_EQ(test, pe_period_step(1000, 1001), 1001ULL);
	KUNIT_EXPECT_EQ(test, pe_period_step(1000, 999), 999ULL);
	/* never zero */
	KUNIT_EXPECT_EQ(test, pe_period_step(1, 0), 1ULL);
	KUNIT_EXPECT_EQ(test, pe_period_step(2, 0), 1ULL);
	/* stays in the signed range */
	KUNIT_EXPECT_EQ(test, pe_period_step(U64_MAX, U64_MAX), (u64)S64_MAX);
	KUNIT_EXPECT_LE(test, pe_period_step(1, U64_MAX), (u64)S64_MAX / 8 + 2);
}

static void step_converges(struct kunit *test)
{
	u64 period = 1;
	int i;

	for (i = 0; i < 200 && period != 1000000; i++)
		period = pe_period_step(period, 1000000);
	KUNIT_EXPECT_EQ(test, period, 1000000ULL);
	KUNIT_EXPECT_LT(test, i, 120);

	for (i = 0; i < 200 && period != 1; i++)
		period = pe_period_step(period, 0);
	KUNIT_EXPECT_EQ(test, period, 1ULL);
	KUNIT_EXPECT_LT(test, i, 120);
}

static struct perf_event *make_event(struct kunit *test, u64 period)
{
	static struct pmu software = { .task_ctx_nr = perf_sw_context, .lasting = true };
	struct pe_event *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->pmu = &software;
	e->hw.sample_period = period;
	e->hw.last_period = period;
	local64_set(&e->hw.period_left, period);
	return &e->pub;
}

static s64 left(struct perf_event *event)
{
	return local64_read(&event->hw.period_left);
}

static void swevent_first_period(struct kunit *test)
{
	struct perf_event *event = make_event(test, 100);

	/* A new event has a whole period ahead. */
	perf_swevent_set_period(event);
	KUNIT_EXPECT_EQ(test, left(event), -100LL);
	KUNIT_EXPECT_EQ(test, perf_swevent_set_period(event), 0ULL);
	KUNIT_EXPECT_EQ(test, left(event), -100LL);
}

static void swevent_periods_over(struct kunit *test)
{
	struct perf_event *event = make_event(test, 100);

	local64_set(&event->hw.period_left, -1);
	KUNIT_EXPECT_EQ(test, perf_swevent_set_period(event), 0ULL);
	local64_set(&event->hw.period_left, 0);
	KUNIT_EXPECT_EQ(test, perf_swevent_set_period(event), 1ULL);
	KUNIT_EXPECT_EQ(test, left(event), -100LL);
	local64_set(&event->hw.period_left, 99);
	KUNIT_EXPECT_EQ(test, perf_swevent_set_period(event), 1ULL);
	KUNIT_EXPECT_EQ(test, left(event), -1LL);
	local64_set(&event->hw.period_left, 250);
	KUNIT_EXPECT_EQ(test, perf_swevent_set_period(event), 3ULL);
	KUNIT_EXPECT_EQ(test, left(event), -50LL);
}

/* Hits of any size: the number of samples is what the sum of the hits makes. */
static void swevent_no_hit_lost(struct kunit *test)
{
	struct perf_event *event = make_event(test, 37);
	u64 sum = 0, samples = 0;
	int i;

	perf_swevent_set_period(event);
	for (i = 0; i < 1000; i++) {
		u64 nr = 1 + i * 31 % 113;

		sum += nr;
		if (!local64_add_negative(nr, &event->hw.period_left))
			samples += perf_swevent_set_period(event);
	}
	KUNIT_EXPECT_EQ(test, samples, sum / 37);
	KUNIT_EXPECT_EQ(test, left(event), (s64)(sum % 37) - 37);
}

/* A new period is in force from the next on; the one under way keeps its length. */
static void swevent_new_period(struct kunit *test)
{
	struct perf_event *event = make_event(test, 10);

	perf_swevent_set_period(event);
	event->hw.sample_period = 1000;
	KUNIT_EXPECT_EQ(test, perf_swevent_set_period(event), 0ULL);
	KUNIT_EXPECT_EQ(test, left(event), -10LL);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 10ULL);
	local64_set(&event->hw.period_left, 0);
	KUNIT_EXPECT_EQ(test, perf_swevent_set_period(event), 1ULL);
	KUNIT_EXPECT_EQ(test, left(event), -1000LL);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 1000ULL);
	/* The first of three that are over is of the old length, the others are not. */
	event->hw.sample_period = 10;
	local64_set(&event->hw.period_left, 25);
	KUNIT_EXPECT_EQ(test, perf_swevent_set_period(event), 3ULL);
	KUNIT_EXPECT_EQ(test, left(event), -5LL);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 10ULL);
}

/* A sample tells the length of the period that ended. */
static void swevent_sample_tells(struct kunit *test)
{
	struct perf_event *event = make_event(test, 8000);
	struct perf_sample_data data = { };

	perf_swevent_set_period(event);
	event->hw.sample_period = 1000;
	KUNIT_EXPECT_EQ(test, pe_samples_due(pe(event), 7999, &data), 0ULL);
	KUNIT_EXPECT_EQ(test, pe_samples_due(pe(event), 1, &data), 1ULL);
	KUNIT_EXPECT_EQ(test, data.period, 8000ULL);
	/* The first of as many as have ended. */
	event->hw.sample_period = 100;
	KUNIT_EXPECT_EQ(test, pe_samples_due(pe(event), 1250, &data), 3ULL);
	KUNIT_EXPECT_EQ(test, data.period, 1000ULL);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 100ULL);
	KUNIT_EXPECT_EQ(test, left(event), -50LL);
	/* Each hit a sample of its own. */
	event->hw.sample_period = 1;
	KUNIT_EXPECT_EQ(test, pe_samples_due(pe(event), 1, &data), 1ULL);
	KUNIT_EXPECT_EQ(test, data.period, 1ULL);
	event->attr.sample_type = PERF_SAMPLE_PERIOD;
	KUNIT_EXPECT_EQ(test, pe_samples_due(pe(event), 50, &data), 1ULL);
	KUNIT_EXPECT_EQ(test, data.period, 50ULL);
}

/* No event in a second. */
static void adjust(struct perf_event *event)
{
	guard(irqsave)();
	pe_adjust_period(pe(event), NSEC_PER_SEC, 0);
}

/* One that is far too long is given up, and a whole new one begins; the event counts on. */
static void swevent_given_up(struct kunit *test)
{
	struct perf_event *event = make_event(test, 1000000);

	event->attr.sample_freq = 1;
	/* Eight of the next one, 875000, are seven millions. */
	local64_set(&event->hw.period_left, -7000000);
	adjust(event);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 875000ULL);
	KUNIT_EXPECT_EQ(test, left(event), -7000000LL);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 1000000ULL);
	event->hw.sample_period = 1000000;
	local64_set(&event->hw.period_left, -7000001);
	adjust(event);
	KUNIT_EXPECT_EQ(test, left(event), -875000LL);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 875000ULL);
	/* What has not begun yet is not too long. */
	local64_set(&event->hw.period_left, 1ULL << 40);
	adjust(event);
	KUNIT_EXPECT_EQ(test, left(event), 1LL << 40);
}

static int stops, starts;

static void stop(struct perf_event *event, int flags)
{
	stops++;
}

static void start(struct perf_event *event, int flags)
{
	starts++;
}

static struct pmu counter = {
	.task_ctx_nr = perf_hw_context, .start = start, .stop = stop,
};

/* A counter that counts is stopped for it, and has nothing left. */
static void counter_given_up(struct kunit *test)
{
	struct perf_event *event = make_event(test, 1000000);

	pe(event)->pmu = &counter;
	event->attr.sample_freq = 1;
	stops = 0;
	starts = 0;
	/* Below 0 it is late, not too long. */
	local64_set(&event->hw.period_left, -(1LL << 40));
	adjust(event);
	event->hw.sample_period = 1000000;
	local64_set(&event->hw.period_left, 7000000);
	adjust(event);
	KUNIT_EXPECT_EQ(test, left(event), 7000000LL);
	KUNIT_EXPECT_EQ(test, stops + starts, 0);
	event->hw.sample_period = 1000000;
	local64_set(&event->hw.period_left, 7000001);
	adjust(event);
	KUNIT_EXPECT_EQ(test, left(event), 0LL);
	KUNIT_EXPECT_EQ(test, stops, 1);
	KUNIT_EXPECT_EQ(test, starts, 1);
}

static void no_sample(struct perf_event *event, struct perf_sample_data *data,
		      struct pt_regs *regs)
{
}

/* At an overflow the next period may be in force already; what was measured is the last one. */
static void rate_of_the_period_that_ended(struct kunit *test)
{
	struct pe_event *e = pe(make_event(test, 1000));
	struct perf_sample_data data;

	e->pmu = &counter;
	e->sink = e;
	e->overflow_handler = no_sample;
	e->attr.freq = 1;
	e->attr.sample_freq = 1000;
	e->hw.last_period = 1000000;
	perf_sample_data_init(&data, 0, 1000);
	scoped_guard(irqsave) {
		/* A thousand events in a millisecond, or a little longer: that is right. */
		e->hw.freq_time_stamp = pe_now() - NSEC_PER_MSEC;
		pe_overflow(e, PE_NEVER_THROTTLE, &data, NULL);
	}
	KUNIT_EXPECT_LE(test, e->hw.sample_period, 1000ULL);
}

/* All periods that end with a hit are one measurement, also after a long time. */
static void rate_of_a_hit(struct kunit *test)
{
	struct pe_event *e = pe(make_event(test, 1000));
	struct perf_sample_data data = { };

	e->sink = e;
	e->overflow_handler = no_sample;
	e->attr.freq = 1;
	e->attr.sample_freq = 1;
	perf_swevent_set_period(&e->pub);
	scoped_guard(irqsave) {
		/* Two thousand in a second, or a little longer: each would be right, or a rush. */
		e->hw.freq_time_stamp = pe_now() - NSEC_PER_SEC;
		pe_sample(e, 2000, &data, NULL);
	}
	KUNIT_EXPECT_EQ(test, left(&e->pub), -1000LL);
	KUNIT_EXPECT_GT(test, e->hw.sample_period, 1000ULL);
	KUNIT_EXPECT_LE(test, e->hw.sample_period, 1125ULL);
}

/* Likewise where records got lost, and no sample tells which period it was. */
static void rate_without_a_sample(struct kunit *test)
{
	struct pe_event *e = pe(make_event(test, 1000));

	e->pmu = &counter;
	e->attr.freq = 1;
	e->attr.sample_freq = 1000;
	e->hw.last_period = 1000000;
	scoped_guard(irqsave) {
		e->hw.freq_time_stamp = pe_now() - NSEC_PER_MSEC;
		KUNIT_EXPECT_EQ(test, perf_event_account_period(&e->pub, 1000), 0);
		KUNIT_EXPECT_LE(test, e->hw.sample_period, 1000ULL);
		/* That is what the contract's function takes for it. */
		e->hw.freq_time_stamp = pe_now() - NSEC_PER_MSEC;
		KUNIT_EXPECT_EQ(test, perf_event_account_interrupt(&e->pub), 0);
		KUNIT_EXPECT_GT(test, e->hw.sample_period, 1000ULL);
	}
}

/* Hits of a task that is away are none of the ticks in which it runs. */
static void hit_while_away(struct kunit *test)
{
	struct pe_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct pe_event *e = pe(make_event(test, 1000));
	struct perf_sample_data data = { };

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	raw_spin_lock_init(&ctx->lock);
	e->ctx = &ctx->pub;
	e->attr.freq = 1;
	e->attr.sample_freq = 1;
	e->hw.freq_count_stamp = 5;
	perf_swevent_set_period(&e->pub);
	scoped_guard(raw_spinlock_irqsave, &ctx->lock)
		pe_software_hit_away(e, 7, &data, NULL);
	KUNIT_EXPECT_EQ(test, local64_read(&e->count), 7LL);
	KUNIT_EXPECT_EQ(test, left(&e->pub), -993LL);
	KUNIT_EXPECT_EQ(test, e->hw.freq_count_stamp, 12ULL);
}

static DEFINE_PER_CPU(int, times_off);
static bool under_lock;

static void on_or_off(struct pmu *pmu)
{
}

static int stops_while_off, start_flags;

static void stop_in_tick(struct perf_event *event, int flags)
{
	stops++;
	stops_while_off += this_cpu_read(times_off) == 1;
	under_lock = raw_spin_is_locked(&pe_ctx(pe(event))->lock);
}

static void start_in_tick(struct perf_event *event, int flags)
{
	starts++;
	start_flags |= flags;
}

static struct pmu ticked = {
	.task_ctx_nr = perf_hw_context, .start = start_in_tick, .stop = stop_in_tick,
	.pmu_disable_count = &times_off, .pmu_enable = on_or_off, .pmu_disable = on_or_off,
};

/* An event in frequency mode that counts in a slot. */
static void add_ticked(struct kunit *test, struct pe_ctx *ctx, struct pe_slot *slot)
{
	struct pe_event *e = pe(make_event(test, 1000));

	ctx->nr_freq++;
	e->pmu = &ticked;
	e->ctx = &ctx->pub;
	e->attr.freq = 1;
	e->attr.sample_freq = 1000;
	list_add_tail(&e->freq_entry, &slot->freq);
}

/* The tick looks at an event once, while nobody else changes its context. */
static void tick_locks(struct kunit *test)
{
	struct pe_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	bool afterwards;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	pe_ctx_init(ctx, NULL, 0);
	add_ticked(test, ctx, &ctx->any);
	stops = 0;
	starts = 0;
	scoped_guard(irqsave) {
		ctx->oncpu = smp_processor_id();
		pe_tick_freq(ctx, false);
		afterwards = raw_spin_is_locked(&ctx->lock);
	}
	KUNIT_EXPECT_EQ(test, stops, 1);
	KUNIT_EXPECT_EQ(test, starts, 1);
	KUNIT_EXPECT_FALSE(test, afterwards);
	/* With one CPU a lock is nothing. */
	if (IS_ENABLED(CONFIG_SMP))
		KUNIT_EXPECT_TRUE(test, under_lock);
}

/*
 * Wherever an event counts, the tick measures it, with the PMU off for all of them.  Where nothing
 * was counted nothing is loaded: a counter goes on from where it stands.
 */
static void tick_in_all_slots(struct kunit *test)
{
	struct pe_slot *slot = kunit_kcalloc(test, 2, sizeof(*slot), GFP_KERNEL);
	struct pe_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct pe_event *first;
	int afterwards, i;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	KUNIT_ASSERT_NOT_NULL(test, slot);
	pe_ctx_init(ctx, NULL, 0);
	add_ticked(test, ctx, &ctx->any);
	for (i = 0; i < 2; i++) {
		pe_slot_init(&slot[i]);
		add_ticked(test, ctx, &slot[i]);
	}
	ctx->here = &slot[0];
	hlist_add_head(&slot[1].entered, &ctx->entered);
	stops = 0;
	starts = 0;
	stops_while_off = 0;
	start_flags = 0;
	scoped_guard(irqsave) {
		ctx->oncpu = smp_processor_id();
		pe_tick_freq(ctx, false);
		afterwards = this_cpu_read(times_off);
	}
	KUNIT_EXPECT_EQ(test, stops, 3);
	KUNIT_EXPECT_EQ(test, starts, 3);
	KUNIT_EXPECT_EQ(test, stops_while_off, 3);
	KUNIT_EXPECT_EQ(test, start_flags, 0);
	KUNIT_EXPECT_EQ(test, afterwards, 0);
	/* Nor is that a rate of 0: the period is what it was. */
	first = list_first_entry(&ctx->any.freq, struct pe_event, freq_entry);
	KUNIT_EXPECT_EQ(test, first->hw.sample_period, 1000ULL);
}

static void halve_period(struct pe_event *e, void *arg)
{
	e->hw.sample_period /= 2;
	local64_set(&e->hw.period_left, 0);
}

/* An event that counts is stopped for another period, with its PMU off, and counts again. */
static void period_while_off(struct kunit *test)
{
	struct pe_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct pe_event *e = pe(make_event(test, 1000));
	int afterwards;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	pe_ctx_init(ctx, NULL, 0);
	e->pmu = &ticked;
	e->ctx = &ctx->pub;
	e->group_leader = &e->pub;
	e->nr_to_schedule = 1;
	e->state = PERF_EVENT_STATE_ACTIVE;
	stops = 0;
	starts = 0;
	stops_while_off = 0;
	start_flags = 0;
	scoped_guard(raw_spinlock_irqsave, &ctx->lock) {
		pe_change_period(e, halve_period, NULL);
		afterwards = this_cpu_read(times_off);
	}
	KUNIT_EXPECT_EQ(test, e->hw.sample_period, 500ULL);
	KUNIT_EXPECT_EQ(test, stops, 1);
	KUNIT_EXPECT_EQ(test, starts, 1);
	KUNIT_EXPECT_EQ(test, stops_while_off, 1);
	KUNIT_EXPECT_EQ(test, start_flags, PERF_EF_RELOAD);
	KUNIT_EXPECT_EQ(test, afterwards, 0);
}

/* Who is not throttled is not let go, and nobody starts it a second time. */
static void nothing_to_release(struct kunit *test)
{
	struct pe_event *e = pe(make_event(test, 1000));
	bool released;

	scoped_guard(irqsave)
		released = pe_unthrottle(e);
	KUNIT_EXPECT_FALSE(test, released);
}

/* Who leaves takes nobody along off the list of those that the tick is to let go. */
static void off_the_list(struct kunit *test)
{
	struct pe_event *leaves = pe(make_event(test, 1000)), *stays = pe(make_event(test, 1000));
	struct pe_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	pe_ctx_init(ctx, NULL, 0);
	leaves->ctx = &ctx->pub;
	stays->ctx = &ctx->pub;
	stays->attach_state = PERF_ATTACH_CONTEXT;
	pe_throttle_list(leaves);
	pe_throttle_list(stays);
	pe_throttle_unlist(leaves);
	KUNIT_EXPECT_EQ(test, leaves->throttle_listed, 0U);
	KUNIT_EXPECT_EQ(test, stays->throttle_listed, 1U);
	KUNIT_EXPECT_PTR_EQ(test, ctx->throttled.first, &stays->throttle_entry);
	KUNIT_EXPECT_NULL(test, stays->throttle_entry.next);
}

/* So often that the mean is @ns, whatever it was. */
static void all_take(u64 ns)
{
	int i;

	for (i = 0; i < 4000; i++)
		perf_sample_event_took(ns);
}

/* Interrupts may take all that is allowed, and not a nanosecond more. */
static void length_that_is_allowed(struct kunit *test)
{
	int rate = sysctl_perf_event_sample_rate, percent = sysctl_perf_cpu_time_max_percent;
	int within, beyond;

	scoped_guard(irqsave) {
		/* Hardly anything is too long while what was before is forgotten. */
		pe_limits_set_percent(99);
		pe_limits_set_rate(1);
		all_take(0);
		/* A quarter of 10 us. */
		pe_limits_set_percent(25);
		pe_limits_set_rate(100000);
		all_take(2500);
		within = sysctl_perf_event_sample_rate;
		all_take(2501);
		beyond = sysctl_perf_event_sample_rate;
		pe_limits_set_percent(99);
		pe_limits_set_rate(1);
		all_take(0);
		pe_limits_set_rate(rate);
		pe_limits_set_percent(percent);
	}
	KUNIT_EXPECT_EQ(test, within, 100000);
	KUNIT_EXPECT_LT(test, beyond, 100000);
}

static struct kunit_case frequency_cases[] = {
	KUNIT_CASE(period_exact),
	KUNIT_CASE(period_wide),
	KUNIT_CASE(period_limits),
	KUNIT_CASE(period_monotonic),
	KUNIT_CASE(step_filters),
	KUNIT_CASE(step_converges),
	KUNIT_CASE(swevent_first_period),
	KUNIT_CASE(swevent_periods_over),
	KUNIT_CASE(swevent_no_hit_lost),
	KUNIT_CASE(swevent_new_period),
	KUNIT_CASE(swevent_sample_tells),
	KUNIT_CASE(swevent_given_up),
	KUNIT_CASE(counter_given_up),
	KUNIT_CASE(rate_of_the_period_that_ended),
	KUNIT_CASE(rate_of_a_hit),
	KUNIT_CASE(rate_without_a_sample),
	KUNIT_CASE(hit_while_away),
	KUNIT_CASE(tick_locks),
	KUNIT_CASE(tick_in_all_slots),
	KUNIT_CASE(period_while_off),
	KUNIT_CASE(nothing_to_release),
	KUNIT_CASE(off_the_list),
	KUNIT_CASE(length_that_is_allowed),
	{}
};

static struct kunit_suite frequency_suite = {
	.name		= "perf_frequency",
	.test_cases	= frequency_cases,
};

kunit_test_suite(frequency_suite);

MODULE_DESCRIPTION("KUnit tests of the sampling period of performance events");
MODULE_LICENSE("GPL");
