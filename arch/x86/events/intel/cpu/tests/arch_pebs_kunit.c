// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: architectural PEBS records, made up here from a description of their own: any groups, in
 * any fragments, with gaps in between.  Where each group is was noted when it was put there.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>
#include <linux/prandom.h>

#include "../cpu.h"
#include "../pebs/pebs.h"

#define HEADER		16
#define CONTINUED	BIT_ULL(31)
#define BASIC_BIT	63
#define LBR_BIT		40
#define MOST		4096

/* In the order of a record.  A group begins with what does not count as its contents. */
enum { BASIC, AUX, GPRS, XMM, LBRS, VALUES, KINDS };

static const struct {
	u8 bit, before;
	u16 size;
} kind[KINDS] = {
	[BASIC]	= { BASIC_BIT, 0, 48 },
	[AUX]	= { 62, 0, 64 },
	[GPRS]	= { 61, 0, 160 },
	[XMM]	= { 49, 16, 256 + 16 },
	[LBRS]	= { LBR_BIT, 48, 48 },		/* and 24 for each branch */
	[VALUES] = { 36, 0, 16 },		/* and 8 for each value */
};

struct made {
	u8	*buffer, *at, *head;
	u8	*where[KINDS];
};

static void put(struct made *m, u64 value)
{
	*(u64 *)m->at = value;
	m->at += 8;
}

static void begin(struct made *m)
{
	m->head = m->at;
	put(m, 0);
	put(m, 0);
}

static void end(struct made *m, bool more)
{
	if ((m->at - m->buffer) & 15)
		put(m, 0xbad);
	*(u64 *)m->head |= (m->at - m->head) | (more ? CONTINUED : 0);
}

/* Words are where they are in the buffer. */
static void fill(struct made *m, int bytes)
{
	for (; bytes > 0; bytes -= 8)
		put(m, 0x100000 + (m->at - m->buffer));
}

static void group(struct made *m, int k, u64 values, unsigned int branches)
{
	u64 bits = BIT_ULL(kind[k].bit);

	if (k == LBRS)
		bits = branches == 8 ? 1ULL << LBR_BIT : branches == 16 ? 2ULL << LBR_BIT :
		       3ULL << LBR_BIT;
	*(u64 *)m->head |= bits;
	m->where[k] = m->at + kind[k].before;
	if (k == VALUES) {
		put(m, values);
		put(m, 0);
		fill(m, 8 * hweight64(values));
		return;
	}
	fill(m, kind[k].size);
	if (k == LBRS) {
		*(u64 *)(m->where[k] - 32) = branches;
		fill(m, 24 * branches);
	}
}

/* What a case changes comes back afterwards. */
static void restore(void *was)
{
	x86_pmu.lbr_nr = *(int *)was;
}

static void have_branches(struct kunit *test, int n)
{
	int *was = kunit_kmalloc(test, sizeof(*was), GFP_KERNEL);

	if (x86_pmu.pebs_active)
		kunit_skip(test, "PEBS is in use");
	KUNIT_ASSERT_NOT_NULL(test, was);
	*was = x86_pmu.lbr_nr;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, restore, was), 0);
	x86_pmu.lbr_nr = n;
}

static struct made *buffer(struct kunit *test)
{
	struct made *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->buffer = kunit_kzalloc(test, MOST, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->buffer);
	m->at = m->buffer;
	return m;
}

/* A record of these groups at m->at; returns where it begins. */
static u8 *make(struct made *m, unsigned int groups, struct rnd_state *rnd, u64 values,
		unsigned int branches)
{
	u8 *record = m->at;
	int k;

	memset(m->where, 0, sizeof(m->where));
	begin(m);
	group(m, BASIC, 0, 0);
	for (k = AUX; k < KINDS; k++) {
		if (!(groups & BIT(k)))
			continue;
		if (prandom_u32_state(rnd) & 1) {
			end(m, true);
			if (prandom_u32_state(rnd) & 1) {
				put(m, HEADER);
				put(m, 0);
			}
			begin(m);
		}
		group(m, k, values, branches);
	}
	end(m, false);
	return record;
}

static u64 word(const u8 *group, int n)
{
	return ((const u64 *)group)[n];
}

