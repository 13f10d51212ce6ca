// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about the other arguments of perf_event_open(): whom to count,
 * where, and with which flags.
 *
 * The targets that are processes are forked here and blocked on a pipe; the
 * other thread is one of this process, blocked likewise.
 */
#include "abi.h"
#include <pthread.h>

static const char *const open_sources[] = {
	"sw-task-clock", "sw-cpu-clock", "sw-page-faults", "tp-getppid", "bp-w8", "hw-cycles",
	"type-100",
};

static int release[2];

static pid_t blocked_child(void)
{
	pid_t pid = fork_quiet();
	char c;

	if (!pid) {
		close(release[1]);
		_exit(read(release[0], &c, 1) != 0);
	}
	return pid;
}

static pid_t zombie_child(void)
{
	pid_t pid = fork_quiet();
	siginfo_t info;

	if (!pid)
		_exit(0);
	if (waitid(P_PID, pid, &info, WEXITED | WNOWAIT) < 0)
		die("waitid");
	return pid;
}

static pid_t gone_child(void)
{
	pid_t pid = fork_quiet();

	if (!pid)
		_exit(0);
	wait_child(pid);
	return pid;
}

static pid_t thread_tid;
static int thread_ready[2], thread_release[2];

static void *thread_main(void *unused)
{
	char c = 0;

	(void)unused;
	thread_tid = syscall(SYS_gettid);
	if (write(thread_ready[1], &c, 1) != 1 || read(thread_release[0], &c, 1) < 0)
		die("thread pipe");
	return NULL;
}

static pthread_t start_thread(void)
{
	pthread_t t;
	char c;

	if (pipe(thread_ready) < 0 || pipe(thread_release) < 0 ||
	    pthread_create(&t, NULL, thread_main, NULL) || read(thread_ready[0], &c, 1) != 1)
		die("thread");
	return t;
}

static void stop_thread(pthread_t t)
{
	close(thread_release[1]);
	pthread_join(t, NULL);
	close(thread_release[0]);
	close(thread_ready[0]);
	close(thread_ready[1]);
}

static void open_pid_cpu(void)
{
	static const int cpus[] = {
		-1, 0, 1, 2, 63, 64, 4095, 8192, 1 << 20, 0x7fffffff, -2, -100, -0x7fffffff - 1
	};
	struct target {
		const char *name;
		pid_t pid;
	} targets[] = {
		{ "self", 0 }, { "self-by-pid", getpid() }, { "minus-1", -1 }, { "minus-2", -2 },
		{ "minus-100", -100 }, { "min", -0x7fffffff - 1 }, { "max", 0x7fffffff },
		{ "pid-limit", 1 << 22 }, { "init", 1 }, { "kthreadd", 2 }, { "child", 0 },
		{ "zombie", 0 }, { "gone", 0 }, { "thread", 0 },
	};
	unsigned int n = ARRAY_SIZE(targets), i, j, k;
	pthread_t thread = start_thread();

	if (pipe(release) < 0)
		die("pipe");
	targets[n - 4].pid = blocked_child();
	targets[n - 3].pid = zombie_child();
	targets[n - 2].pid = gone_child();
	targets[n - 1].pid = thread_tid;
	for (i = 0; i < ARRAY_SIZE(open_sources); i++) {
		const struct source *s = source_find(open_sources[i]);

		for (j = 0; j < n && !s->absent; j++) {
			struct tally *t = tally_new();

			/* Without perf's own init the first process may be this one. */
			if (targets[j].pid == 1 && getpid() == 1)
				continue;
			for (k = 0; k < ARRAY_SIZE(cpus); k++) {
				struct perf_event_attr a;

				source_attr(s, &a);
				tally_add(t, res(try_open_at(&a, targets[j].pid, cpus[k], -1, 0)),
					  "%d", cpus[k]);
			}
			tally_say(t, "%s,%s,cpu", s->name, targets[j].name);
		}
	}
	close(release[1]);
	close(release[0]);
	wait_child(targets[n - 4].pid);
	wait_child(targets[n - 3].pid);
	stop_thread(thread);
}

