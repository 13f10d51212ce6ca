// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about permission: what a user without privilege, one with
 * CAP_PERFMON and root may open under each perf_event_paranoid, and how much
 * buffer memory they may map.
 *
 * Each user is a forked child that drops its privileges; the setting is
 * changed by the parent before the fork and restored after.
 */
#include "abi.h"
#include <sys/prctl.h>
#include <sys/resource.h>
#include <linux/capability.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define NOBODY 65534

enum who { ROOT, USER, PERFMON, SYS_ADMIN, IPC_LOCK, NR_WHO };

static const char *const who_name[NR_WHO] = { "root", "user", "perfmon", "sys_admin", "ipc_lock" };

static void become(enum who who)
{
	static const int caps[NR_WHO] = { 0, -1, 38, CAP_SYS_ADMIN, CAP_IPC_LOCK };
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2] = { 0 };

	if (who == ROOT)
		return;
	if (prctl(PR_SET_KEEPCAPS, 1) < 0 || syscall(SYS_setgroups, 0, NULL) < 0 ||
	    syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) < 0 ||
	    syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) < 0)
		die("dropping privileges");
	if (caps[who] >= 0) {
		d[caps[who] / 32].permitted = 1u << caps[who] % 32;
		d[caps[who] / 32].effective = 1u << caps[who] % 32;
	}
	if (syscall(SYS_capset, &h, d) < 0)
		die("capset");
	prctl(PR_SET_DUMPABLE, 1);
}

struct try {
	const char *name;
	const char *source;
	u64 bits, sample, period;
	int place;		/* 0 task, 1 CPU 0, 2 pid of root, 3 pid of the same user */
};

#define NOKERNEL (1ull << 5)
#define NOUSER (1ull << 4)
#define NOHV (1ull << 6)

static const struct try tries[] = {
	{ "sw", "sw-page-faults", 0, 0, 0, 0 },
	{ "sw-nokernel", "sw-page-faults", NOKERNEL, 0, 0, 0 },
	{ "sw-nouser", "sw-page-faults", NOUSER, 0, 0, 0 },
	{ "sw-neither", "sw-page-faults", NOUSER | NOKERNEL, 0, 0, 0 },
	{ "dummy", "sw-dummy", 0, 0, 0, 0 },
	{ "clock", "sw-task-clock", 0, 0, 0, 0 },
	{ "clock-nokernel", "sw-task-clock", NOKERNEL, 0, 0, 0 },
	{ "sw-cpu", "sw-page-faults", 0, 0, 0, 1 },
	{ "sw-cpu-nokernel", "sw-page-faults", NOKERNEL, 0, 0, 1 },
	{ "sw-root", "sw-page-faults", NOKERNEL, 0, 0, 2 },
	{ "sw-other", "sw-page-faults", NOKERNEL, 0, 0, 3 },
	{ "sw-inherit", "sw-page-faults", NOKERNEL | 2, 0, 0, 0 },
	{ "sw-exec", "sw-page-faults", NOKERNEL | 1ull << 12, 0, 0, 0 },
	{ "sw-pinned", "sw-page-faults", NOKERNEL | 4, 0, 0, 0 },
	{ "sw-exclusive", "sw-page-faults", NOKERNEL | 8, 0, 0, 0 },
	{ "sw-mmap", "sw-dummy", NOKERNEL | 1ull << 8, 0, 0, 0 },
	{ "sw-switch", "sw-dummy", NOKERNEL | 1ull << 26, 0, 0, 0 },
	{ "sw-switch-cpu", "sw-dummy", NOKERNEL | 1ull << 26, 0, 0, 1 },
	{ "sw-switch-kernel", "sw-dummy", 1ull << 26, 0, 0, 0 },
	{ "sw-freq", "sw-page-faults", NOKERNEL | 1ull << 10, 0, 100, 0 },
	{ "sw-period1", "sw-page-faults", NOKERNEL, 1, 1, 0 },
	{ "sw-callchain", "sw-page-faults", NOKERNEL, 1 << 5, 1, 0 },
	{ "sw-callchain-kernel", "sw-page-faults", 0, 1 << 5, 1, 0 },
	{ "sw-regs", "sw-page-faults", NOKERNEL, 1 << 12, 1, 0 },
	{ "sw-regs-intr", "sw-page-faults", NOKERNEL, 1 << 18, 1, 0 },
	{ "sw-regs-intr-kernel", "sw-page-faults", 0, 1 << 18, 1, 0 },
	{ "sw-raw", "sw-page-faults", NOKERNEL, 1 << 10, 1, 0 },
	{ "tp", "tp-getppid", 0, 0, 0, 0 },
	{ "tp-nokernel", "tp-getppid", NOKERNEL, 0, 0, 0 },
	{ "tp-sampling", "tp-getppid", NOKERNEL, 1, 1, 0 },
	{ "tp-raw", "tp-getppid", NOKERNEL, 1 << 10, 1, 0 },
	{ "tp-raw-kernel", "tp-getppid", 0, 1 << 10, 1, 0 },
	{ "tp-raw-counting", "tp-getppid", NOKERNEL, 1 << 10, 0, 0 },
	{ "tp-cpu", "tp-getppid", NOKERNEL, 0, 0, 1 },
	{ "tp-cpu-raw", "tp-getppid", NOKERNEL, 1 << 10, 1, 1 },
	{ "tp-root", "tp-getppid", NOKERNEL, 0, 0, 2 },
	{ "sched-nokernel", "tp-switch", NOKERNEL, 0, 0, 0 },
	{ "sched-raw", "tp-switch", NOKERNEL, 1 << 10, 1, 0 },
	{ "bp", "bp-w8", 0, 0, 0, 0 },
	{ "bp-nokernel", "bp-w8", NOKERNEL, 0, 0, 0 },
	{ "bp-x", "bp-x8", NOKERNEL, 0, 0, 0 },
	{ "bp-cpu", "bp-w8", NOKERNEL, 0, 0, 1 },
	{ "hw", "hw-cycles", 0, 0, 0, 0 },
	{ "hw-nokernel", "hw-cycles", NOKERNEL, 0, 0, 0 },
	{ "hw-nokernel-nohv", "hw-cycles", NOKERNEL | NOHV, 0, 0, 0 },
	{ "hw-nouser", "hw-cycles", NOUSER, 0, 0, 0 },
	{ "hw-cpu", "hw-cycles", NOKERNEL, 0, 0, 1 },
	{ "hw-raw", "raw-11", NOKERNEL, 0, 0, 0 },
	{ "hw-sampling", "hw-cycles", NOKERNEL, 1, 100000, 0 },
	{ "type-100", "type-100", NOKERNEL, 0, 0, 0 },
	{ "kprobe", "pmu-kprobe", NOKERNEL, 0, 0, 0 },
	{ "uprobe", "pmu-uprobe", NOKERNEL, 0, 0, 0 },
};

