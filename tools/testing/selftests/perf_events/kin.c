// SPDX-License-Identifier: GPL-2.0
/*
 * kin.c - inherited events that tasks have in common count as if each task had its own.
 *
 * What is true is seen from outside: the tasks of a case, and no others, are in a cgroup of theirs,
 * whose faults are counted on all CPUs by events of these CPUs. They are treated alike, and
 * whatever happens they have counted the same.
 *
 * needs: smp hw
 */
#include "lib/kin.h"
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static void both(unsigned long request)
{
	int i;

	for (i = 0; i < truth.cpus; i++)
		pt_eq(pt_ioctl(truth.fd[i], request, 0), 0);
	pt_eq(pt_ioctl(common, request, 0), 0);
	if (request == PERF_EVENT_IOC_RESET)
		truth.ahead = 0;
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

	open_both();
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

	open_both();
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

/* The counts of those that had it in common are one count: what the gone have added is in it. */
static void reset(void)
{
	struct puppet p[4];
	int i;

	if (pt_is_stock())
		pt_skip("Linux 6.12 keeps what was counted by those that are gone");
	open_both();
	start_all(p, 4);
	work(p, 4, true);
	stop_all(p, 1);
	for (i = 0; i < 2; i++) {
		pt_settle();
		both(PERF_EVENT_IOC_RESET);
		pt_eq(pt_count(common), 0);
		work(p + 1, 3, true);
		stop_all(p + 1 + i, 1);
		start_all(p + 1 + i, 1);
		work(p + 1, 3, true);
	}
	stop_all(p + 1, 3);
	pt_settle();
	both(PERF_EVENT_IOC_RESET);
	pt_eq(pt_count(common), 0);
}

/* The truth is not prctl's business. */
static void by_prctl(void)
{
	struct puppet p[2];
	int i;

	open_both();
	start_all(p, 1);
	for (i = 0; i < truth.cpus; i++)
		pt_disable(truth.fd[i]);
	pt_eq(prctl(PR_TASK_PERF_EVENTS_DISABLE), 0);
	work(p, 1, false);
	start_all(p + 1, 1);
	for (i = 0; i < truth.cpus; i++)
		pt_enable(truth.fd[i]);
	pt_eq(prctl(PR_TASK_PERF_EVENTS_ENABLE), 0);
	work(p, 2, true);
	stop_all(p, 2);
}

/* A fork that fails makes no member: when the only one has left, the copies go. */
static void fork_that_fails(void)
{
	struct perf_event_attr attr = faults();
	int fd = pt_open(&attr, 0, -1, -1, 0), i;

	for (i = 0; i < 2; i++) {
		/* There is no room for the pidfd. */
		pt_eq(syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, 1, 0, 0), -1);
		pt_eq(errno, EFAULT);
		copies_are(fd, in_common(2));
	}
	close(pt_open(&attr, 0, -1, -1, 0));
	copies_are(fd, 0);
}

