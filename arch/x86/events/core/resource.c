// SPDX-License-Identifier: GPL-2.0
/*
 * What is shared with others: counter registers, the buffers of debug store and branch records,
 * and the exclusion of branch records, BTS and PT.
 *
 * Events of the CPU PMU, of PT and of BTS take and give back here, in task context.  The first
 * takes, under reserve_mutex; the others only count.  The last leaves the giving back to a work
 * item a second later: the buffers are large, on every CPU, and programs that try what there is
 * open and close one event after the other.
 */
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include <asm/nmi.h>

#include "core.h"

/* Events whose PMI the NMI handler of pmi.c must look after. */
atomic_t x86_pe_active_events;

static atomic_t users;
static DEFINE_MUTEX(reserve_mutex);
static bool taken;			/* reserve_mutex */

#ifdef CONFIG_X86_LOCAL_APIC

/* The counters of all PMUs of a hybrid machine. */
static u64 every_counter(void)
{
	u64 mask = x86_pmu.cntr_mask64;
	int i;

	for (i = 0; is_hybrid() && i < x86_pmu.num_hybrid_pmus; i++)
		mask |= x86_pmu.hybrid_pmu[i].cntr_mask64;
	return mask;
}

static void give_back(u64 counters, u64 selects)
{
	int i;

	for_each_set_bit(i, (unsigned long *)&counters, X86_PMC_IDX_MAX)
		release_perfctr_nmi(x86_pmu_event_addr(i));
	for_each_set_bit(i, (unsigned long *)&selects, X86_PMC_IDX_MAX)
		release_evntsel_nmi(x86_pmu_config_addr(i));
}

/* All registers or none. */
static bool take_registers(void)
{
	u64 all = every_counter(), counters = 0, selects = 0;
	int i;

	for_each_set_bit(i, (unsigned long *)&all, X86_PMC_IDX_MAX) {
		if (!reserve_perfctr_nmi(x86_pmu_event_addr(i)))
			goto busy;
		counters |= BIT_ULL(i);
		if (!reserve_evntsel_nmi(x86_pmu_config_addr(i)))
			goto busy;
		selects |= BIT_ULL(i);
	}
	return true;
busy:
	give_back(counters, selects);
	return false;
}

static void release_registers(void)
{
	give_back(every_counter(), every_counter());
}

#else

static bool take_registers(void) { return true; }
static void release_registers(void) { }

#endif

/**
 * x86_reserve_hardware - an event needs the counters
 *
 * Return: 0, or -EBUSY when somebody else owns some of them.
 */
int x86_reserve_hardware(void)
{
	if (atomic_inc_not_zero(&users))
		return 0;

	guard(mutex)(&reserve_mutex);
	if (!taken) {
		if (!take_registers())
			return -EBUSY;
		if (x86_pmu.reserve_buffers)
			x86_pmu.reserve_buffers();
		taken = true;
	}
	atomic_inc(&users);
	return 0;
}

/* An event that came meanwhile, or comes and waits for the mutex, keeps or takes everything. */
static void x86_pe_give_all_back(struct work_struct *work)
{
	guard(mutex)(&reserve_mutex);
	if (atomic_read(&users) || !taken)
		return;
	taken = false;
	release_registers();
	if (x86_pmu.release_buffers)
		x86_pmu.release_buffers();
}

static DECLARE_DELAYED_WORK(give_back_work, x86_pe_give_all_back);

/** x86_release_hardware - undo one x86_reserve_hardware() */
void x86_release_hardware(void)
{
	if (atomic_dec_and_test(&users))
		mod_delayed_work(system_wq, &give_back_work, HZ);
}

/* On some CPUs PT does not disturb the other two. */
static bool coexists(unsigned int what)
{
	return what == x86_lbr_exclusive_pt && x86_pmu.lbr_pt_coexist;
}

/**
 * x86_add_exclusive - an event uses branch records, BTS or PT
 * @what: x86_lbr_exclusive_*
 *
 * Return: 0, or -EBUSY while events use another of the three.
 */
int x86_add_exclusive(unsigned int what)
{
	atomic_t *mine = &x86_pmu.lbr_exclusive[what];
	int i;

	if (!coexists(what) && !atomic_inc_not_zero(mine)) {
		guard(mutex)(&reserve_mutex);
		for (i = 0; i < x86_lbr_exclusive_max; i++) {
			if (i != what && atomic_read(&x86_pmu.lbr_exclusive[i]))
				return -EBUSY;
		}
		atomic_inc(mine);
	}
	atomic_inc(&x86_pe_active_events);
	return 0;
}

/**
 * x86_del_exclusive - undo one x86_add_exclusive()
 * @what: as there
 */
void x86_del_exclusive(unsigned int what)
{
	atomic_dec(&x86_pe_active_events);
	if (!coexists(what))
		atomic_dec(&x86_pmu.lbr_exclusive[what]);
}
