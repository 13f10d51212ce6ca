// SPDX-License-Identifier: GPL-2.0
/*
 * aux.c - what a tracer writes to its AUX area and what is told about it:
 * records, bytes, heads, wakeups, flags, samples of AUX data, pause and
 * resume. The tracer is the module pmu/test_aux.c, which traces on command.
 */
#include "lib/aux.h"
#include <poll.h>

#define TRUNCATED	PERF_AUX_FLAG_TRUNCATED
#define OVERWRITE	PERF_AUX_FLAG_OVERWRITE

static void check_record(struct aux *x, u64 offset, u64 size, u64 flags)
{
	static struct pt_record rec;
	u64 *body = (u64 *)rec.body;

	pt_need(pt_next(&x->ring, &rec), "no AUX record of %llu bytes at %llu",
		(unsigned long long)size, (unsigned long long)offset);
	pt_eq(rec.h.type, PERF_RECORD_AUX);
	pt_eq(rec.h.misc, 0);
	pt_eq(rec.h.size, 32);
	pt_eq(body[0], offset);
	pt_eq(body[1], size);
	pt_eq(body[2], flags);
}

static void check_no_record(struct aux *x)
{
	static struct pt_record rec;

	pt_check(!pt_next(&x->ring, &rec), "a record of type %u", rec.h.type);
}

