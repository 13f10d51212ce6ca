// SPDX-License-Identifier: GPL-2.0
/*
 * count.c - do the counters count what happened, no more and no less?
 *
 * Software events against work of known size, clock events against the clocks
 * user space can read. Those of the hardware: hw_count.c.
 *
 * needs: smp hw pmu-irq skid
 */
#include "lib/ptest.h"

static int open_sw(u64 config)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_SOFTWARE, config);

	attr.disabled = 1;
	return pt_open(&attr, 0, -1, -1, 0);
}

static void page_faults(void)
{
	int all = open_sw(PERF_COUNT_SW_PAGE_FAULTS);
	int min = open_sw(PERF_COUNT_SW_PAGE_FAULTS_MIN);
	int maj = open_sw(PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	u8 *p = pt_fresh_pages(100);

	pt_eq(pt_count(all), 0);
	pt_enable(all);
	pt_enable(min);
	pt_enable(maj);
	pt_touch(p, 100);
	pt_disable(all);
	pt_disable(min);
	pt_disable(maj);
	pt_eq(pt_count(all), 100);
	pt_eq(pt_count(min), 100);
	pt_eq(pt_count(maj), 0);
	/* Not enabled: not counted. Touched already: no fault. */
	pt_fault(10);
	pt_eq(pt_count(all), 100);
	pt_enable(all);
	pt_touch(p, 100);
	pt_disable(all);
	pt_eq(pt_count(all), 100);
	/* Enabled again it goes on from where it was. */
	p = pt_fresh_pages(7);
	pt_enable(all);
	pt_touch(p, 7);
	pt_disable(all);
	pt_eq(pt_count(all), 107);
}

static void faults_of_the_kernel(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int user, kernel, both, fd;
	u8 *p = pt_fresh_pages(16);

	attr.exclude_kernel = 1;
	user = pt_open(&attr, 0, -1, -1, 0);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	kernel = pt_open(&attr, 0, -1, -1, 0);
	attr.exclude_user = 0;
	both = pt_open(&attr, 0, -1, -1, 0);
	fd = open("/dev/zero", O_RDONLY);
	pt_need(fd >= 0, "/dev/zero: %s", strerror(errno));
	pt_ioctl(user, PERF_EVENT_IOC_RESET, 0);
	pt_ioctl(kernel, PERF_EVENT_IOC_RESET, 0);
	pt_ioctl(both, PERF_EVENT_IOC_RESET, 0);
	pt_eq(read(fd, p, 16 * (size_t)pt_page_size()), 16 * pt_page_size());
	pt_disable(user);
	pt_disable(kernel);
	pt_disable(both);
	pt_eq(pt_count(kernel), 16);
	pt_eq(pt_count(user), 0);
	pt_eq(pt_count(both), 16);
}

static void two_events_of_a_kind(void)
{
	int fd[8], i;
	u8 *p = pt_fresh_pages(20);

	for (i = 0; i < 8; i++)
		fd[i] = open_sw(PERF_COUNT_SW_PAGE_FAULTS);
	for (i = 0; i < 8; i++) {
		pt_enable(fd[i]);
		pt_touch(p + i * pt_page_size(), 1);
	}
	/* The i-th saw its own touch and those after it. */
	for (i = 0; i < 8; i++)
		pt_eq(pt_count(fd[i]), 8 - i);
	pt_disable(fd[3]);
	pt_touch(p + 8 * pt_page_size(), 1);
	close(fd[5]);
	pt_touch(p + 9 * pt_page_size(), 1);
	for (i = 0; i < 8; i++) {
		if (i != 5)
			pt_eq(pt_count(fd[i]), 8 - i + (i == 3 ? 0 : 2));
	}
}

static void context_switches(void)
{
	int fd = open_sw(PERF_COUNT_SW_CONTEXT_SWITCHES);
	s64 outer, inner;
	int turns;
	struct pt_peer peer;

	pt_pin(0);
	pt_peer_start(&peer);
	outer = pt_switches();
	pt_enable(fd);
	inner = pt_switches();
	for (turns = 0; turns < 100; turns++)
		pt_peer_turn(&peer);
	inner = pt_switches() - inner;
	pt_disable(fd);
	outer = pt_switches() - outer;
	/* On one CPU every turn takes the CPU from us, by sleep or by preemption. */
	pt_check(inner >= 100, "only %lld switches", (long long)inner);
	pt_check((s64)pt_count(fd) >= inner && (s64)pt_count(fd) <= outer,
		 "%llu switches, not %lld to %lld", (unsigned long long)pt_count(fd),
		 (long long)inner, (long long)outer);
	pt_peer_stop(&peer);
}

static void switches_of_a_sleeper(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CONTEXT_SWITCHES));
	int user;

	/* A switch happens in the kernel: exclude_kernel leaves nothing. */
	attr.exclude_kernel = 1;
	user = pt_open(&attr, 0, -1, -1, 0);
	sched_yield();
	pt_switch_out();
	pt_eq(pt_count(user), 0);
}

