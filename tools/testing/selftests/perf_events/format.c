// SPDX-License-Identifier: GPL-2.0
/*
 * format.c - samples that go to a format's area and not to the ring buffer: histograms to the last
 * event, halves, shared areas, copies, lives. Other formats: format_module.c. The counters of CPUs:
 * counter_formats.c.
 *
 * needs: smp
 */
#include <sys/prctl.h>

#include "lib/aux.h"
#include "lib/bpf.h"
#include "lib/format.h"

#define PERIOD	10
#define BUCKETS	64

static const struct perf_ext_hist_arg by_pid = {
	.key = { PERF_EXT_KEY_PID }, .buckets = BUCKETS,
};

static const struct perf_ext_hist_arg by_event = {
	.key = { PERF_EXT_KEY_EVENT }, .buckets = BUCKETS,
};

static void key_is(const struct perf_ext_hist *h, u64 key, u64 samples, u64 events)
{
	struct perf_ext_hist_bucket sum = hist_of(h, BUCKETS, key);

	pt_eq(sum.samples, samples);
	pt_eq(sum.events, events);
}

static u64 here(struct perf_event_attr attr)
{
	int fd = pt_open(&attr, 0, -1, -1, 0);
	struct perf_ext_info info;

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.features & PERF_EXT_FORMATS, PERF_EXT_FORMATS);
	close(fd);
	return info.here & PERF_EXT_FORMATS;
}

static void info(void)
{
	char text[512];

	ext_need();
	pt_need(pt_slurp("/sys/bus/event_source/extensions", text, sizeof(text)), "no extensions");
	pt_check(strstr(text, " formats"), "extensions: %s", text);
	pt_need(pt_slurp("/sys/bus/event_source/formats", text, sizeof(text)), "no formats");
	pt_check(strstr(text, "12e33f1f-8520-46d5-9285-20ec76795bd4 hist 0"), "it has: %s", text);
	pt_eq(here(format_faults(1)), PERF_EXT_FORMATS);
	pt_eq(here(format_faults(0)), 0);
}

/* Each page is a key: its neighbours of the lowest bits make no other. */
static void histogram(void)
{
	const struct perf_ext_hist_arg arg = {
		.key = { PERF_EXT_KEY_ADDR }, .shift = { 12 }, .buckets = BUCKETS,
	};
	struct perf_event_attr attr = format_faults(1);
	const struct perf_ext_hist *h;
	int fd = format_start(&attr), i;
	struct pt_area a;
	u8 *page[3];

	format_hist(&a, fd, &arg);
	for (i = 0; i < 3; i++)
		page[i] = pt_fresh_pages(1);
	pt_enable(fd);
	for (i = 0; i < 3; i++) {
		page[i][100 * i] = 1;
		madvise(page[i], 4096, MADV_DONTNEED);
		page[i][300 * i] = 1;
	}
	page[2][0] = 1;				/* it is there: no fault */
	pt_disable(fd);
	pt_eq(pt_count(fd), 6);
	h = format_half(&a, 0);
	for (i = 0; i < 3; i++)
		key_is(h, pt_addr(page[i]), 2, 2);
	pt_eq(hist_keys(h, BUCKETS), 3);
	pt_eq(h->lost_samples, 0);
	pt_eq(a.head->samples, 6);
	pt_eq(a.head->lost, 0);
}

/* Two keys: who, and how long the period was. */
static void two_keys(void)
{
	const struct perf_ext_hist_arg arg = {
		.key = { PERF_EXT_KEY_PERIOD_LOG2, PERF_EXT_KEY_PID }, .buckets = BUCKETS,
	};
	struct perf_ext_periods p = { .short_period = 8, .long_period = 64, .long_every = 3 };
	struct perf_event_attr attr = format_faults(1000);
	const struct perf_ext_hist *h;
	int fd = format_start(&attr), i;
	struct pt_area a;
	u64 samples[64] = {}, events[64] = {};

	pt_eq(ext_periods(fd, &p), 0);
	format_hist(&a, fd, &arg);
	pt_enable(fd);
	pt_fault(10 * (8 + 8 + 64));
	pt_disable(fd);
	h = format_half(&a, 0);
	for (i = 0; i < BUCKETS; i++) {
		if (!h->bucket[i].tag)
			continue;
		pt_eq(h->bucket[i].key[1], getpid());
		samples[h->bucket[i].key[0]] += h->bucket[i].samples;
		events[h->bucket[i].key[0]] += h->bucket[i].events;
	}
	pt_eq(hist_keys(h, BUCKETS), 2);
	pt_eq(samples[3], 20);
	pt_eq(events[3], 160);
	pt_eq(samples[6], 10);
	pt_eq(events[6], 640);
}

