// SPDX-License-Identifier: GPL-2.0
/*
 * x86_sleep.c - suspend to RAM while events count: the CPU that falls asleep last is not taken
 * offline, but loses its registers. Counts go on where they were, samples, branch records and
 * precise records come as before, and the counters can be read in user space.
 *
 * needs: sleep
 */
#include "lib/x86.h"
#include "lib/x86_code.h"

#define ALARM	"/sys/class/rtc/rtc0/wakealarm"
#define STATE	"/sys/power/state"
#define PERIOD	10007

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static void need_sleep(void)
{
	x86_need_exact();
	if (!pt_path_exists(ALARM) || pt_write_file("/sys/power/mem_sleep", "deep"))
		pt_skip("this machine cannot be suspended to RAM for a while");
}

static void set_alarm(void)
{
	pt_eq(pt_write_file(ALARM, "0"), 0);
	pt_need(!pt_write_file(ALARM, "+2"), "%s: %s", ALARM, strerror(errno));
}

static void fall_asleep(void)
{
	set_alarm();
	pt_need(!pt_write_file(STATE, "mem"), "%s: %s", STATE, strerror(errno));
}

/* A counter that nobody uses. */
static void registers_are_lost(void)
{
	u32 last;

	need_sleep();
	last = (u32)x86_general() - 1;
	last = x86_is_intel() ? X86_PMC0 + last : X86_AMD_COUNTER0 + 2 * last;
	x86_wrmsr(last, 12345);
	pt_eq(x86_rdmsr(last), 12345);
	fall_asleep();
	pt_eq(x86_rdmsr(last), 0);
	pt_eq(x86_counters_on(0), 0);
}

static u64 counted(int fd, int to)
{
	pt_reset(fd);
	pt_enable(fd);
	pt_eq(write(to, "mem", 3), 3);
	pt_spin(1000);
	pt_disable(fd);
	return pt_count(fd);
}

/* The same instructions, whether what is written to sleeps or not. */
static void counts_of_a_task(void)
{
	struct perf_event_attr attr[] = {
		x86_hw(PERF_COUNT_HW_INSTRUCTIONS), x86_hw(PERF_COUNT_HW_CPU_CYCLES),
		x86_general_cycles(), x86_conditional_branches(),
	};
	unsigned int i;
	int null, state;

	need_sleep();
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	state = open(STATE, O_WRONLY | O_CLOEXEC);
	pt_need(null >= 0 && state >= 0, "open: %s", strerror(errno));
	for (i = 0; i < PT_ARRAY_SIZE(attr); i++) {
		int fd = pt_open_hw(&attr[i], -1);
		u64 want;

		counted(fd, null);
		want = counted(fd, null);
		set_alarm();
		pt_eq(counted(fd, state), want);
		close(fd);
	}
	pt_eq(x86_counters_on(0), 0);
}

/* Instructions and cycles of one CPU are as many, in whichever counters; no turn is left out. */
static void counts_of_a_cpu(void)
{
	struct perf_event_attr attr[] = {
		x86_hw(PERF_COUNT_HW_INSTRUCTIONS), x86_hw(PERF_COUNT_HW_CPU_CYCLES),
		x86_general_cycles(),
	};
	struct pt_read before, after;
	int fds[PT_ARRAY_SIZE(attr)];
	unsigned int i;

	need_sleep();
	for (i = 0; i < PT_ARRAY_SIZE(attr); i++) {
		attr[i].read_format = PERF_FORMAT_GROUP;
		fds[i] = pt_open(&attr[i], -1, 0, i ? fds[0] : -1, 0);
		if (i)
			pt_enable(fds[i]);
	}
	pt_enable(fds[0]);
	pt_spin(100000);
	pt_read(fds[0], PERF_FORMAT_GROUP, 3, &before);
	fall_asleep();
	pt_spin(100000);
	pt_read(fds[0], PERF_FORMAT_GROUP, 3, &after);
	pt_check(before.v[0].value >= 200000, "%llu", (unsigned long long)before.v[0].value);
	pt_check(after.v[0].value >= before.v[0].value + 200000, "%llu after %llu",
		 (unsigned long long)after.v[0].value, (unsigned long long)before.v[0].value);
	for (i = 1; i < PT_ARRAY_SIZE(attr); i++)
		pt_eq(after.v[i].value, after.v[0].value);
}

static u64 samples(const struct perf_event_attr *attr)
{
	u64 n = 0;

	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(attr, &rec, &s);
		n++;
	}
	return n;
}

