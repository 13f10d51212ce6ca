// SPDX-License-Identifier: GPL-2.0
/*
 * multiplex.c - more events than counters: everybody gets a share, the times
 * say how large it was, groups stay together, pinned events come first and
 * exclusive ones are alone. Skipped without a hardware PMU.
 *
 * needs: hw skid
 */
#include "lib/test_count.h"
#include <poll.h>
#include <signal.h>

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define MANY	24

static struct perf_event_attr instructions(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.read_format = TIMES;
	return attr;
}

/* How many of these events run at once, found by pinning them. */
static int counters(void)
{
	struct perf_event_attr attr = instructions();
	int fd[MANY], n, good = 0;
	u64 v[3];

	attr.pinned = 1;
	for (n = 0; n < MANY; n++) {
		fd[n] = pt_open_hw(&attr, -1);
		pt_enable(fd[n]);
	}
	for (n = 0; n < MANY; n++) {
		ssize_t got = read(fd[n], v, sizeof(v));

		if (got == sizeof(v))
			good++;
		else
			pt_eq(got, 0);
		close(fd[n]);
	}
	pt_need(good > 0 && good < MANY, "%d of %d pinned events run", good, MANY);
	return good;
}

static void everybody_gets_a_share(void)
{
	struct perf_event_attr attr = instructions();
	u64 sum_running = 0, enabled = 0, turns = 50000000;
	int fd[MANY], hw = counters(), n = hw + 4, i;

	for (i = 0; i < n; i++)
		fd[i] = pt_open_hw(&attr, -1);
	for (i = 0; i < n; i++)
		pt_enable(fd[i]);
	pt_spin(turns);
	for (i = 0; i < n; i++)
		pt_disable(fd[i]);
	for (i = 0; i < n; i++) {
		struct pt_read r;
		double scaled;

		pt_read(fd[i], TIMES, 1, &r);
		pt_check(r.running > 0, "event %d never ran", i);
		pt_check(r.running < r.enabled, "event %d ran all the time", i);
		sum_running += r.running;
		enabled += r.enabled;
		scaled = (double)r.v[0].value * (double)r.enabled / (double)r.running;
		pt_check(scaled > 1.8 * (double)turns && scaled < 2.2 * (double)turns,
			 "event %d scaled to %.0f of %llu", i, scaled,
			 (unsigned long long)(2 * turns));
	}
	/* No counter stood still: the shares add up to all of them. */
	enabled /= (u64)n;
	pt_check(sum_running > enabled * (u64)hw / 100 * 95, "%d counters ran %llu of %llu each",
		 hw, (unsigned long long)(sum_running / (u64)hw), (unsigned long long)enabled);
	pt_check(sum_running <= enabled * (u64)hw / 100 * 102, "more time than there was");
}

/* Whom nobody is in the way of any more counts at once: no turn is waited for. */
static void room_is_taken_at_once(void)
{
	struct perf_event_attr attr = instructions();
	int fd[MANY], hw = counters(), last, i;
	struct pt_read r;

	for (i = 0; i < hw; i++) {
		fd[i] = pt_open_hw(&attr, -1);
		pt_enable(fd[i]);
	}
	last = pt_open_hw(&attr, -1);
	pt_enable(last);
	pt_disable(last);
	for (i = 0; i < hw; i++)
		pt_disable(fd[i]);
	pt_read(last, TIMES, 1, &r);
	pt_eq(r.running, 0);
	pt_enable(last);
	pt_spin(1000);
	pt_disable(last);
	pt_read(last, TIMES, 1, &r);
	pt_check(r.v[0].value >= 2000, "%llu", (unsigned long long)r.v[0].value);
}