static void full_trace(void)
{
	struct aux x;

	aux_open(&x, 4, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	pt_eq(aux_head(&x), 0);
	aux_set("emit", 100);
	check_record(&x, 0, 100, 0);
	pt_eq(aux_head(&x), 100);
	aux_set("emit", 5000);
	check_record(&x, 100, 5000, 0);
	pt_eq(aux_head(&x), 5100);
	aux_check_bytes(&x, 0, 5100);
	/* What was traced and not told yet is told when the event stops. */
	aux_set("put", 11);
	check_no_record(&x);
	pt_eq(aux_head(&x), 5100);
	pt_disable(x.fd);
	check_record(&x, 5100, 11, 0);
	pt_eq(aux_head(&x), 5111);
	aux_check_bytes(&x, 5100, 11);
	/* Nothing traced, nothing told. */
	pt_enable(x.fd);
	aux_set("interrupt", 1);
	pt_disable(x.fd);
	check_no_record(&x);
	pt_eq(pt_module_get("test_aux", "held"), 0);
}

static void contexts(void)
{
	struct aux x;
	int context;

	aux_open(&x, 4, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	for (context = 0; context < 3; context++) {
		aux_set("context", context);
		aux_set("emit", 8);
		check_record(&x, (u64)(8 * context), 8, 0);
	}
	aux_check_bytes(&x, 0, 24);
}

static void wraps(void)
{
	struct aux x;
	u64 at;
	int i;

	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	for (at = 0, i = 0; i < 40; i++, at += 1000) {
		aux_set("emit", 1000);
		check_record(&x, at, 1000, 0);
		aux_check_bytes(&x, at, 1000);
		aux_consume(&x, at + 1000);
		pt_consume(&x.ring);
	}
}

/* One byte of the area always stays free. */
static void full(void)
{
	struct aux x;

	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	aux_set("emit", x.size - 1);
	check_record(&x, 0, x.size - 1, 0);
	/* The driver wanted to go on, and there was no room. */
	pt_eq(pt_module_get("test_aux", "failed"), 1);
	pt_eq(pt_module_get("test_aux", "held"), 0);
	aux_consume(&x, 10);
	pt_disable(x.fd);
	pt_enable(x.fd);
	/* From byte -1 on, ten bytes. */
	aux_set("put", 10);
	aux_set("interrupt", 1);
	check_record(&x, x.size - 1, 10, 0);
	aux_check_bytes(&x, x.size - 1, 10);
}

static void truncated(void)
{
	struct aux x;

	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	aux_set("emit", x.size);
	check_record(&x, 0, x.size - 1, TRUNCATED);
	check_no_record(&x);
	pt_eq(aux_head(&x), x.size - 1);
}

/* A reader that makes nonsense of aux_tail hurts nobody but itself. */
static void mad_tail(void)
{
	static const u64 tails[] = { 1, 1ull << 63, 0x123456789ull, ~0ull - 4095 };
	struct aux x;
	unsigned int i;

	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	for (i = 0; i < PT_ARRAY_SIZE(tails); i++) {
		aux_consume(&x, tails[i]);
		pt_enable(x.fd);
		pt_check(pt_module_get("test_aux", "failed") > (long long)i, "began with %llx",
			 (unsigned long long)tails[i]);
		pt_disable(x.fd);
	}
	check_no_record(&x);
	pt_eq(aux_head(&x), 0);
}

static bool is_enabled(const struct aux *x)
{
	struct pt_read before, after;

	pt_read(x->fd, PERF_FORMAT_TOTAL_TIME_ENABLED, 1, &before);
	pt_spin(1000);
	pt_read(x->fd, PERF_FORMAT_TOTAL_TIME_ENABLED, 1, &after);
	return after.enabled > before.enabled;
}

/* Linux 6.12 forgets to disable it, or does so the next time it is switched out. */
static void overrun_disables(void)
{
	struct perf_event_attr attr = aux_attr();
	struct aux x;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	aux_open_attr(&x, &attr, 1, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	aux_set("emit", x.size);
	if (pt_is_stock())
		pt_skip("Linux 6.12 does not always disable a tracer without room");
	pt_check(!is_enabled(&x), "still enabled when the area is full");
	aux_consume(&x, x.size - 1);
	pt_enable(x.fd);
	pt_check(is_enabled(&x), "not enabled again");
	aux_set("emit", x.size - 1);
	check_record(&x, 0, x.size - 1, TRUNCATED);
	check_record(&x, x.size - 1, x.size - 1, 0);
	pt_check(!is_enabled(&x), "still enabled without room to begin");
}

static void overwrites(void)
{
	struct aux x;

	aux_open(&x, 1, PROT_READ);
	pt_enable(x.fd);
	aux_set("put", 100);
	pt_eq(aux_head(&x), 0);
	pt_disable(x.fd);
	check_record(&x, 100, 100, OVERWRITE);
	pt_eq(aux_head(&x), 100);
	aux_check_bytes(&x, 0, 100);
	/* No news: an offset alone is not worth a record. */
	pt_enable(x.fd);
	pt_disable(x.fd);
	check_no_record(&x);
	/* Round and round. */
	pt_enable(x.fd);
	aux_set("put", 3 * x.size);
	pt_disable(x.fd);
	check_record(&x, 100 + 3 * x.size, x.size, OVERWRITE);
	pt_eq(aux_head(&x), 100 + 3 * x.size);
	aux_check_bytes(&x, 100 + 2 * x.size, x.size);
}

static void flags(void)
{
	static const struct {
		u64 flags;
		bool told;	/* without data */
	} cases[] = {
		{ PERF_AUX_FLAG_PARTIAL, true },
		{ PERF_AUX_FLAG_COLLISION, true },
		{ PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW, false },
		{ PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK, false },
		{ PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW, true },
	};
	struct aux x;
	unsigned int i;

	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	for (i = 0; i < PT_ARRAY_SIZE(cases); i++) {
		aux_set("flags", (long long)cases[i].flags);
		aux_set("emit", 8);
		check_record(&x, 8 * i, 8, cases[i].flags);
		aux_set("flags", (long long)cases[i].flags);
		aux_set("interrupt", 1);
		if (cases[i].told)
			check_record(&x, 8 * (i + 1), 0, cases[i].flags);
		check_no_record(&x);
	}
}

static void skips(void)
{
	struct aux x;

	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	aux_set("skip", 24);
	pt_eq(pt_module_get("test_aux", "result"), 0);
	pt_eq(aux_head(&x), 24);
	aux_set("emit", 8);
	check_record(&x, 24, 8, 0);
	aux_set("skip", x.size);
	pt_eq(pt_module_get("test_aux", "result"), -ENOSPC);
	aux_set("skip", x.size - 33);
	pt_eq(pt_module_get("test_aux", "result"), 0);
	pt_eq(aux_head(&x), x.size - 1);
	check_no_record(&x);
}

static int is_ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	pt_need(poll(&p, 1, 0) >= 0, "poll: %s", strerror(errno));
	return p.revents;
}

/* A wakeup for each multiple of the watermark that aux_head reaches or passes. */
static void check_watermark(struct aux *x, u64 mark)
{
	pt_enable(x->fd);
	pt_eq(is_ready(x->fd), 0);
	aux_set("emit", mark - 1);
	pt_eq(is_ready(x->fd), 0);
	aux_set("emit", 1);
	pt_eq(is_ready(x->fd), POLLIN);
	pt_eq(is_ready(x->fd), 0);
	/* The tracer looks for room when it begins. */
	aux_consume(x, mark);
	aux_set("interrupt", 1);
	aux_set("emit", mark + 10);
	pt_eq(is_ready(x->fd), POLLIN);
	aux_consume(x, 2 * mark + 10);
	aux_set("interrupt", 1);
	aux_set("emit", mark - 11);
	pt_eq(is_ready(x->fd), 0);
	/* The gap that a driver leaves counts as well. */
	aux_set("skip", 1);
	pt_eq(pt_module_get("test_aux", "result"), 0);
	pt_eq(aux_head(x), 3 * mark);
	pt_eq(is_ready(x->fd), POLLIN);
}

static void watermark(void)
{
	struct perf_event_attr attr = aux_attr();
	struct aux x;

	attr.aux_watermark = 1000;
	aux_open_attr(&x, &attr, 2, PROT_READ | PROT_WRITE);
	check_watermark(&x, 1000);
}

static void default_watermark(void)
{
	struct aux x;

	aux_open(&x, 4, PROT_READ | PROT_WRITE);
	check_watermark(&x, x.size / 2);
}

static void overwrite_wakes_nobody(void)
{
	struct perf_event_attr attr = aux_attr();
	struct aux x;

	attr.aux_watermark = 100;
	aux_open_attr(&x, &attr, 1, PROT_READ);
	pt_enable(x.fd);
	aux_set("put", 1000);
	pt_disable(x.fd);
	pt_eq(is_ready(x.fd), 0);
}

/* The reader hears of a trace that ends for want of room, however little there is to read. */
static void end_is_told(void)
{
	struct aux x;

	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	aux_set("emit", 8);
	pt_eq(is_ready(x.fd), 0);
	aux_set("flags", TRUNCATED);
	aux_set("emit", 8);
	check_record(&x, 0, 8, 0);
	check_record(&x, 8, 8, TRUNCATED);
	pt_eq(is_ready(x.fd), POLLIN);
}

static void trailer(void)
{
	struct perf_event_attr attr = aux_attr();
	static struct pt_record rec;
	struct pt_sample s;
	struct aux x;
	size_t body;

	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			   PERF_SAMPLE_IDENTIFIER;
	aux_open_attr(&x, &attr, 1, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	aux_set("emit", 8);
	pt_need(pt_next(&x.ring, &rec), "no record");
	pt_eq(rec.h.type, PERF_RECORD_AUX);
	pt_eq(rec.h.size, 32 + 32);
	pt_parse_trailer(&attr, &rec, &s, &body);
	pt_eq(body, 24);
	pt_eq(s.pid, getpid());
	pt_eq(s.tid, pt_tid());
	pt_eq(s.id, pt_id(x.fd));
	pt_eq(s.stream_id, pt_id(x.fd));
	pt_eq(s.identifier, pt_id(x.fd));
}

static unsigned int itrace_starts(struct aux *x)
{
	static struct pt_record rec;
	unsigned int n = 0;

	while (pt_next(&x->ring, &rec)) {
		u32 *body = (u32 *)rec.body;

		pt_eq(rec.h.type, PERF_RECORD_ITRACE_START);
		pt_eq(rec.h.misc, 0);
		pt_eq(rec.h.size, 16);
		pt_eq(body[0], getpid());
		pt_eq(body[1], pt_tid());
		n++;
	}
	return n;
}

static void itrace_start(void)
{
	struct aux x;

	aux_load("caps=0x20");		/* PERF_PMU_CAP_ITRACE */
	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	pt_eq(itrace_starts(&x), 1);
	/* again each time it goes on */
	pt_disable(x.fd);
	pt_enable(x.fd);
	pt_eq(itrace_starts(&x), 1);
}

static void itrace_started(void)
{
	struct aux x;

	aux_load("caps=0x20 started=1");
	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	pt_enable(x.fd);
	pt_eq(itrace_starts(&x), 1);
	/* The driver has said so: once is enough. */
	pt_disable(x.fd);
	pt_enable(x.fd);
	pt_eq(itrace_starts(&x), 0);
}

static void hw_id(void)
{
	static struct pt_record rec;
	struct aux x;
	int src;

	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	src = aux_open_source(&x);
	pt_eq(pt_ioctl(src, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)x.fd), 0);
	pt_enable(x.fd);
	aux_set("hwid", 0x1234567890);
	pt_need(pt_next(&x.ring, &rec), "no record");
	pt_eq(rec.h.type, PERF_RECORD_AUX_OUTPUT_HW_ID);
	pt_eq(rec.h.size, 16);
	pt_eq(*(u64 *)rec.body, 0x1234567890);
	check_no_record(&x);
}

/* ------------------------------------------------------------- SAMPLE_AUX */

static struct perf_event_attr faults(u32 aux_size)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_AUX;
	attr.aux_sample_size = aux_size;
	return attr;
}

static void check_sample(struct pt_ring *r, u64 size, u64 first)
{
	static struct pt_record rec;
	u64 *body = (u64 *)rec.body, i, bad = 0;
	u8 *data = rec.body + 16;

	pt_need(pt_next_of(r, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_eq(rec.h.size, 8 + 16 + size);
	pt_eq(body[1], size);
	for (i = 0; i < size; i++)
		bad += data[i] != (u8)((first + i) % AUX_PATTERN);
	pt_check(!bad, "%llu of %llu bytes from %llu on are wrong", (unsigned long long)bad,
		 (unsigned long long)size, (unsigned long long)first);
}

static void samples(void)
{
	/* asked for, got; the area has one page, a record 64 KiB less 8 */
	const struct {
		u32 want;
		u64 got;
	} sizes[] = {
		{ 8, 8 }, { 1000, 1000 }, { 1003, 1000 }, { 4, 0 }, { 4096, 4096 },
		{ 8192, 8192 }, { 65535, 65504 }, { 1 << 20, 65504 },
	};
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(sizes); i++) {
		struct perf_event_attr attr = faults(sizes[i].want);
		struct pt_ring ring;
		u64 got = sizes[i].got;
		struct aux x;
		int fd;

		aux_open(&x, sizes[i].want < 8192 ? 1 : 32, PROT_READ);
		fd = pt_open(&attr, 0, -1, x.fd, 0);
		pt_map(&ring, fd, 32);
		pt_enable(x.fd);
		aux_set("put", 2 * (long long)x.size + 123);
		pt_drain(&ring);
		pt_fault(1);
		pt_disable(x.fd);
		check_sample(&ring, got, 2 * x.size + 123 - got);
		close(fd);
		close(x.fd);
		pt_unmap(&ring);
		aux_unmap(&x);
		pt_unmap(&x.ring);
	}
}

/* What the driver has not is zeroes, whatever the buffer had there. */
static void samples_of_less(void)
{
	struct perf_event_attr attr = faults(1000);
	static struct pt_record rec;
	struct pt_ring ring;
	unsigned int bad = 0;
	struct aux x;
	u64 at;
	int fd;

	if (pt_is_stock())
		pt_skip("Linux 6.12 fills up to a word and no more");
	aux_open(&x, 1, PROT_READ);
	fd = pt_open(&attr, 0, -1, x.fd, 0);
	pt_map(&ring, fd, 1);
	pt_enable(x.fd);
	aux_set("put", 2 * (long long)x.size);
	/* Once around; a record has 1024 bytes. */
	for (at = 0; at < ring.size; at += 1024) {
		pt_drain(&ring);
		pt_fault(1);
		check_sample(&ring, 1000, 2 * x.size - 1000);
	}
	aux_set("lacks", 100);
	pt_drain(&ring);
	pt_fault(1);
	pt_disable(x.fd);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_eq(rec.h.size, 1024);
	pt_eq(((u64 *)rec.body)[1], 1000);
	for (at = 0; at < 1000; at++)
		bad += rec.body[16 + at] !=
		       (at < 900 ? (u8)((2 * x.size - 1000 + at) % AUX_PATTERN) : 0);
	pt_eq(bad, 0);
}

/* The bit alone, without a size, needs no tracer and gets no data. */
static void sample_of_nothing(void)
{
	struct perf_event_attr attr = faults(0);
	struct pt_ring ring;
	int fd;

	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 4);
	pt_enable(fd);
	pt_fault(1);
	pt_disable(fd);
	check_sample(&ring, 0, 0);
}

/* ------------------------------------------------------- pause and resume */

#define CAP_PAUSE	"caps=0x200"

static int open_actor(struct aux *x, bool pause)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.aux_pause = pause;
	attr.aux_resume = !pause;
	return pt_open(&attr, 0, -1, x->fd, 0);
}

