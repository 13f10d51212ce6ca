// SPDX-License-Identifier: GPL-2.0
/*
 * session_cpu.c - one descriptor for events of all CPUs, or of cgroups on all of them: what each of
 * them counts, CPUs that go and come back. See session.c.
 *
 * needs: smp
 */
#include "lib/cgroup.h"
#include "lib/cpus.h"
#include "lib/session.h"
#include <sys/stat.h>

#define CPUS	4

/* Eleven hits on CPU 0, 22 on CPU 1, ... */
static void hit_all(void)
{
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		hit_on(cpu, (u64)(cpu + 1) * 11);
}

/* What each CPU has counted; -1: it is no target. */
static void cpus_have(int fd, const s64 want[CPUS])
{
	int cpu, targets = 0;

	for (cpu = 0; cpu < CPUS; cpu++) {
		targets += want[cpu] >= 0;
		pt_check(session_count_of_cpu(fd, cpu) == want[cpu], "CPU %d has %lld, not %lld",
			 cpu, (long long)session_count_of_cpu(fd, cpu), (long long)want[cpu]);
	}
	pt_eq(session_targets(fd), targets);
	session_adds_up(fd);
}

#define CPUS_HAVE(fd, ...)	cpus_have(fd, (const s64 [CPUS]) { __VA_ARGS__ })

static long attach_all(int fd, u32 flags)
{
	return session_attach(fd, PERF_EXT_TARGET_ALL, 0, flags);
}

/* A session of hits; all four CPUs are there, and so is the test PMU. */
static int start(void)
{
	ext_need();
	need_cpus(CPUS);
	load(NULL);
	return session_of_cpus(hits());
}

static void all_cpus(void)
{
	int fd = start();

	hit_all();
	pt_eq(pt_count(fd), 0);
	pt_eq(attach_all(fd, 0), 0);
	pt_eq(pt_module_get(MODULE, "nr_added"), CPUS);
	hit_all();
	CPUS_HAVE(fd, 11, 22, 33, 44);
	pt_eq(session_count_left(fd), 0);
	pt_eq(pt_count(fd), 110);
	pt_eq(session_cpu(fd, 2)->state, PERF_EXT_VALUES_COUNTING);
	pt_disable(fd);
	hit_all();
	pt_eq(pt_count(fd), 110);
	pt_eq(session_cpu(fd, 2)->state, PERF_EXT_VALUES_OFF);
	pt_enable(fd);
	hit_on(3, 6);
	CPUS_HAVE(fd, 11, 22, 33, 50);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	hit_all();
	CPUS_HAVE(fd, -1, -1, -1, -1);
	pt_eq(session_count_left(fd), 116);
	pt_eq(pt_count(fd), 116);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	close(fd);
	none_left();
}

static void some_cpus(void)
{
	int fd = start();

	pt_eq(session_attach_cpu(fd, 1), 0);
	pt_eq(session_attach_cpu(fd, 3), 0);
	pt_eq(session_attach_cpu(fd, 3), -EEXIST);
	hit_all();
	CPUS_HAVE(fd, -1, 22, -1, 44);
	pt_eq(session_detach_cpu(fd, 3), 0);
	pt_eq(session_detach_cpu(fd, 3), -ENOENT);
	hit_all();
	CPUS_HAVE(fd, -1, 44, -1, -1);
	pt_eq(session_count_left(fd), 44);
	pt_eq(session_attach_cpu(fd, 3), 0);
	hit_all();
	CPUS_HAVE(fd, -1, 66, -1, 44);
	pt_eq(pt_count(fd), 154);
}

/* ALL finds one that is attached already: nothing is attached. */
static void all_or_nothing(void)
{
	int fd = start();

	pt_eq(session_attach_cpu(fd, 2), 0);
	pt_eq(attach_all(fd, 0), -EEXIST);
	hit_all();
	CPUS_HAVE(fd, -1, -1, 33, -1);
	pt_eq(pt_module_get(MODULE, "nr_added"), 1);
	pt_eq(session_detach_cpu(fd, 2), 0);
	pt_eq(attach_all(fd, 0), 0);
	pt_eq(attach_all(fd, 0), -EEXIST);
	hit_all();
	CPUS_HAVE(fd, 11, 22, 33, 44);
	pt_eq(pt_count(fd), 143);
}

