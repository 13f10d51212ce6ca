// SPDX-License-Identifier: GPL-2.0
/*
 * Architectural PEBS (SDM, vol. 3B, "Architectural PEBS"; leaf 23H, subleaves 4 and 5): newer CPUs
 * have this instead of a debug store.  Here are its registers, and its records as groups of the
 * kind that all else knows.
 *
 * IA32_PEBS_BASE is the physical address of the buffer, and how long it is.  In IA32_PEBS_INDEX are
 * the place of the next record, the threshold of the interrupt, and whether a record did not fit.
 * Both are in units of 16 bytes.  Each counter has a register (CFG_C) that says whether it records,
 * which groups, what the counter begins again with, and whether records of others may have its
 * value.  The same half of it is for auto counter reload; cpu_hw_events.cfg_c is what is in there.
 * A counter that is off records nothing, so CFG_C is written when the next event starts on it.
 * Until then records go on to have the value of a counter whose event has gone.  Nobody takes that
 * for the next event's: x86_pmu.set_period drains before one that samples counts has the counter.
 *
 * The states of the buffer, and who writes the index:
 *
 *   empty	the index is cpu_hw_events.arch_buffer.index.  It is written, with another
 *		threshold, only in this state and with the PMU off: by intel_pe_arch_threshold()
 *		when events start, come or go, and when the CPU comes.
 *   filling	the PMU is on, and the CPU alone writes the index.  Passing the threshold raises bit
 *		54 of the status and a PMI; being above it does not.  A record that does not fit is
 *		dropped, and so are all after it, until the index is written.
 *   taken	the PMU is off, in the PMI or in task context.  intel_pe_arch_take() has read the
 *		index and made the buffer empty.  The records stay until the PMU goes on, and one
 *		who took them makes samples of them.
 *
 * A record is a chain of fragments.  Each has a header with its size, its groups, and whether
 * another one follows; one without any groups is a gap in the chain.  The first has the basic
 * group, which says whose the record is.  What begins otherwise is nobody's.
 */
#include <linux/gfp.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>

#include <asm/io.h>
#include <asm/msr.h>

#include "pebs.h"

#define PEBS_CAPS_LEAF		4	/* of ARCH_PERFMON_EXT_LEAF */
#define PEBS_COUNTERS_LEAF	5

#define MSR_PEBS_BASE		0x3f4
#define MSR_PEBS_INDEX		0x3f5
#define MSR_GP0_CFG_C		0x1903
#define MSR_FX0_CFG_C		0x1983

/* The index */
#define NEXT_RECORD		GENMASK_ULL(26, 4)	/* as an offset in bytes */
#define ON			BIT_ULL(32)
#define THRESHOLD_SHIFT		36
#define UNIT_SHIFT		4

/* The longest record is less than a page. */
#define ONE_RECORD		1ULL
#define MANY_RECORDS		((PEBS_BUFFER_SIZE - PAGE_SIZE) >> UNIT_SHIFT)

/* CFG_C; groups have the same bits in the header of a record. */
#define RELOAD			GENMASK_ULL(31, 0)
#define ALLOW			BIT_ULL(35)		/* the value in records of others */
#define GENERAL			BIT_ULL(36)		/* the values of those */
#define FIXED			BIT_ULL(37)
#define BRANCHES_SHIFT		40
#define BRANCHES		GENMASK_ULL(41, 40)	/* 8, 16, or as many as there are */
#define XMM			BIT_ULL(49)
#define GPRS			BIT_ULL(61)
#define AUX			BIT_ULL(62)
#define BASIC			BIT_ULL(63)		/* in CFG_C: record */

/* The rest of the header */
#define SIZE			GENMASK_ULL(15, 0)
#define MODE			BIT_ULL(30)		/* of 64 bits */
#define CONTINUED		BIT_ULL(31)
#define VALUES			GENMASK_ULL(39, 35)
#define NOT_SIZE		GENMASK_ULL(63, 16)
#define KNOWN	(SIZE | MODE | CONTINUED | VALUES | BRANCHES | XMM | GPRS | AUX | BASIC)

