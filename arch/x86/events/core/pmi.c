// SPDX-License-Identifier: GPL-2.0
/*
 * The performance monitoring interrupt, which comes as NMI.
 *
 * x86_pe_nmi() is registered for NMI_LOCAL and called for every such NMI, ours or not.  It says how
 * many counters it found overflowed: the NMI layer uses that to swallow an NMI that was latched
 * while the counters of the next one were handled here already (back to back), and to report one
 * that nobody knows.  The vendor's handle_irq does the work; x86_pmu_handle_irq() is that of CPUs
 * without an overflow status.
 *
 * Delivery masks the local APIC's entry (on Intel), the vendor's handler unmasks it.  An NMI that
 * does not get there may have been a PMI: there was no event, or it merged with the one that has
 * CPUs wait for new microcode.  Hence the entry is known to be unmasked only as long as this CPU
 * has had no NMI but those that were handled.
 */
#include <linux/hardirq.h>
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "core.h"

/* The PMU was on when the PMI came; else that was late, in the middle of what is done to events. */
static DEFINE_PER_CPU(bool, was_on);

/* See x86_pmu_hold_throttled(): it does, and the counters of who is to stop. */
struct held {
	bool	on;
	u64	counters;
};

static DEFINE_PER_CPU(struct held, held);

/* sched_clock() until when an NMI that finds nothing is the one that was raised here. */
static DEFINE_PER_CPU(u64, raised_until);

/* nmis() when the local APIC's entry was known to deliver NMIs on this CPU last; 0: never. */
static DEFINE_PER_CPU(unsigned int, lvtpc_armed);

/* How many NMIs this CPU has had, counted before anybody handles them; and one more. */
static unsigned int nmis(void)
{
	return this_cpu_read(irq_stat.__nmi_count) + 1;
}

static bool overflowed(u64 raw)
{
	return !(raw & BIT_ULL(x86_pmu.cntval_bits - 1));
}

static bool any_overflowed(struct cpu_hw_events *cpuc)
{
	u64 raw;
	int idx;

	for_each_set_bit(idx, cpuc->active_mask, INTEL_PMC_IDX_FIXED) {
		rdpmcl(cpuc->events[idx]->hw.event_base_rdpmc, raw);
		if (overflowed(raw))
			return true;
	}
	return false;
}

/* Event of a counter that overflowed.  The counter may count on, with the next period. */
static void take_sample(struct cpu_hw_events *cpuc, struct perf_event *event, struct pt_regs *regs)
{
	struct perf_sample_data data __uninitialized;

	/* The sample's period is the one that ended, not the one that begins. */
	perf_sample_data_init(&data, 0, event->hw.last_period);
	if (!static_call(x86_pmu_set_period)(event))
		return;		/* the period is longer than the counter */
	if (has_branch_stack(event))
		perf_sample_save_brstack(&data, event, &cpuc->lbr_stack, NULL);
	if (perf_event_overflow(event, &data, regs))
		x86_pmu_stop(event, 0);
}

/**
 * x86_pmu_handle_irq - handle a PMI by looking at every counter
 * @regs: registers of what was interrupted
 *
 * NMI.  Unmasks the local APIC's entry first: a counter that overflows from then on latches another
 * NMI.
 * Return: number of counters that had overflowed.
 */
int x86_pmu_handle_irq(struct pt_regs *regs)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int idx, handled = 0;

	if (x86_pmu_pmi_waits(cpuc))
		return any_overflowed(cpuc);
	apic_write(APIC_LVTPC, APIC_DM_NMI);

	/* An event may stop others, which then are no longer set when their turn comes. */
	for_each_set_bit(idx, cpuc->active_mask, INTEL_PMC_IDX_FIXED) {
		struct perf_event *event = cpuc->events[idx];

		if (!overflowed(static_call(x86_pmu_update)(event)))
			continue;
		handled++;
		take_sample(cpuc, event, regs);
	}
	if (handled)
		inc_irq_stat(apic_perf_irqs);
	return handled;
}

/*
 * Is the entry's state not known after an NMI?  The base's driver for Knights Corner leaves the
 * entry as it is, and under Xen it is the hypervisor's.
 */
static bool may_be_masked(void)
{
	return (IS_ENABLED(CONFIG_CPU_SUP_INTEL) && unlikely(boot_cpu_data.x86 == 0x0b)) ||
	       cpu_feature_enabled(X86_FEATURE_XENPV);
}

/* NMI_LOCAL handler. */
int x86_pe_nmi(unsigned int cmd, struct pt_regs *regs)
{
	u64 start;
	int handled;

	if (!atomic_read(&x86_pe_active_events))
		return NMI_DONE;
	start = sched_clock();
	__this_cpu_write(was_on, __this_cpu_read(cpu_hw_events.enabled));
	handled = static_call(x86_pmu_handle_irq)(regs);
	if (!handled && unlikely(start < __this_cpu_read(raised_until)))
		handled = NMI_HANDLED;
	if (!may_be_masked() && !__this_cpu_read(cpu_hw_events.pmi_waits))
		__this_cpu_write(lvtpc_armed, nmis());
	perf_sample_event_took(sched_clock() - start);
	return handled;
}

NOKPROBE_SYMBOL(x86_pe_nmi);

/* ------------------------------------------------------------ a PMI that waits */

