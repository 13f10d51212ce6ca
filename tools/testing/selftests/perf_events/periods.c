// SPDX-License-Identifier: GPL-2.0
/*
 * periods.c - periods that follow a rule: what is refused, and each single period of software
 * events and clocks, of copies too. The counters of CPUs: counter_periods.c.
 */
#include "lib/ext.h"

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr faults(u64 period)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	attr.disabled = 1;
	return attr;
}

static struct perf_ext_info info_of(struct perf_event_attr *attr)
{
	struct perf_ext_info info = {};
	int fd = pt_open(attr, 0, -1, -1, 0);

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	close(fd);
	return info;
}

static void info(void)
{
	struct perf_event_attr attr = faults(1000);
	struct perf_ext_info got;
	char text[64];

	ext_need();
	pt_need(pt_slurp("/sys/bus/event_source/extensions", text, sizeof(text)), "no text");
	pt_check(strstr(text, "periods"), "extensions: %s", text);
	got = info_of(&attr);
	pt_eq(got.features & PERF_EXT_PERIODS, PERF_EXT_PERIODS);
	pt_eq(got.here & PERF_EXT_PERIODS, PERF_EXT_PERIODS);
	pt_eq(got.least_period, 2);
	attr.sample_type |= PERF_SAMPLE_PERIOD;	/* each fault is a sample */
	got = info_of(&attr);
	pt_eq(got.features & PERF_EXT_PERIODS, PERF_EXT_PERIODS);
	pt_eq(got.here & PERF_EXT_PERIODS, 0);
	pt_eq(got.least_period, 0);
	attr = faults(0);
	pt_eq(info_of(&attr).here, PERF_EXT_SETS);	/* it does not sample */
	attr = pt_attr(PT_SW(CPU_CLOCK));
	attr.sample_period = 1000000;
	pt_eq(info_of(&attr).least_period, 10000);
}

/* Numbers say how long the struct of the caller is. */
static void sizes(void)
{
	struct perf_event_attr attr = faults(1000);
	struct {
		struct perf_ext_periods p;
		u64 more;
	} longer = { .p = { .short_period = 100, .seed = 7 } };
	int fd = pt_open(&attr, 0, -1, -1, 0);
	struct perf_ext_periods got;

	ext_need();
	pt_eq(pt_ioctl(fd, _IOWR('$', 0x81, longer), pt_addr(&longer)), 0);
	longer.more = 1;
	pt_eq(pt_ioctl(fd, _IOWR('$', 0x81, longer), pt_addr(&longer)), -E2BIG);
	longer.p.short_period = 200;
	longer.p.long_period = 12345;	/* not read */
	pt_eq(pt_ioctl(fd, _IOWR('$', 0x81, u64), pt_addr(&longer)), 0);
	memset(&got, 0, sizeof(got));
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&got)), 0);
	pt_eq(got.short_period, 200);
	pt_eq(got.long_period, 200);
	pt_check(got.seed && got.seed < 0x7fffffff, "seed %u", got.seed);
	pt_eq(pt_ioctl(fd, _IOWR('$', 0xff, u64), pt_addr(&got)), -ENOTTY);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_PERIODS, 1), -EFAULT);
}

static int asked(struct perf_event_attr *attr, struct perf_ext_periods p)
{
	int fd = pt_open(attr, 0, -1, -1, 0), ret = ext_periods(fd, &p);

	close(fd);
	return ret;
}

static int told(struct perf_event_attr *attr, struct perf_ext_periods p)
{
	int fd = pt_open(attr, 0, -1, -1, 0);
	int ret = (int)pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p));

	close(fd);
	return ret;
}