struct arch_basic {
	u64	ip, counters, tsc;
	u16	retire_latency;
	u16	valid;			/* bit 0: the latency is */
	u32	reserved;
	u64	more[2];
};

struct arch_aux {
	u64	address;
	u64	reserved[4];
	u64	source;
	u64	latency;
	u64	transaction;
};

struct arch_gprs {
	struct pebs_gprs	as_before;
	u64			ssp, reserved;
};

struct arch_branches {
	u64			reserved, ctl, depth;
	u64			last_event[3];
	struct lbr_entry	entry[];
};

DEFINE_STATIC_KEY_FALSE(intel_pe_arch_pebs_key);

/* ------------------------------------------------------------ records */

/* Bytes of the fragment here; 0: it is not whole. */
static size_t fragment_size(const u64 *at, size_t left)
{
	size_t size;

	if (left < 2 * sizeof(u64))
		return 0;
	size = *at & SIZE;
	if (WARN_ON_ONCE(size < 2 * sizeof(u64)))
		return 0;
	return size <= left ? size : 0;
}

static bool goes_on(u64 header)
{
	return header & CONTINUED || !(header & NOT_SIZE);
}

/**
 * intel_pe_arch_size - how long is the record here, with all fragments?
 * @record: a place in the buffer
 * @left: bytes from there to the end of what was written
 *
 * Return: bytes; 0 if there is no whole record, which is the end.
 */
size_t intel_pe_arch_size(const void *record, size_t left)
{
	const bool owned = left >= sizeof(u64) && *(const u64 *)record & BASIC;
	size_t all = 0, size;
	u64 header;

	do {
		size = fragment_size(record + all, left - all);
		if (!size)
			return 0;
		header = *(const u64 *)(record + all);
		all += size;
	} while (owned && goes_on(header));
	return all;
}

/* The basic group of a record, NULL if it has none, or not all of it in its first fragment. */
static const struct arch_basic *basic_of(const void *record)
{
	const struct arch_basic *basic = record + 2 * sizeof(u64);
	u64 header = *(const u64 *)record;

	if (!(header & BASIC) || (header & SIZE) < 2 * sizeof(u64) + sizeof(*basic))
		return NULL;
	return basic;
}

/**
 * intel_pe_arch_owners - which counters' overflows made the record?
 * @record: a whole one
 *
 * Return: a mask; 0 if it has no basic group.
 */
u64 intel_pe_arch_owners(const void *record)
{
	const struct arch_basic *basic = basic_of(record);

	return basic ? basic->counters : 0;
}

static void take_basic(struct intel_pe_groups *g, const struct arch_basic *basic)
{
	g->own.basic = (struct pebs_basic){
		.retire_latency = basic->valid & 1 ? basic->retire_latency : 0,
		.ip = basic->ip,
		.applicable_counters = basic->counters,
		.tsc = basic->tsc,
	};
	g->basic = &g->own.basic;
}

static void take_aux(struct intel_pe_groups *g, const struct arch_aux *aux)
{
	g->own.mem = (struct pebs_meminfo){
		.address = aux->address,
		.aux = aux->source,
		.mem_latency = aux->latency,
		.tsx_tuning = aux->transaction,
	};
	g->mem = &g->own.mem;
}

/* What is left of a fragment. */
struct rest {
	void	*next, *end;
};

/* The next so many bytes; NULL if they are not there, and then there is nothing behind them. */
static void *next_part(struct rest *rest, size_t size)
{
	void *at = rest->next;

	rest->next += size;
	return rest->next <= rest->end ? at : NULL;
}

