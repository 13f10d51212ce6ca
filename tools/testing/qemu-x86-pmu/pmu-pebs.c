/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processor event based sampling of the emulated PMU: records in formats 1
 * (Nehalem), 2 (Haswell) and 3 (Skylake), or adaptive ones (formats 4, 5
 * and 6 with baseline).  Architectural ones are made in pmu-arch-pebs.c.
 *
 * The record of an overflow is written by the synchronisation that finds it;
 * under -icount that is right after the instruction that overflowed.  It goes
 * through the guest's page tables into the buffer that the DS area describes.
 *
 * While a counter is enabled for PEBS, HF_PEBS is set in env->hflags: blocks
 * translated with it note the address of every instruction, and the addresses
 * of the last load and store of those done for an instruction's operands.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "tcg/helper-tcg.h"
#include "tcg/sysemu/pmu-private.h"

#define M_PEBS_ENABLE    0x3f1
#define M_PEBS_DATA_CFG  0x3f2
#define M_PEBS_LD_LAT    0x3f6
#define M_PEBS_FRONTEND  0x3f7
#define M_DS_AREA        0x600

#define CFG_MEMORY  (1u << 0)
#define CFG_GPRS    (1u << 1)
#define CFG_XMM     (1u << 2)
#define CFG_LBR     (1u << 3)
#define CFG_CNTR    (1u << 4)            /* counters: general ones from bit 32 on, fixed ones from 48 */
#define CFG_GROUPS  0xff00000full        /* and the number of branches, less 1, from bit 24 on */

#define SEL_ADAPTIVE   (1ull << 34)
#define FIXED_ADAPTIVE (1ull << 32)      /* of fixed counter 0; 4 bits each */
#define LATENCY     10                   /* of every access, a hit in the first level */
#define INSN_LATENCY 12                  /* and of its instruction */

/* Words of the DS area.  In format 5 there is room for 32 general counters before the fixed ones. */
enum { DS_BASE = 4, DS_INDEX, DS_MAX, DS_THRESHOLD, DS_RESET, DS_WORDS = DS_RESET + 32 + X86_PMU_FIXED };

bool x86_guest_copy(CPUX86State *env, uint64_t addr, void *buf, size_t size, bool write)
{
    return !cpu_memory_rw_debug(env_cpu(env), addr, buf, size, write);
}

void x86_record_put(X86Record *r, uint64_t value)
{
    r->word[r->n++] = value;
}

static void put_regs(X86Record *r, CPUX86State *env, const uint8_t *order, int n)
{
    int i;

    for (i = 0; i < n; i++) {
        x86_record_put(r, env->regs[order[i]]);
    }
}

uint64_t x86_record_tsc(CPUX86State *env)
{
    CPUState *cs = env_cpu(env);
    uint32_t io = cs->can_do_io;
    uint64_t tsc;

    cs->can_do_io = 1;
    tsc = cpu_get_tsc(env) + env->tsc_offset;
    cs->can_do_io = io;
    return tsc;
}

/* Format 5 is that of CPUs which tell two latencies: the instruction's, and above it the cache's. */
void x86_record_memory(X86Record *r, X86PMU *p)
{
    X86PEBS *b = &p->pebs;
    bool store = b->what == PEBS_STORE;

    x86_record_put(r, b->what ? store ? b->store : b->load : 0);
    x86_record_put(r, b->what ? 1 : 0);
    x86_record_put(r, b->what != PEBS_LOAD ? 0 : p->want_pebs < 5 ? LATENCY :
           (uint64_t)LATENCY << 32 | INSN_LATENCY);
}

/* struct of 8-byte words: registers, status, memory, instruction, TSX, TSC */
static void record_fixed(CPUX86State *env, X86Record *r, uint64_t counters, uint64_t ip)
{
    static const uint8_t order[] = {
        R_EAX, R_EBX, R_ECX, R_EDX, R_ESI, R_EDI, R_EBP, R_ESP,
        R_R8, R_R9, R_R10, R_R11, R_R12, R_R13, R_R14, R_R15,
    };

    x86_record_put(r, cpu_compute_eflags(env));
    x86_record_put(r, env->eip);
    put_regs(r, env, order, ARRAY_SIZE(order));
    x86_record_put(r, counters);
    x86_record_memory(r, &env->pmu);
    if (env->pmu.want_pebs >= 2) {
        x86_record_put(r, ip);
        x86_record_put(r, 0);
    }
    if (env->pmu.want_pebs >= 3) {
        x86_record_put(r, x86_record_tsc(env));
    }
}

