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
 * The note is in the task_struct: an errno, which sits where there was a hole, and a pointer to a
 * literal.  Only the task itself writes and reads it, so it needs no lock, and nothing is left to
 * free when the task exits; a new task starts without one.
 *
 * There is no better place.  An open that is refused leaves no event, hence no fdinfo; a context
 * would have each switch of the task look at it for an error that is over; a trace event does not
 * reach users who may not read tracefs, and these are refused most.
 *
 * Nothing is done when nothing is refused.  Task context.
 */
#include <linux/sched.h>
#include <linux/sysfs.h>
#include "types.h"

/**
 * pe_err() - refuse something, and say why
 * @err: negative errno
 * @text: a string literal: what is wrong, "field: why" if it is a field
 *
 * Task context.  Return: @err
 */
noinline int pe_err(int err, const char *text)
{
	current->perf_last_errno = err;
	current->perf_last_error = text;
	return err;
}

/* The last error of the task that reads it, or nothing. */
ssize_t pe_show_error(char *buf)
{
	const char *text = current->perf_last_error;

	return text ? sysfs_emit(buf, "%d %s\n", current->perf_last_errno, text) : 0;
}
