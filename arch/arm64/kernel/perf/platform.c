// SPDX-License-Identifier: GPL-2.0
/*
 * PMUs that the device tree describes.
 *
 * A driver's probe() calls arm_pmu_device_probe(), task context, one device at a time.  The node
 * says which CPUs the PMU serves by its interrupts:
 *
 *	none				all CPUs, and no sampling
 *	one PPI				the CPUs of the PPI's partition, all without partitions
 *	SPIs, interrupt-affinity	the n-th SPI is that of the n-th CPU named there
 *	SPIs alone			the n-th SPI is guessed to be that of CPU n
 *
 * and its compatible which kind of PMU it is.  No locks.
 */
#define pr_fmt(fmt) "hw perfevents: " fmt
#define dev_fmt pr_fmt

#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/of.h>

#include "armpmu.h"

static struct device *device_of(const struct arm_pmu *armpmu)
{
	return &armpmu->plat_device->dev;
}

static struct pmu_hw_events *at(const struct arm_pmu *armpmu, int cpu)
{
	return per_cpu_ptr(armpmu->hw_events, cpu);
}

/* ------------------------------------------------------------------ CPUs and their lines */

static int have_no_irq(struct arm_pmu *armpmu)
{
	dev_warn(device_of(armpmu), "no irqs for PMU, sampling events not supported\n");
	armpmu->pmu.capabilities |= PERF_PMU_CAP_NO_INTERRUPT;
	cpumask_setall(&armpmu->supported_cpus);
	return 0;
}

static int have_ppi(struct arm_pmu *armpmu, int irq)
{
	int err = irq_get_percpu_devid_partition(irq, &armpmu->supported_cpus), cpu;

	if (err)
		return err;
	for_each_cpu(cpu, &armpmu->supported_cpus)
		at(armpmu, cpu)->irq = irq;
	return 0;
}

static bool names_cpus(const struct device *dev)
{
	return of_property_present(dev->of_node, "interrupt-affinity");
}

/* Which CPU is the @i-th of the node?  nr_cpu_ids for one that this kernel does not run. */
static int nth_cpu(struct device *dev, int i)
{
	struct device_node *node;
	int cpu;

	if (!names_cpus(dev))
		return i;
	node = of_parse_phandle(dev->of_node, "interrupt-affinity", i);
	if (!node) {
		dev_warn(dev, "failed to parse interrupt-affinity[%d]\n", i);
		return -EINVAL;
	}
	cpu = of_cpu_node_to_id(node);
	if (cpu < 0) {
		dev_warn(dev, "failed to find logical CPU for %pOFn\n", node);
		cpu = nr_cpu_ids;
	}
	of_node_put(node);
	return cpu;
}

static int have_spi(struct arm_pmu *armpmu, int irq, int i)
{
	struct device *dev = device_of(armpmu);
	int cpu;

	if (irq_is_percpu_devid(irq)) {
		dev_warn(dev, "multiple PPIs or mismatched SPI/PPI detected\n");
		return -EINVAL;
	}
	cpu = nth_cpu(dev, i);
	if (cpu < 0)
		return cpu;
	if (cpu >= nr_cpu_ids)
		return 0;
	if (at(armpmu, cpu)->irq) {
		dev_warn(dev, "multiple PMU IRQs for the same CPU detected\n");
		return -EINVAL;
	}
	at(armpmu, cpu)->irq = irq;
	cpumask_set_cpu(cpu, &armpmu->supported_cpus);
	return 0;
}

static int have_spis(struct arm_pmu *armpmu, int count)
{
	int i, irq, err;

	if (nr_cpu_ids != 1 && !names_cpus(device_of(armpmu)))
		dev_warn(device_of(armpmu), "no interrupt-affinity property, guessing.\n");
	for (i = 0; i < count; i++) {
		irq = platform_get_irq(armpmu->plat_device, i);
		if (WARN_ON(irq <= 0))
			continue;
		err = have_spi(armpmu, irq, i);
		if (err)
			return err;
	}
	return 0;
}

