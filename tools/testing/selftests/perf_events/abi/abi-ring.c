// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about the data buffer: where records go, what is lost and how that
 * is told, overwriting, writing backward, watermarks, pausing, refreshing.
 *
 * The source is a page fault per record; its size is fixed by the sample type,
 * so that the record that no longer fits is known.
 */
#include "abi.h"

#define BACKWARD (1ull << 27)
#define WATERMARK (1ull << 14)
#define SAMPLE_ID_ALL (1ull << 18)
#define RW (PROT_READ | PROT_WRITE)

static int open_faults(u64 sample, u64 bits, u32 wakeup, u64 format)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.sample_period = 1;
	a.sample_type = sample;
	a.wakeup_events = wakeup;
	a.read_format = format;
	attr_set_bits(&a, bits | 1);
	return must_open(&a);
}

static void run(int fd, unsigned int faults)
{
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(faults);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

static u64 lost_sum(struct ring *r)
{
	size_t pos = 0;
	struct rec rec;
	u64 sum = 0;

	while (ring_next(r, &pos, &rec))
		if (rec.h->type == PERF_RECORD_LOST)
			sum += rec.body[1];
	return sum;
}

static unsigned int polled(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, 0) < 0)
		die("poll");
	return p.revents;
}

/* Fill, overflow, read, go on: how much fits and what LOST says. */
static void ring_lost(void)
{
	static const u64 samples[] = {
		PERF_SAMPLE_IP, PERF_SAMPLE_IP | PERF_SAMPLE_TID, PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME |
		PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_CPU, 0,
	};
	static const size_t pages[] = { 1, 2, 4 };
	unsigned int s, p, id;

	for (s = 0; s < ARRAY_SIZE(samples); s++)
		for (p = 0; p < ARRAY_SIZE(pages); p++)
			for (id = 0; id < 2; id++) {
				int fd = open_faults(samples[s], id ? SAMPLE_ID_ALL : 0, 0,
						     PERF_FORMAT_LOST);
				u64 v[2];
				struct ring r;
				char name[64];

				ring_map(&r, fd, pages[p], RW);
				run(fd, 600);
				run(fd, 600);
				run(fd, 600);
				ring_take(&r);
				snprintf(name, sizeof(name), "sample=%x,pages=%zu%s",
					 (unsigned int)samples[s], pages[p], id ? ",id-all" : "");
				say(name, "full: %s", ring_story(&r));
				run(fd, 3);
				ring_take(&r);
				say(name, "after: %s lost %llu", ring_story(&r),
				    (unsigned long long)lost_sum(&r));
				run(fd, 3);
				ring_take(&r);
				say(name, "then: %s", ring_story(&r));
				if (read(fd, v, sizeof(v)) != sizeof(v))
					die("read");
				say(name, "count %llu lost %llu", (unsigned long long)v[0],
				    (unsigned long long)v[1]);
				ring_unmap(&r);
				close(fd);
			}
}

/* Give back room piecemeal: the record that fits exactly. */
static void ring_edge(void)
{
	int fd = open_faults(PERF_SAMPLE_IP, 0, 0, PERF_FORMAT_LOST);
	unsigned int i;
	struct ring r;

	ring_map(&r, fd, 1, RW);
	run(fd, 300);
	say("full", "head %llu", (unsigned long long)r.page->data_head);
	for (i = 1; i <= 12; i++) {
		u64 head = r.page->data_head;
		char name[32];

		r.page->data_tail += 8;
		run(fd, 1);
		snprintf(name, sizeof(name), "room+%u", i * 8);
		say(name, "wrote %llu", (unsigned long long)(r.page->data_head - head));
	}
	r.page->data_tail = r.page->data_head;
	run(fd, 2);
	ring_take(&r);
	say("emptied", "%s lost %llu", ring_story(&r), (unsigned long long)lost_sum(&r));
	/* A tail nobody sane writes. */
	r.page->data_tail = r.page->data_head + 1000;
	run(fd, 1);
	say("tail-ahead", "%d", r.page->data_head != r.page->data_tail);
	r.page->data_tail = 0;
	run(fd, 2);
	r.page->data_tail = r.page->data_head;
	run(fd, 2);
	ring_take(&r);
	say("tail-back", "%s", ring_story(&r));
	ring_unmap(&r);
	close(fd);
}

