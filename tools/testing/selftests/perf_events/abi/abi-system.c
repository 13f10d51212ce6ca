// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about what the subsystem shows outside its system call: the
 * event_source bus in sysfs, the sysctls, and the fdinfo of an event; and CPUs that
 * go offline.
 *
 * What a driver puts there (formats, events) is the driver's; the lists here
 * are of the files the core makes.
 */
#include "abi.h"
#include <dirent.h>
#include <sys/stat.h>

#define DEVICES "/sys/bus/event_source/devices"

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static void list_files(const char *name, const char *dir)
{
	char line[2048];
	size_t len = 0;
	struct dirent **list;
	int n = scandir(dir, &list, not_hidden, alphasort), i;

	line[0] = 0;
	for (i = 0; i < n; i++) {
		char path[512];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		/* The power directory is there or not by another option. */
		if (!lstat(path, &st) && strcmp(list[i]->d_name, "power") &&
		    len < sizeof(line) - 300)
			len += snprintf(line + len, sizeof(line) - len, " %s:%o", list[i]->d_name,
					st.st_mode & (S_ISLNK(st.st_mode) ? S_IFMT : ~0u));
		free(list[i]);
	}
	if (n > 0)
		free(list);
	say(name, "%s", n < 0 ? "absent" : line);
}

/* But for those that Linux 6.12 does not have: virtual.c and cost.c are about them. */
static int stock_pmu(const struct dirent *d)
{
	return not_hidden(d) && strcmp(d->d_name, "virtual") && strcmp(d->d_name, "perf_cost");
}

static void system_sysfs(void)
{
	struct dirent **list;
	int n = scandir(DEVICES, &list, stock_pmu, alphasort), i;

	say("devices", "%d", n);
	for (i = 0; i < n; i++) {
		char path[512], name[300], value[64];
		long long type;

		snprintf(path, sizeof(path), DEVICES "/%s", list[i]->d_name);
		list_files(list[i]->d_name, path);
		snprintf(path, sizeof(path), DEVICES "/%s/type", list[i]->d_name);
		type = file_number(path);
		snprintf(name, sizeof(name), "%s,type", list[i]->d_name);
		if (type < 6)
			say(name, "%lld", type);
		else
			say(name, "dynamic");
		snprintf(path, sizeof(path), DEVICES "/%s/perf_event_mux_interval_ms",
			 list[i]->d_name);
		snprintf(name, sizeof(name), "%s,mux", list[i]->d_name);
		if (!access(path, F_OK)) {
			static const char *const values[] = {
				"0", "-1", "1", "4", "x", "", "10000", "2147483647", "4294967296",
					" 7 ",
			};
			struct tally *t = tally_new();
			unsigned int v;

			say(name, "%lld", file_number(path));
			for (v = 0; v < ARRAY_SIZE(values); v++) {
				int ret = file_write(path, values[v]);
				char text[64];

				snprintf(text, sizeof(text), "%s:%lld", res(ret),
					 file_number(path));
				tally_add(t, text, "'%s'", values[v]);
			}
			tally_say(t, "%s,write", name);
			file_write(path, "4");
		}
		snprintf(path, sizeof(path), DEVICES "/%s/cpumask", list[i]->d_name);
		snprintf(name, sizeof(name), "%s,cpumask", list[i]->d_name);
		if (file_read(path, value, sizeof(value)) >= 0)
			say(name, "%s", value);
		snprintf(path, sizeof(path), DEVICES "/%s/nr_addr_filters", list[i]->d_name);
		snprintf(name, sizeof(name), "%s,nr_addr_filters", list[i]->d_name);
		if (file_read(path, value, sizeof(value)) >= 0)
			say(name, "%s", value);
		snprintf(path, sizeof(path), DEVICES "/%s/format", list[i]->d_name);
		snprintf(name, sizeof(name), "%s,format", list[i]->d_name);
		list_files(name, path);
		free(list[i]);
	}
	if (n > 0)
		free(list);
}

