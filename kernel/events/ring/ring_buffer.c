// SPDX-License-Identifier: GPL-2.0
/*
 * The buffer that user space maps: its pages, and how records get into it.
 *
 * Pages.  One control page (struct perf_event_mmap_page) and 2^n data pages, or none.  With
 * CONFIG_PERF_USE_VMALLOC (data caches that alias) they are one vmalloc area and data_pages[] has
 * one entry of page_order; otherwise they are single pages near the CPU of the event.  Allocated
 * and freed in task context, by mmap.c; the last reference frees them after a grace period, so a
 * writer that found the buffer under RCU, or with preemption off, may finish its record.
 *
 * Writers.  All events that share a buffer are of one CPU or of one task, hence two writers are
 * not on two CPUs at the same time; for the exception see "crowded" below.  They do nest: task,
 * softirq, irq, NMI.  A writer
 *
 *   pe_reserve()	counts itself in rb->nest, then moves rb->head by cmpxchg; if there is no
 *			room it counts a lost record instead,
 *   pe_output_*()	fills in the bytes between the two heads, which nobody else touches,
 *   pe_commit()	leaves.  Only the outermost one stores data_head, because the records of
 *			those it interrupts lie before its own and are not complete.
 *
 * A nested writer is done before the one it interrupted goes on; it leaves rb->nest as it found
 * it, which is why plain loads and stores are enough there.  One that comes after the outermost
 * has read rb->head for publishing, and before it has left, does not publish; hence the second
 * look at rb->head in pe_commit().
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
 * A nested writer finds its own CPU there and goes on; the one who took the turn gives it back when
 * it commits.  Between its last look at rb->head and that, an interrupt may still write and publish
 * as if it were outermost, because the CPU still has the turn.  Nobody waits for ever, as two CPUs
 * may wait for each other's buffers in interrupts: after a while the record is lost.
 */
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ring.h"

/* ------------------------------------------------------------------ pages */

static struct perf_buffer *alloc_control(size_t nr_ptrs, int node)
{
	struct perf_buffer *rb;

	if (struct_size(rb, data_pages, nr_ptrs) > KMALLOC_MAX_SIZE)
		return NULL;
	return kzalloc_node(struct_size(rb, data_pages, nr_ptrs), GFP_KERNEL, node);
}

#ifdef CONFIG_PERF_USE_VMALLOC

static void free_pages_of(struct perf_buffer *rb)
{
	unsigned long nr = pe_buffer_data_pages(rb), i;
	void *area = rb->user_page;

	if (!area)
		return;
	for (i = 0; i <= nr; i++)
		vmalloc_to_page(area + i * PAGE_SIZE)->mapping = NULL;
	vfree(area);
}

static bool alloc_pages_of(struct perf_buffer *rb, int nr_pages, int node)
{
	void *area = vmalloc_user((nr_pages + 1UL) * PAGE_SIZE);

	if (!area)
		return false;
	rb->user_page = area;
	rb->data_pages[0] = area + PAGE_SIZE;
	rb->nr_pages = !!nr_pages;
	rb->page_order = nr_pages ? ilog2(nr_pages) : 0;
	return true;
}

static size_t nr_pointers(int nr_pages)
{
	return 1;
}

static struct page *data_page(struct perf_buffer *rb, unsigned long nr)
{
	return vmalloc_to_page(rb->data_pages[0] + nr * PAGE_SIZE);
}

static struct page *control_page(struct perf_buffer *rb)
{
	return vmalloc_to_page(rb->user_page);
}

#else

static void free_one(void *addr)
{
	struct page *page = virt_to_page(addr);

	page->mapping = NULL;	/* set while it was in a page table */
	__free_page(page);
}

static void *alloc_one(int node)
{
	struct page *page = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO, 0);

	return page ? page_address(page) : NULL;
}

static void free_pages_of(struct perf_buffer *rb)
{
	while (rb->nr_pages)
		free_one(rb->data_pages[--rb->nr_pages]);
	if (rb->user_page)
		free_one(rb->user_page);
}

/* What there is when it fails is freed with free_pages_of(). */
static bool alloc_pages_of(struct perf_buffer *rb, int nr_pages, int node)
{
	rb->user_page = alloc_one(node);
	if (!rb->user_page)
		return false;
	for (; rb->nr_pages < nr_pages; rb->nr_pages++) {
		rb->data_pages[rb->nr_pages] = alloc_one(node);
		if (!rb->data_pages[rb->nr_pages])
			return false;
	}
	return true;
}

