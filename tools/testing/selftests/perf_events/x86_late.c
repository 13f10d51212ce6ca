// SPDX-License-Identifier: GPL-2.0
/*
 * x86_late.c - interrupts of the PMU that come a known number of instructions after the overflow,
 * or not at all: counts stay exact, samples are of who overflowed, and no interrupt is nobody's.
 *
 * needs: late
 */
#include "lib/x86.h"

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr sampling(struct perf_event_attr attr, u64 period)
{
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	return attr;
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

static bool next_sample(const struct perf_event_attr *attr)
{
	if (!pt_next(&ring, &rec))
		return false;
	pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
	pt_parse_sample(attr, &rec, &s);
	return true;
}

/* Each shows where the interrupt came, and no period is longer for that. */
static void samples_are_late(void)
{
	static const u64 periods[] = { 4001, 10007, 65537 };
	struct perf_event_attr attr[] = {
		x86_hw(PERF_COUNT_HW_CPU_CYCLES), x86_hw(PERF_COUNT_HW_INSTRUCTIONS),
		x86_general_cycles(),
	};
	u64 delay = x86_need_late();
	unsigned int i, j;

	for (i = 0; i < PT_ARRAY_SIZE(attr); i++) {
		for (j = 0; j < PT_ARRAY_SIZE(periods) && !pt_failures(); j++) {
			u64 period = periods[j], turns = 10 * period + delay, at = delay, n = 0;
			struct perf_event_attr a = sampling(attr[i], period);
			int fd = open_mapped(&a);

			x86_measured_spin(fd, turns);
			pt_eq(pt_count(fd), X86_SPIN_COST(turns));
			while (next_sample(&a)) {
				at += period;
				n++;
				pt_eq(s.read.v[0].value, at);
				pt_eq(s.ip, x86_spin_ip(turns, at));
			}
			pt_eq(n, 20);
			close_mapped(fd);
		}
	}
}

/* The interrupt comes when the next period is over, too: that one is left out. */
static void as_long_as_the_delay(void)
{
	u64 delay = x86_need_late(), turns = 10 * delay + 50, at = 0, n = 0;
	struct perf_event_attr attr = sampling(x86_hw(PERF_COUNT_HW_CPU_CYCLES), delay);
	int fd = open_mapped(&attr);

	pt_switch_out();	/* no tick within a delay */
	x86_measured_spin(fd, turns);
	pt_eq(pt_count(fd), X86_SPIN_COST(turns));
	while (next_sample(&attr)) {
		at += 2 * delay;
		n++;
		pt_eq(s.read.v[0].value, at);
		pt_eq(s.ip, x86_spin_ip(turns, at));
	}
	pt_eq(n, 10);
	close_mapped(fd);
}

/* Several periods go by until the interrupt comes; the counts have all of them. */
static void shorter_than_the_delay(void)
{
	const u64 turns = 100000;
	struct perf_event_attr attr = sampling(x86_hw(PERF_COUNT_HW_CPU_CYCLES), 97);
	u64 delay = x86_need_late(), last = 0, n = 0;
	int fd = open_mapped(&attr);

	x86_measured_spin(fd, turns);
	pt_eq(pt_count(fd), X86_SPIN_COST(turns));
	while (next_sample(&attr)) {
		pt_check(s.read.v[0].value >= last + 97, "%llu after %llu",
			 (unsigned long long)s.read.v[0].value, (unsigned long long)last);
		last = s.read.v[0].value;
		n++;
	}
	pt_check(n >= X86_SPIN_COST(turns) / (delay + 97) - 1, "%llu samples",
		 (unsigned long long)n);
	close_mapped(fd);
}

/* The overflow is in user space, the interrupt anywhere on the way to the stop, or after it. */
static void stopped_before(void)
{
	const u64 turns = 5000;
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES);
	u64 delay = x86_need_late(), ahead;

	for (ahead = 1; ahead < delay + 50 && !pt_failures(); ahead += 13) {
		struct perf_event_attr a = sampling(attr, X86_SPIN_COST(turns) - ahead);
		u64 before = x86_interrupts();
		int fd = open_mapped(&a), n = 0;

		x86_measured_spin(fd, turns);
		pt_eq(pt_count(fd), X86_SPIN_COST(turns));
		while (next_sample(&a)) {
			pt_eq(s.tid, pt_tid());
			n++;
		}
		pt_check(n <= 1, "%d samples", n);
		if (ahead > delay)
			pt_eq(n, 1);
		close_mapped(fd);
		pt_eq(x86_interrupts() - before, 1);
	}
}

