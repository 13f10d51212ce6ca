// SPDX-License-Identifier: GPL-2.0
/*
 * counter_formats.c - formats and stops on the counters of CPUs, the same numbers on arm64 and on
 * all PMUs of x86. An area that two events write to, one of which may interrupt the samples of the
 * other: its overflows are NMIs on x86, and on arm64 with pseudo-NMIs. Each overflow is in the
 * area, once, or counted as one that came in the midst of another.
 *
 * needs: hw pmuv3 pmu-irq
 */
#include "lib/counter.h"
#include "lib/format.h"
#include "lib/hold.h"
#include "lib/x86.h"

static int open_counter(void)
{
	struct perf_event_attr attr = counter_kind(0);

	attr.exclude_kernel = 0;	/* where samples are taken */
	attr.sample_period = 10000;
	attr.sample_type = PERF_SAMPLE_ID;
	return pt_open_hw(&attr, -1);
}

static int open_faults(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.disabled = 1;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_ID;
	return pt_open(&attr, 0, -1, -1, 0);
}

/* Do its interrupts come where interrupts are off? */
static bool has_nmis(void)
{
#if defined(__x86_64__)
	return true;
#else
	char text[4096];

	return pt_slurp("/proc/cmdline", text, sizeof(text)) && strstr(text, "pseudo_nmi=1");
#endif
}

/* Counters that are switched one by one count in the NMI, which is to be shorter than a period. */
static u64 shortest_period(void)
{
#if defined(__x86_64__)
	return x86_has_global() ? 1009 : 8009;
#else
	return 1009;
#endif
}

/* How often each of them overflows. */
struct overflows {
	u64 of_counter, of_faults;
};

static struct overflows work(int counter, int faults)
{
	struct perf_ext_periods p = {
		.short_period = shortest_period(), .mask = 0xff, .seed = 1,
	};
	struct overflows o;

	pt_eq(ext_periods(counter, &p), 0);
	pt_settle();
	pt_enable(faults);
	pt_enable(counter);
	pt_fault(3000);
	pt_disable(counter);
	pt_disable(faults);
	pt_eq(pt_ioctl(counter, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	o = (struct overflows){ p.ended, pt_count(faults) };
	pt_check(o.of_counter > 1000 && o.of_faults >= 3000, "%llu and %llu overflows",
		 (unsigned long long)o.of_counter, (unsigned long long)o.of_faults);
	return o;
}

/* A table takes a sample in the midst of another one. */
static void table(void)
{
	const struct perf_ext_hist_arg arg = { .key = { PERF_EXT_KEY_EVENT }, .buckets = 16 };
	const struct perf_ext_hist *h;
	struct overflows o;
	struct pt_area a;
	int counter, faults;

	ext_need();
	counter_need();
	counter = open_counter();
	faults = open_faults();
	format_hist(&a, counter, &arg);
	pt_eq(format_share(&a, faults, hist_uuid), 0);
	o = work(counter, faults);
	h = format_flip(&a);
	pt_eq(hist_of(h, arg.buckets, pt_id(counter)).samples, o.of_counter);
	pt_eq(hist_of(h, arg.buckets, pt_id(faults)).samples, o.of_faults);
	pt_eq(h->lost_samples, 0);
	pt_eq(a.head->samples, o.of_counter + o.of_faults);
	pt_eq(a.head->lost, 0);
	pt_eq(a.head->nested, 0);
}

/* Samples one after the other are taken one at a time. */
static void one_at_a_time(void)
{
	static const u8 pfm[16] = PERF_EXT_FORMAT_PFM;
	const struct perf_ext_pfm_sample *s;
	const struct perf_ext_pfm *h;
	u64 of_counter = 0, of_faults = 0, at;
	struct overflows o;
	struct pt_area a;
	int counter, faults;

	ext_need();
	counter_need();
	counter = open_counter();
	faults = open_faults();
	format_pfm(&a, counter, 4 << 20, 0);
	pt_eq(format_share(&a, faults, pfm), 0);
	o = work(counter, faults);
	h = format_flip(&a);
	for (at = 0; at < h->used; at += s->size) {
		s = (const void *)((const u8 *)(h + 1) + at);
		pt_need(s->size == sizeof(*s), "a sample of %u bytes", s->size);
		of_counter += s->id == pt_id(counter);
		of_faults += s->id == pt_id(faults);
	}
	pt_eq(h->lost, 0);
	pt_eq(a.head->nested > 0, has_nmis());
	pt_eq(a.head->lost, a.head->nested);
	pt_eq(of_faults, o.of_faults);
	pt_eq(of_counter + a.head->nested, o.of_counter);
	pt_eq(a.head->samples, o.of_counter + o.of_faults);
}

/*
 * A period of 10,007: 99 samples, 990,693 events. The table has, address by address, the samples
 * that records of the same show.
 */
static void histogram(void)
{
	const struct perf_ext_hist_arg arg = { .key = { PERF_EXT_KEY_IP }, .buckets = 256 };
	const u64 total = counter_spin_cost(500000);
	static struct pt_record rec;
	static struct pt_sample s;
	struct perf_event_attr attr;
	const struct perf_ext_hist *h;
	u64 ip[128], samples = 0, events = 0;
	unsigned int n = 0, i, k, same;
	struct pt_ring ring;
	struct pt_area a;
	int fd;

	ext_need();
	counter_need();
	attr = counter_kind(0);
	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 16);
	counter_spin(fd, 500000);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE) && n < 128) {
		pt_parse_sample(&attr, &rec, &s);
		ip[n++] = s.ip;
	}
	pt_unmap(&ring);
	close(fd);
	pt_eq(n, total / 10007);

	fd = pt_open_hw(&attr, -1);
	format_hist(&a, fd, &arg);
	counter_spin(fd, 500000);
	pt_eq(pt_count(fd), total);
	h = format_flip(&a);
	for (i = 0; i < n; i++) {
		for (same = k = 0; k < n; k++)
			same += ip[k] == ip[i];
		pt_eq(hist_of(h, arg.buckets, ip[i]).samples, same);
	}
	for (i = 0; i < arg.buckets; i++) {
		samples += h->bucket[i].samples;
		events += h->bucket[i].events;
	}
	pt_eq(samples, n);
	pt_eq(events, n * 10007);
	pt_eq(a.head->samples, n);
	format_close(&a);
	close(fd);
}

