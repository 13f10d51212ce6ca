// SPDX-License-Identifier: GPL-2.0
/*
 * pmu.c - drivers register PMUs and take them away: what open() says to the
 * events of one, its place in sysfs, how its counters are shared out, and
 * what becomes of events whose PMU leaves. All with the test PMU, whose
 * counts are exact.
 *
 * needs: smp hw
 */
#include "lib/ptest.h"
#include <sys/resource.h>
#include <poll.h>
#include <pthread.h>

#define MODULE	"test_count"
#define DEV	"/sys/bus/event_source/devices/" MODULE
#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

enum { NO_INTERRUPT = 1, NO_NMI = 2, EXCLUSIVE = 0x10, NO_EXCLUDE = 0x40, EXTENDED_HW = 0x100 };

static struct perf_event_attr hits(void)
{
	return pt_attr((u32)pt_pmu_type(MODULE), 0);
}

static struct perf_event_attr faults(void)
{
	return pt_attr(PT_SW(PAGE_FAULTS));
}

static void hit(u64 n)
{
	pt_eq(pt_module_set(MODULE, "hit", (long long)n), 0);
}

static void load(const char *params)
{
	pt_pin(0);
	pt_load_module(MODULE, params);
}

static void none_left(void)
{
	pt_eq(pt_module_get(MODULE, "nr_events"), 0);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
}

/* Stock must not be asked to unregister a PMU that has events. */
static void need_revoking(void)
{
	if (pt_is_stock())
		pt_skip("Linux 6.12's PMUs may not leave their events behind");
	pt_need(pt_module_get(MODULE, "revokes"), MODULE " does not know that it may");
}

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

/* class 43: a PMU that has no events of tasks follows switches all the same */
static void class43_cpu_switches(void)
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

/* class 43: each switch is told twice, as the one task goes and as the other one comes */
static void class43_in_and_out(void)
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

static void class43_task_switches(void)
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

static s64 switches(void)
{
	struct rusage u;

	pt_need(!getrusage(RUSAGE_THREAD, &u), "getrusage: %s", strerror(errno));
	return u.ru_nvcsw + u.ru_nivcsw;
}

/* How often the events of the group are put on the PMU by an ioctl; a switch does it as well. */
static void adds_of(int lead, unsigned long what, int want)
{
	s64 before, after, gone = switches();

	before = pt_module_get(MODULE, "adds");
	pt_eq(pt_ioctl(lead, what, PERF_IOC_FLAG_GROUP), 0);
	after = pt_module_get(MODULE, "adds");
	gone = switches() - gone;
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

/* ---- events whose PMU leaves ---- */

static void is_revoked(int fd, u64 count)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct perf_event_attr attr = faults();

	pt_eq(pt_count(fd), count);
	pt_eq(poll(&p, 1, 0), 1);
	pt_eq(p.revents, POLLERR);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), -ENODEV);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_RESET, 0), -ENODEV);
	pt_eq(pt_try_open(&attr, 0, -1, fd, 0), -ENODEV);
	pt_check(!pt_try_map(fd, 1, PROT_READ | PROT_WRITE) && errno == ENODEV, "mmap works");
}

static void class42_live_events(void)
{
	struct perf_event_attr attr, sw = faults();
	int task, cpu, task_on_cpu, off, mapped;
	struct pt_ring r;

	load(NULL);
	need_revoking();
	attr = hits();
	task = pt_open(&attr, 0, -1, -1, 0);
	cpu = pt_open(&attr, -1, 0, -1, 0);
	task_on_cpu = pt_open(&attr, 0, 0, -1, 0);
	attr.disabled = 1;
	off = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	pt_eq(pt_module_set(MODULE, "kernel_cpu", 0), 0);
	hit(3);
	close(task_on_cpu);
	attr.sample_period = 2;
	mapped = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, mapped, 8);
	hit(4);

	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	is_revoked(task, 7);
	is_revoked(cpu, 7);
	is_revoked(off, 0);
	is_revoked(mapped, 4);
	pt_eq(pt_module_get(MODULE, "kernel_count"), 7);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 2);
	pt_unmap(&r);
	pt_eq(pt_module_set(MODULE, "kernel_cpu", -1), 0);

	/* The module stays until the last of them is closed. */
	close(task);
	close(cpu);
	close(off);
	pt_eq(pt_unload_module(MODULE), -EAGAIN);
	close(mapped);
	sw.disabled = 0;
	close(pt_open(&sw, 0, -1, -1, 0));
	pt_eq(pt_unload_module(MODULE), 0);
}

