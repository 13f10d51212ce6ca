// SPDX-License-Identifier: GPL-2.0
/*
 * kernel.perf_ext_buffer_kb: KiB of all buffers of the machine together, whoever has them.
 *
 * perf_event_mlock_kb and RLIMIT_MEMLOCK are limits for a user and for a process: many of them, or
 * one with CAP_IPC_LOCK, may still take all memory.  Counted is what those are charged, from the
 * first mapping to the last unmapping: control page, data, AUX area.  It is counted without a
 * limit, too, so one that is set later knows what is in use.  Nobody loses a buffer by it.
 *
 * Task context.  Nothing is locked: the count is a bound at every moment, as only who finds room
 * for all of his pages adds them.
 */
#include <linux/atomic.h>
#include <linux/sysctl.h>

#include "abi.h"

static unsigned int buffer_kb __read_mostly;	/* 0: no limit */
static atomic_long_t pages_in_use;

static bool is_room(unsigned long in_use, unsigned long pages)
{
	unsigned int kb = READ_ONCE(buffer_kb);

	return !kb || in_use + pages <= kb >> (PAGE_SHIFT - 10);
}

/**
 * pe_buffers_take() - somebody wants pages for a buffer
 * @pages: so many, which a mapping can have
 *
 * Return: 0, or -EPERM if that would be more than the machine may have.
 */
int pe_buffers_take(unsigned long pages)
{
	long in_use = atomic_long_read(&pages_in_use);

	do {
		if (!is_room(in_use, pages))
			return pe_err(-EPERM, "mmap: above perf_ext_buffer_kb");
	} while (!atomic_long_try_cmpxchg(&pages_in_use, &in_use, in_use + pages));
	return 0;
}

/**
 * pe_buffers_give() - pages are given back
 * @pages: so many
 */
void pe_buffers_give(unsigned long pages)
{
	atomic_long_sub(pages, &pages_in_use);
}

static struct ctl_table sysctls[] = {
	{
		.procname	= "perf_ext_buffer_kb",
		.data		= &buffer_kb,
		.maxlen		= sizeof(buffer_kb),
		.mode		= 0644,
		.proc_handler	= proc_douintvec,
	},
};

static int __init pe_buffer_limit_init(void)
{
	register_sysctl_init("kernel", sysctls);
	return 0;
}
fs_initcall(pe_buffer_limit_init);
