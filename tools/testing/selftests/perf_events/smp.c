// SPDX-License-Identifier: GPL-2.0
/*
 * smp.c - tasks that move and CPUs that look on: counts of a task that is
 * switched, migrated and read from elsewhere are exact all the same, and a
 * reader on another CPU sees whole records only.
 *
 * Most cases make sense on one CPU as well, with switches instead of real
 * concurrency.
 *
 * needs: smp hw
 */
#include "lib/ptest.h"
#include <pthread.h>

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static struct perf_event_attr calls(void)
{
	return pt_attr(PERF_TYPE_TRACEPOINT,
		       pt_tracepoint_id("syscalls", "sys_enter_getppid"));
}

static int last_cpu(void)
{
	return pt_online_cpus() - 1;
}

struct worker {
	pthread_t thread;
	pthread_barrier_t ready;
	pid_t tid;
	u64 done;
	int go[2];
	bool stop;
	void (*turn)(struct worker *w);
	int cpu;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	pt_pin(w->cpu);
	w->tid = pt_tid();
	pthread_barrier_wait(&w->ready);
	pt_gate_wait(w->go);
	while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
		w->turn(w);
		__atomic_store_n(&w->done, w->done + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void start_worker(struct worker *w, void (*turn)(struct worker *), int cpu)
{
	memset(w, 0, sizeof(*w));
	w->turn = turn;
	w->cpu = cpu;
	pt_gate_make(w->go);
	pthread_barrier_init(&w->ready, NULL, 2);
	pt_need(!pthread_create(&w->thread, NULL, work, w), "thread");
	pthread_barrier_wait(&w->ready);
}

static void go_worker(struct worker *w)
{
	pt_gate_open(w->go);
}

static void stop_worker(struct worker *w)
{
	__atomic_store_n(&w->stop, true, __ATOMIC_RELEASE);
	pthread_join(w->thread, NULL);
}

static void call_once(struct worker *w)
{
	(void)w;
	syscall(SYS_getppid);
}

static void wait_for(struct worker *w, u64 turns)
{
	u64 start = __atomic_load_n(&w->done, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&w->done, __ATOMIC_ACQUIRE) < start + turns)
		sched_yield();
}

static void migrating_counts_are_exact(void)
{
	struct perf_event_attr attr = calls();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	int i, cpus = pt_online_cpus();

	for (i = 0; i < 60; i++) {
		pt_pin(i % cpus);
		syscall(SYS_getppid);
		if (i % 3 == 0)
			sched_yield();
		pt_eq(pt_count(fd), i + 1);
	}
}

static void read_from_elsewhere(void)
{
	struct perf_event_attr attr = calls();
	u64 f = TIMES, last = 0, last_enabled = 0;
	struct worker w;
	struct pt_read r;
	int fd, i;

	attr.read_format = f;
	start_worker(&w, call_once, last_cpu());
	pt_pin(0);
	fd = pt_open(&attr, w.tid, -1, -1, 0);
	go_worker(&w);
	for (i = 0; i < 100; i++) {
		u64 at_least = __atomic_load_n(&w.done, __ATOMIC_ACQUIRE);

		pt_read(fd, f, 1, &r);
		pt_check(r.v[0].value >= last && r.v[0].value >= at_least, "%llu after %llu",
			 (unsigned long long)r.v[0].value, (unsigned long long)last);
		pt_check(r.enabled >= last_enabled, "enabled went back");
		pt_check(r.running <= r.enabled, "running %llu of %llu",
			 (unsigned long long)r.running, (unsigned long long)r.enabled);
		last = r.v[0].value;
		last_enabled = r.enabled;
		if (i % 10 == 0)
			wait_for(&w, 1);
	}
	stop_worker(&w);
	pt_eq(pt_count(fd), w.done);
}

static void switched_from_elsewhere(void)
{
	struct perf_event_attr attr = calls();
	struct worker w;
	u64 n;
	int fd, i;

	attr.disabled = 1;
	start_worker(&w, call_once, last_cpu());
	pt_pin(0);
	fd = pt_open(&attr, w.tid, -1, -1, 0);
	go_worker(&w);
	for (i = 0; i < 15; i++) {
		/* Off means off when the ioctl is done, but for a hit under way; on means on. */
		wait_for(&w, 1);
		n = pt_count(fd);
		wait_for(&w, 2);
		pt_eq(pt_count(fd), n);
		pt_enable(fd);
		wait_for(&w, 2);
		pt_check(pt_count(fd) > n, "enabled and not counting");
		pt_disable(fd);
	}
	stop_worker(&w);
}

static void opened_and_closed_elsewhere(void)
{
	struct perf_event_attr attr = calls();
	struct worker w;
	int i, keep;

	start_worker(&w, call_once, last_cpu());
	pt_pin(0);
	keep = pt_open(&attr, w.tid, -1, -1, 0);
	go_worker(&w);
	for (i = 0; i < 15; i++) {
		int fd = pt_open(&attr, w.tid, -1, -1, 0);
		int sib = pt_open(&attr, w.tid, -1, fd, 0);

		wait_for(&w, 2);
		pt_check(pt_count(fd) >= 1, "not counting");
		pt_check(pt_count(sib) >= 1, "sibling not counting");
		close(i & 1 ? fd : sib);
		wait_for(&w, 1);
		close(i & 1 ? sib : fd);
	}
	stop_worker(&w);
	pt_eq(pt_count(keep), w.done);
}

static u8 *pages;
#define PAGES	64

/* Touch a row of pages and give them back: each turn is PAGES faults. */
static void fault_row(struct worker *w)
{
	(void)w;
	pt_touch(pages, PAGES);
	madvise(pages, PAGES * (size_t)pt_page_size(), MADV_DONTNEED);
}

/*
 * One writes, one reads: every record must be whole, addresses in turn, and
 * each gap in them told by a LOST record.
 */
static void reader_beside_the_writer(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 seen = 0, lost = 0, next = 0;
	static struct pt_record rec;
	struct pt_sample s;
	struct worker w;
	struct pt_ring r;
	int fd;

	pages = pt_fresh_pages(PAGES);
	start_worker(&w, fault_row, last_cpu());
	pt_pin(0);
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
	attr.read_format = PERF_FORMAT_LOST;
	attr.disabled = 1;
	fd = pt_open(&attr, w.tid, -1, -1, 0);
	pt_map(&r, fd, 1);
	pt_enable(fd);
	go_worker(&w);
	while (seen < pt_turns(600)) {
		u64 page;

		if (!pt_next(&r, &rec)) {
			sched_yield();
			continue;
		}
		if (rec.h.type == PERF_RECORD_LOST) {
			struct pt_rec_lost l;

			memcpy(&l, rec.body, sizeof(l));
			lost += l.lost;
			next = (next + l.lost) % PAGES;
			continue;
		}
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.tid, w.tid);
		pt_eq(s.cpu, last_cpu());
		page = (s.addr - pt_addr(pages)) / (u64)pt_page_size();
		/* A thread's first steps fault elsewhere, too. */
		if (page >= PAGES) {
			seen++;
			continue;
		}
		pt_need(page == next, "page %llu instead of %llu after %llu samples, %llu lost",
			(unsigned long long)page, (unsigned long long)next,
			(unsigned long long)seen, (unsigned long long)lost);
		next = (page + 1) % PAGES;
		seen++;
		if (seen % 5 == 0)
			pt_consume(&r);
	}
	stop_worker(&w);
	pt_disable(fd);
	while (pt_next(&r, &rec))
		seen += rec.h.type == PERF_RECORD_SAMPLE;
	{
		struct pt_read v;

		pt_read(fd, PERF_FORMAT_LOST, 1, &v);
		pt_eq(v.v[0].value, seen + v.v[0].lost);
		pt_check(v.v[0].lost >= lost, "told of %llu, lost %llu", (unsigned long long)lost,
			 (unsigned long long)v.v[0].lost);
	}
}