/* What was active stays as it is; what becomes active is empty. */
static void flip(void)
{
	struct perf_event_attr attr = format_faults(PERIOD);
	const struct perf_ext_hist *h;
	int fd = format_start(&attr), i;
	struct pt_area a;

	format_hist(&a, fd, &by_pid);
	pt_enable(fd);
	for (i = 1; i <= 5; i++) {
		pt_fault(100 * i);
		h = format_flip(&a);
		key_is(h, getpid(), 10 * i, 100 * i);
		pt_fault(100);
		key_is(h, getpid(), 10 * i, 100 * i);
		h = format_flip(&a);
		key_is(h, getpid(), 10, 100);
	}
	pt_eq(a.head->samples, 200);
	pt_eq(pt_ioctl(fd, PERF_EXT_AREA_IOC_FLIP, 0), -ENOTTY);
	pt_eq(pt_ioctl(a.fd, PERF_EXT_IOC_FORMAT, 0), -ENOTTY);
}

/* A full table: what it has is right, and the rest is counted. */
static void full(void)
{
	const struct perf_ext_hist_arg arg = {
		.key = { PERF_EXT_KEY_ADDR }, .buckets = 8,
	};
	struct perf_event_attr attr = format_faults(1);
	const struct perf_ext_hist *h;
	u64 samples = 0, value[2];
	struct pt_area a;
	int fd, i;

	attr.read_format = PERF_FORMAT_LOST;
	fd = format_start(&attr);
	format_hist(&a, fd, &arg);
	pt_enable(fd);
	pt_fault(100);
	pt_disable(fd);
	h = format_half(&a, 0);
	for (i = 0; i < 8; i++) {
		pt_check(h->bucket[i].tag >= 2, "bucket %d is free", i);
		pt_eq(h->bucket[i].samples, h->bucket[i].events);
		samples += h->bucket[i].samples;
	}
	pt_eq(samples, 8);
	pt_eq(h->lost_samples, 92);
	pt_eq(h->lost_events, 92);
	pt_eq(a.head->samples, 100);
	pt_eq(a.head->lost, 92);
	pt_need(read(fd, value, sizeof(value)) == sizeof(value), "read: %s", strerror(errno));
	pt_eq(value[1], 92);
}

/* A table that is half full has all keys, and each has one place. */
static void many_keys(void)
{
	const struct perf_ext_hist_arg arg = {
		.key = { PERF_EXT_KEY_ADDR, PERF_EXT_KEY_PID }, .shift = { 12 }, .buckets = 2048,
	};
	struct perf_event_attr attr = format_faults(1);
	const struct perf_ext_hist *h;
	int fd = format_start(&attr), i;
	struct pt_area a;
	u8 *pages;

	format_hist(&a, fd, &arg);
	pages = pt_fresh_pages(1024);
	pt_enable(fd);
	for (i = 0; i < 1024; i++)
		pages[i * pt_page_size()] = 1;
	pt_disable(fd);
	h = format_half(&a, 0);
	pt_eq(h->lost_samples, 0);
	pt_eq(hist_keys(h, arg.buckets), 1024);
	for (i = 0; i < (int)arg.buckets; i++)
		if (h->bucket[i].tag)
			pt_eq(h->bucket[i].samples, 1);
	pt_eq(a.head->lost, 0);
}

/* Samples only: names go to the ring buffer as ever; and records again, from then on. */
static void records_go_on(void)
{
	struct perf_event_attr attr = format_faults(PERIOD);
	static struct pt_record rec;
	struct pt_ring ring;
	struct pt_area a;
	int fd;

	attr.comm = 1;
	fd = format_start(&attr);
	pt_map(&ring, fd, 16);
	format_hist(&a, fd, &by_pid);
	pt_enable(fd);
	pt_fault(100);
	prctl(PR_SET_NAME, "other");
	pt_need(pt_next(&ring, &rec), "no record");
	pt_eq(rec.h.type, PERF_RECORD_COMM);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	key_is(format_half(&a, 0), getpid(), 10, 100);
	pt_eq(format_none(fd), 0);
	pt_check(format_told(&a, POLLHUP), "no POLLHUP");
	pt_fault(100);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 10);
	key_is(format_half(&a, 0), getpid(), 10, 100);
	pt_eq(format_none(fd), -EINVAL);
	/* The area waits for others. */
	pt_eq(format_share(&a, fd, hist_uuid), 0);
	pt_fault(100);
	pt_disable(fd);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	key_is(format_half(&a, 0), getpid(), 20, 200);
}

