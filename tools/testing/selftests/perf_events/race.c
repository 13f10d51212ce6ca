// SPDX-License-Identifier: GPL-2.0
/*
 * race.c - two threads do what must not be done at the same time, on the
 * same event: map, unmap, redirect, close, read, switch, sample.
 *
 * There is little to compare here. What counts is that every call returns
 * with a plausible answer and that the kernel's log stays silent; the latter
 * is for whoever runs this to see. Each case ends with an event that works.
 *
 * needs: smp
 */
#include "lib/rival.h"
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#define ROUNDS	pt_turns(20)

struct duel {
	pthread_barrier_t start, end;
	int fd[2];
	unsigned int round;
	void (*other)(struct duel *d);
	bool stop;
};

static void *second(void *arg)
{
	struct duel *d = arg;

	for (;;) {
		pthread_barrier_wait(&d->start);
		if (d->stop)
			return NULL;
		d->other(d);
		pthread_barrier_wait(&d->end);
	}
}

static struct perf_event_attr sampling(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_IP;
	return attr;
}

/* Each round: set up, both sides at once, clear up. */
static void fight(void (*setup)(struct duel *), void (*one)(struct duel *),
		  void (*other)(struct duel *), void (*cleanup)(struct duel *))
{
	struct duel d = { .other = other, .fd = { -1, -1 } };
	struct perf_event_attr attr = sampling();
	struct pt_ring r;
	pthread_t t;
	int fd;

	pthread_barrier_init(&d.start, NULL, 2);
	pthread_barrier_init(&d.end, NULL, 2);
	pt_need(!pthread_create(&t, NULL, second, &d), "thread");
	for (d.round = 0; d.round < ROUNDS; d.round++) {
		setup(&d);
		pthread_barrier_wait(&d.start);
		one(&d);
		pthread_barrier_wait(&d.end);
		cleanup(&d);
	}
	d.stop = true;
	pthread_barrier_wait(&d.start);
	pthread_join(t, NULL);
	/* And it still works. */
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 2);
	pt_enable(fd);
	pt_fault(5);
	pt_disable(fd);
	pt_check(pt_count_records(&r, PERF_RECORD_SAMPLE) >= 5, "no samples any more");
}

static void open_two(struct duel *d)
{
	struct perf_event_attr attr = sampling();

	d->fd[0] = pt_open(&attr, getpid(), -1, -1, 0);
	d->fd[1] = pt_open(&attr, getpid(), -1, -1, 0);
}

static void close_two(struct duel *d)
{
	close(d->fd[0]);
	close(d->fd[1]);
}

static void map_and_unmap(int fd, int pages)
{
	void *p = pt_try_map(fd, pages, PROT_READ | PROT_WRITE);

	if (!p)
		return;
	*(volatile u8 *)p;
	munmap(p, (size_t)(1 + pages) * (size_t)pt_page_size());
}

static void map_first(struct duel *d)
{
	map_and_unmap(d->fd[0], 4);
	pt_fault(1);
	map_and_unmap(d->fd[0], 4);
}

static void map_other_size(struct duel *d)
{
	map_and_unmap(d->fd[0], 2);
	map_and_unmap(d->fd[0], 4);
}

static void two_mappers(void)
{
	fight(open_two, map_first, map_other_size, close_two);
}

static void close_first(struct duel *d)
{
	close(d->fd[0]);
	d->fd[0] = -1;
}

/* The last mapping and the last fd go at the same time */
static void *mapping;

static void open_and_map(struct duel *d)
{
	open_two(d);
	mapping = pt_try_map(d->fd[0], 4, PROT_READ | PROT_WRITE);
	pt_need(mapping, "mmap: %s", strerror(errno));
	pt_fault(1);
}

static void unmap_it(struct duel *d)
{
	(void)d;
	munmap(mapping, 5 * (size_t)pt_page_size());
}

