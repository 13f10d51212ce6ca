// SPDX-License-Identifier: GPL-2.0
/*
 * x86_pebs_counts.c - counters in the records of PEBS (format 6 and architectural): samples of
 * precise events have the counts of their group as they were at the sampled instruction, also when
 * many records pile up before anybody looks.
 *
 * Exact on the emulated PMUs "srf6", "cwf" and "dmr". In x86_measured_spin() instruction n has n
 * instructions and cycles and n/2 conditional branches before its end.
 *
 * needs: pebs-counters
 */
#include "lib/x86.h"

#define CAPABILITIES	0x345
#define TURNS		200000
#define FORMAT		PERF_FORMAT_GROUP
#define MEMBERS		3

static struct pt_record rec;
static struct pt_sample s;

static void need_format_6(void)
{
	x86_need_exact();
	if (!x86_is_intel() || (x86_rdmsr(CAPABILITIES) >> 8 & 0xf) < 6)
		pt_skip("no counters in records");
}

static void need_counters(void)
{
	need_format_6();
	pt_first_on_cpu(0);
}

static struct perf_event_attr counting(struct perf_event_attr attr, bool first)
{
	attr.read_format = FORMAT;
	attr.disabled = first;
	return attr;
}

static struct perf_event_attr sampling(struct perf_event_attr attr, bool first, u64 period)
{
	attr = counting(attr, first);
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_READ |
			   PERF_SAMPLE_PERIOD;
	attr.precise_ip = 2;
	return attr;
}

static struct perf_event_attr instructions(u64 period)
{
	return sampling(x86_hw(PERF_COUNT_HW_INSTRUCTIONS), true, period);
}

/* The counts after @n instructions of the loop: instructions, branches, cycles. */
static void check_counts(u64 n, int members)
{
	const u64 want[MEMBERS] = { n, (n < 2 * TURNS ? n : 2 * TURNS) / 2, n };
	int i;

	pt_eq(s.read.nr, members);
	for (i = 0; i < members; i++)
		pt_eq(s.read.v[i].value, want[i]);
	if (pt_failures() > 10)
		pt_end_case();
}

