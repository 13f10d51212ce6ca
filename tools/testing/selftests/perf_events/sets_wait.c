// SPDX-License-Identifier: GPL-2.0
/*
 * sets_wait.c - sets that wait for their turn: events that join them, hits on behalf of their task,
 * periods that change meanwhile, the counters they get; and that turns do not get round limits.
 */
#include "lib/sets.h"
#include "lib/sleeper.h"
#include "lib/test_count.h"

#define DEV	"/sys/bus/event_source/devices/" MODULE

static struct perf_ext_set_info info[SETS_MOST];

/* A group of its own, enabled, that only a timer would end the turn of. */
static int clock_leader(u64 period)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));

	attr.sample_period = period;
	return pt_open(&attr, 0, -1, -1, 0);
}

/* An event of hardware brings a group that waits to its PMU, as one that does not wait. */
static void hardware_joins(void)
{
	struct perf_event_attr attr;
	int a, b, alone, member;

	ext_need();
	load("counters=2");
	attr = hits();
	a = clock_leader(1000000000);
	b = clock_leader(1000000000);
	pt_eq(set_join(a, -1, 0), 0);
	pt_eq(set_join(b, a, 1), 0);
	member = pt_open(&attr, 0, -1, b, 0);
	hit(3);
	pt_eq(pt_count(member), 0);
	pt_eq(set_select(a, 1), 0);
	hit(4);
	pt_eq(pt_count(member), 4);
	pt_disable(member);
	hit(1);
	pt_enable(member);
	hit(6);
	pt_eq(pt_count(member), 10);
	pt_eq(set_select(a, 0), 0);
	/* Now the PMU is somebody's alone, so the set's turn is in vain. */
	attr.pinned = 1;
	attr.exclusive = 1;
	alone = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_select(a, 1), 0);
	hit(5);
	pt_eq(pt_count(alone), 5);
	pt_eq(pt_count(member), 10);
	close(alone);
	close(member);
	close(a);
	close(b);
	none_left();
}

/* What JOIN refuses cannot be opened into a set either. */
static void joins_refused(void)
{
	struct perf_event_attr clock = pt_attr(PT_SW(CPU_CLOCK)), attr;
	int fd;

	ext_need();
	load("task=0");
	attr = hits();
	clock.sample_period = 1000000000;
	fd = pt_open(&clock, -1, 0, -1, 0);
	pt_eq(set_join(fd, -1, 0), 0);
	pt_eq(pt_try_open(&attr, -1, 0, fd, 0), -EOPNOTSUPP);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_SET_LEAVE, 0), 0);
	close(pt_open(&attr, -1, 0, fd, 0));
	pt_eq(set_join(fd, -1, 0), 0);
	close(fd);
	none_left();
}

/*
 * With all counters taken, a set has those of its predecessor, though another group waits, and has
 * them again when its task comes back.
 */
static void counters_are_handed_over(void)
{
	struct perf_event_attr attr;
	int a, b, waits, i;

	ext_need();
	load("counters=1");
	pt_eq(pt_write_file(DEV "/perf_event_mux_interval_ms", "10000"), 0);
	attr = hits();
	a = pt_open(&attr, 0, -1, -1, 0);
	b = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_join(a, -1, 0), 0);
	pt_eq(set_join(b, a, 1), 0);
	waits = pt_open(&attr, 0, -1, -1, 0);
	for (i = 0; i < 10; i++) {
		pt_eq(set_select(a, i & 1), 0);
		if (i & 2)
			pt_switch_out();
		hit(10);
	}
	pt_eq(pt_count(a), 50);
	pt_eq(pt_count(b), 50);
	pt_eq(pt_count(waits), 0);
	close(a);
	close(b);
	close(waits);
	none_left();
}

/*
 * A member that was throttled stays so until the tick, whoever has the turn meanwhile. In a tick
 * there are no more samples than the rate allows; none is longer than a hundredth of a second.
 */
static void throttled(void)
{
	struct perf_event_attr attr;
	const u64 rate = 1000;
	struct pt_ring ring;
	u64 start, time, n;
	unsigned int turn;
	int a, b;

	ext_need();
	load(NULL);
	pt_sysctl_set("perf_event_max_sample_rate", (int)rate);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	attr = hits();
	b = pt_open(&attr, 0, -1, -1, 0);
	attr.sample_period = 1;
	a = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, a, 64);
	pt_eq(set_join(a, -1, 0), 0);
	pt_eq(set_join(b, a, 1), 0);
	start = pt_clock(CLOCK_MONOTONIC);
	for (turn = 0; turn < pt_turns(2000); turn++) {
		hit(1);
		pt_eq(set_select(a, 1), 0);
		pt_eq(set_select(a, 0), 0);
	}
	time = pt_clock(CLOCK_MONOTONIC) - start;
	n = pt_count_records(&ring, PERF_RECORD_SAMPLE);
	pt_check(n && n <= rate * time / 1000000000 + 2 * rate / 100, "%llu samples in %llu ns",
		 (unsigned long long)n, (unsigned long long)time);
}

