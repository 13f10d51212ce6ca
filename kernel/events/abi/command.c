// SPDX-License-Identifier: GPL-2.0
/*
 * ENABLE, DISABLE and RESET, by ioctl(), where a call begins here, prctl() and from the kernel.
 *
 * A command with PERF_IOC_FLAG_GROUP goes to every member of the event's group, and to its children
 * too; a group without children is told by one call to its CPU.  ctx->mutex keeps the group as it
 * is meanwhile, the family lock the children.  Task context.
 */

#include "abi.h"
#include "../ext.h"

static void pe_enable_one(struct pe_ctx *ctx, void *arg)
{
	pe_enable_locked(arg, pe_now());
}

static void pe_disable_one(struct pe_ctx *ctx, void *arg)
{
	pe_disable_locked(arg, pe_now());
}

static void pe_reset_one(struct pe_ctx *ctx, void *arg)
{
	struct pe_event *e = arg;

	if (e->counts_time)
		local64_set(&e->hw.prev_count, pe_clock_read(&e->slot->clock, pe_now()));
	else if (e->state == PERF_EVENT_STATE_ACTIVE && !pe_is_passive(e))
		e->pmu->read(&e->pub);
	local64_set(&e->count, 0);
	if (e->counts_hits && !(e->hw.state & PERF_HES_STOPPED))
		pe_hits_begin(e);
	if (!e->attr.inherit || pe_is_session(e))
		atomic64_set(&e->gone_count, 0);	/* hits from elsewhere, see tracepoint.c */
	if (unlikely(pe_ext(e)))
		pe_masks_begin(e);
	pe_userpage_fill(e);
}

/* What ENABLE, DISABLE and RESET do with an event. */
struct pe_command {
	pe_call_fn	fn;
	void		(*call)(struct pe_event *e, pe_call_fn fn, void *arg);
	bool		sets_state;
	bool		on;
};

const struct pe_command pe_command_enable = {
	.fn = pe_enable_one, .call = pe_event_call, .sets_state = true, .on = true,
};

const struct pe_command pe_command_disable = {
	.fn = pe_disable_one, .call = pe_event_call, .sets_state = true,
};

static const struct pe_command pe_command_reset = { .fn = pe_reset_one, .call = pe_count_call };

/*
 * What samples show by masks begins anew with the count, where both are counted: in between there
 * must be no hit.
 */
static bool is_shown(const struct pe_command *cmd, struct pe_event *e)
{
	return cmd == &pe_command_reset && unlikely(pe_ext(e));
}

/**
 * pe_command_one() - a command to an event or one of its copies
 * @e: the event; its ctx->mutex is held, and the family lock if it has a family
 * @arg: a struct pe_command
 *
 * A copy that fork is making follows when it joins the family.
 */
void pe_command_one(struct pe_event *e, void *arg)
{
	const struct pe_command *cmd = arg;

	if (cmd->sets_state && !e->parent) {
		e->family_gen++;
		e->family_on = cmd->on;
	}
	if (is_shown(cmd, e))
		pe_oncpu_call(e, cmd->fn, e);
	else
		cmd->call(e, cmd->fn, e);
}

static void do_family(struct pe_event *e, const struct pe_command *cmd)
{
	pe_family_each(e, pe_command_one, (void *)cmd);
}

struct group_command {
	const struct pe_command	*cmd;
	struct pe_event		*leader;
};

static void pe_command_group(struct pe_ctx *ctx, void *arg)
{
	struct group_command *group = arg;
	struct pe_event *m;

	if (group->cmd == &pe_command_enable) {
		pe_enable_group_locked(group->leader, pe_now());
		return;
	}
	pe_for_each_member(m, group->leader)
		group->cmd->fn(ctx, m);
}

#ifdef CONFIG_PERF_EVENTS_EXT
/*
 * The copies of a target are about to leave: they have stopped, and what they have counted goes to
 * the sums.
 */
static void reset_leaving(struct pe_ctx *ctx, struct group_command *group)
{
	struct pe_event *e, *leader = group->leader;

	if (group->cmd != &pe_command_reset)
		return;
	list_for_each_entry(e, &ctx->events, ctx_entry)
		if (pe_of_target(e) && e->cgrp == leader->cgrp &&
		    pe_parent(e)->session == pe_parent(leader)->session)
			pe_command_reset.fn(ctx, e);
}

/* To all sets of a target; nobody's turn ends meanwhile. */
static void pe_command_sets(struct pe_ctx *ctx, void *arg)
{
	struct group_command *group = arg;
	struct pe_set *sets[PE_MOST_SETS];
	unsigned int nr;

	if (!pe_in_ring(group->leader)) {
		reset_leaving(ctx, group);
		return;
	}
	nr = pe_set_ring(&pe_ext(group->leader)->set, sets);
	while (nr--) {
		struct group_command one = { group->cmd, sets[nr]->leader };

		pe_command_group(ctx, &one);
	}
}
#else
static void pe_command_sets(struct pe_ctx *ctx, void *arg)
{
}
#endif

/* A group without copies is in one context; copies may have lost their group. */
static bool is_one_call(const struct pe_command *cmd, struct pe_event *leader)
{
	struct pe_event *m;

	pe_for_each_member(m, leader)
		if (m->attr.inherit || is_shown(cmd, m))
			return false;
	return true;
}

