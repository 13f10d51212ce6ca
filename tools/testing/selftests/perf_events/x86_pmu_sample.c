// SPDX-License-Identifier: GPL-2.0
/*
 * x86_pmu_sample.c - overflow of the counters of x86: as many samples as periods went by, each
 * right behind the instruction that overflowed, as many interrupts as needed; several counters that
 * overflow together; throttling; records of PEBS and branch records of a loop that is known.
 *
 * needs: hw
 */
#include "lib/x86.h"

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr sampling(struct perf_event_attr attr, u64 period)
{
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	return attr;
}

/* Each sample shows the instruction after its period's last one. */
static void check_samples(struct perf_event_attr attr, u64 turns)
{
	u64 period = attr.sample_period, n = 0;

	while (pt_next(&ring, &rec)) {
		pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
		pt_parse_sample(&attr, &rec, &s);
		n++;
		pt_eq(s.period, period);
		pt_eq(s.read.v[0].value, n * period);
		pt_eq(s.ip, x86_spin_ip(turns, n * period));
		if (pt_failures())
			break;
	}
	pt_eq(n, X86_SPIN_COST(turns) / period);
}

static void run(struct perf_event_attr attr, u64 turns)
{
	u64 before;
	int fd = pt_open_hw(&attr, -1);

	pt_map(&ring, fd, 128);
	before = x86_interrupts();
	x86_measured_spin(fd, turns);
	pt_eq(x86_interrupts() - before, X86_SPIN_COST(turns) / attr.sample_period);
	pt_eq(pt_count(fd), X86_SPIN_COST(turns));
	check_samples(attr, turns);
	pt_unmap(&ring);
	close(fd);
}

static void at_many_periods(void)
{
	static const u64 periods[] = { 101, 997, 1009, 4096, 10007, 65537, 99991, 262147 };
	struct perf_event_attr attr[] = {
		x86_hw(PERF_COUNT_HW_CPU_CYCLES), x86_hw(PERF_COUNT_HW_INSTRUCTIONS),
		x86_general_cycles(),
	};
	unsigned int i, j;

	x86_need_exact();
	for (i = 0; i < PT_ARRAY_SIZE(attr); i++)
		for (j = 0; j < PT_ARRAY_SIZE(periods) && !pt_failures(); j++)
			run(sampling(attr[i], periods[j]), periods[j] * 20);
}

/*
 * Counters of one length overflow with one instruction, as long as they start together; one
 * interrupt does for all of them, and the next is not taken for somebody else's.
 */
static void together(void)
{
	struct perf_event_attr attr = sampling(x86_general_cycles(), 10007);
	const u64 turns = 200000;
	struct pt_ring r[3];
	int fd[3], i;
	u64 before;

	x86_need_exact();
	for (i = 0; i < 3; i++) {
		attr.disabled = !i;
		fd[i] = pt_open_hw(&attr, i ? fd[0] : -1);
		pt_map(&r[i], fd[i], 16);
	}
	before = x86_interrupts();
	x86_measured_spin(fd[0], turns);
	before = x86_interrupts() - before;
	for (i = 0; i < 3; i++) {
		pt_eq(pt_count(fd[i]), X86_SPIN_COST(turns));
		pt_eq(pt_count_records(&r[i], PERF_RECORD_SAMPLE), X86_SPIN_COST(turns) / 10007);
	}
	pt_check(before >= X86_SPIN_COST(turns) / 10007 &&
		 before <= 3 * (X86_SPIN_COST(turns) / 10007), "%llu interrupts",
		 (unsigned long long)before);
}

/* One overflows shortly after the other, while that one's interrupt is being handled or before. */
static void back_to_back(void)
{
	struct perf_event_attr attr = sampling(x86_general_cycles(), 0);
	static const u64 periods[] = { 5000, 5001, 5003 };
	const u64 turns = 500000;
	struct pt_ring r[3];
	int fd[3], i;

	x86_need_exact();
	for (i = 0; i < 3; i++) {
		attr.disabled = !i;
		attr.sample_period = periods[i];
		fd[i] = pt_open_hw(&attr, i ? fd[0] : -1);
		pt_map(&r[i], fd[i], 64);
	}
	x86_measured_spin(fd[0], turns);
	for (i = 0; i < 3; i++) {
		pt_eq(pt_count(fd[i]), X86_SPIN_COST(turns));
		pt_eq(pt_count_records(&r[i], PERF_RECORD_SAMPLE),
		      X86_SPIN_COST(turns) / periods[i]);
	}
}

