// SPDX-License-Identifier: GPL-2.0
/*
 * cgroup_hw.c - hardware events of cgroups: they share the counters with those
 * of the CPU and of tasks, in the time of their cgroup.
 */
#include "lib/cgroup.h"
#include "lib/test_count.h"

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static struct pt_read times_of(int fd)
{
	struct pt_read r;

	pt_read(fd, TIMES, 1, &r);
	return r;
}

static int cycles_of(const char *dir, bool pinned)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	int fd;

	attr.exclude_kernel = 1;
	attr.pinned = pinned;
	attr.read_format = TIMES;
	fd = cg_try_open(&attr, dir, 0, -1);
	if (fd == -ENOENT || fd == -EOPNOTSUPP)
		pt_skip("no hardware counters");
	pt_need(fd >= 0, "cycles: %s", strerror(-fd));
	return fd;
}

static void cycles(void)
{
	const char *a = cg_make(""), *b = cg_make("/b");
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	struct pt_read r[2];
	int fa, fb, own;

	pt_pin(0);
	attr.exclude_kernel = 1;
	own = pt_open_hw(&attr, -1);
	fa = cycles_of(a, false);
	fb = cycles_of(b, true);
	pt_spin(1000000);
	pt_eq(times_of(fa).v[0].value, 0);
	pt_eq(times_of(fb).v[0].value, 0);

	cg_enter(b);
	pt_spin(1000000);
	cg_enter(a);
	r[0] = times_of(fb);
	pt_spin(1000000);
	r[1] = times_of(fb);
	pt_eq(r[1].v[0].value, r[0].v[0].value);
	pt_eq(r[1].enabled, r[0].enabled);
	cg_leave();
	r[0] = times_of(fa);
	pt_check(r[0].v[0].value > r[1].v[0].value, "what is above has less");
	if (pt_time_is_exact()) {
		pt_check(r[1].v[0].value >= 2000000, "%llu cycles in 1000000 turns",
			 (unsigned long long)r[1].v[0].value);
		pt_check(r[0].v[0].value >= 4000000, "%llu cycles in 2000000 turns",
			 (unsigned long long)r[0].v[0].value);
		pt_check(pt_count(own) >= r[0].v[0].value + 2000000, "the task has less");
	}
	pt_spin(1000000);
	r[1] = times_of(fa);
	pt_eq(r[1].v[0].value, r[0].v[0].value);
	pt_eq(r[1].running, r[0].running);
	cg_remove_all();
}

/* More than fit, of the cgroup and of the CPU: each gets its turn, in its own time. */
static void multiplexed(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	const char *a = cg_make("");
	struct pt_read r, before[24];
	int fd[24], cpu[2];
	unsigned int i;

	pt_pin(0);
	attr.exclude_kernel = 1;
	attr.read_format = TIMES;
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		fd[i] = cycles_of(a, false);
	for (i = 0; i < PT_ARRAY_SIZE(cpu); i++)
		cpu[i] = pt_open(&attr, -1, 0, -1, 0);
	pt_burn(20000000);
	for (i = 0; i < PT_ARRAY_SIZE(cpu); i++) {
		r = times_of(cpu[i]);
		/* Nobody else is here. */
		pt_eq(r.running, r.enabled);
	}
	cg_enter(a);
	for (i = 0; i < 100; i++) {
		pt_burn(10000000);
		r = times_of(fd[PT_ARRAY_SIZE(fd) - 1]);
		if (i >= 20 && r.running)
			break;
	}
	cg_leave();
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++) {
		before[i] = times_of(fd[i]);
		pt_check(before[i].running > 0, "event %u never ran", i);
		pt_check(before[i].running < before[i].enabled, "event %u always ran", i);
	}
	pt_burn(20000000);
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++) {
		r = times_of(fd[i]);
		pt_eq(r.enabled, before[i].enabled);
		pt_eq(r.running, before[i].running);
		pt_eq(r.v[0].value, before[i].v[0].value);
	}
	cg_remove_all();
}

/* A pinned event that does not fit is an error: read() says end of file. */
static void pinned_error(void)
{
	const char *a = cg_make("");
	unsigned int i, bad = 0, bad_later = 0;
	u64 v[3];
	int fd[24];

	pt_pin(0);
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		fd[i] = cycles_of(a, true);
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		bad += !read(fd[i], v, sizeof(v));
	pt_eq(bad, 0);		/* nobody was in yet */
	cg_enter(a);
	pt_spin(1000);
	cg_leave();
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		bad += !read(fd[i], v, sizeof(v));
	pt_check(bad > 0 && bad < PT_ARRAY_SIZE(fd), "%u in error", bad);
	/* It lasts, and those that fit are not hurt when the cgroup comes in again. */
	cg_enter(a);
	pt_spin(1000);
	for (i = 0; i < PT_ARRAY_SIZE(fd); i++)
		bad_later += !read(fd[i], v, sizeof(v));
	pt_eq(bad_later, bad);
	cg_remove_all();
}

