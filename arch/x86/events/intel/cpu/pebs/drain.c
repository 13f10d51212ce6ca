// SPDX-License-Identifier: GPL-2.0
/*
 * PEBS: from records in the buffer to samples.
 *
 * intel_pe_drain_pebs() is called with the PMU off: from the PMI with the interrupted registers,
 * and without registers from task context, when events or tasks change or counters are read.
 *
 * Two passes.  The first learns how many records each event has and which is its last, so that its
 * count and its period can be set right before the first sample is written.  The second writes the
 * samples in the order of the records.  Only the last one of an event goes the way of an overflow,
 * where the event may be throttled or sends signals; and only in the PMI.  What is throttled stops
 * after the second pass, all together.
 *
 * The PMI is blocked meanwhile.  A drain within a drain is asked for by who reads an event: the
 * samples that are written here, with counts of a group, and other NMIs.
 *
 * Format 6 and architectural PEBS have values of counters in the records, for groups that sample
 * their counts.  The counts of these go from record to record, in the second pass, and only then to
 * now.
 */
#include <linux/perf_event.h>

#include <asm/msr.h>

#include "pebs.h"

/* Event counters of either kind: 32 general ones, 16 fixed ones. */
#define COUNTERS	(INTEL_PMC_IDX_FIXED + MAX_FIXED_PEBS_EVENTS)

#define for_each_counter(idx, mask)	for_each_set_bit(idx, (unsigned long *)&(mask), COUNTERS)

/* What the first pass knows of one event. */
struct tally {
	struct perf_event	*event;
	void			*last;		/* record */
	u64			period;		/* that ended with the records */
	unsigned short		records;
	unsigned short		lost;
};

struct drain {
	void		*first, *end;
	size_t		size;		/* of a record of formats 0 to 3 */
	u64		enabled;	/* counters with PEBS */
	u64		owners;		/* those that have a tally */
	u64		members;	/* those whose counts go by the records */
	u64		stop;		/* those of events that are to stop */
	struct tally	*of;		/* by counter */
	struct pt_regs	*at_pmi;	/* NULL outside the PMI */
};

/* Too much for the stack of an NMI.  A drain within a drain has none. */
static DEFINE_PER_CPU(struct tally [COUNTERS], tallies);

/* How far a drain on this CPU is, if there is one. */
enum stage {
	NO_DRAIN,
	RECORDS_IN_HAND,	/* not counted yet */
	RECORDS_COUNTED,	/* but for events whose counts go from record to record */
};

static DEFINE_PER_CPU(enum stage, stage);

/* The counters PEBS can be enabled for. */
static u64 pebs_counters(struct cpu_hw_events *cpuc)
{
	u64 counters = hybrid(cpuc->pmu, pebs_events_mask);

	if (intel_pe_arch_pebs())
		counters = hybrid(cpuc->pmu, arch_pebs).counters;
	else if (x86_pmu.intel_cap.pebs_format >= 4 || x86_pmu.flags & PMU_FL_PEBS_ALL)
		counters |= hybrid(cpuc->pmu, fixed_cntr_mask64) << INTEL_PMC_IDX_FIXED;
	return counters & GENMASK_ULL(COUNTERS - 1, 0);
}

/* Where the buffer begins; NULL if there is none. */
static void *first_record(struct cpu_hw_events *cpuc)
{
	struct debug_store *ds = READ_ONCE(cpuc->ds);

	if (intel_pe_arch_pebs())
		return cpuc->arch_buffer.records;
	return ds ? (void *)(unsigned long)ds->pebs_buffer_base : NULL;
}

/* Take everything there is out of the buffer. */
static void *take_records(struct cpu_hw_events *cpuc)
{
	struct debug_store *ds = cpuc->ds;
	unsigned long end;

	if (intel_pe_arch_pebs())
		return intel_pe_arch_take(cpuc);
	end = ds->pebs_index;
	ds->pebs_index = ds->pebs_buffer_base;
	return (void *)end;
}

/**
 * intel_pe_record_owners - which counters' overflows made a record of formats 1 and 2?
 * @status: GLOBAL_STATUS at that time, from the record
 * @enabled: counters with PEBS
 * @collided: counters whose records have become one that belongs to none of them
 *
 * Counters without PEBS overflow as they like, their bits mean nothing.  No bit at all happens
 * when the status is cleared just then: if only one counter has PEBS it is that one's.
 * Return: the counter as a mask, or 0.
 */
u64 intel_pe_record_owners(u64 status, u64 enabled, u64 *collided)
{
	status &= enabled;
	if (!status && is_power_of_2(enabled))
		status = enabled;
	*collided = 0;
	if (hweight64(status) < 2)
		return status;
	*collided = status;
	return 0;
}