static void unmap_and_close(void)
{
	fight(open_and_map, unmap_it, close_first, close_two);
}

static void redirect_second(struct duel *d)
{
	pt_ioctl(d->fd[1], PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)d->fd[0]);
	pt_fault(1);
	pt_ioctl(d->fd[1], PERF_EVENT_IOC_SET_OUTPUT, -1ul);
	pt_ioctl(d->fd[1], PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)d->fd[0]);
}

static void redirect_and_unmap(void)
{
	fight(open_and_map, redirect_second, unmap_it, close_two);
}

static void redirect_to_the_other(struct duel *d)
{
	pt_ioctl(d->fd[0], PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)d->fd[1]);
	map_and_unmap(d->fd[0], 4);
}

static void redirect_and_map(struct duel *d)
{
	pt_ioctl(d->fd[1], PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)d->fd[0]);
	map_and_unmap(d->fd[1], 4);
}

static void redirect_crosswise(void)
{
	fight(open_two, redirect_to_the_other, redirect_and_map, close_two);
}

static void map_both(struct duel *d)
{
	map_and_unmap(d->fd[1], 4);
}

static void redirected_is_mapped(void)
{
	fight(open_and_map, redirect_second, map_both, close_two);
}

static void unmap_then_close(struct duel *d)
{
	unmap_it(d);
	close_two(d);
}

static void fault_some(struct duel *d)
{
	(void)d;
	pt_fault(20);
}

static void toggle(struct duel *d)
{
	int i;

	for (i = 0; i < 10; i++) {
		pt_ioctl(d->fd[0], PERF_EVENT_IOC_DISABLE, 0);
		pt_ioctl(d->fd[0], PERF_EVENT_IOC_PAUSE_OUTPUT, i & 1);
		pt_ioctl(d->fd[0], PERF_EVENT_IOC_ENABLE, 0);
		pt_ioctl(d->fd[0], PERF_EVENT_IOC_RESET, 0);
	}
}

static void sampling_and_switching(void)
{
	fight(open_and_map, fault_some, toggle, unmap_then_close);
}

/* Overflow against removal, on the path that runs with interrupts on */
static void sampling_and_close(void)
{
	fight(open_and_map, fault_some, close_first, unmap_then_close);
}

static void poll_it(struct duel *d)
{
	struct pollfd p = { .fd = d->fd[0], .events = POLLIN };
	int i;

	for (i = 0; i < 10; i++)
		poll(&p, 1, 0);
}

static void poll_and_close(void)
{
	fight(open_and_map, poll_it, close_first, unmap_then_close);
}

static void read_it(struct duel *d)
{
	u64 v[8];
	int i;

	for (i = 0; i < 10; i++) {
		ssize_t n = read(d->fd[0], v, sizeof(v));

		pt_check(n == 8 || (n == -1 && errno == EBADF), "read gave %zd", n);
	}
}

static void read_and_close(void)
{
	fight(open_two, read_it, close_first, close_two);
}

static void open_group(struct duel *d)
{
	struct perf_event_attr attr = sampling();

	d->fd[0] = pt_open(&attr, getpid(), -1, -1, 0);
	d->fd[1] = pt_open(&attr, getpid(), -1, d->fd[0], 0);
}

static void group_ioctls(struct duel *d)
{
	int i;

	for (i = 0; i < 10; i++) {
		pt_ioctl(d->fd[1], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
		pt_ioctl(d->fd[1], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
		pt_ioctl(d->fd[1], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	}
}

static void group_ioctl_and_leader_close(void)
{
	fight(open_group, group_ioctls, close_first, close_two);
}

static void set_period(struct duel *d)
{
	u64 period;

	for (period = 1; period < 20; period++)
		pt_ioctl(d->fd[0], PERF_EVENT_IOC_PERIOD, (unsigned long)&period);
}

static void period_and_sampling(void)
{
	fight(open_and_map, fault_some, set_period, unmap_then_close);
}

static void refresh_it(struct duel *d)
{
	int i;

	for (i = 0; i < 10; i++)
		pt_ioctl(d->fd[0], PERF_EVENT_IOC_REFRESH, 1);
}

static void refresh_and_sampling(void)
{
	fight(open_and_map, fault_some, refresh_it, unmap_then_close);
}

static void open_clock(struct duel *d)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));

	attr.sample_period = 10000;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	d->fd[0] = pt_open(&attr, getpid(), -1, -1, 0);
	d->fd[1] = pt_open(&attr, -1, 0, -1, 0);
	mapping = pt_try_map(d->fd[0], 4, PROT_READ | PROT_WRITE);
	pt_need(mapping, "mmap: %s", strerror(errno));
}