/*
 * NMIs come in stretches of the kernel that have interrupts off, too.  What the last instruction
 * before user space overflows is found there.
 */
static void in_the_kernel(void)
{
	struct perf_event_attr attr = sampling(x86_hw(PERF_COUNT_HW_CPU_CYCLES), 5003);
	u64 count, kernel = 0, n = 0;
	int fd, i;

	x86_need_exact();
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	for (i = 0; i < 2000; i++)
		syscall(SYS_getppid);
	pt_disable(fd);
	count = pt_count(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		kernel += (rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
		n++;
	}
	pt_check(kernel > 50, "%llu samples of the kernel", (unsigned long long)kernel);
	pt_eq(n, count / 5003);
}

/*
 * The leader's interrupt is an NMI: it comes while a member of the group is being added or closed,
 * and finds the group as it was before or as it is afterwards. Where counters are switched one by
 * one, they count in the NMI, and the period has to be longer than that.
 */
static void group_that_changes(void)
{
	struct perf_event_attr attr = sampling(x86_hw(PERF_COUNT_HW_CPU_CYCLES), 1009);
	struct perf_event_attr member = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	u64 first, second, n[2] = { 0 };
	int leader, fd, i, turns = 200;

	x86_need_exact();
	if (!x86_has_global()) {
		attr.sample_period = 8009;
		turns *= 8;
	}
	attr.exclude_kernel = 0;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	member.read_format = attr.read_format;
	member.disabled = 0;
	leader = pt_open_hw(&attr, -1);
	fd = pt_open_hw(&member, leader);
	first = pt_id(leader);
	second = pt_id(fd);
	pt_map(&ring, leader, 128);
	pt_enable(leader);
	for (i = 0; i < turns; i++)
		close(pt_open_hw(&member, leader));
	pt_disable(leader);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_need(s.read.nr == 2 || s.read.nr == 3, "%llu members",
			(unsigned long long)s.read.nr);
		n[s.read.nr - 2]++;
		pt_eq(s.read.v[0].id, first);
		pt_eq(s.read.v[1].id, second);
		pt_check(s.read.nr == 2 || s.read.v[2].id > second, "third: id %llu",
			 (unsigned long long)s.read.v[2].id);
		if (pt_failures())
			break;
	}
	pt_check(n[0] > 100 && n[1] > 100, "%llu samples of two, %llu of three",
		 (unsigned long long)n[0], (unsigned long long)n[1]);
}

#define SKID_TURNS	5000

/* One period that ends with the SYSCALL: the PMI comes at the first instruction of the kernel. */
static void sample_of_syscall(struct perf_event_attr attr, u64 ip, u16 mode)
{
	u64 i;
	int fd;

	attr.sample_period = X86_SPIN_COST(SKID_TURNS);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
			   PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = 0xff;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 16);
	x86_measured_spin(fd, SKID_TURNS);
	pt_eq(pt_count(fd), attr.sample_period);
	pt_need(pt_next(&ring, &rec), "no sample");
	pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
	pt_parse_sample(&attr, &rec, &s);
	pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, mode);
	pt_eq(s.ip, ip);
	pt_eq(!!s.intr_abi, mode == PERF_RECORD_MISC_USER);
	pt_eq(s.tid, pt_tid());
	for (i = 0; i < s.nr_ips; i++)
		pt_check((s64)s.ips[i] > 0 || s.ips[i] == (u64)PERF_CONTEXT_USER, "entry %llx",
			 (unsigned long long)s.ips[i]);
	pt_check(!pt_next(&ring, &rec), "more than one record");
	pt_unmap(&ring);
	close(fd);
}

static int max_precise(void)
{
	return (int)pt_read_number(X86_PMU "caps/max_precise", 0);
}

