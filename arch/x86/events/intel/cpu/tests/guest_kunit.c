// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the registers that are switched for a guest, over random states, against what each counter
 * is for.  The model goes by counter; the driver works with masks.
 */
#include <kunit/test.h>
#include <linux/kvm_host.h>
#include <linux/prandom.h>

#include "../cpu.h"

#define COUNTERS	8
#define STATES		20000

enum side { BOTH, HOST_ALONE, GUEST_ALONE, SIDES };

struct counter {
	enum side side;
	bool there, pebs;
	bool wanted, elsewhere;		/* by the guest; it has another number there */
};

struct state {
	struct counter counter[COUNTERS];
	bool on, has_pebs, no_isolation, ept, baseline;
};

static struct state any_state(struct rnd_state *rnd)
{
	struct state s = {};
	int i, most = prandom_u32_state(rnd) % 4 ? SIDES : GUEST_ALONE;

	for (i = 0; i < COUNTERS; i++) {
		u32 bits = prandom_u32_state(rnd);

		s.counter[i] = (struct counter) {
			.side = bits % 64 % most, .there = bits >> 8 & 7,
			.pebs = !(bits >> 12 & 3), .wanted = bits >> 16 & 3,
			.elsewhere = !(bits >> 20 & 7),
		};
		/* Now and then all PEBS is of guests. */
		if (bits >> 24 & 1 && s.counter[i].pebs)
			s.counter[i].side = GUEST_ALONE;
	}
	s.on = prandom_u32_state(rnd) % 8;
	s.has_pebs = prandom_u32_state(rnd) % 8;
	s.no_isolation = !(prandom_u32_state(rnd) % 8);
	s.ept = prandom_u32_state(rnd) % 4;
	s.baseline = prandom_u32_state(rnd) & 1;
	return s;
}

/* As the driver has it in its masks. */
static void put_state(const struct state *s, struct cpu_hw_events *cpuc, struct kvm_pmu *guest)
{
	int i;

	cpuc->intel_ctrl_host_mask = 0;
	cpuc->intel_ctrl_guest_mask = 0;
	cpuc->pebs_enabled = 0;
	guest->pebs_enable = 0;
	guest->host_cross_mapped_mask = 0;
	x86_pmu.intel_ctrl = 0;
	for (i = 0; i < COUNTERS; i++) {
		const struct counter *c = &s->counter[i];

		x86_pmu.intel_ctrl |= c->there ? BIT_ULL(i) : 0;
		cpuc->intel_ctrl_host_mask |= c->side == HOST_ALONE ? BIT_ULL(i) : 0;
		cpuc->intel_ctrl_guest_mask |= c->side == GUEST_ALONE ? BIT_ULL(i) : 0;
		cpuc->pebs_enabled |= c->pebs ? BIT_ULL(i) : 0;
		guest->pebs_enable |= c->wanted ? BIT_ULL(i) : 0;
		guest->host_cross_mapped_mask |= c->elsewhere ? BIT_ULL(i) : 0;
	}
	cpuc->enabled = s->on;
	x86_pmu.pebs = s->has_pebs;
	x86_pmu.pebs_no_isolation = s->no_isolation;
	x86_pmu.pebs_ept = s->ept;
	x86_pmu.intel_cap.pebs_baseline = s->baseline;
	x86_pmu.pebs_capable = ~0ULL;
}

/* Does the host have records of its own? */
static bool host_records(const struct state *s)
{
	int i;

	for (i = 0; i < COUNTERS; i++)
		if (s->counter[i].pebs && s->counter[i].side != GUEST_ALONE)
			return true;
	return false;
}

/* May the counter write records into the guest's buffer? */
static bool records_there(const struct state *s, const struct counter *c)
{
	return c->pebs && c->side == GUEST_ALONE && c->there && c->wanted && !c->elsewhere &&
	       s->has_pebs && s->ept && !s->no_isolation && !host_records(s);
}

static bool counts(const struct state *s, const struct counter *c, bool in_guest)
{
	if (in_guest && records_there(s, c))
		return true;
	if (!s->on || !c->there || c->side == (in_guest ? HOST_ALONE : GUEST_ALONE))
		return false;
	return !in_guest || !c->pebs;
}