static void check_groups(struct kunit *test, struct made *m, u8 *record)
{
	struct intel_pe_groups *g = kunit_kzalloc(test, sizeof(*g), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, g);
	KUNIT_EXPECT_TRUE(test, intel_pe_arch_take_apart(record, g));
	KUNIT_ASSERT_NOT_NULL(test, g->basic);
	KUNIT_EXPECT_EQ(test, g->basic->ip, word(m->where[BASIC], 0));
	KUNIT_EXPECT_EQ(test, g->basic->applicable_counters, word(m->where[BASIC], 1));
	KUNIT_EXPECT_EQ(test, g->basic->tsc, word(m->where[BASIC], 2));
	KUNIT_EXPECT_EQ(test, intel_pe_arch_owners(record), word(m->where[BASIC], 1));
	KUNIT_EXPECT_EQ(test, !!g->mem, !!m->where[AUX]);
	if (g->mem && m->where[AUX]) {
		KUNIT_EXPECT_EQ(test, g->mem->address, word(m->where[AUX], 0));
		KUNIT_EXPECT_EQ(test, g->mem->aux, word(m->where[AUX], 5));
		KUNIT_EXPECT_EQ(test, g->mem->mem_latency, word(m->where[AUX], 6));
		KUNIT_EXPECT_EQ(test, g->mem->tsx_tuning, word(m->where[AUX], 7));
	}
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)g->gprs, m->where[GPRS]);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)g->xmms, m->where[XMM]);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)g->branches, m->where[LBRS]);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)g->counters, m->where[VALUES]);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)g->end, m->at);
	KUNIT_EXPECT_EQ(test, (long)g->basic->format_size, m->at - record);
	kunit_kfree(test, g);
}

/* Any groups in any fragments, one record behind another. */
static void any_record(struct kunit *test)
{
	struct rnd_state rnd;
	struct made *m = buffer(test);
	unsigned int i, groups, left;
	u64 values;
	u8 *record;

	have_branches(test, 32);
	prandom_seed_state(&rnd, 20261128);
	for (i = 0; i < 2000; i++) {
		if (m->at - m->buffer > MOST / 2 || !(i % 5)) {
			memset(m->buffer, 0, MOST);
			m->at = m->buffer;
		}
		groups = prandom_u32_state(&rnd);
		values = prandom_u32_state(&rnd) & 0x3ff;
		values |= (u64)(prandom_u32_state(&rnd) & 0x7) << 32;
		record = make(m, groups, &rnd, values, 32);
		check_groups(test, m, record);
		left = m->at - record;
		KUNIT_EXPECT_EQ(test, intel_pe_arch_size(record, left), left);
		KUNIT_EXPECT_EQ(test, intel_pe_arch_size(record, left + 64), left);
		/* cut off anywhere */
		KUNIT_EXPECT_EQ(test, intel_pe_arch_size(record, left - 8), 0);
		KUNIT_EXPECT_EQ(test,
				intel_pe_arch_size(record, prandom_u32_state(&rnd) % left), 0);
	}
}

/* What begins without the basic group is nobody's, one fragment after another. */
static void nobodys(struct kunit *test)
{
	struct made *m = buffer(test);

	put(m, HEADER);
	put(m, 0);
	begin(m);
	group(m, AUX, 0, 0);
	end(m, true);
	begin(m);
	group(m, BASIC, 0, 0);
	end(m, false);
	KUNIT_EXPECT_EQ(test, intel_pe_arch_size(m->buffer, 4096), HEADER);
	KUNIT_EXPECT_EQ(test, intel_pe_arch_owners(m->buffer), 0);
	KUNIT_EXPECT_EQ(test, intel_pe_arch_size(m->buffer + 16, 4080), HEADER + 64);
	KUNIT_EXPECT_EQ(test, intel_pe_arch_owners(m->buffer + 16), 0);
	KUNIT_EXPECT_EQ(test, intel_pe_arch_size(m->buffer + 96, 4000), HEADER + 48);
	KUNIT_EXPECT_NE(test, intel_pe_arch_owners(m->buffer + 96), 0);
}