static void shares_are_fair(void)
{
	struct perf_event_attr attr = instructions();
	int fd[MANY], hw = counters(), n = 2 * hw, i;
	u64 least = ~0ull, most = 0;

	for (i = 0; i < n; i++)
		fd[i] = pt_open_hw(&attr, -1);
	for (i = 0; i < n; i++)
		pt_enable(fd[i]);
	pt_spin(60000000);
	for (i = 0; i < n; i++)
		pt_disable(fd[i]);
	for (i = 0; i < n; i++) {
		struct pt_read r;

		pt_read(fd[i], TIMES, 1, &r);
		if (r.running < least)
			least = r.running;
		if (r.running > most)
			most = r.running;
	}
	pt_check(least * 2 > most, "shares between %llu and %llu", (unsigned long long)least,
		 (unsigned long long)most);
}

static void pinned_runs_always(void)
{
	struct perf_event_attr attr = instructions();
	struct pt_read r;
	int pinned, fd[MANY], hw = counters(), n = hw + 3, i;

	attr.pinned = 1;
	pinned = pt_open_hw(&attr, -1);
	attr.pinned = 0;
	for (i = 0; i < n; i++)
		fd[i] = pt_open_hw(&attr, -1);
	for (i = 0; i < n; i++)
		pt_enable(fd[i]);
	pt_enable(pinned);
	pt_spin(30000000);
	pt_disable(pinned);
	pt_read(pinned, TIMES, 1, &r);
	pt_eq(r.running, r.enabled);
	pt_check(r.v[0].value >= 60000000 && r.v[0].value < 60010000, "%llu instructions",
		 (unsigned long long)r.v[0].value);
	for (i = 0; i < n; i++) {
		pt_disable(fd[i]);
		pt_read(fd[i], TIMES, 1, &r);
		pt_check(r.running > 0 && r.running < r.enabled, "event %d: %llu of %llu", i,
			 (unsigned long long)r.running, (unsigned long long)r.enabled);
	}
}

/* With its task it comes before the CPU's own, which have all counters. */
static void pinned_of_a_task(void)
{
	struct perf_event_attr attr = instructions();
	int go[2], hw = counters(), pinned, i;
	struct pt_read r;
	pid_t pid;

	pt_pin(0);
	pt_gate_make(go);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_spin(100000);
	}
	attr.disabled = 0;
	for (i = 0; i < hw; i++)
		pt_open(&attr, -1, 0, -1, 0);
	attr.pinned = 1;
	pinned = pt_open(&attr, pid, -1, -1, 0);
	pt_gate_open(go);
	pt_reap(pid);
	pt_read(pinned, TIMES, 1, &r);
	pt_eq(r.running, r.enabled);
	pt_check(r.v[0].value >= 200000 && r.v[0].value < 210000, "%llu instructions",
		 (unsigned long long)r.v[0].value);
}

/* What the event is about to say by a signal waits to be asked for. */
static void hold_signal(int fd, sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGRTMIN);
	pt_need(!sigprocmask(SIG_BLOCK, set, NULL), "sigprocmask: %s", strerror(errno));
	pt_need(!fcntl(fd, F_SETOWN, getpid()), "F_SETOWN: %s", strerror(errno));
	pt_need(!fcntl(fd, F_SETSIG, SIGRTMIN), "F_SETSIG: %s", strerror(errno));
	pt_need(!fcntl(fd, F_SETFL, O_ASYNC), "F_SETFL: %s", strerror(errno));
}

