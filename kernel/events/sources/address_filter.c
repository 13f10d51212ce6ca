// SPDX-License-Identifier: GPL-2.0
/*
 * Address filters: PERF_EVENT_IOC_SET_FILTER on PMUs that trace code (pmu->nr_addr_filters).
 *
 * The text is a list of definitions, apart by blanks, commas or newlines:
 *
 *	filter|start|stop  ADDRESS[/SIZE][@FILE]
 *
 * With FILE the address is an offset in the file and the definition is for wherever the traced task
 * has it mapped.  The event that a user opened owns the list; the event and each inherited copy has
 * an array of ranges, one for each definition in the order of the list, and a generation that moves
 * with them.  The driver takes over ranges of a new generation when it starts the event, through
 * perf_event_addr_filters_sync().  So a change of ranges restarts an event that is counting.
 *
 * Ranges change when
 *
 *	the list is replaced		set_addr_filters() of ioctl.c, for event and copies
 *	a copy has joined the family	join_family() of inherit.c, from fork
 *	current maps a file		pe_addr_filters_mmap()
 *	current has a new program	pe_addr_filters_exec()
 *
 * All in task context.  addr_filters.lock of the owner (raw, irqs off, a leaf) guards ranges and
 * generations of all copies; the list changes under it and the owner's filter mutex, and is read
 * under either.  The filter mutex is all that is held when an mmap_lock is taken, as the traced
 * task may keep that for as long as it likes: a reader or controller of the event does not wait.
 *
 * A mapping cannot be missed: pe_addr_filters_apply() reads the mappings under mmap_lock after the
 * new list is published, and the hook looks at the list under mmap_lock (write) after the mapping
 * is made.
 *
 * The files of a list are referenced by it and go with it, in task context.  Ranges are freed after
 * a grace period, since the hooks walk the events of current under RCU.
 */
#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/namei.h>
#include <linux/sched/mm.h>
#include "sources.h"

/**
 * struct filter_ranges - what events of a PMU with address filters have besides
 * @mutex: the filter mutex, in use with the owner only: one change of the list at a time
 * @range: e->addr_filter_ranges
 */
struct filter_ranges {
	struct mutex			mutex;		/* see above */
	struct perf_addr_filter_range	range[];
};

atomic_t pe_file_filter_users;

/* ------------------------------------------------------------------- parsing */

static const char * const actions[] = {
	[PERF_ADDR_FILTER_ACTION_STOP]		= "stop",
	[PERF_ADDR_FILTER_ACTION_START]		= "start",
	[PERF_ADDR_FILTER_ACTION_FILTER]	= "filter",
};

static char *next_word(char **text)
{
	char *word;

	do {
		word = strsep(text, " ,\n");
	} while (word && !*word);
	return word;
}

/* The number at *@s, which is moved to one of @ends behind it. Return: 0, -EINVAL, -ERANGE. */
static int take_number(char **s, const char *ends, unsigned long *value)
{
	char *start = *s, *stop = start + strcspn(start, ends), kept = *stop;
	int err;

	if (!isdigit(*start))
		return -EINVAL;		/* no sign, no blank */
	*stop = 0;
	err = kstrtoul(start, 0, value);
	*stop = kept;
	*s = stop;
	return err;
}

static int parse_place(char *word, struct pe_filter_def *def)
{
	int late = 0, err;

	err = take_number(&word, "/@", &def->offset);
	if (err == -EINVAL)
		return err;
	if (*word == '/') {
		word++;
		late = take_number(&word, "@", &def->size);
		if (late == -EINVAL)
			return late;
	}
	if (*word == '@') {
		if (!*++word)
			return -EINVAL;
		def->file = word;
	}
	return err ?: late;
}

/**
 * pe_filter_parse() - take the next definition from a text
 * @text: where the rest of it begins; is changed, and moved behind the definition
 * @def: filled in; the name of the file lies in the text
 *
 * Pure.  Return: 1; 0 at the end of the text; -EINVAL; -ERANGE for a number that is too large.
 */
int pe_filter_parse(char **text, struct pe_filter_def *def)
{
	char *word = next_word(text);
	int action, err;

	if (!word)
		return 0;
	*def = (struct pe_filter_def){};
	action = match_string(actions, ARRAY_SIZE(actions), word);
	if (action < 0)
		return -EINVAL;
	def->action = action;

	word = next_word(text);
	if (!word)
		return -EINVAL;
	err = parse_place(word, def);
	if (err)
		return err;
	/* A single address can start or stop; a region needs a length. */
	return def->action == PERF_ADDR_FILTER_ACTION_FILTER && !def->size ? -EINVAL : 1;
}

