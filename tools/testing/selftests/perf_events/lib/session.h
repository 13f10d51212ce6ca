/* SPDX-License-Identifier: GPL-2.0 */
/*
 * session.h - sessions: the calls, values by target, and workers, which are children that do what
 * they are told.
 */
#ifndef PTEST_SESSION_H
#define PTEST_SESSION_H

#include "ext.h"
#include "test_count.h"

/*
 * A session of these events, the first one leads: its descriptor, or -errno. What is asked is an
 * event that counts nothing, and is closed again.
 */
int session_try_make(struct perf_event_attr *attrs, unsigned int nr, u32 flags);
/* The same, asked of an event that there is. */
int session_ask(int fd, struct perf_event_attr *attrs, unsigned int nr, u32 flags);
int session_make(struct perf_event_attr *attrs, unsigned int nr, u32 flags);
/* A further set of it; 0 or -errno. */
long session_try_add(int fd, u16 set, struct perf_event_attr *attrs, unsigned int nr);
void session_add(int fd, u16 set, struct perf_event_attr *attrs, unsigned int nr);
/* The n-th overflow of a member ends the turn of its set; 0 or -errno. */
long session_trigger(int fd, u16 set, u16 member, u32 n);
/* Of one event, for tasks or for CPUs. */
int session_of_tasks(struct perf_event_attr attr);
int session_of_cpus(struct perf_event_attr attr);

/* 0 or -errno */
long session_attach(int fd, u32 kind, s64 number, u32 flags);
long session_detach(int fd, u32 kind, s64 number);
static inline long session_attach_task(int fd, pid_t tid, u32 flags)
{
	return session_attach(fd, PERF_EXT_TARGET_TID, tid, flags);
}

static inline long session_detach_task(int fd, pid_t tid)
{
	return session_detach(fd, PERF_EXT_TARGET_TID, tid);
}

static inline long session_attach_cpu(int fd, int cpu)
{
	return session_attach(fd, PERF_EXT_TARGET_CPU, cpu, 0);
}

static inline long session_detach_cpu(int fd, int cpu)
{
	return session_detach(fd, PERF_EXT_TARGET_CPU, cpu);
}

/* ---- values by target ---- */

#define SESSION_ENTRIES	128
#define SESSION_MEMBERS	64

/* An entry of READ, decoded. */
struct session_entry {
	int tid, cpu;
	u16 set;
	u32 state;
	unsigned int nr;
	u64 cgroup, lost, enabled, running;
	u64 value[SESSION_MEMBERS];
};

/* By target, by cgroup, or their sums; returns how many there are. The case fails if READ does. */
unsigned int session_read(int fd, u32 flags, struct session_entry *entries);
/*
 * The entry of a task, of a CPU (not of a cgroup there), of those that have left, which there
 * always is; NULL: there is none. It is good until the next call.
 */
const struct session_entry *session_task(int fd, pid_t tid);
const struct session_entry *session_cpu(int fd, int cpu);
const struct session_entry *session_left(int fd);
/* The same of one of several sets; the others are of set 0. */
const struct session_entry *session_task_set(int fd, pid_t tid, u16 set);
const struct session_entry *session_cpu_set(int fd, int cpu, u16 set);
const struct session_entry *session_left_set(int fd, u16 set);
/* What its first member has counted, for a task, for those that have left, in all. */
s64 session_set_of_task(int fd, pid_t tid, u16 set);
s64 session_set_of_cpu(int fd, int cpu, u16 set);
s64 session_set_left(int fd, u16 set);
u64 session_set_sum(int fd, u16 set);
/* How many targets there are; CPUs that have come online are attached when it returns. */
unsigned int session_targets(int fd);

/* What the first member counts for a target; -1: it is none. */
s64 session_count_of_task(int fd, pid_t tid);
s64 session_count_of_cpu(int fd, int cpu);
s64 session_count_left(int fd);
/* While nothing counts: the entries add up to the sums, and these are what read(2) has. */
void session_adds_up(int fd);

/* Samples that the session has lost, on all targets and those that have left. */
u64 session_lost(int fd);

/* ---- workers ---- */

struct worker {
	pid_t pid;
	int orders, done;
};

/* A child with pages of its own, on a CPU; -1: where it was started. */
void worker_start(struct worker *w, int cpu);
/* It calls fn(arg); worker_do() returns when it has. */
void worker_tell(struct worker *w, void (*fn)(u64 arg), u64 arg);
void worker_wait(struct worker *w);
void worker_do(struct worker *w, void (*fn)(u64 arg), u64 arg);

/* Two of them that have used the test PMU's file once, for that has faults of its own. */
static inline void two_that_hit(struct worker *a, struct worker *b)
{
	load(NULL);
	worker_start(a, 0);
	worker_start(b, 0);
	worker_do(a, hit, 1);
	worker_do(b, hit, 1);
}

/* It has done what it was told and waits, off the CPU: it runs no instruction more. */
void worker_asleep(struct worker *w);
/* It ends, and is reaped. */
void worker_end(struct worker *w);

/*
 * What is counted, and work that counts: software events are looked up when something happens,
 * those of the test PMU are scheduled. A case is run with both.
 */
struct session_source {
	struct perf_event_attr (*attr)(void);
	void (*work)(u64 n);
};

void session_with_each(void (*fn)(const struct session_source *s));
/* pt_fault() for workers. */
void session_fault(u64 n);

#endif /* PTEST_SESSION_H */
