// SPDX-License-Identifier: GPL-2.0
/*
 * The first page of a mapped buffer: what user space needs to read the counter by itself.
 *
 * data_head and data_tail of that page belong to ring_buffer.c.  Everything else is written here:
 * once when the buffer is made, then whenever the event starts, stops or is reprogrammed, between
 * two increments of page->lock.  An odd or changed lock tells the reader to try again; it runs on
 * the CPU that writes, or does not use the counter, so compiler barriers suffice (that is the
 * documented protocol of the page).
 *
 * Callers: PMU drivers from add, del, start, stop and from their overflow interrupt, hence any
 * context up to NMI; the core with interrupts off under ctx->lock; mmap(), in task context.
 * Updates of one page must not nest: drivers call from the interrupt only for events they just
 * stopped or restarted themselves.
 */
#include "output.h"

static u32 counter_index(struct pevent *e)
{
	if (e->state != PERF_EVENT_STATE_ACTIVE || (e->hw.state & PERF_HES_STOPPED))
		return 0;
	return e->pmu->event_idx(&e->pub);
}

/* What the architecture knows: capabilities, counter width, conversion of its clock. */
void __weak arch_perf_update_userpage(struct perf_event *event, struct perf_event_mmap_page *page,
				      u64 now)
{
}

static void write_page(struct pevent *e, struct perf_event_mmap_page *page)
{
	u64 now = pe_now();
	struct pe_times times = pe_times_now(e, now);
	s64 base;

	WRITE_ONCE(page->lock, page->lock + 1);
	barrier();	/* odd before the first change */

	page->index = counter_index(e);
	if (page->index)	/* user space adds what the counter shows now */
		base = local64_read(&e->count) - local64_read(&e->hw.prev_count);
	else
		base = pe_count_now(e, now);
	page->offset = base + atomic64_read(&e->gone_count);
	page->time_enabled = times.enabled + atomic64_read(&e->gone_enabled);
	page->time_running = times.running + atomic64_read(&e->gone_running);
	arch_perf_update_userpage(&e->pub, page, now);

	barrier();	/* even after the last change */
	WRITE_ONCE(page->lock, page->lock + 1);
}

/**
 * perf_event_update_userpage() - bring the mapped page up to date
 * @event: scheduled in or out, started or stopped, or reprogrammed
 *
 * Any context on the event's CPU, or anywhere under ctx->lock.  Does nothing without a buffer.
 */
void perf_event_update_userpage(struct perf_event *event)
{
	struct perf_buffer *rb;

	if (!rcu_access_pointer(event->rb))
		return;
	guard(preempt_notrace)();
	rb = rcu_dereference_sched(event->rb);
	if (rb)
		write_page(pe(event), rb->user_page);
}
EXPORT_SYMBOL_GPL(perf_event_update_userpage);

/**
 * pe_userpage_init() - the constant part of the page
 * @e: the event whose mmap() made the buffer
 * @rb: the buffer, not yet mapped
 *
 * Task context, e->mmap_mutex held.  version and compat_version are 0.
 */
void pe_userpage_init(struct pevent *e, struct perf_buffer *rb)
{
	struct perf_event_mmap_page *page = rb->user_page;

	page->cap_bit0_is_deprecated = 1;	/* bit 0 once meant two things */
	page->size = offsetof(struct perf_event_mmap_page, __reserved);
	page->data_offset = PAGE_SIZE;
	page->data_size = pe_buffer_data_size(rb);
}

static_assert(offsetof(struct perf_event_mmap_page, lock) == 8);
static_assert(offsetof(struct perf_event_mmap_page, offset) == 16);
static_assert(offsetof(struct perf_event_mmap_page, time_enabled) == 24);
static_assert(offsetof(struct perf_event_mmap_page, capabilities) == 40);
static_assert(offsetof(struct perf_event_mmap_page, data_head) == 1024);
static_assert(offsetof(struct perf_event_mmap_page, data_size) == 1048);
