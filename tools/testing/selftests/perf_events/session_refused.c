// SPDX-License-Identifier: GPL-2.0
/*
 * session_refused.c - what sessions refuse, with which errno, and that nothing is left of it; who
 * may attach one to what. See session.c.
 *
 * needs: smp
 */
#include "lib/cgroup.h"
#include "lib/cpus.h"
#include "lib/session.h"
#include <linux/capability.h>
#include <sys/resource.h>

/* Refused, and last_error has a sentence about it. */
static void refused_at(int line, long ret, int err)
{
	char text[256], start[16];

	pt_check(ret == -err, "line %d: %ld, not %d (%s)", line, ret, -err, strerror(err));
	if (ret != -err)
		return;
	snprintf(start, sizeof(start), "-%d ", err);
	pt_need(pt_slurp("/sys/bus/event_source/last_error", text, sizeof(text)), "no last_error");
	pt_check(!strncmp(text, start, strlen(start)) && text[strlen(start)],
		 "line %d: last_error is \"%s\"", line, text);
}

#define refused(ret, err)	refused_at(__LINE__, ret, err)

static struct perf_event_attr user_faults(void)
{
	struct perf_event_attr attr = faults();

	attr.exclude_kernel = 1;
	return attr;
}

static int open_dummy(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	attr.exclude_kernel = 1;
	return pt_open(&attr, 0, -1, -1, 0);
}

/* INFO of an event that is a session, or none. */
static unsigned int most_members(int fd, bool session)
{
	const u64 both = PERF_EXT_SESSIONS | PERF_EXT_READ;
	struct perf_ext_info info = {};

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.features & both, both);
	pt_eq(info.here & both, session ? both : 0);
	pt_eq(info.most_sets, 64);
	pt_check(info.most_members >= 64, "%u members at most", info.most_members);
	return info.most_members;
}

static int nr_descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void create(void)
{
	struct perf_event_attr attr[2] = { user_faults(), user_faults() };
	const struct perf_ext_create good = {
		.attrs = pt_addr(attr), .nr = 2, .stride = sizeof(attr[0]),
	};
	struct perf_ext_create c;
	int dummy, before, fd;

	ext_need();
	dummy = open_dummy();
	before = nr_descriptors();
#define CREATE(change, err)							\
	do {									\
		c = good;							\
		change;								\
		refused(pt_ioctl(dummy, PERF_EXT_IOC_CREATE, pt_addr(&c)), err); \
	} while (0)
	CREATE(c.nr = 0, EINVAL);
	CREATE(c.nr = most_members(dummy, false) + 1, E2BIG);
	CREATE(c.nr = ~0u, E2BIG);
	CREATE(c.stride = 0, EINVAL);
	CREATE(c.stride = 32, EINVAL);
	CREATE(c.flags = 1u << 31, EINVAL);
	CREATE(c.set = 1, EINVAL);
	CREATE(c.pad = 1, EINVAL);
	c = good;
	c.attrs = 0;
	pt_eq(pt_ioctl(dummy, PERF_EXT_IOC_CREATE, pt_addr(&c)), -EFAULT);
	c = good;
	c.ids = 8;
	pt_eq(pt_ioctl(dummy, PERF_EXT_IOC_CREATE, pt_addr(&c)), -EFAULT);
	pt_eq(pt_ioctl(dummy, PERF_EXT_IOC_CREATE, 0), -EFAULT);
	pt_eq(nr_descriptors(), before);

	fd = (int)pt_ioctl(dummy, PERF_EXT_IOC_CREATE, pt_addr(&good));
	pt_need(fd >= 0, "CREATE: %s", strerror(-fd));
	pt_eq(fcntl(fd, F_GETFD), 0);
	most_members(fd, true);
	close(fd);
	c = good;
	c.flags = PERF_EXT_CREATE_CLOEXEC;
	fd = (int)pt_ioctl(dummy, PERF_EXT_IOC_CREATE, pt_addr(&c));
	pt_need(fd >= 0, "CREATE: %s", strerror(-fd));
	pt_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	/* Of a session, which is an event, too. */
	close((int)pt_ioctl(fd, PERF_EXT_IOC_CREATE, pt_addr(&good)));
	close(fd);
	pt_eq(nr_descriptors(), before);
}

