/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the selftest about events that follow what is executed (conditional
 * branches, top-down metrics), and about interrupts that come late or not at all.
 */
#include "selftest.h"

#define DELAY    0x50000008
#define LOSE     0x50000009
#define METRICS_BITS 0x5000000a
#define METRICS  (1ull << 48)

/*
 * event_run(msr, value): after the WRMSR 1007 conditional branches.
 * u_branches: 1000 instructions, 499 of them conditional branches, then out of ring 3.
 */
asm(".globl event_run, u_branches\n"
    "event_run: movl 4(%esp), %ecx; movl 8(%esp), %eax; movl 12(%esp), %edx; wrmsr\n"
    " movl $1000, %eax\n"
    "event_1: decl %eax; jnz event_1\n"
    "event_2: jmp event_3; nop\n"
    "event_3: jz event_4; nop\n"
    "event_4: js event_run\n"
    "event_5: movl $5, %ecx\n"
    "event_6: loop event_6; ret\n"
    ".globl u_branches\nu_branches: movl $499, %eax\n"
    "u_branch: decl %eax; jnz u_branch; int $0x80\n");
extern char event_1[], event_2[], event_4[], event_5[], event_6[], u_thousand[];
void event_run(u32 msr, u64 v);

/* Counter 0 counts @event, started and stopped by @control. */
static void conditional(u32 event, u32 select, u32 counter, u32 control, u64 on, void (*ack)(void))
{
    static const struct { u32 after; char *at; } stops[] = {
        { 1, event_1 }, { 500, event_1 }, { 1000, event_2 }, { 1001, event_4 },
        { 1002, event_5 }, { 1004, event_6 },
    };
    u32 i;

    wr(select, event | EN | OS | INT);
    wr(counter, 0);
    event_run(control, on);
    wr(control, 0);
    eq("conditional branches", rd(counter), 1007);
    SVR = 0x1ff;
    for (i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
        LVTPC = 4 << 8;
        wr(select, event | EN | OS | INT);
        wr(counter, MASK48 + 1 - stops[i].after);
        nmis = 0;
        event_run(control, on);
        wr(control, 0);
        eq("conditional branches: NMIs", nmis, 1);
        eq("conditional branches: where", nmi_eip, (u32)stops[i].at);
        ack();
    }
    wr(select, 0);
}

static void ack_intel(void)
{
    wr(0x390, 1);
}

static void ack_amd(void)
{
    if (rd(0xc0000300) && !gp) {
        wr(0xc0000302, 1);
    }
}

/* Ring 3 alone: SLOTS, and the metrics of what user code at @eip did. */
static u64 metrics_of(char *eip, u64 *slots)
{
    wr(0x38f, 0);
    wr(0x30c, 0);
    wr(0x329, 0);
    wr(0x38d, 0x2000);
    wr(0x38f, 8ull << 32 | METRICS);
    user(eip);
    wr(0x38f, 0);
    *slots = rd(0x30c);
    return rd(0x329);
}

static void metrics(void)
{
    u64 slots, m;
    u32 more;

    wr(0x329, 0xffffffffull << 32);
    more = !gp;
    /* a quarter of 255 retires, 63; three quarters are 191, half of them 95 */
    m = metrics_of(u_thousand, &slots);
    eq("metrics: slots", (u32)slots % 4000, 0);
    eq("metrics: plain instructions", m, more ? 0x5f00001fbf00003full : 0xbf00003f);
    m = metrics_of(u_branches, &slots);
    eq("metrics: slots", (u32)slots % 4000, 0);
    eq("metrics: branches", m, more ? 0x2f005f1f5f005f3full : 0x5f005f3f);
    wr(0x30c, 255 * 1000);
    wr(0x329, 0x20);
    eq("metrics: what was written", rd(0x329), more ? 0xff | 0x7full << 32 : 0xff);
    wr(0x30c, 0);
    wr(0x329, 0);
    eq("metrics: of nothing", rd(0x329), 0);
    wr(0x38d, 0);
}