/* A sample every @period instructions, of @precise ones at the instruction itself */
static u64 check_samples(struct pt_ring *ring, struct perf_event_attr *attr, u64 period,
			 int members)
{
	u64 n = 0, time = 0;

	while (pt_next_of(ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(attr, &rec, &s);
		n += period;
		pt_eq(s.ip, x86_spin_ip(TURNS, n - !!attr->precise_ip));
		pt_check(s.time > time, "sample at %llu is not after the one before",
			 (unsigned long long)n);
		time = s.time;
		check_counts(n, members);
	}
	return n / period;
}

static void open_group(struct perf_event_attr *leader, int fds[MEMBERS], struct pt_ring *ring)
{
	struct perf_event_attr branches = counting(x86_conditional_branches(), false);
	struct perf_event_attr cycles = counting(x86_general_cycles(), false);

	fds[0] = pt_open(leader, 0, -1, -1, 0);
	fds[1] = pt_open(&branches, 0, -1, fds[0], 0);
	fds[2] = pt_open(&cycles, 0, -1, fds[0], 0);
	pt_map(ring, fds[0], 1024);
}

static void close_group(int fds[MEMBERS], struct pt_ring *ring)
{
	int i;

	pt_unmap(ring);
	for (i = MEMBERS - 1; i >= 0; i--)
		close(fds[i]);
}

static void check_end(int fd)
{
	struct pt_read r;

	pt_read(fd, FORMAT, MEMBERS, &r);
	pt_eq(r.v[0].value, X86_SPIN_COST(TURNS));
	pt_eq(r.v[1].value, TURNS);
	pt_eq(r.v[2].value, X86_SPIN_COST(TURNS));
}

/* Spin under a group; returns how many interrupts there were. */
static u64 spin_under(struct perf_event_attr *leader)
{
	struct pt_ring ring;
	int fds[MEMBERS];
	u64 pmis;

	open_group(leader, fds, &ring);
	pmis = x86_interrupts();
	x86_measured_spin(fds[0], TURNS);
	pmis = x86_interrupts() - pmis;
	pt_eq(check_samples(&ring, leader, leader->sample_period, MEMBERS),
	      X86_SPIN_COST(TURNS) / leader->sample_period);
	check_end(fds[0]);
	close_group(fds, &ring);
	return pmis;
}

static void records_pile_up(void)
{
	static const u64 periods[] = { 997, 1000, 10007, 65536 };
	struct perf_event_attr attr;
	unsigned int i;
	u64 pmis;

	need_counters();
	for (i = 0; i < PT_ARRAY_SIZE(periods); i++) {
		attr = instructions(periods[i]);
		pmis = spin_under(&attr);
		pt_check(pmis <= X86_SPIN_COST(TURNS) / periods[i] / 100, "%llu interrupts",
			 (unsigned long long)pmis);
	}
}

static void one_by_one(void)
{
	struct perf_event_attr attr = instructions(9973);

	need_counters();
	attr.wakeup_events = 1;
	pt_eq(spin_under(&attr), X86_SPIN_COST(TURNS) / 9973);
}

/* With a frequency the count is the sum of the periods. */
static void frequency(void)
{
	struct perf_event_attr attr = instructions(20000);
	u64 n = 0, samples = 0;
	struct pt_ring ring;
	int fds[MEMBERS];

	need_counters();
	attr.freq = 1;
	open_group(&attr, fds, &ring);
	x86_measured_spin(fds[0], TURNS);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		n += s.period;
		samples++;
		pt_eq(s.ip, x86_spin_ip(TURNS, n - 1));
		check_counts(n, MEMBERS);
	}
	pt_check(samples > 1, "%llu samples", (unsigned long long)samples);
	check_end(fds[0]);
}

/* Of an event alone, in whatever format its count is read. */
static void alone(void)
{
	struct perf_event_attr attr = instructions(1009);
	struct pt_ring ring;
	u64 n = 0, pmis;
	int fd;

	need_counters();
	attr.read_format = PERF_FORMAT_ID;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 256);
	pmis = x86_interrupts();
	x86_measured_spin(fd, TURNS);
	pmis = x86_interrupts() - pmis;
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.read.v[0].value, n += 1009);
		pt_eq(s.read.v[0].id, pt_id(fd));
	}
	pt_eq(n / 1009, X86_SPIN_COST(TURNS) / 1009);
	pt_check(pmis <= n / 1009 / 100, "%llu interrupts", (unsigned long long)pmis);
}

/* Each of two events has the other's count, and their own go on after every record. */
static void two_precise(void)
{
	struct perf_event_attr a = instructions(1999), b;
	struct perf_event_attr cycles = counting(x86_general_cycles(), false);
	struct pt_ring rings[2];
	u64 n = 0;
	int fds[3];

	need_counters();
	b = sampling(x86_conditional_branches(), false, 773);
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	fds[2] = pt_open(&cycles, 0, -1, fds[0], 0);
	pt_map(&rings[0], fds[0], 256);
	pt_map(&rings[1], fds[1], 256);
	x86_measured_spin(fds[0], TURNS);
	pt_eq(check_samples(&rings[0], &a, 1999, MEMBERS), X86_SPIN_COST(TURNS) / 1999);
	while (pt_next_of(&rings[1], &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&b, &rec, &s);
		n += 2 * 773;
		pt_eq(s.ip, x86_spin_ip(TURNS, n - 1));
		check_counts(n, MEMBERS);
	}
	pt_eq(n / (2 * 773), TURNS / 773);
	check_end(fds[0]);
}

/*
 * A member that is not precise interrupts in between: what waits in the buffer was before that. Its
 * own samples have the counts of the interrupt, which may be late.
 */
