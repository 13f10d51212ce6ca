// SPDX-License-Identifier: GPL-2.0
/*
 * x86_pmu_periods.c - periods that follow a rule, masks, stops and formats on counters of x86.
 * Periods and sets: counter_*.c.
 */
#include "lib/format.h"
#include "lib/x86.h"

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

/*
 * A program whose turns take 1,000 instructions, a hot tenth of them first.  Periods of 10,000
 * always end in the same place; random ones find the tenth about as often as it runs.
 */
static void aliasing(bool random, u64 samples, u64 hot_ones)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_ext_periods p = { .short_period = 10000, .seed = 1 };
	u64 n = 0, hot = 0;
	struct ext_model m;
	int fd;

	attr.sample_period = 10000;
	attr.sample_type = PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	p.mask = random ? 0x3ff : 0;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	if (random)
		pt_eq(ext_periods(fd, &p), 0);
	x86_measured_spin(fd, 5000000);
	pt_eq(pt_count(fd), X86_SPIN_COST(5000000));
	ext_model_start(&m, &p);
	while (pt_next(&ring, &rec)) {
		pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.period, ext_model_next(&m));
		pt_eq(s.read.v[0].value, m.sum);
		if (pt_failures())
			break;
		n++;
		hot += s.read.v[0].value % 1000 < 100;
	}
	pt_eq(n, samples);
	pt_eq(hot, hot_ones);
	pt_unmap(&ring);
	close(fd);
}

static void random_periods(void)
{
	ext_need();
	x86_need_exact();
	aliasing(false, 1000, 1000);
	aliasing(true, 952, 113);
}

/* Each sample shows the instructions since the last; those of all and the rest are the count. */
static void masks(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_attr count = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_ext_masks m = { .record = 2, .reset = 2 };
	struct pt_read got;
	u64 sum = 0, n = 0;
	int fd, fe;

	ext_need();
	x86_need_exact();
	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	count.read_format = attr.read_format;
	count.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	fe = pt_open_hw(&count, fd);
	pt_map(&ring, fd, 64);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_MASKS, pt_addr(&m)), 0);
	x86_measured_spin(fd, 500000);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.read.nr, 1);
		pt_eq(s.read.v[0].id, pt_id(fe));
		pt_eq(s.read.v[0].value, 10007);
		sum += s.read.v[0].value;
		n++;
	}
	pt_eq(n, 99);
	pt_read(fd, attr.read_format, 2, &got);
	pt_eq(got.v[1].value, X86_SPIN_COST(500000));
	pt_eq(got.v[1].value - sum, 9311);
}

/* The n-th overflow stops the group at this very instruction of user space, until RESTART. */
static void stop_and_restart(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_attr count = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_ext_notify n = { .every = 1, .flags = PERF_EXT_NOTIFY_STOP };
	struct perf_ext_restart r = {};
	int fd, fe, i;

	ext_need();
	x86_need_exact();
	attr.sample_period = 100003;
	count.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	fe = pt_open_hw(&count, fd);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n)), 0);
	x86_measured_spin(fd, 500000);
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

/* 99 samples, 990,693 events, in a table. */
static void histogram(void)
{
	ext_need();
	x86_need_exact();
	hist_of_hardware(x86_hw(PERF_COUNT_HW_INSTRUCTIONS), x86_measured_spin,
			 X86_SPIN_COST(500000));
}

/* A sample that comes late, in the kernel, of an event that leaves it out, has no address. */
static void histogram_hides_the_kernel(void)
{
	const struct perf_ext_hist_arg arg = {
		.key = { PERF_EXT_KEY_IP, PERF_EXT_KEY_ADDR }, .buckets = 8,
	};
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES);
	const struct perf_ext_hist *h;
	struct pt_area a;
	int fd;

	ext_need();
	x86_need_exact();
	attr.sample_period = X86_SPIN_COST(5000);	/* ends with the SYSCALL */
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	fd = pt_open_hw(&attr, -1);
	format_hist(&a, fd, &arg);
	x86_measured_spin(fd, 5000);
	pt_eq(pt_count(fd), attr.sample_period);
	h = format_flip(&a);
	pt_eq(hist_of(h, arg.buckets, 0).samples, 1);
	pt_eq(hist_keys(h, arg.buckets), 1);
}

/* Ten samples, 100,070 instructions, four times. */
static void stop_when_full(void)
{
	ext_need();
	x86_need_exact();
	pfm_of_hardware(x86_hw(PERF_COUNT_HW_INSTRUCTIONS), x86_hw(PERF_COUNT_HW_INSTRUCTIONS),
			x86_measured_spin);
}

static const struct pt_case cases[] = {
	{ "stop_when_full", stop_when_full },
	{ "histogram", histogram },
	{ "histogram_hides_the_kernel", histogram_hides_the_kernel },
	{ "stop_and_restart", stop_and_restart },
	{ "random_periods", random_periods },
	{ "masks", masks },
};

PT_MAIN(cases)
