// SPDX-License-Identifier: GPL-2.0
/*
 * LbrExtV2, the branch records of PerfMonV2 CPUs: registers, users, and reading them.
 *
 * Records are pairs of registers, the newest always the first pair.  Users are the events on a CPU
 * that want them; while the PMU is on and there are users, the CPU records.  An overflow freezes
 * the records, if the CPU can do that; else they are off while they are read.  Each sample gets
 * from them what its own event asked for, while hardware records what any of the users asks for.
 *
 * The registers do not tell of which task a branch was.  So they are wiped before another task, or
 * an event that was not the last user, gets to see them; not if the same task comes back, with the
 * same event or with no user in between.
 *
 * struct lbr_state is a CPU's own.  Used there with interrupts off and the PMU off, but for what
 * has been read: that is the NMI's.  A snapshot has places of its own, as one may be taken between
 * the read and the samples; one within another reads the same registers, with recording off.
 */
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include <asm/cpufeature.h>
#include <asm/msr.h>

#include "cpu.h"

/* As read, not filtered, the newest first. */
struct records {
	unsigned int			nr;
	struct perf_branch_entry	entry[MAX_LBR_ENTRIES];
};

struct lbr_state {
	/* Current when they were wiped; the task may be gone, and its memory another's. */
	const struct task_struct	*task;
	u64				born;
	u64				last_user;	/* event->id, when there are no users */
	u64				suppress;	/* of all users together */
	bool				stale;		/* to be wiped before recording */
	bool				retune;		/* users have changed */
	struct records			of_pmi, of_snapshot;
};

static DEFINE_PER_CPU(struct lbr_state, lbr_state);

static unsigned int from_register(int n)
{
	return MSR_AMD_SAMP_BR_FROM + 2 * n;
}

static unsigned int to_register(int n)
{
	return from_register(n) + 1;
}

/* A record without a target is none. */
static void wipe(struct lbr_state *lbr)
{
	int n;

	for (n = 0; n < x86_pmu.lbr_nr; n++)
		wrmsrl(to_register(n), 0);
	lbr->stale = false;
	lbr->task = current;
	lbr->born = current->start_boottime;
}

static bool are_of(const struct lbr_state *lbr, const struct task_struct *task)
{
	return lbr->task == task && lbr->born == task->start_boottime;
}

/* Find out what the users want, together. */
static void retune(struct cpu_hw_events *cpuc, struct lbr_state *lbr)
{
	int i;

	lbr->retune = false;
	lbr->suppress = AMD_PE_ALL_BRANCHES;
	cpuc->br_sel = 0;
	for (i = 0; i < cpuc->n_events; i++) {
		struct perf_event *event = cpuc->event_list[i];

		if (!has_branch_stack(event))
			continue;
		lbr->suppress &= event->hw.branch_reg.config;
		cpuc->br_sel |= event->hw.branch_reg.reg;
	}
}

static bool can_freeze(void)
{
	return cpu_feature_enabled(X86_FEATURE_AMD_LBR_PMC_FREEZE);
}

/* The PMU is being turned on, and there are users. */
void amd_pe_lbr_on(struct cpu_hw_events *cpuc)
{
	struct lbr_state *lbr = this_cpu_ptr(&lbr_state);
	u64 value;

	if (unlikely(lbr->retune))
		retune(cpuc, lbr);
	if (unlikely(lbr->stale))
		wipe(lbr);
	wrmsrl(MSR_AMD64_LBR_SELECT, lbr->suppress);
	if (can_freeze()) {
		rdmsrl(MSR_IA32_DEBUGCTLMSR, value);
		wrmsrl(MSR_IA32_DEBUGCTLMSR, value | DEBUGCTLMSR_FREEZE_LBRS_ON_PMI);
	}
	rdmsrl(MSR_AMD_DBG_EXTN_CFG, value);
	wrmsrl(MSR_AMD_DBG_EXTN_CFG, value | DBG_EXTN_CFG_LBRV2EN);
}

/* The PMU is being turned off. */
void amd_pe_lbr_off(void)
{
	u64 value;

	rdmsrl(MSR_AMD_DBG_EXTN_CFG, value);
	wrmsrl(MSR_AMD_DBG_EXTN_CFG, value & ~DBG_EXTN_CFG_LBRV2EN);
	if (can_freeze()) {
		rdmsrl(MSR_IA32_DEBUGCTLMSR, value);
		wrmsrl(MSR_IA32_DEBUGCTLMSR, value & ~DEBUGCTLMSR_FREEZE_LBRS_ON_PMI);
	}
}

/* An NMI that comes while the PMU is turned on may be before the wipe: that is nobody's to see. */
static void read_all(const struct lbr_state *lbr, struct records *records)
{
	unsigned int n, nr = 0;
	u64 from, to;

	for (n = 0; n < x86_pmu.lbr_nr && !lbr->stale; n++) {
		rdmsrl(to_register(n), to);
		if (!amd_pe_is_recorded(to))
			continue;
		rdmsrl(from_register(n), from);
		amd_pe_decode_branch(from, to, boot_cpu_data.x86_virt_bits, &records->entry[nr++]);
	}
	records->nr = nr;
}

/* Read the records, in the NMI. */
void amd_pe_lbr_read(void)
{
	struct lbr_state *lbr = this_cpu_ptr(&lbr_state);
	u64 config;

	if (can_freeze()) {
		read_all(lbr, &lbr->of_pmi);
		return;
	}
	/* Each branch in the loop would push the records on, while it reads them. */
	rdmsrl(MSR_AMD_DBG_EXTN_CFG, config);
	wrmsrl(MSR_AMD_DBG_EXTN_CFG, config & ~DBG_EXTN_CFG_LBRV2EN);
	read_all(lbr, &lbr->of_pmi);
	wrmsrl(MSR_AMD_DBG_EXTN_CFG, config);
}

