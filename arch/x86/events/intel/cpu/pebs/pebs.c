// SPDX-License-Identifier: GPL-2.0
/*
 * PEBS: the CPU itself writes a record when a counter overflows, into the buffer of the debug
 * store, and interrupts when the buffer is filled up to a threshold.
 *
 * This file programs it: what changes when events come and go (how much a record holds, where the
 * threshold is, which counters), and the registers.  The threshold is one record, unless every
 * PEBS event of the CPU does without an interrupt for each sample ("large"): then records pile up,
 * and are drained when the task goes as well, since a record does not say whose it is.
 *
 * Formats 4 and up are adaptive PEBS: records of optional groups.  One configuration
 * (MSR_PEBS_DATA_CFG) holds for all counters; it grows as events are added and starts anew with the
 * first event.  Each record says how long it is;
 * the buffer is drained before the configuration changes, as the threshold goes by the new size.
 *
 * Architectural PEBS has each counter's configuration in a register of its own, and a threshold
 * elsewhere; see arch.c.
 *
 * All of it runs on the event's CPU with interrupts off; intel_pmu_pebs_disable() also in the
 * PMI's NMI.  cpu_hw_events.pebs_data_cfg is what the events want, with PEBS_UPDATE_DS_SW while
 * the threshold may be out of date; active_pebs_data_cfg is what is in the register.
 */
#include <linux/perf_event.h>

#include <asm/msr.h>

#include "pebs.h"

#define MEMINFO_TYPES	(PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR | \
			 PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_TRANSACTION | \
			 PERF_SAMPLE_DATA_PAGE_SIZE)

/* ------------------------------------------------------------ what records hold */

/* Does the event sample any register of @regs, of user space or of the interrupt? */
static bool samples_regs(struct perf_event_attr *attr, u64 regs)
{
	return (attr->sample_type & PERF_SAMPLE_REGS_INTR && attr->sample_regs_intr & regs) ||
	       (attr->sample_type & PERF_SAMPLE_REGS_USER && attr->sample_regs_user & regs);
}

/* An abort's code is in AX, and belongs to its weight. */
static bool weighs_aborts(struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_WEIGHT_TYPE &&
	       (attr->config & INTEL_ARCH_EVENT_MASK) == x86_pmu.rtm_abort_event;
}

/**
 * intel_pe_groups_for - which groups must a record have for this event?
 * @event: a PEBS event
 *
 * The basic group is in every record: eventing address and TSC.  The address of the next
 * instruction is among the registers.
 * Return: bits of MSR_PEBS_DATA_CFG.
 */
u64 intel_pe_groups_for(struct perf_event *event)
{
	struct perf_event_attr *attr = &event->attr;
	u64 type = attr->sample_type, cfg = 0;

	if (type & MEMINFO_TYPES)
		cfg |= PEBS_DATACFG_MEMINFO;
	if (attr->precise_ip < 2 || samples_regs(attr, PEBS_GP_REGS) || weighs_aborts(attr))
		cfg |= PEBS_DATACFG_GP;
	if (type & PERF_SAMPLE_REGS_INTR && attr->sample_regs_intr & PERF_REG_EXTENDED_MASK)
		cfg |= PEBS_DATACFG_XMMS;
	if (type & PERF_SAMPLE_BRANCH_STACK)
		cfg |= PEBS_DATACFG_LBRS | (u64)(x86_pmu.lbr_nr - 1) << PEBS_DATACFG_LBR_SHIFT;
	return cfg;
}

/**
 * intel_pe_record_size - how long is a record of such groups?
 * @cfg: bits of MSR_PEBS_DATA_CFG
 *
 * Return: bytes.
 */
