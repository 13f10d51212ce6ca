// SPDX-License-Identifier: GPL-2.0
/*
 * x86_pairs.c - large-increment events of AMD CPUs, which need an even counter and the next one,
 * programmed with Merge: exact counts, what fits at once, overflow, reading, multiplexing.
 *
 * On the emulated PMU each instruction counts 16 of them with the pair and 15 without.
 *
 * needs: pairs
 */
#include "lib/x86.h"

#define COUNTERS	6
#define PAIRS		(COUNTERS / 2)
#define EACH		16
#define FLOPS		0x03
#define MERGE		(0xfull << 32 | 0xff)
#define ENABLED		(1ull << 22)
#define TIMES		(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static void need_pairs(void)
{
	x86_need_exact();
	if (x86_is_intel() || x86_general() != COUNTERS)
		pt_skip("no pairs of counters");
}

/* Retired SSE and AVX operations, all of them; user space, disabled. */
static struct perf_event_attr flops(void)
{
	struct perf_event_attr attr = x86_hw(0);

	attr.type = PERF_TYPE_RAW;
	attr.config = FLOPS | 0xff00;
	return attr;
}

static int open_one(struct perf_event_attr attr, int group)
{
	attr.read_format = TIMES;
	attr.disabled = group < 0;
	return pt_open_hw(&attr, group);
}

static int open_single(int group)
{
	return open_one(x86_hw(PERF_COUNT_HW_INSTRUCTIONS), group);
}

static u64 select_of(int i)
{
	return x86_rdmsr(X86_AMD_SELECT0 + 2 * (u32)i);
}

static u64 counter_of(int i)
{
	return x86_rdmsr(X86_AMD_COUNTER0 + 2 * (u32)i);
}

static void exact_counts(void)
{
	static const u64 turns[] = { 1, 2, 10, 1000, 12345, 500000 };
	unsigned int i;
	int fd;

	need_pairs();
	fd = open_one(flops(), -1);
	for (i = 0; i < PT_ARRAY_SIZE(turns); i++) {
		pt_reset(fd);
		x86_measured_spin(fd, turns[i]);
		pt_eq(pt_count(fd), EACH * X86_SPIN_COST(turns[i]));
	}
}

/* Both registers of each pair, while it counts and afterwards. */
static void what_is_programmed(void)
{
	int fd[PAIRS], i, j;

	need_pairs();
	for (i = 0; i < PAIRS; i++)
		fd[i] = open_one(flops(), -1);
	for (i = 0; i < PAIRS; i++) {
		pt_enable(fd[i]);
		for (j = 0; j < PAIRS; j++) {
			pt_eq(select_of(2 * j) & ENABLED, j <= i ? ENABLED : 0);
			if (j > i)
				continue;
			pt_eq(select_of(2 * j) & (0xfull << 32 | 0xff), FLOPS);
			pt_eq(select_of(2 * j + 1), MERGE | ENABLED);
			pt_eq(counter_of(2 * j + 1) & 0xffff, 0xffff);
		}
	}
	for (i = 0; i < PAIRS; i++) {
		pt_disable(fd[i]);
		pt_eq(select_of(2 * i) & ENABLED, 0);
		pt_eq(select_of(2 * i + 1), 0);
	}
	pt_eq(x86_counters_on(0), 0);
}

/* With @pairs pairs, how many others fit into the group? @pairs_last: the others come first. */
static int singles_beside(int pairs, bool pairs_last)
{
	int room = COUNTERS - 2 * pairs, fd[COUNTERS] = { -1 }, n = 0, i;
	struct perf_event_attr one = x86_hw(PERF_COUNT_HW_INSTRUCTIONS), two = flops();

	for (i = 0; i < room + pairs; i++) {
		bool pair = pairs_last ? i >= room : i < pairs;
		struct perf_event_attr *attr = pair ? &two : &one;

		attr->disabled = !n;
		fd[n] = pt_try_open(attr, 0, -1, n ? fd[0] : -1, 0);
		pt_need(fd[n] >= 0, "%d pairs: event %d: %s", pairs, i, strerror(-fd[n]));
		n++;
	}
	one.disabled = 0;
	two.disabled = 0;
	pt_eq(pt_try_open(&one, 0, -1, fd[0], 0), -EINVAL);
	pt_eq(pt_try_open(&two, 0, -1, fd[0], 0), -EINVAL);
	for (i = 0; i < n; i++)
		close(fd[i]);
	return n - pairs;
}

static void sizes_of_groups(void)
{
	int pairs;

	need_pairs();
	for (pairs = 0; pairs <= PAIRS; pairs++) {
		pt_eq(singles_beside(pairs, false), COUNTERS - 2 * pairs);
		pt_eq(singles_beside(pairs, true), COUNTERS - 2 * pairs);
	}
}