/* Fewer than the CPU has are not taken: whoever reads them expects them all. */
static void take_branches(struct intel_pe_groups *g, struct rest *rest, u64 header)
{
	struct arch_branches *group = next_part(rest, sizeof(*group));
	u64 kind = (header & BRANCHES) >> BRANCHES_SHIFT;
	u64 n = kind * 8;

	if (group && kind == 3)
		n = group->depth & 0xff;
	next_part(rest, n * sizeof(*group->entry));
	if (group && n >= x86_pmu.lbr_nr)
		g->branches = group->entry;
}

static void take_values(struct intel_pe_groups *g, struct rest *rest)
{
	g->counters = next_part(rest, sizeof(*g->counters));
	if (g->counters)
		rest->next = intel_pe_behind_counters(g->counters);
}

/* The groups of one fragment, in this order.  Returns false if they are not within it. */
static bool take_fragment(struct intel_pe_groups *g, void *at)
{
	struct rest rest = { .next = at + 2 * sizeof(u64), .end = at + (*(u64 *)at & SIZE) };
	const u64 header = *(u64 *)at;
	void *part;

	if (header & BASIC)
		next_part(&rest, sizeof(struct arch_basic));
	if (header & AUX) {
		part = next_part(&rest, sizeof(struct arch_aux));
		if (part)
			take_aux(g, part);
	}
	if (header & GPRS)
		g->gprs = next_part(&rest, sizeof(struct arch_gprs));
	if (header & XMM) {
		next_part(&rest, 2 * sizeof(u64));
		g->xmms = next_part(&rest, sizeof(*g->xmms));
	}
	if (header & BRANCHES)
		take_branches(g, &rest, header);
	if (header & VALUES)
		take_values(g, &rest);
	return rest.next <= rest.end && !(header & ~KNOWN);
}

/**
 * intel_pe_arch_take_apart - find the groups of a record in all its fragments
 * @record: a whole one
 * @g: filled in
 *
 * Return: are they within the record?  If not, @g has the basic group alone, or nothing of a record
 * that is nobody's.
 */
bool intel_pe_arch_take_apart(void *record, struct intel_pe_groups *g)
{
	const struct arch_basic *basic = basic_of(record);
	bool within = true;
	void *at = record;
	u64 header;

	memset(g, 0, sizeof(*g));
	if (!basic)
		return false;
	take_basic(g, basic);
	do {
		header = *(u64 *)at;
		within &= take_fragment(g, at);
		at += header & SIZE;
	} while (goes_on(header));

	g->own.basic.format_group = header >> 32;
	g->own.basic.format_size = at - record;
	g->end = at;
	if (!within) {
		g->mem = NULL;
		g->gprs = NULL;
		g->xmms = NULL;
		g->branches = NULL;
		g->counters = NULL;
	}
	return within;
}

/* ------------------------------------------------------------ the buffer */

/** intel_pe_arch_wait - is the buffer not empty? */
bool intel_pe_arch_wait(void)
{
	u64 index;

	rdmsrl(MSR_PEBS_INDEX, index);
	return index & NEXT_RECORD;
}

/**
 * intel_pe_arch_take - take everything there is out of the buffer
 * @cpuc: state of this CPU; the PMU is off, the PMI blocked
 *
 * Return: the end of the records.
 */
void *intel_pe_arch_take(struct cpu_hw_events *cpuc)
{
	struct intel_arch_buffer *b = &cpuc->arch_buffer;
	u64 index = 0;

	lockdep_assert_irqs_disabled();
	rdmsrl(MSR_PEBS_INDEX, index);
	if (index & NEXT_RECORD)
		wrmsrl(MSR_PEBS_INDEX, b->index);
	return b->records + min_t(u64, index & NEXT_RECORD, PEBS_BUFFER_SIZE);
}

/**
 * intel_pe_arch_threshold - for how many records there is an interrupt
 * @cpuc: state of this CPU; the PMU is off
 *
 * It goes by the events that there are.  Records of before become samples first.
 */
