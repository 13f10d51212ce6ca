// SPDX-License-Identifier: GPL-2.0
/*
 * arm64_pmu.c - counting with arm64's PMU: counts are exact to the instruction, counters are given
 * out as the architecture allows, filters and refusals are what they always were, and nothing is
 * left in the registers when the last event is gone.
 *
 * The numbers hold for an emulator that counts instructions; one cycle is one instruction there.
 *
 * needs: pmuv3 pmu-irq devicetree idle skid
 */
#include "lib/arm64.h"
#include <signal.h>

#define MODULE	"test_arm64"
#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define CYCLE_BIT	31

static void exact_loops(void)
{
	static const u64 turns[] = { 1, 10, 1000, 100000, 500000 };
	struct perf_event_attr attr[5];
	unsigned int i, j;

	a64_need_exact();
	attr[0] = a64_raw(A64_INSTRUCTIONS);
	attr[1] = a64_raw(A64_CYCLES);
	attr[2] = a64_cycles(0);
	attr[3] = a64_raw(A64_INSTRUCTIONS);
	attr[3].type = (u32)pt_pmu_type(a64_pmu());
	/* Where counters have 32 bits, two of them. */
	attr[4] = a64_raw(A64_INSTRUCTIONS);
	attr[4].config1 = A64_LONG;
	for (i = 0; i < PT_ARRAY_SIZE(attr); i++) {
		int fd = pt_open_hw(&attr[i], -1);

		for (j = 0; j < PT_ARRAY_SIZE(turns); j++) {
			a64_after_tick();
			pt_reset(fd);
			a64_measured_spin(fd, turns[j]);
			pt_eq(pt_count(fd), A64_SPIN_COST(turns[j]));
		}
		close(fd);
	}
}

/* Where the time of a known row of system calls goes, twice the same. */
static void exact_split(void)
{
	static const u64 config[] = { A64_INSTRUCTIONS, A64_CYCLES };
	unsigned int i, j, k;

	a64_need_exact();
	for (i = 0; i < PT_ARRAY_SIZE(config); i++) {
		u64 n[2][3];

		for (j = 0; j < 3; j++) {
			struct perf_event_attr attr = a64_raw(config[i]);
			int fd;

			attr.exclude_user = j == 1;
			attr.exclude_kernel = j == 0;
			fd = pt_open_hw(&attr, -1);
			for (k = 0; k < 2; k++) {
				a64_after_tick();
				pt_reset(fd);
				a64_measured_calls(fd, 1000);
				n[k][j] = pt_count(fd);
			}
			close(fd);
		}
		for (k = 0; k < 2; k++) {
			pt_eq(n[k][0], A64_CALLS_COST(1000));
			pt_eq(n[k][1] + n[k][0], n[k][2]);
		}
		pt_eq(n[1][1], n[0][1]);
		pt_msg("event %#llx: %llu in the kernel for 1,000 calls",
		       (unsigned long long)config[i], (unsigned long long)n[0][1]);
	}
}

static void software_increments(void)
{
	struct perf_event_attr attr = a64_raw(A64_SW_INCR);
	int both, user, i;

	a64_need_pmu();
	pt_load_module(MODULE, NULL);
	attr.disabled = 0;
	user = pt_open_hw(&attr, -1);
	attr.exclude_kernel = 0;
	both = pt_open_hw(&attr, -1);
	pt_eq(pt_count(both), 0);
	for (i = 0; i < 7; i++)
		pt_eq(pt_module_set(MODULE, "swinc", 0x7fffffff), 0);
	pt_eq(pt_count(both), 7);
	/* The kernel did it. */
	pt_eq(pt_count(user), 0);
	pt_disable(both);
	pt_eq(pt_module_set(MODULE, "swinc", 0x7fffffff), 0);
	pt_eq(pt_count(both), 7);
}

static void write_swinc(void *arg)
{
	(void)arg;
#if defined(__aarch64__)
	__asm__ volatile("msr pmswinc_el0, %0" : : "r"(1ul));
#endif
}

/* User space may not increment, whatever it may read. */
static void no_increment_from_user_space(void)
{
	struct perf_event_attr attr = a64_raw(A64_SW_INCR);
	int access;

	a64_need_pmu();
	for (access = 0; access < 2; access++) {
		pid_t pid;

		pt_sysctl_set("perf_user_access", access);
		pt_in_child(pid) {
			attr.config1 = access ? A64_USER_READ : 0;
			attr.disabled = 0;
			pt_open_hw(&attr, -1);
			write_swinc(NULL);
		}
		pt_reap_killed(pid, SIGILL);
	}
}

