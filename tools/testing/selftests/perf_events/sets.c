// SPDX-License-Identifier: GPL-2.0
/*
 * sets.c - groups that take turns: which set counts each event, to the last one; turns by overflow,
 * by time and by hand; sets that leave; what is refused. The counters of CPUs: counter_sets.c.
 * needs: smp
 */
#include "lib/cgroup.h"
#include "lib/sets.h"

static struct perf_ext_set_info info[SETS_MOST];

static struct perf_event_attr faults(u64 period)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = period;
	attr.disabled = 1;
	return attr;
}

static int open_faults(u64 period, pid_t pid)
{
	struct perf_event_attr attr = faults(period);

	return pt_open(&attr, pid, -1, -1, 0);
}

/* A set of the caller's page faults, enabled; threshold 0: its turn does not end by itself. */
static int set_of_faults(u64 period, u32 threshold, int ring, u16 number)
{
	int fd = open_faults(period, 0);

	if (threshold)
		pt_eq(set_trigger(fd, threshold), 0);
	pt_eq(set_join(fd, ring, number), 0);
	pt_enable(fd);
	return fd;
}

/* The second set begins behind the hundredth event of the first one, and goes on for ever. */
static void cascade(void)
{
	int a, b;

	ext_need();
	pt_settle();
	a = set_of_faults(10, 10, -1, 0);
	b = set_of_faults(0, 0, a, 1);
	pt_fault(150);
	pt_eq(pt_count(a), 100);
	pt_eq(pt_count(b), 50);
	pt_eq(set_infos(b, info), 2);
	set_was(&info[0], 1, 1, 0);
	set_was(&info[1], 1, 0, 0);
	pt_eq(info[0].flags, 0);
	pt_eq(info[1].flags, PERF_EXT_SET_ACTIVE);
	pt_eq(info[0].id, pt_id(a));
	pt_eq(info[1].id, pt_id(b));
	pt_eq(info[1].members, 1);
}

/* In the order of their numbers, whatever the order in which they joined. */
static void rounds(void)
{
	int a, b, c;

	ext_need();
	pt_settle();
	c = set_of_faults(7, 1, -1, 900);
	a = set_of_faults(10, 3, c, 2);
	b = set_of_faults(5, 2, c, 7);
	pt_eq(set_select(b, 2), 0);
	pt_fault(1000);		/* 21 rounds of 47, and 13 */
	pt_eq(pt_count(a), 21 * 30 + 13);
	pt_eq(pt_count(b), 21 * 10);
	pt_eq(pt_count(c), 21 * 7);
	pt_eq(set_infos(a, info), 3);
	pt_eq(info[0].number, 2);
	pt_eq(info[1].number, 7);
	pt_eq(info[2].number, 900);
	set_was(&info[0], 22, 21, 0);
	set_was(&info[1], 21, 21, 0);
	set_was(&info[2], 22, 21, 0);	/* it had the first turn, before SELECT */
}

/* A member that has counted half a period in one turn begins a whole one in the next. */
static void whole_periods(void)
{
	int a, b, m;
	struct perf_event_attr attr = faults(30);

	ext_need();
	pt_settle();
	a = set_of_faults(20, 1, -1, 0);
	attr.disabled = 0;
	m = pt_open(&attr, 0, -1, a, 0);
	pt_eq(set_trigger(m, 1), 0);
	b = set_of_faults(10, 1, a, 1);
	pt_fault(90);		/* 20 10 20 10 20 10 */
	pt_eq(pt_count(a), 60);
	pt_eq(pt_count(m), 60);
	pt_eq(pt_count(b), 30);
	pt_eq(set_trigger(a, 0), 0);
	pt_fault(30);		/* now it is the member's 30th that counts */
	pt_eq(pt_count(a), 90);
	pt_fault(10);
	pt_eq(pt_count(b), 40);
	pt_eq(pt_count(m), 90);
}

