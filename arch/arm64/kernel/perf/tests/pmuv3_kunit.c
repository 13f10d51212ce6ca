// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the pure parts of the PMUv3 driver: what an attr is mapped to, and which counters
 * events get.  The PMUs are made up; no register is touched.
 */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/arch_topology.h>
#include <linux/device.h>
#include <linux/perf_event.h>
#include <linux/prandom.h>
#include <linux/sysfs.h>

#include "../pmuv3.h"

#define NR(name)	ARMV8_PMUV3_PERFCTR_##name
#define CACHE(cache, op, result)				\
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |	\
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)
#define PMU_TYPE	77

/* ID_AA64DFR0_EL1.PMUVer */
enum { PMUV3P0 = 1, PMUV3P4 = 5, PMUV3P5 = 6, PMUV3P8 = 8, PMUV3P9 = 9 };

static const struct pmuv3_cache_event extra[] = {
	{ PERF_COUNT_HW_CACHE_NODE, PERF_COUNT_HW_CACHE_OP_WRITE,
	  PERF_COUNT_HW_CACHE_RESULT_ACCESS, 0x61 },
	{ PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ,
	  PERF_COUNT_HW_CACHE_RESULT_ACCESS, 0x40 },
	{}
};

static struct arm_pmu *make_pmu(struct kunit *test, int version, u64 events)
{
	struct arm_pmu *pmu = kunit_kzalloc(test, sizeof(*pmu), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pmu);
	pmu->pmu.type = PMU_TYPE;
	pmu->pmuver = version;
	bitmap_from_u64(pmu->pmceid_bitmap, events);
	return pmu;
}

static int number(const struct arm_pmu *pmu, u32 type, u64 config)
{
	struct perf_event_attr attr = { .type = type, .config = config };

	return pmuv3_number(pmu, &attr, extra);
}

/* ---------------------------------------------------------------------- numbers */

