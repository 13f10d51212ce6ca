/* SPDX-License-Identifier: GPL-2.0 */
/* Inside layers 4 to 6: areas that samples of a format go to. */
#ifndef _KERNEL_EVENTS_FORMAT_H
#define _KERNEL_EVENTS_FORMAT_H

#include <linux/perf_event_ext.h>
#include <linux/perf_format.h>

#include "sources.h"

/**
 * struct pe_instance - an area and who has to do with it
 * @area: what the format sees
 * @format: it								I
 * @shown: the first page of the memory, for user space			I
 * @nr_pages: of all the memory						I
 * @charge: who pays for it							I
 * @refs: its file, each event that writes
 * @nr_events: that write and are not closed					A
 * @poll: EPOLL bits for the next poll()					A
 * @busy: a sample is being given, of a format that does not nest		A
 * @flip_lock: keeps those apart who flip it
 * @waitq: of poll()
 * @wakeup: wakes them
 * @free_work: ends it
 * @rcu: frees it
 */
struct pe_instance {
	struct perf_format_area	area;
	struct perf_format	*format;
	struct perf_ext_area	*shown;
	unsigned long		nr_pages;
	struct pe_charge	charge;
	refcount_t		refs;
	atomic_t		nr_events;
	atomic_t		poll;
	atomic_t		busy;
	struct mutex		flip_lock;	/* see above */
	wait_queue_head_t	waitq;
	struct irq_work		wakeup;
	struct work_struct	free_work;
	struct rcu_head		rcu;
};

struct pe_instance *pe_instance_make(const uuid_t *uuid, const void *arg, size_t size);
void pe_instance_put(struct pe_instance *inst);
void pe_instance_join(struct pe_instance *inst, struct pe_event *e);
struct pe_instance *pe_instance_part(struct pe_event *e);
unsigned int pe_instance_flip(struct pe_instance *inst);

#endif /* _KERNEL_EVENTS_FORMAT_H */
