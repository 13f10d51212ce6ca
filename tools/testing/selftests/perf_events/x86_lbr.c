// SPDX-License-Identifier: GPL-2.0
/*
 * x86_lbr.c - last branch records of Intel CPUs: a loop of calls, returns and jumps whose branches
 * are known one by one. A branch stack must be the branches before the sampled instruction, the
 * newest first, without a gap; with a filter, those of them that pass.
 *
 * Interrupts and switches to other tasks empty the records or leave other branches in them, which
 * the filter drops. So a stack may be shorter than the records, as often as these happened.
 *
 * needs: hw arch-lbr
 */
#include "lib/bpf.h"
#include "lib/x86.h"
#include "lib/x86_code.h"

#define RECORDS		32
#define TURNS		20000
#define PER_TURN	14		/* instructions */

/* In the order in which they are done; how many instructions since the one before. */
static const struct branch {
	const char *from, *to;
	u64 kinds;
	unsigned int type, cycles;
} branches[] = {
	{ lbr_turn, lbr_f, PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_CALL, PERF_BR_CALL, 1 },
	{ lbr_f, lbr_g, PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_CALL, PERF_BR_CALL, 1 },
	{ lbr_g_ret, lbr_g_back, PERF_SAMPLE_BRANCH_ANY_RETURN, PERF_BR_RET, 2 },
	{ lbr_g_back, lbr_j, 0, PERF_BR_UNCOND, 1 },
	{ lbr_ijmp, lbr_k, PERF_SAMPLE_BRANCH_IND_JUMP, PERF_BR_IND, 2 },
	{ lbr_icall, lbr_h, PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_IND_CALL,
	  PERF_BR_IND_CALL, 2 },
	{ lbr_h_ret, lbr_h_back, PERF_SAMPLE_BRANCH_ANY_RETURN, PERF_BR_RET, 2 },
	{ lbr_h_back, lbr_f_back, PERF_SAMPLE_BRANCH_ANY_RETURN, PERF_BR_RET, 1 },
	{ lbr_jnz, lbr_turn, PERF_SAMPLE_BRANCH_COND, PERF_BR_COND, 2 },
};

#define BRANCHES	((int)PT_ARRAY_SIZE(branches))

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;
static bool exact;

static struct perf_event_attr sampler(u64 branch_type)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));

	attr.sample_period = 1009;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = branch_type | PERF_SAMPLE_BRANCH_USER;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

static void need_records(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY);
	char name[64] = "";

	if (!pt_path_exists("/sys/bus/event_source/devices/cpu/caps/branches"))
		pt_skip("no branch records");
	pt_slurp("/sys/bus/event_source/devices/cpu/caps/pmu_name", name, sizeof(name));
	if (!*name || pt_probe(&attr))
		pt_skip("no branch records of an Intel CPU");
	if (pt_read_number("/sys/bus/event_source/devices/cpu/caps/branches", 0) != RECORDS)
		pt_skip("not %d branch records", RECORDS);
	exact = pt_time_is_exact();
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
}

/* The branch before the instruction at @ip, -1 if that is not in the loop. */
static int newest(u64 ip)
{
	int i;

	/* Every block begins with the target of a branch, and has at most two instructions. */
	for (i = 0; i < BRANCHES; i++) {
		u64 end = pt_addr(branches[(i + 1) % BRANCHES].from);

		if (ip >= pt_addr(branches[i].to) && ip <= end)
			return i;
	}
	return -1;
}

/* All interrupts but the PMU's. */
static u64 interruptions(void)
{
	static char text[65536];
	char *line, *rest = text;
	u64 sum = 0;

	pt_need(pt_slurp("/proc/interrupts", text, sizeof(text)), "no /proc/interrupts");
	while ((line = strsep(&rest, "\n"))) {
		char *at = strchr(line, ':');

		if (!at || strstr(line, "NMI:") || strstr(line, "PMI:"))
			continue;
		for (at++; *at == ' ' || (*at >= '0' && *at <= '9');) {
			sum += strtoull(at, &at, 10);
			if (*at && *at != ' ')
				break;
			while (*at == ' ')
				at++;
		}
	}
	return sum;
}

