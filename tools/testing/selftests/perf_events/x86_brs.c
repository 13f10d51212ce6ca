// SPDX-License-Identifier: GPL-2.0
/*
 * x86_brs.c - branch sampling of Zen 3 (BRS), against a loop whose taken branches are known one by
 * one. The hardware holds the interrupt of an overflow back until it has recorded 16 more of them,
 * in whatever ring, and the driver lets it overflow as many earlier: each sample comes right after
 * the last branch of its period, and has that one and the 15 before it.
 *
 * needs: brs
 */
#include <time.h>

#include "lib/x86.h"

#define RECORDS		16
#define TAKEN		0xc4		/* the only event that can */
#define IN_TURN		5		/* branches */
#define OF_USER		(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER)
#define OF_ALL		(OF_USER | PERF_SAMPLE_BRANCH_KERNEL)
#define SAMPLING	(1 << 2)	/* in the register that turns it on */
#define TIMES		(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

#ifdef __x86_64__
#include "lib/x86_brs.h"

/* In the order in which they happen, round and round. */
static const struct branch {
	const char *from, *to;
} in_loop[IN_TURN] = {
	{ brs_call, brs_f }, { brs_f, brs_jmp }, { brs_jmp, brs_lea }, { brs_ind, brs_dec },
	{ brs_jnz, brs_call },
};

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr sampler(u64 period, u64 branches)
{
	struct perf_event_attr attr = x86_hw(0);

	attr.type = PERF_TYPE_RAW;
	attr.config = TAKEN;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD |
			   PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = branches;
	return attr;
}

static void need_brs(void)
{
	x86_need_exact();
	if (!pt_path_exists(X86_PMU "events/branch-brs"))
		pt_skip("no BRS");
}

static int open_mapped(struct perf_event_attr *attr)
{
	int fd = pt_open_hw(attr, -1);

	pt_map(&ring, fd, 256);
	return fd;
}

static void close_mapped(int fd)
{
	pt_unmap(&ring);
	close(fd);
}

static bool next_sample(const struct perf_event_attr *attr)
{
	if (pt_failures() || !pt_next(&ring, &rec))
		return false;
	pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
	pt_parse_sample(attr, &rec, &s);
	return true;
}

/* The clock of the last timer tick: 4 ms, four million instructions, are without another. */
static u64 tick(void)
{
	return pt_clock(CLOCK_MONOTONIC_COARSE);
}

static void wait_for_tick(void)
{
	u64 before = tick();

	while (tick() == before)
		;
}

/* Branches number @n of the loop, and those before, newest first. */
static void check_loop(u64 n, unsigned int nr)
{
	unsigned int i;

	pt_eq(s.nr_branches, nr);
	for (i = 0; i < s.nr_branches && i < nr; i++) {
		const struct branch *want = &in_loop[(n - 1 - i) % IN_TURN];

		pt_eq(s.branches[i].from, pt_addr(want->from));
		pt_eq(s.branches[i].to, pt_addr(want->to));
		pt_eq(s.branches[i].mispred, 0);
		pt_eq(s.branches[i].type, 0);
	}
}

/* Every branch of the loop is counted, and nothing else is. */
static void counts_taken_branches(void)
{
	static const u64 turns[] = { 1, 2, 100, 12345, 1000000 };
	struct perf_event_attr attr = sampler(0, 0);
	unsigned int i;
	int fd;

	need_brs();
	attr.sample_type = 0;
	fd = pt_open_hw(&attr, -1);
	for (i = 0; i < PT_ARRAY_SIZE(turns); i++) {
		pt_reset(fd);
		brs_loop(fd, turns[i]);
		pt_eq(pt_count(fd), IN_TURN * turns[i]);
	}
	close(fd);
}

/* The event of that name is this one. */
static void event_by_name(void)
{
	char text[64];

	need_brs();
	pt_eq(strcmp(pt_slurp(X86_PMU "events/branch-brs", text, sizeof(text)), "event=0xc4\n"), 0);
	pt_eq(pt_read_number(X86_PMU "caps/branches", -1), RECORDS);
}

