// SPDX-License-Identifier: GPL-2.0
/*
 * Samples written straight to where the reader finds them.
 *
 * Owns the overflow handlers perf_event_output*().  Most samples consist of words that the core
 * knows anyway, perhaps with a call chain or raw data behind them, and lie within one page of the
 * buffer.  plan.direct tells at open whether an event is of that kind.  Then nothing is collected:
 * each word goes from where it is known to its place in the record, after the room was reserved,
 * so a sample that is lost costs little.  Only the call chain must be there before, for its length.
 *
 * Everything else goes through sample.c and emit.c: other parts, values that the source brings
 * along, and, once there is room, records that cross the end of a page or are written to a buffer
 * that is crowded or has losses to tell.  That way is always right; this file decides for it
 * without having changed anything.
 *
 * Context: as sample.c.  Preemption is off from the look at the buffer to the end of the record.
 */
#include "output.h"

#define TAILS	(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

/* Is there a page that takes what the header cannot tell the length of? */
#define PIECES_MAY_BE_TOO_LONG	(PAGE_SHIFT >= 16 || IS_ENABLED(CONFIG_PERF_USE_VMALLOC))

/* Collect, begin, write, end. */
static int collect_and_write(struct perf_event *event, struct perf_sample_data *data,
			     struct pt_regs *regs, bool backward)
{
	struct perf_output_handle handle __uninitialized;
	struct perf_event_header header;
	int err;

	guard(rcu)();	/* keeps the buffers of call chains */
	perf_prepare_sample(data, event, regs);
	perf_prepare_header(&header, data, event, regs);
	err = backward ? perf_output_begin_backward(&handle, data, event, header.size) :
			 perf_output_begin_forward(&handle, data, event, header.size);
	if (err)
		return err;
	perf_output_sample(&handle, &header, data, event);
	perf_output_end(&handle);
	return 0;
}

static noinline int the_long_way(struct perf_event *event, struct perf_sample_data *data,
				 struct pt_regs *regs, bool backward)
{
	if (likely(!pe_samples_group(pe(event))))
		return collect_and_write(event, data, regs, backward);
	/* From its size to its values the group stays as it is; programs come with irqs on. */
	guard(irqsave)();
	return collect_and_write(event, data, regs, backward);
}

/*
 * A sample whose length is known, but which is no piece.  Room first: there is nothing to collect
 * for a sample that is lost.
 */
static noinline int with_handle(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs, unsigned int size, bool backward)
{
	struct perf_output_handle handle __uninitialized;
	struct perf_event_header header;
	int err;

	err = backward ? perf_output_begin_backward(&handle, data, event, size) :
			 perf_output_begin_forward(&handle, data, event, size);
	if (err)
		return err;
	perf_prepare_sample(data, event, regs);
	perf_prepare_header(&header, data, event, regs);
	perf_output_sample(&handle, &header, data, event);
	perf_output_end(&handle);
	return 0;
}

/*
 * The buffer is full.  What pe_reserve() would do, less what it does as a writer: this one never
 * counted itself in rb->nest, so nobody relies on it to publish or to wake.
 */
static int lose(struct pe_event *sink, struct perf_buffer *rb)
{
	local_inc(&rb->lost);
	atomic64_inc(&sink->lost_samples);
	return -ENOSPC;
}

/* The source did not bring them. */
static void collect_tails(struct perf_sample_data *data, struct pe_event *e, u64 missing,
			  struct pt_regs *regs)
{
	if (missing & PERF_SAMPLE_CALLCHAIN)
		perf_sample_save_callchain(data, &e->pub, regs);
	if (missing & PERF_SAMPLE_RAW) {
		data->raw = NULL;	/* written as four bytes of nothing */
		perf_sample_added(data, PERF_SAMPLE_RAW, sizeof(u64));
	}
}

#define BEHIND_TIME	(PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |		\
			 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define BEHIND_IP	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | BEHIND_TIME)

static __always_inline u64 *put_behind_ip(u64 *w, const struct perf_sample_data *data,
					  const struct pe_event *e, u64 type)
{
	if (type & PERF_SAMPLE_TID) {
		pe_current_ids(e, (u32 *)w, (u32 *)w + 1);
		w++;
	}
	if (type & PERF_SAMPLE_TIME)
		*w++ = e->clock();
	if (!(type & BEHIND_TIME))
		return w;
	if (type & PERF_SAMPLE_ADDR)
		*w++ = data->sample_flags & PERF_SAMPLE_ADDR ? data->addr : 0;
	if (type & PERF_SAMPLE_ID)
		*w++ = e->sink->id;
	if (type & PERF_SAMPLE_STREAM_ID)
		*w++ = e->id;
	if (type & PERF_SAMPLE_CPU) {
		((u32 *)w)[0] = raw_smp_processor_id();
		((u32 *)w)[1] = 0;
		w++;
	}
	if (type & PERF_SAMPLE_PERIOD)
		*w++ = data->period;
	return w;
}

