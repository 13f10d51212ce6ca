// SPDX-License-Identifier: GPL-2.0
/*
 * AUX areas: what drivers of tracers call, and samples of what they traced.
 *
 * A tracer (PT, BTS, SPE, CoreSight) writes to the AUX area of its event's buffer by hardware.
 * Between perf_aux_output_begin() and perf_aux_output_end() its driver holds a handle; each end
 * tells in a PERF_RECORD_AUX what is new.  Two modes: in full-trace mode the reader follows with
 * aux_tail of the control page, and there is an end to the space; in overwrite mode (the area is
 * mapped read-only) the tracer goes round and round, and whoever wants a snapshot stops it.
 *
 * The writer.  One event at a time may hold a handle on an area: aux->writer, taken by cmpxchg.
 * Before it does, it notes its CPU in aux->cpus.  These are the only references.  Whoever takes
 * away the area (last unmapping), or the buffer from the event, makes that known first and then
 * stops the tracers on those CPUs (pe_aux_stop() in bind.c) before anything is freed:
 *
 *	begin					unmap, or bind
 *	A: cpus |= this CPU			B: mmap_count = 0, or sink->rb = other
 *	   writer = e (cmpxchg, full barrier)	   (full barrier) look at cpus
 *	   look at mmap_count and sink->rb
 *
 * B and the stopping are one section of rb->aux.mutex: of two who come at the same time the second
 * finds what the first has stopped.
 *
 * Either begin sees B and takes its claim back, or the other side sees the CPU, interrupts it when
 * begin is over, and stops the event there.  Since begin looks before A as well, it claims in vain
 * once at most.  The memory of the buffer is held by RCU up to that look, and by the event's
 * binding from there on.  What setup_aux() made the driver may use until it is stopped, with a
 * handle or without.
 *
 * The reader of the area:
 *
 *   C  load aux_tail, (control dependency) trace	reader: load trace, mb, store aux_tail
 *   D  trace, barrier of the driver, store aux_head	reader: load aux_head, rmb, load trace
 *
 * Context: the driver's start(), stop() and interrupt on the event's CPU, NMI included; samples
 * wherever samples are taken.  No locks.
 */
#include <linux/circ_buf.h>
#include <linux/cleanup.h>

#include "output.h"

/* ------------------------------------------------------------ handles of drivers */

static bool may_write(const struct perf_buffer *rb, const struct pevent *e)
{
	/* Pairs with the release in mmap.c: a mapped area is complete. */
	return rcu_access_pointer(e->sink->rb) == rb &&
	       atomic_read_acquire(&rb->aux.mmap_count) &&
	       READ_ONCE(rb->aux.serial) == e->pmu->serial;
}

/* The buffer with @e as the writer of its area, or NULL. */
static struct perf_buffer *claim(struct pevent *e)
{
	struct perf_buffer *rb;

	guard(rcu)();
	rb = rcu_dereference(e->sink->rb);
	if (!rb || !may_write(rb, e))
		return NULL;
	cpumask_set_cpu(smp_processor_id(), rb->aux.cpus);			/* A */
	if (cmpxchg(&rb->aux.writer, NULL, e))
		return NULL;
	if (may_write(rb, e))
		return rb;
	/* Nothing was done to the area, and nothing will be. */
	smp_store_release(&rb->aux.writer, NULL);
	return NULL;
}

static void give_up(struct perf_output_handle *handle)
{
	handle->event = NULL;
	/* Whoever sees this may free the area: we are done with it. */
	smp_store_release(&handle->rb->aux.writer, NULL);
}

/* One byte stays free, so that a full area does not look empty. */
static unsigned long free_space(const struct perf_buffer *rb)
{
	unsigned long size = pe_aux_size(rb), head = rb->aux.head;
	unsigned long tail = READ_ONCE(rb->user_page->aux_tail);

	return head - tail < size ? CIRC_SPACE(head, tail, size) : 0;
}

/* There is no space for more, or some was missing: the trace ends until the reader enables it. */
static void stop_tracing(struct pevent *e, struct perf_buffer *rb)
{
	perf_event_disable_inatomic(&e->pub);
	pe_tell_reader(e, rb);
}

