// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a buffer that becomes crowded.  From then on its writers take turns.
 */
#include <kunit/test.h>

#include "../ring/ring.h"

#define LOST_SIZE	24
#define SIZE		64

static enum pe_reserved begin(struct perf_buffer *rb, struct perf_output_handle *handle)
{
	return pe_reserve_slow(handle, rb, SIZE, LOST_SIZE, false);
}

/* The outermost writer of a CPU has the turn, and those that interrupt it go on in it. */
static void turns(struct kunit *test)
{
	struct perf_buffer *rb = pe_buffer_alloc(1, 0, -1, PE_BUFFER_WRITABLE);
	struct perf_output_handle outer, inner;
	enum pe_reserved how[2];
	int cpu, whose[3];

	/* Whatever was on the stack is not of this turn. */
	memset(&inner, 0xff, sizeof(inner));
	KUNIT_ASSERT_NOT_NULL(test, rb);
	KUNIT_EXPECT_FALSE(test, rb->crowded);
	pe_buffer_crowd(rb);
	KUNIT_EXPECT_TRUE(test, rb->crowded);
	KUNIT_EXPECT_TRUE(test, test_bit(PE_GATE_CROWDED, &rb->gate));
	pe_buffer_crowd(rb);
	scoped_guard(preempt) {
		cpu = smp_processor_id();
		how[0] = begin(rb, &outer);
		whose[0] = atomic_read(&rb->writer);
		how[1] = begin(rb, &inner);
		pe_commit(&inner);
		whose[1] = atomic_read(&rb->writer);
		pe_commit(&outer);
		whose[2] = atomic_read(&rb->writer);
	}
	KUNIT_EXPECT_EQ(test, how[0], PE_RESERVED);
	KUNIT_EXPECT_EQ(test, how[1], PE_RESERVED);
	KUNIT_EXPECT_EQ(test, whose[0], cpu);
	KUNIT_EXPECT_EQ(test, whose[1], cpu);
	KUNIT_EXPECT_EQ(test, whose[2], -1);
	KUNIT_EXPECT_EQ(test, READ_ONCE(rb->user_page->data_head), 2ULL * SIZE);
	pe_buffer_put(rb);
}

/* What any CPU loses without the turn is told by the next one that has it. */
static void losses(struct kunit *test)
{
	struct perf_buffer *rb = pe_buffer_alloc(1, 0, -1, PE_BUFFER_WRITABLE);
	struct perf_output_handle handle;
	enum pe_reserved how;

	KUNIT_ASSERT_NOT_NULL(test, rb);
	pe_buffer_crowd(rb);
	scoped_guard(preempt) {
		pe_lose(rb);
		pe_lose(rb);
		KUNIT_EXPECT_EQ(test, atomic_read(&rb->lost_waiting), 2);
		KUNIT_EXPECT_EQ(test, local_read(&rb->lost), 0L);
		how = begin(rb, &handle);
		KUNIT_EXPECT_EQ(test, atomic_read(&rb->lost_waiting), 0);
		KUNIT_EXPECT_EQ(test, local_read(&rb->lost), 2L);
		pe_commit(&handle);
	}
	KUNIT_EXPECT_EQ(test, how, PE_RESERVED_LOST);
	pe_buffer_put(rb);
}

/* While another CPU has the turn, for longer than anybody waits, a record is lost. */
static void turn_of_another(struct kunit *test)
{
	struct perf_buffer *rb = pe_buffer_alloc(1, 0, -1, PE_BUFFER_WRITABLE);
	struct perf_output_handle handle;
	enum pe_reserved how;
	int other, writer;

	KUNIT_ASSERT_NOT_NULL(test, rb);
	pe_buffer_crowd(rb);
	scoped_guard(preempt) {
		other = smp_processor_id() ? 0 : 1;
		atomic_set(&rb->writer, other);
		how = begin(rb, &handle);
		writer = atomic_read(&rb->writer);
		if (how != PE_PAUSED)
			pe_commit(&handle);
		atomic_set(&rb->writer, -1);
	}
	KUNIT_EXPECT_EQ(test, how, PE_PAUSED);
	KUNIT_EXPECT_EQ(test, writer, other);
	KUNIT_EXPECT_EQ(test, atomic_read(&rb->lost_waiting), 1);
	pe_buffer_put(rb);
}

/* One that is made for many writers has no first one of them to wait for. */
static void from_the_start(struct kunit *test)
{
	struct perf_buffer *rb = pe_buffer_alloc(1, 0, -1, PE_BUFFER_WRITABLE | PE_BUFFER_CROWDED);

	KUNIT_ASSERT_NOT_NULL(test, rb);
	KUNIT_EXPECT_TRUE(test, test_bit(PE_GATE_CROWDED, &rb->gate));
	KUNIT_EXPECT_TRUE(test, rb->crowded);
	pe_buffer_put(rb);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(turns),
	KUNIT_CASE(losses),
	KUNIT_CASE(turn_of_another),
	KUNIT_CASE(from_the_start),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_crowd",
	.test_cases = cases,
};

kunit_test_suite(suite);
