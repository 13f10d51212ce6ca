// SPDX-License-Identifier: GPL-2.0
/*
 * x86_tfa.c - TSX_FORCE_ABORT: the microcode has counter 3 unless a bit in a register makes
 * transactions abort. It is set while an event has that counter and at no other time, and with
 * allow_tsx_force_abort at 0 no event has it.
 *
 * On the emulated PMU the counter does not count while it is taken. Its value is overwritten when
 * it is let count nevertheless, and when the bit is cleared.
 *
 * needs: tfa
 */
#include "lib/x86.h"

#define ALLOW		X86_PMU "allow_tsx_force_abort"
#define FORCE_ABORT	0x10f
#define COUNTERS	4
#define TAKEN		3		/* the counter in question */
#define TIMES		(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static void allow(const char *text)
{
	pt_eq(pt_write_file(ALLOW, text), 0);
}

static void need_tfa(void)
{
	x86_need_exact();
	if (!pt_path_exists(ALLOW))
		pt_skip("the CPU has no TSX_FORCE_ABORT");
	pt_eq(x86_general(), COUNTERS);
	allow("1");
}

/* A count that only general counters can have, the next one that is free. */
static int open_count(int group)
{
	struct perf_event_attr attr = x86_general_cycles();

	attr.read_format = TIMES;
	attr.disabled = group < 0;
	return pt_open_hw(&attr, group);
}

static u64 register_of(int cpu)
{
	char path[32];
	u64 v = ~0ull;
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	pt_need(fd >= 0, "%s: %s", path, strerror(errno));
	pt_eq(pread(fd, &v, sizeof(v), FORCE_ABORT), sizeof(v));
	close(fd);
	return v;
}

static void set_while_it_is_used(void)
{
	int fd[COUNTERS], i;

	need_tfa();
	pt_eq(x86_rdmsr(FORCE_ABORT), 0);
	for (i = 0; i < COUNTERS; i++) {
		fd[i] = open_count(-1);
		pt_eq(x86_rdmsr(FORCE_ABORT), 0);
	}
	for (i = 0; i < COUNTERS; i++) {
		pt_enable(fd[i]);
		pt_eq(x86_rdmsr(FORCE_ABORT), i == TAKEN);
	}
	/* whether others go or not */
	pt_disable(fd[0]);
	pt_eq(x86_rdmsr(FORCE_ABORT), 1);
	pt_enable(fd[0]);
	pt_eq(x86_rdmsr(FORCE_ABORT), 1);
	pt_disable(fd[TAKEN]);
	pt_eq(x86_rdmsr(FORCE_ABORT), 0);
	pt_enable(fd[TAKEN]);
	pt_eq(x86_rdmsr(FORCE_ABORT), 1);
	close(fd[TAKEN]);
	pt_eq(x86_rdmsr(FORCE_ABORT), 0);
	for (i = 0; i < TAKEN; i++)
		close(fd[i]);
	pt_eq(x86_rdmsr(FORCE_ABORT), 0);
}

/* The last event to go is the one that has the counter. */
static void cleared_by_the_last(void)
{
	int fd[COUNTERS], i;

	need_tfa();
	for (i = 0; i < COUNTERS; i++) {
		fd[i] = open_count(-1);
		pt_enable(fd[i]);
	}
	for (i = 0; i < COUNTERS; i++) {
		pt_eq(x86_rdmsr(FORCE_ABORT), 1);
		close(fd[i]);
	}
	pt_eq(x86_rdmsr(FORCE_ABORT), 0);
	pt_eq(x86_counters_on(0), 0);
}

