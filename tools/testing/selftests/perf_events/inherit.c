// SPDX-License-Identifier: GPL-2.0
/*
 * inherit.c - events that children and threads inherit: what is summed up
 * while they live and after, who inherits what, groups, times, ids.
 *
 * needs: smp hw skid
 */
#include "lib/calls.h"
#include <pthread.h>

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static void sum_of_a_child(void)
{
	struct perf_event_attr attr = calls();
	struct puppet p;
	int fd = pt_open(&attr, 0, -1, -1, 0);

	call(3);
	pt_eq(pt_count(fd), 3);
	puppet_start(&p);
	puppet_call(&p, 5);
	/* Alive: its count is asked for. */
	pt_eq(pt_count(fd), 8);
	call(1);
	puppet_call(&p, 7);
	pt_eq(pt_count(fd), 16);
	puppet_stop(&p);
	/* Gone: its count stays. */
	pt_eq(pt_count(fd), 16);
	call(2);
	pt_eq(pt_count(fd), 18);
}

static void not_without_the_bit(void)
{
	struct perf_event_attr attr = calls();
	struct puppet p;
	int fd;

	attr.inherit = 0;
	fd = pt_open(&attr, 0, -1, -1, 0);
	puppet_start(&p);
	puppet_call(&p, 5);
	pt_eq(pt_count(fd), 0);
	puppet_stop(&p);
	pt_eq(pt_count(fd), 0);
}

static void opened_after_the_fork(void)
{
	struct perf_event_attr attr = calls();
	struct puppet p;
	int fd;

	puppet_start(&p);
	fd = pt_open(&attr, 0, -1, -1, 0);
	puppet_call(&p, 5);
	pt_eq(pt_count(fd), 0);
	puppet_stop(&p);
}

static void descendants(void)
{
	struct perf_event_attr attr = calls();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	pid_t pid;

	pt_in_child(pid) {
		pid_t inner, last;

		pt_in_child(inner) {
			pt_in_child(last)
				call(100);
			call(100);
			pt_reap(last);
		}
		call(10);
		pt_reap(inner);
	}
	call(1);
	pt_reap(pid);
	pt_eq(pt_count(fd), 211);
}

static void *calling_thread(void *arg)
{
	call((unsigned int)(uintptr_t)arg);
	return NULL;
}

