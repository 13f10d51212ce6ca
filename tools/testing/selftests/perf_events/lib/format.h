/* SPDX-License-Identifier: GPL-2.0 */
/*
 * format.h - for programs about formats: areas that samples go to.
 */
#ifndef PTEST_FORMAT_H
#define PTEST_FORMAT_H

#include <poll.h>

#include "ext.h"

/* Format "test", of ../pmu/test_format.c. */
#define TEST_FORMAT	{ 't', 'e', 's', 't', '-', 'f', 'o', 'r', 'm', 'a', 't', 0, 0, 0, 0, 1 }

struct test_format_arg {
	u32 lose_every, notify_every, stop_every;	/* so many samples; 0: never */
	u32 hold;					/* the first, until "go" of the module */
};

struct test_format_half {
	u64 samples, events;
};

struct pt_area {
	int fd;
	size_t length;
	const volatile struct perf_ext_area *head;
};

/* What the call returns; the area's file descriptor, if it is not negative, is a new one. */
long format_ask(int fd, struct perf_ext_format *ask);
/* The event's samples go to a new area, which is mapped. */
void format_open(struct pt_area *a, int fd, const u8 uuid[16], const void *arg, u32 size);
void format_hist(struct pt_area *a, int fd, const struct perf_ext_hist_arg *arg);
void format_test(struct pt_area *a, int fd, const struct test_format_arg *arg);
void format_pfm(struct pt_area *a, int fd, u64 bytes, u32 flags);
/* 0 or -errno */
long format_share(const struct pt_area *a, int fd, const u8 uuid[16]);
long format_none(int fd);
void format_close(struct pt_area *a);
/* The event and its area are closed; workers of the kernel let go of the module: wait for that. */
void format_end(const char *module, int fd, struct pt_area *a);
void format_wait(const char *module);

const void *format_half(const struct pt_area *a, unsigned int half);
/* How many areas a format has; workers free them. */
int format_areas(const char *name);
/* What poll() says now, of POLLIN and POLLHUP */
bool format_told(const struct pt_area *a, short what);
/* Flip it; the half that was active. */
const void *format_flip(const struct pt_area *a);

/* All of a key, of those with key[1] == 0, in a half; how many keys there are */
struct perf_ext_hist_bucket hist_of(const struct perf_ext_hist *h, u32 buckets, u64 key);
unsigned int hist_keys(const struct perf_ext_hist *h, u32 buckets);

/* The so-and-so-manyth in a half, from 0 on, of those that are as long as the first. */
const struct perf_ext_pfm_sample *pfm_sample(const struct perf_ext_pfm *h, int i);

/* Page faults of the calling task, disabled; they are opened, and what came before settles. */
struct perf_event_attr format_faults(u64 period);
int format_start(struct perf_event_attr *attr);

extern const u8 hist_uuid[16], test_uuid[16];

#endif /* PTEST_FORMAT_H */
