// SPDX-License-Identifier: GPL-2.0
/*
 * From an attr to the value of an event-select register.
 *
 * The vendor's hw_config() calls x86_pmu_hw_config() for what all vendors have in common.  Task
 * context, at open, before anyone else can see the event.  Reads x86_pmu and its tables, which do
 * not change after boot; no locks.
 */
#include <linux/nospec.h>

#include "core.h"

u64 __read_mostly hw_cache_event_ids
	[PERF_COUNT_HW_CACHE_MAX][PERF_COUNT_HW_CACHE_OP_MAX][PERF_COUNT_HW_CACHE_RESULT_MAX];
u64 __read_mostly hw_cache_extra_regs
	[PERF_COUNT_HW_CACHE_MAX][PERF_COUNT_HW_CACHE_OP_MAX][PERF_COUNT_HW_CACHE_RESULT_MAX];

/* How the tables of a model say that an event does not exist, and that it makes no sense. */
int x86_pe_known_code(u64 code)
{
	if (!code)
		return -ENOENT;
	return code == -1ULL ? -EINVAL : 0;
}

/* Split the config of a cache event: cache, operation, result; a byte each, the rest ignored. */
int x86_pe_cache_slot(u64 config, unsigned int slot[3])
{
	static const unsigned int limit[3] = {
		PERF_COUNT_HW_CACHE_MAX, PERF_COUNT_HW_CACHE_OP_MAX,
		PERF_COUNT_HW_CACHE_RESULT_MAX,
	};
	int i;

	for (i = 0; i < 3; i++, config >>= 8) {
		slot[i] = config & 0xff;
		if (slot[i] >= limit[i])
			return -EINVAL;
		slot[i] = array_index_nospec(slot[i], limit[i]);
	}
	return 0;
}

/* Events that need a further register take its value from config1. */
static int take_extra_reg(struct perf_event *event, u64 code)
{
	struct extra_reg *er = hybrid(event->pmu, extra_regs);
	struct hw_perf_event_extra *reg = &event->hw.extra_reg;

	while (er && er->msr && (code & er->config_mask) != er->event)
		er++;
	if (!er || !er->msr)
		return 0;

	if (event->attr.config1 & ~er->valid_mask)
		return -EINVAL;
	if (!er->extra_msr_access)
		return -ENXIO;
	reg->reg = er->msr;
	reg->idx = er->idx;
	reg->config = event->attr.config1;
	return 0;
}

static int take_cache_event(struct perf_event *event)
{
	unsigned int at[3];
	u64 code;
	int ret;

	ret = x86_pe_cache_slot(event->attr.config, at);
	if (ret)
		return ret;
	code = hybrid_var(event->pmu, hw_cache_event_ids)[at[0]][at[1]][at[2]];
	ret = x86_pe_known_code(code);
	if (ret)
		return ret;
	event->hw.config |= code;
	event->attr.config1 = hybrid_var(event->pmu, hw_cache_extra_regs)[at[0]][at[1]][at[2]];
	return take_extra_reg(event, code);
}

static int take_generic_event(struct perf_event *event)
{
	unsigned long max = x86_pmu.max_events;
	u64 code;
	int ret;

	if (event->attr.config >= max)
		return -EINVAL;
	event->attr.config = array_index_nospec((unsigned long)event->attr.config, max);
	code = x86_pmu.event_map(event->attr.config);
	ret = x86_pe_known_code(code);
	if (!ret)
		event->hw.config |= code;
	return ret;
}

/**
 * x86_setup_perfctr - find out which event is meant, and which period a count gets
 * @event: new event, hw.config has the bits that do not depend on that
 *
 * Return: 0; -ENOENT, -EINVAL, or -ENXIO for a further register that may not be touched here.
 */
int x86_setup_perfctr(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;

	if (!is_sampling_event(event)) {
		hw->sample_period = x86_pmu.max_period;
		hw->last_period = hw->sample_period;
		local64_set(&hw->period_left, hw->sample_period);
	}
	if (event->attr.type == event->pmu->type)
		return take_extra_reg(event, event->attr.config);
	if (event->attr.type == PERF_TYPE_HW_CACHE)
		return take_cache_event(event);
	return take_generic_event(event);
}

