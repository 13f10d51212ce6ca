/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STRESS_H
#define STRESS_H

#include "../lib/ptest.h"

#define NR_WORKERS	12
#define NR_FDS		24	/* of each worker */

enum action {
	OPEN_TASK, OPEN_CPU, OPEN_CGROUP, OPEN_SIBLING, OPEN_TEST_PMU, CLOSE, MAP, UNMAP, READ,
	ENABLE, DISABLE, RESET, PERIOD, REFRESH, SET_OUTPUT, PAUSE, PRCTL, FORK, EXEC, THREAD,
	MIGRATE, CGROUP_MOVE, CGROUP_REMOVE, CPU_OFF, CPU_ON, PMU_LOAD, PMU_UNLOAD,
	SESSION_MAKE, SESSION_ATTACH, SESSION_DETACH, SESSION_READ, EXT_PERIODS, EXT_MASKS,
	EXT_NOTIFY, EXT_RESTART, SET_JOIN, SET_LEAVE, SET_TRIGGER, SET_SELECT, SET_INFO,
	FORMAT_MAKE, FORMAT_LEAVE, FORMAT_FLIP,
	NR_ACTIONS
};

struct shared {
	int stop;
	pid_t pid[NR_WORKERS];
	unsigned long done[NR_ACTIONS], failed[NR_ACTIONS];
};

struct slot {
	int fd;			/* 0: free */
	void *map;
	size_t length;
	bool writable;
	bool session, of_cpus;
	bool in_ring;		/* of sets, unless it has left since */
	int area;		/* of a format; 0: none */
};

struct worker {
	unsigned int nr;
	u64 random;
	struct slot slot[NR_FDS];
};

extern struct shared *shared;

u64 rnd(struct worker *w);
unsigned int below(struct worker *w, unsigned int n);
bool over(void);
/* Count an answer; returns it. */
long note(enum action a, long ret);
/* The pid of some worker */
pid_t somebody(struct worker *w);

/* events.c */
void act_on_events(struct worker *w);
void drop_events(struct worker *w);
void role_events(struct worker *w);

struct perf_event_attr choose(struct worker *w);
struct slot *free_slot(struct worker *w);

/* sessions.c: one descriptor for many targets */
bool have_sessions(void);
void make_session(struct worker *w);
void act_on_session(struct worker *w, struct slot *s);

/* extensions.c: what else an event can be asked for; other: may be NULL */
bool have_extensions(void);
bool have_formats(void);
void act_on_extensions(struct worker *w, struct slot *s, struct slot *other);
void close_area(struct slot *s);

/* world.c: what happens around the events */
void prepare(void);
bool action_possible(enum action a);
void all_cpus_on(void);
int some_cgroup(struct worker *w);	/* an open folder, or -1 */
void role_forks(struct worker *w);
void role_threads(struct worker *w);
void role_migrate(struct worker *w);
void role_cgroups(struct worker *w);
void role_cpus(struct worker *w);
void role_pmus(struct worker *w);

#endif /* STRESS_H */
