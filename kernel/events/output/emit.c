// SPDX-License-Identifier: GPL-2.0
/*
 * Writing samples, and what all records have in common: LOST in front, the sample_id trailer
 * behind, telling the reader.
 *
 * An event writes to the buffer of its sink: itself, or the opened event it was inherited from.
 * The size of a record is known before room for it is reserved, and each byte is written once.
 * Between perf_output_begin() and perf_output_end() preemption is off, which is also what keeps
 * the buffer from being freed.
 *
 * Context: any, NMI included, on the CPU or in the task whose events share the buffer.
 *
 * Telling the reader.  rb->poll, what the next poll() will return, is set by every wakeup that is
 * due; pe_queue_wakeup() then decides whether there is somebody to wake, see ring/wakeup.c.
 */
#include <linux/poll.h>

#include "output.h"

/* ------------------------------------------------------ beginning and ending */

/**
 * pe_tell_reader() - there is something to read
 * @e: the event that wrote, or lost something
 * @rb: the buffer
 *
 * Any context, preemption off.
 */
void pe_tell_reader(struct pe_event *e, struct perf_buffer *rb)
{
	atomic_set(&rb->poll, (__force int)(EPOLLIN | EPOLLRDNORM));
	pe_queue_wakeup(e);
}

/*
 * Trailer, as perf_event.h has it: { u32 pid, tid; } { u64 time; } { u64 id; } { u64 stream_id; }
 * { u32 cpu, res; } { u64 id; }, each if its bit is set in sample_type.
 */
static u64 *put_ids(u64 *w, u64 type, const struct perf_sample_data *data)
{
	if (type & PERF_SAMPLE_TID)
		memcpy(w++, &data->tid_entry, sizeof(*w));
	if (type & PERF_SAMPLE_TIME)
		*w++ = data->time;
	if (type & PERF_SAMPLE_ID)
		*w++ = data->id;
	if (type & PERF_SAMPLE_STREAM_ID)
		*w++ = data->stream_id;
	if (type & PERF_SAMPLE_CPU)
		memcpy(w++, &data->cpu_entry, sizeof(*w));
	if (type & PERF_SAMPLE_IDENTIFIER)
		*w++ = data->id;
	return w;
}

static_assert(sizeof_field(struct perf_sample_data, tid_entry) == sizeof(u64));
static_assert(sizeof_field(struct perf_sample_data, cpu_entry) == sizeof(u64));

/**
 * pe_id_sample_emit() - write the sample_id trailer of a record
 * @handle: the record
 * @data: from pe_id_sample_collect()
 * @e: the event that gets the record
 */
void pe_id_sample_emit(struct perf_output_handle *handle, const struct perf_sample_data *data,
		       const struct pe_event *e)
{
	u64 bounce[6] __uninitialized, *w;

	if (!e->plan.id_size)
		return;
	w = pe_words_open(handle, bounce, ARRAY_SIZE(bounce));
	pe_words_close(handle, bounce, w, put_ids(w, e->plan.sample_type, data));
}

/* Not inlined: perf_sample_data is large and would be on the stack of every writer. */
noinline void pe_trailer_emit(struct perf_output_handle *handle, const struct pe_event *e)
{
	struct perf_sample_data data __uninitialized;

	if (!e->plan.id_size)
		return;
	pe_id_sample_collect(&data, (struct pe_event *)e);
	pe_id_sample_emit(handle, &data, e);
}

noinline void pe_trailer_put(u64 *at, const struct pe_event *e)
{
	u64 type = e->plan.sample_type;

	if (type & PERF_SAMPLE_TID) {
		pe_current_ids(e, (u32 *)at, (u32 *)at + 1);
		at++;
	}
	if (type & PERF_SAMPLE_TIME)
		*at++ = pe_event_clock(e);
	if (type & PERF_SAMPLE_ID)
		*at++ = pe_primary_id(e);
	if (type & PERF_SAMPLE_STREAM_ID)
		*at++ = e->id;
	if (type & PERF_SAMPLE_CPU) {
		((u32 *)at)[0] = raw_smp_processor_id();
		((u32 *)at)[1] = 0;
		at++;
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		*at++ = pe_primary_id(e);
}

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

	pe_output_put(handle, rec);
	pe_trailer_emit(handle, e);
}

