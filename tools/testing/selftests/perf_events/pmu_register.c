// SPDX-License-Identifier: GPL-2.0
/*
 * pmu_register.c - drivers register PMUs and take them away: what open() says to the
 * events of one, its place in sysfs, and how its counters are shared out. All
 * with the test PMU, whose counts are exact. See pmu_leaves.c for the rest.
 *
 * needs: smp hw
 */
#include "lib/cpus.h"
#include "lib/test_count.h"
#include <pthread.h>
#include <signal.h>

#define DEV	"/sys/bus/event_source/devices/" MODULE
#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

enum { NO_INTERRUPT = 1, NO_NMI = 2, EXCLUSIVE = 0x10, NO_EXCLUDE = 0x40, EXTENDED_HW = 0x100 };

/* ---- registration and sysfs ---- */

static void file_is(const char *name, const char *want)
{
	char path[256], text[64];

	snprintf(path, sizeof(path), DEV "/%s", name);
	if (!want) {
		pt_check(!pt_path_exists(path), "%s exists", path);
		return;
	}
	pt_need(pt_slurp(path, text, sizeof(text)), "no %s", path);
	pt_check(!strcmp(text, want), "%s says %s, not %s", path, text, want);
}

static void attributes(void)
{
	load(NULL);
	pt_check(pt_pmu_type(MODULE) >= PERF_TYPE_MAX, "type %d", pt_pmu_type(MODULE));
	file_is("format/what", "config:0-3");
	file_is("events/hits", "what=0");
	file_is("events/time", "what=1");
	file_is("nr_addr_filters", NULL);
	file_is("cpumask", NULL);
	pt_check(pt_path_exists(DEV "/perf_event_mux_interval_ms"), "no interval");
}

static void attributes_by_kind(void)
{
	load("extra=0 filters=3 scope=5");
	file_is("events/hits", "what=0");
	file_is("events/time", NULL);
	file_is("nr_addr_filters", "3");
	file_is("cpumask", "0");
}

static void comes_and_goes(void)
{
	struct perf_event_attr attr;
	int type, i;

	load(NULL);
	type = pt_pmu_type(MODULE);
	for (i = 0; i < 20; i++) {
		attr = hits();
		close(pt_open(&attr, 0, -1, -1, 0));
		pt_eq(pt_module_set(MODULE, "registered", 0), 0);
		pt_check(!pt_path_exists(DEV), "still in sysfs");
		pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -ENOENT);
		pt_eq(pt_module_set(MODULE, "registered", 1), 0);
		pt_eq(pt_pmu_type(MODULE), type);
	}
}

static void module_is_held(void)
{
	struct perf_event_attr attr;
	int fd;
	void *p;

	load(NULL);
	attr = hits();
	fd = pt_open(&attr, 0, -1, -1, 0);
	p = pt_try_map(fd, 1, PROT_READ | PROT_WRITE);
	pt_check(p, "mmap: %s", strerror(errno));
	pt_eq(pt_unload_module(MODULE), -EAGAIN);
	close(fd);
	pt_eq(pt_unload_module(MODULE), -EAGAIN);
	munmap(p, (size_t)pt_page_size() * 2);
	pt_eq(pt_unload_module(MODULE), 0);
}

/* ---- what open() says ---- */

static void errno_of_the_driver(void)
{
	static const int errnos[] = { EACCES, ENODEV, EBUSY, EOPNOTSUPP, ENOENT, EINVAL };
	struct perf_event_attr attr;
	unsigned int i;

	load(NULL);
	attr = hits();
	for (i = 0; i < PT_ARRAY_SIZE(errnos); i++) {
		pt_eq(pt_module_set(MODULE, "fail_init", errnos[i]), 0);
		pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -errnos[i]);
	}
	pt_eq(pt_module_set(MODULE, "fail_init", 0), 0);
	attr.config = 7;
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -EINVAL);
	none_left();
}

