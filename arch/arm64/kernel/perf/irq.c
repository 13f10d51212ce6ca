// SPDX-License-Identifier: GPL-2.0
/*
 * The interrupt line of each CPU's PMU.
 *
 * A line is either shared by all CPUs that use its number, each with a state of its own (a PPI), or
 * belongs to one CPU alone (an SPI), to which its affinity is forced.  Both are requested as
 * pseudo-NMI if the kernel and the interrupt controller have it, else as an ordinary interrupt.
 * These are the four kinds of lines.
 *
 *	request, free	probing of PMUs, task context; off on all CPUs until
 *	up, down	power.c, on the CPU as it comes and goes, irqs off
 *	arm_pe_dispatch	the interrupt itself, or NMI
 *
 * lines[] of a CPU is written while its line is off: irq and kind by probing, which is never
 * concurrent; armpmu by the CPU itself.  No locks.
 */
#define pr_fmt(fmt) "hw perfevents: " fmt

#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/sched/clock.h>

#include "armpmu.h"

#define LINE_NAME	"arm-pmu"
#define SPI_FLAGS	(IRQF_PERCPU | IRQF_NOBALANCING | IRQF_NO_AUTOEN | IRQF_NO_THREAD)

/**
 * struct line_kind - how a kind of line is handled
 * @request: task context; errno when the line cannot be had in this way
 * @release: its counterpart
 * @on: on the CPU, irqs off
 * @off: likewise
 */
struct line_kind {
	int	(*request)(int irq, int cpu);
	void	(*release)(int irq, int cpu);
	void	(*on)(unsigned int irq);
	void	(*off)(unsigned int irq);
};

/**
 * struct cpu_line - the line of a CPU, and what its interrupts are for
 * @armpmu: the PMU that serves the CPU, NULL while the CPU is offline
 * @kind: of @irq
 * @irq: 0 if none is requested
 */
struct cpu_line {
	struct arm_pmu		*armpmu;
	const struct line_kind	*kind;
	int			irq;
};

static DEFINE_PER_CPU(struct cpu_line, lines);

/* The time it takes decides how many samples per second are allowed. */
static irqreturn_t arm_pe_dispatch(int irq, void *id)
{
	struct arm_pmu *armpmu = ((struct cpu_line *)id)->armpmu;
	irqreturn_t ret;
	u64 begin;

	if (WARN_ON_ONCE(!armpmu))
		return IRQ_NONE;
	begin = sched_clock();
	ret = armpmu->handle_irq(armpmu);
	perf_sample_event_took(sched_clock() - begin);
	return ret;
}

/* ------------------------------------------------------------------ a line of one CPU */

static int arm_pe_request_spi_nmi(int irq, int cpu)
{
	return request_nmi(irq, arm_pe_dispatch, SPI_FLAGS, LINE_NAME, per_cpu_ptr(&lines, cpu));
}

static void arm_pe_release_spi_nmi(int irq, int cpu)
{
	free_nmi(irq, per_cpu_ptr(&lines, cpu));
}

static int arm_pe_request_spi(int irq, int cpu)
{
	return request_irq(irq, arm_pe_dispatch, SPI_FLAGS, LINE_NAME, per_cpu_ptr(&lines, cpu));
}

static void arm_pe_release_spi(int irq, int cpu)
{
	free_irq(irq, per_cpu_ptr(&lines, cpu));
}

/* ------------------------------------------------------------------ a line of all CPUs */

static int arm_pe_request_ppi_nmi(int irq, int cpu)
{
	return request_percpu_nmi(irq, arm_pe_dispatch, LINE_NAME, &lines);
}

static void arm_pe_release_ppi_nmi(int irq, int cpu)
{
	free_percpu_nmi(irq, &lines);
}

static void arm_pe_ppi_nmi_on(unsigned int irq)
{
	if (!prepare_percpu_nmi(irq))
		enable_percpu_nmi(irq, IRQ_TYPE_NONE);
}

static void arm_pe_ppi_nmi_off(unsigned int irq)
{
	disable_percpu_nmi(irq);
	teardown_percpu_nmi(irq);
}

static int arm_pe_request_ppi(int irq, int cpu)
{
	return request_percpu_irq(irq, arm_pe_dispatch, LINE_NAME, &lines);
}

static void arm_pe_release_ppi(int irq, int cpu)
{
	free_percpu_irq(irq, &lines);
}

static void arm_pe_ppi_on(unsigned int irq)
{
	enable_percpu_irq(irq, IRQ_TYPE_NONE);
}

/* ------------------------------------------------------------------ choice of the kind */

enum { AS_NMI, AS_IRQ, NR_WAYS };