static void check_switches(int pauses, int resumes)
{
	pt_eq(pt_module_get("test_aux", "pauses"), pauses);
	pt_eq(pt_module_get("test_aux", "resumes"), resumes);
}

static void pauses(void)
{
	struct aux x;

	aux_load(CAP_PAUSE);
	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	open_actor(&x, true);
	pt_settle();
	pt_enable(x.fd);
	aux_set("put", 8);
	pt_fault(1);
	aux_set("put", 8);
	aux_set("interrupt", 1);
	check_record(&x, 0, 8, 0);
	/* paused already */
	pt_fault(3);
	check_switches(1, 0);
}

static void resumes(void)
{
	struct perf_event_attr attr;
	struct aux x;
	int fd;

	aux_load(CAP_PAUSE);
	attr = aux_attr();
	attr.aux_start_paused = 1;
	aux_open_attr(&x, &attr, 1, PROT_READ | PROT_WRITE);
	fd = open_actor(&x, false);
	pt_settle();
	pt_enable(x.fd);
	aux_set("emit", 8);
	check_no_record(&x);
	pt_fault(2);
	check_switches(0, 1);
	aux_set("emit", 8);
	check_record(&x, 0, 8, 0);
	close(fd);
}

/* Each overflow of one pauses, of the other resumes: in the end the last word counts. */
static void pause_and_resume(void)
{
	struct aux x;

	aux_load(CAP_PAUSE);
	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	open_actor(&x, true);
	open_actor(&x, false);
	pt_settle();
	pt_enable(x.fd);
	pt_fault(3);
	pt_disable(x.fd);
	/* The order of the two is not promised: 3 or 2 of one, and 3 of the other. */
	pt_eq(pt_module_get("test_aux", "pauses"), 3);
	pt_check(pt_module_get("test_aux", "resumes") == 3 ||
		 pt_module_get("test_aux", "resumes") == 2, "resumed %lld times",
		 pt_module_get("test_aux", "resumes"));
}

