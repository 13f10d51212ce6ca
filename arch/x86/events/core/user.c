// SPDX-License-Identifier: GPL-2.0
/*
 * Reading counters from user space: who may use RDPMC, and what the mapped page says.
 *
 * Owns the setting /sys/bus/event_source/devices/cpu/rdpmc and its two static keys:
 *
 *   0  never
 *   1  while a task has a hardware event mapped (mm->context.perf_rdpmc_allowed)
 *   2  always, without any event
 *
 * CR4.PCE follows: cr4_update_pce_mm() in arch/x86/mm/tlb.c evaluates them at each change of the
 * address space, and on all CPUs concerned when one of them changes here.  It calls
 * perf_clear_dirty_counters(), so that a task sees nothing of earlier owners of a counter.
 */
#include <linux/bitmap.h>
#include <linux/device.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include <asm/mmu_context.h>
#include <asm/timer.h>
#include <asm/tlbflush.h>

#include "core.h"

DEFINE_STATIC_KEY_FALSE(rdpmc_never_available_key);
DEFINE_STATIC_KEY_FALSE(rdpmc_always_available_key);

enum { RDPMC_NEVER, RDPMC_MAPPED, RDPMC_ALWAYS };

static void clear_counter(struct cpu_hw_events *cpuc, int idx)
{
	int fixed = idx - INTEL_PMC_IDX_FIXED;

	if (fixed < 0)
		wrmsrl(x86_pmu_event_addr(idx), 0);
	else if (test_bit(fixed, hybrid(cpuc->pmu, fixed_cntr_mask)))
		wrmsrl(x86_pmu_fixed_ctr_addr(fixed), 0);
	/* else a metric or a fake event, which is no counter */
}

/**
 * perf_clear_dirty_counters - clear the counters that events have left behind
 *
 * This CPU, interrupts off, when a task comes that may use RDPMC.
 */
void perf_clear_dirty_counters(void)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int i;

	for (i = 0; i < cpuc->n_events; i++) {
		__clear_bit(cpuc->assign[i], cpuc->dirty);
		if (is_counter_pair(&cpuc->event_list[i]->hw))
			__clear_bit(cpuc->assign[i] + 1, cpuc->dirty);
	}
	for_each_set_bit(i, cpuc->dirty, X86_PMC_IDX_MAX)
		clear_counter(cpuc, i);
	bitmap_zero(cpuc->dirty, X86_PMC_IDX_MAX);
}

static bool may_be_read(struct perf_event *event)
{
	return event->hw.flags & PERF_EVENT_FLAG_USER_READ_CNT;
}

static void update_pce(struct mm_struct *mm)
{
	on_each_cpu_mask(mm_cpumask(mm), cr4_update_pce, NULL, 1);
}

/*
 * The mmap lock keeps a second thread of @mm from mapping before the first has told all CPUs: it
 * would see the count above one and return to user space with PCE still clear.
 */
void x86_pe_event_mapped(struct perf_event *event, struct mm_struct *mm)
{
	if (!may_be_read(event))
		return;
	mmap_assert_write_locked(mm);
	if (atomic_inc_return(&mm->context.perf_rdpmc_allowed) == 1)
		update_pce(mm);
}

void x86_pe_event_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	if (may_be_read(event) && atomic_dec_and_test(&mm->context.perf_rdpmc_allowed))
		update_pce(mm);
}

/* For mmap_page.index: what RDPMC takes in ECX, plus one. */
int x86_pe_event_idx(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;

	if (!may_be_read(event))
		return 0;
	return 1 + (is_metric_idx(hw->idx) ? INTEL_PMC_FIXED_RDPMC_METRICS : hw->event_base_rdpmc);
}

static ssize_t x86_pe_rdpmc_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%d\n", x86_pmu.attr_rdpmc);
}

static void set_key(struct static_key_false *key, bool was, bool is)
{
	if (is && !was)
		static_branch_inc(key);
	else if (was && !is)
		static_branch_dec(key);
}

static ssize_t x86_pe_rdpmc_store(struct device *dev, struct device_attribute *attr,
				  const char *page, size_t count)
{
	static DEFINE_MUTEX(lock);
	unsigned long is, was;
	int ret;

	ret = kstrtoul(page, 0, &is);
	if (ret)
		return ret;
	if (is > RDPMC_ALWAYS)
		return -EINVAL;
	if (x86_pmu.attr_rdpmc_broken)
		return -ENOTSUPP;

	guard(mutex)(&lock);
	was = x86_pmu.attr_rdpmc;
	if (is == was)
		return count;
	set_key(&rdpmc_never_available_key, was == RDPMC_NEVER, is == RDPMC_NEVER);
	set_key(&rdpmc_always_available_key, was == RDPMC_ALWAYS, is == RDPMC_ALWAYS);
	on_each_cpu(cr4_update_pce, NULL, 1);
	WRITE_ONCE(x86_pmu.attr_rdpmc, is);
	return count;
}

struct device_attribute x86_pe_rdpmc_attr =
	__ATTR(rdpmc, 0600, x86_pe_rdpmc_show, x86_pe_rdpmc_store);

/**
 * arch_perf_update_userpage - the parts of the mapped page that only x86 knows
 * @event: event that is mapped
 * @page: its page, the core holds the sequence odd
 * @now: the event's time, of the local clock
 *
 * Times can be computed from the TSC only while the scheduler's clock is that, and stable.
 */
void arch_perf_update_userpage(struct perf_event *event, struct perf_event_mmap_page *page,
			       u64 now)
{
	struct cyc2ns_data tsc;
	u64 zero;

	page->pmc_width = x86_pmu.cntval_bits;
	page->cap_user_rdpmc = may_be_read(event);
	page->cap_user_time = using_native_sched_clock() && sched_clock_stable();
	/* time_zero is of the clock of records, which the user may have chosen otherwise */
	page->cap_user_time_zero = page->cap_user_time && !event->attr.use_clockid;
	if (!page->cap_user_time)
		return;

	cyc2ns_read_begin(&tsc);
	zero = tsc.cyc2ns_offset + __sched_clock_offset;
	page->time_shift = tsc.cyc2ns_shift;
	page->time_mult = tsc.cyc2ns_mul;
	page->time_offset = zero - now;
	if (page->cap_user_time_zero)
		page->time_zero = zero;
	cyc2ns_read_end();
}
