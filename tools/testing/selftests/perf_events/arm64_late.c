// SPDX-License-Identifier: GPL-2.0
/*
 * arm64_late.c - interrupts of arm64's PMU that come a known number of instructions after the
 * overflow, and go as late, or never come: counts stay exact, samples are of who overflowed, and an
 * interrupt that finds nothing does nothing.
 *
 * The emulator is that of tools/testing/qemu-arm64-pmu. A counter of user space stands still in the
 * kernel, so how long a handler takes, or how often it is called, changes none of the numbers.
 *
 * needs: late-arm64
 */
#include "lib/arm64.h"

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

/* All that can count instructions; the general counter of cycles is the one that is left. */
static const struct kind {
	u64 config, config1;
	bool second;
} kinds[] = {
	{ A64_CYCLES, 0, false }, { A64_CYCLES, A64_LONG, false }, { A64_CYCLES, 0, true },
	{ A64_INSTRUCTIONS, 0, false },
};

static struct perf_event_attr sampling(u64 config, u64 period)
{
	struct perf_event_attr attr = a64_raw(config);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	return attr;
}

static struct perf_event_attr cycles(u64 period)
{
	return sampling(A64_CYCLES, period);
}

static int open_mapped(struct perf_event_attr *attr)
{
	int fd = pt_open_hw(attr, -1);

	pt_map(&ring, fd, 64);
	return fd;
}

static void close_mapped(int fd)
{
	pt_unmap(&ring);
	close(fd);
}

/* For the rest of the case; who counts cycles afterwards has a general counter. */
static void take_cycle_counter(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);

	attr.disabled = 0;
	pt_open_hw(&attr, -1);
}

static bool next_sample(const struct perf_event_attr *attr)
{
	if (!pt_next(&ring, &rec))
		return false;
	pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
	pt_parse_sample(attr, &rec, &s);
	return true;
}

/* The instruction behind the first n of a64_measured_spin(). */
static u64 spin_ip(u64 turns, u64 n)
{
	return pt_addr(a64_loop_start) + 4 * (n < 2 * turns ? n % 2 : n - 2 * turns + 2);
}

/* Ten samples, the first at a count of @at, the others @apart. */
static void ten_samples(struct perf_event_attr attr, u64 at, u64 apart)
{
	/* Some instructions of user space are left. */
	u64 turns = (at + 9 * apart + 100) / 2;
	int fd = open_mapped(&attr), n;

	a64_after_tick();
	a64_measured_spin(fd, turns);
	pt_eq(pt_count(fd), A64_SPIN_COST(turns));
	for (n = 0; n < 10 && next_sample(&attr); n++, at += apart) {
		pt_eq(s.tid, pt_tid());
		pt_eq(s.read.v[0].value, at);
		pt_eq(s.ip, spin_ip(turns, at));
	}
	pt_eq(n, 10);
	close_mapped(fd);
}

/*
 * Each shows where the interrupt came. A period that was over for less than its length when that
 * was seen is made up for by the next one. Else it is not, and the next one begins then.
 */
static void samples_are_late(void)
{
	u64 delay = a64_need_late();
	const u64 periods[] = { 97, delay - 1, delay, delay + 1, 2 * delay, 4 * delay + 1, 65537 };
	unsigned int i, j;

	for (i = 0; i < PT_ARRAY_SIZE(kinds); i++) {
		if (kinds[i].second)
			take_cycle_counter();
		for (j = 0; j < PT_ARRAY_SIZE(periods) && !pt_failures(); j++) {
			struct perf_event_attr attr = sampling(kinds[i].config, periods[j]);

			attr.config1 = kinds[i].config1;
			ten_samples(attr, periods[j] + delay,
				    periods[j] > delay ? periods[j] : periods[j] + delay);
		}
	}
}

static void none_of(struct perf_event_attr *attr, u64 turns)
{
	int fd = open_mapped(attr);

	a64_measured_spin(fd, turns);
	pt_eq(pt_count(fd), A64_SPIN_COST(turns));
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	close_mapped(fd);
}

/* A line that is up for at most the delay calls a handler of more than 100 instructions. */
static void no_storm(u64 interrupts, u64 delay)
{
	pt_check(interrupts <= 1 + delay / 100, "%llu interrupts", (unsigned long long)interrupts);
}

