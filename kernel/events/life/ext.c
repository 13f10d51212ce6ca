// SPDX-License-Identifier: GPL-2.0
/*
 * The life of what an event has beyond the stock ABI (struct pe_ext).
 *
 * It is made when it is asked for first, with the mutex of the event's context or, for a copy, the
 * family lock of its parent, and stays until the memory of the event goes.  A copy has it if its
 * parent has, and follows the same rules.
 *
 * Task context.
 */
#include <linux/task_work.h>

#include "life.h"
#include "../ext.h"

static void pe_ext_run_hold(struct callback_head *work)
{
	struct pe_event *e = container_of(work, struct pe_hold, work)->e;

	if (pe_hold_wait(e))
		pe_put(e);
}

static struct pe_ext *make_ext(struct pe_event *e, gfp_t gfp)
{
	struct pe_ext *ext = kzalloc(sizeof(*ext), gfp);

	if (!ext)
		return NULL;
	if (e->parent)
		lockdep_assert_held(&pe_parent(e)->family_lock);
	ext->hold.e = e;
	init_task_work(&ext->hold.work, pe_ext_run_hold);
	init_waitqueue_head(&ext->hold.wq);
	INIT_LIST_HEAD(&ext->set.ring);
	ext->set.leader = e;
	if (e->parent)
		ext->number = ++pe_ext(pe_parent(e))->copies;
	/* Overflows look at it from now on; it says that nothing is asked for. */
	smp_store_release(&e->ext, ext);
	return ext;
}

/**
 * pe_ext_need() - see to it that an event has a struct pe_ext
 * @e: an event; the mutex of its context is held, or it is a copy whose family lock is held
 *
 * Return: 0 or -ENOMEM.
 */
int pe_ext_need(struct pe_event *e)
{
	return pe_ext(e) || make_ext(e, GFP_KERNEL) ? 0 : -ENOMEM;
}

/* The rule that the origin's periods follow, or NULL. */
static struct pe_period_rule *rule_of(const struct pe_event *origin)
{
	struct pe_periods *p = pe_periods(origin);

	return p ? &p->rule : NULL;
}

/**
 * pe_ext_inherit() - a new copy follows the rules of its parent
 * @e: the copy, which nobody has seen
 *
 * Return: 0 or -ENOMEM.
 */
int pe_ext_inherit(struct pe_event *e)
{
	struct pe_event *parent = pe_parent(e);

	if (likely(!pe_ext(parent)))
		return 0;
	guard(mutex)(&parent->family_lock);
	if (!make_ext(e, GFP_KERNEL))
		return -ENOMEM;
	e->ext->gen = parent->ext->gen;
	if (rule_of(parent))
		pe_periods_set(e, rule_of(parent));
	pe_masks_set(e, pe_masks(parent));
	pe_notify_set(e, pe_notify(parent));
	if (pe_trigger(parent))
		pe_trigger_set(e, pe_trigger(parent)->threshold);
	return 0;
}

/**
 * pe_ext_set_periods() - an event and its period rule
 * @ctx: its context
 * @arg: the event; it takes the rule of its origin
 *
 * For pe_call().
 */
void pe_ext_set_periods(struct pe_ctx *ctx, void *arg)
{
	struct pe_event *e = arg;

	pe_change_period(e, pe_periods_set, rule_of(pe_origin(e)));
}

/**
 * pe_ext_set_masks() - a copy takes the masks of its origin
 * @ctx: its context
 * @arg: the copy
 *
 * For pe_call().
 */
void pe_ext_set_masks(struct pe_ctx *ctx, void *arg)
{
	struct pe_event *e = arg;

	pe_masks_set(e, pe_masks(pe_parent(e)));
}

/**
 * pe_ext_set_notify() - a copy takes the notification of its origin
 * @ctx: its context
 * @arg: the copy
 *
 * For pe_call().
 */
void pe_ext_set_notify(struct pe_ctx *ctx, void *arg)
{
	struct pe_event *e = arg;

	pe_notify_set(e, pe_notify(pe_parent(e)));
}

/**
 * pe_ext_copy_trigger() - a copy takes the trigger of its origin
 * @ctx: its context
 * @arg: the copy
 *
 * For pe_call().
 */
void pe_ext_copy_trigger(struct pe_ctx *ctx, void *arg)
{
	struct pe_event *e = arg;
	struct pe_trigger *trigger = pe_trigger(pe_parent(e));

	pe_trigger_set(e, trigger ? trigger->threshold : 0);
}

/**
 * pe_ext_follow() - the rules have changed since a copy was made
 * @e: the copy, about to join its family; the family lock is held
 */
void pe_ext_follow(struct pe_event *e)
{
	struct pe_ext *asked = pe_ext(pe_parent(e));

	if (likely(!asked) || (e->ext && e->ext->gen == asked->gen))
		return;
	/* The fork has succeeded: there is nobody to be told of a failure. */
	if (!e->ext)
		make_ext(e, GFP_KERNEL | __GFP_NOFAIL);
	if (rule_of(pe_parent(e)) || pe_periods(e))
		pe_call(pe_ctx(e), pe_ext_set_periods, e);
	pe_call(pe_ctx(e), pe_ext_set_masks, e);
	if (pe_notify(pe_parent(e)) || pe_notify(e))
		pe_call(pe_ctx(e), pe_ext_set_notify, e);
	if (pe_trigger(pe_parent(e)) || pe_trigger(e))
		pe_call(pe_ctx(e), pe_ext_copy_trigger, e);
}

/**
 * pe_ext_free() - the memory of an event goes
 * @e: the event
 *
 * Any context but NMI, a grace period after the event has left its context.
 */
void pe_ext_free(struct pe_event *e)
{
	if (likely(!e->ext))
		return;
	pe_format_forget(e);
	kfree(e->ext);
}
