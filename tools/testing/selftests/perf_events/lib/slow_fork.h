/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slow_fork.h - a fork that stands still in its middle: the copies of the events are made, and in
 * no family yet.
 */
#ifndef PTEST_SLOW_FORK_H
#define PTEST_SLOW_FORK_H

#include "ptest.h"
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>

struct slow_fork {
	void (*fn)(void);	/* what the new task does, and then it ends */
	pid_t tid, child;	/* of the thread that forks; the new task */
	u8 *page;
	int uffd;
	pthread_t thread;
	pthread_barrier_t both_there;
};

static inline void *slow_fork_run(void *arg)
{
	struct slow_fork *f = arg;

	f->tid = pt_tid();
	pthread_barrier_wait(&f->both_there);
	pthread_barrier_wait(&f->both_there);	/* slow_fork_begin() */
	f->child = (pid_t)syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, f->page, 0, 0);
	if (!f->child) {
		f->fn();
		pt_end_child();
	}
	return NULL;
}

/* There is a thread. It will wait for the page in which its fork stores the pidfd. */
static inline void slow_fork_start(struct slow_fork *f, void (*fn)(void))
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	*f = (struct slow_fork){ .fn = fn };
	f->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (f->uffd < 0)
		pt_skip("userfaultfd: %s", strerror(errno));
	pt_need(!ioctl(f->uffd, UFFDIO_API, &api), "UFFDIO_API: %s", strerror(errno));
	f->page = pt_fresh_pages(1);
	reg.range.start = pt_addr(f->page);
	reg.range.len = (u64)pt_page_size();
	pt_need(!ioctl(f->uffd, UFFDIO_REGISTER, &reg), "UFFDIO_REGISTER: %s", strerror(errno));
	pthread_barrier_init(&f->both_there, NULL, 2);
	pt_need(!pthread_create(&f->thread, NULL, slow_fork_run, f), "thread");
	pthread_barrier_wait(&f->both_there);
}

/* It forks, and waits. */
static inline void slow_fork_begin(struct slow_fork *f)
{
	struct uffd_msg msg;

	pthread_barrier_wait(&f->both_there);
	pt_need(read(f->uffd, &msg, sizeof(msg)) == sizeof(msg), "no fault");
}

/* It goes on, and has forked when this returns; the caller reaps the child. */
static inline void slow_fork_end(struct slow_fork *f)
{
	struct uffdio_zeropage zero = {};

	zero.range.start = pt_addr(f->page);
	zero.range.len = (u64)pt_page_size();
	pt_need(!ioctl(f->uffd, UFFDIO_ZEROPAGE, &zero), "UFFDIO_ZEROPAGE: %s", strerror(errno));
	pthread_join(f->thread, NULL);
	close(f->uffd);
	pt_need(f->child > 0, "no child");
}

#endif /* PTEST_SLOW_FORK_H */