static void system_sysctl(void)
{
	static const struct {
		const char *name, *back;
	} files[] = {
		{ "perf_event_paranoid", "-1" }, { "perf_event_mlock_kb", "516" },
		{ "perf_event_max_stack", "127" }, { "perf_event_max_contexts_per_stack", "8" },
		{ "perf_cpu_time_max_percent", "25" }, { "perf_event_max_sample_rate", "10000000" },
	};
	static const char *const values[] = {
		"-2", "-1", "0", "1", "2", "3", "4", "25", "99", "100", "101", "127", "640", "641",
		"1000", "1001", "100000", "2147483647", "2147483648", "x", "", "1 2",
	};
	unsigned int i, v, held;

	file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "25");
	for (held = 0; held < 2; held++)
		for (i = 0; i < ARRAY_SIZE(files); i++) {
			struct perf_event_attr a;
			char path[96];
			struct tally *t = tally_new();
			struct stat st;
			int fd = -1;

			/* The limits of chains cannot change while chains are sampled. */
			if (held) {
				attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
				a.sample_type = PERF_SAMPLE_CALLCHAIN;
				a.sample_period = 1;
				fd = must_open(&a);
			}
			snprintf(path, sizeof(path), "/proc/sys/kernel/%s", files[i].name);
			for (v = 0; v < ARRAY_SIZE(values); v++) {
				int ret = file_write(path, values[v]);
				long long now = file_number(path);
				char text[64];

				/* 0 and 100 percent switch the limit off with a message. */
				if (i == 4 && (!strcmp(values[v], "0") ||
					       !strcmp(values[v], "100")))
					file_write(path, "25");
				if (ret >= 0)
					snprintf(text, sizeof(text), "%s",
						 now == strtoll(values[v], NULL, 0) ?
						 "ok" : "ok-other-value");
				else
					snprintf(text, sizeof(text), "%s", res(ret));
				tally_add(t, text, "%s", *values[v] ? values[v] : "empty");
			}
			tally_say(t, "%s%s", files[i].name, held ? ",in-use" : "");
			if (!held && !stat(path, &st)) {
				char name[64];

				snprintf(name, sizeof(name), "%s,mode", files[i].name);
				say(name, "%o", st.st_mode);
			}
			if (fd >= 0)
				close(fd);
			file_write(path, files[i].back);
		}
	file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "100");
}

/* While the CPU-time limit is off the rate cannot be set. */
static void system_rate(void)
{
	static const char *const percents[] = { "0", "25", "100", "50" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(percents); i++) {
		int ret;

		file_write("/proc/sys/kernel/perf_cpu_time_max_percent", percents[i]);
		ret = file_write("/proc/sys/kernel/perf_event_max_sample_rate", "10000000");
		say(percents[i], "%s", res(ret));
	}
	file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "100");
}

static void system_fdinfo(void)
{
	int fd = sw_open(PERF_COUNT_SW_DUMMY, 0, -1);
	char path[48], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, ":")] = 0;
		say("key", "%s", line);
	}
	if (f)
		fclose(f);
	close(fd);
}

static void hotplug(void)
{
	const char *online = "/sys/devices/system/cpu/cpu1/online";
	static const char *const sources[] = { "sw-page-faults", "sw-cpu-clock", "hw-cycles",
		"bp-w8" };
	unsigned int i;
	int fds[4];
	u64 v;

	if (nr_cpus < 2 || access(online, W_OK)) {
		say("skipped", "one CPU, or it cannot be taken offline");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		struct perf_event_attr a;

		source_attr(source_find(sources[i]), &a);
		fds[i] = pe_open(&a, -1, 1, -1, 0);
	}
	say("offline", "%s", res(file_write(online, "0")));
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		struct perf_event_attr a;

		source_attr(source_find(sources[i]), &a);
		say(sources[i], "open %s", res(try_open_at(&a, -1, 1, -1, 0)));
		say(sources[i], "task on it %s", res(try_open_at(&a, 0, 1, -1, 0)));
		if (fds[i] < 0)
			continue;
		say(sources[i], "read of the one before %ld", neg(read(fds[i], &v, 8)));
		say(sources[i], "enable %s", res(neg(ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0))));
	}
	say("online", "%s", res(file_write(online, "1")));
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		if (fds[i] < 0)
			continue;
		say(sources[i], "read after %ld", neg(read(fds[i], &v, 8)));
		close(fds[i]);
	}
}

const struct section system_sections[] = {
	{ "system-sysfs", system_sysfs },
	{ "system-sysctl", system_sysctl },
	{ "system-rate", system_rate },
	{ "system-fdinfo", system_fdinfo },
	{ "hotplug", hotplug },
	{ }
};
