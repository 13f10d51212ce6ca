// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_race.c - programs come and go while events are hit on all CPUs.
 *
 * No overflow may be lost or seen twice: each was either a run of a program
 * that refused the sample, or a sample. And a program may be gone for good
 * only when nobody runs it any more; about that the kernel's log
 * has to be asked, which is what links and closes on busy events are for.
 *
 * needs: smp
 */
#include "lib/bpf.h"
#include <pthread.h>

#define ROUNDS		pt_turns(60)
#define THREADS_MAX	8
#define PROGRAMS	8

enum { RUNS, PASSED };

static struct pt_words w;
static struct pt_code code;
static volatile bool stop;

static void start(void)
{
	pt_words_make(&w);
	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
}

static struct perf_event_attr faults(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_IP;
	return attr;
}

static int answers(unsigned int slot, int32_t verdict)
{
	int fd;

	pt_b_begin(&code);
	pt_b_count(&code, &w, slot);
	pt_b_return(&code, verdict);
	fd = pt_load(BPF_PROG_TYPE_PERF_EVENT, &code);
	return fd;
}

/* Touches a page and gives it back, over and over, on a CPU of its own. */
static void *fault_for_ever(void *arg)
{
	size_t size = (size_t)pt_page_size();
	volatile u8 *p;

	pt_pin((int)(uintptr_t)arg);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	while (!stop) {
		p[0] = 1;
		madvise((void *)(uintptr_t)p, size, MADV_DONTNEED);
	}
	return NULL;
}

static pthread_t threads[THREADS_MAX];
static int nr_threads;

static void start_threads(void)
{
	nr_threads = pt_online_cpus() < THREADS_MAX ? pt_online_cpus() : THREADS_MAX;
	for (int i = 0; i < nr_threads; i++)
		pt_need(!pthread_create(&threads[i], NULL, fault_for_ever, (void *)(uintptr_t)i),
			"thread");
}

static void stop_threads(void)
{
	stop = true;
	while (nr_threads)
		pthread_join(threads[--nr_threads], NULL);
}

static void wait_for_runs(u64 more)
{
	u64 from = w.word[RUNS];

	while (w.word[RUNS] - from < more)
		sched_yield();
}

/* Links come and go; nothing is lost between them. */
static void links_on_busy_events(void)
{
	struct perf_event_attr attr = faults();
	int fd[THREADS_MAX], cpus, i, refuse, pass;
	u64 count = 0, samples = 0, lost = 0;
	unsigned int k;
	struct pt_ring ring[THREADS_MAX];

	start();
	attr.read_format = PERF_FORMAT_LOST;
	attr.disabled = 1;
	refuse = answers(RUNS, 0);
	pass = answers(PASSED, 1);
	start_threads();
	cpus = nr_threads;
	for (i = 0; i < cpus; i++) {
		fd[i] = pt_open(&attr, -1, i, -1, 0);
		pt_map(&ring[i], fd[i], 16);
		pt_enable(fd[i]);
	}
	for (k = 0; k < ROUNDS; k++) {
		int link[THREADS_MAX];
		bool no = k % 3;

		for (i = 0; i < cpus; i++) {
			link[i] = pt_link(no ? refuse : pass, fd[i], (u64)k);
			pt_check(link[i] >= 0, "link: %d", link[i]);
		}
		if (no)
			wait_for_runs(50);
		for (i = 0; i < cpus; i++) {
			pt_eq(pt_link(pass, fd[i], 0), -EEXIST);
			close(link[i]);
			samples += pt_count_records(&ring[i], PERF_RECORD_SAMPLE);
			pt_consume(&ring[i]);
		}
	}
	stop_threads();
	for (i = 0; i < cpus; i++) {
		struct pt_read r;

		pt_disable(fd[i]);
		samples += pt_count_records(&ring[i], PERF_RECORD_SAMPLE);
		pt_read(fd[i], attr.read_format, 1, &r);
		count += r.v[0].value;
		lost += r.v[0].lost;
	}
	pt_eq(w.word[RUNS] + samples + lost, count);
	pt_check(w.word[RUNS] >= ROUNDS / 3 * 100, "%llu runs", (unsigned long long)w.word[RUNS]);
}

