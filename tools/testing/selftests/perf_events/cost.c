// SPDX-License-Identifier: GPL-2.0
/*
 * cost.c - the PMU "perf_cost": interrupts of the PMU, switches, ticks, rotations, calls from other
 * CPUs and wakeups, each as often as it happened; and the time they took, where time is exact.
 *
 * needs: smp hw
 */
#include "lib/cgroup.h"
#include "lib/ext.h"
#include <signal.h>

#define GROUP		(PERF_FORMAT_GROUP | PERF_FORMAT_ID)
#define PERIOD		10007
#define MANY		24		/* more events than a CPU has counters */

static struct perf_event_attr cost(const char *name)
{
	struct perf_event_attr attr = ext_event("perf_cost", name);

	attr.disabled = 1;
	return attr;
}

/* Of CPU 0, where the case runs. */
static int open_cost(const char *name, int group)
{
	struct perf_event_attr attr = cost(name);

	attr.disabled = group < 0;
	attr.read_format = group < 0 ? GROUP : 0;
	return pt_open(&attr, -1, 0, group, 0);
}

/* A number and its time. */
struct work {
	u64 nr, ns;
};

static int begin(const char *number, const char *time)
{
	int fd;

	ext_need();
	pt_pin(0);
	fd = open_cost(number, -1);
	open_cost(time, fd);
	return fd;
}

static struct work end(int fd)
{
	struct pt_read r;

	pt_disable(fd);
	pt_read(fd, GROUP, 2, &r);
	return (struct work){ r.v[0].value, r.v[1].value };
}

/* ---- interrupts of the PMU ---- */

/* What the kernel has counted, on one CPU. */
static u64 interrupts(void)
{
	static char text[65536];
	char *at, *line;

	pt_need(pt_slurp("/proc/interrupts", text, sizeof(text)), "no /proc/interrupts");
	at = strstr(text, "arm-pmu") ?: strstr(text, "Performance monitoring");
	pt_need(at, "no interrupts of a PMU in /proc/interrupts");
	*at = 0;
	line = strrchr(text, '\n');
	return strtoull(strchr(line, ':') + 1, NULL, 10);
}

static int open_sampling(struct pt_ring *ring, pid_t pid)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	int fd;

	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	close(pt_open_hw(&attr, -1));
	attr.sample_period = PERIOD;
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(ring, fd, 64);
	return fd;
}

/* As many as there are samples. */
static void pmis(void)
{
	u64 irqs, alone, sampled, start, took;
	struct pt_ring ring;
	struct work w;
	int fd, hw, i;

	fd = begin("pmis", "pmi_time");
	hw = open_sampling(&ring, 0);
	if (!pt_time_is_exact())
		pt_skip("other CPUs share the time");
	/* The least is one that no tick came into. */
	for (i = 0, alone = UINT64_MAX; i < 8; i++) {
		start = pt_clock(CLOCK_MONOTONIC);
		pt_spin(500000);
		took = pt_clock(CLOCK_MONOTONIC) - start;
		alone = took < alone ? took : alone;
	}

	irqs = interrupts();
	pt_enable(fd);
	pt_enable(hw);
	start = pt_clock(CLOCK_MONOTONIC);
	pt_spin(500000);
	sampled = pt_clock(CLOCK_MONOTONIC) - start;
	pt_disable(hw);
	w = end(fd);
	pt_eq(interrupts() - irqs, w.nr);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), w.nr);
	pt_eq(w.nr, pt_count(hw) / PERIOD);
	pt_check(w.nr >= 99, "%llu interrupts", (unsigned long long)w.nr);
	pt_check(w.ns > 50 * w.nr, "%llu ns for %llu interrupts", (unsigned long long)w.ns,
		 (unsigned long long)w.nr);
	pt_check(alone + w.ns < sampled, "%llu ns of %llu, and %llu without",
		 (unsigned long long)w.ns, (unsigned long long)sampled, (unsigned long long)alone);
}

/* A task counts those that came while it was in. */
static void pmis_of_a_task(void)
{
	struct perf_event_attr attr;
	int fd, other, hw, gate[2];
	struct pt_ring ring;
	pid_t pid;
	u64 n;

	ext_need();
	pt_pin(0);
	pt_gate_make(gate);
	pt_in_child(pid) {
		pt_gate_wait(gate);
		pt_spin(500000);
	}
	attr = cost("pmis");
	attr.disabled = 0;
	fd = pt_open(&attr, pid, -1, -1, 0);
	other = pt_open(&attr, 0, -1, -1, 0);
	hw = open_sampling(&ring, pid);
	pt_enable(hw);
	pt_gate_open(gate);
	pt_reap(pid);
	n = pt_count_records(&ring, PERF_RECORD_SAMPLE);
	pt_check(n > 0, "no samples");
	pt_eq(pt_count(fd), n);
	pt_eq(pt_count(other), 0);
}