/* Two events write to one area. */
static void shared(void)
{
	struct perf_event_attr attr = format_faults(PERIOD), other = format_faults(4);
	int fd[2] = { format_start(&attr), format_start(&other) };
	const struct perf_ext_hist *h;
	struct pt_area a;

	format_hist(&a, fd[0], &by_event);
	pt_eq(format_share(&a, fd[1], test_uuid), -EINVAL);
	pt_eq(format_share(&a, fd[1], hist_uuid), 0);
	pt_eq(format_share(&a, fd[1], hist_uuid), -EBUSY);
	pt_enable(fd[0]);
	pt_enable(fd[1]);
	pt_fault(100);
	pt_disable(fd[0]);
	pt_disable(fd[1]);
	h = format_half(&a, 0);
	key_is(h, pt_id(fd[0]), 10, 100);
	key_is(h, pt_id(fd[1]), 25, 100);
	close(fd[0]);
	pt_check(!format_told(&a, POLLHUP), "POLLHUP, and there is an event");
	close(fd[1]);
	pt_check(format_told(&a, POLLHUP), "no POLLHUP");
}

static int gate[2];

static void fault_when_told(void *arg)
{
	pt_settle();
	pt_gate_wait(gate);
	pt_fault(*(unsigned int *)arg);
}

/* Copies write to the area of their parent: those of before, and those that come later. */
static void copies(void)
{
	struct perf_event_attr attr = format_faults(1);
	unsigned int turns[2] = { 300, 700 };
	const struct perf_ext_hist *h;
	struct pt_area a;
	pid_t pid[2];
	int fd, i;

	attr.inherit = 1;
	attr.sample_type &= ~PERF_SAMPLE_READ;
	fd = format_start(&attr);
	pt_gate_make(gate);
	pid[0] = pt_fork(fault_when_told, &turns[0]);
	format_hist(&a, fd, &by_pid);
	pid[1] = pt_fork(fault_when_told, &turns[1]);
	pt_enable(fd);
	pt_gate_open(gate);
	pt_gate_open(gate);
	for (i = 0; i < 2; i++)
		pt_reap(pid[i]);
	pt_disable(fd);
	h = format_half(&a, 0);
	for (i = 0; i < 2; i++) {
		struct perf_ext_hist_bucket sum = hist_of(h, BUCKETS, (u64)pid[i]);

		/* And how the child begins and ends. */
		pt_check(sum.samples >= turns[i], "%llu samples of %u", sum.samples, turns[i]);
		pt_eq(sum.samples, sum.events);
	}
	pt_eq(a.head->samples, pt_count(fd));
}

/* Many CPUs write to one area: no sample is missed. */
static void many_cpus(void)
{
	struct perf_event_attr attr = format_faults(1);
	const struct perf_ext_hist *h;
	int fd[8], cpus = pt_online_cpus(), i;
	struct pt_area a;
	pid_t pid[8];
	u64 sum = 0;

	ext_need();
	if (cpus < 2)
		pt_skip("needs two CPUs");
	pt_gate_make(gate);
	for (i = 0; i < cpus; i++) {
		pt_in_child(pid[i]) {
			pt_pin(i);
			pt_settle();
			pt_gate_wait(gate);
			pt_fault(5000);
		}
		fd[i] = pt_open(&attr, pid[i], -1, -1, 0);
		if (!i)
			format_hist(&a, fd[0], &by_pid);
		else
			pt_eq(format_share(&a, fd[i], hist_uuid), 0);
		pt_enable(fd[i]);
	}
	for (i = 0; i < cpus; i++)
		pt_gate_open(gate);
	for (i = 0; i < 20; i++) {
		h = format_flip(&a);
		for (int c = 0; c < cpus; c++)
			sum += hist_of(h, BUCKETS, (u64)pid[c]).samples;
	}
	for (i = 0; i < cpus; i++)
		pt_reap(pid[i]);
	for (i = 0; i < 2; i++) {
		h = format_flip(&a);
		for (int c = 0; c < cpus; c++)
			sum += hist_of(h, BUCKETS, (u64)pid[c]).samples;
	}
	for (i = 0; i < cpus; i++)
		sum -= pt_count(fd[i]);
	pt_eq(sum, 0);
	pt_eq(a.head->lost, 0);
}

