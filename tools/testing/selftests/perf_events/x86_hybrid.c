// SPDX-License-Identifier: GPL-2.0
/*
 * x86_hybrid.c - a machine with two kinds of cores: a PMU for each, which counts a task while it is
 * on a CPU of its kind and stands still elsewhere; what belongs to whom, and what is refused.
 *
 * CPUs 0 and 1 of the emulated machine are big ones, 2 and 3 small.
 *
 * needs: hybrid
 */
#include "lib/x86.h"
#include <sys/klog.h>

#define DEVICES		"/sys/bus/event_source/devices/"
#define EXTENDED	32	/* PERF_PMU_TYPE_SHIFT: the PMU's type, in generic events */

enum kind { BIG, SMALL, KINDS };

static const struct {
	const char *name, *cpus;
	int cpu, general;
} kinds[KINDS] = { { "cpu_core", "0-1", 0, 8 }, { "cpu_atom", "2-3", 2, 6 } };

static u32 types[KINDS];

static void need_hybrid(void)
{
	int k, type;

	x86_need_exact();
	for (k = 0; k < KINDS; k++) {
		type = pt_pmu_type(kinds[k].name);
		if (type < 0)
			pt_skip("all cores are of one kind");
		types[k] = type;
	}
}

/* Instructions of user space, by that kind's PMU. */
static struct perf_event_attr instructions(int k)
{
	struct perf_event_attr attr = x86_hw(0);

	attr.type = types[k];
	attr.config = 0xc0;
	return attr;
}

static void each_kind_has_its_pmu(void)
{
	char path[64], text[64];
	int k;

	need_hybrid();
	pt_eq(pt_path_exists(DEVICES "cpu"), false);
	for (k = 0; k < KINDS; k++) {
		snprintf(path, sizeof(path), DEVICES "%s/cpus", kinds[k].name);
		pt_need(pt_slurp(path, text, sizeof(text)), "%s: %s", path, strerror(errno));
		pt_check(!strcmp(text, kinds[k].cpus), "%s: %s", kinds[k].name, text);
	}
	pt_check(pt_path_exists(DEVICES "cpu_core/events/slots"), "no slots");
	pt_check(!pt_path_exists(DEVICES "cpu_atom/events/slots"), "small cores have slots");
}

/* On its own CPUs each counts exactly, on the others not at all, and its time stands still. */
static void counts_where_it_runs(void)
{
	const u64 times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct pt_read r;
	int k, cpu, fd;

	need_hybrid();
	for (k = 0; k < KINDS; k++) {
		struct perf_event_attr attr = instructions(k);

		attr.read_format = times;
		fd = pt_open(&attr, 0, -1, -1, 0);
		for (cpu = 0; cpu < 4; cpu++) {
			bool here = cpu / 2 == k;
			u64 enabled, running;

			pt_pin(cpu);
			pt_read(fd, times, 1, &r);
			enabled = r.enabled;
			running = r.running;
			pt_reset(fd);
			x86_measured_spin(fd, 10000);
			pt_read(fd, times, 1, &r);
			pt_eq(r.v[0].value, here ? X86_SPIN_COST(10000) : 0);
			pt_check(r.enabled > enabled, "the event was not on");
			pt_eq(r.running - running, here ? r.enabled - enabled : 0);
		}
		close(fd);
	}
}

/* What a task does while it goes from kind to kind is in the one count or in the other. */
static void migrates(void)
{
	u64 before[KINDS], count;
	int fd[KINDS], k, i;

	need_hybrid();
	for (k = 0; k < KINDS; k++) {
		struct perf_event_attr attr = instructions(k);

		attr.disabled = 0;
		fd[k] = pt_open(&attr, 0, -1, -1, 0);
	}
	for (i = 0; i < 20; i++) {
		u64 least = 2 * (10000 + i);
		int on = i & 1;

		pt_pin(kinds[on].cpu + (i >> 1 & 1));
		for (k = 0; k < KINDS; k++)
			before[k] = pt_count(fd[k]);
		pt_spin(10000 + i);
		count = pt_count(fd[on]) - before[on];
		pt_check(count > least && count < least + 1000,
			 "%llu instructions on CPUs of %s", (unsigned long long)count,
			 kinds[on].name);
		pt_eq(pt_count(fd[!on]) - before[!on], 0);
	}
}

/* A generic event is of the big cores unless it names the PMU. */
static void generic_events(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int k, fd;

	need_hybrid();
	for (k = 0; k < KINDS; k++) {
		attr.config = PERF_COUNT_HW_INSTRUCTIONS | (u64)types[k] << EXTENDED;
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_pin(kinds[k].cpu);
		x86_measured_spin(fd, 1000);
		pt_eq(pt_count(fd), X86_SPIN_COST(1000));
		pt_pin(kinds[!k].cpu);
		x86_measured_spin(fd, 1000);
		pt_eq(pt_count(fd), X86_SPIN_COST(1000));
		close(fd);
	}
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_pin(kinds[SMALL].cpu);
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), 0);
	pt_pin(kinds[BIG].cpu);
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), X86_SPIN_COST(1000));
}

/* Events of a CPU are of its kind's PMU alone. */
static void events_of_cpus(void)
{
	int k, cpu, fd;

	need_hybrid();
	for (k = 0; k < KINDS; k++) {
		struct perf_event_attr attr = instructions(k);

		for (cpu = 0; cpu < 4; cpu++) {
			fd = pt_try_open(&attr, -1, cpu, -1, 0);
			if (cpu / 2 == k)
				pt_check(fd >= 0, "CPU %d, %s: %s", cpu, kinds[k].name,
					 strerror(-fd));
			else
				pt_eq(fd, -ENOENT);
			if (fd >= 0)
				close(fd);
		}
	}
}

