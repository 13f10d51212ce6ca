// SPDX-License-Identifier: GPL-2.0
/*
 * cgroup.c - events that follow a cgroup: they count on their CPU while it
 * runs a task of the cgroup or of one below it, and nothing else; their time
 * goes on only then.
 */
#include "lib/ptest.h"
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define MAX_DIRS	16
#define TIMES		(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static const char *mounted = "/sys/fs/cgroup";
static char base[64];
static char dirs[MAX_DIRS][200];
static unsigned int nr_dirs;

/* ---- cgroups ---- */

static int enter_path(const char *dir, pid_t pid)
{
	char path[256], text[16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	snprintf(text, sizeof(text), "%d", pid);
	return pt_write_file(path, text);
}

static void enter(const char *dir)
{
	int err = enter_path(dir, getpid());

	pt_need(!err, "%s: %s", dir, strerror(-err));
}

static void leave(void)
{
	enter(mounted);
}

/* Also after a failure: the next case finds nothing of this one. */
static void remove_all(void)
{
	enter_path(mounted, getpid());
	while (nr_dirs)
		rmdir(dirs[--nr_dirs]);
}

/* Was the kernel built with CGROUP_PERF? */
static void need_controller(void)
{
	FILE *f = fopen("/proc/cgroups", "r");
	char line[256];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		found |= !strncmp(line, "perf_event\t", 11);
	if (f)
		fclose(f);
	if (!found)
		pt_skip("no perf_event controller");
}

static const char *make(const char *name)
{
	char *dir = dirs[nr_dirs];

	pt_need(nr_dirs < MAX_DIRS, "too many cgroups");
	if (!nr_dirs) {
		char path[100];

		need_controller();
		snprintf(path, sizeof(path), "%s/cgroup.procs", mounted);
		if (!pt_path_exists(path))
			pt_skip("no cgroup2 at %s", mounted);
		/* Until then cgroups of version 2 are not known to any controller. */
		snprintf(path, sizeof(path), "%s/cgroup.subtree_control", mounted);
		if (pt_path_exists(path) && pt_write_file(path, "+pids"))
			pt_skip("no controllers at %s", mounted);
		snprintf(base, sizeof(base), "%s/pt%d", mounted, getpid());
	}
	snprintf(dir, sizeof(dirs[0]), "%s%s", base, name);
	pt_need(!mkdir(dir, 0755), "mkdir %s: %s", dir, strerror(errno));
	nr_dirs++;
	return dir;
}

static int dir_fd(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	pt_need(fd >= 0, "%s: %s", dir, strerror(errno));
	return fd;
}

static int try_open_in(struct perf_event_attr *attr, const char *dir, int cpu, int group)
{
	int at = dir_fd(dir);
	int fd = pt_try_open(attr, at, cpu, group, PERF_FLAG_PID_CGROUP);

	close(at);
	return fd;
}

static int open_in(struct perf_event_attr *attr, const char *dir, int cpu, int group)
{
	int fd = try_open_in(attr, dir, cpu, group);

	pt_need(fd >= 0, "event of %s: %s", dir, strerror(-fd));
	return fd;
}

static int faults_of(const char *dir, int cpu)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	return open_in(&attr, dir, cpu, -1);
}

/* ---- counting ---- */

static void members_only(void)
{
	const char *a = make("");
	int fd;

	pt_pin(0);
	fd = faults_of(a, 0);
	pt_fault(10);
	pt_eq(pt_count(fd), 0);
	enter(a);
	pt_fault(10);
	pt_eq(pt_count(fd), 10);
	leave();
	pt_fault(10);
	pt_eq(pt_count(fd), 10);
	/* Opened while its tasks run. */
	enter(a);
	close(fd);
	fd = faults_of(a, 0);
	pt_fault(3);
	pt_eq(pt_count(fd), 3);
	pt_disable(fd);
	pt_fault(3);
	pt_enable(fd);
	pt_fault(4);
	pt_eq(pt_count(fd), 7);
	remove_all();
}

