// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: reserving and committing in the ring buffer, and the pages under it.
 *
 * No events and no interrupts are involved: the test plays the writers of all context levels
 * itself, in the only order in which they can nest (who came last is done first).  It also plays
 * the reader, by storing data_tail.  Buffers are small, so that every boundary is reached, and
 * all positions and numbers are exact.
 */
#include <kunit/test.h>
#include "../ring/ring.h"

#define LOST_SIZE	24
#define SIZE		64
#define PER_PAGE	(PAGE_SIZE / SIZE)

struct fixture {
	struct kunit		*test;
	struct perf_buffer	*rb;
	unsigned int		woken;		/* commits that asked for a wakeup */
	unsigned int		lost;		/* LOST records that had to be written */
};

KUNIT_DEFINE_ACTION_WRAPPER(put_buffer, pe_buffer_put, struct perf_buffer *);

static struct fixture *make(struct kunit *test, int nr_pages, long watermark, int flags)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->test = test;
	f->rb = pe_buffer_alloc(nr_pages, watermark, -1, flags);
	KUNIT_ASSERT_NOT_NULL(test, f->rb);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_buffer, f->rb), 0);
	return f;
}

static u64 head(struct fixture *f)
{
	return READ_ONCE(f->rb->user_page->data_head);
}

static void consume_to(struct fixture *f, u64 tail)
{
	WRITE_ONCE(f->rb->user_page->data_tail, tail);
}

static u8 byte_at(struct fixture *f, u64 pos)
{
	u64 off = pos & (pe_buffer_data_size(f->rb) - 1);
	u8 *chunk = f->rb->data_pages[off / pe_buffer_chunk(f->rb)];

	return chunk[off % pe_buffer_chunk(f->rb)];
}

static void expect_bytes(struct fixture *f, u64 from, unsigned int len, u8 value)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < len; i++)
		wrong += byte_at(f, from + i) != value;
	KUNIT_EXPECT_EQ_MSG(f->test, wrong, 0, "bytes at %llu", from);
}

/* Fill a reservation, LOST included, from a small piece, so that copies cross page ends. */
static void fill(struct perf_output_handle *handle, unsigned int size, u8 value)
{
	u8 piece[40];

	memset(piece, value, sizeof(piece));
	while (size) {
		unsigned int n = min_t(unsigned int, size, sizeof(piece));

		pe_output_copy(handle, piece, n);
		size -= n;
	}
}

/* A writer from reservation to the last byte, not committed. */
static enum pe_reserved begin(struct fixture *f, struct perf_output_handle *handle,
			      unsigned int size, u8 value, bool backward)
{
	enum pe_reserved how;

	how = pe_reserve(handle, f->rb, size, LOST_SIZE, backward);
	if (how == PE_RESERVED_LOST) {
		f->lost += local_xchg(&f->rb->lost, 0);
		fill(handle, LOST_SIZE, 0xee);
	}
	if (how <= PE_RESERVED_LOST)
		fill(handle, size, value);
	else if (how == PE_FULL && handle->wakeup)
		f->woken++;
	return how;
}

static void end(struct fixture *f, struct perf_output_handle *handle)
{
	if (pe_commit(handle))
		f->woken++;
}

static enum pe_reserved write_one(struct fixture *f, unsigned int size, u8 value)
{
	struct perf_output_handle handle;
	enum pe_reserved how;

	guard(preempt)();
	how = begin(f, &handle, size, value, false);
	if (how <= PE_RESERVED_LOST)
		end(f, &handle);
	return how;
}

static enum pe_reserved write_one_backward(struct fixture *f, unsigned int size, u8 value)
{
	struct perf_output_handle handle;
	enum pe_reserved how;

	guard(preempt)();
	how = begin(f, &handle, size, value, true);
	if (how <= PE_RESERVED_LOST)
		end(f, &handle);
	return how;
}

/* How many records of SIZE go in before one is refused; at most @limit are tried. */
static unsigned int write_many(struct fixture *f, unsigned int limit)
{
	unsigned int n = 0;

	while (n < limit && write_one(f, SIZE, n + 1) <= PE_RESERVED_LOST)
		n++;
	return n;
}

