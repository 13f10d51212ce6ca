// SPDX-License-Identifier: GPL-2.0
/*
 * notify.c - every n-th overflow is told of, and the group stops there until RESTART: counts to the
 * last event, poll() and SIGIO, groups, copies, threads that are held. The counters of CPUs:
 * counter_formats.c; more about threads that are held: notify_hold.c.
 */
#include <poll.h>
#include <signal.h>

#include "lib/cgroup.h"
#include "lib/hold.h"

#define PERIOD	10

static struct pt_ring ring;

static struct perf_event_attr faults(u64 period)
{
	return held_attr(period);
}

static int start(struct perf_event_attr *attr)
{
	int fd;

	ext_need();
	fd = pt_open(attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	pt_settle();
	return fd;
}

/* Off after the n-th overflow, whose sample is there; RESTART begins the next period. */
static void stop(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	int fd = start(&attr);

	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	pt_enable(fd);
	pt_fault(100);
	pt_eq(pt_count(fd), 10);
	pt_check(told(fd), "POLLIN missing");
	pt_check(!told(fd), "POLLIN twice");
	pt_fault(100);
	pt_eq(pt_count(fd), 10);
	pt_eq(restart(fd), 0);
	pt_fault(100);
	pt_eq(pt_count(fd), 20);
	pt_eq(notify(fd, 3, PERF_EXT_NOTIFY_STOP), 0);
	pt_eq(restart(fd), 0);
	pt_fault(100);
	pt_eq(pt_count(fd), 50);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 5);
	pt_eq(notify(fd, 0, 0), 0);
	pt_eq(restart(fd), 0);
	pt_fault(100);
	pt_eq(pt_count(fd), 150);
}

/* RESTART begins a period, ENABLE goes on with the one that DISABLE has cut off. */
static void restart_and_enable(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	int fd = start(&attr);

	/* Nothing has been asked for yet: it goes on, that is all. */
	pt_eq(restart(fd), 0);
	pt_fault(7);
	pt_eq(pt_count(fd), 7);
	pt_disable(fd);
	pt_reset(fd);
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	pt_eq(restart(fd), 0);		/* enables it */
	pt_fault(7);
	pt_disable(fd);
	pt_enable(fd);
	pt_fault(100);
	pt_eq(pt_count(fd), 10);
	pt_eq(restart(fd), 0);
	pt_fault(7);
	pt_disable(fd);
	pt_eq(restart(fd), 0);
	pt_fault(100);
	pt_eq(pt_count(fd), 27);
}

/* Told at each third overflow, with what a watermark leaves to be wished for. */
static void tell(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	int fd = start(&attr), i;

	pt_eq(notify(fd, 3, 0), 0);
	pt_enable(fd);
	for (i = 0; i < 3; i++) {
		pt_fault(29);
		pt_check(!told(fd), "POLLIN too early");
		pt_fault(1);
		pt_check(told(fd), "POLLIN missing");
	}
	pt_eq(pt_count(fd), 90);
	pt_eq(notify(fd, 0, 0), 0);
	pt_fault(100);
	pt_check(!told(fd), "POLLIN without notification");
}

/* A counter goes on with its next period when its reader is told. */
static void tell_of_a_counter(void)
{
	struct perf_event_attr attr;
	int fd;

	ext_need();
	pt_pin(0);
	pt_load_module("test_count", NULL);
	attr = pt_attr((u32)pt_pmu_type("test_count"), 0);
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_TID;
	attr.disabled = 1;
	fd = start(&attr);
	pt_eq(notify(fd, 2, 0), 0);
	pt_enable(fd);
	/* In one step, without a switch that would start it again. */
	pt_eq(pt_module_set("test_count", "hit", 5 * PERIOD), 0);
	pt_check(told(fd), "POLLIN missing");
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 5);
	pt_disable(fd);
}

static volatile unsigned int signals;

static void on_sigio(int sig)
{
	(void)sig;
	signals++;
}

