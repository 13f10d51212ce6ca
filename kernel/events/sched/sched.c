// SPDX-License-Identifier: GPL-2.0
/*
 * Groups on and off the hardware of one CPU.
 *
 * Everything here runs on the CPU concerned, with irqs off, its CPU context locked, and the task
 * context that is in there locked too.  NMIs of the PMU can come at any moment at which that PMU
 * is not disabled.
 *
 * A group goes on as a whole: pmu->start_txn(), add() for each member, commit_txn(); when one step
 * fails, what was added is deleted and the transaction cancelled.  A single event is just added.
 * The order:
 *
 *	CPU pinned, task pinned, CPU flexible, task flexible; within each in queue order
 *
 * A pinned group that does not fit goes to ERROR, and poll() tells its reader.  The first flexible
 * group that does not fit ends the attempt for its PMU and marks the PMU context starved; the
 * rotation timer then gives the others their turn.  Groups of software PMUs always fit.
 */

#include "sched.h"
#include "../ext.h"

static bool is_software(const struct pe_pmu_ctx *pmu_ctx)
{
	return pmu_ctx->pmu->task_ctx_nr == perf_sw_context;
}

/*
 * The PMU of the PMU context is off all the time, but the group may have members of software PMUs
 * as well.  Those are switched by themselves.
 */
static noinline int add_elsewhere(struct pe_event *e, int flags)
{
	int err;

	perf_pmu_disable(e->pmu);
	err = e->pmu->add(&e->pub, flags);
	perf_pmu_enable(e->pmu);
	return err;
}

/*
 * A throttled event starts anew when it gets its counter, as after a switch.  But sets relieve each
 * other so often that no limit would hold, and tasks may switch so often that the one of a CPU does
 * not: what was throttled in this tick waits for the next one then.
 */
static noinline bool stays_throttled(struct pe_event *e)
{
	const u64 tick = __this_cpu_read(pe_cpu.throttle_seq);

	if (e->hw.interrupts_seq == tick &&
	    (pe_in_ring(pe_leader(e)) || __this_cpu_read(pe_cpu.full_seq) == tick)) {
		/* The tick of another CPU, where the task has been, may have passed over it. */
		pe_throttle_list(e);
		return true;
	}
	pe_unthrottle(e);
	return false;
}

/* What software counts goes on to count, and makes no samples. */
static int add_throttled(struct pe_event *e)
{
	return add_elsewhere(e, is_software_event(&e->pub) ? PERF_EF_START : 0);
}

static noinline void del_elsewhere(struct pe_event *e)
{
	perf_pmu_disable(e->pmu);
	e->pmu->del(&e->pub, 0);
	perf_pmu_enable(e->pmu);
}

static __always_inline void event_out(struct pe_event *e, struct perf_cpu_pmu_context *cpc, u64 now)
{
	if (e->state != PERF_EVENT_STATE_ACTIVE)
		return;

	if (likely(e->pmu == cpc->cpu_pmu_ctx.pmu))
		e->pmu->del(&e->pub, 0);
	else
		del_elsewhere(e);
	WRITE_ONCE(e->oncpu, -1);
	/* An overflow asked for it, and its irq_work has not run yet. */
	if (unlikely(READ_ONCE(e->pending_disable)) && pe_disable_due(e))
		pe_set_state(e, PERF_EVENT_STATE_OFF, now);
	else
		pe_set_inactive(e, now);

	pe_freq_end(e);
	if (!is_software_event(&e->pub))
		cpc->nr_active--;
	if (e->attr.exclusive || !cpc->nr_active)
		cpc->exclusive = 0;
}

