// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl.c - the ioctls of an event and the prctl for all events of a task.
 *
 * What each does to count, state and buffer, and how each refuses nonsense.
 * The GROUP flag is covered in group.c, filters are none of this program's
 * business, and what BPF programs do is that of bpf*.c.
 */
#include "lib/bpf.h"
#include <sys/prctl.h>

static struct perf_event_attr faults(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.disabled = 1;
	return attr;
}

static struct perf_event_attr sampling(u64 period)
{
	struct perf_event_attr attr = faults();

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	return attr;
}

static void enable_disable(void)
{
	struct perf_event_attr attr = faults();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	u64 want = 0;
	int i;

	/* Twice is as good as once. */
	for (i = 0; i < 20; i++) {
		u8 *p = pt_fresh_pages(4);

		pt_touch(p, 1);
		pt_enable(fd);
		pt_enable(fd);
		pt_touch(p, 3);
		pt_disable(fd);
		pt_disable(fd);
		pt_touch(p, 4);
		want += 2;
		pt_eq(pt_count(fd), want);
		munmap(p, 4 * (size_t)pt_page_size());
	}
}

static void reset(void)
{
	struct perf_event_attr attr = faults();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	u8 *p = pt_fresh_pages(9);
	size_t page = (size_t)pt_page_size();

	pt_enable(fd);
	pt_touch(p, 3);
	pt_reset(fd);
	pt_eq(pt_count(fd), 0);
	pt_touch(p + 3 * page, 3);
	pt_eq(pt_count(fd), 3);
	pt_disable(fd);
	pt_reset(fd);
	pt_eq(pt_count(fd), 0);
}

static void ids(void)
{
	struct perf_event_attr attr = faults();
	int a = pt_open(&attr, 0, -1, -1, 0);
	int b = pt_open(&attr, 0, -1, a, 0);

	pt_check(pt_id(b) > pt_id(a), "ids %llu and %llu", (unsigned long long)pt_id(a),
		 (unsigned long long)pt_id(b));
	pt_eq(pt_id(a), pt_id(a));
	pt_eq(pt_ioctl(a, PERF_EVENT_IOC_ID, 0), -EFAULT);
}

static void unknown(void)
{
	struct perf_event_attr attr = faults();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	u64 v = 0;
	int nr;

	for (nr = 12; nr < 256; nr++) {
		/* 0x80 to 0x9f: <linux/perf_event_ext.h>; they have tests of their own */
		if (nr >= 0x80 && nr < 0xa0)
			continue;
		pt_eq(pt_ioctl(fd, _IO('$', nr), 0), -ENOTTY);
		pt_eq(pt_ioctl(fd, _IOW('$', nr, u64), (unsigned long)&v), -ENOTTY);
	}
	/* the right number with the wrong direction or size */
	pt_eq(pt_ioctl(fd, _IO('$', 4), 0), -ENOTTY);
	pt_eq(pt_ioctl(fd, _IOW('$', 0, u64), 0), -ENOTTY);
	pt_eq(pt_ioctl(fd, _IO('#', 0), 0), -ENOTTY);
	pt_eq(pt_ioctl(fd, 0xdeadbeef, 0), -ENOTTY);
}

static void refresh_counts_down(void)
{
	struct perf_event_attr attr = sampling(1);
	int fd = pt_open(&attr, 0, -1, -1, 0);
	u8 *p = pt_fresh_pages(45);
	size_t page = (size_t)pt_page_size();
	struct pt_ring ring;

	pt_map(&ring, fd, 8);
	/* REFRESH enables, and after that many samples the event stops. */
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), 0);
	pt_touch(p, 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 3);
	pt_eq(pt_count(fd), 3);
	pt_touch(p + 10 * page, 5);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	/* Again, in two instalments. */
	pt_disable(fd);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 2), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 2), 0);
	pt_touch(p + 15 * page, 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 4);
	pt_eq(pt_count(fd), 7);
	/* 0 adds nothing: without a limit it runs on. */
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 0), 0);
	pt_touch(p + 25 * page, 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 10);
	/* Those were none of the ones that are asked for next. */
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 2), 0);
	pt_touch(p + 35 * page, 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 2);
}

