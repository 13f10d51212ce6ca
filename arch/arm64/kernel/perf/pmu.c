// SPDX-License-Identifier: GPL-2.0
/*
 * struct pmu for the PMUs of CPUs, and their registration.
 *
 * A driver brings functions that know the registers (struct arm_pmu); here is what all such PMUs
 * have in common, and what the core of perf_events calls:
 *
 *	event_init		task context, may sleep
 *	add, del, start, stop	on the event's CPU, irqs off, CPU and task ctx->lock held as needed
 *	read			on the event's CPU, irqs off
 *	pmu_enable, _disable	on any CPU, irqs off; nested calls are the core's to count
 *	filter			any
 *
 * In a big.LITTLE system each kind of CPU has a PMU of its own.  The events of a task stay with
 * theirs while the task visits CPUs that it does not serve, and count nothing there.
 *
 * counters->events[] and used_mask of a CPU are that CPU's, with irqs off.  The interrupt handler,
 * possibly a pseudo-NMI, reads them.  It finds an event only from before its counter is enabled to
 * after it is disabled, and it may come in the middle of any operation: see period.c.
 */
#define pr_fmt(fmt) "hw perfevents: " fmt

#include <linux/slab.h>

#include "armpmu.h"

static struct pmu_hw_events *counters_here(const struct arm_pmu *armpmu)
{
	return this_cpu_ptr(armpmu->hw_events);
}

static bool serves_this_cpu(const struct arm_pmu *armpmu)
{
	return armpmu_serves(armpmu, smp_processor_id());
}

/* ------------------------------------------------------------------ opening an event */

static int map(struct arm_pmu *armpmu, struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	int number, err = 0;

	hw->flags = 0;			/* map_event adds to them */
	number = armpmu->map_event(event);
	if (number < 0)
		return number;
	hw->idx = -1;
	hw->config = 0;
	hw->event_base = 0;
	hw->config_base = 0;		/* the filter may want bits beside the number */
	if (armpmu->set_event_filter)
		err = armpmu->set_event_filter(hw, &event->attr);
	hw->config_base |= (unsigned long)number;
	return err;
}

/* A counter that wraps twice between two looks at it has lost a round: interrupt half way. */
static void set_counting_period(struct hw_perf_event *hw)
{
	hw->sample_period = armpmu_counter_mask(hw) >> 1;
	hw->last_period = hw->sample_period;
	local64_set(&hw->period_left, hw->sample_period);
}

/* A task's event may be tried on any CPU: add() and filter() look where it is. */
static int arm_pe_event_init(struct perf_event *event)
{
	struct arm_pmu *armpmu = to_arm_pmu(event->pmu);
	int err;

	if (event->cpu != -1 && !armpmu_serves(armpmu, event->cpu))
		return -ENOENT;
	if (has_branch_stack(event) && !armpmu->reg_brbidr)
		return -EOPNOTSUPP;
	err = map(armpmu, event);
	if (err)
		return err;
	if (!is_sampling_event(event))
		set_counting_period(&event->hw);
	return armpmu_group_fits(event) ? 0 : -EINVAL;
}

/* ------------------------------------------------------------------ counting */

/* The counter is written whatever the flags say: it may have counted on while its event stood. */
static void arm_pe_start(struct perf_event *event, int flags)
{
	WARN_ON_ONCE(flags & PERF_EF_RELOAD && !(event->hw.state & PERF_HES_UPTODATE));
	event->hw.state = 0;
	armpmu_event_set_period(event);
	to_arm_pmu(event->pmu)->enable(event);
}

/* The count is taken whatever the flags say: start() forgets what the counter shows. */
static void arm_pe_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	to_arm_pmu(event->pmu)->disable(event);
	armpmu_event_update(event);
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

/* An interrupt that finds the PMU running is not in the middle of what is done to events. */
static bool arm_pe_throttle(struct perf_event *event)
{
	arm_pe_stop(event, PERF_EF_UPDATE);
	return true;
}

static int arm_pe_add(struct perf_event *event, int flags)
{
	struct arm_pmu *armpmu = to_arm_pmu(event->pmu);
	struct pmu_hw_events *counters = counters_here(armpmu);
	int idx;

	if (!serves_this_cpu(armpmu))
		return -ENOENT;
	idx = armpmu->get_event_idx(counters, event);
	if (idx < 0)
		return idx;
	WARN_ON_ONCE(counters->events[idx]);
	counters->events[idx] = event;
	event->hw.idx = idx;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START) {
		arm_pe_start(event, PERF_EF_RELOAD);
		return 0;
	}
	/* What the counter's last owner has counted is none of the task's that may read it. */
	armpmu->write_counter(event, 0);
	armpmu_refresh_page(event);	/* it has a counter now */
	return 0;
}

static void arm_pe_del(struct perf_event *event, int flags)
{
	struct arm_pmu *armpmu = to_arm_pmu(event->pmu);
	struct pmu_hw_events *counters = counters_here(armpmu);

	arm_pe_stop(event, PERF_EF_UPDATE);
	counters->events[event->hw.idx] = NULL;
	armpmu->clear_event_idx(counters, event);
	event->hw.idx = -1;
	armpmu_refresh_page(event);	/* the counter may be another event's now */
}