static void migrations(void)
{
	int fd = open_sw(PERF_COUNT_SW_CPU_MIGRATIONS);
	int i;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	pt_pin(0);
	pt_enable(fd);
	pt_eq(pt_count(fd), 0);
	for (i = 1; i <= 20; i++) {
		pt_pin(i & 1);
		pt_eq(pt_count(fd), i);
	}
	pt_pin(0);
	pt_eq(pt_count(fd), 20);
}

static void task_clock(void)
{
	int fd = open_sw(PERF_COUNT_SW_TASK_CLOCK);
	u64 a, b, n;

	/* The fd's own reads lie outside what is compared, and no switch in it. */
	pt_first_on_cpu(0);
	pt_enable(fd);
	n = pt_count(fd);
	a = pt_clock(CLOCK_THREAD_CPUTIME_ID);
	pt_burn(20000000);
	b = pt_clock(CLOCK_THREAD_CPUTIME_ID);
	n = pt_count(fd) - n;
	pt_check(n >= b - a, "task-clock %llu below the CPU time %llu",
		 (unsigned long long)n, (unsigned long long)(b - a));
	pt_check(n < (b - a) * 2, "task-clock %llu far above the CPU time %llu",
		 (unsigned long long)n, (unsigned long long)(b - a));
	/* RESET of a clock that runs: it begins anew. */
	a = pt_clock(CLOCK_MONOTONIC);
	pt_reset(fd);
	n = pt_count(fd);
	b = pt_clock(CLOCK_MONOTONIC);
	pt_check(n <= b - a + 100000, "task-clock %llu, %llu ns after RESET",
		 (unsigned long long)n, (unsigned long long)(b - a));
	/* Asleep it stands still. */
	n = pt_count(fd);
	usleep(100000);
	n = pt_count(fd) - n;
	pt_check(n < 50000000, "task-clock ran %llu ns in a sleep of 100 ms",
		 (unsigned long long)n);
	pt_disable(fd);
	n = pt_count(fd);
	pt_burn(1000000);
	pt_eq(pt_count(fd), n);
}

static void cpu_clock(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	int task, cpu;
	u64 a, b, t, c;

	pt_pin(0);
	task = pt_open(&attr, 0, -1, -1, 0);
	cpu = pt_open(&attr, -1, 0, -1, 0);
	t = pt_count(task);
	c = pt_count(cpu);
	a = pt_clock(CLOCK_MONOTONIC);
	usleep(30000);
	b = pt_clock(CLOCK_MONOTONIC);
	c = pt_count(cpu) - c;
	t = pt_count(task) - t;
	/* The CPU's clock runs while nobody does, the task's only with the task. */
	pt_check(c + 1000000 >= b - a, "cpu-clock of a CPU: %llu ns of %llu",
		 (unsigned long long)c, (unsigned long long)(b - a));
	pt_check(t < c, "cpu-clock of a task: %llu ns of %llu", (unsigned long long)t,
		 (unsigned long long)c);
}

/* What others of its kind have counted before and meanwhile is none of its own. */
static void off_until_enabled(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int off;

	pt_open(&attr, 0, -1, -1, 0);
	pt_settle();
	pt_fault(5);
	attr.disabled = 1;
	off = pt_open(&attr, 0, -1, -1, 0);
	pt_fault(5);
	pt_eq(pt_count(off), 0);
	pt_enable(off);
	pt_fault(3);
	pt_disable(off);
	pt_eq(pt_count(off), 3);
}

