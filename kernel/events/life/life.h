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
	struct pevent			*leader;	/* NULL: its own */
	struct pevent			*parent;	/* NULL: opened, not inherited */
	const int			*cgroup_fd;	/* NULL: not of a cgroup */
	perf_overflow_handler_t		handler;
	void				*handler_context;
};

struct pevent *pe_alloc(const struct pe_origin_args *args);
void pe_get(struct pevent *e);
bool pe_tryget(struct pevent *e);
void pe_put(struct pevent *e);
void pe_snapshot_put(struct pevent **events, unsigned int nr);	/* of pe_ctx_snapshot() */
void pe_event_caches_init(void);
extern struct kmem_cache *pe_event_cache;
u64 pe_new_id(void);
void pe_put_memory(struct pevent *e);

/* account.c: who needs which static key and counter */
void pe_account(struct pevent *e);
void pe_unaccount(struct pevent *e);

/* bind.c: event <-> buffer */
void pe_bind_buffer(struct pevent *e, struct perf_buffer *rb);	/* e->mmap_mutex held */
bool pe_aux_stop(struct perf_buffer *rb, const struct pevent *sink);
int pe_set_output(struct pevent *e, struct pevent *target);	/* target may be NULL */

/* e->rb for those who keep it from changing: holders of e->mmap_mutex, mappings made through @e */
static inline struct perf_buffer *pe_bound_buffer(struct pevent *e)
{
	return rcu_dereference_protected(e->rb, lockdep_is_held(&e->mmap_mutex) ||
						atomic_read(&e->mmap_count));
}

/* install.c */
struct pctx *pe_lock_ctx(struct pevent *e);		/* e->ctx, its mutex */
struct pctx *pe_find_ctx(struct task_struct *task, int cpu);	/* referenced, its mutex; ERR_PTR */
void pe_attach(struct pctx *ctx, struct pevent *e);	/* publishes e, which gets the reference */
void pe_detach(struct pevent *e, enum perf_event_state final);
void pe_retire(struct pevent *e);
void pe_leave_owner(struct pevent *e);
void pe_activate_ctx(struct pctx *ctx);
void pe_release(struct pevent *e);			/* last user closed it */

DEFINE_GUARD(pe_event_ctx, struct pevent *, pe_lock_ctx(_T), mutex_unlock(&pe_ctx(_T)->mutex))

/* plain.c */

/**
 * struct pe_plain_stock - what copies of one fork, or of one exit, share
 * @part: the PMU's part of the new context, once there is one
 * @wanted: how many more there may be
 * @nr: length of @event
 * @event: memory of no event
 */
struct pe_plain_stock {
	struct pe_part	*part;
	unsigned int	wanted;
	unsigned int	nr;
	struct pevent	*event[32];
};

bool pe_plain_can(struct pevent *from);
struct pevent *pe_plain_copy(struct pevent *from, enum perf_event_state state, struct pctx *ctx,
			     struct pe_plain_stock *stock);
void pe_plain_restore(struct pe_plain_stock *stock);
bool pe_plain_leave(struct pevent *e, struct pctx *ctx);
void pe_plain_put(struct pevent *e, struct pe_plain_stock *stock);

/* family (inherit.c) */
void pe_family_each(struct pevent *e, void (*fn)(struct pevent *e, void *arg), void *arg);
struct pevent **pe_family_snapshot(struct pevent *e, unsigned int *nr);
void pe_child_leave(struct pevent *child, enum perf_event_state final);

/* pmu_register.c */
void pe_pmu_free(struct pmu *pmu);
void pe_pmu_revoke(struct pevent *e);

/* pmu_sysfs.c */
int pe_pmu_dev_alloc(struct pmu *pmu);
void pe_pmu_dev_free(struct pmu *pmu);

/* cgroup_css.c */
#ifdef CONFIG_CGROUP_PERF
int pe_cgroup_connect(struct pevent *e, int fd);
void pe_cgroup_put(struct perf_cgroup *cgrp);
#else
static inline int pe_cgroup_connect(struct pevent *e, int fd)
{
	return -EINVAL;
}

static inline void pe_cgroup_put(struct perf_cgroup *cgrp) { }
#endif

/* hotplug.c */
void pe_hotplug_init(void);

#endif /* _KERNEL_EVENTS_LIFE_H */
