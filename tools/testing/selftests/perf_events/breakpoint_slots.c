// SPDX-License-Identifier: GPL-2.0
/*
 * breakpoint_slots.c - how many breakpoints there can be: of a task, of a
 * CPU, of both; for code and for data; inherited, changed, and opened by
 * many at once.
 *
 * needs: smp
 */
#include "lib/slow_fork.h"
#include <linux/hw_breakpoint.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#define MOST	64

static volatile u64 __attribute__((aligned(64))) target[8];

static struct perf_event_attr watch(u32 type)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_BREAKPOINT, 0);

	attr.bp_type = type;
	attr.bp_addr = type == HW_BREAKPOINT_X ? pt_addr((void *)pt_chain_outer) :
		       pt_addr((void *)&target[0]);
	attr.bp_len = type == HW_BREAKPOINT_X ? sizeof(long) : 8;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

static int fd[MOST];

/* Open until it is refused. Return: how many there are. */
static int fill(struct perf_event_attr *attr, pid_t pid, int cpu, int *fds)
{
	int n, ret = 0;

	for (n = 0; n < MOST; n++) {
		ret = pt_try_open(attr, pid, cpu, -1, 0);
		if (ret < 0)
			break;
		fds[n] = ret;
	}
	if (!n && (ret == -ENOENT || ret == -ENODEV || ret == -EOPNOTSUPP))
		pt_skip("no hardware breakpoints: %s", strerror(-ret));
	pt_eq(ret, -ENOSPC);
	return n;
}

static void drop(int *fds, int n)
{
	while (n--)
		close(fds[n]);
}

static int try(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int ret = pt_try_open(attr, pid, cpu, -1, 0);

	if (ret >= 0)
		close(ret);
	return ret < 0 ? ret : 0;
}

static int slots(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	int n = fill(&attr, 0, -1, fd);

	drop(fd, n);
	return n;
}

/* A task and a CPU share the registers of the CPU; two tasks do not. */
static void task_and_cpu(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	int n = slots(), i, peer_fd[MOST], cpu_fd[MOST];
	struct pt_peer peer;

	pt_peer_start(&peer);
	pt_eq(fill(&attr, 0, -1, fd), n);
	pt_eq(try(&attr, -1, 0), -ENOSPC);
	pt_eq(fill(&attr, peer.pid, -1, peer_fd), n);
	/* One less here does not help, the other task has them all. */
	close(fd[0]);
	pt_eq(try(&attr, -1, 0), -ENOSPC);
	drop(peer_fd, n);
	cpu_fd[0] = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(try(&attr, -1, 0), -ENOSPC);
	pt_eq(try(&attr, 0, -1), -ENOSPC);
	pt_eq(fill(&attr, peer.pid, -1, peer_fd), n - 1);
	drop(peer_fd, n - 1);
	/* Step by step over to the CPU. */
	for (i = 1; i < n; i++) {
		close(fd[i]);
		cpu_fd[i] = pt_open(&attr, -1, 0, -1, 0);
		pt_eq(try(&attr, -1, 0), -ENOSPC);
	}
	pt_eq(try(&attr, 0, -1), -ENOSPC);
	pt_eq(try(&attr, peer.pid, 0), -ENOSPC);
	drop(cpu_fd, n);
	pt_eq(slots(), n);
	pt_peer_stop(&peer);
}

/* Breakpoints of a task on one CPU count there only. */
static void task_on_one_cpu(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	int n = slots(), other[MOST], any;

	pt_eq(fill(&attr, 0, 0, fd), n);
	pt_eq(try(&attr, 0, -1), -ENOSPC);
	pt_eq(try(&attr, -1, 0), -ENOSPC);
	if (pt_online_cpus() < 2) {
		drop(fd, n);
		pt_eq(slots(), n);
		pt_skip("the rest is about a second CPU");
	}
	/* The other CPU knows nothing of it. */
	pt_eq(fill(&attr, -1, 1, other), n);
	pt_eq(try(&attr, 0, 1), -ENOSPC);
	drop(other, n);
	pt_eq(fill(&attr, 0, 1, other), n);
	pt_eq(try(&attr, -1, 1), -ENOSPC);
	/* One for any CPU needs room on both, one for CPU 0 there only. */
	close(fd[0]);
	pt_eq(try(&attr, 0, -1), -ENOSPC);
	pt_eq(try(&attr, 0, 0), 0);
	close(other[0]);
	any = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(try(&attr, 0, 0), -ENOSPC);
	pt_eq(try(&attr, 0, 1), -ENOSPC);
	close(any);
	/* Those for CPU 0 go, and only what is on CPU 1 is in the way of its own. */
	drop(fd + 1, n - 1);
	pt_eq(fill(&attr, -1, 0, fd), n);
	drop(fd, n);
	pt_eq(fill(&attr, -1, 1, fd), 1);
	close(fd[0]);
	drop(other + 1, n - 1);
	pt_eq(slots(), n);
}

