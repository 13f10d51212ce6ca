// SPDX-License-Identifier: GPL-2.0
/*
 * overwrite.c - buffers that keep the newest records instead of the oldest:
 * read-only mappings, writing backwards, and pausing to take a snapshot.
 */
#include "lib/ptest.h"

static struct pt_record rec;
static struct pt_sample s;

static struct perf_event_attr sampling(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_ADDR;
	attr.read_format = PERF_FORMAT_LOST;
	attr.disabled = 1;
	return attr;
}

#define RECORD_SIZE	16

static void touch_while_on(int fd, u8 *p, unsigned int n)
{
	pt_enable(fd);
	pt_touch(p, n);
	pt_disable(fd);
}

static u64 lost_of(int fd)
{
	struct pt_read r;

	pt_read(fd, PERF_FORMAT_LOST, 1, &r);
	return r.v[0].lost;
}

static void read_only_keeps_going(void)
{
	struct perf_event_attr attr = sampling();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	u8 *p = pt_fresh_pages(1000);
	struct pt_ring r;
	unsigned int i, room;

	pt_map_ro(&r, fd, 1);
	room = (unsigned int)(r.size / RECORD_SIZE);
	touch_while_on(fd, p, 1000);
	pt_eq(pt_head(&r), 1000 * RECORD_SIZE);
	pt_eq(lost_of(fd), 0);
	/* The newest are all there, in order. */
	r.tail = pt_head(&r) - r.size;
	for (i = 1000 - room; i < 1000; i++) {
		pt_need(pt_next(&r, &rec), "no record");
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.addr, pt_addr(p) + (u64)i * (u64)pt_page_size());
	}
}

/* Walk from the head to older records, as a reader of a backward buffer does. */
static unsigned int walk(struct pt_ring *r, const struct perf_event_attr *attr, const u8 *p,
			 unsigned int newest)
{
	u64 head = pt_head(r), at = head;
	unsigned int n = 0;

	while (at - head + RECORD_SIZE <= r->size) {
		struct perf_event_header h;

		memcpy(&h, r->data + (at & (r->size - 1)), sizeof(h));
		if (!h.size)
			break;
		pt_need(h.type == PERF_RECORD_SAMPLE && h.size == RECORD_SIZE,
			"record of type %u, size %u", h.type, h.size);
		memcpy(&rec, r->data + (at & (r->size - 1)), h.size);
		pt_parse_sample(attr, &rec, &s);
		pt_eq(s.addr, pt_addr(p) + (u64)(newest - 1 - n) * (u64)pt_page_size());
		at += h.size;
		n++;
	}
	return n;
}

static void backward(void)
{
	struct perf_event_attr attr = sampling();
	u8 *p = pt_fresh_pages(1000);
	unsigned int room;
	struct pt_ring r;
	int fd;

	attr.write_backward = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map_ro(&r, fd, 1);
	room = (unsigned int)(r.size / RECORD_SIZE);
	pt_eq(pt_head(&r), 0);
	touch_while_on(fd, p, 1);
	pt_eq(pt_head(&r), (u64)-RECORD_SIZE);
	touch_while_on(fd, p + pt_page_size(), 9);
	pt_eq(pt_head(&r), (u64)-10 * RECORD_SIZE);
	pt_eq(walk(&r, &attr, p, 10), 10);
	touch_while_on(fd, p + 10 * pt_page_size(), 990);
	pt_eq(pt_head(&r), (u64)-1000 * RECORD_SIZE);
	pt_eq(walk(&r, &attr, p, 1000), room);
	pt_eq(lost_of(fd), 0);
	pt_eq(pt_count(fd), 1000);
}

/* Records that do not divide the buffer: the walk ends in a torn one. */
static void backward_with_odd_size(void)
{
	struct perf_event_attr attr = sampling();
	u8 *p = pt_fresh_pages(500);
	unsigned int n = 0;
	struct pt_ring r;
	u64 head;
	int fd;

	attr.write_backward = 1;
	attr.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_TID;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map_ro(&r, fd, 1);
	touch_while_on(fd, p, 500);
	head = pt_head(&r);
	pt_eq(head, (u64)-500 * 24);
	r.tail = head;
	while (r.tail - head + 24 <= r.size) {
		u64 at = r.tail & (r.size - 1);
		size_t first = r.size - at < 24 ? r.size - at : 24;

		memcpy(&rec, r.data + at, first);
		memcpy((u8 *)&rec + first, r.data, 24 - first);
		pt_eq(rec.h.size, 24);
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.addr, pt_addr(p) + (u64)(499 - n) * (u64)pt_page_size());
		r.tail += 24;
		n++;
	}
	pt_eq(n, r.size / 24);
}

static void pause_for_a_snapshot(void)
{
	struct perf_event_attr attr = sampling();
	u8 *p = pt_fresh_pages(60);
	size_t page = (size_t)pt_page_size();
	struct pt_ring r;
	u64 head;
	int fd;

	attr.write_backward = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map_ro(&r, fd, 1);
	pt_enable(fd);
	pt_touch(p, 20);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
	head = pt_head(&r);
	pt_touch(p + 20 * page, 20);
	pt_eq(pt_head(&r), head);
	pt_eq(walk(&r, &attr, p, 20), 20);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
	pt_touch(p + 40 * page, 20);
	pt_disable(fd);
	pt_eq(pt_count(fd), 60);
	pt_eq(lost_of(fd), 20);
	/* A LOST record stands below the first sample after the pause. */
	pt_eq(pt_head(&r), (u64)-(20 + 20) * RECORD_SIZE - 24);
}

static void writable_backward_fills_up(void)
{
	struct perf_event_attr attr = sampling();
	u8 *p = pt_fresh_pages(400);
	unsigned int room;
	struct pt_ring r;
	int fd;

	attr.write_backward = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 1);
	room = (unsigned int)(r.size / RECORD_SIZE);
	touch_while_on(fd, p, 400);
	/* The reader's position holds it here as well. */
	pt_check(-pt_head(&r) <= r.size, "head %lld", (long long)pt_head(&r));
	pt_eq(lost_of(fd) + -pt_head(&r) / RECORD_SIZE, 400);
	pt_check(-pt_head(&r) / RECORD_SIZE >= room - 1, "only %llu records",
		 (unsigned long long)(-pt_head(&r) / RECORD_SIZE));
}

static void read_only_ignores_the_tail(void)
{
	struct perf_event_attr attr = sampling();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	void *again;
	struct pt_ring r;

	/* Who maps first decides; a second, writable mapping changes nothing. */
	pt_map_ro(&r, fd, 1);
	again = pt_try_map(fd, 1, PROT_READ | PROT_WRITE);
	pt_check(again, "second mapping: %s", strerror(errno));
	touch_while_on(fd, pt_fresh_pages(600), 600);
	pt_eq(pt_head(&r), 600 * RECORD_SIZE);
	pt_eq(lost_of(fd), 0);
}

static const struct pt_case cases[] = {
	{ "read_only_keeps_going", read_only_keeps_going },
	{ "backward", backward },
	{ "backward_with_odd_size", backward_with_odd_size },
	{ "pause_for_a_snapshot", pause_for_a_snapshot },
	{ "writable_backward_fills_up", writable_backward_fills_up },
	{ "read_only_ignores_the_tail", read_only_ignores_the_tail },
};

PT_MAIN(cases)
