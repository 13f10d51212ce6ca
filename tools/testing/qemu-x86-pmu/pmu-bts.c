/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch trace store of the emulated PMU: every branch that is taken, interrupts
 * and exceptions among them, as three words (from, to, flags) in the buffer that
 * the DS area describes.  Where branches come from is pmu-lbr.c.
 *
 * A branch belongs to the ring where it ends.  The interrupt at the threshold is
 * taken right after that branch: a branch that may be the one leaves the
 * execution loop, where it is looked at.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "tcg/sysemu/pmu-private.h"

#define DBG_TRACE    (3u << 6)           /* TR and BTS */
#define DBG_BTINT    (1u << 8)
#define DBG_OFF_OS   (1u << 9)
#define DBG_OFF_USER (1u << 10)

#define PREDICTED    (1u << 4)           /* of the flags */

/* Words of the DS area. */
enum { BTS_BASE, BTS_INDEX, BTS_MAX, BTS_THRESHOLD, BTS_WORDS };

typedef struct Branch {
    uint64_t from, to, flags;
} Branch;

bool x86_bts_on(X86PMU *p)
{
    return p->bts && (p->debugctl & DBG_TRACE) == DBG_TRACE;
}

static bool bts_read(CPUX86State *env, uint64_t ds[BTS_WORDS])
{
    return x86_guest_copy(env, env->pmu.pebs.ds_area, ds, BTS_WORDS * 8, false);
}

/* A branch begins: if its record may reach the threshold, stop behind it. */
void x86_bts_expect(CPUX86State *env)
{
    uint64_t ds[BTS_WORDS];

    if (x86_bts_on(&env->pmu) && bts_read(env, ds) &&
        ds[BTS_INDEX] + sizeof(Branch) >= ds[BTS_THRESHOLD]) {
        cpu_exit(env_cpu(env));
    }
}

/*
 * One record, the vCPU at the branch's target.  Without BTINT the buffer is a
 * ring; with it a full one takes nothing more.  That does not say whether the
 * threshold interrupts: who wants a ring puts it beyond the end.
 */
void x86_bts_record(CPUX86State *env, uint64_t from, uint64_t to)
{
    X86PMU *p = &env->pmu;
    Branch b = { from, to, PREDICTED };
    uint64_t ds[BTS_WORDS];

    if (!x86_bts_on(p) ||
        p->debugctl & (env->hflags & HF_CPL_MASK ? DBG_OFF_USER : DBG_OFF_OS) ||
        !bts_read(env, ds) || ds[BTS_INDEX] + sizeof(b) > ds[BTS_MAX] ||
        !x86_guest_copy(env, ds[BTS_INDEX], &b, sizeof(b), true)) {
        return;
    }
    ds[BTS_INDEX] += sizeof(b);
    p->bts_due |= ds[BTS_INDEX] >= ds[BTS_THRESHOLD];
    if (!(p->debugctl & DBG_BTINT) && ds[BTS_INDEX] + sizeof(b) > ds[BTS_MAX]) {
        ds[BTS_INDEX] = ds[BTS_BASE];
    }
    x86_guest_copy(env, p->pebs.ds_area + BTS_INDEX * 8, &ds[BTS_INDEX], 8, true);
}

void x86_bts_interrupt(CPUX86State *env)
{
    env->pmu.bts_due = false;
    x86_pmu_interrupt(env);
}
