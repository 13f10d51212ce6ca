// SPDX-License-Identifier: GPL-2.0
/*
 * Software events: page faults, context switches, migrations ... - whatever code says happened.
 *
 * Owns the PMU "software", the static keys behind the inline hooks of <linux/perf_event.h>, the
 * recursion marks of tasks, and the counting of hits for all sources that have no counter: this
 * PMU, tracepoints and probes (tracepoint.c), breakpoints (breakpoint.c).
 *
 * A hit is for some slots: this CPU's, those of the cgroups that the CPU is in (cgroup.c),
 * current's, and current's for this CPU.  It is added to slot->sw[].nr, by its mode, which is all
 * for the events that only count, how many there may be (time.h).  Those that sample are on a list
 * of the slot from installation to removal (context.c), whatever runs meanwhile, and the state
 * tells whether they count.  So nothing here is done at a context switch.
 *
 * Context of hits: preemption off, interrupts mostly on, any level but mostly not NMI; RCU keeps
 * the events.  Counting needs no more: a count that comes too late goes to memory that still is an
 * event.  Making a sample needs interrupts off, so that the tick and the irq_works of this CPU stay
 * away from period and state.  It does not keep another CPU from disabling or removing a passive
 * event (pe_event_call()); then the last sample may be written after that CPU's call returned, to a
 * buffer that RCU keeps, and what it queues is waited for in pe_pending_idle().
 *
 * Periods.  hw.period_left runs from -period up to 0.  It is moved with local atomics, because hits
 * of one event nest; it is stored where a period is given up, and hits with it (frequency.c).
 */
#include <linux/nospec.h>

#include "hit.h"
#include "../ext.h"

struct static_key perf_swevent_enabled[PERF_COUNT_SW_MAX];

/* Registers for those hooks that have none; see perf_fetch_caller_regs(). */
DEFINE_PER_CPU(struct pt_regs, __perf_regs[4]);

/**
 * perf_swevent_get_recursion_context() - mark that current is inside a hit
 *
 * Preemption off, any context.  Return: what to give back, or -1: inside of one already.
 */
int perf_swevent_get_recursion_context(void)
{
	return pe_recursion_enter(current->perf_recursion);
}
EXPORT_SYMBOL_GPL(perf_swevent_get_recursion_context);

void perf_swevent_put_recursion_context(int rctx)
{
	pe_recursion_leave(current->perf_recursion, rctx);
}

/**
 * perf_swevent_set_period() - begin the next period of an event that software counts
 * @event: a sampling event
 *
 * The one that is over was as long as hw.last_period; those after it, of which hits may have passed
 * some already, are as long as hw.sample_period, and so hw.last_period is from now on.  Where the
 * event is hit, or is added, any context.
 *
 * Return: the number of periods that are over; 0 if the present one is not.
 */
u64 perf_swevent_set_period(struct perf_event *event)
{
	struct pe_periods *periods = pe_periods(pe(event));
	struct hw_perf_event *hw = &event->hw;
	s64 left = local64_read(&hw->period_left);
	u64 over, length;

	if (unlikely(periods))
		return pe_periods_divide(pe(event), periods);
	do {
		if (left < 0)
			return 0;
		length = hw->sample_period;
		over = div64_u64(left, length) + 1;
	} while (!local64_try_cmpxchg(&hw->period_left, &left, left - over * length));

	hw->last_period = length;	/* an NMI in between tells the one that is over */
	return over;
}

static __always_inline enum pe_mode mode_of(struct pt_regs *regs)
{
	return user_mode(regs) ? PE_USER : PE_KERNEL;
}

static __always_inline bool excludes(const struct pe_event *e, struct pt_regs *regs)
{
	if (READ_ONCE(e->hw.state) & PERF_HES_STOPPED)
		return true;
	if (likely(!e->plan.excludes) || !regs)
		return false;
	return e->plan.excludes & BIT(mode_of(regs));
}

/**
 * pe_excludes() - does an event ignore hits in this mode?
 * @e: the event
 * @regs: registers at the hit, or NULL
 *
 * On the event's CPU, any context.
 */
bool pe_excludes(const struct pe_event *e, struct pt_regs *regs)
{
	return excludes(e, regs);
}

/**
 * pe_still_throttled() - is an event still throttled?
 * @e: an event that was throttled when the caller looked
 *
 * In its hit, irqs off.  It is let go by the next tick.  That tick misses an event whose task is
 * away, and a passive one is not let go when the task returns; this finds both.  On another CPU
 * than where it was throttled the tick is over, as numbers of ticks differ between CPUs.
 */
