// SPDX-License-Identifier: GPL-2.0
/*
 * x86_pmu.c - counting by the PMU of x86: exact counts of user space and kernel, what a group may
 * have, which counter an event gets, counters that run across their last bit, raw configs, and a
 * PMU that is off when nobody counts.
 *
 * needs: hw
 */
#include "lib/x86.h"

#define FIXED	(1u << 30)	/* of an index for RDPMC */

static void exact_user_counts(void)
{
	static const u64 turns[] = { 1, 2, 10, 1000, 12345, 500000 };
	struct perf_event_attr attr[] = {
		x86_hw(PERF_COUNT_HW_INSTRUCTIONS), x86_hw(PERF_COUNT_HW_CPU_CYCLES),
		x86_general_cycles(),
	};
	unsigned int i, j;

	x86_need_exact();
	for (i = 0; i < PT_ARRAY_SIZE(attr); i++) {
		int fd = pt_open_hw(&attr[i], -1);

		for (j = 0; j < PT_ARRAY_SIZE(turns); j++) {
			pt_reset(fd);
			x86_measured_spin(fd, turns[j]);
			pt_eq(pt_count(fd), X86_SPIN_COST(turns[j]));
		}
		close(fd);
	}
}

/* Everything on at once, and off at once: each member of the group saw the same. */
static void a_group_counts_the_same(void)
{
	struct perf_event_attr attr = x86_general_cycles();
	int fd[16] = { -1 }, n = x86_general(), i;

	x86_need_exact();
	for (i = 0; i < n; i++) {
		attr.disabled = !i;
		fd[i] = pt_open_hw(&attr, i ? fd[0] : -1);
	}
	x86_measured_spin(fd[0], 10000);
	for (i = 0; i < n; i++)
		pt_eq(pt_count(fd[i]), X86_SPIN_COST(10000));
}

static u64 kernel_cost(int fd, unsigned int calls)
{
	pt_reset(fd);
	/* Right after a switch there is no tick for as long as this takes. */
	pt_switch_out();
	pt_enable(fd);
	while (calls--)
		syscall(SYS_getppid);
	pt_disable(fd);
	return pt_count(fd);
}

/* The same system calls take the same instructions. */
static void exact_kernel_counts(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	u64 none, ten, thirty;
	int fd;

	x86_need_exact();
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd = pt_open_hw(&attr, -1);
	kernel_cost(fd, 30);
	none = kernel_cost(fd, 0);
	ten = kernel_cost(fd, 10);
	thirty = kernel_cost(fd, 30);
	pt_check(ten > none, "a system call takes no instruction");
	pt_eq(thirty - none, 3 * (ten - none));
	pt_eq(kernel_cost(fd, 10), ten);
}

static void rings_add_up(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	u64 user, kernel, both;
	int fd[3], i;

	x86_need_exact();
	if (!x86_has_global())
		pt_skip("counters of this PMU start one by one");
	fd[0] = pt_open_hw(&attr, -1);
	attr.disabled = 0;
	attr.exclude_kernel = 0;
	fd[1] = pt_open_hw(&attr, fd[0]);
	attr.exclude_user = 1;
	fd[2] = pt_open_hw(&attr, fd[0]);
	pt_enable(fd[0]);
	for (i = 0; i < 100; i++)
		syscall(SYS_getppid);
	pt_disable(fd[0]);
	user = pt_count(fd[0]);
	both = pt_count(fd[1]);
	kernel = pt_count(fd[2]);
	pt_check(user > 300 && kernel > 1000, "%llu and %llu", (unsigned long long)user,
		 (unsigned long long)kernel);
	pt_eq(user + kernel, both);
}

static void excluded(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int fd;

	x86_need_exact();
	attr.exclude_user = 1;
	fd = pt_open_hw(&attr, -1);
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), 0);
	close(fd);

	attr.exclude_user = 0;
	attr.exclude_guest = 1;
	fd = pt_open_hw(&attr, -1);
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), X86_SPIN_COST(1000));
	close(fd);

	if (!x86_is_intel())
		return;		/* the counter itself would have to know what a guest is */
	attr.exclude_guest = 0;
	attr.exclude_host = 1;
	fd = pt_open_hw(&attr, -1);
	x86_measured_spin(fd, 1000);
	pt_eq(pt_count(fd), 0);
}

