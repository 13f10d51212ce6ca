// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the constraint solver against exhaustive search.
 *
 * search() below tries every counter for every event and knows no cleverness.  For thousands of
 * small sets from a fixed seed, and for the constraints of the driver that this kernel has loaded,
 * the solver must fit a set exactly when the search does; and what it hands out must be a valid
 * assignment.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../core.h"

#define MOST_EVENTS	7

struct set {
	struct event_constraint	c[MOST_EVENTS];
	struct event_constraint	*want[MOST_EVENTS];
	int			n, gpmax;
};

static void put(struct set *s, u64 mask, int flags)
{
	s->c[s->n] = (struct event_constraint)__EVENT_CONSTRAINT(0, mask, 0, hweight64(mask), 0, 0);
	s->c[s->n].flags = flags;
	s->want[s->n] = &s->c[s->n];
	s->n++;
}

static u64 footprint(struct set *s, int event, int idx)
{
	return (s->want[event]->flags & PERF_X86_EVENT_PAIR ? 3ULL : 1ULL) << idx;
}

/* Can events from @event on have counters outside @used, @room of them general ones? */
static bool search(struct set *s, int event, u64 used, int room)
{
	unsigned long idx;

	if (event == s->n)
		return true;
	for_each_set_bit(idx, s->want[event]->idxmsk, X86_PMC_IDX_MAX) {
		u64 take = footprint(s, event, idx);
		int general = idx < INTEL_PMC_IDX_FIXED;

		if (!(used & take) && room >= general &&
		    search(s, event + 1, used | take, room - general))
			return true;
	}
	return false;
}

static int solve(struct set *s, int *assign)
{
	int i, least = X86_PMC_IDX_MAX, most = 0;

	for (i = 0; i < s->n; i++) {
		least = min(least, s->want[i]->weight);
		most = max(most, s->want[i]->weight);
	}
	return perf_assign_events(s->want, s->n, least, most, s->gpmax, assign);
}

static void check_assignment(struct kunit *test, struct set *s, const int *assign)
{
	u64 used = 0;
	int i, general = 0;

	for (i = 0; i < s->n; i++) {
		KUNIT_ASSERT_GE(test, assign[i], 0);
		KUNIT_ASSERT_LT(test, assign[i], X86_PMC_IDX_MAX);
		KUNIT_EXPECT_TRUE(test, s->want[i]->idxmsk64 & BIT_ULL(assign[i]));
		KUNIT_EXPECT_FALSE(test, used & footprint(s, i, assign[i]));
		used |= footprint(s, i, assign[i]);
		general += assign[i] < INTEL_PMC_IDX_FIXED;
	}
	KUNIT_EXPECT_LE(test, general, s->gpmax);
}

/* Solver and search agree; return whether the set fits. */
static bool agree(struct kunit *test, struct set *s)
{
	bool fits = search(s, 0, 0, s->gpmax);
	int assign[MOST_EVENTS];
	int unplaced = solve(s, assign);

	KUNIT_EXPECT_EQ_MSG(test, !unplaced, fits, "%d events, first mask %llx, limit %d", s->n,
			    s->want[0]->idxmsk64, s->gpmax);
	KUNIT_EXPECT_EQ(test, unplaced, solve(s, NULL));
	if (!unplaced)
		check_assignment(test, s, assign);
	return fits;
}

static u64 some_mask(struct rnd_state *rnd)
{
	u64 mask = prandom_u32_state(rnd) & 0xf;

	if (!(prandom_u32_state(rnd) % 3))
		mask |= (u64)(prandom_u32_state(rnd) & 7) << INTEL_PMC_IDX_FIXED;
	return mask;
}

static void random_sets(struct kunit *test)
{
	struct rnd_state rnd;
	int round, i, n, fit = 0;

	prandom_seed_state(&rnd, 1);
	for (round = 0; round < 20000; round++) {
		struct set s = { .gpmax = 1 + prandom_u32_state(&rnd) % 4 };

		n = 1 + prandom_u32_state(&rnd) % MOST_EVENTS;
		for (i = 0; i < n; i++)
			put(&s, some_mask(&rnd), 0);
		fit += agree(test, &s);
	}
	/* both answers must have been asked for often */
	KUNIT_EXPECT_GT(test, fit, 2000);
	KUNIT_EXPECT_LT(test, fit, 18000);
}

