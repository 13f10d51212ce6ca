// SPDX-License-Identifier: GPL-2.0
/*
 * bpf.c - BPF programs that run at each overflow of an event and decide
 * whether there is a sample: how often they run, what they see, what follows
 * from their answer, and who may attach which one when.
 *
 * needs: hw
 */
#include "lib/bpf.h"
#include <signal.h>

enum {
	RUNS,			/* word[]: how often a program ran */
	SEEN,			/* something it saw, */
	SEEN2,			/* and more */
	SEEN3,
	STACK,			/* first of many */
};

#define PE	BPF_PROG_TYPE_PERF_EVENT

static struct pt_words w;
static struct pt_code code;
static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static void start(void)
{
	pt_words_make(&w);
	pt_pin(0);
	pt_settle();
}

static struct perf_event_attr faults(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.disabled = 1;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	return attr;
}

/* An event of the caller, where the case starts; with a buffer */
static int start_open(struct perf_event_attr *attr)
{
	start();
	return pt_open(attr, 0, -1, -1, 0);
}

static int start_mapped(struct perf_event_attr *attr)
{
	int fd = start_open(attr);

	pt_map(&ring, fd, 8);
	return fd;
}

/* Counts its runs and returns a constant. */
static int answers(int32_t verdict)
{
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_return(&code, verdict);
	return pt_load(PE, &code);
}

/* Counts its runs and wants every nth sample. */
static int answers_nth(int32_t n)
{
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_return_nth(&code, n);
	return pt_load(PE, &code);
}

/* Notes the cookie of the event. */
static int notes_cookie(void)
{
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_mov(&code, 1, 6);
	pt_b_call(&code, BPF_FUNC_get_attach_cookie);
	pt_b_put(&code, &w, SEEN, 0);
	pt_b_return(&code, 1);
	return pt_load(PE, &code);
}

static long set_bpf(int event, int prog)
{
	return pt_ioctl(event, PERF_EVENT_IOC_SET_BPF, (unsigned long)prog);
}

static void hit(int fd, unsigned int n)
{
	pt_enable(fd);
	pt_fault(n);
	pt_disable(fd);
}

/* ---- how often, and what follows ---- */

static void runs_at_each_overflow(void)
{
	struct perf_event_attr attr = faults();
	int fd;

	fd = start_mapped(&attr);
	pt_eq(set_bpf(fd, answers(1)), 0);
	hit(fd, 40);
	pt_eq(w.word[RUNS], 40);
	pt_eq(pt_count(fd), 40);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 40);
}

static void zero_is_no_sample(void)
{
	struct perf_event_attr attr = faults();
	struct pt_read r;
	int fd;

	attr.read_format = PERF_FORMAT_LOST;
	fd = start_mapped(&attr);
	pt_eq(set_bpf(fd, answers(0)), 0);
	hit(fd, 40);
	pt_eq(w.word[RUNS], 40);
	pt_read(fd, attr.read_format, 1, &r);
	pt_eq(r.v[0].value, 40);
	pt_eq(r.v[0].lost, 0);
	pt_check(!pt_next(&ring, &rec), "record of type %u", rec.h.type);
}

static void every_third(void)
{
	struct perf_event_attr attr = faults();
	int fd;

	fd = start_mapped(&attr);
	pt_eq(set_bpf(fd, answers_nth(3)), 0);
	hit(fd, 40);
	pt_eq(w.word[RUNS], 40);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 13);
}

static void once_a_period(void)
{
	struct perf_event_attr attr = faults();
	int fd;

	attr.sample_period = 7;
	fd = start_mapped(&attr);
	pt_eq(set_bpf(fd, answers(1)), 0);
	hit(fd, 100);
	pt_eq(w.word[RUNS], 14);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 14);
}

