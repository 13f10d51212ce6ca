/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Performance events: samples, and the records they become.
 *
 * For code that has something to write: a driver that fills in a sample, the unwinder of an
 * architecture, tracing with its raw data, a BPF program with its own.  It holds the parts of a
 * sample, how each of them is attached, call chains, and how a record gets into a ring buffer.
 */
#ifndef _LINUX_PERF_SAMPLE_H
#define _LINUX_PERF_SAMPLE_H

#include <linux/bug.h>
#include <linux/cache.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/perf/event.h>
#include <linux/perf/hooks.h>	/* before perf_regs.h */
#include <linux/perf_regs.h>
#include <linux/types.h>

/* ---------------------------------------------------------------- samples */

/**
 * typedef perf_copy_f - copy one fragment of raw data into the ring buffer
 * @dst: buffer memory
 * @src: the fragment's data pointer, with a meaning known to the copier only
 * @off: first byte of the fragment to copy
 * @len: number of bytes
 *
 * Return: number of bytes that could not be copied, zero on success.
 */
typedef unsigned long (*perf_copy_f)(void *dst, const void *src, unsigned long off,
				     unsigned long len);

/**
 * struct perf_raw_frag - a piece of PERF_SAMPLE_RAW data
 * @size: bytes in this piece
 * @copy: how to copy it; %NULL for plain memory
 * @data: where it is
 * @next: the following piece
 * @pad: last piece only: zero bytes to append so that the record stays aligned to 8.  A value
 *	below 8 cannot be a pointer, which is how the end of the list is told.
 */
struct perf_raw_frag {
	union {
		unsigned long		pad;
		struct perf_raw_frag	*next;
	};
	perf_copy_f	copy;
	void		*data;
	u32		size;
} __packed;

/**
 * struct perf_raw_record - PERF_SAMPLE_RAW data of one sample
 * @frag: first piece, embedded
 * @size: bytes of all pieces and of the padding, as written in front of the data
 */
struct perf_raw_record {
	struct perf_raw_frag	frag;
	u32			size;
};

/**
 * struct perf_callchain_entry - addresses of one call chain, innermost first
 * @nr: entries used, context markers (PERF_CONTEXT_*) included
 * @ip: at most sysctl perf_event_max_stack addresses and perf_event_max_contexts_per_stack
 *	markers
 */
struct perf_callchain_entry {
	__u64	nr;
	__u64	ip[];
};

/**
 * struct perf_callchain_entry_ctx - a call chain while an unwinder fills it
 * @entry: the result
 * @max_stack: most addresses to store
 * @nr: addresses stored; unlike @entry->nr without the markers
 * @contexts: markers stored
 * @contexts_maxed: a marker found no room; nothing more may be stored
 */
struct perf_callchain_entry_ctx {
	struct perf_callchain_entry	*entry;
	u32				max_stack, nr;
	short				contexts;
	bool				contexts_maxed;
};

/**
 * struct perf_branch_stack - taken branches before a sample, newest first
 * @nr: branches in @entries, may differ from sample to sample
 * @hw_idx: index of the newest branch in the hardware's own buffer, -1 when unknown, 0 when the
 *	hardware keeps its records in age order; below the depth shown in caps/branches of the PMU
 * @entries: the branches
 */
struct perf_branch_stack {
	__u64				nr;
	__u64				hw_idx;
	struct perf_branch_entry	entries[];
};

/**
 * struct perf_sample_data - the values of one sample on their way to the ring buffer
 *
 * Lives on the stack of the interrupt handler or in a per-CPU variable of the driver.  It is
 * deliberately not zeroed: perf_sample_data_init() sets the first three members, and every other
 * one is valid only when its PERF_SAMPLE_* bit is set in @sample_flags.  A driver that knows a
 * value stores it and sets the bit; perf_prepare_sample() provides what is missing and asked for.
 */
struct perf_sample_data {
	/** @sample_flags: PERF_SAMPLE_* bits of the members that have been filled in */
	u64	sample_flags;
	/** @dyn_size: bytes this sample needs beyond the fixed-size fields of its event */
	u64	dyn_size;
	/** @period: events since the previous sample */
	u64	period;
	/** @type: the sample_type this data was prepared for */
	u64	type;
	/** @ip: instruction pointer, in the guest when that was running */
	u64	ip;
	/** @tid_entry: ids of the current task in the pid namespace of the event */
	struct { u32 pid, tid; } tid_entry;
	/** @time: time stamp on the clock of the event */
	u64	time;
	/** @addr: address the event is about */
	u64	addr;
	/** @id: id of the parent event */
	u64	id;
	/** @stream_id: id of the event itself, distinct in each inherited child */
	u64	stream_id;
	/** @cpu_entry: the CPU; its reserved half is written as zero */
	struct { u32 cpu, reserved; } cpu_entry;

