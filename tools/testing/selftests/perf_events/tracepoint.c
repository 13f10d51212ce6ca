// SPDX-License-Identifier: GPL-2.0
/*
 * tracepoint.c - events of tracepoints: exact counts of system calls, the
 * raw record against the tracepoint's own format description, filters, and
 * who is counted.
 */
#include "lib/ptest.h"
#include <sys/resource.h>

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr tracepoint(const char *system, const char *name)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id(system, name));

	attr.disabled = 1;
	return attr;
}

static u64 field(const char *system, const char *name, const char *what, size_t size)
{
	int off = pt_field_offset(system, name, what);
	u64 v = 0;

	pt_need((u32)off + size <= s.raw_size, "%s ends at %zu of %u bytes", what,
		(u32)off + size, s.raw_size);
	memcpy(&v, s.raw + off, size);
	return v;
}

static void count_exactly(void)
{
	struct perf_event_attr attr = tracepoint("syscalls", "sys_enter_getppid");
	int enter, leave, i;

	enter = pt_open(&attr, 0, -1, -1, 0);
	attr = tracepoint("syscalls", "sys_exit_getppid");
	leave = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(enter);
	pt_enable(leave);
	for (i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	pt_disable(enter);
	pt_disable(leave);
	pt_eq(pt_count(enter), 1000);
	pt_eq(pt_count(leave), 1000);
	syscall(SYS_getppid);
	pt_eq(pt_count(enter), 1000);
}

static void raw_of_enter_and_exit(void)
{
	struct perf_event_attr enter = tracepoint("syscalls", "sys_enter_getpriority");
	struct perf_event_attr leave = tracepoint("syscalls", "sys_exit_getpriority");
	struct pt_ring other;
	int a, b, i;

	enter.sample_period = 1;
	leave.sample_period = 1;
	enter.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TID | PERF_SAMPLE_IP;
	leave.sample_type = enter.sample_type;
	a = pt_open(&enter, 0, -1, -1, 0);
	b = pt_open(&leave, 0, -1, -1, 0);
	pt_map(&ring, a, 8);
	pt_map(&other, b, 8);
	pt_enable(a);
	pt_enable(b);
	for (i = 0; i < 10; i++)
		syscall(SYS_getpriority, PRIO_PROCESS, i ? 0 : getpid());
	pt_disable(a);
	pt_disable(b);
	for (i = 0; i < 10; i++) {
		pt_need(pt_next(&ring, &rec), "no record");
		pt_parse_sample(&enter, &rec, &s);
		/* The size makes the next field start on 8 bytes. */
		pt_eq((s.raw_size + 4) & 7, 0);
		/* A system call is where user space left off. */
		pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
		pt_check(s.ip && !(s.ip >> 63), "IP %#llx", (unsigned long long)s.ip);
		pt_eq(field("syscalls", "sys_enter_getpriority", "common_type", 2), enter.config);
		pt_eq(field("syscalls", "sys_enter_getpriority", "common_pid", 4), pt_tid());
		pt_eq(field("syscalls", "sys_enter_getpriority", "__syscall_nr", 4),
		      SYS_getpriority);
		pt_eq(field("syscalls", "sys_enter_getpriority", "which", 8), PRIO_PROCESS);
		pt_eq(field("syscalls", "sys_enter_getpriority", "who", 8), i ? 0 : getpid());
		pt_need(pt_next(&other, &rec), "no record");
		pt_parse_sample(&leave, &rec, &s);
		pt_eq(field("syscalls", "sys_exit_getpriority", "__syscall_nr", 4),
		      SYS_getpriority);
		pt_eq(field("syscalls", "sys_exit_getpriority", "ret", 8), 20);
	}
	pt_check(!pt_next(&ring, &rec), "a record too many");
}

static void every_nth(void)
{
	struct perf_event_attr attr = tracepoint("syscalls", "sys_enter_getppid");
	int fd, i;

	attr.sample_period = 6;
	attr.sample_type = PERF_SAMPLE_TID;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	for (i = 0; i < 100; i++)
		syscall(SYS_getppid);
	pt_disable(fd);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 16);
	pt_eq(pt_count(fd), 100);
}

