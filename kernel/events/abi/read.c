// SPDX-License-Identifier: GPL-2.0
/*
 * Counts for user space and for the kernel's own users.
 *
 * What read() returns is what the event counted, plus its living children, plus the sums of those
 * that are gone.  A group that is in hardware is read on its CPU, all members in one transaction
 * of the PMU; anything else is computed here under ctx->lock.  Passive events never cost an
 * interrupt.  What has no copies, and is not in hardware elsewhere, is read in one pass, see
 * read_here().  Words go to user space when all locks are dropped.
 *
 * While the family lock is held no child joins or leaves, so nothing is counted twice or missed.
 * Members of a copied group are matched with those of the original one by one: when somebody
 * closed a member meanwhile, or added one, the sums would be nonsense and the answer is -ECHILD.
 *
 * Task context, except perf_event_read_local().
 */

#include "abi.h"

/* One group, added up over the family. */
struct group_read {
	struct pe_event	*leader;	/* of the group being added now */
	bool		alone;		/* only @leader, not its siblings */
	bool		timed;		/* @times are wanted, too */
	unsigned int	nr;		/* room in @count, members */
	unsigned int	step;		/* from one count to the next one, words */
	struct pe_times	times;
	u64		*count;
	int		err;
};

/* Bring the counts of what is in hardware up to date. */
static int sync_counts(struct pe_event *e, bool alone)
{
	struct pmu *pmu = e->pmu;
	struct pe_event *m;

	if (e->state != PERF_EVENT_STATE_ACTIVE || pe_is_passive(e))
		return 0;
	if (alone) {
		pmu->read(&e->pub);
		return 0;
	}
	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	pe_for_each_member(m, e)
		if (m->state == PERF_EVENT_STATE_ACTIVE)
			m->pmu->read(&m->pub);
	return pmu->commit_txn(pmu);
}

/*
 * What it counted itself; its context is locked, or it is scheduled here and irqs are off.
 * @now: pe_now(), or 0 as long as nobody has asked for it
 */
static __always_inline u64 own_count(struct pe_event *e, u64 *now)
{
	if (e->counts_hits)
		return pe_hits_count_locked(e);
	if (!e->counts_time)
		return local64_read(&e->count);
	*now = *now ?: pe_now();
	return pe_count_now(e, *now);
}

static void add_one(struct group_read *r, unsigned int i, struct pe_event *e, u64 *now)
{
	u64 count = own_count(e, now);

	if (!e->parent)
		count += atomic64_read(&e->gone_count);
	r->count[i * r->step] += count;
}

