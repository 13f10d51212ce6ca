// SPDX-License-Identifier: GPL-2.0
/*
 * hotplug_times.c - the times of events that are scheduled, when their CPU goes
 * and when they move to another one, also while they are switched on; and what else may come
 * between: they are closed, they are throttled, their buffer has others that write to it, there are
 * some that stay. And the timers of a CPU that returns.
 *
 * needs: smp
 */
#include "lib/cgroup.h"
#include "lib/cpus.h"
#include "lib/rival.h"
#include "lib/test_count.h"

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* It is off, like one that only counts: its CPU comes back, and its times stand still. */
static void cpu_goes_and_returns(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	struct pt_read before, after;
	int fd;

	need_cpus(2);
	attr.sample_period = 10000000000ull;	/* none comes, but it has a timer */
	attr.read_format = TIMES;
	fd = pt_open(&attr, -1, 1, -1, 0);
	pt_eq(set_online(1, 0), 0);
	pt_read(fd, TIMES, 1, &before);
	pt_eq(set_online(1, 1), 0);
	pt_burn(1000000);
	pt_read(fd, TIMES, 1, &after);
	pt_eq(after.enabled, before.enabled);
	pt_eq(after.running, before.running);
}

static void set_interval(const char *ms)
{
	pt_eq(pt_write_file("/sys/bus/event_source/devices/" MODULE "/perf_event_mux_interval_ms",
			    ms), 0);
}

/* On its way no time passes, so the page of one that waits for its turn is written behind it. */
static void page_of_one_that_waits(void)
{
	struct perf_event_attr attr;
	struct pt_read before;
	struct pt_ring r;
	int on, waits;

	need_cpus(2);
	if (pt_is_stock())
		pt_skip("Linux 6.12 frees a PMU whose timer is armed");
	load("counters=1");
	set_interval("10000");
	attr = hits();
	attr.read_format = TIMES;
	on = pt_open(&attr, -1, 0, -1, 0);
	waits = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&r, waits, 0);
	pt_read(waits, TIMES, 1, &before);
	pt_eq(before.running, 0);
	pt_eq(pt_module_set(MODULE, "migrate", 1), 0);	/* 0 -> 1 */
	pt_check(r.page->time_enabled >= before.enabled, "page %llu, read before %llu",
		 (unsigned long long)r.page->time_enabled, (unsigned long long)before.enabled);
	pt_eq(r.page->time_running, 0);
	pt_unmap(&r);
	close(waits);
	close(on);
	none_left();
}

/* Nor do its times jump to the clock of the CPU where it arrives. */
static void times_go_on_there(void)
{
	struct pt_read before, after;
	struct perf_event_attr attr;
	const u64 slack = 8000000;	/* clocks of two CPUs, each right to a tick */
	u64 most;
	int fd;

	need_cpus(2);
	if (pt_is_stock())
		pt_skip("Linux 6.12 lets time pass on the way");
	load(NULL);
	attr = hits();
	attr.read_format = TIMES;
	most = pt_clock(CLOCK_MONOTONIC);
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_burn(40000000);
	pt_read(fd, TIMES, 1, &before);
	pt_eq(pt_module_set(MODULE, "migrate", 1), 0);	/* 0 -> 1 */
	pt_burn(1000000);
	pt_read(fd, TIMES, 1, &after);
	most = pt_clock(CLOCK_MONOTONIC) - most;
	pt_check(after.enabled > before.enabled && after.enabled <= most + slack,
		 "%llu after %llu, within %llu", (unsigned long long)after.enabled,
		 (unsigned long long)before.enabled, (unsigned long long)most);
	pt_eq(after.running, after.enabled);
	close(fd);
	none_left();
}

static void there_and_back(struct rival *r)
{
	(void)r;
	pt_eq(pt_module_set(MODULE, "migrate", 1), 0);		/* 0 -> 1 */
	pt_eq(pt_module_set(MODULE, "migrate", 1000), 0);	/* 1 -> 0 */
}

/* Most of the time it is on its way: what is switched on there is on when it arrives. */
static void switched_on_its_way(void)
{
	struct pt_read before, after;
	struct perf_event_attr attr;
	struct rival mover;
	unsigned int i;
	int fd;

	need_cpus(2);
	if (pt_is_stock())
		pt_skip("Linux 6.12 enables what moves");
	load(NULL);
	attr = hits();
	attr.disabled = 1;
	attr.read_format = TIMES;
	fd = pt_open(&attr, -1, 0, -1, 0);
	rival_start(&mover, there_and_back, fd, 0);
	for (i = 0; i < pt_turns(20) && !pt_failures(); i++) {
		/* The mover is in its call again. */
		let_others_run();
		pt_enable(fd);
		pt_read(fd, TIMES, 1, &before);
		let_others_run();
		pt_read(fd, TIMES, 1, &after);
		pt_check(after.enabled > before.enabled, "turn %u: not enabled", i);
		let_others_run();
		pt_disable(fd);
		pt_read(fd, TIMES, 1, &before);
		let_others_run();
		pt_read(fd, TIMES, 1, &after);
		pt_eq(after.enabled, before.enabled);
		/* This waits until it has arrived, and follows it there. */
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, -1ul), 0);
	}
	rival_stop(&mover);
	close(fd);
	none_left();
}

static void *move_it(void *from_to)
{
	pt_eq(pt_module_set(MODULE, "migrate", *(int *)from_to), 0);
	return NULL;
}