/* Without a buffer there is no sample either way; without a period no overflow. */
static void without_samples(void)
{
	struct perf_event_attr attr = faults();
	int fd;

	fd = start_open(&attr);
	pt_eq(set_bpf(fd, answers(1)), 0);
	hit(fd, 10);
	pt_eq(w.word[RUNS], 10);
	attr.sample_period = 0;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_bpf(fd, answers(1)), 0);
	hit(fd, 10);
	pt_eq(pt_count(fd), 10);
	pt_eq(w.word[RUNS], 10);
}

/* What the program refuses is none of the samples that REFRESH asked for. */
static void refresh_counts_samples(void)
{
	struct perf_event_attr attr = faults();
	int fd;

	fd = start_mapped(&attr);
	pt_eq(set_bpf(fd, answers_nth(2)), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), 0);
	pt_fault(20);
	pt_eq(w.word[RUNS], 6);
	pt_eq(pt_count(fd), 6);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 3);
}

static volatile int signals;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

static void sigtrap_only_if_wanted(void)
{
	struct perf_event_attr attr = faults();
	int fd;

	start();
	signal(SIGTRAP, on_signal);
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.exclude_kernel = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_bpf(fd, answers_nth(4)), 0);
	hit(fd, 20);
	pt_eq(w.word[RUNS], 20);
	pt_eq(signals, 5);
}

static void sigio_only_if_wanted(void)
{
	struct perf_event_attr attr = faults();
	int fd;

	start();
	signal(SIGIO, on_signal);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_need(!fcntl(fd, F_SETOWN, getpid()), "F_SETOWN");
	pt_need(!fcntl(fd, F_SETFL, O_ASYNC), "O_ASYNC");
	pt_eq(set_bpf(fd, answers(0)), 0);
	hit(fd, 20);
	pt_eq(w.word[RUNS], 20);
	pt_eq(signals, 0);
}

/* ---- other sources ---- */

static void run_source(struct perf_event_attr *attr, void (*work)(void))
{
	u64 runs;
	int fd;

	start();
	attr->disabled = 1;
	attr->sample_type = PERF_SAMPLE_TID;
	fd = pt_try_open(attr, 0, -1, -1, 0);
	if (fd < 0)
		pt_skip("no such event: %s", strerror(-fd));
	pt_map(&ring, fd, 128);
	pt_eq(set_bpf(fd, answers_nth(2)), 0);
	pt_enable(fd);
	work();
	pt_disable(fd);
	runs = w.word[RUNS];
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), runs / 2);
}

static void burn(void)
{
	while (w.word[RUNS] < 8)
		pt_spin(10000);
}

static void on_cpu_clock(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));

	attr.sample_period = 1000000;
	run_source(&attr, burn);
}

static void on_task_clock(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(TASK_CLOCK));

	attr.sample_period = 1000000;
	run_source(&attr, burn);
}

static volatile u64 watched;

static void write_watched(void)
{
	int i;

	for (i = 0; i < 30; i++)
		watched = (u64)i;
}

static void on_breakpoint(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_BREAKPOINT, 0);

	attr.sample_period = 1;
	attr.bp_type = 2;	/* write */
	attr.bp_addr = pt_addr((const void *)&watched);
	attr.bp_len = 8;
	run_source(&attr, write_watched);
	pt_eq(w.word[RUNS], 30);
}

static void spin(void)
{
	while (w.word[RUNS] < 8)
		pt_spin(100000);
}

static void on_hardware(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));

	attr.sample_period = 50000;
	attr.exclude_kernel = 1;
	run_source(&attr, spin);
}

/* A CPU's event: the program runs for whoever is there. */
static void on_cpu_event(void)
{
	struct perf_event_attr attr = faults();
	u64 count;
	int fd;

	start();
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(set_bpf(fd, answers(0)), 0);
	hit(fd, 40);
	count = pt_count(fd);
	pt_check(count >= 40, "%llu faults", (unsigned long long)count);
	pt_eq(w.word[RUNS], count);
}

/* ---- what it sees ---- */

