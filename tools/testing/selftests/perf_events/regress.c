// SPDX-License-Identifier: GPL-2.0
/*
 * regress.c - classes of bugs that perf_events has had and no other program
 * is about: see the table in Documentation/perf_events/testing.rst.
 */
#include "lib/ptest.h"
#include <pthread.h>
#include <signal.h>

/* ---- class 44: calls that have to reach an event where its task runs ---- */

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

static void class44_calls_to_a_running_task(void)
{
	calls_take_effect(false);
}

static void class44_calls_to_a_wandering_task(void)
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
static void class44_calls_at_once(void)
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

/* ---- class 50: a system call that the kernel emulates in a page fault ---- */

#ifdef __x86_64__
#define VSYSCALL_TIME	0xffffffffff600400ul
#define CALLS		50

static void call_vsyscall(void *arg)
{
	long (*vsyscall_time)(long *t) = (long (*)(long *))VSYSCALL_TIME;
	long before = time(NULL), now;
	int i;

	(void)arg;
	for (i = 0; i < CALLS; i++) {
		now = vsyscall_time(NULL);
		pt_check(now >= before && now <= before + 3600, "%ld after %ld", now, before);
	}
}

static void class50_vsyscall(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	static struct pt_record rec;
	static struct pt_sample s;
	struct pt_ring ring;
	int fd, status, n = 0;
	pid_t pid;

	pid = fork();
	if (!pid) {
		call_vsyscall(NULL);
		_exit(0);
	}
	pt_need(waitpid(pid, &status, 0) == pid, "waitpid");
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
		pt_skip("no vsyscall page");
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |
			   PERF_SAMPLE_STACK_USER | PERF_SAMPLE_PHYS_ADDR |
			   PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
	attr.sample_stack_user = 1024;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	call_vsyscall(NULL);
	pt_settle();
	pt_drain(&ring);
	pt_reset(fd);
	call_vsyscall(NULL);
	pt_eq(pt_count(fd), CALLS);
	pt_fault(5);
	pt_disable(fd);
	pt_eq(pt_count(fd), CALLS + 5);
	/* The page is neither read nor executed: its address is where the instruction should be. */
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.ip == VSYSCALL_TIME, n < CALLS);
		pt_eq(s.addr == VSYSCALL_TIME, n < CALLS);
		n++;
	}
	pt_eq(n, CALLS + 5);
}
#else
static void class50_vsyscall(void)
{
	pt_skip("of x86_64 only");
}
#endif

static const struct pt_case cases[] = {
	{ "class44_calls_to_a_running_task", class44_calls_to_a_running_task },
	{ "class44_calls_to_a_wandering_task", class44_calls_to_a_wandering_task },
	{ "class44_calls_at_once", class44_calls_at_once },
	{ "class50_vsyscall", class50_vsyscall },
};

PT_MAIN(cases)
