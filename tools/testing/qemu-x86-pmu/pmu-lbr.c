/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Last branch records of the emulated PMU.  Intel's: the legacy ones in the
 * format with an info register (Skylake), or the architectural ones; AMD's: the
 * 16 of LbrExtV2, or its branch sampling: a counter's interrupt is held back
 * until 16 branches have been taken since.
 *
 * While they are on, or a trace of branches is (pmu-bts.c), HF_LBR is set in
 * env->hflags, which is part of a translation block's key, and blocks translated
 * with it call here: a branch instruction when it begins (it is the last of its
 * block), and every block when it is entered.  A branch that was begun is
 * recorded there, where its target is known, unless it is a conditional one and
 * execution went on behind it.  Interrupts and exceptions begin a far branch of
 * their own.
 *
 * The same while a counter counts taken branches.  A branch instruction counts in the
 * ring that it leaves, an interrupt or exception in the one that it enters.
 *
 * Architectural and AMD's records are numbered from the newest; inside, all are
 * a ring.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "tcg/sysemu/pmu-private.h"

#define M_SELECT    0x1c8
#define M_TOS       0x1c9
#define M_FROM      0x680
#define M_TO        0x6c0
#define M_INFO      0xdc0
#define M_ARCH_CTL  0x14ce
#define M_ARCH_DEPTH 0x14cf
#define M_ARCH_FROM 0x1500
#define M_ARCH_TO   0x1600
#define M_ARCH_INFO 0x1200

#define M_AMD_SELECT 0xc000010e
#define M_AMD_CFG   0xc000010f
#define M_AMD_FROM  0xc0010300

#define SEL_NO_RING0  (1u << 0)
#define SEL_NO_USER   (1u << 1)
#define SEL_STACK     (1u << 9)
#define SEL_VALID     0x3ffu
#define SEL_AMD_VALID 0x1ffu
#define CFG_AMD_ON    (1u << 6)
#define CFG_AMD_VALID 0x7fu
#define CFG_BRS_ON    (1u << 2)
#define CFG_BRS_ONES  (3u << 3)
#define CFG_BRS_SOME  (1u << 5)
#define CFG_BRS_NEXT  16                 /* four bits */
#define CFG_BRS_VALID (0x7u << 24 | 0xfu << 16 | 0x3cu)
#define AMD_ADDRESS   ((1ull << 58) - 1)
#define AMD_EXECUTED  (1ull << 63)
#define AMD_PREDICTED (1ull << 62)
#define CTL_ON        (1u << 0)
#define CTL_RING0     (1u << 1)
#define CTL_USER      (1u << 2)
#define CTL_STACK     (1u << 3)
#define CTL_VALID     0x7f000full

#define INFO_MISPRED_TSX  (7ull << 61)
#define INFO_CYCLES_OK    (1ull << 60)
#define INFO_TYPE_SHIFT   56

/* By kind: its filter in LBR_CTL, and its number in an architectural record. */
static const struct {
    uint8_t ctl_bit, type;
} arch_kind[] = {
    [X86_BRANCH_JCC] = { 16, 0 }, [X86_BRANCH_REL_JMP] = { 17, 2 },
    [X86_BRANCH_IND_JMP] = { 18, 1 }, [X86_BRANCH_REL_CALL] = { 19, 4 },
    [X86_BRANCH_IND_CALL] = { 20, 3 }, [X86_BRANCH_RET] = { 21, 5 },
    [X86_BRANCH_FAR] = { 22, 8 },
};

static bool lbr_arch(X86PMU *p)
{
    return p->want_lbr == LBR_ARCH;
}

static bool lbr_amd(X86PMU *p)
{
    return p->want_lbr >= LBR_AMD;
}

static bool lbr_brs(X86PMU *p)
{
    return p->want_lbr == LBR_AMD_BRS;
}

static uint64_t lbr_pc(CPUX86State *env)
{
    return env->hflags & HF_CS64_MASK ? env->eip :
           (uint32_t)(env->segs[R_CS].base + env->eip);
}

/* The filters in the form of LBR_SELECT. */
static uint32_t lbr_select(X86PMU *p)
{
    uint32_t sel = 0;
    int kind;

    if (!lbr_arch(p)) {
        return p->lbr.select;
    }
    for (kind = X86_BRANCH_JCC; kind <= X86_BRANCH_FAR; kind++) {
        sel |= p->lbr.ctl >> arch_kind[kind].ctl_bit & 1 ? 0 : 1u << kind;
    }
    return sel | (p->lbr.ctl & CTL_RING0 ? 0 : SEL_NO_RING0) |
           (p->lbr.ctl & CTL_USER ? 0 : SEL_NO_USER) |
           (p->lbr.ctl & CTL_STACK ? SEL_STACK : 0);
}

