// SPDX-License-Identifier: GPL-2.0
/*
 * deferred.c - user call chains that are walked on the way back to user space: samples have a
 * cookie in their place, and one record for all of a system call tells the chain.
 *
 * needs: hw pmu-irq skid
 */
#include "lib/ptest.h"
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define RETURN_TO	0x123450	/* an address that is in no program */

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static const u64 in_kernel = (u64)PERF_CONTEXT_KERNEL, in_user = (u64)PERF_CONTEXT_USER;
static const u64 later = (u64)PERF_CONTEXT_USER_DEFERRED;

/* Two pages, the stack ends with the first, and the outermost frame is in the second. */
static struct {
	u8 *pages;
	u64 *frame;
} stack;

static void make_stack(void)
{
	size_t size = 2 * (size_t)pt_page_size();
	int mem = memfd_create("stack", 0);

	pt_eq(ftruncate(mem, (off_t)size), 0);
	stack.pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	pt_need(stack.pages != MAP_FAILED, "mmap: %s", strerror(errno));
	memset(stack.pages, 0, size);
	stack.frame = (u64 *)(stack.pages + pt_page_size());
	stack.frame[0] = 0;
	stack.frame[1] = RETURN_TO;
}

static void store(u8 *at)
{
	pt_store_on(at, stack.frame, stack.pages + pt_page_size());
}

static void start(void)
{
	if (pt_is_stock())
		pt_skip("Linux 6.12 walks user stacks at once");
	make_stack();
	pt_settle();
}

/* They fault once each. */
static u8 *start_with_pages(unsigned int nr)
{
	start();
	return pt_fresh_pages(nr);
}

static struct perf_event_attr deferring(struct perf_event_attr attr)
{
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr.defer_callchain = 1;
	attr.defer_output = 1;
	attr.disabled = 1;
	return attr;
}

static struct perf_event_attr faults(void)
{
	return deferring(pt_attr(PT_SW(PAGE_FAULTS)));
}

