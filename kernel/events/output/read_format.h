/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What PERF_FORMAT_* makes of counts and times: the one place that knows the order of the words.
 *
 *	one event	value, [enabled], [running], [id], [lost]
 *	GROUP		nr, [enabled], [running], then for each member value, [id], [lost]
 *
 * read(2), PERF_SAMPLE_READ and PERF_RECORD_READ all have it from here.  Each function takes where
 * the next word goes and returns where the one after its last goes.  Pure, any context.
 */
#ifndef _KERNEL_EVENTS_READ_FORMAT_H
#define _KERNEL_EVENTS_READ_FORMAT_H

#include "../time.h"
#include "../types.h"

#define PE_FORMAT_TIMES		(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* Words of a member of a group. */
static __always_inline unsigned int pe_read_member_words(u64 format)
{
	return 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
}

/* Words in front of the members of a group. */
static __always_inline unsigned int pe_read_head_words(u64 format)
{
	return 1 + !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
}

/* @times: looked at if the format has PE_FORMAT_TIMES */
static __always_inline u64 *pe_read_put_times(u64 *w, u64 format, const struct pe_times *times)
{
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		*w++ = times->enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		*w++ = times->running;
	return w;
}

static __always_inline u64 *pe_read_put_identity(u64 *w, u64 format, const struct pe_event *e)
{
	if (format & PERF_FORMAT_ID)
		*w++ = e->sink->id;
	if (format & PERF_FORMAT_LOST)
		*w++ = atomic64_read(&e->lost_samples);
	return w;
}

/* A group of @nr members begins. */
static __always_inline u64 *pe_read_put_head(u64 *w, u64 format, u64 nr,
					     const struct pe_times *times)
{
	*w++ = nr;
	return pe_read_put_times(w, format, times);
}

/* The next member of a group. */
static __always_inline u64 *pe_read_put_member(u64 *w, u64 format, const struct pe_event *e,
					       u64 count)
{
	*w++ = count;
	return pe_read_put_identity(w, format, e);
}

/* All of one event, without PERF_FORMAT_GROUP. */
static __always_inline u64 *pe_read_put_one(u64 *w, u64 format, const struct pe_event *e,
					    u64 count, const struct pe_times *times)
{
	*w++ = count;
	w = pe_read_put_times(w, format, times);
	return pe_read_put_identity(w, format, e);
}

#endif /* _KERNEL_EVENTS_READ_FORMAT_H */
