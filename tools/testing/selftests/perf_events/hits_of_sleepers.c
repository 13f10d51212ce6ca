// SPDX-License-Identifier: GPL-2.0
/*
 * hits_of_sleepers.c - tracepoints that tell of a task other than the running one: sched_wakeup is
 * a hit of the events of the task that is woken, which sleeps meanwhile.
 *
 * needs: smp
 */
#include "lib/hold.h"
#include "lib/sleeper.h"
#include <errno.h>
#include <sched.h>
#include <sys/ioctl.h>

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr wakeups(void)
{
	return pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("sched", "sched_wakeup"));
}

/* Linux 6.12 makes no samples then, and counts for events with a CPU only. */
static pid_t start_sleeper(void)
{
	if (pt_is_stock())
		pt_skip("this kernel makes no samples of what happens to a task that sleeps");
	return sleeper_start();
}

/* Without whom an interrupt wakes while the child runs. */
static int open_about(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = pt_open(attr, pid, cpu, -1, 0);
	char filter[32];

	snprintf(filter, sizeof(filter), "pid == %d", pid);
	pt_eq(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter), 0);
	pt_map(&ring, fd, 8);
	return fd;
}

/* Each turn wakes the child once; its events hear of it from the waker. */
static void about_a_sleeper(u64 period, int cpu, unsigned int turns)
{
	struct perf_event_attr attr = wakeups();
	int pid_at = pt_field_offset("sched", "sched_wakeup", "pid");
	unsigned int i, samples = 0;
	pid_t pid;
	int fd;

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
	pid = start_sleeper();
	fd = open_about(&attr, pid, cpu);
	pt_enable(fd);
	for (i = 0; i < turns; i++)
		sleeper_turn();
	pt_disable(fd);
	sleeper_turn();
	pt_eq(pt_count(fd), turns);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.pid, getpid());
		pt_eq(s.cpu, 0);
		pt_eq(*(const int *)(s.raw + pid_at), pid);
		samples++;
	}
	pt_eq(samples, turns / period);
	sleeper_stop(pid);
}

static void about_a_sleeping_task(void)
{
	about_a_sleeper(1, -1, 10);
}

static void about_a_sleeping_task_every_third(void)
{
	about_a_sleeper(3, -1, 20);
}

static void about_a_sleeping_task_on_this_cpu(void)
{
	about_a_sleeper(1, 0, 10);
}

/* The same on another CPU is no hit. sched_waking is where the waker is, wherever the task goes. */
static void about_a_sleeping_task_on_another_cpu(void)
{
	struct perf_event_attr attr = wakeups();
	pid_t pid;
	int fd;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	attr.config = pt_tracepoint_id("sched", "sched_waking");
	attr.sample_period = 1;
	pid = start_sleeper();
	fd = open_about(&attr, pid, 0);
	sleeper_turn();
	pt_eq(pt_count(fd), 1);
	pt_pin(1);
	sleeper_turn();
	pt_eq(pt_count(fd), 1);
	pt_pin(0);	/* it is asleep again before this returns */
	sleeper_turn();
	pt_eq(pt_count(fd), 2);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 2);
	sleeper_stop(pid);
}

/* It reaches its limit while its task sleeps. */
static void about_a_sleeping_task_until(void)
{
	struct perf_event_attr attr = wakeups();
	pid_t pid;
	int fd, i;

	attr.sample_period = 1;
	pid = start_sleeper();
	fd = open_about(&attr, pid, -1);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), 0);
	for (i = 0; i < 10; i++)
		sleeper_turn();
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 3);
	pt_eq(pt_count(fd), 3);
	sleeper_stop(pid);
}

/* The waker is not the thread that is to wait. */
static void about_a_sleeping_task_holds_nobody(void)
{
	struct perf_event_attr attr = wakeups();
	pid_t pid;
	int fd, i;

	ext_need();
	attr.sample_period = 1;
	attr.disabled = 1;
	pid = start_sleeper();
	fd = open_about(&attr, pid, -1);
	pt_eq(notify(fd, 1, HOLD), 0);
	pt_enable(fd);
	for (i = 0; i < 3; i++)
		sleeper_turn();
	/* It has stopped, and told. */
	pt_eq(pt_count(fd), 1);
	pt_check(told(fd), "not told");
	sleeper_stop(pid);
}

/*
 * The registers at hand are those of the waker, whose user space is not shown to the owner of the
 * other task's event.
 */