void intel_pe_arch_threshold(struct cpu_hw_events *cpuc)
{
	u64 records = cpuc->n_pebs == cpuc->n_large_pebs ? MANY_RECORDS : ONE_RECORD;
	u64 index = ON | records << THRESHOLD_SHIFT;

	lockdep_assert_irqs_disabled();
	if (index == cpuc->arch_buffer.index)
		return;
	if (intel_pe_arch_wait())
		intel_pmu_drain_pebs_buffer();
	cpuc->arch_buffer.index = index;
	wrmsrl(MSR_PEBS_INDEX, index);
}

/* ------------------------------------------------------------ events */

/* Counters that have a CFG_C. */
static u64 configurable(struct cpu_hw_events *cpuc)
{
	return hybrid(cpuc->pmu, acr_cntr_mask64) | hybrid(cpuc->pmu, arch_pebs).counters;
}

static void write_cfg_c(struct cpu_hw_events *cpuc, int idx, u64 value)
{
	u32 msr = MSR_GP0_CFG_C + idx * MSR_IA32_PMC_V6_STEP;

	if (idx >= INTEL_PMC_IDX_FIXED)
		msr = MSR_FX0_CFG_C + (idx - INTEL_PMC_IDX_FIXED) * MSR_IA32_PMC_V6_STEP;
	wrmsrl(msr, value);
	cpuc->cfg_c[idx] = value;
}

/**
 * intel_pe_set_reload - what a counter begins again with
 * @cpuc: state of this CPU
 * @idx: the counter, which is off
 * @value: the value
 */
void intel_pe_set_reload(struct cpu_hw_events *cpuc, int idx, u32 value)
{
	if ((u32)cpuc->cfg_c[idx] != value)
		write_cfg_c(cpuc, idx, (cpuc->cfg_c[idx] & ~RELOAD) | value);
}

/* The groups that the event's samples need, of those that there are. */
static u64 groups_for(struct perf_event *event)
{
	u64 adaptive = intel_pe_groups_for(event), groups = 0;

	if (adaptive & PEBS_DATACFG_MEMINFO)
		groups |= AUX;
	if (adaptive & PEBS_DATACFG_GP)
		groups |= GPRS;
	if (adaptive & PEBS_DATACFG_XMMS)
		groups |= XMM;
	if (adaptive & PEBS_DATACFG_LBRS)
		groups |= BRANCHES;
	if (intel_pe_takes_snapshots(event))
		groups |= GENERAL | FIXED;
	return groups & hybrid(event->pmu, arch_pebs).groups;
}

static u64 config_of(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	u64 config = 0;

	if (hw->flags & PERF_X86_EVENT_ACR)
		config = (u32)-intel_pe_acr_reload(hw->last_period);
	else if (hw->flags & PERF_X86_EVENT_AUTO_RELOAD)
		config = (u32)-hw->sample_period;
	if (event->attr.precise_ip)
		config |= BASIC | groups_for(event);
	if (intel_pe_takes_snapshots(event))
		config |= ALLOW;
	return config;
}

/**
 * intel_pe_arch_enable - prepare an event's counter, also that of one that is not precise
 * @event: which starts; if it is precise the PMU is off
 */
void intel_pe_arch_enable(struct perf_event *event)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct hw_perf_event *hw = &event->hw;
	u64 config;

	if (hw->idx >= INTEL_PMC_IDX_FIXED_BTS || !(configurable(cpuc) & BIT_ULL(hw->idx)))
		return;
	config = config_of(event);
	if (event->attr.precise_ip) {
		intel_pe_arch_threshold(cpuc);
		hw->config &= ~ARCH_PERFMON_EVENTSEL_INT;
		cpuc->pebs_enabled |= BIT_ULL(hw->idx);
	}
	if (cpuc->cfg_c[hw->idx] != config)
		write_cfg_c(cpuc, hw->idx, config);
}

/**
 * intel_pe_arch_shown - may records have the counter's value?
 * @cpuc: state of this CPU
 * @idx: its number
 */
bool intel_pe_arch_shown(struct cpu_hw_events *cpuc, int idx)
{
	return cpuc->cfg_c[idx] & ALLOW;
}

