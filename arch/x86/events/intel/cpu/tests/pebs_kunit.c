// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: PEBS records of every format, made up here, and what becomes of them; data sources; the
 * tables of events.
 *
 * Records of formats that the emulated PMU does not have are known only from the manual.  Where
 * the driver looks at the CPU's capabilities the cases change them for a moment; that is done only
 * while PEBS is not in use.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>

#include "../cpu.h"
#include "../pebs/pebs.h"

#define S(field, value)	PERF_MEM_S(field, value)

/* ------------------------------------------------------------ accounting */

static void record_owners(struct kunit *test)
{
	static const struct {
		u64 status, enabled, owner, collided;
	} line[] = {
		{ 0x1, 0x1, 0x1, 0 }, { 0x2, 0x3, 0x2, 0 },
		/* a counter without PEBS overflowed, too */
		{ 0x3, 0x1, 0x1, 0 }, { 0xc, 0x6, 0x4, 0 }, { BIT_ULL(62) | 8, 8, 8, 0 },
		/* two with it */
		{ 0x3, 0x3, 0, 0x3 }, { 0xf, 0xe, 0, 0xe },
		/* the status was cleared: clear only if there is one event */
		{ 0, 0x4, 0x4, 0 }, { 0, 0x5, 0, 0 }, { 0x8, 0x4, 0x4, 0 }, { 0x8, 0x5, 0, 0 },
		{ 0, 0, 0, 0 }, { 0xf, 0, 0, 0 },
	};
	u64 collided;
	int i;

	for (i = 0; i < ARRAY_SIZE(line); i++) {
		KUNIT_EXPECT_EQ_MSG(test, line[i].owner,
				    intel_pe_record_owners(line[i].status, line[i].enabled,
							   &collided), "line %d", i);
		KUNIT_EXPECT_EQ_MSG(test, line[i].collided, collided, "line %d", i);
	}
}

/* Let a counter run, in steps: what is accounted must be what it ran. */
static void reloaded(struct kunit *test)
{
	static const int bits[] = { 32, 40, 48 };
	static const u64 periods[] = { 1, 2, 1000, 1009, 0x7fffffff };
	static const u64 steps[] = { 0, 1, 7, 999, 1000, 2017, 5 };
	unsigned int i, j, k;

	for (i = 0; i < ARRAY_SIZE(bits); i++)
		for (j = 0; j < ARRAY_SIZE(periods); j++) {
			u64 mask = GENMASK_ULL(bits[i] - 1, 0), period = periods[j];
			u64 into = 0, then = -period & mask, now;
			unsigned int overflows;

			for (k = 0; k < ARRAY_SIZE(steps); k++) {
				overflows = div64_u64_rem(into + steps[k], period, &into);
				now = (into - period) & mask;
				KUNIT_EXPECT_EQ(test, steps[k],
						intel_pe_reloaded(then, now, bits[i], period,
								  overflows));
				then = now;
			}
		}
	/* An overflow without a record: as much as the value tells. */
	KUNIT_EXPECT_EQ(test, intel_pe_reloaded(-10, -90, 48, 100, 0), 20);
	KUNIT_EXPECT_EQ(test, intel_pe_reloaded(-90, -10, 48, 100, 0), 80);
}

static void groups_of_events(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct perf_event_attr *a;
	u64 lbrs;

	KUNIT_ASSERT_NOT_NULL(test, event);
	lbrs = PEBS_DATACFG_LBRS | (u64)(x86_pmu.lbr_nr - 1) << PEBS_DATACFG_LBR_SHIFT;
	a = &event->attr;
	/* not the event of aborts, which is 0 where there is none */
	a->config = 0x1234;
	a->precise_ip = 2;
	a->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
	KUNIT_EXPECT_EQ(test, intel_pe_groups_for(event), 0);
	a->precise_ip = 1;
	KUNIT_EXPECT_EQ(test, intel_pe_groups_for(event), PEBS_DATACFG_GP);
	a->precise_ip = 3;
	a->sample_type = PERF_SAMPLE_DATA_SRC;
	KUNIT_EXPECT_EQ(test, intel_pe_groups_for(event), PEBS_DATACFG_MEMINFO);
	a->sample_type = PERF_SAMPLE_BRANCH_STACK;
	KUNIT_EXPECT_EQ(test, intel_pe_groups_for(event), lbrs);
	a->sample_type = PERF_SAMPLE_REGS_INTR;
	KUNIT_EXPECT_EQ(test, intel_pe_groups_for(event), 0);
	a->sample_regs_intr = BIT_ULL(PERF_REG_X86_R9);
	KUNIT_EXPECT_EQ(test, intel_pe_groups_for(event), PEBS_DATACFG_GP);
	a->sample_regs_intr = BIT_ULL(PERF_REG_X86_XMM3);
	KUNIT_EXPECT_EQ(test, intel_pe_groups_for(event), PEBS_DATACFG_XMMS);
	a->sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_WEIGHT_STRUCT;
	a->sample_regs_user = BIT_ULL(PERF_REG_X86_SP);
	KUNIT_EXPECT_EQ(test, intel_pe_groups_for(event),
			PEBS_DATACFG_GP | PEBS_DATACFG_MEMINFO);
}

