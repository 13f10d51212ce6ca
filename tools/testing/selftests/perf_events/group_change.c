// SPDX-License-Identifier: GPL-2.0
/*
 * group_change.c - groups of the test PMU that get or lose members, or move to another CPU: what
 * there is of them counts on, in its turn, and only for those that it is for.
 *
 * needs: smp
 */
#include "lib/cpus.h"
#include "lib/sets.h"
#include "lib/test_count.h"

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* So many counters, and turns of so many ms; no switch comes in between. */
static void load_with(const char *params, const char *interval)
{
	load(params);
	need_revoking();	/* Linux 6.12 frees a PMU whose timer is armed */
	pt_eq(pt_write_file("/sys/bus/event_source/devices/" MODULE "/perf_event_mux_interval_ms",
			    interval), 0);
	pt_first_on_cpu(0);
}

/* Two events; the leader is enabled when both are there. */
static int open_pair(u64 read_format, int *member)
{
	struct perf_event_attr attr = hits();
	int lead;

	attr.read_format = read_format;
	attr.disabled = 1;
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	*member = pt_open(&attr, 0, -1, lead, 0);
	pt_enable(lead);
	return lead;
}

/* One of two members of hardware leaves a mixed group: the other one has turns as before. */
static void one_of_two_leaves(void)
{
	struct perf_event_attr attr, sw = faults();
	int lead, stays, goes, pair, second;
	struct pt_read r;

	load_with("counters=2", "1");
	attr = hits();
	lead = pt_open(&sw, 0, -1, -1, 0);
	stays = pt_open(&attr, 0, -1, lead, 0);
	goes = pt_open(&attr, 0, -1, lead, 0);
	close(goes);
	pair = open_pair(TIMES, &second);
	pt_burn(20000000);
	pt_read(pair, TIMES, 1, &r);
	pt_check(r.running > 0, "who needs both counters has no turn");
	close(second);
	close(pair);
	close(stays);
	close(lead);
	none_left();
}

/* What a leader leaves behind is off while its task is away. */
static void left_while_away(void)
{
	struct perf_event_attr attr;
	int lead, left;
	pid_t pid;

	load(NULL);
	attr = hits();
	lead = pt_open(&attr, 0, -1, -1, 0);
	left = pt_open(&attr, 0, -1, lead, 0);
	close(lead);
	hit(1);
	pt_in_child(pid)
		hit(5);
	pt_reap(pid);
	hit(2);
	pt_eq(pt_count(left), 3);
	close(left);
	none_left();
}

/* A group that was too large is smaller without its leader, which nobody waits for any more. */
static void left_where_there_is_room(void)
{
	struct perf_event_attr attr;
	int pinned, lead, left;

	load_with("counters=2", "10000");
	attr = hits();
	attr.pinned = 1;
	pinned = pt_open(&attr, -1, 0, -1, 0);
	lead = open_pair(0, &left);
	hit(1);
	pt_eq(pt_count(left), 0);
	close(lead);
	hit(2);
	pt_eq(pt_count(left), 2);
	pt_eq(pt_count(pinned), 3);
	close(left);
	close(pinned);
	none_left();
}

/* A group that samples show loses a member while its leader is off: the others wait on. */
static void leader_is_off(void)
{
	struct perf_event_attr attr, sw = faults();
	int lead, member, gone;

	load(NULL);
	attr = hits();
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP;
	attr.disabled = 1;
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr = hits();
	member = pt_open(&attr, 0, -1, lead, 0);
	gone = pt_open(&sw, 0, -1, lead, 0);
	hit(1);
	close(gone);
	hit(2);
	pt_eq(pt_count(member), 0);
	pt_enable(lead);
	hit(4);
	pt_eq(pt_count(member), 4);
	close(member);
	close(lead);
	none_left();
}

/* A member that no sample shows leaves the others on their counters, whether it has one or not. */
static void unshown_member_leaves(void)
{
	struct perf_event_attr attr, other;
	int lead, member, i;
	long long adds;

	load(NULL);
	pt_first_on_cpu(0);
	attr = hits();
	for (i = 0; i < 2; i++) {
		other = i ? hits() : faults();
		lead = pt_open(&attr, 0, -1, -1, 0);
		member = pt_open(&other, 0, -1, lead, 0);
		hit(1);
		adds = pt_module_get(MODULE, "adds");
		close(member);
		pt_eq(pt_module_get(MODULE, "adds"), adds);
		hit(2);
		pt_eq(pt_count(lead), 3);
		close(lead);
	}
	none_left();
}

