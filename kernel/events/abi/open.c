// SPDX-License-Identifier: GPL-2.0
/*
 * perf_event_open(2).
 *
 * The call goes through stages, each of which undoes itself through the cleanup of struct opening
 * when a later one fails:
 *
 *	attr		copy, size negotiation, permission			attr.c
 *	files		new descriptor, the group leader's or output's file
 *	task		found, and the caller may look into it; exec_update_lock keeps its
 *			credentials, if it is another one, as they are until the event is attached
 *	event		allocated, bound to its PMU				event.c
 *	context		found, the group's rules are checked, room is reserved, under ctx->mutex
 *	file		made; from here on nothing fails
 *	attach		the event counts					attach.c
 *
 * Task context.
 */

#include <linux/file.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/syscalls.h>
#include "abi.h"

#define FLAGS_ALL (PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | \
		   PERF_FLAG_FD_CLOEXEC)

/**
 * struct opening - what a call has acquired so far
 * @args: what the event is to be: its task is referenced, NULL for a CPU; its leader is that of
 *	@group, when the event shall be a sibling
 * @flags: PERF_FLAG_* of the call
 * @cgroup_fd: with PERF_FLAG_PID_CGROUP: descriptor of the cgroup's directory
 * @cred_locked: task->signal->exec_update_lock is held for reading
 * @group: the file behind group_fd
 * @output: its event, when output shall go there
 * @e: the new event
 * @ctx: its context, referenced, mutex held
 */
struct opening {
	struct pe_origin_args	args;
	unsigned long		flags;
	int			cgroup_fd;
	bool			cred_locked;
	struct fd		group;
	struct pe_event		*output;
	struct pe_event		*e;
	struct pe_ctx		*ctx;
};

static void close_ctx(struct opening *o)
{
	if (!o->ctx)
		return;
	mutex_unlock(&o->ctx->mutex);
	pe_ctx_put(o->ctx);
	o->ctx = NULL;
}

static void close_task(struct opening *o)
{
	if (o->cred_locked)
		up_read(&o->args.task->signal->exec_update_lock);
	o->cred_locked = false;
	if (o->args.task)
		put_task_struct(o->args.task);
	o->args.task = NULL;
}

static void abandon(struct opening *o)
{
	close_ctx(o);
	if (o->cred_locked)
		up_read(&o->args.task->signal->exec_update_lock);
	o->cred_locked = false;
	if (o->e)
		pe_put(o->e);
	close_task(o);
	fdput(o->group);
}

static int check_gid(bool of_task)
{
	int gid = -1;

	if (IS_ENABLED(CONFIG_PERF_EVENTS_EXT))
		gid = of_task ? READ_ONCE(pe_task_gid) : READ_ONCE(pe_cpu_gid);
	if (likely(gid == -1) || pe_gid_allows(gid))
		return 0;
	return of_task ? pe_err(-EACCES, "pid: not in the group of perf_ext_task_gid") :
			 pe_err(-EACCES, "cpu: not in the group of perf_ext_cpu_gid");
}

/**
 * pe_open_permit() - may the caller have such events?
 * @attr: a checked request; see pe_own_tasks_allow()
 * @of_task: of a task, not of a CPU or cgroup
 * @own_tasks: set: perf_ext_own_tasks has allowed it, so no capability helps
 *
 * Return: 0 or the error of perf_event_open().
 */
int pe_open_permit(struct perf_event_attr *attr, bool of_task, bool *own_tasks)
{
	int err;

	*own_tasks = false;
	/* Own tasks only: a CPU or a cgroup is everybody's. */
	if (perf_paranoid_any()) {
		*own_tasks = of_task && pe_own_tasks_allow(attr);
		if (!*own_tasks && !capable(CAP_SYS_ADMIN))
			return pe_err(-EACCES, "perf_event_paranoid: above 2, needs CAP_SYS_ADMIN");
	}
	err = check_gid(of_task);
	return err ?: pe_attr_permit(attr);
}

static int open_group_file(struct opening *o, int group_fd)
{
	struct pe_event *other;

	if (group_fd == -1)
		return 0;
	o->group = fdget(group_fd);
	if (!fd_file(o->group))
		return pe_err(-EBADF, "group_fd: not open");
	other = pe_of_file(fd_file(o->group));
	if (!other)
		return pe_err(-EBADF, "group_fd: no event");
	if (READ_ONCE(other->state) <= PERF_EVENT_STATE_EXIT)
		return pe_err(-ENODEV, "group_fd: its task is gone");
	if (o->flags & PERF_FLAG_FD_OUTPUT)
		o->output = other;
	if (!(o->flags & PERF_FLAG_FD_NO_GROUP))
		o->args.leader = other;
	return 0;
}

