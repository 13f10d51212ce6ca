// SPDX-License-Identifier: GPL-2.0
/*
 * aux_mmap.c - the life of an AUX area: which mappings are allowed and who
 * pays for them, what becomes of a tracer that is writing when the area, the
 * buffer or the event goes. See aux.c and aux_shared.c for the rest.
 *
 * needs: smp
 */
#include "lib/aux.h"
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

static int try_area(int fd, u64 offset, u64 length, int prot)
{
	void *p = mmap(NULL, length, prot, MAP_SHARED, fd, (off_t)offset);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, length);
	return 0;
}

static void where(void)
{
	struct perf_event_attr attr = aux_attr();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	struct pt_ring r;

	/* Without a buffer. */
	pt_eq(try_area(fd, 5 * aux_page(), aux_page(), RW), -EINVAL);
	pt_map(&r, fd, 4);
	/* Nobody said where. */
	pt_eq(try_area(fd, 5 * aux_page(), aux_page(), RW), -EINVAL);
	/* Inside of the buffer. */
	aux_place(&r, 4 * aux_page(), aux_page());
	pt_eq(try_area(fd, 4 * aux_page(), aux_page(), RW), -EINVAL);
	/* Elsewhere than said, longer and shorter than said. */
	aux_place(&r, 8 * aux_page(), 2 * aux_page());
	pt_eq(try_area(fd, 5 * aux_page(), 2 * aux_page(), RW), -EINVAL);
	pt_eq(try_area(fd, 8 * aux_page(), aux_page(), RW), -EINVAL);
	pt_eq(try_area(fd, 8 * aux_page(), 4 * aux_page(), RW), -EINVAL);
	/* A gap is allowed. */
	pt_eq(try_area(fd, 8 * aux_page(), 2 * aux_page(), RW), 0);
	aux_place(&r, 8 * aux_page() + 1, 2 * aux_page());
	pt_eq(try_area(fd, 8 * aux_page(), 2 * aux_page(), RW), -EINVAL);
	aux_place(&r, 8 * aux_page(), 3 * aux_page());
	pt_eq(try_area(fd, 8 * aux_page(), 3 * aux_page(), RW), -EINVAL);
	aux_place(&r, 8 * aux_page(), 4 * aux_page() - 1);
	pt_eq(try_area(fd, 8 * aux_page(), 4 * aux_page(), RW), -EINVAL);
	aux_place(&r, ~0ull, 4 * aux_page());
	pt_eq(try_area(fd, 8 * aux_page(), 4 * aux_page(), RW), -EINVAL);
	pt_eq((long)mmap(NULL, aux_page(), RW, MAP_PRIVATE, fd, (off_t)(8 * aux_page())), -1);
	pt_eq(errno, EINVAL);
	aux_check_all_freed();
	pt_eq(aux_counter("setups"), 1);
}

/* An event of another PMU has no area. */
static void no_tracer(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int fd = pt_open(&attr, 0, -1, -1, 0);
	struct pt_ring r;

	pt_map(&r, fd, 4);
	aux_place(&r, 5 * aux_page(), aux_page());
	pt_eq(try_area(fd, 5 * aux_page(), aux_page(), RW), -EOPNOTSUPP);
	aux_place(&r, 5 * aux_page(), 3 * aux_page());
	pt_eq(try_area(fd, 5 * aux_page(), 3 * aux_page(), RW), -EINVAL);
}

/* Class 7: requests for more than there can be are refused early, without a warning. */
static void out_of_bounds(void)
{
	struct perf_event_attr attr = aux_attr();
	int fd = pt_open(&attr, 0, -1, -1, 0), shift;
	struct pt_ring r;

	pt_map(&r, fd, 4);
	/* What there has been of an area is not given back again. */
	aux_place(&r, 8 * aux_page(), 2048 * aux_page());
	pt_eq(try_area(fd, 8 * aux_page(), 2048 * aux_page(), RW), 0);
	for (shift = 20; shift < 34; shift++) {
		u64 length = aux_page() << shift;

		aux_place(&r, 8 * aux_page(), length);
		pt_eq(try_area(fd, 8 * aux_page(), length, RW), -ENOMEM);
	}
	aux_check_all_freed();
}

