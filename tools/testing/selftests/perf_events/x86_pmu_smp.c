// SPDX-License-Identifier: GPL-2.0
/*
 * x86_pmu_smp.c - the PMU of x86 on several CPUs: a CPU that goes offline leaves its counters off
 * and comes back as good as new; tasks that move take their counts along; a setting that reaches
 * every CPU. Skipped with one CPU.
 *
 * needs: hw-smp
 */
#include "lib/x86.h"

static void need_two(void)
{
	x86_need_pmu();
	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
}

static void online(int on)
{
	pt_eq(pt_write_file("/sys/devices/system/cpu/cpu1/online", on ? "1" : "0"), 0);
}

static void a_cpu_goes_and_comes(void)
{
	struct perf_event_attr attr = x86_general_cycles();
	int fd, i;

	need_two();
	attr.disabled = 0;
	attr.exclude_kernel = 0;
	for (i = 0; i < 3; i++) {
		u64 before;

		fd = pt_open(&attr, -1, 1, -1, 0);
		pt_check(x86_counters_on(1) > 0, "nothing counts on CPU 1");
		before = pt_count(fd);
		pt_pin(1);
		pt_spin(100000);
		pt_pin(0);
		pt_check(pt_count(fd) >= before + 200000, "it did not count");
		online(0);
		before = pt_count(fd);
		pt_spin(10000);
		pt_eq(pt_count(fd), before);
		online(1);
		close(fd);
		pt_eq(x86_counters_on(1), 0);
	}
}

/* A task whose CPU is taken away counts on elsewhere. */
static void a_task_is_driven_away(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	cpu_set_t all;
	int fd;

	need_two();
	x86_need_exact();
	fd = pt_open_hw(&attr, -1);
	pt_pin(1);
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), X86_SPIN_COST(1000));
	CPU_ZERO(&all);
	CPU_SET(0, &all);
	CPU_SET(1, &all);
	pt_need(!sched_setaffinity(0, sizeof(all), &all), "affinity: %s", strerror(errno));
	online(0);
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), 2 * X86_SPIN_COST(1000));
	online(1);
	pt_pin(1);
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), 3 * X86_SPIN_COST(1000));
	pt_eq(x86_counters_on(0) + x86_counters_on(1), 0);
}

static void samples_follow_the_task(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES);
	u64 cost = 0;
	struct pt_ring ring;
	int fd, i;

	need_two();
	x86_need_exact();
	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 16);
	for (i = 0; i < 10; i++) {
		pt_pin(i & 1);
		x86_measured_spin(fd, 25000);
		cost += X86_SPIN_COST(25000);
	}
	pt_eq(pt_count(fd), cost);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), cost / 10007);
}

static void to_cpu_1(void)
{
	pt_pin(1);
}

/* The setting holds at once, on every CPU. */
static void rdpmc_on_every_cpu(void)
{
	need_two();
	pt_eq(pt_write_file(X86_PMU "rdpmc", "2"), 0);
	pt_eq(x86_rdpmc_refused(0, NULL), false);
	pt_eq(x86_rdpmc_refused(0, to_cpu_1), false);
	pt_eq(pt_write_file(X86_PMU "rdpmc", "1"), 0);
	pt_eq(x86_rdpmc_refused(0, NULL), true);
	pt_eq(x86_rdpmc_refused(0, to_cpu_1), true);
}

static const struct pt_case cases[] = {
	{ "a_cpu_goes_and_comes", a_cpu_goes_and_comes },
	{ "a_task_is_driven_away", a_task_is_driven_away },
	{ "samples_follow_the_task", samples_follow_the_task },
	{ "rdpmc_on_every_cpu", rdpmc_on_every_cpu },
};

PT_MAIN(cases)
