// SPDX-License-Identifier: GPL-2.0
/*
 * The edge of what works: entry points of the contract whose features are not there yet.
 *
 * What the rest of the kernel calls still links, says so by its documented failure, and changes
 * nothing.  Documentation/perf_events/features.rst has the whole list.
 *
 * Ioctls that are finished in part are here too: what stands at their side is missing.
 *
 * The callers are BPF (task context).  No locks here.
 */
#include <linux/bpf.h>
#include <linux/static_call.h>
#include <linux/trace_events.h>

#include "surface.h"

/* Refused, but a number that is no program is told first. */
static long set_bpf(struct pevent *e, u32 fd)
{
	struct bpf_prog *prog = bpf_prog_get(fd);
	long ret;

	if (IS_ERR(prog))
		return PTR_ERR(prog);
	ret = perf_event_set_bpf_prog(&e->pub, prog, 0);
	if (ret)
		bpf_prog_put(prog);
	return ret;
}

/**
 * pe_ioctl_unfinished() - the ioctls of which something is missing, and those that do not exist
 * @e: the event
 * @cmd: PERF_EVENT_IOC_*
 * @arg: as the command wants it
 *
 * ctx->mutex held.
 *
 * Return: 0; -EOPNOTSUPP for what is missing; -ENOTTY for an unknown command.
 */
long pe_ioctl_unfinished(struct pevent *e, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case PERF_EVENT_IOC_SET_BPF:
		return set_bpf(e, arg);
	case PERF_EVENT_IOC_QUERY_BPF:
		return perf_event_query_prog_array(&e->pub, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}


/* BPF programs on events */

/**
 * perf_event_set_bpf_prog() - run a BPF program at each hit of an event
 * @event: the event
 * @prog: the program; its reference stays with the caller
 * @bpf_cookie: value for bpf_get_attach_cookie()
 *
 * Return: -EOPNOTSUPP
 */
int perf_event_set_bpf_prog(struct perf_event *event, struct bpf_prog *prog, u64 bpf_cookie)
{
	return -EOPNOTSUPP;
}

void perf_event_free_bpf_prog(struct perf_event *event)
{
}

DEFINE_STATIC_CALL_RET0(perf_snapshot_branch_stack, perf_snapshot_branch_stack_t);

/* sysrq-l; an architecture may have something to print. */
void __weak perf_event_print_debug(void)
{
}
