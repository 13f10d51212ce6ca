// SPDX-License-Identifier: GPL-2.0
/*
 * task_data.c - memory of a driver for each task, while an event wants it: each task that the event
 * counts has it, and all of it is given back. What Intel's driver keeps there: x86_lbr_tasks.c.
 *
 * The PMUs are test_sample and test_count (see pmu/); the kernel complains of what is left when
 * they are unloaded.
 */
#include "lib/ptest.h"

#define MODULE	"test_sample"

static struct perf_event_attr load(void)
{
	pt_pin(0);
	pt_load_module(MODULE, "task_data=1");
	return pt_attr((u32)pt_pmu_type(MODULE), 0);
}

/* In a child that comes and goes while there are events. */
static void fire_in_a_child(void)
{
	pid_t pid;

	pt_in_child(pid)
		pt_eq(pt_module_set(MODULE, "fire", 1), 0);
	pt_reap(pid);
}

static void of_a_task(void)
{
	struct perf_event_attr attr = load();
	int fd[2], i;

	attr.inherit = 1;
	for (i = 0; i < 2; i++)
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	fire_in_a_child();
	for (i = 0; i < 2; i++) {
		pt_eq(pt_count(fd[i]), 1);
		close(fd[i]);
	}
	pt_eq(pt_module_get(MODULE, "no_data"), 0);
}

/* Whose driver has memory for tasks, but who does not want any, gets none. */
static void not_wanted(void)
{
	struct perf_event_attr attr = load();
	int fd;

	attr.config1 = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_module_set(MODULE, "fire", 1), 0);
	pt_eq(pt_count(fd), 1);
	pt_eq(pt_module_get(MODULE, "vain_data"), 0);
	close(fd);
}

/* Tasks that are there, and those that come, have it until the last event ends; and once more. */
static void of_a_cpu(void)
{
	struct perf_event_attr attr = load();
	int fd[2], i, turn;

	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < 2; i++)
			fd[i] = pt_open(&attr, -1, 0, -1, 0);
		/* One that fails when it had the memory already: there is no buffer to write to. */
		pt_eq(pt_try_open(&attr, -1, 0, fd[0],
				  PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP), -EINVAL);
		fire_in_a_child();
		for (i = 0; i < 2; i++) {
			pt_eq(pt_count(fd[i]), 1);
			close(fd[i]);
		}
	}
}

/* What a task has while an event of a CPU wants it ends with the task, and not with the event. */
static void of_who_exits(void)
{
	int type = pt_pmu_type("kprobe"), freed;
	struct perf_event_attr attr, probe;

	if (type < 0 || pt_is_stock())
		pt_skip("no probe, or not in our function");
	attr = load();
	probe = pt_attr((u32)type, 0);
	probe.kprobe_func = pt_addr("free_kept_rcu");
	freed = pt_open(&probe, -1, 0, -1, 0);
	pt_open(&attr, -1, 0, -1, 0);
	pt_eq(pt_count(freed), 0);
	fire_in_a_child();
	/* The last event of a tracepoint closes and waits for RCU, which does this before. */
	attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", "sys_enter_getpgid"));
	close(pt_open(&attr, 0, -1, -1, 0));
	pt_check(pt_count(freed) >= 1, "it stays");	/* others may have exited here, too */
}

/*
 * At a switch the driver finds what is the task's own: of one that was there before the event, of
 * one that comes, and of one that has an event besides.
 */
static void found_at_a_switch(void)
{
	struct perf_event_attr attr;
	struct pt_peer peer[2];
	int fd, own, i;

	if (pt_is_stock())
		pt_skip("Linux 6.12 keeps nothing for an event of a CPU");
	pt_pin(0);
	pt_peer_start(&peer[0]);
	pt_load_module("test_count", "switches=1 task_data=1");
	attr = pt_attr((u32)pt_pmu_type("test_count"), 0);
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_peer_start(&peer[1]);
	for (i = 0; i < 2; i++)
		pt_peer_turn(&peer[i]);
	own = pt_open(&attr, 0, -1, -1, 0);
	for (i = 0; i < 2; i++)
		pt_peer_turn(&peer[i]);
	close(own);
	for (i = 0; i < 2; i++)
		pt_peer_turn(&peer[i]);
	/* The last one first: it has the pipe to the other one, too. */
	while (i--)
		pt_peer_stop(&peer[i]);
	close(fd);
	pt_check(pt_module_get("test_count", "nr_in") >= 6, "it was not told of each switch");
	pt_eq(pt_module_get("test_count", "no_data"), 0);
	pt_eq(pt_module_get("test_count", "wrong_data"), 0);
}

/* A driver is told which way a task goes: one that is away has gone once more than it came. */
static void goes_before_it_comes(void)
{
	struct perf_event_attr attr;
	int in, out;
	pid_t pid;

	pt_pin(0);
	pt_load_module("test_count", "switches=1");
	attr = pt_attr((u32)pt_pmu_type("test_count"), 0);
	pt_open(&attr, 0, -1, -1, 0);
	pt_in_child(pid) {
		/* Of one moment: the parent may have been here in between. */
		do {
			in = (int)pt_module_get("test_count", "nr_in");
			out = (int)pt_module_get("test_count", "nr_out");
		} while ((int)pt_module_get("test_count", "nr_in") != in);
		pt_eq(out - in, 1);
	}
	pt_reap(pid);
}

static const struct pt_case cases[] = {
	{ "of_a_task", of_a_task },
	{ "not_wanted", not_wanted },
	{ "of_a_cpu", of_a_cpu },
	{ "of_who_exits", of_who_exits },
	{ "found_at_a_switch", found_at_a_switch },
	{ "goes_before_it_comes", goes_before_it_comes },
};

PT_MAIN(cases)
