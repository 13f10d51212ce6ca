// SPDX-License-Identifier: GPL-2.0
/*
 * group.c - leaders and siblings: who may join whom, what the leader's state
 * does to the members, NO_GROUP and OUTPUT flags, what is left when a leader
 * closes, mixed software and hardware groups, limits of size, and races.
 *
 * needs: smp hw hw-smp skid
 */
#include "lib/ptest.h"
#include <pthread.h>

static struct perf_event_attr faults(void)
{
	return pt_attr(PT_SW(PAGE_FAULTS));
}

static void sibling_of_a_sibling(void)
{
	struct perf_event_attr attr = faults();
	int lead = pt_open(&attr, 0, -1, -1, 0);
	int sib = pt_open(&attr, 0, -1, lead, 0);

	pt_eq(pt_try_open(&attr, 0, -1, sib, 0), -EINVAL);
	/* With NO_GROUP the fd names nothing but a buffer. */
	close(pt_open(&attr, 0, -1, sib, PERF_FLAG_FD_NO_GROUP));
}

static void mismatches(void)
{
	struct perf_event_attr attr = faults();
	struct perf_event_attr other = faults();
	int lead = pt_open(&attr, 0, -1, -1, 0);
	int cpu0 = pt_open(&attr, -1, 0, -1, 0);
	pid_t pid;

	/* other CPU binding, other context */
	pt_eq(pt_try_open(&attr, 0, 0, lead, 0), -EINVAL);
	pt_eq(pt_try_open(&attr, -1, 0, lead, 0), -EINVAL);
	pt_eq(pt_try_open(&attr, 0, -1, cpu0, 0), -EINVAL);
	pt_eq(pt_try_open(&attr, 0, 0, cpu0, 0), -EINVAL);
	close(pt_open(&attr, -1, 0, cpu0, 0));
	/* other task */
	pt_in_child(pid)
		pause();
	pt_eq(pt_try_open(&attr, pid, -1, lead, 0), -EINVAL);
	/* other clock */
	other.use_clockid = 1;
	other.clockid = CLOCK_MONOTONIC;
	pt_eq(pt_try_open(&other, 0, -1, lead, 0), -EINVAL);
	/* all or none inherited */
	other = faults();
	other.inherit = 1;
	pt_eq(pt_try_open(&other, 0, -1, lead, 0), -EINVAL);
	/* only leaders decide how to get on the PMU */
	other = faults();
	other.pinned = 1;
	pt_eq(pt_try_open(&other, 0, -1, lead, 0), -EINVAL);
	other = faults();
	other.exclusive = 1;
	pt_eq(pt_try_open(&other, 0, -1, lead, 0), -EINVAL);
}

static void leader_gates_members(void)
{
	struct perf_event_attr attr = faults();
	u8 *p = pt_fresh_pages(30);
	size_t page = (size_t)pt_page_size();
	int lead, sib;

	attr.disabled = 1;
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	sib = pt_open(&attr, 0, -1, lead, 0);
	pt_touch(p, 5);
	pt_eq(pt_count(sib), 0);
	pt_enable(lead);
	pt_touch(p + 5 * page, 5);
	pt_eq(pt_count(sib), 5);
	pt_eq(pt_count(lead), 5);
	/* A sibling may be taken out alone. */
	pt_disable(sib);
	pt_touch(p + 10 * page, 5);
	pt_eq(pt_count(sib), 5);
	pt_eq(pt_count(lead), 10);
	/* And cannot go on alone. */
	pt_disable(lead);
	pt_enable(sib);
	pt_touch(p + 15 * page, 5);
	pt_eq(pt_count(sib), 5);
	pt_enable(lead);
	pt_touch(p + 20 * page, 5);
	pt_eq(pt_count(sib), 10);
	pt_eq(pt_count(lead), 15);
}

