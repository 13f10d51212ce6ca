// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about events and the life of tasks: inheritance by fork and by
 * thread, enable_on_exec, remove_on_exec, exit, attaching to another task, and signals.
 *
 * Children do a fixed number of page faults in an area of their own parent's
 * making, so that sums are exact: faults of fork and exit themselves are left
 * out by letting the event count tracepoints where that matters.
 */
#include "abi.h"
#include <pthread.h>

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* getppid() calls of one task are counted exactly whatever the task's memory does. */
static int open_calls(u64 bits, u64 format, int group)
{
	const struct source *s = source_find("tp-getppid");
	struct perf_event_attr a;

	if (s->absent)
		return -ENOENT;
	source_attr(s, &a);
	attr_set_bits(&a, bits);
	a.read_format = format;
	return pe_open(&a, 0, -1, group, 0);
}

static u64 calls(int fd)
{
	u64 v[8] = { 0 };

	if (read(fd, v, sizeof(v)) < 8)
		die("read of call counter");
	return v[0];
}

#define INHERIT (1ull << 1)
#define INHERIT_STAT (1ull << 11)
#define ENABLE_ON_EXEC (1ull << 12)
#define INHERIT_THREAD (1ull << 35)

static volatile pid_t thread_id;

static void *thread_calls(void *n)
{
	thread_id = syscall(SYS_gettid);
	getppid_times((unsigned long)n);
	return NULL;
}

static void run_thread(unsigned long n)
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread_calls, (void *)n))
		die("pthread_create");
	pthread_join(t, NULL);
	/* Joined is not gone: its events are taken off a little later. */
	while (!syscall(SYS_tgkill, getpid(), thread_id, 0))
		sched_yield();
}

static void task_inherit(void)
{
	static const struct {
		const char *name;
		u64 bits;
	} kinds[] = {
		{ "plain", 0 }, { "inherit", INHERIT }, { "stat", INHERIT | INHERIT_STAT },
		{ "thread", INHERIT | INHERIT_THREAD }, { "pinned", INHERIT | 4 },
	};
	unsigned int k;

	if (source_find("tp-getppid")->absent) {
		say("skipped", "no syscall tracepoints");
		return;
	}
	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		int fd = open_calls(kinds[k].bits, 0, -1), up[2], down[2];
		char name[48], c = 0;
		pid_t pid;

		if (pipe(up) < 0 || pipe(down) < 0)
			die("pipe");
		getppid_times(1);
		pid = fork_quiet();
		if (!pid) {
			pid_t grand;

			getppid_times(10);
			if (write(up[1], &c, 1) != 1 || read(down[0], &c, 1) != 1)
				_exit(1);
			getppid_times(20);
			grand = fork();
			if (!grand) {
				getppid_times(40);
				_exit(0);
			}
			wait_child(grand);
			_exit(0);
		}
		if (read(up[0], &c, 1) != 1)
			die("child");
		snprintf(name, sizeof(name), "%s,child-alive", kinds[k].name);
		say(name, "%llu", (unsigned long long)calls(fd));
		if (write(down[1], &c, 1) != 1)
			die("child");
		wait_child(pid);
		snprintf(name, sizeof(name), "%s,child-gone", kinds[k].name);
		say(name, "%llu", (unsigned long long)calls(fd));
		run_thread(100);
		snprintf(name, sizeof(name), "%s,thread", kinds[k].name);
		say(name, "%llu", (unsigned long long)calls(fd));
		ioctl(fd, PERF_EVENT_IOC_RESET, 0);
		snprintf(name, sizeof(name), "%s,reset", kinds[k].name);
		/*
		 * How much of the sum the parent's event holds itself, and so
		 * forgets, depends on which task took whose context at a switch.
		 */
		say(name, "%s", calls(fd) <= (k ? 170 : 0) ? "not more" : "more");
		close(up[0]);
		close(up[1]);
		close(down[0]);
		close(down[1]);
		close(fd);
	}
}