/* All 32 records that there can be.  Counters: 0, 3 and 9, and fixed ones 0 and 2. */
static void apart(struct kunit *test)
{
	u8 *record = kunit_kzalloc(test, 4096, GFP_KERNEL);
	struct pebs_basic *basic = (void *)record;
	struct intel_pe_groups g;
	u64 cfg;

	KUNIT_ASSERT_NOT_NULL(test, record);
	for (cfg = 0; cfg < 32; cfg++) {
		u64 all = cfg & PEBS_DATACFG_LBRS ? cfg | 31 << PEBS_DATACFG_LBR_SHIFT : cfg;
		int at = 32;

		memset(record, 0, 4096);
		basic->format_group = all;
		if (cfg & 16) {
			at += (cfg & 1 ? 32 : 0) + (cfg & 2 ? 144 : 0) + (cfg & 4 ? 256 : 0) +
			      (cfg & 8 ? 768 : 0);
			*(u64 *)(record + at) = 0x209 | 5ULL << 32;
			all |= 0x209ULL << 32 | 5ULL << 48;
			at = 32;
		}
		basic->format_size = intel_pe_record_size(all);
		KUNIT_EXPECT_TRUE(test, intel_pe_take_apart(record, &g));
		KUNIT_EXPECT_PTR_EQ(test, (u8 *)g.basic, record);
		KUNIT_EXPECT_PTR_EQ(test, (u8 *)g.mem, cfg & 1 ? record + at : NULL);
		at += cfg & 1 ? 32 : 0;
		KUNIT_EXPECT_PTR_EQ(test, (u8 *)g.gprs, cfg & 2 ? record + at : NULL);
		at += cfg & 2 ? 144 : 0;
		KUNIT_EXPECT_PTR_EQ(test, (u8 *)g.xmms, cfg & 4 ? record + at : NULL);
		at += cfg & 4 ? 256 : 0;
		KUNIT_EXPECT_PTR_EQ(test, (u8 *)g.branches, cfg & 8 ? record + at : NULL);
		at += cfg & 8 ? 768 : 0;
		KUNIT_EXPECT_PTR_EQ(test, (u8 *)g.counters, cfg & 16 ? record + at : NULL);
		at += cfg & 16 ? 16 + 5 * 8 : 0;
		KUNIT_EXPECT_PTR_EQ(test, (u8 *)g.end, record + at);
		KUNIT_EXPECT_EQ(test, intel_pe_record_size(all), at);
	}
}

/* Metrics that a record has are two words more, whoever asked for them. */
static void metrics_in_a_record(struct kunit *test)
{
	u64 record[16] = { 80ULL << 48 | 0x20, 0, 0, 0, 1ULL << 32 | 2, 3 };
	struct intel_pe_groups g;

	KUNIT_EXPECT_TRUE(test, intel_pe_take_apart(record, &g));
	KUNIT_EXPECT_PTR_EQ(test, (u64 *)g.counters, record + 4);
	KUNIT_EXPECT_PTR_EQ(test, (u64 *)g.end, record + 4 + 2 + 2 + 2);
}

/* Counters 0 and 1: the record ends behind the second, and anywhere else. */
static void not_as_long_as_it_says(struct kunit *test)
{
	u64 record[16] = { 0x10, 0, 0, 0, 3 };
	struct pebs_basic *basic = (void *)record;
	struct intel_pe_groups g;
	int size;

	for (size = 32; size <= 128; size += 8) {
		basic->format_size = size;
		KUNIT_EXPECT_EQ(test, intel_pe_take_apart(record, &g), size == 64);
		KUNIT_EXPECT_EQ(test, !!g.counters, size == 64);
		KUNIT_EXPECT_PTR_EQ(test, (u8 *)g.end, (u8 *)record + size);
	}
	/* whatever is behind it */
	record[4] = ~0ULL;
	basic->format_size = 40;
	KUNIT_EXPECT_FALSE(test, intel_pe_take_apart(record, &g));
}

