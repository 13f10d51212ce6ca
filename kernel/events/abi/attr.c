// SPDX-License-Identifier: GPL-2.0
/*
 * struct perf_event_attr as it comes from user space: copied, checked, permitted.
 *
 * perf_event_open() calls, in this order, pe_attr_copy(), pe_attr_permit() and, when the event has
 * a PMU, pe_attr_set_clock().  All in the opener's context; nothing is locked.
 *
 * The first 4 bytes past attr.type tell which version of the struct the caller was compiled
 * against.  A shorter struct than ours is completed with zeroes.  A longer one is taken when all
 * that we do not know is zero; otherwise -E2BIG, and attr.size tells the caller what we do know.
 *
 * Which error comes first is part of the ABI as far as programs probe for features with it:
 * the size, reserved bits, then sample by sample, then permission.  The checks here are those that
 * need no event; what depends on the PMU is in pmu.c, what depends on a group in open.c.
 */
#include <linux/capability.h>
#include <linux/security.h>
#include <linux/timekeeping.h>
#include "abi.h"

/* The newest version of the struct that is understood; user space may learn this number. */
#define KNOWN_SIZE	PERF_ATTR_SIZE_VER9

static_assert(sizeof(struct perf_event_attr) == KNOWN_SIZE);
static_assert(offsetof(struct perf_event_attr, config4) == PERF_ATTR_SIZE_VER8);

/* ------------------------------------------------------------------------ copy */

static int copy_by_size(struct perf_event_attr __user *uattr, struct perf_event_attr *attr)
{
	u32 size;
	int ret;

	ret = get_user(size, &uattr->size);
	if (ret)
		return ret;
	if (size == 0)		/* the first tools left it empty */
		size = PERF_ATTR_SIZE_VER0;

	if (size >= PERF_ATTR_SIZE_VER0 && size <= PAGE_SIZE)
		ret = copy_struct_from_user(attr, KNOWN_SIZE, uattr, size);
	else
		ret = -E2BIG;
	/* Best effort: the error is about the size even if the answer cannot be stored. */
	if (ret == -E2BIG) {
		put_user(KNOWN_SIZE, &uattr->size);
		pe_err(ret, "attr.size: no valid size, or fields that this kernel does not know");
	}
	attr->size = size;
	return ret;
}

/* ----------------------------------------------------------------------- check */

static int check_masks(const struct perf_event_attr *attr)
{
	if (attr->__reserved_1 || attr->__reserved_2 || attr->__reserved_3)
		return pe_err(-EINVAL, "attr: a reserved bit is set");
	/* _MAX is the first bit that has no meaning. */
	if (attr->sample_type >= PERF_SAMPLE_MAX)
		return pe_err(-EINVAL, "attr.sample_type: unknown bit");
	if (attr->read_format >= PERF_FORMAT_MAX)
		return pe_err(-EINVAL, "attr.read_format: unknown bit");
	return 0;
}

/* Branches are taken at the privilege levels the event counts, unless it says at which. */
static int check_branches(struct perf_event_attr *attr)
{
	u64 kinds = attr->branch_sample_type & ~PERF_SAMPLE_BRANCH_PLM_ALL;

	if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
		return 0;
	if (!kinds || kinds >= PERF_SAMPLE_BRANCH_MAX)
		return pe_err(-EINVAL, "attr.branch_sample_type: no kind, or unknown bit");
	if (attr->branch_sample_type == kinds)
		attr->branch_sample_type |=
			(attr->exclude_user ? 0 : PERF_SAMPLE_BRANCH_USER) |
			(attr->exclude_kernel ? 0 : PERF_SAMPLE_BRANCH_KERNEL) |
			(attr->exclude_hv ? 0 : PERF_SAMPLE_BRANCH_HV);
	return 0;
}

static bool shows_kernel_branches(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	       attr->branch_sample_type & (PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV);
}

static bool shows_kernel(const struct perf_event_attr *attr)
{
	return !attr->exclude_kernel || attr->text_poke ||
	       (attr->sample_type & PERF_SAMPLE_CALLCHAIN && !attr->exclude_callchain_kernel);
}