/* A signal for each second overflow, and not for the others. */
static void signal_owner(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	int fd = start(&attr);

	signal(SIGIO, on_sigio);
	pt_need(!fcntl(fd, F_SETOWN, getpid()), "F_SETOWN: %s", strerror(errno));
	pt_need(!fcntl(fd, F_SETFL, O_ASYNC), "F_SETFL: %s", strerror(errno));
	pt_eq(notify(fd, 2, 0), 0);
	pt_enable(fd);
	pt_fault(19);
	pt_eq(signals, 0);
	pt_fault(1);
	pt_eq(signals, 1);
	pt_fault(80);
	pt_eq(signals, 5);
	pt_eq(atoi(pt_fdinfo(fd, "wakeups")), 5);	/* nor anything else for the others */
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	pt_fault(100);
	pt_eq(signals, 6);
	pt_disable(fd);
}

/* Any member stops all of them, and all go on with it. */
static void group(void)
{
	struct perf_event_attr attr = faults(0), sampler = faults(PERIOD), other = faults(0);
	int fd[3];

	ext_need();
	attr.watermark = 0;
	other.watermark = 0;
	sampler.disabled = 0;
	other.disabled = 0;
	fd[0] = pt_open(&attr, 0, -1, -1, 0);
	fd[1] = pt_open(&sampler, 0, -1, fd[0], 0);
	fd[2] = pt_open(&other, 0, -1, fd[0], 0);
	pt_map(&ring, fd[1], 16);
	pt_settle();
	pt_eq(notify(fd[1], 1, PERF_EXT_NOTIFY_STOP), 0);
	pt_enable(fd[0]);
	pt_fault(100);
	pt_eq(pt_count(fd[0]), 10);
	pt_eq(pt_count(fd[1]), 10);
	pt_eq(pt_count(fd[2]), 10);
	pt_eq(restart(fd[1]), 0);
	pt_fault(100);
	pt_eq(pt_count(fd[0]), 20);
	pt_eq(pt_count(fd[1]), 20);
	pt_eq(pt_count(fd[2]), 20);
	pt_eq(notify(fd[0], 1, PERF_EXT_NOTIFY_STOP), -EINVAL);	/* samples nothing */
}

/* With periods that follow a rule each RESTART is the next of them. */
static void with_periods(void)
{
	struct perf_ext_periods p = { .short_period = 10, .mask = 15, .seed = 1 };
	struct perf_event_attr attr = faults(1000);
	struct ext_model m;
	int fd = start(&attr), i;

	pt_eq(ext_periods(fd, &p), 0);
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	ext_model_start(&m, &p);
	for (i = 0; i < 20; i++) {
		pt_eq(restart(fd), 0);
		pt_fault(100);
		ext_model_next(&m);
		pt_eq(pt_count(fd), m.sum);
	}
}

/* REFRESH and NOTIFY: what is reached first. */
static void refresh(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	int fd = start(&attr);

	pt_eq(notify(fd, 3, PERF_EXT_NOTIFY_STOP), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 2), 0);
	pt_fault(100);
	pt_eq(pt_count(fd), 20);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 5), 0);
	pt_fault(100);
	pt_eq(pt_count(fd), 30);	/* the third */
	pt_eq(restart(fd), 0);
	pt_fault(100);
	pt_eq(pt_count(fd), 60);
}

static int to_child[2], from_child[2];

static void fault_twice(void *arg)
{
	(void)arg;
	pt_fault(100);
	pt_gate_open(from_child);
	pt_gate_wait(to_child);
	pt_fault(100);
}

static void fault_when_told(void *arg)
{
	(void)arg;
	pt_gate_wait(to_child);
	pt_fault(100);
}