/* Does the filter let it pass? */
static bool passes(int i, u64 branch_type)
{
	return branch_type & PERF_SAMPLE_BRANCH_ANY || branches[i].kinds & branch_type;
}

static void check_entry(const struct perf_branch_entry *e, const struct branch *b, u64 branch_type)
{
	pt_eq(e->from, pt_addr(b->from));
	pt_eq(e->to, pt_addr(b->to));
	pt_eq(e->in_tx, 0);
	pt_eq(e->abort, 0);
	if (branch_type & PERF_SAMPLE_BRANCH_TYPE_SAVE)
		pt_eq(e->type, b->type);
	if (branch_type & PERF_SAMPLE_BRANCH_NO_FLAGS)
		pt_eq(e->predicted | e->mispred, 0);
	else
		pt_eq(e->predicted + e->mispred, 1);
	/* On the emulator a branch is counted with all instructions since the one before. */
	if (branch_type & PERF_SAMPLE_BRANCH_NO_CYCLES)
		pt_eq(e->cycles, 0);
	else if (branch_type & PERF_SAMPLE_BRANCH_ANY && exact)
		pt_eq(e->cycles, b->cycles);
}

/* Returns how many entries are missing at the end. */
static unsigned int check_stack(u64 branch_type)
{
	int at = newest(s.ip);
	u64 i;

	for (i = 0; i < s.nr_branches; i++) {
		while (!passes(at, branch_type))
			at = (at + BRANCHES - 1) % BRANCHES;
		check_entry(&s.branches[i], &branches[at], branch_type);
		if (pt_failures() > 10)
			pt_end_case();
		at = (at + BRANCHES - 1) % BRANCHES;
	}
	pt_check(s.nr_branches <= RECORDS, "%llu branches", (unsigned long long)s.nr_branches);
	return RECORDS - (unsigned int)s.nr_branches;
}

static void run(struct perf_event_attr *attr)
{
	int fd = pt_open(attr, 0, -1, -1, 0);

	pt_map(&ring, fd, 512);
	pt_enable(fd);
	lbr_run(TURNS);
	pt_disable(fd);
	close(fd);
}

static void check_all(u64 branch_type)
{
	struct perf_event_attr attr = sampler(branch_type), sw = pt_attr(PT_SW(CONTEXT_SWITCHES));
	unsigned int n = 0, incomplete = 0;
	int fd = pt_open(&sw, 0, -1, -1, 0);
	u64 disturbed = interruptions();

	run(&attr);
	disturbed = interruptions() - disturbed + pt_count(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		/* The first is before the records are full with some filters. */
		if (newest(s.ip) < 0 || !n++)
			continue;
		incomplete += !!check_stack(branch_type);
	}
	pt_check(n >= TURNS * PER_TURN / 1009 - 2, "%u samples", n);
	pt_check(incomplete <= disturbed, "%u stacks of %u are short, %llu interruptions",
		 incomplete, n, (unsigned long long)disturbed);
	pt_unmap(&ring);
}

static void all_branches(void)
{
	need_records();
	check_all(PERF_SAMPLE_BRANCH_ANY);
}

static void filtered_branches(void)
{
	need_records();
	check_all(PERF_SAMPLE_BRANCH_ANY_CALL);
	check_all(PERF_SAMPLE_BRANCH_ANY_RETURN);
	check_all(PERF_SAMPLE_BRANCH_CALL);
	check_all(PERF_SAMPLE_BRANCH_IND_CALL);
	check_all(PERF_SAMPLE_BRANCH_IND_JUMP);
	check_all(PERF_SAMPLE_BRANCH_COND);
	check_all(PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_IND_CALL);
}

