// SPDX-License-Identifier: GPL-2.0
/*
 * exec.c - events and exec: enable_on_exec, counts that go on, buffers that
 * do not.
 *
 * The program starts itself again with "--calls N FD": it then makes N
 * getppid() calls and, if FD is not -1, writes the event's count to its exit
 * code.
 *
 * needs: hw
 */
#include "lib/ptest.h"
#include <pthread.h>
#include <sys/prctl.h>

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

static void exec_self(unsigned int n, int fd)
{
	char num[16], fdnum[16];

	snprintf(num, sizeof(num), "%u", n);
	snprintf(fdnum, sizeof(fdnum), "%d", fd);
	execl("/proc/self/exe", "exec", "--calls", num, fdnum, NULL);
	_exit(99);
}

static int after_exec(int argc, char **argv)
{
	u64 v[3] = { 0 };
	int fd;

	if (argc != 4 || strcmp(argv[1], "--calls"))
		return -1;
	call((unsigned int)atoi(argv[2]));
	fd = atoi(argv[3]);
	if (fd < 0)
		return 0;
	if (read(fd, v, sizeof(v)) < 8)
		return 98;
	return (int)v[0];
}

static int exit_code(pid_t pid)
{
	int status = pt_wait(pid);

	pt_need(WIFEXITED(status), "child ended with status %#x", status);
	return WEXITSTATUS(status);
}

static void of_a_child_that_waits(struct perf_event_attr *attr, unsigned int before,
				  unsigned int after, unsigned int want)
{
	int go[2], fd;
	pid_t pid;

	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		call(before);
		exec_self(after, -1);
	}
	/* The way of every "stat" tool. */
	fd = pt_open(attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	pt_gate_open(go);
	pt_eq(exit_code(pid), 0);
	pt_eq(pt_count(fd), want);
}

static void enabled_by_exec(void)
{
	struct perf_event_attr attr = calls();

	attr.disabled = 1;
	attr.enable_on_exec = 1;
	of_a_child_that_waits(&attr, 5, 7, 7);
	attr.inherit = 1;
	of_a_child_that_waits(&attr, 5, 7, 7);
}

/* The time of an event that was there before goes on from where it was. */
static void times_go_on(void)
{
	const u64 times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct perf_event_attr attr = calls();
	struct pt_read r;
	int go[2], on;
	pid_t pid;

	pt_gate_make(go);
	pt_in_child(pid) {
		pt_first_on_cpu(0);
		pt_gate_wait(go);
		pt_burn(20000000);
		exec_self(1, -1);
	}
	attr.read_format = times;
	on = pt_open(&attr, pid, -1, -1, 0);
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	pt_open(&attr, pid, -1, -1, 0);
	pt_gate_open(go);
	pt_eq(exit_code(pid), 0);
	pt_read(on, times, 1, &r);
	pt_check(r.enabled >= 20000000, "enabled %llu", (unsigned long long)r.enabled);
	pt_eq(r.running, r.enabled);
}

/* Exec enables all of them in one moment, and exit ends all of them in one: none ran longer. */
static void all_at_once(void)
{
	const u64 times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct perf_event_attr attr = calls();
	struct pt_read first, r;
	int go[2], fd[4], i;
	pid_t pid;

	pt_gate_make(go);
	pt_in_child(pid) {
		pt_pin(0);
		pt_gate_wait(go);
		exec_self(1, -1);
	}
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	attr.read_format = times;
	for (i = 0; i < 4; i++)
		fd[i] = pt_open(&attr, pid, -1, -1, 0);
	pt_gate_open(go);
	pt_eq(exit_code(pid), 0);
	pt_read(fd[0], times, 1, &first);
	pt_check(first.enabled > 0, "not enabled");
	for (i = 1; i < 4; i++) {
		pt_read(fd[i], times, 1, &r);
		pt_eq(r.enabled, first.enabled);
		pt_eq(r.running, first.running);
	}
}

static void not_enabled_without_the_bit(void)
{
	struct perf_event_attr attr = calls();

	attr.disabled = 1;
	of_a_child_that_waits(&attr, 5, 7, 0);
}

