// SPDX-License-Identifier: GPL-2.0
/*
 * Branch sampling (BRS) of family 19h: Zen 3.
 *
 * Tied to counter 0.  When that overflows the CPU holds the interrupt back, records the next
 * lbr_nr taken branches, and then sends it.  Only taken branches can be the event, so that the
 * period is off by the depth and no more; limit_period shortens it by that.  The hardware
 * filters nothing; rings are filtered when the records are read.
 *
 * cpuc->brs_active says that sampling is on.  It is set before and cleared after the register is
 * written, so an NMI, which turns sampling off before it reads, never finds it on unnoticed;
 * turning off twice is harmless.  Turning on starts with an empty buffer.  Everything is on the
 * event's CPU, interrupts off; but for low power, which see.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/static_call.h>

#include <asm/cpufeature.h>
#include <asm/msr.h>

#include "cpu.h"

#define SAMPLING	BIT_ULL(2)
#define ALWAYS_SET	GENMASK_ULL(4, 3)
#define HAS_BRANCHES	BIT_ULL(5)
#define NEXT_ENTRY	GENMASK_ULL(19, 16)

#define DEPTH		16

/* Target in an entry that was read, or is of another task. */
#define POISON		(~1ULL)

static unsigned int from_register(unsigned int n)
{
	return MSR_AMD_SAMP_BR_FROM + 2 * n;
}

static unsigned int to_register(unsigned int n)
{
	return from_register(n) + 1;
}

static __always_inline u64 read_config(void)
{
	return __rdmsr(MSR_AMD_DBG_EXTN_CFG);
}

static __always_inline void write_config(u64 config)
{
	config |= ALWAYS_SET;
	__wrmsr(MSR_AMD_DBG_EXTN_CFG, config, config >> 32);
}

static void turn_on(struct cpu_hw_events *cpuc)
{
	if (!cpuc->lbr_users || cpuc->brs_active)
		return;
	cpuc->brs_active = 1;
	barrier();
	write_config(SAMPLING);
}

/* What was recorded stays.  With a full buffer the hardware has turned itself off. */
static void turn_off(struct cpu_hw_events *cpuc)
{
	u64 config;

	if (!cpuc->brs_active)
		return;
	config = read_config();
	if (config & SAMPLING)
		write_config(config & ~SAMPLING);
	barrier();
	cpuc->brs_active = 0;
}

/* The entry before the next; a full buffer starts over. */
static unsigned int newest(u64 config)
{
	return (FIELD_GET(NEXT_ENTRY, config) ?: DEPTH) - 1;
}

/* Shall a branch from @from to @to be kept? */
bool amd_pe_brs_wants(u64 asked, u64 from, u64 to)
{
	bool in_kernel = kernel_ip(to);

	if ((in_kernel || kernel_ip(from)) &&
	    !(asked & (PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)))
		return false;
	return in_kernel || (asked & PERF_SAMPLE_BRANCH_USER);
}

/* Read the entries, newest first, for the event on counter 0.  Sampling is off. */
static void drain(struct cpu_hw_events *cpuc)
{
	struct perf_event *event = cpuc->events[0];
	const unsigned int unused = 64 - boot_cpu_data.x86_virt_bits;
	u64 from, to, config;
	int n;

	cpuc->lbr_stack.nr = 0;
	config = read_config();
	/* The NMI may come when its event is not on the counter any more. */
	if (!event || !(config & HAS_BRANCHES))
		return;

	for (n = newest(config); n >= 0; n--) {
		rdmsrl(to_register(n), to);
		if (to == POISON)
			return;
		rdmsrl(from_register(n), from);
		to = (s64)(to << unused) >> unused;
		if (!amd_pe_brs_wants(event->attr.branch_sample_type, from, to))
			continue;
		cpuc->lbr_entries[cpuc->lbr_stack.nr++] =
			(struct perf_branch_entry) { .from = from, .to = to };
	}
}

/* x86_pmu.handle_irq */
static int amd_pe_brs_nmi(struct pt_regs *regs)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int handled;

	turn_off(cpuc);
	/* The records stay for the NMI that comes later. */
	if (unlikely(cpuc->pmi_blocked))
		return amd_pe_nmi(regs);
	if (cpuc->lbr_users)
		drain(cpuc);
	handled = amd_pe_nmi(regs);
	if (cpuc->enabled)
		turn_on(cpuc);
	return handled;
}

