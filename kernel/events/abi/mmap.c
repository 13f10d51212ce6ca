// SPDX-License-Identifier: GPL-2.0
/*
 * mmap() of an event: user space gets the control page and 2^n data pages.
 *
 * The first mapping of an event makes its buffer; further ones show the same pages and must have
 * the same size.  Other events that write to that buffer cannot be mapped.  Pages are inserted by
 * faults.  The mapping cannot be split, grown or inherited by fork, so that open() and close()
 * of the vma always speak of the whole of it.
 *
 * Two counts, both changed with e->mmap_mutex of the mapping's event held when they leave zero or
 * may reach it:
 *
 *   e->mmap_count	mappings made through this event.  While not zero, e->rb does not change.
 *   rb->mmap_count	mappings of the buffer, through whichever event.  Once zero for ever zero.
 *
 * The buffer's last unmapping detaches every event that still writes there, as nobody can read it
 * any more, and gives back what the first mapping was charged.  Because the counts of a mapping go
 * down together, an event that maps a buffer that is going (it wrote there by redirection) sees
 * count zero, leaves that buffer, and makes its own.
 *
 * The AUX area of a buffer is mapped at an offset, which user space writes into the control page
 * together with the size.  Such a mapping is in both counts, and in one of its own:
 *
 *   rb->aux.mmap_count	mappings of the AUX area, changed with rb->aux.mutex held when it leaves
 *			zero or may reach it.  While not zero, the area does not change.
 *
 * The buffer's pages are charged as ring/charge.c says, the AUX area's separately; the last
 * unmapping may be done by another process that has the file descriptor, so each remembers its
 * charge.
 *
 * Locks: mmap_lock (write) is held by the caller, inside it e->mmap_mutex, then rb->aux.mutex.
 * Before, pe_kin_stay_out() may take ctx->mutex and task->perf_event_mutex, one after the other.
 * Lockdep learns here each time that ctx->mutex is the inner one: so it reports code that takes
 * mmap_lock, or might fault, with ctx->mutex held.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/security.h>
#include "abi.h"

/* -------------------------------------------------------------------- the vma */

static struct pe_event *mapped_event(const struct vm_area_struct *vma)
{
	return pe(vma->vm_file->private_data);
}

/* The control page comes first, so an offset means the AUX area. */
static bool maps_aux(const struct vm_area_struct *vma)
{
	return vma->vm_pgoff;
}

/*
 * A PMU that is leaving is not told: mappings stay when it is gone, so drivers cannot count on
 * being told of the end anyway.  It sets the mark and then waits for those that are here, so its
 * event's destroy() comes after the last of these calls.  The PMUs of passive events last, and do
 * not want to be told.
 */
static void tell_pmu_mapped(struct pe_event *e, struct mm_struct *mm)
{
	struct pmu *pmu;
	int idx;

	if (e->passive)
		return;
	idx = pe_pmus_read_lock();
	pmu = READ_ONCE(e->pmu);
	if (!READ_ONCE(pmu->gone) && pmu->event_mapped)
		pmu->event_mapped(&e->pub, mm);
	pe_pmus_read_unlock(idx);
}

static void tell_pmu_unmapped(struct pe_event *e, struct mm_struct *mm)
{
	struct pmu *pmu;
	int idx;

	if (e->passive)
		return;
	idx = pe_pmus_read_lock();
	pmu = READ_ONCE(e->pmu);
	if (!READ_ONCE(pmu->gone) && pmu->event_unmapped)
		pmu->event_unmapped(&e->pub, mm);
	pe_pmus_read_unlock(idx);
}

/* mremap() moves a mapping: the new vma is opened, then the old one closed. */
static void pe_vma_open(struct vm_area_struct *vma)
{
	struct pe_event *e = mapped_event(vma);
	struct perf_buffer *rb;

	/* No count is zero, as the old mapping is still there; so e->rb stays, too. */
	atomic_inc(&e->mmap_count);
	rb = pe_bound_buffer(e);
	atomic_inc(&rb->mmap_count);
	if (maps_aux(vma))
		atomic_inc(&rb->aux.mmap_count);
	tell_pmu_mapped(e, vma->vm_mm);
}

