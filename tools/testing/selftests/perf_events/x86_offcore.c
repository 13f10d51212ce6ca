// SPDX-License-Identifier: GPL-2.0
/*
 * x86_offcore.c - offcore responses of Intel CPUs, for which an event needs a register besides a
 * counter. Events with one value share a register; with another value they use the other register
 * or wait. On Nehalem and Westmere the threads of a core share the registers.
 *
 * On the emulated PMU such an event counts instructions if bit 0 of its value is set, half of them
 * if bit 1 is and bit 0 is not, and else nothing.
 *
 * needs: offcore
 */
#include "lib/x86.h"

#define ONLINE		"/sys/devices/system/cpu/cpu1/online"
#define SIBLINGS	"/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"
#define RSP_0		0x1a6
#define CODE_0		0x1b7
#define CODE_1		0x1bb
#define GENERAL		4
#define TIMES		(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* Different values, all of which count instructions. */
#define ALL(n)		(1ull | 0x100ull << (n))
#define HALF		0x102ull
#define NONE		0x104ull

static const struct machine {
	const char *name;
	int registers;
	bool shared;
	u64 bits;
} machines[] = {
	{ "nehalem", 1, true, 0xffff }, { "westmere", 2, true, 0xffff },
	{ "skylake", 2, false, 0x3fffff8fff },
};

static const struct machine *need_offcore(void)
{
	char name[32] = "";
	unsigned int i;

	x86_need_exact();
	pt_slurp(X86_PMU "caps/pmu_name", name, sizeof(name));
	for (i = 0; i < PT_ARRAY_SIZE(machines); i++) {
		if (!strcmp(name, machines[i].name))
			return &machines[i];
	}
	pt_skip("registers of %s", name);
}

/* The same, with two threads of a core. */
static const struct machine *need_threads(void)
{
	const struct machine *m = need_offcore();
	char list[32] = "";

	pt_slurp(SIBLINGS, list, sizeof(list));
	if (strcmp(list, "0-1") && strcmp(list, "0,1"))
		pt_skip("CPUs 0 and 1 are not one core");
	return m;
}

static struct perf_event_attr offcore(u64 code, u64 value)
{
	struct perf_event_attr attr = x86_hw(0);

	attr.type = PERF_TYPE_RAW;
	attr.config = code;
	attr.config1 = value;
	attr.read_format = TIMES;
	return attr;
}

static int try_open(u64 value, int group)
{
	struct perf_event_attr attr = offcore(CODE_0, value);

	attr.disabled = group < 0;
	return pt_try_open(&attr, 0, -1, group, 0);
}

static int open_one(u64 value, int group)
{
	int fd = try_open(value, group);

	if (fd == -ENXIO)
		pt_skip("the registers do not work");
	pt_need(fd >= 0, "value %llx: %s", (unsigned long long)value, strerror(-fd));
	return fd;
}

/* Of a CPU, whoever runs there in user space. */
static int open_of_cpu(int cpu, u64 value)
{
	struct perf_event_attr attr = offcore(CODE_0, value);

	return pt_open(&attr, -1, cpu, -1, 0);
}

static u64 expected(u64 value, u64 instructions)
{
	if (value & 1)
		return instructions;
	return value & 2 ? instructions / 2 : 0;
}

/* The code that counter @i counts now, 0 if it is off. */
static u64 code_of(int i)
{
	u64 select = x86_rdmsr(X86_PERFEVTSEL0 + (u32)i);

	return select >> 22 & 1 ? select & 0xffff : 0;
}

/* How many counters count @code? */
static int counters_of(u64 code)
{
	int i, n = 0;

	for (i = 0; i < GENERAL; i++)
		n += code_of(i) == code;
	return n;
}

