// SPDX-License-Identifier: GPL-2.0
/*
 * own_tasks.c - with kernel.perf_ext_own_tasks a user may have events of his own tasks in user
 * mode, at any level of perf_event_paranoid, and nothing else.
 *
 * needs: hw
 */
#include "lib/session.h"
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define OWN	"perf_ext_own_tasks"
#define CLOSED	"perf_event_paranoid: above 2, needs CAP_SYS_ADMIN"
#define NO_PMU	"attr.type: perf_ext_own_tasks: not this PMU"

static struct perf_event_attr user_mode(u32 type, u64 config)
{
	struct perf_event_attr attr = pt_attr(type, config);

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

static struct perf_event_attr user_faults(void)
{
	return user_mode(PT_SW(PAGE_FAULTS));
}

/* The level at which nothing is left, and the sysctl. */
static void closed_but(int own)
{
	ext_need();
	pt_sysctl_set("perf_event_paranoid", 3);
	pt_sysctl_set(OWN, own);
}

static void closed(struct perf_event_attr attr)
{
	ext_refused(&attr, EACCES, CLOSED);
}

/* ---- off ---- */

static void nothing_at_all(void)
{
	closed(user_faults());
	closed(user_mode(PT_HW(INSTRUCTIONS)));
}

static void off_by_default(void)
{
	ext_need();
	pt_eq(pt_sysctl_get(OWN), 0);
	pt_sysctl_set("perf_event_paranoid", 3);
	pt_as_nobody(nothing_at_all);
}

static void cannot_write(void)
{
	pt_eq(pt_write_file("/proc/sys/kernel/" OWN, "1"), -EACCES);
}

static void roots_sysctl(void)
{
	ext_need();
	pt_as_nobody(cannot_write);
	pt_eq(pt_write_file("/proc/sys/kernel/" OWN, "2"), -EINVAL);
	pt_eq(pt_write_file("/proc/sys/kernel/" OWN, "-1"), -EINVAL);
}

/* ---- what it opens ---- */

static void counts_and_samples(void)
{
	struct perf_event_attr attr = user_faults();
	struct pt_record rec;
	struct pt_ring ring;
	struct pt_sample s;
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr.exclude_callchain_kernel = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 1);
	pt_settle();
	pt_reset(fd);
	pt_fault(3);
	pt_disable(fd);
	pt_eq(pt_count(fd), 3);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_check((s64)s.ip > 0, "ip %#llx is the kernel's", (unsigned long long)s.ip);
	}

	attr = user_mode(PT_SW(TASK_CLOCK));
	pt_eq(pt_probe(&attr), 0);
	attr = user_mode(PT_SW(CPU_CLOCK));
	pt_eq(pt_probe(&attr), 0);
	attr.inherit = 1;
	pt_eq(pt_probe(&attr), 0);
}

static void own_task_in_user_mode(void)
{
	closed_but(1);
	pt_as_nobody(counts_and_samples);
	pt_sysctl_set("perf_event_paranoid", 1000);
	pt_as_nobody(counts_and_samples);
}

/* Clocks have a PMU of their own, which copies do not ask for. */
static void copies_of_clocks(void)
{
	struct perf_event_attr attr = user_mode(PT_SW(TASK_CLOCK));
	pid_t pid;
	int fd, session;

	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	/* The fork would fail. */
	pt_in_child(pid)
		pt_spin(1);
	pt_reap(pid);
	attr.inherit = 0;
	session = session_ask(fd, &attr, 1, 0);
	pt_need(session >= 0, "session: %s", strerror(-session));
	pt_eq(session_attach_task(session, pt_tid(), 0), 0);
}

static void own_clocks_and_copies(void)
{
	closed_but(1);
	pt_as_nobody(copies_of_clocks);
}

/* A loop of two instructions a turn. */
static void counts_instructions(void)
{
	struct perf_event_attr attr = user_mode(PT_HW(INSTRUCTIONS));
	int fd = pt_open(&attr, 0, -1, -1, 0);
	u64 n;

	pt_spin(100000);
	n = pt_count(fd);
	pt_check(n >= 200000 && n < 210000, "%llu instructions", (unsigned long long)n);
}

