// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: pages of a buffer that come and go in blocks, and are pages of their own all the same.
 */
#include <kunit/test.h>
#include <linux/initrd.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "../ring/ring.h"

#define NR	16	/* two blocks */

static int take(struct kunit *test, struct page **pages)
{
	int in_blocks, i;

	KUNIT_ASSERT_EQ(test, pe_pages_take(pages, NR, NUMA_NO_NODE, &in_blocks), NR);
	for (i = 0; i < NR; i++) {
		KUNIT_EXPECT_EQ(test, page_ref_count(pages[i]), 1);
		KUNIT_EXPECT_FALSE(test, PageCompound(pages[i]));
		KUNIT_EXPECT_NULL(test, memchr_inv(page_address(pages[i]), 0, PAGE_SIZE));
		memset(page_address(pages[i]), 0xa0 + i, PAGE_SIZE);
	}
	return in_blocks;
}

/* Nothing else happens, so that there are blocks. */
static void in_blocks(struct kunit *test)
{
	struct page *pages[NR + 1] = { };
	int nr, i;

	wait_for_initramfs();
	nr = take(test, pages);
	KUNIT_EXPECT_NULL(test, pages[NR]);
	KUNIT_EXPECT_EQ(test, nr, IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING) ? 0 : NR);
	for (i = 1; i < nr; i++)
		if (i % 8)
			KUNIT_EXPECT_PTR_EQ(test, pages[i], pages[i - 1] + 1);
	pe_pages_drop(pages, NR, nr);
}

/* Whoever has another reference keeps that page, whichever it is of a block, and nothing else. */
static void one_outlives_the_others(struct kunit *test)
{
	int kept, i;

	for (kept = 0; kept < NR; kept++) {
		struct page *pages[NR] = { }, *page;
		int nr = take(test, pages);

		page = pages[kept];
		get_page(page);
		page->mapping = (void *)test;
		pe_pages_drop(pages, NR, nr);
		for (i = 0; i < NR; i++)
			KUNIT_EXPECT_GE(test, page_ref_count(pages[i]), 0);
		KUNIT_EXPECT_EQ(test, page_ref_count(page), 1);
		KUNIT_EXPECT_NULL(test, page->mapping);
		KUNIT_EXPECT_NULL(test, memchr_inv(page_address(page), 0xa0 + kept, PAGE_SIZE));
		put_page(page);
	}
}

/* The first page of a block, whose reference is the block's, is kept beside another one. */
static void two_outlive_the_others(struct kunit *test)
{
	struct page *pages[NR] = { };
	int nr = take(test, pages);

	get_page(pages[0]);
	get_page(pages[3]);
	pe_pages_drop(pages, NR, nr);
	KUNIT_ASSERT_EQ(test, page_ref_count(pages[0]), 1);
	KUNIT_ASSERT_EQ(test, page_ref_count(pages[3]), 1);
	KUNIT_EXPECT_NULL(test, memchr_inv(page_address(pages[0]), 0xa0, PAGE_SIZE));
	put_page(pages[0]);
	put_page(pages[3]);
}

/* Those that came one by one, as these may have, too. */
static void page_by_page(struct kunit *test)
{
	struct page *pages[NR] = { };
	int i;

	take(test, pages);
	for (i = 0; i < NR; i++) {
		get_page(pages[i]);
		pages[i]->mapping = (void *)test;	/* as if user space had touched it */
	}
	pe_pages_drop(pages, NR, 0);
	for (i = 0; i < NR; i++) {
		KUNIT_EXPECT_EQ(test, page_ref_count(pages[i]), 1);
		KUNIT_EXPECT_NULL(test, pages[i]->mapping);
		put_page(pages[i]);
	}
}

/* The page behind a block is somebody else's, and as it was. */
static void neighbour(struct kunit *test)
{
	struct page *pages[NR / 2], *next, *block;
	int i;

	if (IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING))
		kunit_skip(test, "no blocks");
	block = alloc_pages(GFP_KERNEL, ilog2(NR));
	KUNIT_ASSERT_NOT_NULL(test, block);
	split_page(block, ilog2(NR));
	for (i = 0; i < NR / 2; i++)
		pages[i] = block + i;
	next = block + NR / 2;
	next->mapping = (void *)test;
	pe_pages_drop(pages, NR / 2, NR / 2);
	KUNIT_EXPECT_PTR_EQ(test, (void *)next->mapping, (void *)test);
	KUNIT_EXPECT_EQ(test, page_ref_count(next), 1);
	next->mapping = NULL;
	for (i = NR / 2; i < NR; i++)
		__free_page(block + i);
}

/* What user space has touched is given back as it was, in a block or not. */
static void of_nobody_any_more(struct kunit *test)
{
	struct page *pages[NR] = { };
	int nr = take(test, pages), i;

	for (i = 0; i < NR; i++)
		pages[i]->mapping = (void *)test;
	pe_pages_drop(pages, NR, nr);
	/* Who has got one since then has another mapping, or none. */
	for (i = 0; i < NR; i++)
		KUNIT_EXPECT_PTR_NE(test, (void *)READ_ONCE(pages[i]->mapping), (void *)test);
}