/* No room for the largest record at all, and no data pages at all. */
static void ring_small(void)
{
	struct perf_event_attr a;
	struct ring r;
	int fd;

	fd = open_faults(PERF_SAMPLE_IP, 0, 1, PERF_FORMAT_LOST);
	ring_map(&r, fd, 0, RW);
	run(fd, 5);
	say("no-data-pages", "head %llu count %llu poll %x", (unsigned long long)r.page->data_head,
	    (unsigned long long)read_count(fd), polled(fd));
	ring_unmap(&r);
	close(fd);
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
	a.sample_regs_user = 1;
	a.sample_stack_user = 8192;
	attr_set_bits(&a, 1);
	fd = must_open(&a);
	ring_map(&r, fd, 1, RW);
	run(fd, 5);
	ring_take(&r);
	say("stack-beyond-buffer", "%s", ring_story(&r));
	ring_unmap(&r);
	close(fd);
}

static void ring_overwrite(void)
{
	static const u64 bits[] = { 0, BACKWARD };
	static const char *const names[] = { "forward", "backward" };
	static const unsigned int faults[] = { 10, 256, 300, 1000 };
	unsigned int b, f, paused;

	for (b = 0; b < 2; b++)
		for (f = 0; f < ARRAY_SIZE(faults); f++)
			for (paused = 0; paused < 2; paused++) {
				int fd = open_faults(PERF_SAMPLE_IP, bits[b], 0, PERF_FORMAT_LOST);
				struct perf_event_header h;
				char name[48];
				struct ring r;
				u64 v[2], head, at;

				ring_map(&r, fd, 1, PROT_READ);
				ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
				make_faults(faults[f]);
				if (paused)
					ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
				make_faults(3);
				ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
				head = r.page->data_head;
				/* The newest record: behind the head, or at it when backward. */
				at = (b ? head : head - 16) % r.size;
				memcpy(&h, r.data + at, sizeof(h));
				if (read(fd, v, sizeof(v)) != sizeof(v))
					die("read");
				snprintf(name, sizeof(name), "%s,%u%s", names[b], faults[f],
					 paused ? ",paused" : "");
				say(name, "head %lld newest %s/%u count %llu lost %llu",
				    (long long)head,
				    rec_name(h.type), h.size, (unsigned long long)v[0],
				    (unsigned long long)v[1]);
				ring_unmap(&r);
				close(fd);
			}
}

/* Backward with a writable mapping: not overwriting, still from the end. */
static void ring_backward(void)
{
	int fd = open_faults(PERF_SAMPLE_IP, BACKWARD, 0, PERF_FORMAT_LOST);
	struct ring r;
	u64 v[2];

	ring_map(&r, fd, 1, RW);
	run(fd, 4);
	say("head", "%lld", (long long)r.page->data_head);
	run(fd, 400);
	if (read(fd, v, sizeof(v)) != sizeof(v))
		die("read");
	say("many", "head %lld count %llu lost %llu", (long long)r.page->data_head,
	    (unsigned long long)v[0], (unsigned long long)v[1]);
	ring_unmap(&r);
	close(fd);
}