/* Attrs of the first version, one right behind the other. */
static void shortest_attrs(void)
{
	struct perf_event_attr attr = user_faults();
	u8 packed[2][PERF_ATTR_SIZE_VER0];
	const struct perf_ext_create c = {
		.attrs = pt_addr(packed), .nr = 2, .stride = sizeof(packed[0]),
	};
	int fd, i;

	ext_need();
	attr.size = sizeof(packed[0]);
	for (i = 0; i < 2; i++)
		memcpy(packed[i], &attr, sizeof(packed[i]));
	fd = (int)pt_ioctl(open_dummy(), PERF_EXT_IOC_CREATE, pt_addr(&c));
	pt_need(fd >= 0, "CREATE: %s", strerror(-fd));
	pt_eq(session_targets(fd), 0);
	close(fd);
}

/* As the only event, and as the second of two. */
static void no_such_member(struct perf_event_attr attr, int err, int line)
{
	struct perf_event_attr two[2] = { user_faults(), attr };

	refused_at(line, session_try_make(&attr, 1, 0), err);
	refused_at(line, session_try_make(two, 2, 0), err);
}

static void members(void)
{
	struct perf_event_attr attr;
	static u64 word;
	int before;

	ext_need();
	load("filters=2");
	before = nr_descriptors();
#define MEMBER(change, err)				\
	do {						\
		attr = user_faults();			\
		change;					\
		no_such_member(attr, err, __LINE__);	\
	} while (0)
	MEMBER(attr.inherit = 1, EINVAL);
	MEMBER((attr.inherit = 1, attr.inherit_thread = 1), EINVAL);
	MEMBER((attr.inherit = 1, attr.inherit_stat = 1), EINVAL);
	MEMBER(attr.remove_on_exec = 1, EOPNOTSUPP);
	MEMBER(attr = pt_attr(PT_SW(BPF_OUTPUT)), EOPNOTSUPP);
	MEMBER(attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("sched", "sched_switch")),
	       EOPNOTSUPP);
	MEMBER((attr = pt_attr(PERF_TYPE_BREAKPOINT, 0), attr.bp_type = 2,
		attr.bp_addr = pt_addr(&word), attr.bp_len = 8), EOPNOTSUPP);
	MEMBER((attr.sigtrap = 1, attr.remove_on_exec = 1, attr.sample_period = 1), EOPNOTSUPP);
	MEMBER(attr = pt_attr(12345, 0), ENOENT);
	MEMBER(attr = pt_attr(PT_SW(MAX)), ENOENT);
	MEMBER((attr.sample_period = 1, attr.sample_type = PERF_SAMPLE_READ), EINVAL);
	MEMBER(attr.sample_type = 1ull << 62, EINVAL);
	pt_eq(pt_module_get(MODULE, "nr_events"), 0);
	pt_eq(nr_descriptors(), before);
}

/* What the leader of a group may be, and nobody else: each by itself. */
static void leaders_only(void)
{
	struct perf_event_attr attr[2] = { user_faults(), user_faults() };

	ext_need();
	attr[1].exclusive = 1;
	refused(session_try_make(attr, 2, 0), EINVAL);
	attr[1].exclusive = 0;
	attr[1].pinned = 1;
	refused(session_try_make(attr, 2, 0), EINVAL);
	close(session_make(&attr[1], 1, 0));
}

