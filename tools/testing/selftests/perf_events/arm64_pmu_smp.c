// SPDX-License-Identifier: GPL-2.0
/*
 * arm64_pmu_smp.c - arm64's PMU on CPUs that go offline and come back, and tasks that move among
 * them. Needs four CPUs (scripts/kselftest --smp 4).
 *
 * needs: smp pmuv3
 */
#include "lib/arm64.h"

#define MODULE	"test_arm64"
#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define CPUS	4

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static int set_online(int cpu, int on)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return pt_write_file(path, on ? "1" : "0");
}

static void need_cpus(void)
{
	int cpu;

	a64_need_pmu();
	if (sysconf(_SC_NPROCESSORS_CONF) < CPUS)
		pt_skip("needs %d CPUs", CPUS);
	/* A case before this one may have ended early. */
	for (cpu = 1; cpu < CPUS; cpu++)
		set_online(cpu, 1);
	pt_need(pt_online_cpus() == CPUS, "%d CPUs are online", pt_online_cpus());
	pt_pin(0);
	pt_load_module(MODULE, NULL);
}

static u64 reg_on(int cpu, const char *name)
{
	u64 v;

	pt_pin(cpu);
	v = (u64)pt_module_get(MODULE, name);
	pt_pin(0);
	return v;
}

/* With the PMU as a whole off, it does not matter which counters are on. */
static u64 counting(void)
{
	return pt_module_get(MODULE, "pmcr") & 1 ? (u64)pt_module_get(MODULE, "pmcntenset") : 0;
}

static u64 counting_on(int cpu)
{
	u64 v;

	pt_pin(cpu);
	v = counting();
	pt_pin(0);
	return v;
}

static void spin_on(int cpu)
{
	pt_pin(cpu);
	pt_spin(100000);
	pt_pin(0);
}

/* Nothing is enabled on any CPU when nobody counts. */
static void all_quiet(void)
{
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		pt_eq(counting_on(cpu), 0);
		pt_eq(reg_on(cpu, "pmovsset") & reg_on(cpu, "pmintenset"), 0);
		pt_eq(reg_on(cpu, "pmuserenr"), 0);
	}
}

/* A task that goes round takes its counter along and leaves nothing behind. */
static void task_goes_round(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	u64 last = 0, now;
	int fd, i;

	need_cpus();
	attr.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	for (i = 0; i < 3 * CPUS; i++) {
		int cpu = i % CPUS, other;

		pt_pin(cpu);
		pt_spin(10000);
		now = pt_count(fd);
		pt_check(now > last, "CPU %d: %llu after %llu", cpu, (unsigned long long)now,
			 (unsigned long long)last);
		last = now;
		pt_eq(counting(), 1u << 31);
		/* Seen by somebody who has no events. */
		for (other = 0; other < CPUS; other++) {
			pid_t pid;

			if (other == cpu)
				continue;
			pt_in_child(pid) {
				pt_pin(other);
				_exit(counting() != 0);
			}
			pt_reap(pid);
		}
	}
	close(fd);
	all_quiet();
}

static void cpu_goes_and_comes(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	int cpu, before, after;
	struct pt_read r, again;

	need_cpus();
	attr.disabled = 0;
	attr.read_format = TIMES;
	for (cpu = 1; cpu < CPUS; cpu++) {
		before = pt_open(&attr, -1, cpu, -1, 0);
		spin_on(cpu);
		pt_check(pt_count(before) > 0, "CPU %d does not count", cpu);
		pt_eq(set_online(cpu, 0), 0);
		pt_read(before, TIMES, 1, &r);
		pt_eq(set_online(cpu, 1), 0);
		/* What it left has stopped for good, and its counter is free again. */
		spin_on(cpu);
		pt_read(before, TIMES, 1, &again);
		pt_eq(again.v[0].value, r.v[0].value);
		pt_eq(again.running, r.running);
		pt_eq(counting_on(cpu), 0);
		after = pt_open(&attr, -1, cpu, -1, 0);
		pt_eq(counting_on(cpu), 1u << 31);
		spin_on(cpu);
		pt_check(pt_count(after) > 0, "CPU %d does not count again", cpu);
		close(after);
		close(before);
	}
	all_quiet();
}