/* Other members of its groups go on, as leaders if they have to. */
static void class42_groups(void)
{
	struct perf_event_attr attr, sw = faults(), clock = pt_attr(PT_SW(CPU_CLOCK));
	int lead, member, hw_lead, sw_member, clock_lead, ticks;
	u64 before;

	load(NULL);
	need_revoking();
	attr = hits();
	lead = pt_open(&sw, 0, -1, -1, 0);
	member = pt_open(&attr, 0, -1, lead, 0);
	hw_lead = pt_open(&attr, 0, -1, -1, 0);
	sw_member = pt_open(&sw, 0, -1, hw_lead, 0);
	/* A clock that samples has to be scheduled, by whomever. */
	clock.sample_period = 1000000;
	clock_lead = pt_open(&clock, 0, -1, -1, 0);
	pt_open(&attr, 0, -1, clock_lead, 0);
	ticks = pt_open(&clock, 0, -1, clock_lead, 0);
	hit(5);

	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	is_revoked(member, 5);
	is_revoked(hw_lead, 5);
	pt_reset(lead);
	pt_reset(sw_member);
	pt_fault(20);
	pt_check(pt_count(lead) >= 20, "the leader stopped");
	pt_check(pt_count(sw_member) >= 20, "the sibling of a leader that is gone stopped");
	before = pt_count(ticks);
	pt_burn(20000000);
	pt_check(pt_count(ticks) > before, "the clock stands still");
	pt_switch_out();
	pt_burn(20000000);
	pt_check(pt_count(clock_lead) > before, "the leading clock stands still");
	close(pt_open(&sw, 0, -1, lead, 0));
	close(pt_open(&sw, 0, -1, sw_member, 0));
}

/* A group that had hardware once does not remember it. */
static void class42_group_after_hardware(void)
{
	struct perf_event_attr attr, sw = faults();
	int lead, member, i;

	load(NULL);
	need_revoking();
	attr = hits();
	lead = pt_open(&sw, 0, -1, -1, 0);
	for (i = 0; i < 3; i++) {
		member = pt_open(&attr, 0, -1, lead, 0);
		hit(2);
		pt_eq(pt_count(member), 2);
		close(member);
		pt_eq(pt_module_set(MODULE, "registered", 0), 0);
		pt_switch_out();
		pt_reset(lead);
		pt_fault(20);
		pt_check(pt_count(lead) >= 20, "the leader stopped");
		close(pt_open(&sw, 0, -1, lead, 0));
		pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	}
}

static void wait_for_end(void *arg)
{
	int *fds = arg;
	char c;

	hit(10);
	pt_eq(write(fds[3], "x", 1), 1);
	pt_eq(read(fds[0], &c, 1), 1);
	pt_fault(1);
}

static void class42_inherited(void)
{
	struct perf_event_attr attr, sw = faults();
	int fds[4], fd, soft;
	pid_t child;
	char c;

	load(NULL);
	need_revoking();
	pt_need(!pipe(fds) && !pipe(fds + 2), "pipe: %s", strerror(errno));
	attr = hits();
	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	sw.inherit = 1;
	soft = pt_open(&sw, 0, -1, fd, 0);
	hit(1);
	child = pt_fork(wait_for_end, fds);
	pt_eq(read(fds[2], &c, 1), 1);
	pt_eq(pt_module_get(MODULE, "nr_events"), 2);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	is_revoked(fd, 11);
	pt_eq(write(fds[1], "x", 1), 1);
	pt_reap(child);
	is_revoked(fd, 11);
	pt_check(pt_count(soft) > 0, "the software event is gone");
	/* Forking goes on, too. */
	pt_reap(pt_fork((void (*)(void *))pt_switch_out, NULL));
}

