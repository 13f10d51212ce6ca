/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The emulated PMU checked from bare metal: a 32-bit multiboot program.
 * Prints one line per check on COM1 and "selftest: N ok, M failed" at the end.
 */
#include "selftest.h"

asm(".section .text.startup\n.balign 4\n.long 0x1badb002, 0, -0x1badb002\n.text");

static u32 nr_ok, nr_bad;
volatile u32 gp, nmis, irqs, nmi_eip;
u64 nmi_ctr;
u32 kstack[1024], ustack[1024], istack[1024];
static u64 gdt[6];
static struct { u32 link, esp0, ss0, rest[23]; } tss;
static u64 idt[256];

static void putc(char c)
{
    asm volatile("outb %0, %1" :: "a"(c), "Nd"((u16)0x3f8));
}
void puts(const char *s)
{
    while (*s) {
        putc(*s++);
    }
}
static void hex(u64 v)
{
    int i, on = 0;

    for (i = 60; i >= 0; i -= 4) {
        int d = v >> i & 15;

        if (d || on || !i) {
            putc("0123456789abcdef"[d]);
            on = 1;
        }
    }
}
void dec(u32 v)
{
    if (v > 9) {
        dec(v / 10);
    }
    putc('0' + v % 10);
}
void eq(const char *what, u64 got, u64 want)
{
    if (got == want) {
        nr_ok++;
        puts("ok   ");
    } else {
        nr_bad++;
        puts("FAIL ");
    }
    puts(what);
    puts(" = ");
    hex(got);
    if (got != want) {
        puts(" wanted ");
        hex(want);
    }
    puts("\n");
}

/* MSR and RDPMC accesses; gp says whether the last one faulted. */
void wr(u32 m, u64 v)
{
    gp = 0;
    asm volatile("wrmsr" :: "c"(m), "A"(v) : "memory");
}
u64 rd(u32 m)
{
    u64 v = 0;

    gp = 0;
    asm volatile("rdmsr" : "+A"(v) : "c"(m) : "memory");
    return v;
}
static u64 pmc(u32 i)
{
    u64 v = 0;

    gp = 0;
    asm volatile("rdpmc" : "+A"(v) : "c"(i) : "memory");
    return v;
}
void wr_gp(const char *what, u32 m, u64 v)
{
    wr(m, v);
    eq(what, gp, 1);
}
static void keep(const char *what, u32 m, u64 v)
{
    wr(m, v);
    eq(what, gp ? -1ull : rd(m), v);
}

/* #GP skips the two-byte instruction; NMI notes where; 0x40 fixed PMI. */
asm(".globl nmi_entry\ngp_entry: movl $1, gp; addl $4, %esp; addl $2, (%esp); iret\n"
    "nmi_entry: pushl %eax; movl 4(%esp), %eax; movl %eax, nmi_eip; incl nmis\n"
    " popl %eax; iret\n"
    "irq_entry: pushl %eax; movl 4(%esp), %eax; movl %eax, nmi_eip; incl irqs\n"
    " movl $0, 0xfee000b0; popl %eax; iret\n"
    /* back from ring 3: drop the frame, return to the caller of user() */
    "sys_entry: addl $20, %esp; movw $0x10, %ax; movw %ax, %ds; movw %ax, %es\n"
    " popal; ret\n"
    /* user(eip): run at ring 3 until int $0x80 */
    ".globl user, u_thousand\nuser: movl 4(%esp), %ecx; pushal; movl %esp, tss+4\n"
    " pushl $0x23; pushl $ustack+4096; pushl $0x3002; pushl $0x1b; pushl %ecx\n"
    " iret\n"
    /* 1000 instructions, then out */
    "u_thousand: .rept 999\n nop\n .endr\n int $0x80\n"
    "u_rdpmc: xorl %ecx, %ecx; rdpmc; int $0x80\n"
    /* 2000 instructions from a WRMSR of edx:eax to ecx on */
    ".globl run, run_at\n"
    "run: movl 4(%esp), %ecx; movl 8(%esp), %eax; movl 12(%esp), %edx; wrmsr\n"
    "run_at: .rept 2000\n nop\n .endr\n ret\n");
