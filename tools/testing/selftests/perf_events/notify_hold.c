// SPDX-License-Identifier: GPL-2.0
/*
 * notify_hold.c - a thread that is held at an overflow (PERF_EXT_NOTIFY_BLOCK): where it stands to
 * the last instruction, what can be seen of it, what lets it go and what does not. See notify.c.
 *
 * needs: smp hw
 */
#include "lib/hold.h"
#include "lib/counter.h"
#include "lib/test_count.h"

#include <elf.h>
#include <linux/hw_breakpoint.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#define PERIOD	10

/* Let go for good. */
static void set_free(const struct held *h)
{
	pt_eq(notify(h->fd, 0, 0), 0);
}

/* It is held at its k-th tenth fault, whose store has not been done. */
static void stands_at(const struct held *h, u64 k)
{
	pt_eq(held_state(h), 'D');
	pt_check(held_waiting(h), "fdinfo says that nobody waits");
	pt_eq(pt_count(h->fd), 10 * k);
	pt_eq(h->shared->done, 10 * k - 1);
}

/* ---- what can be seen ---- */

static volatile u64 private;	/* of the child, which the parent has no part in */

static void faults_in_private(struct held *h)
{
	u8 *base = pt_fresh_pages(HELD_FAULTS);

	private = 0;
	held_ready(h);
	while (private < HELD_FAULTS) {
		pt_touch(base + private * (u64)pt_page_size(), 1);
		private++;
	}
}

static u64 private_of(pid_t pid)
{
	u64 v = 0;
	struct iovec to = { &v, sizeof(v) }, from = { (void *)&private, sizeof(private) };

	pt_need(process_vm_readv(pid, &to, 1, &from, 1, 0) == sizeof(v), "process_vm_readv: %s",
		strerror(errno));
	return v;
}

/* State, memory and place of the thread at each of its nine holds. */
static void state(void)
{
	struct perf_event_attr attr = held_attr(PERIOD);
	struct held h;
	u64 k;

	ext_need();
	held_fork(&h, faults_in_private);
	held_watch(&h, &attr);
	pt_check(!held_waiting(&h), "waits before there was an overflow");
	pt_enable(h.fd);
	held_go(&h);
	for (k = 1; k <= 9; k++) {
		held_wait(&h);
		pt_check(held_waiting(&h), "fdinfo says that nobody waits");
		pt_eq(pt_count(h.fd), 10 * k);
		pt_eq(private_of(h.pid), 10 * k - 1);
		pt_eq(held_ip(&h), pt_addr(pt_store_insn));
		pt_eq(restart(h.fd), 0);
	}
	pt_reap(h.pid);
	pt_check(!held_waiting(&h), "waits when it is gone");
	pt_eq(pt_count(h.fd), HELD_FAULTS);
}

/* Registers that the cases look at. */
struct regs {
	u64 ip;
	u64 first;		/* argument of a function */
	u64 turns;		/* left of counter_spin() */
};

/* 0 or -errno */
static int get_regs(pid_t pid, struct regs *r)
{
	struct user_regs_struct all;
	struct iovec iov = { &all, sizeof(all) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov))
		return -errno;
#if defined(__aarch64__)
	*r = (struct regs){ all.pc, all.regs[0], all.regs[10] };
#else
	*r = (struct regs){ all.rip, all.rdi, all.r9 };
#endif
	return 0;
}

/*
 * A debugger that wants registers interrupts the thread while it is held: that waits, too, and
 * RESTART then takes it from one stop to the other, without an instruction in between.
 */
static void regs_at_restart(const struct held *h, struct regs *r)
{
	int status;

	pt_need(!ptrace(PTRACE_INTERRUPT, h->pid, NULL, NULL), "interrupt: %s", strerror(errno));
	pt_eq(waitpid(h->pid, &status, WNOHANG | __WALL), 0);
	pt_eq(get_regs(h->pid, r), -ESRCH);
	pt_eq(held_state(h), 'D');
	pt_eq(restart(h->fd), 0);
	pt_eq(waitpid(h->pid, &status, __WALL), h->pid);
	pt_need(status == (PTRACE_EVENT_STOP << 16 | SIGTRAP << 8 | 0x7f), "status %#x", status);
	pt_check(!held_waiting(h), "held and stopped at the same time");
	pt_need(!get_regs(h->pid, r), "registers: %s", strerror(errno));
}

