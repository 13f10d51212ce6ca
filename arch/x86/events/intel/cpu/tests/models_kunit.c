// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the descriptions of all models, as the driver would expand them.
 *
 * They are discarded after boot, so the suite is one of init data and runs with the others at boot.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include <asm/cpu_device_id.h>
#include <asm/intel-family.h>

#include "../model.h"

typedef void core_fn(struct kunit *test, const struct intel_pe_model *model,
		     const struct intel_pe_core *core);

static void __init each_core(struct kunit *test, core_fn *fn)
{
	int i;

	for (i = 0; i < intel_pe_nr_models; i++) {
		const struct intel_pe_model *model = intel_pe_models[i].model;

		fn(test, model, model->core);
		if (model->small)
			fn(test, model, model->small);
		if (model->tiny)
			fn(test, model, model->tiny);
	}
	fn(test, &intel_pe_arch1, intel_pe_arch1.core);
	fn(test, &intel_pe_arch2, intel_pe_arch2.core);
	fn(test, &intel_pe_arch5, intel_pe_arch5.core);
}

static void __init each_model_once(struct kunit *test)
{
	int i, j;

	for (i = 0; i < intel_pe_nr_models; i++) {
		const struct intel_pe_model *model = intel_pe_models[i].model;

		KUNIT_EXPECT_PTR_EQ(test, intel_pe_find_model(intel_pe_models[i].vfm, 1), model);
		KUNIT_EXPECT_NOT_NULL(test, model->name);
		KUNIT_EXPECT_NOT_NULL(test, model->title);
		KUNIT_EXPECT_NOT_NULL(test, model->core);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, intel_pe_models[i].vfm, intel_pe_models[j].vfm);
	}
	KUNIT_EXPECT_PTR_EQ(test, intel_pe_find_model(0, 1), &intel_pe_arch1);
	KUNIT_EXPECT_PTR_EQ(test, intel_pe_find_model(0, 2), &intel_pe_arch2);
	KUNIT_EXPECT_PTR_EQ(test, intel_pe_find_model(0, 4), &intel_pe_arch2);
	KUNIT_EXPECT_PTR_EQ(test, intel_pe_find_model(0, 5), &intel_pe_arch5);
}

struct newest_model {
	u8 family, number;
	const char *name;
	const struct intel_pe_core *core, *small, *tiny;
};

/* The models after Linux 6.12, by their numbers. */
static void __init newest_models(struct kunit *test)
{
	static const struct newest_model line[] __initconst = {
		{ 6, 0xcc, "pantherlake_hybrid", &intel_pe_core_lnc, &intel_pe_core_dkt },
		{ 6, 0xd5, "pantherlake_hybrid", &intel_pe_core_lnc, &intel_pe_core_dkt },
		{ 6, 0xe5, "pantherlake_hybrid", &intel_pe_core_lnc, &intel_pe_core_dkt },
		{ 6, 0xdd, "darkmont" },
		{ 19, 0x01, "panthercove" },
		{ 18, 0x01, "novalake_hybrid", &intel_pe_core_cyc, &intel_pe_core_arw },
		{ 18, 0x03, "novalake_hybrid", &intel_pe_core_cyc, &intel_pe_core_arw },
		{ 6, 0xc5, "arrowlake_h_hybrid", &intel_pe_core_lnc_arl, &intel_pe_core_skt,
		  &intel_pe_core_cmt },
	};
	const struct intel_pe_model *model;
	int i;

	for (i = 0; i < ARRAY_SIZE(line); i++) {
		model = intel_pe_find_model(IFM(line[i].family, line[i].number), 5);
		KUNIT_ASSERT_NOT_NULL_MSG(test, model, "line %d", i);
		KUNIT_EXPECT_STREQ(test, model->name, line[i].name);
		if (line[i].core)
			KUNIT_EXPECT_PTR_EQ(test, model->core, line[i].core);
		KUNIT_EXPECT_PTR_EQ(test, model->small, line[i].small);
		KUNIT_EXPECT_PTR_EQ(test, model->tiny, line[i].tiny);
	}
}

static struct event_constraint * __init first_match(struct event_constraint *table, u64 config)
{
	while (!constraint_match(table, config))	/* the end matches all */
		table++;
	return table;
}

/*
 * Every row must be the first for some config, so that none is hidden by those before it: for one
 * of its codes, maybe with a umask or a filter that it does not care about.
 */