/*
 * The overflow is in user space, the interrupt anywhere on the way to the stop, or after it. Who
 * has the counter then does not hear of it.
 */
static void stopped_before(void)
{
	const u64 turns = 30000;
	struct perf_event_attr next = cycles(1ull << 30);
	u64 delay = a64_need_late(), ahead, vain = 0;

	for (ahead = 1; ahead < delay + 50 && !pt_failures(); ahead += delay / 77) {
		struct perf_event_attr attr = cycles(A64_SPIN_COST(turns) - ahead);
		u64 before = a64_pmu_interrupts();
		int fd = open_mapped(&attr), n = 0;

		a64_after_tick();
		a64_measured_spin(fd, turns);
		pt_eq(pt_count(fd), A64_SPIN_COST(turns));
		while (next_sample(&attr)) {
			pt_eq(s.tid, pt_tid());
			pt_eq(s.read.v[0].value, A64_SPIN_COST(turns) - (ahead > delay ?
									   ahead - delay : 0));
			n++;
		}
		pt_check(n <= 1, "%d samples", n);
		if (ahead > delay)
			pt_eq(n, 1);
		close_mapped(fd);
		none_of(&next, delay);
		before = a64_pmu_interrupts() - before;
		no_storm(before, delay);
		vain += n ? 0 : before;
	}
	pt_check(vain > 0, "no interrupt came after its event had stopped");
}

/* The event is gone when its interrupt comes, and the counter another one's. */
static void closed_before(void)
{
	struct perf_event_attr next = cycles(1ull << 30);
	u64 delay = a64_need_late(), period, before, vain = 0;

	for (period = 50; period < delay; period += delay / 19) {
		struct perf_event_attr attr = cycles(period);
		int fd;

		before = a64_pmu_interrupts();
		attr.disabled = 0;
		a64_after_tick();
		fd = pt_open_hw(&attr, -1);
		pt_spin(period / 2);
		close(fd);
		none_of(&next, delay);
		before = a64_pmu_interrupts() - before;
		no_storm(before, delay);
		vain += before;
	}
	pt_check(vain > 0, "no interrupt came after its event was closed");
}

/* The same with a switch to another task, whose own event counts its own. */
static void switched_before(void)
{
	u64 delay = a64_need_late(), ahead, all = 0;
	struct perf_event_attr other = cycles(1ull << 30);
	struct pt_ring theirs;
	struct pt_peer peer;
	int fo;

	pt_peer_start(&peer);
	other.disabled = 0;
	fo = pt_open(&other, peer.pid, -1, -1, 0);
	pt_map(&theirs, fo, 8);
	pt_peer_turn(&peer);
	for (ahead = 0; ahead < delay + 50 && !pt_failures(); ahead += delay / 59) {
		struct perf_event_attr attr = cycles(ahead ? all - ahead : 1ull << 30);
		int fd = open_mapped(&attr), n = 0;

		a64_after_tick();
		pt_enable(fd);
		pt_spin(15000);
		pt_peer_turn(&peer);
		pt_disable(fd);
		if (ahead)
			pt_eq(pt_count(fd), all);
		all = pt_count(fd);
		while (next_sample(&attr)) {
			pt_eq(s.tid, pt_tid());
			n++;
		}
		pt_check(n <= 1, "%d samples", n);
		close_mapped(fd);
	}
	pt_eq(pt_count_records(&theirs, PERF_RECORD_SAMPLE), 0);
	pt_peer_stop(&peer);
}

/*
 * The same, and the task goes on elsewhere. With several CPUs no CPU's cycles are its own, so where
 * the overflow is cannot be known; but a sample has at least its period.
 */
