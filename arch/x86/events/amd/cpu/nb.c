// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that the cores of a node share: K8 to family 12h, 14h.
 *
 * There, an event of the northbridge (memory, third-level cache, links: codes with 0xe0 set)
 * counts on each core in a counter of the core's, but what arrives in counter n of two cores is
 * the same counter of the northbridge.  So for each n one core of the node at most may use it for
 * such an event.  Later families have separate counters for them, see amd/uncore.c, and other
 * events are not affected.
 *
 * struct amd_nb is the node's.  owners[n] is the event that has counter n: taken and given back
 * with compare-and-exchange, as the cores of the node do that at the same time, each with its own
 * lock. Only the event's CPU takes or gives back for an event, interrupts off, so nobody else puts
 * it in or takes it out.  event_constraints[n] is "counter n and no other".  nb_id and refcnt
 * change while CPUs come and go, one at a time.
 */
#include <linux/slab.h>
#include <linux/topology.h>

#include <asm/apicdef.h>
#include <asm/topology.h>

#include "cpu.h"

static bool is_shared(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	struct amd_nb *nb = cpuc->amd_nb;

	return nb && nb->nb_id != -1 && (event->hw.config & 0xe0) == 0xe0;
}

/* The counter that @event has, or -1. */
static int owned(struct amd_nb *nb, struct perf_event *event)
{
	int n;

	for_each_set_bit(n, x86_pmu.cntr_mask, X86_PMC_IDX_MAX) {
		if (READ_ONCE(nb->owners[n]) == event)
			return n;
	}
	return -1;
}

static bool take(struct amd_nb *nb, int n, struct perf_event *event)
{
	return !READ_ONCE(nb->owners[n]) && !cmpxchg(&nb->owners[n], NULL, event);
}

/* A counter for @event: the one it has, the one it had, or the first that is free; else -1. */
static int find(struct amd_nb *nb, struct perf_event *event)
{
	int n = owned(nb, event);

	if (n >= 0)
		return n;
	n = event->hw.idx;
	if (n >= 0 && test_bit(n, x86_pmu.cntr_mask) && take(nb, n, event))
		return n;
	for_each_set_bit(n, x86_pmu.cntr_mask, X86_PMC_IDX_MAX) {
		if (take(nb, n, event))
			return n;
	}
	return -1;
}

/*
 * x86_pmu.get_event_constraints: one counter that is this event's now, or none.  No core event is
 * bound to a counter here, so the solver can give it this one.  Made-up states have no node.
 */
struct event_constraint *amd_pe_nb_constraint(struct cpu_hw_events *cpuc, int idx,
					      struct perf_event *event)
{
	int n;

	if (!is_shared(cpuc, event))
		return &unconstrained;
	n = find(cpuc->amd_nb, event);
	return n < 0 ? &emptyconstraint : &cpuc->amd_nb->event_constraints[n];
}

/* x86_pmu.put_event_constraints: the event is off its counter, or was not put on it at all. */
void amd_pe_nb_release(struct cpu_hw_events *cpuc, struct perf_event *event)
{
	int n;

	if (!is_shared(cpuc, event))
		return;
	n = owned(cpuc->amd_nb, event);
	if (n >= 0)
		cmpxchg_release(&cpuc->amd_nb->owners[n], event, NULL);
}

/* Before @cpu starts, when memory can be had: a node, in case it is the first of its node. */
int amd_pe_nb_prepare(int cpu)
{
	struct cpu_hw_events *cpuc = &per_cpu(cpu_hw_events, cpu);
	struct amd_nb *nb;
	int n;

	WARN_ON_ONCE(cpuc->amd_nb);
	nb = kzalloc_node(sizeof(*nb), GFP_KERNEL, cpu_to_node(cpu));
	if (!nb)
		return -ENOMEM;
	nb->nb_id = -1;
	for_each_set_bit(n, x86_pmu.cntr_mask, X86_PMC_IDX_MAX) {
		nb->event_constraints[n] =
			(struct event_constraint)__EVENT_CONSTRAINT(0, BIT_ULL(n), 0, 1, 0, 0);
	}
	cpuc->amd_nb = nb;
	return 0;
}

static struct amd_nb *node_of_others(int id)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct amd_nb *nb = per_cpu(cpu_hw_events, cpu).amd_nb;

		if (!WARN_ON_ONCE(!nb) && nb->nb_id == id)
			return nb;
	}
	return NULL;
}

/* On @cpu, which starts, interrupts off. */
void amd_pe_nb_join(int cpu)
{
	struct cpu_hw_events *cpuc = &per_cpu(cpu_hw_events, cpu);
	int id = topology_amd_node_id(cpu);
	struct amd_nb *there;

	WARN_ON_ONCE(id == BAD_APICID);
	there = node_of_others(id);
	if (there) {
		/* freed when that is possible again */
		cpuc->kfree_on_online[X86_PERF_KFREE_SHARED] = cpuc->amd_nb;
		cpuc->amd_nb = there;
	}
	cpuc->amd_nb->nb_id = id;
	cpuc->amd_nb->refcnt++;
}

/* After @cpu has gone, or failed to start. */
void amd_pe_nb_leave(int cpu)
{
	struct cpu_hw_events *cpuc = &per_cpu(cpu_hw_events, cpu);
	struct amd_nb *nb = cpuc->amd_nb;

	cpuc->amd_nb = NULL;
	if (nb && (nb->nb_id == -1 || !--nb->refcnt))
		kfree(nb);
}
