// SPDX-License-Identifier: GPL-2.0
/*
 * x86_lbr_tasks.c - whose are the branches in the records of an Intel CPU? There is one set of
 * them, and events come and go while tasks run: a sample must show its own task's branches only, of
 * the time that its event has seen, by its own filter.
 *
 * needs: hw arch-lbr
 */
#include "lib/x86.h"
#include "lib/x86_code.h"

#define ROUNDS	20

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr sampler(u64 branch_type)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	char name[64] = "";

	attr.sample_period = 1009;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = branch_type | PERF_SAMPLE_BRANCH_USER;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	pt_slurp("/sys/bus/event_source/devices/cpu/caps/pmu_name", name, sizeof(name));
	if (!*name || pt_probe(&attr))
		pt_skip("no such branch records of an Intel CPU");
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	pt_pin(0);
	return attr;
}

/* A switch to another task just before a sample leaves no branch. */
static int open_switches(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CONTEXT_SWITCHES));

	return pt_open(&attr, 0, -1, -1, 0);
}

static void check_empty(unsigned int empty, unsigned int samples, int switches)
{
	u64 most = pt_count(switches);

	pt_check(empty <= most, "%u samples of %u have no branch, %llu switches", empty, samples,
		 (unsigned long long)most);
	close(switches);
}

static bool next_sample(const struct perf_event_attr *attr)
{
	if (!pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE))
		return false;
	pt_parse_sample(attr, &rec, &s);
	return true;
}

/* An event that has run before is enabled next to the branches of the task that ran last. */
static void not_of_another_task(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY);
	unsigned int round, n = 0, branches = 0;
	u64 i, before;
	int fd, fd2;
	pid_t pid;

	pt_in_child(pid)
		for (;;)
			lbr_run(1000);
	fd2 = pt_open(&attr, pid, -1, -1, 0);
	pt_enable(fd2);
	/* A few branches after it is enabled. */
	attr.sample_period = 23;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	for (round = 0; round < ROUNDS; round++) {
		before = pt_count(fd2);
		/* A sleep may be over before the other task is in its loop. */
		do
			pt_switch_out();
		while (pt_count(fd2) - before < 1000);
		pt_enable(fd);
		pt_spin(50);
		pt_disable(fd);
	}
	kill(pid, SIGKILL);
	pt_reap_killed(pid, SIGKILL);
	while (next_sample(&attr)) {
		n++;
		branches += s.nr_branches;
		for (i = 0; i < s.nr_branches; i++)
			pt_check(s.branches[i].from < pt_addr(lbr_turn) ||
				 s.branches[i].from >= pt_addr(lbr_end),
				 "the other task's branch from %llx",
				 (unsigned long long)s.branches[i].from);
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_check(n >= ROUNDS * 50 * 2 / 23, "%u samples", n);
	pt_check(branches > n, "%u branches in %u samples", branches, n);
	pt_unmap(&ring);
	close(fd2);
	close(fd);
}

static int orders[2], answers[2];

/* Let the other task enable (1) or disable (0) the event while this one is off the CPU. */
static void order(char what)
{
	pt_eq(write(orders[1], &what, 1), 1);
	pt_eq(read(answers[0], &what, 1), 1);
}

static void disable_within(void)
{
	order(0);
}

/* A stack is not brought back to a task that has run meanwhile without its event. */
static void not_of_before(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_CALL_STACK);
	unsigned int round, n = 0;
	pid_t pid;
	char what;
	u64 i;
	int fd;

	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	pt_need(!pipe(orders) && !pipe(answers), "pipe");
	pt_in_child(pid) {
		close(orders[1]);
		while (read(orders[0], &what, 1) == 1) {
			if (what)
				pt_enable(fd);
			else
				pt_disable(fd);
			pt_eq(write(answers[1], &what, 1), 1);
		}
	}
	close(orders[0]);
	for (round = 0; round < ROUNDS; round++) {
		pt_enable(fd);
		lbr_outer(disable_within);
		order(1);
		pt_spin(5000);
		pt_disable(fd);
	}
	close(orders[1]);
	pt_reap(pid);
	while (next_sample(&attr)) {
		if (!pt_in_spin(s.ip))
			continue;
		n++;
		for (i = 0; i < s.nr_branches; i++)
			pt_check(s.branches[i].from != pt_addr(lbr_call_deep) &&
				 s.branches[i].from != pt_addr(lbr_call_inner),
				 "frame %llu is one that had been left", (unsigned long long)i);
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_check(n >= ROUNDS * 9, "%u samples", n);
	pt_unmap(&ring);
	close(answers[0]);
	close(answers[1]);
	close(fd);
}