static void cap_no_exclude(void)
{
	struct perf_event_attr attr;

	load("caps=64");
	attr = hits();
	attr.exclude_kernel = 1;
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -EINVAL);
	attr.exclude_kernel = 0;
	attr.exclude_guest = 1;
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -EINVAL);
	attr.exclude_guest = 0;
	pt_eq(pt_probe(&attr), 0);
	none_left();
}

static void cap_no_interrupt(void)
{
	struct perf_event_attr attr;

	load("caps=1");
	attr = hits();
	attr.sample_period = 100;
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -EOPNOTSUPP);
	attr.sample_period = 0;
	pt_eq(pt_probe(&attr), 0);
	none_left();
}

static void cap_no_nmi(void)
{
	struct perf_event_attr attr;

	load("caps=2");
	attr = hits();
	attr.use_clockid = 1;
	attr.clockid = CLOCK_REALTIME;
	pt_eq(pt_probe(&attr), 0);
	pt_eq(pt_unload_module(MODULE), 0);
	load(NULL);
	attr.type = (u32)pt_pmu_type(MODULE);
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -EINVAL);
	attr.clockid = CLOCK_MONOTONIC;
	pt_eq(pt_probe(&attr), 0);
	none_left();
}

static void cap_exclusive(void)
{
	struct perf_event_attr attr;
	int fd;

	load("caps=16");
	attr = hits();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -EBUSY);
	pt_eq(pt_try_open(&attr, 0, 0, -1, 0), -EBUSY);
	pt_eq(pt_try_open(&attr, -1, 0, -1, 0), -EBUSY);
	close(fd);
	none_left();
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(pt_try_open(&attr, -1, 0, -1, 0), -EBUSY);
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -EBUSY);
	close(fd);
	pt_eq(pt_probe(&attr), 0);
}

static void cap_extended_type(void)
{
	struct perf_event_attr attr;
	int fd;

	load(NULL);
	attr = pt_attr(PERF_TYPE_HARDWARE, (u64)(u32)pt_pmu_type(MODULE) << 32);
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -ENOENT);
	pt_eq(pt_unload_module(MODULE), 0);
	load("caps=256");
	attr.config = (u64)(u32)pt_pmu_type(MODULE) << 32;
	fd = pt_open(&attr, 0, -1, -1, 0);
	hit(12);
	pt_eq(pt_count(fd), 12);
}

static void cpus_only(void)
{
	struct perf_event_attr attr;
	int fd;

	load("task=0");
	attr = hits();
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -EINVAL);
	pt_eq(pt_try_open(&attr, 0, 0, -1, 0), -EINVAL);
	fd = pt_open(&attr, -1, 0, -1, 0);
	hit(12);
	pt_eq(pt_count(fd), 12);
}

/* A PMU that has no events of tasks follows switches all the same */
static void cpu_switches(void)
{
	struct perf_event_attr attr;
	struct pt_peer peer;
	int fd;

	load("task=0 switches=1");
	attr = hits();
	pt_peer_start(&peer);
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_peer_turn(&peer);
	pt_module_get(MODULE, "nr_switches");
	pt_peer_turn(&peer);
	pt_check(pt_module_get(MODULE, "nr_switches") >= 2, "switches are missed");
	close(fd);
	pt_module_get(MODULE, "nr_switches");
	pt_peer_turn(&peer);
	pt_eq(pt_module_get(MODULE, "nr_switches"), 0);
	pt_peer_stop(&peer);
}

/* Both of one moment: who is switched in between looks again. */
static void switches_so_far(int *in, int *out)
{
	do {
		*in = (int)pt_module_get(MODULE, "nr_in");
		*out = (int)pt_module_get(MODULE, "nr_out");
	} while ((int)pt_module_get(MODULE, "nr_in") != *in);
}

