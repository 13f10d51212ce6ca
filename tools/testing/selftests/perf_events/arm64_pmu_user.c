// SPDX-License-Identifier: GPL-2.0
/*
 * arm64_pmu_user.c - counters that user space reads itself: kernel.perf_user_access, the mapped
 * page's index, width and offset, and what a task must not see of others.
 *
 * needs: pmuv3 pmu-irq skid
 */
#include "lib/arm64.h"
#include "lib/ext.h"
#include <signal.h>

#define MODULE	"test_arm64"
/* PMUSERENR_EL0: reading of the event counters and of the cycle counter */
#define ER_CR	0xc

static struct perf_event_attr readable(u64 config, u64 config1)
{
	struct perf_event_attr attr = a64_raw(config);

	attr.config1 = A64_USER_READ | config1;
	attr.disabled = 0;
	return attr;
}

static void allow(int on)
{
	a64_need_pmu();
	pt_pin(0);
	pt_sysctl_set("perf_user_access", on);
}

/* Is this counter closed to a child, which has no events? */
static bool closed_to_others(u32 index)
{
	int status;
	pid_t pid;

	pt_in_child(pid)
		a64_mrs(index);
	status = pt_wait(pid);
	if (!WIFSIGNALED(status)) {
		pt_eq(status, 0);
		return false;
	}
	pt_eq(WTERMSIG(status), SIGILL);
	return true;
}

/* The driver of Linux 6.12 closes counters when the next event starts, not when the last stops. */
static bool old_driver(void)
{
	return pt_kernel_symbol("armv8pmu_start");
}

static void need_closing(bool closed)
{
	if (!closed && old_driver())
		pt_skip("this driver leaves counters readable for whoever comes next");
	pt_check(closed, "counters can still be read");
}

static void index_and_width(void)
{
	static const struct {
		u64 config, config1;
		u32 index;
	} want[] = {
		{ A64_CYCLES, 0, A64_CYCLE_INDEX }, { A64_CYCLES, A64_LONG, A64_CYCLE_INDEX },
		{ A64_INSTRUCTIONS, 0, 1 }, { A64_INSTRUCTIONS, A64_LONG, 1 },
	};
	unsigned int i;
	bool wide;

	allow(1);
	wide = a64_wide_counters();
	for (i = 0; i < PT_ARRAY_SIZE(want); i++) {
		struct perf_event_attr attr = readable(want[i].config, want[i].config1);
		struct perf_event_mmap_page *p;
		struct pt_ring r;
		int fd;

		if (want[i].index != A64_CYCLE_INDEX && want[i].config1 && !wide)
			continue;
		fd = pt_open_hw(&attr, -1);
		pt_map(&r, fd, 0);
		p = r.page;
		pt_eq(p->cap_user_rdpmc, 1);
		pt_eq(p->index, want[i].index);
		pt_eq(p->pmc_width, want[i].config1 ? 64 : 32);
		pt_disable(fd);
		pt_eq(p->index, 0);
		pt_eq(p->offset, pt_count(fd));
		pt_enable(fd);
		pt_eq(p->index, want[i].index);
		pt_unmap(&r);
		close(fd);
	}
}

/* A count read in user space, then by read(): the way between them is the same every time. */
static void same_as_read(void)
{
	static const struct {
		u64 config, config1;
	} kind[] = {
		{ A64_CYCLES, 0 }, { A64_CYCLES, A64_LONG },
		{ A64_INSTRUCTIONS, 0 }, { A64_INSTRUCTIONS, A64_LONG },
	};
	unsigned int i, j;

	allow(1);
	a64_need_exact();
	for (i = 0; i < PT_ARRAY_SIZE(kind); i++) {
		struct perf_event_attr attr = readable(kind[i].config, kind[i].config1);
		u64 last = 0, by_user, by_read;
		struct pt_ring r;
		int fd;

		fd = pt_try_open(&attr, 0, -1, -1, 0);
		if (fd == -EOPNOTSUPP)
			continue;
		pt_need(fd >= 0, "open: %s", strerror(-fd));
		pt_map(&r, fd, 0);
		a64_user_count(r.page);
		pt_count(fd);
		for (j = 0; j < 20; j++) {
			if (j % 5 == 4)
				pt_switch_out();
			a64_after_tick();
			by_user = a64_user_count(r.page);
			by_read = pt_count(fd);
			pt_check(by_read > by_user && by_read - by_user < 300, "%llu, then %llu",
				 (unsigned long long)by_user, (unsigned long long)by_read);
			if (last)
				pt_eq(by_read - by_user, last);
			last = by_read - by_user;
		}
		pt_unmap(&r);
		close(fd);
	}
}

