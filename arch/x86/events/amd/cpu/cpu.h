/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Core PMUs of AMD CPUs, K7 to Zen 5, and of Hygon's: what the files of this folder share.
 *
 * The contract with the vendor-neutral core is ../../perf_event.h; init.c fills in struct x86_pmu.
 * Names that only this folder uses start with amd_pe_.  Documentation/perf_events/x86-amd.rst
 * describes files, contexts and what differs between the generations.
 */
#ifndef _ARCH_X86_EVENTS_AMD_CPU_H
#define _ARCH_X86_EVENTS_AMD_CPU_H

#include <linux/perf_event.h>

#include "../../perf_event.h"

/* Event codes have twelve bits, in two places of an event-select. */
static inline unsigned int amd_pe_code(u64 select)
{
	return (select & 0xff) | (select >> 24 & 0xf00);
}

/* Two counters make one of 64 bits for events of more than 15 increments in a cycle. */
static inline bool amd_pe_is_pair(u64 select)
{
	return (x86_pmu.flags & PMU_FL_PAIR) && amd_pe_code(select) == 0x003; /* FLOPs retired */
}

/* events.c */
enum amd_pe_generation { AMD_PE_K7, AMD_PE_ZEN1, AMD_PE_ZEN2, AMD_PE_ZEN4, AMD_PE_GENERATIONS };

u64 amd_pe_generic_event(enum amd_pe_generation generation, int id);
void amd_pe_fill_cache_ids(u64 *ids, unsigned int family);
void __init amd_pe_events_init(void);

/* sysfs.c */
extern struct attribute *amd_pe_format_attrs[];
extern const struct attribute_group *amd_pe_attr_update[];
ssize_t amd_pe_show_event(char *page, u64 select);

/* counter.c: counters that are switched one by one, and NMIs that come late */
void amd_pe_stop_all(void);
void amd_pe_stop(struct perf_event *event);
int amd_pe_nmi(struct pt_regs *regs);
int amd_pe_claim(int handled);
void amd_pe_claim_cpu_init(void);
void __init amd_pe_claim_init(void);

/* global.c: PerfMonV2 */
void amd_pe_global_start_all(int added);
void amd_pe_global_stop_all(void);
void amd_pe_global_start(struct perf_event *event);
void amd_pe_global_stop(struct perf_event *event);
int amd_pe_global_nmi(struct pt_regs *regs);
void amd_pe_global_cpu_init(void);

/* config.c */
typedef int (*amd_pe_branch_config)(struct perf_event *event);
extern amd_pe_branch_config amd_pe_branch_hw_config;
u64 amd_pe_select(const struct perf_event_attr *attr, u64 select);
int amd_pe_hw_config(struct perf_event *event);

/* constraint.c */
u64 amd_pe_f15h_counters(u64 select);
struct event_constraint *amd_pe_f15h_constraint(struct cpu_hw_events *cpuc, int idx,
						struct perf_event *event);
struct event_constraint *amd_pe_zen_constraint(struct cpu_hw_events *cpuc, int idx,
					       struct perf_event *event);
struct event_constraint *amd_pe_brs_constraint(struct cpu_hw_events *cpuc, int idx,
					       struct perf_event *event);
void __init amd_pe_constraint_init(void);

/* nb.c: counters that the cores of a node share */
struct event_constraint *amd_pe_nb_constraint(struct cpu_hw_events *cpuc, int idx,
					      struct perf_event *event);
void amd_pe_nb_release(struct cpu_hw_events *cpuc, struct perf_event *event);
int amd_pe_nb_prepare(int cpu);
void amd_pe_nb_join(int cpu);
void amd_pe_nb_leave(int cpu);

/* lbr.c: branch records of PerfMonV2 CPUs */
unsigned int __init amd_pe_lbr_init(void);
void amd_pe_lbr_on(struct cpu_hw_events *cpuc);
void amd_pe_lbr_off(void);
void amd_pe_lbr_read(void);
void amd_pe_lbr_pick(struct cpu_hw_events *cpuc, u64 want);
void amd_pe_lbr_cpu_init(void);

/* lbr_filter.c, without registers */
#define AMD_PE_ALL_BRANCHES	GENMASK(8, 0)	/* in LBR_SELECT, where it suppresses */

struct amd_pe_branch_filter {
	u64	suppress;	/* what hardware does not record: LBR_SELECT */
	u64	want;		/* what software keeps: X86_BR_* */
};

int amd_pe_branch_filter(u64 asked, struct amd_pe_branch_filter *filter);
bool amd_pe_is_recorded(u64 to);
void amd_pe_decode_branch(u64 from, u64 to, unsigned int va_bits, struct perf_branch_entry *br);
bool amd_pe_want_branch(struct perf_branch_entry *br, u64 want);

/* brs.c: branch sampling of family 19h */
#ifdef CONFIG_PERF_EVENTS_AMD_BRS
unsigned int __init amd_pe_brs_init(void);
bool amd_pe_brs_wants(u64 branch_sample_type, u64 from, u64 to);
void amd_pe_brs_cpu_init(void);
#else
static inline unsigned int amd_pe_brs_init(void) { return 0; }
static inline void amd_pe_brs_cpu_init(void) { }
#endif

#endif
