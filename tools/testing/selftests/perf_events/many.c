// SPDX-License-Identifier: GPL-2.0
/*
 * many.c - thousands of events: what must not take longer for each of them,
 * or longer with the square of their number, or with interrupts off. Needs a
 * machine on which each instruction takes one nanosecond.
 */
#include "lib/session.h"
#include <sys/resource.h>

#define MANY	16500

static int fds[MANY];
static struct pt_ring ring;
static struct pt_record rec;
static struct pt_sample s;

static void need_exact_time(void)
{
	struct rlimit limit = { MANY + 100, MANY + 100 };

	if (!pt_time_is_exact())
		pt_skip("this machine does not count instructions exactly");
	pt_need(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit: %s", strerror(errno));
	pt_pin(0);
}

static void open_many(struct perf_event_attr *attr, pid_t pid, int from, int to)
{
	int i;

	for (i = from; i < to; i++)
		fds[i] = pt_open(attr, pid, -1, -1, 0);
}

static void close_many(int nr)
{
	while (nr)
		close(fds[--nr]);
}

static int after_exec(int argc, char **argv)
{
	return argc == 2 && !strcmp(argv[1], "--exit") ? 0 : -1;
}

/* How long an exec takes with nr events that stay and nr events that end with it. */
static u64 exec_with(int nr)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int go[2], status;
	pid_t pid;
	u64 ns;

	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		execl("/proc/self/exe", "many", "--exit", NULL);
		_exit(99);
	}
	open_many(&attr, pid, 0, nr);
	attr.remove_on_exec = 1;
	open_many(&attr, pid, nr, 2 * nr);
	ns = pt_clock(CLOCK_MONOTONIC);
	pt_gate_open(go);
	status = pt_wait(pid);
	ns = pt_clock(CLOCK_MONOTONIC) - ns;
	pt_eq(status, 0);
	close_many(2 * nr);
	close(go[0]);
	close(go[1]);
	return ns;
}

static void exec_is_linear(void)
{
	u64 none, some, many;

	need_exact_time();
	none = exec_with(0);
	some = exec_with(1000) - none;
	many = exec_with(4000) - none;
	pt_check(many < 5 * some, "%llu ns with 1,000 + 1,000 events, %llu ns with 4,000 + 4,000",
		 (unsigned long long)some, (unsigned long long)many);
}

/* How long it takes until a task that nr sessions count for has exited. */
static u64 exit_with_sessions(int nr)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int go[2], i;
	pid_t pid;
	u64 ns;

	pt_gate_make(go);
	pt_in_child(pid)
		pt_gate_wait(go);
	for (i = 0; i < nr; i++) {
		fds[i] = session_of_tasks(attr);
		pt_eq(session_attach_task(fds[i], pid, 0), 0);
	}
	ns = pt_clock(CLOCK_MONOTONIC);
	pt_gate_open(go);
	pt_reap(pid);
	ns = pt_clock(CLOCK_MONOTONIC) - ns;
	for (i = 0; i < nr; i++)
		pt_eq(session_targets(fds[i]), 0);
	close_many(nr);
	close(go[0]);
	close(go[1]);
	return ns;
}

static void exit_of_sessions(void)
{
	u64 none, some, many;

	ext_need();
	need_exact_time();
	none = exit_with_sessions(0);
	some = exit_with_sessions(500) - none;
	many = exit_with_sessions(2000) - none;
	pt_check(many < 5 * some, "%llu ns with 500 sessions, %llu ns with 2,000",
		 (unsigned long long)some, (unsigned long long)many);
}

/* The longest time for which the clock's samples, one each 20 us, were held up. */
static u64 longest_gap(const struct perf_event_attr *attr)
{
	u64 last = 0, longest = 0;

	while (pt_next(&ring, &rec)) {
		pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
		pt_parse_sample(attr, &rec, &s);
		if (last && s.time - last > longest)
			longest = s.time - last;
		last = s.time;
	}
	pt_consume(&ring);
	return longest;
}

/*
 * The events are for threads, so that nothing is copied: the allocator has interrupts off for some
 * time, too. The last one keeps the task from starting a kin, so each fork looks at all of them.
 */
static void fork_keeps_interrupts_on(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct perf_event_attr clock = pt_attr(PT_SW(CPU_CLOCK));
	pid_t pid;
	u64 gap;
	int fd;

	need_exact_time();
	pt_sysctl_set("perf_event_max_sample_rate", 1000000);
	clock.sample_period = 20000;
	clock.sample_type = PERF_SAMPLE_TIME;
	clock.disabled = 1;
	fd = pt_open(&clock, -1, 0, -1, 0);
	pt_map(&ring, fd, 512);
	attr.inherit = 1;
	attr.inherit_thread = 1;
	open_many(&attr, 0, 0, 16000);
	attr.remove_on_exec = 1;
	open_many(&attr, 0, 16000, 16001);
	pt_enable(fd);
	pt_in_child(pid)
		_exit(0);
	pt_reap(pid);
	pt_disable(fd);
	gap = longest_gap(&clock);
	pt_check(gap, "no samples");
	pt_check(gap < 150000, "nothing was sampled for %llu ns", (unsigned long long)gap);
}

