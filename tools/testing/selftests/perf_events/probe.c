// SPDX-License-Identifier: GPL-2.0
/*
 * probe.c - the kprobe and uprobe PMUs: a probe that lives as long as its
 * event, counted and sampled, at entry and at return.
 */
#include "lib/ptest.h"
#include <linux/capability.h>
#include <sys/mount.h>

#if defined(__x86_64__)
#define GETPPID	"__x64_sys_getppid"
#else
#define GETPPID	"__arm64_sys_getppid"
#endif

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr kprobe(const char *func, bool ret)
{
	int type = pt_pmu_type("kprobe");
	struct perf_event_attr attr;

	if (type < 0)
		pt_skip("no kprobe PMU");
	attr = pt_attr((u32)type, ret);
	attr.kprobe_func = pt_addr(func);
	attr.disabled = 1;
	return attr;
}

static struct perf_event_attr uprobe(const void *code, bool ret)
{
	struct perf_event_attr attr = pt_uprobe(code, ret);

	attr.disabled = 1;
	return attr;
}

static void call(unsigned int n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void kprobe_counts(void)
{
	struct perf_event_attr attr = kprobe(GETPPID, false);
	int fd = pt_open(&attr, 0, -1, -1, 0);

	call(3);
	pt_enable(fd);
	call(100);
	pt_disable(fd);
	call(3);
	pt_eq(pt_count(fd), 100);
}

static void kretprobe_counts(void)
{
	struct perf_event_attr attr = kprobe(GETPPID, true);
	int fd = pt_open(&attr, 0, -1, -1, 0);

	pt_enable(fd);
	call(100);
	pt_disable(fd);
	pt_eq(pt_count(fd), 100);
}

static void kprobe_samples(void)
{
	struct perf_event_attr attr = kprobe(GETPPID, false);
	u64 sym = pt_kernel_symbol(GETPPID), ip;
	unsigned int n = 0;
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_RAW;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	call(20);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.tid, pt_tid());
		pt_check(s.ip >> 63, "IP %#llx", (unsigned long long)s.ip);
		/* behind the four common fields: the probed address */
		pt_need(s.raw_size >= 16, "%u bytes", s.raw_size);
		memcpy(&ip, s.raw + 8, 8);
		if (sym)
			pt_check(ip >= sym && ip < sym + 16, "probe at %#llx, symbol at %#llx",
				 (unsigned long long)ip, (unsigned long long)sym);
		n++;
	}
	pt_eq(n, 20);
}

static void kprobe_by_address(void)
{
	u64 sym = pt_kernel_symbol(GETPPID);
	struct perf_event_attr attr = kprobe(NULL, false);
	int fd;

	if (!sym)
		pt_skip("no symbol table");
	attr.kprobe_addr = sym;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	call(7);
	pt_eq(pt_count(fd), 7);
}

static void no_branches(struct perf_event_attr *attr)
{
	pt_eq(pt_probe(attr), 0);
	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	pt_eq(pt_probe(attr), -EOPNOTSUPP);
}

static void kprobe_refused(void)
{
	struct perf_event_attr attr = kprobe("no_such_function_anywhere", false);

	pt_check(pt_probe(&attr) == -ENOENT, "unknown function gave %d", pt_probe(&attr));
	attr.kprobe_func = 8;
	pt_eq(pt_probe(&attr), -EFAULT);
	attr = kprobe("", false);
	pt_check(pt_probe(&attr) < 0, "an empty name is a function");
	attr = kprobe(NULL, false);
	pt_check(pt_probe(&attr) < 0, "address 0 is a function");
	attr = kprobe(GETPPID, false);
	attr.probe_offset = 1 << 30;
	pt_check(pt_probe(&attr) < 0, "offset of 1 GiB into a function");
	attr = kprobe(GETPPID, false);
	no_branches(&attr);
}

static void kprobe_of_one_task(void)
{
	struct perf_event_attr attr = kprobe(GETPPID, false);
	int mine = pt_open(&attr, 0, -1, -1, 0);
	int heir, all;
	pid_t pid;

	pt_pin(0);
	attr.inherit = 1;
	heir = pt_open(&attr, 0, -1, -1, 0);
	attr.inherit = 0;
	all = pt_open(&attr, -1, 0, -1, 0);
	pt_enable(mine);
	pt_enable(heir);
	pt_enable(all);
	pt_in_child(pid)
		call(10);
	pt_reap(pid);
	call(5);
	pt_eq(pt_count(mine), 5);
	pt_eq(pt_count(heir), 15);
	pt_eq(pt_count(all), 15);
}

