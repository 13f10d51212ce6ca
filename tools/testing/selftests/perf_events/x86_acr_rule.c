// SPDX-License-Identifier: GPL-2.0
/*
 * x86_acr_rule.c - counters that others reload, with periods that follow a rule of the extensions:
 * a counter that was loaded with a long period and is reloaded before it ends does not take that
 * for events, whatever the period after it is.
 *
 * needs: acr
 */
#include "lib/ext.h"
#include "lib/x86_acr.h"

static const u64 turns = 50000;

/*
 * Reloaded after each so many branches.  The first period ends before that, the one of them that is
 * longer does not, and of what is counted then only the rest is known.
 */
static void count(u64 branches, u64 first, u64 others, u64 third)
{
	struct perf_ext_periods p = {
		.short_period = others, .long_period = third, .initial_period = first,
		.long_every = 2, .seed = 1,
	};
	struct perf_event_attr a = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_attr b = x86_conditional_branches();
	int fds[2];
	u64 seen;

	a.sample_period = first;
	a.config2 = 1 << 1;
	b.sample_period = branches;
	b.config2 = 1 << 0 | 1 << 1;
	b.disabled = 0;
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	pt_eq(pt_ioctl(fds[0], PERF_EXT_IOC_PERIODS, pt_addr(&p)), 0);
	x86_measured_spin(fds[0], turns);
	seen = pt_count(fds[0]);
	pt_check(seen <= X86_SPIN_COST(turns) && seen >= first,
		 "%llu of %llu instructions, periods of %llu, %llu, %llu", (unsigned long long)seen,
		 (unsigned long long)X86_SPIN_COST(turns), (unsigned long long)first,
		 (unsigned long long)others, (unsigned long long)third);
	close(fds[1]);
	close(fds[0]);
}

static void no_more_than_there_were(void)
{
	need_acr();
	ext_need();
	count(1000, 400, 400, 8000);
	count(1000, 400, 8000, 400);
	count(1000, 1990, 1990, 8000);
	count(700, 1000, 100000, 1000);
	count(300, 400, 400, 3000);
}

static const struct pt_case cases[] = {
	{ "no_more_than_there_were", no_more_than_there_were },
};

PT_MAIN(cases)
