// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that user space reads without a system call.
 *
 * An event asks for it with the rdpmc bit of its config1; it must belong to a task.  The sysctl
 * kernel.perf_user_access allows it, by default it is 0.  PMUSERENR is open to EL0 only while a
 * task runs that has such an event (ctx->nr_user).  It is decided whenever the PMU starts.  While
 * it is open the PMU has itself told of switches: that starts it again, or closes if no counter is
 * in use.  So it is closed for whoever comes next, whatever the task has closed or left before.
 *
 * An event that stops leaves it open until the next switch: a task that has just read the index
 * from the page, and then the counter, finds something, and then that the page has changed.
 *
 * With FEAT_PMUv3p9 PMUACR opens the counters of such events.  They are events of a task, so on a
 * CPU they are those of the task that runs there.  PMUACR is written before PMUSERENR opens, and
 * keeps its value while that is closed.
 *
 * Before it PMUSERENR opens all counters or none.  Then counters without an event show 0, and those
 * of other events on this CPU can be seen, in the base, too.
 *
 * PMUSERENR, PMUACR and the counters are written on their CPU with irqs off: by the start, and by
 * the call that the sysctl sends to all CPUs when it closes them.  A start that has read the old
 * value is over when that call comes.  The overflow interrupt, which may be an NMI, writes none of
 * them: it thaws the bank, and events come and go by pmu_disable() and pmu_enable() alone.  No
 * locks.
 *
 * The user page says how to read the counter and how to turn CNTVCT into the time of the event.
 */
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/perf_event.h>
#include <linux/sched_clock.h>
#include <linux/smp.h>
#include <linux/sysctl.h>

#include <clocksource/arm_arch_timer.h>

#include "pmuv3.h"
#include "pmuv3_regs.h"

#define OPEN	(ARMV8_PMU_USERENR_ER | ARMV8_PMU_USERENR_CR)

static int user_access;

/* The PMU of this CPU follows switches, as PMUSERENR has been open. */
static DEFINE_PER_CPU(bool, follows);

static void follow_switches(struct arm_pmu *pmu, bool on)
{
	if (__this_cpu_read(follows) == on)
		return;
	__this_cpu_write(follows, on);
	if (on)
		perf_sched_cb_inc(&pmu->pmu);
	else
		perf_sched_cb_dec(&pmu->pmu);
}

/**
 * pmuv3_user_counters() - the counters that the running task may read
 * @events: of its CPU
 *
 * The instruction counter is none of them: without PMUSERENR.IR its bit would let EL0 write it.
 *
 * Return: bits as in PMUACR
 */
u64 pmuv3_user_counters(const struct pmu_hw_events *events)
{
	const struct perf_event *event;
	u64 counters = 0;
	int idx;

	for_each_set_bit(idx, events->used_mask, ARMPMU_MAX_HWEVENTS) {
		event = events->events[idx];
		/* The lower half of a pair has no event of its own. */
		if (event && event->hw.flags & PERF_EVENT_FLAG_USER_READ_CNT)
			counters |= pmuv3_counters_of(&event->hw);
	}
	return counters & ~PMUV3_INSTR_COUNTER;
}

static void open_counters(const struct arm_pmu *pmu)
{
	const struct pmu_hw_events *events = this_cpu_ptr(pmu->hw_events);

	if (pmuv3_has_uacr(pmu)) {
		pmuv3_set_uacr(pmuv3_user_counters(events));
		pmuv3_set_userenr(OPEN | ARMV8_PMU_USERENR_UEN);
	} else {
		pmuv3_wipe(events->used_mask[0]);
		pmuv3_set_userenr(OPEN);
	}
}

/**
 * pmuv3_start() - let the counters run, after deciding what user space may read
 * @pmu: the PMU; some counter is used
 */
void pmuv3_start(struct arm_pmu *pmu)
{
	struct perf_event_context *ctx = NULL;
	bool open;

	if (READ_ONCE(user_access))
		ctx = perf_cpu_task_ctx();
	open = ctx && ctx->nr_user;
	if (open)
		open_counters(pmu);
	else
		pmuv3_set_userenr(0);
	follow_switches(pmu, open);
	if (pmu->reg_brbidr) {
		pmuv3_clear_stale();
		pmuv3_brbe_start(pmu);
	}
	pmuv3_thaw();
}

