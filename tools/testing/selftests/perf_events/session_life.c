// SPDX-License-Identifier: GPL-2.0
/*
 * session_life.c - what the targets of a session fork and become, and how an attachment ends: by
 * exit, exec, close, with the PMU. See session.c.
 *
 * needs: smp
 */
#include "lib/session.h"
#include "lib/slow_fork.h"
#include <sys/stat.h>
#include <sys/syscall.h>

static void fork_and_hit(u64 n)
{
	pid_t pid;

	pt_in_child(pid) {
		pid_t inner;

		hit(n);
		pt_in_child(inner)
			hit(n);
		pt_reap(inner);
	}
	pt_reap(pid);
	hit(1);
}

static void *hit_in_a_thread(void *arg)
{
	hit((u64)(uintptr_t)arg);
	return NULL;
}

static void thread_hits(u64 n)
{
	pthread_t t;

	pt_need(!pthread_create(&t, NULL, hit_in_a_thread, (void *)(uintptr_t)n), "thread");
	pthread_join(t, NULL);
}

static void inherit(void)
{
	struct worker a, b;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&a, 0);
	worker_start(&b, 0);
	fd = session_of_tasks(hits());
	pt_eq(session_attach_task(fd, a.pid, PERF_EXT_TARGET_INHERIT), 0);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	/* Nor does it matter to what they fork from now on that all have left once. */
	pt_eq(session_attach_task(fd, a.pid, PERF_EXT_TARGET_INHERIT), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, fork_and_hit, 10);
	pt_eq(pt_count(fd), 21);
	worker_do(&a, thread_hits, 100);
	pt_eq(pt_count(fd), 121);
	worker_do(&b, fork_and_hit, 10);
	worker_do(&b, thread_hits, 100);
	pt_eq(pt_count(fd), 122);
	pt_eq(session_count_of_task(fd, a.pid), 1);
	pt_eq(session_count_of_task(fd, b.pid), 1);
	pt_eq(session_count_left(fd), 120);
	session_adds_up(fd);
	worker_end(&a);
	worker_end(&b);
	pt_eq(pt_count(fd), 122);
	pt_eq(session_count_left(fd), 122);
	pt_eq(session_targets(fd), 0);
}

static int told[2], hold[2];

/* The worker has a child that hits, tells its number and waits. */
static void fork_and_hold(u64 n)
{
	pid_t pid;

	pt_in_child(pid) {
		hit(n);
		pid = getpid();
		pt_need(write(told[1], &pid, sizeof(pid)) == sizeof(pid), "write");
		pt_gate_wait(hold);
		hit(n);
	}
}

static void reap_child(u64 arg)
{
	(void)arg;
	pt_gate_open(hold);
	pt_need(wait(NULL) > 0, "wait: %s", strerror(errno));
}

/* Each task that is forked is a target of its own, and stays one without its parent. */
static void forked_are_targets(void)
{
	struct worker w;
	pid_t pid;
	int fd;

	ext_need();
	load(NULL);
	pt_gate_make(told);
	pt_gate_make(hold);
	worker_start(&w, 0);
	fd = session_of_tasks(hits());
	pt_eq(session_attach_task(fd, w.pid, PERF_EXT_TARGET_INHERIT), 0);
	worker_do(&w, hit, 1);
	worker_do(&w, fork_and_hold, 10);
	pt_need(read(told[0], &pid, sizeof(pid)) == sizeof(pid), "read");
	pt_eq(session_targets(fd), 2);
	pt_eq(session_count_of_task(fd, pid), 10);
	pt_eq(session_count_of_task(fd, w.pid), 1);
	pt_eq(session_attach_task(fd, pid, 0), -EEXIST);
	pt_eq(session_detach_task(fd, w.pid), 0);
	pt_eq(session_count_left(fd), 1);
	worker_do(&w, reap_child, 0);
	pt_eq(session_targets(fd), 0);
	pt_eq(session_count_left(fd), 21);
	/* One that is taken off alone. */
	pt_eq(session_attach_task(fd, w.pid, PERF_EXT_TARGET_INHERIT), 0);
	worker_do(&w, fork_and_hold, 100);
	pt_need(read(told[0], &pid, sizeof(pid)) == sizeof(pid), "read");
	pt_eq(session_detach_task(fd, pid), 0);
	pt_eq(session_count_of_task(fd, pid), -1);
	worker_do(&w, reap_child, 0);
	worker_do(&w, hit, 2);
	pt_eq(session_count_of_task(fd, w.pid), 2);
	pt_eq(pt_count(fd), 123);
	session_adds_up(fd);
	worker_end(&w);
}