static void switch_away_and_back(void)
{
	struct perf_event_attr attr = tracepoint("sched", "sched_switch");
	unsigned int out = 0;
	struct pt_peer peer;
	int fd, i;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TID;
	pt_pin(0);
	pt_peer_start(&peer);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	for (i = 0; i < 50; i++)
		pt_peer_turn(&peer);
	pt_disable(fd);
	/* The tracepoint fires for the one that leaves: each hit is ours. */
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.tid, pt_tid());
		pt_eq(field("sched", "sched_switch", "prev_pid", 4), pt_tid());
		pt_check(field("sched", "sched_switch", "next_pid", 4) != (u64)pt_tid(), "to self");
		out++;
	}
	pt_check(out >= 50, "%u switches", out);
	pt_eq(pt_count(fd), out);
	pt_peer_stop(&peer);
}

static void cpu_wide(void)
{
	struct perf_event_attr attr = tracepoint("syscalls", "sys_enter_getppid");
	u64 n;
	pid_t pid;
	int fd, i;

	attr.disabled = 0;
	pt_pin(0);
	fd = pt_open(&attr, -1, 0, -1, 0);
	n = pt_count(fd);
	pt_in_child(pid) {
		for (i = 0; i < 25; i++)
			syscall(SYS_getppid);
	}
	pt_reap(pid);
	for (i = 0; i < 10; i++)
		syscall(SYS_getppid);
	pt_eq(pt_count(fd) - n, 35);
	if (pt_online_cpus() < 2)
		return;
	pt_pin(1);
	for (i = 0; i < 10; i++)
		syscall(SYS_getppid);
	pt_eq(pt_count(fd) - n, 35);
}

static void filter_by_argument(void)
{
	struct perf_event_attr attr = tracepoint("syscalls", "sys_enter_getpriority");
	int user, group, fd, i;

	user = pt_open(&attr, 0, -1, -1, 0);
	group = pt_open(&attr, 0, -1, -1, 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(user, PERF_EVENT_IOC_SET_FILTER, (unsigned long)"which == 2"), 0);
	pt_eq(pt_ioctl(group, PERF_EVENT_IOC_SET_FILTER,
		       (unsigned long)"which == 1 && who == 0"), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (unsigned long)"no_such_field == 1"),
	      -EINVAL);
	pt_enable(user);
	pt_enable(group);
	pt_enable(fd);
	for (i = 0; i < 30; i++)
		syscall(SYS_getpriority, i % 3, 0);
	syscall(SYS_getpriority, PRIO_PGRP, getpgrp());
	pt_disable(user);
	pt_disable(group);
	pt_disable(fd);
	pt_eq(pt_count(user), 10);
	pt_eq(pt_count(group), 10);
	pt_eq(pt_count(fd), 31);
}

static void exclude_bits(void)
{
	struct perf_event_attr call = tracepoint("syscalls", "sys_enter_getppid");
	struct perf_event_attr sw = tracepoint("sched", "sched_switch");
	int call_user, call_kernel, switch_user, switch_all;

	call.disabled = 0;
	sw.disabled = 0;
	switch_all = pt_open(&sw, 0, -1, -1, 0);
	call.exclude_kernel = 1;
	sw.exclude_kernel = 1;
	call_user = pt_open(&call, 0, -1, -1, 0);
	switch_user = pt_open(&sw, 0, -1, -1, 0);
	call.exclude_kernel = 0;
	call.exclude_user = 1;
	call_kernel = pt_open(&call, 0, -1, -1, 0);
	syscall(SYS_getppid);
	syscall(SYS_getppid);
	pt_switch_out();
	/* exclude_kernel asks where the registers are; exclude_user nothing. */
	pt_eq(pt_count(call_user), 2);
	pt_eq(pt_count(call_kernel), 2);
	pt_check(pt_count(switch_all) >= 1, "no switch");
	pt_eq(pt_count(switch_user), 0);
}

static void parts_of_callchain(const char *system, const char *name, u64 *kernel, u64 *user)
{
	struct perf_event_attr attr = tracepoint(system, name);
	u64 i, section = 0;
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	*kernel = 0;
	*user = 0;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	syscall(SYS_getppid);
	pt_switch_out();
	pt_disable(fd);
	pt_need(pt_next(&ring, &rec), "no record");
	pt_parse_sample(&attr, &rec, &s);
	for (i = 0; i < s.nr_ips; i++) {
		if (s.ips[i] >= PERF_CONTEXT_MAX)
			section = s.ips[i];
		else if (section == (u64)PERF_CONTEXT_KERNEL)
			++*kernel;
		else if (section == (u64)PERF_CONTEXT_USER)
			++*user;
	}
	pt_check(s.nr_ips >= 2 && s.ips[1] == s.ip, "the chain does not begin at the IP");
}