static void attach(void)
{
	struct perf_ext_target t;
	int tasks, cpus, dummy;
	struct worker w;

	ext_need();
	worker_start(&w, -1);
	tasks = session_of_tasks(user_faults());
	cpus = session_of_cpus(user_faults());
	dummy = open_dummy();
#define ATTACH(fd, kind, number, flags, err)	\
	refused(session_attach(fd, kind, number, flags), err)
#define DETACH(fd, kind, number, err)		refused(session_detach(fd, kind, number), err)
	ATTACH(dummy, PERF_EXT_TARGET_TID, w.pid, 0, EINVAL);
	DETACH(dummy, PERF_EXT_TARGET_TID, w.pid, EINVAL);
	ATTACH(tasks, 5, 0, 0, EINVAL);
	ATTACH(tasks, ~0u, 0, 0, EINVAL);
	ATTACH(tasks, PERF_EXT_TARGET_TID, w.pid, 1u << 31, EINVAL);
	/* The other kind of targets. */
	ATTACH(tasks, PERF_EXT_TARGET_CPU, 0, 0, EINVAL);
	ATTACH(tasks, PERF_EXT_TARGET_ALL, 0, 0, EINVAL);
	ATTACH(tasks, PERF_EXT_TARGET_CGROUP, 0, 0, EINVAL);
	ATTACH(cpus, PERF_EXT_TARGET_TID, w.pid, 0, EINVAL);
	ATTACH(cpus, PERF_EXT_TARGET_PIDFD, w.orders, 0, EINVAL);
	/* Flags of others. */
	ATTACH(tasks, PERF_EXT_TARGET_TID, w.pid, PERF_EXT_TARGET_RETURN, EINVAL);
	ATTACH(cpus, PERF_EXT_TARGET_CPU, 0, PERF_EXT_TARGET_INHERIT, EINVAL);
	ATTACH(cpus, PERF_EXT_TARGET_CPU, 0, PERF_EXT_TARGET_RETURN, EINVAL);
	ATTACH(cpus, PERF_EXT_TARGET_ALL, 0, PERF_EXT_TARGET_RESUME, EINVAL);
	ATTACH(cpus, PERF_EXT_TARGET_ALL, 0, PERF_EXT_TARGET_INHERIT, EINVAL);
	ATTACH(cpus, PERF_EXT_TARGET_ALL, 1, 0, EINVAL);
	DETACH(cpus, PERF_EXT_TARGET_ALL, 1, EINVAL);
	DETACH(cpus, PERF_EXT_TARGET_CGROUP_ID, 0, EINVAL);
	DETACH(cpus, PERF_EXT_TARGET_CGROUP_ID, -1, EINVAL);
	/* Numbers that nobody has. */
	ATTACH(tasks, PERF_EXT_TARGET_TID, 0x3fffffff, 0, ESRCH);
	ATTACH(tasks, PERF_EXT_TARGET_TID, -1, 0, ESRCH);
	ATTACH(tasks, PERF_EXT_TARGET_TID, 1ll << 32 | w.pid, 0, ESRCH);
	ATTACH(tasks, PERF_EXT_TARGET_PIDFD, 999, 0, EBADF);
	ATTACH(tasks, PERF_EXT_TARGET_PIDFD, w.orders, 0, EBADF);
	ATTACH(cpus, PERF_EXT_TARGET_CPU, -1, 0, EINVAL);
	ATTACH(cpus, PERF_EXT_TARGET_CPU, 100000, 0, EINVAL);
	ATTACH(cpus, PERF_EXT_TARGET_CPU, 1ll << 32, 0, EINVAL);
	/* Who is no target. */
	DETACH(tasks, PERF_EXT_TARGET_TID, w.pid, ENOENT);
	DETACH(cpus, PERF_EXT_TARGET_CPU, 0, ENOENT);
	pt_eq(session_attach_task(tasks, w.pid, 0), 0);
	ATTACH(tasks, PERF_EXT_TARGET_TID, w.pid, 0, EEXIST);
	ATTACH(tasks, PERF_EXT_TARGET_TID, w.pid, PERF_EXT_TARGET_INHERIT, EEXIST);
	t = (struct perf_ext_target){ .number = w.pid, .flags = PERF_EXT_TARGET_RESUME };
	refused(pt_ioctl(tasks, PERF_EXT_IOC_DETACH, pt_addr(&t)), EINVAL);
	pt_eq(pt_ioctl(tasks, PERF_EXT_IOC_ATTACH, 0), -EFAULT);
	pt_eq(session_targets(tasks), 1);
	worker_end(&w);
}