/* The area outlives the event, and the event goes on without the area's file. */
static void lives(void)
{
	struct perf_event_attr attr = format_faults(PERIOD);
	int fd = format_start(&attr);
	struct pt_area a;

	format_hist(&a, fd, &by_pid);
	pt_enable(fd);
	pt_fault(100);
	close(fd);
	key_is(format_half(&a, 0), getpid(), 10, 100);
	key_is(format_flip(&a), getpid(), 10, 100);
	close(a.fd);
	key_is(format_half(&a, 0), getpid(), 10, 100);
	munmap((void *)a.head, a.length);

	fd = format_start(&attr);
	format_hist(&a, fd, &by_pid);
	format_close(&a);
	pt_enable(fd);
	pt_fault(100);
	pt_eq(pt_count(fd), 100);
	pt_eq(format_none(fd), 0);
	format_hist(&a, fd, &by_pid);
	pt_fault(100);
	key_is(format_half(&a, 0), getpid(), 10, 100);
}

/* ---- refusals ---- */

static void format_refused(int fd, struct perf_ext_format *ask, int err)
{
	memcpy(ask->uuid, hist_uuid, sizeof(ask->uuid));
	pt_eq(format_ask(fd, ask), -err);
}

static void hist_refused(int fd, struct perf_ext_hist_arg arg)
{
	struct perf_ext_format ask = {
		.arg = pt_addr(&arg), .arg_size = sizeof(arg), .share = -1,
	};

	format_refused(fd, &ask, EINVAL);
}

static void refused(void)
{
	struct perf_event_attr attr = format_faults(PERIOD), counting = format_faults(0);
	struct perf_ext_hist_arg arg = by_pid;
	struct perf_ext_format ask = {
		.arg = pt_addr(&arg), .arg_size = sizeof(arg), .share = -1,
	}, bad;
	struct pt_area a;
	int fd = format_start(&attr), fc;

	bad = ask;
	bad.uuid[0] = 1;
	pt_eq(format_ask(fd, &bad), -ENOENT);
	bad = ask;
	bad.flags = 2;
	format_refused(fd, &bad, EINVAL);
	bad = ask;
	bad.set = 1;
	format_refused(fd, &bad, EINVAL);
	bad = ask;
	bad.arg_size = 1 << 20;
	format_refused(fd, &bad, E2BIG);
	bad = ask;
	bad.arg = 8;
	format_refused(fd, &bad, EFAULT);
	bad = ask;
	bad.share = fd;
	format_refused(fd, &bad, EINVAL);
	bad.share = 1000;
	format_refused(fd, &bad, EBADF);
	memset(bad.uuid, 0, sizeof(bad.uuid));
	bad.share = -1;
	pt_eq(format_ask(fd, &bad), -EINVAL);	/* nothing to tell nobody */
	bad.arg = 0;
	bad.arg_size = 0;
	pt_eq(format_ask(fd, &bad), -EINVAL);	/* it has none */

	hist_refused(fd, (struct perf_ext_hist_arg){ .buckets = BUCKETS });
	hist_refused(fd, (struct perf_ext_hist_arg){ .key = { 100 }, .buckets = BUCKETS });
	hist_refused(fd, (struct perf_ext_hist_arg){	/* the first that means nothing */
		.key = { PERF_EXT_KEY_PID, PERF_EXT_KEY_PERIOD_LOG2 + 1 }, .buckets = BUCKETS });
	hist_refused(fd, (struct perf_ext_hist_arg){ .key = { PERF_EXT_KEY_PID }, .buckets = 24 });
	hist_refused(fd, (struct perf_ext_hist_arg){ .key = { PERF_EXT_KEY_PID }, .buckets = 4 });
	hist_refused(fd, (struct perf_ext_hist_arg){
		.key = { PERF_EXT_KEY_PID }, .shift = { 64 }, .buckets = BUCKETS });
	hist_refused(fd, (struct perf_ext_hist_arg){	/* not in the sample */
		.key = { PERF_EXT_KEY_CPU }, .buckets = BUCKETS });

	fc = pt_open(&counting, 0, -1, -1, 0);
	format_refused(fc, &ask, EINVAL);
	format_hist(&a, fd, &by_pid);
	format_refused(fd, &ask, EBUSY);
}