static void threads(void)
{
	struct perf_event_attr attr = calls();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	pthread_t t[8];
	uintptr_t i;

	for (i = 0; i < 8; i++)
		pt_need(!pthread_create(&t[i], NULL, calling_thread, (void *)(i + 1)), "thread");
	for (i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	pt_eq(pt_count(fd), 36);
}

static void inherit_thread_only(void)
{
	struct perf_event_attr attr = calls();
	struct puppet p;
	pthread_t t;
	int fd;

	attr.inherit_thread = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_need(!pthread_create(&t, NULL, calling_thread, (void *)9), "thread");
	pthread_join(t, NULL);
	pt_eq(pt_count(fd), 9);
	puppet_start(&p);
	puppet_call(&p, 50);
	puppet_stop(&p);
	pt_eq(pt_count(fd), 9);
}

static void switched_with_the_parent(void)
{
	struct perf_event_attr attr = calls();
	struct puppet p;
	int fd;

	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	puppet_start(&p);
	puppet_call(&p, 4);
	pt_eq(pt_count(fd), 0);
	/* The child's copy follows. */
	pt_enable(fd);
	puppet_call(&p, 4);
	pt_eq(pt_count(fd), 4);
	pt_disable(fd);
	puppet_call(&p, 4);
	pt_eq(pt_count(fd), 4);
	pt_enable(fd);
	puppet_call(&p, 4);
	puppet_stop(&p);
	pt_eq(pt_count(fd), 8);
}

/* RESET reaches the events of those that live. What an exited child counted stays. */
static void reset_and_children(void)
{
	struct perf_event_attr attr = calls();
	struct puppet p;
	int fd = pt_open(&attr, 0, -1, -1, 0);

	keep_contexts_apart();

	puppet_start(&p);
	puppet_call(&p, 6);
	puppet_stop(&p);
	puppet_start(&p);
	puppet_call(&p, 10);
	call(1);
	pt_eq(pt_count(fd), 17);
	pt_reset(fd);
	pt_eq(pt_count(fd), 6);
	puppet_call(&p, 2);
	puppet_stop(&p);
	pt_eq(pt_count(fd), 8);
}

/* The times of children that are gone are part of the sum */
static void times_of_children(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(TASK_CLOCK));
	struct pt_read before, alive, after;
	pid_t pid;
	int fd;

	attr.inherit = 1;
	attr.read_format = TIMES;
	pt_pin(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_read(fd, TIMES, 1, &before);
	pt_in_child(pid)
		pt_burn(20000000);
	pt_read(fd, TIMES, 1, &alive);
	pt_reap(pid);
	pt_read(fd, TIMES, 1, &after);
	pt_check(alive.enabled >= before.enabled, "enabled went back");
	pt_check(after.enabled - before.enabled >= 19000000, "enabled grew by %llu",
		 (unsigned long long)(after.enabled - before.enabled));
	pt_check(after.running - before.running >= 19000000, "running grew by %llu",
		 (unsigned long long)(after.running - before.running));
	pt_check(after.v[0].value - before.v[0].value >= 19000000, "task-clock grew by %llu",
		 (unsigned long long)(after.v[0].value - before.v[0].value));
}

static void group_sums(void)
{
	struct perf_event_attr attr = calls();
	u64 f = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	struct perf_event_attr sw = pt_attr(PT_SW(DUMMY));
	struct puppet p[2];
	struct pt_read r;
	int lead, sib, none;

	attr.read_format = f;
	lead = pt_open(&attr, 0, -1, -1, 0);
	sib = pt_open(&attr, 0, -1, lead, 0);
	sw.inherit = 1;
	none = pt_open(&sw, 0, -1, lead, 0);
	puppet_start(&p[0]);
	puppet_start(&p[1]);
	puppet_call(&p[0], 10);
	puppet_call(&p[1], 20);
	call(3);
	pt_read(lead, f, 3, &r);
	pt_eq(r.v[0].value, 33);
	pt_eq(r.v[1].value, 33);
	pt_eq(r.v[2].value, 0);
	pt_eq(r.v[0].id, pt_id(lead));
	pt_eq(r.v[1].id, pt_id(sib));
	pt_eq(r.v[2].id, pt_id(none));
	puppet_stop(&p[0]);
	pt_read(lead, f, 3, &r);
	pt_eq(r.v[0].value, 33);
	pt_eq(r.v[1].value, 33);
	puppet_call(&p[1], 1);
	puppet_stop(&p[1]);
	pt_read(lead, f, 3, &r);
	pt_eq(r.v[0].value, 34);
	pt_eq(r.v[1].value, 34);
}

/* Parent's and child's group differ: no sum can be made of that */
static void group_changed_after_fork(void)
{
	struct perf_event_attr attr = calls();
	u64 f = PERF_FORMAT_GROUP, buf[16];
	struct puppet p;
	struct pt_read r;
	int lead, sib, i;

	attr.read_format = f;
	lead = pt_open(&attr, 0, -1, -1, 0);
	sib = pt_open(&attr, 0, -1, lead, 0);
	keep_contexts_apart();
	puppet_start(&p);
	puppet_call(&p, 5);
	pt_read(lead, f, 2, &r);
	pt_open(&attr, 0, -1, lead, 0);
	pt_eq(read(lead, buf, sizeof(buf)), -1);
	pt_eq(errno, ECHILD);
	/* Members change, their number does not. */
	close(sib);
	for (i = 0; i < 16; i++)
		buf[i] = 0x1234;
	pt_eq(read(lead, buf, sizeof(buf)), -1);
	pt_eq(errno, ECHILD);
	pt_eq(buf[0], 0x1234);
	puppet_stop(&p);
	/* No child, no quarrel. */
	pt_read(lead, f, 2, &r);
}

/* Executed with the gates' ends: says that it is there, and waits. */
static int after_exec(int argc, char **argv)
{
	char c = 0;

	if (argc != 4 || strcmp(argv[1], "--wait"))
		return -1;
	return write(atoi(argv[2]), &c, 1) != 1 || read(atoi(argv[3]), &c, 1) != 1;
}

/* A child that forks another one and then executes the program; both wait. */
static pid_t forks_and_executes(int ready[2], int go[2], int never[2])
{
	char to[16], from[16];
	pid_t pid, inner;

	pt_gate_make(ready);
	pt_gate_make(go);
	pt_gate_make(never);
	snprintf(to, sizeof(to), "%d", ready[1]);
	snprintf(from, sizeof(from), "%d", never[0]);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_in_child(inner)
			pt_gate_wait(never);
		execl("/proc/self/exe", "inherit", "--wait", to, from, NULL);
		pt_need(0, "exec: %s", strerror(errno));
	}
	return pid;
}