/* Where samples of any member show the group, it stands still while another one leaves. */
static void shown_by_a_member(void)
{
	struct perf_event_attr attr, sw = faults();
	int lead, shows, member;
	long long adds;

	load(NULL);
	if (pt_is_stock())
		pt_skip("Linux 6.12 leaves the others on their counters");
	pt_first_on_cpu(0);
	attr = hits();
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP;
	shows = pt_open(&attr, 0, -1, lead, 0);
	member = pt_open(&sw, 0, -1, lead, 0);
	hit(1);
	adds = pt_module_get(MODULE, "adds");
	close(member);
	pt_eq(pt_module_get(MODULE, "adds"), adds + 2);
	hit(2);
	pt_eq(pt_count(lead), 3);
	close(shows);
	close(lead);
	none_left();
}

/* On another CPU there is no ring: sets that move are groups like others, also who has waited. */
static void sets_move(void)
{
	struct perf_event_attr attr;
	int turn, waits;

	ext_need();
	need_cpus(2);
	load(NULL);
	attr = hits();
	turn = pt_open(&attr, -1, 0, -1, 0);
	waits = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(set_join(turn, -1, 0), 0);
	pt_eq(set_join(waits, turn, 1), 0);
	hit_on(0, 1);
	pt_eq(pt_count(turn), 1);
	pt_eq(pt_count(waits), 0);
	pt_eq(pt_module_set(MODULE, "migrate", 1), 0);	/* 0 -> 1 */
	hit_on(0, 10);
	hit_on(1, 2);
	pt_eq(pt_count(turn), 3);
	pt_eq(pt_count(waits), 2);
	pt_eq(pt_ioctl(turn, PERF_EXT_IOC_SET_LEAVE, 0), -EINVAL);
	close(waits);
	close(turn);
	none_left();
}

/* A member that is switched on while its leader counts does so at once, too. */
static void member_is_switched_on(void)
{
	struct perf_event_attr attr;
	int lead, member;

	load(NULL);
	pt_first_on_cpu(0);	/* a switch would put it on */
	attr = hits();
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 1;
	member = pt_open(&attr, 0, -1, lead, 0);
	hit(1);
	pt_enable(member);
	hit(2);
	pt_eq(pt_count(lead), 3);
	pt_eq(pt_count(member), 2);
	close(member);
	close(lead);
	none_left();
}

/* Hardware that has joined software takes turns with others of its PMU. */
static void guest_takes_turns(void)
{
	struct perf_event_attr attr, sw = faults();
	int lead, guest, other;
	struct pt_read r[2];

	load_with("counters=1", "1");
	attr = hits();
	attr.read_format = TIMES;
	lead = pt_open(&sw, 0, -1, -1, 0);
	guest = pt_open(&attr, 0, -1, lead, 0);
	other = pt_open(&attr, 0, -1, -1, 0);
	pt_burn(200000000);
	pt_read(guest, TIMES, 1, &r[0]);
	pt_read(other, TIMES, 1, &r[1]);
	pt_check(r[0].running > 0 && r[0].running < r[0].enabled, "the guest ran %llu of %llu",
		 (unsigned long long)r[0].running, (unsigned long long)r[0].enabled);
	pt_check(r[1].running > 0, "the other one has no turn");
	close(other);
	close(guest);
	close(lead);
	none_left();
}

/* What a leader that was off leaves behind is enabled, also while it waits behind others. */
static void left_to_wait(void)
{
	struct pt_read before, after;
	int pinned, waits, lead, left;
	struct perf_event_attr attr;

	load_with("counters=1", "10000");
	attr = hits();
	attr.pinned = 1;
	pinned = pt_open(&attr, -1, 0, -1, 0);
	attr.pinned = 0;
	waits = pt_open(&attr, 0, -1, -1, 0);
	attr.read_format = TIMES;
	attr.disabled = 1;
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	left = pt_open(&attr, 0, -1, lead, 0);
	close(lead);
	pt_read(left, TIMES, 1, &before);
	pt_burn(1000000);
	pt_read(left, TIMES, 1, &after);
	pt_check(after.enabled >= before.enabled + 1000000, "enabled %llu, then %llu",
		 (unsigned long long)before.enabled, (unsigned long long)after.enabled);
	pt_eq(after.running, 0);
	close(left);
	close(waits);
	close(pinned);
	none_left();
}

