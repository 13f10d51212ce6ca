// SPDX-License-Identifier: GPL-2.0
/*
 * session_sets.c - several sets in a session: each target has its own turns, and each set counts
 * its own, to the last event; targets that leave in the middle of a turn; what is refused. Sets
 * without a session: sets.c; sessions of one set: session.c.
 *
 * needs: smp hw hw-smp
 */
#include "lib/arm64.h"
#include "lib/cgroup.h"
#include "lib/cpus.h"
#include "lib/session.h"
#include "lib/sets.h"
#include "lib/x86.h"

static struct perf_ext_set_info info[SETS_MOST];

static struct perf_event_attr faults_by(u64 period)
{
	struct perf_event_attr attr = faults();

	attr.sample_period = period;
	return attr;
}

/* A set of page faults whose turn is n periods; 0: for ever. */
static void add_faults(int fd, u16 set, u64 period, u32 n)
{
	struct perf_event_attr attr = faults_by(period);

	session_add(fd, set, &attr, 1);
	if (n)
		pt_eq(session_trigger(fd, set, 0, n), 0);
}

static int session_of_faults(u64 period, u32 n)
{
	int fd = session_of_tasks(faults_by(period));

	if (n)
		pt_eq(session_trigger(fd, 0, 0, n), 0);
	return fd;
}

/* It ends where it is, without a fault of its own. */
static void worker_kill(struct worker *w)
{
	pt_kill(w->pid);
	close(w->orders);
	close(w->done);
}

/* What the sets 0 and 1 have for a task. */
static void task_has(int fd, pid_t tid, s64 first, s64 second)
{
	pt_eq(session_set_of_task(fd, tid, 0), first);
	pt_eq(session_set_of_task(fd, tid, 1), second);
}

/* Behind the hundredth fault of each task its second set begins, whatever the other one does. */
static void cascade(void)
{
	struct worker a, b;
	int fd;

	ext_need();
	worker_start(&a, 0);
	worker_start(&b, 0);
	fd = session_of_faults(10, 10);
	add_faults(fd, 1, 0, 0);
	pt_eq(session_targets(fd), 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	pt_eq(session_targets(fd), 2);
	worker_do(&a, session_fault, 60);
	worker_do(&b, session_fault, 70);
	worker_do(&a, session_fault, 90);
	task_has(fd, a.pid, 100, 50);
	task_has(fd, b.pid, 70, 0);
	pt_eq(pt_count(fd), 170);
	pt_eq(session_set_sum(fd, 1), 50);
	session_adds_up(fd);
	/* One leaves in the turn of its second set, the other goes on in that of its first. */
	pt_eq(session_detach_task(fd, a.pid), 0);
	worker_do(&a, session_fault, 10);
	worker_do(&b, session_fault, 35);
	task_has(fd, a.pid, -1, -1);
	task_has(fd, b.pid, 100, 5);
	pt_eq(session_set_left(fd, 0), 100);
	pt_eq(session_set_left(fd, 1), 50);
	session_adds_up(fd);
	pt_eq(set_infos(fd, info), 2);
	set_was(&info[0], 2, 2, 0);
	set_was(&info[1], 2, 0, 0);
	/* It comes back, and begins with set 0. */
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, session_fault, 7);
	task_has(fd, a.pid, 7, 0);
	pt_eq(session_set_sum(fd, 0), 207);
	worker_end(&a);
	worker_end(&b);
}

/* Three sets, in the order of their numbers, whatever the order in which they were added. */
static void rounds(void)
{
	struct worker a, b;
	u64 id;
	int fd, i;

	ext_need();
	worker_start(&a, 0);
	worker_start(&b, 0);
	fd = session_of_faults(10, 3);
	add_faults(fd, 900, 7, 1);
	add_faults(fd, 2, 5, 2);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, session_fault, 1000);	/* 21 rounds of 47, and 13 */
	worker_do(&b, session_fault, 40);	/* the third begins, and has none yet */
	pt_eq(session_set_of_task(fd, a.pid, 0), 21 * 30 + 13);
	pt_eq(session_set_of_task(fd, a.pid, 2), 21 * 10);
	pt_eq(session_set_of_task(fd, a.pid, 900), 21 * 7);
	pt_eq(session_set_of_task(fd, b.pid, 0), 30);
	pt_eq(session_set_of_task(fd, b.pid, 2), 10);
	pt_eq(session_set_of_task(fd, b.pid, 900), 0);
	session_adds_up(fd);
	/* Ends that nobody has asked for are no turns: the figures stay when all leave. */
	for (i = 0; i < 2; i++) {
		pt_eq(set_infos(fd, info), 3);
		pt_eq(info[0].number, 0);
		pt_eq(info[1].number, 2);
		pt_eq(info[2].number, 900);
		set_was(&info[0], 23, 22, 0);
		set_was(&info[1], 22, 22, 0);
		set_was(&info[2], 22, 21, 0);
		id = pt_id(fd);
		pt_eq(info[0].id, id);
		pt_eq(info[0].flags, 0);
		pt_eq(info[2].members, 1);
		if (i)
			continue;
		pt_eq(session_detach_task(fd, a.pid), 0);
		worker_kill(&b);		/* in a turn of the third */
	}
	pt_eq(session_targets(fd), 0);
	pt_eq(session_set_left(fd, 0), 21 * 30 + 13 + 30);
	pt_eq(session_set_left(fd, 2), 22 * 10);
	pt_eq(session_set_left(fd, 900), 21 * 7);
	session_adds_up(fd);
	worker_end(&a);
}

