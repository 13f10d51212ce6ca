// SPDX-License-Identifier: GPL-2.0
/*
 * cgroup_move.c - cgroups that come and go, tasks that move between them, and
 * the other kind of hierarchy, under events that count.
 */
#include "lib/cgroup.h"
#include <sys/mount.h>
#include <sys/stat.h>

/* ---- cgroups that go, tasks that move ---- */

static void removed(void)
{
	const char *a = cg_make("");
	int fd, again;

	pt_pin(0);
	fd = cg_faults(a, 0);
	cg_enter(a);
	pt_fault(5);
	cg_leave();
	pt_need(!rmdir(a), "rmdir: %s", strerror(errno));
	pt_fault(5);
	pt_eq(pt_count(fd), 5);
	pt_need(!mkdir(a, 0755), "mkdir: %s", strerror(errno));
	again = cg_faults(a, 0);
	cg_enter(a);
	pt_fault(6);
	cg_leave();
	pt_eq(pt_count(fd), 5);
	pt_eq(pt_count(again), 6);
	pt_disable(fd);
	pt_enable(fd);
	pt_reset(fd);
	pt_eq(pt_count(fd), 0);
	close(fd);
	pt_fault(6);
	pt_eq(pt_count(again), 6);
	cg_remove_all();
}

struct runner {
	int cpu;
	u64 faults;
	bool stop, ready;
};

static void run(void *arg)
{
	struct runner *r = arg;

	pt_pin(r->cpu);
	pt_settle();
	__atomic_store_n(&r->ready, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		pt_fault(16);
		__atomic_store_n(&r->faults, r->faults + 16, __ATOMIC_RELEASE);
	}
}