static void no_cgroup(void)
{
	int cpus, dummy;

	ext_need();
	cg_make("");		/* skips without the controller, which would be EINVAL */
	cpus = session_of_cpus(user_faults());
	dummy = open_dummy();
	ATTACH(cpus, PERF_EXT_TARGET_CGROUP, 999, 0, EBADF);
	ATTACH(cpus, PERF_EXT_TARGET_CGROUP, dummy, 0, EBADF);
	cg_remove_all();
}

static void offline_cpu(void)
{
	int fd;

	ext_need();
	need_cpus(2);
	fd = session_of_cpus(user_faults());
	pt_eq(set_online(1, 0), 0);
	ATTACH(fd, PERF_EXT_TARGET_CPU, 1, 0, ENODEV);
	pt_eq(set_online(1, 1), 0);
	pt_eq(session_attach_cpu(fd, 1), 0);
}

static void read_values(void)
{
	struct perf_event_attr attr[2] = { user_faults(), user_faults() };
	const u64 entry = sizeof(struct perf_ext_values) + 2 * sizeof(u64);
	struct perf_ext_read r;
	int fd, dummy;
	u64 buf[64];

	ext_need();
	dummy = open_dummy();
	fd = session_make(attr, 2, 0);
	pt_eq(session_attach_task(fd, 0, 0), 0);
#define READ(change, err)							\
	do {									\
		r = (struct perf_ext_read){ .buf = pt_addr(buf), .size = sizeof(buf) }; \
		change;								\
		refused(pt_ioctl(fd, PERF_EXT_IOC_READ, pt_addr(&r)), err);	\
	} while (0)
	READ(r.flags = PERF_EXT_READ_TARGETS | PERF_EXT_READ_CGROUPS, EINVAL);
	READ(r.flags = 1u << 31, EINVAL);
	READ(r.set = 1, EINVAL);
	READ(r.pad[2] = 1, EINVAL);
	/* No room: it tells how much is needed, and writes nothing. */
	memset(buf, 0x5a, sizeof(buf));
	READ(r.size = 0, ENOSPC);
	pt_eq(r.size, entry);
	READ((r.size = 2 * entry - 1, r.flags = PERF_EXT_READ_TARGETS), ENOSPC);
	pt_eq(r.size, 2 * entry);
	pt_eq(buf[0], 0x5a5a5a5a5a5a5a5a);
	r = (struct perf_ext_read){
		.buf = pt_addr(buf), .size = 2 * entry, .flags = PERF_EXT_READ_TARGETS,
	};
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_READ, pt_addr(&r)), 0);
	pt_eq(r.nr, 2);
	pt_eq(r.size, 2 * entry);
	pt_eq(buf[2 * entry / 8], 0x5a5a5a5a5a5a5a5a);
	r = (struct perf_ext_read){ .buf = 8, .size = 4096 };
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_READ, pt_addr(&r)), -EFAULT);
	r.buf = pt_addr(buf);
	refused(pt_ioctl(dummy, PERF_EXT_IOC_READ, pt_addr(&r)), EINVAL);
}

/* What else is asked of a session's descriptor, and cannot be. */
static void other_calls(void)
{
	struct perf_event_attr attr = user_faults();
	struct perf_ext_set s = { .ring = -1 };
	int fd;

	ext_need();
	attr.sample_period = 10;
	fd = session_of_tasks(attr);
	refused(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), EINVAL);
	refused(pt_ioctl(fd, PERF_EXT_IOC_SET_JOIN, pt_addr(&s)), EINVAL);
	/* It leads nobody but its own. */
	refused(pt_try_open(&attr, 0, -1, fd, 0), EINVAL);
	refused(pt_try_open(&attr, -1, 0, fd, 0), EINVAL);
	refused(pt_try_open(&attr, 1, -1, fd, 0), EINVAL);
	fd = session_of_cpus(attr);
	refused(pt_try_open(&attr, 0, -1, fd, 0), EINVAL);
	refused(pt_try_open(&attr, -1, 0, fd, 0), EINVAL);
}