/**
 * pe_filter_range() - the part of a file's range that a mapping shows
 * @filter: a definition with a file, which is the one that is mapped
 * @map: the mapping: start, bytes, and offset in the file
 * @range: filled in
 *
 * Pure.  Return: the mapping touches the range.
 */
bool pe_filter_range(const struct perf_addr_filter *filter, const struct pe_filter_map *map,
		     struct perf_addr_filter_range *range)
{
	unsigned long skip;

	if (filter->offset > map->offset + map->size ||
	    filter->offset + filter->size < map->offset)
		return false;
	if (filter->offset < map->offset) {
		skip = map->offset - filter->offset;
		range->start = map->start;
		range->size = min(map->size, filter->size - skip);
	} else {
		skip = filter->offset - map->offset;
		range->start = map->start + skip;
		range->size = min(map->size - skip, filter->size);
	}
	return true;
}

/* ------------------------------------------------------------------ new lists */

/* Free the definitions of a draft, also of one that could not be made. */
void pe_addr_filters_free(struct pe_filter_draft *draft)
{
	struct perf_addr_filter *f, *next;

	list_for_each_entry_safe(f, next, &draft->list, entry) {
		path_put(&f->path);
		kfree(f);
	}
}

static int find_file(struct pe_event *e, const char *name, struct path *path)
{
	int err;

	/* The tasks of a CPU have the file mapped at different places. */
	if (!pe_ctx(e)->task)
		return -EOPNOTSUPP;
	err = kern_path(name, LOOKUP_FOLLOW, path);
	if (err)
		return err;
	return d_is_reg(path->dentry) ? 0 : -EINVAL;
}

/* A user who may not see the kernel must not learn from a trace where it is. */
static int permit_address(struct pe_event *e, const struct pe_filter_def *def)
{
	bool kernel = def->offset >= TASK_SIZE_MAX || def->size > TASK_SIZE_MAX - def->offset;

	return kernel && e->attr.exclude_kernel ? perf_allow_kernel() : 0;
}

static int add_to_draft(struct pe_filter_draft *draft, struct pe_event *e,
			const struct pe_filter_def *def)
{
	struct perf_addr_filter *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	f->action = def->action;
	f->offset = def->offset;
	f->size = def->size;
	/* Whatever happens below, the list has it. */
	list_add_tail(&f->entry, &draft->list);
	draft->nr++;
	if (!def->file)
		return permit_address(e, def);
	draft->nr_files++;
	return find_file(e, def->file, &f->path);
}

/**
 * pe_addr_filters_make() - read a list of definitions
 * @draft: filled in; in any case for pe_addr_filters_free() afterwards
 * @e: an event that a user opened
 * @text: the definitions, which are changed; an empty one is an empty list
 *
 * Task context, sleeps, for as long as a file system likes: no lock is held.
 * Return: 0; -EINVAL, -ERANGE for the text; -EOPNOTSUPP for files with an event of a CPU; -EACCES
 * for kernel addresses; -ENOMEM; errors of the path lookup.
 */
int pe_addr_filters_make(struct pe_filter_draft *draft, struct pe_event *e, char *text)
{
	struct pe_filter_def def;
	int ret;

	*draft = (struct pe_filter_draft){ .list = LIST_HEAD_INIT(draft->list) };
	while ((ret = pe_filter_parse(&text, &def)) > 0) {
		ret = add_to_draft(draft, e, &def);
		if (ret)
			return ret;
	}
	return ret;
}

/**
 * pe_addr_filters_check() - can the event have these filters?
 * @e: the event, of a PMU with filters; its PMU stays
 * @draft: of pe_addr_filters_make()
 *
 * Return: 0; -EOPNOTSUPP for more filters than there are; errors of the driver.
 */
int pe_addr_filters_check(struct pe_event *e, struct pe_filter_draft *draft)
{
	int err = e->pmu->addr_filters_validate(&draft->list);

	if (err)
		return err;
	/* The driver knows better, but the array of ranges must do in any case. */
	return draft->nr > e->pmu->nr_addr_filters ? -EOPNOTSUPP : 0;
}

/**
 * pe_addr_filters_exchange() - give an event another list
 * @e: the event that a user opened; the filter mutex held, or nobody else uses the event
 * @draft: what it gets; afterwards what it had
 */
void pe_addr_filters_exchange(struct pe_event *e, struct pe_filter_draft *draft)
{
	struct perf_addr_filters_head *head = &e->addr_filters;
	unsigned int before;
	LIST_HEAD(old);

	scoped_guard(raw_spinlock_irqsave, &head->lock) {
		list_splice_init(&head->list, &old);
		list_splice_init(&draft->list, &head->list);
		before = head->nr_file_filters;
		head->nr_file_filters = draft->nr_files;
	}
	list_splice(&old, &draft->list);
	if (draft->nr_files && !before)
		atomic_inc(&pe_file_filter_users);
	if (before && !draft->nr_files)
		atomic_dec(&pe_file_filter_users);
}