/* Taken away from its CPU, which a probe tells, it is closed: that waits until it has arrived. */
static void closed_on_its_way(void)
{
	static int from_to[2] = { 1, 1000 };	/* 0 -> 1, 1 -> 0 */
	int type = pt_pmu_type("kprobe"), taken[2], fd, cpu;
	struct perf_event_attr attr, probe;
	unsigned int i;
	pthread_t t;
	u64 before;

	need_cpus(2);
	if (type < 0 || pt_is_stock())
		pt_skip("no probe, or not in our function");
	load(NULL);
	attr = hits();
	probe = pt_attr((u32)type, 0);
	probe.kprobe_func = pt_addr("pe_group_take");
	for (cpu = 0; cpu < 2; cpu++)
		taken[cpu] = pt_open(&probe, -1, cpu, -1, 0);
	for (i = 0; i < pt_turns(20) && !pt_failures(); i++) {
		cpu = i & 1;
		fd = pt_open(&attr, -1, cpu, -1, 0);
		before = pt_count(taken[cpu]);
		pt_need(!pthread_create(&t, NULL, move_it, &from_to[cpu]), "thread");
		while (pt_count(taken[cpu]) == before)
			let_others_run();
		close(fd);
		pthread_join(t, NULL);
	}
	none_left();
}

/* Others that write to the buffer may stay where they are: from now on all take turns. */
static void turns_in_its_buffer(void)
{
	int type = pt_pmu_type("kprobe"), turns, fd;
	struct perf_event_attr attr, probe;
	struct pt_ring r;

	need_cpus(2);
	if (type < 0 || pt_is_stock())
		pt_skip("no probe, or not in our function");
	load(NULL);
	probe = pt_attr((u32)type, 0);
	probe.kprobe_func = pt_addr("pe_buffer_crowd");
	turns = pt_open(&probe, 0, -1, -1, 0);
	attr = hits();
	pt_open(&attr, -1, 0, -1, 0);		/* without a buffer */
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&r, fd, 1);
	pt_eq(pt_count(turns), 0);
	pt_eq(pt_module_set(MODULE, "migrate", 1), 0);	/* 0 -> 1 */
	pt_eq(pt_count(turns), 1);
}

/* Throttled there, throttled here: the tick of this CPU lets it go on, if no other one has. */
static void throttled_before_and_after(void)
{
	struct perf_event_attr attr;
	struct pt_ring r;
	int fd, i, cpu;

	need_cpus(2);
	load(NULL);
	/* Each sample is one too many. */
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	attr = hits();
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&r, fd, 16);
	for (i = 0; i < 10; i++) {
		cpu = i % 2;
		hit(1);
		pt_pin(!cpu);
		pt_eq(pt_module_set(MODULE, "migrate", cpu ? 1000 : 1), 0);
		hit(1);
		pt_burn(30000000);	/* ticks */
		pt_eq(pt_count(fd), 3 * i + 2);
		hit(1);
		pt_eq(pt_count(fd), 3 * i + 3);
		pt_burn(30000000);
	}
}

static void open_two(struct perf_event_attr *attr, int *fd)
{
	fd[0] = pt_open(attr, -1, 1, -1, 0);
	fd[1] = pt_open(attr, -1, 1, -1, 0);
}

static void close_two(const int *fd)
{
	close(fd[1]);
	close(fd[0]);
}

/* The end of a turn is far away when the CPU goes; those of the events that come later are not. */
static void turns_start_afresh(void)
{
	struct perf_event_attr attr;
	struct pt_read waits;
	unsigned int ms = 0;
	int fd[2];

	need_cpus(2);
	if (pt_is_stock())
		pt_skip("Linux 6.12 frees a PMU whose timer is armed");
	load("counters=1");
	set_interval("1000000000");
	attr = hits();
	attr.read_format = TIMES;
	open_two(&attr, fd);
	pt_eq(set_online(1, 0), 0);
	close_two(fd);
	set_interval("1");
	pt_eq(set_online(1, 1), 0);
	open_two(&attr, fd);
	do {
		pt_burn(1000000);
		pt_read(fd[1], TIMES, 1, &waits);
	} while (!waits.running && ms++ < 10000);
	pt_check(waits.running > 0, "no turn in ten seconds");
	close_two(fd);
	none_left();
}

/* One of a cgroup stays on its CPU when the others of its PMU move. */
static void one_of_a_cgroup_stays(void)
{
	struct perf_event_attr attr;
	int stays, moves;
	const char *a;

	need_cpus(2);
	a = cg_make("");
	load(NULL);
	attr = hits();
	stays = cg_open(&attr, a, 0, -1);
	moves = pt_open(&attr, -1, 0, -1, 0);
	cg_enter(a);
	hit_on(0, 1);
	pt_eq(pt_module_set(MODULE, "migrate", 1), 0);	/* 0 -> 1 */
	hit_on(0, 5);
	hit_on(1, 7);
	pt_eq(pt_count(stays), 1 + 5);
	pt_eq(pt_count(moves), 1 + 7);
	cg_leave();
	close(stays);
	close(moves);
	none_left();
	cg_remove_all();
}

static const struct pt_case cases[] = {
	{ "cpu_goes_and_returns", cpu_goes_and_returns },
	{ "page_of_one_that_waits", page_of_one_that_waits },
	{ "times_go_on_there", times_go_on_there },
	{ "switched_on_its_way", switched_on_its_way },
	{ "closed_on_its_way", closed_on_its_way },
	{ "turns_in_its_buffer", turns_in_its_buffer },
	{ "throttled_before_and_after", throttled_before_and_after },
	{ "turns_start_afresh", turns_start_afresh },
	{ "one_of_a_cgroup_stays", one_of_a_cgroup_stays },
};

PT_MAIN(cases)