static void refresh_refused(void)
{
	struct perf_event_attr attr = faults();

	pt_eq(pt_ioctl(pt_open(&attr, 0, -1, -1, 0), PERF_EVENT_IOC_REFRESH, 1), -EINVAL);
	attr = sampling(1);
	attr.inherit = 1;
	pt_eq(pt_ioctl(pt_open(&attr, 0, -1, -1, 0), PERF_EVENT_IOC_REFRESH, 1), -EINVAL);
}

static long set_period(int fd, u64 v)
{
	return pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&v);
}

static void period_refused(void)
{
	struct perf_event_attr attr = faults();
	int count = pt_open(&attr, 0, -1, -1, 0);
	int fd, freq;

	attr = sampling(10);
	fd = pt_open(&attr, 0, -1, -1, 0);
	attr.freq = 1;
	freq = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_period(count, 100), -EINVAL);
	pt_eq(set_period(fd, 0), -EINVAL);
	pt_eq(set_period(fd, 1ull << 63), -EINVAL);
	pt_eq(set_period(fd, ~0ull), -EINVAL);
	pt_eq(set_period(fd, (1ull << 63) - 1), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, 0), -EFAULT);
	pt_eq(set_period(freq, (u64)pt_sysctl_get("perf_event_max_sample_rate") + 1), -EINVAL);
	pt_eq(set_period(freq, (u64)pt_sysctl_get("perf_event_max_sample_rate")), 0);
}

/* A new period does not wait for what was left of the old one. */
static void period_acts_at_once(void)
{
	struct perf_event_attr attr = sampling(1000000);
	int fd = pt_open(&attr, 0, -1, -1, 0);
	u8 *p = pt_fresh_pages(200);
	size_t page = (size_t)pt_page_size();
	struct pt_ring ring;

	pt_map(&ring, fd, 8);
	pt_enable(fd);
	pt_touch(p, 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	pt_eq(set_period(fd, 5), 0);
	pt_touch(p + 10 * page, 5);
	/* The first event is due, then every fifth, counted from the ioctl; on 6.12 a millionth. */
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), pt_is_stock() ? 1 : 2);
	pt_eq(set_period(fd, 5), 0);
	pt_touch(p + 15 * page, 50);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 11);
	pt_disable(fd);
	/* Changed while disabled it is there when enabled. */
	pt_eq(set_period(fd, 20), 0);
	pt_enable(fd);
	pt_touch(p + 65 * page, 5);
	pt_eq(set_period(fd, 20), 0);
	pt_drain(&ring);
	pt_touch(p + 70 * page, 80);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 5);
	pt_eq(pt_count(fd), 150);
}

static void set_output(void)
{
	struct perf_event_attr attr = sampling(1);
	struct perf_event_attr other;
	struct pt_ring ring, own;
	int a, b, c;

	a = pt_open(&attr, 0, -1, -1, 0);
	b = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(b, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)a), -EINVAL);
	pt_map(&ring, a, 4);
	pt_eq(pt_ioctl(b, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)a), 0);
	pt_enable(b);
	pt_fault(3);
	pt_disable(b);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 3);
	/* -1 takes it away again: samples go nowhere, the count goes on. */
	pt_eq(pt_ioctl(b, PERF_EVENT_IOC_SET_OUTPUT, -1ul), 0);
	pt_enable(b);
	pt_fault(3);
	pt_disable(b);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	pt_eq(pt_count(b), 6);
	/* With a buffer of its own it keeps it. */
	pt_map(&own, b, 4);
	pt_eq(pt_ioctl(b, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)a), -EINVAL);
	pt_eq(pt_ioctl(b, PERF_EVENT_IOC_SET_OUTPUT, -1ul), -EINVAL);
	pt_eq(pt_ioctl(a, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)a), -EINVAL);
	pt_eq(pt_ioctl(a, PERF_EVENT_IOC_SET_OUTPUT, 1000), -EBADF);
	pt_eq(pt_ioctl(a, PERF_EVENT_IOC_SET_OUTPUT, 0), -EBADF);
	/* clocks, direction, CPU and task must be the same */
	other = attr;
	other.use_clockid = 1;
	other.clockid = CLOCK_MONOTONIC;
	c = pt_open(&other, 0, -1, -1, 0);
	pt_eq(pt_ioctl(c, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)a), -EINVAL);
	other = attr;
	other.write_backward = 1;
	c = pt_open(&other, 0, -1, -1, 0);
	pt_eq(pt_ioctl(c, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)a), -EINVAL);
	c = pt_open(&attr, 0, 0, -1, 0);
	pt_eq(pt_ioctl(c, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)a), -EINVAL);
	c = pt_open(&attr, getppid(), -1, -1, 0);
	pt_eq(pt_ioctl(c, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)a), -EINVAL);
}

