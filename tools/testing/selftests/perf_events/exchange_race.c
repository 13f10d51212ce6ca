// SPDX-License-Identifier: GPL-2.0
/*
 * exchange_race.c - tasks that swap their contexts while others open, close and map events
 * of them, on one CPU and on several.
 */
#include "lib/exchange.h"
#include <poll.h>

/* ------------------------------------------------------------ at the same time */

#define PAIRS	2

static struct puppet pairs[2 * PAIRS];

static void start_pairs(void)
{
	int i;

	for (i = 0; i < 2 * PAIRS; i++) {
		if (!(i & 1))
			make_duel();
		start(&pairs[i]);
	}
	pt_settle();
}

static void stop_pairs(void)
{
	int i;

	for (i = 0; i < 2 * PAIRS; i++)
		stop(&pairs[i]);
}

/* An event of one of them comes and goes; sometimes it is mapped. */
static void disturb(unsigned int round)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int fd;

	attr.inherit = round % 3 == 0;
	attr.sample_period = round % 2;
	fd = pt_open(&attr, pairs[round % (2 * PAIRS)].pid, attr.inherit ? 0 : -1, -1, 0);
	if (round % 5 == 0) {
		struct pt_ring r;

		pt_map(&r, fd, 1);
		pt_unmap(&r);
	}
	close(fd);
}

static bool answered(struct puppet *p)
{
	struct pollfd pfd = { .fd = p->from, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

/* On one CPU and on several: while two pairs play, others look at them. */
static void disturbed_sums(void)
{
	struct perf_event_attr attr = faults();
	struct perf_event_attr own = pt_attr(PT_SW(PAGE_FAULTS_MIN));
	unsigned int round = 0, plays = pt_turns(100);
	int all, mine, i, j;

	all = pt_open(&attr, 0, -1, -1, 0);
	mine = pt_open(&own, 0, -1, -1, 0);
	for (i = 0; i < 3; i++) {
		struct perf_event_attr more = faults();
		int fd = pt_open(&more, 0, -1, -1, 0);
		u64 before;

		start_pairs();
		before = pt_count(all) - pt_count(mine);
		for (j = 0; j < 2 * PAIRS; j++)
			send(&pairs[j], j & 1 ? SERVE : PLAY, plays);
		while (!answered(&pairs[0]) || !answered(&pairs[2]))
			if (i)
				disturb(round++);
		for (j = 0; j < 2 * PAIRS; j++)
			pt_eq(answer(&pairs[j]), 0);
		pt_eq(pt_count(all) - pt_count(mine), before + PAIRS * 3 * plays);
		close(fd);
		stop_pairs();
	}
}

static void disturbed_lives(void)
{
	static const enum job way[] = { FORK, EXEC, NOTHING, FORK, FORK, EXEC };
	struct perf_event_attr attr = faults();
	unsigned int i, round = 0;
	int all, j;

	all = pt_open(&attr, 0, -1, -1, 0);
	start_pairs();
	for (i = 0; i < 4 * pt_turns(4); i++) {
		for (j = 0; j < 2 * PAIRS; j++)
			send(&pairs[j], way[(i + j) % 6], 3);
		disturb(round++);
		for (j = 0; j < 2 * PAIRS; j++)
			pt_eq(answer(&pairs[j]), 0);
		for (j = 0; j < 2 * PAIRS; j++)
			send(&pairs[j], j & 1 ? SERVE : PLAY, 10);
		disturb(round++);
		for (j = 0; j < 2 * PAIRS; j++)
			pt_eq(answer(&pairs[j]), 0);
		if (i % 4 == 3)
			counts_right(all, pairs, 2 * PAIRS);
	}
	stop_pairs();
}

static const struct pt_case cases[] = {
	{ "disturbed_sums", disturbed_sums },
	{ "disturbed_lives", disturbed_lives },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = after_exec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