extern char gp_entry[], nmi_entry[], irq_entry[], sys_entry[], lbr_int[];
extern char u_thousand[], u_rdpmc[];
static void gate(int n, char *f, int dpl)
{
    u32 a = (u32)f;

    idt[n] = (a & 0xffff) | 8u << 16 | (u64)(a & 0xffff0000) << 32 |
             (u64)(0x8e00 | dpl << 13) << 32;
}
static void setup(void)
{
    u32 t = (u32)&tss;
    struct { u16 n; u32 a; } __attribute__((packed)) g, i;

    gdt[1] = 0x00cf9a000000ffffull;
    gdt[2] = 0x00cf92000000ffffull;
    gdt[3] = 0x00cffa000000ffffull;
    gdt[4] = 0x00cff2000000ffffull;
    gdt[5] = (sizeof(tss) - 1) | (u64)(t & 0xffffff) << 16 | 0x89ull << 40 |
             (u64)(t >> 24) << 56;
    tss.ss0 = 0x10;
    g.n = sizeof(gdt) - 1, g.a = (u32)gdt;
    i.n = sizeof(idt) - 1, i.a = (u32)idt;
    gate(2, nmi_entry, 0);
    gate(13, gp_entry, 0);
    gate(0x40, irq_entry, 0);
    gate(0x80, sys_entry, 3);
    gate(0x81, lbr_int, 0);
    asm volatile("lgdt %0; lidt %1; ljmp $8, $1f; 1: mov %2, %%ds; mov %2, %%es;"
                 "mov %2, %%ss; ltr %3"
                 :: "m"(g), "m"(i), "r"(0x10), "r"((u16)0x28) : "memory");
}

__attribute__((noinline)) u64 counted(u32 ctrl, u64 on, u32 ctr)
{
    wr(ctr, 0);
    run(ctrl, on);
    wr(ctrl, 0);
    return rd(ctr);
}

void cpuid(u32 l, u32 *r)
{
    asm volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
                 : "a"(l), "c"(0));
}

