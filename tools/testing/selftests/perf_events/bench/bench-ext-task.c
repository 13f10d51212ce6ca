// SPDX-License-Identifier: GPL-2.0
/*
 * Further rows about what an event is told, see bench-ext.c: tasks that are switched while sets
 * take turns, turns by time, a thread that is held, what perf_cost costs while it is counted, and
 * the memory of what is told.
 */
#include "bench-ext.h"
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>

#define COUNTERS	4
#define SETS		4
#define SECOND		1000000000u

/* ---- a group of counters and a clock, and sets of them ---- */

static int leader = -1;

/* A clock of this period is a member, if it is not 0; *clock: its descriptor. */
static int group_with_clock(u64 ns, int *clock)
{
	struct perf_event_attr a;
	int first = -1, i;

	attr_init(&a, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	for (i = 0; i < COUNTERS; i++) {
		int fd = event_join(&a, 0, -1, first);

		if (fd < 0)
			return fd;
		first = i ? first : fd;
	}
	if (!ns)
		return first;
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	a.sample_period = ns;
	*clock = event_join(&a, 0, -1, first);
	return *clock < 0 ? *clock : first;
}

static bool ring_of(unsigned int sets, u64 ns)
{
	struct perf_ext_trigger trigger = { .threshold = 1 };
	struct perf_ext_set join = { .ring = -1 };
	unsigned int i;

	for (i = 0; i < sets; i++) {
		int clock, fd = group_with_clock(ns, &clock);

		join.number = i;
		if (fd < 0 || ioctl(fd, PERF_EXT_IOC_SET_JOIN, &join) < 0 ||
		    (ns && ioctl(clock, PERF_EXT_IOC_SET_TRIGGER, &trigger) < 0))
			return false;
		if (!i)
			leader = fd;
		join.ring = leader;
	}
	return true;
}

/* ---- switches of tasks ---- */

static bool switch_group(unsigned int ns)
{
	int clock;

	partner_start();
	return group_with_clock(ns, &clock) >= 0;
}

static bool switch_ring(unsigned int ns)
{
	partner_start();
	return ring_of(SETS, ns);
}

/* ---- turns by time ---- */

#define TURNS		2000000
#define TIMEOUT		100000

static bool clock_alone(unsigned int ns)
{
	int clock;

	return group_with_clock(ns, &clock) >= 0;
}

static bool turn_by_time(unsigned int ns)
{
	return ring_of(2, ns);
}

/* What is the time of a loop beyond that without events? */
static double more_of_spin(unsigned int n)
{
	double without, with;

	if (prctl(PR_TASK_PERF_EVENTS_DISABLE))
		die("prctl");
	without = time_of(spin, n) * n;
	if (prctl(PR_TASK_PERF_EVENTS_ENABLE))
		die("prctl");
	with = time_of(spin, n) * n;
	return with - without;
}

/* The clock is the last event. */
static double each_overflow(unsigned int n)
{
	u64 before, after;
	double more;
	int clock = last_event();

	if (read(clock, &before, sizeof(before)) != sizeof(before))
		die("read");
	more = more_of_spin(n);
	if (read(clock, &after, sizeof(after)) != sizeof(after))
		die("read");
	return more * TIMEOUT / (after - before);
}

static u64 turns(void)
{
	struct perf_ext_set_info info[2] = { };
	struct perf_ext_sets ask = {
		.infos = (uintptr_t)info, .nr = 2, .stride = sizeof(info[0]),
	};

	if (ioctl(leader, PERF_EXT_IOC_SET_INFO, &ask) < 0)
		die("SET_INFO");
	return info[0].by_timeout + info[1].by_timeout;
}

static double each_turn(unsigned int n)
{
	u64 before = turns();
	double more = more_of_spin(n);
	u64 nr = turns() - before;

	if (nr < 20)
		die("hardly any turn");
	return more / nr;
}

/* More counters than there are: the timer of multiplexing gives each group its turn. */
static bool rotated(unsigned int unused)
{
	return clock_alone(unused) && clock_alone(unused) && cost_counted("events/rotations");
}

static u64 rotations(void)
{
	u64 nr;

	if (read(last_event(), &nr, sizeof(nr)) != sizeof(nr))
		die("read");
	return nr;
}

static double each_rotation(unsigned int n)
{
	u64 before = rotations();
	double more = more_of_spin(n);
	u64 nr = rotations() - before;

	if (nr < 20)
		die("hardly any rotation");
	return more / nr;
}

/* ---- a thread that stops at each fault, until another one lets it go on ---- */

static pid_t stopped = -1;
static int start[2];

/* The caller has an event of its faults, which is off, and a buffer. */
static bool faulty_child(void)
{
	struct perf_event_attr a;
	char c;

	if (pipe(start) < 0)
		die("pipe");
	fflush(stdout);
	stopped = fork();
	if (stopped < 0)
		die("fork");
	if (!stopped) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		map_again();
		if (read(start[0], &c, 1) == 1)
			for (;;)
				run_fault(1);
		_exit(0);
	}
	/* It waits at the pipe. */
	usleep(200000);
	attr_sampling(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1,
		      BIT_DISABLED | BIT_EXCLUDE_KERNEL);
	if (event_add(&a, stopped, -1) < 0)
		return false;
	buffer_map();
	return true;
}

static bool let_go(unsigned long call, void *arg)
{
	return !ioctl(first_event(), call, arg) && write(start[1], "", 1) == 1;
}

