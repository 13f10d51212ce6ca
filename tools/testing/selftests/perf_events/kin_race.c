// SPDX-License-Identifier: GPL-2.0
/*
 * kin_race.c - tasks with inherited events in common, which multiply or hand the CPU to each other,
 * while others open, close, map, read and change events of theirs.
 *
 * needs: smp
 */
#include "lib/hold.h"
#include "lib/kin.h"
#include "lib/slow_fork.h"
#include <poll.h>
#include <pthread.h>

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* ------------------------------------------------------------ tasks that multiply */

static int clock_fd;

/* All are gone. The events were always on and there was room for them: each ran all the time. */
static void check_sum(void)
{
	u64 v[3] = { 0 }, clock[3] = { 0 };

	pt_eq(read(common, v, sizeof(v)), sizeof(v));
	pt_eq(v[0], true_count());
	pt_eq(v[1], v[2]);
	pt_check(v[0] && v[1], "nothing was counted");
	pt_eq(read(clock_fd, clock, sizeof(clock)), sizeof(clock));
	pt_eq(clock[1], clock[2]);
	if (pt_is_stock())
		return;
	pt_eq(clock[2], v[2]);
	pt_eq(clock[0], clock[2]);
}

static void *fault_a_little(void *arg)
{
	pt_fault(3);
	return arg;
}

#define FORKS	pt_turns(50)

/* Children, threads and grandchildren, for as long as it takes. */
static void multiply(void)
{
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < FORKS; i++) {
		pid_t pid, inner;

		pt_in_child(pid) {
			pt_fault(2);
			if (i % 3 == 0) {
				pt_in_child(inner)
					pt_fault(4);
				pt_reap(inner);
			}
		}
		pt_need(!pthread_create(&thread, NULL, fault_a_little, NULL), "thread");
		pthread_join(thread, NULL);
		pt_reap(pid);
	}
}

/*
 * A task that is going to multiply, when told, has the events, and is alone in the cgroup; it does
 * not run in between.
 */
static pid_t set_up(int go[2], const char *dir, struct perf_event_attr *attr, int cpu)
{
	struct perf_event_attr clock = inherited(PT_SW(TASK_CLOCK));
	struct pt_peer peer;

	attr->read_format = TIMES;
	clock.read_format = TIMES;
	pt_gate_make(go);
	pt_in_child(peer.pid) {
		if (cpu >= 0)
			pt_pin(cpu);
		pt_gate_wait(go);
		multiply();
	}
	pt_peer_asleep(&peer);
	open_truth(dir);
	pt_need(!cg_enter_path(dir, peer.pid), "cgroup.procs");
	common = pt_open(attr, peer.pid, cpu, -1, 0);
	clock_fd = pt_open(&clock, peer.pid, cpu, -1, 0);
	return peer.pid;
}

static pid_t set_up_faults(int go[2])
{
	struct perf_event_attr attr = faults();

	return set_up(go, cg_make(""), &attr, -1);
}

static void undisturbed(void)
{
	int go[2];
	pid_t pid = set_up_faults(go);

	pt_gate_open(go);
	pt_reap(pid);
	check_sum();
}

/*
 * While it multiplies, on whatever CPUs, the event is enabled over and over, which it is already;
 * @disturb does more. In the end everybody is gone, and the counts are what they should be.
 */
static void while_it_multiplies(void (*disturb)(pid_t pid, unsigned int round))
{
	unsigned int round = 0;
	int go[2], status;
	pid_t pid = set_up_faults(go);

	pt_gate_open(go);
	while (!waitpid(pid, &status, WNOHANG)) {
		pt_eq(pt_ioctl(common, PERF_EVENT_IOC_ENABLE, 0), 0);
		if (disturb)
			disturb(pid, round);
		round++;
	}
	pt_eq(status, 0);
	pt_msg("%u rounds", round);
	check_sum();
}

static void enabled_in_a_storm(void)
{
	while_it_multiplies(NULL);
}

/* Others come and go, some of them with siblings; reading them disturbs nobody. */
static void come_and_go(pid_t pid, unsigned int round)
{
	struct perf_event_attr attr = faults();
	int fd = pt_try_open(&attr, pid, -1, -1, 0), sibling = -1;
	u64 count;

	if (fd < 0)
		return;
	if (round % 3 == 0)
		sibling = pt_try_open(&attr, pid, -1, fd, 0);
	if (round % 2)
		pt_eq(read(fd, &count, sizeof(count)), sizeof(count));
	if (round % 5 == 0)
		pt_ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	close(fd);
	if (sibling >= 0)
		close(sibling);
}

static void come_and_go_in_a_storm(void)
{
	while_it_multiplies(come_and_go);
}

