// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_EXT_IOC_CREATE, ATTACH and DETACH: one file descriptor for many targets, see life/session.c
 * and session_members.c.
 *
 * Each ATTACH asks for what perf_event_open() would ask the caller for, with the attr of each
 * member and the task, CPU or cgroup.
 *
 * Task context, may sleep.  The session's mutex is outside of all that opening an event takes.
 */
#include <linux/file.h>
#include <linux/perf_event_ext.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>

#include "abi.h"
#include "ext_call.h"

static_assert(sizeof(struct perf_ext_create) == 32);
static_assert(sizeof(struct perf_ext_target) == 16);

/* ------------------------------------------------------------------------------ CREATE */

static int check_create(const struct perf_ext_create *ask)
{
	if (ask->pad)
		return pe_err(-EINVAL, "CREATE: pad: not 0");
	if (!ask->nr)
		return pe_err(-EINVAL, "CREATE: no events");
	if (ask->nr > PE_MOST_MEMBERS)
		return pe_err(-E2BIG, "CREATE: more events than most_members of INFO");
	if (ask->nr > 1 && ask->stride < PERF_ATTR_SIZE_VER0)
		return pe_err(-EINVAL, "CREATE: stride: smaller than an attr");
	return 0;
}

/* All of them before any PMU is asked: user memory may be as slow as its owner likes. */
static struct perf_event_attr *copy_attrs(const struct perf_ext_create *ask)
{
	struct perf_event_attr *attrs __free(kvfree) = NULL;
	unsigned int i;
	int err;

	attrs = kvcalloc(ask->nr, sizeof(*attrs), GFP_KERNEL_ACCOUNT);
	if (!attrs)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < ask->nr; i++) {
		err = pe_attr_copy(u64_to_user_ptr(ask->attrs + (u64)i * ask->stride), &attrs[i]);
		if (err)
			return ERR_PTR(err);
	}
	return_ptr(attrs);
}

/* What perf_event_open() does with an event that has its PMU. */
static int set_up(struct pe_event *e)
{
	if (is_sampling_event(&e->pub) && e->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT)
		return pe_err(-EOPNOTSUPP, "attr.sample_period: the PMU cannot interrupt");
	if (pe_ext_jitter(e))
		return -ENOMEM;
	return e->attr.use_clockid ? pe_attr_set_clock(e, e->attr.clockid) : 0;
}

static int add_member(struct pe_session *s, struct pe_session_group *group,
		      struct perf_event_attr *attr)
{
	struct pe_event *e;
	bool own_tasks;
	int err;

	err = pe_open_permit(attr, !s->of_cpus, &own_tasks);
	/* ATTACH asks again, but drivers may set something aside for a member. */
	if (!err && s->of_cpus && perf_allow_cpu())
		err = pe_err(-EACCES, "perf_event_paranoid: no right to events of CPUs");
	if (err)
		return err;
	e = pe_session_make(s, group, attr, own_tasks);
	if (IS_ERR(e))
		return PTR_ERR(e);
	err = set_up(e) ?: pe_session_add(s, group, e);
	if (err)
		pe_put(e);
	return err;
}

static int add_members(struct pe_session *s, struct pe_session_group *group,
		       const struct perf_ext_create *ask, struct perf_event_attr *attrs)
{
	unsigned int i;
	int err = 0, idx;

	idx = pe_pmus_read_lock();
	for (i = 0; i < ask->nr && !err; i++)
		err = add_member(s, group, &attrs[i]);
	pe_pmus_read_unlock(idx);
	for (i = 0; i < group->nr && !err; i++)
		if (!pe_plan_read_fits(group->member[i]->attr.read_format, group->nr))
			err = pe_err(-E2BIG, "CREATE: the group is too large to be read");
	return err;
}

static int tell_ids(const struct pe_session_group *group, u64 __user *ids)
{
	unsigned int i;

	for (i = 0; ids && i < group->nr; i++)
		if (put_user(group->member[i]->id, ids + i))
			return -EFAULT;
	return 0;
}

static int make_group(struct pe_session *s, struct pe_session_group *group,
		      const struct perf_ext_create *ask)
{
	struct perf_event_attr *attrs = copy_attrs(ask);
	int err;

	if (IS_ERR(attrs))
		return PTR_ERR(attrs);
	if (ask->set && attrs[0].pinned)
		err = pe_err(-EINVAL, "CREATE: ADD: what is pinned takes no turns");
	else
		err = add_members(s, group, ask, attrs);
	kvfree(attrs);
	return err ?: tell_ids(group, u64_to_user_ptr(ask->ids));
}

