// SPDX-License-Identifier: GPL-2.0
/*
 * test_sleep - arm64: sleep that powers the PMU down, for machines whose sleep does not.
 *
 * No PMU of its own. Each time a CPU comes back from an idle state that, as the device tree says,
 * loses its context, its PMU's registers get arbitrary values, before the driver is told. The
 * parameter "lost" says how often that was.
 */
#include <linux/module.h>

#if defined(CONFIG_ARM64) && defined(CONFIG_CPU_PM)
#include <linux/cpu_pm.h>
#include <linux/prandom.h>
#include <asm/sysreg.h>

static atomic_t lost;

static int get_lost(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&lost));
}

static const struct kernel_param_ops lost_ops = { .get = get_lost };
module_param_cb(lost, &lost_ops, NULL, 0444);

static DEFINE_PER_CPU(struct rnd_state, junk);

/* The counters are on in between, overflown and with interrupts, if chance wants it. */
static void lose(struct rnd_state *r)
{
	u64 pmcr = read_sysreg(pmcr_el0);
	unsigned int i, counters = (pmcr >> 11) & 31;

	write_sysreg(pmcr & ~1ul, pmcr_el0);
	for (i = 0; i < counters; i++) {
		write_sysreg(i, pmselr_el0);
		isb();
		write_sysreg(prandom_u32_state(r) & 0xfc00003f, pmxevtyper_el0);
		write_sysreg((u64)prandom_u32_state(r) << 32 | prandom_u32_state(r), pmxevcntr_el0);
	}
	write_sysreg(prandom_u32_state(r) & 0xfc000000, pmccfiltr_el0);
	write_sysreg((u64)prandom_u32_state(r) << 32 | prandom_u32_state(r), pmccntr_el0);
	write_sysreg(~0u, pmcntenclr_el0);
	write_sysreg(~0u, pmintenclr_el1);
	write_sysreg(~0u, pmovsclr_el0);
	write_sysreg(prandom_u32_state(r), pmcntenset_el0);
	write_sysreg(prandom_u32_state(r), pmintenset_el1);
	write_sysreg(prandom_u32_state(r), pmovsset_el0);
	write_sysreg(prandom_u32_state(r) & 0xf, pmuserenr_el0);
	write_sysreg(prandom_u32_state(r) & 31, pmselr_el0);
	write_sysreg(prandom_u32_state(r) & 1, pmcr_el0);
	isb();
	atomic_inc(&lost);
}

static int power_notice(struct notifier_block *nb, unsigned long what, void *unused)
{
	if (what == CPU_PM_EXIT)
		lose(this_cpu_ptr(&junk));
	return NOTIFY_OK;
}

static struct notifier_block before_the_driver = {
	.notifier_call	= power_notice,
	.priority	= INT_MAX,
};

static int __init test_sleep_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		prandom_seed_state(per_cpu_ptr(&junk, cpu), cpu + 1);
	return cpu_pm_register_notifier(&before_the_driver);
}

static void __exit test_sleep_exit(void)
{
	cpu_pm_unregister_notifier(&before_the_driver);
}
module_exit(test_sleep_exit);
#else
static int __init test_sleep_init(void)
{
	return -ENODEV;
}
#endif
module_init(test_sleep_init);

MODULE_DESCRIPTION("arm64 sleep that loses the PMU's registers");
MODULE_LICENSE("GPL");