/* Bits of the register by counter; slots' metrics, traces and guests' records are none. */
static void counters_in_records(struct kunit *test)
{
	static const struct {
		int counter;
		u64 bits;
	} line[] = {
		{ 0, 0x100000010 }, { 7, 0x8000000010 }, { 15, 0x800000000010 }, { 16, 0 },
		{ 32, 0x1000000000010 }, { 35, 0x8000000000010 }, { 39, 0x80000000000010 },
		{ 40, 0 }, { INTEL_PMC_IDX_FIXED_BTS, 0 }, { INTEL_PMC_IDX_METRIC_BASE, 0 },
		{ INTEL_PMC_IDX_FIXED_VLBR, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(line); i++)
		KUNIT_EXPECT_EQ_MSG(test, intel_pe_counter_bits(line[i].counter), line[i].bits,
				    "counter %d", line[i].counter);
}

/* A counter that others reload: what it saw since, whatever it showed before. */
static void passed_by_a_reload(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, intel_pe_acr_passed(40, -60, 100), 40);
	KUNIT_EXPECT_EQ(test, intel_pe_acr_passed(0, -100, 100), 0);
	KUNIT_EXPECT_EQ(test, intel_pe_acr_passed(-70, -90, 100), 10);
	KUNIT_EXPECT_EQ(test, intel_pe_acr_passed(-70, 5, 100), 105);
	/* with another period than the one of now */
	KUNIT_EXPECT_EQ(test, intel_pe_acr_passed(-70, -190, 100), 0);
}

/* Records of different size in one buffer, and a buffer that ends in one. */
static void sizes_of_records(struct kunit *test)
{
	const int format = x86_pmu.intel_cap.pebs_format;
	static const u16 sizes[] = { 32, 208, 64, 1232, 32 };
	u8 *buffer = kunit_kzalloc(test, 4096, GFP_KERNEL), *record = buffer;
	size_t all = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		((struct pebs_basic *)(buffer + all))->format_size = sizes[i];
		all += sizes[i];
	}
	x86_pmu.intel_cap.pebs_format = 4;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t left = buffer + all - record;

		KUNIT_EXPECT_EQ(test, intel_pe_size_at(record, left, 208), sizes[i]);
		KUNIT_EXPECT_EQ(test, intel_pe_size_at(record, sizes[i] - 1, 208), 0);
		record += sizes[i];
	}
	KUNIT_EXPECT_EQ(test, intel_pe_size_at(record, 0, 208), 0);

	/* Earlier formats say nothing. */
	x86_pmu.intel_cap.pebs_format = 3;
	KUNIT_EXPECT_EQ(test, intel_pe_size_at(buffer, all, 208), 208);
	KUNIT_EXPECT_EQ(test, intel_pe_size_at(buffer, 207, 208), 0);
	x86_pmu.intel_cap.pebs_format = format;
}

/* What an overflow does to a trace cannot wait until the records are looked at. */
static void aux_actions_do_not_wait(struct kunit *test)
{
	const unsigned long fields = x86_pmu.large_pebs_flags;
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->attr.precise_ip = 2;
	event->attr.sample_type = PERF_SAMPLE_IP;
	x86_pmu.large_pebs_flags = PERF_SAMPLE_IP;
	for (i = 0; i < 5; i++) {
		event->hw.flags = 0;
		event->attach_state = 0;
		event->hw.config = 0x1234;
		event->attr.aux_output = i == 1;
		event->attr.aux_sample_size = i == 2 ? 4096 : 0;
		event->attr.aux_pause = i == 3;
		event->attr.aux_resume = i == 4;
		KUNIT_EXPECT_EQ(test, intel_pe_precise_config(event), 0);
		KUNIT_EXPECT_TRUE(test, event->hw.flags & PERF_X86_EVENT_AUTO_RELOAD);
		KUNIT_EXPECT_EQ_MSG(test, !!(event->hw.flags & PERF_X86_EVENT_LARGE_PEBS), i < 2,
				    "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, !!(event->attach_state & PERF_ATTACH_SCHED_CB), i < 2,
				    "%d", i);
	}
	x86_pmu.large_pebs_flags = fields;
}

