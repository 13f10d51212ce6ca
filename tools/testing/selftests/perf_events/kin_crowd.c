// SPDX-License-Identifier: GPL-2.0
/*
 * kin_crowd.c - more tasks than CPUs run with inherited events in common, while they are moved, or
 * their CPUs go and return, or their events do. Each knows what it does, and the sum is counted.
 *
 * needs: smp
 */
#include "lib/cpus.h"
#include "lib/kin.h"

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

#define RUNNERS_MAX	(2 * CPUS_MAX)

struct runner {
	pid_t pid;
	u64 faults;
};

static struct {
	struct runner of[RUNNERS_MAX];
	int nr, ready[2], go[2];
	bool stop;
} *crowd;

static void run(void *arg)
{
	struct runner *r = &crowd->of[(intptr_t)arg];

	pt_settle();
	r->faults = 0;		/* the first write to what is shared is a fault as well */
	pt_gate_open(crowd->ready);
	pt_gate_wait(crowd->go);
	while (!__atomic_load_n(&crowd->stop, __ATOMIC_ACQUIRE)) {
		pt_fault(4);
		__atomic_store_n(&r->faults, r->faults + 4, __ATOMIC_RELEASE);
	}
}

static u64 faults_of_all(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < crowd->nr; i++)
		sum += __atomic_load_n(&crowd->of[i].faults, __ATOMIC_ACQUIRE);
	return sum;
}

/* They wait. */
static void make_crowd_of(int nr, void (*fn)(void *))
{
	int i;

	crowd = mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	pt_need(crowd != MAP_FAILED, "mmap: %s", strerror(errno));
	if (nr > RUNNERS_MAX)
		pt_skip("more than %d CPUs", CPUS_MAX);
	crowd->nr = nr;
	pt_gate_make(crowd->ready);
	pt_gate_make(crowd->go);
	for (i = 0; i < nr; i++)
		crowd->of[i].pid = pt_fork(fn, (void *)(intptr_t)i);
	for (i = 0; i < nr; i++)
		pt_gate_wait(crowd->ready);
	pt_settle();
}

/* More than can run at once. */
static void make_crowd(void)
{
	make_crowd_of(2 * pt_online_cpus(), run);
}

static void let_go(void)
{
	int i;

	for (i = 0; i < crowd->nr; i++)
		pt_gate_open(crowd->go);
}

static void end_crowd(void)
{
	int i;

	__atomic_store_n(&crowd->stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < crowd->nr; i++)
		pt_reap(crowd->of[i].pid);
}

/* One round after the other, and between two of them somebody gets on. */
static void while_they_run(void (*disturb)(unsigned int round), unsigned int rounds)
{
	unsigned int i;
	u64 sum;

	for (i = 0; i < rounds && !pt_failures(); i++) {
		sum = faults_of_all();
		disturb(i);
		while (faults_of_all() == sum)
			sched_yield();
	}
}

/* One event for any CPU, or one for each. */
static int counting[CPUS_MAX], nr_counting;

static void open_common(void)
{
	struct perf_event_attr attr = faults();

	common = pt_open(&attr, 0, -1, -1, 0);
	counting[0] = common;
	nr_counting = 1;
}

static void open_one_per_cpu(void)
{
	struct perf_event_attr attr = faults();
	int i;

	nr_counting = pt_online_cpus();
	if (nr_counting > CPUS_MAX)
		pt_skip("more than %d CPUs", CPUS_MAX);
	for (i = 0; i < nr_counting; i++)
		counting[i] = pt_open(&attr, 0, i, -1, 0);
}

static u64 count_of_all(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < nr_counting; i++)
		sum += pt_count(counting[i]);
	return sum;
}

/* Each fault is counted, once, whatever is done to them meanwhile. */
static void disturbed_crowd(void (*disturb)(unsigned int round), unsigned int rounds)
{
	u64 before, own;

	make_crowd();
	copies_are(counting[0], nr_counting > 1 ? 1 : in_common(crowd->nr + 1));
	before = count_of_all();
	own = own_faults();
	let_go();
	while_they_run(disturb, rounds);
	end_crowd();
	pt_eq(count_of_all() - before, faults_of_all() + own_faults() - own);
}

static pid_t one_of(unsigned int round)
{
	return crowd->of[round % (unsigned int)crowd->nr].pid;
}

/* From one CPU to another, while it runs. */
static void move_it(unsigned int round)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((round + round / (unsigned int)crowd->nr) % (unsigned int)pt_online_cpus(), &set);
	pt_eq(sched_setaffinity(one_of(round), sizeof(set), &set), 0);
}

static void moved_between_cpus(void)
{
	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
	open_common();
	disturbed_crowd(move_it, 300);
}

static void moved_with_an_event_per_cpu(void)
{
	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
	open_one_per_cpu();
	disturbed_crowd(move_it, 300);
}

#define MOVES	60

/* What one of them has done to get to another CPU: the others do the same at the same time. */
static void travel(void *arg)
{
	int i, cpus = pt_online_cpus(), first = (int)(intptr_t)arg;

	pt_pin(first % cpus);
	pt_gate_open(crowd->ready);
	pt_gate_wait(crowd->go);
	for (i = 1; i <= MOVES; i++)
		pt_pin((first + i) % cpus);
}