/* Readers of what is being multiplied never see a count go back. */
static void read_on(pid_t pid, unsigned int round)
{
	static u64 last[3];
	u64 now[3];
	int i;

	(void)pid;
	(void)round;
	pt_eq(read(common, now, sizeof(now)), sizeof(now));
	for (i = 0; i < 3; i++)
		pt_check(now[i] >= last[i], "word %d went back from %llu to %llu", i,
			 (unsigned long long)last[i], (unsigned long long)now[i]);
	memcpy(last, now, sizeof(last));
}

static void read_in_a_storm(void)
{
	while_it_multiplies(read_on);
}

#define ROUNDS	12

/* Each turn of multiply() has more than four faults: so many are reached, whatever the round. */
static u64 moment_of(unsigned int round)
{
	return 4 * FORKS * round / ROUNDS;
}

static void let_multiply(int go[2], unsigned int round)
{
	pt_gate_open(go);
	while (pt_count(common) < moment_of(round))
		sched_yield();
}

static void over(int go[2])
{
	int i;

	close(common);
	for (i = 0; i < truth.cpus; i++)
		close(truth.fd[i]);
	close(go[0]);
	close(go[1]);
}

/* While it multiplies something changes once; the sum is that of the cgroup all the same. */
static void a_round(int go[2], pid_t pid, void (*change)(unsigned int round), unsigned int round)
{
	let_multiply(go, round);
	change(round);
	pt_reap(pid);
	check_sum();
	close(clock_fd);
	over(go);
}

/* The event samples. On CPU 0, as events that are mapped have to be. */
static void changed(void (*change)(unsigned int round))
{
	struct perf_event_attr attr = faults();
	const char *dir = cg_make("");
	unsigned int round;

	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_TID;
	for (round = 0; round < ROUNDS && !pt_failures(); round++) {
		int go[2];
		pid_t pid = set_up(go, dir, &attr, 0);

		a_round(go, pid, change, round);
	}
}

static void other_period(unsigned int round)
{
	u64 period = 100 + round;

	pt_eq(pt_ioctl(common, PERF_EVENT_IOC_PERIOD, pt_addr(&period)), 0);
}

static void period_in_a_storm(void)
{
	changed(other_period);
}

/* Of so many samples nobody is told: all that happens is that each task gets copies. */
static void ask_for_many(unsigned int round)
{
	(void)round;
	pt_eq(notify(common, 1u << 31, 0), 0);
}

static void dissolved_in_a_storm(void)
{
	ext_need();
	changed(ask_for_many);
}

static void map_clock(unsigned int round)
{
	struct pt_ring r;

	pt_map(&r, round % 2 ? clock_fd : common, 0);
	if (round % 3)
		pt_unmap(&r);
}

static void mapped_in_a_storm(void)
{
	changed(map_clock);
}

/* Nobody counts any more, whoever is forked; then somebody does again. */
static void all_closed_in_a_storm(void)
{
	struct perf_event_attr attr = faults();
	const char *dir = cg_make("");
	unsigned int round;

	for (round = 0; round < ROUNDS && !pt_failures(); round++) {
		int go[2];
		pid_t pid = set_up(go, dir, &attr, -1);

		let_multiply(go, round);
		close(common);
		close(clock_fd);
		common = pt_open(&attr, pid, -1, -1, 0);
		pt_reap(pid);
		pt_check(pt_count(common) <= true_count(), "%llu of %llu faults",
			 (unsigned long long)pt_count(common), (unsigned long long)true_count());
		over(go);
	}
}

static int short_lived;

static void leave(unsigned int round)
{
	(void)round;
	pt_eq(pt_module_set("test_count", "registered", 0), 0);
	close(short_lived);
	pt_eq(pt_module_set("test_count", "registered", 1), 0);
}

/* An event of another PMU beside it, which leaves. */
static void pmu_leaves_in_a_storm(void)
{
	struct perf_event_attr attr = faults();
	const char *dir = cg_make("");
	unsigned int round;

	pt_load_module("test_count", NULL);
	if (pt_is_stock())
		pt_skip("Linux 6.12's PMUs may not leave their events behind");
	for (round = 0; round < ROUNDS && !pt_failures(); round++) {
		int go[2];
		pid_t pid = set_up(go, dir, &attr, -1);
		struct perf_event_attr hits = inherited((u32)pt_pmu_type("test_count"), 0);

		short_lived = pt_open(&hits, pid, -1, -1, 0);
		a_round(go, pid, leave, round);
	}
	pt_eq(pt_module_get("test_count", "nr_events"), 0);
}