/* Groups that are scheduled, whose turns end by a member that is not the leader. */
static void groups(void)
{
	struct perf_event_attr attr[2];
	const struct session_entry *e;
	struct worker a, b;
	int fd;

	ext_need();
	two_that_hit(&a, &b);
	attr[0] = hits();
	attr[1] = faults_by(10);
	fd = session_make(attr, 2, 0);
	attr[1] = faults_by(5);
	session_add(fd, 1, attr, 2);
	pt_eq(session_trigger(fd, 0, 1, 1), 0);
	pt_eq(session_trigger(fd, 1, 1, 1), 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&b, hit, 1000);
	worker_do(&a, session_fault, 4);
	worker_do(&a, hit, 3);
	worker_do(&a, session_fault, 6);
	worker_do(&a, hit, 20);
	worker_do(&a, session_fault, 5);
	worker_do(&a, hit, 100);
	task_has(fd, a.pid, 103, 20);
	task_has(fd, b.pid, 1000, 0);
	e = session_task_set(fd, a.pid, 0);
	pt_need(e && e->nr == 2, "no entry of set 0");
	pt_eq(e->value[1], 10);
	e = session_task_set(fd, a.pid, 1);
	pt_need(e && e->nr == 2, "no entry of set 1");
	pt_eq(e->value[1], 5);
	pt_eq(session_set_sum(fd, 0), 1103);
	session_adds_up(fd);
	close(fd);
	none_left();
	worker_end(&a);
	worker_end(&b);
}

/* By hand: on all targets, of whatever kind. */
static void by_hand(void)
{
	struct perf_event_attr attr;
	struct worker a, b;
	int fd;

	ext_need();
	load(NULL);
	attr = hits();
	worker_start(&a, 0);
	worker_start(&b, 0);
	fd = session_of_tasks(hits());
	pt_eq(set_select(fd, 0), -EINVAL);	/* it has one set */
	session_add(fd, 1, &attr, 1);
	pt_eq(set_select(fd, 1), 0);		/* and no target */
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, hit, 1);
	worker_do(&b, hit, 2);
	pt_eq(set_select(fd, 1), 0);
	worker_do(&a, hit, 10);
	worker_do(&b, hit, 20);
	pt_eq(set_select(fd, 0), 0);
	worker_do(&a, hit, 100);
	pt_eq(set_select(fd, 2), -EINVAL);
	task_has(fd, a.pid, 101, 10);
	task_has(fd, b.pid, 2, 20);
	pt_eq(set_infos(fd, info), 2);
	set_was(&info[0], 4, 0, 0);
	set_was(&info[1], 2, 0, 0);
	worker_end(&a);
	worker_end(&b);
}

