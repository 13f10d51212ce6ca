// SPDX-License-Identifier: GPL-2.0
/*
 * mmap_ring.c - the data buffer: which mappings are allowed and who pays for
 * them, how long it lives, where records go in it, and when a reader wakes.
 *
 * What the records say is covered elsewhere; here a page fault with period 1
 * is merely a way to put a record of known size into the buffer. Overwrite
 * mode and lost records have programs of their own.
 */
#include "lib/aux.h"
#include <poll.h>
#include <sys/resource.h>
#include <sys/uio.h>

/* One sample of 8 + 8 bytes per page fault. */
static struct perf_event_attr sampling(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	attr.disabled = 1;
	return attr;
}

#define RECORD_SIZE	16

static int open_sampling(void)
{
	struct perf_event_attr attr = sampling();

	return pt_open(&attr, 0, -1, -1, 0);
}

static int try_mmap(int fd, size_t bytes, int prot, int flags, off_t off)
{
	void *p = mmap(NULL, bytes, prot, flags, fd, off);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, bytes);
	return 0;
}

static void sizes(void)
{
	size_t page = (size_t)pt_page_size();
	int fd = open_sampling();
	int n, rw = PROT_READ | PROT_WRITE;

	for (n = 0; n < 40; n++) {
		bool good = !n || !(n & (n - 1));
		int ret = try_mmap(fd, (size_t)(n + 1) * page, rw, MAP_SHARED, 0);

		pt_check(ret == (good ? 0 : -EINVAL), "1+%d pages gave %d", n, ret);
	}
	pt_eq(try_mmap(fd, 2 * page, rw, MAP_PRIVATE, 0), -EINVAL);
	pt_eq(try_mmap(fd, 2 * page, PROT_READ, MAP_PRIVATE, 0), -EINVAL);
	/* beyond the first page there is only AUX, of which there is none */
	pt_eq(try_mmap(fd, 2 * page, rw, MAP_SHARED, (off_t)page), -EINVAL);
	pt_eq(try_mmap(fd, 4 * page, rw, MAP_SHARED, (off_t)(16 * page)), -EINVAL);
}

static void impossible_sizes(void)
{
	size_t page = (size_t)pt_page_size();
	int fd = open_sampling();
	int shift;

	/* 2^n pages that no allocation can give: refused, not warned about. */
	for (shift = 22; shift < 32; shift++) {
		int ret = try_mmap(fd, ((1ull << shift) + 1) * page, PROT_READ | PROT_WRITE,
				   MAP_SHARED, 0);

		pt_check(ret == -ENOMEM || ret == -EPERM || ret == -EINVAL,
			 "2^%d pages gave %d", shift, ret);
	}
}

static void inherited_task_event(void)
{
	struct perf_event_attr attr = sampling();
	size_t page = (size_t)pt_page_size();

	attr.inherit = 1;
	pt_eq(try_mmap(pt_open(&attr, 0, -1, -1, 0), 2 * page, PROT_READ, MAP_SHARED, 0),
	      -EINVAL);
	pt_eq(try_mmap(pt_open(&attr, 0, 0, -1, 0), 2 * page, PROT_READ, MAP_SHARED, 0), 0);
}

static void second_mapping(void)
{
	int fd = open_sampling();
	struct pt_ring a, b;
	size_t page = (size_t)pt_page_size();

	pt_map(&a, fd, 4);
	/* Same size or nothing. */
	pt_eq(try_mmap(fd, 3 * page, PROT_READ, MAP_SHARED, 0), -EINVAL);
	pt_eq(try_mmap(fd, 9 * page, PROT_READ, MAP_SHARED, 0), -EINVAL);
	pt_map_ro(&b, fd, 4);
	pt_enable(fd);
	pt_fault(5);
	pt_disable(fd);
	pt_eq(pt_head(&a), 5 * RECORD_SIZE);
	pt_eq(pt_head(&b), 5 * RECORD_SIZE);
	/* The same memory, and the first mapping may go first. */
	pt_check(!memcmp(a.data, b.data, 5 * RECORD_SIZE), "two mappings differ");
	pt_unmap(&a);
	pt_enable(fd);
	pt_fault(5);
	pt_disable(fd);
	pt_eq(pt_head(&b), 10 * RECORD_SIZE);
	pt_unmap(&b);
	/* All gone: a new one starts empty, of any size. */
	pt_map(&a, fd, 1);
	pt_eq(pt_head(&a), 0);
}