static void uprobe_counts(void)
{
	static u8 byte[2];
	struct perf_event_attr attr = uprobe((void *)pt_chain_outer, false);
	int fd = pt_open(&attr, 0, -1, -1, 0);
	int i;

	pt_enable(fd);
	for (i = 0; i < 50; i++)
		pt_chain_outer(byte);
	pt_disable(fd);
	pt_chain_outer(byte);
	pt_eq(pt_count(fd), 50);
}

static void uretprobe_counts(void)
{
	static u8 byte[2];
	struct perf_event_attr attr = uprobe((void *)pt_chain_outer, true);
	int fd = pt_open(&attr, 0, -1, -1, 0);
	int i;

	pt_enable(fd);
	for (i = 0; i < 50; i++)
		pt_chain_outer(byte);
	pt_disable(fd);
	pt_eq(pt_count(fd), 50);
}

static void uprobe_samples(void)
{
	static u8 byte[2];
	struct perf_event_attr attr = uprobe((void *)pt_chain_outer, false);
	unsigned int n = 0;
	int fd, i;
	u64 ip;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_RAW |
			   PERF_SAMPLE_REGS_USER;
#if defined(__x86_64__)
	attr.sample_regs_user = 1ull << 5;
#else
	attr.sample_regs_user = 1ull << 0;
#endif
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	for (i = 0; i < 20; i++)
		pt_chain_outer(byte);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.tid, pt_tid());
		pt_eq(s.ip, pt_addr((void *)pt_chain_outer));
		pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
		pt_need(s.raw_size >= 16, "%u bytes", s.raw_size);
		memcpy(&ip, s.raw + 8, 8);
		pt_eq(ip, pt_addr((void *)pt_chain_outer));
		/* its first argument, still in its register */
#if defined(__x86_64__)
		pt_eq(s.user_regs[5], pt_addr(byte));
#else
		pt_eq(s.user_regs[0], pt_addr(byte));
#endif
		n++;
	}
	pt_eq(n, 20);
}

static void uprobe_of_one_task(void)
{
	static u8 byte[2];
	struct perf_event_attr attr = uprobe((void *)pt_chain_outer, false);
	int mine = pt_open(&attr, 0, -1, -1, 0);
	pid_t pid;
	int i;

	pt_enable(mine);
	pt_in_child(pid) {
		for (i = 0; i < 10; i++)
			pt_chain_outer(byte);
	}
	pt_reap(pid);
	for (i = 0; i < 4; i++)
		pt_chain_outer(byte);
	pt_eq(pt_count(mine), 4);
}

static void uprobe_refused(void)
{
	struct perf_event_attr attr = uprobe((void *)pt_chain_outer, false);

	attr.uprobe_path = pt_addr("/no/such/file");
	pt_eq(pt_probe(&attr), -ENOENT);
	attr.uprobe_path = pt_addr("/proc");
	pt_check(pt_probe(&attr) < 0, "a directory has no code");
	attr.uprobe_path = 8;
	pt_eq(pt_probe(&attr), -EFAULT);
	attr.uprobe_path = 0;
	pt_check(pt_probe(&attr) < 0, "no path at all");
	attr = uprobe((void *)pt_chain_outer, false);
	attr.probe_offset = 1ull << 40;
	pt_check(pt_probe(&attr) < 0, "an offset beyond the file");
	attr = uprobe((void *)pt_chain_outer, false);
	no_branches(&attr);
}

struct answers {
	struct perf_event_attr attr[2];
	int want[2];
};

static void answers_are(void *arg)
{
	const struct answers *a = arg;
	int i;

	for (i = 0; i < 2; i++)
		pt_eq(pt_probe(&a->attr[i]), a->want[i]);
}

static void nobody_gets(void *arg)
{
	pt_become_nobody();
	answers_are(arg);
	pt_end_case();
}

/* What makes perf's own events possible is enough for the kernel's code, not for everybody's. */
static void uprobe_by_others(void)
{
	struct answers a = { .attr = { uprobe((void *)pt_chain_outer, false),
				       kprobe(GETPPID, false) } };
	int paranoid;

	for (paranoid = -1; paranoid <= 2; paranoid++) {
		pt_sysctl_set("perf_event_paranoid", paranoid);
		a.want[0] = -EACCES;
		a.want[1] = -EACCES;
		pt_reap(pt_fork(nobody_gets, &a));
		a.want[1] = 0;
		pt_with_capability(CAP_PERFMON, answers_are, &a);
		a.want[0] = 0;
		pt_with_capability(CAP_SYS_ADMIN, answers_are, &a);
	}
}