static void sees_period_and_address(void)
{
	struct perf_event_attr attr = faults();
	u8 *p;
	int fd;

	attr.sample_type = PERF_SAMPLE_ADDR;
	attr.sample_period = 5;
	fd = start_open(&attr);
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_load(&code, 2, 6, offsetof(struct bpf_perf_event_data, sample_period));
	pt_b_put(&code, &w, SEEN, 2);
	pt_b_load(&code, 2, 6, offsetof(struct bpf_perf_event_data, addr));
	pt_b_put(&code, &w, SEEN2, 2);
#if defined(__x86_64__)
	pt_b_load(&code, 2, 6, 16 * 8);		/* ip */
#else
	pt_b_load(&code, 2, 6, 32 * 8);		/* pc */
#endif
	pt_b_put(&code, &w, SEEN3, 2);
	pt_b_return(&code, 0);
	pt_eq(set_bpf(fd, pt_load(PE, &code)), 0);
	p = pt_fresh_pages(5);
	pt_enable(fd);
	pt_touch(p, 5);
	pt_disable(fd);
	pt_eq(w.word[RUNS], 1);
	pt_eq(w.word[SEEN], 5);
	pt_eq(w.word[SEEN2], pt_addr(p + 4 * pt_page_size()));
	pt_eq(w.word[SEEN3], pt_addr(pt_store_insn));
}

static void reads_its_own_count(void)
{
	struct perf_event_attr attr = faults();
	int fd;

	fd = start_open(&attr);
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_mov(&code, 1, 6);
	pt_b_mov(&code, 2, 10);
	pt_b_add(&code, 2, -24);
	pt_b_set(&code, 3, sizeof(struct bpf_perf_event_value));
	pt_b_call(&code, BPF_FUNC_perf_prog_read_value);
	pt_b_put(&code, &w, SEEN, 0);
	pt_b_load(&code, 2, 10, -24);
	pt_b_put(&code, &w, SEEN2, 2);
	pt_b_load(&code, 2, 10, -8);
	pt_b_load(&code, 3, 10, -16);
	pt_b(&code, BPF_ALU64 | BPF_SUB | BPF_X, 2, 3, 0, 0);
	pt_b_put(&code, &w, SEEN3, 2);
	pt_b_return(&code, 0);
	pt_eq(set_bpf(fd, pt_load(PE, &code)), 0);
	hit(fd, 25);
	pt_eq(w.word[SEEN], 0);
	pt_eq(w.word[SEEN2], 25);
	/* It ran whenever it was enabled. */
	pt_eq(w.word[SEEN3], 0);
	/* A value of another size is refused. */
	pt_b_begin(&code);
	pt_b_mov(&code, 1, 6);
	pt_b_mov(&code, 2, 10);
	pt_b_add(&code, 2, -24);
	pt_b_set(&code, 3, 16);
	pt_b_call(&code, BPF_FUNC_perf_prog_read_value);
	pt_b_put(&code, &w, SEEN, 0);
	pt_b_return(&code, 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_bpf(fd, pt_load(PE, &code)), 0);
	hit(fd, 1);
	pt_eq(w.word[SEEN], -EINVAL);
}

static void reads_no_branches(void)
{
	struct perf_event_attr attr = faults();
	int fd;

	fd = start_open(&attr);
	pt_b_begin(&code);
	pt_b_mov(&code, 1, 6);
	pt_b_set(&code, 2, 0);
	pt_b_set(&code, 3, 0);
	pt_b_set(&code, 4, BPF_F_GET_BRANCH_RECORDS_SIZE);
	pt_b_call(&code, BPF_FUNC_read_branch_records);
	pt_b_put(&code, &w, SEEN, 0);
	pt_b_return(&code, 0);
	pt_eq(set_bpf(fd, pt_load(PE, &code)), 0);
	hit(fd, 1);
	pt_eq(w.word[SEEN], -ENOENT);
}