/* x86_pmu.enable_all */
static void amd_pe_brs_start_all(int added)
{
	turn_on(this_cpu_ptr(&cpu_hw_events));
	x86_pmu_enable_all(added);
}

/* x86_pmu.disable_all */
static void amd_pe_brs_stop_all(void)
{
	turn_off(this_cpu_ptr(&cpu_hw_events));
	amd_pe_stop_all();
}

/* x86_pmu.add */
static void amd_pe_brs_add(struct perf_event *event)
{
	if (!needs_branch_stack(event))
		return;
	perf_sched_cb_inc(event->pmu);
	__this_cpu_inc(cpu_hw_events.lbr_users);
}

/* x86_pmu.del */
static void amd_pe_brs_del(struct perf_event *event)
{
	if (!needs_branch_stack(event))
		return;
	WARN_ON_ONCE(__this_cpu_dec_return(cpu_hw_events.lbr_users) < 0);
	perf_sched_cb_dec(event->pmu);
}

/* x86_pmu.sched_task: reading ends at the newest entry of the task before.  The PMU is off. */
static void amd_pe_brs_sched_task(struct perf_event_pmu_context *pmu_ctx, struct task_struct *task,
				  bool sched_in)
{
	if (sched_in && __this_cpu_read(cpu_hw_events.lbr_users))
		wrmsrl(to_register(newest(read_config())), POISON);
}

/* x86_pmu.limit_period: the branches recorded after the overflow belong to the period. */
static void amd_pe_brs_limit_period(struct perf_event *event, s64 *left)
{
	if (has_branch_stack(event) && *left > x86_pmu.lbr_nr)
		*left -= x86_pmu.lbr_nr;
}

static int amd_pe_brs_config(struct perf_event *event)
{
	struct perf_event_attr *attr = &event->attr;

	/* Counting alone would only hold interrupts back. */
	if (!is_sampling_event(event))
		return -EINVAL;
	if ((event->hw.config & AMD64_RAW_EVENT_MASK) != AMD_FAM19H_BRS_EVENT)
		return -EINVAL;
	/* The period has to be longer than the buffer, and to stay so. */
	if (attr->freq || attr->sample_period <= x86_pmu.lbr_nr)
		return -EINVAL;
	if ((attr->branch_sample_type & ~PERF_SAMPLE_BRANCH_PLM_ALL) != PERF_SAMPLE_BRANCH_ANY)
		return -EINVAL;
	event->hw.flags |= PERF_X86_EVENT_AMD_BRS;
	return 0;
}

DEFINE_STATIC_CALL_NULL(perf_lopwr_cb, perf_amd_brs_lopwr_cb);
EXPORT_STATIC_CALL_TRAMP_GPL(perf_lopwr_cb);

/**
 * perf_amd_brs_lopwr_cb - a CPU is about to enter, or has left, a low-power state
 * @lopwr_in: it is about to
 *
 * No branches are taken there, so an interrupt that is held back would be held back for as long.
 * Interrupts off, also where nothing may be traced.
 */
void noinstr perf_amd_brs_lopwr_cb(bool lopwr_in)
{
	u64 config;

	if (!raw_cpu_read(cpu_hw_events.brs_active))
		return;
	config = read_config() & ~SAMPLING;
	write_config(lopwr_in ? config : config | SAMPLING);
}

/* A CPU starts: sampling is off, the first entry is nobody's. */
void amd_pe_brs_cpu_init(void)
{
	write_config(0);
	wrmsrl(to_register(0), POISON);
}

/* Return the number of records, 0 if there are none. */
unsigned int __init amd_pe_brs_init(void)
{
	/* CPUs with PerfMonV2 have LbrExtV2. */
	if (!boot_cpu_has(X86_FEATURE_BRS) || boot_cpu_data.x86 != 0x19 || x86_pmu.version >= 2)
		return 0;

	x86_pmu.handle_irq = amd_pe_brs_nmi;
	x86_pmu.enable_all = amd_pe_brs_start_all;
	x86_pmu.disable_all = amd_pe_brs_stop_all;
	x86_pmu.add = amd_pe_brs_add;
	x86_pmu.del = amd_pe_brs_del;
	x86_pmu.sched_task = amd_pe_brs_sched_task;
	x86_pmu.limit_period = amd_pe_brs_limit_period;
	x86_pmu.get_event_constraints = amd_pe_brs_constraint;
	amd_pe_branch_hw_config = amd_pe_brs_config;
	static_call_update(perf_lopwr_cb, perf_amd_brs_lopwr_cb);
	return DEPTH;
}
