// SPDX-License-Identifier: GPL-2.0
/*
 * The tables that the driver works with: made of the rows of a model's description, and cut down to
 * what there is - counters to those the driver has room for, constraints to the counters, further
 * registers to those that work.
 *
 * At boot; for hybrid PMUs cut down when their first CPU comes up.  Nothing counts yet.  The rows
 * are discarded after boot; what is made of them stays for good.  Making tables does not depend on
 * the CPU that this is, so KUnit can do it for every model.
 */
#include <linux/bits.h>
#include <linux/slab.h>

#include "model.h"

/* ------------------------------------------------------------ from rows to tables */

typedef u64 cache_table[PERF_COUNT_HW_CACHE_MAX][PERF_COUNT_HW_CACHE_OP_MAX]
		       [PERF_COUNT_HW_CACHE_RESULT_MAX];

/* Nobody writes to code, and what is fetched ahead is not looked up or predicted. */
static bool makes_sense(int cache, int op)
{
	switch (cache) {
	case PERF_COUNT_HW_CACHE_L1I:
		return op != PERF_COUNT_HW_CACHE_OP_WRITE;
	case PERF_COUNT_HW_CACHE_ITLB:
	case PERF_COUNT_HW_CACHE_BPU:
		return op == PERF_COUNT_HW_CACHE_OP_READ;
	}
	return true;
}

static void __init clear_cache(cache_table table)
{
	int cache, op;

	for (cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++) {
		for (op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++) {
			u64 code = makes_sense(cache, op) ? 0 : NONSENSE;

			table[cache][op][PERF_COUNT_HW_CACHE_RESULT_ACCESS] = code;
			table[cache][op][PERF_COUNT_HW_CACHE_RESULT_MISS] = code;
		}
	}
}

static void __init fill_cache(cache_table table, const struct intel_pe_cache *row)
{
	for (; row && (row->access || row->miss); row++) {
		u64 *to = table[row->cache][row->op];

		to[PERF_COUNT_HW_CACHE_RESULT_ACCESS] = row->access;
		to[PERF_COUNT_HW_CACHE_RESULT_MISS] = row->miss;
	}
}

static struct event_constraint __init one_constraint(const struct intel_pe_rule *rule, int i)
{
	u64 code = rule->codes[i], counters = rule->counters, match = INTEL_ARCH_EVENT_MASK;
	struct event_constraint c = { .code = code };

	switch (rule->kind) {
	case RULE_FIXED:
		match = FIXED_EVENT_FLAGS;
		break;
	case RULE_EXCL:
		c.flags = PERF_X86_EVENT_EXCL;
		fallthrough;
	case RULE_EVENT:
		match = ARCH_PERFMON_EVENTSEL_EVENT;
		break;
	case RULE_SPAN:
		match = ARCH_PERFMON_EVENTSEL_EVENT;
		c.size = rule->codes[1] - code;
		break;
	case RULE_BIT:
		match = ARCH_PERFMON_EVENTSEL_EVENT | code;
		break;
	case RULE_METRIC:
		c.code = INTEL_TD_METRIC_RETIRING + (i << 8);
		counters = BIT_ULL(INTEL_PMC_IDX_METRIC_BASE + i);
		break;
	}
	c.cmask = match;
	c.idxmsk64 = counters;
	c.weight = hweight64(counters);
	return c;
}

/* How many constraints a row is. */
static int __init constraints_of(const struct intel_pe_rule *rule)
{
	int n = 0;

	if (rule->kind == RULE_METRIC)
		return rule->counters;
	if (rule->kind == RULE_SPAN)
		return 1;
	while (n < ARRAY_SIZE(rule->codes) && rule->codes[n])
		n++;
	return n;
}

/**
 * intel_pe_expand_rules - make a table of constraints
 * @rules: rows
 *
 * Return: the table, for good; NULL: no memory.
 */
struct event_constraint * __init intel_pe_expand_rules(const struct intel_pe_rule *rules)
{
	const struct intel_pe_rule *rule;
	struct event_constraint *table, *c;
	int i, n = 1;

	for (rule = rules; rule->kind != RULE_END; rule++)
		n += constraints_of(rule);
	table = kcalloc(n, sizeof(*table), GFP_KERNEL);
	if (!table)
		return NULL;

	c = table;
	for (rule = rules; rule->kind != RULE_END; rule++) {
		n = constraints_of(rule);
		for (i = 0; i < n; i++)
			*c++ = one_constraint(rule, i);
	}
	c->weight = -1;
	return table;
}

/* The first of four, which asm/msr-index.h of Linux 6.12 does not have. */
#define INTEL_PE_MSR_OMR_0	0x3e0

