// SPDX-License-Identifier: GPL-2.0
/*
 * notify_race.c - a thread runs from overflow to overflow, each of which holds it, while another
 * CPU says RESTART, NOTIFY and close() without looking: no event is lost or counted twice, and
 * nobody is held for ever. See notify_hold.c.
 *
 * needs: smp
 */
#include "lib/hold.h"
#include "lib/rival.h"
#include "lib/session.h"
#include "lib/slow_fork.h"

#define TURNS	pt_turns(20000)
#define PERIOD	3

/* In shared memory, of the child: what it has faulted, and that it is to end. */
static struct {
	volatile u64 done;
	volatile bool stop;
} *shared;

/*
 * One fault after the other on a page that is given back in between; the system call is none of
 * user space.
 */
static void faults_for_ever(struct held *h)
{
	u8 *page = pt_fresh_pages(1);

	pt_pin(pt_online_cpus() > 1 ? 1 : 0);
	pt_touch(page, 1);
	shared->done = 0;	/* its first store is a fault, too */
	held_ready(h);
	while (!shared->stop) {
		pt_need(!madvise(page, (size_t)pt_page_size(), MADV_DONTNEED), "madvise: %s",
			strerror(errno));
		pt_touch(page, 1);
		shared->done++;
	}
}

static void start_child(struct held *h, void (*fn)(struct held *h))
{
	ext_need();
	shared = mmap(NULL, (size_t)pt_page_size(), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pt_need(shared != MAP_FAILED, "mmap: %s", strerror(errno));
	/* What is throttled does not count until the next tick. */
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	pt_pin(0);
	held_fork(h, fn);
}

static void start(struct held *h)
{
	start_child(h, faults_for_ever);
}

static void finish(struct held *h)
{
	shared->stop = true;
	pt_eq(notify(h->fd, 0, 0), 0);
	pt_reap(h->pid);
}

static struct perf_event_attr user_faults(void)
{
	struct perf_event_attr attr = held_attr(PERIOD);

	attr.exclude_kernel = 1;
	return attr;
}

/* An emulator that runs one CPU at a time stays with it until it is idle, and then for how long? */
static void turn_to_the_other(unsigned int i)
{
	const struct timespec moment = { 0, 1000 * (i / 4 % 7) };

	if (!(i % 4))
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
}

/*
 * RESTART at whatever moment of a hold. All faults are counted, so wherever the thread stands it
 * has just had the last one of a period, whose store is yet to come.
 */
static void restart_at_once(void)
{
	struct perf_event_attr attr = user_faults();
	u64 count, last = 0;
	unsigned int i;
	struct held h;

	start(&h);
	held_watch(&h, &attr);
	pt_enable(h.fd);
	held_go(&h);
	for (i = 1; i <= TURNS && !pt_failures(); i++) {
		pt_eq(restart(h.fd), 0);
		turn_to_the_other(i);
		if (i % (TURNS / 100))
			continue;
		held_wait(&h);
		count = pt_count(h.fd);
		pt_eq(count % PERIOD, 0);
		pt_eq(shared->done, count - 1);
		pt_check(count > last, "nothing has happened since");
		last = count;
	}
	pt_msg("%llu holds, %u times RESTART", (unsigned long long)last / PERIOD, TURNS);
	finish(&h);
}

/* Who is held is let go by whatever comes next, and held again, or not. */
static void notify_at_once(void)
{
	static const u32 kind[] = { HOLD, PERF_EXT_NOTIFY_STOP, HOLD, 0 };
	struct perf_event_attr attr = user_faults();
	u64 before = 0;
	unsigned int i;
	struct held h;

	start(&h);
	held_watch(&h, &attr);
	pt_enable(h.fd);
	held_go(&h);
	for (i = 0; i < TURNS / 10 && !pt_failures(); i++) {
		pt_eq(notify(h.fd, 1 + (i & 1), kind[i % 4]), 0);
		if (i % 3)
			pt_eq(restart(h.fd), 0);
		turn_to_the_other(i);
		if (i % (TURNS / 100))
			continue;
		/* In the end it stands, and it has gone on since. */
		pt_eq(notify(h.fd, 1, HOLD), 0);
		pt_eq(restart(h.fd), 0);
		held_wait(&h);
		pt_check(shared->done > before, "nothing has happened since");
		before = shared->done;
	}
	finish(&h);
}

/* The event is closed at whatever moment: the thread goes on without it. */
static void close_at_once(void)
{
	struct perf_event_attr attr = user_faults();
	u64 before = 0;
	unsigned int i;
	struct held h;

	start(&h);
	held_go(&h);
	for (i = 0; i < TURNS / 20 && !pt_failures(); i++) {
		int fd = pt_open(&attr, h.pid, -1, -1, 0);

		pt_eq(notify(fd, 1, HOLD), 0);
		pt_enable(fd);
		if (i & 1)
			pt_eq(restart(fd), 0);
		if (i & 2)
			pt_spin(10 * (u64)(i % 100) + 1);
		close(fd);
		if (i % (TURNS / 100))
			continue;
		held_watch(&h, &attr);
		pt_enable(h.fd);
		held_wait(&h);
		pt_eq(pt_count(h.fd), PERIOD);
		pt_check(shared->done > before, "nothing has happened since");
		before = shared->done;
		held_close(&h);
	}
	shared->stop = true;
	pt_reap(h.pid);
}

/* ---- counters, whose overflows may be NMIs ---- */

#define CYCLES	20011

static void calls_for_ever(struct held *h)
{
	pt_pin(pt_online_cpus() > 1 ? 1 : 0);
	held_ready(h);
	while (!shared->stop) {
		(void)getppid();
		shared->done++;
	}
}

/* One that counted the kernel, too, might stop on the way out of a hold, and then holds nobody. */
static void start_counter(struct held *h)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	int fd;

	attr.sample_period = CYCLES;
	attr.exclude_kernel = 1;
	fd = pt_try_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		pt_skip("no counter that overflows");
	close(fd);
	start_child(h, calls_for_ever);
	attr.sample_type = PERF_SAMPLE_TID;
	attr.watermark = 1;		/* wakes nobody */
	attr.wakeup_watermark = 1 << 20;
	held_watch(h, &attr);
	held_go(h);
}