/* CPU 0's column of a line of /proc/interrupts. */
static u64 line_of_cpu0(const char *name)
{
	char line[512];
	u64 n = 0;
	FILE *f = fopen("/proc/interrupts", "re");

	pt_need(f, "/proc/interrupts: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		char *at = strstr(line, name);

		if (at)
			n = strtoull(at + strlen(name), NULL, 10);
	}
	fclose(f);
	return n;
}

/* What it has seen when it is read, after some work of its own. */
static u64 read_at_work(int fd, u64 delay)
{
	u64 count;

	pt_enable(fd);
	pt_spin(3 * delay);
	count = pt_count(fd);
	pt_spin(delay);
	pt_disable(fd);
	return count;
}

/*
 * The overflow is before the read, the interrupt at each instruction of it: there is one sample, in
 * which nothing is missing that has been taken out of the counter.
 */
static void amid_reads(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES), a;
	u64 delay = x86_need_late(), count, nmis, came, ahead, n;
	int fd = pt_open_hw(&attr, -1);

	count = read_at_work(fd, delay);
	close(fd);
	nmis = line_of_cpu0("NMI:");
	came = x86_interrupts();
	for (ahead = 1; ahead < delay && !pt_failures(); ahead++) {
		a = sampling(attr, count - ahead);
		fd = open_mapped(&a);
		pt_eq(read_at_work(fd, delay), count);
		for (n = 0; next_sample(&a); n++)
			pt_check(s.read.v[0].value >= a.sample_period, "%llu of %llu",
				 (unsigned long long)s.read.v[0].value,
				 (unsigned long long)a.sample_period);
		pt_check(n == 1, "%llu samples, %llu ahead", (unsigned long long)n,
			 (unsigned long long)ahead);
		close_mapped(fd);
	}
	/* Some came in the midst of it, and again when it was over. */
	nmis = line_of_cpu0("NMI:") - nmis;
	came = x86_interrupts() - came;
	pt_check(nmis > came, "%llu NMIs, %llu interrupts", (unsigned long long)nmis,
		 (unsigned long long)came);
}

/* As stopped_before(), with a switch to another task, whose own event counts its own. */
static void switched_before(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES), other;
	u64 delay = x86_need_late(), ahead, all = 0;
	struct pt_peer peer;
	int theirs;

	pt_peer_start(&peer);
	other = sampling(attr, 1ull << 40);
	other.disabled = 0;
	theirs = pt_open(&other, peer.pid, -1, -1, 0);
	pt_peer_turn(&peer);
	for (ahead = 0; ahead < delay + 50 && !pt_failures(); ahead += 17) {
		struct perf_event_attr a = sampling(attr, ahead ? all - ahead : 1ull << 40);
		int fd = open_mapped(&a), n = 0;
		u64 before = pt_count(theirs);

		pt_enable(fd);
		pt_spin(5000);
		pt_peer_turn(&peer);
		pt_disable(fd);
		if (ahead)
			pt_eq(pt_count(fd), all);
		all = pt_count(fd);
		while (next_sample(&a)) {
			pt_eq(s.tid, pt_tid());
			n++;
		}
		pt_check(n <= 1, "%d samples", n);
		pt_check(pt_count(theirs) - before < 1000, "%llu of the other's",
			 (unsigned long long)(pt_count(theirs) - before));
		close_mapped(fd);
	}
	pt_peer_stop(&peer);
}

/* The event is gone when its interrupt comes. */
static void closed_before(void)
{
	u64 delay = x86_need_late(), period, before;

	for (period = 50; period < delay; period += 50) {
		struct perf_event_attr a = sampling(x86_hw(PERF_COUNT_HW_CPU_CYCLES), period);
		int fd;

		before = x86_interrupts();
		a.disabled = 0;
		fd = pt_open_hw(&a, -1);
		pt_spin(period / 2);
		close(fd);
		pt_spin(delay);
		pt_check(x86_interrupts() > before, "no interrupt with a period of %llu",
			 (unsigned long long)period);
	}
}

