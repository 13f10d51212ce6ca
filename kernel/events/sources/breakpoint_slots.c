// SPDX-License-Identifier: GPL-2.0
/*
 * How many breakpoints tasks and CPUs may have.
 *
 * Each CPU has the same few debug registers, of one or two kinds (for code and for data).  A
 * breakpoint that was opened must never lack a register, so room is set aside for it at open, on
 * each CPU where it may count:
 *
 *	on every CPU c:  breakpoints of c  +  most that one task may have there  <=  slots
 *
 * A task's breakpoints on c are those for any CPU and those for c.  They are added up in the task's
 * tally, which exists while it has any.  A breakpoint of a task looks at its own tally and at what
 * the CPUs have.  A breakpoint of a CPU would have to look at all tallies; instead it is known how
 * many tasks have how many there.
 *
 * Called by breakpoint.c and by kernel debuggers when they prepare, all in task context; by
 * debuggers also (dbg_*) while all other CPUs stand still, from any context.
 *
 * slots_lock covers everything here.  It is a leaf, held for a short time and with irqs on: a
 * debugger that interrupts its holder is told to come again.
 */
#include <linux/cleanup.h>
#include <linux/hashtable.h>
#include <linux/hw_breakpoint.h>

#include "sources.h"

/**
 * struct bp_kind - one kind of debug registers
 * @slots: how many each CPU has
 * @of_cpu: by CPU: breakpoints of that CPU; NULL before init
 * @nr_of_cpus: their sum
 * @tasks: by CPU and n: how many tasks have n there, of which at least one is for that CPU only;
 *	as CPU -1: how many have n for any CPU
 */
struct bp_kind {
	unsigned int		slots;
	u8			*of_cpu;
	unsigned int		nr_of_cpus;
	u32			*tasks;
};

/**
 * struct pe_bp_tally - the breakpoints of one kind that a task has
 * @hash_entry: in tallies, by task
 * @kind: the kind
 * @task: the task; each breakpoint holds a reference
 * @users: all of them
 * @anywhere: those for any CPU
 * @on_cpu: by CPU: those for this one only
 */
struct pe_bp_tally {
	struct hlist_node		hash_entry;
	struct bp_kind			*kind;
	const struct task_struct	*task;
	unsigned int			users;
	u8				anywhere;
	u8				on_cpu[];
};

static DEFINE_RAW_SPINLOCK(slots_lock);
static struct bp_kind kinds[TYPE_MAX];
static DEFINE_HASHTABLE(tallies, 10);
static unsigned int nr_taken;			/* slots_lock; hw_breakpoint_is_used() peeks */

static struct bp_kind *kind_for(u64 bp_type)
{
	return &kinds[bp_type & HW_BREAKPOINT_RW ? TYPE_DATA : TYPE_INST];
}

/**
 * pe_bp_slots() - how many breakpoints of a type there can be
 * @bp_type: HW_BREAKPOINT_*
 */
unsigned int pe_bp_slots(u64 bp_type)
{
	return kind_for(bp_type)->slots;
}

/* ------------------------------------------------------------------- tallies */

static struct pe_bp_tally *find(const struct bp_kind *kind, const struct task_struct *task)
{
	struct pe_bp_tally *tally;

	hash_for_each_possible(tallies, tally, hash_entry, (unsigned long)task) {
		if (tally->task == task && tally->kind == kind)
			return tally;
	}
	return NULL;
}

static u32 *tasks_with(const struct bp_kind *kind, int cpu, unsigned int n)
{
	return &kind->tasks[(cpu + 1) * (kind->slots + 1) + n];
}

/* Count the task in, or out: @by is 1 or -1.  A task that has none does not ask. */
static void count(const struct pe_bp_tally *tally, int cpu, int by)
{
	unsigned int n = tally->anywhere;

	if (cpu >= 0)
		n = tally->on_cpu[cpu] ? n + tally->on_cpu[cpu] : 0;
	if (n)
		*tasks_with(tally->kind, cpu, n) += by;
}

static void count_everywhere(const struct pe_bp_tally *tally, int by)
{
	int cpu;

	count(tally, -1, by);
	if (tally->users == tally->anywhere)
		return;
	for_each_possible_cpu(cpu)
		count(tally, cpu, by);
}

