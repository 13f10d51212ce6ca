// SPDX-License-Identifier: GPL-2.0
/*
 * bpf.c - BPF programs that run at each overflow of an event and decide
 * whether there is a sample: how often they run, what they see, and what
 * follows from their answer.
 *
 * needs: hw skid
 */
#include "lib/bpf_overflow.h"
#include <signal.h>

static struct pt_record rec;
static struct pt_sample s;

/* Counts its runs and wants every nth sample. */
static int answers_nth(int32_t n)
{
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_return_nth(&code, n);
	return pt_load(PE, &code);
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

/* A sample without an address has 0 there, whatever its driver has left in its place. */
static void sees_no_address(void)
{
	struct perf_event_attr attr;
	int fd;

	if (pt_is_stock())
		pt_skip("Linux 6.12 may show what its driver has left there");
	start();
	pt_load_module("test_count", NULL);
	attr = pt_attr((u32)pt_pmu_type("test_count"), 0);
	attr.sample_period = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_load(&code, 2, 6, offsetof(struct bpf_perf_event_data, addr));
	pt_b_put(&code, &w, SEEN, 2);
	pt_b_return(&code, 0);
	pt_eq(set_bpf(fd, pt_load(PE, &code)), 0);
	w.word[SEEN] = 1;
	pt_eq(pt_module_set("test_count", "hit", 1), 0);
	pt_eq(w.word[RUNS], 1);
	pt_eq(w.word[SEEN], 0);
	close(fd);
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

#define CONTEXTS	"/proc/sys/kernel/perf_event_max_contexts_per_stack"

static void stack_in_a_map(void)
{
	struct perf_event_attr attr = faults();
	u64 ips[127] = { 0 };
	int fd, map, prog;
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
	prog = pt_load(PE, &code);
	pt_eq(set_bpf(fd, prog), 0);
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
	/* A worker frees the map: until then nobody can set what chains may have. */
	pt_unmap(&ring);
	close(fd);
	close(prog);
	close(map);
	while (pt_write_file(CONTEXTS, "8\n") == -EBUSY)
		pt_switch_out();
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
	{ "sees_no_address", sees_no_address },
	{ "reads_its_own_count", reads_its_own_count },
	{ "reads_no_branches", reads_no_branches },
	{ "snapshots_no_branches", snapshots_no_branches },
	{ "sees_user_stack", sees_user_stack },
	{ "stack_in_a_map", stack_in_a_map },
	{ "writes_records", writes_records },
};

PT_MAIN(cases)