static bool __init is_reachable(struct event_constraint *table, struct event_constraint *c)
{
	static const u64 more[] = { 0, 0x5500, 1 << 24 };
	u64 code;
	int i;

	for (code = c->code; code <= c->code + c->size; code++) {
		for (i = 0; i < ARRAY_SIZE(more); i++) {
			if (first_match(table, code | (more[i] & ~c->cmask)) == c)
				return true;
		}
	}
	return false;
}

#define GENERAL		GENMASK_ULL(9, 0)
#define FIXED_ONES	(GENMASK_ULL(15, 0) << INTEL_PMC_IDX_FIXED)
#define METRIC_ONES	(GENMASK_ULL(7, 0) << INTEL_PMC_IDX_METRIC_BASE)

static void __init check_rules(struct kunit *test, const struct intel_pe_model *model,
			       const struct intel_pe_core *core)
{
	struct event_constraint *c, *table;

	if (!core->rules)
		return;
	table = intel_pe_expand_rules(core->rules);
	KUNIT_ASSERT_NOT_NULL(test, table);
	for (c = table; c->weight != -1; c++) {
		/* on one counter at least, so alone it can be scheduled */
		KUNIT_EXPECT_GT_MSG(test, c->weight, 0, "%s %llx", model->name, c->code);
		KUNIT_EXPECT_EQ(test, c->weight, hweight64(c->idxmsk64));
		KUNIT_EXPECT_EQ_MSG(test, c->idxmsk64 & ~(GENERAL | FIXED_ONES | METRIC_ONES), 0,
				    "%s %llx", model->name, c->code);
		KUNIT_EXPECT_EQ_MSG(test, c->code & ~c->cmask, 0, "%s %llx", model->name, c->code);
		KUNIT_EXPECT_TRUE_MSG(test, is_reachable(table, c), "%s %llx", model->name,
				      c->code);
	}
	kfree(table);
}

static void __init rules(struct kunit *test)
{
	each_core(test, check_rules);
}

/* Slots and as many metrics as the model says, or none of them. */
static void __init check_metrics(struct kunit *test, const struct intel_pe_model *model,
				 const struct intel_pe_core *core)
{
	struct event_constraint *c, *table = intel_pe_expand_rules(core->rules);
	u64 want = 0, have = 0;

	KUNIT_ASSERT_NOT_NULL(test, table);
	if (core == model->core && model->metrics)
		want = INTEL_PMC_MSK_FIXED_SLOTS |
		       (BIT_ULL(model->metrics) - 1) << INTEL_PMC_IDX_METRIC_BASE;
	/* of an unknown model it is not known what its fourth fixed counter counts */
	else if (model == &intel_pe_arch5)
		want = INTEL_PMC_MSK_FIXED_SLOTS;
	for (c = table; c->weight != -1; c++)
		have |= c->idxmsk64 & INTEL_PMC_MSK_TOPDOWN;
	KUNIT_EXPECT_EQ_MSG(test, have, want, "%s", model->name);
	kfree(table);
}

static void __init metrics(struct kunit *test)
{
	each_core(test, check_metrics);
}

struct precise_event {
	const struct intel_pe_core *core;
	u64 code, counters;
};

/* Counters for precise events, by core. A load's latency is MEM_UOPS_RETIRED.LOAD_LATENCY_GT_*. */
static void __init precise_events(struct kunit *test)
{
	static const struct precise_event line[] __initconst = {
		{ &intel_pe_core_grt, 0x05d0, 0x3 }, { &intel_pe_core_grt, 0x06d0, 0x3f },
		{ &intel_pe_core_cmt, 0x05d0, 0x3 }, { &intel_pe_core_cmt, 0x06d0, 0xff },
		{ &intel_pe_core_skt, 0x05d0, 0x3 }, { &intel_pe_core_skt, 0x06d0, 0xff },
		{ &intel_pe_core_dkt, 0x05d0, 0xff }, { &intel_pe_core_dkt, 0x06d0, 0xff },
		{ &intel_pe_core_arw, 0x05d0, 0xff }, { &intel_pe_core_arw, 0x06d0, 0xff },
		{ &intel_pe_core_cyc, 0x01cd, 0xfc }, { &intel_pe_core_cyc, 0x02cd, 0x3 },
		{ &intel_pe_core_cyc, 0x01d6, 0xf }, { &intel_pe_core_cyc, 0x81d0, 0xf },
		{ &intel_pe_core_lnc, 0x01cd, 0x3fc }, { &intel_pe_core_lnc, 0x02cd, 0x3 },
	};
	struct event_constraint *c;
	int i;

	for (i = 0; i < ARRAY_SIZE(line); i++) {
		c = first_match(line[i].core->pebs, line[i].code);
		KUNIT_EXPECT_NE_MSG(test, c->weight, -1, "line %d", i);
		KUNIT_EXPECT_EQ_MSG(test, c->idxmsk64, line[i].counters, "line %d", i);
	}
}