/* One more, or less, on @cpu or everywhere (-1). */
static void change(struct pe_bp_tally *tally, int cpu, int by)
{
	if (cpu < 0) {
		count_everywhere(tally, -1);
		tally->anywhere += by;
		tally->users += by;
		count_everywhere(tally, 1);
	} else {
		count(tally, cpu, -1);
		tally->on_cpu[cpu] += by;
		tally->users += by;
		count(tally, cpu, 1);
	}
}

/* Return: the tally, for the caller to free without lock, if this was its last breakpoint. */
static struct pe_bp_tally *take_from_tally(struct pe_bp_tally *tally, int cpu)
{
	change(tally, cpu, -1);
	if (tally->users)
		return NULL;
	hash_del(&tally->hash_entry);
	return tally;
}

/* ---------------------------------------------------------------------- room */

/* Is there room on @cpu for one more of its own? */
static bool room_for_cpu(const struct bp_kind *kind, int cpu)
{
	unsigned int own = kind->of_cpu[cpu] + 1, n;

	if (own > kind->slots)
		return false;
	for (n = kind->slots - own + 1; n <= kind->slots; n++) {
		if (*tasks_with(kind, -1, n) || *tasks_with(kind, cpu, n))
			return false;
	}
	return true;
}

/* Is there room for one more of a task, on @cpu or everywhere (-1)? */
static bool room_for_task(const struct bp_kind *kind, const struct pe_bp_tally *tally, int cpu)
{
	unsigned int limit = kind->slots - tally->anywhere;

	if (cpu >= 0)
		return kind->of_cpu[cpu] + tally->on_cpu[cpu] < limit;
	if (!kind->nr_of_cpus && tally->users == tally->anywhere)
		return limit;
	for_each_possible_cpu(cpu) {
		if (kind->of_cpu[cpu] + tally->on_cpu[cpu] >= limit)
			return false;
	}
	return true;
}

/*
 * Set a slot of @kind aside for @bp.  @spare is a zeroed tally if it is a task's, and consumed if
 * the task has none.
 */
static int take(struct bp_kind *kind, struct perf_event *bp, struct pe_bp_tally **spare)
{
	struct pe_bp_tally *tally;

	if (!bp->hw.target) {
		if (!room_for_cpu(kind, bp->cpu))
			return -ENOSPC;
		kind->of_cpu[bp->cpu]++;
		kind->nr_of_cpus++;
	} else {
		tally = find(kind, bp->hw.target) ?: *spare;
		if (!room_for_task(kind, tally, bp->cpu))
			return -ENOSPC;
		if (tally == *spare) {
			*spare = NULL;
			tally->kind = kind;
			tally->task = bp->hw.target;
			hash_add(tallies, &tally->hash_entry, (unsigned long)tally->task);
		}
		change(tally, bp->cpu, 1);
		bp->hw.bp_tally = tally;
	}
	nr_taken++;
	return 0;
}

/* Give back what take() took: @tally is NULL for a breakpoint of a CPU.  Return: memory to free. */
static struct pe_bp_tally *give(struct bp_kind *kind, struct pe_bp_tally *tally, int cpu)
{
	if (!tally && WARN_ON_ONCE(!kind->of_cpu[cpu]))
		return NULL;
	nr_taken--;
	if (tally)
		return take_from_tally(tally, cpu);
	kind->of_cpu[cpu]--;
	kind->nr_of_cpus--;
	return NULL;
}

/* ------------------------------------------------------------- for the others */

static int check_type(u64 bp_type)
{
	if (!kind_for(bp_type)->of_cpu)
		return -ENOMEM;		/* as at boot */
	return bp_type == HW_BREAKPOINT_EMPTY || bp_type == HW_BREAKPOINT_INVALID ? -EINVAL : 0;
}

/*
 * Make room for @bp as one of @bp_type.  If it has a slot already, of kind @old, that is given back
 * once the new one is there; so nothing has changed when there is no room.
 */