/* @s->mutex held */
static int commit(struct pe_session *s, struct pe_session_group *group, u16 number)
{
	int err = 0;

	if (number)
		err = pe_session_refuse_set(s, number, group->nr);
	if (!err)
		err = pe_session_charge(s, 0, group->nr);
	if (err)
		return err;
	err = pe_session_commit(s, group, number);
	if (err && s->nr)
		pe_session_recount(s);
	return err;
}

/* Set 0 of a new session, or a further one. */
static int add_set(struct pe_session *s, const struct perf_ext_create *ask)
{
	struct pe_session_group group = { };
	int err = pe_session_making(s, ask->nr);
	bool making = !err;

	if (err)
		return err;
	err = make_group(s, &group, ask);
	if (!err) {
		guard(mutex)(&s->mutex);
		pe_session_made(s, ask->nr);
		making = false;
		err = commit(s, &group, ask->set);
	}
	pe_session_abandon(&group);
	if (making)
		pe_session_made(s, ask->nr);
	return err;
}

/* CREATE with ADD.  Return: 0 or an error. */
static int add(struct pe_event *e, const struct perf_ext_create *ask)
{
	struct pe_session *s;
	int err;

	if (!pe_is_session(e))
		return pe_err(-EINVAL, "CREATE: ADD: not a session");
	if (ask->flags != PERF_EXT_CREATE_ADD || !ask->set)
		return pe_err(-EINVAL, "CREATE: ADD: other flags, or set 0");
	s = e->session;
	pe_session_settle(s);
	/* Before members are made for nothing. */
	scoped_guard(mutex, &s->mutex)
		err = pe_session_refuse_set(s, ask->set, ask->nr);
	return err ?: add_set(s, ask);
}

/**
 * pe_ext_create() - PERF_EXT_IOC_CREATE
 * @e: any event; with ADD a session
 * @asked: what user space says
 *
 * Return: the descriptor of the session, 0 with ADD, or an error; then nothing has changed.
 */
long pe_ext_create(struct pe_event *e, struct pe_ext_ask *asked)
{
	const struct perf_ext_create *ask = &asked->u.create;
	struct file *file = NULL;
	struct pe_session *s;
	int err = check_create(ask), fd;

	if (err)
		return err;
	if (ask->flags & PERF_EXT_CREATE_ADD)
		return add(e, ask);
	if (ask->flags & ~(PERF_EXT_CREATE_CLOEXEC | PERF_EXT_CREATE_CPUS) || ask->set)
		return pe_err(-EINVAL, "CREATE: unknown flags, or a set without ADD");
	fd = get_unused_fd_flags(ask->flags & PERF_EXT_CREATE_CLOEXEC ? O_CLOEXEC : 0);
	if (fd < 0)
		return fd;
	err = -ENOMEM;
	s = pe_session_new(ask->flags & PERF_EXT_CREATE_CPUS);
	if (!s)
		goto fail;
	err = add_set(s, ask);
	if (!err) {
		file = pe_file_make(s->member[0]);
		err = PTR_ERR_OR_ZERO(file);
	}
	if (err) {
		pe_session_end(s);
		goto fail;
	}
	fd_install(fd, file);
	return fd;
fail:
	put_unused_fd(fd);
	return err;
}

/* ------------------------------------------------------------------------------ targets */

/* A reference that the target has: the task or the cgroup. */
static void put_target(struct pe_target *t)
{
	if (t->task)
		put_task_struct(t->task);
	if (t->cgrp)
		pe_cgroup_put(t->cgrp);
}

static struct task_struct *find_task(const struct perf_ext_target *ask)
{
	struct task_struct *task;
	unsigned int flags;

	if (ask->kind == PERF_EXT_TARGET_PIDFD) {
		if (ask->number != (int)ask->number)
			return ERR_PTR(-EBADF);
		return pidfd_get_task(ask->number, &flags);
	}
	if (ask->number != (pid_t)ask->number)
		return ERR_PTR(-ESRCH);
	guard(rcu)();
	task = ask->number ? find_task_by_vpid(ask->number) : current;
	return task ? get_task_struct(task) : ERR_PTR(-ESRCH);
}

static int name_task(struct pe_target *t, const struct perf_ext_target *ask)
{
	struct task_struct *task = find_task(ask);

	if (IS_ERR(task))
		return pe_err(PTR_ERR(task), "target: no such task, or no pidfd");
	t->task = task;
	return 0;
}

