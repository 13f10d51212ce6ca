// SPDX-License-Identifier: GPL-2.0
/*
 * cross_call.c - calls that have to reach an event where its task runs, or on
 * its CPU.
 *
 * needs: smp
 */
#include "lib/ptest.h"
#include <pthread.h>

static volatile bool stop;

struct target {
	pid_t tid;
	bool wanders;
};

/* Runs all the time, on one CPU after the other. */
static void *run(void *arg)
{
	struct target *t = arg;
	int cpu, cpus = pt_online_cpus();

	__atomic_store_n(&t->tid, pt_tid(), __ATOMIC_RELEASE);
	for (cpu = 0; !stop; cpu = (cpu + 1) % cpus) {
		if (t->wanders)
			pt_pin(cpu);
		pt_spin(2000);
	}
	return NULL;
}

static void wait_for_progress(int fd, u64 before)
{
	while (pt_count(fd) == before)
		sched_yield();
}

/* A clock that samples has a timer on the CPU where its task is. */
static void calls_take_effect(bool wanders)
{
	struct perf_event_attr attr = pt_attr(PT_SW(TASK_CLOCK));
	struct target t = { .wanders = wanders };
	u64 count, period = 50000;
	pthread_t thread;
	int fd, i;

	attr.sample_period = period;
	attr.disabled = 1;
	pt_need(!pthread_create(&thread, NULL, run, &t), "thread");
	while (!__atomic_load_n(&t.tid, __ATOMIC_ACQUIRE))
		sched_yield();
	fd = pt_open(&attr, t.tid, -1, -1, 0);
	for (i = 0; i < 100; i++) {
		count = pt_count(fd);
		pt_enable(fd);
		wait_for_progress(fd, count);
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
		pt_disable(fd);
		/* Off is off at once. */
		count = pt_count(fd);
		pt_spin(5000);
		sched_yield();
		pt_eq(pt_count(fd), count);
		pt_reset(fd);
		pt_eq(pt_count(fd), 0);
	}
	stop = true;
	pthread_join(thread, NULL);
	/* It has exited: the same calls find nobody, and say nothing. */
	count = pt_count(fd);
	pt_enable(fd);
	pt_eq(pt_count(fd), count);
	pt_disable(fd);
}

static void calls_to_a_running_task(void)
{
	calls_take_effect(false);
}

static void calls_to_a_wandering_task(void)
{
	calls_take_effect(true);
}

static void *toggle(void *arg)
{
	int fd = *(int *)arg, i;

	for (i = 0; i < 200; i++) {
		pt_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		pt_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	}
	return NULL;
}

/* Two threads call at once; in the end it is what the last call said. */
static void calls_at_once(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	pthread_t t[2];
	u64 count;
	int fd, i;

	attr.sample_period = 50000;
	attr.disabled = 1;
	fd = pt_open(&attr, -1, pt_online_cpus() - 1, -1, 0);
	for (i = 0; i < 2; i++)
		pt_need(!pthread_create(&t[i], NULL, toggle, &fd), "thread");
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	count = pt_count(fd);
	pt_spin(100000);
	pt_eq(pt_count(fd), count);
	pt_enable(fd);
	wait_for_progress(fd, count);
}

static const struct pt_case cases[] = {
	{ "calls_to_a_running_task", calls_to_a_running_task },
	{ "calls_to_a_wandering_task", calls_to_a_wandering_task },
	{ "calls_at_once", calls_at_once },
};

PT_MAIN(cases)
