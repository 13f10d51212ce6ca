// SPDX-License-Identifier: GPL-2.0
/*
 * clock.c - sampling by cpu-clock and task-clock: a timer per event.
 *
 * How many samples there must be depends on how punctual the machine's
 * timers are. Under an emulator that counts instructions the numbers are
 * narrow; elsewhere an upper bound always holds, the lower one is generous.
 */
#include "lib/ptest.h"

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr clock_event(u64 config, u64 period)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_SOFTWARE, config);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_PERIOD | PERF_SAMPLE_CPU;
	attr.disabled = 1;
	return attr;
}

/*
 * The loop to be sampled. Where timers are late it goes on until there are
 * some samples, but not for ever.
 */
static void spin_for_samples(u64 turns, unsigned int wanted)
{
	u64 end = pt_clock(CLOCK_MONOTONIC) + 3000000000ull;

	pt_spin(turns);
	while (pt_head(&ring) < wanted * 48ull && pt_clock(CLOCK_MONOTONIC) < end)
		pt_spin(turns / 20);
}

/* at most one per period, and not far below */
static void check_number(unsigned int n, u64 ns, u64 period)
{
	u64 most = ns / period;

	pt_check(n <= most + 1, "%u samples in %llu ns with period %llu", n,
		 (unsigned long long)ns, (unsigned long long)period);
	if (pt_time_is_exact())
		pt_check(n + 1 + most / 50 >= most, "%u samples in %llu ns with period %llu", n,
			 (unsigned long long)ns, (unsigned long long)period);
	else
		pt_check(n >= 10, "%u samples in %llu ns with period %llu", n,
			 (unsigned long long)ns, (unsigned long long)period);
}

