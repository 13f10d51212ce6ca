// SPDX-License-Identifier: GPL-2.0
/*
 * last_error.c - /sys/bus/event_source/last_error, which tells why a call was refused.
 *
 * The errno is what it always was; the text names the field. Linux 6.12 has no such file.
 */
#include "lib/ptest.h"

#define ERROR_FILE	"/sys/bus/event_source/last_error"

/* Asked by a child, because asking is an error. */
static void need_file(void)
{
	pid_t pid;

	pt_in_child(pid)
		_exit(pt_is_stock());
	if (pt_wait(pid))
		pt_skip("Linux 6.12 has no " ERROR_FILE);
}

/* The last error's errno, and its text in buf; 0 when there is none. */
static int last(char *buf, size_t size)
{
	int err, used;

	pt_need(pt_slurp(ERROR_FILE, buf, size), "cannot read " ERROR_FILE);
	if (!*buf)
		return 0;
	pt_need(sscanf(buf, "%d %n", &err, &used) == 1, "'%s'", buf);
	memmove(buf, buf + used, strlen(buf + used) + 1);
	return err;
}

static void expect(int got, int err, const char *field)
{
	char text[256];

	pt_eq(got, err);
	pt_eq(last(text, sizeof(text)), err);
	pt_check(!strncmp(text, field, strlen(field)), "'%s' does not begin with '%s'", text,
		 field);
}

static struct perf_event_attr dummy(void)
{
	return pt_attr(PT_SW(DUMMY));
}

static void fields(void)
{
	struct perf_event_attr attr;
	int fd;

	need_file();
	attr = dummy();
	attr.size = 8;
	expect(pt_probe(&attr), -E2BIG, "attr.size:");
	attr = dummy();
	attr.sample_type = 1ull << 40;
	expect(pt_probe(&attr), -EINVAL, "attr.sample_type:");
	attr = dummy();
	attr.read_format = 1ull << 40;
	expect(pt_probe(&attr), -EINVAL, "attr.read_format:");
	attr = dummy();
	attr.sample_period = 1ull << 63;
	expect(pt_probe(&attr), -EINVAL, "attr.sample_period:");
	attr = dummy();
	attr.inherit_thread = 1;
	expect(pt_probe(&attr), -EINVAL, "attr.inherit_thread:");
	attr = dummy();
	attr.use_clockid = 1;
	attr.clockid = 77;
	expect(pt_probe(&attr), -EINVAL, "attr.clockid:");
	attr = pt_attr(1000, 0);
	expect(pt_probe(&attr), -ENOENT, "attr.type, config:");

	attr = dummy();
	expect(pt_try_open(&attr, 0, 4095, -1, 0), -EINVAL, "cpu:");
	expect(pt_try_open(&attr, 0, -1, 1000, 0), -EBADF, "group_fd:");
	expect(pt_try_open(&attr, 0x7fffffff, -1, -1, 0), -ESRCH, "pid:");
	expect(pt_try_open(&attr, 0, -1, -1, 1 << 9), -EINVAL, "flags:");
	fd = pt_open(&attr, 0, -1, -1, 0);
	attr.pinned = 1;
	expect(pt_try_open(&attr, 0, -1, fd, 0), -EINVAL, "attr.exclusive, pinned:");
	expect(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), -EINVAL, "REFRESH:");
	expect(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)fd), -EINVAL, "output:");
	close(fd);
}

/* A success does not wipe it out, and each task has its own. */
static void per_task(void)
{
	struct perf_event_attr attr = dummy();
	char text[256];
	pid_t pid;

	need_file();
	pt_eq(last(text, sizeof(text)), 0);
	attr.inherit_thread = 1;
	expect(pt_probe(&attr), -EINVAL, "attr.inherit_thread:");
	attr.inherit_thread = 0;
	pt_eq(pt_probe(&attr), 0);
	expect(-EINVAL, -EINVAL, "attr.inherit_thread:");
	pt_in_child(pid)
		pt_eq(last(text, sizeof(text)), 0);
	pt_reap(pid);
}

/* However many others are refused something, a task keeps its own reason. */
static void crowd(void)
{
	struct perf_event_attr attr = dummy();
	unsigned int i;

	need_file();
	attr.inherit_thread = 1;
	expect(pt_probe(&attr), -EINVAL, "attr.inherit_thread:");
	attr.inherit_thread = 0;
	attr.sample_type = 1ull << 40;
	for (i = 0; i < pt_turns(600); i++) {
		pid_t pid;

		pt_in_child(pid)
			_exit(pt_probe(&attr) != -EINVAL);
		pt_reap(pid);
	}
	expect(-EINVAL, -EINVAL, "attr.inherit_thread:");
}

/* No privilege is needed to learn why one lacks it. */
static void unprivileged(void)
{
	struct perf_event_attr attr = dummy();

	need_file();
	pt_sysctl_set("perf_event_paranoid", 2);
	pt_become_nobody();
	expect(pt_probe(&attr), -EACCES, "attr.exclude_kernel:");
}

static const struct pt_case cases[] = {
	{ "fields", fields },
	{ "per task", per_task },
	{ "crowd", crowd },
	{ "unprivileged", unprivileged },
};

PT_MAIN(cases)
