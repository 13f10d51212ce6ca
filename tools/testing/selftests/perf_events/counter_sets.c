// SPDX-License-Identifier: GPL-2.0
/*
 * counter_sets.c - groups that take turns on the counters of CPUs: each turn from and to the very
 * instruction, on arm64 and on all PMUs of x86. What else there is to say about sets: sets.c.
 *
 * needs: hw pmuv3
 */
#include "lib/counter.h"
#include "lib/sets.h"

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define MS	1000000ull

static struct perf_ext_set_info info[SETS_MOST];

/* A set of one event; threshold 0: its turn does not end by itself. */
static void make_set(int fd, u32 threshold, int ring, u16 number)
{
	if (threshold)
		pt_eq(set_trigger(fd, threshold), 0);
	pt_eq(set_join(fd, ring, number), 0);
}

static int set_of(struct perf_event_attr attr, u64 period, u32 threshold, int ring, u16 number)
{
	int fd;

	attr.sample_period = period;
	fd = pt_open_hw(&attr, -1);
	make_set(fd, threshold, ring, number);
	return fd;
}

/* A clock in the group of a set ends its turn after so many ns. */
static int timeout_of(int leader, u64 ns)
{
	struct perf_event_attr clock = pt_attr(PT_SW(CPU_CLOCK));
	int fd;

	clock.sample_period = ns;
	fd = pt_open(&clock, 0, -1, leader, 0);
	pt_eq(set_trigger(fd, 1), 0);
	return fd;
}

/* How late a timer may be: a tick where they are not of high resolution, else a tenth of a ms. */
static u64 most_late(void)
{
	struct timespec res;

	pt_need(!clock_getres(CLOCK_MONOTONIC, &res), "clock_getres: %s", strerror(errno));
	return res.tv_nsec > 1 ? (u64)res.tv_nsec : MS / 10;
}

/* The second set begins behind the 100,003rd instruction, and goes on for ever: 900,000. */
static void cascade(void)
{
	unsigned int kind;
	int a, b;

	ext_need();
	counter_need();
	for (kind = 0; kind < counter_kinds(); kind++) {
		a = set_of(counter_kind(kind), 100003, 1, -1, 0);
		b = set_of(counter_kind(kind), 0, 0, a, 1);
		counter_spin_all(500000);
		pt_eq(pt_count(a), 100003);
		pt_eq(pt_count(b), COUNTER_SPIN_ALL_COST(500000) - 100003);
		pt_eq(set_infos(a, info), 2);
		set_was(&info[0], 1, 1, 0);
		set_was(&info[1], 1, 0, 0);
		close(a);
		close(b);
	}
}

/*
 * Turns are 3 periods of 10,007, 2 of 5,003 and one of 1,009: the spin ends in the 25th turn of
 * the first set, whose one sample is the 73rd.
 */
static void three_sets_of(pid_t pid, int cpu)
{
	static const u64 period[] = { 10007, 5003, 1009 };
	static const u32 threshold[] = { 3, 2, 1 };
	static const unsigned int samples[] = { 73, 48, 24 };
	const u64 round = 3 * 10007 + 2 * 5003 + 1009, total = counter_spin_cost(500000);
	struct perf_event_attr attr = counter_kind(0);
	static struct pt_record rec;
	static struct pt_sample s;
	struct pt_ring ring[3];
	unsigned int n;
	int fd[3], i;

	attr.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_READ;
	for (i = 0; i < 3; i++) {
		attr.sample_period = period[i];
		fd[i] = pt_open(&attr, pid, cpu, -1, 0);
		make_set(fd[i], threshold[i], i ? fd[0] : -1, (u16)i);
		pt_map(&ring[i], fd[i], 8);
	}
	pt_enable(fd[1]);
	pt_enable(fd[2]);
	counter_spin(fd[0], 500000);
	pt_eq(total / round, 24);
	pt_eq(pt_count(fd[0]), total - 24 * (round - 3 * 10007));
	pt_eq(pt_count(fd[1]), 24 * 2 * 5003);
	pt_eq(pt_count(fd[2]), 24 * 1009);
	pt_eq(set_infos(fd[1], info), 3);
	for (i = 0; i < 3; i++) {
		set_was(&info[i], i ? 24 : 25, 24, 0);
		for (n = 0; pt_next_of(&ring[i], &rec, PERF_RECORD_SAMPLE); ) {
			pt_parse_sample(&attr, &rec, &s);
			pt_eq(s.id, pt_id(fd[i]));
			pt_eq(s.read.v[0].value, ++n * period[i]);
		}
		pt_eq(n, samples[i]);
	}
}