static void read_group_elsewhere(void)
{
	struct perf_event_attr attr = calls();
	u64 f = PERF_FORMAT_GROUP | TIMES;
	struct worker w;
	struct pt_read r;
	int lead, i;

	attr.read_format = f;
	start_worker(&w, call_once, last_cpu());
	pt_pin(0);
	attr.disabled = 1;
	lead = pt_open(&attr, w.tid, -1, -1, 0);
	attr.disabled = 0;
	pt_open(&attr, w.tid, -1, lead, 0);
	pt_open(&attr, w.tid, -1, lead, 0);
	pt_enable(lead);
	go_worker(&w);
	for (i = 0; i < 100; i++) {
		pt_read(lead, f, 3, &r);
		/* Members are read one after the other, while the counting goes on. */
		pt_check(r.v[0].value <= r.v[1].value + 1 &&
			 r.v[1].value <= r.v[2].value + 1, "members at %llu, %llu, %llu",
			 (unsigned long long)r.v[0].value, (unsigned long long)r.v[1].value,
			 (unsigned long long)r.v[2].value);
	}
	stop_worker(&w);
	pt_read(lead, f, 3, &r);
	pt_eq(r.v[0].value, w.done);
	pt_eq(r.v[1].value, w.done);
	pt_eq(r.v[2].value, w.done);
}