static void counter_of_the_cpu(void)
{
	struct perf_event_attr attr = user_mode(PT_HW(INSTRUCTIONS));
	int fd;

	closed_but(1);
	fd = pt_open_hw(&attr, -1);
	close(fd);
	pt_as_nobody(counts_instructions);
}

/* ---- what it does not open ---- */

static void no_kernel(void)
{
	struct perf_event_attr attr;

	attr = user_faults();
	attr.exclude_kernel = 0;
	closed(attr);
	attr = user_faults();
	attr.exclude_hv = 0;
	closed(attr);
	attr = user_faults();
	attr.text_poke = 1;
	closed(attr);
	attr = user_faults();
	attr.namespaces = 1;
	closed(attr);
	attr = user_faults();
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_PHYS_ADDR;
	closed(attr);
	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	closed(attr);
	attr.exclude_callchain_kernel = 1;
	pt_eq(pt_probe(&attr), 0);
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL;
	pt_eq(pt_probe(&attr), -EACCES);
}

static void not_the_kernel(void)
{
	closed_but(1);
	pt_as_nobody(no_kernel);
}

static void no_kernel_for_perfmon(void *arg)
{
	struct perf_event_attr attr = user_faults();

	(void)arg;
	no_kernel();
	pt_eq(pt_try_open(&attr, 1, -1, -1, 0), -EACCES);
	pt_eq(pt_try_open(&attr, -1, 0, -1, 0), -EACCES);
}

/* Above 2 that capability has not been enough, and is not now. */
static void not_more_with_perfmon(void)
{
	closed_but(1);
	pt_with_capability(CAP_PERFMON, no_kernel_for_perfmon, NULL);
}

static void no_cpu(void)
{
	struct perf_event_attr attr = user_faults();
	int dir = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY);

	pt_eq(pt_try_open(&attr, -1, 0, -1, 0), -EACCES);
	pt_eq(pt_try_open(&attr, dir, 0, -1, PERF_FLAG_PID_CGROUP), -EACCES);
}

static void not_a_cpu_nor_a_cgroup(void)
{
	closed_but(1);
	pt_as_nobody(no_cpu);
}

static u64 tracepoint;

static void refuse_pmu(long long type, u64 config)
{
	struct perf_event_attr attr = user_mode((u32)type, config);

	if (type >= 0)
		ext_refused(&attr, EACCES, NO_PMU);
}

static void no_other_pmu(void)
{
	struct perf_event_attr attr = user_mode(PERF_TYPE_BREAKPOINT, 0);
	static u64 word;

	attr.bp_type = 2;
	attr.bp_len = 8;
	attr.bp_addr = pt_addr(&word);
	if (pt_path_exists("/sys/bus/event_source/devices/breakpoint"))
		ext_refused(&attr, EACCES, NO_PMU);
	refuse_pmu(PERF_TYPE_TRACEPOINT, tracepoint);
	refuse_pmu(pt_pmu_type("kprobe"), 0);
	refuse_pmu(pt_pmu_type("uprobe"), 0);
	refuse_pmu(pt_pmu_type("virtual"), (u64)ext_config("virtual", "tid"));
	refuse_pmu(pt_pmu_type("perf_cost"), 1);
	/* One that nobody has */
	attr = user_mode(12345, 0);
	ext_refused(&attr, ENOENT, NULL);
}

static void not_other_pmus(void)
{
	tracepoint = pt_tracepoint_id("syscalls", "sys_enter_getppid");
	closed_but(1);
	pt_as_nobody(no_other_pmu);
}

/* ---- whose tasks ---- */

static pid_t other;

static void not_his(void)
{
	struct perf_event_attr attr = user_faults();

	pt_eq(pt_try_open(&attr, 1, -1, -1, 0), -EACCES);
	pt_eq(pt_try_open(&attr, other, -1, -1, 0), -EACCES);
}

static void tasks_of_others(void)
{
	int ready[2];

	closed_but(1);
	pt_gate_make(ready);
	pt_in_child(other) {
		pt_need(!syscall(SYS_setresuid, 1234, 1234, 1234), "setresuid");
		prctl(PR_SET_DUMPABLE, 1);
		pt_gate_open(ready);
		pause();
	}
	pt_gate_wait(ready);
	pt_as_nobody(not_his);
}

