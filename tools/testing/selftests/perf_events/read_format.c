// SPDX-License-Identifier: GPL-2.0
/*
 * read_format.c - every read_format, alone and on a group: size, order and
 * meaning of the fields, short buffers, ids, sums with copies, and what a read
 * of a member of a group that is not its leader gives.
 *
 * needs: hw
 */
#include "lib/test_count.h"

#define ALL_FORMATS	(PERF_FORMAT_MAX)
#define GUARD		0xa5a5a5a5a5a5a5a5ull

static int open_faults(u64 format, int group)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.read_format = format;
	attr.disabled = group == -1;
	return pt_open(&attr, 0, -1, group, 0);
}

static void one_event_all_formats(void)
{
	u64 f;

	for (f = 0; f < ALL_FORMATS; f++) {
		int fd = open_faults(f, -1);
		u8 *p = pt_fresh_pages(4);
		struct pt_read r;

		pt_enable(fd);
		pt_touch(p, 4);
		/* However coarse the clock is, some time has passed then. */
		pt_burn(1);
		pt_disable(fd);
		pt_read(fd, f, 1, &r);
		pt_eq(r.nr, 1);
		pt_check(r.v[0].value == 4, "format %#llx: count %llu", (unsigned long long)f,
			 (unsigned long long)r.v[0].value);
		if (f & PERF_FORMAT_TOTAL_TIME_ENABLED)
			pt_check(r.enabled > 0, "format %#llx: enabled 0", (unsigned long long)f);
		if (f & PERF_FORMAT_TOTAL_TIME_RUNNING)
			pt_check(r.running > 0, "format %#llx: running 0", (unsigned long long)f);
		if ((f & 3) == 3)
			pt_eq(r.enabled, r.running);
		if (f & PERF_FORMAT_ID)
			pt_eq(r.v[0].id, pt_id(fd));
		pt_eq(r.v[0].lost, 0);
		close(fd);
	}
}

static void group_all_formats(void)
{
	u64 f;
	int i;

	for (f = 0; f < ALL_FORMATS; f++) {
		int fd[4] = { open_faults(f, -1) };
		u8 *p = pt_fresh_pages(6);
		struct pt_read r;

		for (i = 1; i < 4; i++)
			fd[i] = open_faults(f, fd[0]);
		pt_enable(fd[0]);
		pt_touch(p, 6);
		pt_disable(fd[0]);
		pt_read(fd[0], f, 4, &r);
		pt_eq(r.nr, f & PERF_FORMAT_GROUP ? 4 : 1);
		for (i = 0; i < (int)r.nr; i++) {
			pt_check(r.v[i].value == 6, "format %#llx: member %d counted %llu",
				 (unsigned long long)f, i, (unsigned long long)r.v[i].value);
			if (f & PERF_FORMAT_ID)
				pt_eq(r.v[i].id, pt_id(fd[i]));
		}
		for (i = 0; i < 4; i++)
			close(fd[i]);
	}
}

/* The size is asked for the largest group, the guard words stay untouched. */
static void short_and_long_buffers(void)
{
	u64 f;
	int i;

	for (f = 0; f < ALL_FORMATS; f++) {
		int fd[3] = { open_faults(f, -1) };
		u64 buf[64];
		size_t need, n;

		fd[1] = open_faults(f, fd[0]);
		fd[2] = open_faults(f, fd[0]);
		need = pt_read_size(f, 3);
		for (n = 0; n < need; n += 4) {
			for (i = 0; i < 64; i++)
				buf[i] = GUARD;
			pt_eq(read(fd[0], buf, n), -1);
			pt_eq(errno, ENOSPC);
			pt_eq(buf[0], GUARD);
		}
		pt_eq(read(fd[0], buf, need), need);
		pt_eq(buf[need / 8], GUARD);
		pt_eq(read(fd[0], buf, sizeof(buf)), need);
		pt_eq(buf[need / 8], GUARD);
		pt_eq(read(fd[0], NULL, need), -1);
		pt_eq(errno, EFAULT);
		for (i = 0; i < 3; i++)
			close(fd[i]);
	}
}

static void calls(unsigned int n)
{
	while (n--)
		syscall(SYS_getppid);
}

/* A child that makes calls; it says so and stays until the write end of @stay is closed. */
static pid_t caller(unsigned int n, const int *stay)
{
	int done[2];
	pid_t pid;
	char c;

	pt_gate_make(done);
	pt_in_child(pid) {
		close(stay[1]);
		calls(n);
		pt_gate_open(done);
		_exit(read(stay[0], &c, 1) != 0);
	}
	close(done[1]);
	pt_gate_wait(done);
	close(done[0]);
	return pid;
}