static void refused(void)
{
	struct perf_ext_periods longest = { .short_period = INT64_MAX };
	struct perf_event_attr attr = faults(1000);

	ext_need();
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 2 }), 0);
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 1 }), -EINVAL);
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 9, .long_period = 1 }),
	      -EINVAL);
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 9, .initial_period = 1 }),
	      -EINVAL);
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 1ull << 63 }), -EINVAL);
	pt_eq(asked(&attr, longest), 0);
	longest.mask = 1;
	pt_eq(asked(&attr, longest), -EINVAL);
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 9, .mask = 1u << 31 }),
	      -EINVAL);
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 9, .seed = 0x7fffffff }),
	      -EINVAL);
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 9, .flags = 1 }), -EINVAL);
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 9, .set = 1 }), -EINVAL);
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 9, .member = 1 }), -EINVAL);
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 9, .pad = 1 }), -EINVAL);
	pt_eq(told(&attr, (struct perf_ext_periods){ .short_period = 1, .ended = 1 }), 0);
	pt_eq(told(&attr, (struct perf_ext_periods){ .flags = 1 }), -EINVAL);
	pt_eq(told(&attr, (struct perf_ext_periods){ .set = 1 }), -EINVAL);
	pt_eq(told(&attr, (struct perf_ext_periods){ .member = 1 }), -EINVAL);
	pt_eq(told(&attr, (struct perf_ext_periods){ .pad = 1 }), -EINVAL);
	attr.sample_type |= PERF_SAMPLE_PERIOD;
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 9 }), -EOPNOTSUPP);
	attr = faults(0);
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 9 }), -EINVAL);
	attr.freq = 1;
	attr.sample_freq = 100;
	pt_eq(asked(&attr, (struct perf_ext_periods){ .short_period = 9 }), -EINVAL);
}

/* Each sample shows how often its thread has faulted, so the sum of its periods. */
static unsigned int check_sums(const struct perf_event_attr *attr, struct ext_model *m, pid_t tid)
{
	unsigned int n = 0;

	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(attr, &rec, &s);
		if ((pid_t)s.tid != tid)
			continue;
		n++;
		ext_model_next(m);
		pt_eq(s.read.v[0].value, m->sum);
	}
	return n;
}

static const struct perf_ext_periods rule = {
	.short_period = 3, .long_period = 10, .initial_period = 5, .long_every = 2, .mask = 3,
	.seed = 1,
};

/* So many of them in @total faults. */
static u64 expected(const struct perf_ext_periods *p, u64 total)
{
	struct ext_model m;
	u64 n = 0;

	ext_model_start(&m, p);
	for (;;) {
		ext_model_next(&m);
		if (m.sum > total)
			return n;
		n++;
	}
}

static void page_faults(void)
{
	struct perf_event_attr attr = faults(1000);
	struct perf_ext_periods p = rule, got = {};
	int fd = pt_open(&attr, 0, -1, -1, 0);
	struct ext_model m;

	ext_need();
	pt_eq(ext_periods(fd, &p), 0);
	pt_map(&ring, fd, 16);
	pt_settle();
	pt_enable(fd);
	pt_fault(500);
	pt_disable(fd);
	pt_eq(pt_count(fd), 500);
	ext_model_start(&m, &rule);
	pt_eq(check_sums(&attr, &m, pt_tid()), expected(&rule, 500));
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&got)), 0);
	pt_eq(got.ended, expected(&rule, 500));
	pt_eq(got.long_period, 10);
	pt_eq(got.initial_period, 5);
	pt_eq(got.long_every, 2);
	pt_eq(got.mask, 3);
	pt_eq(got.seed, 1);
}

/* 10 and the lowest three bits of 1, 16807, 282475249, ...: the hits that 200 have samples of. */
static const struct perf_ext_periods ten = { .short_period = 10, .mask = 7, .seed = 1 };
static const u64 sampled[] = {
	11, 28, 39, 50, 62, 74, 84, 94, 110, 123, 138, 148, 163, 177, 189,
};

/* Told by the addresses of the pages, which are touched in order. */
static void pages_in_order(void)
{
	struct perf_event_attr attr = faults(1000);
	struct perf_ext_periods p = ten;
	unsigned int n = 0;
	u8 *pages;
	int fd;

	ext_need();
	attr.sample_type = PERF_SAMPLE_ADDR;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(ext_periods(fd, &p), 0);
	pt_map(&ring, fd, 16);
	pt_settle();
	pages = pt_fresh_pages(200);
	pt_enable(fd);
	pt_touch(pages, 200);
	pt_disable(fd);
	pt_eq(pt_count(fd), 200);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_need(n < PT_ARRAY_SIZE(sampled), "one sample too many");
		pt_eq((s.addr - pt_addr(pages)) / pt_page_size(), sampled[n++] - 1);
	}
	pt_eq(n, PT_ARRAY_SIZE(sampled));
}