/* Each copy stops by itself; RESTART is for all, and for those that come. */
static void copies(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	pid_t pid[2];
	u64 before;
	int fd, i;

	ext_need();
	pt_gate_make(to_child);
	pt_gate_make(from_child);
	attr.inherit = 1;
	pt_pin(0);
	fd = pt_open(&attr, 0, 0, -1, 0);	/* of one CPU, to be mapped */
	pt_map(&ring, fd, 16);
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	pt_enable(fd);
	for (i = 0; i < 2; i++) {
		/* A copy of what has stopped has stopped. */
		pt_settle();
		pt_eq(restart(fd), 0);
		pid[i] = pt_fork(fault_twice, NULL);
		pt_gate_wait(from_child);
	}
	pt_fault(100);
	before = pt_count(fd);
	pt_eq(restart(fd), 0);
	for (i = 0; i < 2; i++)
		pt_gate_open(to_child);
	pt_reap(pid[0]);
	pt_reap(pid[1]);
	pt_fault(100);
	pt_eq(pt_count(fd) - before, 30);
}

/* RESTART of a member is for its leader's copies, too, where others have a copy and it has none. */
static void copies_of_the_leader(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int lead, fd;
	u64 before;
	pid_t pid;

	ext_need();
	pt_gate_make(to_child);
	attr.inherit = 1;
	lead = pt_open(&attr, 0, -1, -1, 0);
	pt_open(&attr, 0, -1, lead, 0);
	pid = pt_fork(fault_when_told, NULL);
	attr = faults(PERIOD);
	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, lead, 0);
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	pt_disable(lead);
	pt_eq(restart(fd), 0);
	before = pt_count(lead);
	pt_gate_open(to_child);
	pt_reap(pid);
	pt_check(pt_count(lead) - before >= 100, "%llu faults of the child",
		 (unsigned long long)(pt_count(lead) - before));
	/* The event itself goes on, too. */
	pt_fault(2 * PERIOD);
	before = pt_count(fd);
	pt_fault(2 * PERIOD);
	pt_eq(pt_count(fd), before);
	pt_settle();
	pt_eq(restart(fd), 0);
	before = pt_count(fd);
	pt_fault(2 * PERIOD);
	pt_eq(pt_count(fd) - before, PERIOD);
}

static void refused(void)
{
	struct perf_event_attr attr = faults(PERIOD), counts = pt_attr(PT_SW(PAGE_FAULTS));
	struct perf_ext_notify n = { .every = 1, .pad = 1 };
	struct perf_ext_restart r = { .flags = 1 };
	struct perf_ext_info info = {};
	int fd = start(&attr), fe = pt_open(&counts, 0, -1, -1, 0);

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.features & info.here & PERF_EXT_NOTIFY, PERF_EXT_NOTIFY);
	pt_eq(pt_ioctl(fe, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.here & PERF_EXT_NOTIFY, 0);
	pt_eq(notify(fe, 1, 0), -EINVAL);
	pt_eq(restart(fe), -EINVAL);
	pt_eq(notify(fd, 1, 1u << 31), -EINVAL);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n)), -EINVAL);
	n = (struct perf_ext_notify){ .every = 1, .set = 1 };
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n)), -EINVAL);
	n = (struct perf_ext_notify){ .every = 1, .member = 1 };
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n)), -EINVAL);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&r)), -EINVAL);
	r = (struct perf_ext_restart){ .tid = pt_tid() };
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&r)), -ESRCH);
}

static void fdinfo(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	char path[64], text[2048];
	int fd = start(&attr);

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s", path);
	pt_check(!strstr(text, "notify:"), "notification without one");
	pt_eq(notify(fd, 5, PERF_EXT_NOTIFY_STOP), 0);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s", path);
	pt_check(strstr(text, "\nnotify:\t5 stop"), "%s", text);
}

/* The thread stands where the overflow was, until RESTART. */
static void hold(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	struct held h;
	int k;

	held_start(&h, &attr);
	for (k = 1; k <= 9; k++) {
		wait_told(h.fd);
		pt_eq(pt_count(h.fd), 10 * k);
		/* The store of its tenth fault has not been done yet. */
		pt_eq(h.shared->done, 10 * k - 1);
		pt_eq(restart_thread(h.fd, pt_tid()), -ESRCH);
		pt_eq(restart_thread(h.fd, k & 1 ? h.pid : 0), 0);
	}
	pt_reap(h.pid);
	pt_eq(pt_count(h.fd), HELD_FAULTS);
	pt_eq(h.shared->done, HELD_FAULTS);
	pt_eq(notify(h.fd, 1, HOLD), -ESRCH);
}