static int name_cpu(struct pe_target *t, const struct perf_ext_target *ask)
{
	struct perf_cgroup *cgrp;

	switch (ask->kind) {
	case PERF_EXT_TARGET_CPU:
		if (ask->number < 0 || ask->number >= nr_cpu_ids || !cpu_possible(ask->number))
			return pe_err(-EINVAL, "target: no such CPU");
		t->cpu = ask->number;
		return 0;
	case PERF_EXT_TARGET_CGROUP:
		if (ask->number != (int)ask->number)
			return pe_err(-EBADF, "target: no file descriptor");
		cgrp = pe_cgroup_find(ask->number);
		if (IS_ERR(cgrp))
			return pe_err(PTR_ERR(cgrp), "target: no directory of a cgroup");
		t->cgrp = cgrp;
		return 0;
	case PERF_EXT_TARGET_CGROUP_ID:
		if (ask->number <= 0)
			return pe_err(-EINVAL, "target: no id of a cgroup");
		t->cgroup_id = ask->number;
		return 0;
	default:
		return 0;
	}
}

/* @t is set, with the references that it has. */
static int name_target(const struct pe_session *s, struct pe_target *t,
		       const struct perf_ext_target *ask)
{
	bool of_task = ask->kind <= PERF_EXT_TARGET_PIDFD;

	*t = (struct pe_target){ .cpu = -1 };
	if (ask->kind > PERF_EXT_TARGET_CGROUP_ID)
		return pe_err(-EINVAL, "target: unknown kind");
	if (ask->kind == PERF_EXT_TARGET_ALL)
		return ask->number ? pe_err(-EINVAL, "target: ALL has number 0") : 0;
	if (of_task == s->of_cpus)
		return pe_err(-EINVAL, "target: a CPU for a session of tasks, or vice versa");
	return of_task ? name_task(t, ask) : name_cpu(t, ask);
}

static int check_flags(const struct pe_session *s, const struct perf_ext_target *ask)
{
	u32 may = 0;

	switch (ask->kind) {
	case PERF_EXT_TARGET_TID:
	case PERF_EXT_TARGET_PIDFD:
		may = PERF_EXT_TARGET_INHERIT | PERF_EXT_TARGET_RESUME;
		break;
	case PERF_EXT_TARGET_CPU:
		may = PERF_EXT_TARGET_RESUME;
		break;
	case PERF_EXT_TARGET_ALL:
		if (!s->of_cpus)
			return pe_err(-EINVAL, "ATTACH: all CPUs, for a session of tasks");
		fallthrough;
	case PERF_EXT_TARGET_CGROUP:
		may = PERF_EXT_TARGET_RETURN;
		break;
	case PERF_EXT_TARGET_CGROUP_ID:
		return pe_err(-EINVAL, "ATTACH: a cgroup by its id is for DETACH");
	}
	return ask->flags & ~may ? pe_err(-EINVAL, "ATTACH: flags that do not fit the kind") : 0;
}

/* ------------------------------------------------------------------------------ ATTACH */

/* What does not depend on the task. */
static int permit(struct pe_session *s, struct pe_target *t)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		struct perf_event_attr attr = s->member[i]->attr;
		bool own_tasks;
		int err;

		err = pe_attr_permit_branches(&attr) ?:
		      pe_open_permit(&attr, t->task, &own_tasks) ?:
		      pe_virtual_permit(s->member[i]);
		if (err)
			return err;
		/* It has taken something out that the copies would have. */
		if (attr.ksymbol != s->member[i]->attr.ksymbol ||
		    attr.bpf_event != s->member[i]->attr.bpf_event)
			return pe_err(-EACCES, "perf_event_paranoid: above 2 since CREATE");
		t->own_tasks |= own_tasks;
	}
	return 0;
}

static int place_on_task(struct pe_session *s, const struct pe_target *t, struct pe_event **copies)
{
	int err = down_read_interruptible(&t->task->signal->exec_update_lock);

	if (err)
		return err;
	if (pe_may_observe(t->task, &s->member[0]->attr, t->own_tasks))
		err = pe_session_place(s, t, copies);
	else
		err = pe_err(-EACCES, "target: no right to trace it");
	up_read(&t->task->signal->exec_update_lock);
	return err;
}

static int attach_one(struct pe_session *s, const struct pe_target *t)
{
	struct pe_event *copies[PE_MOST_MEMBERS] = { };
	int err = pe_session_copy(s, t, copies);

	if (err == -EXDEV)
		return pe_err(-EINVAL, "target: the PMU counts for this CPU on another one");
	if (err)
		return err;
	err = t->task ? place_on_task(s, t, copies) : pe_session_place(s, t, copies);
	if (err)
		pe_session_drop(copies, s->nr);
	else
		pe_session_start(s, copies, s->nr, t);
	return err;
}

