// SPDX-License-Identifier: GPL-2.0
/*
 * Inherited events for single CPUs, as profilers open them: tasks have one copy of
 * each in common, however many tasks there are; what is counted on each CPU is as ever.
 *
 * What is true is told by events of the CPUs, for the cgroup that the tasks are in.
 *
 * needs: smp hw
 */
#include "lib/kin.h"

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* For each CPU: faults of the case's family there, and by how many the truth is ahead. */
static struct {
	int fd[CPUS_MAX];
	u64 ahead[CPUS_MAX];
} bound;

static void open_for_cpus(struct perf_event_attr attr)
{
	const char *dir = cg_make("");
	int i;

	open_truth(dir);
	cg_enter(dir);
	for (i = 0; i < truth.cpus; i++)
		bound.fd[i] = pt_open(&attr, 0, i, -1, 0);
	pt_pin(0);
	pt_settle();
	for (i = 0; i < truth.cpus; i++)
		bound.ahead[i] = pt_count(truth.fd[i]) - pt_count(bound.fd[i]);
}

static void each_agrees(void)
{
	int i;

	for (i = 0; i < truth.cpus; i++)
		pt_eq(pt_count(bound.fd[i]), pt_count(truth.fd[i]) - bound.ahead[i]);
}

static void copies_of_each(int want)
{
	int i;

	for (i = 0; i < truth.cpus; i++)
		copies_are(bound.fd[i], want);
}

static void move(struct puppet *p, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pt_eq(sched_setaffinity(p->pid, sizeof(set), &set), 0);
	pt_eq(order(p, NOTHING, 0), 0);
}

/* Each on each CPU: what it does there is counted by the event of that CPU, and by no other. */
static void each_on_each(struct puppet *p, int nr)
{
	u64 before[CPUS_MAX];
	int i, cpu, other;

	for (i = 0; i < nr; i++) {
		for (cpu = 0; cpu < truth.cpus; cpu++) {
			move(&p[i], cpu);
			for (other = 0; other < truth.cpus; other++)
				before[other] = pt_count(bound.fd[other]);
			pt_eq(order(&p[i], FAULT, 10 + i), 0);
			for (other = 0; other < truth.cpus; other++)
				pt_eq(pt_count(bound.fd[other]),
				      before[other] + (other == cpu ? 10 + (u64)i : 0));
		}
	}
	each_agrees();
}

static void start_some(struct puppet *p, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		start(&p[i]);
	pt_settle();
}

static void stop_some(struct puppet *p, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		stop(&p[i]);
	each_agrees();
}

#define NR	6

static void one_copy(void)
{
	struct puppet p[NR];

	open_for_cpus(faults());
	start_some(p, 2);
	copies_of_each(1);
	each_on_each(p, 2);
	start_some(p + 2, NR - 2);
	copies_of_each(1);
	each_on_each(p, NR);
	stop_some(p, NR - 1);
	each_on_each(p + NR - 1, 1);
	make_duel();
	pt_eq(order(&p[NR - 1], FORK, 3), 0);
	each_agrees();
	copies_of_each(1);
	stop_some(p + NR - 1, 1);
	pt_fault(5);
	each_agrees();
}

/* Leaders and siblings are copied together, in the context of their CPU. */
static void groups(void)
{
	struct perf_event_attr attr = faults();
	int sibling[CPUS_MAX], i, cpu;
	u64 before[CPUS_MAX];
	struct puppet p[3];

	open_for_cpus(attr);
	for (i = 0; i < truth.cpus; i++)
		sibling[i] = pt_open(&attr, 0, i, bound.fd[i], 0);
	start_some(p, 3);
	copies_of_each(1);
	for (i = 0; i < truth.cpus; i++) {
		copies_are(sibling[i], 1);
		before[i] = pt_count(sibling[i]);
	}
	each_on_each(p, 3);
	for (cpu = 0; cpu < truth.cpus; cpu++)
		pt_eq(pt_count(sibling[cpu]) - before[cpu] >= 10 + 11 + 12, 1);
	stop_some(p, 3);
}

