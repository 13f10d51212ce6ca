// SPDX-License-Identifier: GPL-2.0
/*
 * Masks: which members of a group the samples of an event show, and which of them begin anew with
 * each sample (PERF_EXT_IOC_MASKS).
 *
 * A member has a bit, given to it when it is named first; copies go by that of their origin.  The
 * count of a member is not touched, read(2) and the control page have it as ever: ext->shown is the
 * count at the last sample that has reset the member, and a sample shows the difference.  A sample
 * that finds no room, or that a program refuses, comes by here not at all, and resets nothing.
 *
 * Context: as sample.c, irqs off, as the group must stay the same from the size of the READ part to
 * its values: see pe_samples_group().  Samples of other members may come in between in an NMI.
 */
#include "output.h"

/**
 * pe_masks_set() - the masks of an event
 * @e: the event; its context is locked where it is in, as for pe_call(), or nobody has seen it
 * @masks: NULL: none
 *
 * An NMI finds the old ones or the new ones.
 */
void pe_masks_set(struct pe_event *e, const struct pe_masks *masks)
{
	struct pe_ext *ext = pe_ext(e);
	struct pe_masks *next = NULL;

	if (masks) {
		next = &ext->masks_pair[ext->masks == &ext->masks_pair[0]];
		*next = *masks;
	}
	/* A sample that finds them finds them whole. */
	smp_store_release(&ext->masks, next);
}

/* What a member is called in masks.  It has something to remember what was shown of it, or 0. */
static u64 bit_of(struct pe_event *m)
{
	return pe_ext(m) ? READ_ONCE(pe_ext(pe_origin(m))->bit) : 0;
}

/**
 * pe_masks_size() - bytes of PERF_SAMPLE_READ
 * @e: the event
 * @masks: its masks
 */
u32 pe_masks_size(const struct pe_event *e, const struct pe_masks *masks)
{
	struct pe_event *leader = pe_leader(e), *m;
	u64 format = e->attr.read_format;
	u32 words = pe_read_head_words(format);

	pe_for_each_member(m, leader)
		if (bit_of(m) & masks->record)
			words += pe_read_member_words(format);
	return words * sizeof(u64);
}

/* A RESET has begun that the member's @shown has not followed yet, see pe_masks_begin(). */
static bool is_older(u64 shown, u64 count)
{
	return (s64)(count - shown) < 0;
}

/*
 * What @m has counted since a sample has reset it.  A sample that comes between the two looks makes
 * the exchange fail; time and count are read after @shown, which so is never ahead of them.
 */
static u64 take_delta(struct pe_event *m, bool own, bool reset)
{
	atomic64_t *shown = &pe_ext(m)->shown;
	s64 old = atomic64_read(shown);
	u64 count;

	do {
		count = pe_count_for_sample(m, pe_now(), own);
	} while (!atomic64_try_cmpxchg(shown, &old, reset ? count : old));
	return is_older(old, count) ? count : count - old;
}

/**
 * pe_put_masked() - PERF_SAMPLE_READ of an event with masks
 * @w: where it goes
 * @e: the event
 * @masks: its masks
 * @len: exactly so many bytes, which was pe_masks_size() when the room was reserved
 * @fresh: what the event's PMU counts of the group need not be read from the hardware
 *
 * Return: its end.
 */
u64 *pe_put_masked(u64 *w, struct pe_event *e, struct pe_masks masks, u32 len, bool fresh)
{
	struct pe_event *leader = pe_leader(e), *m;
	bool scheduled = !pe_group_passive(leader);
	struct pe_times times = pe_times_now(e, pe_now());
	u64 format = e->attr.read_format, *end = w + len / sizeof(*w);
	unsigned int nr = (end - w - pe_read_head_words(format)) / pe_read_member_words(format);

	w = pe_read_put_head(w, format, nr, &times);
	pe_for_each_member(m, leader) {
		u64 bit = bit_of(m), count;

		if (!(bit & (masks.record | masks.reset)) || (bit & masks.record && !nr))
			continue;
		if (m != e)
			pe_refresh_member(m, e, scheduled, fresh);
		count = take_delta(m, e->attr.inherit, bit & masks.reset);
		if (!(bit & masks.record))
			continue;
		nr--;
		w = pe_read_put_member(w, format, m, count);
	}
	memset(w, 0, (end - w) * sizeof(*w));
	return end;
}

/**
 * pe_masks_begin() - PERF_EVENT_IOC_RESET has set the count of an event to 0
 * @e: an event with a struct pe_ext, its context is locked
 *
 * A sample may have come since, and have made @shown one of the new count: that is not above it.
 */
void pe_masks_begin(struct pe_event *e)
{
	atomic64_t *shown = &pe_ext(e)->shown;
	s64 old = atomic64_read(shown);

	if (is_older(old, pe_count_for_sample(e, pe_now(), e->attr.inherit)))
		atomic64_cmpxchg(shown, old, 0);
}