/* Sets that are disabled are passed over; where no other one is enabled, the turn goes on. */
static void disabled(void)
{
	int a, b, c;

	ext_need();
	pt_settle();
	a = set_of_faults(10, 1, -1, 0);
	b = set_of_faults(10, 1, a, 1);
	c = set_of_faults(10, 1, a, 2);
	pt_disable(b);
	pt_fault(40);
	pt_eq(pt_count(a), 20);
	pt_eq(pt_count(b), 0);
	pt_eq(pt_count(c), 20);
	pt_disable(c);
	pt_fault(40);
	pt_eq(pt_count(a), 60);
	pt_enable(b);
	pt_fault(20);
	pt_eq(pt_count(a), 70);
	pt_eq(pt_count(b), 10);
	pt_disable(a);		/* its turn again: nobody counts */
	pt_fault(40);
	pt_eq(pt_count(a), 70);
	pt_eq(pt_count(b), 10);
	pt_enable(a);
	pt_fault(40);
	pt_eq(pt_count(a), 90);
	pt_eq(pt_count(b), 30);
	pt_eq(set_infos(a, info), 3);
	set_was(&info[0], 6, 5, 0);
	set_was(&info[1], 3, 3, 0);
	set_was(&info[2], 2, 2, 0);
}

/* By hand; a set that has the turn begins it anew. */
static void select_one(void)
{
	int a, b;

	ext_need();
	pt_settle();
	a = set_of_faults(10, 2, -1, 0);
	b = set_of_faults(0, 0, a, 1);
	pt_fault(10);
	pt_eq(set_select(b, 0), 0);	/* the overflow so far is forgotten */
	pt_fault(10);
	pt_eq(set_select(b, 1), 0);
	pt_fault(7);
	pt_eq(set_select(a, 0), 0);
	pt_fault(25);
	pt_eq(pt_count(a), 40);
	pt_eq(pt_count(b), 12);
	pt_eq(set_select(a, 2), -EINVAL);
	pt_eq(set_infos(a, info), 2);
	set_was(&info[0], 2, 1, 0);
	set_was(&info[1], 2, 0, 0);
}

/* SET_LEAVE makes a group like others of a set; the turn goes to the next one. */
static void leave(void)
{
	int a, b, c;

	ext_need();
	pt_settle();
	a = set_of_faults(10, 1, -1, 0);
	b = set_of_faults(10, 1, a, 1);
	c = set_of_faults(10, 1, a, 2);
	pt_eq(pt_ioctl(b, PERF_EXT_IOC_SET_LEAVE, 0), 0);	/* parked */
	pt_fault(20);
	pt_eq(pt_count(a), 10);
	pt_eq(pt_count(b), 20);
	pt_eq(pt_count(c), 10);
	pt_fault(5);
	pt_eq(pt_ioctl(a, PERF_EXT_IOC_SET_LEAVE, 0), 0);	/* in its turn */
	pt_fault(20);
	pt_eq(pt_count(a), 35);
	pt_eq(pt_count(b), 45);
	pt_eq(pt_count(c), 30);		/* alone, it goes on */
	pt_eq(set_infos(c, info), 1);
	set_was(&info[0], 2, 1, 0);
	/* One that samples with them may step the period of who has the turn next by one. */
	pt_disable(b);
	pt_eq(set_join(a, c, 0), 0);	/* back, parked */
	pt_fault(10);
	pt_eq(pt_count(a), 35);
	pt_eq(pt_count(c), 40);
	pt_fault(10);
	pt_eq(pt_count(a), 45);
	/* It begins anew there. */
	pt_eq(set_infos(c, info), 2);
	set_was(&info[0], 1, 1, 0);
	set_was(&info[1], 3, 2, 0);
	pt_eq(pt_ioctl(b, PERF_EXT_IOC_SET_LEAVE, 0), -EINVAL);
}

