// SPDX-License-Identifier: GPL-2.0
/*
 * x86_amd_branch.c - LbrExtV2, the branch records of Zen 4 and later, against a known loop.
 *
 * A turn of the loop takes five branches, one of each near kind. Every sample in it must have them
 * in their order, as many as there are records, or only those that were asked for.
 *
 * needs: amd-lbr
 */
#include "lib/bpf.h"
#include "lib/cgroup.h"
#include "lib/x86.h"

#define RECORDS		16
#define TURNS		20000
#define PERIOD		1009

#ifdef __x86_64__
#include <cpuid.h>
#include "lib/x86_loop.h"

/* In the order in which they happen, round and round. */
static const struct {
	const char *from, *to;
	u64 asked;
	unsigned int type;
} did[] = {
	{ loopa_call, loopa_ret, PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_CALL,
	  PERF_BR_CALL },
	{ loopa_ret, loopa_jmp, PERF_SAMPLE_BRANCH_ANY_RETURN, PERF_BR_RET },
	{ loopa_jmp, loopa_lea, 0, PERF_BR_UNCOND },
	{ loopa_ind, loopa_dec, PERF_SAMPLE_BRANCH_IND_JUMP, PERF_BR_IND },
	{ loopa_jnz, loopa_call, PERF_SAMPLE_BRANCH_COND, PERF_BR_COND },
};

#define DID	PT_ARRAY_SIZE(did)

static struct pt_record rec;

static struct perf_event_attr sampler(u64 asked)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));

	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = asked | PERF_SAMPLE_BRANCH_USER;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

static void need_records(void)
{
	unsigned int a, b, c, d;

	__cpuid(0, a, b, c, d);
	if (b != signature_AMD_ebx)
		pt_skip("no AMD CPU");
	if (pt_read_number("/sys/bus/event_source/devices/cpu/caps/branches", 0) != RECORDS)
		pt_skip("not %d branch records", RECORDS);
	__cpuid(0x80000000, a, b, c, d);
	if (a >= 0x80000022)
		__cpuid(0x80000022, a, b, c, d);
	if (!(a & 2))
		pt_skip("no LbrExtV2");
	x86_need_pmu();
}

static bool in_loop(u64 ip)
{
	return ip >= pt_addr((void *)loopa) && ip < pt_addr(loopa_end);
}

static unsigned int find(u64 from)
{
	unsigned int i;

	for (i = 0; i < DID && pt_addr(did[i].from) != from; i++)
		;
	return i;
}

/* The one before, of those that were asked for. */
static unsigned int before(unsigned int at, u64 asked)
{
	do {
		at = (at + DID - 1) % DID;
	} while (asked != PERF_SAMPLE_BRANCH_ANY && !(did[at].asked & asked));
	return at;
}

static void check_stack(const struct pt_sample *s, u64 asked, bool types)
{
	unsigned int at = find(s->branches[0].from), i;

	pt_eq(s->nr_branches, RECORDS);
	pt_need(at < DID, "a branch from %llx", (unsigned long long)s->branches[0].from);
	for (i = 0; i < s->nr_branches; i++, at = before(at, asked)) {
		const struct perf_branch_entry *br = &s->branches[i];

		pt_eq(br->from, pt_addr(did[at].from));
		pt_eq(br->to, pt_addr(did[at].to));
		pt_eq(br->mispred, 0);
		pt_eq(br->predicted, 1);
		pt_eq(br->spec, PERF_BR_SPEC_CORRECT_PATH);
		pt_eq(br->type, types ? did[at].type : 0);
	}
}