/* The event goes, and with it the last reference on its program. */
static void close_of_busy_events(void)
{
	struct perf_event_attr attr = faults();
	unsigned int k;
	int cpus, i;

	start();
	start_threads();
	cpus = nr_threads;
	for (k = 0; k < ROUNDS; k++) {
		int fd[THREADS_MAX];

		for (i = 0; i < cpus; i++) {
			int prog = answers(RUNS, k & 1);

			fd[i] = pt_open(&attr, -1, i, -1, 0);
			pt_eq(pt_ioctl(fd[i], PERF_EVENT_IOC_SET_BPF, (unsigned long)prog), 0);
			close(prog);
		}
		wait_for_runs(20);
		for (i = 0; i < cpus; i++)
			close(fd[i]);
	}
	stop_threads();
}

/* Timers on every CPU instead of faults: overflows in interrupts. */
static void links_on_busy_clocks(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	int fd[THREADS_MAX], link[THREADS_MAX], cpus, i, prog;
	unsigned int k;

	start();
	attr.sample_period = 50000;
	start_threads();
	cpus = nr_threads;
	for (i = 0; i < cpus; i++)
		fd[i] = pt_open(&attr, -1, i, -1, 0);
	for (k = 0; k < ROUNDS / 2; k++) {
		prog = answers(RUNS, 0);
		for (i = 0; i < cpus; i++) {
			link[i] = pt_link(prog, fd[i], 0);
			pt_check(link[i] >= 0, "link: %d", link[i]);
		}
		close(prog);
		wait_for_runs(10);
		for (i = 0; i < cpus; i++)
			close(link[i]);
	}
	stop_threads();
}

/*
 * Forks inherit a program while its link comes and goes. They inherit the
 * files too, so a link may last until the last of them has closed it.
 */
static void *link_for_ever(void *arg)
{
	int *fd = arg;

	pt_pin(1);
	while (!stop) {
		int prog = answers(RUNS, 0), link = pt_link(prog, *fd, 1);

		pt_check(link >= 0 || link == -EEXIST, "link: %d", link);
		close(prog);
		if (link >= 0)
			close(link);
	}
	return NULL;
}

static void fork_against_link(void)
{
	struct perf_event_attr attr = faults();
	unsigned int k;
	pthread_t t;
	int fd;

	start();
	attr.inherit = 1;
	pt_pin(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_need(!pthread_create(&t, NULL, link_for_ever, &fd), "thread");
	for (k = 0; k < ROUNDS; k++) {
		pid_t pid;

		pt_in_child(pid)
			pt_fault(3);
		pt_reap(pid);
	}
	stop = true;
	pthread_join(t, NULL);
	pt_check(pt_count(fd) >= 3 * ROUNDS, "%llu faults", (unsigned long long)pt_count(fd));
}

/* Programs on a trace event that every CPU hits. */
static void *call_for_ever(void *arg)
{
	pt_pin((int)(uintptr_t)arg);
	while (!stop)
		syscall(SYS_getppid);
	return NULL;
}

static void programs_on_a_busy_tracepoint(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	int prog[PROGRAMS], i, k;

	start();
	/*
	 * Before the CPUs are busy: memory for the first one is made read-only page by page, and an
	 * emulator of arm64 waits for every CPU with each page.
	 */
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_return(&code, 0);
	for (k = 0; k < PROGRAMS; k++)
		prog[k] = pt_load(BPF_PROG_TYPE_TRACEPOINT, &code);
	nr_threads = pt_online_cpus() < THREADS_MAX ? pt_online_cpus() : THREADS_MAX;
	for (i = 0; i < nr_threads; i++)
		pt_need(!pthread_create(&threads[i], NULL, call_for_ever, (void *)(uintptr_t)i),
			"thread");
	for (k = 0; k < PROGRAMS; k++) {
		int fd = pt_open(&attr, -1, k % nr_threads, -1, 0);
		int link = pt_link(prog[k], fd, 0);

		pt_check(link >= 0, "link: %d", link);
		close(prog[k]);
		wait_for_runs(10);
		if (k & 1)
			close(fd);
		close(link);
		if (!(k & 1))
			close(fd);
	}
	stop_threads();
}

static const struct pt_case cases[] = {
	{ "links_on_busy_events", links_on_busy_events },
	{ "close_of_busy_events", close_of_busy_events },
	{ "links_on_busy_clocks", links_on_busy_clocks },
	{ "fork_against_link", fork_against_link },
	{ "programs_on_a_busy_tracepoint", programs_on_a_busy_tracepoint },
};

PT_MAIN(cases)
