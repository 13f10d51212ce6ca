// SPDX-License-Identifier: GPL-2.0
/* ext.c - see ext.h */
#include "ext.h"

#define FIELD	0x7fffffffull

void ext_need(void)
{
	if (pt_is_stock())
		pt_skip("Linux 6.12 has no extensions");
	if (!pt_path_exists("/sys/bus/event_source/extensions"))
		pt_skip("CONFIG_PERF_EVENTS_EXT is off");
}

static const char *pmu_file(const char *pmu, const char *file)
{
	static char path[256];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", pmu, file);
	return path;
}

long long ext_config(const char *pmu, const char *name)
{
	char file[128], text[64];

	snprintf(file, sizeof(file), "events/%s", name);
	if (!pt_slurp(pmu_file(pmu, file), text, sizeof(text)))
		return -1;
	pt_need(!strncmp(text, "event=0x", 8) || !strcmp(text, "event=0"), "%s: %s", name, text);
	return strtoll(text + 6, NULL, 16);
}

struct perf_event_attr ext_event(const char *pmu, const char *name)
{
	long long config = ext_config(pmu, name);

	pt_need(config >= 0, "no event %s/%s/", pmu, name);
	return pt_attr((u32)pt_pmu_type(pmu), (u64)config);
}

void ext_file_is(const char *pmu, const char *file, const char *want)
{
	const char *path = pmu_file(pmu, file);
	char text[64];

	if (!want) {
		pt_check(!pt_path_exists(path), "%s exists", path);
		return;
	}
	pt_need(pt_slurp(path, text, sizeof(text)), "no %s", path);
	pt_check(!strcmp(text, want), "%s says %s, not %s", path, text, want);
}

int ext_open_own_task(struct perf_event_attr *attr)
{
	int fd;

	ext_need();
	pt_sysctl_set("perf_event_paranoid", 3);
	pt_sysctl_set("perf_ext_own_tasks", 1);
	pt_need(!seteuid(65534), "seteuid: %s", strerror(errno));
	fd = pt_open(attr, 0, -1, -1, 0);
	pt_need(!seteuid(0), "seteuid: %s", strerror(errno));
	return fd;
}

void ext_refused(struct perf_event_attr *attr, int err, const char *why)
{
	char text[256], want[256];

	pt_eq(pt_probe(attr), -err);
	if (!why)
		return;
	snprintf(want, sizeof(want), "-%d %s", err, why);
	pt_need(pt_slurp("/sys/bus/event_source/last_error", text, sizeof(text)), "no last_error");
	pt_check(!strcmp(text, want), "%s, not %s", text, want);
}

void ext_says_at(int line, long ret, const char *sentence)
{
	struct perf_event_attr bad = { .size = 1 };
	char text[256];

	pt_check(ret == atol(sentence), "line %d: %ld, not: %s", line, ret, sentence);
	if (!*sentence)
		return;
	pt_need(pt_slurp("/sys/bus/event_source/last_error", text, sizeof(text)), "no last_error");
	pt_check(!strcmp(text, sentence), "line %d: last_error is \"%s\", not: %s", line, text,
		 sentence);
	/* Another one, so that no sentence is taken for that of the next call. */
	pt_eq(pt_try_open(&bad, 0, -1, -1, 0), -E2BIG);
}

int ext_periods(int fd, struct perf_ext_periods *p)
{
	return (int)pt_ioctl(fd, PERF_EXT_IOC_PERIODS, pt_addr(p));
}

void ext_model_start(struct ext_model *m, const struct perf_ext_periods *p)
{
	*m = (struct ext_model){ .p = *p, .seed = p->seed };
	m->p.long_period = p->long_period ? p->long_period : p->short_period;
	m->p.initial_period = p->initial_period ? p->initial_period : m->p.long_period;
}

u64 ext_model_next(struct ext_model *m)
{
	u64 length = m->p.short_period;

	m->n++;
	if (m->n == 1)
		length = m->p.initial_period;
	else if (m->p.long_every && (m->n - 1) % m->p.long_every == 0)
		length = m->p.long_period;
	length += m->seed & m->p.mask;
	m->seed = m->seed * 16807 % FIELD;
	m->sum += length;
	return length;
}

u32 ext_seed_of_copy(u32 seed, u32 number)
{
	return 1 + (seed + number * 0x9e3779b1ull) % (FIELD - 1);
}
