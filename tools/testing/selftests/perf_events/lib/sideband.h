/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sideband.h - an event that carries records about tasks and mappings, for sideband.c and
 * sideband_mmap.c. The carrier is a dummy event, as tools use it.
 */
#ifndef PTEST_SIDEBAND_H
#define PTEST_SIDEBAND_H

#include "ptest.h"

#define ID_FIELDS	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | \
			 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static struct pt_record rec;
static struct pt_sample id;
static struct pt_ring ring;

static inline struct perf_event_attr carrier(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	return attr;
}

static inline int start(struct perf_event_attr *attr)
{
	int fd;

	pt_pin(0);
	attr->disabled = 1;
	fd = pt_open(attr, 0, attr->inherit ? 0 : -1, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	return fd;
}

/* The trailer says who, when and where. */
static inline void check_trailer(const struct perf_event_attr *attr, int fd, u32 pid, u32 tid,
				 size_t body)
{
	size_t size;

	pt_parse_trailer(attr, &rec, &id, &size);
	pt_eq(size, body);
	if (!attr->sample_id_all)
		return;
	if (attr->sample_type & PERF_SAMPLE_TID) {
		pt_eq(id.pid, pid);
		pt_eq(id.tid, tid);
	}
	if (attr->sample_type & PERF_SAMPLE_ID)
		pt_eq(id.id, pt_id(fd));
	if (attr->sample_type & PERF_SAMPLE_STREAM_ID && !attr->inherit)
		pt_eq(id.stream_id, pt_id(fd));
	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		pt_eq(id.identifier, pt_id(fd));
	if (attr->sample_type & PERF_SAMPLE_CPU) {
		pt_eq(id.cpu, 0);
		pt_eq(id.cpu_res, 0);
	}
}

static inline void expect(u32 type)
{
	pt_need(pt_next(&ring, &rec), "no record of type %u", type);
	pt_need(rec.h.type == type, "record of type %u instead of %u", rec.h.type, type);
}

static inline void expect_nothing(void)
{
	pt_check(!pt_next(&ring, &rec), "unexpected record of type %u", rec.h.type);
}

static inline const char *own_path(void)
{
	static char path[256];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	pt_need(n > 0, "readlink: %s", strerror(errno));
	path[n] = 0;
	return path;
}

static inline void *map_self(size_t len, int prot, off_t off)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	void *p = mmap(NULL, len, prot, MAP_PRIVATE, fd, off);

	pt_need(p != MAP_FAILED, "mmap of the program: %s", strerror(errno));
	close(fd);
	return p;
}

#endif /* PTEST_SIDEBAND_H */