/* How many of these fit into one group? */
static int group_size(struct perf_event_attr attr)
{
	int fd[64], n = 0, i;

	while (n < 64) {
		/* siblings that are off do not count */
		attr.disabled = !n;
		fd[n] = pt_try_open(&attr, 0, -1, n ? fd[0] : -1, 0);
		if (fd[n] < 0)
			break;
		n++;
	}
	pt_need(n < 64, "there is no end");
	pt_eq(fd[n], -EINVAL);
	for (i = 0; i < n; i++)
		close(fd[i]);
	return n;
}

static void sizes_of_groups(void)
{
	int one;

	x86_need_pmu();
	one = x86_fixed() > 0;
	pt_eq(group_size(x86_general_cycles()), x86_general());
	pt_eq(group_size(x86_hw(PERF_COUNT_HW_INSTRUCTIONS)), x86_general() + one);
	pt_eq(group_size(x86_hw(PERF_COUNT_HW_CPU_CYCLES)), x86_general() + one);
	/* Intel: reference cycles are on a fixed counter and nowhere else */
	if (x86_fixed() > 2)
		pt_eq(group_size(x86_hw(PERF_COUNT_HW_REF_CPU_CYCLES)), 1);
}

/*
 * A full group takes one more only of what has a counter of its own; what was refused left
 * nothing.
 */
static void full_groups(void)
{
	struct perf_event_attr attr = x86_general_cycles();
	int lead, i, fd;

	x86_need_pmu();
	lead = pt_open_hw(&attr, -1);
	attr.disabled = 0;
	for (i = 1; i < x86_general(); i++)
		pt_open_hw(&attr, lead);
	for (i = 0; i < 3; i++)
		pt_eq(pt_try_open(&attr, 0, -1, lead, 0), -EINVAL);
	attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.disabled = 0;
	fd = pt_try_open(&attr, 0, -1, lead, 0);
	if (x86_fixed())
		pt_check(fd >= 0, "no fixed counter: %s", strerror(-fd));
	else
		pt_eq(fd, -EINVAL);
	pt_eq(pt_try_open(&attr, 0, -1, lead, 0), -EINVAL);
	attr = pt_attr(PT_SW(DUMMY));
	pt_check(pt_try_open(&attr, 0, -1, lead, 0) >= 0, "no room for an event of software");
	/* A group of its own is another matter. */
	attr = x86_general_cycles();
	pt_check(pt_try_open(&attr, 0, -1, -1, 0) >= 0, "no room for another group");
}

static u32 index_of(struct perf_event_attr attr)
{
	struct pt_ring r;

	attr.disabled = 0;
	pt_map(&r, pt_open_hw(&attr, -1), 0);
	return r.page->index;
}

/* Fixed counters first, so that those are free that can count anything. */
static void fixed_counters_first(void)
{
	x86_need_pmu();
	if (!x86_fixed())
		pt_skip("no fixed counters");
	pt_eq(index_of(x86_hw(PERF_COUNT_HW_CPU_CYCLES)), (FIXED | 1) + 1);
	pt_eq(index_of(x86_hw(PERF_COUNT_HW_INSTRUCTIONS)), (FIXED | 0) + 1);
	pt_eq(index_of(x86_hw(PERF_COUNT_HW_REF_CPU_CYCLES)), (FIXED | 2) + 1);
	pt_eq(index_of(x86_hw(PERF_COUNT_HW_CPU_CYCLES)), 0 + 1);
	pt_eq(index_of(x86_hw(PERF_COUNT_HW_INSTRUCTIONS)), 1 + 1);
}