static void hierarchy(void)
{
	const char *a = make(""), *b = make("/b"), *c = make("/b/c"), *d = make("/d");
	int fa, fb, fc, fd;

	pt_pin(0);
	fc = faults_of(c, 0);
	fa = faults_of(a, 0);
	fd = faults_of(d, 0);
	fb = faults_of(b, 0);
	enter(c);
	pt_fault(1);
	enter(b);
	pt_fault(10);
	enter(a);
	pt_fault(100);
	enter(d);
	pt_fault(1000);
	enter(c);
	pt_fault(3);
	leave();
	pt_fault(5);
	pt_eq(pt_count(fc), 4);
	pt_eq(pt_count(fb), 14);
	pt_eq(pt_count(fa), 1114);
	pt_eq(pt_count(fd), 1000);
	/* The middle of a path goes, and comes back while it is in. */
	enter(c);
	close(fb);
	pt_fault(7);
	fb = faults_of(b, 0);
	pt_fault(20);
	pt_eq(pt_count(fc), 31);
	pt_eq(pt_count(fb), 20);
	pt_eq(pt_count(fa), 1141);
	remove_all();
}

static void deep(void)
{
	char name[3 * MAX_DIRS + 1] = "";
	int fd[12];
	unsigned int i;

	pt_pin(0);
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++) {
		make(name);
		fd[i] = faults_of(dirs[i], 0);
		strcat(name, "/n");
	}
	enter(dirs[11]);
	pt_fault(6);
	enter(dirs[5]);
	pt_fault(9);
	enter(dirs[11]);
	pt_fault(2);
	leave();
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		pt_eq(pt_count(fd[i]), i <= 5 ? 17 : 8);
	remove_all();
}

struct player {
	const char *dir;
	int in[2], out[2];
};

static void play(void *arg)
{
	struct player *p = arg;
	char c;

	pt_pin(0);
	pt_settle();
	enter(p->dir);
	do {
		pt_need(write(p->out[1], "x", 1) == 1, "write");
		pt_need(read(p->in[0], &c, 1) == 1, "read");
		pt_fault(3);
	} while (c == 'g');
	leave();
}

static void turn(struct player *p, char c)
{
	char ready;

	pt_need(read(p->out[0], &ready, 1) == 1, "read");
	pt_need(write(p->in[1], &c, 1) == 1, "write");
}

/* Each switch is one from one cgroup to another. */
static void switches(void)
{
	const char *a = make(""), *b = make("/b"), *c = make("/c");
	int fa = faults_of(a, 0), fb = faults_of(b, 0), fc = faults_of(c, 0);
	struct player p = { .dir = b };
	unsigned int i;
	pid_t pid;

	pt_pin(0);
	pt_need(!pipe(p.in) && !pipe(p.out), "pipe");
	pid = pt_fork(play, &p);
	pt_settle();
	enter(c);
	for (i = 0; i < 50; i++) {
		turn(&p, 'g');
		pt_fault(2);
	}
	turn(&p, 'e');
	leave();
	pt_reap(pid);
	pt_eq(pt_count(fb), 153);
	pt_eq(pt_count(fc), 100);
	pt_eq(pt_count(fa), 253);
	remove_all();
}

/* ---- times ---- */

static struct pt_read times_of(int fd)
{
	struct pt_read r;

	pt_read(fd, TIMES, 1, &r);
	return r;
}

static void times(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	const char *a = make(""), *b = make("/b");
	struct pt_read r[2], of_b[2], of_cpu[2];
	int fa, fb, cpu;

	pt_pin(0);
	attr.read_format = TIMES;
	fa = open_in(&attr, a, 0, -1);
	fb = open_in(&attr, b, 0, -1);
	cpu = pt_open(&attr, -1, 0, -1, 0);

	r[0] = times_of(fa);
	pt_burn(1000000);
	r[1] = times_of(fa);
	pt_eq(r[0].enabled, 0);
	pt_eq(r[1].enabled, 0);
	pt_eq(r[1].running, 0);

	enter(b);
	of_cpu[0] = times_of(cpu);
	r[0] = times_of(fa);
	of_b[0] = times_of(fb);
	pt_burn(1000000);
	of_b[1] = times_of(fb);
	r[1] = times_of(fa);
	of_cpu[1] = times_of(cpu);
	pt_check(r[1].enabled - r[0].enabled <= of_cpu[1].enabled - of_cpu[0].enabled,
		 "the cgroup ran longer than the CPU");
	pt_check(of_b[1].enabled - of_b[0].enabled <= r[1].enabled - r[0].enabled,
		 "the cgroup below ran longer");
	pt_check(of_b[1].enabled - of_b[0].enabled >= 1000000, "it stood still");
	pt_eq(r[1].running, r[1].enabled);

	leave();
	r[0] = times_of(fa);
	pt_check(r[0].enabled >= r[1].enabled, "time went back");
	pt_burn(1000000);
	r[1] = times_of(fa);
	pt_eq(r[1].enabled, r[0].enabled);
	pt_eq(r[1].running, r[0].running);

	/* Disabled it is not enabled, wherever the CPU is. */
	pt_disable(fa);
	enter(a);
	pt_burn(1000000);
	r[0] = times_of(fa);
	pt_eq(r[0].enabled, r[1].enabled);
	pt_enable(fa);
	pt_burn(1000000);
	r[1] = times_of(fa);
	pt_check(r[1].enabled >= r[0].enabled + 1000000, "it stood still");
	pt_eq(r[1].running, r[1].enabled);
	remove_all();
}

