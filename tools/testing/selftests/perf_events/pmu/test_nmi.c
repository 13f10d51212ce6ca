// SPDX-License-Identifier: GPL-2.0
/*
 * test_nmi: an NMI that no handler sees, and after which the local APIC delivers no PMI, as when a
 * PMI merges with the NMI that has CPUs wait for new microcode.  x86 only.
 *
 *	swallow		write anything: it happens on this CPU
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#ifdef CONFIG_X86
#include <asm/apic.h>
#include <asm/hardirq.h>

static void (*ignore)(void);
static void (*heed)(void);

/* Neither is exported. */
static void *find(const char *name)
{
	struct kprobe kp = { .symbol_name = name };
	void *addr;

	if (register_kprobe(&kp))
		return NULL;
	addr = kp.addr;
	unregister_kprobe(&kp);
	return addr;
}

static int swallow(const char *text, const struct kernel_param *param)
{
	unsigned int before;
	int left = 1000;

	guard(irqsave)();
	ignore();
	apic->write(APIC_LVTPC, APIC_DM_NMI | APIC_LVT_MASKED);
	before = this_cpu_read(irq_stat.__nmi_count);
	apic->send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
	while (this_cpu_read(irq_stat.__nmi_count) == before && left--)
		udelay(1);
	heed();
	return left > 0 ? 0 : -EIO;
}

static const struct kernel_param_ops swallow_ops = { .set = swallow };
module_param_cb(swallow, &swallow_ops, NULL, 0200);

static int __init test_nmi_init(void)
{
	ignore = find("stop_nmi");
	heed = find("restart_nmi");
	return ignore && heed ? 0 : -ENOENT;
}
module_init(test_nmi_init);

static void __exit test_nmi_exit(void)
{
}
module_exit(test_nmi_exit);
#endif

MODULE_DESCRIPTION("An NMI that gets lost");
MODULE_LICENSE("GPL");