/**
 * intel_pe_size_at - how long is the record here?
 * @record: a place in the buffer
 * @left: bytes from there to the end of what was written
 * @fixed: the size of all records of formats 0 to 3
 *
 * Later ones say it themselves, and it is right also when they are not what was configured.
 * Return: bytes; 0 if there is no whole record, which is the end.
 */
size_t intel_pe_size_at(const void *record, size_t left, size_t fixed)
{
	size_t size = fixed;

	if (intel_pe_arch_pebs())
		return intel_pe_arch_size(record, left);
	if (x86_pmu.intel_cap.pebs_format >= 4) {
		if (left < sizeof(struct pebs_basic))
			return 0;
		size = ((const struct pebs_basic *)record)->format_size;
		if (WARN_ON_ONCE(size < sizeof(struct pebs_basic)))
			return 0;
	}
	return size <= left ? size : 0;
}

static size_t size_at(struct drain *d, void *record)
{
	return record < d->end ? intel_pe_size_at(record, d->end - record, d->size) : 0;
}

static u64 owners(struct drain *d, void *record, u64 *collided)
{
	const int format = x86_pmu.intel_cap.pebs_format;

	*collided = 0;
	if (intel_pe_arch_pebs())
		return intel_pe_arch_owners(record) & d->enabled;
	if (format >= 4)
		return ((struct pebs_basic *)record)->applicable_counters & d->enabled;
	/* Format 0 is for the first counter. */
	if (format == 0)
		return d->enabled & 1;
	/* Format 3 has one record for several counters if they overflow together. */
	if (format == 3)
		return ((u64 *)record)[INTEL_PE_STATUS] & d->enabled;
	return intel_pe_record_owners(((u64 *)record)[INTEL_PE_STATUS], d->enabled, collided);
}

/* The tally of a counter, NULL if nobody has it. */
static struct tally *tally_of(struct drain *d, int idx)
{
	struct tally *t = &d->of[idx];
	struct perf_event *event;

	if (d->owners & BIT_ULL(idx))
		return t->event ? t : NULL;

	d->owners |= BIT_ULL(idx);
	event = this_cpu_read(cpu_hw_events.events[idx]);
	*t = (struct tally){ .event = event, .period = event ? event->hw.last_period : 0 };
	if (WARN_ON_ONCE(event && !event->attr.precise_ip))
		t->event = NULL;
	return t->event ? t : NULL;
}

static void count_records(struct drain *d)
{
	u64 own, collided, hit;
	struct tally *t;
	void *record;
	size_t size;
	int idx;

	for (record = d->first; (size = size_at(d, record)); record += size) {
		own = owners(d, record, &collided);
		hit = own | collided;
		for_each_counter(idx, hit) {
			t = tally_of(d, idx);
			if (!t)
				continue;
			if (own) {
				t->records++;
				t->last = record;
			} else {
				t->lost++;
			}
		}
	}
}

/**
 * intel_pe_reloaded - what did a counter see that reloads itself?
 * @then: its value at the last look
 * @now: and now
 * @bits: how wide it is
 * @period: it goes from -period to 0 and begins again
 * @overflows: how often there were records of that in between
 *
 * If the buffer was full there was an overflow more, of which nobody knows but the value itself.
 * Return: events.
 */
s64 intel_pe_reloaded(u64 then, u64 now, int bits, u64 period, unsigned int overflows)
{
	s64 passed = sign_extend64(now, bits - 1) - sign_extend64(then, bits - 1);

	passed += overflows * period;
	return passed < 0 ? passed + (s64)period : passed;
}

static void account_reloaded(struct perf_event *event, unsigned int overflows)
{
	const int bits = x86_pmu.cntval_bits;
	struct hw_perf_event *hw = &event->hw;
	u64 then, now;

	rdpmcl(hw->event_base_rdpmc, now);
	then = local64_read(&hw->prev_count);
	local64_set(&hw->prev_count, sign_extend64(now, bits - 1));
	/* IOC_PERIOD may have set hw.sample_period, which the counter takes up when it starts. */
	local64_add(intel_pe_reloaded(then, now, bits, hw->last_period, overflows), &event->count);
	local64_set(&hw->period_left, -sign_extend64(now, bits - 1));
	perf_event_update_userpage(event);
}

/* Does the event's counter begin anew with each record? */
static bool begins_anew(struct perf_event *event)
{
	u32 flags = PERF_X86_EVENT_AUTO_RELOAD;

	/* Architectural PEBS and other counters reload it with the same value. */
	if (intel_pe_arch_pebs())
		flags |= PERF_X86_EVENT_ACR;
	return event->hw.flags & flags;
}