/* Some event that writes to @rb, referenced, except those that are being freed. */
static struct pe_event *get_listener(struct perf_buffer *rb)
{
	struct pe_event *e;

	guard(rcu)();
	list_for_each_entry_rcu(e, &rb->listeners, rb_entry) {
		if (pe_tryget(e))
			return e;
	}
	return NULL;
}

/*
 * Nobody can map @rb any more.  Each turn takes one event off the list or finds that it has left
 * by itself, and starts again from the head: an event that pe_set_output() adds meanwhile does so
 * holding the mmap_mutex of one that is still listed, hence before that one is detached here.
 * Events that are being freed detach themselves and hold a reference on @rb until then.
 */
static void detach_listeners(struct perf_buffer *rb)
{
	struct pe_event *e;

	while ((e = get_listener(rb))) {
		scoped_guard(mutex, &e->mmap_mutex) {
			if (pe_bound_buffer(e) == rb)
				pe_bind_buffer(e, NULL);
		}
		/* What frees it takes locks that are held elsewhere around mmap_lock. */
		pe_put_outside(e);
	}
}

/*
 * One mapping of the AUX area less.  The last one takes the area along: the tracer is stopped, and
 * cannot write any more.  If its driver does not obey, the area stays, and may be mapped again.
 */
static void drop_aux_locked(struct perf_buffer *rb)
{
	lockdep_assert_held(&rb->aux.mutex);
	if (!atomic_dec_and_test(&rb->aux.mmap_count) || !pe_aux_stop(rb, NULL))
		return;
	pe_aux_free(rb);
	pe_charge_settle(&rb->aux.charge);
}

static void pe_vma_close(struct vm_area_struct *vma)
{
	struct pe_event *e = mapped_event(vma);
	struct perf_buffer *rb = pe_buffer_get(e);
	bool last;

	tell_pmu_unmapped(e, vma->vm_mm);

	if (maps_aux(vma)) {
		scoped_guard(mutex, &rb->aux.mutex)
			drop_aux_locked(rb);
	}
	scoped_guard(mutex, &e->mmap_mutex) {
		last = atomic_dec_and_test(&rb->mmap_count);
		if (atomic_dec_and_test(&e->mmap_count))
			pe_bind_buffer(e, NULL);
	}
	if (last) {
		detach_listeners(rb);
		pe_charge_settle(&rb->charge);
	}
	pe_buffer_put(rb);
}

/* Returns the page with a reference, or NULL. */
static struct page *get_buffer_page(struct pe_event *e, unsigned long pgoff)
{
	struct perf_buffer *rb;
	struct page *page;

	guard(rcu)();
	rb = rcu_dereference(e->rb);
	page = rb ? pe_buffer_page(rb, pgoff) : NULL;
	if (page)
		get_page(page);
	return page;
}

/*
 * The reader may write to the control page (data_tail), never to data or AUX.  The mm wants every
 * page of a shared writable mapping of a file to have a place in that file, for it tracks writing
 * by it.
 */
static vm_fault_t pe_vma_fault(struct vm_fault *vmf)
{
	struct file *file = vmf->vma->vm_file;
	struct page *page;

	if (vmf->flags & FAULT_FLAG_WRITE && vmf->pgoff)
		return VM_FAULT_SIGBUS;
	page = get_buffer_page(pe(file->private_data), vmf->pgoff);
	if (!page)
		return VM_FAULT_SIGBUS;

	page->mapping = file->f_mapping;
	page->index = vmf->pgoff;
	vmf->page = page;
	return 0;
}

static vm_fault_t pe_vma_mkwrite(struct vm_fault *vmf)
{
	return vmf->pgoff ? VM_FAULT_SIGBUS : 0;
}