static void spin_some(struct duel *d)
{
	(void)d;
	pt_spin(100000);
}

static void timer_and_close(void)
{
	fight(open_clock, spin_some, close_first, unmap_then_close);
}

static void timer_and_toggle(void)
{
	fight(open_clock, spin_some, toggle, unmap_then_close);
}

/* Signals on the way while the event goes. */
static void open_async(struct duel *d)
{
	open_and_map(d);
	signal(SIGIO, SIG_IGN);
	fcntl(d->fd[0], F_SETOWN, getpid());
	fcntl(d->fd[0], F_SETFL, fcntl(d->fd[0], F_GETFL) | O_ASYNC);
}

static void async_and_close(void)
{
	fight(open_async, fault_some, close_first, unmap_then_close);
}

/* Opening an event on a task that is just becoming another program */
static int exec_child(int argc, char **argv)
{
	return argc == 2 && !strcmp(argv[1], "--nothing") ? 0 : -1;
}

/* The first one lets the task go on to its exec; when it is gone, opening fails. */
static int open_until_gone(pid_t pid, struct perf_event_attr *attr, int go)
{
	int opened = 0, fd;

	while ((fd = pt_try_open(attr, pid, -1, -1, 0)) >= 0) {
		if (!opened++)
			pt_need(write(go, "x", 1) == 1, "write");
		close(fd);
		sched_yield();
	}
	pt_eq(fd, -ESRCH);
	return opened;
}

static void open_and_exec(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	unsigned int i;
	int opened = 0;

	attr.disabled = 1;
	attr.enable_on_exec = 1;
	attr.inherit = 1;
	for (i = 0; i < pt_turns(15); i++) {
		int go[2], first;
		pid_t pid;
		char c;

		pt_need(!pipe(go), "pipe: %s", strerror(errno));
		pt_in_child(pid) {
			if (read(go[0], &c, 1) == 1)
				execl("/proc/self/exe", "race", "--nothing", NULL);
			_exit(99);
		}
		first = pt_open(&attr, pid, -1, -1, 0);
		pt_eq(pt_count(first), 0);
		opened += open_until_gone(pid, &attr, go[1]);
		pt_reap(pid);
		pt_check(pt_count(first) > 0, "not enabled by the exec");
		close(first);
		close(go[0]);
		close(go[1]);
	}
	pt_msg("%d opens in time", opened);
}

/* Busy with getppid() on another CPU, if there is one, until told to stop. */
struct hitter {
	pthread_t thread;
	atomic_int tid;
	atomic_bool stop;
};

static void *hit_on(void *arg)
{
	struct hitter *h = arg;

	if (pt_online_cpus() > 1)
		pt_pin(1);
	atomic_store(&h->tid, pt_tid());
	while (!atomic_load(&h->stop))
		syscall(SYS_getppid);
	return NULL;
}

/*
 * Who sees the last sample in the buffer may allow the next at once: before the event was disabled
 * for the last one. It must not be disabled for that one afterwards, nor stay stopped. Linux 6.12
 * may do it.
 */
