// SPDX-License-Identifier: GPL-2.0
/*
 * attr.sigtrap: each overflow is a synchronous SIGTRAP of the task that caused it; and
 * what becomes of the signal when the task or the event goes first. remove_on_exec, which sigtrap
 * needs, in groups.
 *
 * "--exec" makes the program touch a page and leave: the new program of exec.
 */
#include "lib/ptest.h"
#include <pthread.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#ifndef TRAP_PERF
#define TRAP_PERF	6
#endif

#define DATA	0x1122334455667788ULL

/* What the kernel writes; the C library's siginfo_t does not know it yet. */
struct trap_info {
	int signo, err, code, pad;
	u64 addr;
	u64 data;
	u32 type, flags;
};

static struct {
	volatile int nr;
	struct trap_info last;
	u64 ip;
	pid_t tid;
} got;

static void handler(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	memcpy(&got.last, info, sizeof(got.last));
	got.tid = pt_tid();
	got.nr++;
}

static void catch_traps(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	pt_need(!sigaction(SIGTRAP, &sa, NULL), "sigaction");
	got.nr = 0;
}

static struct perf_event_attr trapping(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_ADDR;
	attr.exclude_kernel = 1;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.sig_data = DATA;
	attr.disabled = 1;
	return attr;
}

static void one_per_overflow(void)
{
	struct perf_event_attr attr = trapping();
	u8 *p = pt_fresh_pages(20);
	int fd, i;

	catch_traps();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	for (i = 0; i < 20; i++) {
		p[i * pt_page_size()] = 1;
		/* It is there before the next instruction, without a system call. */
		pt_eq(got.nr, i + 1);
	}
	pt_disable(fd);
	pt_eq(pt_count(fd), 20);
}

static void siginfo_fields(void)
{
	struct perf_event_attr attr = trapping();
	u8 *p = pt_fresh_pages(1);
	int fd;

	catch_traps();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	pt_touch(p, 1);
	pt_disable(fd);
	pt_eq(got.nr, 1);
	pt_eq(got.last.signo, SIGTRAP);
	pt_eq(got.last.code, TRAP_PERF);
	pt_eq(got.last.err, 0);
	pt_eq(got.last.addr, pt_addr(p));
	pt_eq(got.last.data, DATA);
	pt_eq(got.last.type, PERF_TYPE_SOFTWARE);
	pt_eq(got.last.flags, 0);
	pt_eq(got.tid, pt_tid());
}

static void every_nth(void)
{
	struct perf_event_attr attr = trapping();
	int fd;

	attr.sample_period = 7;
	catch_traps();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	pt_fault(50);
	pt_disable(fd);
	pt_eq(got.nr, 7);
}

/* A blocked signal waits, and says that it did. */
static void blocked(void)
{
	struct perf_event_attr attr = trapping();
	sigset_t set;
	int fd;

	catch_traps();
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	pt_fault(3);
	pt_disable(fd);
	pt_eq(got.nr, 0);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	pt_eq(got.nr, 1);
	pt_eq(got.last.flags, 1);	/* TRAP_PERF_FLAG_ASYNC */
}

static void refresh_ends_it(void)
{
	struct perf_event_attr attr = trapping();
	int fd;

	catch_traps();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), 0);
	pt_fault(10);
	pt_eq(got.nr, 3);
	pt_eq(pt_count(fd), 3);
}

static void *fault_four_times(void *arg)
{
	pid_t *tid = arg;

	*tid = pt_tid();
	pt_fault(4);
	return NULL;
}

static void of_inherited_threads(void)
{
	struct perf_event_attr attr = trapping();
	pthread_t t;
	pid_t tid = 0;
	int fd;

	attr.inherit = 1;
	attr.inherit_thread = 1;
	catch_traps();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	pt_need(!pthread_create(&t, NULL, fault_four_times, &tid), "thread");
	pthread_join(t, NULL);
	pt_disable(fd);
	/* Its stack faults as well: at least, but each in the thread that faulted last. */
	pt_check(got.nr >= 4, "%d signals", got.nr);
	pt_check(tid != pt_tid(), "no other thread");
}

static void refused(void)
{
	struct perf_event_attr attr = trapping();

	attr.remove_on_exec = 0;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr = trapping();
	attr.enable_on_exec = 1;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr = trapping();
	attr.remove_on_exec = 0;
	attr.sigtrap = 0;
	pt_eq(pt_probe(&attr), 0);
	/* CPU events have no task to signal. */
	attr = trapping();
	pt_eq(pt_try_open(&attr, -1, 0, -1, 0), -EINVAL);
}

/* ---- the signal is under way and the task or the event goes ---- */

static void die_while_trapping(void *arg)
{
	struct perf_event_attr attr = trapping();
	u8 *p = pt_fresh_pages(2);
	sigset_t set;
	int fd;

	(void)arg;
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	pt_touch(p, 2);
}