/* An event of the CPU brings hardware into a group of software events of a cgroup. */
static void hardware_guest(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	const char *a = cg_make("");
	int leader, guest;
	u64 count;

	pt_pin(0);
	attr.exclude_kernel = 1;
	leader = cg_faults(a, 0);
	guest = pt_try_open(&attr, -1, 0, leader, 0);
	if (guest == -ENOENT || guest == -EOPNOTSUPP)
		pt_skip("no hardware counters");
	pt_need(guest >= 0, "cycles: %s", strerror(-guest));
	pt_spin(1000);
	pt_eq(pt_count(guest), 0);
	cg_enter(a);
	pt_fault(3);
	pt_spin(1000);
	cg_leave();
	count = pt_count(guest);
	pt_eq(pt_count(leader), 3);
	pt_check(count > 0, "it does not count in the cgroup");
	pt_fault(3);
	pt_spin(1000);
	pt_eq(pt_count(leader), 3);
	pt_eq(pt_count(guest), count);
	/* Alone it is the CPU's, at once. Linux 6.12 leaves it off. */
	close(leader);
	pt_spin(1000);
	pt_check(pt_is_stock() || pt_count(guest) > count, "it does not count alone");
	cg_remove_all();
}

/* A PMU of few counters that does not rotate meanwhile. */
static void without_turns(const char *params)
{
	if (pt_is_stock())
		pt_skip("Linux 6.12 frees a PMU whose timer is armed");
	load(params);
	pt_eq(pt_write_file("/sys/bus/event_source/devices/" MODULE "/perf_event_mux_interval_ms",
			    "10000"), 0);
}

/* What made room for a cgroup counts again as soon as that is left. */
static void room_again(void)
{
	const char *a = cg_make("");
	struct perf_event_attr attr;
	int cpu, group;

	without_turns("counters=1");
	attr = hits();
	cpu = pt_open(&attr, -1, 0, -1, 0);
	hit(1);
	attr.pinned = 1;
	group = cg_open(&attr, a, 0, -1);
	cg_enter(a);
	hit(2);
	cg_leave();
	hit(4);
	pt_eq(pt_count(group), 2);
	pt_eq(pt_count(cpu), 5);
	close(group);
	close(cpu);
	none_left();
	cg_remove_all();
}

/* Whoever comes in with a cgroup does not overtake a group that waits. */
static void newcomer(void)
{
	const char *a = cg_make("");
	int pinned, first, second, late;
	struct perf_event_attr attr;

	without_turns("counters=2");
	attr = hits();
	attr.pinned = 1;
	pinned = pt_open(&attr, -1, 0, -1, 0);
	attr.pinned = 0;
	first = pt_open(&attr, -1, 0, -1, 0);
	second = pt_open(&attr, -1, 0, first, 0);
	late = cg_open(&attr, a, 0, -1);
	hit(1);
	cg_enter(a);
	hit(2);
	cg_leave();
	pt_eq(pt_count(pinned), 3);
	pt_eq(pt_count(late), 0);
	pt_eq(pt_count(first), pt_count(second));
	close(second);
	close(first);
	close(late);
	close(pinned);
	none_left();
	cg_remove_all();
}

/* Where there is room for all, those of a cgroup are added, and what is there stays as it is. */
static void added_to_others(void)
{
	const char *a = cg_make("");
	struct perf_event_attr attr;
	int cpu, group[2], i;
	struct pt_ring r;
	u32 changes;

	without_turns("counters=4");
	attr = hits();
	cpu = pt_open(&attr, -1, 0, -1, 0);
	for (i = 0; i < 2; i++)
		group[i] = cg_open(&attr, a, 0, -1);
	pt_map(&r, cpu, 0);
	changes = r.page->lock;
	cg_enter(a);
	hit(2);
	cg_leave();
	pt_eq(r.page->lock, changes);
	pt_eq(pt_count(cpu), 2);
	for (i = 0; i < 2; i++) {
		pt_eq(pt_count(group[i]), 2);
		close(group[i]);
	}
	pt_unmap(&r);
	close(cpu);
	none_left();
	cg_remove_all();
}

/* Three times: a hit outside, two inside. */
static void go_in_and_out(const char *dir)
{
	int i;

	for (i = 0; i < 3; i++) {
		hit(1);
		cg_enter(dir);
		hit(2);
		cg_leave();
	}
}

/* Those of a cgroup get their turn at once where the task has an event of its own ... */
static void beside_the_own(void)
{
	const char *a = cg_make("");
	struct perf_event_attr attr;
	int own, group;

	without_turns("counters=2");
	attr = hits();
	own = pt_open(&attr, 0, -1, -1, 0);
	group = cg_open(&attr, a, 0, -1);
	go_in_and_out(a);
	pt_eq(pt_count(own), 9);
	pt_eq(pt_count(group), 6);
	close(group);
	close(own);
	none_left();
	cg_remove_all();
}

/* ... and, if they are pinned, where somebody waits. */
static void before_who_waits(void)
{
	const char *a = cg_make("");
	struct perf_event_attr attr;
	int first, second, third, group;

	without_turns("counters=2");
	attr = hits();
	first = pt_open(&attr, -1, 0, -1, 0);
	second = pt_open(&attr, -1, 0, first, 0);
	third = pt_open(&attr, -1, 0, -1, 0);
	attr.pinned = 1;
	group = cg_open(&attr, a, 0, -1);
	go_in_and_out(a);
	pt_eq(pt_count(group), 6);
	pt_eq(pt_count(first), pt_count(second));
	close(group);
	close(third);
	close(second);
	close(first);
	none_left();
	cg_remove_all();
}

static const struct pt_case cases[] = {
	{ "cycles", cycles },
	{ "multiplexed", multiplexed },
	{ "pinned_error", pinned_error },
	{ "hardware_guest", hardware_guest },
	{ "room_again", room_again },
	{ "newcomer", newcomer },
	{ "added_to_others", added_to_others },
	{ "beside_the_own", beside_the_own },
	{ "before_who_waits", before_who_waits },
};

PT_MAIN(cases)
