// SPDX-License-Identifier: GPL-2.0
/*
 * permission.c - who may open what: perf_event_paranoid from -1 to 3 against
 * an ordinary user, one with CAP_PERFMON, and root; other people's tasks;
 * events that only administrators get.
 *
 * Level 3 is Debian's: without CAP_SYS_ADMIN nothing can be opened at all.
 * A kernel without that patch treats 3 as 2; the first case finds out.
 */
#include "lib/ptest.h"
#include <linux/capability.h>
#include <sys/prctl.h>

static struct perf_event_attr user_faults(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

/* Run as nobody in a child, so that the case itself stays root. */
static void as_nobody(void (*fn)(void *arg), void *arg)
{
	pid_t pid;

	pt_in_child(pid) {
		pt_become_nobody();
		fn(arg);
	}
	pt_reap(pid);
}

/* What an ordinary user gets: 0 or the error for each of these. */
struct expected {
	int own_user;		/* own task, exclude_kernel */
	int own_kernel;		/* own task, kernel included */
	int cpu_wide;		/* a whole CPU, exclude_kernel */
	int chain;		/* callchain with its kernel part */
	int chain_user;		/* callchain without */
	int phys;		/* physical addresses */
	int text_poke;		/* addresses of kernel code that changes */
	int raw_tracepoint;	/* raw data of a scheduler tracepoint, own task */
	int raw_syscall;	/* raw data of a system call, own task */
	int count_tracepoint;	/* counting a scheduler tracepoint, own task */
};

static int cpu_wide(struct perf_event_attr *attr)
{
	int fd = pt_try_open(attr, -1, 0, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static u64 tp_switch, tp_call;

static void check_matrix(void *arg)
{
	const struct expected *e = arg;
	struct perf_event_attr attr = user_faults();
	struct perf_event_attr tp;

	pt_eq(pt_probe(&attr), e->own_user);
	pt_eq(cpu_wide(&attr), e->cpu_wide);
	attr.exclude_kernel = 0;
	pt_eq(pt_probe(&attr), e->own_kernel);
	attr = user_faults();
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	pt_eq(pt_probe(&attr), e->chain);
	attr.exclude_callchain_kernel = 1;
	pt_eq(pt_probe(&attr), e->chain_user);
	attr.sample_type = PERF_SAMPLE_PHYS_ADDR;
	pt_eq(pt_probe(&attr), e->phys);
	attr = user_faults();
	attr.text_poke = 1;
	pt_eq(pt_probe(&attr), e->text_poke);
	tp = pt_attr(PERF_TYPE_TRACEPOINT, tp_switch);
	tp.exclude_kernel = 1;
	pt_eq(pt_probe(&tp), e->count_tracepoint);
	tp.sample_period = 1;
	tp.sample_type = PERF_SAMPLE_RAW;
	pt_eq(pt_probe(&tp), e->raw_tracepoint);
	tp.config = tp_call;
	pt_eq(pt_probe(&tp), e->raw_syscall);
}

static void find_tracepoints(void)
{
	tp_switch = pt_tracepoint_id("sched", "sched_switch");
	tp_call = pt_tracepoint_id("syscalls", "sys_enter_getppid");
}

static void level(int paranoid, struct expected e)
{
	find_tracepoints();
	pt_sysctl_set("perf_event_paranoid", paranoid);
	as_nobody(check_matrix, &e);
}

static void level_minus_1(void)
{
	level(-1, (struct expected){ 0 });
}

static void level_0(void)
{
	level(0, (struct expected){ .raw_tracepoint = -EPERM });
}

static void level_1(void)
{
	level(1, (struct expected){
		.raw_tracepoint = -EPERM,
		.cpu_wide = -EACCES,
	});
}

static void level_2(void)
{
	level(2, (struct expected){
		.raw_tracepoint = -EPERM,
		.cpu_wide = -EACCES,
		.own_kernel = -EACCES,
		.chain = -EACCES,
		.phys = -EACCES,
		.text_poke = -EACCES,
	});
}

static const struct expected all_refused = {
	.own_user = -EACCES, .own_kernel = -EACCES, .cpu_wide = -EACCES, .chain = -EACCES,
	.chain_user = -EACCES, .phys = -EACCES, .text_poke = -EACCES, .raw_tracepoint = -EACCES,
	.raw_syscall = -EACCES, .count_tracepoint = -EACCES,
};

static void probe_level_3(void *arg)
{
	struct perf_event_attr attr = user_faults();

	(void)arg;
	if (!pt_probe(&attr))
		_exit(77);
}

static bool level_3_is_debians(void)
{
	pid_t pid;

	pt_sysctl_set("perf_event_paranoid", 3);
	pt_in_child(pid) {
		pt_become_nobody();
		probe_level_3(NULL);
	}
	return !pt_wait(pid);
}

static void level_3(void)
{
	if (!level_3_is_debians())
		pt_skip("3 is not a level of its own in this kernel");
	level(3, all_refused);
	level(1000, all_refused);
}

static void nothing_refused(void *arg)
{
	struct expected e = { 0 };

	(void)arg;
	check_matrix(&e);
}

static void root_is_free(void)
{
	int paranoid;

	find_tracepoints();
	for (paranoid = -1; paranoid <= 3; paranoid++) {
		pt_sysctl_set("perf_event_paranoid", paranoid);
		nothing_refused(NULL);
	}
}

static void perfmon_is_enough_up_to_2(void)
{
	struct expected refused = all_refused;
	int paranoid;

	find_tracepoints();
	for (paranoid = -1; paranoid <= 2; paranoid++) {
		pt_sysctl_set("perf_event_paranoid", paranoid);
		pt_with_capability(CAP_PERFMON, nothing_refused, NULL);
	}
	pt_sysctl_set("perf_event_paranoid", 3);
	if (level_3_is_debians()) {
		pt_with_capability(CAP_PERFMON, check_matrix, &refused);
		pt_with_capability(CAP_SYS_ADMIN, nothing_refused, NULL);
	}
}

/* pid of a task of somebody else, a root task, and an undumpable own one */
static void open_on(void *arg)
{
	struct perf_event_attr attr = user_faults();
	int fd = pt_try_open(&attr, *(pid_t *)arg, -1, -1, 0);

	pt_eq(fd, -EACCES);
}

static void tasks_of_others(void)
{
	pid_t one = 1, root, other;
	int ready[2];

	pt_sysctl_set("perf_event_paranoid", -1);
	as_nobody(open_on, &one);
	root = getpid();
	as_nobody(open_on, &root);
	pt_gate_make(ready);
	pt_in_child(other) {
		pt_need(!syscall(SYS_setresuid, 1234, 1234, 1234), "setresuid");
		prctl(PR_SET_DUMPABLE, 1);
		pt_gate_open(ready);
		pause();
	}
	pt_gate_wait(ready);
	as_nobody(open_on, &other);
}

static void own_tasks(void *arg)
{
	struct perf_event_attr attr = user_faults();
	int fd, ready[2], undumpable = *(int *)arg;
	pid_t pid;

	pt_gate_make(ready);
	pt_in_child(pid) {
		if (undumpable)
			prctl(PR_SET_DUMPABLE, 0);
		pt_gate_open(ready);
		pause();
	}
	pt_gate_wait(ready);
	fd = pt_try_open(&attr, pid, -1, -1, 0);
	if (undumpable)
		pt_eq(fd, -EACCES);
	else
		pt_check(fd >= 0, "own child gave %d", fd);
}

static void own_child(void)
{
	int undumpable;

	pt_sysctl_set("perf_event_paranoid", 2);
	for (undumpable = 0; undumpable < 2; undumpable++)
		as_nobody(own_tasks, &undumpable);
}

static void perfmon_sees_others(void *arg)
{
	struct perf_event_attr attr = user_faults();
	int fd = pt_try_open(&attr, 1, -1, -1, 0);

	(void)arg;
	pt_check(fd >= 0, "pid 1 gave %d", fd);
}

static void capability_opens_others(void)
{
	pt_sysctl_set("perf_event_paranoid", 2);
	pt_with_capability(CAP_PERFMON, perfmon_sees_others, NULL);
}

static void administrators_only(void *arg)
{
	struct perf_event_attr attr;
	const int *type = arg;

	attr = user_faults();
	attr.namespaces = 1;
	pt_eq(pt_probe(&attr), -EACCES);
	if (type[0] >= 0) {
		attr = pt_attr((u32)type[0], 0);
		attr.kprobe_func = pt_addr("do_exit");
		attr.exclude_kernel = 1;
		pt_eq(pt_probe(&attr), -EACCES);
	}
	if (type[1] >= 0) {
		attr = pt_attr((u32)type[1], 0);
		attr.uprobe_path = pt_addr("/proc/self/exe");
		attr.exclude_kernel = 1;
		pt_eq(pt_probe(&attr), -EACCES);
	}
	/* Tracing every function is not for everybody */
	if (type[2] > 0) {
		attr = pt_attr(PERF_TYPE_TRACEPOINT, (u64)type[2]);
		attr.exclude_kernel = 1;
		pt_eq(pt_probe(&attr), -EPERM);
	}
}

static void never_for_nobody(void)
{
	char path[128];
	int type[3];

	snprintf(path, sizeof(path), "%s/events/ftrace/function/id", pt_tracefs());
	type[0] = pt_pmu_type("kprobe");
	type[1] = pt_pmu_type("uprobe");
	type[2] = (int)pt_read_number(path, -1);
	pt_sysctl_set("perf_event_paranoid", 1);
	as_nobody(administrators_only, type);
}

/* A counter given away keeps counting for whoever holds the fd. */
static void use_fd(void *arg)
{
	int fd = *(int *)arg;

	pt_check(pt_count(fd) > 0, "nothing counted");
	pt_reset(fd);
	pt_disable(fd);
	pt_check(pt_try_map(fd, 1, PROT_READ), "mmap: %s", strerror(errno));
}

static void fd_handed_down(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int fd = pt_open(&attr, 0, -1, -1, 0);

	pt_fault(3);
	pt_sysctl_set("perf_event_paranoid", 2);
	as_nobody(use_fd, &fd);
}

static void kernel_breakpoint(void *arg)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_BREAKPOINT, 0);
	static u64 word;
	int ret;

	(void)arg;
	attr.bp_type = 2;
	attr.bp_len = 8;
	attr.bp_addr = pt_addr(&word);
	attr.exclude_kernel = 1;
	ret = pt_probe(&attr);
	if (ret == -ENOENT)
		return;
	pt_eq(ret, 0);
	/* Kernel addresses are not a user's to watch. */
	attr.bp_addr = 0xffff800000000000ull;
	attr.exclude_kernel = 0;
	pt_check(pt_probe(&attr) < 0, "a kernel address is watched");
	attr.exclude_kernel = 1;
	pt_check(pt_probe(&attr) < 0, "a kernel address is watched");
}

static void breakpoints_in_the_kernel(void)
{
	pt_sysctl_set("perf_event_paranoid", 1);
	as_nobody(kernel_breakpoint, NULL);
}

static void write_sysctl(void *arg)
{
	(void)arg;
	pt_check(pt_write_file("/proc/sys/kernel/perf_event_paranoid", "-1") < 0, "written");
	pt_check(pt_write_file("/proc/sys/kernel/perf_event_mlock_kb", "9999") < 0, "written");
}

static void sysctls_are_roots(void)
{
	as_nobody(write_sysctl, NULL);
}

static const struct pt_case cases[] = {
	{ "level_minus_1", level_minus_1 },
	{ "level_0", level_0 },
	{ "level_1", level_1 },
	{ "level_2", level_2 },
	{ "level_3", level_3 },
	{ "root_is_free", root_is_free },
	{ "perfmon_is_enough_up_to_2", perfmon_is_enough_up_to_2 },
	{ "tasks_of_others", tasks_of_others },
	{ "own_child", own_child },
	{ "capability_opens_others", capability_opens_others },
	{ "never_for_nobody", never_for_nobody },
	{ "fd_handed_down", fd_handed_down },
	{ "breakpoints_in_the_kernel", breakpoints_in_the_kernel },
	{ "sysctls_are_roots", sysctls_are_roots },
};

PT_MAIN(cases)