/* What a task has for any CPU and what it has for one of them add up there. */
static void task_anywhere_and_on_one_cpu(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	int n = slots(), here, any;

	pt_need(n >= 2, "%d slots", n);
	here = pt_open(&attr, 0, 0, -1, 0);
	any = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(fill(&attr, -1, 0, fd), n - 2);
	drop(fd, n - 2);
	close(here);
	pt_eq(fill(&attr, -1, 0, fd), n - 1);
	drop(fd, n - 1);
	close(any);
	pt_eq(fill(&attr, -1, 0, fd), n);
	drop(fd, n);
}

/* Are those for code and for data the same registers? */
static void code_and_data(void)
{
	struct perf_event_attr data = watch(HW_BREAKPOINT_RW), code = watch(HW_BREAKPOINT_X);
	int n = slots(), m;

	pt_eq(fill(&data, 0, -1, fd), n);
#if defined(__x86_64__)
	pt_eq(try(&code, 0, -1), -ENOSPC);
	(void)m;
#else
	m = fill(&code, 0, -1, fd + n);
	pt_check(m >= 1, "no register for code");
	pt_eq(try(&data, 0, -1), -ENOSPC);
	drop(fd + n, m);
#endif
	drop(fd, n);
}

struct pipes {
	int to[2], from[2];
};

static int wanted;

static void heir(void *arg)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	struct pipes *p = arg;
	int n;

	/* It has the parent's already. */
	pt_eq(try(&attr, 0, -1), -ENOSPC);
	pt_gate_open(p->from);
	pt_gate_wait(p->to);
	n = fill(&attr, 0, -1, fd + wanted);
	pt_eq(n, wanted);
}

/* A child that inherits breakpoints has that many less of its own, until they are closed. */
static void inherited(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	struct pipes p;
	pid_t pid;

	wanted = slots();
	pt_gate_make(p.to);
	pt_gate_make(p.from);
	attr.inherit = 1;
	pt_eq(fill(&attr, 0, -1, fd), wanted);
	pt_in_child(pid) {
		/* The parent's copies must not stay open here. */
		drop(fd, wanted);
		heir(&p);
	}
	pt_gate_wait(p.from);
	drop(fd, wanted);
	attr.inherit = 0;
	pt_eq(slots(), wanted);
	pt_gate_open(p.to);
	pt_reap(pid);
	pt_eq(slots(), wanted);
}

/* What a task had is free when its breakpoints are closed, not when it ends. */
static void task_that_is_gone(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	int n = slots(), gone[MOST];
	struct pt_peer peer;

	pt_peer_start(&peer);
	pt_eq(fill(&attr, peer.pid, -1, gone), n);
	pt_peer_stop(&peer);
	pt_eq(try(&attr, -1, 0), -ENOSPC);
	pt_eq(slots(), n);
	close(gone[0]);
	pt_eq(try(&attr, -1, 0), 0);
	drop(gone + 1, n - 1);
}

static long modify(int at, struct perf_event_attr *attr)
{
	return pt_ioctl(at, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, (unsigned long)attr);
}