/* Parts of a mapping would be closed one by one, each taken for the whole. */
static int pe_vma_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct vma_ops = {
	.open		= pe_vma_open,
	.close		= pe_vma_close,
	.may_split	= pe_vma_split,
	.fault		= pe_vma_fault,
	.page_mkwrite	= pe_vma_mkwrite,
};

/* ----------------------------------------------------------------------- mmap */

/* The event may be counting on some CPU, which then is the one that writes the control page. */
static void pe_mmap_fill_page(struct pe_ctx *ctx, void *arg)
{
	struct pe_event *e = arg;

	pe_userpage_fill(e);
	if (!(e->attach_state & PERF_ATTACH_CONTEXT))
		return;
	if (list_empty(&e->mapped_entry))
		list_add_tail(&e->mapped_entry, &e->slot->mapped);
}

/* A buffer for @e, charged and bound.  e->mmap_mutex held, e->rb NULL. */
static int make_buffer(struct pe_event *e, struct vm_area_struct *vma, unsigned long nr_pages)
{
	long watermark = e->attr.watermark ? e->attr.wakeup_watermark : 0;
	int flags = vma->vm_flags & VM_WRITE ? PE_BUFFER_WRITABLE : 0;
	struct perf_buffer *rb = NULL;
	struct pe_charge charge;
	int ret;

	ret = pe_charge_take(&charge, vma->vm_mm, nr_pages + 1);
	if (ret)
		return ret;
	if (pe_is_session(e))
		flags |= PE_BUFFER_CROWDED;
	if (nr_pages <= INT_MAX)
		rb = pe_buffer_alloc(nr_pages, watermark, e->cpu, flags);
	if (!rb) {
		pe_charge_cancel(&charge);
		return -ENOMEM;
	}
	pe_charge_keep(&rb->charge, &charge);
	atomic_set(&rb->mmap_count, 1);

	pe_userpage_init(e, rb);	/* before others write there as well */
	pe_bind_buffer(e, rb);
	/*
	 * The count first: an event that perf_pmu_migrate_context() has on its way is in no context
	 * for the call, and comes in with a mapping to be kept up to date.
	 */
	atomic_inc(&e->mmap_count);
	pe_event_call(e, pe_mmap_fill_page, e);
	return 0;
}

/* Makes e->rb a buffer of @nr_pages data pages, with one mapping more.  e->mmap_mutex held. */
static int map_buffer(struct pe_event *e, struct vm_area_struct *vma, unsigned long nr_pages)
{
	struct perf_buffer *rb = pe_bound_buffer(e);

	if (rb && rb->nr_pages != nr_pages)
		return pe_err(-EINVAL, "mmap: the buffer has another size");
	/* Two events would describe themselves on one page. */
	if (rb && rb->owner != e->id && atomic_read(&rb->mmap_count))
		return pe_err(-EBUSY, "mmap: the event writes to the buffer of another one");
	if (rb && rb->owner == e->id && atomic_inc_not_zero(&rb->mmap_count)) {
		atomic_inc(&e->mmap_count);
		return 0;
	}

	/* The last mapping, through another event, is just going. */
	if (rb)
		pe_bind_buffer(e, NULL);
	return make_buffer(e, vma, nr_pages);
}

/*
 * Is this the mapping that the control page speaks of?  That page is the reader's to write, so
 * each value is read once; what they say about an area that exists already must be true.
 */
static bool right_place_for_aux(const struct perf_buffer *rb, struct vm_area_struct *vma)
{
	u64 offset = READ_ONCE(rb->user_page->aux_offset);
	u64 size = READ_ONCE(rb->user_page->aux_size);
	unsigned long nr_pages = vma_pages(vma);

	if (offset < PAGE_SIZE + pe_buffer_data_size(rb))
		return false;
	if (offset != (u64)vma->vm_pgoff << PAGE_SHIFT || size != (u64)nr_pages << PAGE_SHIFT)
		return false;
	if (rb->aux.nr_pages && (rb->aux.pgoff != vma->vm_pgoff || rb->aux.nr_pages != nr_pages))
		return false;
	return is_power_of_2(nr_pages);
}

