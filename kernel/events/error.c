// SPDX-License-Identifier: GPL-2.0
/*
 * Why was that refused?  The last error of each task, in words.
 *
 * perf_event_open() and the operations of events answer with an errno, and one errno has many
 * reasons.  Each place that refuses something names it with pe_err(), which returns the errno
 * unchanged.  A task that was refused something reads its own last reason from
 * /sys/bus/event_source/last_error:
 *
 *	-22 attr.sample_type: unknown bit
 *
 * The notes are in a table of fixed size, by the task's pid.  A note is overwritten by the task's
 * next error, or by that of another task in the same place; that the answer may be missing is the
 * price for bounded memory and for needing nothing of the task when it exits.  A pid is used again
 * only by a task that started later, so the time of start tells whose note it is.
 *
 * Nothing is done when nothing is refused.  Task context; the lock is a leaf.
 */
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/sysfs.h>
#include "types.h"

#define NOTES_BITS	8

struct note {
	pid_t		pid;		/* of the thread, in the initial namespace; 0: empty */
	u64		started;
	int		err;
	const char	*text;		/* a literal */
};

static struct note notes[1 << NOTES_BITS];
static DEFINE_SPINLOCK(notes_lock);

static struct note *note_of(const struct task_struct *task)
{
	return &notes[hash_32(task->pid, NOTES_BITS)];
}

/**
 * pe_err() - refuse something, and say why
 * @err: negative errno
 * @text: a string literal: what is wrong, "field: why" if it is a field
 *
 * Task context.  Return: @err
 */
noinline int pe_err(int err, const char *text)
{
	struct note note = {
		.pid		= current->pid,
		.started	= current->start_time,
		.err		= err,
		.text		= text,
	};

	guard(spinlock)(&notes_lock);
	*note_of(current) = note;
	return err;
}

/* The last error of whoever reads it, or nothing. */
ssize_t pe_show_error(char *buf)
{
	struct note note;

	scoped_guard(spinlock, &notes_lock)
		note = *note_of(current);
	if (note.pid != current->pid || note.started != current->start_time)
		return 0;
	return sysfs_emit(buf, "%d %s\n", note.err, note.text);
}
