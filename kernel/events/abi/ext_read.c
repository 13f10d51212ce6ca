// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_EXT_IOC_READ: what a session has counted, by target.
 *
 * All values are taken with the families of all members locked: nobody joins or leaves meanwhile,
 * so the entries, with those of what has left, add up to the sums.  Several sets are told one after
 * the other: what they have on targets, and then what has left of each.
 *
 * An entry has all members of its set, each in its place.  One whose PMU has gone has left its
 * group, but what its copies have counted is in its sums, or in those copies that are about to go.
 *
 * Task context, may sleep.
 */
#include <linux/pid_namespace.h>
#include <linux/perf_event_ext.h>
#include <linux/sched.h>

#include "abi.h"
#include "ext_call.h"

static_assert(sizeof(struct perf_ext_values) == 56);
static_assert(sizeof(struct perf_ext_read) == 32);

/**
 * struct answer - the entries of a call
 * @s: the session
 * @entries: them
 * @size: bytes of those that there are
 * @nr: how many
 * @of_set: of the set that is being told: where they begin
 * @number: of that set
 * @member: of that set
 * @leader: the first of them
 * @members: of that set
 * @any_lost: some samples of the session have been lost
 */
struct answer {
	struct pe_session	*s;
	void			*entries;
	size_t			size;
	size_t			nr;
	size_t			of_set;
	u16			number;
	struct pe_event		**member;
	struct pe_event		*leader;
	unsigned int		members;
	bool			any_lost;
};

/* Of the set that is being told. */
static size_t entry_size(const struct answer *a)
{
	return struct_size_t(struct perf_ext_values, value, a->members);
}

static void tell_set(struct answer *a, unsigned int i)
{
	const struct pe_session_set *set = &a->s->set[i];

	a->of_set = a->size;
	a->number = set->number;
	a->member = &a->s->member[set->first];
	a->leader = a->member[0];
	a->members = set->nr;
}

static struct perf_ext_values *add_entry(struct answer *a)
{
	struct perf_ext_values *v = a->entries + a->size;

	a->nr++;
	a->size += entry_size(a);
	v->size = entry_size(a);
	v->set = a->number;
	v->nr = a->members;
	v->tid = -1;
	v->cpu = -1;
	return v;
}

/* The lock is for siblings whose PMU goes: they leave the group. */
static u64 lost_of_group(struct pe_event *leader)
{
	struct pe_event *m;
	u64 lost = 0;

	guard(raw_spinlock_irq)(&pe_ctx(leader)->lock);
	pe_for_each_member(m, leader)
		lost += atomic64_read(&m->lost_samples);
	return lost;
}

/* Of the set, by all of its copies. */
static u64 lost_of_set(const struct answer *a)
{
	u64 lost = 0;
	unsigned int i;

	for (i = 0; i < a->members; i++)
		lost += atomic64_read(&a->member[i]->lost_samples);
	return lost;
}

/* What the opened events have not lost, none of their copies has. */
static u64 lost_of(const struct answer *a, struct pe_event *copy)
{
	return unlikely(a->any_lost) ? lost_of_group(copy) : 0;
}

/*
 * Members themselves count nothing: what they have is of copies that have left, and hits that these
 * were given by other CPUs.
 */
static void put_gone(const struct answer *a, struct perf_ext_values *v)
{
	unsigned int i;

	v->enabled = atomic64_read(&a->leader->gone_enabled);
	v->running = atomic64_read(&a->leader->gone_running);
	for (i = 0; i < a->members; i++)
		v->value[i] = atomic64_read(&a->member[i]->gone_count);
}

static int add_copy(const struct answer *a, struct perf_ext_values *v, struct pe_event *copy)
{
	struct pe_set_counts counts = {
		.member	= a->member,
		.value	= v->value,
		.times	= { v->enabled, v->running },
	};
	int err = pe_read_target(copy, &counts);

	v->enabled = counts.times.enabled;
	v->running = counts.times.running;
	return err;
}

/* Counting, or would if its task, its cgroup, a counter were there? */
static u32 state_of(const struct pe_event *copy)
{
	enum perf_event_state state = READ_ONCE(copy->state);

	if (state == PERF_EVENT_STATE_ACTIVE && pe_slot_is_in(copy->slot))
		return PERF_EXT_VALUES_COUNTING;
	return state >= PERF_EVENT_STATE_INACTIVE ? PERF_EXT_VALUES_ENABLED : PERF_EXT_VALUES_OFF;
}

static u32 state_of_all(const struct answer *a)
{
	return READ_ONCE(a->leader->state) >= PERF_EVENT_STATE_INACTIVE ? PERF_EXT_VALUES_ENABLED :
									  PERF_EXT_VALUES_OFF;
}

static u64 cgroup_of(const struct pe_event *copy)
{
	return copy->cgrp ? pe_cgroup_id(copy->cgrp) : 0;
}

static int pe_read_sums(struct answer *a)
{
	struct perf_ext_values *v = add_entry(a);
	struct pe_event *copy;
	int err;

	v->state = state_of_all(a);
	v->lost = lost_of_set(a);
	put_gone(a, v);
	list_for_each_entry(copy, &a->leader->children, child_entry) {
		err = add_copy(a, v, copy);
		if (err)
			return err;
	}
	return 0;
}