/* Per-CPU buffers may be shared by different tasks' events on that CPU. */
static void set_output_of_one_cpu(void)
{
	struct perf_event_attr attr = sampling(1);
	struct pt_ring ring;
	int all, mine;

	pt_pin(0);
	all = pt_open(&attr, -1, 0, -1, 0);
	mine = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&ring, all, 4);
	pt_eq(pt_ioctl(mine, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)all), 0);
	pt_enable(mine);
	pt_fault(5);
	pt_disable(mine);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 5);
}

/*
 * Tasks on several CPUs take turns in a buffer once an inherited event writes there, or one that
 * is not in its context yet.
 */
static void set_output_of_many_tasks(void)
{
	struct perf_event_attr attr = sampling(1), probe;
	int type = pt_pmu_type("kprobe"), turns, to;
	struct pt_ring ring;

	if (type < 0 || pt_is_stock())
		pt_skip("no probe, or not in our function");
	probe = pt_attr((u32)type, 0);
	probe.kprobe_func = pt_addr("pe_buffer_crowd");
	turns = pt_open(&probe, 0, -1, -1, 0);
	to = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, to, 4);
	pt_eq(pt_ioctl(pt_open(&attr, 0, -1, -1, 0), PERF_EVENT_IOC_SET_OUTPUT, to), 0);
	pt_eq(pt_count(turns), 0);
	pt_open(&attr, 0, -1, to, PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT);
	pt_eq(pt_count(turns), 1);
	attr.inherit = 1;
	pt_eq(pt_ioctl(pt_open(&attr, 0, -1, -1, 0), PERF_EVENT_IOC_SET_OUTPUT, to), 0);
	pt_eq(pt_count(turns), 2);
}

/* How often this task waits for RCU when its event is redirected. */
static u64 waits_of_set_output(int waits, int fd, int to)
{
	u64 before = pt_count(waits);

	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)to), 0);
	return pt_count(waits) - before;
}

/* A buffer of one writer has those wait who make it one of many, the first time. */
static void set_output_waits_for_the_writer(void)
{
	struct perf_event_attr attr = sampling(1), probe;
	int type = pt_pmu_type("kprobe"), waits, to, i;
	struct pt_ring ring;

	if (type < 0 || pt_is_stock())
		pt_skip("no probe, or Linux 6.12, where nobody takes turns");
	probe = pt_attr((u32)type, 0);
	probe.kprobe_func = pt_addr("synchronize_rcu");
	waits = pt_open(&probe, 0, -1, -1, 0);
	to = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, to, 4);
	attr.inherit = 1;
	for (i = 0; i < 2; i++)
		pt_eq(waits_of_set_output(waits, pt_open(&attr, 0, -1, -1, 0), to), !i);
}

/* An event is closed that writes to the buffer of another one, which goes on. */
static void set_output_then_close(void)
{
	struct perf_event_attr attr = sampling(1), last;
	struct pt_ring ring;
	int to, fd, i;

	pt_pin(0);	/* what RCU does on one CPU it does in order */
	to = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, to, 4);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)to), 0);
	pt_enable(fd);
	pt_fault(3);
	pt_disable(fd);
	close(fd);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 3);
	/* The last event of a tracepoint closes and waits for RCU: then others get the memory. */
	last = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", "sys_enter_getpgid"));
	close(pt_open(&last, 0, -1, -1, 0));
	for (i = 0; i < 64; i++)
		pt_open(&attr, 0, -1, -1, 0);
	pt_enable(to);
	pt_fault(2);
	pt_disable(to);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 2);
	pt_unmap(&ring);
}

