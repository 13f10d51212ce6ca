// SPDX-License-Identifier: GPL-2.0
/*
 * exit.c - what is left of an event when its task is gone: the count, the
 * records, POLLHUP, and harmless ioctls. And tasks that exit while events
 * are opened, closed and sampling.
 *
 * needs: smp
 */
#include "lib/test_count.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>

static struct perf_event_attr calls(void)
{
	return pt_attr(PERF_TYPE_TRACEPOINT,
		       pt_tracepoint_id("syscalls", "sys_enter_getppid"));
}

static void call(unsigned int n)
{
	while (n--)
		syscall(SYS_getppid);
}

/* A child that waits for a byte, makes n calls and exits. */
static pid_t waiting_child(int go[2], unsigned int n)
{
	pid_t pid;

	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		call(n);
	}
	return pid;
}

static void let_go(int go[2])
{
	pt_gate_open(go);
}

static int poll_now(int fd, int timeout)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	pt_need(poll(&p, 1, timeout) >= 0, "poll: %s", strerror(errno));
	return p.revents;
}

static void count_is_retained(void)
{
	struct perf_event_attr attr = calls();
	u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
	struct pt_read a, b;
	int go[2], fd;
	pid_t pid;

	attr.read_format = f;
	pid = waiting_child(go, 12);
	fd = pt_open(&attr, pid, -1, -1, 0);
	let_go(go);
	pt_reap(pid);
	pt_read(fd, f, 1, &a);
	pt_eq(a.v[0].value, 12);
	pt_eq(a.v[0].id, pt_id(fd));
	pt_check(a.enabled > 0 && a.enabled == a.running, "enabled %llu, running %llu",
		 (unsigned long long)a.enabled, (unsigned long long)a.running);
	/* Time stands still for the dead. */
	pt_burn(2000000);
	pt_read(fd, f, 1, &b);
	pt_eq(b.v[0].value, 12);
	pt_eq(b.enabled, a.enabled);
	pt_eq(b.running, a.running);
}

static void ioctls_on_the_dead(void)
{
	struct perf_event_attr attr = calls();
	int go[2], fd;
	pid_t pid;

	pid = waiting_child(go, 3);
	fd = pt_open(&attr, pid, -1, -1, 0);
	let_go(go);
	pt_reap(pid);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	pt_eq(pt_count(fd), 3);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
	pt_eq(pt_count(fd), 0);
	/* No output to a buffer of the dead, but it may be mapped. */
	pt_check(pt_id(fd), "no id");
}

static void hangup(void)
{
	struct pt_peer observer = { .pid = getpid() };
	struct perf_event_attr attr = calls();
	struct pt_ring r;
	int go[2], fd;
	pid_t pid;

	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_peer_asleep(&observer);
	}
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&r, fd, 1);
	pt_eq(poll_now(fd, 0), 0);
	let_go(go);
	/* Asleep in poll() when it happens. Not for a time: poll() looks once more at its end. */
	pt_check(poll_now(fd, -1) & POLLHUP, "no hangup");
	pt_reap(pid);
	pt_check(poll_now(fd, 0) & POLLHUP, "the hangup went away");
}

static void hangup_only_after_the_last_child(void)
{
	struct pt_peer observer = { .pid = getpid() };
	struct perf_event_attr attr = calls();
	int go[2], stop[2], fd;
	struct pt_ring r;
	pid_t pid;
	char c;

	pt_gate_make(go);
	pt_need(!pipe(stop), "pipe: %s", strerror(errno));
	attr.inherit = 1;
	pt_in_child(pid) {
		pt_gate_wait(go);
		if (!fork()) {
			close(stop[1]);
			/* Until the observer closes its end, and sleeps. */
			if (read(stop[0], &c, 1) < 0)
				_exit(1);
			pt_peer_asleep(&observer);
			call(5);
			_exit(0);
		}
	}
	close(stop[0]);
	/* Bound to a CPU, or it could not be mapped. */
	pt_pin(0);
	{
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(0, &set);
		pt_need(!sched_setaffinity(pid, sizeof(set), &set), "affinity");
	}
	fd = pt_open(&attr, pid, 0, -1, 0);
	pt_map(&r, fd, 1);
	let_go(go);
	pt_reap(pid);
	/* The one it was opened on is gone, its child is not. */
	pt_eq(poll_now(fd, 0), 0);
	close(stop[1]);
	/* Not for a time: poll() looks once more at its end. */
	pt_check(poll_now(fd, -1) & POLLHUP, "no hangup");
	pt_eq(pt_count(fd), 5);
}

