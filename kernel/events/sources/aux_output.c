// SPDX-License-Identifier: GPL-2.0
/*
 * AUX areas: what drivers of tracers call.
 *
 * A tracer (PT, BTS, SPE, CoreSight) writes to the AUX area of its event's buffer by hardware.
 * Between perf_aux_output_begin() and perf_aux_output_end() its driver holds a handle; each end
 * tells in a PERF_RECORD_AUX what is new.  Two modes: in full-trace mode the reader follows with
 * aux_tail of the control page, and there is an end to the space; in overwrite mode (the area is
 * mapped read-only) the tracer goes round and round, and a tool that wants a snapshot stops it.
 *
 * The writer.  One event at a time may hold a handle on an area: aux->writer, taken by cmpxchg.
 * Before it does, it notes its CPU in aux->cpus.  These are the only references.  Code that takes
 * away the area (last unmapping), or the buffer from the event, makes that known first and then
 * stops the tracers on those CPUs (pe_aux_stop() in bind.c) before anything is freed:
 *
 *	begin					unmap, or bind
 *	A: cpus |= this CPU			B: mmap_count = 0, or sink->rb = other
 *	   writer = e (cmpxchg, full barrier)	   (full barrier) look at cpus
 *	   look at mmap_count and sink->rb
 *
 * B and the stopping are one section of rb->aux.mutex: of two that come at the same time the second
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
 * Context: the driver's start(), stop() and interrupt on the event's CPU, NMI included.  No locks.
 */
#include <linux/circ_buf.h>
#include <linux/cleanup.h>

#include "sources.h"

static bool may_write(const struct perf_buffer *rb, const struct pe_event *e)
{
	/* Pairs with the release in mmap.c: a mapped area is complete. */
	return rcu_access_pointer(e->sink->rb) == rb &&
	       atomic_read_acquire(&rb->aux.mmap_count) &&
	       READ_ONCE(rb->aux.serial) == e->pmu->serial;
}

/* The buffer with @e as the writer of its area, or NULL. */
static struct perf_buffer *claim(struct pe_event *e)
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
	/* A task that sees this may free the area: we are done with it. */
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
static void stop_tracing(struct pe_event *e, struct perf_buffer *rb)
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
	struct pe_event *e = pe(handle->event);
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