/* Which ones, and then what they are: those that overflowed have not begun again yet. */
static void put_counters(X86Record *r, X86PMU *p, uint64_t cfg)
{
    uint32_t general = cfg >> 32 & 0xffff, fixed = cfg >> 48 & 0xff;
    int i;

    x86_record_put(r, general | (uint64_t)fixed << 32);
    x86_record_put(r, 0);
    for (i = 0; i < X86_PMU_NR; i++) {
        if (i < X86_PMU_GP ? general >> i & 1 : fixed >> (i - X86_PMU_GP) & 1) {
            x86_record_put(r, p->c[i].val);
        }
    }
}

void x86_record_gprs(X86Record *r, CPUX86State *env)
{
    static const uint8_t order[] = {
        R_EAX, R_ECX, R_EDX, R_EBX, R_ESP, R_EBP, R_ESI, R_EDI,
        R_R8, R_R9, R_R10, R_R11, R_R12, R_R13, R_R14, R_R15,
    };

    x86_record_put(r, cpu_compute_eflags(env));
    x86_record_put(r, env->eip);
    put_regs(r, env, order, ARRAY_SIZE(order));
}

void x86_record_xmm(X86Record *r, CPUX86State *env)
{
    int i;

    for (i = 0; i < 16; i++) {
        x86_record_put(r, env->xmm_regs[i].ZMM_Q(0));
        x86_record_put(r, env->xmm_regs[i].ZMM_Q(1));
    }
}

/* The newest first */
void x86_record_branches(X86Record *r, CPUX86State *env, int n)
{
    X86LBR *l = &env->pmu.lbr;
    int i;

    for (i = 0; i < n; i++) {
        int e = (l->tos + X86_LBR_NR - i) % X86_LBR_NR;

        x86_record_put(r, l->from[e]);
        x86_record_put(r, l->to[e]);
        x86_record_put(r, l->info[e]);
    }
}

static void record_adaptive(CPUX86State *env, X86Record *r, uint64_t counters, uint64_t ip,
                            uint64_t cfg)
{
    x86_record_put(r, (uint32_t)cfg & ~(cfg & CFG_LBR ? 0 : 0xff000000u));
    x86_record_put(r, ip);
    x86_record_put(r, counters);
    x86_record_put(r, x86_record_tsc(env));
    if (cfg & CFG_MEMORY) {
        x86_record_memory(r, &env->pmu);
        x86_record_put(r, 0);
    }
    if (cfg & CFG_GPRS) {
        x86_record_gprs(r, env);
    }
    if (cfg & CFG_XMM) {
        x86_record_xmm(r, env);
    }
    if (cfg & CFG_LBR) {
        x86_record_branches(r, env, MIN((cfg >> 24 & 0xff) + 1, X86_LBR_NR));
    }
    if (cfg & CFG_CNTR) {
        put_counters(r, &env->pmu, cfg);
    }
    r->word[0] |= (uint64_t)r->n * 8 << 48;
}

/* Is this counter's record one of the kind that PEBS_DATA_CFG describes? */
static bool adaptive(X86PMU *p, int i)
{
    return i < X86_PMU_GP ? p->c[i].ctl & SEL_ADAPTIVE :
           p->fixed_ctrl >> 4 * (i - X86_PMU_GP) & FIXED_ADAPTIVE;
}

/* Which word has the value that counter i starts again from? */
static int reset_word(X86PMU *p, int i)
{
    return DS_RESET + i + (p->want_pebs >= 5 && i >= X86_PMU_GP ? 32 - X86_PMU_GP : 0);
}

/*
 * These counters (a mask over c[]) overflowed: one record for all of them, and
 * their counters start again.  True if the buffer reached its threshold.
 */
bool x86_pebs_overflow(CPUX86State *env, uint32_t counters)
{
    X86PMU *p = &env->pmu;
    X86PEBS *b = &p->pebs;
    uint64_t ds[DS_WORDS], applicable = 0, ip = b->insn;
    uint64_t cfg = 0;
    uint32_t m;
    X86Record r = {};

    if (!x86_arch_pebs(p) && !x86_guest_copy(env, b->ds_area, ds, sizeof(ds), false)) {
        return false;
    }
    b->what = 0;
    for (m = counters; m; m &= m - 1) {
        int i = ctz32(m);

        applicable |= 1ull << (i < X86_PMU_GP ? i : i - X86_PMU_GP + 32);
        cfg |= adaptive(p, i) ? b->data_cfg : 0;
        b->what = MAX(b->what, p->c[i].memory);
    }
    if (b->what) {
        ip = b->what == PEBS_STORE ? b->store_insn : b->load_insn;
    }
    if (x86_arch_pebs(p)) {
        return x86_arch_pebs_overflow(env, counters, applicable, ip);
    }
    if (p->want_pebs >= 4) {
        record_adaptive(env, &r, applicable, ip, cfg);
    } else {
        record_fixed(env, &r, applicable, ip);
    }
    for (m = counters; m; m &= m - 1) {
        int i = ctz32(m);

        p->c[i].val = (p->c[i].val + ds[reset_word(p, i)]) & CTR_MASK;
    }
    if (ds[DS_INDEX] + r.n * 8 > ds[DS_MAX] ||
        !x86_guest_copy(env, ds[DS_INDEX], r.word, r.n * 8, true)) {
        return false;
    }
    ds[DS_INDEX] += r.n * 8;
    x86_guest_copy(env, b->ds_area + DS_INDEX * 8, &ds[DS_INDEX], 8, true);
    return ds[DS_INDEX] >= ds[DS_THRESHOLD];
}

