// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: branch records: which are asked for, what a record says, which are kept.
 */
#include <kunit/test.h>

#include "../cpu.h"

static int ask(u64 asked, u64 *suppress, u64 *want)
{
	struct amd_pe_branch_filter filter = { };
	int ret = amd_pe_branch_filter(asked, &filter);

	*suppress = filter.suppress;
	*want = filter.want;
	return ret;
}

/* Bits of LBR_SELECT: 0 ring 0, 1 others, 2 jcc, 3 call, 4 call *, 5 ret, 6 jmp *, 7 jmp, 8 far */
static void filters(struct kunit *test)
{
	static const struct { u64 asked, suppress, want; } line[] = {
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY, 0x001,
		  X86_BR_USER | X86_BR_ANY },
		{ PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_ANY, 0x002,
		  X86_BR_KERNEL | X86_BR_ANY },
		{ PERF_SAMPLE_BRANCH_PLM_ALL | PERF_SAMPLE_BRANCH_ANY, 0x000, X86_BR_ALL },
		{ PERF_SAMPLE_BRANCH_HV | PERF_SAMPLE_BRANCH_ANY, 0x003, X86_BR_ANY },
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY_CALL, 0x0e5,
		  X86_BR_USER | X86_BR_ANY_CALL },
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY_RETURN, 0x0dd,
		  X86_BR_USER | X86_BR_RET | X86_BR_IRET | X86_BR_SYSRET },
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL, 0x1f5,
		  X86_BR_USER | X86_BR_CALL | X86_BR_ZERO_CALL },
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_IND_CALL, 0x1ed,
		  X86_BR_USER | X86_BR_IND_CALL },
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_IND_JUMP, 0x1bd,
		  X86_BR_USER | X86_BR_IND_JMP },
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_TYPE_SAVE |
		  PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_PRIV_SAVE, 0x1f9,
		  X86_BR_USER | X86_BR_JCC | X86_BR_TYPE_SAVE },
	};
	u64 suppress, want;
	int i;

	for (i = 0; i < ARRAY_SIZE(line); i++) {
		KUNIT_EXPECT_EQ(test, ask(line[i].asked, &suppress, &want), 0);
		KUNIT_EXPECT_EQ_MSG(test, suppress, line[i].suppress, "asked %llx", line[i].asked);
		KUNIT_EXPECT_EQ_MSG(test, want, line[i].want, "asked %llx", line[i].asked);
	}
}

/* Every bit alone: six are refused, the others never suppress more than without them. */
static void single_bits(struct kunit *test)
{
	const u64 stack = PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER;
	u64 suppress, want;
	int bit, refused = 0;

	for (bit = 0; bit < PERF_SAMPLE_BRANCH_MAX_SHIFT; bit++) {
		if (ask(BIT_ULL(bit), &suppress, &want))
			refused++;
		else
			KUNIT_EXPECT_EQ(test, suppress & ~AMD_PE_ALL_BRANCHES, 0);
	}
	KUNIT_EXPECT_EQ(test, refused, 6);
	KUNIT_EXPECT_EQ(test, ask(stack, &suppress, &want), -EOPNOTSUPP);
}

static void outcomes(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, amd_pe_is_recorded(0));
	KUNIT_EXPECT_FALSE(test, amd_pe_is_recorded(0x401000));
	KUNIT_EXPECT_TRUE(test, amd_pe_is_recorded(BIT_ULL(62)));
	KUNIT_EXPECT_TRUE(test, amd_pe_is_recorded(BIT_ULL(63) | 0x401000));
	KUNIT_EXPECT_FALSE(test, amd_pe_is_recorded(BIT_ULL(63) | BIT_ULL(61)));
	KUNIT_EXPECT_FALSE(test, amd_pe_is_recorded(BIT_ULL(61)));
}

static void records(struct kunit *test)
{
	struct perf_branch_entry br;

	amd_pe_decode_branch(0x401000, BIT_ULL(63) | 0x402000, 48, &br);
	KUNIT_EXPECT_EQ(test, br.from, 0x401000);
	KUNIT_EXPECT_EQ(test, br.to, 0x402000);
	KUNIT_EXPECT_EQ(test, (int)br.spec, PERF_BR_NON_SPEC_CORRECT_PATH);
	KUNIT_EXPECT_TRUE(test, br.predicted && !br.mispred);
	KUNIT_EXPECT_TRUE(test, !br.cycles && !br.type && !br.in_tx && !br.abort && !br.priv);

	/* a kernel address has its 58 bits, of which 48 or 57 say where */
	amd_pe_decode_branch(BIT_ULL(63) | 0x3ffffff81000000ULL, BIT_ULL(62) | 0x3ffffff82000000ULL,
			     48, &br);
	KUNIT_EXPECT_EQ(test, br.from, 0xffffffff81000000ULL);
	KUNIT_EXPECT_EQ(test, br.to, 0xffffffff82000000ULL);
	KUNIT_EXPECT_EQ(test, (int)br.spec, PERF_BR_SPEC_WRONG_PATH);
	KUNIT_EXPECT_TRUE(test, !br.predicted && br.mispred);

	amd_pe_decode_branch(0x100000000000000ULL, 3ULL << 62 | 0x0ff0000000001000ULL, 57, &br);
	KUNIT_EXPECT_EQ(test, br.from, 0xff00000000000000ULL);
	KUNIT_EXPECT_EQ(test, br.to, 0xfff0000000001000ULL);
	KUNIT_EXPECT_EQ(test, (int)br.spec, PERF_BR_SPEC_CORRECT_PATH);
}