static void intel(void)
{
    u32 r[4], v, n, i, fixed, hybrid;
    u64 all, a, b;

    cpuid(7, r);
    hybrid = r[3] >> 15 & 1;             /* a big core, of which CPUID does not say all */
    cpuid(0xa, r);
    v = r[0] & 255;
    n = (r[0] >> 8 & 255) + 2 * hybrid;
    puts("Intel version "), dec(v), puts(", counters "), dec(n), puts("\n");
    fixed = v < 2 ? 0 : rd(0x345) >> 15 & 1 ? 4 : 3;
    all = ((1ull << n) - 1) | ((1ull << fixed) - 1) << 32;
    eq("counter width", r[0] >> 16 & 255, 48);
    eq("fixed counters", r[3] & 31, fixed - hybrid);
    eq("fixed bitmap", r[2], v >= 5 ? (1 << (fixed - hybrid)) - 1 : 0);
    eq("AnyThread deprecated", r[3] >> 15 & 1, v >= 5);
    cpuid(1, r);
    eq("PDCM", r[2] >> 15 & 1, 1);
    eq("PERF_CAPABILITIES, full-width writes", rd(0x345) >> 13 & 1, v >= 2);
    wr_gp("PERF_CAPABILITIES is read-only", 0x345, 0);

    for (i = 0; i < n; i++) {
        keep("PERFEVTSEL", 0x186 + i, 0xff9fffff & ~EN);
        wr(0x186 + i, 0);
        wr(0xc1 + i, 0x80000001);
        eq("PERFCTR sign-extends", rd(0xc1 + i), 0xffff80000001ull);
        if (v >= 2) {
            keep("PMC full width", 0x4c1 + i, 0x123456789abcull);
            eq("PERFCTR aliases", rd(0xc1 + i), 0x123456789abcull);
            wr_gp("PMC bit 48", 0x4c1 + i, 1ull << 48);
        }
    }
    if (n < 8) {
        wr_gp("PERFEVTSEL past the last", 0x186 + n, 0);
        rd(0xc1 + n);
        eq("PERFCTR past the last", gp, 1);
    }
    wr_gp("PERFEVTSEL bit 32", 0x186, 1ull << 32);
    wr(0x186, 1ull << 35);
    eq("PERFEVTSEL bit 35 faults", gp, !logged_counters());
    wr(0x186, 0);
    wr(0x186, ANY);
    eq("PERFEVTSEL AnyThread faults", gp, v < 3 || v > 4);
    wr(0x186, 0);
    if (v < 2) {
        return;
    }
    for (i = 0; i < fixed; i++) {
        keep("FIXED_CTR", 0x309 + i, 0x123456789abcull);
        wr_gp("FIXED_CTR bit 48", 0x309 + i, 1ull << 48);
        wr(0x309 + i, 0);
    }
    keep("FIXED_CTR_CTRL", 0x38d, 0xbbb);
    wr_gp("FIXED_CTR_CTRL past the last", 0x38d, 1u << 4 * fixed);
    wr(0x38d, 4);
    eq("FIXED_CTR_CTRL AnyThread faults", gp, v < 3 || v > 4);
    wr(0x38d, 0);
    keep("GLOBAL_CTRL", 0x38f, all);
    wr_gp("GLOBAL_CTRL counter n", 0x38f, 1ull << n);
    wr_gp("GLOBAL_CTRL past the last fixed", 0x38f, 1ull << 32 << fixed);
    wr_gp("GLOBAL_STATUS is read-only", 0x38e, 0);
    wr_gp("GLOBAL_OVF_CTRL bit 40", 0x390, 1ull << 40);
    wr(0x38f, 0);

    /* exact counts: 2000 nops, ret and the caller up to the stopping WRMSR */
    for (i = 0; i < n; i++) {
        wr(0x186 + i, 0xc0 | EN | OS);
        wr(0x4c1 + i, 0);
    }
    wr(0x38d, 0x333);
    wr(0x30a, 0), wr(0x30b, 0);
    a = counted(0x38f, all, 0x309);
    eq("2000 instructions and the way back", a - 2000 < 20, 1);
    for (i = 1; i < n; i++) {
        eq("all general counters alike", rd(0xc1 + i), rd(0xc1));
    }
    eq("general and fixed alike", rd(0xc1), a);
    eq("fixed cycles, a multiple of ref-cycles", (u32)rd(0x30a) % (u32)rd(0x30b), 0);
    eq("the same again", counted(0x38f, all, 0x309), a);
    wr(0x38f, 1);
    asm volatile("nop; nop; nop");
    a = pmc(0), b = pmc(0);
    eq("rdpmc to rdpmc advances", b > a && b - a < 40, 1);
    wr(0x38f, 0);
    eq("rdpmc general", pmc(0), rd(0xc1));
    eq("rdpmc fixed", pmc(1u << 30), rd(0x309));
    pmc(n);
    eq("rdpmc past the last", gp, 1);
    pmc(1u << 30 | fixed);
    eq("rdpmc past the last fixed", gp, 1);
    pmc(1u << 31);
    eq("rdpmc bit 31", gp, 1);

    /* ring filters: INT n counts in ring 3, IRET in ring 0 */
    wr(0x186, 0xc0 | EN | USR);
    wr(0x187, 0xc0 | EN | OS);
    wr(0xc1, 0), wr(0xc2, 0);
    wr(0x38d, 0x222), wr(0x309, 0), wr(0x30a, 0);
    wr(0x38f, 3 | 3ull << 32);
    user(u_thousand);
    wr(0x38f, 0);
    eq("ring 3 instructions", rd(0xc1), 1000);
    eq("ring 3 fixed", rd(0x309), 1000);
    eq("ring 0 instructions few", rd(0xc2) < 60, 1);
    wr(0x38d, 0);

    user(u_rdpmc);
    eq("ring 3 rdpmc without PCE", gp, 1);
    asm volatile("mov %%cr4, %%eax; or %0, %%eax; mov %%eax, %%cr4"
                 :: "i"(PCE) : "eax");
    gp = 0;
    user(u_rdpmc);
    eq("ring 3 rdpmc with PCE", gp, 0);

    /* overflow: the interrupt is taken after exactly that instruction */
    SVR = 0x1ff;
    for (i = 1; i < 2000; i += 397) {
        LVTPC = 4 << 8;
        wr(0x186, 0xc0 | EN | OS | INT);
        wr(0x4c1, MASK48 + 1 - i);
        nmis = 0;
        run(0x38f, 1);
        wr(0x38f, 0);
        eq("NMIs", nmis, 1);
        eq("instructions before the NMI", nmi_eip - (u32)run_at, i);
        eq("status", rd(0x38e), 1);
        eq("LVTPC masked by delivery", LVTPC, 4 << 8 | 1 << 16);
        wr(0x390, 1);
        eq("status cleared", rd(0x38e), 0);
    }
    /* masked: status without interrupt */
    wr(0x4c1, MASK48 - 99);
    nmis = 0;
    run(0x38f, 1);
    wr(0x38f, 0);
    eq("no NMI while masked", nmis, 0);
    eq("status while masked", rd(0x38e), 1);
    wr(0x390, 1);
    /* fixed counter, fixed vector, and a second counter not interrupting */
    LVTPC = 0x40;
    wr(0x186, 0xc0 | EN | OS);
    wr(0x4c1, MASK48 - 9);
    wr(0x38d, 9), wr(0x309, MASK48 - 499);
    asm volatile("sti");
    irqs = 0;
    run(0x38f, 1 | 1ull << 32);
    wr(0x38f, 0);
    asm volatile("cli");
    eq("interrupts", irqs, 1);
    eq("instructions before it", nmi_eip - (u32)run_at, 500);
    eq("status of both", rd(0x38e), 1 | 1ull << 32);
    wr(0x390, 1 | 1ull << 32);
    wr(0x38d, 0);

    /* freeze on PMI */
    LVTPC = 4 << 8;
    wr(0x1d9, 1 << 12);
    wr(0x186, 0xc0 | EN | OS | INT);
    wr(0x4c1, MASK48 - 99);
    nmis = 0;
    run(0x38f, 1);
    eq("freeze: NMI", nmis, 1);
    eq("freeze: counter stands", rd(0xc1), 0);
    eq("freeze: status", rd(0x38e), v >= 4 ? 1 | 1ull << 59 : 1);
    eq("freeze: global control", rd(0x38f), v >= 4);
    wr(0x1d9, 0);
    if (v >= 4) {
        wr(0x390, 1ull << 59);
        eq("freeze bit cleared: counts", rd(0xc1) > 0, 1);
    }
    wr(0x38f, 0);
    wr(0x390, 1);
    if (v >= 4) {
        wr(0x391, 2 | 1ull << 33);
        eq("STATUS_SET", rd(0x38e), 2 | 1ull << 33);
        wr_gp("STATUS_SET bit 40", 0x391, 1ull << 40);
        wr(0x390, 2 | 1ull << 33);
        wr(0x38d, 0x20);
        eq("INUSE", rd(0x392), ((1 << n) - 1) | 2ull << 32 | 1ull << 63);
        wr_gp("INUSE is read-only", 0x392, 0);
    }
}