/**
 * pe_attr_is_harmless() - does level 2 of perf_event_paranoid leave this to everybody?
 * @attr: a checked request
 *
 * Return: nothing in it needs CAP_PERFMON.
 */
bool pe_attr_is_harmless(const struct perf_event_attr *attr)
{
	return !shows_kernel(attr) && !shows_kernel_branches(attr) && !attr->namespaces &&
	       !(attr->sample_type & PERF_SAMPLE_PHYS_ADDR);
}

static int allow_kernel(const char *what)
{
	int ret = perf_allow_kernel();

	return ret ? pe_err(ret, what) : 0;
}

/**
 * pe_attr_permit_branches() - the part of pe_attr_permit() that pe_attr_copy() has done
 * @attr: a checked request
 *
 * Return: 0, -EACCES, or what the security module says.
 */
int pe_attr_permit_branches(const struct perf_event_attr *attr)
{
	if (shows_kernel_branches(attr))
		return allow_kernel("attr.branch_sample_type: no right to see the kernel's");
	return 0;
}

static int check_registers(const struct perf_event_attr *attr)
{
	int ret = 0;

	if (attr->sample_type & PERF_SAMPLE_REGS_USER)
		ret = perf_reg_validate(attr->sample_regs_user);
	if (!ret && attr->sample_type & PERF_SAMPLE_REGS_INTR)
		ret = perf_reg_validate(attr->sample_regs_intr);
	return ret ? pe_err(ret, "attr.sample_regs_user, sample_regs_intr: no such registers") : 0;
}

/* A record's size is a u16, hence so is the size of the stack in it. */
static int check_user_stack(const struct perf_event_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_STACK_USER))
		return 0;
	if (!pe_have_user_stack_dump())
		return pe_err(-ENOSYS, "attr.sample_type: no user stacks on this architecture");
	if (attr->sample_stack_user >= U16_MAX || attr->sample_stack_user % sizeof(u64))
		return pe_err(-EINVAL, "attr.sample_stack_user: too large, or no multiple of 8");
	return 0;
}

/* Fields that exclude or need each other. */
static int check_combinations(const struct perf_event_attr *attr)
{
	const u64 both = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;

	if ((attr->sample_type & both) == both)
		return pe_err(-EINVAL, "attr.sample_type: both WEIGHT and WEIGHT_STRUCT");
	if (attr->inherit_thread && !attr->inherit)
		return pe_err(-EINVAL, "attr.inherit_thread: needs inherit");
	if (attr->enable_on_exec && attr->remove_on_exec)
		return pe_err(-EINVAL, "attr.remove_on_exec: not with enable_on_exec");
	if (attr->sigtrap && !attr->remove_on_exec)
		return pe_err(-EINVAL, "attr.sigtrap: needs remove_on_exec");
	if (attr->sample_type & PERF_SAMPLE_CGROUP && !IS_ENABLED(CONFIG_CGROUP_PERF))
		return pe_err(-EINVAL, "attr.sample_type: kernel without CONFIG_CGROUP_PERF");
	return 0;
}

static int check_samples(struct perf_event_attr *attr)
{
	int ret = check_registers(attr);

	ret = ret ?: check_user_stack(attr);
	ret = ret ?: check_combinations(attr);
	if (!attr->sample_max_stack)
		attr->sample_max_stack = min_t(unsigned int, sysctl_perf_event_max_stack, U16_MAX);
	return ret;
}

/**
 * pe_attr_check() - is this a request that could be met?
 * @attr: the request; privilege levels of branches and the depth of call chains are filled in
 *	when it leaves them open
 *
 * Return: 0, -EINVAL, or -ENOSYS for user stacks on an architecture without.
 */
int pe_attr_check(struct perf_event_attr *attr)
{
	int ret = check_masks(attr);

	ret = ret ?: check_branches(attr);
	return ret ?: check_samples(attr);
}

