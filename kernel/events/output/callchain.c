// SPDX-License-Identifier: GPL-2.0
/*
 * Call chains: the memory they are written to, and the walk over kernel and user stack.
 *
 * A chain is taken in any context, NMI included, so its memory must be there beforehand.  A pool
 * holds one chain for each CPU and context level (task, softirq, hardirq, NMI).  It exists while
 * it is held: by events with PERF_SAMPLE_CALLCHAIN, BPF stack maps and programs.  Its chains
 * have the length that the two sysctls had when it was made; these cannot change meanwhile.
 *
 *   pool_mutex		the pool's users, its coming and going, the sysctls
 *   pool		RCU: a walk that found the old pool keeps it, and its lengths
 *   busy[]		this CPU, preemption off: the level's chain is being filled
 *
 * A walk may still be under way when the last user has gone: samples of passive events and of other
 * CPUs end by RCU.  By then a pool with shorter chains may be there.  So a walk never trusts what
 * the caller knew: it looks up the length together with the chain.
 *
 * The mark in busy[] is given back before the chain is used.  The caller, with preemption off, owns
 * the chain until it leaves its context level or takes another chain there.
 */
#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/sched/task_stack.h>
#include <linux/sysctl.h>
#include <linux/uprobes.h>

#include "output.h"

/* Of the kernel's part and of the user's, or that this one is deferred, with its cookie. */
#define MARKERS_OF_A_WALK	3

/**
 * struct chain_pool - memory for call chains
 * @rcu: for freeing
 * @max_stack: addresses that fit in each chain, markers aside
 * @chain: for CPU c and level l, at c * PERF_NR_CONTEXTS + l
 */
struct chain_pool {
	struct rcu_head			rcu;
	u32				max_stack;
	struct perf_callchain_entry	*chain[];
};

int sysctl_perf_event_max_stack __read_mostly = PERF_MAX_STACK_DEPTH;
int sysctl_perf_event_max_contexts_per_stack __read_mostly = PERF_MAX_CONTEXTS_PER_STACK;

static DEFINE_MUTEX(pool_mutex);
static unsigned int pool_users;				/* pool_mutex */
static struct chain_pool __rcu *pool;			/* RCU, pool_mutex */
static DEFINE_PER_CPU(u8[PERF_NR_CONTEXTS], busy);

/* ------------------------------------------------------------------ the pool */

static void free_pool(struct chain_pool *old)
{
	unsigned int i;

	for (i = 0; i < nr_cpu_ids * PERF_NR_CONTEXTS; i++)
		kfree(old->chain[i]);
	kfree(old);
}

static void pe_callchain_free_rcu(struct rcu_head *rcu)
{
	free_pool(container_of(rcu, struct chain_pool, rcu));
}

/* Not per-CPU memory: its allocator has an upper limit, and chains of 640 K entries are allowed. */
static struct chain_pool *new_pool(void)
{
	unsigned int markers = max(sysctl_perf_event_max_contexts_per_stack, MARKERS_OF_A_WALK);
	unsigned int stack = sysctl_perf_event_max_stack, level;
	struct perf_callchain_entry *chain;
	struct chain_pool *fresh;
	int cpu;

	fresh = kzalloc(struct_size(fresh, chain, nr_cpu_ids * PERF_NR_CONTEXTS), GFP_KERNEL);
	if (!fresh)
		return NULL;
	fresh->max_stack = stack;
	for_each_possible_cpu(cpu) {
		for (level = 0; level < PERF_NR_CONTEXTS; level++) {
			chain = kmalloc_node(struct_size(chain, ip, stack + markers),
					     GFP_KERNEL | __GFP_NOWARN, cpu_to_node(cpu));
			if (!chain) {
				free_pool(fresh);
				return NULL;
			}
			fresh->chain[cpu * PERF_NR_CONTEXTS + level] = chain;
		}
	}
	return fresh;
}

/**
 * get_callchain_buffers() - have memory for call chains from now on
 * @max_stack: the most addresses that will be asked for
 *
 * Task context.  Return: 0, to be undone by put_callchain_buffers(); -EOVERFLOW if @max_stack is
 * above sysctl perf_event_max_stack; -ENOMEM.
 */
