// SPDX-License-Identifier: GPL-2.0
/*
 * The debug store: the memory into which a CPU writes its PEBS and branch trace records.
 *
 * MSR_IA32_DS_AREA points to struct debug_store, which names two buffers.  The CPU writes there by
 * linear address from whatever context it is in, user space included, so with page table isolation
 * both must be mapped in the page tables of user space as well.  That is what the cpu_entry_area
 * is for: the area lies there for good, and the pages of a buffer are shown there while the buffer
 * exists.  The kernel reads records by those addresses, too.
 *
 * reserve_ds_buffers() and release_ds_buffers() run in task context under the mutex of
 * x86_reserve_hardware(), with the first and after the last event.  A CPU that comes up meanwhile
 * looks at cpu_hw_events.ds in init_debug_store_on_cpu(); so the pointer is set before the CPUs
 * are told.  A CPU is not told when the buffers go: its area stays, and nothing is written there
 * while PEBS and branch traces are off.
 */
#include <linux/gfp.h>
#include <linux/mm.h>

#include <asm/cpu_entry_area.h>
#include <asm/io.h>
#include <asm/msr.h>
#include <asm/tlbflush.h>

#include "pebs.h"

/* A record of a branch trace: from, to, flags. */
#define TRACE_RECORD	(3 * sizeof(u64))

/* All of its page is seen by user space's page tables: it has the page for itself. */
DEFINE_PER_CPU_PAGE_ALIGNED(struct debug_store, cpu_debug_store);

/* One of the two buffers: where its pages are shown, and the pages. */
struct buffer {
	void	*window;
	void	**pages;
	size_t	size;
};

static struct buffer pebs_buffer(int cpu)
{
	return (struct buffer){
		.window	= get_cpu_entry_area(cpu)->cpu_debug_buffers.pebs_buffer,
		.pages	= &per_cpu(cpu_hw_events, cpu).ds_pebs_vaddr,
		.size	= x86_pmu.pebs_buffer_size,
	};
}

static struct buffer trace_buffer(int cpu)
{
	return (struct buffer){
		.window	= get_cpu_entry_area(cpu)->cpu_debug_buffers.bts_buffer,
		.pages	= &per_cpu(cpu_hw_events, cpu).ds_bts_vaddr,
		.size	= BTS_BUFFER_SIZE,
	};
}

/* Show @pages in the window, nothing if NULL.  Every CPU may have old entries in its TLB. */
static void show(struct buffer *b, void *pages)
{
	unsigned long start = (unsigned long)b->window;
	size_t at;

	guard(preempt)();
	for (at = 0; at < b->size; at += PAGE_SIZE) {
		if (pages)
			cea_set_pte(b->window + at, virt_to_phys(pages + at), PAGE_KERNEL);
		else
			cea_set_pte(b->window + at, 0, PAGE_NONE);
	}
	flush_tlb_kernel_range(start, start + b->size);
}

static int provide(struct buffer b, int cpu, gfp_t how)
{
	struct page *page;

	page = __alloc_pages_node(cpu_to_node(cpu), GFP_KERNEL | __GFP_ZERO | how,
				  get_order(b.size));
	if (!page)
		return -ENOMEM;
	*b.pages = page_address(page);
	show(&b, *b.pages);
	return 0;
}

static void withdraw(struct buffer b)
{
	if (!*b.pages)
		return;
	show(&b, NULL);
	free_pages((unsigned long)*b.pages, get_order(b.size));
	*b.pages = NULL;
}

static void withdraw_pebs(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		intel_pe_free_rewind(cpu);
		withdraw(pebs_buffer(cpu));
	}
}

static void withdraw_traces(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		withdraw(trace_buffer(cpu));
}

/* A PEBS buffer for every CPU, or none. */
static bool provide_pebs(void)
{
	struct debug_store *ds;
	struct buffer b;
	int cpu;

	for_each_possible_cpu(cpu) {
		b = pebs_buffer(cpu);
		if (provide(b, cpu, 0) || intel_pe_alloc_rewind(cpu)) {
			withdraw_pebs();
			return false;
		}
		ds = &get_cpu_entry_area(cpu)->cpu_debug_store;
		ds->pebs_buffer_base = (unsigned long)b.window;
		ds->pebs_index = ds->pebs_buffer_base;
		ds->pebs_absolute_maximum = ds->pebs_buffer_base +
					    rounddown(b.size, x86_pmu.pebs_record_size);
	}
	return true;
}

