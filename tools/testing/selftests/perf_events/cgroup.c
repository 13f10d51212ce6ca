// SPDX-License-Identifier: GPL-2.0
/*
 * cgroup.c - events that follow a cgroup: they count on their CPU while it
 * runs a task of the cgroup or of one below it, and nothing else; their time
 * goes on only then.
 *
 * needs: hw
 */
#include "lib/cgroup.h"
#include <sys/prctl.h>
#include <sys/stat.h>

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* ---- counting ---- */

static void members_only(void)
{
	const char *a = cg_make("");
	int fd;

	pt_pin(0);
	fd = cg_faults(a, 0);
	pt_fault(10);
	pt_eq(pt_count(fd), 0);
	cg_enter(a);
	pt_fault(10);
	pt_eq(pt_count(fd), 10);
	cg_leave();
	pt_fault(10);
	pt_eq(pt_count(fd), 10);
	/* Opened while its tasks run. */
	cg_enter(a);
	close(fd);
	fd = cg_faults(a, 0);
	pt_fault(3);
	pt_eq(pt_count(fd), 3);
	pt_disable(fd);
	pt_fault(3);
	pt_enable(fd);
	pt_fault(4);
	pt_eq(pt_count(fd), 7);
	cg_remove_all();
}

static void hierarchy(void)
{
	const char *a = cg_make(""), *b = cg_make("/b"), *c = cg_make("/b/c"), *d = cg_make("/d");
	int fa, fb, fc, fd;

	pt_pin(0);
	fc = cg_faults(c, 0);
	fa = cg_faults(a, 0);
	fd = cg_faults(d, 0);
	fb = cg_faults(b, 0);
	cg_enter(c);
	pt_fault(1);
	cg_enter(b);
	pt_fault(10);
	cg_enter(a);
	pt_fault(100);
	cg_enter(d);
	pt_fault(1000);
	cg_enter(c);
	pt_fault(3);
	cg_leave();
	pt_fault(5);
	pt_eq(pt_count(fc), 4);
	pt_eq(pt_count(fb), 14);
	pt_eq(pt_count(fa), 1114);
	pt_eq(pt_count(fd), 1000);
	/* The middle of a path goes, and comes back while it is in. */
	cg_enter(c);
	close(fb);
	pt_fault(7);
	fb = cg_faults(b, 0);
	pt_fault(20);
	pt_eq(pt_count(fc), 31);
	pt_eq(pt_count(fb), 20);
	pt_eq(pt_count(fa), 1141);
	cg_remove_all();
}

static void deep(void)
{
	char name[3 * 12 + 1] = "";
	const char *dir[12];
	int fd[12];
	unsigned int i;

	pt_pin(0);
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++) {
		dir[i] = cg_make(name);
		fd[i] = cg_faults(dir[i], 0);
		strcat(name, "/n");
	}
	cg_enter(dir[11]);
	pt_fault(6);
	cg_enter(dir[5]);
	pt_fault(9);
	cg_enter(dir[11]);
	pt_fault(2);
	cg_leave();
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		pt_eq(pt_count(fd[i]), i <= 5 ? 17 : 8);
	cg_remove_all();
}

/* Two of one cgroup: when one of them is closed inside, the other one counts on. */
static void one_of_two_is_closed(void)
{
	const char *a = cg_make("");
	int stays, goes;

	pt_pin(0);
	stays = cg_faults(a, 0);
	goes = cg_faults(a, 0);
	cg_enter(a);
	pt_fault(2);
	close(goes);
	pt_fault(3);
	cg_leave();
	pt_fault(4);
	pt_eq(pt_count(stays), 5);
	cg_remove_all();
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
	cg_enter(p->dir);
	do {
		pt_need(write(p->out[1], "x", 1) == 1, "write");
		pt_need(read(p->in[0], &c, 1) == 1, "read");
		pt_fault(3);
	} while (c == 'g');
	cg_leave();
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
	const char *a = cg_make(""), *b = cg_make("/b"), *c = cg_make("/c");
	int fa = cg_faults(a, 0), fb = cg_faults(b, 0), fc = cg_faults(c, 0);
	struct player p = { .dir = b };
	unsigned int i;
	pid_t pid;

	pt_pin(0);
	pt_need(!pipe(p.in) && !pipe(p.out), "pipe");
	pid = pt_fork(play, &p);
	pt_settle();
	cg_enter(c);
	for (i = 0; i < 50; i++) {
		turn(&p, 'g');
		pt_fault(2);
	}
	turn(&p, 'e');
	cg_leave();
	pt_reap(pid);
	pt_eq(pt_count(fb), 153);
	pt_eq(pt_count(fc), 100);
	pt_eq(pt_count(fa), 253);
	cg_remove_all();
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
	const char *a = cg_make(""), *b = cg_make("/b");
	struct pt_read r[2], of_b[2], of_cpu[2];
	int fa, fb, cpu;

	/* In a switch the task's time begins, the cgroup's a little later: let there be none. */
	pt_first_on_cpu(0);
	attr.read_format = TIMES;
	fa = cg_open(&attr, a, 0, -1);
	fb = cg_open(&attr, b, 0, -1);
	cpu = pt_open(&attr, -1, 0, -1, 0);

	r[0] = times_of(fa);
	pt_burn(1000000);
	r[1] = times_of(fa);
	pt_eq(r[0].enabled, 0);
	pt_eq(r[1].enabled, 0);
	pt_eq(r[1].running, 0);

	cg_enter(b);
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

	cg_leave();
	r[0] = times_of(fa);
	pt_check(r[0].enabled >= r[1].enabled, "time went back");
	pt_burn(1000000);
	r[1] = times_of(fa);
	pt_eq(r[1].enabled, r[0].enabled);
	pt_eq(r[1].running, r[0].running);

	/* Disabled it is not enabled, wherever the CPU is. */
	pt_disable(fa);
	cg_enter(a);
	pt_burn(1000000);
	r[0] = times_of(fa);
	pt_eq(r[0].enabled, r[1].enabled);
	pt_enable(fa);
	pt_burn(1000000);
	r[1] = times_of(fa);
	pt_check(r[1].enabled >= r[0].enabled + 1000000, "it stood still");
	pt_eq(r[1].running, r[1].enabled);
	cg_remove_all();
}