/* A stretch of user code with a throttled clock: each tick lets it go on. */
static u64 throttled_stretch(unsigned int *times)
{
	u64 ns;

	pt_drain(&ring);
	ns = pt_clock(CLOCK_MONOTONIC);
	pt_spin(40000000);
	ns = pt_clock(CLOCK_MONOTONIC) - ns;
	*times = pt_count_records(&ring, PERF_RECORD_UNTHROTTLE);
	return ns;
}

static struct perf_event_attr throttled_clock(void)
{
	struct perf_event_attr clock = pt_attr(PT_SW(CPU_CLOCK));

	clock.sample_period = 10000;
	clock.sample_type = PERF_SAMPLE_IP;
	return clock;
}

/* A stretch without the events that open_idle() opens, and one with them. */
static void compare_stretches(void (*open_idle)(void))
{
	struct perf_event_attr clock = throttled_clock();
	unsigned int times;
	u64 few, many;
	int fd;

	if (pt_is_stock())
		pt_skip("stock looks at all events");
	need_exact_time();
	/* Each sample is one too many. */
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	fd = pt_open(&clock, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	few = throttled_stretch(&times);
	if (times < 10)
		pt_skip("the clock was let go on %u times only", times);
	open_idle();
	many = throttled_stretch(&times);
	pt_check(times >= 10, "the clock was let go on %u times", times);
	/* At least 40,000 looks at an event; one tick more or less does not matter. */
	pt_check(many < few + 80000, "%llu ns without idle events, %llu ns with them",
		 (unsigned long long)few, (unsigned long long)many);
}

static void open_disabled(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.disabled = 1;
	open_many(&attr, 0, 0, 8000);
}

static void tick_passes_over_idle_events(void)
{
	compare_stretches(open_disabled);
}

static void open_disabled_by_frequency(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.disabled = 1;
	attr.freq = 1;
	attr.sample_freq = 100;
	open_many(&attr, 0, 0, 8000);
}

static void tick_passes_over_idle_frequencies(void)
{
	compare_stretches(open_disabled_by_frequency);
}

/* None makes a sample. */
static struct perf_event_attr silent_by_frequency(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));

	attr.freq = 1;
	attr.sample_freq = 100;
	attr.exclude_user = 1;
	attr.exclude_kernel = 1;
	return attr;
}

static void open_waiting_by_frequency(void)
{
	struct perf_event_attr attr = silent_by_frequency();

	open_many(&attr, 0, 100, 4000);
}

/* In both stretches there are some that count, in turns. */
static void tick_passes_over_waiting_frequencies(void)
{
	struct perf_event_attr attr = silent_by_frequency();

	close(pt_open_hw(&attr, -1));
	need_exact_time();
	open_many(&attr, 0, 0, 100);
	compare_stretches(open_waiting_by_frequency);
}

/* Each one is throttled by its first sample. */
static void open_throttled_and_disable(void)
{
	struct perf_event_attr clock = throttled_clock();
	int i;

	for (i = 0; i < 2000; i++) {
		fds[i] = pt_open(&clock, 0, -1, -1, 0);
		pt_spin(30000);
		pt_disable(fds[i]);
	}
}

static void tick_forgets_throttled_events(void)
{
	compare_stretches(open_throttled_and_disable);
}

static u64 turns(struct pt_peer *peer)
{
	u64 ns = pt_clock(CLOCK_MONOTONIC);
	int i;

	for (i = 0; i < 50; i++)
		pt_peer_turn(peer);
	return pt_clock(CLOCK_MONOTONIC) - ns;
}

/* Behind the first group that does not fit nobody is tried, so nobody is looked at. */
static void switch_passes_over_waiting_groups(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_peer peer;
	u64 few, many;

	if (pt_is_stock())
		pt_skip("stock looks at all groups");
	need_exact_time();
	close(pt_open_hw(&attr, -1));
	pt_peer_start(&peer);
	open_many(&attr, 0, 0, 100);
	turns(&peer);
	few = turns(&peer);
	open_many(&attr, 0, 100, 2100);
	turns(&peer);
	many = turns(&peer);
	/* 100,000 looks at a group */
	pt_check(many < few + 50000, "%llu ns with 100 groups, %llu ns with 2,100",
		 (unsigned long long)few, (unsigned long long)many);
	pt_peer_stop(&peer);
}

static const struct pt_case cases[] = {
	{ "exec_is_linear", exec_is_linear },
	{ "exit_of_sessions", exit_of_sessions },
	{ "fork_keeps_interrupts_on", fork_keeps_interrupts_on },
	{ "tick_passes_over_idle_events", tick_passes_over_idle_events },
	{ "tick_passes_over_idle_frequencies", tick_passes_over_idle_frequencies },
	{ "tick_passes_over_waiting_frequencies", tick_passes_over_waiting_frequencies },
	{ "tick_forgets_throttled_events", tick_forgets_throttled_events },
	{ "switch_passes_over_waiting_groups", switch_passes_over_waiting_groups },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = after_exec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
