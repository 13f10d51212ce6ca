/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulated x86 PMU: conditional branches, counted where they are executed, and
 * the top-down metrics, which follow from them.
 *
 * Of the slots of an instruction one quarter retires.  The others are lost to
 * bad speculation if it is a conditional branch, and else to the back end in
 * ring 3 and to the front end in ring 0.  Half of those that retire are of
 * heavy operations, all of bad speculation are mispredictions, half of the front
 * end's wait for an address, and half of the back end's for memory.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "tcg/sysemu/pmu-private.h"

enum { RETIRING, BAD_SPECULATION, FRONT_END, BACK_END };

/* A conditional branch begins; it cannot fault. */
void helper_pmu_conditional(CPUX86State *env)
{
    if (++env->pmu.branches == env->pmu.branches_left) {
        cpu_exit(env_cpu(env));          /* which synchronises, right after the branch */
    }
}

/* Do the metrics count in some ring? */
bool x86_metrics_on(X86PMU *p)
{
    return p->metrics && p->global_ctrl & GLOBAL_METRICS && p->counting >> FIXED_SLOTS & 1;
}

static uint64_t metrics_sum(X86PMU *p)
{
    uint64_t sum = 0;
    int i;

    for (i = 0; i < X86_METRICS; i++) {
        sum += p->slots[i];
    }
    return sum;
}

static bool metrics_active(X86PMU *p)
{
    return x86_metrics_on(p) && p->active >> FIXED_SLOTS & 1;
}

/* What is behind the register has so many bits, and overflows after so many slots. */
static uint64_t metrics_room(X86PMU *p)
{
    return 1ull << (p->metrics_bits ? MIN(p->metrics_bits, CTR_BITS) : CTR_BITS);
}

/* Instructions until that happens. */
uint64_t x86_metrics_left(X86PMU *p)
{
    uint64_t room = metrics_room(p), left = room - metrics_sum(p) % room;

    return metrics_active(p) ? DIV_ROUND_UP(left, p->c[FIXED_SLOTS].num) : UINT64_MAX;
}

/*
 * In the current ring @instructions were executed, @branches of them conditional branches.
 * True if that was an overflow.
 */
bool x86_metrics_sync(CPUX86State *env, uint64_t instructions, uint64_t branches)
{
    X86PMU *p = &env->pmu;
    uint32_t each = p->c[FIXED_SLOTS].num / SLOTS_PER_CYCLE;
    uint64_t before = metrics_sum(p);

    if (!metrics_active(p)) {
        return false;
    }
    /* Without -icount instructions are no more than what the clock makes of its time. */
    branches = MIN(branches, instructions);
    p->slots[RETIRING] += instructions * each;
    p->slots[BAD_SPECULATION] += 3 * branches * each;
    p->slots[env->hflags & HF_CPL_MASK ? BACK_END : FRONT_END] +=
        3 * (instructions - branches) * each;
    return before / metrics_room(p) != metrics_sum(p) / metrics_room(p);
}

/* What is written is of the slots that the counter has then. */
static void x86_metrics_write(X86PMU *p, uint64_t val)
{
    int i;

    for (i = 0; i < X86_METRICS; i++) {
        p->slots[i] = p->c[FIXED_SLOTS].val * (val >> 8 * i & 0xff) / 0xff;
    }
}

uint64_t x86_metrics_read(X86PMU *p)
{
    static const uint8_t half[X86_METRICS] = { 1, 0, 1, 1 };
    uint64_t sum = metrics_sum(p), val = 0;
    int i;

    for (i = 0; sum && i < X86_METRICS; i++) {
        uint64_t part = p->slots[i] * 0xff / sum;

        val |= part << 8 * i;
        if (p->metrics > X86_METRICS) {
            val |= part >> half[i] << 8 * (i + X86_METRICS);
        }
    }
    return val;
}

RegResult x86_metrics_reg(CPUX86State *env, uint64_t *val, bool write)
{
    X86PMU *p = &env->pmu;

    if (!p->metrics) {
        return REG_NONE;
    }
    if (write && p->metrics <= X86_METRICS && *val >> 32) {
        return REG_GP;
    }
    x86_pmu_changed(env);
    if (write) {
        x86_metrics_write(p, *val);
    } else {
        *val = x86_metrics_read(p);
    }
    return REG_OK;
}