/* cpu-clock counts what time_running says. */
static void clocks(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	const char *a = make("");
	u64 before;
	int fd;

	pt_pin(0);
	fd = open_in(&attr, a, 0, -1);
	pt_burn(1000000);
	pt_eq(pt_count(fd), 0);
	enter(a);
	pt_burn(1000000);
	leave();
	before = pt_count(fd);
	pt_check(before >= 1000000, "%llu ns only", (unsigned long long)before);
	pt_burn(1000000);
	pt_eq(pt_count(fd), before);
	remove_all();
}

/* ---- hardware ---- */

static int cycles_of(const char *dir, bool pinned)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	int fd;

	attr.exclude_kernel = 1;
	attr.pinned = pinned;
	attr.read_format = TIMES;
	fd = try_open_in(&attr, dir, 0, -1);
	if (fd == -ENOENT || fd == -EOPNOTSUPP)
		pt_skip("no hardware counters");
	pt_need(fd >= 0, "cycles: %s", strerror(-fd));
	return fd;
}

static void cycles(void)
{
	const char *a = make(""), *b = make("/b");
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	struct pt_read r[2];
	int fa, fb, own;

	pt_pin(0);
	attr.exclude_kernel = 1;
	own = pt_open_hw(&attr, -1);
	fa = cycles_of(a, false);
	fb = cycles_of(b, true);
	pt_spin(1000000);
	pt_eq(times_of(fa).v[0].value, 0);
	pt_eq(times_of(fb).v[0].value, 0);

	enter(b);
	pt_spin(1000000);
	enter(a);
	r[0] = times_of(fb);
	pt_spin(1000000);
	r[1] = times_of(fb);
	pt_eq(r[1].v[0].value, r[0].v[0].value);
	pt_eq(r[1].enabled, r[0].enabled);
	leave();
	r[0] = times_of(fa);
	pt_check(r[0].v[0].value > r[1].v[0].value, "what is above has less");
	if (pt_time_is_exact()) {
		pt_check(r[1].v[0].value >= 2000000, "%llu cycles in 1000000 turns",
			 (unsigned long long)r[1].v[0].value);
		pt_check(r[0].v[0].value >= 4000000, "%llu cycles in 2000000 turns",
			 (unsigned long long)r[0].v[0].value);
		pt_check(pt_count(own) >= r[0].v[0].value + 2000000, "the task has less");
	}
	pt_spin(1000000);
	r[1] = times_of(fa);
	pt_eq(r[1].v[0].value, r[0].v[0].value);
	pt_eq(r[1].running, r[0].running);
	remove_all();
}

/* More than fit, of the cgroup and of the CPU: each gets its turn, in its own time. */
static void multiplexed(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	const char *a = make("");
	struct pt_read r, before[24];
	int fd[24], cpu[2];
	unsigned int i;

	pt_pin(0);
	attr.exclude_kernel = 1;
	attr.read_format = TIMES;
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		fd[i] = cycles_of(a, false);
	for (i = 0; i < PT_ARRAY_SIZE(cpu); i++)
		cpu[i] = pt_open(&attr, -1, 0, -1, 0);
	pt_burn(20000000);
	for (i = 0; i < PT_ARRAY_SIZE(cpu); i++) {
		r = times_of(cpu[i]);
		/* Nobody else is here. */
		pt_eq(r.running, r.enabled);
	}
	enter(a);
	for (i = 0; i < 100; i++) {
		pt_burn(10000000);
		r = times_of(fd[PT_ARRAY_SIZE(fd) - 1]);
		if (i >= 20 && r.running)
			break;
	}
	leave();
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++) {
		before[i] = times_of(fd[i]);
		pt_check(before[i].running > 0, "event %u never ran", i);
		pt_check(before[i].running < before[i].enabled, "event %u always ran", i);
	}
	pt_burn(20000000);
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++) {
		r = times_of(fd[i]);
		pt_eq(r.enabled, before[i].enabled);
		pt_eq(r.running, before[i].running);
		pt_eq(r.v[0].value, before[i].v[0].value);
	}
	remove_all();
}