static void generic_events(struct kunit *test)
{
	static const int want[PERF_COUNT_HW_MAX] = {
		NR(CPU_CYCLES), NR(INST_RETIRED), NR(L1D_CACHE), NR(L1D_CACHE_REFILL),
		NR(BR_RETIRED), NR(BR_MIS_PRED), NR(BUS_CYCLES), NR(STALL_FRONTEND),
		NR(STALL_BACKEND), -ENOENT,
	};
	struct arm_pmu *all = make_pmu(test, PMUV3P0, U64_MAX);
	struct arm_pmu *none = make_pmu(test, PMUV3P0, 0);
	int i;

	for (i = 0; i < PERF_COUNT_HW_MAX; i++) {
		KUNIT_EXPECT_EQ_MSG(test, number(all, PERF_TYPE_HARDWARE, i), want[i], "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, number(none, PERF_TYPE_HARDWARE, i), -ENOENT, "%d", i);
	}
	KUNIT_EXPECT_EQ(test, number(all, PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, number(none, PERF_TYPE_HARDWARE, U64_MAX), -EINVAL);
}

/* Each generic event is there if and only if the CPU announces its number. */
static void announced_events(struct kunit *test)
{
	struct arm_pmu *pmu;
	int i, bit, got;

	for (bit = 0; bit < 64; bit++) {
		pmu = make_pmu(test, PMUV3P0, BIT_ULL(bit));
		for (i = 0; i < PERF_COUNT_HW_MAX; i++) {
			got = number(pmu, PERF_TYPE_HARDWARE, i);
			if (got != -ENOENT)
				KUNIT_EXPECT_EQ_MSG(test, got, bit, "generic event %d", i);
		}
	}
	pmu = make_pmu(test, PMUV3P0, BIT_ULL(NR(PC_WRITE_RETIRED)));
	i = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	KUNIT_EXPECT_EQ(test, number(pmu, PERF_TYPE_HARDWARE, i), NR(PC_WRITE_RETIRED));
	__set_bit(NR(BR_RETIRED), pmu->pmceid_bitmap);
	KUNIT_EXPECT_EQ(test, number(pmu, PERF_TYPE_HARDWARE, i), NR(BR_RETIRED));
}

static void cache_events(struct kunit *test)
{
	struct arm_pmu *all = make_pmu(test, PMUV3P0, U64_MAX);
	struct arm_pmu *none = make_pmu(test, PMUV3P0, 0);
	u64 l1d = CACHE(L1D, READ, ACCESS), node = CACHE(NODE, WRITE, ACCESS);

	KUNIT_EXPECT_EQ(test, number(all, PERF_TYPE_HW_CACHE, l1d), NR(L1D_CACHE));
	KUNIT_EXPECT_EQ(test, number(all, PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS)),
			NR(LL_CACHE_MISS_RD));
	KUNIT_EXPECT_EQ(test, number(all, PERF_TYPE_HW_CACHE, CACHE(BPU, READ, MISS)),
			NR(BR_MIS_PRED));
	KUNIT_EXPECT_EQ(test, number(all, PERF_TYPE_HW_CACHE, CACHE(L1D, WRITE, ACCESS)), -ENOENT);

	/* The model's own come second and are not announced. */
	KUNIT_EXPECT_EQ(test, number(none, PERF_TYPE_HW_CACHE, l1d), 0x40);
	KUNIT_EXPECT_EQ(test, number(none, PERF_TYPE_HW_CACHE, node), 0x61);
	KUNIT_EXPECT_EQ(test, number(all, PERF_TYPE_HW_CACHE, node), 0x61);
	KUNIT_EXPECT_EQ(test, number(none, PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS)), -ENOENT);

	/* Each field has its limit; what is above them is ignored. */
	KUNIT_EXPECT_EQ(test, number(all, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, number(all, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_OP_MAX << 8),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, number(all, PERF_TYPE_HW_CACHE,
				     PERF_COUNT_HW_CACHE_RESULT_MAX << 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, number(all, PERF_TYPE_HW_CACHE, l1d | 1ULL << 24), NR(L1D_CACHE));
}

/* Every combination: a number that is announced, or ENOENT; no model knows more than its list. */
static void cache_exhaustive(struct kunit *test)
{
	struct arm_pmu *all = make_pmu(test, PMUV3P0, U64_MAX);
	struct arm_pmu *none = make_pmu(test, PMUV3P0, 0);
	int cache, op, result, found = 0, own = 0;

	for (cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++)
		for (op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++)
			for (result = 0; result < PERF_COUNT_HW_CACHE_RESULT_MAX; result++) {
				u64 config = cache | op << 8 | result << 16;

				found += number(all, PERF_TYPE_HW_CACHE, config) > 0;
				own += number(none, PERF_TYPE_HW_CACHE, config) > 0;
			}
	KUNIT_EXPECT_EQ(test, found, 12 + 1);
	KUNIT_EXPECT_EQ(test, own, 2);
}

static void raw_events(struct kunit *test)
{
	struct arm_pmu *none = make_pmu(test, PMUV3P0, 0);
	u32 types[] = { PERF_TYPE_RAW, PMU_TYPE };
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		KUNIT_EXPECT_EQ(test, number(none, types[i], 0), 0);
		KUNIT_EXPECT_EQ(test, number(none, types[i], 0xffff), 0xffff);
		KUNIT_EXPECT_EQ(test, number(none, types[i], 0x123450008), NR(INST_RETIRED));
	}
	KUNIT_EXPECT_EQ(test, number(none, PERF_TYPE_SOFTWARE, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, number(none, PMU_TYPE + 1, 0), -ENOENT);
}

static int map(struct perf_event *event, u64 config, u64 config1)
{
	event->attr.type = PERF_TYPE_RAW;
	event->attr.config = config;
	event->attr.config1 = config1;
	event->hw.flags = 0;
	return pmuv3_map_event(event, NULL);
}

/* Order of the refusals, and that a refused event keeps no flags. */
static void refusals(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	const u64 both = PMUV3_CONFIG1_LONG | PMUV3_CONFIG1_RDPMC;
	struct arm_pmu *pmu = make_pmu(test, PMUV3P4, U64_MAX);

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->pmu = &pmu->pmu;
	KUNIT_EXPECT_EQ(test, map(event, NR(CHAIN), 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, map(event, NR(INST_RETIRED), PMUV3_CONFIG1_RDPMC), -EINVAL);

	event->attach_state = PERF_ATTACH_TASK;
	KUNIT_EXPECT_EQ(test, map(event, NR(CHAIN), both), -EINVAL);
	KUNIT_EXPECT_EQ(test, map(event, NR(INST_RETIRED), both), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, event->hw.flags, 0);
	KUNIT_EXPECT_EQ(test, map(event, NR(INST_RETIRED), PMUV3_CONFIG1_RDPMC), NR(INST_RETIRED));
	KUNIT_EXPECT_EQ(test, map(event, NR(CPU_CYCLES), both), NR(CPU_CYCLES));
	KUNIT_EXPECT_EQ(test, event->hw.flags, (int)(ARMPMU_EVT_64BIT |
			PERF_EVENT_FLAG_USER_READ_CNT | PMUV3_EVT_CYCLES | PMUV3_EVT_ONLY_CYCLES));

	pmu->pmuver = PMUV3P5;
	KUNIT_EXPECT_EQ(test, map(event, NR(INST_RETIRED), both), NR(INST_RETIRED));
}

/* ------------------------------------------------------------- flags and filters */

static int flags(const struct arm_pmu *pmu, u64 config1, int nr)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .config = nr, .config1 = config1 };

	return pmuv3_flags(pmu, &attr, nr);
}

/* Cycles of one of several threads: not the cycle counter's, unless nothing else will do. */
static void needs_of_threads(struct kunit *test)
{
	const int thread = cpu_topology[0].thread_id;
	struct arm_pmu *narrow = make_pmu(test, PMUV3P4, 0);
	struct arm_pmu *wide = make_pmu(test, PMUV3P5, 0);
	u64 user = PMUV3_CONFIG1_LONG | PMUV3_CONFIG1_RDPMC;

	cpumask_set_cpu(0, &narrow->supported_cpus);
	cpumask_set_cpu(0, &wide->supported_cpus);
	cpu_topology[0].thread_id = -1;
	KUNIT_EXPECT_EQ(test, flags(narrow, 0, NR(CPU_CYCLES)), PMUV3_EVT_CYCLES);
	cpu_topology[0].thread_id = 0;
	KUNIT_EXPECT_EQ(test, flags(narrow, 0, NR(CPU_CYCLES)), 0);
	KUNIT_EXPECT_EQ(test, flags(narrow, PMUV3_CONFIG1_LONG, NR(CPU_CYCLES)),
			ARMPMU_EVT_64BIT | PMUV3_EVT_PAIR);
	KUNIT_EXPECT_TRUE(test, flags(narrow, user, NR(CPU_CYCLES)) & PMUV3_EVT_CYCLES);
	KUNIT_EXPECT_FALSE(test, flags(wide, user, NR(CPU_CYCLES)) & PMUV3_EVT_CYCLES);
	KUNIT_EXPECT_EQ(test, flags(narrow, 0, NR(INST_RETIRED)), PMUV3_EVT_INSTR);
	cpu_topology[0].thread_id = thread;
}

static void needs(struct kunit *test)
{
	struct arm_pmu *narrow = make_pmu(test, PMUV3P4, 0);
	struct arm_pmu *wide = make_pmu(test, PMUV3P5, 0);
	const u64 one = 1ULL << 5;	/* the smallest threshold */
	struct perf_event_attr attr = { .exclude_guest = 1 };

	KUNIT_EXPECT_EQ(test, flags(narrow, 0, NR(L1D_CACHE)), 0);
	KUNIT_EXPECT_EQ(test, flags(narrow, 0, NR(CPU_CYCLES)), PMUV3_EVT_CYCLES);
	KUNIT_EXPECT_EQ(test, flags(narrow, 0, NR(INST_RETIRED)), PMUV3_EVT_INSTR);
	KUNIT_EXPECT_EQ(test, flags(wide, one, NR(CPU_CYCLES)), 0);
	KUNIT_EXPECT_EQ(test, flags(wide, one, NR(INST_RETIRED)), 0);
	KUNIT_EXPECT_EQ(test, flags(wide, PMUV3_CONFIG1_RDPMC, NR(INST_RETIRED)),
			(int)PERF_EVENT_FLAG_USER_READ_CNT);
	KUNIT_EXPECT_EQ(test, flags(narrow, PMUV3_CONFIG1_LONG, NR(CPU_CYCLES)),
			ARMPMU_EVT_64BIT | PMUV3_EVT_CYCLES | PMUV3_EVT_PAIR);
	KUNIT_EXPECT_EQ(test, flags(narrow, PMUV3_CONFIG1_LONG, NR(L1D_CACHE)),
			ARMPMU_EVT_64BIT | PMUV3_EVT_PAIR);
	KUNIT_EXPECT_EQ(test, flags(wide, PMUV3_CONFIG1_LONG, NR(L1D_CACHE)), ARMPMU_EVT_64BIT);

	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	KUNIT_EXPECT_EQ(test, pmuv3_flags(wide, &attr, NR(CPU_CYCLES)), PMUV3_EVT_SWITCHED);
	KUNIT_EXPECT_EQ(test, pmuv3_flags(wide, &attr, NR(INST_RETIRED)), PMUV3_EVT_SWITCHED);
	KUNIT_EXPECT_EQ(test, pmuv3_flags(wide, &attr, 1), PMUV3_EVT_SWITCHED);
	attr.exclude_host = 1;
	KUNIT_EXPECT_EQ(test, pmuv3_flags(wide, &attr, 1), 0);
}

/* user, kernel, hv, host, guest excluded: what counts where, told by level and not by bit */
static void vhe_filters(struct kunit *test)
{
	int i;

	for (i = 0; i < 32; i++) {
		struct perf_event_attr attr = {
			.exclude_user = i & 1, .exclude_kernel = i >> 1 & 1,
			.exclude_hv = i >> 2 & 1, .exclude_host = i >> 3 & 1,
			.exclude_guest = i >> 4 & 1,
		};
		bool user = !(i & 1), kernel = !(i & 2), hv = !(i & 4);
		bool host = !(i & 8), guest = !(i & 16);
		u64 vhe = pmuv3_hyp_filter(&attr), nvhe = pmuv3_el1_filter(&attr);

		/* EL2 is the host's kernel, EL1 the guest's, EL0 the host's until KVM switches. */
		KUNIT_EXPECT_EQ(test, !!(vhe & ARMV8_PMU_INCLUDE_EL2), kernel && host);
		KUNIT_EXPECT_EQ(test, !(vhe & ARMV8_PMU_EXCLUDE_EL1), kernel && guest);
		KUNIT_EXPECT_EQ(test, !(vhe & ARMV8_PMU_EXCLUDE_EL0), user && host);

		/* EL2 is the hypervisor, EL1 and EL0 belong to whoever runs. */
		KUNIT_EXPECT_EQ(test, !!(nvhe & ARMV8_PMU_INCLUDE_EL2), hv && host);
		KUNIT_EXPECT_EQ(test, !(nvhe & ARMV8_PMU_EXCLUDE_EL1), kernel);
		KUNIT_EXPECT_EQ(test, !(nvhe & ARMV8_PMU_EXCLUDE_EL0), user);

		KUNIT_EXPECT_EQ(test, (vhe | nvhe) & ~(u64)(ARMV8_PMU_INCLUDE_EL2 |
				ARMV8_PMU_EXCLUDE_EL1 | ARMV8_PMU_EXCLUDE_EL0), 0ULL);
	}
}

/* An event with branch records has its filter, too, unless they cannot be had. */
static void filter_beside_branches(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct arm_pmu *pmu = make_pmu(test, PMUV3P5, 0);

	KUNIT_ASSERT_NOT_NULL(test, event);
	pmu->reg_brbidr = 1;	/* it has some */
	event->pmu = &pmu->pmu;
	event->attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	event->attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	event->attr.exclude_kernel = 1;
	KUNIT_EXPECT_EQ(test, pmuv3_set_event_filter(&event->hw, &event->attr), 0);
	KUNIT_EXPECT_TRUE(test, event->hw.config_base & ARMV8_PMU_EXCLUDE_EL1);
	event->attr.branch_sample_type |= PERF_SAMPLE_BRANCH_CALL_STACK;
	KUNIT_EXPECT_EQ(test, pmuv3_set_event_filter(&event->hw, &event->attr), -EOPNOTSUPP);
}

static void thresholds(struct kunit *test)
{
	struct arm_pmu *pmu = make_pmu(test, PMUV3P8, 0);
	struct perf_event_attr attr = {};
	u64 type;
	int width;

	for (width = 0; width <= 12; width++) {
		u64 max = (1ULL << width) - 1;

		pmu->reg_pmmir = (u64)width << 20;
		KUNIT_EXPECT_EQ(test, pmuv3_threshold_max(pmu), (u32)max);

		type = 0;
		attr.config1 = max << 5 | 5 << 2;	/* compare 2, count 1 */
		KUNIT_EXPECT_EQ(test, pmuv3_threshold(pmu, &attr, &type), 0);
		KUNIT_EXPECT_EQ(test, type, max ? 5ULL << 61 | max << 32 : 0);

		type = 0;
		attr.config1 = (max + 1) << 5;
		if (width < 12)
			KUNIT_EXPECT_EQ(test, pmuv3_threshold(pmu, &attr, &type), -EINVAL);
		KUNIT_EXPECT_EQ(test, type, 0ULL);
	}
}

/* ------------------------------------------------------------------- allocation */

static const int kinds[] = {
	0, PMUV3_EVT_PAIR, PMUV3_EVT_CYCLES, PMUV3_EVT_INSTR, PMUV3_EVT_CYCLES | PMUV3_EVT_PAIR,
	PMUV3_EVT_CYCLES | PMUV3_EVT_ONLY_CYCLES,
};

static bool may_have(u64 take, int kind)
{
	if (take == PMUV3_CYCLE_COUNTER)
		return kind & PMUV3_EVT_CYCLES;
	if (take == PMUV3_INSTR_COUNTER)
		return kind & PMUV3_EVT_INSTR;
	if (kind & PMUV3_EVT_ONLY_CYCLES || take & ~PMUV3_GENERAL_COUNTERS)
		return false;
	if (kind & PMUV3_EVT_PAIR)
		return hweight64(take) == 2 && !(__ffs64(take) & 1) && take & take << 1;
	return hweight64(take) == 1;
}

static bool can_serve(u64 free, int kind)
{
	int i, j;

	for (i = 0; i < ARMPMU_MAX_HWEVENTS; i++)
		for (j = i; j < ARMPMU_MAX_HWEVENTS; j++) {
			u64 take = BIT_ULL(i) | BIT_ULL(j);

			if (!(take & ~free) && may_have(take, kind))
				return true;
		}
	return false;
}

/* Every set of counters used, every kind: fits, is free, and refused only if nothing does. */
static void choose_exhaustive(struct kunit *test)
{
	const u64 counters = GENMASK_ULL(4, 0) | PMUV3_CYCLE_COUNTER | PMUV3_INSTR_COUNTER;
	u64 used, before, take;
	int i, k, idx;
	bool ok;

	for (i = 0; i < 128; i++) {
		before = (i & 31) | (u64)(i >> 5) << ARMV8_PMU_CYCLE_IDX;
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			used = before;
			idx = pmuv3_choose(counters, &used, kinds[k]);
			take = used & ~before;
			KUNIT_EXPECT_EQ(test, used & before, before);
			KUNIT_EXPECT_EQ(test, used & ~counters, 0ULL);
			if (idx < 0) {
				KUNIT_EXPECT_EQ(test, idx, -EAGAIN);
				KUNIT_EXPECT_EQ(test, take, 0ULL);
				ok = can_serve(counters & ~before, kinds[k]);
				KUNIT_EXPECT_FALSE_MSG(test, ok, "%#llx kind %d", before, k);
				continue;
			}
			KUNIT_EXPECT_EQ(test, fls64(take) - 1, idx);
			ok = may_have(take, kinds[k]);
			KUNIT_EXPECT_TRUE_MSG(test, ok, "%#llx kind %d", before, k);
		}
	}
}