static void many_probes(void)
{
	struct perf_event_attr attr = kprobe(GETPPID, false);
	int fd[10], i;

	for (i = 0; i < 10; i++) {
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
		pt_enable(fd[i]);
	}
	call(5);
	for (i = 0; i < 10; i++) {
		pt_eq(pt_count(fd[i]), 5);
		close(fd[i]);
	}
}

#define DEBUGFS	"/sys/kernel/debug"

/* How many there are in the kernel. */
static int nr_probes(void)
{
	FILE *f = fopen(DEBUGFS "/kprobes/list", "r");
	char line[256];
	int n = 0;

	pt_need(f, "kprobes/list: %s", strerror(errno));
	while (fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	return n;
}

static void kprobe_goes_with_its_event(void)
{
	struct perf_event_attr attr;
	int i, fd, before;

	if (!pt_path_exists(DEBUGFS "/kprobes") && mount("debugfs", DEBUGFS, "debugfs", 0, NULL) &&
	    errno != EBUSY)
		pt_skip("no debugfs: %s", strerror(errno));
	if (!pt_path_exists(DEBUGFS "/kprobes/list"))
		pt_skip("no list of kprobes");
	before = nr_probes();
	for (i = 0; i < 2; i++) {
		attr = kprobe(GETPPID, i);
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(nr_probes(), before + 1);
		close(fd);
		pt_eq(nr_probes(), before);
	}
}

/* The instruction is what it was when the last event has gone. */
static void uprobe_goes_with_its_event(void)
{
	struct perf_event_attr attr = uprobe((void *)pt_chain_outer, false);
	volatile const u32 *code = (void *)pt_chain_outer;
	u32 was = *code;
	int i, fd[2];

	for (i = 0; i < 2; i++)
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	for (i = 0; i < 2; i++) {
		pt_check(*code != was, "no probe while there is an event");
		close(fd[i]);
	}
	pt_eq(*code, was);
}

/* A hit is told to events of its number only while there are any. */
static void hits_of_nobody(void)
{
	struct perf_event_attr attr = kprobe("__perf_sw_event", false);
	struct perf_event_attr faults = pt_attr(PT_SW(PAGE_FAULTS));
	int fd;

	pt_first_on_cpu(0);
	close(pt_open(&faults, 0, -1, -1, 0));
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	pt_fault(10);
	pt_eq(pt_count(fd), 0);
	pt_open(&faults, 0, -1, -1, 0);
	pt_fault(10);
	pt_check(pt_count(fd) >= 10, "%llu hits", (unsigned long long)pt_count(fd));
}

/* An event does not count while its period is changed, not even what that calls. */
static void stopped_while_its_period_changes(void)
{
	static const char func[] = "pe_ioctl_set_period";
	struct perf_event_attr attr = kprobe(func, false);
	u64 period = 500;
	int fd, other;

	if (!pt_kernel_symbol(func))
		pt_skip("the kernel has no function %s", func);
	attr.disabled = 0;
	other = pt_open(&attr, 0, -1, -1, 0);
	attr.sample_period = 1000;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, pt_addr(&period)), 0);
	pt_eq(pt_count(other), 1);
	pt_eq(pt_count(fd), 0);
}

static const struct pt_case cases[] = {
	{ "kprobe_counts", kprobe_counts },
	{ "kretprobe_counts", kretprobe_counts },
	{ "kprobe_samples", kprobe_samples },
	{ "kprobe_by_address", kprobe_by_address },
	{ "kprobe_refused", kprobe_refused },
	{ "kprobe_of_one_task", kprobe_of_one_task },
	{ "uprobe_counts", uprobe_counts },
	{ "uretprobe_counts", uretprobe_counts },
	{ "uprobe_samples", uprobe_samples },
	{ "uprobe_of_one_task", uprobe_of_one_task },
	{ "uprobe_refused", uprobe_refused },
	{ "uprobe_by_others", uprobe_by_others },
	{ "many_probes", many_probes },
	{ "kprobe_goes_with_its_event", kprobe_goes_with_its_event },
	{ "uprobe_goes_with_its_event", uprobe_goes_with_its_event },
	{ "hits_of_nobody", hits_of_nobody },
	{ "stopped_while_its_period_changes", stopped_while_its_period_changes },
};

PT_MAIN(cases)
