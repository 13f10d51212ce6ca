// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: their members.
 *
 * Members are opened events in the session's context, which is in on no CPU for ever.  They come
 * by groups, each of which is a *set*: that of CREATE has number 0, CREATE with ADD brings others
 * while there are no targets.  A group is made without any lock of the session, so that user memory
 * may be slow, and becomes a set in one step:
 *
 *	pe_session_make()	an event
 *	pe_session_add()	is attached to the context, in its group: ctx->mutex
 *	pe_session_commit()	the group is a set: s->mutex, ctx->mutex
 *
 * Until then it is known to its maker only, and to its PMU, which may leave.  Members and sets
 * never go before the session does.
 *
 *	s->member[], nr		written with s->mutex and ctx->mutex, read with either; by mmap(),
 *	s->set[], nr_sets	which has neither, up to nr (acquire)
 *
 * No new task brings a smaller group than the session has by then: there are no targets when a set
 * comes, and session_gen moves, so what a fork has copied before is dropped when it wants to join.
 *
 * Task context.
 */
#include <linux/cred.h>
#include <linux/sched/task.h>

#include "life.h"
#include "session.h"

DEFINE_SPINLOCK(pe_sessions_lock);
LIST_HEAD(pe_sessions);

static void drop_ctx(struct pe_ctx *ctx)
{
	put_task_struct(ctx->task);
	pe_ctx_put(ctx);
}

/**
 * pe_session_new() - a session without members
 * @of_cpus: its targets are CPUs
 *
 * Return: the session, for pe_session_end(), or NULL.
 */
struct pe_session *pe_session_new(bool of_cpus)
{
	struct pe_session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->ctx = pe_ctx_new(&init_task);
	if (!s->ctx) {
		kfree(s);
		return NULL;
	}
	mutex_init(&s->mutex);
	s->of_cpus = of_cpus;
	s->uid = current_uid();
	INIT_LIST_HEAD(&s->return_to);
	pe_session_cpu_init(s);
	guard(spinlock)(&pe_sessions_lock);
	list_add_tail(&s->entry, &pe_sessions);
	return s;
}

/* Events that act on one task or one CPU, or whose buffer is for one writer. */
static int refuse_attr(const struct perf_event_attr *attr)
{
	if (attr->inherit || attr->inherit_stat || attr->inherit_thread)
		return pe_err(-EINVAL, "attr.inherit: in sessions ATTACH says so");
	if (attr->type == PERF_TYPE_BREAKPOINT || attr->type == PERF_TYPE_TRACEPOINT)
		return pe_err(-EOPNOTSUPP, "attr.type: no tracepoints or breakpoints in sessions");
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT)
		return pe_err(-EOPNOTSUPP, "attr.config: no output of programs in sessions");
	if (attr->sigtrap || attr->remove_on_exec)
		return pe_err(-EOPNOTSUPP, "attr.sigtrap, remove_on_exec: not in sessions");
	return 0;
}

/* @first: any member, if there is one; @leader: of its group, or NULL */
static int refuse_event(struct pe_event *e, struct pe_event *first, struct pe_event *leader)
{
	if (pe_trace_call(e) || has_aux(&e->pub) || pe_needs_tracer(e) || e->addr_filter_ranges ||
	    is_exclusive_pmu(e->pmu))
		return pe_err(-EOPNOTSUPP, "attr: no tracers or probes in sessions");
	/* What moves from CPU to CPU misses commands on its way, see perf_pmu_migrate_context(). */
	if (e->pmu->task_ctx_nr == perf_invalid_context || e->pmu->scope != PERF_PMU_SCOPE_NONE)
		return pe_err(-EOPNOTSUPP, "attr.type: no PMUs of packages in sessions");
	/* All write to one buffer. */
	if (first && (e->clock != first->clock ||
		      e->attr.write_backward != first->attr.write_backward))
		return pe_err(-EINVAL, "attr.clockid, write_backward: not as in the leader");
	if (!leader)
		return 0;
	if (e->attr.exclusive || e->attr.pinned)
		return pe_err(-EINVAL, "attr.exclusive, pinned: for the leader of a group only");
	if (!is_software_event(&e->pub) && pe_pmu_ctx(leader)->pmu != e->pmu &&
	    pe_pmu_ctx(leader)->pmu->task_ctx_nr != perf_sw_context)
		return pe_err(-EINVAL, "attr.type: a group of several PMUs");
	return 0;
}

/* A PMU may be there on some CPUs only. */
static struct pe_event *make_on_some_cpu(struct pe_origin_args *args)
{
	struct pe_event *e, *first = NULL;
	int cpu;

	for_each_online_cpu(cpu) {
		args->cpu = cpu;
		e = pe_alloc(args);
		if (!IS_ERR(e)) {
			e->cpu = -1;
			return e;
		}
		first = first ?: e;
	}
	return first;
}

