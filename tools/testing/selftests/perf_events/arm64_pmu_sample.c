// SPDX-License-Identifier: GPL-2.0
/*
 * arm64_pmu_sample.c - overflow of arm64's counters: as many samples as periods went by, as many
 * interrupts as samples, in user space, in the kernel and in idle; counters that run across 32
 * bits; a new period at once. Extensions: counter_*.c.
 *
 * All by the cycle counter: QEMU 7.2 does not always interrupt for the others.
 *
 * needs: pmuv3 pmu-irq
 */
#include "lib/arm64.h"

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static void user_space(u64 period, u64 turns, u64 config1)
{
	struct perf_event_attr attr = a64_cycles(period);
	unsigned int n = 0;
	u64 irqs;
	int fd;

	attr.config1 = config1;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	irqs = a64_pmu_interrupts();
	a64_measured_spin(fd, turns);
	pt_eq(a64_pmu_interrupts() - irqs, A64_SPIN_COST(turns) / period);
	pt_eq(pt_count(fd), A64_SPIN_COST(turns));
	while (pt_next(&ring, &rec)) {
		u64 at = ++n * period;

		pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.period, period);
		/* No cycle of user space went by between the overflow and the interrupt. */
		pt_eq(s.read.v[0].value, at);
		at = at < 2 * turns ? at % 2 : at - 2 * turns + 2;
		pt_eq(s.ip, pt_addr(a64_loop_start) + 4 * at);
	}
	pt_eq(n, A64_SPIN_COST(turns) / period);
	pt_unmap(&ring);
	close(fd);
}

static void in_user_space(void)
{
	static const struct {
		u64 period, turns;
	} run[] = {
		{ 1000, 500000 }, { 1009, 500000 }, { 10000, 500000 }, { 99991, 1000000 },
		{ 1000000, 5000000 }, { 10000000, 25000000 },
	};
	unsigned int i;

	a64_no_limits();
	for (i = 0; i < PT_ARRAY_SIZE(run); i++) {
		user_space(run[i].period, run[i].turns, 0);
		user_space(run[i].period, run[i].turns, A64_LONG);
	}
}

/*
 * An overflow that comes while interrupts are off is late; if the task is switched out before it
 * is taken, there is no sample of it.
 */
static void in_the_kernel(void)
{
	struct perf_event_attr attr = a64_cycles(50021), sw = pt_attr(PT_SW(CONTEXT_SWITCHES));
	static char buf[1 << 20];
	u64 irqs, count, switches, n = 0;
	int fd, fs, zero, i;

	a64_no_limits();
	zero = open("/dev/zero", O_RDONLY);
	pt_need(zero >= 0, "/dev/zero: %s", strerror(errno));
	pt_need(read(zero, buf, sizeof(buf)) == sizeof(buf), "/dev/zero is short");
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fs = pt_open(&sw, 0, -1, -1, 0);
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 256);
	irqs = a64_pmu_interrupts();
	pt_enable(fd);
	for (i = 0; i < 20; i++)
		pt_need(read(zero, buf, sizeof(buf)) == sizeof(buf), "/dev/zero is short");
	pt_disable(fd);
	irqs = a64_pmu_interrupts() - irqs;
	count = pt_count(fd);
	switches = pt_count(fs);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		n++;
		pt_check(s.read.v[0].value % 50021 < 5000, "sample at %llu",
			 (unsigned long long)s.read.v[0].value);
	}
	pt_check(n <= count / 50021 && n + switches >= count / 50021,
		 "%llu samples of %llu cycles with %llu switches", (unsigned long long)n,
		 (unsigned long long)count, (unsigned long long)switches);
	pt_check(irqs >= n && irqs <= n + switches, "%llu interrupts, %llu samples",
		 (unsigned long long)irqs, (unsigned long long)n);
}

/*
 * An overflow with interrupts off, right before its task is switched out: the interrupt comes when
 * the next task runs and all counters stand still. It is silenced, and nothing else is different.
 */
static void amid_switches(void)
{
	struct perf_event_attr attr = a64_cycles(4999);
	struct pt_peer peer;
	u64 irqs, count, n;
	int fd, i;

	a64_no_limits();
	pt_pin(0);
	pt_peer_start(&peer);
	attr.exclude_kernel = 0;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 256);
	irqs = a64_pmu_interrupts();
	pt_enable(fd);
	for (i = 0; i < 1000; i++)
		pt_peer_turn(&peer);
	pt_disable(fd);
	irqs = a64_pmu_interrupts() - irqs;
	count = pt_count(fd);
	n = pt_count_records(&ring, PERF_RECORD_SAMPLE);
	pt_check(n && n <= count / 4999 && n <= irqs, "%llu samples, %llu interrupts, %llu cycles",
		 (unsigned long long)n, (unsigned long long)irqs, (unsigned long long)count);
	pt_peer_stop(&peer);
}

/* Who may run after a record of a switch: its own task, or between the two halves the next one. */
static void follow_switch(const struct pt_record *r, u32 may_run[2])
{
	u32 next_prev, own;

	memcpy(&next_prev, r->body, sizeof(next_prev));
	memcpy(&own, r->body + 8, sizeof(own));		/* of the sample_id */
	may_run[0] = own;
	may_run[1] = r->h.misc & PERF_RECORD_MISC_SWITCH_OUT ? next_prev : own;
}

/*
 * An idle CPU: its cycles go by without an instruction. Threads of the kernel may have woken for a
 * moment when a sample comes, as the records of switches say.
 */
