// SPDX-License-Identifier: GPL-2.0
/*
 * Overflows: what happens each time an event has counted one period.
 *
 * Owns the limits on how much sampling a CPU may do: the rate per event (throttling), the share of
 * CPU time (cpu_time_max_percent), the number of samples asked for (PERF_EVENT_IOC_REFRESH).
 *
 * perf_event_overflow() is called by PMU drivers from their interrupt, pe_overflow() by the sources
 * of this layer; both on the event's CPU with interrupts off, which keeps pe_call() from removing
 * the event meanwhile.  Most callers are NMIs: no locks here, and what has to wait for a saner
 * context goes through the irq_works: ring/wakeup.c asks, pending.c does it.
 *
 * Throttling.  pe_cpu.throttle_seq numbers the ticks of a CPU, with numbers that no other CPU has.
 * hw.interrupts counts the samples of an event in the tick hw.interrupts_seq.  When it reaches the
 * allowed number it becomes PE_THROTTLED, a THROTTLE record is written, the event is put on
 * ctx->throttled and the caller is told to stop it.  The other members of its group that its PMU
 * counts stop along, so that their counts are of the same time: they become PE_THROTTLED_ALONG and
 * are on the list as well.  The next tick sees pe_cpu.throttled and starts the events on that list
 * again (frequency.c).  Not every throttled event is in at that tick: a scheduled one is released
 * when it comes in again (sched.c), a passive one at its next hit (software.c), where
 * hw.interrupts_seq tells that the tick is over.
 *
 * Everything per event is written on the event's CPU only, by NMIs or with interrupts off.  The
 * limits are shared by all CPUs: they are single words, written and read with _ONCE(), and a reader
 * that combines an old and a new one does no more than throttle a tick too early or too late.
 */
#include <linux/irq_work.h>
#include <linux/printk.h>
#include <linux/tick.h>

#include "sources.h"
#include "../cost.h"
#include "../ext.h"

#define MAX_RATE_AT_BOOT	100000	/* Hz */
#define MAX_PERCENT_AT_BOOT	25
#define LENGTHS_AVERAGED	128	/* weight of the past in the mean length of an interrupt */

int sysctl_perf_event_sample_rate __read_mostly = MAX_RATE_AT_BOOT;
int sysctl_perf_cpu_time_max_percent __read_mostly = MAX_PERCENT_AT_BOOT;

/*
 * @look_from: from so many samples of an event in one tick on it is asked whether to throttle it:
 *	@per_tick, or 0 where all events of a CPU have a limit together
 * @per_tick: samples of one event in one tick that lead to throttling
 * @allowed_ns: mean length of an interrupt that is tolerated; 0: any
 */
static struct {
	unsigned int	look_from;
	unsigned int	per_tick;
	unsigned int	allowed_ns;
} limits __read_mostly = {
	.look_from	= DIV_ROUND_UP(MAX_RATE_AT_BOOT, HZ),
	.per_tick	= DIV_ROUND_UP(MAX_RATE_AT_BOOT, HZ),
	.allowed_ns	= NSEC_PER_SEC / MAX_RATE_AT_BOOT * MAX_PERCENT_AT_BOOT / 100,
};

/* Sum of the last LENGTHS_AVERAGED interrupt lengths, decayed. */
static DEFINE_PER_CPU(u64, length_sum);

/* The last time the rate was lowered, for the message. */
static struct {
	u64	mean_ns;
	u64	allowed_ns;
} lowered;

static void pe_limits_report(struct irq_work *work)
{
	pr_info_ratelimited("perf: interrupt took too long (%lld > %lld), lowering kernel.perf_event_max_sample_rate to %d\n",
			    READ_ONCE(lowered.mean_ns), READ_ONCE(lowered.allowed_ns),
			    READ_ONCE(sysctl_perf_event_sample_rate));
}

static DEFINE_IRQ_WORK(lowered_work, pe_limits_report);