static void registers(void)
{
	struct perf_event_attr attr = held_attr(PERIOD);
	struct regs r;
	struct held h;
	u64 k;

	held_start(&h, &attr);
	for (k = 1; k <= 9; k++) {
		held_wait(&h);
		if (k == 1)
			pt_need(!ptrace(PTRACE_SEIZE, h.pid, NULL, NULL), "seize: %s",
				strerror(errno));
		stands_at(&h, k);
		regs_at_restart(&h, &r);
		pt_eq(r.ip, pt_addr(pt_store_insn));
		pt_eq(r.first, h.shared->address + (10 * k - 1) * (u64)pt_page_size());
		pt_eq(h.shared->done, 10 * k - 1);
		pt_eq(ptrace(PTRACE_CONT, h.pid, NULL, NULL), 0);
	}
	pt_reap(h.pid);
	pt_eq(h.shared->done, HELD_FAULTS);
}

/* ---- counters of the CPU ---- */

#define TURNS		500000
#define HW_PERIOD	100003

/* The child enables the event by itself: what it counts begins with the loop. */
static void spins(struct held *h)
{
	int fd, parent = (int)syscall(SYS_pidfd_open, getppid(), 0);

	held_ready(h);
	fd = (int)syscall(SYS_pidfd_getfd, parent, h->shared->fd, 0);
	pt_need(fd >= 0, "pidfd_getfd: %s", strerror(errno));
	counter_spin(fd, TURNS);
}

/* It waits for held_go(). */
static void spin_start(struct held *h)
{
	struct perf_event_attr attr;

	ext_need();
	attr = counter_event(HW_PERIOD);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	attr.watermark = 1;
	attr.wakeup_watermark = 1 << 20;
	held_fork(h, spins);
	held_watch(h, &attr);
}

/* It stands behind the very instruction that ends a period, nine times in the loop. */
static void hardware(void)
{
	static struct pt_record rec;
	static struct pt_sample s;
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_READ,
	};
	struct held h;
	u64 n;

	spin_start(&h);
	held_go(&h);
	for (n = HW_PERIOD; n <= 9 * HW_PERIOD; n += HW_PERIOD) {
		held_wait(&h);
		pt_eq(pt_count(h.fd), n);
		pt_eq(held_ip(&h), counter_spin_ip(TURNS, n));
		pt_need(pt_next_of(&h.ring, &rec, PERF_RECORD_SAMPLE), "no sample");
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.ip, counter_spin_ip(TURNS, n));
		pt_eq(s.tid, h.pid);
		pt_eq(s.read.v[0].value, n);
		pt_eq(restart_thread(h.fd, h.pid), 0);
	}
	pt_reap(h.pid);
	pt_check(!pt_next_of(&h.ring, &rec, PERF_RECORD_SAMPLE), "a tenth sample");
	pt_eq(pt_count(h.fd), counter_spin_cost(TURNS));
}

/* Each turn is a decrement and a branch: the register says how many there were. */
static void hardware_registers(void)
{
	struct held h;
	struct regs r;
	u64 n;

	spin_start(&h);
	held_go(&h);
	for (n = HW_PERIOD; n <= 9 * HW_PERIOD; n += HW_PERIOD) {
		held_wait(&h);
		if (n == HW_PERIOD)
			pt_need(!ptrace(PTRACE_SEIZE, h.pid, NULL, NULL), "seize: %s",
				strerror(errno));
		regs_at_restart(&h, &r);
		pt_eq(r.ip, counter_spin_ip(TURNS, n));
		pt_eq(r.turns, TURNS - (n + 1) / 2);
		/* The event is on again, and has had nothing to count. */
		pt_eq(pt_count(h.fd), n);
		pt_eq(ptrace(PTRACE_CONT, h.pid, NULL, NULL), 0);
	}
	pt_reap(h.pid);
	pt_eq(pt_count(h.fd), counter_spin_cost(TURNS));
}