static const struct line_kind spi_kinds[NR_WAYS] = {
	[AS_NMI] = {
		.request	= arm_pe_request_spi_nmi,
		.release	= arm_pe_release_spi_nmi,
		.on		= enable_nmi,
		.off		= disable_nmi_nosync,
	},
	[AS_IRQ] = {
		.request	= arm_pe_request_spi,
		.release	= arm_pe_release_spi,
		.on		= enable_irq,
		.off		= disable_irq_nosync,
	},
};

static const struct line_kind ppi_kinds[NR_WAYS] = {
	[AS_NMI] = {
		.request	= arm_pe_request_ppi_nmi,
		.release	= arm_pe_release_ppi_nmi,
		.on		= arm_pe_ppi_nmi_on,
		.off		= arm_pe_ppi_nmi_off,
	},
	[AS_IRQ] = {
		.request	= arm_pe_request_ppi,
		.release	= arm_pe_release_ppi,
		.on		= arm_pe_ppi_on,
		.off		= disable_percpu_irq,
	},
};

static bool some_line_is_nmi;

/* A CPU's line with this number, if one is requested. */
static const struct cpu_line *user_of(int irq)
{
	const struct cpu_line *line;
	int cpu;

	for_each_possible_cpu(cpu) {
		line = per_cpu_ptr(&lines, cpu);
		if (line->irq == irq)
			return line;
	}
	return NULL;
}

/* Returns the kind that worked, or what the last one said. */
static const struct line_kind *request_best(const struct line_kind *kinds, int irq, int cpu)
{
	int err;

	if (!kinds[AS_NMI].request(irq, cpu)) {
		some_line_is_nmi = true;
		return &kinds[AS_NMI];
	}
	err = kinds[AS_IRQ].request(irq, cpu);
	return err ? ERR_PTR(err) : &kinds[AS_IRQ];
}

static const struct line_kind *own_line(int irq, int cpu)
{
	int err = irq_force_affinity(irq, cpumask_of(cpu));

	if (err && num_possible_cpus() > 1) {
		pr_warn("unable to set irq affinity (irq=%d, cpu=%u)\n", irq, cpu);
		return ERR_PTR(err);
	}
	return request_best(spi_kinds, irq, cpu);
}

static const struct line_kind *shared_line(int irq, int cpu)
{
	const struct cpu_line *user = user_of(irq);

	return user ? user->kind : request_best(ppi_kinds, irq, cpu);
}

/**
 * armpmu_request_irq() - get the interrupt line of a CPU's PMU
 * @irq: number of the line, or 0 if there is none
 * @cpu: possible CPU
 *
 * Probing, task context.  The line stays off until the CPU's PMU is known and the CPU online.
 *
 * Return: 0; errno, with a message, when it cannot be had or routed to @cpu
 */
int armpmu_request_irq(int irq, int cpu)
{
	struct cpu_line *line = per_cpu_ptr(&lines, cpu);
	const struct line_kind *kind;

	if (!irq)
		return 0;
	kind = irq_is_percpu_devid(irq) ? shared_line(irq, cpu) : own_line(irq, cpu);
	if (IS_ERR(kind)) {
		pr_err("unable to request IRQ%d for ARM PMU counters\n", irq);
		return PTR_ERR(kind);
	}
	line->irq = irq;
	line->kind = kind;
	return 0;
}

/**
 * armpmu_free_irq() - undo armpmu_request_irq()
 * @irq: number of the line
 * @cpu: possible CPU; nothing happens if it has no line
 *
 * Probing that failed, task context.  The line is off.
 */
void armpmu_free_irq(int irq, int cpu)
{
	struct cpu_line *line = per_cpu_ptr(&lines, cpu);
	const struct line_kind *kind = line->kind;

	if (!line->irq || WARN_ON(line->irq != irq))
		return;
	line->irq = 0;
	line->kind = NULL;
	if (!user_of(irq))
		kind->release(irq, cpu);
}

/**
 * armpmu_line_up() - interrupts of this CPU go to a PMU from now on
 * @armpmu: it
 *
 * On the CPU, irqs off.
 */
void armpmu_line_up(struct arm_pmu *armpmu)
{
	struct cpu_line *line = this_cpu_ptr(&lines);
	int irq = this_cpu_ptr(armpmu->hw_events)->irq;

	line->armpmu = armpmu;
	if (irq)
		line->kind->on(irq);
}

/**
 * armpmu_line_down() - no more interrupts on this CPU
 * @armpmu: whose they were
 *
 * On the CPU, irqs off.
 */
void armpmu_line_down(struct arm_pmu *armpmu)
{
	struct cpu_line *line = this_cpu_ptr(&lines);
	int irq = this_cpu_ptr(armpmu->hw_events)->irq;

	if (irq)
		line->kind->off(irq);
	line->armpmu = NULL;
}

/**
 * arm_pmu_irq_is_nmi() - do PMUs interrupt as NMI?
 *
 * Return: yes, of some CPU at least
 */
bool arm_pmu_irq_is_nmi(void)
{
	return some_line_is_nmi;
}