/* Who leaves out the kernel learns nothing of it, and has his sample. */
static void skid_behind_syscall(void)
{
	const u64 syscall_at = x86_spin_ip(SKID_TURNS, X86_SPIN_COST(SKID_TURNS) - 1);
	struct perf_event_attr attr = x86_general_cycles();

	x86_need_exact();
	if (pt_is_stock())
		pt_skip("Linux 6.12 shows the kernel");
	sample_of_syscall(x86_hw(PERF_COUNT_HW_CPU_CYCLES), 0, PERF_RECORD_MISC_KERNEL);
	if (!x86_is_intel() || max_precise() < 2)
		return;
	/*
	 * The record is of user space.  The emulated PMU writes it before the SYSCALL has moved on,
	 * so that both addresses in it are those of the SYSCALL.
	 */
	attr.config = 0x1c0;
	for (attr.precise_ip = 1; attr.precise_ip <= 2; attr.precise_ip++)
		sample_of_syscall(attr, syscall_at, PERF_RECORD_MISC_USER);
}

/* Right after boot no tick may come for a while: those of the boot ran ahead of the clock. */
static void await_tick(void)
{
	u64 before = pt_clock(CLOCK_MONOTONIC_COARSE);

	while (pt_clock(CLOCK_MONOTONIC_COARSE) == before)
		pt_spin(1000);
}

/*
 * Above the limit of samples in a tick an event says so, has the sample that was due, and pauses
 * until the next tick.
 */
static void throttled(void)
{
	struct perf_event_attr attr = sampling(x86_hw(PERF_COUNT_HW_CPU_CYCLES), 2003);
	unsigned int on = 0, off = 0, after = 0, in_a_row = 0, most = 0;
	u64 time;
	int fd;

	x86_need_exact();
	pt_sysctl_set("perf_cpu_time_max_percent", 25);
	pt_sysctl_set("perf_event_max_sample_rate", 10000);
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	await_tick();
	time = pt_clock(CLOCK_MONOTONIC_RAW);
	x86_measured_spin(fd, 10000000);
	time = pt_clock(CLOCK_MONOTONIC_RAW) - time;
	while (pt_next(&ring, &rec)) {
		if (rec.h.type == PERF_RECORD_SAMPLE) {
			after += off > on;
			if (++in_a_row > most)
				most = in_a_row;
		} else if (rec.h.type == PERF_RECORD_THROTTLE) {
			pt_eq(++off, on + 1);
		} else if (rec.h.type == PERF_RECORD_UNTHROTTLE) {
			pt_eq(++on, off);
			in_a_row = 0;
		}
	}
	pt_eq(after, off);
	pt_check(off > 2 && on + 1 >= off, "%u times off, %u times on, count %llu in %llu ns",
		 off, on, (unsigned long long)pt_count(fd), (unsigned long long)time);
	pt_check(most > 10 && most < 200, "%u samples in a row", most);
	pt_check(pt_count(fd) < X86_SPIN_COST(10000000), "it counted all the time");
}

static u64 selected(int counter)
{
	return x86_rdmsr(X86_PERFEVTSEL0 + (u32)counter) & 0xffff;
}

/* Records so far; samples are added to *samples. */
static bool seen_record(u32 type, u64 *samples)
{
	while (pt_next(&ring, &rec)) {
		*samples += rec.h.type == PERF_RECORD_SAMPLE;
		if (rec.h.type == type)
			return true;
	}
	return false;
}

