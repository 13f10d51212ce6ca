// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl() on events, but for ENABLE, DISABLE and RESET, which are in command.c.
 *
 * User memory is read before ctx->mutex is taken and written without it, and paths are looked up
 * without it: what is behind a mapping or a file system may never answer.  Task context.
 */

#include <linux/bpf.h>
#include <linux/compat.h>
#include <linux/file.h>
#include <linux/hw_breakpoint.h>
#include <linux/trace_events.h>
#include "abi.h"
#include "../ext.h"

struct refresh_args {
	struct pe_event	*e;
	int		count;
};

/*
 * A task that was told of the last sample may be here before the event is disabled for it, and see
 * the event make the new samples at once (pe_disable_due()).  If they have all been made by now,
 * the event is off or is about to be: enabled again it would have no limit.
 */
static void pe_ioctl_refresh(struct pe_ctx *ctx, void *arg)
{
	struct refresh_args *args = arg;

	if (!args->count || atomic_read(&args->e->event_limit))
		pe_enable_locked(args->e, pe_now());
}

static int refresh(struct pe_event *e, int count)
{
	struct refresh_args args = { .e = e, .count = count };

	if (e->attr.inherit || !is_sampling_event(&e->pub))
		return pe_err(-EINVAL, "REFRESH: for sampling events without inherit only");
	pe_take_slow_overflow(e);
	atomic_add(count, &e->event_limit);
	pe_event_call(e, pe_ioctl_refresh, &args);
	return 0;
}

struct period_args {
	struct pe_event	*e;
	u64		value;
};

/* pe_change_period(): @e does not count. */
static void pe_ioctl_set_period(struct pe_event *e, void *arg)
{
	struct period_args *args = arg;

	pe_periods_end(e);
	if (e->attr.freq) {
		e->attr.sample_freq = args->value;
		e->hw.freq_time_stamp = 0;	/* no measurement goes back to before */
	} else {
		e->attr.sample_period = args->value;
		e->hw.sample_period = args->value;
	}
	local64_set(&e->hw.period_left, 0);
	/* If it counts, the next hit is due, and the first of the new period. */
	if (pe_counts_up(e))
		e->hw.last_period = 1;
}

static void pe_ioctl_period(struct pe_ctx *ctx, void *arg)
{
	struct period_args *args = arg;

	pe_change_period(args->e, pe_ioctl_set_period, args);
}

static int set_period(struct pe_event *e, u64 value)
{
	struct period_args args = { e, value };

	if (!is_sampling_event(&e->pub) || !value)
		return pe_err(-EINVAL, "PERIOD: is 0, or the event does not sample");
	if (e->attr.freq) {
		if (value > sysctl_perf_event_sample_rate)
			return pe_err(-EINVAL, "PERIOD: above perf_event_max_sample_rate");
	} else if (value >> 63 || (e->pmu->check_period && e->pmu->check_period(&e->pub, value))) {
		return pe_err(-EINVAL, "PERIOD: too large, or not for this PMU");
	}
	/* Not pe_event_call(): hits move period_left by operations atomic on their CPU only. */
	pe_call(pe_ctx(e), pe_ioctl_period, &args);
	return 0;
}

/* The members of a session write where its leader does. */
static int set_output(struct pe_event *e, struct pe_event *target)
{
	if (!pe_is_session(e))
		return pe_set_output(e, target);
	if (e == target)
		return pe_err(-EINVAL, "output: to itself");
	return pe_session_share_buffer(e->session, target);
}

static int ioctl_set_output(struct pe_event *e, unsigned long fd)
{
	struct pe_event *target;
	struct fd f;
	int ret;

	if (fd == -1UL)
		return set_output(e, NULL);
	f = fdget(fd);
	if (!fd_file(f))
		return -EBADF;
	target = pe_of_file(fd_file(f));
	ret = target ? set_output(e, target) : -EBADF;
	fdput(f);
	return ret;
}

static int pause_output(struct pe_event *e, bool pause)
{
	struct perf_buffer *rb;

	guard(rcu)();
	rb = rcu_dereference(e->rb);
	if (!rb || !rb->nr_pages)
		return pe_err(-EINVAL, "PAUSE_OUTPUT: no data area");
	if (pause)
		pe_buffer_pause(rb);
	else
		pe_buffer_resume(rb);
	return 0;
}

/*
 * The locks of tracing are outside of ctx->mutex: they are held when it is taken through CPU
 * hotplug.  Of two filters that are set at a time tracing refuses the second one.
 */
