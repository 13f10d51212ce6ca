// SPDX-License-Identifier: GPL-2.0
/*
 * The driver of PMUv3s, which starts at boot.
 *
 * Device tree: a node per kind of CPU, matched by pmuv3_of_match.  ACPI: the framework sorts the
 * CPUs by kind and asks for each.  Both in task context; a PMU never goes away.
 */
#include <linux/acpi.h>
#include <linux/init.h>
#include <linux/nmi.h>
#include <linux/platform_device.h>

#include "pmuv3.h"

static int pmuv3_platform_probe(struct platform_device *pdev)
{
	return arm_pmu_device_probe(pdev, pmuv3_of_match, NULL);
}

static struct platform_driver driver = {
	.probe	= pmuv3_platform_probe,
	.driver	= {
		.name			= ARMV8_PMU_PDEV_NAME,
		.of_match_table		= pmuv3_of_match,
		.suppress_bind_attrs	= true,
	},
};

/* A hardlockup detector that wants a PMU has been waiting for one. */
static int __init pmuv3_register_driver(void)
{
	int err;

	if (acpi_disabled)
		err = platform_driver_register(&driver);
	else
		err = arm_pmu_acpi_probe(pmuv3_generic_init);
	if (!err)
		lockup_detector_retry_init();
	return err;
}
device_initcall(pmuv3_register_driver);