/**
 * pe_session_make() - make an event that is to be a member
 * @s: the session
 * @group: what it is the next member of
 * @attr: its attr, permitted; changed
 * @own_tasks: see struct pe_event
 *
 * In a pe_pmus_read_lock() section, which the caller leaves after pe_session_add().
 * Return: the event, for pe_session_add() or pe_put(); or an error.
 */
struct pe_event *pe_session_make(struct pe_session *s, struct pe_session_group *group,
				 struct perf_event_attr *attr, bool own_tasks)
{
	struct pe_origin_args args = {
		.attr		= attr,
		.task		= s->of_cpus ? NULL : &init_task,
		.cpu		= -1,
		.leader		= group->nr ? group->member[0] : NULL,
		.own_tasks	= own_tasks,
	};
	int err = refuse_attr(attr);

	if (err)
		return ERR_PTR(err);
	attr->inherit = 1;	/* it may have copies */
	return s->of_cpus ? make_on_some_cpu(&args) : pe_alloc(&args);
}

/**
 * pe_session_add() - a new event is attached to the context of a session
 * @s: the session
 * @group: what it becomes a member of; there is room
 * @e: from pe_session_make(); its reference is consumed if all is well
 *
 * Return: 0 or an error.
 */
int pe_session_add(struct pe_session *s, struct pe_session_group *group, struct pe_event *e)
{
	struct pe_event *leader = group->nr ? group->member[0] : NULL;
	struct pe_ctx *ctx = s->ctx;
	int err;

	guard(mutex)(&ctx->mutex);
	err = refuse_event(e, s->nr ? s->member[0] : leader, leader) ?: pe_prepare_ctx(e, ctx);
	if (err)
		return err;
	e->of_session = true;
	e->session = s;
	pe_ctx_get(ctx);
	/* What pe_attach() does; there is no task to be told. */
	e->slot = pe_ctx_slot(ctx, e);
	smp_store_release(&e->ctx, &ctx->pub);	/* as there */
	scoped_guard(raw_spinlock_irq, &ctx->lock)
		pe_install(e, pe_now());
	group->member[group->nr++] = e;
	return 0;
}

/**
 * pe_session_abandon() - a group does not become a set
 * @group: the group; its members end
 */
void pe_session_abandon(struct pe_session_group *group)
{
	while (group->nr)
		pe_release(group->member[--group->nr]);
}

/* Those that CPUs become when they come are targets, too. */
static bool has_targets(struct pe_session *s)
{
	guard(mutex)(&s->member[0]->family_lock);
	return !list_empty(&s->member[0]->children) || !list_empty(&s->return_to);
}

/**
 * pe_session_refuse_set() - can a session get a further set?
 * @s: the session, mutex held
 * @number: of the set
 * @nr: members
 *
 * Return: 0, or why not.
 */
int pe_session_refuse_set(struct pe_session *s, u16 number, unsigned int nr)
{
	unsigned int i;

	lockdep_assert_held(&s->mutex);
	if (has_targets(s))
		return pe_err(-EBUSY, "CREATE: ADD: the session has targets");
	for (i = 0; i < s->nr_sets; i++)
		if (s->set[i].number == number)
			return pe_err(-EEXIST, "CREATE: ADD: another set has this number");
	if (s->nr_sets == PE_MOST_SETS)
		return pe_err(-ENOSPC, "CREATE: ADD: as many sets as there can be");
	if (s->nr + nr > PE_MOST_MEMBERS)
		return pe_err(-E2BIG, "CREATE: ADD: more events than most_members of INFO");
	if (s->member[0]->attr.pinned)
		return pe_err(-EINVAL, "CREATE: ADD: what is pinned takes no turns");
	return 0;
}

/* What targets get from now on has all sets. */
static int prepare_sets(struct pe_session *s, const struct pe_session_group *group)
{
	struct pe_event *leader = s->member[0];
	int err = pe_ext_need(leader) ?: pe_ext_need(group->member[0]);

	if (err)
		return err;
	/* A new task may have become a target since anybody has looked. */
	guard(mutex)(&leader->family_lock);
	if (!list_empty(&leader->children))
		return pe_err(-EBUSY, "CREATE: ADD: the session has targets");
	leader->session_gen++;
	return 0;
}

static int more_resume(struct pe_session *s, unsigned int nr)
{
	struct pe_resume *resume;

	resume = krealloc_array(s->resume, s->nr + nr, sizeof(*resume), GFP_KERNEL);
	if (!resume)
		return -ENOMEM;
	memset(resume + s->nr, 0, nr * sizeof(*resume));
	s->resume = resume;
	return 0;
}

