/* SPDX-License-Identifier: GPL-2.0 */
/*
 * test_count.h - the PMU of pmu/test_count.c, whose counts are exact, for pmu_register.c and
 * pmu_leaves.c.
 */
#ifndef PTEST_TEST_COUNT_H
#define PTEST_TEST_COUNT_H

#include "ptest.h"

#define MODULE	"test_count"

static inline struct perf_event_attr hits(void)
{
	return pt_attr((u32)pt_pmu_type(MODULE), 0);
}

static inline struct perf_event_attr faults(void)
{
	return pt_attr(PT_SW(PAGE_FAULTS));
}

static inline void hit(u64 n)
{
	pt_eq(pt_module_set(MODULE, "hit", (long long)n), 0);
}

static inline void load(const char *params)
{
	pt_pin(0);
	pt_load_module(MODULE, params);
}

static inline void none_left(void)
{
	pt_eq(pt_module_get(MODULE, "nr_events"), 0);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	pt_eq(pt_module_get(MODULE, "moved_while_on"), 0);
}

/* Stock must not be asked to unregister a PMU that has events. */
static inline void need_revoking(void)
{
	if (pt_is_stock())
		pt_skip("Linux 6.12's PMUs may not leave their events behind");
	pt_need(pt_module_get(MODULE, "revokes"), MODULE " does not know that it may");
}

#endif /* PTEST_TEST_COUNT_H */