/* Sample k is right after branch k * period, with it and the 15 before. */
static void each_sample(void)
{
	static const u64 periods[] = { 17, 18, 31, 32, 33, 37, 100, 1009, 4096 };
	unsigned int i;

	need_brs();
	for (i = 0; i < PT_ARRAY_SIZE(periods) && !pt_failures(); i++) {
		u64 period = periods[i], turns = 12 * period + 1, n = 0, from;
		struct perf_event_attr attr = sampler(period, OF_USER);
		int fd = open_mapped(&attr);

		wait_for_tick();
		from = tick();
		brs_loop(fd, turns);
		pt_need(tick() == from, "a tick came in between");
		pt_eq(pt_count(fd), IN_TURN * turns);
		while (next_sample(&attr)) {
			n += period;
			pt_eq(s.read.v[0].value, n);
			pt_eq(s.period, period);
			pt_eq(s.ip, pt_addr(in_loop[(n - 1) % IN_TURN].to));
			check_loop(n, RECORDS);
		}
		pt_eq(n, IN_TURN * 12 * period);
		close_mapped(fd);
	}
}

/*
 * With system calls in the loop the kernel's branches fill the records as well, and the interrupt
 * comes in there. What the period still lacks then is not lost.
 */
struct model {
	u64 period, n, all;	/* branches counted so far, and in all */
	s64 left;
};

#define IN_CALLS	4	/* branches of a turn, the third is the system call */

/*
 * On to the next sample, over overflows that do not end the period. Returns how many branches of
 * user space were taken after the overflow until the interrupt came.
 */
static u64 next_of_model(struct model *m)
{
	u64 load, call, after;

	do {
		load = (u64)(m->left > RECORDS ? m->left - RECORDS : m->left);
		load = load < 2 && m->left <= RECORDS ? 2 : load;
		m->n += load;
		call = m->n / IN_CALLS * IN_CALLS + 3;
		call += call < m->n ? IN_CALLS : 0;
		call = call < m->all ? call : m->all;
		after = call - m->n < RECORDS ? call - m->n : RECORDS;
		m->n += after;
		m->left -= (s64)(load + after);
	} while (m->left > 0);
	m->left += (s64)m->period;
	return after;
}

static void with_system_calls(void)
{
	static const u64 periods[] = { 17, 50, 101, 997 };
	static const struct branch did[IN_CALLS] = {
		{ brs_s_turn, brs_s_next }, { brs_s_next, brs_s_third }, { brs_s_call, NULL },
		{ brs_s_jnz, brs_s_turn },
	};
	const u64 turns = 2000;
	unsigned int i, k;

	need_brs();
	for (i = 0; i < PT_ARRAY_SIZE(periods) && !pt_failures(); i++) {
		struct perf_event_attr attr = sampler(periods[i], OF_USER);
		struct model m = {
			.period = periods[i], .left = (s64)periods[i], .all = IN_CALLS * turns,
		};
		int fd = open_mapped(&attr);

		brs_calls(fd, turns, SYS_gettid);
		pt_eq(pt_count(fd), m.all);
		while (next_sample(&attr)) {
			u64 after = next_of_model(&m);

			pt_eq(s.read.v[0].value, m.n);
			/* the call is a branch to the kernel, which is not wanted */
			pt_eq(s.nr_branches, after ? after - 1 : 0);
			for (k = 0; k < s.nr_branches; k++) {
				const struct branch *want = &did[(m.n - 2 - k) % IN_CALLS];

				pt_eq(s.branches[k].from, pt_addr(want->from));
				pt_eq(s.branches[k].to, pt_addr(want->to));
			}
		}
		pt_check(m.n + 2 * periods[i] > m.all, "the last sample is at %llu of %llu",
			 (unsigned long long)m.n, (unsigned long long)m.all);
		close_mapped(fd);
	}
}

static bool is_kernels(u64 address)
{
	return address >> 63;
}

