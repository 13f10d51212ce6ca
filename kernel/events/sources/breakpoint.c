// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware breakpoints: the PMU "breakpoint".  What ptrace, debuggers and other kernel code call is
 * in abi/breakpoint_api.c.
 *
 * The architecture knows what its debug registers can do: hw_breakpoint_arch_parse() turns the
 * attr into their contents, arch_install_hw_breakpoint() writes them.  breakpoint_slots.c knows
 * whether there is room.  Hits come back through perf_bp_event() in software.c.
 *
 * The PMU operations run on the event's CPU with irqs off; everything else is in task context.
 * What a breakpoint watches (attr.bp_*, hw.info) changes only while it is off, under the lock of
 * its owner: ptrace's stop of the task, ctx->mutex for an ioctl.
 */
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>

#include "sources.h"

/* ------------------------------------------------------------------- the PMU */

/*
 * What @attr asks for, as contents of registers.  Kernel addresses are for the administrator: a
 * breakpoint on the way into a trap is hit inside of its own handling.
 */
static int parse(struct perf_event *bp, const struct perf_event_attr *attr,
		 struct arch_hw_breakpoint *info)
{
	int err = hw_breakpoint_arch_parse(bp, attr, info);

	if (err || !arch_check_bp_in_kernelspace(info))
		return err;
	if (attr->exclude_kernel)
		return -EINVAL;
	return capable(CAP_SYS_ADMIN) ? 0 : -EPERM;
}

/**
 * register_perf_hw_breakpoint() - make room for a new event and prepare its registers
 * @bp: the event
 *
 * Contract.  Return: 0; -ENOSPC without room; -EINVAL, -EPERM by address, length and type; -ENOMEM.
 */
int register_perf_hw_breakpoint(struct perf_event *bp)
{
	struct arch_hw_breakpoint info = { };
	int err = reserve_bp_slot(bp);

	if (err)
		return err;
	err = parse(bp, &bp->attr, &info);
	if (err)
		release_bp_slot(bp);
	else
		bp->hw.info = info;
	return err;
}

static int pe_breakpoint_init(struct perf_event *bp)
{
	int err;

	if (bp->attr.type != PERF_TYPE_BREAKPOINT)
		return -ENOENT;
	if (has_branch_stack(bp) || !pe_bp_slots(bp->attr.bp_type))
		return -EOPNOTSUPP;
	err = register_perf_hw_breakpoint(bp);
	if (!err)
		bp->destroy = release_bp_slot;
	return err;
}

static int pe_breakpoint_add(struct perf_event *bp, int flags)
{
	bp->hw.state = flags & PERF_EF_START ? 0 : PERF_HES_STOPPED;
	if (is_sampling_event(bp))
		perf_swevent_set_period(bp);
	return arch_install_hw_breakpoint(bp);
}

static void pe_breakpoint_del(struct perf_event *bp, int flags)
{
	arch_uninstall_hw_breakpoint(bp);
}

/* Off means that hits are not counted: the registers stay as they are until del(). */
struct pmu pe_breakpoint_pmu = {
	.task_ctx_nr	= perf_sw_context,
	.lasting	= true,
	.event_init	= pe_breakpoint_init,
	.add		= pe_breakpoint_add,
	.del		= pe_breakpoint_del,
	.start		= pe_software_start,
	.stop		= pe_software_stop,
	.read		= hw_breakpoint_pmu_read,
	.least_period	= pe_software_least_period,
};

/* ------------------------------------------------------------ change of a breakpoint */

/* The part of an attr that may change. */
static void carry_over(struct perf_event_attr *to, const struct perf_event_attr *from)
{
	to->disabled = from->disabled;
	to->bp_type = from->bp_type;
	to->bp_addr = from->bp_addr;
	to->bp_len = from->bp_len;
}

static bool same_otherwise(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	struct perf_event_attr copy = *a;

	carry_over(&copy, b);
	return !memcmp(&copy, b, sizeof(copy));
}

/**
 * modify_user_hw_breakpoint_check() - let a breakpoint that is off watch something else
 * @bp: the event
 * @attr: address, length, type and attr.disabled to be
 * @check: refuse an @attr that is different elsewhere, rather than ignore the rest
 *
 * Contract.  Sleeps if the kind of register changes.
 *
 * Return: 0; -EINVAL, -EPERM as at open; -ENOSPC if there is no room for one of this type; the
 * breakpoint is as it was then.
 */
int modify_user_hw_breakpoint_check(struct perf_event *bp, struct perf_event_attr *attr, bool check)
{
	struct arch_hw_breakpoint info = { };
	int err = parse(bp, attr, &info);

	if (!err && check && !same_otherwise(attr, &bp->attr))
		err = -EINVAL;
	if (!err)
		err = pe_bp_slot_retype(bp, attr->bp_type);
	if (err)
		return err;
	carry_over(&bp->attr, attr);
	bp->hw.info = info;
	return 0;
}
