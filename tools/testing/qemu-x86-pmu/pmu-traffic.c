/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the guest accessed its model-specific registers, for the guest to
 * read: registers of their own, read-only, whose accesses do not count.
 *
 * 0x50000000 RDMSR, 0x50000001 WRMSR, 0x50000002 RDPMC, 0x50000003 PMIs,
 * 0x50000004 and 0x50000005 RDMSR and WRMSR of registers of the PMU: all there
 * were on this vCPU since its reset.  0x50000007 reads 0x504d5531, 0x50000008
 * to 0x5000000a the properties pmu-delay, pmu-lose and pmu-metrics-bits.
 * 0x50100000 + m: RDMSR of m; 0x50200000 + m: WRMSR of m, for m below 0x2000;
 * for 0xc0000000 to 0xc0001fff m is 0x2000 less that base, and for 0xc0010000
 * to 0xc0011fff 0x4000 less that one.  Accesses that fault count, too.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "tcg/sysemu/pmu-private.h"

#define T_SUM     0x50000000u
#define T_MAGIC   0x50000007u
#define T_DELAY   0x50000008u
#define T_LOSE    0x50000009u
#define T_METRICS 0x5000000au
#define T_READS   0x50100000u
#define T_WRITES  0x50200000u
#define SPAN      0x2000u

struct X86Traffic {
    uint64_t sum[X86_TRAFFIC_KINDS];
    uint32_t each[2][3 * SPAN];
};

static int traffic_index(uint32_t msr)
{
    static const uint32_t base[] = { 0, 0xc0000000u, 0xc0010000u };
    int i;

    for (i = 0; i < ARRAY_SIZE(base); i++) {
        if (msr - base[i] < SPAN) {
            return i * SPAN + msr - base[i];
        }
    }
    return -1;
}

void x86_traffic_reset(X86PMU *p)
{
    g_free(p->traffic);
    p->traffic = g_new0(struct X86Traffic, 1);
}

void x86_traffic_count(X86PMU *p, X86TrafficKind kind, uint32_t msr)
{
    p->traffic->sum[kind]++;
    if (kind <= X86_WRMSR && traffic_index(msr) >= 0) {
        p->traffic->each[kind][traffic_index(msr)]++;
    }
}

bool x86_traffic_read(X86PMU *p, uint32_t msr, uint64_t *val)
{
    if (msr - T_SUM < X86_TRAFFIC_KINDS) {
        *val = p->traffic->sum[msr - T_SUM];
    } else if (msr == T_MAGIC) {
        *val = 0x504d5531;
    } else if (msr == T_DELAY) {
        *val = p->delay;
    } else if (msr == T_LOSE) {
        *val = p->lose;
    } else if (msr == T_METRICS) {
        *val = p->metrics_bits;
    } else if (msr - T_READS < 3 * SPAN) {
        *val = p->traffic->each[X86_RDMSR][msr - T_READS];
    } else if (msr - T_WRITES < 3 * SPAN) {
        *val = p->traffic->each[X86_WRMSR][msr - T_WRITES];
    } else {
        return false;
    }
    return true;
}
