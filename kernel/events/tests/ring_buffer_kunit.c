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
#include <linux/highmem.h>
#include <linux/sched/mm.h>
#include <linux/sched/user.h>
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

	return ((u8 *)f->rb->data)[off];
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

		memcpy(handle->addr, piece, n);
		pe_output_wrote(handle, handle->addr + n);
		size -= n;
	}
}

/* A writer from reservation to the last byte, not committed. */
static enum pe_reserved begin(struct fixture *f, struct perf_output_handle *handle,
			      unsigned int size, u8 value, bool backward)
{
	enum pe_reserved how;

	how = pe_reserve_slow(handle, f->rb, size, LOST_SIZE, backward);
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
	KUNIT_EXPECT_EQ(test, rb->nr_pages, 4);
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
	pe_buffer_resume(f->rb);
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

static void *reserve(struct fixture *f, unsigned int size, bool backward, bool *due)
{
	enum pe_reserved how;
	void *at;

	how = pe_reserve(f->rb, size, backward, &at);
	*due = how == PE_DUE;
	return how == PE_RESERVED ? at : NULL;
}

/* A record in one piece, where there is nothing unusual; with an NMI in the middle of it. */
static void piece(struct kunit *test)
{
	struct fixture *f = make(test, 2, 0, PE_BUFFER_WRITABLE);
	struct perf_output_handle nmi;
	void *at;
	bool due;

	guard(preempt)();
	at = reserve(f, SIZE, false, &due);
	KUNIT_ASSERT_PTR_EQ(test, at, f->rb->data);
	KUNIT_EXPECT_EQ(test, f->rb->nest, 1U);
	KUNIT_EXPECT_EQ(test, begin(f, &nmi, PAGE_SIZE - SIZE - 8, 2, false), PE_RESERVED);
	end(f, &nmi);
	KUNIT_EXPECT_EQ(test, head(f), 0ULL);
	KUNIT_EXPECT_FALSE(test, pe_publish(f->rb, f->rb->data));
	KUNIT_EXPECT_EQ(test, f->rb->nest, 0U);
	KUNIT_EXPECT_EQ(test, head(f), (u64)PAGE_SIZE - 8);

	/* up to the end of the page, and from there on */
	at = reserve(f, 8, false, &due);
	KUNIT_EXPECT_PTR_EQ(test, at, f->rb->data + PAGE_SIZE - 8);
	pe_publish(f->rb, f->rb->data);
	at = reserve(f, 8, false, &due);
	KUNIT_EXPECT_PTR_EQ(test, at, f->rb->data + PAGE_SIZE);
	pe_publish(f->rb, f->rb->data);
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
	KUNIT_EXPECT_NULL(test, reserve(f, SIZE, false, &due));
	KUNIT_EXPECT_EQ(test, local_read(&f->rb->lost), 1L);	/* of write_many() */
	consume_to(f, head(f));
	KUNIT_EXPECT_NULL(test, reserve(f, SIZE, false, &due));
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE - LOST_SIZE, 1), PE_RESERVED_LOST);
	pe_buffer_pause(f->rb);
	KUNIT_EXPECT_NULL(test, reserve(f, SIZE, false, &due));
	pe_buffer_resume(f->rb);
	KUNIT_EXPECT_PTR_EQ(test, reserve(f, SIZE, false, &due), f->rb->data);
	pe_publish(f->rb, f->rb->data);
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
		void *at = reserve(f, SIZE, true, &due);

		KUNIT_ASSERT_PTR_EQ(test, at, f->rb->data + PAGE_SIZE - n * SIZE);
		woken += pe_publish(f->rb, f->rb->data);
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

	pe_buffer_pause(f->rb);
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 1), PE_PAUSED);
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 1), PE_PAUSED);
	KUNIT_EXPECT_EQ(test, head(f), 0ULL);
	pe_buffer_resume(f->rb);
	KUNIT_EXPECT_EQ(test, write_one(f, SIZE, 1), PE_RESERVED_LOST);
	KUNIT_EXPECT_EQ(test, f->lost, 2U);
	KUNIT_EXPECT_EQ(test, head(f), (u64)LOST_SIZE + SIZE);
}