/*
 * What stands still was updated when it stopped; the CPU may have lost the counter since then.  An
 * NMI, which finds the PMU off, leaves the event alone until it is on again.  The handler itself
 * reads with the PMU off; a foreign NMI takes what it finds.
 */
static void arm_pe_read(struct perf_event *event)
{
	bool nmi = arm_pmu_irq_is_nmi() && !in_nmi();

	if (event->hw.state & PERF_HES_UPTODATE)
		return;
	if (nmi)
		perf_pmu_disable(event->pmu);
	armpmu_event_update(event);
	if (nmi)
		perf_pmu_enable(event->pmu);
}

/* ------------------------------------------------------------------ the PMU of this CPU */

/* A PMU without events stays off. */
static void arm_pe_enable(struct pmu *pmu)
{
	struct arm_pmu *armpmu = to_arm_pmu(pmu);

	if (serves_this_cpu(armpmu) &&
	    !bitmap_empty(counters_here(armpmu)->used_mask, ARMPMU_MAX_HWEVENTS))
		armpmu->start(armpmu);
}

static void arm_pe_disable(struct pmu *pmu)
{
	struct arm_pmu *armpmu = to_arm_pmu(pmu);

	if (serves_this_cpu(armpmu))
		armpmu->stop(armpmu);
}

/* Is there nothing to do for this PMU's events on a CPU? */
static bool arm_pe_filter(struct pmu *pmu, int cpu)
{
	return !armpmu_serves(to_arm_pmu(pmu), cpu);
}

/* ------------------------------------------------------------------ sysfs */

static ssize_t cpus_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct arm_pmu *armpmu = to_arm_pmu(dev_get_drvdata(dev));

	return cpumap_print_to_pagebuf(true, page, &armpmu->supported_cpus);
}
static DEVICE_ATTR_RO(cpus);

static struct attribute *common_attrs[] = {
	&dev_attr_cpus.attr,
	NULL
};

static const struct attribute_group common_group = {
	.attrs = common_attrs,
};

/* ------------------------------------------------------------------ registration */

/* A counter can be loaded with any period at each overflow. */
static u64 arm_pe_least_period(struct perf_event *event)
{
	return 1;
}

/* The type of a PMU in the upper half of config makes generic events of one kind of CPU. */
static const struct pmu operations = {
	.capabilities	= PERF_PMU_CAP_EXTENDED_HW_TYPE | PERF_PMU_CAP_EXTENDED_REGS,
	.event_init	= arm_pe_event_init,
	.pmu_enable	= arm_pe_enable,
	.pmu_disable	= arm_pe_disable,
	.add		= arm_pe_add,
	.del		= arm_pe_del,
	.start		= arm_pe_start,
	.stop		= arm_pe_stop,
	.throttle	= arm_pe_throttle,
	.read		= arm_pe_read,
	.least_period	= arm_pe_least_period,
	.filter		= arm_pe_filter,
};

/**
 * armpmu_alloc() - a PMU for a driver to fill in
 *
 * Task context.  Return: the PMU, or NULL
 */
struct arm_pmu *armpmu_alloc(void)
{
	struct arm_pmu *armpmu = kzalloc(sizeof(*armpmu), GFP_KERNEL);
	int cpu;

	if (!armpmu)
		return NULL;
	armpmu->hw_events = alloc_percpu(struct pmu_hw_events);
	if (!armpmu->hw_events) {
		pr_info("failed to allocate per-cpu PMU data.\n");
		kfree(armpmu);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		per_cpu_ptr(armpmu->hw_events, cpu)->percpu_pmu = armpmu;
	armpmu->pmu = operations;
	armpmu->pmu.attr_groups = armpmu->attr_groups;
	armpmu->attr_groups[ARMPMU_ATTR_GROUP_COMMON] = &common_group;
	return armpmu;
}

/**
 * armpmu_free() - undo armpmu_alloc()
 * @pmu: not registered
 */
void armpmu_free(struct arm_pmu *pmu)
{
	free_percpu(pmu->hw_events);
	kfree(pmu);
}

/**
 * armpmu_register() - let events be opened on a PMU
 * @pmu: filled in by its driver, interrupt lines requested
 *
 * Task context.  There is no way back: the PMUs of CPUs do not go away.
 *
 * Return: 0, or errno with all undone
 */
int armpmu_register(struct arm_pmu *pmu)
{
	int err = armpmu_power_join(pmu);

	if (err)
		return err;
	if (!pmu->set_event_filter)
		pmu->pmu.capabilities |= PERF_PMU_CAP_NO_EXCLUDE;
	err = perf_pmu_register(&pmu->pmu, pmu->name, -1);
	if (err) {
		armpmu_power_leave(pmu);
		return err;
	}
	pr_info("enabled with %s PMU driver, %d (%*pb) counters available%s\n", pmu->name,
		bitmap_weight(pmu->cntr_mask, ARMPMU_MAX_HWEVENTS), ARMPMU_MAX_HWEVENTS,
		pmu->cntr_mask, arm_pmu_irq_is_nmi() ? ", using NMIs" : "");
	kvm_host_pmu_init(pmu);
	return 0;
}
