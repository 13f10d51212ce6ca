// SPDX-License-Identifier: GPL-2.0
/* The tracer of pmu/test_aux.c, as the programs about AUX areas use it. */
#include "aux.h"

#define MODULE	"test_aux"

/* When the task is switched out, the tracer ends; so nobody is to be preferred to it. */
void aux_load(const char *params)
{
	pt_first_on_cpu(0);
	pt_load_module(MODULE, params);
}

void aux_set(const char *param, long long value)
{
	int err = pt_module_set(MODULE, param, value);

	pt_need(!err, "%s=%lld: %s", param, value, strerror(-err));
}

struct perf_event_attr aux_attr(void)
{
	struct perf_event_attr attr;
	int type = pt_pmu_type("test_aux");

	if (type < 0) {
		aux_load(NULL);
		type = pt_pmu_type("test_aux");
	}
	attr = pt_attr((u32)type, 0);
	attr.disabled = 1;
	return attr;
}

void aux_place(struct pt_ring *r, u64 offset, u64 size)
{
	r->page->aux_offset = offset;
	r->page->aux_size = size;
}

int aux_try_map(struct aux *x, int fd, int prot)
{
	void *p = mmap(NULL, x->size, prot, MAP_SHARED, fd, (off_t)x->offset);

	if (p == MAP_FAILED)
		return -errno;
	x->area = p;
	return 0;
}

void aux_map(struct aux *x, int pages, int prot)
{
	u64 i;
	int err;

	x->size = (u64)pages * (u64)pt_page_size();
	x->offset = x->ring.length;
	aux_place(&x->ring, x->offset, x->size);
	err = aux_try_map(x, x->fd, prot);
	pt_need(!err, "mmap of %d AUX pages: %s", pages, strerror(-err));
	/* Its page faults are not to be seen by anybody later. */
	for (i = 0; i < x->size; i += (u64)pt_page_size())
		(void)*(volatile u8 *)(x->area + i);
}

void aux_unmap(struct aux *x)
{
	pt_need(!munmap(x->area, x->size), "munmap of AUX: %s", strerror(errno));
	x->area = NULL;
}

void aux_open_attr(struct aux *x, const struct perf_event_attr *attr, int pages, int prot)
{
	struct perf_event_attr copy = *attr;

	memset(x, 0, sizeof(*x));
	x->fd = pt_open(&copy, 0, -1, -1, 0);
	pt_map(&x->ring, x->fd, AUX_DATA_PAGES);
	aux_map(x, pages, prot);
}

void aux_open(struct aux *x, int pages, int prot)
{
	struct perf_event_attr attr = aux_attr();

	aux_open_attr(x, &attr, pages, prot);
}

int aux_open_source(struct aux *x)
{
	struct perf_event_attr attr = pt_attr((u32)pt_pmu_type("test_aux_src"), 0);

	attr.aux_output = 1;
	return pt_open(&attr, 0, -1, x->fd, 0);
}

u64 aux_head(const struct aux *x)
{
	return __atomic_load_n(&x->ring.page->aux_head, __ATOMIC_ACQUIRE);
}

void aux_consume(struct aux *x, u64 tail)
{
	__atomic_store_n(&x->ring.page->aux_tail, tail, __ATOMIC_RELEASE);
}

void aux_check_bytes(const struct aux *x, u64 pos, u64 len)
{
	u64 i, bad = 0;

	for (i = pos; i < pos + len; i++)
		bad += x->area[i & (x->size - 1)] != (u8)(i % AUX_PATTERN);
	pt_check(!bad, "%llu of %llu bytes from %llu on are wrong", (unsigned long long)bad,
		 (unsigned long long)len, (unsigned long long)pos);
}

long long aux_counter(const char *name)
{
	return pt_module_get("test_aux", name);
}

void aux_check_all_freed(void)
{
	pt_eq(aux_counter("frees"), aux_counter("setups"));
	pt_eq(aux_counter("held"), 0);
}
