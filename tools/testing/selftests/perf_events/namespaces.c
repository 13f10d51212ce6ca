// SPDX-License-Identifier: GPL-2.0
/*
 * namespaces.c - PERF_RECORD_NAMESPACES: what a task's namespaces are after
 * they changed, as /proc/<pid>/ns has them.
 */
#include "lib/ptest.h"
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static struct pt_record rec;
static struct pt_ring ring;
static struct pt_sample id;

/* In the order of the record. */
static const char *const names[NR_NAMESPACES] = {
	[NET_NS_INDEX] = "net",
	[UTS_NS_INDEX] = "uts",
	[IPC_NS_INDEX] = "ipc",
	[PID_NS_INDEX] = "pid",
	[USER_NS_INDEX] = "user",
	[MNT_NS_INDEX] = "mnt",
	[CGROUP_NS_INDEX] = "cgroup",
};

static const struct {
	int flag;
	unsigned int index;
} kinds[] = {
	{ CLONE_NEWUTS, UTS_NS_INDEX },
	{ CLONE_NEWNS, MNT_NS_INDEX },
	{ CLONE_NEWIPC, IPC_NS_INDEX },
	{ CLONE_NEWNET, NET_NS_INDEX },
	{ CLONE_NEWCGROUP, CGROUP_NS_INDEX },
	{ CLONE_NEWUSER, USER_NS_INDEX },
};

struct link {
	u64 dev, ino;
};

struct record {
	u32 pid, tid;
	u64 nr;
	struct link link[NR_NAMESPACES];
};

static struct perf_event_attr carrier(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	attr.namespaces = 1;
	return attr;
}

static void start(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	pt_pin(0);
	pt_map(&ring, pt_open(attr, pid, cpu, -1, 0), 8);
}

static void expect_nothing(void)
{
	pt_check(!pt_next(&ring, &rec), "unexpected record of type %u", rec.h.type);
}

/* What the files say; a kind that the kernel lacks is zero. */
static void look(pid_t pid, struct link *link)
{
	unsigned int i;
	char path[64];
	struct stat st;

	for (i = 0; i < NR_NAMESPACES; i++) {
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, names[i]);
		link[i] = (struct link){ 0 };
		if (stat(path, &st)) {
			pt_need(errno == ENOENT, "stat %s: %s", path, strerror(errno));
			continue;
		}
		/* As for user space of 32 bits */
		link[i].dev = (minor(st.st_dev) & 0xff) | major(st.st_dev) << 8 |
			      (minor(st.st_dev) & ~0xffu) << 12;
		link[i].ino = st.st_ino;
	}
}

static struct record next_record(size_t extra)
{
	struct record r;

	pt_need(pt_next(&ring, &rec), "no record");
	pt_eq(rec.h.type, PERF_RECORD_NAMESPACES);
	pt_eq(rec.h.misc, 0);
	pt_eq(rec.h.size, sizeof(rec.h) + sizeof(r) + extra);
	memcpy(&r, rec.body, sizeof(r));
	pt_eq(r.nr, NR_NAMESPACES);
	pt_eq(r.nr, 7);
	return r;
}

static void check_links(const struct record *r, const struct link *want)
{
	unsigned int i;

	for (i = 0; i < NR_NAMESPACES; i++)
		pt_check(r->link[i].dev == want[i].dev && r->link[i].ino == want[i].ino,
			 "%s is %llu:%llu, not %llu:%llu", names[i],
			 (unsigned long long)r->link[i].dev, (unsigned long long)r->link[i].ino,
			 (unsigned long long)want[i].dev, (unsigned long long)want[i].ino);
}

/* The caller's */
static void check_record(size_t extra)
{
	struct link now[NR_NAMESPACES];
	struct record r = next_record(extra);

	pt_eq(r.pid, getpid());
	pt_eq(r.tid, pt_tid());
	look(getpid(), now);
	check_links(&r, now);
}