static __always_inline int event_in(struct pe_event *e, struct perf_cpu_pmu_context *cpc, u64 now)
{
	int err;

	if (e->state <= PERF_EVENT_STATE_OFF)
		return 0;

	/* add() may start the counter, and its first overflow must find the event ACTIVE. */
	WRITE_ONCE(e->oncpu, smp_processor_id());
	pe_set_active(e, now);
	if (unlikely(e->pmu->capabilities & PERF_PMU_CAP_ITRACE))
		pe_record_itrace_start(e);

	if (unlikely(pe_is_throttled(e)) && stays_throttled(e))
		err = add_throttled(e);
	else if (likely(e->pmu == cpc->cpu_pmu_ctx.pmu))
		err = e->pmu->add(&e->pub, PERF_EF_START);
	else
		err = add_elsewhere(e, PERF_EF_START);
	if (unlikely(err)) {
		pe_set_inactive(e, now);
		WRITE_ONCE(e->oncpu, -1);
		return -EAGAIN;
	}
	pe_freq_begin(e);
	if (!is_software_event(&e->pub))
		cpc->nr_active++;
	if (unlikely(e->attr.exclusive))
		cpc->exclusive = 1;
	return 0;
}

/* All members in one transaction, or none. */
static noinline bool members_in(struct pe_event *leader, struct perf_cpu_pmu_context *cpc, u64 now)
{
	struct pmu *pmu = cpc->cpu_pmu_ctx.pmu;
	struct pe_event *m;

	pmu->start_txn(pmu, PERF_PMU_TXN_ADD);
	pe_for_each_member(m, leader)
		if (event_in(m, cpc, now))
			goto undo;
	if (!pmu->commit_txn(pmu))
		return true;
undo:
	/* Drivers expect del() in the order of add(). */
	pe_for_each_member(m, leader)
		event_out(m, cpc, now);
	pmu->cancel_txn(pmu);
	return false;
}

/*
 * Put a group on the hardware, or nothing of it.  @leader is in a queue of @pmu_ctx, INACTIVE.  The
 * PMU is off.  An event alone is all or nothing without a transaction: outside of one
 * add() itself says whether the event fits.  Return: all of it is there.
 */
static __always_inline bool group_in(struct pe_event *leader, struct pe_pmu_ctx *pmu_ctx,
				     struct perf_cpu_pmu_context *cpc, u64 now)
{
	if (likely(!leader->nr_siblings)) {
		if (event_in(leader, cpc, now))
			return false;
	} else if (!members_in(leader, cpc, now)) {
		return false;
	}
	list_add_tail(&leader->running_entry, &pmu_ctx->running[pe_class_of(leader)]);
	return true;
}

static noinline void members_out(struct pe_event *leader, struct perf_cpu_pmu_context *cpc, u64 now)
{
	struct pe_event *m;

	pe_for_each_member(m, leader)
		event_out(m, cpc, now);
}

/* @leader is on the hardware, and its PMU is off. */
static __always_inline void group_out(struct pe_event *leader, struct perf_cpu_pmu_context *cpc,
				      u64 now)
{
	if (likely(!leader->nr_siblings))
		event_out(leader, cpc, now);
	else
		members_out(leader, cpc, now);
	list_del_init(&leader->running_entry);
}

/**
 * pe_group_out() - take a group off the hardware
 * @leader: its leader; nothing happens if it is not there
 * @now: pe_now()
 */
void pe_group_out(struct pe_event *leader, u64 now)
{
	struct pmu *pmu = pe_pmu_ctx(leader)->pmu;

	if (list_empty(&leader->running_entry))
		return;
	pe_assert_oncpu(pe_ctx(leader));
	perf_pmu_disable(pmu);
	group_out(leader, pe_cpc(pmu), now);
	perf_pmu_enable(pmu);
}

/**
 * pe_member_out() - take one sibling off the hardware, leaving its group there
 * @e: a sibling; nothing happens if it is not there
 * @now: pe_now()
 */
void pe_member_out(struct pe_event *e, u64 now)
{
	struct pmu *pmu = pe_pmu_ctx(e)->pmu;

	pe_assert_oncpu(pe_ctx(e));
	perf_pmu_disable(pmu);
	event_out(e, pe_cpc(pmu), now);
	perf_pmu_enable(pmu);
}

