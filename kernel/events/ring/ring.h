/* SPDX-License-Identifier: GPL-2.0 */
/* Layer 1: the buffer that user space maps. See ring_buffer.c for the protocol. */
#ifndef _KERNEL_EVENTS_RING_H
#define _KERNEL_EVENTS_RING_H

#include <linux/llist.h>

#include "../time.h"
#include "../types.h"

/**
 * struct pe_charge - what locked pages are charged to
 * @user: pays what is within perf_event_mlock_kb; referenced
 * @mm: pays the rest; mm_count held
 * @user_pages: so many
 * @mm_pages: so many
 */
struct pe_charge {
	struct user_struct	*user;
	struct mm_struct	*mm;
	unsigned long		user_pages;
	unsigned long		mm_pages;
};

/* charge.c */
int pe_charge_take(struct pe_charge *c, struct mm_struct *mm, unsigned long pages);
void pe_charge_cancel(const struct pe_charge *c);
void pe_charge_keep(struct pe_charge *to, const struct pe_charge *c);
void pe_charge_settle(const struct pe_charge *c);
extern unsigned int pe_buffer_kb;		/* of the whole machine; 0: no limit */

/**
 * struct pe_aux - the area of a buffer that a tracer fills by itself; see sources/aux_output.c
 * @writer: the event whose driver holds a handle on the area, or NULL
 * @cpus: where an event was the writer; NULL before the first area
 * @mmap_count: mappings of the area; while it is zero no event can become its writer
 * @head: where the next byte goes; also the counter that user space sees
 * @told: multiple of @watermark for which the reader was woken last
 * @sampling: the writer's driver is copying from the area for a sample
 * @switching: the writer's driver is being paused or resumed
 * @mutex: making and freeing the area, inside the mmap_mutex of an event
 * @nr_pages: its size, 0 while there is no area
 * @pgoff: its place in the mapping of the file
 * @pages: their addresses
 * @priv: what the driver made of them
 * @serial: the registration of the PMU that it is for, see &struct pmu
 * @free_priv: frees @priv
 * @module: where @free_priv is; referenced
 * @watermark: bytes per wakeup, 0 in overwrite mode
 * @overwrite: the area is mapped read-only, a snapshot
 * @charge: what its pages are charged to
 *
 * The writer and the samplers are on one CPU.  @cpus, @head and @told outlive the area.  The fields
 * below @mutex are constant while @mmap_count is not zero.
 */
struct pe_aux {
	struct pe_event		*writer;
	struct cpumask		*cpus;
	atomic_t		mmap_count;
	unsigned long		head;
	unsigned long		told;
	bool			sampling;
	bool			switching;

	struct mutex		mutex;		/* see above */
	unsigned long		nr_pages;
	unsigned long		pgoff;
	void			**pages;
	void			*priv;
	unsigned long		serial;
	void			(*free_priv)(void *priv);
	struct module		*module;
	unsigned long		watermark;
	bool			overwrite;
	struct pe_charge	charge;
};

/**
 * struct pe_page_lead - what the control page says about times; see userpage.c
 * @event: whose times, for comparison only; NULL: the page does not say how they go on
 * @index: what it says of the counter
 * @uses: how often it may be relied on
 * @enabled: by how much the time enabled is ahead of pe_now()
 * @running: likewise
 *
 * Written by the page's writer.
 */
struct pe_page_lead {
	const struct pe_event	*event;
	u32			index;
	u32			uses;
	u64			enabled;
	u64			running;
};

/**
 * struct perf_buffer - control page and data pages that user space maps
 *
 * References: each event that writes to it (pe_event.rb) and each mapping's event.  Freed by a
 * worker after a grace period.
 */
struct perf_buffer {
	refcount_t			refcount;
	struct rcu_head			rcu;
	struct llist_node		free_later;

	/* writers; only the CPU that writes, but see ring_buffer.c */
	local_t				head;		/* bytes reserved */
	unsigned int			nest;		/* writers that are not done */
#ifdef CONFIG_PERF_EVENTS_DEBUG
	int				inside;		/* the CPU of the outermost one */
#endif
	unsigned int			due;		/* the reader is to be told */
	local_t				lost;		/* records lost since the last LOST */
	local_t				events;		/* records since the last wakeup */
	local_t				wakeup;		/* head at the last watermark */