static void records_outlive_the_task(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	unsigned int samples = 0, exits = 0;
	static struct pt_record rec;
	struct pt_ring r;
	int go[2], fd;
	pid_t pid;

	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_fault(50);
	}
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	attr.task = 1;
	attr.disabled = 1;
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&r, fd, 16);
	pt_enable(fd);
	let_go(go);
	pt_reap(pid);
	while (pt_next(&r, &rec)) {
		samples += rec.h.type == PERF_RECORD_SAMPLE;
		exits += rec.h.type == PERF_RECORD_EXIT;
		pt_check(!exits || rec.h.type == PERF_RECORD_EXIT, "a sample after the EXIT");
	}
	pt_check(samples >= 50, "%u samples", samples);
	pt_eq(samples, pt_count(fd));
	pt_eq(exits, 1);
}

static void *thread_body(void *arg)
{
	int *fd = arg;
	struct perf_event_attr attr = calls();

	*fd = pt_open(&attr, 0, -1, -1, 0);
	call(9);
	return NULL;
}

static void of_a_thread(void)
{
	struct pt_ring r;
	pthread_t t;
	int fd = -1;

	calls();
	pt_need(!pthread_create(&t, NULL, thread_body, &fd), "thread");
	pthread_join(t, NULL);
	pt_eq(pt_count(fd), 9);
	/* Others of the process are not the event's business. */
	call(4);
	pt_eq(pt_count(fd), 9);
	pt_map(&r, fd, 1);
	pt_check(poll_now(fd, 10000) & POLLHUP, "no hangup");
}

static void of_a_cpu_never(void)
{
	struct perf_event_attr attr = calls();
	struct pt_ring r;
	int go[2], fd;
	pid_t pid;

	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&r, fd, 1);
	pid = waiting_child(go, 1);
	let_go(go);
	pt_reap(pid);
	pt_eq(poll_now(fd, 0), 0);
}

/* The opener exits, somebody else keeps the fd. */
static void opener_exits(void)
{
	struct perf_event_attr attr = calls();
	int go[2], fd;
	pid_t target, opener;

	pt_pin(0);	/* what RCU does on one CPU it does in order */
	target = waiting_child(go, 6);
	fd = -1;
	/* vfork-like sharing of the fd table lets the fd survive its opener. */
	opener = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	pt_need(opener >= 0, "clone: %s", strerror(errno));
	if (!opener) {
		fd = pt_open(&attr, target, -1, -1, 0);
		if (dup2(fd, 100) != 100)
			_exit(1);
		close(fd);
		_exit(0);
	}
	pt_reap(opener);
	pt_eq(pt_count(100), 0);
	let_go(go);
	pt_reap(target);
	pt_eq(pt_count(100), 6);
	/* Closing the last event of a tracepoint waits for RCU: after that the opener is gone. */
	attr.config = pt_tracepoint_id("syscalls", "sys_enter_getpgid");
	attr.type = PERF_TYPE_TRACEPOINT;
	close(pt_open(&attr, 0, -1, -1, 0));
	close(100);
}

static void exit_races_open(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	unsigned int late = 0, i;

	attr.inherit = 1;
	for (i = 0; i < 30; i++) {
		int fd, spin;
		pid_t pid;

		pt_in_child(pid)
			_exit(0);
		for (spin = 0; spin < 10; spin++) {
			fd = pt_try_open(&attr, pid, -1, -1, 0);
			if (fd < 0) {
				pt_eq(fd, -ESRCH);
				late++;
				break;
			}
			pt_eq(pt_count(fd), 0);
			close(fd);
			sched_yield();
		}
		pt_reap(pid);
	}
	pt_msg("%u of %u opens came too late", late, i);
}

#define OTHERS	500

/* No sample comes after the EXIT, though it takes a while until the last of many events leaves. */
static void nothing_after_the_exit(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK)), dummy = pt_attr(PT_SW(DUMMY));
	unsigned int samples = 0, exits = 0, i;
	static struct pt_record rec;
	struct pt_ring r;
	int go[2], fd;
	pid_t pid;

	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_burn(50000000);	/* a timer may be late */
	}
	/* They leave in the order of their opening. */
	for (i = 0; i < OTHERS; i++)
		pt_open(&dummy, pid, -1, -1, 0);
	attr.sample_period = 50000;
	attr.sample_type = PERF_SAMPLE_TID;
	attr.task = 1;
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&r, fd, 256);
	let_go(go);
	pt_reap(pid);
	while (pt_next(&r, &rec)) {
		samples += rec.h.type == PERF_RECORD_SAMPLE;
		exits += rec.h.type == PERF_RECORD_EXIT;
		pt_check(!exits || rec.h.type != PERF_RECORD_SAMPLE, "a sample after the EXIT");
	}
	pt_check(samples > 0, "no sample");
	pt_eq(exits, 1);
}