static void pages(struct kunit *test)
{
	struct perf_buffer *rb = make(test, 4, 0, PE_BUFFER_WRITABLE)->rb;
	struct page *seen[5];
	int i, j;

	KUNIT_EXPECT_EQ(test, pe_buffer_data_size(rb), 4 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, pe_buffer_data_pages(rb), 4UL);
	KUNIT_EXPECT_EQ(test, rb->watermark, (long)(2 * PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, rb->overwrite, 0);
	KUNIT_EXPECT_EQ(test, rb->gate, 0);
	for (i = 0; i < 5; i++) {
		seen[i] = pe_buffer_page(rb, i);
		KUNIT_ASSERT_NOT_NULL(test, seen[i]);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_PTR_NE(test, seen[i], seen[j]);
	}
	KUNIT_EXPECT_NULL(test, pe_buffer_page(rb, 5));
	KUNIT_EXPECT_NULL(test, pe_buffer_page(rb, ULONG_MAX));

	KUNIT_EXPECT_EQ(test, make(test, 1, 100, 0)->rb->watermark, 100L);
	KUNIT_EXPECT_EQ(test, make(test, 1, LONG_MAX, 0)->rb->watermark, (long)PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, make(test, 1, 0, 0)->rb->overwrite, 1);
}

static void control_page_alone(struct kunit *test)
{
	struct fixture *f = make(test, 0, 0, PE_BUFFER_WRITABLE);

	KUNIT_EXPECT_NOT_NULL(test, pe_buffer_page(f->rb, 0));
	KUNIT_EXPECT_NULL(test, pe_buffer_page(f->rb, 1));
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 1), PE_PAUSED);
	KUNIT_EXPECT_EQ(test, local_read(&f->rb->lost), 0L);
	pe_buffer_pause(f->rb, false);
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 1), PE_PAUSED);
}

static void one_record(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, PE_BUFFER_WRITABLE);
	struct perf_output_handle handle;

	preempt_disable();
	KUNIT_EXPECT_EQ(test, begin(f, &handle, SIZE, 0x5a, false), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, head(f), 0ULL);	/* not before it is complete */
	end(f, &handle);
	preempt_enable();

	KUNIT_EXPECT_EQ(test, head(f), (u64)SIZE);
	KUNIT_EXPECT_EQ(test, f->rb->nest, 0U);
	KUNIT_EXPECT_EQ(test, f->woken, 0U);
	expect_bytes(f, 0, SIZE, 0x5a);
	expect_bytes(f, SIZE, SIZE, 0);
}

/* A record over a page end, one that ends exactly at the end of the buffer, one around it. */
static void wrap(struct kunit *test)
{
	struct fixture *f = make(test, 2, 0, PE_BUFFER_WRITABLE);
	u64 size = 2 * PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, write_one(f, PAGE_SIZE - 16, 1), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, write_one(f, 48, 2), PE_RESERVED);
	expect_bytes(f, 0, PAGE_SIZE - 16, 1);
	expect_bytes(f, PAGE_SIZE - 16, 48, 2);

	consume_to(f, PAGE_SIZE + 32);
	KUNIT_EXPECT_EQ(test, write_one(f, PAGE_SIZE - 32, 3), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, head(f), size);
	expect_bytes(f, PAGE_SIZE + 32, PAGE_SIZE - 32, 3);

	consume_to(f, size);
	KUNIT_EXPECT_EQ(test, write_one(f, size - 8, 4), PE_RESERVED);
	consume_to(f, 2 * size - 8);
	KUNIT_EXPECT_EQ(test, write_one(f, 24, 5), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, head(f), 2 * size + 16);
	expect_bytes(f, 2 * size - 8, 24, 5);
	expect_bytes(f, 2 * size + 16, size - 24, 4);
	KUNIT_EXPECT_EQ(test, local_read(&f->rb->lost), 0L);
}

