// SPDX-License-Identifier: GPL-2.0
/*
 * child.c - children of a case, and gates where one task waits for another.
 */
#include "ptest.h"
#include <signal.h>

pid_t pt_child(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	pt_need(pid >= 0, "fork: %s", strerror(errno));
	return pid;
}

void pt_end_child(void)
{
	_exit(pt_failures() != 0);
}

pid_t pt_fork(void (*fn)(void *arg), void *arg)
{
	pid_t pid;

	pt_in_child(pid)
		fn(arg);
	return pid;
}

int pt_wait(pid_t pid)
{
	pid_t ended;
	int status;

	do {
		ended = waitpid(pid, &status, 0);
	} while (ended < 0 && errno == EINTR);
	pt_need(ended == pid, "waitpid: %s", strerror(errno));
	return status;
}

void pt_reap(pid_t pid)
{
	int status = pt_wait(pid);

	pt_check(WIFEXITED(status) && !WEXITSTATUS(status), "child ended with status %#x", status);
}

void pt_reap_killed(pid_t pid, int sig)
{
	int status = pt_wait(pid);

	pt_check(WIFSIGNALED(status) && WTERMSIG(status) == sig,
		 "child ended with status %#x, not by signal %d", status, sig);
}

void pt_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	pt_reap_killed(pid, SIGKILL);
}

void pt_gate_make(int gate[2])
{
	pt_need(!pipe(gate), "pipe: %s", strerror(errno));
}

void pt_gate_open(int gate[2])
{
	pt_need(write(gate[1], "x", 1) == 1, "gate: %s", strerror(errno));
}

void pt_gate_wait(int gate[2])
{
	char c;

	pt_need(read(gate[0], &c, 1) == 1, "gate: nobody opens it");
}