/* ---- who may ---- */

static int of_others, cpus_of_others;		/* sessions that root has made */
static pid_t somebody;

static void by_nobody(void)
{
	struct perf_event_attr attr = faults();
	pid_t pid;
	int tasks;

	refused(session_try_make(&attr, 1, 0), EACCES);
	attr = user_faults();
	refused(session_try_make(&attr, 1, PERF_EXT_CREATE_CPUS), EACCES);
	tasks = session_of_tasks(user_faults());
	pt_eq(session_attach_task(tasks, 0, 0), 0);
	pt_in_child(pid)
		pause();
	pt_eq(session_attach_task(tasks, pid, 0), 0);
	ATTACH(tasks, PERF_EXT_TARGET_TID, 1, 0, EACCES);
	ext_says(session_attach_task(tasks, somebody, 0), "-13 target: no right to trace it");
	/* That others have made it gives no rights. */
	ext_says(session_attach_cpu(cpus_of_others, 0),
		 "-13 perf_event_paranoid: no right to events of CPUs");
	ATTACH(cpus_of_others, PERF_EXT_TARGET_ALL, 0, 0, EACCES);
	ATTACH(of_others, PERF_EXT_TARGET_TID, pid, 0, EACCES);
	ATTACH(of_others, PERF_EXT_TARGET_TID, somebody, 0, EACCES);
	pt_eq(session_targets(of_others), 0);
	pt_eq(session_targets(tasks), 2);
	pt_eq(session_targets(cpus_of_others), 0);
	pt_kill(pid);
}

static void may_watch_cpus(void *arg)
{
	int fd = session_of_cpus(faults());

	(void)arg;
	pt_eq(session_attach_cpu(fd, 0), 0);
}

static void ordinary_users(void)
{
	ext_need();
	pt_sysctl_set("perf_event_paranoid", 2);
	of_others = session_of_tasks(faults());		/* of the kernel, too */
	cpus_of_others = session_of_cpus(user_faults());
	pt_in_child(somebody)
		pause();
	pt_as_nobody(by_nobody);
	pt_with_capability(CAP_PERFMON, may_watch_cpus, NULL);
	pt_kill(somebody);
}

/* Nobody may have anything. */
static void paranoid_by_nobody(void)
{
	struct perf_event_attr attr = user_faults();

	refused(session_ask(of_others, &attr, 1, 0), EACCES);
	ATTACH(of_others, PERF_EXT_TARGET_TID, 0, 0, EACCES);
	pt_eq(session_targets(of_others), 0);
}

static void paranoid_3(void)
{
	ext_need();
	of_others = session_of_tasks(user_faults());
	pt_sysctl_set("perf_event_paranoid", 3);
	pt_as_nobody(paranoid_by_nobody);
}

#define LIMIT	42	/* which three events each can meet to the last one */

/* Three events each: there are as many targets as there may be descriptors for their events. */
static void attach_many(int most)
{
	struct perf_event_attr attr[3] = { user_faults(), user_faults(), user_faults() };
	int fd = session_make(attr, 3, 0), i, before = nr_descriptors();
	pid_t pid[LIMIT];

	for (i = 0; i <= most; i++) {
		pt_in_child(pid[i])
			pause();
		if (i < most || most == LIMIT - 1)
			pt_eq(session_attach_task(fd, pid[i], 0), 0);
		else
			ATTACH(fd, PERF_EXT_TARGET_TID, pid[i], 0, EMFILE);
	}
	pt_eq(nr_descriptors(), before);
	if (most < LIMIT - 1) {
		pt_eq(session_detach_task(fd, pid[0]), 0);
		pt_eq(session_attach_task(fd, pid[most], 0), 0);
		ATTACH(fd, PERF_EXT_TARGET_TID, pid[0], 0, EMFILE);
		/* What is a target already needs none, and cannot be had twice. */
		ATTACH(fd, PERF_EXT_TARGET_TID, pid[most], 0, EEXIST);
	}
	for (i = 0; i <= most; i++)
		pt_kill(pid[i]);
	close(fd);
}

