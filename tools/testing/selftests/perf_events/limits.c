// SPDX-License-Identifier: GPL-2.0
/*
 * limits.c - what all users may have together: buffers, samples of a CPU; which groups of users may
 * open events; buffers as memory of a cgroup.
 *
 * needs: hw
 */
#include "lib/aux.h"
#include "lib/cgroup.h"
#include "lib/ext.h"
#include <linux/capability.h>
#include <sys/resource.h>

static struct perf_event_attr user_mode(u32 type, u64 config)
{
	struct perf_event_attr attr = pt_attr(type, config);

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

static struct perf_event_attr faults(void)
{
	return user_mode(PT_SW(PAGE_FAULTS));
}

/* ---- buffers of the machine ---- */

static void pages_of_all(long long pages)
{
	pt_sysctl_set("perf_ext_buffer_kb", pages * pt_page_size() / 1024);
}

static struct pt_ring ring_of(int data_pages)
{
	struct perf_event_attr attr = user_mode(PT_SW(DUMMY));
	struct pt_ring r;

	pt_map(&r, pt_open(&attr, 0, -1, -1, 0), data_pages);
	return r;
}

static void ring_fits(int data_pages)
{
	struct pt_ring r = ring_of(data_pages);

	pt_unmap(&r);
}

static void no_ring_of(int data_pages)
{
	struct perf_event_attr attr = user_mode(PT_SW(DUMMY));
	int fd = pt_open(&attr, 0, -1, -1, 0);
	char text[128];

	pt_check(!pt_try_map(fd, data_pages, PROT_READ), "1+%d pages", data_pages);
	pt_need(pt_slurp("/sys/bus/event_source/last_error", text, sizeof(text)), "no last_error");
	pt_check(!strcmp(text, "-1 mmap: above perf_ext_buffer_kb"), "%s", text);
	close(fd);
}

static void another_user(void)
{
	no_ring_of(4);
	ring_fits(2);
}

/* Each has a control page, too. */
static void buffers_of_all(void)
{
	struct pt_ring big, small, other, last;

	ext_need();
	pt_sysctl_set("perf_event_paranoid", 2);
	pt_eq(pt_sysctl_get("perf_ext_buffer_kb"), 0);
	big = ring_of(16);		/* counted before there is a limit */
	pages_of_all(33);
	no_ring_of(16);
	small = ring_of(8);
	other = ring_of(2);
	pt_as_nobody(another_user);
	last = ring_of(2);
	pt_unmap(&other);
	pt_unmap(&last);
	no_ring_of(16);
	pt_unmap(&small);
	no_ring_of(16);			/* one page is missing */
	pages_of_all(34);
	small = ring_of(16);
	no_ring_of(0);
	pages_of_all(1);
	pt_unmap(&big);
	no_ring_of(0);
	pt_unmap(&small);
	big = ring_of(0);
	no_ring_of(0);
	pt_unmap(&big);
}

/* Each would take what one CPU gives a user. */
static void more_than_a_user_has(void)
{
	int i;

	for (i = 0; i <= pt_online_cpus(); i++)
		no_ring_of(1);
}

static void refused_costs_nothing(void)
{
	const struct rlimit none = { 0, 0 };

	ext_need();
	pt_sysctl_set("perf_event_paranoid", 2);
	pt_sysctl_set("perf_event_mlock_kb", 2 * pt_page_size() / 1024);
	pages_of_all(1);
	pt_need(!setrlimit(RLIMIT_MEMLOCK, &none), "setrlimit: %s", strerror(errno));
	pt_as_nobody(more_than_a_user_has);
}

static void areas_of_all(void)
{
	struct aux x;

	ext_need();
	aux_load(NULL);
	pages_of_all(1 + AUX_DATA_PAGES + 8);
	aux_open(&x, 8, RW);
	no_ring_of(0);
	aux_unmap(&x);
	ring_fits(4);
	pages_of_all(1 + AUX_DATA_PAGES + 7);
	aux_place(&x.ring, x.offset, x.size);
	pt_eq(aux_try_map(&x, x.fd, RW), -EPERM);
}

/* ---- groups of users ---- */

#define GID	4711

static int of_a_cpu(void)
{
	struct perf_event_attr attr = faults();
	int fd = pt_try_open(&attr, -1, 0, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int of_a_task(void)
{
	struct perf_event_attr attr = faults();

	return pt_probe(&attr);
}

static void tasks_and_cpus(void)
{
	pt_eq(of_a_task(), 0);
	pt_eq(of_a_cpu(), 0);
}

static void cpus_only(void)
{
	struct perf_event_attr attr = faults();

	ext_refused(&attr, EACCES, "pid: not in the group of perf_ext_task_gid");
	pt_eq(of_a_cpu(), 0);
}

static void tasks_only(void)
{
	char text[128];

	pt_eq(of_a_cpu(), -EACCES);
	pt_need(pt_slurp("/sys/bus/event_source/last_error", text, sizeof(text)), "no last_error");
	pt_check(!strcmp(text, "-13 cpu: not in the group of perf_ext_cpu_gid"), "%s", text);
	pt_eq(of_a_task(), 0);
}

static void with_perfmon(void *arg)
{
	(void)arg;
	tasks_and_cpus();
}

static void groups_of_users(void)
{
	ext_need();
	pt_eq(pt_sysctl_get("perf_ext_task_gid"), -1);
	pt_eq(pt_sysctl_get("perf_ext_cpu_gid"), -1);
	pt_sysctl_set("perf_event_paranoid", -1);
	pt_as_nobody(tasks_and_cpus);
	pt_sysctl_set("perf_ext_task_gid", GID);
	pt_as_nobody(cpus_only);
	pt_as_member(GID, tasks_and_cpus);
	tasks_and_cpus();
	pt_with_capability(CAP_PERFMON, with_perfmon, NULL);
	pt_sysctl_set("perf_ext_task_gid", -1);
	pt_sysctl_set("perf_ext_cpu_gid", GID);
	pt_as_nobody(tasks_only);
	pt_as_member(GID, tasks_and_cpus);
	tasks_and_cpus();
	pt_eq(pt_write_file("/proc/sys/kernel/perf_ext_cpu_gid", "-2"), -EINVAL);
}

/* ---- samples of a CPU in one tick ---- */

#define LIMIT	20
#define TURNS	30

/*
 * The samples from one tick to the last that @events take in it, in one buffer: each of them is
 * throttled before its last. Where a tick comes in between there are more.
 */
static unsigned int samples_of_a_turn(struct pt_ring *ring, unsigned int events, void (*work)(void))
{
	unsigned int samples = 0, off = 0;
	struct pt_record rec;

	for (;;) {
		while (pt_next(ring, &rec)) {
			off += rec.h.type == PERF_RECORD_THROTTLE;
			samples += rec.h.type == PERF_RECORD_SAMPLE;
			if (rec.h.type == PERF_RECORD_SAMPLE && off == events)
				return samples;
		}
		work();
	}
}

static unsigned int least_of_a_turn(struct pt_ring *ring, unsigned int events, void (*work)(void))
{
	unsigned int least = ~0u, i;

	samples_of_a_turn(ring, events, work);
	for (i = 0; i < TURNS; i++) {
		unsigned int samples = samples_of_a_turn(ring, events, work);

		if (samples < least)
			least = samples;
	}
	return least;
}

static void burn(void)
{
	pt_burn(200000);
}

static void burn_and_switch(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		pt_burn(50000);
		sched_yield();
	}
}

static void samples_of_a_cpu(void)
{
	struct perf_event_attr attr = user_mode(PT_HW(CPU_CYCLES));
	unsigned int samples = 0;
	struct pt_record rec;
	struct pt_ring ring;
	int fd, other, i;
	pid_t child;

	ext_need();
	pt_pin(0);
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	attr.sample_period = 10000;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_eq(pt_sysctl_get("perf_ext_samples_per_tick"), 0);
	pt_sysctl_set("perf_ext_samples_per_tick", LIMIT);
	pt_eq(least_of_a_turn(&ring, 1, burn), LIMIT);
	/* A switch gives no other turn. */
	child = fork();
	while (!child)
		sched_yield();
	pt_check(child > 0, "fork: %s", strerror(errno));
	pt_eq(least_of_a_turn(&ring, 1, burn_and_switch), LIMIT);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);

	/* They take turns: the other has the last, and the first is told at its next. */
	other = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, fd), 0);
	pt_eq(least_of_a_turn(&ring, 2, burn), LIMIT + 1);
	close(other);

	/* From the next tick on there is no limit. */
	pt_sysctl_set("perf_ext_samples_per_tick", 0);
	for (i = 0; i < 20; i++)
		burn();
	pt_disable(fd);
	pt_enable(fd);
	while (pt_next(&ring, &rec))
		;
	pt_spin(2 * LIMIT * 10000);
	pt_disable(fd);
	while (pt_next(&ring, &rec)) {
		pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
		samples++;
	}
	pt_check(samples >= 2 * LIMIT, "%u samples", samples);
}

