/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulated x86 PMU: architectural PEBS (the property pmu-pebs=7).  Records go
 * to a buffer by physical address, and each counter's CFG_C says what is in
 * its records.
 *
 * Overflows that are found together make one record, with the groups of all.
 * With pmu-fragments each group but the first has a fragment of its own, and
 * a fragment without groups before that.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/cpu-common.h"
#include "tcg/sysemu/pmu-private.h"

enum { M_PEBS_BASE = 0x3f4, M_PEBS_INDEX = 0x3f5 };

/* The index */
#define NEXT            (0x7fffffull << 4)      /* record, as an offset */
#define FULL            (1ull << 31)
#define ON              (1ull << 32)
#define THRESHOLD_SHIFT 36
#define INDEX_VALID     (NEXT | FULL | ON | 0x7fffffull << THRESHOLD_SHIFT)

/* CFG_C; the groups have the same bits in a header. */
#define ALLOW           (1ull << 35)
#define GENERAL         (1ull << 36)
#define FIXED           (1ull << 37)
#define BRANCHES        (3ull << 40)
#define XMM             (1ull << 49)
#define GPRS            (1ull << 61)
#define AUX             (1ull << 62)
#define BASIC           (1ull << 63)
#define GROUPS          (BRANCHES | XMM | GPRS | AUX | BASIC | GENERAL | FIXED)

/* The rest of a header */
#define MODE            (1ull << 30)            /* of 64 bits */
#define CONTINUED       (1ull << 31)

#define EXACT_GENERAL   3                       /* counters with a precise distribution */
#define EXACT_FIXED     1
#define RETIRE_LATENCY  (1u << 16 | 7)          /* of every instruction; and it is valid */
#define PAGE_MASK_BASE  0xfffull

bool x86_arch_pebs(X86PMU *p)
{
    return p->want_pebs == PEBS_ARCH;
}

/* What a counter's CFG_C may have beside the value to reload. */
uint64_t x86_arch_pebs_config(X86PMU *p)
{
    return x86_arch_pebs(p) ? GROUPS | ALLOW : 0;
}

/* Subleaf 4 or 5 of leaf 23H */
void x86_arch_pebs_leaf(X86PMU *p, uint32_t count, uint32_t *eax, uint32_t *ebx,
                        uint32_t *ecx, uint32_t *edx)
{
    if (!x86_arch_pebs(p)) {
        return;
    }
    if (count == 4) {
        *ebx = (x86_arch_pebs_config(p) & ~BASIC) >> 32;
    } else if (count == 5) {
        *eax = x86_pmu_general(p);
        *ebx = *eax & EXACT_GENERAL;
        *ecx = x86_pmu_all(p) >> 32;
        *edx = *ecx & EXACT_FIXED;
    }
}

/* Counters that record, a mask over c[] */
uint32_t x86_arch_pebs_counters(X86PMU *p)
{
    uint32_t m = 0;
    int i;

    for (i = 0; i < X86_PMU_NR && x86_arch_pebs(p); i++) {
        m |= p->c[i].cfg_c & BASIC ? 1u << i : 0;
    }
    return m;
}

static void begin_fragment(X86Record *r)
{
    r->head = r->n;
    x86_record_put(r, 0);
    x86_record_put(r, 0);
}

static void end_fragment(CPUX86State *env, X86Record *r, bool more)
{
    if (r->n & 1) {
        x86_record_put(r, 0);
    }
    r->word[r->head] |= (r->n - r->head) * 8 | (more ? CONTINUED : 0) |
                        (env->hflags & HF_CS64_MASK ? MODE : 0);
}

static void begin_group(CPUX86State *env, X86Record *r, uint64_t group)
{
    if (env->pmu.fragments && !(group & BASIC)) {
        end_fragment(env, r, true);
        x86_record_put(r, 16);
        x86_record_put(r, 0);
        begin_fragment(r);
    }
    r->word[r->head] |= group;
}

static void put_zeros(X86Record *r, int n)
{
    while (n--) {
        x86_record_put(r, 0);
    }
}

static void put_aux(CPUX86State *env, X86Record *r)
{
    X86Record memory = {};

    x86_record_memory(&memory, &env->pmu);
    x86_record_put(r, memory.word[0]);
    put_zeros(r, 4);
    x86_record_put(r, memory.word[1]);
    x86_record_put(r, memory.word[2]);
    x86_record_put(r, 0);
}

