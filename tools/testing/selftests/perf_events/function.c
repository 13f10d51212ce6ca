// SPDX-License-Identifier: GPL-2.0
/*
 * function.c - the trace event ftrace:function, which is about every call in
 * the kernel, each event with a filter of its own; and raw system calls.
 */
#include "lib/ptest.h"

/* Of several names of a function, tracing knows one. All end alike. */
#define GETPPID	"*sys_getppid"
#define GETTID	"*sys_gettid"
#if defined(__x86_64__)
#define GETPPID_SYMBOL	"__x64_sys_getppid"
#else
#define GETPPID_SYMBOL	"__arm64_sys_getppid"
#endif

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr function(void)
{
	struct perf_event_attr attr;
	char path[128];

	snprintf(path, sizeof(path), "%s/events/ftrace/function/id", pt_tracefs());
	if (!pt_path_exists(path))
		pt_skip("the kernel has no ftrace:function");
	attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("ftrace", "function"));
	attr.disabled = 1;
	return attr;
}

static long filter(int fd, const char *text)
{
	return pt_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (unsigned long)text);
}

static void call(unsigned int getppids, unsigned int gettids)
{
	while (getppids--)
		syscall(SYS_getppid);
	while (gettids--)
		syscall(SYS_gettid);
}

/*
 * Only the functions of the filter, only in the event's task. One event for
 * all, because each open instruments the whole kernel and each filter undoes it.
 */
static void filter_and_samples(void)
{
	struct perf_event_attr attr = function(), other = attr;
	u64 sym = pt_kernel_symbol(GETPPID_SYMBOL), ip, parent;
	unsigned int n = 0, ppid = 0, i;
	pid_t pid;
	int fd;

	attr.sample_period = 1;
	attr.exclude_callchain_user = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
			   PERF_SAMPLE_RAW;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(filter(fd, "ip == no_such_function_anywhere"), -EINVAL);
	pt_eq(filter(fd, "parent_ip == " GETPPID), -EINVAL);
	pt_eq(filter(fd, "ip == " GETTID " || ip == " GETPPID), 0);
	pt_map(&ring, fd, 16);
	/* Events have less memory if they are not of this sort: none of it is this one's. */
	other.config = pt_tracepoint_id("sched", "sched_switch");
	for (i = 0; i < 64; i++)
		pt_open(&other, 0, -1, -1, 0);
	call(2, 2);
	pt_enable(fd);
	call(20, 5);
	pt_in_child(pid)
		call(10, 10);
	pt_reap(pid);
	pt_disable(fd);
	call(1, 1);
	pt_eq(pt_count(fd), 25);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.tid, getpid());
		pt_eq((s.raw_size + 4) & 7, 0);
		pt_need(s.raw_size >= 24, "%u bytes", s.raw_size);
		memcpy(&ip, s.raw + 8, 8);
		memcpy(&parent, s.raw + 16, 8);
		ppid += ip - sym < 32;
		pt_check(parent >> 63, "called from %#llx", (unsigned long long)parent);
		pt_need(s.nr_ips >= 2, "%llu entries", (unsigned long long)s.nr_ips);
		pt_eq(s.ips[0], (u64)PERF_CONTEXT_KERNEL);
		n++;
	}
	pt_eq(n, 25);
	if (sym)
		pt_eq(ppid, 20);
}

/* Samples that would touch user memory are refused. */
static void user_memory(void)
{
	struct perf_event_attr attr = function();

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.exclude_callchain_user = 1;
	attr.sample_type |= PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 64;
	pt_eq(pt_probe(&attr), -EINVAL);
}

/* Not for ordinary users, not even to count. Other trace events they may count. */
static void not_for_nobody(void)
{
	struct perf_event_attr attr = function(), other;

	other = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("sched", "sched_switch"));
	pt_sysctl_set("perf_event_paranoid", 1);
	pt_become_nobody();
	pt_eq(pt_probe(&attr), -EPERM);
	attr.sample_period = 1;
	attr.exclude_callchain_user = 1;
	pt_eq(pt_probe(&attr), -EPERM);
	pt_eq(pt_probe(&other), 0);
	other.sample_period = 1;
	other.sample_type = PERF_SAMPLE_IP;
	pt_eq(pt_probe(&other), 0);
	other.sample_type = PERF_SAMPLE_RAW;
	pt_eq(pt_probe(&other), -EPERM);
}

/* Records of one's own system calls are for everybody, those of a CPU are not. */
static void own_records(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	struct perf_event_attr raw = pt_attr(PERF_TYPE_TRACEPOINT,
					     pt_tracepoint_id("raw_syscalls", "sys_enter"));
	int ret;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	raw.sample_period = 1;
	raw.sample_type = PERF_SAMPLE_RAW;
	pt_sysctl_set("perf_event_paranoid", 0);
	pt_become_nobody();
	pt_eq(pt_probe(&attr), 0);
	pt_eq(pt_probe(&raw), 0);
	ret = pt_try_open(&attr, -1, 0, -1, 0);
	pt_eq(ret, -EPERM);
	ret = pt_try_open(&raw, -1, 0, -1, 0);
	pt_eq(ret, -EPERM);
}

static void raw_system_calls(void)
{
	struct perf_event_attr enter = pt_attr(PERF_TYPE_TRACEPOINT,
					       pt_tracepoint_id("raw_syscalls", "sys_enter"));
	struct perf_event_attr leave = pt_attr(PERF_TYPE_TRACEPOINT,
					       pt_tracepoint_id("raw_syscalls", "sys_exit"));
	struct perf_event_attr picked = enter;
	char text[64];
	int a, b, c;

	enter.disabled = 1;
	leave.disabled = 1;
	picked.disabled = 1;
	a = pt_open(&enter, 0, -1, -1, 0);
	b = pt_open(&leave, 0, -1, -1, 0);
	c = pt_open(&picked, 0, -1, -1, 0);
	snprintf(text, sizeof(text), "id == %d", (int)SYS_getppid);
	pt_eq(filter(c, text), 0);
	pt_enable(c);
	pt_enable(a);
	call(50, 20);
	pt_disable(a);
	pt_enable(b);
	call(50, 20);
	pt_disable(b);
	/* The call that turns it off is entered, the one that turned it on is left. */
	pt_eq(pt_count(a), 71);
	pt_eq(pt_count(b), 71);
	pt_eq(pt_count(c), 100);
}

static const struct pt_case cases[] = {
	{ "filter_and_samples", filter_and_samples },
	{ "user_memory", user_memory },
	{ "not_for_nobody", not_for_nobody },
	{ "own_records", own_records },
	{ "raw_system_calls", raw_system_calls },
};

PT_MAIN(cases)