/* A pinned event that finds no counter is in error: its read is at the end. */
static void pinned_in_error(void)
{
	const struct timespec at_once = {};
	struct perf_event_attr attr = instructions();
	struct pollfd p = { .events = POLLIN };
	int fd[MANY], hw = counters(), i;
	struct pt_ring r;
	siginfo_t info;
	sigset_t set;
	u64 v[3];

	attr.pinned = 1;
	for (i = 0; i <= hw; i++) {
		fd[i] = pt_open_hw(&attr, -1);
		if (i == hw)
			hold_signal(fd[i], &set);
		pt_enable(fd[i]);
	}
	pt_spin(1000);
	for (i = 0; i < hw; i++)
		pt_eq(read(fd[i], v, sizeof(v)), sizeof(v));
	pt_eq(read(fd[hw], v, sizeof(v)), 0);
	pt_map(&r, fd[hw], 1);
	p.fd = fd[hw];
	/* Linux 6.12 does not tell. */
	if (!pt_is_stock()) {
		pt_eq(poll(&p, 1, 0), 1);
		pt_eq(p.revents, POLLERR);
		pt_eq(sigtimedwait(&set, &info, &at_once), SIGRTMIN);
		pt_eq(info.si_code, POLL_ERR);
		pt_eq(info.si_fd, fd[hw]);
	}
	/* Room again: ENABLE brings it back. */
	close(fd[0]);
	pt_enable(fd[hw]);
	pt_spin(1000);
	pt_eq(read(fd[hw], v, sizeof(v)), sizeof(v));
	pt_check(v[0] > 2000, "%llu instructions", (unsigned long long)v[0]);
	pt_eq(poll(&p, 1, 0), 0);
}

static void groups_stay_together(void)
{
	struct perf_event_attr attr = instructions();
	int lead[8], hw = counters(), size = hw / 2 + 1, g, i;
	u64 f = TIMES | PERF_FORMAT_GROUP;
	struct pt_read r;

	if (hw < 2)
		pt_skip("%d counters make no groups", hw);
	attr.read_format = f;
	for (g = 0; g < 3; g++) {
		attr.disabled = 1;
		lead[g] = pt_open_hw(&attr, -1);
		attr.disabled = 0;
		for (i = 1; i < size; i++)
			pt_open_hw(&attr, lead[g]);
	}
	for (g = 0; g < 3; g++)
		pt_enable(lead[g]);
	pt_spin(40000000);
	for (g = 0; g < 3; g++)
		pt_disable(lead[g]);
	/* Two of them never fit: each ran about a third, and all of it at once. */
	for (g = 0; g < 3; g++) {
		pt_read(lead[g], f, (unsigned int)size, &r);
		pt_check(r.running > r.enabled / 6 && r.running < r.enabled / 2,
			 "group %d: %llu of %llu", g, (unsigned long long)r.running,
			 (unsigned long long)r.enabled);
		for (i = 1; i < size; i++)
			pt_check(r.v[i].value + 2000 > r.v[0].value &&
				 r.v[i].value < r.v[0].value + 2000,
				 "group %d: members counted %llu and %llu", g,
				 (unsigned long long)r.v[0].value,
				 (unsigned long long)r.v[i].value);
	}
}

/* An exclusive group shares the PMU with nobody, and with time only */
static void exclusive(void)
{
	struct perf_event_attr attr = instructions();
	struct pt_read r;
	u64 sum = 0, enabled = 0;
	int fd[3], i;

	attr.exclusive = 1;
	for (i = 0; i < 3; i++)
		fd[i] = pt_open_hw(&attr, -1);
	for (i = 0; i < 3; i++)
		pt_enable(fd[i]);
	pt_spin(40000000);
	for (i = 0; i < 3; i++)
		pt_disable(fd[i]);
	for (i = 0; i < 3; i++) {
		pt_read(fd[i], TIMES, 1, &r);
		pt_check(r.running > 0, "event %d never ran", i);
		sum += r.running;
		enabled = r.enabled;
	}
	pt_check(sum < enabled + enabled / 20, "they ran together: %llu of %llu",
		 (unsigned long long)sum, (unsigned long long)enabled);
	pt_check(sum > enabled / 10 * 9, "the PMU stood still: %llu of %llu",
		 (unsigned long long)sum, (unsigned long long)enabled);
}

static int pinned_on_cpu0(void)
{
	struct perf_event_attr attr = instructions();
	int fd;

	attr.pinned = 1;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_need(fd >= 0, "an event of CPU 0");
	pt_enable(fd);
	return fd;
}

