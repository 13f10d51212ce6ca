// SPDX-License-Identifier: GPL-2.0
/*
 * Rows about events as such: nothing open at all, opening and closing, reading
 * and ioctls, counting, context switches, fork with inherited events.
 */
#include "bench.h"

static bool with_partner(unsigned int unused)
{
	(void)unused;
	partner_start();
	return true;
}

/* Leave the free lists of pages in another state. */
static void use_pages(size_t n)
{
	size_t i;
	char *p = mmap(NULL, n * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	for (i = 0; i < n; i++)
		p[i * page_size] = 1;
	munmap(p, n * page_size);
}

/*
 * What free lists of pages look like is worth one per cent of a fork or exec,
 * on the same kernel: the least of several states.
 */
double least_time(void (*run)(unsigned int n), unsigned int n)
{
	double found = 0, mean;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		use_pages(100 + i * 377 % 1009);
		mean = time_of(run, n);
		if (!i || mean < found)
			found = mean;
	}
	return found;
}

double least_fork(unsigned int n)
{
	return least_time(run_fork, n);
}

double least_fork_sharing(unsigned int n)
{
	return least_time(run_fork_sharing, n);
}

static double least_exec(unsigned int n)
{
	return least_time(run_exec, n);
}

const struct row none_rows[] = {
	{ "none: getppid", .run = run_getppid, .n = 5000 },
	{ "none: page fault", .run = run_fault, .n = 1024 },
	{ "none: pipe pingpong (2 switches)", .setup = with_partner, .run = run_pingpong,
	  .cleanup = partner_stop, .n = 500 },
	{ "none: fork+exit+wait", .measure = least_fork, .n = 30 },
	{ "none: fork+exit+wait, files shared", .measure = least_fork_sharing, .n = 30 },
	{ "none: fork+exec+wait", .measure = least_exec, .n = 10 },
	{ "sideband: mmap exec+munmap, no event", .run = run_exec_map, .n = 1000 },
	{ }
};

/* ---- open, close, read, ioctl ---- */

static void open_close(unsigned int n, int cpu, bool map)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	while (n--) {
		int fd = attr_open(&a, cpu < 0 ? 0 : -1, cpu, -1, 0);

		if (fd < 0)
			die("perf_event_open");
		if (map) {
			void *p = mmap(NULL, 9 * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				       0);

			if (p == MAP_FAILED)
				die("mmap of an event");
			munmap(p, 9 * page_size);
		}
		close(fd);
	}
}

static void open_task(unsigned int n)
{
	open_close(n, -1, false);
}

static void open_cpu(unsigned int n)
{
	open_close(n, 0, false);
}

static void open_map(unsigned int n)
{
	open_close(n, -1, true);
}

/*
 * An event of the same kind stays open, of the CPU: so no key of that kind is
 * turned on and off each time by patching the text of the kernel.
 */
static bool hold(unsigned int unused)
{
	struct perf_event_attr a;

	(void)unused;
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	return event_add(&a, -1, 0) >= 0;
}

static int many[1000];

static void open_all(unsigned int n)
{
	struct perf_event_attr a;
	unsigned int i;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	for (i = 0; i < n; i++) {
		many[i] = attr_open(&a, 0, -1, -1, 0);
		if (many[i] < 0)
			die("perf_event_open");
	}
}

static void close_all(unsigned int n)
{
	unsigned int i;

	for (i = n; i-- > 0;)
		close(many[i]);
}

/* Let RCU free what the last repeat closed: that work is no part of opening. */
static void settle(void)
{
	usleep(200000);
}

static double open_many(unsigned int n)
{
	double mean;

	settle();
	mean = time_of(open_all, n);
	close_all(n);
	return mean;
}

static double close_many(unsigned int n)
{
	open_all(n);
	return time_of(close_all, n);
}

static bool one_event(unsigned int config)
{
	return software(config, 0, 1);
}

static int members[8];

static void run_read(unsigned int n)
{
	u64 value[3 + 2 * ARRAY_SIZE(members)];

	while (n--)
		if (read(first_event(), value, sizeof(value)) < 8)
			die("read");
}

static void run_reset(unsigned int n)
{
	while (n--)
		ioctl(first_event(), PERF_EVENT_IOC_RESET, 0);
}

static void run_off_on(unsigned int n)
{
	while (n--) {
		ioctl(first_event(), PERF_EVENT_IOC_DISABLE, 0);
		ioctl(first_event(), PERF_EVENT_IOC_ENABLE, 0);
	}
}

static bool group(unsigned int n)
{
	struct perf_event_attr a;
	unsigned int i;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (event_add(&a, 0, -1) < 0)
		return false;
	for (i = 1; i < n; i++) {
		members[i] = attr_open(&a, 0, -1, first_event(), 0);
		if (members[i] < 0)
			return false;
	}
	return true;
}

static void ungroup(void)
{
	unsigned int i;

	for (i = 1; i < ARRAY_SIZE(members); i++)
		close(members[i]);
}