/* Where one cannot be had, none is attached; but all others, if that one has no such PMU. */
static void one_cpu_fails(void)
{
	static const int no_pmu[] = { ENODEV, ENOENT };
	int fd = start(), i;

	pt_eq(pt_module_set(MODULE, "fail_cpu", 2), 0);
	pt_eq(pt_module_set(MODULE, "fail_init", ENOSPC), 0);
	pt_eq(attach_all(fd, 0), -ENOSPC);
	CPUS_HAVE(fd, -1, -1, -1, -1);
	pt_eq(pt_module_get(MODULE, "nr_events"), 1);
	for (i = 0; i < 2; i++) {
		pt_eq(pt_module_set(MODULE, "fail_init", no_pmu[i]), 0);
		pt_eq(attach_all(fd, 0), 0);
		hit_all();
		CPUS_HAVE(fd, 11, 22, -1, 44);
		pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	}
	pt_eq(pt_count(fd), 2 * 77);
}

/* Page faults: as many as the events of single CPUs count, opened one by one. */
static void as_single_events(void)
{
	struct perf_event_attr attr = faults();
	int fd, one[CPUS], cpu;
	u64 sum = 0;

	ext_need();
	need_cpus(CPUS);
	fd = session_of_cpus(faults());
	pt_eq(attach_all(fd, 0), 0);
	for (cpu = 0; cpu < CPUS; cpu++) {
		one[cpu] = pt_open(&attr, -1, cpu, -1, 0);
		fault_on(cpu, 10 * ((unsigned int)cpu + 1));
	}
	for (cpu = 0; cpu < CPUS; cpu++) {
		u64 single = pt_count(one[cpu]);

		pt_check(single >= 10 * ((u64)cpu + 1), "CPU %d: %llu", cpu,
			 (unsigned long long)single);
		pt_check(session_count_of_cpu(fd, cpu) >= (s64)single, "CPU %d: %lld", cpu,
			 (long long)session_count_of_cpu(fd, cpu));
		sum += single;
	}
	pt_check(pt_count(fd) >= sum, "%llu", (unsigned long long)pt_count(fd));
}

/* ---- CPUs that go and come back ---- */

static void offline(void)
{
	int fd = start();

	pt_eq(attach_all(fd, 0), 0);
	hit_all();
	pt_eq(set_online(2, 0), 0);
	CPUS_HAVE(fd, 11, 22, -1, 44);
	pt_eq(session_count_left(fd), 33);
	pt_eq(pt_count(fd), 110);
	pt_eq(session_detach_cpu(fd, 2), -ENOENT);
	pt_eq(session_attach_cpu(fd, 2), -ENODEV);
	pt_eq(set_online(2, 1), 0);
	hit_all();
	CPUS_HAVE(fd, 22, 44, -1, 88);
	pt_eq(session_count_left(fd), 33);
	/* By hand, it can come. */
	pt_eq(session_attach_cpu(fd, 2), 0);
	hit_on(2, 5);
	CPUS_HAVE(fd, 22, 44, 5, 88);
	pt_eq(pt_count(fd), 192);
}

static void comes_back(void)
{
	int fd = start();

	pt_eq(attach_all(fd, PERF_EXT_TARGET_RETURN), 0);
	hit_all();
	pt_eq(set_online(2, 0), 0);
	CPUS_HAVE(fd, 11, 22, -1, 44);
	pt_eq(session_count_left(fd), 33);
	/* Away, it is no target; it comes all the same. */
	pt_eq(session_detach_cpu(fd, 2), -ENOENT);
	pt_eq(set_online(2, 1), 0);
	/* Whoever wants to attach it by hand is too late. */
	pt_eq(session_attach_cpu(fd, 2), -EEXIST);
	CPUS_HAVE(fd, 11, 22, 0, 44);
	hit_on(2, 5);
	CPUS_HAVE(fd, 11, 22, 5, 44);
	pt_eq(session_count_left(fd), 33);
	pt_eq(pt_count(fd), 115);
	/* Once more, and disabled meanwhile. */
	pt_eq(set_online(2, 0), 0);
	pt_disable(fd);
	pt_eq(set_online(2, 1), 0);
	pt_eq(session_attach_cpu(fd, 2), -EEXIST);
	hit_all();
	CPUS_HAVE(fd, 11, 22, 0, 44);
	pt_enable(fd);
	hit_all();
	CPUS_HAVE(fd, 22, 44, 33, 88);
	pt_eq(session_count_left(fd), 38);
	/* Those that are taken off do not. */
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	pt_eq(set_online(2, 0), 0);
	pt_eq(set_online(2, 1), 0);
	hit_all();
	CPUS_HAVE(fd, -1, -1, -1, -1);
	pt_eq(pt_count(fd), 225);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
}

