// SPDX-License-Identifier: GPL-2.0
/*
 * The small records: a header, a body of known size, the sample_id trailer.
 *
 * pe_record_emit() is for all that have such a body; the records about an event itself
 * (throttling, lost samples, its count) are made here.  Records about tasks and mappings are
 * made by the sideband files.
 *
 * Context: any, NMI included, on the CPU or in the task whose events share the buffer, as for all
 * output; see emit.c.  No locks.
 */
#include "output.h"

static struct perf_event_header header_of(const struct pe_event *e, u32 type, u16 misc, u16 len)
{
	WARN_ON_ONCE(len % sizeof(u64));
	return (struct perf_event_header) {
		.type	= type,
		.misc	= misc,
		.size	= sizeof(struct perf_event_header) + len + e->plan.id_size,
	};
}

/* The whole record.  Return: its end. */
static __always_inline void *put_record(void *at, const struct pe_event *e,
					struct perf_event_header header,
					const struct kvec *piece, unsigned int nr)
{
	unsigned int i;

	*(struct perf_event_header *)at = header;
	at += sizeof(header);
	for (i = 0; i < nr; i++) {
		memcpy(at, piece[i].iov_base, piece[i].iov_len);
		at += piece[i].iov_len;
	}
	return pe_put_trailer(at, e);
}

/* The buffer has its reasons; it is @rb, which the caller keeps, or that of the event. */
static noinline int write_slow(struct perf_buffer *rb, struct pe_event *e,
			       struct perf_event_header header, const struct kvec *piece,
			       unsigned int nr)
{
	struct perf_output_handle handle;
	int err;

	err = rb ? pe_output_begin_in(&handle, e, rb, header.size) :
		   perf_output_begin(&handle, NULL, &e->pub, header.size);
	if (err)
		return err;
	pe_output_wrote(&handle, put_record(handle.addr, e, header, piece, nr));
	perf_output_end(&handle);
	return 0;
}

static __always_inline int write_record(struct pe_event *e, struct perf_event_header header,
					const struct kvec *piece, unsigned int nr)
{
	struct pe_event *sink = e->sink;
	enum pe_reserved how;
	struct perf_buffer *rb;
	void *at;

	if (unlikely(is_write_backward(&e->pub)))
		return write_slow(NULL, e, header, piece, nr);
	guard(preempt_notrace)();
	rb = rcu_dereference_sched(sink->rb);
	if (!rb)
		return -ENOSPC;
	how = pe_reserve(rb, header.size, /* backward */ false, &at);
	if (unlikely(how != PE_RESERVED)) {
		if (unlikely(how == PE_DUE))
			pe_tell_reader(sink, rb);
		return write_slow(NULL, e, header, piece, nr);
	}
	if (unlikely(pe_publish(rb, put_record(at, e, header, piece, nr))))
		pe_tell_reader(sink, rb);
	return 0;
}

/**
 * pe_record_emit() - write a record with a fixed body
 * @e: the event that gets it
 * @type: PERF_RECORD_*
 * @misc: for the header
 * @body: may be NULL if @len is 0
 * @len: bytes of @body, a multiple of 8
 *
 * Return: 0, or -ENOSPC if there is no buffer, or no room in it (which is accounted).
 */
int pe_record_emit(struct pe_event *e, u32 type, u16 misc, const void *body, u16 len)
{
	struct kvec piece = { .iov_base = (void *)body, .iov_len = len };

	return write_record(e, header_of(e, type, misc, len), &piece, 1);
}

/**
 * pe_record_write() - write a record that consists of several pieces
 * @e: the event that gets it
 * @type: PERF_RECORD_*
 * @misc: PERF_RECORD_MISC_*
 * @piece: what follows the header; the sum of the lengths is a multiple of eight
 * @nr: length of @piece
 *
 * Return: as pe_record_emit(); a record that is longer than a record can be is lost as well.
 */
