// SPDX-License-Identifier: GPL-2.0
/*
 * Branch traces as an ordinary event: "branches" with a period of 1 takes a fake counter, and the
 * CPU writes every branch into the buffer of the debug store.  (The PMU intel_bts, in ../bts.c,
 * has buffers of its own and uses the two switches here as well.)
 *
 * All of it runs on the event's CPU with interrupts off or in the PMI's NMI, no locks.
 */
#include <linux/perf_event.h>

#include <asm/debugreg.h>
#include <asm/msr.h>

#include "cpu.h"

#define TRACE_BITS	(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS | DEBUGCTLMSR_BTINT | \
			 DEBUGCTLMSR_BTS_OFF_OS | DEBUGCTLMSR_BTS_OFF_USR)

struct event_constraint bts_constraint =
	EVENT_CONSTRAINT(0, BIT_ULL(INTEL_PMC_IDX_FIXED_BTS), 0);

/**
 * intel_pmu_enable_bts - write branches to the debug store from now on
 * @config: an event select of which OS, USR and INT count
 */
void intel_pmu_enable_bts(u64 config)
{
	unsigned long on = DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS;

	if (config & ARCH_PERFMON_EVENTSEL_INT)
		on |= DEBUGCTLMSR_BTINT;
	if (!(config & ARCH_PERFMON_EVENTSEL_OS))
		on |= DEBUGCTLMSR_BTS_OFF_OS;
	if (!(config & ARCH_PERFMON_EVENTSEL_USR))
		on |= DEBUGCTLMSR_BTS_OFF_USR;
	update_debugctlmsr(get_debugctlmsr() | on);
}

/**
 * intel_pmu_disable_bts - no more
 */
void intel_pmu_disable_bts(void)
{
	if (__this_cpu_read(cpu_hw_events.ds))
		update_debugctlmsr(get_debugctlmsr() & ~TRACE_BITS);
}

struct branch {
	u64 from, to, flags;
};

/* Branches into and out of the kernel tell its addresses. */
static bool may_tell(struct perf_event *event, const struct branch *b)
{
	return !event->attr.exclude_kernel || !(kernel_ip(b->from) || kernel_ip(b->to));
}

/* One sample per branch, all of them with the same header, in one reservation. */
static void write_samples(struct perf_event *event, const struct branch *b,
			  const struct branch *end)
{
	struct perf_output_handle handle;
	struct perf_event_header header;
	struct perf_sample_data data;
	const struct branch *each;
	struct pt_regs regs = {};
	unsigned int told = 0;

	for (each = b; each < end; each++)
		told += may_tell(event, each);
	if (!told)
		return;

	guard(rcu)();
	perf_sample_data_init(&data, 0, event->hw.last_period);
	perf_prepare_sample(&data, event, &regs);
	perf_prepare_header(&header, &data, event, &regs);
	if (perf_output_begin(&handle, &data, event, header.size * told))
		return;
	for (each = b; each < end; each++) {
		if (!may_tell(event, each))
			continue;
		data.ip = each->from;
		data.addr = each->to;
		perf_output_sample(&handle, &header, &data, event);
	}
	perf_output_end(&handle);
	event->hw.interrupts++;
	event->pending_kill = POLL_IN;
}

/**
 * intel_pmu_drain_bts_buffer - turn what has been written into samples
 *
 * From the PMI, and when the event is stopped; tracing is off.
 * Return: was there anything?
 */
int intel_pmu_drain_bts_buffer(void)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct perf_event *event = cpuc->events[INTEL_PMC_IDX_FIXED_BTS];
	struct debug_store *ds = cpuc->ds;
	struct branch *first, *end;

	if (!event || !x86_pmu.bts_active)
		return 0;
	first = (struct branch *)(unsigned long)ds->bts_buffer_base;
	end = (struct branch *)(unsigned long)ds->bts_index;
	if (end <= first)
		return 0;
	ds->bts_index = ds->bts_buffer_base;
	write_samples(event, first, end);
	return 1;
}
