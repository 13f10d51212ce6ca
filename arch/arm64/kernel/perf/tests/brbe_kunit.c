// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of branch records: which ones an event asks for, and what it is shown of them.
 *
 * Described here by a table of the types and by a model of the hardware, which records branches as
 * the Arm ARM says and knows nothing of the driver.  No register is touched.
 */
#include <kunit/test.h>
#include <linux/bitfield.h>
#include <linux/perf_event.h>
#include <linux/prandom.h>

#include "../pmuv3_brbe.h"
#include "../pmuv3_regs.h"

#define WANT(name)	PERF_SAMPLE_BRANCH_##name

/* exception: also debug exceptions; halt: into and out of debug state */
enum kind { JUMP, CALL, RETURN, COND, ERET, EXCEPTION, HALT };

/* Which bits of BRBFCR or BRBCR make the hardware record it, and what perf calls it */
static const struct type {
	u8	number;
	enum kind kind;
	bool	indirect;
	u8	fcr, cr;
	u8	perf, perf_new;
} types[] = {
	{ 0x00, JUMP, false, 17, 0, 2, 0 },
	{ 0x01, JUMP, true, 18, 0, 3, 0 },
	{ 0x02, CALL, false, 21, 0, 4, 0 },
	{ 0x03, CALL, true, 20, 0, 5, 0 },
	{ 0x05, RETURN, true, 19, 0, 6, 0 },
	{ 0x07, ERET, true, 0, 22, 11, 0 },
	{ 0x08, COND, false, 22, 0, 1, 0 },
	{ 0x21, HALT, true, 0, 0, 15, 4 },
	{ 0x22, EXCEPTION, true, 0, 23, 7, 0 },
	{ 0x23, EXCEPTION, true, 0, 23, 12, 0 },
	{ 0x24, EXCEPTION, true, 0, 23, 13, 0 },
	{ 0x26, EXCEPTION, true, 0, 23, 15, 6 },
	{ 0x27, EXCEPTION, true, 0, 23, 15, 7 },
	{ 0x2a, EXCEPTION, true, 0, 23, 15, 0 },
	{ 0x2b, EXCEPTION, true, 0, 23, 15, 2 },
	{ 0x2c, EXCEPTION, true, 0, 23, 15, 1 },
	{ 0x2e, EXCEPTION, true, 0, 23, 12, 0 },
	{ 0x2f, EXCEPTION, true, 0, 23, 15, 3 },
	{ 0x39, HALT, true, 0, 0, 15, 5 },
};

static const struct type *find_type(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].number == number)
			return &types[i];
	return NULL;
}

/* In words: does @wanted speak of this type? */
static bool speaks_of(u64 wanted, const struct type *t)
{
	bool kernel = wanted & WANT(KERNEL);

	switch (t->kind) {
	case JUMP:
		return wanted & WANT(ANY) || (t->indirect && wanted & WANT(IND_JUMP));
	case CALL:
		return wanted & (WANT(ANY) | WANT(ANY_CALL)) ||
		       wanted & (t->indirect ? WANT(IND_CALL) : WANT(CALL));
	case RETURN:
		return wanted & (WANT(ANY) | WANT(ANY_RETURN));
	case COND:
		return wanted & (WANT(ANY) | WANT(COND));
	case ERET:
		return kernel && wanted & (WANT(ANY) | WANT(ANY_RETURN));
	case EXCEPTION:
		return kernel && wanted & (WANT(ANY) | WANT(ANY_CALL));
	case HALT:
		return kernel && wanted & WANT(ANY);
	}
	return false;
}

static const u64 kinds[] = {
	WANT(ANY), WANT(ANY_CALL), WANT(ANY_RETURN), WANT(IND_CALL), WANT(COND), WANT(IND_JUMP),
	WANT(CALL),
};

static const u64 modifiers[] = { WANT(NO_FLAGS), WANT(NO_CYCLES) };