/* A clock samples everything it can while tasks exit under it */
static void sampling_while_exiting(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	unsigned int i;
	struct pt_ring r;
	int fd;

	attr.sample_period = 50000;
	attr.inherit = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
			   PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_READ |
			   PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_user = 1;
	attr.sample_regs_intr = 1;
	attr.sample_stack_user = 1024;
	attr.task = 1;
	attr.comm = 1;
	attr.mmap = 1;
	pt_pin(0);
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&r, fd, 64);
	for (i = 0; i < 10 * pt_turns(4); i++) {
		pid_t pid;

		pt_in_child(pid)
			pt_spin(20000);
		pt_reap(pid);
		if (i % 10 == 9) {
			static struct pt_record rec;
			struct pt_sample s;

			while (pt_next(&r, &rec)) {
				if (rec.h.type == PERF_RECORD_SAMPLE)
					pt_parse_sample(&attr, &rec, &s);
			}
			pt_consume(&r);
		}
	}
}

static void *closer(void *arg)
{
	close(*(int *)arg);
	return NULL;
}

static void close_races_exit(void)
{
	struct perf_event_attr attr = calls();
	int i;

	attr.inherit = 1;
	for (i = 0; i < 20; i++) {
		int go[2], fd, sib;
		pthread_t t;
		pid_t pid;

		pid = waiting_child(go, 1);
		fd = pt_open(&attr, pid, -1, -1, 0);
		sib = pt_open(&attr, pid, -1, fd, 0);
		let_go(go);
		pt_need(!pthread_create(&t, NULL, closer, i & 1 ? &fd : &sib), "thread");
		pt_reap(pid);
		pthread_join(t, NULL);
		/* The sibling of a leader just closed may sit out until its next switch-in. */
		if (i & 1)
			pt_check(pt_count(sib) <= 1, "%llu calls",
				 (unsigned long long)pt_count(sib));
		else
			pt_eq(pt_count(fd), 1);
		close(i & 1 ? sib : fd);
		close(go[0]);
		close(go[1]);
	}
}

/* ---- PERF_RECORD_READ ---- */

/* What an exit is to call the CPU of the buffer for, and how many records it is to write. */
static void exits_tell(int calls, struct pt_ring *ring, u64 called, unsigned int records)
{
	u64 before = pt_count(calls);
	pid_t pid;

	pt_in_child(pid)
		_exit(0);
	pt_reap(pid);
	pt_eq(pt_count(calls) - before, called);
	if (ring)
		pt_eq(pt_count_records(ring, PERF_RECORD_READ), records);
}

/* One buffer for all of them, but none yet. */
static void open_telling(int *fd, int from, int to, int cpu, bool redirected)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	attr.inherit = 1;
	attr.inherit_stat = 1;
	for (; from < to; from++) {
		fd[from] = pt_open(&attr, 0, cpu, -1, 0);
		if (redirected)
			pt_eq(pt_ioctl(fd[from], PERF_EVENT_IOC_SET_OUTPUT, fd[0]), 0);
	}
}

/*
 * The buffer of a CPU is written there, so who tells its counts interrupts that CPU: once for
 * 256 of them, and not at all when there is no buffer.
 */
static void reads_interrupt_once(void)
{
	static int fd[257];
	struct pt_ring ring;
	int calls, i;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
	if (pt_is_stock())
		pt_skip("Linux 6.12 writes READ records from any CPU");
	pt_pin(0);
	calls = pt_open_cross_calls("pe_record_write_reads", 0);
	open_telling(fd, 0, 256, 1, false);
	exits_tell(calls, NULL, 0, 0);
	pt_map(&ring, fd[0], 16);
	exits_tell(calls, &ring, 1, 1);
	for (i = 1; i < 256; i++)
		pt_eq(pt_ioctl(fd[i], PERF_EVENT_IOC_SET_OUTPUT, fd[0]), 0);
	exits_tell(calls, &ring, 1, 256);
	open_telling(fd, 256, 257, 1, true);
	exits_tell(calls, &ring, 2, 257);
}

