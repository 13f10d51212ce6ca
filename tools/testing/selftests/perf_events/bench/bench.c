// SPDX-License-Identifier: GPL-2.0
/*
 * bench: what operations of perf events cost, one line each:
 *   operation<TAB>instructions
 *
 * It runs in a guest whose clock counts instructions (QEMU's -icount shift=0):
 * there one nanosecond of CLOCK_MONOTONIC_RAW is one instruction of the guest,
 * the same in every run. A figure is the median of nine means, each over the
 * row's number of operations; the system call is part of the operation. What
 * the kernel or the machine cannot do prints n/a. compare.py makes the table.
 *
 * usage: bench [-l] [row prefix]...	(-x: what the exec of a row executes)
 * Rows whose names begin with "curve", "memory", "stream", "profile", "ext", "session", "smp",
 * "lines", "cpus" only when asked for.
 *
 * Rows are tables in bench-*.c. Those of the first table are measured before
 * any event was opened. The work of fork, exec and mmap depends on the layout
 * of the address space: it is not randomized, and the same mappings exist in
 * every row, with a buffer or without. Run as root, pinned to CPU 0, on an
 * otherwise idle guest with one CPU.
 */
#include "bench.h"
#include <sched.h>
#include <time.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/resource.h>

static const struct row *const tables[] = {
	none_rows, file_rows, count_rows, switch_rows, sample_rows, trace_rows, cgroup_rows,
	hardware_rows, curve_rows, stream_rows,
	profile_rows, ext_rows, ext_task_rows, session_rows, smp_rows, lines_rows,
	/* Last: the stacks of a thousand threads stay mapped, which a page fault shows. */
	thread_rows,
};

size_t page_size;
char *self_path;

void die(const char *what)
{
	fflush(stdout);
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(2);
}

u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

double time_of(void (*run)(unsigned int n), unsigned int n)
{
	u64 start = now_ns();

	run(n);
	return (double)(now_ns() - start) / n;
}

void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		die("sched_setaffinity");
}

/* ---- events of the row ---- */

#define MAX_EVENTS 4096

static int events[MAX_EVENTS];
static unsigned int nr_events;

void attr_init(struct perf_event_attr *a, u32 type, u64 config)
{
	memset(a, 0, sizeof(*a));
	a->type = type;
	a->size = PERF_ATTR_SIZE_VER8;
	a->config = config;
}

/* The one-bit members are the word after read_format. */
void attr_bits(struct perf_event_attr *a, u64 bits)
{
	memcpy((char *)&a->read_format + sizeof(a->read_format), &bits, sizeof(bits));
}

int attr_open(struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags)
{
	return syscall(SYS_perf_event_open, a, pid, cpu, group, flags);
}

/* A descriptor, or a refusal. */
int event_keep(int fd)
{
	if (fd < 0)
		return fd;
	if (nr_events == MAX_EVENTS)
		die("too many events");
	events[nr_events++] = fd;
	return fd;
}

int event_add(struct perf_event_attr *a, pid_t pid, int cpu)
{
	return event_keep(attr_open(a, pid, cpu, -1, 0));
}

int event_join(struct perf_event_attr *a, pid_t pid, int cpu, int leader)
{
	return event_keep(attr_open(a, pid, cpu, leader, 0));
}

bool software(u64 config, u64 bits, unsigned int count)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, config);
	attr_bits(&a, bits);
	while (count--)
		if (event_add(&a, 0, -1) < 0)
			return false;
	return true;
}

void close_events(void)
{
	while (nr_events)
		close(events[--nr_events]);
}

int first_event(void)
{
	return events[0];
}

int last_event(void)
{
	return events[nr_events - 1];
}

/* ---- activity ---- */

void run_getppid(unsigned int n)
{
	while (n--)
		syscall(SYS_getppid);
}

static unsigned char *page;
static int self = -1;