static int reserve(struct perf_event *bp, u64 bp_type, struct bp_kind *old)
{
	struct pe_bp_tally *had = bp->hw.bp_tally, *unused = NULL, *spare = NULL;
	int err = check_type(bp_type);

	if (err)
		return err;
	if (bp->hw.target) {
		spare = kzalloc(struct_size(spare, on_cpu, nr_cpu_ids), GFP_KERNEL);
		if (!spare)
			return -ENOMEM;
	}
	scoped_guard(raw_spinlock, &slots_lock) {
		err = take(kind_for(bp_type), bp, &spare);
		if (!err && old)
			unused = give(old, had, bp->cpu);
	}
	kfree(unused);
	kfree(spare);
	return err;
}

/**
 * reserve_bp_slot() - make room for a breakpoint
 * @bp: the event; its target, CPU and attr are set
 *
 * Contract; task context.  Return: 0; -ENOSPC if there is none; -EINVAL for a type that is none;
 * -ENOMEM.
 */
int reserve_bp_slot(struct perf_event *bp)
{
	return reserve(bp, bp->attr.bp_type, NULL);
}

/**
 * pe_bp_slot_retype() - make room for a breakpoint that is to get another type
 * @bp: the event, with a slot by its attr
 * @bp_type: the type, which the caller writes to the attr if this succeeds
 *
 * Sleeps if the types need registers of different kinds.  Return: as reserve_bp_slot().
 */
int pe_bp_slot_retype(struct perf_event *bp, u64 bp_type)
{
	struct bp_kind *old = kind_for(bp->attr.bp_type);

	if (old == kind_for(bp_type))
		return check_type(bp_type);
	return reserve(bp, bp_type, old);
}

/**
 * release_bp_slot() - the breakpoint goes
 * @bp: the event
 *
 * Contract; task context.
 */
void release_bp_slot(struct perf_event *bp)
{
	struct pe_bp_tally *unused = NULL;

	scoped_guard(raw_spinlock, &slots_lock)
		unused = give(kind_for(bp->attr.bp_type), bp->hw.bp_tally, bp->cpu);
	bp->hw.bp_tally = NULL;
	kfree(unused);
}

/**
 * dbg_reserve_bp_slot() - reserve_bp_slot() for a debugger that has stopped all other CPUs
 * @bp: a breakpoint of a CPU
 *
 * Contract.  Return: 0, or a negative number; it does not wait for the code it has interrupted.
 */
int dbg_reserve_bp_slot(struct perf_event *bp)
{
	int err = check_type(bp->attr.bp_type);

	if (err || bp->hw.target || !raw_spin_trylock(&slots_lock))
		return -1;
	err = take(kind_for(bp->attr.bp_type), bp, NULL);
	raw_spin_unlock(&slots_lock);
	return err;
}

/**
 * dbg_release_bp_slot() - release_bp_slot() for a debugger that has stopped all other CPUs
 * @bp: a breakpoint of a CPU
 *
 * Contract.  Return: 0, or -1 if it has interrupted a change of the slots: try again.
 */
int dbg_release_bp_slot(struct perf_event *bp)
{
	if (bp->hw.target || !raw_spin_trylock(&slots_lock))
		return -1;
	give(kind_for(bp->attr.bp_type), NULL, bp->cpu);
	raw_spin_unlock(&slots_lock);
	return 0;
}

/**
 * hw_breakpoint_is_used() - is there any breakpoint?
 *
 * Contract, for tests.
 */
bool hw_breakpoint_is_used(void)
{
	return READ_ONCE(nr_taken);
}

static int __init init_kind(struct bp_kind *kind, unsigned int slots)
{
	kind->tasks = kcalloc(array_size(nr_cpu_ids + 1, slots + 1), sizeof(*kind->tasks),
			      GFP_KERNEL);
	if (!kind->tasks)
		return -ENOMEM;
	kind->of_cpu = kcalloc(nr_cpu_ids, sizeof(*kind->of_cpu), GFP_KERNEL);
	if (!kind->of_cpu) {
		kfree(kind->tasks);
		return -ENOMEM;
	}
	kind->slots = slots;
	return 0;
}

/**
 * pe_bp_slots_init() - ask the architecture how many there are, at boot
 *
 * Return: 0 or -ENOMEM.
 */
int __init pe_bp_slots_init(void)
{
	int type, slots, err = 0;

	for (type = 0; type < TYPE_MAX && !err; type++) {
		slots = hw_breakpoint_slots(type);
		err = init_kind(&kinds[type], min(slots, U8_MAX));
	}
	return err;
}
