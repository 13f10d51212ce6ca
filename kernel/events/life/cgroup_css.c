// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroup controller perf_event, and the events that are opened for a directory of it.
 *
 * Called by the cgroup core in task context under cgroup_mutex, and when an event is made and
 * freed.  How a CPU follows the cgroups of its tasks is in sched/cgroup.c.
 */
#include <linux/cgroup.h>
#include <linux/file.h>

#include "life.h"

static struct perf_cgroup *cgroup_of(struct cgroup_subsys_state *css)
{
	return container_of(css, struct perf_cgroup, css);
}

/**
 * pe_cgroup_find() - the cgroup behind a file descriptor
 * @fd: descriptor of its directory
 *
 * Return: the cgroup, for pe_cgroup_put(); -EBADF if @fd is no such thing; -ENOENT if the cgroup
 * was removed.
 */
struct perf_cgroup *pe_cgroup_find(int fd)
{
	struct cgroup_subsys_state *css;

	CLASS(fd, f)(fd);
	if (fd_empty(f))
		return ERR_PTR(-EBADF);
	css = css_tryget_online_from_dir(fd_file(f)->f_path.dentry, &perf_event_cgrp_subsys);
	return IS_ERR(css) ? ERR_CAST(css) : cgroup_of(css);
}

/**
 * pe_cgroup_is_online() - is a cgroup still there?
 * @cgrp: the cgroup, referenced
 *
 * It may be removed at any time.
 */
bool pe_cgroup_is_online(const struct perf_cgroup *cgrp)
{
	return READ_ONCE(cgrp->css.flags) & CSS_ONLINE;
}

/**
 * pe_cgroup_connect() - make an event one of a cgroup
 * @e: an event of a CPU, not yet attached
 * @cgrp: the cgroup; the caller's reference goes to the event
 *
 * Return: 0; -EINVAL if @e is to join a group that is not of this cgroup.
 */
int pe_cgroup_connect(struct pe_event *e, struct perf_cgroup *cgrp)
{
	e->cgrp = cgrp;
	return pe_is_leader(e) || pe_leader(e)->cgrp == cgrp ? 0 : -EINVAL;
}

/**
 * pe_cgroup_get() - one more reference, for pe_cgroup_put()
 * @cgrp: the cgroup
 *
 * Return: @cgrp
 */
struct perf_cgroup *pe_cgroup_get(struct perf_cgroup *cgrp)
{
	css_get(&cgrp->css);
	return cgrp;
}

/**
 * pe_cgroup_id() - what PERF_SAMPLE_CGROUP says of a cgroup
 * @cgrp: the cgroup
 */
u64 pe_cgroup_id(const struct perf_cgroup *cgrp)
{
	return cgroup_id(cgrp->css.cgroup);
}

/**
 * pe_cgroup_put() - an event's memory goes
 * @cgrp: its cgroup
 *
 * Any context but NMI.
 */
void pe_cgroup_put(struct perf_cgroup *cgrp)
{
	css_put(&cgrp->css);
}

static struct cgroup_subsys_state *pe_cgroup_css_alloc(struct cgroup_subsys_state *parent)
{
	struct perf_cgroup *cgrp = kzalloc(sizeof(*cgrp), GFP_KERNEL);

	return cgrp ? &cgrp->css : ERR_PTR(-ENOMEM);
}

static void pe_cgroup_css_free(struct cgroup_subsys_state *css)
{
	pe_cgroup_free(cgroup_of(css));
}

static int pe_cgroup_css_online(struct cgroup_subsys_state *css)
{
	pe_sideband_cgroup(css->cgroup);
	return 0;
}

static void pe_cgroup_follow_current(void *unused)
{
	pe_cgroup_switch(current);
}

/* Tasks have been moved; cgroup_mutex is held. */
static void pe_cgroup_attach(struct cgroup_taskset *tset)
{
	static struct cpumask cpus;	/* cgroup_mutex */
	struct cgroup_subsys_state *css;
	struct task_struct *task;

	/* See sched/cgroup.c. */
	smp_mb();
	if (!atomic_read(&pe_cgroup_users))
		return;
	cpumask_clear(&cpus);
	cgroup_taskset_for_each(task, css, tset)
		cpumask_set_cpu(task_cpu(task), &cpus);
	on_each_cpu_mask(&cpus, pe_cgroup_follow_current, NULL, true);
}

struct cgroup_subsys perf_event_cgrp_subsys = {
	.css_alloc		= pe_cgroup_css_alloc,
	.css_online		= pe_cgroup_css_online,
	.css_free		= pe_cgroup_css_free,
	.attach			= pe_cgroup_attach,
	.threaded		= true,
	.implicit_on_dfl	= true,	/* there without being asked for, unless mounted as v1 */
};
