// SPDX-License-Identifier: GPL-2.0
/*
 * Records about tasks: FORK, EXIT, COMM, NAMESPACES, SWITCH, SWITCH_CPU_WIDE; and CGROUP.
 *
 * Callers: fork and exit through inherit.c and exit.c, exec and prctl (comm), unshare and setns
 * (namespaces), the scheduler through task_switch.c with irqs off, the cgroup
 * core through life/cgroup_css.c.
 * All but the scheduler are tasks that may sleep.  No locks are taken here; sideband.c routes.
 *
 * Layouts, after struct perf_event_header and before the sample_id trailer:
 *
 *   FORK, EXIT        u32 pid, ppid, tid, ptid; u64 time
 *   COMM              u32 pid, tid; char comm[], ended and padded with zeroes to 8
 *   NAMESPACES        u32 pid, tid; u64 nr; { u64 dev, ino } [nr], by enum of the *_NS_INDEX
 *   SWITCH            nothing
 *   SWITCH_CPU_WIDE   u32 next_prev_pid, next_prev_tid
 *   CGROUP            u64 id; char path[], as comm
 *
 * Pids are those in the namespace of the event's opener, so each event has its own body.
 */
#include <linux/cgroup.h>
#include <linux/kdev_t.h>
#include <linux/namei.h>
#include <linux/proc_ns.h>
#include <linux/sched.h>

#include "sources.h"

struct ids {
	u32	pid;
	u32	tid;
};

static struct ids ids_of(const struct pe_event *e, struct task_struct *task)
{
	struct ids ids;

	pe_ids_of(e, task, &ids.pid, &ids.tid);
	return ids;
}

/* fork and exit */

struct kinship {
	u32	pid;
	u32	ppid;
	u32	tid;
	u32	ptid;
	u64	time;
};

static_assert(offsetof(struct kinship, tid) == 8);
static_assert(offsetof(struct kinship, time) == 16);
static_assert(sizeof(struct kinship) == 24);

static void pe_sb_write_fork(struct pe_event *e, void *arg)
{
	struct ids child = ids_of(e, arg), parent = ids_of(e, current);
	struct kinship body = {
		.pid	= child.pid,
		.ppid	= parent.pid,
		.tid	= child.tid,
		.ptid	= parent.tid,
		.time	= pe_event_clock(e),
	};

	pe_record_emit(e, PERF_RECORD_FORK, 0, &body, sizeof(body));
}

/* The ABI has the process of the parent in both places: its forking thread may be gone. */
static void pe_sb_write_exit(struct pe_event *e, void *arg)
{
	struct task_struct *task = arg;
	struct ids self = ids_of(e, task);
	u32 parent = pe_event_pid(e, rcu_dereference(task->real_parent));
	struct kinship body = {
		.pid	= self.pid,
		.ppid	= parent,
		.tid	= self.tid,
		.ptid	= parent,
		.time	= pe_event_clock(e),
	};

	pe_record_emit(e, PERF_RECORD_EXIT, 0, &body, sizeof(body));
}

/**
 * pe_sideband_fork() - tell of a new task
 * @task: the child; current is the parent
 *
 * Task context.  Fork can no longer fail.  perf_event_namespaces() is to follow.
 */
void pe_sideband_fork(struct task_struct *task)
{
	if (pe_sideband_used(PE_SB_TASK))
		pe_sideband_each(BIT(PE_SB_TASK), NULL, pe_sb_write_fork, task);
}

/**
 * pe_sideband_exit() - tell of the end of a task
 * @task: current
 * @ctx: its context, which may no longer be found through the task; NULL if it has none
 *
 * Task context.
 */
void pe_sideband_exit(struct task_struct *task, struct pe_ctx *ctx)
{
	if (pe_sideband_used(PE_SB_TASK))
		pe_sideband_each(BIT(PE_SB_TASK), ctx, pe_sb_write_exit, task);
}

/* comm */

struct comm_news {
	struct task_struct	*task;
	u16			misc;
	unsigned int		size;
	char			comm[TASK_COMM_LEN];
};

static_assert(IS_ALIGNED(TASK_COMM_LEN, sizeof(u64)));

static void pe_sb_write_comm(struct pe_event *e, void *arg)
{
	struct comm_news *news = arg;
	struct ids ids = ids_of(e, news->task);
	struct kvec piece[] = {
		{ &ids, sizeof(ids) },
		{ news->comm, news->size },
	};

	pe_record_write(e, PERF_RECORD_COMM, news->misc, piece, ARRAY_SIZE(piece));
}

/**
 * perf_event_comm() - a task has a new name
 * @task: the task, not always current
 * @exec: because it executes a new program
 *
 * Task context.
 */
void perf_event_comm(struct task_struct *task, bool exec)
{
	struct comm_news news;

	if (!pe_sideband_used(PE_SB_COMM) || !pe_sideband_wanted(BIT(PE_SB_COMM), NULL))
		return;

	news.task = task;
	news.misc = exec ? PERF_RECORD_MISC_COMM_EXEC : 0;
	strscpy(news.comm, task->comm);
	news.size = pe_sideband_pad(news.comm);
	pe_sideband_each(BIT(PE_SB_COMM), NULL, pe_sb_write_comm, &news);
}

/* namespaces */

struct ns_news {
	struct task_struct		*task;
	struct perf_ns_link_info	link[NR_NAMESPACES];
};