/* Task, irq, NMI: nothing is shown before the first is done; positions are by time of arrival. */
static void three_levels(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, PE_BUFFER_WRITABLE);
	struct perf_output_handle task, irq, nmi;

	guard(preempt)();
	KUNIT_EXPECT_EQ(test, begin(f, &task, 16, 1, false), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, begin(f, &irq, 24, 2, false), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, begin(f, &nmi, 32, 3, false), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, f->rb->nest, 3U);
	end(f, &nmi);
	KUNIT_EXPECT_EQ(test, head(f), 0ULL);
	end(f, &irq);
	KUNIT_EXPECT_EQ(test, head(f), 0ULL);

	/* the task's record is still open: another interrupt, with an NMI that comes and goes */
	KUNIT_EXPECT_EQ(test, begin(f, &irq, 8, 4, false), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, begin(f, &nmi, 8, 5, false), PE_RESERVED);
	end(f, &nmi);
	KUNIT_EXPECT_EQ(test, begin(f, &nmi, 8, 6, false), PE_RESERVED);
	end(f, &nmi);
	end(f, &irq);
	KUNIT_EXPECT_EQ(test, head(f), 0ULL);

	end(f, &task);
	KUNIT_EXPECT_EQ(test, head(f), 16ULL + 24 + 32 + 8 + 8 + 8);
	KUNIT_EXPECT_EQ(test, f->rb->nest, 0U);
	expect_bytes(f, 0, 16, 1);
	expect_bytes(f, 16, 24, 2);
	expect_bytes(f, 40, 32, 3);
	expect_bytes(f, 72, 8, 4);
	expect_bytes(f, 80, 8, 5);
	expect_bytes(f, 88, 8, 6);
	expect_bytes(f, 96, 64, 0);
}

static void *reserve_piece(struct fixture *f, unsigned int size, bool backward, bool *due)
{
	enum pe_no_piece why = PE_ASK;
	bool done;
	void *at;

	done = pe_reserve_piece(f->rb, size, backward, &at, &why);
	*due = why == PE_DUE;
	return done ? at : NULL;
}

/* A record in one piece, where there is nothing unusual; with an NMI in the middle of it. */
static void piece(struct kunit *test)
{
	struct fixture *f = make(test, 2, 0, PE_BUFFER_WRITABLE);
	struct perf_output_handle nmi;
	void *at;
	bool due;

	guard(preempt)();
	at = reserve_piece(f, SIZE, false, &due);
	KUNIT_ASSERT_PTR_EQ(test, at, f->rb->data_pages[0]);
	KUNIT_EXPECT_EQ(test, f->rb->nest, 1U);
	KUNIT_EXPECT_EQ(test, begin(f, &nmi, PAGE_SIZE - SIZE - 8, 2, false), PE_RESERVED);
	end(f, &nmi);
	KUNIT_EXPECT_EQ(test, head(f), 0ULL);
	KUNIT_EXPECT_FALSE(test, pe_nest_leave(f->rb));
	KUNIT_EXPECT_EQ(test, f->rb->nest, 0U);
	KUNIT_EXPECT_EQ(test, head(f), (u64)PAGE_SIZE - 8);

	/* over the end of the page; up to it; and from there on */
	KUNIT_EXPECT_NULL(test, reserve_piece(f, 16, false, &due));
	KUNIT_EXPECT_EQ(test, local_read(&f->rb->head), (long)PAGE_SIZE - 8);
	KUNIT_EXPECT_EQ(test, f->rb->nest, 0U);
	at = reserve_piece(f, 8, false, &due);
	KUNIT_EXPECT_PTR_EQ(test, at, f->rb->data_pages[0] + PAGE_SIZE - 8);
	pe_nest_leave(f->rb);
	at = reserve_piece(f, 8, false, &due);
	KUNIT_EXPECT_PTR_EQ(test, at, f->rb->data_pages[1]);
	pe_nest_leave(f->rb);
	KUNIT_EXPECT_EQ(test, head(f), (u64)PAGE_SIZE + 8);
	KUNIT_EXPECT_FALSE(test, due);
}