/* Alone among the flexible events of its task; what is pinned, and what others opened, goes on. */
static void exclusive_beside_others(void)
{
	struct perf_event_attr attr = instructions();
	struct pt_read r;
	int cpu, fd;

	pt_pin(0);
	attr.exclusive = 1;
	fd = pt_open_hw(&attr, -1);
	cpu = pinned_on_cpu0();
	pt_enable(fd);
	pt_spin(1000000);
	pt_disable(fd);
	pt_read(fd, TIMES, 1, &r);
	pt_check(r.running > 0, "it never ran");
	pt_eq(r.running, r.enabled);
	pt_read(cpu, TIMES, 1, &r);
	pt_eq(r.running, r.enabled);
}

/* A group that does not fit beside what is pinned has turns, too, but leaves some to the others. */
static void what_never_fits(void)
{
	struct perf_event_attr attr = instructions();
	int hw = counters(), i, fits, lead;
	struct pt_read r;

	if (hw < 2)
		pt_skip("%d counters make no groups", hw);
	pt_pin(0);
	for (i = 1; i < hw; i++)
		pinned_on_cpu0();
	fits = pt_open_hw(&attr, -1);
	lead = pt_open_hw(&attr, -1);
	attr.disabled = 0;
	pt_open_hw(&attr, lead);
	pt_enable(fits);
	pt_enable(lead);
	pt_spin(40000000);
	pt_disable(fits);
	pt_disable(lead);
	pt_read(fits, TIMES, 1, &r);
	pt_check(r.running > r.enabled / 3, "it ran %llu of %llu", (unsigned long long)r.running,
		 (unsigned long long)r.enabled);
	pt_read(lead, TIMES, 1, &r);
	pt_eq(r.running, 0);
	pt_check(r.enabled > 0, "it was not enabled");
}

static void software_is_not_multiplexed(void)
{
	struct perf_event_attr attr = instructions();
	struct perf_event_attr sw = pt_attr(PT_SW(PAGE_FAULTS));
	int fd[MANY], hw = counters(), n = hw + 3, i, faults;
	u8 *p = pt_fresh_pages(100);
	struct pt_read r;

	for (i = 0; i < n; i++)
		fd[i] = pt_open_hw(&attr, -1);
	sw.read_format = TIMES;
	sw.disabled = 1;
	faults = pt_open(&sw, 0, -1, -1, 0);
	for (i = 0; i < n; i++)
		pt_enable(fd[i]);
	pt_enable(faults);
	for (i = 0; i < 100; i++) {
		pt_touch(p + i * pt_page_size(), 1);
		pt_spin(100000);
	}
	pt_disable(faults);
	pt_read(faults, TIMES, 1, &r);
	pt_eq(r.v[0].value, 100);
	pt_eq(r.running, r.enabled);
}

/* A period that spans several slices is not forgotten in between. */
static void sampling_while_multiplexed(void)
{
	struct perf_event_attr attr = instructions();
	struct perf_event_attr cyc = pt_attr(PT_HW(CPU_CYCLES));
	int fd[MANY], hw = counters(), n = hw + 2, i, sampler;
	struct pt_ring ring;
	u64 v[3];

	if (!pt_time_is_exact())
		pt_skip("this machine does not count instructions exactly");
	cyc.exclude_kernel = 1;
	cyc.disabled = 1;
	cyc.sample_period = 500009;
	cyc.sample_type = PERF_SAMPLE_IP;
	cyc.read_format = TIMES;
	sampler = pt_open_hw(&cyc, -1);
	pt_map(&ring, sampler, 16);
	for (i = 0; i < n; i++)
		fd[i] = pt_open_hw(&attr, -1);
	for (i = 0; i < n; i++)
		pt_enable(fd[i]);
	pt_enable(sampler);
	pt_spin(30000000);
	pt_disable(sampler);
	pt_eq(read(sampler, v, sizeof(v)), sizeof(v));
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), v[0] / 500009);
}

