/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bare-metal selftest of the emulated PMU: architectural PEBS.  Registers,
 * records of each group, in fragments or not, and what the index says.
 */
#include "selftest.h"

#define BASE       0x3f4
#define INDEX      0x3f5
#define CFG_C      0x1903
#define COUNTER    0x1900

#define ON         (1ull << 32)
#define FULL       (1ull << 31)
#define AFTER(n)   ((u64)(n) << 36)
#define BASIC      (1ull << 63)
#define AUX        (1ull << 62)
#define GPRS       (1ull << 61)
#define XMM        (1ull << 49)
#define BRANCHES   (3ull << 40)
#define ALLOW      (1ull << 35)
#define VALUES     (3ull << 36)
#define CONTINUED  (1ull << 31)
#define STATUS     (1ull << 54)

static u64 page[1024] __attribute__((aligned(4096)));

static void leaf(u32 count, u32 *r)
{
    __asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) :
                     "a"(0x23), "c"(count));
}

/* The buffer is empty; an interrupt after so many bytes. */
static void empty(u32 bytes)
{
    u32 i;

    for (i = 0; i < 1024; i++) {
        page[i] = 0;
    }
    wr(0x390, STATUS);
    wr(INDEX, ON | AFTER(bytes / 16));
}

static void pebs_run(u64 count)
{
    LVTPC = 4 << 8;
    wr(COUNTER, MASK48 + 1 - count);
    nmis = 0;
    run(0x38f, 1);
    wr(0x38f, 0);
}

static void registers(void)
{
    u32 r[4], counters;

    wr_gp("no PEBS_ENABLE", 0x3f1, 0);
    wr_gp("no PEBS_DATA_CFG", 0x3f2, 0);
    wr_gp("PEBS_BASE bit 4", BASE, 0x10);
    wr_gp("PEBS_INDEX bit 0", INDEX, 1);
    wr_gp("PEBS_INDEX bit 33", INDEX, 1ull << 33);
    wr_gp("CFG_C bit 32", CFG_C, 1ull << 32);
    leaf(1, r);
    counters = r[0];
    leaf(0, r);
    eq("subleaves of architectural PEBS", r[0] >> 4 & 3, 3);
    leaf(4, r);
    eq("groups", r[1], (AUX | GPRS | XMM | BRANCHES | ALLOW | VALUES) >> 32);
    leaf(5, r);
    eq("counters that record", r[0], counters);
    eq("exact counters", r[1], 3);
    eq("exact fixed counters", r[3], 1);
}

/* Each group alone: its bytes, and whether it has a header of its own. */
static void groups(void)
{
    static const struct {
        u64 bits, shows;
        u32 bytes;
    } group[] = {
        { 0, 0, 0 }, { AUX, AUX, 64 }, { GPRS, GPRS, 160 }, { XMM, XMM, 272 },
        { BRANCHES, BRANCHES, 816 }, { ALLOW | VALUES, VALUES, 32 },
    };
    u32 i, at, frag;

    for (i = 0; i < sizeof(group) / sizeof(group[0]); i++) {
        empty(16);
        wr(CFG_C, BASIC | group[i].bits);
        pebs_run(100 + i);
        frag = page[0] >> 31 & 1;
        at = frag ? 10 : 0;              /* where the header of the group is */
        eq("record: NMIs", nmis, 1);
        eq("record: status", rd(0x38e), STATUS);
        eq("record: index", rd(INDEX), ON | AFTER(1) | (64 + group[i].bytes + (frag ? 32 : 0)));
        eq("record: header", page[0], frag ? BASIC | CONTINUED | 64 :
           BASIC | group[i].shows | (64 + group[i].bytes));
        if (frag) {
            eq("gap", page[8], 16);
            eq("second header", page[at], group[i].shows | (16 + group[i].bytes));
        }
        eq("record: instruction", page[2], (u32)run_at + 99 + i);
        eq("record: counters", page[3], 1);
        eq("record: latency", page[5], 0x10007);
        eq("record: the counter goes on", rd(COUNTER) < 2000, 1);
        at = frag ? 12 : 8;
        if (group[i].bits == GPRS) {
            eq("record: next instruction", page[at + 1], (u32)run_at + 100 + i);
            eq("record: ECX", page[at + 3], 0x38f);
        } else if (group[i].bits == BRANCHES) {
            eq("record: branches", page[at + 2], 32);
        } else if (group[i].bits & ALLOW) {
            eq("record: which values", page[at], 1);
            eq("record: value", page[at + 2], 0);
        }
    }
}

static void many(void)
{
    u32 i;

    empty(5 * 64);
    wr(CFG_C, BASIC | (u32)-100);
    pebs_run(100);
    eq("five records: NMIs", nmis, 1);
    eq("five records: instructions before it", nmi_eip - (u32)run_at, 500);
    for (i = 0; i < 5; i++) {
        eq("five records: instruction", page[8 * i + 2], (u32)run_at + 99 + 100 * i);
    }
    /* two counters, one record */
    empty(64);
    wr(0x1907, BASIC);
    wr(0x1905, 0xc0 | EN | OS);
    wr(0x1904, MASK48 + 1 - 100);
    LVTPC = 4 << 8;
    wr(COUNTER, MASK48 + 1 - 100);
    run(0x38f, 3);
    wr(0x38f, 0);
    eq("two counters", page[3], 3);
    wr(0x1907, 0), wr(0x1905, 0);
}

static void full(void)
{
    wr(CFG_C, BASIC);
    empty(8192);
    wr(INDEX, ON | AFTER(512) | (4096 - 48));
    pebs_run(100);
    eq("full: NMIs", nmis, 0);
    eq("full: index", rd(INDEX), ON | FULL | AFTER(512) | (4096 - 48));
    wr(INDEX, ON | FULL | AFTER(1));
    pebs_run(100);
    eq("full: no more", rd(INDEX), ON | FULL | AFTER(1));
    wr(INDEX, AFTER(1));
    pebs_run(100);
    eq("off: no record", rd(INDEX), AFTER(1));
    eq("off: NMIs", nmis, 0);
    /* twice as long */
    wr(BASE, (u32)page | 1);
    wr(INDEX, ON | AFTER(1) | (4096 - 48));
    pebs_run(100);
    eq("two pages: index", rd(INDEX), ON | AFTER(1) | (4096 + 16));
    eq("two pages: instruction", page[512 - 6 + 2], (u32)run_at + 99);
}

void arch_records(void)
{
    SVR = 0x1ff;
    registers();
    wr(0x1901, 0xc0 | EN | OS);
    wr(BASE, (u32)page);
    groups();
    many();
    full();
    wr(CFG_C, 0), wr(0x1901, 0), wr(INDEX, 0), wr(BASE, 0);
    wr(0x390, STATUS | 3);
}