int intel_pe_record_size(u64 cfg)
{
	int size = sizeof(struct pebs_basic);

	size += cfg & PEBS_DATACFG_MEMINFO ? sizeof(struct pebs_meminfo) : 0;
	size += cfg & PEBS_DATACFG_GP ? sizeof(struct pebs_gprs) : 0;
	size += cfg & PEBS_DATACFG_XMMS ? sizeof(struct pebs_xmm) : 0;
	if (cfg & PEBS_DATACFG_LBRS)
		size += (((cfg >> PEBS_DATACFG_LBR_SHIFT) & 0xff) + 1) * sizeof(struct lbr_entry);
	if (cfg & INTEL_PE_GROUP_COUNTERS)
		size += sizeof(struct intel_pe_counters) + sizeof(u64) *
			(hweight64(cfg >> INTEL_PE_GENERAL_SHIFT & INTEL_PE_GENERAL_MASK) +
			 hweight64(cfg >> INTEL_PE_FIXED_SHIFT & INTEL_PE_FIXED_MASK));
	return size;
}

/**
 * intel_pe_counter_bits - what has records hold a counter?
 * @idx: its number
 *
 * Return: bits of MSR_PEBS_DATA_CFG; 0: it is none that records can hold.
 */
u64 intel_pe_counter_bits(int idx)
{
	u64 mask = INTEL_PE_GENERAL_MASK << INTEL_PE_GENERAL_SHIFT;
	u64 bit = 0;

	if (idx < INTEL_PMC_IDX_FIXED) {
		bit = BIT_ULL(idx) << INTEL_PE_GENERAL_SHIFT & mask;
	} else if (idx < INTEL_PMC_IDX_FIXED_BTS) {
		mask = INTEL_PE_FIXED_MASK << INTEL_PE_FIXED_SHIFT;
		bit = BIT_ULL(idx - INTEL_PMC_IDX_FIXED + INTEL_PE_FIXED_SHIFT) & mask;
	}
	return bit ? bit | INTEL_PE_GROUP_COUNTERS : 0;
}

/* ------------------------------------------------------------ events come and go */

/* Do samples of the event show a count that no record has?  The group is off while it changes. */
static bool shows_another_pmu(struct perf_event *event)
{
	struct perf_event *sibling, *leader = event->group_leader;

	if (!(event->attr.sample_type & PERF_SAMPLE_READ) ||
	    !(event->attr.read_format & PERF_FORMAT_GROUP))
		return false;
	for_each_sibling_event(sibling, leader) {
		if (sibling->pmu != event->pmu)
			return true;
	}
	return leader->pmu != event->pmu;
}

/*
 * Events that write elsewhere have no say.  Piling up, leave room for each counter to add a record
 * after the one that passes the threshold.
 */
static void move_threshold(struct cpu_hw_events *cpuc)
{
	struct debug_store *ds = cpuc->ds;
	int counters = intel_pmu_max_num_pebs(cpuc->pmu);

	if (cpuc->n_pebs_via_pt)
		return;
	if (cpuc->n_pebs != cpuc->n_large_pebs) {
		ds->pebs_interrupt_threshold = ds->pebs_buffer_base + cpuc->pebs_record_size;
		return;
	}
	if (x86_pmu.flags & PMU_FL_PEBS_ALL)
		counters += x86_pmu_max_num_counters_fixed(cpuc->pmu);
	ds->pebs_interrupt_threshold = ds->pebs_absolute_maximum -
				       counters * cpuc->pebs_record_size;
}

static void count_event(struct cpu_hw_events *cpuc, struct perf_event *event, int by)
{
	const bool before = intel_pe_piles_up(cpuc);

	cpuc->n_pebs += by;
	if (event->hw.flags & PERF_X86_EVENT_LARGE_PEBS && !shows_another_pmu(event))
		cpuc->n_large_pebs += by;
	if (event->hw.flags & PERF_X86_EVENT_PEBS_VIA_PT)
		cpuc->n_pebs_via_pt += by;

	if (by > 0 && cpuc->n_pebs == 1)
		cpuc->pebs_data_cfg = PEBS_UPDATE_DS_SW;
	if (before == intel_pe_piles_up(cpuc))
		return;
	cpuc->pebs_data_cfg |= PEBS_UPDATE_DS_SW;
	if (!before) {
		perf_sched_cb_inc(event->pmu);
	} else {
		perf_sched_cb_dec(event->pmu);
		/* From now on nobody expects records to wait. */
		if (intel_pe_records_wait(cpuc))
			intel_pmu_drain_pebs_buffer();
	}
	/* Who starts moves it; those that count already do not start. */
	if (!cpuc->pebs_enabled)
		return;
	if (intel_pe_arch_pebs())
		intel_pe_arch_threshold(cpuc);
	else
		move_threshold(cpuc);
}