static void the_register_says_what(void)
{
	static const u64 values[] = { 0x1, 0x2, 0x3, 0x4, ALL(0), HALF, NONE, 0x8fff };
	static const u64 turns[] = { 1, 2, 10, 1000 };
	unsigned int i, j;
	int fd;

	need_offcore();
	for (i = 0; i < PT_ARRAY_SIZE(values); i++) {
		fd = open_one(values[i], -1);
		for (j = 0; j < PT_ARRAY_SIZE(turns); j++) {
			pt_reset(fd);
			/* no tick: a counter that is written anew forgets half an event */
			pt_switch_out();
			x86_measured_spin(fd, turns[j]);
			pt_eq(pt_count(fd), expected(values[i], X86_SPIN_COST(turns[j])));
		}
		pt_enable(fd);
		pt_eq(x86_rdmsr(RSP_0), values[i]);
		pt_eq(counters_of(CODE_0), 1);
		close(fd);
	}
}

/* A bit that the register does not have is refused at open, whichever register it is. */
static void reserved_bits(void)
{
	const struct machine *m = need_offcore();
	int bit, i, fd;

	for (i = 0; i < m->registers; i++) {
		for (bit = 0; bit < 64; bit++) {
			struct perf_event_attr attr = offcore(i ? CODE_1 : CODE_0, 1 | 1ull << bit);

			fd = pt_try_open(&attr, 0, -1, -1, 0);
			if (m->bits >> bit & 1)
				pt_check(fd >= 0, "bit %d: %s", bit, strerror(-fd));
			else
				pt_eq(fd, -EINVAL);
			if (fd < 0)
				continue;
			pt_enable(fd);
			pt_eq(x86_rdmsr(RSP_0 + (u32)i), attr.config1);
			close(fd);
		}
	}
}

/* As many values as registers fit into a group, with as many events as counters. */
static void sizes_of_groups(void)
{
	const struct machine *m = need_offcore();
	int fd[GENERAL], i;

	fd[0] = open_one(ALL(0), -1);
	for (i = 1; i < GENERAL; i++) {
		if (i == 1 && m->registers > 1)
			fd[i] = open_one(ALL(1), fd[0]);
		else
			fd[i] = open_one(ALL(0), fd[0]);
		pt_eq(try_open(ALL(2), fd[0]), -EINVAL);
		if (m->registers == 1)
			pt_eq(try_open(ALL(1), fd[0]), -EINVAL);
	}
	/* no counter is left */
	pt_eq(try_open(ALL(0), fd[0]), -EINVAL);
	x86_measured_spin(fd[0], 5000);
	for (i = 0; i < GENERAL; i++)
		pt_eq(pt_count(fd[i]), X86_SPIN_COST(5000));
}

/* Both registers in use: the second event has the other one, whichever it asked for. */
static void two_values(void)
{
	static const u64 codes[] = { CODE_0, CODE_1 };
	unsigned int i;

	if (need_offcore()->registers < 2)
		pt_skip("one register");
	for (i = 0; i < PT_ARRAY_SIZE(codes); i++) {
		struct perf_event_attr attr = offcore(codes[i], ALL(0));
		int one = pt_open_hw(&attr, -1), two;

		attr = offcore(codes[i], HALF);
		attr.disabled = 0;
		two = pt_open_hw(&attr, one);
		x86_measured_spin(one, 1000);
		pt_eq(pt_count(one), X86_SPIN_COST(1000));
		pt_eq(pt_count(two), X86_SPIN_COST(1000) / 2);
		pt_enable(one);
		pt_eq(x86_rdmsr(RSP_0 + i), ALL(0));
		pt_eq(x86_rdmsr(RSP_0 + !i), HALF);
		pt_eq(counters_of(CODE_0), 1);
		pt_eq(counters_of(CODE_1), 1);
		close(two);
		close(one);
	}
}

/* Enabled on this CPU: for how much of so many turns was the event on? */
static u64 time_on(int fd, u64 turns)
{
	struct pt_read before, after;

	pt_read(fd, TIMES, 1, &before);
	pt_spin(turns);
	pt_read(fd, TIMES, 1, &after);
	return after.running - before.running;
}