static void do_group(struct pe_event *leader, const struct pe_command *cmd)
{
	struct group_command group = { cmd, leader };
	struct pe_event *m;

	if (is_one_call(cmd, leader)) {
		cmd->call(leader, pe_command_group, &group);
		return;
	}
	pe_for_each_member(m, leader)
		do_family(m, cmd);
}

/* All members, of all targets: one call for each target, whose other sets are in the ring. */
static void do_session(struct pe_event *leader, const struct pe_command *cmd)
{
	struct group_command group = { .cmd = cmd };
	struct pe_session *s = leader->session;
	struct pe_event *child;
	bool shown = false;
	unsigned int i;

	pe_session_lock_families(leader);
	for (i = 0; i < s->nr; i++) {
		if (cmd->sets_state &&
		    READ_ONCE(s->member[i]->state) <= PERF_EVENT_STATE_REVOKED)
			continue;
		pe_command_one(s->member[i], (void *)cmd);
		shown |= is_shown(cmd, s->member[i]);
	}
	list_for_each_entry(child, &leader->children, child_entry) {
		group.leader = child;
		if (s->nr_sets > 1)
			pe_call(pe_ctx(child), pe_command_sets, &group);
		else if (shown)
			pe_oncpu_call(child, pe_command_group, &group);
		else
			cmd->call(child, pe_command_group, &group);
	}
	pe_session_unlock_families(leader);
}

static void obey(struct pe_event *e, const struct pe_command *cmd, unsigned long flags)
{
	if (pe_is_session(e))
		do_session(e, cmd);
	else if (flags & PERF_IOC_FLAG_GROUP)
		do_group(pe_leader(e), cmd);
	else
		do_family(e, cmd);
}

/*
 * Is ctx->lock enough to tell @e alone?  It has no copies then.  It does not move: an event of a
 * CPU that is taken to another one is in no context for a moment, and would miss the command.  And
 * nobody needs it to stay disabled, as pe_ioctl_modify() does.  ctx->mutex is for those.
 */
static bool is_simple(const struct pe_event *e)
{
	return !e->attr.inherit && e->attach_state & PERF_ATTACH_TASK &&
	       e->attr.type != PERF_TYPE_BREAKPOINT;
}

static const struct pe_command *command_of(unsigned int cmd)
{
	switch (cmd) {
	case PERF_EVENT_IOC_ENABLE:
		return &pe_command_enable;
	case PERF_EVENT_IOC_DISABLE:
		return &pe_command_disable;
	case PERF_EVENT_IOC_RESET:
		return &pe_command_reset;
	default:
		return NULL;
	}
}

/**
 * pe_ioctl() - ioctl(2) on an event
 * @file: the event's file
 * @cmd: PERF_EVENT_IOC_*
 * @arg: as the command wants it
 *
 * Return: 0; -ENODEV when the event's PMU is gone; -ENOTTY for an unknown command; errnos of the
 * commands.
 */
long pe_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct pe_event *e = pe(file->private_data);
	const struct pe_command *command = command_of(cmd);
	long ret = security_perf_event_write(&e->pub);

	if (ret)
		return ret;
	/* Revoked after this look, it does not do what it is told: as if that had come before. */
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "ioctl: the PMU has gone");
	if (!command)
		return pe_ioctl_other(e, cmd, arg);
	if (!(arg & PERF_IOC_FLAG_GROUP) && is_simple(e) && !is_shown(command, e)) {
		command->call(e, command->fn, e);
		return 0;
	}
	guard(pe_event_ctx)(e);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return -ENODEV;
	obey(e, command, arg);
	return 0;
}

static int for_own_events(const struct pe_command *cmd)
{
	struct pe_event *e;

	mutex_lock(&current->perf_event_mutex);
	list_for_each_entry(e, &current->perf_event_list, owner_entry) {
		guard(pe_event_ctx)(e);
		do_family(e, cmd);
	}
	mutex_unlock(&current->perf_event_mutex);
	return 0;
}

/* Contract: prctl(PR_TASK_PERF_EVENTS_ENABLE), all events that current opened. */
int perf_event_task_enable(void)
{
	return for_own_events(&pe_command_enable);
}

/* Contract: prctl(PR_TASK_PERF_EVENTS_DISABLE). */
int perf_event_task_disable(void)
{
	return for_own_events(&pe_command_disable);
}

/* Contract: in-kernel users of single events; task context. */
void perf_event_enable(struct perf_event *event)
{
	guard(pe_event_ctx)(pe(event));
	pe_event_call(pe(event), pe_enable_one, pe(event));
}
EXPORT_SYMBOL_GPL(perf_event_enable);

void perf_event_disable(struct perf_event *event)
{
	guard(pe_event_ctx)(pe(event));
	pe_event_call(pe(event), pe_disable_one, pe(event));
}
EXPORT_SYMBOL_GPL(perf_event_disable);

/* Contract: disable @event. Return: its count, which is set to 0 if @reset. */
u64 perf_event_pause(struct perf_event *event, bool reset)
{
	struct pe_event *e = pe(event);
	u64 count;

	guard(pe_event_ctx)(e);
	WARN_ON_ONCE(e->attr.inherit);
	pe_event_call(e, pe_disable_one, e);
	count = local64_read(&e->count);
	if (reset)
		local64_set(&e->count, 0);
	return count;
}
EXPORT_SYMBOL_GPL(perf_event_pause);
