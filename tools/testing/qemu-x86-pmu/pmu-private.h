/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the emulated PMU share. */
#ifndef I386_TCG_PMU_PRIVATE_H
#define I386_TCG_PMU_PRIVATE_H

#define ST_ARCH_PEBS    (1ull << 54)
#define ST_LBR_FRZ      (1ull << 58)
#define ST_CTR_FRZ      (1ull << 59)
#define DBG_LBR         (1ull << 0)
#define DBG_FRZ_LBR     (1ull << 11)
#define DBG_FRZ_ON_PMI  (1ull << 12)

/*
 * Of the property pmu-lbr: 1 and 2.  On AMD with PerfMonV2 they stand for LbrExtV2, 2 without
 * freezing, and with core counters for branch sampling.
 */
enum { LBR_NONE, LBR_LEGACY, LBR_ARCH, LBR_AMD, LBR_AMD_PLAIN, LBR_AMD_BRS };

/*
 * Of the property pmu-offcore: Nehalem's one register and Westmere's two, which the threads of a
 * core share, and Skylake's two of each thread.
 */
enum { OFFCORE_NONE, OFFCORE_NHM, OFFCORE_WSM, OFFCORE_SKL };

#define SLOTS_PER_CYCLE 4
#define FIXED_SLOTS     (X86_PMU_GP + 3)
#define SEL_LBR_LOG     (1ull << 35)     /* log the counter with branches */
#define GLOBAL_METRICS  (1ull << 48)     /* of the status, too */

typedef enum { REG_NONE, REG_OK, REG_GP } RegResult;

static inline bool x86_canonical(uint64_t v)
{
    return (int64_t)(v << 16) >> 16 == v;
}

#define CTR_BITS        48
#define CTR_MASK        ((1ull << CTR_BITS) - 1)
#define VENDOR_HYGON_1  0x6f677948      /* "Hygo": its CPUs have AMD's PMU */
#define SEL_INT         (1u << 20)
#define SEL_EN          (1u << 22)
#define TFA_COUNTER     3       /* which the microcode takes */

/* Registers of the counters, before version 6 has them elsewhere */
enum { M_EVNTSEL = 0x186, M_FIXED = 0x309, M_PMC = 0x4c1 };

/* pmu.c */
uint64_t x86_pmu_now(CPUX86State *env);
void x86_pmu_interrupt(CPUX86State *env);
/* Bring the counters up to now, and look at all control registers again. */
void x86_pmu_changed(CPUX86State *env);
/* Freezing shows as a status bit, and control registers stay. */
bool x86_pmu_streamlined(X86PMU *p);

/* pmu-cpuid.c: properties, which counters there are, which bits may be written */
void x86_pmu_properties(CPUX86State *env);
uint64_t x86_pmu_general(X86PMU *p);
uint64_t x86_pmu_all(X86PMU *p);
uint64_t x86_pmu_sel_valid(X86PMU *p, int i);
uint64_t x86_pmu_fixed_valid(X86PMU *p);
uint64_t x86_pmu_status_valid(X86PMU *p);

enum { EVENT_SLOTS = 12 };      /* its place in the table */
/* pmu-events.c: what a counter counts, negative: nothing; the event that a control register names */
void x86_pmu_set_event(CPUX86State *env, X86PMUCounter *c, int ev);
int x86_pmu_find_event(X86PMU *p, uint64_t ctl);
bool x86_pmu_is_merge(X86PMU *p, uint64_t ctl);

/* pmu-v6.c: registers in other places; auto counter reload, its counters as in the global registers */
uint32_t x86_v6_older(X86PMU *p, uint32_t msr);
RegResult x86_v6_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write);
uint64_t x86_acr_reloaded(X86PMU *p);
uint64_t x86_acr_causes(X86PMU *p);
uint32_t x86_acr_watched(X86PMU *p);
bool x86_acr_silent(X86PMU *p, int i);
void x86_acr_reload(X86PMU *p, uint32_t overflowed);

/* pmu-pairs.c */
void x86_pairs_update(X86PMU *p, uint32_t on);
bool x86_pairs_carry(X86PMU *p, int i);
bool x86_pairs_far(X86PMU *p, int i);

