// SPDX-License-Identifier: GPL-2.0
/*
 * From an attr to the number of a hardware event, by the tables of a PMU's driver.
 *
 * Drivers call it from arm_pmu.map_event, when an event is opened: task context, no locks.  A table
 * that is NULL has nothing.  HW_OP_UNSUPPORTED and CACHE_OP_UNSUPPORTED stand for no event.
 */
#include "armpmu.h"

static_assert(HW_OP_UNSUPPORTED == CACHE_OP_UNSUPPORTED);

static int known(unsigned int number)
{
	return number == HW_OP_UNSUPPORTED ? -ENOENT : (int)number;
}

static int generic(const unsigned int (*table)[PERF_COUNT_HW_MAX], u64 config)
{
	if (config >= PERF_COUNT_HW_MAX)
		return -EINVAL;
	return table ? known((*table)[config]) : -ENOENT;
}

/* Bits 0 to 7 are the cache, 8 to 15 the access, 16 to 23 its result; the others do not matter. */
static int cache(const unsigned int (*table)[PERF_COUNT_HW_CACHE_MAX]
					    [PERF_COUNT_HW_CACHE_OP_MAX]
					    [PERF_COUNT_HW_CACHE_RESULT_MAX], u64 config)
{
	u8 which = config, access = config >> 8, result = config >> 16;

	if (which >= PERF_COUNT_HW_CACHE_MAX || access >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;
	return table ? known((*table)[which][access][result]) : -ENOENT;
}

/**
 * armpmu_map_event() - find the hardware event that an attr asks for
 * @event: being opened
 * @event_map: numbers of the PERF_COUNT_HW_* events, or NULL
 * @cache_map: numbers of the cache events, or NULL
 * @raw_event_mask: the bits of config that hold the number when it is given as such
 *
 * Return: the number; -EINVAL for a config that names no generic event, -ENOENT for one that this
 * PMU does not have and for types that are not its own
 */
int armpmu_map_event(struct perf_event *event,
		     const unsigned int (*event_map)[PERF_COUNT_HW_MAX],
		     const unsigned int (*cache_map)[PERF_COUNT_HW_CACHE_MAX]
						    [PERF_COUNT_HW_CACHE_OP_MAX]
						    [PERF_COUNT_HW_CACHE_RESULT_MAX],
		     u32 raw_event_mask)
{
	u64 config = event->attr.config;

	if (event->attr.type == event->pmu->type || event->attr.type == PERF_TYPE_RAW)
		return config & raw_event_mask;
	if (event->attr.type == PERF_TYPE_HARDWARE)
		return generic(event_map, config);
	if (event->attr.type == PERF_TYPE_HW_CACHE)
		return cache(cache_map, config);
	return -ENOENT;
}