/* Nor is a record whose first fragment ends within the basic group, whatever comes behind it. */
static void cut_short(struct kunit *test)
{
	struct made *m = buffer(test);
	struct intel_pe_groups g;
	int size;

	begin(m);
	group(m, BASIC, 0, 0);
	end(m, false);
	for (size = HEADER; size < HEADER + 48; size += 8) {
		*(u64 *)m->buffer = (*(u64 *)m->buffer & ~0xffffULL) | size;
		KUNIT_EXPECT_EQ(test, intel_pe_arch_size(m->buffer, 4096), size);
		KUNIT_EXPECT_EQ(test, intel_pe_arch_owners(m->buffer), 0);
		KUNIT_EXPECT_FALSE(test, intel_pe_arch_take_apart(m->buffer, &g));
		KUNIT_EXPECT_NULL(test, g.basic);
	}
}

/* Records with groups of whose size nothing is known, or with less room than those take. */
static void does_not_add_up(struct kunit *test)
{
	static const u64 unknown[] = {
		BIT_ULL(32), BIT_ULL(48), BIT_ULL(50), BIT_ULL(53), BIT_ULL(54), BIT_ULL(55),
	};
	struct rnd_state rnd;
	struct made *m = buffer(test);
	struct intel_pe_groups g;
	int i, k;

	have_branches(test, 32);
	prandom_seed_state(&rnd, 1);
	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		m->at = m->buffer;
		memset(m->buffer, 0, MOST);
		make(m, ~0, &rnd, 0x3, 32);
		*(u64 *)m->buffer |= unknown[i];
		KUNIT_EXPECT_FALSE(test, intel_pe_arch_take_apart(m->buffer, &g));
		KUNIT_EXPECT_EQ(test, g.basic->ip, word(m->where[BASIC], 0));
		KUNIT_EXPECT_TRUE(test, !g.mem && !g.gprs && !g.xmms && !g.branches &&
				  !g.counters);
	}
	for (k = AUX; k < KINDS; k++) {
		m->at = m->buffer;
		memset(m->buffer, 0, MOST);
		begin(m);
		group(m, BASIC, 0, 0);
		group(m, k, 0x7, 32);
		end(m, false);
		*(u64 *)m->buffer -= 16;
		KUNIT_EXPECT_FALSE_MSG(test, intel_pe_arch_take_apart(m->buffer, &g), "%d", k);
		KUNIT_EXPECT_TRUE(test, g.basic && !g.mem && !g.gprs && !g.xmms &&
				  !g.branches && !g.counters);
	}
}

/* The CPU has 16: fewer are not taken, and what is behind them is found. */
static void few_branches(struct kunit *test)
{
	static const u8 n[] = { 0, 8, 12, 16, 20 };
	struct made *m = buffer(test);
	struct intel_pe_groups g;
	int i;

	have_branches(test, 16);
	for (i = 0; i < ARRAY_SIZE(n); i++) {
		m->at = m->buffer;
		memset(m->buffer, 0, MOST);
		begin(m);
		group(m, BASIC, 0, 0);
		group(m, LBRS, 0, n[i]);
		group(m, VALUES, 0x5, 0);
		end(m, false);
		KUNIT_EXPECT_TRUE(test, intel_pe_arch_take_apart(m->buffer, &g));
		KUNIT_EXPECT_EQ_MSG(test, !!g.branches, n[i] >= 16, "%d", n[i]);
		KUNIT_EXPECT_PTR_EQ(test, (u8 *)g.counters, m->where[VALUES]);
	}
}

/* How long the instruction took to retire, only if it is valid. */
static void retire_latency(struct kunit *test)
{
	struct made *m = buffer(test);
	struct intel_pe_groups g;

	begin(m);
	group(m, BASIC, 0, 0);
	end(m, false);
	*(u64 *)(m->where[BASIC] + 24) = 0x10021;
	KUNIT_EXPECT_TRUE(test, intel_pe_arch_take_apart(m->buffer, &g));
	KUNIT_EXPECT_EQ(test, (u16)g.basic->retire_latency, 0x21);
	*(u64 *)(m->where[BASIC] + 24) = 0xfffe0021;
	KUNIT_EXPECT_TRUE(test, intel_pe_arch_take_apart(m->buffer, &g));
	KUNIT_EXPECT_EQ(test, (u16)g.basic->retire_latency, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(any_record),
	KUNIT_CASE(nobodys),
	KUNIT_CASE(cut_short),
	KUNIT_CASE(does_not_add_up),
	KUNIT_CASE(few_branches),
	KUNIT_CASE(retire_latency),
	{ }
};

static struct kunit_suite suite = { .name = "x86_arch_pebs", .test_cases = cases };
kunit_test_suite(suite);
