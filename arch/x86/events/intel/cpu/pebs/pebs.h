/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Debug store and PEBS of Intel CPUs: what the files of this folder share.
 *
 * What the rest of the driver calls is declared in ../../../perf_event.h.
 */
#ifndef _ARCH_X86_EVENTS_INTEL_PEBS_H
#define _ARCH_X86_EVENTS_INTEL_PEBS_H

#include "../../../perf_event.h"

/*
 * The records of formats 0 to 3, in words of 64 bits.  Format 0 ends before the status, 1 before
 * the eventing address, 2 before the TSC.
 */
enum intel_pe_word {
	INTEL_PE_FLAGS,
	INTEL_PE_IP,
	INTEL_PE_GPRS,			/* ax bx cx dx si di bp sp r8 ... r15 */
	INTEL_PE_STATUS = 18,
	INTEL_PE_ADDRESS,
	INTEL_PE_SOURCE,
	INTEL_PE_LATENCY,
	INTEL_PE_EVENTING_IP,
	INTEL_PE_TSX,
	INTEL_PE_TSC,
	INTEL_PE_WORDS
};

/*
 * Format 6: a group of counters, which asm/perf_event.h of Linux 6.12 does not have.  Bits of
 * MSR_PEBS_DATA_CFG (SDM, vol. 3B, "PEBS counters group"); a record's first word has those of the
 * groups, the group itself says which counters.
 */
#define INTEL_PE_GROUP_COUNTERS	BIT_ULL(4)
#define INTEL_PE_GROUP_METRICS	BIT_ULL(5)
#define INTEL_PE_GENERAL_SHIFT	32
#define INTEL_PE_GENERAL_MASK	GENMASK_ULL(15, 0)
#define INTEL_PE_FIXED_SHIFT	48
#define INTEL_PE_FIXED_MASK	GENMASK_ULL(7, 0)

struct intel_pe_counters {
	u32	general, fixed;		/* masks of the counters whose values follow */
	u32	metrics, reserved;
	u64	value[];
};

/* A record of format 4 and up, taken apart.  Groups it does not have are NULL. */
struct intel_pe_groups {
	struct pebs_basic	*basic;
	struct pebs_meminfo	*mem;
	struct pebs_gprs	*gprs;
	struct pebs_xmm		*xmms;
	struct lbr_entry	*branches;
	struct intel_pe_counters *counters;
	void			*end;
	struct {			/* what an architectural record has in another form */
		struct pebs_basic	basic;
		struct pebs_meminfo	mem;
	} own;
};

/* Does the CPU have architectural PEBS?  Then it has no other. */
DECLARE_STATIC_KEY_FALSE(intel_pe_arch_pebs_key);
#define intel_pe_arch_pebs()	static_branch_unlikely(&intel_pe_arch_pebs_key)

/* arch.c */
#define INTEL_PE_STATUS_ARCH_BIT	54	/* of the global status: records */
size_t intel_pe_arch_size(const void *record, size_t left);
u64 intel_pe_arch_owners(const void *record);
bool intel_pe_arch_take_apart(void *record, struct intel_pe_groups *g);
bool intel_pe_arch_wait(void);
void *intel_pe_arch_take(struct cpu_hw_events *cpuc);
void intel_pe_set_reload(struct cpu_hw_events *cpuc, int idx, u32 value);
void intel_pe_arch_threshold(struct cpu_hw_events *cpuc);
void intel_pe_arch_enable(struct perf_event *event);
bool intel_pe_arch_shown(struct cpu_hw_events *cpuc, int idx);
u64 intel_pe_arch_counters(struct perf_event *event);
int intel_pe_arch_prepare(int cpu);
void intel_pe_arch_dead(int cpu);
void intel_pe_arch_starting(struct cpu_hw_events *cpuc);
void intel_pe_arch_dying(struct cpu_hw_events *cpuc);
void intel_pe_arch_init(void);
void intel_pe_arch_enumerate(struct pmu *pmu);

/*
 * Do all PEBS events of the CPU pile up records?  Those into a PT trace leave none in the buffer.
 */
static inline bool intel_pe_piles_up(struct cpu_hw_events *cpuc)
{
	return cpuc->n_pebs == cpuc->n_large_pebs && cpuc->n_pebs != cpuc->n_pebs_via_pt;
}