/* One for data becomes one for code, if there is room; else it stays what it is. */
static void change_of_kind(void)
{
	struct perf_event_attr data = watch(HW_BREAKPOINT_W), code = watch(HW_BREAKPOINT_X);
	int n = slots(), m, one, i;
	static u8 byte[2];

	one = pt_open(&data, 0, -1, -1, 0);
	m = fill(&code, 0, -1, fd);
#if defined(__x86_64__)
	pt_eq(m, n - 1);
#else
	pt_check(m >= 1, "no register for code");
	pt_eq(modify(one, &code), -ENOSPC);
	target[0] = 1;
	pt_eq(pt_count(one), 1);
	target[0] = 2;
	pt_eq(pt_count(one), 2);
	close(fd[--m]);
#endif
	i = (int)pt_count(one);
	pt_eq(modify(one, &code), 0);
	target[0] = 3;
	pt_eq(pt_count(one), i);
	pt_chain_outer(byte);
	pt_eq(pt_count(one), i + 1);
	pt_eq(try(&code, 0, -1), -ENOSPC);
	drop(fd, m);
#if defined(__x86_64__)
	pt_eq(fill(&data, 0, -1, fd), n - 1);
	drop(fd, n - 1);
#else
	pt_eq(fill(&data, 0, -1, fd), n);
	drop(fd, n);
#endif
	pt_eq(modify(one, &data), 0);
	target[0] = 4;
	pt_eq(pt_count(one), i + 2);
	close(one);
	pt_eq(slots(), n);
}

/* What is kept of a task's breakpoints of a kind is freed when the last one becomes another. */
static void change_of_kind_frees(void)
{
	struct perf_event_attr data = watch(HW_BREAKPOINT_W), code = watch(HW_BREAKPOINT_X);
	struct perf_event_attr alloc, gone;
	const unsigned int turns = 1000;
	int n = slots(), one, allocs, frees;
	unsigned int i;

	alloc = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("kmem", "kmalloc"));
	gone = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("kmem", "kfree"));
	pt_first_on_cpu(0);
	one = pt_open(&data, 0, -1, -1, 0);
	allocs = pt_open(&alloc, 0, -1, -1, 0);
	frees = pt_open(&gone, 0, -1, -1, 0);
	pt_eq(pt_ioctl(frees, PERF_EVENT_IOC_SET_FILTER, pt_addr("ptr != 0")), 0);
	pt_reset(allocs);
	pt_reset(frees);
	for (i = 0; i < turns; i++)
		pt_eq(modify(one, i % 2 ? &data : &code), 0);
	pt_disable(frees);
	if (pt_count(allocs) < turns)
		pt_skip("a change needs no memory here");
	pt_check(pt_count(frees) >= turns, "freed %llu times in %u changes",
		 (unsigned long long)pt_count(frees), turns);
	close(one);
	pt_eq(slots(), n);
}

/* Which part of an attr may change, and to what. */
static void bad_changes(void)
{
	struct perf_event_attr was = watch(HW_BREAKPOINT_W), attr = was;
	int n = slots(), one = pt_open(&was, 0, -1, -1, 0);

	attr.bp_type = HW_BREAKPOINT_EMPTY;
	pt_eq(modify(one, &attr), -EINVAL);
	attr.bp_type = HW_BREAKPOINT_INVALID;
	pt_eq(modify(one, &attr), -EINVAL);
	attr = was;
	attr.bp_len = 3000;
	pt_eq(modify(one, &attr), -EINVAL);
	attr = was;
	attr.bp_addr = ~0ull << 20;
	pt_eq(modify(one, &attr), -EINVAL);
	attr = was;
	attr.sample_period = 5;
	pt_eq(modify(one, &attr), -EINVAL);
	attr = was;
	attr.exclude_user = 1;
	pt_eq(modify(one, &attr), -EINVAL);
	/* The next one is not refused for that, and it still does what it did. */
	pt_eq(modify(one, &was), 0);
	target[0] = 1;
	pt_eq(pt_count(one), 1);
	attr = was;
	attr.bp_addr += 8;
	pt_eq(modify(one, &attr), 0);
	target[0] = 1;
	pt_eq(pt_count(one), 1);
	target[1] = 1;
	pt_eq(pt_count(one), 2);
	close(one);
	pt_eq(slots(), n);
}

static void bad_types(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	int n = slots();

	attr.bp_type = HW_BREAKPOINT_EMPTY;
	pt_eq(try(&attr, 0, -1), -EINVAL);
	attr.bp_type = HW_BREAKPOINT_INVALID;
	pt_eq(try(&attr, 0, -1), -EINVAL);
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_len = 3000;
	pt_eq(try(&attr, 0, -1), -EINVAL);
	attr.bp_len = 8;
	pt_eq(fill(&attr, 0, -1, fd), n);
	/* The type comes before the room, the rest comes after. */
	attr.bp_len = 3000;
	pt_eq(try(&attr, 0, -1), -ENOSPC);
	attr.bp_type = HW_BREAKPOINT_EMPTY;
	pt_eq(try(&attr, 0, -1), -EINVAL);
	drop(fd, n);
	pt_eq(slots(), n);
}