static void outlives_the_fd(void)
{
	int fd = open_sampling();
	struct pt_ring r;

	pt_map(&r, fd, 2);
	pt_enable(fd);
	pt_fault(3);
	close(fd);
	/* The mapping holds the event: it goes on. */
	pt_fault(4);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 7);
	pt_unmap(&r);
}

/*
 * Buffers are freed after a grace period, by a worker. Nothing tells when; if they are not by then
 * there is less to be seen.
 */
static void let_them_be_freed(void)
{
	usleep(100000);
}

/* A page that a pipe has got is the pipe's when the buffer has gone, and others are made. */
static void page_outlives_the_buffer(void)
{
	size_t size = (size_t)pt_page_size();
	int nr, turn, fd, ends[2];

	for (nr = 0; nr < 8; nr++) {
		char *was = malloc(size), *is = malloc(size);
		struct iovec one = { .iov_len = size };
		struct pt_ring r;

		pt_need(was && is && !pipe(ends), "no memory, or no pipe");
		fd = open_sampling();
		pt_map(&r, fd, 8);
		pt_enable(fd);
		pt_fault((unsigned int)(r.size / RECORD_SIZE));
		pt_disable(fd);
		one.iov_base = r.data + (size_t)nr * size;
		memcpy(was, one.iov_base, size);
		pt_eq(vmsplice(ends[1], &one, 1, 0), size);
		pt_unmap(&r);
		close(fd);
		let_them_be_freed();
		for (turn = 0; turn < 20; turn++) {
			fd = open_sampling();
			pt_map(&r, fd, 8);
			pt_eq(r.data[0], 0);
			pt_unmap(&r);
			close(fd);
			if (turn % 10 == 9)
				let_them_be_freed();
		}
		pt_eq(read(ends[0], is, size), size);
		pt_check(was[0] == PERF_RECORD_SAMPLE && !memcmp(was, is, size),
			 "page %d is another one's", nr);
		close(ends[0]);
		close(ends[1]);
		free(was);
		free(is);
	}
}

static void no_split_no_growth(void)
{
	size_t page = (size_t)pt_page_size();
	int fd = open_sampling();
	struct pt_ring r;
	void *to;

	pt_map(&r, fd, 4);
	pt_eq(munmap((u8 *)r.page + page, page), -1);
	pt_eq(errno, EINVAL);
	pt_eq(munmap(r.page, page), -1);
	pt_eq(munmap((u8 *)r.page + 4 * page, page), -1);
	to = mremap(r.page, r.length, r.length + 4 * page, MREMAP_MAYMOVE);
	pt_check(to == MAP_FAILED, "grown by mremap");
	to = mremap(r.page, r.length, 2 * page, 0);
	pt_check(to == MAP_FAILED, "shrunk by mremap");
	pt_eq(mprotect((u8 *)r.page + page, page, PROT_READ), -1);
	/* As a whole it may move. */
	to = mremap(r.page, r.length, r.length, MREMAP_MAYMOVE);
	pt_check(to == r.page, "moved by a mremap of the same size");
	pt_enable(fd);
	pt_fault(2);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 2);
	pt_unmap(&r);
}

static void not_copied_by_fork(void)
{
	int fd = open_sampling();
	struct pt_ring r;
	pid_t pid;

	pt_map(&r, fd, 2);
	pt_in_child(pid) {
		unsigned char v;

		/* mincore of a hole is ENOMEM */
		_exit(!(mincore(r.page, (size_t)pt_page_size(), &v) == -1 && errno == ENOMEM));
	}
	pt_reap(pid);
}

