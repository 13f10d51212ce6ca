/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the selftest about what the PMU records: branches (legacy,
 * architectural and AMD's), branch traces, PEBS records; and about its counts of
 * register accesses.
 */
#include "selftest.h"

#define NR    32
#define ARCH  0x14ce
#define AMD_SELECT  0xc000010e
#define AMD_CFG     0xc000010f
#define AMD_FROM    0xc0010300
#define AMD_ADDRESS ((1ull << 58) - 1)

/*
 * lbr_run(msr, on, off): one branch of each kind between two WRMSRs.
 * lbr_nest: the second WRMSR is in the second of two nested calls.
 */
asm("lbr_int: iret\n"
    ".globl lbr_int, lbr_run, lbr_nest\n"
    "lbr_run: movl 4(%esp), %ecx; movl 8(%esp), %eax; xorl %edx, %edx; wrmsr\n"
    "lbr_0: call lbr_f\n"
    "lbr_1: jmp lbr_2; nop\n"
    "lbr_2: xorl %eax, %eax; jnz lbr_0\n"
    "lbr_3: jz lbr_4; nop\n"
    "lbr_4: movl $lbr_6, %eax\n"
    "lbr_5: jmp *%eax; nop\n"
    "lbr_6: movl $lbr_f, %eax\n"
    "lbr_7: call *%eax\n"
    "lbr_8: int $0x81\n"
    "lbr_9: movl 12(%esp), %eax; wrmsr; ret\n"
    "lbr_f: ret\n"
    "lbr_nest: movl 4(%esp), %ecx; movl 8(%esp), %eax; xorl %edx, %edx; wrmsr\n"
    "lbr_n1: call lbr_f; call lbr_n2; ret\n"
    "lbr_n2: call lbr_get\n"
    "lbr_get: popl %eax\n"
    "lbr_n3: call lbr_n4; ret\n"
    "lbr_n4: movl 20(%esp), %eax; wrmsr; ret\n");
extern char lbr_int[], lbr_0[], lbr_1[], lbr_2[], lbr_3[], lbr_4[], lbr_5[], lbr_6[], lbr_7[],
    lbr_8[], lbr_9[], lbr_f[], lbr_n1[], lbr_n2[], lbr_n3[], lbr_n4[];
void lbr_run(u32 msr, u32 on, u32 off);
void lbr_nest(u32 msr, u32 on, u32 off);

/* What lbr_run() does, newest first; the type in an architectural record. */
static const struct {
    char *from, *to;
    u8 type, filter;                     /* the bit of LBR_SELECT that hides it */
} did[] = {
    { lbr_int, lbr_9, 8, 8 }, { lbr_8, lbr_int, 8, 8 }, { lbr_f, lbr_8, 5, 5 },
    { lbr_7, lbr_f, 3, 4 }, { lbr_5, lbr_6, 1, 6 }, { lbr_3, lbr_4, 0, 2 },
    { lbr_1, lbr_2, 2, 7 }, { lbr_f, lbr_1, 5, 5 }, { lbr_0, lbr_f, 4, 3 },
};
#define DID ((int)(sizeof(did) / sizeof(did[0])))

static u32 arch, amd, nr = NR;

static u64 from(u32 n)
{
    return amd ? rd(AMD_FROM + 2 * n) & AMD_ADDRESS :
           rd(arch ? 0x1500 + n : 0x680 + (((u32)rd(0x1c9) - n) & (NR - 1)));
}
static u64 to(u32 n)
{
    return amd ? rd(AMD_FROM + 2 * n + 1) & AMD_ADDRESS :
           rd(arch ? 0x1600 + n : 0x6c0 + (((u32)rd(0x1c9) - n) & (NR - 1)));
}
static u64 info(u32 n)
{
    return rd(arch ? 0x1200 + n : 0xdc0 + (((u32)rd(0x1c9) - n) & (NR - 1)));
}

/* Empty it; filters in the form of LBR_SELECT. Returns what turns it on. */
static u32 prepare(u32 select)
{
    u32 ctl = 1, i;
    static const u8 bit[] = { 1, 2, 16, 19, 20, 21, 18, 17, 22 };

    if (amd) {
        for (i = 0; i < 2 * nr; i++) {
            wr(AMD_FROM + i, 0);
        }
        wr(AMD_SELECT, select);
        return 1 << 6;
    }
    if (!arch) {
        for (i = 0; i < NR; i++) {
            wr(0x680 + i, 0), wr(0x6c0 + i, 0), wr(0xdc0 + i, 0);
        }
        wr(0x1c9, 0), wr(0x1c8, select);
        return 1;
    }
    wr(0x14cf, NR);
    for (i = 0; i < 9; i++) {
        ctl |= select >> i & 1 ? 0 : 1u << bit[i];
    }
    return ctl | (select >> 9 & 1) << 3;
}

static u32 recorded(void)
{
    u32 n;

    for (n = 0; n < nr && from(n); n++) {
    }
    return n;
}

static void registers(void)
{
    u32 i;

    for (i = 0; i < NR; i += NR - 1) {
        u32 base = arch ? 0x1500 : 0x680;

        wr(base + i, 0xffff800012345678ull);
        eq("LBR from", rd(base + i), 0xffff800012345678ull);
        wr_gp("LBR from not canonical", base + i, 1ull << 47);
        wr(base + i, 0);
    }
    if (arch) {
        wr_gp("LBR_DEPTH 8", 0x14cf, 8);
        wr_gp("LBR_CTL bit 4", ARCH, 16);
        rd(0x1500 + NR);
        eq("LBR from past the last", gp, 1);
        return;
    }
    wr_gp("LBR_TOS 32", 0x1c9, 32);
    wr_gp("LBR_SELECT bit 10", 0x1c8, 1 << 10);
}

static void kinds(void)
{
    u32 msr = amd ? AMD_CFG : arch ? ARCH : 0x1d9, i, k, on = prepare(0), hidden;

    lbr_run(msr, on, 0);
    eq("branches recorded", recorded(), DID);
    for (i = 0; i < DID; i++) {
        eq("branch from", from(i), (u32)did[i].from);
        eq("branch to", to(i), (u32)did[i].to);
        if (arch) {
            eq("branch type", info(i) >> 56 & 15, did[i].type);
        }
        if (amd) {
            eq("branch executed, predicted", rd(AMD_FROM + 2 * i + 1) >> 61,
               did[i].filter == 8 ? 4 : 6);
        }
    }
    if (!amd) {
        /* between two calls of lbr_f: ret, jmp, xor, jnz, jz, mov, jmp, mov, call */
        eq("cycles of ret, rel. jump", info(DID - 3) & 0xffff, (info(DID - 2) & 0xffff));
        eq("cycles to the conditional", info(DID - 4) & 0xffff, 3 * (info(DID - 3) & 0xffff));
    }
    for (k = 2; k <= 8; k++) {
        on = prepare(1u << k);
        for (i = hidden = 0; i < DID; i++) {
            hidden += did[i].filter == k;
        }
        lbr_run(msr, on, 0);
        eq("branches but one kind", recorded(), DID - hidden);
    }
    lbr_run(msr, prepare(1), 0);
    eq("not in ring 0", recorded(), 0);
    lbr_run(msr, prepare(2), 0);
    eq("not in ring 3", recorded(), DID);
    for (i = 0, on = prepare(0); i < 4; i++) {
        lbr_run(msr, on, 0);
    }
    eq("more than there is room for", recorded(), nr);
    eq("the newest", from(0), (u32)lbr_int);
    eq("the oldest", from(nr - 1), (u32)did[(nr - 1) % DID].from);
}

u32 logged_counters(void)
{
    u32 r[4], n = 0;

    cpuid(7, r);
    if (r[3] >> 19 & 1) {                /* architectural records */
        cpuid(0x1c, r);
        while (r[2] >> (16 + n) & 1) {
            n++;
        }
    }
    return n;
}

/* Events of counters between two branches, newest first; the third counter is not logged. */
static void logged(void)
{
    static const u8 instructions[DID] = { 1, 1, 1, 2, 2, 3, 1, 1, 1 };
    u32 n = logged_counters(), i, on = prepare(0);
    u64 log = 1ull << 35;

    if (!n) {
        return;
    }
    wr_gp("LBR: a counter that is not logged", 0x186 + n, log);
    wr(0x186, 0xc0 | EN | OS | log);
    wr(0x187, 0x11c4 | EN | OS | log);
    wr(0x188, 0xc0 | EN | OS);
    wr(0x189, 0x3c | EN | USR | log);
    wr(0x38f, 15);
    lbr_run(ARCH, on, 0);
    wr(0x38f, 0);
    for (i = 0; i < DID; i++) {
        eq("LBR: instructions, branches, no, none", info(i) >> 32 & 0xff,
           instructions[i] | (did[i].from == lbr_3 ? 2 << 2 : 0));
    }
    for (i = 0; i < 4; i++) {
        wr(0x186 + i, 0);
    }
}

static void call_stack(void)
{
    u32 msr = arch ? ARCH : 0x1d9, on = prepare(0x3c4);

    lbr_run(msr, on, 0);
    eq("call stack: all returned", recorded(), 0);
    lbr_nest(msr, on, 0);
    eq("call stack: two deep", recorded(), 2);
    eq("call stack: inner", from(0), (u32)lbr_n3);
    eq("call stack: its target", to(0), (u32)lbr_n4);
    eq("call stack: outer", to(1), (u32)lbr_n2);
}

static void freeze(u32 version)
{
    u32 msr = arch ? ARCH : 0x1d9, on = prepare(0);

    LVTPC = 4 << 8;
    wr(0x186, 0xc0 | EN | OS | INT);
    wr(0x4c1, MASK48 - 99);
    wr(0x1d9, 1 << 11);
    wr(msr, arch ? on : 1 << 11 | 1);
    nmis = 0;
    run(0x38f, 1);
    eq("freeze: NMI", nmis, 1);
    eq("freeze: the newest is the call before", to(0), (u32)run);
    eq("freeze: status", rd(0x38e) >> 58 & 1, version >= 4);
    if (!arch) {
        eq("freeze: DEBUGCTL", rd(0x1d9), version >= 4 ? 1 << 11 | 1 : 1 << 11);
    }
    wr(0x390, rd(0x38e));
    wr(0x38f, 0);
    if (version >= 4) {
        lbr_run(msr, arch ? on : 1, 0);
        eq("freeze: goes on when cleared", from(0), (u32)lbr_int);
    }
    wr(msr, 0), wr(0x1d9, 0);
}

void branches(u32 version)
{
    u32 r[4], caps;

    caps = version >= 2 ? rd(0x345) & 63 : 0;
    cpuid(7, r);
    arch = r[3] >> 19 & 1;
    eq("LBR format", caps, arch ? 63 : caps ? 5 : 0);
    if (!caps) {
        return;
    }
    if (arch) {
        cpuid(0x1c, r);
        eq("LBR depth", r[0] & 255, 1 << (NR / 8 - 1));
    }
    registers();
    kinds();
    if (arch) {
        logged();
    }
    call_stack();
    freeze(version);
}

/* Freezing, if there is such; with it the branches of the NMI are not recorded. */
static void amd_freeze(u32 can)
{
    u32 on = prepare(0);

    LVTPC = 4 << 8;
    wr(0xc0000301, 0);
    wr(0xc0010201, MASK48 - 99);
    wr(0xc0010200, 0xc0 | EN | OS | INT);
    wr(0x1d9, 1 << 11);
    wr(AMD_CFG, on);
    nmis = 0;
    run(0xc0000301, 1);
    eq("freeze: NMI", nmis, 1);
    eq("freeze: status", rd(0xc0000300), can ? 1 | 1ull << 58 : 1);
    if (can) {
        eq("freeze: the newest is the call before", to(0), (u32)run);
        lbr_run(AMD_CFG, on, 0);
        eq("freeze: it stays", to(0), (u32)run);
    }
    wr(0xc0000302, 1 | 1ull << 58);
    eq("freeze: status cleared", rd(0xc0000300), 0);
    wr(0xc0000301, 0), wr(0xc0010200, 0), wr(0x1d9, 0);
    lbr_run(AMD_CFG, on, 0);
    eq("freeze: goes on when cleared", from(0), (u32)lbr_int);
}

void amd_branches(void)
{
    u32 r[4];

    cpuid(0x80000022, r);
    nr = r[1] >> 4 & 63;
    eq("LbrExtV2: records", nr, r[0] & 2 ? 16 : 0);
    if (!nr) {
        return;
    }
    amd = 1;
    wr_gp("LBR_SELECT bit 9", AMD_SELECT, 1 << 9);
    wr(AMD_FROM + 1, 0xfc00000000401000ull);
    eq("LBR to", rd(AMD_FROM + 1), 0xfc00000000401000ull);
    kinds();
    amd_freeze(r[0] >> 2 & 1);
}

/* Taken branches, counted on counter 0 of version 1 and 2: in the ring that they leave. */
void amd_taken(void)
{
    u32 i;

    wr(0xc0000301, 1);                   /* which there is with version 2 */
    wr(0xc0010201, 0);
    lbr_run(0xc0010200, 0xc4 | EN | OS, 0);
    eq("taken branches", rd(0xc0010201), DID);
    SVR = 0x1ff;
    LVTPC = 4 << 8;
    for (i = 1; i <= DID; i++) {
        wr(0xc0010201, MASK48 + 1 - i);
        nmis = 0;
        lbr_run(0xc0010200, 0xc4 | EN | OS | INT, 0);
        eq("taken branches: NMIs", nmis, 1);
        eq("taken branches: where", nmi_eip, (u32)did[DID - i].to);
        wr(0xc0000302, 1);
    }
    wr(0xc0010201, 0);
    wr(0xc0010200, 0xc4 | EN | USR);
    user(u_branches);
    wr(0xc0010200, 0);
    eq("taken branches in ring 3", rd(0xc0010201), 499);
}

/* Branch sampling: the interrupt comes 16 branches after the overflow, or when it is turned off. */
void amd_sampling(void)
{
    u32 r[4], seen[3], i, k;

    cpuid(0x80000008, r);
    if (!(r[1] >> 31)) {
        return;
    }
    wr_gp("BRS: the two ones", AMD_CFG, 4);
    wr(AMD_CFG, 0x1c);
    eq("BRS: on", rd(AMD_CFG), 0x1c);
    LVTPC = 4 << 8;
    wr(0xc0010201, MASK48 - 99);
    nmis = 0;
    run(0xc0010200, 0xc0 | EN | OS | INT);
    seen[0] = nmis;
    lbr_run(0x174, 0, 0);
    seen[1] = nmis;
    lbr_run(0x174, 0, 0);
    seen[2] = nmis;
    eq("BRS: held back", seen[0], 0);
    eq("BRS: still", seen[1], 0);
    eq("BRS: NMI", seen[2], 1);
    eq("BRS: full and off", rd(AMD_CFG), 0x38);
    eq("BRS: right after the last", nmi_eip, rd(AMD_FROM + 2 * 15 + 1));
    for (i = 0; i < 16 && rd(AMD_FROM + 2 * i) != (u32)lbr_0; i++) {
    }
    for (k = 0; k < DID; k++) {
        eq("BRS: from", rd(AMD_FROM + 2 * (i + k)), (u32)did[DID - 1 - k].from);
        eq("BRS: to", rd(AMD_FROM + 2 * (i + k) + 1), (u32)did[DID - 1 - k].to);
    }
    wr(AMD_CFG, 0x1c);
    wr(0xc0010201, MASK48 - 99);
    nmis = 0;
    run(0xc0010200, 0xc0 | EN | OS | INT);
    seen[0] = nmis;
    wr(AMD_CFG, 0x18 | (rd(AMD_CFG) & 0xf0020));
    seen[1] = nmis;
    eq("BRS: held back again", seen[0], 0);
    eq("BRS: let go", seen[1], 1);
    wr(0xc0010200, 0);
}

/* The DS area, and a buffer of records. */
static u64 ds[64] __attribute__((aligned(64))), buffer[1024];
#define WORDS 25

static void ds_setup(u32 size, u32 threshold, u64 reset)
{
    u32 i;

    for (i = 0; i < 1024; i++) {
        buffer[i] = 0;
    }
    ds[4] = ds[5] = (u32)buffer;
    ds[6] = (u32)buffer + sizeof(buffer);
    ds[7] = (u32)buffer + size * threshold;
    ds[8] = reset;
    wr(0x600, (u32)ds);
}

static void pebs_run(u64 count)
{
    LVTPC = 4 << 8;
    wr(0x4c1, MASK48 + 1 - count);
    nmis = 0;
    run(0x38f, 1);
    wr(0x38f, 0);
}

static void adaptive(void)
{
    static const struct {
        u32 cfg, words;
    } group[] = { { 0, 4 }, { 1, 8 }, { 2, 22 }, { 4, 36 }, { 8 | 3u << 24, 16 }, { 7, 58 } };
    u32 i;

    for (i = 0; i < sizeof(group) / sizeof(group[0]); i++) {
        ds_setup(group[i].words * 8, 1, 0);
        wr(0x3f2, group[i].cfg);
        wr(0x186, 0xc0 | EN | OS | 1ull << 34);
        pebs_run(50 + i);
        eq("adaptive: NMI", nmis, 1);
        eq("adaptive: groups and size", buffer[0], group[i].cfg | (u64)group[i].words << 51);
        eq("adaptive: instruction", buffer[1], (u32)run_at + 49 + i);
        eq("adaptive: counters", buffer[2], 1);
        eq("adaptive: index", ds[5], (u32)buffer + group[i].words * 8);
        if (group[i].cfg == 2) {
            eq("adaptive: next instruction", buffer[5], (u32)run_at + 50 + i);
            eq("adaptive: ECX", buffer[7], 0x38f);
        }
        wr(0x390, 1ull << 62);
    }
    /* a fixed counter */
    ds_setup(32, 1, 0);
    ds[8 + ((rd(0x345) >> 8 & 15) > 4 ? 32 : 8)] = MASK48 - 3000;
    wr(0x186, 0), wr(0x38d, 1), wr(0x3f1, 1ull << 32);
    wr(0x309, MASK48 - 199);
    LVTPC = 4 << 8;
    nmis = 0;
    run(0x38f, 1ull << 32);
    wr(0x38f, 0);
    eq("PEBS of a fixed counter", buffer[1], (u32)run_at + 199);
    eq("which", buffer[2], 1ull << 32);
    eq("it starts again where the DS area says", rd(0x309) - (MASK48 - 2000) < 2000, 1);
    wr(0x390, 1ull << 62);
    wr(0x38d, 0), wr(0x3f2, 0);
}

/* The same for a trace of branches, with room for so many and an interrupt after so many. */
static void trace_setup(u32 room, u32 threshold)
{
    u32 i;

    for (i = 0; i < 1024; i++) {
        buffer[i] = 0;
    }
    ds[0] = ds[1] = (u32)buffer;
    ds[2] = (u32)buffer + 24 * room;
    ds[3] = (u32)buffer + 24 * threshold;
    wr(0x600, (u32)ds);
    LVTPC = 4 << 8;
    nmis = 0;
}

static void traced(u32 at, char *from, char *to)
{
    eq("BTS: from", buffer[3 * at], (u32)from);
    eq("BTS: to", buffer[3 * at + 1], (u32)to);
    eq("BTS: flags", buffer[3 * at + 2], 1 << 4);
}

#define TRACE   (3 << 6)                 /* TR and BTS */
#define BTINT   (1 << 8)
#define NO_OS   (1 << 9)
#define NO_USER (1 << 10)
#define TRACED  ((u32)(ds[1] - ds[0]) / 24)

/* Branches in ring 3: two, and INT n, which ends in ring 0. */
asm(".globl trace_user\n"
    "trace_user: call trace_u1\n"
    "trace_u1: jmp trace_u2; nop\n"
    "trace_u2: xorl %eax, %eax; jnz trace_user; int $0x80\n");
extern char trace_user[], trace_u1[], trace_u2[], nmi_entry[];
void user(char *eip);

static void trace_rings(void)
{
    trace_setup(100, 100);
    lbr_run(0x1d9, TRACE | NO_USER, 0);
    eq("BTS: no rings above 0", TRACED, DID);
    trace_setup(100, 100);
    lbr_run(0x1d9, TRACE | NO_OS, 0);
    eq("BTS: not ring 0", TRACED, 0);
    wr(0x1d9, TRACE | NO_OS);
    user(trace_user);
    wr(0x1d9, 0);
    eq("BTS: ring 3", TRACED, 3);
    eq("BTS: into ring 3", buffer[1], (u32)trace_user);
    traced(1, trace_user, trace_u1);
    traced(2, trace_u1, trace_u2);
}

static void trace_interrupts(void)
{
    u32 i;

    /* three branches, then the interrupt and its return */
    trace_setup(100, 3);
    lbr_run(0x1d9, TRACE | BTINT, 0);
    eq("BTS: NMIs", nmis, 1);
    eq("BTS: where", nmi_eip, (u32)did[DID - 3].to);
    eq("BTS: LVTPC masked", LVTPC, 4 << 8 | 1 << 16);
    eq("BTS: no status", rd(0x38e), 0);
    eq("BTS: with the interrupt", TRACED, DID + 2);
    traced(2, did[DID - 3].from, did[DID - 3].to);
    traced(3, did[DID - 3].to, nmi_entry);
    eq("BTS: back from it", buffer[3 * 4 + 1], nmi_eip);
    traced(5, did[DID - 4].from, did[DID - 4].to);
    /* of INT n itself */
    trace_setup(100, 8);
    lbr_run(0x1d9, TRACE | BTINT, 0);
    eq("BTS: NMI behind INT n", nmi_eip, (u32)lbr_int);
    /* a full buffer, while the interrupt is masked */
    trace_setup(4, 3);
    LVTPC = 4 << 8 | 1 << 16;
    lbr_run(0x1d9, TRACE | BTINT, 0);
    eq("BTS: full", ds[1], ds[2]);
    traced(3, did[DID - 4].from, did[DID - 4].to);
    eq("BTS: not beyond", buffer[12], 0);
    /* a ring, whose threshold is beyond its end */
    trace_setup(4, 5);
    lbr_run(0x1d9, TRACE, 0);
    eq("BTS: no NMI of a ring", nmis, 0);
    eq("BTS: ring: index", TRACED, DID % 4);
    for (i = 0; i < 4; i++) {
        traced((DID - 1 - i) % 4, did[i].from, did[i].to);
    }
    eq("BTS: ring: not beyond", buffer[12], 0);
    trace_setup(8, 4);
    lbr_run(0x1d9, TRACE, 0);
    eq("BTS: a threshold inside interrupts a ring", nmis, 1);
}

/* All branches in their order, also those that records leave out. */
static void traces(u32 version)
{
    u32 r[4], there, i, legacy = version >= 2 && (rd(0x345) & 63) == 5;

    cpuid(1, r);
    there = r[2] >> 4 & 1;               /* DS-CPL */
    eq("BTS unavailable", rd(0x1a0) >> 11 & 1, !there);
    if (!there) {
        return;
    }
    wr_gp("DS_AREA not canonical", 0x600, 1ull << 47);
    trace_setup(100, 100);
    lbr_run(0x1d9, 1 << 6, 0);
    eq("BTS: TR alone", TRACED, 0);
    lbr_run(0x1d9, 1 << 7, 0);
    eq("BTS: BTS alone", TRACED, 0);
    lbr_run(0x1d9, (legacy ? prepare(0x3c4) : 0) | TRACE, 0);
    eq("BTS: all", TRACED, DID);
    for (i = 0; i < DID; i++) {
        traced(i, did[DID - 1 - i].from, did[DID - 1 - i].to);
    }
    eq("BTS: not beyond", buffer[3 * DID], 0);
    if (legacy) {
        eq("BTS: call stack beside it", recorded(), 0);
    }
    trace_rings();
    trace_interrupts();
    /* memory that is not there takes nothing, and nothing faults */
    wr(0x600, 0xffff800000000000ull);
    nmis = 0;
    lbr_run(0x1d9, TRACE | BTINT, 0);
    eq("BTS: no memory", nmis, 0);
    wr(0x600, 0);
}

void records(u32 version)
{
    u32 format = version >= 2 ? rd(0x345) >> 8 & 15 : 0, words, insn, i, r[4];

    if (format == 15) {
        arch_records();
        format = 0;
    }
    cpuid(1, r);
    eq("DS", r[3] >> 21 & 1, format || r[2] >> 4 & 1);
    eq("DTES64", r[2] >> 2 & 1, format || r[2] >> 4 & 1);
    traces(version);
    eq("PEBS unavailable", rd(0x1a0) >> 12 & 1, !format);
    if (!format) {
        return;
    }
    words = format >= 4 ? 4 : format == 3 ? WORDS : format == 2 ? WORDS - 1 : WORDS - 3;
    /* where the record says of which instruction it is; one of format 1 does not */
    insn = format >= 4 ? 1 : 22;
    wr_gp("PEBS_ENABLE bit 40", 0x3f1, 1ull << 40);
    wr_gp("DS_AREA not canonical", 0x600, 1ull << 47);
    wr(0x3f1, 1);
    wr(0x186, 0xc0 | EN | OS);
    ds_setup(words * 8, 1, 0);
    for (i = 1; i < 2000; i += 499) {
        ds[5] = ds[4];
        pebs_run(i);
        eq("PEBS: NMIs", nmis, 1);
        eq("PEBS: status", rd(0x38e), 1ull << 62);
        eq("PEBS: one record", ds[5], ds[4] + words * 8);
        if (format >= 2) {
            eq("PEBS: instruction", buffer[insn], (u32)run_at + i - 1);
        }
        eq("PEBS: counters", buffer[format >= 4 ? 2 : 18], 1);
        if (format < 4) {
            eq("PEBS: next instruction", buffer[1], (u32)run_at + i);
            eq("PEBS: ECX", buffer[4], 0x38f);
        }
        wr(0x390, 1ull << 62);
    }
    /* five records for one interrupt, the counter loaded from the DS area */
    ds_setup(words * 8, 5, MASK48 - 99);
    pebs_run(100);
    eq("large PEBS: NMIs", nmis, 1);
    eq("large PEBS: instructions before it", nmi_eip - (u32)run_at, 500);
    for (i = 0; i < 5; i++) {
        if (format >= 2) {
            eq("large PEBS: instruction", buffer[words * i + insn],
               (u32)run_at + 99 + 100 * i);
        }
    }
    wr(0x390, 1ull << 62);
    /* a full buffer takes no more */
    ds[5] = ds[6] - 8;
    pebs_run(100);
    eq("full buffer: no NMI", nmis, 0);
    eq("full buffer: index", ds[5], ds[6] - 8);
    if (format >= 4) {
        adaptive();
    }
    wr(0x3f1, 0), wr(0x186, 0);
}

void traffic(void)
{
    u64 reads, writes, mine;

    eq("traffic: there", rd(0x50000007), 0x504d5531);
    reads = rd(0x50000000), writes = rd(0x50000001), mine = rd(0x50100010);
    rd(0x10), rd(0x10), rd(0x10);
    wr(0x174, 0);
    eq("traffic: reads", rd(0x50000000) - reads, 3);
    eq("traffic: reads of one", rd(0x50100010) - mine, 3);
    eq("traffic: writes", rd(0x50000001) - writes, 1);
    eq("traffic: writes of another", rd(0x50200174) > 0, 1);
    wr_gp("traffic is read-only", 0x50000000, 0);
}