/* p pairs and s single events fit in n counters in every order if they fit at all. */
static void choose_any_order(struct kunit *test)
{
	int n, events, order, pairs, i;

	for (n = 1; n <= 8; n++)
		for (events = 1; events <= n; events++)
			for (order = 0; order < 1 << events; order++) {
				u64 used = 0;
				int got = 0;

				pairs = hweight32(order);
				if (pairs > n / 2 || events + pairs > n)
					continue;
				for (i = 0; i < events; i++)
					got += pmuv3_choose(GENMASK_ULL(n - 1, 0), &used,
						order >> i & 1 ? PMUV3_EVT_PAIR : 0) >= 0;
				KUNIT_EXPECT_EQ_MSG(test, got, events, "n %d order %#x", n, order);
				KUNIT_EXPECT_EQ(test, hweight64(used), events + pairs);
			}
}

/* Fixed counters first, general ones from below, and 31 of them are used. */
static void choose_preference(struct kunit *test)
{
	u64 counters = PMUV3_GENERAL_COUNTERS | PMUV3_CYCLE_COUNTER, used = 0;
	int i;

	KUNIT_EXPECT_EQ(test, pmuv3_choose(counters, &used, PMUV3_EVT_CYCLES), 31);
	KUNIT_EXPECT_EQ(test, pmuv3_choose(counters, &used, PMUV3_EVT_INSTR), 30);
	for (i = 0; i < 30; i++)
		KUNIT_EXPECT_EQ(test, pmuv3_choose(counters, &used, PMUV3_EVT_CYCLES), i);
	KUNIT_EXPECT_EQ(test, pmuv3_choose(counters, &used, 0), -EAGAIN);

	used = 0;
	counters |= PMUV3_INSTR_COUNTER;
	KUNIT_EXPECT_EQ(test, pmuv3_choose(counters, &used, PMUV3_EVT_INSTR), 32);
	KUNIT_EXPECT_EQ(test, pmuv3_choose(counters, &used, PMUV3_EVT_PAIR), 1);
	KUNIT_EXPECT_EQ(test, pmuv3_choose(counters, &used, PMUV3_EVT_CYCLES | PMUV3_EVT_PAIR), 31);
	KUNIT_EXPECT_EQ(test, pmuv3_choose(counters, &used, PMUV3_EVT_CYCLES | PMUV3_EVT_PAIR), 3);
}