/* Closing does likewise; what was its group counts on its own. */
static void closed(void)
{
	struct perf_event_attr attr = faults(0);
	int a, b, c, m;

	ext_need();
	pt_settle();
	a = set_of_faults(10, 1, -1, 0);
	b = set_of_faults(10, 1, a, 1);
	c = set_of_faults(10, 1, a, 2);
	attr.disabled = 0;
	m = pt_open(&attr, 0, -1, b, 0);
	pt_fault(5);
	pt_eq(pt_count(m), 0);
	close(a);			/* in its turn */
	pt_fault(10);
	pt_eq(pt_count(b), 10);
	pt_eq(pt_count(m), 10);
	pt_eq(set_infos(c, info), 2);
	pt_fault(5);
	pt_eq(pt_count(c), 5);
	close(b);			/* parked */
	pt_fault(20);
	pt_eq(pt_count(c), 25);
	pt_eq(pt_count(m), 30);
	pt_eq(set_infos(c, info), 1);
}

/* A member of a set that waits does not count; one that comes or goes changes nothing of that. */
static void members(void)
{
	struct perf_event_attr attr = faults(0), clock = pt_attr(PT_SW(CPU_CLOCK));
	int a, b, m, n;

	ext_need();
	pt_settle();
	a = set_of_faults(10, 1, -1, 0);
	b = set_of_faults(10, 1, a, 1);
	attr.disabled = 0;
	m = pt_open(&attr, 0, -1, b, 0);
	clock.sample_period = 1000000000;	/* not passive: the group is scheduled now */
	n = pt_open(&clock, 0, -1, b, 0);
	pt_fault(9);
	pt_eq(pt_count(m), 0);
	pt_eq(pt_count(n), 0);
	pt_eq(set_infos(a, info), 2);
	pt_eq(info[1].members, 3);
	pt_fault(5);
	pt_eq(pt_count(a), 10);
	pt_eq(pt_count(m), 4);
	pt_check(pt_count(n), "the clock stands");
	pt_fault(6);
	pt_eq(pt_count(b), 10);
	close(n);			/* while it waits */
	pt_fault(10);
	pt_eq(pt_count(a), 20);
	pt_eq(pt_count(m), 10);
	pt_fault(3);
	pt_eq(pt_count(m), 13);
	pt_eq(pt_count(b), 13);
}

/* Two sets of @attr, of which @clock ends each turn; they run. */
static void two_by_time(int *fd, struct perf_event_attr *attr, struct perf_event_attr *clock)
{
	int i, timeout;

	for (i = 0; i < 2; i++) {
		fd[i] = pt_open(attr, 0, -1, -1, 0);
		timeout = pt_open(clock, 0, -1, fd[i], 0);
		pt_eq(set_trigger(timeout, 1), 0);
		pt_eq(set_join(fd[i], i ? fd[0] : -1, (u16)i), 0);
	}
	for (i = 0; i < 2; i++)
		pt_enable(fd[i]);
}

/* A timeout where the clock makes no samples. */
static void timeout_without_samples(void)
{
	struct perf_event_attr clock = pt_attr(PT_SW(CPU_CLOCK)), attr = faults(0);
	int fd[2], i;
	u64 turns;

	ext_need();
	if (!pt_time_is_exact())
		pt_skip("a busy host takes time away from timers");
	clock.sample_period = 1000000;
	clock.exclude_user = 1;
	two_by_time(fd, &attr, &clock);
	pt_burn(40000000);
	for (i = 1; i >= 0; i--)
		pt_disable(fd[i]);
	pt_eq(set_infos(fd[0], info), 2);
	turns = info[0].by_timeout + info[1].by_timeout;
	/* Those that come upon an interrupt of the loop are samples. */
	pt_check(turns >= 30, "%llu turns in 40 ms", (unsigned long long)turns);
}