/* Across switches, an IOC_RESET and stretches in which it was off. */
static void exact_in_user_space(void)
{
	struct perf_event_attr attr = readable(A64_INSTRUCTIONS, 0);
	struct pt_peer peer;
	struct pt_ring r;
	u64 n[3];
	int fd, i;

	allow(1);
	a64_need_exact();
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 0);
	pt_peer_start(&peer);
	for (i = 0; i < 10; i++) {
		a64_after_tick();
		n[0] = a64_user_count(r.page);
		pt_spin(1000);
		n[1] = a64_user_count(r.page);
		pt_spin(51000);
		n[2] = a64_user_count(r.page);
		pt_eq(n[2] - n[1] - (n[1] - n[0]), 100000);
		pt_peer_turn(&peer);
		if (i == 5)
			pt_reset(fd);
		pt_disable(fd);
		pt_spin(10000);
		pt_enable(fd);
	}
	pt_peer_stop(&peer);
}

static void not_allowed(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0);
	struct pt_ring r;
	int fd;

	allow(0);
	pt_load_module(MODULE, NULL);
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 0);
	pt_eq(r.page->index, 0);
	pt_eq(pt_module_get(MODULE, "pmuserenr"), 0);
	pt_check(pt_count(fd) > 0, "it does not count");
	pt_spin(1000);
	pt_check(closed_to_others(A64_CYCLE_INDEX), "the cycle counter can be read");
	pt_check(closed_to_others(1), "an event counter can be read");
}

/* The other events of the same task show nothing either. */
static void without_asking(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	struct pt_ring r;
	int fd;

	allow(1);
	pt_load_module(MODULE, NULL);
	attr.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 0);
	pt_eq(r.page->index, 0);
	pt_eq(r.page->cap_user_rdpmc, 0);
	pt_eq(pt_module_get(MODULE, "pmuserenr"), 0);
}

static u64 userenr(void)
{
	return (u64)pt_module_get(MODULE, "pmuserenr");
}

/* Open as long as such an event is there; the mapping only tells which counter is whose. */
static void open_while_one_is_there(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0);
	struct pt_ring r;
	int fd, fe;

	allow(1);
	pt_load_module(MODULE, NULL);
	fd = pt_open_hw(&attr, -1);
	attr.config = A64_INSTRUCTIONS;
	fe = pt_open_hw(&attr, -1);
	pt_eq(userenr(), ER_CR);
	pt_map(&r, fd, 0);
	pt_eq(userenr(), ER_CR);
	/* To ask whether it is allowed, or to allow it again, closes nothing. */
	pt_eq(pt_sysctl_get("perf_user_access"), 1);
	pt_eq(userenr(), ER_CR);
	pt_sysctl_set("perf_user_access", 1);
	pt_eq(userenr(), ER_CR);
	pt_unmap(&r);
	close(fe);
	pt_eq(userenr(), ER_CR);
	close(fd);
	pt_switch_out();
	need_closing(!userenr());
}

/* Between a look at the page and one at the counter. */
static void disabled_before_the_look(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0);
	struct pt_ring r;
	u32 index;
	int fd;

	allow(1);
	pt_load_module(MODULE, NULL);
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 0);
	index = r.page->index;
	pt_eq(index, A64_CYCLE_INDEX);
	pt_disable(fd);
	pt_eq(userenr(), ER_CR);
	a64_mrs(index);
	pt_switch_out();
	need_closing(!userenr());
	pt_enable(fd);
	pt_eq(userenr(), ER_CR);
	pt_eq(r.page->index, A64_CYCLE_INDEX);
}

/* What keeps the PMU on is none of the task's. */
static void closed_beside_others(void)
{
	struct perf_event_attr attr = a64_raw(A64_INSTRUCTIONS);
	int fd, i;

	allow(1);
	attr.disabled = 0;
	pt_open(&attr, -1, 0, -1, 0);
	attr = readable(A64_CYCLES, 0);
	for (i = 0; i < 2; i++) {
		fd = pt_open_hw(&attr, -1);
		a64_mrs(A64_CYCLE_INDEX);
		if (i)
			pt_disable(fd);
		close(fd);
		need_closing(closed_to_others(A64_CYCLE_INDEX));
	}
}

