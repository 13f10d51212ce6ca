// SPDX-License-Identifier: GPL-2.0
/*
 * PEBS: one record becomes one sample.
 *
 * Formats 0 to 3 are words at fixed places; 4 and up (adaptive and architectural PEBS) are groups,
 * which ones the record itself says.  Both have registers, but no segments and so no mode: what is
 * not in the record is taken from the registers at the interrupt.  Call chains start there, too,
 * always: the stack the record was made on may be gone.
 *
 * In the PMI's NMI, or with interrupts off and the PMU off.
 */
#include <linux/perf_event.h>
#include <linux/sched/clock.h>

#include <asm/perf_event.h>
#include <asm/timer.h>

#include "pebs.h"

#define ADDRESS_TYPES	(PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE)
#define ANY_REGS	(PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER)

/* Registers in the order of a record, as offsets into struct pt_regs. */
#define R(reg)		offsetof(struct pt_regs, reg)

static const u8 word_order[8] = { R(ax), R(bx), R(cx), R(dx), R(si), R(di), R(bp), R(sp) };
static const u8 group_order[8] = { R(ax), R(cx), R(dx), R(bx), R(sp), R(bp), R(si), R(di) };

#ifdef CONFIG_X86_64
/* The other eight are the same in both. */
static const u8 upper_order[8] = { R(r8), R(r9), R(r10), R(r11), R(r12), R(r13), R(r14), R(r15) };
#else
static const u8 upper_order[0] = {};
#endif

static void copy_some(struct pt_regs *regs, const u64 *from, const u8 *order, int n)
{
	int i;

	for (i = 0; i < n; i++)
		*(unsigned long *)((void *)regs + order[i]) = from[i];
}

static void copy_regs(struct pt_regs *regs, const u64 *from, const u8 *order)
{
	copy_some(regs, from, order, 8);
	copy_some(regs, from + 8, upper_order, sizeof(upper_order));
}

/**
 * intel_pe_transaction - how a transaction ended
 * @tsx: the record's word about it; its low half are cycles
 * @ax: with the code of an XABORT
 *
 * Return: PERF_TXN_* bits.
 */
u64 intel_pe_transaction(u64 tsx, u64 ax)
{
	u64 txn = (tsx >> 32) & 0xff;

	if (txn & PERF_TXN_TRANSACTION && ax & 1)
		txn |= (ax >> 24 & 0xff) << PERF_TXN_ABORT_SHIFT;
	return txn;
}

/* The record's TSC as time of the default clock, if that is the event's clock and runs by TSC. */
static void save_time(struct perf_event *event, struct perf_sample_data *data, u64 tsc)
{
	if (event->attr.use_clockid || !using_native_sched_clock() || !sched_clock_stable())
		return;
	data->time = native_sched_clock_from_tsc(tsc) + __sched_clock_offset;
	data->sample_flags |= PERF_SAMPLE_TIME;
}

/* The part both kinds have. */
static void save_memory(struct perf_event *event, struct perf_sample_data *data, u64 addr,
			u64 source)
{
	u64 type = event->attr.sample_type;

	if (type & ADDRESS_TYPES) {
		data->addr = addr;
		data->sample_flags |= PERF_SAMPLE_ADDR;
	}
	if (type & PERF_SAMPLE_DATA_SRC) {
		data->data_src.val = intel_pe_data_source(event, source);
		data->sample_flags |= PERF_SAMPLE_DATA_SRC;
	}
}

static void save_transaction(struct perf_event *event, struct perf_sample_data *data, u64 tsx,
			     u64 ax)
{
	if (!(event->attr.sample_type & PERF_SAMPLE_TRANSACTION))
		return;
	data->txn = intel_pe_transaction(tsx, ax);
	data->sample_flags |= PERF_SAMPLE_TRANSACTION;
}

static void begin(struct perf_event *event, struct pt_regs *at_pmi, struct perf_sample_data *data,
		  struct pt_regs *regs)
{
	perf_sample_save_callchain(data, event, at_pmi);
	*regs = *at_pmi;
}

/* ------------------------------------------------------------ formats 0 to 3 */

