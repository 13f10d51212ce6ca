// SPDX-License-Identifier: GPL-2.0
/*
 * Samples: the order of their fields, and the overflow handlers perf_event_output*().
 *
 * The functions put_*() and pe_put_*() take where the next word goes and return where the one after
 * their last goes.  Each layout stands once.  Most samples consist of words that the core knows
 * anyway, perhaps with a call chain or raw data behind them; plan.direct tells at open whether an
 * event is of that kind.  Then nothing is collected: each word goes from where it is known to its
 * place in the record, after the room was reserved, so a sample that is lost costs little.  Only
 * the call chain must be there before, for its length.  All else is collected by sample.c first;
 * then the same functions take the words from there.  @collected says which, and is constant.
 *
 * Context: as sample.c.  Preemption is off from the look at the buffer to the end of the record.
 */
#include "output.h"

/* ------------------------------------------------------------- fixed words */

/* u32 pid, tid; u64 time */
static __always_inline u64 *put_task_and_time(u64 *w, const struct pe_event *e, u64 type,
					      const struct perf_sample_data *data, bool collected)
{
	if (type & PERF_SAMPLE_TID) {
		if (collected)
			memcpy(w, &data->tid_entry, sizeof(*w));
		else
			pe_current_ids(e, (u32 *)w, (u32 *)w + 1);
		w++;
	}
	if (type & PERF_SAMPLE_TIME)
		*w++ = collected ? data->time : e->clock();
	return w;
}

/* u64 id; u64 stream_id; u32 cpu, res */
static __always_inline u64 *put_ids_and_cpu(u64 *w, const struct pe_event *e, u64 type,
					    const struct perf_sample_data *data, bool collected)
{
	if (type & PERF_SAMPLE_ID)
		*w++ = collected ? data->id : e->sink->id;
	if (type & PERF_SAMPLE_STREAM_ID)
		*w++ = collected ? data->stream_id : e->id;
	if (type & PERF_SAMPLE_CPU) {
		((u32 *)w)[0] = collected ? data->cpu_entry.cpu : raw_smp_processor_id();
		((u32 *)w)[1] = 0;
		w++;
	}
	return w;
}

static_assert(sizeof_field(struct perf_sample_data, tid_entry) == sizeof(u64));
static_assert(sizeof(struct perf_event_header) == sizeof(u64));

/* The trailer: { u32 pid, tid; u64 time; u64 id; u64 stream_id; u32 cpu, res; u64 id; } */
static __always_inline u64 *put_trailer(u64 *w, const struct pe_event *e,
					const struct perf_sample_data *data, bool collected)
{
	u64 type = e->plan.sample_type;

	w = put_task_and_time(w, e, type, data, collected);
	w = put_ids_and_cpu(w, e, type, data, collected);
	if (type & PERF_SAMPLE_IDENTIFIER)
		*w++ = collected ? data->id : e->sink->id;
	return w;
}

/**
 * pe_put_ids() - the sample_id trailer of a record, with values of this moment
 * @w: where it goes
 * @e: the event that gets the record, with sample_id_all
 *
 * Return: its end.
 */
void *pe_put_ids(u64 *w, const struct pe_event *e)
{
	return put_trailer(w, e, NULL, false);
}

/* The same with the values of pe_id_sample_collect(). */
void *pe_put_collected_ids(u64 *w, const struct pe_event *e, const struct perf_sample_data *data)
{
	return put_trailer(w, e, data, true);
}

#define BEHIND_TIME	(PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |		\
			 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define BEHIND_IP	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | BEHIND_TIME)

/*
 * { u64 identifier; u64 ip; u32 pid, tid; u64 time; u64 addr; u64 id; u64 stream_id; u32 cpu, res;
 * u64 period; }, each if asked for.
 */
static __always_inline u64 *put_words(u64 *w, const struct pe_event *e, u64 type,
				      const struct perf_sample_data *data, struct pt_regs *regs,
				      bool collected)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		*w++ = collected ? data->id : e->sink->id;
	if (type & PERF_SAMPLE_IP)
		*w++ = collected ? data->ip : pe_sample_ip(e, regs);
	if (!(type & BEHIND_IP))
		return w;
	w = put_task_and_time(w, e, type, data, collected);
	if (!(type & BEHIND_TIME))
		return w;
	if (type & PERF_SAMPLE_ADDR)
		*w++ = collected || data->sample_flags & PERF_SAMPLE_ADDR ? data->addr : 0;
	w = put_ids_and_cpu(w, e, type, data, collected);
	if (type & PERF_SAMPLE_PERIOD)
		*w++ = data->period;
	return w;
}

/* ------------------------------------------------------------------- parts */