static const struct perf_guest_switch_msr *
find(struct kunit *test, const struct perf_guest_switch_msr *list, int nr, u32 msr)
{
	const struct perf_guest_switch_msr *found = NULL;

	while (nr--) {
		if (list[nr].msr != msr)
			continue;
		KUNIT_EXPECT_NULL_MSG(test, found, "register %#x is there twice", msr);
		found = &list[nr];
	}
	return found;
}

static void check(struct kunit *test, const struct state *s, struct cpu_hw_events *cpuc,
		  struct kvm_pmu *guest)
{
	const struct perf_guest_switch_msr *msr;
	struct perf_guest_switch_msr *list;
	bool theirs = false;
	int nr, i;

	put_state(s, cpuc, guest);
	list = intel_pe_guest_list(cpuc, guest, &nr);
	msr = find(test, list, nr, MSR_CORE_PERF_GLOBAL_CTRL);
	KUNIT_ASSERT_NOT_NULL(test, msr);
	for (i = 0; i < COUNTERS; i++) {
		const struct counter *c = &s->counter[i];

		KUNIT_ASSERT_EQ(test, (bool)(msr->host & BIT_ULL(i)), counts(s, c, false));
		KUNIT_ASSERT_EQ(test, (bool)(msr->guest & BIT_ULL(i)), counts(s, c, true));
		theirs |= records_there(s, c);
	}
	/* The buffer is the guest's while a counter writes to it there, otherwise the host's. */
	msr = find(test, list, nr, MSR_IA32_DS_AREA);
	KUNIT_ASSERT_EQ(test, !!msr, s->has_pebs && s->ept && !s->no_isolation);
	if (msr) {
		KUNIT_ASSERT_EQ(test, msr->host, (u64)(unsigned long)cpuc->ds);
		KUNIT_ASSERT_EQ(test, msr->guest, theirs ? guest->ds_area : msr->host);
	}
	msr = find(test, list, nr, MSR_PEBS_DATA_CFG);
	KUNIT_ASSERT_EQ(test, !!msr, s->has_pebs && s->ept && !s->no_isolation && s->baseline);
	if (msr)
		KUNIT_ASSERT_EQ(test, msr->guest,
				theirs ? guest->pebs_data_cfg : cpuc->active_pebs_data_cfg);
	/* Where a record may come late, no counter is enabled for them in the guest. */
	msr = find(test, list, nr, MSR_IA32_PEBS_ENABLE);
	KUNIT_ASSERT_EQ(test, !!msr, s->has_pebs && s->no_isolation);
	if (msr)
		KUNIT_ASSERT_EQ(test, msr->guest, 0ULL);
}

static void registers_by_counter(struct kunit *test)
{
	struct cpu_hw_events *cpuc = kunit_kzalloc(test, sizeof(*cpuc), GFP_KERNEL);
	struct kvm_pmu *guest = kunit_kzalloc(test, sizeof(*guest), GFP_KERNEL);
	struct rnd_state rnd;
	struct state s;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, cpuc);
	KUNIT_ASSERT_NOT_NULL(test, guest);
	cpuc->ds = (void *)0x1000;
	cpuc->active_pebs_data_cfg = 3;
	guest->ds_area = 0x2000;
	guest->pebs_data_cfg = 5;
	prandom_seed_state(&rnd, 1);
	for (i = 0; i < STATES; i++) {
		s = any_state(&rnd);
		check(test, &s, cpuc, guest);
	}
}

static struct x86_pmu kept;

static int no_driver(struct kunit *test)
{
	if (x86_pmu.name)
		kunit_skip(test, "a driver uses struct x86_pmu");
	kept = x86_pmu;
	return 0;
}

static void put_back(struct kunit *test)
{
	if (!x86_pmu.name)
		x86_pmu = kept;
}

static struct kunit_case cases[] = {
	KUNIT_CASE(registers_by_counter),
	{ }
};

static struct kunit_suite suite = {
	.name = "perf_x86_intel_guest", .init = no_driver, .exit = put_back, .test_cases = cases,
};

kunit_test_suite(suite);