/* A set has the place of its predecessor, also where a group waits that came before both. */
static void before_who_waits(void)
{
	struct perf_event_attr attr;
	int first, a, b;

	ext_need();
	load("counters=1");
	pt_eq(pt_write_file(DEV "/perf_event_mux_interval_ms", "10000"), 0);
	pt_first_on_cpu(0);	/* after a switch the one that waits is the first */
	attr = hits();
	attr.disabled = 1;
	first = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	a = pt_open(&attr, 0, -1, -1, 0);
	b = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_join(a, -1, 0), 0);
	pt_eq(set_join(b, a, 1), 0);
	pt_enable(first);
	hit(1);
	pt_eq(set_select(a, 1), 0);
	hit(10);
	pt_eq(pt_count(a), 1);
	pt_eq(pt_count(b), 10);
	pt_eq(pt_count(first), 0);
	close(a);
	close(b);
	close(first);
	none_left();
}

/* While its task sleeps, the set that gets the turn is on no counter. */
static void turn_of_a_sleeper(void)
{
	struct perf_event_attr attr;
	struct pt_peer peer;
	int a, b;

	ext_need();
	load(NULL);
	attr = hits();
	pt_peer_start(&peer);
	a = pt_open(&attr, peer.pid, -1, -1, 0);
	b = pt_open(&attr, peer.pid, -1, -1, 0);
	pt_eq(set_join(a, -1, 0), 0);
	pt_eq(set_join(b, a, 1), 0);
	pt_peer_asleep(&peer);
	pt_eq(set_select(a, 1), 0);
	hit(5);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	pt_eq(pt_count(b), 0);
	pt_peer_stop(&peer);
	close(a);
	close(b);
	none_left();
}

/* Who leaves in its turn gives it to the next one, which may be off, and counts once it is on. */
static void left_to_one_that_is_off(void)
{
	struct perf_event_attr attr = faults();
	int a, b;

	ext_need();
	pt_settle();
	a = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 1;
	b = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_join(a, -1, 0), 0);
	pt_eq(set_join(b, a, 1), 0);
	close(a);
	pt_eq(set_infos(b, info), 1);
	pt_eq(info[0].flags, PERF_EXT_SET_ACTIVE);
	pt_enable(b);
	pt_fault(3);
	pt_eq(pt_count(b), 3);
}

/* Two members whose periods end with the same hit end one turn. */
static void two_at_once(void)
{
	struct perf_event_attr attr;
	int a, b, member;

	ext_need();
	load(NULL);
	attr = hits();
	b = pt_open(&attr, 0, -1, -1, 0);
	attr.sample_period = 10;
	a = pt_open(&attr, 0, -1, -1, 0);
	member = pt_open(&attr, 0, -1, a, 0);
	pt_eq(set_trigger(a, 1), 0);
	pt_eq(set_trigger(member, 1), 0);
	pt_eq(set_join(a, -1, 0), 0);
	pt_eq(set_join(b, a, 1), 0);
	hit(10);
	hit(3);
	pt_eq(pt_count(a), 10);
	pt_eq(pt_count(member), 10);
	pt_eq(pt_count(b), 3);
	pt_eq(set_infos(a, info), 2);
	set_was(&info[0], 1, 1, 0);
	set_was(&info[1], 1, 0, 0);
	close(member);
	close(a);
	close(b);
	none_left();
}

/* A turn is not shorter than any timer may be. */
static void shortest_turn(void)
{
	u64 start, time, turns;
	int fd[2], i;

	ext_need();
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	for (i = 0; i < 2; i++) {
		fd[i] = clock_leader(1);
		pt_eq(set_trigger(fd[i], 1), 0);
	}
	start = pt_clock(CLOCK_MONOTONIC);
	for (i = 0; i < 2; i++)
		pt_eq(set_join(fd[i], i ? fd[0] : -1, (u16)i), 0);
	do {
		pt_eq(set_infos(fd[0], info), 2);
		turns = info[0].activations + info[1].activations;
	} while (turns < 100);
	time = pt_clock(CLOCK_MONOTONIC) - start;
	pt_check(turns <= time / 10000 + 1, "%llu turns in %llu ns", (unsigned long long)turns,
		 (unsigned long long)time);
}

