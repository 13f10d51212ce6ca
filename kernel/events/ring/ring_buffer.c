// SPDX-License-Identifier: GPL-2.0
/*
 * The buffer that user space maps: its pages, and how records get into it.
 *
 * Pages.  One control page (struct perf_event_mmap_page) and 2^n data pages, or none.  Allocated in
 * task context, by mmap.c.  The last reference frees them after a grace period, so a writer that
 * found the buffer under RCU, or with preemption off, may finish its record; a worker does it, as
 * an area of the kernel's address space is given back.
 *
 * No record is ever broken.  The kernel sees the data pages at rb->data in one row, and the first
 * of them once more behind the last, again and again as far as a record can reach (tail_pages()).
 * So a writer with room writes upwards from where the record starts, and what is beyond the end of
 * the row is at the beginning of the ring by itself.
 *
 * Data caches that alias must not see a page twice (PE_BUFFER_COPIES_TAIL).  There the tail are
 * pages of its own, which user space does not map, and what was written there is copied to the
 * beginning by the writer before it leaves the nest: pe_wrote().  A byte of the tail stands for one
 * byte of the ring, and for the same writer: those that interrupt it have other bytes of the ring,
 * hence of the tail, unless they overwrite a whole turn, and then nobody can read either record.
 * So each finds in the tail what it has written there, whatever comes in between.
 *
 * Writers.  All events that share a buffer are of one CPU or of one task, hence two writers are
 * not on two CPUs at the same time; for the exception see "crowded" below.  They do nest: task,
 * softirq, irq, NMI.  A writer
 *
 *   pe_reserve()	looks for room, counts itself in rb->nest, then moves rb->head by cmpxchg.
 *			What is unusual (a gate, losses to tell) is for pe_reserve_slow(),
 *   u64 *w		fills in the bytes between the two heads, which nobody else touches,
 *   pe_publish()	leaves.  Only the outermost one stores data_head, because the records of
 *			those it interrupts lie before its own and are not complete.
 *
 * A nested writer is done before the one it interrupted goes on; it leaves rb->nest as it found
 * it, which is why plain loads and stores are enough there.  One that comes after the outermost
 * has read rb->head for publishing, and before it has left, does not publish; hence the second
 * look at rb->head in pe_nest_leave().
 *
 * The reader is user space, possibly on another CPU.  Barrier pairs:
 *
 *   A  load data_tail, (control dependency) store record	reader: load record, mb, store tail
 *   B  store record, wmb, store data_head			reader: load head, rmb, load record
 *
 * A tail that makes no sense only changes how much room there seems to be: offsets are masked.
 *
 * rb->lost, rb->events, rb->wakeup and rb->due are advisory sums of all levels; each update is
 * atomic against interrupts of the same CPU.
 *
 * Crowded buffers.  An inherited event without CPU whose output was redirected writes to one buffer
 * on behalf of several tasks; tasks that exit write to the buffers of a CPU that is offline; events
 * that moved to another CPU share one with those that did not.  Their writers take turns:
 * rb->writer names the CPU whose turn it is.
 * A nested writer finds its own CPU there and goes on; the one that took the turn gives it back
 * when it commits.  Between its last look at rb->head and that, an interrupt may still write and
 * publish as if it were outermost, because the CPU still has the turn.  Nobody waits for ever, as
 * two CPUs may wait for each other's buffers in interrupts: after a while the record is lost.
 */
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "ring.h"

#ifdef CONFIG_PERF_EVENTS_EXT
int pe_pages_accounted __read_mostly;	/* 0 or 1 */
#endif

/* ------------------------------------------------------------------ pages */

/*
 * What a record may reach behind the data pages.  Where the reader tells how far it is, none is
 * longer than they are; old records may be overwritten by one that goes round several times.
 */
static int tail_pages(int nr_pages, int flags)
{
	int most = PE_BUFFER_TAIL >> PAGE_SHIFT;

	if (!nr_pages)
		return 0;
	return flags & PE_BUFFER_WRITABLE ? min(nr_pages, most) : most;
}