/* Each switch is told twice, as the one task goes and as the other one comes */
static void switches_in_and_out(void)
{
	static const char * const kinds[] = { "task=0 switches=1", "switches=1" };
	int fd, more, i, in, out, in_later, out_later;
	struct perf_event_attr attr;
	struct pt_peer peer;
	unsigned int kind;

	for (kind = 0; kind < PT_ARRAY_SIZE(kinds); kind++) {
		load(kinds[kind]);
		attr = hits();
		pt_peer_start(&peer);
		fd = pt_open(&attr, -1, 0, -1, 0);
		switches_so_far(&in, &out);
		for (i = 0; i < 20; i++)
			pt_peer_turn(&peer);
		/* With events of the task as well, it is still told once. */
		more = kind ? pt_open(&attr, 0, -1, -1, 0) : pt_open(&attr, -1, 0, -1, 0);
		for (i = 0; i < 20; i++)
			pt_peer_turn(&peer);
		close(fd);
		for (i = 0; i < 20; i++)
			pt_peer_turn(&peer);
		switches_so_far(&in_later, &out_later);
		pt_check(in_later - in >= 60, "came %d times", in_later - in);
		pt_eq(in_later - in, out_later - out);
		pt_eq(pt_module_get(MODULE, "wrong_task"), 0);
		close(more);
		switches_so_far(&in, &out);
		pt_peer_turn(&peer);
		switches_so_far(&in_later, &out_later);
		pt_eq(in_later, in);
		pt_eq(out_later, out);
		pt_peer_stop(&peer);
		none_left();
		pt_eq(pt_unload_module(MODULE), 0);
	}
}

static void task_switches(void)
{
	struct perf_event_attr attr;
	int fd;

	load("switches=1");
	attr = hits();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_module_get(MODULE, "nr_switches");
	pt_switch_out();
	pt_check(pt_module_get(MODULE, "nr_switches") > 0, "switches are missed");
	hit(3);
	pt_eq(pt_count(fd), 3);
	close(fd);
	pt_module_get(MODULE, "nr_switches");
	pt_switch_out();
	pt_eq(pt_module_get(MODULE, "nr_switches"), 0);
}

/* ---- counting, sampling, sharing the counters ---- */

static void counts_are_exact(void)
{
	struct perf_event_attr attr;
	int task, cpu;

	load(NULL);
	attr = hits();
	task = pt_open(&attr, 0, -1, -1, 0);
	cpu = pt_open(&attr, -1, 0, -1, 0);
	hit(7);
	pt_eq(pt_count(task), 7);
	pt_eq(pt_count(cpu), 7);
	pt_disable(task);
	hit(7);
	pt_enable(task);
	hit(1);
	pt_eq(pt_count(task), 8);
	pt_eq(pt_count(cpu), 15);
}

static void samples_are_exact(void)
{
	struct perf_event_attr attr;
	struct pt_ring r;
	int fd;

	/* However long a sample takes on a busy host. */
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	load(NULL);
	attr = hits();
	attr.sample_period = 10;
	attr.sample_type = PERF_SAMPLE_PERIOD;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 8);
	hit(105);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 10);
	hit(5);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 1);
	pt_disable(fd);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), 0);
	hit(30);
	hit(30);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 3);
}

static void pinned_in_error(void)
{
	struct perf_event_attr attr;
	int fd[3], i;
	u64 v;

	load("counters=2");
	attr = hits();
	attr.pinned = 1;
	for (i = 0; i < 3; i++)
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	hit(5);
	pt_eq(pt_count(fd[0]), 5);
	pt_eq(pt_count(fd[1]), 5);
	pt_eq(read(fd[2], &v, sizeof(v)), 0);
	close(fd[0]);
	pt_enable(fd[2]);
	hit(5);
	pt_eq(pt_count(fd[1]), 10);
	pt_eq(pt_count(fd[2]), 5);
}