static void goes_on_across_exec(void)
{
	struct perf_event_attr attr = calls();

	of_a_child_that_waits(&attr, 5, 7, 12);
	/* enabled already: nothing changes */
	attr.enable_on_exec = 1;
	of_a_child_that_waits(&attr, 5, 7, 12);
}

static void own_event_survives(void)
{
	struct perf_event_attr attr = calls();
	pid_t pid;

	pt_in_child(pid) {
		int fd = pt_open(&attr, 0, -1, -1, 0);

		call(4);
		exec_self(9, fd);
	}
	pt_eq(exit_code(pid), 13);
	/* enable_on_exec of the own task */
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	pt_in_child(pid) {
		int fd = pt_open(&attr, 0, -1, -1, 0);

		call(4);
		exec_self(9, fd);
	}
	pt_eq(exit_code(pid), 9);
}

static void cloexec_closes(void)
{
	struct perf_event_attr attr = calls();
	pid_t pid;

	pt_in_child(pid) {
		int fd = pt_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

		exec_self(9, fd);
	}
	pt_eq(exit_code(pid), 98);
}

/* The bit works once: a second exec after a DISABLE does not enable again. */
static void works_once(void)
{
	struct perf_event_attr attr = calls();
	int go[2], done[2], fd;
	pid_t pid;

	attr.disabled = 1;
	attr.enable_on_exec = 1;
	pt_gate_make(go);
	pt_gate_make(done);
	pt_in_child(pid) {
		char a[16], b[16];

		pt_gate_wait(go);
		snprintf(a, sizeof(a), "%d", go[0]);
		snprintf(b, sizeof(b), "%d", done[1]);
		execl("/proc/self/exe", "exec", "--twice", a, b, NULL);
		_exit(99);
	}
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_gate_open(go);
	pt_gate_wait(done);
	pt_eq(pt_count(fd), 3);
	pt_disable(fd);
	pt_gate_open(go);
	pt_eq(exit_code(pid), 0);
	pt_eq(pt_count(fd), 3);
}

static int reexec(int argc, char **argv)
{
	char c = 0;

	if (argc == 4 && !strcmp(argv[1], "--twice")) {
		call(3);
		if (write(atoi(argv[3]), &c, 1) != 1 || read(atoi(argv[2]), &c, 1) != 1)
			return 96;
		exec_self(5, -1);
	}
	return after_exec(argc, argv);
}

static void group_is_enabled(void)
{
	struct perf_event_attr attr = calls();
	struct perf_event_attr sib;
	u64 f = PERF_FORMAT_GROUP;
	struct pt_read r;
	int go[2], lead;
	pid_t pid;

	attr.read_format = f;
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	sib = attr;
	sib.disabled = 0;
	sib.enable_on_exec = 0;
	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		call(2);
		exec_self(6, -1);
	}
	lead = pt_open(&attr, pid, -1, -1, 0);
	pt_open(&sib, pid, -1, lead, 0);
	attr.read_format = 0;
	pt_open(&attr, pid, -1, lead, 0);
	sib.disabled = 1;
	pt_open(&sib, pid, -1, lead, 0);
	pt_gate_open(go);
	pt_eq(exit_code(pid), 0);
	pt_read(lead, f, 4, &r);
	pt_eq(r.v[0].value, 6);
	pt_eq(r.v[1].value, 6);
	pt_eq(r.v[2].value, 6);
	/* disabled, and nobody said enable_on_exec for it */
	pt_eq(r.v[3].value, 0);
}

static void children_of_the_new_program(void)
{
	struct perf_event_attr attr = calls();
	int go[2], fd;
	pid_t pid;

	attr.disabled = 1;
	attr.enable_on_exec = 1;
	attr.inherit = 1;
	pt_gate_make(go);
	pt_in_child(pid) {
		pid_t inner;

		pt_gate_wait(go);
		/* Inherited disabled; its own exec enables it, ours does not reach it. */
		pt_in_child(inner) {
			call(100);
			exec_self(3, -1);
		}
		call(50);
		pt_wait(inner);
	}
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_gate_open(go);
	pt_eq(exit_code(pid), 0);
	pt_eq(pt_count(fd), 3);
}