static void refresh_each(struct perf_event_attr *attr, unsigned int rounds)
{
	struct hitter h = {};
	struct pt_ring r;
	unsigned int i;
	u64 start;
	int fd;

	if (pt_is_stock())
		pt_skip("this kernel may disable an event that was just refreshed");
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	attr->sample_type = PERF_SAMPLE_IP;
	attr->disabled = 1;
	if (attr->type == PERF_TYPE_HARDWARE && pt_probe(attr))
		pt_skip("no hardware event that samples");
	pt_pin(0);
	pt_need(!pthread_create(&h.thread, NULL, hit_on, &h), "thread");
	while (!atomic_load(&h.tid))
		sched_yield();
	fd = pt_open(attr, atomic_load(&h.tid), -1, -1, 0);
	pt_map(&r, fd, 64);
	for (i = 1; i <= rounds; i++) {
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), 0);
		start = pt_clock(CLOCK_MONOTONIC);
		while (pt_head(&r) < i * 16) {
			if (pt_online_cpus() == 1)
				sched_yield();
			pt_need(pt_clock(CLOCK_MONOTONIC) - start < 10000000000,
				"no sample after REFRESH %u", i);
		}
	}
	atomic_store(&h.stop, true);
	pthread_join(h.thread, NULL);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), rounds);
	pt_check(pt_count(fd) >= rounds, "fewer hits than samples");
}

static void refresh_at_the_last_sample(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("syscalls", "sys_enter_getppid"));

	attr.sample_period = 1;
	refresh_each(&attr, 500);
}

/* These are stopped by whoever makes the sample. */
static void refresh_a_clock(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));

	attr.sample_period = 10000;
	refresh_each(&attr, 400);
}

static void refresh_a_counter(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));

	attr.sample_period = 10000;
	attr.exclude_kernel = 1;
	refresh_each(&attr, 200);
}

struct joiners {
	atomic_bool stop;
	int leader;
};

static void *join_and_leave(void *arg)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct joiners *j = arg;
	int fd[3], i;

	pt_pin(pt_online_cpus() - 1);
	while (!atomic_load(&j->stop)) {
		for (i = 0; i < 3; i++)
			fd[i] = pt_open(&attr, getpid(), -1, j->leader, 0);
		for (i = 0; i < 3; i++)
			close(fd[i]);
	}
	return NULL;
}

/*
 * Members join and leave while samples show the group, as long as records can be: the stack dump
 * takes what is left. Whatever the number of members, a sample takes the room that was made for it.
 */
static void group_samples_and_joining(void)
{
	struct perf_event_attr attr = sampling();
	volatile char stack[128 * 1024];
	static struct pt_record rec;
	struct joiners j = {};
	unsigned int samples = 0;
	struct pt_sample s;
	struct pt_ring r;
	pthread_t t;
	u8 *p;
	int i;

	pt_need(!(stack[0] = 0), "stack");
	pt_pin(0);
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 65528;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	j.leader = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, j.leader, 128);
	p = pt_fresh_pages(1000);
	pt_need(!pthread_create(&t, NULL, join_and_leave, &j), "thread");
	pt_enable(j.leader);
	for (i = 0; i < 1000; i++) {
		pt_touch(p + i * pt_page_size(), 1);
		while (pt_next(&r, &rec)) {
			if (rec.h.type != PERF_RECORD_SAMPLE)
				continue;
			pt_parse_sample(&attr, &rec, &s);
			samples++;
			pt_check(s.read.nr >= 1 && s.read.nr <= 4, "%llu members",
				 (unsigned long long)s.read.nr);
		}
		pt_consume(&r);
	}
	pt_disable(j.leader);
	atomic_store(&j.stop, true);
	pthread_join(t, NULL);
	pt_check(samples >= 900, "%u samples", samples);
}

/* A member of a group is inherited, even if the leader is just being closed. */
static void open_inherited_group(struct duel *d)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	u64 id = pt_tracepoint_id("syscalls", "sys_enter_getppid");

	attr.inherit = 1;
	d->fd[0] = pt_open(&attr, 0, -1, -1, 0);
	attr = pt_attr(PERF_TYPE_TRACEPOINT, id);
	attr.inherit = 1;
	d->fd[1] = pt_open(&attr, 0, -1, d->fd[0], 0);
}

