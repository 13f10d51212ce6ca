// SPDX-License-Identifier: GPL-2.0
/*
 * Devices for the statistical profiling extension (SPE) and the trace buffer extension (TRBE), as
 * ACPI describes them.
 *
 * Both are parts of CPUs, and in the same table as the interrupts of their PMUs.  A recent MADT has
 * a GSI for each CPU; the drivers want one PPI and one kind of CPU.  Other machines get no device.
 *
 * Once, in an initcall before those of the drivers.
 */
#include <linux/acpi.h>

#include "armpmu.h"

/**
 * struct trace_unit - one of the extensions
 * @label: in messages
 * @madt_length: of the entries that know it
 * @gsi: its GSI in an entry
 * @irq: resource of @device
 * @device: what its driver matches
 */
struct trace_unit {
	const char		*label;
	u8			madt_length;
	u16			(*gsi)(const struct acpi_madt_generic_interrupt *gicc);
	struct resource		irq;
	struct platform_device	device;
};

static u16 arm_pe_spe_gsi(const struct acpi_madt_generic_interrupt *gicc)
{
	return gicc->spe_interrupt;
}

static u16 arm_pe_trbe_gsi(const struct acpi_madt_generic_interrupt *gicc)
{
	return gicc->trbe_interrupt;
}

static struct trace_unit spe = {
	.label		= "SPE",
	.madt_length	= ACPI_MADT_GICC_SPE,
	.gsi		= arm_pe_spe_gsi,
	.irq		= { .flags = IORESOURCE_IRQ },
	.device		= {
		.name		= ARMV8_SPE_PDEV_NAME,
		.id		= PLATFORM_DEVID_NONE,
		.resource	= &spe.irq,
		.num_resources	= 1,
	},
};

static struct trace_unit trbe = {
	.label		= "TRBE",
	.madt_length	= ACPI_MADT_GICC_TRBE,
	.gsi		= arm_pe_trbe_gsi,
	.irq		= { .flags = IORESOURCE_IRQ },
	.device		= {
		.name		= ARMV8_TRBE_PDEV_NAME,
		.id		= PLATFORM_DEVID_NONE,
		.resource	= &trbe.irq,
		.num_resources	= 1,
	},
};

/* Returns the GSI that all CPUs agree on, 0 if there is none, -ENXIO if they differ. */
static int common_gsi(const struct trace_unit *unit)
{
	const struct acpi_madt_generic_interrupt *gicc;
	int cpu, kind, gsi = 0, first_kind = 0, first_gsi = 0;

	for_each_possible_cpu(cpu) {
		gicc = acpi_cpu_get_madt_gicc(cpu);
		if (gicc->header.length < unit->madt_length)
			return first_gsi ? -ENXIO : 0;
		gsi = unit->gsi(gicc);
		kind = find_acpi_cpu_topology_hetero_id(cpu);
		if (!first_gsi) {
			first_gsi = gsi;
			first_kind = kind;
		} else if (gsi != first_gsi || kind != first_kind) {
			pr_warn("ACPI: %s: must be homogeneous\n", unit->device.name);
			return -ENXIO;
		}
	}
	return gsi;
}

static int make_device(struct trace_unit *unit)
{
	int gsi = common_gsi(unit), irq, err;

	if (gsi <= 0)
		return gsi;
	irq = acpi_register_gsi(NULL, gsi, ACPI_LEVEL_SENSITIVE, ACPI_ACTIVE_HIGH);
	if (irq < 0) {
		pr_warn("ACPI: %s Unable to register interrupt: %d\n", unit->device.name, gsi);
		return -ENXIO;
	}
	unit->irq.start = irq;
	err = platform_device_register(&unit->device);
	if (err)
		acpi_unregister_gsi(gsi);
	return err;
}

static void offer(struct trace_unit *unit)
{
	if (make_device(unit))
		pr_warn("ACPI: %s: Unable to register device\n", unit->label);
}

static int __init arm_pe_offer_trace_units(void)
{
	if (acpi_disabled)
		return 0;
	if (IS_ENABLED(CONFIG_ARM_SPE_PMU))
		offer(&spe);
	if (IS_ENABLED(CONFIG_CORESIGHT_TRBE))
		offer(&trbe);
	return 0;
}
subsys_initcall(arm_pe_offer_trace_units);