/* A pinned event that does not fit is an error: read() says end of file. */
static void pinned_error(void)
{
	const char *a = make("");
	unsigned int i, bad = 0, bad_later = 0;
	u64 v[3];
	int fd[24];

	pt_pin(0);
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		fd[i] = cycles_of(a, true);
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		bad += !read(fd[i], v, sizeof(v));
	pt_eq(bad, 0);		/* nobody was in yet */
	enter(a);
	pt_spin(1000);
	leave();
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		bad += !read(fd[i], v, sizeof(v));
	pt_check(bad > 0 && bad < PT_ARRAY_SIZE(fd), "%u in error", bad);
	/* It lasts, and those that fit are not hurt when the cgroup comes in again. */
	enter(a);
	pt_spin(1000);
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		bad_later += !read(fd[i], v, sizeof(v));
	pt_eq(bad_later, bad);
	remove_all();
}

/* ---- groups ---- */

static void groups(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	const char *a = make(""), *b = make("/b");
	int leader, sibling, guest, alone;
	struct pt_read r;

	pt_pin(0);
	attr.read_format = PERF_FORMAT_GROUP;
	leader = open_in(&attr, a, 0, -1);
	sibling = open_in(&attr, a, 0, leader);
	pt_eq(try_open_in(&attr, b, 0, leader), -EINVAL);
	alone = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(try_open_in(&attr, a, 0, alone), -EINVAL);
	pt_fault(4);
	enter(b);
	pt_fault(5);
	pt_read(leader, attr.read_format, 2, &r);
	pt_eq(r.nr, 2);
	pt_eq(r.v[0].value, 5);
	pt_eq(r.v[1].value, 5);
	/* An event of the CPU may join; then it counts with its leader only. */
	leave();
	guest = pt_open(&attr, -1, 0, leader, 0);
	pt_fault(6);
	enter(a);
	pt_fault(7);
	pt_read(leader, attr.read_format, 3, &r);
	pt_eq(r.v[0].value, 12);
	pt_eq(r.v[1].value, 12);
	pt_eq(r.v[2].value, 7);
	/* Without its leader each is again what it was opened as. */
	close(leader);
	leave();
	pt_fault(8);
	pt_read(sibling, attr.read_format, 1, &r);
	pt_eq(r.v[0].value, 12);
	pt_read(guest, attr.read_format, 1, &r);
	pt_check(r.v[0].value >= 15, "%llu", (unsigned long long)r.v[0].value);
	enter(a);
	pt_fault(9);
	pt_read(sibling, attr.read_format, 1, &r);
	pt_eq(r.v[0].value, 21);
	remove_all();
}

/* An event of the CPU brings hardware into a group of software events of a cgroup. */
static void hardware_guest(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	int leader, guest;
	u64 count;

	pt_pin(0);
	attr.exclude_kernel = 1;
	leader = faults_of(make(""), 0);
	guest = pt_try_open(&attr, -1, 0, leader, 0);
	if (guest == -ENOENT || guest == -EOPNOTSUPP)
		pt_skip("no hardware counters");
	pt_need(guest >= 0, "cycles: %s", strerror(-guest));
	pt_spin(1000);
	pt_eq(pt_count(guest), 0);
	enter(dirs[0]);
	pt_fault(3);
	pt_spin(1000);
	leave();
	count = pt_count(guest);
	pt_eq(pt_count(leader), 3);
	pt_check(count > 0, "it does not count in the cgroup");
	pt_fault(3);
	pt_spin(1000);
	pt_eq(pt_count(leader), 3);
	pt_eq(pt_count(guest), count);
	/* Alone it is the CPU's, at once. Linux 6.12 leaves it off; it has no such file either. */
	close(leader);
	pt_spin(1000);
	pt_check(pt_count(guest) > count || !pt_path_exists("/sys/bus/event_source/last_error"),
		 "it does not count alone");
	remove_all();
}

/* ---- samples and records ---- */

