// SPDX-License-Identifier: GPL-2.0
/*
 * Where the pages of a buffer come from.
 *
 * A buffer is often made and freed, and one page at a time that costs a good part of all of it.
 * So eight at a time are asked for, or as many as a smaller buffer has: a block, which is taken
 * only if it is at hand.  For everybody else each page of a block is a page of its own: it is
 * mapped, referenced, pinned and poisoned by itself, and may outlive the buffer.
 *
 * A block is allocated with one reference, that of its first page.  Each of the others is given
 * one.  When the buffer is freed the references of the others are taken back, which succeeds only
 * while there are none but the buffer's; then the block is what it was when it was allocated, and
 * is given back as that.  Code that looks at physical pages (migration, memory failure) can get no
 * reference of a page that has none.  It may get one of the first page, until the last moment:
 * __free_pages() copes with that.  If there are other references, the buffer's are dropped page by
 * page, and who has the last one of a page frees it.
 *
 * A poisoned page must not be used again, which the page allocator sees to when it is freed by
 * itself; so its block is freed page by page.
 *
 * Task context.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/page_owner.h>

#include "ring.h"

/* The page allocator has lists of these for each CPU. */
#define BLOCK	((int)BIT(PAGE_ALLOC_COSTLY_ORDER))

/*
 * Nothing is reclaimed for a block, no reserve and no other node is touched.  Not where the memory
 * is noted page by page: for a cgroup, and by the profile of allocations.
 *
 * Return: there is one, and each of its pages has a reference.
 */
static bool take_block(struct page **pages, int nr, int node)
{
	const gfp_t modest = __GFP_NOWARN | __GFP_NORETRY | __GFP_NOMEMALLOC | __GFP_THISNODE;
	gfp_t gfp = pe_pages_gfp();
	struct page *block;
	int i;

	if (gfp & __GFP_ACCOUNT || IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING) ||
	    (node != NUMA_NO_NODE && !node_online(node)))
		return false;
	block = alloc_pages_node(node, (gfp & ~__GFP_RECLAIM) | modest, ilog2(nr));
	if (!block)
		return false;
	split_page_owner(block, ilog2(nr), 0);
	pages[0] = block;
	for (i = 1; i < nr; i++) {
		pages[i] = block + i;
		page_ref_unfreeze(block + i, 1);
	}
	return true;
}

/**
 * pe_page_drop() - drop the reference to a page
 * @page: one that came by itself
 */
void pe_page_drop(struct page *page)
{
	page->mapping = NULL;	/* set while it was in a page table */
	__free_page(page);
}

/* Takes back the references of all but the first page.  Return: the block may be freed as one. */
static bool rejoin(struct page *block, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		block[i].mapping = NULL;	/* as above */
		if (PageHWPoison(block + i) || (i && !page_ref_freeze(block + i, 1)))
			break;
	}
	if (i == nr)
		return true;
	while (--i > 0)
		page_ref_unfreeze(block + i, 1);
	return false;
}

static void drop_block(struct page *block, int nr)
{
	int i;

	if (rejoin(block, nr)) {
		__free_pages(block, ilog2(nr));
		return;
	}
	for (i = 0; i < nr; i++)
		pe_page_drop(block + i);
}

/* Some at a time, since the page allocator zeroes them with preemption off. */
static int take_single(struct page **pages, int nr, int node)
{
	int done = 0, n;

	do {
		n = alloc_pages_bulk_array_node(pe_pages_gfp(), node, min(nr - done, 64),
						pages + done);
		done += n;
	} while (n && done < nr);
	return done;
}

/**
 * pe_pages_take() - get zeroed pages
 * @pages: where they go, all NULL
 * @nr: so many, a power of two
 * @node: from there if possible
 * @in_blocks: how many of them, from the first on, came in blocks
 *
 * May sleep.  Return: how many there are, for pe_pages_drop() if not all.
 */
int pe_pages_take(struct page **pages, int nr, int node, int *in_blocks)
{
	int block = min(nr, BLOCK), done = 0;

	while (done < nr && take_block(pages + done, block, node)) {
		done += block;
		cond_resched();		/* nothing else does, for gigabytes */
	}
	*in_blocks = done;
	return done < nr ? done + take_single(pages + done, nr - done, node) : done;
}

/**
 * pe_pages_drop() - drop the references to them
 * @pages: them
 * @nr: so many
 * @in_blocks: as pe_pages_take() has told
 */
void pe_pages_drop(struct page **pages, int nr, int in_blocks)
{
	int block = min(in_blocks, BLOCK), i;

	for (i = 0; i < in_blocks; i += block)
		drop_block(pages[i], block);
	for (; i < nr; i++)
		pe_page_drop(pages[i]);
}