/* Ring 0: the counter of slots and what is behind the metrics, so many slots short of overflow. */
static void metrics_run(u64 slots, u64 behind, u64 on)
{
    wr(0x38f, 0);
    wr(0x30c, behind ? MASK48 + 1 - behind : 0);
    wr(0x329, 0xff);
    wr(0x30c, slots ? MASK48 + 1 - slots : 0);
    wr(0x38d, 0x1000);
    LVTPC = 4 << 8;
    nmis = 0;
    run(0x38f, on);
    wr(0x38f, 0);
}

/* The interrupt needs no bit in the control register. */
static void metrics_overflow(void)
{
    const u64 slots = 8ull << 32, m = 1ull << 48;
    u32 bits = rd(METRICS_BITS);

    metrics_run(400, 400, slots | m);
    eq("metrics: NMIs of both", nmis, 1);
    eq("metrics: instructions before it", nmi_eip - (u32)run_at, 100);
    eq("metrics: status of both", rd(0x38e), slots | m);
    wr(0x390, slots | m);
    eq("metrics: status cleared", rd(0x38e), 0);
    metrics_run(0, 2000, slots | m);
    eq("metrics: NMIs of them alone", nmis, 1);
    eq("metrics: instructions before that", nmi_eip - (u32)run_at, 500);
    eq("metrics: status alone", rd(0x38e), m);
    wr(0x390, m);
    metrics_run(400, 400, slots);
    eq("metrics: off, no NMI", nmis, 0);
    eq("metrics: off, status", rd(0x38e), slots);
    wr(0x390, slots);
    wr(0x391, m);
    eq("metrics: STATUS_SET", rd(0x38e), m);
    wr(0x390, m);
    metrics_run(0, 0, slots | m);
    eq("metrics: NMIs after so many bits", nmis, bits != 0);
    if (bits) {
        eq("metrics: instructions", nmi_eip - (u32)run_at, 1 << (bits - 2));
        wr(0x390, m);
    }
    wr(0x30c, 0), wr(0x329, 0), wr(0x38d, 0);
}

/* Between the overflow and the interrupt are so many instructions. */
static void delayed(u32 delay)
{
    u32 i;

    for (i = 1; i < 1500; i += 499) {
        LVTPC = 4 << 8;
        wr(0x186, 0xc0 | EN | OS | INT);
        wr(0x187, 0xc0 | EN | OS | INT);
        wr(0x4c1, MASK48 + 1 - i);
        wr(0x4c2, MASK48 + 1 - i - delay / 2);
        nmis = 0;
        run(0x38f, 3);
        wr(0x38f, 0);
        eq("late: one NMI for both", nmis, 1);
        eq("late: instructions before the NMI", nmi_eip - (u32)run_at, i + delay);
        eq("late: status of both", rd(0x38e), 3);
        wr(0x390, 3);
    }
    /* the counter is off when the interrupt comes */
    LVTPC = 4 << 8;
    wr(0x187, 0);
    wr(0x4c1, MASK48 + 1 - 1999);
    nmis = 0;
    run(0x38f, 1);
    wr(0x38f, 0);
    eq("late: not yet", nmis, 0);
    run(0x38f, 0);
    eq("late: after the counter was stopped", nmis, 1);
    eq("late: its status", rd(0x38e), 1);
    wr(0x390, 1);
}

/* Each @lose-th interrupt is lost, and nothing else. */
static void lost(u32 lose)
{
    u32 i, all = 0;

    for (i = 0; i < 3 * lose; i++) {
        LVTPC = 4 << 8;
        wr(0x186, 0xc0 | EN | OS | INT);
        wr(0x4c1, MASK48 + 1 - 100);
        nmis = 0;
        run(0x38f, 1);
        wr(0x38f, 0);
        all += nmis;
        eq("lost: status", rd(0x38e), 1);
        eq("lost: the counter goes on", rd(0x4c1) > 1900, 1);
        wr(0x390, 1);
    }
    eq("lost: NMIs", all, 3 * (lose - 1));
}

