// SPDX-License-Identifier: GPL-2.0
/*
 * throttle.c - limits of sampling: perf_event_max_sample_rate and its
 * relatives, throttled events and the records they leave, and the frequency
 * mode's hunt for a period.
 *
 * needs: pmu-irq skid
 */
#include "lib/ext.h"

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static int write_sysctl(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	return pt_write_file(path, text);
}

static void max_sample_rate(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int fd;

	pt_sysctl_set("perf_event_max_sample_rate", 500);
	pt_eq(pt_sysctl_get("perf_event_max_sample_rate"), 500);
	attr.freq = 1;
	attr.sample_freq = 500;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = pt_open(&attr, 0, -1, -1, 0);
	attr.sample_freq = 501;
	pt_eq(pt_probe(&attr), -EINVAL);
	{
		u64 freq = 501;

		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&freq), -EINVAL);
		freq = 499;
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&freq), 0);
	}
	pt_eq(write_sysctl("perf_event_max_sample_rate", "0\n"), -EINVAL);
	pt_eq(write_sysctl("perf_event_max_sample_rate", "-5\n"), -EINVAL);
	pt_eq(pt_sysctl_get("perf_event_max_sample_rate"), 500);
}

static void cpu_time_max_percent(void)
{
	pt_sysctl_set("perf_cpu_time_max_percent", 30);
	pt_eq(pt_sysctl_get("perf_cpu_time_max_percent"), 30);
	pt_eq(write_sysctl("perf_cpu_time_max_percent", "101\n"), -EINVAL);
	pt_eq(write_sysctl("perf_cpu_time_max_percent", "-1\n"), -EINVAL);
	pt_eq(write_sysctl("perf_cpu_time_max_percent", "2147483648\n"), -EINVAL);
	pt_eq(pt_sysctl_get("perf_cpu_time_max_percent"), 30);
	/* 100 and 0 turn the watching off; the rate cannot be set then. */
	pt_sysctl_set("perf_event_max_sample_rate", 100000);
	pt_sysctl_set("perf_cpu_time_max_percent", 100);
	pt_eq(write_sysctl("perf_event_max_sample_rate", "50000\n"), -EINVAL);
	pt_eq(pt_sysctl_get("perf_event_max_sample_rate"), 100000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	pt_eq(write_sysctl("perf_event_max_sample_rate", "50000\n"), -EINVAL);
	pt_eq(pt_sysctl_get("perf_event_max_sample_rate"), 100000);
	pt_eq(write_sysctl("perf_cpu_time_max_percent", "25\n"), 0);
}

static void max_stack_while_in_use(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	long long max = pt_sysctl_get("perf_event_max_stack");
	char text[32];
	int fd;

	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	attr.sample_period = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	snprintf(text, sizeof(text), "%lld\n", max - 1);
	pt_eq(write_sysctl("perf_event_max_stack", text), -EBUSY);
	pt_eq(pt_sysctl_get("perf_event_max_stack"), max);
	close(fd);
	pt_sysctl_set("perf_event_max_stack", max - 1);
}

static u64 tick_ns(void)
{
	struct timespec ts;

	pt_need(!clock_getres(CLOCK_MONOTONIC_COARSE, &ts), "clock_getres");
	return (u64)ts.tv_nsec;
}

/*
 * A clock that wants a sample each 10 us against a limit of so many per
 * tick: it must stop, say so, come back with a tick, and say that.
 */
static void clock_is_throttled(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	unsigned int samples = 0, off = 0, on = 0, limit;
	u64 ticks;
	int fd;

	/* One per tick, and that one is one too many. */
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	limit = 1;
	attr.sample_period = 10000;
	attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_TID;
	attr.sample_id_all = 1;
	attr.disabled = 1;
	pt_pin(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	ticks = pt_clock(CLOCK_MONOTONIC);
	pt_enable(fd);
	pt_burn(60000000);
	pt_disable(fd);
	ticks = (pt_clock(CLOCK_MONOTONIC) - ticks) / tick_ns() + 2;
	while (pt_next(&ring, &rec)) {
		struct pt_rec_throttle t;
		size_t body;

		if (rec.h.type == PERF_RECORD_SAMPLE) {
			samples++;
			continue;
		}
		memcpy(&t, rec.body, sizeof(t));
		pt_parse_trailer(&attr, &rec, &s, &body);
		pt_eq(body, sizeof(t));
		pt_eq(t.id, pt_id(fd));
		pt_eq(t.stream_id, pt_id(fd));
		pt_eq(s.tid, pt_tid());
		pt_check(t.time <= s.time, "throttled after it was written");
		off += rec.h.type == PERF_RECORD_THROTTLE;
		on += rec.h.type == PERF_RECORD_UNTHROTTLE;
	}
	pt_check(off > 0, "%u samples and never throttled", samples);
	pt_check(on > 0, "never came back");
	pt_check(off - on <= 1, "%u times off, %u times on", off, on);
	pt_check(samples <= ticks * (limit + 1), "%u samples in %llu ticks with a limit of %u",
		 samples, (unsigned long long)ticks, limit);
}

/* What a sampling event went through: how often throttled, how often let go on, its samples. */
struct course {
	unsigned int off, on, samples, after;
};

/* Read what there is. Off and on take turns; the sample that was one too many is the last one. */
static void follow(const struct perf_event_attr *attr, struct course *c)
{
	while (pt_next(&ring, &rec)) {
		if (rec.h.type == PERF_RECORD_THROTTLE) {
			pt_eq(++c->off, c->on + 1);
			c->after = 0;
		} else if (rec.h.type == PERF_RECORD_UNTHROTTLE) {
			pt_eq(++c->on, c->off);
			pt_eq(c->after, 1);
		} else {
			pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
			pt_parse_sample(attr, &rec, &s);
			c->samples++;
			c->after += c->off > c->on;
		}
	}
	pt_consume(&ring);
}

static void until_throttled(const struct perf_event_attr *attr, struct course *c)
{
	unsigned int before = c->off;

	do {
		pt_burn(50000);
		follow(attr, c);
	} while (c->off == before);
}

/* No tick says of an event that is off that it may go on, nor makes it count. */
static void stays_off(int fd, const struct perf_event_attr *attr, struct course *c)
{
	struct course then;
	u64 count;

	follow(attr, c);
	then = *c;
	count = pt_count(fd);
	pt_burn(3 * tick_ns());
	follow(attr, c);
	pt_eq(c->on, then.on);
	pt_eq(c->samples, then.samples);
	pt_eq(pt_count(fd), count);
}

/* Throttled and then disabled, switched out, given another period, closed: no trace remains. */
static void throttled_then_gone(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	unsigned int caught = 0;
	int i;

	pt_pin(0);
	/* Each sample is one too many, also where timers have the resolution of ticks. */
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	attr.sample_period = 10000;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 1;
	for (i = 0; i < 20; i++) {
		int fd = pt_open(&attr, 0, -1, -1, 0);
		struct course c = {};
		u64 period = 20000;

		pt_map(&ring, fd, 16);
		pt_enable(fd);
		until_throttled(&attr, &c);
		if (i % 4 == 0) {
			pt_disable(fd);
			stays_off(fd, &attr, &c);
			caught += c.off > c.on;
			pt_enable(fd);
		} else if (i % 4 == 1) {
			pt_switch_out();
		} else if (i % 4 == 2) {
			pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
		}
		if (i % 4 < 3)
			until_throttled(&attr, &c);
		pt_unmap(&ring);
		close(fd);
	}
	/* Elsewhere the tick that ends it may come first, each time. */
	if (pt_time_is_exact())
		pt_check(caught > 0, "never disabled while throttled");
}

#define MODULE	"test_count"

static void hit(unsigned int n)
{
	pt_eq(pt_module_set(MODULE, "hit", n), 0);
}

/*
 * A member of a group that was throttled is not on its counter any more when the tick lets it go
 * on: the driver, which complains of a start without a counter, is not asked to.
 */
static void throttled_member_is_off(void)
{
	struct perf_event_attr attr, lead;
	unsigned int caught = 0;
	u64 hits = 0, seen = 0;
	int leader, fd, i;

	pt_load_module(MODULE, NULL);
	pt_pin(0);
	/* Each sample is one too many. */
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	lead = pt_attr((u32)pt_pmu_type(MODULE), 0);
	attr = lead;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	leader = pt_open(&lead, 0, -1, -1, 0);
	fd = pt_open(&attr, 0, -1, leader, 0);
	pt_map(&ring, fd, 16);
	for (i = 0; i < 20; i++) {
		struct course c = {};
		int which = i % 2 ? leader : fd;

		hit(1);
		pt_disable(which);
		seen++;
		hits++;
		stays_off(fd, &attr, &c);
		pt_eq(c.off, 1);
		pt_eq(c.samples, 1);
		caught += c.off > c.on;
		/* Off: the member, or both of them */
		hit(3);
		hits += i % 2 ? 0 : 3;
		pt_eq(pt_count(fd), seen);
		pt_eq(pt_count(leader), hits);
		pt_enable(which);
		follow(&attr, &c);
		pt_eq(c.on, 1);
		pt_eq(c.samples, 1);
	}
	pt_check(caught > 0, "never disabled while throttled");
	hit(1);
	close(fd);
	hit(1);
	pt_eq(pt_count(leader), hits + 2);
}

static void period_unthrottles(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	u64 period = 1000000;
	unsigned int n = 0;
	int fd;

	pt_sysctl_set("perf_event_max_sample_rate", 300);
	attr.sample_period = 10000;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 16);
	pt_enable(fd);
	pt_burn(10000000);
	pt_sysctl_set("perf_event_max_sample_rate", 100000);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
	pt_drain(&ring);
	/* However busy the host is. */
	while (n < 4) {
		pt_burn(1000000);
		n += pt_count_records(&ring, PERF_RECORD_SAMPLE);
	}
}

static void add_periods(const struct perf_event_attr *attr, u64 *periods, unsigned int *n)
{
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(attr, &rec, &s);
		*periods += s.period;
		++*n;
	}
}