/* Every sample in the loop, once a few turns have filled the records. Returns how many. */
static unsigned int check_ring(const struct perf_event_attr *attr, struct pt_ring *ring)
{
	bool types = attr->branch_sample_type & PERF_SAMPLE_BRANCH_TYPE_SAVE;
	u64 asked = attr->branch_sample_type &
		    ~(PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_PLM_ALL);
	unsigned int n = 0;

	while (pt_next_of(ring, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
		struct pt_sample s;

		pt_parse_sample(attr, &rec, &s);
		if (in_loop(s.ip) && n++)
			check_stack(&s, asked, types);
	}
	return n;
}

static void run(u64 asked)
{
	struct perf_event_attr attr = sampler(asked);
	struct pt_ring ring;
	unsigned int n;
	int fd;

	need_records();
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	loopa(TURNS);
	pt_disable(fd);
	n = check_ring(&attr, &ring);
	/* A turn is seven instructions; a cycle is one, or less. */
	pt_check(n >= 7 * TURNS / PERIOD - 2, "only %u samples in the loop", n);
}

static void any(void)
{
	run(PERF_SAMPLE_BRANCH_ANY);
}

static void any_with_types(void)
{
	run(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE);
}

static void any_call(void)
{
	run(PERF_SAMPLE_BRANCH_ANY_CALL);
}

static void direct_call(void)
{
	run(PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_TYPE_SAVE);
}

static void any_return(void)
{
	run(PERF_SAMPLE_BRANCH_ANY_RETURN);
}

static void indirect_jump(void)
{
	run(PERF_SAMPLE_BRANCH_IND_JUMP);
}

static void conditional(void)
{
	run(PERF_SAMPLE_BRANCH_COND);
}

static void two_kinds(void)
{
	run(PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_CALL);
}

/* Two events at once that want different branches. */
static void two_events(void)
{
	struct perf_event_attr calls = sampler(PERF_SAMPLE_BRANCH_CALL);
	struct perf_event_attr conds = sampler(PERF_SAMPLE_BRANCH_COND);
	struct pt_ring ring[2];
	int fd[2], i;

	need_records();
	if (pt_is_stock())
		pt_skip("Linux 6.12 filters for the event that came last");
	conds.sample_period = PERIOD + 8;
	fd[0] = pt_open_hw(&calls, -1);
	fd[1] = pt_open_hw(&conds, -1);
	for (i = 0; i < 2; i++) {
		pt_map(&ring[i], fd[i], 64);
		pt_enable(fd[i]);
	}
	loopa(TURNS);
	for (i = 0; i < 2; i++)
		pt_disable(fd[i]);
	/* Records hold both kinds, half of them each. */
	for (i = 0; i < 2; i++) {
		const struct perf_event_attr *attr = i ? &conds : &calls;
		const char *from = i ? loopa_jnz : loopa_call;
		unsigned int n = 0, b;

		while (pt_next_of(&ring[i], &rec, PERF_RECORD_SAMPLE)) {
			struct pt_sample s;

			pt_parse_sample(attr, &rec, &s);
			if (!in_loop(s.ip) || !n++)
				continue;
			pt_eq(s.nr_branches, RECORDS / 2);
			for (b = 0; b < s.nr_branches; b++)
				pt_eq(s.branches[b].from, pt_addr(from));
		}
		pt_check(n > 100, "only %u samples", n);
	}
}

static void refused(void)
{
	static const u64 bits[] = {
		PERF_SAMPLE_BRANCH_CALL_STACK, PERF_SAMPLE_BRANCH_IN_TX, PERF_SAMPLE_BRANCH_NO_TX,
		PERF_SAMPLE_BRANCH_ABORT_TX, PERF_SAMPLE_BRANCH_NO_FLAGS,
		PERF_SAMPLE_BRANCH_NO_CYCLES,
	};
	struct perf_event_attr attr;
	unsigned int i;

	need_records();
	for (i = 0; i < PT_ARRAY_SIZE(bits); i++) {
		attr = sampler(bits[i]);
		pt_eq(pt_probe(&attr), -EOPNOTSUPP);
	}
	attr = sampler(PERF_SAMPLE_BRANCH_ANY);
	pt_eq(pt_probe(&attr), 0);
}

/* A task that works in turns with another one has none of its branches. */
static void serve(void *arg)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY);
	int fd = pt_open_hw(&attr, -1), *pipes = arg;
	char c;

	close(pipes[1]);
	close(pipes[2]);
	pt_enable(fd);
	while (read(pipes[0], &c, 1) == 1) {
		loopb(50);
		pt_need(write(pipes[3], &c, 1) == 1, "write");
	}
	close(fd);
}

