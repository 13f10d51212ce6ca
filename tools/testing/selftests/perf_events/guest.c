// SPDX-License-Identifier: GPL-2.0
/*
 * guest.c - guests of KVM: what host and guest execute is counted together or apart, samples of a
 * guest say where it was, and a guest's own counter counts it alone.
 *
 * needs: kvm
 */
#include "lib/guest.h"
#include "lib/x86.h"

static struct perf_event_attr instructions(bool host, bool guest)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));

	attr.disabled = 1;
	attr.exclude_hv = 1;
	attr.exclude_host = !host;
	attr.exclude_guest = !guest;
	return attr;
}

/* The guest's instructions, and nothing of what the host does for it. */
static void guest_alone(void)
{
	static const u32 turns[] = { 1, 10, 1000, 100000, 1000000 };
	struct guest g = guest_make();
	struct perf_event_attr attr = instructions(false, true);
	int fd = pt_open_hw(&attr, -1);
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(turns); i++) {
		guest_load_spin(&g, turns[i]);
		pt_reset(fd);
		pt_enable(fd);
		guest_run(&g);
		pt_disable(fd);
		pt_eq(pt_count(fd), guest_spin_cost(turns[i]));
	}
}

/* All counters start and stop at once: what one of two has, the other has not, and a third all. */
static void host_and_guest_add_up(void)
{
	struct perf_event_attr attr = instructions(true, true);
	struct guest g = guest_make();
	int both, host, guest;

	if (!x86_has_global())
		pt_skip("counters of this PMU start one by one");
	both = pt_open_hw(&attr, -1);
	attr = instructions(true, false);
	attr.disabled = 0;
	host = pt_open_hw(&attr, both);
	attr = instructions(false, true);
	attr.disabled = 0;
	guest = pt_open_hw(&attr, both);
	guest_load_spin(&g, 50000);
	pt_enable(both);
	guest_run(&g);
	pt_disable(both);
	pt_eq(pt_count(guest), guest_spin_cost(50000));
	pt_check(pt_count(host) > 1000, "%llu of the host", (unsigned long long)pt_count(host));
	pt_eq(pt_count(both), pt_count(host) + pt_count(guest));
}

/* User space of the host has the same with a long guest as with a short one. */
static void host_alone(void)
{
	struct perf_event_attr attr = instructions(true, false);
	struct guest g = guest_make();
	u64 first = 0;
	u32 turns;
	int fd;

	attr.exclude_kernel = 1;
	fd = pt_open_hw(&attr, -1);
	for (turns = 10; turns <= 1000000; turns *= 10) {
		guest_load_spin(&g, turns);
		pt_reset(fd);
		pt_enable(fd);
		pt_eq(ioctl(g.vcpu, KVM_RUN, 0), 0);
		pt_disable(fd);
		guest_finish(&g);
		if (first)
			pt_eq(pt_count(fd), first);
		first = pt_count(fd);
	}
	pt_check(first > 0 && first < 200, "%llu instructions", (unsigned long long)first);
}

static void samples_of_the_guest(void)
{
	const u64 period = 100003;
	const u32 turns = 10000000;
	struct perf_event_attr attr = instructions(false, true);
	struct guest g = guest_make();
	struct pt_record rec;
	struct pt_sample s;
	struct pt_ring r;
	u64 n = 0;
	int fd;

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 32);
	guest_load_spin(&g, turns);
	pt_enable(fd);
	guest_run(&g);
	pt_disable(fd);
	while (pt_next_of(&r, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
		pt_parse_sample(&attr, &rec, &s);
		n++;
		pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_GUEST_KERNEL);
		pt_check(guest_spin_is_at(s.ip, n * period), "%llx", (unsigned long long)s.ip);
		pt_eq(s.tid, pt_tid());
	}
	if (guest_samples_are_exact())
		pt_eq(n, guest_spin_cost(turns) / period);
	else
		pt_check(n >= 3 && n <= guest_spin_cost(turns) / period, "%llu samples",
			 (unsigned long long)n);
	pt_eq(pt_count(fd), guest_spin_cost(turns));
}

/*
 * Groups of which one has counters at a time. They change over in an interrupt, amid the guest's
 * user mode: together they have all of it.
 */
static void user_mode_in_turns(void)
{
	const u64 times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	const u32 turns = 20000000;
	struct guest g = guest_make();
	struct pt_read r;
	int lead[2], i, j;
	u64 all = 0;

	if (!guest_in_user_mode(&g))
		pt_skip("this guest has no user mode");
	for (i = 0; i < 2; i++) {
		struct perf_event_attr attr = instructions(false, true);

		attr.read_format = times;
		lead[i] = pt_open_hw(&attr, -1);
		attr.disabled = 0;
		for (j = 0; j < 3; j++)
			pt_open_hw(&attr, lead[i]);
	}
	guest_load_spin(&g, turns);
	for (i = 0; i < 2; i++)
		pt_enable(lead[i]);
	guest_run(&g);
	for (i = 0; i < 2; i++) {
		pt_disable(lead[i]);
		pt_read(lead[i], times, 1, &r);
		pt_check(r.running && r.running < r.enabled, "group %d: no turns", i);
		all += r.v[0].value;
	}
	pt_eq(all, guest_spin_cost(turns));
}

static void guest_counts_itself(void)
{
	static const u32 turns[] = { 1, 10, 1000, 100000 };
	struct perf_event_attr attr = instructions(true, true);
	struct guest g = guest_make();
	unsigned int i;
	u64 one;

	/* What is set up once for all is of the first. */
	guest_counts(&g, 1);
	one = guest_counts(&g, 1);
	pt_check(one >= 4 && one <= 9, "%llu instructions", (unsigned long long)one);
	for (i = 0; i < PT_ARRAY_SIZE(turns); i++)
		pt_eq(guest_counts(&g, turns[i]), one + 2 * (turns[i] - 1));
	/* and while the host counts both */
	attr.disabled = 0;
	pt_open_hw(&attr, -1);
	for (i = 0; i < PT_ARRAY_SIZE(turns); i++)
		pt_eq(guest_counts(&g, turns[i]), one + 2 * (turns[i] - 1));
}

static const struct pt_case cases[] = {
	{ "guest_alone", guest_alone },
	{ "host_and_guest_add_up", host_and_guest_add_up },
	{ "host_alone", host_alone },
	{ "samples_of_the_guest", samples_of_the_guest },
	{ "user_mode_in_turns", user_mode_in_turns },
	{ "guest_counts_itself", guest_counts_itself },
};

PT_MAIN(cases)