static void cpus(void)
{
	struct perf_event_attr attr;
	int fd, cpu;

	ext_need();
	need_cpus(4);
	load(NULL);
	attr = hits();
	fd = session_of_cpus(hits());
	session_add(fd, 1, &attr, 1);
	pt_eq(session_attach(fd, PERF_EXT_TARGET_ALL, 0, PERF_EXT_TARGET_RETURN), 0);
	pt_eq(session_targets(fd), 4);
	pt_eq(pt_module_get(MODULE, "nr_added"), 4);
	for (cpu = 0; cpu < 4; cpu++)
		hit_on(cpu, (u64)cpu + 1);
	pt_eq(set_select(fd, 1), 0);
	pt_eq(pt_module_get(MODULE, "nr_added"), 4);
	for (cpu = 0; cpu < 4; cpu++)
		hit_on(cpu, 10 * ((u64)cpu + 1));
	for (cpu = 0; cpu < 4; cpu++) {
		pt_eq(session_set_of_cpu(fd, cpu, 0), cpu + 1);
		pt_eq(session_set_of_cpu(fd, cpu, 1), 10 * (cpu + 1));
	}
	session_adds_up(fd);
	/* One goes in the turn of set 1, and comes back in that of set 0. */
	pt_eq(set_online(2, 0), 0);
	pt_eq(session_targets(fd), 3);
	pt_eq(session_set_left(fd, 0), 3);
	pt_eq(session_set_left(fd, 1), 30);
	pt_eq(set_online(2, 1), 0);
	pt_eq(session_targets(fd), 4);
	hit_on(2, 7);
	hit_on(3, 7);
	pt_eq(session_set_of_cpu(fd, 2, 0), 7);
	pt_eq(session_set_of_cpu(fd, 2, 1), 0);
	pt_eq(session_set_of_cpu(fd, 3, 1), 47);
	pt_eq(set_infos(fd, info), 2);
	set_was(&info[0], 5, 0, 0);
	set_was(&info[1], 4, 0, 0);
	session_adds_up(fd);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	pt_eq(session_set_left(fd, 0), 17);
	pt_eq(session_set_left(fd, 1), 107);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	close(fd);
	none_left();
}

/* ENABLE, DISABLE and RESET are for all sets; one that waits or has the turn goes on doing so. */
static void enable(void)
{
	struct perf_event_attr attr = faults_by(5);
	struct worker a;
	int fd;

	ext_need();
	worker_start(&a, 0);
	fd = session_of_faults(10, 1);
	attr.disabled = 1;
	session_add(fd, 1, &attr, 1);
	pt_eq(session_trigger(fd, 1, 0, 1), 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, session_fault, 40);	/* the other one is disabled */
	task_has(fd, a.pid, 40, 0);
	pt_eq(session_task_set(fd, a.pid, 1)->state, PERF_EXT_VALUES_OFF);
	pt_enable(fd);
	worker_do(&a, session_fault, 12);
	task_has(fd, a.pid, 50, 2);
	pt_eq(session_task_set(fd, a.pid, 0)->state, PERF_EXT_VALUES_ENABLED);
	pt_disable(fd);
	worker_do(&a, session_fault, 100);
	task_has(fd, a.pid, 50, 2);
	pt_eq(session_task_set(fd, a.pid, 0)->state, PERF_EXT_VALUES_OFF);
	pt_enable(fd);
	worker_do(&a, session_fault, 3);
	task_has(fd, a.pid, 50, 5);
	pt_reset(fd);
	worker_do(&a, session_fault, 11);
	task_has(fd, a.pid, 10, 1);
	session_adds_up(fd);
	worker_kill(&a);
	pt_eq(session_set_left(fd, 0), 10);
	pt_eq(session_set_left(fd, 1), 1);
}

/* The turn of set 0 is three overflows, of which RESUME has the first one come early. */
static void resume(void)
{
	static const u32 flags[] = { 0, PERF_EXT_TARGET_RESUME };
	unsigned int i;

	ext_need();
	for (i = 0; i < 2; i++) {
		struct worker a;
		int fd;

		worker_start(&a, 0);
		fd = session_of_faults(10, 3);
		add_faults(fd, 1, 0, 0);
		pt_eq(session_attach_task(fd, a.pid, 0), 0);
		worker_do(&a, session_fault, 25);
		pt_eq(session_detach_task(fd, a.pid), 0);
		worker_do(&a, session_fault, 100);
		pt_eq(session_attach_task(fd, a.pid, flags[i]), 0);
		worker_do(&a, session_fault, 40);
		task_has(fd, a.pid, i ? 25 : 30, i ? 15 : 10);
		pt_eq(session_set_left(fd, 0), 25);
		session_adds_up(fd);
		close(fd);
		worker_end(&a);
	}
}