static void other_task(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY);
	unsigned int i, n = 0;
	struct pt_ring ring;
	int fd, pipes[4];
	pid_t child;
	char c = 0;
	u64 b;

	need_records();
	pt_need(!pipe(pipes) && !pipe(pipes + 2), "pipe");
	child = pt_fork(serve, pipes);
	close(pipes[0]);
	close(pipes[3]);
	attr.sample_period = 101;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	for (i = 0; i < 100; i++) {
		pt_need(write(pipes[1], &c, 1) == 1 && read(pipes[2], &c, 1) == 1, "pipe");
		loopa(50);
	}
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		struct pt_sample s;

		pt_parse_sample(&attr, &rec, &s);
		for (b = 0; b < s.nr_branches; b++) {
			u64 from = s.branches[b].from;

			n++;
			pt_check(from < pt_addr((void *)loopb) || from >= pt_addr(loopb_end),
				 "a branch of the other task");
		}
	}
	pt_check(n > 100 * RECORDS, "only %u branches", n);
	close(pipes[1]);
	close(pipes[2]);
	pt_reap(child);
}

#define CHILDREN	40

static void loop_in_cgroup(void *dir)
{
	cg_enter(dir);
	loopa(50);
}

static void only_enter_cgroup(void *dir)
{
	cg_enter(dir);
}

/*
 * An event of a cgroup is one for all its tasks, and a new task may be in memory where one was
 * that has exited: odd children must not have branches of even ones.
 */
static void not_of_the_dead(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY);
	unsigned int i, n = 0, odd = 0;
	struct pt_ring ring;
	pid_t child[CHILDREN];
	const char *dir;
	int fd;
	u64 b;

	need_records();
	pt_pin(0);
	dir = cg_make("");
	attr.sample_type |= PERF_SAMPLE_TID;
	attr.sample_period = 7;
	attr.disabled = 0;
	fd = cg_open(&attr, dir, 0, -1);
	pt_map(&ring, fd, 1024);
	for (i = 0; i < CHILDREN; i++) {
		child[i] = pt_fork(i & 1 ? only_enter_cgroup : loop_in_cgroup, (void *)dir);
		pt_reap(child[i]);
		/* If RCU has not freed it by then, the next one is elsewhere and proves nothing. */
		usleep(30000);
	}
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		struct pt_sample s;

		pt_parse_sample(&attr, &rec, &s);
		for (i = 1; i < CHILDREN && s.pid != (u32)child[i]; i += 2)
			;
		n++;
		if (i >= CHILDREN)
			continue;
		odd++;
		for (b = 0; b < s.nr_branches; b++)
			pt_check(!in_loop(s.branches[b].from), "a branch of a task that is dead");
	}
	pt_check(odd >= CHILDREN / 2 && n > 2 * odd, "%u of %u samples", odd, n);
	cg_remove_all();
}

/* ---- a program asks: bpf_get_branch_snapshot() ---- */

#define SEEN	0
#define STACK	1
#define GLOBAL_CTL	0xc0000301

static struct pt_words w;

/* A program that asks for as many records as @room has bytes, or does not ask. */
static int asking(unsigned int room)
{
	static struct pt_code code;

	pt_words_make(&w);
	pt_b_begin(&code);
	pt_b_word(&code, 1, &w, STACK);
	pt_b_set(&code, 2, room);
	pt_b_set(&code, 3, 0);
	if (room) {
		pt_b_call(&code, BPF_FUNC_get_branch_snapshot);
		pt_b_put(&code, &w, SEEN, 0);
	}
	pt_b_return(&code, 0);
	return pt_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code);
}

static void need_snapshots(void)
{
	need_records();
	if (pt_is_stock())
		pt_skip("Linux 6.12 always says all records, and starts the counters");
}

/* What led to the call: the way from the loop comes first, as far as it is in user space. */
static void snapshot(void)
{
	static const unsigned int rooms[] = { RECORDS, 64, 11 };
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY);
	const struct perf_branch_entry *e;
	unsigned int i, j, at, n;
	int fd, prog;

	need_snapshots();
	attr.sample_period = 1ull << 40;
	for (j = 0; j < PT_ARRAY_SIZE(rooms); j++) {
		prog = asking(rooms[j] * sizeof(*e));
		fd = pt_open_hw(&attr, -1);
		pt_enable(fd);
		loopa(TURNS);
		pt_run_prog(prog);
		pt_disable(fd);
		n = rooms[j] < RECORDS ? rooms[j] : RECORDS;
		pt_eq(w.word[SEEN], n * sizeof(*e));
		e = (const struct perf_branch_entry *)&w.word[STACK];
		/* The last jump back is not taken. */
		for (i = 0; i < n && e[i].from != pt_addr(loopa_ind); i++)
			;
		pt_check(i < RECORDS / 2, "%u branches after the loop", i);
		for (at = DID - 2; i < n; i++, at = (at + DID - 1) % DID) {
			pt_eq(e[i].from, pt_addr(did[at].from));
			pt_eq(e[i].to, pt_addr(did[at].to));
		}
		close(fd);
		close(prog);
	}
}

