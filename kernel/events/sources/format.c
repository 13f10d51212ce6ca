// SPDX-License-Identifier: GPL-2.0
/*
 * Formats (<linux/perf_format.h>): samples of an event go to an area of a module's making, and not
 * to the ring buffer.
 *
 * Owns the formats that there are, and the areas with their counts.  abi/ext_format.c has the calls
 * and the file of an area.
 *
 * pe_ext.instance of an event that was opened says where its samples go, and those of its copies.
 * It is set and cleared under ctx->mutex.  Overflows read it in an RCU section, in which they also
 * give the sample; so after a grace period
 *
 *	an event that has parted writes there no more, and gives its reference back;
 *	the half that was active before a flip is written no more, and is user space's to read.
 *
 * An event that is closed keeps its pointer: hits on other CPUs may be looking at it until its
 * memory goes, which is a grace period later, and gives the reference back then.
 *
 * The user's page of counts is written here and never read: nothing depends on it.
 */
#include <linux/module.h>
#include <linux/perf_event_ext.h>
#include <linux/poll.h>
#include <linux/vmalloc.h>

#include "sources.h"
#include "../ext.h"

#define MOST_CHARS	31
#define MOST_BYTES	SZ_1G		/* of half an area */

static LIST_HEAD(formats);		/* formats_mutex */
static DEFINE_MUTEX(formats_mutex);

/* ------------------------------------------------------------------ formats */

static bool is_taken(const struct perf_format *format)
{
	const struct perf_format *f;

	list_for_each_entry(f, &formats, entry)
		if (uuid_equal(&f->uuid, &format->uuid) || !strcmp(f->name, format->name))
			return true;
	return false;
}

int perf_format_register(struct perf_format *format)
{
	if (!format->name || !*format->name || strpbrk(format->name, "\n ") ||
	    strnlen(format->name, MOST_CHARS + 1) > MOST_CHARS ||
	    uuid_is_null(&format->uuid) || !format->init || !format->sample)
		return -EINVAL;
	guard(mutex)(&formats_mutex);
	if (is_taken(format))
		return -EEXIST;
	atomic_set(&format->nr_areas, 0);
	list_add_tail(&format->entry, &formats);
	return 0;
}
EXPORT_SYMBOL_GPL(perf_format_register);

void perf_format_unregister(struct perf_format *format)
{
	guard(mutex)(&formats_mutex);
	list_del(&format->entry);
	WARN_ON_ONCE(atomic_read(&format->nr_areas));
}
EXPORT_SYMBOL_GPL(perf_format_unregister);

/* With its module held, or NULL. */
static struct perf_format *get_format(const uuid_t *uuid)
{
	struct perf_format *f;

	guard(mutex)(&formats_mutex);
	list_for_each_entry(f, &formats, entry) {
		if (!uuid_equal(&f->uuid, uuid))
			continue;
		if (!try_module_get(f->owner))
			return NULL;
		atomic_inc(&f->nr_areas);
		return f;
	}
	return NULL;
}

static void put_format(struct perf_format *f)
{
	struct module *owner = f->owner;

	atomic_dec(&f->nr_areas);
	module_put(owner);
}

/**
 * pe_formats_show() - a line for each format
 * @buf: a page, of sysfs
 *
 * Return: its length.
 */
ssize_t pe_formats_show(char *buf)
{
	struct perf_format *f;
	int len = 0;

	guard(mutex)(&formats_mutex);
	list_for_each_entry(f, &formats, entry)
		len += sysfs_emit_at(buf, len, "%pUb %s %d\n", &f->uuid, f->name,
				     atomic_read(&f->nr_areas));
	return len;
}

/* ------------------------------------------------------------------ areas */

/* As deliver_wakeup() of pending.c: hits of the wake-up itself queue it no more. */
static void pe_format_run_wakeup(struct irq_work *work)
{
	int level = perf_swevent_get_recursion_context();

	wake_up_all(&container_of(work, struct pe_instance, wakeup)->waitq);
	if (level >= 0)
		perf_swevent_put_recursion_context(level);
}

static void pe_format_free(struct work_struct *work)
{
	struct pe_instance *inst = container_of(work, struct pe_instance, free_work);

	irq_work_sync(&inst->wakeup);
	if (inst->format->exit)
		inst->format->exit(&inst->area);
	put_format(inst->format);
	vfree(inst->shown);
	pe_charge_settle(&inst->charge);
	/* The core of irq_work may look at it once more, see pending.c. */
	kfree_rcu(inst, rcu);
}

/**
 * pe_instance_put() - one less that has to do with an area
 * @inst: the area; no sample of the caller's event is on its way there
 *
 * Any context but NMI.
 */
void pe_instance_put(struct pe_instance *inst)
{
	if (refcount_dec_and_test(&inst->refs))
		schedule_work(&inst->free_work);
}

/*
 * An area lives as long as its file, in whatever process, and so longer than an mm: what is beyond
 * the allowance of the user is for those alone whom no limit holds.
 */