/* Each of their moves is one, whether the task that was there before had the event as well. */
static void migrations(void)
{
	struct perf_event_attr attr = inherited(PT_SW(CPU_MIGRATIONS));
	int fd, cpus = pt_online_cpus();

	if (cpus < 2)
		pt_skip("one CPU");
	pt_pin(0);
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	make_crowd_of(2 * cpus, travel);
	copies_are(fd, in_common(crowd->nr + 1));
	pt_enable(fd);
	let_go();
	end_crowd();
	pt_eq(pt_count(fd), crowd->nr * MOVES);
}

/* From one CPU to the next, and back to the first; the case does not leave CPU 0. */
static void roam(void *arg)
{
	struct runner *r = &crowd->of[(intptr_t)arg];
	int i, cpus = pt_online_cpus();

	pt_pin(1);
	pt_settle();
	r->faults = 0;
	pt_gate_open(crowd->ready);
	pt_gate_wait(crowd->go);
	for (i = 2; i <= cpus; i++) {
		pt_pin(i < cpus ? i : 1);
		pt_fault(4);
		r->faults += 4;
	}
	__atomic_store_n(&crowd->stop, true, __ATOMIC_RELEASE);
}

/* With fewer contexts than CPUs the one that is in stays, and the other one follows its task. */
static void fewer_than_cpus(void)
{
	u64 before, own;

	if (pt_online_cpus() < 3)
		pt_skip("one CPU or two");
	pt_first_on_cpu(0);
	open_common();
	make_crowd_of(1, roam);
	copies_are(common, in_common(2));
	before = pt_count(common);
	own = own_faults();
	let_go();
	while (!__atomic_load_n(&crowd->stop, __ATOMIC_ACQUIRE))
		;
	end_crowd();
	pt_eq(pt_count(common) - before, faults_of_all() + own_faults() - own);
}

static void turn_cpu(unsigned int round)
{
	unsigned int others = (unsigned int)crowd->nr / 2 - 1;

	pt_eq(set_online(1 + (int)(round / 2 % others), (int)round % 2), 0);
}

static void cpus_go_and_return(void)
{
	need_cpus(2);
	open_common();
	disturbed_crowd(turn_cpu, 8 * (unsigned int)(pt_online_cpus() - 1));
}

static void cpus_go_and_return_with_an_event_per_cpu(void)
{
	need_cpus(2);
	open_one_per_cpu();
	disturbed_crowd(turn_cpu, 8 * (unsigned int)(pt_online_cpus() - 1));
}

static const char *home[2];

static void move_home(unsigned int round)
{
	unsigned int other = round / (unsigned int)crowd->nr;

	pt_eq(cg_enter_path(home[other % 2], one_of(round)), 0);
}

/* Events of cgroups take turns on the CPUs, and each counts those that are in it. */
static void moved_between_cgroups(void)
{
	int fd[2][CPUS_MAX], cpus = pt_online_cpus(), i, j;
	u64 in_cgroups = 0;

	cg_make("");
	home[0] = cg_make("/a");
	home[1] = cg_make("/b");
	for (i = 0; i < 2; i++) {
		struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS_MIN));

		for (j = 0; j < cpus; j++)
			fd[i][j] = cg_open(&attr, home[i], j, -1);
	}
	open_common();
	disturbed_crowd(move_home, 40 * (unsigned int)cpus);
	for (i = 0; i < 2; i++)
		for (j = 0; j < cpus; j++)
			in_cgroups += pt_count(fd[i][j]);
	pt_check(in_cgroups && in_cgroups <= faults_of_all(), "%llu of %llu faults in the cgroups",
		 (unsigned long long)in_cgroups, (unsigned long long)faults_of_all());
}

/* An event of one of them, who is no member any more; of its own process, or of all CPUs. */
static void open_on_one(unsigned int round)
{
	struct perf_event_attr attr = round % 2 ? faults() : pt_attr(PT_SW(PAGE_FAULTS));
	int fd = pt_open(&attr, one_of(round / 2), round % 3 ? -1 : 0, -1, 0), sibling;

	sibling = pt_open(&attr, one_of(round / 2), round % 3 ? -1 : 0, fd, 0);
	if (round % 2)
		close(fd);
	close(sibling);
	if (!(round % 2))
		close(fd);
}

static void opened_on_single_ones(void)
{
	open_common();
	disturbed_crowd(open_on_one, 100);
}

#define MORE	12

static int more[MORE];

static void close_one(unsigned int round)
{
	close(more[round]);
}

/* Some of its events are closed; and in the end all are. */
static void closed_while_they_run(void)
{
	struct perf_event_attr attr = faults();
	int i;

	for (i = 0; i < MORE; i++) {
		if (i == MORE / 2)
			open_common();
		more[i] = pt_open(&attr, 0, i % 4 ? -1 : 0, i % 4 == 2 ? more[i - 1] : -1, 0);
	}
	disturbed_crowd(close_one, MORE);
	make_crowd();
	let_go();
	close(common);
	open_common();
	end_crowd();
	copies_are(common, 0);
}