/* What is refused without a word on the way to a context. */
static int say_why(const struct pe_target *t, int err)
{
	if (err == -ENODEV)
		return pe_err(err, "target: the CPU is offline, or the PMU has gone");
	if (err == -ESRCH)
		return pe_err(err, "target: the task exits");
	if (err == -EACCES && !t->task)
		return pe_err(err, "perf_event_paranoid: no right to events of CPUs");
	return err;
}

static int attach(struct pe_session *s, struct pe_target *t, u32 flags)
{
	bool one = t->task || t->cpu >= 0;
	int err, idx;

	if (s->nr_sets > 1 && (t->cgrp || t->inherit))
		return pe_err(-EOPNOTSUPP, "ATTACH: several sets: no cgroups, no INHERIT");
	/* A member whose PMU has gone may be one that is not the leader. */
	if (READ_ONCE(s->member[0]->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "ATTACH: the PMU has gone");
	/* Of all CPUs each one, which one may be a target already. */
	if ((one || t->cgrp) && pe_session_has(s, t))
		return pe_err(-EEXIST, "ATTACH: it is a target");
	err = permit(s, t) ?: pe_session_charge(s, one ? 1 : num_online_cpus(), 0);
	if (err)
		return err;
	idx = pe_pmus_read_lock();
	if (one)
		err = attach_one(s, t);
	else
		err = pe_session_attach_cpus(s, t, flags & PERF_EXT_TARGET_RETURN);
	pe_pmus_read_unlock(idx);
	pe_session_recount(s);
	return say_why(t, err);
}

/**
 * pe_ext_attach() - PERF_EXT_IOC_ATTACH
 * @e: the session
 * @asked: the target
 *
 * Return: 0 or an error; then nothing is attached.
 */
long pe_ext_attach(struct pe_event *e, struct pe_ext_ask *asked)
{
	const struct perf_ext_target *ask = &asked->u.target;
	struct pe_session *s;
	struct pe_target t;
	int err;

	if (!pe_is_session(e))
		return pe_err(-EINVAL, "ATTACH: not a session");
	s = e->session;
	err = check_flags(s, ask) ?: name_target(s, &t, ask);
	if (err)
		return err;
	t.inherit = ask->flags & PERF_EXT_TARGET_INHERIT;
	t.resume = ask->flags & PERF_EXT_TARGET_RESUME;
	pe_session_settle(s);
	scoped_guard(mutex, &s->mutex)
		err = attach(s, &t, ask->flags);
	put_target(&t);
	return err;
}

/**
 * pe_ext_detach() - PERF_EXT_IOC_DETACH
 * @e: the session
 * @asked: the target
 *
 * Return: 0; -ENOENT if it is none; other errors.
 */
long pe_ext_detach(struct pe_event *e, struct pe_ext_ask *asked)
{
	const struct perf_ext_target *ask = &asked->u.target;
	struct pe_session *s;
	struct pe_target t;
	bool found = false;
	int err;

	if (!pe_is_session(e))
		return pe_err(-EINVAL, "DETACH: not a session");
	s = e->session;
	if (ask->flags)
		return pe_err(-EINVAL, "DETACH: flags: not 0");
	err = name_target(s, &t, ask);
	if (err == -ESRCH)
		return pe_err(-ENOENT, "DETACH: it is no target");
	if (err)
		return err;
	pe_session_settle(s);
	scoped_guard(mutex, &s->mutex) {
		if (!t.task && t.cpu < 0)
			found = pe_session_forget(s, &t);
		found |= pe_session_detach(s, &t);
		pe_session_recount(s);
	}
	put_target(&t);
	return found || ask->kind == PERF_EXT_TARGET_ALL ? 0 :
	       pe_err(-ENOENT, "DETACH: it is no target");
}

/**
 * pe_ext_show_session() - a line of fdinfo
 * @m: where to
 * @e: the event
 */
void pe_ext_show_session(struct seq_file *m, struct pe_event *e)
{
	unsigned int nr_sets;

	if (!pe_is_session(e))
		return;
	nr_sets = READ_ONCE(e->session->nr_sets);
	if (nr_sets > 1)
		seq_printf(m, "sets:\t%u\n", nr_sets);
	guard(mutex)(&e->family_lock);
	seq_printf(m, "targets:\t%zu\n", list_count_nodes(&e->children));
}
