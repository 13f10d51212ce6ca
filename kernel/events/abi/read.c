// SPDX-License-Identifier: GPL-2.0
/*
 * Counts for user space and for the kernel's own users.
 *
 * What read() returns is what the event counted, plus its living children, plus the sums of those
 * that are gone.  There are two ways to get it:
 *
 *	here	An event without a family, or its group, that is in hardware of this CPU or of none,
 *		or in such as this CPU can read as well.  One pass under ctx->lock.
 *	family	Everything else, under ctx->mutex and the family lock: each member of the family
 *		here if that can be, or on its CPU.
 *
 * In either way one function writes the words of an event or a group, and a child adds its own to
 * those of the event that was opened.  What is in hardware is brought up to date before, a group in
 * one transaction of the PMU.  Passive events never cost an interrupt.  Words go to user space when
 * all locks are dropped.
 *
 * Here, members join and leave a group under ctx->lock.  In a family, nobody joins or leaves while
 * the family lock is held, so nothing is counted twice or missed, and ctx->mutex keeps the members
 * of the group that was opened.  Those of a copied group are matched with them one by one: when
 * a member was closed meanwhile, or one added, the sums would be nonsense and the answer is
 * -ECHILD.
 *
 * Task context, except perf_event_read_local().
 */

#include "abi.h"

/**
 * struct reading - a read under way
 * @e: what is read now: an event; or with PERF_FORMAT_GROUP a leader, with its siblings
 * @format: PERF_FORMAT_*
 * @words: the answer: what @format says
 * @set: a set of a session, to whose counts those of @e, a copy, are added; or NULL, it is @words
 * @glance: nobody is to be interrupted: what another CPU counts is taken as it is in memory
 * @err: why there is no answer, or 0
 */
struct reading {
	struct pe_event	*e;
	u64		format;
	u64		*words;
	struct pe_set_counts *set;
	bool		glance;
	int		err;
};

static bool of_group(const struct reading *r)
{
	return r->format & PERF_FORMAT_GROUP;
}

/* Fork copies events of tasks, and sessions are copied to targets. */
static bool has_family(const struct pe_event *e)
{
	return e->attr.inherit && (e->attach_state & PERF_ATTACH_TASK || pe_is_session(e));
}

/* Bring the counts of what is in hardware up to date.  Return: 0 or the PMU's error. */
static __always_inline int sync_counts(struct pe_event *e, const struct pe_ctx *ctx, bool group)
{
	struct pmu *pmu = e->pmu;
	struct pe_event *m;

	if (ctx->oncpu < 0 || e->state != PERF_EVENT_STATE_ACTIVE || pe_is_passive(e))
		return 0;
	if (!group) {
		pmu->read(&e->pub);
		return 0;
	}
	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	pe_for_each_member(m, e)
		if (m->state == PERF_EVENT_STATE_ACTIVE)
			m->pmu->read(&m->pub);
	return pmu->commit_txn(pmu);
}

static bool same_shape(struct pe_event *copy)
{
	struct pe_event *leader = pe_parent(copy), *m, *o = leader;

	if (!pe_is_leader(copy) || copy->nr_siblings != leader->nr_siblings)
		return false;
	pe_for_each_member(m, copy) {
		if (!o || pe_parent(m) != o)
			return false;
		o = pe_next_member(o, leader);
	}
	return true;
}

/*
 * What it counted itself; its context is locked.
 * @now: pe_now(), or 0 as long as nobody has asked for it
 */
static __always_inline u64 own_count(struct pe_event *e, u64 *now)
{
	if (likely(e->counts_hits))
		return pe_hits_count_locked(e);
	if (!e->counts_time)
		return local64_read(&e->count);
	*now = *now ?: pe_now();
	return pe_count_now(e, *now);
}

static __always_inline u64 opened_count(struct pe_event *e, u64 *now)
{
	return own_count(e, now) + atomic64_read(&e->gone_count);
}

static __always_inline struct pe_times opened_times(struct pe_event *e, u64 now)
{
	struct pe_times times = pe_times_now(e, now);

	times.enabled += atomic64_read(&e->gone_enabled);
	times.running += atomic64_read(&e->gone_running);
	return times;
}