int get_callchain_buffers(int max_stack)
{
	struct chain_pool *fresh;

	guard(mutex)(&pool_mutex);
	if (max_stack > sysctl_perf_event_max_stack)
		return -EOVERFLOW;
	if (!pool_users) {
		fresh = new_pool();
		if (!fresh)
			return -ENOMEM;
		rcu_assign_pointer(pool, fresh);
	}
	pool_users++;
	return 0;
}

/**
 * put_callchain_buffers() - undo get_callchain_buffers()
 *
 * Task context.
 */
void put_callchain_buffers(void)
{
	struct chain_pool *old;

	guard(mutex)(&pool_mutex);
	if (WARN_ON_ONCE(!pool_users) || --pool_users)
		return;
	old = rcu_replace_pointer(pool, NULL, lockdep_is_held(&pool_mutex));
	call_rcu(&old->rcu, pe_callchain_free_rcu);
}

/**
 * perf_event_max_stack_handler() - /proc/sys/kernel/perf_event_max_{stack,contexts_per_stack}
 * @table: entry
 * @write: write or read
 * @buffer: text
 * @lenp: its length, in and out
 * @ppos: file position
 *
 * Task context.  Return: 0; -EBUSY for a good value while a pool exists; errno of the parser.
 */
int perf_event_max_stack_handler(const struct ctl_table *table, int write, void *buffer,
				 size_t *lenp, loff_t *ppos)
{
	int *limit = table->data, parsed = READ_ONCE(*limit), err;
	struct ctl_table copy = *table;

	copy.data = &parsed;
	err = proc_dointvec_minmax(&copy, write, buffer, lenp, ppos);
	if (err || !write)
		return err;

	guard(mutex)(&pool_mutex);
	if (pool_users)
		return -EBUSY;
	WRITE_ONCE(*limit, parsed);
	return 0;
}

/* ------------------------------------------------------------------- a chain */

/* The chain of this CPU and level, marked as busy.  Return: NULL without one, or when it is. */
static struct perf_callchain_entry *claim(int *level, u32 *max_stack)
{
	const struct chain_pool *now;

	*level = pe_recursion_enter(this_cpu_ptr(busy));
	if (*level < 0)
		return NULL;
	now = rcu_dereference_check(pool, rcu_read_lock_any_held());
	if (unlikely(!now)) {
		pe_recursion_leave(this_cpu_ptr(busy), *level);
		return NULL;
	}
	*max_stack = now->max_stack;
	return now->chain[smp_processor_id() * PERF_NR_CONTEXTS + *level];
}

/**
 * get_callchain_entry() - memory for one chain
 * @rctx: for put_callchain_entry()
 *
 * For callers that fill it themselves and hold the buffers.  Any context, preemption off.
 *
 * Return: the chain of this CPU and context level, with sysctl perf_event_max_stack entries at
 * least; NULL if it is being filled, or without buffers.
 */
struct perf_callchain_entry *get_callchain_entry(int *rctx)
{
	u32 max_stack;

	return claim(rctx, &max_stack);
}

/**
 * put_callchain_entry() - the chain is filled
 * @rctx: from get_callchain_entry()
 */
void put_callchain_entry(int rctx)
{
	pe_recursion_leave(this_cpu_ptr(busy), rctx);
}

/* ------------------------------------------------------------------ the walk */

void __weak perf_callchain_kernel(struct perf_callchain_entry_ctx *walk, struct pt_regs *regs)
{
}

void __weak perf_callchain_user(struct perf_callchain_entry_ctx *walk, struct pt_regs *regs)
{
}

#ifdef CONFIG_UPROBES
/*
 * A function with a probe at its return goes back to the trampoline, and that is what its frame
 * says.  The true addresses are on a list, that of the innermost function first, as in a chain.
 */