static void second_mapping(void)
{
	struct aux x, y;

	aux_open(&x, 2, RW);
	y = x;
	pt_eq(aux_try_map(&y, x.fd, PROT_READ), 0);
	/* The control page may lie about it now. */
	aux_place(&x.ring, x.offset, 4 * aux_page());
	pt_eq(try_area(x.fd, x.offset, 4 * aux_page(), RW), -EINVAL);
	aux_place(&x.ring, x.offset + aux_page(), x.size);
	pt_eq(try_area(x.fd, x.offset + aux_page(), x.size, RW), -EINVAL);
	pt_enable(x.fd);
	aux_set("emit", 100);
	aux_check_bytes(&x, 0, 100);
	aux_check_bytes(&y, 0, 100);
	aux_unmap(&x);
	/* The mode is that of the first one, which made the area. */
	aux_set("emit", 100);
	aux_check_bytes(&y, 0, 200);
	pt_eq(pt_count_records(&x.ring, PERF_RECORD_AUX), 2);
	pt_eq(aux_counter("frees"), 0);
	aux_unmap(&y);
	aux_check_all_freed();
}

/* User space reads the area and cannot write to it, cut it, or let it grow. */
static void protected(void)
{
	struct aux x;
	pid_t pid;

	aux_open(&x, 4, RW);
	pt_eq(munmap(x.area, aux_page()), -1);
	pt_eq(munmap(x.area + aux_page(), aux_page()), -1);
	pt_check(mremap(x.area, x.size, 2 * x.size, MREMAP_MAYMOVE) == MAP_FAILED, "it grew");
	pt_in_child(pid) {
		/* It is not inherited either, but a child is a good place to die. */
		void *p = mmap(NULL, x.size, RW, MAP_SHARED, x.fd, (off_t)x.offset);

		if (p == MAP_FAILED)
			_exit(1);
		*(volatile u8 *)p = 1;
		_exit(2);
	}
	pt_reap_killed(pid, SIGBUS);
}

