// SPDX-License-Identifier: GPL-2.0
/*
 * TSX_FORCE_ABORT: microcode of Skylake and its kin takes counter 3 for transactions.
 *
 * Either transactions abort, or counter 3 must not be used.  Aborting is switched on before an
 * event gets the counter, and off when the PMU goes on without one there.  allow_tsx_force_abort in
 * sysfs, 1 at boot, says which of the two matters more.
 */
#include <linux/cpu.h>
#include <linux/device.h>

#include "cpu.h"

#define TFA_COUNTER	3

static bool allowed = true;

static void set_tfa(struct cpu_hw_events *cpuc, u64 value)
{
	if (cpuc->tfa_shadow == value)
		return;
	cpuc->tfa_shadow = value;
	wrmsrl(MSR_TSX_FORCE_ABORT, value);
}

/* Transactions need not abort: the counter is free.  This CPU, interrupts off. */
void intel_pe_tfa_allow(struct cpu_hw_events *cpuc)
{
	set_tfa(cpuc, 0);
}

/* x86_pmu.get_event_constraints */
static struct event_constraint *
intel_pe_tfa_get(struct cpu_hw_events *cpuc, int i, struct perf_event *event)
{
	struct event_constraint *c = intel_pe_get_hsw(cpuc, i, event);

	if (!READ_ONCE(allowed) && test_bit(TFA_COUNTER, c->idxmsk))
		return intel_pe_leave_only(cpuc, c, ~BIT_ULL(TFA_COUNTER));
	return c;
}

static void intel_pe_tfa_commit(struct cpu_hw_events *cpuc, int i, int counter)
{
	if (counter == TFA_COUNTER)
		set_tfa(cpuc, MSR_TFA_RTM_FORCE_ABORT);
}

/* Also by a throttled event: it counts again without being scheduled. */
static bool is_assigned(const struct cpu_hw_events *cpuc)
{
	int i;

	for (i = 0; i < cpuc->n_events; i++)
		if (cpuc->assign[i] == TFA_COUNTER)
			return true;
	return false;
}

static void intel_pe_tfa_enable_all(int added)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);

	if (!is_assigned(cpuc))
		intel_pe_tfa_allow(cpuc);
	intel_pe_enable_all(added);
}

/*
 * Constraints are asked for again: what has the counter goes elsewhere, and what has another one
 * cannot be moved there later.
 */
static void intel_pe_tfa_ask_again(void *unused)
{
	if (__this_cpu_read(cpu_hw_events.n_events))
		perf_pmu_resched(x86_get_pmu(smp_processor_id()));
}

static ssize_t allow_tsx_force_abort_show(struct device *dev, struct device_attribute *attr,
					  char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(allowed));
}

static ssize_t allow_tsx_force_abort_store(struct device *dev, struct device_attribute *attr,
					   const char *page, size_t len)
{
	bool value;
	int ret = kstrtobool(page, &value);

	if (ret)
		return ret;
	if (value == READ_ONCE(allowed))
		return len;

	WRITE_ONCE(allowed, value);
	cpus_read_lock();
	on_each_cpu(intel_pe_tfa_ask_again, NULL, 1);
	cpus_read_unlock();
	return len;
}

struct device_attribute intel_pe_tfa_attr = __ATTR_RW(allow_tsx_force_abort);

/* Not where the microcode aborts all transactions anyway. */
void __init intel_pe_tfa_setup(void)
{
	if (!boot_cpu_has(X86_FEATURE_TSX_FORCE_ABORT) ||
	    boot_cpu_has(X86_FEATURE_RTM_ALWAYS_ABORT))
		return;
	x86_pmu.flags |= PMU_FL_TFA;
	x86_pmu.get_event_constraints = intel_pe_tfa_get;
	x86_pmu.enable_all = intel_pe_tfa_enable_all;
	x86_pmu.commit_scheduling = intel_pe_tfa_commit;
}