/* With all counters taken at once nothing is multiplexed. */
static void all_counters_at_once(void)
{
	const u64 times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	static const u64 fixed[] = {
		PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_REF_CPU_CYCLES,
	};
	struct perf_event_attr attr;
	int fd[32], n = 0, nr_fixed, i;
	struct pt_read r;

	x86_need_exact();
	nr_fixed = x86_fixed() < 3 ? x86_fixed() : 3;
	/* General ones first: they must not stay where they are in the others' way. */
	for (i = 0; i < x86_general() + nr_fixed; i++) {
		attr = i < x86_general() ? x86_general_cycles() : x86_hw(fixed[i - x86_general()]);
		attr.read_format = times;
		fd[n++] = pt_open_hw(&attr, -1);
	}
	for (i = 0; i < n; i++)
		pt_enable(fd[i]);
	pt_spin(5000000);
	for (i = 0; i < n; i++)
		pt_disable(fd[i]);
	for (i = 0; i < n; i++) {
		pt_read(fd[i], times, 1, &r);
		pt_eq(r.running, r.enabled);
		/* what enabling and disabling the others takes, here and there */
		pt_check(r.v[0].value >= 10000000 && r.v[0].value < 10010000, "event %d: %llu", i,
			 (unsigned long long)r.v[0].value);
	}
}

static u32 counter_register(u32 index)
{
	if (index & FIXED)
		return X86_FIXED_CTR0 + (index & ~FIXED);
	return x86_is_intel() ? X86_PMC0 + index : X86_AMD_COUNTER0 + 2 * index;
}

/* The count of a spin whose counter is moved forward by so much on the way. */
static u64 moved(struct perf_event_attr attr, u64 (*how_far)(u64 raw), u64 *by)
{
	struct pt_ring r;
	u64 raw;
	u32 number;
	int fd;

	attr.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 0);
	number = counter_register(r.page->index - 1);
	raw = x86_rdmsr(number);
	*by = how_far(raw);
	x86_wrmsr(number, (raw + *by) & ((1ull << r.page->pmc_width) - 1));
	pt_spin(100000);
	raw = pt_count(fd);
	pt_unmap(&r);
	close(fd);
	return raw;
}

static u64 not_at_all(u64 raw)
{
	return raw & 0;
}

static u64 to_the_end(u64 raw)
{
	return (1ull << 48) - 10000 - raw;
}

/* A counter of 48 bits that runs across the end: an interrupt, nothing lost. */
static void across_the_last_bit(void)
{
	struct perf_event_attr attr[] = {
		x86_hw(PERF_COUNT_HW_CPU_CYCLES), x86_general_cycles(),
	};
	unsigned int i;

	x86_need_exact();
	for (i = 0; i < PT_ARRAY_SIZE(attr); i++) {
		u64 plain, far, by, before;

		moved(attr[i], not_at_all, &by);
		plain = moved(attr[i], not_at_all, &by);
		before = x86_interrupts();
		far = moved(attr[i], to_the_end, &by);
		pt_eq(x86_interrupts() - before, 1);
		pt_eq(far - plain, by);
	}
}

/* Whatever user space asks for, no reserved bit reaches a register: that would be logged. */
static void raw_configs(void)
{
	struct perf_event_attr attr = x86_hw(0);
	int bit, code, fd, good = 0;

	x86_need_pmu();
	attr.type = PERF_TYPE_RAW;
	attr.disabled = 0;
	for (bit = 0; bit < 64 + 256; bit++) {
		code = bit < 64 ? 0x3c : bit - 64;
		attr.config = (u64)code | (bit < 64 ? 1ull << bit : 0x100);
		attr.config1 = bit & 1 ? ~0ull >> (bit & 63) : 0;
		fd = pt_try_open(&attr, 0, -1, -1, 0);
		if (fd < 0)
			continue;
		good++;
		pt_spin(10);
		pt_disable(fd);
		close(fd);
	}
	pt_check(good > 100, "only %d were accepted", good);
}