/* Events of the counters that may be logged, until a branch that begins or another moment. */
static void lbr_note_events(X86PMU *p, uint64_t now, bool jcc, uint64_t *events)
{
    int i;

    for (i = 0; i < p->lbr_counters; i++) {
        X86PMUCounter *c = &p->c[i];

        events[i] = c->total;
        if (!(p->active >> i & 1)) {
            continue;
        }
        events[i] += c->conditional ? p->branches + jcc :
                     (c->rem + (now - p->last) * c->num) / c->den;
    }
}

/* Two bits for each: events since the record before, at most 3. */
static uint64_t lbr_log(X86PMU *p)
{
    X86LBR *l = &p->lbr;
    uint64_t info = 0;
    int i;

    for (i = 0; i < p->lbr_counters; i++) {
        uint64_t n = MAX(l->at_branch[i], l->at_record[i]) - l->at_record[i];

        l->at_record[i] = l->at_branch[i];
        info |= p->c[i].ctl & SEL_LBR_LOG ? MIN(n, 3) << (32 + 2 * i) : 0;
    }
    return info;
}

static void lbr_push(X86PMU *p, uint64_t to)
{
    X86LBR *l = &p->lbr;
    uint64_t cycles = (l->begun - l->last) * MAX(p->cpi, 1);

    l->tos = (l->tos + 1) % X86_LBR_NR;
    if (lbr_amd(p)) {
        l->from[l->tos] = l->source & AMD_ADDRESS;
        l->to[l->tos] = (to & AMD_ADDRESS) | AMD_EXECUTED |
            (l->kind == X86_BRANCH_FAR ? 0 : AMD_PREDICTED);
        return;
    }
    l->from[l->tos] = l->source;
    l->to[l->tos] = to;
    l->info[l->tos] = MIN(cycles, 0xffff);
    if (lbr_arch(p)) {
        l->info[l->tos] |= lbr_log(p) | INFO_CYCLES_OK |
            (uint64_t)arch_kind[l->kind].type << INFO_TYPE_SHIFT;
    }
    l->last = l->begun;
}

/* A held interrupt is let go. */
static void brs_end(CPUX86State *env)
{
    X86LBR *l = &env->pmu.lbr;

    l->hold = false;
    l->kind = 0;
    l->ctl &= ~(uint64_t)CFG_BRS_ON;
    x86_pmu_interrupt(env);
}

/* The same form as the kernel's: which entry is next, and with the last one it starts over. */
static void brs_push(CPUX86State *env, uint64_t to)
{
    X86LBR *l = &env->pmu.lbr;
    uint32_t n = l->ctl >> CFG_BRS_NEXT & 15;

    l->from[n] = l->source;
    l->to[n] = to;
    l->ctl &= ~(15ull << CFG_BRS_NEXT);
    l->ctl |= CFG_BRS_SOME | (uint64_t)((n + 1) & 15) << CFG_BRS_NEXT;
    if (n == 15) {
        brs_end(env);
    }
}

/* An interrupt is due: shall it wait? */
bool x86_lbr_hold(X86PMU *p)
{
    if (!lbr_brs(p) || !(p->lbr.ctl & CFG_BRS_ON)) {
        return false;
    }
    p->lbr.hold = true;
    return true;
}

static void lbr_pop(X86LBR *l)
{
    if (l->from[l->tos]) {
        l->from[l->tos] = l->to[l->tos] = l->info[l->tos] = 0;
        l->tos = (l->tos + X86_LBR_NR - 1) % X86_LBR_NR;
    }
}

/* Are branches recorded? */
static bool lbr_on(X86PMU *p)
{
    if (lbr_brs(p)) {
        return p->lbr.hold;
    }
    return (lbr_amd(p) ? p->lbr.ctl & CFG_AMD_ON :
            lbr_arch(p) ? p->lbr.ctl & CTL_ON :
            p->want_lbr && p->debugctl & DBG_LBR) && !(p->status & ST_LBR_FRZ);
}

/* Does somebody count taken branches? */
static bool lbr_counts(X86PMU *p)
{
    uint32_t m;

    for (m = p->counting; m; m &= m - 1) {
        if (p->c[ctz32(m)].taken) {
            return true;
        }
    }
    return false;
}

/* Leave the loop right after the branch that is about to be taken, if something is to happen there. */
static void lbr_leave_soon(CPUX86State *env)
{
    X86PMU *p = &env->pmu;
    uint64_t after = p->taken + !p->lbr.counted;

    if (after >= p->taken_left ||
        (p->lbr.hold && (p->lbr.ctl >> CFG_BRS_NEXT & 15) == X86_LBR_AMD_NR - 1)) {
        cpu_exit(env_cpu(env));
    }
}