static void samples(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	const char *a = make("");
	struct pt_ring ring;
	struct pt_record rec;
	struct pt_sample s;
	struct stat st;
	unsigned int n = 0;
	int fd;

	pt_pin(0);
	pt_need(!stat(a, &st), "stat");
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CGROUP;
	fd = open_in(&attr, a, 0, -1);
	pt_map(&ring, fd, 4);
	pt_settle();
	pt_fault(5);
	enter(a);
	pt_fault(6);
	leave();
	pt_fault(5);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.tid, pt_tid());
		pt_eq(s.cgroup, st.st_ino);
		n++;
	}
	pt_eq(n, 6);
	remove_all();
}

/* Records of what happens go to those whose cgroup is in. */
static void records(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	const char *a = make("");
	struct pt_ring ring;
	int fd;

	pt_pin(0);
	attr.comm = 1;
	fd = open_in(&attr, a, 0, -1);
	pt_map(&ring, fd, 4);
	prctl(PR_SET_NAME, "outside");
	pt_eq(pt_count_records(&ring, PERF_RECORD_COMM), 0);
	enter(a);
	prctl(PR_SET_NAME, "inside");
	leave();
	prctl(PR_SET_NAME, "outside");
	pt_eq(pt_count_records(&ring, PERF_RECORD_COMM), 1);
	remove_all();
}

static void tracepoints(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	const char *a = make("");
	unsigned int i;
	int fd;

	pt_pin(0);
	fd = open_in(&attr, a, 0, -1);
	syscall(SYS_getppid);
	enter(a);
	for (i = 0; i < 5; i++)
		syscall(SYS_getppid);
	leave();
	syscall(SYS_getppid);
	pt_eq(pt_count(fd), 5);
	remove_all();
}

/* ---- what is refused ---- */

static void refused_to_nobody(void *at)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.exclude_kernel = 1;
	pt_become_nobody();
	pt_eq(pt_try_open(&attr, *(int *)at, 0, -1, PERF_FLAG_PID_CGROUP), -EACCES);
}

static void refused(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	const char *a = make("");
	int null = open("/dev/null", O_RDONLY), at = dir_fd(a), root = dir_fd("/");

	pt_eq(pt_try_open(&attr, null, 0, -1, PERF_FLAG_PID_CGROUP), -EBADF);
	pt_eq(pt_try_open(&attr, root, 0, -1, PERF_FLAG_PID_CGROUP), -EBADF);
	pt_eq(pt_try_open(&attr, 1000, 0, -1, PERF_FLAG_PID_CGROUP), -EBADF);
	pt_eq(pt_try_open(&attr, -1, 0, -1, PERF_FLAG_PID_CGROUP), -EINVAL);
	pt_eq(pt_try_open(&attr, at, -1, -1, PERF_FLAG_PID_CGROUP), -EINVAL);
	pt_eq(pt_try_open(&attr, at, 100000, -1, PERF_FLAG_PID_CGROUP), -EINVAL);
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.sample_period = 1;
	pt_eq(pt_try_open(&attr, at, 0, -1, PERF_FLAG_PID_CGROUP), -EINVAL);
	attr = pt_attr(PT_SW(PAGE_FAULTS));
	rmdir(a);
	pt_eq(pt_try_open(&attr, at, 0, -1, PERF_FLAG_PID_CGROUP), -ENOENT);
	close(at);
	mkdir(a, 0755);
	at = dir_fd(a);
	pt_sysctl_set("perf_event_paranoid", 2);
	pt_reap(pt_fork(refused_to_nobody, &at));
	remove_all();
}

/* ---- cgroups that go, tasks that move ---- */

static void removed(void)
{
	const char *a = make("");
	int fd, again;

	pt_pin(0);
	fd = faults_of(a, 0);
	enter(a);
	pt_fault(5);
	leave();
	pt_need(!rmdir(a), "rmdir: %s", strerror(errno));
	pt_fault(5);
	pt_eq(pt_count(fd), 5);
	pt_need(!mkdir(a, 0755), "mkdir: %s", strerror(errno));
	again = faults_of(a, 0);
	enter(a);
	pt_fault(6);
	leave();
	pt_eq(pt_count(fd), 5);
	pt_eq(pt_count(again), 6);
	pt_disable(fd);
	pt_enable(fd);
	pt_reset(fd);
	pt_eq(pt_count(fd), 0);
	close(fd);
	pt_fault(6);
	pt_eq(pt_count(again), 6);
	remove_all();
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
	pt_need(!enter_path(dir, *pid), "cgroup.procs");
	return r;
}

static u64 faults_so_far(struct runner *r)
{
	return __atomic_load_n(&r->faults, __ATOMIC_ACQUIRE);
}

