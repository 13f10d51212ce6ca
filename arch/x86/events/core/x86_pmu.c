// SPDX-License-Identifier: GPL-2.0
/*
 * What all files of the driver work with: the vendor's struct x86_pmu, the state of each CPU, the
 * struct pmu, and the static calls.
 *
 * x86_pmu and the static calls are written at boot (the vendor, ../start/), x86_pe_pmu by pmu.c,
 * and cpu_hw_events by its CPU with interrupts off.  Nothing here calls another file of the driver.
 */
#include <linux/perf_event.h>

#include "core.h"

struct x86_pmu x86_pmu __read_mostly;
DEFINE_STATIC_KEY_FALSE(perf_is_hybrid);

/* Hybrid PMUs are copies of it; pmu.c has its operations. */
struct pmu x86_pe_pmu;

DEFINE_PER_CPU(struct cpu_hw_events, cpu_hw_events) = {
	.pmu		= &x86_pe_pmu,
	.enabled	= 1,
};

/* The general counters, any of them; and none. */
struct event_constraint unconstrained;
struct event_constraint emptyconstraint;

#define X86_PE_CALL(op)	DEFINE_STATIC_CALL_NULL(x86_pmu_##op, *x86_pmu.op)
#include "calls.h"
/* KVM calls this one even if there is no PMU. */
DEFINE_STATIC_CALL_RET0(x86_pmu_guest_get_msrs, *x86_pmu.guest_get_msrs);

/* x86_pmu is complete. */
void __init x86_pe_set_calls(void)
{
#define X86_PE_CALL(op)	static_call_update(x86_pmu_##op, x86_pmu.op)
#include "calls.h"
	static_call_update(x86_pmu_guest_get_msrs, x86_pmu.guest_get_msrs);
}

/**
 * is_x86_event - is this an event of the CPU PMU, or of one of them?
 * @event: any event
 */
int is_x86_event(struct perf_event *event)
{
	int i;

	if (!is_hybrid())
		return event->pmu == &x86_pe_pmu;
	for (i = 0; i < x86_pmu.num_hybrid_pmus; i++) {
		if (event->pmu == &x86_pmu.hybrid_pmu[i].pmu)
			return true;
	}
	return false;
}

/**
 * x86_get_pmu - the PMU of a CPU
 * @cpu: the CPU
 *
 * One of a hybrid machine that was never up has none.
 */
struct pmu *x86_get_pmu(unsigned int cpu)
{
	struct pmu *pmu = per_cpu(cpu_hw_events, cpu).pmu;

	return WARN_ON_ONCE(!pmu) ? &x86_pe_pmu : pmu;
}
