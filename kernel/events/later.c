// SPDX-License-Identifier: GPL-2.0
/*
 * The edge of what works: entry points of the contract whose features are not there yet.
 *
 * Two rules.  What user space asks for and cannot get is refused at open, with the errno of a
 * kernel that does not know the feature (pe_attr_unfinished()); so no event ever exists that
 * needs what is missing.  What the rest of the kernel calls still links, says so by its documented
 * failure, and changes nothing.  Documentation/perf_events/features.rst has the whole list.
 *
 * Ioctls that are finished in part are here too: what stands at their side is missing.
 *
 * The callers are BPF (task context).  No locks here.
 */
#include <linux/bpf.h>
#include <linux/static_call.h>
#include <linux/trace_events.h>

#include "surface.h"

/**
 * pe_attr_unfinished() - does an attr ask for something that is not there yet?
 * @attr: an attr that passed the check of its form
 *
 * Pure.  To be asked after the PMU has accepted the event: whatever else is wrong with the attr is
 * what the user is to hear first.
 *
 * Return: 0, or -EOPNOTSUPP for what needs a capability that no PMU has.
 */
int pe_attr_unfinished(const struct perf_event_attr *attr)
{
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return -EOPNOTSUPP;
	return 0;
}

#ifdef CONFIG_EVENT_TRACING
/*
 * The locks of tracing are outside of ctx->mutex: they are held when it is taken through CPU
 * hotplug.  Without it another filter may be set meanwhile; tracing refuses the second one.
 */
static long filter_records(struct pevent *e, char *text)
{
	struct mutex *mutex = &pe_ctx(e)->mutex;
	long ret;

	mutex_unlock(mutex);
	ret = ftrace_profile_set_filter(&e->pub, e->attr.config, text);
	mutex_lock(mutex);
	return ret;
}
#else
static long filter_records(struct pevent *e, char *text)
{
	return -EINVAL;
}
#endif

static bool is_tracing(const struct pevent *e)
{
#ifdef CONFIG_EVENT_TRACING
	return e->tp_event;
#else
	return false;
#endif
}

/* Filters of trace records work, filters of addresses do not. */
static long set_filter(struct pevent *e, const char __user *user_text)
{
	char *text = strndup_user(user_text, PAGE_SIZE);
	long ret;

	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = is_tracing(e) ? filter_records(e, text) : -EINVAL;
	kfree(text);
	return ret;
}

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
 * ctx->mutex held, and dropped meanwhile for SET_FILTER.
 *
 * Return: 0; -EINVAL for a filter of an event without records; -EOPNOTSUPP for what is missing;
 * -ENOTTY for an unknown command.
 */
long pe_ioctl_unfinished(struct pevent *e, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case PERF_EVENT_IOC_SET_FILTER:
		return set_filter(e, (const char __user *)arg);
	case PERF_EVENT_IOC_SET_BPF:
		return set_bpf(e, arg);
	case PERF_EVENT_IOC_QUERY_BPF:
		return perf_event_query_prog_array(&e->pub, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

/* Address filters cannot be set: the hardware's list stays as it was when the event was made. */
void perf_event_addr_filters_sync(struct perf_event *event)
{
}
EXPORT_SYMBOL_GPL(perf_event_addr_filters_sync);

/* Events of PMUs that serve several CPUs stay where they were opened. */
void perf_pmu_migrate_context(struct pmu *pmu, int src_cpu, int dst_cpu)
{
}
EXPORT_SYMBOL_GPL(perf_pmu_migrate_context);

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