static void transactions(struct kunit *test)
{
	/* cycles are no flags; RTM, instruction, conflict */
	KUNIT_EXPECT_EQ(test, intel_pe_transaction(0xffffffff, 0x5a000001), 0);
	KUNIT_EXPECT_EQ(test, intel_pe_transaction(0x2600000007, 0),
			PERF_TXN_TRANSACTION | PERF_TXN_SYNC | PERF_TXN_CONFLICT);
	/* XABORT 0x5a; not of HLE; not without AX bit 0 */
	KUNIT_EXPECT_EQ(test, intel_pe_transaction(0x200000000, 0x5a000001),
			PERF_TXN_TRANSACTION | 0x5aULL << PERF_TXN_ABORT_SHIFT);
	KUNIT_EXPECT_EQ(test, intel_pe_transaction(0x100000000, 0x5a000001), PERF_TXN_ELISION);
	KUNIT_EXPECT_EQ(test, intel_pe_transaction(0x200000000, 0x5a000000), PERF_TXN_TRANSACTION);
}

/* ------------------------------------------------------------ rewinding */

static void last_instructions(struct kunit *test)
{
	static const u8 code[] = {
		0x90,					/* 0: nop */
		0x48, 0x89, 0xe5,			/* 1: mov %rsp,%rbp */
		0xe8, 0, 0, 0, 0,			/* 4: call */
		0x0f, 0x1f, 0x44, 0x00, 0x00,		/* 9: nopl */
		0xc3,					/* 14: ret */
	};
	static const struct {
		int size, at_64, at_32;
	} line[] = {
		{ 0, -1, -1 }, { 1, 0, 0 }, { 2, -1, 1 }, { 3, -1, -1 }, { 4, 1, 2 }, { 5, -1, -1 },
		{ 8, -1, -1 }, { 9, 4, 4 }, { 13, -1, -1 }, { 14, 9, 9 }, { 15, 14, 14 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(line); i++) {
		KUNIT_EXPECT_EQ(test, intel_pe_last_insn(code, line[i].size, false),
				line[i].at_32);
		if (IS_ENABLED(CONFIG_X86_64))
			KUNIT_EXPECT_EQ(test, intel_pe_last_insn(code, line[i].size, true),
					line[i].at_64);
	}
}

/* ------------------------------------------------------------ data sources */

static u64 source(struct perf_event *event, int flags, u64 word)
{
	event->hw.flags = flags;
	return intel_pe_data_source(event, word);
}

#define L1_HIT	(S(LVL, HIT) | S(LVL, L1) | S(LVLNUM, L1) | S(SNOOP, NONE))
#define NO_WALK	(S(TLB, HIT) | S(TLB, L1) | S(TLB, L2))
#define WALK	(S(TLB, MISS) | S(TLB, L2))

/* The codes are 1, a hit in the first level, which means the same everywhere. */
static void data_sources(struct kunit *test)
{
	const u64 load = S(OP, LOAD) | L1_HIT, store = S(OP, STORE) | L1_HIT;
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	const bool no_tlb = x86_pmu.pebs_no_tlb, block = x86_pmu.pebs_block;
	int f = PERF_X86_EVENT_PEBS_LDLAT;

	if (is_hybrid())
		kunit_skip(test, "every PMU of a hybrid machine has its own codes");
	KUNIT_ASSERT_NOT_NULL(test, event);

	x86_pmu.pebs_no_tlb = 1;
	KUNIT_EXPECT_EQ(test, source(event, f, 0xf1), load | S(TLB, NA) | S(LOCK, NA));
	x86_pmu.pebs_no_tlb = 0;
	x86_pmu.pebs_block = 0;
	KUNIT_EXPECT_EQ(test, source(event, f, 0xc1), load | NO_WALK | S(BLK, NA));
	KUNIT_EXPECT_EQ(test, source(event, f, 0x31), load | WALK | S(LOCK, LOCKED) | S(BLK, NA));
	x86_pmu.pebs_block = 1;
	KUNIT_EXPECT_EQ(test, source(event, f, 0x01), load | NO_WALK | S(BLK, NA));
	KUNIT_EXPECT_EQ(test, source(event, f, 0x41), load | NO_WALK | S(BLK, DATA));
	KUNIT_EXPECT_EQ(test, source(event, f, 0xd1), load | WALK | S(BLK, DATA) | S(BLK, ADDR));
	x86_pmu.pebs_no_tlb = no_tlb;
	x86_pmu.pebs_block = block;

	f = PERF_X86_EVENT_PEBS_STLAT;
	KUNIT_EXPECT_EQ(test, source(event, f, 0xe1), store | NO_WALK | S(LOCK, LOCKED) |
			S(BLK, NA));

	f = PERF_X86_EVENT_PEBS_ST;
	KUNIT_EXPECT_EQ(test, source(event, f, 0x01), S(OP, STORE) | S(SNOOP, NA) | S(LVL, L1) |
			S(LVL, HIT) | S(TLB, L2) | S(TLB, HIT));
	KUNIT_EXPECT_EQ(test, source(event, f, 0x30), S(OP, STORE) | S(SNOOP, NA) | S(LVL, L1) |
			S(LVL, MISS) | S(TLB, L2) | S(TLB, MISS) | S(LOCK, LOCKED));

	KUNIT_EXPECT_EQ(test, source(event, PERF_X86_EVENT_PEBS_NA_HSW, ~0ULL), PERF_MEM_NA);
	KUNIT_EXPECT_EQ(test, source(event, 0, ~0ULL), PERF_MEM_NA);
	KUNIT_EXPECT_EQ(test, source(event, PERF_X86_EVENT_PEBS_LD_HSW, 1),
			(PERF_MEM_NA & ~S(OP, NA)) | S(OP, LOAD));
	KUNIT_EXPECT_EQ(test, source(event, PERF_X86_EVENT_PEBS_ST_HSW, 1),
			(PERF_MEM_NA & ~(S(OP, NA) | S(LVL, NA))) | S(OP, STORE) | S(LVL, L1) |
			S(LVL, HIT));
}

static void data_sources_of_small_cores(struct kunit *test)
{
	const u64 load = S(OP, LOAD) | L1_HIT, store = S(OP, STORE) | L1_HIT;
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	if (is_hybrid())
		kunit_skip(test, "every PMU of a hybrid machine has its own codes");
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->hw.flags = PERF_X86_EVENT_PEBS_LAT_HYBRID | PERF_X86_EVENT_PEBS_LD_HSW;
	KUNIT_EXPECT_EQ(test, grt_latency_data(event, 0x11), load | NO_WALK | S(LOCK, LOCKED) |
			S(BLK, NA));
	KUNIT_EXPECT_EQ(test, grt_latency_data(event, 0xe1), load | WALK | S(BLK, DATA));
	KUNIT_EXPECT_EQ(test, cmt_latency_data(event, 0x31), load | NO_WALK | S(LOCK, LOCKED) |
			S(BLK, NA));
	KUNIT_EXPECT_EQ(test, cmt_latency_data(event, 0xc1), load | WALK | S(BLK, DATA));
	event->hw.flags = PERF_X86_EVENT_PEBS_LAT_HYBRID | PERF_X86_EVENT_PEBS_ST_HSW;
	KUNIT_EXPECT_EQ(test, grt_latency_data(event, 1), store | NO_WALK | S(BLK, NA));
	KUNIT_EXPECT_EQ(test, cmt_latency_data(event, 1), store | NO_WALK | S(BLK, NA));
}

/* Panther Cove and Arctic Wolf: bit 8 is a miss of the L2, and then the code is another. */
static void data_sources_off_module(struct kunit *test)
{
#define IN_L3		(S(LVL, HIT) | S(LVL, L3) | S(LVLNUM, L3))
#define IN_FAR_L3	(S(LVL, HIT) | S(LVL, REM_CCE1) | S(LVLNUM, L3) | S(REMOTE, REMOTE))
#define IN_RAM		(S(LVL, HIT) | S(LVL, LOC_RAM) | S(LVLNUM, RAM))
#define IN_FAR_RAM	(S(LVL, HIT) | S(LVL, REM_RAM1) | S(LVLNUM, RAM) | S(REMOTE, REMOTE))
#define NOWHERE		(S(LVLNUM, NA) | S(SNOOP, NA))
	static const struct {
		u64 word, means;
	} line[] = {
		{ 0x02, IN_L3 | S(SNOOP, NA) | S(REGION, L_SHARE) },
		{ 0x42, IN_L3 | S(SNOOP, MISS) | S(REGION, L_SHARE) },
		{ 0x82, IN_L3 | S(SNOOP, HIT) | S(REGION, L_SHARE) },
		{ 0xc2, IN_L3 | S(SNOOP, NONE) | S(REGION, L_SHARE) },
		{ 0xe2, IN_L3 | S(SNOOP, HITM) | S(REGION, L_SHARE) },
		{ 0x12, IN_FAR_L3 | S(SNOOP, NA) | S(REGION, L_SHARE) },
		{ 0x03, IN_L3 | S(SNOOP, HIT) | S(REGION, L_NON_SHARE) },
		{ 0x46, IN_L3 | S(SNOOP, HIT) | S(SNOOPX, FWD) | S(REGION, O_NON_SHARE) },
		{ 0x75, IN_FAR_L3 | S(SNOOP, HITM) | S(SNOOPX, FWD) | S(REGION, O_SHARE) },
		{ 0x07, S(LVL, HIT) | S(LVLNUM, RAM) | S(SNOOP, NONE) | S(REGION, MMIO) },
		{ 0x08, IN_RAM | S(SNOOP, NONE) | S(REGION, MEM0) },
		{ 0x1f, IN_FAR_RAM | S(SNOOP, NONE) | S(REGION, MEM7) },
		{ 0x00, NOWHERE }, { 0xf1, NOWHERE },
	};
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	int i;

	if (is_hybrid())
		kunit_skip(test, "every PMU of a hybrid machine has its own codes");
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->hw.flags = PERF_X86_EVENT_PEBS_LAT_HYBRID | PERF_X86_EVENT_PEBS_LD_HSW;
	for (i = 0; i < ARRAY_SIZE(line); i++)
		KUNIT_EXPECT_EQ_MSG(test, intel_pe_omr_latency(event, BIT(8) | line[i].word),
				    S(OP, LOAD) | line[i].means | NO_WALK | S(BLK, NA),
				    "%llx", line[i].word);
	KUNIT_EXPECT_EQ(test, intel_pe_omr_latency(event, 0x7801), S(OP, LOAD) | L1_HIT | WALK |
			S(LOCK, LOCKED) | S(BLK, DATA) | S(BLK, ADDR));
	event->hw.flags = PERF_X86_EVENT_PEBS_LAT_HYBRID | PERF_X86_EVENT_PEBS_ST_HSW;
	KUNIT_EXPECT_EQ(test, intel_pe_omr_latency(event, 0x8701), S(OP, STORE) |
			NOWHERE | NO_WALK | S(BLK, NA));
}

/* ------------------------------------------------------------ samples */

/* What a case changes of the CPU's capabilities comes back afterwards. */
static void restore(void *was)
{
	x86_pmu.intel_cap = *(union perf_capabilities *)was;
}

static void change_capabilities(struct kunit *test)
{
	union perf_capabilities *was = kunit_kmalloc(test, sizeof(*was), GFP_KERNEL);

	if (x86_pmu.pebs_active)
		kunit_skip(test, "PEBS is in use");
	KUNIT_ASSERT_NOT_NULL(test, was);
	*was = x86_pmu.intel_cap;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, restore, was), 0);
}