/* What it begins anew with.  One that others reload may have another period than the last one. */
static s64 new_period(struct hw_perf_event *hw)
{
	return hw->flags & PERF_X86_EVENT_ACR ? intel_pe_reload(hw->idx) : hw->last_period;
}

/*
 * A counter that others reload has begun anew with each of these records.  Until the first one it
 * saw what was left at the last look, or more if others had reloaded it; it has seen whole periods
 * since.
 */
static void account_periods(struct perf_event *event, unsigned int records)
{
	struct hw_perf_event *hw = &event->hw;
	const s64 period = new_period(hw);
	s64 passed, then;

	then = sign_extend64(local64_read(&hw->prev_count), x86_pmu.cntval_bits - 1);
	local64_set(&hw->prev_count, -period);
	passed = max_t(s64, -then, 0) + (records - 1) * period;
	local64_add(passed, &event->count);
	local64_sub(passed, &hw->period_left);
}

/* One that has an interrupt for each record.  If its period is not over it has no sample. */
static void account_interrupted(struct tally *t, bool records_done)
{
	if (t->records && !records_done && begins_anew(t->event))
		account_periods(t->event, t->records);
	if (!intel_pmu_save_and_restart(t->event))
		t->event = NULL;
}

/*
 * Counts and periods are those of now; in the PMI, where nobody asks for counts, only those of
 * events with records.
 */
static void account(struct drain *d, u64 counters, bool records_done)
{
	struct perf_event *event;
	struct tally none = {};
	struct tally *t;
	int idx;

	counters &= d->enabled;
	for_each_counter(idx, counters) {
		t = d->owners & BIT_ULL(idx) ? &d->of[idx] : &none;
		if (d->at_pmi && !t->event)
			continue;
		event = t->event ?: this_cpu_read(cpu_hw_events.events[idx]);
		if (event && event->hw.flags & PERF_X86_EVENT_AUTO_RELOAD)
			account_reloaded(event, records_done ? 0 : t->records + t->lost);
		else if (t->event)
			account_interrupted(t, records_done);
	}
}

static bool is_in_records(struct cpu_hw_events *cpuc, int idx)
{
	u64 cfg = cpuc->active_pebs_data_cfg & ~INTEL_PE_GROUP_COUNTERS;

	if (intel_pe_arch_pebs())
		return intel_pe_arch_shown(cpuc, idx);
	return intel_pe_counter_bits(idx) & cfg;
}

/* Which events' counts go by the records? */
static void find_members(struct drain *d)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	int idx;

	d->members = 0;
	if (!intel_pe_arch_pebs() && !(cpuc->active_pebs_data_cfg & INTEL_PE_GROUP_COUNTERS))
		return;
	for (idx = 0; idx < COUNTERS; idx++) {
		struct perf_event *event = cpuc->events[idx];

		if (event && is_in_records(cpuc, idx) && intel_pe_takes_snapshots(event))
			d->members |= BIT_ULL(idx);
	}
}

/* The counter had this value when the record was made. */
static void take_count(struct perf_event *event, int idx, u64 value, bool overflowed)
{
	const int top = x86_pmu.cntval_bits - 1;
	struct hw_perf_event *hw = &event->hw;
	s64 moved = sign_extend64(value - local64_read(&hw->prev_count), top);
	s64 next = sign_extend64(value, top);

	/* Who has read the counter since has accounted that. */
	if (moved < 0 && !(hw->flags & PERF_X86_EVENT_ACR))
		return;
	/* The value is the one before the counter was reloaded. */
	if (overflowed)
		next = begins_anew(event) ? -new_period(hw) : 0;
	local64_set(&hw->prev_count, next);
	local64_add(intel_pe_acr_passed(moved, sign_extend64(value, top), intel_pe_reload(idx)),
		    &event->count);
	local64_sub(moved, &hw->period_left);
}

static void take_counts(struct drain *d, void *record, u64 own)
{
	struct intel_pe_groups g;
	u64 *value, has;
	int idx;

	if (!d->members)
		return;
	if (!intel_pe_take_apart(record, &g) || !g.counters)
		return;
	value = g.counters->value;
	has = g.counters->general | (u64)g.counters->fixed << INTEL_PMC_IDX_FIXED;
	for_each_counter(idx, has) {
		if (d->members & BIT_ULL(idx))
			take_count(this_cpu_read(cpu_hw_events.events[idx]), idx, *value,
				   own & BIT_ULL(idx));
		value++;
	}
}