static size_t nr_pointers(int nr_pages)
{
	return nr_pages;
}

static struct page *data_page(struct perf_buffer *rb, unsigned long nr)
{
	return virt_to_page(rb->data_pages[nr]);
}

static struct page *control_page(struct perf_buffer *rb)
{
	return virt_to_page(rb->user_page);
}

#endif /* CONFIG_PERF_USE_VMALLOC */

static void free_buffer(struct perf_buffer *rb)
{
	free_pages_of(rb);
	kfree(rb->aux.cpus);
	kfree(rb);
}

static void pe_buffer_free_rcu(struct rcu_head *head)
{
	free_buffer(container_of(head, struct perf_buffer, rcu_head));
}

/**
 * pe_buffer_alloc() - make a buffer
 * @nr_pages: data pages, a power of two, or 0 for the control page alone
 * @watermark: bytes after which the reader is woken; 0: half of the data pages
 * @cpu: the pages come from the node of this CPU; -1: from anywhere
 * @flags: PE_BUFFER_WRITABLE when the reader tells how far it is; else old records are
 *	overwritten
 *
 * Task context, may sleep.  Return: a buffer with one reference, or NULL.
 */
struct perf_buffer *pe_buffer_alloc(int nr_pages, long watermark, int cpu, int flags)
{
	int node = cpu < 0 ? NUMA_NO_NODE : cpu_to_node(cpu);
	struct perf_buffer *rb = alloc_control(nr_pointers(nr_pages), node);
	long size;

	if (!rb)
		return NULL;
	if (!alloc_pages_of(rb, nr_pages, node)) {
		free_buffer(rb);
		return NULL;
	}
	size = pe_buffer_data_size(rb);
	rb->mask = size - 1;
	rb->watermark = min(watermark, size) ?: size / 2;
	rb->overwrite = !(flags & PE_BUFFER_WRITABLE);
	if (!nr_pages)
		set_bit(PE_GATE_PAUSED, &rb->gate);	/* spares the writers a test for it */
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
	call_rcu(&rb->rcu_head, pe_buffer_free_rcu);
}

/**
 * pe_buffer_pause() - PERF_EVENT_IOC_PAUSE_OUTPUT
 * @rb: the buffer
 * @pause: refuse records from now on
 */
void pe_buffer_pause(struct perf_buffer *rb, bool pause)
{
	if (pause || !rb->nr_pages)
		set_bit(PE_GATE_PAUSED, &rb->gate);
	else
		clear_bit(PE_GATE_PAUSED, &rb->gate);
}

/**
 * pe_buffer_crowd() - from now on writers of several CPUs may come at the same time
 * @rb: the buffer, to which who brings them does not write yet
 *
 * Task context, may sleep.  Of several callers at the same time each waits, as the one who has set
 * the bit may not be done.
 */
void pe_buffer_crowd(struct perf_buffer *rb)
{
	if (smp_load_acquire(&rb->crowded))	/* pairs with the release below */
		return;
	set_bit(PE_GATE_CROWDED, &rb->gate);
	synchronize_rcu();	/* writers who have not seen it are done */
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
	if (pgoff <= pe_buffer_data_pages(rb))
		return data_page(rb, pgoff - 1);
	return aux_page(rb, pgoff - rb->aux.pgoff);
}

/* ------------------------------------------------- reserving and committing */

static void point_at(struct perf_output_handle *handle, unsigned long offset)
{
	struct perf_buffer *rb = handle->rb;
	unsigned long chunk = 1UL << pe_buffer_shift(rb);
	unsigned long into = offset & (chunk - 1);

	handle->page = (offset & rb->mask) >> pe_buffer_shift(rb);
	handle->addr = rb->data_pages[handle->page] + into;
	handle->size = chunk - into;
}

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

/* Somebody closed the gate, or writers take turns.  Return: go on. */
static noinline bool pass_gate(struct perf_output_handle *handle, struct perf_buffer *rb)
{
	if (test_bit(PE_GATE_PAUSED, &rb->gate)) {
		if (rb->nr_pages)
			pe_lose(rb);
		return false;
	}
	return take_turn(handle, rb);
}

/* Out of the nest without a record; whoever is outermost publishes for the others. */
static enum pe_reserved give_up(struct perf_output_handle *handle)
{
	local_inc(&handle->rb->lost);
	/* A nested writer may have asked for a wakeup that is ours to deliver. */
	handle->wakeup = pe_commit(handle);
	return PE_FULL;
}