static bool time_is_limited(void)
{
	int percent = READ_ONCE(sysctl_perf_cpu_time_max_percent);

	return percent > 0 && percent < 100;
}

static void set_per_tick(unsigned int per_tick)
{
	WRITE_ONCE(limits.per_tick, per_tick);
	if (!pe_cpu_limit())
		WRITE_ONCE(limits.look_from, per_tick);
}

/* The share of a sampling period at the highest rate that an interrupt may take. */
static void derive_allowed(void)
{
	u64 ns = NSEC_PER_SEC / READ_ONCE(sysctl_perf_event_sample_rate);

	ns = div_u64(ns * READ_ONCE(sysctl_perf_cpu_time_max_percent), 100);
	WRITE_ONCE(limits.allowed_ns, max_t(u64, ns, 1));
}

/**
 * pe_limits_init() - settle the limits at boot
 */
void __init pe_limits_init(void)
{
	derive_allowed();
}

/**
 * pe_limits_set_rate() - kernel.perf_event_max_sample_rate was written
 * @rate: the new value, 1 or more
 *
 * Task context, writers serialised by the caller.
 *
 * Return: 0, or -EINVAL when nothing limits the CPU time and hence the rate; then nothing changes.
 */
int pe_limits_set_rate(int rate)
{
	if (!time_is_limited())
		return -EINVAL;
	WRITE_ONCE(sysctl_perf_event_sample_rate, rate);
	set_per_tick(DIV_ROUND_UP(rate, HZ));
	derive_allowed();
	return 0;
}

/**
 * pe_limits_set_percent() - kernel.perf_cpu_time_max_percent was written
 * @percent: the new value, 0 to 100; 0 and 100 mean no limit
 *
 * Context as for pe_limits_set_rate().  Return: 0.
 */
int pe_limits_set_percent(int percent)
{
	WRITE_ONCE(sysctl_perf_cpu_time_max_percent, percent);
	if (time_is_limited()) {
		derive_allowed();
	} else {
		pr_warn("perf: Dynamic interrupt throttling disabled, can hang your system!\n");
		WRITE_ONCE(limits.allowed_ns, 0);
	}
	return 0;
}

#ifdef CONFIG_PERF_EVENTS_EXT
/**
 * pe_limits_set_cpu() - kernel.perf_ext_samples_per_tick was written
 * @per_tick: samples of all events of a CPU in one tick; 0: no limit
 *
 * Context as for pe_limits_set_rate().  An interrupt may lower the rate at the same time: after
 * kick_all_cpus_sync() all of them know whether there is a limit for the CPU, so that while there
 * is one, @look_from stays 0, and that the newest rate is in force when there is none any more.
 */
void pe_limits_set_cpu(unsigned int per_tick)
{
	pe_cpu_limit_set(per_tick);
	kick_all_cpus_sync();
	if (per_tick)
		WRITE_ONCE(limits.look_from, 0);
	else
		cmpxchg(&limits.look_from, 0, READ_ONCE(limits.per_tick));
}
#endif

/* Interrupts take @mean ns on average, and @allowed is what they may. */
static noinline void lower_rate(u64 mean, u64 allowed)
{
	u32 per_tick;

	WRITE_ONCE(lowered.mean_ns, mean);
	WRITE_ONCE(lowered.allowed_ns, allowed);

	/* A quarter more than needed, or a small rise would lead here at once again. */
	mean = min_t(u64, mean + mean / 4, U32_MAX);
	per_tick = TICK_NSEC / 100 * READ_ONCE(sysctl_perf_cpu_time_max_percent);
	per_tick = mean < per_tick ? per_tick / (u32)mean : 1;

	WRITE_ONCE(limits.allowed_ns, mean);
	set_per_tick(per_tick);
	WRITE_ONCE(sysctl_perf_event_sample_rate, per_tick * HZ);
	irq_work_queue(&lowered_work);
}