/* The same of an event that is hit 200 times by hit(). */
static void hits_of(struct perf_event_attr attr, void (*hit)(void))
{
	struct perf_ext_periods p = ten;
	unsigned int n = 0, i;
	int fd;

	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_READ;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(ext_periods(fd, &p), 0);
	pt_map(&ring, fd, 16);
	pt_enable(fd);
	for (i = 0; i < 200; i++)
		hit();
	pt_disable(fd);
	pt_eq(pt_count(fd), 200);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_need(n < PT_ARRAY_SIZE(sampled), "one sample too many");
		pt_eq(s.read.v[0].value, sampled[n++]);
	}
	pt_eq(n, PT_ARRAY_SIZE(sampled));
}

static void call_once(void)
{
	syscall(SYS_getppid);
}

static void tracepoint_hits(void)
{
	struct perf_event_attr attr;

	ext_need();
	attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	hits_of(attr, call_once);
}

static volatile u64 watched;

static void write_once(void)
{
	watched = 1;
}

static void breakpoint_hits(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_BREAKPOINT, 0);

	ext_need();
	attr.bp_type = 2;	/* written to */
	attr.bp_addr = pt_addr((const void *)&watched);
	attr.bp_len = 8;
	attr.exclude_kernel = 1;
	if (pt_probe(&attr))
		pt_skip("no breakpoints");
	hits_of(attr, write_once);
}

/*
 * The old period is forgotten each time, and how many there were; RESET makes the sums those of the
 * new one.
 */
static void changed(void)
{
	struct perf_event_attr attr = faults(7);
	struct perf_ext_periods p = rule;
	int fd = pt_open(&attr, 0, -1, -1, 0);
	u64 period = 11, before = 0;
	struct ext_model m;

	ext_need();
	pt_map(&ring, fd, 16);
	pt_settle();
	pt_enable(fd);
	pt_fault(20);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 2);
	pt_reset(fd);
	pt_eq(ext_periods(fd, &p), 0);
	pt_fault(100);
	ext_model_start(&m, &rule);
	pt_eq(check_sums(&attr, &m, pt_tid()), expected(&rule, 100));

	p.short_period = 0;	/* as it was opened */
	pt_eq(ext_periods(fd, &p), 0);
	pt_fault(20);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 2);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	pt_eq(p.short_period, 0);

	p = rule;
	pt_eq(ext_periods(fd, &p), 0);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	pt_eq(p.ended, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, pt_addr(&period)), 0);
	pt_fault(100);
	/* The first ones are still those of a period that was drawn, as on Linux 6.12. */
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		period = s.read.v[0].value - before;
		before = s.read.v[0].value;
	}
	pt_eq(period, 11);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	pt_eq(p.short_period, 0);
}

static void fault_in_child(void *arg)
{
	(void)arg;
	pt_settle();
	pt_fault(200);
}

/* The first three copies, each with its own random numbers. */
static void copies(void)
{
	struct perf_event_attr attr = faults(1000);
	struct perf_ext_periods p = rule;
	static const u32 seeds[] = { 506952117, 1013904232, 1520856347 };	/* of rule.seed 1 */
	struct ext_model m;
	pid_t pid[3];
	u64 before;
	int fd, i;

	ext_need();
	attr.inherit = 1;
	pt_pin(0);
	fd = pt_open(&attr, 0, 0, -1, 0);	/* of one CPU, to be mapped */
	pt_map(&ring, fd, 64);
	pt_eq(ext_periods(fd, &p), 0);
	pt_enable(fd);
	for (i = 0; i < 3; i++) {
		pid[i] = pt_fork(fault_in_child, NULL);
		pt_reap(pid[i]);
	}
	before = ring.tail;
	for (i = 0; i < 3; i++) {
		p = rule;
		p.seed = seeds[i];
		pt_eq(ext_seed_of_copy(rule.seed, i + 1), p.seed);
		ext_model_start(&m, &p);
		ring.tail = before;
		pt_check(check_sums(&attr, &m, pid[i]) >= expected(&p, 200), "too few samples");
	}
}

