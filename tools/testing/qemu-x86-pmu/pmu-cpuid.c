/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulated x86 PMU: what it is by its properties, what CPUID says of it, and
 * which bits its registers have.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "tcg/sysemu/pmu-private.h"

#define ARCH_EVENTS     7
#define CPUID_7_HYBRID  (1u << 15)
#define CPUID_7_1_PERFMON_EXT (1u << 8)     /* there is leaf 23H */
#define CPUID_7_FORCE_ABORT (1u << 13)
#define SMALLER         2                /* general counters less has a small core */

#define SEL_ANY         (1u << 21)

enum { KIND_ATOM = 0x20, KIND_CORE = 0x40 };

uint64_t x86_pmu_general(X86PMU *p)
{
    return ((1ull << p->nr_gp) - 1) & ~(uint64_t)p->absent;
}

/* All counters, as in the global registers. */
uint64_t x86_pmu_all(X86PMU *p)
{
    return x86_pmu_general(p) | ((1ull << p->nr_fixed) - 1) << 32;
}

/* Leaf 23H */
static bool has_extension(X86PMU *p)
{
    return p->absent || p->version >= 6;
}

static void extension(X86PMU *p, uint32_t count, uint32_t *eax, uint32_t *ebx,
                      uint32_t *ecx, uint32_t *edx)
{
    uint64_t to = x86_acr_reloaded(p), from = x86_acr_causes(p);

    *eax = *ebx = *ecx = *edx = 0;
    switch (count) {
    case 0:
        *eax = 3 | (p->acr ? 4 : 0) | (x86_arch_pebs(p) ? 0x30 : 0);  /* which there are of these */
        break;
    case 1:
        *eax = x86_pmu_general(p);
        *ebx = (1u << p->nr_fixed) - 1;
        break;
    case 2:
        *eax = to;
        *ebx = to >> 32;
        *ecx = from;
        *edx = from >> 32;
        break;
    case 4:
    case 5:
        x86_arch_pebs_leaf(p, count, eax, ebx, ecx, edx);
        break;
    }
}

uint64_t x86_pmu_sel_valid(X86PMU *p, int i)
{
    if (p->amd) {
        return 0x30fffdfffffull & ~0x280000ull;
    }
    return 0xffffffffull - (p->version < 3 || p->version > 4 ? SEL_ANY : 0) +
           (x86_pebs_adaptive(p) ? 1ull << 34 : 0) +
           (i < p->lbr_counters ? SEL_LBR_LOG : 0);
}

uint64_t x86_pmu_fixed_valid(X86PMU *p)
{
    uint64_t one = p->version == 3 || p->version == 4 ? 0xf : 0xb;

    one |= x86_pebs_adaptive(p) ? 1ull << 32 : 0;
    return one | one << 4 | one << 8 | (p->metrics ? one << 12 : 0);
}

uint64_t x86_pmu_status_valid(X86PMU *p)
{
    uint64_t v = x86_pmu_all(p);

    if (p->amd) {
        return v | ST_CTR_FRZ | (p->want_lbr ? ST_LBR_FRZ : 0);
    }
    if (p->version >= 4) {
        v |= ST_CTR_FRZ | (p->want_lbr ? ST_LBR_FRZ : 0);
    }
    v |= p->metrics ? GLOBAL_METRICS : 0;
    v |= x86_arch_pebs(p) ? ST_ARCH_PEBS : 0;
    return v | 3ull << 62;
}