/* May there be a group behind one that was turned away that is to be tried? */
static __always_inline bool may_go_on(const struct pe_pmu_ctx *pmu_ctx, bool fits)
{
	return likely(fits) || is_software(pmu_ctx);
}

/* May the group be tried at all?  @fits: nothing before it in its class was turned away. */
static __always_inline bool admissible(struct pe_event *leader, struct pe_pmu_ctx *pmu_ctx,
				       struct perf_cpu_pmu_context *cpc, bool fits)
{
	if (is_software(pmu_ctx))
		return true;
	if (cpc->exclusive)
		return false;
	/* An exclusive group is alone in its class and context; groups of others stay beside it. */
	if (leader->attr.exclusive && !list_empty(&pmu_ctx->running[pe_class_of(leader)]))
		return false;
	return fits;
}

/* Put a group on the PMU of @pmu_ctx, which is off, if it may and can. */
static __always_inline bool try_group(struct pe_event *leader, struct pe_pmu_ctx *pmu_ctx,
				      struct perf_cpu_pmu_context *cpc, bool fits, u64 now)
{
	return admissible(leader, pmu_ctx, cpc, fits) && group_in(leader, pmu_ctx, cpc, now);
}

static void pinned_failed(struct pe_event *leader, u64 now)
{
	/* A pending disable turned it OFF on the way back, which is no failure. */
	if (leader->state != PERF_EVENT_STATE_INACTIVE)
		return;
	pe_set_state(leader, PERF_EVENT_STATE_ERROR, now);
	if (READ_ONCE(leader->sink->fasync))
		WRITE_ONCE(leader->pending_kill, POLL_ERR);
	pe_queue_wakeup(leader);
}

/*
 * A flexible group does not fit, and waits for its turn.  The timer does not stop while one is
 * starved, so only the first one has to start it.
 */
static void starve(struct pe_pmu_ctx *pmu_ctx, struct perf_cpu_pmu_context *cpc)
{
	if (pmu_ctx->starved)
		return;
	pmu_ctx->starved = true;
	pe_mux_arm(cpc);
}

/*
 * A reader of the times of a group that waits from control pages must know that the task was
 * away, or that the group has just come off.
 */
static void refresh_waiting(struct pe_slot *slot, const struct pe_pmu_ctx *pmu_ctx)
{
	struct pe_event *e;

	list_for_each_entry(e, &slot->mapped, mapped_entry)
		if (pe_pmu_ctx(e) == pmu_ctx && pe_leader(e)->state == PERF_EVENT_STATE_INACTIVE)
			perf_event_update_userpage(&e->pub);
}

static void refresh_all_waiting(struct pe_pmu_ctx *pmu_ctx)
{
	struct pe_ctx *ctx = pmu_ctx->ctx;
	struct pe_slot *slot;

	refresh_waiting(&ctx->any, pmu_ctx);
	if (ctx->here)
		refresh_waiting(ctx->here, pmu_ctx);
	hlist_for_each_entry(slot, &ctx->entered, entered)
		refresh_waiting(slot, pmu_ctx);
}

/* Begin a walk over the queues of all slots of the context that are in. */
static void walk_eligible(struct queue_cursor *cur, struct pe_pmu_ctx *pmu_ctx, enum pe_class class)
{
	struct pe_lane *lane = pe_pmu_ctx_lane(pmu_ctx, pmu_ctx->ctx->here);
	struct pe_slot *slot;

	queue_cursor_init(cur);
	queue_cursor_add(cur, &pmu_ctx->any.queue[class]);
	if (lane)
		queue_cursor_add(cur, &lane->queue[class]);
	hlist_for_each_entry(slot, &pmu_ctx->ctx->entered, entered) {
		lane = pe_pmu_ctx_lane(pmu_ctx, slot);
		if (lane)
			queue_cursor_add(cur, &lane->queue[class]);
	}
}

