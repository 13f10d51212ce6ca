// SPDX-License-Identifier: GPL-2.0
/*
 * ring.c - map the buffer of an event and take records out of it.
 *
 * The reader keeps its own position; only pt_consume() publishes it in
 * data_tail, so that a case decides when the kernel gets space back. A
 * record that wraps around the end of the buffer is put together here.
 *
 * Barriers: data_head is loaded with acquire before the data, data_tail is
 * stored with release after it.
 */
#include "ptest.h"

long pt_page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

void *pt_try_map(int fd, int data_pages, int prot)
{
	void *p = mmap(NULL, (size_t)(1 + data_pages) * (size_t)pt_page_size(), prot, MAP_SHARED,
		       fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Take the mapping's own page faults now, they would disturb counts later. */
static void touch_mapping(struct pt_ring *r)
{
	size_t at;

	for (at = 0; at < r->length; at += (size_t)pt_page_size())
		(void)*(volatile u8 *)((u8 *)r->page + at);
	if (r->writable)
		__atomic_store_n(&r->page->data_tail, 0, __ATOMIC_RELAXED);
}

static void map(struct pt_ring *r, int fd, int data_pages, int prot)
{
	void *p = pt_try_map(fd, data_pages, prot);

	pt_need(p, "mmap of 1+%d pages: %s", data_pages, strerror(errno));
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	r->pages = data_pages;
	r->length = (size_t)(1 + data_pages) * (size_t)pt_page_size();
	r->page = p;
	r->data = (u8 *)p + pt_page_size();
	r->size = (u64)data_pages * (u64)pt_page_size();
	r->writable = prot & PROT_WRITE;
	touch_mapping(r);
}

void pt_map(struct pt_ring *r, int fd, int data_pages)
{
	map(r, fd, data_pages, PROT_READ | PROT_WRITE);
}

void pt_map_ro(struct pt_ring *r, int fd, int data_pages)
{
	map(r, fd, data_pages, PROT_READ);
}

void pt_unmap(struct pt_ring *r)
{
	pt_need(!munmap(r->page, r->length), "munmap: %s", strerror(errno));
	r->page = NULL;
}

u64 pt_head(const struct pt_ring *r)
{
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

static void copy_out(const struct pt_ring *r, u64 at, void *to, size_t len)
{
	u64 off = at & (r->size - 1);
	size_t first = r->size - off;

	if (first > len)
		first = len;
	memcpy(to, r->data + off, first);
	memcpy((u8 *)to + first, r->data, len - first);
}

bool pt_next(struct pt_ring *r, struct pt_record *rec)
{
	u64 head = pt_head(r);

	if (r->tail == head)
		return false;
	pt_need(head - r->tail <= r->size, "head %llu ran over tail %llu",
		(unsigned long long)head, (unsigned long long)r->tail);
	copy_out(r, r->tail, &rec->h, sizeof(rec->h));
	pt_need(rec->h.size >= sizeof(rec->h) && !(rec->h.size & 7) &&
		rec->h.size <= head - r->tail,
		"bad record at %llu: type %u misc %#x size %u, head %llu",
		(unsigned long long)r->tail, rec->h.type, rec->h.misc, rec->h.size,
		(unsigned long long)head);
	copy_out(r, r->tail + sizeof(rec->h), rec->body, rec->h.size - sizeof(rec->h));
	r->tail += rec->h.size;
	return true;
}

bool pt_next_of(struct pt_ring *r, struct pt_record *rec, u32 type)
{
	while (pt_next(r, rec)) {
		if (rec->h.type == type)
			return true;
	}
	return false;
}

void pt_consume(struct pt_ring *r)
{
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

unsigned int pt_count_records(struct pt_ring *r, u32 type)
{
	static struct pt_record rec;
	unsigned int n = 0;

	while (pt_next(r, &rec))
		n += rec.h.type == type;
	if (r->writable)
		pt_consume(r);
	return n;
}

void pt_drain(struct pt_ring *r)
{
	pt_count_records(r, 0);
}
