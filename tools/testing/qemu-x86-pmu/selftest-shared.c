/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the selftest about what a counter needs besides itself: a bit that says
 * it is free (TSX_FORCE_ABORT), the counter after it (large increments), a register of
 * offcore responses, which the other thread of the core may write, too; a counter of
 * the northbridge, which the other core may take.
 */
#include "selftest.h"

#define FORCE_ABORT  0x10f
#define TAKEN        0x7fa7fa7fa7faull   /* what is in the microcode's counter */
#define MERGE        (0xfull << 32 | 0xff)
#define RSP_0        0x1a6
#define RSP_1        0x1a7

/* Counter 3 counts with the bit set, and else is the microcode's.  Leaves the bit set. */
void force_abort(void)
{
    u32 r[4];
    u64 a;

    cpuid(7, r);
    if (!(r[3] >> 13 & 1)) {
        return;
    }
    eq("TSX_FORCE_ABORT after reset", rd(FORCE_ABORT), 0);
    wr_gp("TSX_FORCE_ABORT bit 1", FORCE_ABORT, 2);
    SVR = 0x1ff;
    LVTPC = 4 << 8;
    nmis = 0;
    wr(0x38f, 0);
    wr(0x186, 0xc0 | EN | OS);
    wr(0x189, 0xc0 | EN | OS | INT);
    wr(0x4c1, 0);
    wr(0x4c4, MASK48 - 99);
    eq("a counter that is taken, and off", rd(0x4c4), MASK48 - 99);
    run(0x38f, 9);
    wr(0x38f, 0);
    eq("a counter that is taken, and was on", rd(0x4c4), TAKEN);
    eq("likewise by its old name", rd(0xc4), TAKEN);
    eq("it does not interrupt", nmis, 0);
    a = rd(0x4c1);
    eq("others count", a - 2000 < 20, 1);

    wr(FORCE_ABORT, 1);
    eq("TSX_FORCE_ABORT", rd(FORCE_ABORT), 1);
    eq("a counter that was taken", rd(0x4c4), TAKEN);
    wr(0x4c1, 0);
    wr(0x4c4, 0);
    run(0x38f, 9);
    wr(0x38f, 0);
    eq("a counter that is free", rd(0x4c4), a);
    eq("like the others", rd(0x4c1), a);
    wr(0x4c4, MASK48 - 99);
    run(0x38f, 9);
    wr(0x38f, 0);
    eq("it interrupts", nmis, 1);
    eq("instructions before the NMI", nmi_eip - (u32)run_at, 100);
    wr(0x390, 8);

    wr(0x4c4, 5);
    wr(FORCE_ABORT, 0);
    eq("taken again", rd(0x4c4), TAKEN);
    wr(0x4c4, 5);
    wr(0x38f, 8);
    eq("written, and on", rd(0x4c4), TAKEN);
    wr(0x38f, 0);
    wr(FORCE_ABORT, 1);
    wr(0x189, 0);
    wr(0x186, 0);
    wr(0x38f, 15);
}

static u32 select_of(u32 i)
{
    return 0xc0010200 + 2 * i;
}

/* What counter @i counts of large increments in 2000 instructions and the way back. */
static u64 large(u32 i)
{
    return counted(select_of(i), 0x103 | EN | OS, select_of(i) + 1);
}

