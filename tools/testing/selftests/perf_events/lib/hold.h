/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hold.h - for programs about overflows that are told of, that stop, and that hold a thread: the
 * calls, and a child that is held.
 */
#ifndef PTEST_HOLD_H
#define PTEST_HOLD_H

#include "ext.h"

#define HOLD	(PERF_EXT_NOTIFY_STOP | PERF_EXT_NOTIFY_BLOCK)

/* 0 or -errno */
static inline long notify(int fd, u32 every, u32 flags)
{
	struct perf_ext_notify n = { .every = every, .flags = flags };

	return pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n));
}

static inline long restart_thread(int fd, pid_t tid)
{
	struct perf_ext_restart r = { .tid = tid };

	return pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&r));
}

static inline long restart(int fd)
{
	return restart_thread(fd, 0);
}

/* POLLIN, now; or it is waited for. */
bool told(int fd);
void wait_told(int fd);

/* A child with an event that its parent has opened. */
struct held {
	pid_t pid;
	pid_t tid;		/* the thread of the event */
	int fd;			/* the event, 0 until there is one */
	struct pt_ring ring;
	int ready[2], go[2];	/* gates */
	/* In shared memory. */
	struct held_shared {
		volatile u64 done;	/* what it has done so far: pages, stores, ... */
		volatile u64 address;	/* of what it works on */
		volatile pid_t tid;	/* 0: that of the child */
		volatile int fd;	/* the parent's event */
		volatile u64 handled;	/* signals, */
		volatile u64 done_then;	/* and @done at the last one */
	} *shared;
};

/*
 * A child that calls fn(), and one that has an event of these attributes, every overflow of which
 * holds it. What is counted begins behind held_ready() of fn(), when the parent says held_go().
 */
void held_fork(struct held *h, void (*fn)(struct held *h));
void held_watch(struct held *h, struct perf_event_attr *attr);
void held_ready(struct held *h);
void held_go(struct held *h);

/* Page faults, one after the other: each is told in @done when its store has been done. */
#define HELD_FAULTS	95
void held_faults(struct held *h);
/* All of the above, for these: it is held at each tenth. */
void held_start(struct held *h, struct perf_event_attr *attr);
struct perf_event_attr held_attr(u64 period);
/* The event is closed. */
void held_close(struct held *h);

/* Its state in /proc. */
char held_state(const struct held *h);
/* Is it held, says fdinfo? */
bool held_waiting(const struct held *h);
/* Wait until it is held: when the reader is told, it may be on its way there. */
void held_wait(struct held *h);
/* The instruction that is next when it goes on. */
u64 held_ip(const struct held *h);

#endif /* PTEST_HOLD_H */
