// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of periods that follow a rule: pure functions of plain structs.
 *
 * The random numbers are those of the "minimal standard" generator of Park and Miller (CACM 31,
 * 1988) with the multiplier 16807, in the form that Carta gave it (CACM 33, 1990), as perfmon2 had
 * them: two programs that know rule and seed know all periods.
 *
 * tests/period_kunit.c has the known values.  Context: any, NMI included.  No locks.
 */
#include <linux/log2.h>
#include <linux/math64.h>

#include "ext.h"

#define MULTIPLIER	16807

/**
 * pe_period_random() - the random number after another one
 * @random: 1 ... PE_PERIOD_SEEDS - 1
 *
 * Return: @random * 16807 mod (2^31 - 1), which is in the same range.
 */
u32 pe_period_random(u32 random)
{
	u64 product = (u64)random * MULTIPLIER;
	/* 2^31 is 1 in this field, so the upper bits are added to the lower ones. */
	u32 sum = (product & PE_PERIOD_SEEDS) + (product >> 31);

	return sum < PE_PERIOD_SEEDS ? sum : sum - PE_PERIOD_SEEDS;
}

/**
 * pe_period_seed_of_copy() - the seed of an inherited event
 * @seed: that of the opened event
 * @number: of the copy, from 1
 *
 * Copies do not sample in step.  Return: a seed.
 */
u32 pe_period_seed_of_copy(u32 seed, u32 number)
{
	u32 rest;

	/* The golden ratio in 32 bits: neighbours get seeds that are far apart. */
	div_u64_rem(seed + (u64)number * 0x9e3779b1, PE_PERIOD_SEEDS - 1, &rest);
	return rest + 1;
}

/**
 * pe_period_begin() - from now on the first period, the second one ...
 * @p: with a rule
 */
void pe_period_begin(struct pe_periods *p)
{
	p->random = p->rule.seed;
	p->to_long = p->rule.long_every;
	p->drawn = 0;
	p->ended = 0;
}

/**
 * pe_period_draw() - the length of the next period
 * @p: after pe_period_begin()
 */
u64 pe_period_draw(struct pe_periods *p)
{
	const struct pe_period_rule *rule = &p->rule;
	u64 length = rule->shorter;

	if (!p->drawn++) {
		length = rule->initial;
	} else if (rule->long_every && !--p->to_long) {
		p->to_long = rule->long_every;
		length = rule->longer;
	}
	length += p->random & rule->mask;
	p->random = pe_period_random(p->random);
	return length;
}

/**
 * pe_period_jitter() - a rule for periods that differ a little from a fixed one
 * @rule: set, but for the seed
 * @period: the fixed one
 * @percent: from the longest to the shortest period there are at most so many hundredths of it
 *
 * The mean stays what it was, less than 1 apart.  Return: false, without a rule, if the span is
 * too small for random numbers.
 */
bool pe_period_jitter(struct pe_period_rule *rule, u64 period, unsigned int percent)
{
	u64 span = mul_u64_u32_div(period, percent, 100);

	if (span < 2)
		return false;
	span = rounddown_pow_of_two(min_t(u64, span, (u64)PE_PERIOD_SEEDS + 1));
	*rule = (struct pe_period_rule){ .mask = span - 1 };
	rule->shorter = period - rule->mask / 2;
	rule->longer = rule->shorter;
	rule->initial = rule->shorter;
	return true;
}
