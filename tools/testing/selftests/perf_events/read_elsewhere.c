// SPDX-License-Identifier: GPL-2.0
/*
 * read_elsewhere.c - on which CPU a counter is read: where its event counts, or where the reader
 * is, if the hardware can be read from there. The test PMU has hits for each CPU, so the count
 * shows where it was read. And that none is read for an event that has none.
 *
 * needs: smp
 */
#include "lib/cpus.h"
#include "lib/test_count.h"

static void of_each_cpu(void)
{
	struct perf_event_attr attr;
	int cpu, fd;

	need_cpus(2);
	for (cpu = 0; cpu < 2; cpu++) {
		load(NULL);
		attr = hits();
		fd = pt_open(&attr, -1, cpu, -1, 0);
		hit_on(cpu, 5);
		hit_on(!cpu, 100);
		pt_pin(!cpu);
		pt_eq(pt_count(fd), 5);
		pt_pin(cpu);
		pt_eq(pt_count(fd), 5);
		close(fd);
		pt_eq(pt_unload_module(MODULE), 0);
	}
}

/* It is in on the other CPU all the time, but for what interrupts it there. */
static void of_a_running_task(void)
{
	struct perf_event_attr attr;
	int go[2], done[2], fd, i;
	pid_t pid;

	need_cpus(2);
	load(NULL);
	pt_gate_make(go);
	pt_gate_make(done);
	pt_in_child(pid) {
		pt_pin(1);
		pt_gate_wait(go);
		hit(7);
		pt_gate_open(done);
		for (;;)
			pt_spin(1000);
	}
	attr = hits();
	fd = pt_open(&attr, pid, -1, -1, 0);
	hit_on(0, 100);
	pt_gate_open(go);
	pt_gate_wait(done);
	for (i = 0; i < 10 && !pt_failures(); i++)
		pt_eq(pt_count(fd), 7);
	pt_kill(pid);
}

/* What a CPU reads of an event of another one, where there were 5 hits, and 100 on its own. */
static void read_of_a_scope(const char *params, u64 want)
{
	struct perf_event_attr attr;
	int cpu, fd;

	for (cpu = 0; cpu < 2; cpu++) {
		load(params);
		attr = hits();
		fd = pt_open(&attr, -1, cpu, -1, 0);
		hit_on(cpu, 5);
		hit_on(!cpu, 100);
		pt_pin(!cpu);
		pt_eq(pt_count(fd), want);
		close(fd);
		pt_eq(pt_unload_module(MODULE), 0);
	}
}

static void of_another_core(void)
{
	need_cpus(2);
	if (pt_read_number("/sys/devices/system/cpu/cpu1/topology/core_cpus", -1) != 2)
		pt_skip("cores of several CPUs");
	read_of_a_scope("scope=1 task=0", 5);
}

static void of_the_system(void)
{
	need_cpus(2);
	read_of_a_scope("scope=5 task=0", 100);
}

/* What the leader of a group has counted, by a read on another CPU. */
static u64 leader_of_a_group(u64 format)
{
	struct perf_event_attr attr, member = pt_attr(PT_SW(DUMMY));
	u64 v[3] = {};
	int fd;

	load("scope=5 task=0");
	attr = hits();
	attr.read_format = format;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_open(&member, -1, 0, fd, 0);
	hit_on(0, 5);
	hit_on(1, 100);
	pt_pin(1);
	pt_eq(read(fd, v, sizeof(v)), format ? 24 : 8);
	return v[format ? 1 : 0];
}

/* A member that cannot be read here keeps the leader from it when both are to be read. */
static void of_the_system_in_a_group(void)
{
	need_cpus(2);
	if (pt_is_stock())
		pt_skip("Linux 6.12 asks the leader alone");
	pt_eq(leader_of_a_group(PERF_FORMAT_GROUP), 5);
}

/* But not when the leader alone is. */
static void of_the_system_leading(void)
{
	need_cpus(2);
	pt_eq(leader_of_a_group(0), 100);
}

/* What has left its counter is told, and set back, without the PMU. */
static void off_its_counter(void)
{
	struct perf_event_attr attr;
	int fd;

	load(NULL);
	attr = hits();
	fd = pt_open(&attr, 0, -1, -1, 0);
	hit(3);
	pt_disable(fd);
	pt_eq(pt_count(fd), 3);
	pt_reset(fd);
	pt_eq(pt_count(fd), 0);
	pt_eq(pt_module_get(MODULE, "idle_reads"), 0);
	close(fd);
	none_left();
}

static const struct pt_case cases[] = {
	{ "of_each_cpu", of_each_cpu },
	{ "of_a_running_task", of_a_running_task },
	{ "of_another_core", of_another_core },
	{ "of_the_system", of_the_system },
	{ "of_the_system_in_a_group", of_the_system_in_a_group },
	{ "of_the_system_leading", of_the_system_leading },
	{ "off_its_counter", off_its_counter },
};

PT_MAIN(cases)