/* A period that is given to a set while it waits is that of its very next turn. */
static void another_period(void)
{
	struct perf_event_attr attr = faults();
	u64 period = 30;
	int fd[2], i;

	ext_need();
	attr.disabled = 1;
	attr.sample_period = 10;
	pt_settle();
	for (i = 0; i < 2; i++) {
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(set_trigger(fd[i], 1), 0);
		pt_eq(set_join(fd[i], i ? fd[0] : -1, (u16)i), 0);
		pt_enable(fd[i]);
	}
	pt_fault(20);
	pt_eq(pt_ioctl(fd[1], PERF_EVENT_IOC_PERIOD, pt_addr(&period)), 0);
	pt_fault(10 + 30 + 10 + 5);
	pt_eq(pt_count(fd[0]), 10 + 10 + 10);
	pt_eq(pt_count(fd[1]), 10 + 30 + 5);
}

/* Wake-ups of a task that sleeps are hits of the set whose turn it is. */
static void hits_of_a_sleeper(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("sched", "sched_wakeup"));
	int fd[2], i;
	pid_t pid;

	ext_need();
	pid = sleeper_start();
	attr.sample_period = 1;
	for (i = 0; i < 2; i++) {
		char filter[32];

		fd[i] = pt_open(&attr, pid, -1, -1, 0);
		snprintf(filter, sizeof(filter), "pid == %d", pid);
		pt_eq(pt_ioctl(fd[i], PERF_EVENT_IOC_SET_FILTER, pt_addr(filter)), 0);
		pt_eq(set_join(fd[i], i ? fd[0] : -1, (u16)i), 0);
	}
	for (i = 2; i < 22; i++) {
		if (i == 12)
			pt_eq(set_select(fd[0], 1), 0);
		if (i == 19)
			pt_eq(set_select(fd[0], 0), 0);
		sleeper_turn();
	}
	pt_eq(pt_count(fd[0]), 13);
	pt_eq(pt_count(fd[1]), 7);
	sleeper_stop(pid);
}

/*
 * Likewise where nothing is scheduled. An event that follows a frequency begins with a period of 1,
 * IOC_PERIOD makes its next fault two samples, and the second is one too many; the fault after that
 * would be a sample. Only a tick lets it be one.
 */
static void throttled_software(void)
{
	struct perf_event_attr attr = faults(), other = faults();
	const unsigned int turns = pt_turns(50);
	u64 freq = 100, samples = 0, start, ticks;
	struct timespec tick;
	struct pt_ring ring;
	unsigned int turn;

	ext_need();
	pt_pin(0);
	pt_need(!clock_getres(CLOCK_MONOTONIC_COARSE, &tick), "clock_getres");
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	attr.freq = 1;
	attr.sample_freq = freq;
	attr.disabled = 1;
	pt_settle();
	start = pt_clock(CLOCK_MONOTONIC);
	for (turn = 0; turn < turns; turn++) {
		int a = pt_open(&attr, 0, -1, -1, 0), b = pt_open(&other, 0, -1, -1, 0);
		u8 *p = pt_fresh_pages(2);

		pt_map(&ring, a, 1);
		pt_eq(set_join(a, -1, 0), 0);
		pt_eq(set_join(b, a, 1), 0);
		pt_enable(a);
		pt_eq(pt_ioctl(a, PERF_EVENT_IOC_PERIOD, pt_addr(&freq)), 0);
		pt_touch(p, 1);
		pt_eq(set_select(a, 1), 0);
		pt_eq(set_select(a, 0), 0);
		pt_touch(p + pt_page_size(), 1);
		pt_disable(a);
		samples += pt_count_records(&ring, PERF_RECORD_SAMPLE);
		pt_unmap(&ring);
		close(b);
		close(a);
	}
	ticks = (pt_clock(CLOCK_MONOTONIC) - start) / (u64)tick.tv_nsec + 1;
	pt_check(samples >= 2 * turns && samples <= 2 * turns + ticks,
		 "%llu samples in %u turns and %llu ticks", (unsigned long long)samples, turns,
		 (unsigned long long)ticks);
}

static const struct pt_case cases[] = {
	{ "hardware_joins", hardware_joins },
	{ "joins_refused", joins_refused },
	{ "counters_are_handed_over", counters_are_handed_over },
	{ "before_who_waits", before_who_waits },
	{ "turn_of_a_sleeper", turn_of_a_sleeper },
	{ "left_to_one_that_is_off", left_to_one_that_is_off },
	{ "two_at_once", two_at_once },
	{ "throttled", throttled },
	{ "throttled_software", throttled_software },
	{ "shortest_turn", shortest_turn },
	{ "another_period", another_period },
	{ "hits_of_a_sleeper", hits_of_a_sleeper },
};

PT_MAIN(cases)