static noinline int refused(struct perf_output_handle *handle, struct pe_event *e,
			    struct perf_buffer *rb, enum pe_reserved how)
{
	if (how == PE_FULL || rb->nr_pages)
		atomic64_inc(&e->lost_samples);
	if (how == PE_FULL && handle->wakeup)
		pe_tell_reader(e, rb);
	return -ENOSPC;
}

/* Preemption is off, and stays off unless this fails. */
static __always_inline int begin_in(struct perf_output_handle *handle, struct pe_event *e,
				    struct perf_buffer *rb, unsigned int size, bool backward)
{
	enum pe_reserved how;

	how = pe_reserve(handle, rb, size, sizeof(struct lost_record) + e->plan.id_size, backward);
	if (unlikely(how > PE_RESERVED_LOST)) {
		int err = refused(handle, e, rb, how);

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

	e = e->sink;
	guard(preempt)();
	rb = rcu_dereference_sched(e->rb);
	if (rb && rb->nr_pages) {
		pe_lose(rb);
		atomic64_inc(&e->lost_samples);
	}
	return -ENOSPC;
}

static __always_inline int begin(struct perf_output_handle *handle, struct perf_event *event,
				 unsigned int size, bool backward)
{
	struct pe_event *e = pe(event)->sink;
	struct perf_buffer *rb;

	if (unlikely(!size))
		return pe_record_too_long(e);
	preempt_disable();
	rb = rcu_dereference_sched(e->rb);
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
	return begin_in(handle, e->sink, rb, size, is_write_backward(&e->pub));
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
	pe_id_sample_emit(handle, sample, pe(event));
}

/* ------------------------------------------------------- PERF_SAMPLE_READ */

/*
 * The value shown in a sample.  With inherit every task tells its own count, because nobody could
 * add up children that run elsewhere now.
 */
static u64 count_for_sample(struct pe_event *e, u64 now, bool own)
{
	return pe_count_now(e, now) + (own ? 0 : atomic64_read(&e->gone_count));
}

static void read_one(struct perf_output_handle *handle, struct pe_event *e, u64 now,
		     struct pe_times times)
{
	u64 words[5], *end;

	times.enabled += atomic64_read(&e->gone_enabled);
	times.running += atomic64_read(&e->gone_running);
	end = pe_read_put_one(words, e->attr.read_format, e,
			      count_for_sample(e, now, e->attr.inherit), &times);
	pe_output_copy(handle, words, (void *)end - (void *)words);
}

/* The other members' counters run on; @e itself was just read by whoever made the sample. */
static void refresh(struct pe_event *m, bool scheduled)
{
	if (scheduled && m->state == PERF_EVENT_STATE_ACTIVE)
		m->pmu->read(&m->pub);
}

static void read_group(struct perf_output_handle *handle, struct pe_event *e, u64 now,
		       struct pe_times times, u32 len)
{
	struct pe_event *leader = pe_leader(e), *m;
	u64 format = e->attr.read_format, words[3];
	bool scheduled = !handle->skip_read && !pe_group_passive(leader);
	unsigned int n, nr;

	n = pe_read_head_words(format);
	nr = (len / sizeof(u64) - n) / pe_read_member_words(format);
	pe_read_put_head(words, format, nr, &times);
	pe_output_copy(handle, words, n * sizeof(u64));
	len -= n * sizeof(u64);