/**
 * intel_pmu_pebs_add - one more PEBS event on this CPU
 * @event: it; the PMU is off
 */
void intel_pmu_pebs_add(struct perf_event *event)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	u64 cfg;

	count_event(cpuc, event, 1);
	if (!x86_pmu.intel_cap.pebs_baseline)
		return;
	cfg = intel_pe_groups_for(event);
	if (cfg & ~cpuc->pebs_data_cfg)
		cpuc->pebs_data_cfg |= cfg | PEBS_UPDATE_DS_SW;
}

/**
 * intel_pmu_pebs_del - one less
 * @event: it; the PMU is off
 *
 * The records stay as big as they were: the other events would have to be asked.
 */
void intel_pmu_pebs_del(struct perf_event *event)
{
	count_event(this_cpu_ptr(&cpu_hw_events), event, -1);
}

/**
 * intel_pmu_pebs_sched_task - a task comes or goes
 * @pmu_ctx: not used
 * @sched_in: it comes
 *
 * The records in the buffer are those of the task that goes.
 */
void intel_pmu_pebs_sched_task(struct perf_event_pmu_context *pmu_ctx, bool sched_in)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	if (!sched_in && intel_pe_piles_up(cpuc))
		intel_pmu_drain_pebs_buffer();
}

/**
 * intel_pmu_drain_pebs_buffer - turn the records so far into samples
 *
 * The PMU is off.
 */
void intel_pmu_drain_pebs_buffer(void)
{
	struct perf_sample_data data;

	WARN_ON_ONCE(__this_cpu_read(cpu_hw_events.enabled));
	static_call(x86_pmu_drain_pebs)(NULL, &data);
}

/* ------------------------------------------------------------ registers */

/* A counter's place in debug_store.pebs_event_reset[]: the fixed ones follow the general ones. */
static int reset_slot(int idx)
{
	int general = x86_pmu.intel_cap.pebs_format < 5 ? MAX_PEBS_EVENTS_FMT4 : MAX_PEBS_EVENTS;

	return idx < INTEL_PMC_IDX_FIXED ? idx : general + idx - INTEL_PMC_IDX_FIXED;
}

/* Bits of MSR_IA32_PEBS_ENABLE for this event. */
static u64 enable_bits(struct hw_perf_event *hw)
{
	u64 bits = BIT_ULL(hw->idx);

	if (hw->flags & PERF_X86_EVENT_PEBS_LDLAT && x86_pmu.version < 5)
		bits |= BIT_ULL(hw->idx + 32);
	else if (hw->flags & PERF_X86_EVENT_PEBS_ST)
		bits |= BIT_ULL(63);
	return bits;
}

/* Into the PT trace: the counter's reset value has a register then. */
static void enable_via_pt(struct cpu_hw_events *cpuc, struct hw_perf_event *hw)
{
	u32 msr = hw->idx < INTEL_PMC_IDX_FIXED ?
		  MSR_RELOAD_PMC0 + hw->idx : MSR_RELOAD_FIXED_CTR0 + hw->idx - INTEL_PMC_IDX_FIXED;

	if (!(hw->flags & PERF_X86_EVENT_LARGE_PEBS))
		cpuc->pebs_enabled |= PEBS_PMI_AFTER_EACH_RECORD;
	cpuc->pebs_enabled |= PEBS_OUTPUT_PT;
	wrmsrl(msr, cpuc->ds->pebs_event_reset[reset_slot(hw->idx)]);
}