static void fork_and_hit(struct duel *d)
{
	pid_t pid;

	(void)d;
	pt_in_child(pid) {
		syscall(SYS_getppid);
		syscall(SYS_getppid);
	}
	pt_reap(pid);
}

static void count_and_close(struct duel *d)
{
	pt_eq(pt_count(d->fd[1]), 2);
	close(d->fd[1]);
}

static void fork_and_leader_close(void)
{
	if (pt_is_stock())
		pt_skip("Linux 6.12 may lose counts of a group if its leader is closed in a fork");
	fight(open_inherited_group, fork_and_hit, close_first, count_and_close);
}

/* ---- RESET ---- */

static struct {
	u8 *page;
	volatile pid_t tid;
	volatile u64 done;
} faulting;

static void fault_again(struct rival *r)
{
	unsigned int i;

	(void)r;
	for (i = 0; i < 10; i++) {
		pt_need(!madvise(faulting.page, (size_t)pt_page_size(), MADV_DONTNEED),
			"madvise: %s", strerror(errno));
		pt_touch(faulting.page, 1);
		__atomic_store_n(&faulting.done, faulting.done + 1, __ATOMIC_RELEASE);
	}
	faulting.tid = pt_tid();
}

static u64 faults_done(void)
{
	return __atomic_load_n(&faulting.done, __ATOMIC_ACQUIRE);
}

/*
 * RESET while another CPU adds to the count: what is counted afterwards is not more than what has
 * been hit since. An event that samples adds to a count of its own.
 */
static void reset_and_hits(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	unsigned int i;
	struct rival r;
	int fd;

	pt_settle();
	faulting.page = pt_fresh_pages(1);
	pt_touch(faulting.page, 1);
	rival_start(&r, fault_again, -1, 0);
	rival_turns(&r);
	attr.sample_period = 1u << 30;
	fd = pt_open(&attr, faulting.tid, -1, -1, 0);
	for (i = pt_turns(5000); i && !pt_failures(); i--) {
		u64 before = faults_done(), count, after;

		while (faults_done() < before + 5)
			let_others_run();
		before = faults_done();
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
		count = pt_count(fd);
		after = faults_done() + 1;
		pt_check(count <= after - before, "%llu, and %llu hits since RESET",
			 (unsigned long long)count, (unsigned long long)(after - before));
	}
	rival_stop(&r);
}

static const struct pt_case cases[] = {
	{ "two_mappers", two_mappers },
	{ "unmap_and_close", unmap_and_close },
	{ "redirect_and_unmap", redirect_and_unmap },
	{ "redirect_crosswise", redirect_crosswise },
	{ "redirected_is_mapped", redirected_is_mapped },
	{ "sampling_and_switching", sampling_and_switching },
	{ "sampling_and_close", sampling_and_close },
	{ "poll_and_close", poll_and_close },
	{ "read_and_close", read_and_close },
	{ "group_ioctl_and_leader_close", group_ioctl_and_leader_close },
	{ "period_and_sampling", period_and_sampling },
	{ "refresh_and_sampling", refresh_and_sampling },
	{ "timer_and_close", timer_and_close },
	{ "timer_and_toggle", timer_and_toggle },
	{ "async_and_close", async_and_close },
	{ "refresh_at_the_last_sample", refresh_at_the_last_sample },
	{ "refresh_a_clock", refresh_a_clock },
	{ "refresh_a_counter", refresh_a_counter },
	{ "group_samples_and_joining", group_samples_and_joining },
	{ "fork_and_leader_close", fork_and_leader_close },
	{ "open_and_exec", open_and_exec },
	{ "reset_and_hits", reset_and_hits },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = exec_child;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
