// SPDX-License-Identifier: GPL-2.0
/*
 * Last branch records: attr.branch_sample_type as filters.
 *
 * There are two.  What hardware can select is in a register, by a map of the generation, and not
 * all of it can be had there.  What is left over is dropped when the records have been read, by
 * the kind of branch that the record tells, or the instruction.
 *
 * intel_pmu_setup_lbr_filter() runs in task context when an event is opened; the rest when records
 * are read, in the PMI's NMI or with interrupts off.
 */
#include <linux/perf_event.h>

#include "lbr.h"

#define BR(type)	PERF_SAMPLE_BRANCH_##type
#define AT(type)	PERF_SAMPLE_BRANCH_##type##_SHIFT

/* What the second filter lets through, for each bit of branch_sample_type. */
static const u32 kinds[PERF_SAMPLE_BRANCH_MAX_SHIFT] = {
	[AT(USER)]		= X86_BR_USER,
	[AT(KERNEL)]		= X86_BR_KERNEL,
	[AT(ANY)]		= X86_BR_ANY,
	[AT(ANY_CALL)]		= X86_BR_ANY_CALL,
	[AT(ANY_RETURN)]	= X86_BR_RET | X86_BR_IRET | X86_BR_SYSRET,
	[AT(IND_CALL)]		= X86_BR_IND_CALL,
	[AT(ABORT_TX)]		= X86_BR_ABORT,
	[AT(IN_TX)]		= X86_BR_IN_TX,
	[AT(NO_TX)]		= X86_BR_NO_TX,
	[AT(COND)]		= X86_BR_JCC,
	[AT(CALL_STACK)]	= X86_BR_CALL | X86_BR_IND_CALL | X86_BR_RET | X86_BR_CALL_STACK,
	[AT(IND_JUMP)]		= X86_BR_IND_JMP,
	[AT(CALL)]		= X86_BR_CALL | X86_BR_ZERO_CALL,
	[AT(TYPE_SAVE)]		= X86_BR_TYPE_SAVE,
};

/* A call stack is not mixed with these. */
#define NO_STACK	(BR(ANY) | BR(ANY_CALL) | BR(ANY_RETURN) | BR(IND_CALL) | BR(ABORT_TX) | \
			 BR(IN_TX) | BR(NO_TX) | BR(COND))

/**
 * intel_pe_branch_kinds - what shall the second filter let through?
 * @branch_sample_type: as in struct perf_event_attr
 *
 * Return: X86_BR_* bits.
 */
u32 intel_pe_branch_kinds(u64 branch_sample_type)
{
	u32 all = 0;
	int i;

	for (i = 0; i < PERF_SAMPLE_BRANCH_MAX_SHIFT; i++)
		all |= branch_sample_type >> i & 1 ? kinds[i] : 0;
	return all;
}

static int select_in_hardware(struct perf_event *event)
{
	struct hw_perf_event_extra *reg = &event->hw.branch_reg;
	u64 type = event->attr.branch_sample_type;
	u64 mask = 0;
	int i;

	for (i = 0; i < PERF_SAMPLE_BRANCH_MAX_SHIFT; i++) {
		if (!(type >> i & 1))
			continue;
		if (x86_pmu.lbr_sel_map[i] < 0)
			return -EOPNOTSUPP;
		mask |= x86_pmu.lbr_sel_map[i];
	}

	reg->idx = EXTRA_REG_LBR;
	if (intel_pe_arch_lbr()) {
		reg->config = mask;
		/* The records have it, no instruction need be looked at. */
		reg->reg |= X86_BR_TYPE_SAVE;
		return 0;
	}
	/* LBR_SELECT says what not to record, except for the bit of call stacks. */
	reg->config = mask ^ (x86_pmu.lbr_sel_mask & ~(u64)intel_pe_select_msr.call_stack);
	if (type & BR(NO_CYCLES) && type & BR(NO_FLAGS) && x86_pmu.lbr_has_info)
		reg->config |= INTEL_PE_NO_INFO;
	return 0;
}

/**
 * intel_pmu_setup_lbr_filter - can the branches be had that the event asks for?
 * @event: being opened; hw.branch_reg is set up
 *
 * Return: 0; -EOPNOTSUPP if this CPU cannot, -EINVAL if no CPU can.
 */
int intel_pmu_setup_lbr_filter(struct perf_event *event)
{
	u64 type = event->attr.branch_sample_type;

	if (!x86_pmu.lbr_nr)
		return -EOPNOTSUPP;
	if (type & BR(CALL_STACK)) {
		if (!x86_pmu_has_lbr_callstack())
			return -EOPNOTSUPP;
		if (type & NO_STACK)
			return -EINVAL;
	}
	event->hw.branch_reg.reg = intel_pe_branch_kinds(type);
	return x86_pmu.lbr_sel_map ? select_in_hardware(event) : 0;
}