/* As many members as the parent's group has, but not the same: one left the parent by its exec. */
static void group_of_others_after_exec(void)
{
	struct perf_event_attr attr = calls(), leaves = attr;
	u64 f = PERF_FORMAT_GROUP, buf[16] = { 0x1234 };
	int ready[2], go[2], never[2], lead;
	struct pt_read r;
	pid_t pid;

	pid = forks_and_executes(ready, go, never);
	attr.read_format = f;
	leaves.read_format = f;
	leaves.remove_on_exec = 1;
	lead = pt_open(&attr, pid, -1, -1, 0);
	pt_open(&leaves, pid, -1, lead, 0);
	pt_read(lead, f, 2, &r);
	pt_gate_open(go);
	pt_gate_wait(ready);
	pt_eq(read(lead, buf, sizeof(buf)), -1);
	pt_eq(errno, ECHILD);
	pt_open(&attr, pid, -1, lead, 0);
	pt_eq(read(lead, buf, sizeof(buf)), -1);
	pt_eq(errno, ECHILD);
	pt_eq(buf[0], 0x1234);
	pt_gate_open(never);
	pt_gate_open(never);
	pt_reap(pid);
}

static void ids_of_samples(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	unsigned int parents = 0, children = 0;
	static struct pt_record rec;
	struct pt_sample s;
	struct pt_ring r;
	u64 stream = 0;
	pid_t pid;
	int fd;

	attr.inherit = 1;
	attr.sample_period = 1;
	attr.disabled = 1;
	attr.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_TID |
			   PERF_SAMPLE_IDENTIFIER;
	keep_contexts_apart();
	pt_pin(0);
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&r, fd, 64);
	pt_enable(fd);
	pt_in_child(pid)
		pt_fault(20);
	pt_reap(pid);
	pt_fault(20);
	pt_disable(fd);
	while (pt_next_of(&r, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.id, pt_id(fd));
		pt_eq(s.identifier, pt_id(fd));
		if (s.pid == (u32)getpid()) {
			pt_eq(s.stream_id, pt_id(fd));
			parents++;
		} else {
			pt_eq(s.pid, pid);
			pt_check(s.stream_id != pt_id(fd), "the child's stream is the parent's");
			pt_check(!stream || s.stream_id == stream, "two streams of a child");
			stream = s.stream_id;
			children++;
		}
	}
	pt_check(parents >= 20, "%u samples of the parent", parents);
	pt_check(children >= 20, "%u samples of the child", children);
	pt_eq(parents + children, pt_count(fd));
}

static void bound_to_a_cpu(void)
{
	struct perf_event_attr attr = calls();
	int here, there;
	pid_t pid;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	pt_pin(0);
	here = pt_open(&attr, 0, 0, -1, 0);
	there = pt_open(&attr, 0, 1, -1, 0);
	pt_in_child(pid) {
		call(5);
		pt_pin(1);
		call(7);
		pt_pin(0);
		call(10);
	}
	pt_reap(pid);
	pt_eq(pt_count(here), 15);
	pt_eq(pt_count(there), 7);
}

/* An event of a CPU counts all tasks there anyway: the bit changes nothing. */
static void of_a_cpu(void)
{
	struct perf_event_attr attr = calls();
	u64 period = 7;
	struct pt_ring r;
	pid_t pid;
	int fd;

	pt_pin(0);
	pt_map(&r, pt_open(&attr, -1, 0, -1, 0), 1);
	attr.sample_period = 5;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, pt_addr(&period)), 0);
	pt_in_child(pid)
		call(9);
	pt_reap(pid);
	pt_eq(pt_count(r.fd), 9);
	pt_eq(pt_count(fd), 9);
}

