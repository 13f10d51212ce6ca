/* SPDX-License-Identifier: GPL-2.0 */
/*
 * members.h - tasks that do what a case tells them, for programs about inherited events that tasks
 * have in common: they count their faults and hand the CPU to each other.
 */
#ifndef PTEST_MEMBERS_H
#define PTEST_MEMBERS_H

#include "ptest.h"

/* What a task does for the case. */
enum job {
	END,
	NOTHING,
	FAULT,		/* take as many faults as told */
	SPIN,		/* turns of a loop */
	HIT,		/* of the PMU of pmu/test_count.c */
	JOIN,		/* open a sibling of the event told, of its own task: 0 or errno */
	SERVE,		/* as often as told: the other one of a pair asks, two faults, answer */
	PLAY,		/* as often as told: one fault, ask the other one */
	FORK,		/* have as many children as told, one after the other, who serve twice */
	EXEC,		/* become the same program anew */
};

struct order {
	int job;
	int arg;
};

struct puppet {
	pid_t pid;
	int to, from;
};

/* Between two puppets: asking and answering. */
static int duel[4];

static inline struct perf_event_attr inherited(u32 type, u64 config)
{
	struct perf_event_attr attr = pt_attr(type, config);

	attr.inherit = 1;
	return attr;
}

static inline struct perf_event_attr faults(void)
{
	return inherited(PT_SW(PAGE_FAULTS_MIN));
}

/* ---- how many copies there are ---- */

static inline int possible_cpus(void)
{
	char text[64], *last;

	pt_need(pt_slurp("/sys/devices/system/cpu/possible", text, sizeof(text)), "no CPUs");
	last = strrchr(text, '-');
	return (last ? atoi(last + 1) : atoi(text)) + 1;
}

/* Those of a kin with so many members. */
static inline int in_common(int members)
{
	int cpus = possible_cpus();

	return members < cpus ? members : cpus;
}

#define WORKER_TURNS	5000

/* Those of a kin without members are taken away by a worker, which may have to come first. */
static inline int settled_copies(int fd, int want)
{
	int i;

	for (i = 0; ; i++) {
		const char *have = pt_fdinfo(fd, "copies");

		pt_need(have, "fdinfo does not tell of copies");
		if (atoi(have) <= want || i == WORKER_TURNS)
			return atoi(have);
		pt_switch_out();
	}
}

/* Linux 6.12 does not tell. */
#define copies_are(fd, want)							\
	do {									\
		if (!pt_is_stock())						\
			pt_eq(settled_copies(fd, want), want);			\
	} while (0)

/* ---- what they do ---- */

static inline void take_faults(int n)
{
	if (n)
		pt_fault((unsigned int)n);
}

static inline int join(int leader)
{
	struct perf_event_attr attr = faults();
	int fd = pt_try_open(&attr, 0, -1, leader, 0);

	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

static inline int serve(int ask, int reply, int n)
{
	char c;

	while (n--) {
		if (read(ask, &c, 1) != 1)
			return 1;
		take_faults(2);
		if (write(reply, &c, 1) != 1)
			return 1;
	}
	return 0;
}

static inline int play(int ask, int reply, int n)
{
	char c = 0;

	while (n--) {
		take_faults(1);
		if (write(ask, &c, 1) != 1 || read(reply, &c, 1) != 1)
			return 1;
	}
	return 0;
}

static inline int have_children(int n)
{
	int pipes[4], bad = 0;

	while (n--) {
		pid_t pid;

		if (pipe(pipes) || pipe(pipes + 2))
			return 1;
		pt_in_child(pid)
			_exit(serve(pipes[0], pipes[3], 2));
		bad |= play(pipes[1], pipes[2], 2) || pt_wait(pid);
		close(pipes[0]);
		close(pipes[1]);
		close(pipes[2]);
		close(pipes[3]);
	}
	return bad;
}

static inline void become_anew(int cmd, int ack)
{
	char text[6][12];
	int i;

	sprintf(text[0], "%d", cmd);
	sprintf(text[1], "%d", ack);
	for (i = 0; i < 4; i++)
		sprintf(text[2 + i], "%d", duel[i]);
	execl("/proc/self/exe", "members", "--obey", text[0], text[1], text[2], text[3], text[4],
	      text[5], NULL);
	_exit(99);
}

static inline int carry_out(const struct order *o)
{
	switch (o->job) {
	case FAULT:
		take_faults(o->arg);
		return 0;
	case SPIN:
		pt_spin((u64)o->arg);
		return 0;
	case HIT:
		return pt_module_set("test_count", "hit", o->arg);
	case JOIN:
		return join(o->arg);
	case SERVE:
		return serve(duel[0], duel[3], o->arg);
	case PLAY:
		return play(duel[1], duel[2], o->arg);
	case FORK:
		return have_children(o->arg);
	}
	return 0;
}

static inline void obey(int cmd, int ack)
{
	struct order o;

	pt_settle();
	while (read(cmd, &o, sizeof(o)) == sizeof(o) && o.job != END) {
		int answer = carry_out(&o);

		if (o.job == EXEC)
			become_anew(cmd, ack);
		if (write(ack, &answer, sizeof(answer)) != sizeof(answer))
			_exit(1);
	}
	_exit(0);
}

static inline int after_exec(int argc, char **argv)
{
	int answer = 0, i;

	if (argc != 8 || strcmp(argv[1], "--obey"))
		return -1;
	for (i = 0; i < 4; i++)
		duel[i] = atoi(argv[4 + i]);
	if (write(atoi(argv[3]), &answer, sizeof(answer)) != sizeof(answer))
		return 1;
	obey(atoi(argv[2]), atoi(argv[3]));
	return 1;
}

static inline void send(struct puppet *p, enum job what, int arg)
{
	struct order o = { what, arg };

	pt_need(write(p->to, &o, sizeof(o)) == sizeof(o), "the child died");
}

static inline int answer(struct puppet *p)
{
	int a;

	pt_need(read(p->from, &a, sizeof(a)) == sizeof(a), "the child died");
	return a;
}

static inline int order(struct puppet *p, enum job what, int arg)
{
	send(p, what, arg);
	return answer(p);
}

static inline void start(struct puppet *p)
{
	int to[2], from[2];

	pt_need(!pipe(to) && !pipe(from), "pipe: %s", strerror(errno));
	pt_in_child(p->pid) {
		close(to[1]);
		close(from[0]);
		obey(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	p->to = to[1];
	p->from = from[0];
	order(p, NOTHING, 0);
}

static inline void stop(struct puppet *p)
{
	send(p, END, 0);
	pt_reap(p->pid);
	close(p->to);
	close(p->from);
}

static inline void make_duel(void)
{
	pt_need(!pipe(duel) && !pipe(duel + 2), "pipe: %s", strerror(errno));
}

/* Faults of the pair from now on are counted by @fd, none twice and none not at all. */
static inline void counts_right(int fd, struct puppet *p, int nr)
{
	u64 before = pt_count(fd);
	int i;

	for (i = 0; i < nr; i++)
		pt_eq(order(&p[i], FAULT, 5 + i), 0);
	for (i = 0; i < nr; i++)
		before += 5 + (u64)i;
	pt_eq(pt_count(fd), before);
}

#endif /* PTEST_MEMBERS_H */