static __always_inline void took(u64 ns)
{
	u64 allowed = READ_ONCE(limits.allowed_ns);
	u64 sum, mean;

	if (!allowed)
		return;

	/* Starts from 0, so that some slow interrupts right after boot do no harm. */
	sum = __this_cpu_read(length_sum);
	sum += ns - sum / LENGTHS_AVERAGED;
	__this_cpu_write(length_sum, sum);
	mean = sum / LENGTHS_AVERAGED;
	if (mean > allowed)
		lower_rate(mean, allowed);
}

static noinline void count_took(u64 ns)
{
	pe_cost_add(PE_COST_PMI, 1, ns);
	took(ns);
}

/**
 * perf_sample_event_took() - account the length of a PMU's interrupt
 * @sample_len_ns: how long it took
 *
 * Called at the end of the interrupt, mostly in NMI.  When the mean exceeds what is allowed, the
 * highest sampling rate is lowered so that the share of CPU time is kept.  It never rises again on
 * its own.
 *
 * What is rare is in functions of its own, called last, so that the rest needs no stack frame.
 */
void perf_sample_event_took(u64 sample_len_ns)
{
	if (pe_cost_wanted())
		count_took(sample_len_ns);
	else
		took(sample_len_ns);
}

/*
 * The members that the same PMU counts stop as well, if its driver can do that here.  Those of
 * others go on: this interrupt may have come in the middle of one of theirs.  What changes the list
 * of this group does so on this CPU, see lockless.rst.
 */
static void throttle_others(struct pe_event *e)
{
	struct pe_event *leader = pe_leader(e), *m;
	struct pmu *pmu = e->pmu;

	if (!pmu->throttle || !pe_throttles_together(leader))
		return;
	pe_for_each_member(m, leader) {
		if (m == e || m->pmu != pmu || m->state != PERF_EVENT_STATE_ACTIVE ||
		    m->hw.state & PERF_HES_STOPPED || !pmu->throttle(&m->pub))
			continue;
		m->hw.interrupts_seq = __this_cpu_read(pe_cpu.throttle_seq);
		m->hw.interrupts = PE_THROTTLED_ALONG;
		pe_throttle_list(m);
	}
}

static void throttle_here(struct pe_event *e)
{
	/* In this order: see perf_event_task_tick(). */
	__this_cpu_write(pe_cpu.throttled, 1);
	tick_dep_set_cpu(smp_processor_id(), TICK_DEP_BIT_PERF_EVENTS);

	e->hw.interrupts = PE_THROTTLED;
	pe_throttle_list(e);
	throttle_others(e);
	atomic_inc(&e->nr_throttled);
	pe_record_throttle(e);
}

/**
 * pe_measure_rate() - the time that a period took says how long the next one should be
 * @e: an event in frequency mode
 * @period: the one that ended, or the sum of some; hw.last_period may be the next one by now
 * @several: one hit has ended them, so they are too short, however long it took
 *
 * At its overflow, irqs off, NMI included.
 */
noinline void pe_measure_rate(struct pe_event *e, u64 period, bool several)
{
	struct hw_perf_event *hw = &e->hw;
	u64 now = pe_now(), last = hw->freq_time_stamp;
	s64 delta = now - last;

	hw->freq_time_stamp = now;
	/* After a longer time the event was away, or idle: that is no measurement. */
	if (delta > 0 && (delta < 2 * TICK_NSEC || (several && last)))
		pe_adjust_period(e, delta, period);
}

/* One more sample, the @nr-th of its event in this tick. */
static bool is_too_much(u64 nr)
{
	return pe_cpu_limit_count() | (nr >= READ_ONCE(limits.per_tick));
}

/*
 * Count a sample, at the end of a @period.  Return: the event has to be stopped because it was
 * throttled just now.
 */