static void kernel_addresses(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	int n = slots();

	attr.bp_addr = ~0ull << 20;
	pt_eq(try(&attr, -1, 0), -EINVAL);
	pt_eq(slots(), n);
	pt_sysctl_set("perf_event_paranoid", -1);
	pt_become_nobody();
	attr.exclude_kernel = 0;
	pt_eq(try(&attr, -1, 0), -EPERM);
	pt_eq(slots(), n);
}

struct racer {
	pid_t pid;
	int cpu, opened, other;
};

static void *race(void *arg)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	struct racer *r = arg;
	unsigned int i;
	int k, had[2];

	/* Who finds all taken each time goes on until the others are done, and gets one then. */
	for (i = 0; i < pt_turns(300) || !r->opened; i++) {
		for (k = 0; k < 2; k++) {
			had[k] = pt_try_open(&attr, r->pid, r->cpu, -1, 0);
			r->opened += had[k] >= 0;
			r->other += had[k] < 0 && had[k] != -ENOSPC;
		}
		for (k = 0; k < 2; k++) {
			if (had[k] >= 0)
				close(had[k]);
		}
	}
	return NULL;
}

/* Many open and close at once; nothing is lost and nothing is left. */
static void open_race(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	pid_t self = getpid();
	struct racer r[] = {
		{ 0, -1, 0, 0 }, { self, -1, 0, 0 }, { self, 0, 0, 0 }, { -1, 0, 0, 0 },
		{ 0, 0, 0, 0 },
	};
	pthread_t t[PT_ARRAY_SIZE(r)];
	int n = slots();
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(r); i++)
		pt_need(!pthread_create(&t[i], NULL, race, &r[i]), "thread");
	for (i = 0; i < PT_ARRAY_SIZE(r); i++) {
		pthread_join(t[i], NULL);
		pt_eq(r[i].other, 0);
	}
	pt_eq(slots(), n);
	pt_eq(fill(&attr, -1, 0, fd), n);
	pt_eq(try(&attr, 0, -1), -ENOSPC);
	drop(fd, n);
}

static void *stand_by(void *arg)
{
	(void)arg;
	while (pause())
		;
	return NULL;
}

/*
 * While threads share the descriptors, the call holds the file of the leader. When the member is
 * refused it lets go: what is closed then is free.
 */
static void closed_after_a_refusal(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	int n = slots(), i;
	pthread_t t;

	pt_need(!pthread_create(&t, NULL, stand_by, NULL), "thread");
	pt_eq(fill(&attr, 0, -1, fd), n);
	for (i = 0; i < n; i++)
		pt_eq(pt_try_open(&attr, 0, -1, fd[i], 0), -ENOSPC);
	drop(fd, n);
	pt_eq(slots(), n);
}

static volatile int done;

static void *fork_on(void *arg)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int i;

	/* Something to copy. */
	attr.inherit = 1;
	for (i = 0; i < 20; i++)
		pt_open(&attr, 0, -1, -1, 0);
	__atomic_store_n((int *)arg, pt_tid(), __ATOMIC_RELEASE);
	while (!done) {
		/* With copies of the descriptors closing them would free nothing. */
		pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return NULL;
}

/* What is closed is free at once, even if the task is just then copying other events. */
static void closed_while_the_task_forks(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	int n = slots(), tid = 0;
	unsigned int i, one;
	pthread_t t;

	pt_need(!pthread_create(&t, NULL, fork_on, &tid), "thread");
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		sched_yield();
	pt_eq(fill(&attr, tid, -1, fd), n);
	for (i = 0; i < pt_turns(1000); i++) {
		one = i % (unsigned int)n;
		close(fd[one]);
		fd[one] = pt_open(&attr, tid, -1, -1, 0);
	}
	done = 1;
	pthread_join(t, NULL);
	drop(fd, n);
}

static void write_to_both(void)
{
	target[0] = 1;
	target[1] = 1;
	target[1] = 2;
}

