// SPDX-License-Identifier: GPL-2.0
/*
 * Rows for several CPUs, only measured when asked for (bench smp): how many
 * interrupts an operation on events of another CPU sends there, counted by
 * /proc/interrupts, and wall-clock time of the same work on all CPUs at once.
 * QEMU emulates the CPUs in turn, so the times compare kernels; they are no
 * measure of how well something scales.
 */
#include "bench.h"
#include <ctype.h>
#include <sched.h>
#include "../../../../../include/uapi/linux/perf_event_ext.h"

#define MOST_CPUS 64

/* ---- interrupts ---- */

/* Function calls that CPUs have asked of each other until now. */
static u64 function_calls(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[1024];
	u64 sum = 0;

	if (!f)
		die("/proc/interrupts");
	while (fgets(line, sizeof(line), f)) {
		char *at = strchr(line, ':');

		if (!at || !strcasestr(line, "function call interrupts"))
			continue;
		do {
			at++;
			sum += strtoull(at, &at, 10);
			while (isspace(at[0]) && isspace(at[1]))
				at++;
		} while (isspace(at[0]) && isdigit(at[1]));
	}
	fclose(f);
	return sum;
}

static pid_t busy;

/* A task that never sleeps, on CPU 1. */
static bool start_busy(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return false;
	fflush(stdout);
	busy = fork();
	if (busy < 0)
		die("fork");
	if (!busy) {
		pin(1);
		for (;;)
			;
	}
	usleep(50000);
	return true;
}

static void stop_busy(void)
{
	if (busy > 0) {
		kill(busy, SIGKILL);
		waitpid(busy, NULL, 0);
	}
	busy = 0;
}

static int group[8];
static unsigned int nr_group;