static void put_values(X86PMU *p, X86Record *r, uint64_t groups)
{
    uint64_t which = 0;
    int i;

    for (i = 0; i < X86_PMU_NR; i++) {
        if (p->c[i].cfg_c & ALLOW && groups & (i < X86_PMU_GP ? GENERAL : FIXED)) {
            which |= 1ull << (i < X86_PMU_GP ? i : i - X86_PMU_GP + 32);
        }
    }
    x86_record_put(r, which);
    x86_record_put(r, 0);
    for (i = 0; i < X86_PMU_NR; i++) {
        if (which >> (i < X86_PMU_GP ? i : i - X86_PMU_GP + 32) & 1) {
            x86_record_put(r, p->c[i].val);
        }
    }
}

static void make_record(CPUX86State *env, X86Record *r, uint64_t groups, uint64_t counters,
                        uint64_t ip)
{
    begin_fragment(r);
    begin_group(env, r, BASIC);
    x86_record_put(r, ip);
    x86_record_put(r, counters);
    x86_record_put(r, x86_record_tsc(env));
    x86_record_put(r, RETIRE_LATENCY);
    put_zeros(r, 2);
    if (groups & AUX) {
        begin_group(env, r, AUX);
        put_aux(env, r);
    }
    if (groups & GPRS) {
        begin_group(env, r, GPRS);
        x86_record_gprs(r, env);
        put_zeros(r, 2);
    }
    if (groups & XMM) {
        begin_group(env, r, XMM);
        x86_record_put(r, 1 << 1);
        x86_record_put(r, 0);
        x86_record_xmm(r, env);
    }
    if ((groups & BRANCHES) == BRANCHES) {
        begin_group(env, r, BRANCHES);
        x86_record_put(r, 0);
        x86_record_put(r, env->pmu.lbr.ctl);
        x86_record_put(r, X86_LBR_NR);
        put_zeros(r, 3);
        x86_record_branches(r, env, X86_LBR_NR);
    }
    if (groups & (GENERAL | FIXED)) {
        begin_group(env, r, groups & (GENERAL | FIXED));
        put_values(&env->pmu, r, groups);
    }
    end_fragment(env, r, false);
}

/* True if the buffer reached its threshold.  What does not fit is lost. */
static bool write_record(X86PEBS *b, X86Record *r)
{
    uint64_t size = (PAGE_MASK_BASE + 1) << (b->base & 0xf), at = b->index & NEXT;

    if (!(b->index & ON) || b->index & FULL) {
        return false;
    }
    if (at + r->n * 8 > size) {
        b->index |= FULL;
        return false;
    }
    cpu_physical_memory_write((b->base & ~PAGE_MASK_BASE) + at, r->word, r->n * 8);
    b->index += r->n * 8;
    return (b->index & NEXT) >> 4 >= b->index >> THRESHOLD_SHIFT;
}

/* As x86_pebs_overflow().  The same counters as a mask over c[], and as in the global registers. */
bool x86_arch_pebs_overflow(CPUX86State *env, uint32_t over, uint64_t counters, uint64_t ip)
{
    X86PMU *p = &env->pmu;
    X86Record r = {};
    uint64_t groups = 0;
    uint32_t m;

    for (m = over; m; m &= m - 1) {
        groups |= p->c[ctz32(m)].cfg_c & GROUPS;
    }
    make_record(env, &r, groups, counters, ip);
    for (m = over; m; m &= m - 1) {
        X86PMUCounter *c = &p->c[ctz32(m)];

        if ((uint32_t)c->cfg_c) {
            c->val = (c->val + (c->cfg_c | ~(uint64_t)UINT32_MAX)) & CTR_MASK;
        }
    }
    return write_record(&p->pebs, &r);
}

RegResult x86_arch_pebs_reg(CPUX86State *env, uint32_t msr, uint64_t *val, bool write)
{
    X86PEBS *b = &env->pmu.pebs;
    uint64_t valid = msr == M_PEBS_INDEX ? INDEX_VALID :
                     ((1ull << env_archcpu(env)->phys_bits) - 1) & ~0xff0ull;
    uint64_t *reg = msr == M_PEBS_INDEX ? &b->index : &b->base;

    if (!x86_arch_pebs(&env->pmu) || (msr != M_PEBS_BASE && msr != M_PEBS_INDEX)) {
        return REG_NONE;
    }
    if (write && *val & ~valid) {
        return REG_GP;
    }
    *(write ? reg : val) = write ? *val : *reg;
    return REG_OK;
}
