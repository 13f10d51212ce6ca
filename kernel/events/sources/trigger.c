// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers: overflows of an event end the turn of its set (PERF_EXT_IOC_SET_TRIGGER).
 *
 * A timeout is the trigger of a member that is a clock.  Its timer may fire where the event is not
 * to count, in the kernel for instance: that is no sample, but it is a period that is over.
 *
 * The overflow may be in an NMI.  It notes that the turn is to end, and queues the event's
 * pending_disable_irq, which is there for what an overflow wants to be stopped, finds the context
 * where it is, and is waited for when the event goes: see pending.c.  So no instruction of user
 * space is counted between the two.  A trigger that has been pulled is dead until the next turn
 * arms it.
 */
#include "sources.h"
#include "../ext.h"

/**
 * pe_trigger_count() - a period of an event is over
 * @e: the event
 *
 * On its CPU, any context; an overflow of the same event may come in between, in an NMI.
 */
void pe_trigger_count(struct pe_event *e)
{
	struct pe_trigger *trigger = pe_trigger(e);
	u32 left;

	if (likely(!trigger))
		return;
	left = READ_ONCE(trigger->left);
	do {
		if (!left)
			return;
	} while (!try_cmpxchg(&trigger->left, &left, left - 1));
	if (left > 1)
		return;
	WRITE_ONCE(trigger->due, true);
	irq_work_queue(&e->pending_disable_irq);
}

/**
 * pe_trigger_is_due() - does an event want the turn of its set to end?
 * @e: the event
 */
bool pe_trigger_is_due(const struct pe_event *e)
{
	struct pe_trigger *trigger = pe_trigger(e);

	return unlikely(trigger) && READ_ONCE(trigger->due);
}

/**
 * pe_trigger_end_turn() - end the turn of an event's set, if it wants that
 * @e: the event; its context is locked where it is in, as for pe_call()
 */
void pe_trigger_end_turn(struct pe_event *e)
{
	if (pe_trigger_is_due(e))
		pe_turn_end_due(e, pe_now());
}

/**
 * pe_trigger_set() - PERF_EXT_IOC_SET_TRIGGER
 * @e: the event; its context is locked where it is in, as for pe_call()
 * @threshold: overflows that end a turn; 0: none do
 *
 * They are counted from now on.
 */
void pe_trigger_set(struct pe_event *e, u32 threshold)
{
	struct pe_trigger *trigger = &pe_ext(e)->trigger;

	WRITE_ONCE(trigger->threshold, 0);
	barrier();	/* an NMI from here on finds none */
	trigger->left = threshold;
	trigger->due = false;
	trigger->timeout = e->pmu == &pe_cpu_clock_pmu || e->pmu == &pe_task_clock_pmu;
	trigger->by_hits = e->pmu->least_period == pe_software_least_period;
	barrier();	/* all is there before it is in force */
	WRITE_ONCE(trigger->threshold, threshold);
}