/* Samples of all sets go to the buffer that is there already, or comes later; ids tell them. */
static void buffer(void)
{
	unsigned int when, i;

	ext_need();
	for (when = 0; when < 2; when++) {
		struct perf_event_attr attr = faults_by(5);
		u64 id, n[2] = {};
		struct perf_ext_create add = {
			.attrs = pt_addr(&attr), .ids = pt_addr(&id), .nr = 1,
			.stride = sizeof(attr), .flags = PERF_EXT_CREATE_ADD, .set = 1,
		};
		static struct pt_record rec;
		static struct pt_sample s;
		struct pt_ring ring;
		struct worker a;
		int fd;

		worker_start(&a, 0);
		attr.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_TID;
		attr.sample_period = 10;
		fd = session_of_tasks(attr);
		pt_eq(session_trigger(fd, 0, 0, 2), 0);
		if (!when)
			pt_map(&ring, fd, 8);
		attr.sample_period = 5;
		pt_eq(pt_ioctl(fd, PERF_EXT_IOC_CREATE, pt_addr(&add)), 0);
		if (when)
			pt_map(&ring, fd, 8);
		pt_eq(session_attach_task(fd, a.pid, 0), 0);
		worker_do(&a, session_fault, 20 + 15);
		while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
			pt_parse_sample(&attr, &rec, &s);
			pt_eq(s.tid, a.pid);
			i = s.id == id;
			pt_check(i || s.id == pt_id(fd), "a sample of whom?");
			n[i]++;
		}
		pt_eq(n[0], 2);
		pt_eq(n[1], 3);
		pt_unmap(&ring);
		close(fd);
		worker_end(&a);
	}
}

/* Calls that name a member: its periods, its notification, its masks. */
static void named(void)
{
	struct perf_event_attr attr[2] = { faults_by(0), faults_by(1000) };
	struct perf_ext_periods p = { .short_period = 10, .set = 3, .member = 1 };
	struct perf_ext_notify stop = {
		.every = 2, .flags = PERF_EXT_NOTIFY_STOP, .set = 3, .member = 1,
	};
	struct perf_ext_masks m = { .record = 3, .reset = 1, .set = 3, .member = 1 };
	struct perf_ext_restart restart = {};
	struct worker a;
	int fd;

	ext_need();
	worker_start(&a, 0);
	attr[1].sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	attr[1].read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	fd = session_of_tasks(faults_by(0));
	session_add(fd, 3, attr, 2);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_PERIODS, pt_addr(&p)), 0);
	p = (struct perf_ext_periods){ .set = 3, .member = 1 };
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	pt_eq(p.short_period, 10);
	pt_eq(p.set, 3);
	pt_eq(p.member, 1);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_MASKS, pt_addr(&m)), 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(set_select(fd, 3), 0);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&stop)), 0);
	worker_do(&a, session_fault, 50);
	pt_eq(session_set_of_task(fd, a.pid, 3), 20);	/* two periods of ten */
	pt_eq(session_task_set(fd, a.pid, 3)->value[1], 20);
	pt_eq(session_task_set(fd, a.pid, 3)->state, PERF_EXT_VALUES_OFF);
	pt_eq(session_set_of_task(fd, a.pid, 0), 0);	/* the set keeps its turn */
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&restart)), 0);
	worker_do(&a, session_fault, 50);
	pt_eq(session_set_of_task(fd, a.pid, 3), 40);
	pt_eq(session_task_set(fd, a.pid, 3)->value[1], 40);
	worker_end(&a);
}

/* ---- counters of CPUs, to the last instruction ---- */

static int spinning;		/* the session's descriptor, in workers, too */

#if defined(__aarch64__)
#define SPIN_COST(turns)	A64_SPIN_COST(turns)

static struct perf_event_attr counter(void)
{
	a64_need_exact();
	return a64_cycles(0);
}

static void spin(u64 turns)
{
	a64_measured_spin(spinning, turns);
}
#else
#define SPIN_COST(turns)	X86_SPIN_COST(turns)

static struct perf_event_attr counter(void)
{
	x86_need_exact();
	return x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
}

static void spin(u64 turns)
{
	x86_measured_spin(spinning, turns);
}
#endif