static void header_of_the_page(void)
{
	int fd = open_sampling();
	struct pt_ring r;

	pt_map(&r, fd, 8);
	pt_eq(r.page->version, 0);
	pt_eq(r.page->compat_version, 0);
	pt_eq(r.page->data_offset, pt_page_size());
	pt_eq(r.page->data_size, 8 * pt_page_size());
	pt_eq(r.page->data_head, 0);
	pt_eq(r.page->data_tail, 0);
	pt_eq(r.page->aux_size, 0);
	pt_eq(r.page->size, offsetof(struct perf_event_mmap_page, __reserved));
	pt_eq(r.page->cap_bit0, 0);
	pt_eq(r.page->cap_bit0_is_deprecated, 1);
	pt_eq(r.page->lock & 1, 0);
}

static void records_wrap_around(void)
{
	struct perf_event_attr attr = sampling();
	static struct pt_record rec;
	unsigned int seen = 0, turn;
	struct pt_sample s;
	struct pt_ring r;
	u64 last = 0;
	int fd;

	/* 8 + 6 * 8 = 56 bytes, which does not divide the buffer. */
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_IP;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 1);
	pt_enable(fd);
	for (turn = 0; turn < 20; turn++) {
		u8 *p = pt_fresh_pages(50);
		unsigned int i;

		pt_touch(p, 50);
		for (i = 0; i < 50; i++) {
			pt_need(pt_next(&r, &rec), "record %u of turn %u is missing", i, turn);
			pt_eq(rec.h.size, 56);
			pt_parse_sample(&attr, &rec, &s);
			pt_eq(s.tid, pt_tid());
			pt_eq(s.addr, pt_addr(p) + i * (u64)pt_page_size());
			pt_eq(s.id, pt_id(fd));
			pt_check(s.time >= last, "time went back");
			last = s.time;
			seen++;
		}
		pt_check(!pt_next(&r, &rec), "a record too many");
		pt_consume(&r);
		munmap(p, 50 * (size_t)pt_page_size());
	}
	pt_eq(seen, 1000);
	pt_eq(pt_head(&r), 1000 * 56);
	pt_eq(pt_count(fd), 1000);
}

static void full_until_consumed(void)
{
	int fd = open_sampling();
	struct pt_ring r;
	unsigned int room;

	pt_map(&r, fd, 1);
	room = (unsigned int)(r.size / RECORD_SIZE);
	pt_enable(fd);
	pt_fault(room + 50);
	/* The reader's position protects what it has not read. */
	pt_check(pt_head(&r) <= r.size, "head %llu beyond a buffer never read",
		 (unsigned long long)pt_head(&r));
	pt_check(pt_head(&r) >= r.size - RECORD_SIZE, "head %llu, buffer not full",
		 (unsigned long long)pt_head(&r));
	pt_eq(pt_count(fd), room + 50);
}

/* Whatever user space writes into the first page is its own problem only. */
static void hostile_reader(void)
{
	static const u64 tails[] = {
		~0ull, 1, 1ull << 63, 0x123456789abcdefull, 4096, 4095, (u64)-16,
	};
	int fd = open_sampling();
	struct pt_ring r;
	unsigned int i;

	pt_map(&r, fd, 1);
	pt_enable(fd);
	for (i = 0; i < PT_ARRAY_SIZE(tails); i++) {
		__atomic_store_n(&r.page->data_tail, tails[i], __ATOMIC_RELEASE);
		pt_fault(300);
	}
	/* The rest of the page is for reading; the kernel does not believe it. */
	memset((u8 *)r.page + offsetof(struct perf_event_mmap_page, data_offset), 0xff, 48);
	r.page->lock = 7;
	r.page->index = 99;
	pt_fault(50);
	pt_reset(fd);
	pt_eq(try_mmap(fd, 4 * (size_t)pt_page_size(), PROT_READ, MAP_SHARED,
		       (off_t)(64 * pt_page_size())), -EINVAL);
	pt_disable(fd);
	pt_unmap(&r);
	/* And the next mapping is as good as new. */
	pt_map(&r, fd, 1);
	pt_reset(fd);
	pt_enable(fd);
	pt_fault(3);
	pt_disable(fd);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 3);
}

