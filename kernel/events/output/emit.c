// SPDX-License-Identifier: GPL-2.0
/*
 * Beginning and ending a record: the room for it, LOST in front, telling the reader.  What goes in
 * between is written upwards from handle->addr, see write.c for samples.
 *
 * An event writes to the buffer of its sink: itself, or the opened event it was inherited from.
 * The size of a record is known before room for it is reserved, and each byte is written once.
 * Between perf_output_begin() and perf_output_end() preemption is off, which is also what keeps
 * the buffer from being freed.
 *
 * Context: any, NMI included, on the CPU or in the task whose events share the buffer.
 */
#include "output.h"

/* ------------------------------------------------------ beginning and ending */

struct lost_record {
	struct perf_event_header	header;
	u64				id;
	u64				lost;
};

static_assert(sizeof(struct lost_record) == 24);
static_assert(offsetof(struct lost_record, id) == 8);
static_assert(offsetof(struct lost_record, lost) == 16);

/*
 * The number may be 0, when a writer that came since the reservation has told it already; the room
 * is there and must be filled.
 */
static noinline void write_lost(struct perf_output_handle *handle, const struct pe_event *e)
{
	struct lost_record rec = {
		.header	= {
			.type	= PERF_RECORD_LOST,
			.size	= sizeof(rec) + e->plan.id_size,
		},
		.id	= e->id,
		.lost	= local_xchg(&handle->rb->lost, 0),
	};

	memcpy(handle->addr, &rec, sizeof(rec));
	pe_output_wrote(handle, pe_put_trailer(handle->addr + sizeof(rec), e));
}

static noinline int refused(struct perf_output_handle *handle, struct pe_event *from,
			    struct perf_buffer *rb, enum pe_reserved how)
{
	if (how == PE_FULL || rb->nr_pages)
		pe_count_lost(from);
	if (how == PE_FULL && handle->wakeup)
		pe_tell_reader(from->sink, rb);
	return -ENOSPC;
}

/* Preemption is off, and stays off unless this fails. */
static __always_inline int begin_in(struct perf_output_handle *handle, struct pe_event *from,
				    struct perf_buffer *rb, unsigned int size, bool backward)
{
	struct pe_event *e = from->sink;
	enum pe_reserved how;

	how = pe_reserve_slow(handle, rb, size, sizeof(struct lost_record) + e->plan.id_size,
			      backward);
	if (unlikely(how > PE_RESERVED_LOST)) {
		int err = refused(handle, from, rb, how);

		preempt_enable();
		return err;
	}
	handle->event = &e->pub;
	if (unlikely(how == PE_RESERVED_LOST))
		write_lost(handle, e);
	return 0;
}

/**
 * pe_record_too_long() - a record is lost, because no header can tell its length
 * @e: the event that was to get it
 *
 * Any context.  Return: -ENOSPC
 */
noinline int pe_record_too_long(struct pe_event *e)
{
	struct perf_buffer *rb;

	guard(preempt)();
	rb = rcu_dereference_sched(e->sink->rb);
	if (rb && rb->nr_pages) {
		pe_lose(rb);
		pe_count_lost(e);
	}
	return -ENOSPC;
}

static __always_inline int begin(struct perf_output_handle *handle, struct perf_event *event,
				 unsigned int size, bool backward)
{
	struct pe_event *e = pe(event);
	struct perf_buffer *rb;

	if (unlikely(!size))
		return pe_record_too_long(e);
	preempt_disable();
	rb = rcu_dereference_sched(e->sink->rb);
	if (likely(rb))
		return begin_in(handle, e, rb, size, backward);
	preempt_enable();
	return -ENOSPC;
}

/**
 * pe_output_begin_in() - as perf_output_begin(), in a buffer that the caller chose
 * @handle: for perf_output_end()
 * @e: the event that writes
 * @rb: the buffer, which the caller keeps from going
 * @size: bytes of the record
 *
 * Return: 0 or -ENOSPC.
 */
int pe_output_begin_in(struct perf_output_handle *handle, struct pe_event *e,
		       struct perf_buffer *rb, unsigned int size)
{
	preempt_disable();
	return begin_in(handle, e, rb, size, is_write_backward(&e->pub));
}

/* Contract: see <linux/perf_event.h>.  Without a buffer the answer is -ENOSPC as well. */
int perf_output_begin_forward(struct perf_output_handle *handle, struct perf_sample_data *data,
			      struct perf_event *event, unsigned int size)
{
	return begin(handle, event, size, false);
}

int perf_output_begin_backward(struct perf_output_handle *handle, struct perf_sample_data *data,
			       struct perf_event *event, unsigned int size)
{
	return begin(handle, event, size, true);
}

int perf_output_begin(struct perf_output_handle *handle, struct perf_sample_data *data,
		      struct perf_event *event, unsigned int size)
{
	return begin(handle, event, size, is_write_backward(event));
}

void perf_output_end(struct perf_output_handle *handle)
{
	if (unlikely(pe_commit(handle)))
		pe_tell_reader(pe(handle->event), handle->rb);
	preempt_enable();
}

/* Contract: header of a record that is not a sample, and the values of its trailer. */
void perf_event_header__init(struct perf_event_header *header, struct perf_sample_data *data,
			     u32 type, u16 misc, u16 size, struct perf_event *event)
{
	struct pe_event *e = pe(event);

	header->type = type;
	header->misc = misc;
	header->size = size + e->plan.id_size;
	if (e->plan.id_size)
		pe_id_sample_collect(data, e);
}

void perf_event__output_id_sample(struct perf_event *event, struct perf_output_handle *handle,
				  struct perf_sample_data *sample)
{
	pe_output_wrote(handle, pe_put_collected_trailer(handle->addr, pe(event), sample));
}

unsigned int perf_output_copy(struct perf_output_handle *handle, const void *buf, unsigned int len)
{
	pe_output_copy(handle, buf, len);
	return 0;
}

unsigned int perf_output_skip(struct perf_output_handle *handle, unsigned int len)
{
	pe_output_wrote(handle, handle->addr + len);
	return 0;
}