static u64 *put_group(u64 *w, struct pe_event *e, u64 now, u64 *end, bool fresh)
{
	struct pe_event *leader = pe_leader(e), *m, *last = NULL;
	bool scheduled = !pe_group_passive(leader);
	struct pe_times times = pe_times_now(e, now);
	u64 format = e->attr.read_format;
	unsigned int nr = (end - w - pe_read_head_words(format)) / pe_read_member_words(format);

	w = pe_read_put_head(w, format, nr, &times);
	pe_for_each_member(m, leader) {
		if (!nr--)
			return w;	/* joined since the room was reserved */
		/*
		 * PERF_RECORD_READ: left since we came to the one before it; or left while we were
		 * at it, and is the next of itself now.
		 */
		if (unlikely(READ_ONCE(m->group_leader) != &leader->pub || m == last))
			break;
		last = m;
		/* The event itself was just read for the sample. */
		if (m != e)
			pe_refresh_member(m, e, scheduled, fresh);
		w = pe_read_put_member(w, format, m,
				       pe_count_for_sample(m, now, e->attr.inherit));
	}
	memset(w, 0, (end - w) * sizeof(*w));	/* some left since then */
	return end;
}

/**
 * pe_put_read() - PERF_SAMPLE_READ, and what PERF_RECORD_READ has of it
 * @w: where it goes
 * @e: the event
 * @len: exactly so many bytes, which was pe_read_size() when the room was reserved
 * @fresh: what the event's PMU counts of the group need not be read from the hardware
 *
 * Return: its end.
 */
