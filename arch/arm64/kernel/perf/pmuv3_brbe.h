/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Branch records (FEAT_BRBE): what the files that deal with them share.
 *
 *	pmuv3_branch.c		pure: filters of an event, what its sample shows of a record
 *	pmuv3_brbe_regs.c	the registers
 *	pmuv3_brbe.c		who uses the records of this CPU; recording goes on and off
 *
 * A file calls those above it; pmuv3.h has what others call.
 */
#ifndef _ARM64_PERF_PMUV3_BRBE_H
#define _ARM64_PERF_PMUV3_BRBE_H

#include <linux/perf_event.h>
#include <linux/types.h>

#define BRBE_MAX_RECORDS	64
#define BRBE_BANK_RECORDS	32

/* BRBSRC<n>, BRBTGT<n>, BRBINF<n> */
struct brbe_record {
	u64	source, target, info;
};

/* BRBFCR and BRBCR for an event, or for several: or-ed */
struct brbe_filter {
	u64	fcr, cr;
};

/* pmuv3_branch.c */
unsigned int brbe_usable_records(u64 brbidr);
int brbe_filter(const struct perf_event_attr *attr, bool hyp, struct brbe_filter *filter);
bool brbe_show(const struct brbe_record *record, u64 wanted, bool hyp,
	       struct perf_branch_entry *entry);

/* pmuv3_brbe_regs.c */
u64 brbe_identify(void);
void brbe_invalidate(void);
void brbe_record(const struct brbe_filter *filter, bool hyp);
void brbe_pause(void);
unsigned int brbe_read(struct brbe_record *record, unsigned int records);

#endif /* _ARM64_PERF_PMUV3_BRBE_H */