/* A program has the first word: what it refuses is no sample, and its events are in none. */
static void behind_a_program(void)
{
	struct perf_event_attr attr = format_faults(PERIOD);
	static struct pt_code code, none;
	const struct perf_ext_hist *h;
	struct pt_area a;
	struct pt_words w;
	int fd;

	ext_need();
	pt_words_make(&w);
	pt_b_begin(&code);
	pt_b_count(&code, &w, 0);
	pt_b_return_nth(&code, 4);
	fd = format_start(&attr);
	format_hist(&a, fd, &by_pid);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_BPF,
		       (unsigned long)pt_load(BPF_PROG_TYPE_PERF_EVENT, &code)), 0);
	pt_enable(fd);
	pt_fault(1000);
	pt_disable(fd);
	pt_eq(w.word[0], 100);
	h = format_flip(&a);
	key_is(h, (u64)getpid(), 25, 250);
	pt_eq(a.head->samples, 25);
	pt_eq(a.head->lost, 0);
	close(fd);

	pt_b_begin(&none);
	pt_b_return(&none, 0);
	fd = format_start(&attr);
	pt_eq(format_share(&a, fd, hist_uuid), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_BPF,
		       (unsigned long)pt_load(BPF_PROG_TYPE_PERF_EVENT, &none)), 0);
	pt_enable(fd);
	pt_fault(1000);
	pt_disable(fd);
	pt_eq(hist_keys(format_flip(&a), BUCKETS), 0);
	pt_eq(a.head->samples, 25);
}

/* A sample with a piece of an AUX area has no place in a format. */
static void no_aux_samples(void)
{
	struct perf_event_attr attr = format_faults(1), tracer;
	struct perf_ext_format ask = {
		.uuid = PERF_EXT_FORMAT_HIST, .arg = pt_addr(&by_pid), .arg_size = sizeof(by_pid),
		.share = -1,
	};
	struct perf_ext_info info;
	int leader, fd, area;

	ext_need();
	aux_load(NULL);
	tracer = aux_attr();
	leader = pt_open(&tracer, 0, -1, -1, 0);
	attr.sample_type |= PERF_SAMPLE_AUX;
	attr.aux_sample_size = 64;
	fd = pt_open(&attr, 0, -1, leader, 0);
	pt_eq(format_ask(fd, &ask), -EOPNOTSUPP);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.here & PERF_EXT_FORMATS, 0);
	close(fd);
	attr.sample_type &= ~PERF_SAMPLE_AUX;
	attr.aux_sample_size = 0;
	fd = pt_open(&attr, 0, -1, leader, 0);
	area = (int)format_ask(fd, &ask);
	pt_check(area >= 0, "beside a tracer: %s", strerror(-area));
	close(area);
	close(fd);
	close(leader);
}

static void *map(const struct pt_area *a, size_t length, int prot, int flags, off_t at)
{
	void *p = mmap(NULL, length, prot, flags, a->fd, at);

	return p == MAP_FAILED ? NULL : p;
}

static void mappings(void)
{
	struct perf_event_attr attr = format_faults(PERIOD);
	int fd = format_start(&attr);
	struct pt_area a;
	pid_t pid;

	format_hist(&a, fd, &by_pid);
	pt_check(!map(&a, a.length, PROT_READ | PROT_WRITE, MAP_SHARED, 0), "writable");
	pt_check(!map(&a, a.length, PROT_READ, MAP_PRIVATE, 0), "private");
	pt_check(!map(&a, a.length - 4096, PROT_READ, MAP_SHARED, 0), "a part");
	pt_check(!map(&a, a.length + 4096, PROT_READ, MAP_SHARED, 0), "more than it is");
	pt_check(!map(&a, a.length - 4096, PROT_READ, MAP_SHARED, 4096), "at an offset");
	pt_check(map(&a, a.length, PROT_READ, MAP_SHARED, 0), "twice: %s", strerror(errno));
	pt_check(mprotect((void *)a.head, a.length, PROT_READ | PROT_WRITE), "made writable");
	pt_enable(fd);
	pt_fault(100);
	/* A child sees it, too. */
	pt_in_child(pid) {
		key_is(format_half(&a, 0), getppid(), 10, 100);
	}
	pt_reap(pid);
}

static void ask_for_much(void)
{
	struct perf_ext_hist_arg arg = by_pid;
	struct perf_ext_format ask = {
		.uuid = PERF_EXT_FORMAT_HIST,
		.arg = pt_addr(&arg), .arg_size = sizeof(arg), .share = -1,
	};
	struct perf_event_attr attr = format_faults(PERIOD);
	int fd, area;

	attr.exclude_kernel = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	area = (int)format_ask(fd, &ask);
	pt_check(area >= 0, "FORMAT: %s", strerror(-area));
	pt_eq(format_none(fd), 0);
	arg.buckets = 1 << 24;
	pt_eq(format_ask(fd, &ask), -EPERM);
}