/* Of both rings: from the target of each branch straight on to the next one's instruction. */
static void without_a_gap(void)
{
	struct perf_event_attr attr = sampler(5003, OF_ALL);
	unsigned int n = 0, mixed = 0, k;
	int fd;

	need_brs();
	attr.exclude_kernel = 0;
	fd = open_mapped(&attr);
	brs_calls(fd, 20000, SYS_gettid);
	while (next_sample(&attr)) {
		bool user = false, kernel = false;

		n++;
		pt_eq(s.nr_branches, RECORDS);
		for (k = 0; k < s.nr_branches; k++) {
			u64 to = s.branches[k].to, on = k ? s.branches[k - 1].from : to;

			pt_check(to <= on && on - to < 4096, "%u: %llx to %llx", k,
				 (unsigned long long)to, (unsigned long long)on);
			user |= !is_kernels(to);
			kernel |= is_kernels(to);
		}
		mixed += user && kernel;
	}
	pt_check(n > 20, "%u samples", n);
	pt_check(mixed > 0, "%u of %u have both rings", mixed, n);
	close_mapped(fd);
}

/* The hardware filters nothing. */
static void one_ring_alone(void)
{
	static const u64 rings[] = { PERF_SAMPLE_BRANCH_USER, PERF_SAMPLE_BRANCH_KERNEL };
	unsigned int i, k;

	need_brs();
	for (i = 0; i < PT_ARRAY_SIZE(rings); i++) {
		struct perf_event_attr attr = sampler(5003, PERF_SAMPLE_BRANCH_ANY | rings[i]);
		unsigned int some = 0, less = 0;
		int fd;

		attr.exclude_kernel = 0;
		fd = open_mapped(&attr);
		brs_calls(fd, 20000, SYS_gettid);
		while (next_sample(&attr)) {
			for (k = 0; k < s.nr_branches; k++)
				pt_eq(is_kernels(s.branches[k].to), i == 1);
			some += s.nr_branches > 0;
			less += s.nr_branches < RECORDS;
		}
		pt_check(some && less, "%u with branches, %u with some filtered", some, less);
		close_mapped(fd);
	}
}

static s64 try_with(struct perf_event_attr attr)
{
	return pt_probe(&attr);
}

static void refused(void)
{
	static const u64 kinds[] = {
		PERF_SAMPLE_BRANCH_ANY_CALL, PERF_SAMPLE_BRANCH_ANY_RETURN,
		PERF_SAMPLE_BRANCH_IND_CALL, PERF_SAMPLE_BRANCH_COND, PERF_SAMPLE_BRANCH_CALL,
		PERF_SAMPLE_BRANCH_CALL_STACK, PERF_SAMPLE_BRANCH_IND_JUMP,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_COND,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_FLAGS,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX,
	};
	static const u64 events[] = { 0xc0, 0x76, 0xc2, 0x1c4, 0x10000c4, 0x1000000c4 };
	struct perf_event_attr attr;
	unsigned int i;
	int fd;

	need_brs();
	pt_eq(try_with(sampler(RECORDS + 1, OF_USER)), 0);
	pt_eq(try_with(sampler(RECORDS, OF_USER)), -EINVAL);
	pt_eq(try_with(sampler(1, OF_USER)), -EINVAL);
	pt_eq(try_with(sampler(0, OF_USER)), -EINVAL);
	for (i = 0; i < PT_ARRAY_SIZE(kinds); i++)
		pt_eq(try_with(sampler(1009, kinds[i] | PERF_SAMPLE_BRANCH_USER)), -EINVAL);
	for (i = 0; i < PT_ARRAY_SIZE(events); i++) {
		attr = sampler(1009, OF_USER);
		attr.config = events[i];
		pt_eq(try_with(attr), -EINVAL);
	}
	attr = sampler(1009, OF_USER);
	attr.freq = 1;
	pt_eq(try_with(attr), -EINVAL);

	/* Without records the same event may have any period, and be any number. */
	attr = sampler(1, 0);
	attr.sample_type = PERF_SAMPLE_IP;
	pt_eq(try_with(attr), 0);
	attr = sampler(1009, OF_USER);
	fd = pt_open_hw(&attr, -1);
	attr.disabled = 0;
	pt_eq(pt_try_open(&attr, 0, -1, fd, 0), -EINVAL);
	attr.sample_type = PERF_SAMPLE_IP;
	attr.branch_sample_type = 0;
	pt_eq(pt_try_open(&attr, 0, -1, fd, 0) >= 0, 1);
	close(fd);
}

