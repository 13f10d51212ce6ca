// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_trace.c - BPF programs on tracepoints, system calls, kprobes and uprobes
 * by way of an event: what runs when, who sees the hit then, what the kernel
 * tells about the programs, and which program fits which trace event.
 *
 * needs: hw skid
 */
#include "lib/bpf.h"

#if defined(__x86_64__)
#define GETPPID	"__x64_sys_getppid"
#else
#define GETPPID	"__arm64_sys_getppid"
#endif

enum {
	RUNS,			/* word[] */
	RUNS2,
	SEEN,
};

#define KP	BPF_PROG_TYPE_KPROBE
#define TP	BPF_PROG_TYPE_TRACEPOINT

static struct pt_words w;
static struct pt_code code;
static struct pt_ring ring;

static struct perf_event_attr getppid_entry(void)
{
	return pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", "sys_enter_getppid"));
}

/* No system call: the only one that has this tracepoint here is ours. */
static struct perf_event_attr switches(void)
{
	return pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("sched", "sched_switch"));
}

static struct perf_event_attr kprobe(bool ret)
{
	int type = pt_pmu_type("kprobe");
	struct perf_event_attr attr;

	if (type < 0)
		pt_skip("no kprobe PMU");
	attr = pt_attr((u32)type, ret);
	attr.kprobe_func = pt_addr(GETPPID);
	return attr;
}

/* Called, not inlined, not merged with anything. */
static PT_NOINLINE void probed(void)
{
	__asm__ volatile("" ::: "memory");
}

static struct perf_event_attr uprobe(void)
{
	static char path[256];
	int type = pt_pmu_type("uprobe");
	u64 start, end, off, at = pt_addr((const void *)(uintptr_t)probed);
	struct perf_event_attr attr;
	char line[512], *rest;
	FILE *f;

	if (type < 0)
		pt_skip("no uprobe PMU");
	attr = pt_attr((u32)type, 0);
	pt_need(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0, "readlink");
	attr.uprobe_path = pt_addr(path);
	f = fopen("/proc/self/maps", "r");
	pt_need(f, "maps: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		start = strtoull(line, &rest, 16);
		end = strtoull(rest + 1, &rest, 16);
		off = strtoull(rest + 6, NULL, 16);
		if (at >= start && at < end)
			attr.probe_offset = at - start + off;
	}
	fclose(f);
	return attr;
}