/* The records that @want asks for, at most @room; return how many. */
static unsigned int pick(const struct records *records, u64 want, struct perf_branch_entry *to,
			 unsigned int room)
{
	unsigned int i, picked = 0;

	for (i = 0; i < records->nr && picked < room; i++) {
		struct perf_branch_entry br = records->entry[i];

		if (amd_pe_want_branch(&br, want))
			to[picked++] = br;
	}
	return picked;
}

/* Prepare the branch stack of a sample of the event that asks for @want. */
void amd_pe_lbr_pick(struct cpu_hw_events *cpuc, u64 want)
{
	cpuc->lbr_stack.nr = pick(this_cpu_ptr(&lbr_state.of_pmi), want, cpuc->lbr_entries,
				  MAX_LBR_ENTRIES);
	cpuc->lbr_stack.hw_idx = 0;
}

/*
 * perf_snapshot_branch_stack: the records of right now, for BPF programs, in any context.  What
 * comes before recording is off must not branch.  Counters and recording go on only if they were
 * on.
 */
static int amd_pe_lbr_snapshot(struct perf_branch_entry *entries, unsigned int cnt)
{
	struct cpu_hw_events *cpuc;
	unsigned long flags;
	int nr = 0;
	u64 config;

	local_irq_save(flags);
	wrmsrl(MSR_AMD64_PERF_CNTR_GLOBAL_CTL, 0);
	rdmsrl(MSR_AMD_DBG_EXTN_CFG, config);
	wrmsrl(MSR_AMD_DBG_EXTN_CFG, config & ~DBG_EXTN_CFG_LBRV2EN);

	cpuc = this_cpu_ptr(&cpu_hw_events);
	if (cpuc->lbr_users) {
		struct lbr_state *lbr = this_cpu_ptr(&lbr_state);

		read_all(lbr, &lbr->of_snapshot);
		nr = pick(&lbr->of_snapshot, cpuc->br_sel, entries, cnt);
	}
	wrmsrl(MSR_AMD_DBG_EXTN_CFG, config);
	if (cpuc->enabled)
		wrmsrl(MSR_AMD64_PERF_CNTR_GLOBAL_CTL, x86_pmu.cntr_mask64);
	local_irq_restore(flags);
	return nr;
}

/* x86_pmu.add: the PMU is off. */
static void amd_pe_lbr_add(struct perf_event *event)
{
	struct lbr_state *lbr = this_cpu_ptr(&lbr_state);

	if (!needs_branch_stack(event))
		return;
	perf_sched_cb_inc(event->pmu);
	lbr->retune = true;
	/* Without users nobody was told of switches. */
	if (!__this_cpu_read(cpu_hw_events.lbr_users) &&
	    (lbr->last_user != event->id || !are_of(lbr, current)))
		lbr->stale = true;
	__this_cpu_inc(cpu_hw_events.lbr_users);
}

/* x86_pmu.del: the PMU is off. */
static void amd_pe_lbr_del(struct perf_event *event)
{
	struct lbr_state *lbr = this_cpu_ptr(&lbr_state);

	if (!needs_branch_stack(event))
		return;
	WARN_ON_ONCE(__this_cpu_dec_return(cpu_hw_events.lbr_users) < 0);
	lbr->retune = true;
	lbr->last_user = event->id;
	perf_sched_cb_dec(event->pmu);
}

/* x86_pmu.sched_task: the PMU is off, and there are users. */
static void amd_pe_lbr_sched_task(struct perf_event_pmu_context *pmu_ctx, struct task_struct *task,
				  bool sched_in)
{
	struct lbr_state *lbr = this_cpu_ptr(&lbr_state);

	if (sched_in && !are_of(lbr, task))
		lbr->stale = true;
}

static int amd_pe_lbr_config(struct perf_event *event)
{
	struct hw_perf_event_extra *reg = &event->hw.branch_reg;
	struct amd_pe_branch_filter filter;
	int ret;

	ret = amd_pe_branch_filter(event->attr.branch_sample_type, &filter);
	if (ret)
		return ret;
	reg->config = filter.suppress;
	reg->reg = filter.want;
	event->attach_state |= PERF_ATTACH_SCHED_CB;
	return 0;
}

/* A CPU starts. */
void amd_pe_lbr_cpu_init(void)
{
	amd_pe_lbr_off();
	__this_cpu_write(lbr_state.stale, true);
}

/* Return the number of records, 0 if there are none. */
unsigned int __init amd_pe_lbr_init(void)
{
	union cpuid_0x80000022_ebx ebx;

	if (x86_pmu.version < 2 || !boot_cpu_has(X86_FEATURE_AMD_LBR_V2))
		return 0;
	ebx.full = cpuid_ebx(EXT_PERFMON_DEBUG_FEATURES);
	if (!ebx.split.lbr_v2_stack_sz)
		return 0;

	x86_pmu.add = amd_pe_lbr_add;
	x86_pmu.del = amd_pe_lbr_del;
	x86_pmu.sched_task = amd_pe_lbr_sched_task;
	amd_pe_branch_hw_config = amd_pe_lbr_config;
	static_call_update(perf_snapshot_branch_stack, amd_pe_lbr_snapshot);
	return min_t(unsigned int, ebx.split.lbr_v2_stack_sz, MAX_LBR_ENTRIES);
}