/* The same for branch traces.  The interrupt comes when a sixteenth of the buffer is left. */
static bool provide_traces(void)
{
	const size_t records = BTS_BUFFER_SIZE / TRACE_RECORD;
	struct debug_store *ds;
	struct buffer b;
	int cpu;

	for_each_possible_cpu(cpu) {
		b = trace_buffer(cpu);
		if (provide(b, cpu, __GFP_NOWARN)) {
			pr_warn_once("no memory for branch traces\n");
			withdraw_traces();
			return false;
		}
		ds = &get_cpu_entry_area(cpu)->cpu_debug_store;
		ds->bts_buffer_base = (unsigned long)b.window;
		ds->bts_index = ds->bts_buffer_base;
		ds->bts_absolute_maximum = ds->bts_buffer_base + records * TRACE_RECORD;
		ds->bts_interrupt_threshold = ds->bts_buffer_base +
					      (records - records / 16) * TRACE_RECORD;
	}
	return true;
}

static void tell(int cpu, u32 msr, u64 value)
{
	/* Fails for a CPU that is down: it is told when it comes up. */
	wrmsr_on_cpu(cpu, msr, lower_32_bits(value), upper_32_bits(value));
}

/**
 * init_debug_store_on_cpu - tell a CPU where its debug store is
 * @cpu: it, perhaps offline; called by itself when it comes up
 *
 * A CPU that was off has forgotten, too, which groups its PEBS records have, while
 * cpu_hw_events.active_pebs_data_cfg has not; a kernel before this one may have left others.
 */
void init_debug_store_on_cpu(int cpu)
{
	struct cpu_hw_events *cpuc = &per_cpu(cpu_hw_events, cpu);

	if (!cpuc->ds)
		return;
	tell(cpu, MSR_IA32_DS_AREA, (unsigned long)cpuc->ds);
	if (x86_pmu.pebs && x86_pmu.intel_cap.pebs_baseline)
		tell(cpu, MSR_PEBS_DATA_CFG, cpuc->active_pebs_data_cfg);
}

/**
 * fini_debug_store_on_cpu - a CPU goes down
 * @cpu: this CPU
 */
void fini_debug_store_on_cpu(int cpu)
{
	if (per_cpu(cpu_hw_events, cpu).ds)
		tell(cpu, MSR_IA32_DS_AREA, 0);
}

/**
 * reserve_ds_buffers - memory for PEBS and branch traces on every possible CPU
 *
 * What there is no memory for stays inactive on all CPUs; that is no error.
 */
void reserve_ds_buffers(void)
{
	bool bts, pebs;
	int cpu;

	if (!x86_pmu.bts && !x86_pmu.pebs)
		return;

	for_each_possible_cpu(cpu)
		memset(&get_cpu_entry_area(cpu)->cpu_debug_store, 0, sizeof(struct debug_store));
	bts = x86_pmu.bts && provide_traces();
	pebs = x86_pmu.pebs && provide_pebs();
	if (bts || pebs) {
		for_each_possible_cpu(cpu)
			per_cpu(cpu_hw_events, cpu).ds = &get_cpu_entry_area(cpu)->cpu_debug_store;
		for_each_possible_cpu(cpu)
			init_debug_store_on_cpu(cpu);
	}
	/* What the last attempt gave stays when the memory is gone: for caps/max_precise. */
	x86_pmu.bts_active = bts;
	if (!intel_pe_arch_pebs())
		x86_pmu.pebs_active = pebs;
}

/**
 * release_ds_buffers - give that memory back
 */
void release_ds_buffers(void)
{
	int cpu;

	if (!x86_pmu.bts && !x86_pmu.pebs)
		return;

	for_each_possible_cpu(cpu)
		per_cpu(cpu_hw_events, cpu).ds = NULL;
	withdraw_traces();
	withdraw_pebs();
}

/**
 * intel_pe_freeze_in_smm - do this CPU's counters stand still in system management mode?
 * @unused: for on_each_cpu()
 *
 * Interrupts off.
 */
void intel_pe_freeze_in_smm(void *unused)
{
	if (x86_pmu.attr_freeze_on_smi)
		msr_set_bit(MSR_IA32_DEBUGCTLMSR, DEBUGCTLMSR_FREEZE_IN_SMM_BIT);
	else
		msr_clear_bit(MSR_IA32_DEBUGCTLMSR, DEBUGCTLMSR_FREEZE_IN_SMM_BIT);
}

/**
 * perf_restore_debug_store - this CPU lost its registers in suspend
 *
 * Early in resume, interrupts off.
 */
void perf_restore_debug_store(void)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	if (x86_pmu.version > 1 && boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		intel_pe_freeze_in_smm(NULL);
	if (!is_hybrid() || cpuc->pmu)
		intel_pe_arch_starting(cpuc);
	if (!x86_pmu.bts && !x86_pmu.pebs)
		return;
	wrmsrl(MSR_IA32_DS_AREA, (unsigned long)cpuc->ds);
	if (x86_pmu.pebs && x86_pmu.intel_cap.pebs_baseline)
		wrmsrl(MSR_PEBS_DATA_CFG, cpuc->active_pebs_data_cfg);
}
