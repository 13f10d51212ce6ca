/* SPDX-License-Identifier: GPL-2.0 */
/* Layer 5: making, joining, inheriting and ending events. */
#ifndef _KERNEL_EVENTS_LIFE_H
#define _KERNEL_EVENTS_LIFE_H

#include "../sources/sources.h"

/* event.c */
struct pe_origin_args {
	const struct perf_event_attr	*attr;
	int				cpu;
	struct task_struct		*task;
	struct pe_event			*leader;	/* NULL: its own */
	struct pe_event			*parent;	/* NULL: opened, not inherited */
	const int			*cgroup_fd;	/* NULL: not of a cgroup, or */
	struct perf_cgroup		*cgrp;		/* of this one */
	perf_overflow_handler_t		handler;
	void				*handler_context;
	bool				own_tasks;	/* see struct pe_event */
};

struct pe_event *pe_alloc(const struct pe_origin_args *args);
void pe_get(struct pe_event *e);
bool pe_tryget(struct pe_event *e);
void pe_put(struct pe_event *e);
void pe_put_last(struct pe_event *e);
void pe_put_outside(struct pe_event *e);
void pe_put_settle(void);
void pe_snapshot_put(struct pe_event **events, unsigned int nr);	/* of pe_ctx_snapshot() */
void pe_event_caches_init(void);
extern struct kmem_cache *pe_event_cache;

/**
 * pe_become_child() - an event that is being made is a copy
 * @e: the event
 * @origin: the event that a user opened, which stays as long as @e
 *
 * Fork does this for each event.
 */
static __always_inline void pe_become_child(struct pe_event *e, struct pe_event *origin)
{
	pe_get(origin);
	refcount_inc(&origin->mem_refs);
	e->parent = &origin->pub;
	e->sink = origin->sink;
	e->clock = origin->clock;
	e->event_caps = origin->event_caps;
	e->overflow_handler = origin->overflow_handler;
	e->overflow_handler_context = origin->overflow_handler_context;
}

/**
 * pe_leave_family() - a child's counts go to the sums of those that are gone
 * @child: out of its context, so that its clocks stand still; family lock of @parent held
 * @parent: its parent
 *
 * Return: it was in the family, whose reference the caller drops.
 */
static __always_inline bool pe_leave_family(struct pe_event *child, struct pe_event *parent)
{
	if (!child->in_family)
		return false;
	child->in_family = false;
	list_del_init(&child->child_entry);
	atomic64_add(local64_read(&child->count), &parent->gone_count);
	atomic64_add(child->enabled.time, &parent->gone_enabled);
	atomic64_add(child->running.time, &parent->gone_running);
	return true;
}

/* account.c: what needs which static key and counter */
void pe_account(struct pe_event *e);
void pe_unaccount(struct pe_event *e);

/* bind.c: event <-> buffer */
void pe_bind_buffer(struct pe_event *e, struct perf_buffer *rb);	/* e->mmap_mutex held */
bool pe_aux_stop(struct perf_buffer *rb, const struct pe_event *sink);
int pe_set_output(struct pe_event *e, struct pe_event *target);	/* target may be NULL */

/* e->rb for code that keeps it from changing: holders of e->mmap_mutex, mappings made through @e */
static inline struct perf_buffer *pe_bound_buffer(struct pe_event *e)
{
	return rcu_dereference_protected(e->rb, lockdep_is_held(&e->mmap_mutex) ||
						atomic_read(&e->mmap_count));
}

/* attach.c */
struct pe_ctx *pe_lock_ctx(struct pe_event *e);		/* e->ctx, its mutex */
struct pe_ctx *pe_find_ctx(struct task_struct *task, int cpu);	/* referenced, its mutex; ERR_PTR */
int pe_prepare_ctx(struct pe_event *e, struct pe_ctx *ctx);	/* ctx->mutex held */
bool pe_has_rival(struct pe_event *e, struct pe_ctx *ctx);	/* as well */
void pe_settle_task(struct task_struct *task);
void pe_attach(struct pe_ctx *ctx, struct pe_event *e);	/* publishes e, which gets the reference */
void pe_detach(struct pe_event *e, enum perf_event_state final);
void pe_retire(struct pe_event *e);
void pe_leave_owner(struct pe_event *e);
void pe_release(struct pe_event *e);			/* last user closed it */

DEFINE_GUARD(pe_event_ctx, struct pe_event *, pe_lock_ctx(_T), mutex_unlock(&pe_ctx(_T)->mutex))

/* kin_copy.c */
bool pe_ctx_can_be_common(struct pe_ctx *ctx);
struct pe_kin *pe_kin_new(unsigned int members);
bool pe_kin_is_short(struct pe_kin *kin);
int pe_kin_add_ctxs(struct pe_kin *kin, struct pe_ctx *from);
struct pe_ctx *pe_kin_copy(struct pe_kin *kin, struct task_struct *task);
bool pe_kin_is_empty(struct pe_kin *kin);
struct pe_ctx *pe_kin_ctx(struct pe_kin *kin);