/**
 * x86_pmu_max_precise - greatest attr.precise_ip that makes sense on this CPU
 *
 * One step for a constant skid, one if the address can be corrected (from branch records, or
 * because the hardware does), one for a precise distribution.
 */
int x86_pmu_max_precise(void)
{
	if (!x86_pmu.pebs_active || x86_pmu.pebs_broken)
		return 0;
	return 1 + (x86_pmu.lbr_nr || x86_pmu.intel_cap.pebs_format >= 2) +
	       !!x86_pmu.pebs_prec_dist;
}

static u64 own_branch_levels(struct perf_event *event)
{
	return (event->attr.exclude_user ? 0 : PERF_SAMPLE_BRANCH_USER) |
	       (event->attr.exclude_kernel ? 0 : PERF_SAMPLE_BRANCH_KERNEL);
}

/*
 * Old PEBS reports the address after the instruction; going back takes a record of every branch
 * taken at the levels that are counted.  Either the user asked for exactly that, or for none.
 */
static int share_branch_records(struct perf_event *event)
{
	u64 *type = &event->attr.branch_sample_type;
	u64 levels = own_branch_levels(event);

	if (event->attr.precise_ip <= 1 || x86_pmu.intel_cap.pebs_format >= 2)
		return 0;
	if (!has_branch_stack(event)) {
		*type = PERF_SAMPLE_BRANCH_ANY | levels;
		return 0;
	}
	if (!(*type & PERF_SAMPLE_BRANCH_ANY))
		return -EOPNOTSUPP;
	if ((*type & (PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL)) != levels)
		return -EOPNOTSUPP;
	return 0;
}

static int check_precise(struct perf_event *event)
{
	if (!event->attr.precise_ip)
		return 0;
	if (event->attr.precise_ip > x86_pmu_max_precise())
		return -EOPNOTSUPP;
	if (!is_sampling_event(event))
		return -EINVAL;
	return share_branch_records(event);
}

/* Vector registers are only in PEBS records of some CPUs, and never those of user space. */
static int check_vector_regs(struct perf_event *event)
{
	if (event->attr.sample_regs_user & PERF_REG_EXTENDED_MASK)
		return -EINVAL;
	if (!(event->attr.sample_regs_intr & PERF_REG_EXTENDED_MASK))
		return 0;
	if (!(event->pmu->capabilities & PERF_PMU_CAP_EXTENDED_REGS))
		return -EINVAL;
	return event->attr.precise_ip ? 0 : -EINVAL;
}

/**
 * x86_pmu_hw_config - check the attr and make hw.config of it, as all vendors do
 * @event: new event
 *
 * Return: 0 or the error for the user.
 */
int x86_pmu_hw_config(struct perf_event *event)
{
	struct perf_event_attr *attr = &event->attr;
	int ret;

	ret = check_precise(event);
	if (ret)
		return ret;
	if (branch_sample_call_stack(event))
		event->attach_state |= PERF_ATTACH_TASK_DATA;

	/* The enable bit comes when the counter is started. */
	event->hw.config = ARCH_PERFMON_EVENTSEL_INT |
			   (attr->exclude_user ? 0 : ARCH_PERFMON_EVENTSEL_USR) |
			   (attr->exclude_kernel ? 0 : ARCH_PERFMON_EVENTSEL_OS);
	if (attr->type == event->pmu->type)
		event->hw.config |= x86_pmu_get_event_config(event);

	if (is_sampling_event(event) && !attr->freq && x86_pmu.limit_period) {
		s64 least = attr->sample_period;

		x86_pmu.limit_period(event, &least);
		if (least > attr->sample_period)
			return -EINVAL;
	}
	ret = check_vector_regs(event);
	return ret ?: x86_setup_perfctr(event);
}