/* In a ring of @nr_pages: a record of @size whose first byte is at @start, written in one go. */
static void around(struct kunit *test, int nr_pages, u64 start, unsigned int size, bool backward)
{
	struct fixture *f = make(test, nr_pages, 0, 0);
	u64 ring = nr_pages * PAGE_SIZE, first, i;
	unsigned int wrong = 0;
	u64 *w, *end;
	void *at;

	local_set(&f->rb->head, backward ? start + size : start);
	scoped_guard(preempt) {
		KUNIT_ASSERT_EQ(test, pe_reserve(f->rb, size, backward, &at), PE_RESERVED);
		end = at + size;
		for (w = at, i = 0; w < end; w++, i++)
			*w = start + i;
		pe_publish(f->rb, end);
	}
	KUNIT_EXPECT_EQ(test, head(f), backward ? start : start + size);
	/* User space sees the pages, not the row: what was written last of each word stays. */
	first = size > ring ? size - ring : 0;
	for (i = first / 8; i < size / 8; i++) {
		u64 off = (start + i * 8) & (ring - 1);
		u64 *page = kmap_local_page(pe_buffer_page(f->rb, 1 + off / PAGE_SIZE));

		wrong += page[off % PAGE_SIZE / 8] != start + i;
		kunmap_local(page);
	}
	KUNIT_EXPECT_EQ_MSG(test, wrong, 0, "%d pages, %u bytes from %llu", nr_pages, size, start);
}

/* No record is broken, wherever it crosses the end of the ring, however long it is. */
static void around_the_end(struct kunit *test)
{
	unsigned int size;
	u64 start;

	for (start = PAGE_SIZE - 96; start <= PAGE_SIZE; start += 8) {
		around(test, 1, start, 96, false);
		around(test, 1, start, 96, true);
	}
	for (size = 8; size < SZ_64K; size = size * 2 + 8) {
		around(test, 1, PAGE_SIZE - 8, size, false);
		around(test, 2, 2 * PAGE_SIZE - 8, size, true);
	}
	around(test, 1, PAGE_SIZE - 8, U16_MAX & ~7, false);
	around(test, 4, 4 * PAGE_SIZE - 8, U16_MAX & ~7, true);
	around(test, 32, 32 * PAGE_SIZE - 8, U16_MAX & ~7, false);
}

/* With a handle it goes on at the beginning of the ring, so that any number of records fit. */
static void handle_goes_around(struct kunit *test)
{
	struct fixture *f = make(test, 1, 0, 0);
	struct perf_output_handle handle;
	unsigned int n;

	guard(preempt)();
	KUNIT_EXPECT_EQ(test, pe_reserve_slow(&handle, f->rb, 80 * PAGE_SIZE, LOST_SIZE, false),
			PE_RESERVED);
	for (n = 0; n < 80 * PAGE_SIZE / 40; n++) {
		KUNIT_ASSERT_LT(test, (unsigned long)(handle.addr - f->rb->data), PAGE_SIZE);
		fill(&handle, 40, n);
	}
	end(f, &handle);
	expect_bytes(f, (n - 1) * 40, 40, n - 1);
	KUNIT_EXPECT_EQ(test, head(f), 80ULL * PAGE_SIZE);
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

/* Who has paid is let go. */
static void payers(struct kunit *test)
{
	struct pe_charge c = { .user = alloc_uid(KUIDT_INIT(54321)), .mm = mm_alloc() }, kept;

	KUNIT_ASSERT_NOT_NULL(test, c.user);
	KUNIT_ASSERT_NOT_NULL(test, c.mm);
	pe_charge_keep(&kept, &c);
	KUNIT_EXPECT_EQ(test, refcount_read(&c.user->__count), 2U);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.mm->mm_count), 2);
	pe_charge_settle(&kept);
	KUNIT_EXPECT_EQ(test, refcount_read(&c.user->__count), 1U);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.mm->mm_count), 1);
	free_uid(c.user);
	mmput(c.mm);
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
	KUNIT_CASE(around_the_end),
	KUNIT_CASE(handle_goes_around),
	KUNIT_CASE(one_writer),
	KUNIT_CASE(payers),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_ring_buffer",
	.test_cases = cases,
};

kunit_test_suite(suite);
