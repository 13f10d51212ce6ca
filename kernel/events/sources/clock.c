// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks as events: cpu-clock and task-clock, PMUs that no sysfs device shows.
 *
 * Both count the time during which the event could count.  That is what the clock of its slot
 * shows; so a clock that only counts, in a group that needs no hardware, is passive: its count is
 * computed on request (pe_count_now()), and the operations below are called only when it is
 * enabled and disabled, on any CPU.  In a group that is scheduled they are called at each switch,
 * on the event's CPU.
 *
 * Sampling is done by an hrtimer of each event, pinned to the CPU on which the event counts and
 * expiring in hard interrupt context.  Samples show what the timer's interrupt interrupted.  As
 * the length of a period is a time, attr.sample_freq is turned into a period when the event is
 * opened, and frequency.c has nothing to do.
 *
 * Locks: all operations of a sampling clock run with interrupts off on the event's CPU, as the
 * timer does.  So stop() finds the timer's function running only when it is called from inside of
 * that function, by way of an overflow.  Waiting for it would then hang the machine; instead
 * PERF_HES_STOPPED tells the function not to restart.  Only destroy() waits for the timer.
 *
 * Throttling stops the timer only: the clock goes on to count.
 */
#include <asm/irq_regs.h>

#include "sources.h"

#define SHORTEST_NS	10000

static void fold(struct perf_event *event)
{
	struct pe_event *e = pe(event);
	u64 now;

	if (e->counts_time) {
		local64_set(&event->count, pe_clock_count(e, pe_now()));
		return;
	}
	/* read() may nest in itself, with a later time: the sum comes out right all the same. */
	now = pe_clock_read(&e->slot->clock, pe_now());
	local64_add(now - local64_xchg(&event->hw.prev_count, now), &event->count);
}

static void begin_counting(struct pe_event *e)
{
	u64 from = pe_clock_read(&e->slot->clock, pe_now());

	if (e->counts_time)
		from -= local64_read(&e->count);
	smp_wmb();	/* the count of the last stop comes before this */
	local64_set(&e->hw.prev_count, from);
	/* Pairs with pe_clock_count(). */
	smp_store_release(&e->hw.state, 0);
}

static u64 timer_period(const struct perf_event *event)
{
	return max_t(u64, event->hw.sample_period, SHORTEST_NS);
}

/* The sample at the end of a @period.  Return: the event must not go on. */
static bool expire(struct pe_event *e, u64 period)
{
	struct pt_regs *regs = get_irq_regs();
	struct perf_sample_data data __uninitialized;

	if (!regs || e->state != PERF_EVENT_STATE_ACTIVE)
		return false;
	if (pe_excludes(e, regs) || (e->attr.exclude_idle && is_idle_task(current))) {
		/* Over all the same. */
		pe_periods_next(e);
		pe_trigger_count(e);
		return false;
	}
	perf_sample_data_init(&data, 0, period);
	return pe_overflow(e, PE_MAY_THROTTLE, &data, regs);
}

static enum hrtimer_restart pe_clock_pmu_fires(struct hrtimer *timer)
{
	struct pe_event *e = container_of(timer, struct pe_event, hw.hrtimer);
	u64 ended = e->hw.last_period, next = timer_period(&e->pub);
	bool stop;

	if (e->state != PERF_EVENT_STATE_ACTIVE || e->hw.state & PERF_HES_STOPPED)
		return HRTIMER_NORESTART;

	e->pmu->read(&e->pub);
	/* The next period begins now, though its timer is started after the sample. */
	e->hw.last_period = e->hw.sample_period;
	stop = expire(e, ended) || e->hw.state & PERF_HES_STOPPED;
	hrtimer_forward_now(timer, ns_to_ktime(next));
	if (!stop)
		return HRTIMER_RESTART;
	local64_set(&e->hw.period_left, next);
	return HRTIMER_NORESTART;
}

/* hw.period_left: the rest of the period that stop() cut off, 0 for a new one. */
static void arm(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	s64 left = local64_xchg(&hw->period_left, 0);

	if (!left) {
		hw->last_period = hw->sample_period;
		left = timer_period(event);
	} else if (left < 0) {
		left = SHORTEST_NS;
	}
	hrtimer_start(&hw->hrtimer, ns_to_ktime(left), HRTIMER_MODE_REL_PINNED_HARD);
}

static void disarm(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;

	/* 0 would mean a whole new period. */
	local64_set(&hw->period_left, ktime_to_ns(hrtimer_get_remaining(&hw->hrtimer)) ?: -1);
	hrtimer_try_to_cancel(&hw->hrtimer);
}

static void pe_clock_pmu_start(struct perf_event *event, int flags)
{
	/* A throttled event was not stopped, its timer just did not restart. */
	if (event->hw.state & PERF_HES_STOPPED)
		begin_counting(pe(event));
	/* One that stays throttled in its set's turn gets its timer by the tick. */
	if (is_sampling_event(event) && event->hw.interrupts != PE_THROTTLED)
		arm(event);
}

static void pe_clock_pmu_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	if (is_sampling_event(event))
		disarm(event);
	fold(event);
	/* Pairs with pe_clock_count(). */
	smp_store_release(&event->hw.state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
}

static int pe_clock_pmu_add(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_START)
		pe_clock_pmu_start(event, flags);
	perf_event_update_userpage(event);
	return 0;
}

static void pe_clock_pmu_del(struct perf_event *event, int flags)
{
	pe_clock_pmu_stop(event, PERF_EF_UPDATE);
}

static void pe_clock_pmu_read(struct perf_event *event)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		fold(event);
}

static void pe_clock_pmu_destroy(struct perf_event *event)
{
	hrtimer_cancel(&event->hw.hrtimer);
}

static void init_timer(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;

	hrtimer_init(&hw->hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hw->hrtimer.function = pe_clock_pmu_fires;
	event->destroy = pe_clock_pmu_destroy;

	if (event->attr.freq) {
		hw->sample_period = NSEC_PER_SEC / (long)event->attr.sample_freq;
		hw->last_period = hw->sample_period;
		local64_set(&hw->period_left, hw->sample_period);
		event->attr.sample_period = hw->sample_period;
		event->attr.freq = 0;
	}
}

static int event_init(struct perf_event *event, u64 config)
{
	if (event->attr.type != event->pmu->type || event->attr.config != config)
		return -ENOENT;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (is_sampling_event(event))
		init_timer(event);
	return 0;
}

static int pe_cpu_clock_init(struct perf_event *event)
{
	return event_init(event, PERF_COUNT_SW_CPU_CLOCK);
}

static int pe_task_clock_init(struct perf_event *event)
{
	return event_init(event, PERF_COUNT_SW_TASK_CLOCK);
}

static u64 pe_clock_pmu_least_period(struct perf_event *event)
{
	return SHORTEST_NS;
}

#define CLOCK_PMU(init)						\
	{							\
		.task_ctx_nr	= perf_sw_context,		\
		.capabilities	= PERF_PMU_CAP_NO_NMI,		\
		.dev		= PE_NO_DEVICE,			\
		.lasting	= true,				\
		.event_init	= init,				\
		.add		= pe_clock_pmu_add,		\
		.del		= pe_clock_pmu_del,		\
		.start		= pe_clock_pmu_start,		\
		.stop		= pe_clock_pmu_stop,		\
		.read		= pe_clock_pmu_read,		\
		.least_period	= pe_clock_pmu_least_period,	\
	}

struct pmu pe_cpu_clock_pmu = CLOCK_PMU(pe_cpu_clock_init);
struct pmu pe_task_clock_pmu = CLOCK_PMU(pe_task_clock_init);