/* A task that has used a PMU, and is switched in and out, when it is gone and when it is back. */
static void class42_task_outlives(void)
{
	struct perf_event_attr attr, sw = faults();
	int fd, i;

	load(NULL);
	need_revoking();
	pt_open(&sw, 0, -1, -1, 0);
	for (i = 0; i < 5; i++) {
		attr = hits();
		fd = pt_open(&attr, 0, i & 1 ? 0 : -1, -1, 0);
		pt_switch_out();
		hit(3);
		pt_eq(pt_count(fd), 3);
		if (i > 2)
			close(fd);
		pt_eq(pt_module_set(MODULE, "registered", 0), 0);
		pt_switch_out();
		close(pt_open(&sw, 0, i & 1 ? 0 : -1, -1, 0));
		pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	}
}

static bool stop;
static long opened, forked;	/* with the PMU there */

static void *opens(void *arg)
{
	struct perf_event_attr attr = *(struct perf_event_attr *)arg;

	if (pt_online_cpus() > 1)
		pt_pin(1);
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		int fd = pt_try_open(&attr, 0, -1, -1, 0);
		int sibling = -1;
		u64 v;

		pt_check(fd >= 0 || fd == -ENOENT || fd == -ENODEV, "open: %s", strerror(-fd));
		if (fd < 0)
			continue;
		sibling = pt_try_open(&attr, 0, -1, fd, 0);
		pt_check(sibling >= 0 || sibling == -ENOENT || sibling == -ENODEV, "sibling: %s",
			 strerror(-sibling));
		pt_eq(read(fd, &v, sizeof(v)), sizeof(v));
		if (sibling >= 0)
			close(sibling);
		close(fd);
		__atomic_fetch_add(&opened, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *forks(void *arg)
{
	struct perf_event_attr attr = *(struct perf_event_attr *)arg;

	attr.inherit = 1;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		int fd = pt_try_open(&attr, 0, -1, -1, 0);
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		pt_check(pid > 0, "fork: %s", strerror(errno));
		waitpid(pid, NULL, 0);
		/* One that fails when the copies have been made: there is no room for the pidfd. */
		pt_eq(syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, 1, 0, 0), -1);
		pt_eq(errno, EFAULT);
		if (fd < 0)
			continue;
		close(fd);
		__atomic_fetch_add(&forked, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static bool advanced(long *count, long since)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED) != since;
}

/* The PMU comes and goes while others open, inherit, read and close. */
static void class42_races(void)
{
	struct perf_event_attr attr;
	pthread_t opener, forker;
	int i;

	load(NULL);
	need_revoking();
	attr = hits();
	pt_need(!pthread_create(&opener, NULL, opens, &attr), "no thread");
	pt_need(!pthread_create(&forker, NULL, forks, &attr), "no thread");
	for (i = 0; i < 100; i++) {
		long opens_before, forks_before;

		pt_eq(pt_module_set(MODULE, "registered", 0), 0);
		none_left();
		opens_before = __atomic_load_n(&opened, __ATOMIC_RELAXED);
		forks_before = __atomic_load_n(&forked, __ATOMIC_RELAXED);
		pt_eq(pt_module_set(MODULE, "registered", 1), 0);
		pt_burn(1000000);
		/* Each has its turn, whomever the scheduler prefers. */
		while (!advanced(&opened, opens_before) || !advanced(&forked, forks_before))
			sched_yield();
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(opener, NULL);
	pthread_join(forker, NULL);
	none_left();
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
	{ "class43_cpu_switches", class43_cpu_switches },
	{ "class43_task_switches", class43_task_switches },
	{ "class43_in_and_out", class43_in_and_out },
	{ "counts_are_exact", counts_are_exact },
	{ "samples_are_exact", samples_are_exact },
	{ "pinned_in_error", pinned_in_error },
	{ "group_all_or_nothing", group_all_or_nothing },
	{ "group_enabled_at_once", group_enabled_at_once },
	{ "exclusive_is_alone", exclusive_is_alone },
	{ "multiplexing", multiplexing },
	{ "class42_live_events", class42_live_events },
	{ "class42_groups", class42_groups },
	{ "class42_group_after_hardware", class42_group_after_hardware },
	{ "class42_inherited", class42_inherited },
	{ "class42_task_outlives", class42_task_outlives },
	{ "class42_races", class42_races },
};

PT_MAIN(cases)