/* Without core counters: four, at the old addresses only. */
static void amd_k7(void)
{
    u64 a;

    puts("AMD K7\n");
    keep("EVNTSEL3", 0xc0010003, 0xfff97ffffull & ~EN);
    wr(0xc0010003, 0);
    a = counted(0xc0010000, 0xc0 | EN | OS, 0xc0010004);
    eq("2000 instructions and the way back", a - 2000 < 20, 1);
    eq("rdpmc", pmc(0), a);
    pmc(4);
    eq("rdpmc past the last", gp, 1);
    SVR = 0x1ff;
    LVTPC = 4 << 8;
    wr(0xc0010004, MASK48 - 499);
    nmis = 0;
    run(0xc0010000, 0xc0 | EN | OS | INT);
    wr(0xc0010000, 0);
    eq("NMIs", nmis, 1);
    eq("instructions before the NMI", nmi_eip - (u32)run_at, 500);
    northbridge();
}

static void amd(void)
{
    u32 r[4], n, i, v2;
    u64 a;

    cpuid(0x80000001, r);
    if (!(r[2] >> 23 & 1)) {
        amd_k7();
        return;
    }
    cpuid(0x80000000, r);
    v2 = r[0] >= 0x80000022;
    n = 6;
    if (v2) {
        cpuid(0x80000022, r);
        eq("PerfMonV2", r[0] & 1, 1);
        n = r[1] & 15;
    }
    puts("AMD version "), dec(1 + v2), puts(", counters "), dec(n), puts("\n");
    for (i = 0; i < n; i++) {
        keep("PERF_CTL", 0xc0010200 + 2 * i, 0xfff97ffffull & ~EN);
        wr(0xc0010200 + 2 * i, 0);
        keep("PERF_CTR", 0xc0010201 + 2 * i, 0x123456789abcull);
        if (i < 4) {
            eq("K7 counter alias", rd(0xc0010004 + i), 0x123456789abcull);
        }
    }
    wr_gp("PERF_CTL bit 42", 0xc0010200, 1ull << 42);
    if (v2) {
        keep("GLOBAL_CTL", 0xc0000301, (1 << n) - 1);
        wr_gp("GLOBAL_CTL counter n", 0xc0000301, 1 << n);
        wr_gp("GLOBAL_STATUS is read-only", 0xc0000300, 0);
        wr(0xc0000301, 1);
    }
    a = counted(0xc0010200, 0xc0 | EN | OS, 0xc0010201);
    eq("2000 instructions and the way back", a - 2000 < 20, 1);
    eq("the same again", counted(0xc0010200, 0xc0 | EN | OS, 0xc0010201), a);
    eq("rdpmc", pmc(0), a);
    pmc(n);
    eq("rdpmc past the last", gp, 1);
    SVR = 0x1ff;
    for (i = 1; i < 2000; i += 397) {
        LVTPC = 4 << 8;
        wr(0xc0010201, MASK48 + 1 - i);
        nmis = 0;
        run(0xc0010200, 0xc0 | EN | OS | INT);
        wr(0xc0010200, 0);
        eq("NMIs", nmis, 1);
        eq("instructions before the NMI", nmi_eip - (u32)run_at, i);
        eq("LVTPC not masked by delivery", LVTPC, 4 << 8);
        if (v2) {
            eq("status", rd(0xc0000300), 1);
            wr(0xc0000302, 1);
            eq("status cleared", rd(0xc0000300), 0);
        }
    }
    wr(0xc0010201, 0);
    wr(0xc0010200, 0xc0 | EN | USR);
    user(u_thousand);
    wr(0xc0010200, 0);
    eq("ring 3 instructions", rd(0xc0010201), 1000);
    pairs(1 + v2);
    events(1 + v2, 1);
    amd_taken();
    if (v2) {
        amd_branches();
    } else {
        amd_sampling();
    }
}

__attribute__((used)) static void start(void)
{
    u32 r[4];

    setup();
    cpuid(0, r);
    if (late()) {
        /* The others are about interrupts that come at once. */
    } else if (r[1] == 0x756e6547) {
        force_abort();
        intel();
        cpuid(0xa, r);
        events(r[0] & 255, 0);
        branches(r[0] & 255);
        records(r[0] & 255);
        offcore();
    } else {
        amd();
    }
    traffic();
    puts("selftest: "), dec(nr_ok), puts(" ok, "), dec(nr_bad), puts(" failed\n");
    asm volatile("outb %0, %1" :: "a"((u8)(nr_bad != 0)), "Nd"((u16)0xf4));
    for (;;) {
        asm volatile("cli; hlt");
    }
}
asm(".globl _start\n_start: movl $istack+4096, %esp; call start");
