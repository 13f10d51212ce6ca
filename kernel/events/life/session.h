/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of sessions share; inside layer 5. */
#ifndef _KERNEL_EVENTS_SESSION_H
#define _KERNEL_EVENTS_SESSION_H

#include "life.h"
#include "../ext.h"

extern spinlock_t pe_sessions_lock;	/* a leaf */
extern struct list_head pe_sessions;	/* struct pe_session.entry */

/**
 * struct pe_resume - what was left of a member's period when the last target was detached
 * @valid: the rest says so
 * @left: hw.period_left
 * @period: hw.sample_period
 * @last: hw.last_period: how long the period is that was cut off
 * @periods: those that follow a rule
 */
struct pe_resume {
	bool			valid;
	s64			left;
	u64			period;
	u64			last;
	struct pe_periods	periods;
};

/* session.c: all copies for a target, in the order in which they came */
unsigned int pe_session_pin_target(struct pe_ctx *ctx, const struct pe_session *s,
				   const struct perf_cgroup *cgrp, struct pe_event **found);
void pe_session_stop_target(struct pe_event **copies, unsigned int nr);

/* session_cpu.c */
void pe_session_cpu_init(struct pe_session *s);
void pe_session_cpu_fini(struct pe_session *s);

#endif /* _KERNEL_EVENTS_SESSION_H */