/* One that was away when ALL was said comes, too, or does not. */
static void comes_later(void)
{
	int fd = start(), once = session_of_cpus(hits());

	pt_eq(set_online(1, 0), 0);
	pt_eq(set_online(3, 0), 0);
	pt_eq(attach_all(fd, PERF_EXT_TARGET_RETURN), 0);
	pt_eq(attach_all(once, 0), 0);
	hit_on(0, 1);
	hit_on(2, 2);
	CPUS_HAVE(fd, 1, -1, 2, -1);
	pt_eq(set_online(3, 1), 0);
	pt_eq(session_targets(fd), 3);
	hit_on(3, 4);
	CPUS_HAVE(fd, 1, -1, 2, 4);
	pt_eq(set_online(1, 1), 0);
	pt_eq(session_targets(fd), 4);
	hit_on(1, 8);
	CPUS_HAVE(fd, 1, 8, 2, 4);
	CPUS_HAVE(once, 1, -1, 2, -1);
}

/* CPUs that are yet to come are targets, even while there is no other one: no set joins. */
static void none_but_those_to_come(void)
{
	struct perf_event_attr attr = faults();
	int cpus = pt_online_cpus(), cpu, fd;

	ext_need();
	fd = session_of_cpus(faults());
	pt_eq(attach_all(fd, PERF_EXT_TARGET_RETURN), 0);
	for (cpu = 0; cpu < cpus; cpu++)
		pt_eq(session_detach_cpu(fd, cpu), 0);
	pt_eq(session_targets(fd), 0);
	pt_eq(session_try_add(fd, 1, &attr, 1), -EBUSY);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	pt_eq(session_try_add(fd, 1, &attr, 1), 0);
	close(fd);
}

/* All but one go, the first of them first, and come back. */
static void all_but_one_go(void)
{
	int fd = start(), cpu;

	pt_eq(attach_all(fd, PERF_EXT_TARGET_RETURN), 0);
	hit_all();
	pt_pin(3);
	if (set_online(0, 0))
		pt_skip("CPU 0 does not go offline");
	pt_eq(set_online(1, 0), 0);
	pt_eq(set_online(2, 0), 0);
	pt_eq(pt_count(fd), 110);
	pt_eq(session_targets(fd), 1);
	pt_eq(session_count_left(fd), 66);
	pt_eq(session_count_of_cpu(fd, 3), 44);
	pt_eq(pt_module_set(MODULE, "hit", 3), 0);
	for (cpu = 0; cpu < 3; cpu++)
		pt_eq(set_online(cpu, 1), 0);
	pt_eq(session_targets(fd), 4);
	hit_all();
	CPUS_HAVE(fd, 11, 22, 33, 91);
	pt_eq(session_count_left(fd), 66);
}

/* Closed while a CPU is away that would return. */
static void closed_while_away(void)
{
	int fd = start();

	pt_eq(attach_all(fd, PERF_EXT_TARGET_RETURN), 0);
	pt_eq(set_online(2, 0), 0);
	close(fd);
	none_left();
	pt_eq(set_online(2, 1), 0);
	none_left();
}

/* A counter that went with its CPU is being given back: close() returns when it is free. */
static void closed_while_a_counter_goes(void)
{
	int fd = start();

	pt_eq(session_attach_cpu(fd, 2), 0);
	pt_eq(pt_module_set(MODULE, "slow", 1000), 0);
	pt_eq(set_online(2, 0), 0);
	while (!pt_module_get(MODULE, "destroying"))
		pt_switch_out();
	/* The others are free at once. */
	pt_eq(pt_module_set(MODULE, "slow", 0), 0);
	close(fd);
	none_left();
	pt_eq(set_online(2, 1), 0);
}

/* Its PMU has gone while the CPU was away: it cannot come back. */
static void pmu_leaves_meanwhile(void)
{
	int fd = start();

	need_revoking();
	pt_eq(attach_all(fd, PERF_EXT_TARGET_RETURN), 0);
	hit_all();
	pt_eq(set_online(2, 0), 0);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	pt_eq(set_online(2, 1), 0);
	pt_eq(pt_count(fd), 110);
	close(fd);
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
}

/* ---- cgroups on all CPUs ---- */

static const char *group[3];
static u64 group_id[3];

static void make_groups(void)
{
	static const char * const name[] = { "", "/b", "/b/c" };
	struct stat st;
	int i;

	for (i = 0; i < 3; i++) {
		group[i] = cg_make(name[i]);
		pt_need(!stat(group[i], &st), "%s: %s", group[i], strerror(errno));
		group_id[i] = st.st_ino;
	}
}

static long attach_cgroup(int fd, const char *dir, u32 flags)
{
	int at = cg_dir_fd(dir);
	long ret = session_attach(fd, PERF_EXT_TARGET_CGROUP, at, flags);

	close(at);
	return ret;
}