static void detach_on_leader_close(void)
{
	struct perf_event_attr attr = faults();
	u64 f = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	u8 *p = pt_fresh_pages(20);
	size_t page = (size_t)pt_page_size();
	struct pt_read r;
	int lead, a, b;

	attr.read_format = f;
	lead = pt_open(&attr, 0, -1, -1, 0);
	a = pt_open(&attr, 0, -1, lead, 0);
	b = pt_open(&attr, 0, -1, lead, 0);
	pt_ioctl(lead, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	pt_touch(p, 4);
	close(lead);
	pt_touch(p + 4 * page, 4);
	/* Each is its own group now and went on counting. */
	pt_read(a, f, 1, &r);
	pt_eq(r.v[0].value, 8);
	pt_eq(r.v[0].id, pt_id(a));
	pt_read(b, f, 1, &r);
	pt_eq(r.v[0].value, 8);
	/* And can have siblings of its own. */
	close(pt_open(&attr, 0, -1, a, 0));
	pt_disable(a);
	pt_touch(p + 8 * page, 4);
	pt_read(a, f, 1, &r);
	pt_eq(r.v[0].value, 8);
	pt_read(b, f, 1, &r);
	pt_eq(r.v[0].value, 12);
}

static void leader_closed_while_disabled(void)
{
	struct perf_event_attr attr = faults();
	u8 *p = pt_fresh_pages(8);
	int lead, sib, i;

	attr.disabled = 1;
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	sib = pt_open(&attr, 0, -1, lead, 0);
	close(lead);
	/* Promoted, and since it was never disabled itself it counts, at the latest from the
	 * next time we are switched in.
	 */
	pt_switch_out();
	pt_touch(p, 8);
	pt_eq(pt_count(sib), 8);
	/* Close in every order, many times: nothing may be left behind. */
	for (i = 0; i < 100; i++) {
		int fd[4], j;

		fd[0] = pt_open(&attr, 0, -1, -1, 0);
		for (j = 1; j < 4; j++)
			fd[j] = pt_open(&attr, 0, -1, fd[0], 0);
		for (j = 0; j < 4; j++)
			close(fd[(i + j * ((i & 4) ? 3 : 1)) & 3]);
	}
}

static void dead_leader(void)
{
	struct perf_event_attr attr = faults();
	int lead, ret;
	pid_t pid;
	int p[2];

	pt_gate_make(p);
	pt_in_child(pid) {
		pt_gate_wait(p);
	}
	lead = pt_open(&attr, pid, -1, -1, 0);
	pt_gate_open(p);
	pt_reap(pid);
	/* Its task is gone, nothing can join it any more; Linux 6.12 may see another task in it */
	ret = pt_try_open(&attr, 0, -1, lead, 0);
	pt_check(ret == -ENODEV || (pt_is_stock() && ret == -EINVAL),
		 "joining a dead leader gave %d", ret);
	pt_eq(pt_try_open(&attr, pid, -1, lead, 0) < 0, 1);
}

static void *stand_by(void *gate)
{
	pt_gate_wait(gate);
	return NULL;
}

/* With threads, who opens a sibling has the leader's file for as long as that takes. */
static void leader_of_a_program_with_threads(void)
{
	struct perf_event_attr attr = faults();
	struct pt_read r;
	pthread_t thread;
	int go[2], lead, sib;

	pt_gate_make(go);
	pt_need(!pthread_create(&thread, NULL, stand_by, go), "thread");
	attr.read_format = PERF_FORMAT_GROUP;
	lead = pt_open(&attr, 0, -1, -1, 0);
	sib = pt_open(&attr, 0, -1, lead, 0);
	pt_read(sib, PERF_FORMAT_GROUP, 2, &r);
	close(lead);
	/* That was the last one: the sibling is alone. */
	pt_read(sib, PERF_FORMAT_GROUP, 1, &r);
	pt_gate_open(go);
	pthread_join(thread, NULL);
}

static void output_flag(void)
{
	struct perf_event_attr none = pt_attr(PT_SW(DUMMY));
	struct perf_event_attr attr = faults();
	size_t page = (size_t)pt_page_size();
	u8 *p = pt_fresh_pages(12);
	static struct pt_record rec;
	struct pt_ring ring;
	int out, member, sole;
	unsigned int m = 0, s = 0;

	none.sample_period = 1;
	none.sample_type = PERF_SAMPLE_IDENTIFIER;
	none.disabled = 1;
	out = pt_open(&none, 0, -1, -1, 0);
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER;
	attr.disabled = 1;
	/* No buffer to redirect to yet. */
	pt_eq(pt_try_open(&attr, 0, -1, out, PERF_FLAG_FD_OUTPUT), -EINVAL);
	pt_map(&ring, out, 8);
	member = pt_open(&attr, 0, -1, out, PERF_FLAG_FD_OUTPUT);
	sole = pt_open(&attr, 0, -1, out, PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
	/* member joined the group, sole did not */
	pt_eq(pt_try_open(&attr, 0, -1, member, 0), -EINVAL);
	close(pt_open(&attr, 0, -1, sole, 0));
	pt_enable(sole);
	pt_touch(p, 2);
	pt_disable(sole);
	pt_enable(member);
	pt_touch(p + 2 * page, 3);
	pt_enable(out);
	pt_touch(p + 5 * page, 4);
	pt_disable(out);
	pt_touch(p + 9 * page, 3);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		struct pt_sample smp;

		pt_parse_sample(&attr, &rec, &smp);
		m += smp.identifier == pt_id(member);
		s += smp.identifier == pt_id(sole);
	}
	pt_eq(m, 4);
	pt_eq(s, 2);
}

static void output_without_group_fd(void)
{
	struct perf_event_attr attr = faults();

	/* Nothing to redirect to: the flag is ignored. */
	close(pt_open(&attr, 0, -1, -1, PERF_FLAG_FD_OUTPUT));
	close(pt_open(&attr, 0, -1, -1, PERF_FLAG_FD_NO_GROUP));
}

/* 16 KiB is the most a group read may give. */
static void too_many_siblings(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	u64 f = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	size_t page = (size_t)pt_page_size();
	int lead, ret = 0, n = 1, most = (16384 - 8) / 24;
	u8 *area;

	attr.read_format = f;
	attr.disabled = 1;
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	for (; n < 2 * most; n++) {
		ret = pt_try_open(&attr, 0, -1, lead, 0);
		if (ret < 0)
			break;
	}
	pt_eq(ret, -E2BIG);
	pt_eq(n, most);
	/* A plain member of such a group is refused for the leader's sake. */
	attr.read_format = 0;
	pt_eq(pt_try_open(&attr, 0, -1, lead, 0), -E2BIG);
	/* The read gives what it says, right up to a page that is not there. */
	area = mmap(NULL, 6 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pt_need(area != MAP_FAILED, "mmap: %s", strerror(errno));
	pt_need(!mprotect(area + 5 * page, page, PROT_NONE), "mprotect: %s", strerror(errno));
	area += 5 * page - pt_read_size(f, (unsigned int)n);
	pt_eq(read(lead, area, pt_read_size(f, (unsigned int)n)), pt_read_size(f, (unsigned int)n));
	pt_eq(*(u64 *)area, n);
	pt_eq(read(lead, area, pt_read_size(f, (unsigned int)n) - 8), -1);
	pt_eq(errno, ENOSPC);
}

static void plain_group_may_be_larger(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int lead, i;

	attr.disabled = 1;
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	for (i = 0; i < 900; i++)
		pt_open(&attr, 0, -1, lead, 0);
	pt_eq(pt_count(lead), 0);
	/* Now a GROUP reader would exceed the limit. */
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	pt_eq(pt_try_open(&attr, 0, -1, lead, 0), -E2BIG);
	attr.read_format = PERF_FORMAT_GROUP;
	pt_open(&attr, 0, -1, lead, 0);
}

static void group_flag_of_ioctls(void)
{
	struct perf_event_attr attr = faults();
	u8 *p = pt_fresh_pages(16);
	size_t page = (size_t)pt_page_size();
	int fd[3], i;

	attr.disabled = 1;
	fd[0] = pt_open(&attr, 0, -1, -1, 0);
	fd[1] = pt_open(&attr, 0, -1, fd[0], 0);
	fd[2] = pt_open(&attr, 0, -1, fd[0], 0);
	pt_eq(pt_ioctl(fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	pt_touch(p, 5);
	for (i = 0; i < 3; i++)
		pt_eq(pt_count(fd[i]), 5);
	/* Through a sibling it reaches the whole group as well. */
	pt_eq(pt_ioctl(fd[1], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), 0);
	for (i = 0; i < 3; i++)
		pt_eq(pt_count(fd[i]), 0);
	pt_eq(pt_ioctl(fd[2], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
	pt_touch(p + 5 * page, 5);
	for (i = 0; i < 3; i++)
		pt_eq(pt_count(fd[i]), 0);
	/* One by one again: RESET of the leader leaves the others alone. */
	pt_eq(pt_ioctl(fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	pt_touch(p + 10 * page, 2);
	pt_reset(fd[0]);
	pt_eq(pt_count(fd[0]), 0);
	pt_eq(pt_count(fd[1]), 2);
}

static void mixed_software_and_clock(void)
{
	struct perf_event_attr sw = faults();
	struct perf_event_attr clk = pt_attr(PT_SW(TASK_CLOCK));
	struct perf_event_attr cpu = pt_attr(PT_SW(CPU_CLOCK));
	u64 f = PERF_FORMAT_GROUP;
	struct pt_read r;
	int lead;

	/* Three sources, one of them with a timer, in one group. */
	sw.read_format = f;
	sw.disabled = 1;
	lead = pt_open(&sw, 0, -1, -1, 0);
	pt_open(&clk, 0, -1, lead, 0);
	pt_open(&cpu, 0, -1, lead, 0);
	pt_enable(lead);
	pt_fault(6);
	pt_burn(2000000);
	pt_disable(lead);
	pt_read(lead, f, 3, &r);
	pt_check(r.v[0].value >= 6 && r.v[0].value < 10, "%llu faults",
		 (unsigned long long)r.v[0].value);
	pt_check(r.v[1].value >= 1900000, "task-clock %llu", (unsigned long long)r.v[1].value);
	pt_check(r.v[2].value >= 1900000, "cpu-clock %llu", (unsigned long long)r.v[2].value);
}

/* A pure software group moves to the hardware's context with its first member. */
static void hw_joins_a_software_group(void)
{
	struct perf_event_attr sw = faults();
	struct perf_event_attr hw = pt_attr(PT_HW(INSTRUCTIONS));
	u64 f = PERF_FORMAT_GROUP;
	u8 *p = pt_fresh_pages(12);
	size_t page = (size_t)pt_page_size();
	struct pt_read r;
	int lead, sib, cpu;

	sw.read_format = f;
	lead = pt_open(&sw, 0, -1, -1, 0);
	sib = pt_open(&sw, 0, -1, lead, 0);
	pt_touch(p, 3);
	hw.exclude_kernel = 1;
	cpu = pt_open_hw(&hw, lead);
	pt_ioctl(lead, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	pt_touch(p + 3 * page, 4);
	pt_spin(100000);
	pt_ioctl(lead, PERF_EVENT_IOC_DISABLE, 0);
	pt_read(lead, f, 3, &r);
	pt_eq(r.v[0].value, 4);
	pt_eq(r.v[1].value, 4);
	pt_check(r.v[2].value > 200000, "%llu instructions", (unsigned long long)r.v[2].value);
	/* And a software event joins the mixed group, and the leader leaves it. */
	close(pt_open(&sw, 0, -1, lead, 0));
	close(lead);
	pt_switch_out();
	pt_reset(sib);
	pt_touch(p + 7 * page, 5);
	pt_check(pt_count(cpu) > 200000, "the hardware event stopped");
	pt_read(sib, f, 1, &r);
	pt_eq(r.v[0].value, 5);
}

static void software_joins_a_hw_group(void)
{
	struct perf_event_attr sw = faults();
	struct perf_event_attr hw = pt_attr(PT_HW(CPU_CYCLES));
	u64 f = PERF_FORMAT_GROUP;
	struct pt_read r;
	u8 *p = pt_fresh_pages(7);
	int lead;

	hw.read_format = f;
	hw.disabled = 1;
	hw.exclude_kernel = 1;
	lead = pt_open_hw(&hw, -1);
	pt_open(&sw, 0, -1, lead, 0);
	pt_enable(lead);
	pt_touch(p, 7);
	pt_disable(lead);
	pt_read(lead, f, 2, &r);
	pt_check(r.v[0].value > 0, "no cycles");
	pt_eq(r.v[1].value, 7);
}

static void hw_group_larger_than_the_pmu(void)
{
	struct perf_event_attr hw = pt_attr(PT_HW(INSTRUCTIONS));
	int lead, i, ret = 0;

	hw.exclude_kernel = 1;
	lead = pt_open_hw(&hw, -1);
	/* No PMU has 64 counters for one event: the last ones must be refused. */
	for (i = 0; i < 64; i++) {
		ret = pt_try_open(&hw, 0, -1, lead, 0);
		if (ret < 0)
			break;
	}
	pt_eq(ret, -EINVAL);
	pt_check(i >= 1, "no second counter");
	pt_spin(1000);
	pt_check(pt_count(lead) > 2000, "the group does not count");
}

/* Threads that join a leader while another one closes it. */
struct race {
	int leader;
	pthread_barrier_t start;
	pid_t target;
	u64 config;
	u32 type;
};

static void *join_leader(void *arg)
{
	struct race *race = arg;
	struct perf_event_attr attr = pt_attr(race->type, race->config);
	int i, fd[8];

	attr.exclude_kernel = race->type == PERF_TYPE_HARDWARE;
	pthread_barrier_wait(&race->start);
	for (i = 0; i < 8; i++)
		fd[i] = pt_try_open(&attr, race->target, -1, race->leader, 0);
	for (i = 0; i < 8; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
	}
	return NULL;
}

static void race_rounds(u32 type, u64 config, bool close_leader)
{
	struct perf_event_attr attr = faults();
	struct race race = { .target = getpid(), .type = type, .config = config };
	pthread_t t[2];
	int i, round;

	for (round = 0; round < 30; round++) {
		race.leader = pt_open(&attr, 0, -1, -1, 0);
		pthread_barrier_init(&race.start, NULL, 3);
		for (i = 0; i < 2; i++)
			pt_need(!pthread_create(&t[i], NULL, join_leader, &race), "thread");
		pthread_barrier_wait(&race.start);
		if (close_leader)
			close(race.leader);
		for (i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		if (!close_leader) {
			/* Everything that could join has left again. */
			u64 n = pt_count(race.leader);
			u8 *p = pt_fresh_pages(1);

			n = pt_count(race.leader);
			pt_touch(p, 1);
			pt_eq(pt_count(race.leader) - n, 1);
			close(race.leader);
		}
		pthread_barrier_destroy(&race.start);
	}
}

static void open_races_itself(void)
{
	race_rounds(PT_SW(DUMMY), false);
}

static void open_races_leader_close(void)
{
	race_rounds(PT_SW(DUMMY), true);
}

static void hw_siblings_race(void)
{
	struct perf_event_attr hw = pt_attr(PT_HW(CPU_CYCLES));

	hw.exclude_kernel = 1;
	close(pt_open_hw(&hw, -1));
	race_rounds(PT_HW(CPU_CYCLES), false);
	race_rounds(PT_HW(CPU_CYCLES), true);
}

static const struct pt_case cases[] = {
	{ "sibling_of_a_sibling", sibling_of_a_sibling },
	{ "mismatches", mismatches },
	{ "leader_gates_members", leader_gates_members },
	{ "detach_on_leader_close", detach_on_leader_close },
	{ "leader_closed_while_disabled", leader_closed_while_disabled },
	{ "dead_leader", dead_leader },
	{ "leader_of_a_program_with_threads", leader_of_a_program_with_threads },
	{ "output_flag", output_flag },
	{ "output_without_group_fd", output_without_group_fd },
	{ "too_many_siblings", too_many_siblings },
	{ "plain_group_may_be_larger", plain_group_may_be_larger },
	{ "group_flag_of_ioctls", group_flag_of_ioctls },
	{ "mixed_software_and_clock", mixed_software_and_clock },
	{ "hw_joins_a_software_group", hw_joins_a_software_group },
	{ "software_joins_a_hw_group", software_joins_a_hw_group },
	{ "hw_group_larger_than_the_pmu", hw_group_larger_than_the_pmu },
	{ "open_races_itself", open_races_itself },
	{ "open_races_leader_close", open_races_leader_close },
	{ "hw_siblings_race", hw_siblings_race },
};

PT_MAIN(cases)