static bool held_by_notify(unsigned int unused)
{
	struct perf_ext_notify ask = {
		.every = 1, .flags = PERF_EXT_NOTIFY_STOP | PERF_EXT_NOTIFY_BLOCK,
	};

	(void)unused;
	return faulty_child() &&
	       !ioctl(first_event(), PERF_EXT_IOC_NOTIFY, &ask) &&
	       let_go(PERF_EVENT_IOC_ENABLE, NULL);
}

/* The signal of the overflow stops the child. */
static bool stopped_by_signal(unsigned int unused)
{
	int fd;

	(void)unused;
	if (!faulty_child())
		return false;
	fd = first_event();
	return !fcntl(fd, F_SETOWN, stopped) && !fcntl(fd, F_SETSIG, SIGSTOP) &&
	       !fcntl(fd, F_SETFL, O_ASYNC) && let_go(PERF_EVENT_IOC_REFRESH, (void *)1);
}

static void run_held(unsigned int n)
{
	struct perf_ext_restart one = { .tid = stopped };

	while (n--) {
		struct pollfd p = { .fd = first_event(), .events = POLLIN };

		if (poll(&p, 1, -1) != 1)
			die("poll");
		/* It may still be on its way to where it waits. */
		while (ioctl(p.fd, PERF_EXT_IOC_RESTART, &one) < 0) {
			if (errno != ESRCH)
				die("RESTART");
			sched_yield();
		}
	}
}

static void run_stopped(unsigned int n)
{
	while (n--) {
		int status;

		if (waitpid(stopped, &status, WUNTRACED) != stopped || !WIFSTOPPED(status))
			die("waitpid");
		if (ioctl(first_event(), PERF_EVENT_IOC_REFRESH, 1) < 0 || kill(stopped, SIGCONT))
			die("REFRESH");
	}
}

/* Each round is one sample; the one that is at hand may be of the next round. */
static double each_round(void (*run)(unsigned int n), unsigned int n)
{
	double mean = time_of(run, n);
	u64 samples = buffer_count();

	if (samples + 1 < n || samples > n + 1)
		die("not each round is a sample");
	return mean;
}

static double each_held(unsigned int n)
{
	return each_round(run_held, n);
}

static double each_stopped(unsigned int n)
{
	return each_round(run_stopped, n);
}

static void child_done(void)
{
	kill(stopped, SIGKILL);
	waitpid(stopped, NULL, 0);
	close(start[0]);
	close(start[1]);
	buffer_unmap();
}

/* ---- perf_cost ---- */

/* A number behind a word, in a file of sysfs */
static long long number_of(const char *file, const char *word)
{
	char path[128], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/perf_cost/%s", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) < 0 || strncmp(text, word, strlen(word)))
		die(path);
	close(fd);
	return strtoll(text + strlen(word), NULL, 0);
}

bool cost_counted(const char *file)
{
	long long type = number_of("type", ""), config = number_of(file, "event=");
	struct perf_event_attr a;

	if (type < 0 || config < 0)
		return false;
	attr_init(&a, type, config);
	return event_add(&a, -1, 0) >= 0;
}

static bool switch_cost(unsigned int unused)
{
	return switch_group(unused) && cost_counted("events/switch_time");
}

/* ---- memory ---- */

#define MANY		5000

static void tell_periods(int fd)
{
	struct perf_ext_periods ask = { .short_period = 1000, .mask = 63, .seed = 1 };

	if (ioctl(fd, PERF_EXT_IOC_PERIODS, &ask) < 0)
		die("PERIODS");
}

static double memory_plain(unsigned int n)
{
	return memory_of_each(n, 2000, NULL);
}

static double memory_periods(unsigned int n)
{
	return memory_of_each(n, 2000, tell_periods);
}

#define SWITCH		"switch pair, 4 counters"
#define SWITCH_CLOCK	"switch pair, 4 counters and a clock"
#define TIMED		"clock that overflows, 4 counters beside it"
#define HELD		"thread that stops at a fault, and on"
#define BYTES		"bytes, not instructions, of an event"

#define PAIRS(what, how, setup, arg) \
	ROW(what, how, setup, run_pingpong, NULL, partner_stop, arg, 500, 0, NULL)

const struct row ext_task_rows[] = {
	PAIRS(SWITCH, "a group", switch_group, 0),
	PAIRS(SWITCH, "ring of 4 sets", switch_ring, 0),
	PAIRS(SWITCH, "a group, and perf_cost counted", switch_cost, 0),
	PAIRS(SWITCH_CLOCK, "a group", switch_group, SECOND),
	PAIRS(SWITCH_CLOCK, "ring of 4 sets", switch_ring, SECOND),
	ROW(TIMED, "no sets", clock_alone, NULL, NULL, NULL, TIMEOUT, TURNS, 0, each_overflow),
	ROW(TIMED, "two sets, a turn each", turn_by_time, NULL, NULL, NULL, TIMEOUT, TURNS, 0,
	    each_turn),
	ROW(TIMED, "two groups rotate, perf_cost counted", rotated, NULL, NULL, NULL, 0, 20 * TURNS,
	    3, each_rotation),
	ROW(HELD, "REFRESH, SIGSTOP, SIGCONT", stopped_by_signal, NULL, buffer_drain, child_done, 0,
	    FAULTS, 0, each_stopped),
	ROW(HELD, "NOTIFY with BLOCK, RESTART", held_by_notify, NULL, buffer_drain, child_done, 0,
	    FAULTS, 0, each_held),
	ROW(BYTES, "plain event", NULL, NULL, NULL, NULL, 0, MANY, 3, memory_plain),
	ROW(BYTES, "PERIODS", NULL, NULL, NULL, NULL, 0, MANY, 3, memory_periods),
	{ }
};