/* ------------------------------------------------------------------ user access */

static void user_access_versions(struct kunit *test)
{
	struct arm_pmu *pmu = make_pmu(test, PMUV3P9, 0);

	KUNIT_EXPECT_TRUE(test, pmuv3_has_uacr(pmu));
	pmu->pmuver = PMUV3P8;
	KUNIT_EXPECT_FALSE(test, pmuv3_has_uacr(pmu));
}

/* Events of random kinds in random numbers; whose a counter is was noted when it was chosen. */
static void fill_and_check(struct kunit *test, struct pmu_hw_events *hw, struct perf_event *event,
			   struct rnd_state *rnd)
{
	const u64 all = GENMASK_ULL(prandom_u32_state(rnd) % 31, 0) | PMUV3_CYCLE_COUNTER |
			PMUV3_INSTR_COUNTER;
	bool user[ARMPMU_MAX_HWEVENTS] = { };
	u64 used = 0, before, got;
	int i, c, kind, idx, n = prandom_u32_state(rnd) % ARMPMU_MAX_HWEVENTS;

	memset(hw, 0, sizeof(*hw));
	for (i = 0; i < n; i++) {
		bool wants = prandom_u32_state(rnd) & 1;

		kind = kinds[prandom_u32_state(rnd) % ARRAY_SIZE(kinds)];
		before = used;
		idx = pmuv3_choose(all, &used, kind);
		if (idx < 0)
			continue;
		wants &= !(kind & PMUV3_EVT_PAIR);
		event[i].hw.idx = idx;
		event[i].hw.flags = kind | (wants ? PERF_EVENT_FLAG_USER_READ_CNT : 0);
		hw->events[idx] = &event[i];
		for (c = 0; c < ARMPMU_MAX_HWEVENTS; c++)
			if ((used & ~before) >> c & 1)
				user[c] = wants;
	}
	hw->used_mask[0] = used;