	/* constant once mapped */
	int				nr_pages;	/* data pages */
	int				nr_tail;	/* of the row behind them */
	int				nr_in_blocks;	/* data pages: see pages.c */
	int				overwrite;	/* the reader maps it read-only */
	long				watermark;	/* bytes per wakeup, 0: by events */
	unsigned long			mask;		/* of an offset in the data pages */
	void				*data;		/* the pages, then PE_BUFFER_TAIL */

	unsigned long			gate;		/* PE_GATE_* bits: what stops writers */
	bool				crowded;	/* all writers see the bit */
	atomic_t			writer;		/* crowded: CPU whose turn it is, or -1 */
	atomic_t			lost_waiting;	/* crowded: of those without the turn */
	atomic_t			poll;		/* EPOLL bits for the next poll() */

	/* events that write here */
	spinlock_t			listeners_lock;
	struct list_head		listeners;	/* RCU, pe_event.rb_entry */

	/* mappings and what they are charged */
	atomic_t			mmap_count;
	struct pe_charge		charge;

	struct pe_aux			aux;

	u64				owner;		/* id of the event of the page */
	struct pe_page_lead		lead;
	struct perf_event_mmap_page	*user_page;
	struct page			*pages[];	/* as at @data; not with vmalloc */
};

/* Bytes behind the data pages into which a record may reach: no record is as long. */
#define PE_BUFFER_TAIL		max(SZ_64K, PAGE_SIZE)

/* Data caches that alias must not see a page at two addresses. */
#if defined(CONFIG_PERF_USE_VMALLOC) || defined(CONFIG_ARCH_HAS_CPU_CACHE_ALIASING)
#define PE_BUFFER_COPIES_TAIL	1
#else
#define PE_BUFFER_COPIES_TAIL	0
#endif

#define PE_GATE_PAUSED		0	/* writes are refused */
#define PE_GATE_CROWDED		1	/* writers of several CPUs take turns */

#define PE_BUFFER_WRITABLE	0x01	/* the reader may write data_tail */
#define PE_BUFFER_CROWDED	0x02	/* from the start: see pe_buffer_crowd() */

struct perf_buffer *pe_buffer_alloc(int nr_pages, long watermark, int cpu, int flags);

/* kernel.perf_ext_memcg: pages are charged to the memory cgroup of the task that maps them. */
extern int pe_pages_accounted;

static inline gfp_t pe_pages_gfp(void)
{
	if (IS_ENABLED(CONFIG_PERF_EVENTS_EXT) && READ_ONCE(pe_pages_accounted))
		return GFP_KERNEL_ACCOUNT | __GFP_ZERO;
	return GFP_KERNEL | __GFP_ZERO;
}

/* pages.c */
int pe_pages_take(struct page **pages, int nr, int node, int *in_blocks);
void pe_pages_drop(struct page **pages, int nr, int in_blocks);
void pe_page_drop(struct page *page);

struct perf_buffer *pe_buffer_get(struct pe_event *e);	/* of e's sink; NULL if none */
void pe_buffer_put(struct perf_buffer *rb);
void pe_buffer_pause(struct perf_buffer *rb);
void pe_buffer_resume(struct perf_buffer *rb);
void pe_buffer_crowd(struct perf_buffer *rb);
struct page *pe_buffer_page(struct perf_buffer *rb, unsigned long pgoff);

/* aux_buffer.c: rb->aux.mutex held */
int pe_aux_alloc(struct perf_buffer *rb, struct pe_event *e, unsigned long pgoff,
		 unsigned long nr_pages, bool overwrite);
void pe_aux_free(struct perf_buffer *rb);

/* For code that knows that there is an area: its writer, and the holder of a mapping. */
static inline unsigned long pe_aux_size(const struct perf_buffer *rb)
{
	return rb->aux.nr_pages << PAGE_SHIFT;
}