/* ---- memory of cgroups ---- */

static long long memory_of(const char *dir)
{
	char path[256], text[32];

	snprintf(path, sizeof(path), "%s/memory.current", dir);
	pt_need(pt_slurp(path, text, sizeof(text)), "no %s", path);
	return atoll(text);
}

/* How much more memory a cgroup has when one of its tasks has mapped @pages. */
static long long memory_for(const char *dir, int pages)
{
	long long before = memory_of(dir);
	struct pt_ring r = ring_of(pages);
	long long more = memory_of(dir) - before;

	pt_unmap(&r);
	return more;
}

static void memory_of_a_cgroup(void)
{
	const long long size = 1024LL * getpagesize();
	const char *dir;

	ext_need();
	dir = cg_make("");
	if (pt_write_file("/sys/fs/cgroup/cgroup.subtree_control", "+memory"))
		pt_skip("no memory controller");
	cg_enter(dir);
	pt_eq(pt_sysctl_get("perf_ext_memcg"), 0);
	/* A cgroup is charged for up to 64 pages ahead by each CPU. */
	pt_check(memory_for(dir, 1024) < size / 2, "charged");
	pt_sysctl_set("perf_ext_memcg", 1);
	pt_check(memory_for(dir, 1024) >= size, "not charged");
	cg_remove_all();
}

static const struct pt_case cases[] = {
	{ "buffers_of_all", buffers_of_all },
	{ "refused_costs_nothing", refused_costs_nothing },
	{ "areas_of_all", areas_of_all },
	{ "groups_of_users", groups_of_users },
	{ "samples_of_a_cpu", samples_of_a_cpu },
	{ "memory_of_a_cgroup", memory_of_a_cgroup },
};

PT_MAIN(cases)
