/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ext.h - for programs about the extensions: the calls, and what periods have to be.
 */
#ifndef PTEST_EXT_H
#define PTEST_EXT_H

#include "ptest.h"
#include "../../../../../include/uapi/linux/perf_event_ext.h"

/* The case is skipped where there are none: Linux 6.12, or without CONFIG_PERF_EVENTS_EXT. */
void ext_need(void);

/* What devices/PMU/events/NAME in sysfs says, as config; -1: there is no such event. */
long long ext_config(const char *pmu, const char *name);
/* An attr of it; the case fails if there is none. */
struct perf_event_attr ext_event(const char *pmu, const char *name);
/* A file of the PMU's folder contains the text; NULL: it does not exist. */
void ext_file_is(const char *pmu, const char *file, const char *want);
/* Opening it fails with this errno, and last_error says why, unless that is NULL. */
void ext_refused(struct perf_event_attr *attr, int err, const char *why);
/* A call is refused by this sentence, the errno before it as last_error has it; "": is not. */
void ext_says_at(int line, long ret, const char *sentence);
#define ext_says(ret, sentence)	ext_says_at(__LINE__, ret, sentence)

/* One that its task has only by perf_ext_own_tasks. */
int ext_open_own_task(struct perf_event_attr *attr);

/* 0 or -errno; with seed 0 the answer is in p->seed. */
int ext_periods(int fd, struct perf_ext_periods *p);

/* The periods that a rule makes, written down once more. */
struct ext_model {
	struct perf_ext_periods p;
	u64 n, seed, sum;
};

void ext_model_start(struct ext_model *m, const struct perf_ext_periods *p);
/* The length of the next period; m->sum is that of all so far. */
u64 ext_model_next(struct ext_model *m);
u32 ext_seed_of_copy(u32 seed, u32 number);

#endif /* PTEST_EXT_H */