/* A group finds no room on the CPU, as the records are another's: that one's filter stays. */
static void not_by_anothers_filter(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY);
	struct perf_event_attr loser = attr, leader = pt_attr(PT_HW(CPU_CYCLES));
	unsigned int n = 0, empty = 0;
	int fd, fd2, fd3, switches = open_switches();

	loser.disabled = 0;
	loser.branch_sample_type = PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_USER;
	attr.pinned = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	leader.disabled = 1;
	fd2 = pt_open(&leader, 0, -1, -1, 0);
	fd3 = pt_open(&loser, 0, -1, fd2, 0);
	pt_enable(fd2);
	pt_spin(20000);
	pt_disable(fd);
	pt_eq(pt_count(fd3), 0);
	while (next_sample(&attr)) {
		if (!pt_in_spin(s.ip))
			continue;
		n++;
		if (!s.nr_branches)
			empty++;
		else
			pt_check(pt_in_spin(s.branches[0].from), "a branch from %llx",
				 (unsigned long long)s.branches[0].from);
	}
	pt_check(n >= 20000 * 2 / 1009 - 1, "%u samples", n);
	check_empty(empty, n, switches);
	pt_unmap(&ring);
	close(fd3);
	close(fd2);
	close(fd);
}

/* The hardware records the same for both events; no code here is in a transaction. */
static void filters_side_by_side(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY), other = attr;
	unsigned int n = 0, n2 = 0, empty = 0;
	static struct pt_ring ring2;
	int fd, fd2, switches;

	other.branch_sample_type |= PERF_SAMPLE_BRANCH_IN_TX;
	if (pt_probe(&other))
		pt_skip("no filter for transactions");
	switches = open_switches();
	fd = pt_open(&attr, 0, -1, -1, 0);
	fd2 = pt_open(&other, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	pt_map(&ring2, fd2, 64);
	pt_enable(fd);
	pt_enable(fd2);
	pt_spin(20000);
	pt_disable(fd2);
	pt_disable(fd);
	while (next_sample(&attr)) {
		n++;
		empty += !s.nr_branches;
	}
	while (pt_next_of(&ring2, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&other, &rec, &s);
		n2++;
		pt_eq(s.nr_branches, 0);
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_check(n >= 20000 * 2 / 1009 - 1, "%u samples", n);
	pt_check(n2 >= 20000 * 2 / 1009 - 1, "%u samples in transactions", n2);
	check_empty(empty, n, switches);
	pt_unmap(&ring2);
	pt_unmap(&ring);
	close(fd2);
	close(fd);
}

/*
 * An event that is counted in the branches of a precise leader, whose branches are in its records:
 * nothing is read for the samples of the other one.
 */
static void not_of_the_last_sample(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY), leader = attr, member = attr;
	unsigned int n = 0;
	int fd, fd2;

	leader.branch_sample_type |= PERF_SAMPLE_BRANCH_COUNTERS;
	leader.precise_ip = 1;
	leader.sample_period = 1ull << 40;
	member.branch_sample_type = PERF_SAMPLE_BRANCH_COUNTERS | PERF_SAMPLE_BRANCH_USER;
	member.disabled = 0;
	if (pt_probe(&leader))
		pt_skip("no counters are logged with branches");
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	lbr_run(1000);
	pt_disable(fd);
	close(fd);

	fd = pt_open(&leader, 0, -1, -1, 0);
	fd2 = pt_open(&member, 0, -1, fd, 0);
	pt_map(&ring, fd2, 64);
	pt_enable(fd);
	pt_spin(5000);
	pt_disable(fd);
	while (next_sample(&member)) {
		n++;
		pt_eq(s.nr_branches, 0);
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_check(n >= 9, "%u samples", n);
	pt_unmap(&ring);
	close(fd2);
	close(fd);
}

/* ---- call stacks ---- */

#define TURNS	50

static struct pt_peer peer;

static void switch_and_spin(void)
{
	unsigned int i;

	for (i = 0; i < TURNS; i++) {
		pt_peer_turn(&peer);
		pt_spin(5000 + 100 * i);
	}
}

/* The stacks of samples of @tid in pt_spin(), which switch_and_spin() has called. */
static void check_stacks_of(const struct perf_event_attr *attr, pid_t tid)
{
	unsigned int n = 0;

	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(attr, &rec, &s);
		if (s.tid != (u32)tid || !pt_in_spin(s.ip))
			continue;
		n++;
		pt_need(s.nr_branches >= 3, "%llu frames in sample %u of %d",
			(unsigned long long)s.nr_branches, n, tid);
		pt_eq(s.branches[0].to, pt_addr(pt_spin_start));
		pt_eq(s.branches[1].from, pt_addr(lbr_call_deep));
		pt_eq(s.branches[2].from, pt_addr(lbr_call_inner));
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_check(n >= TURNS * 9, "%u samples", n);
}

static struct perf_event_attr stack_sampler(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_CALL_STACK);

	attr.sample_type |= PERF_SAMPLE_TID;
	return attr;
}

static void check_own_stacks(const struct perf_event_attr *attr, int fd)
{
	pt_enable(fd);
	lbr_outer(switch_and_spin);
	pt_disable(fd);
	check_stacks_of(attr, getpid());
}