static int filter_records(struct pe_event *e, char *text)
{
#ifdef CONFIG_EVENT_TRACING
	int ret = ftrace_profile_set_filter(&e->pub, e->attr.config, text);

	if (ret)
		return ret;
	/* Once only: hits follow the pointer to the program, on any CPU. */
	smp_store_release(&e->hit_filter, e->filter);
	return 0;
#else
	return -EINVAL;
#endif
}

/*
 * The part of a change that is not to be seen half done.  Return: the family, whose ranges are to
 * follow, or an error.
 */
static struct pe_event **exchange_filters(struct pe_event *e, struct pe_filter_draft *draft,
					  unsigned int *nr)
{
	struct pe_event **family;
	int err;

	guard(pe_event_ctx)(e);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return ERR_PTR(-ENODEV);
	err = pe_addr_filters_check(e, draft);
	if (err)
		return ERR_PTR(err);
	guard(mutex)(&e->family_lock);
	family = pe_family_snapshot(e, nr);
	if (!family)
		return ERR_PTR(-ENOMEM);
	pe_addr_filters_exchange(e, draft);
	return family;
}

/*
 * Ranges are computed under the mmap_locks of the traced tasks, which may keep them for as long as
 * they like; only another change of the filters waits for that, and forks of these tasks.
 */
static int set_addr_filters(struct pe_event *e, struct pe_filter_draft *draft)
{
	struct pe_event **family;
	unsigned int nr, i;

	scoped_guard(mutex, pe_addr_filters_mutex(e)) {
		family = exchange_filters(e, draft, &nr);
		if (IS_ERR(family))
			return PTR_ERR(family);
		for (i = 0; i < nr; i++)
			pe_addr_filters_apply(family[i]);
	}
	pe_snapshot_put(family, nr);
	return 0;
}

static int filter_addresses(struct pe_event *e, char *text)
{
	struct pe_filter_draft draft;
	int ret = pe_addr_filters_make(&draft, e, text);

	if (!ret)
		ret = set_addr_filters(e, &draft);
	pe_addr_filters_free(&draft);
	return ret;
}

/* Trace records and addresses can be filtered; no PMU has both. */
static int set_filter(struct pe_event *e, const char __user *user_text)
{
	char *text = strndup_user(user_text, PAGE_SIZE);
	int ret = -EINVAL;

	if (IS_ERR(text))
		return PTR_ERR(text);
	if (pe_trace_call(e))
		ret = filter_records(e, text);
	else if (e->addr_filter_ranges)
		ret = filter_addresses(e, text);
	kfree(text);
	return ret;
}

struct modify_args {
	struct perf_event_attr	attr;
	int			err;
};

#ifdef CONFIG_HAVE_HW_BREAKPOINT
static void pe_ioctl_modify(struct pe_event *e, void *arg)
{
	struct modify_args *args = arg;

	if (args->err)
		return;
	e->attr.sig_data = args->attr.sig_data;
	pe_command_one(e, (void *)&pe_command_disable);
	args->err = modify_user_hw_breakpoint_check(&e->pub, &args->attr, true);
	if (!e->attr.disabled)
		pe_command_one(e, (void *)&pe_command_enable);
}
#else
static void pe_ioctl_modify(struct pe_event *e, void *arg)
{
	((struct modify_args *)arg)->err = -EOPNOTSUPP;
}
#endif

/* Breakpoints can be moved; of other events nothing can be changed. */
static int modify_attributes(struct pe_event *e, struct modify_args *args)
{
	if (args->attr.type != e->attr.type)
		return pe_err(-EINVAL, "MODIFY_ATTRIBUTES: the type cannot change");
	if (args->attr.type != PERF_TYPE_BREAKPOINT)
		return pe_err(-EOPNOTSUPP, "MODIFY_ATTRIBUTES: for breakpoints only");
	pe_family_each(e, pe_ioctl_modify, args);
	return args->err;
}

static int set_bpf(struct pe_event *e, u32 fd)
{
	struct bpf_prog *prog = bpf_prog_get(fd);
	int err;

	if (IS_ERR(prog))
		return PTR_ERR(prog);
	err = pe_bpf_attach(e, prog, 0);
	if (err)
		bpf_prog_put(prog);
	return err;
}

/**
 * perf_event_set_bpf_prog() - as PERF_EVENT_IOC_SET_BPF, for bpf_link_create()
 * @event: the event
 * @prog: the program; the caller's reference goes to the event if all is well
 * @bpf_cookie: value for bpf_get_attach_cookie()
 *
 * Contract; task context.  Return: as pe_bpf_attach().
 */
