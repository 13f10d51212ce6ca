/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cgroup.h - cgroups that a case makes and goes into, and events of them. All
 * but those that "try" end the case when they cannot do what they say.
 */
#ifndef PTEST_CGROUP_H
#define PTEST_CGROUP_H

#include "ptest.h"

/* The hierarchy that is used; a case may mount another one. */
extern const char *cg_mounted;

/*
 * A cgroup of the case, by its name below those of the others: "", then
 * "/b", "/b/c". The case is skipped without the perf_event controller.
 */
const char *cg_make(const char *name);
/* At the end of a case: back to the root; all that were made are removed. */
void cg_remove_all(void);
/* Removed cgroups are dying until nobody holds them: wait until there are none. */
void cg_wait_until_gone(void);
void cg_enter(const char *dir);
/* 0 or -errno */
int cg_enter_path(const char *dir, pid_t pid);
/* To the root */
void cg_leave(void);
int cg_dir_fd(const char *dir);
/* An event of the cgroup: a file descriptor, or -errno */
int cg_try_open(struct perf_event_attr *attr, const char *dir, int cpu, int group);
int cg_open(struct perf_event_attr *attr, const char *dir, int cpu, int group);
/* One that counts page faults */
int cg_faults(const char *dir, int cpu);

#endif /* PTEST_CGROUP_H */