/* Turns of 3 periods of 10,007, 2 of 5,003 and one of 1,009, in each of two tasks. */
static void instructions(void)
{
	static const u64 period[] = { 10007, 5003, 1009 };
	static const u32 threshold[] = { 3, 2, 1 };
	const u64 round = 3 * 10007 + 2 * 5003 + 1009, total = SPIN_COST(500000);
	struct worker w[2];
	int i;

	ext_need();
	if (pt_online_cpus() > 1)
		pt_skip("time passes while an emulator runs another CPU");
	for (i = 0; i < 3; i++) {
		struct perf_event_attr attr = counter();

		attr.sample_period = period[i];
		if (i)
			session_add(spinning, (u16)i, &attr, 1);
		else
			spinning = session_of_tasks(attr);
		pt_eq(session_trigger(spinning, (u16)i, 0, threshold[i]), 0);
	}
	for (i = 0; i < 2; i++) {
		worker_start(&w[i], 0);
		pt_eq(session_attach_task(spinning, w[i].pid, 0), 0);
	}
	for (i = 0; i < 2; i++) {
		/* One of them enables the events of both. */
		worker_asleep(&w[0]);
		worker_asleep(&w[1]);
		worker_do(&w[i], spin, 500000);
		pt_eq(session_set_of_task(spinning, w[i].pid, 0),
		      total - total / round * (round - 3 * 10007));
		pt_eq(session_set_of_task(spinning, w[i].pid, 1), 24 * 2 * 5003);
		pt_eq(session_set_of_task(spinning, w[i].pid, 2), 24 * 1009);
	}
	session_adds_up(spinning);
	pt_eq(set_infos(spinning, info), 3);
	for (i = 0; i < 3; i++)
		set_was(&info[i], 2 * (i ? 24 : 25), 2 * 24, 0);
	for (i = 0; i < 2; i++)
		worker_end(&w[i]);
	session_adds_up(spinning);
	close(spinning);
}

/* A CPU goes while two counters of one group are at work: both have seen the same. */
static void goes_as_a_whole(void)
{
	struct perf_event_attr attr[2];
	const struct session_entry *e;
	int fd, i;

	ext_need();
	need_cpus(2);
	for (i = 0; i < 2; i++) {
		attr[i] = counter();
		attr[i].exclude_kernel = 0;
		attr[i].disabled = 0;
	}
	fd = session_make(attr, 2, PERF_EXT_CREATE_CPUS);
	pt_eq(session_attach_cpu(fd, 1), 0);
	pt_pin(1);
	pt_spin(100000);
	pt_pin(0);
	pt_eq(set_online(1, 0), 0);
	e = session_left(fd);
	pt_need(e && e->nr == 2, "no entry of what has left");
	pt_check(e->value[0] > 200000, "%llu", (unsigned long long)e->value[0]);
	pt_eq(e->value[1], e->value[0]);
	pt_eq(set_online(1, 1), 0);
}

/* ---- PMUs that leave ---- */

static void pmu_leaves(void)
{
	struct perf_event_attr attr[2];
	struct worker a;
	int fd;

	ext_need();
	load(NULL);
	need_revoking();
	worker_start(&a, 0);
	fd = session_of_faults(10, 1);
	attr[0] = hits();
	attr[1] = faults_by(5);
	session_add(fd, 1, attr, 2);
	pt_eq(session_trigger(fd, 1, 1, 1), 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, session_fault, 12);
	pt_eq(session_set_of_task(fd, a.pid, 0), 10);
	pt_eq(session_task_set(fd, a.pid, 1)->value[1], 2);
	/* In the turn of the set that has it: the other one goes on alone, for ever. */
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	worker_do(&a, session_fault, 100);
	pt_eq(session_set_of_task(fd, a.pid, 0), 110);
	pt_check(!session_task_set(fd, a.pid, 1), "set 1 is there");
	pt_eq(session_attach_task(fd, 0, 0), -ENODEV);
	pt_eq(session_detach_task(fd, a.pid), 0);
	pt_eq(session_set_left(fd, 0), 110);
	pt_eq(session_attach_task(fd, a.pid, 0), -ENODEV);
	close(fd);
	none_left();
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	worker_end(&a);
}

/* ---- what is refused ---- */

