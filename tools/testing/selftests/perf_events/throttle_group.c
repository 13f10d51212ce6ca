// SPDX-License-Identifier: GPL-2.0
/*
 * throttle_group.c - groups of hardware events of which one is throttled: what the same PMU counts
 * stands still with it, so that the counts of a group are always of the same time.
 *
 * On the emulated PMUs an instruction is a cycle, so members that count from the same moments to
 * the same moments have the same counts. Linux 6.12 stops the one that was too frequent alone.
 *
 * needs: hw pmuv3 skid
 */
#include "lib/ext.h"
#include "lib/x86.h"

#define PERIOD	10007
#define NEVER	(1ull << 40)
/*
 * Turns of PERIOD instructions until a tick must have come. An x86 guest that has just booted has
 * none for 200 ms when it takes to high-resolution timers.
 */
#define MOST_TURNS	60000

static struct pt_record rec;
static struct pt_ring ring;

static unsigned int off, on, samples;
static u64 throttled_id;

static struct perf_event_attr counting(u64 config)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_HARDWARE, config);

	attr.exclude_kernel = 1;
	attr.read_format = PERF_FORMAT_GROUP;
	return attr;
}

/* Of cycles, which have a counter of their own wherever others interrupt late. */
static struct perf_event_attr sampling(u64 period)
{
	struct perf_event_attr attr = counting(PERF_COUNT_HW_CPU_CYCLES);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	return attr;
}

/* Each sample is one too many. */
static void need_counters(void)
{
	struct perf_event_attr attr = sampling(PERIOD);

	if (pt_probe(&attr) || !pt_time_is_exact())
		pt_skip("no PMU with exact counts");
	if (pt_is_stock())
		pt_skip("Linux 6.12 stops the one that is too frequent alone");
	pt_pin(0);
	if (pt_sysctl_get("perf_cpu_time_max_percent") == 0)
		pt_sysctl_set("perf_cpu_time_max_percent", 25);
	pt_sysctl_set("perf_event_max_sample_rate", 100);
}

static int open_first(struct perf_event_attr attr)
{
	attr.disabled = 1;
	return pt_open(&attr, 0, -1, -1, 0);
}

static void watch(int fd)
{
	pt_map(&ring, fd, 64);
	throttled_id = pt_id(fd);
}

static void follow(void)
{
	while (pt_next(&ring, &rec)) {
		struct pt_rec_throttle *t = (struct pt_rec_throttle *)rec.body;

		if (rec.h.type == PERF_RECORD_SAMPLE) {
			samples++;
			continue;
		}
		pt_eq(t->id, throttled_id);
		off += rec.h.type == PERF_RECORD_THROTTLE;
		on += rec.h.type == PERF_RECORD_UNTHROTTLE;
		pt_check(off == on || off == on + 1, "%u off, %u on", off, on);
	}
	pt_consume(&ring);
}

static void until_throttled(void)
{
	unsigned int before, i;

	follow();
	before = off;
	for (i = 0; off == before; i++) {
		pt_need(i < MOST_TURNS, "it is never throttled");
		pt_spin(PERIOD / 2);
		follow();
	}
}

static u64 same_counts(int fd, unsigned int nr)
{
	struct pt_read r;
	unsigned int i;

	pt_read(fd, PERF_FORMAT_GROUP, nr, &r);
	for (i = 1; i < nr; i++)
		pt_eq(r.v[i].value, r.v[0].value);
	return r.v[0].value;
}

/* Through ticks that release it; nothing is counted of most of the time. */
static void through_ticks(int leader, unsigned int nr)
{
	u64 before, done = 0;

	pt_enable(leader);
	until_throttled();
	before = same_counts(leader, nr);
	pt_check(before >= PERIOD, "%llu", (unsigned long long)before);
	do {
		until_throttled();
		done++;
		same_counts(leader, nr);
	} while (done < 5);
	pt_spin(1000);
	pt_check(same_counts(leader, nr) <= before + done * 2 * PERIOD, "%llu after %llu",
		 (unsigned long long)same_counts(leader, nr), (unsigned long long)before);
	pt_check(samples >= off, "%u samples, %u off", samples, off);
}

