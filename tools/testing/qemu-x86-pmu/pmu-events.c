/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulated x86 PMU: the events, and how a counter counts one.
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "sysemu/cpu-timers.h"
#include "cpu.h"
#include "tcg/sysemu/pmu-private.h"

#define SEL_INV         (1u << 23)
#define CMASK_CYCLES    16
#define NO_EVENT        (~0u)
#define EVENT_FLOPS     0x003            /* with any unit mask */
#define EVENT_MERGE     0xfff

/*
 * What is counted.  Events per instruction are num/den; num 0 stands for the
 * clock rate (nanoseconds of virtual time per instruction), and cycles are
 * that times pmu-cpi.  Conditional branches are counted by the blocks that have
 * them, AMD's taken ones where they are recorded (pmu-lbr.c), offcore responses by what their register says (pmu-offcore.c).  All others
 * but instructions are stand-ins, deterministic but without any relation to what
 * the guest does.
 */
static const struct {
    uint32_t intel;              /* umask << 8 | event */
    uint32_t amd;                /* umask << 16 | event */
    uint16_t num, den;
    uint8_t memory;
    bool conditional, large;
    uint8_t offcore;
    bool taken;
} events[] = {                   /* the first in the order of the bits of CPUID.0AH:EBX */
    { 0x003c, 0x000076, 0, 1 },       /* core cycles */
    { 0x00c0, 0x0000c0, 1, 1 },       /* instructions */
    { 0x013c, 0x010120, 0, 1 },       /* reference cycles */
    { 0x4f2e, 0xff0060, 1, 64 },      /* last level cache references */
    { 0x412e, 0x090064, 1, 512 },     /* last level cache misses */
    { 0x00c4, 0x0000c2, 1, 8 },       /* branches */
    { 0x00c5, 0x0000c3, 1, 128 },     /* mispredicted branches */
    { 0x01c0, NO_EVENT, 1, 1 },       /* instructions, evenly distributed */
    { 0x01cd, NO_EVENT, 1, 4, PEBS_LOAD },    /* loads above a latency */
    { 0x81d0, NO_EVENT, 1, 4, PEBS_LOAD },    /* loads */
    { 0x82d0, NO_EVENT, 1, 8, PEBS_STORE },   /* stores */
    { NO_EVENT, 0x0000c4, 0, 1, .taken = true },      /* taken branches */
    { 0x01a4, NO_EVENT, 0, 1 },       /* slots */
    { 0x01c4, 0x0000d1, 0, 1, 0, true },      /* conditional branches */
    { 0x11c4, NO_EVENT, 0, 1, 0, true },      /* likewise, from Ice Lake on */
    { NO_EVENT, 0x000003, 15, 1, .large = true },  /* retired SSE and AVX operations, see pmu-pairs.c */
    { 0x01b7, NO_EVENT, 0, 1, .offcore = 1 }, /* offcore responses */
    { 0x01bb, NO_EVENT, 0, 1, .offcore = 2 },
};

void x86_pmu_set_event(CPUX86State *env, X86PMUCounter *c, int ev)
{
    X86PMU *p = &env->pmu;

    c->rem = 0;
    c->den = 1;
    c->num = 0;
    c->memory = 0;
    c->conditional = c->large = c->taken = false;
    c->offcore = 0;
    if (ev < 0 || (p->unavailable >> ev & 1)) {
        return;
    }
    c->den = events[ev].den;
    c->memory = events[ev].memory;
    c->num = events[ev].num;
    c->conditional = events[ev].conditional;
    c->large = events[ev].large && p->version;
    c->taken = events[ev].taken;
    c->offcore = events[ev].offcore;
    if (c->offcore) {
        x86_offcore_set(p, c);
    } else if (!c->num && !c->conditional && !c->taken) {
        c->num = icount_enabled() ? icount_to_ns(1) : 1;
        if (ev == 0 || ev == EVENT_SLOTS) {
            c->num *= MAX(p->cpi, 1);
        }
        if (ev == EVENT_SLOTS) {
            c->num *= SLOTS_PER_CYCLE;
        }
    }
}

static uint32_t amd_code(uint64_t ctl)
{
    return (ctl & 0xff) | (ctl >> 24 & 0xf00);
}

/* Such a counter holds the upper bits of the one before it. */
bool x86_pmu_is_merge(X86PMU *p, uint64_t ctl)
{
    return p->amd && p->version && amd_code(ctl) == EVENT_MERGE;
}

int x86_pmu_find_event(X86PMU *p, uint64_t ctl)
{
    uint32_t code = ctl & 0xffff;
    int i;

    if (p->amd) {
        code = amd_code(ctl) | (ctl & 0xff00) << 8;
        code = amd_code(ctl) == EVENT_FLOPS ? EVENT_FLOPS : code;
    }
    if (code == (p->version >= 5 ? 0x01c4 : 0x11c4) && !p->amd) {
        return -1;               /* of the other generation */
    }
    if (!p->amd && code == 0xc0 && ctl & SEL_INV && ctl >> 24 >= CMASK_CYCLES) {
        return 0;                /* cycles in which less than 16 instructions retired */
    }
    for (i = 0; i < ARRAY_SIZE(events); i++) {
        if (code == (p->amd ? events[i].amd : events[i].intel)) {
            return i;
        }
    }
    return -1;
}