#if PE_BUFFER_COPIES_TAIL

/* Control page, data pages, tail: one area. */
static bool alloc_pages_of(struct perf_buffer *rb, int nr_pages, int nr_tail, int node)
{
	rb->user_page = vmalloc_user((1UL + nr_pages + nr_tail) * PAGE_SIZE);
	rb->data = (void *)rb->user_page + PAGE_SIZE;
	rb->nr_pages = nr_pages;
	return rb->user_page;
}

static struct page *control_page(struct perf_buffer *rb)
{
	return vmalloc_to_page(rb->user_page);
}

static struct page *data_page(struct perf_buffer *rb, unsigned long nr)
{
	return vmalloc_to_page(rb->data + nr * PAGE_SIZE);
}

static void free_pages_of(struct perf_buffer *rb)
{
	unsigned long i;

	if (!rb->user_page)
		return;
	control_page(rb)->mapping = NULL;	/* set while it was in a page table */
	for (i = 0; i < rb->nr_pages; i++)
		data_page(rb, i)->mapping = NULL;
	vfree(rb->user_page);
}

static size_t nr_pointers(int nr_pages, int nr_tail)
{
	return 0;
}

/* Byte by byte the ring has what was written last, also if that is more than once around. */
static void bring_around(struct perf_buffer *rb, unsigned long len)
{
	unsigned long size = pe_buffer_data_size(rb), done, n;

	for (done = 0; done < len; done += n) {
		n = min(size, len - done);
		memcpy(rb->data, rb->data + size + done, n);
	}
}

#else

/*
 * Addresses for few pages come from a block of addresses of this CPU: that saves 1,700 of some
 * 25,000 instructions of opening, mapping and closing an event (arm64).  A block is given back when
 * none of it is used, for which 32 bits have too few addresses.
 */
static bool from_a_block(int nr_pages)
{
	return IS_ENABLED(CONFIG_64BIT) && nr_pages <= 64;
}

/* In a row, the tail behind them. */
static void *map_pages(struct perf_buffer *rb, int node)
{
	int nr = rb->nr_pages + rb->nr_tail, i;

	for (i = rb->nr_pages; i < nr; i++)
		rb->pages[i] = rb->pages[i - rb->nr_pages];
	if (from_a_block(nr))
		return vm_map_ram(rb->pages, nr, node);
	return vmap(rb->pages, nr, VM_MAP, PAGE_KERNEL);
}

static void unmap_pages(struct perf_buffer *rb)
{
	int nr = rb->nr_pages + rb->nr_tail;

	if (!rb->data)
		return;
	if (from_a_block(nr))
		vm_unmap_ram(rb->data, nr);
	else
		vunmap(rb->data);
}

/* Sleeps. */
static void free_pages_of(struct perf_buffer *rb)
{
	unmap_pages(rb);
	pe_pages_drop(rb->pages, rb->nr_pages, rb->nr_in_blocks);
	if (rb->user_page)
		pe_page_drop(virt_to_page(rb->user_page));
}

/* What there is when it fails is freed with free_pages_of(). */
static bool alloc_pages_of(struct perf_buffer *rb, int nr_pages, int nr_tail, int node)
{
	struct page *control = alloc_pages_node(node, pe_pages_gfp(), 0);

	if (!control)
		return false;
	rb->user_page = page_address(control);
	if (!nr_pages)
		return true;
	rb->nr_pages = pe_pages_take(rb->pages, nr_pages, node, &rb->nr_in_blocks);
	if (rb->nr_pages < nr_pages)
		return false;
	rb->nr_tail = nr_tail;
	rb->data = map_pages(rb, node);
	return rb->data;
}

static size_t nr_pointers(int nr_pages, int nr_tail)
{
	return nr_pages + nr_tail;
}

static struct page *data_page(struct perf_buffer *rb, unsigned long nr)
{
	return rb->pages[nr];
}