static void name_true_callers(u64 *ip, const u64 *end)
{
	const struct uprobe_task *utask = current->utask;
	const struct return_instance *hijacked = utask ? utask->return_instances : NULL;
	unsigned long trampoline;

	if (likely(!hijacked))
		return;
	trampoline = uprobe_get_trampoline_vaddr();
	for (; hijacked && ip < end; ip++) {
		if (*ip != trampoline)
			continue;
		*ip = hijacked->orig_ret_vaddr;
		hijacked = hijacked->next;
	}
}
#else
static void name_true_callers(u64 *ip, const u64 *end)
{
}
#endif

/* Without one of the architecture, what is not there ends the chain. */
void __weak perf_callchain_user_faultable(struct perf_callchain_entry_ctx *walk,
					  struct pt_regs *regs)
{
	perf_callchain_user(walk, regs);
}

static void walk_kernel(struct perf_callchain_entry_ctx *walk, struct pt_regs *regs, bool marker)
{
	if (marker)
		perf_callchain_store_context(walk, PERF_CONTEXT_KERNEL);
	perf_callchain_kernel(walk, regs);
}

static void walk_user(struct perf_callchain_entry_ctx *walk, struct pt_regs *regs, bool marker)
{
	struct perf_callchain_entry *chain = walk->entry;
	u64 first;

	if (marker)
		perf_callchain_store_context(walk, PERF_CONTEXT_USER);
	first = chain->nr;
	perf_callchain_user(walk, regs);
	name_true_callers(&chain->ip[first], &chain->ip[chain->nr]);
}

/* In place of the user part; either both words or none. */
static void name_cookie(struct perf_callchain_entry_ctx *walk, u64 cookie)
{
	if (perf_callchain_store_context(walk, PERF_CONTEXT_USER_DEFERRED))
		return;
	if (perf_callchain_store_context(walk, cookie))
		walk->entry->nr--;
}

/* @cookie: of the user part; 0: it is walked now, if @user says so. */
static __always_inline struct perf_callchain_entry *get_chain(struct pt_regs *regs, bool kernel,
							      bool user, u32 max_stack,
							      bool add_mark, u64 cookie)
{
	struct perf_callchain_entry_ctx walk = { };
	u32 fits;
	int level;

	walk.entry = claim(&level, &fits);
	if (!walk.entry)
		return NULL;
	walk.entry->nr = 0;
	walk.max_stack = min(max_stack, fits);

	if (!user_mode(regs)) {
		if (kernel)
			walk_kernel(&walk, regs, add_mark);
		/* A kernel thread has no way back to user space. */
		regs = pe_current_is_user() ? task_pt_regs(current) : NULL;
	}
	if (cookie)
		name_cookie(&walk, cookie);
	else if (user && regs)
		walk_user(&walk, regs, add_mark);

	put_callchain_entry(level);
	return walk.entry;
}

/* Contract, see <linux/perf_event.h>. */
struct perf_callchain_entry *get_perf_callchain(struct pt_regs *regs, bool kernel, bool user,
						u32 max_stack, bool crosstask, bool add_mark)
{
	/* The user stack is that of current, and nobody else's. */
	if (crosstask && user && !kernel)
		return NULL;
	return get_chain(regs, kernel, user && !crosstask, max_stack, add_mark, 0);
}

/**
 * pe_callchain_of_kernel() - a chain whose user part comes later
 * @regs: where to start
 * @kernel: store kernel addresses
 * @max_stack: most addresses
 * @cookie: from pe_deferred_request()
 *
 * Context and return value as of get_perf_callchain().
 */
struct perf_callchain_entry *pe_callchain_of_kernel(struct pt_regs *regs, bool kernel,
						    u32 max_stack, u64 cookie)
{
	return get_chain(regs, kernel, false, max_stack, true, cookie);
}

/**
 * pe_callchain_walk_user() - the user part of a chain of current, without a marker
 * @chain: where to
 * @most: room for so many addresses
 *
 * Task context, may sleep: pages are faulted in.
 */
void pe_callchain_walk_user(struct perf_callchain_entry *chain, u32 most)
{
	struct perf_callchain_entry_ctx walk = { .entry = chain, .max_stack = most };

	chain->nr = 0;
	perf_callchain_user_faultable(&walk, task_pt_regs(current));
	name_true_callers(chain->ip, &chain->ip[chain->nr]);
}