/* Each hit is a sample of both, whatever they are bound to. */
static void two_of_a_kind(void)
{
	static const struct { pid_t pid; int cpu; } of[] = { { -1, 0 }, { 0, -1 }, { 0, 0 } };
	struct perf_event_attr attr = sampling(1);
	struct pt_ring ring[2];
	unsigned int i, j;
	int fd[2];

	pt_first_on_cpu(0);
	for (i = 0; i < PT_ARRAY_SIZE(of); i++) {
		for (j = 0; j < 2; j++) {
			fd[j] = pt_open(&attr, of[i].pid, of[i].cpu, -1, 0);
			pt_map(&ring[j], fd[j], 4);
		}
		for (j = 0; j < 2; j++)
			pt_enable(fd[j]);
		pt_fault(5);
		for (j = 0; j < 2; j++)
			pt_disable(fd[j]);
		for (j = 0; j < 2; j++) {
			pt_eq(pt_count_records(&ring[j], PERF_RECORD_SAMPLE), 5);
			pt_unmap(&ring[j]);
			close(fd[j]);
		}
	}
}

static void pause_output(void)
{
	struct perf_event_attr attr = sampling(1);
	int fd = pt_open(&attr, 0, -1, -1, 0);
	struct pt_ring ring;

	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), -EINVAL);
	pt_map(&ring, fd, 4);
	pt_enable(fd);
	pt_fault(2);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
	pt_fault(3);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
	pt_fault(3);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
	pt_fault(4);
	pt_disable(fd);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 6);
	pt_eq(pt_count(fd), 12);
}

static void pause_output_of_control_page_only(void)
{
	struct perf_event_attr attr = sampling(1);
	int fd = pt_open(&attr, 0, -1, -1, 0);

	pt_need(pt_try_map(fd, 0, PROT_READ | PROT_WRITE), "mmap of one page: %s",
		strerror(errno));
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), -EINVAL);
}

/* A program comes in its turn, among other calls for the event. */
static void program(void)
{
	struct perf_event_attr attr = sampling(1);
	static struct pt_code code;
	struct pt_words w;
	int fd, prog;

	pt_words_make(&w);
	pt_b_begin(&code);
	pt_b_count(&code, &w, 0);
	pt_b_return(&code, 1);
	prog = pt_load(BPF_PROG_TYPE_PERF_EVENT, &code);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_BPF, (unsigned long)prog), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_BPF, (unsigned long)prog), -EEXIST);
	pt_enable(fd);
	pt_fault(4);
	pt_disable(fd);
	pt_eq(w.word[0], 4);
}

static void prctl_switches_own_events(void)
{
	struct perf_event_attr attr = faults();
	u8 *p = pt_fresh_pages(40);
	size_t page = (size_t)pt_page_size();
	int a, b;

	attr.disabled = 0;
	a = pt_open(&attr, 0, -1, -1, 0);
	b = pt_open(&attr, 0, -1, -1, 0);
	pt_reset(a);
	pt_reset(b);
	pt_touch(p, 2);
	pt_need(!prctl(PR_TASK_PERF_EVENTS_DISABLE), "prctl: %s", strerror(errno));
	pt_touch(p + 2 * page, 5);
	pt_eq(pt_count(a), 2);
	pt_eq(pt_count(b), 2);
	pt_need(!prctl(PR_TASK_PERF_EVENTS_ENABLE), "prctl: %s", strerror(errno));
	pt_touch(p + 7 * page, 5);
	pt_eq(pt_count(a), 7);
	pt_eq(pt_count(b), 7);
	/* It enables what was opened disabled, too. */
	attr.disabled = 1;
	close(b);
	b = pt_open(&attr, 0, -1, -1, 0);
	pt_need(!prctl(PR_TASK_PERF_EVENTS_ENABLE), "prctl: %s", strerror(errno));
	pt_touch(p + 12 * page, 5);
	pt_eq(pt_count(b), 5);
	pt_need(!prctl(PR_TASK_PERF_EVENTS_DISABLE), "prctl: %s", strerror(errno));
	pt_touch(p + 17 * page, 5);
	pt_eq(pt_count(b), 5);
}

