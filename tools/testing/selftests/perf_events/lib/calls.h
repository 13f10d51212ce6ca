/* SPDX-License-Identifier: GPL-2.0 */
/*
 * calls.h - inherited events that count getppid() by its tracepoint, and a child that makes such
 * calls when it is told to: unlike page faults nothing but the case itself makes them.
 */
#ifndef PTEST_CALLS_H
#define PTEST_CALLS_H

#include "ptest.h"

static inline struct perf_event_attr calls(void)
{
	struct perf_event_attr attr;

	attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	attr.inherit = 1;
	return attr;
}

static inline void call(unsigned int n)
{
	while (n--)
		syscall(SYS_getppid);
}

/*
 * With an event that is not inherited the contexts of parent and child are
 * not equal: no switch between the two swaps them.
 */
static inline void keep_contexts_apart(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	pt_open(&attr, 0, -1, -1, 0);
}

/* A child that does as much as it is told, byte by byte; 0 ends it. */
struct puppet {
	pid_t pid;
	int cmd, ack;
};

static inline void puppet_run(int cmd, int ack)
{
	unsigned char c;

	while (read(cmd, &c, 1) == 1 && c) {
		call(c);
		if (write(ack, &c, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static inline void puppet_start(struct puppet *p)
{
	int cmd[2], ack[2];

	pt_need(!pipe(cmd) && !pipe(ack), "pipe: %s", strerror(errno));
	pt_in_child(p->pid) {
		close(cmd[1]);
		close(ack[0]);
		puppet_run(cmd[0], ack[1]);
	}
	close(cmd[0]);
	close(ack[1]);
	p->cmd = cmd[1];
	p->ack = ack[0];
}

static inline void puppet_call(struct puppet *p, unsigned char n)
{
	pt_need(write(p->cmd, &n, 1) == 1 && read(p->ack, &n, 1) == 1, "the child died");
}

static inline void puppet_stop(struct puppet *p)
{
	unsigned char c = 0;

	pt_need(write(p->cmd, &c, 1) == 1, "the child died");
	pt_reap(p->pid);
	close(p->cmd);
	close(p->ack);
}

#endif /* PTEST_CALLS_H */