static struct page *control_page(struct perf_buffer *rb)
{
	return virt_to_page(rb->user_page);
}

static void bring_around(struct perf_buffer *rb, unsigned long len)
{
}

#endif /* PE_BUFFER_COPIES_TAIL */

static struct perf_buffer *alloc_control(size_t nr_ptrs, int node)
{
	struct perf_buffer *rb;

	if (struct_size(rb, pages, nr_ptrs) > KMALLOC_MAX_SIZE)
		return NULL;
	return kzalloc_node(struct_size(rb, pages, nr_ptrs), GFP_KERNEL, node);
}

static void free_control(struct perf_buffer *rb)
{
	kfree(rb->aux.cpus);
	kfree(rb);
}

/**
 * struct dead_buffers - buffers whose grace period is over, for a worker to free
 * @list: them, linked by free_later
 * @work: takes all there are
 *
 * One for each CPU on which grace periods end, so that many workers free what many CPUs have made.
 */
struct dead_buffers {
	struct llist_head	list;
	struct work_struct	work;
};

static DEFINE_PER_CPU(struct dead_buffers, dead_buffers);

static void pe_buffers_free(struct work_struct *work)
{
	struct dead_buffers *dead = container_of(work, struct dead_buffers, work);
	struct llist_node *list = llist_del_all(&dead->list);
	struct perf_buffer *rb, *next;

	llist_for_each_entry_safe(rb, next, list, free_later) {
		free_pages_of(rb);
		free_control(rb);
		cond_resched();
	}
}

/* Whoever adds the first one since the worker took all that there were sends it again. */
static void pe_buffer_free_rcu(struct rcu_head *rcu)
{
	struct perf_buffer *rb = container_of(rcu, struct perf_buffer, rcu);
	struct dead_buffers *dead = raw_cpu_ptr(&dead_buffers);

	if (llist_add(&rb->free_later, &dead->list))
		queue_work(system_unbound_wq, &dead->work);
}

static int __init pe_buffers_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		INIT_WORK(&per_cpu(dead_buffers, cpu).work, pe_buffers_free);
	return 0;
}
early_initcall(pe_buffers_init);

/**
 * pe_buffer_alloc() - make a buffer
 * @nr_pages: data pages, a power of two, or 0 for the control page alone
 * @watermark: bytes after which the reader is woken; 0: half of the data pages
 * @cpu: the pages come from the node of this CPU; -1: from anywhere
 * @flags: PE_BUFFER_WRITABLE when the reader tells how far it is; else old records are
 *	overwritten.  PE_BUFFER_CROWDED for writers of several CPUs
 *
 * Task context, may sleep.  Return: a buffer with one reference, or NULL.
 */
struct perf_buffer *pe_buffer_alloc(int nr_pages, long watermark, int cpu, int flags)
{
	int node = cpu < 0 ? NUMA_NO_NODE : cpu_to_node(cpu);
	int nr_tail = tail_pages(nr_pages, flags);
	struct perf_buffer *rb = alloc_control(nr_pointers(nr_pages, nr_tail), node);
	long size;

	if (!rb)
		return NULL;
	if (!alloc_pages_of(rb, nr_pages, nr_tail, node)) {
		free_pages_of(rb);
		free_control(rb);
		return NULL;
	}
	size = pe_buffer_data_size(rb);
	rb->mask = size - 1;
	rb->watermark = min(watermark, size) ?: size / 2;
	rb->overwrite = !(flags & PE_BUFFER_WRITABLE);
	if (!nr_pages)
		set_bit(PE_GATE_PAUSED, &rb->gate);	/* spares the writers a test for it */
	if (flags & PE_BUFFER_CROWDED) {
		set_bit(PE_GATE_CROWDED, &rb->gate);
		rb->crowded = true;
	}
	atomic_set(&rb->writer, -1);
	refcount_set(&rb->refcount, 1);
	spin_lock_init(&rb->listeners_lock);
	INIT_LIST_HEAD(&rb->listeners);
	mutex_init(&rb->aux.mutex);
	return rb;
}

