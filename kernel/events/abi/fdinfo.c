// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/<pid>/fdinfo/<fd> of an event: what it is, how it is doing, where its output goes.
 *
 * One "key:\tvalue" a line, after those of every file.  Keys are added, never changed.
 * Documentation/perf_events/fdinfo.rst has the list.
 *
 * Task context of the reader; /proc has checked that it may look into the process, and the
 * security module is asked as for a read.  Locks: the family lock, ctx->lock; then
 * event->mmap_mutex.  With none of them does anybody wait for user space, and ctx->mutex is not
 * taken: a scan of /proc gets an answer.  No CPU is interrupted.
 */
#include <linux/math64.h>
#include <linux/proc_fs.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include "abi.h"

static const char *state_name(enum perf_event_state state)
{
	switch (state) {
	case PERF_EVENT_STATE_ACTIVE:
		return "active";
	case PERF_EVENT_STATE_INACTIVE:
		return "inactive";
	case PERF_EVENT_STATE_OFF:
		return "off";
	case PERF_EVENT_STATE_ERROR:
		return "error";
	case PERF_EVENT_STATE_REVOKED:
		return "revoked";
	default:
		return "exit";
	}
}

/* The keys of Linux 7.2.  Drivers that pass an event on to another PMU change attr.type. */
static void show_attr(struct seq_file *m, const struct pe_event *e)
{
	const struct perf_event_attr *attr = &e->attr;

	seq_printf(m, "perf_event_attr.type:\t%u\n", e->orig_type);
	seq_printf(m, "perf_event_attr.config:\t0x%llx\n", attr->config);
	seq_printf(m, "perf_event_attr.config1:\t0x%llx\n", attr->config1);
	seq_printf(m, "perf_event_attr.config2:\t0x%llx\n", attr->config2);
	seq_printf(m, "perf_event_attr.config3:\t0x%llx\n", attr->config3);
	seq_printf(m, "perf_event_attr.config4:\t0x%llx\n", attr->config4);
}

static void show_identity(struct seq_file *m, struct pe_event *e)
{
	/* That of a session has none of those that it is attached to. */
	struct task_struct *task = pe_is_session(e) ? NULL : e->hw.target;
	int idx = pe_pmus_read_lock();
	struct pmu *pmu = READ_ONCE(e->pmu);

	seq_printf(m, "pmu:\t%s\n", pmu->name);
	seq_printf(m, "pmu_type:\t%d\n", pmu->type);
	pe_pmus_read_unlock(idx);
	seq_printf(m, "type:\t%u\n", e->attr.type);
	seq_printf(m, "config:\t%#llx\n", e->attr.config);
	show_attr(m, e);
	seq_printf(m, "id:\t%llu\n", e->id);
	seq_printf(m, "cpu:\t%d\n", e->cpu);
	if (task)
		seq_printf(m, "task:\t%d\n",
			   task_pid_nr_ns(task, proc_pid_ns(file_inode(m->file)->i_sb)));
}

/* What the copies of an event add to its own figures. */
struct family_sums {
	unsigned int	copies;
	unsigned int	throttled;
};

static struct family_sums sum_up(struct pe_event *e)
{
	struct family_sums sums = { .throttled = atomic_read(&e->nr_throttled) };
	struct pe_event *child;

	guard(mutex)(&e->family_lock);
	list_for_each_entry(child, &e->children, child_entry) {
		sums.copies++;
		sums.throttled += atomic_read(&child->nr_throttled);
	}
	return sums;
}

static void show_counts(struct seq_file *m, struct pe_event *e)
{
	struct family_sums sums;
	struct pe_glance glance;
	u64 enabled, running, share;

	pe_peek(e, &glance);
	enabled = glance.times.enabled;
	running = glance.times.running;
	sums = sum_up(e);
	/* in hundredths of a percent */
	share = enabled ? mul_u64_u64_div_u64(running, 10000, enabled) : 0;

	seq_printf(m, "group:\t%llu\n", glance.group);
	seq_printf(m, "state:\t%s\n", state_name(READ_ONCE(e->state)));
	seq_printf(m, "copies:\t%u\n", sums.copies);
	seq_printf(m, "count:\t%llu\n", glance.count);
	seq_printf(m, "time_enabled:\t%llu\n", enabled);
	seq_printf(m, "time_running:\t%llu\n", running);
	seq_printf(m, "share:\t%llu.%02llu%%\n", share / 100, share % 100);
	seq_printf(m, "lost:\t%lld\n", atomic64_read(&e->lost_samples));
	seq_printf(m, "throttled:\t%u\n", sums.throttled);
	seq_printf(m, "wakeups:\t%u\n", atomic_read(&e->nr_wakeups));
}

static void show_buffer(struct seq_file *m, struct pe_event *e)
{
	unsigned long user_pages, mm_pages;
	struct perf_buffer *rb;

	guard(mutex)(&e->mmap_mutex);
	rb = pe_bound_buffer(e);
	if (!rb)
		return;
	seq_printf(m, "buffer:\t%lu\n", pe_buffer_data_size(rb));
	/* The event through which it was mapped; 0 while it is being unmapped. */
	seq_printf(m, "buffer_of:\t%llu\n", atomic_read(&rb->mmap_count) ? rb->owner : 0);

	user_pages = rb->charge.user_pages;
	mm_pages = rb->charge.mm_pages;
	scoped_guard(mutex, &rb->aux.mutex) {
		if (!rb->aux.nr_pages)
			break;
		seq_printf(m, "aux:\t%lu\n", rb->aux.nr_pages << PAGE_SHIFT);
		user_pages += rb->aux.charge.user_pages;
		mm_pages += rb->aux.charge.mm_pages;
	}
	seq_printf(m, "mlock_user:\t%lu\n", user_pages);
	seq_printf(m, "mlock_mm:\t%lu\n", mm_pages);
}

/* file_operations.show_fdinfo of an event */
void pe_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct pe_event *e = pe(file->private_data);

	if (security_perf_event_read(&e->pub))
		return;
	show_identity(m, e);
	show_counts(m, e);
	show_buffer(m, e);
	pe_ext_show(m, e);
}