static void call(unsigned int n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void run_probed(unsigned int n)
{
	while (n--)
		probed();
}

/* Counts the runs in a task and returns a constant; other tasks are let through. */
static int answers(u32 type, unsigned int slot, int32_t verdict)
{
	pt_b_begin(&code);
	pt_b_call(&code, BPF_FUNC_get_current_pid_tgid);
	pt_b(&code, BPF_ALU | BPF_MOV | BPF_X, 0, 0, 0, 0);	/* the thread */
	pt_b(&code, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2, pt_tid());
	pt_b_return(&code, 1);
	pt_b_count(&code, &w, slot);
	pt_b_return(&code, verdict);
	return pt_load(type, &code);
}

static long set_bpf(int event, int prog)
{
	return pt_ioctl(event, PERF_EVENT_IOC_SET_BPF, (unsigned long)prog);
}

/* PERF_EVENT_IOC_QUERY_BPF: the result; up to 64 ids */
struct query {
	u32 room, nr, ids[64];
};

static long query(int event, struct query *q, u32 room)
{
	memset(q, 0, sizeof(*q));
	q->room = room;
	return pt_ioctl(event, PERF_EVENT_IOC_QUERY_BPF, pt_addr(q));
}

static u32 nr_programs(int event)
{
	struct query q;

	pt_eq(query(event, &q, 64), 0);
	return q.nr;
}

static void start(void)
{
	pt_words_make(&w);
	pt_pin(0);
}

/* The program decides whether the events of the trace event see the hit. */
static void check_verdicts(struct perf_event_attr *attr, u32 type, void (*work)(unsigned int n))
{
	int fd, other, prog;

	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_TID;
	fd = pt_open(attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	prog = answers(type, RUNS, 1);
	pt_eq(set_bpf(fd, prog), 0);
	work(10);
	pt_eq(w.word[RUNS], 10);
	pt_eq(pt_count(fd), 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 10);
	close(fd);
	pt_unmap(&ring);
	work(10);
	pt_eq(w.word[RUNS], 10);

	fd = pt_open(attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	other = answers(type, RUNS, 0);
	pt_eq(set_bpf(fd, other), 0);
	work(10);
	pt_eq(w.word[RUNS], 20);
	pt_eq(pt_count(fd), 0);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	pt_eq(set_bpf(fd, prog), -EEXIST);
}

static void on_a_system_call(void)
{
	struct perf_event_attr attr = getppid_entry();

	start();
	check_verdicts(&attr, TP, call);
}

static void on_a_kprobe(void)
{
	struct perf_event_attr attr = kprobe(false);

	start();
	check_verdicts(&attr, KP, call);
}

static void on_a_kretprobe(void)
{
	struct perf_event_attr attr = kprobe(true);

	start();
	check_verdicts(&attr, KP, call);
}

static void on_a_uprobe(void)
{
	struct perf_event_attr attr = uprobe();

	start();
	check_verdicts(&attr, KP, run_probed);
}

static void on_a_tracepoint(void)
{
	struct perf_event_attr attr = switches();
	struct pt_peer peer;
	int fd, i;

	start();
	pt_peer_start(&peer);
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_bpf(fd, answers(TP, RUNS, 0)), 0);
	pt_enable(fd);
	for (i = 0; i < 20; i++)
		pt_peer_turn(&peer);
	pt_check(w.word[RUNS] >= 20, "%llu runs", (unsigned long long)w.word[RUNS]);
	pt_eq(pt_count(fd), 0);
	pt_peer_stop(&peer);
}

/* The event need not be the task's, nor enabled: the program is on the trace event. */
static void for_every_task(void)
{
	struct perf_event_attr attr = getppid_entry();
	int fd;

	start();
	attr.disabled = 1;
	fd = pt_open(&attr, -1, pt_online_cpus() - 1, -1, 0);
	pt_eq(set_bpf(fd, answers(TP, RUNS, 1)), 0);
	call(10);
	pt_eq(w.word[RUNS], 10);
	pt_eq(pt_count(fd), 0);
}

static void several_programs(void)
{
	struct perf_event_attr attr = getppid_entry();
	int one, two, watch, p1, p2;
	struct query q;

	start();
	one = pt_open(&attr, 0, -1, -1, 0);
	two = pt_open(&attr, 0, -1, -1, 0);
	watch = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(query(watch, &q, 64), 0);
	pt_eq(q.nr, 0);
	p1 = answers(TP, RUNS, 1);
	p2 = answers(TP, RUNS2, 0);
	pt_eq(set_bpf(one, p1), 0);
	pt_eq(set_bpf(two, p1), -EEXIST);
	call(5);
	pt_eq(pt_count(watch), 5);
	pt_eq(set_bpf(two, p2), 0);
	/* Each runs; one that says no is enough. */
	call(5);
	pt_eq(w.word[RUNS], 10);
	pt_eq(w.word[RUNS2], 5);
	pt_eq(pt_count(watch), 5);
	pt_eq(query(watch, &q, 64), 0);
	pt_eq(q.nr, 2);
	pt_eq(q.ids[0], pt_prog_id(p1));
	pt_eq(q.ids[1], pt_prog_id(p2));
	pt_eq(q.ids[2], 0);
	/* With too little room: as many as fit, and how many there are. */
	pt_eq(query(watch, &q, 1), -ENOSPC);
	pt_eq(q.nr, 2);
	pt_eq(q.ids[0], pt_prog_id(p1));
	pt_eq(q.ids[1], 0);
	pt_eq(query(watch, &q, 0), 0);
	pt_eq(q.nr, 2);
	pt_eq(query(watch, &q, 65), -E2BIG);
	pt_eq(pt_ioctl(watch, PERF_EVENT_IOC_QUERY_BPF, 0), -EFAULT);
	close(two);
	pt_eq(nr_programs(watch), 1);
	call(5);
	pt_eq(w.word[RUNS2], 5);
	pt_eq(pt_count(watch), 10);
	close(one);
	pt_eq(nr_programs(watch), 0);
}

static void too_many_programs(void)
{
	struct perf_event_attr attr = getppid_entry();
	int fd, i;

	start();
	attr.disabled = 1;
	for (i = 0; i < 65; i++) {
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(set_bpf(fd, answers(TP, RUNS, 1)), i < 64 ? 0 : -E2BIG);
	}
	pt_eq(nr_programs(fd), 64);
}

/* A link on a trace event, with a cookie. */
static void check_link(struct perf_event_attr *attr, u32 type, void (*work)(unsigned int n))
{
	int prog, fd, link;

	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_mov(&code, 1, 6);
	pt_b_call(&code, BPF_FUNC_get_attach_cookie);
	pt_b_put(&code, &w, SEEN, 0);
	pt_b_return(&code, 1);
	prog = pt_load(type, &code);
	fd = pt_open(attr, 0, -1, -1, 0);
	link = pt_link(prog, fd, 0xabcdef0123456789ull);
	pt_check(link >= 0, "link: %d", link);
	pt_eq(pt_link(prog, fd, 0), -EEXIST);
	work(3);
	pt_check(w.word[RUNS] >= 3, "%llu runs", (unsigned long long)w.word[RUNS]);
	pt_eq(w.word[SEEN], 0xabcdef0123456789ull);
	pt_eq(pt_count(fd), 3);
	close(link);
	w.word[SEEN] = 0;
	work(3);
	pt_eq(w.word[SEEN], 0);
	pt_eq(pt_count(fd), 6);
	/* The event's file goes first. */
	link = pt_link(prog, fd, 5);
	pt_check(link >= 0, "link: %d", link);
	close(fd);
	work(3);
	pt_eq(w.word[SEEN], 5);
	close(link);
	w.word[SEEN] = 0;
	work(3);
	pt_eq(w.word[SEEN], 0);
}

static void links(void)
{
	struct perf_event_attr attr = getppid_entry();

	start();
	check_link(&attr, TP, call);
	attr = kprobe(false);
	check_link(&attr, KP, call);
	attr = uprobe();
	check_link(&attr, KP, run_probed);
}

static void what_fits(void)
{
	struct perf_event_attr attr[4] = { getppid_entry(), switches(), kprobe(false), uprobe() };
	static const u32 types[] = { TP, KP, BPF_PROG_TYPE_PERF_EVENT,
		BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_PROG_TYPE_SOCKET_FILTER };
	static const int want[4][5] = {
		{ 0, -EINVAL, -EINVAL, -EINVAL, -EINVAL },
		{ 0, -EINVAL, -EINVAL, -EINVAL, -EINVAL },
		{ -EINVAL, 0, -EINVAL, -EINVAL, -EINVAL },
		{ -EINVAL, 0, -EINVAL, -EINVAL, -EINVAL },
	};
	unsigned int i, k;
	int fd, prog;

	start();
	for (i = 0; i < 4; i++)
		for (k = 0; k < 5; k++) {
			pt_b_begin(&code);
			pt_b_return(&code, 1);
			prog = pt_load(types[k], &code);
			attr[i].disabled = 1;
			fd = pt_open(&attr[i], 0, -1, -1, 0);
			if (set_bpf(fd, prog) != want[i][k])
				pt_check(false, "program type %u on event %u: not %d", types[k], i,
					 want[i][k]);
			close(fd);
			close(prog);
		}
}

/* The last field of the record is the second argument; no word behind it can be read. */
static void reads_too_far(void)
{
	const char *name = "sys_enter_getpriority";
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("syscalls", name));
	int last = pt_field_offset("syscalls", name, "who");
	int fd, prog, off;

	start();
	attr.disabled = 1;
	for (off = 8; off < last + 64; off += 8) {
		pt_b_begin(&code);
		pt_b_load(&code, 0, 6, (int16_t)off);
		pt_b_return(&code, 1);
		prog = pt_load(TP, &code);
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(set_bpf(fd, prog), off <= last ? 0 : -EACCES);
		close(fd);
		close(prog);
	}
}

/* One that may sleep runs where user space was interrupted, nowhere else. */
static void that_sleep(void)
{
	struct perf_event_attr attr = uprobe();
	int fd, prog;

	start();
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_return(&code, 1);
	prog = pt_try_load(KP, &code, BPF_F_SLEEPABLE);
	pt_need(prog >= 0, "sleepable program: %s", strerror(-prog));
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_bpf(fd, prog), 0);
	run_probed(4);
	pt_eq(w.word[RUNS], 4);
	attr = kprobe(false);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_bpf(fd, prog), -EINVAL);
}