/* The child watches what the others do since its fork. */
static void changed_while_the_task_forks(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	struct slow_fork fork;

	slots();
	slow_fork_start(&fork, write_to_both);
	attr.inherit = 1;
	fd[0] = pt_open(&attr, fork.tid, -1, -1, 0);
	slow_fork_begin(&fork);
	attr.bp_addr = pt_addr((void *)&target[1]);
	pt_eq(modify(fd[0], &attr), 0);
	slow_fork_end(&fork);
	pt_reap(fork.child);
	pt_eq(pt_count(fd[0]), 2);
	close(fd[0]);
}

static volatile u64 trap_data;

static void trapped(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	/* si_perf_data, which the C library may not know yet. */
	trap_data = *(u64 *)((u8 *)&info->si_addr + sizeof(info->si_addr));
	pt_disable(fd[0]);	/* or arm64 does the store that was hit once more */
}

static void write_and_be_told(void)
{
	target[0] = 1;
	pt_eq(trap_data, 2);
}

/* What its signal says is what the others' have said since its fork. */
static void signal_changed_while_the_task_forks(void)
{
	struct sigaction sa = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO };
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W);
	struct slow_fork fork;

	slots();
	pt_need(!sigaction(SIGTRAP, &sa, NULL), "sigaction");
	slow_fork_start(&fork, write_and_be_told);
	attr.inherit = 1;
	attr.sample_period = 1;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.sig_data = 1;
	fd[0] = pt_open(&attr, fork.tid, -1, -1, 0);
	slow_fork_begin(&fork);
	attr.sig_data = 2;
	pt_eq(modify(fd[0], &attr), 0);
	slow_fork_end(&fork);
	pt_reap(fork.child);
	close(fd[0]);
}

static void write_to_the_first(void)
{
	target[0] = 1;
}

/*
 * One for data and one for code become the other kind during the fork. For the child's copy of the
 * first, which is changed first, there may be no room then: it watches nothing, not what it did.
 */
static void kinds_swap_while_the_task_forks(void)
{
	struct perf_event_attr data = watch(HW_BREAKPOINT_W), code = watch(HW_BREAKPOINT_X);
	int n = slots(), m, one;
	struct slow_fork fork;

	slow_fork_start(&fork, write_to_the_first);
	data.inherit = 1;
	code.inherit = 1;
	one = pt_open(&data, fork.tid, -1, -1, 0);
	m = fill(&code, fork.tid, -1, fd);
	slow_fork_begin(&fork);
	data.bp_addr = pt_addr((void *)&target[1]);
	pt_eq(modify(fd[0], &data), 0);
	pt_eq(modify(one, &code), 0);
	slow_fork_end(&fork);
	pt_reap(fork.child);
	pt_eq(pt_count(one), 0);
	drop(fd, m);
	close(one);
	pt_eq(slots(), n);
}

/* At boot the architecture is asked about the kinds that there are; it complains of others. */
static void kinds_at_boot(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	char line[4096];
	ssize_t n;

	if (log < 0)
		pt_skip("no kernel log: %s", strerror(errno));
	while ((n = read(log, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		line[n > 0 ? n : 0] = 0;
		pt_check(!strstr(line, "unknown slot type"), "%s", line);
	}
	close(log);
}

static const struct pt_case cases[] = {
	{ "task_and_cpu", task_and_cpu },
	{ "task_on_one_cpu", task_on_one_cpu },
	{ "task_anywhere_and_on_one_cpu", task_anywhere_and_on_one_cpu },
	{ "code_and_data", code_and_data },
	{ "inherited", inherited },
	{ "task_that_is_gone", task_that_is_gone },
	{ "change_of_kind", change_of_kind },
	{ "change_of_kind_frees", change_of_kind_frees },
	{ "bad_changes", bad_changes },
	{ "bad_types", bad_types },
	{ "kernel_addresses", kernel_addresses },
	{ "kinds_at_boot", kinds_at_boot },
	{ "open_race", open_race },
	{ "closed_after_a_refusal", closed_after_a_refusal },
	{ "closed_while_the_task_forks", closed_while_the_task_forks },
	{ "changed_while_the_task_forks", changed_while_the_task_forks },
	{ "signal_changed_while_the_task_forks", signal_changed_while_the_task_forks },
	{ "kinds_swap_while_the_task_forks", kinds_swap_while_the_task_forks },
};

PT_MAIN(cases)
