// SPDX-License-Identifier: GPL-2.0
/*
 * x86_nb.c - events of the northbridge on AMD's families 10h to 14h: counter n of one core of a
 * node at most may count one, as it is the same counter of the northbridge for all of them. There
 * are two nodes of two CPUs.
 *
 * On the emulated PMU such a counter counts one for 16 instructions of its node, in whatever ring;
 * one that another core takes stands still.
 *
 * needs: nb
 */
#include "lib/x86.h"

#define COUNTERS	4
#define EVENT		0x7e0		/* DRAM accesses, all of them */
#define PER_EVENT	16		/* instructions */
#define TIMES		(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define CPUS		4

static struct perf_event_attr memory(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_RAW, EVENT);

	attr.read_format = TIMES;
	return attr;
}

static void need_nb(void)
{
	x86_need_exact();
	if (x86_is_intel() || x86_general() != COUNTERS || pt_online_cpus() != CPUS)
		pt_skip("no counters that cores of two nodes share");
}

static int on_cpu(int cpu)
{
	struct perf_event_attr attr = memory();

	return pt_open(&attr, -1, cpu, -1, 0);
}

static struct pt_read now(int fd)
{
	struct pt_read r;

	pt_read(fd, TIMES, 1, &r);
	return r;
}

static void runs(int fd)
{
	struct pt_read r = now(fd);

	pt_check(r.running > 0, "it does not run");
	pt_eq(r.running, r.enabled);
}

static void runs_not(int fd)
{
	struct pt_read r = now(fd);

	pt_check(r.enabled > 0, "it is not enabled");
	pt_eq(r.running, 0);
	pt_eq(r.v[0].value, 0);
}

/* The counters of a CPU that are on with such an event, as a mask. */
static unsigned int counters_of(int cpu)
{
	unsigned int mask = 0, i;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	pt_need(fd >= 0, "%s: %s", path, strerror(errno));
	for (i = 0; i < COUNTERS; i++) {
		u64 v = 0;

		pt_need(pread(fd, &v, sizeof(v), X86_AMD_K7_SELECT0 + i) == sizeof(v), "select %u",
			i);
		if (v >> 22 & 1 && (v & 0xffff) == EVENT)
			mask |= 1u << i;
	}
	close(fd);
	return mask;
}

static void close_all(const int *fd, int nr)
{
	while (nr--)
		close(fd[nr]);
}

/* Two of each core of both nodes: within a node each has its own. */
static void each_has_its_own(void)
{
	int fd[2 * CPUS], i, node;

	need_nb();
	for (i = 0; i < 2 * CPUS; i++)
		fd[i] = on_cpu(i % CPUS);
	for (i = 0; i < 2 * CPUS; i++)
		runs(fd[i]);
	for (node = 0; node < 2; node++) {
		unsigned int a = counters_of(2 * node), b = counters_of(2 * node + 1);

		pt_eq(__builtin_popcount(a), 2);
		pt_eq(__builtin_popcount(b), 2);
		pt_eq(a & b, 0);
	}
	close_all(fd, 2 * CPUS);
	for (i = 0; i < CPUS; i++)
		pt_eq(counters_of(i), 0);
}

/* One core has all: the other gets none until one is given back; the other node has its own. */
static void none_is_left(void)
{
	int fd[COUNTERS], theirs[COUNTERS], late, i;

	need_nb();
	for (i = 0; i < COUNTERS; i++)
		fd[i] = on_cpu(0);
	late = on_cpu(1);
	for (i = 0; i < COUNTERS; i++)
		theirs[i] = on_cpu(2);
	pt_spin(10000000);
	for (i = 0; i < COUNTERS; i++) {
		runs(fd[i]);
		runs(theirs[i]);
	}
	runs_not(late);
	pt_eq(counters_of(0), 0xf);
	pt_eq(counters_of(1), 0);
	pt_eq(counters_of(2), 0xf);
	/* The CPU tries again each few milliseconds. */
	close(fd[2]);
	while (!now(late).running)
		pt_spin(100000);
	pt_eq(counters_of(0) | counters_of(1), 0xf);
	pt_eq(__builtin_popcount(counters_of(1)), 1);
	close(late);
	close_all(theirs, COUNTERS);
	close(fd[3]);
	close_all(fd, 2);
}

/* Events of the core itself are not affected. */
static void events_of_the_core(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int fd[COUNTERS], mine[COUNTERS], i;

	need_nb();
	for (i = 0; i < COUNTERS; i++)
		fd[i] = on_cpu(1);
	for (i = 0; i < COUNTERS; i++) {
		mine[i] = pt_open_hw(&attr, -1);
		x86_measured_spin(mine[i], 1000);
	}
	for (i = 0; i < COUNTERS; i++) {
		pt_eq(pt_count(mine[i]), X86_SPIN_COST(1000));
		runs(fd[i]);
	}
	close_all(mine, COUNTERS);
	close_all(fd, COUNTERS);
}