/* Types of architectural records; from 6 on it is something else. */
static const u32 recorded_kinds[] = {
	X86_BR_JCC, X86_BR_IND_JMP, X86_BR_JMP, X86_BR_IND_CALL, X86_BR_CALL, X86_BR_RET
};

static u32 kind_of(struct perf_branch_entry *e)
{
	if (intel_pe_branch_has & INTEL_PE_BR_TYPE && e->type < ARRAY_SIZE(recorded_kinds))
		return recorded_kinds[e->type] | (kernel_ip(e->to) ? X86_BR_KERNEL : X86_BR_USER);
	return branch_type(e->from, e->to, e->abort);
}

/* What is left of the CPU's branch stack; valid while a sample is written. */
struct picked {
	struct perf_branch_stack	stack;
	struct perf_branch_entry	entries[MAX_LBR_ENTRIES];	/* of @stack */
	u64				counters[MAX_LBR_ENTRIES];
};

static DEFINE_PER_CPU(struct picked, picked);
static DEFINE_PER_CPU(struct picked, picked_in_nmi);

/* Return: its kind if @sel lets @e pass, else X86_BR_NONE. */
static u32 passes(struct perf_branch_entry *e, u32 sel)
{
	u32 kind = kind_of(e);

	if (kind != X86_BR_NONE && sel & X86_BR_ANYTX)
		kind |= e->in_tx ? X86_BR_IN_TX : X86_BR_NO_TX;
	if (kind & ~sel || (!(sel & X86_BR_KERNEL) && kernel_ip(e->from)))
		return X86_BR_NONE;
	return kind;
}

static bool all_pass(u32 sel)
{
	return (sel & X86_BR_ALL) == X86_BR_ALL && !(sel & X86_BR_TYPE_SAVE);
}

/* Return: how many there are; @counters may be NULL. */
static unsigned int pick(struct cpu_hw_events *cpuc, u32 sel, struct perf_branch_entry *to,
			 u64 *counters, unsigned int room)
{
	const unsigned int have = min_t(u64, cpuc->lbr_stack.nr, MAX_LBR_ENTRIES);
	struct perf_branch_entry *e;
	unsigned int i, nr = 0;
	u32 kind;

	for (i = 0; i < have && nr < room; i++) {
		e = &cpuc->lbr_entries[i];
		kind = passes(e, sel);
		if (kind == X86_BR_NONE)
			continue;
		to[nr] = *e;
		to[nr].type = sel & X86_BR_TYPE_SAVE ? common_branch_type(kind) : PERF_BR_UNKNOWN;
		if (counters)
			counters[nr] = cpuc->lbr_counters[i];
		nr++;
	}
	return nr;
}

/**
 * intel_pe_pick_branches - the second filter
 * @cpuc: this CPU; its branch stack has been read
 * @sel: what passes, X86_BR_* bits of the event
 *
 * What is unknown is dropped.  Without the kernel, branches from it are, too: where they come from
 * is none of user space's business.
 *
 * Interrupts off, or in the PMI.
 * Return: the branches that pass, and what was counted with them; until the next call here.
 */
struct intel_pe_branches intel_pe_pick_branches(struct cpu_hw_events *cpuc, u32 sel)
{
	struct picked *p = in_nmi() ? this_cpu_ptr(&picked_in_nmi) : this_cpu_ptr(&picked);

	if (all_pass(sel))
		return (struct intel_pe_branches){ &cpuc->lbr_stack, cpuc->lbr_counters };

	p->stack.nr = pick(cpuc, sel, p->entries, p->counters, MAX_LBR_ENTRIES);
	p->stack.hw_idx = cpuc->lbr_stack.hw_idx;
	return (struct intel_pe_branches){ &p->stack, p->counters };
}

/**
 * intel_pe_copy_branches - the same for a snapshot
 * @cpuc: this CPU; its branch stack has been read
 * @to: where to
 * @room: for how many
 *
 * Return: how many there are.
 */
unsigned int intel_pe_copy_branches(struct cpu_hw_events *cpuc, struct perf_branch_entry *to,
				    unsigned int room)
{
	if (!all_pass(cpuc->br_sel))
		return pick(cpuc, cpuc->br_sel, to, NULL, room);
	room = min_t(u64, room, cpuc->lbr_stack.nr);
	memcpy(to, cpuc->lbr_entries, room * sizeof(*to));
	return room;
}
