// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel itself shows by the PMU "virtual".
 *
 * All of it is in /proc for everybody to read; here it is of the same moment as the other counts of
 * a group.  Everything is read with interrupts off, NMI included, so these are single words that
 * the rest of the kernel keeps.
 */
#include <linux/sched/loadavg.h>
#include <linux/sched/stat.h>
#include <linux/timekeeping.h>

#include "sources.h"

static u64 pe_load1(const struct perf_event *event)
{
	return READ_ONCE(avenrun[0]);
}

static u64 pe_load5(const struct perf_event *event)
{
	return READ_ONCE(avenrun[1]);
}

static u64 pe_free_pages(const struct perf_event *event)
{
	return global_zone_page_state(NR_FREE_PAGES);
}

static u64 pe_nr_tasks(const struct perf_event *event)
{
	return data_race(nr_threads);	/* fork and exit just count it */
}

static u64 pe_current_tid(const struct perf_event *event)
{
	return pe_event_tid(pe(event), current);
}

static u64 pe_current_pid(const struct perf_event *event)
{
	return pe_event_pid(pe(event), current);
}

static u64 pe_current_cpu(const struct perf_event *event)
{
	return smp_processor_id();
}

static u64 pe_boot_ns(const struct perf_event *event)
{
	return ktime_get_boot_fast_ns();
}

#define LOAD_SCALE	"0.00048828125"		/* 1 / FIXED_1 */
static_assert(FIXED_1 == 2048);

#define RESOURCE(_name, _read, ...)	\
	{ .name = _name, .read = _read, .public = true, __VA_ARGS__ }

struct perf_virtual pe_kernel_resources[] = {
	RESOURCE("load1", pe_load1, .scale = LOAD_SCALE),
	RESOURCE("load5", pe_load5, .scale = LOAD_SCALE),
	RESOURCE("free_pages", pe_free_pages, .unit = "pages"),
	RESOURCE("nr_tasks", pe_nr_tasks),
	RESOURCE("tid", pe_current_tid, .local = true),
	RESOURCE("pid", pe_current_pid, .local = true),
	RESOURCE("cpu", pe_current_cpu, .local = true),
	RESOURCE("boot_ns", pe_boot_ns, .unit = "ns", .sum = true),
};

const unsigned int pe_nr_kernel_resources = ARRAY_SIZE(pe_kernel_resources);