/**
 * pe_reserve() - make room for a record
 * @handle: rb, page, addr and size are set; size is what is left in the page
 * @rb: the buffer
 * @size: bytes of the record, a multiple of 8
 * @lost_size: bytes of the LOST record that must precede it if there were losses
 * @backward: the record goes below the previous one
 *
 * Any context, preemption off until pe_commit(), which must follow PE_RESERVED*.  After PE_FULL
 * handle->wakeup tells what pe_commit() would have: the reader must be woken for somebody else.
 */
enum pe_reserved pe_reserve(struct perf_output_handle *handle, struct perf_buffer *rb,
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
	point_at(handle, backward ? new : old);
	return lost ? PE_RESERVED_LOST : PE_RESERVED;
}

/**
 * pe_commit() - the record is complete
 * @handle: from pe_reserve()
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

/* ---------------------------------------------------------------- filling in */

static __always_inline void advance(struct perf_output_handle *handle, unsigned int len)
{
	struct perf_buffer *rb = handle->rb;

	handle->addr += len;
	handle->size -= len;
	if (!handle->size) {
		handle->page = (handle->page + 1) & (rb->nr_pages - 1);
		handle->addr = rb->data_pages[handle->page];
		handle->size = pe_buffer_chunk(rb);
	}
}

static __always_inline unsigned int piece(const struct perf_output_handle *handle,
					  unsigned int len)
{
	return min_t(unsigned long, handle->size, len);
}

/**
 * pe_output_copy_pages() - append bytes that may reach into the next pages
 * @handle: the reservation
 * @buf: kernel memory
 * @len: bytes
 */
void pe_output_copy_pages(struct perf_output_handle *handle, const void *buf, unsigned int len)
{
	while (len) {
		unsigned int n = piece(handle, len);

		memcpy(handle->addr, buf, n);
		advance(handle, n);
		buf += n;
		len -= n;
	}
}

/**
 * pe_output_skip() - leave bytes as they are
 * @handle: the reservation
 * @len: bytes
 */
void pe_output_skip(struct perf_output_handle *handle, unsigned int len)
{
	while (len) {
		unsigned int n = piece(handle, len);

		advance(handle, n);
		len -= n;
	}
}

#ifdef arch_perf_out_copy_user
#define copy_user_nmi	arch_perf_out_copy_user
#else
static unsigned long copy_user_nmi(void *dst, const void __user *src, unsigned long n)
{
	unsigned long left;

	pagefault_disable();
	left = __copy_from_user_inatomic(dst, src, n);
	pagefault_enable();
	return left;
}
#endif

/**
 * pe_output_copy_user() - append user memory as far as it can be read without a fault
 * @handle: the reservation
 * @buf: user address
 * @len: bytes; the reservation advances by all of them
 *
 * Any context.  Return: bytes at the end that were not copied.
 */
unsigned int pe_output_copy_user(struct perf_output_handle *handle, const void __user *buf,
				 unsigned int len)
{
	while (len) {
		unsigned int n = piece(handle, len);
		unsigned long left = copy_user_nmi(handle->addr, buf, n);

		advance(handle, n);
		if (left) {
			pe_output_skip(handle, len - n);
			return len - n + left;
		}
		buf += n;
		len -= n;
	}
	return 0;
}

/**
 * pe_output_custom() - append what a callback copies
 * @handle: the reservation
 * @copy: see perf_copy_f
 * @buf: passed to @copy
 * @len: bytes; the reservation advances by all of them even when @copy stops early
 */
void pe_output_custom(struct perf_output_handle *handle, perf_copy_f copy, const void *buf,
		      unsigned int len)
{
	unsigned int done = 0;

	while (done < len) {
		unsigned int n = piece(handle, len - done);
		unsigned long left = copy(handle->addr, buf, done, n);

		advance(handle, n);
		done += n;
		if (left) {
			pe_output_skip(handle, len - done);
			return;
		}
	}
}

/* Contract: see <linux/perf_event.h>. */
unsigned int perf_output_copy(struct perf_output_handle *handle, const void *buf, unsigned int len)
{
	pe_output_copy(handle, buf, len);
	return 0;
}

unsigned int perf_output_skip(struct perf_output_handle *handle, unsigned int len)
{
	pe_output_skip(handle, len);
	return 0;
}