static void types(void)
{
	need_records();
	check_all(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE);
	check_all(PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_TYPE_SAVE);
}

/* Without flags and cycles the information words are not read; only records in rings do that. */
static void without_flags(void)
{
	char text[32768];

	need_records();
	if (pt_slurp("/proc/cpuinfo", text, sizeof(text)) && strstr(text, "arch_lbr"))
		pt_skip("architectural records always have flags");
	check_all(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_FLAGS |
		  PERF_SAMPLE_BRANCH_NO_CYCLES);
}

/* Branches of the kernel are somebody else's. */
static void only_the_kernels(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY);
	unsigned int n = 0;
	u64 i, none = 0;
	int fd, turn;

	need_records();
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL;
	/* much longer than what the interrupt itself takes */
	attr.sample_period = 200003;
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 512);
	pt_enable(fd);
	for (turn = 0; turn < 20000; turn++)
		syscall(SYS_getppid);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		n++;
		none += !s.nr_branches;
		for (i = 0; i < s.nr_branches; i++)
			pt_check(s.branches[i].to >> 63, "a branch to %llx",
				 (unsigned long long)s.branches[i].to);
	}
	pt_check(n > 10, "%u samples", n);
	pt_eq(none, 0);
	pt_unmap(&ring);
	close(fd);
}

static bool in_loop(u64 ip)
{
	return newest(ip) >= 0;
}

/*
 * Records of a precise event wait in the buffer, with branches of their own. They become samples
 * when the group is throttled, in the middle of the sample of the one that was too frequent.
 */
static void beside_records(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY), precise = attr;
	unsigned int n = 0, turn;
	int fd, fd2;

	need_records();
	/* What lets it go on again begins to count cycles anew, between two branches. */
	exact = false;
	pt_pin(0);
	pt_sysctl_set("perf_cpu_time_max_percent", 25);
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	precise.precise_ip = 2;
	precise.sample_period = 2003;
	precise.disabled = 0;
	fd = pt_open(&attr, 0, -1, -1, 0);
	fd2 = pt_try_open(&precise, 0, -1, fd, 0);
	if (fd2 < 0)
		pt_skip("no precise events");
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	for (turn = 0; n < 20; turn++) {
		pt_need(turn < 10000, "%u samples", n);
		lbr_run(TURNS);
		while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
			pt_parse_sample(&attr, &rec, &s);
			/* Not at the start, where there are branches from before. */
			if (!s.nr_branches || !in_loop(s.ip) ||
			    !in_loop(s.branches[s.nr_branches - 1].from))
				continue;
			check_stack(PERF_SAMPLE_BRANCH_ANY);
			n++;
		}
		pt_consume(&ring);
	}
	pt_unmap(&ring);
	close(fd2);
	close(fd);
}

/* ---- call stacks ---- */

/* Frames of the loop that are open at @ip; outermost last. */
static int frames(u64 ip, const char *from[2])
{
	int at = newest(ip), n = 0;

	if (at < 0)
		return -1;
	if (branches[at].to == lbr_g)
		from[n++] = lbr_f;
	if (branches[at].to == lbr_h)
		from[n++] = lbr_icall;
	if (branches[at].to != lbr_f_back && branches[at].to != lbr_turn)
		from[n++] = lbr_turn;
	return n;
}

static void call_stacks(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_CALL_STACK);
	u64 caller = 0;
	unsigned int n = 0;
	int i, open;

	need_records();
	if (pt_probe(&attr) == -EOPNOTSUPP)
		pt_skip("records that keep no call stack");
	run(&attr);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		const char *from[2];

		pt_parse_sample(&attr, &rec, &s);
		open = frames(s.ip, from);
		if (open < 0)
			continue;
		n++;
		pt_need((int)s.nr_branches > open, "%llu frames at %llx, %d of the loop",
			(unsigned long long)s.nr_branches, (unsigned long long)s.ip, open);
		for (i = 0; i < open; i++)
			pt_eq(s.branches[i].from, pt_addr(from[i]));
		if (!caller)
			caller = s.branches[open].from;
		pt_eq(s.branches[open].from, caller);
		pt_eq(s.branches[open].to, pt_addr(lbr_turn));
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_check(n >= TURNS * PER_TURN / 1009 - 2, "%u samples", n);
	pt_unmap(&ring);
}

