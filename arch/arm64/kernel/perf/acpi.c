// SPDX-License-Identifier: GPL-2.0
/*
 * PMUs that ACPI describes.
 *
 * The MADT has an interrupt (GSI) for each CPU's PMU and nothing else.  All CPUs with the same MIDR
 * share a PMU, which is made when the first of them is found online.
 *
 *	arm_pmu_acpi_probe	the driver's initcall, once: takes the lines of all possible CPUs,
 *				then makes the PMUs of those that are online
 *	starting		CPU hotplug, on the new CPU, irqs off, before power.c looks at it: a
 *				late CPU joins the PMU of its kind
 *
 * Hotplug is serialised, and probing runs on with all its CPUs: no locks.  A CPU of a kind that was
 * not online during probing stays without a PMU, as PMUs cannot be registered in the middle of
 * hotplug.
 */
#include <linux/acpi.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/slab.h>

#include <asm/cpu.h>
#include <asm/cputype.h>

#include "armpmu.h"

/* A PMU that the driver did not want is kept here too, so that nobody asks for its CPUs again. */
static DEFINE_PER_CPU(struct arm_pmu *, pmu_of);
static DEFINE_PER_CPU(int, irq_of);

/* ------------------------------------------------------------------ interrupt lines */

/*
 * 0 is a GSI by the book, but machines without an interrupt have it, and no other.  Polarity is not
 * in the MADT: the GIC ignores it.
 */
static int register_gsi(int cpu)
{
	const struct acpi_madt_generic_interrupt *gicc = acpi_cpu_get_madt_gicc(cpu);
	bool edge = gicc->flags & ACPI_MADT_PERFORMANCE_IRQ_MODE;

	if (!gicc->performance_interrupt)
		return 0;
	return acpi_register_gsi(NULL, gicc->performance_interrupt,
				 edge ? ACPI_EDGE_SENSITIVE : ACPI_LEVEL_SENSITIVE,
				 ACPI_ACTIVE_HIGH);
}

/* A PPI is registered once and appears at every CPU. */
static void forget(int irq)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (per_cpu(irq_of, cpu) == irq)
			per_cpu(irq_of, cpu) = 0;
}

static void put_lines(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		armpmu_free_irq(per_cpu(irq_of, cpu), cpu);
	for_each_possible_cpu(cpu) {
		if (!per_cpu(irq_of, cpu))
			continue;
		acpi_unregister_gsi(acpi_cpu_get_madt_gicc(cpu)->performance_interrupt);
		forget(per_cpu(irq_of, cpu));
	}
}

static int get_line(int cpu)
{
	int irq = register_gsi(cpu);

	if (irq < 0) {
		pr_warn("Unable to parse ACPI PMU IRQ for CPU%d: %d\n", cpu, irq);
		return irq;
	}
	if (!irq)
		pr_warn("No ACPI PMU IRQ for CPU%d\n", cpu);
	per_cpu(irq_of, cpu) = irq;
	return armpmu_request_irq(irq, cpu);
}