static void moved_before(void)
{
	struct perf_event_attr other = cycles(1ull << 30);
	u64 delay = a64_late(), period, at;
	struct pt_ring theirs;
	struct pt_peer peer;
	int fo;

	if (pt_online_cpus() < 2)
		pt_skip("needs two CPUs");
	pt_pin(0);
	pt_peer_start(&peer);
	other.disabled = 0;
	fo = pt_open(&other, peer.pid, -1, -1, 0);
	pt_map(&theirs, fo, 8);
	for (period = 30000 - delay; period < 30100; period += delay / 59) {
		struct perf_event_attr attr = cycles(period);
		int fd = open_mapped(&attr), n = 0;

		pt_enable(fd);
		pt_spin(15000);
		pt_pin(1);
		pt_peer_turn(&peer);
		pt_disable(fd);
		pt_pin(0);
		for (at = period; next_sample(&attr); at = s.read.v[0].value + 1, n++) {
			pt_eq(s.tid, pt_tid());
			pt_check(s.read.v[0].value >= at, "%llu before %llu",
				 (unsigned long long)s.read.v[0].value, (unsigned long long)at);
		}
		pt_check((u64)n <= pt_count(fd) / period, "%d samples of %llu cycles", n,
			 (unsigned long long)pt_count(fd));
		close_mapped(fd);
	}
	pt_eq(pt_count_records(&theirs, PERF_RECORD_SAMPLE), 0);
	pt_peer_stop(&peer);
}

/* Two counters overflow before the interrupt of the first comes: it is that of both. */
static void two_in_one(void)
{
	u64 delay = a64_need_late(), period = 20 * delay, before, at;
	struct perf_event_attr attr = cycles(period), second = cycles(period + delay / 10);
	u64 turns = (5 * second.sample_period + 2 * delay) / 2;
	struct pt_ring ring2;
	int fd, fd2, n;

	fd = open_mapped(&attr);
	second.disabled = 0;
	fd2 = pt_open_hw(&second, fd);
	pt_map(&ring2, fd2, 8);
	a64_after_tick();
	before = a64_pmu_interrupts();
	a64_measured_spin(fd, turns);
	before = a64_pmu_interrupts() - before;
	pt_eq(pt_count(fd), A64_SPIN_COST(turns));
	pt_eq(pt_count(fd2), A64_SPIN_COST(turns));
	for (n = 0, at = delay + period; next_sample(&attr); n++, at += period)
		pt_eq(s.read.v[0].value, at);
	pt_eq(n, 5);
	for (n = 0, at = delay + period; pt_next(&ring2, &rec); n++, at += period) {
		pt_parse_sample(&second, &rec, &s);
		pt_eq(s.read.v[0].value, at);
	}
	pt_eq(n, 5);
	pt_check(before >= 5, "%llu interrupts", (unsigned long long)before);
}

/* A new period begins when it is set; the one that was over already has no sample. */
static void period_set_before(void)
{
	u64 delay = a64_need_late(), period, ahead, first;

	for (ahead = 0; ahead < delay; ahead += delay / 13) {
		struct perf_event_attr attr = cycles(20000);
		int fd = open_mapped(&attr);

		a64_after_tick();
		pt_enable(fd);
		pt_spin(10000 + (ahead + 1) / 2);
		period = 4 * delay;
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
		pt_spin(4 * delay);
		pt_disable(fd);
		pt_need(next_sample(&attr), "no sample");
		first = s.read.v[0].value;
		/* The interrupt may come in the kernel, on the way to the new period. */
		if (first < 20000 + 4 * delay) {
			pt_check(first >= 20000 + ahead && first <= 20000 + delay,
				 "a sample at %llu", (unsigned long long)first);
			pt_need(next_sample(&attr), "no second sample");
			first = s.read.v[0].value;
		}
		/* Some instructions of the C library are on the way, and before. */
		pt_check(first >= 20000 + ahead + 5 * delay && first <= 20200 + ahead + 5 * delay,
			 "%llu ahead, the new period's first at %llu", (unsigned long long)ahead,
			 (unsigned long long)first);
		close_mapped(fd);
	}
}

/*
 * Events of 32 bits that do not sample interrupt every 2^31, and go on from there: beside an event
 * of 64 bits, which never does, they lose nothing.
 */