static void sample_a_loop(u64 config)
{
	struct perf_event_attr attr = clock_event(config, 1000000);
	unsigned int n = 0, inside = 0;
	u64 before, after, last = 0;
	int fd;

	pt_pin(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	before = pt_clock(CLOCK_MONOTONIC);
	pt_enable(fd);
	spin_for_samples(30000000, 10);
	pt_disable(fd);
	after = pt_clock(CLOCK_MONOTONIC);
	while (pt_next(&ring, &rec)) {
		pt_need(rec.h.type == PERF_RECORD_SAMPLE, "record of type %u", rec.h.type);
		pt_parse_sample(&attr, &rec, &s);
		n++;
		inside += pt_in_spin(s.ip);
		pt_eq(s.pid, getpid());
		pt_eq(s.cpu, 0);
		pt_eq(s.period, 1000000);
		if (pt_in_spin(s.ip))
			pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
		pt_check(s.time > last, "time %llu after %llu", (unsigned long long)s.time,
			 (unsigned long long)last);
		last = s.time;
	}
	check_number(n, after - before, 1000000);
	/* Where else would it be? Only another interrupt may be in between. */
	pt_check(inside * 10 >= n * 8, "%u of %u samples in the loop", inside, n);
	pt_check(pt_count(fd) <= after - before + 1000000, "counted %llu of %llu ns",
		 (unsigned long long)pt_count(fd), (unsigned long long)(after - before));
}

static void cpu_clock_of_a_loop(void)
{
	sample_a_loop(PERF_COUNT_SW_CPU_CLOCK);
}

static void task_clock_of_a_loop(void)
{
	sample_a_loop(PERF_COUNT_SW_TASK_CLOCK);
}

static void intervals(void)
{
	struct perf_event_attr attr = clock_event(PERF_COUNT_SW_CPU_CLOCK, 500000);
	u64 last = 0;
	unsigned int n = 0;
	int fd;

	if (!pt_time_is_exact())
		pt_skip("timers are as late as they like here");
	pt_pin(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	pt_enable(fd);
	pt_spin(10000000);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		if (last)
			pt_check(s.time - last > 450000 && s.time - last < 550000,
				 "%llu ns between two samples",
				 (unsigned long long)(s.time - last));
		last = s.time;
		n++;
	}
	pt_check(n >= 38, "%u samples", n);
}

static void by_frequency(void)
{
	struct perf_event_attr attr = clock_event(PERF_COUNT_SW_CPU_CLOCK, 0);
	unsigned int n = 0;
	u64 before, after;
	int fd;

	attr.freq = 1;
	attr.sample_freq = 2000;
	pt_pin(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	before = pt_clock(CLOCK_MONOTONIC);
	pt_enable(fd);
	spin_for_samples(20000000, 10);
	pt_disable(fd);
	after = pt_clock(CLOCK_MONOTONIC);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		/* A timer's rate is fixed: the period is known from the start. */
		pt_eq(s.period, 500000);
		n++;
	}
	check_number(n, after - before, 500000);
}

/* The first sample comes when a whole period is over, and says how long that was. */
static void first_is(const struct perf_event_attr *attr, u64 period)
{
	spin_for_samples(1000000, 1);
	pt_disable(ring.fd);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(attr, &rec, &s);
	pt_eq(s.period, period);
	pt_check(s.read.v[0].value >= period / 10 * 9, "a sample after %llu ns",
		 (unsigned long long)s.read.v[0].value);
}

static void first_period(void)
{
	struct perf_event_attr attr = clock_event(PERF_COUNT_SW_CPU_CLOCK, 0);
	u64 period = 300000;

	attr.freq = 1;
	attr.sample_freq = 2000;
	attr.sample_type |= PERF_SAMPLE_READ;
	pt_map(&ring, pt_open(&attr, 0, -1, -1, 0), 16);
	pt_enable(ring.fd);
	first_is(&attr, 500000);
	if (pt_is_stock())
		pt_skip("Linux 6.12 goes on to tell the period that the clock was opened with");
	attr = clock_event(PERF_COUNT_SW_CPU_CLOCK, 100000);
	attr.sample_type |= PERF_SAMPLE_READ;
	pt_unmap(&ring);
	pt_map(&ring, pt_open(&attr, 0, -1, -1, 0), 16);
	pt_eq(pt_ioctl(ring.fd, PERF_EVENT_IOC_PERIOD, pt_addr(&period)), 0);
	pt_enable(ring.fd);
	first_is(&attr, period);
}

/* A period below what a timer can do must not lock up the machine */
static void tiny_period(void)
{
	static const u64 period[] = { 1, 10, 9999 };
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(period); i++) {
		struct perf_event_attr attr = clock_event(PERF_COUNT_SW_CPU_CLOCK, period[i]);
		u64 before, after;
		unsigned int n;
		int fd;

		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_map(&ring, fd, 64);
		before = pt_clock(CLOCK_MONOTONIC);
		pt_enable(fd);
		pt_spin(1000000);
		pt_disable(fd);
		after = pt_clock(CLOCK_MONOTONIC);
		n = pt_count_records(&ring, PERF_RECORD_SAMPLE);
		pt_check(n <= (after - before) / 10000 + 2, "%u samples in %llu ns", n,
			 (unsigned long long)(after - before));
		close(fd);
		pt_unmap(&ring);
	}
}

static void not_while_asleep(void)
{
	struct perf_event_attr attr = clock_event(PERF_COUNT_SW_TASK_CLOCK, 1000000);
	u64 start = pt_clock(CLOCK_MONOTONIC);
	unsigned int n;
	int fd, i;

	pt_pin(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	pt_enable(fd);
	for (i = 0; i < 20; i++)
		usleep(2000);
	pt_disable(fd);
	n = pt_count_records(&ring, PERF_RECORD_SAMPLE);
	pt_check(n <= pt_count(fd) / 1000000 + 1, "%u samples of %llu ns of CPU time", n,
		 (unsigned long long)pt_count(fd));
	pt_check(pt_count(fd) < pt_clock(CLOCK_MONOTONIC) - start, "the clock ran in the sleep");
}

static void exclusions(void)
{
	struct perf_event_attr attr = clock_event(PERF_COUNT_SW_CPU_CLOCK, 500000);
	unsigned int kernel = 0;
	int fd;

	pt_pin(0);
	attr.exclude_kernel = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	pt_enable(fd);
	pt_spin(10000000);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		kernel += rec.h.misc != PERF_RECORD_MISC_USER || s.ip >> 63;
	}
	pt_eq(kernel, 0);
	close(fd);
	pt_unmap(&ring);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	pt_enable(fd);
	pt_spin(10000000);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_check(rec.h.misc == PERF_RECORD_MISC_KERNEL && s.ip >> 63, "user sample");
	}
}