/*
 * Software events of frequency mode adapt: neither all of them nor none.  The samples stand for
 * what was counted, but for the period under way; Linux 6.12 says the next one's length.
 */
static void frequency_of_a_software_event(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 start, ns, counted, period, periods = 0;
	unsigned int n = 0;
	u8 *p = pt_fresh_pages(64);
	int fd;

	attr.freq = 1;
	attr.sample_freq = 500;
	attr.sample_type = PERF_SAMPLE_PERIOD;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	start = pt_clock(CLOCK_MONOTONIC);
	do {
		pt_touch(p, 64);
		pt_need(!madvise(p, 64 * (size_t)pt_page_size(), MADV_DONTNEED), "madvise");
		if (pt_head(&ring) - ring.tail > ring.size / 2)
			add_periods(&attr, &periods, &n);
		ns = pt_clock(CLOCK_MONOTONIC) - start;
	} while (ns < 200000000);
	pt_disable(fd);
	counted = pt_count(fd);
	add_periods(&attr, &periods, &n);
	/* It begins with a period of 1 and learns; how well is not asked here. */
	pt_check(n >= 2, "%u samples of %llu faults", n, (unsigned long long)counted);
	pt_check(n <= counted / 4, "%u samples of %llu faults: no adaption", n,
		 (unsigned long long)counted);
	pt_check(s.period > 1, "the period is still %llu", (unsigned long long)s.period);
	if (pt_is_stock())
		pt_skip("Linux 6.12 tells the length of the period that begins");
	/* What a period that was given up has counted is in no sample. */
	pt_check(periods <= counted, "samples stand for %llu of %llu faults",
		 (unsigned long long)periods, (unsigned long long)counted);
	if (pt_time_is_exact())
		pt_check(counted - periods < 2 * s.period, "samples stand for %llu of %llu faults",
			 (unsigned long long)periods, (unsigned long long)counted);
	/* With IOC_PERIOD the next hit is due, and no period of before is told. */
	period = attr.sample_freq;
	pt_enable(fd);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
	pt_drain(&ring);
	pt_fault(1);
	pt_disable(fd);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(&attr, &rec, &s);
	pt_eq(s.period, 1);
}