static const struct proc_ns_operations *const ns_kinds[NR_NAMESPACES] = {
	[MNT_NS_INDEX]		= &mntns_operations,
#ifdef CONFIG_NET_NS
	[NET_NS_INDEX]		= &netns_operations,
#endif
#ifdef CONFIG_UTS_NS
	[UTS_NS_INDEX]		= &utsns_operations,
#endif
#ifdef CONFIG_IPC_NS
	[IPC_NS_INDEX]		= &ipcns_operations,
#endif
#ifdef CONFIG_PID_NS
	[PID_NS_INDEX]		= &pidns_operations,
#endif
#ifdef CONFIG_USER_NS
	[USER_NS_INDEX]		= &userns_operations,
#endif
#ifdef CONFIG_CGROUPS
	[CGROUP_NS_INDEX]	= &cgroupns_operations,
#endif
};

static void pe_sb_write_namespaces(struct pe_event *e, void *arg)
{
	struct ns_news *news = arg;
	struct {
		struct ids	ids;
		u64		nr;
	} body = { ids_of(e, news->task), NR_NAMESPACES };
	struct kvec piece[] = {
		{ &body, sizeof(body) },
		{ news->link, sizeof(news->link) },
	};

	pe_record_write(e, PERF_RECORD_NAMESPACES, 0, piece, ARRAY_SIZE(piece));
}

/**
 * perf_event_namespaces() - a task is in new namespaces
 * @task: the task
 *
 * Task context, may sleep.  A kind of namespace that is not configured shows as zero.
 */
void perf_event_namespaces(struct task_struct *task)
{
	struct ns_news news = { .task = task };
	struct path path;
	int i;

	if (!pe_sideband_used(PE_SB_NAMESPACES) ||
	    !pe_sideband_wanted(BIT(PE_SB_NAMESPACES), NULL))
		return;

	for (i = 0; i < NR_NAMESPACES; i++) {
		const struct inode *inode;

		if (!ns_kinds[i] || ns_get_path(&path, task, ns_kinds[i]))
			continue;
		inode = d_inode(path.dentry);
		news.link[i].dev = new_encode_dev(inode->i_sb->s_dev);
		news.link[i].ino = inode->i_ino;
		path_put(&path);
	}
	pe_sideband_each(BIT(PE_SB_NAMESPACES), NULL, pe_sb_write_namespaces, &news);
}

/* context switches */

struct switch_news {
	struct task_struct	*other;
	u16			misc;
};

/* The other task may be known only to events of the whole CPU. */
static void pe_sb_write_switch(struct pe_event *e, void *arg)
{
	struct switch_news *news = arg;
	struct ids other = {};

	if (pe_ctx(e)->task) {
		pe_record_emit(e, PERF_RECORD_SWITCH, news->misc, &other, 0);
	} else {
		other = ids_of(e, news->other);
		pe_record_emit(e, PERF_RECORD_SWITCH_CPU_WIDE, news->misc, &other, sizeof(other));
	}
}

static void tell_of_switch(struct task_struct *other, u16 misc)
{
	struct switch_news news = { .other = other, .misc = misc };

	pe_sideband_each(BIT(PE_SB_SWITCH), NULL, pe_sb_write_switch, &news);
}

/**
 * pe_sideband_switch_out() - current leaves the CPU
 * @prev: current
 * @next: the task that comes instead
 *
 * Scheduler: irqs off, the run queue locked.
 */
void pe_sideband_switch_out(struct task_struct *prev, struct task_struct *next)
{
	if (!pe_sideband_used(PE_SB_SWITCH))
		return;
	tell_of_switch(next, PERF_RECORD_MISC_SWITCH_OUT |
			     (task_is_runnable(prev) ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0));
}

/**
 * pe_sideband_switch_in() - current has come
 * @prev: the task that has left
 *
 * Scheduler: irqs off.
 */
void pe_sideband_switch_in(struct task_struct *prev)
{
	if (pe_sideband_used(PE_SB_SWITCH))
		tell_of_switch(prev, 0);
}

/* new cgroups */

#ifdef CONFIG_CGROUP_PERF
struct cgroup_news {
	u64		id;
	char		*path;
	unsigned int	size;
};

static void pe_sb_write_cgroup(struct pe_event *e, void *arg)
{
	struct cgroup_news *news = arg;
	struct kvec piece[] = {
		{ &news->id, sizeof(news->id) },
		{ news->path, news->size },
	};

	pe_record_write(e, PERF_RECORD_CGROUP, 0, piece, ARRAY_SIZE(piece));
}

/**
 * pe_sideband_cgroup() - tell of a new cgroup
 * @cgrp: the cgroup
 *
 * Task context, may sleep; cgroup_mutex held.
 */
void pe_sideband_cgroup(struct cgroup *cgrp)
{
	struct cgroup_news news = { .id = cgroup_id(cgrp) };
	char fallback[16] = "//enomem";
	char *buf;

	if (!pe_sideband_used(PE_SB_CGROUP) || !pe_sideband_wanted(BIT(PE_SB_CGROUP), NULL))
		return;

	buf = kzalloc(PATH_MAX, GFP_KERNEL);
	if (buf)
		cgroup_path(cgrp, buf, PATH_MAX - sizeof(u64));	/* cut if too long */
	news.path = buf ?: fallback;
	news.size = pe_sideband_pad(news.path);
	pe_sideband_each(BIT(PE_SB_CGROUP), NULL, pe_sb_write_cgroup, &news);
	kfree(buf);
}
#endif