/* ---- what the kernel tells ---- */

static void task_fd_query(void)
{
	struct perf_event_attr attr = kprobe(false);
	union bpf_attr q = { 0 };
	char name[64] = "";
	int fd, prog;

	start();
	prog = answers(KP, RUNS, 1);
	fd = pt_open(&attr, 0, -1, -1, 0);
	q.task_fd_query.pid = (u32)getpid();
	q.task_fd_query.fd = (u32)fd;
	pt_eq(pt_bpf(BPF_TASK_FD_QUERY, &q), -ENOENT);
	pt_eq(set_bpf(fd, prog), 0);
	q.task_fd_query.buf = pt_addr(name);
	q.task_fd_query.buf_len = sizeof(name);
	pt_eq(pt_bpf(BPF_TASK_FD_QUERY, &q), 0);
	pt_eq(q.task_fd_query.prog_id, pt_prog_id(prog));
	pt_eq(q.task_fd_query.fd_type, BPF_FD_TYPE_KPROBE);
	pt_check(!strcmp(name, GETPPID), "named %s", name);
	attr = getppid_entry();
	fd = pt_open(&attr, 0, -1, -1, 0);
	prog = answers(TP, RUNS, 1);
	pt_eq(set_bpf(fd, prog), 0);
	memset(&q, 0, sizeof(q));
	q.task_fd_query.pid = (u32)getpid();
	q.task_fd_query.fd = (u32)fd;
	q.task_fd_query.buf = pt_addr(name);
	q.task_fd_query.buf_len = sizeof(name);
	pt_eq(pt_bpf(BPF_TASK_FD_QUERY, &q), 0);
	pt_eq(q.task_fd_query.prog_id, pt_prog_id(prog));
	pt_eq(q.task_fd_query.fd_type, BPF_FD_TYPE_TRACEPOINT);
	pt_check(!strcmp(name, "sys_enter_getppid"), "named %s", name);
	/* Programs on samples are not told of. */
	attr = pt_attr(PT_SW(PAGE_FAULTS));
	fd = pt_open(&attr, 0, -1, -1, 0);
	q.task_fd_query.fd = (u32)fd;
	pt_eq(pt_bpf(BPF_TASK_FD_QUERY, &q), -ENOENT);
	pt_eq(set_bpf(fd, answers(BPF_PROG_TYPE_PERF_EVENT, RUNS, 1)), 0);
	pt_eq(pt_bpf(BPF_TASK_FD_QUERY, &q), -EOPNOTSUPP);
}