static void refused(void)
{
	struct perf_event_attr attr = faults(), other = faults(), many[64];
	struct perf_ext_create c = {
		.attrs = pt_addr(&attr), .nr = 1, .stride = sizeof(attr),
		.flags = PERF_EXT_CREATE_ADD, .set = 1,
	};
	struct perf_ext_set join = { .ring = -1 };
	struct worker a;
	int fd, one, i;

	ext_need();
	worker_start(&a, 0);
	one = pt_open(&attr, 0, -1, -1, 0);
	fd = session_of_tasks(faults_by(10));
	for (i = 0; i < 64; i++)
		many[i] = faults();
	pt_eq(session_try_add(one, 1, &attr, 1), -EINVAL);
	pt_eq(session_try_add(fd, 0, &attr, 1), -EINVAL);
	pt_eq(session_try_add(fd, 1, &attr, 0), -EINVAL);
	pt_eq(session_try_add(fd, 1, many, 64), -E2BIG);
	pt_eq(session_try_add(fd, 1, many, 65), -E2BIG);
	other.pinned = 1;
	pt_eq(session_try_add(fd, 1, &other, 1), -EINVAL);
	other = faults();
	other.write_backward = 1;
	pt_eq(session_try_add(fd, 1, &other, 1), -EINVAL);
	other = faults();
	other.inherit = 1;
	pt_eq(session_try_add(fd, 1, &other, 1), -EINVAL);
	other = pt_attr(12345, 0);
	pt_eq(session_try_add(fd, 1, &other, 1), -ENOENT);
	c.flags |= PERF_EXT_CREATE_CLOEXEC;
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_CREATE, pt_addr(&c)), -EINVAL);
	c.flags = PERF_EXT_CREATE_ADD;
	c.ids = 8;
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_CREATE, pt_addr(&c)), -EFAULT);
	c.attrs = 8;
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_CREATE, pt_addr(&c)), -EFAULT);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_SET_JOIN, pt_addr(&join)), -EINVAL);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_SET_LEAVE, 0), -EINVAL);
	/* Nothing has come of all that: it has one set. */
	pt_eq(session_trigger(fd, 1, 0, 1), -EINVAL);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_try_add(fd, 1, &attr, 1), -EBUSY);
	pt_eq(session_detach_task(fd, a.pid), 0);
	session_add(fd, 1, &attr, 1);
	pt_eq(session_try_add(fd, 1, &attr, 1), -EEXIST);
	pt_eq(session_trigger(fd, 0, 1, 1), -EINVAL);
	pt_eq(session_trigger(fd, 1, 1, 1), -EINVAL);
	pt_eq(session_trigger(fd, 2, 0, 1), -EINVAL);
	pt_eq(session_trigger(fd, 1, 0, 1), -EINVAL);	/* it does not sample */
	pt_eq(session_trigger(one, 1, 0, 1), -EINVAL);
	pt_eq(session_attach_task(fd, a.pid, PERF_EXT_TARGET_INHERIT), -EOPNOTSUPP);
	pt_eq(session_targets(fd), 0);
	close(fd);
	/* What is pinned takes no turns. */
	other = faults();
	other.pinned = 1;
	fd = session_of_tasks(other);
	pt_eq(session_try_add(fd, 1, &attr, 1), -EINVAL);
	worker_end(&a);
}

/* As many sets, and events in all, as there can be. */
static void most(void)
{
	struct perf_event_attr attr = faults_by(2);
	struct worker a;
	int fd, i;

	ext_need();
	worker_start(&a, 0);
	fd = session_of_faults(2, 1);
	for (i = 1; i < 64; i++)
		add_faults(fd, (u16)(1000 - i), 2, 1);
	pt_eq(session_try_add(fd, 1, &attr, 1), -ENOSPC);
	pt_eq(session_trigger(fd, 0, 1, 1), -EINVAL);	/* the next member is another set's */
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, session_fault, 2 * (64 * 3 + 2));
	pt_eq(set_infos(fd, info), 64);
	for (i = 0; i < 64; i++) {
		pt_eq(session_set_of_task(fd, a.pid, info[i].number), 2 * (3 + (i < 2)));
		set_was(&info[i], 3 + (i < 3), 3 + (i < 2), 0);
	}
	for (i = 8; i < 65536; i += 8)		/* that are 0 and 937 to 999 */
		pt_eq(set_select(fd, (u16)i), i < 937 || i > 999 ? -EINVAL : 0);
	session_adds_up(fd);
	worker_end(&a);
}

static void of_a_cgroup(void)
{
	struct perf_event_attr attr = faults();
	int fd, dir;

	ext_need();
	fd = session_of_cpus(faults());
	session_add(fd, 1, &attr, 1);
	dir = cg_dir_fd(cg_make(""));
	pt_eq(session_attach(fd, PERF_EXT_TARGET_CGROUP, dir, 0), -EOPNOTSUPP);
	close(dir);
	cg_remove_all();
}

static const struct pt_case cases[] = {
	{ "cascade", cascade },
	{ "rounds", rounds },
	{ "groups", groups },
	{ "by_hand", by_hand },
	{ "cpus", cpus },
	{ "enable", enable },
	{ "resume", resume },
	{ "buffer", buffer },
	{ "named", named },
	{ "instructions", instructions },
	{ "goes_as_a_whole", goes_as_a_whole },
	{ "pmu_leaves", pmu_leaves },
	{ "refused", refused },
	{ "most", most },
	{ "of_a_cgroup", of_a_cgroup },
};

PT_MAIN(cases)
