// SPDX-License-Identifier: GPL-2.0
/*
 * x86_pmu_user.c - counters that user space reads itself: RDPMC by way of the mapped page, the
 * setting that allows it, and what a task must not see of others.
 *
 * needs: hw
 */
#include "lib/x86.h"

#define SETTING	X86_PMU "rdpmc"

static void set(const char *value)
{
	pt_eq(pt_write_file(SETTING, value), 0);
}

static void map_an_event(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES);
	struct pt_ring r;

	attr.disabled = 0;
	pt_map(&r, pt_open_hw(&attr, -1), 0);
}

static void three_settings(void)
{
	static const struct {
		const char *value;
		bool without, with;	/* refused? */
	} setting[] = { { "1", true, false }, { "0", true, true }, { "2", false, false } };
	unsigned int i;

	x86_need_pmu();
	pt_eq(pt_read_number(SETTING, -1), 1);
	for (i = 0; i < PT_ARRAY_SIZE(setting); i++) {
		set(setting[i].value);
		pt_eq(pt_read_number(SETTING, -1), atoi(setting[i].value));
		pt_eq(x86_rdpmc_refused(0, NULL), setting[i].without);
		pt_eq(x86_rdpmc_refused(0, map_an_event), setting[i].with);
	}
	set("1");
	pt_eq(x86_rdpmc_refused(0, NULL), true);
	pt_eq(pt_write_file(SETTING, "3"), -EINVAL);
	pt_eq(pt_write_file(SETTING, "-1"), -EINVAL);
	pt_eq(pt_write_file(SETTING, "x"), -EINVAL);
	pt_eq(pt_read_number(SETTING, -1), 1);
}

/* An event remembers whether it was allowed when it was opened. */
static void capability_of_the_page(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES);
	struct pt_ring r;
	int fd;

	x86_need_pmu();
	attr.disabled = 0;
	set("0");
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 0);
	set("1");
	pt_eq(r.page->cap_user_rdpmc, 0);
	pt_eq(r.page->index, 0);
	pt_unmap(&r);
	close(fd);
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 0);
	pt_eq(r.page->cap_user_rdpmc, 1);
	pt_check(r.page->index, "no index");
	pt_eq(r.page->pmc_width, 48);
	pt_disable(fd);
	pt_eq(r.page->index, 0);
	pt_eq(r.page->offset, pt_count(fd));
}

/* Read in user space, then by read(): the way between the two is the same every time. */
static void same_as_read(void)
{
	struct perf_event_attr attr[] = {
		x86_hw(PERF_COUNT_HW_CPU_CYCLES), x86_hw(PERF_COUNT_HW_INSTRUCTIONS),
		x86_general_cycles(),
	};
	unsigned int i, j;

	x86_need_exact();
	for (i = 0; i < PT_ARRAY_SIZE(attr); i++) {
		u64 last = 0, user, kernel;
		struct pt_ring r;
		int fd;

		attr[i].disabled = 0;
		fd = pt_open_hw(&attr[i], -1);
		pt_map(&r, fd, 0);
		x86_user_count(r.page);
		pt_count(fd);
		for (j = 0; j < 20; j++) {
			if (j % 5 == 4)
				pt_switch_out();
			user = x86_user_count(r.page);
			kernel = pt_count(fd);
			pt_check(kernel > user && kernel - user < 200, "%llu, then %llu",
				 (unsigned long long)user, (unsigned long long)kernel);
			if (last)
				pt_eq(kernel - user, last);
			last = kernel - user;
		}
		pt_unmap(&r);
		close(fd);
	}
}

/* The offset of the page is right whatever happened to the count. */
static void mapped_after_a_look(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES);
	struct pt_ring r;
	u64 count, now;
	int fd;

	x86_need_pmu();
	if (pt_is_stock())
		pt_skip("the page of Linux 6.12 tells of 2^48 less");
	attr.disabled = 0;
	close(pt_open_hw(&attr, -1));	/* leaves what it has counted behind */
	fd = pt_open_hw(&attr, -1);
	pt_spin(1000);
	count = pt_count(fd);
	pt_map(&r, fd, 0);
	pt_check(pt_count(fd) < count + 1000000, "%llu after %llu",
		 (unsigned long long)pt_count(fd), (unsigned long long)count);
	now = x86_user_count(r.page);
	pt_check(now > count && now < 2 * pt_count(fd), "%llu after %llu", (unsigned long long)now,
		 (unsigned long long)count);
	pt_reset(fd);
	now = x86_user_count(r.page);
	pt_check(now <= pt_count(fd), "%llu after RESET", (unsigned long long)now);
}