/* poll() says IN only when a wakeup happened since the last poll(). */
static int poll_now(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLERR | POLLHUP };

	pt_need(poll(&p, 1, 0) >= 0, "poll: %s", strerror(errno));
	return p.revents;
}

static void wakeup_events(void)
{
	struct perf_event_attr attr = sampling();
	struct pt_ring r;
	int fd, i;

	attr.wakeup_events = 3;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 4);
	pt_eq(poll_now(fd), 0);
	pt_enable(fd);
	for (i = 1; i <= 12; i++) {
		pt_fault(1);
		pt_check(poll_now(fd) == (i % 3 ? 0 : POLLIN), "poll after %d events", i);
	}
}

static void wakeup_watermark(void)
{
	struct perf_event_attr attr = sampling();
	struct pt_ring r;
	int fd, i;

	attr.watermark = 1;
	attr.wakeup_watermark = 5 * RECORD_SIZE;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 4);
	pt_enable(fd);
	for (i = 1; i <= 30; i++) {
		int got;

		pt_fault(1);
		got = poll_now(fd);
		/* Each time another five records' worth is exceeded. */
		pt_check(!!(got & POLLIN) == (i > 1 && i % 5 == 1), "%s after %d events",
			 got & POLLIN ? "woken" : "not woken", i);
	}
}

/* No watermark given: half of the buffer. */
static void default_watermark(void)
{
	int fd = open_sampling();
	unsigned int half, i, woken = 0;
	struct pt_ring r;

	pt_map(&r, fd, 2);
	half = (unsigned int)(r.size / 2 / RECORD_SIZE);
	pt_enable(fd);
	for (i = 1; i <= half + 2; i++) {
		pt_fault(1);
		if (poll_now(fd) & POLLIN) {
			woken++;
			pt_check(i == half + 1, "woken after %u of %u events", i, half);
		}
	}
	pt_eq(woken, 1);
}

static void poll_without_buffer(void)
{
	struct perf_event_attr attr = sampling();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	struct pt_ring r;

	pt_check(poll_now(fd) & POLLHUP, "an event without a buffer has nothing to wait for");
	/* A control page alone is a buffer, an empty one. */
	r.page = pt_try_map(fd, 0, PROT_READ);
	pt_need(r.page, "mmap of one page: %s", strerror(errno));
	pt_eq(poll_now(fd), 0);
	pt_enable(fd);
	pt_fault(10);
	pt_eq(poll_now(fd), 0);
	pt_eq(pt_head(&r), 0);
}

static void waiting_poll_is_woken(void)
{
	struct perf_event_attr attr = sampling();
	struct pollfd p;
	int ready[2], done[2], fd;
	struct pt_ring r;
	pid_t pid;

	pt_gate_make(ready);
	pt_gate_make(done);
	pt_in_child(pid) {
		/* The one that is measured waits until the poller is about to sleep. */
		pt_gate_wait(ready);
		pt_fault(50);
		pt_gate_wait(done);
	}
	attr.disabled = 0;
	attr.wakeup_events = 50;
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&r, fd, 4);
	p.fd = fd;
	p.events = POLLIN;
	pt_gate_open(ready);
	pt_eq(poll(&p, 1, 10000), 1);
	pt_eq(p.revents, POLLIN);
	pt_check(pt_count_records(&r, PERF_RECORD_SAMPLE) >= 50, "woken too early");
	pt_gate_open(done);
	pt_reap(pid);
}

static void redirected_event_wakes_both(void)
{
	struct perf_event_attr attr = sampling();
	struct pt_ring r;
	int a, b;

	attr.wakeup_events = 1;
	a = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, a, 4);
	b = pt_open(&attr, 0, -1, a, PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
	pt_enable(b);
	pt_fault(1);
	pt_disable(b);
	/* The buffer has one wakeup to give. */
	pt_eq(poll_now(a), POLLIN);
	pt_eq(poll_now(b), 0);
	pt_enable(b);
	pt_fault(1);
	pt_eq(poll_now(b), POLLIN);
	pt_eq(poll_now(a), 0);
}