/* Every CPU has its event; a task running over all of them is counted once. */
static void sum_of_all_cpus(void)
{
	struct perf_event_attr attr = calls();
	int fd[64], cpus = pt_online_cpus(), i;
	u64 sum = 0;

	for (i = 0; i < cpus; i++)
		fd[i] = pt_open(&attr, -1, i, -1, 0);
	for (i = 0; i < 100; i++) {
		pt_pin(i % cpus);
		syscall(SYS_getppid);
	}
	for (i = 0; i < cpus; i++)
		sum += pt_count(fd[i]);
	pt_eq(sum, 100);
}

#define CROWD		4
#define CROWD_CALLS	400

static void call_on_a_cpu(void *arg)
{
	int i;

	pt_pin(*(int *)arg);
	for (i = 0; i < CROWD_CALLS; i++)
		syscall(SYS_getppid);
}

/*
 * The output of an inherited event goes to the buffer of another one, so tasks on several CPUs
 * write there at the same time: every record is whole, and what is not there was counted as lost.
 */
static void many_tasks_one_buffer(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY)), hits = calls();
	static struct pt_record rec;
	u64 seen = 0, v[2];
	int target, fd, i;
	struct pt_sample s;
	pid_t pid[CROWD];
	struct pt_ring r;

	target = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, target, 64);
	hits.inherit = 1;
	hits.sample_period = 1;
	hits.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
	hits.read_format = PERF_FORMAT_LOST;
	fd = pt_open(&hits, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, target), 0);
	for (i = 0; i < CROWD; i++) {
		int cpu = i % pt_online_cpus();

		pid[i] = pt_fork(call_on_a_cpu, &cpu);
	}
	for (i = 0; i < CROWD; i++)
		pt_reap(pid[i]);
	pt_disable(fd);
	while (pt_next(&r, &rec)) {
		if (rec.h.type != PERF_RECORD_SAMPLE)
			continue;
		pt_parse_sample(&hits, &rec, &s);
		seen++;
	}
	pt_eq(read(fd, v, sizeof(v)), (ssize_t)sizeof(v));
	pt_eq(v[0], CROWD * CROWD_CALLS);
	pt_eq(seen + v[1], v[0]);
}

static void task_clock_over_migrations(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(TASK_CLOCK));
	u64 a, b, n, slack;
	int fd, i;

	fd = pt_open(&attr, 0, -1, -1, 0);
	n = pt_count(fd);
	a = pt_clock(CLOCK_THREAD_CPUTIME_ID);
	for (i = 0; i < 20; i++) {
		pt_pin(i % pt_online_cpus());
		pt_burn(1000000);
	}
	b = pt_clock(CLOCK_THREAD_CPUTIME_ID);
	n = pt_count(fd) - n;
	/* Each move has the task on a CPU for some time before its events are. */
	slack = (b - a) / (pt_time_is_exact() ? 20 : 4);
	pt_check(n + slack >= b - a && n <= b - a + slack, "task-clock %llu of %llu",
		 (unsigned long long)n, (unsigned long long)(b - a));
}

static void spin_a_little(struct worker *w)
{
	(void)w;
	pt_spin(10000);
}

/* A clock is read while it runs on another CPU; one that samples has a timer there. */
static void clock_read_from_elsewhere(u64 period)
{
	struct perf_event_attr attr = pt_attr(PT_SW(TASK_CLOCK));
	u64 last = 0, start, n;
	struct worker w;
	int fd, i;

	attr.sample_period = period;
	start_worker(&w, spin_a_little, last_cpu());
	pt_pin(0);
	fd = pt_open(&attr, w.tid, -1, -1, 0);
	start = pt_clock(CLOCK_MONOTONIC);
	go_worker(&w);
	for (i = 0; i < 50; i++) {
		wait_for(&w, 2);
		n = pt_count(fd);
		pt_check(n > last, "the clock stands at %llu", (unsigned long long)n);
		pt_check(n <= pt_clock(CLOCK_MONOTONIC) - start + 1000000,
			 "%llu ns of %llu", (unsigned long long)n,
			 (unsigned long long)(pt_clock(CLOCK_MONOTONIC) - start));
		last = n;
	}
	stop_worker(&w);
	n = pt_count(fd);
	pt_burn(1000000);
	pt_eq(pt_count(fd), n);
}

