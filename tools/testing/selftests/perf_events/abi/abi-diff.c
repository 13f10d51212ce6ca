// SPDX-License-Identifier: GPL-2.0
/*
 * abi-diff: print what the perf_event_open() ABI of the running kernel answers.
 *
 * Every line is one fact, "section/name: fact", and holds nothing that differs
 * from run to run: no address, time, id or rate, but errno names, sizes,
 * relations and exact counts of deterministic sources. The lines of the stock
 * kernel are recorded next to this file (stock-<arch>.txt); a kernel that
 * prints other lines has another ABI.
 *
 * usage: abi-diff [-l | -t] [section | prefix*]...
 *   -l lists the sections, -t tells on standard error how long each took.
 *
 * Exit code 0, or 1 when a section died: that is a line of the output as well.
 *
 * Run as root, with /proc, /sys and tracefs available (it mounts them when it
 * may). It changes perf's sysctls and restores them. abi-*.c hold the sections,
 * abi-lib.c what they share. Each section runs in a child of its own, pinned to
 * CPU 0, so that one that dies or hangs is told and does not stop the others.
 */
#include "abi.h"
#include <sched.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const struct section *const tables[] = {
	attr_sections, type_sections, open_sections, group_sections, perm_sections,
	file_sections, map_sections, count_sections, task_sections, ring_sections,
	side_sections, sample_sections, system_sections, aux_sections, bpf_sections,
	driver_sections, object_sections,
};

static const char *current_section = "none";

void say(const char *name, const char *fmt, ...)
{
	va_list ap;

	printf("%s/%s: ", current_section, name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

void die(const char *what)
{
	fflush(stdout);
	fprintf(stderr, "abi-diff: %s: %s: %s\n", current_section, what, strerror(errno));
	exit(2);
}

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	if (!argc)
		return true;
	for (i = 0; i < argc; i++) {
		size_t len = strlen(argv[i]);

		if (!strcmp(name, argv[i]))
			return true;
		if (len && argv[i][len - 1] == '*' && !strncmp(name, argv[i], len - 1))
			return true;
	}
	return false;
}

static void mount_one(const char *type, const char *dir, const char *probe)
{
	if (!access(probe, F_OK))
		return;
	mkdir(dir, 0755);
	if (mount(type, dir, type, 0, NULL) < 0)
		fprintf(stderr, "abi-diff: cannot mount %s: %s\n", dir, strerror(errno));
}

struct saved {
	const char *path;
	const char *value;
	char old[32];
};

/*
 * The order matters: the kernel refuses a new sample rate while the CPU-time
 * limit is off, and the limit must be off or it lowers the rate on slow guests.
 */
static struct saved settings[] = {
	{ .path = "/proc/sys/kernel/perf_cpu_time_max_percent", .value = "25" },
	{ .path = "/proc/sys/kernel/perf_event_max_sample_rate", .value = "10000000" },
	{ .path = "/proc/sys/kernel/perf_cpu_time_max_percent", .value = "100" },
	{ .path = "/proc/sys/kernel/perf_event_paranoid", .value = "-1" },
	{ .path = "/proc/sys/kernel/perf_event_mlock_kb", .value = "516" },
	{ .path = "/proc/sys/kernel/perf_event_max_stack", .value = "127" },
	{ .path = "/proc/sys/kernel/perf_event_max_contexts_per_stack", .value = "8" },
};

static void settings_apply(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		file_read(settings[i].path, settings[i].old, sizeof(settings[i].old));
		if (file_write(settings[i].path, settings[i].value) < 0)
			fprintf(stderr, "abi-diff: cannot set %s to %s\n",
				settings[i].path, settings[i].value);
	}
}

static void settings_restore(void)
{
	unsigned int i;

	file_write(settings[0].path, "25");
	for (i = 1; i < ARRAY_SIZE(settings); i++)
		file_write(settings[i].path, settings[i].old);
	file_write(settings[0].path, settings[0].old);
}

/*
 * Keep one of each kind open all the time: the kernel turns its keys and
 * tracepoints on at the first event and off after the last, with grace
 * periods that would make the sweeps slow.
 */
static void hold_open(void)
{
	static const char *const kinds[] = { "sw-dummy", "tp-getppid", "tp-switch" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct source *s = source_find(kinds[i]);
		struct perf_event_attr a;

		if (s->absent)
			continue;
		source_attr(s, &a);
		attr_set_bits(&a, 1);
		if (pe_open(&a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0)
			die(kinds[i]);
	}
}

static void setup(void)
{
	struct rlimit nofile = { 4096, 4096 };

	mount_one("proc", "/proc", "/proc/self");
	mount_one("sysfs", "/sys", "/sys/kernel");
	mount_one("tracefs", "/sys/kernel/tracing", "/sys/kernel/tracing/events");
	mount_one("tmpfs", "/tmp", "/tmp");
	setrlimit(RLIMIT_NOFILE, &nofile);
	page_size = sysconf(_SC_PAGESIZE);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pin_to_cpu(0);
	settings_apply();
	sources_init();
	hold_open();
}

/* A section may last so many seconds, slow guests included. */
#define SECTION_SECONDS 60

static bool run_section(const struct section *s)
{
	pid_t pid = fork_quiet();
	int status;

	if (!pid) {
		alarm(SECTION_SECONDS);
		fault_prepare();
		s->run();
		fflush(stdout);
		_exit(0);
	}
	status = wait_child(pid);
	if (!status)
		return true;
	if (WIFSIGNALED(status))
		say("died", "signal %d", WTERMSIG(status));
	else
		say("died", "exit code %d", WEXITSTATUS(status));
	return false;
}

int main(int argc, char **argv)
{
	static char path[4096];
	bool list = false, timing = false;
	u64 start;
	unsigned int i, bad = 0;
	ssize_t n;

	/* What the exec sections start: a program that does nothing. */
	if (argc > 1 && !strcmp(argv[1], "--nothing"))
		return 0;
	if (argc > 1 && !strcmp(argv[1], "--faults")) {
		page_size = sysconf(_SC_PAGESIZE);
		fault_prepare();
		make_faults(20);
		return 0;
	}
	if (argc > 1 && (!strcmp(argv[1], "-l") || !strcmp(argv[1], "-t"))) {
		list = argv[1][1] == 'l';
		timing = !list;
		argc--;
		argv++;
	}
	if (!list)
		setup();
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	self_path = n > 0 ? path : argv[0];
	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct section *s;

		for (s = tables[i]; s->name; s++) {
			if (!wanted(s->name, argc - 1, argv + 1))
				continue;
			current_section = s->name;
			if (list) {
				puts(s->name);
				continue;
			}
			start = now_ns();
			bad += !run_section(s);
			fflush(stdout);
			if (timing)
				fprintf(stderr, "%6llu ms %s\n",
					(unsigned long long)(now_ns() - start) / 1000000, s->name);
		}
	}
	if (!list)
		settings_restore();
	return bad ? 1 : 0;
}