/**
 * pe_buffer_get() - take a reference to the buffer that gets the output of an event
 * @e: the event
 *
 * Any context.  Return: the buffer, or NULL when there is none (any more).
 */
struct perf_buffer *pe_buffer_get(struct pe_event *e)
{
	struct perf_buffer *rb;

	guard(rcu)();
	rb = rcu_dereference(e->sink->rb);
	return rb && refcount_inc_not_zero(&rb->refcount) ? rb : NULL;
}

/**
 * pe_buffer_put() - drop a reference
 * @rb: the buffer
 *
 * Any context but NMI.
 */
void pe_buffer_put(struct perf_buffer *rb)
{
	if (!refcount_dec_and_test(&rb->refcount))
		return;
	WARN_ON_ONCE(!list_empty(&rb->listeners));
	call_rcu(&rb->rcu, pe_buffer_free_rcu);
}

/**
 * pe_buffer_pause() - PERF_EVENT_IOC_PAUSE_OUTPUT: records are refused from now on
 * @rb: the buffer
 */
void pe_buffer_pause(struct perf_buffer *rb)
{
	set_bit(PE_GATE_PAUSED, &rb->gate);
}

/**
 * pe_buffer_resume() - records are taken again; without a data area never
 * @rb: the buffer
 */
void pe_buffer_resume(struct perf_buffer *rb)
{
	if (rb->nr_pages)
		clear_bit(PE_GATE_PAUSED, &rb->gate);
}

/**
 * pe_buffer_crowd() - from now on writers of several CPUs may come at the same time
 * @rb: the buffer; the event that brings them does not write to it yet
 *
 * Task context, may sleep.  Of several callers at the same time each waits, as the one that has set
 * the bit may not be done.
 */
void pe_buffer_crowd(struct perf_buffer *rb)
{
	if (smp_load_acquire(&rb->crowded))	/* pairs with the release below */
		return;
	set_bit(PE_GATE_CROWDED, &rb->gate);
	synchronize_rcu();	/* writers that have not seen it are done */
	smp_store_release(&rb->crowded, true);
}

/* A fault this far out comes through a mapping of the AUX area, which keeps the area. */
static struct page *aux_page(struct perf_buffer *rb, unsigned long nr)
{
	unsigned long nr_pages = rb->aux.nr_pages;

	if (nr >= nr_pages)
		return NULL;
	return virt_to_page(rb->aux.pages[array_index_nospec(nr, nr_pages)]);
}

/**
 * pe_buffer_page() - the page at an offset of the mapping
 * @rb: the buffer
 * @pgoff: 0 for the control page, then the data pages; the AUX area is where user space wants it
 *
 * Return: the page, or NULL beyond the end.
 */
struct page *pe_buffer_page(struct perf_buffer *rb, unsigned long pgoff)
{
	if (!pgoff)
		return control_page(rb);
	if (pgoff <= rb->nr_pages)
		return data_page(rb, pgoff - 1);
	return aux_page(rb, pgoff - rb->aux.pgoff);
}

/* ------------------------------------------------- reserving and committing */

/*
 * How often a writer looks whether it is its CPU's turn: longer than a record takes, but some tens
 * of microseconds at most, as the run queue's lock may be held here.  The other writer may be
 * interrupted and want that lock; one whose virtual CPU does not run is not waited for at all.
 */
#define TURN_TRIES	1000

/* Wait for this CPU's turn.  Return: it has come, or is this CPU's already. */
static bool take_turn(struct perf_output_handle *handle, struct perf_buffer *rb)
{
	int cpu = smp_processor_id(), tries;

	for (tries = 0; tries < TURN_TRIES; tries++) {
		int nobody = -1, writer = atomic_read(&rb->writer);

		if (writer == cpu)
			return true;
		if (writer >= 0 && vcpu_is_preempted(writer))
			break;
		if (atomic_try_cmpxchg_acquire(&rb->writer, &nobody, cpu)) {
			handle->has_turn = 1;
			local_add(atomic_xchg(&rb->lost_waiting, 0), &rb->lost);
			return true;
		}
		cpu_relax();
	}
	atomic_inc(&rb->lost_waiting);
	return false;
}