static void moved(void)
{
	struct aux x;
	void *to;

	aux_open(&x, 2, RW);
	pt_enable(x.fd);
	aux_set("emit", 100);
	to = mmap(NULL, x.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	x.area = mremap(x.area, x.size, x.size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	pt_need(x.area == to, "mremap: %s", strerror(errno));
	pt_eq(aux_counter("mapped"), 2);	/* with the buffer; it was told of all three */
	aux_check_bytes(&x, 0, 100);
	aux_set("emit", 100);
	aux_check_bytes(&x, 100, 100);
	pt_eq(aux_counter("frees"), 0);
	aux_unmap(&x);
	pt_eq(aux_counter("mapped"), 1);
	aux_check_all_freed();
}

/* The tracer is stopped, what it had is told, and it cannot begin again. */
static void unmap_while_writing(void)
{
	struct perf_event_attr clock = pt_attr(PT_SW(CPU_CLOCK));
	static struct pt_record rec;
	struct aux x;
	u64 *body = (u64 *)rec.body, before;
	int ticks;

	aux_open(&x, 2, RW);
	clock.sample_period = 1ull << 40;	/* a timer is what a CPU has of it */
	ticks = pt_open(&clock, 0, -1, -1, 0);
	pt_enable(x.fd);
	aux_set("put", 100);
	pt_eq(aux_counter("held"), 1);
	aux_unmap(&x);
	/* It alone is stopped. */
	before = pt_count(ticks);
	pt_spin(1000);
	pt_check(pt_count(ticks) > before, "the clock stands still");
	aux_check_all_freed();
	pt_eq(aux_counter("frees"), 1);
	pt_need(pt_next(&x.ring, &rec), "no record");
	pt_eq(rec.h.type, PERF_RECORD_AUX);
	pt_eq(body[0], 0);
	pt_eq(body[1], 100);
	pt_eq(aux_head(&x), 100);
	aux_set("emit", 100);
	pt_check(!pt_next(&x.ring, &rec), "a record without an area");
	/* A new area, of another size: the head goes on. */
	aux_map(&x, 4, RW);
	pt_disable(x.fd);
	pt_enable(x.fd);
	aux_set("emit", 5000);
	pt_need(pt_next(&x.ring, &rec), "no record from the new area");
	pt_eq(body[0], 100);
	pt_eq(body[1], 5000);
	aux_check_bytes(&x, 100, 5000);
}

/*
 * The interrupt of a tracer has closed its handle and got no other one: its driver may still need
 * the area, as CoreSight's does, so the event is stopped before that is freed.
 */
static void check_unmap_without_a_handle(pid_t pid, int cpu)
{
	struct perf_event_attr attr = aux_attr();
	struct aux x;

	pt_first_on_cpu(0);	/* a switch stops it, too */
	x.fd = pt_open(&attr, pid, cpu, -1, 0);
	pt_map(&x.ring, x.fd, AUX_DATA_PAGES);
	aux_map(&x, 2, RW);
	pt_enable(x.fd);
	aux_set("drop", 1);
	pt_eq(aux_counter("held"), 0);
	pt_eq(aux_counter("stops"), 0);
	aux_unmap(&x);
	pt_eq(aux_counter("stops"), 1);
	aux_check_all_freed();
	pt_eq(aux_counter("early"), 0);
}

static void unmap_without_a_handle(void)
{
	check_unmap_without_a_handle(0, -1);
}

static void unmap_without_a_handle_on_a_cpu(void)
{
	check_unmap_without_a_handle(-1, 0);
}

/* The same for an event that is given another buffer. */
static void redirect_without_a_handle(void)
{
	struct perf_event_attr attr = aux_attr();
	struct aux x;
	int fd;

	pt_first_on_cpu(0);
	aux_open(&x, 2, RW);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)x.fd), 0);
	pt_enable(fd);
	aux_set("drop", 1);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)-1), 0);
	pt_eq(aux_counter("stops"), 1);
	aux_unmap(&x);
	aux_check_all_freed();
	pt_eq(aux_counter("early"), 0);
}

/* The area keeps the buffer, and the event its mappings. */
static void buffer_goes_first(void)
{
	struct aux x;

	aux_open(&x, 2, RW);
	pt_enable(x.fd);
	pt_unmap(&x.ring);
	aux_set("emit", 100);
	aux_check_bytes(&x, 0, 100);
	close(x.fd);
	aux_set("emit", 100);
	aux_check_bytes(&x, 100, 100);
	pt_eq(aux_counter("frees"), 0);
	aux_unmap(&x);
	aux_check_all_freed();
}

static void close_while_writing(void)
{
	struct aux x;

	aux_open(&x, 2, RW);
	pt_enable(x.fd);
	aux_set("put", 100);
	close(x.fd);
	pt_eq(aux_counter("held"), 1);
	aux_unmap(&x);
	aux_check_all_freed();
	pt_unmap(&x.ring);
}

static void exit_while_writing(void)
{
	struct aux x;
	pid_t pid;

	aux_attr();	/* load it here */
	pt_in_child(pid) {
		aux_open(&x, 2, RW);
		pt_enable(x.fd);
		aux_set("put", 100);
	}
	pt_reap(pid);
	pt_eq(aux_counter("setups"), 1);
	aux_check_all_freed();
}

/* ------------------------------------------------------------------ the price */

static long long locked_kb(void)
{
	char line[256];
	long long kb = -1;
	FILE *f = fopen("/proc/self/status", "re");

	pt_need(f, "/proc/self/status");
	while (fgets(line, sizeof(line), f))
		sscanf(line, "VmPin: %lld", &kb);
	fclose(f);
	return kb;
}

