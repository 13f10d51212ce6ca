// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: branch records of every format, made up here; what hardware can select, generation by
 * generation, as numbers; the filter, on branches of this kernel's own code.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>

#include <asm/insn.h>

#include "../lbr/lbr.h"

#define INFO	INTEL_PE_BR_INFO
#define PRED	INTEL_PE_BR_MISPRED
#define TSX	INTEL_PE_BR_TSX
#define CYCLES	INTEL_PE_BR_CYCLES
#define VALID	INTEL_PE_BR_VALID
#define TYPE	INTEL_PE_BR_TYPE

#define BIT63	BIT_ULL(63)
#define BIT62	BIT_ULL(62)
#define BIT61	BIT_ULL(61)
#define BIT60	BIT_ULL(60)

struct format {
	unsigned int has;
	struct lbr_entry raw;
	u64 from, to;
	bool mispred, predicted, in_tx, abort;
	u16 cycles;
	u8 type;
};

static const struct format format[] = {
	/* addresses alone */
	{ 0, { 0x401000, 0x402000, ~0ULL }, 0x401000, 0x402000 },
	/* a flag in front of the address, whose sign is the bit below */
	{ PRED, { 0x401000, 0x402000 }, 0x401000, 0x402000, .predicted = true },
	{ PRED, { BIT63 | 0x401000, 0x402000 }, 0x401000, 0x402000, .mispred = true },
	{ PRED, { 0x7fffffff81000000, 0x402000 }, 0xffffffff81000000, 0x402000, .predicted = true },
	/* three flags */
	{ PRED | TSX, { BIT62 | 0x401000, 2 }, 0x401000, 2, .predicted = true, .in_tx = true },
	{ PRED | TSX, { BIT63 | BIT61 | 0x401000, 2 }, 0x401000, 2,
	  .mispred = true, .abort = true },
	{ PRED | TSX, { 0x1fffffff81000000, 2 }, 0xffffffff81000000, 2, .predicted = true },
	/* cycles in front of the target */
	{ PRED | CYCLES, { 0x401000, 0x00630000ULL << 32 | 0x402000 }, 0x401000, 0x402000,
	  .predicted = true, .cycles = 0x63 },
	{ PRED | CYCLES, { 0x401000, 0x0001ffff81000000 }, 0x401000, 0xffffffff81000000,
	  .predicted = true, .cycles = 1 },
	/* a word of its own */
	{ INFO | PRED | CYCLES | TSX, { BIT63 | 5, BIT63 | 6, BIT62 | 0x123 }, BIT63 | 5, BIT63 | 6,
	  .predicted = true, .in_tx = true, .cycles = 0x123 },
	{ INFO | PRED | CYCLES, { 5, 6, BIT63 | BIT62 | BIT61 | 0xffff }, 5, 6,
	  .mispred = true, .cycles = 0xffff },
	/* architectural: cycles count if it says so, and it has the type */
	{ INFO | PRED | CYCLES | TSX | VALID | TYPE, { 5, 6, 4ULL << 56 | 0x123 }, 5, 6,
	  .predicted = true, .type = 4 },
	{ INFO | PRED | CYCLES | TSX | VALID | TYPE, { 5, 6, BIT60 | BIT61 | 5ULL << 56 | 0x123 },
	  5, 6, .predicted = true, .abort = true, .type = 5, .cycles = 0x123 },
	{ INFO | TSX | VALID, { 5, 6, ~0ULL }, 5, 6, .predicted = true, .in_tx = true,
	  .abort = true },
};

static void formats(struct kunit *test)
{
	struct perf_branch_entry e;
	const struct format *f;
	int i;

	for (i = 0; i < ARRAY_SIZE(format); i++) {
		f = &format[i];
		memset(&e, 0xff, sizeof(e));
		KUNIT_EXPECT_EQ_MSG(test, f->abort, intel_pe_decode_branch(&e, f->raw, f->has),
				    "line %d", i);
		KUNIT_EXPECT_EQ_MSG(test, f->from, e.from, "line %d", i);
		KUNIT_EXPECT_EQ_MSG(test, f->to, e.to, "line %d", i);
		KUNIT_EXPECT_EQ_MSG(test, f->mispred, (u64)e.mispred, "line %d", i);
		KUNIT_EXPECT_EQ_MSG(test, f->predicted, (u64)e.predicted, "line %d", i);
		KUNIT_EXPECT_EQ_MSG(test, f->in_tx, (u64)e.in_tx, "line %d", i);
		KUNIT_EXPECT_EQ_MSG(test, f->abort, (u64)e.abort, "line %d", i);
		KUNIT_EXPECT_EQ_MSG(test, f->cycles, (u64)e.cycles, "line %d", i);
		KUNIT_EXPECT_EQ_MSG(test, f->type, (u64)e.type, "line %d", i);
		KUNIT_EXPECT_EQ_MSG(test, 0, (u64)e.reserved, "line %d", i);
	}
}

/* NHM, SNB, HSW: LBR_SELECT as if it let in; then ARCH_LBR_CTL. */
static const struct {
	int shift, bits[4];
} selected[] = {
	{ PERF_SAMPLE_BRANCH_USER_SHIFT, { 0x2, 0x2, 0x2, 0x4 } },
	{ PERF_SAMPLE_BRANCH_KERNEL_SHIFT, { 0x1, 0x1, 0x1, 0x2 } },
	{ PERF_SAMPLE_BRANCH_ANY_SHIFT, { 0x1fc, 0x1fc, 0x1fc, 0x7f0000 } },
	{ PERF_SAMPLE_BRANCH_ANY_CALL_SHIFT, { 0x1d8, 0x118, 0x118, 0x580000 } },
	{ PERF_SAMPLE_BRANCH_ANY_RETURN_SHIFT, { 0x1e0, 0x120, 0x120, 0x600000 } },
	{ PERF_SAMPLE_BRANCH_IND_CALL_SHIFT, { 0x50, 0x10, 0x10, 0x100000 } },
	{ PERF_SAMPLE_BRANCH_COND_SHIFT, { 0x4, 0x4, 0x4, 0x10000 } },
	{ PERF_SAMPLE_BRANCH_CALL_STACK_SHIFT, { 0, 0, 0x238, 0x380008 } },
	{ PERF_SAMPLE_BRANCH_IND_JUMP_SHIFT, { 0x40, 0x40, 0x40, 0x40000 } },
	{ PERF_SAMPLE_BRANCH_CALL_SHIFT, { 0, 0x8, 0x8, 0x80000 } },
};

