// SPDX-License-Identifier: GPL-2.0
/*
 * The pages of an AUX area, and the driver's description of them.
 *
 * An area belongs to a buffer (rb->aux).  The first mmap() at the offset that user space wrote
 * into the control page makes it, the last unmapping frees it; mmap.c sees to both, and to the
 * charge.  The freeing code has stopped the tracers before (bind.c), so nobody but the holder of
 * rb->aux.mutex looks at the fields that change here.
 *
 * Drivers get an array with the address of each page.  They find runs of pages that are physically
 * contiguous through the first page of a run: PagePrivate is set there, and page_private() is the
 * order of the run.  Runs exist only for PMUs that ask for them (PERF_PMU_CAP_AUX_NO_SG,
 * PERF_PMU_CAP_AUX_PREFER_LARGE) and may be smaller than wanted; every page is freed on its own.
 *
 * The module of the PMU is pinned by the area.  An event of another PMU can share the buffer and
 * have the last mapping, when no event of the tracer is left.
 *
 * Task context, sleeps; mmap_lock, an event's mmap_mutex and rb->aux.mutex are held.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "ring.h"

/* The default: double buffering for the driver. */
static unsigned long default_watermark(unsigned long nr_pages)
{
	return min_t(unsigned long, U32_MAX, nr_pages << (PAGE_SHIFT - 1));
}

/* The order of the largest run that makes sense for the PMU. */
static unsigned int wanted_order(const struct pmu *pmu, const struct pe_aux *aux,
				 unsigned long nr_pages)
{
	if (!(pmu->capabilities & (PERF_PMU_CAP_AUX_NO_SG | PERF_PMU_CAP_AUX_PREFER_LARGE)))
		return 0;
	/* A run that is full is a reason for an interrupt, which is when the reader is woken. */
	return aux->overwrite ? ilog2(nr_pages) : get_order(aux->watermark);
}

/* A run of at most 2^@order pages, or NULL. */
static struct page *grab_run(int node, unsigned int order)
{
	const gfp_t gfp = pe_pages_gfp() | __GFP_NOWARN | __GFP_NORETRY;
	struct page *page = alloc_pages_node(node, gfp, order);

	while (!page && order)
		page = alloc_pages_node(node, gfp, --order);
	if (!page || !order)
		return page;
	split_page(page, order);
	SetPagePrivate(page);
	set_page_private(page, order);
	return page;
}

/* Fills aux->pages; aux->nr_pages tells how far it came. */
static int grab_pages(struct pe_aux *aux, unsigned long nr_pages, unsigned int order, int node)
{
	while (aux->nr_pages < nr_pages) {
		unsigned int fits = min_t(unsigned int, ilog2(nr_pages - aux->nr_pages),
					  MAX_PAGE_ORDER);
		struct page *page = grab_run(node, min(order, fits)), *end;

		if (!page)
			return -ENOMEM;
		end = page + (PagePrivate(page) ? BIT(page_private(page)) : 1);
		for (; page < end; page++)
			aux->pages[aux->nr_pages++] = page_address(page);
	}
	return 0;
}

static void drop_page(void *addr)
{
	struct page *page = virt_to_page(addr);

	ClearPagePrivate(page);
	set_page_private(page, 0);
	page->mapping = NULL;	/* set while it was in a page table */
	__free_page(page);
}

/* Without scatter-gather and without interrupts to go from run to run, one run is all there is. */
static bool one_run_needed(const struct pmu *pmu, const struct pe_aux *aux)
{
	return aux->overwrite && pmu->capabilities & PERF_PMU_CAP_AUX_NO_SG;
}

static bool is_one_run(const struct pe_aux *aux)
{
	struct page *first = virt_to_page(aux->pages[0]);

	return aux->nr_pages == 1 ||
	       (PagePrivate(first) && BIT(page_private(first)) == aux->nr_pages);
}

static int grab_area(struct pe_aux *aux, struct pe_event *e, unsigned long nr_pages)
{
	int node = e->cpu < 0 ? NUMA_NO_NODE : cpu_to_node(e->cpu);

	/* The caller of mmap() chose the number: too many are an error, not a warning. */
	if (nr_pages > KMALLOC_MAX_SIZE / sizeof(*aux->pages))
		return -ENOMEM;
	aux->pages = kcalloc_node(nr_pages, sizeof(*aux->pages), GFP_KERNEL, node);
	if (!aux->pages)
		return -ENOMEM;
	if (grab_pages(aux, nr_pages, wanted_order(e->pmu, aux, nr_pages), node))
		return -ENOMEM;
	if (one_run_needed(e->pmu, aux) && !is_one_run(aux))
		return -ENOMEM;
	aux->priv = e->pmu->setup_aux(&e->pub, aux->pages, nr_pages, aux->overwrite);
	return aux->priv ? 0 : -ENOMEM;
}

/**
 * pe_aux_alloc() - make the AUX area of a buffer
 * @rb: the buffer, without an area
 * @e: an event that writes there, the one that is mapped
 * @pgoff: offset of the mapping, in pages
 * @nr_pages: its size, a power of two
 * @overwrite: the mapping is read-only
 *
 * The area has no writer and no mapping yet.
 *
 * Return: 0; -EOPNOTSUPP if the event is no tracer; -ENOMEM.
 */
int pe_aux_alloc(struct perf_buffer *rb, struct pe_event *e, unsigned long pgoff,
		 unsigned long nr_pages, bool overwrite)
{
	struct pe_aux *aux = &rb->aux;
	int err;

	lockdep_assert_held(&aux->mutex);
	if (!has_aux(&e->pub))
		return -EOPNOTSUPP;
	if (!aux->cpus) {
		struct cpumask *cpus = kzalloc(cpumask_size(), GFP_KERNEL);

		if (!cpus)
			return -ENOMEM;
		smp_store_release(&aux->cpus, cpus);	/* pe_aux_stop() */
	}

	aux->overwrite = overwrite;
	aux->watermark = 0;
	if (!overwrite)
		aux->watermark = e->attr.aux_watermark ?: default_watermark(nr_pages);
	aux->pgoff = pgoff;
	/* Looked at by begin, which then looks again. */
	WRITE_ONCE(aux->serial, e->pmu->serial);
	aux->free_priv = e->pmu->free_aux;
	aux->module = e->pmu->module;
	__module_get(aux->module);

	err = grab_area(aux, e, nr_pages);
	if (err)
		pe_aux_free(rb);
	return err;
}

/**
 * pe_aux_free() - free the AUX area of a buffer, or what there is of it
 * @rb: the buffer; its area has no writer and no mapping, and can get none
 */
void pe_aux_free(struct perf_buffer *rb)
{
	struct pe_aux *aux = &rb->aux;

	lockdep_assert_held(&aux->mutex);
	if (aux->priv)
		aux->free_priv(aux->priv);
	aux->priv = NULL;
	while (aux->nr_pages)
		drop_page(aux->pages[--aux->nr_pages]);
	kfree(aux->pages);
	aux->pages = NULL;
	module_put(aux->module);
	aux->module = NULL;
}
