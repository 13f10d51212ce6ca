// SPDX-License-Identifier: GPL-2.0
/*
 * x86_acr_group.c - groups whose counters reload one another: what may be in them, and beside them.
 * What comes of them: x86_acr.c.
 *
 * needs: acr
 */
#include "lib/x86.h"
#include "lib/x86_acr.h"

/* However many others have come and gone. */
static void beside_others(void)
{
	struct perf_event_attr a = instructions(SILENT, 1 << 0), other = x86_general_cycles();
	int fd, i;

	need_acr();
	fd = pt_open(&a, 0, -1, -1, 0);
	other.disabled = 0;
	for (i = 0; i < 2; i++)
		pt_open(&other, 0, -1, fd, 0);
	for (i = 0; i < 500 && !pt_failures(); i++) {
		pt_enable(fd);
		pt_eq(causes_of(REGISTERS), 1ull << 32);
		pt_disable(fd);
	}
}

static void refused(void)
{
	struct perf_event_attr a = instructions(1000, 1 << 1), b = branches(1000, 1 << 1);
	struct perf_event_attr clock = pt_attr(PT_SW(CPU_CLOCK));
	struct perf_event_attr ref = x86_hw(0x0300);
	int fd, other;

	need_acr();
	pt_eq(pt_probe(&a), 0);
	a.freq = 1;
	pt_eq(pt_probe(&a), -EINVAL);
	a.freq = 0;
	a.precise_ip = 3;
	pt_eq(pt_probe(&a), -EINVAL);
	a.precise_ip = 0;
	a.sample_period = 1ull << 32;
	pt_eq(pt_probe(&a), -EINVAL);
	a.sample_period--;
	pt_eq(pt_probe(&a), 0);
	/* more members than counters that can be named */
	a.config2 = 0x1ff;
	pt_eq(pt_probe(&a), -EINVAL);
	a.config2 = 1 << 1;

	/* an event without mask in such a group */
	fd = pt_open(&a, 0, -1, -1, 0);
	b.config2 = 0;
	b.freq = 1;
	pt_eq(pt_try_open(&b, 0, -1, fd, 0), -EINVAL);
	b.freq = 0;
	other = pt_open(&b, 0, -1, fd, 0);
	close(other);
	/* the group is an ordinary one again when those that are reloaded are gone */
	close(fd);
	a.config2 = 0;
	fd = pt_open(&a, 0, -1, -1, 0);
	b.config2 = 1 << 1;
	close(pt_open(&b, 0, -1, fd, 0));
	b.config2 = 0;
	b.freq = 1;
	close(pt_open(&b, 0, -1, fd, 0));
	b.freq = 0;

	/* also where the leader is not the one that is reloaded */
	b.config2 = 1 << 0;
	other = pt_open(&b, 0, -1, fd, 0);
	b.config2 = 0;
	b.freq = 1;
	pt_eq(pt_try_open(&b, 0, -1, fd, 0), -EINVAL);
	b.freq = 0;
	close(other);

	/* this is on a fixed counter that reloads nobody, whoever asks for it */
	close(fd);
	ref.type = PERF_TYPE_RAW;
	fd = pt_open(&ref, 0, -1, -1, 0);
	b.config2 = 1 << 0;
	pt_eq(pt_try_open(&b, 0, -1, fd, 0), -EINVAL);
	b.config2 = 1 << 1;
	close(pt_open(&b, 0, -1, fd, 0));
	close(fd);
	fd = pt_open(&a, 0, -1, -1, 0);

	/* what is not of this PMU ends the row, and does not begin it */
	b.config2 = 1 << 1;
	clock.disabled = 0;
	other = pt_open(&clock, 0, -1, fd, 0);
	pt_eq(pt_try_open(&b, 0, -1, fd, 0), -EINVAL);
	b.config2 = 0;
	close(pt_open(&b, 0, -1, fd, 0));
	close(other);
	close(fd);
	clock.disabled = 1;
	fd = pt_open(&clock, 0, -1, -1, 0);
	b.config2 = 1 << 1;
	pt_eq(pt_try_open(&b, 0, -1, fd, 0), -EINVAL);
	b.config2 = 0;
	close(pt_open(&b, 0, -1, fd, 0));
}

static const struct pt_case cases[] = {
	{ "beside_others", beside_others },
	{ "refused", refused },
};

PT_MAIN(cases)