static int find_task(struct opening *o, pid_t pid)
{
	struct task_struct *task;

	if (pid == -1 || o->flags & PERF_FLAG_PID_CGROUP)
		return 0;
	rcu_read_lock();
	task = pid ? find_task_by_vpid(pid) : current;
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	if (!task)
		return pe_err(-ESRCH, "pid: no such task");
	o->args.task = task;
	/* A group is inherited as a whole, or not at all. */
	if (o->args.leader && o->args.leader->attr.inherit != o->args.attr->inherit)
		return pe_err(-EINVAL, "attr.inherit: not as in the group's leader");
	return 0;
}

static int make_event(struct opening *o)
{
	struct pe_event *e;

	if (o->flags & PERF_FLAG_PID_CGROUP)
		o->args.cgroup_fd = &o->cgroup_fd;
	e = pe_alloc(&o->args);
	if (IS_ERR(e))
		return PTR_ERR(e);
	o->e = e;
	if (is_sampling_event(&e->pub) && e->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT)
		return pe_err(-EOPNOTSUPP, "attr.sample_period: the PMU cannot interrupt");
	if (pe_ext_jitter(e))
		return -ENOMEM;
	return o->args.attr->use_clockid ? pe_attr_set_clock(e, o->args.attr->clockid) : 0;
}

/**
 * pe_may_observe() - may the caller have events of a task?
 * @task: the task, whose exec_update_lock is held
 * @attr: of the event; with sigtrap the caller also sends signals to the task
 * @own_tasks: see struct pe_event
 */
bool pe_may_observe(struct task_struct *task, const struct perf_event_attr *attr, bool own_tasks)
{
	unsigned int mode = PTRACE_MODE_READ_REALCREDS;
	bool capable;

	/* What ptrace_may_access() would say, whatever the mode. */
	if (same_thread_group(task, current))
		return true;
	capable = !own_tasks && perfmon_capable();
	if (attr->sigtrap) {
		rcu_read_lock();
		capable &= ns_capable(__task_cred(task)->user_ns, CAP_KILL);
		rcu_read_unlock();
		mode = PTRACE_MODE_ATTACH_REALCREDS;
	}
	return capable || ptrace_may_access(task, mode);
}

static int check_task(struct opening *o)
{
	int err;

	/* What current may do changes only while current itself does something else. */
	if (!o->args.task || o->args.task == current)
		return 0;
	err = down_read_interruptible(&o->args.task->signal->exec_update_lock);
	if (err)
		return err;
	o->cred_locked = true;
	return pe_may_observe(o->args.task, o->args.attr, o->args.own_tasks) ? 0 :
		pe_err(-EACCES, "pid: no right to trace it");
}

/* May @e become a sibling of @leader?  The rules of perf_event_open(2). */
static int check_group(struct pe_event *e, struct pe_event *leader, struct pe_ctx *ctx)
{
	if (!pe_is_leader(leader))
		return pe_err(-EINVAL, "group_fd: not the leader of its group");
	if (leader->clock != e->clock)
		return pe_err(-EINVAL, "attr.clockid: not as in the group's leader");
	if (leader->cpu != e->cpu || leader->ctx != &ctx->pub)
		return pe_err(-EINVAL, "group_fd: an event of another task or CPU");
	/* The leader's task may have exited since its file was looked at. */
	if (READ_ONCE(leader->state) <= PERF_EVENT_STATE_EXIT)
		return pe_err(-ENODEV, "group_fd: its task is gone");
	if (!(leader->attach_state & PERF_ATTACH_CONTEXT))
		return pe_err(-ENODEV, "group_fd: its CPU has been offline");
	if (e->attr.exclusive || e->attr.pinned)
		return pe_err(-EINVAL, "attr.exclusive, pinned: for the leader of a group only");
	/* Hardware events of different PMUs cannot be scheduled as one. */
	if (!is_software_event(&e->pub) && pe_pmu_ctx(leader)->pmu != e->pmu &&
	    pe_pmu_ctx(leader)->pmu->task_ctx_nr != perf_sw_context)
		return pe_err(-EINVAL, "group_fd: a group of another PMU");
	return pe_ext_refuse_member(e, leader);
}

/* Can a group be read that has one member more?  @e is to join it, or leads.  With ctx->mutex. */
static bool read_fits(struct pe_event *e, struct pe_event *leader)
{
	unsigned int siblings = leader->nr_siblings + 1;
	struct pe_event *m;

	if (!pe_plan_read_fits(e->attr.read_format, siblings))
		return false;
	if (leader == e)
		return true;
	pe_for_each_member(m, leader)
		if (!pe_plan_read_fits(m->attr.read_format, siblings))
			return false;
	return true;
}