static void add_times(struct group_read *r, struct pe_event *e, u64 now)
{
	struct pe_times times = pe_times_now(e, now);

	r->times.enabled += times.enabled;
	r->times.running += times.running;
	if (!e->parent) {
		r->times.enabled += atomic64_read(&e->gone_enabled);
		r->times.running += atomic64_read(&e->gone_running);
	}
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

static void pe_read_add(struct pe_ctx *ctx, void *arg)
{
	struct group_read *r = arg;
	struct pe_event *leader = r->leader, *m;
	unsigned int i = 0;
	u64 now = 0;

	if (ctx->oncpu >= 0) {
		r->err = sync_counts(leader, r->alone);
		if (r->err)
			return;
	}
	/* The original's siblings stand still: ctx->mutex of its context is held. */
	if (!r->alone && leader->parent && !same_shape(leader)) {
		r->err = -ECHILD;
		return;
	}

	if (r->timed) {
		now = pe_now();
		add_times(r, leader, now);
	}
	if (r->alone) {
		add_one(r, 0, leader, &now);
		return;
	}
	pe_for_each_member(m, leader)
		if (!WARN_ON_ONCE(i >= r->nr))
			add_one(r, i++, m, &now);
}

/*
 * An event that any CPU of the package or scope may read counts as being on this one.
 * @caps: its event_caps, as far as all who are to be read share them
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

/* Without disturbing the CPU that counts it. Return: done. */
static bool add_here(struct pe_event *e, struct group_read *r)
{
	struct pe_ctx *ctx = pe_ctx(e);
	int caps = e->event_caps;
	struct pe_event *m;

	if (!(caps & (PERF_EV_CAP_READ_ACTIVE_PKG | PERF_EV_CAP_READ_SCOPE)))
		return false;
	guard(raw_spinlock_irq)(&ctx->lock);
	/* Its driver has moved it to another CPU. */
	if (pe_ctx(e) != ctx)
		return false;
	if (!r->alone)
		pe_for_each_member(m, e)
			caps &= m->event_caps;
	if (e->oncpu < 0 || readable_cpu(e, caps, e->oncpu) != smp_processor_id())
		return false;
	pe_read_add(ctx, r);
	return true;
}

/*
 * One event that is scheduled on this very CPU.  With irqs off nobody takes it off, or out of its
 * context, and so no lock is needed.  Return: done.
 */
static bool add_mine(struct pe_event *e, struct group_read *r)
{
	struct pe_ctx *ctx = pe_ctx(e);
	bool mine;

	if (e->passive || !r->alone || READ_ONCE(ctx->oncpu) != raw_smp_processor_id())
		return false;
	local_irq_disable();
	mine = ctx->oncpu == smp_processor_id() && e->oncpu == smp_processor_id() &&
	       pe_ctx(e) == ctx;
	if (mine)
		pe_read_add(ctx, r);
	local_irq_enable();
	return mine;
}

static void add_one_group(struct pe_event *leader, struct group_read *r)
{
	r->leader = leader;
	if (!add_mine(leader, r) && !add_here(leader, r))
		pe_event_call(leader, pe_read_add, r);
}

/* Add up @e (a leader unless r->alone) and its children. */
static int add_family(struct pe_event *e, struct group_read *r)
{
	struct pe_event *child;

	if (!e->attr.inherit) {		/* never has any */
		add_one_group(e, r);
		return r->err;
	}
	mutex_lock(&e->family_lock);
	add_one_group(e, r);
	list_for_each_entry(child, &e->children, child_entry) {
		if (r->err)
			break;
		add_one_group(child, r);
	}
	mutex_unlock(&e->family_lock);
	return r->err;
}

static u64 *put_times(u64 *word, u64 format, const struct pe_times *times)
{
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		*word++ = times->enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		*word++ = times->running;
	return word;
}

static u64 *put_identity(u64 *word, u64 format, struct pe_event *e)
{
	if (format & PERF_FORMAT_ID)
		*word++ = pe_primary_id(e);
	if (format & PERF_FORMAT_LOST)
		*word++ = atomic64_read(&e->lost_samples);
	return word;
}

static unsigned int words_per_member(u64 format)
{
	return 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
}

static bool is_timed(const struct pe_event *e)
{
	return e->attr.read_format & PE_FORMAT_TIMES;
}

/* The answer to a read of a group: @size bytes.  Return: 0 or an error. */
static int group_words(struct pe_event *e, u64 *words, size_t size)
{
	struct pe_event *leader = pe_leader(e), *m;
	u64 format = e->attr.read_format, *word = words;
	struct group_read r = {
		.nr	= leader->nr_siblings + 1,
		.step	= words_per_member(format),
		.timed	= is_timed(e),
	};
	int err;

	memset(words, 0, size);
	r.count = words + size / sizeof(u64) - r.nr * r.step;
	err = add_family(leader, &r);
	if (err)
		return err;
	*word++ = r.nr;
	word = put_times(word, format, &r.times);
	pe_for_each_member(m, leader)
		word = put_identity(word + 1, format, m);
	return 0;
}

/* Likewise, of one event. */
static int one_words(struct pe_event *e, u64 *words)
{
	struct group_read r = { .nr = 1, .alone = true, .timed = is_timed(e), .count = words };
	int err;

	*words = 0;
	err = add_family(e, &r);
	if (err)
		return err;
	put_identity(put_times(words + 1, e->attr.read_format, &r.times), e->attr.read_format, e);
	return 0;
}

/* Without ctx->mutex: nobody knows how long this takes. */
static ssize_t give(char __user *buf, const u64 *words, size_t size)
{
	if (size == sizeof(*words))
		return put_user(*words, (u64 __user *)buf) ? -EFAULT : size;
	return copy_to_user(buf, words, size) ? -EFAULT : size;
}

/* Nobody but the event itself has a part in what is read. */
static bool reads_alone(const struct pe_event *e)
{
	return !e->attr.inherit && !(e->attr.read_format & PERF_FORMAT_GROUP);
}

/* Such an event has no family, ever, and its group does not matter: no mutex is needed. */
static ssize_t read_alone(struct pe_event *e, char __user *buf, size_t len)
{
	u64 words[5] __uninitialized;
	int err;

	if (READ_ONCE(e->state) == PERF_EVENT_STATE_ERROR)
		return 0;
	if (len < e->plan.read_size)
		return -ENOSPC;
	err = one_words(e, words);
	return err ?: give(buf, words, e->plan.read_size);
}

/* Words of a read that need not be allocated. */
#define FEW_WORDS	24

/*
 * @words: there are few of them; set to an array of more
 *
 * Return: bytes, or an error.
 */
static ssize_t family_words(struct pe_event *e, size_t len, u64 **words)
{
	u64 format = e->attr.read_format;
	size_t size;
	int err;

	guard(pe_event_ctx)(e);
	if (e->state == PERF_EVENT_STATE_ERROR)
		return 0;
	size = pe_plan_read_size(format, pe_leader(e)->nr_siblings);
	if (len < size)
		return -ENOSPC;
	if (size > FEW_WORDS * sizeof(u64)) {
		*words = kmalloc(size, GFP_KERNEL);
		if (!*words)
			return -ENOMEM;
	}
	err = format & PERF_FORMAT_GROUP ? group_words(e, *words, size) : one_words(e, *words);
	return err ?: size;
}

/* With its children, or its group. */
static ssize_t read_family(struct pe_event *e, char __user *buf, size_t len)
{
	u64 few[FEW_WORDS] __uninitialized, *words = few;
	ssize_t size = family_words(e, len, &words);

	if (size > 0)
		size = give(buf, words, size);
	if (words != few)
		kfree(words);
	return size;
}

/* read_here() leaves the read to others: no answer of read(2), and no error of a PMU. */
#define NOT_HERE	1

/* Room for a group of eight with all that can be said of its members. */
#define HERE_WORDS	28

static u64 *put_own_times(u64 *word, u64 format, struct pe_event *e, u64 now)
{
	struct pe_times times;

	if (!(format & PE_FORMAT_TIMES))
		return word;
	times = pe_times_now(e, now);
	return put_times(word, format, &times);
}

/* @read: the event, or its leader if the group is wanted */
static ssize_t take_words(struct pe_event *e, struct pe_event *read, u64 *word, size_t len)
{
	u64 format = e->attr.read_format, now;
	bool group = format & PERF_FORMAT_GROUP;
	size_t size = e->plan.read_size;	/* of a group of one */
	struct pe_event *m;
	int err;

	if (group)
		size += read->nr_siblings * words_per_member(format) * sizeof(u64);
	if (e->state == PERF_EVENT_STATE_ERROR)
		return 0;
	if (len < size)
		return -ENOSPC;
	if (size > HERE_WORDS * sizeof(u64))
		return NOT_HERE;
	if (pe_ctx(e)->oncpu >= 0) {
		err = sync_counts(read, !group);
		if (err)
			return err;
	}

	now = format & PE_FORMAT_TIMES ? pe_now() : 0;
	if (!group) {
		*word++ = own_count(e, &now) + atomic64_read(&e->gone_count);
		word = put_own_times(word, format, e, now);
		put_identity(word, format, e);
		return size;
	}
	*word++ = read->nr_siblings + 1;
	word = put_own_times(word, format, read, now);
	pe_for_each_member(m, read) {
		*word++ = own_count(m, &now) + atomic64_read(&m->gone_count);
		if (format & PERF_FORMAT_ID)
			*word++ = m->id;	/* of its own: none is a copy */
		if (format & PERF_FORMAT_LOST)
			*word++ = atomic64_read(&m->lost_samples);
	}
	return size;
}

/* Under ctx->lock: nobody else is needed to read @e. */
static bool is_here(const struct pe_ctx *ctx, const struct pe_event *e)
{
	return ctx->oncpu < 0 || ctx->oncpu == smp_processor_id() || pe_is_passive(e);
}

/*
 * Without copies there is no family to keep as it is, and members join and leave a group under
 * ctx->lock.  So that and irqs off are all that is needed to read an event, or its group, when it
 * is passive, or in hardware of this CPU or nowhere; the words go to user space afterwards.  The
 * event may be in another context by the time the lock is taken: then it is not here.
 */
static ssize_t read_here(struct pe_event *e, char __user *buf, size_t len)
{
	struct pe_ctx *ctx = pe_ctx(e);
	u64 words[HERE_WORDS] __uninitialized;
	ssize_t size = NOT_HERE;
	struct pe_event *read;

	raw_spin_lock_irq(&ctx->lock);
	read = e->attr.read_format & PERF_FORMAT_GROUP ? pe_leader(e) : e;
	if (pe_ctx(e) == ctx && !read->attr.inherit && is_here(ctx, e))
		size = take_words(e, read, words, len);
	raw_spin_unlock_irq(&ctx->lock);
	return size <= NOT_HERE ? size : give(buf, words, size);
}

/*
 * Hits are counted in memory, and nobody asks for more than the count.  A number needs no lock;
 * what has to be computed from a slot's hits does, or it might be more than is counted in the end.
 */
static bool is_mere_number(const struct pe_event *e)
{
	return e->passive && !e->counts_time && !e->attr.inherit && !e->attr.read_format &&
	       (!e->counts_hits || e->attach_state & PERF_ATTACH_TASK);
}

static u64 number_of(struct pe_event *e)
{
	struct pe_ctx *ctx = pe_ctx(e);	/* for ever, as it is a task's */

	if (!e->counts_hits)
		return local64_read(&e->count);
	guard(raw_spinlock_irq)(&ctx->lock);
	return pe_hits_count_locked(e);
}

static ssize_t read_number(struct pe_event *e, char __user *buf, size_t len)
{
	if (READ_ONCE(e->state) == PERF_EVENT_STATE_ERROR)
		return 0;
	if (len < sizeof(u64))
		return -ENOSPC;
	return put_user(number_of(e), (u64 __user *)buf) ? -EFAULT : sizeof(u64);
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

	if (is_mere_number(e))
		return read_number(e, buf, len);
	if (!e->attr.inherit) {
		ret = read_here(e, buf, len);
		if (ret != NOT_HERE)
			return ret;
	}
	return reads_alone(e) ? read_alone(e, buf, len) : read_family(e, buf, len);
}

/* @e alone, as it is in memory; what counts on this CPU is brought up to date. Return: its group */
static u64 peek_one(struct pe_event *e, struct group_read *r)
{
	u64 now, group;
	struct pe_ctx *ctx;

	for (;;) {
		ctx = pe_ctx(e);
		raw_spin_lock_irq(&ctx->lock);
		if (likely(pe_ctx(e) == ctx))
			break;
		raw_spin_unlock_irq(&ctx->lock);
	}
	if (ctx->oncpu == smp_processor_id())
		sync_counts(e, true);
	now = pe_now();
	add_times(r, e, now);
	add_one(r, 0, e, &now);
	group = pe_leader(e)->id;
	raw_spin_unlock_irq(&ctx->lock);
	return group;
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
	u64 count = 0;
	struct group_read r = { .nr = 1, .alone = true, .timed = true, .count = &count };
	struct pe_event *child;

	scoped_guard(mutex, &e->family_lock) {
		glance->group = peek_one(e, &r);
		list_for_each_entry(child, &e->children, child_entry)
			peek_one(child, &r);
	}
	glance->count = count;
	glance->times = r.times;
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
	u64 count = 0;
	struct group_read r = { .nr = 1, .alone = true, .timed = true, .count = &count };

	scoped_guard(pe_event_ctx, e)
		add_family(e, &r);
	*enabled = r.times.enabled;
	*running = r.times.running;
	return count;
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
	*value = pe_count_now(e, now);
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
