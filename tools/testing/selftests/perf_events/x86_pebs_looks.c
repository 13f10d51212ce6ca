// SPDX-License-Identifier: GPL-2.0
/*
 * x86_pebs_looks.c - precise events that are read at any moment: before a record, between it and
 * its interrupt, while somebody makes samples of records, and when another interrupt comes into
 * that. They count what ordinary events beside them count.
 *
 * needs: pebs-counters late
 */
#include "lib/x86.h"

static struct pt_ring ring;

static struct perf_event_attr instructions(u64 period, u64 acr_mask)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.precise_ip = 2;
	attr.config2 = acr_mask;
	return attr;
}

static void need_precise(void)
{
	struct perf_event_attr attr = instructions(1000, 0);

	x86_need_exact();
	if (!x86_is_intel() || pt_probe(&attr))
		pt_skip("no PEBS");
	pt_first_on_cpu(0);
}

static void need_acr(void)
{
	char text[64];

	need_precise();
	if (!pt_slurp(X86_PMU "format/acr_mask", text, sizeof(text)))
		pt_skip("counters do not reload one another");
}

/* One that could reload others, but its period is never over. */
static struct perf_event_attr never(void)
{
	struct perf_event_attr attr = x86_conditional_branches();

	attr.sample_period = (1u << 31) - 1;
	return attr;
}

static int open_member(struct perf_event_attr attr, int leader)
{
	attr.disabled = leader < 0;
	return pt_open(&attr, 0, -1, leader, 0);
}

/* Read it after so many turns of a loop, again and again. */
static void look(int fd, int i)
{
	pt_spin(i * 7 % 1301 + 1);
	pt_count(fd);
	pt_drain(&ring);
}

/* Another one may reload it, but never does. */
static void looks_at_a_reloaded_one(void)
{
	u64 n, samples;
	int fds[3], i;

	need_acr();
	fds[0] = open_member(instructions(2003, 1 << 1), -1);
	fds[1] = open_member(never(), fds[0]);
	fds[2] = open_member(x86_hw(PERF_COUNT_HW_INSTRUCTIONS), fds[0]);
	pt_map(&ring, fds[0], 512);
	pt_enable(fds[0]);
	for (i = 0; i < 500; i++) {
		pt_spin(i * 3 + 1);
		pt_count(fds[0]);
	}
	pt_disable(fds[0]);
	n = pt_count(fds[0]);
	samples = pt_count_records(&ring, PERF_RECORD_SAMPLE);
	pt_eq(n, pt_count(fds[2]));
	pt_eq(samples, n / 2003);
}

/*
 * One whose count is in the records of others, which a third may reload, but never does, overflows
 * while somebody turns records into samples: what the record has is older then than what the
 * interrupt has read.
 */
static void overflows_while_records_are_read(void)
{
	struct perf_event_attr a = instructions(1999, 0), b = x86_conditional_branches();
	int fds[4], i;

	need_acr();
	a.sample_type |= PERF_SAMPLE_READ;
	a.read_format = PERF_FORMAT_GROUP;
	b.sample_period = 1000;
	b.config2 = 1 << 2;
	fds[0] = open_member(a, -1);
	fds[1] = open_member(b, fds[0]);
	fds[2] = open_member(never(), fds[0]);
	fds[3] = open_member(x86_conditional_branches(), fds[0]);
	pt_map(&ring, fds[0], 512);
	pt_enable(fds[0]);
	for (i = 0; i < 2000; i++) {
		struct pt_read r;

		look(fds[1], i);
		pt_read(fds[0], PERF_FORMAT_GROUP, 4, &r);
	}
	pt_disable(fds[0]);
	pt_eq(pt_count(fds[1]), pt_count(fds[3]));
}

/* An ordinary sample that has its count comes while its records become samples. */
static void sampled(u64 acr_mask)
{
	struct perf_event_attr cycles = x86_general_cycles();
	int fds[4], i;

	cycles.sample_period = 1499;
	cycles.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
	cycles.read_format = PERF_FORMAT_GROUP;
	fds[0] = open_member(cycles, -1);
	fds[1] = open_member(instructions(1009, acr_mask), fds[0]);
	fds[2] = open_member(acr_mask ? never() : x86_conditional_branches(), fds[0]);
	fds[3] = open_member(x86_hw(PERF_COUNT_HW_INSTRUCTIONS), fds[0]);
	pt_map(&ring, fds[0], 512);
	pt_eq(pt_ioctl(fds[1], PERF_EVENT_IOC_SET_OUTPUT, fds[0]), 0);
	pt_enable(fds[0]);
	for (i = 0; i < 2000; i++)
		look(fds[1], i);
	pt_disable(fds[0]);
	pt_eq(pt_count(fds[1]), pt_count(fds[3]));
}

static void sampled_while_records_are_read(void)
{
	need_precise();
	sampled(0);
}

static void sampled_and_reloaded(void)
{
	need_acr();
	sampled(1 << 2);
}

/* Samples of records have the counts of others as they are, also of others that have records. */
static void counts_in_samples(void)
{
	struct perf_event_attr a = instructions(1009, 0);
	struct pt_record rec;
	struct pt_sample s;
	int fds[3], n = 0;

	need_precise();
	a.sample_type |= PERF_SAMPLE_READ;
	a.read_format = PERF_FORMAT_GROUP;
	fds[0] = open_member(a, -1);
	fds[1] = open_member(instructions(100003, 0), fds[0]);
	fds[2] = open_member(x86_hw(PERF_COUNT_HW_INSTRUCTIONS), fds[0]);
	pt_map(&ring, fds[0], 512);
	x86_measured_spin(fds[0], 100000);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
		pt_parse_sample(&a, &rec, &s);
		n++;
		pt_eq(s.read.v[0].value, s.read.v[2].value);
		pt_eq(s.read.v[1].value, s.read.v[2].value);
	}
	pt_check(n > 100, "%d samples", n);
}

static const struct pt_case cases[] = {
	{ "looks_at_a_reloaded_one", looks_at_a_reloaded_one },
	{ "overflows_while_records_are_read", overflows_while_records_are_read },
	{ "sampled_while_records_are_read", sampled_while_records_are_read },
	{ "sampled_and_reloaded", sampled_and_reloaded },
	{ "counts_in_samples", counts_in_samples },
};

PT_MAIN(cases)