/* A throttled event has to leave its counter, and goes on where another one counted before. */
static void throttled_and_moved(void)
{
	struct perf_event_attr attr = x86_general_cycles(), only = x86_hw(0);
	int first, fd, other;
	u64 samples = 0;

	x86_need_exact();
	if (!x86_is_intel())
		pt_skip("no event that wants one counter");
	only.type = PERF_TYPE_RAW;
	only.config = 0x01c0;	/* INST_RETIRED.PREC_DIST */
	other = pt_open_hw(&only, -1);
	pt_enable(other);
	if (selected(0) == only.config || selected(1) != only.config)
		pt_skip("no event of counter 1 alone");
	pt_disable(other);

	pt_sysctl_set("perf_cpu_time_max_percent", 25);
	pt_sysctl_set("perf_event_max_sample_rate", 10000);
	first = pt_open_hw(&attr, -1);
	attr = sampling(attr, 2003);
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	await_tick();
	pt_enable(first);
	pt_enable(fd);
	pt_eq(selected(1), attr.config & 0xffff);
	while (!seen_record(PERF_RECORD_THROTTLE, &samples))
		pt_spin(1000);
	pt_enable(other);
	pt_eq(selected(1), only.config);
	pt_check(!seen_record(PERF_RECORD_UNTHROTTLE, &samples), "a tick came");
	pt_eq(pt_count(fd), samples * 2003);
	while (!seen_record(PERF_RECORD_UNTHROTTLE, &samples))
		pt_spin(1000);
	pt_spin(10000);
	pt_disable(fd);
	while (seen_record(PERF_RECORD_SAMPLE, &samples))
		;
	pt_eq(pt_count(fd) / 2003, samples);
}

/* PEBS: the record is of the instruction that overflowed, or of the one after it. */
static void precise(void)
{
	const u64 turns = 100000, period = 1009;
	int level;

	x86_need_exact();
	if (max_precise() < 1)
		pt_skip("no precise events");
	for (level = 1; level <= max_precise(); level++) {
		struct perf_event_attr attr = sampling(x86_general_cycles(), period);
		u64 n = 0;
		int fd;

		attr.type = PERF_TYPE_RAW;
		attr.config = 0x1c0;
		attr.precise_ip = (unsigned int)level & 3;
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
		fd = pt_open_hw(&attr, -1);
		pt_map(&ring, fd, 64);
		x86_measured_spin(fd, turns);
		pt_eq(pt_count(fd), X86_SPIN_COST(turns));
		while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
			u64 at = ++n * period;

			pt_parse_sample(&attr, &rec, &s);
			/* level 1 shows what comes next, the others the instruction itself */
			pt_eq(s.ip, x86_spin_ip(turns, level > 1 ? at - 1 : at));
			pt_eq(!!(rec.h.misc & PERF_RECORD_MISC_EXACT_IP), level > 1);
			if (pt_failures())
				break;
		}
		pt_eq(n, X86_SPIN_COST(turns) / period);
		pt_unmap(&ring);
		close(fd);
	}
}

/* Records that wait in the buffer: one interrupt for many, none lost at a switch. */
static void many_precise_records(void)
{
	struct perf_event_attr attr = sampling(x86_general_cycles(), 1009);
	u64 before, n;
	int fd, i;

	x86_need_exact();
	if (max_precise() < 1)
		pt_skip("no precise events");
	attr.config = 0x1c0;
	attr.precise_ip = 2;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 128);
	before = x86_interrupts();
	pt_enable(fd);
	for (i = 0; i < 4; i++) {
		pt_spin(250000);
		pt_switch_out();
	}
	pt_disable(fd);
	before = x86_interrupts() - before;
	n = pt_count_records(&ring, PERF_RECORD_SAMPLE);
	pt_eq(n, pt_count(fd) / 1009);
	pt_check(before < n / 4, "%llu interrupts for %llu records", (unsigned long long)before,
		 (unsigned long long)n);
}

/* In frequency mode each period is different; samples show the one that ended. */
static void check_ended(struct perf_event_attr attr, u64 turns)
{
	u64 n = 0, different = 0, last = 0, sum = 0;
	int fd = pt_open_hw(&attr, -1);

	pt_map(&ring, fd, 128);
	x86_measured_spin(fd, turns);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
		pt_parse_sample(&attr, &rec, &s);
		n++;
		different += s.period != last;
		/* No counter is loaded with less than 2: the next period may make up for it. */
		if (s.period == 1 || last == 1)
			sum = s.read.v[0].value;
		else
			sum += s.period;
		last = s.period;
		if (attr.sample_type & PERF_SAMPLE_READ)
			pt_eq(s.read.v[0].value, sum);
		pt_eq(s.ip, x86_spin_ip(turns, attr.precise_ip ? sum - 1 : sum));
	}
	pt_check(n > 50 && different > 20, "%llu samples, %llu periods", (unsigned long long)n,
		 (unsigned long long)different);
	pt_unmap(&ring);
	close(fd);
}