/* The prctl is about events the task owns: those it opened, on whomever. */
static void prctl_is_about_the_opener(void)
{
	struct perf_event_attr attr = faults();
	int go[2], done[2], fd;
	pid_t pid;

	pt_gate_make(go);
	pt_gate_make(done);
	attr.disabled = 0;
	pt_in_child(pid) {
		u8 *p;
		int i;

		pt_settle();
		p = pt_fresh_pages(30);
		for (i = 0; i < 3; i++) {
			pt_gate_open(done);
			pt_gate_wait(go);
			/* Not the child's events: this does nothing. */
			prctl(PR_TASK_PERF_EVENTS_ENABLE);
			pt_touch(p + i * 10 * pt_page_size(), 10);
		}
		pt_gate_open(done);
	}
	pt_gate_wait(done);
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_reset(fd);
	pt_gate_open(go);
	pt_gate_wait(done);
	pt_eq(pt_count(fd), 10);
	pt_need(!prctl(PR_TASK_PERF_EVENTS_DISABLE), "prctl: %s", strerror(errno));
	pt_gate_open(go);
	pt_gate_wait(done);
	pt_eq(pt_count(fd), 10);
	pt_need(!prctl(PR_TASK_PERF_EVENTS_ENABLE), "prctl: %s", strerror(errno));
	pt_gate_open(go);
	pt_gate_wait(done);
	pt_eq(pt_count(fd), 20);
	pt_reap(pid);
}

static void filter_of_a_software_event(void)
{
	struct perf_event_attr attr = faults();
	int fd = pt_open(&attr, 0, -1, -1, 0);

	pt_check(pt_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (unsigned long)"pid == 1") < 0,
		 "a page-fault event took a filter");
	pt_check(pt_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, 0) < 0, "a NULL filter was taken");
}

static void filter_of_a_tracepoint(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT, 0);
	char never[64], me[64];
	int a, b, i;
	u64 id;

	id = pt_tracepoint_id("syscalls", "sys_enter_getppid");
	attr.config = id;
	attr.disabled = 1;
	a = pt_open(&attr, 0, -1, -1, 0);
	b = pt_open(&attr, 0, -1, -1, 0);
	snprintf(never, sizeof(never), "common_pid != %d", (int)pt_tid());
	snprintf(me, sizeof(me), "common_pid == %d", (int)pt_tid());
	pt_eq(pt_ioctl(a, PERF_EVENT_IOC_SET_FILTER, (unsigned long)"nonsense =="), -EINVAL);
	pt_eq(pt_ioctl(a, PERF_EVENT_IOC_SET_FILTER, 0), -EFAULT);
	pt_eq(pt_ioctl(a, PERF_EVENT_IOC_SET_FILTER, (unsigned long)never), 0);
	pt_eq(pt_ioctl(b, PERF_EVENT_IOC_SET_FILTER, (unsigned long)me), 0);
	pt_eq(pt_ioctl(a, PERF_EVENT_IOC_SET_FILTER, (unsigned long)me), -EEXIST);
	pt_enable(a);
	pt_enable(b);
	for (i = 0; i < 10; i++)
		syscall(SYS_getppid);
	pt_disable(a);
	pt_disable(b);
	pt_eq(pt_count(b), 10);
	pt_eq(pt_count(a), 0);
}

static const struct pt_case cases[] = {
	{ "enable_disable", enable_disable },
	{ "reset", reset },
	{ "ids", ids },
	{ "unknown", unknown },
	{ "refresh_counts_down", refresh_counts_down },
	{ "refresh_refused", refresh_refused },
	{ "period_refused", period_refused },
	{ "period_acts_at_once", period_acts_at_once },
	{ "set_output", set_output },
	{ "set_output_of_one_cpu", set_output_of_one_cpu },
	{ "set_output_of_many_tasks", set_output_of_many_tasks },
	{ "set_output_waits_for_the_writer", set_output_waits_for_the_writer },
	{ "set_output_then_close", set_output_then_close },
	{ "two_of_a_kind", two_of_a_kind },
	{ "pause_output", pause_output },
	{ "pause_output_of_control_page_only", pause_output_of_control_page_only },
	{ "program", program },
	{ "prctl_switches_own_events", prctl_switches_own_events },
	{ "prctl_is_about_the_opener", prctl_is_about_the_opener },
	{ "filter_of_a_software_event", filter_of_a_software_event },
	{ "filter_of_a_tracepoint", filter_of_a_tracepoint },
};

PT_MAIN(cases)