/* What a piece is not for: a full buffer, losses that are to be told, a closed gate. */
static void no_piece(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, PE_BUFFER_WRITABLE);
	bool due;

	guard(preempt)();
	KUNIT_EXPECT_EQ(test, write_many(f, UINT_MAX), (unsigned int)PER_PAGE - 1);
	KUNIT_EXPECT_NULL(test, reserve_piece(f, SIZE, false, &due));
	KUNIT_EXPECT_EQ(test, local_read(&f->rb->lost), 1L);	/* of write_many() */
	consume_to(f, head(f));
	KUNIT_EXPECT_NULL(test, reserve_piece(f, SIZE, false, &due));
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE - LOST_SIZE, 1), PE_RESERVED_LOST);
	pe_buffer_pause(f->rb, true);
	KUNIT_EXPECT_NULL(test, reserve_piece(f, SIZE, false, &due));
	pe_buffer_pause(f->rb, false);
	KUNIT_EXPECT_PTR_EQ(test, reserve_piece(f, SIZE, false, &due), f->rb->data_pages[0]);
	pe_nest_leave(f->rb);
	KUNIT_EXPECT_EQ(test, f->rb->nest, 0U);
}

/* The watermark is reached by pieces as well, and backward they lie below. */
static void piece_backward(struct kunit *test)
{
	struct fixture *f = make(test, 1, 4 * SIZE, 0);
	unsigned int n, woken = 0;
	bool due;

	guard(preempt)();
	for (n = 1; n <= 20; n++) {
		void *at = reserve_piece(f, SIZE, true, &due);

		KUNIT_ASSERT_PTR_EQ(test, at, f->rb->data_pages[0] + PAGE_SIZE - n * SIZE);
		woken += pe_nest_leave(f->rb);
		KUNIT_EXPECT_EQ(test, woken, (n - 1) / 4);
	}
}

/* A full buffer keeps one record's worth free: head must not run into tail. */
static void full_and_lost(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, PE_BUFFER_WRITABLE);
	u64 full = PAGE_SIZE - SIZE;
	int i;

	KUNIT_EXPECT_EQ(test, write_many(f, UINT_MAX), (unsigned int)PER_PAGE - 1);
	KUNIT_EXPECT_EQ(test, local_read(&f->rb->lost), 1L);
	for (i = 0; i < 9; i++)
		KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 0xff), PE_FULL);
	KUNIT_EXPECT_EQ(test, local_read(&f->rb->lost), 10L);
	KUNIT_EXPECT_EQ(test, f->rb->nest, 0U);
	KUNIT_EXPECT_EQ(test, head(f), full);
	expect_bytes(f, full, SIZE, 0);

	/* There would be room for the record, but not for the news of the loss in front of it. */
	consume_to(f, 16);
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 0xff), PE_FULL);
	KUNIT_EXPECT_EQ(test, local_read(&f->rb->lost), 11L);

	consume_to(f, SIZE);
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 0x77), PE_RESERVED_LOST);
	KUNIT_EXPECT_EQ(test, f->lost, 11U);
	KUNIT_EXPECT_EQ(test, local_read(&f->rb->lost), 0L);
	KUNIT_EXPECT_EQ(test, head(f), full + LOST_SIZE + SIZE);
	expect_bytes(f, full, LOST_SIZE, 0xee);
	expect_bytes(f, full + LOST_SIZE, SIZE, 0x77);

	consume_to(f, head(f));
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 1), PE_RESERVED);
	/* the last byte that can be used is the one before the last */
	consume_to(f, head(f));
	KUNIT_EXPECT_EQ(test, write_one(f, PAGE_SIZE, 1), PE_FULL);
	KUNIT_EXPECT_EQ(test, write_one(f, PAGE_SIZE - 8 - LOST_SIZE, 1), PE_RESERVED_LOST);
	KUNIT_EXPECT_EQ(test, f->lost, 12U);
}