/* Whoever has mapped the page finds there what read() says, inside and outside. */
static void control_page(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	const char *a = cg_make(""), *b = cg_make("/b");
	struct perf_event_mmap_page *page;
	struct pt_read r;
	struct pt_ring ring;
	int fd, i;

	pt_pin(0);
	attr.read_format = TIMES;
	fd = cg_open(&attr, a, 0, -1);
	pt_map(&ring, fd, 1);
	page = ring.page;
	for (i = 0; i < 3; i++) {
		cg_enter(b);
		pt_fault(5);
		cg_leave();
		r = times_of(fd);
		pt_eq(r.v[0].value, 5 * (i + 1));
		if (pt_is_stock())
			pt_skip("Linux 6.12 does not keep the page of such an event up to date");
		pt_eq(page->index, 0);
		pt_eq(page->offset, r.v[0].value);
		pt_eq(page->time_enabled, r.enabled);
		pt_eq(page->time_running, r.running);
	}
	cg_remove_all();
}

/* cpu-clock counts what time_running says. */
static void clocks(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	const char *a = cg_make("");
	u64 before;
	int fd;

	pt_first_on_cpu(0);
	fd = cg_open(&attr, a, 0, -1);
	pt_burn(1000000);
	pt_eq(pt_count(fd), 0);
	cg_enter(a);
	pt_burn(1000000);
	cg_leave();
	before = pt_count(fd);
	pt_check(before >= 1000000, "%llu ns only", (unsigned long long)before);
	pt_burn(1000000);
	pt_eq(pt_count(fd), before);
	cg_remove_all();
}

/* ---- groups ---- */

static void groups(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	const char *a = cg_make(""), *b = cg_make("/b");
	int leader, sibling, guest, alone;
	struct pt_read r;

	pt_pin(0);
	attr.read_format = PERF_FORMAT_GROUP;
	leader = cg_open(&attr, a, 0, -1);
	sibling = cg_open(&attr, a, 0, leader);
	pt_eq(cg_try_open(&attr, b, 0, leader), -EINVAL);
	alone = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(cg_try_open(&attr, a, 0, alone), -EINVAL);
	pt_fault(4);
	cg_enter(b);
	pt_fault(5);
	pt_read(leader, attr.read_format, 2, &r);
	pt_eq(r.nr, 2);
	pt_eq(r.v[0].value, 5);
	pt_eq(r.v[1].value, 5);
	/* An event of the CPU may join; then it counts with its leader only. */
	cg_leave();
	guest = pt_open(&attr, -1, 0, leader, 0);
	pt_fault(6);
	cg_enter(a);
	pt_fault(7);
	pt_read(leader, attr.read_format, 3, &r);
	pt_eq(r.v[0].value, 12);
	pt_eq(r.v[1].value, 12);
	pt_eq(r.v[2].value, 7);
	/* Without its leader each is again what it was opened as. */
	close(leader);
	cg_leave();
	pt_fault(8);
	pt_read(sibling, attr.read_format, 1, &r);
	pt_eq(r.v[0].value, 12);
	pt_read(guest, attr.read_format, 1, &r);
	pt_check(r.v[0].value >= 15, "%llu", (unsigned long long)r.v[0].value);
	cg_enter(a);
	pt_fault(9);
	pt_read(sibling, attr.read_format, 1, &r);
	pt_eq(r.v[0].value, 21);
	cg_remove_all();
}