/* On an idle CPU the clock of the CPU samples the idle task, unless told not to. */
static void idle_cpu(void)
{
	struct perf_event_attr attr = clock_event(PERF_COUNT_SW_CPU_CLOCK, 1000000);
	unsigned int idle = 0;
	int fd, cpu = pt_online_cpus() - 1;

	pt_pin(cpu);
	fd = pt_open(&attr, -1, cpu, -1, 0);
	pt_map(&ring, fd, 16);
	pt_enable(fd);
	usleep(pt_time_is_exact() ? 20000 : 200000);	/* the host may stand still */
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		idle += !s.pid;
	}
	pt_check(idle >= (pt_time_is_exact() ? 15 : 1), "%u samples of the idle task", idle);
	close(fd);
	pt_unmap(&ring);
	attr.exclude_idle = 1;
	idle = 0;
	fd = pt_open(&attr, -1, cpu, -1, 0);
	pt_map(&ring, fd, 16);
	pt_enable(fd);
	usleep(20000);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		idle += !s.pid;
	}
	pt_eq(idle, 0);
}

static void leads_a_group(void)
{
	struct perf_event_attr attr = clock_event(PERF_COUNT_SW_CPU_CLOCK, 1000000);
	struct perf_event_attr sib = pt_attr(PT_SW(PAGE_FAULTS));
	u8 *p = pt_fresh_pages(10);
	u64 last = 0, head;
	int fd, i;

	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	pt_pin(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_open(&sib, 0, -1, fd, 0);
	pt_map(&ring, fd, 16);
	pt_enable(fd);
	for (i = 0; i < 10; i++) {
		pt_touch(p + i * pt_page_size(), 1);
		pt_spin(2000000);
	}
	/* one more sample that has seen all of them */
	head = pt_head(&ring);
	for (i = 0; i < 1000 && pt_head(&ring) == head; i++)
		pt_spin(2000000);
	pt_disable(fd);
	for (i = 0; pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE); i++) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.read.nr, 2);
		pt_check(s.read.v[1].value >= last && s.read.v[1].value <= 10,
			 "sibling %llu after %llu", (unsigned long long)s.read.v[1].value,
			 (unsigned long long)last);
		last = s.read.v[1].value;
	}
	pt_check(i >= 1 && last == 10, "%d samples, the last with %llu faults", i,
		 (unsigned long long)last);
}

static void two_tasks(void)
{
	struct perf_event_attr attr = clock_event(PERF_COUNT_SW_TASK_CLOCK, 1000000);
	u64 each = pt_time_is_exact() ? 15000000 : 100000000;
	unsigned int mine = 0, others = 0;
	pid_t pid;
	int fd;

	attr.inherit = 1;
	pt_pin(0);
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&ring, fd, 16);
	pt_enable(fd);
	pt_in_child(pid)
		pt_burn(each);
	pt_burn(each);
	pt_reap(pid);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		mine += s.pid == (u32)getpid();
		others += s.pid == (u32)pid;
	}
	pt_check(mine >= 3 && others >= 3, "%u samples of mine, %u of the child", mine, others);
	/* A task is switched in a little before its events are. */
	pt_check(pt_count(fd) >= each / 50 * 98, "task-clock %llu",
		 (unsigned long long)pt_count(fd));
}

