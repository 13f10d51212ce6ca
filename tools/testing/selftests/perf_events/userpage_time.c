// SPDX-License-Identifier: GPL-2.0
/*
 * userpage_time.c - the times in the first page of a mapping, and the
 * conversion of the machine's clock into perf time: a task knows how long its
 * own event has been enabled without a system call.
 *
 * needs: hw skid
 */
#include "lib/cgroup.h"
#include "lib/ext.h"
#include "lib/userpage.h"

static void times_agree_with_read(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct pt_read a, b;
	struct pt_ring r;
	int fd;

	attr.read_format = f;
	fd = open_and_map(&attr, &r);
	pt_burn(2000000);
	pt_read(fd, f, 1, &a);
	/* RESET publishes the page anew. */
	pt_reset(fd);
	take(&r);
	pt_read(fd, f, 1, &b);
	pt_check(snapshot.time_enabled >= a.enabled && snapshot.time_enabled <= b.enabled,
		 "page %llu, read %llu to %llu", (unsigned long long)snapshot.time_enabled,
		 (unsigned long long)a.enabled, (unsigned long long)b.enabled);
}

/* A page without an index has the times until its event was switched off, too. */
static void times_of_one_that_is_off(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	struct pt_read before;
	struct pt_ring r;
	int fd;

	pt_first_on_cpu(0);	/* a switch would write the page */
	attr.exclude_kernel = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 0);
	pt_burn(1000000);
	pt_read(fd, attr.read_format, 1, &before);
	pt_disable(fd);
	take(&r);
	pt_check(snapshot.time_enabled >= before.enabled, "page %llu, read %llu",
		 (unsigned long long)snapshot.time_enabled, (unsigned long long)before.enabled);
}

/* The time as computed lies between two reads, whose format has nothing but that time. */
static void compare_time(const struct pt_ring *r, int fd)
{
	struct pt_read a, b;
	u64 now, slack = 2000;

	pt_read(fd, PERF_FORMAT_TOTAL_TIME_ENABLED, 1, &a);
	take(r);
	now = snapshot.time_enabled + snapshot.time_offset + scale(counter_then());
	pt_read(fd, PERF_FORMAT_TOTAL_TIME_ENABLED, 1, &b);
	pt_check(now + slack >= a.enabled && now <= b.enabled + slack,
		 "computed %llu, read %llu to %llu", (unsigned long long)now,
		 (unsigned long long)a.enabled, (unsigned long long)b.enabled);
}

static void user_time(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct pt_ring r;
	int fd, i;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	fd = open_and_map(&attr, &r);
	take(&r);
	if (!snapshot.cap_user_time)
		pt_skip("the clock of this machine cannot be read by user space");
	for (i = 0; i < 20; i++) {
		compare_time(&r, fd);
		pt_spin(10000);
	}
	/* What passes while it is off does not count; the page knows when it is on again. */
	pt_disable(fd);
	pt_spin(100000);
	pt_enable(fd);
	compare_time(&r, fd);
}

/* While the task is away no time passes, also for events that do not find a counter after it. */
static void time_while_starved(int cpu)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_ring r[24];
	int fd[24], i;

	attr.exclude_kernel = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	close(pt_open_hw(&attr, -1));
	for (i = 0; i < 24; i++) {
		fd[i] = pt_open(&attr, 0, cpu, -1, 0);
		pt_map(&r[i], fd[i], 0);
	}
	take(&r[0]);
	if (!snapshot.cap_user_time)
		pt_skip("the clock of this machine cannot be read by user space");
	usleep(20000);
	for (i = 0; i < 24; i++)
		compare_time(&r[i], fd[i]);
}

static void user_time_while_starved(void)
{
	time_while_starved(-1);
}

/* The same of a task on the CPU where it runs. */
static void user_time_while_starved_here(void)
{
	pt_pin(0);
	time_while_starved(0);
}

/* Nor before an event is enabled that has to wait from then on. */
static void user_time_of_who_waits_at_once(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_ring r[24];
	int fd[24], i;

	pt_first_on_cpu(0);	/* a switch would write the page */
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	for (i = 0; i < 24; i++) {
		fd[i] = pt_open_hw(&attr, -1);
		pt_map(&r[i], fd[i], 0);
	}
	take(&r[0]);
	if (!snapshot.cap_user_time)
		pt_skip("the clock of this machine cannot be read by user space");
	pt_burn(1000000);
	for (i = 0; i < 24; i++) {
		pt_enable(fd[i]);
		compare_time(&r[i], fd[i]);
	}
}

/* Nor does it for an event that was throttled before, and has to wait for the tick after it. */
static void user_time_while_throttled(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	struct pt_ring r;
	int fd, i;

	ext_need();
	pt_pin(0);
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	/* A switch does not let it go on: the CPU has had all samples of the tick. */
	pt_sysctl_set("perf_ext_samples_per_tick", 2);
	attr.exclude_kernel = 1;
	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 8);
	take(&r);
	if (!snapshot.cap_user_time)
		pt_skip("the clock of this machine cannot be read by user space");
	for (i = 0; i < 20; i++) {
		while (!pt_count_records(&r, PERF_RECORD_THROTTLE))
			pt_spin(5000);
		pt_switch_out();
		compare_time(&r, fd);
	}
}