static void three_sets(void)
{
	ext_need();
	counter_need();
	three_sets_of(0, -1);
}

/* Nobody else is in user space of the CPU between the two calls of the spin. */
static void three_sets_of_a_cpu(void)
{
	ext_need();
	counter_need();
	pt_pin(0);
	three_sets_of(-1, 0);
}

/* Turns of two sets by time: all that runs is counted once, and the times add up. */
static void timeout(void)
{
	struct perf_event_attr attr = counter_kind(0);
	struct pt_read got[2];
	u64 switches, longest;
	int fd[2], i;

	ext_need();
	counter_need();
	attr.read_format = TIMES;
	longest = MS + most_late();
	for (i = 0; i < 2; i++) {
		fd[i] = set_of(attr, 0, 0, i ? fd[0] : -1, (u16)i);
		timeout_of(fd[i], MS);
	}
	counter_spin_all(10000000);
	for (i = 0; i < 2; i++)
		pt_read(fd[i], TIMES, 1, &got[i]);
	pt_eq(got[0].v[0].value + got[1].v[0].value, COUNTER_SPIN_ALL_COST(10000000));
	pt_eq(set_infos(fd[0], info), 2);
	for (i = 0; i < 2; i++) {
		pt_eq(info[i].by_overflow, 0);
		pt_eq(info[i].active_time, got[i].running);
		/* No turn is shorter than its time, but the last one. */
		pt_check(info[i].by_timeout * MS <= info[i].active_time &&
			 info[i].active_time < (info[i].by_timeout + 1) * longest,
			 "%llu turns in %llu ns", (unsigned long long)info[i].by_timeout,
			 (unsigned long long)info[i].active_time);
	}
	switches = info[0].by_timeout + info[1].by_timeout;
	pt_check(switches + 1 >= 20 * MS / longest, "%llu switches in 20 ms",
		 (unsigned long long)switches);
	pt_eq(info[0].activations + info[1].activations, switches + 1);
	pt_eq(info[0].activations - info[1].activations, !(info[1].flags & PERF_EXT_SET_ACTIVE));
}

/* What each of four events has counted in its turns, scaled, is what all of the program did. */
static void estimates(void)
{
	const u64 format = TIMES | PERF_FORMAT_GROUP, truth = COUNTER_SPIN_ALL_COST(50000000);
	struct perf_event_attr attr = counter_kind(0), second = counter_instructions();
	struct pt_read got;
	int fd[2], i, k;

	ext_need();
	counter_need();
	attr.read_format = format;
	second.read_format = format;
	second.disabled = 0;
	for (i = 0; i < 2; i++) {
		fd[i] = set_of(attr, 0, 0, i ? fd[0] : -1, (u16)i);
		pt_open_hw(&second, fd[i]);
		timeout_of(fd[i], MS);
	}
	counter_spin_all(50000000);
	for (i = 0; i < 2; i++) {
		pt_read(fd[i], format, 3, &got);
		pt_check(got.running > got.enabled / 3 && got.running < got.enabled * 2 / 3,
			 "%llu of %llu ns", (unsigned long long)got.running,
			 (unsigned long long)got.enabled);
		for (k = 0; k < 2; k++) {
			double guess = (double)got.v[k].value * (double)got.enabled /
				       (double)got.running;

			pt_check(guess > (double)truth * .99 && guess < (double)truth * 1.01,
				 "set %d, member %d: %.0f of %llu", i, k, guess,
				 (unsigned long long)truth);
		}
	}
}

/* The overflow and the timer of the same turn, a little apart or at once, end it once. */
static void both_at_once(void)
{
	u64 timeouts = 0, overflows = 0, period;
	int a, b;

	ext_need();
	counter_need();
	for (period = 15000; period < 50000; period += 371) {
		a = set_of(counter_kind(0), period, 1, -1, 0);
		timeout_of(a, 30000);
		b = set_of(counter_kind(0), period, 1, a, 1);
		timeout_of(b, 30000);
		counter_spin_all(100000);
		pt_eq(pt_count(a) + pt_count(b), COUNTER_SPIN_ALL_COST(100000));
		pt_eq(set_infos(a, info), 2);
		pt_eq(info[0].by_timeout + info[1].by_timeout + info[0].by_overflow +
		      info[1].by_overflow + 1, info[0].activations + info[1].activations);
		pt_eq(info[0].activations - info[1].activations,
		      !(info[1].flags & PERF_EXT_SET_ACTIVE));
		timeouts += info[0].by_timeout + info[1].by_timeout;
		overflows += info[0].by_overflow + info[1].by_overflow;
		close(a);
		close(b);
		if (pt_failures())
			break;
	}
	pt_check(timeouts && overflows, "%llu by time, %llu by overflow",
		 (unsigned long long)timeouts, (unsigned long long)overflows);
}