/* The @nr-th of 4096 combinations of levels, kinds and modifiers. */
static u64 combination(unsigned int nr)
{
	u64 wanted = nr & 7;	/* user, kernel, hv */
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		wanted |= nr >> (3 + i) & 1 ? kinds[i] : 0;
	for (i = 0; i < ARRAY_SIZE(modifiers); i++)
		wanted |= nr >> (10 + i) & 1 ? modifiers[i] : 0;
	return wanted;
}

static bool has_kind(u64 wanted)
{
	return wanted & (WANT(ANY) | WANT(ANY_CALL) | WANT(ANY_RETURN) | WANT(IND_CALL) |
			 WANT(COND) | WANT(IND_JUMP) | WANT(CALL));
}

/* ------------------------------------------------------------------ what there is */

/* Every value of the register's fields: 4 sizes, one format, one count of cycles. */
static void identification(struct kunit *test)
{
	unsigned int id, good = 0, n;

	for (id = 0; id < 0x10000; id++) {
		n = brbe_usable_records(id);
		if (!n)
			continue;
		good++;
		KUNIT_EXPECT_EQ(test, id, 0x5000 | n);
	}
	KUNIT_EXPECT_EQ(test, good, 4);
	KUNIT_EXPECT_EQ(test, brbe_usable_records(0x5040), 64);
	KUNIT_EXPECT_EQ(test, brbe_usable_records(0x5008), 8);
	KUNIT_EXPECT_LE(test, brbe_usable_records(0x5040), BRBE_MAX_RECORDS);
}

/* ------------------------------------------------------------------ filters */

static int filter(u64 wanted, bool hyp, struct brbe_filter *f)
{
	struct perf_event_attr attr = { .branch_sample_type = wanted };

	return brbe_filter(&attr, hyp, f);
}

static void check_filter(struct kunit *test, u64 wanted, bool hyp)
{
	bool kernel = wanted & WANT(KERNEL) || (hyp && wanted & WANT(HV));
	u64 fcr = 0, cr = BIT(8) | BIT(5);
	struct brbe_filter f;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (!speaks_of(wanted, &types[i]))
			continue;
		fcr |= types[i].fcr ? BIT(types[i].fcr) : 0;
		cr |= types[i].cr ? BIT(types[i].cr) : 0;
	}
	cr |= wanted & WANT(USER) ? 1 : 0;
	cr |= kernel ? 2 : 0;
	cr |= wanted & WANT(NO_CYCLES) ? 0 : 8;
	cr |= wanted & WANT(NO_FLAGS) ? 0 : 16;

	KUNIT_EXPECT_EQ_MSG(test, filter(wanted, hyp, &f), 0, "%#llx", wanted);
	KUNIT_EXPECT_EQ_MSG(test, f.fcr, fcr, "%#llx hyp %d", wanted, hyp);
	KUNIT_EXPECT_EQ_MSG(test, f.cr, cr, "%#llx hyp %d", wanted, hyp);
}

static void filters(struct kunit *test)
{
	struct brbe_filter f;
	unsigned int i;

	for (i = 0; i < 4096; i++) {
		u64 wanted = combination(i);

		if (has_kind(wanted)) {
			check_filter(test, wanted, false);
			check_filter(test, wanted, true);
		} else {
			KUNIT_EXPECT_EQ(test, filter(wanted, false, &f), -EOPNOTSUPP);
		}
	}
}