static void exit_with_a_signal_pending(void)
{
	int i;

	for (i = 0; i < 50; i++)
		pt_reap(pt_fork(die_while_trapping, NULL));
}

static void exec_while_trapping(void *arg)
{
	struct perf_event_attr attr = trapping();
	u8 *p = pt_fresh_pages(1);
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pt_enable(pt_open(&attr, 0, -1, -1, arg ? PERF_FLAG_FD_CLOEXEC : 0));
	pt_touch(p, 1);
	sigdelset(&set, SIGTRAP);
	execl("/proc/self/exe", "sigtrap", "--exec", NULL);
	_exit(98);
}

/* The pending signal survives exec blocked, the event does not. */
static void exec_with_a_signal_pending(void)
{
	int i;

	for (i = 0; i < 20; i++)
		pt_reap(pt_fork(exec_while_trapping, i & 1 ? &i : NULL));
}

static void copy_program(const char *to, mode_t mode)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd;

	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	pt_need(from >= 0 && fd >= 0, "%s: %s", to, strerror(errno));
	while (sendfile(fd, from, NULL, 1 << 20) > 0)
		;
	pt_need(!fchmod(fd, mode), "chmod: %s", strerror(errno));
	close(fd);
	close(from);
}

static u64 enter_execve;

static void exec_unreadable(void *arg)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT, enter_execve);

	attr.sample_period = 1;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	pt_open(&attr, 0, -1, -1, 0);
	pt_become_nobody();
	execl(arg, "sigtrap", "--exec", NULL);
	_exit(97);
}

/* The hit is before exec, its signal would be after it; but the opener may not look into that. */
static void exec_of_an_unreadable_program(void)
{
	static const char path[] = "/tmp/sigtrap-unreadable";

	enter_execve = pt_tracepoint_id("syscalls", "sys_enter_execve");
	copy_program(path, 0111);
	pt_reap(pt_fork(exec_unreadable, (void *)path));
	unlink(path);
}

static struct perf_event_attr trap_at_execve(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("syscalls", "sys_enter_execve"));

	attr.sample_period = 1;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	return attr;
}

static void exec_with_a_hit(void *arg)
{
	struct perf_event_attr attr = trap_at_execve();

	pt_open(&attr, 0, -1, -1, arg ? PERF_FLAG_FD_CLOEXEC : 0);
	execl("/proc/self/exe", "sigtrap", "--exec", NULL);
	_exit(97);
}

/* The overflow is inside of exec: its signal would kill a program that knows nothing of it. */
static void not_to_the_new_program(void)
{
	int cloexec = 1;

	if (pt_is_stock())
		pt_skip("Linux 6.12 kills the new program");
	pt_tracepoint_id("syscalls", "sys_enter_execve");	/* skips, which a child cannot */
	pt_reap(pt_fork(exec_with_a_hit, NULL));
	pt_reap(pt_fork(exec_with_a_hit, &cloexec));
}

static void of_an_exec_that_fails(void)
{
	struct perf_event_attr attr = trap_at_execve();
	int fd;

	catch_traps();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(execl("/nowhere", "nowhere", NULL), -1);
	pt_eq(got.nr, 1);
	pt_eq(pt_count(fd), 1);
}

/* The signal itself is a hit. It must not be the reason of the next signal. */
static void its_own_signal(void)
{
	struct perf_event_attr attr = trapping();
	int fd;

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = pt_tracepoint_id("signal", "signal_generate");
	attr.exclude_kernel = 0;
	attr.sample_type = 0;
	catch_traps();
	signal(SIGUSR1, SIG_IGN);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	kill(getpid(), SIGUSR1);
	pt_disable(fd);
	pt_eq(got.nr, 1);
	pt_eq(pt_count(fd), 1);
}

struct duel {
	volatile int fd, stop;
};

static void *close_it(void *arg)
{
	struct duel *d = arg;

	while (!d->stop) {
		int fd = __atomic_exchange_n(&d->fd, -1, __ATOMIC_ACQ_REL);

		if (fd >= 0)
			close(fd);
		else
			sched_yield();
	}
	return NULL;
}

/* The closer may come at any moment of an overflow of the other thread. */
static void close_with_a_signal_under_way(void)
{
	struct perf_event_attr attr = trapping();
	struct duel d = { .fd = -1 };
	pthread_t t;
	int i;

	catch_traps();
	attr.disabled = 0;
	pt_need(!pthread_create(&t, NULL, close_it, &d), "thread");
	for (i = 0; i < 40; i++) {
		u8 *p = pt_fresh_pages(10);

		__atomic_store_n(&d.fd, pt_open(&attr, 0, -1, -1, 0), __ATOMIC_RELEASE);
		pt_touch(p, 10);
		while (__atomic_load_n(&d.fd, __ATOMIC_ACQUIRE) >= 0)
			sched_yield();
		munmap(p, 10 * pt_page_size());
	}
	d.stop = 1;
	pthread_join(t, NULL);
	pt_check(got.nr <= 400 + 40, "%d signals", got.nr);
}