/* A group is inherited as it is: leader on, one sibling off until it is switched on. */
static void disabled_sibling(void)
{
	struct perf_event_attr attr = calls();
	struct puppet p;
	int lead, sib;

	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 1;
	sib = pt_open(&attr, 0, -1, lead, 0);
	puppet_start(&p);
	puppet_call(&p, 4);
	pt_eq(pt_count(lead), 4);
	pt_eq(pt_count(sib), 0);
	pt_enable(sib);
	puppet_call(&p, 4);
	pt_eq(pt_count(lead), 8);
	pt_eq(pt_count(sib), 4);
	/* Leader off: all off. By its group flag all on again. */
	pt_disable(lead);
	puppet_call(&p, 4);
	pt_eq(pt_count(sib), 4);
	pt_eq(pt_ioctl(sib, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	puppet_call(&p, 4);
	puppet_stop(&p);
	pt_eq(pt_count(lead), 12);
	pt_eq(pt_count(sib), 8);
}

/* inherit_stat keeps the counts of the tasks apart even when contexts could be swapped. */
static void inherit_stat_sums(void)
{
	struct perf_event_attr attr = calls();
	struct puppet p;
	int fd;

	attr.inherit_stat = 1;
	pt_pin(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	puppet_start(&p);
	puppet_call(&p, 5);
	call(5);
	puppet_call(&p, 5);
	pt_eq(pt_count(fd), 15);
	puppet_stop(&p);
	pt_eq(pt_count(fd), 15);
}

/*
 * Parent and child have the same events: a switch between them may swap
 * their contexts. Each must still count for itself.
 */
static void switch_between_equals(void)
{
	struct perf_event_attr attr = calls();
	struct perf_event_attr plain;
	struct puppet p;
	int fd, own, i;

	pt_pin(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	puppet_start(&p);
	for (i = 0; i < 50; i++) {
		puppet_call(&p, 2);
		call(1);
	}
	pt_eq(pt_count(fd), 150);
	/* An event on the child alone, opened after all that swapping. */
	plain = attr;
	plain.inherit = 0;
	own = pt_open(&plain, p.pid, -1, -1, 0);
	for (i = 0; i < 10; i++) {
		puppet_call(&p, 3);
		call(1);
	}
	pt_eq(pt_count(own), 30);
	pt_eq(pt_count(fd), 190);
	puppet_stop(&p);
	pt_eq(pt_count(own), 30);
	pt_eq(pt_count(fd), 190);
}

static void hw_sum_of_children(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	u64 n[3];
	pid_t pid;
	int fd, i;

	attr.exclude_kernel = 1;
	attr.inherit = 1;
	fd = pt_open_hw(&attr, -1);
	for (i = 0; i < 3; i++) {
		n[i] = pt_count(fd);
		pt_in_child(pid)
			pt_spin(i ? 1000000 : 1000);
		pt_reap(pid);
		n[i] = pt_count(fd) - n[i];
	}
	/* Twice the same work; what fork and exit add is about the same. */
	pt_check(n[1] >= 2000000 && n[1] < 2050000, "%llu instructions", (unsigned long long)n[1]);
	pt_check(n[1] - n[0] > 1998000 - 2000 && n[1] - n[0] < 1998000 + 2000,
		 "difference of %llu", (unsigned long long)(n[1] - n[0]));
	pt_check(n[2] - n[0] > 1998000 - 2000 && n[2] - n[0] < 1998000 + 2000,
		 "difference of %llu", (unsigned long long)(n[2] - n[0]));
}

/* "By frequency" without one is no sampling; the copies are counters like any other. */
static void frequency_of_zero(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int fd[2], wait[2], i;
	pid_t pid;
	char c;

	attr.inherit = 1;
	attr.freq = 1;
	attr.exclude_kernel = 1;
	pt_need(!pipe(wait), "pipe: %s", strerror(errno));
	for (i = 0; i < 2; i++)
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	pt_in_child(pid) {
		close(wait[1]);
		_exit(read(wait[0], &c, 1) != 0);
	}
	close(fd[0]);
	close(wait[1]);
	pt_reap(pid);
	pt_check(pt_count(fd[1]) > 0, "no faults");
}

static const struct pt_case cases[] = {
	{ "sum_of_a_child", sum_of_a_child },
	{ "not_without_the_bit", not_without_the_bit },
	{ "opened_after_the_fork", opened_after_the_fork },
	{ "descendants", descendants },
	{ "threads", threads },
	{ "inherit_thread_only", inherit_thread_only },
	{ "switched_with_the_parent", switched_with_the_parent },
	{ "reset_and_children", reset_and_children },
	{ "times_of_children", times_of_children },
	{ "group_sums", group_sums },
	{ "group_changed_after_fork", group_changed_after_fork },
	{ "group_of_others_after_exec", group_of_others_after_exec },
	{ "ids_of_samples", ids_of_samples },
	{ "bound_to_a_cpu", bound_to_a_cpu },
	{ "of_a_cpu", of_a_cpu },
	{ "disabled_sibling", disabled_sibling },
	{ "inherit_stat_sums", inherit_stat_sums },
	{ "switch_between_equals", switch_between_equals },
	{ "hw_sum_of_children", hw_sum_of_children },
	{ "frequency_of_zero", frequency_of_zero },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = after_exec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
