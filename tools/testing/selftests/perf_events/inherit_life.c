// SPDX-License-Identifier: GPL-2.0
/*
 * inherit_life.c - inherited events and what may come between fork and exit: the event
 * is closed, mapped, opened meanwhile, children come and go by the hundred or are killed.
 *
 * needs: smp hw
 */
#include "lib/calls.h"
#include "lib/hold.h"
#include "lib/slow_fork.h"
#include "lib/test_count.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>

static void many_children(void)
{
	struct perf_event_attr attr = calls();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	pid_t pid[40];
	int i;

	for (i = 0; i < 40; i++) {
		pt_in_child(pid[i])
			call(3);
	}
	for (i = 0; i < 40; i++)
		pt_reap(pid[i]);
	pt_eq(pt_count(fd), 120);
}

static void closed_while_children_live(void)
{
	struct perf_event_attr attr = calls();
	struct puppet p;
	int i;

	for (i = 0; i < 10; i++) {
		int a = pt_open(&attr, 0, -1, -1, 0);
		int b = pt_open(&attr, 0, -1, a, 0);

		puppet_start(&p);
		puppet_call(&p, 3);
		close(i & 1 ? a : b);
		puppet_call(&p, 3);
		pt_eq(pt_count(i & 1 ? b : a), 6);
		close(i & 1 ? b : a);
		puppet_call(&p, 3);
		puppet_stop(&p);
	}
}

static void of_another_task(void)
{
	struct perf_event_attr attr = calls();
	int go[2], fd;
	pid_t pid;

	pt_gate_make(go);
	pt_in_child(pid) {
		pid_t inner;

		pt_gate_wait(go);
		pt_in_child(inner)
			call(10);
		call(10);
		pt_reap(inner);
	}
	fd = pt_open(&attr, pid, -1, -1, 0);
	call(100);
	pt_gate_open(go);
	pt_reap(pid);
	pt_eq(pt_count(fd), 20);
}

/* Children write where the parent's event writes, also when that changes later. */
static void buffer_mapped_after_fork(void)
{
	struct perf_event_attr attr = calls();
	struct puppet p;
	struct pt_ring r;
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	attr.wakeup_events = 1;
	keep_contexts_apart();
	pt_pin(0);
	fd = pt_open(&attr, 0, 0, -1, 0);
	puppet_start(&p);
	puppet_call(&p, 3);
	pt_map(&r, fd, 4);
	puppet_call(&p, 5);
	{
		struct pollfd pfd = { .fd = fd, .events = POLLIN };

		/* The one who polls is woken by the child's samples. */
		pt_eq(poll(&pfd, 1, 0), 1);
		pt_eq(pfd.revents, POLLIN);
	}
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 5);
	pt_unmap(&r);
	puppet_call(&p, 2);
	pt_map(&r, fd, 2);
	puppet_call(&p, 1);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 1);
	puppet_stop(&p);
	pt_eq(pt_count(fd), 11);
}

struct race {
	pthread_barrier_t start;
	struct perf_event_attr attr;
	bool stop;
};

static void *open_and_close(void *arg)
{
	struct race *race = arg;

	pthread_barrier_wait(&race->start);
	while (!__atomic_load_n(&race->stop, __ATOMIC_ACQUIRE)) {
		int lead = pt_try_open(&race->attr, getpid(), -1, -1, 0);
		int sib = pt_try_open(&race->attr, getpid(), -1, lead, 0);

		close(lead);
		close(sib);
	}
	return NULL;
}