/* Across switches, IOC_RESET and stretches in which it was off. */
static void exact(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct pt_peer peer;
	struct pt_ring r;
	u64 n[3];
	int fd, i;

	x86_need_exact();
	attr.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 0);
	pt_peer_start(&peer);
	for (i = 0; i < 10; i++) {
		n[0] = x86_user_count(r.page);
		pt_spin(1000);
		n[1] = x86_user_count(r.page);
		pt_spin(51000);
		n[2] = x86_user_count(r.page);
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

static void map_two_and_unmap(int left)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES);
	struct pt_ring r[2];
	int i;

	attr.disabled = 0;
	for (i = 0; i < 2; i++)
		pt_map(&r[i], pt_open_hw(&attr, -1), 0);
	while (i > left)
		pt_unmap(&r[--i]);
}

static void unmap_one(void)
{
	map_two_and_unmap(1);
}

static void unmap_both(void)
{
	map_two_and_unmap(0);
}

/* The right goes with the last mapping, though the events are still open. */
static void while_it_is_mapped(void)
{
	x86_need_pmu();
	pt_eq(x86_rdpmc_refused(0, unmap_one), false);
	pt_eq(x86_rdpmc_refused(0, unmap_both), true);
}

/* ---- what others have counted ---- */

/* Takes every general counter, and keeps the events. */
static void takes_all(void)
{
	struct perf_event_attr attr = x86_general_cycles();
	int i;

	attr.disabled = 0;
	for (i = 0; i < x86_general(); i++)
		pt_open_hw(&attr, -1);
	pt_spin(100000);
}

/*
 * On Skylake event C0H with mask 1 is counted by counter 1 alone. When it comes, those that stay of
 * four move to counters 0 and 2; the last one's first counter has nobody any more.
 */
static void moves_and_leaves(void)
{
	struct perf_event_attr attr = x86_general_cycles();
	int fd[4], i;

	attr.disabled = 0;
	for (i = 0; i < 4; i++)
		fd[i] = pt_open_hw(&attr, -1);
	pt_spin(100000);
	close(fd[0]);
	close(fd[2]);
	attr.type = PERF_TYPE_RAW;
	attr.config = 0x1c0;
	pt_open_hw(&attr, -1);
	close(fd[3]);
}

/* A task does this, which may read its own counter: others show nothing of what they counted. */
static void counters_behind(void (*fn)(void))
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_CPU_CYCLES);
	int go[2], done[2], i, k;
	struct pt_ring r;
	char c = 0;
	pid_t pid;

	x86_need_pmu();
	pt_need(!pipe(go), "pipe: %s", strerror(errno));
	pt_gate_make(done);
	pt_in_child(pid) {
		close(go[1]);
		fn();
		pt_gate_open(done);
		while (read(go[0], &c, 1) == 1) {
			pt_spin(100000);
			pt_gate_open(done);
		}
	}
	close(go[0]);
	pt_gate_wait(done);
	attr.disabled = 0;
	pt_map(&r, pt_open_hw(&attr, -1), 0);
	for (i = 0; i < 3; i++) {
		pt_gate_open(go);
		pt_gate_wait(done);
		for (k = 0; k < x86_general(); k++) {
			if ((u32)k != r.page->index - 1)
				pt_eq(x86_rdpmc((u32)k), 0);
		}
	}
	close(go[1]);
	pt_reap(pid);
}

static void not_of_another_task(void)
{
	counters_behind(takes_all);
}

static void left_by_a_move(void)
{
	char name[64] = "";

	x86_need_pmu();
	pt_slurp(X86_PMU "caps/pmu_name", name, sizeof(name));
	if (strncmp(name, "skylake", 7))
		pt_skip("no event is known that only one counter counts");
	if (pt_is_stock())
		pt_skip("Linux 6.12 does not clear a counter that an event has moved from");
	counters_behind(moves_and_leaves);
}

static const struct pt_case cases[] = {
	{ "three_settings", three_settings },
	{ "capability_of_the_page", capability_of_the_page },
	{ "same_as_read", same_as_read },
	{ "exact", exact },
	{ "mapped_after_a_look", mapped_after_a_look },
	{ "while_it_is_mapped", while_it_is_mapped },
	{ "not_of_another_task", not_of_another_task },
	{ "left_by_a_move", left_by_a_move },
};

PT_MAIN(cases)
