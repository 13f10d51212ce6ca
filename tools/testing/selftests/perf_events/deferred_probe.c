// SPDX-License-Identifier: GPL-2.0
/*
 * deferred_probe.c - samples that are taken while the kernel handles a probe of user space: the
 * probed instruction is yet to be executed, perhaps elsewhere, so the stack is walked at once. See
 * deferred.c.
 */
#include "lib/ptest.h"

static struct pt_record rec;
static struct pt_sample s;

static volatile int calls;

static PT_NOINLINE void probed(void)
{
	calls++;
}

/* Another event is hit in the handler of the probe. */
static void in_the_handler(void)
{
	int type = pt_pmu_type("kprobe"), fd;
	struct perf_event_attr attr = pt_attr((u32)type, 0), probe;
	struct pt_ring ring;
	u64 i;

	if (pt_is_stock())
		pt_skip("Linux 6.12 walks user stacks at once");
	if (type < 0)
		pt_skip("no kprobe PMU");
	probe = pt_uprobe((void *)probed, false);
	pt_open(&probe, 0, -1, -1, 0);
	probed();			/* the first hit has faults of its own */
	attr.kprobe_func = pt_addr("uprobe_dispatcher");
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr.defer_callchain = 1;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	probed();
	pt_disable(fd);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(&attr, &rec, &s);
	for (i = 0; i < s.nr_ips && s.ips[i] != (u64)PERF_CONTEXT_USER; i++)
		pt_check(s.ips[i] != (u64)PERF_CONTEXT_USER_DEFERRED, "walked later");
	pt_need(i + 1 < s.nr_ips, "no user part");
	pt_eq(s.ips[i + 1], pt_addr((void *)probed));
	pt_check(!pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "one sample too many");
}

static const struct pt_case cases[] = {
	{ "in_the_handler", in_the_handler },
};

PT_MAIN(cases)