u32 late(void)
{
    u32 delay = rd(DELAY), lose = rd(LOSE);

    SVR = 0x1ff;
    if (delay || lose) {
        wr(0x38f, 0);                    /* reset leaves the general counters on */
    }
    if (delay) {
        delayed(delay);
    }
    if (lose) {
        lost(lose);
    }
    return delay || lose;
}

/* Instructions on counter 0 and conditional branches on counter 2, which reload them. */
static u64 reloaded_run(u64 insns, u64 branches, u32 select)
{
    wr(0x1901, 0xc0 | EN | OS);
    wr(0x1909, 0x11c4 | EN | OS | select);
    wr(0x1900, insns);
    wr(0x1908, branches);
    nmis = 0;
    LVTPC = 4 << 8;
    event_run(0x38f, 5);
    wr(0x38f, 0);
    return rd(0x1900);
}

/* Version 6: counters 0 to 5 and two fixed ones can be reloaded, 2 to 7 and those can cause it. */
static void reload(void)
{
    u64 all;

    wr(0x1904, 0x123456789abcull);
    eq("version 6: counter 1", rd(0x4c2), 0x123456789abcull);
    wr(0x1905, 0xc0 | OS);
    eq("version 6: select 1", rd(0x187), 0xc0 | OS);
    wr(0x1980, 0x1234);
    eq("version 6: fixed counter 0", rd(0x309), 0x1234);
    wr(0x1902, 0);
    if (gp) {
        return;
    }
    wr_gp("CFG_B: counter 0 causes nothing", 0x1902, 1);
    wr_gp("CFG_B: no fixed counter 2", 0x1902, 4ull << 32);
    wr_gp("CFG_B of counter 6", 0x191a, 0);
    wr_gp("CFG_B of fixed counter 2", 0x198a, 0);
    wr_gp("CFG_C has 32 bits", 0x1903, 1ull << 32);

    all = reloaded_run(0, 0, 0);
    wr(0x1902, 4);
    wr(0x1903, (u32)-1000000);
    wr(0x190a, 4);
    wr(0x190b, (u32)-100);
    /* the thousandth branch is instruction 2001 */
    eq("reload: instructions", reloaded_run(0, MASK48 + 1 - 100, 0),
       MASK48 + 1 - 1000000 + all - 2001);
    eq("reload: branches", rd(0x1908), MASK48 + 1 - 100 + 7);
    eq("reload: silent", rd(0x38e), 0);
    eq("reload: NMIs", nmis, 0);
    wr(0x190a, 0);
    eq("reload: once", reloaded_run(0, MASK48 + 1 - 100, 0), MASK48 + 1 - 1000000 + all - 201);
    eq("reload: branches go on", rd(0x1908), 907);
    eq("reload: status", rd(0x38e), 4);
    wr(0x390, 4);
    SVR = 0x1ff;
    reloaded_run(0, MASK48 + 1 - 100, INT);
    eq("reload: NMIs", nmis, 1);
    wr(0x390, 4);
    wr(0x1902, 0);
    eq("reload: off", reloaded_run(0, MASK48 + 1 - 100, 0), all);
    wr(0x390, 4);
    wr(0x1901, 0);
    wr(0x1909, 0);
    wr(0x1905, 0);
}

void events(u32 version, u32 amd)
{
    if (amd && version < 1) {
        return;
    }
    if (amd) {
        conditional(0xd1, 0xc0010200, 0xc0010201, version < 2 ? 0xc0010200 : 0xc0000301,
                    version < 2 ? 0xd1 | EN | OS | INT : 1, ack_amd);
        return;
    }
    conditional(version < 5 ? 0x1c4 : 0x11c4, 0x186, version < 2 ? 0xc1 : 0x4c1,
                version < 2 ? 0x186 : 0x38f,
                version < 2 ? 0x1c4 | EN | OS | INT : 1, ack_intel);
    if (version >= 2 && rd(0x345) >> 15 & 1) {
        metrics();
        metrics_overflow();
    }
    if (version >= 6) {
        reload();
    }
}
