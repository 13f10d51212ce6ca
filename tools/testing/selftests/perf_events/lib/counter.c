// SPDX-License-Identifier: GPL-2.0
/* counter.c - see counter.h */
#include "arm64.h"
#include "counter.h"
#include "x86.h"

/* 32 and 31 are PR_TASK_PERF_EVENTS_ENABLE and _DISABLE. */
#if defined(__x86_64__)
__asm__(".pushsection .text.counter_spin_all, \"ax\", @progbits\n"
	".balign 64\n"
	".globl counter_spin_all\n"
	".type counter_spin_all, @function\n"
	"counter_spin_all:\n"
	"	mov %rdi, %r9\n"
	"	mov $157, %eax\n"
	"	mov $32, %edi\n"
	"	syscall\n"
	"1:	dec %r9\n"
	"	jnz 1b\n"
	"	mov $157, %eax\n"
	"	mov $31, %edi\n"
	"	syscall\n"
	"	ret\n"
	".size counter_spin_all, . - counter_spin_all\n"
	".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text.counter_spin_all, \"ax\", @progbits\n"
	".balign 64\n"
	".globl counter_spin_all\n"
	".type counter_spin_all, @function\n"
	"counter_spin_all:\n"
	"	mov x10, x0\n"
	"	mov x8, #167\n"
	"	mov x0, #32\n"
	"	svc #0\n"
	"1:	subs x10, x10, #1\n"
	"	b.ne 1b\n"
	"	mov x8, #167\n"
	"	mov x0, #31\n"
	"	svc #0\n"
	"	ret\n"
	".size counter_spin_all, . - counter_spin_all\n"
	".popsection\n");
#else
#error "counter_spin_all is not written for this architecture"
#endif

#if defined(__x86_64__)
void counter_need(void)
{
	x86_need_exact();
}

/* A fixed counter on Intel, another one, and general ones. */
unsigned int counter_kinds(void)
{
	return 3;
}

struct perf_event_attr counter_kind(unsigned int kind)
{
	if (kind == 2)
		return x86_general_cycles();
	return x86_hw(kind ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_HW_INSTRUCTIONS);
}

struct perf_event_attr counter_instructions(void)
{
	return x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
}

struct perf_event_attr counter_general(void)
{
	return x86_general_cycles();
}

int counter_generals(void)
{
	return x86_general();
}

bool counter_for_user_space(struct perf_event_attr *attr)
{
	(void)attr;
	return pt_read_number(X86_PMU "rdpmc", 0) > 0;
}

void counter_spin(int fd, u64 turns)
{
	x86_measured_spin(fd, turns);
}

u64 counter_spin_cost(u64 turns)
{
	return X86_SPIN_COST(turns);
}

u64 counter_spin_ip(u64 turns, u64 n)
{
	return x86_spin_ip(turns, n);
}
#else
void counter_need(void)
{
	static bool unlimited;

	a64_need_exact();
	if (unlimited)
		return;
	/* A sample's cost is high in an emulator; the rate cannot be set while the other is 0. */
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	unlimited = true;
}

/*
 * The cycle counter as it is, and its 64 bits.  QEMU 7.2 does not always interrupt for others: an
 * event of instructions counts, and does not sample.
 */
unsigned int counter_kinds(void)
{
	return 2;
}

struct perf_event_attr counter_kind(unsigned int kind)
{
	struct perf_event_attr attr = a64_cycles(0);

	attr.config1 = kind ? A64_LONG : 0;
	return attr;
}

struct perf_event_attr counter_instructions(void)
{
	return a64_raw(A64_INSTRUCTIONS);
}

struct perf_event_attr counter_general(void)
{
	return a64_raw(A64_INSTRUCTIONS);
}

int counter_generals(void)
{
	static int nr;		/* the module is loaded once */

	if (!nr)
		nr = a64_counters();
	return nr;
}

bool counter_for_user_space(struct perf_event_attr *attr)
{
	if (!pt_path_exists("/proc/sys/kernel/perf_user_access"))
		return false;
	pt_sysctl_set("perf_user_access", 1);
	attr->config1 |= A64_USER_READ;
	return true;
}

void counter_spin(int fd, u64 turns)
{
	a64_measured_spin(fd, turns);
}

u64 counter_spin_cost(u64 turns)
{
	return A64_SPIN_COST(turns);
}

u64 counter_spin_ip(u64 turns, u64 n)
{
	/* Behind the loop each instruction is another one. */
	u64 at = n < 2 * turns ? n % 2 : n - 2 * turns + 2;

	return pt_addr(a64_loop_start) + 4 * at;
}
#endif

struct perf_event_attr counter_event(u64 period)
{
	struct perf_event_attr attr;

	counter_need();
	attr = counter_kind(0);
	attr.sample_period = period;
	return attr;
}