/* An area has one price, however often it is mapped, and gets it back with the last mapping. */
static void price(void)
{
	long long kb = (long long)aux_page() / 1024, before;
	struct aux x, y;
	int i;

	pt_sysctl_set("perf_event_mlock_kb", 0);
	before = locked_kb();
	aux_open(&x, 4, RW);
	y = x;
	pt_eq(locked_kb(), before + (1 + AUX_DATA_PAGES + 4) * kb);
	pt_eq(aux_try_map(&y, x.fd, RW), 0);
	pt_eq(locked_kb(), before + (1 + AUX_DATA_PAGES + 4) * kb);
	aux_unmap(&y);
	pt_eq(locked_kb(), before + (1 + AUX_DATA_PAGES + 4) * kb);
	for (i = 0; i < 3; i++) {
		aux_unmap(&x);
		pt_eq(locked_kb(), before + (1 + AUX_DATA_PAGES) * kb);
		aux_map(&x, 8 << i, RW);
		pt_eq(locked_kb(), before + (1 + AUX_DATA_PAGES + (8 << i)) * kb);
	}
	pt_unmap(&x.ring);
	aux_unmap(&x);
	pt_eq(locked_kb(), before);
}

static void too_dear(void)
{
	struct perf_event_attr attr = aux_attr();
	struct rlimit none = { 0, 0 };
	struct pt_ring r;
	int fd;

	pt_sysctl_set("perf_event_paranoid", 0);
	pt_sysctl_set("perf_event_mlock_kb", 8 * (long long)aux_page() / 1024);	/* a CPU */
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_need(!setrlimit(RLIMIT_MEMLOCK, &none), "setrlimit");
	pt_become_nobody();
	pt_map(&r, fd, 2);
	aux_place(&r, 8 * aux_page(), 1ull << 30);
	pt_eq(try_area(fd, 8 * aux_page(), 1ull << 30, RW), -EPERM);
	aux_place(&r, 8 * aux_page(), aux_page());
	pt_eq(try_area(fd, 8 * aux_page(), aux_page(), RW), 0);
	aux_place(&r, 8 * aux_page(), 1ull << 30);
	pt_eq(try_area(fd, 8 * aux_page(), 1ull << 30, RW), -EPERM);
}

/* ------------------------------------------------------------------------ runs */

static void check_runs(const char *params, u32 mark, int prot, int pages, int runs)
{
	struct perf_event_attr attr;
	struct aux x;

	aux_load(params);
	attr = aux_attr();
	attr.aux_watermark = mark;
	aux_open_attr(&x, &attr, pages, prot);
	pt_eq(aux_counter("runs"), runs);
	/* Each page is one of its own all the same. */
	pt_eq(aux_counter("unheld"), 0);
	pt_enable(x.fd);
	aux_set("put", 3 * (long long)aux_page());
	pt_disable(x.fd);
	aux_check_bytes(&x, 0, 3 * aux_page());
	close(x.fd);
	aux_unmap(&x);
	pt_unmap(&x.ring);
	aux_check_all_freed();
	pt_eq(pt_unload_module("test_aux"), 0);
}

/* Pages in a row, for PMUs that want them. */
static void page_runs(void)
{
	check_runs("", 0, RW, 16, 16);
	check_runs("caps=0x400", 0, RW, 16, 2);			/* PREFER_LARGE: half of it */
	check_runs("caps=0x400", 2 * 4096, RW, 16, 16 * (int)aux_page() / 8192);
	check_runs("caps=0x4", 0, RW, 16, 2);			/* NO_SG */
	check_runs("caps=0x4", 0, PROT_READ, 16, 1);
	check_runs("caps=0x400", 0, PROT_READ, 16, 1);
	check_runs("", 0, PROT_READ, 16, 16);
}

/* A snapshot of a PMU that cannot go from run to run is one run, or nothing. */
static void no_such_run(void)
{
	struct perf_event_attr attr;
	struct pt_ring r;
	u64 length = 4096 * aux_page();	/* 16 MiB and more, beyond the page allocator */
	long long before;
	int fd;

	aux_load("caps=0x4");
	pt_sysctl_set("perf_event_mlock_kb", 0);
	attr = aux_attr();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 4);
	before = locked_kb();
	aux_place(&r, 8 * aux_page(), length);
	pt_eq(try_area(fd, 8 * aux_page(), length, PROT_READ), -ENOMEM);
	pt_eq(locked_kb(), before);
	pt_eq(aux_counter("setups"), 0);
	aux_check_all_freed();
}