/* Show the new head.  Return: the reader is to be told. */
static bool publish(struct perf_buffer *rb)
{
	struct pe_aux *aux = &rb->aux;

	smp_wmb();	/* D, for what was written by this CPU */
	WRITE_ONCE(rb->user_page->aux_head, aux->head);
	if (aux->overwrite || aux->head - aux->told < aux->watermark)
		return false;
	aux->told = aux->head - aux->head % aux->watermark;
	return true;
}

/**
 * perf_aux_output_begin() - get hold of the AUX area of an event
 * @handle: the driver's, filled in; without event when this fails
 * @event: the tracer's event, about to trace
 *
 * In overwrite mode handle->size is 0: nothing limits the tracer.
 *
 * Return: what setup_aux() made; NULL if there is no area that is mapped, if another event is
 * writing there, or if it is full, in which case the event is disabled as well.
 */
void *perf_aux_output_begin(struct perf_output_handle *handle, struct perf_event *event)
{
	struct perf_buffer *rb = claim(pe(event));
	struct pe_aux *aux;

	handle->event = NULL;
	if (!rb)
		return NULL;

	aux = &rb->aux;
	handle->rb = rb;
	handle->event = event;
	handle->head = aux->head;
	handle->size = 0;
	handle->wakeup = aux->told + aux->watermark;
	handle->aux_flags = 0;
	if (aux->overwrite)
		return aux->priv;

	handle->size = free_space(rb);
	if (likely(handle->size))	/* C */
		return aux->priv;
	stop_tracing(pe(event), rb);
	give_up(handle);
	return NULL;
}
EXPORT_SYMBOL_GPL(perf_aux_output_begin);

/* PERF_RECORD_AUX, after the header */
struct aux_body {
	u64	offset;
	u64	size;
	u64	flags;
};

static_assert(sizeof(struct aux_body) == 24);
static_assert(offsetof(struct aux_body, size) == 8);
static_assert(offsetof(struct aux_body, flags) == 16);

/* The format says whose data it is, and OVERWRITE that the offset is all there is to know. */
#define UNINTERESTING_FLAGS	(PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK | PERF_AUX_FLAG_OVERWRITE)

/**
 * perf_aux_output_end() - the handle's data is complete, or there is none
 * @handle: from perf_aux_output_begin(); in overwrite mode handle->head is the new position
 * @size: bytes of new data
 *
 * The driver calls this in stop() with PERF_EF_UPDATE at the latest: then the area may go.
 * PERF_AUX_FLAG_TRUNCATED disables the event.
 */
void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size)
{
	struct pevent *e = pe(handle->event);
	struct perf_buffer *rb = handle->rb;
	struct pe_aux *aux = &rb->aux;
	struct aux_body body = { .offset = aux->head, .size = size };

	if (aux->overwrite) {
		handle->aux_flags |= PERF_AUX_FLAG_OVERWRITE;
		aux->head = handle->head;
		body.offset = handle->head;
	} else {
		aux->head += size;
	}
	body.flags = handle->aux_flags;

	/* In the buffer of this area, even if the event has just got another one. */
	if (size || body.flags & ~(u64)UNINTERESTING_FLAGS)
		pe_record_emit_to(rb, e, PERF_RECORD_AUX, 0, &body, sizeof(body));
	if (publish(rb) && !(body.flags & PERF_AUX_FLAG_TRUNCATED))
		pe_tell_reader(e, rb);
	if (body.flags & PERF_AUX_FLAG_TRUNCATED)
		stop_tracing(e, rb);
	give_up(handle);
}
EXPORT_SYMBOL_GPL(perf_aux_output_end);

/**
 * perf_aux_output_skip() - leave a gap in the data
 * @handle: with an area that is not in overwrite mode
 * @size: bytes of the gap
 *
 * Return: 0, or -ENOSPC if the gap does not fit.
 */