/* A sample that comes late, in the kernel, of an event that leaves it out, has no address. */
static void histogram_hides_the_kernel(void)
{
	const struct perf_ext_hist_arg arg = {
		.key = { PERF_EXT_KEY_IP, PERF_EXT_KEY_ADDR }, .buckets = 8,
	};
	struct perf_event_attr attr = counter_kind(0);
	const struct perf_ext_hist *h;
	struct pt_area a;
	int fd;

	ext_need();
	counter_need();
	attr.sample_period = counter_spin_cost(5000);	/* ends with the system call */
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	fd = pt_open_hw(&attr, -1);
	format_hist(&a, fd, &arg);
	counter_spin(fd, 5000);
	pt_eq(pt_count(fd), attr.sample_period);
	h = format_flip(&a);
	pt_eq(hist_of(h, arg.buckets, 0).samples, 1);
	pt_eq(hist_keys(h, arg.buckets), 1);
}

static void pfm_is_full(struct pt_area *a, int leader, int member, u64 counted)
{
	struct pt_read got;
	const struct perf_ext_pfm_sample *s;
	const struct perf_ext_pfm *h;
	int i;

	pt_read(leader, PERF_FORMAT_GROUP | PERF_FORMAT_ID, 2, &got);
	pt_eq(got.v[0].value, counted);
	pt_eq(got.v[1].value, counted);
	pt_check(format_told(a, POLLIN), "POLLIN missing");
	h = format_flip(a);
	pt_eq(h->used, 10 * (sizeof(*s) + 24));
	pt_eq(h->lost, 0);
	for (i = 0; i < 10; i++) {
		s = pfm_sample(h, i);
		pt_eq(s->period, 10007);
		pt_eq(s->id, pt_id(leader));
		pt_eq(s->read[0], 1);			/* member */
		pt_eq(s->read[1], 10007);
		pt_eq(s->read[2], pt_id(member));
	}
}

/*
 * It stops with the tenth sample, each of which has what the sibling has counted since the one
 * before, and goes on when it has been read: 100,070 instructions, four times.
 */
static void stop_when_full(void)
{
	const u64 bytes = sizeof(struct perf_ext_pfm) +
			  10 * (sizeof(struct perf_ext_pfm_sample) + 24);
	struct perf_event_attr attr = counter_kind(0), sibling = counter_instructions();
	struct perf_ext_masks m = { .record = 2, .reset = 2 };
	struct perf_ext_restart r = {};
	struct pt_area a;
	int fd, fe, i;

	ext_need();
	counter_need();
	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	sibling.read_format = attr.read_format;
	sibling.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	fe = pt_open_hw(&sibling, fd);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_MASKS, pt_addr(&m)), 0);
	format_pfm(&a, fd, bytes, PERF_EXT_PFM_STOP);
	counter_spin(fd, 500000);
	pfm_is_full(&a, fd, fe, 100070);
	for (i = 2; i < 5; i++) {
		pt_eq(pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&r)), 0);
		pt_spin(500000);
		pfm_is_full(&a, fd, fe, 100070 * (u64)i);
	}
	pt_eq(a.head->samples, 40);
	pt_eq(a.head->lost, 0);
	format_close(&a);
	close(fe);
	close(fd);
}