static void group_all_or_nothing(void)
{
	struct perf_event_attr attr;
	struct pt_read r;
	int lead, i;

	load("counters=3");
	attr = hits();
	attr.read_format = PERF_FORMAT_GROUP | TIMES;
	lead = pt_open(&attr, 0, -1, -1, 0);
	for (i = 1; i < 3; i++)
		pt_open(&attr, 0, -1, lead, 0);
	hit(5);
	pt_read(lead, attr.read_format, 3, &r);
	for (i = 0; i < 3; i++)
		pt_eq(r.v[i].value, 5);
	/* One too many: from now on none of them counts. */
	pt_open(&attr, 0, -1, lead, 0);
	hit(5);
	pt_read(lead, attr.read_format, 4, &r);
	for (i = 0; i < 4; i++)
		pt_eq(r.v[i].value, i < 3 ? 5 : 0);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
}

/* How often the events of the group are put on the PMU by an ioctl; a switch does it as well. */
static void adds_of(int lead, unsigned long what, int want)
{
	s64 before, after, gone = pt_switches();

	before = pt_module_get(MODULE, "adds");
	pt_eq(pt_ioctl(lead, what, PERF_IOC_FLAG_GROUP), 0);
	after = pt_module_get(MODULE, "adds");
	gone = pt_switches() - gone;
	pt_check(after - before >= want && after - before <= want + 8 * gone,
		 "%lld times, expected %d; %lld switches", (long long)(after - before), want,
		 (long long)gone);
}

/*
 * Siblings that join a group on the PMU by one ioctl take it off and on once,
 * not once each: irqs are off meanwhile.
 */
static void group_enabled_at_once(void)
{
	struct perf_event_attr attr;
	struct pt_read r;
	int lead, i;

	load("counters=8");
	need_revoking();	/* the older scheduler asks for each */
	attr = hits();
	attr.read_format = PERF_FORMAT_GROUP;
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 1;
	for (i = 1; i < 8; i++)
		pt_open(&attr, 0, -1, lead, 0);
	hit(3);
	adds_of(lead, PERF_EVENT_IOC_ENABLE, 8);
	adds_of(lead, PERF_EVENT_IOC_ENABLE, 0);
	hit(5);
	pt_read(lead, attr.read_format, 8, &r);
	for (i = 0; i < 8; i++)
		pt_eq(r.v[i].value, i ? 5 : 8);
	adds_of(lead, PERF_EVENT_IOC_DISABLE, 0);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	adds_of(lead, PERF_EVENT_IOC_ENABLE, 8);
}

/* Each hit finds one of the two on the PMU, whatever rotation does. */
static void exclusive_is_alone(void)
{
	struct perf_event_attr attr;
	int a, b, i;

	load("counters=2");
	attr = hits();
	a = pt_open(&attr, 0, -1, -1, 0);
	attr.exclusive = 1;
	b = pt_open(&attr, 0, -1, -1, 0);
	for (i = 0; i < 20; i++) {
		hit(10);
		pt_burn(2000000);
	}
	pt_check(pt_count(a) && pt_count(b), "one of them never ran: %llu and %llu",
		 (unsigned long long)pt_count(a), (unsigned long long)pt_count(b));
	pt_eq(pt_count(a) + pt_count(b), 200);
}

/* Who is in the kernel samples as one does who has a descriptor. */
static void kernel_samples(void)
{
	struct perf_event_attr attr;
	struct pt_ring ring;
	u64 period = 20;
	int fd;

	load(NULL);
	attr = hits();
	attr.sample_period = 10;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 4);
	pt_eq(pt_module_set(MODULE, "kernel_period", 10), 0);
	pt_eq(pt_module_set(MODULE, "kernel_cpu", 0), 0);
	hit(95);
	pt_eq(pt_module_get(MODULE, "kernel_told"), 9);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 9);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, pt_addr(&period)), 0);
	pt_eq(pt_module_set(MODULE, "kernel_period", (long long)period), 0);
	hit(100);
	pt_eq(pt_module_get(MODULE, "kernel_told"),
	      9 + pt_count_records(&ring, PERF_RECORD_SAMPLE));
	pt_eq(pt_module_set(MODULE, "kernel_period", 0), -EINVAL);

	pt_eq(pt_module_set(MODULE, "kernel_period", 10), 0);
	hit(7);
	period = (u64)pt_module_get(MODULE, "kernel_told");
	pt_eq(pt_module_set(MODULE, "kernel_refresh", 3), 0);
	hit(1000);
	pt_eq(pt_module_get(MODULE, "kernel_told"), period + 3);
	pt_eq(pt_module_get(MODULE, "nr_added"), 1);	/* only ours */
	pt_eq(pt_module_set(MODULE, "kernel_cpu", -1), 0);

	/* It is no tracer's source. */
	pt_eq(pt_module_set(MODULE, "kernel_aux", 1), 0);
	pt_eq(pt_module_set(MODULE, "kernel_cpu", 0), -EINVAL);
}

