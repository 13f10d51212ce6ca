// SPDX-License-Identifier: GPL-2.0
/*
 * Rows for many CPUs, only measured when asked for (bench lines): the same on all CPUs at once.
 * What is printed is the number of operations. How many lines of the kernel's memory they moved
 * between CPUs tells the emulator's plugin (scripts/lib/cache-lines.c), which hears of begin and
 * end; stretch for stretch in the order of the rows that are not n/a.
 *
 * The emulator runs its CPUs in turn. Each worker does an operation and gives the turn away by an
 * instruction that says: I only wait. So the operations of all CPUs alternate, whatever they cost.
 */
#include "bench.h"

#define MOST_CPUS 32

#if defined(__aarch64__)
#define BEGIN		"hint #96"
#define END		"hint #127"
#define NEXT_CPU	"yield"
#else
#define BEGIN		".byte 0x0f, 0x1f, 0x80, 0x60, 0, 0x50, 0x7e"
#define END		".byte 0x0f, 0x1f, 0x80, 0x7f, 0, 0x50, 0x7e"
#define NEXT_CPU	"pause"
#endif

static void begin_stretch(void)
{
	__asm__ volatile(BEGIN : : : "memory");
}

static void end_stretch(void)
{
	__asm__ volatile(END : : : "memory");
}

static void next_cpu(void)
{
	__asm__ volatile(NEXT_CPU : : : "memory");
}

/* What the workers do; all of them are children of the task that opens the events. */
struct scene {
	bool (*open)(void);
	bool (*prepare)(unsigned int cpu);	/* in each worker */
	void (*once)(unsigned int cpu);
	unsigned int workers;			/* 0: one for each CPU */
	bool round;				/* what all do in a turn is one operation */
};

static const struct scene *scene;
static unsigned int cpus;

static struct {
	volatile unsigned int ready, done, go;
	volatile pid_t pids[MOST_CPUS];
} *shared;

/* ---- events ---- */

void software_kind(struct perf_event_attr *a, unsigned int i)
{
	static const u64 kinds[] = {
		PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CONTEXT_SWITCHES,
		PERF_COUNT_SW_CPU_MIGRATIONS, PERF_COUNT_SW_PAGE_FAULTS_MIN,
		PERF_COUNT_SW_PAGE_FAULTS_MAJ, PERF_COUNT_SW_ALIGNMENT_FAULTS,
		PERF_COUNT_SW_EMULATION_FAULTS, PERF_COUNT_SW_TASK_CLOCK,
	};

	attr_init(a, PERF_TYPE_SOFTWARE, kinds[i]);
}

/* As perf stat opens them. */
static bool inherited_software(void)
{
	struct perf_event_attr a;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		software_kind(&a, i);
		a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		attr_bits(&a, BIT_INHERIT);
		if (event_add(&a, 0, -1) < 0)
			return false;
	}
	return true;
}

static bool inherited_hardware(void)
{
	struct perf_event_attr a;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		attr_init(&a, PERF_TYPE_HARDWARE,
			  i ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES);
		a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		attr_bits(&a, BIT_INHERIT);
		if (event_add(&a, 0, -1) < 0)
			return false;
	}
	return true;
}

/* As perf record opens them, on page faults: one with a buffer for each CPU. */
static int sampler[MOST_CPUS];

static bool samplers(pid_t pid)
{
	struct perf_event_attr a;
	unsigned int cpu;

	for (cpu = 0; cpu < cpus; cpu++) {
		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		a.sample_period = 1;
		a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
		a.wakeup_watermark = BUFFER_BYTES;
		attr_bits(&a, BIT_WATERMARK | (pid < 0 ? 0 : BIT_INHERIT));
		sampler[cpu] = event_add(&a, pid, cpu);
		if (sampler[cpu] < 0)
			return false;
	}
	return true;
}

static bool inherited_samplers(void)
{
	return samplers(0);
}

static bool samplers_of_cpus(void)
{
	return samplers(-1);
}

static bool map_sampler(unsigned int cpu)
{
	int mine = dup(sampler[cpu]);

	close_events();
	event_keep(mine);
	buffer_map();
	return buffer_written_by(run_fault);
}

static bool profiled_on_one(void)
{
	return profiled(1);
}

static bool profiled_on_all(void)
{
	return profiled(cpus);
}

/* ---- operations ---- */

/*
 * The child has the memory of its parent: mappings of children that all come from one task move
 * hundreds of lines, which would hide those of events.
 */
static void fork_once(unsigned int unused)
{
	pid_t pid = vfork();

	(void)unused;
	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) < 0)
		die("vfork");
}