static void ordinary_samples_in_between(void)
{
	struct perf_event_attr a = instructions(1999), b;
	struct perf_event_attr cycles = counting(x86_general_cycles(), false);
	struct pt_ring rings[2];
	int fds[3];

	need_counters();
	b = sampling(x86_conditional_branches(), false, 10007);
	b.precise_ip = 0;
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	fds[2] = pt_open(&cycles, 0, -1, fds[0], 0);
	pt_map(&rings[0], fds[0], 256);
	pt_map(&rings[1], fds[1], 256);
	x86_measured_spin(fds[0], TURNS);
	pt_eq(check_samples(&rings[0], &a, 1999, MEMBERS), X86_SPIN_COST(TURNS) / 1999);
	if (x86_rdmsr(X86_PMI_DELAY))
		pt_check(pt_count_records(&rings[1], PERF_RECORD_SAMPLE), "no samples");
	else
		pt_eq(check_samples(&rings[1], &b, 2 * 10007, MEMBERS), TURNS / 10007);
	check_end(fds[0]);
}

/* The samples of a group that was read, switched off, and left by its task, over and over. */
static void looks_in_between(void)
{
	struct perf_event_attr attr = instructions(997);
	u64 n = 0, samples = 0;
	struct pt_ring ring;
	int fds[MEMBERS], i;
	struct pt_read r;

	need_counters();
	open_group(&attr, fds, &ring);
	pt_enable(fds[0]);
	for (i = 0; i < 200; i++) {
		pt_spin((u64)i * 37 + 1);
		if (i % 3 == 0)
			sched_yield();
		pt_read(fds[0], FORMAT, MEMBERS, &r);
		pt_eq(r.v[0].value, r.v[2].value);
		if (i % 5 == 0) {
			pt_disable(fds[0]);
			pt_enable(fds[0]);
		}
		if (i % 7 == 0)
			usleep(1);
	}
	pt_disable(fds[0]);
	pt_read(fds[0], FORMAT, MEMBERS, &r);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		n += 997;
		samples++;
		pt_eq(s.read.v[0].value, n);
		pt_eq(s.read.v[2].value, n);
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_eq(samples, r.v[0].value / 997);
	pt_eq(r.v[0].value, r.v[2].value);
}

/* Records go on to have a counter that is another event's by now, whose count is none of theirs. */
static void the_next_owner(void)
{
	struct perf_event_attr attr = instructions(997), other = x86_general_cycles();
	struct pt_ring ring;
	int fds[MEMBERS], fd, i;
	u64 before;

	need_counters();
	open_group(&attr, fds, &ring);
	x86_measured_spin(fds[0], 1000);
	close(fds[2]);
	other.disabled = 0;
	fd = pt_open(&other, 0, -1, -1, 0);
	for (i = 0; i < 20; i++) {
		pt_enable(fds[0]);
		before = pt_count(fd);
		pt_spin(1000);
		pt_check(pt_count(fd) - before > 2000 && pt_count(fd) - before < 4000,
			 "%llu cycles", (unsigned long long)(pt_count(fd) - before));
		pt_disable(fds[0]);
	}
}

/* Records wait when an event comes whose records do not: they stay those of who was there. */
static void records_wait(void)
{
	struct perf_event_attr attr = instructions(997), other = x86_general_cycles();
	struct pt_ring ring;
	struct pt_read r;
	int fds[MEMBERS], fd, i;
	u64 n = 0;

	need_counters();
	other.sample_period = 1 << 30;
	other.sample_type = PERF_SAMPLE_IP;
	other.wakeup_events = 1;
	other.precise_ip = 2;
	open_group(&attr, fds, &ring);
	fd = pt_open(&other, 0, -1, -1, 0);
	for (i = 0; i < 10; i++) {
		pt_enable(fds[0]);
		pt_spin(5000);
		pt_enable(fd);
		pt_disable(fds[0]);
		pt_disable(fd);
	}
	pt_read(fds[0], FORMAT, MEMBERS, &r);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		n += 997;
		pt_eq(s.read.v[0].value, n);
		pt_eq(s.read.v[2].value, n);
	}
	pt_eq(n / 997, r.v[0].value / 997);
	pt_eq(r.v[0].value, r.v[2].value);
	pt_check(n >= 10 * 10000, "%llu instructions", (unsigned long long)n);
}