/* Where no driver can: see x86_lbr.c. */
static void snapshots_no_branches(void)
{
	if (pt_path_exists("/sys/bus/event_source/devices/cpu/caps/branches"))
		pt_skip("the PMU has branch records");
	start();
	pt_b_begin(&code);
	pt_b_word(&code, 1, &w, STACK);
	pt_b_set(&code, 2, sizeof(struct perf_branch_entry));
	pt_b_set(&code, 3, 0);
	pt_b_call(&code, BPF_FUNC_get_branch_snapshot);
	pt_b_put(&code, &w, SEEN, 0);
	pt_b_return(&code, 0);
	pt_run_prog(pt_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code));
	pt_eq(w.word[SEEN], -ENOENT);
}

/*
 * bpf_get_stack() of the user's side. Taken from the chain of the sample it
 * has that one's first entry too, which tells whose side follows.
 */
static void sees_user_stack(void)
{
	int chain;

	start();
	for (chain = 0; chain < 2; chain++) {
		struct perf_event_attr attr = faults();
		u8 *p;
		int fd;

		if (chain)
			attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_b_begin(&code);
		pt_b_mov(&code, 1, 6);
		pt_b_word(&code, 2, &w, STACK);
		pt_b_set(&code, 3, 128);
		pt_b_set(&code, 4, BPF_F_USER_STACK);
		pt_b_call(&code, BPF_FUNC_get_stack);
		pt_b_put(&code, &w, SEEN, 0);
		pt_b_return(&code, 1);
		pt_eq(set_bpf(fd, pt_load(PE, &code)), 0);
		p = pt_fresh_pages(1);
		w.word[SEEN] = 0;
		w.word[STACK] = 0;
		w.word[STACK + 1] = 0;
		w.word[STACK + 2] = 0;
		pt_enable(fd);
		pt_chain_outer(p);
		pt_disable(fd);
		pt_check((s64)w.word[SEEN] >= 16, "stack of %lld bytes", (long long)w.word[SEEN]);
		if (chain)
			pt_eq(w.word[STACK], PERF_CONTEXT_USER);
		pt_eq(w.word[STACK + chain], pt_addr(pt_chain_insn));
		pt_eq(w.word[STACK + chain + 1], pt_addr(pt_chain_return));
	}
}

static void stack_in_a_map(void)
{
	struct perf_event_attr attr = faults();
	u64 ips[127] = { 0 };
	int fd, map;
	u8 *p;

	start();
	map = pt_bpf_map(BPF_MAP_TYPE_STACK_TRACE, 4, sizeof(ips), 16, 0);
	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_b_begin(&code);
	pt_b_mov(&code, 1, 6);
	pt_b_map(&code, 2, map);
	pt_b_set(&code, 3, BPF_F_USER_STACK);
	pt_b_call(&code, BPF_FUNC_get_stackid);
	pt_b_put(&code, &w, SEEN, 0);
	pt_b_return(&code, 1);
	pt_eq(set_bpf(fd, pt_load(PE, &code)), 0);
	p = pt_fresh_pages(1);
	pt_enable(fd);
	pt_chain_outer(p);
	pt_disable(fd);
	pt_need((s64)w.word[SEEN] >= 0, "stack id %lld", (long long)w.word[SEEN]);
	pt_eq(pt_bpf_get(map, (u32)w.word[SEEN], ips), 0);
	pt_eq(ips[0], PERF_CONTEXT_USER);
	pt_eq(ips[1], pt_addr(pt_chain_insn));
	pt_eq(ips[2], pt_addr(pt_chain_return));
	/* The sample has the chain too, whole. */
	pt_need(pt_next(&ring, &rec), "no sample");
	pt_parse_sample(&attr, &rec, &s);
	pt_check(s.nr_ips >= 3, "chain of %llu", (unsigned long long)s.nr_ips);
}

/* ---- links ---- */

