/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Core PMUs of Intel CPUs: what the files of this folder share.
 *
 * The contract with the vendor-neutral core and with the files for PEBS and branch records is
 * ../../perf_event.h.  Names that only this folder uses start with intel_pe_.
 * Documentation/perf_events/x86-intel.rst describes the files.
 */
#ifndef _ARCH_X86_EVENTS_INTEL_CPU_H
#define _ARCH_X86_EVENTS_INTEL_CPU_H

#include "../../perf_event.h"

struct intel_pe_model;
struct intel_pe_core;

/* What asm/msr-index.h and asm/perf_event.h of Linux 6.12 do not have: perfmon v6 */
#define INTEL_PE_MSR_GP0_CFG_B	0x1902
#define INTEL_PE_MSR_FX0_CFG_B	0x1982
#define INTEL_PE_ACR_LEAF	2	/* of ARCH_PERFMON_EXT_LEAF */

#define INTEL_PE_IN_TX	(HSW_IN_TX | HSW_IN_TX_CHECKPOINTED)

/* init.c */
int intel_pe_init_arch(void);
int intel_pe_init(const struct intel_pe_model *model);

/* pmu.c: templates of x86_pmu for perfmon v1, and for v2 and later */
extern const struct x86_pmu intel_pe_v1_pmu, intel_pe_v2_pmu;
extern u64 intel_pe_event_codes[PERF_COUNT_HW_MAX];
extern bool intel_pe_has_any_thread;	/* config.c */

/* control.c: counters on and off */
void intel_pe_enable_all(int added);
void intel_pe_disable_all(void);
void intel_pe_stop_all(void);
void intel_pe_resume_after_pmi(void);
void intel_pe_enable(struct perf_event *event);
void intel_pe_disable(struct perf_event *event);
void intel_pe_v1_enable_all(int added);
void intel_pe_v1_enable(struct perf_event *event);
int intel_pe_branch_snapshot(struct perf_branch_entry *entries, unsigned int nr);
int intel_pe_arch_branch_snapshot(struct perf_branch_entry *entries, unsigned int nr);

/* event.c: one event's count, period and neighbours */
void intel_pe_add(struct perf_event *event);
void intel_pe_del(struct perf_event *event);
void intel_pe_read(struct perf_event *event);
void intel_pe_drain_before(struct perf_event *event);
int intel_pe_set_period(struct perf_event *event);
u64 intel_pe_update(struct perf_event *event);
void intel_pe_report_output_id(struct perf_event *event, int idx);

/* pmi.c */
int intel_pe_handle_irq(struct pt_regs *regs);

/* topdown.c */
u64 intel_pe_topdown_gain(struct hw_perf_event *hw, u64 slots, u64 metrics);
bool intel_pe_topdown_has_stopped(const struct hw_perf_event *hw);
bool intel_pe_topdown_goes_on(const struct hw_perf_event *metric,
			      const struct hw_perf_event *slots, u64 counter);
void intel_pe_topdown_start(struct perf_event *event);
u64 intel_pe_topdown_update(struct perf_event *event);
bool intel_pe_topdown_counts(struct perf_event *event);
int intel_pe_topdown_config(struct perf_event *event);

/* config.c: hw_config() and its kin */
int intel_pe_v1_config(struct perf_event *event);
int intel_pe_config(struct perf_event *event);
int intel_pe_tsx_config(struct perf_event *event);
int intel_pe_hybrid_config(struct perf_event *event);
int intel_pe_check_period(struct perf_event *event, u64 period);
int intel_pe_aux_output_match(struct perf_event *event);

/* sampling.c: what becomes of a precise event; errata about short periods */
void intel_pe_alias_core2(struct perf_event *event);
void intel_pe_alias_snb(struct perf_event *event);
void intel_pe_alias_ivb(struct perf_event *event);
void intel_pe_alias_skl(struct perf_event *event);
int intel_pe_precise_config(struct perf_event *event);
void intel_pe_limit_nhm(struct perf_event *event, s64 *left);
void intel_pe_limit_hsw(struct perf_event *event, s64 *left);
void intel_pe_limit_bdw(struct perf_event *event, s64 *left);
void intel_pe_limit_glc(struct perf_event *event, s64 *left);
u64 intel_pe_first_period(struct perf_event *event);

/* constraints.c */
struct event_constraint *intel_pe_get_constraint(struct cpu_hw_events *cpuc, int i,
						 struct perf_event *event);
struct event_constraint *intel_pe_get_hsw(struct cpu_hw_events *cpuc, int i,
					  struct perf_event *event);
struct event_constraint *intel_pe_get_icl(struct cpu_hw_events *cpuc, int i,
					  struct perf_event *event);
struct event_constraint *intel_pe_get_glc(struct cpu_hw_events *cpuc, int i,
					  struct perf_event *event);
struct event_constraint *intel_pe_get_glp(struct cpu_hw_events *cpuc, int i,
					  struct perf_event *event);
struct event_constraint *intel_pe_get_tnt(struct cpu_hw_events *cpuc, int i,
					  struct perf_event *event);
struct event_constraint *intel_pe_get_cmt(struct cpu_hw_events *cpuc, int i,
					  struct perf_event *event);
struct event_constraint *intel_pe_get_adl(struct cpu_hw_events *cpuc, int i,
					  struct perf_event *event);
struct event_constraint *intel_pe_get_mtl(struct cpu_hw_events *cpuc, int i,
					  struct perf_event *event);
