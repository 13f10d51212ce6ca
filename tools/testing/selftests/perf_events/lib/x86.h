/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86.h - for the programs about the PMU of x86 CPUs: finding the emulated one, its counters and
 * registers, work whose instructions are known to the last one.
 */
#ifndef PTEST_X86_H
#define PTEST_X86_H

#include "ptest.h"

#define X86_PMU		"/sys/bus/event_source/devices/cpu/"

/* Registers, by the names of the manuals */
#define X86_PERFEVTSEL0		0x186
#define X86_PMC0		0x4c1		/* full width */
#define X86_FIXED_CTR0		0x309
#define X86_FIXED_CTR_CTRL	0x38d
#define X86_AMD_SELECT0		0xc0010200
#define X86_AMD_COUNTER0	0xc0010201
#define X86_AMD_K7_SELECT0	0xc0010000
/* The emulator's own */
#define X86_TRAFFIC_PMIS	0x50000003
#define X86_TRAFFIC_READS	0x50000004
#define X86_TRAFFIC_WRITES	0x50000005
#define X86_TRAFFIC_MAGIC	0x50000007
#define X86_PMI_DELAY		0x50000008	/* instructions from overflow to interrupt */
#define X86_PMI_LOSE		0x50000009	/* each so many interrupts one is lost; 0: none */
/* Metrics overflow after 2 to the power of so many slots; 0: with the counter of slots. */
#define X86_METRICS_BITS	0x5000000a

/*
 * The case is skipped unless the PMU is that of tools/testing/qemu-x86-pmu; then, unless time and
 * counts are exact (-icount). The caller runs on CPU 0 from here on, with nothing throttled.
 */
void x86_need_pmu(void);
void x86_need_exact(void);
/* Or unless its interrupts come late: returns by how many instructions. */
u64 x86_need_late(void);

bool x86_is_intel(void);
/* General and fixed counters, what CPUID says. */
int x86_general(void);
int x86_fixed(void);
/* Is there a register that starts and stops all counters at once? */
bool x86_has_global(void);

/* Registers of CPU 0; a failure ends the case. */
u64 x86_rdmsr(u32 number);
void x86_wrmsr(u32 number, u64 value);
/* Performance monitoring interrupts of CPU 0 since boot. */
u64 x86_interrupts(void);
/* Counters of this CPU that are switched on in their own register. */
int x86_counters_on(int cpu);

/* Hardware events of the calling task, user space only, disabled. */
struct perf_event_attr x86_hw(u64 config);
/* One that only general counters can count, as many cycles as there are. */
struct perf_event_attr x86_general_cycles(void);

/* Conditional branches that retire, user space only, disabled: the raw event of this CPU. */
struct perf_event_attr x86_conditional_branches(void);

/* RDPMC; the mapped page's way to the count. */
u64 x86_rdpmc(u32 index);
/*
 * Executed in a child: is it refused? with: set up first. The kernel logs only faults nobody
 * takes.
 */
bool x86_rdpmc_refused(u32 index, void (*with)(void));
u64 x86_user_count(struct perf_event_mmap_page *page);

/*
 * ENABLE, turns of a loop, DISABLE of fd, in assembly. X86_SPIN_COST(turns) instructions of user
 * space lie in between, the system call that disables included; cycles are as many.
 */
void x86_measured_spin(int fd, u64 turns);
#define X86_SPIN_COST(turns)	(2 * (turns) + 4)
/* Where the instruction is that follows the first n of them. */
u64 x86_spin_ip(u64 turns, u64 n);

/*
 * A loop that calls a function which calls another, turns times: the branches of a turn are those
 * of x86_call_loop_branch, in their order.
 */
void x86_call_loop(u64 turns);
struct x86_branch {
	u64 from, to;
};

#define X86_CALL_LOOP_BRANCHES	5
/* Branch i of a turn; the last one goes back to the start of the loop. */
struct x86_branch x86_call_loop_branch(int i);

/* of lib/x86.c */
extern const char x86_spin_loop[];
extern const char x86_cl_start[], x86_cl_call1[], x86_cl_back1[], x86_cl_jump[], x86_cl_f[];
extern const char x86_cl_call2[], x86_cl_back2[], x86_cl_ret1[], x86_cl_g[], x86_cl_ret2[];

#endif /* PTEST_X86_H */