/*
 * Open events in a group. i, c: instructions, cycles; capitals: 64 bits; U: 64 bits of cycles that
 * user space reads; s: a software event. Returns the answer to the last one, 1 when it is never
 * asked for.
 */
static int open_group(const char *kinds, int *fds)
{
	const char *k;
	int n = 0;

	for (k = kinds; *k; k++, n++) {
		struct perf_event_attr attr = a64_raw(strchr("cCU", *k) ? A64_CYCLES :
						      A64_INSTRUCTIONS);

		if (*k == 's')
			attr = pt_attr(PT_SW(DUMMY));
		attr.config1 = *k == 'U' ? A64_LONG | A64_USER_READ :
			       *k == 'I' || *k == 'C' ? A64_LONG : 0;
		attr.disabled = 0;
		attr.read_format = TIMES;
		fds[n] = pt_try_open(&attr, 0, -1, n ? fds[0] : -1, 0);
		if (fds[n] < 0) {
			int err = fds[n];

			fds[n] = -1;
			return k[1] ? 1 : err;
		}
	}
	fds[n] = -1;
	return 0;
}

static void groups_and_counters(void)
{
	static const struct {
		const char *kinds;
		int narrow, wide;	/* with event counters of 32 and 64 bits */
	} group[] = {
		{ "iiiiii", 0, 0 },
		{ "iiiiiii", -EINVAL, -EINVAL },
		{ "iiiiiic", 0, 0 },
		{ "ciiiiii", 0, 0 },
		{ "iiiiiicc", -EINVAL, -EINVAL },
		{ "ccccccc", 0, 0 },
		{ "cccccccc", -EINVAL, -EINVAL },
		{ "sssiiiiiic", 0, 0 },
		{ "sssiiiiiii", -EINVAL, -EINVAL },
		/* Two counters for one, the lower one even. */
		{ "III", 0, 0 },
		{ "IIII", -EINVAL, 0 },
		{ "IIIC", 0, 0 },
		{ "CCCC", 0, 0 },
		{ "CCCCC", -EINVAL, 0 },
		{ "IIii", 0, 0 },
		{ "IIiii", -EINVAL, 0 },
		{ "iIIi", 0, 0 },
		{ "iIII", -EINVAL, 0 },
		{ "iiiiI", 0, 0 },
		{ "iiiiiI", -EINVAL, 0 },
		{ "iiiiCI", 0, 0 },
		/* User space can read 64 bits from one counter only. */
		{ "U", 0, 0 },
		{ "UU", -EINVAL, 0 },
		{ "cU", -EINVAL, 0 },
		{ "Uc", 0, 0 },
	};
	unsigned int i, j;
	bool wide;

	a64_need_exact();
	wide = a64_wide_counters();
	pt_need(a64_counters() == 6, "%d counters", a64_counters());
	for (i = 0; i < PT_ARRAY_SIZE(group); i++) {
		int want = wide ? group[i].wide : group[i].narrow, fd[16], got;
		struct pt_read r;

		got = open_group(group[i].kinds, fd);
		pt_check(got == want, "%s: %d, not %d", group[i].kinds, got, want);
		/* What is in runs all the time, the one refused left nothing behind. */
		pt_spin(1000);
		for (j = 0; fd[j] >= 0; j++) {
			/* Software events were there before they joined a PMU's group. */
			if (group[i].kinds[j] == 's')
				continue;
			pt_read(fd[j], TIMES, 1, &r);
			pt_check(r.running == r.enabled && r.v[0].value > 2000,
				 "%s, member %u: %llu in %llu of %llu", group[i].kinds, j,
				 (unsigned long long)r.v[0].value, (unsigned long long)r.running,
				 (unsigned long long)r.enabled);
		}
		while (j--)
			close(fd[j]);
	}
}

/* What is off needs no counter: it is not asked whether a group of such would fit. */
static void disabled_members_need_no_counter(void)
{
	struct perf_event_attr attr = a64_raw(A64_INSTRUCTIONS);
	int lead, i;

	a64_need_pmu();
	lead = pt_open_hw(&attr, -1);
	for (i = 0; i < 12; i++)
		pt_open(&attr, 0, -1, lead, 0);
}

