/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kin.h - what tasks with inherited events in common have really counted, for kin*.c: they, and no
 * others, are in a cgroup of theirs, whose faults are counted on all CPUs by events of these CPUs.
 */
#ifndef PTEST_KIN_H
#define PTEST_KIN_H

#include "cgroup.h"
#include "members.h"
#include <sys/resource.h>

#define CPUS_MAX	8

static int common;
static struct {
	int fd[CPUS_MAX];
	int cpus;
	u64 ahead;	/* of what is in common, by what came before that was opened */
} truth;

static inline u64 true_count(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < truth.cpus; i++)
		sum += pt_count(truth.fd[i]);
	return sum;
}

/* Of the cgroup, which the caller is in as well, if it is a task of the case. */
static inline void open_truth(const char *dir)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS_MIN));
	int i;

	truth.cpus = pt_online_cpus();
	if (truth.cpus > CPUS_MAX)
		pt_skip("more than %d CPUs", CPUS_MAX);
	for (i = 0; i < truth.cpus; i++)
		truth.fd[i] = cg_open(&attr, dir, i, -1);
}

static inline void open_both(void)
{
	struct perf_event_attr attr = faults();
	const char *dir = cg_make("");

	open_truth(dir);
	cg_enter(dir);
	common = pt_open(&attr, 0, -1, -1, 0);
	pt_settle();
	truth.ahead = true_count() - pt_count(common);
}

/* Nobody runs but the case, which takes no fault in between. */
static inline void agree(void)
{
	u64 count = pt_count(common);

	pt_eq(count, true_count() - truth.ahead);
}

/* What the case itself has taken. */
static inline u64 own_faults(void)
{
	struct rusage u;

	pt_need(!getrusage(RUSAGE_SELF, &u), "getrusage: %s", strerror(errno));
	return (u64)u.ru_minflt;
}

#endif /* PTEST_KIN_H */