/* Instructions to be looked at: branches of the kernel's text. */
asm(".pushsection .text\n"
	"amd_pe_kunit_text:\n"
	"jmp 1f\n"			/* +0 */
	"1: call 1f\n"			/* +2: of the next instruction */
	"1: test %eax, %eax\n"		/* +7 */
	"je 1f\n"			/* +9 */
	"1: ret\n"			/* +11 */
	"int3\n"
	".rept 4\n"
	".byte 0x0f, 0x1f, 0x40, 0x08\n"	/* +13: nopl 8(%rax) */
	".endr\n"
	".popsection\n");

static unsigned long text(void)
{
	unsigned long address;

	asm("mov $amd_pe_kunit_text, %0" : "=r" (address));
	return address;
}

#define TEXT		text()
#define KERNEL_ANY	(X86_BR_KERNEL | X86_BR_ANY)

static void kinds(struct kunit *test)
{
	struct perf_branch_entry jump = { .from = TEXT, .to = TEXT + 2 };
	struct perf_branch_entry to_user = { .from = TEXT + 11, .to = 0x401000 };
	struct perf_branch_entry fused = { .from = TEXT + 7, .to = TEXT + 11 };
	struct perf_branch_entry exception = { .from = TEXT + 13, .to = TEXT };

	KUNIT_EXPECT_TRUE(test, amd_pe_want_branch(&jump, KERNEL_ANY));
	KUNIT_EXPECT_TRUE(test, amd_pe_want_branch(&jump, X86_BR_KERNEL | X86_BR_JMP));
	KUNIT_EXPECT_FALSE(test, amd_pe_want_branch(&jump, X86_BR_USER | X86_BR_ANY));
	KUNIT_EXPECT_FALSE(test, amd_pe_want_branch(&jump, X86_BR_KERNEL | X86_BR_JCC));
	KUNIT_EXPECT_EQ(test, jump.from, TEXT);
	KUNIT_EXPECT_EQ(test, (int)jump.type, 0);
	KUNIT_EXPECT_TRUE(test, amd_pe_want_branch(&jump, KERNEL_ANY | X86_BR_TYPE_SAVE));
	KUNIT_EXPECT_EQ(test, (int)jump.type, PERF_BR_UNCOND);

	/* what ends in user space but comes from the kernel is the kernel's */
	KUNIT_EXPECT_FALSE(test, amd_pe_want_branch(&to_user, X86_BR_USER | X86_BR_ANY));
	KUNIT_EXPECT_TRUE(test, amd_pe_want_branch(&to_user, X86_BR_ALL));

	/* the record has the address of the test, the branch is the instruction behind it */
	KUNIT_EXPECT_TRUE(test, amd_pe_want_branch(&fused, X86_BR_KERNEL | X86_BR_JCC));
	KUNIT_EXPECT_EQ(test, fused.from, TEXT + 9);

	/* of no type, so for those who want all */
	KUNIT_EXPECT_TRUE(test, amd_pe_want_branch(&exception, X86_BR_ALL));
	KUNIT_EXPECT_FALSE(test, amd_pe_want_branch(&exception, X86_BR_ALL | X86_BR_TYPE_SAVE));
	KUNIT_EXPECT_FALSE(test, amd_pe_want_branch(&exception, KERNEL_ANY));
	KUNIT_EXPECT_EQ(test, exception.from, TEXT + 13);
}

#ifdef CONFIG_PERF_EVENTS_AMD_BRS
static void brs_rings(struct kunit *test)
{
	const u64 user = PERF_SAMPLE_BRANCH_USER, kernel = PERF_SAMPLE_BRANCH_KERNEL;
	const u64 low = 0x401000, high = (unsigned long)-4096;

	KUNIT_EXPECT_TRUE(test, amd_pe_brs_wants(user, low, low));
	KUNIT_EXPECT_FALSE(test, amd_pe_brs_wants(user, low, high));
	KUNIT_EXPECT_FALSE(test, amd_pe_brs_wants(user, high, low));
	KUNIT_EXPECT_FALSE(test, amd_pe_brs_wants(user, high, high));
	KUNIT_EXPECT_FALSE(test, amd_pe_brs_wants(kernel, low, low));
	KUNIT_EXPECT_TRUE(test, amd_pe_brs_wants(kernel, low, high));
	KUNIT_EXPECT_FALSE(test, amd_pe_brs_wants(kernel, high, low));
	KUNIT_EXPECT_TRUE(test, amd_pe_brs_wants(PERF_SAMPLE_BRANCH_HV, high, high));
	KUNIT_EXPECT_TRUE(test, amd_pe_brs_wants(user | kernel, high, low));
}
#endif

static struct kunit_case cases[] = {
	KUNIT_CASE(filters),
	KUNIT_CASE(single_bits),
	KUNIT_CASE(outcomes),
	KUNIT_CASE(records),
	KUNIT_CASE(kinds),
#ifdef CONFIG_PERF_EVENTS_AMD_BRS
	KUNIT_CASE(brs_rings),
#endif
	{ }
};

static struct kunit_suite suite = { .name = "x86_amd_branch", .test_cases = cases };
kunit_test_suite(suite);