static void a_leader(void)
{
	struct perf_event_attr more[] = {
		counting(PERF_COUNT_HW_INSTRUCTIONS), counting(PERF_COUNT_HW_INSTRUCTIONS),
	};
	int fd;

	need_counters();
	fd = open_first(sampling(PERIOD));
	pt_open(&more[0], 0, -1, fd, 0);
	pt_open(&more[1], 0, -1, fd, 0);
	watch(fd);
	through_ticks(fd, 3);
}

static void a_sibling(void)
{
	struct perf_event_attr second = sampling(PERIOD);
	struct perf_event_attr third = counting(PERF_COUNT_HW_INSTRUCTIONS);
	int fd;

	need_counters();
	fd = open_first(counting(PERF_COUNT_HW_INSTRUCTIONS));
	watch(pt_open(&second, 0, -1, fd, 0));
	pt_open(&third, 0, -1, fd, 0);
	through_ticks(fd, 3);
}

/*
 * Both overflow in one interrupt, and the one that is looked at first stops the other. No sample is
 * lost by that.
 */
static void both_at_once(void)
{
	struct perf_event_attr attr = sampling(PERIOD);
	unsigned int n[2] = {}, stops = 0, i;
	u64 id[2];
	int fd, fd2;

	need_counters();
	pt_sysctl_set("perf_event_max_sample_rate", 10000);
	attr.sample_type = PERF_SAMPLE_IDENTIFIER;
	fd = open_first(attr);
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	fd2 = pt_open(&attr, 0, -1, fd, 0);
	pt_map(&ring, fd, 64);
	pt_eq(pt_ioctl(fd2, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)fd), 0);
	id[0] = pt_id(fd);
	id[1] = pt_id(fd2);
	pt_enable(fd);
	for (i = 0; stops < 5; i++) {
		pt_need(i < MOST_TURNS, "they are never throttled");
		pt_spin(PERIOD / 2);
		same_counts(fd, 2);
		while (pt_next(&ring, &rec)) {
			u64 who = *(u64 *)rec.body;

			stops += rec.h.type == PERF_RECORD_THROTTLE;
			if (rec.h.type == PERF_RECORD_SAMPLE)
				n[who == id[1]] += who == id[0] || who == id[1];
		}
		pt_consume(&ring);
	}
	pt_check(n[0] >= 2 * stops, "%u samples, %u stops", n[0], stops);
	pt_eq(n[1], n[0]);
}

/* Throttled, and then: nothing holds the others up any longer. */
static void given_a_period(void)
{
	struct perf_event_attr more = counting(PERF_COUNT_HW_INSTRUCTIONS);
	u64 period = NEVER, before;
	int fd;

	need_counters();
	fd = open_first(sampling(PERIOD));
	pt_open(&more, 0, -1, fd, 0);
	watch(fd);
	pt_enable(fd);
	until_throttled();
	before = same_counts(fd, 2);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
	pt_spin(1000);
	pt_check(same_counts(fd, 2) >= before + 2000, "%llu after %llu",
		 (unsigned long long)same_counts(fd, 2), (unsigned long long)before);
	follow();
	pt_eq(on, off);
}