/* ---- samples and records ---- */

static void samples(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	const char *a = cg_make("");
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
	fd = cg_open(&attr, a, 0, -1);
	pt_map(&ring, fd, 4);
	pt_settle();
	pt_fault(5);
	cg_enter(a);
	pt_fault(6);
	cg_leave();
	pt_fault(5);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.tid, pt_tid());
		pt_eq(s.cgroup, st.st_ino);
		n++;
	}
	pt_eq(n, 6);
	cg_remove_all();
}

/* Records of what happens go to those whose cgroup is in. */
static void records(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	const char *a = cg_make("");
	struct pt_ring ring;
	int fd;

	pt_pin(0);
	attr.comm = 1;
	fd = cg_open(&attr, a, 0, -1);
	pt_map(&ring, fd, 4);
	prctl(PR_SET_NAME, "outside");
	pt_eq(pt_count_records(&ring, PERF_RECORD_COMM), 0);
	cg_enter(a);
	prctl(PR_SET_NAME, "inside");
	cg_leave();
	prctl(PR_SET_NAME, "outside");
	pt_eq(pt_count_records(&ring, PERF_RECORD_COMM), 1);
	cg_remove_all();
}

static void tracepoints(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	const char *a = cg_make("");
	unsigned int i;
	int fd;

	pt_pin(0);
	fd = cg_open(&attr, a, 0, -1);
	syscall(SYS_getppid);
	cg_enter(a);
	for (i = 0; i < 5; i++)
		syscall(SYS_getppid);
	cg_leave();
	syscall(SYS_getppid);
	pt_eq(pt_count(fd), 5);
	cg_remove_all();
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
	const char *a = cg_make("");
	int null = open("/dev/null", O_RDONLY), at = cg_dir_fd(a), root = cg_dir_fd("/");

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
	at = cg_dir_fd(a);
	pt_sysctl_set("perf_event_paranoid", 2);
	pt_reap(pt_fork(refused_to_nobody, &at));
	cg_remove_all();
}

/* Two that sample the same hits have a sample of each. */
static void samples_of_two(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	const char *a = cg_make("");
	struct pt_ring ring[2];
	int i;

	pt_pin(0);
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	for (i = 0; i < 2; i++)
		pt_map(&ring[i], cg_open(&attr, a, 0, -1), 4);
	pt_settle();
	cg_enter(a);
	pt_fault(6);
	cg_leave();
	for (i = 0; i < 2; i++)
		pt_eq(pt_count_records(&ring[i], PERF_RECORD_SAMPLE), 6);
	cg_remove_all();
}

#define TURNS	20

/* The task before it has had an event, and has none any more: the CPU gets to its cgroup. */
static void after_one_without_events(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	const char *a = cg_make("");
	int go[2], done[2], fd, i;
	pid_t pid;

	pt_pin(0);
	pt_gate_make(go);
	pt_gate_make(done);
	pt_in_child(pid) {
		cg_enter(a);
		pt_gate_open(done);
		for (i = 0; i < TURNS; i++) {
			pt_gate_wait(go);
			pt_fault(10);
			pt_gate_open(done);
		}
	}
	pt_gate_wait(done);
	close(pt_open(&attr, 0, -1, -1, 0));
	fd = cg_faults(a, 0);
	for (i = 0; i < TURNS; i++) {
		pt_gate_open(go);
		pt_gate_wait(done);
	}
	pt_check(pt_count(fd) >= 10 * TURNS, "%llu faults", (unsigned long long)pt_count(fd));
	pt_reap(pid);
	cg_remove_all();
}

/* Who opens an event for a zombie keeps neither it nor, with it, its cgroup. */
static void of_a_zombie(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	const char *a = cg_make("");
	siginfo_t info;
	pid_t pid;

	pt_in_child(pid)
		cg_enter(a);
	pt_need(!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), "waitid: %s",
		strerror(errno));
	pt_eq(pt_try_open(&attr, pid, -1, -1, 0), -ESRCH);
	pt_reap(pid);
	cg_remove_all();
	cg_wait_until_gone();
}

static const struct pt_case cases[] = {
	{ "members_only", members_only },
	{ "hierarchy", hierarchy },
	{ "deep", deep },
	{ "one_of_two_is_closed", one_of_two_is_closed },
	{ "switches", switches },
	{ "times", times },
	{ "control_page", control_page },
	{ "clocks", clocks },
	{ "groups", groups },
	{ "samples", samples },
	{ "samples_of_two", samples_of_two },
	{ "after_one_without_events", after_one_without_events },
	{ "records", records },
	{ "tracepoints", tracepoints },
	{ "refused", refused },
	{ "of_a_zombie", of_a_zombie },
};

PT_MAIN(cases)
