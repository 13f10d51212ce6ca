/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Formats: modules that say what becomes of the samples of an event.
 *
 * Without one a sample is a record in the event's ring buffer.  The samples of an event that user
 * space gives to a format (PERF_EXT_IOC_FORMAT) go to an area of memory instead, in whatever way
 * the format likes; user space maps that.  Documentation/perf_events/formats.rst explains how one
 * is written; kernel/events/formats/hist.c is one.
 */
#ifndef _LINUX_PERF_FORMAT_H
#define _LINUX_PERF_FORMAT_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/uuid.h>

struct module;
struct perf_event;
struct perf_sample_data;

/* What sample() answers, a sum of: */
#define PERF_VERDICT_LOST	BIT(0)	/* there was no room for the sample */
#define PERF_VERDICT_NOTIFY	BIT(1)	/* who polls the area is woken */
#define PERF_VERDICT_STOP	BIT(2)	/* event and group are off until PERF_EXT_IOC_RESTART */

/**
 * struct perf_format_area - the memory that samples go to
 *
 * It has two halves.  Samples go to one, until user space flips the area (PERF_EXT_AREA_IOC_FLIP):
 * from then on they go to the other one, which is all zeroes then, and the first can be read.
 */
struct perf_format_area {
	/** @bytes: of each half, at most 2^30; set by struct perf_format.init() */
	size_t		bytes;
	/** @private: of the format */
	void		*private;
	/** @half: core */
	void		*half[2];
	/** @active: core; use perf_format_half() */
	unsigned int	active;
};

/**
 * struct perf_format - what becomes of samples
 */
struct perf_format {
	/** @name: one word, up to 31 characters; must stay valid, as all of this */
	const char	*name;
	/** @uuid: by which user space asks for it */
	uuid_t		uuid;
	/** @nests: sample() may be called in the midst of itself, and on several CPUs at once */
	bool		nests;
	/** @owner: module, which areas hold */
	struct module	*owner;
	/**
	 * @init: a new area: its size, and anything else; the memory is not there yet
	 *
	 * @arg: @size bytes, what user space says to the format.  Task context, may sleep.
	 * Return: 0 or an error, for user space; then there is no exit().
	 */
	int		(*init)(struct perf_format_area *area, const void *arg, size_t size);
	/**
	 * @accept: may this event write there?
	 *
	 * Its samples have what attr.sample_type asks for, and no more: this is where a format
	 * looks at that.  Task context, with mutexes held: no user memory.  May be %NULL.
	 * Return: 0 or an error, for user space.
	 */
	int		(*accept)(struct perf_format_area *area, const struct perf_event *event);
	/** @exit: the area goes, nobody uses it; task context, may sleep; may be %NULL */
	void		(*exit)(struct perf_format_area *area);
	/**
	 * @sample: an event has a sample
	 *
	 * On the CPU of the hit, interrupts off, NMI included: no locks, no faults, no sleep.
	 * Unless the format @nests, one sample of an area is given at a time; what comes meanwhile
	 * is lost, and counted.
	 *
	 * @data: filled in as far as attr.sample_type asks for it, and the period besides.  What
	 * @event must not show of the kernel is taken out of these fields, and of these alone: a
	 * format stores no others.  Return: a sum of PERF_VERDICT_*, or 0.
	 */
	unsigned int	(*sample)(struct perf_format_area *area, struct perf_event *event,
				  struct perf_sample_data *data);

	/** @entry: core */
	struct list_head entry;
	/** @nr_areas: core */
	atomic_t	nr_areas;
};

/**
 * perf_format_half - where the sample goes
 * @area: the area
 *
 * For struct perf_format.sample(), once for each sample.  Return: @area->bytes bytes of memory.
 */
static inline void *perf_format_half(struct perf_format_area *area)
{
	/* Acquire: it was cleared before it became the active one. */
	return area->half[smp_load_acquire(&area->active)];
}

/**
 * perf_format_read_size - how long what perf_format_read() has is
 * @event: the event of the sample
 *
 * For struct perf_format.sample().  Return: bytes, a multiple of 8; 0 without PERF_SAMPLE_READ.
 */
u32 perf_format_read_size(const struct perf_event *event);
/**
 * perf_format_read - what the event, or its group, has counted
 * @event: the event of the sample, which has PERF_SAMPLE_READ
 * @data: the sample
 * @to: where it goes, aligned to 8 bytes
 * @size: what perf_format_read_size() has said for this sample
 *
 * For struct perf_format.sample(), once for each sample: members that the event's masks reset
 * begin anew with it.  It is what a record has, by attr.read_format and the masks.
 */
void perf_format_read(struct perf_event *event, const struct perf_sample_data *data, u64 *to,
		      u32 size);

/**
 * perf_format_register - let user space ask for a format
 * @format: filled in; kept until perf_format_unregister()
 *
 * Task context.  Return: 0; -EINVAL without a proper name, a UUID, init() or sample(); -EEXIST if
 * name or UUID is taken.
 */
int perf_format_register(struct perf_format *format);
/**
 * perf_format_unregister - withdraw a format
 * @format: the format; of a module that has no areas any more, as these hold it
 *
 * Task context.
 */
void perf_format_unregister(struct perf_format *format);

#endif /* _LINUX_PERF_FORMAT_H */
