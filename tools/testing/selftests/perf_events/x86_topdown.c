// SPDX-License-Identifier: GPL-2.0
/*
 * x86_topdown.c - slots and the top-down metrics of Intel CPUs: exact shares, also over switches,
 * stops and user space's own reads, and what is refused.
 *
 * On the emulated PMU an instruction has four slots, of which one retires. The other three are lost
 * to bad speculation if it is a conditional branch, otherwise in user space to the back end. The
 * register says this in 255ths, rounded down, of what there was since it was cleared.
 *
 * needs: hw metrics
 */
#include <linux/hw_breakpoint.h>
#include "lib/x86_metrics.h"

#define RDPMC_SLOTS	(1u << 30 | 3)
#define RDPMC_METRICS	(1u << 29)

/* One stretch of user space: what is lost is lost to bad speculation or to the back end. */
static void expect_shares(const struct group *g, u64 instructions, u64 branches, u64 times)
{
	u64 all = 4 * instructions, bad = 3 * branches, back = 3 * (instructions - branches);

	pt_eq(g->instructions, times * instructions);
	pt_eq(g->slots, times * all);
	pt_eq(g->metric[RETIRING], times * share(instructions, all));
	pt_eq(g->metric[BAD_SPECULATION], times * share(bad, all));
	pt_eq(g->metric[FRONT_END], 0);
	pt_eq(g->metric[BACK_END], times * share(back, all));
}

static void shares_of_slots(void)
{
	static const u64 turns[] = { 1, 2, 10, 1000, 12345, 500000 };
	struct group g;
	unsigned int i;

	open_group(&g, metrics());
	pt_first_on_cpu(0);	/* a switch on the way makes two stretches of one */
	for (i = 0; i < PT_ARRAY_SIZE(turns); i++) {
		pt_eq(pt_ioctl(g.fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), 0);
		x86_measured_spin(g.fd, turns[i]);
		read_group(&g);
		expect_shares(&g, X86_SPIN_COST(turns[i]), turns[i], 1);
	}
}

/* Half of what retires is heavy, all bad speculation mispredicted, half of the back end memory. */
static void second_level(void)
{
	const u64 turns = 100000, all = 4 * X86_SPIN_COST(turns);
	struct group g;
	u64 half;	/* of a share, in 255ths */

	if (metrics() < SECOND_LEVEL)
		pt_skip("the CPU has the first level alone");
	open_group(&g, SECOND_LEVEL);
	pt_first_on_cpu(0);
	x86_measured_spin(g.fd, turns);
	read_group(&g);
	half = X86_SPIN_COST(turns) * 255 / all / 2;
	pt_eq(g.metric[4], all * half / 255);
	pt_eq(g.metric[5], g.metric[BAD_SPECULATION]);
	pt_eq(g.metric[6], 0);
	half = 3 * (X86_SPIN_COST(turns) - turns) * 255 / all / 2;
	pt_eq(g.metric[7], all * half / 255);
}

/* Stopped and started again: each stretch is rounded on its own, and nothing else is lost. */
static void stretches_add_up(void)
{
	struct group g;
	int i;

	open_group(&g, metrics());
	pt_first_on_cpu(0);
	for (i = 0; i < 10; i++)
		x86_measured_spin(g.fd, 1000);
	read_group(&g);
	expect_shares(&g, X86_SPIN_COST(1000), 1000, 10);
}

/* Are all slots accounted?  Each metric loses less than one 255th, and one at each of n stops. */
static void expect_sum(const struct group *g, u64 stops)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < FIRST_LEVEL; i++)
		sum += g->metric[i];
	pt_eq(g->slots, 4 * g->instructions);
	pt_check(sum <= g->slots &&
		 sum + g->slots / 255 * FIRST_LEVEL + FIRST_LEVEL * stops >= g->slots,
		 "%llu of %llu slots", (unsigned long long)sum, (unsigned long long)g->slots);
}

/* Straight code: 64 instructions for each branch. */
static PT_NOINLINE void straight(u64 turns)
{
	while (turns--)
		__asm__ volatile(".rept 61\n\tnop\n\t.endr" ::: "memory");
}

/*
 * Two tasks by turns on one CPU, one of branches and one without: each sees what it did itself.
 */
static void each_task_its_own(void)
{
	int n = metrics(), to[2], back[2], i;
	struct group g;
	pid_t pid;

	pt_gate_make(to);
	pt_gate_make(back);
	pt_in_child(pid) {
		open_group(&g, n);
		pt_enable(g.fd);
		for (i = 0; i < 20; i++) {
			pt_gate_wait(to);
			straight(1000);
			pt_gate_open(back);
		}
		pt_disable(g.fd);
		read_group(&g);
		expect_sum(&g, 40);
		pt_check(g.metric[BAD_SPECULATION] * 20 < g.slots, "%llu of %llu slots",
			 (unsigned long long)g.metric[BAD_SPECULATION],
			 (unsigned long long)g.slots);
	}
	open_group(&g, n);
	pt_enable(g.fd);
	for (i = 0; i < 20; i++) {
		pt_spin(30000);
		pt_gate_open(to);
		pt_gate_wait(back);
	}
	pt_disable(g.fd);
	read_group(&g);
	pt_reap(pid);
	expect_sum(&g, 40);
	/* three half, and hardly less for what the gates take */
	pt_check(g.metric[BAD_SPECULATION] * 100 > g.slots * 36, "%llu of %llu slots",
		 (unsigned long long)g.metric[BAD_SPECULATION], (unsigned long long)g.slots);
}

