/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86_metrics.h - a group of slots and top-down metrics, for the programs about them.
 */
#ifndef X86_METRICS_H
#define X86_METRICS_H

#include "x86.h"

#define EVENTS		"/sys/bus/event_source/devices/cpu/events/"
#define SLOTS		0x400
#define METRIC(n)	(0x8000 + ((n) << 8))

enum { RETIRING, BAD_SPECULATION, FRONT_END, BACK_END, FIRST_LEVEL, SECOND_LEVEL = 8 };

static inline int metrics(void)
{
	x86_need_exact();
	if (!pt_path_exists(EVENTS "topdown-retiring"))
		pt_skip("no metrics");
	return pt_path_exists(EVENTS "topdown-heavy-ops") ? SECOND_LEVEL : FIRST_LEVEL;
}

static inline struct perf_event_attr raw(u64 config)
{
	struct perf_event_attr attr = x86_hw(0);

	attr.type = PERF_TYPE_RAW;
	attr.config = config;
	attr.read_format = PERF_FORMAT_GROUP;
	return attr;
}

/* Slots, instructions, and n metrics. */
struct group {
	int fd, n;
	u64 slots, instructions, metric[SECOND_LEVEL];
};

static inline void open_group(struct group *g, int n)
{
	struct perf_event_attr attr = raw(SLOTS);
	int i, fd;

	g->fd = pt_open_hw(&attr, -1);
	g->n = n;
	attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.disabled = 0;
	attr.read_format = PERF_FORMAT_GROUP;
	pt_open_hw(&attr, g->fd);
	for (i = 0; i < n; i++) {
		attr = raw(METRIC(i));
		attr.disabled = 0;
		fd = pt_try_open(&attr, 0, -1, g->fd, 0);
		pt_need(fd >= 0, "metric %d: %s", i, strerror(-fd));
	}
}

static inline void read_group(struct group *g)
{
	struct pt_read r;
	int i;

	pt_read(g->fd, PERF_FORMAT_GROUP, 2 + g->n, &r);
	g->slots = r.v[0].value;
	g->instructions = r.v[1].value;
	for (i = 0; i < g->n; i++)
		g->metric[i] = r.v[2 + i].value;
}

/* Of all that was executed since the register was cleared so much belongs to a thing. */
static inline u64 share(u64 part, u64 all)
{
	return all * (part * 255 / all) / 255;
}

#endif