static void multiplexing(void)
{
	struct perf_event_attr attr;
	u64 running = 0, start, time;
	struct pt_read r;
	int fd[5], i;

	load("counters=2");
	pt_eq(pt_write_file(DEV "/perf_event_mux_interval_ms", "1"), 0);
	attr = hits();
	attr.config = 1;
	attr.disabled = 1;
	attr.read_format = TIMES;
	for (i = 0; i < 5; i++)
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	start = pt_clock(CLOCK_MONOTONIC);
	for (i = 0; i < 5; i++)
		pt_enable(fd[i]);
	pt_burn(200000000);
	for (i = 0; i < 5; i++)
		pt_disable(fd[i]);
	time = pt_clock(CLOCK_MONOTONIC) - start;
	for (i = 0; i < 5; i++) {
		pt_read(fd[i], TIMES, 1, &r);
		pt_check(r.running > 0 && r.running < r.enabled, "event %d: %llu of %llu", i,
			 (unsigned long long)r.running, (unsigned long long)r.enabled);
		pt_check(r.v[0].value > 0, "event %d ran and counted nothing", i);
		running += r.running;
	}
	pt_check(running <= 2 * time, "two counters ran %llu in %llu",
		 (unsigned long long)running, (unsigned long long)time);
}

/* Turns of a CPU's own events, where no task has any: each comes to its turn. */
static void multiplexing_of_a_cpu(void)
{
	struct perf_event_attr attr;
	struct pt_read r;
	int fd[2], i;

	load("counters=1");
	pt_eq(pt_write_file(DEV "/perf_event_mux_interval_ms", "1"), 0);
	attr = hits();
	attr.config = 1;
	attr.read_format = TIMES;
	for (i = 0; i < 2; i++)
		fd[i] = pt_open(&attr, -1, 0, -1, 0);
	pt_burn(50000000);
	for (i = 0; i < 2; i++) {
		pt_read(fd[i], TIMES, 1, &r);
		pt_check(r.running > 0 && r.running < r.enabled, "event %d: %llu of %llu", i,
			 (unsigned long long)r.running, (unsigned long long)r.enabled);
	}
}

static void *waits(void *go)
{
	pt_gate_wait(go);
	return NULL;
}

/* Whoever shares the descriptors: where output goes to is not held, nor what it cannot go to. */
static void output_to_a_shared_descriptor(void)
{
	struct perf_event_attr attr, other;
	int go[2], null, target, fd, odd;
	struct pt_ring ring;
	pthread_t t;

	load(NULL);
	pt_gate_make(go);
	pt_need(!pthread_create(&t, NULL, waits, go), "thread");
	attr = hits();
	other = attr;
	other.use_clockid = 1;
	other.clockid = CLOCK_MONOTONIC;
	target = pt_open(&attr, 0, -1, -1, 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	odd = pt_open(&other, 0, -1, -1, 0);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pt_map(&ring, target, 1);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)target), 0);
	pt_eq(pt_ioctl(odd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)target), -EINVAL);
	pt_eq(pt_ioctl(odd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)null), -EBADF);
	pt_unmap(&ring);
	close(odd);
	close(fd);
	close(target);
	close(null);
	none_left();
	pt_gate_open(go);
	pthread_join(t, NULL);
}