/* ---- the scheduler ---- */

static void switches(void)
{
	struct perf_event_attr cs = pt_attr(PT_SW(CONTEXT_SWITCHES)), dummy = pt_attr(PT_SW(DUMMY));
	struct pt_peer peer;
	struct pt_read r;
	int fd, i;

	ext_need();
	pt_pin(0);
	cs.disabled = 1;
	cs.read_format = GROUP;
	/* Without events of tasks there is nothing to do at a switch. */
	pt_open(&dummy, 0, -1, -1, 0);
	fd = pt_open(&cs, -1, 0, -1, 0);
	open_cost("switches", fd);
	open_cost("switch_time", fd);
	pt_peer_start(&peer);
	pt_enable(fd);
	for (i = 0; i < 100; i++)
		pt_peer_turn(&peer);
	pt_disable(fd);
	pt_read(fd, GROUP, 3, &r);
	pt_eq(r.v[1].value, r.v[0].value);
	pt_check(r.v[1].value >= 200, "%llu switches", (unsigned long long)r.v[1].value);
	if (pt_time_is_exact())
		pt_check(r.v[2].value > 100 * r.v[1].value, "%llu ns for %llu switches",
			 (unsigned long long)r.v[2].value, (unsigned long long)r.v[1].value);
	pt_peer_stop(&peer);
}

/* An event of the CPU has the time of both halves, one of the task that of coming in. */
static void both_halves_of_a_switch(void)
{
	struct perf_event_attr attr, clock = pt_attr(PT_SW(TASK_CLOCK));
	struct pt_peer peer;
	struct work w;
	int fd, own, i;
	u64 in;

	fd = begin("switches", "switch_time");
	if (!pt_time_is_exact())
		pt_skip("this machine does not count instructions exactly");
	/* Each is a timer that is stopped and started. */
	clock.sample_period = 1000000000;
	for (i = 0; i < 16; i++)
		pt_open(&clock, 0, -1, -1, 0);
	attr = cost("switch_time");
	attr.disabled = 0;
	own = pt_open(&attr, 0, -1, -1, 0);
	pt_peer_start(&peer);
	in = pt_count(own);
	pt_enable(fd);
	for (i = 0; i < 50; i++)
		pt_peer_turn(&peer);
	w = end(fd);
	in = pt_count(own) - in;
	pt_check(w.ns > in + in / 4, "%llu ns, %llu of them coming in", (unsigned long long)w.ns,
		 (unsigned long long)in);
	pt_peer_stop(&peer);
}

/* Of its own switches a task sees that it has come in. */
static void switches_of_a_task(void)
{
	struct perf_event_attr attr, cs = pt_attr(PT_SW(CONTEXT_SWITCHES));
	struct pt_peer peer;
	struct pt_read r;
	int fd, i;

	ext_need();
	pt_pin(0);
	cs.disabled = 1;
	cs.read_format = GROUP;
	fd = pt_open(&cs, 0, -1, -1, 0);
	/* In one group: there may be a switch between two calls. */
	attr = cost("switches");
	attr.disabled = 0;
	pt_open(&attr, 0, -1, fd, 0);
	pt_peer_start(&peer);
	pt_enable(fd);
	for (i = 0; i < 50; i++)
		pt_peer_turn(&peer);
	pt_disable(fd);
	pt_read(fd, GROUP, 2, &r);
	pt_check(r.v[1].value >= 50, "%llu switches", (unsigned long long)r.v[1].value);
	pt_eq(r.v[1].value, r.v[0].value);
	pt_peer_stop(&peer);
}

/* As many as the timer of the tick has expired. */
static void ticks(void)
{
	u64 handler = pt_kernel_symbol("tick_nohz_handler");
	struct perf_event_attr attr;
	struct pt_read r;
	char filter[64];
	int fd;

	ext_need();
	pt_pin(0);
	attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("timer", "hrtimer_expire_entry"));
	if (!handler)
		pt_skip("no tick_nohz_handler");
	snprintf(filter, sizeof(filter), "function == %#llx", (unsigned long long)handler);
	attr.disabled = 1;
	attr.read_format = GROUP;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, pt_addr(filter)), 0);
	open_cost("ticks", fd);
	open_cost("tick_time", fd);
	pt_enable(fd);
	pt_burn(100000000);
	pt_disable(fd);
	pt_read(fd, GROUP, 3, &r);
	pt_check(r.v[1].value >= 5, "%llu ticks", (unsigned long long)r.v[1].value);
	if (!r.v[0].value)
		pt_skip("the tick is no timer of high resolution here");
	pt_eq(r.v[1].value, r.v[0].value);
	if (pt_time_is_exact())
		pt_check(r.v[2].value >= 10 * r.v[1].value, "%llu ns",
			 (unsigned long long)r.v[2].value);
}