static void limited(void)
{
	struct perf_event_attr attr[LIMIT];
	int fd, i;

	attach_many(LIMIT / 3 - 1);		/* and the session itself */
	for (i = 0; i < LIMIT; i++)
		attr[i] = user_faults();
	fd = session_make(attr, 1, 0);
	refused(session_try_add(fd, 1, attr, LIMIT), EMFILE);
	/* What was refused counts no more. */
	pt_eq(session_try_add(fd, 1, attr, 1), 0);
	close(fd);
}

static void unlimited(void *arg)
{
	(void)arg;
	attach_many(LIMIT - 1);
}

/* Sessions that have no target count, too: three events each. */
static void make_many(void)
{
	struct perf_event_attr attr[4];
	int i;

	for (i = 0; i < 4; i++)
		attr[i] = user_faults();
	for (i = 0; i < LIMIT / 3 - 1; i++)
		session_make(attr, 3, 0);
	refused(session_try_make(attr, 4, 0), EMFILE);
	session_make(attr, 3, 0);
	refused(session_try_make(attr, 1, 0), EMFILE);
}

/* What one session has no more another one may have. */
static void taken_off(void)
{
	struct perf_event_attr attr[3] = { user_faults(), user_faults(), user_faults() };
	int fd = session_make(attr, 3, 0), other = session_make(attr, 3, 0), i;
	pid_t pid[LIMIT / 3 - 2];

	for (i = 0; i < LIMIT / 3 - 2; i++) {
		pt_in_child(pid[i])
			pause();
		pt_eq(session_attach_task(fd, pid[i], 0), 0);
	}
	ATTACH(other, PERF_EXT_TARGET_TID, pid[0], 0, EMFILE);
	/* What was refused counts no more, either. */
	pt_eq(session_detach_task(fd, pid[0]), 0);
	pt_eq(session_attach_task(fd, pid[0], 0), 0);
	pt_eq(session_detach_task(fd, pid[0]), 0);
	pt_eq(session_attach_task(other, pid[0], 0), 0);
	for (i = 0; i < LIMIT / 3 - 2; i++)
		pt_kill(pid[i]);
}

/* One user has all that he may have: that is nothing to another one. */
static void two_users(void)
{
	struct perf_event_attr attr[LIMIT];
	pid_t one, other;
	int made[2], i;

	for (i = 0; i < LIMIT; i++)
		attr[i] = user_faults();
	pt_gate_make(made);
	pt_in_child(one) {
		pt_become_nobody();
		session_make(attr, LIMIT, 0);
		refused(session_try_make(attr, 1, 0), EMFILE);
		pt_gate_open(made);
		pause();
	}
	pt_gate_wait(made);
	pt_in_child(other) {
		pt_need(!syscall(SYS_setresuid, 1234, 1234, 1234), "setresuid");
		session_make(attr, LIMIT, 0);
	}
	pt_reap(other);
	pt_kill(one);
}

