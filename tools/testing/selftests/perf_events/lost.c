// SPDX-License-Identifier: GPL-2.0
/*
 * lost.c - nothing disappears silently: what did not fit into a buffer is
 * told by a LOST record in front of the next one that fits, and summed up
 * per event in PERF_FORMAT_LOST.
 */
#include "lib/ptest.h"
#include <poll.h>
#include <sys/prctl.h>

#define RECORD_SIZE	16

static struct pt_record rec;

static struct perf_event_attr sampling(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.read_format = PERF_FORMAT_LOST;
	attr.disabled = 1;
	return attr;
}

static u64 lost_of(int fd)
{
	struct pt_read r;

	pt_read(fd, PERF_FORMAT_LOST, 1, &r);
	return r.v[0].lost;
}

static void faults(int fd, unsigned int n)
{
	u8 *p = pt_fresh_pages(n);

	pt_enable(fd);
	pt_touch(p, n);
	pt_disable(fd);
	munmap(p, n * (size_t)pt_page_size());
}

static void expect_lost(struct pt_ring *r, u64 id, u64 n)
{
	struct pt_rec_lost l;

	pt_need(pt_next(r, &rec), "no record");
	pt_need(rec.h.type == PERF_RECORD_LOST, "record of type %u is no LOST", rec.h.type);
	memcpy(&l, rec.body, sizeof(l));
	pt_eq(rec.h.misc, 0);
	pt_eq(l.id, id);
	pt_eq(l.lost, n);
}

static unsigned int expect_samples(struct pt_ring *r, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		pt_need(pt_next(r, &rec), "sample %u of %u is missing", i, n);
		pt_need(rec.h.type == PERF_RECORD_SAMPLE, "type %u after %u samples",
			rec.h.type, i);
	}
	return n;
}

static void exact_number(void)
{
	struct perf_event_attr attr = sampling();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	unsigned int room;
	struct pt_ring r;

	pt_map(&r, fd, 1);
	/* One byte always stays free, so the last record's place does. */
	room = (unsigned int)(r.size / RECORD_SIZE) - 1;
	faults(fd, room);
	pt_eq(lost_of(fd), 0);
	faults(fd, 45);
	pt_eq(lost_of(fd), 45);
	pt_eq(pt_head(&r), room * RECORD_SIZE);
	expect_samples(&r, room);
	pt_check(!pt_next(&r, &rec), "a record too many");
	pt_consume(&r);
	faults(fd, 1);
	expect_lost(&r, pt_id(fd), 45);
	pt_eq(rec.h.size, 24);
	expect_samples(&r, 1);
	pt_consume(&r);
	/* Told once. */
	faults(fd, 1);
	expect_samples(&r, 1);
	pt_check(!pt_next(&r, &rec), "a record too many");
	pt_eq(lost_of(fd), 45);
	pt_eq(pt_count(fd), room + 47);
}

static void again_and_again(void)
{
	struct perf_event_attr attr = sampling();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	u64 lost = 0, seen = 0, told = 0, total = 0;
	struct pt_ring r;
	unsigned int turn;

	pt_map(&r, fd, 1);
	for (turn = 0; turn < 25; turn++) {
		unsigned int n = 1 + turn * 37 % 400, i;

		faults(fd, n);
		total += n;
		/* Read an odd share of what is there. */
		for (i = 0; i < 100 + turn && pt_next(&r, &rec); i++) {
			if (rec.h.type == PERF_RECORD_LOST) {
				struct pt_rec_lost l;

				memcpy(&l, rec.body, sizeof(l));
				pt_check(l.lost > 0, "LOST of nothing");
				told += l.lost;
			} else {
				pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
				seen++;
			}
		}
		pt_consume(&r);
	}
	pt_drain(&r);
	lost = lost_of(fd);
	pt_check(lost > 0, "this was to overflow");
	pt_eq(pt_count(fd), total);
	/* What is left of the ring, plus one to make it tell. */
	pt_check(told <= lost, "told %llu of %llu", (unsigned long long)told,
		 (unsigned long long)lost);
	pt_check(seen <= total - lost, "more seen than written");
}

static void seen_plus_lost_is_all(void)
{
	struct perf_event_attr attr = sampling();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	u64 seen = 0, told = 0, total = 0;
	struct pt_ring r;
	unsigned int turn;

	pt_map(&r, fd, 1);
	for (turn = 0; turn < 20; turn++) {
		unsigned int n = 100 + turn * 31 % 300;

		if (turn == 19)
			n = 1;
		faults(fd, n);
		total += n;
		while (pt_next(&r, &rec)) {
			if (rec.h.type == PERF_RECORD_LOST) {
				struct pt_rec_lost l;

				memcpy(&l, rec.body, sizeof(l));
				told += l.lost;
			} else {
				seen++;
			}
		}
		pt_consume(&r);
	}
	pt_eq(seen + told, total);
	pt_eq(told, lost_of(fd));
	pt_eq(pt_count(fd), total);
}