/* Disabling, enabling and resetting the parent's event reaches the children's. */
static void task_inherit_ioctl(void)
{
	int fd = open_calls(INHERIT, 0, -1), up[2], down[2], step;
	static const char *const steps[] = {
		"running", "disabled", "enabled", "reset", "disabled-again",
	};
	pid_t pid;
	char c = 0;

	if (fd < 0) {
		say("skipped", "no syscall tracepoints");
		return;
	}
	if (pipe(up) < 0 || pipe(down) < 0)
		die("pipe");
	pid = fork_quiet();
	if (!pid) {
		close(down[1]);
		while (read(down[0], &c, 1) == 1) {
			getppid_times(10);
			if (write(up[1], &c, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (step = 0; step < 5; step++) {
		if (step == 1 || step == 4)
			ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		if (step == 2)
			ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		if (step == 3)
			ioctl(fd, PERF_EVENT_IOC_RESET, 0);
		if (write(down[1], &c, 1) != 1 || read(up[0], &c, 1) != 1)
			die("child");
		getppid_times(1);
		say(steps[step], "%llu", (unsigned long long)calls(fd));
	}
	close(down[1]);
	wait_child(pid);
	say("child-gone", "%llu", (unsigned long long)calls(fd));
	close(down[0]);
	close(up[0]);
	close(up[1]);
	close(fd);
}

static void task_inherit_group(void)
{
	int leader, sibling, other;
	u64 v[8];
	long n;
	pid_t pid;

	leader = open_calls(INHERIT, TIMES, -1);
	if (leader < 0) {
		say("skipped", "no syscall tracepoints");
		return;
	}
	sibling = open_calls(INHERIT, TIMES, leader);
	other = open_calls(INHERIT | 1, TIMES, leader);
	pid = fork_quiet();
	if (!pid) {
		getppid_times(7);
		_exit(0);
	}
	wait_child(pid);
	say("leader", "%llu", (unsigned long long)calls(leader));
	say("sibling", "%llu", (unsigned long long)calls(sibling));
	say("disabled-sibling", "%llu", (unsigned long long)calls(other));
	n = neg(read(leader, v, sizeof(v)));
	say("times", "%ld bytes running<=enabled %d", n, v[2] <= v[1]);
	close(sibling);
	pid = fork_quiet();
	if (!pid) {
		getppid_times(7);
		_exit(0);
	}
	wait_child(pid);
	say("leader-after-close", "%llu", (unsigned long long)calls(leader));
	close(leader);
	close(other);
	/* Group reads of inherited events. */
	leader = open_calls(INHERIT, PERF_FORMAT_GROUP | PERF_FORMAT_ID, -1);
	say("inherit-group-format", "%s", res(leader));
	if (leader >= 0) {
		sibling = open_calls(INHERIT, PERF_FORMAT_GROUP | PERF_FORMAT_ID, leader);
		pid = fork_quiet();
		if (!pid) {
			getppid_times(9);
			_exit(0);
		}
		wait_child(pid);
		n = neg(read(leader, v, sizeof(v)));
		say("inherit-group-read", "%ld bytes nr=%llu %llu %llu", n,
		    (unsigned long long)v[0],
		    (unsigned long long)v[1], (unsigned long long)v[3]);
		close(sibling);
		close(leader);
	}
}

/* Closing the parent's descriptor while the child has a copy of it, and alone. */
static void task_fork_fd(void)
{
	int fd = open_calls(INHERIT, 0, -1), p[2];
	pid_t pid;
	char c;

	if (fd < 0) {
		say("skipped", "no syscall tracepoints");
		return;
	}
	if (pipe(p) < 0)
		die("pipe");
	pid = fork_quiet();
	if (!pid) {
		close(p[1]);
		if (read(p[0], &c, 1) != 0)
			_exit(1);
		getppid_times(3);
		say("child-reads-copy", "%llu", (unsigned long long)calls(fd));
		say("child-disables", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0))));
		getppid_times(3);
		say("child-reads-again", "%llu", (unsigned long long)calls(fd));
		fflush(stdout);
		_exit(0);
	}
	getppid_times(5);
	close(fd);
	close(p[1]);
	close(p[0]);
	wait_child(pid);
}

static pid_t exec_child(const char *arg, int *gate)
{
	int p[2];
	pid_t pid;
	char c;

	if (pipe(p) < 0)
		die("pipe");
	pid = fork_quiet();
	if (!pid) {
		close(p[1]);
		if (read(p[0], &c, 1) != 0)
			_exit(1);
		execl(self_path, "abi-diff", arg, NULL);
		_exit(9);
	}
	close(p[0]);
	*gate = p[1];
	return pid;
}

static void task_exec(void)
{
	static const struct {
		const char *name;
		u64 bits;
	} kinds[] = {
		{ "enabled", 0 }, { "disabled", 1 }, { "enable-on-exec", 1 | ENABLE_ON_EXEC },
		{ "enabled-on-exec-too", ENABLE_ON_EXEC },
	};
	unsigned int k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct perf_event_attr a;
		u64 before[3], after[3];
		int gate, fd, status;
		pid_t pid = exec_child("--faults", &gate);

		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		attr_set_bits(&a, kinds[k].bits);
		a.read_format = TIMES;
		fd = pe_open(&a, pid, -1, -1, 0);
		if (fd < 0 || read(fd, before, sizeof(before)) != sizeof(before))
			die("child's event");
		close(gate);
		status = wait_child(pid);
		if (read(fd, after, sizeof(after)) != sizeof(after))
			die("read after exit");
		/* An enabled one may have seen the child on its way to the gate. */
		say(kinds[k].name, "exit %d before0 %d after>=20 %d %s %s", WEXITSTATUS(status),
		    !(kinds[k].bits & 1) || !before[0], after[0] >= 20, after[1] ? "enabled" :
			    "enabled=0",
		    after[1] == after[2] ? "running=enabled" : "differ");
		close(fd);
	}
	for (k = 0; k < 2; k++) {
		/* enable_on_exec of a group: the leader's and the sibling's own bits. */
		struct perf_event_attr a;
		int gate, leader, sibling;
		pid_t pid = exec_child("--faults", &gate);

		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		attr_set_bits(&a, 1 | ENABLE_ON_EXEC);
		leader = pe_open(&a, pid, -1, -1, 0);
		attr_set_bits(&a, k ? 1 : 0);
		sibling = pe_open(&a, pid, -1, leader, 0);
		close(gate);
		wait_child(pid);
		say(k ? "group-disabled-sibling" : "group", "leader>=20 %d sibling>=20 %d",
		    read_count(leader) >= 20, read_count(sibling) >= 20);
		close(leader);
		close(sibling);
	}
}