static void end_turn(struct perf_buffer *rb)
{
	atomic_set_release(&rb->writer, -1);
}

/**
 * pe_lose() - a record is lost before anybody has looked for room
 * @rb: its buffer
 *
 * Any context, preemption off.
 */
void pe_lose(struct perf_buffer *rb)
{
	if (test_bit(PE_GATE_CROWDED, &rb->gate))
		atomic_inc(&rb->lost_waiting);	/* other CPUs lose some, too */
	else
		local_inc(&rb->lost);
}

/* The gate is closed, or writers take turns.  Return: go on. */
static noinline bool pass_gate(struct perf_output_handle *handle, struct perf_buffer *rb)
{
	if (test_bit(PE_GATE_PAUSED, &rb->gate)) {
		if (rb->nr_pages)
			pe_lose(rb);
		return false;
	}
	return take_turn(handle, rb);
}

/* Out of the nest without a record; the outermost writer publishes for the others. */
static enum pe_reserved give_up(struct perf_output_handle *handle)
{
	local_inc(&handle->rb->lost);
	/* A nested writer may have asked for a wakeup that is ours to deliver. */
	handle->wakeup = pe_commit(handle);
	return PE_FULL;
}

/**
 * pe_reserve_slow() - make room for a record, whatever is unusual
 * @handle: rb and addr are set: where the LOST record goes, if there is one, else the record
 * @rb: the buffer
 * @size: bytes of the record, a multiple of 8
 * @lost_size: bytes of the LOST record that must precede it if there were losses
 * @backward: the record goes below the previous one
 *
 * Any context, preemption off until pe_commit(), which must follow PE_RESERVED*.  After PE_FULL
 * handle->wakeup tells what pe_commit() would have: the reader must be woken for another writer.
 *
 * Return: neither PE_ASK nor PE_DUE.
 */
enum pe_reserved pe_reserve_slow(struct perf_output_handle *handle, struct perf_buffer *rb,
				 unsigned int size, unsigned int lost_size, bool backward)
{
	unsigned long old, new;
	unsigned int total;
	bool lost;

	handle->flags = 0;
	if (unlikely(READ_ONCE(rb->gate)) && !pass_gate(handle, rb))
		return PE_PAUSED;
	handle->rb = rb;
	pe_nest_enter(rb);
	old = local_read(&rb->head);
	do {
		lost = unlikely(local_read(&rb->lost));
		total = lost ? size + lost_size : size;
		/* A: the stores into the record depend on this load of data_tail */
		if (!rb->overwrite && unlikely(!pe_buffer_fits(rb, old, total, backward)))
			return give_up(handle);
		new = backward ? old - total : old + total;
	} while (!local_try_cmpxchg(&rb->head, &old, new));

	pe_watermark(rb, new, backward);
	handle->addr = rb->data + ((backward ? new : old) & rb->mask);
	return lost ? PE_RESERVED_LOST : PE_RESERVED;
}

/**
 * pe_commit() - the record is complete
 * @handle: from pe_reserve_slow()
 *
 * Return: the reader must be woken; never for a nested writer, whose wish stays in rb->due.
 */
bool pe_commit(struct perf_output_handle *handle)
{
	struct perf_buffer *rb = handle->rb;
	bool due = pe_nest_leave(rb);

	if (unlikely(handle->has_turn))
		end_turn(rb);
	return due;
}

/**
 * pe_wrote_around() - what pe_wrote() does at the end of the data pages
 * @rb: the buffer
 * @end: beyond their last byte
 *
 * Return: where the next byte goes.
 */
void *pe_wrote_around(struct perf_buffer *rb, void *end)
{
	unsigned long offset = end - rb->data;

	bring_around(rb, offset - pe_buffer_data_size(rb));
	return rb->data + (offset & rb->mask);
}
