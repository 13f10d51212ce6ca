// SPDX-License-Identifier: GPL-2.0
/*
 * step.c - pfx step: hold a program behind every so-and-so-manyth event, tell where it is, let it
 * go on.
 *
 * The thread is held by the kernel, not by ptrace(2): whoever wants to look at it may, meanwhile.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

/* A command that looks at the program finds its process in the environment. */
static void run_for(pid_t pid, unsigned long step, const char *command)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", pid);
	setenv("PFX_PID", text, 1);
	snprintf(text, sizeof(text), "%lu", step);
	setenv("PFX_STEP", text, 1);
	fflush(stdout);
	if (system(command) < 0)
		fail("%s: %s", command, strerror(errno));
}

/* The place of the last sample of those that the buffer has; 0: there is none. */
static uint64_t last_place(struct ring *ring)
{
	const union record *record;
	uint64_t ip = 0;

	while ((record = ring_next(ring)))
		if (record->header.type == PERF_RECORD_SAMPLE)
			ip = record->words[1];
	return ip;
}

static int open_step(const struct options *o, pid_t child)
{
	struct perf_event_attr attr = {
		.sample_period	= o->period,
		.sample_type	= PERF_SAMPLE_IP,
		.disabled	= 1,
		.enable_on_exec	= !o->pids,
	};
	struct perf_ext_notify notify = {
		.every	= 1,
		.flags	= PERF_EXT_NOTIFY_STOP | PERF_EXT_NOTIFY_BLOCK,
	};
	int fd, err;

	if (!pfx_event(o->event, &attr))
		fail("no event \"%s\"", o->event);
	fd = pfx_open(&attr, child, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		refused("perf_event_open", fd);
	err = pfx_notify(fd, &notify);
	if (err)
		refused("PERF_EXT_IOC_NOTIFY", err);
	return fd;
}

/* Print where the thread is, and let it go on.  Return: there is a next step. */
static bool take_step(const struct options *o, struct ring *ring, pid_t pid, unsigned long step)
{
	struct perf_ext_notify off = { .every = 0 };
	bool last = step == o->steps;
	uint64_t count;
	int err;

	if (read(ring->fd, &count, sizeof(count)) != sizeof(count))
		fail("read: %s", strerror(errno));
	printf("step %lu: count %llu at %#llx\n", step, (unsigned long long)count,
	       (unsigned long long)last_place(ring));
	if (o->command)
		run_for(pid, step, o->command);
	err = last ? pfx_notify(ring->fd, &off) : pfx_restart(ring->fd, 0);
	if (err)
		refused(last ? "PERF_EXT_IOC_NOTIFY" : "PERF_EXT_IOC_RESTART", err);
	return !last;
}

/* Return: the steps that there were, until the thread has exited, or enough of them. */
static unsigned long steps(const struct options *o, struct ring *ring, pid_t pid)
{
	struct pollfd hung = { .fd = ring->fd, .events = POLLIN };
	unsigned long step = 0;

	for (;;) {
		if (poll(&hung, 1, -1) < 0) {
			if (errno == EINTR)
				continue;
			fail("poll: %s", strerror(errno));
		}
		if (hung.revents & POLLHUP)
			return step;
		if (hung.revents & POLLIN && !take_step(o, ring, pid, ++step))
			return step;
	}
}

static pid_t parse_pid(const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (end == text || *end || pid <= 0 || pid > INT32_MAX)
		fail("not understood: -p %s", text);
	return (pid_t)pid;
}

/* A thread that runs already: whatever ends this program lets it go on. */
static int step_thread(const struct options *o, pid_t pid)
{
	struct ring ring;

	ring_map(&ring, open_step(o, pid));
	if (ioctl(ring.fd, PERF_EVENT_IOC_ENABLE, 0))
		refused("PERF_EVENT_IOC_ENABLE", -errno);
	fprintf(stderr, "pfx: %lu steps\n", steps(o, &ring, pid));
	return 0;
}

int command_step(const struct options *o)
{
	unsigned long nr;
	struct ring ring;
	int go, status;
	pid_t child;

	if (!o->argv[0] == !o->pids || !o->period)
		usage();
	if (o->pids)
		return step_thread(o, parse_pid(o->pids));
	child = start_child(o->argv, &go);
	ring_map(&ring, open_step(o, child));
	let_go(go);
	nr = steps(o, &ring, child);
	fflush(stdout);
	waitpid(child, &status, 0);
	fprintf(stderr, "pfx: %lu steps\n", nr);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