/* ------------------------------------------------------------ tasks that play */

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
	unsigned int round = 0, plays = pt_turns(100);
	int all, i, j;

	all = pt_open(&attr, 0, -1, -1, 0);
	for (i = 0; i < 3; i++) {
		struct perf_event_attr more = faults();
		int fd = pt_open(&more, 0, -1, -1, 0);
		u64 before;

		start_pairs();
		before = pt_count(all) - own_faults();
		for (j = 0; j < 2 * PAIRS; j++)
			send(&pairs[j], j & 1 ? SERVE : PLAY, (int)plays);
		while (!answered(&pairs[0]) || !answered(&pairs[2]))
			if (i)
				disturb(round++);
		for (j = 0; j < 2 * PAIRS; j++)
			pt_eq(answer(&pairs[j]), 0);
		pt_eq(pt_count(all) - own_faults(), before + PAIRS * 3 * plays);
		close(fd);
		stop_pairs();
	}
}

static void disturbed_lives(void)
{
	static const enum job way[] = { FORK, EXEC, NOTHING, FORK, FORK, EXEC };
	struct perf_event_attr attr = faults();
	unsigned int round = 0;
	int all, i, j;

	all = pt_open(&attr, 0, -1, -1, 0);
	start_pairs();
	for (i = 0; i < 16; i++) {
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
		if (i % 8 == 7)
			counts_right(all, pairs, 2 * PAIRS);
	}
	stop_pairs();
}

struct forking {
	unsigned int	done;		/* forks, each with a fault after it */
	bool		stop;
};

static void fork_and_fault(void *arg)
{
	struct forking *f = arg;
	pid_t pid;

	pt_pin(0);
	while (!__atomic_load_n(&f->stop, __ATOMIC_ACQUIRE)) {
		pt_in_child(pid)
			;
		pt_reap(pid);
		pt_fault(1);
		__atomic_store_n(&f->done, f->done + 1, __ATOMIC_RELEASE);
	}
}

/*
 * The first of these has the task leave its kin; the second may be in time for the fork that makes
 * a new one, and is not in that. Both count on all the same.
 */
static void opened_in_a_fork(void)
{
	struct perf_event_attr attr = faults();
	unsigned int i, j, n;
	struct forking *f;
	int fd[2];
	pid_t pid;

	f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pt_need(f != MAP_FAILED, "mmap: %s", strerror(errno));
	pid = pt_fork(fork_and_fault, f);
	pt_open(&attr, pid, -1, -1, 0);
	pt_pin(pt_online_cpus() - 1);
	for (i = 0; i < pt_turns(300); i++) {
		for (j = 0; j < 2; j++)
			fd[j] = pt_open(&attr, pid, -1, -1, 0);
		n = __atomic_load_n(&f->done, __ATOMIC_ACQUIRE);
		while (__atomic_load_n(&f->done, __ATOMIC_ACQUIRE) < n + 4)
			usleep(100);
		/* What is done then may have been counted before the events were there, or not. */
		for (j = 0; j < 2; j++) {
			pt_check(pt_count(fd[j]) >= 3, "%llu faults of event %u",
				 (unsigned long long)pt_count(fd[j]), j);
			close(fd[j]);
		}
	}
	__atomic_store_n(&f->stop, true, __ATOMIC_RELEASE);
	pt_reap(pid);
}

static int let_go[2];

static void wait_to_be_let_go(void)
{
	pt_gate_wait(let_go);
}

/* Nobody finds a task that is being forked: it is not waited for, and gets its own copy later. */
static void dissolved_in_a_fork(void)
{
	struct perf_event_attr attr = faults();
	struct slow_fork f;
	int fd;

	ext_need();
	pt_gate_make(let_go);
	attr.sample_period = 1000;
	slow_fork_start(&f, wait_to_be_let_go);
	fd = pt_open(&attr, f.tid, -1, -1, 0);
	slow_fork_begin(&f);
	copies_are(fd, in_common(2));
	pt_eq(notify(fd, 1u << 31, 0), 0);
	slow_fork_end(&f);
	copies_are(fd, 1);
	pt_gate_open(let_go);
	pt_reap(f.child);
	copies_are(fd, 0);
}

static const struct pt_case cases[] = {
	{ "undisturbed", undisturbed },
	{ "enabled_in_a_storm", enabled_in_a_storm },
	{ "come_and_go_in_a_storm", come_and_go_in_a_storm },
	{ "read_in_a_storm", read_in_a_storm },
	{ "period_in_a_storm", period_in_a_storm },
	{ "dissolved_in_a_storm", dissolved_in_a_storm },
	{ "mapped_in_a_storm", mapped_in_a_storm },
	{ "all_closed_in_a_storm", all_closed_in_a_storm },
	{ "pmu_leaves_in_a_storm", pmu_leaves_in_a_storm },
	{ "disturbed_sums", disturbed_sums },
	{ "disturbed_lives", disturbed_lives },
	{ "opened_in_a_fork", opened_in_a_fork },
	{ "dissolved_in_a_fork", dissolved_in_a_fork },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = after_exec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