/* The first CPU is one like the others. */
static void reads_interrupt_cpu_0(void)
{
	struct pt_ring ring;
	int calls, fd;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
	if (pt_is_stock())
		pt_skip("Linux 6.12 writes READ records from any CPU");
	pt_pin(1);
	calls = pt_open_cross_calls("pe_record_write_reads", 1);
	open_telling(&fd, 0, 1, 0, false);
	pt_map(&ring, fd, 16);
	exits_tell(calls, &ring, 1, 1);
}

/* Written on another CPU, by whatever runs there: the trailer is about the task that exits. */
static void reads_say_who(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	static struct pt_record rec;
	static struct pt_sample s;
	struct pt_ring ring;
	size_t size;
	pid_t pid;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
	pt_pin(0);
	attr.inherit = 1;
	attr.inherit_stat = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
	pt_map(&ring, pt_open(&attr, 0, 1, -1, 0), 1);
	pt_in_child(pid)
		_exit(0);
	pt_reap(pid);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_READ), "no record");
	pt_parse_trailer(&attr, &rec, &s, &size);
	pt_eq(size, 16);
	pt_eq(s.pid, pid);
	pt_eq(s.tid, pid);
	pt_eq(s.cpu, 0);
}

/* A task has copies of two CPUs: each of them is told to the buffer of its own. */
static void reads_of_two_cpus(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct pt_ring ring[2];
	pid_t pid;
	int cpu;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
	attr.inherit = 1;
	attr.inherit_stat = 1;
	for (cpu = 0; cpu < 2; cpu++)
		pt_map(&ring[cpu], pt_open(&attr, 0, cpu, -1, 0), 1);
	pt_in_child(pid)
		_exit(0);
	pt_reap(pid);
	for (cpu = 0; cpu < 2; cpu++)
		pt_eq(pt_count_records(&ring[cpu], PERF_RECORD_READ), 1);
}

/* Only a copy tells its count, and only if it was asked to. */
static void reads_of_nobody_else(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct pt_ring plain, own;
	int go[2];
	pid_t pid;

	pt_pin(0);
	attr.inherit = 1;
	pt_map(&plain, pt_open(&attr, 0, 0, -1, 0), 1);
	attr.inherit_stat = 1;
	pt_open(&attr, 0, 0, -1, 0);
	pid = waiting_child(go, 0);
	pt_map(&own, pt_open(&attr, pid, 0, -1, 0), 1);
	let_go(go);
	pt_reap(pid);
	pt_eq(pt_count_records(&plain, PERF_RECORD_READ), 0);
	pt_eq(pt_count_records(&own, PERF_RECORD_READ), 0);
}

/* A copy that has told its count goes with its task. */
static void reads_keep_nothing(void)
{
	struct perf_event_attr attr;
	struct pt_ring ring;
	pid_t pid;

	load(NULL);
	attr = hits();
	attr.inherit = 1;
	attr.inherit_stat = 1;
	pt_map(&ring, pt_open(&attr, 0, 0, -1, 0), 1);
	pt_in_child(pid)
		pt_eq(pt_module_get(MODULE, "nr_events"), 2);
	pt_reap(pid);
	pt_eq(pt_count_records(&ring, PERF_RECORD_READ), 1);
	pt_eq(pt_module_get(MODULE, "nr_events"), 1);
}

static const struct pt_case cases[] = {
	{ "count_is_retained", count_is_retained },
	{ "ioctls_on_the_dead", ioctls_on_the_dead },
	{ "hangup", hangup },
	{ "hangup_only_after_the_last_child", hangup_only_after_the_last_child },
	{ "records_outlive_the_task", records_outlive_the_task },
	{ "of_a_thread", of_a_thread },
	{ "of_a_cpu_never", of_a_cpu_never },
	{ "opener_exits", opener_exits },
	{ "reads_interrupt_once", reads_interrupt_once },
	{ "reads_interrupt_cpu_0", reads_interrupt_cpu_0 },
	{ "reads_say_who", reads_say_who },
	{ "reads_of_two_cpus", reads_of_two_cpus },
	{ "reads_of_nobody_else", reads_of_nobody_else },
	{ "reads_keep_nothing", reads_keep_nothing },
	{ "exit_races_open", exit_races_open },
	{ "nothing_after_the_exit", nothing_after_the_exit },
	{ "sampling_while_exiting", sampling_while_exiting },
	{ "close_races_exit", close_races_exit },
};

PT_MAIN(cases)
