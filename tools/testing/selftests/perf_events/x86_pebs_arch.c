// SPDX-License-Identifier: GPL-2.0
/*
 * x86_pebs_arch.c - architectural PEBS of Intel CPUs: each event's records have the groups that its
 * samples need, and no others; where the next record goes is what has been written so far.
 *
 * Exact on the emulated PMUs "dmr" and "cwf". On the latter records are chains of fragments; the
 * buffer is then longer, the samples are the same. What samples must be is in x86_pebs, too.
 *
 * needs: arch-pebs
 */
#include "lib/x86.h"

#define CAPABILITIES	0x345
#define PEBS_BASE	0x3f4
#define PEBS_INDEX	0x3f5
#define CFG_C_GENERAL	0x1903
#define CFG_C_FIXED	0x1983
#define STEP		4

#define NEXT_RECORD	0x7fffff0ull
#define FULL		(1ull << 31)
#define ON		(1ull << 32)
#define THRESHOLD(n)	((u64)(n) << 36)
/* What the driver leaves free: one page of 16. */
#define MANY		THRESHOLD((16 - 1) * 4096 / 16)

/* Bits of CFG_C */
#define ALLOW		(1ull << 35)
#define VALUES		(3ull << 36)
#define BRANCHES	(3ull << 40)
#define XMM		(1ull << 49)
#define GPRS		(1ull << 61)
#define AUX		(1ull << 62)
#define RECORD		(1ull << 63)

#define REG_DI		5
#define REG_XMM7	(32 + 2 * 7)

#define TURNS		100000

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static void need_arch(void)
{
	x86_need_exact();
	if (!x86_is_intel() || (x86_rdmsr(CAPABILITIES) >> 8 & 0xf) != 0xf)
		pt_skip("no architectural PEBS");
	pt_first_on_cpu(0);
}

static struct perf_event_attr instructions(u64 period)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	attr.precise_ip = 2;
	return attr;
}

/* Some counter's configuration is this one: of how many? */
static int configured(u64 want)
{
	int i, n = 0;

	for (i = 0; i < x86_general(); i++)
		n += x86_rdmsr(CFG_C_GENERAL + i * STEP) == want;
	for (i = 0; i < x86_fixed(); i++)
		n += x86_rdmsr(CFG_C_FIXED + i * STEP) == want;
	return n;
}

/* One sample every period, at the instruction itself. */
static u64 check_samples(struct pt_ring *r, struct perf_event_attr *attr)
{
	u64 n = 0;

	while (pt_next_of(r, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(attr, &rec, &s);
		n += attr->sample_period;
		pt_eq(s.ip, x86_spin_ip(TURNS, n - 1));
		if (pt_failures() > 10)
			pt_end_case();
	}
	return n / attr->sample_period;
}

/* The buffer has 16 pages; the registers say what one event wants. */
static void registers(void)
{
	const u64 reload = (u32)-100003;
	struct perf_event_attr attr;
	unsigned int i;
	static const struct {
		u64 type, regs, branches, groups;
		int precise;
	} line[] = {
		{ 0, 0, 0, 0, 2 },
		{ 0, 0, 0, GPRS, 1 },
		{ PERF_SAMPLE_ADDR, 0, 0, AUX, 2 },
		{ PERF_SAMPLE_WEIGHT_STRUCT, 0, 0, AUX, 2 },
		{ PERF_SAMPLE_REGS_INTR, 1 << REG_DI, 0, GPRS, 2 },
		{ PERF_SAMPLE_REGS_INTR, 3ull << REG_XMM7, 0, XMM, 2 },
		{ PERF_SAMPLE_BRANCH_STACK, 0,
		  PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER, BRANCHES, 2 },
		{ PERF_SAMPLE_READ, 0, 0, ALLOW | VALUES, 2 },
	};

	need_arch();
	pt_eq(x86_rdmsr(PEBS_BASE) & 0xfff, 4);
	pt_check(x86_rdmsr(PEBS_BASE) >> 12, "no buffer");
	for (i = 0; i < PT_ARRAY_SIZE(line); i++) {
		int fd;

		attr = instructions(100003);
		attr.sample_type |= line[i].type;
		attr.sample_regs_intr = line[i].regs;
		attr.branch_sample_type = line[i].branches;
		attr.precise_ip = line[i].precise;
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_enable(fd);
		pt_eq(configured(RECORD | line[i].groups | reload), 1);
		pt_eq(x86_rdmsr(PEBS_INDEX) & ~NEXT_RECORD,
		      ON | (line[i].regs >> 32 ? THRESHOLD(1) : MANY));
		close(fd);
	}
	/* nothing is left for an ordinary event */
	attr.precise_ip = 0;
	attr.sample_type = PERF_SAMPLE_IP;
	pt_enable(pt_open(&attr, 0, -1, -1, 0));
	pt_eq(configured(RECORD | line[i - 1].groups | reload), 0);
}

/* What has been written is what the index says, until somebody looks. */
static void index_goes_with_records(void)
{
	struct perf_event_attr attr = instructions(10007);
	u64 size, records;
	int fd, i;

	need_arch();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	for (i = 1; i <= 3; i++) {
		pt_enable(fd);
		pt_spin(TURNS);
		size = x86_rdmsr(PEBS_INDEX) & NEXT_RECORD;
		/* a header and the basic group */
		pt_check(size && size % 64 == 0, "%llu bytes", (unsigned long long)size);
		pt_eq(size / 64, 2 * TURNS / 10007);
		pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
		records = pt_count(fd) / 10007;
		pt_eq(x86_rdmsr(PEBS_INDEX), ON | MANY);
		pt_disable(fd);
		pt_check(pt_count_records(&ring, PERF_RECORD_SAMPLE) >= size / 64,
			 "samples are missing");
		pt_eq(ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
		pt_check(records >= size / 64, "%llu records", (unsigned long long)records);
		/* each turn begins with a whole period */
		attr.sample_period = 10007;
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&attr.sample_period), 0);
	}
}