/* An NMI that finds no room in the middle of a record does not disturb it. */
static void lost_in_nested_writer(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, PE_BUFFER_WRITABLE);
	struct perf_output_handle task, nmi;

	guard(preempt)();
	KUNIT_EXPECT_EQ(test, begin(f, &task, PAGE_SIZE - 16, 1, false), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, begin(f, &nmi, 16, 2, false), PE_FULL);
	KUNIT_EXPECT_EQ(test, f->rb->nest, 1U);
	KUNIT_EXPECT_EQ(test, head(f), 0ULL);
	end(f, &task);
	KUNIT_EXPECT_EQ(test, head(f), (u64)PAGE_SIZE - 16);
	KUNIT_EXPECT_EQ(test, local_read(&f->rb->lost), 1L);

	consume_to(f, head(f));
	KUNIT_EXPECT_EQ(test, begin(f, &task, 16, 3, false), PE_RESERVED_LOST);
	KUNIT_EXPECT_EQ(test, f->lost, 1U);
	/* told already: the next one has nothing to add */
	KUNIT_EXPECT_EQ(test, begin(f, &nmi, 16, 4, false), PE_RESERVED);
	end(f, &nmi);
	end(f, &task);
	KUNIT_EXPECT_EQ(test, head(f), (u64)PAGE_SIZE - 16 + LOST_SIZE + 16 + 16);
}

static void overwrite(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, 0);
	unsigned int n = 3 * PER_PAGE + 1;

	consume_to(f, 12345);	/* nobody looks at it */
	KUNIT_EXPECT_EQ(test, write_many(f, n), n);
	KUNIT_EXPECT_EQ(test, head(f), (u64)n * SIZE);
	KUNIT_EXPECT_EQ(test, local_read(&f->rb->lost), 0L);
	/* the newest, and the oldest that is still there */
	expect_bytes(f, (u64)(n - 1) * SIZE, SIZE, (u8)n);
	expect_bytes(f, (u64)(n - PER_PAGE) * SIZE, SIZE, (u8)(n - PER_PAGE + 1));
}

static void backward(struct kunit *test)
{
	struct fixture *f = make(test, 2, 0, 0);
	u64 size = 2 * PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, write_one_backward(f, 16, 1), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, head(f), (u64)-16UL);
	KUNIT_EXPECT_EQ(test, write_one_backward(f, PAGE_SIZE, 2), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, head(f), (u64)-(16UL + PAGE_SIZE));
	expect_bytes(f, size - 16, 16, 1);
	expect_bytes(f, size - 16 - PAGE_SIZE, PAGE_SIZE, 2);
	expect_bytes(f, 0, PAGE_SIZE - 16, 0);

	/* around the start of the buffer: over the oldest */
	KUNIT_EXPECT_EQ(test, write_one_backward(f, PAGE_SIZE, 3), PE_RESERVED);
	KUNIT_EXPECT_EQ(test, head(f), (u64)-(16UL + size));
	expect_bytes(f, size - 16, 16, 3);
	expect_bytes(f, 0, PAGE_SIZE - 16, 3);
	expect_bytes(f, PAGE_SIZE - 16, PAGE_SIZE, 2);
}

static void backward_full(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, PE_BUFFER_WRITABLE);
	unsigned int n = 0;

	while (write_one_backward(f, SIZE, 1) == PE_RESERVED)
		n++;
	KUNIT_EXPECT_EQ(test, n, (unsigned int)PER_PAGE - 1);
	KUNIT_EXPECT_EQ(test, head(f), (u64)-(PAGE_SIZE - SIZE));
	consume_to(f, (u64)-(2UL * SIZE));
	KUNIT_EXPECT_EQ(test, write_one_backward(f, SIZE, 2), PE_RESERVED_LOST);
	KUNIT_EXPECT_EQ(test, f->lost, 1U);
	KUNIT_EXPECT_EQ(test, head(f), (u64)-(PAGE_SIZE + LOST_SIZE));
}

/* Whatever the reader stores, a record never covers what it would not have covered before. */
static void senseless_tail(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, PE_BUFFER_WRITABLE);

	KUNIT_EXPECT_EQ(test, write_one(f, 128, 1), PE_RESERVED);
	consume_to(f, 129);			/* just beyond head: like a full buffer */
	KUNIT_EXPECT_EQ(test, write_one(f, 8, 2), PE_FULL);
	consume_to(f, 5 * PAGE_SIZE + 128);	/* many turns ahead: like an empty buffer */
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 3), PE_RESERVED_LOST);
	KUNIT_EXPECT_EQ(test, head(f), 128ULL + LOST_SIZE + SIZE);
	consume_to(f, U64_MAX);
	KUNIT_EXPECT_EQ(test, write_one(f, PAGE_SIZE, 4), PE_FULL);
	KUNIT_EXPECT_EQ(test, f->rb->nest, 0U);
}