/**
 * pmuv3_sched_task() - a task comes or goes
 * @pmu_ctx: of the PMU
 * @task: the task
 * @sched_in: it comes
 *
 * PMU off, irqs off; while perf_sched_cb_inc() asks for it: here, and for branch records.  If a
 * counter is in use the PMU starts behind this.
 */
void pmuv3_sched_task(struct perf_event_pmu_context *pmu_ctx, struct task_struct *task,
		      bool sched_in)
{
	struct arm_pmu *pmu = to_arm_pmu(pmu_ctx->pmu);

	if (!bitmap_empty(this_cpu_ptr(pmu->hw_events)->used_mask, ARMPMU_MAX_HWEVENTS))
		return;
	pmuv3_set_userenr(0);
	follow_switches(pmu, false);
}

/* Of other PMUs, software among them, hw.flags may be anything. */
static bool readable(const struct perf_event *event)
{
	return event->pmu->event_idx == pmuv3_event_idx &&
	       event->hw.flags & PERF_EVENT_FLAG_USER_READ_CNT;
}

/**
 * pmuv3_event_idx() - what the user page calls index
 * @event: an event that counts
 *
 * Return: index of the counter plus one, 0 if it is not to be read.
 */
int pmuv3_event_idx(struct perf_event *event)
{
	return READ_ONCE(user_access) && readable(event) ? event->hw.idx + 1 : 0;
}

static void pmuv3_close_here(void *unused)
{
	pmuv3_set_userenr(0);
}

/* Opening waits for the next start on each CPU, closing does not. */
static int pmuv3_write_user_access(const struct ctl_table *table, int write, void *buffer,
				   size_t *lenp, loff_t *ppos)
{
	int err = proc_dointvec_minmax(table, write, buffer, lenp, ppos);

	if (!err && write && !READ_ONCE(user_access))
		on_each_cpu(pmuv3_close_here, NULL, 1);
	return err;
}

static struct ctl_table sysctls[] = {
	{
		.procname	= "perf_user_access",
		.data		= &user_access,
		.maxlen		= sizeof(user_access),
		.mode		= 0644,
		.proc_handler	= pmuv3_write_user_access,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

/**
 * pmuv3_register_sysctl() - make kernel.perf_user_access
 *
 * For each PMU, the first one does it.  Probing is not concurrent.
 */
void pmuv3_register_sysctl(void)
{
	static bool done;

	if (!done)
		register_sysctl("kernel", sysctls);
	done = true;
}

/* Return: false if sched_clock() does not count CNTVCT. */
static bool read_clock(struct clock_read_data *clock)
{
	unsigned int seq;

	do {
		*clock = *sched_clock_read_begin(&seq);
	} while (sched_clock_read_retry(seq));
	return clock->read_sched_clock == arch_timer_read_counter;
}

/*
 * time_zero is the clock at CNTVCT 0, so that readers who do not know about time_short are right
 * until CNTVCT wraps.  The first version of the page's protocol shifts 32-bit numbers: a shift of
 * 32 is out of its reach.
 */
static void write_time(struct perf_event_mmap_page *page, const struct clock_read_data *clock,
		       u64 now)
{
	bool halve = clock->shift == 32;

	page->time_mult = clock->mult >> halve;
	page->time_shift = clock->shift - halve;
	page->time_cycles = clock->epoch_cyc;
	page->time_mask = clock->sched_clock_mask;
	page->time_zero = clock->epoch_ns -
			  mul_u64_u32_shr(clock->epoch_cyc, clock->mult, clock->shift);
	page->time_offset = page->time_zero - now;
}

/**
 * arch_perf_update_userpage() - the part of the user page that the architecture knows
 * @event: the event
 * @page: its page, the sequence number is odd
 * @now: the time of the event's clock
 */
void arch_perf_update_userpage(struct perf_event *event, struct perf_event_mmap_page *page,
			       u64 now)
{
	struct clock_read_data clock;
	bool timed = read_clock(&clock);

	page->cap_user_rdpmc = readable(event);
	if (page->cap_user_rdpmc)
		page->pmc_width = event->hw.flags & ARMPMU_EVT_64BIT ? 64 : 32;
	if (timed)
		write_time(page, &clock, now);
	page->cap_user_time = timed;
	page->cap_user_time_zero = timed;
	page->cap_user_time_short = timed;
}