int pe_record_write(struct pe_event *e, u32 type, u16 misc, const struct kvec *piece,
		    unsigned int nr)
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		len += piece[i].iov_len;
	if (sizeof(struct perf_event_header) + len + e->plan.id_size > U16_MAX)
		return pe_record_too_long(e);
	return write_record(e, header_of(e, type, misc, len), piece, nr);
}

/**
 * pe_record_emit_to() - write a record to a certain buffer
 * @rb: the buffer, which the caller keeps from going
 * @e: whose record it is
 * @type: PERF_RECORD_*
 * @misc: PERF_RECORD_MISC_*
 * @body: what follows the header
 * @len: its size
 *
 * Otherwise as pe_record_emit().
 */
int pe_record_emit_to(struct perf_buffer *rb, struct pe_event *e, u32 type, u16 misc,
		      const void *body, u16 len)
{
	struct kvec piece = { .iov_base = (void *)body, .iov_len = len };

	return write_slow(rb, e, header_of(e, type, misc, len), &piece, 1);
}

/* PERF_RECORD_THROTTLE and PERF_RECORD_UNTHROTTLE, after the header */
struct throttle_body {
	u64	time;
	u64	id;
	u64	stream_id;
};

static_assert(sizeof(struct throttle_body) == 24);
static_assert(offsetof(struct throttle_body, id) == 8);
static_assert(offsetof(struct throttle_body, stream_id) == 16);

static void throttle_record(struct pe_event *e, u32 type)
{
	struct throttle_body body = {
		.time		= pe_event_clock(e),
		.id		= pe_primary_id(e),
		.stream_id	= e->id,
	};

	pe_record_emit(e, type, 0, &body, sizeof(body));
}

/**
 * pe_record_throttle() - an event was stopped because it is too frequent
 * @e: the event
 */
void pe_record_throttle(struct pe_event *e)
{
	throttle_record(e, PERF_RECORD_THROTTLE);
}

/**
 * pe_record_unthrottle() - it goes on
 * @e: the event
 */
void pe_record_unthrottle(struct pe_event *e)
{
	throttle_record(e, PERF_RECORD_UNTHROTTLE);
}

/* PERF_RECORD_LOST_SAMPLES, after the header */
struct lost_samples_body {
	u64	lost;
};

static_assert(sizeof(struct lost_samples_body) == 8);

/**
 * perf_log_lost_samples() - the hardware dropped samples before we saw them
 * @event: their event
 * @lost: how many
 */
void perf_log_lost_samples(struct perf_event *event, u64 lost)
{
	struct lost_samples_body body = { .lost = lost };

	pe_record_emit(pe(event), PERF_RECORD_LOST_SAMPLES, 0, &body, sizeof(body));
}

/* PERF_RECORD_READ; the values as in a read() follow */
struct read_record {
	struct perf_event_header	header;
	u32				pid;
	u32				tid;
};

static_assert(sizeof(struct read_record) == 16);
static_assert(offsetof(struct read_record, pid) == 8);
static_assert(offsetof(struct read_record, tid) == 12);

/* Records are written with irqs off: so many at a time, and not many more bytes. */
#define READ_STEPS	256
#define READ_BYTES	SZ_64K

/**
 * struct read_news - the values that the copies of a task had when it exited
 * @task: the task
 * @told_on: the CPU it exits on
 * @cpu: whose buffers are written now
 * @at: the next copy to look at, or NULL
 */
struct read_news {
	struct task_struct	*task;
	int			told_on;
	int			cpu;
	struct pe_event		*at;
};

/**
 * pe_tells_read() - does the exit of an event's task make a PERF_RECORD_READ?
 * @e: the event
 *
 * Any context.
 */
bool pe_tells_read(const struct pe_event *e)
{
	struct perf_buffer *rb;

	if (!e->parent || !e->attr.inherit_stat)
		return false;
	guard(rcu)();
	rb = rcu_dereference(e->sink->rb);
	return rb && rb->nr_pages;
}

static struct pe_event *next_copy(const struct pe_event *e)
{
	struct llist_node *next = e->put_later.next;