/* Two sets by time: together they count everything, and each runs as long as it has the turn. */
static void timeout(void)
{
	const u64 format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct perf_event_attr clock = pt_attr(PT_SW(CPU_CLOCK));
	struct perf_event_attr attr = faults(0);
	struct pt_read got[2];
	u64 all, last;
	unsigned int turn, turns = pt_turns(2000);
	int fd[2], i;

	ext_need();
	pt_settle();
	attr.read_format = format;
	clock.sample_period = 1000000;
	clock.exclude_kernel = 1;	/* a timeout all the same */
	two_by_time(fd, &attr, &clock);
	for (turn = 0; turn < turns; turn++) {
		pt_fault(10);
		pt_burn(20000);
	}
	for (i = 1; i >= 0; i--)
		pt_disable(fd[i]);
	pt_read(fd[0], format, 1, &got[0]);
	pt_read(fd[1], format, 1, &got[1]);
	pt_eq(got[0].v[0].value + got[1].v[0].value, 10 * turns);
	pt_eq(set_infos(fd[0], info), 2);
	for (i = 0; i < 2; i++) {
		pt_check(info[i].by_timeout > 10, "%llu turns",
			 (unsigned long long)info[i].by_timeout);
		pt_eq(info[i].by_overflow, 0);
		pt_eq(info[i].active_time, got[i].running);
		pt_check(got[i].enabled > got[i].running, "it never waits");
	}
	all = info[0].by_timeout + info[1].by_timeout;
	last = info[1].flags & PERF_EXT_SET_ACTIVE;
	pt_eq(info[0].activations, info[1].activations + !last);
	pt_eq(all, info[0].activations + info[1].activations - 1);
}

/* It comes back without its turns and times. */
static void joins_again(void)
{
	struct perf_event_attr clock = pt_attr(PT_SW(CPU_CLOCK)), attr = faults(0);
	int fd[2];

	ext_need();
	clock.sample_period = 1000000;
	two_by_time(fd, &attr, &clock);
	do {
		pt_burn(1000000);
		pt_eq(set_infos(fd[0], info), 2);
	} while (!info[0].by_timeout);
	pt_disable(fd[0]);		/* no turn comes to it */
	pt_eq(pt_ioctl(fd[0], PERF_EXT_IOC_SET_LEAVE, 0), 0);
	pt_eq(set_join(fd[0], fd[1], 0), 0);
	pt_eq(set_infos(fd[1], info), 2);
	set_was(&info[0], 0, 0, 0);
}

static int to_child[2], to_parent[2];

/* In a child: so many page faults each time it is let. */
static void faults_when_let(unsigned int times, unsigned int pieces, unsigned int piece)
{
	unsigned int i;

	pt_settle();
	pt_gate_open(to_parent);
	while (times--) {
		pt_gate_wait(to_child);
		for (i = 0; i < pieces; i++)
			pt_fault(piece);
		pt_gate_open(to_parent);
	}
	pt_gate_wait(to_child);
}

static pid_t faulting_child(unsigned int times, unsigned int nr)
{
	pid_t pid;

	pt_gate_make(to_child);
	pt_gate_make(to_parent);
	pt_in_child(pid) {
		faults_when_let(times, 1, nr);
	}
	pt_gate_wait(to_parent);
	return pid;
}

/* Another task's, while it is away, and when it has gone: the counts stay. */
static void of_a_task(void)
{
	int a, b;
	pid_t pid;

	ext_need();
	pid = faulting_child(2, 25);
	a = open_faults(10, pid);
	b = open_faults(10, pid);
	pt_eq(set_trigger(a, 1), 0);
	pt_eq(set_trigger(b, 1), 0);
	pt_eq(set_join(a, -1, 0), 0);
	pt_eq(set_join(b, a, 1), 0);
	pt_enable(a);
	pt_enable(b);
	pt_gate_open(to_child);
	pt_gate_wait(to_parent);
	pt_eq(set_infos(a, info), 2);
	pt_gate_open(to_child);
	pt_gate_wait(to_parent);
	pt_gate_open(to_child);
	pt_reap(pid);
	/* The gates fault now and then, and so does its end. */
	pt_check(pt_count(a) >= 25, "a: %llu", (unsigned long long)pt_count(a));
	pt_check(pt_count(b) >= 20, "b: %llu", (unsigned long long)pt_count(b));
	pt_eq(set_select(a, 1), -EINVAL);
	pt_eq(set_join(a, -1, 0), -ESRCH);
}