/* ---- the test PMU ---- */

#define INTERVAL	"perf_event_mux_interval_ms"
#define DEVICES		"/sys/bus/event_source/devices/"

/* So many counters, and turns of so many ms. */
static void load_with(const char *params, const char *interval)
{
	load(params);
	pt_eq(pt_write_file(DEVICES MODULE "/" INTERVAL, interval), 0);
}

/* An event of the CPU that comes and goes does not end the turns of the task. */
static void turns_after_a_cpus_event(void)
{
	struct pt_read before[2], now;
	struct perf_event_attr attr;
	int fd[2], i;

	load_with("counters=1", "1");
	pt_first_on_cpu(0);	/* each switch begins anew */
	attr = hits();
	attr.config = 1;
	attr.read_format = TIMES;
	for (i = 0; i < 2; i++)
		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	close(pt_open(&attr, -1, 0, -1, 0));
	for (i = 0; i < 2; i++)
		pt_read(fd[i], TIMES, 1, &before[i]);
	pt_burn(20000000);
	for (i = 0; i < 2; i++) {
		pt_read(fd[i], TIMES, 1, &now);
		pt_check(now.running > before[i].running, "event %d has no turn any more", i);
	}
}

/* A turn is as long as the file says when nobody has written to it, too; a switch begins one. */
static void turns_of_a_new_pmu(void)
{
	struct perf_event_attr attr;
	long long ms, adds;
	u64 begin, most;
	s64 switches;
	int i;

	load("counters=1");
	need_revoking();	/* Linux 6.12 frees a PMU whose timer is armed */
	ms = pt_read_number(DEVICES MODULE "/" INTERVAL, 0);
	pt_need(ms > 0, "no " INTERVAL);
	attr = hits();
	begin = pt_clock(CLOCK_MONOTONIC);
	switches = pt_switches();
	for (i = 0; i < 2; i++)
		pt_open(&attr, 0, -1, -1, 0);
	adds = pt_module_get(MODULE, "adds");
	pt_burn(40000000);
	adds = pt_module_get(MODULE, "adds") - adds;
	most = (pt_clock(CLOCK_MONOTONIC) - begin) / ((u64)ms * 1000000) + 1;
	most += (u64)(pt_switches() - switches);
	pt_check(adds > 0 && (u64)adds <= most, "%lld turns, at most %llu", adds,
		 (unsigned long long)most);
}

/* A group that gets a member which needs no counter keeps its place before those that wait. */
static void member_changes_no_turn(void)
{
	struct perf_event_attr attr, sw = faults();
	int on, member, waits;

	load_with("counters=1", "10000");
	need_revoking();	/* Linux 6.12 frees a PMU whose timer is armed */
	attr = hits();
	on = pt_open(&attr, 0, -1, -1, 0);
	waits = pt_open(&attr, 0, -1, -1, 0);
	hit(1);
	member = pt_open(&sw, 0, -1, on, 0);
	hit(2);
	pt_eq(pt_count(on), 3);
	pt_eq(pt_count(waits), 0);
	close(member);
	close(waits);
	close(on);
	none_left();
}

/* Who is left by a leader that was off is enabled from then on, and its time goes on. */
static void leader_was_off(void)
{
	struct perf_event_attr attr;
	struct pt_read r;
	int lead, sibling;

	load(NULL);
	attr = hits();
	attr.read_format = TIMES;
	attr.disabled = 1;
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	sibling = pt_open(&attr, 0, -1, lead, 0);
	hit(3);
	close(lead);
	pt_switch_out();	/* Linux 6.12 lets it count from here on */
	hit(4);
	pt_read(sibling, TIMES, 1, &r);
	pt_eq(r.v[0].value, 4);
	pt_check(r.running && r.running <= r.enabled, "running %llu of %llu",
		 (unsigned long long)r.running, (unsigned long long)r.enabled);
	close(sibling);
	none_left();
}

