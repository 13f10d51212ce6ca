// SPDX-License-Identifier: GPL-2.0
/*
 * Curves: what an operation costs against a number - of events, of inherited
 * ones, of levels of cgroups, of pages -, and what an event takes of memory.
 * Only measured when asked for: bench curve memory.
 *
 * Thousands of events are opened by a thread, for the main task while that
 * sleeps: then no kernel has to switch all of them at each open.
 */
#include "bench-ext.h"
#include <pthread.h>
#include <sched.h>

#define MOST 10000

static int many[MOST];
static unsigned int nr_many;
static u64 many_bits, many_period;
static pid_t opener_for;

static void *open_them(void *unused)
{
	struct perf_event_attr a;
	unsigned int i;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	attr_bits(&a, many_bits);
	a.sample_period = many_period;
	for (i = 0; i < nr_many; i++) {
		many[i] = attr_open(&a, opener_for, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (many[i] < 0)
			die("perf_event_open");
	}
	return unused;
}

static void open_many(unsigned int n, u64 bits)
{
	pthread_t thread;

	nr_many = n;
	many_bits = bits;
	opener_for = getpid();
	errno = pthread_create(&thread, NULL, open_them, NULL);
	if (errno)
		die("pthread_create");
	pthread_join(thread, NULL);
}

static void close_many(void)
{
	while (nr_many)
		close(many[--nr_many]);
}

/* Longer than RCU keeps what was freed: giving it back is no part of the next row. */
static void settle(void)
{
	sleep(6);
}

static void close_and_settle(void)
{
	close_many();
	settle();
}

/* ---- against the number of events ---- */

static bool passive(unsigned int n)
{
	open_many(n, 0);
	return true;
}

static bool passive_switch(unsigned int n)
{
	partner_start();
	return passive(n);
}

static void passive_switch_done(void)
{
	close_and_settle();
	partner_stop();
}

static void run_one_more(unsigned int n)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	while (n--) {
		int fd = attr_open(&a, 0, -1, -1, 0);

		if (fd < 0)
			die("perf_event_open");
		close(fd);
	}
}

/* An event that keeps the keys on which others need. */
static bool held(unsigned int unused)
{
	(void)unused;
	return software(PERF_COUNT_SW_PAGE_FAULTS, 0, 1);
}

/* Each of n events of a sleeping task. */
static double open_sleeping(unsigned int n)
{
	u64 start = now_ns(), ns;

	open_many(n, 0);
	ns = now_ns() - start;
	close_many();
	return (double)ns / n;
}

static double close_running(unsigned int n)
{
	u64 start, ns;

	open_many(n, 0);
	start = now_ns();
	close_many();
	ns = now_ns() - start;
	return (double)ns / n;
}

/* ---- against the number of inherited events ---- */

static bool inherited(unsigned int n)
{
	open_many(n, BIT_INHERIT);
	return true;
}

/* ---- against the depth of cgroups ---- */

#define CGROUPS "/sys/fs/cgroup"

static char deepest[256];
static bool with_event;

