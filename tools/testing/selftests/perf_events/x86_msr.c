// SPDX-License-Identifier: GPL-2.0
/*
 * x86_msr.c - how often a driver touches the registers of the PMU: per pair of context switches,
 * per read, per interrupt, per switching on and off. Only the emulated PMU of
 * tools/testing/qemu-x86-pmu can tell; elsewhere all of it is skipped.
 *
 * The figures are printed; a RDPMC counts as a read. Checked is what must be so with any driver: no
 * event, no access; every overflow is one interrupt. On a Skylake and on AMD's PMU version 2, Linux
 * 6.12 was measured: that is the limit for reads and writes.
 *
 * needs: hw
 */
#include <sys/mman.h>
#include "lib/ptest.h"

#define TURNS	100
#define FIRST	0x50000000	/* the emulator's own registers */
#define MAGIC	0x504d5531

enum { RDPMC = 2, INTERRUPTS, READS, WRITES, KINDS };

struct traffic {
	u64 of[KINDS];
};

static int msr = -1;

static u64 get(unsigned int number)
{
	u64 v = 0;

	return pread(msr, &v, sizeof(v), FIRST + number) == sizeof(v) ? v : 0;
}

static void look(struct traffic *t)
{
	int i;

	for (i = RDPMC; i < KINDS; i++)
		t->of[i] = get(i);
}

static void start(struct traffic *t)
{
	pt_pin(0);
	msr = open("/dev/cpu/0/msr", O_RDONLY);
	if (msr < 0 || get(7) != MAGIC)
		pt_skip("no emulated PMU that counts how often its registers are accessed");
	memset(t, 0, sizeof(*t));
}

/* What Linux 6.12 does, in hundredths. */
struct limit {
	unsigned int reads, writes;
};

struct limits {
	struct limit skylake, amd;
};

static const struct limit *limit_here(const struct limits *limits)
{
	char name[32];

	if (!pt_slurp("/sys/bus/event_source/devices/cpu/caps/pmu_name", name, sizeof(name)))
		return &limits->amd;
	return strcmp(name, "skylake") ? NULL : &limits->skylake;
}

/* Print what was done since look(), for each of so many times. Returns the sum. */
static u64 report(const char *what, const struct traffic *since, u64 times,
		  const struct limits *limits)
{
	const struct limit *limit = limit_here(limits);
	struct traffic now;
	u64 reads, writes;

	look(&now);
	reads = now.of[READS] - since->of[READS] + now.of[RDPMC] - since->of[RDPMC];
	writes = now.of[WRITES] - since->of[WRITES];
	pt_need(times, "%s: did not happen", what);
	pt_msg("%s: %llu.%02llu reads, %llu.%02llu writes", what,
	       (unsigned long long)(reads / times), (unsigned long long)(reads * 100 / times % 100),
	       (unsigned long long)(writes / times),
	       (unsigned long long)(writes * 100 / times % 100));
	if (limit) {
		/* A kernel thread may run in between, once or twice: that is one more pair each. */
		times += times / 50;
		pt_check(reads * 100 / times <= limit->reads, "%u.%02u reads on Linux 6.12",
			 limit->reads / 100, limit->reads % 100);
		pt_check(writes * 100 / times <= limit->writes, "%u.%02u writes on Linux 6.12",
			 limit->writes / 100, limit->writes % 100);
	}
	return reads + writes;
}

static const u64 events[] = {
	PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	PERF_COUNT_HW_BRANCH_MISSES,
};

static int open_events(unsigned int nr, bool group)
{
	int leader = -1, fd;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct perf_event_attr attr = pt_attr(PERF_TYPE_HARDWARE, events[i]);

		attr.exclude_kernel = 1;
		fd = pt_open_hw(&attr, group ? leader : -1);
		if (!i)
			leader = fd;
	}
	return leader;
}

static u64 switches(const char *what, unsigned int nr, bool group, const struct limits *limits)
{
	struct pt_peer peer;
	struct traffic t;
	u64 sum;
	int i;

	start(&t);
	pt_peer_start(&peer);
	open_events(nr, group);
	pt_peer_turn(&peer);
	look(&t);
	for (i = 0; i < TURNS; i++)
		pt_peer_turn(&peer);
	sum = report(what, &t, TURNS, limits);
	pt_peer_stop(&peer);
	return sum;
}

static void nothing_open(void)
{
	static const struct limits none;

	pt_eq(switches("pair of switches, no event", 0, false, &none), 0);
}

static void switch_one(void)
{
	static const struct limits limits = { { 100, 700 }, { 300, 700 } };

	switches("pair of switches, one event", 1, false, &limits);
}

static void switch_four(void)
{
	static const struct limits limits = { { 400, 1400 }, { 1212, 1616 } };

	switches("pair of switches, four events", 4, false, &limits);
}

static void switch_group(void)
{
	static const struct limits limits = { { 400, 1400 }, { 1200, 1600 } };

	switches("pair of switches, a group of four", 4, true, &limits);
}

static void read_one(void)
{
	static const struct limits limits = { { 100, 0 }, { 100, 0 } };
	struct traffic t;
	int fd, i;

	start(&t);
	fd = open_events(1, false);
	look(&t);
	for (i = 0; i < TURNS; i++)
		pt_count(fd);
	report("read", &t, TURNS, &limits);
}

static void on_and_off(void)
{
	static const struct limits limits = { { 100, 700 }, { 300, 700 } };
	struct traffic t;
	int fd, i;

	start(&t);
	fd = open_events(1, false);
	look(&t);
	for (i = 0; i < TURNS; i++) {
		pt_disable(fd);
		pt_enable(fd);
	}
	report("disable and enable", &t, TURNS, &limits);
}

static void interrupts(const char *what, unsigned int others, const struct limits *limits)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	struct traffic t, on;
	struct pt_ring ring;
	int fd;

	start(&t);
	attr.sample_period = 50021;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 8);
	open_events(others, false);
	/* What on and off cost: the same without an interrupt. */
	look(&on);
	pt_enable(fd);
	pt_disable(fd);
	look(&t);
	on.of[READS] = t.of[READS] - on.of[READS] + t.of[RDPMC] - on.of[RDPMC];
	on.of[WRITES] = t.of[WRITES] - on.of[WRITES];
	t.of[READS] += on.of[READS];
	t.of[WRITES] += on.of[WRITES];
	pt_enable(fd);
	pt_spin(6000000);
	pt_disable(fd);
	report(what, &t, get(INTERRUPTS) - t.of[INTERRUPTS], limits);
	pt_eq(get(INTERRUPTS) - t.of[INTERRUPTS], 6000000ull * 2 / 50021);
}

static void interrupt_one(void)
{
	static const struct limits limits = { { 301, 408 }, { 203, 408 } };

	interrupts("interrupt, one event", 0, &limits);
}

static void interrupt_four(void)
{
	static const struct limits limits = { { 305, 418 }, { 515, 420 } };

	interrupts("interrupt, three more counting", 3, &limits);
}

static const struct pt_case cases[] = {
	{ "nothing_open", nothing_open },
	{ "switch_one", switch_one },
	{ "switch_four", switch_four },
	{ "switch_group", switch_group },
	{ "read_one", read_one },
	{ "on_and_off", on_and_off },
	{ "interrupt_one", interrupt_one },
	{ "interrupt_four", interrupt_four },
};

PT_MAIN(cases)