/* A reader in between takes nothing away. */
static void reads_on_the_way(void)
{
	struct group g;
	u64 last = 0;
	int i;

	open_group(&g, metrics());
	pt_enable(g.fd);
	for (i = 0; i < 20; i++) {
		pt_spin(5000);
		read_group(&g);
		pt_check(g.slots > last + 4 * 10000, "%llu after %llu", (unsigned long long)g.slots,
			 (unsigned long long)last);
		last = g.slots;
		expect_sum(&g, i + 1);
	}
}

/* User space reads both registers; those of a mapped group go on over a switch. */
static void read_by_user_space(void)
{
	u64 before, after, m;
	struct pt_ring r;
	struct group g;
	struct pt_peer peer;

	open_group(&g, metrics());
	pt_map(&r, g.fd, 0);
	pt_enable(g.fd);
	pt_eq(r.page->index, RDPMC_SLOTS + 1);
	pt_peer_start(&peer);
	pt_spin(100000);
	before = x86_rdpmc(RDPMC_SLOTS);
	pt_peer_turn(&peer);
	after = x86_rdpmc(RDPMC_SLOTS);
	pt_check(before > 4 * 200000 && after > before && after < before + 4 * 1000,
		 "%llu, then %llu", (unsigned long long)before, (unsigned long long)after);
	m = x86_rdpmc(RDPMC_METRICS);
	/* a quarter retires; what went back into the register was rounded down already */
	pt_check((m & 0xff) >= 62 && (m & 0xff) <= 63, "%llx", (unsigned long long)m);
	read_group(&g);
	expect_sum(&g, 4);
	pt_peer_stop(&peer);
}

/* Slots alone are an event like others. */
static void slots_are_sampled(void)
{
	const u64 period = 4000, turns = 50000;
	struct perf_event_attr attr = raw(SLOTS);
	struct pt_ring r;
	int fd;

	metrics();
	attr.read_format = 0;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 16);
	x86_measured_spin(fd, turns);
	pt_eq(pt_count(fd), 4 * X86_SPIN_COST(turns));
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 4 * X86_SPIN_COST(turns) / period);
}

static int try_metric(u64 config, int leader, u64 period)
{
	struct perf_event_attr attr = raw(config);
	int fd;

	attr.disabled = leader < 0;
	attr.sample_period = period;
	fd = pt_try_open(&attr, 0, -1, leader, 0);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void refused(void)
{
	struct perf_event_attr attr = raw(SLOTS);
	int n = metrics(), slots = pt_open_hw(&attr, -1), other, i;

	for (i = 0; i < n; i++) {
		pt_eq(try_metric(METRIC(i), slots, 0), 0);
		pt_eq(try_metric(METRIC(i), -1, 0), -EINVAL);
		pt_eq(try_metric(METRIC(i), slots, 1000), -EINVAL);
		pt_eq(try_metric(METRIC(i) | 1ull << 18, slots, 0), -EINVAL);
	}
	attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	other = pt_open_hw(&attr, -1);
	pt_eq(try_metric(METRIC(0), other, 0), -EINVAL);
	attr = raw(SLOTS);
	attr.sample_period = 100000;
	other = pt_open_hw(&attr, -1);
	pt_eq(try_metric(METRIC(0), other, 0), -EINVAL);
	/* what looks like slots, but is another PMU's */
	attr = pt_attr(PERF_TYPE_BREAKPOINT, SLOTS);
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = pt_addr(&n);
	attr.bp_len = sizeof(n);
	other = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(try_metric(METRIC(0), other, 0), -EINVAL);
}

/* It cannot be without them: read() says end of file, and ENABLE changes nothing. */
static void metric_without_slots(void)
{
	struct perf_event_attr attr = raw(SLOTS);
	int slots, metric;
	u64 v[8];

	metrics();
	slots = pt_open_hw(&attr, -1);
	attr = raw(METRIC(0));
	attr.disabled = 0;
	metric = pt_open(&attr, 0, -1, slots, 0);
	pt_enable(slots);
	pt_spin(1000);
	close(slots);
	pt_eq(read(metric, v, sizeof(v)), 0);
	pt_enable(metric);
	pt_spin(1000);
	pt_eq(read(metric, v, sizeof(v)), 0);
}

static const struct pt_case cases[] = {
	{ "shares_of_slots", shares_of_slots },
	{ "second_level", second_level },
	{ "stretches_add_up", stretches_add_up },
	{ "each_task_its_own", each_task_its_own },
	{ "reads_on_the_way", reads_on_the_way },
	{ "read_by_user_space", read_by_user_space },
	{ "slots_are_sampled", slots_are_sampled },
	{ "metric_without_slots", metric_without_slots },
	{ "refused", refused },
};

PT_MAIN(cases)
