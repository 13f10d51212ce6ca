// SPDX-License-Identifier: GPL-2.0
/*
 * kin.c - inherited events that only count in software are counted in common: children have no
 * copies of them until somebody wants to treat the copies one by one. No difference is to be seen.
 *
 * So each case has two events of the same kind: the first is counted in common; the second has
 * copies from the beginning, for its attr.inherit_stat asks for what each task has counted. They
 * are treated alike, and whatever happens they have counted the same.
 *
 * needs: smp
 */
#include "lib/exchange.h"
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static int common, copied;

static void open_both(pid_t pid)
{
	struct perf_event_attr attr = faults();

	common = pt_open(&attr, pid, -1, -1, 0);
	attr.inherit_stat = 1;
	copied = pt_open(&attr, pid, -1, -1, 0);
}

/* Nobody runs but the case, which takes no fault in between. */
static void agree(void)
{
	u64 count = pt_count(common);

	pt_eq(count, pt_count(copied));
}

static void both(unsigned long request)
{
	pt_eq(pt_ioctl(common, request, 0), 0);
	pt_eq(pt_ioctl(copied, request, 0), 0);
}

/* Faults of all are counted, or of none. */
static void work(struct puppet *p, int nr, bool counted)
{
	u64 before = pt_count(common);
	int i, sum = 0;

	for (i = 0; i < nr; i++) {
		pt_eq(order(&p[i], FAULT, 3 + i), 0);
		sum += 3 + i;
	}
	pt_eq(pt_count(common), before + (counted ? (u64)sum : 0));
	agree();
}

static void start_all(struct puppet *p, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		start(&p[i]);
	pt_settle();
}

static void stop_all(struct puppet *p, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		stop(&p[i]);
	agree();
}

static void living_and_gone(void)
{
	struct puppet p[4];

	open_both(0);
	start_all(p, 4);
	work(p, 4, true);
	stop_all(p, 2);
	work(p + 2, 2, true);
	make_duel();
	pt_eq(order(&p[3], FORK, 3), 0);
	agree();
	stop_all(p + 2, 2);
	pt_fault(5);
	agree();
}

/* Children of all ages: from before a change, from between two, and gone. */
static void toggled(void)
{
	struct puppet p[6];

	open_both(0);
	start_all(p, 2);
	work(p, 2, true);
	both(PERF_EVENT_IOC_DISABLE);
	start_all(p + 2, 2);
	work(p, 4, false);
	both(PERF_EVENT_IOC_ENABLE);
	work(p, 4, true);
	start_all(p + 4, 2);
	work(p, 6, true);
	stop_all(p, 1);
	both(PERF_EVENT_IOC_DISABLE);
	both(PERF_EVENT_IOC_ENABLE);
	work(p + 1, 5, true);
	stop_all(p + 1, 5);
}

/* What the living have counted is set to 0, what others have is not. */
static void reset(void)
{
	struct puppet p[4];
	int i;

	open_both(0);
	start_all(p, 4);
	work(p, 4, true);
	stop_all(p, 1);
	for (i = 0; i < 2; i++) {
		both(PERF_EVENT_IOC_RESET);
		agree();
		work(p + 1, 3, true);
		stop_all(p + 1 + i, 1);
		start(&p[1 + i]);
		work(p + 1, 3, true);
	}
	stop_all(p + 1, 3);
}

static void by_prctl(void)
{
	struct puppet p[2];

	open_both(0);
	start_all(p, 1);
	pt_eq(prctl(PR_TASK_PERF_EVENTS_DISABLE), 0);
	work(p, 1, false);
	start_all(p + 1, 1);
	pt_eq(prctl(PR_TASK_PERF_EVENTS_ENABLE), 0);
	work(p, 2, true);
	stop_all(p, 2);
}

/* Events come and go while children live: each counts for whom was forked after it. */
static void others_come_and_go(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p[3];
	u64 late;
	int fd;

	open_both(0);
	start_all(p, 1);
	fd = pt_open(&attr, 0, -1, -1, 0);
	start_all(p + 1, 1);
	late = pt_count(fd);
	work(p, 2, true);
	pt_eq(pt_count(fd), late + 4);
	close(common);
	start_all(p + 2, 1);
	late = pt_count(fd);
	pt_eq(order(&p[1], FAULT, 7), 0);
	pt_eq(order(&p[2], FAULT, 8), 0);
	pt_eq(pt_count(fd), late + 15);
	close(fd);
	common = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(order(&p[1], FAULT, 7), 0);
	pt_eq(pt_count(common), 0);
	stop(&p[0]);
	stop(&p[1]);
	stop(&p[2]);
}

/* A child's own event does not take part, nor is it in the way. */
static void event_of_a_child(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p[2];
	int fd;

	open_both(0);
	start_all(p, 2);
	fd = pt_open(&attr, p[0].pid, -1, -1, 0);
	work(p, 2, true);
	pt_eq(pt_count(fd), 3);
	make_duel();
	pt_eq(order(&p[0], FORK, 1), 0);
	agree();
	close(fd);
	work(p, 2, true);
	stop_all(p, 2);
}

static long read_group(int fd)
{
	u64 words[8];
	ssize_t n = read(fd, words, sizeof(words));

	return n < 0 ? -errno : n;
}