int perf_aux_output_skip(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_buffer *rb = handle->rb;
	struct pe_aux *aux = &rb->aux;

	if (size > handle->size)
		return -ENOSPC;
	aux->head += size;
	handle->head = aux->head;
	handle->size -= size;
	if (publish(rb)) {
		pe_tell_reader(pe(handle->event), rb);
		handle->wakeup = aux->told + aux->watermark;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(perf_aux_output_skip);

/**
 * perf_aux_output_flag() - something to tell about the data of a handle
 * @handle: the handle
 * @flags: PERF_AUX_FLAG_*; OVERWRITE is not the driver's to tell
 */
void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags)
{
	WARN_ON_ONCE(flags & PERF_AUX_FLAG_OVERWRITE);
	handle->aux_flags |= flags & ~(u64)PERF_AUX_FLAG_OVERWRITE;
}
EXPORT_SYMBOL_GPL(perf_aux_output_flag);

/**
 * perf_get_aux() - the driver's description of the area of a handle
 * @handle: any
 *
 * Return: NULL for a handle that is not held.
 */
void *perf_get_aux(struct perf_output_handle *handle)
{
	return handle->event ? handle->rb->aux.priv : NULL;
}
EXPORT_SYMBOL_GPL(perf_get_aux);

/**
 * perf_output_copy_aux() - copy a piece of an AUX area into a record
 * @aux_handle: held on the area
 * @handle: the record, with room for it
 * @from: first byte, modulo the size of the area
 * @to: the byte after the last; the same as @from means all of it
 *
 * Return: bytes copied.
 */
long perf_output_copy_aux(struct perf_output_handle *aux_handle,
			  struct perf_output_handle *handle, unsigned long from, unsigned long to)
{
	struct perf_buffer *rb = aux_handle->rb;
	unsigned long mask = pe_aux_size(rb) - 1;
	unsigned long len = ((to - from - 1) & mask) + 1, left = len;

	while (left) {
		unsigned long at = from & mask, n;

		n = min(left, PAGE_SIZE - offset_in_page(at));
		pe_output_copy(handle, rb->aux.pages[at >> PAGE_SHIFT] + offset_in_page(at), n);
		from += n;
		left -= n;
	}
	return len;
}

/* ------------------------------------------------------------------- samples */

/* The buffer to which the tracer of @e is writing on this CPU, or NULL.  Irqs off. */
static struct perf_buffer *traced_buffer(const struct pevent *e)
{
	struct pevent *tracer = pe_or_null(READ_ONCE(e->aux_event));
	struct perf_buffer *rb;

	if (!tracer || READ_ONCE(tracer->state) != PERF_EVENT_STATE_ACTIVE ||
	    READ_ONCE(tracer->oncpu) != smp_processor_id())
		return NULL;
	rb = rcu_dereference_sched(tracer->sink->rb);
	return rb && READ_ONCE(rb->aux.writer) == tracer ? rb : NULL;
}

/**
 * pe_aux_sample_size() - bytes of PERF_SAMPLE_AUX data that there will be
 * @e: the event that takes the sample
 * @room: at most so many
 *
 * Return: a multiple of 8.
 */
u64 pe_aux_sample_size(const struct pevent *e, u64 room)
{
	struct perf_buffer *rb;

	guard(irqsave)();
	rb = traced_buffer(e);
	/* An NMI in the middle of such a copy cannot stop the tracer a second time. */
	if (!rb || READ_ONCE(rb->aux.sampling))
		return 0;
	room = min_t(u64, room, e->attr.aux_sample_size);
	return min_t(u64, round_down(room, sizeof(u64)), pe_aux_size(rb));
}

static void fill_with_zeroes(struct perf_output_handle *handle, u64 len)
{
	static const u64 zero;

	for (; len > sizeof(zero); len -= sizeof(zero))
		pe_output_put(handle, zero);
	pe_output_copy(handle, &zero, len);
}

/**
 * pe_aux_sample_emit() - write the latest AUX data
 * @handle: the sample
 * @e: the event that takes it
 * @size: of pe_aux_sample_size(), not 0
 *
 * What the driver does not deliver is written as zeroes: the tracer may have gone since.
 */
void pe_aux_sample_emit(struct perf_output_handle *handle, const struct pevent *e, u64 size)
{
	struct pevent *tracer = pe_or_null(READ_ONCE(e->aux_event));
	struct perf_buffer *rb;
	long copied = 0;

	/* The driver is not to be called for the same event from an interrupt meanwhile. */
	guard(irqsave)();
	rb = traced_buffer(e);
	if (rb) {
		WRITE_ONCE(rb->aux.sampling, true);
		barrier();
		copied = tracer->pmu->snapshot_aux(&tracer->pub, handle, size);
		barrier();
		WRITE_ONCE(rb->aux.sampling, false);
	}
	copied = clamp_t(long, copied, 0, size);
	if (copied < size)
		fill_with_zeroes(handle, size - copied);
}

/* ----------------------------------------------------------- pause and resume */

static void switch_tracer(struct pevent *tracer, bool pause)
{
	bool active = READ_ONCE(tracer->state) == PERF_EVENT_STATE_ACTIVE;

	if (!!tracer->hw.aux_paused == pause)
		return;
	tracer->hw.aux_paused = pause;
	/* While the group goes on or off the PMU, the flag is enough. */
	if (!active)
		return;
	if (pause)
		tracer->pmu->stop(&tracer->pub, PERF_EF_PAUSE);
	else
		tracer->pmu->start(&tracer->pub, PERF_EF_RESUME);
}

/*
 * The driver is called once at a time: an NMI that finds it at work does nothing.  The tracer is
 * on this CPU, as it is the leader of the group of an event that overflowed here.
 */
static void act(struct pevent *e, bool pause)
{
	struct pevent *tracer = pe_or_null(READ_ONCE(e->aux_event));
	struct perf_buffer *rb;

	if (!tracer)
		return;
	guard(irqsave)();
	rb = rcu_dereference_sched(tracer->sink->rb);
	if (!rb || READ_ONCE(rb->aux.switching))
		return;
	WRITE_ONCE(rb->aux.switching, true);
	barrier();
	switch_tracer(tracer, pause);
	barrier();
	WRITE_ONCE(rb->aux.switching, false);
}

/**
 * pe_aux_pause() - an event overflows: pause the tracer if it is to (attr.aux_pause)
 * @e: a member of the tracer's group
 *
 * On the event's CPU, preemption off.
 */
void pe_aux_pause(struct pevent *e)
{
	if (e->attr.aux_pause)
		act(e, true);
}

/* The same for attr.aux_resume, at the end of the overflow. */
void pe_aux_resume(struct pevent *e)
{
	if (e->attr.aux_resume)
		act(e, false);
}

/* ------------------------------------------------------------- small records */

/* PERF_RECORD_ITRACE_START, after the header */
struct itrace_body {
	u32	pid;
	u32	tid;
};

static_assert(sizeof(struct itrace_body) == 8);
static_assert(offsetof(struct itrace_body, tid) == 4);

/**
 * pe_record_itrace_start() - a tracer of instructions is about to go on its PMU
 * @e: its event
 *
 * Written each time, in the name of the opened event, until the driver says that its trace itself
 * tells where it starts.
 */
void pe_record_itrace_start(struct pevent *e)
{
	struct pevent *origin = pe_origin(e);
	struct itrace_body body = {
		.pid	= pe_event_pid(origin, current),
		.tid	= pe_event_tid(origin, current),
	};

	if (!(origin->attach_state & PERF_ATTACH_ITRACE))
		pe_record_emit(origin, PERF_RECORD_ITRACE_START, 0, &body, sizeof(body));
}

/* Contract: see <linux/perf_event.h>. */
void perf_event_itrace_started(struct perf_event *event)
{
	event->attach_state |= PERF_ATTACH_ITRACE;
}

/**
 * perf_report_aux_output_id() - how the hardware calls an event in the AUX data of another
 * @event: the event
 * @hw_id: the number
 *
 * Event's CPU, irqs off.
 */
void perf_report_aux_output_id(struct perf_event *event, u64 hw_id)
{
	pe_record_emit(pe_origin(pe(event)), PERF_RECORD_AUX_OUTPUT_HW_ID, 0, &hw_id,
		       sizeof(hw_id));
}
EXPORT_SYMBOL_GPL(perf_report_aux_output_id);