/* A new period begins at once, whatever was left of the old one. */
static void period_changes(void)
{
	struct perf_event_attr attr = sampler(101, OF_USER);
	u64 n, period, from, turns;
	int fd, turn;

	need_brs();
	fd = open_mapped(&attr);
	for (turn = 0; turn < 3; turn++) {
		period = 101 + 50 * (u64)turn;
		turns = 3 * period + 7;
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, pt_addr(&period)), 0);
		pt_reset(fd);
		wait_for_tick();
		from = tick();
		brs_loop(fd, turns);
		pt_need(tick() == from, "a tick came in between");
		for (n = period; next_sample(&attr); n += period) {
			pt_eq(s.read.v[0].value, n);
			pt_eq(s.period, period);
			check_loop(n, RECORDS);
		}
		pt_eq(n / period, IN_TURN * turns / period + 1);
	}
	close_mapped(fd);
}

/* Others that count and sample beside it, more of them than there are counters left. */
static void with_others(void)
{
	struct perf_event_attr attr = sampler(1009, OF_USER), other = x86_hw(0);
	const u64 turns = 5000;
	int fd, fds[5], i;
	u64 n = 0, from;

	need_brs();
	other.disabled = 0;
	other.config = PERF_COUNT_HW_INSTRUCTIONS;
	fd = open_mapped(&attr);
	for (i = 0; i < 5; i++)
		fds[i] = pt_open_hw(&other, fd);
	pt_eq(pt_try_open(&other, 0, -1, fd, 0), -EINVAL);
	wait_for_tick();
	from = tick();
	brs_loop(fd, turns);
	pt_need(tick() == from, "a tick came in between");
	pt_eq(pt_count(fd), IN_TURN * turns);
	for (i = 0; i < 5; i++) {
		/* call, ret, jmp, lea, jmp, dec, jnz; and the way out */
		pt_eq(pt_count(fds[i]), 7 * turns + 4);
		close(fds[i]);
	}
	while (next_sample(&attr)) {
		n += 1009;
		check_loop(n, RECORDS);
	}
	pt_eq(n, IN_TURN * turns / 1009 * 1009);
	close_mapped(fd);
}

/* Two of them take turns: only counter 0 can. */
static void one_at_a_time(void)
{
	struct perf_event_attr attr = sampler(1009, OF_USER);
	struct pt_read r[2];
	int fd[2], i;
	u64 from;

	need_brs();
	attr.read_format = TIMES;
	attr.disabled = 0;
	from = pt_clock(CLOCK_MONOTONIC);
	for (i = 0; i < 2; i++)
		fd[i] = pt_open_hw(&attr, -1);
	for (i = 0; i < 100; i++)
		pt_spin(1000000);
	for (i = 0; i < 2; i++) {
		pt_read(fd[i], TIMES, 1, &r[i]);
		pt_check(r[i].running > r[i].enabled / 4 && r[i].running < r[i].enabled * 3 / 4,
			 "%llu of %llu ns", (unsigned long long)r[i].running,
			 (unsigned long long)r[i].enabled);
		close(fd[i]);
	}
	pt_check(r[0].running + r[1].running <= pt_clock(CLOCK_MONOTONIC) - from, "both at once");
}

/* One of the task and one of the CPU likewise; that of the CPU comes first. */
static void of_cpu_and_task(void)
{
	struct perf_event_attr attr = sampler(1009, OF_USER);
	struct pt_read r;
	int cpu, task;

	need_brs();
	attr.read_format = TIMES;
	attr.pinned = 1;
	attr.disabled = 0;
	cpu = pt_open(&attr, -1, 0, -1, 0);
	attr.pinned = 0;
	task = pt_open_hw(&attr, -1);
	pt_spin(1000000);
	pt_read(task, TIMES, 1, &r);
	pt_check(r.enabled > 0, "not enabled");
	pt_eq(r.running, 0);
	pt_eq(r.v[0].value, 0);
	pt_read(cpu, TIMES, 1, &r);
	pt_eq(r.enabled, r.running);
	close(cpu);
	/* The other has it as soon as the events are scheduled anew: the next tick. */
	wait_for_tick();
	wait_for_tick();
	pt_spin(1000);
	pt_read(task, TIMES, 1, &r);
	pt_check(r.running > 0 && r.v[0].value >= 999, "%llu branches in %llu ns",
		 (unsigned long long)r.v[0].value, (unsigned long long)r.running);
	close(task);
}