static void wakeups(const char *name, int fd, struct ring *r, unsigned int rounds)
{
	char line[256];
	unsigned int i, len = 0;

	polled(fd);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (i = 0; i < rounds; i++) {
		make_faults(1);
		line[len++] = polled(fd) & POLLIN ? 'W' : '.';
		if (i % 40 == 39)
			ring_take(r);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	line[len] = 0;
	say(name, "%s", line);
}

static void ring_wakeup(void)
{
	static const u32 events[] = { 0, 1, 2, 3, 7, 40 };
	static const u32 marks[] = { 0, 1, 16, 17, 64, 100, 2048, 4096, 8192, 0xffffffff };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events) + ARRAY_SIZE(marks); i++) {
		bool mark = i >= ARRAY_SIZE(events);
		u32 n = mark ? marks[i - ARRAY_SIZE(events)] : events[i];
		int fd = open_faults(PERF_SAMPLE_IP, mark ? WATERMARK : 0, n, 0);
		char name[40];
		struct ring r;

		ring_map(&r, fd, 1, RW);
		snprintf(name, sizeof(name), "%s=%u", mark ? "watermark" : "events", n);
		wakeups(name, fd, &r, 150);
		/* Nobody reads: does it go on waking? */
		ring_take(&r);
		run(fd, 300);
		snprintf(name, sizeof(name), "%s=%u,full", mark ? "watermark" : "events", n);
		polled(fd);
		run(fd, 5);
		say(name, "%x", polled(fd));
		ring_unmap(&r);
		close(fd);
	}
}

static void ring_pause(void)
{
	int fd = open_faults(PERF_SAMPLE_IP, 0, 1, PERF_FORMAT_LOST);
	struct ring r;
	u64 v[2];

	ring_map(&r, fd, 2, RW);
	run(fd, 2);
	say("pause", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1))));
	polled(fd);
	run(fd, 5);
	say("paused-poll", "%x", polled(fd));
	ring_take(&r);
	say("paused", "%s", ring_story(&r));
	ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	run(fd, 2);
	ring_take(&r);
	say("resumed", "%s lost %llu", ring_story(&r), (unsigned long long)lost_sum(&r));
	if (read(fd, v, sizeof(v)) != sizeof(v))
		die("read");
	say("count", "%llu lost %llu", (unsigned long long)v[0], (unsigned long long)v[1]);
	ring_unmap(&r);
	/* A new mapping is not paused. */
	ring_map(&r, fd, 2, RW);
	run(fd, 2);
	ring_take(&r);
	say("mapped-anew", "%s", ring_story(&r));
	ring_unmap(&r);
	close(fd);
}

static void ring_refresh(void)
{
	struct perf_event_attr a;
	struct ring r;
	int fd;

	fd = open_faults(PERF_SAMPLE_IP, 0, 0, 0);
	ring_map(&r, fd, 2, RW);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 3);
	make_faults(10);
	say("poll", "%x", polled(fd));
	ring_take(&r);
	say("three", "%s count %llu", ring_story(&r), (unsigned long long)read_count(fd));
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
	make_faults(10);
	ring_take(&r);
	say("one", "%s count %llu", ring_story(&r), (unsigned long long)read_count(fd));
	ring_unmap(&r);
	close(fd);
	say("inherited", "%s", res(fd = sw_open(PERF_COUNT_SW_PAGE_FAULTS, 2, -1)));
	say("inherited-refresh", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_REFRESH, 1))));
	close(fd);
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.sample_period = 1;
	attr_set_bits(&a, 2);
	fd = must_open(&a);
	say("inherited-sampling-refresh", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_REFRESH, 1))));
	close(fd);
}

/*
 * The period set by ioctl acts at once, on the next overflow. An event that
 * samples its period writes a record per fault whatever the period.
 */
static void period_of(const char *kind, u64 sample)
{
	static const u64 periods[] = { 1, 2, 5, 100, 7 };
	struct perf_event_attr a;
	char name[48];
	unsigned int i;
	struct ring r;
	int fd;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.sample_period = 10;
	a.sample_type = sample;
	attr_set_bits(&a, 1);
	fd = must_open(&a);
	ring_map(&r, fd, 8, RW);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(95);
	ring_take(&r);
	snprintf(name, sizeof(name), "%s,start-10", kind);
	say(name, "%s count %llu", ring_story(&r), (unsigned long long)read_count(fd));
	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		char line[256];
		size_t pos = 0, len = 0;
		struct rec rec;
		u64 period = periods[i];

		ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
		make_faults(30);
		ring_take(&r);
		line[0] = 0;
		while (sample == PERF_SAMPLE_PERIOD && ring_next(&r, &pos, &rec) && len < 40)
			len += sprintf(line + len, " %llu", (unsigned long long)rec.body[0]);
		snprintf(name, sizeof(name), "%s,then-%u", kind, (unsigned int)periods[i]);
		say(name, "%s:%s", ring_story(&r), line);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ring_unmap(&r);
	close(fd);
}

