// SPDX-License-Identifier: GPL-2.0
/* libpfx.c - see pfx.h */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pfx.h"

#define LAST_ERROR	"/sys/bus/event_source/last_error"
#define DEVICES		"/sys/bus/event_source/devices"

int pfx_open(struct perf_event_attr *attr, int pid, int cpu, int group, unsigned long flags)
{
	int fd;

	attr->size = sizeof(*attr);
	fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
	return fd < 0 ? -errno : fd;
}

static int call(int fd, unsigned long number, void *arg)
{
	return ioctl(fd, number, arg) ? -errno : 0;
}

int pfx_info(int fd, struct perf_ext_info *info)
{
	memset(info, 0, sizeof(*info));
	return call(fd, PERF_EXT_IOC_INFO, info);
}

int pfx_periods(int fd, struct perf_ext_periods *periods)
{
	return call(fd, PERF_EXT_IOC_PERIODS, periods);
}

int pfx_get_periods(int fd, struct perf_ext_periods *periods)
{
	memset(periods, 0, sizeof(*periods));
	return call(fd, PERF_EXT_IOC_GET_PERIODS, periods);
}

int pfx_notify(int fd, const struct perf_ext_notify *notify)
{
	return call(fd, PERF_EXT_IOC_NOTIFY, (void *)notify);
}

int pfx_format(int fd, struct perf_ext_format *format)
{
	int answer = ioctl(fd, PERF_EXT_IOC_FORMAT, format);

	return answer < 0 ? -errno : answer;
}

int pfx_restart(int fd, int tid)
{
	struct perf_ext_restart restart = { .tid = tid };

	return call(fd, PERF_EXT_IOC_RESTART, &restart);
}

int pfx_join(int leader, int ring, uint16_t number)
{
	struct perf_ext_set set = { .ring = ring, .number = number };

	return call(leader, PERF_EXT_IOC_SET_JOIN, &set);
}

int pfx_trigger(int fd, uint32_t threshold)
{
	struct perf_ext_trigger trigger = { .threshold = threshold };

	return call(fd, PERF_EXT_IOC_SET_TRIGGER, &trigger);
}

int pfx_create(struct perf_event_attr *attrs, unsigned int nr, uint32_t flags)
{
	struct perf_event_attr dummy = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	struct perf_ext_create create = {
		.attrs = (uintptr_t)attrs, .nr = nr, .stride = sizeof(*attrs), .flags = flags,
	};
	int fd, session;
	unsigned int i;

	for (i = 0; i < nr; i++)
		attrs[i].size = sizeof(*attrs);
	/* Any event will do to ask it of. */
	fd = pfx_open(&dummy, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	session = ioctl(fd, PERF_EXT_IOC_CREATE, &create);
	if (session < 0)
		session = -errno;
	close(fd);
	return session;
}

int pfx_attach(int session, uint32_t kind, int64_t number, uint32_t flags)
{
	struct perf_ext_target target = { .kind = kind, .flags = flags, .number = number };

	return call(session, PERF_EXT_IOC_ATTACH, &target);
}

int pfx_detach(int session, uint32_t kind, int64_t number)
{
	struct perf_ext_target target = { .kind = kind, .number = number };

	return call(session, PERF_EXT_IOC_DETACH, &target);
}

int pfx_read(int session, uint32_t flags, struct perf_ext_values **values, unsigned int *nr)
{
	struct perf_ext_read r = { .flags = flags };
	void *room = NULL, *more;
	int err;

	/* Targets may come while there is not room enough. */
	while ((err = call(session, PERF_EXT_IOC_READ, &r)) == -ENOSPC) {
		more = realloc(room, r.size);
		if (!more) {
			err = -ENOMEM;
			break;
		}
		room = more;
		r.buf = (uintptr_t)room;
	}
	if (err) {
		free(room);
		return err;
	}
	*values = room;
	*nr = r.nr;
	return 0;
}

/* One less than the largest power of two that is not above @span. */
static uint32_t mask_within(uint64_t span)
{
	uint64_t mask = 1;

	while (2 * mask <= span && mask < 1ull << 31)
		mask *= 2;
	return (uint32_t)(mask - 1);
}

struct perf_ext_periods pfx_apply(const struct pfx_rule *rule, uint64_t period)
{
	struct perf_ext_periods p = {
		.short_period	= rule->short_period ? rule->short_period : period,
		.long_period	= rule->long_period,
		.long_every	= rule->long_every,
		.mask		= rule->mask,
		.seed		= rule->seed,
	};

	if (rule->jitter) {
		p.mask = mask_within(period / 100 * rule->jitter);
		p.short_period = period - p.mask / 2;
	}
	return p;
}

/* Numbers with colons between them.  Return: how many. */
static int numbers(const char *text, uint64_t *number, int most)
{
	char *end;
	int n = 0;

	while (n < most) {
		errno = 0;
		number[n] = strtoull(text, &end, 0);
		if (end == text || errno || *text == '-')
			return 0;
		n++;
		if (!*end)
			return n;
		if (*end != ':')
			return 0;
		text = end + 1;
	}
	return 0;
}

bool pfx_option(struct pfx_rule *rule, const char *name, const char *value)
{
	uint64_t number[3] = {};
	int n = numbers(value, number, 3);

	if (!strcmp(name, "random") && (n == 1 || n == 2)) {
		if (number[0] > INT32_MAX || number[1] >= INT32_MAX)
			return false;
		rule->mask = (uint32_t)number[0];
		rule->seed = (uint32_t)number[1];
		return true;
	}
	if (!strcmp(name, "burst") && n == 3) {
		if (!number[0] || !number[1] || !number[2] || number[2] > UINT32_MAX)
			return false;
		rule->long_period = number[0];
		rule->short_period = number[1];
		rule->long_every = (uint32_t)number[2];
		return true;
	}
	if (!strcmp(name, "jitter") && n == 1) {
		if (!number[0] || number[0] > 50)
			return false;
		rule->jitter = (unsigned int)number[0];
		return true;
	}
	return false;
}

static const struct {
	const char	*name;
	uint32_t	type;
	uint64_t	config;
} events[] = {
	{ "cycles",		PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles",		PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions",	PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references",	PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses",	PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches",		PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses",	PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles",		PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "ref-cycles",		PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock",		PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock",		PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults",	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults",		PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults",	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults",	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches",	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs",			PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "migrations",		PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "cpu-migrations",	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
};

static bool set_modes(const char *modes, struct perf_event_attr *attr)
{
	if (!strcmp(modes, "u"))
		attr->exclude_kernel = 1;
	else if (!strcmp(modes, "k"))
		attr->exclude_user = 1;
	else
		return false;
	attr->exclude_hv = 1;
	return true;
}

/* The text of devices/PMU/FOLDER/NAME in sysfs, in @buf; false: there is none. */
static bool pmu_file(const char *pmu, const char *folder, const char *name, char *buf, size_t size)
{
	char path[256];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), DEVICES "/%s%s%s/%s", pmu, *folder ? "/" : "", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, buf, size - 1);
		close(fd);
	}
	buf[n > 0 ? n : 0] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return n > 0;
}