	got = pmuv3_user_counters(hw);
	for (c = 0; c < ARMPMU_MAX_HWEVENTS; c++)
		KUNIT_EXPECT_EQ_MSG(test, got >> c & 1, (u64)(user[c] && c != 32), "counter %d",
				    c);
	KUNIT_EXPECT_EQ(test, got >> ARMPMU_MAX_HWEVENTS, 0ULL);
}

static void user_access_random(struct kunit *test)
{
	struct pmu_hw_events *hw = kunit_kzalloc(test, sizeof(*hw), GFP_KERNEL);
	struct perf_event *event = kunit_kcalloc(test, ARMPMU_MAX_HWEVENTS, sizeof(*event),
						 GFP_KERNEL);
	struct rnd_state rnd;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, hw);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, pmuv3_user_counters(hw), 0ULL);
	prandom_seed_state(&rnd, 9);
	for (i = 0; i < 2000; i++)
		fill_and_check(test, hw, event, &rnd);
}

/* Each is there once, those that came after Linux 6.12 included. */
static void compatibles(struct kunit *test)
{
	static const char * const newer[] = {
		"arm,c1-nano-pmu", "arm,c1-premium-pmu", "arm,c1-pro-pmu", "arm,c1-ultra-pmu",
		"arm,cortex-a320-pmu", "arm,cortex-a520ae-pmu", "arm,cortex-a720ae-pmu",
		"arm,rainier-pmu", "samsung,mongoose-pmu",
	};
	const struct of_device_id *a, *b;
	unsigned int i, found;

	for (a = pmuv3_of_match; a->data; a++)
		for (b = a + 1; b->data; b++)
			KUNIT_EXPECT_STRNEQ(test, a->compatible, b->compatible);
	for (i = 0; i < ARRAY_SIZE(newer); i++) {
		found = 0;
		for (a = pmuv3_of_match; a->data; a++)
			found += !strcmp(a->compatible, newer[i]);
		KUNIT_EXPECT_EQ_MSG(test, found, 1, "%s", newer[i]);
	}
}