/* A group's turn to go on the hardware.  Return: all flexible ones did so far. */
static __always_inline bool offer(struct queue_node *node, struct pe_pmu_ctx *pmu_ctx,
				  struct perf_cpu_pmu_context *cpc, enum pe_class class, bool fits,
				  u64 now)
{
	struct pe_event *leader = container_of(node, struct pe_event, queue);

	if (leader->state != PERF_EVENT_STATE_INACTIVE ||
	    try_group(leader, pmu_ctx, cpc, fits, now))
		return fits;
	if (class == PE_PINNED) {
		pinned_failed(leader, now);
	} else if (leader->state == PERF_EVENT_STATE_INACTIVE) {
		starve(pmu_ctx, cpc);
		return false;
	}
	return fits;
}

/* pe_pmu_ctx_in() where several slots have groups. */
static noinline bool slots_in(struct pe_pmu_ctx *pmu_ctx, struct perf_cpu_pmu_context *cpc,
			      enum pe_class class, u64 now)
{
	struct queue_cursor cur;
	struct queue_node *node;
	bool fits = true;

	walk_eligible(&cur, pmu_ctx, class);
	while (may_go_on(pmu_ctx, fits) && (node = queue_cursor_next(&cur)))
		fits = offer(node, pmu_ctx, cpc, class, fits, now);
	return fits;
}

static __always_inline bool slot_in(struct pe_pmu_ctx *pmu_ctx, struct perf_cpu_pmu_context *cpc,
				    enum pe_class class, u64 now)
{
	struct queue_node *node;
	bool fits = true;

	list_for_each_entry(node, &pmu_ctx->any.queue[class].head, link) {
		fits = offer(node, pmu_ctx, cpc, class, fits, now);
		if (!may_go_on(pmu_ctx, fits))
			break;
	}
	return fits;
}

/**
 * pe_pmu_ctx_in() - put on the hardware what fits of one class
 * @pmu_ctx: of this CPU's context, or of the task context that is in; its PMU is off
 * @class: pinned or flexible
 * @now: pe_now()
 */
void pe_pmu_ctx_in(struct pe_pmu_ctx *pmu_ctx, enum pe_class class, u64 now)
{
	struct perf_cpu_pmu_context *cpc;
	bool fits;

	pe_assert_oncpu(pmu_ctx->ctx);
	if (!pmu_ctx->nr_groups)
		return;
	if (pmu_ctx->pmu->filter && pmu_ctx->pmu->filter(pmu_ctx->pmu, smp_processor_id()))
		return;

	cpc = pe_cpc(pmu_ctx->pmu);
	if (unlikely(pmu_ctx->ctx->here || !hlist_empty(&pmu_ctx->ctx->entered)))
		fits = slots_in(pmu_ctx, cpc, class, now);
	else
		fits = slot_in(pmu_ctx, cpc, class, now);
	if (unlikely(!fits))
		refresh_all_waiting(pmu_ctx);
}

/**
 * pe_pmu_ctx_first_waiting() - the flexible group that is next to be tried
 * @pmu_ctx: as for pe_pmu_ctx_in()
 *
 * Return: its leader, INACTIVE; NULL if all are on the hardware or disabled.
 */
struct pe_event *pe_pmu_ctx_first_waiting(struct pe_pmu_ctx *pmu_ctx)
{
	struct queue_cursor cur;
	struct queue_node *node;

	pe_assert_oncpu(pmu_ctx->ctx);
	walk_eligible(&cur, pmu_ctx, PE_FLEXIBLE);
	while ((node = queue_cursor_next(&cur))) {
		struct pe_event *leader = container_of(node, struct pe_event, queue);

		if (leader->state == PERF_EVENT_STATE_INACTIVE)
			return leader;
	}
	return NULL;
}