/* Of all that CPU 0 does in user space; one for each period, those before and after together. */
static void sample_a_cpu(struct perf_event_attr *attr)
{
	u64 early, all;
	int fd;

	attr->sample_period = PERIOD;
	fd = pt_open(attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 256);
	pt_enable(fd);
	pt_spin(100000);
	fall_asleep();
	early = samples(attr);
	pt_check(early >= 200000 / PERIOD, "%llu samples", (unsigned long long)early);
	pt_spin(100000);
	pt_disable(fd);
	all = early + samples(attr);
	pt_check(all >= early + 200000 / PERIOD, "%llu of %llu samples after it",
		 (unsigned long long)(all - early), (unsigned long long)all);
	pt_eq(all, pt_count(fd) / PERIOD);
	pt_unmap(&ring);
	close(fd);
}

static void samples_of_a_cpu(void)
{
	struct perf_event_attr attr[] = {
		x86_hw(PERF_COUNT_HW_CPU_CYCLES), x86_general_cycles(),
	};
	unsigned int i;

	need_sleep();
	for (i = 0; i < PT_ARRAY_SIZE(attr); i++) {
		attr[i].sample_type = PERF_SAMPLE_IP;
		sample_a_cpu(&attr[i]);
	}
}

static void precise_samples(void)
{
	struct perf_event_attr attr = x86_hw(0);

	need_sleep();
	attr.type = PERF_TYPE_RAW;
	attr.config = 0xc0;
	attr.precise_ip = 2;
	/* Records stay in the CPU's buffer for as long as they may. */
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	attr.sample_period = PERIOD;
	if (!x86_is_intel() || pt_probe(&attr))
		pt_skip("no PEBS");
	sample_a_cpu(&attr);
}

/* Full stacks of branches of the loop, which has more than the records can hold. */
static u64 stacks(const struct perf_event_attr *attr)
{
	u64 full = pt_read_number(X86_PMU "caps/branches", 0), n = 0;

	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(attr, &rec, &s);
		if (s.nr_branches == full && s.branches[0].from >= pt_addr(x86_cl_start) &&
		    s.branches[0].from <= pt_addr(x86_cl_ret2))
			n++;
	}
	return n;
}

static void branch_records(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	u64 early, late;
	int fd;

	need_sleep();
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	if (!pt_path_exists(X86_PMU "caps/branches") || pt_probe(&attr))
		pt_skip("no branch records");
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 256);
	pt_enable(fd);
	x86_call_loop(20000);
	early = stacks(&attr);
	fall_asleep();
	pt_drain(&ring);
	x86_call_loop(20000);
	pt_disable(fd);
	late = stacks(&attr);
	pt_check(early > 0, "none before it");
	/* Periods do not begin with the loop. */
	pt_check(late + 1 >= early && late <= early + 1, "%llu, before it %llu",
		 (unsigned long long)late, (unsigned long long)early);
	pt_unmap(&ring);
	close(fd);
}

/* From the instruction that reads the counter to the system call. */
static u64 user_ahead(int fd, struct perf_event_mmap_page *page)
{
	u64 user = x86_user_count(page);

	return pt_count(fd) - user;
}

static void user_reads(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_mmap_page *page;
	u64 want;
	int fd;

	need_sleep();
	fd = pt_open_hw(&attr, -1);
	page = pt_try_map(fd, 0, PROT_READ);
	pt_need(page, "mmap: %s", strerror(errno));
	pt_enable(fd);
	user_ahead(fd, page);
	want = user_ahead(fd, page);
	fall_asleep();
	user_ahead(fd, page);
	pt_eq(user_ahead(fd, page), want);
	close(fd);
}

/* The others went offline and came back. */
static void other_cpus(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int fd;

	need_sleep();
	if (pt_online_cpus() < 2)
		pt_skip("one CPU");
	fd = pt_open_hw(&attr, -1);
	pt_pin(1);
	x86_measured_spin(fd, 1000);
	fall_asleep();
	pt_pin(1);
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), 2 * X86_SPIN_COST(1000));
	pt_eq(x86_counters_on(0) + x86_counters_on(1), 0);
}

static const struct pt_case cases[] = {
	{ "registers_are_lost", registers_are_lost },
	{ "counts_of_a_task", counts_of_a_task },
	{ "counts_of_a_cpu", counts_of_a_cpu },
	{ "samples_of_a_cpu", samples_of_a_cpu },
	{ "precise_samples", precise_samples },
	{ "branch_records", branch_records },
	{ "user_reads", user_reads },
	{ "other_cpus", other_cpus },
};

PT_MAIN(cases)