/* Large increments: 16 with the next counter, 15 without; both together have 64 bits. */
void pairs(u32 version)
{
    u64 a;
    u32 i;

    if (version >= 2) {
        wr(0xc0000301, 0x3f);
    }
    for (i = 0; i < 6; i++) {
        wr(select_of(i), 0);
        wr(select_of(i) + 1, 0);
    }
    a = counted(select_of(0), 0xc0 | EN | OS, select_of(0) + 1);
    eq("alone: 15", large(0), 15 * a);
    for (i = 0; i < 6; i += 2) {
        wr(select_of(i + 1), MERGE | EN);
        eq("in a pair: 16", large(i), 16 * a);
        eq("in a pair: nothing in the other", rd(select_of(i + 1) + 1), 0);
        wr(select_of(i + 1), MERGE);
        eq("the other is off: 15", large(i), 15 * a);
        wr(select_of(i + 1), 0);
    }
    wr(select_of(2), MERGE | EN);
    eq("an odd counter: 15", large(1), 15 * a);
    eq("not the next counter: 15", large(0), 15 * a);
    wr(select_of(2), 0);
    wr(select_of(1), MERGE | EN);
    if (version >= 2) {
        wr(0xc0000301, 0x3e);
        eq("off by the global register: nothing", large(0), 0);
        wr(select_of(0), 0x103 | EN | OS);
        eq("the other off by it: 15", counted(0xc0000301, 1, select_of(0) + 1), 15 * a);
        eq("both on by it: 16", counted(0xc0000301, 3, select_of(0) + 1), 16 * a);
        wr(select_of(0), 0);
        wr(0xc0000301, 0x3f);
    }
    eq("other events, too", counted(select_of(0), 0xc0 | EN | OS, select_of(0) + 1), a);

    /* the upper 16 bits */
    SVR = 0x1ff;
    LVTPC = 4 << 8;
    nmis = 0;
    wr(select_of(1) + 1, 7);
    wr(select_of(0) + 1, MASK48 + 1 - 160);
    run(select_of(0), 0x103 | EN | OS | INT);
    wr(select_of(0), 0);
    eq("carry: the lower bits", rd(select_of(0) + 1) - 16 * 1990 < 16 * 20, 1);
    eq("carry: nothing is lost", rd(select_of(0) + 1) & 15, 0);
    eq("carry: the upper bits", rd(select_of(1) + 1), 8);
    eq("carry: no NMI", nmis, 0);
    if (version >= 2) {
        eq("carry: no status", rd(0xc0000300), 0);
    }
    for (i = 0; i < 4; i++) {
        nmis = 0;
        LVTPC = 4 << 8;
        wr(select_of(1) + 1, 0xffff);
        wr(select_of(0) + 1, MASK48 + 1 - 160 - 5 * i);
        run(select_of(0), 0x103 | EN | OS | INT);
        wr(select_of(0), 0);
        eq("overflow of a pair: NMIs", nmis, 1);
        eq("overflow of a pair: where", nmi_eip - (u32)run_at, (160 + 5 * i + 15) / 16);
        eq("overflow of a pair: the upper bits", rd(select_of(1) + 1), 0);
        if (version >= 2) {
            eq("overflow of a pair: status", rd(0xc0000300), 1);
            wr(0xc0000302, 1);
        }
    }
    wr(select_of(1), 0);
    wr(select_of(1) + 1, 0);
    wr(select_of(0) + 1, 0);
    if (version >= 2) {
        wr(0xc0000301, 1);
    }
}

/* --- the second vCPU: reads and writes registers as it is told --- */

enum { IDLE, READ, WRITE, TURNS };

static volatile u32 ap_command, ap_register, ap_lives;
static volatile u64 ap_value;
u32 ap_stack[256];

/* copied to 0x8000; the GDT that it loads is the other vCPU's */
asm(".pushsection .text\n"
    ".globl ap_start, ap_gdt, ap_end\n"
    ".code16\n"
    "ap_start: cli; xorw %ax, %ax; movw %ax, %ds; lgdtl 0x8000 + ap_gdt - ap_start\n"
    " movl %cr0, %eax; orb $1, %al; movl %eax, %cr0; ljmpl $8, $ap_protected\n"
    "ap_gdt: .word 0; .long 0\n"
    "ap_end:\n"
    ".code32\n"
    "ap_protected: movw $0x10, %ax; movw %ax, %ds; movw %ax, %es; movw %ax, %ss\n"
    " movl $ap_stack+1024, %esp; call ap_main\n"
    /* ap_turns(n): 2n instructions and a few */
    "ap_turns: movl 4(%esp), %eax\n"
    "ap_turn: decl %eax; jnz ap_turn; ret\n"
    ".popsection\n");
extern char ap_start[], ap_gdt[], ap_end[];
void ap_turns(u32 n);

static void pause(void)
{
    asm volatile("pause" ::: "memory");
}

