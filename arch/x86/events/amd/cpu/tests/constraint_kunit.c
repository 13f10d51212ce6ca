// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: which counters an event may have: the map of family 15h, and the counters of a node.
 */
#include <kunit/test.h>

#include "../cpu.h"

static u64 f15h_select(unsigned int code, unsigned int umask)
{
	return (code & 0xff) | (u64)(code >> 8) << 32 | umask << 8;
}

/* Cases of the processor's manual, not of the table. */
static void f15h_manual(struct kunit *test)
{
	static const struct { u16 code; u8 umask, counters; } line[] = {
		{ 0x076, 0x00, 0x07 },	/* cycles */
		{ 0x0c0, 0x00, 0x3f },	/* instructions */
		{ 0x1c0, 0x00, 0x38 },	/* another event, in a bank of its own */
		{ 0x0c2, 0x00, 0x3f }, { 0x0d0, 0x00, 0x07 }, { 0x0db, 0x00, 0x3f },
		{ 0x000, 0x0f, 0x38 }, { 0x000, 0xf0, 0x38 }, { 0x000, 0x11, 0x08 },
		{ 0x003, 0x01, 0x08 }, { 0x103, 0x01, 0x38 },
		{ 0x004, 0x01, 0x38 }, { 0x004, 0x00, 0x38 }, { 0x004, 0x03, 0x08 },
		{ 0x020, 0xff, 0x3f }, { 0x023, 0x01, 0x07 },
		{ 0x02d, 0x00, 0x08 }, { 0x02e, 0x00, 0x09 },
		{ 0x031, 0x00, 0x07 }, { 0x031, 0x80, 0x07 }, { 0x031, 0x81, 0x00 },
		{ 0x040, 0x00, 0x3f }, { 0x043, 0x01, 0x07 }, { 0x064, 0x00, 0x07 },
		{ 0x07d, 0x47, 0x07 }, { 0x080, 0x00, 0x07 }, { 0x08f, 0x00, 0x01 },
		{ 0x187, 0x01, 0x01 }, { 0x087, 0x01, 0x07 },
		{ 0x0a0, 0x00, 0x00 }, { 0x0bf, 0x00, 0x00 }, { 0x0e9, 0xb8, 0x00 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(line); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    amd_pe_f15h_counters(f15h_select(line[i].code, line[i].umask)),
				    line[i].counters, "event %03x umask %02x", line[i].code,
				    line[i].umask);
}

/*
 * All 4096 codes with all unit masks: an event that has counters can be scheduled alone, one
 * without cannot; flags of the register that are no part of the code change nothing.
 */
static void f15h_all(struct kunit *test)
{
	const u64 flags = ARCH_PERFMON_EVENTSEL_INT | ARCH_PERFMON_EVENTSEL_USR |
			  ARCH_PERFMON_EVENTSEL_CMASK | ARCH_PERFMON_EVENTSEL_EDGE |
			  AMD64_EVENTSEL_HOSTONLY;
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	unsigned int code, umask, wrong = 0, none = 0;

	KUNIT_ASSERT_NOT_NULL(test, event);
	for (code = 0; code < 0x1000; code++) {
		for (umask = 0; umask < 0x100; umask++) {
			u64 select = f15h_select(code, umask);
			u64 counters = amd_pe_f15h_counters(select);
			struct event_constraint *c;
			int assign, unplaced;

			event->hw.config = select | flags;
			c = amd_pe_f15h_constraint(NULL, 0, event);
			unplaced = perf_assign_events(&c, 1, c->weight, c->weight, 6, &assign);
			wrong += c->idxmsk64 != counters || hweight64(counters) != c->weight;
			wrong += unplaced != !counters;
			wrong += counters && !(counters & BIT_ULL(assign));
			none += !counters;
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	/* four rows of sixteen codes in each of sixteen pages; 0x031 but for nine unit masks */
	KUNIT_EXPECT_EQ(test, none, 4 * 16 * 16 * 256 + 256 - 9);
}

struct two_cores {
	struct cpu_hw_events	*cpuc[2];
	struct amd_nb		*nb;
	unsigned int		counters;
};

/* Two made-up CPUs of one node, with the counters of the CPU this runs on. */
static struct two_cores make_node(struct kunit *test)
{
	struct two_cores node = { .counters = x86_pmu_max_num_counters(NULL) };
	int i;

	if (!node.counters)
		kunit_skip(test, "the tests use the counters of x86_pmu, there is no PMU here");
	node.nb = kunit_kzalloc(test, sizeof(*node.nb), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, node.nb);
	for (i = 0; i < X86_PMC_IDX_MAX; i++)
		node.nb->event_constraints[i] =
			(struct event_constraint)__EVENT_CONSTRAINT(0, BIT_ULL(i), 0, 1, 0, 0);
	for (i = 0; i < 2; i++) {
		node.cpuc[i] = kunit_kzalloc(test, sizeof(*node.cpuc[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, node.cpuc[i]);
		node.cpuc[i]->amd_nb = node.nb;
	}
	return node;
}

static struct perf_event *make_event(struct kunit *test, u64 config)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->hw.config = config;
	event->hw.idx = -1;
	return event;
}

/* No two events of the node get the same counter; what one CPU gives back another can have. */
static void node_is_shared(struct kunit *test)
{
	struct two_cores node = make_node(test);
	struct perf_event *event[X86_PMC_IDX_MAX + 1];
	struct event_constraint *c;
	u64 taken = 0;
	int i;

	for (i = 0; i <= node.counters; i++)
		event[i] = make_event(test, 0x98e9);
	for (i = 0; i < node.counters; i++) {
		c = amd_pe_nb_constraint(node.cpuc[i & 1], 0, event[i]);
		KUNIT_ASSERT_EQ(test, c->weight, 1);
		KUNIT_EXPECT_EQ(test, taken & c->idxmsk64, 0);
		taken |= c->idxmsk64;
	}
	KUNIT_EXPECT_EQ(test, taken, x86_pmu.cntr_mask64);
	KUNIT_EXPECT_PTR_EQ(test, amd_pe_nb_constraint(node.cpuc[0], 0, event[node.counters]),
			    &emptyconstraint);
	/* to ask again gives the same; to give back what it has not changes nothing */
	KUNIT_EXPECT_PTR_EQ(test, amd_pe_nb_constraint(node.cpuc[0], 0, event[0]),
			    &node.nb->event_constraints[0]);
	amd_pe_nb_release(node.cpuc[0], event[node.counters]);
	KUNIT_EXPECT_PTR_EQ(test, amd_pe_nb_constraint(node.cpuc[0], 0, event[node.counters]),
			    &emptyconstraint);
	amd_pe_nb_release(node.cpuc[1], event[1]);
	KUNIT_EXPECT_PTR_EQ(test, amd_pe_nb_constraint(node.cpuc[0], 0, event[node.counters]),
			    &node.nb->event_constraints[1]);
}

/* An event that comes back gets the counter it had, if that is free, though a lower one is. */
static void node_remembers(struct kunit *test)
{
	struct two_cores node = make_node(test);
	struct perf_event *event = make_event(test, 0x4e1), *other = make_event(test, 0xe0);

	event->hw.idx = node.counters - 1;
	KUNIT_EXPECT_PTR_EQ(test, amd_pe_nb_constraint(node.cpuc[0], 0, event),
			    &node.nb->event_constraints[event->hw.idx]);
	amd_pe_nb_release(node.cpuc[0], event);
	other->hw.idx = event->hw.idx;
	amd_pe_nb_constraint(node.cpuc[1], 0, other);
	KUNIT_EXPECT_PTR_EQ(test, amd_pe_nb_constraint(node.cpuc[0], 0, event),
			    &node.nb->event_constraints[0]);
}

static void node_is_not_asked(struct kunit *test)
{
	struct two_cores node = make_node(test);
	struct perf_event *core = make_event(test, 0x76), *shared = make_event(test, 0xe0);
	int i;

	KUNIT_EXPECT_PTR_EQ(test, amd_pe_nb_constraint(node.cpuc[0], 0, core), &unconstrained);
	node.nb->nb_id = -1;
	KUNIT_EXPECT_PTR_EQ(test, amd_pe_nb_constraint(node.cpuc[0], 0, shared), &unconstrained);
	node.cpuc[0]->amd_nb = NULL;
	KUNIT_EXPECT_PTR_EQ(test, amd_pe_nb_constraint(node.cpuc[0], 0, shared), &unconstrained);
	amd_pe_nb_release(node.cpuc[0], shared);
	for (i = 0; i < X86_PMC_IDX_MAX; i++)
		KUNIT_EXPECT_NULL(test, node.nb->owners[i]);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(f15h_manual),
	KUNIT_CASE(f15h_all),
	KUNIT_CASE(node_is_shared),
	KUNIT_CASE(node_remembers),
	KUNIT_CASE(node_is_not_asked),
	{ }
};

static struct kunit_suite suite = { .name = "x86_amd_constraint", .test_cases = cases };
kunit_test_suite(suite);
