// SPDX-License-Identifier: GPL-2.0
/*
 * ptrace_watch.c - the breakpoints of debuggers: they are events without a
 * file, set in another task through its debug registers, and share the
 * registers with the events of perf_event_open().
 */
#include "lib/ptest.h"
#include <elf.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#if defined(__aarch64__)
#include <asm/ptrace.h>
#endif

static volatile u64 __attribute__((aligned(64))) target[8];

/* The child: each round, one store to each of the first two words. */
static void tracee(void)
{
	u64 i;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(99);
	raise(SIGSTOP);
	for (i = 1;; i++) {
		target[0] = i;
		target[1] = i;
		raise(SIGSTOP);
	}
}

static int stop_signal(pid_t pid)
{
	int status = pt_wait(pid);

	pt_need(WIFSTOPPED(status), "status %#x", status);
	return WSTOPSIG(status);
}

static pid_t start(void)
{
	pid_t pid;

	pt_in_child(pid)
		tracee();
	pt_eq(stop_signal(pid), SIGSTOP);
	return pid;
}

static int go_on(pid_t pid)
{
	pt_need(!ptrace(PTRACE_CONT, pid, NULL, NULL), "continue: %s", strerror(errno));
	return stop_signal(pid);
}

static u64 word_of(pid_t pid, const volatile u64 *at)
{
	errno = 0;
	return (u64)ptrace(PTRACE_PEEKDATA, pid, at, NULL);
}

/*
 * Watch stores to 8 bytes in register nr, or nothing if at is NULL.
 * Return: 0 or -errno.
 */
#if defined(__x86_64__)
static int set(pid_t pid, unsigned int nr, const volatile u64 *at)
{
	unsigned long control = 0;
	unsigned int i;

	errno = 0;
	control = (unsigned long)ptrace(PTRACE_PEEKUSER, pid,
					offsetof(struct user, u_debugreg[7]), NULL);
	control &= ~(3ul << (2 * nr) | 15ul << (16 + 4 * nr));
	for (i = 0; i < 2; i++) {
		unsigned int reg = i == !at ? nr : 7;
		unsigned long value = reg == 7 ? control | (at ? 1ul << (2 * nr) |
								 9ul << (16 + 4 * nr) : 0) :
						 (unsigned long)at;

		if (ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[0]) + reg * 8,
			   value))
			return -errno;
	}
	return 0;
}

/* It has its address and watches nothing. */
static void switch_off(pid_t pid, unsigned int nr)
{
	const size_t at = offsetof(struct user, u_debugreg[7]);
	unsigned long control;

	errno = 0;
	control = (unsigned long)ptrace(PTRACE_PEEKUSER, pid, at, NULL);
	pt_need(!errno && !ptrace(PTRACE_POKEUSER, pid, at, control & ~(3ul << (2 * nr))),
		"DR7: %s", strerror(errno));
}

/* Which register was hit? The trap comes after the store. */
static int hit(pid_t pid)
{
	unsigned long status;
	int nr;

	errno = 0;
	status = (unsigned long)ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user, u_debugreg[6]),
				       NULL);
	pt_need(!errno, "DR6: %s", strerror(errno));
	for (nr = 0; nr < 4; nr++) {
		if (status & 1ul << nr)
			break;
	}
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[6]), 0);
	return nr;
}

static const bool before_the_store;
#else
static int set(pid_t pid, unsigned int nr, const volatile u64 *at)
{
	struct user_hwdebug_state state;
	struct iovec io = { &state, sizeof(state) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_ARM_HW_WATCH, &io))
		return -errno;
	state.dbg_regs[nr].addr = (u64)(uintptr_t)at;
	/* all 8 bytes, stores, of user space, on */
	state.dbg_regs[nr].ctrl = at ? 0xff << 5 | 2 << 3 | 2 << 1 | 1 : 0;
	io.iov_len = offsetof(struct user_hwdebug_state, dbg_regs) +
		     (nr + 1) * sizeof(state.dbg_regs[0]);
	return ptrace(PTRACE_SETREGSET, pid, NT_ARM_HW_WATCH, &io) ? -errno : 0;
}

/* It has its address and watches nothing. */
static void switch_off(pid_t pid, unsigned int nr)
{
	struct user_hwdebug_state state;
	struct iovec io = { &state, sizeof(state) };

	pt_need(!ptrace(PTRACE_GETREGSET, pid, NT_ARM_HW_WATCH, &io), "get: %s", strerror(errno));
	state.dbg_regs[nr].ctrl &= ~1u;
	io.iov_len = offsetof(struct user_hwdebug_state, dbg_regs) +
		     (nr + 1) * sizeof(state.dbg_regs[0]);
	pt_need(!ptrace(PTRACE_SETREGSET, pid, NT_ARM_HW_WATCH, &io), "set: %s", strerror(errno));
}

/* Which word? The trap comes before the store, again and again while it is watched. */
static int hit(pid_t pid)
{
	siginfo_t info;

	pt_need(!ptrace(PTRACE_GETSIGINFO, pid, NULL, &info), "siginfo: %s", strerror(errno));
	pt_eq(info.si_code, 4 /* TRAP_HWBKPT */);
	return (int)(((u64)(uintptr_t)info.si_addr - pt_addr((void *)target)) / 8);
}

static const bool before_the_store = true;
#endif