/**
 * pe_pmu_ctx_out() - take classes of a PMU context off the hardware
 * @pmu_ctx: as for pe_pmu_ctx_in()
 * @classes: PE_CLASS_PINNED, PE_CLASS_FLEXIBLE or both
 * @now: pe_now()
 */
void pe_pmu_ctx_out(struct pe_pmu_ctx *pmu_ctx, unsigned int classes, u64 now)
{
	struct perf_cpu_pmu_context *cpc = pe_cpc(pmu_ctx->pmu);
	struct pe_event *leader, *next;
	enum pe_class class;

	pe_assert_oncpu(pmu_ctx->ctx);
	for (class = 0; class < PE_NR_CLASSES; class++) {
		if (!(classes & BIT(class)))
			continue;
		/* Drivers with lists find the last one first. */
		list_for_each_entry_safe_reverse(leader, next, &pmu_ctx->running[class],
						 running_entry)
			group_out(leader, cpc, now);
	}
	if (classes & PE_CLASS_FLEXIBLE)
		pmu_ctx->starved = false;
}

/**
 * pe_lane_out() - take the groups of one lane off the hardware
 * @lane: it
 * @now: pe_now()
 */
void pe_lane_out(struct pe_lane *lane, u64 now)
{
	struct queue_node *node;
	enum pe_class class;

	pe_assert_oncpu(lane->pmu_ctx->ctx);
	perf_pmu_disable(lane->pmu_ctx->pmu);
	for (class = 0; class < PE_NR_CLASSES; class++)
		list_for_each_entry(node, &lane->queue[class].head, link)
			pe_group_out(container_of(node, struct pe_event, queue), now);
	perf_pmu_enable(lane->pmu_ctx->pmu);
}

/**
 * pe_lane_in() - add the groups of one lane to what is on the hardware
 * @lane: a lane of a slot that is in, in a PMU context in which no group is starved
 * @class: pinned or flexible
 * @now: pe_now()
 *
 * Return: false if not all fit: the PMU is to be scheduled anew, in the order of priority.
 */
bool pe_lane_in(struct pe_lane *lane, enum pe_class class, u64 now)
{
	struct pmu *pmu = lane->pmu_ctx->pmu;
	struct queue_node *node;
	bool fits = true;

	pe_assert_oncpu(lane->pmu_ctx->ctx);
	if (pmu->filter && pmu->filter(pmu, smp_processor_id()))
		return true;
	perf_pmu_disable(pmu);
	list_for_each_entry(node, &lane->queue[class].head, link) {
		struct pe_event *leader = container_of(node, struct pe_event, queue);

		if (leader->state != PERF_EVENT_STATE_INACTIVE)
			continue;
		fits = try_group(leader, lane->pmu_ctx, pe_cpc(pmu), true, now);
		if (!fits)
			break;
	}
	perf_pmu_enable(pmu);
	return fits;
}

/**
 * pe_pmu_resched_oncpu() - schedule a PMU anew, by priority
 * @pmu: the PMU
 * @cpu_classes: classes of the CPU context to take off first
 * @task_classes: classes of the task context to take off first
 * @now: pe_now()
 */
void pe_pmu_resched_oncpu(struct pmu *pmu, unsigned int cpu_classes, unsigned int task_classes,
			  u64 now)
{
	struct perf_cpu_pmu_context *cpc = pe_cpc(pmu);
	enum pe_class class;

	perf_pmu_disable(pmu);
	if (cpc->task_pmu_ctx)
		pe_pmu_ctx_out(cpc->task_pmu_ctx, task_classes, now);
	pe_pmu_ctx_out(&cpc->cpu_pmu_ctx, cpu_classes, now);
	for (class = PE_PINNED; class < PE_NR_CLASSES; class++) {
		pe_pmu_ctx_in(&cpc->cpu_pmu_ctx, class, now);
		if (cpc->task_pmu_ctx)
			pe_pmu_ctx_in(cpc->task_pmu_ctx, class, now);
	}
	perf_pmu_enable(pmu);
}

