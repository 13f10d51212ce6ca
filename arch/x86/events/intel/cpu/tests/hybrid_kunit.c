// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: CPUs of hybrid machines, which are made up here.
 */
#include <kunit/test.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/device.h>

#include "../cpu.h"

/*
 * A CPU may die before it has started and was given a PMU: it is taken off every list, and nothing
 * else changes.
 */
static void dead_before_started(struct kunit *test)
{
	struct x86_hybrid_pmu *pmus = kunit_kcalloc(test, 3, sizeof(*pmus), GFP_KERNEL);
	struct x86_hybrid_pmu *were = x86_pmu.hybrid_pmu;
	const int number = x86_pmu.num_hybrid_pmus;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, pmus);
	for (i = 0; i < 3; i++)
		cpumask_set_cpu(0, &pmus[i].supported_cpus);
	scoped_guard(cpus_read_lock) {
		x86_pmu.hybrid_pmu = pmus;
		x86_pmu.num_hybrid_pmus = 2;
		intel_pe_hybrid_cpu_dead(0);
		x86_pmu.num_hybrid_pmus = number;
		x86_pmu.hybrid_pmu = were;
	}
	KUNIT_EXPECT_TRUE(test, cpumask_empty(&pmus[0].supported_cpus));
	KUNIT_EXPECT_TRUE(test, cpumask_empty(&pmus[1].supported_cpus));
	KUNIT_EXPECT_FALSE(test, cpumask_empty(&pmus[2].supported_cpus));
	/* on other machines there are none */
	if (!number)
		intel_pe_hybrid_cpu_dead(0);
}

/* CPUID tells Skymont from Crestmont, which are both Atoms. */
static void kinds_of_cores(struct kunit *test)
{
	const u32 skymont = HYBRID_INTEL_ATOM << 24 | 3, crestmont = HYBRID_INTEL_ATOM << 24 | 2;
	const u32 lion_cove = (u32)HYBRID_INTEL_CORE << 24 | 3;

	KUNIT_EXPECT_EQ(test, intel_pe_hybrid_kind(skymont, 3), X86_HYBRID_PMU_ATOM_IDX);
	KUNIT_EXPECT_EQ(test, intel_pe_hybrid_kind(crestmont, 3), X86_HYBRID_PMU_TINY_IDX);
	KUNIT_EXPECT_EQ(test, intel_pe_hybrid_kind(lion_cove, 3), X86_HYBRID_PMU_CORE_IDX);
	/* Meteor Lake: all Atoms are of one kind */
	KUNIT_EXPECT_EQ(test, intel_pe_hybrid_kind(crestmont, 2), X86_HYBRID_PMU_ATOM_IDX);
	KUNIT_EXPECT_EQ(test, intel_pe_hybrid_kind(lion_cove, 2), X86_HYBRID_PMU_CORE_IDX);
	KUNIT_EXPECT_EQ(test, intel_pe_hybrid_kind(0, 2), -1);
	KUNIT_EXPECT_EQ(test, intel_pe_hybrid_kind(0x10000002, 3), -1);
}

static void check_text(struct kunit *test, char *page, struct x86_hybrid_pmu *pmu,
		       const char *text, int types, const char *want)
{
	struct perf_pmu_events_hybrid_attr attr = { .event_str = text, .pmu_type = types };
	struct device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev_set_drvdata(dev, &pmu->pmu);
	memset(page, 0, PAGE_SIZE);
	events_hybrid_sysfs_show(dev, &attr.attr, page);
	KUNIT_EXPECT_STREQ(test, page, want);
}

/* Each PMU shows its part of a text, in their order; a third part is for a third PMU. */
static void parts_of_texts(struct kunit *test)
{
	static const enum hybrid_pmu_type type[] = { hybrid_small, hybrid_big, hybrid_tiny };
	static const char * const part[] = { "a=1", "b=2", "c=3" };
	struct x86_hybrid_pmu *pmus = kunit_kcalloc(test, 3, sizeof(*pmus), GFP_KERNEL);
	char *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	int i, n;

	if (is_hybrid())
		kunit_skip(test, "the PMUs of this machine are in use");
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_NOT_NULL(test, pmus);
	x86_pmu.hybrid_pmu = pmus;
	for (n = 2; n <= 3; n++) {
		x86_pmu.num_hybrid_pmus = n;
		for (i = 0; i < n; i++) {
			pmus[i].pmu_type = type[i];
			check_text(test, page, &pmus[i], "a=1;b=2;c=3",
				   hybrid_big_small | hybrid_tiny, part[i]);
		}
		check_text(test, page, &pmus[1], "b=2", hybrid_big, "b=2");
		check_text(test, page, &pmus[1], "a=1;b=2", hybrid_big_small, "b=2");
	}
	x86_pmu.num_hybrid_pmus = 0;
	x86_pmu.hybrid_pmu = NULL;
}

static struct kunit_case cases[] = {
	KUNIT_CASE(dead_before_started),
	KUNIT_CASE(kinds_of_cores),
	KUNIT_CASE(parts_of_texts),
	{ }
};

static struct kunit_suite suite = { .name = "perf_x86_hybrid", .test_cases = cases };
kunit_test_suite(suite);
