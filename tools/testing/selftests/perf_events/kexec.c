// SPDX-License-Identifier: GPL-2.0
/*
 * kexec.c - a kernel that starts another one while everything counts: what the next one finds.
 *
 * The rig runs the first case in one kernel, whose end it is, and the other in the next. Both find
 * their kernel and its files, which are this one's, in /next.
 *
 * needs: kexec
 */
#include "lib/arm64.h"
#include "lib/x86.h"
#include <linux/reboot.h>
#include <sys/klog.h>

#define KERNEL	"/next/kernel"
#define INITRD	"/next/initrd"
#define MARK	" kexeced"

static bool is_next(char *cmdline, size_t size)
{
	pt_need(pt_slurp("/proc/cmdline", cmdline, size), "no command line");
	return strstr(cmdline, MARK);
}

/* On each CPU some counters, with interrupts. */
static void count_on(int cpu)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	int i;

	attr.sample_period = 100003;
	for (i = 0; i < 4; i++)
		pt_open(&attr, -1, cpu, -1, 0);
	attr.precise_ip = 2;
	pt_try_open(&attr, -1, cpu, -1, 0);
	attr.precise_ip = 0;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	pt_try_open(&attr, -1, cpu, -1, 0);
}

static void into_the_next(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	char cmdline[2048];
	int kernel, initrd, cpu;

	if (is_next(cmdline, sizeof(cmdline) - sizeof(MARK)) || !pt_path_exists(KERNEL))
		pt_skip("there is no next kernel");
	kernel = open(KERNEL, O_RDONLY | O_CLOEXEC);
	initrd = open(INITRD, O_RDONLY | O_CLOEXEC);
	pt_need(kernel >= 0 && initrd >= 0, "open: %s", strerror(errno));
	strcat(cmdline, MARK);
	pt_need(!syscall(SYS_kexec_file_load, kernel, initrd, strlen(cmdline) + 1, cmdline, 0ul),
		"kexec_file_load: %s", strerror(errno));
	for (cpu = 0; cpu < pt_online_cpus(); cpu++)
		count_on(cpu);
	pt_open(&attr, 0, -1, -1, 0);
	/* The tick gives this one new periods, until the very end. */
	attr.freq = 1;
	attr.sample_freq = 4000;
	pt_open(&attr, 0, -1, -1, 0);
	pt_spin(1000000);
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
	pt_need(false, "reboot: %s", strerror(errno));
}

/* What its driver said when it looked at the registers, before it cleared them. */
static bool found_counters_on(void)
{
	static char log[1 << 20];

	pt_need(klogctl(3, log, sizeof(log) - 1) > 0, "no log of the kernel: %s", strerror(errno));
	return strstr(log, "corrupted hw-PMU resources");
}

/* Before it counts itself no counter is on. */
static void from_the_last(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	char cmdline[2048];
	int cpu, fd;

	if (!is_next(cmdline, sizeof(cmdline)))
		pt_skip("this kernel was started by no other");
	pt_check(!found_counters_on(), "the driver found a counter on");
#if defined(__x86_64__)
	x86_need_pmu();
	for (cpu = 0; cpu < pt_online_cpus(); cpu++)
		pt_eq(x86_counters_on(cpu), 0);
#else
	a64_need_pmu();
	pt_load_module("test_arm64", NULL);
	for (cpu = 0; cpu < pt_online_cpus(); cpu++) {
		pt_pin(cpu);
		/* The counters' own bits stay for the next group; this one is for all. */
		pt_eq(pt_module_get("test_arm64", "pmcr") & 1, 0);
	}
#endif
	fd = pt_open_hw(&attr, -1);
	pt_check(pt_count(fd) > 0, "nothing counts");
}

static const struct pt_case cases[] = {
	{ "into_the_next", into_the_next },
	{ "from_the_last", from_the_last },
};

PT_MAIN(cases)