static struct perf_event_attr syscalls(const char *name)
{
	return deferring(pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", name)));
}

/* ---- what is in the ring next ---- */

static void expect_sample(const struct perf_event_attr *attr)
{
	pt_need(pt_next(&ring, &rec), "no sample");
	pt_need(rec.h.type == PERF_RECORD_SAMPLE, "a record of type %u", rec.h.type);
	pt_parse_sample(attr, &rec, &s);
}

/* Return: the cookie in place of the user part. */
static u64 expect_deferred(const struct perf_event_attr *attr)
{
	expect_sample(attr);
	pt_need(s.nr_ips >= 2 && s.ips[s.nr_ips - 2] == later, "no cookie");
	return s.ips[s.nr_ips - 1];
}

struct chain {
	u64 cookie, nr, ips[];
};

static const struct chain *expect_chain(u64 cookie)
{
	const struct chain *chain = (const struct chain *)rec.body;

	pt_need(pt_next(&ring, &rec), "no record");
	pt_need(rec.h.type == PERF_RECORD_CALLCHAIN_DEFERRED, "a record of type %u", rec.h.type);
	pt_eq(rec.h.misc, PERF_RECORD_MISC_USER);
	pt_eq(chain->cookie, cookie);
	pt_eq(rec.h.size, sizeof(rec.h) + sizeof(*chain) + chain->nr * sizeof(u64));
	return chain;
}

static u32 type_of_next(void)
{
	u64 tail = ring.tail;
	u32 type = pt_next(&ring, &rec) ? rec.h.type : 0;

	ring.tail = tail;
	return type;
}

/* There may be more samples before the task returns. */
static const struct chain *expect_chain_after(const struct perf_event_attr *attr, u64 cookie)
{
	while (type_of_next() == PERF_RECORD_SAMPLE)
		pt_eq(expect_deferred(attr), cookie);
	return expect_chain(cookie);
}

static void expect_end(void)
{
	pt_check(!pt_next(&ring, &rec), "a record of type %u more", rec.h.type);
}

/* ---- */

/* The chain is the one that is walked at once. */
static void of_user(void)
{
	struct perf_event_attr attr = faults(), now = faults();
	const struct chain *chain;
	struct pt_ring at_once;
	u8 *p = start_with_pages(1);
	int fd, fd_now;
	u64 cookie;

	now.defer_callchain = 0;
	now.defer_output = 0;
	fd = pt_open(&attr, 0, -1, -1, 0);
	fd_now = pt_open(&now, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_map(&at_once, fd_now, 8);
	pt_enable(fd);
	pt_enable(fd_now);
	store(p);
	pt_disable(fd_now);
	pt_disable(fd);

	cookie = expect_deferred(&attr);
	pt_eq(s.nr_ips, 2);
	pt_need(pt_next_of(&at_once, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(&now, &rec, &s);
	pt_eq(s.ips[0], in_user);
	chain = expect_chain(cookie);
	pt_eq(chain->nr, 2);
	pt_eq(chain->ips[0], pt_addr(pt_store_on_insn));
	pt_eq(chain->ips[1], RETURN_TO);
	pt_eq(chain->nr, s.nr_ips - 1);
	pt_check(!memcmp(chain->ips, s.ips + 1, chain->nr * sizeof(u64)), "two chains");
	expect_end();
}

/* Faults of one system call: one cookie, and one record after them. */
static void once_a_system_call(void)
{
	struct perf_event_attr attr = faults();
	u8 *p = start_with_pages(8);
	int fd, zero, i, k;
	u64 last = 0;

	zero = open("/dev/zero", O_RDONLY);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	for (k = 0; k < 2; k++) {
		u64 cookie;

		pt_enable(fd);
		pt_eq(read(zero, p + k * 4 * pt_page_size(), 4 * pt_page_size()),
		      4 * pt_page_size());
		pt_disable(fd);
		cookie = expect_deferred(&attr);
		pt_check(cookie && cookie != last, "cookie %llx", (unsigned long long)cookie);
		pt_eq(s.ips[0], in_kernel);
		for (i = 1; i < 4; i++)
			pt_eq(expect_deferred(&attr), cookie);
		expect_chain(cookie);
		expect_end();
		last = cookie;
	}
}

static void no_user_part(void)
{
	struct perf_event_attr attr = faults();
	u8 *p = start_with_pages(2);
	int fd, zero;

	zero = open("/dev/zero", O_RDONLY);
	attr.exclude_callchain_user = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	pt_touch(p, 1);
	pt_eq(read(zero, p + pt_page_size(), 8), 8);
	pt_disable(fd);
	expect_sample(&attr);
	pt_eq(s.nr_ips, 0);
	expect_sample(&attr);
	pt_eq(s.ips[0], in_kernel);
	pt_check(s.ips[s.nr_ips - 1] < PERF_CONTEXT_MAX, "a marker at the end");
	expect_end();
}

/* A marker and its cookie, or neither. The record is there, and no longer the second time. */
static void no_room_for_the_cookie(void)
{
	const struct chain *chain = (const struct chain *)rec.body;
	struct perf_event_attr attr = faults();
	u8 *p = start_with_pages(2);
	int fd, i;

	pt_sysctl_set("perf_event_max_contexts_per_stack", 1);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	for (i = 0; i < 2; i++) {
		pt_enable(fd);
		store(p + i * pt_page_size());
		pt_disable(fd);
		expect_sample(&attr);
		pt_eq(s.nr_ips, 0);
		pt_need(pt_next(&ring, &rec), "no record");
		pt_eq(rec.h.type, PERF_RECORD_CALLCHAIN_DEFERRED);
		pt_eq(chain->nr, 2);
		pt_eq(chain->ips[1], RETURN_TO);
		expect_end();
	}
	close(fd);
}

/* A page of the stack that is not there ends a chain that is walked at once, and no other. */
static void faulted_in(void)
{
	struct perf_event_attr attr = faults();
	u8 *p = start_with_pages(2);
	const struct chain *chain;
	u64 cookie;
	int fd;

	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_eq(madvise(stack.frame, (size_t)pt_page_size(), MADV_DONTNEED), 0);
	pt_enable(fd);
	store(p);
	pt_disable(fd);
	cookie = expect_deferred(&attr);
	/* The fault of the walk itself is sampled in the kernel, its chain is walked at once. */
	expect_sample(&attr);
	pt_eq(s.ips[0], in_kernel);
	pt_eq(s.ips[s.nr_ips - 2], in_user);
	pt_eq(s.ips[s.nr_ips - 1], pt_addr(pt_store_on_insn));
	chain = expect_chain(cookie);
	pt_eq(chain->nr, 2);
	pt_eq(chain->ips[0], pt_addr(pt_store_on_insn));
	pt_eq(chain->ips[1], RETURN_TO);
	expect_end();
}

/* The record goes to an event of the CPU that asks for it, and not to the one that samples. */
static void heard_by_others(void)
{
	struct perf_event_attr attr = faults(), hears = pt_attr(PT_SW(DUMMY)), deaf;
	const struct chain *chain = (const struct chain *)rec.body;
	u8 *p = start_with_pages(2);
	struct pt_ring wide;
	size_t body;
	u64 cookie;
	int fd;

	pt_pin(0);
	attr.defer_output = 0;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	hears.sample_type = PERF_SAMPLE_TID;
	hears.sample_id_all = 1;
	deaf = hears;
	deaf.defer_callchain = 1;
	hears.defer_output = 1;
	pt_map(&wide, pt_open(&hears, -1, 0, -1, 0), 8);
	pt_enable(fd);
	store(p);
	pt_disable(fd);
	cookie = expect_deferred(&attr);
	expect_end();
	pt_need(pt_next_of(&wide, &rec, PERF_RECORD_CALLCHAIN_DEFERRED), "no record");
	pt_eq(chain->cookie, cookie);
	pt_eq(chain->ips[0], pt_addr(pt_store_on_insn));
	pt_parse_trailer(&hears, &rec, &s, &body);
	pt_eq(s.tid, (u32)gettid());
	pt_eq(body, sizeof(*chain) + chain->nr * sizeof(u64));
	pt_eq(pt_count_records(&wide, PERF_RECORD_CALLCHAIN_DEFERRED), 0);
	pt_unmap(&wide);
	pt_map(&wide, pt_open(&deaf, -1, 0, -1, 0), 8);
	pt_enable(fd);
	store(p + pt_page_size());
	pt_disable(fd);
	expect_deferred(&attr);
	pt_eq(pt_count_records(&wide, PERF_RECORD_CALLCHAIN_DEFERRED), 0);
}

/* Members of a family that share its events have their own stacks. */
static void inherited(void)
{
	struct perf_event_attr attr = faults();
	const struct chain *chain;
	pid_t pid;
	int fd;

	start();
	pt_pin(0);
	attr.inherit = 1;
	attr.sample_type |= PERF_SAMPLE_TID;
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&ring, fd, 64);
	pt_in_child(pid) {
		u8 *p;

		pt_settle();	/* the stack, too: the walk is not to fault */
		p = pt_fresh_pages(1);
		pt_enable(fd);
		store(p);
		pt_disable(fd);
	}
	pt_eq(pt_wait(pid), 0);
	/* Others of the family may have faults of their own before. */
	do {
		pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
		pt_parse_sample(&attr, &rec, &s);
	} while (s.ip != pt_addr(pt_store_on_insn));
	pt_eq(s.tid, (u32)pid);
	pt_need(s.nr_ips == 2 && s.ips[0] == later, "no cookie");
	chain = expect_chain(s.ips[1]);
	pt_eq(chain->ips[1], RETURN_TO);
}

/* ---- the stack goes ---- */

static void run_in_child(struct perf_event_attr *enter, struct perf_event_attr *leave,
			 struct pt_ring *left, void (*fn)(void))
{
	int go[2];
	pid_t pid;

	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		fn();
		_exit(0);
	}
	pt_map(&ring, pt_open(enter, pid, -1, -1, 0), 8);
	if (leave)
		pt_map(left, pt_open(leave, pid, -1, -1, 0), 8);
	pt_gate_open(go);
	pt_eq(pt_wait(pid), 0);
}

static void exec_nothing_then_true(void)
{
	pt_eq(execl("/no/such/program", "x", NULL), -1);
	execl("/proc/self/exe", "deferred", "--true", NULL);
}

/* After exec the stack that was asked for is no more; what asks then is about the new one. */
static void across_exec(void)
{
	struct perf_event_attr enter = syscalls("sys_enter_execve");
	struct perf_event_attr leave = syscalls("sys_exit_execve");
	struct pt_ring left;
	u64 cookie;

	start();
	enter.disabled = 0;
	leave.disabled = 0;
	run_in_child(&enter, &leave, &left, exec_nothing_then_true);
	cookie = expect_deferred(&enter);
	expect_chain(cookie);
	pt_check(expect_deferred(&enter) != cookie, "the same cookie");
	expect_end();

	pt_need(pt_next(&left, &rec), "no sample");
	pt_parse_sample(&leave, &rec, &s);
	pt_eq(s.ips[s.nr_ips - 1], cookie);
	pt_need(pt_next_of(&left, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(&leave, &rec, &s);
	pt_eq(s.ips[s.nr_ips - 2], in_user);
	pt_eq(pt_count_records(&left, PERF_RECORD_CALLCHAIN_DEFERRED), 0);
}

static void leave_at_once(void)
{
	_exit(0);
}

/* Nobody returns from there: the chain is told before the stack goes. */
static void in_exit(void)
{
	struct perf_event_attr enter = syscalls("sys_enter_exit_group");
	u64 cookie;

	start();
	enter.disabled = 0;
	run_in_child(&enter, NULL, NULL, leave_at_once);
	cookie = expect_deferred(&enter);
	expect_chain(cookie);
	expect_end();
}

/* Each way back comes by here after the walk, too: if that were to walk again, it would not end. */
static void on_the_way_back(void)
{
	int type = pt_pmu_type("kprobe");
	struct perf_event_attr attr = deferring(pt_attr((u32)type, 0));
	unsigned int later_ones = 0, chains = 0, at_once = 0;
	int fd;

	start();
	if (type < 0)
		pt_skip("no kprobe PMU");
	attr.kprobe_func = pt_addr("__rseq_handle_notify_resume");
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 256);
	pt_enable(fd);
	pt_switch_out();
	pt_disable(fd);
	while (pt_next(&ring, &rec)) {
		chains += rec.h.type == PERF_RECORD_CALLCHAIN_DEFERRED;
		if (rec.h.type != PERF_RECORD_SAMPLE)
			continue;
		pt_parse_sample(&attr, &rec, &s);
		pt_need(s.nr_ips >= 2, "%llu entries", (unsigned long long)s.nr_ips);
		if (s.ips[s.nr_ips - 2] == later)
			later_ones++;
		else
			at_once++;
	}
	pt_check(later_ones >= 1 && at_once >= 1, "%u with a cookie, %u without", later_ones,
		 at_once);
	pt_eq(chains, later_ones);
}

static u8 *page_of_handler;

static void fault_in_handler(int sig)
{
	(void)sig;
	store(page_of_handler);
}

/* The walk comes before the handler's frame is set up, and what the handler does has its own. */
static void before_a_signal_handler(void)
{
	struct perf_event_attr attr = syscalls("sys_enter_kill"), now = attr, fault = faults();
	const struct chain *chain;
	struct pt_ring at_once;
	u64 cookie, i;
	int fd;

	page_of_handler = start_with_pages(1);
	pt_need(signal(SIGUSR1, fault_in_handler) != SIG_ERR, "signal: %s", strerror(errno));
	now.defer_callchain = 0;
	now.defer_output = 0;
	now.disabled = 0;
	fault.disabled = 0;
	fault.defer_output = 0;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_map(&at_once, pt_open(&now, 0, -1, fd, 0), 8);
	pt_eq(pt_ioctl(pt_open(&fault, 0, -1, fd, 0), PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)fd),
	      0);
	pt_enable(fd);
	kill(getpid(), SIGUSR1);
	pt_disable(fd);

	cookie = expect_deferred(&attr);
	pt_need(pt_next_of(&at_once, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(&now, &rec, &s);
	chain = expect_chain(cookie);
	for (i = 0; i < s.nr_ips && s.ips[i] != in_user; i++)
		;
	pt_need(i + 1 < s.nr_ips, "no user part");
	pt_eq(chain->ips[0], s.ips[i + 1]);
	pt_check(expect_deferred(&fault) != cookie, "the same cookie");
	cookie = s.ips[s.nr_ips - 1];
	chain = expect_chain(cookie);
	pt_eq(chain->ips[0], pt_addr(pt_store_on_insn));
	pt_eq(chain->ips[1], RETURN_TO);
	expect_end();
}

/* A tracer stops the task on the way in and on the way back: each call's chain comes once. */
static void traced(void)
{
	struct perf_event_attr attr = syscalls("sys_enter_getppid"), now = attr;
	unsigned int i, stops = 0;
	struct pt_ring at_once;
	u64 cookie, last = 0;
	int fd, status;
	pid_t pid;

	start();
	now.defer_callchain = 0;
	now.defer_output = 0;
	now.disabled = 0;
	pt_in_child(pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (i = 0; i < 3; i++)
			(void)getppid();
	}
	pt_need(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "no tracee");
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_map(&at_once, pt_open(&now, pid, -1, fd, 0), 8);
	pt_enable(fd);
	do {
		pt_need(!ptrace(PTRACE_SYSCALL, pid, NULL, NULL), "ptrace: %s", strerror(errno));
		pt_need(waitpid(pid, &status, 0) == pid, "waitpid: %s", strerror(errno));
		stops++;
	} while (WIFSTOPPED(status));
	pt_eq(status, 0);
	pt_check(stops >= 2 * 3, "%u stops", stops);

	for (i = 0; i < 3; i++) {
		const struct chain *chain;
		unsigned int at = 0;

		cookie = expect_deferred(&attr);
		pt_check(cookie != last, "the same cookie");
		last = cookie;
		pt_need(pt_next_of(&at_once, &rec, PERF_RECORD_SAMPLE), "no sample");
		pt_parse_sample(&now, &rec, &s);
		while (at < s.nr_ips && s.ips[at] != in_user)
			at++;
		pt_need(at + 1 < s.nr_ips, "no user part");
		chain = expect_chain(cookie);
		pt_eq(chain->ips[0], s.ips[at + 1]);
	}
	expect_end();
}

static u64 goes_back_to;

static PT_NOINLINE void probed(void)
{
	if (!goes_back_to)
		goes_back_to = pt_addr(__builtin_return_address(0));
}

static PT_NOINLINE void call_probed(void)
{
	probed();
	__asm__ volatile("" ::: "memory");
}

/* Its registers are those after the return, while the task itself is still in a trampoline. */
static void of_a_uretprobe(void)
{
	struct perf_event_attr attr;
	int fd;

	start();
	call_probed();
	attr = deferring(pt_uprobe((void *)probed, true));
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	call_probed();
	pt_disable(fd);
	expect_sample(&attr);
	pt_need(s.nr_ips >= 2, "%llu entries", (unsigned long long)s.nr_ips);
	pt_eq(s.ips[0], in_user);
	pt_eq(s.ips[1], goes_back_to);
	expect_end();
}

static PT_NOINLINE void call_chain(u8 *p)
{
	pt_chain_outer(p);
	__asm__ volatile("" ::: "memory");
}

/* A probe waits for a function to return: the stack has a trampoline, and the chain the caller. */
static void true_return_addresses(void)
{
	struct perf_event_attr attr = faults(), uretprobe;
	u8 *p = start_with_pages(1);
	const struct chain *chain;
	static u8 byte;
	int fd;

	uretprobe = pt_uprobe((void *)pt_chain_outer, true);
	pt_open(&uretprobe, 0, -1, -1, 0);
	call_chain(&byte);		/* the first hit has faults of its own */
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	call_chain(p);
	pt_disable(fd);
	chain = expect_chain(expect_deferred(&attr));
	pt_need(chain->nr >= 3, "%llu entries", (unsigned long long)chain->nr);
	pt_eq(chain->ips[0], pt_addr(pt_chain_insn));
	pt_eq(chain->ips[1], pt_addr(pt_chain_return));
	pt_check(chain->ips[2] - pt_addr((void *)call_chain) - 1 < 63, "%#llx is not in call_chain",
		 (unsigned long long)chain->ips[2]);
	expect_end();
}

/* Asked for with the run queue locked. */
static void of_a_switch(void)
{
	struct perf_event_attr attr = deferring(pt_attr(PERF_TYPE_TRACEPOINT,
							pt_tracepoint_id("sched", "sched_switch")));
	u64 cookie;
	int fd;

	start();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	pt_switch_out();
	pt_disable(fd);
	cookie = expect_deferred(&attr);
	pt_eq(s.ips[0], in_kernel);
	expect_chain_after(&attr, cookie);
}

/* By interrupt, or NMI on x86: samples are followed by their chain. */
static void of_a_counter(void)
{
	struct perf_event_attr attr = deferring(pt_attr(PT_HW(CPU_CYCLES)));
	unsigned int nr = 0;
	int fd;

	start();
	attr.sample_period = 100003;
	attr.exclude_kernel = 1;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	pt_spin(3000000);
	pt_disable(fd);
	while (type_of_next() == PERF_RECORD_SAMPLE) {
		u64 cookie = expect_deferred(&attr), ip = s.ip;

		nr += pt_in_spin(expect_chain_after(&attr, cookie)->ips[0]) && pt_in_spin(ip);
	}
	expect_end();
	pt_check(nr >= 10, "%u chains", nr);
}

static int be_true(int argc, char **argv)
{
	return argc == 2 && !strcmp(argv[1], "--true") ? 0 : -1;
}

static const struct pt_case cases[] = {
	{ "of_user", of_user },
	{ "once_a_system_call", once_a_system_call },
	{ "no_user_part", no_user_part },
	{ "no_room_for_the_cookie", no_room_for_the_cookie },
	{ "faulted_in", faulted_in },
	{ "heard_by_others", heard_by_others },
	{ "inherited", inherited },
	{ "across_exec", across_exec },
	{ "in_exit", in_exit },
	{ "on_the_way_back", on_the_way_back },
	{ "before_a_signal_handler", before_a_signal_handler },
	{ "traced", traced },
	{ "of_a_uretprobe", of_a_uretprobe },
	{ "true_return_addresses", true_return_addresses },
	{ "of_a_switch", of_a_switch },
	{ "of_a_counter", of_a_counter },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = be_true;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