/* Events come and go while children live: each counts for whom was forked after it. */
static void others_come_and_go(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p[3];
	u64 late;
	int fd;

	open_both();
	start_all(p, 1);
	copies_are(common, in_common(2));
	fd = pt_open(&attr, 0, -1, -1, 0);
	/* The parent has left, and begins another kin. */
	start_all(p + 1, 1);
	copies_are(common, 2 * in_common(2));
	copies_are(fd, in_common(2));
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

/* Who has an event of its own has left; its children are kin of their own. */
static void event_of_a_child(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p[2];
	int fd, sibling;

	open_both();
	start_all(p, 2);
	fd = pt_open(&attr, p[0].pid, -1, -1, 0);
	sibling = pt_open(&attr, p[0].pid, -1, fd, 0);
	copies_are(common, in_common(3) + 1);
	copies_are(fd, 0);
	work(p, 2, true);
	pt_eq(pt_count(fd), 3);
	pt_eq(pt_count(sibling), 3);
	make_duel();
	pt_eq(order(&p[0], FORK, 3), 0);
	agree();
	/* Both are in each child, of which there were three, one at a time. */
	pt_eq(pt_count(fd), pt_count(sibling));
	copies_are(fd, in_common(2));
	copies_are(common, in_common(3) + 1 + in_common(2));
	close(sibling);
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
	struct perf_event_attr attr = faults();
	struct puppet p[2];
	struct pt_read group;
	u64 alone;

	attr.read_format = PERF_FORMAT_GROUP;
	common = pt_open(&attr, 0, -1, -1, 0);
	start_all(p, 1);
	alone = pt_count(common);
	pt_eq(order(&p[0], FAULT, 9), 0);
	pt_open(&attr, 0, -1, common, 0);
	pt_eq(read_group(common), -ECHILD);
	stop(&p[0]);
	pt_settle();
	pt_read(common, attr.read_format, 2, &group);
	pt_check(group.v[0].value >= group.v[1].value + alone + 9, "the gone do not count");
	start_all(p + 1, 1);
	pt_ioctl(common, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	pt_eq(order(&p[1], FAULT, 9), 0);
	pt_read(common, attr.read_format, 2, &group);
	pt_eq(group.v[1].value, 9);
	stop(&p[1]);
}

static void *nothing(void *arg)
{
	return arg;
}

#define FREQUENCY	1000

/*
 * The tick adapts the period of the one context of a CPU, whoever is in. What the samples stand for
 * is all that was counted, but for the last period of each context: the kin's, and the one of the
 * task that the event was opened on. On Linux 6.12 each task has one.
 */
static void frequency(void)
{
	struct perf_event_attr attr = inherited(PT_HW(CPU_CYCLES));
	u64 sum = 0, most = 0, count, contexts = pt_is_stock() ? 3 : 2;
	static struct pt_record rec;
	unsigned int nr = 0;
	struct pt_sample s;
	struct puppet p[2];
	struct pt_ring r;
	int fd, i;

	pt_pin(0);
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	close(pt_open_hw(&attr, -1));
	if (!pt_time_is_exact())
		pt_skip("other CPUs share the time");
	attr.freq = 1;
	attr.sample_freq = FREQUENCY;
	attr.sample_type = PERF_SAMPLE_PERIOD | PERF_SAMPLE_TID;
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&r, fd, 64);
	start_all(p, 2);
	for (i = 0; i < 40; i++)
		pt_eq(order(&p[i % 2], SPIN, 5000000), 0);
	copies_are(fd, in_common(3));
	pt_disable(fd);
	count = pt_count(fd);
	while (pt_next(&r, &rec)) {
		if (rec.h.type != PERF_RECORD_SAMPLE)
			continue;
		pt_parse_sample(&attr, &rec, &s);
		sum += s.period;
		most = s.period > most ? s.period : most;
		nr++;
	}
	pt_check(sum <= count && count - sum <= contexts * most,
		 "%llu of %llu cycles, periods up to %llu", (unsigned long long)sum,
		 (unsigned long long)count, (unsigned long long)most);
	/* 400 ms of both tasks together */
	pt_check(nr > 300 && nr < 600, "%u samples", nr);
	for (i = 0; i < 2; i++)
		stop(&p[i]);
}

/* The least of some; the first fork after an open is the one that makes the kin. */
static u64 cost_of_a_thread(void)
{
	u64 least = ~0ull;
	int i;

	for (i = 0; i < 64; i++) {
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

static void open_more(struct perf_event_attr *attr, int cpu, int nr)
{
	while (nr--)
		pt_open(attr, 0, cpu, -1, 0);
}

/* Threads share descriptors, so that nothing else is linear. */
static void flat(struct perf_event_attr *attr, int cpu)
{
	struct rlimit many = { 2048, 2048 };
	u64 few, all;

	if (pt_is_stock())
		pt_skip("Linux 6.12 makes a copy for each task");
	if (!pt_time_is_exact())
		pt_skip("time does not count instructions here");
	pt_eq(setrlimit(RLIMIT_NOFILE, &many), 0);
	open_more(attr, cpu, 10);
	cost_of_a_thread();
	few = cost_of_a_thread();
	open_more(attr, cpu, 990);
	all = cost_of_a_thread();
	pt_msg("a thread with 10 events: %llu ns, with 1,000: %llu ns", (unsigned long long)few,
	       (unsigned long long)all);
	/* A fourth is some seven instructions for each event: not even a walk of them. */
	pt_check(all * 4 <= few * 5, "1,000 events cost more than 10");
}

static void flat_software(void)
{
	struct perf_event_attr attr = faults();

	flat(&attr, -1);
}

static void flat_hardware(void)
{
	struct perf_event_attr attr = inherited(PT_HW(INSTRUCTIONS));

	attr.exclude_kernel = 1;
	close(pt_open_hw(&attr, -1));
	flat(&attr, -1);
}

static void flat_by_cpu(void)
{
	struct perf_event_attr attr = faults();

	flat(&attr, 0);
}

#define THREADS	100

static void *wait_for_all(void *barrier)
{
	pthread_barrier_wait(barrier);
	pt_fault(3);
	pthread_barrier_wait(barrier);
	return NULL;
}

/* Copies of members that are gone are in no family any more: a sibling may come. */
static void sibling_after_the_last(void)
{
	u64 format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	struct perf_event_attr attr = faults();
	struct puppet p;
	struct pt_read r;
	int fd;

	attr.read_format = format;
	fd = pt_open(&attr, 0, -1, -1, 0);
	start(&p);
	stop(&p);
	pt_open(&attr, 0, -1, fd, 0);
	pt_read(fd, format, 2, &r);
	pt_eq(r.nr, 2);
	pt_check(r.v[0].value > r.v[1].value, "%llu faults, %llu since", (unsigned long long)
		 r.v[0].value, (unsigned long long)r.v[1].value);
}

/* As perf record has it: an event for each CPU, which has one copy, and thus one for any a few. */
static void many_threads(void)
{
	struct perf_event_attr attr = faults();
	int cpus = pt_online_cpus(), fd[CPUS_MAX], i;
	pthread_t thread[THREADS];
	pthread_barrier_t barrier;
	u64 sum = 0;

	open_both();
	for (i = 0; i < cpus; i++)
		fd[i] = pt_open(&attr, 0, i, -1, 0);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++) {
		pt_need(!pthread_create(&thread[i], NULL, wait_for_all, &barrier), "thread");
		copies_are(common, possible_cpus());
		copies_are(fd[0], 1);
	}
	for (i = 0; i < 2; i++)
		pthread_barrier_wait(&barrier);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	copies_are(common, possible_cpus());
	pt_settle();
	agree();
	/* Those of single CPUs were opened a little later, and by then were all settled. */
	for (i = 0; i < cpus; i++)
		sum += pt_count(fd[i]);
	pt_check(sum >= 3 * THREADS && sum <= pt_count(common), "%llu faults by CPU, %llu in all",
		 (unsigned long long)sum, (unsigned long long)pt_count(common));
}

#define MANY	24		/* more events than a CPU has counters */
#define TURNS	30000000

/* The one context of a CPU rotates, whoever is in: each event has its share of both tasks. */
static void multiplexed(void)
{
	struct perf_event_attr attr = inherited(PT_HW(INSTRUCTIONS));
	struct puppet p[2];
	struct pt_read r;
	int fd[MANY], i;
	u64 scaled;

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.read_format = TIMES;
	for (i = 0; i < MANY; i++)
		fd[i] = pt_open_hw(&attr, -1);
	if (!pt_time_is_exact())
		pt_skip("other CPUs share the time");
	start_all(p, 2);
	copies_are(fd[0], in_common(3));
	for (i = 0; i < 2; i++)
		send(&p[i], SPIN, TURNS);
	for (i = 0; i < 2; i++)
		pt_eq(answer(&p[i]), 0);
	for (i = 0; i < MANY; i++) {
		pt_read(fd[i], TIMES, 1, &r);
		pt_check(r.running && r.running < r.enabled, "event %d ran %llu of %llu", i,
			 (unsigned long long)r.running, (unsigned long long)r.enabled);
		scaled = r.v[0].value * (r.enabled / 1000) / (r.running / 1000);
		/* Two instructions a turn, of both. */
		pt_check(scaled > 36ull * TURNS / 10 && scaled < 44ull * TURNS / 10,
			 "event %d scaled to %llu", i, (unsigned long long)scaled);
	}
	for (i = 0; i < 2; i++)
		stop(&p[i]);
}

/* Members of two cgroups: the faults of each are those of its own. */
static void in_two_cgroups(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS_MIN)), all = faults();
	struct puppet p[2];
	const char *dir[2];
	u64 before[2];
	int fd[2], i, k;

	pt_pin(0);
	cg_make("");
	dir[0] = cg_make("/a");
	dir[1] = cg_make("/b");
	for (i = 0; i < 2; i++)
		fd[i] = cg_open(&attr, dir[i], 0, -1);
	common = pt_open(&all, 0, -1, -1, 0);
	for (i = 0; i < 2; i++) {
		start(&p[i]);
		pt_eq(cg_enter_path(dir[i], p[i].pid), 0);
		pt_eq(order(&p[i], NOTHING, 0), 0);
	}
	copies_are(common, in_common(3));
	for (k = 0; k < 6; k++) {
		i = k % 2;
		before[0] = pt_count(fd[0]);
		before[1] = pt_count(fd[1]);
		pt_eq(order(&p[i], FAULT, 10), 0);
		pt_eq(pt_count(fd[i]) - before[i], 10);
		pt_eq(pt_count(fd[!i]) - before[!i], 0);
	}
	for (i = 0; i < 2; i++)
		stop(&p[i]);
	cg_remove_all();
}