static void cookies(void)
{
	struct perf_event_attr attr = faults();
	int prog, a, b, one, two;

	start();
	prog = notes_cookie();
	a = pt_open(&attr, 0, -1, -1, 0);
	b = pt_open(&attr, 0, -1, -1, 0);
	one = pt_link(prog, a, 0x1122334455667788ull);
	two = pt_link(prog, b, 7);
	pt_check(one >= 0 && two >= 0, "links: %d, %d", one, two);
	hit(a, 1);
	pt_eq(w.word[SEEN], 0x1122334455667788ull);
	hit(b, 1);
	pt_eq(w.word[SEEN], 7);
	/* Another link on the same event, another cookie. */
	close(one);
	one = pt_link(prog, a, 9);
	pt_check(one >= 0, "second link: %d", one);
	hit(a, 1);
	pt_eq(w.word[SEEN], 9);
	/* ioctl() has none to give. */
	close(one);
	pt_eq(set_bpf(a, prog), 0);
	hit(a, 1);
	pt_eq(w.word[SEEN], 0);
}

static void link_ends_with_its_file(void)
{
	struct perf_event_attr attr = faults();
	int fd, link;

	fd = start_mapped(&attr);
	link = pt_link(answers(0), fd, 0);
	pt_check(link >= 0, "link: %d", link);
	hit(fd, 10);
	pt_eq(w.word[RUNS], 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	close(link);
	hit(fd, 10);
	pt_eq(w.word[RUNS], 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 10);
}

/* The link keeps the event, and a program keeps running that nobody else holds. */
static void link_outlives_the_fd(void)
{
	struct perf_event_attr attr = faults();
	int fd, prog, link;

	attr.disabled = 0;
	fd = start_open(&attr);
	prog = answers(1);
	link = pt_link(prog, fd, 0);
	pt_check(link >= 0, "link: %d", link);
	close(fd);
	close(prog);
	w.word[RUNS] = 0;
	pt_fault(10);
	pt_eq(w.word[RUNS], 10);
	close(link);
	pt_fault(10);
	pt_eq(w.word[RUNS], 10);
}

static void ioctl_keeps_the_program(void)
{
	struct perf_event_attr attr = faults();
	int fd, prog;

	fd = start_open(&attr);
	prog = answers(1);
	pt_eq(set_bpf(fd, prog), 0);
	close(prog);
	hit(fd, 10);
	pt_eq(w.word[RUNS], 10);
	pt_enable(fd);
	close(fd);
	pt_fault(10);
	pt_eq(w.word[RUNS], 10);
}

static long link_cmd(int cmd, int link, int prog)
{
	union bpf_attr attr = { 0 };

	if (cmd == BPF_LINK_UPDATE) {
		attr.link_update.link_fd = (u32)link;
		attr.link_update.new_prog_fd = (u32)prog;
	} else {
		attr.link_detach.link_fd = (u32)link;
	}
	return pt_bpf(cmd, &attr);
}

static void one_program_at_a_time(void)
{
	struct perf_event_attr attr = faults();
	int fd, prog, other, link;

	fd = start_open(&attr);
	prog = answers(1);
	other = answers(0);
	link = pt_link(prog, fd, 0);
	pt_check(link >= 0, "link: %d", link);
	pt_eq(set_bpf(fd, other), -EEXIST);
	pt_eq(set_bpf(fd, prog), -EEXIST);
	pt_eq(pt_link(other, fd, 0), -EEXIST);
	pt_eq(link_cmd(BPF_LINK_UPDATE, link, other), -EINVAL);
	pt_eq(link_cmd(BPF_LINK_DETACH, link, 0), -EOPNOTSUPP);
	close(link);
	pt_eq(set_bpf(fd, other), 0);
	pt_eq(set_bpf(fd, prog), -EEXIST);
	pt_eq(pt_link(prog, fd, 0), -EEXIST);
	hit(fd, 3);
	pt_eq(w.word[RUNS], 3);
}

/* ---- who may attach what ---- */

static void refused(void)
{
	static const u32 others[] = {
		BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_TRACEPOINT, BPF_PROG_TYPE_RAW_TRACEPOINT,
		BPF_PROG_TYPE_SOCKET_FILTER,
	};
	struct perf_event_attr attr = faults();
	union bpf_attr create = { 0 };
	int fd, prog;
	unsigned int i;

	start();
	prog = answers(1);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_b_begin(&code);
	pt_b_return(&code, 0);
	for (i = 0; i < PT_ARRAY_SIZE(others); i++) {
		int other = pt_load(others[i], &code);

		pt_eq(set_bpf(fd, other), -EINVAL);
		pt_eq(pt_link(other, fd, 0), -EINVAL);
		close(other);
	}
	pt_eq(set_bpf(fd, -1), -EBADF);
	pt_eq(set_bpf(fd, fd), -EINVAL);
	pt_eq(set_bpf(fd, w.fd), -EINVAL);
	pt_eq(pt_link(prog, -1, 0), -EBADF);
	pt_eq(pt_link(prog, prog, 0), -EBADF);
	create.link_create.prog_fd = (u32)prog;
	create.link_create.target_fd = (u32)fd;
	create.link_create.attach_type = BPF_PERF_EVENT;
	create.link_create.flags = 1;
	pt_eq(pt_bpf(BPF_LINK_CREATE, &create), -EINVAL);
	/* A program of another type, where there is one: that comes first. */
	pt_eq(set_bpf(fd, prog), 0);
	pt_eq(set_bpf(fd, pt_load(BPF_PROG_TYPE_KPROBE, &code)), -EEXIST);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, (unsigned long)&create), -EINVAL);
}