static __always_inline bool account(struct pe_event *e, enum pe_throttling throttling, u64 period)
{
	bool throttle = throttling == PE_MAY_THROTTLE;
	bool stop = false;
	u64 nr;

	/* One more of the interrupt that has stopped it.  To count on would lose the mark. */
	if (unlikely(throttle && pe_is_throttled(e)))
		return true;
	nr = pe_count_sample(e);
	if (unlikely(throttle && nr >= READ_ONCE(limits.look_from)) && is_too_much(nr)) {
		throttle_here(e);
		stop = true;
	}

	/* A hit has measured all periods that ended with it. */
	if (e->attr.freq && !pe_counts_up(e))
		pe_measure_rate(e, period, false);
	return stop;
}

/**
 * perf_event_account_period() - count an overflow that writes no sample by itself
 * @event: the event
 * @period: the one that ended
 *
 * Context as for perf_event_overflow().  Return: nonzero if the event has to be stopped.
 */
int perf_event_account_period(struct perf_event *event, u64 period)
{
	return account(pe(event), PE_MAY_THROTTLE, period);
}

/**
 * perf_event_account_interrupt() - the same where no other period has begun yet
 * @event: the event, whose hw.last_period is that of the overflow
 */
int perf_event_account_interrupt(struct perf_event *event)
{
	return perf_event_account_period(event, event->hw.last_period);
}

enum wanted {
	NOT_WANTED,
	WANTED,
	LAST_WANTED,
};

/*
 * One of the samples that PERF_EVENT_IOC_REFRESH asked for, if there is a limit.  An overflow of
 * the same event in an NMI may come anywhere: before the last sample is taken the event is marked
 * to be disabled, so a limit of 0, which is none, is never found without that mark.
 */
static enum wanted take_wanted(struct pe_event *e)
{
	int limit = atomic_read(&e->event_limit);

	while (limit > 0) {
		if (limit == 1)
			pe_disable_at_limit(e);
		if (atomic_try_cmpxchg(&e->event_limit, &limit, limit - 1))
			return limit == 1 ? LAST_WANTED : WANTED;
	}
	/* An NMI that came since the caller looked has made the last one. */
	return unlikely(READ_ONCE(e->pending_disable)) ? NOT_WANTED : WANTED;
}

/* What the owner of the file hears.  An NMI may have made the last sample: that is said already. */
static void note_signal(struct pe_event *e, bool last)
{
	if (!READ_ONCE(e->sink->fasync))
		return;
	if (last)
		WRITE_ONCE(e->pending_kill, POLL_HUP);
	else
		cmpxchg(&e->pending_kill, 0, POLL_IN);
}

/* A record, or what a format makes of it.  Return: the event has to be stopped. */
static bool make_sample(struct pe_event *e, struct perf_sample_data *data, struct pt_regs *regs)
{
	enum pe_format_done done = PE_FORMAT_NONE;

	if (unlikely(pe_has_format(e)))
		done = pe_format_take(e, data, regs);
	if (likely(done == PE_FORMAT_NONE))
		READ_ONCE(e->overflow_handler)(&e->pub, data, regs);
	return done == PE_FORMAT_STOPS;
}

/* All that an overflow may lead to.  Return: the event has to be stopped. */
static int act(struct pe_event *e, enum pe_throttling throttling, struct perf_sample_data *data,
	       struct pt_regs *regs)
{
	int stop = account(e, throttling, data->period);
	struct pe_notify *notify = pe_notify(e);
	enum pe_tell tell = PE_TELL_AS_EVER;
	enum wanted wanted;

	if (unlikely(READ_ONCE(e->prog)) && !pe_bpf_passes(e, data, regs))
		return stop;

	wanted = take_wanted(e);
	if (wanted == NOT_WANTED)
		return 1;
	if (wanted == LAST_WANTED)
		stop = 1;
	if (unlikely(notify))
		tell = pe_notify_count(notify);
	if (likely(tell != PE_TELL_NOBODY) || wanted == LAST_WANTED)
		note_signal(e, wanted == LAST_WANTED);

	if (e->attr.sigtrap)
		pe_sigtrap(e, data, regs);
	if (make_sample(e, data, regs))
		stop = 1;
	if (unlikely(tell == PE_TELL_ALL) && pe_notify_now(e, notify))
		stop = 1;

