// SPDX-License-Identifier: GPL-2.0
/*
 * stat.c - pfx stat: what happens in programs, on CPUs, in cgroups, counted through one descriptor.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

#define MOST_EVENTS	64
#define MOST_CGROUPS	64

struct counting {
	int			session;
	unsigned int		nr;
	char			*name[MOST_EVENTS];
	struct perf_event_attr	attr[MOST_EVENTS];
	unsigned int		nr_cgroups;
	const char		*cgroup[MOST_CGROUPS];
	uint64_t		cgroup_id[MOST_CGROUPS];
	struct timespec		start, end;
};

static char *copy_of(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		fail("no memory");
	return copy;
}

/* The next of "cycles,cpu/event=1,umask=2/u,faults", without the comma behind it; NULL: no more. */
static char *next_event(char **rest)
{
	char *one = *rest, *p = one;
	bool inside = false;

	if (!one)
		return NULL;
	for (; *p && (inside || *p != ','); p++)
		inside ^= *p == '/';
	*rest = *p ? p + 1 : NULL;
	*p = 0;
	return one;
}

unsigned int choose_events(const char *names, struct perf_event_attr *attr, char **name,
			   unsigned int most)
{
	char *rest = copy_of(names), *one;
	unsigned int nr = 0;

	while ((one = next_event(&rest))) {
		if (nr == most)
			fail("more than %u events", most);
		memset(&attr[nr], 0, sizeof(*attr));
		if (!pfx_event(one, &attr[nr]))
			fail("no event \"%s\"", one);
		attr[nr].read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
				       PERF_FORMAT_TOTAL_TIME_RUNNING;
		name[nr++] = one;
	}
	attr[0].disabled = 1;
	return nr;
}

static void attach(const struct counting *c, uint32_t kind, int64_t number, uint32_t flags,
		   const char *what)
{
	int err = pfx_attach(c->session, kind, number, flags);

	if (err)
		refused(what, err);
}

/* "0-3,5" */
static void attach_cpus(const struct counting *c, const char *list)
{
	char *end, what[32];
	long first, last;

	do {
		first = strtol(list, &end, 10);
		last = *end == '-' ? strtol(end + 1, &end, 10) : first;
		if (end == list || first < 0 || last < first || (*end && *end != ','))
			fail("not understood: -C %s", list);
		for (; first <= last; first++) {
			snprintf(what, sizeof(what), "CPU %ld", first);
			attach(c, PERF_EXT_TARGET_CPU, first, 0, what);
		}
		list = end + 1;
	} while (*end);
}

static void attach_cgroups(struct counting *c, const char *list)
{
	char *rest = copy_of(list), *folder;
	struct stat st;
	int fd;

	while ((folder = strsep(&rest, ","))) {
		if (c->nr_cgroups == MOST_CGROUPS)
			fail("more than %d cgroups", MOST_CGROUPS);
		fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st))
			fail("%s: %s", folder, strerror(errno));
		attach(c, PERF_EXT_TARGET_CGROUP, fd, PERF_EXT_TARGET_RETURN, folder);
		close(fd);
		c->cgroup[c->nr_cgroups] = folder;
		c->cgroup_id[c->nr_cgroups++] = st.st_ino;
	}
}

/* Return: threads of a process that were not attached before. */
static int attach_threads(const struct counting *c, long pid)
{
	char path[64], what[32];
	struct dirent *entry;
	int err, added = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		long tid = strtol(entry->d_name, NULL, 10);

		if (!tid)
			continue;
		err = pfx_attach(c->session, PERF_EXT_TARGET_TID, tid, PERF_EXT_TARGET_INHERIT);
		snprintf(what, sizeof(what), "task %ld", tid);
		if (err && err != -EEXIST && err != -ESRCH)
			refused(what, err);
		added += !err;
	}
	closedir(dir);
	return added;
}

/* What a thread makes while the others are looked for is found in the next turn, or inherits. */
static void attach_pids(const struct counting *c, const char *list)
{
	char *end;
	long pid;

	do {
		pid = strtol(list, &end, 10);
		if (end == list || pid <= 0 || (*end && *end != ','))
			fail("not understood: -p %s", list);
		if (!attach_threads(c, pid))
			fail("no process %ld", pid);
		while (attach_threads(c, pid))
			;
		list = end + 1;
	} while (*end);
}

/* ---- until when ---- */

static int pidfd_of(long pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 && errno != ESRCH)
		fail("pidfd_open: %s", strerror(errno));
	return fd;
}