static int handler_fd;

static void closing_handler(int sig)
{
	(void)sig;
	got.nr++;
	close(handler_fd);
}

static void close_itself_in_the_handler(void)
{
	struct perf_event_attr attr = trapping();
	u8 *p = pt_fresh_pages(5);

	signal(SIGTRAP, closing_handler);
	got.nr = 0;
	handler_fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(handler_fd);
	pt_touch(p, 5);
	pt_eq(got.nr, 1);
	pt_eq(fcntl(handler_fd, F_GETFD), -1);
}

/* ---- exec takes some members of a group ---- */

static struct perf_event_attr calls(bool remove)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("syscalls", "sys_enter_getppid"));

	attr.remove_on_exec = remove;
	return attr;
}

static void count_across_exec(bool leader_goes, bool sibling_goes)
{
	struct perf_event_attr leader = calls(leader_goes), sibling = calls(sibling_goes);
	int go[2], lfd, sfd;
	pid_t pid;

	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		syscall(SYS_getppid);
		syscall(SYS_getppid);
		execl("/proc/self/exe", "sigtrap", "--exec", NULL);
		_exit(98);
	}
	lfd = pt_open(&leader, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	sfd = pt_open(&sibling, pid, -1, lfd, PERF_FLAG_FD_CLOEXEC);
	pt_gate_open(go);
	pt_reap(pid);
	/* Two calls before exec, three after it. */
	pt_eq(pt_count(lfd), leader_goes ? 2 : 5);
	pt_eq(pt_count(sfd), sibling_goes ? 2 : 5);
	close(lfd);
	pt_eq(pt_count(sfd), sibling_goes ? 2 : 5);
}

static void exec_takes_the_leader(void)
{
	count_across_exec(true, false);
}

static void exec_takes_the_sibling(void)
{
	count_across_exec(false, true);
}

static void exec_takes_all(void)
{
	count_across_exec(true, true);
}

/* ---- children ---- */

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND	0x100000000ULL
#endif

static pid_t clone_without_handlers(void)
{
	/* flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls */
	u64 args[8] = { CLONE_CLEAR_SIGHAND, 0, 0, 0, SIGCHLD };
	pid_t pid = (pid_t)syscall(SYS_clone3, args, sizeof(args));

	pt_need(pid >= 0, "clone3: %s", strerror(errno));
	return pid;
}

/* Who has the handlers has the signals, too; who has none, and would die, has other events only. */
static void of_children(void)
{
	struct perf_event_attr plain = calls(false), attr = calls(true);
	pid_t pid;
	int fd;

	plain.inherit = 1;
	attr.inherit = 1;
	attr.sigtrap = 1;
	attr.sample_period = 1;
	catch_traps();
	fd = pt_open(&plain, 0, -1, -1, 0);
	pt_open(&attr, 0, -1, -1, 0);
	pt_in_child(pid) {
		syscall(SYS_getppid);
		syscall(SYS_getppid);
		syscall(SYS_getppid);
		pt_eq(got.nr, 3);
	}
	pt_reap(pid);
	pt_eq(pt_count(fd), 3);
	pid = clone_without_handlers();
	if (!pid) {
		syscall(SYS_getppid);
		syscall(SYS_getppid);
		_exit(0);
	}
	pt_reap(pid);
	pt_eq(pt_count(fd), 5);
	pt_eq(got.nr, 0);
}

static int after_exec(int argc, char **argv)
{
	if (argc != 2 || strcmp(argv[1], "--exec"))
		return -1;
	syscall(SYS_getppid);
	syscall(SYS_getppid);
	syscall(SYS_getppid);
	return 0;
}

static const struct pt_case cases[] = {
	{ "one_per_overflow", one_per_overflow },
	{ "siginfo_fields", siginfo_fields },
	{ "every_nth", every_nth },
	{ "blocked", blocked },
	{ "refresh_ends_it", refresh_ends_it },
	{ "of_inherited_threads", of_inherited_threads },
	{ "of_children", of_children },
	{ "its_own_signal", its_own_signal },
	{ "not_to_the_new_program", not_to_the_new_program },
	{ "of_an_exec_that_fails", of_an_exec_that_fails },
	{ "refused", refused },
	{ "exit_with_a_signal_pending", exit_with_a_signal_pending },
	{ "exec_with_a_signal_pending", exec_with_a_signal_pending },
	{ "exec_of_an_unreadable_program", exec_of_an_unreadable_program },
	{ "close_with_a_signal_under_way", close_with_a_signal_under_way },
	{ "close_itself_in_the_handler", close_itself_in_the_handler },
	{ "exec_takes_the_leader", exec_takes_the_leader },
	{ "exec_takes_the_sibling", exec_takes_the_sibling },
	{ "exec_takes_all", exec_takes_all },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = after_exec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