	/* Each overflow is a signal, whether or not a record was due to wake a reader. */
	if (READ_ONCE(e->sink->fasync) && e->pending_kill)
		pe_queue_signal(e);
	return stop;
}

static noinline int slow_overflow(struct pe_event *e, enum pe_throttling throttling,
				  struct perf_sample_data *data, struct pt_regs *regs)
{
	int stop;

	pe_periods_next(e);
	pe_trigger_count(e);
	/* The last sample asked for was written, but the event is not off yet. */
	if (unlikely(READ_ONCE(e->pending_disable)))
		return 1;
	if (likely(!e->aux_event))
		return act(e, throttling, data, regs);

	/* The tracer is paused before the sample is taken, and resumed after it. */
	pe_aux_pause(e);
	stop = act(e, throttling, data, regs);
	pe_aux_resume(e);
	return stop;
}

/**
 * pe_overflow() - an event has counted one period
 * @e: the event
 * @throttling: may it be throttled for this?
 * @data: the sample, initialised
 * @regs: registers at the overflow
 *
 * On the event's CPU, interrupts off, NMI included; or as pe_software_hit_away() says.
 *
 * Return: nonzero if the event has to be stopped.
 */
int pe_overflow(struct pe_event *e, enum pe_throttling throttling, struct perf_sample_data *data,
		struct pt_regs *regs)
{
	int stop;

	/* Counting events overflow too, where the hardware counter is narrow. */
	if (unlikely(!is_sampling_event(&e->pub)))
		return 0;
	if (unlikely(READ_ONCE(e->sink->other_overflow))) {
		if (READ_ONCE(e->sink->slow_overflow))
			return slow_overflow(e, throttling, data, regs);
		pe_periods_next(e);
	}
	stop = account(e, throttling, data->period);
	READ_ONCE(e->overflow_handler)(&e->pub, data, regs);
	return stop;
}

/**
 * perf_event_overflow() - a counter has overflowed
 * @event: the event
 * @data: the sample, initialised
 * @regs: registers at the overflow
 *
 * From the interrupt of a PMU.  Return: nonzero if the driver has to stop the event.
 */
int perf_event_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	lockdep_assert_irqs_disabled();
	if (unlikely(READ_ONCE(event->state) != PERF_EVENT_STATE_ACTIVE))
		return 0;
	return pe_overflow(pe(event), PE_MAY_THROTTLE, data, regs);
}

/* A new tick begins.  Return: something was throttled in the old one. */
static bool begin_tick(void)
{
	bool release;

	lockdep_assert_irqs_disabled();
	__this_cpu_inc(pe_cpu.throttle_seq);
	if (likely(!__this_cpu_read(pe_cpu.throttled)))
		return false;

	release = __this_cpu_xchg(pe_cpu.throttled, 0);
	tick_dep_clear_cpu(smp_processor_id(), TICK_DEP_BIT_PERF_EVENTS);
	/* An NMI between the two lines lost its wish for the next tick. */
	if (__this_cpu_read(pe_cpu.throttled))
		tick_dep_set_cpu(smp_processor_id(), TICK_DEP_BIT_PERF_EVENTS);
	return release;
}

static __always_inline void tick(void)
{
	bool release = begin_tick();
	struct pe_ctx *ctx;

	pe_tick_freq(&this_cpu_ptr(&pe_cpu)->ctx, release);
	guard(rcu)();
	ctx = pe_current_ctx();
	if (ctx)
		pe_tick_freq(ctx, release);
}

static noinline void count_tick(void)
{
	u64 begin = pe_now();

	tick();
	pe_cost_add(PE_COST_TICK, 1, pe_now() - begin);
}

/**
 * perf_event_task_tick() - the scheduler's tick on this CPU
 *
 * Interrupts off.  Adapts periods in frequency mode and lets throttled events go on.
 */
void perf_event_task_tick(void)
{
	if (pe_cost_wanted())
		count_tick();
	else
		tick();
}