static pid_t same_user_child(int *keep)
{
	int p[2];
	pid_t pid;
	char c;

	if (pipe(p) < 0)
		die("pipe");
	pid = fork_quiet();
	if (!pid) {
		close(p[1]);
		_exit(read(p[0], &c, 1) != 0);
	}
	close(p[0]);
	*keep = p[1];
	return pid;
}

static void try_all(const char *prefix, pid_t root_pid)
{
	struct tally *t = tally_new();
	int keep;
	pid_t other = same_user_child(&keep);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		const struct source *s = source_find(tries[i].source);
		const pid_t pids[] = { 0, -1, root_pid, other };
		static const int cpus[] = { -1, 0, -1, -1 };
		struct perf_event_attr a;

		if (s->absent)
			continue;
		source_attr(s, &a);
		attr_set_bits(&a, tries[i].bits);
		a.sample_type = tries[i].sample;
		a.sample_period = tries[i].period;
		if (a.sample_type & PERF_SAMPLE_REGS_USER)
			a.sample_regs_user = 1;
		if (a.sample_type & PERF_SAMPLE_REGS_INTR)
			a.sample_regs_intr = 1;
		tally_add(t, res(try_open_at(&a, pids[tries[i].place], cpus[tries[i].place], -1,
					     0)),
			  "%s", tries[i].name);
	}
	tally_say(t, "%s", prefix);
	close(keep);
	wait_child(other);
}

static void perm_paranoid(void)
{
	static const char *const levels[] = { "-1", "0", "1", "2", "3", "4" };
	unsigned int i, w;

	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		if (file_write(PARANOID, levels[i]) < 0) {
			say(levels[i], "refused");
			continue;
		}
		for (w = 0; w < NR_WHO; w++) {
			pid_t root_pid = getpid(), pid = fork_quiet();

			if (!pid) {
				char name[48];

				snprintf(name, sizeof(name), "paranoid=%s,%s", levels[i],
					 who_name[w]);
				become(w);
				try_all(name, root_pid);
				fflush(stdout);
				_exit(0);
			}
			if (wait_child(pid))
				die("a user's child failed");
		}
	}
	file_write(PARANOID, "-1");
}

