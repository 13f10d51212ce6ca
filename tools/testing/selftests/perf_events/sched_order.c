// SPDX-License-Identifier: GPL-2.0
/*
 * sched_order.c - who has the counters of a CPU when there are too few of them: what is pinned
 * comes first, flexible events of the CPU come before those of its tasks, and who made room has it
 * back. With the test PMU, whose counts are exact. Turns: multiplex.c.
 */
#include "lib/test_count.h"

/* So many counters, and turns of so many ms. */
static void with_turns(const char *params, const char *interval)
{
	load(params);
	need_revoking();	/* Linux 6.12 frees a PMU whose timer is armed */
	pt_eq(pt_write_file("/sys/bus/event_source/devices/" MODULE "/perf_event_mux_interval_ms",
			    interval), 0);
}

/* None meanwhile. */
static void without_turns(const char *params)
{
	with_turns(params, "10000");
}

/* It has the counter of a task's event at once. */
static void newcomer_of_a_cpu(void)
{
	struct perf_event_attr attr;
	int task, cpu;

	without_turns("counters=1");
	attr = hits();
	task = pt_open(&attr, 0, -1, -1, 0);
	hit(1);
	cpu = pt_open(&attr, -1, 0, -1, 0);
	hit(2);
	pt_switch_out();
	hit(4);
	pt_eq(pt_count(task), 1);
	pt_eq(pt_count(cpu), 6);
	close(cpu);
	close(task);
	none_left();
}

/* With what a task has pinned comes in, all of the CPU that fits beside it goes on. */
static void beside_a_pinned_one(void)
{
	struct perf_event_attr attr;
	int cpu, pinned;

	load("counters=2");
	attr = hits();
	cpu = pt_open(&attr, -1, 0, -1, 0);
	attr.pinned = 1;
	pinned = pt_open(&attr, 0, -1, -1, 0);
	hit(1);
	pt_switch_out();
	hit(2);
	pt_eq(pt_count(pinned), 3);
	pt_eq(pt_count(cpu), 3);
	close(pinned);
	close(cpu);
	none_left();
}

/* The same of what it has pinned for this CPU alone, which has the CPU's counter. */
static void pinned_for_one_cpu(void)
{
	struct perf_event_attr attr;
	int cpu, pinned;

	without_turns("counters=1");
	attr = hits();
	cpu = pt_open(&attr, -1, 0, -1, 0);
	attr.pinned = 1;
	pinned = pt_open(&attr, 0, 0, -1, 0);
	hit(1);
	pt_switch_out();
	hit(2);
	pt_eq(pt_count(pinned), 3);
	pt_eq(pt_count(cpu), 0);
	close(pinned);
	close(cpu);
	none_left();
}

/* What the CPU's event gave to a pinned one of a task it has back before the next task's own. */
static void behind_a_pinned_one(void)
{
	struct perf_event_attr attr;
	int cpu, own, pinned;
	struct pt_peer peer;
	struct pt_read r;

	without_turns("counters=1");
	attr = hits();
	cpu = pt_open(&attr, -1, 0, -1, 0);
	own = pt_open(&attr, 0, -1, -1, 0);
	hit(1);
	pt_peer_start(&peer);
	attr.pinned = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING;
	pinned = pt_open(&attr, peer.pid, -1, -1, 0);
	pt_peer_turn(&peer);
	hit(2);
	pt_read(pinned, attr.read_format, 1, &r);
	pt_check(r.running > 0, "the other task has no counter");
	pt_eq(pt_count(cpu), 3);
	pt_eq(pt_count(own), 0);
	pt_peer_stop(&peer);
	close(pinned);
	close(own);
	close(cpu);
	none_left();
}

/* What a turn of the CPU's leaves free is not for a task that sleeps, whose event was there. */
static void event_of_a_sleeper(void)
{
	int alone, pair, second, of_sleeper, i;
	struct perf_event_attr attr;
	struct pt_peer peer;

	with_turns("counters=2", "1");
	attr = hits();
	pt_peer_start(&peer);
	of_sleeper = pt_open(&attr, peer.pid, -1, -1, 0);
	pt_peer_turn(&peer);
	pt_peer_asleep(&peer);
	alone = pt_open(&attr, -1, 0, -1, 0);
	pair = pt_open(&attr, -1, 0, -1, 0);
	second = pt_open(&attr, -1, 0, pair, 0);
	for (i = 0; i < 20 || (i < 2000 && !(pt_count(alone) && pt_count(pair))); i++) {
		hit(1);
		pt_burn(1000000);
	}
	pt_check(pt_count(alone) && pt_count(pair), "the CPU's take no turns");
	pt_eq(pt_count(of_sleeper), 0);
	pt_peer_stop(&peer);
	close(second);
	close(pair);
	close(alone);
	close(of_sleeper);
	none_left();
}

/*
 * There is room for the one that waits, but its turn has not come: ENABLE is nothing new to it, and
 * brings it no counter. A switch would. Return: what it has counted of two hits.
 */
static u64 enabled_while_it_waits(void)
{
	struct perf_event_attr attr = hits();
	int first, second;
	u64 count;
	s64 nr;

	do {
		first = pt_open(&attr, 0, -1, -1, 0);
		second = pt_open(&attr, 0, -1, -1, 0);
		nr = pt_switches();
		pt_disable(first);
		pt_enable(second);
		hit(2);
		count = pt_count(second);
		nr -= pt_switches();
		close(second);
		close(first);
	} while (nr);
	return count;
}

static void enable_is_no_turn(void)
{
	without_turns("counters=1");
	pt_eq(enabled_while_it_waits(), 0);
	none_left();
}

static const struct pt_case cases[] = {
	{ "newcomer_of_a_cpu", newcomer_of_a_cpu },
	{ "beside_a_pinned_one", beside_a_pinned_one },
	{ "pinned_for_one_cpu", pinned_for_one_cpu },
	{ "behind_a_pinned_one", behind_a_pinned_one },
	{ "event_of_a_sleeper", event_of_a_sleeper },
	{ "enable_is_no_turn", enable_is_no_turn },
};

PT_MAIN(cases)