/* One after the other: a record each, in which that one is another. */
static void unshared(void)
{
	struct perf_event_attr attr = carrier();
	struct link before[NR_NAMESPACES], now[NR_NAMESPACES];
	unsigned int i, k;

	start(&attr, 0, -1);
	for (k = 0; k < PT_ARRAY_SIZE(kinds); k++) {
		look(getpid(), before);
		if (unshare(kinds[k].flag)) {
			pt_need(errno == EINVAL && !before[kinds[k].index].ino, "unshare %s: %s",
				names[kinds[k].index], strerror(errno));
			continue;
		}
		check_record(0);
		expect_nothing();
		look(getpid(), now);
		for (i = 0; i < NR_NAMESPACES; i++)
			pt_eq(before[i].ino != now[i].ino, i == kinds[k].index);
	}
}

static void all_at_once(void)
{
	struct perf_event_attr attr = carrier();
	struct link before[NR_NAMESPACES], now[NR_NAMESPACES];

	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	start(&attr, 0, -1);
	look(getpid(), before);
	pt_need(!unshare(CLONE_NEWUTS | CLONE_NEWNS), "unshare: %s", strerror(errno));
	check_record(24);
	pt_parse_trailer(&attr, &rec, &id, NULL);
	pt_eq(id.pid, getpid());
	pt_eq(id.tid, pt_tid());
	pt_eq(id.cpu, 0);
	pt_eq(id.identifier, pt_id(ring.fd));
	look(getpid(), now);
	pt_check(before[UTS_NS_INDEX].ino != now[UTS_NS_INDEX].ino, "the same UTS namespace");
	pt_check(before[MNT_NS_INDEX].ino != now[MNT_NS_INDEX].ino, "the same mounts");
	pt_eq(before[NET_NS_INDEX].ino, now[NET_NS_INDEX].ino);
	expect_nothing();
}

/* Back into the namespace of before. */
static void joined(void)
{
	struct perf_event_attr attr = carrier();
	struct link before[NR_NAMESPACES], now[NR_NAMESPACES];
	int old = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);

	pt_need(old >= 0, "/proc/self/ns/uts: %s", strerror(errno));
	look(getpid(), before);
	start(&attr, 0, -1);
	pt_need(!unshare(CLONE_NEWUTS), "unshare: %s", strerror(errno));
	check_record(0);
	pt_need(!setns(old, CLONE_NEWUTS), "setns: %s", strerror(errno));
	check_record(0);
	expect_nothing();
	look(getpid(), now);
	pt_check(!memcmp(before, now, sizeof(now)), "not the old ones");
}

/* Of those that fail nothing is told. */
static void refused(void)
{
	struct perf_event_attr attr = carrier();
	int null = open("/dev/null", O_RDONLY);

	start(&attr, 0, -1);
	pt_eq(unshare(-1), -1);
	pt_eq(setns(null, CLONE_NEWUTS), -1);
	expect_nothing();
}

static struct link child_links[2][NR_NAMESPACES];

/* A child is told of by its parent as well, before it runs. */
static void fork_tells(int flags)
{
	struct perf_event_attr attr = carrier();
	int go[2];
	struct record r;
	pid_t pid;
	char c;

	pt_need(!pipe(go), "pipe: %s", strerror(errno));
	start(&attr, 0, -1);
	look(getpid(), child_links[0]);
	pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	pt_need(pid >= 0, "clone: %s", strerror(errno));
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &c, 1) != 0);
	}
	r = next_record(0);
	expect_nothing();
	pt_eq(r.pid, pid);
	pt_eq(r.tid, pid);
	look(pid, child_links[1]);
	check_links(&r, child_links[1]);
	close(go[1]);
	pt_reap(pid);
	expect_nothing();
	pt_unmap(&ring);
	close(ring.fd);
}