static void rotations(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	const u64 interval = 1000000ull * 4;
	int others[MANY], fd, i;
	struct work w;
	u64 start, ns;

	fd = begin("rotations", "rotate_time");
	attr.exclude_kernel = 1;
	close(pt_open_hw(&attr, -1));
	if (!pt_time_is_exact())
		pt_skip("other CPUs share the time");
	pt_enable(fd);
	pt_burn(10 * interval);
	w = end(fd);
	pt_eq(w.nr, 0);		/* nothing is multiplexed */
	pt_eq(w.ns, 0);
	for (i = 0; i < MANY; i++)
		others[i] = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	start = pt_clock(CLOCK_MONOTONIC);
	pt_burn(50 * interval);
	ns = pt_clock(CLOCK_MONOTONIC) - start;
	w = end(fd);
	pt_check(llabs((long long)(w.nr - ns / interval)) <= 1, "%llu rotations in %llu ns",
		 (unsigned long long)w.nr, (unsigned long long)ns);
	pt_check(w.ns > 100 * w.nr && w.ns < ns, "%llu ns", (unsigned long long)w.ns);
	/* When nobody waits any more, the timer looks once, and not again. */
	for (i = 0; i < MANY; i++)
		close(others[i]);
	pt_burn(2 * interval);
	pt_enable(fd);
	pt_burn(10 * interval);
	pt_eq(end(fd).nr, w.nr);
}

/* ---- other CPUs, and readers ---- */

/* Each read of what counts on another CPU is a call, and a read of these counts the one before. */
static void calls(void)
{
	struct perf_event_attr attr;
	u64 before;
	int fd, i;

	ext_need();
	if (pt_online_cpus() < 2)
		pt_skip("needs two CPUs");
	pt_pin(0);
	attr = cost("calls");
	attr.disabled = 0;
	fd = pt_open(&attr, -1, 1, -1, 0);
	attr = cost("ticks");
	attr.disabled = 0;
	i = pt_open(&attr, -1, 1, -1, 0);
	before = pt_count(fd);
	pt_count(i);
	pt_count(i);
	pt_eq(pt_count(fd) - before, 3);
	for (i = 0; i < 50; i++)
		pt_eq(pt_count(fd) - before, 4 + i);
}

static void run_on_cpu_1(void *ready)
{
	pt_pin(1);
	pt_need(write(*(int *)ready, "", 1) == 1, "write");
	for (;;)
		pt_spin(100000);
}

/* A task that runs elsewhere is not disturbed for events that count by themselves. */
static void no_calls(void)
{
	struct perf_event_attr attr, faults = pt_attr(PT_SW(PAGE_FAULTS));
	int fd, first, ready[2], i;
	u64 before;
	pid_t pid;
	char c;

	ext_need();
	if (pt_online_cpus() < 2)
		pt_skip("needs two CPUs");
	pt_pin(0);
	attr = cost("calls");
	attr.disabled = 0;
	fd = pt_open(&attr, -1, 1, -1, 0);
	pt_need(!pipe(ready), "pipe");
	pid = pt_fork(run_on_cpu_1, &ready[1]);
	pt_need(read(ready[0], &c, 1) == 1, "read");
	first = pt_open(&faults, pid, -1, -1, 0);	/* it lets the context in */
	before = pt_count(fd);
	for (i = 0; i < 10; i++) {
		int pf;

		faults.inherit = i & 1;
		pf = pt_open(&faults, pid, -1, -1, 0);
		pt_disable(pf);
		pt_enable(pf);
		pt_reset(pf);
		close(pf);
	}
	close(first);
	pt_eq(pt_count(fd) - before, 1);
	pt_kill(pid);
}

/* Nor by its moves from cgroup to cgroup, when nobody has events of these any more. */
static void no_calls_of_cgroups(void)
{
	const char *a = cg_make(""), *b = cg_make("/b");
	int fd, faults, ready[2], i;
	pid_t pid;
	char c;

	ext_need();
	if (pt_online_cpus() < 2)
		pt_skip("needs two CPUs");
	pt_pin(0);
	fd = pt_open_cross_calls("pe_cgroup_follow_current", 0);
	pt_need(!pipe(ready), "pipe");
	pid = pt_fork(run_on_cpu_1, &ready[1]);
	pt_need(read(ready[0], &c, 1) == 1, "read");
	faults = cg_faults(a, 0);
	pt_eq(cg_enter_path(a, pid), 0);
	pt_eq(pt_count(fd), 1);
	close(faults);
	for (i = 0; i < 10; i++)
		pt_eq(cg_enter_path(i % 2 ? a : b, pid), 0);
	pt_eq(pt_count(fd), 1);
	pt_kill(pid);
	cg_remove_all();
}