/* The counter counts like the others, again and again. */
static void exact_counts(void)
{
	static const u64 turns[] = { 1, 2, 1000, 100000 };
	unsigned int i, j;
	int fd[COUNTERS];

	need_tfa();
	for (i = 0; i < COUNTERS; i++)
		fd[i] = open_count(i ? fd[0] : -1);
	for (j = 0; j < PT_ARRAY_SIZE(turns); j++) {
		pt_eq(pt_ioctl(fd[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), 0);
		x86_measured_spin(fd[0], turns[j]);
		for (i = 0; i < COUNTERS; i++)
			pt_eq(pt_count(fd[i]), X86_SPIN_COST(turns[j]));
		pt_eq(x86_rdmsr(FORCE_ABORT), 0);
	}
}

/* The register is the CPU's and follows the task; the count stays exact. */
static void another_task(void)
{
	int to[2], back[2], fd[COUNTERS], i;
	u64 count;
	pid_t pid;

	need_tfa();
	pt_gate_make(to);
	pt_gate_make(back);
	pt_in_child(pid) {
		for (i = 0; i < 20; i++) {
			pt_gate_wait(to);
			pt_eq(x86_rdmsr(FORCE_ABORT), 0);
			pt_gate_open(back);
		}
	}
	for (i = 0; i < COUNTERS; i++)
		fd[i] = open_count(i ? fd[0] : -1);
	pt_enable(fd[0]);
	for (i = 0; i < 20; i++) {
		pt_eq(x86_rdmsr(FORCE_ABORT), 1);
		pt_gate_open(to);
		pt_gate_wait(back);
	}
	pt_disable(fd[0]);
	pt_reap(pid);
	count = pt_count(fd[0]);
	pt_check(count > 1000, "%llu instructions", (unsigned long long)count);
	for (i = 1; i < COUNTERS; i++)
		pt_eq(pt_count(fd[i]), count);
}

/* Each right after the instruction that overflowed the counter. */
static void samples(void)
{
	const u64 period = 997, turns = 20000;
	struct perf_event_attr attr = x86_general_cycles();
	int i, fd;
	struct pt_record rec;
	struct pt_sample s;
	struct pt_ring r;
	u64 n = 0;

	need_tfa();
	for (i = 0; i < TAKEN; i++)
		pt_enable(open_count(-1));
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 64);
	x86_measured_spin(fd, turns);
	while (pt_next_of(&r, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.ip, x86_spin_ip(turns, ++n * period));
	}
	pt_eq(n, X86_SPIN_COST(turns) / period);
	pt_eq(pt_count(fd), X86_SPIN_COST(turns));
	pt_enable(fd);
	pt_eq(r.page->index, TAKEN + 1);
	pt_eq(x86_rdmsr(FORCE_ABORT), 1);
}

/* How many of these fit into a group? */
static int group_size(void)
{
	struct perf_event_attr attr = x86_general_cycles();
	int fd[2 * COUNTERS], n = 0, i;

	while (n < 2 * COUNTERS) {
		attr.disabled = !n;
		fd[n] = pt_try_open(&attr, 0, -1, n ? fd[0] : -1, 0);
		if (fd[n] < 0)
			break;
		n++;
	}
	pt_need(n < 2 * COUNTERS, "there is no end");
	pt_eq(fd[n], -EINVAL);
	for (i = 0; i < n; i++)
		close(fd[i]);
	return n;
}

/* Without the counter three events count at a time, and the fourth when its turn comes. */
static void not_allowed(void)
{
	int fd[COUNTERS], i, j;
	struct pt_read r;
	u64 running = 0;

	need_tfa();
	pt_eq(group_size(), COUNTERS);
	allow("0");
	pt_eq(group_size(), COUNTERS - 1);
	for (i = 0; i < COUNTERS; i++) {
		fd[i] = open_count(-1);
		pt_enable(fd[i]);
	}
	for (j = 0; j < 40; j++) {
		pt_spin(1000000);
		pt_eq(x86_rdmsr(FORCE_ABORT), 0);
		pt_eq(x86_rdmsr(X86_PERFEVTSEL0 + TAKEN) >> 22 & 1, 0);
	}
	pt_eq(x86_counters_on(0), COUNTERS - 1);
	for (i = 0; i < COUNTERS; i++) {
		pt_read(fd[i], TIMES, 1, &r);
		pt_check(r.running && r.running < r.enabled, "event %d: %llu of %llu", i,
			 (unsigned long long)r.running, (unsigned long long)r.enabled);
		running += r.running;
	}
	pt_check(running < r.enabled * COUNTERS, "the counter was used");
	for (i = 0; i < COUNTERS; i++)
		close(fd[i]);
	allow("1");
	pt_eq(group_size(), COUNTERS);
}