/* Do records have counters on this CPU?  init.c */
DECLARE_STATIC_KEY_FALSE(intel_pe_records_count);

/*
 * Are the counts in samples of the event's group those of the moment of the record?  Then records
 * that wait in the buffer say what a counter of the group was: before anything else looks at it or
 * loads it, they become samples.
 */
static inline bool intel_pe_takes_snapshots(struct perf_event *event)
{
	return static_branch_unlikely(&intel_pe_records_count) &&
	       check_leader_group(event->group_leader, PERF_X86_EVENT_PEBS_CNTR);
}

/*
 * What tables say of an event.  Another CPU may be adding a flag of the group to those of a leader:
 * they are written only if one is missing, which is so once.
 */
static inline void intel_pe_add_flags(struct perf_event *event, int flags)
{
	if (flags & ~event->hw.flags)
		event->hw.flags |= flags;
}

/* Is the buffer not empty? */
static inline bool intel_pe_records_wait(struct cpu_hw_events *cpuc)
{
	if (intel_pe_arch_pebs())
		return intel_pe_arch_wait();
	return cpuc->ds && cpuc->ds->pebs_index > cpuc->ds->pebs_buffer_base;
}

/* The longest period of a counter that others reload: 32 bits, those above them are ones. */
#define INTEL_PE_ACR_LONGEST	((u64)U32_MAX)

/* As with x86_perf_event_set_period() no counter is one event away from its overflow. */
static inline u64 intel_pe_acr_reload(u64 period)
{
	return max(period, 2ULL);
}

/* How far from its overflow does a counter of this CPU begin if it is reloaded? */
static inline u64 intel_pe_reload(int idx)
{
	return -(u32)this_cpu_read(cpu_hw_events.cfg_c[idx]);
}

/*
 * What did a counter see that others reload?  It @moved so far since the last look, backwards if it
 * was reloaded with @reload to go, and is @now.  What it saw before that is not known.
 */
static inline u64 intel_pe_acr_passed(s64 moved, s64 now, u64 reload)
{
	return moved >= 0 ? moved : max_t(s64, now + (s64)reload, 0);
}

/* pebs.c */
void intel_pe_pebs_reconfigure(struct cpu_hw_events *cpuc);
u64 intel_pe_counter_bits(int idx);
u64 intel_pe_groups_for(struct perf_event *event);
int intel_pe_record_size(u64 cfg);

/* drain.c */
size_t intel_pe_size_at(const void *record, size_t left, size_t fixed);
u64 intel_pe_record_owners(u64 status, u64 enabled, u64 *collided);
s64 intel_pe_reloaded(u64 then, u64 now, int bits, u64 period, unsigned int overflows);
void intel_pe_drain_pebs(struct pt_regs *regs, struct perf_sample_data *data);
bool intel_pe_is_draining(struct perf_event *event);

/* sample.c */
void intel_pe_sample_words(struct perf_event *event, u64 *record, struct pt_regs *at_pmi,
			   struct perf_sample_data *data, struct pt_regs *regs);
void intel_pe_sample_groups(struct perf_event *event, void *record, struct pt_regs *at_pmi,
			    struct perf_sample_data *data, struct pt_regs *regs);
void *intel_pe_behind_counters(const struct intel_pe_counters *counters);
bool intel_pe_take_apart(void *record, struct intel_pe_groups *g);
u64 intel_pe_transaction(u64 tsx, u64 ax);

/* store.c */
void intel_pe_freeze_in_smm(void *unused);

/* rewind.c */
int intel_pe_alloc_rewind(int cpu);
void intel_pe_free_rewind(int cpu);
bool intel_pe_rewind(struct pt_regs *regs);
int intel_pe_last_insn(const u8 *code, int size, bool is_64bit);

/* events.c: tables of cores that 6.12 does not tell apart */
extern struct event_constraint intel_cmt_pebs_event_constraints[];
extern struct event_constraint intel_dkt_pebs_event_constraints[];
extern struct event_constraint intel_pnc_pebs_event_constraints[];

/* source.c; the first four are of machines that 6.12 does not know */
void intel_pe_arl_h_data_source(void);
void intel_pe_pnc_data_source(void);
void intel_pe_nvl_data_source(void);
u64 intel_pe_omr_latency(struct perf_event *event, u64 status);
u64 intel_pe_data_source(struct perf_event *event, u64 status);

#endif