static int take_charge(struct pe_charge *charge, unsigned long pages)
{
	int err = pe_charge_take(charge, current->mm, pages);

	if (err || !charge->mm_pages || !perf_is_paranoid() || capable(CAP_IPC_LOCK))
		return err;
	pe_charge_cancel(charge);
	return pe_err(-EPERM, "FORMAT: above perf_event_mlock_kb");
}

/* A page of counts, then the halves, each in pages of its own. */
static int alloc_memory(struct pe_instance *inst)
{
	size_t half = PAGE_ALIGN(inst->area.bytes);
	struct pe_charge charge;
	unsigned int i;
	int err;

	inst->nr_pages = 1 + 2 * (half >> PAGE_SHIFT);
	err = take_charge(&charge, inst->nr_pages);
	if (err)
		return err;
	inst->shown = __vmalloc(inst->nr_pages << PAGE_SHIFT,
				pe_pages_gfp() | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (!inst->shown) {
		pe_charge_cancel(&charge);
		return -ENOMEM;
	}
	pe_charge_keep(&inst->charge, &charge);
	inst->shown->size = sizeof(*inst->shown);
	inst->shown->bytes = inst->area.bytes;
	for (i = 0; i < 2; i++) {
		inst->area.half[i] = (void *)inst->shown + PAGE_SIZE + i * half;
		inst->shown->half[i] = PAGE_SIZE + i * half;
	}
	return 0;
}

static int set_up(struct pe_instance *inst, const void *arg, size_t size)
{
	const struct perf_format *f = inst->format;
	int err = f->init(&inst->area, arg, size);

	if (err)
		return pe_err(err, "FORMAT: arg: refused by the format");
	if (!inst->area.bytes || inst->area.bytes > MOST_BYTES)
		err = pe_err(-E2BIG, "FORMAT: arg: an area that large cannot be");
	else
		err = alloc_memory(inst);
	if (err && f->exit)
		f->exit(&inst->area);
	return err;
}

/**
 * pe_instance_make() - a new area of a format
 * @uuid: of the format
 * @arg: what it is told
 * @size: bytes of that
 *
 * Task context, for current's file descriptors.  Return: the area with one reference, or ERR_PTR:
 * -ENOENT, if there is no such format; -EPERM, if it is too much memory; -ENOMEM; what the format
 * says.
 */
struct pe_instance *pe_instance_make(const uuid_t *uuid, const void *arg, size_t size)
{
	struct pe_instance *inst __free(kfree) = kzalloc(sizeof(*inst), GFP_KERNEL);
	int err;

	if (!inst)
		return ERR_PTR(-ENOMEM);
	inst->format = get_format(uuid);
	if (!inst->format)
		return ERR_PTR(pe_err(-ENOENT, "FORMAT: no format has this UUID"));
	err = set_up(inst, arg, size);
	if (err) {
		put_format(inst->format);
		return ERR_PTR(err);
	}
	refcount_set(&inst->refs, 1);
	mutex_init(&inst->flip_lock);
	init_waitqueue_head(&inst->waitq);
	init_irq_work(&inst->wakeup, pe_format_run_wakeup);
	INIT_WORK(&inst->free_work, pe_format_free);
	return_ptr(inst);
}

/**
 * pe_instance_join() - the samples of an event go to an area
 * @inst: the area
 * @e: the event, which has a struct pe_ext and no area yet; its ctx->mutex is held
 */
void pe_instance_join(struct pe_instance *inst, struct pe_event *e)
{
	lockdep_assert_held(&pe_ctx(e)->mutex);
	refcount_inc(&inst->refs);
	atomic_inc(&inst->nr_events);
	pe_take_slow_overflow(e);
	rcu_assign_pointer(pe_ext(e)->instance, inst);
}

/* One event less that will write; who waits for the last one is told. */
static void lose_event(struct pe_instance *inst)
{
	if (atomic_dec_and_test(&inst->nr_events))
		wake_up_all(&inst->waitq);
}

/**
 * pe_instance_part() - the samples of an event become records again
 * @e: the event; its ctx->mutex is held
 *
 * Return: the area, or NULL; the event's reference is the caller's, to be given back after a grace
 * period.
 */
struct pe_instance *pe_instance_part(struct pe_event *e)
{
	struct pe_instance *inst;

	if (!pe_ext(e))
		return NULL;
	inst = rcu_replace_pointer(e->ext->instance, NULL, lockdep_is_held(&pe_ctx(e)->mutex));
	if (inst)
		lose_event(inst);
	return inst;
}

/**
 * pe_format_closed() - an event is being freed
 * @e: the event; nobody has a reference
 *
 * Task context.  Hits may still give samples, see above.
 */
void pe_format_closed(struct pe_event *e)
{
	struct pe_instance *inst = pe_ext(e) ? rcu_access_pointer(e->ext->instance) : NULL;

	if (inst)
		lose_event(inst);
}

/**
 * pe_format_forget() - the memory of an event goes
 * @e: the event, which had a struct pe_ext
 *
 * Any context but NMI, a grace period after the event has left its context.
 */
void pe_format_forget(struct pe_event *e)
{
	struct pe_instance *inst = rcu_dereference_protected(e->ext->instance, true);

	if (inst)
		pe_instance_put(inst);
}

/* It may be much: others have their turn. */
static void clear_half(struct perf_format_area *area, unsigned int half)
{
	size_t at, len;

	for (at = 0; at < area->bytes; at += len) {
		len = min_t(size_t, area->bytes - at, SZ_1M);
		memset(area->half[half] + at, 0, len);
		cond_resched();
	}
}

/**
 * pe_instance_flip() - samples go to the other half of an area from now on
 * @inst: the area
 *
 * Task context, sleeps.  Return: the half that they went to, which nobody writes any more until the
 * next flip.
 */
unsigned int pe_instance_flip(struct pe_instance *inst)
{
	struct perf_format_area *area = &inst->area;
	unsigned int from;

	guard(mutex)(&inst->flip_lock);
	from = area->active;
	clear_half(area, !from);
	/* Release: samples find it cleared, see perf_format_half(). */
	smp_store_release(&area->active, !from);
	WRITE_ONCE(inst->shown->active, !from);
	synchronize_rcu();
	return from;
}

/* ------------------------------------------------------------------ samples */

u32 perf_format_read_size(const struct perf_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_READ ? pe_sample_read_size(pe(event)) : 0;
}
EXPORT_SYMBOL_GPL(perf_format_read_size);

void perf_format_read(struct perf_event *event, const struct perf_sample_data *data, u64 *to,
		      u32 size)
{
	/* The driver may have read the whole group when it took the sample. */
	bool fresh = data->sample_flags & PERF_SAMPLE_READ;
	struct pe_event *e = pe(event);
	const struct pe_masks *masks = pe_masks(e);

	if (masks)
		pe_put_masked(to, e, *masks, size, fresh);
	else
		pe_put_read(to, e, size, fresh);
}
EXPORT_SYMBOL_GPL(perf_format_read);

static void count(u64 *shown)
{
	atomic64_inc((atomic64_t *)shown);
}

static unsigned int give_one(struct pe_instance *inst, struct pe_event *e,
			     struct perf_sample_data *data)
{
	const struct perf_format *f = inst->format;
	unsigned int what;

	if (f->nests)
		return f->sample(&inst->area, &e->pub, data);
	/* The interrupted one is not complete, or another CPU is at it. */
	if (atomic_xchg_acquire(&inst->busy, 1)) {
		count(&inst->shown->nested);
		return PERF_VERDICT_LOST;
	}
	what = f->sample(&inst->area, &e->pub, data);
	atomic_set_release(&inst->busy, 0);
	return what;
}

/*
 * Who polls the area is woken.  Either this sees a reader on the queue, or the reader, which looks
 * at the bits after it has gone there, sees those.
 */
static void tell(struct pe_instance *inst)
{
	atomic_set(&inst->poll, (__force int)(EPOLLIN | EPOLLRDNORM));
	smp_mb();	/* pairs with the exchange in pe_area_poll() */
	if (waitqueue_active(&inst->waitq))
		irq_work_queue(&inst->wakeup);
}

/**
 * pe_format_tell() - who polls the area of an event is woken, if it has one
 * @e: the event
 *
 * At the overflow.
 */
void pe_format_tell(struct pe_event *e)
{
	struct pe_instance *inst;

	guard(rcu)();
	inst = rcu_dereference(pe_ext(e->sink)->instance);
	if (inst)
		tell(inst);
}

/**
 * pe_format_take() - a sample goes to its event's area
 * @e: the event
 * @data: the sample
 * @regs: registers at the overflow
 *
 * At the overflow.  Return: PE_FORMAT_NONE, if it has no area (any more): it is to be a record;
 * else whether the event has to be stopped.
 */
enum pe_format_done pe_format_take(struct pe_event *e, struct perf_sample_data *data,
				   struct pt_regs *regs)
{
	struct pe_instance *inst;
	unsigned int what;

	guard(rcu)();
	inst = rcu_dereference(pe_ext(e->sink)->instance);
	if (!inst)
		return PE_FORMAT_NONE;
	perf_prepare_sample(data, &e->pub, regs);
	what = give_one(inst, e, data);
	count(&inst->shown->samples);
	if (what & PERF_VERDICT_LOST) {
		count(&inst->shown->lost);
		pe_count_lost(e);
	}
	if (what & PERF_VERDICT_STOP)
		pe_notify_stop(e);
	/* Last: who is told may say RESTART at once. */
	if (what & PERF_VERDICT_NOTIFY)
		tell(inst);
	return what & PERF_VERDICT_STOP ? PE_FORMAT_STOPS : PE_FORMAT_TAKEN;
}