	/** @callchain: valid until interrupts are enabled again */
	struct perf_callchain_entry	*callchain;
	/** @callchain_nr: its entries when room was made for them; it may be filled anew since */
	u64	callchain_nr;
	/** @raw: opaque data of the source */
	struct perf_raw_record		*raw;
	/** @br_stack: branch records */
	struct perf_branch_stack	*br_stack;
	/** @br_stack_nr: how many of them the sample shows; there may be others since */
	u64				br_stack_nr;
	/** @br_stack_cntr: one word of event counters for each branch, or %NULL */
	u64				*br_stack_cntr;

	/** @weight: cost of the access, in units that depend on the hardware */
	union perf_sample_weight	weight;
	/** @data_src: where the data came from */
	union perf_mem_data_src		data_src;
	/** @txn: PERF_TXN_* of an aborted hardware transaction */
	u64	txn;
	/** @phys_addr: physical address for @addr, 0 when there is none */
	u64	phys_addr;
	/** @data_page_size: bytes of the page that maps @addr, 0 when unmapped */
	u64	data_page_size;
	/** @code_page_size: bytes of the page that maps @ip, 0 when unmapped */
	u64	code_page_size;
	/** @cgroup: id of the current task's perf_event cgroup */
	u64	cgroup;

	/** @regs_intr: registers when the event hit */
	struct perf_regs		regs_intr;
	/** @regs_user: registers at the last entry to the kernel */
	struct perf_regs		regs_user;
	/** @stack_user_size: bytes of user stack that will be tried to be copied */
	u64	stack_user_size;
	/** @aux_size: bytes of AUX data in the sample */
	u64	aux_size;
} ____cacheline_aligned;

/**
 * struct perf_output_handle - one reservation in the ring buffer
 *
 * Made by perf_output_begin() or perf_aux_output_begin(), given up by the matching _end().  In
 * between, preemption (data) or the event's PMU (AUX) is held; the handle must not outlive that.
 */
struct perf_output_handle {
	/** @event: on whose behalf; for AUX, the event that owns the mapping */
	struct perf_event	*event;
	/** @rb: the buffer; what keeps it is the RCU section (data) or being its writer (AUX) */
	struct perf_buffer	*rb;
	/** @wakeup: data: value of the wake-up mark; AUX: head at which user space wants notice */
	unsigned long		wakeup;
	/** @size: data: bytes left in this page; AUX: bytes of free space, then of data produced */
	unsigned long		size;
	union {
		/** @addr: data: where the next byte goes */
		void			*addr;
		/** @head: AUX: write position, counted in bytes since the mapping began */
		unsigned long		head;
	};
	union {
		/** @flags: data: bits of this record */
		u64	flags;
		/** @aux_flags: AUX: PERF_AUX_FLAG_* of the record that will announce the data */
		u64	aux_flags;
		struct {
			/** @skip_read: siblings of the group must not be read for this record */
			u64	skip_read : 1;
			/** @has_turn: the buffer is this CPU's until the record is complete */
			u64	has_turn : 1;
		};
	};
	/** @page: data: index of the page @addr points into */
	int			page;
};

#ifdef CONFIG_PERF_EVENTS

/* ------------------------------------------------------------ writing records */

/**
 * perf_prepare_sample - complete a sample and learn its size
 * @data: what the driver knows
 * @event: for which event
 * @regs: where it happened
 *
 * For drivers that write many samples at once; others use perf_event_output().
 * Interrupts off.  Then: perf_prepare_header(), perf_output_begin(), perf_output_sample(),
 * perf_output_end().
 */
void perf_prepare_sample(struct perf_sample_data *data, struct perf_event *event,
			 struct pt_regs *regs);
/* Fill in the header of a prepared sample. */
void perf_prepare_header(struct perf_event_header *header, struct perf_sample_data *data,
			 struct perf_event *event, struct pt_regs *regs);
/* Write a prepared sample; @header.size bytes must have been reserved. */
void perf_output_sample(struct perf_output_handle *handle, struct perf_event_header *header,
			struct perf_sample_data *data, struct perf_event *event);
/**
 * perf_output_begin - reserve room for a record
 * @handle: filled in
 * @data: storage for the ids of a LOST record that may have to go first
 * @event: its buffer is used, or that of its parent
 * @size: bytes, header included
 *
 * NMI-safe; writers nest.  On success preemption stays off until perf_output_end().
 *
 * Return: 0; -ENOSPC without a buffer, or without room, which is accounted.
 */
