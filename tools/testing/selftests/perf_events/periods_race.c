// SPDX-License-Identifier: GPL-2.0
/*
 * periods_race.c - PERIODS from another CPU, again and again, while a task samples: the period that
 * each sample tells is one of the rule before or of the rule after, and both have samples. See
 * periods.c.
 *
 * needs: smp hw-smp
 */
#include "lib/ext.h"
#include "lib/rival.h"

#define TURNS	pt_turns(3000)

/* No length of the one is one of the other. */
static const struct perf_ext_periods rule[2] = {
	{ .short_period = 20011, .mask = 0xfff, .seed = 1 },
	{ .short_period = 50021, .mask = 0x1fff, .seed = 42 },
};

static bool is_of(u64 period, const struct perf_ext_periods *p)
{
	return period >= p->short_period && period <= p->short_period + p->mask;
}

static void change_rule(struct rival *r)
{
	struct perf_ext_periods p = rule[r->turns & 1];

	pt_eq(ext_periods(r->fd, &p), 0);
}

static u64 look_at_samples(const struct perf_event_attr *attr, struct pt_ring *ring, u64 of[2])
{
	static struct pt_record rec;
	static struct pt_sample s;
	u64 n = 0;
	int i;

	while (pt_next_of(ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(attr, &rec, &s);
		for (i = 0; i < 2 && !is_of(s.period, &rule[i]); i++)
			;
		pt_need(i < 2, "a period of %llu", (unsigned long long)s.period);
		of[i]++;
		n++;
	}
	return n;
}

/* The task spins and lets others run by turns: an emulator may have one CPU for all of them. */
static void race(struct perf_event_attr attr)
{
	struct perf_ext_periods first = rule[1];
	u64 of[2] = {}, samples = 0;
	struct pt_ring ring;
	struct rival r;
	int fd;

	ext_need();
	if (pt_online_cpus() < 2)
		pt_skip("needs two CPUs");
	/* What is throttled does not sample until the next tick. */
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	attr.sample_period = 1000003;
	attr.sample_type = PERF_SAMPLE_PERIOD;
	attr.disabled = 1;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_eq(ext_periods(fd, &first), 0);
	pt_enable(fd);
	rival_start(&r, change_rule, fd, 0);
	while (__atomic_load_n(&r.turns, __ATOMIC_ACQUIRE) < TURNS && !pt_failures()) {
		pt_spin(40000);
		samples += look_at_samples(&attr, &ring, of);
		let_others_run();
	}
	rival_stop(&r);
	pt_disable(fd);
	samples += look_at_samples(&attr, &ring, of);
	pt_check(of[0] > 10 && of[1] > 10, "%llu and %llu samples", (unsigned long long)of[0],
		 (unsigned long long)of[1]);
	pt_msg("%llu times PERIODS, %llu samples", (unsigned long long)r.turns,
	       (unsigned long long)samples);
}

/* Where timers wait for a tick, who begins a period anew in each never sees one end. */
static void by_clock(void)
{
	struct timespec res;

	pt_need(!clock_getres(CLOCK_MONOTONIC, &res), "clock_getres: %s", strerror(errno));
	if (res.tv_nsec > 1)
		pt_skip("timers of a tick");
	race(pt_attr(PT_SW(CPU_CLOCK)));
}

static void by_counter(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	attr.exclude_kernel = 1;
	race(attr);
}

static const struct pt_case cases[] = {
	{ "by_clock", by_clock },
	{ "by_counter", by_counter },
};

PT_MAIN(cases)