static int find_cpus(struct arm_pmu *armpmu)
{
	int count = platform_irq_count(armpmu->plat_device), irq;

	if (count < 0)
		return dev_err_probe(device_of(armpmu), count, "unable to count PMU IRQs\n");
	if (count == 0)
		return have_no_irq(armpmu);
	if (count == 1) {
		irq = platform_get_irq(armpmu->plat_device, 0);
		if (irq > 0 && irq_is_percpu_devid(irq))
			return have_ppi(armpmu, irq);
	}
	return have_spis(armpmu, count);
}

/* Lines of CPUs below @end. */
static void free_lines(struct arm_pmu *armpmu, int end)
{
	int cpu;

	for_each_cpu(cpu, &armpmu->supported_cpus) {
		if (cpu >= end)
			return;
		armpmu_free_irq(at(armpmu, cpu)->irq, cpu);
	}
}

static int request_lines(struct arm_pmu *armpmu)
{
	int cpu, err;

	for_each_cpu(cpu, &armpmu->supported_cpus) {
		err = armpmu_request_irq(at(armpmu, cpu)->irq, cpu);
		if (err) {
			free_lines(armpmu, cpu);
			return err;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------ the kind of PMU */

/* Returns the driver's function for the kind of CPU that this runs on. */
static armpmu_init_fn kind_of_this_cpu(const struct pmu_probe_info *kind)
{
	unsigned int cpuid = read_cpuid_id();

	while (kind->init && (cpuid & kind->mask) != kind->cpuid)
		kind++;
	return kind->init;
}

static int init_by_cpu(struct arm_pmu *armpmu, const struct pmu_probe_info *kinds)
{
	armpmu_init_fn init;

	cpumask_setall(&armpmu->supported_cpus);
	guard(preempt)();
	pr_info("probing PMU on CPU %d\n", smp_processor_id());
	init = kind_of_this_cpu(kinds);
	return init ? init(armpmu) : -ENODEV;
}

static int init(struct arm_pmu *armpmu, const struct pmu_probe_info *kinds)
{
	struct device *dev = device_of(armpmu);
	armpmu_init_fn by_compatible = of_device_get_match_data(dev);

	if (!by_compatible)
		return kinds ? init_by_cpu(armpmu, kinds) : -ENODEV;
	if (of_property_read_bool(dev->of_node, "secure-reg-access"))
		dev_warn(dev, "ignoring \"secure-reg-access\" property for arm64\n");
	return by_compatible(armpmu);
}

/* Finds out everything about the PMU, then takes its lines, and shows it last. */
static int set_up(struct arm_pmu *armpmu, const struct pmu_probe_info *kinds)
{
	int err = find_cpus(armpmu);

	if (err)
		return err;
	err = init(armpmu, kinds);
	if (err) {
		dev_err(device_of(armpmu), "failed to probe PMU!\n");
		return err;
	}
	err = request_lines(armpmu);
	if (err)
		return err;
	err = armpmu_register(armpmu);
	if (err) {
		dev_err(device_of(armpmu), "failed to register PMU devices!\n");
		free_lines(armpmu, nr_cpu_ids);
	}
	return err;
}

/**
 * arm_pmu_device_probe() - make a PMU of a device
 * @pdev: the device
 * @of_table: what the driver matches; its data are of type armpmu_init_fn
 * @probe_table: kinds of CPUs, for devices without data, up to one without init; or NULL
 *
 * Task context.  Return: 0 or errno
 */
int arm_pmu_device_probe(struct platform_device *pdev, const struct of_device_id *of_table,
			 const struct pmu_probe_info *probe_table)
{
	struct arm_pmu *armpmu = armpmu_alloc();
	int err;

	if (!armpmu)
		return -ENOMEM;
	armpmu->plat_device = pdev;
	armpmu->pmu.parent = &pdev->dev;
	err = set_up(armpmu, probe_table);
	if (err)
		armpmu_free(armpmu);
	return err;
}
