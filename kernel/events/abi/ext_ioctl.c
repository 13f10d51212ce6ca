// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of <uapi/linux/perf_event_ext.h>: one table of them, and what all have in common.
 *
 * Each feature has one predicate that says whether an event can have it: the call and
 * PERF_EXT_IOC_INFO both ask that, so they cannot disagree.
 *
 * Task context, may sleep.  User memory is read before a call begins, and so before ctx->mutex is
 * taken, and written when it is done.  What a call does is done when it returns.
 */
#include <linux/nospec.h>
#include <linux/perf_event_ext.h>

#include "abi.h"
#include "ext_call.h"
#include "../ext.h"

#define FEATURES	(PERF_EXT_PERIODS | PERF_EXT_MASKS | PERF_EXT_NOTIFY | PERF_EXT_BLOCK | \
			 PERF_EXT_SETS | PERF_EXT_FORMATS | PERF_EXT_SESSIONS | PERF_EXT_READ)

static_assert(sizeof(struct perf_ext_info) == 32);

static long pe_ext_get_info(struct pe_event *e, struct pe_ext_ask *ask)
{
	struct perf_ext_info *info = &ask->u.info;
	const char *why;

	*info = (struct perf_ext_info){
		.features	= FEATURES,
		.here		= pe_is_session(e) ? PERF_EXT_SESSIONS | PERF_EXT_READ : 0,
		.most_members	= PE_MOST_MEMBERS,
	};
	guard(pe_event_ctx)(e);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "INFO: the PMU has gone");
	if (!pe_ext_refuse_periods(e, &why)) {
		info->here |= PERF_EXT_PERIODS;
		info->least_period = e->pmu->least_period(&e->pub);
	}
	if (!pe_ext_refuse_masks(e, &why))
		info->here |= PERF_EXT_MASKS;
	if (!pe_ext_refuse_notify(e, &why))
		info->here |= PERF_EXT_NOTIFY;
	if (!pe_ext_refuse_block(e, PTRACE_MODE_NOAUDIT, &why))
		info->here |= PERF_EXT_BLOCK;
	if (!pe_ext_refuse_sets(e, &why)) {
		info->here |= PERF_EXT_SETS;
		info->most_sets = PE_MOST_SETS;
	}
	if (!pe_ext_refuse_format(e, &why))
		info->here |= PERF_EXT_FORMATS;
	return 0;
}

#define FIRST	_IOC_NR(PERF_EXT_IOC_INFO)

/* A call by its number, and its member of union pe_ext_struct. */
#define CALL(ioc, member, function)					\
	[_IOC_NR(PERF_EXT_IOC_##ioc) - FIRST] = {			\
		.size		= sizeof_field(union pe_ext_struct, member), \
		.run		= function,				\
	}
/* One whose struct is written back. */
#define ASK(ioc, member, function)					\
	[_IOC_NR(PERF_EXT_IOC_##ioc) - FIRST] = {			\
		.size		= sizeof_field(union pe_ext_struct, member), \
		.answers	= true,					\
		.run		= function,				\
	}

static const struct pe_ext_call {
	size_t	size;
	bool	answers;
	long	(*run)(struct pe_event *e, struct pe_ext_ask *ask);
} calls[] = {
	ASK(INFO, info, pe_ext_get_info),
	ASK(PERIODS, periods, pe_ext_change_periods),
	ASK(GET_PERIODS, periods, pe_ext_get_periods),
	CALL(MASKS, masks, pe_ext_change_masks),
	CALL(NOTIFY, notify, pe_ext_change_notify),
	CALL(RESTART, restart, pe_ext_restart),
	CALL(SET_JOIN, set, pe_ext_join_ring),
	[_IOC_NR(PERF_EXT_IOC_SET_LEAVE) - FIRST] = { .run = pe_ext_leave_ring },
	CALL(SET_TRIGGER, trigger, pe_ext_set_trigger),
	ASK(SET_INFO, sets, pe_ext_sets_info),
	CALL(SET_SELECT, select, pe_ext_select_set),
	CALL(FORMAT, format, pe_ext_change_format),
	CALL(CREATE, create, pe_ext_create),
	CALL(ATTACH, target, pe_ext_attach),
	CALL(DETACH, target, pe_ext_detach),
	ASK(READ, read, pe_ext_read),
};

/**
 * pe_ext_answer() - write the struct of a call back
 * @ask: the call
 *
 * For calls that must not fail afterwards; the others are written back when they return 0, or
 * -ENOSPC, which tells how much room there must be.  Return: 0 or -EFAULT.
 */
int pe_ext_answer(const struct pe_ext_ask *ask)
{
	return copy_to_user(ask->user, &ask->u, min(ask->size, ask->given)) ? -EFAULT : 0;
}

/**
 * pe_ext_named() - the event that a call is about
 * @e: that whose file is asked
 * @set: number of a set of the session that it is, else 0
 * @member: place in the set, else 0
 *
 * Without ctx->mutex.  Return: the event, which stays as long as the file; or -EINVAL.
 */
struct pe_event *pe_ext_named(struct pe_event *e, u16 set, u16 member)
{
	struct pe_event *named;

	if (!set && !member)
		return e;
	named = pe_is_session(e) ? pe_session_named(e->session, set, member) : NULL;
	return named ?: ERR_PTR(pe_err(-EINVAL, "set, member: there is none in this session"));
}

/**
 * pe_ext_ioctl() - an ioctl of the extensions
 * @e: the event
 * @cmd: pe_ext_is() says yes
 * @arg: user pointer to a struct whose size is that in @cmd
 *
 * Return: what the call returns; -ENOTTY for a number that means nothing, or carries no size;
 * -E2BIG, -EFAULT.
 */
long pe_ext_ioctl(struct pe_event *e, unsigned int cmd, unsigned long arg)
{
	unsigned int nr = _IOC_NR(cmd) - FIRST;
	struct pe_ext_ask ask = {
		.user	= (void __user *)arg,
		.given	= _IOC_SIZE(cmd),
	};
	const struct pe_ext_call *call;
	long err;

	if (nr >= ARRAY_SIZE(calls))
		return -ENOTTY;
	call = &calls[array_index_nospec(nr, ARRAY_SIZE(calls))];
	/* A call has a struct, or it has none. */
	if (!call->run || !call->size != !ask.given)
		return -ENOTTY;
	ask.size = call->size;
	err = copy_struct_from_user(&ask.u, ask.size, ask.user, ask.given);
	if (err)
		return err;
	err = call->run(e, &ask);
	if (call->answers && (!err || err == -ENOSPC))
		err = pe_ext_answer(&ask) ?: err;
	return err;
}

/**
 * pe_ext_show() - lines of fdinfo
 * @m: where to
 * @e: the event
 */
void pe_ext_show(struct seq_file *m, struct pe_event *e)
{
	pe_ext_show_format(m, e);
	pe_ext_show_masks(m, e);
	pe_ext_show_notify(m, e);
	pe_ext_show_periods(m, e);
	pe_ext_show_sets(m, e);
	pe_ext_show_session(m, e);
}