/* kin.c */
int pe_kin_start(struct pe_ctx *from, struct task_struct *child);
int pe_kin_fork(struct task_struct *child);
int pe_kin_leave(struct task_struct *task);
struct pe_kin *pe_kin_exit(void);
void pe_kin_put(struct pe_kin *kin);
struct task_struct *pe_kin_emptied(struct pe_ctx *ctx);
void pe_kin_go_back(struct task_struct *task);
void pe_kin_stay_out(struct pe_event *e);
void pe_kin_differ(struct pe_event *e);
int pe_kin_dissolve(struct pe_event *e);
void pe_kin_forked(struct task_struct *task);

/* exit.c */
void pe_ctx_end(struct pe_ctx *ctx);
void pe_ctx_end_outside(struct pe_ctx *ctx);

/* ext.c */
#ifdef CONFIG_PERF_EVENTS_EXT
int pe_ext_need(struct pe_event *e);
int pe_ext_inherit(struct pe_event *e);
void pe_ext_follow(struct pe_event *e);
void pe_ext_set_periods(struct pe_ctx *ctx, void *arg);
void pe_ext_set_masks(struct pe_ctx *ctx, void *arg);
void pe_ext_set_notify(struct pe_ctx *ctx, void *arg);
void pe_ext_copy_trigger(struct pe_ctx *ctx, void *arg);
void pe_ext_free(struct pe_event *e);
#else
static inline int pe_ext_inherit(struct pe_event *e)
{
	return 0;
}

static inline void pe_ext_follow(struct pe_event *e) { }
static inline void pe_ext_free(struct pe_event *e) { }
#endif

/* inherit.c */
int pe_copy_events(struct pe_ctx *ctx, struct pe_event **from, unsigned int nr, u64 clone_flags);
void pe_join_families(struct pe_ctx *ctx);

/* family (inherit.c) */
void pe_family_each(struct pe_event *e, void (*fn)(struct pe_event *e, void *arg), void *arg);
struct pe_event **pe_family_snapshot(struct pe_event *e, unsigned int *nr);
void pe_child_leave(struct pe_event *child, enum perf_event_state final);

/* session.c */
#define PE_MOST_MEMBERS	64U		/* of a session */

/**
 * struct pe_target - what a session is attached to
 * @task: the task, or NULL
 * @cpu: without a task: the CPU
 * @cgrp: the cgroup on that CPU, or NULL
 * @cgroup_id: of a target to be detached: or the id of it; 0: none
 * @own_tasks: see struct pe_event
 * @inherit: the tasks that it forks are targets, too
 * @resume: it goes on with the periods that DETACH has cut off
 */
struct pe_target {
	struct task_struct	*task;
	int			cpu;
	struct perf_cgroup	*cgrp;
	u64			cgroup_id;
	bool			own_tasks;
	bool			inherit;
	bool			resume;
};

struct pe_resume;

/**
 * struct pe_session_set - a group of members; several take turns on each target
 * @number: user space calls it so; the first one is set 0
 * @first: its leader, in pe_session.member[]
 * @nr: members
 */
struct pe_session_set {
	u16		number;
	unsigned int	first;
	unsigned int	nr;
};

/**
 * struct pe_session_group - a group that is to become a set, and its maker's until then
 * @nr: members so far
 * @member: they, the leader first
 */
struct pe_session_group {
	unsigned int	nr;
	struct pe_event	*member[PE_MOST_MEMBERS];
};

/**
 * struct pe_session - events that count what their copies have counted, on targets; see session.c
 * @mutex: targets come and go
 * @of_cpus: they are CPUs, and cgroups on CPUs; otherwise tasks			I
 * @leaving: all of them are being detached					F of the leader
 * @ctx: the context of the members, which is never in				I
 * @entry: all sessions							sessions_lock
 * @uid: who has made it							I
 * @events: on targets, as far as they were counted				sessions_lock
 * @making: of members that are being made					sessions_lock
 * @returns: there is a struct pe_return					sessions_lock
 * @came: CPUs that have come since @work has looked				sessions_lock
 * @return_to: struct pe_return: what CPUs that come are attached to		mutex
 * @work: attaches them
 * @resume: what DETACH has cut off, for each member				mutex
 * @nr: members									S
 * @nr_sets: groups of them							S
 * @set: they, by ascending numbers						S
 * @member: the events, set after set as they came, the leader of each first	S
 *
 * S: written with mutex and ctx->mutex, read with either; see session_members.c.
 */
