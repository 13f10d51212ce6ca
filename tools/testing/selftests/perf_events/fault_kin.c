// SPDX-License-Identifier: GPL-2.0
/*
 * fault_kin.c - as fault.c: memory runs out while tasks begin or cease to have events in
 * common.
 */
#include "lib/inject.h"

#define MODULE	"test_count"

/* The module's, of all CPUs and of one, and page faults. */
static int in_common[3];

/* The events are the task's own after another one was opened and closed: the fork makes a kin. */
static int try_first_fork(void)
{
	struct perf_event_attr sw = pt_attr(PT_SW(DUMMY));
	int left = rest();

	sw.inherit = 1;
	close(pt_open(&sw, 0, -1, -1, 0));
	go_on(left);
	return try_fork();
}

static u64 copies(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < 2; i++) {
		const char *have = pt_fdinfo(in_common[i], "copies");

		sum += have ? strtoull(have, NULL, 0) : 0;
	}
	return sum;
}

static bool all_are_copies(void)
{
	return pt_module_get(MODULE, "nr_events") == (long long)(2 + copies());
}

/*
 * What is left are the opened ones and their copies, some of which a worker may be about to take
 * away; they count once, in whatever context.
 */
static void counts_are_right(void)
{
	u64 before[3];
	int i;

	for (i = 0; !pt_is_stock() && i < 5000 && !all_are_copies(); i++)
		pt_switch_out();
	pt_check(pt_is_stock() || all_are_copies(), "%lld events and %llu copies",
		 pt_module_get(MODULE, "nr_events"), (unsigned long long)copies());
	for (i = 0; i < 3; i++)
		before[i] = pt_count(in_common[i]);
	pt_eq(pt_module_set(MODULE, "hit", 5), 0);
	pt_fault(3);
	pt_eq(pt_count(in_common[0]), before[0] + 5);
	pt_eq(pt_count(in_common[1]), before[1] + 5);
	pt_check(pt_count(in_common[2]) >= before[2] + 3, "the sibling stands still");
}

static void open_in_common(void)
{
	struct perf_event_attr attr, sw = pt_attr(PT_SW(PAGE_FAULTS));

	need_injection();
	pt_load_module(MODULE, NULL);
	pt_pin(0);
	attr = pt_attr((u32)pt_pmu_type(MODULE), 0);
	attr.inherit = 1;
	sw.inherit = 1;
	in_common[0] = pt_open(&attr, 0, -1, -1, 0);
	in_common[1] = pt_open(&attr, 0, 0, -1, 0);
	in_common[2] = pt_open(&sw, 0, -1, in_common[0], 0);
}

static void first_of_a_kin(void)
{
	open_in_common();
	all_turns(try_first_fork, counts_are_right);
}

/* Another one is a member already, and a third needs one more context, if there are CPUs. */
static int try_later_fork(void)
{
	struct perf_event_attr sw = pt_attr(PT_SW(DUMMY));
	int left = rest(), ret;
	pid_t pid;

	sw.inherit = 1;
	close(pt_open(&sw, 0, -1, -1, 0));
	pt_in_child(pid)
		for (;;)
			pause();
	go_on(left);
	ret = try_fork();
	left = rest();
	pt_kill(pid);
	go_on(left);
	return ret;
}

static void later_of_a_kin(void)
{
	open_in_common();
	all_turns(try_later_fork, counts_are_right);
}

/* A member gets an event, and with it a context of its own with copies of what is in common. */
static int try_open_on_member(void)
{
	struct perf_event_attr sw = pt_attr(PT_SW(DUMMY));
	int left = rest(), fd;
	pid_t pid;

	pt_in_child(pid)
		for (;;)
			pause();
	go_on(left);
	fd = pt_try_open(&sw, pid, -1, -1, 0);
	left = rest();
	if (fd >= 0)
		close(fd);
	pt_kill(pid);
	go_on(left);
	return fd < 0 ? fd : 0;
}

static void copies_of_its_own(void)
{
	open_in_common();
	all_turns(try_open_on_member, counts_are_right);
}

static const struct pt_case cases[] = {
	{ "first_of_a_kin", first_of_a_kin },
	{ "later_of_a_kin", later_of_a_kin },
	{ "copies_of_its_own", copies_of_its_own },
};

PT_MAIN(cases)