/* Wherever RESTART finds the event, an overflow that comes after it holds the thread. */
static void counter_and_restart(void)
{
	unsigned int i;
	struct held h;

	start_counter(&h);
	for (i = 1; i <= TURNS / 4 && !pt_failures(); i++) {
		pt_eq(restart(h.fd), 0);
		if (i % 4)
			continue;
		held_wait(&h);
	}
	finish(&h);
}

/* It counts without a notification, and then there is one: the next overflow holds the thread. */
static void counter_and_notify(void)
{
	unsigned int i;
	struct held h;

	start_counter(&h);
	for (i = 0; i < TURNS / 10 && !pt_failures(); i++) {
		pt_eq(notify(h.fd, 0, 0), 0);
		pt_eq(restart(h.fd), 0);
		turn_to_the_other(i);
		pt_eq(notify(h.fd, 1, HOLD), 0);
		held_wait(&h);
	}
	finish(&h);
}

/* ---- copies ---- */

static void fault_in_children(u64 nr)
{
	unsigned int i;
	pid_t pid;

	while (nr--) {
		pt_in_child(pid) {
			pt_settle();
			for (i = 0; i < 5; i++) {
				pt_fault(5);
				let_others_run();
			}
		}
		pt_reap(pid);
	}
}

static void say_restart(struct rival *r)
{
	pt_eq(restart(r->fd), 0);
}

/*
 * A group is copied; the sibling stops it, again and again. The leader does not go on alone. A hit
 * that RESTART comes in the middle of may be the sibling's only, see lockless.rst.
 */
static void restart_copies_at_once(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 last = 0, turns = 0, now[3];
	struct worker w;
	struct rival r;
	unsigned int i;
	int fd[2];

	ext_need();
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	worker_start(&w, pt_online_cpus() > 2 ? 2 : 0);
	attr.inherit = 1;
	attr.read_format = PERF_FORMAT_GROUP;
	fd[0] = pt_open(&attr, w.pid, -1, -1, 0);
	attr.sample_period = PERIOD;
	fd[1] = pt_open(&attr, w.pid, -1, fd[0], 0);
	pt_eq(notify(fd[1], 1, PERF_EXT_NOTIFY_STOP), 0);
	for (i = 0; i < TURNS / 1000 && !pt_failures(); i++) {
		rival_start(&r, say_restart, fd[1], 0);
		worker_do(&w, fault_in_children, 20);
		rival_turns(&r);
		rival_stop(&r);
		worker_asleep(&w);
		turns += r.turns;
		pt_need(read(fd[0], now, sizeof(now)) == sizeof(now), "read: %s", strerror(errno));
		pt_check(now[1] <= now[2] && now[2] <= now[1] + turns,
			 "leader %llu, sibling %llu, %llu times RESTART",
			 (unsigned long long)now[1], (unsigned long long)now[2],
			 (unsigned long long)turns);
		pt_check(now[1] > last, "nothing has happened since");
		last = now[1];
	}
	worker_end(&w);
}

static void hit_seven(void)
{
	hit(7);
}

/* A copy that fork is making is on as well, though it was off when fork looked. */
static void restart_during_a_fork(void)
{
	struct perf_event_attr attr;
	struct slow_fork f;
	int fd;

	ext_need();
	load(NULL);
	attr = hits();
	attr.inherit = 1;
	attr.sample_period = PERIOD;
	slow_fork_start(&f, hit_seven);
	fd = pt_open(&attr, f.tid, -1, -1, 0);
	pt_eq(notify(fd, 1, 0), 0);
	pt_disable(fd);
	slow_fork_begin(&f);
	pt_eq(restart(fd), 0);
	slow_fork_end(&f);
	pt_reap(f.child);
	pt_eq(pt_count(fd), 7);
}

static const struct pt_case cases[] = {
	{ "restart_at_once", restart_at_once },
	{ "notify_at_once", notify_at_once },
	{ "close_at_once", close_at_once },
	{ "counter_and_restart", counter_and_restart },
	{ "counter_and_notify", counter_and_notify },
	{ "restart_copies_at_once", restart_copies_at_once },
	{ "restart_during_a_fork", restart_during_a_fork },
};

PT_MAIN(cases)