bool pe_still_throttled(struct pe_event *e)
{
	if (READ_ONCE(e->state) == PERF_EVENT_STATE_ACTIVE && !pe_is_passive(e))
		return true;
	if (e->hw.interrupts_seq == __this_cpu_read(pe_cpu.throttle_seq))
		return true;
	pe_unthrottle(e);
	return false;
}

/**
 * pe_software_hit_away() - an event was hit that is on no CPU
 * @e: an enabled event of a task, INACTIVE
 * @nr: how many times
 * @data: the sample, initialised
 * @regs: registers at the hit
 *
 * ctx->lock held, irqs off; nobody else writes to the event's buffer meanwhile.
 */
void pe_software_hit_away(struct pe_event *e, u64 nr, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	lockdep_assert_held(&pe_ctx(e)->lock);
	local64_add(nr, &e->count);
	if (!is_sampling_event(&e->pub))
		return;
	/* The rate is that of the ticks while the task runs: this is none of theirs. */
	if (e->attr.freq)
		e->hw.freq_count_stamp += nr;
	/* The period begins when the event is added, which may not have been yet; or it is new. */
	perf_swevent_set_period(&e->pub);
	pe_sample(e, nr, data, regs);
}

/* Does the hit of a list's event count? */
static __always_inline bool counts(const struct pe_event *e, struct pt_regs *regs)
{
	return READ_ONCE(e->state) == PERF_EVENT_STATE_ACTIVE && !excludes(e, regs);
}

#define for_each_hit(e, node)								\
	for (; (node) && ((e) = hlist_entry((node), struct pe_event, sw_node), true);	\
	     (node) = READ_ONCE((node)->next))

/**
 * struct samplers - the events that want a sample of a hit
 * @nr: how many events
 * @last: one of them, if there are any
 */
struct samplers {
	unsigned long	nr;
	struct pe_event	*last;
};

/* The one that wants a sample, or NULL if several do. */
static __always_inline struct pe_event *the_only(struct samplers sampling)
{
	return likely(sampling.nr == 1) ? sampling.last : NULL;
}

static __always_inline struct samplers count_list(struct hlist_node *node, u64 nr,
						  struct pt_regs *regs, struct samplers sampling)
{
	struct pe_event *e;

	for_each_hit(e, node) {
		if (!counts(e, regs))
			continue;
		local64_add(nr, &e->count);
		if (is_sampling_event(&e->pub)) {
			sampling.nr++;
			sampling.last = e;
		}
	}
	return sampling;
}

/* Interrupts on this CPU may add in between: local64. */
static __always_inline struct samplers count_slot(struct pe_slot *slot, u32 event_id, u64 nr,
						  struct pt_regs *regs, struct samplers sampling)
{
	struct pe_hits *hits = &slot->sw[event_id];

	OPTIMIZER_HIDE_VAR(hits);	/* one address for both */
	local64_add(nr, &hits->nr[mode_of(regs)]);
	return count_list(READ_ONCE(hits->list.first), nr, regs, sampling);
}

/* Events of this CPU and of the cgroups it is in. */
static __always_inline struct samplers count_cpu(u32 event_id, u64 nr, struct pt_regs *regs)
{
	struct pe_ctx *ctx = raw_cpu_ptr(&pe_cpu.ctx);
	struct samplers sampling = { };
	struct pe_slot *slot;

	sampling = count_slot(&ctx->any, event_id, nr, regs, sampling);
	slot = hlist_entry_safe(READ_ONCE(ctx->entered.first), struct pe_slot, entered);
	for (; unlikely(slot); slot = hlist_entry_safe(READ_ONCE(slot->entered.next),
						       struct pe_slot, entered))
		sampling = count_slot(slot, event_id, nr, regs, sampling);
	return sampling;
}

/*
 * Counting, by far the most frequent, needs no call and hence no registers saved: so all lists are
 * counted first, and samples come after that.  The counts of a group in one of these samples are
 * those after the hit.
 */
static __always_inline struct samplers count_lists(u32 event_id, u64 nr, struct pt_regs *regs)
{
	struct samplers sampling = { };
	struct pe_slot *slot;
	struct pe_ctx *ctx;

	if (raw_cpu_read(pe_cpu.ctx.nr_events))
		sampling = count_cpu(event_id, nr, regs);
	ctx = pe_current_ctx();
	if (!ctx)
		return sampling;
	sampling = count_slot(&ctx->any, event_id, nr, regs, sampling);
	slot = READ_ONCE(ctx->here);
	if (unlikely(slot))
		sampling = count_slot(slot, event_id, nr, regs, sampling);
	return sampling;
}

static __always_inline void sample_one(struct pe_event *e, u64 nr, struct pt_regs *regs, u64 addr)
{
	struct perf_sample_data data __uninitialized;

	perf_sample_data_init(&data, addr, 0);
	pe_sample_here(e, nr, &data, regs);
}