static inline unsigned long pe_buffer_data_size(const struct perf_buffer *rb)
{
	return (unsigned long)rb->nr_pages << PAGE_SHIFT;
}

/* What came of reserving. */
enum pe_reserved {
	PE_RESERVED,		/* room for the record */
	PE_RESERVED_LOST,	/* and, in front of it, for a LOST record, which must be written */
	PE_FULL,		/* nothing; pe_reserve_slow() has counted it in rb->lost */
	PE_PAUSED,		/* nothing; counted, unless the buffer has no data pages at all */
	PE_ASK,			/* something is unusual: pe_reserve_slow() says */
	PE_DUE,			/* PE_ASK, and the reader must be woken for another writer */
};

/*
 * The protocol under perf_output_begin() and perf_output_end().  Preemption is off from one to
 * the other, any context.  pe_commit() tells whether the reader must be woken.
 */
enum pe_reserved pe_reserve_slow(struct perf_output_handle *handle, struct perf_buffer *rb,
				 unsigned int size, unsigned int lost_size, bool backward);
void *pe_wrote_around(struct perf_buffer *rb, void *end);
bool pe_commit(struct perf_output_handle *handle);
void pe_lose(struct perf_buffer *rb);

/* One more record for readers that want a wakeup every @every; below 1 means every one of them. */
static inline void pe_count_record(struct perf_buffer *rb, int every)
{
	if (local_inc_return(&rb->events) >= every) {
		local_sub(every, &rb->events);
		/* The ABI's pattern of wakeups has always had the watermark move by 1 here. */
		local_inc(&rb->wakeup);
		WRITE_ONCE(rb->due, 1);
	}
}

/* One byte always stays free: a full buffer must not look like an empty one. */
static __always_inline bool pe_buffer_fits(const struct perf_buffer *rb, unsigned long head,
					   unsigned int size, bool backward)
{
	unsigned long tail = READ_ONCE(rb->user_page->data_tail);
	unsigned long room = (backward ? head - tail : tail - head) - 1;

	return (room & rb->mask) >= size;
}

#ifdef CONFIG_PERF_EVENTS_DEBUG
/* The outermost writer says where it is. */
static inline void pe_note_writer(struct perf_buffer *rb, unsigned int nest)
{
	if (!nest)
		WRITE_ONCE(rb->inside, raw_smp_processor_id());
}

/*
 * Is no writer inside on another CPU?  Of two that both found the nest empty, the one that noted
 * its CPU first finds out when it leaves.
 */
static inline bool pe_writes_alone(const struct perf_buffer *rb)
{
	return !READ_ONCE(rb->nest) || READ_ONCE(rb->inside) == raw_smp_processor_id();
}

#define pe_assert_alone(rb)								\
	WARN_ONCE(!pe_writes_alone(rb), "a buffer is written on CPUs %d and %d\n",	\
		  READ_ONCE((rb)->inside), raw_smp_processor_id())
#else
static inline void pe_note_writer(struct perf_buffer *rb, unsigned int nest) { }
#define pe_assert_alone(rb)	do { } while (0)
#endif

/* One more writer.  Those that interrupt from here on do not publish. */
static __always_inline void pe_nest_enter(struct perf_buffer *rb)
{
	unsigned int nest = READ_ONCE(rb->nest);

	pe_note_writer(rb, nest);
	WRITE_ONCE(rb->nest, nest + 1);
	barrier();
	pe_assert_alone(rb);
}

/*
 * A writer is done; the outermost one publishes.  Return: the reader must be woken; never for a
 * nested writer, whose wish stays in rb->due.
 */
static __always_inline bool pe_nest_leave(struct perf_buffer *rb)
{
	unsigned int nest = READ_ONCE(rb->nest);
	unsigned long head;

	pe_assert_alone(rb);
	if (unlikely(nest > 1)) {
		WRITE_ONCE(rb->nest, nest - 1);
		return false;
	}
	for (;;) {
		barrier();	/* nobody else publishes after this look at head */
		head = local_read(&rb->head);
		smp_wmb();	/* B: records before the head that covers them */
		WRITE_ONCE(rb->user_page->data_head, head);
		barrier();	/* a writer after we left publishes more than we did, so later */
		WRITE_ONCE(rb->nest, 0);
		barrier();	/* a writer before we left is seen now */
		if (likely(local_read(&rb->head) == head))
			break;
		WRITE_ONCE(rb->nest, 1);
	}
	if (likely(!READ_ONCE(rb->due)))
		return false;
	WRITE_ONCE(rb->due, 0);
	return true;
}