static void period_that_ended(void)
{
	struct perf_event_attr attr[] = {
		x86_hw(PERF_COUNT_HW_CPU_CYCLES), x86_general_cycles(), x86_general_cycles(),
	};
	unsigned int i, kinds = PT_ARRAY_SIZE(attr) - 1;

	x86_need_exact();
	if (pt_is_stock())
		pt_skip("Linux 6.12 shows the period that begins");
	if (max_precise() > 1) {
		attr[kinds].type = PERF_TYPE_RAW;
		attr[kinds].config = 0x1c0;
		attr[kinds++].precise_ip = 2;
	}
	for (i = 0; i < kinds; i++) {
		attr[i] = sampling(attr[i], 0);
		attr[i].freq = 1;
		attr[i].sample_freq = 4000;
		if (attr[i].precise_ip)
			attr[i].sample_type &= ~(u64)PERF_SAMPLE_READ;
		check_ended(attr[i], 20000000);
	}
}

/* A new period begins at once, and samples from then on show it. */
static void period_replaced(void)
{
	struct perf_event_attr attr = sampling(x86_hw(PERF_COUNT_HW_CPU_CYCLES), 10007);
	u64 next = 30011, at, before = 0, n = 0;
	int fd;

	x86_need_exact();
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	pt_spin(200000);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&next), 0);
	at = pt_count(fd);
	pt_spin(400000);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
		u64 value, passed;

		pt_parse_sample(&attr, &rec, &s);
		value = s.read.v[0].value;
		passed = value - before;
		pt_eq(s.period, value <= at ? 10007 : next);
		if (before <= at && value > at)
			pt_check(passed >= next && passed < next + 10007, "%llu after %llu",
				 (unsigned long long)value, (unsigned long long)before);
		else
			pt_eq(passed, s.period);
		before = value;
		n++;
	}
	pt_check(n > 20, "%llu samples", (unsigned long long)n);
	pt_check(pt_count(fd) - before < next, "a period without a sample");
}

/* Records that wait when the period is replaced are of the old one, and count as that many. */
static void period_replaced_with_records(void)
{
	struct perf_event_attr attr = sampling(x86_general_cycles(), 1009);
	struct perf_event_attr plain = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	u64 next = 5003, before, n = 0;
	int fd, other;

	x86_need_exact();
	if (pt_is_stock())
		pt_skip("Linux 6.12 counts these records with the new period");
	if (max_precise() < 1)
		pt_skip("no precise events");
	attr.type = PERF_TYPE_RAW;
	attr.config = 0x1c0;
	attr.precise_ip = 2;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
	fd = pt_open_hw(&attr, -1);
	plain.disabled = 0;
	other = pt_open_hw(&plain, fd);
	pt_map(&ring, fd, 128);
	pt_enable(fd);
	pt_spin(20000);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&next), 0);
	before = pt_count(fd);
	pt_spin(100000);
	pt_disable(fd);
	pt_eq(pt_count(fd), pt_count(other));
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.period, n++ < before / 1009 ? 1009 : next);
	}
	pt_check(n > before / 1009 && before > 20 * 1009, "%llu samples, %llu at the change",
		 (unsigned long long)n, (unsigned long long)before);
}

static struct perf_event_attr branches(u64 type)
{
	struct perf_event_attr attr = sampling(x86_hw(PERF_COUNT_HW_CPU_CYCLES), 10007);

	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = type | PERF_SAMPLE_BRANCH_USER;
	x86_need_exact();
	if (max_precise() < 1 && !pt_path_exists(X86_PMU "caps/branches"))
		pt_skip("no branch records");
	if (pt_probe(&attr) == -EOPNOTSUPP)
		pt_skip("no branch records");
	return attr;
}

/*
 * What the call loop does, newest branch first. Only those of the kind that was asked for; wanted
 * has a bit for each branch of a turn.
 */