/* The hardware's call stack is each task's own: these are not in common. */
static void call_stacks(void)
{
	struct perf_event_attr attr = inherited(PT_HW(INSTRUCTIONS));
	struct puppet p[CPUS_MAX + 1];
	int i, fd, nr = possible_cpus() + 1;

	attr.exclude_kernel = 1;
	attr.sample_period = 1ull << 30;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER;
	if (pt_probe(&attr))
		pt_skip("no call stacks of branches");
	if (nr > (int)PT_ARRAY_SIZE(p))
		pt_skip("more than %d CPUs", CPUS_MAX);
	fd = pt_open(&attr, 0, -1, -1, 0);
	start_all(p, nr);
	copies_are(fd, nr);
	for (i = 0; i < nr; i++)
		stop(&p[i]);
}

#define LONG	100		/* a period */

/* Overflows since the last look. */
static int signals(const sigset_t *set)
{
	const struct timespec at_once = {};
	int n = 0;

	while (sigtimedwait(set, NULL, &at_once) > 0)
		n++;
	return n;
}

static void let_fault(struct puppet *p, int n)
{
	pt_eq(order(p, n ? FAULT : NOTHING, n), 0);
	pt_peer_asleep(&(struct pt_peer){ .pid = p->pid });
}

/* Each CPU keeps the copy that it has, as long as there are enough: so do periods go on. */
static void copies_stay(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p[2];
	cpu_set_t cpu;
	sigset_t set;
	int fd, i, k;

	if (pt_is_stock())
		pt_skip("Linux 6.12 makes a copy for each task");
	if (pt_online_cpus() < 3)
		pt_skip("needs three CPUs");
	pt_pin(0);
	attr.sample_period = LONG;
	fd = pt_open(&attr, 0, -1, -1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pt_need(!sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask: %s", strerror(errno));
	pt_need(!fcntl(fd, F_SETOWN, getpid()), "F_SETOWN: %s", strerror(errno));
	pt_need(!fcntl(fd, F_SETSIG, SIGRTMIN), "F_SETSIG: %s", strerror(errno));
	pt_need(!fcntl(fd, F_SETFL, O_ASYNC), "F_SETFL: %s", strerror(errno));
	start_all(p, 2);
	copies_are(fd, in_common(3));
	for (i = 0; i < 2; i++) {
		CPU_ZERO(&cpu);
		CPU_SET(1 + i, &cpu);
		pt_eq(sched_setaffinity(p[i].pid, sizeof(cpu), &cpu), 0);
		let_fault(&p[i], 0);
	}
	pt_settle();
	signals(&set);
	for (k = 0; k < 9; k++)
		for (i = 0; i < 2; i++)
			let_fault(&p[i], 11);
	pt_eq(signals(&set), 0);
	for (i = 0; i < 2; i++) {
		let_fault(&p[i], 1);
		pt_eq(signals(&set), 1);
	}
	for (i = 0; i < 2; i++)
		stop(&p[i]);
}

static const struct pt_case cases[] = {
	{ "living_and_gone", living_and_gone },
	{ "toggled", toggled },
	{ "reset", reset },
	{ "by_prctl", by_prctl },
	{ "fork_that_fails", fork_that_fails },
	{ "others_come_and_go", others_come_and_go },
	{ "event_of_a_child", event_of_a_child },
	{ "copies_stay", copies_stay },
	{ "sibling", sibling },
	{ "sibling_after_the_last", sibling_after_the_last },
	{ "many_threads", many_threads },
	{ "multiplexed", multiplexed },
	{ "frequency", frequency },
	{ "flat_software", flat_software },
	{ "flat_hardware", flat_hardware },
	{ "flat_by_cpu", flat_by_cpu },
	{ "in_two_cgroups", in_two_cgroups },
	{ "call_stacks", call_stacks },
};

PT_MAIN(cases)