static struct perf_event *fake_event(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->hw.last_period = 815;	/* the one that begins */
	event->attr.precise_ip = 2;
	event->attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
				  PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |
				  PERF_SAMPLE_REGS_INTR;
	return event;
}

/* Words are their own number, but for addresses of user space and the flags. */
static void samples_of_words(struct kunit *test)
{
	struct perf_event *event = fake_event(test);
	struct pt_regs at_pmi = { .sp = 0xbad, .flags = 0xbad };
	struct x86_perf_regs regs;
	struct perf_sample_data data;
	u64 record[INTEL_PE_WORDS];
	int i, format;

	change_capabilities(test);
	for (format = 0; format <= 3; format++) {
		x86_pmu.intel_cap.pebs_format = format;
		/* without an eventing address: before the instruction, so that is exact */
		x86_pmu.intel_cap.pebs_trap = 0;
		for (i = 0; i < INTEL_PE_WORDS; i++)
			record[i] = i + 1;
		record[INTEL_PE_FLAGS] = X86_EFLAGS_ZF;
		record[INTEL_PE_IP] = 0x401003;
		record[INTEL_PE_EVENTING_IP] = 0x401000;
		record[INTEL_PE_TSX] = 0x200000063;

		event->hw.flags = 0;
		perf_sample_data_init(&data, 0, 4711);
		scoped_guard(preempt)
			intel_pe_sample_words(event, record, &at_pmi, &data, &regs.regs);
		KUNIT_EXPECT_EQ(test, data.period, 4711);
		KUNIT_EXPECT_EQ(test, regs.regs.ip, format < 2 ? 0x401003 : 0x401000);
		KUNIT_EXPECT_EQ(test, regs.regs.flags, X86_EFLAGS_ZF | PERF_EFLAGS_EXACT);
		KUNIT_EXPECT_TRUE(test, user_mode(&regs.regs));
		KUNIT_EXPECT_EQ(test, regs.regs.ax, 3);
		KUNIT_EXPECT_EQ(test, regs.regs.cx, 5);
		KUNIT_EXPECT_EQ(test, regs.regs.sp, 10);
#ifdef CONFIG_X86_64
		KUNIT_EXPECT_EQ(test, regs.regs.r8, 11);
		KUNIT_EXPECT_EQ(test, regs.regs.r15, 18);
#endif
		KUNIT_EXPECT_EQ(test, !!(data.sample_flags & PERF_SAMPLE_ADDR), format >= 1);
		KUNIT_EXPECT_EQ(test, !!(data.sample_flags & PERF_SAMPLE_WEIGHT), format >= 2);
		KUNIT_EXPECT_EQ(test, !!(data.sample_flags & PERF_SAMPLE_TRANSACTION),
				format >= 2);
		if (format >= 1)
			KUNIT_EXPECT_EQ(test, data.addr, 20);
		if (format >= 2) {
			KUNIT_EXPECT_EQ(test, data.weight.full, 0x63);
			KUNIT_EXPECT_EQ(test, data.txn, PERF_TXN_TRANSACTION);
		}

		event->hw.flags = PERF_X86_EVENT_PEBS_LDLAT;
		event->attr.precise_ip = 1;
		perf_sample_data_init(&data, 0, 4711);
		scoped_guard(preempt)
			intel_pe_sample_words(event, record, &at_pmi, &data, &regs.regs);
		event->attr.precise_ip = 2;
		KUNIT_EXPECT_EQ(test, regs.regs.ip, 0x401003);
		KUNIT_EXPECT_EQ(test, regs.regs.flags, X86_EFLAGS_ZF);
		if (format >= 1)
			KUNIT_EXPECT_EQ(test, data.weight.full, 22);
	}
}