/* The branch that was begun has arrived at the current instruction. */
static void lbr_arrive(CPUX86State *env)
{
    X86PMU *p = &env->pmu;
    X86LBR *l = &p->lbr;
    uint64_t to = lbr_pc(env);
    uint32_t sel = lbr_select(p);

    if (l->kind == X86_BRANCH_JCC && to == l->next) {
        l->kind = 0;
        return;
    }
    p->taken += !l->counted;
    if (lbr_brs(p)) {
        if (l->hold) {
            brs_push(env, to);
        }
        l->kind = 0;
        return;
    }
    x86_bts_record(env, l->source, to);
    if (l->on && !(sel >> l->kind & 1) &&
        !(sel & (env->hflags & HF_CPL_MASK ? SEL_NO_USER : SEL_NO_RING0))) {
        if (!(sel & SEL_STACK)) {
            lbr_push(p, to);
        } else if (l->kind == X86_BRANCH_RET) {
            lbr_pop(l);
        } else if (to != l->next) {
            /* a call of the next instruction only asks where it is */
            lbr_push(p, to);
        }
    }
    l->kind = 0;
}

/* At a branch instruction; what: kind, and in bits 8 up its length. */
void helper_lbr_branch(CPUX86State *env, uint32_t what)
{
    X86PMU *p = &env->pmu;
    X86LBR *l = &p->lbr;

    l->kind = what;
    l->source = lbr_pc(env);
    l->next = l->source + (what >> 8);
    l->begun = x86_pmu_now(env);
    lbr_note_events(p, l->begun, l->kind == X86_BRANCH_JCC, l->at_branch);
    x86_bts_expect(env);
    l->counted = l->kind != X86_BRANCH_JCC;
    p->taken += l->counted;
    lbr_leave_soon(env);
}

/* At the beginning of a translation block. */
void helper_lbr_enter(CPUX86State *env)
{
    if (env->pmu.lbr.kind) {
        lbr_arrive(env);
    }
}

/*
 * Between instructions, outside of any block.  At the place of the branch
 * itself it has not happened: it faulted or is about to be done again.
 */
void x86_lbr_finish(CPUX86State *env)
{
    X86LBR *l = &env->pmu.lbr;

    if (l->kind && lbr_pc(env) != l->source) {
        lbr_arrive(env);
    }
}

/* The vCPU leaves its loop: the last branch has been taken or not. */
void x86_lbr_leave(CPUX86State *env)
{
    bool held = env->pmu.lbr.hold;

    if (env->hflags & HF_LBR_MASK) {
        x86_lbr_finish(env);
    }
    if (held != env->pmu.lbr.hold) {
        x86_pmu_changed(env);
    }
}

/* An interrupt or exception is about to be delivered; INT n has begun itself. */
void x86_lbr_event(CPUX86State *env, bool is_int)
{
    X86PMU *p = &env->pmu;
    X86LBR *l = &p->lbr;

    if (!is_int) {
        x86_lbr_finish(env);
        if (l->kind && l->counted && p->taken) {
            p->taken--;                  /* it faults, and is not taken */
        }
        l->kind = X86_BRANCH_FAR;
        l->counted = false;
        l->source = lbr_pc(env);
        l->next = 0;
        l->begun = x86_pmu_now(env);
        lbr_note_events(p, l->begun, false, l->at_branch);
        x86_bts_expect(env);
    }
}

/* After any change of a control register. */
void x86_lbr_update(CPUX86State *env)
{
    X86PMU *p = &env->pmu;
    bool on = lbr_on(p);

    if (on && !p->lbr.on) {
        p->lbr.last = x86_pmu_now(env);
        lbr_note_events(p, p->lbr.last, false, p->lbr.at_record);
    }
    p->lbr.on = on;
    if ((on || lbr_counts(p) || x86_bts_on(p)) != !!(env->hflags & HF_LBR_MASK)) {
        env->hflags ^= HF_LBR_MASK;
        p->lbr.kind = 0;
    }
}

/* A PMI is being raised; the caller updates. */
void x86_lbr_freeze(CPUX86State *env)
{
    X86PMU *p = &env->pmu;

    if (!p->want_lbr || p->want_lbr > LBR_AMD || !(p->debugctl & DBG_FRZ_LBR)) {
        return;
    }
    if (x86_pmu_streamlined(p)) {
        p->status |= ST_LBR_FRZ;
    } else {
        p->debugctl &= ~DBG_LBR;
    }
}

void x86_lbr_reset(CPUX86State *env)
{
    memset(&env->pmu.lbr, 0, sizeof(env->pmu.lbr));
    env->hflags &= ~HF_LBR_MASK;
}

/* The format of the records in PERF_CAPABILITIES. */
uint32_t x86_lbr_capabilities(X86PMU *p)
{
    return p->want_lbr == LBR_LEGACY ? 5 : p->want_lbr == LBR_ARCH ? 0x3f : 0;
}

