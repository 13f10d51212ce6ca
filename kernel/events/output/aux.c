// SPDX-License-Identifier: GPL-2.0
/*
 * What others take from the AUX area of a tracer: samples of the latest data, pausing and resuming.
 * Also the record with which a trace begins.  The tracer's driver itself calls
 * sources/aux_output.c, where the rules of the area are.
 *
 * Context: wherever samples are taken and events overflow; irqs are off in between.  No locks.
 */
#include <linux/cleanup.h>

#include "output.h"

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
static struct perf_buffer *traced_buffer(const struct pe_event *e)
{
	struct pe_event *tracer = pe_or_null(READ_ONCE(e->aux_event));
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
u64 pe_aux_sample_size(const struct pe_event *e, u64 room)
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

/**
 * pe_aux_sample_emit() - write the latest AUX data
 * @handle: the sample
 * @e: the event that takes it
 * @size: of pe_aux_sample_size(), not 0
 *
 * What the driver does not deliver is written as zeroes: the tracer may have gone since.
 */
void pe_aux_sample_emit(struct perf_output_handle *handle, const struct pe_event *e, u64 size)
{
	struct pe_event *tracer = pe_or_null(READ_ONCE(e->aux_event));
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
	memset(handle->addr, 0, size - copied);
	pe_output_wrote(handle, handle->addr + size - copied);
}

/* ----------------------------------------------------------- pause and resume */

enum tracing { PAUSED, GOES_ON };

static void switch_tracer(struct pe_event *tracer, enum tracing next)
{
	bool active = READ_ONCE(tracer->state) == PERF_EVENT_STATE_ACTIVE;
	unsigned int paused = next == PAUSED;

	if (tracer->hw.aux_paused == paused)
		return;
	tracer->hw.aux_paused = paused;
	/* While the group goes on or off the PMU, the flag is enough. */
	if (!active)
		return;
	if (paused)
		tracer->pmu->stop(&tracer->pub, PERF_EF_PAUSE);
	else
		tracer->pmu->start(&tracer->pub, PERF_EF_RESUME);
}

/*
 * The driver is called once at a time: an NMI that finds it at work does nothing.  The tracer is
 * on this CPU, as it is the leader of the group of an event that overflowed here.
 */
static void set_tracing(struct pe_event *e, enum tracing next)
{
	struct pe_event *tracer = pe_or_null(READ_ONCE(e->aux_event));
	struct perf_buffer *rb;

	if (!tracer)
		return;
	guard(irqsave)();
	rb = rcu_dereference_sched(tracer->sink->rb);
	if (!rb || READ_ONCE(rb->aux.switching))
		return;
	WRITE_ONCE(rb->aux.switching, true);
	barrier();
	switch_tracer(tracer, next);
	barrier();
	WRITE_ONCE(rb->aux.switching, false);
}

/**
 * pe_aux_pause() - an event overflows: pause the tracer if it is to (attr.aux_pause)
 * @e: a member of the tracer's group
 *
 * On the event's CPU, preemption off.
 */
void pe_aux_pause(struct pe_event *e)
{
	if (e->attr.aux_pause)
		set_tracing(e, PAUSED);
}

/* The same for attr.aux_resume, at the end of the overflow. */
void pe_aux_resume(struct pe_event *e)
{
	if (e->attr.aux_resume)
		set_tracing(e, GOES_ON);
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
void pe_record_itrace_start(struct pe_event *e)
{
	struct pe_event *origin = pe_origin(e);
	struct itrace_body body = {
		.pid	= pe_event_pid(origin, current),
		.tid	= pe_event_tid(origin, current),
	};

	if (!(origin->attach_state & PERF_ATTACH_ITRACE))
		pe_record_emit(origin, PERF_RECORD_ITRACE_START, 0, &body, sizeof(body));
}
