/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cpus.h - CPUs that go offline and come back, and work that is done on one of them.
 */
#ifndef PTEST_CPUS_H
#define PTEST_CPUS_H

#include "ptest.h"

#define CPU_ONLINE	"/sys/devices/system/cpu/cpu%d/online"

/* 0 or -errno */
static inline int set_online(int cpu, int on)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_ONLINE, cpu);
	return pt_write_file(path, on ? "1" : "0");
}

/* Every CPU online; the case runs on CPU 0. */
static inline void need_cpus(int nr)
{
	char path[128];
	int cpu;

	for (cpu = 1; cpu < nr; cpu++) {
		snprintf(path, sizeof(path), CPU_ONLINE, cpu);
		if (!pt_path_exists(path))
			pt_skip("needs %d CPUs that can go offline", nr);
		if (!pt_read_number(path, 0))
			pt_eq(set_online(cpu, 1), 0);
	}
	pt_pin(0);
}

static inline void fault_on(int cpu, unsigned int nr)
{
	u8 *p = pt_fresh_pages(nr);

	pt_pin(cpu);
	pt_touch(p, nr);
	pt_pin(0);
}

/* Hits of the PMU of pmu/test_count.c. */
static inline void hit_on(int cpu, u64 n)
{
	pt_pin(cpu);
	pt_eq(pt_module_set("test_count", "hit", (long long)n), 0);
	pt_pin(0);
}

#endif /* PTEST_CPUS_H */