/* Sets of a CPU; whatever else happens there, each event is in one of them. */
static void of_a_cpu(void)
{
	struct perf_event_attr attr = faults(100), all = faults(0);
	int fd[2], whole, i;

	ext_need();
	pt_pin(0);
	pt_settle();
	whole = pt_open(&all, -1, 0, -1, 0);
	for (i = 0; i < 2; i++) {
		fd[i] = pt_open(&attr, -1, 0, -1, 0);
		pt_eq(set_trigger(fd[i], 1), 0);
		pt_eq(set_join(fd[i], i ? fd[0] : -1, (u16)i), 0);
	}
	pt_enable(fd[1]);
	pt_enable(fd[0]);
	pt_enable(whole);
	pt_fault(1050);
	pt_disable(whole);
	for (i = 0; i < 2; i++)
		pt_disable(fd[i]);
	pt_check(pt_count(fd[0]) + pt_count(fd[1]) >= pt_count(whole), "%llu and %llu of %llu",
		 (unsigned long long)pt_count(fd[0]), (unsigned long long)pt_count(fd[1]),
		 (unsigned long long)pt_count(whole));
	pt_check(pt_count(fd[0]) >= 500 && pt_count(fd[1]) >= 500, "no turns");
}

/*
 * Turns that another CPU gives, while the task counts and pulls triggers.  A turn that is given in
 * the middle of a hit can have both sets count that one, or neither; the next hit is one set's.
 */
static void select_from_another_cpu(void)
{
	const int selects = (int)pt_turns(2000), pieces = (int)pt_turns(300), hits = 100 * pieces;
	struct perf_event_attr all = faults(0);
	long long both, before;
	int a, b, whole, i;
	pid_t pid;

	ext_need();
	if (pt_online_cpus() < 2)
		pt_skip("needs two CPUs");
	pt_gate_make(to_child);
	pt_gate_make(to_parent);
	pt_pin(0);
	pt_in_child(pid) {
		pt_pin(1);
		faults_when_let(2, (unsigned int)pieces, 100);
	}
	pt_gate_wait(to_parent);
	a = open_faults(7, pid);
	b = open_faults(3, pid);
	whole = pt_open(&all, pid, -1, -1, 0);
	pt_eq(set_trigger(a, 1), 0);
	pt_eq(set_trigger(b, 1), 0);
	pt_eq(set_join(a, -1, 0), 0);
	pt_eq(set_join(b, a, 1), 0);
	pt_enable(a);
	pt_enable(b);
	pt_enable(whole);
	pt_gate_open(to_child);
	for (i = 0; i < selects; i++) {
		pt_eq(set_select(a, i & 1), 0);
		pt_eq(set_infos(b, info), 2);
		pt_eq(info[0].flags + info[1].flags, PERF_EXT_SET_ACTIVE);
	}
	pt_gate_wait(to_parent);
	before = (long long)pt_count(whole);
	both = (long long)(pt_count(a) + pt_count(b));
	pt_check(before >= hits, "only %lld", before);
	pt_check(llabs(both - before) <= selects, "%lld of %lld", both, before);

	/* Nobody gives turns but triggers: each hit is counted once. */
	pt_gate_open(to_child);
	pt_gate_wait(to_parent);
	pt_check((long long)pt_count(whole) >= before + hits, "only %llu",
		 (unsigned long long)pt_count(whole));
	pt_eq((long long)(pt_count(a) + pt_count(b)) - both, (long long)pt_count(whole) - before);
	pt_gate_open(to_child);
	pt_reap(pid);
}