/* Each that fdinfo has: one for a sample, as there is somebody to signal. */
static void wakeups(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct pt_ring ring;
	struct work w;
	int fd, pf;

	fd = begin("wakeups", "wakeup_time");
	attr.disabled = 1;
	attr.sample_period = 1;
	attr.wakeup_events = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	pf = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, pf, 4);
	signal(SIGIO, SIG_IGN);
	pt_need(!fcntl(pf, F_SETOWN, getpid()), "F_SETOWN: %s", strerror(errno));
	pt_need(!fcntl(pf, F_SETFL, O_ASYNC), "F_SETFL: %s", strerror(errno));
	pt_settle();
	pt_enable(fd);
	pt_enable(pf);
	pt_fault(9);
	pt_disable(pf);
	w = end(fd);
	pt_eq(pt_count(pf), 9);
	pt_eq(w.nr, 9);
	if (pt_time_is_exact())
		pt_check(w.ns > 50 * w.nr, "%llu ns", (unsigned long long)w.ns);
}

/* ---- what it costs itself ---- */

/* The function that counts a tick is called while there is an event of whatever cost. */
static void free_while_nobody_asks(void)
{
	struct perf_event_attr attr;
	int fd, asks;
	u64 ticks;

	ext_need();
	if (pt_pmu_type("kprobe") < 0 || !pt_kernel_symbol("count_tick"))
		pt_skip("no probe in count_tick()");
	pt_pin(0);
	attr = pt_attr((u32)pt_pmu_type("kprobe"), 0);
	attr.kprobe_func = pt_addr("count_tick");
	fd = pt_open(&attr, -1, 0, -1, 0);
	asks = open_cost("pmis", -1);
	while (!pt_count(fd))
		pt_burn(1000000);
	close(asks);
	ticks = pt_count(fd);
	pt_burn(50000000);
	pt_eq(pt_count(fd), ticks);
}

/* ---- what there is, and what is refused ---- */

static void shown(void)
{
	static const char * const names[] = {
		"pmis", "pmi_time", "switches", "switch_time", "ticks", "tick_time",
		"rotations", "rotate_time", "calls", "call_time", "wakeups", "wakeup_time",
	};
	char file[64];
	unsigned int i;

	ext_need();
	ext_file_is("perf_cost", "format/event", "config:0-31");
	for (i = 0; i < PT_ARRAY_SIZE(names); i++) {
		pt_eq(ext_config("perf_cost", names[i]), i);
		snprintf(file, sizeof(file), "events/%s.unit", names[i]);
		ext_file_is("perf_cost", file, i % 2 ? "ns" : NULL);
	}
}

static void refused(void)
{
	struct perf_event_attr attr;

	ext_need();
	attr = cost("pmis");
	pt_eq(pt_probe(&attr), 0);
	attr.inherit = 1;
	pt_eq(pt_probe(&attr), 0);
	attr.exclude_kernel = 1;
	ext_refused(&attr, EINVAL, "attr.exclude_*: the kernel bears all of the cost");
	attr.exclude_kernel = 0;
	attr.config = 12;
	ext_refused(&attr, ENOENT, "attr.config: no such cost");
	attr.config = 1ull << 32;
	ext_refused(&attr, ENOENT, "attr.config: no such cost");
	attr.config = 0;
	attr.config2 = 1;
	ext_refused(&attr, EINVAL, "attr.config1, 2, 3: of no use with this PMU");
	attr.config2 = 0;
	attr.sample_period = 1;
	ext_refused(&attr, EOPNOTSUPP, "attr.sample_period: the PMU cannot interrupt");
	attr.sample_period = 0;
	pt_sysctl_set("perf_event_paranoid", 2);
	pt_become_nobody();
	ext_refused(&attr, EACCES, NULL);
}

static const struct pt_case cases[] = {
	{ "pmis", pmis },
	{ "pmis_of_a_task", pmis_of_a_task },
	{ "switches", switches },
	{ "both_halves_of_a_switch", both_halves_of_a_switch },
	{ "switches_of_a_task", switches_of_a_task },
	{ "ticks", ticks },
	{ "rotations", rotations },
	{ "calls", calls },
	{ "no_calls", no_calls },
	{ "no_calls_of_cgroups", no_calls_of_cgroups },
	{ "wakeups", wakeups },
	{ "free_while_nobody_asks", free_while_nobody_asks },
	{ "shown", shown },
	{ "refused", refused },
};

PT_MAIN(cases)