/* A software event goes on when the last of the hardware has left its group. */
static void software_left_alone(void)
{
	struct perf_event_attr attr, sw = faults();
	int lead, member, other;
	u64 before;
	u8 *p;

	load(NULL);
	attr = hits();
	p = pt_fresh_pages(5);
	lead = pt_open(&sw, 0, -1, -1, 0);
	member = pt_open(&attr, 0, -1, lead, 0);
	hit(1);
	pt_eq(pt_count(member), 1);
	close(member);
	/* Whatever goes off its PMU with a switch is none of the leader's. */
	other = pt_open(&attr, 0, -1, -1, 0);
	pt_switch_out();
	before = pt_count(lead);
	pt_touch(p, 5);
	pt_eq(pt_count(lead) - before, 5);
	hit(2);
	pt_eq(pt_count(other), 2);
	close(other);
	close(lead);
	none_left();
}

/* A fork that fails when the copies have been made: they are destroyed by then. */
static void fork_that_fails(void)
{
	struct perf_event_attr attr;
	int fd;

	load(NULL);
	attr = hits();
	attr.inherit = 1;
	attr.pinned = 1;	/* nothing that tasks have in common: a copy for each */
	fd = pt_open(&attr, 0, -1, -1, 0);
	/* There is no room for the pidfd. */
	pt_eq(syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, 1, 0, 0), -1);
	pt_eq(errno, EFAULT);
	pt_eq(pt_module_get(MODULE, "nr_events"), 1);
	hit(5);
	pt_eq(pt_count(fd), 5);
	close(fd);
	none_left();
}

/* A move to another CPU, which takes a while, is in no time: it was enabled as long as it ran. */
static void times_of_a_move(void)
{
	struct perf_event_attr attr;
	struct pt_read r;
	int fd, i;

	need_cpus(2);
	load(NULL);
	if (pt_is_stock())
		pt_skip("Linux 6.12 counts the move as time enabled");
	attr = hits();
	attr.read_format = TIMES;
	fd = pt_open(&attr, -1, 0, -1, 0);
	for (i = 0; i < 2; i++) {
		pt_eq(pt_module_set(MODULE, "migrate", i ? 1000 : 1), 0);	/* 0 -> 1 -> 0 */
		pt_read(fd, TIMES, 1, &r);
		pt_check(r.running > 0, "it never ran");
		pt_eq(r.enabled, r.running);
	}
	close(fd);
}

static const struct pt_case cases[] = {
	{ "attributes", attributes },
	{ "attributes_by_kind", attributes_by_kind },
	{ "comes_and_goes", comes_and_goes },
	{ "module_is_held", module_is_held },
	{ "errno_of_the_driver", errno_of_the_driver },
	{ "cap_no_exclude", cap_no_exclude },
	{ "cap_no_interrupt", cap_no_interrupt },
	{ "cap_no_nmi", cap_no_nmi },
	{ "cap_exclusive", cap_exclusive },
	{ "cap_extended_type", cap_extended_type },
	{ "cpus_only", cpus_only },
	{ "times_of_a_move", times_of_a_move },
	{ "cpu_switches", cpu_switches },
	{ "task_switches", task_switches },
	{ "switches_in_and_out", switches_in_and_out },
	{ "counts_are_exact", counts_are_exact },
	{ "samples_are_exact", samples_are_exact },
	{ "pinned_in_error", pinned_in_error },
	{ "group_all_or_nothing", group_all_or_nothing },
	{ "software_left_alone", software_left_alone },
	{ "fork_that_fails", fork_that_fails },
	{ "group_enabled_at_once", group_enabled_at_once },
	{ "exclusive_is_alone", exclusive_is_alone },
	{ "kernel_samples", kernel_samples },
	{ "multiplexing", multiplexing },
	{ "multiplexing_of_a_cpu", multiplexing_of_a_cpu },
	{ "output_to_a_shared_descriptor", output_to_a_shared_descriptor },
};

PT_MAIN(cases)
