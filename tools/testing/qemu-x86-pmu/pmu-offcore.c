/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulated x86 PMU: offcore responses, and the registers that say which.
 *
 * Event 0x1b7 counts what OFFCORE_RSP_0 says, 0x1bb what OFFCORE_RSP_1 says.  What
 * is counted is made up: instructions if bit 0 is set, half of them if it is bit 1
 * alone, and else nothing.
 *
 * On Nehalem and Westmere a register belongs to a core: what one thread writes the
 * others read, and count by.  Each vCPU has a copy.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "hw/core/cpu.h"
#include "hw/i386/topology.h"
#include "tcg/sysemu/pmu-private.h"

#define M_OFFCORE_0     0x1a6

/* The bits that there are; Skylake's also faults for some in between. */
static uint64_t valid_bits(X86PMU *p)
{
    return p->want_offcore == OFFCORE_SKL ? 0x3fffff8fffull : 0xffff;
}

void x86_offcore_set(X86PMU *p, X86PMUCounter *c)
{
    uint64_t val = p->offcore[c->offcore - 1];
    uint32_t den = val & 1 ? 1 : 2;

    c->num = val & 3 ? 1 : 0;
    c->rem = den == c->den ? c->rem : 0;
    c->den = den;
}

static void set_all(CPUX86State *env)
{
    X86PMU *p = &env->pmu;
    int i;

    for (i = 0; i < p->nr_gp; i++) {
        if (p->c[i].offcore) {
            x86_offcore_set(p, &p->c[i]);
        }
    }
    x86_pmu_changed(env);
}

static void set_all_of(CPUState *cs, run_on_cpu_data unused)
{
    set_all(cs->env_ptr);
}

static bool are_of_one_core(CPUState *a, CPUState *b)
{
    int bits = apicid_bitwidth_for_count(a->nr_threads);

    return X86_CPU(a)->apic_id >> bits == X86_CPU(b)->apic_id >> bits;
}

/* A vCPU that takes turns with this one has left its loop, and its counts are up to date. */
static void tell_other_threads(CPUX86State *env, int i)
{
    CPUState *me = env_cpu(env), *cs;

    CPU_FOREACH(cs) {
        CPUX86State *other = cs->env_ptr;

        if (cs == me || !other->pmu.on || !are_of_one_core(cs, me)) {
            continue;
        }
        qatomic_set(&other->pmu.offcore[i], env->pmu.offcore[i]);
        if (qemu_tcg_mttcg_enabled()) {
            async_run_on_cpu(cs, set_all_of, RUN_ON_CPU_NULL);
        } else {
            set_all(other);
        }
    }
}

RegResult x86_offcore_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write)
{
    X86PMU *p = &env->pmu;
    int i = msr - M_OFFCORE_0;

    if (i < 0 || i >= MIN(p->want_offcore, X86_OFFCORE_NR)) {
        return REG_NONE;
    }
    if (!write) {
        *val = p->offcore[i];
        return REG_OK;
    }
    if (*val & ~valid_bits(p)) {
        return REG_GP;
    }
    p->offcore[i] = *val;
    set_all(env);
    if (p->want_offcore != OFFCORE_SKL) {
        tell_other_threads(env, i);
    }
    return REG_OK;
}
