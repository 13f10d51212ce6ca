// SPDX-License-Identifier: GPL-2.0
/*
 * system.c - the surroundings of a case: CPUs, clocks, small files, sysctls,
 * an ordinary user, child processes, tracefs and the event_source bus.
 *
 * Everything here ends the case as failed when it cannot do what it says;
 * the functions that answer a question (does this exist?) do not.
 */
#include "ptest.h"
#include <linux/capability.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>

void pt_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pt_need(!sched_setaffinity(0, sizeof(set), &set), "pin to CPU %d: %s", cpu,
		strerror(errno));
}

void pt_first_on_cpu(int cpu)
{
	struct sched_param first = { .sched_priority = 10 };

	pt_pin(cpu);
	pt_need(!sched_setscheduler(0, SCHED_FIFO, &first), "SCHED_FIFO: %s", strerror(errno));
}

int pt_online_cpus(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

s64 pt_switches(void)
{
	struct rusage u;

	pt_need(!getrusage(RUSAGE_THREAD, &u), "getrusage: %s", strerror(errno));
	return u.ru_nvcsw + u.ru_nivcsw;
}

u64 pt_clock(clockid_t id)
{
	struct timespec ts;

	pt_need(!clock_gettime(id, &ts), "clock_gettime(%d): %s", (int)id, strerror(errno));
	return (u64)ts.tv_sec * 1000000000ull + (u64)ts.tv_nsec;
}

/* The file is there with lockdep, whose kernel has KASAN as well: each is slow. */
unsigned int pt_turns(unsigned int full)
{
	static int debug = -1;

	if (debug < 0)
		debug = pt_path_exists("/proc/lockdep_stats");
	if (!debug)
		return full;
	return full < 10 ? 1 : full / 10;
}

pid_t pt_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

u64 pt_kernel_range(const char *name, u64 *end)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long addr, begin = 0;
	char line[512], sym[256], type;

	*end = 0;
	pt_need(f, "kallsyms: %s", strerror(errno));
	while (!*end && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %255s", &addr, &type, sym) != 3)
			continue;
		if (begin && addr > begin)
			*end = addr;
		else if (!strcmp(sym, name))
			begin = addr;
	}
	fclose(f);
	return begin;
}

u64 pt_kernel_symbol(const char *name)
{
	u64 end;

	return pt_kernel_range(name, &end);
}

u64 pt_file_offset(const void *code)
{
	u64 start, end, off, at = pt_addr(code);
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	pt_need(f, "maps: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		char *rest;

		start = strtoull(line, &rest, 16);
		end = strtoull(rest + 1, &rest, 16);
		off = strtoull(rest + 6, NULL, 16);
		if (at >= start && at < end) {
			fclose(f);
			return at - start + off;
		}
	}
	pt_need(false, "%p is not mapped", code);
	return 0;
}

bool pt_path_exists(const char *path)
{
	return !access(path, F_OK);
}

char *pt_slurp(const char *path, char *buf, size_t size)
{
	size_t used = 0;
	ssize_t n = 0;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while (used + 1 < size) {
		n = read(fd, buf + used, size - 1 - used);
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	close(fd);
	if (n < 0)
		return NULL;
	buf[used] = 0;
	if (used && buf[used - 1] == '\n')
		buf[used - 1] = 0;
	return buf;
}

long long pt_read_number(const char *path, long long absent)
{
	char buf[64], *end;
	long long v;

	if (!pt_slurp(path, buf, sizeof(buf)))
		return absent;
	v = strtoll(buf, &end, 0);
	return end == buf ? absent : v;
}

int pt_write_file(const char *path, const char *text)
{
	int fd, ret = 0;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		ret = errno ? -errno : -EIO;
	close(fd);
	return ret;
}

static void sysctl_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/proc/sys/kernel/%s", name);
}

long long pt_sysctl_get(const char *name)
{
	char path[128];
	long long v;

	sysctl_path(path, sizeof(path), name);
	v = pt_read_number(path, INT64_MIN);
	pt_need(v != INT64_MIN, "cannot read %s", path);
	return v;
}

static void sysctl_write(const char *name, long long value)
{
	char path[128], text[32];
	int ret;

	sysctl_path(path, sizeof(path), name);
	snprintf(text, sizeof(text), "%lld\n", value);
	ret = pt_write_file(path, text);
	pt_need(!ret, "write %lld to %s: %s", value, path, strerror(-ret));
}

