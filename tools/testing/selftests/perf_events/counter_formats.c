// SPDX-License-Identifier: GPL-2.0
/*
 * counter_formats.c - an area of a format that two events write to, one of which may interrupt the
 * samples of the other: its overflows are NMIs on x86, and on arm64 with pseudo-NMIs. Each overflow
 * is in the area, once, or counted as one that came in the midst of another.
 *
 * needs: hw pmuv3 pmu-irq
 */
#include "lib/counter.h"
#include "lib/format.h"

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

/* How often each of them overflows. */
struct overflows {
	u64 of_counter, of_faults;
};

static struct overflows work(int counter, int faults)
{
	struct perf_ext_periods p = { .short_period = 1009, .mask = 0xff, .seed = 1 };
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

static const struct pt_case cases[] = {
	{ "table", table },
	{ "one_at_a_time", one_at_a_time },
};

PT_MAIN(cases)