	n = pe_read_member_words(format);
	pe_for_each_member(m, leader) {
		if (!nr--)
			return;		/* joined since the room was reserved */
		/* PERF_RECORD_READ: left since we came to the one before it. */
		if (unlikely(READ_ONCE(m->group_leader) != &leader->pub))
			break;
		if (m != e)
			refresh(m, scheduled);
		pe_read_put_member(words, format, m,
				   count_for_sample(m, now, e->attr.inherit));
		pe_output_copy(handle, words, n * sizeof(u64));
		len -= n * sizeof(u64);
	}
	for (words[0] = 0; len; len -= sizeof(u64))	/* some left since then */
		pe_output_put(handle, words[0]);
}

void pe_read_emit(struct perf_output_handle *handle, struct pe_event *e, u32 len)
{
	u64 now = pe_now();

	/* No member is scheduled in or out meanwhile, joins or leaves: see pe_samples_group(). */
	guard(irqsave)();
	if (e->attr.read_format & PERF_FORMAT_GROUP)
		read_group(handle, e, now, pe_times_now(e, now), len);
	else
		read_one(handle, e, now, pe_times_now(e, now));
}

/* ----------------------------------------------------------------- samples */

/*
 * PERF_RECORD_SAMPLE, first part: u64 identifier; u64 ip; u32 pid, tid; u64 time; u64 addr; u64 id;
 * u64 stream_id; u32 cpu, res; u64 period, each if asked for.
 */
#define FIRST_FIELDS	(PE_SAMPLE_ID_FIELDS | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR |		\
			 PERF_SAMPLE_PERIOD)

static void emit_first(struct perf_output_handle *handle, const struct perf_event_header *header,
		       const struct perf_sample_data *data, u64 type)
{
	u64 bounce[10] __uninitialized;
	u64 *start = pe_words_open(handle, bounce, ARRAY_SIZE(bounce)), *w = start;

	memcpy(w++, header, sizeof(*header));
	if (type & PERF_SAMPLE_IDENTIFIER)
		*w++ = data->id;
	if (type & PERF_SAMPLE_IP)
		*w++ = data->ip;
	if (type & PERF_SAMPLE_TID)
		memcpy(w++, &data->tid_entry, sizeof(*w));
	if (type & PERF_SAMPLE_TIME)
		*w++ = data->time;
	if (type & PERF_SAMPLE_ADDR)
		*w++ = data->addr;
	w = put_ids(w, type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU), data);
	if (type & PERF_SAMPLE_PERIOD)
		*w++ = data->period;
	pe_words_close(handle, bounce, start, w);
}

static_assert(sizeof(struct perf_event_header) == sizeof(u64));

/* u32 size; char data[size], where size includes the padding to 8 bytes. */
static void emit_raw(struct perf_output_handle *handle, const struct perf_raw_record *raw)
{
	static const u32 nothing[2] = { sizeof(u32), 0 };
	const struct perf_raw_frag *frag;

	if (!raw) {
		pe_output_put(handle, nothing);
		return;
	}
	pe_output_put(handle, raw->size);
	for (frag = &raw->frag; ; frag = frag->next) {
		if (frag->copy)
			pe_output_custom(handle, frag->copy, frag->data, frag->size);
		else
			pe_output_copy(handle, frag->data, frag->size);
		if (perf_raw_frag_last(frag))
			break;
	}
	pe_output_skip(handle, frag->pad);
}

/*
 * u64 nr; [u64 hw_idx;] struct perf_branch_entry lbr[nr]; [u64 counters[nr];]
 *
 * The stack is the CPU's: a program that takes a snapshot may have filled it anew since room was
 * made, with another length.
 */
static void emit_branches(struct perf_output_handle *handle, const struct perf_sample_data *data,
			  const struct pe_event *e)
{
	const struct perf_branch_stack *stack = data->br_stack;
	u64 nr = stack ? data->br_stack_nr : 0;

	pe_output_put(handle, nr);
	if (!stack)
		return;
	if (branch_sample_hw_index(&e->pub))
		pe_output_put(handle, stack->hw_idx);
	pe_output_copy(handle, stack->entries, nr * sizeof(stack->entries[0]));
	if (data->br_stack_cntr)
		pe_output_copy(handle, data->br_stack_cntr, nr * sizeof(u64));
}

