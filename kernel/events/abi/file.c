// SPDX-License-Identifier: GPL-2.0
/*
 * The file of an event: its operations that are not read, ioctl or mmap.
 *
 * file->private_data is the event, as a struct perf_event, for BPF looks there, too.  The file
 * holds one reference, dropped by pe_release().
 *
 * Each file needs a name in the file system of anonymous inodes, and all have the same one.  So one
 * file is made at boot, of no event, and those of events share its directory entry.
 */

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/init.h>
#include <linux/poll.h>
#include "abi.h"

static int pe_file_release(struct inode *inode, struct file *file)
{
	struct pe_event *e = pe(file->private_data);

	if (!file->private_data)	/* the pattern, at boot */
		return 0;
	if (pe_is_session(e))
		pe_session_end(e->session);
	else
		pe_release(e);
	return 0;
}

/* The task has gone, and with it every child. */
static bool hung_up(struct pe_event *e)
{
	if (READ_ONCE(e->state) > PERF_EVENT_STATE_EXIT)
		return false;
	guard(mutex)(&e->family_lock);
	return list_empty(&e->children);
}

static __poll_t pe_file_poll(struct file *file, poll_table *wait)
{
	struct pe_event *e = pe(file->private_data);
	struct perf_buffer *rb;

	poll_wait(file, &e->waitq, wait);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return EPOLLERR;
	if (hung_up(e))
		return EPOLLHUP;
	/* Others in ERROR have a leader that was closed; their records can still be read. */
	if (e->attr.pinned && READ_ONCE(e->state) == PERF_EVENT_STATE_ERROR)
		return EPOLLERR;

	/* SET_OUTPUT cannot exchange the buffer while its poll state is taken. */
	guard(mutex)(&e->mmap_mutex);
	rb = pe_bound_buffer(e);
	return rb ? (__force __poll_t)atomic_xchg(&rb->poll, 0) : EPOLLHUP;
}

static int pe_file_fasync(int fd, struct file *file, int on)
{
	struct pe_event *e = pe(file->private_data);
	struct inode *inode = file_inode(file);
	int ret;

	pe_take_slow_overflow(e);
	inode_lock(inode);
	ret = fasync_helper(fd, file, on, &e->fasync);
	inode_unlock(inode);
	return ret < 0 ? ret : 0;
}

const struct file_operations pe_fops = {
	.release	= pe_file_release,
	.read		= pe_read,
	.poll		= pe_file_poll,
	.unlocked_ioctl	= pe_ioctl,
	.compat_ioctl	= pe_compat_ioctl,
	.mmap		= pe_mmap,
	.fasync		= pe_file_fasync,
	.show_fdinfo	= pe_show_fdinfo,
};

static struct file *pattern;

static int __init pe_make_pattern(void)
{
	struct file *file = anon_inode_getfile("[perf_event]", &pe_fops, NULL, O_RDWR);

	if (!IS_ERR(file))
		pattern = file;
	return PTR_ERR_OR_ZERO(file);
}

fs_initcall_sync(pe_make_pattern);		/* after the file system's own */

/**
 * pe_file_make() - a file for an event
 * @e: the event; the caller's reference goes to the file if all is well
 *
 * Task context.  Return: the file, or an error.
 */
struct file *pe_file_make(struct pe_event *e)
{
	struct file *file;

	if (unlikely(!pattern))
		return anon_inode_getfile("[perf_event]", &pe_fops, &e->pub, O_RDWR);
	file = alloc_file_clone(pattern, O_RDWR, &pe_fops);
	if (!IS_ERR(file))
		file->private_data = &e->pub;
	return file;
}

/* The event behind a file, or NULL. */
struct pe_event *pe_of_file(struct file *file)
{
	return file->f_op == &pe_fops ? pe(file->private_data) : NULL;
}

/**
 * perf_event_get() - the file of an event, for code that keeps it
 * @fd: file descriptor of current
 *
 * Contract.  Return: the file, for fput(); ERR_PTR(-EBADF) if it is none or not an event's.
 */
struct file *perf_event_get(unsigned int fd)
{
	struct file *file = fget(fd);

	if (!file)
		return ERR_PTR(-EBADF);
	if (!pe_of_file(file)) {
		fput(file);
		return ERR_PTR(-EBADF);
	}
	return file;
}

/* Contract. Return: the event of @file, or ERR_PTR(-EINVAL). */
const struct perf_event *perf_get_event(struct file *file)
{
	struct pe_event *e = pe_of_file(file);

	return e ? &e->pub : ERR_PTR(-EINVAL);
}

/* Contract. Return: the attributes of @event, or ERR_PTR(-EINVAL). */
const struct perf_event_attr *perf_event_attrs(struct perf_event *event)
{
	return event ? &event->attr : ERR_PTR(-EINVAL);
}