/* The copy of a child that execs goes as well, with what it has counted; the parent's stays. */
static void removed_from_a_child(void)
{
	struct perf_event_attr attr = calls();
	pid_t pid;
	int fd;

	attr.inherit = 1;
	attr.remove_on_exec = 1;
	fd = pt_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	pt_in_child(pid) {
		call(2);
		exec_self(7, -1);
	}
	pt_eq(exit_code(pid), 0);
	pt_eq(pt_count(fd), 2);
	call(3);
	pt_eq(pt_count(fd), 5);
}

/* What an exec has removed is its opener's no more, whose prctl() lets copies alone. */
static void removed_from_its_opener(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int go[2], late[2], done[2], fd;
	pid_t pid, inner;
	u64 before;

	pt_gate_make(go);
	pt_gate_make(late);
	pt_gate_make(done);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_in_child(inner) {
			pt_gate_wait(late);
			pt_fault(100);
			pt_gate_open(done);
		}
		exec_self(0, -1);
	}
	attr.inherit = 1;
	attr.remove_on_exec = 1;
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_gate_open(go);
	pt_eq(exit_code(pid), 0);
	pt_need(!prctl(PR_TASK_PERF_EVENTS_DISABLE), "prctl: %s", strerror(errno));
	before = pt_count(fd);
	pt_gate_open(late);
	pt_gate_wait(done);
	pt_check(pt_count(fd) - before >= 100, "%llu faults of the copy",
		 (unsigned long long)(pt_count(fd) - before));
}

/* Removed by exec, the event does not know its opener, who is gone before who closes it. */
static void opener_goes_first(void)
{
	int fd, mine, number[2], go[2];
	pid_t opener;

	pt_gate_make(go);
	pt_need(!pipe(number), "pipe: %s", strerror(errno));
	pt_in_child(opener) {
		struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
		int start[2];
		pid_t target;

		pt_gate_make(start);
		pt_in_child(target) {
			pt_gate_wait(start);
			exec_self(0, -1);
		}
		attr.remove_on_exec = 1;
		fd = pt_open(&attr, target, -1, -1, 0);
		pt_need(write(number[1], &fd, sizeof(fd)) == sizeof(fd), "write");
		pt_gate_wait(go);
		pt_gate_open(start);
		pt_eq(exit_code(target), 0);
	}
	pt_need(read(number[0], &fd, sizeof(fd)) == sizeof(fd), "read");
	mine = (int)syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, opener, 0), fd, 0);
	pt_need(mine >= 0, "pidfd_getfd: %s", strerror(errno));
	pt_gate_open(go);
	pt_reap(opener);
	usleep(100000);		/* RCU is done with the task, whose count of users says so if not */
	pt_count(mine);
	pt_eq(close(mine), 0);
}

static void buffer_goes_with_the_memory(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	pid_t pid;

	/* The mapping vanishes with exec, the event counts on without it. */
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	pt_in_child(pid) {
		struct pt_ring r;
		int fd = pt_open(&attr, 0, -1, -1, 0);

		pt_map(&r, fd, 8);
		pt_fault(5);
		exec_self(1, fd);
	}
	pt_check(exit_code(pid) > 5, "page faults of a new program");
}

/* A buffer mapped by the observer stays while the observed task changes. */
static void observer_keeps_its_buffer(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	unsigned int samples = 0, comms = 0;
	static struct pt_record rec;
	struct pt_ring r;
	int go[2], fd;
	pid_t pid;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.comm = 1;
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_fault(100);
		exec_self(1, -1);
	}
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&r, fd, 64);
	pt_gate_open(go);
	pt_eq(exit_code(pid), 0);
	while (pt_next(&r, &rec)) {
		samples += rec.h.type == PERF_RECORD_SAMPLE;
		comms += rec.h.type == PERF_RECORD_COMM;
	}
	/* Enabled before the name is told, so the COMM of the exec is there. */
	pt_eq(comms, 1);
	pt_eq(samples, pt_count(fd));
	pt_check(samples > 5, "only %u faults of a new program", samples);
}