static void refresh(void)
{
	struct perf_event_attr attr = clock_event(PERF_COUNT_SW_CPU_CLOCK, 500000);
	int fd, i;

	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	for (i = 1; i <= 3; i++) {
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), 0);
		spin_for_samples(1000000, 3 * (unsigned int)i);
		/* No fourth one, however long it takes. */
		pt_burn(10000000);
		pt_eq(pt_head(&ring), 3 * i * 48);
	}
}

/* A period goes on where DISABLE has cut it off. */
static void period_in_pieces(void)
{
	struct perf_event_attr attr = clock_event(PERF_COUNT_SW_TASK_CLOCK, 2000000);
	int i;

	if (!pt_time_is_exact())
		pt_skip("timers are as late as they like here");
	pt_pin(0);
	pt_map(&ring, pt_open(&attr, 0, -1, -1, 0), 16);
	for (i = 0; i < 40; i++) {
		pt_enable(ring.fd);
		pt_burn(500000);
		pt_disable(ring.fd);
	}
	check_number(pt_count_records(&ring, PERF_RECORD_SAMPLE), pt_count(ring.fd), 2000000);
}

/* One that samples and one that only counts: time in which they are off is none of theirs. */
static void only_while_enabled(void)
{
	static const u64 period[] = { 0, 10000000000ull };
	struct perf_event_attr dummy = pt_attr(PT_SW(DUMMY));
	unsigned int i, turn;

	pt_first_on_cpu(0);
	/* For others time goes on. */
	pt_open(&dummy, 0, -1, -1, 0);
	for (i = 0; i < PT_ARRAY_SIZE(period); i++) {
		struct perf_event_attr attr = clock_event(PERF_COUNT_SW_TASK_CLOCK, period[i]);
		int fd = pt_open(&attr, 0, -1, -1, 0);
		u64 most = 0;

		for (turn = 0; turn < 3; turn++) {
			pt_burn(20000000);
			most -= pt_clock(CLOCK_MONOTONIC);
			pt_enable(fd);
			pt_burn(1000000);
			pt_disable(fd);
			most += pt_clock(CLOCK_MONOTONIC);
			pt_check(pt_count(fd) <= most, "%llu ns in %llu",
				 (unsigned long long)pt_count(fd), (unsigned long long)most);
		}
	}
}

/* Once it is off its timer does not expire any more. */
static void no_timer_while_off(void)
{
	u64 handler = pt_kernel_symbol(pt_is_stock() ? "perf_swevent_hrtimer" :
				       "pe_clock_pmu_fires");
	struct perf_event_attr attr = clock_event(PERF_COUNT_SW_CPU_CLOCK, 2000000), timer;
	int fd, expired;
	char filter[64];
	u64 before;

	if (!handler)
		pt_skip("no symbol of the timer's function");
	pt_pin(0);
	timer = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("timer", "hrtimer_expire_entry"));
	expired = pt_open(&timer, -1, 0, -1, 0);
	snprintf(filter, sizeof(filter), "function == %#llx", (unsigned long long)handler);
	pt_eq(pt_ioctl(expired, PERF_EVENT_IOC_SET_FILTER, pt_addr(filter)), 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	do
		pt_burn(5000000);
	while (!pt_count(expired));
	pt_disable(fd);
	before = pt_count(expired);
	pt_burn(5000000);
	pt_eq(pt_count(expired), before);
}

static const struct pt_case cases[] = {
	{ "cpu_clock_of_a_loop", cpu_clock_of_a_loop },
	{ "task_clock_of_a_loop", task_clock_of_a_loop },
	{ "intervals", intervals },
	{ "by_frequency", by_frequency },
	{ "first_period", first_period },
	{ "tiny_period", tiny_period },
	{ "not_while_asleep", not_while_asleep },
	{ "exclusions", exclusions },
	{ "idle_cpu", idle_cpu },
	{ "leads_a_group", leads_a_group },
	{ "two_tasks", two_tasks },
	{ "refresh", refresh },
	{ "period_in_pieces", period_in_pieces },
	{ "only_while_enabled", only_while_enabled },
	{ "no_timer_while_off", no_timer_while_off },
};

PT_MAIN(cases)