static void no_user_space_of_the_waker(void)
{
	struct perf_event_attr attr = wakeups();
	unsigned int samples = 0;
	pid_t pid;
	u64 i;
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CALLCHAIN;
	attr.sample_regs_user = 1;
	attr.sample_stack_user = 512;
	pid = start_sleeper();
	fd = open_about(&attr, pid, -1);
	pt_enable(fd);
	sleeper_turn();
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.user_abi, PERF_SAMPLE_REGS_ABI_NONE);
		pt_eq(s.stack_size, 0);
		for (i = 0; i < s.nr_ips; i++)
			pt_check(s.ips[i] != PERF_CONTEXT_USER, "a user chain at %llu",
				 (unsigned long long)i);
		samples++;
	}
	pt_eq(samples, 1);
	sleeper_stop(pid);
}

/* The new period begins at once, though its task is on no CPU to be told. */
static void period_set_while_asleep(void)
{
	struct perf_event_attr attr = wakeups();
	pid_t pid;
	u64 period = 3;
	int fd, i;

	attr.sample_period = 1000;
	pid = start_sleeper();
	fd = open_about(&attr, pid, -1);
	pt_enable(fd);
	for (i = 0; i < 7; i++)
		sleeper_turn();
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	pt_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), 0);
	for (i = 0; i < 6; i++)
		sleeper_turn();
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 2);
	period = 2;
	pt_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), 0);
	for (i = 0; i < 6; i++)
		sleeper_turn();
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 3);
	pt_eq(pt_count(fd), 19);
	sleeper_stop(pid);
}

static u64 turns(int fd, unsigned int times)
{
	u64 count = pt_count(fd), ns = pt_clock(CLOCK_MONOTONIC);
	unsigned int i;

	for (i = 0; i < times; i++)
		sleeper_turn();
	ns = pt_clock(CLOCK_MONOTONIC) - ns;
	pt_eq(pt_count(fd), count + times);
	return ns;
}

/* A wake-up looks for events of tracepoints, under locks of the scheduler: at no others. */
static void wakeup_passes_over_other_events(void)
{
	struct perf_event_attr attr = wakeups(), other = pt_attr(PT_SW(DUMMY));
	u64 few, many;
	pid_t pid;
	int fd, i;

	if (!pt_time_is_exact())
		pt_skip("this machine does not count instructions exactly");
	attr.sample_period = 1000000;
	pid = start_sleeper();
	fd = open_about(&attr, pid, -1);
	turns(fd, 20);
	few = turns(fd, 20);
	for (i = 0; i < 900; i++)
		pt_open(&other, pid, -1, -1, 0);
	turns(fd, 20);
	many = turns(fd, 20);
	/* 18,000 looks at an event; a tick more or less does not matter. */
	pt_check(many < few + 18000, "20 wake-ups: %llu ns, with 900 other events %llu ns",
		 (unsigned long long)few, (unsigned long long)many);
	sleeper_stop(pid);
}

static void sleep_then_fault(void *arg)
{
	int *go = arg;

	pt_gate_wait(go);
	pt_fault(90);
}

/* Hit by the task itself: no sample before the first new period is over. */
static void software_period_set_while_asleep(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 period = 30, faults;
	int fd, go[2];
	pid_t pid;

	attr.sample_period = 1000000000;
	pt_pin(0);
	pt_gate_make(go);
	pid = pt_fork(sleep_then_fault, go);
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	pt_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), 0);
	pt_gate_open(go);
	pt_reap(pid);
	faults = pt_count(fd);
	pt_check(faults >= 90, "%llu faults", (unsigned long long)faults);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), (int)(faults / period));
}

static const struct pt_case cases[] = {
	{ "about_a_sleeping_task", about_a_sleeping_task },
	{ "about_a_sleeping_task_every_third", about_a_sleeping_task_every_third },
	{ "about_a_sleeping_task_on_this_cpu", about_a_sleeping_task_on_this_cpu },
	{ "about_a_sleeping_task_on_another_cpu", about_a_sleeping_task_on_another_cpu },
	{ "about_a_sleeping_task_until", about_a_sleeping_task_until },
	{ "about_a_sleeping_task_holds_nobody", about_a_sleeping_task_holds_nobody },
	{ "no_user_space_of_the_waker", no_user_space_of_the_waker },
	{ "wakeup_passes_over_other_events", wakeup_passes_over_other_events },
	{ "period_set_while_asleep", period_set_while_asleep },
	{ "software_period_set_while_asleep", software_period_set_while_asleep },
};

PT_MAIN(cases)