/* The buffer's owner unmaps or closes below a redirected event. */
static void owner_unmaps_first(void)
{
	struct perf_event_attr attr = sampling();
	struct pt_ring r;
	int a, b, i;

	for (i = 0; i < 20; i++) {
		a = pt_open(&attr, 0, -1, -1, 0);
		pt_map(&r, a, 4);
		b = pt_open(&attr, 0, -1, a, PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
		pt_enable(b);
		pt_fault(2);
		pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 2);
		if (i & 1)
			close(a);
		pt_unmap(&r);
		/* b lost its output but counts on, and may get a buffer of its own. */
		pt_fault(2);
		pt_eq(pt_count(b), 4);
		pt_disable(b);
		pt_map(&r, b, 2);
		pt_enable(b);
		pt_fault(2);
		pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 2);
		pt_unmap(&r);
		close(b);
		if (!(i & 1))
			close(a);
	}
}

static void output_sibling_then_mmap(void)
{
	struct perf_event_attr attr = sampling();
	struct pt_ring r, again;
	int a, b;

	a = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, a, 4);
	b = pt_open(&attr, 0, -1, a, PERF_FLAG_FD_OUTPUT);
	/* b writes to a's buffer: not another size. */
	pt_eq(try_mmap(b, 3 * (size_t)pt_page_size(), PROT_READ, MAP_SHARED, 0), -EINVAL);
	if (!pt_is_stock())	/* nor that page, which is a's; Linux 6.12 maps it */
		pt_eq(try_mmap(b, 5 * (size_t)pt_page_size(), PROT_READ, MAP_SHARED, 0), -EBUSY);
	pt_unmap(&r);
	/* Now there is no buffer; b gets its own, a none. */
	pt_map(&again, b, 2);
	pt_enable(a);
	pt_enable(b);
	pt_fault(3);
	pt_eq(pt_count_records(&again, PERF_RECORD_SAMPLE), 3);
	pt_unmap(&again);
	close(a);
	close(b);
}

static long locked_pages(void)
{
	char text[4096], *at;

	pt_need(pt_slurp("/proc/self/status", text, sizeof(text)), "status");
	at = strstr(text, "VmPin:");
	pt_need(at, "no VmPin");
	return atol(at + 6) * 1024 / pt_page_size();
}

/*
 * What an unprivileged user may lock. perf_event_mlock_kb per
 * CPU and user, then RLIMIT_MEMLOCK; all of it comes back with munmap.
 */