/* The registers of a CPU that comes online are whatever they are: the driver resets them. */
static void reset_at_online(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	int cpu, fd, i;

	need_cpus();
	attr.disabled = 0;
	for (i = 0; i < 3; i++) {
		for (cpu = 1; cpu < CPUS; cpu++) {
			fd = pt_open(&attr, -1, cpu, -1, 0);
			pt_eq(set_online(cpu, 0), 0);
			close(fd);
			pt_eq(set_online(cpu, 1), 0);
			/* LC, and where there are 64 bits LP */
			pt_check(reg_on(cpu, "pmcr") >> 6 & 1, "CPU %d: PMCR %#llx", cpu,
				 (unsigned long long)reg_on(cpu, "pmcr"));
			pt_eq(reg_on(cpu, "pmcr") & 0xc0, reg_on(0, "pmcr") & 0xc0);
		}
		all_quiet();
	}
}

static void samples_from_every_cpu(void)
{
	struct perf_event_attr attr = a64_cycles(100003);
	int cpu, fd, round;

	need_cpus();
	attr.disabled = 0;
	for (round = 0; round < 2; round++) {
		for (cpu = 0; cpu < CPUS; cpu++) {
			unsigned int n = 0;

			fd = pt_open(&attr, -1, cpu, -1, 0);
			pt_map(&ring, fd, 64);
			pt_pin(cpu);
			while (!n) {
				pt_spin(1000000);
				while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
					pt_parse_sample(&attr, &rec, &s);
					pt_eq(s.cpu, cpu);
					n++;
				}
			}
			pt_pin(0);
			pt_unmap(&ring);
			close(fd);
			/* The second round: interrupts that were taken away and given back. */
			if (cpu && !round) {
				pt_eq(set_online(cpu, 0), 0);
				pt_eq(set_online(cpu, 1), 0);
			}
		}
	}
	all_quiet();
}

/* Only this CPU counts, or none. */
static void only_counts(int wanted)
{
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		pt_eq(counting_on(cpu), cpu == wanted ? 1u << 31 : 0);
}

/* What is asked for on one CPU happens on the one that the event is for. */
static void asked_from_every_cpu(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	int from, cpu, fd;

	need_cpus();
	attr.disabled = 0;
	for (from = 0; from < CPUS; from++) {
		for (cpu = 0; cpu < CPUS; cpu++) {
			pt_pin(from);
			fd = pt_open(&attr, -1, cpu, -1, 0);
			only_counts(cpu);
			pt_pin(from);
			pt_disable(fd);
			only_counts(-1);
			pt_pin(from);
			pt_enable(fd);
			only_counts(cpu);
			pt_pin(from);
			close(fd);
			only_counts(-1);
		}
	}
}

static void user_access_on_every_cpu(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	int cpu, fd;

	need_cpus();
	pt_sysctl_set("perf_user_access", 1);
	attr.disabled = 0;
	attr.config1 = A64_USER_READ;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 0);
	for (cpu = 0; cpu < CPUS; cpu++) {
		pt_pin(cpu);
		pt_eq(ring.page->index, 32);
		pt_eq(pt_module_get(MODULE, "pmuserenr"), 0xc);
	}
	/* Taken back everywhere at once. */
	pt_sysctl_set("perf_user_access", 0);
	pt_eq(pt_module_get(MODULE, "pmuserenr"), 0);
	for (cpu = 0; cpu < CPUS; cpu++) {
		pt_pin(cpu);
		pt_eq(pt_module_get(MODULE, "pmuserenr"), 0);
		pt_eq(ring.page->index, 0);
	}
}

static void task_survives_its_cpu(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	cpu_set_t set;
	int fd, cpu;
	u64 n;

	need_cpus();
	attr.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	for (cpu = 1; cpu < CPUS; cpu++) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		CPU_SET(0, &set);
		pt_pin(cpu);
		pt_need(!sched_setaffinity(0, sizeof(set), &set), "affinity: %s", strerror(errno));
		n = pt_count(fd);
		pt_eq(set_online(cpu, 0), 0);
		pt_spin(100000);
		pt_check(pt_count(fd) > n + 10000, "it stopped with CPU %d", cpu);
		pt_eq(counting(), 1u << 31);
		pt_eq(set_online(cpu, 1), 0);
	}
	close(fd);
	all_quiet();
}

static const struct pt_case cases[] = {
	{ "task_goes_round", task_goes_round },
	{ "cpu_goes_and_comes", cpu_goes_and_comes },
	{ "reset_at_online", reset_at_online },
	{ "samples_from_every_cpu", samples_from_every_cpu },
	{ "asked_from_every_cpu", asked_from_every_cpu },
	{ "user_access_on_every_cpu", user_access_on_every_cpu },
	{ "task_survives_its_cpu", task_survives_its_cpu },
};

PT_MAIN(cases)
