// SPDX-License-Identifier: GPL-2.0
/*
 * arm64_sleep.c - idle states that lose the registers of the PMU while a CPU's events are in them:
 * counts go on where they were, and samples come as before. The module test_sleep is what loses.
 *
 * needs: idle
 */
#include "lib/arm64.h"

#define MODULE	"test_sleep"
#define NAPS	200
#define PERIOD	1009

static struct pt_record rec;
static struct pt_ring ring;

static void need_sleep(void)
{
	a64_need_exact();
	if (pt_read_number("/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", 0) <= 0)
		pt_skip("no idle state that loses registers");
	pt_pin(0);
	pt_load_module(MODULE, NULL);
}

/* As many instructions of user space, however long a nap takes. */
static void nap(unsigned int turns, long ns)
{
	const struct timespec ts = { 0, ns };

	while (turns--) {
		syscall(SYS_nanosleep, &ts, NULL);
		pt_spin(100);
	}
}

static void naps(void)
{
	long long before = pt_module_get(MODULE, "lost"), after;

	nap(NAPS, 3000000);
	after = pt_module_get(MODULE, "lost");
	pt_check(after - before >= NAPS, "%lld of %d", after - before, NAPS);
}

static int open_of_cpu(struct perf_event_attr attr, int group)
{
	attr.read_format = PERF_FORMAT_GROUP;
	return pt_open(&attr, -1, 0, group, 0);
}

/* What two counters of different kinds say is the same, and it is what the CPU did. */
static void counts_of_a_cpu(void)
{
	struct perf_event_attr attr[] = {
		a64_raw(A64_INSTRUCTIONS), a64_raw(A64_CYCLES), a64_raw(A64_INSTRUCTIONS),
		a64_raw(A64_SW_INCR),
	};
	struct pt_read r;
	int fds[PT_ARRAY_SIZE(attr)];
	unsigned int i;

	need_sleep();
	attr[2].config1 = A64_LONG;
	for (i = 0; i < PT_ARRAY_SIZE(attr); i++) {
		attr[i].disabled = !i;
		fds[i] = open_of_cpu(attr[i], i ? fds[0] : -1);
	}
	pt_enable(fds[0]);
	naps();
	pt_disable(fds[0]);
	pt_read(fds[0], PERF_FORMAT_GROUP, PT_ARRAY_SIZE(attr), &r);
	pt_check(r.v[0].value >= 200 * NAPS, "%llu", (unsigned long long)r.v[0].value);
	pt_eq(r.v[1].value, r.v[0].value);
	pt_eq(r.v[2].value, r.v[0].value);
	pt_eq(r.v[3].value, 0);
}

static u64 counted(int fd, long ns)
{
	pt_reset(fd);
	pt_enable(fd);
	nap(NAPS, ns);
	pt_disable(fd);
	return pt_count(fd);
}

/* A task has nothing in the registers while its CPU sleeps, but comes back to them. */
static void counts_of_a_task(void)
{
	struct perf_event_attr attr = a64_raw(A64_INSTRUCTIONS);
	u64 want;
	int fd;

	need_sleep();
	fd = pt_open_hw(&attr, -1);
	counted(fd, 0);
	want = counted(fd, 0);
	pt_eq(counted(fd, 3000000), want);
}

static void samples_of_a_cpu(void)
{
	struct perf_event_attr attr = a64_cycles(PERIOD);
	u64 n = 0;
	int fd;

	need_sleep();
	pt_sysctl_set("perf_event_max_sample_rate", 1000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	attr.sample_type = PERF_SAMPLE_IP;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	naps();
	pt_disable(fd);
	while (pt_next(&ring, &rec))
		n += rec.h.type == PERF_RECORD_SAMPLE;
	pt_check(n >= 200 * NAPS / PERIOD, "%llu samples", (unsigned long long)n);
	pt_eq(n, pt_count(fd) / PERIOD);
}

/* One that is off for its user stays off, whatever the registers came back with. */
static void disabled_ones(void)
{
	struct perf_event_attr attr = a64_raw(A64_INSTRUCTIONS);
	u64 before;
	int fd, other;

	need_sleep();
	fd = pt_open(&attr, -1, 0, -1, 0);
	attr = a64_raw(A64_CYCLES);
	other = pt_open(&attr, -1, 0, -1, 0);
	pt_enable(other);
	pt_enable(fd);
	pt_spin(1000);
	pt_disable(fd);
	before = pt_count(fd);
	naps();
	pt_eq(pt_count(fd), before);
	pt_check(pt_count(other) >= 200 * NAPS, "%llu", (unsigned long long)pt_count(other));
}

/* One that is throttled waits for the tick, and not only until its CPU wakes. */
static void throttled_ones(void)
{
	struct perf_event_attr attr = a64_cycles(PERIOD);
	u64 samples = 0, throttled = 0;
	int fd;

	need_sleep();
	/* One in each tick, and that one is one too many. */
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	attr.exclude_kernel = 0;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	naps();
	pt_disable(fd);
	while (pt_next(&ring, &rec)) {
		samples += rec.h.type == PERF_RECORD_SAMPLE;
		throttled += rec.h.type == PERF_RECORD_THROTTLE;
	}
	pt_check(throttled >= NAPS / 10, "throttled %llu times", (unsigned long long)throttled);
	pt_eq(samples, throttled);
}

/* Flags that the registers came back with are no overflows of the events that go on. */
static void no_overflow_is_left(void)
{
	struct perf_event_attr attr[] = { a64_raw(A64_INSTRUCTIONS), a64_raw(A64_CYCLES) };
	u64 interrupts;
	unsigned int i;

	need_sleep();
	pt_load_module("test_arm64", NULL);
	for (i = 0; i < PT_ARRAY_SIZE(attr); i++) {
		attr[i].disabled = 0;
		pt_open(&attr[i], -1, 0, -1, 0);
	}
	interrupts = a64_pmu_interrupts();
	for (i = 0; i < 20; i++) {
		nap(1, 3000000);
		pt_eq(pt_module_get("test_arm64", "pmovsset") &
		      pt_module_get("test_arm64", "pmintenset"), 0);
	}
	pt_eq(a64_pmu_interrupts(), interrupts);
}

/* The type of a counter that was 0 is 0 again, whatever the register came back with. */
static void type_of_no_bits(void)
{
	struct perf_event_attr attr = a64_raw(A64_SW_INCR);
	int i;

	need_sleep();
	pt_load_module("test_arm64", NULL);
	if (pt_module_get("test_arm64", "el") != 1)
		pt_skip("at EL2 no type is 0");
	attr.disabled = 0;
	attr.exclude_kernel = 0;
	attr.exclude_hv = 1;
	pt_open(&attr, -1, 0, -1, 0);
	for (i = 0; i < 20; i++) {
		pt_eq(pt_module_get("test_arm64", "pmevtyper0"), 0);
		nap(1, 3000000);
	}
}

static const struct pt_case cases[] = {
	{ "counts_of_a_cpu", counts_of_a_cpu },
	{ "counts_of_a_task", counts_of_a_task },
	{ "samples_of_a_cpu", samples_of_a_cpu },
	{ "disabled_ones", disabled_ones },
	{ "throttled_ones", throttled_ones },
	{ "no_overflow_is_left", no_overflow_is_left },
	{ "type_of_no_bits", type_of_no_bits },
};

PT_MAIN(cases)