/* A group that needs every general counter; number: as a set, whose turns have a third of a ms */
static int full_group(int ring, int number)
{
	struct perf_event_attr attr = counter_general();
	int leader, i;

	attr.read_format = TIMES;
	leader = pt_open_hw(&attr, -1);
	attr.disabled = 0;
	for (i = 1; i < counter_generals(); i++)
		pt_open_hw(&attr, leader);
	if (number >= 0) {
		timeout_of(leader, 3 * MS / 10);
		pt_eq(set_join(leader, ring, (u16)number), 0);
	}
	return leader;
}

static u64 running_of(int fd, u64 *enabled)
{
	struct pt_read got;

	pt_read(fd, TIMES, 1, &got);
	*enabled = got.enabled;
	return got.running;
}

/*
 * Two groups and a ring of two sets want the same counters: each of the three has its third of the
 * time, to within a turn of the rotation, and the sets of the ring share theirs.
 */
static void rotation_is_fair(void)
{
	u64 share[4], enabled, third, late, least;
	int fd[4], i;

	ext_need();
	counter_need();
	late = most_late();
	for (i = 0; i < 4; i++)
		fd[i] = full_group(i == 3 ? fd[2] : -1, i < 2 ? -1 : i - 2);
	counter_spin_all(120000000);
	for (i = 0; i < 4; i++)
		share[i] = running_of(fd[i], &enabled);
	third = enabled / 3;
	share[2] += share[3];
	for (i = 0; i < 3; i++)
		pt_check(share[i] > third - 8 * MS && share[i] < third + 8 * MS,
			 "%d: %llu of %llu ns", i, (unsigned long long)share[i],
			 (unsigned long long)enabled);
	pt_check(share[3] > third * 2 / 5 && share[3] < third * 3 / 5, "%llu of %llu ns",
		 (unsigned long long)share[3], (unsigned long long)third);
	pt_eq(set_infos(fd[2], info), 2);
	least = third / 2 / (3 * MS / 10 + late) - 2;
	pt_check(info[0].by_timeout >= least && info[1].by_timeout >= least,
		 "%llu and %llu turns, not %llu", (unsigned long long)info[0].by_timeout,
		 (unsigned long long)info[1].by_timeout, (unsigned long long)least);
}

/* User space may read the counter of the set that has the turn, and is told not to of the other. */
static void user_space(void)
{
	struct perf_event_attr attr = counter_kind(0);
	struct pt_ring ring[2];
	int fd[2], i, turn;

	ext_need();
	counter_need();
	if (!counter_for_user_space(&attr))
		pt_skip("no counters for user space");
	for (i = 0; i < 2; i++) {
		fd[i] = set_of(attr, 0, 0, i ? fd[0] : -1, (u16)i);
		pt_map(&ring[i], fd[i], 0);
	}
	pt_enable(fd[0]);
	pt_enable(fd[1]);
	for (i = 0; i < 10; i++) {
		turn = i & 1;
		pt_eq(set_select(fd[0], (u16)turn), 0);
		pt_spin(1000);
		pt_check(ring[turn].page->index, "%d: its counter is hidden", i);
		pt_eq(ring[!turn].page->index, 0);
		pt_eq(ring[!turn].page->offset, pt_count(fd[!turn]));
		pt_check(pt_count(fd[turn]) > 2000, "%d: it does not count", i);
	}
}

static const struct pt_case cases[] = {
	{ "cascade", cascade },
	{ "three_sets", three_sets },
	{ "three_sets_of_a_cpu", three_sets_of_a_cpu },
	{ "timeout", timeout },
	{ "estimates", estimates },
	{ "both_at_once", both_at_once },
	{ "rotation_is_fair", rotation_is_fair },
	{ "user_space", user_space },
};

PT_MAIN(cases)