/* A wakeup each time that more than the watermark has been written since the last one. */
static void watermark(struct kunit *test)
{
	struct fixture *f = make(test, 1, 4 * SIZE, 0);
	unsigned int n, woken_at[4] = { 5, 9, 13, 17 }, w = 0;

	for (n = 1; n <= 20; n++) {
		write_one(f, SIZE, n);
		if (f->woken == w)
			continue;
		KUNIT_EXPECT_EQ(test, f->woken, w + 1);
		KUNIT_ASSERT_LT(test, w, ARRAY_SIZE(woken_at));
		KUNIT_EXPECT_EQ(test, n, woken_at[w]);
		w++;
	}
	KUNIT_EXPECT_EQ(test, w, ARRAY_SIZE(woken_at));
}

static void watermark_backward(struct kunit *test)
{
	struct fixture *f = make(test, 1, 4 * SIZE, 0);
	unsigned int n;

	for (n = 1; n <= 20; n++) {
		write_one_backward(f, SIZE, n);
		KUNIT_EXPECT_EQ(test, f->woken, (n - 1) / 4);
	}
}

/* The wish of a nested writer is carried out by the outermost one, once. */
static void wakeup_of_nested_writer(struct kunit *test)
{
	struct fixture *f = make(test, 1, 4 * SIZE, PE_BUFFER_WRITABLE);
	struct perf_output_handle task, irq, nmi;

	guard(preempt)();
	begin(f, &task, SIZE, 1, false);
	begin(f, &irq, 4 * SIZE, 2, false);
	begin(f, &nmi, 4 * SIZE, 3, false);
	end(f, &nmi);
	end(f, &irq);
	KUNIT_EXPECT_EQ(test, f->woken, 0U);
	end(f, &task);
	KUNIT_EXPECT_EQ(test, f->woken, 1U);

	/* also when the outermost one finds no room for itself */
	begin(f, &task, SIZE, 4, false);
	end(f, &task);
	KUNIT_EXPECT_EQ(test, f->woken, 1U);
	WRITE_ONCE(f->rb->due, 1);
	KUNIT_EXPECT_EQ(test, begin(f, &task, PAGE_SIZE, 5, false), PE_FULL);
	KUNIT_EXPECT_EQ(test, f->woken, 2U);
}

static void wakeup_by_records(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, PE_BUFFER_WRITABLE);
	struct perf_output_handle handle;
	unsigned int n;

	guard(preempt)();
	for (n = 1; n <= 10; n++) {
		begin(f, &handle, 8, n, false);
		pe_count_record(f->rb, 3);
		end(f, &handle);
		KUNIT_EXPECT_EQ(test, f->woken, n / 3);
	}
}

static void pause_and_resume(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, PE_BUFFER_WRITABLE);

	pe_buffer_pause(f->rb, true);
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 1), PE_PAUSED);
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 1), PE_PAUSED);
	KUNIT_EXPECT_EQ(test, head(f), 0ULL);
	pe_buffer_pause(f->rb, false);
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 1), PE_RESERVED_LOST);
	KUNIT_EXPECT_EQ(test, f->lost, 2U);
	KUNIT_EXPECT_EQ(test, head(f), (u64)LOST_SIZE + SIZE);
}

/* Copies @len - 1 of the last piece it is asked for: the end of the buffer is inside the record. */
static unsigned long short_copy(void *dst, const void *src, unsigned long off, unsigned long len)
{
	bool last = off != 0;

	memset(dst, *(const u8 *)src, len - last);
	return last;
}

