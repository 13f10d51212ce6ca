// SPDX-License-Identifier: GPL-2.0
/*
 * Last branch records: from registers, or the group of a PEBS record, to the branch stack of a
 * sample.
 *
 * The CPU's branch stack (cpu_hw_events.lbr_stack and lbr_entries) is the newest first, as it was
 * recorded; each event picks from it.  With it goes cpu_hw_events.lbr_counters[]: what the counters
 * counted since the branch before, two bits for each counter, in the order of counters.
 *
 * In the PMI's NMI, or with interrupts off; the records are frozen, or in memory.
 */
#include <linux/perf_event.h>

#include <asm/fpu/xstate.h>
#include <asm/msr.h>

#include "lbr.h"

/* In the from address of formats without an info word; otherwise in that word, the same bits. */
#define FLAG_MISPRED	BIT_ULL(63)
#define FLAG_IN_TX	BIT_ULL(62)
#define FLAG_ABORT	BIT_ULL(61)

static_assert(FLAG_MISPRED == LBR_INFO_MISPRED);
static_assert(FLAG_IN_TX == LBR_INFO_IN_TX && FLAG_ABORT == LBR_INFO_ABORT);

/* The counters' bits in the order of the group's events; valid while a sample is written. */
static DEFINE_PER_CPU(u64 [MAX_LBR_ENTRIES], ordered_counters);

/**
 * intel_pe_decode_branch - what does a record say?
 * @e: filled in
 * @raw: the registers; info counts only with INTEL_PE_BR_INFO
 * @has: INTEL_PE_BR_*, what the format has
 *
 * The address of a format with flags in it has fewer bits: its sign is extended.
 * Return: has this branch been a transaction's abort?
 */
bool intel_pe_decode_branch(struct perf_branch_entry *e, struct lbr_entry raw, unsigned int has)
{
	const u64 flags = has & INTEL_PE_BR_INFO ? raw.info : raw.from;

	perf_clear_branch_entry_bitfields(e);
	if (has & INTEL_PE_BR_MISPRED)
		e->mispred = !!(flags & FLAG_MISPRED);
	e->predicted = has & (INTEL_PE_BR_MISPRED | INTEL_PE_BR_INFO) && !e->mispred;
	if (has & INTEL_PE_BR_TSX) {
		e->in_tx = !!(flags & FLAG_IN_TX);
		e->abort = !!(flags & FLAG_ABORT);
	}

	if (has & INTEL_PE_BR_INFO) {
		if (has & INTEL_PE_BR_CYCLES &&
		    (!(has & INTEL_PE_BR_VALID) || raw.info & LBR_INFO_CYC_CNT_VALID))
			e->cycles = raw.info & LBR_INFO_CYCLES;
		if (has & INTEL_PE_BR_TYPE)
			e->type = (raw.info & LBR_INFO_BR_TYPE) >> LBR_INFO_BR_TYPE_OFFSET;
	} else {
		if (has & INTEL_PE_BR_CYCLES) {
			e->cycles = raw.to >> 48;
			raw.to = sign_extend64(raw.to, 47);
		}
		if (has & INTEL_PE_BR_TSX)
			raw.from = sign_extend64(raw.from, 60);
		else if (has & INTEL_PE_BR_MISPRED)
			raw.from = sign_extend64(raw.from, 62);
	}
	e->from = raw.from;
	e->to = raw.to;
	return e->abort;
}

/* ------------------------------------------------------------ rings */

/**
 * intel_pmu_lbr_read_32 - read them, from and to being halves of one register
 * @cpuc: this CPU
 */
void intel_pmu_lbr_read_32(struct cpu_hw_events *cpuc)
{
	u64 both, tos = intel_pe_tos();
	struct perf_branch_entry *e;
	int n;

	for (n = 0; n < x86_pmu.lbr_nr; n++) {
		rdmsrl(x86_pmu.lbr_from + intel_pe_slot(tos, n), both);
		e = &cpuc->lbr_entries[n];
		perf_clear_branch_entry_bitfields(e);
		e->from = lower_32_bits(both);
		e->to = upper_32_bits(both);
	}
	cpuc->lbr_stack.nr = n;
	cpuc->lbr_stack.hw_idx = tos;
}

/**
 * intel_pmu_lbr_read_64 - read them
 * @cpuc: this CPU
 *
 * A call stack ends where there is no branch.  Haswell has aborts twice, the second time without a
 * flag and the newer of the two: that one is overwritten, if it is there.
 */
void intel_pmu_lbr_read_64(struct cpu_hw_events *cpuc)
{
	const u64 config = cpuc->lbr_sel ? cpuc->lbr_sel->config : INTEL_PE_NO_INFO;
	const bool stack = cpuc->lbr_sel && intel_pe_keeps_stack(config);
	unsigned int slot, has = intel_pe_branch_has;
	u64 tos = intel_pe_tos();
	struct lbr_entry raw = {};
	int n, nr = 0;

	if (has & INTEL_PE_BR_INFO && config & INTEL_PE_NO_INFO)
		has = 0;
	for (n = 0; n < x86_pmu.lbr_nr; n++) {
		slot = intel_pe_slot(tos, n);
		raw.from = intel_pe_branch_from(slot);
		rdmsrl(x86_pmu.lbr_to + slot, raw.to);
		if (stack && !raw.from)
			break;
		if (has & INTEL_PE_BR_INFO)
			rdmsrl(x86_pmu.lbr_info + slot, raw.info);

		if (intel_pe_decode_branch(&cpuc->lbr_entries[nr], raw, has) &&
		    x86_pmu.lbr_double_abort && nr > 0) {
			cpuc->lbr_entries[nr - 1] = cpuc->lbr_entries[nr];
			continue;
		}
		nr++;
	}
	cpuc->lbr_stack.nr = nr;
	cpuc->lbr_stack.hw_idx = tos;
}