static void trailer(void)
{
	struct perf_event_attr attr = sampling();
	struct pt_sample id;
	unsigned int room;
	struct pt_ring r;
	size_t body;
	int fd;

	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER;
	attr.sample_id_all = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 1);
	room = (unsigned int)((r.size - 1) / 24);
	faults(fd, room + 9);
	pt_drain(&r);
	faults(fd, 1);
	expect_lost(&r, pt_id(fd), 9);
	pt_parse_trailer(&attr, &rec, &id, &body);
	pt_eq(body, 16);
	pt_eq(id.tid, pt_tid());
	pt_eq(id.identifier, pt_id(fd));
	expect_samples(&r, 1);
}

/* The LOST record needs room as well; with room for the sample only, that is lost too. */
static void no_room_for_the_record_itself(void)
{
	struct perf_event_attr attr = sampling();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	unsigned int room;
	struct pt_ring r;

	pt_map(&r, fd, 1);
	room = (unsigned int)(r.size / RECORD_SIZE) - 1;
	faults(fd, room + 1);
	/* Give back one record: 16 + 15 bytes free, 24 + 16 wanted. */
	expect_samples(&r, 1);
	pt_consume(&r);
	faults(fd, 1);
	pt_eq(lost_of(fd), 2);
	expect_samples(&r, 2);
	pt_consume(&r);
	faults(fd, 1);
	pt_eq(lost_of(fd), 2);
	expect_samples(&r, room - 3);
	expect_lost(&r, pt_id(fd), 2);
	expect_samples(&r, 1);
}

static void paused_output_is_lost(void)
{
	struct perf_event_attr attr = sampling();
	int fd = pt_open(&attr, 0, -1, -1, 0);
	struct pt_ring r;

	pt_map(&r, fd, 1);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
	faults(fd, 11);
	pt_eq(pt_head(&r), 0);
	pt_eq(lost_of(fd), 11);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
	faults(fd, 1);
	expect_lost(&r, pt_id(fd), 11);
	expect_samples(&r, 1);
}

/* A record larger than the buffer never fits, and nothing else happens. */
static void larger_than_the_buffer(void)
{
	struct perf_event_attr attr = sampling();
	struct pt_ring r;
	int fd;

	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 32768;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 1);
	faults(fd, 12);
	pt_eq(pt_head(&r), 0);
	pt_eq(lost_of(fd), 12);
	pt_eq(pt_count(fd), 12);
}

/* Nobody wanted them: not lost. */
static void without_a_buffer(void)
{
	struct perf_event_attr attr = sampling();
	int fd = pt_open(&attr, 0, -1, -1, 0);

	faults(fd, 20);
	pt_eq(lost_of(fd), 0);
	pt_eq(pt_count(fd), 20);
}

static int poll_now(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	pt_need(poll(&p, 1, 0) >= 0, "poll: %s", strerror(errno));
	return p.revents;
}

static void sideband_is_counted(void)
{
	struct perf_event_attr attr = sampling();
	struct pt_ring r;
	unsigned int i;
	int fd;

	attr.comm = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 1);
	faults(fd, (unsigned int)(r.size / RECORD_SIZE) - 1);
	/* Half of the buffer is worth a wakeup; what is lost is none. */
	pt_eq(poll_now(fd), POLLIN);
	pt_eq(poll_now(fd), 0);
	pt_enable(fd);
	for (i = 0; i < 7; i++)
		prctl(PR_SET_NAME, "lost name");
	pt_disable(fd);
	pt_eq(poll_now(fd), 0);
	pt_eq(lost_of(fd), 7);
	pt_drain(&r);
	faults(fd, 1);
	expect_lost(&r, pt_id(fd), 7);
}

/* Each event knows its own losses, the buffer tells the sum. */
static void two_events_one_buffer(void)
{
	struct perf_event_attr attr = sampling();
	unsigned int room;
	struct pt_ring r;
	int a, b;

	a = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, a, 1);
	b = pt_open(&attr, 0, -1, a, PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
	room = (unsigned int)(r.size / RECORD_SIZE) - 1;
	faults(a, room);
	faults(a, 5);
	faults(b, 8);
	pt_eq(lost_of(a), 5);
	pt_eq(lost_of(b), 8);
	pt_drain(&r);
	/* Who comes first tells it. */
	faults(b, 1);
	expect_lost(&r, pt_id(b), 13);
	expect_samples(&r, 1);
	pt_eq(lost_of(b), 8);
}

static void group_read(void)
{
	struct perf_event_attr lead = sampling(), sib = sampling();
	u64 f = PERF_FORMAT_GROUP | PERF_FORMAT_LOST;
	struct pt_read v;
	struct pt_ring r;
	int a, b;

	lead.read_format = f;
	sib.disabled = 0;
	sib.config = PERF_COUNT_SW_DUMMY;
	a = pt_open(&lead, 0, -1, -1, 0);
	b = pt_open(&sib, 0, -1, a, 0);
	pt_map(&r, a, 1);
	faults(a, (unsigned int)(r.size / RECORD_SIZE) - 1 + 3);
	pt_read(a, f, 2, &v);
	pt_eq(v.v[0].lost, 3);
	pt_eq(v.v[1].lost, 0);
	close(b);
}