int perf_output_begin(struct perf_output_handle *handle, struct perf_sample_data *data,
		      struct perf_event *event, unsigned int size);
/* The same when the direction of the buffer (attr.write_backward) is known beforehand. */
int perf_output_begin_forward(struct perf_output_handle *handle, struct perf_sample_data *data,
			      struct perf_event *event, unsigned int size);
int perf_output_begin_backward(struct perf_output_handle *handle, struct perf_sample_data *data,
			       struct perf_event *event, unsigned int size);
/* Append to the reservation, or leave bytes as they are.  Return: bytes that did not fit. */
unsigned int perf_output_copy(struct perf_output_handle *handle, const void *buf, unsigned int len);
unsigned int perf_output_skip(struct perf_output_handle *handle, unsigned int len);
/* The record is complete: publish it and wake readers if it is time to. */
void perf_output_end(struct perf_output_handle *handle);
/* Start a record that is not a sample: header, and ids in @data for the sample_id trailer. */
void perf_event_header__init(struct perf_event_header *header, struct perf_sample_data *data,
			     u32 type, u16 misc, u16 size, struct perf_event *event);
void perf_event__output_id_sample(struct perf_event *event, struct perf_output_handle *handle,
				  struct perf_sample_data *sample);
/* Overflow handlers that write a sample.  The last one tells: 0 or as perf_output_begin(). */
void perf_event_output_forward(struct perf_event *event, struct perf_sample_data *data,
			       struct pt_regs *regs);
void perf_event_output_backward(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs);
int perf_event_output(struct perf_event *event, struct perf_sample_data *data,
		      struct pt_regs *regs);

/* --------------------------------------------------------------- call chains */

/**
 * get_perf_callchain - walk the stack
 * @regs: where to start
 * @kernel: store kernel addresses
 * @user: store user addresses
 * @max_stack: most addresses
 * @crosstask: @regs are of another task: no user addresses
 * @add_mark: store a PERF_CONTEXT_* marker before each part
 *
 * NMI-safe; get_callchain_buffers() must have been called at some time before.
 *
 * Return: a per-CPU buffer, valid until the next chain in this context; %NULL when none is free.
 */
struct perf_callchain_entry *get_perf_callchain(struct pt_regs *regs, bool kernel, bool user,
						u32 max_stack, bool crosstask, bool add_mark);
/* The chain @event wants; never %NULL, perhaps empty. */
struct perf_callchain_entry *perf_callchain(struct perf_event *event, struct pt_regs *regs);
/* Unwinders of the architecture; they store what they find by the functions below. */
void perf_callchain_kernel(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs);
void perf_callchain_user(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs);
/* The same in a task that may sleep: pages of the stack are faulted in. */
void perf_callchain_user_faultable(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs);
/* Hold the buffers.  Task context.  Return: 0, -ENOMEM, or -EOVERFLOW beyond the sysctl. */
int get_callchain_buffers(int max_stack);
void put_callchain_buffers(void);
/* One buffer of this CPU by recursion context; preemption off. */
struct perf_callchain_entry *get_callchain_entry(int *rctx);
void put_callchain_entry(int rctx);

extern int sysctl_perf_event_max_stack;
extern int sysctl_perf_event_max_contexts_per_stack;

static __always_inline int perf_callchain_append(struct perf_callchain_entry *chain, u64 word)
{
	chain->ip[chain->nr] = word;
	chain->nr++;
	return 0;
}

/* Store the address @ip.  Return: 0, or -1 when the chain is full: stop walking. */
static inline int perf_callchain_store(struct perf_callchain_entry_ctx *ctx, u64 ip)
{
	if (ctx->contexts_maxed || ctx->nr >= ctx->max_stack)
		return -1;
	ctx->nr++;
	return perf_callchain_append(ctx->entry, ip);
}

/* Store the marker @ip.  Return: 0, or -1 when there are too many: stop walking. */
static inline int perf_callchain_store_context(struct perf_callchain_entry_ctx *ctx, u64 ip)
{
	if (ctx->contexts >= sysctl_perf_event_max_contexts_per_stack) {
		ctx->contexts_maxed = true;
		return -1;
	}
	ctx->contexts++;
	return perf_callchain_append(ctx->entry, ip);
}

/* Does the event write ordinary samples, so that a driver may write them on its own? */
static inline bool is_default_overflow_handler(struct perf_event *event)
{
	return likely(event->overflow_handler == perf_event_output_forward) ||
	       event->overflow_handler == perf_event_output_backward;
}

