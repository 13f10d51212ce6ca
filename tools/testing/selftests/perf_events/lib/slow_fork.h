/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slow_fork.h - a fork that stands still in its middle: the copies of the events are made, and in
 * no family yet.
 */
#ifndef PTEST_SLOW_FORK_H
#define PTEST_SLOW_FORK_H

#include "missing_page.h"
#include <pthread.h>
#include <signal.h>

struct slow_fork {
	void (*fn)(void);	/* what the new task does, and then it ends */
	pid_t tid, child;	/* of the thread that forks; the new task */
	struct missing_page pidfd;
	pthread_t thread;
	pthread_barrier_t both_there;
};

static inline void *slow_fork_run(void *arg)
{
	struct slow_fork *f = arg;

	f->tid = pt_tid();
	pthread_barrier_wait(&f->both_there);
	pthread_barrier_wait(&f->both_there);	/* slow_fork_begin() */
	f->child = (pid_t)syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, f->pidfd.page, 0, 0);
	if (!f->child) {
		f->fn();
		pt_end_child();
	}
	return NULL;
}

/* There is a thread. It will wait for the page in which its fork stores the pidfd. */
static inline void slow_fork_start(struct slow_fork *f, void (*fn)(void))
{
	*f = (struct slow_fork){ .fn = fn, .pidfd = missing_page() };
	pthread_barrier_init(&f->both_there, NULL, 2);
	pt_need(!pthread_create(&f->thread, NULL, slow_fork_run, f), "thread");
	pthread_barrier_wait(&f->both_there);
}

/* It forks, and waits. */
static inline void slow_fork_begin(struct slow_fork *f)
{
	pthread_barrier_wait(&f->both_there);
	missing_page_wait(&f->pidfd);
}

/* It goes on, and has forked when this returns; the caller reaps the child. */
static inline void slow_fork_end(struct slow_fork *f)
{
	missing_page_fill(&f->pidfd, NULL);
	pthread_join(f->thread, NULL);
	missing_page_end(&f->pidfd);
	pt_need(f->child > 0, "no child");
}

#endif /* PTEST_SLOW_FORK_H */
