/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pfx.h - the extensions of perf events from a program's side: a function for each call, the text
 * forms of their arguments, why something was refused.
 */
#ifndef PFX_H
#define PFX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../include/uapi/linux/perf_event.h"
#include "../../include/uapi/linux/perf_event_ext.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* How periods are to vary; all 0: not at all. */
struct pfx_rule {
	uint32_t	mask;		/* --random MASK[:SEED] */
	uint32_t	seed;
	uint64_t	long_period;	/* --burst LONG:SHORT:EVERY */
	uint64_t	short_period;
	uint32_t	long_every;
	unsigned int	jitter;		/* --jitter PERCENT */
};

/* A file descriptor or -errno. */
int pfx_open(struct perf_event_attr *attr, int pid, int cpu, int group, unsigned long flags);

/* The calls: 0 or -errno. */
int pfx_info(int fd, struct perf_ext_info *info);
int pfx_periods(int fd, struct perf_ext_periods *periods);
int pfx_get_periods(int fd, struct perf_ext_periods *periods);
int pfx_notify(int fd, const struct perf_ext_notify *notify);
/* A file descriptor, 0, or -errno. */
int pfx_format(int fd, struct perf_ext_format *format);
int pfx_restart(int fd, int tid);		/* 0: all threads that wait */
/* A leader's group becomes a set with a number; @ring: another leader, or -1. */
int pfx_join(int leader, int ring, uint16_t number);
int pfx_trigger(int fd, uint32_t threshold);

/*
 * Sessions: a group of events behind one descriptor, which pfx_create() returns, or -errno.  Attach
 * and detach: 0 or -errno.
 */
int pfx_create(struct perf_event_attr *attrs, unsigned int nr, uint32_t flags);
int pfx_attach(int session, uint32_t kind, int64_t number, uint32_t flags);
int pfx_detach(int session, uint32_t kind, int64_t number);
/*
 * The values of a session, in memory that is the caller's to free: *nr entries, each of which ends
 * where its size says. 0 or -errno.
 */
int pfx_read(int session, uint32_t flags, struct perf_ext_values **values, unsigned int *nr);
static inline const struct perf_ext_values *pfx_next(const struct perf_ext_values *v)
{
	return (const void *)((const char *)v + v->size);
}

/* The periods that a rule makes of a fixed one. */
struct perf_ext_periods pfx_apply(const struct pfx_rule *rule, uint64_t period);

/*
 * An option of a rule, "random", "burst" or "jitter", and its argument, as on the command line and
 * in the environment.  Return: it was understood.
 */
bool pfx_option(struct pfx_rule *rule, const char *name, const char *value);

/* "cycles", "page-faults:u", "r1a8", "virtual/load1/": sets type, config and what is excluded. */
bool pfx_event(const char *name, struct perf_event_attr *attr);

/* What the kernel said to the calling task about its last refusal; "" when it cannot. */
const char *pfx_why(char *buf, size_t size);

#endif /* PFX_H */