/* A task that runs is moved: each of its faults is counted once, here or there. */
static void class40_moved_while_running(void)
{
	const char *a = make(""), *b = make("/b"), *c = make("/c");
	int cpu = pt_online_cpus() - 1;
	int fb, fc, other;
	u64 first, before, after, count;
	struct runner *r;
	unsigned int i;
	pid_t pid;

	r = start_runner(a, &pid);
	fb = faults_of(b, cpu);
	fc = faults_of(c, cpu);
	first = faults_so_far(r);
	pt_need(!enter_path(b, pid), "cgroup.procs");
	before = faults_so_far(r);
	while (faults_so_far(r) == before)
		sched_yield();
	before = faults_so_far(r);
	for (i = 0; i < 60; i++) {
		pt_need(!enter_path(i & 1 ? b : c, pid), "cgroup.procs");
		/* Others come and go in the meantime. */
		other = faults_of(i & 2 ? a : b, cpu);
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
	remove_all();
}

/* Events go while their cgroup runs elsewhere, the cgroup goes next. */
static void class40_closed_while_running(void)
{
	const char *a = make(""), *b = make("/b");
	int cpu = pt_online_cpus() - 1;
	struct runner *r;
	unsigned int i;
	pid_t pid;
	int fd;

	r = start_runner(a, &pid);
	for (i = 0; i < 30; i++) {
		fd = faults_of(i & 1 ? a : b, cpu);
		pt_need(!enter_path(b, pid), "cgroup.procs");
		close(fd);
		pt_need(!enter_path(a, pid), "cgroup.procs");
		pt_need(!rmdir(b), "rmdir: %s", strerror(errno));
		pt_need(!mkdir(b, 0755), "mkdir: %s", strerror(errno));
	}
	__atomic_store_n(&r->stop, true, __ATOMIC_RELEASE);
	pt_reap(pid);
	remove_all();
}

/* Exited in the cgroup: the CPU leaves it, with or without somebody after it. */
static void exit_inside(void *arg)
{
	pt_pin(0);
	pt_settle();
	enter(arg);
	pt_fault(9);
}

static void exited(void)
{
	const char *a = make("");
	int fd, i;

	pt_pin(0);
	for (i = 0; i < 20; i++) {
		fd = faults_of(a, 0);
		pt_reap(pt_fork(exit_inside, (void *)a));
		pt_check(pt_count(fd) >= 9, "%llu faults", (unsigned long long)pt_count(fd));
		close(fd);
		pt_need(!rmdir(a), "rmdir: %s", strerror(errno));
		pt_need(!mkdir(a, 0755), "mkdir: %s", strerror(errno));
	}
	remove_all();
}

/* ---- the other kind of hierarchy ---- */

static void version_1(void)
{
	char dir[] = "/tmp/pt-cgroup-XXXXXX";
	const char *a, *b;
	int fa, fb;

	pt_need(mkdtemp(dir), "mkdtemp: %s", strerror(errno));
	if (mount("perf_event", dir, "cgroup", 0, "perf_event")) {
		int err = errno;

		rmdir(dir);
		pt_skip("no cgroup v1: %s", strerror(err));
	}
	mounted = dir;
	pt_pin(0);
	a = make("");
	b = make("/b");
	fa = faults_of(a, 0);
	fb = faults_of(b, 0);
	pt_fault(1);
	enter(b);
	pt_fault(5);
	enter(a);
	pt_fault(3);
	leave();
	pt_fault(1);
	pt_eq(pt_count(fb), 5);
	pt_eq(pt_count(fa), 8);
	close(fa);
	close(fb);
	remove_all();
	/* The controller goes back to the other hierarchy. */
	pt_eq(umount(dir), 0);
	pt_eq(rmdir(dir), 0);
}

static const struct pt_case cases[] = {
	{ "members_only", members_only },
	{ "hierarchy", hierarchy },
	{ "deep", deep },
	{ "switches", switches },
	{ "times", times },
	{ "clocks", clocks },
	{ "cycles", cycles },
	{ "multiplexed", multiplexed },
	{ "pinned_error", pinned_error },
	{ "groups", groups },
	{ "hardware_guest", hardware_guest },
	{ "samples", samples },
	{ "records", records },
	{ "tracepoints", tracepoints },
	{ "refused", refused },
	{ "removed", removed },
	{ "exited", exited },
	{ "class40_moved_while_running", class40_moved_while_running },
	{ "class40_closed_while_running", class40_closed_while_running },
	{ "version_1", version_1 },
};

PT_MAIN(cases)
