// SPDX-License-Identifier: GPL-2.0
/*
 * x86_topdown_over.c - what is behind the metrics of Intel CPUs overflows long before the counter
 * of slots does (the property pmu-metrics-bits): the interrupt makes one more stretch, and nothing
 * is lost; slots that are sampled have nothing to do with it.
 *
 * needs: td-overflow
 */
#include "lib/x86_metrics.h"

/* Slots until the overflow. */
static u64 room(void)
{
	u64 bits;

	metrics();
	bits = x86_rdmsr(X86_METRICS_BITS);
	if (!bits)
		pt_skip("these metrics overflow with the counter of slots");
	return 1ull << bits;
}

/* Instructions that spin() executes in a stretch, of which one in two is a branch. */
static void add_stretch(u64 want[FIRST_LEVEL], u64 instructions, u64 branches)
{
	u64 all = 4 * instructions;

	want[RETIRING] += share(instructions, all);
	want[BAD_SPECULATION] += share(3 * branches, all);
	want[BACK_END] += share(3 * (instructions - branches), all);
}

static void each_overflow_ends_a_stretch(void)
{
	const u64 turns = 200000, cost = X86_SPIN_COST(turns);
	u64 stretch = room() / 4, n = cost / stretch, want[FIRST_LEVEL] = {}, interrupts, i;
	struct group g;

	open_group(&g, metrics());
	pt_first_on_cpu(0);
	interrupts = x86_interrupts();
	x86_measured_spin(g.fd, turns);
	pt_eq(x86_interrupts() - interrupts, n);
	pt_check(n > 5, "%llu overflows", (unsigned long long)n);
	read_group(&g);
	for (i = 0; i < n; i++)
		add_stretch(want, stretch, stretch / 2);
	add_stretch(want, cost - n * stretch, turns - n * stretch / 2);
	pt_eq(g.instructions, cost);
	pt_eq(g.slots, 4 * cost);
	for (i = 0; i < FIRST_LEVEL; i++)
		pt_eq(g.metric[i], want[i]);
}

/* Another event samples meanwhile: neither takes the other's interrupts. */
static void beside_a_sampling_event(void)
{
	const u64 turns = 200000, cost = X86_SPIN_COST(turns), period = 1009;
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES);
	struct pt_ring r;
	struct group g;
	int fd;

	room();
	open_group(&g, metrics());
	attr.disabled = 0;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.read_format = PERF_FORMAT_GROUP;
	fd = pt_open_hw(&attr, g.fd);
	pt_map(&r, fd, 32);
	pt_first_on_cpu(0);
	x86_measured_spin(g.fd, turns);
	g.n++;
	read_group(&g);
	pt_eq(g.slots, 4 * cost);
	pt_eq(g.metric[g.n - 1], cost);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), cost / period);
}

/* Slots alone: their counter has a period in it, which the metrics' overflow must leave alone. */
static void slots_are_sampled(void)
{
	const u64 turns = 200000, slots = 4 * X86_SPIN_COST(turns), period = 3 * room() + 4;
	struct perf_event_attr attr = raw(SLOTS);
	u64 interrupts;
	struct pt_ring r;
	int fd;

	if (pt_is_stock())
		pt_skip("Linux 6.12 sets the counter to 0");
	attr.read_format = 0;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 16);
	interrupts = x86_interrupts();
	x86_measured_spin(fd, turns);
	interrupts = x86_interrupts() - interrupts;
	pt_eq(pt_count(fd), slots);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), slots / period);
	/* The metrics did overflow, too. */
	pt_check(interrupts > slots / period, "%llu interrupts", (unsigned long long)interrupts);
}

static const struct pt_case cases[] = {
	{ "each_overflow_ends_a_stretch", each_overflow_ends_a_stretch },
	{ "beside_a_sampling_event", beside_a_sampling_event },
	{ "slots_are_sampled", slots_are_sampled },
};

PT_MAIN(cases)