static u64 lost_of_gone(const struct answer *a)
{
	u64 lost = lost_of_set(a), there = 0;
	struct pe_event *copy;

	if (!lost)
		return 0;
	list_for_each_entry(copy, &a->leader->children, child_entry)
		there += lost_of(a, copy);
	return lost > there ? lost - there : 0;
}

/* What has left, of a set. */
static int pe_read_gone(struct answer *a)
{
	struct perf_ext_values *v = add_entry(a);

	v->state = PERF_EXT_VALUES_GONE;
	v->lost = lost_of_gone(a);
	put_gone(a, v);
	return 0;
}

static int pe_read_targets(struct answer *a)
{
	struct pe_event *copy;
	int err;

	list_for_each_entry(copy, &a->leader->children, child_entry) {
		struct perf_ext_values *v = add_entry(a);

		if (copy->hw.target)
			v->tid = task_pid_vnr(copy->hw.target);
		v->cpu = READ_ONCE(copy->cpu);
		v->cgroup = cgroup_of(copy);
		v->state = state_of(copy);
		v->lost = lost_of(a, copy);
		err = add_copy(a, v, copy);
		if (err)
			return err;
	}
	return 0;
}

static struct perf_ext_values *entry_of_cgroup(struct answer *a, u64 cgroup)
{
	struct perf_ext_values *v;
	size_t at;

	/* Mostly that of the copy before. */
	for (at = a->size; at > a->of_set; ) {
		at -= entry_size(a);
		v = a->entries + at;
		if (v->cgroup == cgroup)
			return v;
	}
	v = add_entry(a);
	v->cgroup = cgroup;
	v->state = state_of_all(a);
	return v;
}

static int pe_read_cgroups(struct answer *a)
{
	struct pe_event *copy;
	int err;

	list_for_each_entry(copy, &a->leader->children, child_entry) {
		struct perf_ext_values *v = entry_of_cgroup(a, cgroup_of(copy));

		v->lost += lost_of(a, copy);
		err = add_copy(a, v, copy);
		if (err)
			return err;
	}
	return 0;
}

/* Bytes for all entries that there may be; and have samples been lost? */
static size_t look_at_sets(struct answer *a, u32 flags)
{
	size_t bytes = 0, entries;
	unsigned int i;

	for (i = 0; i < a->s->nr_sets; i++) {
		tell_set(a, i);
		a->any_lost |= !!lost_of_set(a);
		entries = flags ? list_count_nodes(&a->leader->children) + 1 : 1;
		bytes = size_add(bytes, size_mul(entries, entry_size(a)));
	}
	return bytes;
}

static int each_set(struct answer *a, int (*fn)(struct answer *a))
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < a->s->nr_sets && !err; i++) {
		tell_set(a, i);
		err = fn(a);
	}
	return err;
}

/* ctx->mutex of the session held, families locked. */
static int read_locked(struct answer *a, u32 flags)
{
	a->entries = kvzalloc(look_at_sets(a, flags), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!a->entries)
		return -ENOMEM;
	if (!flags)
		return each_set(a, pe_read_sums);
	return each_set(a, flags & PERF_EXT_READ_TARGETS ? pe_read_targets : pe_read_cgroups) ?:
	       each_set(a, pe_read_gone);
}

static int check_read(const struct pe_event *e, const struct perf_ext_read *ask)
{
	u32 flags = ask->flags;

	if (!pe_is_session(e))
		return pe_err(-EINVAL, "READ: not a session");
	if (flags & ~(PERF_EXT_READ_TARGETS | PERF_EXT_READ_CGROUPS) || flags & (flags - 1))
		return pe_err(-EINVAL, "READ: unknown flags, or both");
	if (ask->set || ask->pad[0] || ask->pad[1] || ask->pad[2])
		return pe_err(-EINVAL, "READ: set or pad not 0");
	return 0;
}

/**
 * pe_ext_read() - PERF_EXT_IOC_READ
 * @e: the session
 * @asked: how, and where to; answers how much
 *
 * Return: 0; -ENOSPC if there is not enough room; other errors.
 */
long pe_ext_read(struct pe_event *e, struct pe_ext_ask *asked)
{
	struct perf_ext_read *ask = &asked->u.read;
	struct answer a = { };
	u64 room = ask->size;
	int err = check_read(e, ask) ?: security_perf_event_read(&e->pub);

	if (err)
		return err;
	a.s = e->session;
	pe_session_settle(a.s);
	scoped_guard(pe_event_ctx, e) {
		if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
			return pe_err(-ENODEV, "READ: the PMU has gone");
		pe_session_lock_families(e);
		err = read_locked(&a, ask->flags);
		pe_session_unlock_families(e);
	}
	if (!err) {
		ask->nr = a.nr;
		ask->size = a.size;
		if (ask->size > room)
			err = pe_err(-ENOSPC, "READ: size: not enough room");
		else if (copy_to_user(u64_to_user_ptr(ask->buf), a.entries, ask->size))
			err = -EFAULT;
	}
	kvfree(a.entries);
	return err;
}
