// SPDX-License-Identifier: GPL-2.0
/*
 * test_arm64 - the PMU's own registers of an arm64 CPU, for tests that ask what a driver left.
 *
 * No PMU of its own. A parameter that is read gives the register of the CPU on which the reader
 * runs: pmcr, pmcntenset, pmintenset, pmovsset, pmuserenr, pmceid0, pmceid1, pmevtyper0,
 * pmevtyper1, pmccfiltr; el is the exception level of the kernel there. Writing to swinc writes
 * the value to PMSWINC_EL0: each bit is one software increment of that counter, if it counts the
 * event 0. Writing to pmovsset sets overflow flags: each bit is that of a counter.
 */
#include <linux/module.h>

#ifdef CONFIG_ARM64
#include <asm/sysreg.h>
#include <asm/virt.h>

#define REGISTER(name)								\
	static int get_##name(char *buf, const struct kernel_param *kp)	\
	{									\
		return sysfs_emit(buf, "%lld\n", (s64)read_sysreg(name##_el0));	\
	}									\
	static const struct kernel_param_ops name##_ops = { .get = get_##name };\
	module_param_cb(name, &name##_ops, NULL, 0444)

REGISTER(pmcr);
REGISTER(pmcntenset);
REGISTER(pmuserenr);
REGISTER(pmceid0);
REGISTER(pmceid1);
REGISTER(pmevtyper0);
REGISTER(pmevtyper1);
REGISTER(pmccfiltr);

/* The one of them that user space never sees. */
static int get_pmintenset(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%lld\n", (s64)read_sysreg(pmintenset_el1));
}

static const struct kernel_param_ops pmintenset_ops = { .get = get_pmintenset };
module_param_cb(pmintenset, &pmintenset_ops, NULL, 0444);

static int get_el(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", is_kernel_in_hyp_mode() ? 2 : 1);
}

static const struct kernel_param_ops el_ops = { .get = get_el };
module_param_cb(el, &el_ops, NULL, 0444);

static int set_swinc(const char *val, const struct kernel_param *kp)
{
	u32 mask;
	int ret = kstrtou32(val, 0, &mask);

	if (ret)
		return ret;
	write_sysreg(mask, pmswinc_el0);
	return 0;
}

static const struct kernel_param_ops swinc_ops = { .set = set_swinc };
module_param_cb(swinc, &swinc_ops, NULL, 0200);

static int get_pmovsset(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%lld\n", (s64)read_sysreg(pmovsset_el0));
}

static int set_pmovsset(const char *val, const struct kernel_param *kp)
{
	u32 mask;
	int ret = kstrtou32(val, 0, &mask);

	if (ret)
		return ret;
	write_sysreg(mask, pmovsset_el0);
	isb();
	return 0;
}

static const struct kernel_param_ops pmovsset_ops = { .set = set_pmovsset, .get = get_pmovsset };
module_param_cb(pmovsset, &pmovsset_ops, NULL, 0644);

static int __init test_arm64_init(void)
{
	return 0;
}

static void __exit test_arm64_exit(void)
{
}
module_exit(test_arm64_exit);
#else
static int __init test_arm64_init(void)
{
	return -ENODEV;
}
#endif
module_init(test_arm64_init);

MODULE_DESCRIPTION("arm64 PMU registers for tests");
MODULE_LICENSE("GPL");
