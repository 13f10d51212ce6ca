/* SPDX-License-Identifier: GPL-2.0 */
/* Layer 1: the buffer that user space maps. See ring_buffer.c for the protocol. */
#ifndef _KERNEL_EVENTS_RING_H
#define _KERNEL_EVENTS_RING_H

#include "../time.h"
#include "../types.h"

/**
 * struct pe_charge - who pays for locked pages
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

/**
 * struct pe_aux - the area of a buffer that a tracer fills by itself; see sources/aux_output.c
 * @writer: the event whose driver holds a handle on the area, or NULL
 * @cpus: where somebody was the writer; NULL before the first area
 * @mmap_count: mappings of the area; while it is zero nobody can become its writer
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
 * @charge: who pays
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
 * Written by who writes the page.
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
 * References: each event that writes to it (pe_event.rb) and each mapping's event.  Freed by RCU.
 */
struct perf_buffer {
	refcount_t			refcount;
	struct rcu_head			rcu_head;

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
	int				page_order;	/* of each, CONFIG_PERF_USE_VMALLOC */
	int				overwrite;	/* the reader maps it read-only */
	long				watermark;	/* bytes per wakeup, 0: by events */
	unsigned long			mask;		/* of an offset in the data pages */

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
	void				*data_pages[];
};

#define PE_GATE_PAUSED		0	/* writes are refused */
#define PE_GATE_CROWDED		1	/* writers of several CPUs take turns */

#define PE_BUFFER_WRITABLE	0x01	/* the reader may write data_tail */

struct perf_buffer *pe_buffer_alloc(int nr_pages, long watermark, int cpu, int flags);
struct perf_buffer *pe_buffer_get(struct pe_event *e);	/* of e's sink; NULL if none */
void pe_buffer_put(struct perf_buffer *rb);
void pe_buffer_pause(struct perf_buffer *rb, bool pause);
void pe_buffer_crowd(struct perf_buffer *rb);
struct page *pe_buffer_page(struct perf_buffer *rb, unsigned long pgoff);

/* aux_buffer.c: rb->aux.mutex held */
int pe_aux_alloc(struct perf_buffer *rb, struct pe_event *e, unsigned long pgoff,
		 unsigned long nr_pages, bool overwrite);
void pe_aux_free(struct perf_buffer *rb);

/* For those who know that there is an area: its writer, and the holder of a mapping. */
static inline unsigned long pe_aux_size(const struct perf_buffer *rb)
{
	return rb->aux.nr_pages << PAGE_SHIFT;
}

static inline unsigned long pe_buffer_data_size(const struct perf_buffer *rb)
{
	return (unsigned long)rb->nr_pages << (PAGE_SHIFT + rb->page_order);
}

/* Number of data pages that a mapping covers. */
static inline unsigned long pe_buffer_data_pages(const struct perf_buffer *rb)
{
	return (unsigned long)rb->nr_pages << rb->page_order;
}

/* Bytes from the start of one entry of data_pages[] to the start of the next. */
static inline unsigned long pe_buffer_chunk(const struct perf_buffer *rb)
{
	return PAGE_SIZE << rb->page_order;
}

/* What pe_reserve() was able to do. */
enum pe_reserved {
	PE_RESERVED,		/* room for the record */
	PE_RESERVED_LOST,	/* and, in front of it, for a LOST record, which must be written */
	PE_FULL,		/* nothing; counted in rb->lost */
	PE_PAUSED,		/* nothing; counted, unless the buffer has no data pages at all */
};

/*
 * The protocol under perf_output_begin() and perf_output_end().  Preemption is off from one to
 * the other, any context.  pe_commit() tells whether the reader must be woken.
 */
enum pe_reserved pe_reserve(struct perf_output_handle *handle, struct perf_buffer *rb,
			    unsigned int size, unsigned int lost_size, bool backward);
bool pe_commit(struct perf_output_handle *handle);
void pe_lose(struct perf_buffer *rb);

/* One more record for those who want a wakeup every @every; below 1 means every one of them. */
static inline void pe_count_record(struct perf_buffer *rb, int every)
{
	if (local_inc_return(&rb->events) >= every) {
		local_sub(every, &rb->events);
		/* The ABI's pattern of wakeups has always had the watermark move by 1 here. */
		local_inc(&rb->wakeup);
		WRITE_ONCE(rb->due, 1);
	}
}