/* ---- a program asks ---- */

#define SEEN	0
#define STACK	1

/* bpf_get_branch_snapshot(): what led to the call, of what the events want. */
static void snapshot(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY);
	struct perf_event_attr sw = pt_attr(PT_SW(CONTEXT_SWITCHES));
	const struct perf_branch_entry *e;
	static struct pt_code code;
	int fd, sw_fd, prog, at = BRANCHES - 2;
	unsigned int i, n;
	struct pt_words w;

	need_records();
	pt_words_make(&w);
	pt_b_begin(&code);
	pt_b_word(&code, 1, &w, STACK);
	pt_b_set(&code, 2, RECORDS * sizeof(*e));
	pt_b_set(&code, 3, 0);
	pt_b_call(&code, BPF_FUNC_get_branch_snapshot);
	pt_b_put(&code, &w, SEEN, 0);
	pt_b_return(&code, 0);
	prog = pt_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code);

	attr.sample_period = 1ull << 40;
	fd = pt_open(&attr, 0, -1, -1, 0);
	sw_fd = pt_open(&sw, 0, -1, -1, 0);
	pt_enable(fd);
	lbr_run(TURNS);
	pt_run_prog(prog);
	pt_disable(fd);

	n = (unsigned int)w.word[SEEN] / sizeof(*e);
	pt_eq(w.word[SEEN], n * sizeof(*e));
	/* A switch empties the records. */
	if (!pt_count(sw_fd))
		pt_eq(n, RECORDS);
	e = (const struct perf_branch_entry *)&w.word[STACK];
	/* The way from the loop to the program comes first, as far as it is in user space. */
	for (i = 0; i < n && e[i].from != pt_addr(branches[at].from); i++)
		;
	pt_check(i < RECORDS / 2, "%u branches after the loop", i);
	for (; i < n; i++) {
		check_entry(&e[i], &branches[at], PERF_SAMPLE_BRANCH_ANY);
		at = (at + BRANCHES - 1) % BRANCHES;
	}
}

/* ---- counters logged with branches ---- */

#define CPU_CAPS	"/sys/bus/event_source/devices/cpu/caps/"

static void need_counters(void)
{
	need_records();
	if (!exact)
		pt_skip("this machine does not count instructions exactly");
	if (!pt_path_exists(CPU_CAPS "branch_counter_nr"))
		pt_skip("no counters are logged with branches");
	pt_eq(pt_read_number(CPU_CAPS "branch_counter_nr", 0), 4);
	pt_eq(pt_read_number(CPU_CAPS "branch_counter_width", 0), 2);
}

static struct perf_event_attr logged(struct perf_event_attr attr)
{
	attr.disabled = 0;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_COUNTERS | PERF_SAMPLE_BRANCH_USER;
	return attr;
}

static u64 at_most_3(u64 n)
{
	return n < 3 ? n : 3;
}

/* The leader counts instructions, the member conditional branches. */
static void check_counters(u64 branch_type)
{
	u64 i, insns, conditional;
	int at = newest(s.ip);

	for (i = 0; i < s.nr_branches; i++) {
		while (!passes(at, branch_type))
			at = (at + BRANCHES - 1) % BRANCHES;
		insns = 0;
		conditional = 0;
		/* since the one before that passes */
		do {
			insns += branches[at].cycles;
			conditional += branches[at].type == PERF_BR_COND;
			at = (at + BRANCHES - 1) % BRANCHES;
		} while (!passes(at, branch_type));
		pt_eq(s.branch_counters[i], at_most_3(insns) | at_most_3(conditional) << 2);
		if (pt_failures() > 10)
			pt_end_case();
	}
}