static void refusals(struct kunit *test)
{
	static const u64 never[] = {
		WANT(ABORT_TX), WANT(IN_TX), WANT(NO_TX), WANT(CALL_STACK), WANT(COUNTERS),
	};
	static const u64 always[] = { WANT(TYPE_SAVE), WANT(HW_INDEX), WANT(PRIV_SAVE) };
	struct brbe_filter f;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(never); i++)
		KUNIT_EXPECT_EQ(test, filter(WANT(USER) | WANT(ANY) | never[i], false, &f),
				-EOPNOTSUPP);
	for (i = 0; i < ARRAY_SIZE(always); i++)
		KUNIT_EXPECT_EQ(test, filter(WANT(USER) | WANT(ANY) | always[i], false, &f), 0);
	for (i = 0; i < 32; i++) {
		struct perf_event_attr attr = {
			.branch_sample_type = WANT(USER) | WANT(ANY),
			.exclude_user = i & 1, .exclude_kernel = i >> 1 & 1,
			.exclude_hv = i >> 2 & 1, .exclude_host = i >> 3 & 1,
			.exclude_guest = i >> 4 & 1,
		};
		bool nothing = (i & 3) == 3 || i & 8;

		KUNIT_EXPECT_EQ(test, brbe_filter(&attr, false, &f), nothing ? -EOPNOTSUPP : 0);
	}
}

/* ------------------------------------------------------------------ records */

static u64 info(unsigned int type, unsigned int valid, unsigned int el)
{
	return type << 8 | valid | el << 6;
}

static const u64 addresses[] = { 0x0000aaaabbbbcccc, 0xffff800012345678 };

/* Every type, known or not, every kind of validity, every level. */
static void every_type(struct kunit *test)
{
	const u64 all = WANT(ANY) | WANT(USER) | WANT(KERNEL);
	unsigned int i, type, valid, el;

	for (i = 0; i < 64 * 4 * 4; i++) {
		const struct type *t;
		struct brbe_record r = { .source = addresses[1], .target = addresses[0] };
		struct perf_branch_entry e;
		bool shown;

		type = i & 63;
		valid = i >> 6 & 3;
		el = i >> 8;
		t = find_type(type);
		r.info = info(type, valid, el);
		shown = brbe_show(&r, all, false, &e);
		KUNIT_EXPECT_EQ_MSG(test, shown, t && valid, "%#x", i);
		if (!shown)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, (int)e.type, t->perf, "type %#x", type);
		KUNIT_EXPECT_EQ_MSG(test, (int)e.new_type, t->perf_new, "type %#x", type);
		KUNIT_EXPECT_EQ(test, e.from, valid & 2 ? r.source : 0);
		KUNIT_EXPECT_EQ(test, e.to, valid & 1 ? r.target : 0);
		KUNIT_EXPECT_EQ(test, (int)e.predicted, valid >> 1);
		/* user, kernel, hv, unknown: as many as the level, plus one */
		KUNIT_EXPECT_EQ(test, (int)e.priv, valid & 1 ? (el + 1) & 3 : 0);
	}
}

static void levels(struct kunit *test)
{
	struct brbe_record r = { .source = addresses[1], .target = addresses[1] };
	struct perf_branch_entry e;

	r.info = info(0, 3, 2);
	KUNIT_EXPECT_TRUE(test, brbe_show(&r, WANT(ANY) | WANT(KERNEL), true, &e));
	KUNIT_EXPECT_EQ(test, (int)e.priv, PERF_BR_PRIV_KERNEL);
	KUNIT_EXPECT_TRUE(test, brbe_show(&r, WANT(ANY) | WANT(HV), true, &e));
	KUNIT_EXPECT_FALSE(test, brbe_show(&r, WANT(ANY) | WANT(HV), false, &e));
	KUNIT_EXPECT_FALSE(test, brbe_show(&r, WANT(ANY) | WANT(USER), true, &e));
	/* A plain branch stays at the level of its target, wherever addresses point. */
	r.info = info(0, 3, 0);
	KUNIT_EXPECT_FALSE(test, brbe_show(&r, WANT(ANY) | WANT(KERNEL), true, &e));
	KUNIT_EXPECT_TRUE(test, brbe_show(&r, WANT(ANY) | WANT(USER), true, &e));
	KUNIT_EXPECT_EQ(test, e.from, addresses[1]);
	r.source = addresses[0];
	r.info = info(0, 3, 1);
	KUNIT_EXPECT_FALSE(test, brbe_show(&r, WANT(ANY) | WANT(USER), false, &e));
}