/*
 * { struct perf_event_header header; u64 identifier; u64 ip; u32 pid, tid; u64 time; u64 addr;
 * u64 id; u64 stream_id; u32 cpu, res; u64 period; }, each but the first if asked for.
 */
static __always_inline u64 *put_words(u64 *w, const struct perf_sample_data *data,
				      const struct pe_event *e, struct pt_regs *regs,
				      u64 type, unsigned int size)
{
	*(struct perf_event_header *)w++ = (struct perf_event_header) {
		.type	= PERF_RECORD_SAMPLE,
		.misc	= pe_sample_misc(e, regs),
		.size	= size,
	};
	if (type & PERF_SAMPLE_IDENTIFIER)
		*w++ = e->sink->id;
	if (type & PERF_SAMPLE_IP)
		*w++ = pe_sample_ip(e, regs);
	return type & BEHIND_IP ? put_behind_ip(w, data, e, type) : w;
}

/* { u32 size; char data[size]; } */
static __always_inline void put_raw(void *at, const struct perf_raw_record *raw)
{
	const struct perf_raw_frag *frag;

	if (unlikely(!raw)) {
		((u32 *)at)[0] = sizeof(u32);
		((u32 *)at)[1] = 0;
		return;
	}
	*(u32 *)at = raw->size;
	at += sizeof(u32);
	for (frag = &raw->frag; ; frag = frag->next) {
		if (unlikely(frag->copy))
			frag->copy(at, frag->data, 0, frag->size);
		else
			memcpy(at, frag->data, frag->size);
		if (likely(perf_raw_frag_last(frag)))
			break;
		at += frag->size;
	}
}

/*
 * { u64 nr; u64 ips[nr]; }
 *
 * The chain is as long as it was when room was made for it.  Its memory is this level's, and what
 * put_words() calls can be traced by an event that takes a chain there, too.
 */
static __always_inline u64 *put_chain(u64 *w, const struct perf_sample_data *data)
{
	*w++ = data->callchain_nr;
	memcpy(w, data->callchain->ip, data->callchain_nr * sizeof(u64));
	return w + data->callchain_nr;
}

static __always_inline int output(struct perf_event *event, struct perf_sample_data *data,
				  struct pt_regs *regs, bool backward)
{
	struct pe_event *e = pe(event);
	u64 type = e->plan.sample_type, tails = type & TAILS, given = data->sample_flags;
	struct perf_buffer *rb;
	unsigned long size;
	enum pe_no_piece why;
	void *at;
	u64 *w;

	/* More than this takes from a source; the period, which all bring, with plan.direct 0. */
	if (unlikely(given & ~e->plan.direct) || pe_hides_kernel(e, regs))
		return the_long_way(&e->pub, data, regs, backward);

	guard(preempt_notrace)();
	rb = rcu_dereference_sched(e->sink->rb);
	if (unlikely(!rb))
		return -ENOSPC;
	if (tails & ~given)
		collect_tails(data, e, tails & ~given, regs);
	size = sizeof(struct perf_event_header) + e->plan.header_size + data->dyn_size;
	if (PIECES_MAY_BE_TOO_LONG && unlikely(size > U16_MAX))
		return pe_record_too_long(e);
	if (unlikely(!pe_reserve_piece(rb, size, backward, &at, &why))) {
		if (why == PE_NO_ROOM)
			return lose(e->sink, rb);
		if (unlikely(why == PE_DUE))
			pe_tell_reader(e->sink, rb);
		if (!PIECES_MAY_BE_TOO_LONG && size > U16_MAX)
			return pe_record_too_long(e);
		return with_handle(&e->pub, data, regs, size, backward);
	}

	w = put_words(at, data, e, regs, type, size);
	if (tails & PERF_SAMPLE_CALLCHAIN)
		w = put_chain(w, data);
	if (tails & PERF_SAMPLE_RAW)
		put_raw(w, data->raw);
	if (unlikely(e->plan.wakeup_every))
		pe_count_record(rb, e->plan.wakeup_every);
	if (unlikely(pe_nest_leave(rb)))
		pe_tell_reader(e->sink, rb);
	return 0;
}

/* Contract: see <linux/perf_event.h>. */
void perf_event_output_forward(struct perf_event *event, struct perf_sample_data *data,
			       struct pt_regs *regs)
{
	output(event, data, regs, false);
}

static noinline int output_backward(struct perf_event *event, struct perf_sample_data *data,
				    struct pt_regs *regs)
{
	return output(event, data, regs, true);
}

void perf_event_output_backward(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs)
{
	output_backward(event, data, regs);
}

int perf_event_output(struct perf_event *event, struct perf_sample_data *data,
		      struct pt_regs *regs)
{
	if (unlikely(is_write_backward(event)))
		return output_backward(event, data, regs);
	return output(event, data, regs, false);
}