/* Two counters overflow before the interrupt of the first comes: it is that of both. */
static void two_in_one(void)
{
	const u64 period = 20000, turns = 50000;
	struct perf_event_attr attr = sampling(x86_hw(PERF_COUNT_HW_CPU_CYCLES), period), second;
	u64 delay = x86_need_late(), before;
	struct pt_ring ring2;
	int fd, fd2;

	fd = open_mapped(&attr);
	second = sampling(x86_general_cycles(), period + delay / 10);
	second.disabled = 0;
	fd2 = pt_open_hw(&second, fd);
	pt_map(&ring2, fd2, 8);
	before = x86_interrupts();
	x86_measured_spin(fd, turns);
	pt_eq(x86_interrupts() - before, X86_SPIN_COST(turns) / period);
	pt_eq(pt_count(fd), X86_SPIN_COST(turns));
	pt_eq(pt_count(fd2), X86_SPIN_COST(turns));
	pt_eq(pt_count_records(&ring2, PERF_RECORD_SAMPLE), 4);
}

/*
 * AMD: a counter overflows while the NMI of another one is handled. That NMI handles both, so the
 * NMI of the second, which comes when the first is over, finds nothing; nor is it unknown then.
 */
static void second_finds_nothing(void)
{
	struct perf_event_attr first = sampling(x86_general_cycles(), 40000);
	u64 delay = x86_need_late(), claimed = 0, nmis, pmis, came, ahead;
	struct pt_ring ring2;

	if (x86_is_intel())
		pt_skip("the first NMI stops all counters before it looks");
	first.exclude_kernel = 0;
	for (ahead = 0; ahead < 3000 && !pt_failures(); ahead += 50) {
		struct perf_event_attr second = first;
		u64 samples;
		int fd, fd2;

		second.sample_period += delay + ahead;
		second.disabled = 0;
		fd = open_mapped(&first);
		fd2 = pt_open_hw(&second, fd);
		pt_map(&ring2, fd2, 8);
		nmis = line_of_cpu0("NMI:");
		pmis = line_of_cpu0("PMI:");
		came = x86_interrupts();
		x86_measured_spin(fd, 60000);
		/* What is on its way still comes before the counts are read. */
		pt_spin(delay);
		samples = pt_count_records(&ring, PERF_RECORD_SAMPLE);
		pt_eq(samples, pt_count(fd) / first.sample_period);
		pt_eq(pt_count_records(&ring2, PERF_RECORD_SAMPLE),
		      pt_count(fd2) / second.sample_period);
		samples += pt_count(fd2) / second.sample_period;
		came = x86_interrupts() - came;
		nmis = line_of_cpu0("NMI:") - nmis;
		pmis = line_of_cpu0("PMI:") - pmis;
		pt_eq(nmis, came);
		pt_check(nmis <= samples, "%llu NMIs for %llu overflows", (unsigned long long)nmis,
			 (unsigned long long)samples);
		claimed += nmis - pmis;
		pt_unmap(&ring2);
		close(fd2);
		close_mapped(fd);
	}
	pt_check(claimed > 0, "no NMI came that had nothing to do");
}

/* After a lost interrupt the counter goes on, and when the event starts next it has its period. */
static void lost_ones(void)
{
	const u64 period = 10007, turns = 50000;
	struct perf_event_attr attr = sampling(x86_hw(PERF_COUNT_HW_CPU_CYCLES), period);
	u64 lose, n;
	int i;

	x86_need_exact();
	lose = x86_rdmsr(X86_PMI_LOSE);
	if (!lose)
		pt_skip("this PMU loses no interrupts");
	pt_need(lose <= X86_SPIN_COST(turns) / period, "it loses each %llu-th",
		(unsigned long long)lose);
	for (i = 0; i < 20; i++) {
		int fd = open_mapped(&attr);

		x86_measured_spin(fd, turns);
		pt_eq(pt_count(fd), X86_SPIN_COST(turns));
		for (n = 0; next_sample(&attr); n++)
			pt_eq(s.read.v[0].value, (n + 1) * period);
		/* The first run begins where others have left the PMU's own count of interrupts. */
		if (i)
			pt_eq(n, lose - 1);
		else
			pt_check(n < lose, "%llu samples", (unsigned long long)n);
		close_mapped(fd);
	}
}

static const struct pt_case cases[] = {
	{ "samples_are_late", samples_are_late },
	{ "as_long_as_the_delay", as_long_as_the_delay },
	{ "shorter_than_the_delay", shorter_than_the_delay },
	{ "stopped_before", stopped_before },
	{ "amid_reads", amid_reads },
	{ "switched_before", switched_before },
	{ "closed_before", closed_before },
	{ "two_in_one", two_in_one },
	{ "second_finds_nothing", second_finds_nothing },
	{ "lost_ones", lost_ones },
};

PT_MAIN(cases)