static void their_work(void *arg)
{
	int *pipes = arg;
	char c;

	close(pipes[1]);
	close(pipes[2]);
	while (read(pipes[0], &c, 1) == 1) {
		pt_spin(100);
		pt_need(write(pipes[3], &c, 1) == 1, "write");
	}
}

/* A task that takes turns with another one has none of its branches. */
static void other_task(void)
{
	struct perf_event_attr attr = sampler(37, OF_USER);
	unsigned int i, k, n = 0;
	int fd, pipes[4];
	pid_t child;
	char c = 0;

	need_brs();
	pt_need(!pipe(pipes) && !pipe(pipes + 2), "pipe");
	child = pt_fork(their_work, pipes);
	close(pipes[0]);
	close(pipes[3]);
	fd = open_mapped(&attr);
	for (i = 0; i < 100; i++) {
		brs_loop(fd, 20 + i);
		pt_enable(fd);
		pt_need(write(pipes[1], &c, 1) == 1 && read(pipes[2], &c, 1) == 1, "pipe");
		pt_disable(fd);
	}
	while (next_sample(&attr)) {
		n += s.nr_branches;
		for (k = 0; k < s.nr_branches; k++)
			pt_check(!pt_in_spin(s.branches[k].from), "a branch of the other task");
	}
	pt_check(n > 100 * RECORDS, "%u branches", n);
	close_mapped(fd);
	close(pipes[1]);
	close(pipes[2]);
	pt_reap(child);
}

/* An event that ends in its window leaves neither branches nor an NMI to who comes next. */
static void closed_in_the_window(void)
{
	struct perf_event_attr attr = sampler(101, OF_USER);
	u64 turns, from;
	int fd, next;

	need_brs();
	for (turns = 10; turns < 25 && !pt_failures(); turns++) {
		fd = pt_open_hw(&attr, -1);
		brs_loop(fd, turns);
		pt_eq(pt_count(fd), IN_TURN * turns);
		close(fd);
		next = open_mapped(&attr);
		wait_for_tick();
		from = tick();
		brs_loop(next, 30);
		pt_need(tick() == from, "a tick came in between");
		pt_eq(pt_count(next), IN_TURN * 30);
		pt_eq(next_sample(&attr), 1);
		pt_eq(s.read.v[0].value, 101);
		check_loop(101, RECORDS);
		pt_eq(next_sample(&attr), 0);
		close_mapped(next);
	}
}

/* Around a low-power state it is off if it was on, and stays off if it was not. */
static void low_power(void)
{
	struct perf_event_attr attr = sampler(1ull << 40, OF_USER);
	int fd, on;

	need_brs();
	fd = pt_open_hw(&attr, -1);
	for (on = 0; on < 2; on++) {
		if (on)
			pt_enable(fd);
		pt_load_module("test_brs", NULL);
		pt_eq(pt_module_get("test_brs", "before") & SAMPLING, on ? SAMPLING : 0);
		pt_eq(pt_module_get("test_brs", "inside") & SAMPLING, 0);
		pt_eq(pt_module_get("test_brs", "after") & SAMPLING, on ? SAMPLING : 0);
		pt_eq(pt_unload_module("test_brs"), 0);
	}
	close(fd);
}

static const struct pt_case cases[] = {
	{ "counts_taken_branches", counts_taken_branches },
	{ "event_by_name", event_by_name },
	{ "each_sample", each_sample },
	{ "with_system_calls", with_system_calls },
	{ "without_a_gap", without_a_gap },
	{ "one_ring_alone", one_ring_alone },
	{ "refused", refused },
	{ "period_changes", period_changes },
	{ "with_others", with_others },
	{ "one_at_a_time", one_at_a_time },
	{ "of_cpu_and_task", of_cpu_and_task },
	{ "other_task", other_task },
	{ "closed_in_the_window", closed_in_the_window },
	{ "low_power", low_power },
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
