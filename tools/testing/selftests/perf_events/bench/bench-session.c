// SPDX-License-Identifier: GPL-2.0
/*
 * Rows about sessions: one descriptor for the events of many tasks, beside as many groups of events
 * that a program opens, reads and closes by itself. The tasks sleep, so what is measured is the
 * calls. A figure is for one task of all.
 */
#include "bench-ext.h"
#include <sys/prctl.h>

#define TASKS	100
#define MEMBERS	6

/* ---- sessions ---- */

/* A descriptor; -1: there are no sessions. */
static int session(struct perf_event_attr *attr, unsigned int nr, u32 flags)
{
	struct perf_event_attr attrs[MEMBERS], a;
	struct perf_ext_create ask = {
		.attrs = (uintptr_t)attrs, .nr = nr, .stride = sizeof(attrs[0]), .flags = flags,
	};
	unsigned int i;
	int dummy, fd;

	for (i = 0; i < nr; i++)
		attrs[i] = *attr;
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	dummy = attr_open(&a, 0, -1, -1, 0);
	if (dummy < 0)
		die("perf_event_open");
	fd = ioctl(dummy, PERF_EXT_IOC_CREATE, &ask);
	close(dummy);
	return fd;
}

static bool attach(int fd, u32 kind, u32 flags, u64 number)
{
	struct perf_ext_target target = { .kind = kind, .flags = flags, .number = number };

	return !ioctl(fd, PERF_EXT_IOC_ATTACH, &target);
}