/* precise_ip 1 is content with the next instruction's address, which every format has. */
static void save_ip(struct perf_event *event, const u64 *word, struct pt_regs *regs)
{
	bool exact = false;

	if (event->attr.precise_ip < 2) {
		set_linear_ip(regs, word[INTEL_PE_IP]);
	} else if (x86_pmu.intel_cap.pebs_format >= 2) {
		set_linear_ip(regs, word[INTEL_PE_EVENTING_IP]);
		exact = true;
	} else {
		set_linear_ip(regs, word[INTEL_PE_IP]);
		exact = intel_pe_rewind(regs);
	}
	if (exact)
		regs->flags |= PERF_EFLAGS_EXACT;
}

/**
 * intel_pe_sample_words - a sample from a record of formats 0 to 3
 * @event: of this event
 * @record: its words, as many as the format has
 * @at_pmi: the interrupted registers, or zeros
 * @data: initialised with the period that ended; filled in here
 * @regs: filled in here
 */
void intel_pe_sample_words(struct perf_event *event, u64 *record, struct pt_regs *at_pmi,
			   struct perf_sample_data *data, struct pt_regs *regs)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	const int format = x86_pmu.intel_cap.pebs_format;
	const bool latency = event->hw.flags & PERF_X86_EVENT_PEBS_LDLAT;
	u64 type = event->attr.sample_type;

	begin(event, at_pmi, data, regs);
	/* Bit 3 of EFLAGS is reserved, here it says that the address is exact. */
	regs->flags = record[INTEL_PE_FLAGS] & ~PERF_EFLAGS_EXACT;
	if (type & ANY_REGS)
		copy_regs(regs, record + INTEL_PE_GPRS, word_order);
	save_ip(event, record, regs);

	if (format >= 1)
		save_memory(event, data, record[INTEL_PE_ADDRESS], record[INTEL_PE_SOURCE]);
	if (type & PERF_SAMPLE_WEIGHT_TYPE && (latency || format >= 2)) {
		data->weight.full = latency ? record[INTEL_PE_LATENCY] : (u32)record[INTEL_PE_TSX];
		data->sample_flags |= PERF_SAMPLE_WEIGHT_TYPE;
	}
	if (format >= 2)
		save_transaction(event, data, record[INTEL_PE_TSX], record[INTEL_PE_GPRS]);
	if (format >= 3)
		save_time(event, data, record[INTEL_PE_TSC]);
	if (has_branch_stack(event))
		intel_pmu_lbr_save_brstack(data, cpuc, event);
}

/* ------------------------------------------------------------ formats 4 and up: groups */

/**
 * intel_pe_behind_counters - where does the group of counters end?
 * @counters: it; says itself which there are
 */
void *intel_pe_behind_counters(const struct intel_pe_counters *counters)
{
	unsigned int n = hweight32(counters->general) + hweight32(counters->fixed) +
			 (counters->metrics ? 2 : 0);

	return (void *)(counters->value + n);
}

/**
 * intel_pe_take_apart - find the groups of a record
 * @record: of format 4 and up, which is whole
 * @g: filled in
 *
 * Return: are they as long as the record?  If not, @g has the basic group alone.
 */
bool intel_pe_take_apart(void *record, struct intel_pe_groups *g)
{
	void *end = record + ((struct pebs_basic *)record)->format_size;
	u64 has = ((struct pebs_basic *)record)->format_group;

	if (intel_pe_arch_pebs())
		return intel_pe_arch_take_apart(record, g);
	memset(g, 0, offsetof(struct intel_pe_groups, own));
	g->basic = record;
	g->end = g->basic + 1;
	if (has & PEBS_DATACFG_MEMINFO) {
		g->mem = g->end;
		g->end = g->mem + 1;
	}
	if (has & PEBS_DATACFG_GP) {
		g->gprs = g->end;
		g->end = g->gprs + 1;
	}
	if (has & PEBS_DATACFG_XMMS) {
		g->xmms = g->end;
		g->end = g->xmms + 1;
	}
	if (has & PEBS_DATACFG_LBRS) {
		g->branches = g->end;
		g->end = g->branches + ((has >> PEBS_DATACFG_LBR_SHIFT) & 0xff) + 1;
	}
	if (has & (INTEL_PE_GROUP_COUNTERS | INTEL_PE_GROUP_METRICS)) {
		g->counters = g->end;
		g->end = g->counters + 1;
		/* Says itself which there are, if it is within the record. */
		if (g->end <= end)
			g->end = intel_pe_behind_counters(g->counters);
	}
	if (g->end == end)
		return true;
	memset(g, 0, offsetof(struct intel_pe_groups, own));
	g->basic = record;
	g->end = end;
	return false;
}

