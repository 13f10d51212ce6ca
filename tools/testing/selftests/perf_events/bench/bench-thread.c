// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that is created, exits and is joined while a profiler has opened eight sampling events
 * for each possible CPU. Only measured when asked for (bench cpus).
 *
 * The possible CPUs are those of the machine, of which one may run: an event of a task can be
 * opened for the others, too.
 */
#include "bench.h"
#include <pthread.h>

static int hardware_like(struct perf_event_attr a, unsigned int cpu)
{
	a.type = PERF_TYPE_HARDWARE;
	a.config = PERF_COUNT_HW_CPU_CYCLES;
	return event_add(&a, 0, cpu);
}

/* Eight events for each of some CPUs, half of them of hardware, if there is a PMU. */
bool profiled(unsigned int nr_cpus)
{
	struct perf_event_attr a;
	unsigned int cpu, i;
	int fd;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		for (i = 0; i < 8; i++) {
			software_kind(&a, i);
			a.sample_period = 1ull << 40;
			a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
			attr_bits(&a, BIT_INHERIT);
			fd = i < 4 ? -1 : hardware_like(a, cpu);
			if (fd < 0 && event_add(&a, 0, cpu) < 0)
				return false;
		}
	}
	return true;
}

static void *nothing(void *unused)
{
	return unused;
}

void run_thread(unsigned int n)
{
	pthread_t thread;

	while (n--)
		if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
			die("thread");
}

static double least_thread(unsigned int n)
{
	return least_time(run_thread, n);
}

/* ---- against the number of possible CPUs ---- */

static unsigned int possible_cpus(void)
{
	char text[64] = "", *last;
	int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		die("/sys/devices/system/cpu/possible");
	close(fd);
	last = strrchr(text, '-');
	return strtoul(last ? last + 1 : text, NULL, 10) + 1;
}

static bool on_possible(unsigned int unused)
{
	(void)unused;
	return profiled(possible_cpus());
}

const struct row thread_rows[] = {
	{ "cpus: thread, no event", .n = 50, .measure = least_thread },
	{ "cpus: thread, 8 sampling events for each", on_possible, .n = 50,
	  .measure = least_thread },
	{ }
};