/* Closing the event lets the thread go, and so do a notification that does not hold, or none. */
static void let_go(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	struct held h;

	held_start(&h, &attr);
	wait_told(h.fd);
	held_close(&h);
	pt_reap(h.pid);
	pt_eq(h.shared->done, HELD_FAULTS);
	held_start(&h, &attr);
	wait_told(h.fd);
	pt_eq(notify(h.fd, 0, 0), 0);
	pt_reap(h.pid);
	pt_eq(h.shared->done, HELD_FAULTS);
	pt_eq(pt_count(h.fd), 10);
	held_start(&h, &attr);
	wait_told(h.fd);
	pt_eq(notify(h.fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	pt_reap(h.pid);
	pt_eq(h.shared->done, HELD_FAULTS);
}

static void kill_held(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	struct held h;

	held_start(&h, &attr);
	wait_told(h.fd);
	kill(h.pid, SIGSTOP);		/* waits with it */
	pt_eq(h.shared->done, 9);
	kill(h.pid, SIGKILL);
	pt_reap_killed(h.pid, SIGKILL);
	pt_eq(h.shared->done, 9);
	pt_eq(pt_count(h.fd), 10);
}

static int unread[2];		/* a pipe whose writer is the child */

static void close_when_told(void *arg)
{
	(void)arg;
	close(unread[0]);
	pt_gate_open(from_child);
	pt_gate_wait(to_child);
	close(unread[1]);
}

/* What a thread closes is closed, even by the system call in which it is told to wait. */
static void closes_before_it_waits(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("syscalls", "sys_exit_close"));
	struct pollfd p = { .events = POLLIN };
	pid_t pid;
	char c;
	int fd;

	ext_need();
	attr.sample_period = 1;
	attr.disabled = 1;
	pt_gate_make(to_child);
	pt_gate_make(from_child);
	pt_need(!pipe(unread), "pipe: %s", strerror(errno));
	pid = pt_fork(close_when_told, NULL);
	close(unread[1]);
	pt_gate_wait(from_child);
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&ring, fd, 16);
	pt_eq(notify(fd, 1, HOLD), 0);
	pt_enable(fd);
	pt_gate_open(to_child);
	wait_told(fd);
	p.fd = unread[0];
	pt_eq(poll(&p, 1, 10000), 1);
	pt_eq(read(unread[0], &c, 1), 0);
	pt_eq(restart(fd), 0);
	pt_reap(pid);
}

/* A line of cgroup.events, which poll() tells of. */
static void wait_frozen(const char *dir)
{
	char path[256], text[256];
	struct pollfd p = { .events = POLLPRI };

	snprintf(path, sizeof(path), "%s/cgroup.events", dir);
	p.fd = open(path, O_RDONLY);
	pt_need(p.fd >= 0, "%s: %s", path, strerror(errno));
	do {
		ssize_t n = pread(p.fd, text, sizeof(text) - 1, 0);

		pt_need(n > 0, "%s: %s", path, strerror(errno));
		text[n] = 0;
	} while (!strstr(text, "frozen 1") && poll(&p, 1, 10000) == 1);
	pt_check(strstr(text, "frozen 1"), "not frozen");
	close(p.fd);
}

static void freeze(const char *dir, int on)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/cgroup.freeze", dir);
	pt_eq(pt_write_file(path, on ? "1" : "0"), 0);
}

