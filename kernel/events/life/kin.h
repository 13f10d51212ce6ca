/* SPDX-License-Identifier: GPL-2.0 */
/* What kin.c and kin_fork.c share; see the first. */
#ifndef _KERNEL_EVENTS_KIN_H
#define _KERNEL_EVENTS_KIN_H

#include "life.h"

/**
 * struct pe_kin_part - an event whose copies are counted in common
 * @kin: where							I
 * @key: what @origin was first					I
 * @origin: the event, with a reference; NULL once it is closed	F and K
 * @entry: on origin->parts, as long as that has not been closed	F
 * @left_at: 0, or its place among those that have ended, from 1	F and K
 * @split: its members have copies				F and K
 * @family_gen: of the origin when it was split			F and K
 */
struct pe_kin_part {
	struct pe_kin		*kin;
	const struct pe_event	*key;
	struct pe_event		*origin;
	struct list_head	entry;
	unsigned int		left_at;
	bool			split;
	unsigned int		family_gen;
};

/**
 * struct pe_kin - tasks that have their inherited events in common
 * @mutex: see above
 * @refs: two of each member, also of one that is being forked; one of who uses it for its forks
 * @linked: parts on the lists of their origins, and one for all of @refs: the memory
 * @members: contexts, by pe_ctx.kin_entry				K
 * @gone: hits of members that are gone				K
 * @gone_time: how long these have run, ns				K
 * @left: parts that have ended					K
 * @nr: length of @part						I
 * @part: the parts, by the addresses of their origins
 */
struct pe_kin {
	struct mutex		mutex;		/* see above */
	refcount_t		refs;
	refcount_t		linked;
	struct list_head	members;
	u64			gone[PERF_COUNT_SW_MAX][PE_NR_MODES];
	u64			gone_time;
	unsigned int		left;
	unsigned int		nr;
	struct pe_kin_part	part[];
};

struct pe_event *pe_kin_get_origin(struct pe_kin *kin, struct pe_kin_part *part);
struct pe_event *pe_kin_give_copy(struct pe_event *origin, struct pe_ctx *ctx,
				  unsigned int family_gen);
void pe_kin_put(struct pe_kin *kin);

#endif /* _KERNEL_EVENTS_KIN_H */