static void idle(u64 period, u64 seconds, u64 config1)
{
	struct perf_event_attr attr = a64_cycles(period);
	u32 self = (u32)getpid(), may_run[2] = { self, self };
	unsigned int n = 0;
	u64 count, before, after;
	int fd;

	attr.exclude_kernel = 0;
	attr.config1 = config1;
	attr.context_switch = 1;
	attr.sample_id_all = 1;
	pt_pin(0);
	fd = pt_open(&attr, -1, 0, -1, 0);
	if (period)
		pt_map(&ring, fd, 64);
	before = pt_clock(CLOCK_MONOTONIC_RAW);
	pt_enable(fd);
	usleep((useconds_t)(seconds * 1000000));
	pt_disable(fd);
	after = pt_clock(CLOCK_MONOTONIC_RAW) - before;
	count = pt_count(fd);
	if (period) {
		while (pt_next(&ring, &rec)) {
			if (rec.h.type == PERF_RECORD_SWITCH_CPU_WIDE)
				follow_switch(&rec, may_run);
			if (rec.h.type != PERF_RECORD_SAMPLE)
				continue;
			pt_parse_sample(&attr, &rec, &s);
			n++;
			pt_check(s.ip >> 63 && s.pid != self &&
				 (s.pid == may_run[0] || s.pid == may_run[1]),
				 "sample %u of task %u, and %u or %u runs", n, s.pid, may_run[0],
				 may_run[1]);
			pt_check(s.read.v[0].value - n * period < 10000, "sample %u at %llu", n,
				 (unsigned long long)s.read.v[0].value);
		}
		pt_eq(n, count / period);
		pt_unmap(&ring);
	}
	/* A cycle is a nanosecond; the counters stand still while an overflow is handled. */
	pt_check(count + 2000 * n >= seconds * 1000000000 && count <= after,
		 "%llu cycles in %llu ns", (unsigned long long)count, (unsigned long long)after);
	close(fd);
}

static void in_idle(void)
{
	a64_no_limits();
	idle(100000007, 1, 0);
	idle(100000007, 1, A64_LONG);
	idle(3000000019, 7, 0);
	idle(3000000019, 7, A64_LONG);
}

static void periods_beyond_32_bits(void)
{
	a64_no_limits();
	idle(4294967296, 9, 0);
	idle(4294967296, 9, A64_LONG);
}

static void counts_beyond_32_bits(void)
{
	a64_no_limits();
	idle(0, 5, 0);
	idle(0, 5, A64_LONG);
}

/*
 * A sampling event starts its counter a period below the end. A period whose lower half is small
 * and whose upper half is not puts it right below the point where 32 bits are full.
 */
static void carry_into_the_upper_half(void)
{
	static const u64 config[] = { A64_INSTRUCTIONS, A64_CYCLES };
	unsigned int i, j;

	a64_no_limits();
	if (!a64_wide_counters()) {
		pt_load_module("test_arm64", NULL);
		if (!(pt_module_get("test_arm64", "pmceid0") >> A64_CHAIN & 1))
			pt_skip("this CPU has no CHAIN event: two counters do not make 64 bits");
	}
	for (i = 0; i < PT_ARRAY_SIZE(config); i++) {
		for (j = 0; j < 3; j++) {
			struct perf_event_attr attr = a64_raw(config[i]), other = a64_cycles(0);
			int fd, fe;

			other.disabled = 0;
			fe = pt_open_hw(&other, -1);
			attr.config1 = A64_LONG;
			attr.sample_period = (1ull << 40) + 1000 * j;
			fd = pt_open_hw(&attr, -1);
			a64_after_tick();
			a64_measured_spin(fd, 100000);
			pt_eq(pt_count(fd), A64_SPIN_COST(100000));
			a64_after_tick();
			a64_measured_spin(fd, 100000);
			pt_eq(pt_count(fd), 2 * A64_SPIN_COST(100000));
			close(fd);
			close(fe);
		}
	}
}

/* The first sample comes a new period after the change, not after the old one. */
static void period_at_once(void)
{
	struct perf_event_attr attr = a64_cycles(1ull << 31);
	u64 period, count;
	int fd, i;

	a64_no_limits();
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	for (i = 0; i < 4; i++) {
		pt_spin(100000);
		period = 1ull << 31;
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
		pt_spin(100000);
		pt_drain(&ring);
		period = 50021 * (i + 1);
		count = pt_count(fd);
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
		pt_spin(150000);
		pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample in time");
		pt_parse_sample(&attr, &rec, &s);
		/* Some instructions of the C library are on the way. */
		pt_check(s.read.v[0].value - count >= period &&
			 s.read.v[0].value - count < period + 200, "period %llu: after %llu",
			 (unsigned long long)period,
			 (unsigned long long)(s.read.v[0].value - count));
		pt_eq(s.period, period);
	}
}

/* While it is off, too: it starts with the new one. */
static void period_while_disabled(void)
{
	struct perf_event_attr attr = a64_cycles(1ull << 31);
	u64 period = 70001;
	int fd;

	a64_no_limits();
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	a64_measured_spin(fd, 1000);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
	a64_measured_spin(fd, 500000);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(&attr, &rec, &s);
	pt_eq(s.read.v[0].value, A64_SPIN_COST(1000) + period);
	pt_eq(1 + pt_count_records(&ring, PERF_RECORD_SAMPLE), A64_SPIN_COST(500000) / period);
}

static const struct pt_case cases[] = {
	{ "in_user_space", in_user_space },
	{ "in_the_kernel", in_the_kernel },
	{ "amid_switches", amid_switches },
	{ "in_idle", in_idle },
	{ "periods_beyond_32_bits", periods_beyond_32_bits },
	{ "counts_beyond_32_bits", counts_beyond_32_bits },
	{ "carry_into_the_upper_half", carry_into_the_upper_half },
	{ "period_at_once", period_at_once },
	{ "period_while_disabled", period_while_disabled },
};

PT_MAIN(cases)