/**
 * intel_pe_arch_counters - those that an event with attr.precise_ip may have
 * @event: it
 */
u64 intel_pe_arch_counters(struct perf_event *event)
{
	const struct intel_arch_pebs *pebs = &hybrid(event->pmu, arch_pebs);

	return event->attr.precise_ip > 2 ? pebs->exact : pebs->counters;
}

/* ------------------------------------------------------------ CPUs */

/** intel_pe_arch_prepare - a buffer for a CPU that will come up */
int intel_pe_arch_prepare(int cpu)
{
	struct page *page;

	if (!intel_pe_arch_pebs())
		return 0;
	page = alloc_pages_node(cpu_to_node(cpu), GFP_KERNEL | __GFP_ZERO,
				get_order(PEBS_BUFFER_SIZE));
	if (!page)
		return -ENOMEM;
	per_cpu(cpu_hw_events, cpu).arch_buffer.records = page_address(page);
	return 0;
}

/** intel_pe_arch_dead - it is down */
void intel_pe_arch_dead(int cpu)
{
	struct intel_arch_buffer *b = &per_cpu(cpu_hw_events, cpu).arch_buffer;

	if (b->records)
		free_pages((unsigned long)b->records, get_order(PEBS_BUFFER_SIZE));
	b->records = NULL;
}

/**
 * intel_pe_arch_starting - a CPU starts, or has lost its registers in suspend
 * @cpuc: state of this CPU; nothing counts
 *
 * Nobody knows what a kernel before this one has left in the registers.
 */
void intel_pe_arch_starting(struct cpu_hw_events *cpuc)
{
	struct intel_arch_buffer *b = &cpuc->arch_buffer;
	u64 able = configurable(cpuc);
	int i;

	for_each_set_bit(i, (unsigned long *)&able, X86_PMC_IDX_MAX)
		write_cfg_c(cpuc, i, 0);
	if (!b->records)
		return;
	wrmsrl(MSR_PEBS_BASE, virt_to_phys(b->records) | get_order(PEBS_BUFFER_SIZE));
	b->index = ON | ONE_RECORD << THRESHOLD_SHIFT;
	wrmsrl(MSR_PEBS_INDEX, b->index);
}

/**
 * intel_pe_arch_dying - no record is to be made any more, and none is to be expected
 * @cpuc: state of this CPU; its PMU is off
 */
void intel_pe_arch_dying(struct cpu_hw_events *cpuc)
{
	u64 able;
	int i;

	if (!intel_pe_arch_pebs())
		return;
	able = configurable(cpuc);
	for_each_set_bit(i, (unsigned long *)&able, X86_PMC_IDX_MAX)
		write_cfg_c(cpuc, i, 0);
	wrmsrl(MSR_PEBS_INDEX, 0);
	wrmsrl(MSR_PEBS_BASE, 0);
}

/* ------------------------------------------------------------ the end, and boot */

/* A task's event may be on this CPU: the PMU goes off and stays off, as in core/sleep.c. */
static void leave_nothing(void *unused)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	if (is_hybrid() && !cpuc->pmu)
		return;
	perf_pmu_disable(x86_get_pmu(smp_processor_id()));
	/* Events that come and go write no threshold any more. */
	cpuc->pebs_enabled = 0;
	x86_pmu.leave(cpuc);
	intel_pe_arch_dying(cpuc);
}

/*
 * The kernel ends, no event starts any more.  The next one, by kexec, may know nothing of these
 * registers: its counters would write records to memory that is not ours.
 */
static void intel_pe_arch_shutdown(void *unused)
{
	/* If the PMU could not be registered, nothing has been on. */
	if (!x86_pmu.pebs_active)
		return;
	on_each_cpu(leave_nothing, NULL, 1);
}

static const struct syscore_ops end_ops = { .shutdown = intel_pe_arch_shutdown };
static struct syscore end = { .ops = &end_ops };