static pthread_barrier_t both_there;
static pid_t thread_tid;

static void *hit_when_told(void *arg)
{
	(void)arg;
	thread_tid = pt_tid();
	pthread_barrier_wait(&both_there);
	pthread_barrier_wait(&both_there);	/* attached */
	hit(7);
	return NULL;
}

/* One thread of a process, and not the others. */
static void one_thread(void)
{
	pthread_t t;
	int fd;

	ext_need();
	load(NULL);
	pthread_barrier_init(&both_there, NULL, 2);
	fd = session_of_tasks(hits());
	pt_need(!pthread_create(&t, NULL, hit_when_told, NULL), "thread");
	pthread_barrier_wait(&both_there);
	pt_eq(session_attach_task(fd, thread_tid, 0), 0);
	hit(100);
	pt_eq(session_count_of_task(fd, thread_tid), 0);
	pthread_barrier_wait(&both_there);
	pthread_join(t, NULL);
	pt_eq(pt_count(fd), 7);
}

/* A target that exits has left: its count is among those. */
static void exits(const struct session_source *s)
{
	struct worker a, b;
	int fd;

	worker_start(&a, 0);
	worker_start(&b, 0);
	fd = session_of_tasks(s->attr());
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, s->work, 30);
	worker_do(&b, s->work, 40);
	pt_eq(pt_count(fd), 70);
	kill(a.pid, SIGKILL);
	pt_reap_killed(a.pid, SIGKILL);
	pt_eq(session_count_of_task(fd, a.pid), -1);
	pt_eq(session_count_of_task(fd, b.pid), 40);
	pt_eq(session_targets(fd), 1);
	session_adds_up(fd);
	pt_eq(session_detach_task(fd, a.pid), -ENOENT);
	pt_eq(session_attach_task(fd, a.pid, 0), -ESRCH);
	/* Its end has faults of its own. */
	if (s->work == hit)
		pt_eq(session_count_left(fd), 30);
	else
		pt_check(session_count_left(fd) >= 30, "%lld", (long long)session_count_left(fd));
	close(fd);
	worker_end(&b);
}

static void target_exits(void)
{
	session_with_each(exits);
}

#define HITS_AFTER_EXEC	"--hit"

static int after_exec(int argc, char **argv)
{
	if (argc != 3 || strcmp(argv[1], HITS_AFTER_EXEC))
		return -1;
	return pt_module_set(MODULE, "hit", atoi(argv[2])) ? 1 : 0;
}

static void exec_and_hit(u64 n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", (unsigned int)n);
	execl("/proc/self/exe", "session", HITS_AFTER_EXEC, text, NULL);
	_exit(99);
}

/* A task hits five times, executes the program anew, and hits 60 times: what has been counted. */
static void exec_counts(struct perf_event_attr *attr, u64 want)
{
	struct worker w;
	int fd;

	worker_start(&w, 0);
	fd = session_of_tasks(*attr);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	worker_do(&w, hit, 5);
	worker_tell(&w, exec_and_hit, 60);
	pt_reap(w.pid);
	pt_eq(pt_count(fd), want);
	pt_eq(session_count_left(fd), want);
	pt_eq(session_targets(fd), 0);
	close(fd);
	close(w.orders);
	close(w.done);
}

static void exec(void)
{
	struct perf_event_attr attr;

	ext_need();
	load(NULL);
	attr = hits();
	exec_counts(&attr, 65);
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	exec_counts(&attr, 60);
}

#define OTHERS	"/tmp/session-of-others"

/* Becomes an ordinary user, and then executes a program of root's that runs as root. */
static void exec_as_root(u64 n)
{
	char text[16];

	pt_become_nobody();
	hit(n);
	snprintf(text, sizeof(text), "%u", (unsigned int)n);
	execl(OTHERS, "session", HITS_AFTER_EXEC, text, NULL);
	_exit(99);
}

static void copy_self(const char *to)
{
	int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_WRONLY | O_CREAT, 0755);
	static char buf[1 << 16];
	ssize_t n;

	pt_need(in >= 0 && out >= 0, "%s: %s", to, strerror(errno));
	while ((n = read(in, buf, sizeof(buf))) > 0)
		pt_need(write(out, buf, (size_t)n) == n, "%s: %s", to, strerror(errno));
	close(in);
	close(out);
	pt_need(!chmod(to, 04755), "chmod: %s", strerror(errno));
}