static bool write_text(const char *dir, const char *file, const char *text)
{
	char path[320];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool depth(unsigned int levels)
{
	struct perf_event_attr a;
	char text[32];
	int dir, fd;

	partner_start();
	snprintf(deepest, sizeof(deepest), "%s", CGROUPS);
	while (levels--) {
		if (!write_text(deepest, "cgroup.subtree_control", "+cpu"))
			return false;
		strcat(deepest, "/b");
		if (mkdir(deepest, 0755) < 0 && errno != EEXIST)
			return false;
	}
	if (with_event) {
		dir = open(deepest, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		fd = attr_open(&a, dir, 0, -1, PERF_FLAG_PID_CGROUP);
		close(dir);
		if (fd < 0)
			return false;
		many[nr_many++] = fd;
	}
	snprintf(text, sizeof(text), "%d", partner_pid());
	return write_text(deepest, "cgroup.procs", text);
}

static bool depth_with_event(unsigned int levels)
{
	with_event = true;
	return depth(levels);
}

static void depth_done(void)
{
	char *slash;

	partner_stop();
	close_many();
	with_event = false;
	while (strlen(deepest) > strlen(CGROUPS)) {
		rmdir(deepest);
		slash = strrchr(deepest, '/');
		*slash = 0;
	}
}

/* ---- against the size of the buffer ---- */

static size_t ring_bytes;

static bool ring(unsigned int pages)
{
	struct perf_event_attr a;

	ring_bytes = (pages + 1) * page_size;
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	return event_add(&a, -1, 0) >= 0;
}

static void run_ring(unsigned int n)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	while (n--) {
		int fd = attr_open(&a, 0, -1, -1, 0);
		void *p = mmap(NULL, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (fd < 0 || p == MAP_FAILED)
			die("mmap of an event");
		munmap(p, ring_bytes);
		close(fd);
	}
}

/* ---- memory ---- */

/* Free pages that a CPU keeps for itself, which MemFree leaves out: megabytes, now and then. */
static double bytes_kept(void)
{
	FILE *f = fopen("/proc/zoneinfo", "re");
	char line[256];
	double pages = 0, count;

	if (!f)
		die("/proc/zoneinfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %lf", &count) == 1)
			pages += count;
	fclose(f);
	return pages * page_size;
}

/* Bytes not in use, when what was freed before has been given back. */
static double bytes_free(void)
{
	char text[512] = "", *at;
	int fd;

	settle();
	write_text("/proc/sys/vm", "stat_refresh", "1");
	fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		die("/proc/meminfo");
	close(fd);
	at = strstr(text, "MemFree:");
	return (at ? strtod(at + 8, NULL) * 1024 : 0) + bytes_kept();
}

/* As many descriptors of something that takes nothing but a struct file. */
static double memory_of_file(unsigned int n)
{
	double before = bytes_free(), after;
	unsigned int i;

	for (i = 0; i < n; i++)
		many[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	after = bytes_free();
	nr_many = n;
	close_many();
	return (before - after) / n;
}

double memory_of_each(unsigned int n, u64 period, void (*tell)(int fd))
{
	double file = memory_of_file(n), before = bytes_free(), after;
	unsigned int i;

	many_period = period;
	open_many(n, 0);
	many_period = 0;
	for (i = 0; tell && i < n; i++)
		tell(many[i]);
	after = bytes_free();
	close_many();
	return (before - after) / n - file;
}

static double memory_of_event(unsigned int n)
{
	return memory_of_each(n, 0, NULL);
}

static pid_t sleepers[1000];

/* Children that sleep, sharing the files, until the pipe is closed. */
static void start_sleepers(unsigned int n, const int *wait)
{
	unsigned int i;
	char c;

	for (i = 0; i < n; i++) {
		sleepers[i] = fork_sharing();
		if (sleepers[i] < 0)
			die("clone");
		if (!sleepers[i])
			_exit(read(wait[0], &c, 1) != 1);
	}
}

/* Of so many children, beside what they take without events.  Closes the events. */
static double memory_of_sleepers(unsigned int n)
{
	double before = bytes_free(), after;
	int wait[2];
	unsigned int i;

	if (pipe(wait) < 0)
		die("pipe");
	start_sleepers(n, wait);
	after = bytes_free();
	for (i = 0; i < n; i++)
		if (write(wait[1], "x", 1) != 1)
			die("write");
	for (i = 0; i < n; i++)
		waitpid(sleepers[i], NULL, 0);
	close(wait[0]);
	close(wait[1]);
	close_many();
	return before - after;
}

static double memory_of_inherited(unsigned int n)
{
	double without = memory_of_sleepers(1);

	open_many(n, BIT_INHERIT);
	return (memory_of_sleepers(1) - without) / n;
}

static double memory_of_threads(unsigned int n)
{
	double without = memory_of_sleepers(n);
	struct perf_event_attr a;
	unsigned int i;

	attr_init(&a, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	attr_bits(&a, BIT_INHERIT);
	for (i = 0; i < 8; i++) {
		many[i] = attr_open(&a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (many[i] < 0)
			die("perf_event_open");
		nr_many++;
	}
	without = memory_of_sleepers(n) - without;
	/* If it is nothing, what is measured is what the kernel itself has taken or given back. */
	return without > 0 ? without : 0;
}

#define AGAINST(name, setup, run, done, arg, n) \
	{ "curve: " name, setup, run, NULL, done, arg, n, 3, NULL }
#define SWITCH(n, ops) \
	AGAINST("switch pair, " #n " events", passive_switch, run_pingpong, passive_switch_done, \
		n, ops)
#define ONE_MORE(n, ops) \
	AGAINST("open+close of one more, " #n " events", passive, run_one_more, close_and_settle, \
		n, ops)
#define FAULT(n, ops) \
	AGAINST("page fault, " #n " events", passive, run_fault, close_and_settle, n, ops)
#define FORK(n, ops) \
	AGAINST("fork+exit, " #n " inherited events", inherited, run_fork_sharing, \
		close_and_settle, n, ops)
#define OPEN(count) \
	{ "curve: open for a sleeping task, each of " #count, held, .measure = open_sleeping, \
	  .again = settle, .n = count, .repeats = 3 }
#define CLOSE(count) \
	{ "curve: close, each of " #count, held, .measure = close_running, \
	  .again = settle, .n = count, .repeats = 3 }
#define DEPTH(n) \
	AGAINST("cgroup switch pair, depth " #n ", 1 event", depth_with_event, run_pingpong, \
		depth_done, n, 1000)
#define BARE_DEPTH(n) \
	AGAINST("cgroup switch pair, depth " #n ", no event", depth, run_pingpong, depth_done, n, \
		1000)
#define RING(n, ops) \
	AGAINST("open+mmap+close, " #n " pages", ring, run_ring, settle, n, ops)

const struct row curve_rows[] = {
	/* First: it depends on what the page allocator has split. */
	RING(1, 100), RING(8, 100), RING(64, 30), RING(512, 10),
	SWITCH(0, 200), SWITCH(1, 200), SWITCH(10, 200), SWITCH(100, 100), SWITCH(1000, 20),
	SWITCH(10000, 5),
	ONE_MORE(1, 300), ONE_MORE(10, 300), ONE_MORE(100, 100),
	ONE_MORE(1000, 20), ONE_MORE(10000, 5),
	FAULT(0, 2000), FAULT(1, 2000), FAULT(10, 2000), FAULT(100, 200), FAULT(1000, 50),
	FAULT(10000, 10),
	FORK(0, 100), FORK(1, 100), FORK(10, 50), FORK(100, 20), FORK(1000, 5), FORK(10000, 1),
	OPEN(10), OPEN(100), OPEN(1000), OPEN(10000),
	CLOSE(10), CLOSE(100), CLOSE(1000), CLOSE(10000),
	BARE_DEPTH(1), BARE_DEPTH(2), BARE_DEPTH(4), BARE_DEPTH(8), BARE_DEPTH(16),
	DEPTH(1), DEPTH(2), DEPTH(4), DEPTH(8), DEPTH(16),
	{ "memory: event, without its file", .measure = memory_of_event, .n = MOST, .repeats = 3 },
	{ "memory: inherited event", .measure = memory_of_inherited, .n = MOST, .repeats = 3 },
	{ "memory: 100 children, 8 hardware events inherited by each",
	  .measure = memory_of_threads, .n = 100, .repeats = 3 },
	{ "memory: 300 children, 8 hardware events inherited by each",
	  .measure = memory_of_threads, .n = 300, .repeats = 3 },
	{ "memory: 1,000 children, 8 hardware events inherited by each",
	  .measure = memory_of_threads, .n = ARRAY_SIZE(sleepers), .repeats = 3 },
	{ }
};