static void dummy_stays_zero(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int fd, cpu;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = pt_open(&attr, 0, -1, -1, 0);
	cpu = pt_open(&attr, -1, 0, -1, 0);
	pt_fault(10);
	pt_burn(1000000);
	pt_eq(pt_count(fd), 0);
	pt_eq(pt_count(cpu), 0);
}

static void enabled_and_running(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct pt_read r, s;
	u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	u64 a, b;
	int fd;

	attr.read_format = f;
	attr.disabled = 1;
	pt_first_on_cpu(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_read(fd, f, 1, &r);
	pt_eq(r.enabled, 0);
	pt_eq(r.running, 0);
	a = pt_clock(CLOCK_MONOTONIC);
	pt_enable(fd);
	pt_burn(5000000);
	pt_disable(fd);
	b = pt_clock(CLOCK_MONOTONIC);
	pt_read(fd, f, 1, &r);
	pt_check(r.enabled >= 5000000 && r.enabled <= b - a, "enabled %llu of %llu",
		 (unsigned long long)r.enabled, (unsigned long long)(b - a));
	pt_eq(r.running, r.enabled);
	pt_burn(1000000);
	pt_read(fd, f, 1, &s);
	pt_eq(s.enabled, r.enabled);
	/* RESET is about the count, the times go on. */
	pt_reset(fd);
	pt_read(fd, f, 1, &s);
	pt_eq(s.enabled, r.enabled);
	pt_eq(s.v[0].value, 0);
}

/* While its leader is off a member is so, too, and both go on and stop in one step. */
static void times_of_a_sibling(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct pt_read of_leader, r;
	int leader, fd, i;

	attr.read_format = f;
	attr.disabled = 1;
	leader = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	fd = pt_open(&attr, 0, -1, leader, 0);
	for (i = 0; i < 3; i++) {
		pt_burn(1000000);
		pt_read(leader, f, 1, &of_leader);
		pt_read(fd, f, 1, &r);
		pt_eq(r.enabled, of_leader.enabled);
		pt_eq(r.running, of_leader.running);
		pt_check(r.enabled >= (u64)i * 1000000, "enabled %llu in turn %d",
			 (unsigned long long)r.enabled, i);
		pt_enable(leader);
		pt_burn(1000000);
		pt_disable(leader);
	}
}

static void times_of_a_cpu_event(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct pt_read r;
	u64 a, b, c, d;
	int fd;

	attr.read_format = f;
	a = pt_clock(CLOCK_MONOTONIC);
	fd = pt_open(&attr, -1, 0, -1, 0);
	b = pt_clock(CLOCK_MONOTONIC);
	usleep(20000);
	c = pt_clock(CLOCK_MONOTONIC);
	pt_read(fd, f, 1, &r);
	d = pt_clock(CLOCK_MONOTONIC);
	/* Two clocks, hence the tolerance of a tenth of a millisecond. */
	pt_check(r.enabled + 100000 >= c - b && r.enabled <= d - a + 100000,
		 "enabled %llu, between %llu and %llu", (unsigned long long)r.enabled,
		 (unsigned long long)(c - b), (unsigned long long)(d - a));
	pt_eq(r.running, r.enabled);
}

static void other_task(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int go[2], done[2], fd;
	pid_t pid;

	pt_gate_make(go);
	pt_gate_make(done);
	pt_in_child(pid) {
		u8 *p;

		pt_settle();
		p = pt_fresh_pages(33);
		pt_gate_open(done);
		pt_gate_wait(go);
		pt_touch(p, 33);
		pt_gate_open(done);
		pt_gate_wait(go);
	}
	pt_gate_wait(done);
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_fault(5);
	pt_eq(pt_count(fd), 0);
	pt_gate_open(go);
	pt_gate_wait(done);
	/* What the child is doing now, asleep in a pipe, needs no page. */
	pt_eq(pt_count(fd), 33);
	pt_reset(fd);
	pt_disable(fd);
	pt_gate_open(go);
	pt_reap(pid);
	pt_eq(pt_count(fd), 0);
}

static void task_on_one_cpu(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct pt_read r;
	int here, there;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	attr.read_format = f;
	pt_pin(0);
	here = pt_open(&attr, 0, 0, -1, 0);
	there = pt_open(&attr, 0, 1, -1, 0);
	pt_reset(here);
	pt_fault(12);
	pt_pin(1);
	pt_reset(there);
	pt_fault(30);
	pt_read(here, f, 1, &r);
	pt_eq(r.v[0].value, 12);
	pt_check(r.running < r.enabled, "running %llu of %llu", (unsigned long long)r.running,
		 (unsigned long long)r.enabled);
	pt_read(there, f, 1, &r);
	pt_eq(r.v[0].value, 30);
	pt_check(r.running && r.running < r.enabled, "running %llu of %llu",
		 (unsigned long long)r.running, (unsigned long long)r.enabled);
}

static void cpu_wide_counts_everybody(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 before;
	pid_t pid;
	int fd;

	pt_pin(0);
	fd = pt_open(&attr, -1, 0, -1, 0);
	before = pt_count(fd);
	pt_in_child(pid)
		pt_fault(50);
	pt_reap(pid);
	pt_fault(50);
	pt_check(pt_count(fd) - before >= 100, "only %llu faults",
		 (unsigned long long)(pt_count(fd) - before));
	if (pt_online_cpus() > 1) {
		/* And nobody who is elsewhere. */
		int other = pt_open(&attr, -1, 1, -1, 0);

		pt_pin(1);
		before = pt_count(other);
		pt_fault(50);
		pt_check(pt_count(other) - before >= 50, "CPU 1 missed its faults");
	}
}

/*
 * Events that need no hardware may be many. Each has its own idea of when it
 * began, and all of them survive being switched out and in.
 */
static void hundreds_of_events(void)
{
	struct pt_peer peer;
	int fd[300], i;
	u8 *p;

	pt_pin(0);
	pt_peer_start(&peer);
	pt_settle();
	p = pt_fresh_pages(320);
	for (i = 0; i < 300; i++) {
		fd[i] = open_sw(i % 3 ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_PAGE_FAULTS_MIN);
		pt_enable(fd[i]);
		pt_touch(p + i * pt_page_size(), 1);
		if (i % 30 == 0)
			pt_peer_turn(&peer);
	}
	for (i = 0; i < 300; i += 7)
		close(fd[i]);
	for (i = 1; i < 300; i += 7)
		pt_disable(fd[i]);
	pt_peer_turn(&peer);
	pt_touch(p + 300 * pt_page_size(), 20);
	for (i = 0; i < 300; i++) {
		if (i % 7)
			pt_eq(pt_count(fd[i]), 300 - i + (i % 7 == 1 ? 0 : 20));
	}
	pt_peer_stop(&peer);
}

/* Task and CPU see the same fault, each through its own event. */
static void task_and_cpu_at_once(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int task, cpu, both;
	u64 before;

	pt_pin(0);
	task = pt_open(&attr, 0, -1, -1, 0);
	both = pt_open(&attr, 0, 0, -1, 0);
	cpu = pt_open(&attr, -1, 0, -1, 0);
	pt_reset(task);
	pt_reset(both);
	before = pt_count(cpu);
	pt_touch(pt_fresh_pages(40), 40);
	pt_eq(pt_count(task), 40);
	pt_eq(pt_count(both), 40);
	pt_check(pt_count(cpu) - before >= 40, "the CPU missed some");
}

/* A task's event ages with the task only. */
static void times_of_a_sleeper(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct pt_read a, b;
	struct pt_peer peer;
	int fd;

	attr.read_format = f;
	pt_pin(0);
	pt_peer_start(&peer);
	fd = pt_open(&attr, peer.pid, -1, -1, 0);
	pt_peer_turn(&peer);
	pt_peer_asleep(&peer);
	pt_read(fd, f, 1, &a);
	pt_burn(5000000);
	pt_switch_out();
	pt_read(fd, f, 1, &b);
	pt_eq(b.enabled, a.enabled);
	pt_eq(b.running, a.running);
	pt_peer_turn(&peer);
	pt_peer_asleep(&peer);
	pt_read(fd, f, 1, &b);
	pt_check(b.enabled > a.enabled, "it ran and no time passed");
	pt_eq(b.running, b.enabled);
	pt_peer_stop(&peer);
}

static void each_has_its_own_time(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct pt_read a, b;
	int early, late;
	u64 most;

	attr.read_format = f;
	attr.disabled = 1;
	pt_first_on_cpu(0);
	early = pt_open(&attr, 0, -1, -1, 0);
	late = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(early);
	pt_burn(5000000);
	most = pt_clock(CLOCK_MONOTONIC);
	pt_enable(late);
	pt_burn(2000000);
	pt_disable(early);
	pt_burn(1000000);
	pt_disable(late);
	most = pt_clock(CLOCK_MONOTONIC) - most;
	pt_read(early, f, 1, &a);
	pt_read(late, f, 1, &b);
	pt_check(a.enabled >= 7000000, "early %llu", (unsigned long long)a.enabled);
	pt_check(b.enabled >= 3000000 && b.enabled <= most, "late %llu of %llu",
		 (unsigned long long)b.enabled, (unsigned long long)most);
	pt_eq(a.running, a.enabled);
	pt_eq(b.running, b.enabled);
}

static void pinned_and_exclusive_software(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int pinned, exclusive, plain;

	attr.disabled = 1;
	plain = pt_open(&attr, 0, -1, -1, 0);
	attr.pinned = 1;
	pinned = pt_open(&attr, 0, -1, -1, 0);
	attr.pinned = 0;
	attr.exclusive = 1;
	exclusive = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(pinned);
	pt_enable(plain);
	pt_touch(pt_fresh_pages(5), 5);
	pt_eq(pt_count(pinned), 5);
	pt_eq(pt_count(plain), 5);
	pt_disable(pinned);
	pt_disable(plain);
	pt_enable(exclusive);
	pt_touch(pt_fresh_pages(6), 6);
	pt_eq(pt_count(exclusive), 6);
	pt_eq(pt_count(pinned), 5);
}

static void what_never_happens(void)
{
	int align = open_sw(PERF_COUNT_SW_ALIGNMENT_FAULTS);
	int emul = open_sw(PERF_COUNT_SW_EMULATION_FAULTS);

	pt_enable(align);
	pt_enable(emul);
	pt_fault(10);
	pt_eq(pt_count(align), 0);
	pt_eq(pt_count(emul), 0);
}

/* Switches are followed as long as one event is left, however long ago the others were closed. */
static void others_closed_long_ago(void)
{
	u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct timespec while_asleep = { .tv_sec = 3 };
	struct pt_read a, b;
	int fd;

	attr.read_format = f;
	fd = pt_open(&attr, 0, -1, -1, 0);
	close(pt_open(&attr, 0, -1, -1, 0));
	/* Nothing is waited for: who forgets them does so after one second, or two. */
	pt_eq(nanosleep(&while_asleep, NULL), 0);
	pt_read(fd, f, 1, &a);
	pt_burn(5000000);
	pt_read(fd, f, 1, &b);
	pt_check(b.running - a.running >= 4000000, "ran for %llu ns of 5000000",
		 (unsigned long long)(b.running - a.running));
}

static const struct pt_case cases[] = {
	{ "page_faults", page_faults },
	{ "faults_of_the_kernel", faults_of_the_kernel },
	{ "two_events_of_a_kind", two_events_of_a_kind },
	{ "context_switches", context_switches },
	{ "switches_of_a_sleeper", switches_of_a_sleeper },
	{ "migrations", migrations },
	{ "task_clock", task_clock },
	{ "cpu_clock", cpu_clock },
	{ "off_until_enabled", off_until_enabled },
	{ "dummy_stays_zero", dummy_stays_zero },
	{ "enabled_and_running", enabled_and_running },
	{ "times_of_a_sibling", times_of_a_sibling },
	{ "times_of_a_cpu_event", times_of_a_cpu_event },
	{ "other_task", other_task },
	{ "task_on_one_cpu", task_on_one_cpu },
	{ "cpu_wide_counts_everybody", cpu_wide_counts_everybody },
	{ "hundreds_of_events", hundreds_of_events },
	{ "task_and_cpu_at_once", task_and_cpu_at_once },
	{ "times_of_a_sleeper", times_of_a_sleeper },
	{ "others_closed_long_ago", others_closed_long_ago },
	{ "each_has_its_own_time", each_has_its_own_time },
	{ "pinned_and_exclusive_software", pinned_and_exclusive_software },
	{ "what_never_happens", what_never_happens },
};

PT_MAIN(cases)