/*
 * When hits become few the tick makes the period shorter, and the one that has begun is given up.
 * Linux 6.12 waits for its end.
 */
static void frequency_when_hits_become_few(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u8 *many = pt_fresh_pages(64), *few = pt_fresh_pages(200);
	unsigned int i, n;
	u64 end;
	int fd;

	if (pt_is_stock())
		pt_skip("Linux 6.12 waits for the end of a period that is far too long");
	attr.freq = 1;
	attr.sample_freq = 1000000000 / tick_ns();	/* each hit of the quiet time, in the end */
	attr.sample_type = PERF_SAMPLE_PERIOD;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	end = pt_clock(CLOCK_MONOTONIC) + 200000000;
	while (pt_clock(CLOCK_MONOTONIC) < end) {
		pt_touch(many, 64);
		pt_need(!madvise(many, 64 * (size_t)pt_page_size(), MADV_DONTNEED), "madvise");
	}
	pt_drain(&ring);
	for (i = 0; i < 200; i++) {
		few[i * (size_t)pt_page_size()] = 1;
		pt_burn(10000000);	/* ticks */
	}
	pt_disable(fd);
	n = pt_count_records(&ring, PERF_RECORD_SAMPLE);
	pt_check(n >= 10, "%u samples of 200 hits", n);
}

