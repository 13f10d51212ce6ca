// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the output plan of an event.
 *
 * The expected sizes are written down here from the layout in <linux/perf_event.h>, one table row
 * for each bit, not computed the way plan.c does.
 */
#include <kunit/test.h>
#include "../output/output.h"

struct field {
	u64	bit;
	u16	sample;		/* bytes of fixed size in a sample */
	u16	trailer;	/* bytes in the sample_id trailer */
};

static const struct field fields[] = {
	{ PERF_SAMPLE_IP,		8, 0 },
	{ PERF_SAMPLE_TID,		8, 8 },
	{ PERF_SAMPLE_TIME,		8, 8 },
	{ PERF_SAMPLE_ADDR,		8, 0 },
	{ PERF_SAMPLE_READ,		0, 0 },		/* as long as read(), see below */
	{ PERF_SAMPLE_CALLCHAIN,	0, 0 },
	{ PERF_SAMPLE_ID,		8, 8 },
	{ PERF_SAMPLE_CPU,		8, 8 },
	{ PERF_SAMPLE_PERIOD,		8, 0 },
	{ PERF_SAMPLE_STREAM_ID,	8, 8 },
	{ PERF_SAMPLE_RAW,		0, 0 },
	{ PERF_SAMPLE_BRANCH_STACK,	0, 0 },
	{ PERF_SAMPLE_REGS_USER,	0, 0 },
	{ PERF_SAMPLE_STACK_USER,	0, 0 },
	{ PERF_SAMPLE_WEIGHT,		8, 0 },
	{ PERF_SAMPLE_DATA_SRC,		8, 0 },
	{ PERF_SAMPLE_IDENTIFIER,	8, 8 },
	{ PERF_SAMPLE_TRANSACTION,	8, 0 },
	{ PERF_SAMPLE_REGS_INTR,	0, 0 },
	{ PERF_SAMPLE_PHYS_ADDR,	8, 0 },
	{ PERF_SAMPLE_CGROUP,		8, 0 },
	{ PERF_SAMPLE_DATA_PAGE_SIZE,	8, 0 },
	{ PERF_SAMPLE_CODE_PAGE_SIZE,	8, 0 },
	{ PERF_SAMPLE_WEIGHT_STRUCT,	8, 0 },
};

static struct pe_plan plan_of(struct perf_event_attr attr)
{
	struct pe_plan plan;

	memset(&plan, 0xff, sizeof(plan));
	pe_plan_compile(&plan, &attr);
	return plan;
}

/* Each field alone, and each with all those before it. */
static void sizes(struct kunit *test)
{
	u16 sample = 0, trailer = 0;
	u64 all = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *f = &fields[i];
		struct perf_event_attr attr = { .sample_type = f->bit };

		KUNIT_EXPECT_EQ_MSG(test, plan_of(attr).header_size, f->sample, "%llx", f->bit);
		KUNIT_EXPECT_EQ(test, plan_of(attr).id_size, 0);
		attr.sample_id_all = 1;
		KUNIT_EXPECT_EQ_MSG(test, plan_of(attr).header_size, f->sample, "%llx", f->bit);
		KUNIT_EXPECT_EQ_MSG(test, plan_of(attr).id_size, f->trailer, "%llx", f->bit);

		if (f->bit == PERF_SAMPLE_WEIGHT_STRUCT)
			break;		/* never together with WEIGHT */
		all |= f->bit;
		sample += f->sample;
		trailer += f->trailer;
		attr.sample_type = all;
		KUNIT_EXPECT_EQ_MSG(test, plan_of(attr).header_size, sample, "%llx", all);
		KUNIT_EXPECT_EQ_MSG(test, plan_of(attr).id_size, trailer, "%llx", all);
		KUNIT_EXPECT_EQ(test, plan_of(attr).sample_type, all);
	}
	KUNIT_EXPECT_EQ(test, trailer, 48);
}

static void collected(struct kunit *test)
{
#define COLLECT(type) (plan_of((struct perf_event_attr){ .sample_type = (type) }).collect)
	KUNIT_EXPECT_EQ(test, COLLECT(0), 0ULL);
	KUNIT_EXPECT_EQ(test, COLLECT(PERF_SAMPLE_TIME), (u64)PERF_SAMPLE_TIME);
	KUNIT_EXPECT_EQ(test, COLLECT(PERF_SAMPLE_CODE_PAGE_SIZE),
			(u64)(PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_IP));
	KUNIT_EXPECT_EQ(test, COLLECT(PERF_SAMPLE_DATA_PAGE_SIZE),
			(u64)(PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_ADDR));
	KUNIT_EXPECT_EQ(test, COLLECT(PERF_SAMPLE_PHYS_ADDR),
			(u64)(PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_ADDR));
	KUNIT_EXPECT_EQ(test, COLLECT(PERF_SAMPLE_STACK_USER),
			(u64)(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER));
#undef COLLECT
}

