// SPDX-License-Identifier: GPL-2.0
/*
 * counter_refused.c - samples that a CPU makes without being told of each period: by PEBS with a
 * counter that reloads itself, and by the branch records of Zen 3 (BRS). What needs to know of each
 * overflow is refused there, by sentence; beside each is the nearest event that takes it all.
 *
 * needs: hw adaptive-pebs brs
 */
#include "lib/format.h"
#include "lib/hold.h"
#include "lib/sets.h"

#define INSTRUCTIONS	0xc0
#define PERIOD		10007

/* What INFO says that such an event cannot have. */
#define EACH_OVERFLOW	(PERF_EXT_PERIODS | PERF_EXT_NOTIFY | PERF_EXT_FORMATS)
#define ALL_EVENTS	(PERF_EXT_MASKS | PERF_EXT_SETS)

#define NO_PERIODS	"-95 PERIODS: the PMU cannot vary the period of this event"
#define NO_NOTIFY	"-95 NOTIFY: the PMU does not stop at each overflow of this event"
#define NO_TRIGGER	"-22 SET_TRIGGER: the event does not sample, or not one by one"
#define NO_FORMAT	"-95 FORMAT: the PMU writes samples of this event by itself"

static struct perf_event_attr precise(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_RAW, INSTRUCTIONS);

	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.precise_ip = 2;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

static struct perf_event_attr branches(void)
{
	struct perf_event_attr attr = ext_event("cpu", "branch-brs");

	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

static void need_pebs(void)
{
	struct perf_event_attr attr = precise();
	char name[64] = "";

	ext_need();
	pt_slurp("/sys/bus/event_source/devices/cpu/caps/pmu_name", name, sizeof(name));
	if (!*name || pt_probe(&attr))
		pt_skip("no PEBS");
}

static void need_brs(void)
{
	ext_need();
	if (ext_config("cpu", "branch-brs") < 0)
		pt_skip("no BRS");
}

/* 10,007 and at random up to 1,023 more. */
static long random_periods(int fd)
{
	struct perf_ext_periods p = { .short_period = PERIOD, .mask = 0x3ff, .seed = 1 };

	return ext_periods(fd, &p);
}

static long to_hist(int fd)
{
	const struct perf_ext_hist_arg arg = { .key = { PERF_EXT_KEY_IP }, .buckets = 64 };
	struct perf_ext_format ask = {
		.arg = pt_addr(&arg), .arg_size = sizeof(arg), .share = -1,
	};

	memcpy(ask.uuid, hist_uuid, sizeof(ask.uuid));
	return format_ask(fd, &ask);
}

static struct perf_ext_info info_of(int fd)
{
	struct perf_ext_info info = {};

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	return info;
}

/* An event of the task whose members can be recorded, too; opened where periods are to vary. */
static int open_group(struct perf_event_attr attr)
{
	pt_sysctl_set("perf_ext_jitter_percent", 50);
	attr.sample_type |= PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	return pt_open(&attr, 0, -1, -1, 0);
}

/* Calls that need each overflow are refused; those that do not are not. */
static void refuses(struct perf_event_attr attr)
{
	struct perf_ext_masks masks = { .record = 1 };
	int fd = open_group(attr);
	struct perf_ext_info info = info_of(fd);

	pt_check(!pt_fdinfo(fd, "random"), "its periods vary");
	pt_eq(info.least_period, 0);
	pt_eq(info.here & (EACH_OVERFLOW | ALL_EVENTS), ALL_EVENTS);
	ext_says(random_periods(fd), NO_PERIODS);
	ext_says(notify(fd, 1, 0), NO_NOTIFY);
	ext_says(notify(fd, 1, PERF_EXT_NOTIFY_STOP), NO_NOTIFY);
	ext_says(notify(fd, 1, HOLD), NO_NOTIFY);
	ext_says(restart(fd), NO_NOTIFY);
	ext_says(to_hist(fd), NO_FORMAT);
	ext_says(set_trigger(fd, 1), NO_TRIGGER);
	ext_says(pt_ioctl(fd, PERF_EXT_IOC_MASKS, pt_addr(&masks)), "");
	ext_says(set_join(fd, -1, 0), "");
	close(fd);
}

/* All of it. */
static void takes(struct perf_event_attr attr)
{
	int fd = open_group(attr), area;
	struct perf_ext_info info = info_of(fd);

	pt_check(!!pt_fdinfo(fd, "random"), "its periods do not vary");
	pt_eq(info.least_period, 2);
	pt_eq(info.here & (EACH_OVERFLOW | ALL_EVENTS), EACH_OVERFLOW | ALL_EVENTS);
	ext_says(random_periods(fd), "");
	ext_says(notify(fd, 1, PERF_EXT_NOTIFY_STOP), "");
	ext_says(set_trigger(fd, 1), "");
	ext_says(set_join(fd, -1, 0), "");
	area = (int)to_hist(fd);
	pt_check(area >= 0, "FORMAT: %d", area);
	close(area);
	close(fd);
}

/* Neither who wakes the reader, nor what is in a record, makes a period known to the kernel. */
static void pebs(void)
{
	struct perf_event_attr attr;

	need_pebs();
	/* Many records wait for one interrupt: "large". */
	refuses(precise());
	/* One interrupt for each, but the counter reloads itself. */
	attr = precise();
	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	refuses(attr);
	attr = precise();
	attr.watermark = 1;
	attr.wakeup_watermark = 1;
	refuses(attr);
}

/* The reader is woken by number: then the kernel writes each period to the counter. */
static void pebs_told_of_each(void)
{
	struct perf_event_attr attr;

	need_pebs();
	attr = precise();
	attr.wakeup_events = 1;
	takes(attr);
	attr = precise();
	attr.precise_ip = 0;
	takes(attr);
}

static void brs(void)
{
	need_brs();
	refuses(branches());
}

static void brs_event_without_records(void)
{
	struct perf_event_attr attr;

	need_brs();
	attr = branches();
	attr.sample_type = PERF_SAMPLE_IP;
	attr.branch_sample_type = 0;
	takes(attr);
}

static const struct pt_case cases[] = {
	{ "pebs", pebs },
	{ "pebs_told_of_each", pebs_told_of_each },
	{ "brs", brs },
	{ "brs_event_without_records", brs_event_without_records },
};

PT_MAIN(cases)
