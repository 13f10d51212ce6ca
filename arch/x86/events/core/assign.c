// SPDX-License-Identifier: GPL-2.0
/*
 * Which event goes on which counter: the constraint solver.
 *
 * Owns nothing and knows nothing of events: it sees an array of constraints and finds each a
 * counter out of its mask, no counter twice.  Called with interrupts off from x86_pmu scheduling,
 * from the validation of groups at open, and by the uncore drivers.  No locks.
 *
 * It is a bipartite matching, found by augmenting paths: an event whose counters are all taken
 * asks their holders to move, breadth first.  So it finds a solution whenever there is one, in
 * O(events * counters * mask), and the overlap hint of constraints is not needed.  Three
 * properties come from the order of the steps:
 *
 * - A counter once used stays used while paths are augmented (its holder may change).  Fixed
 *   counters are filled first, with events moving among them only, so as many of them as possible
 *   are in use, and the number of general counters in use is the least possible.  This makes
 *   the limit @gpmax exact.
 * - Events with fewer counters choose first, each takes the lowest of the free ones.  Without a
 *   conflict nobody moves.
 * - Large-increment events (PERF_X86_EVENT_PAIR) take two neighbours and cannot be moved by a
 *   path.  There are at most half as many as counters, all with one mask, hence every set of
 *   places for them is tried, lowest first, until the others fit as well.
 */
#include <linux/bitops.h>
#include <linux/export.h>

#include "core.h"

#define FIXED_RANGE	(~0ULL << INTEL_PMC_IDX_FIXED)
#define NOWHERE		(-1)

struct solver {
	struct event_constraint	**want;
	int			n;
	int			wmin, wmax;
	u64			used;		/* counters taken, by whomever */
	u64			paired;		/* those of pairs: not to be moved */
	s8			place[X86_PMC_IDX_MAX];		/* of each event */
	s8			holder[X86_PMC_IDX_MAX];	/* of each counter */
	s8			asked_by[X86_PMC_IDX_MAX];	/* path: who wants this counter */
	s8			queue[X86_PMC_IDX_MAX + 1];	/* path: events that look for one */
};

static bool is_pair(struct solver *s, int event)
{
	return s->want[event]->flags & PERF_X86_EVENT_PAIR;
}

static int lowest(u64 free)
{
	return __ffs64(free & FIXED_RANGE ?: free);
}

/* Give @free to the end of a path, and to each before it what its successor had. */
static void shift_along(struct solver *s, int last, int first, int free)
{
	int given = free, event = last, had;

	for (;;) {
		had = s->place[event];
		s->place[event] = given;
		s->holder[given] = event;
		if (event == first)
			break;
		given = had;
		event = s->asked_by[had];
	}
	s->used |= BIT_ULL(free);
}

/* Find @event a counter among @usable, at the price of others moving within @usable. */
static bool augment(struct solver *s, int event, u64 usable)
{
	u64 unseen = usable & ~s->paired;
	int head = 0, tail = 0;

	s->queue[tail++] = event;
	while (head < tail) {
		int asker = s->queue[head++];
		u64 reach = s->want[asker]->idxmsk64 & unseen;
		u64 free = reach & ~s->used;

		if (free) {
			shift_along(s, asker, event, lowest(free));
			return true;
		}
		/* Every counter is reached once, thus every holder is queued once. */
		for (unseen &= ~reach; reach; reach &= reach - 1) {
			int idx = __ffs64(reach);

			s->asked_by[idx] = asker;
			s->queue[tail++] = s->holder[idx];
		}
	}
	return false;
}

/* Match what has no place yet within @usable, at most @room of them; return how many did fit. */
static int match(struct solver *s, u64 usable, int room)
{
	int weight, i, matched = 0;

	for (weight = s->wmin; weight <= s->wmax; weight++) {
		for (i = 0; i < s->n; i++) {
			if (s->want[i]->weight != weight || s->place[i] != NOWHERE || is_pair(s, i))
				continue;
			if (matched == room)
				return matched;
			matched += augment(s, i, usable);
		}
	}
	return matched;
}

/* How many of the single events fit, with large-increment events on @paired? */
static int match_singles(struct solver *s, u64 paired, int gpmax)
{
	int i, matched;

	s->paired = paired;
	s->used = paired;
	for (i = 0; i < s->n; i++) {
		if (!is_pair(s, i))
			s->place[i] = NOWHERE;
	}
	matched = match(s, FIXED_RANGE, s->n);
	return matched + match(s, ~0ULL, max(gpmax, 0));
}

/*
 * The next way to put @k equal things on the bits of @places, in growing order of the chosen
 * set; @chosen is a subset of @places with @k bits, 0 to start.  0 when there is none.
 */
static u64 next_choice(u64 places, int k, u64 chosen)
{
	do {
		chosen = (chosen - places) & places;
	} while (chosen && hweight64(chosen) != k);
	return chosen;
}

/* Put the pairs on @chosen; return which counters that takes, 0 if two of them collide. */
static u64 place_pairs(struct solver *s, u64 chosen)
{
	u64 taken = chosen | chosen << 1;
	int i;

	if (hweight64(taken) != 2 * hweight64(chosen))
		return 0;
	for (i = 0; i < s->n; i++) {
		if (!is_pair(s, i))
			continue;
		s->place[i] = __ffs64(chosen);
		chosen &= chosen - 1;
	}
	return taken;
}

/* Events that could not be placed. */
static int solve(struct solver *s, int gpmax)
{
	u64 places = 0, chosen = 0, taken;
	int i, pairs = 0, best = 0;

	for (i = 0; i < s->n; i++) {
		if (!is_pair(s, i))
			continue;
		places = s->want[i]->idxmsk64;
		pairs++;
	}
	if (!pairs)
		return s->n - match_singles(s, 0, gpmax);
	if (pairs > gpmax)
		return s->n;

	while (best < s->n && (chosen = next_choice(places, pairs, chosen))) {
		taken = place_pairs(s, chosen);
		if (taken)
			best = max(best, pairs + match_singles(s, taken, gpmax - pairs));
	}
	return s->n - best;
}

/**
 * perf_assign_events - find each of a set of events a counter
 * @constraints: one for each event
 * @n: number of events, at most X86_PMC_IDX_MAX
 * @wmin: smallest weight of the constraints
 * @wmax: largest weight
 * @gpmax: most general counters to use, a large-increment event counts as one
 * @assign: where the counters go, in the order of @constraints; may be NULL
 *
 * Pure; any context.
 * Return: number of events that found no counter; @assign is filled in only if it is 0.
 */
int perf_assign_events(struct event_constraint **constraints, int n, int wmin, int wmax,
		       int gpmax, int *assign)
{
	struct solver s;
	int i, unplaced;

	s.want = constraints;
	s.n = n;
	s.wmin = wmin;
	s.wmax = wmax;
	unplaced = solve(&s, gpmax);
	for (i = 0; assign && !unplaced && i < n; i++)
		assign[i] = s.place[i];
	return unplaced;
}
EXPORT_SYMBOL_GPL(perf_assign_events);