/* All counters, and two events that wait: one goes after the other. */
static void nothing_is_left_on(void)
{
	struct perf_event_attr attr[] = {
		x86_hw(PERF_COUNT_HW_INSTRUCTIONS), x86_hw(PERF_COUNT_HW_CPU_CYCLES),
		x86_hw(PERF_COUNT_HW_REF_CPU_CYCLES), x86_general_cycles(),
	};
	int fd[32], fixed, n, i;

	x86_need_pmu();
	fixed = x86_fixed() < 3 ? x86_fixed() : 3;
	n = fixed + x86_general() + 2;
	pt_eq(x86_counters_on(0), 0);
	for (i = 0; i < n; i++) {
		struct perf_event_attr *a = &attr[i < fixed ? i : 3];

		a->disabled = 0;
		fd[i] = pt_open_hw(a, -1);
		pt_check(x86_counters_on(0) > 0, "nothing is on");
	}
	pt_eq(x86_counters_on(0), fixed + x86_general());
	/* The last to go is on a fixed counter. */
	while (i--) {
		pt_check(x86_counters_on(0) > 0, "nothing is on");
		close(fd[i]);
	}
	pt_eq(x86_counters_on(0), 0);
}

/* What rr counts: each one of user space, whatever comes in between. */
static void conditional_branches(void)
{
	struct perf_event_attr attr = x86_conditional_branches();
	struct pt_peer peer;
	int fd, i;

	x86_need_exact();
	fd = pt_open_hw(&attr, -1);
	for (i = 1; i < 1000000; i *= 7) {
		pt_reset(fd);
		x86_measured_spin(fd, i);
		pt_eq(pt_count(fd), i);
	}
	/* each turn is two switches, and as many branches as the one before */
	pt_peer_start(&peer);
	pt_peer_turn(&peer);
	pt_reset(fd);
	for (i = 0; i < 10; i++) {
		u64 before = pt_count(fd), turn;

		pt_enable(fd);
		pt_peer_turn(&peer);
		pt_spin(1000);
		pt_disable(fd);
		turn = pt_count(fd) - before;
		pt_check(turn > 1000 && turn < 1100, "%llu branches", (unsigned long long)turn);
		pt_eq(pt_count(fd), (i + 1) * turn);
	}
	pt_peer_stop(&peer);
}

/* A pinned event of the CPU, like that of the NMI watchdog, keeps its counter from all others. */
static void beside_a_watchdog(void)
{
	const u64 times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct perf_event_attr dog = x86_general_cycles(), attr = x86_general_cycles();
	int fd[32], n = x86_general(), i, watch;
	u64 sum = 0, samples;
	struct pt_ring ring;
	struct pt_read r;

	x86_need_exact();
	dog.pinned = 1;
	dog.exclude_kernel = 0;
	dog.sample_period = 1000003;
	dog.sample_type = PERF_SAMPLE_IP;
	dog.read_format = times;
	watch = pt_open(&dog, -1, 0, -1, 0);
	pt_map(&ring, watch, 8);
	attr.read_format = times;
	for (i = 0; i < n; i++)
		fd[i] = pt_open_hw(&attr, -1);
	pt_enable(watch);
	for (i = 0; i < n; i++)
		pt_enable(fd[i]);
	/* time for every event to be the one that is left out */
	pt_spin((u64)n * 4000000);
	for (i = 0; i < n; i++)
		pt_disable(fd[i]);
	pt_disable(watch);
	pt_read(watch, times, 1, &r);
	pt_eq(r.running, r.enabled);
	samples = pt_count_records(&ring, PERF_RECORD_SAMPLE);
	pt_eq(samples, r.v[0].value / 1000003);
	for (i = 0; i < n; i++) {
		pt_read(fd[i], times, 1, &r);
		pt_check(r.running && r.running < r.enabled, "event %d: %llu of %llu", i,
			 (unsigned long long)r.running, (unsigned long long)r.enabled);
		sum += r.running;
	}
	pt_check(sum < r.enabled * (u64)n, "the counter was not taken away");
}