static void map_page(void)
{
	page = mmap(page, page_size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | (page ? MAP_FIXED : 0), -1, 0);
	if (page == MAP_FAILED || madvise(page, page_size, MADV_DONTFORK) < 0)
		die("mmap");
}

/* A page touched and given back. */
void run_fault(unsigned int n)
{
	while (n--) {
		*(volatile unsigned char *)page = 1;
		madvise(page, page_size, MADV_DONTNEED);
	}
}

void run_fork(unsigned int n)
{
	while (n--) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			die("fork");
	}
}

/* A child that shares the table of files: its copy would be most of what each event costs. */
pid_t fork_sharing(void)
{
	/* The arguments that differ in order between architectures are 0. */
	return syscall(SYS_clone, 0x400 /* CLONE_FILES */ | SIGCHLD, 0, 0, 0, 0);
}

void run_fork_sharing(unsigned int n)
{
	while (n--) {
		pid_t pid = fork_sharing();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			die("clone");
	}
}

static int there[2], back[2];
static pid_t partner;

void partner_start(void)
{
	char c;

	if (pipe(there) < 0 || pipe(back) < 0)
		die("pipe");
	fflush(stdout);
	partner = fork();
	if (partner < 0)
		die("fork");
	if (!partner) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			;
		_exit(0);
	}
}

void partner_stop(void)
{
	close(there[1]);
	waitpid(partner, NULL, 0);
	close(there[0]);
	close(back[0]);
	close(back[1]);
}

pid_t partner_pid(void)
{
	return partner;
}

/* A byte there and back: two switches. */
void run_pingpong(unsigned int n)
{
	char c = 0;

	while (n--)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			die("pingpong");
}

void run_exec(unsigned int n)
{
	while (n--) {
		pid_t pid = fork();

		if (!pid) {
			execl(self_path, self_path, "-x", NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			die("fork");
	}
}

void run_exec_map(unsigned int n)
{
	while (n--) {
		void *p = mmap(NULL, page_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, self, 0);

		if (p == MAP_FAILED)
			die("mmap");
		munmap(p, page_size);
	}
}

/* ---- the buffer of the first event ---- */

static struct perf_event_mmap_page *buffer;
static void *buffer_place;
static size_t buffer_bytes;

/* What is mapped in its place when there is no buffer: like a buffer, not copied by fork. */
static void buffer_stand_in(void)
{
	int place = buffer_place ? MAP_FIXED : 0;

	buffer_place = mmap(buffer_place, buffer_bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | place, -1, 0);
	if (buffer_place == MAP_FAILED || madvise(buffer_place, buffer_bytes, MADV_DONTFORK) < 0)
		die("mmap in place of a buffer");
}

void buffer_map(void)
{
	size_t i;

	buffer = mmap(buffer_place, buffer_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		      first_event(), 0);
	if (buffer == MAP_FAILED)
		die("mmap of a buffer");
	for (i = 0; i < buffer_bytes; i += page_size)
		(void)((volatile char *)buffer)[i];
	buffer->data_tail = 0;
}

void buffer_drain(void)
{
	__atomic_store_n(&buffer->data_tail, buffer->data_head, __ATOMIC_RELEASE);
}

/* Each record, none of which may go round the end; then it is drained. */
void buffer_read(void (*one)(const struct perf_event_header *h))
{
	u64 tail = buffer->data_tail, head = buffer_head();

	while (tail < head) {
		const struct perf_event_header *h = (void *)((char *)buffer + page_size +
							     tail % BUFFER_BYTES);

		one(h);
		tail += h->size;
	}
	__atomic_store_n(&buffer->data_tail, tail, __ATOMIC_RELEASE);
}

u64 buffer_head(void)
{
	return __atomic_load_n(&buffer->data_head, __ATOMIC_ACQUIRE);
}

/* How many there are, all of the size of the first; then it is drained. */
u64 buffer_count(void)
{
	u64 tail = buffer->data_tail, bytes = buffer_head() - tail;
	const struct perf_event_header *first = (void *)((char *)buffer + page_size +
							 tail % BUFFER_BYTES);

	if (bytes && bytes % first->size)
		die("records of several sizes");
	buffer_drain();
	return bytes ? bytes / first->size : 0;
}

void buffer_unmap(void)
{
	if (buffer)
		buffer_stand_in();
	buffer = NULL;
}

/* Whether one operation writes a record: a row that writes none measures nothing. */
bool buffer_written_by(void (*run)(unsigned int n))
{
	u64 head = buffer_head();

	run(1);
	if (buffer_head() != head)
		return true;
	fprintf(stderr, "bench: the next row writes no record\n");
	return false;
}

/* In a child: what fork did not copy. */
void map_again(void)
{
	map_page();
	buffer_stand_in();
}

/* ---- rows ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure(const struct row *r)
{
	unsigned int repeats = r->repeats ? r->repeats : REPEATS, i;
	double value[REPEATS];

	if (r->setup && !r->setup(r->arg)) {
		printf("%s\tn/a\n", r->name);
	} else {
		/* Once for nothing: caches of the allocators, first touches. */
		if (r->run)
			r->run(r->n < 10 ? r->n : 10);
		for (i = 0; i < repeats; i++) {
			if (r->again)
				r->again();
			value[i] = r->measure ? r->measure(r->n) : time_of(r->run, r->n);
		}
		qsort(value, repeats, sizeof(value[0]), by_value);
		printf("%s\t%.0f\n", r->name, value[repeats / 2]);
	}
	if (r->cleanup)
		r->cleanup();
	close_events();
	fflush(stdout);
}

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strncmp(name, argv[i], strlen(argv[i])))
			return true;
	return argc < 2 && strncmp(name, "curve", 5) && strncmp(name, "memory", 6) &&
	       strncmp(name, "stream", 6) && strncmp(name, "profile", 7) &&
	       strncmp(name, "ext", 3) && strncmp(name, "session", 7) && strncmp(name, "smp", 3) &&
	       strncmp(name, "lines", 5) && strncmp(name, "cpus", 4);
}