/* As many as a ring can have, and not one more. */
static void most(void)
{
	struct perf_ext_info i = {};
	int first, fd = -1, n;

	ext_need();
	pt_settle();
	first = set_of_faults(2, 1, -1, 0);
	pt_eq(pt_ioctl(first, PERF_EXT_IOC_INFO, pt_addr(&i)), 0);
	pt_eq(i.most_sets, SETS_MOST);
	for (n = 1; n < SETS_MOST; n++)
		fd = set_of_faults(2, 1, first, (u16)n);
	pt_eq(set_infos(fd, info), SETS_MOST);
	fd = open_faults(2, 0);
	pt_eq(set_join(fd, first, 1000), -ENOSPC);
	pt_fault(5 * 2 * SETS_MOST);
	pt_eq(set_infos(first, info), SETS_MOST);
	for (n = 0; n < SETS_MOST; n++)
		set_was(&info[n], n ? 5 : 6, 5, 0);
}

static void refuse(struct perf_event_attr *attr, long err)
{
	struct perf_ext_info i = {};
	int fd = pt_try_open(attr, 0, -1, -1, 0);

	if (fd < 0)
		return;
	pt_eq(set_join(fd, -1, 0), err);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&i)), 0);
	pt_eq(!(i.here & PERF_EXT_SETS), !!err);
	pt_eq(i.most_sets, err ? 0 : SETS_MOST);
	close(fd);
}

static void refused(void)
{
	struct perf_event_attr attr = faults(10);
	struct perf_ext_set s = { .ring = -1 };
	struct perf_ext_set_select x = {};
	struct perf_ext_trigger t = {};
	struct perf_ext_sets i = {};
	int a, b, m, other, tube[2];
	pid_t pid;

	ext_need();
	refuse(&attr, 0);
	attr.pinned = 1;
	refuse(&attr, -EINVAL);
	attr.pinned = 0;
	attr.inherit = 1;
	refuse(&attr, -EINVAL);
	attr.inherit = 0;

	a = open_faults(10, 0);
	b = open_faults(0, 0);
	m = pt_open(&attr, 0, -1, a, 0);
	pt_eq(set_join(m, -1, 0), -EINVAL);		/* no leader */
	pt_eq(set_join(a, b, 0), -EINVAL);		/* that is in no ring */
	pt_eq(set_join(a, 999, 0), -EBADF);
	pt_need(!pipe(tube), "pipe");
	pt_eq(set_join(a, tube[0], 0), -EINVAL);
	pt_eq(set_join(a, -1, 5), 0);
	pt_eq(set_join(a, -1, 6), -EBUSY);		/* it is one already */
	pt_eq(set_join(b, a, 5), -EBUSY);		/* the number */
	pt_eq(set_join(b, m, 6), -EINVAL);		/* a member is no set */
	pt_in_child(pid)
		pause();
	other = open_faults(0, pid);
	pt_eq(set_join(other, a, 6), -EINVAL);		/* another task's */
	pt_kill(pid);
	other = pt_open(&attr, 0, 0, -1, 0);
	pt_eq(set_join(other, a, 6), -EINVAL);		/* on one CPU only */

	pt_eq(set_trigger(b, 1), -EINVAL);		/* it does not sample */
	attr.inherit = 1;
	other = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_trigger(other, 1), -EINVAL);
	pt_eq(set_select(b, 0), -EINVAL);
	pt_eq(pt_ioctl(b, PERF_EXT_IOC_SET_LEAVE, 0), -EINVAL);
	pt_eq(pt_ioctl(b, PERF_EXT_IOC_SET_INFO, pt_addr(&i)), -EINVAL);
	i.nr = 1;
	i.stride = 8;
	pt_eq(pt_ioctl(a, PERF_EXT_IOC_SET_INFO, pt_addr(&i)), -EINVAL);
	i.stride = sizeof(info[0]);
	pt_eq(pt_ioctl(a, PERF_EXT_IOC_SET_INFO, pt_addr(&i)), -EFAULT);
	i.nr = 0;
	pt_eq(pt_ioctl(a, PERF_EXT_IOC_SET_INFO, pt_addr(&i)), 0);
	pt_eq(i.nr, 1);

	s.flags = 1;
	pt_eq(pt_ioctl(b, PERF_EXT_IOC_SET_JOIN, pt_addr(&s)), -EINVAL);
	s = (struct perf_ext_set){ .ring = -1, .pad = { 0, 1 } };
	pt_eq(pt_ioctl(b, PERF_EXT_IOC_SET_JOIN, pt_addr(&s)), -EINVAL);
	t.member = 1;
	pt_eq(pt_ioctl(a, PERF_EXT_IOC_SET_TRIGGER, pt_addr(&t)), -EINVAL);
	x.pad[1] = 1;
	pt_eq(pt_ioctl(a, PERF_EXT_IOC_SET_SELECT, pt_addr(&x)), -EINVAL);
}