/* A clock that samples goes on at once when the hardware has left its group. */
static void clock_left_alone(void)
{
	struct perf_event_attr attr, clock = pt_attr(PT_SW(TASK_CLOCK));
	int lead, member;
	u64 before;

	load(NULL);
	pt_first_on_cpu(0);	/* a switch would put it on */
	attr = hits();
	clock.sample_period = 10000000000ull;	/* so it has to be scheduled */
	lead = pt_open(&clock, 0, -1, -1, 0);
	member = pt_open(&attr, 0, -1, lead, 0);
	hit(1);
	pt_eq(pt_count(member), 1);
	close(member);
	before = pt_count(lead);
	pt_burn(1000000);
	pt_check(pt_count(lead) > before, "it stands still");
	close(lead);
	none_left();
}

/* What samples show of a group is changed while it is off; it goes on at once. */
static void shown_member_leaves(void)
{
	struct perf_event_attr attr, sw = faults();
	struct pt_read r;
	int lead, member;

	load(NULL);
	pt_first_on_cpu(0);	/* a switch would put it on */
	attr = hits();
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP;
	lead = pt_open(&attr, 0, -1, -1, 0);
	member = pt_open(&sw, 0, -1, lead, 0);
	hit(1);
	close(member);
	hit(2);
	pt_read(lead, attr.read_format, 1, &r);
	pt_eq(r.v[0].value, 3);
	close(lead);
	none_left();
}

/* A software PMU in a group of another one is off while that is switched, and on again after it. */
static void software_beside_hardware(void)
{
	struct perf_event_attr attr;
	int lead, member;

	load("software=1");
	pt_load_module("test_sample", NULL);
	attr = pt_attr((u32)pt_pmu_type("test_sample"), 0);
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr = hits();
	member = pt_open(&attr, 0, -1, lead, 0);
	hit(1);
	pt_switch_out();
	hit(2);
	pt_eq(pt_count(member), 3);
	close(member);
	close(lead);
	none_left();
}

/* For all CPUs, each under the lock of its timer: the debug kernel looks at that. */
static void interval_is_set(void)
{
	static const char file[] = DEVICES "software/" INTERVAL;
	long long ms = pt_read_number(file, -1);
	char text[32];

	pt_need(ms >= 0, "no %s", file);
	pt_eq(pt_write_file(file, "7"), 0);
	pt_eq(pt_read_number(file, -1), 7);
	/* Linux 6.12 says 0, and does not take that. */
	snprintf(text, sizeof(text), "%lld", ms ? ms : 1);
	pt_eq(pt_write_file(file, text), 0);
}

static const struct pt_case cases[] = {
	{ "everybody_gets_a_share", everybody_gets_a_share },
	{ "room_is_taken_at_once", room_is_taken_at_once },
	{ "shares_are_fair", shares_are_fair },
	{ "pinned_runs_always", pinned_runs_always },
	{ "pinned_of_a_task", pinned_of_a_task },
	{ "pinned_in_error", pinned_in_error },
	{ "groups_stay_together", groups_stay_together },
	{ "exclusive", exclusive },
	{ "exclusive_beside_others", exclusive_beside_others },
	{ "what_never_fits", what_never_fits },
	{ "software_is_not_multiplexed", software_is_not_multiplexed },
	{ "sampling_while_multiplexed", sampling_while_multiplexed },
	{ "turns_after_a_cpus_event", turns_after_a_cpus_event },
	{ "turns_of_a_new_pmu", turns_of_a_new_pmu },
	{ "member_changes_no_turn", member_changes_no_turn },
	{ "leader_was_off", leader_was_off },
	{ "clock_left_alone", clock_left_alone },
	{ "shown_member_leaves", shown_member_leaves },
	{ "software_beside_hardware", software_beside_hardware },
	{ "interval_is_set", interval_is_set },
};

PT_MAIN(cases)