static long detach_cgroup(int fd, const char *dir)
{
	int at = cg_dir_fd(dir);
	long ret = session_detach(fd, PERF_EXT_TARGET_CGROUP, at);

	close(at);
	return ret;
}

/* A cgroup on a CPU, or on all; NULL: there is no entry. */
static const struct session_entry *entry_of_cgroup(int fd, u64 id, int cpu)
{
	static struct session_entry e[SESSION_ENTRIES];
	u32 flags = cpu < 0 ? PERF_EXT_READ_CGROUPS : PERF_EXT_READ_TARGETS;
	unsigned int i, nr = session_read(fd, flags, e);

	for (i = 0; i + 1 < nr; i++)
		if (e[i].cgroup == id && e[i].cpu == cpu)
			return &e[i];
	return NULL;
}

/* What its tasks have counted; -1: there is no entry. */
static s64 count_of_cgroup(int fd, u64 id, int cpu)
{
	const struct session_entry *e = entry_of_cgroup(fd, id, cpu);

	return e ? (s64)e->value[0] : -1;
}

static int state_of_cgroup(int fd, u64 id)
{
	const struct session_entry *e = entry_of_cgroup(fd, id, -1);

	return e ? (int)e->state : -1;
}

/* In the cgroup, 1 2 3 4 hits on CPU 0 1 2 3, each so many times. */
static void hit_in(const char *dir, u64 times)
{
	int cpu;

	cg_enter(dir);
	for (cpu = 0; cpu < CPUS; cpu++)
		hit_on(cpu, times * ((u64)cpu + 1));
	cg_leave();
}

static void cgroups(void)
{
	int fd = start(), cpu;

	make_groups();
	pt_eq(attach_cgroup(fd, group[1], 0), 0);
	pt_eq(attach_cgroup(fd, group[1], 0), -EEXIST);
	hit_all();
	hit_in(group[0], 1000);
	pt_eq(pt_count(fd), 0);
	hit_in(group[1], 1);
	hit_in(group[2], 10);		/* below it */
	for (cpu = 0; cpu < CPUS; cpu++)
		pt_eq(count_of_cgroup(fd, group_id[1], cpu), 11 * (cpu + 1));
	pt_eq(session_targets(fd), CPUS);
	pt_eq(count_of_cgroup(fd, group_id[1], -1), 110);
	pt_eq(pt_count(fd), 110);
	session_adds_up(fd);
	pt_eq(state_of_cgroup(fd, group_id[1]), PERF_EXT_VALUES_ENABLED);
	pt_disable(fd);
	pt_eq(state_of_cgroup(fd, group_id[1]), PERF_EXT_VALUES_OFF);
	pt_enable(fd);

	/* Another one in the same session. */
	pt_eq(attach_cgroup(fd, group[2], 0), 0);
	hit_in(group[2], 1);
	hit_in(group[1], 1);
	pt_eq(count_of_cgroup(fd, group_id[1], -1), 130);
	pt_eq(count_of_cgroup(fd, group_id[2], -1), 10);
	pt_eq(count_of_cgroup(fd, group_id[2], 3), 4);
	pt_eq(pt_count(fd), 140);
	session_adds_up(fd);

	pt_eq(detach_cgroup(fd, group[1]), 0);
	pt_eq(detach_cgroup(fd, group[1]), -ENOENT);
	hit_in(group[1], 1);
	hit_in(group[2], 1);
	pt_eq(count_of_cgroup(fd, group_id[1], -1), -1);
	pt_eq(count_of_cgroup(fd, group_id[2], -1), 20);
	pt_eq(session_count_left(fd), 130);
	pt_eq(pt_count(fd), 150);
	session_adds_up(fd);
	close(fd);
	none_left();
	hit_in(group[1], 1);
	cg_remove_all();
}

/* A task is moved into the cgroup and out of it while it is at work. */
static void cgroup_of_a_task(void)
{
	int fd = start(), i;
	struct worker w;

	make_groups();
	worker_start(&w, 1);
	pt_eq(attach_cgroup(fd, group[0], 0), 0);
	for (i = 0; i < 10; i++) {
		worker_do(&w, hit, 100);
		pt_eq(cg_enter_path(group[0], w.pid), 0);
		worker_do(&w, hit, 3);
		pt_eq(cg_enter_path(group[1], w.pid), 0);
		worker_do(&w, hit, 4);
		pt_eq(cg_enter_path(cg_mounted, w.pid), 0);
	}
	pt_eq(count_of_cgroup(fd, group_id[0], 1), 70);
	pt_eq(count_of_cgroup(fd, group_id[0], 0), 0);
	pt_eq(pt_count(fd), 70);
	worker_end(&w);
	cg_remove_all();
}