/* Large-increment events among others: eight counters, of which they take an even one each. */
static void random_pairs(struct kunit *test)
{
	struct rnd_state rnd;
	int round, i, n, pairs, fit = 0;

	prandom_seed_state(&rnd, 2);
	for (round = 0; round < 5000; round++) {
		struct set s = { };

		pairs = 1 + prandom_u32_state(&rnd) % 3;
		n = pairs + prandom_u32_state(&rnd) % 5;
		s.gpmax = 8 - pairs;
		for (i = 0; i < n; i++) {
			if (i < pairs)
				put(&s, 0x55, PERF_X86_EVENT_PAIR);
			else
				put(&s, prandom_u32_state(&rnd) & 0xff, 0);
		}
		swap(s.want[0], s.want[prandom_u32_state(&rnd) % n]);
		fit += agree(test, &s);
	}
	KUNIT_EXPECT_GT(test, fit, 500);
	KUNIT_EXPECT_LT(test, fit, 4500);
}

static void expect(struct kunit *test, struct set *s, const int *counters)
{
	int i, assign[MOST_EVENTS];

	KUNIT_ASSERT_EQ(test, solve(s, assign), 0);
	for (i = 0; i < s->n; i++)
		KUNIT_EXPECT_EQ(test, assign[i], counters[i]);
}

/* Without a conflict: fixed counters first, then the lowest, events with least choice first. */
static void preferences(struct kunit *test)
{
	struct set s = { .gpmax = 4 };

	put(&s, 0xf, 0);
	put(&s, 0x100000000ULL | 0xf, 0);
	put(&s, 0xf, 0);
	put(&s, 0x100000000ULL | 0xf, 0);
	put(&s, 0x1, 0);
	expect(test, &s, (int []){ 1, INTEL_PMC_IDX_FIXED, 2, 3, 0 });
}

/* The case for which constraints have their overlap hint; it is not set here. */
static void overlapping_masks(struct kunit *test)
{
	struct set s = { .gpmax = 6 };

	put(&s, 0x09, 0);
	put(&s, 0x07, 0);
	put(&s, 0x07, 0);
	put(&s, 0x07, 0);
	put(&s, 0x38, 0);
	KUNIT_EXPECT_TRUE(test, agree(test, &s));
	put(&s, 0x09, 0);
	KUNIT_EXPECT_FALSE(test, agree(test, &s));
}

static void nothing_and_blacklisted(struct kunit *test)
{
	struct set s = { .gpmax = 4 };

	KUNIT_EXPECT_EQ(test, perf_assign_events(s.want, 0, X86_PMC_IDX_MAX, 0, 4, NULL), 0);
	put(&s, 0xf, 0);
	put(&s, 0, 0);
	KUNIT_EXPECT_EQ(test, solve(&s, NULL), 1);
}

/* Every pair and triple of the constraints that the loaded driver has. */
static void tables_of_this_cpu(struct kunit *test)
{
	struct event_constraint *first = x86_pmu.event_constraints, *a, *b, *c;
	struct set s = { };

	if (!first)
		kunit_skip(test, "the driver of this CPU has no table of constraints");

	for_each_event_constraint(a, first) {
		s.n = 1;
		s.gpmax = x86_pmu_max_num_counters(NULL);
		s.want[0] = a;
		KUNIT_EXPECT_EQ(test, agree(test, &s), a->weight > 0);
		for_each_event_constraint(b, a) {
			s.want[1] = b;
			for_each_event_constraint(c, b) {
				s.want[2] = c;
				s.n = 3;
				agree(test, &s);
			}
			s.n = 2;
			agree(test, &s);
		}
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(nothing_and_blacklisted),
	KUNIT_CASE(preferences),
	KUNIT_CASE(overlapping_masks),
	KUNIT_CASE(random_sets),
	KUNIT_CASE(random_pairs),
	KUNIT_CASE(tables_of_this_cpu),
	{ }
};

static struct kunit_suite suite = { .name = "x86_pmu_assign", .test_cases = cases };
kunit_test_suite(suite);