/* For the freezer of cgroups a thread that waits is frozen, and stays so when it is let go. */
static void freeze_held(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	const char *dir = cg_make("");
	struct held h;

	held_start(&h, &attr);
	pt_eq(cg_enter_path(dir, h.pid), 0);
	wait_told(h.fd);
	freeze(dir, 1);
	wait_frozen(dir);
	pt_eq(notify(h.fd, 0, 0), 0);
	wait_frozen(dir);
	pt_switch_out();
	pt_eq(h.shared->done, 9);
	freeze(dir, 0);
	pt_reap(h.pid);
	pt_eq(h.shared->done, HELD_FAULTS);
	cg_remove_all();
}

static void hold_refused(void)
{
	struct perf_event_attr attr = faults(PERIOD), family = attr, traps = attr;
	struct perf_ext_info info = {};
	pid_t pid, other;
	int fd, fe;

	ext_need();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_BLOCK), -EINVAL);
	pt_eq(notify(fd, 1, HOLD), -EDEADLK);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.features & PERF_EXT_BLOCK, PERF_EXT_BLOCK);
	pt_eq(info.here & PERF_EXT_BLOCK, 0);
	fe = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(notify(fe, 1, HOLD), -EINVAL);
	fe = pt_open(&attr, 2, -1, -1, 0);	/* kthreadd */
	pt_eq(notify(fe, 1, HOLD), -EOPNOTSUPP);
	pt_gate_make(to_child);
	pid = pt_fork(fault_when_told, NULL);
	fe = pt_open(&attr, pid, -1, -1, 0);
	pt_eq(pt_ioctl(fe, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.here & PERF_EXT_BLOCK, PERF_EXT_BLOCK);
	pt_eq(notify(fe, 1, HOLD), 0);
	pt_in_child(other) {
		pt_become_nobody();
		pt_eq(notify(fe, 1, HOLD), -EACCES);
		pt_eq(notify(fe, 1, PERF_EXT_NOTIFY_STOP), 0);
	}
	pt_reap(other);
	family.inherit = 1;
	fe = pt_open(&family, pid, -1, -1, 0);
	pt_eq(notify(fe, 1, HOLD), -EINVAL);
	traps.sigtrap = 1;
	traps.remove_on_exec = 1;
	fe = pt_open(&traps, pid, -1, -1, 0);
	pt_eq(notify(fe, 1, HOLD), -EINVAL);
	pt_eq(notify(fe, 1, PERF_EXT_NOTIFY_STOP), 0);
	pt_gate_open(to_child);
	pt_reap(pid);
}

/* RESTART on another CPU, as soon as the reader hears of the overflow: none is overtaken. */
static void restart_from_another_cpu(void)
{
	struct perf_event_attr attr = faults(PERIOD);
	pid_t pid;
	int fd, i;

	ext_need();
	if (pt_online_cpus() < 2)
		pt_skip("needs two CPUs");
	pt_gate_make(to_child);
	pt_pin(0);
	pt_in_child(pid) {
		pt_pin(1);
		pt_settle();
		pt_gate_wait(to_child);
		for (;;)
			pt_fault(100);
	}
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&ring, fd, 16);
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	pt_enable(fd);
	pt_gate_open(to_child);
	for (i = 1; i <= 1000; i++) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		pt_eq(poll(&p, 1, -1), 1);
		pt_eq(p.revents, POLLIN);
		pt_eq(restart(fd), 0);
	}
	pt_kill(pid);
}

static const struct pt_case cases[] = {
	{ "stop", stop },
	{ "restart_and_enable", restart_and_enable },
	{ "tell", tell },
	{ "tell_of_a_counter", tell_of_a_counter },
	{ "signal_owner", signal_owner },
	{ "group", group },
	{ "with_periods", with_periods },
	{ "refresh", refresh },
	{ "copies", copies },
	{ "copies_of_the_leader", copies_of_the_leader },
	{ "hold", hold },
	{ "let_go", let_go },
	{ "kill_held", kill_held },
	{ "closes_before_it_waits", closes_before_it_waits },
	{ "freeze_held", freeze_held },
	{ "hold_refused", hold_refused },
	{ "restart_from_another_cpu", restart_from_another_cpu },
	{ "refused", refused },
	{ "fdinfo", fdinfo },
};

PT_MAIN(cases)