static void callchains(void)
{
	u64 kernel, user;

	parts_of_callchain("syscalls", "sys_enter_getppid", &kernel, &user);
	pt_eq(kernel, 0);
	pt_check(user >= 1, "%llu user addresses", (unsigned long long)user);
	parts_of_callchain("sched", "sched_switch", &kernel, &user);
	pt_check(kernel >= 3, "%llu kernel addresses", (unsigned long long)kernel);
	pt_check(user >= 1, "%llu user addresses", (unsigned long long)user);
}

static void many_events_one_tracepoint(void)
{
	struct perf_event_attr attr = tracepoint("syscalls", "sys_enter_getppid");
	int fd[50], i;

	for (i = 0; i < 50; i++) {
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
		pt_enable(fd[i]);
		syscall(SYS_getppid);
	}
	for (i = 0; i < 50; i += 2)
		close(fd[i]);
	syscall(SYS_getppid);
	for (i = 1; i < 50; i += 2)
		pt_eq(pt_count(fd[i]), 50 - i + 1);
}

/* The last event of a tracepoint goes, a new one comes: it works each time. */
static void on_and_off(void)
{
	struct perf_event_attr attr = tracepoint("syscalls", "sys_enter_getppid");
	int i;

	attr.disabled = 0;
	for (i = 0; i < 15; i++) {
		int fd = pt_open(&attr, 0, -1, -1, 0);

		syscall(SYS_getppid);
		pt_eq(pt_count(fd), 1);
		close(fd);
	}
}

/* A tracepoint that fires inside the handling of samples: no recursion. */
static void nested(void)
{
	struct perf_event_attr attr = tracepoint("sched", "sched_wakeup");
	struct perf_event_attr sw = pt_attr(PT_SW(CONTEXT_SWITCHES));
	struct perf_event_attr page = pt_attr(PT_SW(PAGE_FAULTS));
	struct pt_peer peer;
	int a, b, c, i;

	attr.sample_period = 1;
	attr.wakeup_events = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER |
			   PERF_SAMPLE_RAW;
	attr.sample_stack_user = 4096;
	sw.sample_period = 1;
	sw.wakeup_events = 1;
	sw.sample_type = attr.sample_type;
	sw.sample_stack_user = 4096;
	page.sample_period = 1;
	page.sample_type = attr.sample_type;
	page.sample_stack_user = 4096;
	pt_pin(0);
	pt_peer_start(&peer);
	a = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, a, 64);
	b = pt_open(&sw, -1, 0, a, PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT);
	c = pt_open(&page, -1, 0, a, PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT);
	pt_enable(a);
	for (i = 0; i < 40; i++) {
		pt_peer_turn(&peer);
		pt_fault(2);
		if (i % 4 == 3)
			pt_drain(&ring);
	}
	pt_disable(a);
	pt_disable(b);
	pt_disable(c);
	pt_check(pt_count(a) > 0 && pt_count(b) > 0 && pt_count(c) >= 80, "%llu, %llu, %llu",
		 (unsigned long long)pt_count(a), (unsigned long long)pt_count(b),
		 (unsigned long long)pt_count(c));
	pt_peer_stop(&peer);
}

static void no_branches(void)
{
	struct perf_event_attr attr = tracepoint("syscalls", "sys_enter_getppid");

	pt_eq(pt_probe(&attr), 0);
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	pt_eq(pt_probe(&attr), -EOPNOTSUPP);
}

static const struct pt_case cases[] = {
	{ "count_exactly", count_exactly },
	{ "raw_of_enter_and_exit", raw_of_enter_and_exit },
	{ "every_nth", every_nth },
	{ "switch_away_and_back", switch_away_and_back },
	{ "cpu_wide", cpu_wide },
	{ "filter_by_argument", filter_by_argument },
	{ "exclude_bits", exclude_bits },
	{ "callchains", callchains },
	{ "many_events_one_tracepoint", many_events_one_tracepoint },
	{ "on_and_off", on_and_off },
	{ "nested", nested },
	{ "no_branches", no_branches },
};

PT_MAIN(cases)