static int get_lines(void)
{
	int cpu, err;

	for_each_possible_cpu(cpu) {
		err = get_line(cpu);
		if (err) {
			put_lines();
			return err;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------ CPUs of a PMU */

/* One PPI for all CPUs of a PMU, or SPIs. */
static bool fits(struct arm_pmu *armpmu, int irq)
{
	int cpu, other;

	for_each_cpu(cpu, &armpmu->supported_cpus) {
		other = per_cpu_ptr(armpmu->hw_events, cpu)->irq;
		if (!other || other == irq)
			continue;
		if (irq_is_percpu_devid(irq) || irq_is_percpu_devid(other))
			return false;
	}
	return true;
}

/* A CPU whose line does not fit counts, but cannot sample. */
static void join(struct arm_pmu *armpmu, int cpu)
{
	int irq = per_cpu(irq_of, cpu);

	per_cpu(pmu_of, cpu) = armpmu;
	if (irq && !fits(armpmu, irq)) {
		pr_warn("mismatched PPIs detected\n");
		irq = 0;
	}
	per_cpu_ptr(armpmu->hw_events, cpu)->irq = irq;
	cpumask_set_cpu(cpu, &armpmu->supported_cpus);
}

static struct arm_pmu *find(unsigned long cpuid)
{
	struct arm_pmu *armpmu;
	int cpu;

	for_each_possible_cpu(cpu) {
		armpmu = per_cpu(pmu_of, cpu);
		if (armpmu && armpmu->acpi_cpuid == cpuid)
			return armpmu;
	}
	return NULL;
}

static int arm_pe_acpi_starting(unsigned int cpu)
{
	struct arm_pmu *armpmu;

	if (per_cpu(pmu_of, cpu))
		return 0;
	armpmu = find(read_cpuid_id());
	if (armpmu)
		join(armpmu, cpu);
	else
		pr_warn_ratelimited("Unable to associate CPU%d with a PMU\n", cpu);
	return 0;
}

/* ------------------------------------------------------------------ probing */

static struct arm_pmu *new_pmu(unsigned long cpuid)
{
	struct arm_pmu *armpmu = armpmu_alloc();
	int cpu;

	if (!armpmu)
		return NULL;
	armpmu->acpi_cpuid = cpuid;
	for_each_online_cpu(cpu)
		if (per_cpu(cpu_data, cpu).reg_midr == cpuid)
			join(armpmu, cpu);
	return armpmu;
}

static void drop(struct arm_pmu *armpmu)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (per_cpu(pmu_of, cpu) == armpmu)
			per_cpu(pmu_of, cpu) = NULL;
	armpmu_free(armpmu);
}

/* The driver calls all its PMUs the same; the number tells them apart. */
static int show(struct arm_pmu *armpmu, int number, int cpu)
{
	int err;

	armpmu->name = kasprintf(GFP_KERNEL, "%s_%d", armpmu->name, number);
	if (!armpmu->name) {
		pr_warn("Unable to allocate PMU name for CPU%d\n", cpu);
		return -ENOMEM;
	}
	err = armpmu_register(armpmu);
	if (err) {
		pr_warn("Failed to register PMU for CPU%d\n", cpu);
		kfree(armpmu->name);
	}
	return err;
}

/* Returns 1 for a PMU that is there now, 0 if the driver does not want it, or errno. */
static int probe_kind(armpmu_init_fn init, int number, int cpu)
{
	struct arm_pmu *armpmu = new_pmu(per_cpu(cpu_data, cpu).reg_midr);
	int err;

	if (!armpmu) {
		pr_warn("Unable to allocate PMU for CPU%d\n", cpu);
		return -ENOMEM;
	}
	err = init(armpmu);
	if (err == -ENODEV)
		return 0;
	if (err)
		pr_warn("Unable to initialise PMU for CPU%d\n", cpu);
	else
		err = show(armpmu, number, cpu);
	if (err)
		drop(armpmu);
	return err ?: 1;
}

/**
 * arm_pmu_acpi_probe() - make the PMUs of all CPUs
 * @init_fn: fills one in; -ENODEV if it is not the driver's
 *
 * An initcall, once.  Return: 0 if there is a PMU at least; -ENODEV without one; the errno of what
 * went wrong, and the PMUs that were made before stay
 */
int arm_pmu_acpi_probe(armpmu_init_fn init_fn)
{
	int err = get_lines(), made = 0, cpu;

	if (err)
		return err;
	err = cpuhp_setup_state_nocalls(CPUHP_AP_PERF_ARM_ACPI_STARTING,
					"perf/arm/pmu_acpi:starting", arm_pe_acpi_starting, NULL);
	if (err) {
		put_lines();
		return err;
	}
	for_each_online_cpu(cpu) {
		if (per_cpu(pmu_of, cpu))
			continue;
		err = probe_kind(init_fn, made, cpu);
		if (err < 0)
			return err;
		made += err;
	}
	return made ? 0 : -ENODEV;
}
