// SPDX-License-Identifier: GPL-2.0
/*
 * signal.c - overflow notification by signal: who gets which signal, how
 * often, and with what in its siginfo. Debuggers that record and replay
 * depend on every word of this.
 *
 * needs: hw pmu-irq skid
 */
#include "lib/ptest.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>

static struct got {
	int nr, in, hup, other;
	int fd, last_code;
	long band;
	pid_t tid;
} got;

static void handler(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	got.nr++;
	got.fd = info->si_fd;
	got.band = info->si_band;
	got.last_code = info->si_code;
	got.in += info->si_code == POLL_IN;
	got.hup += info->si_code == POLL_HUP;
	got.other += info->si_code != POLL_IN && info->si_code != POLL_HUP;
	got.tid = pt_tid();
}

static void catch_signal(int sig)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	pt_need(!sigaction(sig, &sa, NULL), "sigaction: %s", strerror(errno));
	memset(&got, 0, sizeof(got));
}

static void arm_fd(int fd, int sig, int owner_type, pid_t owner)
{
	struct f_owner_ex ex = { owner_type, owner };

	pt_need(!fcntl(fd, F_SETOWN_EX, &ex), "F_SETOWN_EX: %s", strerror(errno));
	if (sig)
		pt_need(!fcntl(fd, F_SETSIG, sig), "F_SETSIG: %s", strerror(errno));
	pt_need(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC), "F_SETFL: %s",
		strerror(errno));
}

static struct perf_event_attr sampling(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.disabled = 1;
	return attr;
}

/* Whatever was on its way arrives before a system call returns. */
static void settle(void)
{
	syscall(SYS_getppid);
}

static void one_per_overflow(void)
{
	struct perf_event_attr attr = sampling();
	u8 *p = pt_fresh_pages(40);
	int fd, i;

	attr.sample_period = 4;
	fd = pt_open(&attr, 0, -1, -1, 0);
	catch_signal(SIGRTMIN);
	arm_fd(fd, SIGRTMIN, F_OWNER_TID, pt_tid());
	pt_enable(fd);
	for (i = 1; i <= 40; i++) {
		pt_touch(p + (i - 1) * pt_page_size(), 1);
		settle();
		pt_eq(got.nr, i / 4);
	}
	pt_disable(fd);
	pt_eq(got.in, 10);
	pt_eq(got.other, 0);
	pt_eq(got.fd, fd);
	pt_check(got.band & POLLIN, "band %#lx", got.band);
}

static void refresh_ends_in_hup(void)
{
	struct perf_event_attr attr = sampling();
	u8 *p = pt_fresh_pages(30);
	int fd;

	fd = pt_open(&attr, 0, -1, -1, 0);
	catch_signal(SIGRTMIN);
	arm_fd(fd, SIGRTMIN, F_OWNER_TID, pt_tid());
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), 0);
	pt_touch(p, 1);
	settle();
	pt_eq(got.in, 1);
	pt_eq(got.hup, 0);
	pt_touch(p + pt_page_size(), 1);
	settle();
	pt_eq(got.in, 2);
	pt_eq(got.hup, 0);
	pt_touch(p + 2 * pt_page_size(), 1);
	settle();
	pt_eq(got.in, 2);
	pt_eq(got.hup, 1);
	pt_check(got.band & POLLHUP, "band %#lx", got.band);
	/* Off until the next REFRESH. */
	pt_touch(p + 3 * pt_page_size(), 10);
	settle();
	pt_eq(got.nr, 3);
	pt_eq(pt_count(fd), 3);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), 0);
	pt_touch(p + 13 * pt_page_size(), 10);
	settle();
	pt_eq(got.nr, 4);
	pt_eq(got.hup, 2);
	pt_eq(pt_count(fd), 4);
}

/* The same with a buffer that wakes for each record */
static void hup_with_a_buffer(void)
{
	struct perf_event_attr attr = sampling();
	u8 *p = pt_fresh_pages(30);
	struct pt_ring r;
	int fd, i;

	attr.wakeup_events = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 4);
	catch_signal(SIGRTMIN);
	arm_fd(fd, SIGRTMIN, F_OWNER_TID, pt_tid());
	for (i = 1; i <= 5; i++) {
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), 0);
		pt_touch(p + (i - 1) * 5 * pt_page_size(), 5);
		settle();
		pt_eq(got.hup, i);
		pt_eq(pt_count(fd), i);
	}
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 5);
}

static void default_signal(void)
{
	struct perf_event_attr attr = sampling();
	int fd;

	fd = pt_open(&attr, 0, -1, -1, 0);
	catch_signal(SIGIO);
	arm_fd(fd, 0, F_OWNER_PID, getpid());
	pt_enable(fd);
	pt_fault(1);
	settle();
	pt_disable(fd);
	pt_eq(got.nr, 1);
	/* Plain SIGIO carries no fd and no reason. */
	pt_eq(got.fd, 0);
}

static void silent_without_async(void)
{
	struct perf_event_attr attr = sampling();
	struct f_owner_ex ex = { F_OWNER_TID, pt_tid() };
	int fd;

	fd = pt_open(&attr, 0, -1, -1, 0);
	catch_signal(SIGRTMIN);
	pt_need(!fcntl(fd, F_SETOWN_EX, &ex) && !fcntl(fd, F_SETSIG, SIGRTMIN), "fcntl");
	pt_enable(fd);
	pt_fault(5);
	settle();
	pt_eq(got.nr, 0);
	/* On and off again. */
	pt_need(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC), "F_SETFL");
	pt_fault(5);
	settle();
	pt_eq(got.nr, 5);
	pt_need(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_ASYNC), "F_SETFL");
	pt_fault(5);
	settle();
	pt_eq(got.nr, 5);
}