/*
 * Nothing is in its way now: it comes on at the next turn. With several CPUs the emulated machine
 * is late with the timers of all but the first. Afterwards it is disabled.
 */
static void wait_for_turn(int fd)
{
	int i;

	pt_enable(fd);
	for (i = 0; i < 10000; i++) {
		if (time_on(fd, 100000))
			break;
	}
	pt_check(i < 10000, "it never counted");
	pt_disable(fd);
}

/* One value in one register, whoever asks: the other one is free for another value. */
static void one_value_one_register(void)
{
	const struct machine *m = need_offcore();
	int fd[GENERAL - 1], other, i;

	for (i = 0; i < GENERAL - 1; i++) {
		fd[i] = open_one(ALL(0), -1);
		pt_enable(fd[i]);
		pt_eq(counters_of(CODE_0), i + 1);
	}
	other = open_one(HALF, -1);
	x86_measured_spin(other, 1000);
	pt_eq(pt_count(other), m->registers > 1 ? X86_SPIN_COST(1000) / 2 : 0);
	/* once nobody has the value the register is free */
	for (i = 0; i < GENERAL - 1; i++)
		close(fd[i]);
	pt_reset(other);
	x86_measured_spin(other, 1000);
	pt_eq(pt_count(other), X86_SPIN_COST(1000) / 2);
}

/* More values than registers: by turns, each of them exact while it is on. */
static void multiplexed(void)
{
	enum { GROUPS = 4 };
	const struct machine *m = need_offcore();
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int event[GROUPS], instructions[GROUPS], i;
	u64 running = 0, spent = 0;
	struct pt_read r;

	attr.disabled = 0;
	for (i = 0; i < GROUPS; i++) {
		event[i] = open_one(ALL(i), -1);
		instructions[i] = pt_open_hw(&attr, event[i]);
	}
	for (i = 0; i < GROUPS; i++)
		pt_enable(event[i]);
	for (i = 0; i < 60; i++) {
		pt_spin(1000000);
		pt_check(counters_of(CODE_0) + counters_of(CODE_1) <= m->registers,
			 "more than %d", m->registers);
	}
	for (i = 0; i < GROUPS; i++)
		pt_disable(event[i]);
	for (i = 0; i < GROUPS; i++) {
		pt_read(event[i], TIMES, 1, &r);
		pt_check(r.v[0].value > 1000000, "event %d: %llu", i,
			 (unsigned long long)r.v[0].value);
		pt_eq(r.v[0].value, pt_count(instructions[i]));
		pt_check(r.running && r.running < r.enabled, "event %d: %llu of %llu", i,
			 (unsigned long long)r.running, (unsigned long long)r.enabled);
		running += r.running;
		spent = r.enabled;
	}
	pt_check(running > (u64)m->registers * spent * 9 / 10 &&
		 running < (u64)m->registers * spent * 11 / 10, "%llu of %d * %llu",
		 (unsigned long long)running, m->registers, (unsigned long long)spent);
}

/* Interrupts are right after the instruction, also where every second one counts. */
static void samples(void)
{
	const u64 period = 499, turns = 20000;
	static const u64 values[] = { ALL(0), HALF };
	struct pt_record rec;
	struct pt_sample s;
	struct pt_ring r;
	unsigned int i;
	int fd;
	u64 n;

	need_offcore();
	for (i = 0; i < PT_ARRAY_SIZE(values); i++) {
		struct perf_event_attr attr = offcore(CODE_0, values[i]);

		attr.sample_period = period;
		attr.sample_type = PERF_SAMPLE_IP;
		fd = pt_open_hw(&attr, -1);
		pt_map(&r, fd, 64);
		x86_measured_spin(fd, turns);
		for (n = 0; pt_next_of(&r, &rec, PERF_RECORD_SAMPLE) && !pt_failures();) {
			pt_parse_sample(&attr, &rec, &s);
			pt_eq(s.ip, x86_spin_ip(turns, ++n * period << i));
		}
		pt_eq(n, expected(values[i], X86_SPIN_COST(turns)) / period);
		pt_unmap(&r);
		close(fd);
	}
}