static bool group_of(u32 type, u64 config, unsigned int n)
{
	struct perf_event_attr a;

	attr_init(&a, type, config);
	attr_bits(&a, BIT_DISABLED);
	if (!start_busy())
		return false;
	for (nr_group = 0; nr_group < n; nr_group++) {
		group[nr_group] = attr_open(&a, busy, -1, nr_group ? group[0] : -1, 0);
		if (group[nr_group] < 0)
			return false;
	}
	/* Running, so that what follows finds it in its usual state. */
	ioctl(group[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	ioctl(group[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	return true;
}

static bool sw_group(unsigned int n)
{
	return group_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, n);
}

static bool hw_group(unsigned int n)
{
	return group_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, n);
}

static void group_done(void)
{
	while (nr_group)
		close(group[--nr_group]);
	stop_busy();
}

/* Others may send some meanwhile: the least that one of n operations sent are its own. */
static void least(u64 *calls, u64 before)
{
	u64 now = function_calls() - before;

	if (now < *calls)
		*calls = now;
}

static double calls_of(unsigned long first, unsigned long then, unsigned int n)
{
	u64 calls = -1, before;

	while (n--) {
		ioctl(group[0], then, PERF_IOC_FLAG_GROUP);
		before = function_calls();
		ioctl(group[0], first, PERF_IOC_FLAG_GROUP);
		least(&calls, before);
	}
	return calls;
}

static double calls_enable(unsigned int n)
{
	return calls_of(PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, n);
}

static double calls_disable(unsigned int n)
{
	return calls_of(PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_ENABLE, n);
}

static bool held_busy(unsigned int unused)
{
	struct perf_event_attr a;

	(void)unused;
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	return start_busy() && event_add(&a, busy, -1) >= 0;
}

static double calls_open(unsigned int n)
{
	struct perf_event_attr a;
	u64 calls = -1, before;
	int fd;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	while (n--) {
		before = function_calls();
		fd = attr_open(&a, busy, -1, -1, 0);
		least(&calls, before);
		close(fd);
	}
	return calls;
}

static double calls_close(unsigned int n)
{
	struct perf_event_attr a;
	u64 calls = -1, before;
	int fd;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	while (n--) {
		fd = attr_open(&a, busy, -1, -1, 0);
		before = function_calls();
		close(fd);
		least(&calls, before);
	}
	return calls;
}

/* ---- counters of each CPU: a group each, and a session of them all ---- */

#define MEMBERS 4

static int heads[MOST_CPUS], whole = -1;
static unsigned int cpus;
static char values[1 << 14];

static bool four(struct perf_event_attr *attrs)
{
	unsigned int i;

	for (i = 0; i < MEMBERS; i++) {
		attr_init(&attrs[i], PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
		attrs[i].read_format = PERF_FORMAT_GROUP;
	}
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	return cpus > 1 && cpus <= MOST_CPUS;
}

static bool group_of_each(unsigned int unused)
{
	struct perf_event_attr attrs[MEMBERS];
	unsigned int cpu, i;

	(void)unused;
	if (!four(attrs))
		return false;
	for (cpu = 0; cpu < cpus; cpu++) {
		heads[cpu] = event_add(&attrs[0], -1, cpu);
		if (heads[cpu] < 0)
			return false;
		for (i = 1; i < MEMBERS; i++)
			if (event_join(&attrs[i], -1, cpu, heads[cpu]) < 0)
				return false;
	}
	return true;
}

static bool session_of_all(unsigned int unused)
{
	struct perf_event_attr attrs[MEMBERS];
	struct perf_ext_create ask = {
		.attrs = (uintptr_t)attrs, .nr = MEMBERS, .stride = sizeof(attrs[0]),
		.flags = PERF_EXT_CREATE_CPUS,
	};
	struct perf_ext_target all = { .kind = PERF_EXT_TARGET_ALL };

	(void)unused;
	if (!four(attrs) || event_add(&attrs[0], 0, -1) < 0)
		return false;
	whole = event_keep(ioctl(first_event(), PERF_EXT_IOC_CREATE, &ask));
	return whole >= 0 && !ioctl(whole, PERF_EXT_IOC_ATTACH, &all);
}

static void read_groups(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		if (read(heads[cpu], values, sizeof(values)) < 8)
			die("read");
}

static void read_session(void)
{
	struct perf_ext_read ask = {
		.buf = (uintptr_t)values, .size = sizeof(values), .flags = PERF_EXT_READ_TARGETS,
	};

	if (ioctl(whole, PERF_EXT_IOC_READ, &ask) < 0 || ask.nr != cpus + 1)
		die("READ");
}

static double calls_of_reads(void (*once)(void), unsigned int n)
{
	u64 calls = -1, before;

	while (n--) {
		before = function_calls();
		once();
		least(&calls, before);
	}
	return calls;
}

static double calls_groups(unsigned int n)
{
	return calls_of_reads(read_groups, n);
}

static double calls_session(unsigned int n)
{
	return calls_of_reads(read_session, n);
}

/* ---- the same on all CPUs ---- */

static struct {
	volatile unsigned int ready, go;
	volatile u64 end[MOST_CPUS];
} *shared;

static bool (*prepare_worker)(void);
static void (*work)(unsigned int n);

static void worker(unsigned int cpu, unsigned int n)
{
	pin(cpu);
	map_again();
	if (!prepare_worker())
		_exit(1);
	work(n / 10 + 1);
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	while (!shared->go)
		sched_yield();
	work(n);
	shared->end[cpu] = now_ns();
	_exit(0);
}

static double on_all(unsigned int n)
{
	pid_t pids[MOST_CPUS];
	unsigned int i;
	u64 start, last = 0;
	int status, bad = 0;

	if (!shared) {
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (shared == MAP_FAILED)
			die("mmap");
	}
	memset(shared, 0, sizeof(*shared));
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (cpus > MOST_CPUS)
		cpus = MOST_CPUS;
	fflush(stdout);
	for (i = 0; i < cpus; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (!pids[i])
			worker(i, n);
	}
	while (shared->ready < cpus)
		usleep(1000);
	start = now_ns();
	shared->go = 1;
	for (i = 0; i < cpus; i++) {
		waitpid(pids[i], &status, 0);
		bad |= status;
		if (shared->end[i] > last)
			last = shared->end[i];
	}
	if (bad)
		die("a worker");
	return (double)(last - start) / n;
}

static bool several(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

static bool with_switches(void)
{
	partner_start();
	return software(PERF_COUNT_SW_DUMMY, 0, 64);
}

static bool with_counts(void)
{
	return software(PERF_COUNT_SW_PAGE_FAULTS, 0, 4);
}

static bool with_samples(void)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a.wakeup_watermark = BUFFER_BYTES;
	attr_bits(&a, BIT_WATERMARK);
	if (event_add(&a, 0, -1) < 0)
		return false;
	buffer_map();
	return true;
}

static void sampled_faults(unsigned int n)
{
	run_fault(n);
	buffer_drain();
}

static void open_close(unsigned int n)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	while (n--)
		close(attr_open(&a, 0, -1, -1, 0));
}

static bool switches(unsigned int unused)
{
	(void)unused;
	prepare_worker = with_switches;
	work = run_pingpong;
	return several();
}

static bool counts(unsigned int unused)
{
	(void)unused;
	prepare_worker = with_counts;
	work = run_fault;
	return several();
}

static bool samples(unsigned int unused)
{
	(void)unused;
	prepare_worker = with_samples;
	work = sampled_faults;
	return several();
}

static bool opens(unsigned int unused)
{
	(void)unused;
	prepare_worker = with_counts;
	work = open_close;
	return several();
}

#define CALLS(name, setup, arg, measure, done) \
	{ "smp: IPIs: " name, setup, NULL, NULL, done, arg, 20, 3, measure }
#define TIME(name, setup, n) \
	{ "smp: ns: " name, setup, NULL, NULL, NULL, 0, n, 5, on_all }

const struct row smp_rows[] = {
	CALLS("ENABLE of a group of 8 sw", sw_group, 8, calls_enable, group_done),
	CALLS("DISABLE of a group of 8 sw", sw_group, 8, calls_disable, group_done),
	CALLS("ENABLE of a group of 4 hw", hw_group, 4, calls_enable, group_done),
	CALLS("DISABLE of a group of 4 hw", hw_group, 4, calls_disable, group_done),
	CALLS("open of a sw event", held_busy, 0, calls_open, stop_busy),
	CALLS("close of a sw event", held_busy, 0, calls_close, stop_busy),
	CALLS("read of 4 hw on each CPU, a group each", group_of_each, 0, calls_groups, NULL),
	CALLS("READ of a session of 4 hw on each CPU", session_of_all, 0, calls_session, NULL),
	TIME("switch pair, 64 passive events, all CPUs", switches, 200),
	TIME("page fault counted by 4, all CPUs", counts, 1000),
	TIME("page fault sampled, all CPUs", samples, 1000),
	TIME("open+close, all CPUs", opens, 300),
	{ }
};