#define FIXED_ONE(n)	BIT_ULL(INTEL_PMC_IDX_FIXED + (n))

/* Counters that an event may have, of eight general ones and @fixed; ~0: no row says anything. */
static u64 __init counters_of(struct kunit *test, const struct intel_pe_core *core, u64 fixed,
			      u64 config)
{
	struct event_constraint *c, *table = intel_pe_expand_rules(core->rules);
	u64 general = 0xff, counters;

	KUNIT_ASSERT_NOT_NULL(test, table);
	intel_pe_clip_constraints(table, general, fixed, general | fixed << INTEL_PMC_IDX_FIXED);
	c = first_match(table, config);
	counters = c->weight == -1 ? ~0ULL : c->idxmsk64;
	kfree(table);
	return counters;
}

/*
 * Codes 0x0100, 0x0200 ... stand for fixed counters (CPU_CLK_UNHALTED.THREAD is event 0, umask 2).
 * No general counter counts them: on one of those they would be 0 forever.  Where the fixed counter
 * is not there they have no counter at all, and cannot be opened.
 */
static void __init check_fixed(struct kunit *test, const struct intel_pe_model *model,
			       const struct intel_pe_core *core)
{
	const bool small = core != model->core || !model->metrics;
	const bool has_topdown = counters_of(test, core, 0x7f, 0x0073) == (FIXED_ONE(4) | 0xff);
	int i;

	/* the first that has these codes is Ice Lake; of unknown models there is no more to tell */
	if (counters_of(test, core, 0x7f, 0x0100) == ~0ULL || model == &intel_pe_arch5)
		return;
	for (i = 0; i < 7; i++) {
		u64 want = FIXED_ONE(i), code = (i + 1) << 8;

		if ((i == 3 && small) || (i > 3 && !has_topdown))
			want = ~0ULL;
		KUNIT_EXPECT_EQ_MSG(test, counters_of(test, core, 0x7f, code), want, "%s %llx",
				    model->name, code);
		if (want != ~0ULL && i != 3)
			KUNIT_EXPECT_EQ_MSG(test, counters_of(test, core, 0x78 & ~BIT(i), code), 0,
					    "%s %llx", model->name, code);
		/* with a filter it is another event */
		KUNIT_EXPECT_EQ(test, counters_of(test, core, 0x7f, code | 1 << 24), ~0ULL);
	}
}

static void __init fixed_counters(struct kunit *test)
{
	each_core(test, check_fixed);
	KUNIT_EXPECT_EQ(test, counters_of(test, &intel_pe_core_grt, 0x7, 0x0100), FIXED_ONE(0));
	KUNIT_EXPECT_EQ(test, counters_of(test, &intel_pe_core_glc, 0xf, 0x0100), FIXED_ONE(0));
	/* codes of general counters, which a fixed one counts, too */
	KUNIT_EXPECT_EQ(test, counters_of(test, &intel_pe_core_skt, 0x77, 0x0073),
			FIXED_ONE(4) | 0xff);
	KUNIT_EXPECT_EQ(test, counters_of(test, &intel_pe_core_skt, 0x7, 0x0073), 0xff);
}

#define OMR_ONES	GENMASK(EXTRA_REG_OMR_3, EXTRA_REG_OMR_0)

