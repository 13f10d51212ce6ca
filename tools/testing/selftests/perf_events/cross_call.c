// SPDX-License-Identifier: GPL-2.0
/*
 * cross_call.c - calls that have to reach an event where its task runs, or on
 * its CPU.
 *
 * needs: smp
 */
#include "lib/cgroup.h"
#include "lib/sets.h"
#include <poll.h>
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

/* A set that is on no CPU is closed in its turn: the next one begins where the task runs. */
static void turn_after_a_close(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct pollfd p = { .events = POLLIN };
	static struct pt_record rec;
	struct pt_ring ring;
	struct pt_sample s;
	int first, ready[2];
	pid_t pid;

	ext_need();
	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	pt_pin(0);
	pt_gate_make(ready);
	pt_in_child(pid) {
		pt_pin(1);
		pt_gate_open(ready);
		for (;;)
			pt_spin(1000);
	}
	pt_gate_wait(ready);
	attr.disabled = 1;
	first = pt_open(&attr, pid, -1, -1, 0);
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = 100000;
	attr.sample_type = PERF_SAMPLE_CPU;
	attr.wakeup_events = 1;
	p.fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&ring, p.fd, 4);
	pt_eq(set_join(first, -1, 0), 0);
	pt_eq(set_join(p.fd, first, 1), 0);
	pt_enable(first);
	pt_enable(p.fd);
	close(first);
	pt_eq(poll(&p, 1, 10000), 1);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.cpu, 1);
	}
	pt_kill(pid);
}

/*
 * While a clock of it has a timer, a group is switched on and off on its CPU. When the clock has
 * left, what counts by itself is switched from here.
 */
static void clock_leaves(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int lead, clock, calls;
	u64 before;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	if (pt_is_stock())
		pt_skip("the function is ours");
	pt_pin(0);
	calls = pt_open_cross_calls("pe_call_arrives", 0);
	lead = pt_open(&attr, -1, 1, -1, 0);
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = 10000000000ull;	/* none comes */
	clock = pt_open(&attr, -1, 1, lead, 0);
	before = pt_count(calls);
	pt_disable(lead);
	pt_enable(lead);
	pt_eq(pt_count(calls) - before, 2);
	close(clock);
	before = pt_count(calls);
	pt_disable(lead);
	pt_enable(lead);
	pt_eq(pt_count(calls) - before, 0);
}

/* How many calls it takes to set an event of another CPU back, five times. */
static u64 calls_for_resets(int calls, int fd)
{
	u64 before = pt_count(calls);
	int i;

	for (i = 0; i < 5; i++)
		pt_reset(fd);
	return pt_count(calls) - before;
}

/*
 * A count that the hits of a CPU add to, one by one, is set back there, whichever CPU that is. One
 * that only follows them is set back right here.
 */
static void resets_elsewhere(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int calls, counts, samples, cpu;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	if (pt_is_stock())
		pt_skip("the function is ours");
	for (cpu = 0; cpu < 2; cpu++) {
		pt_pin(!cpu);
		calls = pt_open_cross_calls("pe_call_arrives", !cpu);
		attr.sample_period = 0;
		counts = pt_open(&attr, -1, cpu, -1, 0);
		attr.sample_period = 1000000;
		samples = pt_open(&attr, -1, cpu, -1, 0);
		pt_eq(calls_for_resets(calls, counts), 0);
		pt_eq(calls_for_resets(calls, samples), 5);
		close(samples);
		close(counts);
		close(calls);
	}
}

/* A group whose counts hits add to is set back as a whole: the CPU is called once. */
static void reset_of_a_group(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int calls, lead, i;
	u64 before;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	if (pt_is_stock())
		pt_skip("the function is ours");
	pt_pin(0);
	calls = pt_open_cross_calls("pe_call_arrives", 0);
	attr.sample_period = 1000000;
	lead = pt_open(&attr, -1, 1, -1, 0);
	for (i = 0; i < 2; i++)
		pt_open(&attr, -1, 1, lead, 0);
	before = pt_count(calls);
	pt_eq(pt_ioctl(lead, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), 0);
	pt_eq(pt_count(calls) - before, 1);
}

/* A copy that is off is read right here, wherever its task runs. */
static void copy_that_is_off(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	int calls, there[2], fd, i;
	u64 before;
	pid_t pid;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	if (pt_is_stock())
		pt_skip("the function is ours");
	attr.sample_period = 1ull << 62;	/* a timer is what a CPU has of it */
	attr.inherit = 1;
	attr.inherit_stat = 1;			/* each task keeps its own */
	pt_pin(0);
	calls = pt_open_cross_calls("pe_call_arrives", 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_gate_make(there);
	pt_in_child(pid) {
		pt_first_on_cpu(1);
		pt_gate_open(there);
		for (;;)
			pt_spin(1000);
	}
	pt_gate_wait(there);
	before = pt_count(calls);
	pt_count(fd);
	pt_disable(fd);
	pt_check(pt_count(calls) > before, "it is on, and nobody is called");
	before = pt_count(calls);
	for (i = 0; i < 10; i++)
		pt_count(fd);
	pt_eq(pt_count(calls) - before, 0);
	pt_kill(pid);
}

/*
 * With its first event of a cgroup a CPU is asked in which one it is. The next is added from here,
 * where the cgroup of the task that opens it has no say.
 */
static void second_of_a_cgroup(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	const u64 times = PERF_FORMAT_TOTAL_TIME_ENABLED;
	const char *a, *b;
	struct pt_read r;
	int first, second;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	a = cg_make("");
	b = cg_make("/b");
	pt_pin(0);
	cg_enter(b);
	attr.read_format = times;
	first = cg_open(&attr, a, 1, -1);
	second = cg_open(&attr, b, 1, -1);
	pt_spin(100000);
	pt_read(first, times, 1, &r);
	pt_eq(r.enabled, 0);
	pt_read(second, times, 1, &r);
	pt_eq(r.enabled, 0);
	close(second);
	close(first);
	cg_remove_all();
}

static const struct pt_case cases[] = {
	{ "calls_to_a_running_task", calls_to_a_running_task },
	{ "calls_to_a_wandering_task", calls_to_a_wandering_task },
	{ "calls_at_once", calls_at_once },
	{ "turn_after_a_close", turn_after_a_close },
	{ "clock_leaves", clock_leaves },
	{ "resets_elsewhere", resets_elsewhere },
	{ "reset_of_a_group", reset_of_a_group },
	{ "copy_that_is_off", copy_that_is_off },
	{ "second_of_a_cgroup", second_of_a_cgroup },
};

PT_MAIN(cases)
