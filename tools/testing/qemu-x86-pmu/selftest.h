/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the bare-metal selftest share. */
#ifndef SELFTEST_H
#define SELFTEST_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define PCE      (1u << 8)
#define MASK48   ((1ull << 48) - 1)
#define EN       (1u << 22)
#define INT      (1u << 20)
#define OS       (1u << 17)
#define USR      (1u << 16)
#define ANY      (1u << 21)

#define LVTPC (*(volatile u32 *)0xfee00340)
#define SVR   (*(volatile u32 *)0xfee000f0)

extern volatile u32 gp, nmis, nmi_eip;
extern char run_at[], u_branches[];

void puts(const char *s);
void dec(u32 v);
void eq(const char *what, u64 got, u64 want);
/* MSR accesses; gp says whether the last one faulted. */
void wr(u32 m, u64 v);
u64 rd(u32 m);
void wr_gp(const char *what, u32 m, u64 v);
/* 2000 instructions from a WRMSR on, the first one at run_at */
void run(u32 msr, u64 v);
void cpuid(u32 l, u32 *r);
/* Run at ring 3 until int $0x80. */
void user(char *eip);
/* What counter @ctr counts of these, with @ctrl set to @on meanwhile. */
u64 counted(u32 ctrl, u64 on, u32 ctr);

void traffic(void);
void branches(u32 version);
/* So many counters can be logged with branches. */
u32 logged_counters(void);
void amd_branches(void);
void amd_sampling(void);
void amd_taken(void);
void northbridge(void);
void records(u32 version);
void arch_records(void);
void events(u32 version, u32 amd);
void force_abort(void);
void pairs(u32 version);
void offcore(void);
/* Do interrupts come late or get lost?  If so, whether they do as they should. */
u32 late(void);

#endif
