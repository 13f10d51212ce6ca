// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: PMUs that do not come to be: of what kind a CPU is, and what is left of one that was given
 * up.
 */
#include <kunit/test.h>
#include <linux/percpu.h>
#include <linux/platform_device.h>
#include <asm/cputype.h>
#include "../armpmu.h"

static int own_kind(struct arm_pmu *armpmu)
{
	return -EXDEV;
}

static int other_kind(struct arm_pmu *armpmu)
{
	return -EDOM;
}

/* Without data of its compatible the first kind of the table that this CPU is of is asked. */
static void kind_of_cpu(struct kunit *test)
{
	const unsigned int mask = 0xfff0, part = read_cpuid_id() & mask;
	const struct pmu_probe_info kinds[] = {
		PMU_PROBE(part ^ 0x10, mask, other_kind),
		PMU_PROBE(part, mask, own_kind),
		PMU_PROBE(part, mask, other_kind),
		{}
	};
	struct platform_device *pdev = kunit_kzalloc(test, sizeof(*pdev), GFP_KERNEL);
	struct device_driver driver = { .name = "kunit" };

	KUNIT_ASSERT_NOT_NULL(test, pdev);
	pdev->dev.init_name = "kunit-device";
	pdev->dev.driver = &driver;
	KUNIT_EXPECT_EQ(test, arm_pmu_device_probe(pdev, NULL, kinds), -EXDEV);
	KUNIT_EXPECT_EQ(test, arm_pmu_device_probe(pdev, NULL, kinds + 3), -ENODEV);
}

/* What it had for each CPU can be had again. */
static void leaves_no_memory(struct kunit *test)
{
	const long times = 4000, before = pcpu_nr_pages();
	const long pages = times * sizeof(struct pmu_hw_events) / PAGE_SIZE;
	struct arm_pmu *armpmu;
	int i;

	for (i = 0; i < times; i++) {
		armpmu = armpmu_alloc();
		KUNIT_ASSERT_NOT_NULL(test, armpmu);
		armpmu_free(armpmu);
	}
	KUNIT_EXPECT_LT(test, (long)pcpu_nr_pages() - before, pages / 2);
}

static struct kunit_case probe_cases[] = {
	KUNIT_CASE(kind_of_cpu),
	KUNIT_CASE(leaves_no_memory),
	{}
};

static struct kunit_suite probe_suite = {
	.name = "perf_armpmu_probe",
	.test_cases = probe_cases,
};

kunit_test_suite(probe_suite);
MODULE_DESCRIPTION("KUnit tests of PMUs that do not come to be");
MODULE_LICENSE("GPL");