static void counts_beyond_32_bits(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	int fd[3], i;
	u64 n[3], before;

	a64_need_late();
	pt_pin(0);
	attr.exclude_kernel = 0;
	for (i = 0; i < 3; i++) {
		attr.disabled = !i;
		attr.config1 = i ? 0 : A64_LONG;
		fd[i] = pt_open(&attr, -1, 0, i ? fd[0] : -1, 0);
	}
	before = a64_pmu_interrupts();
	pt_enable(fd[0]);
	/* Nothing else to do: time passes at once. */
	sleep(9);
	pt_disable(fd[0]);
	pt_check(a64_pmu_interrupts() - before >= 4, "%llu interrupts",
		 (unsigned long long)(a64_pmu_interrupts() - before));
	for (i = 0; i < 3; i++) {
		n[i] = pt_count(fd[i]);
		pt_eq(n[i], n[0]);
	}
	pt_check(n[0] > 2ull << 32, "%llu cycles", (unsigned long long)n[0]);
}

/*
 * Overflows of the kernel's own cycles, while two tasks with events of their own take turns: the
 * interrupt comes anywhere, as a pseudo-NMI also in the middle of what is done to counters. All
 * that one counter has counted, in thousands of periods, is what its sibling of 64 bits has, which
 * never overflows: at each sample, and in the end.
 */
static void amid_switches(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES), of_task = cycles(3001);
	u64 delay = a64_need_late(), n = 0, period = 4999 + delay;
	struct pt_peer peer;
	int lead, fd, i;

	pt_pin(0);
	pt_peer_start(&peer);
	of_task.disabled = 0;
	pt_open(&of_task, peer.pid, -1, -1, 0);
	pt_open(&of_task, 0, -1, -1, 0);
	attr.exclude_kernel = 0;
	attr.config1 = A64_LONG;
	attr.read_format = PERF_FORMAT_GROUP;
	lead = pt_open(&attr, -1, 0, -1, 0);
	attr.disabled = 0;
	attr.config1 = 0;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	fd = pt_open(&attr, -1, 0, lead, 0);
	pt_map(&ring, fd, 64);
	pt_enable(lead);
	for (i = 0; i < 3000; i++) {
		pt_peer_turn(&peer);
		while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
			pt_parse_sample(&attr, &rec, &s);
			pt_eq(s.read.v[1].value, s.read.v[0].value);
			n++;
		}
		pt_consume(&ring);
	}
	pt_disable(lead);
	pt_read(lead, PERF_FORMAT_GROUP, 2, &s.read);
	pt_eq(s.read.v[1].value, s.read.v[0].value);
	pt_check(n > 1000 && n <= s.read.v[0].value / period, "%llu samples of %llu cycles",
		 (unsigned long long)n, (unsigned long long)s.read.v[0].value);
	pt_peer_stop(&peer);
}

static u64 value_of_first(int leader)
{
	struct pt_read r;

	pt_read(leader, PERF_FORMAT_GROUP, 2, &r);
	pt_eq(r.v[1].value, r.v[0].value);
	return r.v[0].value;
}

/*
 * The overflow is in user space, the interrupt at each place of a read(), as a pseudo-NMI also in
 * the middle of the counter's. A sample is there then, or when the interrupt has come again, with
 * all that was counted, and the next period is over where it is to be.
 */
static void amid_reads(void)
{
	u64 delay = a64_need_late(), period, at = 0, ahead, first;
	struct perf_event_attr beside = a64_raw(A64_CYCLES);
	const u64 turns = 10 * delay;

	beside.disabled = 0;
	for (ahead = 0; ahead < delay && !pt_failures(); ahead += delay / 500) {
		struct perf_event_attr attr;
		int fd, fd2;

		period = ahead ? at - ahead : 1ull << 30;
		attr = cycles(period);
		attr.read_format = PERF_FORMAT_GROUP;
		fd = open_mapped(&attr);
		fd2 = pt_open_hw(&beside, fd);
		a64_after_tick();
		pt_enable(fd);
		pt_spin(turns);
		at = value_of_first(fd);
		pt_spin(turns + 2 * delay);
		pt_disable(fd);
		value_of_first(fd);
		if (ahead) {
			pt_need(next_sample(&attr), "%llu ahead: no sample",
				(unsigned long long)ahead);
			first = s.read.v[0].value;
			pt_eq(s.read.v[1].value, first);
			pt_check(first >= at && first <= period + 2 * delay,
				 "%llu ahead: %llu for %llu", (unsigned long long)ahead,
				 (unsigned long long)first, (unsigned long long)period);
			pt_need(next_sample(&attr), "%llu ahead: no second sample",
				(unsigned long long)ahead);
			pt_eq(s.read.v[0].value, 2 * period + delay);
			pt_eq(s.read.v[1].value, 2 * period + delay);
		}
		close(fd2);
		close_mapped(fd);
	}
}