/* ------------------------------------------------------------------ races */

static volatile bool stop_all;

static void *spin(void *arg)
{
	struct sched_param none = { 0 };

	(void)arg;
	pt_pin(1);
	sched_setscheduler(0, SCHED_OTHER, &none);
	while (!stop_all)
		pt_spin(100);
	return NULL;
}

/* The area comes and goes on one CPU while the tracer writes from a timer of another. */
static void unmap_against_writer(void)
{
	struct perf_event_attr attr;
	struct aux x;
	pthread_t t;
	int i, written = 0;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	aux_load("auto_bytes=512 auto_ns=20000");
	attr = aux_attr();
	attr.disabled = 0;
	pt_need(!pthread_create(&t, NULL, spin, NULL), "thread");
	memset(&x, 0, sizeof(x));
	x.fd = pt_open(&attr, -1, 1, -1, 0);
	pt_map(&x.ring, x.fd, AUX_DATA_PAGES);
	for (i = 0; i < 200; i++) {
		u64 head = aux_head(&x);

		aux_map(&x, 1 << (i % 4), i % 3 ? RW : PROT_READ);
		aux_consume(&x, head);
		pt_disable(x.fd);
		pt_enable(x.fd);
		while (i % 3 && aux_head(&x) == head)
			sched_yield();
		written += aux_head(&x) != head;
		aux_unmap(&x);
		pt_eq(aux_counter("held"), 0);
		pt_drain(&x.ring);
	}
	pt_check(written > 100, "written to %d of 200 areas", written);
	stop_all = true;
	pthread_join(t, NULL);
	aux_check_all_freed();
}

static void *remap(void *arg)
{
	struct aux *shared = arg;
	unsigned int i;

	if (pt_online_cpus() > 1)
		pt_pin(1);
	for (i = 0; i < pt_turns(300); i++) {
		void *p = mmap(NULL, shared->size, PROT_READ, MAP_SHARED, shared->fd,
			       (off_t)shared->offset);

		if (p != MAP_FAILED)
			munmap(p, shared->size);
	}
	return NULL;
}

/* Two threads map and unmap the same area: it is made and freed by whoever comes first and last. */
static void map_against_unmap(void)
{
	struct aux x, y;
	unsigned int i;
	pthread_t t;

	aux_open(&x, 2, PROT_READ);
	pt_enable(x.fd);
	y = x;
	aux_unmap(&x);
	pt_need(!pthread_create(&t, NULL, remap, &y), "thread");
	for (i = 0; i < pt_turns(300); i++) {
		pt_eq(aux_try_map(&x, x.fd, PROT_READ), 0);
		aux_unmap(&x);
	}
	pthread_join(t, NULL);
	aux_check_all_freed();
}

static const struct pt_case cases[] = {
	{ "where", where },
	{ "no_tracer", no_tracer },
	{ "out_of_bounds", out_of_bounds },
	{ "second_mapping", second_mapping },
	{ "protected", protected },
	{ "moved", moved },
	{ "unmap_while_writing", unmap_while_writing },
	{ "unmap_without_a_handle", unmap_without_a_handle },
	{ "unmap_without_a_handle_on_a_cpu", unmap_without_a_handle_on_a_cpu },
	{ "redirect_without_a_handle", redirect_without_a_handle },
	{ "buffer_goes_first", buffer_goes_first },
	{ "close_while_writing", close_while_writing },
	{ "exit_while_writing", exit_while_writing },
	{ "price", price },
	{ "too_dear", too_dear },
	{ "page_runs", page_runs },
	{ "no_such_run", no_such_run },
	{ "unmap_against_writer", unmap_against_writer },
	{ "map_against_unmap", map_against_unmap },
};

PT_MAIN(cases)
