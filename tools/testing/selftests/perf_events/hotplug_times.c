// SPDX-License-Identifier: GPL-2.0
/*
 * hotplug_times.c - the times of events that are scheduled, when their CPU goes
 * and when they move to another one, also while they are switched on.
 *
 * needs: smp
 */
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
	pt_eq(pt_write_file("/sys/bus/event_source/devices/" MODULE "/perf_event_mux_interval_ms",
			    "10000"), 0);
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

static const struct pt_case cases[] = {
	{ "cpu_goes_and_returns", cpu_goes_and_returns },
	{ "page_of_one_that_waits", page_of_one_that_waits },
	{ "switched_on_its_way", switched_on_its_way },
};

PT_MAIN(cases)