static RegResult lbr_entry(X86PMU *p, uint32_t msr, uint64_t *val, bool write)
{
    X86LBR *l = &p->lbr;
    const struct {
        uint32_t legacy, arch;
        uint64_t *entry;
    } file[] = {
        { M_FROM, M_ARCH_FROM, l->from }, { M_TO, M_ARCH_TO, l->to },
        { M_INFO, M_ARCH_INFO, l->info },
    };
    int i;

    for (i = 0; i < ARRAY_SIZE(file); i++) {
        uint32_t n = msr - (lbr_arch(p) ? file[i].arch : file[i].legacy);
        uint64_t *e = file[i].entry;

        if (n >= X86_LBR_NR && n < 0x100 && lbr_arch(p)) {
            return REG_GP;
        }
        if (n >= X86_LBR_NR) {
            continue;
        }
        e += lbr_arch(p) ? (l->tos + X86_LBR_NR - n) % X86_LBR_NR : n;
        if (!write) {
            *val = *e;
            return REG_OK;
        }
        if (i < 2 ? !x86_canonical(*val) : lbr_arch(p) ? 0 : *val &
            ~(INFO_MISPRED_TSX | 0xffff)) {
            return REG_GP;
        }
        *e = *val;
        return REG_OK;
    }
    return REG_NONE;
}

/* Branch sampling has ones that must be written as such, and no filters. */
static RegResult brs_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write)
{
    X86LBR *l = &env->pmu.lbr;
    uint32_t n = msr - M_AMD_FROM;

    if (n < 2 * X86_LBR_AMD_NR) {
        uint64_t *reg = &(n & 1 ? l->to : l->from)[n / 2];

        *(write ? reg : val) = write ? *val : *reg;
        return REG_OK;
    }
    if (msr != M_AMD_CFG) {
        return REG_NONE;
    }
    if (!write) {
        *val = l->ctl;
        return REG_OK;
    }
    if (*val & ~(uint64_t)CFG_BRS_VALID || (*val & CFG_BRS_ONES) != CFG_BRS_ONES) {
        return REG_GP;
    }
    l->ctl = *val;
    if (l->hold && !(*val & CFG_BRS_ON)) {
        brs_end(env);
    }
    return REG_OK;
}

/* Any value can be written to a record of AMD's. */
static RegResult amd_reg(X86PMU *p, uint32_t msr, uint64_t *val, bool write)
{
    X86LBR *l = &p->lbr;
    uint64_t valid = ~0ull, *reg;
    uint32_t n = msr - M_AMD_FROM;

    if (msr == M_AMD_SELECT) {
        reg = &l->select;
        valid = SEL_AMD_VALID;
    } else if (msr == M_AMD_CFG) {
        reg = &l->ctl;
        valid = CFG_AMD_VALID;
    } else if (n < 2 * X86_LBR_AMD_NR) {
        reg = (n & 1 ? l->to : l->from) + (l->tos + X86_LBR_NR - n / 2) % X86_LBR_NR;
    } else {
        return REG_NONE;
    }
    if (write && *val & ~valid) {
        return REG_GP;
    }
    *(write ? reg : val) = write ? *val : *reg;
    return REG_OK;
}

/* One register, read or written; the caller updates. */
RegResult x86_lbr_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write)
{
    X86PMU *p = &env->pmu;
    X86LBR *l = &p->lbr;

    if (!p->want_lbr) {
        return REG_NONE;
    }
    if (lbr_brs(p)) {
        return brs_reg(env, msr, val, write);
    }
    if (lbr_amd(p)) {
        return amd_reg(p, msr, val, write);
    }
    if (msr == (lbr_arch(p) ? M_ARCH_CTL : M_SELECT)) {
        uint64_t *reg = lbr_arch(p) ? &l->ctl : &l->select;

        if (write && *val & ~(lbr_arch(p) ? CTL_VALID : SEL_VALID)) {
            return REG_GP;
        }
        *(write ? reg : val) = write ? *val : *reg;
        return REG_OK;
    }
    if (msr == M_ARCH_DEPTH && lbr_arch(p)) {
        if (write && *val != X86_LBR_NR) {
            return REG_GP;
        }
        if (write) {
            memset(l->from, 0, sizeof(l->from));
            memset(l->to, 0, sizeof(l->to));
            memset(l->info, 0, sizeof(l->info));
        }
        *val = X86_LBR_NR;
        return REG_OK;
    }
    if (msr == M_TOS && !lbr_arch(p)) {
        if (write && *val >= X86_LBR_NR) {
            return REG_GP;
        }
        l->tos = write ? *val : l->tos;
        *val = l->tos;
        return REG_OK;
    }
    return lbr_entry(p, msr, val, write);
}