/* Attributes of the target: dumpable or not, its thread or not. */
static void perm_ptrace(void)
{
	struct perf_event_attr a;
	unsigned int dumpable;

	file_write(PARANOID, "2");
	for (dumpable = 0; dumpable < 2; dumpable++) {
		pid_t pid = fork_quiet();

		if (!pid) {
			int keep;
			pid_t other;

			become(USER);
			prctl(PR_SET_DUMPABLE, dumpable);
			other = same_user_child(&keep);
			attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
			attr_set_bits(&a, NOKERNEL);
			say(dumpable ? "dumpable" : "not-dumpable", "child %s self %s parent %s",
			    res(try_open_at(&a, other, -1, -1, 0)),
			    res(try_open_at(&a, 0, -1, -1, 0)),
			    res(try_open_at(&a, getppid(), -1, -1, 0)));
			close(keep);
			wait_child(other);
			fflush(stdout);
			_exit(0);
		}
		wait_child(pid);
	}
	file_write(PARANOID, "-1");
}

static void map_sizes(const char *name)
{
	struct tally *t = tally_new();
	unsigned int pages;

	for (pages = 1; pages <= 1024; pages *= 2) {
		int fd = sw_open(PERF_COUNT_SW_PAGE_FAULTS, NOKERNEL, -1);
		struct ring r;
		int ret;

		if (fd < 0) {
			tally_add(t, res(fd), "%u", pages);
			continue;
		}
		ret = ring_map(&r, fd, pages, PROT_READ | PROT_WRITE);
		tally_add(t, res(ret), "%u", pages);
		if (!ret)
			ring_unmap(&r);
		close(fd);
	}
	tally_say(t, "%s,pages", name);
	t = tally_new();
	/* Many small ones: the limit is the user's, not the buffer's. Events stay open. */
	for (pages = 0; pages < 40; pages++) {
		int fd = sw_open(PERF_COUNT_SW_PAGE_FAULTS, NOKERNEL, -1);
		struct ring r;

		tally_add(t, fd < 0 ? res(fd) : res(ring_map(&r, fd, 8, PROT_READ | PROT_WRITE)),
			  "%u", pages);
	}
	tally_say(t, "%s,nth-of-8-pages", name);
}

static void perm_mlock(void)
{
	static const struct {
		const char *name, *paranoid, *mlock_kb;
		enum who who;
		rlim_t rlimit;
	} cases[] = {
		{ "user,mlock=516,rlimit=0", "2", "516", USER, 0 },
		{ "user,mlock=0,rlimit=0", "2", "0", USER, 0 },
		{ "user,mlock=0,rlimit=64k", "2", "0", USER, 65536 },
		{ "user,mlock=4,rlimit=64k", "2", "4", USER, 65536 },
		{ "user,mlock=36,rlimit=0", "2", "36", USER, 0 },
		{ "user,mlock=0,rlimit=inf", "2", "0", USER, RLIM_INFINITY },
		{ "user,paranoid=-1", "-1", "0", USER, 0 },
		{ "user,paranoid=0", "0", "0", USER, 0 },
		{ "perfmon,mlock=0", "2", "0", PERFMON, 0 },
		{ "ipc_lock,mlock=0", "2", "0", IPC_LOCK, 0 },
		{ "root,mlock=0", "2", "0", ROOT, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rlimit limit = { cases[i].rlimit, cases[i].rlimit };
		pid_t pid;

		file_write(PARANOID, cases[i].paranoid);
		file_write("/proc/sys/kernel/perf_event_mlock_kb", cases[i].mlock_kb);
		pid = fork_quiet();
		if (!pid) {
			if (setrlimit(RLIMIT_MEMLOCK, &limit) < 0)
				die("setrlimit");
			become(cases[i].who);
			map_sizes(cases[i].name);
			fflush(stdout);
			_exit(0);
		}
		wait_child(pid);
	}
	file_write("/proc/sys/kernel/perf_event_mlock_kb", "516");
	file_write(PARANOID, "-1");
}

/* Permission is checked at open, not at use: a descriptor keeps what it may. */
static void perm_kept(void)
{
	int fd = sw_open(PERF_COUNT_SW_PAGE_FAULTS, 0, -1);
	pid_t pid;

	file_write(PARANOID, "3");
	pid = fork_quiet();
	if (!pid) {
		u64 v;

		become(USER);
		say("read", "%ld", neg(read(fd, &v, 8)));
		say("disable", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0))));
		say("enable", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))));
		say("reset", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_RESET, 0))));
		v = 1;
		say("period", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v))));
		fflush(stdout);
		_exit(0);
	}
	wait_child(pid);
	close(fd);
	file_write(PARANOID, "-1");
}

const struct section perm_sections[] = {
	{ "perm-paranoid", perm_paranoid },
	{ "perm-ptrace", perm_ptrace },
	{ "perm-mlock", perm_mlock },
	{ "perm-kept", perm_kept },
	{ }
};