/* The words of a family: identities of what was opened, sums over all, dead or alive. */
static void words_of_a_family(u64 f, unsigned int members)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	int fd[16], stay[2], leave[2];
	struct pt_read r;
	unsigned int i;
	pid_t pid;

	attr.read_format = f;
	attr.inherit = 1;
	for (i = 0; i < members; i++)
		fd[i] = pt_open(&attr, 0, -1, i ? fd[0] : -1, 0);
	pt_need(!pipe(stay) && !pipe(leave), "pipe: %s", strerror(errno));
	pid = caller(10, leave);
	close(leave[1]);
	pt_reap(pid);
	pid = caller(20, stay);
	calls(3);
	pt_read(fd[0], f, members, &r);
	pt_eq(r.nr, f & PERF_FORMAT_GROUP ? members : 1);
	for (i = 0; i < r.nr; i++) {
		pt_check(r.v[i].value == 33 && !r.v[i].lost,
			 "format %#llx: member %u counted %llu, lost %llu", (unsigned long long)f,
			 i, (unsigned long long)r.v[i].value, (unsigned long long)r.v[i].lost);
		if (f & PERF_FORMAT_ID)
			pt_eq(r.v[i].id, pt_id(fd[i]));
	}
	if ((f & 3) == 3)
		pt_check(r.running > 0 && r.running == r.enabled, "times %llu and %llu",
			 (unsigned long long)r.enabled, (unsigned long long)r.running);
	close(stay[1]);
	pt_reap(pid);
	close(stay[0]);
	close(leave[0]);
	for (i = 0; i < members; i++)
		close(fd[i]);
}

static void family_all_formats(void)
{
	u64 f;

	for (f = 0; f < ALL_FORMATS; f++)
		words_of_a_family(f, 3);
}

/* More words than a kernel has on its stack. */
static void large_family_all_formats(void)
{
	u64 f;

	for (f = 0; f < ALL_FORMATS; f++)
		words_of_a_family(f, 16);
}

static void read_of_a_sibling(void)
{
	u64 f = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	int lead = open_faults(f, -1);
	int sib = open_faults(f, lead);
	int plain = open_faults(PERF_FORMAT_ID, lead);
	u8 *p = pt_fresh_pages(9);
	struct pt_read r;

	pt_enable(lead);
	pt_touch(p, 9);
	pt_disable(lead);
	/* A sibling with the GROUP format reads the whole group, leader first. */
	pt_read(sib, f, 3, &r);
	pt_eq(r.v[0].id, pt_id(lead));
	pt_eq(r.v[1].id, pt_id(sib));
	pt_eq(r.v[2].id, pt_id(plain));
	pt_eq(r.v[0].value, 9);
	pt_eq(r.v[1].value, 9);
	pt_eq(r.v[2].value, 9);
	/* One without reads itself. */
	pt_read(plain, PERF_FORMAT_ID, 1, &r);
	pt_eq(r.v[0].value, 9);
	pt_eq(r.v[0].id, pt_id(plain));
}

static void group_grows_and_shrinks(void)
{
	u64 f = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	int lead = open_faults(f, -1);
	struct pt_read r;
	int fd[5], i;

	for (i = 0; i < 5; i++) {
		pt_read(lead, f, 1 + (unsigned int)i, &r);
		fd[i] = open_faults(f, lead);
	}
	pt_read(lead, f, 6, &r);
	close(fd[2]);
	pt_read(lead, f, 5, &r);
	pt_eq(r.v[1].id, pt_id(fd[0]));
	pt_eq(r.v[2].id, pt_id(fd[1]));
	pt_eq(r.v[3].id, pt_id(fd[3]));
	pt_eq(r.v[4].id, pt_id(fd[4]));
	for (i = 0; i < 5; i++) {
		if (i != 2)
			close(fd[i]);
	}
	pt_read(lead, f, 1, &r);
	pt_eq(r.v[0].id, pt_id(lead));
}

static void disabled_sibling(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 f = PERF_FORMAT_GROUP;
	struct pt_read r;
	u8 *p = pt_fresh_pages(8);
	int lead, sib;

	lead = open_faults(f, -1);
	attr.read_format = f;
	attr.disabled = 1;
	sib = pt_open(&attr, 0, -1, lead, 0);
	pt_enable(lead);
	pt_touch(p, 3);
	pt_enable(sib);
	pt_touch(p + 3 * pt_page_size(), 5);
	pt_disable(lead);
	pt_read(lead, f, 2, &r);
	pt_eq(r.v[0].value, 8);
	pt_eq(r.v[1].value, 5);
}

/* A group is read at one moment: equal events have equal counts in it. */
static void group_read_is_coherent(void)
{
	u64 f = PERF_FORMAT_GROUP;
	int lead = open_faults(f, -1);
	int sib[3], i, j;
	u8 *p = pt_fresh_pages(200);
	struct pt_read r;

	for (i = 0; i < 3; i++)
		sib[i] = open_faults(f, lead);
	pt_enable(lead);
	for (i = 0; i < 200; i++) {
		pt_touch(p + i * pt_page_size(), 1);
		pt_read(lead, f, 4, &r);
		for (j = 1; j < 4; j++)
			pt_check(r.v[j].value == r.v[0].value, "leader %llu, sibling %llu",
				 (unsigned long long)r.v[0].value,
				 (unsigned long long)r.v[j].value);
	}
	for (i = 0; i < 3; i++)
		close(sib[i]);
}