/* What a task becomes with more rights than it had is not watched, as with any event. */
static void exec_with_more_rights(void)
{
	struct worker w;
	int fd;

	ext_need();
	load(NULL);
	copy_self(OTHERS);
	pt_need(!chmod("/sys/module/" MODULE "/parameters/hit", 0666), "chmod: %s",
		strerror(errno));
	worker_start(&w, 0);
	fd = session_of_tasks(hits());
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	worker_tell(&w, exec_as_root, 8);
	pt_reap(w.pid);
	pt_eq(pt_count(fd), 8);
	pt_eq(session_count_left(fd), 8);
	unlink(OTHERS);
}

/* Closing takes everything away from all targets, and from what they have forked. */
static void close_attached(void)
{
	struct worker w[20];
	int fd, i;

	ext_need();
	load(NULL);
	for (i = 0; i < 20; i++)
		worker_start(&w[i], -1);
	fd = session_of_tasks(hits());
	for (i = 0; i < 20; i++) {
		pt_eq(session_attach_task(fd, w[i].pid, i & 1 ? PERF_EXT_TARGET_INHERIT : 0), 0);
		worker_do(&w[i], hit, 1);
	}
	pt_eq(pt_count(fd), 20);
	close(fd);
	none_left();
	for (i = 0; i < 20; i++) {
		worker_do(&w[i], fork_and_hit, 1);
		worker_end(&w[i]);
	}
	none_left();
}

/* The descriptor goes elsewhere, and the session lives as long as anybody has it. */
static void shared_descriptor(void)
{
	struct worker w;
	pid_t pid;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&w, 0);
	fd = session_of_tasks(hits());
	pt_in_child(pid) {
		pt_eq(session_attach_task(fd, w.pid, 0), 0);
		worker_do(&w, hit, 3);
		pt_eq(pt_count(fd), 3);
	}
	pt_reap(pid);
	worker_do(&w, hit, 4);
	pt_eq(pt_count(fd), 7);
	pt_eq(session_detach_task(fd, w.pid), 0);
	worker_end(&w);
}

/* The task is told by a pidfd as well. */
static void pidfd(void)
{
	int fd, pidfd, tube[2];
	struct worker w;

	ext_need();
	load(NULL);
	worker_start(&w, 0);
	pidfd = (int)syscall(SYS_pidfd_open, w.pid, 0);
	pt_need(pidfd >= 0, "pidfd_open: %s", strerror(errno));
	pt_need(!pipe(tube), "pipe");
	fd = session_of_tasks(hits());
	pt_eq(session_attach(fd, PERF_EXT_TARGET_PIDFD, pidfd, 0), 0);
	pt_eq(session_attach_task(fd, w.pid, 0), -EEXIST);
	worker_do(&w, hit, 4);
	pt_eq(session_count_of_task(fd, w.pid), 4);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_PIDFD, pidfd), 0);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_PIDFD, pidfd), -ENOENT);
	pt_eq(session_attach(fd, PERF_EXT_TARGET_PIDFD, tube[0], 0), -EBADF);
	pt_eq(session_attach(fd, PERF_EXT_TARGET_PIDFD, 999, 0), -EBADF);
	worker_end(&w);
	pt_eq(session_attach(fd, PERF_EXT_TARGET_PIDFD, pidfd, 0), -ESRCH);
	pt_eq(pt_count(fd), 4);
}

/* Tasks with the same inherited events may swap them at a switch; what a session has stays. */
static void tasks_that_swap(void)
{
	struct perf_event_attr attr;
	struct worker a, b;
	int fd, shared, i;

	ext_need();
	load(NULL);
	pt_pin(0);
	attr = hits();
	attr.inherit = 1;
	shared = pt_open(&attr, 0, -1, -1, 0);
	worker_start(&a, 0);
	worker_start(&b, 0);
	for (i = 0; i < 10; i++) {
		worker_do(&a, hit, 1);
		worker_do(&b, hit, 2);
	}
	fd = session_of_tasks(hits());
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	for (i = 0; i < 50; i++) {
		worker_do(&a, hit, 1);
		worker_do(&b, hit, 2);
		hit(100);
	}
	pt_eq(pt_count(fd), 50);
	pt_eq(session_detach_task(fd, a.pid), 0);
	for (i = 0; i < 50; i++) {
		worker_do(&a, hit, 1);
		worker_do(&b, hit, 2);
	}
	pt_eq(pt_count(fd), 50);
	pt_eq(pt_count(shared), 30 + 150 + 5000 + 150);
	worker_end(&a);
	worker_end(&b);
}

