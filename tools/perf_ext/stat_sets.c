// SPDX-License-Identifier: GPL-2.0
/*
 * stat_sets.c - pfx stat --sets: groups of events take turns on the counters, so long each.
 *
 * The time of a turn is a clock that is the last member of each group: its first overflow in a turn
 * ends it.  How many turns it has ended is asked of the clock: a task that has exited is in no ring
 * any more, so PERF_EXT_IOC_SET_INFO could not say.  What a group has counted is told as it is,
 * with its share of the time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

#define MOST_EVENTS	16	/* in a group, with the clock */

struct set {
	int			fd[MOST_EVENTS];
	char			*name[MOST_EVENTS];
	unsigned int		nr;
};

/* What read(2) has of a group. */
struct group_values {
	uint64_t	nr, enabled, running;
	uint64_t	value[MOST_EVENTS];
};

static int open_member(struct perf_event_attr *attr, pid_t pid, int cpu, int leader)
{
	int fd = pfx_open(attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		refused("perf_event_open", fd);
	return fd;
}

static void open_set(struct set *s, const struct options *o, const char *names, pid_t pid, int cpu)
{
	struct perf_event_attr attr[MOST_EVENTS], clock = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = o->turn,
	};
	/* They are as long as ever, but counted. */
	struct perf_ext_periods turns = { .short_period = o->turn };
	unsigned int i;
	int err;

	s->nr = choose_events(names, attr, s->name, MOST_EVENTS - 1);
	attr[0].enable_on_exec = cpu < 0;
	/* Those who may not see the kernel do not sample there, but the clock goes on. */
	clock.exclude_kernel = attr[0].exclude_kernel;
	clock.read_format = attr[0].read_format;
	for (i = 0; i < s->nr; i++)
		s->fd[i] = open_member(&attr[i], pid, cpu, i ? s->fd[0] : -1);
	s->fd[i] = open_member(&clock, pid, cpu, s->fd[0]);
	err = pfx_trigger(s->fd[i], 1);
	if (err)
		refused("PERF_EXT_IOC_SET_TRIGGER", err);
	err = pfx_periods(s->fd[i], &turns);
	if (err)
		refused("PERF_EXT_IOC_PERIODS", err);
}

static void print_set(const struct set *s, unsigned int number)
{
	struct perf_ext_periods turns;
	struct group_values v;
	unsigned int i;
	int err;

	if (read(s->fd[0], &v, sizeof(v)) < 0)
		fail("read: %s", strerror(errno));
	err = pfx_get_periods(s->fd[s->nr], &turns);
	if (err)
		refused("PERF_EXT_IOC_GET_PERIODS", err);
	printf("set %u: %.6f seconds, %llu turns to the end\n", number, (double)v.running / 1e9,
	       (unsigned long long)turns.ended);
	for (i = 0; i < s->nr; i++) {
		if (!v.running) {
			printf("%20s  %s\n", "not counted", s->name[i]);
			continue;
		}
		printf("%20llu  %s  (%.2f%% of the time)\n", (unsigned long long)v.value[i],
		       s->name[i], 100.0 * (double)v.running / (double)v.enabled);
	}
}

static int parse_cpu(const char *text)
{
	char *end;
	long cpu = strtol(text, &end, 10);

	if (end == text || *end || cpu < 0 || cpu > INT32_MAX)
		fail("sets are of one CPU: -C %s", text);
	return (int)cpu;
}

static void set_enabled(const struct set *sets, unsigned int nr, unsigned long request)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (ioctl(sets[i].fd[0], request, 0))
			refused("enabling and disabling", -errno);
}

int stat_sets(const struct options *o)
{
	int cpu = o->cpus ? parse_cpu(o->cpus) : -1, go, err, status;
	static struct set sets[MOST_GROUPS];
	unsigned int i;
	pid_t child;

	if (!o->argv[0] || o->all_cpus || o->cgroups || o->pids || o->nr_groups < 2)
		usage();
	child = start_child(o->argv, &go);
	for (i = 0; i < o->nr_groups; i++) {
		open_set(&sets[i], o, o->group[i], cpu < 0 ? child : -1, cpu);
		err = pfx_join(sets[i].fd[0], i ? sets[0].fd[0] : -1, (uint16_t)i);
		if (err)
			refused("PERF_EXT_IOC_SET_JOIN", err);
	}
	if (cpu >= 0)
		set_enabled(sets, o->nr_groups, PERF_EVENT_IOC_ENABLE);
	let_go(go);
	waitpid(child, &status, 0);
	if (cpu >= 0)
		set_enabled(sets, o->nr_groups, PERF_EVENT_IOC_DISABLE);
	for (i = 0; i < o->nr_groups; i++)
		print_set(&sets[i], i);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