struct exec_thread {
	pthread_barrier_t ready, go;
	pid_t tid;
};

static void *exec_in_thread(void *arg)
{
	struct exec_thread *t = arg;

	t->tid = pt_tid();
	pthread_barrier_wait(&t->ready);
	pthread_barrier_wait(&t->go);
	call(5);
	exec_self(7, -1);
	return NULL;
}

/*
 * A thread execs: it takes over the pid, the others die. Its event goes on,
 * the leader's is left with what it had.
 */
static void thread_that_execs(void)
{
	struct perf_event_attr attr = calls();
	int tids[2], go[2], ids[2], of_leader, of_thread;
	pid_t pid;

	pt_need(!pipe(tids), "pipe: %s", strerror(errno));
	pt_gate_make(go);
	pt_in_child(pid) {
		struct exec_thread t;
		pthread_t thread;

		pthread_barrier_init(&t.ready, NULL, 2);
		pthread_barrier_init(&t.go, NULL, 2);
		pt_need(!pthread_create(&thread, NULL, exec_in_thread, &t), "thread");
		pthread_barrier_wait(&t.ready);
		ids[0] = pt_tid();
		ids[1] = t.tid;
		pt_need(write(tids[1], ids, sizeof(ids)) == sizeof(ids), "write");
		pt_gate_wait(go);
		call(2);
		pthread_barrier_wait(&t.go);
		for (;;)
			pause();
	}
	pt_need(read(tids[0], ids, sizeof(ids)) == sizeof(ids), "read: %s", strerror(errno));
	of_leader = pt_open(&attr, ids[0], -1, -1, 0);
	of_thread = pt_open(&attr, ids[1], -1, -1, 0);
	pt_gate_open(go);
	pt_eq(exit_code(pid), 0);
	pt_eq(pt_count(of_leader), 2);
	pt_eq(pt_count(of_thread), 12);
}

static void hw_enabled_by_exec(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	u64 n[2];
	int i;

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	close(pt_open_hw(&attr, -1));
	attr.enable_on_exec = 1;
	for (i = 0; i < 2; i++) {
		int go[2], fd;
		pid_t pid;

		pt_gate_make(go);
		pt_in_child(pid) {
			pt_gate_wait(go);
			/* Not counted, or the two runs differ. */
			pt_spin(i ? 1000 : 5000000);
			exec_self(3, -1);
		}
		fd = pt_open(&attr, pid, -1, -1, 0);
		pt_gate_open(go);
		pt_eq(exit_code(pid), 0);
		n[i] = pt_count(fd);
	}
	pt_check(n[0] > 1000 && n[0] < 5000000, "%llu instructions", (unsigned long long)n[0]);
	/* The start of a program depends a little on random addresses. */
	pt_check(n[0] < n[1] + 20000 && n[1] < n[0] + 20000, "%llu and %llu instructions",
		 (unsigned long long)n[0], (unsigned long long)n[1]);
}

static const struct pt_case cases[] = {
	{ "enabled_by_exec", enabled_by_exec },
	{ "times_go_on", times_go_on },
	{ "all_at_once", all_at_once },
	{ "not_enabled_without_the_bit", not_enabled_without_the_bit },
	{ "goes_on_across_exec", goes_on_across_exec },
	{ "own_event_survives", own_event_survives },
	{ "cloexec_closes", cloexec_closes },
	{ "works_once", works_once },
	{ "group_is_enabled", group_is_enabled },
	{ "children_of_the_new_program", children_of_the_new_program },
	{ "removed_from_a_child", removed_from_a_child },
	{ "removed_from_its_opener", removed_from_its_opener },
	{ "opener_goes_first", opener_goes_first },
	{ "buffer_goes_with_the_memory", buffer_goes_with_the_memory },
	{ "observer_keeps_its_buffer", observer_keeps_its_buffer },
	{ "thread_that_execs", thread_that_execs },
	{ "hw_enabled_by_exec", hw_enabled_by_exec },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = reexec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