/* A child of his; its errno, or 0. */
static int open_child(int dumpable)
{
	struct perf_event_attr attr = user_faults();
	int ready[2], fd;
	pid_t pid;

	pt_gate_make(ready);
	pt_in_child(pid) {
		prctl(PR_SET_DUMPABLE, dumpable);
		pt_gate_open(ready);
		pause();
	}
	pt_gate_wait(ready);
	fd = pt_try_open(&attr, pid, -1, -1, 0);
	return fd < 0 ? fd : 0;
}

static void child_and_secret_child(void)
{
	pt_eq(open_child(1), 0);
	pt_eq(open_child(0), -EACCES);
}

static void his_children(void)
{
	closed_but(1);
	pt_as_nobody(child_and_secret_child);
}

/* ---- exec ---- */

static const char program[] = "/tmp/perf-events-own-tasks";

static void install(mode_t mode)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;

	to = open(program, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	pt_need(from >= 0 && to >= 0, "%s: %s", program, strerror(errno));
	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	pt_need(!fchmod(to, mode), "chmod: %s", strerror(errno));
	close(to);
	close(from);
}

/* How many faults of a child that executes the program are counted after that. */
static u64 faults_after_exec(int expect_euid)
{
	struct perf_event_attr attr = user_faults();
	int ready[2], go[2], fd;
	char uid[16];
	u64 before;
	pid_t pid;

	attr.inherit = 1;
	snprintf(uid, sizeof(uid), "%d", expect_euid);
	pt_gate_make(ready);
	pt_gate_make(go);
	pt_in_child(pid) {
		pt_settle();
		pt_gate_open(ready);
		pt_gate_wait(go);
		execl(program, "limits", "--faults", uid, NULL);
		pt_need(0, "exec: %s", strerror(errno));
	}
	pt_gate_wait(ready);
	fd = pt_open(&attr, pid, -1, -1, 0);
	before = pt_count(fd);
	pt_gate_open(go);
	pt_reap(pid);
	return pt_count(fd) - before;
}

static int after_exec(int argc, char **argv)
{
	if (argc != 3 || strcmp(argv[1], "--faults"))
		return -1;
	pt_fault(100);
	return (int)geteuid() == atoi(argv[2]) ? 0 : 1;
}

static void own_program(void)
{
	u64 n = faults_after_exec(65534);

	pt_check(n >= 100, "%llu faults", (unsigned long long)n);
}

static void set_user_id_program(void)
{
	pt_eq(faults_after_exec(0), 0);
}

static void ends_when_a_program_is_set_user_id(void)
{
	closed_but(1);
	install(0755);
	pt_as_nobody(own_program);
	install(04755);
	pt_as_nobody(set_user_id_program);
	unlink(program);
}

/* ---- groups ---- */

#define GID	4711

static void not_in_the_group(void)
{
	struct perf_event_attr attr = user_faults();

	ext_refused(&attr, EACCES, "pid: not in the group of perf_ext_task_gid");
}

/* perf_ext_task_gid says to whom this is open, and gives no right by itself. */
static void for_a_group(void)
{
	closed_but(0);
	pt_sysctl_set("perf_ext_task_gid", GID);
	pt_as_member(GID, nothing_at_all);
	pt_sysctl_set(OWN, 1);
	pt_as_nobody(not_in_the_group);
	pt_as_member(GID, counts_and_samples);
}

static const struct pt_case cases[] = {
	{ "off_by_default", off_by_default },
	{ "roots_sysctl", roots_sysctl },
	{ "own_task_in_user_mode", own_task_in_user_mode },
	{ "own_clocks_and_copies", own_clocks_and_copies },
	{ "counter_of_the_cpu", counter_of_the_cpu },
	{ "not_the_kernel", not_the_kernel },
	{ "not_more_with_perfmon", not_more_with_perfmon },
	{ "not_a_cpu_nor_a_cgroup", not_a_cpu_nor_a_cgroup },
	{ "not_other_pmus", not_other_pmus },
	{ "tasks_of_others", tasks_of_others },
	{ "his_children", his_children },
	{ "for_a_group", for_a_group },
	{ "ends_when_a_program_is_set_user_id", ends_when_a_program_is_set_user_id },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = after_exec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