static void check_branches(u64 type, unsigned int wanted)
{
	struct perf_event_attr attr = branches(type);
	unsigned int samples = 0;
	int fd = pt_open_hw(&attr, -1);

	pt_map(&ring, fd, 64);
	pt_enable(fd);
	x86_call_loop(30000);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		int at, k;
		u64 i;

		pt_parse_sample(&attr, &rec, &s);
		samples++;
		pt_check(s.nr_branches > 8, "%llu branches", (unsigned long long)s.nr_branches);
		for (at = 0; at < X86_CALL_LOOP_BRANCHES; at++) {
			if (s.branches[0].from == x86_call_loop_branch(at).from)
				break;
		}
		pt_check(at < X86_CALL_LOOP_BRANCHES, "a branch at %llx",
			 (unsigned long long)s.branches[0].from);
		for (i = 0, k = at; i < s.nr_branches && !pt_failures(); i++) {
			struct x86_branch b = x86_call_loop_branch(k);

			/* the oldest ones of the first sample are the way to the loop */
			if (samples == 1 && s.branches[i].from != b.from)
				break;
			pt_eq(s.branches[i].from, b.from);
			pt_eq(s.branches[i].to, b.to);
			do
				k = (k + X86_CALL_LOOP_BRANCHES - 1) % X86_CALL_LOOP_BRANCHES;
			while (!(wanted & 1u << k));
		}
		if (pt_failures())
			break;
	}
	pt_check(samples > 20, "%u samples", samples);
	pt_unmap(&ring);
	close(fd);
}

static void all_branches(void)
{
	check_branches(PERF_SAMPLE_BRANCH_ANY, 0x1f);
}

static void calls_and_returns(void)
{
	check_branches(PERF_SAMPLE_BRANCH_ANY_CALL, 0x03);
	check_branches(PERF_SAMPLE_BRANCH_ANY_RETURN, 0x0c);
	check_branches(PERF_SAMPLE_BRANCH_COND, 0x10);
	check_branches(PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_COND, 0x13);
}

/* Calls that have not returned: at most those of the loop, its caller is older than the event. */
static void call_stack(void)
{
	struct perf_event_attr attr = branches(PERF_SAMPLE_BRANCH_CALL_STACK);
	unsigned int samples = 0;
	int fd = pt_open_hw(&attr, -1);

	pt_map(&ring, fd, 64);
	pt_enable(fd);
	x86_call_loop(30000);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
		struct x86_branch f = x86_call_loop_branch(0), g = x86_call_loop_branch(1);
		u64 depth;

		pt_parse_sample(&attr, &rec, &s);
		samples++;
		for (depth = 0; depth < s.nr_branches; depth++) {
			if (s.branches[depth].from != f.from && s.branches[depth].from != g.from)
				break;
		}
		if (s.ip >= g.to)
			pt_eq(depth, 2);
		else if (s.ip >= f.to)
			pt_eq(depth, 1);
		else
			pt_eq(depth, 0);
	}
	pt_check(samples > 20, "%u samples", samples);
}

/* An interrupt that nobody handled leaves the local APIC's entry masked, but not for good. */
static void after_a_lost_nmi(void)
{
	struct perf_event_attr attr = sampling(x86_hw(PERF_COUNT_HW_CPU_CYCLES), 10007);

	x86_need_exact();
	pt_load_module("test_nmi", NULL);
	run(attr, 100000);
	pt_eq(pt_module_set("test_nmi", "swallow", 1), 0);
	run(attr, 100000);
}

static const struct pt_case cases[] = {
	{ "at_many_periods", at_many_periods },
	{ "together", together },
	{ "back_to_back", back_to_back },
	{ "in_the_kernel", in_the_kernel },
	{ "group_that_changes", group_that_changes },
	{ "skid_behind_syscall", skid_behind_syscall },
	{ "throttled", throttled },
	{ "throttled_and_moved", throttled_and_moved },
	{ "precise", precise },
	{ "many_precise_records", many_precise_records },
	{ "period_that_ended", period_that_ended },
	{ "period_replaced", period_replaced },
	{ "period_replaced_with_records", period_replaced_with_records },
	{ "after_a_lost_nmi", after_a_lost_nmi },
	{ "all_branches", all_branches },
	{ "calls_and_returns", calls_and_returns },
	{ "call_stack", call_stack },
};

PT_MAIN(cases)