const struct row file_rows[] = {
	/* So many that what RCU frees later is in the figures. */
	{ "open+close: sw task", hold, open_task, .n = 3000 },
	{ "open+close: sw cpu", hold, open_cpu, .n = 3000 },
	{ "open+mmap(9p)+close", hold, open_map, .n = 1500 },
	{ "open: one of 10 sw task", hold, .measure = open_many, .n = 10 },
	{ "open: one of 1000 sw task", hold, .measure = open_many, .n = 1000, .repeats = 3 },
	{ "close: one of 1000 sw task", hold, .measure = close_many, .n = 1000, .repeats = 3 },
	{ "read: sw task event", one_event, run_read, .arg = PERF_COUNT_SW_PAGE_FAULTS, .n = 2000 },
	{ "ioctl: RESET", one_event, run_reset, .arg = PERF_COUNT_SW_PAGE_FAULTS, .n = 2000 },
	{ "ioctl: DISABLE+ENABLE", one_event, run_off_on, .arg = PERF_COUNT_SW_PAGE_FAULTS,
	  .n = 1000 },
	{ "read: group of 8 sw", group, run_read, .cleanup = ungroup, .arg = 8, .n = 1000 },
	{ "read: task-clock", one_event, run_read, .arg = PERF_COUNT_SW_TASK_CLOCK, .n = 2000 },
	{ }
};

/* ---- counting ---- */

static bool count_faults(unsigned int n)
{
	return software(PERF_COUNT_SW_PAGE_FAULTS, 0, n);
}

/* As ordinary users must. */
static bool count_user_faults(unsigned int n)
{
	return software(PERF_COUNT_SW_PAGE_FAULTS, BIT_EXCLUDE_KERNEL, n);
}

static bool inherited(unsigned int n)
{
	return software(PERF_COUNT_SW_PAGE_FAULTS, BIT_INHERIT, n);
}

static bool task_records(unsigned int unused)
{
	struct perf_event_attr a;

	(void)unused;
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr_bits(&a, BIT_TASK | BIT_WATERMARK);
	a.wakeup_watermark = BUFFER_BYTES;
	if (event_add(&a, 0, -1) < 0)
		return false;
	buffer_map();
	return buffer_written_by(run_fork);
}

static bool mmap_event(pid_t pid)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr_bits(&a, BIT_MMAP | BIT_MMAP2 | BIT_WATERMARK);
	a.wakeup_watermark = BUFFER_BYTES;
	if (event_add(&a, pid, -1) < 0)
		return false;
	buffer_map();
	return true;
}

static bool mmap_records(unsigned int unused)
{
	(void)unused;
	return mmap_event(0) && buffer_written_by(run_exec_map);
}

/* Somebody wants to know of another task's mappings. */
static bool mmap_of_partner(unsigned int unused)
{
	(void)unused;
	partner_start();
	return mmap_event(partner_pid());
}

static void partner_unmap(void)
{
	buffer_unmap();
	partner_stop();
}

#define SHARED(events) \
	{ "inherit: fork+exit, files shared, " #events " events", inherited, .arg = events, \
	  .measure = least_fork_sharing, .n = 10 }

const struct row count_rows[] = {
	{ "count: page fault, 1 sw task", count_faults, run_fault, .arg = 1, .n = 1024 },
	{ "count: page fault, 16 sw task", count_faults, run_fault, .arg = 16, .n = 1024 },
	{ "count: page fault, 1 sw task, user only", count_user_faults, run_fault, .arg = 1,
	  .n = 1024 },
	{ "count: page fault, 16 sw task, user only", count_user_faults, run_fault, .arg = 16,
	  .n = 1024 },
	{ "inherit: fork+exit, 1 events", inherited, .arg = 1, .measure = least_fork, .n = 10 },
	{ "inherit: fork+exit, 10 events", inherited, .arg = 10, .measure = least_fork, .n = 10 },
	{ "inherit: fork+exit, 100 events", inherited, .arg = 100, .measure = least_fork, .n = 10 },
	SHARED(1), SHARED(10), SHARED(100), SHARED(1000),
	{ "sideband: mmap exec+munmap, mmap2 event", mmap_records, run_exec_map, buffer_drain,
	  buffer_unmap, .n = 1000 },
	{ "sideband: mmap exec+munmap, another task's mmap2 event", mmap_of_partner, run_exec_map,
	  NULL, partner_unmap, .n = 1000 },
	{ "sideband: fork+exit+wait, task event", task_records, .again = buffer_drain,
	  .cleanup = buffer_unmap, .measure = least_fork, .n = 10 },
	{ }
};

/* ---- switches: the events are the parent's only, but for the inherited ---- */

static bool switch_dummy(unsigned int n)
{
	partner_start();
	return software(PERF_COUNT_SW_DUMMY, 0, n);
}

static bool switch_clock(unsigned int unused)
{
	(void)unused;
	partner_start();
	return software(PERF_COUNT_SW_TASK_CLOCK, 0, 1);
}

static bool switch_inherited(unsigned int n)
{
	bool ok = software(PERF_COUNT_SW_TASK_CLOCK, BIT_INHERIT, n);

	partner_start();
	return ok;
}

static bool switch_cpu(unsigned int unused)
{
	struct perf_event_attr a;

	(void)unused;
	partner_start();
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	return event_add(&a, -1, 0) >= 0;
}

#define SWITCH(name, setup, arg, n) \
	{ "switch: pingpong, " name, setup, run_pingpong, NULL, partner_stop, arg, n, 0, NULL }

const struct row switch_rows[] = {
	SWITCH("1 dummy task events", switch_dummy, 1, 500),
	SWITCH("8 dummy task events", switch_dummy, 8, 500),
	SWITCH("64 dummy task events", switch_dummy, 64, 300),
	SWITCH("256 dummy task events", switch_dummy, 256, 100),
	SWITCH("task-clock", switch_clock, 0, 500),
	SWITCH("inherited task-clock x2", switch_inherited, 2, 500),
	SWITCH("cpu-wide context-switches", switch_cpu, 0, 500),
	{ }
};
