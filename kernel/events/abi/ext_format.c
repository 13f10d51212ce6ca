// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_EXT_IOC_FORMAT, and the file of an area that a format fills: see sources/format.c.
 *
 * The file holds a reference to the area, and is read only: mapped, polled, and flipped.  A mapping
 * keeps the file, so its pages, which are put there when it is made, are those of the area.
 *
 * Task context, may sleep.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/perf_event_ext.h>
#include <linux/poll.h>
#include <linux/seq_file.h>

#include "abi.h"
#include "ext_call.h"
#include "../ext.h"

#define MOST_ARG	PAGE_SIZE

static_assert(sizeof(struct perf_ext_format) == 48);
static_assert(sizeof(struct perf_ext_area) == 56);

/* ------------------------------------------------------------------ the file of an area */

static int pe_area_release(struct inode *inode, struct file *file)
{
	pe_instance_put(file->private_data);
	return 0;
}

static __poll_t pe_area_poll(struct file *file, poll_table *wait)
{
	struct pe_instance *inst = file->private_data;
	__poll_t events;

	poll_wait(file, &inst->waitq, wait);
	events = (__force __poll_t)atomic_xchg(&inst->poll, 0);
	return atomic_read(&inst->nr_events) ? events : events | EPOLLHUP;
}

static long pe_area_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return cmd == PERF_EXT_AREA_IOC_FLIP ? pe_instance_flip(file->private_data) : -ENOTTY;
}

static int pe_area_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct pe_instance *inst = file->private_data;
	unsigned long i;
	int err;

	if (!(vma->vm_flags & VM_MAYSHARE))
		return pe_err(-EINVAL, "mmap: must be MAP_SHARED");
	if (vma->vm_pgoff || vma_pages(vma) != inst->nr_pages)
		return pe_err(-EINVAL, "mmap: the area has another size");
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (i = 0; i < inst->nr_pages; i++) {
		err = vm_insert_page(vma, vma->vm_start + (i << PAGE_SHIFT),
				     vmalloc_to_page((void *)inst->shown + (i << PAGE_SHIFT)));
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

static void pe_area_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct pe_instance *inst = file->private_data;

	seq_printf(m, "format:\t%s\n", inst->format->name);
	seq_printf(m, "bytes:\t%lu\n", inst->nr_pages << PAGE_SHIFT);
	seq_printf(m, "events:\t%d\n", atomic_read(&inst->nr_events));
	seq_printf(m, "samples:\t%llu\n", READ_ONCE(inst->shown->samples));
	seq_printf(m, "lost:\t%llu\n", READ_ONCE(inst->shown->lost));
	seq_printf(m, "nested:\t%llu\n", READ_ONCE(inst->shown->nested));
}

static const struct file_operations area_fops = {
	.release	= pe_area_release,
	.poll		= pe_area_poll,
	.unlocked_ioctl	= pe_area_ioctl,
	.compat_ioctl	= pe_area_ioctl,
	.mmap		= pe_area_mmap,
	.show_fdinfo	= pe_area_show_fdinfo,
};

/* ------------------------------------------------------------------ FORMAT */

/**
 * pe_ext_refuse_format() - can the samples of an event go to a format?
 * @e: the event
 * @why: what to tell the user
 *
 * Return: 0, or an error whose reason is in @why.
 */