static int make_aux(struct perf_buffer *rb, struct pe_event *e, struct vm_area_struct *vma)
{
	struct pe_charge charge;
	int ret;

	ret = pe_charge_take(&charge, vma->vm_mm, vma_pages(vma));
	if (ret)
		return ret;
	ret = pe_aux_alloc(rb, e, vma->vm_pgoff, vma_pages(vma), !(vma->vm_flags & VM_WRITE));
	if (ret) {
		pe_charge_cancel(&charge);
		return ret;
	}
	pe_charge_keep(&rb->aux.charge, &charge);
	/* A writer that sees the count sees the area: may_write() in sources/aux_output.c. */
	atomic_set_release(&rb->aux.mmap_count, 1);
	return 0;
}

/* Makes the AUX area of e->rb, if it has none, with one mapping more.  e->mmap_mutex held. */
static int map_aux(struct pe_event *e, struct vm_area_struct *vma)
{
	struct perf_buffer *rb = pe_bound_buffer(e);
	int ret = 0;

	if (!rb)
		return -EINVAL;
	if (vma_pages(vma) > INT_MAX)
		return -ENOMEM;

	guard(mutex)(&rb->aux.mutex);
	if (!right_place_for_aux(rb, vma) || !atomic_read(&rb->mmap_count))
		return -EINVAL;
	if (rb->aux.nr_pages)
		atomic_inc(&rb->aux.mmap_count);
	else
		ret = make_aux(rb, e, vma);
	if (ret)
		return ret;

	/* The last mapping of the buffer, through another event, may have gone meanwhile. */
	if (!atomic_inc_not_zero(&rb->mmap_count)) {
		drop_aux_locked(rb);
		return -EINVAL;
	}
	atomic_inc(&e->mmap_count);
	return 0;
}

/**
 * pe_mmap() - file_operations.mmap of an event
 * @file: the event's
 * @vma: the mapping that is being made; mmap_lock held for writing
 *
 * Return: 0; -EINVAL for a size, offset or kind of mapping, or an event, that cannot be mapped;
 * -EBUSY when it writes to another event's buffer; -ENODEV when the event's PMU is gone; -EPERM
 * when too much memory would be locked; -EOPNOTSUPP for an AUX area of an event that is no tracer;
 * -ENOMEM; what the security module says.
 */
int pe_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct pe_event *e = pe(file->private_data);
	unsigned long nr_pages = vma_pages(vma) - 1;
	int ret;

	might_lock(&pe_ctx(e)->mutex);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return -ENODEV;
	/* All children, on any CPU, would write to the one buffer. */
	if (e->attr.inherit && e->cpu == -1 && !pe_is_session(e))
		return pe_err(-EINVAL, "mmap: an event with inherit needs a CPU");
	if (!(vma->vm_flags & VM_SHARED))
		return pe_err(-EINVAL, "mmap: must be MAP_SHARED");
	ret = security_perf_event_read(&e->pub);
	if (ret)
		return ret;
	if (!maps_aux(vma) && nr_pages && !is_power_of_2(nr_pages))
		return -EINVAL;
	/* A counter can be read by its own task; the buffer of samples is for all copies. */
	if (!is_sampling_event(&e->pub))
		pe_kin_stay_out(e);

	scoped_guard(mutex, &e->mmap_mutex) {
		/* The PMU may have left meanwhile; if not, it stays as long as this is locked. */
		if (e->pmu->gone)
			return -ENODEV;
		ret = maps_aux(vma) ? map_aux(e, vma) : map_buffer(e, vma, nr_pages);
		if (ret)
			return ret;
	}

	if (pe_is_session(e))
		pe_session_share_buffer(e->session, e);
	/* No copy in children of fork: the charge is for one mm. */
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &vma_ops;
	tell_pmu_mapped(e, vma->vm_mm);
	return 0;
}