/* What a file in caps shows. */
static u32 cap(struct kunit *test, struct arm_pmu *pmu, const char *name)
{
	struct device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	char *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct attribute **attrs = pmuv3_caps_group.attrs;
	struct device_attribute *file;
	u32 value = 0;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_NOT_NULL(test, page);
	dev_set_drvdata(dev, &pmu->pmu);
	while (*attrs && strcmp((*attrs)->name, name))
		attrs++;
	KUNIT_ASSERT_NOT_NULL(test, *attrs);
	file = container_of(*attrs, struct device_attribute, attr);
	file->show(dev, file, page);
	KUNIT_EXPECT_EQ(test, kstrtou32(page, 0, &value), 0);
	return value;
}

/* Bytes, from 4 to 2048: the register has the logarithm plus one, or does not tell. */
static void widths_of_the_bus(struct kunit *test)
{
	struct arm_pmu *pmu = make_pmu(test, PMUV3P4, 0);
	unsigned int width;

	for (width = 0; width < 16; width++) {
		u32 bytes = width < 3 || width > 12 ? 0 : 1U << (width - 1);

		pmu->reg_pmmir = (u64)width << 16 | 0x0507;
		KUNIT_EXPECT_EQ_MSG(test, cap(test, pmu, "bus_width"), bytes, "width %u", width);
		KUNIT_EXPECT_EQ(test, cap(test, pmu, "slots"), 7);
		KUNIT_EXPECT_EQ(test, cap(test, pmu, "bus_slots"), 5);
	}
}