/* By perf_ext_own_tasks nobody reads counters himself, nor do his children. */
static void inherits_no_right(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0);
	pid_t pid;

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.inherit = 1;
	pt_open_hw(&attr, -1);
	pt_eq(userenr(), 0);
	pt_in_child(pid) {
		pt_eq(userenr(), 0);
		pt_switch_out();
		pt_eq(userenr(), 0);
	}
	pt_reap(pid);
	pt_eq(userenr(), 0);
}

static void by_own_tasks(void)
{
	if (!pt_path_exists("/proc/sys/kernel/perf_ext_own_tasks"))
		pt_skip("no extensions");
	allow(1);
	pt_load_module(MODULE, NULL);
	pt_sysctl_set("perf_event_paranoid", 3);
	pt_sysctl_set("perf_ext_own_tasks", 1);
	pt_as_nobody(inherits_no_right);
}

/* The offset of the page is right whatever happened to the count. */
static void mapped_after_a_look(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0);
	struct pt_ring r;
	u64 count, now;
	int fd;

	allow(1);
	if (old_driver())
		pt_skip("this driver's page tells of 2^32 less");
	fd = pt_open_hw(&attr, -1);
	pt_spin(1000);
	count = pt_count(fd);
	pt_map(&r, fd, 0);
	now = a64_user_count(r.page);
	pt_check(now > count && now < 2 * pt_count(fd), "%llu after %llu", (unsigned long long)now,
		 (unsigned long long)count);
	pt_reset(fd);
	now = a64_user_count(r.page);
	pt_check(now <= pt_count(fd), "%llu after RESET", (unsigned long long)now);
}

static void switched_off_on_the_way(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0);
	struct pt_ring r;
	int fd;

	allow(1);
	pt_load_module(MODULE, NULL);
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 0);
	a64_user_count(r.page);
	/* At once on every CPU; the page says so when the event is next started. */
	pt_sysctl_set("perf_user_access", 0);
	pt_eq(userenr(), 0);
	pt_switch_out();
	pt_eq(userenr(), 0);
	pt_eq(r.page->index, 0);
	pt_sysctl_set("perf_user_access", 1);
	pt_switch_out();
	pt_eq(userenr(), ER_CR);
	pt_eq(r.page->index, A64_CYCLE_INDEX);
	a64_user_count(r.page);
}

/* Without a switch it is the next overflow that writes the page, and the index as well. */
static void switched_off_before_an_overflow(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0);
	unsigned int turn;
	struct pt_ring r;
	u32 index = 0;
	s64 nr;

	allow(1);
	attr.sample_period = 100003;
	pt_map(&r, pt_open_hw(&attr, -1), 1);
	for (turn = 0; turn < 20; turn++) {
		pt_sysctl_set("perf_user_access", 1);
		pt_switch_out();
		pt_drain(&r);
		pt_spin(200000);
		pt_need(pt_count_records(&r, PERF_RECORD_SAMPLE), "no overflow");
		pt_eq(r.page->index, A64_CYCLE_INDEX);
		nr = pt_switches();
		pt_sysctl_set("perf_user_access", 0);
		pt_spin(200000);
		index = r.page->index;
		if (pt_switches() == nr)
			break;
	}
	pt_need(turn < 20, "always switched out");
	pt_eq(index, 0);
}

/* Is it throttled, as far as its records tell? */
static bool is_held(struct pt_ring *r)
{
	static struct pt_record rec;
	static bool held;

	while (pt_next(r, &rec)) {
		if (rec.h.type == PERF_RECORD_THROTTLE)
			held = true;
		if (rec.h.type == PERF_RECORD_UNTHROTTLE)
			held = false;
	}
	pt_consume(r);
	return held;
}

/* An event that comes in throttled has a counter, which stands still: the page names none. */
static void comes_in_throttled(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0);
	unsigned int seen = 0, i;
	struct pt_ring r;
	u32 index;

	ext_need();
	allow(1);
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	/* A switch does not let it go on: the CPU has had all samples of the tick. */
	pt_sysctl_set("perf_ext_samples_per_tick", 2);
	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_IP;
	pt_map(&r, pt_open_hw(&attr, -1), 8);
	for (i = 0; i < 20; i++) {
		while (!is_held(&r))
			pt_spin(5000);
		pt_switch_out();
		index = r.page->index;
		if (!is_held(&r))
			continue;
		pt_eq(index, 0);
		seen++;
	}
	pt_check(seen > 0, "always released");
}