static void count_with(u64 branch_type)
{
	struct perf_event_attr attr = sampler(branch_type | PERF_SAMPLE_BRANCH_COUNTERS);
	struct perf_event_attr member = logged(x86_conditional_branches());
	u64 seen = 0;
	int fd, other;

	fd = pt_open(&attr, 0, -1, -1, 0);
	other = pt_open(&member, 0, -1, fd, 0);
	pt_map(&ring, fd, 512);
	pt_enable(fd);
	lbr_run(TURNS);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		if (newest(s.ip) < 0 || s.nr_branches < RECORDS)
			continue;
		check_counters(branch_type);
		seen += s.nr_branches;
	}
	pt_check(seen > (TURNS * PER_TURN / 1009 - 10) * RECORDS, "%llu branches",
		 (unsigned long long)seen);
	pt_unmap(&ring);
	close(other);
	close(fd);
}

/* What two events of the group counted since the branch before, in the group's order. */
static void counters_of_branches(void)
{
	need_counters();
	count_with(PERF_SAMPLE_BRANCH_ANY);
	count_with(PERF_SAMPLE_BRANCH_ANY_RETURN);
}

static void counters_refused(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY), member;
	int fd, i, members[4];

	need_records();
	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_COUNTERS;
	if (!pt_path_exists(CPU_CAPS "branch_counter_nr")) {
		pt_eq(pt_probe(&attr), -EINVAL);
		return;
	}
	/* As many as there are. */
	fd = pt_open(&attr, 0, -1, -1, 0);
	member = logged(x86_conditional_branches());
	for (i = 0; i < 3; i++)
		members[i] = pt_open(&member, 0, -1, fd, 0);
	pt_eq(pt_try_open(&member, 0, -1, fd, 0), -EINVAL);
	while (i--)
		close(members[i]);
	close(fd);
	/* Call stacks are not reset; nobody takes samples without any branch. */
	attr = sampler(PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_COUNTERS);
	pt_eq(pt_probe(&attr), -EINVAL);
	attr = sampler(PERF_SAMPLE_BRANCH_COUNTERS);
	pt_eq(pt_probe(&attr), -EINVAL);
	/* The leader's records are those that are reset. */
	attr = pt_attr(PT_SW(CPU_CLOCK));
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_try_open(&member, 0, -1, fd, 0), -EINVAL);
	close(fd);
}

/* ---- what is refused ---- */

static void refused(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_CALL_STACK);
	bool stack;
	int fd;

	need_records();
	stack = pt_probe(&attr) != -EOPNOTSUPP;
	attr = sampler(PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_ANY);
	pt_eq(pt_probe(&attr), stack ? -EINVAL : -EOPNOTSUPP);
	attr = sampler(PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_COND);
	pt_eq(pt_probe(&attr), stack ? -EINVAL : -EOPNOTSUPP);

	/* One set of records, one filter. */
	attr = sampler(PERF_SAMPLE_BRANCH_ANY_CALL);
	fd = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	pt_eq(pt_try_open(&attr, 0, -1, fd, 0) < 0, 0);
	attr = sampler(PERF_SAMPLE_BRANCH_ANY_RETURN);
	attr.disabled = 0;
	pt_eq(pt_try_open(&attr, 0, -1, fd, 0), -EINVAL);
	close(fd);
}

static const struct pt_case cases[] = {
	{ "all_branches", all_branches },
	{ "filtered_branches", filtered_branches },
	{ "types", types },
	{ "without_flags", without_flags },
	{ "only_the_kernels", only_the_kernels },
	{ "beside_records", beside_records },
	{ "call_stacks", call_stacks },
	{ "snapshot", snapshot },
	{ "counters_of_branches", counters_of_branches },
	{ "counters_refused", counters_refused },
	{ "refused", refused },
};

PT_MAIN(cases)