static void samples_of_groups(struct kunit *test)
{
	struct {
		struct pebs_basic basic;
		struct pebs_meminfo mem;
		struct pebs_gprs gprs;
		struct pebs_xmm xmms;
	} *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	const unsigned int was = x86_pmu.flags;
	struct perf_event *event = fake_event(test);
	struct pt_regs at_pmi = { .sp = 0xbad };
	struct x86_perf_regs regs;
	struct perf_sample_data data;

	KUNIT_ASSERT_NOT_NULL(test, r);
	if (x86_pmu.pebs_active)
		kunit_skip(test, "PEBS is in use");
	r->basic.format_group = 7;
	r->basic.format_size = sizeof(*r);
	r->basic.ip = 0x401000;
	r->basic.retire_latency = 33;
	r->mem = (struct pebs_meminfo){ .address = 0x7000, .tsx_tuning = 5 };
	r->mem.mem_latency = 0x4400000016;
	r->gprs = (struct pebs_gprs){ .flags = X86_EFLAGS_CF, .ip = 0x401003, .ax = 1, .bx = 2,
				      .cx = 3, .dx = 4, .si = 5, .di = 6, .bp = 7, .sp = 8 };

	x86_pmu.flags &= ~(PMU_FL_INSTR_LATENCY | PMU_FL_RETIRE_LATENCY);
	perf_sample_data_init(&data, 0, 4711);
	scoped_guard(preempt)
		intel_pe_sample_groups(event, r, &at_pmi, &data, &regs.regs);
	KUNIT_EXPECT_EQ(test, regs.regs.ip, 0x401000);
	KUNIT_EXPECT_EQ(test, regs.regs.flags, X86_EFLAGS_CF | PERF_EFLAGS_EXACT);
	KUNIT_EXPECT_EQ(test, regs.regs.ax, 1);
	KUNIT_EXPECT_EQ(test, regs.regs.bx, 2);
	KUNIT_EXPECT_EQ(test, regs.regs.cx, 3);
	KUNIT_EXPECT_EQ(test, regs.regs.dx, 4);
	KUNIT_EXPECT_EQ(test, regs.regs.si, 5);
	KUNIT_EXPECT_EQ(test, regs.regs.di, 6);
	KUNIT_EXPECT_EQ(test, regs.regs.bp, 7);
	KUNIT_EXPECT_EQ(test, regs.regs.sp, 8);
	KUNIT_EXPECT_PTR_EQ(test, regs.xmm_regs, &r->xmms.xmm[0]);
	KUNIT_EXPECT_EQ(test, data.addr, 0x7000);
	KUNIT_EXPECT_EQ(test, data.weight.full, 0x4400000016);

	/* Split in three. */
	x86_pmu.flags |= PMU_FL_INSTR_LATENCY | PMU_FL_RETIRE_LATENCY;
	event->attr.sample_type ^= PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
	event->attr.precise_ip = 1;
	perf_sample_data_init(&data, 0, 4711);
	scoped_guard(preempt)
		intel_pe_sample_groups(event, r, &at_pmi, &data, &regs.regs);
	KUNIT_EXPECT_EQ(test, regs.regs.ip, 0x401003);
	KUNIT_EXPECT_EQ(test, regs.regs.flags, X86_EFLAGS_CF);
	KUNIT_EXPECT_EQ(test, data.weight.var1_dw, 0x44);
	KUNIT_EXPECT_EQ(test, data.weight.var2_w, 0x16);
	KUNIT_EXPECT_EQ(test, data.weight.var3_w, 33);
	/* No latency: the time in the transaction. */
	r->mem.mem_latency = 0;
	perf_sample_data_init(&data, 0, 4711);
	scoped_guard(preempt)
		intel_pe_sample_groups(event, r, &at_pmi, &data, &regs.regs);
	KUNIT_EXPECT_EQ(test, data.weight.var1_dw, 5);
	x86_pmu.flags = was;
}