static uint64_t *word_of(struct perf_event_attr *attr, const char *format)
{
	static const char *const names[] = { "config:", "config1:", "config2:", "config3:" };
	__u64 *const words[] = { &attr->config, &attr->config1, &attr->config2, &attr->config3 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(format, names[i], strlen(names[i])))
			return (uint64_t *)words[i];
	return NULL;
}

/* "event=0x11", or "edge", which is 1: into the bits that the PMU's format says. */
static bool set_term(const char *pmu, char *term, struct perf_event_attr *attr)
{
	char format[128], *value = strchr(term, '='), *end, *bits;
	uint64_t number = 1, *word;

	if (value) {
		*value++ = 0;
		number = strtoull(value, &end, 0);
		if (end == value || *end)
			return false;
	}
	if (!pmu_file(pmu, "format", term, format, sizeof(format)))
		return false;
	word = word_of(attr, format);
	/* "config:0-7,32-35": the lowest bits of the number go first. */
	for (bits = word ? strchr(format, ':') : NULL; bits; bits = strchr(bits, ',')) {
		unsigned long low = strtoul(bits + 1, &bits, 10), high = low;

		if (*bits == '-')
			high = strtoul(bits + 1, &bits, 10);
		if (high < low || high > 63)
			return false;
		for (; low <= high; low++, number >>= 1)
			*word |= (number & 1) << low;
	}
	return word && !number;
}

static bool set_terms(const char *pmu, char *terms, struct perf_event_attr *attr)
{
	char *term;

	while ((term = strsep(&terms, ",")))
		if (!set_term(pmu, term, attr))
			return false;
	return true;
}

/* "virtual/load1/u", "cpu/event=0xc0,umask=1/" */
static bool pmu_event(const char *name, struct perf_event_attr *attr)
{
	char copy[256], text[256], *pmu = copy, *what, *modes;

	if (strlen(name) >= sizeof(copy))
		return false;
	strcpy(copy, name);
	what = strchr(copy, '/');
	*what++ = 0;
	modes = strchr(what, '/');
	if (!modes || !*pmu || !*what)
		return false;
	*modes++ = 0;
	modes += *modes == ':';
	if ((*modes && !set_modes(modes, attr)) || !pmu_file(pmu, "", "type", text, sizeof(text)))
		return false;
	attr->type = (uint32_t)strtoul(text, NULL, 10);
	if (!strpbrk(what, "=,") && pmu_file(pmu, "events", what, text, sizeof(text)))
		what = text;
	return set_terms(pmu, what, attr);
}

bool pfx_event(const char *name, struct perf_event_attr *attr)
{
	const char *colon = strchr(name, ':');
	size_t i, len = colon ? (size_t)(colon - name) : strlen(name);
	char *end;

	if (strchr(name, '/'))
		return pmu_event(name, attr);
	if (colon && !set_modes(colon + 1, attr))
		return false;
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (strlen(events[i].name) != len || strncmp(events[i].name, name, len))
			continue;
		attr->type = events[i].type;
		attr->config = events[i].config;
		return true;
	}
	if (name[0] != 'r' || len < 2)
		return false;
	attr->type = PERF_TYPE_RAW;
	attr->config = strtoull(name + 1, &end, 16);
	return end == name + len;
}

const char *pfx_why(char *buf, size_t size)
{
	int fd = open(LAST_ERROR, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return buf + strspn(buf, "-0123456789 ");	/* behind the errno */
}
