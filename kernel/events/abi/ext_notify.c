// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_EXT_IOC_NOTIFY and PERF_EXT_IOC_RESTART: see sources/notify.c.
 *
 * Task context, may sleep.
 */
#include <linux/perf_event_ext.h>

#include "abi.h"
#include "../ext.h"

static_assert(sizeof(struct perf_ext_notify) == 16);
static_assert(sizeof(struct perf_ext_restart) == 8);

/* Can overflows of an event be told of one by one?  Return: 0, or an error, its reason in @why. */
int pe_ext_refuse_notify(struct pe_event *e, const char **why)
{
	if (!is_sampling_event(&e->pub)) {
		*why = "NOTIFY: the event does not sample";
		return -EINVAL;
	}
	/* What loads periods by itself may take many samples at once, or not stop. */
	if (!is_software_event(&e->pub) &&
	    (!e->pmu->least_period || !e->pmu->least_period(&e->pub))) {
		*why = "NOTIFY: the PMU does not stop at each overflow of this event";
		return -EOPNOTSUPP;
	}
	return 0;
}

struct notify_args {
	struct pe_event		*e;
	const struct pe_notify	*notify;	/* NULL: none */
	int			err;
};

static void pe_ext_notify_prepare(struct pe_event *e, void *arg)
{
	struct notify_args *args = arg;

	args->err = args->err ?: pe_ext_need(e);
}

static void pe_ext_notify_set(struct pe_ctx *ctx, void *arg)
{
	struct notify_args *args = arg;

	pe_ctx_end_equiv(ctx);
	pe_notify_set(args->e, args->notify);
}

/* The copies do as their origin, which is first. */
static void pe_ext_notify_apply(struct pe_event *e, void *arg)
{
	if (e->parent) {
		e->ext->gen = pe_parent(e)->ext->gen;
		pe_call(pe_ctx(e), pe_ext_set_notify, e);
		return;
	}
	e->ext->gen++;
	pe_call(pe_ctx(e), pe_ext_notify_set, arg);
}

/**
 * pe_ext_change_notify() - PERF_EXT_IOC_NOTIFY
 * @e: the event
 * @ask: what user space says
 *
 * Return: 0 or an error; then nothing has changed.
 */
int pe_ext_change_notify(struct pe_event *e, const struct perf_ext_notify *ask)
{
	struct pe_notify notify = {
		.every	= ask->every,
		.stop	= ask->flags & PERF_EXT_NOTIFY_STOP,
	};
	struct notify_args args = { .e = e, .notify = ask->every ? &notify : NULL };
	const char *why;
	int err;

	if (ask->flags & ~PERF_EXT_NOTIFY_STOP || ask->pad || ask->set || ask->member)
		return pe_err(-EINVAL, "NOTIFY: unknown flags; pad, set, member: not 0");
	guard(pe_event_ctx)(e);
	if (e->state <= PERF_EVENT_STATE_REVOKED)
		return -ENODEV;
	err = pe_ext_refuse_notify(e, &why);
	if (err)
		return pe_err(err, why);
	pe_family_each(e, pe_ext_notify_prepare, &args);
	if (args.err)
		return args.err;
	pe_take_slow_overflow(e);
	pe_family_each(e, pe_ext_notify_apply, &args);
	return 0;
}

/* Copies that fork is making now have the state of before. */
static void tell_newcomers(struct pe_event *e)
{
	if (e->parent)
		return;
	e->family_gen++;
	e->family_on = true;
}

static void pe_ext_restart_one(struct pe_event *e, void *arg)
{
	tell_newcomers(e);
	pe_call(pe_ctx(e), pe_notify_restart, e);
}

static void pe_ext_restart_enable(struct pe_ctx *ctx, void *arg)
{
	pe_enable_locked(arg, pe_now());
}

static void pe_ext_restart_leader(struct pe_event *e, void *arg)
{
	tell_newcomers(e);
	pe_event_call(e, pe_ext_restart_enable, e);
}

/**
 * pe_ext_restart() - PERF_EXT_IOC_RESTART
 * @e: the event
 * @ask: what user space says
 *
 * The leader is last, so that all members go on at the same time.  Return: 0 or an error.
 */
int pe_ext_restart(struct pe_event *e, const struct perf_ext_restart *ask)
{
	const char *why;
	int err;

	if (ask->flags)
		return pe_err(-EINVAL, "RESTART: flags: not 0");
	guard(pe_event_ctx)(e);
	if (e->state <= PERF_EVENT_STATE_REVOKED)
		return -ENODEV;
	err = pe_ext_refuse_notify(e, &why);
	if (err)
		return pe_err(err, why);
	if (ask->tid)
		return pe_err(-ESRCH, "RESTART: no such thread waits");
	pe_family_each(e, pe_ext_restart_one, NULL);
	if (!pe_is_leader(e))
		pe_family_each(pe_leader(e), pe_ext_restart_leader, NULL);
	return 0;
}

/**
 * pe_ext_show_notify() - the line of fdinfo
 * @m: where to
 * @e: the event
 */
void pe_ext_show_notify(struct seq_file *m, struct pe_event *e)
{
	struct pe_notify *notify = pe_notify(e);

	if (notify)
		seq_printf(m, "notify:\t%u%s\n", READ_ONCE(notify->every),
			   READ_ONCE(notify->stop) ? " stop" : "");
}