/* Whatever a callback or a skip does, the next field is where it belongs. */
static void custom_and_skip(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, 0);
	struct perf_output_handle handle;
	u64 mark = 0x0101010101010101ULL;
	u8 value = 7;

	write_one(f, PAGE_SIZE - 24, 0);
	preempt_disable();
	KUNIT_EXPECT_EQ(test, pe_reserve(&handle, f->rb, 96, LOST_SIZE, false), PE_RESERVED);
	pe_output_custom(&handle, short_copy, &value, 40);
	pe_output_put(&handle, mark);
	pe_output_skip(&handle, 40);
	pe_output_put(&handle, mark);
	end(f, &handle);
	preempt_enable();

	expect_bytes(f, PAGE_SIZE - 24, 39, 7);
	expect_bytes(f, PAGE_SIZE + 15, 1, 0);
	expect_bytes(f, PAGE_SIZE + 16, 8, 1);
	expect_bytes(f, PAGE_SIZE + 24, 40, 0);
	expect_bytes(f, PAGE_SIZE + 64, 8, 1);
}

/* Words written in place and words that have to be broken at the end of the buffer read alike. */
static void words(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, 0);
	struct perf_output_handle handle;
	u64 bounce[4], *start, *w;
	int i, round;

	write_one(f, PAGE_SIZE - 48, 0);
	guard(preempt)();
	for (round = 1; round <= 3; round++) {
		pe_reserve(&handle, f->rb, 24, LOST_SIZE, false);
		w = pe_words_open(&handle, bounce, ARRAY_SIZE(bounce));
		start = w;
		/* 48, then 24 bytes are left before the end; then the whole page again */
		KUNIT_EXPECT_EQ(test, start == bounce, round == 2);
		for (i = 0; i < 3; i++)
			*w++ = 0x0101010101010101ULL * round;
		pe_words_close(&handle, bounce, start, w);
		end(f, &handle);
		expect_bytes(f, PAGE_SIZE - 48 + (round - 1) * 24, 24, round);
	}
}

/* CONFIG_PERF_EVENTS_DEBUG: who nests on the CPU of the outermost writer is no second one. */
static void one_writer(struct kunit *test)
{
#ifdef CONFIG_PERF_EVENTS_DEBUG
	struct fixture *f = make(test, 1, 0, PE_BUFFER_WRITABLE);
	struct perf_output_handle outer, inner;
	int cpu;

	guard(preempt)();
	cpu = smp_processor_id();
	f->rb->inside = cpu + 1;	/* long ago */
	KUNIT_EXPECT_TRUE(test, pe_writes_alone(f->rb));
	begin(f, &outer, SIZE, 1, false);
	KUNIT_EXPECT_EQ(test, f->rb->inside, cpu);
	begin(f, &inner, SIZE, 2, false);
	KUNIT_EXPECT_TRUE(test, pe_writes_alone(f->rb));
	f->rb->inside = cpu + 1;
	KUNIT_EXPECT_FALSE(test, pe_writes_alone(f->rb));
	f->rb->inside = cpu;
	end(f, &inner);
	end(f, &outer);
#else
	kunit_skip(test, "no CONFIG_PERF_EVENTS_DEBUG");
#endif
}

static struct kunit_case cases[] = {
	KUNIT_CASE(pages),
	KUNIT_CASE(control_page_alone),
	KUNIT_CASE(one_record),
	KUNIT_CASE(wrap),
	KUNIT_CASE(three_levels),
	KUNIT_CASE(piece),
	KUNIT_CASE(no_piece),
	KUNIT_CASE(piece_backward),
	KUNIT_CASE(full_and_lost),
	KUNIT_CASE(lost_in_nested_writer),
	KUNIT_CASE(overwrite),
	KUNIT_CASE(backward),
	KUNIT_CASE(backward_full),
	KUNIT_CASE(senseless_tail),
	KUNIT_CASE(watermark),
	KUNIT_CASE(watermark_backward),
	KUNIT_CASE(wakeup_of_nested_writer),
	KUNIT_CASE(wakeup_by_records),
	KUNIT_CASE(pause_and_resume),
	KUNIT_CASE(custom_and_skip),
	KUNIT_CASE(words),
	KUNIT_CASE(one_writer),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_ring_buffer",
	.test_cases = cases,
};

kunit_test_suite(suite);