/* The eventing address is in every record, the next one's with the registers. */
static void save_group_regs(struct perf_event *event, struct intel_pe_groups *g,
			    struct pt_regs *regs)
{
	struct pebs_gprs *gprs = g->gprs;

	set_linear_ip(regs, g->basic->ip);
	regs->flags |= PERF_EFLAGS_EXACT;
	if (!gprs)
		return;

	regs->flags = gprs->flags | PERF_EFLAGS_EXACT;
	if (event->attr.precise_ip < 2) {
		set_linear_ip(regs, gprs->ip);
		regs->flags &= ~PERF_EFLAGS_EXACT;
	} else if (regs->flags & X86_VM_MASK) {
		regs->flags ^= PERF_EFLAGS_VM | X86_VM_MASK;
	}
	if (event->attr.sample_type & ANY_REGS)
		copy_regs(regs, &gprs->ax, group_order);
}

/*
 * Later CPUs split the latency: that of the cache, and that of the instruction.  The weight is the
 * former, or how long a transaction took.
 */
static void save_weight(struct perf_event *event, struct perf_sample_data *data,
			struct pebs_meminfo *mem)
{
	const bool split = x86_pmu.flags & PMU_FL_INSTR_LATENCY;
	u64 latency = split ? mem->cache_latency : mem->mem_latency;
	u32 in_transaction = mem->tsx_tuning;

	if (event->attr.sample_type & PERF_SAMPLE_WEIGHT) {
		data->weight.full = latency ?: in_transaction;
	} else {
		data->weight.var1_dw = (u32)latency ?: in_transaction;
		data->weight.var2_w = split ? mem->instr_latency : 0;
	}
	data->sample_flags |= PERF_SAMPLE_WEIGHT_TYPE;
}

/**
 * intel_pe_sample_groups - a sample from a record of format 4 and up
 * @event: of this event
 * @record: of the groups that all events together need
 * @at_pmi: the interrupted registers, or zeros
 * @data: initialised with the period that ended; filled in here
 * @regs: the pt_regs of a struct x86_perf_regs; filled in here
 */
void intel_pe_sample_groups(struct perf_event *event, void *record, struct pt_regs *at_pmi,
			    struct perf_sample_data *data, struct pt_regs *regs)
{
	struct x86_perf_regs *more = container_of(regs, struct x86_perf_regs, regs);
	u64 type = event->attr.sample_type;
	struct intel_pe_groups g;

	WARN_ONCE(!intel_pe_take_apart(record, &g), "PEBS record of %u bytes, groups %x\n",
		  g.basic->format_size, (u32)g.basic->format_group);
	begin(event, at_pmi, data, regs);
	save_group_regs(event, &g, regs);
	more->xmm_regs = g.xmms ? g.xmms->xmm : NULL;
	save_time(event, data, g.basic->tsc);
	/* The drain has made all counts of the group those of the record. */
	if (g.counters && intel_pe_takes_snapshots(event))
		data->sample_flags |= PERF_SAMPLE_READ;

	if (g.mem) {
		if (type & PERF_SAMPLE_WEIGHT_TYPE)
			save_weight(event, data, g.mem);
		save_memory(event, data, g.mem->address, g.mem->aux);
		save_transaction(event, data, g.mem->tsx_tuning, g.gprs ? g.gprs->ax : 0);
	}
	if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		data->weight.var3_w = x86_pmu.flags & PMU_FL_RETIRE_LATENCY ?
				      g.basic->retire_latency : 0;

	if (g.branches && has_branch_stack(event)) {
		intel_pmu_store_pebs_lbrs(g.branches);
		intel_pmu_lbr_save_brstack(data, this_cpu_ptr(&cpu_hw_events), event);
	}
}