/** intel_pe_arch_init - PERF_CAPABILITIES say that this is how the CPU records */
void __init intel_pe_arch_init(void)
{
	const u32 both = BIT(PEBS_CAPS_LEAF) | BIT(PEBS_COUNTERS_LEAF);

	x86_pmu.intel_cap.pebs_baseline = 0;
	if (x86_pmu.version < 6 || !boot_cpu_has(X86_FEATURE_ARCH_PERFMON_EXT) ||
	    (cpuid_eax(ARCH_PERFMON_EXT_LEAF) & both) != both) {
		pr_cont("no architectural PEBS, ");
		return;
	}
	x86_pmu.drain_pebs = intel_pe_drain_pebs;
	x86_pmu.pebs_capable = ~0ULL;
	/* Each kind of core has its own, and none until it is known. */
	x86_pmu.large_pebs_flags = 0;
	x86_pmu.flags |= PMU_FL_PEBS_ALL | PMU_FL_RETIRE_LATENCY | PMU_FL_INSTR_LATENCY;
	/* Each CPU has its buffer before it starts. */
	x86_pmu.pebs_active = 1;
	/* Before core/sleep.c does, so that events are stopped before. */
	register_syscore(&end);
	static_branch_enable(&intel_pe_arch_pebs_key);
	static_branch_enable(&intel_pe_records_count);
	pr_cont("Architectural PEBS, ");
}

/* Samples that can be made of records later: not those of groups that there are not. */
static unsigned long fields_of(u64 groups)
{
	unsigned long fields = LARGE_PEBS_FLAGS | PERF_SAMPLE_TIME;

	if (groups & BRANCHES)
		fields |= PERF_SAMPLE_BRANCH_STACK;
	if (groups & GENERAL)
		fields |= PERF_SAMPLE_READ;
	if (!(groups & AUX))
		fields &= ~(PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR |
			    PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_WEIGHT_TYPE);
	if (!(groups & GPRS))
		fields &= ~(PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER);
	return fields;
}

/**
 * intel_pe_arch_enumerate - what this kind of core can record
 * @pmu: one of hybrid PMUs, or NULL; its counters are known
 *
 * Groups with a fixed number of branches, and values of counters of one kind only, are not used.
 */
void intel_pe_arch_enumerate(struct pmu *pmu)
{
	u64 there = hybrid(pmu, intel_ctrl) & GENMASK_ULL(INTEL_PMC_IDX_FIXED_BTS - 1, 0);
	struct intel_arch_pebs *pebs = &hybrid(pmu, arch_pebs);
	u32 general, fixed, exact_general, exact_fixed, groups;

	if (!intel_pe_arch_pebs())
		return;
	cpuid_count(ARCH_PERFMON_EXT_LEAF, PEBS_CAPS_LEAF, &general, &groups, &fixed, &exact_fixed);
	cpuid_count(ARCH_PERFMON_EXT_LEAF, PEBS_COUNTERS_LEAF, &general, &exact_general, &fixed,
		    &exact_fixed);
	pebs->counters = (general | (u64)fixed << INTEL_PMC_IDX_FIXED) & there;
	pebs->exact = (exact_general | (u64)exact_fixed << INTEL_PMC_IDX_FIXED) & pebs->counters;
	pebs->groups = (u64)groups << 32;
	if ((pebs->groups & BRANCHES) != BRANCHES)
		pebs->groups &= ~BRANCHES;
	if ((pebs->groups & (GENERAL | FIXED)) != (GENERAL | FIXED))
		pebs->groups &= ~(GENERAL | FIXED);
	pebs->fields = fields_of(pebs->groups);
	if (!pmu) {
		x86_pmu.pebs_prec_dist = !!pebs->exact;
		pmu = x86_get_pmu(smp_processor_id());
	}
	if (pebs->groups & XMM)
		pmu->capabilities |= PERF_PMU_CAP_EXTENDED_REGS;
}