/* pmu-offcore.c: the registers, and what a counter counts by its register */
void x86_offcore_set(X86PMU *p, X86PMUCounter *c);
RegResult x86_offcore_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write);

/* pmu-nb.c: the vCPU enters and leaves its loop; the rest while it is in there */
void x86_nb_enter(CPUX86State *env);
void x86_nb_exit(CPUX86State *env);
bool x86_nb_sync(CPUX86State *env);
void x86_nb_select(CPUX86State *env, int i);
void x86_nb_reset(CPUX86State *env);
RegResult x86_nb_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write);

/* pmu-metrics.c */
bool x86_metrics_on(X86PMU *p);
bool x86_metrics_sync(CPUX86State *env, uint64_t instructions, uint64_t branches);
uint64_t x86_metrics_read(X86PMU *p);
uint64_t x86_metrics_left(X86PMU *p);
RegResult x86_metrics_reg(CPUX86State *env, uint64_t *val, bool write);

/* pmu-lbr.c */
void x86_lbr_reset(CPUX86State *env);
void x86_lbr_finish(CPUX86State *env);
void x86_lbr_freeze(CPUX86State *env);
bool x86_lbr_hold(X86PMU *p);
void x86_lbr_leave(CPUX86State *env);
void x86_lbr_update(CPUX86State *env);
uint32_t x86_lbr_capabilities(X86PMU *p);
RegResult x86_lbr_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write);

/* pmu-bts.c */
bool x86_bts_on(X86PMU *p);
void x86_bts_expect(CPUX86State *env);
void x86_bts_record(CPUX86State *env, uint64_t from, uint64_t to);
/* Out of the execution loop, behind x86_lbr_leave(): if bts_due is set. */
void x86_bts_interrupt(CPUX86State *env);

/* pmu-pebs.c; X86PMUCounter.memory */
enum { PEBS_LOAD = 1, PEBS_STORE };
enum { PEBS_ARCH = 7 };         /* of the property pmu-pebs */

typedef struct X86Record {
    uint64_t word[320];
    int n, head;                /* words; where the header of the fragment is */
} X86Record;

/* Parts of records */
void x86_record_put(X86Record *r, uint64_t value);
uint64_t x86_record_tsc(CPUX86State *env);
void x86_record_memory(X86Record *r, X86PMU *p);
void x86_record_gprs(X86Record *r, CPUX86State *env);
void x86_record_xmm(X86Record *r, CPUX86State *env);
void x86_record_branches(X86Record *r, CPUX86State *env, int n);
/* Through the guest's page tables; false: there is no memory. */
bool x86_guest_copy(CPUX86State *env, uint64_t addr, void *buf, size_t size, bool write);
bool x86_pebs_overflow(CPUX86State *env, uint32_t counters);
uint32_t x86_pebs_counters(X86PMU *p);
void x86_pebs_reset(CPUX86State *env);
void x86_pebs_update(CPUX86State *env);
uint32_t x86_pebs_capabilities(X86PMU *p);
bool x86_pebs_adaptive(X86PMU *p);
bool x86_pebs_store(X86PMU *p);
RegResult x86_pebs_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write);

/* pmu-arch-pebs.c */
bool x86_arch_pebs(X86PMU *p);
uint64_t x86_arch_pebs_config(X86PMU *p);
void x86_arch_pebs_leaf(X86PMU *p, uint32_t count, uint32_t *eax, uint32_t *ebx,
                        uint32_t *ecx, uint32_t *edx);
uint32_t x86_arch_pebs_counters(X86PMU *p);
bool x86_arch_pebs_overflow(CPUX86State *env, uint32_t over, uint64_t counters, uint64_t ip);
RegResult x86_arch_pebs_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write);

/* pmu-traffic.c */
typedef enum {
    X86_RDMSR, X86_WRMSR, X86_RDPMC, X86_PMI, X86_PMU_READ, X86_PMU_WRITE, X86_TRAFFIC_KINDS
} X86TrafficKind;
void x86_traffic_reset(X86PMU *p);
void x86_traffic_count(X86PMU *p, X86TrafficKind kind, uint32_t msr);
bool x86_traffic_read(X86PMU *p, uint32_t msr, uint64_t *val);

#endif