/* All words, by the event that was opened. */
static __always_inline void put_words(struct reading *r, struct pe_event *e)
{
	u64 format = r->format, *word = r->words, now = 0;
	struct pe_times times = {};
	struct pe_event *m;

	if (format & PE_FORMAT_TIMES) {
		now = pe_now();
		times = opened_times(e, now);
	}
	if (!(format & PERF_FORMAT_GROUP)) {
		pe_read_put_one(word, format, e, opened_count(e, &now), &times);
		return;
	}
	word = pe_read_put_head(word, format, e->nr_siblings + 1, &times);
	pe_for_each_member(m, e)
		word = pe_read_put_member(word, format, m, opened_count(m, &now));
}

static __always_inline void add_times(struct reading *r, struct pe_event *e, u64 *now)
{
	u64 *word = r->words + 1;
	struct pe_times times;

	if (!(r->format & PE_FORMAT_TIMES))
		return;
	*now = pe_now();
	times = pe_times_now(e, *now);
	if (r->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		*word++ += times.enabled;
	if (r->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		*word += times.running;
}

/* A child adds its counts and times to those in the words. */
static void add_to_words(struct reading *r, struct pe_event *e)
{
	u64 now = 0, *count = r->words;
	struct pe_event *m;

	add_times(r, e, &now);
	if (!of_group(r)) {
		*count += own_count(e, &now);
		return;
	}
	count += pe_read_head_words(r->format);
	pe_for_each_member(m, e) {
		*count += own_count(m, &now);
		count += pe_read_member_words(r->format);
	}
}

/* The same for what is left of a group that leaves a session: the other counts are in the sums. */
static noinline void add_what_is_left(struct reading *r, struct pe_event *e)
{
	struct pe_event *leader = pe_parent(e), *m, *o;
	u64 now = 0, *count;

	add_times(r, e, &now);
	pe_for_each_member(m, e) {
		count = r->words + pe_read_head_words(r->format);
		for (o = leader; o && o != pe_parent(m); o = pe_next_member(o, leader))
			count += pe_read_member_words(r->format);
		if (o)
			*count += own_count(m, &now);
	}
}

/*
 * A copy of a set adds what it has.  Its members, those that have not left, are in the order of the
 * set's; one of these whose PMU is going has left its group, and its copies may be there yet.
 */
static noinline void add_by_member(struct pe_set_counts *set, struct pe_event *e)
{
	struct pe_event **member = set->member, *m;
	u64 now = pe_now(), *count = set->value;
	struct pe_times times = pe_times_now(e, now);

	set->times.enabled += times.enabled;
	set->times.running += times.running;
	pe_for_each_member(m, e) {
		for (; *member != pe_parent(m); member++)
			count++;
		*count += own_count(m, &now);
	}
}

/* Return: 0, or why there is no answer: now, or since an event before. */
static int take(struct pe_ctx *ctx, struct reading *r)
{
	struct pe_event *e = r->e;
	bool whole = true;
	int err;

	if (unlikely(r->err))
		return r->err;
	/* The siblings of the event that was opened stand still: its ctx->mutex is held. */
	if (e->parent && of_group(r) && !r->set)
		whole = same_shape(e);
	if (!whole && !pe_of_target(e))
		return -ECHILD;
	if (!r->glance || ctx->oncpu == smp_processor_id()) {
		err = sync_counts(e, ctx, of_group(r));
		if (err)
			return err;
	}
	if (!e->parent)
		put_words(r, e);
	else if (unlikely(r->set))
		add_by_member(r->set, e);
	else if (likely(whole))
		add_to_words(r, e);
	else
		add_what_is_left(r, e);
	return 0;
}

static void pe_read_take(struct pe_ctx *ctx, void *arg)
{
	struct reading *r = arg;

	r->err = take(ctx, r);
}

/*
 * An event that any CPU of the package or scope may read counts as being on this one.
 * @caps: its event_caps, as far as all that are to be read share them
 */
static int readable_cpu(const struct pe_event *e, int caps, int cpu)
{
	const struct cpumask *sharing;
	int here = smp_processor_id();

	if (cpu < 0 || cpu == here)
		return cpu;
	if (caps & PERF_EV_CAP_READ_ACTIVE_PKG &&
	    topology_physical_package_id(cpu) == topology_physical_package_id(here))
		return here;
	if (caps & PERF_EV_CAP_READ_SCOPE) {
		/* NULL once the PMU is gone: the one in its place has no scope. */
		sharing = pe_scope_cpus(READ_ONCE(e->pmu)->scope, cpu);
		if (sharing && cpumask_test_cpu(here, sharing))
			return here;
	}
	return cpu;
}

/* What is read is in hardware of another CPU: can this one read it? */
static noinline bool is_shared(const struct reading *r)
{
	struct pe_event *e = r->e, *m;
	int caps = e->event_caps;

	if (of_group(r))
		pe_for_each_member(m, e)
			caps &= m->event_caps;
	return e->oncpu >= 0 && readable_cpu(e, caps, e->oncpu) == smp_processor_id();
}

/* Under ctx->lock: no other CPU is needed. */
static __always_inline bool is_here(const struct pe_ctx *ctx, const struct reading *r)
{
	return ctx->oncpu == smp_processor_id() || ctx->oncpu < 0 || pe_is_passive(r->e) ||
	       r->e->state != PERF_EVENT_STATE_ACTIVE || is_shared(r);
}

/* Return: false if another CPU is needed, or the event has just moved to another context. */
static bool take_here(struct reading *r)
{
	struct pe_ctx *ctx = pe_ctx(r->e);

	guard(raw_spinlock_irq)(&ctx->lock);
	if (pe_ctx(r->e) != ctx || !(r->glance || is_here(ctx, r)))
		return false;
	r->err = take(ctx, r);
	return true;
}

/* Without a lock, so it may be wrong: whoever takes it looks again. */
static bool seems_elsewhere(const struct reading *r)
{
	const struct pe_event *e = r->e;
	int cpu = READ_ONCE(pe_ctx(e)->oncpu);

	if (cpu < 0 || cpu == raw_smp_processor_id() ||
	    READ_ONCE(e->state) != PERF_EVENT_STATE_ACTIVE ||
	    e->event_caps & (PERF_EV_CAP_READ_ACTIVE_PKG | PERF_EV_CAP_READ_SCOPE))
		return false;
	guard(rcu)();
	/* Of a sibling the leader may go: the family whose lock is held is the sibling's. */
	return !data_race(pe_is_passive(e));
}

static void take_anywhere(struct reading *r)
{
	if (seems_elsewhere(r) || !take_here(r))
		pe_event_call(r->e, pe_read_take, r);
}

/*
 * @r->e, and then its children.  ctx->mutex and the family lock are held.
 *
 * Other CPUs write to @r.  It is not looked at between them: that would move its line once more.
 */
static void take_locked_family(struct reading *r)
{
	struct pe_event *e = r->e, *child;

	take_anywhere(r);
	list_for_each_entry(child, &e->children, child_entry) {
		r->e = child;
		take_anywhere(r);
	}
}

static void take_family(struct reading *r)
{
	struct pe_event *e = r->e;

	lockdep_assert_held(&pe_ctx(e)->mutex);
	if (pe_is_session(e) && of_group(r)) {
		pe_session_lock_families(e);
		take_locked_family(r);
		pe_session_unlock_families(e);
	} else {
		guard(mutex)(&e->family_lock);
		take_locked_family(r);
	}
}

/**
 * pe_read_target() - what a target has counted of a set of a session
 * @leader: the copy of the set's leader; families locked, ctx->mutex of the session held
 * @counts: to which it is added
 *
 * Return: 0 or the error of a PMU.
 */
int pe_read_target(struct pe_event *leader, struct pe_set_counts *counts)
{
	struct reading r = { .e = leader, .format = PERF_FORMAT_GROUP, .set = counts };

	take_anywhere(&r);
	return r.err;
}

/* Words of a read that need not be allocated: a group of eight with all that can be said of it. */
#define FEW_WORDS	28

/* read_here() leaves the read to others: no answer of read(2), and no error of a PMU. */
#define NOT_HERE	1

/* Under ctx->lock or ctx->mutex.  Return: bytes of the answer, 0 if there is none, or -ENOSPC. */
static __always_inline ssize_t answer_size(const struct pe_event *e, size_t len)
{
	u64 format = e->attr.read_format;
	size_t size = e->plan.read_size;	/* of a group of one */

	if (format & PERF_FORMAT_GROUP)
		size += pe_leader(e)->nr_siblings * pe_read_member_words(format) * sizeof(u64);
	if (READ_ONCE(e->state) == PERF_EVENT_STATE_ERROR)
		return 0;
	return len < size ? -ENOSPC : size;
}

static struct pe_event *read_by(struct pe_event *e)
{
	return e->attr.read_format & PERF_FORMAT_GROUP ? pe_leader(e) : e;
}

/*
 * Under @ctx->lock, and nothing else is needed.  The event may be in another context by the time
 * that was taken: then it is not here.
 */
static __always_inline ssize_t read_locked(struct pe_event *e, struct pe_ctx *ctx, size_t len,
					   struct reading *r)
{
	ssize_t size;
	int err;

	r->e = read_by(e);
	if (pe_ctx(e) != ctx || has_family(r->e))
		return NOT_HERE;
	size = answer_size(e, len);
	if (size <= 0)
		return size;
	if (size > FEW_WORDS * sizeof(u64) || !is_here(ctx, r))
		return NOT_HERE;
	err = sync_counts(r->e, ctx, of_group(r));
	if (err)
		return err;
	put_words(r, r->e);
	return size;
}

static __always_inline ssize_t read_here(struct pe_event *e, size_t len, struct reading *r)
{
	struct pe_ctx *ctx = pe_ctx(e);
	ssize_t size;

	raw_spin_lock_irq(&ctx->lock);
	size = read_locked(e, ctx, len, r);
	raw_spin_unlock_irq(&ctx->lock);
	return size;
}

/* Words of an event alone, with its times. */
#define ONE_WORDS	3

/* What CPUs hand on to each other for one such event is in one line. */
struct near_reading {
	struct reading	r;
	u64		words[ONE_WORDS];
} ____cacheline_aligned_in_smp;

static noinline ssize_t read_family(struct pe_event *e, size_t len, struct reading *r)
{
	struct near_reading near;
	ssize_t size;

	guard(pe_event_ctx)(e);
	size = answer_size(e, len);
	if (size <= 0)
		return size;
	if (size > FEW_WORDS * sizeof(u64)) {
		r->words = kmalloc(size, GFP_KERNEL);
		if (!r->words)
			return -ENOMEM;
	}
	r->e = read_by(e);
	near.r = *r;
	if (size <= sizeof(near.words))
		near.r.words = near.words;
	take_family(&near.r);
	if (near.r.words == near.words)
		memcpy(r->words, near.words, size);
	return near.r.err ?: size;
}

static ssize_t give(char __user *buf, const u64 *words, size_t size)
{
	if (size == sizeof(*words))
		return put_user(*words, (u64 __user *)buf) ? -EFAULT : size;
	return copy_to_user(buf, words, size) ? -EFAULT : size;
}

static noinline ssize_t read_words(struct pe_event *e, char __user *buf, size_t len)
{
	u64 few[FEW_WORDS] __uninitialized;
	struct reading r = { .format = e->attr.read_format, .words = few };
	ssize_t ret;

	ret = read_here(e, len, &r);
	if (ret == NOT_HERE)
		ret = read_family(e, len, &r);
	/* Without a lock: nobody knows how long this takes. */
	if (ret > 0)
		ret = give(buf, r.words, ret);
	if (r.words != few)
		kfree(r.words);
	return ret;
}

/* Only its count, which hits or hardware make, is asked for: read_here() in short. */
static bool is_count_of_task(const struct pe_event *e)
{
	return !e->counts_time && !e->attr.inherit && !e->attr.read_format &&
	       e->attach_state & PERF_ATTACH_TASK;
}

/* Under ctx->lock.  Return: false if another CPU is needed. */
static __always_inline bool count_here(struct pe_event *e, const struct pe_ctx *ctx, u64 *count)
{
	if (e->counts_hits) {
		*count = pe_hits_count_locked(e);
		return true;
	}
	if (e->state == PERF_EVENT_STATE_ACTIVE && !pe_is_passive(e) && ctx->oncpu >= 0) {
		if (ctx->oncpu != smp_processor_id())
			return false;
		e->pmu->read(&e->pub);
	}
	/* What tracepoints have counted while it was away is there, too. */
	*count = local64_read(&e->count) + atomic64_read(&e->gone_count);
	return true;
}

static __always_inline ssize_t read_count(struct pe_event *e, char __user *buf, size_t len)
{
	struct pe_ctx *ctx = pe_ctx(e);	/* for ever, as it is a task's */
	bool here;
	u64 count;

	if (READ_ONCE(e->state) == PERF_EVENT_STATE_ERROR)
		return 0;
	if (len < sizeof(count))
		return -ENOSPC;
	raw_spin_lock_irq(&ctx->lock);
	here = count_here(e, ctx, &count);
	raw_spin_unlock_irq(&ctx->lock);
	if (!here)
		return read_words(e, buf, len);
	return put_user(count, (u64 __user *)buf) ? -EFAULT : sizeof(count);
}

/**
 * pe_read() - read(2) on an event
 * @file: the event's file
 * @buf: where the words go
 * @len: room there, bytes
 * @pos: not used: there is no position
 *
 * Return: bytes, 0 for an event in ERROR, -ENOSPC when @len is too small, -ECHILD, -EFAULT.
 */
ssize_t pe_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct pe_event *e = pe(file->private_data);
	ssize_t ret = security_perf_event_read(&e->pub);

	if (ret)
		return ret;
	return is_count_of_task(e) ? read_count(e, buf, len) : read_words(e, buf, len);
}

/**
 * pe_peek() - count and times of an event and its children, without disturbing anybody
 * @e: an event that was opened
 * @glance: set
 *
 * Interrupts no CPU and takes no ctx->mutex.  What counts in hardware of another CPU has the count
 * that this CPU stored last: when it was switched out or stopped, at an overflow, at a read.
 * Task context.
 */
void pe_peek(struct pe_event *e, struct pe_glance *glance)
{
	u64 words[ONE_WORDS] = {};
	struct reading r = { .e = e, .format = PE_FORMAT_TIMES, .words = words, .glance = true };

	scoped_guard(mutex, &e->family_lock) {
		/* False: it has just moved to another CPU. */
		while (!take_here(&r))
			;
		list_for_each_entry(r.e, &e->children, child_entry)
			while (!take_here(&r))
				;
	}
	glance->count = words[0];
	glance->times = (struct pe_times){ .enabled = words[1], .running = words[2] };
	/* The event may become its own leader at any time. */
	scoped_guard(rcu)
		glance->group = READ_ONCE(e->group_leader)->id;
}

/**
 * perf_event_read_value() - count and times of an event and its children
 * @event: an event that was opened or created
 * @enabled: ns enabled, set
 * @running: ns running, set
 *
 * Contract; task context.  Return: the count.
 */
u64 perf_event_read_value(struct perf_event *event, u64 *enabled, u64 *running)
{
	struct pe_event *e = pe(event);
	u64 words[ONE_WORDS] = {};
	struct reading r = { .e = e, .format = PE_FORMAT_TIMES, .words = words };

	if (has_family(e) || !take_here(&r)) {
		guard(pe_event_ctx)(e);
		take_family(&r);
	}
	*enabled = words[1];
	*running = words[2];
	return words[0];
}
EXPORT_SYMBOL_GPL(perf_event_read_value);

/**
 * perf_event_read_local() - count of an event that counts right here
 * @event: an event of current or of this CPU, not inherited
 * @value: set to the count
 * @enabled: set to the enabled time, ns; may be NULL
 * @running: set to the running time, ns; may be NULL
 *
 * Contract; any context, NMI included.
 * Return: 0; -EOPNOTSUPP for inherited events; -EINVAL for an event of another task or CPU; -EBUSY
 * for a pinned event that does not run here.
 */
int perf_event_read_local(struct perf_event *event, u64 *value, u64 *enabled, u64 *running)
{
	struct pe_event *e = pe(event);
	bool of_task = e->attach_state & PERF_ATTACH_TASK;
	bool counts_here;
	struct pe_times times;
	unsigned long flags;
	int ret = -EINVAL;
	u64 now;

	if (e->attr.inherit)
		return -EOPNOTSUPP;

	local_irq_save(flags);
	if (of_task ? e->hw.target != current :
		      readable_cpu(e, e->event_caps, e->cpu) != smp_processor_id())
		goto out;

	counts_here = pe_is_passive(e) ?
			      e->state == PERF_EVENT_STATE_ACTIVE && pe_slot_is_in(e->slot) :
			      readable_cpu(e, e->event_caps, e->oncpu) == smp_processor_id();
	ret = -EBUSY;
	if (e->attr.pinned && !counts_here)
		goto out;
	if (counts_here && !pe_is_passive(e))
		e->pmu->read(&e->pub);

	now = pe_now();
	*value = pe_count_now(e, now) + atomic64_read(&e->gone_count);
	times = pe_times_now(e, now);
	if (enabled)
		*enabled = times.enabled;
	if (running)
		*running = times.running;
	ret = 0;
out:
	local_irq_restore(flags);
	return ret;
}