/* Every register is known; both of a pair are there or the first, or all four; no code twice. */
static void __init check_extra(struct kunit *test, const struct intel_pe_model *model,
			       const struct intel_pe_core *core)
{
	struct extra_reg *table, *er, *other;
	u32 regs = 0;

	if (!core->extra)
		return;
	table = intel_pe_expand_extra(core->extra);
	KUNIT_ASSERT_NOT_NULL(test, table);
	for (er = table; er->msr; er++) {
		regs |= BIT(er->idx);
		KUNIT_EXPECT_NE(test, er->valid_mask, 0);
		KUNIT_EXPECT_EQ(test, er->event & ~er->config_mask, 0);
		for (other = table; other < er; other++)
			KUNIT_EXPECT_NE_MSG(test, er->event, other->event, "%s", model->name);
	}
	KUNIT_EXPECT_EQ_MSG(test, er->event, 0, "%s: a row without a register", model->name);
	if (regs & OMR_ONES) {
		KUNIT_EXPECT_EQ_MSG(test, regs & OMR_ONES, OMR_ONES, "%s", model->name);
		KUNIT_EXPECT_FALSE(test, regs & BIT(EXTRA_REG_RSP_0));
	} else {
		KUNIT_EXPECT_TRUE(test, regs & BIT(EXTRA_REG_RSP_0));
	}
	KUNIT_EXPECT_EQ_MSG(test, !!(regs & BIT(EXTRA_REG_RSP_1)),
			    !!(model->flags & PMU_FL_HAS_RSP_1), "%s", model->name);
	kfree(table);
}

static void __init extra_registers(struct kunit *test)
{
	each_core(test, check_extra);
}

/* An event of this code with a value of its own for the register. */
static struct perf_event * __init responses(struct kunit *test, u64 code, u64 value)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct extra_reg *er;

	KUNIT_ASSERT_NOT_NULL(test, event);
	for (er = x86_pmu.extra_regs; er->event != code;)
		er++;
	event->hw.config = code | ARCH_PERFMON_EVENTSEL_USR;
	event->hw.extra_reg = (struct hw_perf_event_extra){ .config = value, .reg = er->msr,
							    .idx = er->idx };
	event->hw.branch_reg.idx = EXTRA_REG_NONE;
	return event;
}

/*
 * Events with different values get different registers of the set while there are some, and the
 * codes of those; one more must wait until one is given back; an equal value shares.
 */
static void __init check_alike(struct kunit *test, struct cpu_hw_events *cpuc, const u16 *codes,
			       int n)
{
	struct perf_event *event[6], *equal = responses(test, codes[0], 1);
	int i;

	for (i = 0; i <= n; i++) {
		event[i] = responses(test, codes[0], i + 1);
		KUNIT_EXPECT_EQ(test, intel_pe_get_extra_regs(cpuc, event[i]), i < n);
		if (i < n)
			KUNIT_EXPECT_EQ(test, event[i]->hw.config,
					codes[i] | ARCH_PERFMON_EVENTSEL_USR);
	}
	intel_pe_put_extra_regs(cpuc, event[1]);
	KUNIT_EXPECT_TRUE(test, intel_pe_get_extra_regs(cpuc, event[n]));
	KUNIT_EXPECT_EQ(test, event[n]->hw.config, codes[1] | ARCH_PERFMON_EVENTSEL_USR);
	KUNIT_EXPECT_EQ(test, event[n]->hw.extra_reg.reg, event[1]->hw.extra_reg.reg);
	KUNIT_EXPECT_TRUE(test, intel_pe_get_extra_regs(cpuc, equal));
	KUNIT_EXPECT_EQ(test, equal->hw.extra_reg.reg, event[0]->hw.extra_reg.reg);
}

static void __init registers_alike(struct kunit *test)
{
	static const u16 ocr[] __initconst = { 0x012a, 0x012b };
	static const u16 omr[] __initconst = { 0x01b7, 0x02b7, 0x04b7, 0x08b7 };
	struct cpu_hw_events *cpuc = kunit_kzalloc(test, sizeof(*cpuc), GFP_KERNEL);
	struct intel_shared_regs *regs = kunit_kcalloc(test, 2, sizeof(*regs), GFP_KERNEL);
	const struct intel_pe_core *core[] = { &intel_pe_core_glc, &intel_pe_core_arw };
	struct extra_reg *was = x86_pmu.extra_regs, *table;
	int i;

	if (is_hybrid())
		kunit_skip(test, "every PMU of a hybrid machine has its own registers");
	KUNIT_ASSERT_NOT_NULL(test, cpuc);
	KUNIT_ASSERT_NOT_NULL(test, regs);
	for (i = 0; i < EXTRA_REG_MAX; i++) {
		raw_spin_lock_init(&regs[0].regs[i].lock);
		raw_spin_lock_init(&regs[1].regs[i].lock);
	}
	for (i = 0; i < 2; i++) {
		table = intel_pe_expand_extra(core[i]->extra);
		KUNIT_ASSERT_NOT_NULL(test, table);
		cpuc->shared_regs = &regs[i];
		x86_pmu.extra_regs = table;
		check_alike(test, cpuc, i ? omr : ocr, i ? 4 : 2);
		x86_pmu.extra_regs = was;
		kfree(table);
	}
}