/* ------------------------------------------------------------ events */

/* A table ends, its weights are right, and every row can be the first to match. */
static void tables(struct kunit *test)
{
	static struct event_constraint *const all[] = {
		intel_core2_pebs_event_constraints, intel_atom_pebs_event_constraints,
		intel_slm_pebs_event_constraints, intel_glm_pebs_event_constraints,
		intel_grt_pebs_event_constraints, intel_nehalem_pebs_event_constraints,
		intel_westmere_pebs_event_constraints, intel_snb_pebs_event_constraints,
		intel_ivb_pebs_event_constraints, intel_hsw_pebs_event_constraints,
		intel_bdw_pebs_event_constraints, intel_skl_pebs_event_constraints,
		intel_icl_pebs_event_constraints, intel_glc_pebs_event_constraints,
		intel_lnc_pebs_event_constraints,
	};
	struct event_constraint *row, *earlier;
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		for (row = all[i]; row->weight != -1; row++) {
			KUNIT_EXPECT_EQ(test, row->weight, hweight64(row->idxmsk64));
			KUNIT_EXPECT_GT(test, row->weight, 0);
			KUNIT_EXPECT_TRUE(test, constraint_match(row, row->code));
			KUNIT_EXPECT_TRUE(test, constraint_match(row, row->code + row->size));
			for (earlier = all[i]; earlier < row; earlier++)
				KUNIT_EXPECT_FALSE_MSG(test,
						       constraint_match(earlier, row->code),
						       "table %d, code %llx", i, row->code);
		}
}

