// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: who begins a record gets room for it or an error, and then the reader is told only of what
 * another writer has left to be told; who ends one tells of it when it is due.
 */
#include <kunit/test.h>
#include <linux/preempt.h>

#include "../sources/sources.h"

#define SIZE	64

struct fixture {
	struct pe_event			e;
	struct perf_buffer		*rb;
	struct perf_output_handle	handle;
};

KUNIT_DEFINE_ACTION_WRAPPER(put_buffer, pe_buffer_put, struct perf_buffer *);

/* An event that was never opened, of one page, and a handle that somebody else has used. */
static struct fixture *make(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->rb = pe_buffer_alloc(1, 0, -1, PE_BUFFER_WRITABLE);
	KUNIT_ASSERT_NOT_NULL(test, f->rb);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_buffer, f->rb), 0);
	f->e.sink = &f->e;
	init_waitqueue_head(&f->e.waitq);
	rcu_assign_pointer(f->e.rb, f->rb);
	f->handle.wakeup = 1;
	return f;
}

static int begin(struct fixture *f, unsigned int size)
{
	return perf_output_begin(&f->handle, NULL, &f->e.pub, size);
}

static void end(struct fixture *f)
{
	pe_output_wrote(&f->handle, f->handle.addr + SIZE);
	perf_output_end(&f->handle);
}

/* Nobody is told of what is refused, but of what others have left to be told. */
static void no_room(struct kunit *test)
{
	struct fixture *f = make(test);

	pe_buffer_pause(f->rb);
	KUNIT_EXPECT_EQ(test, begin(f, SIZE), -ENOSPC);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->rb->poll), 0);
	pe_buffer_resume(f->rb);
	KUNIT_EXPECT_EQ(test, begin(f, PAGE_SIZE), -ENOSPC);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->rb->poll), 0);
	WRITE_ONCE(f->rb->due, 1);
	KUNIT_EXPECT_EQ(test, begin(f, PAGE_SIZE), -ENOSPC);
	KUNIT_EXPECT_NE(test, atomic_read(&f->rb->poll), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&f->e.lost_samples), 3LL);
}

/* It is refused as well, and nothing is lost. */
static void no_buffer(struct kunit *test)
{
	struct fixture *f = make(test);
	int before = preempt_count();

	rcu_assign_pointer(f->e.rb, NULL);
	KUNIT_EXPECT_EQ(test, begin(f, SIZE), -ENOSPC);
	KUNIT_EXPECT_EQ(test, preempt_count(), before);
	KUNIT_EXPECT_EQ(test, atomic64_read(&f->e.lost_samples), 0LL);
}

/* What no header can tell the length of is lost where there are data pages, and nowhere else. */
static void too_long(struct kunit *test)
{
	struct perf_buffer *control = pe_buffer_alloc(0, 0, -1, PE_BUFFER_WRITABLE);
	struct fixture *f;

	KUNIT_ASSERT_NOT_NULL(test, control);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_buffer, control), 0);
	f = make(test);
	KUNIT_EXPECT_EQ(test, begin(f, 0), -ENOSPC);
	KUNIT_EXPECT_EQ(test, atomic64_read(&f->e.lost_samples), 1LL);
	rcu_assign_pointer(f->e.rb, control);
	KUNIT_EXPECT_EQ(test, begin(f, 0), -ENOSPC);
	KUNIT_EXPECT_EQ(test, atomic64_read(&f->e.lost_samples), 1LL);
}

/* The reader is told at the end of a record, if something is due by then. */
static void told_when_due(struct kunit *test)
{
	struct fixture *f = make(test);

	KUNIT_ASSERT_EQ(test, begin(f, SIZE), 0);
	end(f);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->rb->poll), 0);
	KUNIT_ASSERT_EQ(test, begin(f, SIZE), 0);
	WRITE_ONCE(f->rb->due, 1);
	end(f);
	KUNIT_EXPECT_NE(test, atomic_read(&f->rb->poll), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(f->rb->user_page->data_head), 2ULL * SIZE);
}

/* For drivers: what is appended, and what is left as it was. */
static void pieces(struct kunit *test)
{
	struct fixture *f = make(test);
	u64 first = 0xf1, last = 0x1a, *at = f->rb->data;

	KUNIT_ASSERT_EQ(test, begin(f, 3 * sizeof(u64)), 0);
	at[1] = 0x5a;
	perf_output_copy(&f->handle, &first, sizeof(first));
	perf_output_skip(&f->handle, sizeof(u64));
	perf_output_put(&f->handle, last);
	perf_output_end(&f->handle);
	KUNIT_EXPECT_EQ(test, at[0], 0xf1ULL);
	KUNIT_EXPECT_EQ(test, at[1], 0x5aULL);
	KUNIT_EXPECT_EQ(test, at[2], 0x1aULL);
}

/* For drivers: the size of a header includes the trailer, whose values are taken with it. */
static void trailer(struct kunit *test)
{
	struct perf_sample_data *data = kunit_kzalloc(test, sizeof(*data), GFP_KERNEL);
	struct fixture *f = make(test);
	struct perf_event_header header = { };
	u64 body = 0xb0, *at = f->rb->data;

	KUNIT_ASSERT_NOT_NULL(test, data);
	f->e.id = 0x1d;
	perf_event_header__init(&header, data, 99, 3, 16, &f->e.pub);
	KUNIT_EXPECT_EQ(test, header.size, 16);
	f->e.attr.sample_type = PERF_SAMPLE_ID;
	f->e.attr.sample_id_all = 1;
	pe_plan_compile(&f->e.plan, &f->e.attr);
	perf_event_header__init(&header, data, 99, 3, 16, &f->e.pub);
	KUNIT_EXPECT_EQ(test, header.type, 99);
	KUNIT_EXPECT_EQ(test, header.misc, 3);
	KUNIT_EXPECT_EQ(test, header.size, 24);
	KUNIT_ASSERT_EQ(test, begin(f, 24), 0);
	perf_output_put(&f->handle, header);
	perf_output_put(&f->handle, body);
	perf_event__output_id_sample(&f->e.pub, &f->handle, data);
	perf_output_end(&f->handle);
	KUNIT_EXPECT_EQ(test, at[1], 0xb0ULL);
	KUNIT_EXPECT_EQ(test, at[2], 0x1dULL);
}

/* A name ends in zeroes up to the next eight bytes, one at least, whatever was there. */
static void name_is_padded(struct kunit *test)
{
	unsigned int len, size, i;
	char name[32];

	for (len = 0; len < 20; len++) {
		memset(name, 'x', sizeof(name));
		name[len] = 0;
		size = pe_sideband_pad(name);
		KUNIT_EXPECT_EQ(test, size, (len / 8 + 1) * 8);
		for (i = 0; i < sizeof(name); i++)
			KUNIT_EXPECT_EQ(test, name[i], i < len || i >= size ? 'x' : 0);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(no_room),
	KUNIT_CASE(no_buffer),
	KUNIT_CASE(too_long),
	KUNIT_CASE(told_when_due),
	KUNIT_CASE(pieces),
	KUNIT_CASE(trailer),
	KUNIT_CASE(name_is_padded),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_emit",
	.test_cases = cases,
};

kunit_test_suite(suite);