static void child_counts_for_the_parent(void)
{
	struct perf_event_attr attr = sampling();
	u64 before;
	struct pt_ring r;
	pid_t pid;
	int fd;

	attr.inherit = 1;
	pt_pin(0);
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&r, fd, 1);
	pt_enable(fd);
	pt_in_child(pid)
		pt_fault(600);
	pt_reap(pid);
	pt_disable(fd);
	before = pt_count(fd);
	pt_check(before >= 600, "only %llu faults", (unsigned long long)before);
	pt_eq(lost_of(fd) + pt_head(&r) / RECORD_SIZE, before);
}

/* ---- what the hardware lost, so the driver says ---- */

#define MODULE	"test_count"

static struct perf_event_attr hits(void)
{
	struct perf_event_attr attr = sampling();

	pt_pin(0);
	pt_load_module(MODULE, NULL);
	attr.type = (u32)pt_pmu_type(MODULE);
	attr.config = 0;
	return attr;
}

static void lose(s64 n)
{
	pt_eq(pt_module_set(MODULE, "lost", n), 0);
}

/* The whole record, trailer and all. */
static void expect_lost_samples(const struct perf_event_attr *attr, struct pt_ring *r, u64 n)
{
	struct pt_sample id;
	size_t body;
	u64 told;

	pt_need(pt_next(r, &rec), "no record");
	pt_need(rec.h.type == PERF_RECORD_LOST_SAMPLES, "record of type %u", rec.h.type);
	pt_eq(rec.h.misc, 0);
	pt_parse_trailer(attr, &rec, &id, &body);
	pt_eq(body, sizeof(told));
	memcpy(&told, rec.body, sizeof(told));
	pt_eq(told, n);
	if (!attr->sample_id_all)
		return;
	pt_eq(id.tid, pt_tid());
	pt_eq(id.cpu, 0);
	pt_eq(id.identifier, pt_id(r->fd));
}

static void lost_samples(void)
{
	static const s64 numbers[] = { 1, 5, 0x123456789abcdef0, 0, INT64_MAX };
	struct perf_event_attr attr = hits();
	struct pt_ring with, without;
	unsigned int i;
	int fd;

	attr.disabled = 0;
	attr.sample_period = 3;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&without, fd, 1);
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	attr.sample_id_all = 1;
	pt_map(&with, pt_open(&attr, 0, -1, -1, 0), 1);
	for (i = 0; i < PT_ARRAY_SIZE(numbers); i++) {
		lose(numbers[i]);
		expect_lost_samples(&attr, &with, (u64)numbers[i]);
		pt_check(!pt_next(&with, &rec), "a record too many");
	}
	attr.sample_id_all = 0;
	for (i = 0; i < PT_ARRAY_SIZE(numbers); i++)
		expect_lost_samples(&attr, &without, (u64)numbers[i]);
	/* Neither counts nor what the buffer lost change, and samples come as before. */
	pt_eq(pt_count(fd), 0);
	pt_eq(lost_of(fd), 0);
	pt_eq(pt_module_set(MODULE, "hit", 7), 0);
	expect_samples(&without, 2);
	pt_eq(pt_count(fd), 7);
	/* Nobody is told whose event does not count. */
	pt_disable(fd);
	lose(9);
	pt_check(!pt_next(&without, &rec), "told while disabled");
}

/* Such a record may be lost itself, and then is one. */
static void lost_samples_lost(void)
{
	struct perf_event_attr attr = hits();
	unsigned int room;
	struct pt_ring r;
	int fd;

	attr.disabled = 0;
	attr.sample_period = 1000;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 1);
	room = (unsigned int)(r.size / RECORD_SIZE) - 1;
	while (pt_head(&r) < room * RECORD_SIZE)
		lose(4);
	lose(1000);
	lose(1000);
	pt_eq(lost_of(fd), 2);
	while (room--)
		expect_lost_samples(&attr, &r, 4);
	pt_check(!pt_next(&r, &rec), "a record too many");
	pt_consume(&r);
	lose(6);
	expect_lost(&r, pt_id(fd), 2);
	expect_lost_samples(&attr, &r, 6);
}

static const struct pt_case cases[] = {
	{ "exact_number", exact_number },
	{ "again_and_again", again_and_again },
	{ "seen_plus_lost_is_all", seen_plus_lost_is_all },
	{ "trailer", trailer },
	{ "no_room_for_the_record_itself", no_room_for_the_record_itself },
	{ "paused_output_is_lost", paused_output_is_lost },
	{ "larger_than_the_buffer", larger_than_the_buffer },
	{ "without_a_buffer", without_a_buffer },
	{ "sideband_is_counted", sideband_is_counted },
	{ "two_events_one_buffer", two_events_one_buffer },
	{ "group_read", group_read },
	{ "child_counts_for_the_parent", child_counts_for_the_parent },
	{ "lost_samples", lost_samples },
	{ "lost_samples_lost", lost_samples_lost },
};

PT_MAIN(cases)
