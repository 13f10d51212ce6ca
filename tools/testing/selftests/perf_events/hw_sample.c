// SPDX-License-Identifier: GPL-2.0
/*
 * hw_sample.c - sampling by a hardware counter. The event is CPU cycles.
 *
 * On an emulator that counts instructions nothing may be lost or doubled:
 * there are exactly count / period samples. Skipped without a PMU.
 *
 * needs: hw pmu-irq
 */
#include "lib/ptest.h"

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr cycles(u64 period)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_PERIOD | PERF_SAMPLE_ID;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

static void need_exact(void)
{
	struct perf_event_attr attr = cycles(0);

	close(pt_open_hw(&attr, -1));
	if (!pt_time_is_exact())
		pt_skip("this machine does not count instructions exactly");
}

static void samples_are_count_over_period(void)
{
	static const u64 period[] = { 10007, 50021, 100003, 999983 };
	unsigned int i;

	need_exact();
	for (i = 0; i < PT_ARRAY_SIZE(period); i++) {
		struct perf_event_attr attr = cycles(period[i]);
		unsigned int n = 0, inside = 0, other = 0;
		int fd;

		fd = pt_open_hw(&attr, -1);
		pt_map(&ring, fd, 64);
		pt_enable(fd);
		pt_spin(i ? 6000000 : 1000000);
		pt_disable(fd);
		while (pt_next(&ring, &rec)) {
			if (rec.h.type != PERF_RECORD_SAMPLE) {
				pt_msg("record of type %u", rec.h.type);
				other++;
				continue;
			}
			pt_parse_sample(&attr, &rec, &s);
			pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
			pt_eq(s.period, period[i]);
			pt_eq(s.id, pt_id(fd));
			inside += pt_in_spin(s.ip);
			n++;
		}
		pt_eq(other, 0);
		pt_eq(n, pt_count(fd) / period[i]);
		/* All but the ends of the measured stretch is the loop. */
		pt_check(inside + 2 >= n, "%u of %u samples in the loop", inside, n);
		pt_unmap(&ring);
		close(fd);
	}
}

/* The distances in time are the period, plus what the kernel took in between. */
static void equal_distances(void)
{
	struct perf_event_attr attr = cycles(200000);
	u64 last = 0;
	int fd, n = 0;

	need_exact();
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	pt_spin(4000000);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		if (last)
			pt_check(s.time - last >= 195000 && s.time - last < 400000,
				 "%llu ns between two samples",
				 (unsigned long long)(s.time - last));
		last = s.time;
		n++;
	}
	pt_check(n >= 39, "%d samples", n);
}

static void across_switches(void)
{
	struct perf_event_attr attr = cycles(100003);
	struct pt_peer peer;
	int fd, i, n = 0;

	need_exact();
	pt_pin(0);
	pt_peer_start(&peer);
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	/* What is left of a period survives being switched out. */
	for (i = 0; i < 100; i++) {
		pt_spin(30000);
		pt_peer_turn(&peer);
	}
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.tid, pt_tid());
		n++;
	}
	pt_eq(n, pt_count(fd) / 100003);
	pt_peer_stop(&peer);
}

static void disabled_and_enabled(void)
{
	struct perf_event_attr attr = cycles(100003);
	int fd, i;

	need_exact();
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	for (i = 0; i < 200; i++) {
		pt_enable(fd);
		pt_spin(10000);
		pt_disable(fd);
	}
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), pt_count(fd) / 100003);
}

static void two_periods_at_once(void)
{
	struct perf_event_attr a = cycles(70001), b = cycles(110017);
	struct pt_ring other;
	int fd, fe;

	need_exact();
	fd = pt_open_hw(&a, -1);
	fe = pt_open_hw(&b, -1);
	pt_map(&ring, fd, 64);
	pt_map(&other, fe, 64);
	pt_enable(fd);
	pt_enable(fe);
	pt_spin(3000000);
	pt_disable(fd);
	pt_disable(fe);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), pt_count(fd) / 70001);
	pt_eq(pt_count_records(&other, PERF_RECORD_SAMPLE), pt_count(fe) / 110017);
}

static void group_values_in_samples(void)
{
	struct perf_event_attr attr = cycles(200003);
	struct perf_event_attr ins = pt_attr(PT_HW(INSTRUCTIONS));
	struct perf_event_attr sw = pt_attr(PT_SW(PAGE_FAULTS));
	u64 last[3] = { 0 };
	int fd, n = 0, i;

	need_exact();
	attr.sample_type |= PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	ins.exclude_kernel = 1;
	fd = pt_open_hw(&attr, -1);
	pt_open_hw(&ins, fd);
	pt_open(&sw, 0, -1, fd, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	pt_spin(4000000);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.read.nr, 3);
		pt_eq(s.read.running, s.read.enabled);
		for (i = 0; i < 3; i++) {
			pt_check(s.read.v[i].value >= last[i], "value %d went back", i);
			last[i] = s.read.v[i].value;
		}
		n++;
		/* The leader has just passed a multiple of its period. */
		pt_check(s.read.v[0].value >= (u64)n * 200003 &&
			 s.read.v[0].value < (u64)n * 200003 + 1000,
			 "sample %d at %llu cycles", n, (unsigned long long)s.read.v[0].value);
	}
	pt_check(n >= 39, "%d samples", n);
}