/* poll() and the owner's signal tell of each stop, once, before the thread is held. */
static void hardware_tells(void)
{
	const struct timespec now = { };
	sigset_t set;
	struct held h;
	u64 n;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	pt_need(!sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask: %s", strerror(errno));
	spin_start(&h);
	pt_need(!fcntl(h.fd, F_SETOWN, getpid()), "F_SETOWN: %s", strerror(errno));
	pt_need(!fcntl(h.fd, F_SETFL, O_ASYNC), "F_SETFL: %s", strerror(errno));
	held_go(&h);
	for (n = HW_PERIOD; n <= 9 * HW_PERIOD; n += HW_PERIOD) {
		held_wait(&h);
		pt_check(!told(h.fd), "POLLIN twice");
		pt_eq(sigtimedwait(&set, NULL, &now), SIGIO);
		pt_eq(sigtimedwait(&set, NULL, &now), -1);
		pt_eq(pt_count(h.fd), n);
		pt_eq(restart(h.fd), 0);
	}
	pt_reap(h.pid);
	pt_eq(pt_count(h.fd), counter_spin_cost(TURNS));
}

/* ---- what does not let go, and what does ---- */

/* ENABLE and DISABLE are about the event: the thread stays, whichever way it is. */
static void enable_and_disable(void)
{
	struct perf_event_attr attr = held_attr(PERIOD);
	struct held h;

	held_start(&h, &attr);
	held_wait(&h);
	stands_at(&h, 1);
	pt_disable(h.fd);
	stands_at(&h, 1);
	pt_enable(h.fd);
	stands_at(&h, 1);
	pt_disable(h.fd);
	pt_enable(h.fd);
	stands_at(&h, 1);
	/* The period of what is enabled already goes on; none of it was used. */
	pt_eq(restart(h.fd), 0);
	held_wait(&h);
	stands_at(&h, 2);
	pt_reset(h.fd);
	pt_eq(held_state(&h), 'D');
	pt_eq(pt_count(h.fd), 0);
	set_free(&h);
	pt_reap(h.pid);
	pt_eq(h.shared->done, HELD_FAULTS);
	pt_eq(pt_count(h.fd), 0);
}

/* What kills a process kills one that is held. */
static void sigterm(void)
{
	struct perf_event_attr attr = held_attr(PERIOD);
	struct held h;

	held_start(&h, &attr);
	held_wait(&h);
	kill(h.pid, SIGTERM);
	pt_reap_killed(h.pid, SIGTERM);
	pt_eq(h.shared->done, 9);
	pt_eq(pt_count(h.fd), 10);
	pt_check(!held_waiting(&h), "waits when it is gone");
	pt_eq(restart_thread(h.fd, h.pid), -ESRCH);
}

static struct held *self;	/* in the child */

static void on_signal(int sig)
{
	(void)sig;
	self->shared->handled++;
	self->shared->done_then = self->shared->done;
}

static void faults_with_a_handler(struct held *h)
{
	self = h;
	signal(SIGUSR1, on_signal);
	held_faults(h);
}

/* A signal with a handler waits with the thread; the handler runs before what was held back. */
static void handler(void)
{
	struct perf_event_attr attr = held_attr(PERIOD);
	struct held h;
	u64 k;

	ext_need();
	held_fork(&h, faults_with_a_handler);
	held_watch(&h, &attr);
	pt_enable(h.fd);
	held_go(&h);
	held_wait(&h);
	for (k = 1; k <= 3; k++) {
		kill(h.pid, SIGUSR1);
		kill(h.pid, SIGUSR1);
		stands_at(&h, k);
		pt_eq(h.shared->handled, k - 1);
		pt_eq(restart(h.fd), 0);
		held_wait(&h);
		pt_eq(h.shared->handled, k);
		pt_eq(h.shared->done_then, 10 * k - 1);
	}
	set_free(&h);
	pt_reap(h.pid);
	pt_eq(h.shared->done, HELD_FAULTS);
}

/* ---- the tool goes ---- */

enum { EXITS, IS_KILLED, EXECUTES, WAYS };

static int lives[2];		/* a gate: the tool's new program waits there */

static void execute(void)
{
	dup2(lives[0], 0);
	execl("/proc/self/exe", "notify_hold", "--exec", NULL);
	pt_need(0, "exec: %s", strerror(errno));
}

static int after_exec(int argc, char **argv)
{
	char c;

	if (argc != 2 || strcmp(argv[1], "--exec"))
		return -1;
	return read(0, &c, 1) != 1;
}

/* The tool: it holds a thread, and ends as it is told. */
static void tool(struct held *h, int way)
{
	struct perf_event_attr attr = held_attr(PERIOD);
	struct pt_ring ring;
	int fd;

	fd = pt_open(&attr, h->pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	pt_map(&ring, fd, 16);
	pt_eq(notify(fd, 1, HOLD), 0);
	pt_enable(fd);
	held_go(h);
	wait_told(fd);
	pt_eq(h->shared->done, 9);
	if (way == IS_KILLED)
		raise(SIGKILL);
	if (way == EXECUTES)
		execute();
}

/* Exit, death and exec of who holds a thread let it go; the new program lives meanwhile. */
static void tool_goes(void)
{
	struct held h;
	pid_t pid;
	int way;

	ext_need();
	pt_gate_make(lives);
	for (way = 0; way < WAYS; way++) {
		held_fork(&h, held_faults);
		pt_in_child(pid)
			tool(&h, way);
		pt_reap(h.pid);
		pt_eq(h.shared->done, HELD_FAULTS);
		if (way == IS_KILLED) {
			pt_reap_killed(pid, SIGKILL);
			continue;
		}
		if (way == EXECUTES) {
			pt_eq(waitpid(pid, NULL, WNOHANG), 0);
			pt_gate_open(lives);
		}
		pt_reap(pid);
	}
}

/* ---- what happens beside it ---- */

static void *thread_faults(void *arg)
{
	struct held *h = arg;

	h->shared->tid = pt_tid();
	held_faults(h);
	return NULL;
}

static int order[2], answer[2];	/* gates of the thread beside */

static pthread_t start_thread(struct held *h)
{
	pthread_t thread;

	pt_need(!pthread_create(&thread, NULL, thread_faults, h), "no thread");
	pt_gate_wait(order);
	return thread;
}

/* The process forks, and its child works, while one of its threads is held. */
static void forks_beside(struct held *h)
{
	pthread_t thread = start_thread(h);
	pid_t pid;
	int i;

	for (i = 0; i < 10; i++) {
		pt_in_child(pid)
			pt_fault(20);
		pt_reap(pid);
	}
	pt_gate_open(answer);
	pthread_join(thread, NULL);
}

static void hold_thread(struct held *h, void (*beside)(struct held *h))
{
	struct perf_event_attr attr = held_attr(PERIOD);

	ext_need();
	pt_gate_make(order);
	pt_gate_make(answer);
	held_fork(h, beside);
	pt_check(h->tid != h->pid, "not a thread");
	held_watch(h, &attr);
	pt_enable(h->fd);
	held_go(h);
	held_wait(h);
	stands_at(h, 1);
	pt_gate_open(order);
}

static void fork_beside(void)
{
	struct held h;

	hold_thread(&h, forks_beside);
	pt_gate_wait(answer);
	/* Nothing of what the child did was the thread's. */
	stands_at(&h, 1);
	pt_eq(restart_thread(h.fd, h.pid), -ESRCH);
	pt_eq(restart_thread(h.fd, h.tid), 0);
	held_wait(&h);
	/* Its own pages, which fork() has made read-only, are among the next ten faults. */
	pt_eq(pt_count(h.fd), 20);
	pt_check(h.shared->done > 9 && h.shared->done <= 19, "%llu pages",
		 (unsigned long long)h.shared->done);
	set_free(&h);
	pt_reap(h.pid);
	pt_eq(h.shared->done, HELD_FAULTS);
	pt_eq(pt_count(h.fd), 20);
}

static void executes_beside(struct held *h)
{
	start_thread(h);
	execute();
}

static void exits_beside(struct held *h)
{
	start_thread(h);
}

/* Exec, and exit of the process, end a thread of it that is held: it is not waited for. */
static void exec_beside(void)
{
	struct held h;

	pt_gate_make(lives);
	hold_thread(&h, executes_beside);
	pt_gate_open(lives);
	pt_reap(h.pid);
	pt_eq(h.shared->done, 9);
	pt_eq(pt_count(h.fd), 10);
	hold_thread(&h, exits_beside);
	pt_reap(h.pid);
	pt_eq(h.shared->done, 9);
	pt_eq(pt_count(h.fd), 10);
	pt_check(!held_waiting(&h), "waits when it is gone");
}

/* ---- what is held goes ---- */

static void hits_one_by_one(struct held *h)
{
	held_ready(h);
	while (h->shared->done < HELD_FAULTS) {
		hit(1);
		h->shared->done++;
	}
}

/* The PMU of the event leaves: nobody could say RESTART any more. */
static void pmu_leaves(void)
{
	struct perf_event_attr attr;
	struct held h;

	ext_need();
	load(NULL);
	need_revoking();
	attr = hits();
	attr.sample_period = PERIOD;
	attr.disabled = 1;
	held_fork(&h, hits_one_by_one);
	held_watch(&h, &attr);
	pt_enable(h.fd);
	held_go(&h);
	held_wait(&h);
	stands_at(&h, 1);
	pt_eq(restart(h.fd), 0);
	held_wait(&h);
	stands_at(&h, 2);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	pt_reap(h.pid);
	pt_eq(h.shared->done, HELD_FAULTS);
	pt_eq(pt_count(h.fd), 20);
	pt_eq(restart(h.fd), -ENODEV);
	pt_eq(notify(h.fd, 1, HOLD), -ENODEV);
	held_close(&h);
}

static volatile u64 __attribute__((aligned(64))) watched;

static void stores(struct held *h)
{
	held_ready(h);
	while (h->shared->done < HELD_FAULTS) {
		watched++;
		h->shared->done++;
	}
	pt_gate_open(answer);
	pt_gate_wait(order);
}

static struct perf_event_attr watch(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_BREAKPOINT, 0);

	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = pt_addr((const void *)&watched);
	attr.bp_len = sizeof(watched);
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

/* How many more breakpoints a task can have. */
static unsigned int room(pid_t pid)
{
	struct perf_event_attr attr = watch();
	int fd[32], err;
	unsigned int n = 0, i;

	while ((err = pt_try_open(&attr, pid, -1, -1, 0)) >= 0 && n < PT_ARRAY_SIZE(fd))
		fd[n++] = err;
	if (!n && (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP))
		pt_skip("no hardware breakpoints: %s", strerror(-err));
	pt_eq(err, -ENOSPC);
	for (i = 0; i < n; i++)
		close(fd[i]);
	return n;
}

/* A breakpoint that is closed while it holds its thread: its room comes back with the thread. */
static void breakpoint_closed(void)
{
	struct perf_event_attr attr = watch();
	unsigned int all;
	struct held h;

	ext_need();
	pt_gate_make(order);
	pt_gate_make(answer);
	attr.sample_period = PERIOD;
	held_fork(&h, stores);
	all = room(h.pid);
	held_watch(&h, &attr);
	pt_enable(h.fd);
	held_go(&h);
	held_wait(&h);
	stands_at(&h, 1);
	pt_eq(room(h.pid), all - 1);
	held_close(&h);
	pt_gate_wait(answer);
	pt_eq(h.shared->done, HELD_FAULTS);
	pt_eq(room(h.pid), all);
	pt_gate_open(order);
	pt_reap(h.pid);
}

/* Exec ends the event and not the thread: what is left of the event holds nobody. */
static void ended_by_exec(void)
{
	struct perf_event_attr attr = held_attr(PERIOD);
	struct pollfd p = { .events = POLLIN };
	struct pt_ring ring;
	pid_t pid;

	ext_need();
	pt_gate_make(lives);
	pt_gate_make(order);
	attr.remove_on_exec = 1;
	pt_in_child(pid) {
		pt_gate_wait(order);
		execute();
	}
	p.fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&ring, p.fd, 16);
	pt_eq(notify(p.fd, 1, HOLD), 0);
	pt_gate_open(order);
	pt_eq(poll(&p, 1, -1), 1);
	pt_eq(p.revents, POLLHUP);
	pt_eq(notify(p.fd, 1, HOLD), -ESRCH);
	pt_gate_open(lives);
	pt_reap(pid);
}

static const struct pt_case cases[] = {
	{ "state", state },
	{ "registers", registers },
	{ "hardware", hardware },
	{ "hardware_registers", hardware_registers },
	{ "hardware_tells", hardware_tells },
	{ "enable_and_disable", enable_and_disable },
	{ "sigterm", sigterm },
	{ "handler", handler },
	{ "tool_goes", tool_goes },
	{ "fork_beside", fork_beside },
	{ "exec_beside", exec_beside },
	{ "ended_by_exec", ended_by_exec },
	{ "pmu_leaves", pmu_leaves },
	{ "breakpoint_closed", breakpoint_closed },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = after_exec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