static void ring_period(void)
{
	period_of("with-period", PERF_SAMPLE_PERIOD);
	period_of("without", PERF_SAMPLE_ADDR);
	period_of("nothing", 0);
}

static int open_shared(const char *source)
{
	struct perf_event_attr a;

	source_attr(source_find(source), &a);
	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
	a.read_format = PERF_FORMAT_LOST;
	attr_set_bits(&a, SAMPLE_ID_ALL | 1);
	return must_open(&a);
}

/*
 * Several events, one buffer: order, ids, and who is told of the loss. The ids
 * are told of tracepoints only: one page fault that several events count is
 * stamped by the stock kernel with the id of the first of them, for all.
 */
static void shared_by(const char *source)
{
	bool tp = !strncmp(source, "tp-", 3);
	u64 last = 0, ids[3];
	int fds[3], i, sorted = 1;
	unsigned int seen[4] = { 0 };
	struct ring r;
	struct rec rec;
	char name[48];
	size_t pos = 0;

	if (source_find(source)->absent) {
		say(source, "absent");
		return;
	}
	for (i = 0; i < 3; i++) {
		fds[i] = open_shared(source);
		ids[i] = event_id(fds[i]);
	}
	ring_map(&r, fds[0], 1, RW);
	for (i = 1; i < 3; i++)
		ioctl(fds[i], PERF_EVENT_IOC_SET_OUTPUT, fds[0]);
	for (i = 0; i < 3; i++)
		ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0);
	if (tp)
		getppid_times(100);
	else
		make_faults(100);
	for (i = 0; i < 3; i++)
		ioctl(fds[i], PERF_EVENT_IOC_DISABLE, 0);
	ring_take(&r);
	while (ring_next(&r, &pos, &rec)) {
		for (i = 0; i < 3; i++)
			if (rec.body[0] == ids[i])
				break;
		seen[i]++;
		sorted &= rec.body[1] >= last;
		last = rec.body[1];
	}
	say(source, "%s sorted %d", ring_story(&r), sorted);
	if (tp)
		say(source, "by event %u %u %u unknown %u", seen[0], seen[1], seen[2], seen[3]);
	for (i = 0; i < 3; i++) {
		u64 v[2];

		if (read(fds[i], v, sizeof(v)) != sizeof(v))
			die("read");
		snprintf(name, sizeof(name), "%s,member%d", source, i);
		say(name, "count %llu lost %llu", (unsigned long long)v[0],
		    (unsigned long long)v[1]);
	}
	ioctl(fds[1], PERF_EVENT_IOC_ENABLE, 0);
	make_faults(tp ? 0 : 2);
	getppid_times(tp ? 2 : 0);
	ring_take(&r);
	snprintf(name, sizeof(name), "%s,next", source);
	say(name, "%s lost %llu", ring_story(&r), (unsigned long long)lost_sum(&r));
	ring_unmap(&r);
	for (i = 0; i < 3; i++)
		close(fds[i]);
}

static void ring_shared(void)
{
	shared_by("sw-page-faults");
	shared_by("tp-getppid");
}

const struct section ring_sections[] = {
	{ "ring-lost", ring_lost },
	{ "ring-edge", ring_edge },
	{ "ring-small", ring_small },
	{ "ring-overwrite", ring_overwrite },
	{ "ring-backward", ring_backward },
	{ "ring-wakeup", ring_wakeup },
	{ "ring-pause", ring_pause },
	{ "ring-refresh", ring_refresh },
	{ "ring-period", ring_period },
	{ "ring-shared", ring_shared },
	{ }
};