/* A period that is not over has no sample.  For others account() has found that out. */
static bool is_too_early(struct drain *d, int idx)
{
	struct hw_perf_event *hw = &d->of[idx].event->hw;

	return d->members & BIT_ULL(idx) &&
	       !(hw->flags & (PERF_X86_EVENT_AUTO_RELOAD | PERF_X86_EVENT_ACR)) &&
	       local64_read(&hw->period_left) > 0;
}

static void report_lost(struct drain *d)
{
	struct tally *t;
	int idx;

	for_each_counter(idx, d->owners) {
		t = &d->of[idx];
		if (!t->event || !t->lost)
			continue;
		perf_log_lost_samples(t->event, t->lost);
		/* account() has begun the next period. */
		if (d->at_pmi && perf_event_account_period(t->event, t->period))
			d->stop |= BIT_ULL(idx);
	}
}

static void write_sample(struct drain *d, int idx, void *record, struct perf_sample_data *data)
{
	static struct pt_regs nowhere;
	struct pt_regs *at_pmi = d->at_pmi;
	struct tally *t = &d->of[idx];
	struct x86_perf_regs regs;

	regs.xmm_regs = NULL;
	perf_sample_data_init(data, 0, t->period);
	if (x86_pmu.intel_cap.pebs_format < 4)
		intel_pe_sample_words(t->event, record, at_pmi ?: &nowhere, data, &regs.regs);
	else
		intel_pe_sample_groups(t->event, record, at_pmi ?: &nowhere, data, &regs.regs);

	if (!at_pmi || record != t->last)
		perf_event_output(t->event, data, &regs.regs);
	else if (perf_event_overflow(t->event, data, &regs.regs))
		d->stop |= BIT_ULL(idx);
}

static void write_samples(struct drain *d, struct perf_sample_data *data)
{
	u64 own, collided;
	void *record;
	size_t size;
	int idx;

	for (record = d->first; (size = size_at(d, record)); record += size) {
		own = owners(d, record, &collided);
		take_counts(d, record, own);
		for_each_counter(idx, own) {
			if (d->of[idx].event && !is_too_early(d, idx))
				write_sample(d, idx, record, data);
		}
	}
}

static void stop_throttled(struct drain *d)
{
	int idx;

	x86_pmu_hold_throttled(false);
	for_each_counter(idx, d->stop) {
		if (d->of[idx].event)
			x86_pmu_stop(d->of[idx].event, 0);
	}
}

/* A sample that is written has counts of events of which there are no records, too. */
static void drain_within(struct drain *d)
{
	if (this_cpu_read(stage) != RECORDS_COUNTED)
		return;
	this_cpu_write(stage, RECORDS_IN_HAND);
	account(d, ~d->members, false);
	this_cpu_write(stage, RECORDS_COUNTED);
}

static void drain(struct drain *d, struct cpu_hw_events *cpuc, struct perf_sample_data *data)
{
	x86_pmu_block_pmi();
	this_cpu_write(stage, RECORDS_IN_HAND);
	d->end = take_records(cpuc);
	count_records(d);
	account(d, ~d->members, false);
	this_cpu_write(stage, RECORDS_COUNTED);
	if (d->owners) {
		x86_pmu_hold_throttled(d->at_pmi);
		report_lost(d);
		write_samples(d, data);
	}
	account(d, d->members, true);
	this_cpu_write(stage, NO_DRAIN);
	if (d->owners)
		stop_throttled(d);
	x86_pmu_unblock_pmi();
}

/**
 * intel_pe_drain_pebs - turn all records in this CPU's buffer into samples
 * @at_pmi: the interrupted registers; NULL outside the PMI
 * @data: storage
 *
 * Outside, counters that reload themselves are accounted even if there is no record.
 */
void intel_pe_drain_pebs(struct pt_regs *at_pmi, struct perf_sample_data *data)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct drain d;

	/*
	 * An interrupt for PT may come when the last event of counters is gone, and the area with
	 * it.
	 */
	d.first = first_record(cpuc);
	if (!x86_pmu.pebs_active || !d.first)
		return;
	d.size = cpuc->pebs_record_size;
	d.enabled = cpuc->pebs_enabled & pebs_counters(cpuc);
	d.owners = 0;
	d.stop = 0;
	d.of = this_cpu_ptr(tallies);
	d.at_pmi = at_pmi;
	find_members(&d);

	if (unlikely(this_cpu_read(stage)))
		drain_within(&d);
	else
		drain(&d, cpuc, data);
}

/** intel_pe_is_draining - does a drain around this have records of @event, or with its count? */
bool intel_pe_is_draining(struct perf_event *event)
{
	enum stage around = this_cpu_read(stage);

	return around == RECORDS_IN_HAND ||
	       (around == RECORDS_COUNTED && intel_pe_takes_snapshots(event));
}