static int set_or_skip(pid_t pid, unsigned int nr, const volatile u64 *at)
{
	int ret = set(pid, nr, at);

	if (ret == -ENODEV || ret == -EIO || ret == -EOPNOTSUPP || ret == -EINVAL) {
		pt_kill(pid);
		pt_skip("no watchpoints: %s", strerror(-ret));
	}
	return ret;
}

/* Register nr watches word nr: it is hit by the store to it, once, and by no other. */
static void expect_hit(pid_t pid, int word, u64 round)
{
	pt_eq(go_on(pid), SIGTRAP);
	pt_eq(hit(pid), word);
	pt_eq(word_of(pid, &target[word]), before_the_store ? round - 1 : round);
}

static void watch_and_move(void)
{
	pid_t pid = start();

	pt_eq(set_or_skip(pid, 0, &target[0]), 0);
	expect_hit(pid, 0, 1);
	pt_eq(set(pid, 0, NULL), 0);
	pt_eq(go_on(pid), SIGSTOP);
	pt_eq(word_of(pid, &target[1]), 1);
	/* A round without. */
	pt_eq(go_on(pid), SIGSTOP);
	/* The second word, by another register. */
	pt_eq(set(pid, 1, &target[1]), 0);
	expect_hit(pid, 1, 3);
	pt_eq(word_of(pid, &target[0]), 3);
	pt_eq(set(pid, 1, NULL), 0);
	pt_eq(go_on(pid), SIGSTOP);
	/* On again after it was off. */
	pt_eq(set(pid, 0, &target[0]), 0);
	expect_hit(pid, 0, 4);
	pt_eq(set(pid, 0, NULL), 0);
	pt_eq(go_on(pid), SIGSTOP);
	pt_kill(pid);
}

static void off_where_it_is(void)
{
	pid_t pid = start();

	pt_eq(set_or_skip(pid, 0, &target[0]), 0);
	expect_hit(pid, 0, 1);
	switch_off(pid, 0);
	pt_eq(go_on(pid), SIGSTOP);
	pt_eq(go_on(pid), SIGSTOP);
	pt_eq(word_of(pid, &target[0]), 2);
	pt_kill(pid);
}

static struct perf_event_attr watch_event(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_BREAKPOINT, 0);

	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = pt_addr((void *)&target[2]);
	attr.bp_len = 8;
	attr.exclude_kernel = 1;
	return attr;
}

static int fill(pid_t pid, int *fd)
{
	struct perf_event_attr attr = watch_event();
	int n, ret = 0;

	for (n = 0; n < 64; n++) {
		ret = pt_try_open(&attr, pid, -1, -1, 0);
		if (ret < 0)
			break;
		fd[n] = ret;
	}
	if (!n && (ret == -ENOENT || ret == -ENODEV || ret == -EOPNOTSUPP)) {
		pt_kill(pid);
		pt_skip("no hardware breakpoints: %s", strerror(-ret));
	}
	pt_eq(ret, -ENOSPC);
	return n;
}

/* Who comes first has the registers, debugger or event. */
static void shared_with_events(void)
{
	int fd[64], n, m;
	pid_t pid = start();

	n = fill(pid, fd);
	pt_eq(set_or_skip(pid, 0, &target[0]), -ENOSPC);
	pt_eq(go_on(pid), SIGSTOP);
	close(fd[--n]);
	pt_eq(set(pid, 0, &target[0]), 0);
	expect_hit(pid, 0, 2);
	/* It keeps its register while it is off. */
	pt_eq(set(pid, 0, NULL), 0);
	m = fill(pid, fd + n);
	pt_eq(m, 0);
	pt_eq(go_on(pid), SIGSTOP);
	pt_eq(set(pid, 0, &target[0]), 0);
	expect_hit(pid, 0, 3);
	pt_kill(pid);
	while (n--)
		close(fd[n]);
}

/* The debugger's registers are free when the task has ended. */
static void gone_with_the_task(void)
{
	int fd[64], n, i;
	pid_t pid = start();

	n = fill(pid, fd);
	for (i = 0; i < n; i++)
		close(fd[i]);
	pt_eq(set_or_skip(pid, 0, &target[0]), 0);
	pt_kill(pid);
	pid = start();
	pt_eq(fill(pid, fd), n);
	for (i = 0; i < n; i++)
		close(fd[i]);
	pt_kill(pid);
}

static void impossible(void)
{
	pid_t pid = start();

	pt_eq(set_or_skip(pid, 0, &target[0]), 0);
	/* An address of the kernel, and one that does not fit its length. */
	pt_check(set(pid, 0, (const volatile u64 *)(uintptr_t)(~0ull << 20)) < 0,
		 "watches the kernel");
	pt_check(set(pid, 0, (const volatile u64 *)((uintptr_t)&target[0] + 1)) < 0 ||
		 before_the_store, "watches 8 bytes at an odd address");
	/* What was there still is, or nothing: the store must go on either way. */
	pt_eq(set(pid, 0, NULL), 0);
	pt_eq(go_on(pid), SIGSTOP);
	pt_eq(word_of(pid, &target[0]), 1);
	pt_kill(pid);
}

static const struct pt_case cases[] = {
	{ "watch_and_move", watch_and_move },
	{ "off_where_it_is", off_where_it_is },
	{ "shared_with_events", shared_with_events },
	{ "gone_with_the_task", gone_with_the_task },
	{ "impossible", impossible },
};

PT_MAIN(cases)