static noinline void sample_list(struct hlist_head *list, u64 nr, struct pt_regs *regs, u64 addr)
{
	struct hlist_node *node = READ_ONCE(list->first);
	struct pe_event *e;

	for_each_hit(e, node) {
		if (is_sampling_event(&e->pub) && counts(e, regs))
			sample_one(e, nr, regs, addr);
	}
}

/*
 * More than one: walk again.  An event that is enabled, disabled or removed by another CPU between
 * the two walks gets a sample or none, as it would have at either time.
 */
static noinline void sample_lists(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr)
{
	struct pe_ctx *ctx = &this_cpu_ptr(&pe_cpu)->ctx;
	struct pe_slot *slot;

	sample_list(&ctx->any.sw[event_id].list, nr, regs, addr);
	hlist_for_each_entry_rcu(slot, &ctx->entered, entered)
		sample_list(&slot->sw[event_id].list, nr, regs, addr);
	ctx = pe_current_ctx();
	if (!ctx)
		return;
	sample_list(&ctx->any.sw[event_id].list, nr, regs, addr);
	slot = READ_ONCE(ctx->here);
	if (slot)
		sample_list(&slot->sw[event_id].list, nr, regs, addr);
}

/*
 * The samples of a hit that was counted.
 * @only: the event that wants one; NULL: several do
 */
static __always_inline void sample_hit(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr,
				       struct pe_event *only)
{
	if (likely(only))
		sample_one(only, nr, regs, addr);
	else
		sample_lists(event_id, nr, regs, addr);
}

/* What is hit inside of this is not counted. */
static noinline void sample_marked(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr,
				   struct pe_event *only)
{
	int level = pe_recursion_enter(current->perf_recursion);

	if (likely(level >= 0)) {
		sample_hit(event_id, nr, regs, addr, only);
		pe_recursion_leave(current->perf_recursion, level);
	}
}

/* Out of line, so that a hit that is only counted needs no stack. */
static noinline void sample_unmarked(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr,
				     struct pe_event *only)
{
	sample_hit(event_id, nr, regs, addr, only);
}

/**
 * ___perf_sw_event() - a software event happened; the caller took care of recursion
 * @event_id: PERF_COUNT_SW_*
 * @nr: how many times
 * @regs: registers where it happened
 * @addr: what it was about, or 0
 *
 * Preemption off.
 */
void ___perf_sw_event(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr)
{
	struct samplers sampling;

	if (WARN_ON_ONCE(!regs))
		return;
	sampling = count_lists(event_id, nr, regs);
	if (sampling.nr)
		sample_unmarked(event_id, nr, regs, addr, the_only(sampling));
}

/**
 * __perf_sw_event() - a software event happened
 * @event_id: PERF_COUNT_SW_*
 * @nr: how many times
 * @regs: registers where it happened
 * @addr: what it was about, or 0
 *
 * Any context.  A hit inside of the handling of a hit of the same context level is not counted.
 */
void __perf_sw_event(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr)
{
	struct samplers sampling = { };

	preempt_disable_notrace();
	/* Nothing is called to count, so nothing is hit inside of that: no mark. */
	if (likely(!current->perf_recursion[pe_context_level()]) && !WARN_ON_ONCE(!regs))
		sampling = count_lists(event_id, nr, regs);
	if (sampling.nr)
		sample_marked(event_id, nr, regs, addr, the_only(sampling));
	preempt_enable_notrace();
}

#ifdef CONFIG_HAVE_HW_BREAKPOINT
/**
 * perf_bp_event() - a breakpoint was hit
 * @bp: its event
 * @data: the registers
 *
 * From the debug exception, interrupts off.
 */
void perf_bp_event(struct perf_event *bp, void *data)
{
	struct perf_sample_data sample_data __uninitialized;
	struct pe_event *e = pe(bp);

	lockdep_assert_irqs_disabled();
	if (READ_ONCE(e->state) != PERF_EVENT_STATE_ACTIVE || bp->hw.state || pe_excludes(e, data))
		return;
	perf_sample_data_init(&sample_data, bp->attr.bp_addr, 0);
	local64_inc(&e->count);
	if (data && is_sampling_event(bp))
		pe_sample_here(e, 1, &sample_data, data);
}
#endif

/* ------------------------------------------------------------------ the PMU */

static void begin_periods(struct perf_event *event)
{
	/* One that follows a rule is always under way; a hit may be dividing it on another CPU. */
	if (!is_sampling_event(event) || pe_periods(pe(event)))
		return;
	perf_swevent_set_period(event);
}