/* ------------------------------------------------------------ newest first */

static void take(struct cpu_hw_events *cpuc, int n, struct lbr_entry raw)
{
	intel_pe_decode_branch(&cpuc->lbr_entries[n], raw, intel_pe_branch_has);
	cpuc->lbr_counters[n] = raw.info >> LBR_INFO_BR_CNTR_OFFSET & LBR_INFO_BR_CNTR_FULL_MASK;
}

static void take_all(struct cpu_hw_events *cpuc, const struct lbr_entry *raw, u64 hw_idx)
{
	unsigned int n;

	for (n = 0; n < x86_pmu.lbr_nr && raw[n].from; n++)
		take(cpuc, n, raw[n]);
	cpuc->lbr_stack.nr = n;
	cpuc->lbr_stack.hw_idx = hw_idx;
}

/**
 * intel_pe_arch_read - read architectural ones from their registers
 * @cpuc: this CPU
 */
void intel_pe_arch_read(struct cpu_hw_events *cpuc)
{
	struct lbr_entry raw;
	unsigned int n;

	for (n = 0; n < x86_pmu.lbr_nr; n++) {
		raw.from = intel_pe_branch_from(n);
		if (!raw.from)
			break;
		rdmsrl(x86_pmu.lbr_to + n, raw.to);
		rdmsrl(x86_pmu.lbr_info + n, raw.info);
		take(cpuc, n, raw);
	}
	cpuc->lbr_stack.nr = n;
	cpuc->lbr_stack.hw_idx = -1ULL;
}

/**
 * intel_pe_arch_read_xsave - the same in one instruction, if there was memory for it
 * @cpuc: this CPU
 */
void intel_pe_arch_read_xsave(struct cpu_hw_events *cpuc)
{
	struct x86_perf_task_context_arch_lbr_xsave *area = cpuc->lbr_xsave;

	if (!area) {
		intel_pe_arch_read(cpuc);
		return;
	}
	xsaves(&area->xsave, XFEATURE_MASK_LBR);
	take_all(cpuc, area->lbr.entries, -1ULL);
}

/**
 * intel_pmu_store_pebs_lbrs - make a PEBS record's group of branches the CPU's branch stack
 * @lbr: the group
 *
 * Where TOS was is known only if the record is the newest.
 */
void intel_pmu_store_pebs_lbrs(struct lbr_entry *lbr)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	const bool known = !intel_pe_arch_lbr() && cpuc->n_pebs != cpuc->n_large_pebs;

	take_all(cpuc, lbr, known ? intel_pe_tos() : -1ULL);
}

/* ------------------------------------------------------------ into the sample */

#define LOGS_NOTHING	31	/* a counter of which no record has bits */

/**
 * intel_pe_order_counters - what counters logged at a branch, in the order of events
 * @raw: two bits for each counter
 * @order: the counter of each event
 * @n: events
 *
 * Return: two bits for each event.
 */
u64 intel_pe_order_counters(u64 raw, const u8 *order, int n)
{
	u64 logged = 0;

	while (n--)
		logged = logged << LBR_INFO_BR_CNTR_BITS |
			 (raw >> order[n] * LBR_INFO_BR_CNTR_BITS & LBR_INFO_BR_CNTR_MASK);
	return logged;
}

/* A member on no counter that logs, or on one that is another's by now, has logged nothing. */
static u8 logged_by(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	int idx = event->hw.idx;

	if (idx < 0 || idx >= LBR_INFO_BR_CNTR_NUM ||
	    (cpuc->events[idx] && cpuc->events[idx] != event))
		return LOGS_NOTHING;
	return idx;
}

/* The members of the group whose counts are logged: their counters. */
static int logged_events(struct cpu_hw_events *cpuc, struct perf_event *leader, u8 *order)
{
	struct perf_event *sibling;
	int n = 0;

	if (branch_sample_counters(leader))
		order[n++] = logged_by(cpuc, leader);
	for_each_sibling_event(sibling, leader) {
		if (branch_sample_counters(sibling) && n < LBR_INFO_BR_CNTR_NUM)
			order[n++] = logged_by(cpuc, sibling);
	}
	return n;
}

/* An event that is counted in its group's branches shows those of the leader. */
static u32 filter_of(struct perf_event *event)
{
	if (!(event->hw.flags & PERF_X86_EVENT_NEEDS_BRANCH_STACK))
		event = event->group_leader;
	return event->hw.branch_reg.reg;
}

/**
 * intel_pmu_lbr_save_brstack - what this event wants of the CPU's branch stack, for a sample
 * @data: the sample; written before the next one is prepared
 * @cpuc: this CPU
 * @event: whose sample
 */
void intel_pmu_lbr_save_brstack(struct perf_sample_data *data, struct cpu_hw_events *cpuc,
				struct perf_event *event)
{
	struct intel_pe_branches b = intel_pe_pick_branches(cpuc, filter_of(event));
	u64 *ordered = this_cpu_ptr(ordered_counters);
	u8 order[LBR_INFO_BR_CNTR_NUM];
	int i, n;

	if (!is_branch_counters_group(event)) {
		perf_sample_save_brstack(data, event, b.stack, NULL);
		return;
	}
	n = logged_events(cpuc, event->group_leader, order);
	for (i = 0; i < b.stack->nr; i++)
		ordered[i] = intel_pe_order_counters(b.counters[i], order, n);
	perf_sample_save_brstack(data, event, b.stack, ordered);
}