static void mlock_accounting(void)
{
	long allowed, page = pt_page_size();
	struct perf_event_attr attr = sampling();
	struct rlimit limit = { 0, 0 };
	int round, n, fd[64], last;
	void *map[64];

	pt_sysctl_set("perf_event_paranoid", 1);
	attr.exclude_kernel = 1;
	allowed = pt_sysctl_get("perf_event_mlock_kb") * 1024 / page * pt_online_cpus();
	limit.rlim_cur = 2 * (rlim_t)page;
	limit.rlim_max = limit.rlim_cur;
	pt_need(!setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit: %s", strerror(errno));
	pt_become_nobody();
	for (round = 0; round < 3; round++) {
		long used = 0;

		for (n = 0; n < 64; n++) {
			fd[n] = pt_open(&attr, 0, -1, -1, 0);
			map[n] = pt_try_map(fd[n], 16, PROT_READ | PROT_WRITE);
			if (!map[n])
				break;
			used += 17;
		}
		last = errno;
		pt_eq(last, EPERM);
		/* The next 17 pages would have passed the limit of user and rlimit. */
		pt_check(used <= allowed + 2 && used + 17 > allowed + 2,
			 "round %d: %ld pages of %ld + 2", round, used, allowed);
		pt_eq(locked_pages(), used > allowed ? used - allowed : 0);
		/* What is left fits: one page at a time. */
		while (n >= 0) {
			if (map[n])
				munmap(map[n], 17 * (size_t)page);
			close(fd[n--]);
		}
		pt_eq(locked_pages(), 0);
	}
}

static void second_mapping_is_free(void)
{
	struct perf_event_attr attr = sampling();
	struct rlimit limit = { 0, 0 };
	void *a, *b;
	int fd, n;

	pt_sysctl_set("perf_event_paranoid", 1);
	attr.exclude_kernel = 1;
	pt_need(!setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit: %s", strerror(errno));
	pt_become_nobody();
	for (n = 0; n < 40; n++) {
		fd = pt_open(&attr, 0, -1, -1, 0);
		a = pt_try_map(fd, 64, PROT_READ | PROT_WRITE);
		b = pt_try_map(fd, 64, PROT_READ | PROT_WRITE);
		pt_need(a && b, "mapping %d: %s", n, strerror(errno));
		pt_eq(locked_pages(), 0);
		munmap(n & 1 ? a : b, 65 * (size_t)pt_page_size());
		munmap(n & 1 ? b : a, 65 * (size_t)pt_page_size());
		close(fd);
	}
}

static void root_is_not_limited(void)
{
	struct rlimit limit = { 0, 0 };
	int fd = open_sampling();
	long kb = pt_sysctl_get("perf_event_mlock_kb") * pt_online_cpus(), pages = 1;

	while (pages * pt_page_size() / 1024 <= kb)
		pages *= 2;
	pt_need(!setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit: %s", strerror(errno));
	pt_check(pt_try_map(fd, (int)pages, PROT_READ | PROT_WRITE), "1+%ld pages: %s", pages,
		 strerror(errno));
	pt_check(locked_pages() > 0, "nothing pinned");
}

/* Who sleeps is told that there is nothing to wait for any more. */
static void sleeper_loses_its_buffer(void)
{
	struct pollfd p = { .events = POLLIN };
	struct perf_event_attr attr = sampling();
	struct pt_peer poller = {};
	struct pt_ring r;
	int a;

	a = pt_open(&attr, 0, -1, -1, 0);
	p.fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, a, 4);
	pt_eq(pt_ioctl(p.fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)a), 0);
	pt_in_child(poller.pid) {
		/* Not for a time: poll() looks once more at its end. */
		pt_eq(poll(&p, 1, -1), 1);
		pt_eq(p.revents, POLLHUP);
	}
	pt_peer_asleep(&poller);
	pt_eq(pt_ioctl(p.fd, PERF_EVENT_IOC_SET_OUTPUT, -1ul), 0);
	pt_reap(poller.pid);
}

/* With the buffer goes what an AUX area has left in it: the debug kernel looks for leaks. */
static void after_an_aux_area(void)
{
	struct aux x;
	int i;

	for (i = 0; i < 20; i++) {
		aux_open(&x, 2, RW);
		aux_unmap(&x);
		pt_unmap(&x.ring);
		close(x.fd);
	}
	aux_check_all_freed();
}

static const struct pt_case cases[] = {
	{ "sizes", sizes },
	{ "impossible_sizes", impossible_sizes },
	{ "inherited_task_event", inherited_task_event },
	{ "second_mapping", second_mapping },
	{ "outlives_the_fd", outlives_the_fd },
	{ "page_outlives_the_buffer", page_outlives_the_buffer },
	{ "no_split_no_growth", no_split_no_growth },
	{ "not_copied_by_fork", not_copied_by_fork },
	{ "header_of_the_page", header_of_the_page },
	{ "records_wrap_around", records_wrap_around },
	{ "full_until_consumed", full_until_consumed },
	{ "hostile_reader", hostile_reader },
	{ "wakeup_events", wakeup_events },
	{ "wakeup_watermark", wakeup_watermark },
	{ "default_watermark", default_watermark },
	{ "poll_without_buffer", poll_without_buffer },
	{ "waiting_poll_is_woken", waiting_poll_is_woken },
	{ "redirected_event_wakes_both", redirected_event_wakes_both },
	{ "sleeper_loses_its_buffer", sleeper_loses_its_buffer },
	{ "owner_unmaps_first", owner_unmaps_first },
	{ "output_sibling_then_mmap", output_sibling_then_mmap },
	{ "mlock_accounting", mlock_accounting },
	{ "second_mapping_is_free", second_mapping_is_free },
	{ "root_is_not_limited", root_is_not_limited },
	{ "after_an_aux_area", after_an_aux_area },
};

PT_MAIN(cases)
