/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulated x86 PMU: version 6, where each counter has its registers in one
 * place, and auto counter reload, whose registers are there only.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "tcg/sysemu/pmu-private.h"

enum { M_GP0 = 0x1900, M_FX0 = 0x1980, STEP = 4 };
enum { CTR, CFG_A, CFG_B, CFG_C };       /* of each counter */

#define FIXED_ACR       3ull             /* instructions and cycles */

/* Counters as in the global registers. */
static uint64_t acr_mask(X86PMU *p, uint8_t general)
{
    return !p->acr ? 0 : (general & x86_pmu_general(p)) | FIXED_ACR << 32;
}

uint64_t x86_acr_reloaded(X86PMU *p)
{
    return acr_mask(p, p->acr);
}

uint64_t x86_acr_causes(X86PMU *p)
{
    return acr_mask(p, p->acr_cause);
}

/* The same as a mask over c[]. */
static uint32_t over_c(uint64_t counters)
{
    return (counters & 0xff) | (counters >> 32 & 0xf) << X86_PMU_GP;
}

static bool can_be_reloaded(X86PMU *p, int i)
{
    return over_c(x86_acr_reloaded(p)) >> i & 1;
}

static bool can_record(X86PMU *p, int i)
{
    return x86_arch_pebs(p) && over_c(x86_pmu_all(p)) >> i & 1;
}

/* A counter's number over c[] and its register; false: no such place. */
static bool place(uint32_t msr, int *i, int *which)
{
    bool fixed = msr >= M_FX0;
    uint32_t n = msr - (fixed ? M_FX0 : M_GP0);

    *i = n / STEP + (fixed ? X86_PMU_GP : 0);
    *which = n % STEP;
    return n < STEP * (fixed ? X86_PMU_FIXED : X86_PMU_GP);
}

/* The older number of a register that has one. */
uint32_t x86_v6_older(X86PMU *p, uint32_t msr)
{
    int i, which;

    if (p->amd || p->version < 6 || !place(msr, &i, &which)) {
        return msr;
    }
    if (which == CTR) {
        return i < X86_PMU_GP ? M_PMC + i : M_FIXED + i - X86_PMU_GP;
    }
    return which == CFG_A && i < X86_PMU_GP ? M_EVNTSEL + i : msr;
}

RegResult x86_v6_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write)
{
    X86PMU *p = &env->pmu;
    uint64_t *reg, valid;
    int i, which;

    if (p->amd || !(p->acr || x86_arch_pebs(p)) || !place(msr, &i, &which) || which < CFG_B) {
        return REG_NONE;
    }
    if (!can_be_reloaded(p, i) && !(which == CFG_C && can_record(p, i))) {
        return REG_GP;
    }
    reg = which == CFG_B ? &p->c[i].causes : &p->c[i].cfg_c;
    valid = which == CFG_B ? x86_acr_causes(p) : UINT32_MAX | x86_arch_pebs_config(p);
    if (write && *val & ~valid) {
        return REG_GP;
    }
    *(write ? reg : val) = write ? *val : *reg;
    return REG_OK;
}

/* Which counters' overflows reload others, a mask over c[] */
uint32_t x86_acr_watched(X86PMU *p)
{
    uint32_t m = 0;
    int i;

    for (i = 0; i < X86_PMU_NR; i++) {
        m |= p->counting >> i & 1 ? over_c(p->c[i].causes) : 0;
    }
    return m;
}

/* One that reloads itself overflows without anybody being told. */
bool x86_acr_silent(X86PMU *p, int i)
{
    return over_c(p->c[i].causes) >> i & 1;
}

/* These (a mask over c[]) have overflowed just now. */
void x86_acr_reload(X86PMU *p, uint32_t overflowed)
{
    int i;

    for (i = 0; overflowed && i < X86_PMU_NR; i++) {
        X86PMUCounter *c = &p->c[i];

        if (p->counting >> i & 1 && over_c(c->causes) & overflowed) {
            c->val = (c->cfg_c | ~(uint64_t)UINT32_MAX) & CTR_MASK;
            c->rem = 0;
        }
    }
}