/**
 * pe_attr_copy() - take over a request from user space
 * @uattr: where it is
 * @attr: where it goes, with pe_attr_check() done
 *
 * Return: 0; -E2BIG with the known size stored in @uattr; -EFAULT; -EACCES for branches of the
 * kernel; an error of pe_attr_check().
 */
int pe_attr_copy(struct perf_event_attr __user *uattr, struct perf_event_attr *attr)
{
	int ret = copy_by_size(uattr, attr);

	/* Known since branch sampling: the right to it is looked at before the other fields. */
	ret = ret ?: check_masks(attr);
	ret = ret ?: check_branches(attr);
	ret = ret ?: pe_attr_permit_branches(attr);
	return ret ?: check_samples(attr);
}

/* ---------------------------------------------------------------------- permit */

static int check_rate(const struct perf_event_attr *attr)
{
	if (attr->freq && attr->sample_freq > sysctl_perf_event_sample_rate)
		return pe_err(-EINVAL, "attr.sample_freq: above perf_event_max_sample_rate");
	if (!attr->freq && (s64)attr->sample_period < 0)
		return pe_err(-EINVAL, "attr.sample_period: highest bit is set");
	return 0;
}

/**
 * pe_attr_permit() - may the caller ask for this at all?
 * @attr: a checked request
 *
 * What depends on the task or CPU to be watched is not decided here.  That perf_event_paranoid
 * above 2 leaves nobody anything comes first: open.c.
 *
 * Return: 0, -EACCES, -EPERM, -EINVAL for a rate above the limit, or what the security module says.
 */
int pe_attr_permit(const struct perf_event_attr *attr)
{
	int ret = security_perf_event_open(PERF_SECURITY_OPEN);

	if (!ret && shows_kernel(attr))
		ret = allow_kernel("attr.exclude_kernel: 0 needs CAP_PERFMON");
	if (!ret && attr->namespaces && !perfmon_capable())
		ret = pe_err(-EACCES, "attr.namespaces: needs CAP_PERFMON");
	if (!ret)
		ret = check_rate(attr);
	if (!ret && attr->sample_type & PERF_SAMPLE_PHYS_ADDR)
		ret = allow_kernel("attr.sample_type: PHYS_ADDR needs CAP_PERFMON");
	/* Registers at a kernel address can hold secrets that lockdown is to protect. */
	if (!ret && attr->sample_type & PERF_SAMPLE_REGS_INTR)
		ret = security_locked_down(LOCKDOWN_PERF);
	return ret;
}

/* ----------------------------------------------------------------------- clock */

static const struct clock_choice {
	clockid_t	id;
	bool		nmi_safe;
	u64		(*read)(void);
} clock_choices[] = {
	{ CLOCK_MONOTONIC,	true,	ktime_get_mono_fast_ns },
	{ CLOCK_MONOTONIC_RAW,	true,	ktime_get_raw_fast_ns },
	{ CLOCK_REALTIME,	false,	ktime_get_real_ns },
	{ CLOCK_BOOTTIME,	false,	ktime_get_boottime_ns },
	{ CLOCK_TAI,		false,	ktime_get_clocktai_ns },
};

/**
 * pe_attr_set_clock() - use attr.clockid for the time stamps of an event
 * @e: the event, with its PMU, not published
 * @id: the clock
 *
 * Return: 0, or -EINVAL for a clock that is unknown, or cannot be read where samples are taken.
 */
int pe_attr_set_clock(struct pe_event *e, clockid_t id)
{
	const struct clock_choice *c;

	for (c = clock_choices; c < clock_choices + ARRAY_SIZE(clock_choices); c++) {
		if (c->id != id)
			continue;
		if (!c->nmi_safe && !(e->pmu->capabilities & PERF_PMU_CAP_NO_NMI))
			return pe_err(-EINVAL, "attr.clockid: not with a PMU that uses NMIs");
		e->clock = c->read;
		return 0;
	}
	return pe_err(-EINVAL, "attr.clockid: unknown clock");
}