/*
 * The same for a counter. Some samples of very many hits at once make the period very long; then
 * each tick sees one hit, and makes it shorter.
 */
static void frequency_of_a_counter(void)
{
	struct perf_event_attr attr;
	int i;

	pt_load_module(MODULE, NULL);
	pt_pin(0);
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	attr = pt_attr((u32)pt_pmu_type(MODULE), 0);
	attr.freq = 1;
	attr.sample_freq = 1000;
	attr.sample_type = PERF_SAMPLE_PERIOD;
	pt_map(&ring, pt_open(&attr, 0, -1, -1, 0), 64);
	pt_eq(pt_module_set(MODULE, "hit", 1ll << 40), 0);
	pt_drain(&ring);
	for (i = 0; i < 100; i++) {
		hit(1);
		pt_burn(tick_ns());
	}
	pt_check(pt_count_records(&ring, PERF_RECORD_SAMPLE), "no sample of %d hits", i);
}

/* Two that were throttled are closed while their task sleeps: no tick looks at them any more. */
static void throttled_asleep_then_gone(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	int go[2], done[2], fd[2], i, k;
	pid_t pid;

	pt_sysctl_set("perf_event_max_sample_rate", 100);
	attr.sample_period = 10000;
	pt_gate_make(go);
	pt_gate_make(done);
	pt_in_child(pid) {
		for (;;) {
			pt_gate_wait(go);
			pt_burn(3 * tick_ns());		/* a tick looks at the list */
			pt_gate_open(done);
		}
	}
	for (i = 0; i < 20; i++) {
		for (k = 0; k < 2; k++)
			fd[k] = pt_open(&attr, pid, -1, -1, 0);
		pt_gate_open(go);
		pt_gate_wait(done);
		for (k = 0; k < 2; k++)
			pt_eq(close(fd[k]), 0);
		usleep(50000);		/* RCU frees both: KASAN would find them on a list */
	}
	pt_kill(pid);
}

/* Many interrupts of a counter. */
static void interrupt_often(int fd)
{
	pt_enable(fd);
	pt_spin(2500000);
	pt_disable(fd);
}

/* One throttled by the last of so many samples that a rate leaves to a tick, and not before. */
static void throttled_at(long long rate)
{
	struct perf_event_attr attr = pt_attr((u32)pt_pmu_type(MODULE), 0);
	struct course c = {};
	unsigned int nr = (unsigned int)(rate * (long long)tick_ns() / 1000000000);

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	pt_map(&ring, pt_open(&attr, 0, -1, -1, 0), 64);
	hit(nr);
	pt_disable(ring.fd);
	follow(&attr, &c);
	pt_eq(c.samples, nr);
	pt_eq(c.off, 1);
	pt_eq(c.after, 1);
}

/* They do so, too, while somebody counts them. */
static void long_interrupts_are_counted(int fd, long long rate)
{
	struct perf_event_attr attr = ext_event("perf_cost", "pmis");
	int pmis = pt_open(&attr, 0, -1, -1, 0);

	pt_sysctl_set("perf_event_max_sample_rate", rate);
	interrupt_often(fd);
	pt_check(pt_count(pmis) > 0, "no interrupts");
	pt_check(pt_sysctl_get("perf_event_max_sample_rate") < rate, "the rate stays");
	close(pmis);
}

/* Each time that somebody raises it: no share of before is tolerated. */
static void raised_again(int fd, long long rate)
{
	int i;

	for (i = 0; i < 10; i++) {
		pt_sysctl_set("perf_event_max_sample_rate", rate);
		interrupt_often(fd);
		pt_check(pt_sysctl_get("perf_event_max_sample_rate") < rate,
			 "time %d: the rate stays", i);
	}
}

/* Interrupts that take more than their share lower the rate: the share that was written last. */
static void long_interrupts(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	const long long rate = 100000;
	int fd;

	pt_pin(0);
	pt_load_module(MODULE, NULL);
	attr.exclude_kernel = 1;
	attr.sample_period = 20011;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 1;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_sysctl_set("perf_event_max_sample_rate", rate);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	interrupt_often(fd);
	pt_eq(pt_sysctl_get("perf_event_max_sample_rate"), rate);
	/* A hundredth of 10 us. */
	pt_sysctl_set("perf_cpu_time_max_percent", 1);
	interrupt_often(fd);
	pt_check(pt_sysctl_get("perf_event_max_sample_rate") < rate, "the rate stays");
	if (pt_path_exists("/sys/bus/event_source/devices/perf_cost"))
		long_interrupts_are_counted(fd, rate);
	raised_again(fd, rate);
	pt_unmap(&ring);
	close(fd);
	throttled_at(pt_sysctl_get("perf_event_max_sample_rate"));
}