static void insert_set(struct pe_session *s, u16 number, unsigned int first, unsigned int nr)
{
	unsigned int i = s->nr_sets;

	for (; i && s->set[i - 1].number > number; i--)
		s->set[i] = s->set[i - 1];
	s->set[i] = (struct pe_session_set){ .number = number, .first = first, .nr = nr };
	WRITE_ONCE(s->nr_sets, s->nr_sets + 1);
}

/*
 * An mmap() of the leader that comes now either sees the new members, or has stored its buffer
 * before: both under mmap_mutex.
 */
static void join_buffer(struct pe_session *s, unsigned int first)
{
	struct pe_event *leader = s->member[0];
	unsigned int i;
	bool any;

	scoped_guard(mutex, &leader->mmap_mutex)
		any = rcu_access_pointer(leader->rb);
	for (i = max(first, 1U); any && i < s->nr; i++)
		pe_set_output(s->member[i], leader);
}

/**
 * pe_session_commit() - a group becomes a set
 * @s: the session, mutex held; pe_session_refuse_set() has nothing against it
 * @group: the group, which is consumed if all is well
 * @number: of the set
 *
 * Return: 0 or an error.
 */
int pe_session_commit(struct pe_session *s, struct pe_session_group *group, u16 number)
{
	unsigned int first = s->nr, i;
	int err;

	lockdep_assert_held(&s->mutex);
	guard(mutex)(&s->ctx->mutex);
	err = more_resume(s, group->nr);
	if (!err && first)
		err = prepare_sets(s, group);
	if (err)
		return err;
	for (i = 0; i < group->nr; i++)
		s->member[first + i] = group->member[i];
	insert_set(s, number, first, group->nr);
	smp_store_release(&s->nr, first + group->nr);	/* pe_session_share_buffer() */
	group->nr = 0;
	join_buffer(s, first);
	return 0;
}

/**
 * pe_session_named() - a member by its place
 * @s: the session
 * @set: number of its set
 * @member: place in that, the leader being 0
 *
 * Return: the event, which stays as long as the session, or NULL.
 */
struct pe_event *pe_session_named(struct pe_session *s, u16 set, u16 member)
{
	unsigned int i;

	guard(mutex)(&s->ctx->mutex);
	for (i = 0; i < s->nr_sets; i++)
		if (s->set[i].number == set && member < s->set[i].nr)
			return s->member[s->set[i].first + member];
	return NULL;
}

/**
 * pe_session_end() - the last user has closed it, or it was not made
 * @s: the session
 */
void pe_session_end(struct pe_session *s)
{
	scoped_guard(spinlock, &pe_sessions_lock)
		list_del(&s->entry);
	pe_session_cpu_fini(s);
	/* Copies of siblings go before those of their leaders. */
	while (s->nr) {
		struct pe_event *e = s->member[s->nr - 1];

		s->nr--;
		pe_release(e);
	}
	/*
	 * The counters of copies that went with their CPUs are free, too, when close() returns;
	 * but for those that a CPU which goes at this moment has pinned.
	 */
	if (s->of_cpus)
		pe_put_settle();
	drop_ctx(s->ctx);
	kfree(s->resume);
	kfree(s);
}

/**
 * pe_session_lock_families() - nobody joins or leaves, whatever the set
 * @leader: the leader of a session; its ctx->mutex is held
 */
void pe_session_lock_families(struct pe_event *leader)
{
	struct pe_session *s = leader->session;
	unsigned int i;

	/* Nobody else takes more than one of them. */
	for (i = 0; i < s->nr; i++)
		mutex_lock_nest_lock(&s->member[i]->family_lock, &s->ctx->mutex);
}

/**
 * pe_session_unlock_families() - the counterpart
 * @leader: the leader of a session
 */
void pe_session_unlock_families(struct pe_event *leader)
{
	struct pe_session *s = leader->session;
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		mutex_unlock(&s->member[i]->family_lock);
}

/**
 * pe_session_share_buffer() - all members write to one buffer
 * @s: the session
 * @target: whose buffer; NULL: they write nowhere
 *
 * Without any mmap_mutex.  The clocks of all members, and the direction of their records, are the
 * same, so what the leader can do the others can; but where the buffer is being unmapped.
 *
 * Return: 0, or -EINVAL as pe_set_output().
 */
int pe_session_share_buffer(struct pe_session *s, struct pe_event *target)
{
	unsigned int nr = smp_load_acquire(&s->nr), i;	/* pe_session_commit() */
	int err = 0;

	for (i = 0; i < nr; i++) {
		struct pe_event *m = s->member[i];

		/* Another mapping of the same buffer. */
		if (m == target || (target && rcu_access_pointer(m->rb) &&
				    rcu_access_pointer(m->rb) == rcu_access_pointer(target->rb)))
			continue;
		err = pe_set_output(m, target);
		if (err)
			break;		/* the leader, which is the first, cannot if it is mapped */
	}
	return err;
}