static struct runner *start_runner(const char *dir, pid_t *pid)
{
	struct runner *r = mmap(NULL, pt_page_size(), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	pt_need(r != MAP_FAILED, "mmap");
	r->cpu = pt_online_cpus() - 1;
	*pid = pt_fork(run, r);
	while (!__atomic_load_n(&r->ready, __ATOMIC_ACQUIRE))
		sched_yield();
	pt_need(!cg_enter_path(dir, *pid), "cgroup.procs");
	return r;
}

static u64 faults_so_far(struct runner *r)
{
	return __atomic_load_n(&r->faults, __ATOMIC_ACQUIRE);
}

/* A task that runs is moved: each of its faults is counted once, here or there. */
static void moved_while_running(void)
{
	const char *a = cg_make(""), *b = cg_make("/b"), *c = cg_make("/c");
	int cpu = pt_online_cpus() - 1;
	int fb, fc, other;
	u64 first, before, after, count;
	struct runner *r;
	unsigned int i;
	pid_t pid;

	r = start_runner(a, &pid);
	fb = cg_faults(b, cpu);
	fc = cg_faults(c, cpu);
	first = faults_so_far(r);
	pt_need(!cg_enter_path(b, pid), "cgroup.procs");
	before = faults_so_far(r);
	while (faults_so_far(r) == before)
		sched_yield();
	before = faults_so_far(r);
	for (i = 0; i < 60; i++) {
		pt_need(!cg_enter_path(i & 1 ? b : c, pid), "cgroup.procs");
		/* Others come and go in the meantime. */
		other = cg_faults(i & 2 ? a : b, cpu);
		close(other);
	}
	/* All that were done between two looks have been counted ... */
	after = faults_so_far(r);
	count = pt_count(fb) + pt_count(fc);
	pt_check(count >= after - before, "%llu of %llu faults", (unsigned long long)count,
		 (unsigned long long)(after - before));
	/* ... and none that was not done, but in the turn that is under way. */
	after = faults_so_far(r) + 16;
	pt_check(count <= after - first, "%llu of %llu faults", (unsigned long long)count,
		 (unsigned long long)(after - first));
	__atomic_store_n(&r->stop, true, __ATOMIC_RELEASE);
	pt_reap(pid);
	cg_remove_all();
}

/* Events go while their cgroup runs elsewhere, the cgroup goes next. */
static void closed_while_running(void)
{
	const char *a = cg_make(""), *b = cg_make("/b");
	int cpu = pt_online_cpus() - 1;
	struct runner *r;
	unsigned int i;
	pid_t pid;
	int fd;

	r = start_runner(a, &pid);
	for (i = 0; i < pt_turns(30); i++) {
		fd = cg_faults(i & 1 ? a : b, cpu);
		pt_need(!cg_enter_path(b, pid), "cgroup.procs");
		close(fd);
		pt_need(!cg_enter_path(a, pid), "cgroup.procs");
		pt_need(!rmdir(b), "rmdir: %s", strerror(errno));
		pt_need(!mkdir(b, 0755), "mkdir: %s", strerror(errno));
	}
	__atomic_store_n(&r->stop, true, __ATOMIC_RELEASE);
	pt_reap(pid);
	cg_remove_all();
}

/* An open that fails, early or late, holds nothing: the cgroup can go. */
static void failed_open_holds_nothing(void)
{
	struct perf_event_attr good = pt_attr(PT_SW(PAGE_FAULTS)), bad = good;
	const char *a = cg_make(""), *b = cg_make("/b");
	int leader, closed;

	bad.sample_type = PERF_SAMPLE_BRANCH_STACK;
	bad.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	bad.sample_period = 1;
	leader = cg_faults(a, 0);
	closed = pt_open(&good, -1, 0, -1, 0);
	pt_eq(cg_try_open(&good, b, 0, leader), -EINVAL);
	pt_eq(cg_try_open(&good, b, 0, closed), -EINVAL);
	pt_eq(cg_try_open(&good, b, 0, 1000), -EBADF);
	pt_eq(cg_try_open(&good, b, 100000, -1), -EINVAL);
	pt_eq(cg_try_open(&bad, b, 0, -1), -EOPNOTSUPP);
	close(leader);
	cg_remove_all();
	cg_wait_until_gone();
}

/* Exited in the cgroup: the CPU leaves it, with or without somebody after it. */
static void exit_inside(void *arg)
{
	pt_pin(0);
	pt_settle();
	cg_enter(arg);
	pt_fault(9);
}

static void exited(void)
{
	const char *a = cg_make("");
	unsigned int i;
	int fd;

	pt_pin(0);
	for (i = 0; i < pt_turns(20); i++) {
		fd = cg_faults(a, 0);
		pt_reap(pt_fork(exit_inside, (void *)a));
		pt_check(pt_count(fd) >= 9, "%llu faults", (unsigned long long)pt_count(fd));
		close(fd);
		pt_need(!rmdir(a), "rmdir: %s", strerror(errno));
		pt_need(!mkdir(a, 0755), "mkdir: %s", strerror(errno));
	}
	cg_remove_all();
}

/* ---- the other kind of hierarchy ---- */

/* What /proc/cgroups says of the controller. */
static void look_at_controller(int *hierarchy, int *nr_cgroups)
{
	FILE *f = fopen("/proc/cgroups", "r");
	char line[256];
	int found = 0;

	pt_need(f, "/proc/cgroups: %s", strerror(errno));
	while (found != 2 && fgets(line, sizeof(line), f))
		found = sscanf(line, "perf_event %d %d", hierarchy, nr_cgroups);
	fclose(f);
	pt_need(found == 2, "no perf_event controller");
}

static void version_1(void)
{
	char dir[] = "/tmp/pt-cgroup-XXXXXX";
	const char *a, *b;
	int fa, fb, hierarchy, nr;

	pt_need(mkdtemp(dir), "mkdtemp: %s", strerror(errno));
	if (mount("perf_event", dir, "cgroup", 0, "perf_event")) {
		int err = errno;

		rmdir(dir);
		pt_skip("no cgroup v1: %s", strerror(err));
	}
	cg_mounted = dir;
	pt_pin(0);
	a = cg_make("");
	b = cg_make("/b");
	fa = cg_faults(a, 0);
	fb = cg_faults(b, 0);
	pt_fault(1);
	cg_enter(b);
	pt_fault(5);
	cg_enter(a);
	pt_fault(3);
	cg_leave();
	pt_fault(1);
	pt_eq(pt_count(fb), 5);
	pt_eq(pt_count(fa), 8);
	close(fa);
	close(fb);
	cg_remove_all();
	/* The controller goes back to the other hierarchy, if no cgroup is left in this one. */
	do
		look_at_controller(&hierarchy, &nr);
	while (nr > 1);
	pt_eq(umount(dir), 0);
	do
		look_at_controller(&hierarchy, &nr);
	while (hierarchy);
	pt_eq(rmdir(dir), 0);
}

/* A task that moves has its CPU look again, but only while somebody has events of cgroups. */
static void moves_for_nobody(void)
{
	int type = pt_pmu_type("kprobe"), looks, fd;
	struct perf_event_attr probe;
	const char *a;

	if (type < 0 || pt_is_stock())
		pt_skip("no probe, or not in our function");
	a = cg_make("");
	pt_pin(0);
	probe = pt_attr((u32)type, 0);
	probe.kprobe_func = pt_addr("pe_cgroup_follow_current");
	looks = pt_open(&probe, 0, -1, -1, 0);
	fd = cg_faults(a, 0);
	cg_enter(a);
	pt_eq(pt_count(looks), 1);
	close(fd);
	cg_leave();
	pt_eq(pt_count(looks), 1);
	cg_remove_all();
}

static const struct pt_case cases[] = {
	{ "removed", removed },
	{ "exited", exited },
	{ "failed_open_holds_nothing", failed_open_holds_nothing },
	{ "moved_while_running", moved_while_running },
	{ "closed_while_running", closed_while_running },
	{ "moves_for_nobody", moves_for_nobody },
	{ "version_1", version_1 },
};

PT_MAIN(cases)