/* A record was reserved that ends at @new. */
static __always_inline void pe_watermark(struct perf_buffer *rb, unsigned long new, bool backward)
{
	unsigned long used = backward ? -new : new;

	if (unlikely(used - local_read(&rb->wakeup) > rb->watermark)) {
		local_add(rb->watermark, &rb->wakeup);
		WRITE_ONCE(rb->due, 1);
	}
}

/**
 * pe_reserve() - make room for a record, when nothing is unusual
 * @rb: the buffer
 * @size: bytes of the record, a multiple of 8 below PE_BUFFER_TAIL
 * @backward: the record goes below the previous one
 * @at: set to where to write
 *
 * Context as for pe_reserve_slow().  Everything is looked at before the writer counts itself, so
 * that there is nothing to undo; whether it is still true is what cmpxchg tells.  The gate and lost
 * records that were seen too late were too late.
 *
 * Return: PE_RESERVED: fill it in, then pe_publish(); PE_FULL: nothing was counted; PE_ASK, PE_DUE.
 */
static __always_inline enum pe_reserved pe_reserve(struct perf_buffer *rb, unsigned long size,
						   bool backward, void **at)
{
	unsigned long head = local_read(&rb->head);
	unsigned long new = backward ? head - size : head + size;
	void *place;

	if (unlikely(READ_ONCE(rb->gate)))
		return PE_ASK;
	/* A: the stores into the record depend on this load of data_tail */
	if (!rb->overwrite && unlikely(!pe_buffer_fits(rb, head, size, backward)))
		return PE_FULL;
	if (unlikely(local_read(&rb->lost)))
		return PE_ASK;

	place = rb->data + ((backward ? new : head) & rb->mask);
	OPTIMIZER_HIDE_VAR(place);	/* one register from here on, not its two parts */
	*at = place;
	pe_nest_enter(rb);
	if (unlikely(!local_try_cmpxchg(&rb->head, &head, new)))
		return pe_nest_leave(rb) ? PE_DUE : PE_ASK;
	pe_watermark(rb, new, backward);
	return PE_RESERVED;
}

/*
 * A writer has written up to @end, less than PE_BUFFER_TAIL upwards from a place in the data pages.
 * Return: the place of the next byte.
 */
static __always_inline void *pe_wrote(struct perf_buffer *rb, void *end)
{
	return likely(end - rb->data <= rb->mask) ? end : pe_wrote_around(rb, end);
}

/* The record of pe_reserve() is complete, up to @end.  Return: as pe_nest_leave(). */
static __always_inline bool pe_publish(struct perf_buffer *rb, void *end)
{
	if (PE_BUFFER_COPIES_TAIL)
		pe_wrote(rb, end);
	return pe_nest_leave(rb);
}

/* For those with a handle, whose next byte goes to handle->addr: they have written up to @end. */
static __always_inline void pe_output_wrote(struct perf_output_handle *handle, void *end)
{
	handle->addr = pe_wrote(handle->rb, end);
}

/* wakeup.c */
void pe_wake(struct pe_event *e);		/* waiters of e's buffer and e, not from NMI */
void pe_tell_reader(struct pe_event *e, struct perf_buffer *rb);
void pe_queue_wakeup(struct pe_event *e);		/* any context; after rb->poll was set */
void pe_disable_at_limit(struct pe_event *e);	/* any context, on e's CPU */
void pe_queue_signal(struct pe_event *e);		/* any context: SIGIO for e->pending_kill */

/* userpage.c: contract perf_event_update_userpage() and: */
void pe_userpage_init(struct pe_event *e, struct perf_buffer *rb);
void pe_userpage_fill(struct pe_event *e);

#endif /* _KERNEL_EVENTS_RING_H */
