// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: which requests pe_attr_check() takes, and with which error it refuses the others.
 *
 * Every case starts from a plain request that is valid, changes what it says, and expects exactly
 * one result.  Copying from user space and permission are tested through the system call.
 */
#include <kunit/test.h>
#include "../abi/abi.h"

static const struct perf_event_attr plain = {
	.type = PERF_TYPE_SOFTWARE,
	.size = PERF_ATTR_SIZE_VER9,
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.sample_period = 1000,
};

/* Result of the check for the plain request with one change. */
#define CHECK(...)								\
({										\
	struct perf_event_attr a = plain;					\
										\
	__VA_ARGS__;								\
	pe_attr_check(&a);							\
})

static void plain_request(struct kunit *test)
{
	struct perf_event_attr a = plain;

	KUNIT_EXPECT_EQ(test, pe_attr_check(&a), 0);
	/* the only thing that was filled in */
	KUNIT_EXPECT_EQ(test, (int)a.sample_max_stack, sysctl_perf_event_max_stack);
	a.sample_max_stack = 0;
	KUNIT_EXPECT_MEMEQ(test, &a, &plain, sizeof(a));

	a.sample_max_stack = 7;
	KUNIT_EXPECT_EQ(test, pe_attr_check(&a), 0);
	KUNIT_EXPECT_EQ(test, (int)a.sample_max_stack, 7);
}

static void reserved_bits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, CHECK(a.__reserved_1 = 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, CHECK(a.__reserved_2 = 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, CHECK(a.__reserved_3 = 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, CHECK(a.defer_callchain = 1), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.defer_output = 1), 0);
}

static void unknown_mask_bits(struct kunit *test)
{
	int bit;

	for (bit = ilog2(PERF_SAMPLE_MAX); bit < 64; bit++)
		KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = BIT_ULL(bit)), -EINVAL);
	for (bit = 0; bit < 64; bit++) {
		int expected = BIT_ULL(bit) < PERF_FORMAT_MAX ? 0 : -EINVAL;

		KUNIT_EXPECT_EQ(test, CHECK(a.read_format = BIT_ULL(bit)), expected);
	}
	KUNIT_EXPECT_EQ(test, CHECK(a.read_format = PERF_FORMAT_MAX - 1), 0);
}

static void plain_sample_fields(struct kunit *test)
{
	const u64 fields = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			   PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ID |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID |
			   PERF_SAMPLE_RAW | PERF_SAMPLE_IDENTIFIER;

	KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = fields), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = PERF_SAMPLE_WEIGHT), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = PERF_SAMPLE_WEIGHT_STRUCT), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = PERF_SAMPLE_WEIGHT |
						    PERF_SAMPLE_WEIGHT_STRUCT), -EINVAL);
}

/* The privilege levels that branch records are taken at, for a kind of branch and an error. */
static u64 branch_levels(struct perf_event_attr a, u64 branch_sample_type, int *ret)
{
	a.sample_type = PERF_SAMPLE_BRANCH_STACK;
	a.branch_sample_type = branch_sample_type;
	*ret = pe_attr_check(&a);
	return a.branch_sample_type & PERF_SAMPLE_BRANCH_PLM_ALL;
}

static void branch_records(struct kunit *test)
{
	struct perf_event_attr user_only = plain;
	int ret;

	user_only.exclude_kernel = 1;
	user_only.exclude_hv = 1;

	branch_levels(plain, 0, &ret);
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	branch_levels(plain, PERF_SAMPLE_BRANCH_USER, &ret);
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	branch_levels(plain, PERF_SAMPLE_BRANCH_MAX, &ret);
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	branch_levels(plain, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_MAX, &ret);
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	branch_levels(plain, PERF_SAMPLE_BRANCH_ANY | BIT_ULL(63), &ret);
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);

	KUNIT_EXPECT_EQ(test, branch_levels(plain, PERF_SAMPLE_BRANCH_ANY, &ret),
			(u64)PERF_SAMPLE_BRANCH_PLM_ALL);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, branch_levels(user_only, PERF_SAMPLE_BRANCH_ANY, &ret),
			(u64)PERF_SAMPLE_BRANCH_USER);
	/* a level that is named stays alone, whatever the event counts */
	KUNIT_EXPECT_EQ(test, branch_levels(user_only, PERF_SAMPLE_BRANCH_ANY |
					    PERF_SAMPLE_BRANCH_KERNEL, &ret),
			(u64)PERF_SAMPLE_BRANCH_KERNEL);

	/* without the sample bit nobody looks */
	KUNIT_EXPECT_EQ(test, CHECK(a.branch_sample_type = U64_MAX), 0);
}