/* -------------------------------------------------------------- ranges in force */

static struct pe_event *owner_of(struct pe_event *e)
{
	return pe_origin(e);
}

/* Of an event with ranges. */
static struct filter_ranges *ranges_of(struct pe_event *e)
{
	return container_of(e->addr_filter_ranges, struct filter_ranges, range[0]);
}

/* The filter mutex of the owner of @e, an event with ranges. */
struct mutex *pe_addr_filters_mutex(struct pe_event *e)
{
	return &ranges_of(owner_of(e))->mutex;
}

/* The driver looks at the new ranges when it starts the event. */
static void pe_filter_restart(struct pe_ctx *ctx, void *arg)
{
	struct pe_event *e = arg;

	if (e->state != PERF_EVENT_STATE_ACTIVE || pe_is_throttled(e))
		return;
	e->pmu->stop(&e->pub, PERF_EF_UPDATE);
	e->pmu->start(&e->pub, 0);
}

static bool maps_file(const struct perf_addr_filter *f, const struct vm_area_struct *vma)
{
	return f->path.dentry && d_inode(f->path.dentry) == file_user_inode(vma->vm_file);
}

static bool place(const struct perf_addr_filter *f, const struct vm_area_struct *vma,
		  struct perf_addr_filter_range *range)
{
	struct pe_filter_map map = {
		.start	= vma->vm_start,
		.size	= vma->vm_end - vma->vm_start,
		.offset	= vma->vm_pgoff << PAGE_SHIFT,
	};

	return vma->vm_file && maps_file(f, vma) && pe_filter_range(f, &map, range);
}

/* The first mapping of the file that shows something of the range, or nothing. */
static struct perf_addr_filter_range find_mapped(const struct perf_addr_filter *f,
						 struct mm_struct *mm)
{
	struct perf_addr_filter_range range = {};
	struct vm_area_struct *vma;
	struct vma_iterator vmi;

	vma_iter_init(&vmi, mm, 0);
	for_each_vma(vmi, vma)
		if (place(f, vma, &range))
			break;
	return range;
}

/*
 * @mm: its mmap_lock is held; NULL if no definition needs it, or the task has none.
 *
 * Exec changes the task's mm and then forgets all mappings, under the lock.  If it does that after
 * the last step here, what is stored here goes with it; if before, the new mm is seen.
 *
 * Return: the task has still this mm.
 */
static bool compute_ranges(struct pe_event *e, struct mm_struct *mm)
{
	struct perf_addr_filters_head *head = &owner_of(e)->addr_filters;
	struct perf_addr_filter_range range;
	struct perf_addr_filter *f;
	unsigned int i = 0;

	list_for_each_entry(f, &head->list, entry) {
		range = (struct perf_addr_filter_range){};
		if (!f->path.dentry)
			range = (struct perf_addr_filter_range){ f->offset, f->size };
		else if (mm)
			range = find_mapped(f, mm);
		scoped_guard(raw_spinlock_irqsave, &head->lock)
			e->addr_filter_ranges[i++] = range;
	}
	guard(raw_spinlock_irqsave)(&head->lock);
	e->addr_filters_gen++;
	return !mm || READ_ONCE(e->hw.target->mm) == mm;
}

/**
 * pe_addr_filters_apply() - compute all ranges of an event from its list
 * @e: the event or an inherited copy, referenced; the filter mutex held
 *
 * It goes to no other task meanwhile: see unlike().  If it goes to another CPU it is started there,
 * with the ranges.  Task context, sleeps, for as long as the task's mmap_lock is taken.
 */
void pe_addr_filters_apply(struct pe_event *e)
{
	struct mm_struct *mm = NULL;
	bool valid;

	lockdep_assert_held(pe_addr_filters_mutex(e));
	do {
		/* Threads of the kernel, and tasks that exit, have none. */
		if (owner_of(e)->addr_filters.nr_file_filters)
			mm = get_task_mm(e->hw.target);
		if (mm)
			mmap_read_lock(mm);
		valid = compute_ranges(e, mm);
		if (mm) {
			mmap_read_unlock(mm);
			mmput(mm);
		}
	} while (!valid);
	pe_event_call(e, pe_filter_restart, e);
}

/**
 * pe_addr_filters_init() - an event of a PMU with address filters is made
 * @e: the event; nobody knows it yet
 *
 * Return: 0 or -ENOMEM.
 */