static void prepare(void)
{
	struct rlimit files = { 12288, 12288 };
	int fd;

	setrlimit(RLIMIT_NOFILE, &files);
	/* A table of descriptors large enough from the start: growing it waits. */
	if (dup2(1, 12000) == 12000)
		close(12000);
	pin(0);
	page_size = sysconf(_SC_PAGESIZE);
	buffer_bytes = BUFFER_BYTES + page_size;
	buffer_stand_in();
	map_page();
	self = open(self_path, O_RDONLY | O_CLOEXEC);
	if (self < 0)
		die(self_path);
	if (access("/sys/kernel/tracing/events", F_OK))
		mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	/* Neither throttling nor a lowered rate is what is measured. */
	fd = open("/proc/sys/kernel/perf_event_max_sample_rate", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "10000000", 8) != 8)
		fprintf(stderr, "bench: the sample rate could not be raised\n");
	close(fd);
}

int main(int argc, char **argv)
{
	static char path[4096];
	unsigned int i;

	if (argc > 1 && !strcmp(argv[1], "-x"))
		return 0;
	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
		personality(ADDR_NO_RANDOMIZE);
		execv("/proc/self/exe", argv);
		die("exec of itself");
	}
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		die("readlink");
	self_path = path;
	if (argc > 1 && !strcmp(argv[1], "-l")) {
		for (i = 0; i < ARRAY_SIZE(tables); i++) {
			const struct row *r;

			for (r = tables[i]; r->name; r++)
				puts(r->name);
		}
		return 0;
	}
	prepare();
	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct row *r;

		for (r = tables[i]; r->name; r++)
			if (wanted(r->name, argc, argv))
				measure(r);
	}
	return 0;
}