/* Every mixture that fits, on at once and off at once. */
static void groups_count(void)
{
	int fd[COUNTERS], pairs, n, i;

	need_pairs();
	for (pairs = 1; pairs <= PAIRS; pairs++) {
		n = COUNTERS - pairs;
		for (i = 0; i < n; i++)
			fd[i] = i < pairs ? open_one(flops(), i ? fd[0] : -1) : open_single(fd[0]);
		x86_measured_spin(fd[0], 5000);
		for (i = 0; i < n; i++)
			pt_eq(pt_count(fd[i]), (i < pairs ? EACH : 1) * X86_SPIN_COST(5000));
		for (i = 0; i < n; i++)
			close(fd[i]);
	}
}

/* Two counters are free, but none beside the other: somebody has to move, and loses nothing. */
static void others_move(void)
{
	int fd[COUNTERS], pair, i;
	struct pt_read r;

	need_pairs();
	for (i = 0; i < COUNTERS; i++) {
		fd[i] = open_single(-1);
		pt_enable(fd[i]);
	}
	close(fd[0]);
	close(fd[3]);
	pt_eq(select_of(0) & ENABLED, 0);
	pt_eq(select_of(3) & ENABLED, 0);
	pair = open_one(flops(), -1);
	x86_measured_spin(pair, 100000);
	pt_eq(pt_count(pair), EACH * X86_SPIN_COST(100000));
	for (i = 0; i < COUNTERS; i++) {
		if (i == 0 || i == 3)
			continue;
		pt_disable(fd[i]);
		pt_read(fd[i], TIMES, 1, &r);
		pt_eq(r.running, r.enabled);
		pt_check(r.v[0].value > 200000 && r.v[0].value < 210000, "event %d: %llu", i,
			 (unsigned long long)r.v[0].value);
	}
	pt_read(pair, TIMES, 1, &r);
	pt_eq(r.running, r.enabled);
}

/* Periods that are no multiple of an increment: an overflow comes with the one that passes it. */
static void samples(void)
{
	static const u64 periods[] = { 16 * 997, 16 * 997 + 1, 16 * 997 - 1, 10007, 1000 };
	const u64 turns = 20000;
	struct perf_event_attr attr = flops();
	struct pt_record rec;
	struct pt_sample s;
	struct pt_ring r;
	unsigned int i;
	int fd;
	u64 n;

	need_pairs();
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
	for (i = 0; i < PT_ARRAY_SIZE(periods); i++) {
		attr.sample_period = periods[i];
		fd = pt_open_hw(&attr, -1);
		pt_map(&r, fd, 64);
		x86_measured_spin(fd, turns);
		for (n = 0; pt_next_of(&r, &rec, PERF_RECORD_SAMPLE) && !pt_failures();) {
			u64 instructions = (++n * periods[i] + EACH - 1) / EACH;

			pt_parse_sample(&attr, &rec, &s);
			pt_eq(s.ip, x86_spin_ip(turns, instructions));
			pt_eq(s.read.v[0].value, EACH * instructions);
		}
		pt_eq(n, EACH * X86_SPIN_COST(turns) / periods[i]);
		pt_eq(pt_count(fd), EACH * X86_SPIN_COST(turns));
		pt_unmap(&r);
		close(fd);
	}
}

/* Three pairs sampled at once, each by its own period. */
static void three_at_once(void)
{
	static const u64 periods[PAIRS] = { 16 * 499, 16 * 701, 16 * 997 };
	const u64 turns = 20000, all = EACH * X86_SPIN_COST(turns);
	struct perf_event_attr attr = flops();
	struct pt_ring r[PAIRS];
	int fd[PAIRS], i;

	need_pairs();
	attr.sample_type = PERF_SAMPLE_IP;
	for (i = 0; i < PAIRS; i++) {
		attr.disabled = !i;
		attr.sample_period = periods[i];
		fd[i] = pt_open_hw(&attr, i ? fd[0] : -1);
		pt_map(&r[i], fd[i], 16);
	}
	x86_measured_spin(fd[0], turns);
	for (i = 0; i < PAIRS; i++) {
		pt_eq(pt_count(fd[i]), all);
		pt_eq(pt_count_records(&r[i], PERF_RECORD_SAMPLE), all / periods[i]);
	}
}

/* A stretch of user space, by user space's own reading. */
static u64 user_stretch(struct perf_event_mmap_page *page, u64 turns)
{
	u64 before = x86_user_count(page);

	pt_spin(turns);
	return x86_user_count(page) - before;
}