/* The event that has the counter leaves it at once, and one gets it when that is allowed again. */
static void not_allowed_any_more(void)
{
	struct pt_read before, after;
	int fd[COUNTERS], i, round;

	need_tfa();
	for (i = 0; i < COUNTERS; i++) {
		fd[i] = open_count(-1);
		pt_enable(fd[i]);
	}
	for (round = 0; round < 3; round++) {
		pt_eq(x86_rdmsr(FORCE_ABORT), 1);
		allow("0");
		pt_eq(x86_rdmsr(FORCE_ABORT), 0);
		pt_eq(x86_rdmsr(X86_PERFEVTSEL0 + TAKEN) >> 22 & 1, 0);
		pt_eq(x86_counters_on(0), COUNTERS - 1);
		allow("1");
		/* until the one that waits is tried the next time */
		pt_spin(10000000);
	}
	for (i = 0; i < COUNTERS; i++) {
		pt_read(fd[i], TIMES, 1, &before);
		pt_spin(5000000);
		pt_read(fd[i], TIMES, 1, &after);
		pt_eq(after.running - before.running, after.enabled - before.enabled);
	}
}

/* Nor is an event moved there that had another one when it was allowed still. */
static void nobody_gets_it_later(void)
{
	int fd[COUNTERS], i;

	need_tfa();
	fd[0] = open_count(-1);
	pt_enable(fd[0]);
	allow("0");
	for (i = 1; i < COUNTERS; i++) {
		fd[i] = open_count(-1);
		pt_enable(fd[i]);
	}
	for (i = 0; i < 20; i++) {
		pt_eq(x86_rdmsr(FORCE_ABORT), 0);
		pt_eq(x86_counters_on(0), COUNTERS - 1);
		pt_spin(1000000);
	}
}

/* A single event that has another counter is left alone; nothing of its count is lost. */
static void others_stay(void)
{
	int fd;

	need_tfa();
	fd = open_count(-1);
	x86_measured_spin(fd, 1000);
	allow("0");
	x86_measured_spin(fd, 1000);
	allow("1");
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), 3 * X86_SPIN_COST(1000));
}

static void the_file(void)
{
	static const char * const bad[] = { "2", "x", "-1" };
	unsigned int i;

	need_tfa();
	for (i = 0; i < PT_ARRAY_SIZE(bad); i++)
		pt_eq(pt_write_file(ALLOW, bad[i]), -EINVAL);
	pt_eq(pt_read_number(ALLOW, -1), 1);
	allow("0");
	pt_eq(pt_read_number(ALLOW, -1), 0);
	allow("1");
	pt_eq(pt_read_number(ALLOW, -1), 1);
}

/* A CPU that goes away with the counter in use comes back without. */
static void a_cpu_goes_and_comes(void)
{
	struct perf_event_attr attr = x86_general_cycles();
	int fd[COUNTERS], i, round;

	need_tfa();
	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
	attr.disabled = 0;
	for (round = 0; round < 2; round++) {
		for (i = 0; i < COUNTERS; i++)
			fd[i] = pt_open(&attr, -1, 1, -1, 0);
		pt_eq(register_of(1), 1);
		pt_eq(register_of(0), 0);
		pt_eq(pt_write_file("/sys/devices/system/cpu/cpu1/online", "0"), 0);
		pt_eq(pt_write_file("/sys/devices/system/cpu/cpu1/online", "1"), 0);
		pt_eq(register_of(1), 0);
		for (i = 0; i < COUNTERS; i++)
			close(fd[i]);
	}
}

static const struct pt_case cases[] = {
	{ "set_while_it_is_used", set_while_it_is_used },
	{ "cleared_by_the_last", cleared_by_the_last },
	{ "exact_counts", exact_counts },
	{ "another_task", another_task },
	{ "samples", samples },
	{ "not_allowed", not_allowed },
	{ "not_allowed_any_more", not_allowed_any_more },
	{ "nobody_gets_it_later", nobody_gets_it_later },
	{ "others_stay", others_stay },
	{ "the_file", the_file },
	{ "a_cpu_goes_and_comes", a_cpu_goes_and_comes },
};

PT_MAIN(cases)
