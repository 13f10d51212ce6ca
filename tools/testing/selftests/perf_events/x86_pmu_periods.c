// SPDX-License-Identifier: GPL-2.0
/*
 * x86_pmu_periods.c - periods that follow a rule, by the counters of x86.
 */
#include "lib/ext.h"
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

static const struct pt_case cases[] = {
	{ "random_periods", random_periods },
};

PT_MAIN(cases)