static void id_of_duplicates(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	u64 f = PERF_FORMAT_ID;
	struct pt_read a, b;
	int fd, copy;

	attr.read_format = f;
	fd = pt_open(&attr, 0, -1, -1, 0);
	copy = dup(fd);
	pt_read(fd, f, 1, &a);
	close(fd);
	pt_read(copy, f, 1, &b);
	pt_eq(a.v[0].id, b.v[0].id);
	pt_eq(pt_id(copy), a.v[0].id);
}

static void times_without_count(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct pt_read r;
	u64 last = 0;
	int fd, i;

	attr.read_format = f;
	fd = pt_open(&attr, 0, -1, -1, 0);
	for (i = 0; i < 100; i++) {
		pt_read(fd, f, 1, &r);
		pt_eq(r.enabled, r.running);
		pt_check(r.enabled >= last, "time went from %llu to %llu",
			 (unsigned long long)last, (unsigned long long)r.enabled);
		last = r.enabled;
	}
	pt_burn(1);
	pt_read(fd, f, 1, &r);
	pt_check(r.enabled > 0, "no time passed");
}

/* They are those of the event, though its task has had another one since it came to its CPU. */
static void times_begin_anew(void)
{
	const u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct pt_read r;
	u64 begin, took;
	int fd, i;

	pt_pin(0);
	attr.read_format = f;
	for (i = 0; i < 5; i++) {
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_burn(10000000);
		close(fd);
		fd = pt_open(&attr, 0, -1, -1, 0);
		begin = pt_clock(CLOCK_THREAD_CPUTIME_ID);
		pt_burn(5000000);
		took = pt_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
		pt_read(fd, f, 1, &r);
		close(fd);
		pt_eq(r.enabled, r.running);
		/* Whoever takes the CPU away takes some of it from either. */
		pt_check(r.enabled >= took - took / 4, "enabled for %llu ns of %llu",
			 (unsigned long long)r.enabled, (unsigned long long)took);
	}
}

/* A read of a group in error gives nothing, whatever there would be to tell. */
static void family_in_error(void)
{
	struct perf_event_attr attr, other = pt_attr(PT_SW(DUMMY));
	u64 buf[40] = { GUARD };
	int lead, i;

	load("counters=1");
	attr = hits();
	attr.inherit = 1;
	attr.pinned = 1;
	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_GROUP;
	lead = pt_open(&attr, 0, -1, -1, 0);
	other.inherit = 1;
	for (i = 0; i < 30; i++)
		pt_open(&other, 0, -1, lead, 0);
	/* The second that needs a counter, of which there is one. */
	attr.pinned = 0;
	attr.disabled = 0;
	pt_open(&attr, 0, -1, lead, 0);
	pt_enable(lead);
	pt_eq(read(lead, buf, sizeof(buf)), 0);
	pt_eq(buf[0], GUARD);
}

static void hw_group_formats(void)
{
	struct perf_event_attr cyc = pt_attr(PT_HW(CPU_CYCLES));
	struct perf_event_attr ins = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_read r;
	u64 f = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
		PERF_FORMAT_TOTAL_TIME_RUNNING;
	int lead, sib;

	cyc.read_format = f;
	cyc.disabled = 1;
	cyc.exclude_kernel = 1;
	ins.read_format = f;
	ins.exclude_kernel = 1;
	lead = pt_open_hw(&cyc, -1);
	sib = pt_open_hw(&ins, lead);
	pt_enable(lead);
	pt_spin(100000);
	pt_disable(lead);
	pt_read(lead, f, 2, &r);
	pt_eq(r.enabled, r.running);
	pt_check(r.enabled > 0, "enabled 0");
	pt_eq(r.v[0].id, pt_id(lead));
	pt_eq(r.v[1].id, pt_id(sib));
	pt_check(r.v[0].value > 0, "no cycles");
	pt_check(r.v[1].value > 200000 && r.v[1].value < 200200, "%llu instructions",
		 (unsigned long long)r.v[1].value);
}

static const struct pt_case cases[] = {
	{ "one_event_all_formats", one_event_all_formats },
	{ "group_all_formats", group_all_formats },
	{ "family_all_formats", family_all_formats },
	{ "large_family_all_formats", large_family_all_formats },
	{ "short_and_long_buffers", short_and_long_buffers },
	{ "read_of_a_sibling", read_of_a_sibling },
	{ "group_grows_and_shrinks", group_grows_and_shrinks },
	{ "disabled_sibling", disabled_sibling },
	{ "group_read_is_coherent", group_read_is_coherent },
	{ "id_of_duplicates", id_of_duplicates },
	{ "times_without_count", times_without_count },
	{ "times_begin_anew", times_begin_anew },
	{ "family_in_error", family_in_error },
	{ "hw_group_formats", hw_group_formats },
};

PT_MAIN(cases)