/* Fork against open and close of what is being inherited */
static void fork_races_open_and_close(void)
{
	struct race race = { .attr = calls() };
	int fd = pt_open(&race.attr, 0, -1, -1, 0);
	pthread_t t;
	int i;

	pthread_barrier_init(&race.start, NULL, 2);
	pt_need(!pthread_create(&t, NULL, open_and_close, &race), "thread");
	pthread_barrier_wait(&race.start);
	for (i = 0; i < 30; i++) {
		pid_t pid;

		pt_in_child(pid)
			call(2);
		pt_reap(pid);
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
	/* The one that was there all the time missed nothing. */
	pt_eq(pt_count(fd), 60);
}

/* Children killed in the middle of fork and work leave nothing behind. */
static void killed_children(void)
{
	struct perf_event_attr attr = calls();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	unsigned int i;
	u64 last = 0;

	for (i = 0; i < pt_turns(10); i++) {
		pid_t pid;

		pt_in_child(pid) {
			for (;;) {
				pid_t inner;

				pt_in_child(inner)
					_exit(0);
				call(1);
				pt_reap(inner);
			}
		}
		while (pt_count(fd) < last + 3)
			sched_yield();
		pt_kill(pid);
		pt_check(pt_count(fd) >= last + 3, "the sum shrank");
		last = pt_count(fd);
	}
}

static void call_5(void)
{
	call(5);
}

/* The child's copy is on or off as the others are since its fork. RESET changes neither. */
static void switched_while_the_task_forks(void)
{
	struct perf_event_attr attr = calls();
	struct slow_fork fork;
	int i, fd;

	attr.inherit_stat = 1;		/* a copy for each */
	for (i = 0; i < 3; i++) {
		slow_fork_start(&fork, call_5);
		attr.disabled = i == 1;
		fd = pt_open(&attr, fork.tid, -1, -1, 0);
		slow_fork_begin(&fork);
		if (i == 2)
			pt_reset(fd);
		else if (i)
			pt_enable(fd);
		else
			pt_disable(fd);
		slow_fork_end(&fork);
		pt_reap(fork.child);
		pt_eq(pt_count(fd), i ? 5 : 0);
		close(fd);
	}
}

static void call_40(void)
{
	call(40);
}

/* Its first period is that of a rule which came during the fork, and the end of that stops it. */
static void ruled_while_the_task_forks(void)
{
	struct perf_ext_periods rule = { .short_period = 10, .initial_period = 30 };
	struct perf_event_attr attr = calls();
	struct slow_fork fork;
	int fd;

	ext_need();
	attr.inherit_stat = 1;		/* a copy for each */
	attr.sample_period = 4;
	slow_fork_start(&fork, call_40);
	fd = pt_open(&attr, fork.tid, -1, -1, 0);
	slow_fork_begin(&fork);
	pt_eq(ext_periods(fd, &rule), 0);
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	slow_fork_end(&fork);
	pt_reap(fork.child);
	pt_eq(pt_count(fd), 30);
}

/* The period that has been found out for the parent, as its last sample tells it. */
static u64 last_period(struct perf_event_attr *attr, struct pt_ring *ring)
{
	static struct pt_record rec;
	struct pt_sample s = {};

	while (pt_next_of(ring, &rec, PERF_RECORD_SAMPLE))
		pt_parse_sample(attr, &rec, &s);
	pt_consume(ring);
	return s.period;
}

/* By frequency: the first period of a copy is the one that its parent has come to, and not 1. */
static void period_of_the_parent(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	static struct pt_record rec;
	struct pt_sample s = {};
	struct pt_ring ring;
	unsigned int i;
	u64 period;
	pid_t pid;

	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	pt_pin(0);
	attr.inherit = 1;
	attr.inherit_stat = 1;		/* a copy for each */
	attr.freq = 1;
	attr.sample_freq = 100;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
	pt_map(&ring, pt_open(&attr, 0, 0, -1, 0), 64);
	for (i = 0; i < 20; i++)
		pt_fault(1000);
	period = last_period(&attr, &ring);
	pt_need(period > 16, "faults are rare: a period of %llu", (unsigned long long)period);
	pt_in_child(pid) {
		for (i = 0; i < 8; i++)
			pt_fault((unsigned int)period);
	}
	pt_reap(pid);
	do {
		pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample of the child");
		pt_parse_sample(&attr, &rec, &s);
	} while (s.pid != (u32)pid);
	pt_check(s.period >= period / 8, "a period of %llu, the parent's was %llu",
		 (unsigned long long)s.period, (unsigned long long)period);
}

/* And it is as long as that: the first hit does not end it. */
static void whole_first_period(void)
{
	struct perf_event_attr attr;
	static struct pt_record rec;
	struct pt_ring ring;
	u64 n = 1, before;
	pid_t pid;
	int fd;

	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	load(NULL);
	attr = hits();
	attr.inherit = 1;
	attr.inherit_stat = 1;		/* a copy for each */
	attr.freq = 1;
	attr.sample_freq = 100;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&ring, fd, 64);
	do {
		hit(n);
		n *= 2;
		pt_need(n < 1ull << 40, "the period stays short");
	} while (last_period(&attr, &ring) <= 16);
	before = pt_count(fd);
	pt_in_child(pid)
		hit(1);
	pt_reap(pid);
	pt_eq(pt_count(fd), before + 1);
	pt_check(!pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "a sample of the first hit");
}

static const struct pt_case cases[] = {
	{ "many_children", many_children },
	{ "closed_while_children_live", closed_while_children_live },
	{ "of_another_task", of_another_task },
	{ "buffer_mapped_after_fork", buffer_mapped_after_fork },
	{ "fork_races_open_and_close", fork_races_open_and_close },
	{ "killed_children", killed_children },
	{ "switched_while_the_task_forks", switched_while_the_task_forks },
	{ "ruled_while_the_task_forks", ruled_while_the_task_forks },
	{ "period_of_the_parent", period_of_the_parent },
	{ "whole_first_period", whole_first_period },
};

PT_MAIN(cases)