void intel_pe_put_constraint(struct cpu_hw_events *cpuc, struct perf_event *event);

/* extra_regs.c: registers that events share */
bool intel_pe_get_extra_regs(struct cpu_hw_events *cpuc, struct perf_event *event);
void intel_pe_put_extra_regs(struct cpu_hw_events *cpuc, struct perf_event *event);

/* excl_cntrs.c: constraints that are cut down, and counters that hyper-threads must not both use */
struct event_constraint *intel_pe_leave_only(struct cpu_hw_events *cpuc,
					     struct event_constraint *c, u64 counters);
struct event_constraint *intel_pe_get_excl_cntrs(struct cpu_hw_events *cpuc,
						 struct perf_event *event,
						 struct event_constraint *c);
void intel_pe_put_excl_cntrs(struct cpu_hw_events *cpuc, struct perf_event *event);
void intel_pe_free_excl_cntrs(struct cpu_hw_events *cpuc);
void intel_pe_start_scheduling(struct cpu_hw_events *cpuc);
void intel_pe_commit_scheduling(struct cpu_hw_events *cpuc, int i, int counter);
void intel_pe_stop_scheduling(struct cpu_hw_events *cpuc);

/* acr.c: counters that are reloaded when others overflow, on CPUs of version 6 and up */
DECLARE_STATIC_KEY_FALSE(intel_pe_may_reload);
int intel_pe_acr_config(struct perf_event *event);
bool intel_pe_reload_fits(struct perf_event *event, u64 period);
bool intel_pe_acr_is_silent(struct perf_event *event);
u64 intel_pe_acr_counters(struct cpu_hw_events *cpuc, struct perf_event *event);
u64 intel_pe_acr_update(struct perf_event *event);
void intel_pe_acr_program(struct cpu_hw_events *cpuc);
void intel_pe_acr_leave(struct cpu_hw_events *cpuc);
void intel_pe_acr_cpu_starting(struct cpu_hw_events *cpuc);

/* tfa.c: counter 3 or transactions */
void intel_pe_tfa_allow(struct cpu_hw_events *cpuc);
void intel_pe_tfa_setup(void);
extern struct device_attribute intel_pe_tfa_attr;

/* hotplug.c */
int intel_pe_cpu_prepare(int cpu);
void intel_pe_cpu_starting(int cpu);
void intel_pe_cpu_dying(int cpu);
void intel_pe_cpu_dead(int cpu);
extern struct device_attribute intel_pe_freeze_attr;

/* guest.c */
struct perf_guest_switch_msr *intel_pe_guest_msrs(int *nr, void *data);
struct kvm_pmu;
struct perf_guest_switch_msr *
intel_pe_guest_list(struct cpu_hw_events *cpuc, const struct kvm_pmu *guest, int *nr);
struct perf_guest_switch_msr *intel_pe_v1_guest_msrs(int *nr, void *data);

/* hybrid.c */
int intel_pe_hybrid_init(const struct intel_pe_model *model);
bool intel_pe_hybrid_cpu_starting(int cpu);
void intel_pe_hybrid_cpu_dead(int cpu);
int intel_pe_hybrid_kind(u32 leaf, int pmus);
void intel_pe_adl_counters(void);
enum hybrid_cpu_type intel_pe_adl_cpu_type(void);

/* tables.c: from the rows of a model to what the driver works with, cut down to what there is */
int intel_pe_load_core(const struct intel_pe_core *core, struct pmu *pmu);
u64 intel_pe_config_bits(void);
void intel_pe_enumerate_counters(u64 *general, u64 *fixed);
void intel_pe_enumerate_acr(u64 *reloaded, u64 *causes, u64 counters);
void intel_pe_clip_counters(u64 *general, u64 *fixed, u64 *ctrl);
void intel_pe_clip_constraints(struct event_constraint *c, u64 general, u64 fixed, u64 ctrl);
void intel_pe_probe_extra_regs(struct extra_reg *er);
bool intel_pe_msr_works(u32 msr, u64 mask);

/* sysfs.c */
int intel_pe_sysfs_init(const struct intel_pe_model *model);

/* quirks.c: errata that are looked for at boot; a model lists them */
void intel_pe_quirk_clovertown(void);
void intel_pe_quirk_nehalem(void);
void intel_pe_quirk_snb_pebs(void);
void intel_pe_quirk_pebs_isolation(void);
void intel_pe_quirk_ht(void);
void intel_pe_quirk_arch_events(void);
void intel_pe_nhm_enable_all(int added);

static inline bool intel_pe_is_checkpointed(struct perf_event *event)
{
	return unlikely(event->hw.config & HSW_IN_TX_CHECKPOINTED);
}

static inline bool intel_pe_wants_branches(struct perf_event *event)
{
	return event->hw.flags & PERF_X86_EVENT_NEEDS_BRANCH_STACK;
}

static inline bool intel_pe_is_big(struct perf_event *event)
{
	return hybrid_pmu(event->pmu)->pmu_type == hybrid_big;
}

/* Is any counter of the event's group reloaded when another one overflows? */
static inline bool intel_pe_has_acr_group(struct perf_event *event)
{
	return static_branch_unlikely(&intel_pe_may_reload) &&
	       check_leader_group(event->group_leader, PERF_X86_EVENT_ACR_GROUP);
}

/* Event and umask of a raw event, without any filter. */
static inline u64 intel_pe_code(u64 config)
{
	return config & INTEL_ARCH_EVENT_MASK;
}

#endif