/* What the task's own event has recorded is there when it goes on. */
static void snapshot_of_before(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_ANY);
	const struct perf_branch_entry *e;
	unsigned int i;
	int fd, prog;

	need_snapshots();
	attr.sample_period = 1ull << 40;
	prog = asking(RECORDS * sizeof(*e));
	fd = pt_open_hw(&attr, -1);
	pt_enable(fd);
	loopa(TURNS);
	pt_disable(fd);
	pt_enable(fd);
	pt_run_prog(prog);
	pt_disable(fd);
	/* One record is the way back from the kernel, which belongs to both. */
	pt_eq(w.word[SEEN], (RECORDS - 1) * sizeof(*e));
	e = (const struct perf_branch_entry *)&w.word[STACK];
	for (i = 0; i < RECORDS - 1 && e[i].from != pt_addr(loopa_ind); i++)
		;
	pt_check(i < RECORDS - 1, "nothing of the loop");
	close(fd);
	close(prog);
}

/* It has what the events of the CPU want, and without one there is nothing. */
static void snapshot_of_what_is_wanted(void)
{
	struct perf_event_attr attr = sampler(PERF_SAMPLE_BRANCH_COND);
	struct perf_event_attr plain = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	const struct perf_branch_entry *e;
	unsigned int i, n = 0;
	int fd, prog;

	need_snapshots();
	prog = asking(RECORDS * sizeof(*e));
	pt_run_prog(prog);
	pt_eq(w.word[SEEN], -ENOENT);
	fd = pt_open_hw(&plain, -1);
	pt_enable(fd);
	pt_run_prog(prog);
	pt_eq(w.word[SEEN], -ENOENT);
	close(fd);

	attr.sample_period = 1ull << 40;
	fd = pt_open_hw(&attr, -1);
	pt_enable(fd);
	loopa(TURNS);
	pt_run_prog(prog);
	close(fd);
	pt_eq(w.word[SEEN], RECORDS * sizeof(*e));
	e = (const struct perf_branch_entry *)&w.word[STACK];
	for (i = 0; i < RECORDS; i++)
		n += e[i].from == pt_addr(loopa_jnz) && e[i].to == pt_addr(loopa_call);
	pt_check(n >= RECORDS / 2, "%u of the loop", n);
}

/* Counters count on as if nobody had asked, and those that are off stay so. */
static void snapshot_leaves_counters(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int fd, prog[2], i, j;
	u64 count[2];

	need_snapshots();
	x86_need_exact();
	prog[0] = asking(0);
	prog[1] = asking(RECORDS * sizeof(struct perf_branch_entry));
	fd = pt_open_hw(&attr, -1);
	for (j = 0; j < 3; j++) {
		for (i = 0; i < 2; i++) {
			pt_reset(fd);
			pt_enable(fd);
			pt_run_prog(prog[i]);
			loopa(100);
			pt_disable(fd);
			count[i] = pt_count(fd);
		}
		pt_check(count[0] > 700, "%llu", (unsigned long long)count[0]);
		pt_eq(count[1], count[0]);
		pt_run_prog(prog[1]);
		pt_eq(x86_rdmsr(GLOBAL_CTL), 0);
	}
	close(fd);
}

static const struct pt_case cases[] = {
	{ "any", any },
	{ "any_with_types", any_with_types },
	{ "any_call", any_call },
	{ "direct_call", direct_call },
	{ "any_return", any_return },
	{ "indirect_jump", indirect_jump },
	{ "conditional", conditional },
	{ "two_kinds", two_kinds },
	{ "two_events", two_events },
	{ "refused", refused },
	{ "other_task", other_task },
	{ "not_of_the_dead", not_of_the_dead },
	{ "snapshot", snapshot },
	{ "snapshot_of_before", snapshot_of_before },
	{ "snapshot_of_what_is_wanted", snapshot_of_what_is_wanted },
	{ "snapshot_leaves_counters", snapshot_leaves_counters },
};
#else
static void elsewhere(void)
{
	pt_skip("no x86");
}

static const struct pt_case cases[] = {
	{ "elsewhere", elsewhere },
};
#endif

PT_MAIN(cases)