static void wait_for_turn(struct pe_event *leader, struct pe_pmu_ctx *pmu_ctx,
			  struct perf_cpu_pmu_context *cpc)
{
	struct pe_event *m;

	starve(pmu_ctx, cpc);
	pe_for_each_member(m, leader)
		if (!list_empty(&m->mapped_entry))
			perf_event_update_userpage(&m->pub);
}

/* @fits: as in admissible() */
static void admit(struct pe_event *leader, bool fits, u64 now)
{
	struct pe_pmu_ctx *pmu_ctx = pe_pmu_ctx(leader);
	struct perf_cpu_pmu_context *cpc = pe_cpc(pmu_ctx->pmu);
	bool cpu_pmu_ctx = pmu_ctx == &cpc->cpu_pmu_ctx;
	bool done;

	pe_assert_oncpu(pmu_ctx->ctx);
	if (pmu_ctx->pmu->filter && pmu_ctx->pmu->filter(pmu_ctx->pmu, smp_processor_id()))
		return;
	if (admissible(leader, pmu_ctx, cpc, fits)) {
		perf_pmu_disable(pmu_ctx->pmu);
		done = group_in(leader, pmu_ctx, cpc, now);
		perf_pmu_enable(pmu_ctx->pmu);
		if (done)
			return;
	}
	if (leader->state != PERF_EVENT_STATE_INACTIVE)
		return;

	if (leader->attr.pinned)
		pe_pmu_resched_oncpu(pmu_ctx->pmu, cpu_pmu_ctx ? PE_CLASS_ALL : PE_CLASS_FLEXIBLE,
				     PE_CLASS_ALL, now);
	else if (cpu_pmu_ctx && cpc->task_pmu_ctx &&
		 !list_empty(&cpc->task_pmu_ctx->running[PE_FLEXIBLE]))
		pe_pmu_resched_oncpu(pmu_ctx->pmu, PE_CLASS_FLEXIBLE, PE_CLASS_FLEXIBLE, now);
	else
		wait_for_turn(leader, pmu_ctx, cpc);
}

/* Those that were starved may have been disabled since then. */
static bool others_wait(struct pe_event *leader)
{
	struct pe_pmu_ctx *pmu_ctx = pe_pmu_ctx(leader);

	return pmu_ctx->starved && pe_pmu_ctx_first_waiting(pmu_ctx) != leader;
}

/**
 * pe_group_admit() - a group became eligible: put it on, making room as its class allows
 * @leader: INACTIVE, in a queue, in a slot that is in on this CPU
 * @now: pe_now()
 *
 * While everything eligible is on the hardware, the newcomer is just added.
 */
void pe_group_admit(struct pe_event *leader, u64 now)
{
	admit(leader, leader->attr.pinned || !others_wait(leader), now);
}

/**
 * pe_group_readmit() - put a group on again that was taken off to be changed
 * @leader: as for pe_group_admit(); it has not got larger, or has just relieved another one
 * @now: pe_now()
 *
 * Groups that wait for their turn wait on: the room was its own, or that of the other one.
 */
void pe_group_readmit(struct pe_event *leader, u64 now)
{
	admit(leader, true, now);
}

static void resched_locked(struct pmu *pmu)
{
	struct pe_ctx *task_ctx = pe_current_ctx();

	pe_lock_here(task_ctx);
	pe_pmu_resched_oncpu(pmu, PE_CLASS_ALL, PE_CLASS_ALL, pe_now());
	pe_unlock_here(task_ctx);
}

/* Contract: a driver changed what its PMU can hold on this CPU. Any context but NMI. */
void perf_pmu_resched(struct pmu *pmu)
{
	unsigned long flags;

	local_irq_save(flags);
	resched_locked(pmu);
	local_irq_restore(flags);
}