static int to_child[2], from_child[2];

static void fault_when_told(void *arg)
{
	pt_settle();
	pt_gate_open(from_child);
	pt_gate_wait(to_child);
	fault_in_child(arg);
}

static void copy_that_runs(void)
{
	struct perf_event_attr attr = faults(100000);
	struct perf_ext_periods p = rule;
	struct ext_model m;
	u64 count, n = 0;
	pid_t pid;
	int fd;

	ext_need();
	pt_gate_make(to_child);
	pt_gate_make(from_child);
	attr.inherit = 1;
	pt_pin(0);
	fd = pt_open(&attr, 0, 0, -1, 0);	/* of one CPU, to be mapped */
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	pid = pt_fork(fault_when_told, NULL);
	pt_gate_wait(from_child);
	pt_eq(ext_periods(fd, &p), 0);
	pt_gate_open(to_child);
	pt_reap(pid);
	p.seed = ext_seed_of_copy(rule.seed, 1);
	ext_model_start(&m, &p);
	/* How often it has faulted before the call is not known: from there on. */
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		if ((pid_t)s.tid != pid)
			continue;
		ext_model_next(&m);
		if (!n++)
			count = s.read.v[0].value - m.sum;
		pt_eq(s.read.v[0].value - count, m.sum);
	}
	pt_check(n >= expected(&p, 200), "%llu samples", (unsigned long long)n);
}

/* No rule is what the event has already: its period begins. */
static void no_rule_first(void)
{
	struct perf_event_attr attr = faults(100);
	struct perf_ext_periods none = { .ended = 1 };
	int fd = pt_open(&attr, 0, -1, -1, 0);

	ext_need();
	pt_map(&ring, fd, 16);
	pt_settle();
	pt_enable(fd);
	pt_eq(ext_periods(fd, &none), 0);
	pt_eq(none.ended, 0);
	pt_eq(none.seed, 0);
	pt_fault(99);
	pt_check(!pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "a sample of less than 100 faults");
	pt_fault(1);
	pt_check(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample of 100 faults");
}

/* A hit that counts for an hour of nanoseconds ends so many periods, and no more. */
static void hit_of_much_weight(void)
{
	struct perf_event_attr attr;
	struct perf_ext_periods p = { .short_period = 2 }, got = {};
	struct timespec second = { .tv_sec = 1 };
	int fd;

	ext_need();
	attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("sched", "sched_stat_runtime"));
	attr.sample_period = 1000;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(ext_periods(fd, &p), 0);
	pt_enable(fd);
	pt_burn(20000000);
	nanosleep(&second, NULL);
	pt_disable(fd);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&got)), 0);
	pt_check(got.ended >= 1000 && got.ended < pt_count(fd) / 4,
		 "%llu periods of 2 in %llu ns", (unsigned long long)got.ended,
		 (unsigned long long)pt_count(fd));
}

/* Samples tell the length of the period that ended. */
static void clocks(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	struct perf_ext_periods p = {
		.short_period = 100000, .long_period = 400000, .long_every = 5, .mask = 0xffff,
		.seed = 12345,
	};
	struct ext_model m;
	u64 n = 0;
	int fd;

	ext_need();
	if (!pt_time_is_exact())
		pt_skip("timers may be late by more than a period here");
	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_PERIOD | PERF_SAMPLE_TIME;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	pt_eq(ext_periods(fd, &p), 0);
	pt_enable(fd);
	pt_spin(20000000);
	pt_disable(fd);
	ext_model_start(&m, &p);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		n++;
		pt_eq(s.period, ext_model_next(&m));
	}
	pt_check(m.sum <= pt_count(fd) && pt_count(fd) - m.sum < 600000, "%llu ns of %llu in %llu",
		 (unsigned long long)m.sum, (unsigned long long)pt_count(fd),
		 (unsigned long long)n);
}