static void maps(struct kunit *test)
{
	int map[PERF_SAMPLE_BRANCH_MAX_SHIFT];
	int i, shift, which, want;

	for (which = INTEL_PE_MAP_NHM; which <= INTEL_PE_MAP_ARCH; which++) {
		memset(map, 0xff, sizeof(map));
		intel_pe_fill_map(map, which);
		for (shift = 0; shift < PERF_SAMPLE_BRANCH_MAX_SHIFT; shift++) {
			for (i = 0, want = 0; i < ARRAY_SIZE(selected); i++)
				if (selected[i].shift == shift)
					want = selected[i].bits[which];
			KUNIT_EXPECT_EQ_MSG(test, map[shift], want, "map %d, bit %d", which, shift);
		}
	}
}

static void counters(struct kunit *test)
{
	static const u8 order[] = { 2, 0, 3, 1 };

	/* counter 3 saw 3, 2 saw 1, 1 saw 2, 0 saw 0 */
	KUNIT_EXPECT_EQ(test, intel_pe_order_counters(0xd8, order, 0), 0);
	KUNIT_EXPECT_EQ(test, intel_pe_order_counters(0xd8, order, 1), 0x1);
	KUNIT_EXPECT_EQ(test, intel_pe_order_counters(0xd8, order, 2), 0x1);
	KUNIT_EXPECT_EQ(test, intel_pe_order_counters(0xd8, order, 3), 0x31);
	KUNIT_EXPECT_EQ(test, intel_pe_order_counters(0xd8, order, 4), 0xb1);
}

/* The first call, conditional jump and jump in the code at @from. */
static bool find_branches(unsigned long from, unsigned long found[3])
{
	unsigned long at = from;
	struct insn insn;

	memset(found, 0, 3 * sizeof(*found));
	while (at < from + 1024 && !(found[0] && found[1] && found[2])) {
		u8 op;

		insn_init(&insn, (void *)at, MAX_INSN_SIZE, IS_ENABLED(CONFIG_X86_64));
		if (insn_get_length(&insn))
			return false;
		op = insn.opcode.bytes[0];
		if (op == 0xe8 && insn.immediate.value && !found[0])
			found[0] = at;
		if ((op & 0xf0) == 0x70 && !found[1])
			found[1] = at;
		if ((op == 0xe9 || op == 0xeb) && !found[2])
			found[2] = at;
		at += insn.length;
	}
	return found[0] && found[1] && found[2];
}

static void filter(struct kunit *test)
{
	static const struct {
		u64 type;
		int nr, kept[3];
	} line[] = {
		{ PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_ANY, 3, { 0, 1, 2 } },
		{ PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_ANY_CALL, 1, { 0 } },
		{ PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_COND, 1, { 1 } },
		{ PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_CALL,
		  2, { 0, 1 } },
		{ PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_ANY_RETURN, 0 },
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY, 0 },
	};
	struct cpu_hw_events *cpuc = kunit_kzalloc(test, sizeof(*cpuc), GFP_KERNEL);
	u64 from[5] = {}, counter[5] = {}, got;
	struct intel_pe_branches b;
	unsigned long found[3];
	int i, j;

	KUNIT_ASSERT_NOT_NULL(test, cpuc);
	if (intel_pe_branch_has & INTEL_PE_BR_TYPE)
		kunit_skip(test, "records have the type");
	if (!find_branches((unsigned long)kunit_run_tests, found))
		kunit_skip(test, "no call, jcc and jmp in the code looked at");

	for (i = 0; i < ARRAY_SIZE(line); i++) {
		/* a call, a conditional jump, a jump with what is none before and behind */
		for (j = 0; j < 5; j++) {
			cpuc->lbr_entries[j].from = j % 4 ? found[j - 1] : 0;
			cpuc->lbr_entries[j].to = (unsigned long)kunit_run_tests;
			cpuc->lbr_counters[j] = j;
		}
		cpuc->lbr_stack.nr = 5;
		/* Its place is this CPU's, where branches may be recorded. */
		local_irq_disable();
		b = intel_pe_pick_branches(cpuc, intel_pe_branch_kinds(line[i].type));
		got = b.stack->nr;
		for (j = 0; j < got && j < 5; j++) {
			from[j] = b.stack->entries[j].from;
			counter[j] = b.counters[j];
		}
		local_irq_enable();
		KUNIT_EXPECT_EQ_MSG(test, got, line[i].nr, "line %d", i);
		for (j = 0; j < line[i].nr; j++) {
			KUNIT_EXPECT_EQ(test, from[j], found[line[i].kept[j]]);
			KUNIT_EXPECT_EQ(test, counter[j], line[i].kept[j] + 1);
		}
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(formats),
	KUNIT_CASE(maps),
	KUNIT_CASE(counters),
	KUNIT_CASE(filter),
	{ }
};

static struct kunit_suite suite = { .name = "x86_lbr", .test_cases = cases };
kunit_test_suite(suite);