int pe_addr_filters_init(struct pe_event *e)
{
	unsigned int nr = e->pmu->nr_addr_filters;
	struct filter_ranges *ranges = kzalloc(struct_size(ranges, range, nr), GFP_KERNEL);

	if (!ranges)
		return -ENOMEM;
	mutex_init(&ranges->mutex);
	e->addr_filter_ranges = ranges->range;
	e->addr_filters_gen = 1;
	return 0;
}

/* The memory of an event goes: nobody has seen it for a grace period. */
void pe_addr_filters_fini(struct pe_event *e)
{
	if (e->addr_filter_ranges)
		kfree(ranges_of(e));
}

/**
 * pe_addr_filters_drop() - an event goes, and its filters with it
 * @e: an event that nobody uses any more; hooks that walk under RCU may see it
 *
 * Task context.  The ranges are to be freed after a grace period.
 */
void pe_addr_filters_drop(struct pe_event *e)
{
	struct pe_filter_draft none = { .list = LIST_HEAD_INIT(none.list) };

	if (!e->addr_filter_ranges)
		return;
	pe_addr_filters_exchange(e, &none);
	pe_addr_filters_free(&none);
}

/* ----------------------------------------------------------------------- hooks */

/* Moves the range of each definition that @vma maps. Return: how many. */
static unsigned int pe_filter_follow_mapping(struct pe_event *e, const struct vm_area_struct *vma)
{
	struct perf_addr_filters_head *head = &owner_of(e)->addr_filters;
	struct perf_addr_filter_range *range = e->addr_filter_ranges;
	struct perf_addr_filter *f;
	unsigned int moved = 0;

	guard(raw_spinlock_irqsave)(&head->lock);
	list_for_each_entry(f, &head->list, entry) {
		moved += place(f, vma, range);
		range++;
	}
	if (moved)
		e->addr_filters_gen++;
	return moved;
}

/* The new program has none of the files mapped yet. Return: how many there are. */
static unsigned int pe_filter_forget_mappings(struct pe_event *e,
					      const struct vm_area_struct *unused)
{
	struct perf_addr_filters_head *head = &owner_of(e)->addr_filters;
	struct perf_addr_filter_range *range = e->addr_filter_ranges;
	struct perf_addr_filter *f;
	unsigned int moved = 0;

	guard(raw_spinlock_irqsave)(&head->lock);
	list_for_each_entry(f, &head->list, entry) {
		if (f->path.dentry) {
			*range = (struct perf_addr_filter_range){};
			moved++;
		}
		range++;
	}
	if (moved)
		e->addr_filters_gen++;
	return moved;
}

static void for_current(unsigned int (*change)(struct pe_event *e,
					       const struct vm_area_struct *vma),
			const struct vm_area_struct *vma)
{
	struct pe_ctx *ctx;
	struct pe_event *e;

	guard(rcu)();
	guard(preempt)();	/* the context stays current's, so nobody frees its events */
	ctx = pe_task_ctx(current);
	if (!ctx)
		return;
	list_for_each_entry_rcu(e, &ctx->events, ctx_entry) {
		/* Current runs here, so its context is in here or nowhere. */
		if (e->addr_filter_ranges && change(e, vma))
			pe_call_locked_local(ctx, pe_filter_restart, e);
	}
}

/**
 * pe_addr_filters_mmap() - current has a new executable mapping
 * @vma: the mapping; mmap_lock held for writing
 */
void pe_addr_filters_mmap(const struct vm_area_struct *vma)
{
	if (vma->vm_file && vma->vm_flags & VM_EXEC)
		for_current(pe_filter_follow_mapping, vma);
}

/* Current has a new program, of which nothing is mapped yet. */
void pe_addr_filters_exec(void)
{
	if (pe_addr_filters_used())
		for_current(pe_filter_forget_mappings, NULL);
}

/**
 * perf_event_addr_filters_sync() - hand new ranges to the driver
 * @event: an event of a PMU with address filters
 *
 * Contract, from the driver's start(): the event's CPU, irqs off, not in NMI.
 */
void perf_event_addr_filters_sync(struct perf_event *event)
{
	struct pe_event *e = pe(event);

	if (!e->addr_filter_ranges)
		return;
	guard(raw_spinlock_irqsave)(&owner_of(e)->addr_filters.lock);
	if (event->hw.addr_filters_gen == event->addr_filters_gen)
		return;
	event->pmu->addr_filters_sync(event);
	event->hw.addr_filters_gen = event->addr_filters_gen;
}
EXPORT_SYMBOL_GPL(perf_event_addr_filters_sync);