static void open_flags(void)
{
	struct perf_event_attr a;
	struct tally *t;
	unsigned int i, leader;
	int fd;

	for (leader = 0; leader < 2; leader++) {
		int group = leader ? sw_open(PERF_COUNT_SW_DUMMY, 0, -1) : -1;

		t = tally_new();
		for (i = 0; i < 64; i++) {
			if (1ull << i == PERF_FLAG_PID_CGROUP)
				continue;
			attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
			tally_add(t, res(try_open_at(&a, 0, -1, group, 1ul << i)), "bit%u", i);
		}
		tally_say(t, "single,%s", leader ? "in-group" : "no-group");
		t = tally_new();
		for (i = 0; i < 16; i++) {
			if (i & PERF_FLAG_PID_CGROUP)
				continue;
			attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
			tally_add(t, res(try_open_at(&a, 0, -1, group, i)), "%x", i);
		}
		tally_say(t, "low,%s", leader ? "in-group" : "no-group");
		if (group >= 0)
			close(group);
	}
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	fd = pe_open(&a, 0, -1, -1, 0);
	say("fd-flags-without-cloexec", "fd=%x fl=%x", fcntl(fd, F_GETFD), fcntl(fd, F_GETFL));
	close(fd);
	fd = pe_open(&a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	say("fd-flags-with-cloexec", "fd=%x fl=%x", fcntl(fd, F_GETFD), fcntl(fd, F_GETFL));
	close(fd);
	say("all-but-cgroup", "%s", res(try_open_at(&a, 0, -1, -1, ~4ul)));
	say("high-32", "%s", res(try_open_at(&a, 0, -1, -1, ~0ul << 32)));
}

/* Which of several faults of one call is reported. */
static void open_precedence(void)
{
	struct perf_event_attr a;
	struct {
		const char *name;
		u32 size;
		u64 bits, sample;
		u32 type;
		pid_t pid;
		int cpu, group;
		unsigned long flags;
	} cases[] = {
		{ "flags+attr-size", 1, 0, 0, 1, 0, -1, -1, 1ul << 9 },
		{ "flags+group", 136, 0, 0, 1, 0, -1, 1000, 1ul << 9 },
		{ "attr-size+group", 1, 0, 0, 1, 0, -1, 1000, 0 },
		{ "reserved+group", 136, 1ull << 60, 0, 1, 0, -1, 1000, 0 },
		{ "type+group", 136, 0, 0, 100, 0, -1, 1000, 0 },
		{ "type+pid", 136, 0, 0, 100, 0x7fffffff, -1, -1, 0 },
		{ "type+cpu", 136, 0, 0, 100, 0, 4095, -1, 0 },
		{ "pid+cpu", 136, 0, 0, 1, 0x7fffffff, 4095, -1, 0 },
		{ "pid+group", 136, 0, 0, 1, 0x7fffffff, -1, 1000, 0 },
		{ "cpu+group", 136, 0, 0, 1, 0, 4095, 1000, 0 },
		{ "no-target+type", 136, 0, 0, 100, -1, -1, -1, 0 },
		{ "no-target+group", 136, 0, 0, 1, -1, -1, 1000, 0 },
		{ "sample+type", 136, 0, 1ull << 40, 100, 0, -1, -1, 0 },
		{ "freq+type", 136, 1ull << 10, 0, 100, 0, -1, -1, 0 },
		{ "output-no-group", 136, 0, 0, 1, 0, -1, -1, 2 },
		{ "output-bad-group", 136, 0, 0, 1, 0, -1, 1000, 2 },
		{ "no-group-bad-group", 136, 0, 0, 1, 0, -1, 1000, 1 },
		{ "output-no-group-bad", 136, 0, 0, 1, 0, -1, 1000, 3 },
		{ "pinned-sibling-bad", 136, 4, 0, 1, 0, -1, 1000, 0 },
		{ "group-stdin", 136, 0, 0, 1, 0, -1, 0, 0 },
		{ "group-minus-2", 136, 0, 0, 1, 0, -1, -2, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		attr_init(&a, cases[i].type, 0);
		a.size = cases[i].size;
		a.sample_type = cases[i].sample;
		attr_set_bits(&a, cases[i].bits);
		if (cases[i].bits & 1ull << 10)
			a.sample_freq = 1ull << 40;
		say(cases[i].name, "%s", res(try_open_at(&a, cases[i].pid, cases[i].cpu,
							 cases[i].group, cases[i].flags)));
	}
}

static void open_limits(void)
{
	struct perf_event_attr a;
	int first, i, last = 0;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	first = must_open(&a);
	for (i = 0; i < 500; i++) {
		last = pe_open(&a, 0, -1, -1, 0);
		if (last < 0)
			break;
	}
	say("500-on-task", "%d %s", i, res(last));
	while (i--)
		close(first + 1 + i);
	close(first);
	/* Closed in the order of opening, read after each. */
	for (i = 0; i < 8; i++)
		if (sw_open(PERF_COUNT_SW_PAGE_FAULTS, 0, -1) != first + i)
			die("descriptor numbers");
	make_faults(5);
	for (i = 0; i < 8; i++) {
		char name[24];

		snprintf(name, sizeof(name), "count-then-close-%d", i);
		say(name, "%d", read_count(first + i) == 5);
		close(first + i);
	}
}

static void open_cgroup(void)
{
	static const int cpus[] = { -1, 0, 1, 4095 };
	const char *dir = "/sys/fs/cgroup";
	int null = open("/dev/null", O_RDONLY), cg = open(dir, O_RDONLY | O_DIRECTORY);
	const struct {
		const char *name;
		int fd;
	} fds[] = {
		{ "minus-1", -1 }, { "bad", 1000 }, { "null", null }, { "cgroup", cg },
	};
	unsigned int i, c, flags;

	for (i = 0; i < ARRAY_SIZE(fds); i++)
		for (flags = 4; flags < 16; flags += flags == 7 ? 5 : 1) {
			struct tally *t = tally_new();

			for (c = 0; c < ARRAY_SIZE(cpus); c++) {
				struct perf_event_attr a;

				attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
				tally_add(t, res(try_open_at(&a, fds[i].fd, cpus[c], -1, flags)),
					  "%d",
					  cpus[c]);
			}
			tally_say(t, "%s,flags=%x,cpu", fds[i].name, flags);
		}
	close(null);
	if (cg >= 0)
		close(cg);
}

const struct section open_sections[] = {
	{ "open-pid-cpu", open_pid_cpu },
	{ "open-flags", open_flags },
	{ "open-precedence", open_precedence },
	{ "open-limits", open_limits },
	{ "open-cgroup", open_cgroup },
	{ }
};
