// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that is created, exits and is joined while a profiler has opened eight sampling events:
 * against the number of possible CPUs, for each of which it opens them (bench cpus), and against
 * the number of threads that have inherited them (bench curve). Only measured when asked for.
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

/* ---- against the number of threads ---- */

#define MOST_THREADS	1000

static pthread_t sleepers[MOST_THREADS];
static unsigned int nr_sleepers;
static int held[2];

static void *sleep_until_closed(void *unused)
{
	char c;

	(void)unused;
	/* The end of the file is what wakes it. */
	return read(held[0], &c, 1) ? (void *)held : NULL;
}

/* So many threads, this one among them. */
static bool family(unsigned int threads)
{
	pthread_attr_t small;

	if (pipe(held) < 0 || pthread_attr_init(&small) ||
	    pthread_attr_setstacksize(&small, 256 << 10))
		die("family");
	while (nr_sleepers < threads - 1) {
		if (pthread_create(&sleepers[nr_sleepers], &small, sleep_until_closed, NULL))
			die("pthread_create");
		nr_sleepers++;
	}
	pthread_attr_destroy(&small);
	return true;
}

static bool profiled_family(unsigned int threads)
{
	return profiled(1) && family(threads);
}

static void family_done(void)
{
	close(held[1]);
	while (nr_sleepers)
		if (pthread_join(sleepers[--nr_sleepers], NULL))
			die("pthread_join");
	close(held[0]);
}

#define FAMILY(threads) \
	{ "curve: thread, no event, family of " #threads, family, .cleanup = family_done, \
	  .arg = threads, .n = 50, .repeats = 3, .measure = least_thread }
#define PROFILED_FAMILY(threads) \
	{ "curve: thread, 8 sampling events, family of " #threads, profiled_family, \
	  .cleanup = family_done, .arg = threads, .n = 50, .repeats = 3, .measure = least_thread }

const struct row thread_rows[] = {
	{ "cpus: thread, no event", .n = 50, .measure = least_thread },
	{ "cpus: thread, 8 sampling events for each", on_possible, .n = 50,
	  .measure = least_thread },
	FAMILY(1), FAMILY(10), FAMILY(100), FAMILY(1000),
	PROFILED_FAMILY(1), PROFILED_FAMILY(10), PROFILED_FAMILY(100), PROFILED_FAMILY(1000),
	{ }
};