/* Until the program ends, or all processes that are watched have, or somebody interrupts. */
static void wait_for_end(pid_t child, const char *pids)
{
	struct pollfd until[2] = { { .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	until[0].fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (until[0].fd < 0)
		fail("signalfd: %s", strerror(errno));
	do {
		if (child || pids) {
			until[1].fd = pidfd_of(child ? child : strtol(pids, NULL, 10));
			if (until[1].fd < 0)
				continue;
		}
		while (poll(until, 2, -1) < 0 && errno == EINTR)
			;
		close(until[1].fd);
		/* The program is interrupted as well, and will end. */
		if (until[0].revents && !child)
			break;
	} while (!child && pids && (pids = strchr(pids, ',')) && ++pids);
	close(until[0].fd);
}

/* ---- what came out ---- */

static void print_value(const struct counting *c, const struct perf_ext_values *v, unsigned int i)
{
	if (!v->running && v->enabled) {
		printf("%20s  %s\n", "not counted", c->name[i]);
		return;
	}
	printf("%20llu  %s", (unsigned long long)v->value[i], c->name[i]);
	if (v->running < v->enabled)
		printf("  (%.2f%% of the time)", 100.0 * (double)v->running / (double)v->enabled);
	putchar('\n');
}

static void print_target(const struct counting *c, const struct perf_ext_values *v)
{
	char path[64], comm[32] = "";
	unsigned int i;
	FILE *f;

	if (v->state == PERF_EXT_VALUES_GONE) {
		puts("gone:");
	} else if (v->cgroup) {
		for (i = 0; i < c->nr_cgroups && c->cgroup_id[i] != v->cgroup; i++)
			;
		printf("%s:\n", i < c->nr_cgroups ? c->cgroup[i] : "another cgroup");
	} else if (v->cpu >= 0) {
		printf("CPU %d:\n", v->cpu);
	} else {
		snprintf(path, sizeof(path), "/proc/%d/comm", v->tid);
		f = fopen(path, "r");
		if (f && !fgets(comm, sizeof(comm), f))
			comm[0] = 0;
		if (f)
			fclose(f);
		comm[strcspn(comm, "\n")] = 0;
		printf("task %d %s:\n", v->tid, comm);
	}
}

static bool is_empty(const struct perf_ext_values *v)
{
	return v->state == PERF_EXT_VALUES_GONE && !v->enabled;
}

static void print(const struct counting *c, bool per_target)
{
	uint32_t flags = !per_target ? 0 :
			 c->nr_cgroups ? PERF_EXT_READ_CGROUPS : PERF_EXT_READ_TARGETS;
	struct perf_ext_values *values;
	const struct perf_ext_values *v;
	unsigned int nr, i;
	int err;

	err = pfx_read(c->session, flags, &values, &nr);
	if (err)
		refused("PERF_EXT_IOC_READ", err);
	for (v = values; nr--; v = pfx_next(v)) {
		if (per_target && is_empty(v))
			continue;
		if (per_target)
			print_target(c, v);
		for (i = 0; i < v->nr; i++)
			print_value(c, v, i);
	}
	free(values);
	printf("%20.6f  seconds\n", (double)(c->end.tv_sec - c->start.tv_sec) +
	       (double)(c->end.tv_nsec - c->start.tv_nsec) / 1e9);
}

static void set_enabled(const struct counting *c, bool on)
{
	if (ioctl(c->session, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
		refused(on ? "PERF_EVENT_IOC_ENABLE" : "PERF_EVENT_IOC_DISABLE", -errno);
}

static void attach_everything(struct counting *c, const struct options *o)
{
	if (o->all_cpus)
		attach(c, PERF_EXT_TARGET_ALL, 0, PERF_EXT_TARGET_RETURN, "all CPUs");
	if (o->cpus)
		attach_cpus(c, o->cpus);
	if (o->cgroups)
		attach_cgroups(c, o->cgroups);
	if (o->pids)
		attach_pids(c, o->pids);
}

int command_stat(const struct options *o)
{
	int kinds = o->all_cpus + !!o->cpus + !!o->cgroups + !!o->pids;
	bool of_cpus = kinds && !o->pids, itself = !kinds;
	uint32_t flags = PERF_EXT_CREATE_CLOEXEC | (of_cpus ? PERF_EXT_CREATE_CPUS : 0);
	static struct counting c;
	pid_t child = 0;
	int go, status = 0;

	if ((itself && !o->argv[0]) || kinds > 1)
		usage();
	if (o->turn)
		return stat_sets(o);
	if (o->nr_groups > 1)
		fail("several groups take turns: --sets TIME");
	c.nr = choose_events(o->event, c.attr, c.name, MOST_EVENTS);
	c.attr[0].enable_on_exec = itself;
	c.session = pfx_create(c.attr, c.nr, flags);
	if (c.session < 0)
		refused("PERF_EXT_IOC_CREATE", c.session);
	if (o->argv[0])
		child = start_child(o->argv, &go);
	attach_everything(&c, o);
	if (itself)
		attach(&c, PERF_EXT_TARGET_TID, child, PERF_EXT_TARGET_INHERIT, o->argv[0]);
	else
		set_enabled(&c, true);
	clock_gettime(CLOCK_MONOTONIC, &c.start);
	if (child)
		let_go(go);
	wait_for_end(child, o->pids);
	clock_gettime(CLOCK_MONOTONIC, &c.end);
	set_enabled(&c, false);
	if (child && waitpid(child, &status, 0) != child)
		fail("waitpid: %s", strerror(errno));
	print(&c, o->per_target);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
