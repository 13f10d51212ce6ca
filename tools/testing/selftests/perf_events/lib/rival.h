/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rival.h - the other side of a race: a thread that does something again and again, on another CPU
 * than the case.
 */
#ifndef PTEST_RIVAL_H
#define PTEST_RIVAL_H

#include "ptest.h"
#include <pthread.h>

struct rival {
	pthread_t thread;
	void (*fn)(struct rival *r);
	int fd, cpu;
	pid_t target;
	bool stop;
	u64 turns;
};

/*
 * An emulator that runs one CPU at a time stays with it until it is idle: who waits for another CPU
 * must not spin.
 */
static inline void let_others_run(void)
{
	const struct timespec moment = { 0, 1000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
}

/* The same by the instruction for it, for who has something to do again at once. */
static inline void pass_turn(void)
{
#ifdef __x86_64__
	asm volatile("pause" ::: "memory");
#else
	asm volatile("yield" ::: "memory");
#endif
}

static inline void *rival_contend(void *arg)
{
	struct rival *r = arg;

	if (r->cpu < pt_online_cpus())
		pt_pin(r->cpu);
	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE) && !pt_failures()) {
		r->fn(r);
		__atomic_store_n(&r->turns, r->turns + 1, __ATOMIC_RELEASE);
		let_others_run();
	}
	return NULL;
}

static inline void rival_start(struct rival *r, void (*fn)(struct rival *r), int fd, pid_t target)
{
	*r = (struct rival){ .fn = fn, .fd = fd, .target = target, .cpu = 1 };
	pt_pin(0);
	pt_need(!pthread_create(&r->thread, NULL, rival_contend, r), "thread");
}

/* It has had a turn from beginning to end. */
static inline void rival_turns(struct rival *r)
{
	u64 since = __atomic_load_n(&r->turns, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&r->turns, __ATOMIC_ACQUIRE) < since + 2 && !pt_failures())
		let_others_run();
}

static inline void rival_stop(struct rival *r)
{
	__atomic_store_n(&r->stop, true, __ATOMIC_RELEASE);
	pthread_join(r->thread, NULL);
}

#endif /* PTEST_RIVAL_H */
