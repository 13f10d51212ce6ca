// SPDX-License-Identifier: GPL-2.0
/*
 * event.c - open events and read their values.
 *
 * pt_attr() gives the smallest attr: everything zero but type, config, size.
 * Errors of the system calls are passed on as -errno, so that a case can
 * compare them; the variants that must work end the case when they do not.
 */
#include "ptest.h"

struct perf_event_attr pt_attr(u32 type, u64 config)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = type;
	attr.size = sizeof(attr);
	attr.config = config;
	return attr;
}

int pt_try_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);

	return fd < 0 ? -errno : (int)fd;
}

int pt_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
	int fd = pt_try_open(attr, pid, cpu, group, flags);

	pt_need(fd >= 0, "open type %u config %#llx pid %d cpu %d group %d flags %#lx: %s",
		attr->type, (unsigned long long)attr->config, (int)pid, cpu, group, flags,
		strerror(-fd));
	return fd;
}

int pt_probe(const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	int fd = pt_try_open(&copy, 0, -1, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

struct perf_event_attr pt_uprobe(const void *code, bool ret)
{
	struct perf_event_attr attr;
	int type = pt_pmu_type("uprobe");
	static char path[256];
	ssize_t n;

	if (type < 0)
		pt_skip("no uprobe PMU");
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	pt_need(n > 0, "readlink: %s", strerror(errno));
	path[n] = 0;
	attr = pt_attr((u32)type, ret);
	attr.uprobe_path = pt_addr(path);
	attr.probe_offset = pt_file_offset(code);
	return attr;
}

u32 pt_attr_size(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	long fd;

	attr.size = 1;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	pt_need(fd < 0 && errno == E2BIG, "an attr of one byte was taken");
	return attr.size;
}

bool pt_is_stock(void)
{
	return pt_attr_size() == 136;
}

int pt_open_hw(struct perf_event_attr *attr, int group)
{
	int fd = pt_try_open(attr, 0, -1, group, 0);

	if (fd == -ENOENT || fd == -EOPNOTSUPP)
		pt_skip("no hardware PMU for type %u config %#llx: %s", attr->type,
			(unsigned long long)attr->config, strerror(-fd));
	pt_need(fd >= 0, "open hardware event %#llx: %s", (unsigned long long)attr->config,
		strerror(-fd));
	return fd;
}

u64 pt_count(int fd)
{
	u64 v[64];
	ssize_t n = read(fd, v, sizeof(v));

	pt_need(n >= 8, "read of an event gave %zd: %s", n, n < 0 ? strerror(errno) : "short");
	return v[0];
}

long pt_ioctl(int fd, unsigned long req, unsigned long arg)
{
	long ret = ioctl(fd, req, arg);

	return ret < 0 ? -errno : ret;
}

u64 pt_id(int fd)
{
	u64 id = 0;
	long ret = pt_ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&id);

	pt_need(!ret, "IOC_ID: %s", strerror((int)-ret));
	pt_need(id, "IOC_ID gave 0");
	return id;
}

size_t pt_read_size(u64 f, unsigned int nr)
{
	size_t entry = 1, words = 0;

	words += !!(f & PERF_FORMAT_TOTAL_TIME_ENABLED);
	words += !!(f & PERF_FORMAT_TOTAL_TIME_RUNNING);
	words += !!(f & PERF_FORMAT_GROUP);
	entry += !!(f & PERF_FORMAT_ID);
	entry += !!(f & PERF_FORMAT_LOST);
	return (words + entry * (f & PERF_FORMAT_GROUP ? nr : 1)) * sizeof(u64);
}

size_t pt_decode_read(u64 f, const void *data, size_t size, struct pt_read *out)
{
	const u64 *p = data;
	const u64 *end = p + size / sizeof(u64);
	unsigned int i;

#define TAKE()	({ pt_need(p < end, "read data too short: %zu bytes", size); *p++; })
	memset(out, 0, sizeof(*out));
	out->nr = 1;
	if (f & PERF_FORMAT_GROUP)
		out->nr = TAKE();
	else
		out->v[0].value = TAKE();
	pt_need(out->nr <= PT_ARRAY_SIZE(out->v), "group of %llu", (unsigned long long)out->nr);
	if (f & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out->enabled = TAKE();
	if (f & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out->running = TAKE();
	for (i = 0; i < out->nr; i++) {
		if (f & PERF_FORMAT_GROUP)
			out->v[i].value = TAKE();
		if (f & PERF_FORMAT_ID)
			out->v[i].id = TAKE();
		if (f & PERF_FORMAT_LOST)
			out->v[i].lost = TAKE();
	}
#undef TAKE
	return (size_t)(p - (const u64 *)data) * sizeof(u64);
}

void pt_read(int fd, u64 f, unsigned int nr, struct pt_read *out)
{
	u64 buf[256];
	size_t want = pt_read_size(f, nr);
	ssize_t n = read(fd, buf, sizeof(buf));

	pt_need(n == (ssize_t)want, "read of format %#llx and %u events gave %zd, not %zu",
		(unsigned long long)f, nr, n, want);
	pt_eq(pt_decode_read(f, buf, (size_t)n, out), want);
}

int pt_open_cross_calls(const char *function, int cpu)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("csd", "csd_queue_cpu"));
	u64 address = pt_kernel_symbol(function);
	char filter[64];
	int fd;

	pt_need(address, "no %s", function);
	snprintf(filter, sizeof(filter), "func == 0x%llx", (unsigned long long)address);
	attr.disabled = 1;
	fd = pt_open(&attr, -1, cpu, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (unsigned long)filter), 0);
	pt_enable(fd);
	return fd;
}

const char *pt_fdinfo(int fd, const char *key)
{
	static char value[128];
	char path[64], line[256];
	size_t len = strlen(key);
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	pt_need(f, "%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, len) || line[len] != ':' || line[len + 1] != '\t')
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(value, sizeof(value), "%s", line + len + 2);
		pt_check(!found, "key %s twice", key);
		found = true;
	}
	fclose(f);
	return found ? value : NULL;
}