/* The PMU leaves, with the copies; what they counted stays. */
static void pmu_leaves(void)
{
	struct perf_event_attr attr[2];
	struct worker a, b;
	int fd, mixed, two;

	ext_need();
	load(NULL);
	need_revoking();
	worker_start(&a, 0);
	worker_start(&b, 0);
	attr[0] = faults();
	attr[1] = hits();
	fd = session_of_tasks(hits());
	mixed = session_make(attr, 2, 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	pt_eq(session_attach_task(mixed, a.pid, 0), 0);
	attr[0] = hits();
	two = session_make(attr, 2, 0);
	pt_eq(session_attach_task(two, b.pid, 0), 0);
	worker_do(&a, hit, 5);
	worker_do(&b, hit, 6);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	pt_eq(pt_count(fd), 11);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), -ENODEV);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), -ENODEV);
	pt_eq(session_attach_task(fd, b.pid, 0), -ENODEV);
	pt_eq(session_attach_task(mixed, b.pid, 0), -ENODEV);
	pt_eq(pt_count(fd), 11);
	worker_do(&a, session_fault, 3);
	close(fd);
	close(mixed);
	close(two);	/* what is left of it would keep the module */
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	fd = session_of_tasks(hits());
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, hit, 7);
	pt_eq(pt_count(fd), 7);
	worker_end(&a);
	worker_end(&b);
}

#define FORKS	200

struct forker {
	int	go[2], gate[2];
	int	forks;
	bool	stop;
};

static void stay_and_fault(struct forker *f)
{
	char c;

	close(f->gate[1]);
	if (read(f->gate[0], &c, 1))
		_exit(1);
	session_fault(10);
	_exit(0);
}

static void fork_all_the_time(void *arg)
{
	struct forker *f = arg;
	pid_t pid[FORKS];
	int i, nr;
	char c;

	pt_pin(pt_online_cpus() - 1);
	close(f->gate[1]);
	if (read(f->go[0], &c, 1) != 1)
		_exit(1);
	for (nr = 0; nr < FORKS && !__atomic_load_n(&f->stop, __ATOMIC_ACQUIRE); nr++) {
		pid[nr] = fork();
		pt_need(pid[nr] >= 0, "fork: %s", strerror(errno));
		if (!pid[nr])
			stay_and_fault(f);
		__atomic_store_n(&f->forks, nr + 1, __ATOMIC_RELEASE);
	}
	for (i = 0; i < nr; i++)
		pt_reap(pid[i]);
}

/*
 * While the PMU of the first member leaves, what a target forks may find the others alone: no copy
 * of them stays, and counts on.
 */
static void pmu_leaves_in_forks(void)
{
	struct perf_event_attr attr[2];
	struct forker *f;
	struct pt_ring ring;
	unsigned int round;
	pid_t pid;
	int fd;

	ext_need();
	load(NULL);
	need_revoking();
	pt_pin(0);
	attr[0] = hits();
	attr[1] = faults();
	attr[1].sample_period = 1;
	f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pt_need(f != MAP_FAILED, "mmap: %s", strerror(errno));
	for (round = 0; round < pt_turns(20); round++) {
		memset(f, 0, sizeof(*f));
		pt_need(!pipe(f->go) && !pipe(f->gate), "pipe");
		pid = pt_fork(fork_all_the_time, f);
		fd = session_make(attr, 2, 0);
		pt_map(&ring, fd, 64);
		pt_eq(session_attach_task(fd, pid, PERF_EXT_TARGET_INHERIT), 0);
		pt_need(write(f->go[1], "", 1) == 1, "write");
		while (__atomic_load_n(&f->forks, __ATOMIC_ACQUIRE) < 5)
			usleep(1000);
		pt_eq(pt_module_set(MODULE, "registered", 0), 0);
		pt_check(pt_count_records(&ring, PERF_RECORD_SAMPLE) >= 5, "few samples");
		__atomic_store_n(&f->stop, true, __ATOMIC_RELEASE);
		close(f->gate[1]);
		pt_reap(pid);
		pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
		pt_unmap(&ring);
		close(fd);
		pt_eq(pt_module_set(MODULE, "registered", 1), 0);
		close(f->gate[0]);
		close(f->go[0]);
		close(f->go[1]);
	}
}

static int of_both;		/* a session with a target in either namespace */