static void read_by_user_space(void)
{
	struct pt_ring r;
	u64 none, some;
	int fd;

	need_pairs();
	fd = open_one(flops(), -1);
	pt_map(&r, fd, 0);
	pt_enable(fd);
	pt_eq(r.page->index, 0 + 1);
	user_stretch(r.page, 1);
	none = user_stretch(r.page, 1000);
	some = user_stretch(r.page, 2000);
	pt_eq(some - none, EACH * 2 * 1000);
	pt_eq(none % EACH, 0);
	pt_check(none > EACH * 2000 && none < EACH * 2200, "%llu", (unsigned long long)none);
	some = x86_user_count(r.page);
	none = pt_count(fd);
	pt_check(none > some && none < some + EACH * 200, "%llu and %llu",
		 (unsigned long long)some, (unsigned long long)none);
}

/* The count of a spin whose counter is moved forward by so much on the way. */
static u64 moved(bool far, u64 *by)
{
	int fd = open_one(flops(), -1);
	u64 raw;

	pt_enable(fd);
	raw = counter_of(0);
	*by = far ? (1ull << 48) - 10000 * EACH - raw : 0;
	x86_wrmsr(X86_AMD_COUNTER0, raw + *by);
	pt_spin(100000);
	raw = pt_count(fd);
	close(fd);
	return raw;
}

/* The end of 48 bits is that of the pair: an interrupt, nothing lost. */
static void across_the_last_bit(void)
{
	u64 plain, far, by, before;

	need_pairs();
	moved(false, &by);
	plain = moved(false, &by);
	before = x86_interrupts();
	far = moved(true, &by);
	pt_eq(x86_interrupts() - before, 1);
	pt_eq(far - plain, by);
	before = x86_interrupts();
	moved(false, &by);
	pt_eq(x86_interrupts() - before, 0);
}

/* Groups of a pair and a single: two at a time, and both members saw the same always. */
static void multiplexed(void)
{
	enum { GROUPS = 5 };
	int pair[GROUPS], single[GROUPS], i;
	u64 running = 0;
	struct pt_read r;

	need_pairs();
	for (i = 0; i < GROUPS; i++) {
		pair[i] = open_one(flops(), -1);
		single[i] = open_single(pair[i]);
	}
	for (i = 0; i < GROUPS; i++)
		pt_enable(pair[i]);
	for (i = 0; i < 60; i++) {
		pt_spin(1000000);
		pt_eq(x86_counters_on(0), 6);
	}
	for (i = 0; i < GROUPS; i++)
		pt_disable(pair[i]);
	for (i = 0; i < GROUPS; i++) {
		u64 count;

		pt_read(single[i], TIMES, 1, &r);
		count = r.v[0].value;
		pt_check(count > 1000000, "group %d: %llu instructions", i,
			 (unsigned long long)count);
		pt_read(pair[i], TIMES, 1, &r);
		pt_eq(r.v[0].value, EACH * count);
		pt_check(r.running && r.running < r.enabled, "group %d: %llu of %llu", i,
			 (unsigned long long)r.running, (unsigned long long)r.enabled);
		running += r.running;
	}
	pt_check(running < 2 * r.enabled + r.enabled / 10 && running > 2 * r.enabled * 9 / 10,
		 "%llu of 2 * %llu", (unsigned long long)running, (unsigned long long)r.enabled);
}

/* Two tasks by turns, both with pairs: what each did itself. */
static void each_task_its_own(void)
{
	int to[2], back[2], pair, single, i;
	pid_t pid;

	need_pairs();
	pt_gate_make(to);
	pt_gate_make(back);
	pt_in_child(pid) {
		single = open_single(-1);
		pair = open_one(flops(), single);
		pt_enable(single);
		for (i = 0; i < 20; i++) {
			pt_gate_wait(to);
			pt_spin(2000);
			pt_gate_open(back);
		}
		pt_disable(single);
		pt_check(pt_count(single) > 80000 && pt_count(single) < 100000, "%llu",
			 (unsigned long long)pt_count(single));
		pt_eq(pt_count(pair), EACH * pt_count(single));
	}
	pair = open_one(flops(), -1);
	single = open_single(pair);
	pt_enable(pair);
	for (i = 0; i < 20; i++) {
		pt_spin(1000);
		pt_gate_open(to);
		pt_gate_wait(back);
	}
	pt_disable(pair);
	pt_reap(pid);
	pt_check(pt_count(single) > 40000 && pt_count(single) < 60000, "%llu",
		 (unsigned long long)pt_count(single));
	pt_eq(pt_count(pair), EACH * pt_count(single));
}

static const struct pt_case cases[] = {
	{ "exact_counts", exact_counts },
	{ "what_is_programmed", what_is_programmed },
	{ "sizes_of_groups", sizes_of_groups },
	{ "groups_count", groups_count },
	{ "others_move", others_move },
	{ "samples", samples },
	{ "three_at_once", three_at_once },
	{ "read_by_user_space", read_by_user_space },
	{ "across_the_last_bit", across_the_last_bit },
	{ "multiplexed", multiplexed },
	{ "each_task_its_own", each_task_its_own },
};

PT_MAIN(cases)