/* ------------------------------------------------------------ samples */

#define SAMPLES	200

/* One CPU after the other. */
static void tour(void *arg)
{
	int i, cpus = pt_online_cpus(), first = (int)(intptr_t)arg;

	pt_settle();
	pt_gate_open(crowd->ready);
	pt_gate_wait(crowd->go);
	for (i = 0; i < SAMPLES / 10; i++) {
		pt_pin((first + i) % cpus);
		pt_fault(10);
	}
}

static void count_samples(struct perf_event_attr *attr, struct pt_ring *r, u32 cpu)
{
	static struct pt_record rec;
	struct pt_sample s;
	int i;

	while (pt_next(r, &rec)) {
		pt_need(rec.h.type == PERF_RECORD_SAMPLE, "a record of type %u", rec.h.type);
		pt_parse_sample(attr, &rec, &s);
		pt_eq(s.cpu, cpu);
		for (i = 0; i < crowd->nr; i++)
			if (s.tid == (u32)crowd->of[i].pid)
				crowd->of[i].faults++;
	}
}

/* As perf record opens them: an event and a buffer for each CPU. Each sample says who ran. */
static void samples_of_who_ran(void)
{
	struct perf_event_attr attr = faults();
	int cpus = pt_online_cpus(), fd[CPUS_MAX], i;
	struct pt_ring ring[CPUS_MAX];

	attr.disabled = 1;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
	if (cpus > CPUS_MAX)
		pt_skip("more than %d CPUs", CPUS_MAX);
	for (i = 0; i < cpus; i++) {
		fd[i] = pt_open(&attr, 0, i, -1, 0);
		pt_map(&ring[i], fd[i], 32);
	}
	make_crowd_of(2 * cpus, tour);
	for (i = 0; i < cpus; i++) {
		copies_are(fd[i], 1);
		pt_enable(fd[i]);
	}
	let_go();
	end_crowd();
	for (i = 0; i < cpus; i++)
		count_samples(&attr, &ring[i], (u32)i);
	for (i = 0; i < crowd->nr; i++)
		pt_eq(crowd->of[i].faults, SAMPLES);
}

/* ------------------------------------------------------------ on and off */

static int leader;

static unsigned int toggles;

/* Without its leader a group does not count, and the other one stays enabled. */
static void toggle(unsigned int round)
{
	toggles++;
	if (round % 4 < 2)
		pt_disable(leader);
	else if (round % 3)
		pt_enable(leader);
	else
		pt_eq(pt_ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
}

/*
 * Another CPU that turns a group on or off does so member by member: a fault in between is in the
 * counts of some of them. See "Stopping and going on" in lockless.rst.
 */
static u64 count_of_group(s64 *differ)
{
	struct pt_read r;

	pt_read(leader, PERF_FORMAT_GROUP | TIMES, 2, &r);
	pt_eq(r.enabled, r.running);
	*differ = (s64)(r.v[0].value - r.v[1].value);
	pt_check(llabs(*differ) <= toggles * pt_online_cpus(), "%llu and %llu faults",
		 (unsigned long long)r.v[0].value, (unsigned long long)r.v[1].value);
	return r.v[0].value;
}

static void toggled_while_they_run(void)
{
	struct perf_event_attr attr = faults();
	u64 before, own, count;
	s64 differ, still;

	toggles = 0;
	attr.read_format = PERF_FORMAT_GROUP | TIMES;
	leader = pt_open(&attr, 0, -1, -1, 0);
	pt_open(&attr, 0, -1, leader, 0);
	make_crowd();
	before = count_of_group(&differ);
	own = own_faults();
	let_go();
	while_they_run(toggle, 203);
	end_crowd();
	count = count_of_group(&differ) - before;
	pt_check(count < faults_of_all() + own_faults() - own, "%llu of %llu faults",
		 (unsigned long long)count, (unsigned long long)faults_of_all());
	/* In the end it is on, for all that come. */
	make_crowd();
	before = count_of_group(&differ);
	own = own_faults();
	let_go();
	while (!faults_of_all())
		sched_yield();
	end_crowd();
	pt_eq(count_of_group(&still) - before, faults_of_all() + own_faults() - own);
	pt_eq(still, differ);
}

static const struct pt_case cases[] = {
	{ "moved_between_cpus", moved_between_cpus },
	{ "moved_with_an_event_per_cpu", moved_with_an_event_per_cpu },
	{ "migrations", migrations },
	{ "fewer_than_cpus", fewer_than_cpus },
	{ "cpus_go_and_return", cpus_go_and_return },
	{ "cpus_go_and_return_with_an_event_per_cpu", cpus_go_and_return_with_an_event_per_cpu },
	{ "moved_between_cgroups", moved_between_cgroups },
	{ "opened_on_single_ones", opened_on_single_ones },
	{ "closed_while_they_run", closed_while_they_run },
	{ "samples_of_who_ran", samples_of_who_ran },
	{ "toggled_while_they_run", toggled_while_they_run },
};

PT_MAIN(cases)