/* Can @e act on the AUX area of @leader?  A leader cannot act on its own. */
static bool traced_by(struct pe_event *e, struct pe_event *leader)
{
	const struct perf_event_attr *attr = &e->attr;

	if (!leader || (attr->aux_output && attr->aux_sample_size))
		return false;
	if (attr->aux_output && !(has_aux(&leader->pub) && e->pmu->aux_output_match &&
				  e->pmu->aux_output_match(&leader->pub)))
		return false;
	if ((attr->aux_pause || attr->aux_resume) &&
	    !(leader->pmu->capabilities & PERF_PMU_CAP_AUX_PAUSE))
		return false;
	return !attr->aux_sample_size || leader->pmu->snapshot_aux;
}

static int open_ctx(struct opening *o)
{
	struct pe_event *e = o->e;
	struct pe_ctx *ctx;
	int err;

	ctx = pe_find_ctx(o->args.task, e->cpu);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	o->ctx = ctx;

	if (o->args.leader) {
		/* Exit and hotplug come first: they are the answer whatever the group is. */
		if (ctx->dead)
			return -ESRCH;
		if (!ctx->task && !per_cpu(pe_cpu, ctx->cpu).online)
			return -ENODEV;
		err = check_group(e, o->args.leader, ctx);
		if (err)
			return err;
	}
	err = pe_prepare_ctx(e, ctx);
	if (err)
		return err;
	if (o->output) {
		err = pe_set_output(e, o->output);
		if (err)
			return err;
	}
	if (!read_fits(e, o->args.leader ?: e))
		return pe_err(-E2BIG, "group_fd: the group is too large to be read");
	if (pe_needs_tracer(e) && !traced_by(e, o->args.leader))
		return pe_err(-EINVAL, "attr.aux_*: the leader of the group cannot do that");
	return pe_has_rival(e, ctx) ? pe_err(-EBUSY, "the PMU can do one thing at a time") : 0;
}

static struct file *attach(struct opening *o)
{
	struct pe_event *e = o->e;
	struct file *file = pe_file_make(e);

	if (IS_ERR(file))
		return file;

	pe_attach(o->ctx, e);
	mutex_unlock(&o->ctx->mutex);
	close_task(o);

	/* With its link: the task may exec meanwhile and remove the event, see pe_leave_owner(). */
	mutex_lock(&current->perf_event_mutex);
	e->owner = current;
	list_add_tail(&e->owner_entry, &current->perf_event_list);
	mutex_unlock(&current->perf_event_mutex);
	return file;
}

static struct file *open_event(struct opening *o, pid_t pid, int group_fd)
{
	int err;

	err = open_group_file(o, group_fd);
	if (!err)
		err = find_task(o, pid);
	if (!err)
		err = make_event(o);
	if (!err)
		err = check_task(o);
	if (!err)
		err = open_ctx(o);
	return err ? ERR_PTR(err) : attach(o);
}

SYSCALL_DEFINE5(perf_event_open, struct perf_event_attr __user *, attr_uptr, pid_t, pid, int, cpu,
		int, group_fd, unsigned long, flags)
{
	struct perf_event_attr attr __uninitialized;
	struct opening o = {
		.args = { .attr = &attr, .cpu = cpu }, .flags = flags, .cgroup_fd = pid,
	};
	struct file *file;
	int fd, err, idx;

	if (flags & ~FLAGS_ALL)
		return pe_err(-EINVAL, "flags: unknown bit");
	err = pe_attr_copy(attr_uptr, &attr);
	if (!err)
		err = pe_open_permit(&attr, pid != -1 && !(flags & PERF_FLAG_PID_CGROUP),
				     &o.args.own_tasks);
	if (err)
		return err;
	/* pid is the cgroup's directory, and its tasks are observed on one CPU. */
	if (flags & PERF_FLAG_PID_CGROUP && (pid == -1 || cpu == -1))
		return -EINVAL;

	fd = get_unused_fd_flags(flags & PERF_FLAG_FD_CLOEXEC ? O_CLOEXEC : 0);
	if (fd < 0)
		return fd;
	/* The event's PMU stays until the event is in its context, or has been given up. */
	idx = pe_pmus_read_lock();
	file = open_event(&o, pid, group_fd);
	if (IS_ERR(file))
		abandon(&o);
	pe_pmus_read_unlock(idx);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	/* Kept until the sibling is attached: a leader that goes first takes the group along. */
	fdput(o.group);
	fd_install(fd, file);
	return fd;
}