static const u32 extra_msr[EXTRA_REG_MAX] __initconst = {
	[EXTRA_REG_RSP_0]	= MSR_OFFCORE_RSP_0,
	[EXTRA_REG_RSP_1]	= MSR_OFFCORE_RSP_1,
	[EXTRA_REG_LDLAT]	= MSR_PEBS_LD_LAT_THRESHOLD,
	[EXTRA_REG_FE]		= MSR_PEBS_FRONTEND,
	[EXTRA_REG_SNOOP_0]	= MSR_SNOOP_RSP_0,
	[EXTRA_REG_SNOOP_1]	= MSR_SNOOP_RSP_1,
	[EXTRA_REG_OMR_0]	= INTEL_PE_MSR_OMR_0,
	[EXTRA_REG_OMR_0 + 1]	= INTEL_PE_MSR_OMR_0 + 1,
	[EXTRA_REG_OMR_0 + 2]	= INTEL_PE_MSR_OMR_0 + 2,
	[EXTRA_REG_OMR_3]	= INTEL_PE_MSR_OMR_0 + 3,
};

/**
 * intel_pe_expand_extra - make a table of further registers
 * @rows: rows
 *
 * Return: the table, for good; NULL: no memory.
 */
struct extra_reg * __init intel_pe_expand_extra(const struct intel_pe_extra *rows)
{
	struct extra_reg *table;
	int i, n = 0;

	while (rows[n].code)
		n++;
	table = kcalloc(n + 1, sizeof(*table), GFP_KERNEL);
	for (i = 0; table && i < n; i++) {
		table[i] = (struct extra_reg) {
			.event = rows[i].code,
			.msr = extra_msr[rows[i].reg],
			.config_mask = INTEL_ARCH_EVENT_MASK,
			.valid_mask = rows[i].valid,
			.idx = rows[i].reg,
			.extra_msr_access = true,
		};
	}
	return table;
}

/**
 * intel_pe_load_core - have a PMU's tables be those of a kind of core
 * @core: kind of core
 * @pmu: one of hybrid PMUs, or NULL
 */
int __init intel_pe_load_core(const struct intel_pe_core *core, struct pmu *pmu)
{
	int i;

	if (core->cache[0])
		clear_cache(hybrid_var(pmu, hw_cache_event_ids));
	for (i = 0; i < ARRAY_SIZE(core->cache); i++)
		fill_cache(hybrid_var(pmu, hw_cache_event_ids), core->cache[i]);
	for (i = 0; i < ARRAY_SIZE(core->offcore); i++)
		fill_cache(hybrid_var(pmu, hw_cache_extra_regs), core->offcore[i]);

	hybrid(pmu, pebs_constraints) = core->pebs;
	if (core->rules) {
		hybrid(pmu, event_constraints) = intel_pe_expand_rules(core->rules);
		if (!hybrid(pmu, event_constraints))
			return -ENOMEM;
	}
	if (core->extra) {
		hybrid(pmu, extra_regs) = intel_pe_expand_extra(core->extra);
		if (!hybrid(pmu, extra_regs))
			return -ENOMEM;
	}
	return 0;
}

/* ------------------------------------------------------------ what there is */

/** intel_pe_config_bits - those of attr.config that this CPU knows */
u64 intel_pe_config_bits(void)
{
	u64 bits = X86_RAW_EVENT_MASK;
	union cpuid35_ebx fields;

	if (!this_cpu_has(X86_FEATURE_ARCH_PERFMON_EXT))
		return bits;
	fields.full = cpuid_ebx(ARCH_PERFMON_EXT_LEAF);
	if (fields.split.umask2)
		bits |= ARCH_PERFMON_EVENTSEL_UMASK2;
	if (fields.split.eq)
		bits |= ARCH_PERFMON_EVENTSEL_EQ;
	return bits;
}

/**
 * intel_pe_enumerate_counters - which counters there are, with gaps, where leaf 23H says it
 * @general: mask, as leaf 10 has it
 * @fixed: likewise
 */
void intel_pe_enumerate_counters(u64 *general, u64 *fixed)
{
	union cpuid35_eax leaves;
	u32 has, has_fixed, unused;

	if (!this_cpu_has(X86_FEATURE_ARCH_PERFMON_EXT))
		return;
	leaves.full = cpuid_eax(ARCH_PERFMON_EXT_LEAF);
	if (!leaves.split.cntr_subleaf)
		return;
	cpuid_count(ARCH_PERFMON_EXT_LEAF, ARCH_PERFMON_NUM_COUNTER_LEAF, &has, &has_fixed,
		    &unused, &unused);
	if (!has)
		return;
	*general = has;
	*fixed = has_fixed;
}