void x86_pmu_cpuid(CPUX86State *env, uint32_t index, uint32_t count,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    X86PMU *p = &env->pmu;

    if (!p->on) {
        return;
    }
    if (p->amd) {
        if (index == 0x80000001) {
            *ecx |= p->version ? 1u << 23 : 1u << 19;       /* PerfCtrExtCore, or NodeId */
        } else if (index == 0x80000008 && p->want_lbr == LBR_AMD_BRS) {
            *ebx |= 1u << 31;
        } else if (index == 0x80000022 && p->version >= 2) {
            /* PerfMonV2, LbrExtV2, freezing of its records */
            *eax = 1 | (p->want_lbr ? 2 : 0) | (p->want_lbr == LBR_AMD ? 4 : 0);
            *ebx = p->nr_gp | (p->want_lbr ? X86_LBR_AMD_NR << 4 : 0);
        }
        return;
    }
    if (index == 1) {
        *ecx |= CPUID_EXT_PDCM | (x86_pebs_store(p) || p->bts ? CPUID_EXT_DTES64 : 0) |
                (p->bts ? CPUID_EXT_DSCPL : 0);
        *edx |= x86_pebs_store(p) || p->bts ? CPUID_DTS : 0;
    } else if (index == 7 && !count) {
        *eax = has_extension(p) ? MAX(*eax, 1) : *eax;
        *edx |= p->want_lbr == LBR_ARCH ? CPUID_7_0_EDX_ARCH_LBR : 0;
        *edx |= p->big ? CPUID_7_HYBRID : 0;
        *edx |= p->tfa ? CPUID_7_FORCE_ABORT : 0;
    } else if (index == 7 && count == 1) {
        *eax |= has_extension(p) ? CPUID_7_1_PERFMON_EXT : 0;
    } else if (index == 0x23 && has_extension(p)) {
        extension(p, count, eax, ebx, ecx, edx);
    } else if (index == 0x1a && p->big) {
        *eax = (p->small ? KIND_ATOM : KIND_CORE) << 24 | 1;
        *ebx = *ecx = *edx = 0;
    } else if (index == 0x1c && p->want_lbr == LBR_ARCH) {
        *eax = 1u << (X86_LBR_NR / 8 - 1);          /* depth, LIP */
        *ebx = 7;                                   /* by CPL, by branch, call stack */
        *ecx = 7 |                                  /* mispredicted, cycles, type */
               ((1u << p->lbr_counters) - 1) << 16;
        *edx = 0;
    } else if (index == 0xa) {
        /* of a hybrid machine what both kinds have */
        int nr_gp = p->big && !p->small ? p->nr_gp - SMALLER : p->nr_gp;
        int nr_fixed = p->big ? 3 : p->nr_fixed;

        *eax = p->version | nr_gp << 8 | CTR_BITS << 16 |
               ARCH_EVENTS << 24;
        *ebx = p->unavailable & ((1u << ARCH_EVENTS) - 1);
        *ecx = p->version >= 5 ? (1u << nr_fixed) - 1 : 0;
        *edx = p->version < 2 ? 0 : nr_fixed | CTR_BITS << 5 |
               (p->version >= 5 ? 1u << 15 : 0);    /* AnyThread deprecated */
    }
}

/* Properties as they are on a PMU of this vendor and version.  p->amd is set. */
void x86_pmu_properties(CPUX86State *env)
{
    X86PMU *p = &env->pmu;

    if (p->amd && p->version == 1 && p->want_lbr) {
        p->want_lbr = LBR_AMD_BRS;
    } else if (p->version < 2) {
        p->want_lbr = LBR_NONE;
    } else if (!p->amd) {
        p->want_lbr = MIN(p->want_lbr, LBR_ARCH);
    } else if (p->want_lbr && p->want_lbr < LBR_AMD) {
        p->want_lbr = MIN(p->want_lbr + LBR_AMD - 1, LBR_AMD_PLAIN);
    }
    p->lbr_counters = p->want_lbr == LBR_ARCH ? MIN(p->lbr_counters, X86_LBR_COUNTERS) : 0;
    /* formats 1 to 6, of versions that have a bit for the buffer's overflow, or architectural */
    p->want_pebs = p->amd || p->version < 2 ? 0 : MIN(p->want_pebs, p->version < 6 ? 6 : PEBS_ARCH);
    p->version = p->amd ? MIN(p->version, 2) : MIN(MAX(p->version, 1), 6);
    p->big = p->amd || p->version < 5 ? 0 : p->big;
    p->small = p->big && env_cpu(env)->cpu_index >= p->big;
    p->metrics = p->amd || p->small || p->version < 5 || !p->metrics ? 0 : p->metrics > X86_METRICS ? 8 : 4;
    p->nr_fixed = p->amd || p->version < 2 ? 0 : p->metrics ? 4 : 3;
    p->nr_gp = MIN(p->want_gp ? p->want_gp : p->amd && p->version ? 6 : 4, X86_PMU_GP);
    p->nr_gp -= p->small ? SMALLER : 0;
    p->absent = p->amd || p->version < 5 || p->big ? 0 : p->absent;
    p->acr = p->amd || p->version < 6 || p->big ? 0 : p->acr;
    p->bts = p->bts && !p->amd;
    p->tfa = p->tfa && !p->amd && p->nr_gp > TFA_COUNTER;
    p->want_offcore = p->amd ? OFFCORE_NONE : MIN(p->want_offcore, OFFCORE_SKL);
    if (p->amd && p->version >= 2) {
        env->cpuid_xlevel = MAX(env->cpuid_xlevel, 0x80000022);
    } else if (!p->amd) {
        env->cpuid_level = MAX(env->cpuid_level, has_extension(p) ? 0x23 : p->want_lbr == LBR_ARCH ? 0x1c : p->big ? 0x1a : 0xa);
        /* there is performance monitoring; BTS and PEBS are unavailable */
        env->msr_ia32_misc_enable |= 1u << 7 | (p->bts ? 0 : 1u << 11) |
                                     (x86_pebs_store(p) ? 0 : 1u << 12);
    }
}