static void refused_to_cgroups(void)
{
	struct perf_event_attr attr = faults(0);
	int fd;

	ext_need();
	fd = cg_open(&attr, cg_make(""), 0, -1);
	pt_eq(set_join(fd, -1, 0), -EINVAL);
	cg_remove_all();
}

/* Each is told where the caller wants it, a page apart at most. */
static void strides(void)
{
	const u32 page = (u32)pt_page_size(), size = sizeof(info[0]);
	u8 *at = pt_fresh_pages(2);
	struct perf_ext_sets s = { .infos = pt_addr(at), .nr = 2, .stride = page };
	int a;

	ext_need();
	a = set_of_faults(0, 0, -1, 3);
	set_of_faults(0, 0, a, 8);
	pt_eq(pt_ioctl(a, PERF_EXT_IOC_SET_INFO, pt_addr(&s)), 0);
	pt_eq(((struct perf_ext_set_info *)at)->number, 3);
	pt_eq(((struct perf_ext_set_info *)(at + page))->number, 8);
	s.stride = page + 1;
	pt_eq(pt_ioctl(a, PERF_EXT_IOC_SET_INFO, pt_addr(&s)), -EINVAL);
	s.stride = size - 1;
	pt_eq(pt_ioctl(a, PERF_EXT_IOC_SET_INFO, pt_addr(&s)), -EINVAL);
}

static void fdinfo(void)
{
	char path[64], text[4096];
	int a, b;

	ext_need();
	a = set_of_faults(10, 4, -1, 3);
	b = set_of_faults(0, 0, a, 8);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", a);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s: %s", path, strerror(errno));
	pt_check(strstr(text, "\nset:\t3 active\ntrigger:\t4"), "%s", text);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", b);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s: %s", path, strerror(errno));
	pt_check(strstr(text, "\nset:\t8 parked") && !strstr(text, "trigger:"), "%s", text);
}

/* A trigger that is set in the middle of a turn counts overflows from then on. */
static void trigger_in_a_turn(void)
{
	int a, b;

	ext_need();
	pt_settle();
	a = set_of_faults(10, 0, -1, 0);
	b = set_of_faults(0, 0, a, 1);
	pt_fault(25);
	pt_eq(set_trigger(a, 2), 0);
	pt_fault(20);			/* periods end at 30 and at 40 */
	pt_eq(pt_count(a), 40);
	pt_eq(pt_count(b), 5);
}

static const struct pt_case cases[] = {
	{ "cascade", cascade },
	{ "rounds", rounds },
	{ "whole_periods", whole_periods },
	{ "disabled", disabled },
	{ "select", select_one },
	{ "trigger_in_a_turn", trigger_in_a_turn },
	{ "leave", leave },
	{ "closed", closed },
	{ "members", members },
	{ "timeout", timeout },
	{ "timeout_without_samples", timeout_without_samples },
	{ "joins_again", joins_again },
	{ "of_a_task", of_a_task },
	{ "of_a_cpu", of_a_cpu },
	{ "select_from_another_cpu", select_from_another_cpu },
	{ "most", most },
	{ "refused", refused },
	{ "refused_to_cgroups", refused_to_cgroups },
	{ "strides", strides },
	{ "fdinfo", fdinfo },
};

PT_MAIN(cases)