static void period_changed_on_the_way(void)
{
	struct perf_event_attr attr = cycles(1000000000);
	u64 period = 50021;
	int fd, n;

	need_exact();
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	pt_spin(500000);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
	pt_reset(fd);
	pt_spin(1000000);
	pt_disable(fd);
	n = (int)pt_count_records(&ring, PERF_RECORD_SAMPLE);
	pt_check(n >= 39 && n <= 40, "%d samples of 2000000 cycles with period 50021", n);
}

static void refresh_stops_in_time(void)
{
	struct perf_event_attr attr = cycles(100003);
	int fd, i;

	need_exact();
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	for (i = 1; i <= 5; i++) {
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 2), 0);
		pt_spin(1000000);
		pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 2);
		pt_check(pt_count(fd) >= (u64)i * 200006 && pt_count(fd) < (u64)i * 200006 + 5000,
			 "stopped at %llu", (unsigned long long)pt_count(fd));
	}
}

static void cpu_wide(void)
{
	struct perf_event_attr attr = cycles(200003);
	unsigned int mine = 0, others = 0;
	pid_t pid;
	int fd;

	need_exact();
	close(pt_open_hw(&attr, -1));
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	pt_in_child(pid)
		pt_spin(3000000);
	pt_reap(pid);
	pt_spin(3000000);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		mine += s.pid == (u32)getpid();
		others += s.pid == (u32)pid;
	}
	pt_check(mine >= 29 && mine <= 33, "%u samples of mine", mine);
	pt_check(others >= 29 && others <= 33, "%u samples of the child", others);
	pt_eq(mine + others, pt_count(fd) / 200003);
}

static void kernel_samples(void)
{
	struct perf_event_attr attr = cycles(20011);
	unsigned int n = 0, kernel = 0;
	static char page[4096];
	int fd, zero, i;

	need_exact();
	zero = open("/dev/zero", O_RDONLY);
	pt_check(zero >= 0, "/dev/zero: %s", strerror(errno));
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	/* Calls that spend most of their time with interrupts on, whatever the phase. */
	for (i = 0; i < 2000; i++)
		pt_eq(read(zero, page, sizeof(page)), sizeof(page));
	pt_disable(fd);
	close(zero);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		/* Where interrupts are off, the sample is late; then it is user space's. */
		if (s.ip >> 63) {
			pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
			kernel++;
		} else {
			pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
		}
		n++;
	}
	/* The last one may have been due where interrupts are off and DISABLE came first. */
	pt_check(n <= pt_count(fd) / 20011 && n + 1 >= pt_count(fd) / 20011,
		 "%u samples of %llu cycles", n, (unsigned long long)pt_count(fd));
	pt_check(kernel * 2 > n, "%u of %u samples in the kernel", kernel, n);
}

static void by_frequency(void)
{
	struct perf_event_attr attr = cycles(0);
	u64 periods = 0, first;
	unsigned int n;
	int fd;

	need_exact();
	attr.freq = 1;
	attr.sample_freq = 4000;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	/* Let it find the rate, then count. */
	pt_spin(20000000);
	pt_drain(&ring);
	first = pt_count(fd);
	pt_spin(50000000);
	pt_disable(fd);
	first = pt_count(fd) - first;
	for (n = 0; pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE); n++) {
		pt_parse_sample(&attr, &rec, &s);
		periods += s.period;
	}
	/* 100 ms of user time at 4 kHz; the controller hunts a little. */
	pt_check(n > 300 && n < 520, "%u samples instead of 400", n);
	/* The periods told add up to what was counted. */
	pt_check(periods > first / 10 * 8 && periods < first / 10 * 12, "periods %llu, count %llu",
		 (unsigned long long)periods, (unsigned long long)first);
}

/* A child goes on with the period that was found for its parent. */
static void by_frequency_in_a_child(void)
{
	struct perf_event_attr attr = cycles(0), apart = pt_attr(PT_SW(DUMMY));
	pid_t pid;
	int fd;

	need_exact();
	attr.freq = 1;
	attr.sample_freq = 4000;
	attr.inherit = 1;
	pt_pin(0);
	/* What is not inherited keeps the two tasks from changing places. */
	pt_open(&apart, 0, -1, -1, 0);
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	pt_spin(20000000);
	pt_drain(&ring);
	pt_in_child(pid)
		pt_spin(5000000);
	pt_reap(pid);
	pt_disable(fd);
	do
		pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample of the child");
	while (pt_parse_sample(&attr, &rec, &s), s.pid != (u32)pid);
	pt_check(s.period > 10000, "the child begins with a period of %llu",
		 (unsigned long long)s.period);
}

static const struct pt_case cases[] = {
	{ "samples_are_count_over_period", samples_are_count_over_period },
	{ "equal_distances", equal_distances },
	{ "across_switches", across_switches },
	{ "disabled_and_enabled", disabled_and_enabled },
	{ "two_periods_at_once", two_periods_at_once },
	{ "group_values_in_samples", group_values_in_samples },
	{ "period_changed_on_the_way", period_changed_on_the_way },
	{ "refresh_stops_in_time", refresh_stops_in_time },
	{ "cpu_wide", cpu_wide },
	{ "kernel_samples", kernel_samples },
	{ "by_frequency", by_frequency },
	{ "by_frequency_in_a_child", by_frequency_in_a_child },
};

PT_MAIN(cases)
