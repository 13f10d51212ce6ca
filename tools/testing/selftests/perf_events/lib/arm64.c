// SPDX-License-Identifier: GPL-2.0
/* arm64's PMU: see arm64.h */
#include "arm64.h"
#include <dirent.h>

const char *a64_pmu(void)
{
	static char name[64];
	DIR *d = opendir(A64_DEVICES);
	struct dirent *e;

	*name = 0;
	pt_need(d, "no " A64_DEVICES);
	while ((e = readdir(d))) {
		if (!strncmp(e->d_name, "armv", 4) && (!*name || strcmp(e->d_name, name) < 0))
			snprintf(name, sizeof(name), "%.63s", e->d_name);
	}
	closedir(d);
	pt_need(*name, "no PMU in " A64_DEVICES);
	return name;
}

void a64_need_pmu(void)
{
#if defined(__aarch64__)
	struct perf_event_attr attr = a64_cycles(0);

	close(pt_open_hw(&attr, -1));
#else
	pt_skip("about the PMU of arm64");
#endif
}

void a64_need_exact(void)
{
	a64_need_pmu();
	if (!pt_time_is_exact())
		pt_skip("this machine does not count instructions exactly");
}

void a64_no_limits(void)
{
	a64_need_exact();
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
}

static u64 told(const char *name)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 10) : 0;
}

u64 a64_late(void)
{
	u64 delay = told("PMU_DELAY");

	a64_need_pmu();
	if (!delay)
		pt_skip("interrupts of this PMU come at once");
	return delay;
}

u64 a64_need_late(void)
{
	u64 delay = a64_late();

	if (pt_online_cpus() > 1)
		pt_skip("with several CPUs no CPU's cycles are its own");
	a64_no_limits();
	return delay;
}

u64 a64_need_lossy(void)
{
	u64 lose = told("PMU_LOSE");

	a64_need_pmu();
	if (!lose)
		pt_skip("this PMU loses no interrupts");
	a64_no_limits();
	return lose;
}

u64 a64_mrs(u32 index)
{
	u64 v = 0;

	(void)index;
#if defined(__aarch64__)
	if (index == A64_CYCLE_INDEX)
		__asm__ volatile("isb; mrs %0, pmccntr_el0" : "=r"(v) : : "memory");
	else if (index == 1)
		__asm__ volatile("isb; mrs %0, pmevcntr0_el0" : "=r"(v) : : "memory");
	else if (index == 2)
		__asm__ volatile("isb; mrs %0, pmevcntr1_el0" : "=r"(v) : : "memory");
	else if (index == 3)
		__asm__ volatile("isb; mrs %0, pmevcntr2_el0" : "=r"(v) : : "memory");
	else
		pt_need(0, "index %u", index);
#endif
	return v;
}

u64 a64_user_count(struct perf_event_mmap_page *p)
{
	u64 count, pmc;
	u32 seq;

	do {
		seq = __atomic_load_n(&p->lock, __ATOMIC_ACQUIRE);
		pt_need(p->cap_user_rdpmc && p->index, "index %u, capability %d", p->index,
			(int)p->cap_user_rdpmc);
		count = (u64)p->offset;
		pmc = a64_mrs(p->index) << (64 - p->pmc_width);
		count += (u64)((s64)pmc >> (64 - p->pmc_width));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&p->lock, __ATOMIC_RELAXED) != seq);
	return count;
}

struct perf_event_attr a64_raw(u64 config)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_RAW, config);

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

struct perf_event_attr a64_cycles(u64 period)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.sample_period = period;
	if (period)
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD |
				   PERF_SAMPLE_READ | PERF_SAMPLE_CPU;
	return attr;
}

/* User space may read a 64-bit count from one counter only. */
bool a64_wide_counters(void)
{
	struct perf_event_attr attr = a64_raw(A64_INSTRUCTIONS);

	attr.config1 = A64_LONG | A64_USER_READ;
	return pt_probe(&attr) != -EOPNOTSUPP;
}

int a64_counters(void)
{
	pt_load_module("test_arm64", NULL);
	return (int)(pt_module_get("test_arm64", "pmcr") >> 11 & 31);
}

u64 a64_interrupts(void)
{
	static char text[16384];
	char *at;

	pt_need(pt_slurp("/proc/stat", text, sizeof(text)), "cannot read /proc/stat");
	at = strstr(text, "\nintr ");
	pt_need(at, "no intr line in /proc/stat");
	return strtoull(at + 6, NULL, 10);
}

u64 a64_pmu_interrupts(void)
{
	static char text[16384];
	char *at, *line;

	pt_need(pt_slurp("/proc/interrupts", text, sizeof(text)), "no /proc/interrupts");
	at = strstr(text, "arm-pmu");
	pt_need(at, "no arm-pmu in /proc/interrupts");
	*at = 0;
	line = strrchr(text, '\n');
	return strtoull(strchr(line, ':') + 1, NULL, 10);
}

void a64_after_tick(void)
{
	u64 before = a64_interrupts();

	while (a64_interrupts() == before)
		pt_spin(1000);
}

#if defined(__aarch64__)
/*
 * x0: fd, x1: how often. 29 is ioctl, 0x2400 and 0x2401 are ENABLE and DISABLE, 173 is getppid.
 * Nothing but what the header says comes between the two ioctls.
 */
#define MEASURED(name, labels, body, after)			\
	".globl " #name "\n"					\
	".type " #name ", @function\n"				\
	#name ":\n"						\
	"	mov x9, x0\n"					\
	"	mov x10, x1\n"					\
	"	mov x8, #29\n"					\
	"	mov x1, #0x2400\n"				\
	"	mov x2, #0\n"					\
	"	svc #0\n"					\
	labels							\
	body							\
	"	mov x0, x9\n"					\
	"	mov x1, #0x2401\n"				\
	after							\
	"	svc #0\n"					\
	"	ret\n"						\
	".size " #name ", . - " #name "\n"

__asm__(".pushsection .text.a64_measured, \"ax\", @progbits\n"
	".globl a64_loop_start, a64_loop_end\n"
	".balign 64\n"
	MEASURED(a64_measured_spin, "a64_loop_start:\n",
		 "1:	subs x10, x10, #1\n"
		 "	b.ne 1b\n"
		 "a64_loop_end:\n", "")
	".balign 64\n"
	MEASURED(a64_measured_calls, "",
		 "1:	mov x8, #173\n"
		 "	svc #0\n"
		 "	subs x10, x10, #1\n"
		 "	b.ne 1b\n", "	mov x8, #29\n")
	".popsection\n");
#else
const char a64_loop_start[1], a64_loop_end[1];

void a64_measured_spin(int fd, u64 turns)
{
	pt_enable(fd);
	pt_spin(turns);
	pt_disable(fd);
}

void a64_measured_calls(int fd, u64 nr)
{
	pt_enable(fd);
	while (nr--)
		syscall(SYS_getppid);
	pt_disable(fd);
}
#endif