/* How many events fit into one group is up to the kind; a group of both is none. */
static void groups(void)
{
	int k, fd[17], n;

	need_hybrid();
	for (k = 0; k < KINDS; k++) {
		struct perf_event_attr attr = instructions(k), other = instructions(!k);

		attr.config = 0x4f2e;	/* which only general counters count */
		fd[0] = pt_open(&attr, 0, -1, -1, 0);
		attr.disabled = 0;
		other.disabled = 0;
		pt_eq(pt_try_open(&other, 0, -1, fd[0], 0), -EINVAL);
		for (n = 1; n < 16; n++) {
			fd[n] = pt_try_open(&attr, 0, -1, fd[0], 0);
			if (fd[n] < 0)
				break;
		}
		pt_need(n == kinds[k].general, "%d events of %s", n, kinds[k].name);
		pt_eq(fd[n], -EINVAL);
		/* Instructions have a counter of their own beside these. */
		attr.config = 0xc0;
		fd[n++] = pt_open(&attr, 0, -1, fd[0], 0);
		while (n--)
			close(fd[n]);
	}
}

/* Interrupts, on either kind: each right after the instruction that overflowed. */
static void samples(void)
{
	const u64 period = 997, turns = 20000;
	struct pt_record rec;
	struct pt_sample s;
	struct pt_ring r;
	int k, fd;
	u64 n;

	need_hybrid();
	for (k = 0; k < KINDS; k++) {
		struct perf_event_attr attr = instructions(k);

		attr.sample_period = period;
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CPU;
		pt_pin(kinds[k].cpu);
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_map(&r, fd, 64);
		x86_measured_spin(fd, turns);
		for (n = 0; pt_next_of(&r, &rec, PERF_RECORD_SAMPLE) && !pt_failures();) {
			pt_parse_sample(&attr, &rec, &s);
			pt_eq(s.ip, x86_spin_ip(turns, ++n * period));
			pt_eq((int)s.cpu, kinds[k].cpu);
		}
		pt_eq(n, X86_SPIN_COST(turns) / period);
		pt_eq(pt_count(fd), X86_SPIN_COST(turns));
		pt_unmap(&r);
		close(fd);
	}
}

/* Slots and metrics are the big cores'. */
static void metrics(void)
{
	struct perf_event_attr attr;
	int fd, k;

	need_hybrid();
	for (k = 0; k < KINDS; k++) {
		attr = instructions(k);
		attr.config = 0x400;
		fd = pt_open(&attr, 0, -1, -1, 0);
		attr.config = 0x8000;
		attr.disabled = 0;
		if (k == BIG)
			pt_open(&attr, 0, -1, fd, 0);
		pt_pin(kinds[k].cpu);
		x86_measured_spin(fd, 1000);
		pt_eq(pt_count(fd), k == BIG ? 4 * X86_SPIN_COST(1000) : 0);
		close(fd);
	}
}

/* The last CPU of a kind goes, with events of a task on it, and comes back. */
static void a_kind_goes_offline(void)
{
	struct perf_event_attr attr;
	char text[64];
	int fd, cpu;

	need_hybrid();
	attr = instructions(SMALL);
	fd = pt_open(&attr, 0, -1, -1, 0);
	for (cpu = 2; cpu < 4; cpu++) {
		snprintf(text, sizeof(text), "/sys/devices/system/cpu/cpu%d/online", cpu);
		pt_eq(pt_write_file(text, "0"), 0);
	}
	pt_need(pt_slurp(DEVICES "cpu_atom/cpus", text, sizeof(text)), "no cpus");
	pt_check(!text[0], "CPUs %s", text);
	/* Nobody knows what such a CPU would have. */
	pt_eq(pt_probe(&attr), -ENOMEM);
	pt_pin(0);
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), 0);
	for (cpu = 2; cpu < 4; cpu++) {
		snprintf(text, sizeof(text), "/sys/devices/system/cpu/cpu%d/online", cpu);
		pt_eq(pt_write_file(text, "1"), 0);
	}
	pt_pin(3);
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), X86_SPIN_COST(1000));
}

/* What the kernel has said of the PMU of small cores. */
static int said(void)
{
	static char log[1 << 20];
	int n = klogctl(3, log, sizeof(log) - 1), times = 0;
	const char *at;

	pt_need(n >= 0, "klogctl: %s", strerror(errno));
	log[n] = 0;
	for (at = log; (at = strstr(at, "cpu_atom PMU driver:")); at++)
		times++;
	return times;
}

/* The first CPU of a kind finds out what the kind has; the others have it, too. */
static void second_of_a_kind_returns(void)
{
	const char *online = "/sys/devices/system/cpu/cpu3/online";
	int before;

	need_hybrid();
	before = said();
	pt_eq(pt_write_file(online, "0"), 0);
	pt_eq(pt_write_file(online, "1"), 0);
	pt_eq(said(), before);
}

static const struct pt_case cases[] = {
	{ "each_kind_has_its_pmu", each_kind_has_its_pmu },
	{ "counts_where_it_runs", counts_where_it_runs },
	{ "migrates", migrates },
	{ "generic_events", generic_events },
	{ "events_of_cpus", events_of_cpus },
	{ "groups", groups },
	{ "samples", samples },
	{ "metrics", metrics },
	{ "second_of_a_kind_returns", second_of_a_kind_returns },
	{ "a_kind_goes_offline", a_kind_goes_offline },
};

PT_MAIN(cases)