static void group_of_two_pmus(void)
{
	struct perf_event_attr attr = a64_raw(A64_INSTRUCTIONS), other;
	int hw, sw;

	a64_need_pmu();
	pt_load_module("test_count", NULL);
	other = pt_attr((u32)pt_pmu_type("test_count"), 0);
	hw = pt_open_hw(&attr, -1);
	pt_eq(pt_try_open(&other, 0, -1, hw, 0), -EINVAL);
	sw = pt_open(&other, 0, -1, -1, 0);
	pt_eq(pt_try_open(&attr, 0, -1, sw, 0), -EINVAL);
	close(hw);
	close(sw);
	sw = pt_open(&((struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		       .config = PERF_COUNT_SW_DUMMY }), 0, -1, -1, 0);
	pt_open(&attr, 0, -1, sw, 0);
	pt_eq(pt_try_open(&other, 0, -1, sw, 0), -EINVAL);
}

static void refusals(void)
{
	struct perf_event_attr attr;
	char path[256];

	a64_need_pmu();
#define ANSWER(want, ...)					\
	do {							\
		attr = a64_raw(A64_INSTRUCTIONS);		\
		__VA_ARGS__;					\
		pt_eq(pt_probe(&attr), want);			\
	} while (0)
	ANSWER(0, (void)0);
	ANSWER(-EINVAL, attr.config = A64_CHAIN);
	ANSWER(-EINVAL, attr.config = A64_CHAIN, attr.type = (u32)pt_pmu_type(a64_pmu()));
	ANSWER(-EOPNOTSUPP, attr.exclude_idle = 1);
	ANSWER(-EOPNOTSUPP, attr.sample_type = PERF_SAMPLE_BRANCH_STACK,
	       attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER);
	ANSWER(0, attr.exclude_hv = 1);
	ANSWER(0, attr.exclude_guest = 1);
	ANSWER(0, attr.exclude_host = 1);
	ANSWER(0, attr.exclude_user = 1);
	/* A number nobody knows may be one of this CPU alone. */
	ANSWER(0, attr.config = 0x3ff);
	ANSWER(0, attr.config = 0xffff);
	/* Bits above the event's are not looked at. */
	ANSWER(0, attr.config = 0x10008);
	ANSWER(0, attr.config2 = ~0ull);
	snprintf(path, sizeof(path), A64_DEVICES "%s/caps/threshold_max", a64_pmu());
	if (pt_read_number(path, -1))
		return;
	/* No threshold here: 0 is the only one; how to compare with it is all the same. */
	ANSWER(-EINVAL, attr.config1 = 1 << 5);
	ANSWER(-EINVAL, attr.config1 = 1 << 16);
	ANSWER(0, attr.config1 = 7 << 2);
	ANSWER(0, attr.config1 = 1 << 17);
	/* User space reads its own counters, not a CPU's. */
	ANSWER(0, attr.config1 = A64_USER_READ);
	attr = a64_raw(A64_INSTRUCTIONS);
	attr.config1 = A64_USER_READ;
	pt_eq(pt_try_open(&attr, -1, 0, -1, 0), -EINVAL);
	attr.config1 = A64_USER_READ | A64_LONG;
	pt_eq(pt_try_open(&attr, -1, 0, -1, 0), -EINVAL);
	ANSWER(a64_wide_counters() ? 0 : -EOPNOTSUPP, attr.config1 = A64_USER_READ | A64_LONG);
	ANSWER(0, attr.config1 = A64_USER_READ | A64_LONG, attr.config = A64_CYCLES);
}