int pe_ext_refuse_format(struct pe_event *e, const char **why)
{
	int err = pe_ext_refuse_notify(e, why);

	if (err) {
		*why = err == -EINVAL ? "FORMAT: the event does not sample" :
					"FORMAT: the PMU writes samples of this event by itself";
		return err;
	}
	/* Areas are written in NMIs, which must not fault in memory of vmalloc(), nor lock. */
	if (!IS_ENABLED(CONFIG_64BIT)) {
		*why = "FORMAT: needs a kernel of 64 bits";
		return -EOPNOTSUPP;
	}
	if (e->attr.aux_output || e->attr.aux_sample_size) {
		*why = "FORMAT: not for samples with AUX data";
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Why no area at all is for the event. */
static int refuse(struct pe_event *e)
{
	const char *why;
	int err;

	lockdep_assert_held(&pe_ctx(e)->mutex);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "FORMAT: the PMU has gone");
	/* Samples are to be read, as by mmap(). */
	err = security_perf_event_read(&e->pub);
	if (err)
		return err;
	err = pe_ext_refuse_format(e, &why);
	if (err)
		return pe_err(err, why);
	if (pe_ext(e) && rcu_access_pointer(e->ext->instance))
		return pe_err(-EBUSY, "FORMAT: the event has one already");
	return 0;
}

/* Why this area is not. */
static int refuse_in(struct pe_event *e, struct pe_instance *inst)
{
	const struct perf_format *f = inst->format;
	int err = refuse(e);

	if (err || !f->accept)
		return err;
	err = f->accept(&inst->area, &e->pub);
	return err ? pe_err(err, "FORMAT: attr.sample_type has not what the format needs") : 0;
}

static int join(struct pe_event *e, struct pe_instance *inst)
{
	int err;

	scoped_guard(pe_event_ctx, e)
		err = refuse_in(e, inst);
	/* A format may stop single copies. */
	err = err ?: pe_kin_dissolve(e);
	if (err)
		return err;
	guard(pe_event_ctx)(e);
	err = refuse_in(e, inst) ?: pe_ext_need(e);
	if (!err)
		pe_instance_join(inst, e);
	return err;
}

/* Records again. */
static int part(struct pe_event *e)
{
	struct pe_instance *inst;

	scoped_guard(pe_event_ctx, e) {
		if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
			return pe_err(-ENODEV, "FORMAT: the PMU has gone");
		inst = pe_instance_part(e);
	}
	if (!inst)
		return pe_err(-EINVAL, "FORMAT: the event has none");
	/* The samples that are on their way. */
	synchronize_rcu();
	pe_instance_put(inst);
	return 0;
}

static int share_area(struct pe_event *e, const struct perf_ext_format *ask)
{
	struct pe_instance *inst;

	CLASS(fd, f)(ask->share);

	if (!fd_file(f))
		return pe_err(-EBADF, "FORMAT: share: not open");
	if (fd_file(f)->f_op != &area_fops)
		return pe_err(-EINVAL, "FORMAT: share is not of an area");
	inst = fd_file(f)->private_data;
	if (memcmp(&inst->format->uuid, ask->uuid, sizeof(ask->uuid)))
		return pe_err(-EINVAL, "FORMAT: share is of another format");
	if (ask->arg || ask->arg_size || ask->flags)
		return pe_err(-EINVAL, "FORMAT: arg, flags: of no use with share");
	return join(e, inst);
}

/* A new area behind a new file. */
static struct file *open_area(const struct perf_ext_format *ask)
{
	void *arg __free(kvfree) = NULL;
	struct pe_instance *inst;
	struct file *file;
	uuid_t uuid;

	if (ask->arg_size > MOST_ARG)
		return ERR_PTR(-E2BIG);
	if (ask->arg_size) {
		arg = vmemdup_user(u64_to_user_ptr(ask->arg), ask->arg_size);
		if (IS_ERR(arg))
			return ERR_CAST(no_free_ptr(arg));
	}
	import_uuid(&uuid, ask->uuid);
	inst = pe_instance_make(&uuid, arg, ask->arg_size);
	if (IS_ERR(inst))
		return ERR_CAST(inst);
	file = anon_inode_getfile("[perf_format]", &area_fops, inst, O_RDONLY);
	if (IS_ERR(file))
		pe_instance_put(inst);
	return file;
}

/* The file descriptor of a new area, which @e writes to. */
static long make_area(struct pe_event *e, struct pe_ext_ask *asked)
{
	struct perf_ext_format *ask = &asked->u.format;
	struct pe_instance *inst;
	struct file *file;
	int err;

	CLASS(get_unused_fd, fd)(ask->flags & PERF_EXT_FORMAT_CLOEXEC ? O_CLOEXEC : 0);

	if (fd < 0)
		return fd;
	/* Before memory is made for nothing. */
	scoped_guard(pe_event_ctx, e)
		err = refuse(e);
	if (err)
		return err;
	file = open_area(ask);
	if (IS_ERR(file))
		return PTR_ERR(file);
	inst = file->private_data;
	ask->size = (u64)inst->nr_pages << PAGE_SHIFT;
	err = pe_ext_answer(asked) ?: join(e, inst);
	if (err) {
		fput(file);
		return err;
	}
	fd_install(fd, file);
	return take_fd(fd);
}

/**
 * pe_ext_change_format() - PERF_EXT_IOC_FORMAT
 * @e: the event
 * @asked: what user space says
 *
 * Return: a file descriptor of a new area, or 0, if it has asked for none; or an error, then
 * nothing has changed.
 */
long pe_ext_change_format(struct pe_event *e, struct pe_ext_ask *asked)
{
	const struct perf_ext_format *ask = &asked->u.format;

	if (ask->flags & ~PERF_EXT_FORMAT_CLOEXEC)
		return pe_err(-EINVAL, "FORMAT: unknown flags");
	e = pe_ext_named(e, ask->set, ask->member);
	if (IS_ERR(e))
		return PTR_ERR(e);
	if (!memchr_inv(ask->uuid, 0, sizeof(ask->uuid))) {
		if (ask->arg || ask->arg_size || ask->flags || ask->share != -1)
			return pe_err(-EINVAL, "FORMAT: arg, flags, share: without a format");
		return part(e);
	}
	return ask->share == -1 ? make_area(e, asked) : share_area(e, ask);
}

/**
 * pe_ext_show_format() - the line of fdinfo
 * @m: where to
 * @e: the event
 */
void pe_ext_show_format(struct seq_file *m, struct pe_event *e)
{
	struct pe_instance *inst;

	guard(rcu)();
	inst = pe_ext(e) ? rcu_dereference(e->ext->instance) : NULL;
	if (inst)
		seq_printf(m, "format:\t%s\n", inst->format->name);
}