/* Exceptions come from where the address says, returns from the kernel, wherever its code is. */
static void sources(struct kunit *test)
{
	const u64 kernel = WANT(ANY) | WANT(KERNEL);
	struct brbe_record r = { .target = addresses[1] };
	struct perf_branch_entry e;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		r.source = addresses[i];
		r.info = info(0x2e, 3, 1);
		KUNIT_EXPECT_TRUE(test, brbe_show(&r, kernel, false, &e));
		KUNIT_EXPECT_EQ(test, e.from, i ? r.source : 0);
		KUNIT_EXPECT_EQ(test, e.to, r.target);
		KUNIT_EXPECT_TRUE(test, brbe_show(&r, kernel | WANT(USER), false, &e));
		KUNIT_EXPECT_EQ(test, e.from, r.source);
		r.info = info(0x07, 3, 0);
		KUNIT_EXPECT_TRUE(test, brbe_show(&r, kernel, false, &e));
		KUNIT_EXPECT_EQ(test, e.from, r.source);
		KUNIT_EXPECT_EQ(test, e.to, 0ULL);
	}
}

/* Against the definition: the value of a float of base 2, cut off at 16 bits. */
static void cycles(struct kunit *test)
{
	const u64 all = WANT(ANY) | WANT(USER);
	struct brbe_record r = { .target = addresses[0] };
	struct perf_branch_entry e;
	unsigned int exponent, mantissa, n;

	for (exponent = 0; exponent < 64; exponent++)
		for (mantissa = 0; mantissa < 256; mantissa++) {
			u64 value = exponent ? 256 + mantissa : mantissa;

			for (n = 1; n < exponent; n++)
				value = min(value * 2, 1ULL << 40);
			r.info = info(0, 3, 0) | (u64)mantissa << 32 | (u64)exponent << 40;
			KUNIT_EXPECT_TRUE(test, brbe_show(&r, all, false, &e));
			KUNIT_EXPECT_EQ_MSG(test, (int)e.cycles, (int)min(value, 65535ULL), "%u %u",
					    exponent, mantissa);
			KUNIT_EXPECT_TRUE(test, brbe_show(&r, all | WANT(NO_CYCLES), false, &e));
			KUNIT_EXPECT_EQ(test, (int)e.cycles, 0);
			r.info |= BIT_ULL(46);
			KUNIT_EXPECT_TRUE(test, brbe_show(&r, all, false, &e));
			KUNIT_EXPECT_EQ(test, (int)e.cycles, 0);
		}
}

static void flags(struct kunit *test)
{
	struct brbe_record r = { .source = addresses[0], .target = addresses[0] };
	const u64 all = WANT(ANY) | WANT(USER);
	struct perf_branch_entry e;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		bool mispred = i & 1, quiet = i & 2, source = i & 4;

		r.info = info(0, source ? 3 : 1, 0) | (mispred ? BIT(5) : 0);
		KUNIT_EXPECT_TRUE(test, brbe_show(&r, all | (quiet ? WANT(NO_FLAGS) : 0), false,
						  &e));
		KUNIT_EXPECT_EQ(test, (int)e.mispred, mispred && !quiet && source);
		KUNIT_EXPECT_EQ(test, (int)e.predicted, !mispred && !quiet && source);
		KUNIT_EXPECT_EQ(test, (u64)(e.in_tx | e.abort | e.spec | e.reserved), 0ULL);
	}
}

/* ------------------------------------------------------------------ several events */

/* A branch that the CPU takes: levels 0 and @top, the kernel's */
struct branch {
	const struct type *type;
	unsigned int from_el, to_el;
	u64	from, to;
	bool	mispred;
	u8	cycles;
};

