// SPDX-License-Identifier: GPL-2.0
/* What happens around events: tasks, CPUs, cgroups and PMUs come, move and go. */
#include "stress.h"
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#define CGROUPS		"/sys/fs/cgroup"
#define NR_CGROUPS	6
#define MODULE		"test_count"

static void cgroup_path(char *path, size_t size, unsigned int n)
{
	/* Two levels: odd ones are below their predecessors. */
	if (n & 1)
		snprintf(path, size, CGROUPS "/stress%u/below", n - 1);
	else
		snprintf(path, size, CGROUPS "/stress%u", n);
}

int some_cgroup(struct worker *w)
{
	char path[128];

	cgroup_path(path, sizeof(path), below(w, NR_CGROUPS));
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool have_cgroups(void)
{
	return pt_path_exists(CGROUPS "/cgroup.procs");
}

static bool have_module(void)
{
	char path[512];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len <= 0)
		return false;
	path[len] = 0;
	snprintf(strrchr(path, '/') + 1, 64, MODULE ".ko");
	return pt_path_exists(path);
}

static void cpu_path(char *path, size_t size, int cpu)
{
	snprintf(path, size, "/sys/devices/system/cpu/cpu%d/online", cpu);
}

static bool have_hotplug(void)
{
	return pt_path_exists("/sys/devices/system/cpu/cpu1/online");
}

void prepare(void)
{
	char path[128];
	unsigned int i;

	/* Below a cgroup with a controller in there, events find their cgroup. */
	if (have_cgroups())
		pt_write_file(CGROUPS "/cgroup.subtree_control", "+pids");
	for (i = 0; have_cgroups() && i < NR_CGROUPS; i++) {
		cgroup_path(path, sizeof(path), i);
		mkdir(path, 0755);
	}
}

/* Those that need something which this machine may lack. */
bool action_possible(enum action a)
{
	switch (a) {
	case OPEN_CGROUP:
	case CGROUP_MOVE:
	case CGROUP_REMOVE:
		return have_cgroups();
	case OPEN_TEST_PMU:
	case PMU_LOAD:
	case PMU_UNLOAD:
		return have_module();
	case CPU_OFF:
	case CPU_ON:
		return have_hotplug();
	case SESSION_MAKE:
	case SESSION_ATTACH:
	case SESSION_DETACH:
	case SESSION_READ:
		return have_sessions();
	case EXT_PERIODS:
	case EXT_MASKS:
	case EXT_NOTIFY:
	case EXT_RESTART:
	case SET_JOIN:
	case SET_LEAVE:
	case SET_TRIGGER:
	case SET_SELECT:
	case SET_INFO:
		return have_extensions();
	case FORMAT_MAKE:
	case FORMAT_LEAVE:
	case FORMAT_FLIP:
		return have_formats();
	default:
		return true;
	}
}

static long set_cpu(int cpu, bool on)
{
	char path[128];

	cpu_path(path, sizeof(path), cpu);
	return pt_write_file(path, on ? "1" : "0");
}

void all_cpus_on(void)
{
	int cpu;

	for (cpu = 1; cpu < 4; cpu++)
		set_cpu(cpu, true);
}

/* Children inherit what the worker has; they exit, exec, or are killed. */
static void fork_one(struct worker *w)
{
	unsigned int fate = below(w, 4);
	pid_t pid = fork();

	note(FORK, pid);
	if (pid < 0)
		return;
	if (!pid) {
		pt_fault(5);
		if (fate == 0)
			execl("/proc/self/exe", "stress", "exec", NULL);
		if (fate == 1)
			pause();
		if (fate == 2 && !fork())
			_exit(0);
		_exit(0);
	}
	if (fate == 1)
		kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (fate == 0)
		note(EXEC, 0);
}

void role_forks(struct worker *w)
{
	while (!over()) {
		act_on_events(w);
		if (!below(w, 3))
			fork_one(w);
	}
	drop_events(w);
}

static void *be_a_thread(void *arg)
{
	pt_fault(3);
	if (arg)
		sched_yield();
	return NULL;
}

void role_threads(struct worker *w)
{
	pthread_t t[4];
	unsigned int i, n;

	while (!over()) {
		for (n = 0; n < PT_ARRAY_SIZE(t); n++)
			if (pthread_create(&t[n], NULL, be_a_thread, (void *)(rnd(w) & 1)))
				break;
		act_on_events(w);
		for (i = 0; i < n; i++)
			note(THREAD, -pthread_join(t[i], NULL));
	}
	drop_events(w);
}

void role_migrate(struct worker *w)
{
	while (!over()) {
		unsigned int bits = 1 + below(w, 15), cpu;
		cpu_set_t set;

		CPU_ZERO(&set);
		for (cpu = 0; cpu < 4; cpu++)
			if (bits & (1U << cpu))
				CPU_SET(cpu, &set);
		note(MIGRATE, sched_setaffinity(somebody(w), sizeof(set), &set));
		act_on_events(w);
	}
	drop_events(w);
}

static void move_somebody(struct worker *w)
{
	char path[160], pid[16];

	if (below(w, 4))
		cgroup_path(path, sizeof(path), below(w, NR_CGROUPS));
	else
		strcpy(path, CGROUPS);
	strcat(path, "/cgroup.procs");
	snprintf(pid, sizeof(pid), "%d", somebody(w));
	note(CGROUP_MOVE, pt_write_file(path, pid));
}

void role_cgroups(struct worker *w)
{
	char path[128];

	while (!over()) {
		if (!have_cgroups()) {
			act_on_events(w);
			continue;
		}
		move_somebody(w);
		cgroup_path(path, sizeof(path), below(w, NR_CGROUPS));
		if (!below(w, 3) && !note(CGROUP_REMOVE, rmdir(path)))
			sched_yield();
		cgroup_path(path, sizeof(path), below(w, NR_CGROUPS));
		mkdir(path, 0755);
		act_on_events(w);
	}
	drop_events(w);
}

void role_cpus(struct worker *w)
{
	unsigned int i;

	while (!over()) {
		int cpu = 1 + below(w, 3);

		if (have_hotplug()) {
			bool on = rnd(w) & 1;

			note(on ? CPU_ON : CPU_OFF, set_cpu(cpu, on));
		}
		/* Let the others do something on the CPUs there are. */
		for (i = 0; i < 30 && !over(); i++)
			act_on_events(w);
	}
	drop_events(w);
}

/* Where a PMU may go with events alive it does; else only its module, which they hold. */
static void toggle_pmu(struct worker *w)
{
	bool on = rnd(w) & 1;
	long ret;

	if (pt_path_exists("/sys/module/" MODULE) && pt_module_get(MODULE, "revokes"))
		ret = pt_module_set(MODULE, "registered", on);
	else
		ret = on ? pt_try_load_module(MODULE, NULL) : pt_unload_module(MODULE);
	note(on ? PMU_LOAD : PMU_UNLOAD, ret);
}

void role_pmus(struct worker *w)
{
	unsigned int i;

	while (!over()) {
		if (have_module())
			toggle_pmu(w);
		for (i = 0; i < 20 && !over(); i++)
			act_on_events(w);
	}
	drop_events(w);
	if (have_module())
		pt_unload_module(MODULE);
}