/* -------------------------------------------------- filling a perf_sample_data */

/* data_src of an access about which nothing is known */
#define PERF_MEM_NA (PERF_MEM_S(LVLNUM, NA) | PERF_MEM_S(TLB, NA) | PERF_MEM_S(LOCK, NA) | \
		     PERF_MEM_S(SNOOP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(OP, NA))

/**
 * perf_sample_data_init - begin a sample
 * @data: not initialised
 * @addr: address for PERF_SAMPLE_ADDR, 0 for none
 * @period: events since the previous sample
 */
static inline void perf_sample_data_init(struct perf_sample_data *data, u64 addr, u64 period)
{
	data->period = period;
	data->sample_flags = PERF_SAMPLE_PERIOD;
	data->dyn_size = 0;
	if (!addr)
		return;
	data->sample_flags |= PERF_SAMPLE_ADDR;
	data->addr = addr;
}

/* Is this part wanted by @event?  Providing it twice is a bug. */
static __always_inline bool perf_sample_wants(struct perf_sample_data *data,
					      struct perf_event *event, u64 bit)
{
	return (event->attr.sample_type & bit) && !WARN_ON_ONCE(data->sample_flags & bit);
}

/* A variable-sized part of @size bytes is there. */
static __always_inline void perf_sample_added(struct perf_sample_data *data, u64 bit, u64 size)
{
	data->sample_flags |= bit;
	data->dyn_size += size;
}

/* Walk the stack now, while @regs are good. */
static inline void perf_sample_save_callchain(struct perf_sample_data *data,
					      struct perf_event *event, struct pt_regs *regs)
{
	if (perf_sample_wants(data, event, PERF_SAMPLE_CALLCHAIN)) {
		data->callchain = perf_callchain(event, regs);
		data->callchain_nr = data->callchain->nr;
		perf_sample_added(data, PERF_SAMPLE_CALLCHAIN,
				  (1 + data->callchain_nr) * sizeof(u64));
	}
}

static __always_inline bool perf_raw_frag_last(const struct perf_raw_frag *frag)
{
	return frag->pad < sizeof(u64);
}

/* Attach raw data; it is not copied and must stay until the sample is written. */
static inline void perf_sample_save_raw_data(struct perf_sample_data *data,
					     struct perf_event *event,
					     struct perf_raw_record *raw)
{
	struct perf_raw_frag *last = &raw->frag;
	u32 bytes = last->size, padded;

	if (!perf_sample_wants(data, event, PERF_SAMPLE_RAW))
		return;
	while (!perf_raw_frag_last(last)) {
		last = last->next;
		bytes += last->size;
	}
	/* The length word and the data together fill whole u64s. */
	padded = round_up(bytes + sizeof(u32), sizeof(u64)) - sizeof(u32);
	last->pad = padded - bytes;
	raw->size = padded;
	data->raw = raw;
	perf_sample_added(data, PERF_SAMPLE_RAW, padded + sizeof(u32));
}

/*
 * Attach branch records and, behind them, a word of counters for each if @brs_cntr is given.  A
 * sample has no more of them than attr.sample_max_stack.
 */
static inline void perf_sample_save_brstack(struct perf_sample_data *data,
					    struct perf_event *event,
					    struct perf_branch_stack *brs, u64 *brs_cntr)
{
	u64 each = sizeof(struct perf_branch_entry) + (brs_cntr ? sizeof(*brs_cntr) : 0);
	u64 fixed = branch_sample_hw_index(event) ? 2 * sizeof(u64) : sizeof(u64);

	data->br_stack = brs;
	data->br_stack_nr = min_t(u64, brs->nr, event->attr.sample_max_stack);
	data->br_stack_cntr = brs_cntr;
	perf_sample_added(data, PERF_SAMPLE_BRANCH_STACK, fixed + each * data->br_stack_nr);
}

/* Zero the description of a branch; the addresses, new_type and priv are left to the caller. */
static inline void perf_clear_branch_entry_bitfields(struct perf_branch_entry *br)
{
	br->type = PERF_BR_UNKNOWN;
	br->spec = PERF_BR_SPEC_NA;
	br->cycles = 0;
	br->predicted = 0;
	br->mispred = 0;
	br->abort = 0;
	br->in_tx = 0;
	br->reserved = 0;
}

#endif /* CONFIG_PERF_EVENTS */

/* Append the object @x itself to a record. */
#define perf_output_put(handle, x) perf_output_copy(handle, &(x), sizeof(x))

#endif /* _LINUX_PERF_SAMPLE_H */