static void task_exit(void)
{
	struct perf_event_attr a;
	u64 first[3], again[3];
	int gate, fd, sibling;
	pid_t pid = exec_child("--nothing", &gate);

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	a.read_format = TIMES;
	fd = pe_open(&a, pid, -1, -1, 0);
	sibling = pe_open(&a, pid, -1, fd, 0);
	close(gate);
	wait_child(pid);
	if (read(fd, first, sizeof(first)) != sizeof(first) ||
	    read(fd, again, sizeof(again)) != sizeof(again))
		die("read after exit");
	say("final", "value>0 %d stable %d", first[0] > 0, !memcmp(first, again, sizeof(first)));
	say("enable", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))));
	say("disable", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0))));
	say("reset", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_RESET, 0))));
	say("after-reset", "%llu", (unsigned long long)read_count(fd));
	say("id", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_ID, first))));
	say("new-sibling", "%s", res(try_open_at(&a, 0, -1, fd, 0)));
	say("read-sibling", "%ld", neg(read(sibling, first, sizeof(first))));
	{
		struct ring r;

		say("map", "%s", res(ring_map(&r, fd, 1, PROT_READ | PROT_WRITE)));
		if (r.page)
			ring_unmap(&r);
	}
	close(sibling);
	close(fd);
}

/* ---- signals ---- */

static volatile unsigned int hits, bad_fd;
static volatile int codes[64], bands[64];
static int expected_fd;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (hits < 64) {
		codes[hits] = info->si_code;
		bands[hits] = info->si_band;
	}
	bad_fd += info->si_fd != expected_fd;
	hits++;
}