/* Whatever core asks, it hears of what the whole node does, and not of the other node. */
static void counts_the_node(void)
{
	const u64 turns = 1000000, least = X86_SPIN_COST(turns) / PER_EVENT;
	u64 before[CPUS], after[CPUS];
	int fd[CPUS], i;

	need_nb();
	for (i = 0; i < CPUS; i++) {
		fd[i] = on_cpu(i);
		before[i] = pt_count(fd[i]);
	}
	pt_spin(turns);
	for (i = 0; i < CPUS; i++)
		after[i] = pt_count(fd[i]) - before[i];
	pt_check(after[0] >= least, "%llu", (unsigned long long)after[0]);
	pt_check(after[1] >= least, "%llu", (unsigned long long)after[1]);
	pt_check(after[2] < least / 2, "%llu", (unsigned long long)after[2]);
	pt_check(after[3] < least / 2, "%llu", (unsigned long long)after[3]);
	close_all(fd, CPUS);
}

/* An event of a task gives its counter back wherever it goes. */
static void of_a_task(void)
{
	const u64 turns = 100000, least = X86_SPIN_COST(turns) / PER_EVENT;
	struct perf_event_attr attr = memory();
	int fd[COUNTERS], all[COUNTERS], i, cpu;
	u64 count = 0;

	need_nb();
	for (i = 0; i < COUNTERS; i++)
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	for (i = 0; i < 3 * CPUS; i++) {
		cpu = i % CPUS;
		pt_pin(cpu);
		pt_spin(turns);
		pt_eq(counters_of(cpu), 0xf);
		pt_eq(counters_of(cpu ^ 1), 0);
		pt_check(pt_count(fd[0]) >= count + least, "%llu after %llu",
			 (unsigned long long)pt_count(fd[0]), (unsigned long long)count);
		count = pt_count(fd[0]);
	}
	for (i = 0; i < COUNTERS; i++)
		runs(fd[i]);
	close_all(fd, COUNTERS);
	for (cpu = 0; cpu < CPUS; cpu++) {
		for (i = 0; i < COUNTERS; i++)
			all[i] = on_cpu(cpu);
		for (i = 0; i < COUNTERS; i++)
			runs(all[i]);
		close_all(all, COUNTERS);
	}
}

/* Two events fit whatever the other core does with its two; nobody takes the other's. */
static void comes_and_goes(void *arg)
{
	const u64 turns = 2000, least = X86_SPIN_COST(turns) / PER_EVENT - 1;
	struct perf_event_attr attr = memory();
	unsigned int i, n = pt_turns(1000);
	int fd[2], k;

	pt_pin(*(int *)arg);
	while (n-- && !pt_failures()) {
		for (k = 0; k < 2; k++)
			fd[k] = pt_open(&attr, 0, -1, -1, 0);
		pt_spin(turns);
		for (k = 0; k < 2; k++) {
			struct pt_read r = now(fd[k]);

			pt_eq(r.running, r.enabled);
			pt_check(r.v[0].value >= least, "%llu", (unsigned long long)r.v[0].value);
		}
		for (i = 0; i < 3; i++) {
			pt_ioctl(fd[i & 1], PERF_EVENT_IOC_DISABLE, 0);
			pt_ioctl(fd[i & 1], PERF_EVENT_IOC_ENABLE, 0);
		}
		close_all(fd, 2);
	}
}

static void both_cores_at_once(void)
{
	int cpu[2] = { 0, 1 }, i;
	pid_t child[2];

	need_nb();
	for (i = 0; i < 2; i++)
		child[i] = pt_fork(comes_and_goes, &cpu[i]);
	for (i = 0; i < 2; i++)
		pt_reap(child[i]);
	pt_eq(counters_of(0) | counters_of(1), 0);
}

/* A core that goes offline leaves its counters, and finds its node again. */
static void core_that_leaves(void)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";
	int fd[COUNTERS], i;

	need_nb();
	for (i = 0; i < 2; i++)
		fd[i] = on_cpu(1);
	runs(fd[1]);
	pt_eq(pt_write_file(online, "0"), 0);
	close_all(fd, 2);
	for (i = 0; i < COUNTERS; i++)
		fd[i] = on_cpu(0);
	for (i = 0; i < COUNTERS; i++)
		runs(fd[i]);
	pt_eq(counters_of(0), 0xf);
	pt_eq(pt_write_file(online, "1"), 0);
	i = on_cpu(1);
	pt_spin(10000000);
	runs_not(i);
	close(i);
	close_all(fd, COUNTERS);
	for (i = 0; i < COUNTERS; i++)
		fd[i] = on_cpu(1);
	for (i = 0; i < COUNTERS; i++)
		runs(fd[i]);
	close_all(fd, COUNTERS);
}

static const struct pt_case cases[] = {
	{ "each_has_its_own", each_has_its_own },
	{ "none_is_left", none_is_left },
	{ "events_of_the_core", events_of_the_core },
	{ "counts_the_node", counts_the_node },
	{ "of_a_task", of_a_task },
	{ "both_cores_at_once", both_cores_at_once },
	{ "core_that_leaves", core_that_leaves },
};

PT_MAIN(cases)