/*
 * Members of passive groups get here when they are enabled, perhaps on another CPU than where they
 * count, under the lock of their context.  One that follows its slot's hits does so from now on.
 * Otherwise a hit finds the event through its slot and counts because of its state; all that is
 * left to do is to begin a period if none is under way.
 */
static void pe_swevent_start(struct perf_event *event, int flags)
{
	if (pe(event)->counts_hits)
		pe_hits_begin(pe(event));
	else
		WRITE_ONCE(event->hw.state, 0);
}

static int pe_swevent_add(struct perf_event *event, int flags)
{
	begin_periods(event);
	if (flags & PERF_EF_START)
		pe_swevent_start(event, flags);
	return 0;
}

static void pe_swevent_del(struct perf_event *event, int flags)
{
	if (pe(event)->counts_hits)
		pe_hits_end(pe(event));
}

static void pe_swevent_stop(struct perf_event *event, int flags)
{
	if (pe(event)->counts_hits)
		pe_hits_end(pe(event));
	else
		event->hw.state = PERF_HES_STOPPED;
}

/**
 * pe_software_start() - pmu->start() of events that software counts
 * @event: the event
 * @flags: without meaning here
 */
void pe_software_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
}

/**
 * pe_software_stop() - pmu->stop() of events that software counts
 * @event: the event
 * @flags: without meaning here
 */
void pe_software_stop(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED;
}

/**
 * pe_software_read() - pmu->read() of events that software counts: the count is right
 * @event: the event
 */
void pe_software_read(struct perf_event *event)
{
}

/*
 * The opened events of each number.  The first one and the last one turn its key; they leave 0 and
 * come back to it under the mutex.  Counted here because to ask the key takes the hotplug lock.
 */
static atomic_t nr_opened[PERF_COUNT_SW_MAX];
static DEFINE_MUTEX(keys_mutex);

static void get_key(u64 id)
{
	if (atomic_inc_not_zero(&nr_opened[id]))
		return;
	guard(mutex)(&keys_mutex);
	if (!atomic_read(&nr_opened[id]))
		static_key_slow_inc(&perf_swevent_enabled[id]);
	atomic_inc(&nr_opened[id]);
}

static void put_key(u64 id)
{
	if (!atomic_dec_and_mutex_lock(&nr_opened[id], &keys_mutex))
		return;
	static_key_slow_dec(&perf_swevent_enabled[id]);
	mutex_unlock(&keys_mutex);
}

static void pe_swevent_destroy(struct perf_event *event)
{
	put_key(event->attr.config);
}

static int pe_swevent_init(struct perf_event *event)
{
	u64 id = event->attr.config;

	if (event->attr.type != PERF_TYPE_SOFTWARE)
		return -ENOENT;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;

	/* The clocks are PMUs of their own, which old interfaces know as software events. */
	if (id == PERF_COUNT_SW_CPU_CLOCK || id == PERF_COUNT_SW_TASK_CLOCK) {
		event->attr.type = id == PERF_COUNT_SW_CPU_CLOCK ? pe_cpu_clock_pmu.type :
								   pe_task_clock_pmu.type;
		return -ENOENT;
	}
	if (id >= PERF_COUNT_SW_MAX)
		return -ENOENT;
	id = array_index_nospec((unsigned long)id, PERF_COUNT_SW_MAX);
	event->hw.state = PERF_HES_STOPPED;	/* until add() */

	/* Children live no longer than their parent, whose key suffices. */
	if (!event->parent) {
		get_key(id);
		event->destroy = pe_swevent_destroy;
	}
	return 0;
}

struct pmu pe_swevent_pmu = {
	.lasting	= true,
	.task_ctx_nr	= perf_sw_context,
	.capabilities	= PERF_PMU_CAP_NO_NMI,
	.event_init	= pe_swevent_init,
	.add		= pe_swevent_add,
	.del		= pe_swevent_del,
	.start		= pe_swevent_start,
	.stop		= pe_swevent_stop,
	.read		= pe_software_read,
	.least_period	= pe_software_least_period,
};

/**
 * pe_software_passive() - can an event count without being scheduled?
 * @e: the event, after its event_init()
 *
 * A clock that only counts is the slot's clock.  A clock that samples needs a timer.  BPF output
 * goes to events whose oncpu is here: those of tasks and cgroups are scheduled for that.
 */
bool pe_software_passive(const struct pe_event *e)
{
	if (e->pmu == &pe_swevent_pmu)
		return !(e->attr.config == PERF_COUNT_SW_BPF_OUTPUT &&
			 (e->hw.target || e->cgrp));
	return (e->pmu == &pe_cpu_clock_pmu || e->pmu == &pe_task_clock_pmu) &&
	       !e->attr.sample_period;
}