static void query_refused(void)
{
	struct perf_event_attr attr = kprobe(false), tp = getppid_entry();
	int fd, fd2;
	struct query q;

	start();
	fd = pt_open(&attr, 0, -1, -1, 0);
	fd2 = pt_open(&tp, 0, -1, -1, 0);
	/* It has a trace event, but no number of one. */
	pt_eq(query(fd, &q, 4), -EINVAL);
	pt_eq(query(fd2, &q, 4), 0);
	pt_become_nobody();
	pt_eq(query(fd, &q, 4), -EPERM);
	pt_eq(query(fd2, &q, 4), -EPERM);
}

/* ---- children ---- */

/* A child that ends takes nothing with it. */
static void parent_keeps_its_program(void)
{
	struct perf_event_attr attr = getppid_entry();
	struct pt_heir h;
	int fd;

	start();
	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_return(&code, 1);
	pt_eq(set_bpf(fd, pt_load(TP, &code)), 0);
	call(3);
	pt_eq(w.word[RUNS], 3);
	pt_heir_start(&h, call, 5);
	pt_heir_end(&h);
	pt_eq(w.word[RUNS], 8);
	if (pt_is_stock())
		pt_skip("on Linux 6.12 a child's end takes the program away from its parent");
	pt_eq(nr_programs(fd), 1);
	call(3);
	pt_eq(w.word[RUNS], 11);
	pt_eq(pt_count(fd), 11);
}

/* A filter and a program: the program comes first. */
static void with_a_filter(void)
{
	struct perf_event_attr attr = getppid_entry();
	int fd;

	start();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_bpf(fd, answers(TP, RUNS, 1)), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, pt_addr("common_pid == 0")), 0);
	call(7);
	pt_eq(w.word[RUNS], 7);
	pt_eq(pt_count(fd), 0);
}

/* Where an overflow is more than a sample, the program that ran at the hit is not asked again. */
static void refresh(void)
{
	struct perf_event_attr attr = getppid_entry();
	int fd;

	start();
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_eq(set_bpf(fd, answers(TP, RUNS, 1)), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), 0);
	call(10);
	pt_eq(w.word[RUNS], 10);
	pt_eq(pt_count(fd), 3);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 3);
}

/* The trace event that is no tracepoint, no system call and no probe. */
static void function_takes_none(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("ftrace", "function"));
	static const u32 types[] = { TP, KP };
	unsigned int i;
	int fd, prog;

	start();
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	for (i = 0; i < PT_ARRAY_SIZE(types); i++) {
		pt_b_begin(&code);
		pt_b_return(&code, 1);
		prog = pt_load(types[i], &code);
		pt_eq(set_bpf(fd, prog), -EINVAL);
		close(prog);
	}
	close(fd);
}

static const struct pt_case cases[] = {
	{ "on_a_system_call", on_a_system_call },
	{ "on_a_tracepoint", on_a_tracepoint },
	{ "on_a_kprobe", on_a_kprobe },
	{ "on_a_kretprobe", on_a_kretprobe },
	{ "on_a_uprobe", on_a_uprobe },
	{ "for_every_task", for_every_task },
	{ "several_programs", several_programs },
	{ "too_many_programs", too_many_programs },
	{ "links", links },
	{ "what_fits", what_fits },
	{ "function_takes_none", function_takes_none },
	{ "reads_too_far", reads_too_far },
	{ "that_sleep", that_sleep },
	{ "task_fd_query", task_fd_query },
	{ "query_refused", query_refused },
	{ "parent_keeps_its_program", parent_keeps_its_program },
	{ "with_a_filter", with_a_filter },
	{ "refresh", refresh },
};

PT_MAIN(cases)