/* A member that gets an event of its own has copies of those for all CPUs from then on. */
static void one_leaves(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p[3];
	int own;

	open_for_cpus(attr);
	start_some(p, 3);
	own = pt_open(&attr, p[1].pid, -1, -1, 0);
	copies_of_each(2);
	each_on_each(p, 3);
	pt_eq(pt_count(own), 11 * (u64)truth.cpus);
	make_duel();
	pt_eq(order(&p[1], FORK, 2), 0);
	each_agrees();
	close(own);
	/* It has started a kin by its forks, and keeps what it had before. */
	copies_of_each(3);
	each_on_each(p, 3);
	stop_some(p, 3);
}

/* The one that has started the kin goes back to what it has opened. */
static void starter_leaves(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p[3];

	open_for_cpus(attr);
	start_some(p, 2);
	close(pt_open(&attr, 0, -1, -1, 0));
	copies_of_each(1);
	pt_fault(3);
	each_agrees();
	start_some(p + 2, 1);
	copies_of_each(2);
	each_on_each(p, 3);
	stop_some(p, 3);
}

/* One for any CPU needs a copy for each then; are there many of these, all are copied as usual. */
static void with_one_for_any(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p[3];
	u64 any;

	open_for_cpus(attr);
	common = pt_open(&attr, 0, -1, -1, 0);
	start_some(p, 3);
	copies_of_each(1);
	copies_are(common, possible_cpus());
	any = pt_count(common);
	each_on_each(p, 3);
	pt_eq(pt_count(common), any + (10 + 11 + 12) * (u64)truth.cpus);
	close(pt_open(&attr, p[0].pid, -1, -1, 0));
	copies_of_each(2);
	copies_are(common, possible_cpus() + 1);
	any = pt_count(common);
	each_on_each(p, 3);
	pt_eq(pt_count(common), any + (10 + 11 + 12) * (u64)truth.cpus);
	stop_some(p, 3);
}

static void with_many_for_any(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p[3];
	int fd[2 * CPUS_MAX], i, nr = 2 * possible_cpus();

	open_for_cpus(attr);
	for (i = 0; i < nr; i++)
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	start_some(p, 3);
	copies_of_each(in_common(4));
	copies_are(fd[0], in_common(4));
	each_on_each(p, 3);
	/* Who leaves has one copy of each, however many contexts there were. */
	close(pt_open(&attr, p[0].pid, -1, -1, 0));
	copies_of_each(in_common(4) + 1);
	each_on_each(p, 3);
	stop_some(p, 3);
}

/* A task that has no events and runs where a member has gone to sleep is not counted. */
static void after_a_member(void)
{
	int go[2], last = pt_online_cpus() - 1;
	struct puppet p[2];
	pid_t stranger;
	u64 before;

	pt_gate_make(go);
	pt_in_child(stranger) {
		pt_pin(last);
		pt_gate_wait(go);
		pt_fault(10);
	}
	pt_pin(0);
	open_both();
	start(&p[0]);
	start(&p[1]);
	pt_settle();
	copies_are(common, in_common(3));
	move(&p[0], last);
	pt_peer_asleep(&(struct pt_peer){ .pid = p[0].pid });
	before = pt_count(common);
	pt_gate_open(go);
	pt_reap(stranger);
	pt_eq(pt_count(common), before);
	stop(&p[0]);
	stop(&p[1]);
	agree();
}

/* An event is enabled while its task runs on another CPU, and who asks for times sees that. */
static void times(void)
{
	struct perf_event_attr attr = faults();
	struct pt_read before, after;
	struct puppet p[2];
	int last;

	attr.read_format = TIMES;
	open_for_cpus(attr);
	last = truth.cpus - 1;
	start_some(p, 2);
	copies_of_each(in_common(3));
	move(&p[0], last);
	pt_read(bound.fd[0], TIMES, 1, &before);
	pt_eq(order(&p[0], SPIN, 100000), 0);
	pt_read(bound.fd[0], TIMES, 1, &after);
	pt_check(after.enabled > before.enabled, "enabled for no longer than %llu ns",
		 (unsigned long long)before.enabled);
	stop_some(p, 2);
}