/* Old children have no copy of the sibling, new ones have. */
static void sibling(void)
{
	struct perf_event_attr attr = faults(), told = attr;
	struct puppet p[2];
	struct pt_read group;

	attr.read_format = PERF_FORMAT_GROUP;
	told.read_format = PERF_FORMAT_GROUP;
	told.inherit_stat = 1;
	common = pt_open(&attr, 0, -1, -1, 0);
	copied = pt_open(&told, 0, -1, -1, 0);
	start_all(p, 1);
	pt_eq(order(&p[0], FAULT, 9), 0);
	pt_open(&attr, 0, -1, common, 0);
	pt_open(&told, 0, -1, copied, 0);
	pt_eq(read_group(common), -ECHILD);
	pt_eq(read_group(copied), -ECHILD);
	stop(&p[0]);
	start_all(p + 1, 1);
	pt_eq(order(&p[1], FAULT, 9), 0);
	pt_read(common, attr.read_format, 2, &group);
	pt_check(group.v[0].value >= group.v[1].value + 9, "the one that is gone does not count");
	pt_check(group.v[1].value >= 9, "the sibling has counted %lld",
		 (long long)group.v[1].value);
	stop(&p[1]);
}

static void check_times(void)
{
	u64 a[3] = { 0 }, b[3] = { 0 };

	pt_eq(read(common, a, sizeof(a)), sizeof(a));
	pt_eq(read(copied, b, sizeof(b)), sizeof(b));
	pt_eq(a[0], b[0]);
	pt_eq(a[1], b[1]);
	pt_eq(a[2], b[2]);
	pt_eq(a[1], a[2]);
	pt_check(a[0] && a[1], "nothing was counted");
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

/* A task that is going to multiply, when told, has both events; it does not run in between. */
static pid_t set_up(int go[2])
{
	struct perf_event_attr attr = faults();
	struct pt_peer peer;

	attr.read_format = TIMES;
	pt_gate_make(go);
	pt_in_child(peer.pid) {
		pt_gate_wait(go);
		multiply();
	}
	pt_peer_asleep(&peer);
	common = pt_open(&attr, peer.pid, -1, -1, 0);
	attr.inherit_stat = 1;
	copied = pt_open(&attr, peer.pid, -1, -1, 0);
	return peer.pid;
}

static void undisturbed(void)
{
	int go[2];
	pid_t pid = set_up(go);

	pt_gate_open(go);
	pt_reap(pid);
	check_times();
}

/*
 * While it multiplies, on whatever CPUs, the event is enabled over and over, which it is already;
 * @disturb does more. In the end everybody is gone: counts and times are the same.
 */
static void while_it_multiplies(void (*disturb)(pid_t pid, unsigned int round))
{
	unsigned int round = 0;
	int go[2], status;
	pid_t pid = set_up(go);

	pt_gate_open(go);
	while (!waitpid(pid, &status, WNOHANG)) {
		pt_eq(pt_ioctl(common, PERF_EVENT_IOC_ENABLE, 0), 0);
		if (disturb)
			disturb(pid, round);
		round++;
	}
	pt_eq(status, 0);
	pt_msg("%u rounds", round);
	check_times();
}

static void split_in_a_storm(void)
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

static void *nothing(void *arg)
{
	return arg;
}

/* The least of some; the first fork after an open is the one that makes the kin. */
static u64 cost_of_a_thread(void)
{
	u64 least = ~0ull;
	int i;

	for (i = 0; i < 8; i++) {
		u64 begin = pt_clock(CLOCK_MONOTONIC), took;
		pthread_t thread;

		pt_need(!pthread_create(&thread, NULL, nothing, NULL), "thread");
		pthread_join(thread, NULL);
		took = pt_clock(CLOCK_MONOTONIC) - begin;
		if (took < least)
			least = took;
	}
	return least;
}

static void open_more(int nr)
{
	struct perf_event_attr attr = faults();

	while (nr--)
		pt_open(&attr, 0, -1, -1, 0);
}

/* Threads share descriptors, so that nothing else is linear. */
static void flat(void)
{
	struct rlimit many = { 2048, 2048 };
	u64 few, all;

	if (pt_is_stock())
		pt_skip("Linux 6.12 makes a copy for each task");
	if (!pt_time_is_exact())
		pt_skip("time does not count instructions here");
	pt_eq(setrlimit(RLIMIT_NOFILE, &many), 0);
	open_more(10);
	cost_of_a_thread();
	few = cost_of_a_thread();
	open_more(990);
	all = cost_of_a_thread();
	pt_msg("a thread with 10 events: %llu ns, with 1,000: %llu ns", (unsigned long long)few,
	       (unsigned long long)all);
	pt_check(all * 10 <= few * 11, "1,000 events cost more than 10");
}

static const struct pt_case cases[] = {
	{ "living_and_gone", living_and_gone },
	{ "toggled", toggled },
	{ "reset", reset },
	{ "by_prctl", by_prctl },
	{ "others_come_and_go", others_come_and_go },
	{ "event_of_a_child", event_of_a_child },
	{ "sibling", sibling },
	{ "undisturbed", undisturbed },
	{ "split_in_a_storm", split_in_a_storm },
	{ "come_and_go_in_a_storm", come_and_go_in_a_storm },
	{ "read_in_a_storm", read_in_a_storm },
	{ "flat", flat },
};

PT_MAIN(cases)