/* What the hardware makes of it under @f: false if it records nothing. */
static bool hardware(const struct branch *b, const struct brbe_filter *f, struct brbe_record *r)
{
	bool source = f->cr & (b->from_el ? 2 : 1), target = f->cr & (b->to_el ? 2 : 1);
	bool chosen = b->type->fcr ? f->fcr >> b->type->fcr & 1 : f->cr >> b->type->cr & 1;

	if (!chosen || (!source && !target))
		return false;
	*r = (struct brbe_record) {
		.source	= source ? b->from : 0,
		.target	= target ? b->to : 0,
		.info	= info(b->type->number, source << 1 | target, target ? b->to_el : 0),
	};
	if (source && b->mispred && f->cr & 16)
		r->info |= BIT(5);
	r->info |= f->cr & 8 ? (u64)b->cycles << 32 : BIT_ULL(46);
	return true;
}

static void random_branch(struct rnd_state *rnd, unsigned int top, struct branch *b)
{
	const struct type *t;

	do {
		t = &types[prandom_u32_state(rnd) % ARRAY_SIZE(types)];
	} while (t->kind == HALT);
	b->type = t;
	b->from_el = prandom_u32_state(rnd) & 1 ? top : 0;
	b->to_el = b->from_el;
	if (t->kind == ERET)
		b->from_el = top;
	else if (t->kind == EXCEPTION)
		b->to_el = top;
	if (t->kind == ERET && prandom_u32_state(rnd) & 1)
		b->to_el = 0;
	b->from = addresses[!!b->from_el] + 4 * (prandom_u32_state(rnd) % 1000);
	b->to = addresses[!!b->to_el] + 4 * (prandom_u32_state(rnd) % 1000);
	b->mispred = prandom_u32_state(rnd) & 1;
	b->cycles = prandom_u32_state(rnd);
}

static u64 random_wanted(struct rnd_state *rnd)
{
	u64 wanted;

	do {
		wanted = combination(prandom_u32_state(rnd) % 4096);
	} while (!has_kind(wanted));
	return wanted;
}

/* What an event is shown does not depend on what others on the CPU want. */
static void alone_and_merged(struct kunit *test)
{
	struct rnd_state rnd;
	unsigned int i, shown = 0;

	prandom_seed_state(&rnd, 2);
	for (i = 0; i < 100000; i++) {
		bool hyp = i & 1, alone, merged;
		u64 a = random_wanted(&rnd), b = random_wanted(&rnd);
		struct perf_branch_entry one = { }, two = { };
		struct brbe_filter fa, fb;
		struct brbe_record r;
		struct branch br;

		KUNIT_ASSERT_EQ(test, filter(a, hyp, &fa), 0);
		KUNIT_ASSERT_EQ(test, filter(b, hyp, &fb), 0);
		random_branch(&rnd, hyp ? 2 : 1, &br);
		alone = hardware(&br, &fa, &r) && brbe_show(&r, a, hyp, &one);
		fa.fcr |= fb.fcr;
		fa.cr |= fb.cr;
		merged = hardware(&br, &fa, &r) && brbe_show(&r, a, hyp, &two);
		KUNIT_EXPECT_EQ_MSG(test, alone, merged, "type %#x, %#llx beside %#llx",
				    br.type->number, a, b);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&one, &two, sizeof(one)), 0,
				    "type %#x, %#llx beside %#llx", br.type->number, a, b);
		shown += alone;
		/* Nobody sees a kernel address who may not. */
		if (!(a & (WANT(KERNEL) | WANT(HV))))
			KUNIT_EXPECT_EQ(test, (two.from | two.to) & BIT_ULL(55), 0ULL);
	}
	KUNIT_EXPECT_GT(test, shown, 10000);
	KUNIT_EXPECT_LT(test, shown, 90000);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(identification),
	KUNIT_CASE(filters),
	KUNIT_CASE(refusals),
	KUNIT_CASE(every_type),
	KUNIT_CASE(levels),
	KUNIT_CASE(sources),
	KUNIT_CASE(cycles),
	KUNIT_CASE(flags),
	KUNIT_CASE(alone_and_merged),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_brbe",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_LICENSE("GPL");