static void task_clock_read_from_elsewhere(void)
{
	clock_read_from_elsewhere(0);
}

static void sampling_clock_read_from_elsewhere(void)
{
	clock_read_from_elsewhere(1ull << 62);
}

static void hw_over_migrations(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	u64 n;
	int fd, i;

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	fd = pt_open_hw(&attr, -1);
	if (!pt_time_is_exact())
		pt_skip("instructions are not counted exactly here");
	pt_enable(fd);
	for (i = 0; i < 20; i++) {
		pt_pin(i % pt_online_cpus());
		pt_spin(50000);
		sched_yield();
	}
	pt_disable(fd);
	n = pt_count(fd);
	pt_check(n >= 2000000 && n < 2020000, "%llu instructions", (unsigned long long)n);
}

/* ---- groups in samples, while other CPUs change them ---- */

#define MEMBERS	60

static struct pt_record rec;
static struct pt_sample s;

static struct perf_event_attr sampling_faults(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	attr.disabled = 1;
	return attr;
}

static void fault_some(struct worker *w)
{
	(void)w;
	pt_fault(30);
}

/* Members stand in the order in which they came: ids rise, and there is one in each place. */
static void check_whole_groups(struct pt_ring *ring, const struct perf_event_attr *attr,
			       u64 *samples)
{
	u64 i;

	while (pt_next(ring, &rec) && !pt_failures()) {
		if (rec.h.type != PERF_RECORD_SAMPLE)
			continue;
		pt_parse_sample(attr, &rec, &s);
		pt_check(s.read.nr >= 1 && s.read.nr <= MEMBERS, "%llu members",
			 (unsigned long long)s.read.nr);
		for (i = 1; i < s.read.nr && !pt_failures(); i++)
			pt_check(s.read.v[i].id > s.read.v[i - 1].id, "id %llu behind %llu",
				 (unsigned long long)s.read.v[i].id,
				 (unsigned long long)s.read.v[i - 1].id);
		++*samples;
	}
	pt_consume(ring);
}

/* A sample shows the group as it is at one moment, whoever closes and opens members meanwhile. */
static void members_leave_during_samples(void)
{
	struct perf_event_attr attr = sampling_faults(), other = pt_attr(PT_SW(EMULATION_FAULTS));
	int lead, fd[MEMBERS], i;
	struct pt_ring ring;
	unsigned int turn;
	struct worker w;
	u64 samples = 0;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
	start_worker(&w, fault_some, last_cpu());
	pt_pin(0);
	lead = pt_open(&attr, w.tid, -1, -1, 0);
	pt_map(&ring, lead, 256);
	pt_enable(lead);
	go_worker(&w);
	for (turn = 0; (turn < pt_turns(60) || !samples) && !pt_failures(); turn++) {
		for (i = 1; i < MEMBERS; i++)
			fd[i] = pt_open(&other, w.tid, -1, lead, 0);
		check_whole_groups(&ring, &attr, &samples);
		for (i = 1; i < MEMBERS; i++) {
			/* the newest half, then the oldest */
			close(fd[1 + (i + MEMBERS / 2) % (MEMBERS - 1)]);
			check_whole_groups(&ring, &attr, &samples);
		}
	}
	stop_worker(&w);
	pt_unmap(&ring);
	close(lead);
}

static u64 monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * A clock that is switched off and on from elsewhere: what samples show of it does not go back, but
 * for what the other CPU needs from its look at the clock to the stop.
 */
