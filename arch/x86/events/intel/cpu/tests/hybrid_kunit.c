// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: CPUs of hybrid machines, which are made up here.
 */
#include <kunit/test.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>

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

static struct kunit_case cases[] = {
	KUNIT_CASE(dead_before_started),
	{ }
};

static struct kunit_suite suite = { .name = "perf_x86_hybrid", .test_cases = cases };
kunit_test_suite(suite);