/**
 * intel_pe_enumerate_acr - which counters can reload one another, where leaf 23H says it
 * @reloaded: those that are reloaded
 * @causes: those whose overflow does it
 * @counters: those there are
 *
 * The registers are those of version 6.
 */
void intel_pe_enumerate_acr(u64 *reloaded, u64 *causes, u64 counters)
{
	union cpuid35_eax leaves;
	u32 to, to_fixed, from, from_fixed;

	if (x86_pmu.version < 6 || !this_cpu_has(X86_FEATURE_ARCH_PERFMON_EXT))
		return;
	leaves.full = cpuid_eax(ARCH_PERFMON_EXT_LEAF);
	if (!leaves.split.acr_subleaf)
		return;
	cpuid_count(ARCH_PERFMON_EXT_LEAF, INTEL_PE_ACR_LEAF, &to, &to_fixed, &from, &from_fixed);
	*reloaded = (to | (u64)to_fixed << INTEL_PMC_IDX_FIXED) & counters;
	*causes = (from | (u64)from_fixed << INTEL_PMC_IDX_FIXED) & counters;
}

static u64 clip(u64 mask, int most, const char *what)
{
	if (!WARN(fls64(mask) > most, "hw perf events %s%d > max(%d), clipping!", what,
		  fls64(mask), most))
		return mask;
	return mask & GENMASK_ULL(most - 1, 0);
}

/**
 * intel_pe_clip_counters - no more counters than the driver has room for
 * @general: mask
 * @fixed: mask
 * @ctrl: what global control has to be to let them all go
 */
void intel_pe_clip_counters(u64 *general, u64 *fixed, u64 *ctrl)
{
	*general = clip(*general, INTEL_PMC_MAX_GENERIC, "");
	*fixed = clip(*fixed, INTEL_PMC_MAX_FIXED, "fixed ");
	*ctrl = *general | *fixed << INTEL_PMC_IDX_FIXED;
}

/*
 * A fixed counter counts what general ones count, too, if its code is a real one.  Slots and
 * metrics are there together or not at all.
 */
static u64 counters_of(struct event_constraint *c, u64 general, u64 fixed, u64 ctrl)
{
	u64 mask = c->idxmsk64;

	if (mask & INTEL_PMC_MSK_TOPDOWN)
		return ctrl & INTEL_PMC_MSK_FIXED_SLOTS ? mask : 0;
	if (c->cmask == FIXED_EVENT_FLAGS) {
		mask &= ctrl;
		if (!use_fixed_pseudo_encoding(c->code))
			mask |= general;
	}
	return mask & (general | fixed << INTEL_PMC_IDX_FIXED);
}

/**
 * intel_pe_clip_constraints - only counters that exist
 * @c: table of constraints, or NULL
 * @general: mask of counters
 * @fixed: mask
 * @ctrl: mask of both
 */
void intel_pe_clip_constraints(struct event_constraint *c, u64 general, u64 fixed, u64 ctrl)
{
	for (; c && c->weight != -1; c++) {
		c->idxmsk64 = counters_of(c, general, fixed, ctrl);
		c->weight = hweight64(c->idxmsk64);
	}
}

static bool is_branch_source(u32 msr)
{
	return msr - x86_pmu.lbr_from < x86_pmu.lbr_nr;
}

/* What has to be written so that @value is read back: branch addresses may need another sign. */
static u64 as_written(u32 msr, u64 value)
{
	return is_branch_source(msr) ? lbr_from_signext_quirk_wr(value) : value;
}

/**
 * intel_pe_msr_works - does the register keep what is written to it?
 * @msr: register
 * @mask: bits that can be written
 *
 * Some hypervisors fault, some swallow it.  Real hardware is not asked, it may be in use.
 */
bool intel_pe_msr_works(u32 msr, u64 mask)
{
	u64 before, flipped, after;

	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR))
		return true;
	if (rdmsrl_safe(msr, &before))
		return false;
	flipped = as_written(msr, before ^ mask);
	if (wrmsrl_safe(msr, flipped) || rdmsrl_safe(msr, &after) || after != flipped)
		return false;
	wrmsrl(msr, as_written(msr, before));
	return true;
}

/**
 * intel_pe_probe_extra_regs - find out which of these can be used
 * @er: table of registers, or NULL
 */
void intel_pe_probe_extra_regs(struct extra_reg *er)
{
	for (; er && er->msr; er++) {
		er->extra_msr_access = intel_pe_msr_works(er->msr, 0x11);
		if (er->idx == EXTRA_REG_LBR && !er->extra_msr_access)
			x86_pmu.lbr_sel_map = NULL;
	}
}