__attribute__((used)) static void ap_main(void)
{
    ap_lives = 1;
    for (;;) {
        while (ap_command == IDLE) {
            pause();
        }
        if (ap_command == READ) {
            ap_value = rd(ap_register);
        } else if (ap_command == WRITE) {
            wr(ap_register, ap_value);
        } else {
            ap_turns(ap_value);
        }
        ap_command = IDLE;
    }
}

static void ap_go(u32 command, u32 number, u64 value)
{
    ap_register = number;
    ap_value = value;
    ap_command = command;
}

static u64 ap(u32 command, u32 number, u64 value)
{
    ap_go(command, number, value);
    while (ap_command != IDLE) {
        pause();
    }
    return ap_value;
}

static void start_ap(void)
{
    volatile u32 *icr = (u32 *)0xfee00300;
    char *to = (char *)0x8000;
    u32 i;

    for (i = 0; i < (u32)(ap_end - ap_start); i++) {
        to[i] = ap_start[i];
    }
    asm volatile("sgdt (%0)" :: "r"(to + (ap_gdt - ap_start)) : "memory");
    SVR = 0x1ff;
    icr[4] = 1 << 24;
    icr[0] = 0x4500;
    icr[0] = 0x4608;
    while (!ap_lives) {
        pause();
    }
}

/* Both threads of a core write @number; @shared: it is one register. */
static void two_threads(u32 number, u32 code, u32 shared)
{
    u64 a, b;

    wr(number, 2);
    ap(WRITE, number, 1);
    eq("offcore: the other thread's write", rd(number), shared ? 1 : 2);
    wr(0x186, code | EN | OS);
    wr(0x187, 0xc0 | EN | OS);
    wr(0x4c2, 0);
    b = counted(0x38f, 3, 0x4c1);
    a = rd(0x4c2);
    eq("offcore: counted by the other thread's write", b, shared ? a : a / 2);
    wr(number, 4);
    eq("offcore: this thread's write", ap(READ, number, 0), shared ? 4 : 1);

    /* the other thread counts when this one writes */
    wr(number, 1);
    ap(WRITE, number, 1);
    ap(WRITE, 0x38f, 0);
    ap(WRITE, 0x186, code | EN | OS);
    ap(WRITE, 0x187, 0xc0 | EN | OS);
    ap(WRITE, 0x4c1, 0);
    ap(WRITE, 0x4c2, 0);
    ap(WRITE, 0x38f, 3);
    ap(TURNS, 0, 100000);
    wr(number, 4);
    ap(TURNS, 0, 100000);
    ap(WRITE, 0x38f, 0);
    a = ap(READ, 0x4c2, 0);
    b = ap(READ, 0x4c1, 0);
    eq("offcore: what the other thread executed", a > 400000, 1);
    eq("offcore: and counted", shared ? b > 200000 && b < a - 200000 : b == a, 1);
    ap(WRITE, 0x186, 0);
    ap(WRITE, 0x187, 0);
}

void offcore(void)
{
    u32 r[4], registers, shared, i;
    u64 a, b;

    wr(RSP_0, 1);
    if (rd(RSP_0) != 1) {
        return;
    }
    wr(RSP_1, 1);
    registers = 1 + (rd(RSP_1) == 1);
    wr(RSP_0, 1 << 16);
    shared = gp;
    wr_gp("OFFCORE_RSP bit 38", RSP_0, 1ull << 38);
    wr(0x38f, 0);
    wr(0x38d, 0);
    for (i = 0; i < registers; i++) {
        static const u32 code[] = { 0x1b7, 0x1bb };

        wr(RSP_0 + i, shared ? 0xffff : 0x3fffff8fffull);
        eq("OFFCORE_RSP", rd(RSP_0 + i), shared ? 0xffff : 0x3fffff8fffull);
        wr(0x186, code[i] | EN | OS);
        wr(0x187, 0xc0 | EN | OS);
        wr(0x4c2, 0);
        a = counted(0x38f, 3, 0x4c1);
        eq("offcore: all", a, rd(0x4c2));
        wr(RSP_0 + i, 0x102);
        b = counted(0x38f, 3, 0x4c1);
        eq("offcore: half", b, a / 2);
        wr(RSP_0 + i, 0x104);
        eq("offcore: others", counted(0x38f, 3, 0x4c1), 0);
        wr(RSP_0 + i, 0);
        if (registers > 1) {
            wr(RSP_1 - i, 1);
            eq("offcore: not by the other register", counted(0x38f, 3, 0x4c1), 0);
            wr(RSP_1 - i, 0);
        }
        /* exact interrupts, whatever the share */
        SVR = 0x1ff;
        LVTPC = 4 << 8;
        nmis = 0;
        wr(RSP_0 + i, 2);
        wr(0x186, code[i] | EN | OS | INT);
        wr(0x4c1, MASK48 + 1 - 100);
        run(0x38f, 1);
        wr(0x38f, 0);
        eq("offcore: NMIs", nmis, 1);
        eq("offcore: instructions before the NMI", nmi_eip - (u32)run_at, 200);
        wr(0x390, 1);
    }
    cpuid(1, r);
    if ((r[1] >> 16 & 255) > 1) {
        start_ap();
        two_threads(RSP_0, 0x1b7, shared);
        if (registers > 1) {
            two_threads(RSP_1, 0x1bb, shared);
        }
    }
    wr(0x186, 0);
    wr(0x187, 0);
}