/* The counters of all groups that take snapshots, wherever they are going to be. */
static void add_counters(struct cpu_hw_events *cpuc)
{
	u64 cfg = 0;
	int i;

	for (i = 0; i < cpuc->n_events; i++) {
		if (intel_pe_takes_snapshots(cpuc->event_list[i]))
			cfg |= intel_pe_counter_bits(cpuc->assign[i]);
	}
	if (cfg & ~cpuc->pebs_data_cfg)
		cpuc->pebs_data_cfg |= cfg | PEBS_UPDATE_DS_SW;
}

/**
 * intel_pe_pebs_reconfigure - make the register and the threshold what the events want
 * @cpuc: state of this CPU, which has PEBS events; the PMU is off
 */
void intel_pe_pebs_reconfigure(struct cpu_hw_events *cpuc)
{
	u64 cfg;

	if (x86_pmu.large_pebs_flags & PERF_SAMPLE_READ)
		add_counters(cpuc);
	cfg = cpuc->pebs_data_cfg & ~PEBS_UPDATE_DS_SW;
	if (x86_pmu.intel_cap.pebs_baseline && cfg != cpuc->active_pebs_data_cfg) {
		intel_pmu_drain_pebs_buffer();
		cpuc->pebs_record_size = intel_pe_record_size(cfg);
		wrmsrl(MSR_PEBS_DATA_CFG, cfg);
		cpuc->active_pebs_data_cfg = cfg;
	}
	if (cpuc->pebs_data_cfg & PEBS_UPDATE_DS_SW) {
		cpuc->pebs_data_cfg = cfg;
		move_threshold(cpuc);
	}
}

/**
 * intel_pmu_pebs_enable - prepare an event's counter for PEBS
 * @event: which starts; the PMU is off
 *
 * intel_pmu_pebs_enable_all() writes the register.  The counter itself does not interrupt.
 */
void intel_pmu_pebs_enable(struct perf_event *event)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct hw_perf_event *hw = &event->hw;
	u64 reset = 0;

	intel_pe_pebs_reconfigure(cpuc);
	hw->config &= ~ARCH_PERFMON_EVENTSEL_INT;
	if (x86_pmu.intel_cap.pebs_baseline)
		hw->config |= ICL_EVENTSEL_ADAPTIVE;

	/* Set here since PERF_EVENT_IOC_PERIOD restarts the event. */
	if (hw->flags & PERF_X86_EVENT_AUTO_RELOAD)
		reset = -hw->sample_period & x86_pmu.cntval_mask;
	cpuc->ds->pebs_event_reset[reset_slot(hw->idx)] = reset;

	cpuc->pebs_enabled |= enable_bits(hw);
	if (is_pebs_pt(event))
		enable_via_pt(cpuc, hw);
}

/**
 * intel_pmu_pebs_disable - the counter is an ordinary one again
 * @event: which stops; its records so far have become samples
 */
void intel_pmu_pebs_disable(struct perf_event *event)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct hw_perf_event *hw = &event->hw;

	cpuc->pebs_enabled &= ~enable_bits(hw);
	if (is_pebs_pt(event) && !(cpuc->pebs_enabled & ~PEBS_VIA_PT_MASK))
		cpuc->pebs_enabled &= ~PEBS_VIA_PT_MASK;
	if (cpuc->enabled && !intel_pe_arch_pebs())
		wrmsrl(MSR_IA32_PEBS_ENABLE, cpuc->pebs_enabled);
	hw->config |= ARCH_PERFMON_EVENTSEL_INT;
}

/**
 * intel_pmu_pebs_enable_all - the PMU is about to go on
 */
void intel_pmu_pebs_enable_all(void)
{
	u64 want, written = 0;

	if (intel_pe_arch_pebs())
		return;
	/* As write_fixed_control(): a late PMI may have throttled one, and written less. */
	while ((want = __this_cpu_read(cpu_hw_events.pebs_enabled)) != written) {
		wrmsrl(MSR_IA32_PEBS_ENABLE, want);
		written = want;
	}
}

/**
 * intel_pmu_pebs_disable_all - the PMU goes off
 */
void intel_pmu_pebs_disable_all(void)
{
	if (__this_cpu_read(cpu_hw_events.pebs_enabled) && !intel_pe_arch_pebs())
		__intel_pmu_pebs_disable_all();
}