/* Generic events exist where the CPU says that it counts what they stand for. */
static void generic_events(void)
{
	static const u8 number[PERF_COUNT_HW_MAX] = {
		[PERF_COUNT_HW_CPU_CYCLES] = 0x11, [PERF_COUNT_HW_INSTRUCTIONS] = 0x08,
		[PERF_COUNT_HW_CACHE_REFERENCES] = 0x04, [PERF_COUNT_HW_CACHE_MISSES] = 0x03,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x21, [PERF_COUNT_HW_BRANCH_MISSES] = 0x10,
		[PERF_COUNT_HW_BUS_CYCLES] = 0x1d, [PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = 0x23,
		[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = 0x24,
	};
	u64 known, cache;
	unsigned int i;

	a64_need_pmu();
	pt_load_module(MODULE, NULL);
	known = (u64)pt_module_get(MODULE, "pmceid0") & 0xffffffff;
	known |= (u64)pt_module_get(MODULE, "pmceid1") << 32;
	for (i = 0; i < PERF_COUNT_HW_MAX; i++) {
		struct perf_event_attr attr = pt_attr(PERF_TYPE_HARDWARE, i);
		int want = number[i] && known >> number[i] & 1 ? 0 : -ENOENT;
		int got = pt_probe(&attr);

		pt_check(got == want, "generic event %u: %d, not %d", i, got, want);
	}
	for (cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++) {
		struct perf_event_attr attr = pt_attr(PERF_TYPE_HW_CACHE, cache);

		/* No model of its own, and it counts nothing of caches. */
		if (known >> 4 & 1 || strncmp(a64_pmu(), "armv8_pmuv3", 11))
			break;
		pt_eq(pt_probe(&attr), -ENOENT);
	}
}

static void files_in_sysfs(void)
{
	static const struct {
		const char *file, *text;
	} want[] = {
		{ "format/event", "config:0-15" },
		{ "format/long", "config1:0" },
		{ "format/rdpmc", "config1:1" },
		{ "format/threshold", "config1:5-16" },
		{ "format/threshold_compare", "config1:3-4" },
		{ "format/threshold_count", "config1:2" },
		{ "events/cpu_cycles", "event=0x0011" },
		{ "events/inst_retired", "event=0x0008" },
		{ "events/sw_incr", NULL },
		{ "events/chain", NULL },
		{ "events/l1d_cache", NULL },
		{ "caps/slots", "0x00000000" },
		{ "caps/bus_slots", "0x00000000" },
		{ "caps/bus_width", "0x00000000" },
		{ "caps/threshold_max", "0x00000000" },
	};
	char path[256], link[256], text[64];
	unsigned int i;

	a64_need_pmu();
	for (i = 0; i < PT_ARRAY_SIZE(want); i++) {
		const char *got, *must = want[i].text ? want[i].text : "absent";

		snprintf(path, sizeof(path), A64_DEVICES "%s/%s", a64_pmu(), want[i].file);
		got = pt_slurp(path, text, sizeof(text)) ? text : "absent";
		pt_check(!strcmp(got, must), "%s: %s, not %s", want[i].file, got, must);
	}
	snprintf(path, sizeof(path), A64_DEVICES "%s/cpus", a64_pmu());
	pt_need(pt_slurp(path, text, sizeof(text)), "no cpus");
	snprintf(path, sizeof(path), pt_online_cpus() > 1 ? "0-%d" : "%d", pt_online_cpus() - 1);
	pt_check(!strcmp(text, path), "cpus: %s", text);
	/* It belongs to the device of the platform, which there is with a device tree only. */
	snprintf(path, sizeof(path), A64_DEVICES "%s", a64_pmu());
	memset(link, 0, sizeof(link));
	pt_need(readlink(path, link, sizeof(link) - 1) > 0, "readlink: %s", strerror(errno));
	pt_check(!strstr(link, "/platform/") == pt_path_exists("/sys/firmware/acpi/tables"),
		 "%s is %s", path, link);
}

static u64 reg(const char *name)
{
	return (u64)pt_module_get(MODULE, name);
}

/* Which exception levels a counter counts in, as the bits of its type register say. */
static void filters(void)
{
	enum { USER = 1, KERNEL = 2, HV = 4, HOST = 8, GUEST = 16 };
	const u64 not_el1 = 1ull << 31, not_el0 = 1ull << 30, el2 = 1ull << 27;
	u64 bits;

	a64_need_pmu();
	pt_pin(0);
	pt_load_module(MODULE, NULL);
	for (bits = 0; bits < 32; bits++) {
		struct perf_event_attr attr = a64_raw(A64_INSTRUCTIONS), cyc;
		u64 want = 0;
		int fd, fe;

		attr.disabled = 0;
		attr.exclude_user = !!(bits & USER);
		attr.exclude_kernel = !!(bits & KERNEL);
		attr.exclude_hv = !!(bits & HV);
		attr.exclude_host = !!(bits & HOST);
		attr.exclude_guest = !!(bits & GUEST);
		cyc = attr;
		cyc.config = A64_CYCLES;
		fd = pt_open_hw(&attr, -1);
		fe = pt_open_hw(&cyc, -1);
		want |= bits & USER ? not_el0 : 0;
		want |= bits & KERNEL ? not_el1 : 0;
		if (reg("el") == 1) {
			want |= bits & (HV | HOST) ? 0 : el2;
		} else {
			want |= bits & (KERNEL | HOST) ? 0 : el2;
			want |= bits & GUEST ? not_el1 : 0;
			want |= bits & HOST ? not_el0 : 0;
		}
		pt_check((reg("pmevtyper0") & 0xffffffff) == (want | A64_INSTRUCTIONS),
			 "exclude %#llx: type %#llx, not %#llx", (unsigned long long)bits,
			 (unsigned long long)reg("pmevtyper0"),
			 (unsigned long long)(want | A64_INSTRUCTIONS));
		pt_check((reg("pmccfiltr") & 0xfc000000) == want,
			 "exclude %#llx: filter %#llx, not %#llx", (unsigned long long)bits,
			 (unsigned long long)reg("pmccfiltr"), (unsigned long long)want);
		close(fd);
		close(fe);
	}
}

/* With the PMU as a whole off, it does not matter which counters are on. */
static u64 enabled(const char *name)
{
	return reg("pmcr") & 1 ? reg(name) : 0;
}

static void nothing_is_left(void)
{
	int fd[16], i;

	a64_need_pmu();
	pt_pin(0);
	pt_load_module(MODULE, NULL);
	for (i = 0; i < 3; i++) {
		pt_eq(open_group("iiC", fd), 0);
		pt_eq(enabled("pmcntenset"), 3 | 1u << CYCLE_BIT);
		pt_eq(enabled("pmintenset"), 3 | 1u << CYCLE_BIT);
		pt_eq(reg("pmovsset") & reg("pmintenset"), 0);
		pt_eq(reg("pmuserenr"), 0);
		pt_disable(fd[0]);
		pt_eq(enabled("pmcntenset"), 0);
		pt_eq(enabled("pmintenset"), 0);
		pt_enable(fd[0]);
		pt_eq(enabled("pmcntenset"), 3 | 1u << CYCLE_BIT);
		close(fd[2]);
		pt_eq(enabled("pmcntenset"), 3);
		close(fd[1]);
		close(fd[0]);
		pt_eq(enabled("pmcntenset"), 0);
		pt_eq(enabled("pmintenset"), 0);
		pt_eq(reg("pmovsset") & reg("pmintenset"), 0);
	}
}

/* A flag that its counter's last owner has left is no overflow of the next one. */
static void no_overflow_is_left(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	u64 interrupts;
	int fd;

	a64_need_pmu();
	if (pt_is_stock())
		pt_skip("this driver clears flags when an event stops, and not later");
	pt_pin(0);
	pt_load_module(MODULE, NULL);
	attr.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	pt_eq(enabled("pmintenset"), 1u << CYCLE_BIT);
	pt_disable(fd);
	pt_eq(pt_module_set(MODULE, "pmovsset", 1u << CYCLE_BIT), 0);
	pt_eq(reg("pmovsset") >> CYCLE_BIT & 1, 1);
	interrupts = a64_pmu_interrupts();
	pt_enable(fd);
	pt_eq(enabled("pmintenset"), 1u << CYCLE_BIT);
	pt_eq(reg("pmovsset") >> CYCLE_BIT & 1, 0);
	pt_eq(a64_pmu_interrupts(), interrupts);
}

/* Where two counters make 64 bits, the upper one counts the overflows of the lower one. */
static void types_of_a_pair(void)
{
	struct perf_event_attr attr = a64_raw(A64_INSTRUCTIONS);
	int i;

	a64_need_pmu();
	if (a64_wide_counters())
		pt_skip("each counter has 64 bits");
	pt_pin(0);
	pt_load_module(MODULE, NULL);
	attr.disabled = 0;
	/* After an event that had the upper one alone, too. */
	for (i = 0; i < 2; i++) {
		int fd[2];

		attr.config1 = A64_LONG;
		fd[0] = pt_open_hw(&attr, -1);
		pt_eq(enabled("pmcntenset"), 3);
		pt_eq(reg("pmevtyper0") & 0xffff, A64_INSTRUCTIONS);
		pt_eq(reg("pmevtyper1") & 0xffff, A64_CHAIN);
		close(fd[0]);
		attr.config1 = 0;
		fd[0] = pt_open_hw(&attr, -1);
		fd[1] = pt_open_hw(&attr, -1);
		pt_eq(reg("pmevtyper1") & 0xffff, A64_INSTRUCTIONS);
		close(fd[0]);
		close(fd[1]);
	}
}

static const struct pt_case cases[] = {
	{ "exact_loops", exact_loops },
	{ "exact_split", exact_split },
	{ "software_increments", software_increments },
	{ "no_increment_from_user_space", no_increment_from_user_space },
	{ "groups_and_counters", groups_and_counters },
	{ "disabled_members_need_no_counter", disabled_members_need_no_counter },
	{ "group_of_two_pmus", group_of_two_pmus },
	{ "refusals", refusals },
	{ "generic_events", generic_events },
	{ "files_in_sysfs", files_in_sysfs },
	{ "filters", filters },
	{ "nothing_is_left", nothing_is_left },
	{ "no_overflow_is_left", no_overflow_is_left },
	{ "types_of_a_pair", types_of_a_pair },
};

PT_MAIN(cases)