/* With precise_ip a program that walks stacks needs the whole chain in the sample. */
static void precise_and_stacks(void)
{
	struct perf_event_attr attr = faults();
	int fd, walks, plain;
	struct {
		u64 type;
		bool no_kernel, no_user;
		int want;
	} cases[] = {
		{ PERF_SAMPLE_TID, false, false, -EPROTO },
		{ PERF_SAMPLE_CALLCHAIN, true, false, -EPROTO },
		{ PERF_SAMPLE_CALLCHAIN, false, true, -EPROTO },
		{ PERF_SAMPLE_CALLCHAIN, false, false, 0 },
	};
	unsigned int i;

	start();
	plain = answers(1);
	pt_b_begin(&code);
	pt_b_mov(&code, 1, 6);
	pt_b_word(&code, 2, &w, STACK);
	pt_b_set(&code, 3, 128);
	pt_b_set(&code, 4, 0);
	pt_b_call(&code, BPF_FUNC_get_stack);
	pt_b_return(&code, 1);
	walks = pt_load(PE, &code);
	for (i = 0; i < PT_ARRAY_SIZE(cases); i++) {
		attr.sample_type = cases[i].type;
		attr.exclude_callchain_kernel = cases[i].no_kernel;
		attr.exclude_callchain_user = cases[i].no_user;
		attr.precise_ip = 0;
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(set_bpf(fd, walks), 0);
		attr.precise_ip = 1;
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(set_bpf(fd, walks), cases[i].want);
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(set_bpf(fd, plain), 0);
	}
}

/* An ordinary user cannot load programs, but may use one that was given to him. */
static void ordinary_user(void)
{
	struct perf_event_attr attr = faults();
	int fd, prog;

	start();
	prog = answers(1);
	pt_sysctl_set("perf_event_paranoid", 2);
	pt_become_nobody();
	pt_eq(pt_try_load(PE, &code, 0), -EPERM);
	attr.exclude_kernel = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_bpf(fd, prog), 0);
	hit(fd, 5);
	pt_eq(w.word[RUNS], 5);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, 0), -EPERM);
	/* A link is bpf(2) again. */
	close(fd);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_check(pt_link(prog, fd, 0) == -EPERM || pt_sysctl_get("unprivileged_bpf_disabled") == 0,
		 "a link by an ordinary user");
}

/* ---- children ---- */

static void fault_in_child(void *arg)
{
	pt_settle();
	pt_fault((unsigned int)(uintptr_t)arg);
}