static void forked(void)
{
	unsigned int i;

	fork_tells(0);
	for (i = 0; i < NR_NAMESPACES; i++)
		pt_eq(child_links[1][i].ino, child_links[0][i].ino);
	fork_tells(CLONE_NEWUTS | CLONE_NEWPID);
	for (i = 0; i < NR_NAMESPACES; i++)
		pt_eq(child_links[1][i].ino != child_links[0][i].ino,
		      i == UTS_NS_INDEX || i == PID_NS_INDEX);
}

static void unshare_one(void *arg)
{
	(void)arg;
	pt_need(!unshare(CLONE_NEWUTS), "unshare: %s", strerror(errno));
}

static unsigned int records_of(pid_t pid)
{
	unsigned int n = 0;
	struct record r;

	while (pt_next_of(&ring, &rec, PERF_RECORD_NAMESPACES)) {
		memcpy(&r, rec.body, sizeof(r));
		n += r.pid == (u32)pid;
	}
	return n;
}

/* Events of the CPU hear of all that is on it; those of other tasks and CPUs do not. */
static void who_is_told(void)
{
	struct perf_event_attr attr = carrier();
	struct pt_ring of_task, of_other_cpu;
	pid_t pid;

	/* Without it stock forgets events of CPUs. */
	attr.ksymbol = 1;
	start(&attr, -1, 0);
	pt_map(&of_task, pt_open(&attr, getppid(), -1, -1, 0), 4);
	if (pt_online_cpus() > 1)
		pt_map(&of_other_cpu, pt_open(&attr, -1, 1, -1, 0), 4);
	pid = pt_fork(unshare_one, NULL);
	pt_reap(pid);
	pt_disable(ring.fd);
	/* Of the fork, of unshare() */
	pt_eq(records_of(pid), 2);
	pt_eq(pt_head(&of_task), 0);
	if (pt_online_cpus() > 1)
		pt_eq(pt_count_records(&of_other_cpu, PERF_RECORD_NAMESPACES), 0);
}

/* An event of a CPU that asks for nothing else. */
static void nothing_else_asked_for(void)
{
	struct perf_event_attr attr = carrier();

	if (pt_is_stock())
		pt_skip("this kernel forgets events of CPUs that ask for namespaces alone");
	start(&attr, -1, 0);
	pt_need(!unshare(CLONE_NEWUTS), "unshare: %s", strerror(errno));
	pt_disable(ring.fd);
	pt_eq(records_of(getpid()), 1);
}

static void open_inside(void *arg)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	(void)arg;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	pt_open(&attr, 0, -1, -1, 0);
}

/* A new PID namespace as soon as there is room for one, and an event that is opened inside. */
static void first_inside(void *arg)
{
	(void)arg;
	while (unshare(CLONE_NEWPID)) {
		pt_need(errno == ENOSPC, "unshare: %s", strerror(errno));
		sched_yield();
	}
	pt_reap(pt_fork(open_inside, NULL));
}

/* Whose event was opened in a PID namespace holds it, and lets it go: there is room for one. */
static void let_go(void)
{
	pid_t pid;
	int i;

	if (!pt_path_exists("/proc/self/ns/pid") || !pt_path_exists("/proc/self/ns/user"))
		pt_skip("no namespaces");
	pt_sysctl_set("perf_event_paranoid", 2);
	pt_in_child(pid) {
		pt_need(!unshare(CLONE_NEWUSER), "unshare: %s", strerror(errno));
		pt_eq(pt_write_file("/proc/sys/user/max_pid_namespaces", "1"), 0);
		for (i = 0; i < 3; i++)
			pt_reap(pt_fork(first_inside, NULL));
	}
	pt_reap(pid);
}

static const struct pt_case cases[] = {
	{ "unshared", unshared },
	{ "all_at_once", all_at_once },
	{ "joined", joined },
	{ "refused", refused },
	{ "forked", forked },
	{ "who_is_told", who_is_told },
	{ "nothing_else_asked_for", nothing_else_asked_for },
	{ "let_go", let_go },
};

PT_MAIN(cases)