/* time_zero: from the machine's clock to the time in samples */
static void time_zero(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 before, after, slack = 2000;
	static struct pt_record rec;
	u8 *p = pt_fresh_pages(20);
	struct pt_sample s;
	struct pt_ring r;
	int fd, i;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TIME;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 4);
	take(&r);
	if (!snapshot.cap_user_time_zero)
		pt_skip("the clock of this machine cannot be read by user space");
	pt_enable(fd);
	for (i = 0; i < 20; i++) {
		take(&r);
		before = snapshot.time_zero + scale(counter_then());
		pt_touch(p + i * pt_page_size(), 1);
		take(&r);
		after = snapshot.time_zero + scale(counter_then());
		pt_need(pt_next(&r, &rec), "no sample");
		pt_parse_sample(&attr, &rec, &s);
		pt_check(s.time + slack >= before && s.time <= after + slack,
			 "sample at %llu, computed %llu to %llu", (unsigned long long)s.time,
			 (unsigned long long)before, (unsigned long long)after);
	}
}

/* A clock that may wrap is told from where the kernel has read it, at some time since the boot. */
static void clock_that_may_wrap(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct pt_ring r;
	s64 then;

	open_and_map(&attr, &r);
	take(&r);
	if (!snapshot.cap_user_time_short)
		pt_skip("the clock has 64 bits, or cannot be read by user space");
	then = (s64)(snapshot.time_zero + scale(snapshot.time_cycles));
	pt_check(then >= 0, "its time then is %lld", (long long)then);
	pt_check(snapshot.time_cycles <= snapshot_cycles, "%llu cycles then, %llu now",
		 (unsigned long long)snapshot.time_cycles, (unsigned long long)snapshot_cycles);
}

/* The same for clocks that sample, which are put on their CPU as a counter is. */
static void user_time_of_clocks(void)
{
	static const u64 config[] = { PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK };
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(config); i++) {
		struct perf_event_attr attr = pt_attr(PERF_TYPE_SOFTWARE, config[i]);
		struct pt_ring r;
		int fd;

		attr.sample_period = 10000000000ull;	/* none comes */
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
		fd = open_and_map(&attr, &r);
		take(&r);
		if (!snapshot.cap_user_time)
			pt_skip("the clock of this machine cannot be read by user space");
		usleep(20000);
		compare_time(&r, fd);
		pt_unmap(&r);
		close(fd);
	}
}

/* A cgroup is away while its task sleeps, and the page says when it came back. */
static void user_time_of_a_cgroup(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct pt_ring r;
	const char *a;
	int fd;

	if (pt_is_stock())
		pt_skip("Linux 6.12 does not keep the page of such an event up to date");
	a = cg_make("");
	pt_pin(0);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	fd = cg_open(&attr, a, 0, -1);
	pt_map(&r, fd, 0);
	take(&r);
	cg_enter(a);
	usleep(20000);
	if (snapshot.cap_user_time)
		compare_time(&r, fd);
	cg_remove_all();
	if (!snapshot.cap_user_time)
		pt_skip("the clock of this machine cannot be read by user space");
}

/*
 * Without an index the reader takes the time running as it is, and where that is not the time
 * enabled, each overflow brings it up to date. @first: the event is older than those that it has
 * to wait for, as old as its context.
 */
static void wait_and_run(bool first)
{
	const u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	struct perf_event_attr other = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_read before;
	struct pt_ring r;
	int others[24], fd = -1, i;

	attr.exclude_kernel = 1;
	attr.sample_period = 100003;
	attr.read_format = f;
	if (first)
		fd = pt_open_hw(&attr, -1);
	other.exclude_kernel = 1;
	for (i = 0; i < 24; i++)
		others[i] = pt_open_hw(&other, -1);
	if (!first)
		fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 1);
	pt_spin(5000000);
	for (i = 0; i < 24; i++)
		close(others[i]);
	pt_switch_out();
	pt_read(fd, f, 1, &before);
	pt_check(before.running < before.enabled, "it has not waited");
	for (i = 0; i < 10; i++) {
		pt_drain(&r);
		pt_read(fd, f, 1, &before);
		pt_spin(1000000);
		take(&r);
		if (snapshot.index)
			pt_skip("user space reads the counter, and lets the time go on itself");
		pt_check(snapshot.time_running >= before.running, "page %llu, %llu before",
			 (unsigned long long)snapshot.time_running,
			 (unsigned long long)before.running);
		pt_check(pt_count_records(&r, PERF_RECORD_SAMPLE), "no overflow");
	}
}

static void running_after_having_waited(void)
{
	wait_and_run(false);
}

static void running_of_the_first(void)
{
	wait_and_run(true);
}

static const struct pt_case cases[] = {
	{ "times_agree_with_read", times_agree_with_read },
	{ "times_of_one_that_is_off", times_of_one_that_is_off },
	{ "user_time", user_time },
	{ "user_time_while_starved", user_time_while_starved },
	{ "user_time_while_starved_here", user_time_while_starved_here },
	{ "user_time_of_who_waits_at_once", user_time_of_who_waits_at_once },
	{ "user_time_while_throttled", user_time_while_throttled },
	{ "user_time_of_clocks", user_time_of_clocks },
	{ "user_time_of_a_cgroup", user_time_of_a_cgroup },
	{ "time_zero", time_zero },
	{ "clock_that_may_wrap", clock_that_may_wrap },
	{ "running_after_having_waited", running_after_having_waited },
	{ "running_of_the_first", running_of_the_first },
};

PT_MAIN(cases)