/* A mask without registers is refused, and so is one with a register that does not exist. */
static void registers(struct kunit *test)
{
	const u64 first = 1, absent = IS_ENABLED(CONFIG_X86_64) ? BIT_ULL(31) : BIT_ULL(63);

	if (!IS_ENABLED(CONFIG_X86_64) && !IS_ENABLED(CONFIG_ARM64))
		kunit_skip(test, "register numbers of this architecture are not known here");

	KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = PERF_SAMPLE_REGS_USER), -EINVAL);
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = PERF_SAMPLE_REGS_INTR), -EINVAL);
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = PERF_SAMPLE_REGS_USER,
				    a.sample_regs_user = first), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = PERF_SAMPLE_REGS_INTR,
				    a.sample_regs_intr = first), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = PERF_SAMPLE_REGS_USER,
				    a.sample_regs_user = first | absent), -EINVAL);
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = PERF_SAMPLE_REGS_INTR,
				    a.sample_regs_intr = first | absent), -EINVAL);
	/* each mask belongs to its own sample field */
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_type = PERF_SAMPLE_REGS_USER,
				    a.sample_regs_user = first,
				    a.sample_regs_intr = absent), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_regs_user = absent), 0);
}

static void user_stack(struct kunit *test)
{
	static const struct { u32 size; int expected; } cases[] = {
		{ 0, 0 }, { 8, 0 }, { 12, -EINVAL }, { 7, -EINVAL }, { 65528, 0 },
		{ 65535, -EINVAL }, { 65536, -EINVAL }, { U32_MAX - 7, -EINVAL },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		int expected = cases[i].expected;

		if (!IS_ENABLED(CONFIG_HAVE_PERF_USER_STACK_DUMP))
			expected = -ENOSYS;
		KUNIT_EXPECT_EQ_MSG(test, CHECK(a.sample_type = PERF_SAMPLE_STACK_USER,
						a.sample_stack_user = cases[i].size), expected,
				    "size %u", cases[i].size);
	}
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_stack_user = 7), 0);
}

static void combinations(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, CHECK(a.inherit_thread = 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, CHECK(a.inherit_thread = 1, a.inherit = 1), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.enable_on_exec = 1), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.enable_on_exec = 1, a.remove_on_exec = 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, CHECK(a.remove_on_exec = 1), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.sigtrap = 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, CHECK(a.sigtrap = 1, a.remove_on_exec = 1), 0);
}

/* What this check leaves to the PMU, to permission, or to nobody. */
static void not_checked_here(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, CHECK(a.type = U32_MAX, a.config = U64_MAX), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.sample_period = BIT_ULL(63)), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.freq = 1, a.sample_freq = U64_MAX), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.precise_ip = 3), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.pinned = 1, a.exclusive = 1), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.use_clockid = 1, a.clockid = -5), 0);
	KUNIT_EXPECT_EQ(test, CHECK(a.mmap = 1, a.mmap2 = 1, a.mmap_data = 1, a.comm = 1,
				    a.comm_exec = 1, a.task = 1, a.context_switch = 1,
				    a.sample_id_all = 1, a.inherit = 1, a.inherit_stat = 1), 0);
}

static void clocks(struct kunit *test)
{
	static const struct { clockid_t id; int masked, nmi; } cases[] = {
		{ CLOCK_MONOTONIC, 0, 0 }, { CLOCK_MONOTONIC_RAW, 0, 0 },
		{ CLOCK_REALTIME, 0, -EINVAL }, { CLOCK_BOOTTIME, 0, -EINVAL },
		{ CLOCK_TAI, 0, -EINVAL }, { CLOCK_PROCESS_CPUTIME_ID, -EINVAL, -EINVAL },
		{ CLOCK_MONOTONIC_COARSE, -EINVAL, -EINVAL }, { -1, -EINVAL, -EINVAL },
	};
	struct pe_event *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	struct pmu *pmu = kunit_kzalloc(test, sizeof(*pmu), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, e);
	KUNIT_ASSERT_NOT_NULL(test, pmu);
	e->pmu = pmu;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		pmu->capabilities = PERF_PMU_CAP_NO_NMI;
		KUNIT_EXPECT_EQ_MSG(test, pe_attr_set_clock(e, cases[i].id), cases[i].masked,
				    "clock %d", cases[i].id);
		pmu->capabilities = 0;
		e->clock = NULL;
		KUNIT_EXPECT_EQ_MSG(test, pe_attr_set_clock(e, cases[i].id), cases[i].nmi,
				    "clock %d with NMI", cases[i].id);
		KUNIT_EXPECT_EQ(test, !e->clock, !!cases[i].nmi);
	}
}

static struct kunit_case attr_cases[] = {
	KUNIT_CASE(plain_request),
	KUNIT_CASE(reserved_bits),
	KUNIT_CASE(unknown_mask_bits),
	KUNIT_CASE(plain_sample_fields),
	KUNIT_CASE(branch_records),
	KUNIT_CASE(registers),
	KUNIT_CASE(user_stack),
	KUNIT_CASE(combinations),
	KUNIT_CASE(not_checked_here),
	KUNIT_CASE(clocks),
	{}
};

static struct kunit_suite attr_suite = {
	.name = "perf_attr",
	.test_cases = attr_cases,
};

kunit_test_suite(attr_suite);
MODULE_DESCRIPTION("KUnit tests of the perf_event_attr check");
MODULE_LICENSE("GPL");