/*
 * The same for what is let go by its next hit. In frequency mode it begins with a period of 1, and
 * IOC_PERIOD makes the next fault two samples, of which the second is one too many.
 */
static void lets_software_go(bool by_period)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	unsigned int throttled = 0;
	u64 freq = 100;
	int i;

	pt_pin(0);
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	attr.freq = 1;
	attr.sample_freq = freq;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 1;
	for (i = 0; i < 20; i++) {
		int fd = pt_open(&attr, 0, -1, -1, 0), k;
		u8 *p = pt_fresh_pages(2);
		struct course c = {};

		pt_map(&ring, fd, 1);
		pt_enable(fd);
		for (k = 0; k < 2; k++) {
			if (k && !by_period) {
				pt_disable(fd);
				pt_enable(fd);
			} else {
				pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, pt_addr(&freq)), 0);
			}
			pt_touch(p + k * pt_page_size(), 1);
		}
		pt_disable(fd);
		follow(&attr, &c);
		throttled += c.off;
		pt_check(!c.off || c.on, "it is not let go");
		pt_check(!c.off || c.samples >= 3, "%u samples", c.samples);
		pt_unmap(&ring);
		close(fd);
	}
	/* Perhaps not in each turn: a tick may come after each fault where the host is busy. */
	pt_check(throttled, "never throttled");
}

static void period_unthrottles_software(void)
{
	lets_software_go(true);
}

/* So it is where it is enabled anew, and its first fault is a sample. */
static void enable_unthrottles_software(void)
{
	lets_software_go(false);
}

/*
 * Nor does one that is throttled make samples where it is scheduled with its group. The first fault
 * after IOC_PERIOD is two samples, as above.
 */
static void throttled_in_a_group(void)
{
	struct perf_event_attr lead, attr = pt_attr(PT_SW(PAGE_FAULTS));
	size_t part = 3 * (size_t)pt_page_size();
	unsigned int throttled = 0;
	u64 freq = 100;
	int leader, i;

	pt_pin(0);
	pt_load_module(MODULE, NULL);
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	lead = pt_attr((u32)pt_pmu_type(MODULE), 0);
	leader = pt_open(&lead, 0, -1, -1, 0);
	attr.freq = 1;
	attr.sample_freq = freq;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 1;
	for (i = 0; i < 20; i++) {
		int fd = pt_open(&attr, 0, -1, leader, 0), k;
		u8 *p = pt_fresh_pages(6);
		struct course c = {};

		pt_map(&ring, fd, 1);
		pt_enable(fd);
		for (k = 0; k < 2; k++) {
			pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&freq), 0);
			pt_touch(p + k * part, 3);
		}
		pt_disable(fd);
		follow(&attr, &c);
		throttled += c.off;
		pt_check(c.off == c.on || c.after == 1, "%u samples since it was throttled",
			 c.after);
		pt_unmap(&ring);
		close(fd);
	}
	/* Perhaps not in each turn: a tick may come after each fault where the host is busy. */
	pt_check(throttled, "never throttled");
}

static const struct pt_case cases[] = {
	{ "max_sample_rate", max_sample_rate },
	{ "cpu_time_max_percent", cpu_time_max_percent },
	{ "long_interrupts", long_interrupts },
	{ "max_stack_while_in_use", max_stack_while_in_use },
	{ "clock_is_throttled", clock_is_throttled },
	{ "throttled_then_gone", throttled_then_gone },
	{ "throttled_member_is_off", throttled_member_is_off },
	{ "period_unthrottles", period_unthrottles },
	{ "period_unthrottles_software", period_unthrottles_software },
	{ "enable_unthrottles_software", enable_unthrottles_software },
	{ "throttled_in_a_group", throttled_in_a_group },
	{ "frequency_of_a_software_event", frequency_of_a_software_event },
	{ "frequency_when_hits_become_few", frequency_when_hits_become_few },
	{ "frequency_of_a_counter", frequency_of_a_counter },
	{ "throttled_asleep_then_gone", throttled_asleep_then_gone },
};

PT_MAIN(cases)