/* The only named event that sysfs shows of a PMU. */
static const char *only_event(struct kunit *test, struct arm_pmu *pmu)
{
	struct device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct attribute **attrs;
	const char *only = "none";

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev_set_drvdata(dev, &pmu->pmu);
	for (attrs = pmuv3_events_group.attrs; *attrs; attrs++) {
		if (!pmuv3_events_group.is_visible(&dev->kobj, *attrs, 0))
			continue;
		KUNIT_EXPECT_STREQ_MSG(test, only, "none", "beside %s", (*attrs)->name);
		only = (*attrs)->name;
	}
	return only;
}

/* Shown is what the CPU announces: the first and the last numbers of both ranges, too. */
static void named_events(struct kunit *test)
{
	static const struct {
		u64 common, extended;
		const char *only;
	} want[] = {
		{ 0, 0, "none" },
		{ BIT_ULL(0x00), 0, "none" },	/* SW_INCR and CHAIN have no name */
		{ BIT_ULL(0x1e), 0, "none" },
		{ BIT_ULL(0x01), 0, "l1i_cache_refill" },
		{ BIT_ULL(0x11), 0, "cpu_cycles" },
		{ BIT_ULL(0x3f), 0, "stall_slot" },
		{ 0, BIT_ULL(0x00), "sample_pop" },
		{ 0, BIT_ULL(0x01), "sample_feed" },
		{ 0, BIT_ULL(0x26), "mem_access_checked_wr" },
		{ 0, BIT_ULL(0x3f), "none" },
	};
	struct arm_pmu *pmu;
	int i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		pmu = make_pmu(test, PMUV3P4, want[i].common);
		bitmap_from_u64(pmu->pmceid_ext_bitmap, want[i].extended);
		KUNIT_EXPECT_STREQ_MSG(test, only_event(test, pmu), want[i].only, "%d", i);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(compatibles),
	KUNIT_CASE(generic_events),
	KUNIT_CASE(announced_events),
	KUNIT_CASE(cache_events),
	KUNIT_CASE(cache_exhaustive),
	KUNIT_CASE(raw_events),
	KUNIT_CASE(refusals),
	KUNIT_CASE(needs),
	KUNIT_CASE(needs_of_threads),
	KUNIT_CASE(vhe_filters),
	KUNIT_CASE(filter_beside_branches),
	KUNIT_CASE(thresholds),
	KUNIT_CASE(widths_of_the_bus),
	KUNIT_CASE(named_events),
	KUNIT_CASE(choose_exhaustive),
	KUNIT_CASE(choose_any_order),
	KUNIT_CASE(choose_preference),
	KUNIT_CASE(user_access_versions),
	KUNIT_CASE(user_access_random),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_pmuv3",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_LICENSE("GPL");