static void as_many_as_descriptors(void)
{
	struct rlimit limit = { LIMIT, LIMIT };

	ext_need();
	pt_sysctl_set("perf_event_paranoid", 2);
	pt_need(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit: %s", strerror(errno));
	pt_as_nobody(make_many);
	pt_as_nobody(limited);
	pt_as_nobody(taken_off);
	two_users();
	pt_with_capability(CAP_PERFMON, unlimited, NULL);
}

/* ---- all or nothing ---- */

/* The last of three events cannot be had for the target. */
static void one_member_fails(void)
{
	struct perf_event_attr attr[3];
	struct worker a, b;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&a, 0);
	worker_start(&b, 0);
	attr[0] = hits();
	attr[1] = faults();
	attr[2] = hits();
	fd = session_make(attr, 3, 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(pt_module_get(MODULE, "nr_events"), 4);
	pt_eq(pt_module_set(MODULE, "fail_init", ENOSPC), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), -ENOSPC);
	pt_eq(session_targets(fd), 1);
	pt_eq(pt_module_get(MODULE, "nr_events"), 4);
	pt_eq(pt_module_set(MODULE, "fail_init", 0), 0);
	worker_do(&a, hit, 3);
	worker_do(&b, hit, 5);
	pt_eq(session_count_of_task(fd, a.pid), 3);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&b, hit, 5);
	pt_eq(session_count_of_task(fd, b.pid), 5);
	pt_eq(pt_module_get(MODULE, "nr_events"), 6);
	worker_end(&a);
	worker_end(&b);
	pt_eq(pt_module_get(MODULE, "nr_events"), 2);
	close(fd);
	none_left();
}

/* Events of such PMUs move from CPU to CPU, and would miss what is said to the session. */
static void pmus_of_packages(void)
{
	struct perf_event_attr attr;

	ext_need();
	load("scope=5 task=0");
	attr = hits();
	pt_eq(session_try_make(&attr, 1, PERF_EXT_CREATE_CPUS), -EOPNOTSUPP);
	pt_eq(session_try_make(&attr, 1, 0), -EINVAL);
	none_left();
	pt_eq(pt_unload_module(MODULE), 0);
	/* So may those of any PMU that has no events of tasks. */
	load("task=0");
	attr = hits();
	pt_eq(session_try_make(&attr, 1, PERF_EXT_CREATE_CPUS), -EOPNOTSUPP);
	none_left();
}

/* One descriptor, whatever it is attached to. */
static void one_descriptor(void)
{
	struct perf_event_attr attr[3] = { user_faults(), user_faults(), user_faults() };
	struct worker w[6];
	int fd, before, i;

	ext_need();
	for (i = 0; i < 6; i++)
		worker_start(&w[i], -1);
	before = nr_descriptors();
	fd = session_make(attr, 3, 0);
	for (i = 0; i < 6; i++)
		pt_eq(session_attach_task(fd, w[i].pid, 0), 0);
	pt_eq(nr_descriptors(), before + 1);
	pt_eq(session_targets(fd), 6);
	for (i = 0; i < 6; i++)
		worker_end(&w[i]);
}

/* 0 is a descriptor like others. */
static void descriptor_0(void)
{
	struct perf_event_attr attr = user_faults();
	int dummy;

	ext_need();
	dummy = fcntl(open_dummy(), F_DUPFD, 3);
	pt_need(dummy >= 3, "F_DUPFD: %s", strerror(errno));
	close(0);
	pt_eq(session_ask(dummy, &attr, 1, 0), 0);
	pt_eq(session_targets(0), 0);
	pt_eq(close(0), 0);
}

static const struct pt_case cases[] = {
	{ "create", create },
	{ "shortest_attrs", shortest_attrs },
	{ "members", members },
	{ "leaders_only", leaders_only },
	{ "attach", attach },
	{ "no_cgroup", no_cgroup },
	{ "offline_cpu", offline_cpu },
	{ "read_values", read_values },
	{ "other_calls", other_calls },
	{ "ordinary_users", ordinary_users },
	{ "paranoid_3", paranoid_3 },
	{ "as_many_as_descriptors", as_many_as_descriptors },
	{ "one_member_fails", one_member_fails },
	{ "pmus_of_packages", pmus_of_packages },
	{ "one_descriptor", one_descriptor },
	{ "descriptor_0", descriptor_0 },
};

PT_MAIN(cases)