void *pe_put_read(u64 *w, struct pe_event *e, u32 len, bool fresh)
{
	u64 format = e->attr.read_format, now = pe_now();
	struct pe_times times;

	/* No member is scheduled in or out meanwhile, joins or leaves: see pe_samples_group(). */
	guard(irqsave)();
	if (format & PERF_FORMAT_GROUP)
		return put_group(w, e, now, w + len / sizeof(*w), fresh);
	times = pe_times_now(e, now);
	times.enabled += atomic64_read(&e->gone_enabled);
	times.running += atomic64_read(&e->gone_running);
	return pe_read_put_one(w, format, e, pe_count_for_sample(e, now, e->attr.inherit), &times);
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

/* { u32 size; char data[size]; }, where size includes the padding to 8 bytes. */
static __always_inline void *put_raw(void *at, const struct perf_raw_record *raw)
{
	const struct perf_raw_frag *frag;

	if (unlikely(!raw)) {
		((u32 *)at)[0] = sizeof(u32);
		((u32 *)at)[1] = 0;
		return at + sizeof(u64);
	}
	*(u32 *)at = raw->size;
	at += sizeof(u32);
	for (frag = &raw->frag; ; frag = frag->next) {
		if (unlikely(frag->copy))
			frag->copy(at, frag->data, 0, frag->size);
		else
			memcpy(at, frag->data, frag->size);
		at += frag->size;
		if (likely(perf_raw_frag_last(frag)))
			return at + frag->pad;
	}
}

/*
 * { u64 nr; u64 hw_idx; struct perf_branch_entry lbr[nr]; u64 counters[nr]; }, with hw_idx and
 * counters if they are there.
 *
 * The stack is the CPU's: a program that takes a snapshot may have filled it anew since room was
 * made, with another length.
 */
static u64 *put_branches(u64 *w, const struct perf_sample_data *data, const struct pe_event *e)
{
	const struct perf_branch_stack *stack = data->br_stack;
	u64 nr = stack ? data->br_stack_nr : 0;

	*w++ = nr;
	if (!stack)
		return w;
	if (branch_sample_hw_index(&e->pub))
		*w++ = stack->hw_idx;
	memcpy(w, stack->entries, nr * sizeof(stack->entries[0]));
	w = (void *)w + nr * sizeof(stack->entries[0]);
	if (!data->br_stack_cntr)
		return w;
	memcpy(w, data->br_stack_cntr, nr * sizeof(u64));
	return w + nr;
}

/* u64 abi; unless that is 0: u64 regs[weight(mask)] */
static u64 *put_regs(u64 *w, const struct perf_regs *regs, u64 mask)
{
	*w++ = regs->abi;
	if (!regs->abi)
		return w;
	for (; mask; mask &= mask - 1)
		*w++ = perf_reg_value(regs->regs, __ffs64(mask));
	return w;
}

#ifdef arch_perf_out_copy_user
#define copy_user_nmi	arch_perf_out_copy_user
#else
static unsigned long copy_user_nmi(void *dst, const void __user *src, unsigned long n)
{
	unsigned long left;

	pagefault_disable();
	left = __copy_from_user_inatomic(dst, src, n);
	pagefault_enable();
	return left;
}
#endif

/* u64 size; unless that is 0: char data[size]; u64 dyn_size: as far as it could be read */
static u64 *put_stack(u64 *w, const struct perf_sample_data *data)
{
	u64 size = data->stack_user_size;
	void __user *sp;

	*w++ = size;
	if (!size)
		return w;
	sp = (void __user *)(uintptr_t)pe_user_stack_pointer(data->regs_user.regs);
	size -= copy_user_nmi(w, sp, size);
	w += data->stack_user_size / sizeof(*w);
	*w++ = size;
	return w;
}

/* The parts that are not for everybody; of PERF_SAMPLE_AUX the size, which is the last word. */
static __always_inline u64 *put_parts(u64 *w, struct pe_event *e, u64 type,
				      const struct perf_sample_data *data, u32 read_len)
{
	if (type & PERF_SAMPLE_READ) {
		/* The driver may have read the whole group when it took the sample. */
		bool fresh = data->sample_flags & PERF_SAMPLE_READ;
		const struct pe_masks *masks = pe_masks(e);

		w = unlikely(masks) ? pe_put_masked(w, e, *masks, read_len, fresh) :
				      pe_put_read(w, e, read_len, fresh);
	}
	if (type & PERF_SAMPLE_CALLCHAIN)
		w = put_chain(w, data);
	if (type & PERF_SAMPLE_RAW)
		w = put_raw(w, data->raw);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		w = put_branches(w, data, e);
	if (type & PERF_SAMPLE_REGS_USER)
		w = put_regs(w, &data->regs_user, e->attr.sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		w = put_stack(w, data);
	if (type & PE_SAMPLE_WEIGHTS)
		*w++ = data->weight.full;
	if (type & PERF_SAMPLE_DATA_SRC)
		*w++ = data->data_src.val;
	if (type & PERF_SAMPLE_TRANSACTION)
		*w++ = data->txn;
	if (type & PERF_SAMPLE_REGS_INTR)
		w = put_regs(w, &data->regs_intr, e->attr.sample_regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		*w++ = data->phys_addr;
	if (type & PERF_SAMPLE_CGROUP)
		*w++ = data->cgroup;
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		*w++ = data->data_page_size;
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		*w++ = data->code_page_size;
	if (type & PERF_SAMPLE_AUX)
		*w++ = data->aux_size;
	return w;
}

/* Contract: see <linux/perf_event.h>. */
void perf_output_sample(struct perf_output_handle *handle, struct perf_event_header *header,
			struct perf_sample_data *data, struct perf_event *event)
{
	struct pe_event *e = pe(event);
	u64 type = data->type, *w = handle->addr;

	*(struct perf_event_header *)w++ = *header;
	w = put_words(w, e, type, data, NULL, true);
	w = put_parts(w, e, type, data,
		      header->size - sizeof(*header) - e->plan.header_size - data->dyn_size);
	pe_output_wrote(handle, w);
	if (type & PERF_SAMPLE_AUX && data->aux_size)
		pe_aux_sample_emit(handle, e, data->aux_size);
	if (e->plan.wakeup_every)
		pe_count_record(handle->rb, e->plan.wakeup_every);
}

/* ----------------------------------------------------------- the handlers */

#define TAILS	(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

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
 * A sample whose length is known, but something is unusual.  Room first: there is nothing to
 * collect for a sample that is lost.
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
	header.size = size;
	perf_output_sample(&handle, &header, data, event);
	perf_output_end(&handle);
	return 0;
}

/*
 * The buffer is full.  What pe_reserve_slow() would do, less what it does as a writer: this one
 * never counted itself in rb->nest, so nobody relies on it to publish or to wake.
 */
static int lose(struct pe_event *e, struct perf_buffer *rb)
{
	local_inc(&rb->lost);
	pe_count_lost(e);
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

static __always_inline int output(struct perf_event *event, struct perf_sample_data *data,
				  struct pt_regs *regs, bool backward)
{
	struct pe_event *e = pe(event);
	u64 type = e->plan.sample_type, tails = type & TAILS, given = data->sample_flags;
	struct perf_buffer *rb;
	enum pe_reserved how;
	unsigned long size;
	void *at;
	u64 *w;

	/* More than this takes from a source; the period, which all bring, with plan.direct 0. */
	if (unlikely(given & ~e->plan.direct) || pe_hides_kernel(e, regs))
		return the_long_way(&e->pub, data, regs, backward);

	guard(preempt_notrace)();
	rb = rcu_dereference_sched(e->sink->rb);
	if (unlikely(!rb))
		return -ENOSPC;
	size = sizeof(struct perf_event_header) + e->plan.header_size;
	if (tails) {
		if (tails & ~given)
			collect_tails(data, e, tails & ~given, regs);
		size += data->dyn_size;
		if (unlikely(size > U16_MAX))
			return pe_record_too_long(e);
	}
	how = pe_reserve(rb, size, backward, &at);
	if (unlikely(how != PE_RESERVED)) {
		if (how == PE_FULL)
			return lose(e, rb);
		if (unlikely(how == PE_DUE))
			pe_tell_reader(e->sink, rb);
		return with_handle(&e->pub, data, regs, size, backward);
	}

	w = at;
	*(struct perf_event_header *)w++ = (struct perf_event_header) {
		.type	= PERF_RECORD_SAMPLE,
		.misc	= pe_sample_misc(e, regs),
		.size	= size,
	};
	w = put_words(w, e, type, data, regs, false);
	w = put_parts(w, e, tails, data, 0);
	if (unlikely(e->plan.wakeup_every))
		pe_count_record(rb, e->plan.wakeup_every);
	if (unlikely(pe_publish(rb, w)))
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