/* For one CPU only: on another one there is nothing to count, also for who comes there first. */
static void of_one_cpu(void)
{
	int fd, i, last = pt_online_cpus() - 1;
	struct perf_event_attr attr = faults();
	struct puppet p[2];
	u64 before;

	if (!last)
		pt_skip("one CPU only");
	pt_pin(0);
	fd = pt_open(&attr, 0, 0, -1, 0);
	start_some(p, 2);
	copies_are(fd, 1);
	for (i = 0; i < 2; i++) {
		move(&p[i], last);
		before = pt_count(fd);
		pt_eq(order(&p[i], FAULT, 10), 0);
		pt_eq(pt_count(fd), before);
		move(&p[i], 0);
		before = pt_count(fd);
		pt_eq(order(&p[i], FAULT, 7), 0);
		pt_eq(pt_count(fd), before + 7);
	}
	for (i = 0; i < 2; i++)
		stop(&p[i]);
}

/* Some are closed while there are members, then all; what is forked after that has none. */
static void closed(void)
{
	struct puppet p[4];
	int i, cpu;

	open_for_cpus(faults());
	start_some(p, 2);
	for (i = 0; i < truth.cpus; i++) {
		cpu = truth.cpus - 1 - i;
		each_on_each(p, i ? 3 : 2);
		close(bound.fd[cpu]);
		bound.fd[cpu] = truth.fd[cpu];
		bound.ahead[cpu] = 0;
		if (!i)		/* it has what is left, of the other CPUs */
			start_some(p + 2, 1);
	}
	start_some(p + 3, 1);
	each_on_each(p, 4);
	stop_some(p, 4);
}

static void toggled(void)
{
	struct puppet p[3];
	int i;

	open_for_cpus(faults());
	start_some(p, 2);
	for (i = 0; i < truth.cpus; i++) {
		pt_disable(bound.fd[i]);
		pt_disable(truth.fd[i]);
	}
	start_some(p + 2, 1);
	pt_eq(order(&p[0], FAULT, 7), 0);
	pt_eq(order(&p[2], FAULT, 7), 0);
	each_agrees();
	for (i = 0; i < truth.cpus; i++) {
		pt_enable(bound.fd[i]);
		pt_enable(truth.fd[i]);
	}
	each_on_each(p, 3);
	stop_some(p, 3);
}

/* Each buffer has the samples of its CPU, with who has run there, and the ends of those. */
static void samples(void)
{
	struct perf_event_attr attr = faults();
	struct pt_ring ring[CPUS_MAX];
	struct pt_record rec;
	struct pt_sample s;
	struct puppet p[2];
	int i, cpu;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
	attr.task = 1;
	open_for_cpus(attr);
	for (i = 0; i < truth.cpus; i++)
		pt_map(&ring[i], bound.fd[i], 16);
	start_some(p, 2);
	copies_of_each(1);
	for (cpu = 0; cpu < truth.cpus; cpu++) {
		move(&p[0], cpu);
		pt_drain(&ring[cpu]);
		pt_eq(order(&p[0], FAULT, 5), 0);
		for (i = 0; pt_next_of(&ring[cpu], &rec, PERF_RECORD_SAMPLE); i++) {
			pt_parse_sample(&attr, &rec, &s);
			pt_eq(s.tid, (u32)p[0].pid);
			pt_eq(s.cpu, (u32)cpu);
		}
		pt_eq(i, 5);
	}
	pt_drain(&ring[truth.cpus - 1]);
	stop(&p[0]);
	pt_eq(pt_count_records(&ring[truth.cpus - 1], PERF_RECORD_EXIT), 1);
	stop(&p[1]);
}

static const struct pt_case cases[] = {
	{ "one_copy", one_copy },
	{ "groups", groups },
	{ "one_leaves", one_leaves },
	{ "starter_leaves", starter_leaves },
	{ "with_one_for_any", with_one_for_any },
	{ "with_many_for_any", with_many_for_any },
	{ "after_a_member", after_a_member },
	{ "times", times },
	{ "of_one_cpu", of_one_cpu },
	{ "closed", closed },
	{ "toggled", toggled },
	{ "samples", samples },
};

PT_MAIN(cases)
