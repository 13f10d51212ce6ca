// SPDX-License-Identifier: GPL-2.0
/*
 * The driver starts: find the vendor's part, complete it, connect it to NMI, hotplug and core.
 *
 * Owns the hotplug callbacks; the static calls have their targets from here on.  Runs once, as
 * early_initcall; if anything fails, all is undone and x86_pmu is empty, which every later caller
 * from outside takes for "no PMU".
 */
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "../core/core.h"

static int x86_pe_prepare_cpu(unsigned int cpu)
{
	struct cpu_hw_events *cpuc = per_cpu_ptr(&cpu_hw_events, cpu);

	memset(cpuc->kfree_on_online, 0, sizeof(cpuc->kfree_on_online));
	return x86_pmu.cpu_prepare ? x86_pmu.cpu_prepare(cpu) : 0;
}

static int x86_pe_clean_up_cpu(unsigned int cpu)
{
	if (x86_pmu.cpu_dead)
		x86_pmu.cpu_dead(cpu);
	return 0;
}

/*
 * On the new CPU, interrupts off.  Nobody knows what its PMU has been doing: take it for on, so
 * that it is turned off before the first event is programmed.
 */
static int x86_pe_start_cpu(unsigned int cpu)
{
	__this_cpu_write(cpu_hw_events.enabled, 1);
	if (x86_pmu.cpu_starting)
		x86_pmu.cpu_starting(cpu);
	return 0;
}

/* On the CPU that goes, interrupts off. */
static int x86_pe_stop_cpu(unsigned int cpu)
{
	x86_pe_forget_lvtpc();
	if (x86_pmu.cpu_dying)
		x86_pmu.cpu_dying(cpu);
	return 0;
}

/* x86_pe_start_cpu() could not free what it had no need for. */
static int x86_pe_finish_cpu(unsigned int cpu)
{
	struct cpu_hw_events *cpuc = per_cpu_ptr(&cpu_hw_events, cpu);
	int i;

	for (i = 0; i < X86_PERF_KFREE_MAX; i++) {
		kfree(cpuc->kfree_on_online[i]);
		cpuc->kfree_on_online[i] = NULL;
	}
	return 0;
}

struct hotplug_step {
	enum cpuhp_state	state;
	const char		*name;
	int			(*up)(unsigned int cpu);
	int			(*down)(unsigned int cpu);
};

static const struct hotplug_step hotplug_step[] __initconst = {
	{ CPUHP_PERF_X86_PREPARE, "perf/x86:prepare", x86_pe_prepare_cpu, x86_pe_clean_up_cpu },
	{ CPUHP_AP_PERF_X86_STARTING, "perf/x86:starting", x86_pe_start_cpu, x86_pe_stop_cpu },
	{ CPUHP_AP_PERF_X86_ONLINE, "perf/x86:online", x86_pe_finish_cpu, NULL },
};

static void __init leave_hotplug(int steps)
{
	while (steps--)
		cpuhp_remove_state(hotplug_step[steps].state);
}

static int __init join_hotplug(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(hotplug_step); i++) {
		ret = cpuhp_setup_state(hotplug_step[i].state, hotplug_step[i].name,
					hotplug_step[i].up, hotplug_step[i].down);
		if (ret) {
			leave_hotplug(i);
			return ret;
		}
	}
	return 0;
}

static int __init init_vendor(void)
{
	int ret;

	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
		return intel_pmu_init();
	case X86_VENDOR_CENTAUR:
	case X86_VENDOR_ZHAOXIN:
		return zhaoxin_pmu_init();
	case X86_VENDOR_AMD:
		return amd_pmu_init();
	case X86_VENDOR_HYGON:
		ret = amd_pmu_init();
		x86_pmu.name = "HYGON";
		return ret;
	}
	return -ENODEV;
}

static void __init check_apic(void)
{
	if (boot_cpu_has(X86_FEATURE_APIC))
		return;
	pr_info("no APIC, boot with the \"lapic\" boot parameter to force-enable it.\n");
	pr_info("no hardware sampling interrupt available.\n");
	x86_pmu.apic = 0;
	x86_pe_pmu.capabilities |= PERF_PMU_CAP_NO_INTERRUPT;
}