/* A counter that no event has any more shows nothing of what it counted. */
static void unused_counters_are_zero(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0), hidden = a64_raw(A64_INSTRUCTIONS);
	struct pt_ring r;
	int fe;

	allow(1);
	hidden.disabled = 0;
	fe = pt_open_hw(&hidden, -1);
	pt_map(&r, pt_open_hw(&attr, -1), 0);
	a64_user_count(r.page);
	pt_spin(100000);
	pt_check(a64_mrs(1) > 200000, "the event beside it counts");
	close(fe);
	pt_eq(a64_mrs(1), 0);
	pt_eq(a64_mrs(2), 0);
	pt_eq(a64_mrs(3), 0);
	pt_switch_out();
	pt_eq(a64_mrs(1), 0);
}

/* A child with an event of its own sees that, and zeroes. */
static void own_event_only(void *arg)
{
	struct perf_event_attr attr = readable(A64_INSTRUCTIONS, 0);
	struct pt_ring mine;

	(void)arg;
	pt_map(&mine, pt_open_hw(&attr, -1), 0);
	a64_user_count(mine.page);
	pt_eq(a64_mrs(A64_CYCLE_INDEX), 0);
	pt_eq(a64_mrs(2), 0);
	pt_eq(a64_mrs(3), 0);
}

static void counters_of_others_are_zero(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0);
	struct pt_ring r;

	allow(1);
	pt_map(&r, pt_open_hw(&attr, -1), 0);
	a64_user_count(r.page);
	pt_spin(100000);
	pt_reap(pt_fork(own_event_only, NULL));
}

static void others_see_nothing(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0);
	struct pt_ring r;

	allow(1);
	pt_map(&r, pt_open_hw(&attr, -1), 0);
	a64_user_count(r.page);
	pt_spin(100000);
	need_closing(closed_to_others(A64_CYCLE_INDEX));
	need_closing(closed_to_others(1));
	a64_user_count(r.page);
}

static void only_for_oneself(void)
{
	struct perf_event_attr attr = readable(A64_CYCLES, 0);
	struct pt_peer peer;
	struct pt_ring r;
	int fd;

	allow(1);
	pt_eq(pt_try_open(&attr, -1, 0, -1, 0), -EINVAL);
	pt_peer_start(&peer);
	fd = pt_open(&attr, peer.pid, -1, -1, 0);
	pt_map(&r, fd, 0);
	pt_peer_turn(&peer);
	pt_eq(r.page->index, 0);
	pt_check(pt_count(fd) > 0, "it does not count");
	need_closing(closed_to_others(A64_CYCLE_INDEX));
	pt_peer_stop(&peer);
}

/* CNTVCT may have less than 64 bits: the page says how many, and that it does. */
static void clock_that_wraps(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	struct perf_event_mmap_page *p;
	struct pt_ring r;

	a64_need_pmu();
	pt_map(&r, pt_open_hw(&attr, -1), 0);
	p = r.page;
	if (!p->cap_user_time)
		pt_skip("the clock of this machine cannot be read by user space");
	pt_eq(p->cap_user_time_short, 1);
	/* The architecture has 56 at least. */
	pt_check(p->time_mask >> 55 && !(p->time_mask & (p->time_mask + 1)), "mask %#llx",
		 (unsigned long long)p->time_mask);
}

static const struct pt_case cases[] = {
	{ "index_and_width", index_and_width },
	{ "same_as_read", same_as_read },
	{ "exact_in_user_space", exact_in_user_space },
	{ "not_allowed", not_allowed },
	{ "without_asking", without_asking },
	{ "open_while_one_is_there", open_while_one_is_there },
	{ "disabled_before_the_look", disabled_before_the_look },
	{ "closed_beside_others", closed_beside_others },
	{ "by_own_tasks", by_own_tasks },
	{ "mapped_after_a_look", mapped_after_a_look },
	{ "switched_off_on_the_way", switched_off_on_the_way },
	{ "switched_off_before_an_overflow", switched_off_before_an_overflow },
	{ "comes_in_throttled", comes_in_throttled },
	{ "unused_counters_are_zero", unused_counters_are_zero },
	{ "counters_of_others_are_zero", counters_of_others_are_zero },
	{ "others_see_nothing", others_see_nothing },
	{ "only_for_oneself", only_for_oneself },
	{ "clock_that_wraps", clock_that_wraps },
};

PT_MAIN(cases)