/* The n-th overflow stops the group at this very instruction of user space, until RESTART. */
static void stop_and_restart(void)
{
	struct perf_event_attr attr = counter_kind(0), count = counter_instructions();
	struct perf_ext_notify n = { .every = 1, .flags = PERF_EXT_NOTIFY_STOP };
	struct perf_ext_restart r = {};
	int fd, fe, i;

	ext_need();
	counter_need();
	attr.sample_period = 100003;
	count.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	fe = pt_open_hw(&count, fd);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n)), 0);
	counter_spin(fd, 500000);
	pt_eq(pt_count(fd), 100003);
	pt_eq(pt_count(fe), 100003);
	for (i = 2; i < 6; i++) {
		pt_eq(pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&r)), 0);
		pt_spin(500000);
		pt_eq(pt_count(fd), 100003 * i);
		pt_eq(pt_count(fe), 100003 * i);
	}
	n.every = 3;
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n)), 0);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&r)), 0);
	pt_spin(500000);
	pt_eq(pt_count(fd), 100003 * 8);
	pt_eq(pt_count(fe), 100003 * 8);
}

/* ---- what stops in a fork ---- */

#define ALONE	100000		/* instructions; from an overflow to its irq_work are less */

static void spin(void *arg)
{
	(void)arg;
	pt_spin(ALONE);
}

struct both {
	u64 nr, leader, sibling;
};

static struct both read_both(int fd)
{
	struct both now;

	pt_need(read(fd, &now, sizeof(now)) == sizeof(now), "read: %s", strerror(errno));
	return now;
}

/*
 * Its group goes on and stops after this many instructions; so does that of the child, if it is on.
 * A leader that is on alone would count all of the child. Return: the child has counted.
 */
static bool fork_with_period(const int fd[2], u64 period)
{
	const struct both before = read_both(fd[0]);
	struct both now;
	u64 leader, sibling;

	pt_eq(pt_ioctl(fd[1], PERF_EVENT_IOC_PERIOD, pt_addr(&period)), 0);
	pt_eq(restart(fd[1]), 0);
	pt_reap(pt_fork(spin, NULL));
	pt_disable(fd[0]);
	now = read_both(fd[0]);
	leader = now.leader - before.leader;
	sibling = now.sibling - before.sibling;
	pt_check(leader < sibling + ALONE, "period %llu: leader %llu, sibling %llu",
		 (unsigned long long)period, (unsigned long long)leader,
		 (unsigned long long)sibling);
	return sibling > period + period / 2;
}

/*
 * Wherever in a fork its own group stops: the copies of leader and sibling, which are made one
 * after the other, are both on or both off. They are made where periods that are a little longer
 * have the child count.
 */
static void stops_in_a_fork(void)
{
	u64 none = 2000, some = ALONE, half, period;
	struct perf_event_attr attr = counter_kind(0), count = counter_instructions();
	int fd[2];

	ext_need();
	counter_need();
	count.exclude_kernel = 0;
	count.inherit = 1;
	count.read_format = PERF_FORMAT_GROUP;
	fd[0] = pt_open_hw(&count, -1);
	attr.exclude_kernel = 0;
	attr.inherit = 1;
	attr.sample_period = ALONE;
	fd[1] = pt_open_hw(&attr, fd[0]);
	pt_eq(notify(fd[1], 1, PERF_EXT_NOTIFY_STOP), 0);
	pt_enable(fd[1]);
	pt_check(!fork_with_period(fd, none), "it has stopped before the fork");
	pt_check(fork_with_period(fd, some), "it stops after the fork");
	while (some - none > 100) {
		half = (some + none) / 2;
		*(fork_with_period(fd, half) ? &some : &none) = half;
	}
	for (period = some - 1500; period < some + 1500 && !pt_failures(); period += 5)
		fork_with_period(fd, period);
}

static const struct pt_case cases[] = {
	{ "table", table },
	{ "one_at_a_time", one_at_a_time },
	{ "histogram", histogram },
	{ "histogram_hides_the_kernel", histogram_hides_the_kernel },
	{ "stop_when_full", stop_when_full },
	{ "stop_and_restart", stop_and_restart },
	{ "stops_in_a_fork", stops_in_a_fork },
};

PT_MAIN(cases)