struct worker {
	pthread_barrier_t go, done;
	pid_t tid;
	u8 *p;
};

static void *fault_in_thread(void *arg)
{
	struct worker *w = arg;

	w->tid = pt_tid();
	pthread_barrier_wait(&w->go);
	pthread_barrier_wait(&w->go);
	pt_touch(w->p, 6);
	settle();
	pthread_barrier_wait(&w->done);
	return NULL;
}

/* Directed at a thread, it is that thread that runs the handler. */
static void thread_directed(void)
{
	struct perf_event_attr attr = sampling();
	struct worker w = { .p = pt_fresh_pages(6) };
	pthread_t t;
	int fd;

	pthread_barrier_init(&w.go, NULL, 2);
	pthread_barrier_init(&w.done, NULL, 2);
	catch_signal(SIGRTMIN + 1);
	pt_need(!pthread_create(&t, NULL, fault_in_thread, &w), "thread");
	pthread_barrier_wait(&w.go);
	fd = pt_open(&attr, w.tid, -1, -1, 0);
	arm_fd(fd, SIGRTMIN + 1, F_OWNER_TID, w.tid);
	pt_enable(fd);
	pthread_barrier_wait(&w.go);
	pthread_barrier_wait(&w.done);
	pt_disable(fd);
	pthread_join(t, NULL);
	/* Its first use of its stack and of the handler's may fault as well. */
	pt_check(got.nr >= 6, "%d signals", got.nr);
	pt_eq(got.nr, pt_count(fd));
	pt_eq(got.tid, w.tid);
}

static void other_process(void)
{
	struct perf_event_attr attr = sampling();
	int go[2], fd;
	pid_t pid;

	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_fault(7);
	}
	attr.sample_period = 7;
	attr.disabled = 0;
	fd = pt_open(&attr, pid, -1, -1, 0);
	catch_signal(SIGRTMIN);
	/* The observer is told about the observed. */
	arm_fd(fd, SIGRTMIN, F_OWNER_PID, getpid());
	pt_gate_open(go);
	pt_wait(pid);
	pt_check(got.in >= 1, "%d signals", got.in);
	pt_eq(got.fd, fd);
	pt_eq(got.tid, pt_tid());
}

/* What an inherited event does is told to the owner of the one that was opened. */
static void overflow_of_a_child(void)
{
	struct perf_event_attr attr;
	int fd, i;
	pid_t pid;

	attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	attr.sample_period = 50;
	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	catch_signal(SIGRTMIN);
	arm_fd(fd, SIGRTMIN, F_OWNER_PID, getpid());
	pt_in_child(pid) {
		memset(&got, 0, sizeof(got));
		for (i = 0; i < 50; i++)
			syscall(SYS_getppid);
		/* Not to the one that caused it. */
		_exit(got.nr);
	}
	pt_reap(pid);
	pt_check(got.in >= 1, "nobody was told");
	pt_eq(got.fd, fd);
	pt_eq(pt_count(fd), 50);
}

/* A sideband record past the watermark notifies, too. */
static void watermark_of_sideband(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct pt_ring r;
	int fd;

	attr.context_switch = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 4);
	catch_signal(SIGRTMIN);
	arm_fd(fd, SIGRTMIN, F_OWNER_TID, pt_tid());
	pt_enable(fd);
	pt_switch_out();
	settle();
	pt_disable(fd);
	pt_check(got.nr >= 1, "no signal");
	pt_eq(got.fd, fd);
	pt_check(pt_count_records(&r, PERF_RECORD_SWITCH) >= 2, "no switch recorded");
}

/* Context switches with period 1: told of each one, by the one after it. */
static void desched_event(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CONTEXT_SWITCHES));
	int fd, i;

	attr.sample_period = 1;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	catch_signal(SIGRTMIN);
	arm_fd(fd, SIGRTMIN, F_OWNER_TID, pt_tid());
	for (i = 0; i < 10; i++) {
		int before = got.nr;

		pt_reset(fd);
		pt_enable(fd);
		pt_switch_out();
		pt_disable(fd);
		settle();
		pt_check(pt_count(fd) >= 1, "no switch");
		pt_check(got.nr > before, "no signal for a switch");
	}
}

static void hw_cycles_by_signal(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	u64 period = 1000000;
	int fd, i;

	attr.sample_period = 100000000000ull;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.pinned = 1;
	fd = pt_open_hw(&attr, -1);
	if (!pt_time_is_exact())
		pt_skip("cycles are not instructions here");
	catch_signal(SIGRTMIN);
	arm_fd(fd, SIGRTMIN, F_OWNER_TID, pt_tid());
	/* A slice: PERIOD, RESET, ENABLE, and one signal at its end. */
	for (i = 1; i <= 5; i++) {
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
		pt_reset(fd);
		pt_enable(fd);
		pt_spin(400000);
		pt_eq(got.nr, i - 1);
		pt_spin(300000);
		pt_disable(fd);
		settle();
		pt_eq(got.nr, i);
	}
}

static const struct pt_case cases[] = {
	{ "one_per_overflow", one_per_overflow },
	{ "refresh_ends_in_hup", refresh_ends_in_hup },
	{ "hup_with_a_buffer", hup_with_a_buffer },
	{ "default_signal", default_signal },
	{ "silent_without_async", silent_without_async },
	{ "thread_directed", thread_directed },
	{ "other_process", other_process },
	{ "overflow_of_a_child", overflow_of_a_child },
	{ "watermark_of_sideband", watermark_of_sideband },
	{ "desched_event", desched_event },
	{ "hw_cycles_by_signal", hw_cycles_by_signal },
};

PT_MAIN(cases)