/* The counters that record when they overflow, a mask over c[]. */
uint32_t x86_pebs_counters(X86PMU *p)
{
    uint64_t e = p->want_pebs ? p->pebs.enable : 0;

    if (x86_arch_pebs(p)) {
        return x86_arch_pebs_counters(p);
    }
    /* Below format 4 the upper half enables the latency of loads. */
    return (e & 0xff) | (p->want_pebs >= 4 ? (e >> 32 & 7) << X86_PMU_GP : 0);
}

void x86_pebs_reset(CPUX86State *env)
{
    memset(&env->pmu.pebs, 0, sizeof(env->pmu.pebs));
    env->hflags &= ~HF_PEBS_MASK;
}

/* After any change of a control register. */
void x86_pebs_update(CPUX86State *env)
{
    env->hflags &= ~HF_PEBS_MASK;
    env->hflags |= x86_pebs_counters(&env->pmu) ? HF_PEBS_MASK : 0;
}

/* The bits of PERF_CAPABILITIES: trap-like, registers, format, baseline. */
uint32_t x86_pebs_capabilities(X86PMU *p)
{
    uint32_t format = x86_arch_pebs(p) ? 0xf : p->want_pebs;

    return !format ? 0 : 3u << 6 | format << 8 | x86_pebs_adaptive(p) << 14;
}

bool x86_pebs_adaptive(X86PMU *p)
{
    return p->want_pebs >= 4 && !x86_arch_pebs(p);
}

/* Are records written to the debug store? */
bool x86_pebs_store(X86PMU *p)
{
    return p->want_pebs && !x86_arch_pebs(p);
}

static uint64_t cfg_valid(X86PMU *p)
{
    uint64_t fixed = (1ull << p->nr_fixed) - 1;

    return CFG_GROUPS | (p->want_pebs < 6 ? 0 : CFG_CNTR | x86_pmu_general(p) << 32 | fixed << 48);
}

/* A register for the debug store, which this CPU has not? */
static bool is_of_store(X86PMU *p, uint32_t msr)
{
    return x86_arch_pebs(p) && (msr == M_PEBS_ENABLE || msr == M_PEBS_DATA_CFG ||
                                (msr == M_DS_AREA && !p->bts));
}

RegResult x86_pebs_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write)
{
    X86PMU *p = &env->pmu;
    X86PEBS *b = &p->pebs;
    uint64_t gp = (1ull << p->nr_gp) - 1, valid, *reg;

    switch (msr) {
    case M_PEBS_ENABLE:
        reg = &b->enable;
        valid = gp | 7ull << 32 | (p->want_pebs < 4 ? gp << 32 | 1ull << 63 : 0);
        break;
    case M_PEBS_DATA_CFG:
        reg = p->want_pebs >= 4 ? &b->data_cfg : NULL;
        valid = cfg_valid(p);
        break;
    case M_PEBS_LD_LAT:
        reg = &b->ld_lat;
        valid = 0xffff;
        break;
    case M_PEBS_FRONTEND:
        reg = &b->frontend;
        valid = 0x7fffff;
        break;
    case M_DS_AREA:
        reg = &b->ds_area;
        valid = ~0ull;
        break;
    default:
        return x86_arch_pebs_reg(env, msr, val, write);
    }
    if (is_of_store(p, msr)) {
        return REG_GP;
    }
    if (!reg || !(p->want_pebs || (p->bts && msr == M_DS_AREA))) {
        return REG_NONE;
    }
    if (write && (*val & ~valid || (msr == M_DS_AREA && !x86_canonical(*val)))) {
        return REG_GP;
    }
    *(write ? reg : val) = write ? *val : *reg;
    return REG_OK;
}
