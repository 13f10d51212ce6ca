/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulated x86 PMU: events of the northbridge, where the cores of a node share its counters:
 * AMD's with K7's counters.
 *
 * A node is a package, and has its number in a register.  Counter n of a core that is told an event of the northbridge, codes e0
 * to ff, shows counter n of the northbridge, which counts for the whole node: whatever core
 * causes an event, in whatever ring, and also while the core that asks is halted.  There is one
 * counter n: that of the core which switched such an event on last.  What another core had there
 * counts no more.
 *
 * What is counted is made up: one for NB_INSTRUCTIONS that the node's vCPUs execute.  An overflow
 * interrupts when the core that counts is looked at next, late.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "hw/core/cpu.h"
#include "hw/i386/topology.h"
#include "tcg/sysemu/pmu-private.h"

#define M_NODE_ID       0xc001100c

#define NB_COUNTERS     4
#define NB_NODES        64
#define NB_INSTRUCTIONS 16
#define NB_EVENTS       0xe0

static struct {
    uint64_t instructions;              /* of all vCPUs, up to where they left their loops */
    X86PMU *owner[NB_COUNTERS];
} nodes[NB_NODES];

static int node_of(CPUX86State *env)
{
    CPUState *cs = env_cpu(env);
    X86CPUTopoInfo topo = {
        .dies_per_pkg = env->nr_dies, .cores_per_die = cs->nr_cores,
        .threads_per_core = cs->nr_threads,
    };

    return (env_archcpu(env)->apic_id >> apicid_pkg_offset(&topo)) % NB_NODES;
}

static bool is_shared(X86PMU *p)
{
    return p->amd && !p->version;
}

void x86_nb_enter(CPUX86State *env)
{
    if (is_shared(&env->pmu)) {
        env->pmu.nb_since = x86_pmu_now(env);
    }
}

void x86_nb_exit(CPUX86State *env)
{
    X86PMU *p = &env->pmu;

    if (is_shared(p)) {
        qatomic_add(&nodes[node_of(env)].instructions, x86_pmu_now(env) - p->nb_since);
    }
}

/* Which node this is, of so many of a socket less one: it is alone. */
RegResult x86_nb_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write)
{
    if (!is_shared(&env->pmu) || msr != M_NODE_ID) {
        return REG_NONE;
    }
    if (!write) {
        *val = node_of(env) & 7;
    }
    return write ? REG_GP : REG_OK;
}

/* What the node has executed; this vCPU is in its loop. */
static uint64_t instructions_of(CPUX86State *env)
{
    return qatomic_read(&nodes[node_of(env)].instructions) + x86_pmu_now(env) - env->pmu.nb_since;
}

/* Bring this core's counters of the northbridge up to now; true if one is to interrupt. */
bool x86_nb_sync(CPUX86State *env)
{
    X86PMU *p = &env->pmu;
    uint64_t now;
    bool pmi = false;
    uint32_t m;

    if (!p->nb) {
        return false;
    }
    now = instructions_of(env);
    for (m = p->nb; m; m &= m - 1) {
        X86PMUCounter *c = &p->c[ctz32(m)];
        uint64_t t = c->rem + now - c->nb_last;

        c->nb_last = now;
        if (qatomic_read(&nodes[node_of(env)].owner[ctz32(m)]) != p) {
            continue;
        }
        c->val += t / NB_INSTRUCTIONS;
        c->rem = t % NB_INSTRUCTIONS;
        if (c->val >> CTR_BITS) {
            c->val &= (1ull << CTR_BITS) - 1;
            pmi |= c->ctl & SEL_INT;
        }
    }
    return pmi;
}

/* Event select @i was written; what was counted before is in the counter. */
void x86_nb_select(CPUX86State *env, int i)
{
    X86PMU *p = &env->pmu;
    X86PMUCounter *c = &p->c[i];
    X86PMU **owner = &nodes[node_of(env)].owner[i % NB_COUNTERS];

    if (!is_shared(p)) {
        return;
    }
    if (c->ctl & SEL_EN && (c->ctl & NB_EVENTS) == NB_EVENTS) {
        p->nb |= 1u << i;
        c->nb_last = instructions_of(env);
        qatomic_set(owner, p);
    } else if (p->nb >> i & 1) {
        p->nb &= ~(1u << i);
        qatomic_cmpxchg(owner, p, NULL);
    }
}

void x86_nb_reset(CPUX86State *env)
{
    int i;

    env->pmu.nb = 0;
    for (i = 0; is_shared(&env->pmu) && i < NB_COUNTERS; i++) {
        qatomic_cmpxchg(&nodes[node_of(env)].owner[i], &env->pmu, NULL);
    }
}