/* Records of one need what those of the other have not; and both overflow together. */
static void two_kinds_of_records(void)
{
	struct perf_event_attr a = instructions(997), b = instructions(1999);
	struct pt_ring other;
	u64 n = 0;
	int fa, fb;

	need_arch();
	b.sample_type |= PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_ADDR;
	b.sample_regs_intr = 1 << REG_DI;
	b.disabled = 0;
	fa = pt_open(&a, 0, -1, -1, 0);
	fb = pt_open(&b, 0, -1, fa, 0);
	pt_map(&ring, fa, 512);
	pt_map(&other, fb, 512);
	pt_enable(fa);
	pt_eq(configured(RECORD | (u32)-997), 1);
	pt_eq(configured(RECORD | GPRS | AUX | (u32)-1999), 1);
	pt_disable(fa);
	pt_drain(&ring);
	pt_drain(&other);
	close(fb);
	close(fa);

	fa = pt_open(&a, 0, -1, -1, 0);
	fb = pt_open(&b, 0, -1, fa, 0);
	pt_map(&ring, fa, 512);
	pt_map(&other, fb, 512);
	x86_measured_spin(fa, TURNS);
	pt_eq(check_samples(&ring, &a), X86_SPIN_COST(TURNS) / 997);
	while (pt_next_of(&other, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&b, &rec, &s);
		n += 1999;
		pt_eq(s.ip, x86_spin_ip(TURNS, n - 1));
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_eq(n / 1999, X86_SPIN_COST(TURNS) / 1999);
	pt_eq(pt_count(fa), X86_SPIN_COST(TURNS));
	pt_eq(pt_count(fb), X86_SPIN_COST(TURNS));
}

/* Of the cache, of the instruction, and until it retired. */
static void three_latencies(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_RAW, 0x1cd);
	unsigned int n = 0;
	int fd;

	need_arch();
	attr.config1 = 3;
	attr.sample_period = 1009;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_ADDR;
	attr.precise_ip = 2;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 512);
	pt_enable(fd);
	x86_call_loop(50000);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		if (!s.addr)
			continue;
		n++;
		pt_eq(s.weight, 10 | 12ull << 32 | 7ull << 48);
	}
	pt_check(n > 10, "%u samples", n);
}

/* A period that the 32 bits of the register do not have: one interrupt for each. */
static void long_periods(void)
{
	struct perf_event_attr attr = instructions(1ull << 32);
	u64 period = 1ull << 32;
	int fd;

	need_arch();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	pt_eq(configured(RECORD), 1);
	close(fd);
	attr.sample_period = period - 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), -EINVAL);
	pt_enable(fd);
	pt_eq(configured(RECORD | 1), 1);
	period = 1000;
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
	pt_eq(configured(RECORD | (u32)-1000), 1);
}

/* A frequency: nothing is reloaded, and the count is the sum of the periods. */
static void frequency(void)
{
	struct perf_event_attr attr = instructions(20000);
	u64 n = 0, samples = 0;
	int fd;

	need_arch();
	attr.freq = 1;
	attr.sample_type |= PERF_SAMPLE_PERIOD;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 512);
	x86_measured_spin(fd, TURNS);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		n += s.period;
		samples++;
		pt_eq(s.ip, x86_spin_ip(TURNS, n - 1));
	}
	pt_check(samples > 1, "%llu samples", (unsigned long long)samples);
	pt_eq(pt_count(fd), X86_SPIN_COST(TURNS));
}

/* Exact ones are on counters 0 and 1, and on the fixed counter of instructions. */
static void most_precise(void)
{
	struct perf_event_attr attr = instructions(10007);
	char text[16] = "";
	int fd;

	need_arch();
	pt_need(pt_slurp(X86_PMU "caps/max_precise", text, sizeof(text)), "no caps");
	pt_eq(atoi(text), 3);
	attr.precise_ip = 4 - 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	x86_measured_spin(fd, TURNS);
	pt_eq(check_samples(&ring, &attr), X86_SPIN_COST(TURNS) / 10007);
	attr.aux_output = 1;
	pt_eq(pt_probe(&attr), -EOPNOTSUPP);
}

static const struct pt_case cases[] = {
	{ "registers", registers },
	{ "index_goes_with_records", index_goes_with_records },
	{ "two_kinds_of_records", two_kinds_of_records },
	{ "three_latencies", three_latencies },
	{ "long_periods", long_periods },
	{ "frequency", frequency },
	{ "most_precise", most_precise },
};

PT_MAIN(cases)