/* One of a cgroup that runs a task at the moment, and CPUs in the same session. */
static void cgroup_and_cpus(void)
{
	int fd = start();

	make_groups();
	pt_eq(session_attach_cpu(fd, 1), 0);
	cg_enter(group[0]);
	pt_eq(attach_cgroup(fd, group[0], 0), 0);
	hit_on(0, 5);
	hit_on(1, 7);
	pt_eq(session_count_of_cpu(fd, 0), -1);
	pt_eq(count_of_cgroup(fd, group_id[0], 0), 5);
	pt_eq(count_of_cgroup(fd, group_id[0], 1), 7);
	pt_eq(session_count_of_cpu(fd, 1), 7);
	pt_eq(pt_count(fd), 19);
	cg_leave();
	hit_on(1, 2);
	pt_eq(count_of_cgroup(fd, group_id[0], 1), 7);
	pt_eq(session_count_of_cpu(fd, 1), 9);
	pt_eq(pt_count(fd), 21);
	session_adds_up(fd);
	cg_remove_all();
}

static void cgroup_and_hotplug(void)
{
	int fd = start();

	make_groups();
	pt_eq(attach_cgroup(fd, group[0], PERF_EXT_TARGET_RETURN), 0);
	pt_eq(attach_cgroup(fd, group[1], 0), 0);
	hit_in(group[1], 1);
	pt_eq(pt_count(fd), 20);
	pt_eq(set_online(2, 0), 0);
	pt_eq(count_of_cgroup(fd, group_id[0], -1), 7);
	pt_eq(count_of_cgroup(fd, group_id[1], -1), 7);
	pt_eq(session_count_left(fd), 6);
	pt_eq(set_online(2, 1), 0);
	pt_eq(session_targets(fd), 7);
	hit_in(group[1], 1);
	pt_eq(count_of_cgroup(fd, group_id[0], 2), 3);
	pt_eq(count_of_cgroup(fd, group_id[1], 2), -1);
	pt_eq(count_of_cgroup(fd, group_id[0], -1), 17);
	pt_eq(count_of_cgroup(fd, group_id[1], -1), 14);
	pt_eq(session_count_left(fd), 6);
	pt_eq(pt_count(fd), 37);
	session_adds_up(fd);
	cg_remove_all();
}

/* A cgroup that is removed counts no more; the session holds it no longer than its targets. */
static void cgroup_removed(void)
{
	int fd = start();

	make_groups();
	pt_eq(attach_cgroup(fd, group[2], PERF_EXT_TARGET_RETURN), 0);
	hit_in(group[2], 1);
	pt_need(!rmdir(group[2]), "rmdir: %s", strerror(errno));
	pt_eq(pt_count(fd), 10);
	pt_eq(count_of_cgroup(fd, group_id[2], -1), 10);
	pt_eq(set_online(2, 0), 0);
	pt_eq(set_online(2, 1), 0);
	pt_eq(pt_count(fd), 10);
	pt_eq(session_attach(fd, PERF_EXT_TARGET_CGROUP_ID, (s64)group_id[2], 0), -EINVAL);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_CGROUP_ID, (s64)group_id[1]), -ENOENT);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_CGROUP_ID, (s64)group_id[2]), 0);
	pt_eq(session_targets(fd), 0);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_CGROUP_ID, (s64)group_id[2]), -ENOENT);
	pt_eq(pt_count(fd), 10);
	cg_remove_all();
	cg_wait_until_gone();
	close(fd);
}

static const struct pt_case cases[] = {
	{ "all_cpus", all_cpus },
	{ "some_cpus", some_cpus },
	{ "all_or_nothing", all_or_nothing },
	{ "one_cpu_fails", one_cpu_fails },
	{ "as_single_events", as_single_events },
	{ "offline", offline },
	{ "comes_back", comes_back },
	{ "comes_later", comes_later },
	{ "none_but_those_to_come", none_but_those_to_come },
	{ "all_but_one_go", all_but_one_go },
	{ "closed_while_away", closed_while_away },
	{ "closed_while_a_counter_goes", closed_while_a_counter_goes },
	{ "pmu_leaves_meanwhile", pmu_leaves_meanwhile },
	{ "cgroups", cgroups },
	{ "cgroup_of_a_task", cgroup_of_a_task },
	{ "cgroup_and_cpus", cgroup_and_cpus },
	{ "cgroup_and_hotplug", cgroup_and_hotplug },
	{ "cgroup_removed", cgroup_removed },
};

PT_MAIN(cases)