static void first_of_a_namespace(void)
{
	struct session_entry e[SESSION_ENTRIES];

	pt_eq(getpid(), 1);
	pt_eq(session_attach_task(of_both, 0, 0), 0);
	hit(2);
	pt_eq(session_read(of_both, PERF_EXT_READ_TARGETS, e), 3);
	pt_eq(e[0].tid + e[1].tid, 1);
	pt_eq(e[e[1].tid == 1].value[0], 2);
	pt_eq(e[e[1].tid != 1].value[0], 5);
	/* What it cannot see it cannot name. */
	pt_eq(session_detach_task(of_both, 1), 0);
	pt_eq(session_detach_task(of_both, 2), -ENOENT);
}

/* Tasks have the numbers of the reader's namespace, or none. */
static void pid_namespace(void)
{
	struct worker w;
	pid_t pid;

	ext_need();
	if (!pt_path_exists("/proc/self/ns/pid"))
		pt_skip("no namespaces");
	load(NULL);
	worker_start(&w, 0);
	of_both = session_of_tasks(hits());
	pt_eq(session_attach_task(of_both, w.pid, 0), 0);
	worker_do(&w, hit, 5);
	pt_in_child(pid) {
		pid_t first;

		pt_need(!unshare(CLONE_NEWPID), "unshare: %s", strerror(errno));
		pt_in_child(first)
			first_of_a_namespace();
		pt_reap(first);
	}
	pt_reap(pid);
	pt_eq(session_count_of_task(of_both, w.pid), 5);
	pt_eq(session_count_left(of_both), 2);
	worker_end(&w);
}

static void wait_to_be_let_go(void)
{
	pt_gate_wait(hold);
}

/* What it forks just then is no target with half of the sets. */
static void set_comes_during_a_fork(void)
{
	struct perf_event_attr attr = faults();
	struct slow_fork f;
	int fd;

	ext_need();
	pt_gate_make(hold);
	slow_fork_start(&f, wait_to_be_let_go);
	fd = session_of_tasks(faults());
	pt_eq(session_attach_task(fd, f.tid, PERF_EXT_TARGET_INHERIT), 0);
	slow_fork_begin(&f);
	pt_eq(session_detach_task(fd, f.tid), 0);
	session_add(fd, 1, &attr, 1);
	slow_fork_end(&f);
	pt_eq(session_targets(fd), 0);
	pt_gate_open(hold);
	pt_reap(f.child);
	close(fd);
}

/* What is forked while another one leaves is a target, and so it is after all have left. */
static void fork_while_another_leaves(void)
{
	struct worker other;
	struct slow_fork f;
	pid_t pid;
	int fd;

	ext_need();
	pt_gate_make(hold);
	worker_start(&other, 0);
	slow_fork_start(&f, wait_to_be_let_go);
	fd = session_of_tasks(faults());
	pt_eq(session_attach_task(fd, f.tid, PERF_EXT_TARGET_INHERIT), 0);
	pt_eq(session_attach_task(fd, other.pid, 0), 0);
	slow_fork_begin(&f);
	pt_eq(session_detach_task(fd, other.pid), 0);
	slow_fork_end(&f);
	pt_check(session_task(fd, f.child), "not a target while another one leaves");
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	pt_eq(session_targets(fd), 0);
	pt_eq(session_attach_task(fd, 0, PERF_EXT_TARGET_INHERIT), 0);
	pt_in_child(pid)
		pt_gate_wait(hold);
	pt_check(session_task(fd, pid), "not a target after all have left");
	pt_gate_open(hold);
	pt_gate_open(hold);
	pt_reap(pid);
	pt_reap(f.child);
	worker_end(&other);
	close(fd);
}

static const struct pt_case cases[] = {
	{ "inherit", inherit },
	{ "forked_are_targets", forked_are_targets },
	{ "one_thread", one_thread },
	{ "set_comes_during_a_fork", set_comes_during_a_fork },
	{ "fork_while_another_leaves", fork_while_another_leaves },
	{ "target_exits", target_exits },
	{ "exec", exec },
	{ "exec_with_more_rights", exec_with_more_rights },
	{ "close_attached", close_attached },
	{ "shared_descriptor", shared_descriptor },
	{ "pidfd", pidfd },
	{ "pid_namespace", pid_namespace },
	{ "tasks_that_swap", tasks_that_swap },
	{ "pmu_leaves", pmu_leaves },
	{ "pmu_leaves_in_forks", pmu_leaves_in_forks },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = after_exec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