/* A cgroup's memory is noted page by page. */
static void accounted(struct kunit *test)
{
#ifdef CONFIG_PERF_EVENTS_EXT
	const int was = READ_ONCE(pe_pages_accounted);
	struct page *pages[NR] = { };
	int got, nr = -1, i;

	WRITE_ONCE(pe_pages_accounted, 1);
	got = pe_pages_take(pages, NR, NUMA_NO_NODE, &nr);
	WRITE_ONCE(pe_pages_accounted, was);
	KUNIT_ASSERT_EQ(test, got, NR);
	for (i = 0; i < NR; i++)
		KUNIT_ASSERT_NOT_NULL(test, pages[i]);
	KUNIT_EXPECT_EQ(test, nr, 0);
	pe_pages_drop(pages, NR, nr);
#else
	kunit_skip(test, "no CONFIG_PERF_EVENTS_EXT");
#endif
}

/* Those on lists of a CPU included. */
static unsigned long free_pages_now(void)
{
	drain_all_pages(NULL);
	return global_zone_page_state(NR_FREE_PAGES);
}

/* If the others were lost it would be 30,000 pages; the kernel takes some for itself meanwhile. */
static void none_is_lost(struct kunit *test)
{
	struct page *pages[NR] = { };
	unsigned long before;
	int turn, nr;

	wait_for_initramfs();
	before = free_pages_now();
	for (turn = 0; turn < 2000; turn++) {
		struct page *page;

		KUNIT_ASSERT_EQ(test, pe_pages_take(pages, NR, NUMA_NO_NODE, &nr), NR);
		page = pages[turn % NR];
		get_page(page);
		pe_pages_drop(pages, NR, nr);
		put_page(page);
		memset(pages, 0, sizeof(pages));
	}
	KUNIT_EXPECT_LT(test, before, free_pages_now() + 15000);
}

/*
 * A buffer that nobody has any more is freed, whoever dies before or after it, and its addresses
 * lead nowhere.  Twice: of two in a row each was alone on its way.
 */
static void freed_alone(struct kunit *test)
{
	unsigned long end;
	int turn;

	for (turn = 0; turn < 2; turn++) {
		struct perf_buffer *rb = pe_buffer_alloc(1, 0, -1, PE_BUFFER_WRITABLE);
		struct page *control, *page;
		void *data;

		KUNIT_ASSERT_NOT_NULL(test, rb);
		data = rb->data;
		KUNIT_EXPECT_NOT_NULL(test, vmalloc_to_page(data));
		control = pe_buffer_page(rb, 0);
		get_page(control);
		page = pe_buffer_page(rb, 1);
		get_page(page);
		pe_buffer_put(rb);
		rcu_barrier();		/* now it is the worker's */
		end = jiffies + 10 * HZ;
		while ((page_ref_count(page) > 1 || page_ref_count(control) > 1) &&
		       time_before(jiffies, end))
			schedule_timeout_uninterruptible(1);
		KUNIT_EXPECT_EQ(test, page_ref_count(page), 1);
		KUNIT_EXPECT_EQ(test, page_ref_count(control), 1);
		KUNIT_EXPECT_NULL(test, vmalloc_to_page(data));
		put_page(page);
		put_page(control);
	}
}

/* An AUX area ends with its last page, whatever follows in the row. */
static void end_of_an_area(struct kunit *test)
{
	struct perf_buffer *rb = pe_buffer_alloc(2, 0, -1, PE_BUFFER_WRITABLE);
	struct page *only, *last, *behind;
	void *addr;

	KUNIT_ASSERT_NOT_NULL(test, rb);
	only = pe_buffer_page(rb, 1);
	addr = page_address(only);
	rb->aux.pages = &addr;
	rb->aux.nr_pages = 1;
	rb->aux.pgoff = 4;
	last = pe_buffer_page(rb, 4);
	behind = pe_buffer_page(rb, 5);
	rb->aux.pages = NULL;
	rb->aux.nr_pages = 0;
	KUNIT_EXPECT_PTR_EQ(test, last, only);
	KUNIT_EXPECT_NULL(test, behind);
	pe_buffer_put(rb);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(in_blocks),
	KUNIT_CASE(one_outlives_the_others),
	KUNIT_CASE(two_outlive_the_others),
	KUNIT_CASE(page_by_page),
	KUNIT_CASE(neighbour),
	KUNIT_CASE(of_nobody_any_more),
	KUNIT_CASE(accounted),
	KUNIT_CASE(none_is_lost),
	KUNIT_CASE(freed_alone),
	KUNIT_CASE(end_of_an_area),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_ring_pages",
	.test_cases = cases,
};

kunit_test_suite(suite);