/* log2 of pe_buffer_chunk() */
static inline unsigned int pe_buffer_shift(const struct perf_buffer *rb)
{
	return IS_ENABLED(CONFIG_PERF_USE_VMALLOC) ? PAGE_SHIFT + rb->page_order : PAGE_SHIFT;
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
 * Is nobody inside on another CPU?  Of two that both found the nest empty, the one who noted its
 * CPU first finds out when it leaves.
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

/* One more writer.  Whoever interrupts from here on does not publish. */
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
		barrier();	/* who comes after we left publishes more than we did, so later */
		WRITE_ONCE(rb->nest, 0);
		barrier();	/* who came before we left is seen now */
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

/* Why pe_reserve_piece() has made no room. */
enum pe_no_piece {
	PE_ASK,		/* pe_reserve() says */
	PE_NO_ROOM,	/* the record is lost; it was not counted */
	PE_DUE,		/* PE_ASK, and the reader must be woken for somebody else */
};

/**
 * pe_reserve_piece() - make room for a record that lies in one page, when nothing is unusual
 * @rb: the buffer
 * @size: bytes of the record, a multiple of 8
 * @backward: the record goes below the previous one
 * @at: set to where to write
 * @why: set if there is no room
 *
 * Context as for pe_reserve().  Everything is looked at before the writer counts itself, so that
 * there is nothing to undo; whether it is still true is what cmpxchg tells.  The gate and lost
 * records that were seen too late were too late.
 *
 * Return: there is room; fill it in, then pe_nest_leave().
 */
static __always_inline bool pe_reserve_piece(struct perf_buffer *rb, unsigned long size,
					     bool backward, void **at,
					     enum pe_no_piece *why)
{
	unsigned long head = local_read(&rb->head), chunk = 1UL << pe_buffer_shift(rb);
	unsigned long new = backward ? head - size : head + size;
	unsigned long start = backward ? new : head, into = start & (chunk - 1);
	void *place;

	*why = PE_ASK;
	if (unlikely(READ_ONCE(rb->gate)))
		return false;
	/* A: the stores into the record depend on this load of data_tail */
	if (!rb->overwrite && unlikely(!pe_buffer_fits(rb, head, size, backward))) {
		*why = PE_NO_ROOM;
		return false;
	}
	if (unlikely(local_read(&rb->lost)) || unlikely(into + size > chunk))
		return false;

	place = rb->data_pages[(start & rb->mask) >> pe_buffer_shift(rb)] + into;
	OPTIMIZER_HIDE_VAR(place);	/* one register from here on, not its two parts */
	*at = place;
	pe_nest_enter(rb);
	if (unlikely(!local_try_cmpxchg(&rb->head, &head, new))) {
		if (pe_nest_leave(rb))
			*why = PE_DUE;
		return false;
	}
	pe_watermark(rb, new, backward);
	return true;
}

/* Writing between the two; len bytes, never more than reserved. */
void pe_output_copy_pages(struct perf_output_handle *handle, const void *buf, unsigned int len);
void pe_output_skip(struct perf_output_handle *handle, unsigned int len);
/* Copies from user memory without faulting; return: bytes not copied (they are skipped). */
unsigned int pe_output_copy_user(struct perf_output_handle *handle, const void __user *buf,
				 unsigned int len);
/* Copies with a callback of perf_raw_frag. */
void pe_output_custom(struct perf_output_handle *handle, perf_copy_f copy, const void *buf,
		      unsigned int len);

static __always_inline void pe_output_copy(struct perf_output_handle *handle, const void *buf,
					   unsigned int len)
{
	if (unlikely(len >= handle->size)) {
		pe_output_copy_pages(handle, buf, len);
		return;
	}
	memcpy(handle->addr, buf, len);
	handle->addr += len;
	handle->size -= len;
}

#define pe_output_put(handle, x)	pe_output_copy((handle), &(x), sizeof(x))

/**
 * pe_words_open() - where to put the next words of a record
 * @handle: the reservation
 * @bounce: room for @max words, used when they would cross the end of a page
 * @max: at most so many words will be written
 *
 * Return: pointer to write to; the end of what was written goes to pe_words_close().
 */
static inline u64 *pe_words_open(struct perf_output_handle *handle, u64 *bounce, unsigned int max)
{
	return likely(handle->size > max * sizeof(u64)) ? handle->addr : bounce;
}

static inline void pe_words_close(struct perf_output_handle *handle, const u64 *bounce,
				  const u64 *start, const u64 *end)
{
	unsigned int len = (const void *)end - (const void *)start;

	if (unlikely(start == bounce)) {
		pe_output_copy(handle, bounce, len);
		return;
	}
	handle->addr += len;
	handle->size -= len;
}

/* wakeup.c */
void pe_wake(struct pe_event *e);		/* waiters of e's buffer and e, not from NMI */
void pe_queue_wakeup(struct pe_event *e);		/* any context; after rb->poll was set */
void pe_disable_at_limit(struct pe_event *e);	/* any context, on e's CPU */
void pe_queue_signal(struct pe_event *e);		/* any context: SIGIO for e->pending_kill */

/* userpage.c: contract perf_event_update_userpage() and: */
void pe_userpage_init(struct pe_event *e, struct perf_buffer *rb);
void pe_userpage_fill(struct pe_event *e);

#endif /* _KERNEL_EVENTS_RING_H */