static bool __init needs_offcore(const struct intel_pe_core *core, u64 code)
{
	const struct intel_pe_extra *row;

	for (row = core->extra; row && row->code; row++) {
		if (row->code == code &&
		    (row->reg <= EXTRA_REG_RSP_1 || row->reg >= EXTRA_REG_OMR_0))
			return true;
	}
	return false;
}

static u64 __init offcore_bits(const struct intel_pe_core *core)
{
	const struct intel_pe_extra *row;

	for (row = core->extra; row->code; row++) {
		if (row->reg == EXTRA_REG_RSP_0 || row->reg == EXTRA_REG_OMR_0)
			return row->valid;
	}
	return 0;
}

/* The last row of lists for this cache and operation. */
static const struct intel_pe_cache * __init
last_row(const struct intel_pe_cache *const *lists, const struct intel_pe_cache *like)
{
	const struct intel_pe_cache *row, *found = NULL;
	int i;

	for (i = 0; i < 2; i++) {
		for (row = lists[i]; row && (row->access || row->miss); row++) {
			if (row->cache == like->cache && row->op == like->op)
				found = row;
		}
	}
	return found;
}

/*
 * These share their table with others whose register has more bits: what needs those is refused
 * when it is opened, as by Linux 6.12.
 */
static bool __init has_events_for_servers(const struct intel_pe_model *model)
{
	return !strcmp(model->name, "sandybridge") || !strcmp(model->name, "ivybridge") ||
	       !strcmp(model->name, "knights-landing");
}

/* An event of offcore responses has a value for its register, of bits that it has; others none. */
static void __init check_offcore(struct kunit *test, const struct intel_pe_model *model,
				 const struct intel_pe_core *core, u64 code, u64 value)
{
	if (!needs_offcore(core, code)) {
		KUNIT_EXPECT_EQ_MSG(test, value, 0, "%s %llx", model->name, code);
		return;
	}
	KUNIT_EXPECT_NE_MSG(test, value, 0, "%s %llx", model->name, code);
	if (!has_events_for_servers(model))
		KUNIT_EXPECT_EQ_MSG(test, value & ~offcore_bits(core), 0, "%s %llx", model->name,
				    value);
}

static void __init check_cache(struct kunit *test, const struct intel_pe_model *model,
			       const struct intel_pe_core *core)
{
	static const struct intel_pe_cache nothing;
	const struct intel_pe_cache *row, *value;
	int i;

	for (i = 0; i < ARRAY_SIZE(core->cache); i++) {
		for (row = core->cache[i]; row && (row->access || row->miss); row++) {
			KUNIT_ASSERT_LT(test, row->cache, PERF_COUNT_HW_CACHE_MAX);
			KUNIT_ASSERT_LT(test, row->op, PERF_COUNT_HW_CACHE_OP_MAX);
			if (last_row(core->cache, row) != row)
				continue;
			value = last_row(core->offcore, row) ?: &nothing;
			check_offcore(test, model, core, row->access, value->access);
			check_offcore(test, model, core, row->miss, value->miss);
		}
	}
}

static void __init cache_events(struct kunit *test)
{
	each_core(test, check_cache);
}

static struct kunit_case cases[] __refdata = {
	KUNIT_CASE(each_model_once),
	KUNIT_CASE(newest_models),
	KUNIT_CASE(rules),
	KUNIT_CASE(metrics),
	KUNIT_CASE(precise_events),
	KUNIT_CASE(fixed_counters),
	KUNIT_CASE(extra_registers),
	KUNIT_CASE(registers_alike),
	KUNIT_CASE(cache_events),
	{}
};

static struct kunit_suite suite = {
	.name		= "perf_x86_intel_models",
	.test_cases	= cases,
};

kunit_test_init_section_suites(&suite);