/* What a case changed; shared with the parent, which puts it back. */
static struct saved {
	char name[64];
	long long value;
} *saved;

#define SAVED_MAX	16

void pt_sysctl_share(void)
{
	saved = mmap(NULL, sizeof(*saved) * SAVED_MAX, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pt_need(saved != MAP_FAILED, "mmap: %s", strerror(errno));
}

void pt_sysctl_restore(void)
{
	int i;

	for (i = SAVED_MAX - 1; i >= 0; i--) {
		if (saved[i].name[0])
			sysctl_write(saved[i].name, saved[i].value);
		saved[i].name[0] = 0;
	}
}

void pt_sysctl_set(const char *name, long long value)
{
	int i;

	for (i = 0; i < SAVED_MAX && saved[i].name[0]; i++) {
		if (!strcmp(saved[i].name, name))
			break;
	}
	pt_need(i < SAVED_MAX, "too many sysctls");
	if (!saved[i].name[0]) {
		saved[i].value = pt_sysctl_get(name);
		snprintf(saved[i].name, sizeof(saved[i].name), "%s", name);
	}
	sysctl_write(name, value);
}

void pt_become_nobody(void)
{
	pt_need(!syscall(SYS_setresgid, 65534, 65534, 65534), "setresgid: %s", strerror(errno));
	pt_need(!syscall(SYS_setresuid, 65534, 65534, 65534), "setresuid: %s", strerror(errno));
	/* Leaving root made us undumpable; an ordinary process is not. */
	pt_need(!prctl(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE: %s", strerror(errno));
}

void pt_as_nobody(void (*fn)(void))
{
	pid_t pid;

	pt_in_child(pid) {
		pt_become_nobody();
		fn();
	}
	pt_reap(pid);
}

void pt_as_member(gid_t gid, void (*fn)(void))
{
	pid_t pid;

	pt_in_child(pid) {
		pt_need(!syscall(SYS_setgroups, 1, &gid), "setgroups: %s", strerror(errno));
		pt_become_nobody();
		fn();
	}
	pt_reap(pid);
}

static void keep_capability(int cap)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2] = { { 0 } };

	pt_need(!prctl(PR_SET_KEEPCAPS, 1), "PR_SET_KEEPCAPS");
	pt_become_nobody();
	d[cap / 32].permitted = 1u << (cap % 32);
	d[cap / 32].effective = 1u << (cap % 32);
	pt_need(!syscall(SYS_capset, &h, d), "capset: %s", strerror(errno));
}

void pt_with_capability(int cap, void (*fn)(void *arg), void *arg)
{
	pid_t pid;

	pt_in_child(pid) {
		keep_capability(cap);
		fn(arg);
	}
	pt_reap(pid);
}

const char *pt_tracefs(void)
{
	static const char path[] = "/sys/kernel/tracing";

	if (!pt_path_exists("/sys/kernel/tracing/events") &&
	    mount("tracefs", path, "tracefs", 0, NULL))
		pt_skip("no tracefs: %s", strerror(errno));
	return path;
}

u64 pt_tracepoint_id(const char *system, const char *name)
{
	char path[256];
	long long id;

	snprintf(path, sizeof(path), "%s/events/%s/%s/id", pt_tracefs(), system, name);
	id = pt_read_number(path, -1);
	if (id < 0)
		pt_skip("no tracepoint %s:%s", system, name);
	return (u64)id;
}

/* Lines look like "field:int prio;	offset:24;	size:4;	signed:1;". */
int pt_field_offset(const char *system, const char *name, const char *field)
{
	char path[256], text[4096], word[64];
	char *at, *off;

	snprintf(path, sizeof(path), "%s/events/%s/%s/format", pt_tracefs(), system, name);
	pt_need(pt_slurp(path, text, sizeof(text)), "cannot read %s", path);
	snprintf(word, sizeof(word), " %s;", field);
	at = strstr(text, word);
	if (!at) {
		snprintf(word, sizeof(word), " %s[", field);
		at = strstr(text, word);
	}
	pt_need(at, "no field %s in %s", field, path);
	off = strstr(at, "offset:");
	pt_need(off, "no offset of %s in %s", field, path);
	return atoi(off + strlen("offset:"));
}

int pt_pmu_type(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	return (int)pt_read_number(path, -1);
}