/* While a task is away another one with a call stack of its own runs. */
static void call_stack_of_a_task(void)
{
	struct perf_event_attr attr = stack_sampler();
	int fd, fp;

	pt_peer_start(&peer);
	fp = pt_open(&attr, peer.pid, -1, -1, 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 512);
	pt_enable(fp);
	check_own_stacks(&attr, fd);
	pt_peer_stop(&peer);
	pt_unmap(&ring);
	close(fd);
	close(fp);
}

static pid_t sleepers[50];

/* The task before had a stack of its own, and has exited. */
static void exit_and_spin(void)
{
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(sleepers); i++) {
		kill(sleepers[i], SIGKILL);
		sched_yield();
		pt_spin(5000);
	}
}

/* Who exits gives back what was kept for him, while the event stays. */
static void exit_gives_back(void)
{
	struct perf_event_attr attr = stack_sampler(), freed;
	int i, fd, type = pt_pmu_type("kprobe");
	pid_t pid;

	if (pt_is_stock() || type < 0)
		pt_skip("Linux 6.12 keeps nothing for an event of a CPU, or there are no kprobes");
	freed = pt_attr((u32)type, 0);
	freed.kprobe_func = pt_addr("free_kept_rcu");
	pt_open(&attr, -1, 0, -1, 0);
	fd = pt_open(&freed, -1, 0, -1, 0);
	for (i = 0; i < 300; i++) {
		pt_in_child(pid)
			pt_spin(1);
		pt_reap(pid);
	}
	pt_check(pt_count(fd) > 0, "no task gives back its memory");
}

/* The same of an event of the CPU: tasks that are there when it is opened, and those that come. */
static void call_stacks_of_a_cpu(void)
{
	struct perf_event_attr attr = stack_sampler();
	int fd, fp, fd2;
	unsigned int i;
	pid_t pid;

	pt_peer_start(&peer);
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 512);
	check_own_stacks(&attr, fd);

	pt_enable(fd);
	pt_in_child(pid)
		lbr_outer(switch_and_spin);
	pt_eq(pt_wait(pid), 0);
	pt_disable(fd);
	check_stacks_of(&attr, pid);

	pt_enable(fd);
	for (i = 0; i < PT_ARRAY_SIZE(sleepers); i++)
		pt_in_child(sleepers[i])
			pause();
	pt_switch_out();
	lbr_outer(exit_and_spin);
	pt_disable(fd);
	for (i = 0; i < PT_ARRAY_SIZE(sleepers); i++)
		pt_reap_killed(sleepers[i], SIGKILL);
	check_stacks_of(&attr, getpid());

	/* Another event of the CPU ends, and one of a task comes and goes: the stacks stay. */
	fd2 = pt_open(&attr, -1, 0, -1, 0);
	close(fd2);
	fp = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fp);
	pt_enable(fd);
	lbr_outer(switch_and_spin);
	close(fp);
	pt_disable(fd);
	check_stacks_of(&attr, getpid());
	check_own_stacks(&attr, fd);

	pt_peer_stop(&peer);
	pt_unmap(&ring);
	close(fd);
}

#define FORKERS	4
#define FORKS	100

static void fork_and_exit(void)
{
	unsigned int i;
	pid_t pid;

	for (i = 0; i < FORKS; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		pt_need(pid > 0, "fork: %s", strerror(errno));
		pt_eq(pt_wait(pid), 0);
	}
}

/* The first event and the last one come and go while tasks do; afterwards all is as ever. */
static void call_stacks_in_a_storm(void)
{
	struct perf_event_attr attr = stack_sampler();
	int cpu, cpus = pt_online_cpus(), fd;
	pid_t forkers[FORKERS];
	unsigned int i, n = 0;

	for (i = 0; i < FORKERS; i++)
		pt_in_child(forkers[i]) {
			pt_pin((int)i % cpus);
			fork_and_exit();
		}
	attr.disabled = 0;
	/* They end by themselves. */
	while (n < FORKERS) {
		siginfo_t info = {};

		for (cpu = 0; cpu < cpus; cpu++) {
			fd = pt_open(&attr, -1, cpu, -1, 0);
			sched_yield();
			close(fd);
		}
		if (!waitid(P_PID, forkers[n], &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid)
			pt_eq(pt_wait(forkers[n++]), 0);
	}

	attr.disabled = 1;
	pt_peer_start(&peer);
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 512);
	check_own_stacks(&attr, fd);
	pt_peer_stop(&peer);
	pt_unmap(&ring);
	close(fd);
}

static const struct pt_case cases[] = {
	{ "not_of_another_task", not_of_another_task },
	{ "not_of_before", not_of_before },
	{ "not_by_anothers_filter", not_by_anothers_filter },
	{ "filters_side_by_side", filters_side_by_side },
	{ "not_of_the_last_sample", not_of_the_last_sample },
	{ "call_stack_of_a_task", call_stack_of_a_task },
	{ "call_stacks_of_a_cpu", call_stacks_of_a_cpu },
	{ "exit_gives_back", exit_gives_back },
	{ "call_stacks_in_a_storm", call_stacks_in_a_storm },
};

PT_MAIN(cases)