/* A clock that its hardware has left comes in after a switch, like another one of the task. */
static void clock_after_a_switch(void)
{
	struct perf_event_attr attr, clock = pt_attr(PT_SW(TASK_CLOCK));
	int other, lead, member;
	u64 before;

	load(NULL);
	attr = hits();
	clock.sample_period = 10000000000ull;	/* so it has to be scheduled */
	other = pt_open(&clock, 0, -1, -1, 0);
	lead = pt_open(&clock, 0, -1, -1, 0);
	member = pt_open(&attr, 0, -1, lead, 0);
	close(member);
	pt_switch_out();
	before = pt_count(lead);
	pt_burn(1000000);
	pt_check(pt_count(lead) > before, "it stands still");
	close(lead);
	close(other);
	none_left();
}

/* Turns begin anew with each event that has to wait, also when all before it have gone. */
static void turns_after_all_have_gone(void)
{
	struct perf_event_attr attr;
	struct pt_read r;
	int fd[2], i;

	load_with("counters=1", "1");
	attr = hits();
	attr.read_format = TIMES;
	for (i = 0; i < 2; i++)
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	close(fd[1]);
	close(fd[0]);
	pt_burn(5000000);	/* the timer has found nobody */
	for (i = 0; i < 2; i++)
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	pt_burn(200000000);
	for (i = 0; i < 2; i++) {
		pt_read(fd[i], TIMES, 1, &r);
		pt_check(r.running > 0, "event %d has no turn", i);
		close(fd[i]);
	}
	none_left();
}

/* When nobody waits any more there are no turns: who is left stays on its counter. */
static void no_turns_alone(void)
{
	struct perf_event_attr attr;
	long long adds;
	s64 switches;
	int stays;

	load_with("counters=1", "1");
	attr = hits();
	stays = pt_open(&attr, 0, -1, -1, 0);
	close(pt_open(&attr, 0, -1, -1, 0));
	pt_burn(5000000);	/* the timer has looked once more */
	switches = pt_switches();
	adds = pt_module_get(MODULE, "adds");
	pt_burn(20000000);
	adds = pt_module_get(MODULE, "adds") - adds;
	switches = pt_switches() - switches;
	/* A timer that is late looks, and moves it, now. */
	if (!pt_time_is_exact())
		switches++;
	pt_check(adds <= switches, "moved %lld times in %lld switches", adds, (long long)switches);
	hit(2);
	pt_eq(pt_count(stays), 2);
	close(stays);
	none_left();
}

/* A task that was away has its turns again when it comes back. */
static void turns_after_a_switch(void)
{
	struct pt_read before[2], now;
	struct perf_event_attr attr;
	int fd[2], i;

	load_with("counters=1", "1");
	attr = hits();
	attr.read_format = TIMES;
	for (i = 0; i < 2; i++)
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	pt_switch_out();
	for (i = 0; i < 2; i++)
		pt_read(fd[i], TIMES, 1, &before[i]);
	pt_burn(200000000);
	for (i = 0; i < 2; i++) {
		pt_read(fd[i], TIMES, 1, &now);
		pt_check(now.running > before[i].running, "event %d has no turn any more", i);
		close(fd[i]);
	}
	none_left();
}

static const struct pt_case cases[] = {
	{ "one_of_two_leaves", one_of_two_leaves },
	{ "left_while_away", left_while_away },
	{ "left_where_there_is_room", left_where_there_is_room },
	{ "leader_is_off", leader_is_off },
	{ "unshown_member_leaves", unshown_member_leaves },
	{ "shown_by_a_member", shown_by_a_member },
	{ "sets_move", sets_move },
	{ "member_is_switched_on", member_is_switched_on },
	{ "guest_takes_turns", guest_takes_turns },
	{ "left_to_wait", left_to_wait },
	{ "clock_after_a_switch", clock_after_a_switch },
	{ "turns_after_all_have_gone", turns_after_all_have_gone },
	{ "no_turns_alone", no_turns_alone },
	{ "turns_after_a_switch", turns_after_a_switch },
};

PT_MAIN(cases)