int perf_event_set_bpf_prog(struct perf_event *event, struct bpf_prog *prog, u64 bpf_cookie)
{
	pe_kin_differ(pe(event));
	guard(pe_event_ctx)(pe(event));
	return pe_bpf_attach(pe(event), prog, bpf_cookie);
}

/* What a command needs from user space, which may take for ever to hand it out. */
union input {
	u64			value;
	struct modify_args	modify;
};

static int fetch(unsigned int cmd, unsigned long arg, union input *in)
{
	switch (cmd) {
	case PERF_EVENT_IOC_PERIOD:
		return get_user(in->value, (u64 __user *)arg);
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		in->modify.err = 0;
		return pe_attr_copy((struct perf_event_attr __user *)arg, &in->modify.attr);
	default:
		return 0;
	}
}

/* With ctx->mutex, so without looking at user space. */
static long run(struct pe_event *e, unsigned int cmd, unsigned long arg, union input *in)
{
	switch (cmd) {
	case PERF_EVENT_IOC_REFRESH:
		return refresh(e, arg);
	case PERF_EVENT_IOC_PERIOD:
		return set_period(e, in->value);
	case PERF_EVENT_IOC_SET_OUTPUT:
		return ioctl_set_output(e, arg);
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
		return pause_output(e, arg);
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		return modify_attributes(e, &in->modify);
	case PERF_EVENT_IOC_SET_BPF:
		return set_bpf(e, arg);
	default:
		return -ENOTTY;
	}
}

static long fetch_and_run(struct pe_event *e, unsigned int cmd, unsigned long arg)
{
	union input in __uninitialized;
	int err = fetch(cmd, arg, &in);

	if (err)
		return err;
	/* Copies keep the period and the program that they have. */
	if (cmd == PERF_EVENT_IOC_PERIOD || cmd == PERF_EVENT_IOC_SET_BPF)
		pe_kin_differ(e);
	guard(pe_event_ctx)(e);
	/* The event may have been revoked meanwhile. */
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return -ENODEV;
	return run(e, cmd, arg, &in);
}

/**
 * pe_ioctl_other() - all that is neither ENABLE, DISABLE nor RESET
 * @e: the event; the caller may write to it, and its PMU was there
 * @cmd: PERF_EVENT_IOC_*
 * @arg: as the command wants it
 *
 * Return: as pe_ioctl().
 */
long pe_ioctl_other(struct pe_event *e, unsigned int cmd, unsigned long arg)
{
	u64 value;

	switch (cmd) {
	case PERF_EVENT_IOC_ID:
		value = pe_primary_id(e);
		return copy_to_user((u64 __user *)arg, &value, sizeof(value)) ? -EFAULT : 0;
	case PERF_EVENT_IOC_SET_FILTER:
		return set_filter(e, (const char __user *)arg);
	case PERF_EVENT_IOC_QUERY_BPF:
		return perf_event_query_prog_array(&e->pub, (void __user *)arg);
	default:
		return pe_ext_is(cmd) ? pe_ext_ioctl(e, cmd, arg) : fetch_and_run(e, cmd, arg);
	}
}

#ifdef CONFIG_COMPAT
long pe_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(PERF_EVENT_IOC_SET_FILTER):
	case _IOC_NR(PERF_EVENT_IOC_ID):
	case _IOC_NR(PERF_EVENT_IOC_QUERY_BPF):
	case _IOC_NR(PERF_EVENT_IOC_MODIFY_ATTRIBUTES):
		/* The number holds the size of a pointer, which is 4 for the caller. */
		if (_IOC_SIZE(cmd) == sizeof(compat_uptr_t)) {
			cmd &= ~IOCSIZE_MASK;
			cmd |= sizeof(void *) << IOCSIZE_SHIFT;
		}
		break;
	}
	return pe_ioctl(file, cmd, arg);
}
#endif

/* Contract: let @event overflow @count more times, enabling it. Return: 0 or -EINVAL. */
int perf_event_refresh(struct perf_event *event, int count)
{
	guard(pe_event_ctx)(pe(event));
	return refresh(pe(event), count);
}
EXPORT_SYMBOL_GPL(perf_event_refresh);

/* Contract: change the period (or frequency) of @event. Return: 0 or -EINVAL. */
int perf_event_period(struct perf_event *event, u64 value)
{
	guard(pe_event_ctx)(pe(event));
	return set_period(pe(event), value);
}
EXPORT_SYMBOL_GPL(perf_event_period);