/* SysRq-p prints the registers that this CPU has, and reads no others. */
static void registers_printed(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES);
	int fd, log, trigger, refused = 0, active = 0, ctrl = 0;
	char line[4096], *at;
	ssize_t n;

	x86_need_pmu();
	if (pt_is_stock())
		pt_skip("Linux 6.12 reads registers of Intel's");
	fd = pt_open_hw(&attr, -1);
	log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	trigger = open("/proc/sysrq-trigger", O_WRONLY);
	pt_need(log >= 0 && trigger >= 0, "no kernel log, or no SysRq");
	lseek(log, 0, SEEK_END);
	pt_enable(fd);
	pt_eq(write(trigger, "p", 1), 1);
	pt_disable(fd);
	while ((n = read(log, line, sizeof(line) - 1)) > 0) {
		line[n] = 0;
		refused += !!strstr(line, "unchecked MSR");
		at = strstr(line, "active:");
		active += at && strtoull(at + 7, NULL, 16);
		at = strstr(line, ": ctrl:");
		ctrl += at && strtoull(at + 7, NULL, 16);
	}
	pt_eq(refused, 0);
	pt_eq(active, 1);
	pt_eq(ctrl, x86_has_global());
}

static void reads_as(const char *file, const char *want)
{
	char path[128], text[64] = "";

	snprintf(path, sizeof(path), X86_PMU "%s", file);
	pt_slurp(path, text, sizeof(text));
	pt_check(!strcmp(text, want), "%s is '%s', not '%s'", file, text, want);
}

static void formats(void)
{
	x86_need_pmu();
	reads_as("format/event", x86_is_intel() ? "config:0-7" : "config:0-7,32-35");
	reads_as("format/umask", pt_path_exists(X86_PMU "format/eq") ? "config:8-15,40-47" :
								       "config:8-15");
	reads_as("format/cmask", "config:24-31");
	reads_as("format/inv", "config:23");
	reads_as("format/edge", "config:18");
}

static void senseless_cache_events(void)
{
	static const u64 config[] = {
		PERF_COUNT_HW_CACHE_L1I | PERF_COUNT_HW_CACHE_OP_WRITE << 8,
		PERF_COUNT_HW_CACHE_ITLB | PERF_COUNT_HW_CACHE_OP_WRITE << 8,
		PERF_COUNT_HW_CACHE_BPU | PERF_COUNT_HW_CACHE_OP_PREFETCH << 8,
	};
	struct perf_event_attr attr = x86_hw(0);
	unsigned int i;

	x86_need_pmu();
	attr.type = PERF_TYPE_HW_CACHE;
	for (i = 0; i < PT_ARRAY_SIZE(config); i++) {
		attr.config = config[i];
		pt_eq(pt_probe(&attr), -EINVAL);
	}
}

/* Who counts stays where it is when a group that has room beside it comes back. */
static void keeps_its_counter(void)
{
	struct perf_event_attr attr;
	struct pt_ring ring;
	u32 index;
	int lead, fd;

	x86_need_pmu();
	attr = x86_general_cycles();
	attr.disabled = 1;
	fd = pt_open_hw(&attr, -1);
	lead = pt_open_hw(&attr, -1);
	attr.disabled = 0;
	pt_open_hw(&attr, lead);
	pt_map(&ring, fd, 0);
	pt_enable(lead);
	pt_enable(fd);
	index = ring.page->index;
	pt_check(index > 0, "no index");
	pt_disable(lead);
	pt_enable(lead);
	pt_eq(ring.page->index, index);
	pt_switch_out();
	pt_eq(ring.page->index, index);
}

static const struct pt_case cases[] = {
	{ "exact_user_counts", exact_user_counts },
	{ "a_group_counts_the_same", a_group_counts_the_same },
	{ "exact_kernel_counts", exact_kernel_counts },
	{ "rings_add_up", rings_add_up },
	{ "excluded", excluded },
	{ "sizes_of_groups", sizes_of_groups },
	{ "full_groups", full_groups },
	{ "fixed_counters_first", fixed_counters_first },
	{ "all_counters_at_once", all_counters_at_once },
	{ "across_the_last_bit", across_the_last_bit },
	{ "raw_configs", raw_configs },
	{ "formats", formats },
	{ "senseless_cache_events", senseless_cache_events },
	{ "keeps_its_counter", keeps_its_counter },
	{ "nothing_is_left_on", nothing_is_left_on },
	{ "conditional_branches", conditional_branches },
	{ "beside_a_watchdog", beside_a_watchdog },
	{ "registers_printed", registers_printed },
};

PT_MAIN(cases)