/* Generic events of the last-level cache are such events: reads are bit 0, writes bit 1. */
static void cache_events(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CACHE_LL);
	const struct machine *m = need_offcore();
	int reads, writes;

	attr.type = PERF_TYPE_HW_CACHE;
	reads = pt_open_hw(&attr, -1);
	attr.config |= PERF_COUNT_HW_CACHE_OP_WRITE << 8;
	attr.disabled = m->registers < 2;
	writes = pt_open_hw(&attr, m->registers < 2 ? -1 : reads);
	x86_measured_spin(reads, 1000);
	pt_eq(pt_count(reads), X86_SPIN_COST(1000));
	if (m->registers < 2)
		x86_measured_spin(writes, 1000);
	pt_eq(pt_count(writes), X86_SPIN_COST(1000) / 2);
}

/* A stretch on that CPU; has the event been on all the time, or never? */
static void expect(int fd, int cpu, u64 value, bool on)
{
	struct pt_read before, after;

	pt_pin(cpu);
	pt_reset(fd);
	pt_read(fd, TIMES, 1, &before);
	x86_measured_spin(fd, 1000);
	pt_read(fd, TIMES, 1, &after);
	pt_check(after.enabled > before.enabled, "the event was not enabled");
	pt_eq(after.running - before.running, on ? after.enabled - before.enabled : 0);
	pt_eq(after.v[0].value, on ? expected(value, X86_SPIN_COST(1000)) : 0);
}

/* @fd waits on this CPU for what @other has, which goes: the next try finds it free. */
static void gets_what_is_closed(int fd, int other)
{
	pt_enable(fd);
	pt_eq(time_on(fd, 10000000), 0);
	close(other);
	wait_for_turn(fd);
}

/* The same values on both threads: nobody waits. */
static void threads_with_one_value(void)
{
	static const u64 values[] = { ALL(0), HALF };
	const struct machine *m = need_threads();
	int fd[2][2], cpu, i;

	for (i = 0; i < m->registers; i++) {
		for (cpu = 0; cpu < 2; cpu++) {
			fd[i][cpu] = open_of_cpu(cpu, values[i]);
			pt_enable(fd[i][cpu]);
		}
	}
	/* the one of this CPU is off and on again, while the other ones count */
	for (i = 0; i < m->registers; i++) {
		for (cpu = 0; cpu < 2; cpu++) {
			pt_pin(cpu);
			pt_disable(fd[i][cpu]);
			expect(fd[i][cpu], cpu, values[i], true);
			pt_enable(fd[i][cpu]);
		}
	}
}

/*
 * CPU @one has a value in each register and CPU @two wants one more: it waits until one is free,
 * unless each thread has its own registers. Neither writes the other's.
 */
