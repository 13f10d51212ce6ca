/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sleeper.h - a child that runs whenever it can, so that it sleeps whenever the caller runs: for
 * what happens to a task that is not the running one.
 */
#ifndef PTEST_SLEEPER_H
#define PTEST_SLEEPER_H

#include "ptest.h"
#include <linux/futex.h>

static int *sleeper_word;

static inline void sleep_on_it(void *arg)
{
	int seen = 0;

	(void)arg;
	while (seen >= 0) {
		syscall(SYS_futex, sleeper_word, FUTEX_WAIT, seen, NULL, NULL, 0);
		seen = __atomic_load_n(sleeper_word, __ATOMIC_ACQUIRE);
	}
}

/*
 * The child wakes, once: the waker of a futex holds no lock that the sleeper wants, which on
 * PREEMPT_RT would make it sleep again. It is asleep when this returns.
 */
static inline void sleeper_wake(int value)
{
	__atomic_store_n(sleeper_word, value, __ATOMIC_RELEASE);
	pt_eq(syscall(SYS_futex, sleeper_word, FUTEX_WAKE, 1, NULL, NULL, 0), 1);
}

static inline void sleeper_turn(void)
{
	sleeper_wake(*sleeper_word + 1);
}

static inline pid_t sleeper_start(void)
{
	struct sched_param first = { .sched_priority = 10 };
	pid_t pid;

	pt_pin(0);
	sleeper_word = mmap(NULL, sizeof(*sleeper_word), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pt_need(sleeper_word != MAP_FAILED, "mmap: %s", strerror(errno));
	pid = pt_fork(sleep_on_it, NULL);
	pt_need(!sched_setscheduler(pid, SCHED_FIFO, &first), "SCHED_FIFO: %s", strerror(errno));
	sleeper_turn();
	return pid;
}

static inline void sleeper_stop(pid_t pid)
{
	sleeper_wake(-1);
	pt_reap(pid);
}

#endif /* PTEST_SLEEPER_H */
