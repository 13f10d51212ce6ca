// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_EXT_IOC_MASKS: user space names members by their place in the group, samples by a bit that
 * stays when others leave.  See output/masks.c.
 *
 * Task context, may sleep.
 */
#include <linux/perf_event_ext.h>

#include "abi.h"
#include "ext_call.h"
#include "../ext.h"

#define MOST_NAMED	64	/* members of a group, by places and by bits */

static_assert(sizeof(struct perf_ext_masks) == 24);

/* Can the samples of an event have masks?  Return: 0, or -EINVAL, whose reason is in @why. */
int pe_ext_refuse_masks(struct pe_event *e, const char **why)
{
	if (!is_sampling_event(&e->pub)) {
		*why = "MASKS: the event does not sample";
		return -EINVAL;
	}
	if (!pe_samples_group(e) || !(e->attr.read_format & PERF_FORMAT_ID)) {
		*why = "MASKS: need PERF_SAMPLE_READ, PERF_FORMAT_GROUP and PERF_FORMAT_ID";
		return -EINVAL;
	}
	return 0;
}

struct masks_args {
	const struct pe_masks	*masks;		/* NULL: none */
	int			err;
};

/* An event to be named, or a copy: it gets where to remember what was shown. */
static void pe_ext_masks_prepare(struct pe_event *e, void *arg)
{
	struct masks_args *args = arg;

	args->err = args->err ?: pe_ext_need(e);
}

struct set_args {
	struct pe_event		*e;
	const struct pe_masks	*masks;
};

static void pe_ext_masks_set(struct pe_ctx *ctx, void *arg)
{
	struct set_args *args = arg;

	pe_masks_set(args->e, args->masks);
}

/* The copies take the masks from their origin, which is first. */
static void pe_ext_masks_apply(struct pe_event *e, void *arg)
{
	struct masks_args *args = arg;
	struct set_args set = { e, args->masks };

	if (e->parent) {
		pe_call(pe_ctx(e), pe_ext_set_masks, e);
		return;
	}
	e->ext->gen++;
	pe_call(pe_ctx(e), pe_ext_masks_set, &set);
}

/* Bits that mean a member of the group of @leader, or did so and are in masks yet. */
static u64 bits_taken(struct pe_event *leader)
{
	struct pe_event *m;
	u64 taken = 0;

	pe_for_each_member(m, leader) {
		const struct pe_masks *masks = pe_masks(m);

		if (pe_ext(m))
			taken |= m->ext->bit;
		if (masks)
			taken |= masks->record | masks->reset;
	}
	return taken;
}

/* Gives a bit to each member of @places that has none. */
static int name_members(struct pe_event *leader, u64 places)
{
	struct masks_args args = {};
	u64 taken = bits_taken(leader);
	struct pe_event *m;

	pe_for_each_member(m, leader) {
		if (places & 1)
			pe_family_each(m, pe_ext_masks_prepare, &args);
		if (args.err)
			return args.err;
		if (places & 1 && !m->ext->bit) {
			if (taken == U64_MAX)
				return pe_err(-ENOSPC, "MASKS: members that left have the bits");
			WRITE_ONCE(m->ext->bit, ~taken & (taken + 1));
			taken |= m->ext->bit;
		}
		places >>= 1;
		if (!places)
			break;
	}
	return 0;
}

/* Bits of the members in @places, all of which are named. */
static u64 bits_of(struct pe_event *leader, u64 places)
{
	struct pe_event *m;
	u64 bits = 0;

	pe_for_each_member(m, leader) {
		if (places & 1)
			bits |= m->ext->bit;
		places >>= 1;
		if (!places)
			break;
	}
	return bits;
}

static int set_masks(struct pe_event *e, const struct perf_ext_masks *ask)
{
	struct pe_event *leader = pe_leader(e);
	unsigned int nr = leader->nr_siblings + 1;
	u64 places = ask->record | ask->reset;
	struct pe_masks masks;
	struct masks_args args = { .masks = &masks };

	lockdep_assert_held(&pe_ctx(e)->mutex);	/* the group stays as it is */
	if (nr < MOST_NAMED && places >> nr)
		return pe_err(-EINVAL, "MASKS: a bit beyond the last member");
	args.err = name_members(leader, places);
	if (args.err)
		return args.err;
	pe_family_each(e, pe_ext_masks_prepare, &args);
	if (args.err)
		return args.err;
	masks.record = bits_of(leader, ask->record);
	masks.reset = bits_of(leader, ask->reset);
	pe_family_each(e, pe_ext_masks_apply, &args);
	return 0;
}

/**
 * pe_ext_change_masks() - PERF_EXT_IOC_MASKS
 * @e: the event
 * @asked: what user space says
 *
 * Return: 0 or an error; then nothing has changed.
 */
long pe_ext_change_masks(struct pe_event *e, struct pe_ext_ask *asked)
{
	const struct perf_ext_masks *ask = &asked->u.masks;
	struct masks_args none = {};
	const char *why;
	int err;

	if (ask->flags)
		return pe_err(-EINVAL, "MASKS: flags: not 0");
	e = pe_ext_named(e, ask->set, ask->member);
	if (IS_ERR(e))
		return PTR_ERR(e);
	guard(pe_event_ctx)(e);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "MASKS: the PMU has gone");
	err = pe_ext_refuse_masks(e, &why);
	if (err)
		return pe_err(err, why);
	if (ask->record || ask->reset)
		return set_masks(e, ask);
	if (pe_masks(e))
		pe_family_each(e, pe_ext_masks_apply, &none);
	return 0;
}

/**
 * pe_ext_show_masks() - the line of fdinfo, by places of the group as it is now
 * @m: where to
 * @e: the event
 *
 * Takes neither ctx->mutex nor another CPU.
 */
void pe_ext_show_masks(struct seq_file *m, struct pe_event *e)
{
	struct perf_ext_masks p = {};
	const struct pe_masks *masks;
	struct pe_event *member;
	u64 place = 1;

	scoped_guard(raw_spinlock_irq, &pe_ctx(e)->lock) {
		masks = pe_masks(e);
		if (!masks)
			return;
		pe_for_each_member(member, pe_leader(e)) {
			u64 bit = pe_ext(member) ? member->ext->bit : 0;

			p.record |= bit & masks->record ? place : 0;
			p.reset |= bit & masks->reset ? place : 0;
			place <<= 1;
		}
	}
	seq_printf(m, "masks:\t%#llx %#llx\n", p.record, p.reset);
}
