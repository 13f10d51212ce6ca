// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the kernel's own: watchdogs, KVM, breakpoints of ptrace, the resctrl and cache drivers.
 *
 * They have no file and no owner; their creator releases them.  Everything else is as for
 * events of user space.  Task context.
 */

#include "abi.h"

static int enter(struct pe_event *e, struct task_struct *task)
{
	struct pe_ctx *ctx = pe_find_ctx(task, e->cpu);
	int err;

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	err = pe_prepare_ctx(e, ctx);
	if (!err && pe_has_rival(e, ctx))
		err = -EBUSY;
	if (!err)
		pe_attach(ctx, e);
	mutex_unlock(&ctx->mutex);
	if (err)
		pe_ctx_put(ctx);
	return err;
}

/**
 * perf_event_create_kernel_counter() - an event for a user in the kernel
 * @attr: attributes, complete
 * @cpu: CPU number, or -1 with @task
 * @task: the task to observe, or NULL for a CPU
 * @callback: called on overflow, in the PMI's context; NULL for none
 * @context: for the callback, kept in event->overflow_handler_context
 *
 * Contract.  Return: the event, to be released with perf_event_release_kernel(), or ERR_PTR with
 * an errno as perf_event_open() would give.
 */
struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
						    struct task_struct *task,
						    perf_overflow_handler_t callback, void *context)
{
	struct pe_origin_args args = {
		.attr			= attr,
		.cpu			= cpu,
		.task			= task,
		.handler		= callback,
		.handler_context	= context,
	};
	struct pe_event *e;
	int err, idx;

	if (attr->aux_output || attr->aux_action)
		return ERR_PTR(-EINVAL);

	/* The PMU stays until the event is in its context. */
	idx = pe_pmus_read_lock();
	e = pe_alloc(&args);
	err = PTR_ERR_OR_ZERO(e);
	if (!err) {
		e->stays_out = true;	/* perf_event_enable() and the like are for it alone */
		err = enter(e, task);
		if (err)
			pe_put(e);
	}
	pe_pmus_read_unlock(idx);
	return err ? ERR_PTR(err) : &e->pub;
}
EXPORT_SYMBOL_GPL(perf_event_create_kernel_counter);

/**
 * perf_event_release_kernel() - end an event made by perf_event_create_kernel_counter()
 * @event: the event
 *
 * Contract.  Return: 0.
 */
int perf_event_release_kernel(struct perf_event *event)
{
	/* Passive events are removed without stopping the CPU that hits them: see software.c. */
	bool in_handler = pe(event)->passive && is_sampling_event(event);

	pe_release(pe(event));
	if (in_handler)
		synchronize_rcu();	/* the handler may be in a module that goes now */
	return 0;
}
EXPORT_SYMBOL_GPL(perf_event_release_kernel);

/* sysrq-l; an architecture may have something to print. */
void __weak perf_event_print_debug(void)
{
}
