// SPDX-License-Identifier: GPL-2.0
/*
 * sysfs.c - the event_source bus: each PMU with its type, which is also the
 * number perf_event_open() takes, and the attributes all of them have.
 *
 * needs: hw
 */
#include "lib/ptest.h"
#include <dirent.h>

#define BUS	"/sys/bus/event_source/devices"

static void fixed_types(void)
{
	pt_need(pt_path_exists(BUS), "no %s", BUS);
	pt_eq(pt_pmu_type("software"), PERF_TYPE_SOFTWARE);
	pt_eq(pt_pmu_type("breakpoint"), PERF_TYPE_BREAKPOINT);
}

static void types_of_tracing(void)
{
	char path[256];

	pt_need(pt_path_exists(BUS), "no %s", BUS);
	snprintf(path, sizeof(path), "%s/kprobe_events", pt_tracefs());
	if (!pt_path_exists(path))
		pt_skip("no %s", path);
	pt_eq(pt_pmu_type("tracepoint"), PERF_TYPE_TRACEPOINT);
	pt_check(pt_pmu_type("kprobe") >= PERF_TYPE_MAX, "kprobe has type %d",
		 pt_pmu_type("kprobe"));
	pt_check(pt_pmu_type("uprobe") >= PERF_TYPE_MAX, "uprobe has type %d",
		 pt_pmu_type("uprobe"));
}

static void types_are_unique(void)
{
	struct dirent *e;
	int type[64], n = 0, i;
	DIR *d = opendir(BUS);

	pt_need(d, "no %s: %s", BUS, strerror(errno));
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		type[n] = pt_pmu_type(e->d_name);
		pt_check(type[n] >= 0, "%s has no type", e->d_name);
		for (i = 0; i < n; i++)
			pt_check(type[i] != type[n], "%s has a type used twice", e->d_name);
		pt_need(++n < 64, "too many PMUs");
	}
	closedir(d);
	pt_check(n >= 3, "only %d PMUs", n);
}

static void type_is_what_open_takes(void)
{
	struct perf_event_attr attr = pt_attr((u32)pt_pmu_type("software"),
					      PERF_COUNT_SW_PAGE_FAULTS);

	pt_eq(pt_probe(&attr), 0);
}

/* The PMU that generic hardware events come from, by its own number. */
static void hardware_pmu_by_number(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	static const char * const names[] = { "armv8_pmuv3_0", "armv8_pmuv3", "cpu" };
	unsigned int i;

	attr.exclude_kernel = 1;
	close(pt_open_hw(&attr, -1));
	for (i = 0; i < PT_ARRAY_SIZE(names); i++) {
		int type = pt_pmu_type(names[i]);
		int fd;

		if (type < 0)
			continue;
		/* extended type: the PMU's number in the upper half of config */
		attr.config = (u64)type << 32 | PERF_COUNT_HW_INSTRUCTIONS;
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_spin(1000);
		pt_check(pt_count(fd) > 2000, "%s counts nothing", names[i]);
		return;
	}
	pt_skip("PMU of unknown name");
}

static void mux_interval(void)
{
	static const char path[] = BUS "/%s/perf_event_mux_interval_ms";
	struct dirent *e;
	DIR *d = opendir(BUS);
	int seen = 0;

	pt_need(d, "no %s: %s", BUS, strerror(errno));
	while ((e = readdir(d))) {
		char file[512], text[32];
		long long ms;

		if (e->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), path, e->d_name);
		if (!pt_path_exists(file))
			continue;
		seen++;
		ms = pt_read_number(file, -1);
		/* Linux 6.12 has none for what software counts. */
		pt_check(ms >= 1 || (pt_is_stock() && !ms), "%s is %lld", file, ms);
		pt_eq(pt_write_file(file, "0\n"), -EINVAL);
		pt_eq(pt_write_file(file, "-1\n"), -EINVAL);
		pt_check(pt_write_file(file, "abc\n") < 0, "%s is abc", file);
		pt_eq(pt_write_file(file, "7\n"), 0);
		pt_eq(pt_read_number(file, -1), 7);
		snprintf(text, sizeof(text), "%lld\n", ms ? ms : 1);
		pt_eq(pt_write_file(file, text), 0);
		pt_eq(pt_read_number(file, -1), ms ? ms : 1);
	}
	closedir(d);
	pt_check(seen > 0, "no PMU has an interval");
}

static void probe_formats(void)
{
	static const struct {
		const char *file, *text;
	} want[] = {
		{ BUS "/kprobe/format/retprobe", "config:0" },
		{ BUS "/uprobe/format/retprobe", "config:0" },
		{ BUS "/uprobe/format/ref_ctr_offset", "config:32-63" },
	};
	unsigned int i;
	char text[64];

	if (pt_pmu_type("kprobe") < 0 || pt_pmu_type("uprobe") < 0)
		pt_skip("no probe PMUs");
	for (i = 0; i < PT_ARRAY_SIZE(want); i++) {
		pt_check(pt_slurp(want[i].file, text, sizeof(text)), "no %s", want[i].file);
		pt_check(!strcmp(text, want[i].text), "%s says %s", want[i].file, text);
	}
}

static void sysctl_defaults(void)
{
	static const char * const names[] = {
		"perf_event_paranoid", "perf_event_mlock_kb", "perf_event_max_sample_rate",
		"perf_cpu_time_max_percent", "perf_event_max_stack",
		"perf_event_max_contexts_per_stack",
	};
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(names); i++)
		pt_sysctl_get(names[i]);
	pt_eq(pt_sysctl_get("perf_event_mlock_kb"), 512 + pt_page_size() / 1024);
	pt_eq(pt_sysctl_get("perf_event_max_stack"), 127);
	pt_eq(pt_sysctl_get("perf_event_max_contexts_per_stack"), 8);
}

static const struct pt_case cases[] = {
	{ "fixed_types", fixed_types },
	{ "types_of_tracing", types_of_tracing },
	{ "types_are_unique", types_are_unique },
	{ "type_is_what_open_takes", type_is_what_open_takes },
	{ "hardware_pmu_by_number", hardware_pmu_by_number },
	{ "mux_interval", mux_interval },
	{ "probe_formats", probe_formats },
	{ "sysctl_defaults", sysctl_defaults },
};

PT_MAIN(cases)