/* Who is left of a group leads its own, and its records go on to have its count. */
static void the_leader_is_closed(void)
{
	struct perf_event_attr leader = counting(x86_general_cycles(), true);
	struct perf_event_attr attr = sampling(x86_hw(PERF_COUNT_HW_INSTRUCTIONS), false, 997);
	struct pt_ring ring;
	u64 n = 0, pmis;
	int fd, first;

	need_counters();
	first = pt_open(&leader, 0, -1, -1, 0);
	fd = pt_open(&attr, 0, -1, first, 0);
	pt_map(&ring, fd, 1024);
	pt_disable(fd);
	close(first);
	pmis = x86_interrupts();
	x86_measured_spin(fd, TURNS);
	pmis = x86_interrupts() - pmis;
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		n += 997;
		pt_eq(s.read.nr, 1);
		pt_eq(s.read.v[0].value, n);
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_eq(n / 997, X86_SPIN_COST(TURNS) / 997);
	pt_check(pmis <= n / 997 / 100, "%llu interrupts", (unsigned long long)pmis);
}

/* Samples of a member every @period, @n of its events so far; how often it was throttled */
struct follow {
	struct pt_ring ring;
	struct perf_event_attr attr;
	u64 n;
	int member;
	unsigned int off;
};

/* The first member and the third one count the same. */
static void follow(struct follow *f)
{
	while (pt_next(&f->ring, &rec)) {
		f->off += rec.h.type == PERF_RECORD_THROTTLE;
		if (rec.h.type != PERF_RECORD_SAMPLE)
			continue;
		pt_parse_sample(&f->attr, &rec, &s);
		f->n += f->attr.sample_period;
		if (f->attr.precise_ip)
			pt_eq(s.read.v[f->member].value, f->n);
		pt_eq(s.read.v[0].value, s.read.v[2].value);
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_consume(&f->ring);
}

/*
 * Each interrupt is one too many: what drains the records stops the group, whose other members have
 * records behind that, or have overflowed as well.
 */
static void throttle(struct perf_event_attr third)
{
	struct follow f[MEMBERS] = {
		{ .attr = instructions(1999), .member = 0 },
		{ .attr = sampling(x86_conditional_branches(), false, 773), .member = 1 },
		{ .attr = third, .member = 2 },
	};
	int fds[MEMBERS], i, turns;
	struct pt_read r;

	/* however long an interrupt takes: it writes hundreds of samples */
	pt_sysctl_set("perf_cpu_time_max_percent", 25);
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	for (i = 0; i < MEMBERS; i++) {
		fds[i] = pt_open(&f[i].attr, 0, -1, i ? fds[0] : -1, 0);
		pt_map(&f[i].ring, fds[i], 256);
	}
	pt_enable(fds[0]);
	for (turns = 0; f[0].off + f[1].off < 8; turns++) {
		pt_need(turns < 5000, "throttled %u and %u times", f[0].off, f[1].off);
		pt_spin(20000);
		for (i = 0; i < MEMBERS; i++)
			follow(&f[i]);
	}
	pt_disable(fds[0]);
	pt_read(fds[0], FORMAT, MEMBERS, &r);
	for (i = 0; i < MEMBERS; i++) {
		follow(&f[i]);
		if (f[i].attr.sample_period)
			pt_eq(f[i].n / f[i].attr.sample_period,
			      r.v[i].value / f[i].attr.sample_period);
	}
	pt_eq(r.v[0].value, r.v[2].value);
	for (i = MEMBERS - 1; i >= 0; i--) {
		pt_unmap(&f[i].ring);
		close(fds[i]);
	}
}

static void throttled(void)
{
	struct perf_event_attr third = counting(x86_general_cycles(), false);

	need_format_6();
	throttle(third);
	third = sampling(third, false, 50021);
	third.precise_ip = 0;
	throttle(third);
}

/* Page faults are in no record: each sample is made in an interrupt of its own, with the count. */
static void members_without_counter(void)
{
	struct perf_event_attr attr = instructions(997);
	struct perf_event_attr faults = counting(pt_attr(PT_SW(PAGE_FAULTS)), false);
	struct pt_ring ring;
	u64 n = 0, last = 0;
	int fds[2], i;
	u8 *pages;

	need_counters();
	fds[0] = pt_open(&attr, 0, -1, -1, 0);
	fds[1] = pt_open(&faults, 0, -1, fds[0], 0);
	pt_map(&ring, fds[0], 256);
	pages = pt_fresh_pages(20);
	pt_enable(fds[0]);
	for (i = 0; i < 20; i++) {
		pt_touch(pages + i * pt_page_size(), 1);
		pt_spin(2000);
	}
	pt_disable(fds[0]);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		n += 997;
		pt_eq(s.read.v[0].value, n);
		pt_check(s.read.v[1].value == last || s.read.v[1].value == last + 1,
			 "%llu faults after %llu", (unsigned long long)s.read.v[1].value,
			 (unsigned long long)last);
		last = s.read.v[1].value;
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_eq(last, 20);
}

/* Nor is what another PMU counts, which is asked when the sample is made. */
static void members_of_another_pmu(void)
{
	struct perf_event_attr attr = instructions(9973), tsc = pt_attr(0, 0);
	struct pt_ring ring;
	int fds[2], type;
	u64 before = 0;

	need_counters();
	type = pt_pmu_type("msr");
	if (type < 0)
		pt_skip("no PMU that others' events can be grouped with");
	tsc.type = (u32)type;
	tsc.read_format = FORMAT;
	fds[0] = pt_open(&attr, 0, -1, -1, 0);
	fds[1] = pt_open(&tsc, 0, -1, fds[0], 0);
	pt_map(&ring, fds[0], 256);
	x86_measured_spin(fds[0], TURNS);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_check(s.read.v[1].value >= before + 9973, "%llu after %llu",
			 (unsigned long long)s.read.v[1].value, (unsigned long long)before);
		before = s.read.v[1].value;
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_check(before, "no samples");
}

/* What a count was is sampled with the registers of then. */
static void without_format_6(void)
{
	struct perf_event_attr attr = instructions(9973);
	u64 pmis;

	x86_need_exact();
	if (!x86_is_intel() || pt_probe(&attr))
		pt_skip("no PEBS");
	if ((x86_rdmsr(CAPABILITIES) >> 8 & 0xf) >= 6)
		pt_skip("counters are in records");
	pt_first_on_cpu(0);
	pmis = spin_under(&attr);
	pt_eq(pmis, X86_SPIN_COST(TURNS) / 9973);
}

static const struct pt_case cases[] = {
	{ "records_pile_up", records_pile_up },
	{ "one_by_one", one_by_one },
	{ "frequency", frequency },
	{ "alone", alone },
	{ "two_precise", two_precise },
	{ "ordinary_samples_in_between", ordinary_samples_in_between },
	{ "looks_in_between", looks_in_between },
	{ "the_next_owner", the_next_owner },
	{ "records_wait", records_wait },
	{ "the_leader_is_closed", the_leader_is_closed },
	{ "throttled", throttled },
	{ "members_without_counter", members_without_counter },
	{ "members_of_another_pmu", members_of_another_pmu },
	{ "without_format_6", without_format_6 },
};

PT_MAIN(cases)
