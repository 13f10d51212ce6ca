// SPDX-License-Identifier: GPL-2.0
/*
 * breakpoint_wide.c - breakpoints of the kernel on all CPUs: every write is seen, on each CPU, and
 * nothing is left of them; also when a CPU has no room for one. arm64 steps over none that has a
 * handler of its own: there nothing is written.
 *
 * needs: smp
 */
#include "lib/ptest.h"
#include <linux/hw_breakpoint.h>

#define MODULE	"test_wide"

static u64 watched;

/* As many breakpoints of user space as there is room for on a CPU. */
static int fill(int cpu, int fds[16])
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_BREAKPOINT, 0);
	int n;

	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = pt_addr(&watched);
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	for (n = 0; n < 16; n++) {
		fds[n] = pt_try_open(&attr, -1, cpu, -1, 0);
		if (fds[n] < 0)
			break;
	}
	return n;
}

static int room(int cpu)
{
	int fds[16], n = fill(cpu, fds), i;

	for (i = 0; i < n; i++)
		close(fds[i]);
	return n;
}

static u64 touches(void)
{
#if defined(__aarch64__)
	return 0;
#else
	return pt_online_cpus();
#endif
}

static void touch_everywhere(void)
{
	int cpu;

	if (!touches())
		return;
	for (cpu = 0; cpu < pt_online_cpus(); cpu++) {
		pt_pin(cpu);
		pt_eq(pt_module_set(MODULE, "touched", 1), 0);
	}
}

static void load(void)
{
	pt_load_module(MODULE, NULL);
	pt_need(room(0) > 0, "no breakpoints");
}

static void seen_on_every_cpu(void)
{
	int before;

	load();
	before = room(0);
	touch_everywhere();
	pt_eq(pt_module_get(MODULE, "hits"), 0);
	pt_eq(pt_module_set(MODULE, "watched", 1), 0);
	touch_everywhere();
	touch_everywhere();
	pt_eq(pt_module_get(MODULE, "hits"), 2 * touches());
	pt_eq(room(0), before - 1);
	pt_eq(pt_module_set(MODULE, "watched", 0), 0);
	touch_everywhere();
	pt_eq(pt_module_get(MODULE, "hits"), 2 * touches());
	pt_eq(room(0), before);
}

/* The last CPU has none: those of the others go again. */
static void no_room(void)
{
	int last = pt_online_cpus() - 1;
	int fds[16], n, before;

	load();
	if (!last)
		pt_skip("one CPU only");
	before = room(0);
	n = fill(last, fds);
	pt_eq(pt_module_set(MODULE, "watched", 1), -ENOSPC);
	pt_eq(room(0), before);
	touch_everywhere();
	pt_eq(pt_module_get(MODULE, "hits"), 0);
	while (n--)
		close(fds[n]);
	pt_eq(pt_module_set(MODULE, "watched", 1), 0);
	touch_everywhere();
	pt_eq(pt_module_get(MODULE, "hits"), touches());
}

static long long percpu_memory(void)
{
	char text[4096], *at;

	pt_need(pt_slurp("/proc/meminfo", text, sizeof(text)), "no meminfo");
	at = strstr(text, "Percpu:");
	pt_need(at, "no Percpu");
	return atoll(at + strlen("Percpu:"));
}

/* 32,000 bytes for each CPU, if it were lost. */
static void memory_comes_back(void)
{
	long long before;

	load();
	pt_eq(pt_module_set(MODULE, "turns", 100), 0);
	before = percpu_memory();
	pt_eq(pt_module_set(MODULE, "turns", 4000), 0);
	pt_eq(percpu_memory(), before);
}

static const struct pt_case cases[] = {
	{ "seen_on_every_cpu", seen_on_every_cpu },
	{ "no_room", no_room },
	{ "memory_comes_back", memory_comes_back },
};

PT_MAIN(cases)