#define NB_EVENT     0x7e0
#define K7_SELECT    0xc0010000
#define K7_COUNTER   0xc0010004

/* The other core of the node has counter 1 of the northbridge, and loses it to this one. */
static void two_cores(u64 instructions)
{
    u64 a, b, c;

    ap(WRITE, K7_COUNTER + 1, 0);
    ap(WRITE, K7_SELECT + 1, NB_EVENT | EN);
    a = ap(READ, K7_COUNTER + 1, 0);
    counted(K7_SELECT, 0xc0 | EN | OS, K7_COUNTER);
    b = ap(READ, K7_COUNTER + 1, 0);
    eq("northbridge: counts what this core does", b - a >= instructions / 16, 1);
    wr(K7_COUNTER, 0);
    wr(K7_SELECT, NB_EVENT | EN);
    ap(TURNS, 0, 100000);
    c = rd(K7_COUNTER);
    eq("northbridge: counts what the other does", c >= 200000 / 16, 1);
    eq("northbridge: another counter is not affected",
       ap(READ, K7_COUNTER + 1, 0) - b >= 200000 / 16, 1);
    wr(K7_SELECT, 0);

    wr(K7_COUNTER + 1, 0);
    wr(K7_SELECT + 1, NB_EVENT | EN);
    a = ap(READ, K7_COUNTER + 1, 0);
    ap(TURNS, 0, 100000);
    eq("northbridge: taken away", ap(READ, K7_COUNTER + 1, 0), a);
    eq("northbridge: by who counts", rd(K7_COUNTER + 1) >= 200000 / 16, 1);
    wr(K7_SELECT + 1, 0);
    ap(WRITE, K7_SELECT + 1, NB_EVENT | EN);
    ap(TURNS, 0, 100000);
    eq("northbridge: its own again", ap(READ, K7_COUNTER + 1, 0) - a >= 200000 / 16, 1);
    ap(WRITE, K7_SELECT + 1, 0);
}

/* Counters of the northbridge, where cores share them; instructions by 16, in every ring. */
void northbridge(void)
{
    u32 r[4], i;
    u64 a;

    cpuid(0x80000001, r);
    eq("NodeId", r[2] >> 19 & 1, 1);
    eq("node", rd(0xc001100c), 0);
    wr_gp("node is read-only", 0xc001100c, 0);
    wr(K7_COUNTER, 0);
    a = counted(K7_SELECT, 0xc0 | EN | OS, K7_COUNTER);
    for (i = 0; i < 4; i++) {
        eq("northbridge", counted(K7_SELECT + i, NB_EVENT | EN, K7_COUNTER + i), a / 16);
        eq("northbridge: of all rings", counted(K7_SELECT + i, NB_EVENT | EN | USR, K7_COUNTER + i),
           a / 16);
    }
    cpuid(1, r);
    if ((r[1] >> 16 & 255) > 1) {
        start_ap();
        two_cores(a);
    }
}
