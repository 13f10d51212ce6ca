/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows about the extensions: "ext: what: how". All that have the same "what" are one comparison,
 * the first of them is without the extension.
 */
#ifndef BENCH_EXT_H
#define BENCH_EXT_H

#include "bench.h"
#include "../../../../../include/uapi/linux/perf_event_ext.h"

#define FAULTS		1024

#define ROW(what, how, ...) { "ext: " what ": " how, __VA_ARGS__ }

static inline void attr_sampling(struct perf_event_attr *a, u32 type, u64 config, u64 period,
				 u64 bits)
{
	attr_init(a, type, config);
	a->sample_period = period;
	a->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a->wakeup_watermark = BUFFER_BYTES;
	attr_bits(a, BIT_WATERMARK | bits);
}

/* A loop in user space. */
void spin(unsigned int n);
/* An event of perf_cost counts on the CPU, by its file in sysfs. */
bool cost_counted(const char *file);
/* Bytes of each of n events of this period that have been told something, without its file. */
double memory_of_each(unsigned int n, u64 period, void (*tell)(int fd));

#endif