	return next ? llist_entry(next, struct pe_event, put_later) : NULL;
}

/* Under RCU: without its context's mutex the event may get another leader.  Return: bytes. */
static unsigned int write_read(const struct read_news *news, struct pe_event *e,
			       struct perf_buffer *rb)
{
	u16 values = pe_read_size(e);
	struct read_record rec = {
		.header	= {
			.type	= PERF_RECORD_READ,
			.size	= sizeof(rec) + values + e->plan.id_size,
		},
		.pid	= pe_event_pid(e, news->task),
		.tid	= pe_event_tid(e, news->task),
	};
	struct perf_output_handle handle;
	struct perf_sample_data trailer;
	void *at;

	if (pe_output_begin_in(&handle, e, rb, rec.header.size))
		return 0;
	pe_id_sample_collect(&trailer, e);
	pe_ids_of(e, news->task, &trailer.tid_entry.pid, &trailer.tid_entry.tid);
	trailer.cpu_entry.cpu = news->told_on;
	memcpy(handle.addr, &rec, sizeof(rec));
	at = pe_put_read(handle.addr + sizeof(rec), e, values, /* fresh */ false);
	pe_output_wrote(&handle, pe_put_collected_trailer(at, e, &trailer));
	perf_output_end(&handle);
	return rec.header.size;
}

/* On the CPU whose buffers these are, irqs off, or anywhere for copies without one. */
static void pe_record_write_reads(void *info)
{
	struct read_news *news = info;
	unsigned int left = READ_STEPS, bytes = 0;
	struct perf_buffer *rb;

	guard(rcu)();
	for (; news->at && left-- && bytes < READ_BYTES; news->at = next_copy(news->at)) {
		if (news->at->cpu != news->cpu)
			continue;
		rb = rcu_dereference(news->at->sink->rb);
		if (rb)
			bytes += write_read(news, news->at, rb);
	}
}

/*
 * The CPU is offline, so its buffer has no writer; but there may be other tasks that exit, and it
 * may come back now.  From here on they take turns.
 */
static void write_crowded(struct read_news *news)
{
	struct pe_event *e = news->at;
	struct perf_buffer *rb = pe_buffer_get(e);

	if (rb) {
		pe_buffer_crowd(rb);
		scoped_guard(rcu)
			write_read(news, e, rb);
		pe_buffer_put(rb);
	}
	news->at = next_copy(e);
}

/* From news->at on: the next copy of news->cpu.  Return: there is one. */
static bool next_to_tell(struct read_news *news)
{
	while (news->at && news->at->cpu != news->cpu)
		news->at = next_copy(news->at);
	return news->at;
}

/* The lowest CPU above @cpu that a copy has, or nr_cpu_ids. */
static int next_cpu_to_tell(struct llist_node *copies, int cpu)
{
	int found = nr_cpu_ids;
	struct pe_event *e;

	llist_for_each_entry(e, copies, put_later)
		if (e->cpu > cpu && e->cpu < found)
			found = e->cpu;
	return found;
}

/**
 * pe_record_reads() - tell the values that inherited events had when their task exited
 * @copies: those with pe_tells_read(), by &struct pe_event.put_later, each with a reference
 * @task: current, whose context is out for good
 *
 * Task context.  The buffer of a CPU is written on that CPU, because it has one writer at a time:
 * it is interrupted once for READ_STEPS copies, or READ_BYTES.
 */
void pe_record_reads(struct llist_node *copies, struct task_struct *task)
{
	struct read_news news = { .task = task, .cpu = -2, .told_on = raw_smp_processor_id() };

	while ((news.cpu = next_cpu_to_tell(copies, news.cpu)) < (int)nr_cpu_ids) {
		news.at = llist_entry(copies, struct pe_event, put_later);
		while (next_to_tell(&news)) {
			if (news.cpu < 0)
				pe_record_write_reads(&news);
			else if (smp_call_function_single(news.cpu, pe_record_write_reads, &news,
							  1))
				write_crowded(&news);
		}
	}
}
