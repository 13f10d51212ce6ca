/* SPDX-License-Identifier: GPL-2.0 */
/* record.h - what pfx record and pfx hist share: a perf.data file on its way. */
#ifndef PFX_RECORD_H
#define PFX_RECORD_H

#include <stdio.h>

#include "command.h"

#define MAX_CPUS	1024

struct key;

struct recording {
	struct perf_event_attr	attr;
	struct ring		ring[MAX_CPUS];
	int			nr_rings;
	uint64_t		id[MAX_CPUS];
	FILE			*out;
	uint64_t		bytes;
	unsigned long		samples, lost;
	/* of pfx hist */
	bool			histogram;
	bool			printed;	/* and not written */
	const struct key	*key[2];
	struct perf_ext_hist_arg hist;
	int			area_fd;
	const struct perf_ext_area *area;
	uint64_t		time;		/* of the latest record */
	unsigned long		keys;
};

/* record.c; record() runs the program, and returns its exit status. */
int record(struct recording *r, const struct options *o);
void write_out(struct recording *r, const void *data, size_t size);

/*
 * hist.c: what the table is of, by its names; an event's samples go to the table; is a record for
 * the file?  The table, as samples or as text.
 */
void hist_choose_keys(struct recording *r, const char *text);
void hist_join(struct recording *r, int fd);
bool hist_keeps(struct recording *r, const union record *record);
void hist_write(struct recording *r);

#endif /* PFX_RECORD_H */