/* Nor is what copies of descriptors cost. */
static bool without_descriptors(unsigned int unused)
{
	(void)unused;
	close_events();
	return true;
}

static bool with_partner(unsigned int unused)
{
	(void)unused;
	partner_start();
	return true;
}

static void switch_once(unsigned int unused)
{
	(void)unused;
	run_pingpong(1);
}

static void fault_once(unsigned int unused)
{
	(void)unused;
	run_fault(1);
}

static void sample_once(unsigned int unused)
{
	(void)unused;
	run_fault(1);
	buffer_drain();
}

static void call_once(unsigned int unused)
{
	(void)unused;
	run_getppid(1);
}

static void open_close(u32 type, u64 config)
{
	struct perf_event_attr a;
	int fd;

	attr_init(&a, type, config);
	fd = attr_open(&a, 0, -1, -1, 0);
	if (fd < 0)
		die("open");
	close(fd);
}

static void open_software(unsigned int unused)
{
	(void)unused;
	open_close(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
}

static void open_hardware(unsigned int unused)
{
	(void)unused;
	open_close(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
}

/* What stays open meanwhile: no key is toggled. */
static bool held_software(void)
{
	return software(PERF_COUNT_SW_PAGE_FAULTS, 0, 1);
}

static bool held_hardware(void)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	return event_add(&a, 0, -1) >= 0;
}

static bool of_neighbour(unsigned int cpu, u32 type, u64 config)
{
	struct perf_event_attr a;

	attr_init(&a, type, config);
	close_events();
	return event_add(&a, shared->pids[(cpu + 1) % cpus], -1) >= 0;
}

static bool software_of_neighbour(unsigned int cpu)
{
	return of_neighbour(cpu, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
}

static bool hardware_of_neighbour(unsigned int cpu)
{
	return of_neighbour(cpu, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
}

static void toggle_once(unsigned int unused)
{
	(void)unused;
	if (ioctl(first_event(), PERF_EVENT_IOC_DISABLE, 0) ||
	    ioctl(first_event(), PERF_EVENT_IOC_ENABLE, 0))
		die("ioctl");
}

/* One reads, the others go on. */
static void read_once(unsigned int cpu)
{
	u64 v[3];

	if (cpu)
		run_fault(1);
	else if (read(first_event(), v, sizeof(v)) != sizeof(v))
		die("read");
}

static void call_or_fault(unsigned int cpu)
{
	if (cpu)
		run_fault(1);
	else
		run_getppid(1);
}

static void thread_once(unsigned int unused)
{
	(void)unused;
	run_thread(1);
}

/* ---- all CPUs ---- */

static void barrier(volatile unsigned int *arrived, unsigned int workers)
{
	__atomic_add_fetch(arrived, 1, __ATOMIC_SEQ_CST);
	while (*arrived < workers)
		next_cpu();
}

static void worker(unsigned int cpu, unsigned int workers, unsigned int n)
{
	unsigned int i;

	pin(cpu);
	map_again();
	shared->pids[cpu] = getpid();
	barrier(&shared->ready, workers);
	if (scene->prepare && !scene->prepare(cpu))
		_exit(1);
	/* Until nothing is new any more. */
	for (i = 0; i < n; i++) {
		scene->once(cpu);
		next_cpu();
	}
	barrier(&shared->ready, 2 * workers);
	if (!cpu) {
		begin_stretch();
		shared->go = 1;
	}
	while (!shared->go)
		next_cpu();
	for (i = 0; i < n; i++) {
		scene->once(cpu);
		next_cpu();
	}
	barrier(&shared->done, workers);
	if (!cpu) {
		end_stretch();
		shared->go = 2;
	}
	/* How they exit is measured by none. */
	while (shared->go != 2)
		next_cpu();
	_exit(0);
}

static double on_all_cpus(unsigned int n)
{
	unsigned int workers = scene->workers ? scene->workers : cpus, i;
	pid_t pids[MOST_CPUS];
	int status, bad = 0;
	u64 v[3];

	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	for (i = 0; i < workers; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (!pids[i])
			worker(i, workers, n);
	}
	for (i = 0; i < workers; i++) {
		waitpid(pids[i], &status, 0);
		bad |= status;
	}
	if (bad)
		die("a worker");
	if (scene->open && (read(first_event(), v, sizeof(v)) < 8 || !v[0]))
		die("nothing was counted");
	return scene->round ? n : workers * n;
}

enum {
	FORK, FORK_SW, FORK_HW, SWITCH, SWITCH_SW, SWITCH_HW, FAULT, FAULT_SW, FAULT_HW,
	SAMPLE, SAMPLE_CPU, CALL, OPEN_SW, OPEN_HW, TOGGLE_SW, TOGGLE_HW,
	FAULTS, READ_SW, READ_HW, THREAD, THREAD_1, THREAD_8,
};

static const struct scene scenes[] = {
	[FORK] = { .prepare = without_descriptors, .once = fork_once },
	[FORK_SW] = { .open = inherited_software,
		.prepare = without_descriptors, .once = fork_once },
	[FORK_HW] = { .open = inherited_hardware,
		.prepare = without_descriptors, .once = fork_once },
	[SWITCH] = { .prepare = with_partner, .once = switch_once },
	[SWITCH_SW] = { .open = inherited_software, .prepare = with_partner, .once = switch_once },
	[SWITCH_HW] = { .open = inherited_hardware, .prepare = with_partner, .once = switch_once },
	[FAULT] = { .once = fault_once },
	[FAULT_SW] = { .open = inherited_software, .once = fault_once },
	[FAULT_HW] = { .open = inherited_hardware, .once = fault_once },
	[SAMPLE] = { .open = inherited_samplers, .prepare = map_sampler, .once = sample_once },
	[SAMPLE_CPU] = { .open = samplers_of_cpus, .prepare = map_sampler, .once = sample_once },
	[CALL] = { .once = call_once },
	[OPEN_SW] = { .open = held_software, .once = open_software },
	[OPEN_HW] = { .open = held_hardware, .once = open_hardware },
	[TOGGLE_SW] = { .open = held_software,
		.prepare = software_of_neighbour, .once = toggle_once },
	[TOGGLE_HW] = { .open = held_hardware,
		.prepare = hardware_of_neighbour, .once = toggle_once },
	[FAULTS] = { .once = call_or_fault, .round = true },
	[READ_SW] = { .open = inherited_software, .once = read_once, .round = true },
	[READ_HW] = { .open = inherited_hardware, .once = read_once, .round = true },
	[THREAD] = { .once = thread_once, .workers = 1 },
	[THREAD_1] = { .open = profiled_on_one, .once = thread_once, .workers = 1 },
	[THREAD_8] = { .open = profiled_on_all, .once = thread_once, .workers = 1 },
};

static bool set(unsigned int i)
{
	scene = &scenes[i];
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (cpus < 2 || cpus > MOST_CPUS)
		return false;
	if (!shared)
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	return !scene->open || scene->open();
}

#define ROW_OF(number, name, n) \
	{ "lines: " name, set, NULL, NULL, NULL, number, n, 1, on_all_cpus }
#define ROW(number, name)	ROW_OF(number, name, 200)
/* One CPU alone: the other ones' ticks are in the figure, so it takes more to be steady. */
#define THREAD_ROW(number, name) ROW_OF(number, name, 2000)

const struct row lines_rows[] = {
	ROW(FORK, "fork+exit, no events"),
	ROW(FORK_SW, "fork+exit, 8 inherited sw"),
	ROW(FORK_HW, "fork+exit, 2 inherited hw"),
	ROW(SWITCH, "switch pair, no events"),
	ROW(SWITCH_SW, "switch pair, 8 inherited sw"),
	ROW(SWITCH_HW, "switch pair, 2 inherited hw"),
	ROW(FAULT, "page fault, no events"),
	ROW(FAULT_SW, "page fault, 8 inherited sw"),
	ROW(FAULT_HW, "page fault, 2 inherited hw"),
	ROW(SAMPLE, "page fault sampled, inherited"),
	ROW(SAMPLE_CPU, "page fault sampled, of CPUs"),
	ROW(CALL, "getppid"),
	ROW(OPEN_SW, "open+close, sw"),
	ROW(OPEN_HW, "open+close, hw"),
	ROW(TOGGLE_SW, "DISABLE+ENABLE on another CPU, sw"),
	ROW(TOGGLE_HW, "DISABLE+ENABLE on another CPU, hw"),
	ROW(FAULTS, "getppid, others fault"),
	ROW(READ_SW, "read of 8 tasks that fault, sw"),
	ROW(READ_HW, "read of 8 tasks that fault, hw"),
	THREAD_ROW(THREAD, "thread, no events"),
	THREAD_ROW(THREAD_1, "thread, 8 sampling events on 1 CPU"),
	THREAD_ROW(THREAD_8, "thread, 8 sampling events on 8 CPUs"),
	{ }
};