/* Where nothing limits the tracer there is no room either, whatever its last handle had. */
static void overwrite_skips_nothing(void)
{
	struct aux x, y;

	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	aux_open(&y, 1, PROT_READ);
	pt_enable(x.fd);
	aux_set("emit", 8);
	check_record(&x, 0, 8, 0);
	pt_disable(x.fd);
	pt_enable(y.fd);
	aux_set("skip", 24);
	pt_eq(pt_module_get("test_aux", "result"), -ENOSPC);
	pt_eq(aux_head(&y), 0);
}

static const struct pt_case cases[] = {
	{ "full_trace", full_trace },
	{ "contexts", contexts },
	{ "wraps", wraps },
	{ "full", full },
	{ "truncated", truncated },
	{ "mad_tail", mad_tail },
	{ "overrun_disables", overrun_disables },
	{ "overwrites", overwrites },
	{ "flags", flags },
	{ "skips", skips },
	{ "overwrite_skips_nothing", overwrite_skips_nothing },
	{ "watermark", watermark },
	{ "default_watermark", default_watermark },
	{ "overwrite_wakes_nobody", overwrite_wakes_nobody },
	{ "end_is_told", end_is_told },
	{ "trailer", trailer },
	{ "itrace_start", itrace_start },
	{ "itrace_started", itrace_started },
	{ "hw_id", hw_id },
	{ "samples", samples },
	{ "samples_of_less", samples_of_less },
	{ "sample_of_nothing", sample_of_nothing },
	{ "pauses", pauses },
	{ "resumes", resumes },
	{ "pause_and_resume", pause_and_resume },
};

PT_MAIN(cases)