/* A clock makes a period of its frequency when it is opened, and comes back to that. */
static void clock_of_a_frequency(void)
{
	struct perf_ext_periods p = { .short_period = 100000 }, none = {};
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	int fd;

	ext_need();
	attr.freq = 1;
	attr.sample_freq = 2000;
	attr.sample_type = PERF_SAMPLE_PERIOD;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	pt_eq(ext_periods(fd, &p), 0);
	pt_eq(ext_periods(fd, &none), 0);
	pt_enable(fd);
	while (!pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE))
		pt_burn(100000);
	pt_disable(fd);
	pt_parse_sample(&attr, &rec, &s);
	pt_eq(s.period, 500000);
}

/* Where a clock does not count its periods end as well: each is of another length. */
static void clock_of_user_space_in_the_kernel(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(TASK_CLOCK));
	struct perf_ext_periods p = { .short_period = 100000, .mask = 0xffff, .seed = 1 };
	struct perf_ext_periods got = {};
	int fd;

	ext_need();
	if (!pt_time_is_exact())
		pt_skip("timers may be late by more than a period here");
	attr.sample_period = 1000000;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(ext_periods(fd, &p), 0);
	pt_enable(fd);
	while (pt_count(fd) < 20000000)
		pt_fault(100);
	pt_disable(fd);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&got)), 0);
	/* Between the longest there is, with a timer that is 20 us late, and the shortest. */
	pt_check(got.ended >= pt_count(fd) / 185535 && got.ended <= pt_count(fd) / 100000,
		 "%llu periods in %llu ns", (unsigned long long)got.ended,
		 (unsigned long long)pt_count(fd));
}

static void jitter(void)
{
	struct perf_event_attr attr = faults(1000);
	struct perf_ext_periods p = {};
	int fd;

	ext_need();
	pt_sysctl_set("perf_ext_jitter_percent", 10);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	pt_eq(p.mask, 63);
	pt_eq(p.short_period, 1000 - 31);
	pt_eq(p.long_every, 0);
	pt_check(p.seed, "no seed");
	close(fd);
	attr.sample_period = 19;	/* a tenth is too little */
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	pt_eq(p.short_period, 0);
	close(fd);
	attr.freq = 1;			/* chooses its periods itself */
	attr.sample_freq = 100;	/* the rate may have been lowered */
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	pt_eq(p.short_period, 0);
	close(fd);
	pt_eq(pt_write_file("/proc/sys/kernel/perf_ext_jitter_percent", "51\n"), -EINVAL);
	pt_eq(pt_write_file("/proc/sys/kernel/perf_ext_jitter_percent", "-1\n"), -EINVAL);
}

static void fdinfo(void)
{
	struct perf_event_attr attr = faults(1000);
	struct perf_ext_periods p = rule;
	int fd = pt_open(&attr, 0, -1, -1, 0);
	char path[64], text[4096];

	ext_need();
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s", path);
	pt_check(!strstr(text, "periods:"), "periods without a rule");
	pt_eq(ext_periods(fd, &p), 0);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s", path);
	pt_check(strstr(text, "\nperiods:\t3 10 5 2\nrandom:\t0x3 1\nended:\t0"), "%s",
		 text);
}

static const struct pt_case cases[] = {
	{ "info", info },
	{ "sizes", sizes },
	{ "refused", refused },
	{ "page_faults", page_faults },
	{ "pages_in_order", pages_in_order },
	{ "tracepoint_hits", tracepoint_hits },
	{ "breakpoint_hits", breakpoint_hits },
	{ "changed", changed },
	{ "copies", copies },
	{ "copy_that_runs", copy_that_runs },
	{ "no_rule_first", no_rule_first },
	{ "hit_of_much_weight", hit_of_much_weight },
	{ "clocks", clocks },
	{ "clock_of_a_frequency", clock_of_a_frequency },
	{ "clock_of_user_space_in_the_kernel", clock_of_user_space_in_the_kernel },
	{ "jitter", jitter },
	{ "fdinfo", fdinfo },
};

PT_MAIN(cases)