static void report(const char *name)
{
	char line[256];
	unsigned int i, len = 0;

	line[0] = 0;
	for (i = 0; i < hits && i < 12; i++)
		len += snprintf(line + len, sizeof(line) - len, " %d/%x", codes[i], bands[i]);
	say(name, "%u signals bad-fd %u:%s", hits, bad_fd, line);
	hits = 0;
	bad_fd = 0;
}

static void task_signal(void)
{
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	int sig = SIGRTMIN + 3, fd, other;
	struct perf_event_attr a;
	struct ring r;

	sigaction(sig, &act, NULL);
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	attr_set_bits(&a, 1);
	a.sample_period = 2;
	a.wakeup_events = 1;
	fd = must_open(&a);
	expected_fd = fd;
	ring_map(&r, fd, 8, PROT_READ | PROT_WRITE);
	fcntl(fd, F_SETOWN, getpid());
	fcntl(fd, F_SETSIG, sig);
	make_faults(4);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(4);
	report("no-async");
	fcntl(fd, F_SETFL, O_ASYNC);
	make_faults(6);
	report("period-2");
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
	make_faults(6);
	report("refresh-1");
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 3);
	make_faults(12);
	report("refresh-3");
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	make_faults(4);
	report("paused");
	ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	fcntl(fd, F_SETFL, 0);
	make_faults(4);
	report("async-off");
	fcntl(fd, F_SETFL, O_ASYNC);
	ring_unmap(&r);
	make_faults(4);
	report("unmapped");
	close(fd);
	/* Without a buffer; and with another event's. */
	a.sample_period = 1;
	fd = must_open(&a);
	expected_fd = fd;
	fcntl(fd, F_SETOWN, getpid());
	fcntl(fd, F_SETSIG, sig);
	fcntl(fd, F_SETFL, O_ASYNC);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 2);
	make_faults(5);
	report("no-buffer");
	other = must_open(&a);
	ring_map(&r, other, 8, PROT_READ | PROT_WRITE);
	ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, other);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 2);
	make_faults(5);
	report("others-buffer");
	ring_unmap(&r);
	close(other);
	close(fd);
	a.wakeup_events = 3;
	fd = must_open(&a);
	expected_fd = fd;
	ring_map(&r, fd, 8, PROT_READ | PROT_WRITE);
	fcntl(fd, F_SETOWN, getpid());
	fcntl(fd, F_SETSIG, sig);
	fcntl(fd, F_SETFL, O_ASYNC);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(9);
	report("wakeup-3");
	ring_unmap(&r);
	close(fd);
	signal(sig, SIG_DFL);
}

/* Page faults of a child that executes a program with 20; negative if it cannot be opened. */
static long faults_over_exec(u64 bits)
{
	struct perf_event_attr a;
	int p[2], fd;
	long count;
	pid_t pid;
	char c;

	if (pipe(p) < 0)
		die("pipe");
	pid = fork_quiet();
	if (!pid) {
		close(p[1]);
		if (read(p[0], &c, 1) != 0)
			_exit(1);
		execl(self_path, "abi-diff", "--faults", NULL);
		_exit(9);
	}
	close(p[0]);
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	attr_set_bits(&a, bits);
	fd = pe_open(&a, pid, -1, -1, 0);
	close(p[1]);
	wait_child(pid);
	if (fd < 0)
		return fd;
	count = (long)read_count(fd);
	close(fd);
	return count;
}

static void remove_on_exec(void)
{
	long with = faults_over_exec(1ull << 36), without = faults_over_exec(0);

	if (with < 0)
		say("open", "%s", res((int)with));
	else
		say("counted-after-exec", "%d", with + 20 > without);
}

const struct section task_sections[] = {
	{ "task-inherit", task_inherit },
	{ "task-inherit-ioctl", task_inherit_ioctl },
	{ "task-inherit-group", task_inherit_group },
	{ "task-fork-fd", task_fork_fd },
	{ "task-exec", task_exec },
	{ "task-exit", task_exit },
	{ "task-signal", task_signal },
	{ "exec-remove", remove_on_exec },
	{ }
};
