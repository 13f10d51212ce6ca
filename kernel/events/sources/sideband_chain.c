// SPDX-License-Identifier: GPL-2.0
/*
 * CALLCHAIN_DEFERRED records: user call chains that samples have asked for, see output/deferred.c.
 *
 * Task work of current on its way to user space: may sleep.  It also runs where a system call runs
 * task works in the middle; samples after that are walked at once until the registers change.  A
 * task that exits does not return: it tells the chain before its events and its address space go.
 */
#include <linux/slab.h>
#include "sources.h"

/* A choice: what fits in two pages of 4 KiB.  A record has room for eight times as many. */
#define MOST_ADDRESSES	1000

struct chain_news {
	u64				cookie;
	struct perf_callchain_entry	chain;
};

static_assert(sizeof(struct chain_news) == 2 * sizeof(u64));

static void pe_sb_write_chain(struct pe_event *e, void *arg)
{
	struct chain_news *news = arg;

	pe_record_emit(e, PERF_RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER, news,
		       struct_size(news, chain.ip, news->chain.nr));
}

static void tell(struct chain_news *news, u64 cookie, unsigned int most)
{
	news->cookie = cookie;
	pe_callchain_walk_user(&news->chain, most);
	pe_sideband_each(BIT(PE_SB_CHAIN), NULL, pe_sb_write_chain, news);
}

static void walk_and_tell(u64 cookie)
{
	unsigned int most = min(READ_ONCE(sysctl_perf_event_max_stack), MOST_ADDRESSES);
	/* Nobody is killed for a profile: without memory there is an address and no callers. */
	struct chain_news *news = kmalloc(struct_size(news, chain.ip, most),
					  GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	u64 short_one[sizeof(struct chain_news) / sizeof(u64) + 1];

	if (news)
		tell(news, cookie, most);
	else
		tell((struct chain_news *)short_one, cookie, min(most, 1));
	kfree(news);
}

/**
 * pe_sideband_chain_now() - tell the user stack that samples of current have asked for
 *
 * Task context.
 */
void pe_sideband_chain_now(void)
{
	u64 cookie = pe_deferred_begin();

	if (cookie && current->mm && pe_sideband_used(PE_SB_CHAIN) &&
	    pe_sideband_wanted(BIT(PE_SB_CHAIN), NULL))
		walk_and_tell(cookie);
}

/**
 * pe_sideband_chain() - the same on the way to user space
 * @work: current->perf_deferred_work
 */
void pe_sideband_chain(struct callback_head *work)
{
	pe_sideband_chain_now();
	pe_deferred_end();
}