static void children_run_it(void)
{
	struct perf_event_attr attr = faults();
	u64 count;
	int fd, i;

	attr.inherit = 1;
	fd = start_open(&attr);
	pt_eq(set_bpf(fd, answers(0)), 0);
	pt_enable(fd);
	for (i = 0; i < 3; i++)
		pt_reap(pt_fork(fault_in_child, (void *)100));
	pt_disable(fd);
	count = pt_count(fd);
	pt_check(count >= 300, "%llu faults", (unsigned long long)count);
	pt_eq(w.word[RUNS], count);
}

static void fault_and_look(unsigned int n)
{
	pt_settle();
	pt_fault(n);
	w.word[SEEN2] = w.word[SEEN];
}

static void children_have_the_cookie(void)
{
	struct perf_event_attr attr = faults();
	struct pt_heir h;
	int fd, link;

	attr.inherit = 1;
	fd = start_open(&attr);
	link = pt_link(notes_cookie(), fd, 77);
	pt_check(link >= 0, "link: %d", link);
	pt_enable(fd);
	w.word[SEEN2] = 1234;
	pt_heir_start(&h, fault_and_look, 10);
	pt_heir_end(&h);
	if (pt_is_stock())
		pt_skip("inherited events have no cookie on Linux 6.12");
	pt_eq(w.word[SEEN2], 77);
}

/* ---- and back into a buffer ---- */

static void writes_records(void)
{
	struct perf_event_attr attr = faults(), out = pt_attr(PT_SW(BPF_OUTPUT));
	int fd, sink, map, i;
	u64 v;

	start();
	out.sample_type = PERF_SAMPLE_RAW;
	out.sample_period = 1;
	sink = pt_open(&out, -1, 0, -1, 0);
	pt_map(&ring, sink, 8);
	map = pt_bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 4, 0);
	pt_eq(pt_bpf_put(map, 0, &sink), 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_store(&code, 10, -8, 7);
	pt_b_output(&code, map);
	pt_b_put(&code, &w, SEEN, 0);
	pt_b_return(&code, 0);
	pt_eq(set_bpf(fd, pt_load(PE, &code)), 0);
	hit(fd, 20);
	pt_eq(w.word[SEEN], 0);
	for (i = 1; i <= 20; i++) {
		pt_need(pt_next(&ring, &rec), "no record");
		pt_parse_sample(&out, &rec, &s);
		memcpy(&v, s.raw, 8);
		pt_eq(v, i);
	}
	pt_check(!pt_next(&ring, &rec), "a record too many");
}

static const struct pt_case cases[] = {
	{ "runs_at_each_overflow", runs_at_each_overflow },
	{ "zero_is_no_sample", zero_is_no_sample },
	{ "every_third", every_third },
	{ "once_a_period", once_a_period },
	{ "without_samples", without_samples },
	{ "refresh_counts_samples", refresh_counts_samples },
	{ "sigtrap_only_if_wanted", sigtrap_only_if_wanted },
	{ "sigio_only_if_wanted", sigio_only_if_wanted },
	{ "on_cpu_clock", on_cpu_clock },
	{ "on_task_clock", on_task_clock },
	{ "on_breakpoint", on_breakpoint },
	{ "on_hardware", on_hardware },
	{ "on_cpu_event", on_cpu_event },
	{ "sees_period_and_address", sees_period_and_address },
	{ "reads_its_own_count", reads_its_own_count },
	{ "reads_no_branches", reads_no_branches },
	{ "snapshots_no_branches", snapshots_no_branches },
	{ "sees_user_stack", sees_user_stack },
	{ "stack_in_a_map", stack_in_a_map },
	{ "cookies", cookies },
	{ "link_ends_with_its_file", link_ends_with_its_file },
	{ "link_outlives_the_fd", link_outlives_the_fd },
	{ "ioctl_keeps_the_program", ioctl_keeps_the_program },
	{ "one_program_at_a_time", one_program_at_a_time },
	{ "refused", refused },
	{ "precise_and_stacks", precise_and_stacks },
	{ "ordinary_user", ordinary_user },
	{ "children_run_it", children_run_it },
	{ "children_have_the_cookie", children_have_the_cookie },
	{ "writes_records", writes_records },
};

PT_MAIN(cases)