static void fill_and_wait(const struct machine *m, int one, int two)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int fd[2], beside[2], last, i;

	attr.disabled = 0;
	for (i = 0; i < m->registers; i++) {
		fd[i] = open_of_cpu(one, ALL(i));
		beside[i] = pt_open(&attr, -1, one, fd[i], 0);
		pt_enable(fd[i]);
	}
	last = open_of_cpu(two, HALF);
	expect(last, two, HALF, !m->shared);
	pt_pin(one);
	pt_spin(1000);
	for (i = 0; i < m->registers; i++) {
		/* they were on all the time, and count what they did before */
		pt_disable(fd[i]);
		pt_check(pt_count(fd[i]) > 2000, "it did not count");
		pt_eq(pt_count(fd[i]), pt_count(beside[i]));
		close(beside[i]);
		expect(fd[i], one, ALL(i), true);
		pt_enable(fd[i]);
	}
	pt_pin(two);
	if (m->shared)
		gets_what_is_closed(last, fd[0]);
	else
		close(fd[0]);
	expect(last, two, HALF, true);
	/* now that CPU has them all, and the first one waits; of its own events none takes turns */
	pt_enable(last);
	if (m->registers > 1) {
		close(fd[1]);
		fd[1] = open_of_cpu(two, ALL(1));
		pt_enable(fd[1]);
	}
	fd[0] = open_of_cpu(one, ALL(2));
	expect(fd[0], one, ALL(2), !m->shared);
	if (m->shared)
		gets_what_is_closed(fd[0], last);
	else
		close(last);
	expect(fd[0], one, ALL(2), true);
	close(fd[0]);
	if (m->registers > 1)
		close(fd[1]);
}

static void threads_with_other_values(void)
{
	const struct machine *m = need_threads();

	fill_and_wait(m, 0, 1);
	fill_and_wait(m, 1, 0);
}

/* An event of a task, too, that comes to a core whose registers are taken, and leaves it again. */
static void a_task_waits(void)
{
	const struct machine *m = need_threads();
	struct pt_read before, after;
	int fd[2], mine, i;

	for (i = 0; i < m->registers; i++) {
		fd[i] = open_of_cpu(1, ALL(i));
		pt_enable(fd[i]);
	}
	mine = open_one(HALF, -1);
	expect(mine, 0, HALF, !m->shared);
	/* where the values are it is no better off than beside them */
	expect(mine, 1, HALF, false);
	for (i = 0; i < m->registers; i++)
		close(fd[i]);
	expect(mine, 0, HALF, true);
	expect(mine, 1, HALF, true);
	/* each thread gives back what it took: it can go to and fro */
	pt_reset(mine);
	pt_read(mine, TIMES, 1, &before);
	for (i = 0; i < 20; i++) {
		pt_pin(i & 1);
		x86_measured_spin(mine, 1000);
	}
	pt_read(mine, TIMES, 1, &after);
	pt_eq(after.v[0].value, 20 * (X86_SPIN_COST(1000) / 2));
	pt_eq(after.running - before.running, after.enabled - before.enabled);
}

/* The second thread goes, with an event, and comes back to the same registers. */
static void a_thread_goes_and_comes(void)
{
	const struct machine *m = need_threads();
	int fd[3], i, j;

	for (i = 0; i < 2; i++) {
		fd[2] = open_of_cpu(1, NONE);
		pt_enable(fd[2]);
		pt_pin(0);
		pt_eq(pt_write_file(ONLINE, "0"), 0);
		/* what it had is free */
		for (j = 0; j < m->registers; j++) {
			fd[j] = open_of_cpu(0, ALL(j));
			expect(fd[j], 0, ALL(j), true);
			pt_enable(fd[j]);
		}
		for (j = 0; j < m->registers; j++)
			close(fd[j]);
		pt_eq(pt_write_file(ONLINE, "1"), 0);
		close(fd[2]);
		fill_and_wait(m, 0, 1);
		fill_and_wait(m, 1, 0);
		pt_pin(0);
	}
}

static const struct pt_case cases[] = {
	{ "the_register_says_what", the_register_says_what },
	{ "reserved_bits", reserved_bits },
	{ "sizes_of_groups", sizes_of_groups },
	{ "two_values", two_values },
	{ "one_value_one_register", one_value_one_register },
	{ "multiplexed", multiplexed },
	{ "samples", samples },
	{ "cache_events", cache_events },
	{ "threads_with_one_value", threads_with_one_value },
	{ "threads_with_other_values", threads_with_other_values },
	{ "a_task_waits", a_task_waits },
	{ "a_thread_goes_and_comes", a_thread_goes_and_comes },
};

PT_MAIN(cases)