/* Areas count as buffers do: for the user, and for the machine. */
static void memory(void)
{
	struct perf_event_attr attr = format_faults(PERIOD);
	struct perf_ext_hist_arg arg = { .key = { PERF_EXT_KEY_PID }, .buckets = 8 };
	struct perf_ext_format ask = {
		.uuid = PERF_EXT_FORMAT_HIST,
		.arg = pt_addr(&arg), .arg_size = sizeof(arg), .share = -1,
	};
	int fd = format_start(&attr), area;

	pt_sysctl_set("perf_event_paranoid", 2);
	pt_as_nobody(ask_for_much);
	pt_sysctl_set("perf_ext_buffer_kb", 3 * pt_page_size() / 1024);
	/* A worker gives memory back: here that of the child and of cases before. */
	while ((area = (int)format_ask(fd, &ask)) == -EPERM)
		sched_yield();
	pt_need(area >= 0, "FORMAT: %s", strerror(-area));
	pt_eq(ask.size, 3 * pt_page_size());
	close(fd);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(format_ask(fd, &ask), -EPERM);
	close(area);
	while (format_ask(fd, &ask) == -EPERM)
		sched_yield();
}

static bool fdinfo_says(int fd, const char *line)
{
	char path[64], text[2048];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	pt_need(pt_slurp(path, text, sizeof(text)), "no %s", path);
	return strstr(text, line);
}

static void fdinfo(void)
{
	struct perf_event_attr attr = format_faults(PERIOD);
	int fd = format_start(&attr);
	struct pt_area a;

	pt_check(!fdinfo_says(fd, "format:"), "a format from the start");
	format_hist(&a, fd, &by_pid);
	pt_enable(fd);
	pt_fault(100);
	pt_disable(fd);
	pt_check(fdinfo_says(fd, "\nformat:\thist"), "no format");
	pt_check(fdinfo_says(a.fd, "\nformat:\thist\n"), "area: no format");
	pt_check(fdinfo_says(a.fd, "\nsamples:\t10\n"), "area: no samples");
	pt_check(fdinfo_says(a.fd, "\nevents:\t1\n"), "area: no events");
}

/* 0 is a descriptor like others. */
static void descriptor_0(void)
{
	struct perf_event_attr attr = format_faults(PERIOD);
	struct perf_ext_format ask = {
		.uuid = PERF_EXT_FORMAT_HIST, .arg = pt_addr(&by_pid), .arg_size = sizeof(by_pid),
		.share = -1,
	};
	int fd = fcntl(format_start(&attr), F_DUPFD, 3);

	close(0);
	pt_eq(format_ask(fd, &ask), 0);
	pt_check(fdinfo_says(0, "\nformat:\thist\n"), "no area");
}

/* Who sleeps is woken when no event writes to the area any more. */
static void wakes_at_the_end(void)
{
	struct perf_event_attr attr = format_faults(PERIOD);
	struct pt_peer parent = { .pid = getpid() };
	struct pollfd p = { .events = POLLIN };
	int fd = format_start(&attr);
	struct pt_area a;
	pid_t pid;

	format_hist(&a, fd, &by_pid);
	pt_gate_make(gate);
	pt_in_child(pid) {
		pt_gate_wait(gate);
		pt_peer_asleep(&parent);
		pt_eq(format_none(fd), 0);
	}
	p.fd = a.fd;
	pt_gate_open(gate);
	/* Not for a time: poll() looks once more at its end. */
	pt_eq(poll(&p, 1, -1), 1);
	pt_eq(p.revents, POLLHUP);
	pt_reap(pid);
}

static const struct pt_case cases[] = {
	{ "info", info },
	{ "histogram", histogram },
	{ "two_keys", two_keys },
	{ "flip", flip },
	{ "full", full },
	{ "many_keys", many_keys },
	{ "records_go_on", records_go_on },
	{ "shared", shared },
	{ "copies", copies },
	{ "wakes_at_the_end", wakes_at_the_end },
	{ "many_cpus", many_cpus },
	{ "lives", lives },
	{ "refused", refused },
	{ "behind_a_program", behind_a_program },
	{ "no_aux_samples", no_aux_samples },
	{ "mappings", mappings },
	{ "memory", memory },
	{ "fdinfo", fdinfo },
	{ "descriptor_0", descriptor_0 },
};

PT_MAIN(cases)