static void sideband(struct kunit *test)
{
#define WANTED(...) (plan_of((struct perf_event_attr){ __VA_ARGS__ }).sideband)
	u32 task = BIT(PE_SB_TASK);

	KUNIT_EXPECT_EQ(test, WANTED(.freq = 1), 0U);
	KUNIT_EXPECT_EQ(test, WANTED(.task = 1), task);
	KUNIT_EXPECT_EQ(test, WANTED(.comm = 1), task | (u32)BIT(PE_SB_COMM));
	KUNIT_EXPECT_EQ(test, WANTED(.mmap = 1), task | (u32)BIT(PE_SB_MMAP));
	KUNIT_EXPECT_EQ(test, WANTED(.mmap_data = 1), task | (u32)BIT(PE_SB_MMAP_DATA));
	/* mmap2 alone hears of mappings while another event keeps the hook on */
	KUNIT_EXPECT_EQ(test, WANTED(.mmap2 = 1), task | (u32)BIT(PE_SB_MMAP));
	KUNIT_EXPECT_EQ(test, WANTED(.mmap = 1, .mmap2 = 1), task | (u32)BIT(PE_SB_MMAP));
	/* as does comm_exec */
	KUNIT_EXPECT_EQ(test, WANTED(.comm_exec = 1), 0U);
	KUNIT_EXPECT_EQ(test, WANTED(.context_switch = 1), (u32)BIT(PE_SB_SWITCH));
	KUNIT_EXPECT_EQ(test, WANTED(.namespaces = 1), (u32)BIT(PE_SB_NAMESPACES));
	KUNIT_EXPECT_EQ(test, WANTED(.ksymbol = 1), (u32)BIT(PE_SB_KSYMBOL));
	KUNIT_EXPECT_EQ(test, WANTED(.bpf_event = 1), (u32)BIT(PE_SB_BPF));
	KUNIT_EXPECT_EQ(test, WANTED(.text_poke = 1), (u32)BIT(PE_SB_TEXT_POKE));
	KUNIT_EXPECT_EQ(test, WANTED(.cgroup = 1), (u32)BIT(PE_SB_CGROUP));
	KUNIT_EXPECT_EQ(test, WANTED(.defer_output = 1), (u32)BIT(PE_SB_CHAIN));
#undef WANTED
}

static const struct {
	u64		format;
	unsigned int	siblings;
	u32		size;
} reads[] = {
	{ 0, 0, 8 },
	{ 0, 7, 8 },
	{ PERF_FORMAT_TOTAL_TIME_ENABLED, 0, 16 },
	{ PERF_FORMAT_TOTAL_TIME_RUNNING, 0, 16 },
	{ PERF_FORMAT_ID, 0, 16 },
	{ PERF_FORMAT_LOST, 0, 16 },
	{ PE_FORMAT_TIMES | PERF_FORMAT_ID | PERF_FORMAT_LOST, 0, 40 },
	{ PE_FORMAT_TIMES | PERF_FORMAT_ID | PERF_FORMAT_LOST, 3, 40 },
	{ PERF_FORMAT_GROUP, 0, 16 },
	{ PERF_FORMAT_GROUP, 3, 40 },
	{ PERF_FORMAT_GROUP | PERF_FORMAT_ID, 3, 72 },
	{ PERF_FORMAT_GROUP | PERF_FORMAT_LOST, 3, 72 },
	{ PERF_FORMAT_GROUP | PE_FORMAT_TIMES, 3, 56 },
	{ PERF_FORMAT_GROUP | PE_FORMAT_TIMES | PERF_FORMAT_ID | PERF_FORMAT_LOST, 3, 120 },
};

static void read_sizes(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(reads); i++)
		KUNIT_EXPECT_EQ_MSG(test, pe_plan_read_size(reads[i].format, reads[i].siblings),
				    reads[i].size, "format %llx, %u siblings", reads[i].format,
				    reads[i].siblings);
}

/* 16384 bytes are allowed: the group that is just small enough, and the next one. */
static void read_limit(struct kunit *test)
{
	u64 group = PERF_FORMAT_GROUP;

	KUNIT_EXPECT_TRUE(test, pe_plan_read_fits(0, UINT_MAX));
	KUNIT_EXPECT_TRUE(test, pe_plan_read_fits(group, 2046));
	KUNIT_EXPECT_FALSE(test, pe_plan_read_fits(group, 2047));
	group |= PERF_FORMAT_ID;
	KUNIT_EXPECT_TRUE(test, pe_plan_read_fits(group, 1022));
	KUNIT_EXPECT_FALSE(test, pe_plan_read_fits(group, 1023));
	group |= PERF_FORMAT_LOST | PE_FORMAT_TIMES;
	KUNIT_EXPECT_TRUE(test, pe_plan_read_fits(group, 680));
	KUNIT_EXPECT_FALSE(test, pe_plan_read_fits(group, 681));
}

/* A sample with PERF_SAMPLE_READ grows with the group. */
static void sample_size(struct kunit *test)
{
	struct pe_event *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	struct perf_sample_data *data = kunit_kzalloc(test, sizeof(*data), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	KUNIT_ASSERT_NOT_NULL(test, data);
	e->group_leader = &e->pub;
	e->attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	e->attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	pe_plan_compile(&e->plan, &e->attr);
	data->type = e->attr.sample_type;

	KUNIT_EXPECT_EQ(test, pe_read_size(e), 24U);
	KUNIT_EXPECT_EQ(test, pe_sample_size(data, e), 8U + 8 + 8 + 24);
	data->dyn_size = 16;
	e->nr_siblings = 2;
	KUNIT_EXPECT_EQ(test, pe_read_size(e), 56U);
	KUNIT_EXPECT_EQ(test, pe_sample_size(data, e), 8U + 8 + 8 + 56 + 16);
	data->type &= ~PERF_SAMPLE_READ;
	KUNIT_EXPECT_EQ(test, pe_sample_size(data, e), 8U + 8 + 8 + 16);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(sizes),
	KUNIT_CASE(collected),
	KUNIT_CASE(sideband),
	KUNIT_CASE(read_sizes),
	KUNIT_CASE(read_limit),
	KUNIT_CASE(sample_size),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_plan",
	.test_cases = cases,
};

kunit_test_suite(suite);
