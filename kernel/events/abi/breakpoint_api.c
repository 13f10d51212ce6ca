// SPDX-License-Identifier: GPL-2.0
/*
 * Breakpoints for the rest of the kernel: ptrace, debuggers, kgdb and tests set them here.
 *
 * Task context, except where a function says so.  The maker of a breakpoint owns it: ptrace's stop
 * of the task keeps two changes of one apart.
 */
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/hw_breakpoint.h>
#include <linux/kdebug.h>

#include "abi.h"

/**
 * modify_user_hw_breakpoint() - let a breakpoint watch something else
 * @bp: the event
 * @attr: address, length, type and attr.disabled to be; the rest is ignored
 *
 * Contract.  With irqs off only for a breakpoint of current, and the same kind of register.
 *
 * Return: as modify_user_hw_breakpoint_check(); on failure the breakpoint is as it was.
 */
int modify_user_hw_breakpoint(struct perf_event *bp, struct perf_event_attr *attr)
{
	int err;

	if (irqs_disabled() && bp->ctx && bp->ctx->task == current)
		perf_event_disable_local(bp);	/* no remote call is possible, nor needed */
	else
		perf_event_disable(bp);
	err = modify_user_hw_breakpoint_check(bp, attr, false);
	if (!bp->attr.disabled)
		perf_event_enable(bp);
	return err;
}
EXPORT_SYMBOL_GPL(modify_user_hw_breakpoint);

/**
 * register_user_hw_breakpoint() - watch an address in a task
 * @attr: what to watch
 * @triggered: called at each hit, in the debug exception
 * @context: for @triggered
 * @tsk: the task
 *
 * Contract.  Return: the event, or ERR_PTR().
 */
struct perf_event *register_user_hw_breakpoint(struct perf_event_attr *attr,
					       perf_overflow_handler_t triggered, void *context,
					       struct task_struct *tsk)
{
	return perf_event_create_kernel_counter(attr, -1, tsk, triggered, context);
}
EXPORT_SYMBOL_GPL(register_user_hw_breakpoint);

/**
 * unregister_hw_breakpoint() - end a breakpoint
 * @bp: the event, or NULL
 *
 * Contract.
 */
void unregister_hw_breakpoint(struct perf_event *bp)
{
	if (bp)
		perf_event_release_kernel(bp);
}
EXPORT_SYMBOL_GPL(unregister_hw_breakpoint);

/**
 * unregister_wide_hw_breakpoint() - end a breakpoint of all CPUs
 * @cpu_events: from register_wide_hw_breakpoint()
 *
 * Contract.
 */
void unregister_wide_hw_breakpoint(struct perf_event * __percpu *cpu_events)
{
	int cpu;

	for_each_possible_cpu(cpu)
		unregister_hw_breakpoint(*per_cpu_ptr(cpu_events, cpu));
	free_percpu(cpu_events);
}
EXPORT_SYMBOL_GPL(unregister_wide_hw_breakpoint);

/* On the CPUs that are there now, all or none. */
static int watch_on_each_cpu(struct perf_event * __percpu *cpu_events, struct perf_event_attr *attr,
			     perf_overflow_handler_t triggered, void *context)
{
	struct perf_event *bp;
	int cpu;

	guard(cpus_read_lock)();
	for_each_online_cpu(cpu) {
		bp = perf_event_create_kernel_counter(attr, cpu, NULL, triggered, context);
		if (IS_ERR(bp))
			return PTR_ERR(bp);
		*per_cpu_ptr(cpu_events, cpu) = bp;
	}
	return 0;
}

/**
 * register_wide_hw_breakpoint() - watch an address of the kernel on all CPUs
 * @attr: what to watch
 * @triggered: called at each hit, in the debug exception
 * @context: for @triggered
 *
 * Contract.  CPUs that come up later are not watched.
 *
 * Return: the events by CPU, or ERR_PTR().
 */
struct perf_event * __percpu *register_wide_hw_breakpoint(struct perf_event_attr *attr,
							  perf_overflow_handler_t triggered,
							  void *context)
{
	struct perf_event * __percpu *cpu_events = alloc_percpu(struct perf_event *);
	int err = -ENOMEM;

	if (!cpu_events)
		return (void __percpu __force *)ERR_PTR(err);
	err = watch_on_each_cpu(cpu_events, attr, triggered, context);
	if (err) {
		unregister_wide_hw_breakpoint(cpu_events);
		return (void __percpu __force *)ERR_PTR(err);
	}
	return cpu_events;
}
EXPORT_SYMBOL_GPL(register_wide_hw_breakpoint);

/* ---------------------------------------------------------------------- boot */

/* Before everybody else: a breakpoint may be in what they do. */
static struct notifier_block exceptions = {
	.notifier_call	= hw_breakpoint_exceptions_notify,
	.priority	= INT_MAX,
};

/**
 * init_hw_breakpoint() - at boot
 *
 * Contract, from perf_event_init().  Return: 0; -ENOMEM, and there is no such PMU then.
 */
int __init init_hw_breakpoint(void)
{
	int err = pe_bp_slots_init();

	if (err)
		return err;
	perf_pmu_register(&pe_breakpoint_pmu, "breakpoint", PERF_TYPE_BREAKPOINT);
	return register_die_notifier(&exceptions);
}