/* What the vendor left open. */
static void __init fill_in(void)
{
	struct x86_pmu_quirk *quirk;

	x86_pmu.attr_rdpmc = 1;
	for (quirk = x86_pmu.quirks; quirk; quirk = quirk->next)
		quirk->func();

	x86_pmu.intel_ctrl = x86_pmu.intel_ctrl ?: x86_pmu.cntr_mask64;
	x86_pmu.config_mask = x86_pmu.config_mask ?: X86_RAW_EVENT_MASK;
	x86_pmu.update = x86_pmu.update ?: x86_perf_event_update;
	x86_pmu.set_period = x86_pmu.set_period ?: x86_perf_event_set_period;
	x86_pmu.read = x86_pmu.read ?: x86_pe_read;
	x86_pmu.guest_get_msrs = x86_pmu.guest_get_msrs ?: (void *)&__static_call_return0;

	unconstrained = (struct event_constraint)
		__EVENT_CONSTRAINT(0, x86_pmu.cntr_mask64, 0, x86_pmu_num_counters(NULL), 0, 0);
	x86_pe_set_calls();
}

/* Each PMU of a hybrid machine has its own name; that of the big cores gets the raw events. */
static int __init register_hybrid(struct x86_hybrid_pmu *h)
{
	int type = h->pmu_type == hybrid_big ? PERF_TYPE_RAW : -1;
	int known = h->pmu.capabilities;	/* of this kind, if the CPU is of it */

	h->pmu = x86_pe_pmu;
	h->pmu.type = -1;
	h->pmu.capabilities |= known | PERF_PMU_CAP_EXTENDED_HW_TYPE;
	return perf_pmu_register(&h->pmu, h->name, type);
}

static int __init register_pmus(void)
{
	int i, ret;

	if (!is_hybrid())
		return perf_pmu_register(&x86_pe_pmu, "cpu", PERF_TYPE_RAW);

	for (i = 0; i < x86_pmu.num_hybrid_pmus; i++) {
		ret = register_hybrid(&x86_pmu.hybrid_pmu[i]);
		if (!ret)
			continue;
		while (i--)
			perf_pmu_unregister(&x86_pmu.hybrid_pmu[i].pmu);
		pr_warn("Failed to register hybrid PMUs\n");
		return ret;
	}
	return 0;
}

static int __init connect(void)
{
	int ret;

	perf_events_lapic_init();
	register_nmi_handler(NMI_LOCAL, x86_pe_nmi, 0, "PMI");
	ret = join_hotplug();
	if (ret)
		goto no_hotplug;
	ret = register_pmus();
	if (ret)
		goto no_pmu;
	x86_pe_sleep_init();
	return 0;
no_pmu:
	leave_hotplug(ARRAY_SIZE(hotplug_step));
no_hotplug:
	unregister_nmi_handler(NMI_LOCAL, "PMI");
	return ret;
}

static void __init forget_vendor(void)
{
	if (x86_pmu.hybrid_pmu) {
		static_branch_disable(&perf_is_hybrid);
		kfree(x86_pmu.hybrid_pmu);
	}
	memset(&x86_pmu, 0, sizeof(x86_pmu));
}

static int __init x86_pe_init(void)
{
	int ret;

	x86_pe_pmu_init();
	pr_info("Performance Events: ");
	if (init_vendor()) {
		pr_cont("no PMU driver, software events only.\n");
		goto without;
	}
	check_apic();
	if (!check_hw_exists(&x86_pe_pmu, x86_pmu.cntr_mask, x86_pmu.fixed_cntr_mask))
		goto without;
	pr_cont("%s PMU driver.\n", x86_pmu.name);

	fill_in();
	x86_pe_sysfs_init();
	x86_pe_pmu.attr_update = x86_pmu.attr_update;
	if (!is_hybrid())
		x86_pmu_show_pmu_cap(NULL);

	ret = connect();
	if (ret)
		forget_vendor();
	return ret;
without:
	forget_vendor();
	return 0;
}
early_initcall(x86_pe_init);