static void clock_stopped_during_samples(void)
{
	struct perf_event_attr attr = sampling_faults(), clock = pt_attr(PT_SW(TASK_CLOCK));
	u64 samples = 0, last = 0, longest = 0, began;
	struct pt_ring ring;
	struct worker w;
	int lead, fd, turn;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
	start_worker(&w, fault_some, last_cpu());
	pt_pin(0);
	lead = pt_open(&attr, w.tid, -1, -1, 0);
	fd = pt_open(&clock, w.tid, -1, lead, 0);
	pt_map(&ring, lead, 128);
	pt_enable(lead);
	go_worker(&w);
	for (turn = 0; (turn < 3000 || samples < 100) && !pt_failures(); turn++) {
		began = monotonic();
		pt_disable(fd);
		began = monotonic() - began;
		if (began > longest)
			longest = began;
		pt_enable(fd);
		while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
			pt_parse_sample(&attr, &rec, &s);
			pt_eq(s.read.nr, 2);
			/* The host may have held up the other CPU in the middle of it. */
			pt_check(s.read.v[1].value + longest >= last, "%llu after %llu",
				 (unsigned long long)s.read.v[1].value, (unsigned long long)last);
			last = s.read.v[1].value;
			samples++;
		}
		pt_consume(&ring);
	}
	stop_worker(&w);
	pt_check(pt_count(fd) + longest >= last, "the count went back");
	pt_unmap(&ring);
	close(lead);
}

/* One call, and now and then another thread's turn, which makes as many. */
static void call_and_yield(struct worker *w)
{
	if (w->done % 40 == 0)
		sched_yield();
	syscall(SYS_getppid);
}

/*
 * Its first event, again and again, while the scheduler switches to it and from it: when the open
 * has returned each call counts.
 */
static void first_event_of_a_running_task(void)
{
	struct perf_event_attr attr = calls();
	struct worker w, other;
	u64 before, after;
	unsigned int i;
	int fd;

	/* Keeps the keys on, which take long to turn. */
	pt_open(&attr, 0, -1, -1, 0);
	start_worker(&w, call_and_yield, last_cpu());
	start_worker(&other, call_and_yield, last_cpu());
	pt_pin(0);
	go_worker(&w);
	go_worker(&other);
	for (i = 0; i < pt_turns(300); i++) {
		fd = pt_open(&attr, w.tid, -1, -1, 0);
		before = __atomic_load_n(&w.done, __ATOMIC_ACQUIRE);
		wait_for(&w, 41 + i % 40);
		after = __atomic_load_n(&w.done, __ATOMIC_ACQUIRE);
		/* The first may have begun before that look, and have been over before the open. */
		pt_check(pt_count(fd) + 1 >= after - before, "%llu of %llu calls",
			 (unsigned long long)pt_count(fd), (unsigned long long)(after - before));
		close(fd);
	}
	stop_worker(&w);
	stop_worker(&other);
}

/* What a read of each of two events costs CPU 1, while the context of both is in there. */
static void reads_call(int calls, int on, int off, u64 called)
{
	u64 before = pt_count(calls);
	int i;

	for (i = 0; i < 10; i++) {
		pt_count(on);
		pt_count(off);
	}
	pt_eq(pt_count(calls) - before, called);
}

/* A CPU is interrupted for a count that is in its hardware, and for no other. */
static void read_of_what_does_not_count(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	int calls, on, off;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
	if (pt_is_stock())
		pt_skip("the function is ours");
	attr.sample_period = 1ull << 62;	/* a timer is what a CPU has of it */
	pt_pin(0);
	calls = pt_open_cross_calls("pe_call_arrives", 0);
	on = pt_open(&attr, -1, 1, -1, 0);
	off = pt_open(&attr, -1, 1, -1, 0);
	reads_call(calls, on, off, 20);
	pt_disable(off);
	reads_call(calls, on, off, 10);
	pt_disable(on);
	reads_call(calls, on, off, 0);
}

static const struct pt_case cases[] = {
	{ "migrating_counts_are_exact", migrating_counts_are_exact },
	{ "read_from_elsewhere", read_from_elsewhere },
	{ "switched_from_elsewhere", switched_from_elsewhere },
	{ "opened_and_closed_elsewhere", opened_and_closed_elsewhere },
	{ "reader_beside_the_writer", reader_beside_the_writer },
	{ "read_of_what_does_not_count", read_of_what_does_not_count },
	{ "read_group_elsewhere", read_group_elsewhere },
	{ "sum_of_all_cpus", sum_of_all_cpus },
	{ "many_tasks_one_buffer", many_tasks_one_buffer },
	{ "task_clock_over_migrations", task_clock_over_migrations },
	{ "task_clock_read_from_elsewhere", task_clock_read_from_elsewhere },
	{ "sampling_clock_read_from_elsewhere", sampling_clock_read_from_elsewhere },
	{ "hw_over_migrations", hw_over_migrations },
	{ "members_leave_during_samples", members_leave_during_samples },
	{ "clock_stopped_during_samples", clock_stopped_during_samples },
	{ "first_event_of_a_running_task", first_event_of_a_running_task },
};

PT_MAIN(cases)