/* One that stands still for another begins its new period when that one goes on. */
static void a_period_while_held(void)
{
	struct perf_event_attr second = sampling(NEVER);
	u64 period = 3 * PERIOD;
	struct pt_ring other;
	u64 n = 0;
	int fd, fd2;

	need_counters();
	fd = open_first(sampling(PERIOD));
	second.config = PERF_COUNT_HW_INSTRUCTIONS;
	fd2 = pt_open(&second, 0, -1, fd, 0);
	pt_map(&other, fd2, 64);
	watch(fd);
	pt_enable(fd);
	until_throttled();
	pt_eq(pt_ioctl(fd2, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
	do {
		until_throttled();
		same_counts(fd, 2);
		while (pt_next(&other, &rec))
			n += rec.h.type == PERF_RECORD_SAMPLE;
	} while (same_counts(fd, 2) < 40 * PERIOD);
	/* Where interrupts come at once, the third overflow of the other. */
	pt_check(n >= 5 && n <= 14, "%llu samples", (unsigned long long)n);
}

static void switched_out(void)
{
	struct perf_event_attr more = counting(PERF_COUNT_HW_INSTRUCTIONS);
	u64 before;
	int fd, i;

	need_counters();
	fd = open_first(sampling(PERIOD));
	pt_open(&more, 0, -1, fd, 0);
	watch(fd);
	pt_enable(fd);
	for (i = 0; i < 10; i++) {
		until_throttled();
		before = same_counts(fd, 2);
		pt_switch_out();
		pt_spin(100);
		pt_check(same_counts(fd, 2) >= before + 200, "%llu after %llu",
			 (unsigned long long)same_counts(fd, 2), (unsigned long long)before);
	}
}

/* Where the CPU has had its samples of a tick, a switch lets none of them go before the next. */
static void switched_out_at_the_limit(void)
{
	struct perf_event_attr more = counting(PERF_COUNT_HW_INSTRUCTIONS);
	int fd, i;

	ext_need();
	need_counters();
	pt_sysctl_set("perf_ext_samples_per_tick", 1);
	fd = open_first(sampling(PERIOD));
	pt_open(&more, 0, -1, fd, 0);
	watch(fd);
	pt_enable(fd);
	for (i = 0; i < 10; i++) {
		until_throttled();
		pt_switch_out();
		pt_spin(1000);
		same_counts(fd, 2);
	}
}

/* Members are on their own then, and the one that is gone is no reason to wait. */
static void the_throttled_is_closed(void)
{
	struct perf_event_attr second = counting(PERF_COUNT_HW_INSTRUCTIONS);
	unsigned int turns;
	u64 before;
	int fd, fd2, i;

	need_counters();
	second.read_format = 0;
	for (i = 0; i < 2; i++) {
		struct perf_event_attr attr = sampling(PERIOD);

		if (i) {
			fd2 = open_first(second);
			fd = pt_open(&attr, 0, -1, fd2, 0);
		} else {
			fd = open_first(attr);
			fd2 = pt_open(&second, 0, -1, fd, 0);
		}
		watch(fd);
		pt_enable(i ? fd2 : fd);
		off = 0;
		on = 0;
		until_throttled();
		pt_unmap(&ring);
		close(fd);
		before = pt_count(fd2);
		for (turns = 0; turns < MOST_TURNS && pt_count(fd2) < before + PERIOD; turns++)
			pt_spin(PERIOD / 2);
		pt_check(turns < MOST_TURNS, "the other one stands for ever");
		close(fd2);
	}
}

static void software_goes_on(void)
{
	struct perf_event_attr faults = pt_attr(PT_SW(PAGE_FAULTS));
	u64 before;
	int fd, fd2;

	need_counters();
	fd = open_first(sampling(PERIOD));
	fd2 = pt_open(&faults, 0, -1, fd, 0);
	watch(fd);
	pt_enable(fd);
	until_throttled();
	before = pt_count(fd2);
	pt_fault(7);
	pt_eq(pt_count(fd2), before + 7);
}

/* An NMI does not walk any number of members: the one that was too frequent stops alone. */
static void not_of_many(void)
{
	struct perf_event_attr more = counting(PERF_COUNT_HW_INSTRUCTIONS), attr = sampling(PERIOD);
	struct perf_event_attr faults = pt_attr(PT_SW(PAGE_FAULTS));
	u64 before;
	int fd, fd2, i;

	need_counters();
	attr.read_format = 0;
	more.read_format = 0;
	fd = open_first(attr);
	for (i = 0; i < 255; i++)
		pt_open(&faults, 0, -1, fd, 0);
	fd2 = pt_open(&more, 0, -1, fd, 0);
	watch(fd);
	pt_enable(fd);
	for (i = 0; i < 3; i++) {
		until_throttled();
		before = pt_count(fd2);
		pt_spin(1000);
		pt_check(pt_count(fd2) >= before + 2000, "%llu after %llu",
			 (unsigned long long)pt_count(fd2), (unsigned long long)before);
	}
}

#if defined(__x86_64__)

/*
 * Another event takes the counter of one that stands still: until that goes on its page names no
 * counter. On Skylake event C0H with mask 1 is counted by counter 1 alone.
 */
static void its_counter_is_taken(void)
{
	struct perf_event_attr general = x86_general_cycles(), taker = x86_hw(0);
	struct perf_event_mmap_page *page;
	char name[64] = "";
	u64 before;
	int fd, fd2 = -1, i;

	need_counters();
	pt_slurp(X86_PMU "caps/pmu_name", name, sizeof(name));
	if (strncmp(name, "skylake", 7))
		pt_skip("no event is known that only one counter counts");
	fd = open_first(sampling(PERIOD));
	general.disabled = 0;
	for (i = 0; i < 2; i++)
		fd2 = pt_open(&general, 0, -1, fd, 0);
	page = mmap(NULL, (size_t)pt_page_size(), PROT_READ, MAP_SHARED, fd2, 0);
	pt_need(page != MAP_FAILED, "mmap: %s", strerror(errno));
	watch(fd);
	pt_enable(fd);
	pt_eq(page->index, 2);
	until_throttled();
	before = pt_count(fd2);
	taker.type = PERF_TYPE_RAW;
	taker.config = 0x1c0;
	taker.disabled = 0;
	pt_open(&taker, 0, -1, -1, 0);
	pt_eq(page->index, 0);
	pt_eq((u64)page->offset, before);
	pt_eq(pt_count(fd2), before);
	until_throttled();
	pt_check(pt_count(fd2) >= before + PERIOD, "it does not go on");
}

#endif

/* In the kernel, too: the tick lets them go while the PMU is off, so all start at once. */
static void in_the_kernel(void)
{
	struct perf_event_attr attr = sampling(PERIOD);
	struct perf_event_attr more = counting(PERF_COUNT_HW_INSTRUCTIONS);
	int fd, i;

	need_counters();
#if defined(__x86_64__)
	if (!x86_has_global())
		pt_skip("counters that start one after the other");
#endif
	attr.exclude_kernel = 0;
	more.exclude_kernel = 0;
	fd = open_first(attr);
	pt_open(&more, 0, -1, fd, 0);
	watch(fd);
	pt_enable(fd);
	until_throttled();
	for (i = 0; i < 5; i++) {
		/* Soon after a tick: the next one, which lets them go, is far away. */
		until_throttled();
		same_counts(fd, 2);
	}
}

static const struct pt_case cases[] = {
	{ "a_leader", a_leader },
	{ "a_sibling", a_sibling },
	{ "in_the_kernel", in_the_kernel },
	{ "both_at_once", both_at_once },
	{ "given_a_period", given_a_period },
	{ "a_period_while_held", a_period_while_held },
	{ "switched_out", switched_out },
	{ "switched_out_at_the_limit", switched_out_at_the_limit },
	{ "the_throttled_is_closed", the_throttled_is_closed },
	{ "software_goes_on", software_goes_on },
	{ "not_of_many", not_of_many },
#if defined(__x86_64__)
	{ "its_counter_is_taken", its_counter_is_taken },
#endif
};

PT_MAIN(cases)