struct pe_session {
	struct mutex		mutex;		/* see above */
	bool			of_cpus;
	bool			leaving;
	struct pe_ctx		*ctx;
	struct list_head	entry;
	kuid_t			uid;
	unsigned long		events;
	unsigned long		making;
	bool			returns;
	struct cpumask		came;
	struct list_head	return_to;
	struct work_struct	work;
	struct pe_resume	*resume;
	unsigned int		nr;
	unsigned int		nr_sets;
	struct pe_session_set	set[PE_MOST_SETS];
	struct pe_event		*member[PE_MOST_MEMBERS];
};

#ifdef CONFIG_PERF_EVENTS_EXT
/* session_members.c, session.c, session_limit.c */
struct pe_session *pe_session_new(bool of_cpus);
struct pe_event *pe_session_make(struct pe_session *s, struct pe_session_group *group,
				 struct perf_event_attr *attr, bool own_tasks);
int pe_session_add(struct pe_session *s, struct pe_session_group *group, struct pe_event *e);
void pe_session_abandon(struct pe_session_group *group);
int pe_session_refuse_set(struct pe_session *s, u16 number, unsigned int nr);
int pe_session_commit(struct pe_session *s, struct pe_session_group *group, u16 number);
struct pe_event *pe_session_named(struct pe_session *s, u16 set, u16 member);
void pe_session_end(struct pe_session *s);
void pe_session_lock_families(struct pe_event *leader);
void pe_session_unlock_families(struct pe_event *leader);
int pe_session_share_buffer(struct pe_session *s, struct pe_event *target);
int pe_session_making(struct pe_session *s, unsigned int nr);
void pe_session_made(struct pe_session *s, unsigned int nr);
int pe_session_charge(struct pe_session *s, unsigned int targets, unsigned int members);
void pe_session_recount(struct pe_session *s);
bool pe_session_has(struct pe_session *s, const struct pe_target *t);
int pe_session_copy(struct pe_session *s, const struct pe_target *t, struct pe_event **copies);
int pe_session_place(struct pe_session *s, const struct pe_target *t, struct pe_event **copies);
void pe_session_start(struct pe_session *s, struct pe_event **copies, unsigned int nr,
		      const struct pe_target *t);
void pe_session_drop(struct pe_event **copies, unsigned int nr);
bool pe_session_detach(struct pe_session *s, const struct pe_target *t);
/* session_cpu.c */
void pe_session_settle(struct pe_session *s);
int pe_session_attach_cpus(struct pe_session *s, struct pe_target *t, bool returns);
bool pe_session_forget(struct pe_session *s, const struct pe_target *t);
void pe_session_cpu_comes(unsigned int cpu);
void pe_session_cpu_goes(struct pe_ctx *ctx);
#else
static inline void pe_session_end(struct pe_session *s) { }
static inline int pe_session_share_buffer(struct pe_session *s, struct pe_event *target)
{
	return 0;
}

static inline void pe_session_lock_families(struct pe_event *leader) { }
static inline void pe_session_unlock_families(struct pe_event *leader) { }
static inline void pe_session_cpu_comes(unsigned int cpu) { }
static inline void pe_session_cpu_goes(struct pe_ctx *ctx) { }
#endif

/* pmu_register.c */
void pe_pmu_free(struct pmu *pmu);
void pe_pmu_revoke(struct pe_event *e);

/* pmu_sysfs.c */
int pe_pmu_dev_alloc(struct pmu *pmu);
void pe_pmu_dev_free(struct pmu *pmu);

/* cgroup_css.c */
#ifdef CONFIG_CGROUP_PERF
struct perf_cgroup *pe_cgroup_find(int fd);
struct perf_cgroup *pe_cgroup_get(struct perf_cgroup *cgrp);
void pe_cgroup_put(struct perf_cgroup *cgrp);
int pe_cgroup_connect(struct pe_event *e, struct perf_cgroup *cgrp);
u64 pe_cgroup_id(const struct perf_cgroup *cgrp);
bool pe_cgroup_is_online(const struct perf_cgroup *cgrp);
#else
static inline struct perf_cgroup *pe_cgroup_find(int fd)
{
	return ERR_PTR(-EINVAL);
}

static inline struct perf_cgroup *pe_cgroup_get(struct perf_cgroup *cgrp)
{
	return cgrp;
}

static inline int pe_cgroup_connect(struct pe_event *e, struct perf_cgroup *cgrp)
{
	return -EINVAL;
}

static inline u64 pe_cgroup_id(const struct perf_cgroup *cgrp)
{
	return 0;
}

static inline bool pe_cgroup_is_online(const struct perf_cgroup *cgrp)
{
	return false;
}

static inline void pe_cgroup_put(struct perf_cgroup *cgrp) { }
#endif

/* hotplug.c */
void pe_hotplug_init(void);

#endif /* _KERNEL_EVENTS_LIFE_H */