/*
 * What user space reads goes on between an overflow and its interrupt, and behind: each turn reads
 * as many instructions as any other, but for those that an interrupt makes read again.
 */
static void read_in_between(void)
{
	static u64 seen[2000];
	u64 delay = a64_need_late(), step;
	struct perf_event_attr attr;
	unsigned int i, j, other;
	int fd, samples;

	if (!pt_path_exists("/proc/sys/kernel/perf_user_access"))
		pt_skip("no kernel.perf_user_access");
	pt_pin(0);
	pt_sysctl_set("perf_user_access", 1);
	memset(seen, 1, sizeof(seen));
	for (i = 0; i < PT_ARRAY_SIZE(kinds); i++) {
		if (kinds[i].second)
			take_cycle_counter();
		attr = sampling(kinds[i].config, 2 * delay);
		attr.config1 = kinds[i].config1 | A64_USER_READ;
		attr.disabled = 0;
		fd = open_mapped(&attr);
		a64_user_count(ring.page);
		a64_after_tick();
		for (j = 0; j < PT_ARRAY_SIZE(seen); j++)
			seen[j] = a64_user_count(ring.page);
		pt_disable(fd);
		step = seen[2] - seen[1];
		for (j = 2, other = 0; j < PT_ARRAY_SIZE(seen); j++) {
			pt_check(seen[j] - seen[j - 1] < 3 * step, "%llu instead of %llu",
				 (unsigned long long)(seen[j] - seen[j - 1]),
				 (unsigned long long)step);
			other += seen[j] - seen[j - 1] != step;
		}
		samples = pt_count_records(&ring, PERF_RECORD_SAMPLE);
		pt_check(other <= (unsigned int)samples, "%u steps differ, %d samples", other,
			 samples);
		pt_check(samples >= 1, "no sample");
		pt_check(pt_count(fd) > seen[j - 1] && pt_count(fd) < seen[j - 1] + 200,
			 "%llu after %llu", (unsigned long long)pt_count(fd),
			 (unsigned long long)seen[j - 1]);
		close_mapped(fd);
	}
}

/* After a lost interrupt the counter goes on, and when the event starts next it has its period. */
static void lost_ones(void)
{
	const u64 period = 10007, turns = 50000;
	u64 lose = a64_need_lossy(), n;
	unsigned int kind;
	int i;

	pt_need(lose <= A64_SPIN_COST(turns) / period, "it loses each %llu-th",
		(unsigned long long)lose);
	for (kind = 0; kind < PT_ARRAY_SIZE(kinds); kind++) {
		struct perf_event_attr attr = sampling(kinds[kind].config, period);

		attr.config1 = kinds[kind].config1;
		if (kinds[kind].second)
			take_cycle_counter();
		for (i = 0; i < 8; i++) {
			int fd = open_mapped(&attr);

			/* Nor is it stopped in between, to go on with a new period. */
			a64_after_tick();
			a64_measured_spin(fd, turns);
			pt_eq(pt_count(fd), A64_SPIN_COST(turns));
			for (n = 0; next_sample(&attr); n++)
				pt_eq(s.read.v[0].value, (n + 1) * period);
			/* Others have left the emulator's own count anywhere. */
			if (i)
				pt_eq(n, lose - 1);
			else
				pt_check(n < lose, "%llu samples", (unsigned long long)n);
			close_mapped(fd);
		}
	}
}

static const struct pt_case cases[] = {
	{ "samples_are_late", samples_are_late },
	{ "stopped_before", stopped_before },
	{ "closed_before", closed_before },
	{ "switched_before", switched_before },
	{ "moved_before", moved_before },
	{ "two_in_one", two_in_one },
	{ "period_set_before", period_set_before },
	{ "counts_beyond_32_bits", counts_beyond_32_bits },
	{ "amid_switches", amid_switches },
	{ "amid_reads", amid_reads },
	{ "read_in_between", read_in_between },
	{ "lost_ones", lost_ones },
};

PT_MAIN(cases)