/*
 * A PMI may be late: it comes between any two instructions, also while the PMU is off.  What a
 * counter has seen goes to the event's count and its period in several steps, and what is in PEBS
 * records in thousands.  A PMI in between would make samples whose counts lack something, or none,
 * as the period seems not to be over.  So these steps are between x86_pmu_block_pmi() and
 * x86_pmu_unblock_pmi():
 *
 *   free	cpu_hw_events.pmi_blocked is 0, pmi_waits is false; a PMI is handled
 *   blocked	pmi_blocked says how deep.  An NMI that may be a PMI sets pmi_waits and returns.  It
 *		has not acknowledged an overflow, and where the entry of the local APIC was masked
 *		it stays so (unmasked, the status may raise the next one at once): the next NMI
 *		finds the same.  Only traces are served, whose buffers fill up meanwhile.
 *   unblocking	pmi_blocked is 0 again.  A PMI is handled, and waits no more.  If one still does,
 *		x86_pmu_raise_pmi() sends an NMI to this CPU, which finds what waits.  It may also
 *		find nothing: another has come right before it, or the first was none.  Hence
 *		raised_until.
 *
 * All of it is on one CPU.  Other NMIs may read events in between, by BPF: they block and unblock
 * within.  The drivers for P4, Knights Corner and Zhaoxin have handlers of their own, which do not
 * wait.
 */

/* It takes less than a microsecond, but a virtual CPU may not run for a while. */
#define DELIVERED_WITHIN	(10 * NSEC_PER_MSEC)

/** x86_pmu_raise_pmi - the PMI that waits comes now.  Interrupts off. */
void x86_pmu_raise_pmi(void)
{
	/* An NMI reads an event: who was interrupted by that has blocked the PMI, and raises it. */
	if (this_cpu_read(cpu_hw_events.pmi_blocked))
		return;
	this_cpu_write(cpu_hw_events.pmi_waits, false);
	this_cpu_write(raised_until, sched_clock() + DELIVERED_WITHIN);
#ifdef CONFIG_X86_LOCAL_APIC
	__apic_send_IPI(smp_processor_id(), NMI_VECTOR);
#endif
}

/* Old CPUs of Intel tell one NMI from two by how many counters have been found overflowed. */
static bool must_find_all(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && x86_pmu.version < 2;
}

/*
 * Its turn in this PMI is still to come, and brings a sample: the counter may have less than its
 * period.  The samples of PEBS are not made of overflows.
 */
static bool has_overflowed(struct perf_event *event)
{
	if (!is_sampling_event(event) || event->attr.precise_ip)
		return false;
	/* Others may have reloaded it since. */
	if (unlikely(event->hw.flags & PERF_X86_EVENT_ACR))
		return this_cpu_read(cpu_hw_events.acr.due) & BIT_ULL(event->hw.idx);
	return overflowed(static_call(x86_pmu_update)(event)) &&
	       local64_read(&event->hw.period_left) <= 0;
}

static void stop_along(struct perf_event *event)
{
	if (!has_overflowed(event))
		x86_pmu_stop(event, PERF_EF_UPDATE);
}

/* struct pmu's throttle.  Branch traces are switched on at other places, and are not counted. */
bool x86_pe_throttle(struct perf_event *event)
{
	if (!__this_cpu_read(was_on) || must_find_all() ||
	    event->hw.idx == INTEL_PMC_IDX_FIXED_BTS)
		return false;
	if (__this_cpu_read(held.on))
		__this_cpu_or(held.counters, BIT_ULL(event->hw.idx));
	else
		stop_along(event);
	return true;
}

/**
 * x86_pmu_hold_throttled - events that are throttled along with others stop later, or now
 * @hold: later; or those that were to
 *
 * For a PMI that makes many samples at once, whose counts are those of then.  The PMU is off.
 */
void x86_pmu_hold_throttled(bool hold)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	u64 counters = __this_cpu_read(held.counters);
	int idx;

	__this_cpu_write(held.on, hold);
	if (likely(!counters))
		return;
	__this_cpu_write(held.counters, 0);
	for_each_set_bit(idx, (unsigned long *)&counters, X86_PMC_IDX_MAX) {
		if (cpuc->events[idx])
			stop_along(cpuc->events[idx]);
	}
}

/**
 * perf_events_lapic_init - have this CPU's PMI delivered as NMI
 *
 * Also called by the APIC code when it sets up a CPU, perhaps before there is a driver.
 */
void perf_events_lapic_init(void)
{
	if (x86_pmu.apic)
		apic_write(APIC_LVTPC, APIC_DM_NMI);
}

/*
 * Counters are about to be let go: make sure that their PMI arrives.  Interrupts off.
 *
 * Writing the entry costs as much as programming a counter, so it is written only when its state is
 * not known: at first, after the CPU was down, after an NMI that was not handled.  The NMIs are
 * counted before the write, so one that comes in between is taken for unhandled at worst.  Under
 * Xen the entry is the hypervisor's and may change behind our back.
 */
void x86_pe_arm_lvtpc(void)
{
	unsigned int now = nmis();

	if (likely(__this_cpu_read(lvtpc_armed) == now))
		return;
	perf_events_lapic_init();
	__this_cpu_write(lvtpc_armed, boot_cpu_has(X86_FEATURE_XENPV) ? 0 : now);
}

void x86_pe_forget_lvtpc(void)
{
	__this_cpu_write(lvtpc_armed, 0);
}