/* Lion Cove's loads and stores: their records have addresses, on the counters they can have. */
static void memory_events_of_lion_cove(struct kunit *test)
{
	static const struct {
		u16 code;
		u64 counters;
		int flags;
	} rows[] = {
		{ 0x11d0, 0xf, PERF_X86_EVENT_PEBS_LD_HSW },
		{ 0x82d0, 0xf, PERF_X86_EVENT_PEBS_ST_HSW },
		{ 0x01d1, 0xf, PERF_X86_EVENT_PEBS_LD_HSW },
		{ 0x01d4, 0xf, PERF_X86_EVENT_PEBS_LD_HSW },
		{ 0x87d0, 0x3ff, 0 }, { 0x05d0, 0xf, 0 },
	};
	struct event_constraint *row;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (row = intel_lnc_pebs_event_constraints; row->weight != -1; row++)
			if (constraint_match(row, rows[i].code))
				break;
		KUNIT_ASSERT_NE_MSG(test, row->weight, -1, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, row->idxmsk64, rows[i].counters, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, row->flags, rows[i].flags, "%d", i);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(record_owners),
	KUNIT_CASE(reloaded),
	KUNIT_CASE(groups_of_events),
	KUNIT_CASE(apart),
	KUNIT_CASE(metrics_in_a_record),
	KUNIT_CASE(not_as_long_as_it_says),
	KUNIT_CASE(counters_in_records),
	KUNIT_CASE(passed_by_a_reload),
	KUNIT_CASE(sizes_of_records),
	KUNIT_CASE(aux_actions_do_not_wait),
	KUNIT_CASE(transactions),
	KUNIT_CASE(last_instructions),
	KUNIT_CASE(data_sources),
	KUNIT_CASE(data_sources_of_small_cores),
	KUNIT_CASE(data_sources_off_module),
	KUNIT_CASE(samples_of_words),
	KUNIT_CASE(samples_of_groups),
	KUNIT_CASE(tables),
	KUNIT_CASE(memory_events_of_lion_cove),
	{ }
};

static struct kunit_suite suite = { .name = "x86_pebs", .test_cases = cases };
kunit_test_suite(suite);