static void counting(struct perf_event_attr *a)
{
	attr_init(a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			 PERF_FORMAT_TOTAL_TIME_RUNNING;
}

/* ---- the tasks, and groups of their events ---- */

static pid_t tasks[TASKS];
static int fds[TASKS][MEMBERS];

static void start_tasks(void)
{
	unsigned int i;

	fflush(stdout);
	for (i = 0; i < TASKS; i++) {
		tasks[i] = fork();
		if (tasks[i] < 0)
			die("fork");
		if (!tasks[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	/* All of them sleep. */
	usleep(200000);
}

static void stop_tasks(void)
{
	unsigned int i;

	for (i = 0; i < TASKS; i++) {
		kill(tasks[i], SIGKILL);
		waitpid(tasks[i], NULL, 0);
	}
}

static void open_groups(unsigned int n)
{
	struct perf_event_attr a;
	unsigned int i, j;

	counting(&a);
	for (i = 0; i < n; i++)
		for (j = 0; j < MEMBERS; j++) {
			fds[i][j] = attr_open(&a, tasks[i], -1, j ? fds[i][0] : -1, 0);
			if (fds[i][j] < 0)
				die("perf_event_open");
		}
}

static void close_groups(unsigned int n)
{
	unsigned int i, j;

	for (i = n; i-- > 0;)
		for (j = MEMBERS; j-- > 0;)
			close(fds[i][j]);
}

/* A session of the caller and an event of the CPU stay open, so that no key is toggled. */
static bool with_tasks(unsigned int unused)
{
	struct perf_event_attr a;
	int fd;

	(void)unused;
	start_tasks();
	counting(&a);
	fd = event_keep(session(&a, MEMBERS, 0));
	return fd >= 0 && attach(fd, PERF_EXT_TARGET_TID, 0, 0) && event_add(&a, -1, 0) >= 0;
}

/* Let RCU free what has been closed: that is no part of what comes next. */
static void settle(void)
{
	usleep(200000);
}

/* ---- from the first call to the last ---- */

static int made = -1;

static void attach_tasks(unsigned int n)
{
	while (n--)
		if (!attach(made, PERF_EXT_TARGET_TID, 0, tasks[n]))
			die("ATTACH");
}

static void detach_tasks(unsigned int n)
{
	struct perf_ext_target target = { .kind = PERF_EXT_TARGET_TID };

	while (n--) {
		target.number = tasks[n];
		if (ioctl(made, PERF_EXT_IOC_DETACH, &target) < 0)
			die("DETACH");
	}
}

static void make_session(unsigned int n)
{
	struct perf_event_attr a;

	counting(&a);
	made = session(&a, MEMBERS, 0);
	if (made < 0)
		die("CREATE");
	attach_tasks(n);
}

static void close_session(unsigned int n)
{
	(void)n;
	close(made);
	made = -1;
}

/* What the first costs, which the other undoes; and the other way round. */
static double making(void (*make)(unsigned int n), void (*undo)(unsigned int n), unsigned int n)
{
	double mean;

	settle();
	mean = time_of(make, n);
	undo(n);
	return mean;
}

static double undoing(void (*make)(unsigned int n), void (*undo)(unsigned int n), unsigned int n)
{
	make(n);
	settle();
	return time_of(undo, n);
}

static double open_groups_each(unsigned int n)
{
	return making(open_groups, close_groups, n);
}

static double close_groups_each(unsigned int n)
{
	return undoing(open_groups, close_groups, n);
}

static double make_session_each(unsigned int n)
{
	return making(make_session, close_session, n);
}

static double close_session_each(unsigned int n)
{
	return undoing(make_session, close_session, n);
}

/* One that there is, put on the tasks again. */
static double attach_each(unsigned int n)
{
	double mean;

	make_session(n);
	detach_tasks(n);
	settle();
	mean = time_of(attach_tasks, n);
	close_session(n);
	return mean;
}

static double detach_each(unsigned int n)
{
	double mean;

	make_session(n);
	settle();
	mean = time_of(detach_tasks, n);
	close_session(n);
	return mean;
}

/* ---- read ---- */

static char values[1 << 16];

static bool with_groups(unsigned int unused)
{
	if (!with_tasks(unused))
		return false;
	open_groups(TASKS);
	return true;
}

static void without_groups(void)
{
	close_groups(TASKS);
	stop_tasks();
}

static bool with_session(unsigned int unused)
{
	if (!with_tasks(unused))
		return false;
	make_session(TASKS);
	return true;
}

static void without_session(void)
{
	close_session(TASKS);
	stop_tasks();
}

static void read_groups(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (read(fds[i % TASKS][0], values, sizeof(values)) < 8)
			die("read");
}

static void read_session(u32 flags, unsigned int entries)
{
	struct perf_ext_read ask = {
		.buf = (uintptr_t)values, .size = sizeof(values), .flags = flags,
	};

	if (ioctl(made, PERF_EXT_IOC_READ, &ask) < 0 || ask.nr != entries)
		die("READ");
}

/* With that of the tasks that have left. */
static void read_targets(unsigned int n)
{
	for (; n >= TASKS; n -= TASKS)
		read_session(PERF_EXT_READ_TARGETS, TASKS + 1);
}

static void read_sums(unsigned int n)
{
	for (; n >= TASKS; n -= TASKS)
		read_session(0, 1);
}

static void read_file(unsigned int n)
{
	for (; n >= TASKS; n -= TASKS)
		if (read(made, values, sizeof(values)) < 8)
			die("read");
}

/* ---- fork ---- */

static bool fork_with_events(unsigned int unused)
{
	(void)unused;
	return software(PERF_COUNT_SW_PAGE_FAULTS, BIT_INHERIT, MEMBERS);
}

static bool fork_in_session(unsigned int unused)
{
	struct perf_event_attr a;

	(void)unused;
	counting(&a);
	return event_keep(session(&a, MEMBERS, 0)) >= 0 &&
	       attach(first_event(), PERF_EXT_TARGET_TID, PERF_EXT_TARGET_INHERIT, 0);
}

/* ---- samples of a CPU ---- */

static bool sample_of_cpu(unsigned int unused)
{
	struct perf_event_attr a;

	(void)unused;
	attr_sampling(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, 0);
	if (event_add(&a, -1, 0) < 0)
		return false;
	buffer_map();
	return buffer_written_by(run_fault);
}

static bool sample_of_session(unsigned int unused)
{
	struct perf_event_attr a;

	(void)unused;
	attr_sampling(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, 0);
	if (event_keep(session(&a, 1, PERF_EXT_CREATE_CPUS)) < 0 ||
	    !attach(first_event(), PERF_EXT_TARGET_CPU, 0, 0))
		return false;
	buffer_map();
	return buffer_written_by(run_fault);
}

#define EACH_TASK	", each of 100 tasks"
#define MAKE		"open 6 events" EACH_TASK
#define END		"close 6 events" EACH_TASK
#define READ		"read 6 events" EACH_TASK
#define FORK		"fork+exit+wait"
#define SAMPLE		"fault, each sampled, of a CPU"

#define CALLS(what, how, measure) \
	ROW(what, how, with_tasks, NULL, NULL, stop_tasks, 0, TASKS, 3, measure)
#define READS(how, setup, run, cleanup) \
	ROW(READ, how, setup, run, NULL, cleanup, 0, 10 * TASKS, 3, NULL)

const struct row session_rows[] = {
	CALLS(MAKE, "a group for each", open_groups_each),
	CALLS(MAKE, "CREATE, ATTACH", make_session_each),
	CALLS(MAKE, "ATTACH", attach_each),
	CALLS(END, "a group for each", close_groups_each),
	CALLS(END, "DETACH", detach_each),
	CALLS(END, "close of the session", close_session_each),
	READS("read(2) of a group", with_groups, read_groups, without_groups),
	READS("READ by target", with_session, read_targets, without_session),
	READS("READ of the sums", with_session, read_sums, without_session),
	READS("read(2) of the sums", with_session, read_file, without_session),
	ROW(FORK, "6 inherited events", fork_with_events, NULL, NULL, NULL, 0, 10, 0, least_fork),
	ROW(FORK, "6 events of a session", fork_in_session, NULL, NULL, NULL, 0, 10, 0, least_fork),
	ROW(SAMPLE, "a buffer of its own", sample_of_cpu, run_fault, buffer_drain, buffer_unmap, 0,
	    1024, 0, NULL),
	ROW(SAMPLE, "buffer of the session", sample_of_session, run_fault, buffer_drain,
	    buffer_unmap, 0, 1024, 0, NULL),
	{ }
};