/* u64 abi; unless that is 0: u64 regs[weight(mask)] */
static void emit_regs(struct perf_output_handle *handle, const struct perf_regs *regs, u64 mask)
{
	u64 value = regs->abi;

	pe_output_put(handle, value);
	if (!regs->abi)
		return;
	for (; mask; mask &= mask - 1) {
		value = perf_reg_value(regs->regs, __ffs64(mask));
		pe_output_put(handle, value);
	}
}

/* u64 size; unless that is 0: char data[size]; u64 dyn_size */
static void emit_stack(struct perf_output_handle *handle, const struct perf_sample_data *data)
{
	u64 size = data->stack_user_size, done;
	void __user *sp;

	pe_output_put(handle, size);
	if (!size)
		return;
	sp = (void __user *)(uintptr_t)pe_user_stack_pointer(data->regs_user.regs);
	done = size - pe_output_copy_user(handle, sp, size);
	pe_output_put(handle, done);
}

/* Nearly the last part: u64 phys_addr; u64 cgroup; u64 data_page_size; u64 code_page_size. */
static void emit_last(struct perf_output_handle *handle, const struct perf_sample_data *data,
		      u64 type)
{
	u64 bounce[4] __uninitialized;
	u64 *start = pe_words_open(handle, bounce, ARRAY_SIZE(bounce)), *w = start;

	if (type & PERF_SAMPLE_PHYS_ADDR)
		*w++ = data->phys_addr;
	if (type & PERF_SAMPLE_CGROUP)
		*w++ = data->cgroup;
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		*w++ = data->data_page_size;
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		*w++ = data->code_page_size;
	pe_words_close(handle, bounce, start, w);
}

/* u64 size; char data[size] */
static void emit_aux(struct perf_output_handle *handle, const struct perf_sample_data *data,
		     const struct pe_event *e)
{
	pe_output_put(handle, data->aux_size);
	if (data->aux_size)
		pe_aux_sample_emit(handle, e, data->aux_size);
}

/* The parts that are not for everybody, in the order of the ABI. */
static void emit_rest(struct perf_output_handle *handle, const struct perf_sample_data *data,
		      struct pe_event *e, u64 type)
{
	if (type & PERF_SAMPLE_CALLCHAIN) {	/* u64 nr; u64 ips[nr] */
		pe_output_put(handle, data->callchain_nr);
		pe_output_copy(handle, data->callchain->ip, data->callchain_nr * sizeof(u64));
	}
	if (type & PERF_SAMPLE_RAW)
		emit_raw(handle, data->raw);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		emit_branches(handle, data, e);
	if (type & PERF_SAMPLE_REGS_USER)
		emit_regs(handle, &data->regs_user, e->attr.sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		emit_stack(handle, data);
	if (type & PE_SAMPLE_WEIGHTS)
		pe_output_put(handle, data->weight.full);
	if (type & PERF_SAMPLE_DATA_SRC)
		pe_output_put(handle, data->data_src.val);
	if (type & PERF_SAMPLE_TRANSACTION)
		pe_output_put(handle, data->txn);
	if (type & PERF_SAMPLE_REGS_INTR)
		emit_regs(handle, &data->regs_intr, e->attr.sample_regs_intr);
	emit_last(handle, data, type);
	if (type & PERF_SAMPLE_AUX)
		emit_aux(handle, data, e);
}

/* Contract: see <linux/perf_event.h>. */
void perf_output_sample(struct perf_output_handle *handle, struct perf_event_header *header,
			struct perf_sample_data *data, struct perf_event *event)
{
	struct pe_event *e = pe(event);
	u64 type = data->type;

	emit_first(handle, header, data, type);
	if (type & PERF_SAMPLE_READ) {
		/* The driver has read the whole group when it took the sample. */
		handle->skip_read = !!(data->sample_flags & PERF_SAMPLE_READ);
		pe_read_emit(handle, e, header->size - sizeof(*header) - e->plan.header_size -
			     data->dyn_size);
	}
	if (type & ~(FIRST_FIELDS | PERF_SAMPLE_READ))
		emit_rest(handle, data, e, type);
	if (e->plan.wakeup_every)
		pe_count_record(handle->rb, e->plan.wakeup_every);
}
