// SPDX-License-Identifier: GPL-2.0
/*
 * test_brs.c - the register that turns branch sampling (BRS) on, around a low-power state: the CPU
 * on which the module is loaded calls what the drivers of such states call. No emulator puts a CPU
 * into one.
 *
 * Parameters, to be read: before, inside, after.
 */
#include <linux/irqflags.h>
#include <linux/module.h>

#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/perf_event.h>

static unsigned long long before, inside, after;
module_param(before, ullong, 0444);
module_param(inside, ullong, 0444);
module_param(after, ullong, 0444);

static int __init test_brs_init(void)
{
	unsigned long flags;

	if (!boot_cpu_has(X86_FEATURE_BRS))
		return -ENODEV;
	local_irq_save(flags);
	rdmsrl(MSR_AMD_DBG_EXTN_CFG, before);
	perf_lopwr_cb(true);
	rdmsrl(MSR_AMD_DBG_EXTN_CFG, inside);
	perf_lopwr_cb(false);
	rdmsrl(MSR_AMD_DBG_EXTN_CFG, after);
	local_irq_restore(flags);
	return 0;
}
#else
static int __init test_brs_init(void)
{
	return -ENODEV;
}
#endif

static void __exit test_brs_exit(void)
{
}

module_init(test_brs_init);
module_exit(test_brs_exit);
MODULE_DESCRIPTION("BRS around a low-power state");
MODULE_LICENSE("GPL");
